//! The published block step of mlODM (Tan et al. 2019, algorithm 2): multiplicative updates of all dual variables of an
//! instance.
//!
//! ```text
//! min over eta >= 0   1/2 eta^T H eta + v^T eta,   eta = (alpha, beta),   H = [A + I/c, -A; -A, A + I/(mu c)]   (24)
//! ```
//!
//! with one entry per pair `(m, n)` in `alpha` and in `beta`, and `v = (z + theta - 1, -z + theta + 1)` for the margins `z`
//! due to the other instances. `A` is `kappa` times the number of labels that two pairs share, so `H^+ eta` and `H^- eta`
//! are `A alpha` and `A beta` and a diagonal, and `A alpha` needs only the sums of `alpha` by label. Each entry is
//! multiplied by the positive root of `a x^2 + v x - b = 0` with `a = (H^+ eta)_j` and `b = (H^- eta)_j`.
//!
//! It is included because it was published; the proximal step finds the same block directly. Deviation: the loop around the
//! instances is the engine's ([`crate::pairwise::bcd`]), as for [`mod@super::dcd`].

use super::dcd::PairLoss;
use crate::pairwise::bcd::{Block, Step, negative_gradient};
use crate::pairwise::loss::{Loss, OptimalMargin, for_each_pair};

/// Entries shrink towards 0 without end; this floor keeps them from becoming denormal.
const FLOOR: f64 = 1e-150;

/// The updates of a block end when no entry moves by more than this share of the largest one, or after this many updates.
const SETTLED: f64 = 1e-8;
const MOST_UPDATES: usize = 1000;

/// A pair with its dual variables.
#[derive(Clone, Copy, Debug)]
struct Pair {
    m: usize,
    n: usize,
    /// Its weight.
    c: f64,
    /// Its margin due to the other instances.
    z: f64,
    alpha: f64,
    beta: f64,
}

/// The block step by multiplicative updates.
#[derive(Clone, Debug)]
pub struct Multiplicative {
    loss: OptimalMargin,
    pairs: Vec<Pair>,
    /// The sums of `alpha` and of `beta` over the pairs of each label.
    sums: Vec<(f64, f64)>,
}

impl Multiplicative {
    /// Steps for a loss.
    pub fn new(loss: OptimalMargin) -> Self {
        Self {
            loss,
            pairs: Vec::new(),
            sums: Vec::new(),
        }
    }

    /// Updates all entries once; returns whether they have settled.
    fn update(&mut self, kappa: f64, labels: usize) -> bool {
        let (theta, mu) = (self.loss.theta(), self.loss.mu());
        self.sums.clear();
        self.sums.resize(labels, (0.0, 0.0));
        for pair in &self.pairs {
            for label in [pair.m, pair.n] {
                self.sums[label].0 += pair.alpha;
                self.sums[label].1 += pair.beta;
            }
        }
        let (mut moved, mut largest) = (0.0_f64, 0.0_f64);
        for pair in &mut self.pairs {
            let (of_m, of_n) = (self.sums[pair.m], self.sums[pair.n]);
            let (alphas, betas) = (kappa * (of_m.0 + of_n.0), kappa * (of_m.1 + of_n.1));
            let (diagonal, v) = (pair.alpha / pair.c, pair.z + theta - 1.0);
            let alpha = pair.alpha * positive_root(alphas + diagonal, v, betas);
            let (diagonal, v) = (pair.beta / (mu * pair.c), 1.0 + theta - pair.z);
            let beta = pair.beta * positive_root(betas + diagonal, v, alphas);
            let (alpha, beta) = (alpha.max(FLOOR), beta.max(FLOOR));
            moved = moved
                .max((alpha - pair.alpha).abs())
                .max((beta - pair.beta).abs());
            largest = largest.max(alpha).max(beta);
            (pair.alpha, pair.beta) = (alpha, beta);
        }
        moved <= SETTLED * largest
    }
}

/// The positive root of `a x^2 + v x - b = 0`, in the form without cancellation.
fn positive_root(a: f64, v: f64, b: f64) -> f64 {
    let root = (v * v + 4.0 * a * b).sqrt();
    if v > 0.0 {
        2.0 * b / (v + root)
    } else {
        (root - v) / (2.0 * a)
    }
}

impl Step for Multiplicative {
    type Loss = OptimalMargin;

    fn loss(&self) -> &OptimalMargin {
        &self.loss
    }

    /// None: the published loop visits the instances one after the other.
    fn fork(&self) -> Option<Self> {
        None
    }

    fn step(&mut self, block: Block<'_>, dual: &mut [f64]) -> f64 {
        let kappa = block.kappa;
        if kappa <= 0.0 {
            negative_gradient(&self.loss, &block, dual);
            return self
                .loss
                .dual_value(dual, block.scores, block.pairs, block.weight);
        }
        self.pairs.clear();
        let centre = |label: usize| block.scores[label] - kappa * block.dual[label];
        for_each_pair::<OptimalMargin>(block.pairs, dual.len(), |m, n, weight| {
            self.pairs.push(Pair {
                m,
                n,
                c: block.weight * weight,
                z: centre(m) - centre(n),
                alpha: 1.0,
                beta: 1.0,
            });
        });
        for _ in 0..MOST_UPDATES {
            if self.update(kappa, dual.len()) {
                break;
            }
        }
        let mut total = 0.0;
        dual.fill(0.0);
        for pair in &self.pairs {
            let t = pair.alpha - pair.beta;
            dual[pair.m] += t;
            dual[pair.n] -= t;
            total += self.loss.pair_dual(t, pair.c);
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::vector::dot;
    use crate::pairwise::bcd::Proximal;
    use crate::pairwise::loss::Pairs;

    /// The contribution of the block to the dual objective.
    fn gain(block: &Block<'_>, dual: &[f64], term: f64) -> f64 {
        term - dot(block.scores, dual) - 0.5 * block.kappa * dot(dual, dual)
    }

    /// Objectives are compared, as entries that are 0 at the optimum may shrink slowly.
    #[test]
    fn a_block_is_as_good_as_that_of_the_proximal_step() {
        let mut random = fastrand::Rng::with_seed(4);
        for _ in 0..50 {
            let (relevant, labels) = (random.usize(1..4), random.usize(4..8));
            let loss = OptimalMargin::new(0.4 * random.f64(), 0.2 + 0.8 * random.f64()).unwrap();
            let scores: Vec<f64> = (0..labels).map(|_| 3.0 * random.f64() - 1.5).collect();
            let block = Block {
                instance: 0,
                pairs: Pairs::all(relevant),
                weight: 0.1 + random.f64(),
                kappa: 0.1 + random.f64(),
                scores: &scores,
                dual: &vec![0.0; labels],
            };
            let (mut published, mut exact) = (vec![0.0; labels], vec![0.0; labels]);
            let term = Multiplicative::new(loss).step(block, &mut published);
            let found = gain(&block, &published, term);
            let term = Proximal::new(loss).step(block, &mut exact);
            let best = gain(&block, &exact, term);
            assert!(found <= best + 1e-9, "{found} {best}");
            assert!(found >= best - 1e-4 * (1.0 + best), "{found} {best}");
        }
    }
}
