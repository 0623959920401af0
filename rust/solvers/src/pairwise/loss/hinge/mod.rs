//! The hinge loss `max(0, 1 - z)` of Rank-SVM (Xu 2013, eq. (18)): value by one merge, proximal map by divide and
//! conquer.
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
use split::{Group, split};

/// The hinge loss `max(0, 1 - z)`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hinge;

/// A label of the smaller side that can be part of an active pair.
#[derive(Clone, Copy, Debug)]
struct Small {
    /// Shifted score, raised by what settled pairs have already added.
    score: f64,
    /// What settled pairs have already added.
    raised: f64,
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

/// What is known of an instance before any splitting.
#[derive(Clone, Copy, Debug)]
struct Gathered {
    /// Whether both sides are negated.
    negated: bool,
    /// Number and sum of the labels of the larger side that are above the limit.
    above: (usize, f64),
    /// Highest label of the smaller side, in the stored sign.
    highest_u: f64,
}

impl HingeWorkspace {
    /// Stores the labels whose pairs are in doubt. Left out are labels that violate nothing (the proximal map raises
    /// `a` and lowers `b`, so they stay as they are), and labels of the larger side that are above all of the smaller
    /// side by more than `reach`: these are only counted and summed.
    fn gather(&mut self, scores: &[f64], relevant: usize, reach: f64) -> Gathered {
        let (positive, negative) = scores.split_at(relevant);
        let negated = positive.len() > negative.len();
        let (small, large, first_small, first_large) = if negated {
            (negative, positive, relevant as u32, 0)
        } else {
            (positive, negative, 0, relevant as u32)
        };
        // Stored are u = sign * score - shift_u and v = sign * score - shift_v, with the margin on the relevant side.
        let sign = if negated { -1.0 } else { 1.0 };
        let (u_margin, v_margin) = if negated { (0.0, -1.0) } else { (1.0, 0.0) };
        let (lowest_u, highest_u) = range(small, sign);
        let (lowest_u, highest_u) = (lowest_u - u_margin, highest_u - u_margin);
        let highest_v = range(large, sign).1 - v_margin;
        let limit = highest_u + reach;
        let mut above = (0, 0.0);
        self.v.resize(large.len());
        let mut kept = 0;
        for (score, position) in large.iter().zip(first_large..) {
            let v = sign * score - v_margin;
            let is_above = v > limit;
            above.0 += usize::from(is_above);
            above.1 += if is_above { v } else { 0.0 };
            // Written in any case: no branch to mispredict.
            self.v.scores[kept] = v;
            self.v.positions[kept] = position;
            kept += usize::from(v > lowest_u && !is_above);
        }
        self.v.resize(kept);
        self.u.clear();
        for (score, position) in small.iter().zip(first_small..) {
            let u = sign * score - u_margin;
            if u < highest_v {
                self.u.push(Small {
                    score: u,
                    raised: 0.0,
                    position,
                });
            }
        }
        self.sort();
        Gathered {
            negated,
            above,
            highest_u,
        }
    }

    /// Settles the labels of the larger side above the limit, which are active in all pairs: writes their displacements,
    /// and raises the smaller side by what they add.
    fn settle_above(
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
        let raised = lambda * gathered.above.0 as f64;
        for u in &mut self.u {
            u.score += raised;
            u.raised += raised;
        }
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

/// The lowest and the highest of `sign` times some numbers.
#[inline(always)]
fn range(numbers: &[f64], sign: f64) -> (f64, f64) {
    let mut lowest = [f64::INFINITY; LANES];
    let mut highest = [f64::NEG_INFINITY; LANES];
    let mut take = |lane: usize, number: f64| {
        let x = sign * number;
        lowest[lane] = if x < lowest[lane] { x } else { lowest[lane] };
        highest[lane] = if x > highest[lane] { x } else { highest[lane] };
    };
    let blocks = numbers.chunks_exact(LANES);
    for &number in blocks.remainder() {
        take(0, number);
    }
    for block in blocks {
        for (lane, &number) in block.iter().enumerate() {
            take(lane, number);
        }
    }
    (
        lowest.into_iter().fold(f64::INFINITY, f64::min),
        highest.into_iter().fold(f64::NEG_INFINITY, f64::max),
    )
}

impl Loss for Hinge {
    type Workspace = HingeWorkspace;

    const BOX: bool = true;

    const WEIGHTS: bool = true;

    const TOP: bool = true;

    fn value(&self, scores: &[f64], pairs: Pairs<'_>, workspace: &mut HingeWorkspace) -> f64 {
        if !pairs.are_plain(scores.len()) {
            return workspace.ranked.value(scores, pairs);
        }
        let Gathered { above, .. } = workspace.gather(scores, pairs.relevant, 0.0);
        let HingeWorkspace { u, v, buckets, .. } = workspace;
        // Number and sum of the u from the k-th one down.
        buckets.clear();
        buckets.resize(u.len() + 1, (0, 0.0));
        for k in (0..u.len()).rev() {
            buckets[k] = (buckets[k + 1].0 + 1, buckets[k + 1].1 + u[k].score);
        }
        let (count, sum) = buckets[0];
        let mut total = above.1 * count as f64 - sum * above.0 as f64;
        for &x in &v.scores {
            let (count, sum) = buckets[u.partition_point(|u| u.score >= x)];
            total += x * count as f64 - sum;
        }
        total.max(0.0)
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
        // No label of the smaller side rises, and none of the larger side falls, by more than one step a pair: a
        // label that is further above ends fully active in all its pairs.
        let reach = lambda * centre.len() as f64;
        let gathered = workspace.gather(centre, relevant, reach);
        if gathered.above.0 > 0 {
            let limit = gathered.highest_u + reach;
            workspace.settle_above(&gathered, limit, centre, relevant, lambda, displacement);
        }
        let sign = if gathered.negated { -1.0 } else { 1.0 };
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
