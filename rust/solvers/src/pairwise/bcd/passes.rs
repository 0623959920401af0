//! Passes restricted to the hardest labels of each instance.
//!
//! With thousands of labels, a visit spends most of its time on scores of labels that do not change. A certificate computes
//! all scores, and lists for each instance the labels that may change ([`super::shortlist`]). With the other dual variables
//! at 0, a block step restricted to the relevant labels and these is one of the whole problem, so that passes over
//! shortlists improve the dual objective; the next certificate checks the other labels.

use super::hardest::Hardest;
use super::shortlist::Shortlists;
use super::{Block, Engine, Epoch, Step};
use crate::linalg::rows::Rows;
use crate::linalg::vector::{axpy, dot};
use crate::memory;
use crate::pairwise::loss::Loss;
use crate::pairwise::scores::Scores;
use crate::report::{Monitor, Poll};

/// Buffers of the visits of a pass over shortlists.
#[derive(Default)]
struct Buffers {
    places: Vec<u32>,
    scores: Vec<f64>,
    dual: Vec<f64>,
    new_dual: Vec<f64>,
    active: Vec<u32>,
    beta: Vec<f64>,
    /// The dual row, then its change: 0 between visits.
    row: Vec<f64>,
    nonzeros: Vec<u32>,
    /// The labels, ascending, with their new and old dual variables.
    ascending: Vec<(u32, f64, f64)>,
}

impl Buffers {
    /// The new dual variables and the scores of the listed labels, which follow the `relevant` ones.
    fn of_listed(&self, relevant: usize) -> (&[f64], &[f64]) {
        (&self.new_dual[relevant..], &self.scores[relevant..])
    }
}

impl<S: Scores + ?Sized, T: Step> Engine<'_, S, T> {
    /// Whether visits can be restricted to some labels, and there are so many labels that this pays.
    pub(super) fn lists_labels(&self) -> bool {
        T::ANY_LABELS
            && T::Loss::TOP
            && !T::Loss::ZERO_LABEL
            && self.iterate.labels().count() >= self.settings.tuning.shortlists.labels
            && self.iterate.scores().few().is_some()
    }

    /// Visits the instances with their hardest labels only, in place of an epoch; `None` if these are too many, or nothing
    /// moves.
    pub(super) fn visit_hardest(&mut self, monitor: &mut dyn Monitor) -> Option<Epoch> {
        let (labels, tuning) = (self.iterate.labels(), &self.settings.tuning.shortlists);
        let q = labels.count();
        if self.epochs() == 0 && labels.top() <= q / (2 * tuning.short) && self.has_shortlists() {
            return Some(self.first_visits(monitor));
        }
        let mut lists = self
            .shortlists
            .take()
            .filter(|lists| lists.are_short(q, tuning))?;
        self.pass_over(&mut lists, monitor)
    }

    /// Visits each instance once, with the labels that are hardest at that time.
    fn first_visits(&mut self, monitor: &mut dyn Monitor) -> Epoch {
        let (labels, tuning) = (self.iterate.labels(), &self.settings.tuning.shortlists);
        let (n, q) = (labels.instances(), labels.count());
        let (mut buffers, mut scratch) = (Buffers::default(), Vec::new());
        let mut scores = memory::zeros(q);
        let most = labels.top()
            + (tuning.turns * q)
                .div_ceil(n.max(1))
                .min(q / tuning.reserve);
        let order = self.order.clone();
        for together in order.chunks(tuning.together) {
            if monitor.poll().is_interrupted() {
                return Epoch::Interrupted;
            }
            for &i in together {
                let at = &self.iterate;
                at.scores().open(&[i], &mut scores, &mut [], &mut scratch);
                let i = i as usize;
                axpy(at.factors()[i], &at.bias(), &mut scores);
                let relevant = labels.relevant(i).iter().map(|&m| scores[m as usize]);
                let turn = (i * most) % q;
                let mut hardest = Hardest::new(relevant, tuning.close, most, turn as u32);
                // Scores that are NaN spoil the step, which the certificate will reveal.
                let _numbers = hardest.collect(labels, i, 0, &scores);
                let Buffers { active, beta, .. } = &mut buffers;
                at.dual().nonzeros(i, q, active, beta);
                let mut list = Shortlists::default();
                list.list(labels, i, &buffers.active, &mut hardest);
                self.visit_listed(i, &list.labels, &mut buffers);
            }
        }
        self.iterate.all_visited();
        Epoch::Moved
    }

    /// Makes passes over shortlists; `None` if nothing moves.
    fn pass_over(&mut self, lists: &mut Shortlists, monitor: &mut dyn Monitor) -> Option<Epoch> {
        let tuning = &self.settings.tuning.shortlists;
        let mut buffers = Buffers::default();
        let mut order = self.order.clone();
        let (mut moved, mut target) = (false, f64::INFINITY);
        for pass in 0..tuning.passes {
            let mut gap = 0.0;
            for together in order.chunks(tuning.together) {
                match monitor.poll() {
                    Poll::Interrupted { .. } => return Some(Epoch::Interrupted),
                    Poll::OutOfTime { recorded: true } => return Some(Epoch::Moved),
                    _ => {}
                }
                for &i in together {
                    let i = i as usize;
                    let (term, moves) = self.visit_listed(i, lists.of(i), &mut buffers);
                    gap += term;
                    moved |= moves;
                    if pass == 0 {
                        let (dual, scores) =
                            buffers.of_listed(self.iterate.labels().relevant(i).len());
                        lists.shorten(i, tuning.kept, dual, scores);
                    }
                }
            }
            if pass == 0 {
                target = (tuning.share * gap).max(tuning.enough * self.tolerated);
            }
            if self.settings.shuffle {
                self.random.shuffle(&mut order);
            }
            // A gap that has overflowed ends the passes.
            let goes_on = gap > target && gap.is_finite();
            if !goes_on {
                break;
            }
        }
        moved.then_some(Epoch::Moved)
    }

    /// Solves the block of instance `i` restricted to its relevant and the `listed` labels. Returns the gap term from
    /// before, and whether the block moved.
    fn visit_listed(&mut self, i: usize, listed: &[u32], buffers: &mut Buffers) -> (f64, bool) {
        let at = &self.iterate;
        let labels = at.labels();
        let (q, factor) = (labels.count(), at.factors()[i]);
        let Buffers {
            places,
            scores,
            dual,
            new_dual,
            active,
            beta,
            row,
            nonzeros,
            ascending,
        } = buffers;
        let Some(few) = at.scores().few() else {
            return (0.0, false);
        };
        places.clear();
        places.extend(labels.relevant(i).iter().chain(listed));
        scores.resize(places.len(), 0.0);
        few.scores(i, places, scores);
        for (score, &l) in scores.iter_mut().zip(&*places) {
            *score += factor * at.bias_of(l as usize);
        }
        memory::resize(row, q, 0.0);
        at.dual().nonzeros(i, q, active, beta);
        for (&l, &value) in active.iter().zip(&*beta) {
            row[l as usize] = value;
        }
        dual.clear();
        dual.extend(places.iter().map(|&l| row[l as usize]));
        active.iter().for_each(|&l| row[l as usize] = 0.0);
        new_dual.resize(places.len(), 0.0);
        let pairs = labels.pairs_of(i);
        let value = self.chains[0].loss().value(scores, pairs);
        let gap = labels.weight(i) * value - at.dual_terms()[i] + dot(dual, scores);
        let block = Block {
            instance: i,
            pairs,
            weight: labels.weight(i),
            kappa: at.curvature(i),
            scores,
            dual,
        };
        let term = self.chains[0].step(block, new_dual);
        self.iterate.move_terms(&[i as u32], &[term], 1.0);
        if new_dual == dual {
            return (gap, false);
        }
        ascending.clear();
        let new = places.iter().zip(&*new_dual);
        ascending.extend(new.zip(&*dual).map(|((&l, &new), &old)| (l, new, old)));
        // Two ascending runs, as above.
        ascending.sort_by_key(|(l, ..)| *l);
        nonzeros.clear();
        active.clear();
        beta.clear();
        for &(l, new, old) in &*ascending {
            if new != old {
                row[l as usize] = new - old;
                nonzeros.push(l);
            }
            if new != 0.0 {
                active.push(l);
                beta.push(new);
            }
        }
        self.iterate.move_row(i, active, beta, row, nonzeros);
        (gap, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::Labels;
    use crate::linalg::features::Sparse;
    use crate::pairwise::bcd::{Iterate, Proximal};
    use crate::pairwise::loss::Hinge;
    use crate::pairwise::scores::LinearSparse;
    use crate::parallel::threads::Threads;
    use crate::report::Settings;

    const Q: usize = 400;

    /// Passes increase the dual objective, and scores, sums and dual terms remain those of the dual matrix.
    #[test]
    fn passes_keep_everything_current() {
        let (n, d) = (400, 60);
        let mut random = fastrand::Rng::with_seed(4);
        let (mut data, mut indices, mut starts) = (Vec::new(), Vec::new(), vec![0]);
        for _ in 0..n {
            for f in 0..d {
                if random.f64() < 0.1 {
                    data.push(3.0 * random.f64());
                    indices.push(f);
                }
            }
            starts.push(data.len() as i32);
        }
        let mut indicator = vec![0; n * Q];
        for row in indicator.chunks_exact_mut(Q) {
            (0..3).for_each(|_| row[random.usize(..Q)] = 1);
        }
        let labels = Labels::new(&indicator, Q, 20.0)
            .unwrap()
            .with_top(4)
            .unwrap();
        let features = Sparse::new(&data, &indices, &starts, d as usize).unwrap();
        let mut scores = LinearSparse::new(features, Q);
        let (settings, threads) = (Settings::default(), Threads::new(1));
        let step = Proximal::new(Hinge);
        let dual = vec![0.0; n * Q];
        let iterate = Iterate::new(&labels, &mut scores, None, dual, 1.0, &threads);
        let mut engine = Engine::new(iterate, step, &settings).with_shortlists();
        (0..5).for_each(|_| assert_eq!(engine.epoch(&mut ()), Epoch::Moved));
        let objective = |engine: &mut Engine<'_, _, _>| {
            let sums = engine.certify(&mut ()).unwrap();
            assert!(engine.shortlists.is_some());
            let gaps = engine.iterate.gaps().to_vec();
            let of_all = engine.iterate.certify(&Hinge, None, &mut ()).unwrap();
            let close = |few: f64, all: f64| assert!((few - all).abs() < 1e-12 * of_all.loss);
            close(sums.loss, of_all.loss);
            close(sums.dual_terms, of_all.dual_terms);
            close(sums.quadratic, of_all.quadratic);
            close(sums.gap, of_all.gap);
            gaps.iter()
                .zip(engine.iterate.gaps())
                .for_each(|(few, all)| close(*few, *all));
            let of_bias: f64 = engine.iterate.sum().iter().map(|g| g * g).sum();
            sums.dual_terms - 0.5 * (sums.quadratic + of_bias)
        };
        let before = objective(&mut engine);
        assert_eq!(engine.visit_hardest(&mut ()), Some(Epoch::Moved));
        let after = objective(&mut engine);
        assert!(after > before);
        let sum = engine.iterate.sum().to_vec();
        engine.iterate.recompute(&mut ());
        let anew = objective(&mut engine);
        assert!((after - anew).abs() < 1e-10 * anew);
        for (kept, anew) in sum.iter().zip(engine.iterate.sum_of_rows()) {
            assert!((kept - anew).abs() < 1e-12);
        }
        let terms = crate::pairwise::bcd::hinge_dual_terms(&labels, engine.iterate.dual());
        for (kept, anew) in engine.iterate.dual_terms().iter().zip(terms) {
            assert!((kept - anew).abs() < 1e-12);
        }
        // Rolling back drops the lists of the point that is left.
        let kept = engine.iterate.checkpoint();
        engine.certify(&mut ()).unwrap();
        assert!(engine.shortlists.is_some());
        engine.roll_back(&kept);
        assert_eq!(engine.visit_hardest(&mut ()), None);
        engine.certify(&mut ()).unwrap();
        // Another dual matrix has nonzero dual variables at labels that are not listed.
        assert!(engine.shortlists.is_some());
        engine.restart();
        assert_eq!(engine.visit_hardest(&mut ()), None);
        // Scores that are NaN do not count as easy.
        let mut bias = vec![0.0; Q];
        bias[17] = f64::NAN;
        engine.iterate.set_bias(bias, 1.0);
        assert!(engine.certify(&mut ()).unwrap().gap.is_nan());
    }
}
