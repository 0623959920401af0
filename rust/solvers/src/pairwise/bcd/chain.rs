//! Chains of instances, which run in parallel from a common starting point. A chain solves its instances in turn, each with
//! the moves of the previous ones in its scores.

use super::iterate::{Iterate, Moves};
use super::local_scores::LocalScores;
use super::step::{Block, Step};
use crate::linalg::rows::Rows;
use crate::linalg::vector::{axpy, dot};
use crate::memory;
use crate::pairwise::scores::Scores;
use crate::tuning::Tuning;

/// The step length along the joint move of the chains, which the scores contain already: 1, unless they have overshot; then
/// up to the best point on the way, as estimated from the probes.
pub(super) fn joint_step<S: Scores + ?Sized, T: Step>(
    chains: &mut [Chain<T>],
    at: &Iterate<'_, S>,
    moves: &Moves,
) -> f64 {
    let mut sum = vec![0.0; at.sum().len()];
    for (&i, change) in moves
        .instances
        .iter()
        .zip(moves.changes.chunks_exact(sum.len()))
    {
        axpy(at.factors()[i as usize], change, &mut sum);
    }
    at.threads()
        .for_each_chunk(chains, 1, |_, chain| chain[0].measure(at, &sum));
    let (mut slope, mut secured, mut curvature) = (0.0, 0.0, 0.0);
    for Chain { probes, .. } in chains {
        slope += probes.slope;
        secured += probes.secured;
        curvature += probes.curvature;
    }
    share_of_way(slope, secured, curvature)
}

/// The step length along a move with this slope and curvature: to its best point if less than half of the `secured` gain is
/// reached, and 0 if moves without gain cancel each other.
fn share_of_way(slope: f64, secured: f64, curvature: f64) -> f64 {
    if slope - 0.5 * curvature < 0.5 * secured {
        (slope / curvature.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0)
    } else {
        1.0
    }
}

/// The data shared by all chains while they run.
pub(super) struct Surroundings<'a, S: Scores + ?Sized> {
    /// The common starting point.
    pub at: &'a Iterate<'a, S>,
    /// The bias in the scores there; it enters those of instance `i` with the factor `v_i`.
    pub shift: &'a [f64],
    /// Whether several chains run in parallel, so that the joint move needs probes.
    pub joint: bool,
    /// Maximum number of passes over the instances.
    pub passes: usize,
    pub tuning: &'a Tuning,
}

impl<S: Scores + ?Sized> Surroundings<'_, S> {
    /// An instance's row of `B` when the chains began.
    fn old<'b>(&'b self, i: u32, buffer: &'b mut Vec<f64>) -> &'b [f64] {
        self.at.dual().row(i as usize, self.shift.len(), buffer)
    }
}

/// The moves of some of a chain's instances, and the gain that they promise.
#[derive(Debug, Default)]
struct Probes {
    instances: Vec<u32>,
    changes: Vec<f64>,
    /// The slope of the dual objective along these moves, with its dual terms taken as linear.
    slope: f64,
    /// `1/2 sum_i kappa_i ||delta_i||^2`, the least gain of exact steps made one after the other.
    secured: f64,
    /// The contribution of these moves to the curvature along the joint move.
    curvature: f64,
}

impl Probes {
    fn clear(&mut self) {
        self.instances.clear();
        self.changes.clear();
        (self.slope, self.secured, self.curvature) = (0.0, 0.0, 0.0);
    }
}

/// A worker that solves chains, and the outcome of the last one.
pub(super) struct Chain<T: Step> {
    step: T,
    buffers: Buffers,
    /// `D_i` of the instances in the order of the visits.
    pub terms: Vec<f64>,
    pub moves: Moves,
    probes: Probes,
    /// Positions of the instances to be visited by the next pass.
    visits: Vec<usize>,
    /// Number of blocks solved.
    pub solved: usize,
}

#[derive(Debug, Default)]
struct Buffers {
    /// `F` of the instances, without the bias, at the start and now, and the kernel among them.
    opened: Vec<f64>,
    scores: LocalScores,
    kernel: Vec<f64>,
    /// The known labels of the instances, the relevant ones first, and their rows of `B` in this order.
    known: Vec<u32>,
    dual: Vec<f64>,
    current: Vec<f64>,
    new_dual: Vec<f64>,
    change: Vec<f64>,
    shift: Vec<f64>,
    /// A row of `B`, if it is not stored dense.
    old: Vec<f64>,
    scratch: Vec<f64>,
}

impl<T: Step> Chain<T> {
    pub fn new(step: T) -> Self {
        Self {
            step,
            buffers: Buffers::default(),
            terms: Vec::new(),
            moves: Moves::default(),
            probes: Probes::default(),
            visits: Vec::new(),
            solved: 0,
        }
    }

    pub fn loss(&self) -> &T::Loss {
        self.step.loss()
    }

    /// Writes the new block of an instance and returns its dual term.
    pub fn step(&mut self, block: Block<'_>, dual: &mut [f64]) -> f64 {
        self.step.step(block, dual)
    }

    /// Must be called after the dual matrix has been replaced.
    pub fn restart(&mut self) {
        self.step.restart();
    }

    /// Solves the instances in turn, up to `around.passes` times.
    pub fn run<S: Scores + ?Sized>(&mut self, around: &Surroundings<'_, S>, instances: &[u32]) {
        let tuning = &around.tuning.passes;
        self.open(around, instances);
        let first = self.pass(around, instances, f64::NEG_INFINITY);
        let mut mean = first / self.visits.len() as f64;
        for _ in 1..around.passes {
            let visited = self.visits.len() as f64;
            if visited == 0.0 {
                break;
            }
            let gain = self.pass(around, instances, tuning.least_share * mean);
            mean = gain / visited;
            // False also for a gain that has overflowed to NaN.
            let pays = gain > tuning.least_gain * first;
            if !pays {
                break;
            }
        }
        self.collect(around, instances);
    }

    /// Gathers the data that the chain keeps current.
    fn open<S: Scores + ?Sized>(&mut self, around: &Surroundings<'_, S>, instances: &[u32]) {
        let (labels, scores) = (around.at.labels(), around.at.scores());
        let (q, count) = (labels.count(), instances.len());
        let buffers = &mut self.buffers;
        memory::resize(&mut buffers.kernel, count * count, 0.0);
        memory::resize(&mut buffers.known, count * q, 0);
        memory::resize(&mut buffers.dual, count * q, 0.0);
        buffers.current.resize(q, 0.0);
        buffers.new_dual.resize(q, 0.0);
        self.terms.clear();
        self.moves.clear();
        self.probes.clear();
        self.visits.clear();
        self.solved = 0;
        memory::resize(&mut buffers.opened, count * q, 0.0);
        scores.open(
            instances,
            &mut buffers.opened,
            &mut buffers.kernel,
            &mut buffers.scratch,
        );
        buffers.scores.set(&buffers.opened, q);
        for (k, &i) in instances.iter().enumerate() {
            for j in 0..k {
                buffers.kernel[k * count + j] = buffers.kernel[j * count + k];
            }
            buffers.kernel[k * count + k] = scores.diagonal()[i as usize];
            let known = &mut buffers.known[k * q..];
            let mut position = 0;
            labels.known_labels(i as usize).for_each(|label| {
                known[position] = label as u32;
                position += 1;
            });
            let row = around.old(i, &mut buffers.old);
            for (dual, &label) in buffers.dual[k * q..].iter_mut().zip(&known[..position]) {
                *dual = row[label as usize];
            }
            self.terms.push(around.at.dual_terms()[i as usize]);
        }
        self.visits.extend(0..count);
        buffers.shift.clear();
        buffers.shift.extend_from_slice(around.shift);
    }

    /// Solves the instances of `visits` in turn, and keeps those that move and gain more than `least`, never those without a
    /// finite dual term. Each move updates the scores of all. Returns the gain.
    fn pass<S: Scores + ?Sized>(
        &mut self,
        around: &Surroundings<'_, S>,
        instances: &[u32],
        least: f64,
    ) -> f64 {
        let mut visits = std::mem::take(&mut self.visits);
        let mut total = 0.0;
        self.solved += visits.len();
        visits.retain(|&k| {
            let gain = self.visit(around, instances, k);
            total += gain.unwrap_or(0.0);
            gain.is_some_and(|gain| gain > least)
        });
        self.visits = visits;
        total
    }

    /// Solves the `k`-th instance. Returns the gain of the dual objective, which is computed only for several passes; `None`
    /// if the block stays as it is.
    fn visit<S: Scores + ?Sized>(
        &mut self,
        around: &Surroundings<'_, S>,
        instances: &[u32],
        k: usize,
    ) -> Option<f64> {
        let labels = around.at.labels();
        let q = labels.count();
        let (i, count) = (instances[k] as usize, instances.len());
        let Buffers {
            scores: of_chain,
            kernel,
            known,
            dual,
            current,
            new_dual,
            change,
            shift,
            ..
        } = &mut self.buffers;
        let known = &known[k * q..][..labels.known(i)];
        let dual = &mut dual[k * q..][..known.len()];
        let (scores, new_dual) = (&mut current[..known.len()], &mut new_dual[..known.len()]);
        of_chain.read(k, known, scores);
        let (factor, sigma) = (around.at.factors()[i], around.at.sigma());
        for (score, &label) in scores.iter_mut().zip(known) {
            *score += factor * shift[label as usize];
        }
        let kappa = around.at.curvature(i);
        let block = Block {
            instance: i,
            pairs: labels.pairs_of(i),
            weight: labels.weight(i),
            kappa,
            scores,
            dual,
        };
        let term = self.step.step(block, new_dual);
        let old_term = std::mem::replace(&mut self.terms[k], term);
        if new_dual == dual {
            return None;
        }
        change.clear();
        change.extend(new_dual.iter().zip(&*dual).map(|(new, old)| new - old));
        dual.copy_from_slice(new_dual);
        for (&label, change) in known.iter().zip(&*change) {
            shift[label as usize] += sigma * factor * change;
        }
        of_chain.spread(&kernel[k * count..][..count], known, change);
        // The gain of a single pass is not needed.
        let gain = if around.passes > 1 {
            term - old_term - dot(change, scores) - 0.5 * kappa * dot(change, change)
        } else {
            0.0
        };
        if around.joint && k.is_multiple_of(around.tuning.chains.probed) {
            self.probe(around, instances[k], k, term - old_term, kappa);
        }
        Some(gain)
    }

    /// Records the move of the `k`-th instance as a probe.
    fn probe<S: Scores + ?Sized>(
        &mut self,
        around: &Surroundings<'_, S>,
        instance: u32,
        k: usize,
        gained: f64,
        kappa: f64,
    ) {
        let q = around.shift.len();
        let Buffers { known, change, .. } = &self.buffers;
        let opened = &self.buffers.opened[k * q..];
        let probes = &mut self.probes;
        let first = probes.changes.len();
        probes.instances.push(instance);
        memory::grow(&mut probes.changes, q);
        let changes = &mut probes.changes[first..];
        for (&label, &change) in known[k * q..].iter().zip(change) {
            changes[label as usize] = change;
        }
        let product = dot(&opened[..q], changes);
        let linear = product + around.at.factors()[instance as usize] * dot(around.shift, changes);
        probes.slope += gained - linear;
        probes.secured += 0.5 * kappa * dot(changes, changes);
        probes.curvature -= product;
    }

    /// Collects the instances whose rows have changed.
    fn collect<S: Scores + ?Sized>(&mut self, around: &Surroundings<'_, S>, instances: &[u32]) {
        let labels = around.at.labels();
        let (q, moves) = (labels.count(), &mut self.moves);
        let Buffers {
            known, dual, old, ..
        } = &mut self.buffers;
        for (k, &i) in instances.iter().enumerate() {
            let known = &known[k * q..][..labels.known(i as usize)];
            let first = moves.rows.len();
            memory::grow(&mut moves.rows, q);
            let new = &mut moves.rows[first..];
            for (&label, &dual) in known.iter().zip(&dual[k * q..]) {
                new[label as usize] = dual;
            }
            let old = around.old(i, old);
            if *new == *old {
                moves.rows.truncate(first);
            } else {
                moves.instances.push(i);
                let changes = new.iter().zip(old).map(|(new, old)| new - old);
                memory::extend(&mut moves.changes, changes);
            }
        }
    }

    /// Completes the probes' curvature once the scores contain the moves of all chains, whose sum is `sum`.
    fn measure<S: Scores + ?Sized>(&mut self, at: &Iterate<'_, S>, sum: &[f64]) {
        let probes = &mut self.probes;
        if probes.instances.is_empty() {
            return;
        }
        let rows = &mut self.buffers.opened;
        rows.resize(probes.changes.len(), 0.0);
        let scratch = &mut self.buffers.scratch;
        at.scores().open(&probes.instances, rows, &mut [], scratch);
        for (row, &i) in rows.chunks_exact_mut(sum.len()).zip(&probes.instances) {
            axpy(at.sigma() * at.factors()[i as usize], sum, row);
        }
        probes.curvature += dot(rows, &probes.changes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_go_to_the_best_point_of_their_way() {
        assert_eq!(share_of_way(4.0, 1.0, 2.0), 1.0);
        assert_eq!(share_of_way(1.0, 1.0, 4.0), 0.25);
        assert_eq!(share_of_way(-1.0, 1.0, 4.0), 0.0);
        assert_eq!(share_of_way(0.4, 1.0, 0.0), 1.0);
        // 0/0: moves of equal rows, which cancel.
        assert_eq!(share_of_way(0.0, 1.0, 0.0), 0.0);
        // An epoch in which nothing moves.
        assert_eq!(share_of_way(0.0, 0.0, 0.0), 1.0);
    }
}
