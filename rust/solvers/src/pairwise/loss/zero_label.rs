//! The hinge loss with a zero label, of Rank-SVMz (after Xu 2012): proximal map in one variable.
//!
//! A zero label with a score of its own, the last one, stands between the relevant and the irrelevant labels, and each
//! label is compared with it alone:
//!
//! ```text
//! phi(s) = sum over m in P of max(0, 1 - (s_m - s_0))  +  sum over n in N of max(0, 1 - (s_0 - s_n))
//! ```
//!
//! For a given `t = s_0` the proximal map of every other label is explicit: with the centre `c`,
//!
//! ```text
//! s_m = c_m + clip(t + 1 - c_m, 0, lambda),    s_n = c_n - clip(c_n + 1 - t, 0, lambda)
//! ```
//!
//! and what the others gain the zero label loses, which leaves one equation, increasing and piecewise linear in `t`:
//!
//! ```text
//! t - c_0 + sum_m clip(t + 1 - c_m, 0, lambda) - sum_n clip(c_n + 1 - t, 0, lambda) = 0
//! ```
//!
//! With weights of the relevant labels, the bound of their terms is `lambda w_m`.
//!
//! Newton's method inside a shrinking bracket finds the piece of the root, from the current score mostly at once, and is
//! exact there: O(q) an iteration.

use super::{Hinge, Loss, Pairs};
use crate::linalg::root::root;

/// Values below this share of the terms they are the sum of are rounding.
const ROUNDING: f64 = 2.0 * f64::EPSILON;

/// The hinge loss `max(0, 1 - z)` of the pairs with a zero label.
#[derive(Clone, Copy, Debug, Default)]
pub struct ZeroLabelHinge;

/// The equation for the zero label's score at one point.
struct Equation {
    value: f64,
    slope: f64,
    /// Sum of the magnitudes of its terms.
    size: f64,
}

/// By how much a relevant label of centre `c` rises, for a zero label at `t`.
fn rise(c: f64, t: f64, lambda: f64) -> f64 {
    (t + 1.0 - c).clamp(0.0, lambda)
}

/// By how much an irrelevant label of centre `c` falls, for a zero label at `t`.
fn fall(c: f64, t: f64, lambda: f64) -> f64 {
    (c + 1.0 - t).clamp(0.0, lambda)
}

impl Equation {
    fn at(t: f64, centre: &[f64], pairs: Pairs<'_>, lambda: f64) -> Self {
        let (zero, relevant) = (centre.len() - 1, pairs.relevant);
        let (mut risen, mut fallen, mut slope) = (0.0, 0.0, 1.0);
        let mut add = |moved: f64, most: f64, sum: &mut f64| {
            *sum += moved;
            slope += if moved > 0.0 && moved < most {
                1.0
            } else {
                0.0
            };
        };
        for (m, &c) in centre[..relevant].iter().enumerate() {
            let most = lambda * pairs.weight(m);
            add(rise(c, t, most), most, &mut risen);
        }
        for &c in &centre[relevant..zero] {
            add(fall(c, t, lambda), lambda, &mut fallen);
        }
        Self {
            value: t - centre[zero] + risen - fallen,
            slope,
            size: t.abs() + centre[zero].abs() + risen + fallen,
        }
    }
}

/// The zero label's score after the proximal map.
fn zero_score(centre: &[f64], guess: f64, pairs: Pairs<'_>, lambda: f64) -> f64 {
    let (zero, relevant) = (centre.len() - 1, pairs.relevant);
    // The others move the zero label by `lambda` each at most.
    let weight: f64 = (0..relevant).map(|m| pairs.weight(m)).sum();
    let bracket = (
        centre[zero] - lambda * weight,
        centre[zero] + lambda * (zero - relevant) as f64,
    );
    let mut last = guess;
    root(guess, bracket, |t, _| {
        let Equation { value, slope, size } = Equation::at(t, centre, pairs, lambda);
        last = t;
        (value.abs() > ROUNDING * size).then_some(t - value / slope)
    })
    .unwrap_or(last)
}

impl Loss for ZeroLabelHinge {
    type Workspace = ();

    const BOX: bool = true;

    const ZERO_LABEL: bool = true;

    const WEIGHTS: bool = true;

    fn of_margin(&self, margin: f64) -> f64 {
        Hinge.of_margin(margin)
    }

    fn prox(
        &self,
        centre: &[f64],
        guess: &[f64],
        displacement: &mut [f64],
        pairs: Pairs<'_>,
        lambda: f64,
        _workspace: &mut (),
    ) {
        let (zero, relevant) = (centre.len() - 1, pairs.relevant);
        let t = zero_score(centre, guess[zero], pairs, lambda);
        let mut total = 0.0;
        for (k, (displacement, &c)) in displacement.iter_mut().zip(&centre[..zero]).enumerate() {
            *displacement = if k < relevant {
                rise(c, t, lambda * pairs.weight(k))
            } else {
                -fall(c, t, lambda)
            };
            total += *displacement;
        }
        displacement[zero] = -total;
    }

    /// The sum of the pairs' dual variables, which are those of the labels without their signs.
    fn dual_value(&self, dual: &[f64], _scores: &[f64], _pairs: Pairs<'_>, _weight: f64) -> f64 {
        dual[..dual.len() - 1].iter().map(|beta| beta.abs()).sum()
    }

    fn negative_slope(&self, margin: f64) -> f64 {
        Hinge.negative_slope(margin)
    }
}
