//! Bounds that settle most labels of the larger side before any splitting.
//!
//! A label of the smaller side rises by `lambda` for each of its active pairs, which counting brackets, and a label of
//! the larger side outside all brackets has no pair in doubt. In text data with a hundred labels and more, that is
//! nearly all of them, unless `lambda` is large.

use super::{Gathered, HingeWorkspace, Small};
use multiversion::multiversion;

/// From this size of the larger side on, bounds are tried.
pub(super) const LEAST_SIZE: usize = 32;

/// How often the brackets are tightened.
const ROUNDS: usize = 2;

/// The range in which a label of the smaller side must end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bracket {
    lower: f64,
    upper: f64,
}

impl HingeWorkspace {
    /// Settles the labels of the larger side above the limit, which are active in all pairs: writes their displacements,
    /// and raises the smaller side by what they add.
    pub(super) fn settle_above(
        &mut self,
        gathered: &Gathered,
        limit: f64,
        centre: &[f64],
        relevant: usize,
        lambda: f64,
        displacement: &mut [f64],
    ) {
        let (large, sign, margin) = if gathered.negated {
            (0..relevant, -1.0, -1.0)
        } else {
            (relevant..centre.len(), 1.0, 0.0)
        };
        let fall = -sign * lambda * self.u.len() as f64;
        for (displacement, score) in displacement[large.clone()].iter_mut().zip(&centre[large]) {
            *displacement = if sign * score - margin > limit {
                fall
            } else {
                0.0
            };
        }
        self.raise_all(lambda * gathered.above.0 as f64);
    }

    /// Raises the smaller side by what labels of the larger side that are active in all pairs add.
    fn raise_all(&mut self, raised: f64) {
        for u in &mut self.u {
            u.score += raised;
            u.raised += raised;
        }
    }

    /// Brackets where each label of the smaller side comes to lie; `fall` is the most that a label of the larger side
    /// can fall. Returns whether the brackets settle anything: where they overlap each other and hold nearly all of the
    /// larger side, they do not.
    fn bracket(&mut self, lambda: f64, fall: f64) -> bool {
        let Self { u, v, brackets, .. } = self;
        brackets.clear();
        brackets.extend(u.iter().map(|u| Bracket {
            lower: u.score,
            upper: f64::INFINITY,
        }));
        for _ in 0..ROUNDS {
            tighten(u, &v.scores, lambda, fall, brackets);
            let (Some(first), Some(last)) = (brackets.first(), brackets.last()) else {
                return false;
            };
            let overlap = brackets
                .windows(2)
                .all(|pair| pair[1].upper + fall >= pair[0].lower);
            let held =
                count_above(&v.scores, last.lower) - count_above(&v.scores, first.upper + fall);
            if overlap && (held as f64) > LEAST_HELD * v.len() as f64 {
                return false;
            }
        }
        true
    }

    /// Settles the labels of the larger side that lie outside all brackets: writes their displacements, raises the
    /// smaller side by what they add, and keeps only the others.
    pub(super) fn settle(&mut self, lambda: f64, sign: f64, displacement: &mut [f64]) {
        let fall = lambda * self.u.len() as f64;
        if !self.bracket(lambda, fall) {
            return;
        }
        let Self {
            u,
            v,
            above_lower,
            above_upper,
            brackets,
            ..
        } = self;
        above_lower.clear();
        above_lower.resize(v.len(), 0);
        above_upper.clear();
        above_upper.resize(v.len(), 0);
        for (u, bracket) in u.iter_mut().zip(brackets.iter()) {
            add_above(&v.scores, bracket.lower, above_lower);
            let active = add_above(&v.scores, bracket.upper + fall, above_upper);
            u.raised += lambda * f64::from(active);
            u.score += lambda * f64::from(active);
        }
        let mut kept = 0;
        for k in 0..v.len() {
            let (score, position) = (v.scores[k], v.positions[k]);
            if above_lower[k] == above_upper[k] {
                displacement[position as usize] = -sign * lambda * f64::from(above_upper[k]);
                continue;
            }
            if above_upper[k] > 0 {
                // Its pairs are counted by the splitting.
                for (u, bracket) in u.iter_mut().zip(brackets.iter()) {
                    if score > bracket.upper + fall {
                        u.raised -= lambda;
                        u.score -= lambda;
                    }
                }
            }
            v.scores[kept] = score;
            v.positions[kept] = position;
            kept += 1;
        }
        v.resize(kept);
        self.sort();
    }
}

/// Share of the larger side that overlapping brackets must hold to be given up.
const LEAST_HELD: f64 = 0.75;

/// One round of counting: upper bounds from the lower ones, and lower bounds from these. The order of each side survives
/// the proximal map, so bounds carry over to the neighbours.
fn tighten(u: &[Small], v: &[f64], lambda: f64, fall: f64, brackets: &mut [Bracket]) {
    let mut tightest = f64::INFINITY;
    for (u, bracket) in u.iter().zip(brackets.iter_mut()) {
        let upper = u.score + lambda * count_above(v, bracket.lower) as f64;
        tightest = upper.min(tightest);
        bracket.upper = tightest;
    }
    let mut tightest = f64::NEG_INFINITY;
    for (u, bracket) in u.iter().zip(brackets.iter_mut()).rev() {
        let lower = u.score + lambda * count_above(v, bracket.upper + fall) as f64;
        tightest = lower.max(tightest);
        bracket.lower = tightest;
    }
}

/// How many numbers are above `x`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma"))]
fn count_above(numbers: &[f64], x: f64) -> usize {
    numbers
        .iter()
        .map(|&number| u64::from(number > x))
        .sum::<u64>() as usize
}

/// Adds 1 to the count of every number above `x`, and returns how many there are.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma"))]
fn add_above(numbers: &[f64], x: f64, counts: &mut [u32]) -> u32 {
    let mut total = 0;
    for (&number, count) in numbers.iter().zip(counts) {
        let above = u32::from(number > x);
        *count += above;
        total += above;
    }
    total
}
