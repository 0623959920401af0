//! The hinge loss `max(0, 1 - z)` of Rank-SVM (Xu 2013, eq. (18)): value by one search per irrelevant label, proximal map
//! by divide and conquer.
//!
//! With `a_m = s_m - 1` for relevant and `b_n = s_n` for irrelevant labels, and the same shift of the centre giving
//! `u` and `v`, the proximal map is
//!
//! ```text
//! min 1/2 ||a - u||^2 + 1/2 ||b - v||^2 + lambda * sum over pairs of max(0, b_n - a_m)
//! ```
//!
//! Labels that no pair leaves in doubt are settled at once, the others by splitting them ([`split`]).
//! Only the smaller side is ever sorted. The roles are symmetric under `(a, b) -> (-b, -a)`.

mod lone;
mod ranked;
mod split;

use super::{Loss, Pairs};
use crate::linalg::vector::range;
use split::{Group, split};

/// The hinge loss `max(0, 1 - z)`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hinge;

/// A label of the smaller side that can be part of an active pair.
#[derive(Clone, Copy, Debug)]
struct Small {
    /// Shifted score.
    score: f64,
    position: u32,
}

/// The labels of the larger side whose pairs are in doubt, in no order.
#[derive(Clone, Debug, Default)]
struct Large {
    /// Shifted scores.
    scores: Vec<f64>,
    positions: Vec<u32>,
}

impl Large {
    fn resize(&mut self, length: usize) {
        self.scores.resize(length, 0.0);
        self.positions.resize(length, 0);
    }

    fn len(&self) -> usize {
        self.scores.len()
    }
}

/// Buffers of the hinge's value and proximal map.
#[derive(Clone, Debug, Default)]
pub struct HingeWorkspace {
    /// The smaller side, in descending order. If that is the irrelevant one, both sides are negated.
    u: Vec<Small>,
    v: Large,
    groups: Vec<Group>,
    /// Number and sum of `t - v` of the larger side between two thresholds, and between which each one is.
    buckets: Vec<(usize, f64)>,
    indices: Vec<u32>,
    /// The lower part of a group that is being cut.
    lower: Large,
    ranked: ranked::Workspace,
}

impl HingeWorkspace {
    /// Stores the labels whose pairs are in doubt; returns whether both sides are negated. Left out are labels that violate
    /// nothing: the proximal map raises `a` and lowers `b`, so they stay as they are.
    fn gather(&mut self, scores: &[f64], relevant: usize) -> bool {
        let (positive, negative) = scores.split_at(relevant);
        let negated = positive.len() > negative.len();
        let (small, large, first_small, first_large) = if negated {
            (negative, positive, relevant as u32, 0)
        } else {
            (positive, negative, 0, relevant as u32)
        };
        // Stored are u = sign * score - u_margin and v = sign * score - v_margin, with the margin on the relevant side.
        let sign = if negated { -1.0 } else { 1.0 };
        let (u_margin, v_margin) = if negated { (0.0, -1.0) } else { (1.0, 0.0) };
        let (of_small, of_large) = (range(small), range(large));
        let lowest_u = if negated { -of_small.1 } else { of_small.0 } - u_margin;
        let highest_v = if negated { -of_large.0 } else { of_large.1 } - v_margin;
        self.v.resize(large.len());
        let mut kept = 0;
        for (score, position) in large.iter().zip(first_large..) {
            let v = sign * score - v_margin;
            // Written in any case: no branch to mispredict.
            self.v.scores[kept] = v;
            self.v.positions[kept] = position;
            kept += usize::from(v > lowest_u);
        }
        self.v.resize(kept);
        self.u.clear();
        for (score, position) in small.iter().zip(first_small..) {
            let u = sign * score - u_margin;
            if u < highest_v {
                self.u.push(Small { score: u, position });
            }
        }
        self.sort();
        negated
    }

    fn sort(&mut self) {
        self.u.sort_unstable_by(|x, y| {
            y.score
                .total_cmp(&x.score)
                .then(x.position.cmp(&y.position))
        });
    }
}

/// Partial results that are kept side by side, so that one need not wait for the other.
const LANES: usize = 8;

impl Loss for Hinge {
    type Workspace = HingeWorkspace;

    const BOX: bool = true;

    const WEIGHTS: bool = true;

    const TOP: bool = true;

    fn value(&self, scores: &[f64], pairs: Pairs<'_>, workspace: &mut HingeWorkspace) -> f64 {
        workspace.ranked.value(scores, pairs)
    }

    fn prox(
        &self,
        centre: &[f64],
        guess: &[f64],
        displacement: &mut [f64],
        pairs: Pairs<'_>,
        lambda: f64,
        workspace: &mut HingeWorkspace,
    ) {
        displacement.fill(0.0);
        if !pairs.are_plain(centre.len()) {
            workspace.ranked.prox(centre, pairs, lambda, displacement);
            return;
        }
        let relevant = pairs.relevant;
        let smaller = relevant.min(centre.len() - relevant);
        if smaller == 1 && lone::prox(centre, guess, relevant, lambda, displacement) {
            return;
        }
        let sign = if workspace.gather(centre, relevant) {
            -1.0
        } else {
            1.0
        };
        split(workspace, lambda, sign, displacement);
    }

    /// For the hinge `D_i` is the sum of the pairs' dual variables, which is the sum of `beta_im` over `P_i`.
    fn dual_value(
        &self,
        dual: &[f64],
        _scores: &[f64],
        pairs: Pairs<'_>,
        _weight: f64,
        _workspace: &mut HingeWorkspace,
    ) -> f64 {
        dual[..pairs.relevant].iter().sum()
    }

    fn negative_slope(&self, margin: f64) -> f64 {
        if margin < 1.0 { 1.0 } else { 0.0 }
    }
}
