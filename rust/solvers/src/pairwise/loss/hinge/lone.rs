//! A label alone on its side: a piecewise linear equation in one variable.

use super::LANES;
use crate::linalg::root::root;
use multiversion::multiversion;

/// Numbers `x_n = sign * score + shift`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Others<'a> {
    pub scores: &'a [f64],
    pub sign: f64,
    pub shift: f64,
}

impl Others<'_> {
    /// `clip(x_n - a, 0, lambda)` of every number.
    pub fn falls(&self, a: f64, lambda: f64) -> impl Iterator<Item = f64> {
        let Self { sign, shift, .. } = *self;
        self.scores
            .iter()
            .map(move |score| (sign * score + shift - a).max(0.0).min(lambda))
    }
}

/// The terms of `sum_n clip(x_n - a, 0, lambda)`: number and sum of `x_n` of those that are not clipped, and number of
/// those clipped at `lambda`.
#[derive(Clone, Copy, Debug)]
struct Terms {
    inside: f64,
    sum: f64,
    above: f64,
}

/// Where a label at `u` ends: `a = u + sum_n clip(x_n - a, 0, lambda)`, an equation with an increasing difference of its
/// sides, by Newton steps from `start` within a bracket. Once the sets of clipped and of unclipped terms repeat, `a` is
/// exact; `None` when they never do.
#[inline(always)]
pub(super) fn end(u: f64, start: f64, others: Others<'_>, lambda: f64) -> Option<f64> {
    let bracket = (u, u + lambda * others.scores.len() as f64);
    let mut sets = (f64::NAN, f64::NAN);
    root(start, bracket, |a, came| {
        let Terms { inside, sum, above } = terms(others, a, lambda);
        let same = came && sets == (inside, above);
        sets = (inside, above);
        (!same).then_some((u + sum + lambda * above) / (1.0 + inside))
    })
}

#[inline(always)]
fn terms(others: Others<'_>, a: f64, lambda: f64) -> Terms {
    let (mut inside, mut sum, mut above) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
    let mut take = |lane: usize, score: f64| {
        let x = others.sign * score + others.shift;
        let is_above = x - a > lambda;
        let is_inside = x - a > 0.0 && !is_above;
        above[lane] += if is_above { 1.0 } else { 0.0 };
        inside[lane] += if is_inside { 1.0 } else { 0.0 };
        sum[lane] += if is_inside { x } else { 0.0 };
    };
    let blocks = others.scores.chunks_exact(LANES);
    for &score in blocks.remainder() {
        take(0, score);
    }
    for block in blocks {
        for (lane, &score) in block.iter().enumerate() {
            take(lane, score);
        }
    }
    Terms {
        inside: inside.iter().sum(),
        sum: sum.iter().sum(),
        above: above.iter().sum(),
    }
}

/// The proximal map of one relevant or one irrelevant label and all others; `guess` are scores near the answer. Writes the
/// displacement; `false`, and nothing written, when the Newton steps do not end.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma"))]
pub(super) fn prox(
    centre: &[f64],
    guess: &[f64],
    relevant: usize,
    lambda: f64,
    displacement: &mut [f64],
) -> bool {
    let last = centre.len() - 1;
    let (lone, sign, range) = if relevant == 1 {
        (0, 1.0, 1..centre.len())
    } else {
        (last, -1.0, 0..last)
    };
    let others = Others {
        scores: &centre[range.clone()],
        sign,
        shift: 0.0,
    };
    // The margin of 1 stands on the side of the lone label.
    let (u, start) = (sign * centre[lone] - 1.0, sign * guess[lone] - 1.0);
    let Some(a) = end(u, start, others, lambda) else {
        return false;
    };
    let mut rise = 0.0;
    for (displacement, fall) in displacement[range].iter_mut().zip(others.falls(a, lambda)) {
        *displacement = -sign * fall;
        rise += fall;
    }
    displacement[lone] = sign * rise;
    true
}
