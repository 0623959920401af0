//! The splitting of labels at their mean.
//!
//! The penalty of the proximal map is the Lovasz extension of the directed cut `S -> lambda |S & N| |P - S|`, so its
//! minimiser comes from splitting the labels at their mean: either no cut improves and the whole group sits at the mean,
//! or the best cut separates an upper from a lower group that no longer interact except through fully active pairs.
//!
//! A cut that takes the top `i` of the `k` labels of the smaller side takes those of the larger side that lie above
//! `t + lambda (k - i)`: evenly spaced thresholds, so one pass over the unsorted larger side counts and sums it by
//! threshold.

use super::lone::{self, Others};
use super::{HingeWorkspace, LANES, Large, Small};
use multiversion::multiversion;

/// A group of labels that still has to be split: ranges of the two sides, and what fully active pairs with other
/// groups have already added to each side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    u: (usize, usize),
    v: (usize, usize),
    u_shift: f64,
    v_shift: f64,
}

/// Splits the labels into groups until no cut of a group improves, and writes the displacements.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma"))]
pub(super) fn split(
    workspace: &mut HingeWorkspace,
    lambda: f64,
    sign: f64,
    displacement: &mut [f64],
) {
    let HingeWorkspace {
        u: all_u,
        v: all_v,
        groups,
        buckets,
        indices,
        lower,
        ..
    } = workspace;
    groups.clear();
    groups.push(Group {
        u: (0, all_u.len()),
        v: (0, all_v.len()),
        u_shift: 0.0,
        v_shift: 0.0,
    });
    while let Some(group) = groups.pop() {
        let u = &all_u[group.u.0..group.u.1];
        let v = &all_v.scores[group.v.0..group.v.1];
        let positions = &all_v.positions[group.v.0..group.v.1];
        let Some(t) = group.mean(u, v) else {
            group.stay(u, positions, sign, displacement);
            continue;
        };
        if let [u] = u
            && group.end_lone((u, t), (v, positions), lambda, sign, displacement)
        {
            continue;
        }
        let thresholds = Thresholds {
            t,
            inverse_lambda: 1.0 / lambda,
            labels: u.len() as f64,
        };
        let scale = thresholds.sort(v, group.v_shift, indices, (buckets, u.len() + 2));
        let Some((i, j)) = best_cut(u, v.len(), &group, (t, lambda, scale), buckets) else {
            for u in u {
                displacement[u.position as usize] = sign * (t - u.score);
            }
            for (&x, &position) in v.iter().zip(positions) {
                displacement[position as usize] = sign * (t - x);
            }
            continue;
        };
        partition(all_v, group.v, indices, i as u32, lower);
        groups.extend(group.cut(i, j, lambda));
    }
}

impl Group {
    /// The mean of a group's labels; `None` where they form no active pair.
    #[inline(always)]
    fn mean(&self, u: &[Small], v: &[f64]) -> Option<f64> {
        let lowest = u.last()?.score + self.u_shift;
        let (sum, highest) = sum_and_highest(v);
        if v.is_empty() || highest + self.v_shift <= lowest {
            return None;
        }
        let mut total = sum + u.iter().map(|u| u.score).sum::<f64>();
        total += self.u_shift * u.len() as f64 + self.v_shift * v.len() as f64;
        Some(total / (u.len() + v.len()) as f64)
    }

    /// Writes the displacements of labels that form no active pair with each other.
    #[inline(always)]
    fn stay(&self, u: &[Small], positions: &[u32], sign: f64, displacement: &mut [f64]) {
        for u in u {
            displacement[u.position as usize] = sign * self.u_shift;
        }
        for &position in positions {
            displacement[position as usize] = sign * self.v_shift;
        }
    }

    /// Writes the displacements of a group with one label of the smaller side and the mean `t`; `false`, and nothing
    /// written, when its equation is not solved.
    #[inline(always)]
    fn end_lone(
        &self,
        (u, t): (&Small, f64),
        (v, positions): (&[f64], &[u32]),
        lambda: f64,
        sign: f64,
        displacement: &mut [f64],
    ) -> bool {
        let others = Others {
            scores: v,
            sign: 1.0,
            shift: self.v_shift,
        };
        let Some(a) = lone::end(u.score + self.u_shift, t, others, lambda) else {
            return false;
        };
        let mut rise = 0.0;
        for (fall, &position) in others.falls(a, lambda).zip(positions) {
            displacement[position as usize] = sign * (self.v_shift - fall);
            rise += fall;
        }
        displacement[u.position as usize] = sign * (self.u_shift + rise);
        true
    }

    /// The upper group of the first `i` and `j` labels, and the lower one of the others; pairs between them are active.
    #[inline(always)]
    fn cut(self, i: usize, j: usize, lambda: f64) -> [Self; 2] {
        let (u, v) = (self.u.0 + i, self.v.0 + j);
        [
            Self {
                u: (self.u.0, u),
                v: (self.v.0, v),
                v_shift: self.v_shift - lambda * (self.u.1 - u) as f64,
                ..self
            },
            Self {
                u: (u, self.u.1),
                v: (v, self.v.1),
                u_shift: self.u_shift + lambda * j as f64,
                ..self
            },
        ]
    }
}

/// The sum and the highest of some numbers.
#[inline(always)]
fn sum_and_highest(numbers: &[f64]) -> (f64, f64) {
    let (mut sum, mut highest) = ([0.0; LANES], [f64::NEG_INFINITY; LANES]);
    let mut take = |lane: usize, x: f64| {
        sum[lane] += x;
        highest[lane] = if x > highest[lane] { x } else { highest[lane] };
    };
    let blocks = numbers.chunks_exact(LANES);
    for &x in blocks.remainder() {
        take(0, x);
    }
    for block in blocks {
        for (lane, &x) in block.iter().enumerate() {
            take(lane, x);
        }
    }
    let highest = highest.into_iter().fold(f64::NEG_INFINITY, f64::max);
    (sum.iter().sum(), highest)
}

/// The evenly spaced thresholds of a group: a cut of the top `i` labels of the smaller side takes the labels of the
/// larger side whose index is at most `i`.
#[derive(Clone, Copy, Debug)]
struct Thresholds {
    t: f64,
    inverse_lambda: f64,
    labels: f64,
}

impl Thresholds {
    /// The smallest `i` with `v > t + lambda (labels - i)`; `labels + 1` when there is none.
    #[inline(always)]
    fn index(&self, v: f64) -> u32 {
        let last = self.labels + 1.0;
        let above = (v - self.t) * self.inverse_lambda;
        let index = (last - above).clamp(0.0, last);
        (if above > 0.0 { index } else { last }) as u32
    }

    /// Finds the index of every `v + shift`, and counts and sums `t - v - shift` by index. Returns the sum of their sizes.
    #[inline(always)]
    fn sort(
        &self,
        v: &[f64],
        shift: f64,
        indices: &mut Vec<u32>,
        (buckets, count): (&mut Vec<(usize, f64)>, usize),
    ) -> f64 {
        indices.resize(v.len(), 0);
        for (index, x) in indices.iter_mut().zip(v) {
            *index = self.index(x + shift);
        }
        buckets.clear();
        buckets.resize(count, (0, 0.0));
        let mut scale = 0.0;
        for (&index, x) in indices.iter().zip(v) {
            let below = self.t - (x + shift);
            let bucket = &mut buckets[index as usize];
            bucket.0 += 1;
            bucket.1 += below;
            scale += below.abs();
        }
        scale
    }
}

/// The best cut of a group at its mean `t`: how many of the top `u` go up and how many of the `labels` of the larger side,
/// which `buckets` hold. `None` when no cut has a value below zero beyond rounding; `scale` is the sum of their sizes.
#[inline(always)]
fn best_cut(
    u: &[Small],
    labels: usize,
    group: &Group,
    (t, lambda, mut scale): (f64, f64, f64),
    buckets: &[(usize, f64)],
) -> Option<(usize, usize)> {
    for u in u {
        scale += (t - (u.score + group.u_shift)).abs();
    }
    let mut best_value = -4.0 * f64::EPSILON * scale;
    let mut best = None;
    let (mut j, mut sum) = (0, 0.0);
    for i in 0..=u.len() {
        if i > 0 {
            sum += t - (u[i - 1].score + group.u_shift);
        }
        j += buckets[i].0;
        sum += buckets[i].1;
        let below = (u.len() - i) as f64;
        let trivial = (i == 0 && j == 0) || (i == u.len() && j == labels);
        let value = lambda * (j as f64) * below + sum;
        if !trivial && value < best_value {
            best_value = value;
            best = Some((i, j));
        }
    }
    best
}

/// Moves the labels of a range whose index is at most `last` to its front; the order within both parts stays.
#[inline(always)]
fn partition(
    v: &mut Large,
    (start, end): (usize, usize),
    indices: &[u32],
    last: u32,
    lower: &mut Large,
) {
    lower.resize(end - start);
    let (mut front, mut back) = (start, 0);
    for (k, &index) in (start..end).zip(indices) {
        // Written to both parts: no branch to mispredict.
        let (score, position) = (v.scores[k], v.positions[k]);
        v.scores[front] = score;
        v.positions[front] = position;
        lower.scores[back] = score;
        lower.positions[back] = position;
        let upper = usize::from(index <= last);
        front += upper;
        back += 1 - upper;
    }
    v.scores[front..end].copy_from_slice(&lower.scores[..back]);
    v.positions[front..end].copy_from_slice(&lower.positions[..back]);
}
