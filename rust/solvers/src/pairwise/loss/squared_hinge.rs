//! The squared hinge `1/2 max(0, 1 - z)^2` of Rank-CVM (Xu 2013, eq. (30)) and Rank-LSVM, with weights of the relevant labels
//! and pairs with the highest irrelevant labels alone where these are asked for: value by one search per irrelevant label,
//! proximal map by Newton's method.
//!
//! With `a_m = s_m - 1` for relevant and `y_n = s_n` for irrelevant labels, and `b_m` and `v_n` the same of the centre,
//! the proximal map is
//!
//! ```text
//! min 1/2 ||a - b||^2 + 1/2 ||y - v||^2 + lambda/2 * sum_m w_m sum over the k highest y_n of max(0, y_n - a_m)^2
//! ```
//!
//! Given the relevant scores, each irrelevant one has an equation of its own: with `h(x) = sum_m w_m max(0, x - a_m)`,
//! `y + lambda h(y) = v`, and labels between two of the `a` solve it with the same ones below. Where more than `k` labels
//! are above the lowest `a`, the last ones meet at a level `t` and share what is left of `k`:
//!
//! ```text
//! sum_n min(1, (v_n - t)_+ / (lambda h(t))) = k
//! ```
//!
//! Labels with `v_n >= t + lambda h(t)` count fully, those down to `t` in part, and the others stay. What remains is a
//! smooth and convex function of the `a`, of which Newton's method with an exact line search finds the minimum, by
//! pieces: labels of one piece are a [`Node`], of which only their number and the sum of their centres matter to the `a`.
//!
//! **The linear system** of a piece is the identity plus `lambda` times the Laplacian of the graph of active pairs, in which
//! the sorted labels have nested neighbours. Walking up the `a`, everything seen so far responds linearly to the sum of the
//! irrelevant scores above it, so the elimination takes `O(q)`; and since it carries row sums in place of diagonals (the
//! rule of Grassmann, Taksar and Heyman) no step subtracts, and the accuracy does not suffer when `lambda` is 1e12. A
//! solution on the piece that it was computed from is the minimiser.

use super::candidates::Candidates;
use super::{Loss, Pairs};
use crate::linalg::root::root;

/// The squared hinge `1/2 max(0, 1 - z)^2`.
#[derive(Clone, Copy, Debug, Default)]
pub struct SquaredHinge;

/// Newton steps from the guess; more of them, with shorter steps of `lambda`, where these do not succeed.
const STEPS_FROM_GUESS: usize = 10;
const STEPS: usize = 2000;

/// Ratio of two successive values of `lambda`.
const FACTOR: f64 = 4.0;

/// Bound on the trials of a line search.
const TRIALS: usize = 60;

/// The line search ends once the derivative has shrunk to this share of its first value.
const SLOPE_SHARE: f64 = 0.1;

/// Points that differ by this share of the largest score are the same.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// A relevant label in ascending order.
#[derive(Clone, Copy, Debug, Default)]
struct Label {
    position: usize,
    weight: f64,
    centre: f64,
    score: f64,
    /// Of a line search.
    origin: f64,
    direction: f64,
    /// `h` at the score, the sum of the weights up to this label, and that of the weighted scores.
    height: f64,
    weights: f64,
    sum: f64,
    /// The labels above count so many times, and `1 / (1 + lambda w above)`.
    above: f64,
    inverse: f64,
    /// What the linear system moves it by.
    displacement: f64,
}

/// Irrelevant labels with the same relevant ones below, or those at the level `t`.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// Number of relevant labels below.
    stage: usize,
    range: (usize, usize),
    /// Whether they are tied.
    tied: bool,
    /// How many times they count, so many times the mean of their centres, and `lambda` in the equation of their score.
    count: f64,
    sum: f64,
    lambda: f64,
    /// `weighted sum of a below = constant + factor * sum of y above`, before this node; and its pivot.
    constant: f64,
    factor: f64,
    pivot: f64,
}

impl Node {
    /// `count` times the score, for the weighted sum of the relevant labels below and their weight.
    fn total(&self, sum: f64, weights: f64) -> f64 {
        (self.sum + self.lambda * self.count * sum) / (1.0 + self.lambda * weights)
    }
}

/// Number or weight, mean and sum of squared deviations of some scores.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    /// Appends one more score, which counts `weight` times.
    pub fn and(self, score: f64, weight: f64) -> Self {
        let count = self.count + weight;
        let deviation = score - self.mean;
        let mean = self.mean + weight * deviation / count;
        Self {
            count,
            mean,
            squares: self.squares + weight * deviation * (score - mean),
        }
    }

    /// Sum of the squared distances to a number.
    pub fn squared_distances(&self, to: f64) -> f64 {
        let distance = to - self.mean;
        self.count * distance * distance + self.squares
    }
}

/// Buffers of the squared hinge's value and proximal map.
#[derive(Clone, Debug, Default)]
pub struct SquaredHingeWorkspace {
    candidates: Candidates,
    labels: Vec<Label>,
    /// In ascending order.
    nodes: Vec<Node>,
    /// The piece of the present point, and the one before: the labels in their order, and the nodes.
    piece: Vec<usize>,
    last_piece: Vec<usize>,
    moments: Vec<Moments>,
}

impl SquaredHingeWorkspace {
    /// Newton's method from the guess, and if that does not succeed at once, continuation from weak coupling.
    fn minimise(&mut self, top: usize, target: f64) {
        if self.newton(top, target, STEPS_FROM_GUESS) {
            return;
        }
        self.labels.sort_unstable_by_key(|label| label.position);
        for label in &mut self.labels {
            label.score = label.centre;
        }
        let weight: f64 = self.labels.iter().map(|label| label.weight).sum();
        let mut lambda = target.min(1.0 / (weight + self.candidates.irrelevant.len() as f64));
        // `lambda` may have overflowed.
        while self.newton(top, lambda, STEPS) || lambda < target {
            if lambda >= target || !target.is_finite() {
                return;
            }
            lambda = (FACTOR * lambda).min(target);
        }
    }

    /// Newton's method from the current point; false if it has not found the minimiser.
    fn newton(&mut self, top: usize, lambda: f64, steps: usize) -> bool {
        self.evaluate(top, lambda);
        for _ in 0..steps {
            self.eliminate(lambda);
            let rounding = ROUNDING * (1.0 - self.labels[0].centre);
            let mut moved = 0.0_f64;
            for label in &mut self.labels {
                label.origin = label.score;
                label.direction = label.centre + label.displacement - label.score;
                moved = moved.max(label.direction.abs());
            }
            if moved <= rounding {
                return true;
            }
            std::mem::swap(&mut self.piece, &mut self.last_piece);
            self.step(1.0, top, lambda);
            if self.piece == self.last_piece {
                return true;
            }
            // Where the point lies on a kink, its piece may be that of the wrong side, and the step 0: go past the kink.
            let shortest = (rounding / moved).min(1.0);
            if self.shorten(top, lambda) < shortest {
                self.step(shortest, top, lambda);
            }
            if !moved.is_finite() {
                return false;
            }
        }
        false
    }

    /// Line search from the full step; returns how far it goes.
    fn shorten(&mut self, top: usize, lambda: f64) -> f64 {
        let mut upper = (1.0, self.slope(lambda));
        if upper.1 <= 0.0 {
            return 1.0;
        }
        self.step(0.0, top, lambda);
        let initial = self.slope(lambda);
        if initial >= 0.0 {
            return 0.0;
        }
        let mut lower = (0.0, initial);
        let mut step = 1.0;
        for trial in 1..TRIALS {
            // The slope is piecewise linear, but with any number of pieces.
            step = if trial % 3 == 0 {
                0.5 * (lower.0 + upper.0)
            } else {
                lower.0 + (upper.0 - lower.0) * (lower.1 / (lower.1 - upper.1))
            };
            self.step(step, top, lambda);
            let slope = self.slope(lambda);
            if slope.abs() <= SLOPE_SHARE * initial.abs() {
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
    fn step(&mut self, step: f64, top: usize, lambda: f64) {
        for label in &mut self.labels {
            label.score = label.origin + step * label.direction;
        }
        self.evaluate(top, lambda);
    }

    /// Derivative of the objective along the direction at the current point. Needs [`Self::evaluate`].
    fn slope(&self, lambda: f64) -> f64 {
        let (mut total, mut above, mut slope) = (0.0, 0.0, 0.0);
        let mut nodes = self.nodes.iter().rev().peekable();
        for (j, label) in self.labels.iter().enumerate().rev() {
            while let Some(node) = nodes.next_if(|node| node.stage > j) {
                let below = &self.labels[node.stage - 1];
                total += node.total(below.sum, below.weights);
                above += node.count;
            }
            let pull = lambda * label.weight * (total - above * label.score);
            slope += label.direction * (label.score - label.centre - pull);
        }
        slope
    }

    /// Sorts the relevant labels, and finds the pieces of the current point.
    fn evaluate(&mut self, top: usize, lambda: f64) {
        self.labels.sort_unstable_by(|x, y| {
            x.score
                .total_cmp(&y.score)
                .then(x.position.cmp(&y.position))
        });
        let mut last = Label::default();
        for (j, label) in self.labels.iter_mut().enumerate() {
            label.height = if j == 0 {
                0.0
            } else {
                last.height + last.weights * (label.score - last.score)
            };
            label.weights = last.weights + label.weight;
            label.sum = last.sum + label.weight * label.score;
            last = *label;
        }
        let v = &self.candidates.irrelevant;
        self.nodes.clear();
        let lowest = self.labels[0].score;
        let active = v.partition_point(|&(v, _)| v > lowest);
        let mut full = active;
        if active > top {
            let (stage, first, end) = self.level(top, lambda);
            full = first;
            if top > first {
                let size = (end - first) as f64;
                let count = (top - first) as f64;
                let sum: f64 = v[first..end].iter().map(|(v, _)| v).sum();
                self.nodes.push(Node {
                    stage,
                    range: (first, end),
                    tied: true,
                    count,
                    sum: count * (sum / size),
                    lambda: lambda * count / size,
                    ..Node::default()
                });
            }
        }
        let mut start = full;
        for stage in 1..=self.labels.len() {
            let threshold = self
                .labels
                .get(stage)
                .map_or(f64::INFINITY, |above| above.score + lambda * above.height);
            let end = start;
            while start > 0 && v[start - 1].0 <= threshold {
                start -= 1;
            }
            if start < end {
                self.nodes.push(Node {
                    stage,
                    range: (start, end),
                    count: (end - start) as f64,
                    sum: v[start..end].iter().map(|(v, _)| v).sum(),
                    lambda,
                    ..Node::default()
                });
            }
        }
        self.piece.clear();
        self.piece
            .extend(self.labels.iter().map(|label| label.position));
        let nodes = self.nodes.iter();
        self.piece
            .extend(nodes.flat_map(|node| [node.stage, node.range.0, node.range.1]));
    }

    /// Which labels share what is left of `top` at the level `t`, of more than `top` that are above the lowest relevant
    /// label: the number of relevant labels below `t`, and the first and the end of those labels.
    fn level(&self, top: usize, lambda: f64) -> (usize, usize, usize) {
        let (labels, v) = (&self.labels, &self.candidates.irrelevant);
        let stage_of = |t: f64| labels.partition_point(|a| a.score < t).max(1);
        let height = |t: f64, stage: usize| {
            let below = &labels[stage - 1];
            below.height + below.weights * (t - below.score).max(0.0)
        };
        let next = v[top].0;
        let stage = stage_of(next);
        if next + lambda * height(next, stage) <= v[top - 1].0 {
            return (stage, top, top);
        }
        let mut found = (stage, top, top + 1);
        // Where the steps are used up, the last level is as good as any.
        root(next, (labels[0].score, next), |t, came| {
            let stage = stage_of(t);
            let high = t + lambda * height(t, stage);
            let first = v[..top].partition_point(|&(v, _)| v >= high);
            let end = top + v[top..].partition_point(|&(v, _)| v >= t);
            let same = came && found == (stage, first, end);
            found = (stage, first, end);
            let below = &labels[stage - 1];
            let rest = (top - first) as f64 * lambda;
            let sum: f64 = v[first..end].iter().map(|(v, _)| v - below.score).sum();
            let rise = (sum - rest * below.height) / ((end - first) as f64 + rest * below.weights);
            (!same).then_some(below.score + rise)
        });
        found
    }

    /// Solves the optimality conditions of the current pieces for the displacements of the relevant labels.
    fn eliminate(&mut self, lambda: f64) {
        let Self { labels, nodes, .. } = self;
        let mut above: f64 = nodes.iter().map(|node| node.count).sum();
        let (mut constant, mut factor, mut row_sum) = (0.0, 0.0, 0.0);
        let mut next = nodes.iter_mut().peekable();
        for (j, label) in labels.iter_mut().enumerate() {
            let inverse = 1.0 / (1.0 + lambda * label.weight * above);
            (label.above, label.inverse) = (above, inverse);
            constant += label.weight * label.centre * inverse;
            factor += lambda * label.weight * label.weight * inverse;
            row_sum += label.weight * inverse;
            while let Some(node) = next.next_if(|node| node.stage == j + 1) {
                let rest = above - node.count;
                let pivot = 1.0 + node.lambda * (row_sum + factor * rest);
                (node.constant, node.factor, node.pivot) = (constant, factor, pivot);
                let share = factor / pivot;
                constant += share * (node.sum + node.lambda * node.count * constant);
                row_sum += share * node.count * (1.0 + node.lambda * row_sum);
                factor += share * node.lambda * node.count * factor;
                above = rest;
            }
        }
        let mut total = 0.0;
        let mut nodes = nodes.iter().rev().peekable();
        for (j, label) in labels.iter_mut().enumerate().rev() {
            while let Some(node) = nodes.next_if(|node| node.stage > j) {
                let below = node.constant + node.factor * total;
                total += (node.sum + node.lambda * node.count * below) / node.pivot;
            }
            let pull = total - label.above * label.centre;
            label.displacement = lambda * label.weight * pull * label.inverse;
        }
    }

    /// Writes the displacements at the solution of the last elimination.
    fn displace(&mut self, lambda: f64, displacement: &mut [f64]) {
        let mut sums = (0.0, 0.0);
        let mut nodes = self.nodes.iter().peekable();
        for (j, label) in self.labels.iter().enumerate() {
            displacement[label.position] = label.displacement;
            sums.0 += label.weight;
            sums.1 += label.weight * (label.centre + label.displacement);
            while let Some(node) = nodes.next_if(|node| node.stage == j + 1) {
                let labels = &self.candidates.irrelevant[node.range.0..node.range.1];
                let (weights, sum) = sums;
                let level = node.total(sum, weights) / node.count;
                for &(v, position) in labels {
                    displacement[position] = if node.tied {
                        level - v
                    } else {
                        lambda * (sum - weights * v) / (1.0 + lambda * weights)
                    };
                }
            }
        }
    }
}

impl Loss for SquaredHinge {
    type Workspace = SquaredHingeWorkspace;

    const FREE_WEIGHTS: bool = false;

    const WEIGHTS: bool = true;

    const TOP: bool = true;

    fn value(
        &self,
        scores: &[f64],
        pairs: Pairs<'_>,
        workspace: &mut SquaredHingeWorkspace,
    ) -> f64 {
        let SquaredHingeWorkspace {
            candidates,
            moments,
            ..
        } = workspace;
        candidates.find_pairs(scores, pairs);
        let relevant = &candidates.relevant;
        moments.clear();
        let mut prefix = Moments::default();
        for a in relevant {
            moments.push(prefix);
            prefix = prefix.and(a.score, a.weight);
        }
        moments.push(prefix);
        let of_label = |&(y, _): &(f64, usize)| {
            moments[relevant.partition_point(|a| a.score < y)].squared_distances(y)
        };
        0.5 * candidates.irrelevant.iter().map(of_label).sum::<f64>()
    }

    fn prox(
        &self,
        centre: &[f64],
        guess: &[f64],
        displacement: &mut [f64],
        pairs: Pairs<'_>,
        lambda: f64,
        workspace: &mut SquaredHingeWorkspace,
    ) {
        displacement.fill(0.0);
        workspace.candidates.find(centre, pairs);
        workspace.candidates.sort_irrelevant();
        let Candidates { relevant, base, .. } = &workspace.candidates;
        workspace.labels.clear();
        workspace.labels.extend(relevant.iter().map(|label| {
            Label {
                position: label.position,
                weight: label.weight,
                centre: label.score,
                // No relevant label falls, and none rises above all irrelevant ones.
                score: (guess[label.position] - base - 1.0)
                    .max(label.score)
                    .min(0.0),
                ..Label::default()
            }
        }));
        if workspace.labels.is_empty() {
            return;
        }
        workspace.minimise(pairs.top, lambda);
        workspace.displace(lambda, displacement);
    }

    fn negative_slope(&self, margin: f64) -> f64 {
        (1.0 - margin).max(0.0)
    }
}
