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
//! are the values to which the pairs with the labels before and after it pull the next label. The regression pools adjacent
//! labels in ascending order at their mean.
//!
//! With equal weights, each side keeps its order. The higher one of the two next labels comes first: for any level `t` that
//! separates the minimiser's scores, the labels above `t` are taken before those below. An irrelevant label comes as early
//! as the highest mean of those from it on, as labels next to the `k`-th may share the penalty of one.
//!
//! With unequal weights, those above `t` have the lowest `(t - u_m) / w_m`. This order depends on the level, so all labels
//! are first divided at their mean, and then both parts in the same way, until no part changes.

use super::candidates::{Candidates, Irrelevant, Relevant};
use super::zero_label::prox_of_star;
use super::{Loss, Pairs};

/// The hinge loss `max(0, 1 - z)`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hinge;

/// Buffers of the hinge's proximal map.
#[derive(Clone, Debug, Default)]
pub struct HingeWorkspace {
    candidates: Candidates,
    groups: Vec<Group>,
    spreads: Vec<f64>,
}

/// Adjacent labels in the order: a range of either side.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    u: (usize, usize),
    v: (usize, usize),
    /// Sum of the scores, each with the pull of pairs with the labels before and after it.
    sum: f64,
    count: f64,
    /// Weight of the relevant labels below the group.
    below: f64,
}

/// The strength of the pairs, and the number of irrelevant labels that form pairs.
#[derive(Clone, Copy, Debug)]
struct Pull {
    lambda: f64,
    top: usize,
}

impl Pull {
    /// The pull on a relevant label of weight 1 below this many irrelevant ones.
    fn by(&self, above: usize) -> f64 {
        self.lambda * above.min(self.top) as f64
    }

    /// The score of the `j`-th irrelevant label, lowered by pairs with relevant labels of weight `below`.
    fn pushed(&self, v: &[Irrelevant], j: usize, below: f64) -> f64 {
        if j < self.top {
            v[j].0 - self.lambda * below
        } else {
            v[j].0
        }
    }

    /// Whether a relevant label with this score comes before the `j`-th irrelevant one, above relevant ones of weight
    /// `below`: no mean of the irrelevant labels from the `j`-th on is above it.
    fn comes_first(
        &self,
        score: f64,
        (v, spreads): (&[Irrelevant], &[f64]),
        j: usize,
        below: f64,
    ) -> bool {
        if j == v.len() {
            return true;
        }
        let distance = score - self.pushed(v, j, below);
        let above = distance >= 0.0;
        // No label with a penalty is above the first one.
        if !above || j >= self.top || self.top >= v.len() {
            return above;
        }
        // The total by which they are below the score, and by which those without a penalty are above it, computed without
        // differences of sums.
        let lacking = (self.top - j) as f64 * distance + spreads[j];
        let free = &v[self.top..];
        let count = free.partition_point(|&(v, _)| v > score);
        let Some(last) = count.checked_sub(1) else {
            return true;
        };
        count as f64 * (free[last].0 - score) + spreads[self.top + last] <= lacking
    }
}

/// For the irrelevant labels, in descending order: the total by which those from each one on that may have a penalty are
/// below it, and the total by which those without a penalty are above each one.
fn find_spreads(v: &[Irrelevant], top: usize, spreads: &mut Vec<f64>) {
    spreads.clear();
    spreads.resize(v.len(), 0.0);
    if top >= v.len() {
        return;
    }
    let step = |j: usize| v[j].0 - v[j + 1].0;
    for j in (0..top - 1).rev() {
        spreads[j] = spreads[j + 1] + (top - 1 - j) as f64 * step(j);
    }
    for j in top + 1..v.len() {
        spreads[j] = spreads[j - 1] + (j - top) as f64 * step(j - 1);
    }
}

impl Group {
    /// The union with the next group.
    fn and(self, next: &Self) -> Self {
        Self {
            u: (self.u.0, next.u.1),
            v: (self.v.0, next.v.1),
            sum: self.sum + next.sum,
            count: self.count + next.count,
            below: next.below,
        }
    }

    /// The contribution of pairs with labels of other groups to the sum of the scores.
    fn pulled(&self, u: &[Relevant], pull: Pull) -> f64 {
        let (above, end) = (pull.by(self.v.0), pull.by(self.v.1));
        let weight: f64 = u[self.u.0..self.u.1].iter().map(|u| u.weight).sum();
        weight * above - self.below * (end - above)
    }

    /// The mean score, including the pull of pairs with labels of other groups.
    fn level(&self, (u, v): (&[Relevant], &[Irrelevant]), pull: Pull) -> f64 {
        let relevant = u[self.u.0..self.u.1].iter().map(|u| u.score);
        let irrelevant = v[self.v.0..self.v.1].iter().map(|v| v.0);
        (relevant.chain(irrelevant).sum::<f64>() + self.pulled(u, pull)) / self.count
    }

    /// Appends the groups of its labels, in descending order: those of the minimiser if the weights are equal, otherwise
    /// those above its level and those below.
    fn divide(
        &self,
        (u, v): (&mut [Relevant], &[Irrelevant]),
        (pull, spreads): (Pull, &[f64]),
        equal: bool,
        groups: &mut Vec<Self>,
    ) {
        let level = if equal { 0.0 } else { self.level((u, v), pull) };
        let (u, v) = (&mut u[..self.u.1], &v[..self.v.1]);
        let own = &mut u[self.u.0..];
        for u in own.iter_mut() {
            u.order = (level - u.score) / u.weight;
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
        let above = |group: &Self| group.sum > level * group.count;
        let together = |x: &Self, y: &Self| {
            x.sum * y.count < y.sum * x.count || !equal && above(x) == above(y)
        };
        let (mut i, mut j) = (self.u.0, self.v.0);
        let mut rise = pull.by(j);
        while i < u.len() || j < v.len() {
            let mut next = Self {
                u: (i, i),
                v: (j, j),
                count: 1.0,
                below,
                ..Self::default()
            };
            let leads = |u: &&Relevant| {
                let score = u.score + u.weight * rise;
                pull.comes_first(score, (v, spreads), j, below)
            };
            if let Some(u) = u.get(i).filter(leads) {
                i += 1;
                below = u.below;
                (next.u.1, next.sum, next.below) = (i, u.score + u.weight * rise, below);
            } else {
                next.sum = pull.pushed(v, j, below);
                j += 1;
                next.v.1 = j;
                rise = pull.by(j);
            }
            while let Some(last) = groups[first..].last()
                && together(last, &next)
            {
                next = last.and(&next);
                groups.pop();
            }
            groups.push(next);
        }
    }

    /// Writes the displacements of its labels.
    fn displace(&self, (u, v): (&[Relevant], &[Irrelevant]), pull: Pull, displacement: &mut [f64]) {
        // The pull on a single label is exact.
        let alone = (self.count == 1.0).then(|| self.pulled(u, pull));
        let level = self.level((u, v), pull);
        let moved = |score: f64| alone.unwrap_or(level - score);
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
        let Self {
            candidates,
            groups,
            spreads,
        } = self;
        candidates.sort_irrelevant();
        let (u, v) = (&mut candidates.relevant, &candidates.irrelevant);
        let top = pairs.top;
        let pull = Pull { lambda, top };
        find_spreads(v, top, spreads);
        groups.clear();
        groups.push(Group {
            u: (0, u.len()),
            v: (0, v.len()),
            count: (u.len() + v.len()) as f64,
            ..Group::default()
        });
        while let Some(group) = groups.pop() {
            let first = groups.len();
            let equal = pairs.weights.is_empty() || group.u.1 - group.u.0 <= 1;
            group.divide((u, v), (pull, spreads), equal, groups);
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
        if pairs.top >= negative.len() && positive.len().min(negative.len()) == 1 {
            let only = if positive.len() == 1 {
                0
            } else {
                positive.len()
            };
            prox_of_star(only, centre, guess, displacement, pairs, lambda);
            return;
        }
        let lowest = |scores: &[f64]| scores.iter().copied().fold(f64::INFINITY, f64::min) - 1.0;
        // Irrelevant labels below all relevant ones do not move. If the guess was too high, some turn out to be above.
        let mut floor = lowest(&guess[..pairs.relevant]);
        loop {
            displacement.fill(0.0);
            workspace.candidates.find(centre, pairs, floor);
            workspace.displace(pairs, lambda, displacement);
            let moved = positive.iter().zip(&*displacement);
            let found = moved.fold(f64::INFINITY, |lowest, (c, d)| lowest.min(c + d)) - 1.0;
            if found >= floor || !negative.iter().any(|&v| found < v && v <= floor) {
                break;
            }
            floor = found;
        }
    }

    /// For the hinge, `D_i` is the sum of the pairs' dual variables, that is, the sum of `beta_im` over `P_i`.
    fn dual_value(&self, dual: &[f64], _scores: &[f64], pairs: Pairs<'_>, _weight: f64) -> f64 {
        dual[..pairs.relevant].iter().sum()
    }

    fn negative_slope(&self, margin: f64) -> f64 {
        if margin < 1.0 { 1.0 } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Integers of any size, for which the comparison is exact.
    #[test]
    fn a_relevant_label_leads_where_no_mean_of_the_irrelevant_ones_is_above_it() {
        let mut random = fastrand::Rng::with_seed(6);
        let (mut spreads, mut decided) = (Vec::new(), [0; 2]);
        for _ in 0..20_000 {
            let r = random.usize(1..12);
            let mut score = || {
                let bits = random.u8(1..44);
                random.i64(0..1 << bits)
            };
            let (push, of_relevant) = (score(), score());
            let mut v: Vec<i64> = (0..r).map(|_| score()).collect();
            v.sort_unstable_by(|x, y| y.cmp(x));
            let (top, j) = (random.usize(1..=r), random.usize(0..r));
            let excess = |n: usize| {
                let pushed = if n < top { v[n] - push } else { v[n] };
                i128::from(pushed - of_relevant)
            };
            let most = (j..r).scan(0, |sum, n| {
                *sum += excess(n);
                Some(*sum)
            });
            let expected = most.max().is_some_and(|most| most <= 0);
            let v: Vec<Irrelevant> = v.iter().map(|&v| (v as f64, 0)).collect();
            find_spreads(&v, top, &mut spreads);
            let pull = Pull {
                lambda: push as f64,
                top,
            };
            let found = pull.comes_first(of_relevant as f64, (&v, &spreads), j, 1.0);
            assert_eq!(found, expected, "{v:?} {push} {of_relevant} {top} {j}");
            decided[usize::from(found)] += 1;
        }
        assert!(decided.iter().all(|&count| count > 2000), "{decided:?}");
    }
}
