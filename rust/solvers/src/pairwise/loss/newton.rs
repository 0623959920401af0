//! The proximal map of the optimal margin loss, by a Newton method that ends at the exact minimiser.
//!
//! ```text
//! min over s of 1/2 ||s - centre||^2 + lambda * sum over m in P, n in N of loss(s_m - s_n)
//! loss(z) = 1/2 [max(0, 1 - theta - z)^2 + mu max(0, z - 1 - theta)^2]
//! ```
//!
//! | here | meaning |
//! |---|---|
//! | few, many | the smaller and the larger one of `P` and `N` |
//! | `a`, `b` | one of the few, `s_m - 1` (or `-s_n` where `N` is the smaller side), and the same of the centre |
//! | `y`, `v` | one of the many, `s_n` (or `1 - s_m`), and the same of the centre |
//! | near pair | `y > a + theta`: it costs `1/2 (y - a - theta)^2` |
//! | far pair | `y < a - theta`: it costs `mu/2 (y - a + theta)^2` |
//!
//! Where the relevant labels have weights, they are the few however many there are, and their pairs cost so many times as
//! much.
//!
//! Given the few, each of the many has its own scalar equation: `v` is an increasing, piecewise linear function of `y`
//! with breakpoints where `y` meets some `a + theta` or `a - theta`. So the many, sorted once, are minimised out by
//! one merge with `2k` thresholds of `v`, and what remains is smooth and convex in the `k` variables `a`. All labels
//! between two thresholds form a [`Segment`]: they have the same near and far partners, and only their number and the
//! sum of their centres matter to the few.
//!
//! **Newton step.** The optimality conditions of the current pieces have the matrix `I + lambda Laplacian` of the graph
//! of active pairs: a diagonally dominant M-matrix whose rows sum to 1. [`Pieces::eliminate`] solves them without a
//! single subtraction of matrix entries (the rule of Grassmann, Taksar and Heyman: carry row sums, not diagonals), so
//! the solution does not suffer from a condition number of 1e12. If no pair contradicts the pieces it was computed
//! from, it is the minimiser. Otherwise a line search follows: along a direction the derivative increases, and a step
//! is taken at most to the point where it vanishes, so that the objective falls. There are finitely many pieces, and
//! from a good guess the first step is the last.
//!
//! **Continuation.** Where `lambda` is large and the guess bad, such a descent crosses its kinks one at a time. Then
//! the minimiser is followed from a small `lambda` upwards instead; between two values it is close to linear in
//! `1 / lambda`, which predicts the next start.

use super::Pairs;
use super::squared_hinge::Moments;

/// Newton steps that are tried from the guess before the continuation in `lambda`.
const STEPS_FROM_GUESS: usize = 10;

/// Bound on the Newton steps for one value of `lambda`.
const STEPS: usize = 200;

/// Ratio of two successive values of `lambda`.
const FACTOR: f64 = 10.0;

/// Bound on the trials of one line search.
const TRIALS: usize = 100;

/// The line search ends once the derivative has shrunk to this share of its first value.
const SLOPE_SHARE: f64 = 0.1;

/// A full step may overshoot by this share of the first derivative: rounding.
const OVERSHOOT: f64 = 1e-6;

/// Further Newton steps that may remove a contradiction of the size of rounding errors.
const PATIENCE: usize = 3;

/// Pairs may contradict their piece by this share of the largest score.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// The shape of the loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Margins {
    /// Half the width of the interval of margins that cost nothing.
    pub theta: f64,
    /// Weight of the far pairs.
    pub mu: f64,
}

/// The labels between two thresholds.
#[derive(Clone, Copy, Debug)]
struct Segment {
    /// Position of the first label, and number of labels.
    start: usize,
    count: f64,
    /// Sum, minimum and maximum of the centres.
    sum: f64,
    lowest: f64,
    highest: f64,
    /// The labels form near pairs with the first `near` of the sorted few, and far pairs with the last `far`.
    near: usize,
    far: usize,
    /// The weights of both, `near + mu far`, and `1 + lambda` times that: `dv/dy`.
    near_weight: f64,
    far_weight: f64,
    weight: f64,
    stiffness: f64,
    /// A point `(v, y)` of the piece.
    anchor: (f64, f64),
    /// Weighted sum of the values to which the partners draw the labels.
    pull: f64,
}

impl Segment {
    /// Puts labels on the segment, of which the first is at `start` in the order of the many.
    fn put(&mut self, start: usize, labels: &[Label]) {
        self.start = start;
        self.count = labels.len() as f64;
        self.sum = labels.iter().map(|label| label.centre).sum();
        if let (Some(first), Some(last)) = (labels.first(), labels.last()) {
            (self.lowest, self.highest) = (first.centre, last.centre);
        }
    }

    fn sum_of_scores(&self) -> f64 {
        self.count * self.anchor.1 + (self.sum - self.count * self.anchor.0) / self.stiffness
    }

    /// What the pull displaces labels by of which there are `count` and whose centres sum to `sum`.
    fn displacement(&self, count: f64, sum: f64, lambda: f64) -> f64 {
        lambda / self.stiffness * (count * self.pull - self.weight * sum)
    }
}

/// Sums and extremes of the sorted few on either side of a position.
#[derive(Clone, Copy, Debug)]
struct Running {
    sum_before: f64,
    sum_after: f64,
    highest_before: f64,
    lowest_after: f64,
}

impl Default for Running {
    fn default() -> Self {
        Self {
            sum_before: 0.0,
            sum_after: 0.0,
            highest_before: f64::NEG_INFINITY,
            lowest_after: f64::INFINITY,
        }
    }
}

/// Two sums over the near and over the far partners of one of the few.
#[derive(Clone, Copy, Debug, Default)]
struct Partners {
    near: (f64, f64),
    far: (f64, f64),
}

/// The pieces that a point lies on. Positions refer to the few in sorted order.
#[derive(Clone, Debug, Default)]
struct Pieces {
    /// The centres `b` of the few, and their values: `a` to begin with, the Newton point after the elimination.
    centres: Vec<f64>,
    few: Vec<f64>,
    /// The weights of their pairs, and the sums of those before and from a position on.
    weights: Vec<f64>,
    weights_before: Vec<f64>,
    weights_after: Vec<f64>,
    /// `segments[near_from[j]..]` form near pairs, `segments[..far_until[j]]` far pairs with the few at `j`.
    near_from: Vec<usize>,
    far_until: Vec<usize>,
    segments: Vec<Segment>,
    /// `thresholds[j]` separates `segments[j]` from `segments[j + 1]`.
    thresholds: Vec<f64>,
    running: Vec<Running>,
    partners: Vec<Partners>,
    /// Lower triangle of the system, row by row, and its row sums.
    matrix: Vec<f64>,
    row_sums: Vec<f64>,
}

impl Pieces {
    /// Finds the segments of the sorted few; they hold no labels yet.
    fn lay_out(&mut self, margins: Margins, lambda: f64) {
        let Margins { theta, mu } = margins;
        let Self {
            few,
            weights,
            weights_before,
            weights_after,
            near_from,
            far_until,
            segments,
            thresholds,
            ..
        } = self;
        for sums in [&mut *weights_before, weights_after] {
            sums.clear();
            sums.resize(weights.len() + 1, 0.0);
        }
        for (j, weight) in weights.iter().enumerate() {
            weights_before[j + 1] = weights_before[j] + weight;
        }
        for (j, weight) in weights.iter().enumerate().rev() {
            weights_after[j] = weights_after[j + 1] + weight;
        }
        segments.clear();
        thresholds.clear();
        near_from.clear();
        far_until.clear();
        let Some(&first) = few.first() else { return };
        let k = few.len();
        let segment = |near: usize, far: usize, anchor: (f64, f64)| {
            let (near_weight, far_weight) = (weights_before[near], weights_after[k - far]);
            let weight = near_weight + mu * far_weight;
            Segment {
                start: 0,
                count: 0.0,
                sum: 0.0,
                lowest: f64::INFINITY,
                highest: f64::NEG_INFINITY,
                near,
                far,
                near_weight,
                far_weight,
                weight,
                stiffness: 1.0 + lambda * weight,
                anchor,
                pull: 0.0,
            }
        };
        let terms = few.iter().zip(weights.iter());
        let spread: f64 = terms.map(|(a, weight)| weight * (a - first)).sum();
        let mut current = segment(0, k, (first - theta - lambda * mu * spread, first - theta));
        segments.push(current);
        while current.near < k {
            let above = few[current.near] + theta;
            let below = if current.far > 0 {
                few[k - current.far] - theta
            } else {
                f64::INFINITY
            };
            let leaves_far = current.far > 0 && below <= above;
            let next = if leaves_far { below } else { above };
            let threshold = current.anchor.0 + (next - current.anchor.1) * current.stiffness;
            thresholds.push(threshold);
            if leaves_far {
                current = segment(current.near, current.far - 1, (threshold, next));
                far_until.push(thresholds.len());
            } else {
                current = segment(current.near + 1, current.far, (threshold, next));
                near_from.push(thresholds.len());
            }
            segments.push(current);
        }
        // Scores that have overflowed compare with nothing.
        far_until.resize(k, thresholds.len());
    }

    /// Puts the labels, which are sorted by their centres, on their segments.
    fn fill(&mut self, many: &[Label]) {
        let mut start = 0;
        for (j, segment) in self.segments.iter_mut().enumerate() {
            let end = match self.thresholds.get(j) {
                Some(&threshold) => {
                    start
                        + many[start..]
                            .iter()
                            .take_while(|label| label.centre <= threshold)
                            .count()
                }
                None => many.len(),
            };
            segment.put(start, &many[start..end]);
            start = end;
        }
    }

    /// Sums over the near segments of each of the few, and over its far segments.
    fn sum_partners(
        &mut self,
        near: impl Fn(&Segment) -> (f64, f64),
        far: impl Fn(&Segment) -> (f64, f64),
    ) {
        let Self {
            near_from,
            far_until,
            segments,
            partners,
            ..
        } = self;
        partners.clear();
        partners.resize(near_from.len(), Partners::default());
        let (mut sum, mut from) = ((0.0, 0.0), segments.len());
        for (&start, partners) in near_from.iter().zip(partners.iter_mut()).rev() {
            for (first, second) in segments[start..from].iter().map(&near) {
                sum = (sum.0 + first, sum.1 + second);
            }
            from = start;
            partners.near = sum;
        }
        let (mut sum, mut until) = ((0.0, 0.0), 0);
        for (&end, partners) in far_until.iter().zip(partners.iter_mut()) {
            for (first, second) in segments[until..end].iter().map(&far) {
                sum = (sum.0 + first, sum.1 + second);
            }
            until = end;
            partners.far = sum;
        }
    }

    /// Replaces the few by the solution of the optimality conditions of the pieces.
    fn eliminate(&mut self, margins: Margins, lambda: f64) {
        self.sum_curvatures(margins, lambda);
        self.couple(margins.mu, lambda);
        self.solve_for_the_few();
    }

    /// Sums `count / stiffness` and the weighted centres of each one's partners.
    fn sum_curvatures(&mut self, margins: Margins, lambda: f64) {
        let Margins { theta, mu } = margins;
        self.sum_partners(
            |s| {
                let shift = theta * (1.0 + 2.0 * lambda * mu * s.far_weight);
                (
                    s.count / s.stiffness,
                    (s.sum - s.count * shift) / s.stiffness,
                )
            },
            |s| {
                let shift = theta * (1.0 + 2.0 * lambda * s.near_weight);
                (
                    s.count / s.stiffness,
                    (s.sum + s.count * shift) / s.stiffness,
                )
            },
        );
    }

    /// The optimality conditions of the few without the many, as a matrix, the sums of its rows and right-hand sides.
    ///
    /// Without the many, the few at `i < j` are coupled through every segment that both have as partner, by the
    /// product of the two weights and `count / stiffness`; what a row loses in the elimination is made up by its row
    /// sum, which collects `weight count / stiffness`.
    fn couple(&mut self, mu: f64, lambda: f64) {
        let Self {
            centres,
            few,
            weights,
            near_from,
            far_until,
            segments,
            partners,
            matrix,
            row_sums,
            ..
        } = self;
        let k = few.len();
        row_sums.clear();
        matrix.clear();
        matrix.resize(k * k, 0.0);
        for (j, Partners { near, far }) in partners.iter().enumerate() {
            row_sums.push(1.0 + lambda * weights[j] * (near.0 + mu * far.0));
            few[j] = centres[j] + lambda * weights[j] * (near.1 + mu * far.1);
            let mut both = 0.0;
            let mut until = near_from[j];
            for i in j + 1..k {
                // Near to the one at j and far from the one at i.
                while until < far_until[i] {
                    both += segments[until].count / segments[until].stiffness;
                    until += 1;
                }
                let coupling = partners[i].near.0 + mu * (both + mu * far.0);
                matrix[i * k + j] = lambda * lambda * coupling * (weights[i] * weights[j]);
            }
        }
    }

    /// Solves the coupled conditions: from the last one to the first without pivoting, as the matrix is diagonally
    /// dominant, then back.
    fn solve_for_the_few(&mut self) {
        let Self {
            few,
            matrix,
            row_sums,
            ..
        } = self;
        let k = few.len();
        for i in (0..k).rev() {
            let (above, row) = matrix.split_at_mut(i * k);
            let row = &mut row[..i];
            let pivot = row_sums[i] + row.iter().sum::<f64>();
            let (row_sum, value) = (row_sums[i], few[i]);
            for j in 0..i {
                let share = row[j] / pivot;
                row_sums[j] += share * row_sum;
                few[j] += share * value;
                for (target, source) in above[j * k..j * k + j].iter_mut().zip(&*row) {
                    *target += share * source;
                }
            }
            row.iter_mut().for_each(|entry| *entry /= pivot);
            few[i] /= pivot;
        }
        for i in 1..k {
            let (solved, rest) = few.split_at_mut(i);
            rest[0] += matrix[i * k..]
                .iter()
                .zip(solved)
                .map(|(entry, a)| entry * *a)
                .sum::<f64>();
        }
    }

    /// Finds what the few pull the segments to.
    fn pull(&mut self, margins: Margins) {
        let Margins { theta, mu } = margins;
        let Self {
            few,
            weights,
            segments,
            running,
            ..
        } = self;
        let k = few.len();
        running.clear();
        running.resize(k + 1, Running::default());
        for (j, &a) in few.iter().enumerate() {
            running[j + 1].sum_before = running[j].sum_before + weights[j] * a;
            running[j + 1].highest_before = running[j].highest_before.max(a);
        }
        for (j, &a) in few.iter().enumerate().rev() {
            running[j].sum_after = running[j + 1].sum_after + weights[j] * a;
            running[j].lowest_after = running[j + 1].lowest_after.min(a);
        }
        for segment in segments {
            let near = running[segment.near].sum_before + segment.near_weight * theta;
            let far = running[k - segment.far].sum_after - segment.far_weight * theta;
            segment.pull = near + mu * far;
        }
    }

    /// By how much pairs contradict their piece, once the pulls are known, and the bound of rounding errors on that.
    fn contradiction(&self, margins: Margins, lambda: f64) -> (f64, f64) {
        let theta = margins.theta;
        let k = self.few.len();
        let mut scale = self.running[0]
            .lowest_after
            .abs()
            .max(self.running[k].highest_before.abs());
        let mut worst = 0.0_f64;
        for segment in self.segments.iter().filter(|segment| segment.count > 0.0) {
            let near = &self.running[segment.near];
            let far = &self.running[k - segment.far];
            let lowest = (segment.lowest + lambda * segment.pull) / segment.stiffness;
            let highest = (segment.highest + lambda * segment.pull) / segment.stiffness;
            worst = worst
                .max(near.highest_before + theta - lowest)
                .max(highest - near.lowest_after - theta)
                .max(far.highest_before - theta - lowest)
                .max(highest - far.lowest_after + theta);
            scale = scale.max(segment.lowest.abs()).max(segment.highest.abs());
        }
        (worst, ROUNDING * (1.0 + scale))
    }

    /// Restores the sum of the scores in each connected component of the active pairs, which the optimality
    /// conditions conserve: a common shift moves no pair, so that for large `lambda` nothing else would hold it.
    ///
    /// All labels with a near partner are connected through the topmost segment, all with a far partner through the
    /// lowest one: there are at most two components.
    fn restore_sums(&mut self, margins: Margins, lambda: f64) {
        let occupied = |segment: &Segment| segment.count > 0.0;
        let Some(first) = self.segments.iter().position(occupied) else {
            return;
        };
        let Some(last) = self.segments.iter().rposition(occupied) else {
            return;
        };
        let is_near = |j: usize| self.near_from[j] <= last;
        let is_far = |j: usize| self.far_until[j] > first;
        let joined = (0..self.few.len()).any(|j| is_near(j) && is_far(j))
            || self
                .segments
                .iter()
                .any(|s| occupied(s) && s.near > 0 && s.far > 0);
        let mut surplus = [(0.0, 0.0); 2];
        let component = |near: bool| usize::from(!joined && !near);
        for j in 0..self.few.len() {
            if is_near(j) || is_far(j) {
                let (size, sum) = &mut surplus[component(is_near(j))];
                *size += 1.0;
                *sum += self.few[j] - self.centres[j];
            }
        }
        for segment in self
            .segments
            .iter()
            .filter(|s| occupied(s) && s.near + s.far > 0)
        {
            let (size, sum) = &mut surplus[component(segment.near > 0)];
            *size += segment.count;
            *sum += segment.displacement(segment.count, segment.sum, lambda);
        }
        for j in 0..self.few.len() {
            if self.near_from[j] <= last || self.far_until[j] > first {
                let (size, sum) = surplus[component(self.near_from[j] <= last)];
                self.few[j] -= sum / size;
            }
        }
        self.pull(margins);
    }
}

#[derive(Clone, Copy, Debug)]
struct Label {
    /// Position in the scores.
    index: usize,
    centre: f64,
    /// The current value (of the few only), and in the end the displacement from the centre.
    score: f64,
}

/// Buffers of the Newton method.
#[derive(Clone, Debug, Default)]
pub struct NewtonWorkspace {
    few: Vec<Label>,
    /// The weights of the pairs of the few.
    weights: Vec<f64>,
    /// Sorted by centre.
    many: Vec<Label>,
    /// `order[j]` is the label at position `j` of the sorted few.
    order: Vec<usize>,
    pieces: Pieces,
    /// The start and the direction of a line search, by label.
    origin: Vec<f64>,
    direction: Vec<f64>,
    /// The minimiser for the last value of `lambda`.
    previous: Vec<f64>,
    /// Of the loss's value: the sorted relevant labels with their weights, and moments of those below and above a position.
    pub(super) sorted: Vec<(f64, f64)>,
    pub(super) below: Vec<Moments>,
    pub(super) above: Vec<Moments>,
}

impl NewtonWorkspace {
    /// The proximal map, as the displacement from the centre.
    pub(super) fn prox(
        &mut self,
        margins: Margins,
        centre: &[f64],
        guess: &[f64],
        displacement: &mut [f64],
        pairs: Pairs<'_>,
        lambda: f64,
    ) {
        displacement.fill(0.0);
        let sign = self.gather(centre, guess, pairs);
        if self.few.is_empty() {
            return;
        }
        self.minimise(margins, lambda);
        self.displace(margins, lambda);
        for label in self.few.iter().chain(&self.many) {
            displacement[label.index] = sign * label.score;
        }
    }

    /// Takes over the scores; returns -1 if the irrelevant labels are the few, and everything is mirrored.
    fn gather(&mut self, centre: &[f64], guess: &[f64], pairs: Pairs<'_>) -> f64 {
        let relevant = pairs.relevant;
        // Sums of scores far from 0 would lose digits.
        let base = centre.first().copied().unwrap_or(0.0);
        // Weights stand on the side of the few.
        let mirrored = pairs.weights.is_empty() && centre.len() - relevant < relevant;
        let sign = if mirrored { -1.0 } else { 1.0 };
        let label = |index: usize, offset: f64| Label {
            index,
            centre: sign * (centre[index] - base - offset),
            score: sign * (guess[index] - base - offset),
        };
        let (positive, negative) = if mirrored {
            (&mut self.many, &mut self.few)
        } else {
            (&mut self.few, &mut self.many)
        };
        positive.clear();
        negative.clear();
        positive.extend((0..relevant).map(|m| label(m, 1.0)));
        negative.extend((relevant..centre.len()).map(|n| label(n, 0.0)));
        self.weights.clear();
        self.weights
            .extend((0..self.few.len()).map(|m| pairs.weight(m)));
        self.many
            .sort_unstable_by(|x, y| x.centre.total_cmp(&y.centre).then(x.index.cmp(&y.index)));
        sign
    }

    /// Newton's method from the guess, and if that does not succeed at once, continuation from weak coupling.
    fn minimise(&mut self, margins: Margins, target: f64) {
        if self.newton(margins, target, STEPS_FROM_GUESS) {
            return;
        }
        for label in &mut self.few {
            label.score = label.centre;
        }
        self.previous.clear();
        self.previous
            .extend(self.few.iter().map(|label| label.score));
        let mut lambda = target.min(1.0 / (self.few.len() + self.many.len()) as f64);
        let mut last = 0.0;
        loop {
            self.newton(margins, lambda, STEPS);
            // Also where the target has overflowed.
            if lambda >= target || !target.is_finite() {
                return;
            }
            let next = (FACTOR * lambda).min(target);
            let ratio = (1.0 / lambda - 1.0 / next) / (1.0 / last - 1.0 / lambda);
            for (label, previous) in self.few.iter_mut().zip(&mut self.previous) {
                let change = label.score - *previous;
                *previous = label.score;
                label.score += ratio * change;
            }
            (last, lambda) = (lambda, next);
        }
    }

    /// Newton's method from the current point; false if it has not found the minimiser.
    fn newton(&mut self, margins: Margins, lambda: f64, steps: usize) -> bool {
        self.order.clear();
        self.order.extend(0..self.few.len());
        self.evaluate(margins, lambda);
        let mut patience = PATIENCE;
        for _ in 0..steps {
            self.pieces.eliminate(margins, lambda);
            self.pieces.pull(margins);
            let (contradiction, rounding) = self.pieces.contradiction(margins, lambda);
            if contradiction <= rounding {
                self.pieces.restore_sums(margins, lambda);
                for (&few, &a) in self.order.iter().zip(&self.pieces.few) {
                    self.few[few].score = a;
                }
                if contradiction <= 0.0 || patience == 0 {
                    return true;
                }
                patience -= 1;
                self.evaluate(margins, lambda);
                continue;
            }
            self.origin.clear();
            self.origin.extend(self.few.iter().map(|label| label.score));
            self.direction.resize(self.origin.len(), 0.0);
            for (&few, &a) in self.order.iter().zip(&self.pieces.few) {
                self.direction[few] = a - self.origin[few];
            }
            self.search(margins, lambda, rounding);
        }
        false
    }

    /// Finds the pieces of the current point.
    fn evaluate(&mut self, margins: Margins, lambda: f64) {
        let few = &self.few;
        self.order
            .sort_unstable_by(|&i, &j| few[i].score.total_cmp(&few[j].score).then(i.cmp(&j)));
        self.pieces.few.clear();
        self.pieces
            .few
            .extend(self.order.iter().map(|&j| few[j].score));
        self.pieces.centres.clear();
        self.pieces
            .centres
            .extend(self.order.iter().map(|&j| few[j].centre));
        self.pieces.weights.clear();
        self.pieces
            .weights
            .extend(self.order.iter().map(|&j| self.weights[j]));
        self.pieces.lay_out(margins, lambda);
        self.pieces.fill(&self.many);
    }

    /// Derivative of the objective along `direction` at the current point.
    fn slope(&mut self, margins: Margins, lambda: f64) -> f64 {
        let Margins { theta, mu } = margins;
        let scores = |segment: &Segment| (segment.count, segment.sum_of_scores());
        self.pieces.sum_partners(scores, scores);
        let partners = self.order.iter().zip(&self.pieces.partners);
        partners
            .map(|(&j, Partners { near, far })| {
                let (Label { score, centre, .. }, weight) = (self.few[j], self.weights[j]);
                let near = near.1 - near.0 * (score + theta);
                let far = far.1 - far.0 * (score - theta);
                self.direction[j] * (score - centre - lambda * weight * (near + mu * far))
            })
            .sum()
    }

    /// Line search from `origin` along `direction`.
    fn search(&mut self, margins: Margins, lambda: f64, rounding: f64) {
        // Where the point lies on a kink, its pieces may be those of the wrong side, and the step 0: go past the kink.
        let length = self
            .direction
            .iter()
            .fold(0.0_f64, |length, d| length.max(d.abs()));
        let shortest = (rounding / length).min(1.0);
        let initial = self.slope(margins, lambda);
        let (mut lower, mut upper) = ((0.0, initial), (1.0, 0.0));
        let mut step = if initial < 0.0 { 1.0 } else { 0.0 };
        for trial in 0..TRIALS {
            if !(lower.0 < step && step <= upper.0) {
                break;
            }
            self.step(margins, lambda, step);
            let slope = self.slope(margins, lambda);
            let enough = slope >= SLOPE_SHARE * initial;
            if slope <= 0.0 || (trial == 0 && slope <= -OVERSHOOT * initial) {
                lower = (step, slope);
                if enough || trial == 0 {
                    break;
                }
            } else {
                upper = (step, slope);
            }
            // The slope is piecewise linear, but with any number of pieces.
            step = if trial % 3 == 2 {
                0.5 * (lower.0 + upper.0)
            } else {
                lower.0 + (upper.0 - lower.0) * (lower.1 / (lower.1 - upper.1))
            };
        }
        if lower.0 != step || step < shortest {
            self.step(margins, lambda, lower.0.max(shortest));
        }
    }

    /// Moves to a point of the line.
    fn step(&mut self, margins: Margins, lambda: f64, step: f64) {
        let start = self.origin.iter().zip(&self.direction);
        for (label, (from, along)) in self.few.iter_mut().zip(start) {
            label.score = from + step * along;
        }
        self.evaluate(margins, lambda);
    }

    /// Replaces the scores by the displacements, each as a mean over the partners of the difference to the label's own
    /// centre: accurate however small `lambda` is.
    fn displace(&mut self, margins: Margins, lambda: f64) {
        let Margins { theta, mu } = margins;
        self.pieces.pull(margins);
        for segment in &self.pieces.segments {
            for label in &mut self.many[segment.start..][..segment.count as usize] {
                label.score = segment.displacement(1.0, label.centre, lambda);
            }
        }
        let scores = |segment: &Segment| {
            let moved = segment.displacement(segment.count, segment.sum, lambda);
            (segment.count, segment.sum + moved)
        };
        self.pieces.sum_partners(scores, scores);
        for (&j, Partners { near, far }) in self.order.iter().zip(&self.pieces.partners) {
            let label = &mut self.few[j];
            let near_pull = near.1 - near.0 * (label.centre + theta);
            let far_pull = far.1 - far.0 * (label.centre - theta);
            let lambda = lambda * self.weights[j];
            label.score =
                lambda * (near_pull + mu * far_pull) / (1.0 + lambda * (near.0 + mu * far.0));
        }
    }
}
