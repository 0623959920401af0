//! The hinge with weights of the relevant labels and pairs with the highest irrelevant labels alone.
//!
//! The penalty of the proximal map,
//!
//! ```text
//! lambda * sum_m w_m sum over the k highest b_n of max(0, b_n - a_m),
//! ```
//!
//! is the Lovasz extension of `S -> lambda w(P - S) min(k, |S & N|)`, which is submodular, so its minimiser comes from
//! splitting groups of labels at a level, as that of the plain hinge does ([`super::split`]). A group holds what is left
//! of it once `j` irrelevant labels have been cut off above, and relevant ones of the weight `w_0` below: with
//! `h = min(k, j)`, the relevant labels of the group are raised by `lambda w_m h`, and a cut costs
//!
//! ```text
//! lambda (w_0 + w(P_g - S)) min(k - h, |S & N_g|)
//! ```
//!
//! At the level `t` where the whole group costs as much as none of it, the best cut takes for some `j` the highest `j`
//! irrelevant labels, and a relevant label `m` if `(t - u_m) / w_m < lambda min(k - h, j)`. Where no cut costs less than
//! 0, the group is tied at `t`. Irrelevant labels alone, of which all or the highest are pushed down, are pooled at the
//! boundary.

use super::super::Pairs;
use super::super::candidates::{Candidates, Relevant};

/// A group of labels that still has to be split: ranges of both sides.
#[derive(Clone, Copy, Debug)]
struct Group {
    u: (usize, usize),
    v: (usize, usize),
    /// Irrelevant labels above the group that each of its relevant labels forms active pairs with.
    above: usize,
    /// Weight of the relevant labels below the group.
    below: f64,
    /// How many more of the highest irrelevant labels form pairs.
    room: usize,
}

/// The best cut of a group: how many relevant labels, in order, and how many irrelevant ones go up.
type Cut = (usize, usize);

/// A relevant label of a group, and `(t - u) / w` with the level of the group that is being cut.
#[derive(Clone, Copy, Debug)]
struct Ordered {
    label: Relevant,
    order: f64,
}

/// Buffers.
#[derive(Clone, Debug, Default)]
pub(super) struct Workspace {
    candidates: Candidates,
    u: Vec<Ordered>,
    groups: Vec<Group>,
    /// Weights, and in the value also weighted sums, of the first relevant labels, or of the last ones.
    sums: Vec<(f64, f64)>,
}

impl Workspace {
    /// The weighted sum over the pairs.
    pub fn value(&mut self, scores: &[f64], pairs: Pairs<'_>) -> f64 {
        self.candidates.find_pairs(scores, pairs, false);
        let Self {
            candidates, sums, ..
        } = self;
        let u = &candidates.relevant;
        sums.clear();
        sums.push((0.0, 0.0));
        let (mut weight, mut sum) = (0.0, 0.0);
        for u in u {
            weight += u.weight;
            sum += u.weight * u.score;
            sums.push((weight, sum));
        }
        let of_label = |&(y, _): &(f64, usize)| {
            let (weight, sum) = sums[u.partition_point(|u| u.score < y)];
            y * weight - sum
        };
        let total: f64 = candidates.irrelevant.iter().map(of_label).sum();
        total.max(0.0)
    }

    /// The proximal map; writes the displacements, which are 0 so far.
    pub fn prox(
        &mut self,
        centre: &[f64],
        pairs: Pairs<'_>,
        lambda: f64,
        displacement: &mut [f64],
    ) {
        self.candidates.find(centre, pairs, false);
        self.candidates.sort_irrelevant();
        self.u.clear();
        let relevant = self.candidates.relevant.iter();
        self.u
            .extend(relevant.map(|&label| Ordered { label, order: 0.0 }));
        self.groups.clear();
        self.groups.push(Group {
            u: (0, self.u.len()),
            v: (0, self.candidates.irrelevant.len()),
            above: 0,
            below: 0.0,
            room: pairs.top,
        });
        while let Some(group) = self.groups.pop() {
            let u = &mut self.u[group.u.0..group.u.1];
            let v = &self.candidates.irrelevant[group.v.0..group.v.1];
            let Some(t) = group.level(u, v, lambda) else {
                group.part(u, v, lambda, displacement);
                continue;
            };
            match group.best_cut(u, v, (t, lambda), &mut self.sums) {
                Some(cut) => self.groups.extend(group.cut(cut, self.sums[cut.0].0)),
                None => {
                    for u in u {
                        displacement[u.label.position] = t - u.label.score;
                    }
                    for &(score, position) in v {
                        displacement[position] = t - score;
                    }
                }
            }
        }
    }
}

impl Group {
    /// The score of a relevant label, raised by its active pairs with the labels above.
    fn raised(&self, u: &Ordered, lambda: f64) -> f64 {
        u.label.score + lambda * u.label.weight * self.above as f64
    }

    /// The level at which the whole group costs as much as none of it; `None` where it has no active pair inside.
    fn level(&self, u: &[Ordered], v: &[(f64, usize)], lambda: f64) -> Option<f64> {
        let &(highest, _) = v.first().filter(|_| self.room > 0)?;
        let (mut sum, mut lowest) = (0.0, f64::INFINITY);
        for u in u {
            let score = self.raised(u, lambda);
            sum += score;
            lowest = score.min(lowest);
        }
        if u.is_empty() || highest <= lowest {
            return None;
        }
        sum += v.iter().map(|(score, _)| score).sum::<f64>();
        sum -= lambda * self.below * self.room.min(v.len()) as f64;
        Some(sum / (u.len() + v.len()) as f64)
    }

    /// Writes the displacements of labels that form no active pair with each other.
    fn part(&self, u: &[Ordered], v: &[(f64, usize)], lambda: f64, displacement: &mut [f64]) {
        for u in u {
            displacement[u.label.position] = lambda * u.label.weight * self.above as f64;
        }
        let fall = lambda * self.below;
        let falling = self.room.min(v.len());
        for &(_, position) in &v[..falling] {
            displacement[position] = -fall;
        }
        if falling == 0 || falling == v.len() || v[falling - 1].0 - fall >= v[falling].0 {
            return;
        }
        // The last ones that fall and the first ones that do not meet: they are pooled at their mean.
        let (mut start, mut end) = (falling, falling);
        let mut sum = 0.0;
        let mut mean = f64::NAN;
        loop {
            let size = end - start;
            if start > 0 && (start == falling || v[start - 1].0 - fall < mean) {
                start -= 1;
                sum += v[start].0 - fall;
            } else if end < v.len() && (end == falling || v[end].0 > mean) {
                sum += v[end].0;
                end += 1;
            }
            if end - start == size {
                break;
            }
            mean = sum / (end - start) as f64;
        }
        for &(score, position) in &v[start..end] {
            displacement[position] = mean - score;
        }
    }

    /// The best cut at the level `t`, and the relevant labels in its order, with the weights of those from each on in
    /// `sums`; `None` when no cut costs less than 0, beyond rounding.
    fn best_cut(
        &self,
        u: &mut [Ordered],
        v: &[(f64, usize)],
        (t, lambda): (f64, f64),
        sums: &mut Vec<(f64, f64)>,
    ) -> Option<Cut> {
        let mut scale = 0.0;
        for u in u.iter_mut() {
            let below = t - self.raised(u, lambda);
            u.order = below / u.label.weight;
            scale += below.abs();
        }
        u.sort_unstable_by(|x, y| {
            x.order
                .total_cmp(&y.order)
                .then(x.label.position.cmp(&y.label.position))
        });
        sums.clear();
        sums.resize(u.len() + 1, (0.0, 0.0));
        for k in (0..u.len()).rev() {
            sums[k].0 = sums[k + 1].0 + u[k].label.weight;
        }
        scale += v.iter().map(|(score, _)| (t - score).abs()).sum::<f64>();
        let mut best_cost = -4.0 * f64::EPSILON * scale;
        let mut best = None;
        let (mut i, mut sum) = (0, 0.0);
        for j in 0..=v.len() {
            if j > 0 {
                sum += t - v[j - 1].0;
            }
            let partners = lambda * self.room.min(j) as f64;
            while i < u.len() && u[i].order < partners {
                sum += t - self.raised(&u[i], lambda);
                i += 1;
            }
            let trivial = (i == 0 && j == 0) || (i == u.len() && j == v.len());
            let cost = partners * (self.below + sums[i].0) + sum;
            if !trivial && cost < best_cost {
                best_cost = cost;
                best = Some((i, j));
            }
        }
        best
    }

    /// The upper group of the first `i` and `j` labels, and the lower one of the others, which have the weight `lower`.
    fn cut(self, (i, j): Cut, lower: f64) -> [Self; 2] {
        let (u, v) = (self.u.0 + i, self.v.0 + j);
        let partners = self.room.min(j);
        [
            Self {
                u: (self.u.0, u),
                v: (self.v.0, v),
                below: self.below + lower,
                ..self
            },
            Self {
                u: (u, self.u.1),
                v: (v, self.v.1),
                above: self.above + partners,
                room: self.room - partners,
                ..self
            },
        ]
    }
}
