//! A chain: instances that are solved in turn and see each other's moves.
//!
//! Several chains run at the same time, each with what the others had done when the chains began.

use super::step::{Block, Step};
use crate::acceleration::Anchor;
use crate::labels::Labels;
use crate::scores::Scores;
use crate::vector::{axpy, dot};

/// What all chains see while they run.
#[derive(Debug)]
pub(super) struct Surroundings<'a, S> {
    pub labels: &'a Labels,
    pub scores: &'a S,
    /// The dual matrix `B`.
    pub dual: &'a [f64],
    /// `D_i` of every instance.
    pub dual_terms: &'a [f64],
    /// `b + sigma g`
    pub shift: &'a [f64],
    pub sigma: f64,
    pub anchor: Option<&'a Anchor>,
    /// Whether other chains run at the same time, so that probes of the joint move are wanted.
    pub joint: bool,
}

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
#[derive(Debug)]
pub(super) struct Chain<T> {
    step: T,
    buffers: Buffers,
    /// `D_i` of the instances in the order of the visits.
    pub terms: Vec<f64>,
    /// The instances that moved.
    pub moved: Vec<u32>,
    /// Their new rows of `B`.
    pub rows: Vec<f64>,
    /// What these rows changed by.
    pub changes: Vec<f64>,
    probes: Probes,
}

#[derive(Debug, Default)]
struct Buffers {
    scores: Vec<f64>,
    kernel: Vec<f64>,
    opened: Vec<f64>,
    shift: Vec<f64>,
    gathered_scores: Vec<f64>,
    gathered_dual: Vec<f64>,
    new_dual: Vec<f64>,
    scratch: Vec<f64>,
}

impl<T: Step> Chain<T> {
    pub fn new(step: T) -> Self {
        Self {
            step,
            buffers: Buffers::default(),
            terms: Vec::new(),
            moved: Vec::new(),
            rows: Vec::new(),
            changes: Vec::new(),
            probes: Probes::default(),
        }
    }

    pub fn loss(&self) -> &T::Loss {
        self.step.loss()
    }

    /// Told that the dual matrix is another one than the steps have led to.
    pub fn restart(&mut self) {
        self.step.restart();
    }

    /// Solves the instances in turn.
    pub fn run<S: Scores>(&mut self, around: &Surroundings<'_, S>, instances: &[u32]) {
        let Surroundings {
            labels,
            dual,
            sigma,
            ..
        } = *around;
        let (q, count) = (labels.count(), instances.len());
        let buffers = &mut self.buffers;
        buffers.scores.resize(count * q, 0.0);
        buffers.kernel.resize(count * count, 0.0);
        for buffer in [
            &mut buffers.gathered_scores,
            &mut buffers.gathered_dual,
            &mut buffers.new_dual,
        ] {
            buffer.resize(q, 0.0);
        }
        self.terms.clear();
        self.moved.clear();
        self.rows.clear();
        self.changes.clear();
        self.probes.clear();
        around.scores.open(
            instances,
            &mut buffers.scores,
            &mut buffers.kernel,
            &mut buffers.scratch,
        );
        buffers.opened.clear();
        if around.joint {
            let probes = buffers.scores.chunks_exact(q).step_by(PROBED);
            buffers.opened.extend(probes.flatten());
        }
        buffers.shift.clear();
        buffers.shift.extend_from_slice(around.shift);

        for (k, &instance) in instances.iter().enumerate() {
            let i = instance as usize;
            let (current, later) = buffers.scores[k * q..].split_at_mut(q);
            let probed = around.joint && k % PROBED == 0;
            axpy(1.0, &buffers.shift, current);
            let row = &dual[i * q..(i + 1) * q];
            let (point, rho) = match around.anchor {
                Some(anchor) => (&anchor.point[i * q..(i + 1) * q], anchor.rho),
                None => (row, 0.0),
            };
            if rho > 0.0 {
                for ((score, beta), a) in current.iter_mut().zip(row).zip(point) {
                    *score += rho * (beta - a);
                }
            }
            labels.gather(i, current, &mut buffers.gathered_scores);
            labels.gather(i, row, &mut buffers.gathered_dual);
            let kappa = around.scores.diagonal()[i] + sigma + rho;
            let block = Block {
                instance: i,
                relevant: labels.relevant(i).len(),
                weight: labels.weight(i),
                kappa,
                scores: &buffers.gathered_scores,
                dual: &buffers.gathered_dual,
            };
            let term = self.step.step(block, &mut buffers.new_dual);
            self.terms.push(term);
            if buffers.new_dual == buffers.gathered_dual {
                continue;
            }
            self.moved.push(instance);
            let first = self.rows.len();
            self.rows.resize(first + q, 0.0);
            let new = &mut self.rows[first..];
            labels.scatter(i, &buffers.new_dual, new);
            self.changes
                .extend(new.iter().zip(row).map(|(new, beta)| new - beta));
            let change = &self.changes[first..];
            if probed {
                let opened = &buffers.opened[k / PROBED * q..(k / PROBED + 1) * q];
                let from_anchor: f64 = change
                    .iter()
                    .zip(row.iter().zip(point))
                    .map(|(delta, (beta, a))| delta * (beta - a))
                    .sum();
                let (square, product) = (dot(change, change), dot(opened, change));
                let linear = product + dot(around.shift, change) + rho * from_anchor;
                self.probes.instances.push(instance);
                self.probes.changes.extend_from_slice(change);
                self.probes.slope += term - around.dual_terms[i] - linear;
                self.probes.secured += 0.5 * kappa * square;
                self.probes.curvature += rho * square - product;
            }
            axpy(sigma, change, &mut buffers.shift);
            let kernel = &buffers.kernel[k * count + k + 1..(k + 1) * count];
            for (scores, &value) in later.chunks_exact_mut(q).zip(kernel) {
                if value != 0.0 {
                    axpy(value, change, scores);
                }
            }
        }
    }

    /// Completes the probes' curvature once the scores contain the moves of all chains, which sum to `sum`.
    pub fn measure<S: Scores>(&mut self, scores: &S, sum: &[f64], sigma: f64) {
        let rows = &mut self.buffers.opened;
        let probes = &mut self.probes;
        rows.resize(probes.changes.len(), 0.0);
        scores.rows(&probes.instances, rows, &mut self.buffers.scratch);
        for row in rows.chunks_exact_mut(sum.len()) {
            axpy(sigma, sum, row);
        }
        probes.curvature += dot(rows, &probes.changes);
    }

    pub fn probes(&self) -> &Probes {
        &self.probes
    }
}
