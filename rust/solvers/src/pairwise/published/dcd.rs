//! Dual coordinate descent as published (Chen et al. 2009, algorithm 1): one pair at a time.
//!
//! ```text
//! min over alpha  1/2 <B, K B> - sum of D(alpha_imn),   B = H alpha (Chen et al. 2009, eq. (17) with lam = 0)
//! ```
//!
//! Changing pair `(m, n)` of instance `i` by `d` moves `s_m` by `kappa d` and `s_n` by `-kappa d`, so inside an instance
//! each step costs O(1) (the paper recomputes `(w_m - w_n)^T x_i` and updates two weight vectors each time). Pairs are
//! visited with `m` over `P_i` outside and `n` over `N_i` inside, both ascending.
//!
//! Deviations: the stop rule is the duality gap, not `||alpha* - alpha|| < eps`; the loop around the instances is the
//! engine's ([`crate::pairwise::bcd`]), so kernels, delayed updates and biases are shared.

use crate::error::SolverError;
use crate::labels::Labels;
use crate::memory::{self, Purpose};
use crate::pairwise::bcd::{Block, Step};
use crate::pairwise::loss::{
    Hinge, Loss, OptimalMargin, SquaredHinge, ZeroLabelHinge, for_each_pair,
};

/// A loss with a known dual for each pair.
pub trait PairLoss: Loss {
    /// The dual variable that minimises the objective in this one pair: margin `z` at the current `alpha`, curvature
    /// `kappa` of the instance, weight `c` of the pair.
    fn pair_step(&self, alpha: f64, z: f64, kappa: f64, c: f64) -> f64;

    /// The pair's term of the dual objective.
    fn pair_dual(&self, alpha: f64, c: f64) -> f64;
}

impl PairLoss for Hinge {
    /// Chen et al. 2009, eq. (23).
    fn pair_step(&self, alpha: f64, z: f64, kappa: f64, c: f64) -> f64 {
        if kappa <= 0.0 {
            return c * self.negative_slope(z);
        }
        (alpha - (z - 1.0) / (2.0 * kappa)).clamp(0.0, c)
    }

    fn pair_dual(&self, alpha: f64, _c: f64) -> f64 {
        alpha
    }
}

impl PairLoss for ZeroLabelHinge {
    fn pair_step(&self, alpha: f64, z: f64, kappa: f64, c: f64) -> f64 {
        Hinge.pair_step(alpha, z, kappa, c)
    }

    fn pair_dual(&self, alpha: f64, _c: f64) -> f64 {
        alpha
    }
}

impl PairLoss for SquaredHinge {
    fn pair_step(&self, alpha: f64, z: f64, kappa: f64, c: f64) -> f64 {
        (alpha - (z - 1.0 + alpha / c) / (2.0 * kappa + 1.0 / c)).max(0.0)
    }

    fn pair_dual(&self, alpha: f64, c: f64) -> f64 {
        alpha - alpha * alpha / (2.0 * c)
    }
}

impl PairLoss for OptimalMargin {
    fn pair_step(&self, t: f64, z: f64, kappa: f64, c: f64) -> f64 {
        let below = (2.0 * kappa * t - z + (1.0 - self.theta())) / (2.0 * kappa + 1.0 / c);
        if below >= 0.0 {
            return below;
        }
        let above =
            (2.0 * kappa * t - z + (1.0 + self.theta())) / (2.0 * kappa + 1.0 / (self.mu() * c));
        above.min(0.0)
    }

    fn pair_dual(&self, t: f64, c: f64) -> f64 {
        if t >= 0.0 {
            (1.0 - self.theta()) * t - t * t / (2.0 * c)
        } else {
            (1.0 + self.theta()) * t - t * t / (2.0 * self.mu() * c)
        }
    }
}

/// Maximum number of passes over the pairs in search of dual variables for a given start.
const PASSES_AT_START: usize = 1000;

/// These passes end when no dual variable changes by more than this share of the largest one.
const SETTLED: f64 = 1e-14;

/// One pass over the pairs of an instance.
#[derive(Clone, Debug)]
pub struct OnePair<L: PairLoss> {
    loss: L,
    starts: Vec<usize>,
    /// One dual variable per pair; all 0 for an instance of which only their sums `beta_i` are known.
    alpha: Vec<f64>,
    scores: Vec<f64>,
}

impl<L: PairLoss> OnePair<L> {
    /// All dual variables 0: `8 L` bytes for `L` pairs.
    ///
    /// # Errors
    /// When they cannot be allocated.
    pub fn new(loss: L, labels: &Labels) -> Result<Self, SolverError> {
        let mut starts = vec![0];
        let mut total = 0_usize;
        for i in 0..labels.instances() {
            total += if labels.has_pairs(i) {
                labels.pairs(i)
            } else {
                0
            };
            starts.push(total);
        }
        Ok(Self {
            loss,
            starts,
            alpha: memory::zeros_for(total, Purpose::LabelPairs),
            scores: Vec::new(),
        })
    }
}

impl<L: PairLoss> OnePair<L> {
    /// Minimises over each pair of an instance in turn, with the scores at `self.scores`. Returns the largest change
    /// of a dual variable and the largest dual variable.
    fn pass(&mut self, block: &Block<'_>) -> (f64, f64) {
        let alpha = &mut self.alpha[self.starts[block.instance]..self.starts[block.instance + 1]];
        let (mut pair, mut largest_change, mut largest) = (0, 0.0_f64, 0.0_f64);
        let (loss, scores) = (&self.loss, &mut self.scores);
        for_each_pair::<L>(block.pairs, block.dual.len(), |m, n, weight| {
            let z = scores[m] - scores[n];
            let new = loss.pair_step(alpha[pair], z, block.kappa, block.weight * weight);
            let change = new - alpha[pair];
            scores[m] += block.kappa * change;
            scores[n] -= block.kappa * change;
            alpha[pair] = new;
            largest_change = largest_change.max(change.abs());
            largest = largest.max(new.abs());
            pair += 1;
        });
        (largest_change, largest)
    }

    /// Finds dual variables of the pairs for a start of which only `beta_i` is known: the block is solved from 0, so that an
    /// optimal start does not move.
    fn settle_start(&mut self, block: &Block<'_>) {
        for (score, beta) in self.scores.iter_mut().zip(block.dual) {
            *score -= block.kappa * beta;
        }
        for _ in 0..PASSES_AT_START {
            let (change, largest) = self.pass(block);
            if change <= SETTLED * largest {
                break;
            }
        }
    }
}

impl<L: PairLoss> Step for OnePair<L> {
    type Loss = L;

    fn restart(&mut self) {
        self.alpha.fill(0.0);
    }

    fn loss(&self) -> &L {
        &self.loss
    }

    /// None: the published loop visits the pairs one after the other.
    fn fork(&self) -> Option<Self> {
        None
    }

    fn step(&mut self, block: Block<'_>, dual: &mut [f64]) -> f64 {
        self.scores.clear();
        self.scores.extend_from_slice(block.scores);
        let own = self.starts[block.instance]..self.starts[block.instance + 1];
        let zero = |numbers: &[f64]| numbers.iter().all(|&number| number == 0.0);
        if !zero(block.dual) && zero(&self.alpha[own.clone()]) {
            self.settle_start(&block);
        }
        self.pass(&block);
        dual.fill(0.0);
        let alpha = &self.alpha[own];
        let (mut total, mut pair) = (0.0, 0);
        for_each_pair::<L>(block.pairs, dual.len(), |m, n, weight| {
            dual[m] += alpha[pair];
            dual[n] -= alpha[pair];
            total += self.loss.pair_dual(alpha[pair], block.weight * weight);
            pair += 1;
        });
        total
    }
}
