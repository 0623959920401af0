//! The Newton step if no pair is far. The partners are then nested: with the few in ascending order, the partners of each
//! node are the first ones, and enter only through `P = sum w a` over them. Starting with the few that have the fewest
//! partners, the nodes so far are coupled to the rest through a single number, their mean score
//!
//! ```text
//! x = alpha + gamma P,    leak = 1 - gamma W,    W = sum w
//! ```
//!
//! and no entry is subtracted from another, as the leak is carried along. The number of steps is that of the few and nodes.

use super::{Few, NewtonWorkspace};

/// The coupling of the nodes so far to the remaining few.
#[derive(Clone, Copy, Debug, Default)]
struct Common {
    /// Number of the many.
    count: f64,
    alpha: f64,
    gamma: f64,
    leak: f64,
}

/// The few that are coupled to the same nodes, from the first one on, and these nodes given the previous few.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    first: usize,
    common: Common,
}

impl Common {
    /// Combined with another node.
    fn and(self, other: Self) -> Self {
        let count = self.count + other.count;
        let mean = |own: f64, others: f64| (self.count * own + other.count * others) / count;
        Self {
            count,
            alpha: mean(self.alpha, other.alpha),
            gamma: mean(self.gamma, other.gamma),
            leak: mean(self.leak, other.leak),
        }
    }

    /// Without some of the few; the remaining ones have the weight `rest`.
    fn without(self, few: &[Few], lambda: f64, rest: f64) -> Self {
        let (mut drawn, mut loose) = (0.0, 0.0);
        for label in few {
            let own = label.weight / (1.0 + lambda * label.weight * self.count);
            drawn += own * label.centre;
            loose += own;
        }
        let kept = self.leak + self.gamma * (rest + loose);
        Self {
            count: self.count,
            alpha: (self.alpha + self.gamma * drawn) / kept,
            gamma: self.gamma / kept,
            leak: (self.leak + self.gamma * loose) / kept,
        }
    }
}

impl NewtonWorkspace {
    /// Finds the direction of the Newton step.
    pub(super) fn solve_nested(&mut self, lambda: f64) {
        let Self {
            few, nodes, levels, ..
        } = self;
        let (mut common, mut end) = (Common::default(), few.len());
        levels.clear();
        let mut absorb = |common: &mut Common, end: &mut usize, first: usize, rest: f64| {
            if first < *end {
                if common.count > 0.0 {
                    *common = common.without(&few[first..*end], lambda, rest);
                }
                let common = *common;
                levels.push(Level { first, common });
                *end = first;
            }
        };
        for node in nodes.iter().rev() {
            absorb(&mut common, &mut end, node.near, node.weight);
            common = common.and(Common {
                count: node.count,
                alpha: node.sum / node.count / node.stiffness,
                gamma: node.lambda / node.stiffness,
                leak: 1.0 / node.stiffness,
            });
        }
        absorb(&mut common, &mut end, 0, 0.0);
        let (mut sum, mut rest) = (0.0, &mut few[..]);
        let ends = levels.iter().rev().skip(1).map(|level| level.first);
        let mut start = 0;
        for (level, end) in levels.iter().rev().zip(ends.chain([rest.len()])) {
            let (own, after) = rest.split_at_mut(end - start);
            (rest, start) = (after, end);
            let mean = level.common.alpha + level.common.gamma * sum;
            for label in own {
                let strength = lambda * label.weight * level.common.count;
                let score = (label.centre + strength * mean) / (1.0 + strength);
                sum += label.weight * score;
                label.direction = score - label.score;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairwise::loss::{Loss, Pairs, SquaredHinge};

    /// The step equals that of the elimination, which does not use the order.
    #[test]
    fn nested_partners_give_the_step_of_the_whole_matrix() {
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..2000 {
            let (few, many) = (random.usize(1..30), random.usize(1..30));
            let centre: Vec<f64> = (0..few + many).map(|_| 4.0 * random.f64()).collect();
            let weights: Vec<f64> = (0..few)
                .map(|_| 10.0_f64.powf(6.0 * random.f64() - 3.0))
                .collect();
            let pairs = Pairs {
                relevant: few,
                weights: &weights,
                top: random.usize(1..=many),
            };
            let lambda = 10.0_f64.powf(16.0 * random.f64() - 8.0);
            let mut workspace = NewtonWorkspace::default();
            let mut moved = vec![0.0; few + many];
            SquaredHinge.prox(&centre, &centre, &mut moved, pairs, lambda, &mut workspace);
            if workspace.few.is_empty() {
                continue;
            }
            for label in &mut workspace.few {
                label.score = label.centre + random.f64();
            }
            workspace.evaluate(lambda);
            workspace.couple(lambda);
            workspace.eliminate();
            let ends = |workspace: &NewtonWorkspace| -> Vec<f64> {
                let few = workspace.few.iter();
                few.map(|label| label.score + label.direction).collect()
            };
            let expected = ends(&workspace);
            workspace.solve_nested(lambda);
            for (found, expected) in ends(&workspace).iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-9, "{found} {expected}");
            }
        }
    }
}
