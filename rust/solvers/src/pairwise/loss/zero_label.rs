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
use crate::linalg::vector::by_lanes;
use multiversion::multiversion;

/// The hinge loss `max(0, 1 - z)` of the pairs with a zero label.
#[derive(Clone, Copy, Debug, Default)]
pub struct ZeroLabelHinge;

/// The label that all pairs have, the others on both sides of it, and the strength of the pairs.
struct Star<'a> {
    centre: f64,
    relevant: &'a [f64],
    irrelevant: &'a [f64],
    pairs: Pairs<'a>,
    lambda: f64,
}

/// By how much a relevant label of centre `c` rises, for a zero label at `t`.
fn rise(c: f64, t: f64, lambda: f64) -> f64 {
    (t + 1.0 - c).clamp(0.0, lambda)
}

/// By how much an irrelevant label of centre `c` falls, for a zero label at `t`.
#[inline(always)]
fn fall(c: f64, t: f64, lambda: f64) -> f64 {
    (c + 1.0 - t).clamp(0.0, lambda)
}

/// By how much irrelevant labels fall in all, how many of them do, and how many by `lambda`.
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
    /// The root of the equation's piece at `t`, and which labels move on it, and which as far as they may: by their numbers, as
    /// those of one side move before the others.
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
        // The others move the zero label by `lambda` each at most.
        let weights = (0..self.relevant.len()).map(|m| self.pairs.weight(m));
        let bracket = (
            self.centre - self.lambda * weights.sum::<f64>(),
            self.centre + self.lambda * self.irrelevant.len() as f64,
        );
        root(guess, bracket, |t| self.root_of_piece(t)).0
    }
}

/// The proximal map where the label at `zero`, the only one of its side or the last one, is in all pairs.
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

    /// The sum of the pairs' dual variables, which are those of the labels without their signs.
    fn dual_value(&self, dual: &[f64], _scores: &[f64], _pairs: Pairs<'_>, _weight: f64) -> f64 {
        dual[..dual.len() - 1].iter().map(|beta| beta.abs()).sum()
    }

    fn negative_slope(&self, margin: f64) -> f64 {
        Hinge.negative_slope(margin)
    }
}
