//! A single one of the few. With `g = lambda / (1 + lambda)`, `h = mu lambda / (1 + mu lambda)`, and the many minimised out,
//! its score solves an increasing, piecewise linear equation:
//!
//! ```text
//! a - c - g sum_n max(0, v_n - a) + h sum_n max(0, a - 2 theta - v_n) = 0
//! ```

use super::OptimalMargin;
use crate::linalg::root::root;
use crate::linalg::vector::{by_lanes, range};
use multiversion::multiversion;

/// The number and the sum of the positive ones of `sign (v - level)`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma"))]
fn beyond(many: &[f64], level: f64, sign: f64) -> (f64, f64) {
    let (mut counts, mut sums) = ([0.0; 8], [0.0; 8]);
    by_lanes(many, |lane, v| {
        let distance = sign * (v - level);
        counts[lane] += f64::from(distance > 0.0);
        sums[lane] += distance.max(0.0);
    });
    (counts.iter().sum(), sums.iter().sum())
}

/// The proximal map of an instance with one relevant label.
pub(super) fn prox(
    loss: OptimalMargin,
    centre: &[f64],
    guess: &[f64],
    displacement: &mut [f64],
    lambda: f64,
) {
    let Some((&own, many)) = centre.split_first() else {
        return;
    };
    let (gap, margin) = (2.0 * loss.theta(), 1.0 - loss.theta());
    let near = lambda / (1.0 + lambda);
    let far = loss.mu() * lambda / (1.0 + loss.mu() * lambda);
    let c = own - margin;
    let (lowest, highest) = range(many);
    let bracket = (c.min(lowest + gap), c.max(highest));
    let (a, _) = root(guess[0] - margin, bracket, |t| {
        let (n_near, sum_near) = beyond(many, t, 1.0);
        let (n_far, sum_far) = if far > 0.0 {
            beyond(many, t - gap, -1.0)
        } else {
            (0.0, 0.0)
        };
        let value = t - c - near * sum_near + far * sum_far;
        let slope = 1.0 + near * n_near + far * n_far;
        (t - value / slope, (n_near, n_far))
    });
    let mut total = 0.0;
    for (displacement, v) in displacement[1..].iter_mut().zip(many) {
        *displacement = near * (a - v).min(0.0) + far * (a - gap - v).max(0.0);
        total += *displacement;
    }
    displacement[0] = -total;
}
