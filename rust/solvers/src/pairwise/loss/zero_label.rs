//! The hinge loss with a zero label, of Rank-SVMz (after Xu 2012): proximal map in one variable.
//!
//! A zero label with its own score, the last one, separates the relevant from the irrelevant labels, and each label is
//! compared only with it:
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
//! and the zero label loses what the others gain, which leaves one equation, increasing and piecewise linear in `t`:
//!
//! ```text
//! t - c_0 + sum_m clip(t + 1 - c_m, 0, lambda) - sum_n clip(c_n + 1 - t, 0, lambda) = 0
//! ```
//!
//! With weights of the relevant labels, the bound of their terms is `lambda w_m`.
//!
//! Newton's method inside a shrinking bracket finds the linear piece of the root, usually in one step from the current
//! score, and is exact there; an iteration is O(q).

use super::{Hinge, Loss, Pairs};
use crate::linalg::root::root;
use crate::linalg::vector::by_lanes;
use multiversion::multiversion;

/// The hinge loss `max(0, 1 - z)` of the pairs with a zero label.
#[derive(Clone, Copy, Debug, Default)]
pub struct ZeroLabelHinge;

/// The label that is in all pairs, the labels on either side of it, and the strength of the pairs.
struct Star<'a> {
    centre: f64,
    relevant: &'a [f64],
    irrelevant: &'a [f64],
    pairs: Pairs<'a>,
    lambda: f64,
}

/// The amount by which a relevant label with centre `c` rises, for a zero label at `t`.
fn rise(c: f64, t: f64, lambda: f64) -> f64 {
    (t + 1.0 - c).clamp(0.0, lambda)
}

/// The amount by which an irrelevant label with centre `c` falls, for a zero label at `t`.
#[inline(always)]
fn fall(c: f64, t: f64, lambda: f64) -> f64 {
    (c + 1.0 - t).clamp(0.0, lambda)
}

/// The total amount by which irrelevant labels fall, the number of those that fall, and of those that fall by `lambda`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma"))]
fn falls(centres: &[f64], t: f64, lambda: f64) -> (f64, f64, f64) {
    let (mut sums, mut some, mut most) = ([0.0; 8], [0.0; 8], [0.0; 8]);
    by_lanes(centres, |lane, c| {
        let moved = fall(c, t, lambda);
        sums[lane] += moved;
        some[lane] += f64::from(moved > 0.0);
        most[lane] += f64::from(moved >= lambda);
    });
    (sums.iter().sum(), some.iter().sum(), most.iter().sum())
}

impl Star<'_> {
    /// The root of the equation's linear piece at `t`, and an identifier of the piece: the numbers of labels that move, and
    /// of those that move by their maximum, which determine the piece since the labels of a side move in a fixed order.
    fn root_of_piece(&self, t: f64) -> (f64, (f64, f64)) {
        let (mut sum, some, most) = falls(self.irrelevant, t, self.lambda);
        let (mut slope, mut piece) = (1.0 + some - most, (-some, -most));
        for (m, &c) in self.relevant.iter().enumerate() {
            let most = self.lambda * self.pairs.weight(m);
            let moved = rise(c, t, most);
            sum -= moved;
            slope += f64::from(moved > 0.0 && moved < most);
            piece.0 += f64::from(moved > 0.0);
            piece.1 += f64::from(moved >= most);
        }
        (t - (t - self.centre - sum) / slope, piece)
    }

    /// The zero label's score after the proximal map.
    fn score(&self, guess: f64) -> f64 {
        // Each of the others moves the zero label by at most `lambda`.
        let weights = (0..self.relevant.len()).map(|m| self.pairs.weight(m));
        let bracket = (
            self.centre - self.lambda * weights.sum::<f64>(),
            self.centre + self.lambda * self.irrelevant.len() as f64,
        );
        root(guess, bracket, |t| self.root_of_piece(t)).0
    }
}

/// The proximal map if the label at `zero`, the only one of its side or the last one, is in all pairs.
pub(super) fn prox_of_star(
    zero: usize,
    centre: &[f64],
    guess: &[f64],
    displacement: &mut [f64],
    pairs: Pairs<'_>,
    lambda: f64,
) {
    let (relevant, irrelevant, lambda) = if zero < pairs.relevant {
        (0..0, 1..centre.len(), lambda * pairs.weight(zero))
    } else {
        (0..pairs.relevant, pairs.relevant..zero, lambda)
    };
    let star = Star {
        centre: centre[zero],
        relevant: &centre[relevant.clone()],
        irrelevant: &centre[irrelevant.clone()],
        pairs,
        lambda,
    };
    let t = star.score(guess[zero]);
    let mut total = 0.0;
    for m in relevant {
        displacement[m] = rise(centre[m], t, lambda * pairs.weight(m));
        total += displacement[m];
    }
    for n in irrelevant {
        displacement[n] = -fall(centre[n], t, lambda);
        total += displacement[n];
    }
    displacement[zero] = -total;
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
        let zero = centre.len() - 1;
        prox_of_star(zero, centre, guess, displacement, pairs, lambda);
    }

    /// The sum of the pairs' dual variables, which are the absolute values of those of the labels.
    fn dual_value(&self, dual: &[f64], _scores: &[f64], _pairs: Pairs<'_>, _weight: f64) -> f64 {
        dual[..dual.len() - 1].iter().map(|beta| beta.abs()).sum()
    }

    fn negative_slope(&self, margin: f64) -> f64 {
        Hinge.negative_slope(margin)
    }
}
