//! Primal and dual values.

use super::Problem;
use crate::linalg::vector::dot;
use crate::report::rounding_of_form;

/// Slopes of a label's loss below this share of its weights are rounding.
const FLAT: f64 = 1e-12;

/// The hinge loss `sum c max(0, 1 - y (f + b))` of scores without bias, and the biases that minimise it.
///
/// As a function of its bias, a label's loss has the slope `-sum of c` over its positive instances far to the left, which
/// grows by `c_i` at each of the points `y_i - f_i`. With equal weights the minimum lies between the `n_+`-th of them and
/// the next one, the bias in the middle. At the optimum of the dual these are F_low and F_up with the opposite signs:
/// every free support vector sits on one of them.
pub(super) fn loss_and_bias(problem: &Problem<'_>, scores: &[f64]) -> (f64, Vec<f64>) {
    let n = problem.instances();
    let (mut loss, mut biases) = (0.0, Vec::with_capacity(problem.labels()));
    let (mut points, mut numbers) = (Vec::new(), vec![0.0; n]);
    for (label, scores) in scores.chunks_exact(n).enumerate() {
        let (signs, bounds) = (problem.sign(label), problem.bound(label));
        let bias = if problem.uniform {
            uniform_bias(signs, scores, &mut numbers)
        } else {
            points.clear();
            let known = signs.iter().zip(scores).zip(bounds);
            let known = known.filter(|(_, c)| **c > 0.0);
            points.extend(known.map(|((y, f), c)| (y - f, *c)));
            points.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
            flat_middle(&points, signs, bounds)
        };
        for ((hinge, y), f) in numbers.iter_mut().zip(signs).zip(scores) {
            *hinge = (1.0 - y * (f + bias)).max(0.0);
        }
        loss += dot(&numbers, bounds);
        biases.push(bias);
    }
    (loss, biases)
}

/// The middle of the biases at which a label's loss is smallest; `points` are ascending, with their weights.
fn flat_middle(points: &[(f64, f64)], signs: &[f64], bounds: &[f64]) -> f64 {
    let (mut positive, mut total) = (0.0, 0.0);
    for (y, c) in signs.iter().zip(bounds) {
        total += c;
        positive += if *y > 0.0 { *c } else { 0.0 };
    }
    let (mut slope, mut left) = (-positive, None);
    for &(point, c) in points {
        slope += c;
        if slope > FLAT * total {
            return 0.5 * (left.unwrap_or(point) + point);
        }
        if slope >= -FLAT * total {
            left = left.or(Some(point));
        }
    }
    left.unwrap_or(0.0)
}

/// The same for equal weights, without sorting; `points` is a buffer of `n` numbers.
fn uniform_bias(signs: &[f64], scores: &[f64], points: &mut [f64]) -> f64 {
    for ((point, y), f) in points.iter_mut().zip(signs).zip(scores) {
        *point = y - f;
    }
    let positive = signs.iter().filter(|&&y| y > 0.0).count();
    let (below, &mut right, _) = points.select_nth_unstable_by(positive, f64::total_cmp);
    let left = below.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
    0.5 * (left + right)
}

/// The rounding error of a quadratic form of `Z^T K Z` with coefficients of at most `largest`: a few units in the last place
/// of its terms.
pub(super) fn rounding(problem: &Problem<'_>, dual: &[f64], largest: f64) -> f64 {
    let diagonal = problem.kernel.diagonal();
    let of_label = |column: &[f64]| -> f64 {
        let terms = column.iter().zip(diagonal);
        terms.map(|(z, k)| z.abs() * k.abs().sqrt()).sum()
    };
    let total: f64 = dual.chunks_exact(problem.instances()).map(of_label).sum();
    largest.abs() * rounding_of_form(total * total)
}

/// The lower bound `t sum alpha - t^2/(2 lambda) quadratic`, the largest over `0 <= t <= 1`, and its `t`: with `Z` every
/// `t Z` is feasible. `quadratic` is `lambda_max(Z^T K Z)` for the joint problem, `tr(Z^T K Z Omega)` for a fixed Omega.
pub(super) fn best_multiple(problem: &Problem<'_>, dual: &[f64], quadratic: f64) -> (f64, f64) {
    let sum = dot(dual, problem.signs);
    let curvature = quadratic / problem.lambda;
    let t = if curvature > sum {
        sum / curvature
    } else {
        1.0
    };
    (t * sum - 0.5 * t * t * curvature, t)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Weights whose sums are equal up to rounding: the loss is flat between the two points.
    #[test]
    fn the_bias_is_in_the_middle_of_what_rounding_leaves_flat() {
        let (signs, bounds) = ([1.0, -1.0, -1.0], [0.3, 0.1, 0.2]);
        assert!(bounds[1] + bounds[2] != bounds[0]);
        for order in [[0, 1, 2], [0, 2, 1]] {
            let at = [-3.0, -2.0, 5.0];
            let points: Vec<_> = at.iter().zip(order).map(|(&x, k)| (x, bounds[k])).collect();
            // The slope is 0 from the first point on, whose weight is that of the positive row.
            assert_eq!(flat_middle(&points, &signs, &bounds), -2.5);
        }
        let points = [(-3.0, 0.1), (-2.0, 0.2), (5.0, 0.3)];
        assert_eq!(flat_middle(&points, &signs, &bounds), 1.5);
    }
}
