//! Steps on one instance's block of the dual.

use crate::pairwise::loss::{Loss, Pairs, dual_term, for_each_pair};

/// One instance's block of the dual: its known labels, the relevant ones first.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// The instance `i`.
    pub instance: usize,
    /// Its pairs.
    pub pairs: Pairs<'a>,
    /// Weight `c_i` of each pair, without that of its relevant label.
    pub weight: f64,
    /// Curvature `kappa = K_ii` (with the bias term).
    pub kappa: f64,
    /// Current scores.
    pub scores: &'a [f64],
    /// Current dual block `beta_i`.
    pub dual: &'a [f64],
}

/// A way to improve one instance's block: exactly ([`Proximal`]) or one pair at a time ([`mod@crate::pairwise::published::dcd`]).
pub trait Step: Send + Sized {
    /// The loss of the problem.
    type Loss: Loss;

    /// How many times in a row a chain may solve an instance.
    const PASSES: usize = 1;

    /// Whether a step can be restricted to varying subsets of an instance's labels.
    const ANY_LABELS: bool = false;

    /// The loss of the problem.
    fn loss(&self) -> &Self::Loss;

    /// Another worker for the same problem, which solves other instances in parallel; `None` if a step depends on the
    /// previous ones.
    fn fork(&self) -> Option<Self>;

    /// Writes the new block `beta_i` and returns its dual term `D_i`.
    fn step(&mut self, block: Block<'_>, dual: &mut [f64]) -> f64;

    /// Called after the dual matrix has been replaced.
    fn restart(&mut self) {}
}

/// The exact block step by the loss's proximal map.
#[derive(Clone, Debug, Default)]
pub struct Proximal<L: Loss> {
    loss: L,
    workspace: L::Workspace,
    centre: Vec<f64>,
    displacement: Vec<f64>,
}

impl<L: Loss> Proximal<L> {
    /// Steps for a loss.
    pub fn new(loss: L) -> Self {
        Self {
            loss,
            workspace: L::Workspace::default(),
            centre: Vec::new(),
            displacement: Vec::new(),
        }
    }
}

/// The dual block for scores that it cannot move (`kappa = 0`): a negative subgradient of `phi_i`.
pub(crate) fn negative_gradient<L: Loss>(loss: &L, block: &Block<'_>, dual: &mut [f64]) {
    dual.fill(0.0);
    let Block { pairs, scores, .. } = *block;
    let highest = highest(pairs, scores);
    for_each_pair::<L>(pairs, dual.len(), |m, n, weight| {
        if highest.as_ref().is_none_or(|highest| highest.contains(&n)) {
            let alpha = block.weight * weight * loss.negative_slope(scores[m] - scores[n]);
            dual[m] += alpha;
            dual[n] -= alpha;
        }
    });
}

/// Changes of scores smaller than this are lost in the rounding of a proximal map.
const SHORT: f64 = 1e-11;

/// Whether, for a loss with two linear pieces, a step with this `lambda` is so short that every margin stays on its piece:
/// the block is then known to sufficient accuracy. Which of several tied labels are the highest does not matter.
fn stays_on_pieces<L: Loss>(pairs: Pairs<'_>, scores: &[f64], lambda: f64) -> bool {
    if !L::BOX || lambda >= SHORT {
        return false;
    }
    let weights: f64 = (0..pairs.relevant).map(|m| pairs.weight(m)).sum();
    // Both scores of a margin may move, in either direction.
    let reach = 4.0 * lambda * (weights + 1.0) * (scores.len() - pairs.relevant + 1) as f64;
    let mut stays = reach < SHORT;
    for_each_pair::<L>(pairs, scores.len(), |m, n, _| {
        stays &= (1.0 - (scores[m] - scores[n])).abs() > reach;
    });
    stays
}

/// The positions of the irrelevant labels that form pairs; `None` where all do.
fn highest(pairs: Pairs<'_>, scores: &[f64]) -> Option<Vec<usize>> {
    let partners = pairs.partners(scores.len());
    let mut positions: Vec<usize> = (pairs.relevant..scores.len()).collect();
    if partners == positions.len() {
        return None;
    }
    positions.sort_unstable_by(|&j, &k| scores[k].total_cmp(&scores[j]).then(j.cmp(&k)));
    positions.truncate(partners);
    Some(positions)
}

impl<L: Loss> Step for Proximal<L> {
    type Loss = L;

    const PASSES: usize = 30;

    const ANY_LABELS: bool = true;

    fn fork(&self) -> Option<Self> {
        Some(Self::new(self.loss.clone()))
    }

    fn loss(&self) -> &L {
        &self.loss
    }

    fn step(&mut self, block: Block<'_>, dual: &mut [f64]) -> f64 {
        let Block {
            pairs,
            weight,
            kappa,
            scores,
            ..
        } = block;
        let lambda = kappa * weight;
        if kappa <= 0.0 || stays_on_pieces::<L>(pairs, scores, lambda) {
            negative_gradient(&self.loss, &block, dual);
            return self.loss.dual_value(dual, scores, pairs, weight);
        }
        if lambda.is_infinite() {
            // Overflow, which ends the loop.
            dual.fill(f64::NAN);
            return f64::NAN;
        }
        self.centre.clear();
        self.centre.extend(
            scores
                .iter()
                .zip(block.dual)
                .map(|(s, beta)| s - kappa * beta),
        );
        self.displacement.resize(scores.len(), 0.0);
        self.loss.prox(
            &self.centre,
            scores,
            &mut self.displacement,
            pairs,
            lambda,
            &mut self.workspace,
        );
        for ((beta, centre), displacement) in dual
            .iter_mut()
            .zip(&mut self.centre)
            .zip(&self.displacement)
        {
            *beta = displacement / kappa;
            *centre += displacement;
        }
        dual_term(
            &self.loss,
            dual,
            &mut self.centre,
            pairs,
            weight,
            lambda,
            &mut self.workspace,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairwise::loss::{OptimalMargin, SquaredHinge};
    use crate::pairwise::published::PairLoss;

    /// At the optimum of a block with known dual variables of pairs, the dual term is the one computed from them.
    fn dual_term_is_that_of_the_pairs<L: PairLoss>(loss: &L) {
        let weight = 3.0;
        for relevant in 1..=2 {
            let scores = &[0.4, 0.3, 0.2, 0.9][..2 * relevant];
            let pairs = Pairs::all(relevant);
            let (mut dual, mut exact) = (vec![0.0; scores.len()], 0.0);
            for_each_pair::<L>(pairs, scores.len(), |m, n, _| {
                let alpha = weight * loss.negative_slope(scores[m] - scores[n]);
                dual[m] += alpha;
                dual[n] -= alpha;
                exact += loss.pair_dual(alpha, weight);
            });
            for kappa in (-2..=12).map(|power| 10.0_f64.powi(power)) {
                let block = Block {
                    instance: 0,
                    pairs,
                    weight,
                    kappa,
                    scores,
                    dual: &dual,
                };
                let mut new = vec![0.0; scores.len()];
                let term = Proximal::new(loss.clone()).step(block, &mut new);
                let error = (term - exact).abs() / exact;
                assert!(
                    error < 1e-12,
                    "{relevant} relevant, {kappa:e}: {term} {exact}"
                );
            }
        }
    }

    /// Labels of small weight are dominated by those of large weight: a dual term may be too low, but never exceeds that of
    /// the pairs.
    #[test]
    fn dual_terms_of_weights_over_twelve_orders_are_lower_bounds() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..300 {
            let relevant = random.usize(1..5);
            let scores: Vec<f64> = (0..relevant + random.usize(1..4))
                .map(|_| random.f64())
                .collect();
            let weights: Vec<f64> = (0..relevant)
                .map(|_| 10.0_f64.powf(12.0 * random.f64() - 6.0))
                .collect();
            let pairs = Pairs {
                relevant,
                weights: &weights,
                top: usize::MAX,
            };
            let loss = OptimalMargin::new(0.2, 0.5).unwrap();
            let (weight, mut dual, mut exact) = (3.0, vec![0.0; scores.len()], 0.0);
            for_each_pair::<OptimalMargin>(pairs, scores.len(), |m, n, own| {
                let alpha = weight * own * loss.negative_slope(scores[m] - scores[n]);
                dual[m] += alpha;
                dual[n] -= alpha;
                exact += loss.pair_dual(alpha, weight * own);
            });
            for kappa in (-2..=14).map(|power| 10.0_f64.powi(power)) {
                let mut at: Vec<f64> = scores.clone();
                // The error that a large centre leaves in the scores.
                let rounding = f64::EPSILON * kappa * weight * pairs.range_of_weights().1;
                at.iter_mut()
                    .for_each(|score| *score += rounding.min(10.0) * random.f64());
                let lambda = kappa * weight;
                let term = dual_term(
                    &loss,
                    &dual,
                    &mut at,
                    pairs,
                    weight,
                    lambda,
                    &mut Default::default(),
                );
                let size = exact.abs() + loss.value(&scores, pairs) * weight;
                assert!(
                    term - exact <= 1e-12 * size,
                    "{kappa:e} {weights:?}: {term} {exact}"
                );
            }
        }
    }

    /// If a block can hardly move its scores, its variables are at their bounds, exactly.
    #[test]
    fn blocks_of_next_to_nothing_are_exact() {
        let pairs = Pairs {
            relevant: 2,
            weights: &[0.3, 8.5],
            top: usize::MAX,
        };
        let scores = [0.4e-15, -0.3e-15, 0.2e-15, -0.9e-15];
        let mut dual = [0.0; 4];
        for kappa in [1e-14, 1e-16, 1e-300] {
            let block = Block {
                instance: 0,
                pairs,
                weight: 0.7,
                kappa,
                scores: &scores,
                dual: &[0.1, 0.2, -0.1, -0.2],
            };
            let term = Proximal::new(crate::pairwise::loss::Hinge).step(block, &mut dual);
            let bounds = [0.3, 8.5].map(|own| 2.0 * own * 0.7);
            assert!((dual[0] - bounds[0]).abs() + (dual[1] - bounds[1]).abs() < 1e-14);
            assert!((term - bounds[0] - bounds[1]).abs() < 1e-13, "{term}");
        }
    }

    #[test]
    fn dual_terms_of_stiff_blocks_are_exact() {
        dual_term_is_that_of_the_pairs(&SquaredHinge);
        dual_term_is_that_of_the_pairs(&OptimalMargin::new(0.3, 0.4).unwrap());
    }
}
