//! The squared hinge `1/2 max(0, 1 - z)^2` of Rank-CVM (Xu 2013, eq. (30)) and Rank-LSVM: value by one search per
//! irrelevant label, proximal map by a one-dimensional Newton method.
//!
//! With `a_m = s_m - 1` for relevant and `y_n = s_n` for irrelevant labels, and `b_m` and `v_n` the same of the
//! centre, the proximal map is
//!
//! ```text
//! min 1/2 ||a - b||^2 + 1/2 ||y - v||^2 + lambda/2 * sum over pairs of max(0, y_n - a_m)^2
//! ```
//!
//! **One number decides which pairs are active.** Put `beta(t) = t - lambda sum_n max(0, y_n - t)` and
//! `nu(t) = t + lambda sum_m max(0, t - a_m)`, so that the optimality conditions read `beta(a_m) = b_m`,
//! `nu(y_n) = v_n`. Both functions increase, hence
//!
//! ```text
//! d beta / dt = 1 + lambda #{n : v_n > nu},    d nu / dt = 1 + lambda #{m : b_m < beta}
//! ```
//!
//! and these two equations have a first integral: with `B(x) = x + lambda sum_m max(0, x - b_m)` and
//! `V(x) = x - lambda sum_n max(0, v_n - x)`, the difference `E = V(nu) - B(beta)` is the same for all `t`. Therefore
//! `y_n > a_m` if and only if `V(v_n) > B(b_m) + E`, where `B` and `V` depend on the centre alone. Below all `a` the
//! difference is seen to be `E = -lambda T`, with `T = sum_m (a_m - b_m)` the total displacement.
//!
//! **Newton.** A value of `E` gives a set of active pairs, that set a linear system, its solution a new `T` and
//! so a new `E`. This is Newton's method for the piecewise linear and increasing residual of `E`: the sign of the
//! change brackets the root, and the map is found as soon as the set repeats. A good guess needs one step.
//!
//! **The linear system** is the identity plus `lambda` times the Laplacian of the graph of active pairs, in which the
//! sorted labels have nested neighbours. Walking up the `a`, everything seen so far responds linearly to the sum of
//! the irrelevant scores above it, so the elimination takes `O(q)`; and since it carries row sums in place of
//! diagonals (the rule of Grassmann, Taksar and Heyman) no step subtracts, and the accuracy does not suffer when
//! `lambda` is 1e12.

mod ranked;

use super::{Loss, Pairs};

/// The squared hinge `1/2 max(0, 1 - z)^2`.
#[derive(Clone, Copy, Debug, Default)]
pub struct SquaredHinge;

/// Newton steps after which rounding alone can have prevented the end.
const MAX_STEPS: usize = 200;

/// Two values of `E` this close are the same up to rounding.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// A label that can be part of an active pair.
#[derive(Clone, Copy, Debug)]
struct Label {
    position: usize,
    centre: f64,
    /// `B(b_m)` or `V(v_n)`: active pairs are those with `V(v_n) > B(b_m) + E`.
    rank: f64,
}

/// A relevant label in the elimination, together with the irrelevant labels between it and the next relevant one.
#[derive(Clone, Copy, Debug, Default)]
struct Stage {
    /// Number of irrelevant labels above the relevant one.
    above: usize,
    /// Number of irrelevant labels between it and the next relevant one, and the sum of their centres.
    count: f64,
    sum: f64,
    /// `sum of a up to here = constant + factor * sum of y above`, before the irrelevant labels of this stage.
    constant: f64,
    factor: f64,
    /// Pivot of these irrelevant labels.
    pivot: f64,
    /// `1 / (1 + lambda above)`
    inverse: f64,
    displacement: f64,
}

/// Number or weight, mean and sum of squared deviations of some scores.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    /// Appends one more score.
    pub fn and(self, score: f64) -> Self {
        self.and_weighted(score, 1.0)
    }

    /// Appends one more score, which counts `weight` times.
    pub fn and_weighted(self, score: f64, weight: f64) -> Self {
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
    relevant: Vec<Label>,
    irrelevant: Vec<Label>,
    stages: Vec<Stage>,
    scores: Vec<f64>,
    moments: Vec<Moments>,
    ranked: ranked::Workspace,
}

/// The score that beats all others, in lanes that vectorise.
fn extreme(scores: &[f64], worst: f64, beats: impl Fn(f64, f64) -> bool) -> f64 {
    let mut lanes = [worst; 8];
    let chunks = scores.chunks_exact(lanes.len());
    let rest = chunks.remainder();
    for chunk in chunks {
        for (lane, &score) in lanes.iter_mut().zip(chunk) {
            *lane = if beats(score, *lane) { score } else { *lane };
        }
    }
    let of_two = |first: f64, second: &f64| {
        if beats(*second, first) {
            *second
        } else {
            first
        }
    };
    lanes.iter().chain(rest).fold(worst, of_two)
}

fn highest(scores: &[f64]) -> f64 {
    extreme(scores, f64::NEG_INFINITY, |x, y| x > y)
}

fn lowest(scores: &[f64]) -> f64 {
    extreme(scores, f64::INFINITY, |x, y| x < y)
}

impl SquaredHingeWorkspace {
    /// Keeps the labels that can be part of an active pair, relevant ones ascending, irrelevant ones descending. The
    /// proximal map raises `a` and lowers `y`, so a label that violates nothing at the centre violates nothing at the
    /// minimiser.
    fn gather(&mut self, centre: &[f64], relevant: usize) {
        let (positive, negative) = centre.split_at(relevant);
        let floor = lowest(positive) - 1.0;
        let base = highest(negative);
        self.relevant.clear();
        self.irrelevant.clear();
        // Differences to the highest irrelevant label: far from 0 the sums below would lose digits.
        for (position, &score) in positive.iter().enumerate() {
            if score - 1.0 < base {
                self.relevant.push(Label {
                    position,
                    centre: score - base - 1.0,
                    rank: 0.0,
                });
            }
        }
        for (position, &score) in negative.iter().enumerate() {
            if score > floor {
                self.irrelevant.push(Label {
                    position: relevant + position,
                    centre: score - base,
                    rank: 0.0,
                });
            }
        }
        self.relevant.sort_unstable_by(|x, y| {
            x.centre
                .total_cmp(&y.centre)
                .then(x.position.cmp(&y.position))
        });
        self.irrelevant.sort_unstable_by(|x, y| {
            y.centre
                .total_cmp(&x.centre)
                .then(x.position.cmp(&y.position))
        });
    }

    /// Sets `B(b_m)` and `V(v_n)`.
    fn rank(&mut self, lambda: f64) {
        for labels in [&mut self.relevant, &mut self.irrelevant] {
            let mut slope = 1.0;
            let mut last = labels.first().map_or(0.0, |label| label.centre);
            let mut rank = last;
            for label in labels {
                rank += (label.centre - last) * slope;
                label.rank = rank;
                last = label.centre;
                slope += lambda;
            }
        }
    }

    /// Sets the active pairs of `shift` (`E`); false if they are those of the call before.
    fn activate(&mut self, shift: f64) -> bool {
        let mut changed = false;
        let mut above = self.irrelevant.len();
        let mut previous: Option<&mut Stage> = None;
        for (label, stage) in self.relevant.iter().zip(&mut self.stages) {
            let boundary = label.rank + shift;
            let (mut count, mut sum) = (0.0, 0.0);
            while above > 0 && self.irrelevant[above - 1].rank <= boundary {
                above -= 1;
                count += 1.0;
                sum += self.irrelevant[above].centre;
            }
            if let Some(previous) = previous {
                previous.count = count;
                previous.sum = sum;
            }
            changed |= stage.above != above;
            stage.above = above;
            previous = Some(stage);
        }
        if let Some(previous) = previous {
            previous.count = above as f64;
            previous.sum = self.irrelevant[..above]
                .iter()
                .map(|label| label.centre)
                .sum();
        }
        changed
    }

    /// Solves the optimality conditions of the active pairs for the displacements of the relevant labels; returns
    /// their sum.
    fn eliminate(&mut self, lambda: f64) -> f64 {
        let (mut constant, mut factor, mut row_sum) = (0.0, 0.0, 0.0);
        for (stage, label) in self.stages.iter_mut().zip(&self.relevant) {
            let inverse = 1.0 / (1.0 + lambda * stage.above as f64);
            constant += label.centre * inverse;
            factor += lambda * inverse;
            row_sum += inverse;
            let pivot = 1.0 + lambda * (row_sum + factor * (stage.above as f64 - stage.count));
            *stage = Stage {
                constant,
                factor,
                pivot,
                inverse,
                ..*stage
            };
            let share = factor / pivot;
            constant += share * (stage.sum + lambda * stage.count * constant);
            row_sum += share * stage.count * (1.0 + lambda * row_sum);
            factor += share * lambda * stage.count * factor;
        }
        let (mut sum, mut total) = (0.0, 0.0);
        for (stage, label) in self.stages.iter_mut().zip(&self.relevant).rev() {
            sum += (stage.sum + lambda * stage.count * (stage.constant + stage.factor * sum))
                / stage.pivot;
            stage.displacement = lambda * (sum - stage.above as f64 * label.centre) * stage.inverse;
            total += stage.displacement;
        }
        total
    }

    /// Finds the active pairs of the minimiser, and the displacements of the relevant labels.
    fn solve(&mut self, guess: f64, lambda: f64) {
        self.stages.clear();
        self.stages.resize(self.relevant.len(), Stage::default());
        let lowest = self.relevant.first().map_or(0.0, |label| label.centre);
        let bound_a: f64 = self.relevant.iter().map(|label| -label.centre).sum();
        let bound_y: f64 = self
            .irrelevant
            .iter()
            .map(|label| label.centre - lowest)
            .sum();
        let (mut lower, mut upper) = (-lambda * bound_a.min(bound_y), 0.0);
        let mut shift = (-lambda * guess).max(lower).min(upper);
        self.activate(shift);
        for step in 0..MAX_STEPS {
            let next = -lambda * self.eliminate(lambda);
            if (next - shift).abs() <= ROUNDING * shift.abs() {
                return;
            }
            if next > shift {
                lower = shift;
            } else {
                upper = shift;
            }
            shift = next;
            // Newton's method may leave the bracket, or close it slowly.
            if !(lower < next && next < upper) || step % 4 == 3 {
                shift = 0.5 * (lower + upper);
            }
            if !self.activate(shift) && shift == next {
                return;
            }
        }
    }
}

impl Loss for SquaredHinge {
    type Workspace = SquaredHingeWorkspace;

    const WEIGHTS: bool = true;

    const TOP: bool = true;

    fn value(
        &self,
        scores: &[f64],
        pairs: Pairs<'_>,
        workspace: &mut SquaredHingeWorkspace,
    ) -> f64 {
        if !pairs.are_plain(scores.len()) {
            return workspace.ranked.value(scores, pairs);
        }
        let (positive, negative) = scores.split_at(pairs.relevant);
        let highest = highest(negative);
        let SquaredHingeWorkspace {
            scores: sorted,
            moments,
            ..
        } = workspace;
        sorted.clear();
        sorted.extend(positive.iter().map(|s| s - 1.0).filter(|&a| a < highest));
        sorted.sort_unstable_by(f64::total_cmp);
        let Some(&lowest) = sorted.first() else {
            return 0.0;
        };
        moments.clear();
        let mut prefix = Moments::default();
        for &a in sorted.iter() {
            moments.push(prefix);
            prefix = prefix.and(a);
        }
        moments.push(prefix);
        let of_label = |&y: &f64| moments[sorted.partition_point(|&a| a < y)].squared_distances(y);
        0.5 * negative
            .iter()
            .filter(|&&y| y > lowest)
            .map(of_label)
            .sum::<f64>()
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
        if !pairs.are_plain(centre.len()) {
            let ranked = &mut workspace.ranked;
            ranked.prox(centre, guess, pairs, lambda, displacement);
            return;
        }
        workspace.gather(centre, pairs.relevant);
        if workspace.relevant.is_empty() {
            return;
        }
        workspace.rank(lambda);
        let total = workspace
            .relevant
            .iter()
            .map(|&Label { position, .. }| guess[position] - centre[position])
            .sum();
        workspace.solve(total, lambda);
        let (mut below, mut sum, mut n) = (0.0, 0.0, workspace.irrelevant.len());
        let mut set = |from: usize, n: &mut usize, below: f64, sum: f64| {
            for label in &workspace.irrelevant[from..*n] {
                displacement[label.position] =
                    lambda * (sum - below * label.centre) / (1.0 + lambda * below);
            }
            *n = from;
        };
        for (label, stage) in workspace.relevant.iter().zip(&workspace.stages) {
            set(stage.above, &mut n, below, sum);
            below += 1.0;
            sum += label.centre + stage.displacement;
        }
        set(0, &mut n, below, sum);
        for (label, stage) in workspace.relevant.iter().zip(&workspace.stages) {
            displacement[label.position] = stage.displacement;
        }
    }

    fn negative_slope(&self, margin: f64) -> f64 {
        (1.0 - margin).max(0.0)
    }
}
