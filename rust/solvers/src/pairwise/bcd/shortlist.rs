//! Passes over the hardest labels of each instance alone.
//!
//! With thousands of labels a visit spends its time on scores of labels that it leaves as they are. A certificate computes
//! all scores; it notes for each instance its relevant labels, those with a dual variable that is not 0, and the
//! irrelevant ones that violate a margin or come close to it: the shortlist. With the other dual variables at 0, a block
//! step among these labels is one of the whole problem, so that passes over shortlists improve the dual objective; what
//! the other labels do meanwhile, the next certificate tells.

use super::{Block, Engine, Epoch, Step};
use crate::labels::Labels;
use crate::linalg::rows::{Change, Rows};
use crate::linalg::vector::dot;
use crate::memory;
use crate::pairwise::loss::Loss;
use crate::pairwise::scores::Scores;
use crate::report::Monitor;

/// Fewest labels of a problem whose instances get shortlists.
const LABELS: usize = 256;

/// Shortlists pay if they hold at most one in so many labels.
const SHORT: usize = 8;

/// How many times that the lists of consecutive instances may hold, for others that hold less.
const UNEVEN: usize = 2;

/// How far below the margin of the lowest relevant label a label is still listed.
const CLOSE: f64 = 0.1;

/// With pairs of the `k` highest irrelevant labels alone, one in so many labels is listed besides them, but these at least.
const RESERVE: usize = 32;
const LEAST_RESERVE: usize = 30;

/// Most passes over the same shortlists.
const PASSES: usize = 5;

/// Passes end when the gap that they meet is below this share of the first one's.
const SHARE: f64 = 0.2;

/// A pass visits the instances whose gap terms were above this share of the mean in the pass before.
const LEAST_SHARE: f64 = 0.5;

/// Instances that are visited between two questions to the monitor.
const TOGETHER: usize = 64;

/// The irrelevant labels listed for consecutive instances.
#[derive(Clone, Debug, Default)]
pub(super) struct Shortlists {
    labels: Vec<u32>,
    /// Where the list of each instance ends.
    ends: Vec<usize>,
    /// How many labels there may be; none are listed after more.
    room: usize,
    overfull: bool,
}

impl Shortlists {
    /// Room for the lists of so many instances of a problem with `q` labels.
    pub fn with_room(instances: usize, q: usize) -> Self {
        Self {
            room: instances * (q / SHORT),
            ..Self::default()
        }
    }

    /// Whether all lists together are short.
    fn are_short(&self) -> bool {
        !self.overfull && self.labels.len() <= self.room
    }

    fn of(&self, i: usize) -> &[u32] {
        let start = i.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.labels[start..self.ends[i]]
    }

    /// Adds an empty list for the next instance.
    pub fn skip(&mut self) {
        self.ends.push(self.labels.len());
    }

    /// Adds the list of instance `i`, the next one, with the scores of all labels and its dual block.
    pub fn list(&mut self, problem: &Labels, i: usize, scores: &[f64], dual: &[f64]) {
        if !self.overfull {
            let first = self.labels.len();
            let relevant = problem.relevant(i);
            let lowest = relevant
                .iter()
                .fold(f64::INFINITY, |low, &m| low.min(scores[m as usize]));
            let limit = lowest - 1.0 - CLOSE;
            let hard = scores.iter().zip(dual).zip(0..);
            let hard = hard.filter(|((score, beta), _)| **score > limit || **beta != 0.0);
            let others = [relevant, problem.unknown(i)];
            self.labels.extend(
                hard.map(|(_, label)| label)
                    .filter(|l| others.iter().all(|set| set.binary_search(l).is_err())),
            );
            self.shorten(first, problem.pairs_of(i).top, scores, dual);
            if self.labels.len() > UNEVEN * self.room {
                self.overfull = true;
                self.labels = Vec::new();
            }
        }
        self.skip();
    }

    /// Keeps the hardest of the labels from the `first` one on, and those with a dual variable.
    fn shorten(&mut self, first: usize, top: usize, scores: &[f64], dual: &[f64]) {
        let listed = &mut self.labels[first..];
        let active = |l: &u32| dual[*l as usize] != 0.0;
        let most = listed.iter().filter(|l| active(l)).count();
        let reserve = (scores.len() / RESERVE).max(LEAST_RESERVE);
        let most = most.max(top.saturating_add(reserve));
        if listed.len() > most {
            listed.select_nth_unstable_by(most, |j, k| {
                let scores = scores[*k as usize].total_cmp(&scores[*j as usize]);
                active(k).cmp(&active(j)).then(scores).then(j.cmp(k))
            });
            listed[..most].sort_unstable();
            self.labels.truncate(first + most);
        }
    }

    /// Adds the lists of the instances that follow.
    pub fn append(&mut self, mut next: Self) {
        let before = self.labels.len();
        self.ends.extend(next.ends.iter().map(|end| before + end));
        self.labels.append(&mut next.labels);
        self.room += next.room;
        self.overfull |= next.overfull;
    }
}

/// What the visits of a pass over shortlists work on.
#[derive(Default)]
struct Buffers {
    places: Vec<u32>,
    scores: Vec<f64>,
    dual: Vec<f64>,
    new_dual: Vec<f64>,
    row: Vec<f64>,
    /// The change of a whole row, 0 between visits, and where it is not.
    change: Vec<f64>,
    nonzeros: Vec<u32>,
}

impl<S: Scores, T: Step> Engine<'_, S, T> {
    /// Whether certificates note shortlists.
    pub(super) fn notes_shortlists(&mut self) -> bool {
        T::ANY_LABELS
            && T::Loss::TOP
            && !T::Loss::ZERO_LABEL
            && self.may_estimate
            && self.settings.shrinking
            && self.centre.is_none()
            && self.labels.count() >= LABELS
            && self.scores.few().is_some()
    }

    /// Passes over the shortlists in place of an epoch; `None` where there are no short ones, or nothing moves by them.
    pub(super) fn pass_over_shortlists(&mut self, monitor: &mut dyn Monitor) -> Option<Epoch> {
        let lists = self.shortlists.take().filter(Shortlists::are_short)?;
        let mut buffers = Buffers::default();
        let (mut visits, mut next) = (self.order.clone(), Vec::new());
        let (mut moved, mut first) = (false, f64::INFINITY);
        for pass in 0..PASSES {
            let mut gaps = Vec::with_capacity(visits.len());
            for together in visits.chunks(TOGETHER) {
                if monitor.interrupted() {
                    return Some(Epoch::Interrupted);
                }
                if monitor.out_of_time() {
                    return Some(Epoch::Moved);
                }
                for &i in together {
                    let (gap, moves) = self.visit_shortlist(i as usize, &lists, &mut buffers);
                    gaps.push(gap);
                    moved |= moves;
                }
            }
            let gap: f64 = gaps.iter().sum();
            first = if pass == 0 { gap } else { first };
            let least = LEAST_SHARE * gap / visits.len() as f64;
            next.clear();
            next.extend(
                visits
                    .iter()
                    .zip(gaps)
                    .filter(|(_, gap)| *gap > least)
                    .map(|(i, _)| *i),
            );
            std::mem::swap(&mut visits, &mut next);
            // Written so that an unknown gap, of a start whose dual terms are unknown, ends the passes.
            let goes_on = gap > SHARE * first && gap.is_finite();
            if !goes_on || visits.is_empty() {
                break;
            }
        }
        moved.then_some(Epoch::Moved)
    }

    /// Solves the block of instance `i` among its relevant and its listed labels. Returns the gap term before, and
    /// whether the block moved.
    fn visit_shortlist(
        &mut self,
        i: usize,
        lists: &Shortlists,
        buffers: &mut Buffers,
    ) -> (f64, bool) {
        let q = self.labels.count();
        let (labels, factor) = (self.labels, self.factors[i]);
        let kappa = self.scores.diagonal()[i] + self.sigma * factor * factor;
        let Buffers {
            places,
            scores,
            dual,
            new_dual,
            row,
            change,
            nonzeros,
        } = buffers;
        let Some(few) = self.scores.few() else {
            return (0.0, false);
        };
        places.clear();
        places.extend(labels.relevant(i).iter().chain(lists.of(i)));
        scores.resize(places.len(), 0.0);
        few.scores(i, places, scores);
        for (score, &l) in scores.iter_mut().zip(&*places) {
            let l = l as usize;
            *score += factor * (self.offset[l] + self.sigma * self.sum[l]);
        }
        let old = self.dual.row(i, q, row);
        dual.clear();
        dual.extend(places.iter().map(|&l| old[l as usize]));
        new_dual.resize(places.len(), 0.0);
        let pairs = labels.pairs_of(i);
        let value = self.chains[0].value(scores, pairs);
        let gap = labels.weight(i) * value - self.dual_terms[i] + dot(dual, scores);
        let block = Block {
            instance: i,
            pairs,
            weight: labels.weight(i),
            kappa,
            scores,
            dual,
        };
        self.dual_terms[i] = self.chains[0].step(block, new_dual);
        if new_dual == dual {
            return (gap, false);
        }
        memory::resize(change, q, 0.0);
        nonzeros.clear();
        for (&l, (new, old)) in places.iter().zip(new_dual.iter().zip(&*dual)) {
            if new != old {
                change[l as usize] = new - old;
                nonzeros.push(l);
            }
        }
        nonzeros.sort_unstable();
        few.add(
            i,
            Change {
                values: change,
                nonzeros,
            },
        );
        for &l in &*nonzeros {
            let delta = std::mem::take(&mut change[l as usize]);
            self.sum[l as usize] += factor * delta;
        }
        self.dual.change(i, q, row, |row| {
            for (&l, new) in places.iter().zip(&*new_dual) {
                row[l as usize] = *new;
            }
        });
        (gap, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::UNKNOWN;
    use crate::linalg::features::Sparse;
    use crate::pairwise::bcd::Proximal;
    use crate::pairwise::loss::Hinge;
    use crate::pairwise::scores::LinearSparse;
    use crate::parallel::threads::Threads;
    use crate::report::Settings;

    const Q: usize = 400;

    /// One instance with the relevant labels 3 and 7, and label 5 unknown.
    fn labels() -> Labels {
        let mut indicator = [0; Q];
        (indicator[3], indicator[5], indicator[7]) = (1, UNKNOWN, 1);
        Labels::new(&indicator, Q, 1.0).unwrap()
    }

    fn listed(labels: &Labels, scores: &[f64], dual: &[f64]) -> Vec<u32> {
        let mut lists = Shortlists::with_room(1, Q);
        lists.list(labels, 0, scores, dual);
        lists.of(0).to_vec()
    }

    #[test]
    fn what_is_listed_is_hard_or_has_a_dual_variable() {
        let (mut scores, mut dual) = (vec![-2.0; Q], vec![0.0; Q]);
        (scores[3], scores[5], scores[7]) = (0.5, 9.0, 2.0);
        (scores[9], scores[20], scores[21]) = (1.0, -0.49, -0.61);
        dual[30] = -0.1;
        assert_eq!(listed(&labels(), &scores, &dual), [9, 20, 30]);
        // Of many hard labels the hardest, but all with a dual variable.
        let order = |l: usize| (l * 37 % Q) as f64;
        let scores: Vec<f64> = (0..Q).map(order).collect();
        let mut easy: Vec<u32> = (0..Q as u32).filter(|l| ![3, 5, 7].contains(l)).collect();
        easy.sort_by(|&j, &k| order(j as usize).total_cmp(&order(k as usize)));
        dual.fill(0.0);
        easy[..50].iter().for_each(|&l| dual[l as usize] = -0.1);
        let top = labels().with_top(2).unwrap();
        let mut expected = easy[..50].to_vec();
        expected.sort_unstable();
        assert_eq!(listed(&top, &scores, &dual), expected);
        easy[20..50].iter().for_each(|&l| dual[l as usize] = 0.0);
        let mut expected = [&easy[..20], &easy[easy.len() - 12..]].concat();
        expected.sort_unstable();
        assert_eq!(listed(&top, &scores, &dual), expected);
    }

    #[test]
    fn long_lists_are_not_used() {
        let (scores, dual) = (vec![0.0; Q], vec![0.0; Q]);
        let mut lists = Shortlists::with_room(1, Q);
        lists.list(&labels(), 0, &scores, &dual);
        assert!(!lists.are_short());
        let mut few = Shortlists::with_room(1, Q);
        let easy: Vec<f64> = (0..Q)
            .map(|l| if l == 3 || l == 7 { 2.0 } else { 0.0 })
            .collect();
        few.list(&labels(), 0, &easy, &dual);
        assert!(few.are_short());
        few.append(lists);
        assert!(!few.are_short());
    }

    /// Passes raise the dual objective, and leave scores, sums and dual terms that are those of their dual matrix.
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
        let mut engine = Engine::new(&labels, &mut scores, step, dual, 1.0, &threads, &settings);
        engine.may_estimate = true;
        (0..5).for_each(|_| assert_eq!(engine.epoch(&mut ()), Epoch::Moved));
        let objective = |engine: &mut Engine<'_, _, _>| {
            let sums = engine.certify();
            let of_bias: f64 = engine.sum.iter().map(|g| g * g).sum();
            sums.dual_terms - 0.5 * (sums.quadratic + of_bias)
        };
        let before = objective(&mut engine);
        assert_eq!(engine.pass_over_shortlists(&mut ()), Some(Epoch::Moved));
        let after = objective(&mut engine);
        assert!(after > before);
        let sum = engine.sum.clone();
        engine.recompute(&mut ());
        let anew = objective(&mut engine);
        assert!((after - anew).abs() < 1e-10 * anew);
        for (kept, anew) in sum.iter().zip(engine.sum_of_rows()) {
            assert!((kept - anew).abs() < 1e-12);
        }
        let terms = crate::pairwise::bcd::hinge_dual_terms(&labels, &engine.dual);
        for (kept, anew) in engine.dual_terms.iter().zip(terms) {
            assert!((kept - anew).abs() < 1e-12);
        }
        // Another dual matrix has dual variables at labels that no list has.
        assert!(engine.shortlists.is_some());
        engine.restart();
        assert_eq!(engine.pass_over_shortlists(&mut ()), None);
    }
}
