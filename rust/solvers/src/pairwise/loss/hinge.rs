//! The hinge loss `max(0, 1 - z)` of Rank-SVM (Xu 2013, eq. (18)): its proximal map merges the sorted labels and pools
//! adjacent violators.
//!
//! With `a_m = s_m - 1` for relevant and `b_n = s_n` for irrelevant labels, and the same of the centre giving `u` and
//! `v`, the proximal map is
//!
//! ```text
//! min 1/2 ||a - u||^2 + 1/2 ||b - v||^2 + lambda * sum_m w_m sum over the k highest b_n of max(0, b_n - a_m)
//! ```
//!
//! The sum is the Lovasz extension of `S -> w(P - S) min(k, |S & N|)`, which is submodular. Its value at `a` and `b` is
//! linear among scores of the same order, so once the order of the minimiser is known, the rest is isotonic regression. In
//! this order, after the relevant labels `I` and `j` irrelevant ones,
//!
//! ```text
//! u_m + lambda w_m min(k, j)    and    v_n - lambda w(P - I)   (v_n for j >= k)
//! ```
//!
//! are what pairs with the labels before and after it make of the next label. Regression pools adjacent labels that are in
//! ascending order at their mean.
//!
//! With equal weights, each side keeps its order. The higher one of the two next labels comes first: for any level
//! `t` that separates the minimiser's scores, the labels above `t` are taken before those below. An irrelevant label comes
//! as early as the highest mean of those from it on, as labels next to the `k`-th may share what one of them pays.
//!
//! With other weights, those above `t` have the lowest `(t - u_m) / w_m`. This order depends on the level, so all labels are
//! first divided at their mean, and then both parts in the same way, until no part changes.

use super::candidates::{Candidates, Irrelevant, Relevant};
use super::{Loss, Pairs};

/// The hinge loss `max(0, 1 - z)`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hinge;

/// Buffers of the hinge's proximal map.
#[derive(Clone, Debug, Default)]
pub struct HingeWorkspace {
    candidates: Candidates,
    groups: Vec<Group>,
}

/// Labels that are adjacent in the order: ranges of both sides.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    u: (usize, usize),
    v: (usize, usize),
    /// Of the scores.
    sum: f64,
    /// Weight of the relevant labels, and of those below the group.
    weight: f64,
    below: f64,
    /// The mean score, with what pairs with labels of other groups make of it.
    level: f64,
}

/// The strength of the pairs, and how many irrelevant labels form some.
#[derive(Clone, Copy, Debug)]
struct Pull {
    lambda: f64,
    top: usize,
}

impl Pull {
    /// On a relevant label of weight 1 below so many irrelevant ones.
    fn by(&self, above: usize) -> f64 {
        self.lambda * above.min(self.top) as f64
    }

    /// The highest mean of the irrelevant labels from the `j`-th on, above relevant ones of weight `below`.
    fn highest(&self, v: &[Irrelevant], j: usize, below: f64) -> f64 {
        if j >= self.top {
            return v[j].0;
        }
        let push = self.lambda * below;
        let mut highest = v[j].0 - push;
        if let Some((paying, free)) = v.split_at_checked(self.top) {
            let mut sum: f64 = paying[j..].iter().map(|(score, _)| score - push).sum();
            for (count, (score, _)) in (paying.len() - j + 1..).zip(free) {
                if *score <= highest {
                    break;
                }
                sum += score;
                highest = highest.max(sum / count as f64);
            }
        }
        highest
    }
}

impl Group {
    fn size(&self) -> usize {
        self.u.1 - self.u.0 + self.v.1 - self.v.0
    }

    /// What pairs with labels of other groups add to the sum of the scores.
    fn pulled(&self, pull: Pull) -> f64 {
        let (above, end) = (pull.by(self.v.0), pull.by(self.v.1));
        self.weight * above - self.below * (end - above)
    }

    fn at_level(mut self, pull: Pull) -> Self {
        self.level = (self.sum + self.pulled(pull)) / self.size() as f64;
        self
    }

    /// The group of this one's labels and the next one's.
    fn and(mut self, next: &Self) -> Self {
        (self.u.1, self.v.1, self.below) = (next.u.1, next.v.1, next.below);
        (self.sum, self.weight) = (self.sum + next.sum, self.weight + next.weight);
        self
    }

    /// Appends the groups of its labels, in descending order: those of the minimiser where the weights are equal, else those
    /// above its level and those below.
    fn divide(
        &self,
        (u, v): (&mut [Relevant], &[Irrelevant]),
        pull: Pull,
        equal: bool,
        groups: &mut Vec<Self>,
    ) {
        let (u, v) = (&mut u[..self.u.1], &v[..self.v.1]);
        let own = &mut u[self.u.0..];
        for u in own.iter_mut() {
            u.order = (self.level - u.score) / u.weight;
        }
        own.sort_unstable_by(|x, y| {
            let order = x.order.total_cmp(&y.order);
            order.then(x.position.cmp(&y.position))
        });
        let mut below = self.below;
        for u in own.iter_mut().rev() {
            u.below = below;
            below += u.weight;
        }
        let first = groups.len();
        let together = |x: &Self, y: &Self| {
            x.level < y.level || !equal && (x.level > self.level) == (y.level > self.level)
        };
        let (mut i, mut j) = (self.u.0, self.v.0);
        while i < u.len() || j < v.len() {
            let mut next = Self {
                u: (i, i),
                v: (j, j),
                below,
                ..Self::default()
            };
            let rises = |u: &Relevant| {
                let risen = u.score + u.weight * pull.by(j);
                j == v.len() || risen >= pull.highest(v, j, below)
            };
            if let Some(u) = u.get(i).filter(|u| rises(u)) {
                i += 1;
                below = u.below;
                (next.u.1, next.sum, next.weight, next.below) = (i, u.score, u.weight, below);
            } else {
                j += 1;
                (next.v.1, next.sum) = (j, v[j - 1].0);
            }
            next = next.at_level(pull);
            while let Some(last) = groups[first..].last()
                && together(last, &next)
            {
                next = last.and(&next).at_level(pull);
                groups.pop();
            }
            groups.push(next);
        }
    }

    /// Writes the displacements of its labels.
    fn displace(&self, (u, v): (&[Relevant], &[Irrelevant]), pull: Pull, displacement: &mut [f64]) {
        // What the pairs do to a label alone is exact.
        let alone = (self.size() == 1).then(|| self.pulled(pull));
        let moved = |score: f64| alone.unwrap_or(self.level - score);
        for u in &u[self.u.0..self.u.1] {
            displacement[u.position] = moved(u.score);
        }
        for &(score, position) in &v[self.v.0..self.v.1] {
            displacement[position] = moved(score);
        }
    }
}

impl HingeWorkspace {
    /// Writes the displacements of the candidates.
    fn displace(&mut self, pairs: Pairs<'_>, lambda: f64, displacement: &mut [f64]) {
        let Self { candidates, groups } = self;
        candidates.sort_irrelevant();
        let (u, v) = (&mut candidates.relevant, &candidates.irrelevant);
        let top = pairs.top;
        let pull = Pull { lambda, top };
        let scores = u.iter().map(|u| u.score).chain(v.iter().map(|v| v.0));
        let all = Group {
            u: (0, u.len()),
            v: (0, v.len()),
            sum: scores.sum(),
            weight: u.iter().map(|u| u.weight).sum(),
            ..Group::default()
        };
        groups.clear();
        groups.push(all.at_level(pull));
        while let Some(group) = groups.pop() {
            let first = groups.len();
            let equal = pairs.weights.is_empty() || group.u.1 - group.u.0 <= 1;
            group.divide((u, v), pull, equal, groups);
            if equal || groups.len() == first + 1 {
                for group in groups.drain(first..) {
                    group.displace((u, v), pull, displacement);
                }
            }
        }
    }
}

impl Loss for Hinge {
    type Workspace = HingeWorkspace;

    const BOX: bool = true;

    const WEIGHTS: bool = true;

    const TOP: bool = true;

    fn of_margin(&self, margin: f64) -> f64 {
        (1.0 - margin).max(0.0)
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
        let (positive, negative) = centre.split_at(pairs.relevant);
        let lowest = |scores: &[f64]| scores.iter().copied().fold(f64::INFINITY, f64::min) - 1.0;
        // Irrelevant labels below all relevant ones do not move. Where the guess was too high, some are found to be above.
        let mut floor = lowest(&guess[..pairs.relevant]);
        loop {
            displacement.fill(0.0);
            workspace.candidates.find(centre, pairs, floor);
            workspace.displace(pairs, lambda, displacement);
            let moved = positive.iter().zip(&*displacement);
            let found = moved.fold(f64::INFINITY, |lowest, (c, d)| lowest.min(c + d)) - 1.0;
            if !negative.iter().any(|&v| found < v && v <= floor) {
                break;
            }
            floor = found;
        }
    }

    /// For the hinge `D_i` is the sum of the pairs' dual variables, which is the sum of `beta_im` over `P_i`.
    fn dual_value(&self, dual: &[f64], _scores: &[f64], pairs: Pairs<'_>, _weight: f64) -> f64 {
        dual[..pairs.relevant].iter().sum()
    }

    fn negative_slope(&self, margin: f64) -> f64 {
        if margin < 1.0 { 1.0 } else { 0.0 }
    }
}
