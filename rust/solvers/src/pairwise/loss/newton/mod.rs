//! The smooth losses: the squared hinge and the optimal margin. A Newton method finds the exact minimiser of their proximal
//! map.
//!
//! ```text
//! min over s of 1/2 ||s - centre||^2 + lambda * sum_m w_m sum over the k highest s_n of loss(s_m - s_n)
//! loss(z) = 1/2 [max(0, 1 - theta - z)^2 + mu max(0, z - 1 - theta)^2]
//! ```
//!
//! With `theta = mu = 0` this is the squared hinge; only then may `k` be less than all.
//!
//! | here | meaning |
//! |---|---|
//! | few, many | the relevant and the irrelevant labels; where all weights are 1, the smaller and the larger side |
//! | `a`, `b` | `s_m - 1 + theta` of one of the few, and the same of the centre |
//! | `y`, `v` | `s_n` of one of the many, and the same of the centre |
//! | near pair | `y > a`: it costs `w/2 (y - a)^2` |
//! | far pair | `y < a - 2 theta`: it costs `mu w/2 (y - a + 2 theta)^2` |
//!
//! The many are minimised out ([`pieces`]), which leaves a smooth and convex function of the few. Those with the same
//! partners form a [`Node`], of which only the number and the sum of the centres are needed. A Newton step
//! ([`threshold_graph`], or with far pairs [`elimination`]) whose end lies on the piece that it was computed from ends at
//! the minimiser; otherwise a line search follows, a separate step of each of the few ([`relax`]), and, if that takes long,
//! continuation from a small `lambda`.

mod elimination;
mod pieces;
mod relax;
mod star;
mod threshold_graph;

use super::candidates::Candidates;
use super::{OptimalMargin, Pairs};
use crate::linalg::vector::range;
use crate::pairwise::tuning::NEWTON;
use relax::Many;
use threshold_graph::Level;

/// Points that differ by no more than this share of the largest score are equal.
const SAME: f64 = 16.0 * f64::EPSILON;

/// One of the few, in ascending order.
#[derive(Clone, Copy, Debug, Default)]
struct Few {
    position: usize,
    weight: f64,
    centre: f64,
    score: f64,
    /// Of a line search.
    origin: f64,
    direction: f64,
    /// Sums of the weights and of the weighted scores from this label on.
    after: (f64, f64),
    /// The number and the sum of scores of the near and of the far partners.
    near: (f64, f64),
    far: (f64, f64),
}

impl Few {
    /// The pull of the partners on a label at 0, and its decrease per unit, from these counts and sums.
    fn pull(&self, mu: f64) -> (f64, f64) {
        (self.near.1 + mu * self.far.1, self.near.0 + mu * self.far.0)
    }

    /// First and second derivative of the objective if only this label moves.
    fn derivatives(&self, mu: f64, lambda: f64) -> (f64, f64) {
        let ((pull, count), lambda) = (self.pull(mu), lambda * self.weight);
        let gradient = self.score - self.centre - lambda * (pull - count * self.score);
        (gradient, 1.0 + lambda * count)
    }
}

/// Those of the many that have the same partners, or are tied at the level `t`.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// The first `near` of the few are near partners, those from `far` on far ones.
    near: usize,
    far: usize,
    range: (usize, usize),
    /// Whether they are tied at the level `t`.
    tied: bool,
    /// Their effective number, this times the mean of their centres, and the `lambda` of their equation.
    count: f64,
    sum: f64,
    lambda: f64,
    /// The weight of the near partners, of the far ones, and of all, with `mu`; `1 + lambda` times the last, which is
    /// `dv/dy`; and the weighted sum of the scores to which they pull.
    near_weight: f64,
    far_weight: f64,
    weight: f64,
    stiffness: f64,
    pull: f64,
}

impl Node {
    /// `count` times the score.
    fn total(&self) -> f64 {
        (self.sum + self.lambda * self.count * self.pull) / self.stiffness
    }
}

/// Buffers of the proximal map of a smooth loss.
#[derive(Clone, Debug, Default)]
pub struct NewtonWorkspace {
    candidates: Candidates,
    few: Vec<Few>,
    /// In ascending order.
    nodes: Vec<Node>,
    loss: OptimalMargin,
    top: usize,
    rounding: f64,
    /// For the elimination: the lower triangle of the matrix, its row sums and the right-hand side.
    matrix: Vec<f64>,
    row_sums: Vec<f64>,
    values: Vec<f64>,
    /// For the step without far pairs.
    levels: Vec<Level>,
    /// For the separate steps of the few.
    many: Many,
}

impl NewtonWorkspace {
    /// The proximal map, as the displacement from the centre.
    pub(super) fn prox(
        &mut self,
        loss: OptimalMargin,
        centre: &[f64],
        guess: &[f64],
        displacement: &mut [f64],
        pairs: Pairs<'_>,
        lambda: f64,
    ) {
        let irrelevant = centre.len() - pairs.relevant;
        if irrelevant < pairs.relevant && pairs.are_plain(centre.len()) {
            // The time is cubic in the number of the few: swap the sides.
            let mirrored =
                |scores: &[f64]| -> Vec<f64> { scores.iter().rev().map(|s| -s).collect() };
            let (centre, guess) = (mirrored(centre), mirrored(guess));
            let pairs = Pairs::all(irrelevant);
            self.prox(loss, &centre, &guess, displacement, pairs, lambda);
            displacement.reverse();
            displacement.iter_mut().for_each(|moved| *moved = -*moved);
            return;
        }
        if pairs.relevant == 1 && pairs.top >= irrelevant {
            star::prox(loss, centre, guess, displacement, lambda * pairs.weight(0));
            return;
        }
        displacement.fill(0.0);
        (self.loss, self.top) = (loss, pairs.top);
        let falling = loss.mu() == 0.0;
        // The proximal map raises relevant and lowers irrelevant labels, so those that violate nothing stay as they are.
        let floor = if falling {
            range(&centre[..pairs.relevant]).0 - 1.0
        } else {
            f64::NEG_INFINITY
        };
        self.candidates.find(centre, pairs, floor);
        self.candidates.sort_irrelevant();
        let stiffest = if falling {
            NEWTON.stiffest
        } else {
            NEWTON.stiffest_of_far
        };
        let Candidates {
            relevant,
            irrelevant,
            base,
        } = &self.candidates;
        self.few.clear();
        self.few.extend(relevant.iter().map(|label| {
            let guess = guess[label.position] - base - 1.0;
            Few {
                position: label.position,
                weight: label.weight.min(stiffest / lambda),
                centre: label.score + loss.theta(),
                // With a decreasing loss, no relevant label is lowered, and none is raised above all irrelevant ones.
                score: if falling {
                    guess.max(label.score).min(0.0)
                } else {
                    guess + loss.theta()
                },
                ..Few::default()
            }
        }));
        if self.few.is_empty() || irrelevant.is_empty() {
            return;
        }
        let centres = self.few.iter().map(|label| label.centre);
        let scores = centres.chain(irrelevant.iter().map(|label| label.0));
        self.rounding = SAME * scores.fold(1.0, |most: f64, score| most.max(score.abs()));
        self.minimise(lambda);
        self.displace(lambda, displacement);
    }

    /// Newton's method from the guess, and if that does not succeed quickly, continuation from weak coupling.
    fn minimise(&mut self, target: f64) {
        if self.newton(target, NEWTON.steps_from_guess) {
            return;
        }
        self.few.sort_unstable_by_key(|label| label.position);
        for label in &mut self.few {
            label.score = label.centre;
        }
        let weight: f64 = self.few.iter().map(|label| label.weight).sum();
        let mut lambda = target.min(1.0 / (weight + self.candidates.irrelevant.len() as f64));
        // `lambda` may have overflowed.
        let steps = NEWTON.steps + NEWTON.steps_per_label * self.few.len();
        loop {
            let found = self.newton(lambda, steps);
            if lambda >= target || !target.is_finite() {
                return;
            }
            // If rounding hides the minimiser, it does so for all larger `lambda`.
            lambda = if found {
                (NEWTON.factor * lambda).min(target)
            } else {
                target
            };
        }
    }

    /// Newton's method from the current point; false if it has not found the minimiser.
    fn newton(&mut self, lambda: f64, steps: usize) -> bool {
        self.evaluate(lambda);
        let (mut blocked, mut before) = (0, f64::INFINITY);
        for step in 0..steps {
            if self.loss.mu() > 0.0 {
                self.couple(lambda);
                self.eliminate();
            } else {
                self.solve_nested(lambda);
            }
            let mut moved = 0.0_f64;
            for label in &mut self.few {
                label.origin = label.score;
                moved = moved.max(label.direction.abs());
            }
            if moved <= self.rounding {
                self.sum_scores();
                return true;
            }
            self.step(1.0, lambda);
            // If pairs contradict their piece by no more than rounding, the next piece is no better. Sums over hundreds of
            // labels have more rounding: there, a step without progress is the end.
            let residual = self.residual(lambda);
            let closest = residual <= NEWTON.noise * self.rounding && residual >= before;
            if residual <= self.rounding || closest {
                return true;
            }
            before = residual;
            // At a kink, the piece may be the one on the wrong side, and the step 0: go past the kink.
            let shortest = (self.rounding / moved).min(1.0);
            let length = self.shorten(lambda);
            if length < shortest {
                self.step(shortest, lambda);
            }
            blocked = if length * moved <= NEWTON.noise * self.rounding {
                blocked + 1
            } else {
                0
            };
            if blocked > NEWTON.blocked + self.few.len() && self.is_noise(lambda) {
                return true;
            }
            if !moved.is_finite() {
                break;
            }
            if length < 1.0 && (length >= NEWTON.long || step.is_multiple_of(NEWTON.alone)) {
                self.relax(lambda);
                self.evaluate(lambda);
            }
        }
        self.sum_scores();
        false
    }

    /// Whether rounding noise in the pairs of each of the few is enough to explain its distance from its centre.
    fn is_noise(&self, lambda: f64) -> bool {
        let drawn = NEWTON.noise * self.rounding * lambda;
        let mut labels = self.few.iter();
        labels.all(|label| (label.score - label.centre).abs() <= drawn * label.weight)
    }

    /// Line search from the full step; returns the step length.
    fn shorten(&mut self, lambda: f64) -> f64 {
        let mut upper = (1.0, self.slope(lambda));
        if upper.1 <= 0.0 {
            return 1.0;
        }
        self.step(0.0, lambda);
        let initial = self.slope(lambda);
        if initial >= 0.0 {
            return 0.0;
        }
        let mut lower = (0.0, initial);
        let mut step = 1.0;
        for trial in 1..NEWTON.trials {
            // The slope is piecewise linear with an unknown number of pieces.
            step = if trial % 3 == 0 {
                0.5 * (lower.0 + upper.0)
            } else {
                lower.0 + (upper.0 - lower.0) * (lower.1 / (lower.1 - upper.1))
            };
            self.step(step, lambda);
            let slope = self.slope(lambda);
            if slope.abs() <= NEWTON.slope_share * initial.abs() {
                break;
            }
            if slope < 0.0 {
                lower = (step, slope);
            } else {
                upper = (step, slope);
            }
        }
        step
    }

    /// Moves to a point of the line.
    fn step(&mut self, step: f64, lambda: f64) {
        for label in &mut self.few {
            label.score = label.origin + step * label.direction;
        }
        self.evaluate(lambda);
        self.sum_scores();
    }

    /// Derivative of the objective along the direction at the current point of the line.
    fn slope(&self, lambda: f64) -> f64 {
        let of_label = |label: &Few| label.direction * label.derivatives(self.loss.mu(), lambda).0;
        self.few.iter().map(of_label).sum()
    }

    /// The largest move of one of the few if only that one moved.
    fn residual(&self, lambda: f64) -> f64 {
        let of_label = |label: &Few| {
            let (gradient, curvature) = label.derivatives(self.loss.mu(), lambda);
            gradient.abs() / curvature
        };
        self.few.iter().map(of_label).fold(0.0, f64::max)
    }

    /// Writes the displacements at the current point, each as a mean over the partners of the difference to the label's own
    /// centre, which is accurate for any small `lambda`.
    fn displace(&mut self, lambda: f64, displacement: &mut [f64]) {
        for node in &self.nodes {
            for &(v, position) in &self.candidates.irrelevant[node.range.0..node.range.1] {
                displacement[position] = if node.tied {
                    node.total() / node.count - v
                } else {
                    lambda * (node.pull - node.weight * v) / node.stiffness
                };
            }
        }
        for label in &self.few {
            let (pull, count) = label.pull(self.loss.mu());
            let lambda = lambda * label.weight;
            displacement[label.position] =
                lambda * (pull - count * label.centre) / (1.0 + lambda * count);
        }
        // The sum of the scores is invariant. No pair sees a common shift of all scores, so for a large `lambda` it may have
        // gathered rounding errors of that size; labels of small weight follow the others in part.
        let surplus = displacement.iter().sum::<f64>();
        if surplus.abs() > self.rounding {
            let follows = |strength: f64| strength / (1.0 + strength);
            let of_nodes = self.nodes.iter().flat_map(|node| {
                let share = follows(node.lambda * node.weight);
                let range = &self.candidates.irrelevant[node.range.0..node.range.1];
                range.iter().map(move |&(_, position)| (position, share))
            });
            let of_few = self.few.iter().map(|label| {
                let count = label.pull(self.loss.mu()).1;
                (label.position, follows(lambda * label.weight * count))
            });
            let shares = of_nodes.chain(of_few);
            let total: f64 = shares.clone().map(|(_, share)| share).sum();
            shares.for_each(|(position, share)| displacement[position] -= surplus * share / total);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairwise::loss::{Loss, SquaredHinge};

    /// The workspace after the proximal map of the centre.
    fn mapped<L: Loss<Workspace = NewtonWorkspace>>(
        loss: &L,
        centre: &[f64],
        pairs: Pairs<'_>,
        lambda: f64,
    ) -> NewtonWorkspace {
        let (mut workspace, mut moved) = (NewtonWorkspace::default(), vec![0.0; centre.len()]);
        loss.prox(centre, centre, &mut moved, pairs, lambda, &mut workspace);
        workspace
    }

    fn normal(random: &mut fastrand::Rng) -> f64 {
        let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
        radius * (std::f64::consts::TAU * random.f64()).cos()
    }

    /// Sums over hundreds of labels have more rounding than those over a few.
    #[test]
    fn hundreds_of_labels_at_a_few_scores_need_a_few_steps() {
        let odm = OptimalMargin::new(0.3, 0.5).unwrap();
        for (seed, lambda) in [(3, 1.0), (3, 1e4), (4, 1.0)] {
            let mut random = fastrand::Rng::with_seed(seed);
            let levels: Vec<f64> = (0..8).map(|_| 2.0 * normal(&mut random)).collect();
            let centre: Vec<f64> = (0..1000).map(|_| levels[random.usize(..8)]).collect();
            let mut workspace = mapped(&odm, &centre, Pairs::all(440), lambda);
            for label in &mut workspace.few {
                label.score = label.centre;
            }
            assert!(workspace.newton(lambda, 30), "{seed} {lambda}");
        }
    }

    /// A line search that stops at the stiffest pairs would never get there.
    #[test]
    fn labels_of_little_weight_do_not_wait_for_the_others() {
        let mut random = fastrand::Rng::with_seed(3);
        for lambda in [1.0, 1e2, 1e4] {
            let centre: Vec<f64> = (0..250).map(|_| 2.0 * normal(&mut random)).collect();
            let weights: Vec<f64> = (0..110)
                .map(|_| 10.0_f64.powf(6.0 * random.f64() - 3.0))
                .collect();
            for top in [35, usize::MAX] {
                let pairs = Pairs {
                    relevant: 110,
                    weights: &weights,
                    top,
                };
                let workspace = mapped(&SquaredHinge, &centre, pairs, lambda);
                let residual = workspace.residual(lambda);
                assert!(
                    residual <= NEWTON.noise * workspace.rounding,
                    "{lambda} {residual}"
                );
            }
        }
    }
}
