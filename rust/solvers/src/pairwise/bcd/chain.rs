//! A chain: instances that are solved in turn and see each other's moves.
//!
//! Several chains run at the same time, each with what the others had done when the chains began.

use super::local_scores::LocalScores;
use super::step::{Block, Step};
use crate::labels::Labels;
use crate::linalg::rows::Rows;
use crate::linalg::vector::{axpy, dot};
use crate::pairwise::loss::Loss;
use crate::pairwise::scores::Scores;

/// What all chains see while they run.
#[derive(Debug)]
pub(super) struct Surroundings<'a, S: Scores> {
    pub labels: &'a Labels,
    pub scores: &'a S,
    /// The dual matrix `B`.
    pub dual: &'a S::Dual,
    /// `D_i` of every instance.
    pub dual_terms: &'a [f64],
    /// `b + sigma g`, which enters the scores of instance `i` `v_i` times.
    pub shift: &'a [f64],
    pub sigma: f64,
    /// `v`
    pub factors: &'a [f64],
    /// Whether other chains run at the same time, so that probes of the joint move are wanted.
    pub joint: bool,
    /// How often to solve the instances at most.
    pub passes: usize,
    /// Whether the gap terms that the visits meet are wanted.
    pub estimates: bool,
}

impl<S: Scores> Surroundings<'_, S> {
    /// An instance's row of `B` when the chains began.
    fn old<'b>(&'b self, i: u32, buffer: &'b mut Vec<f64>) -> &'b [f64] {
        self.dual.row(i as usize, self.labels.count(), buffer)
    }
}

/// Passes end when one gains less than this share of the first: a pass costs about so much of an epoch's visit, whose
/// product with the kernel reaches all instances.
const LEAST_GAIN: f64 = 0.06;

/// An instance that gains less than this share of the mean of the pass before rests until the next epoch.
const LEAST_SHARE: f64 = 0.3;

/// One instance in so many is a probe of how much the chains overshoot together.
const PROBED: usize = 8;

/// The moves of some of a chain's instances, and what was expected of them.
#[derive(Debug, Default)]
pub(super) struct Probes {
    instances: Vec<u32>,
    changes: Vec<f64>,
    /// How fast the dual objective grows along these moves, with its dual terms taken as linear on the way.
    pub slope: f64,
    /// `1/2 sum_i kappa_i ||delta_i||^2`: so much at least is gained by exact steps that see each other.
    pub secured: f64,
    /// The curvature along all moves together that these moves take part in.
    pub curvature: f64,
}

impl Probes {
    fn clear(&mut self) {
        self.instances.clear();
        self.changes.clear();
        (self.slope, self.secured, self.curvature) = (0.0, 0.0, 0.0);
    }
}

/// A worker that solves chains, and the outcome of its last one.
pub(super) struct Chain<T: Step> {
    step: T,
    buffers: Buffers,
    /// `D_i` of the instances in the order of the visits.
    pub terms: Vec<f64>,
    /// The gap terms that the first visits met, in the same order; none unless wanted.
    pub gaps: Vec<f64>,
    /// The instances that moved.
    pub moved: Vec<u32>,
    /// Their new rows of `B`.
    pub rows: Vec<f64>,
    /// What these rows changed by.
    pub changes: Vec<f64>,
    probes: Probes,
    /// Positions of the instances that the next pass visits.
    visits: Vec<usize>,
}

#[derive(Debug, Default)]
struct Buffers {
    /// `F` of the instances, without the constant part, at first and now; the kernel among them; and their rows of `B`.
    opened: Vec<f64>,
    scores: LocalScores,
    kernel: Vec<f64>,
    dual: Vec<f64>,
    current: Vec<f64>,
    change: Vec<f64>,
    shift: Vec<f64>,
    gathered_scores: Vec<f64>,
    gathered_dual: Vec<f64>,
    new_dual: Vec<f64>,
    /// A row of `B`, where it is not stored as such.
    old: Vec<f64>,
    scratch: Vec<f64>,
}

impl<T: Step> Chain<T> {
    pub fn new(step: T) -> Self {
        Self {
            step,
            buffers: Buffers::default(),
            terms: Vec::new(),
            gaps: Vec::new(),
            moved: Vec::new(),
            rows: Vec::new(),
            changes: Vec::new(),
            probes: Probes::default(),
            visits: Vec::new(),
        }
    }

    pub fn loss(&self) -> &T::Loss {
        self.step.loss()
    }

    /// Writes the new block of an instance and returns its dual term.
    pub fn step(&mut self, block: Block<'_>, dual: &mut [f64]) -> f64 {
        self.step.step(block, dual)
    }

    /// To be called when the dual matrix has been replaced.
    pub fn restart(&mut self) {
        self.step.restart();
    }

    /// Solves the instances in turn, up to `around.passes` times.
    pub fn run<S: Scores>(&mut self, around: &Surroundings<'_, S>, instances: &[u32]) {
        self.open(around, instances);
        let first = self.first_pass(around, instances);
        if around.passes > 1 && !self.visits.is_empty() {
            self.close_first_pass(around, instances);
            let mut mean = first / self.visits.len() as f64;
            for _ in 1..around.passes {
                let visited = self.visits.len() as f64;
                let gain = self.next_pass(around, instances, LEAST_SHARE * mean);
                mean = gain / visited;
                // Written so that an unknown gain, of a start whose dual terms are unknown, ends the passes.
                let pays = gain > LEAST_GAIN * first;
                if !pays || self.visits.is_empty() {
                    break;
                }
            }
        }
        self.collect(around, instances);
    }

    /// Gathers what the chain keeps current.
    fn open<S: Scores>(&mut self, around: &Surroundings<'_, S>, instances: &[u32]) {
        let (q, count) = (around.labels.count(), instances.len());
        let buffers = &mut self.buffers;
        buffers.kernel.resize(count * count, 0.0);
        for buffer in [
            &mut buffers.current,
            &mut buffers.change,
            &mut buffers.gathered_scores,
            &mut buffers.gathered_dual,
            &mut buffers.new_dual,
        ] {
            buffer.resize(q, 0.0);
        }
        self.terms.clear();
        self.gaps.clear();
        self.moved.clear();
        self.rows.clear();
        self.changes.clear();
        self.probes.clear();
        self.visits.clear();
        buffers.opened.resize(count * q, 0.0);
        around.scores.open(
            instances,
            &mut buffers.opened,
            &mut buffers.kernel,
            &mut buffers.scratch,
        );
        buffers.scores.set(&buffers.opened, q);
        buffers.dual.clear();
        for &i in instances {
            let row = around.old(i, &mut buffers.old);
            buffers.dual.extend_from_slice(row);
            self.terms.push(around.dual_terms[i as usize]);
        }
        buffers.shift.clear();
        buffers.shift.extend_from_slice(around.shift);
    }

    /// Solves every instance once; each one's move reaches those after it. Returns the gain.
    fn first_pass<S: Scores>(&mut self, around: &Surroundings<'_, S>, instances: &[u32]) -> f64 {
        let count = instances.len();
        let mut total = 0.0;
        for k in 0..count {
            let Some(gain) = self.visit(around, instances, k) else {
                continue;
            };
            total += gain;
            self.visits.push(k);
            let Buffers {
                change,
                scores,
                kernel,
                ..
            } = &mut self.buffers;
            let row = &kernel[k * count + k + 1..(k + 1) * count];
            scores.spread(row, change, k + 1);
        }
        total
    }

    /// Makes the kernel among the instances symmetric, and adds to each instance's scores its own move and those after it.
    fn close_first_pass<S: Scores>(&mut self, around: &Surroundings<'_, S>, instances: &[u32]) {
        let (q, count) = (around.labels.count(), instances.len());
        let Buffers {
            kernel,
            scores,
            dual,
            change,
            old,
            ..
        } = &mut self.buffers;
        for (k, &i) in instances.iter().enumerate() {
            for j in 0..k {
                kernel[k * count + j] = kernel[j * count + k];
            }
            kernel[k * count + k] = around.scores.diagonal()[i as usize];
        }
        for &k in &self.visits {
            let old = around.old(instances[k], old);
            for ((change, new), old) in change.iter_mut().zip(&dual[k * q..]).zip(old) {
                *change = new - old;
            }
            scores.spread(&kernel[k * count..=k * count + k], change, 0);
        }
    }

    /// Solves once more those that gained enough before, and keeps those that gain more than `least`; each move reaches
    /// all of them. Returns the gain.
    fn next_pass<S: Scores>(
        &mut self,
        around: &Surroundings<'_, S>,
        instances: &[u32],
        least: f64,
    ) -> f64 {
        let count = instances.len();
        let mut visits = std::mem::take(&mut self.visits);
        let mut total = 0.0;
        visits.retain(|&k| {
            let Some(gain) = self.visit(around, instances, k) else {
                return false;
            };
            total += gain;
            let Buffers {
                change,
                scores,
                kernel,
                ..
            } = &mut self.buffers;
            scores.spread(&kernel[k * count..(k + 1) * count], change, 0);
            gain > least
        });
        self.visits = visits;
        total
    }

    /// Solves the `k`-th instance. Returns by how much the dual objective grows, where there are
    /// several passes; `None` when the block stands still.
    fn visit<S: Scores>(
        &mut self,
        around: &Surroundings<'_, S>,
        instances: &[u32],
        k: usize,
    ) -> Option<f64> {
        let (labels, q) = (around.labels, around.labels.count());
        let i = instances[k] as usize;
        let buffers = &mut self.buffers;
        let current = &mut buffers.current;
        let row = &mut buffers.dual[k * q..(k + 1) * q];
        buffers.scores.read(k, current);
        let factor = around.factors[i];
        axpy(factor, &buffers.shift, current);
        let scores = labels.gather(i, current, &mut buffers.gathered_scores);
        let dual = labels.gather(i, row, &mut buffers.gathered_dual);
        if around.estimates && self.gaps.len() == k {
            let value = self.step.loss().value(scores, labels.pairs_of(i));
            let gap = labels.weight(i) * value - self.terms[k] + dot(dual, scores);
            self.gaps.push(gap);
        }
        let new_dual = &mut buffers.new_dual[..dual.len()];
        let kappa = around.scores.diagonal()[i] + around.sigma * factor * factor;
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
        let change = &mut buffers.change;
        change.copy_from_slice(row);
        labels.scatter(i, new_dual, row);
        for (change, new) in change.iter_mut().zip(&*row) {
            *change = new - *change;
        }
        // Nobody asks what a single pass gains.
        let gain = if around.passes > 1 {
            term - old_term - dot(change, current) - 0.5 * kappa * dot(change, change)
        } else {
            0.0
        };
        axpy(around.sigma * factor, change, &mut buffers.shift);
        if around.joint && k.is_multiple_of(PROBED) {
            self.probe(around, instances[k], k, (term - old_term, kappa));
        }
        Some(gain)
    }

    /// Notes the move of the `k`-th instance as a probe.
    fn probe<S: Scores>(
        &mut self,
        around: &Surroundings<'_, S>,
        instance: u32,
        k: usize,
        (gained, kappa): (f64, f64),
    ) {
        let q = around.labels.count();
        let Buffers { change, opened, .. } = &self.buffers;
        let opened = &opened[k * q..(k + 1) * q];
        let product = dot(opened, change);
        let linear = product + around.factors[instance as usize] * dot(around.shift, change);
        let probes = &mut self.probes;
        probes.instances.push(instance);
        probes.changes.extend_from_slice(change);
        probes.slope += gained - linear;
        probes.secured += 0.5 * kappa * dot(change, change);
        probes.curvature -= product;
    }

    /// Collects the instances whose rows are not what they were.
    fn collect<S: Scores>(&mut self, around: &Surroundings<'_, S>, instances: &[u32]) {
        let q = around.labels.count();
        let Buffers { dual, old, .. } = &mut self.buffers;
        for (&i, new) in instances.iter().zip(dual.chunks_exact(q)) {
            let old = around.old(i, old);
            if new != old {
                self.moved.push(i);
                self.rows.extend_from_slice(new);
                self.changes
                    .extend(new.iter().zip(old).map(|(new, old)| new - old));
            }
        }
    }

    /// Completes the probes' curvature once the scores contain the moves of all chains, which sum to `sum`.
    pub fn measure<S: Scores>(&mut self, scores: &S, sum: &[f64], sigma: f64, factors: &[f64]) {
        let rows = &mut self.buffers.opened;
        let probes = &mut self.probes;
        rows.resize(probes.changes.len(), 0.0);
        scores.rows(&probes.instances, rows, &mut self.buffers.scratch);
        for (row, &i) in rows.chunks_exact_mut(sum.len()).zip(&probes.instances) {
            axpy(sigma * factors[i as usize], sum, row);
        }
        probes.curvature += dot(rows, &probes.changes);
    }

    pub fn probes(&self) -> &Probes {
        &self.probes
    }
}
