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
//! The penalty is the Lovasz extension of the directed cut `S -> lambda |S & N| |P - S|`, so its minimiser comes from
//! splitting the labels at their mean: either no cut improves and the whole group sits at the mean, or the best cut
//! separates an upper from a lower group that no longer interact except through fully active pairs.
//!
//! Before that, most labels of the larger side are settled by bounds: a label of the smaller side rises by `lambda` for
//! each of its active pairs, which counting brackets, and a label of the larger side outside all brackets has no
//! pair in doubt. In text data with a hundred labels and more, that is nearly all of them.
//!
//! Only the smaller side is ever sorted. A cut that takes the top `i` of its `k` labels takes those of the larger side
//! that lie above `t + lambda (k - i)`: evenly spaced thresholds, so one pass over the unsorted larger side counts
//! and sums it by threshold. The roles are symmetric under `(a, b) -> (-b, -a)`.

use super::Loss;
use multiversion::multiversion;

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

/// The range in which a label of the smaller side must end.
#[derive(Clone, Copy, Debug)]
struct Bracket {
    lower: f64,
    upper: f64,
}

/// From this size on, bounds settle labels of the larger side before any splitting.
const BRACKETED_SIZE: usize = 32;

/// How often the brackets are tightened.
const BRACKET_ROUNDS: usize = 2;

/// A group of labels that still has to be split: ranges of the two sides, and what fully active pairs with other
/// groups have already added to each side.
#[derive(Clone, Copy, Debug)]
struct Group {
    u: (usize, usize),
    v: (usize, usize),
    u_shift: f64,
    v_shift: f64,
}

/// Buffers of the hinge's value and proximal map.
#[derive(Clone, Debug, Default)]
pub struct HingeWorkspace {
    /// The smaller side, in descending order. If that is the irrelevant one, both sides are negated.
    u: Vec<Small>,
    /// The larger side, in no order: shifted scores and positions.
    v: Vec<(f64, u32)>,
    /// Scores of the larger side alone, and how many lower and upper brackets each is above.
    scores: Vec<f64>,
    above_lower: Vec<u32>,
    above_upper: Vec<u32>,
    brackets: Vec<Bracket>,
    groups: Vec<Group>,
    /// Number and sum of `t - v` of the larger side between two thresholds.
    buckets: Vec<(usize, f64)>,
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
        self.u.clear();
        self.v.clear();
        let (mut lowest_u, mut highest_u) = (f64::INFINITY, f64::NEG_INFINITY);
        for &score in small {
            let u = sign * score - u_margin;
            lowest_u = u.min(lowest_u);
            highest_u = u.max(highest_u);
        }
        let limit = highest_u + reach;
        let mut highest_v = f64::NEG_INFINITY;
        let mut above = (0, 0.0);
        for (position, &score) in large.iter().enumerate() {
            let v = sign * score - v_margin;
            highest_v = v.max(highest_v);
            if v > limit {
                above.0 += 1;
                above.1 += v;
            } else if v > lowest_u {
                self.v.push((v, first_large + position as u32));
            }
        }
        for (position, &score) in small.iter().enumerate() {
            let u = sign * score - u_margin;
            if u < highest_v {
                let position = first_small + position as u32;
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

    fn sort(&mut self) {
        self.u.sort_unstable_by(|x, y| {
            y.score
                .total_cmp(&x.score)
                .then(x.position.cmp(&y.position))
        });
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
    /// can fall.
    fn bracket(&mut self, lambda: f64, fall: f64) {
        self.scores.clear();
        self.scores.extend(self.v.iter().map(|&(score, _)| score));
        let Self {
            u,
            scores,
            brackets,
            ..
        } = self;
        brackets.clear();
        brackets.extend(u.iter().map(|u| Bracket {
            lower: u.score,
            upper: f64::INFINITY,
        }));
        for _ in 0..BRACKET_ROUNDS {
            // The order of each side survives the proximal map, so bounds carry over to the neighbours.
            let mut tightest = f64::INFINITY;
            for (u, bracket) in u.iter().zip(brackets.iter_mut()) {
                let upper = u.score + lambda * count_above(scores, bracket.lower) as f64;
                tightest = upper.min(tightest);
                bracket.upper = tightest;
            }
            let mut tightest = f64::NEG_INFINITY;
            for (u, bracket) in u.iter().zip(brackets.iter_mut()).rev() {
                let lower = u.score + lambda * count_above(scores, bracket.upper + fall) as f64;
                tightest = lower.max(tightest);
                bracket.lower = tightest;
            }
        }
    }

    /// Settles the labels of the larger side that lie outside all brackets: writes their displacements, raises the
    /// smaller side by what they add, and keeps only the others.
    fn settle(&mut self, lambda: f64, sign: f64, displacement: &mut [f64]) {
        let fall = lambda * self.u.len() as f64;
        self.bracket(lambda, fall);
        let Self {
            u,
            scores,
            brackets,
            ..
        } = self;
        self.above_lower.clear();
        self.above_lower.resize(scores.len(), 0);
        self.above_upper.clear();
        self.above_upper.resize(scores.len(), 0);
        for (u, bracket) in u.iter_mut().zip(brackets.iter()) {
            add_above(scores, bracket.lower, &mut self.above_lower);
            let active = add_above(scores, bracket.upper + fall, &mut self.above_upper);
            u.raised += lambda * f64::from(active);
            u.score += lambda * f64::from(active);
        }
        let mut kept = 0;
        for k in 0..self.v.len() {
            let (score, position) = self.v[k];
            if self.above_lower[k] == self.above_upper[k] {
                displacement[position as usize] = -sign * lambda * f64::from(self.above_upper[k]);
            } else {
                // Its pairs are counted by the splitting.
                for (u, bracket) in u.iter_mut().zip(brackets.iter()) {
                    if score > bracket.upper + fall {
                        u.raised -= lambda;
                        u.score -= lambda;
                    }
                }
                self.v[kept] = (score, position);
                kept += 1;
            }
        }
        self.v.truncate(kept);
        self.sort();
    }

    /// Splits the labels into groups until no cut of a group improves, and writes the displacements.
    fn split(&mut self, lambda: f64, sign: f64, displacement: &mut [f64]) {
        let Self {
            u: all_u,
            v: all_v,
            groups,
            buckets,
            ..
        } = self;
        groups.clear();
        groups.push(Group {
            u: (0, all_u.len()),
            v: (0, all_v.len()),
            u_shift: 0.0,
            v_shift: 0.0,
        });
        while let Some(group) = groups.pop() {
            let u = &all_u[group.u.0..group.u.1];
            let v = &mut all_v[group.v.0..group.v.1];
            let Some(t) = group.mean(u, v) else {
                for u in u {
                    displacement[u.position as usize] = sign * (u.raised + group.u_shift);
                }
                for &(_, position) in v.iter() {
                    displacement[position as usize] = sign * group.v_shift;
                }
                continue;
            };
            let thresholds = Thresholds {
                t,
                inverse_lambda: 1.0 / lambda,
                labels: u.len() as f64,
            };
            let Some((i, j)) = best_cut(u, v, &group, thresholds, lambda, buckets) else {
                for u in u {
                    displacement[u.position as usize] = sign * (t - u.score + u.raised);
                }
                for &(x, position) in v.iter() {
                    displacement[position as usize] = sign * (t - x);
                }
                continue;
            };
            partition(v, |x| thresholds.index(x + group.v_shift) <= i);
            groups.extend(group.cut(i, j, lambda));
        }
    }
}

impl Group {
    /// The mean of a group's labels; `None` where they form no active pair.
    #[inline]
    fn mean(&self, u: &[Small], v: &[(f64, u32)]) -> Option<f64> {
        let (mut total, mut highest) = (0.0, f64::NEG_INFINITY);
        for &(x, _) in v {
            total += x;
            highest = x.max(highest);
        }
        let lowest = u.last().map_or(f64::INFINITY, |u| u.score + self.u_shift);
        if v.is_empty() || highest + self.v_shift <= lowest {
            return None;
        }
        total += u.iter().map(|u| u.score).sum::<f64>();
        total += self.u_shift * u.len() as f64 + self.v_shift * v.len() as f64;
        Some(total / (u.len() + v.len()) as f64)
    }

    /// The upper group of the first `i` and `j` labels, and the lower one of the others; pairs between them are active.
    #[inline]
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
    #[inline]
    fn index(&self, v: f64) -> usize {
        let above = (v - self.t) * self.inverse_lambda;
        let index = self.labels - above;
        if above > 0.0 {
            if index < 0.0 { 0 } else { index as usize + 1 }
        } else {
            self.labels as usize + 1
        }
    }
}

/// The best cut of a group at its mean `t`: how many of the top `u` go up and how many `v`. `None` when no cut has a
/// value below zero beyond rounding.
fn best_cut(
    u: &[Small],
    v: &[(f64, u32)],
    group: &Group,
    thresholds: Thresholds,
    lambda: f64,
    buckets: &mut Vec<(usize, f64)>,
) -> Option<(usize, usize)> {
    let t = thresholds.t;
    buckets.clear();
    buckets.resize(u.len() + 2, (0, 0.0));
    let mut scale = 0.0;
    for &(x, _) in v {
        let x = x + group.v_shift;
        let bucket = &mut buckets[thresholds.index(x)];
        bucket.0 += 1;
        bucket.1 += t - x;
        scale += (t - x).abs();
    }
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
        let trivial = (i == 0 && j == 0) || (i == u.len() && j == v.len());
        let value = lambda * (j as f64) * below + sum;
        if !trivial && value < best_value {
            best_value = value;
            best = Some((i, j));
        }
    }
    best
}

/// Moves the labels for which `upper` holds to the front.
fn partition(v: &mut [(f64, u32)], upper: impl Fn(f64) -> bool) {
    let mut front = 0;
    for k in 0..v.len() {
        if upper(v[k].0) {
            v.swap(front, k);
            front += 1;
        }
    }
}

/// Most Newton steps for a lone label; almost always it takes two or three.
const LONE_STEPS: usize = 30;

/// The proximal map of a label `u` alone on its side: `a = u + sum_n clip(v_n - a, 0, lambda)`, a piecewise linear
/// equation with an increasing difference of its sides, by Newton steps within a bracket. Once the sets of clipped and
/// of unclipped terms repeat, `a` is exact. Writes the displacement; `false`, and nothing written, when they never do.
fn one_against_all(centre: &[f64], relevant: usize, lambda: f64, displacement: &mut [f64]) -> bool {
    let last = centre.len() - 1;
    let (lone, sign, others) = if relevant == 1 {
        (0, 1.0, 1..centre.len())
    } else {
        (last, -1.0, 0..last)
    };
    // The margin of 1 stands on the side of the lone label.
    let u = sign * centre[lone] - 1.0;
    let v = &centre[others.clone()];
    let (mut lower, mut upper) = (u, u + lambda * v.len() as f64);
    let (mut a, mut sets) = (u, (usize::MAX, usize::MAX));
    for _ in 0..LONE_STEPS {
        let (mut inside, mut sum, mut above) = (0_usize, 0.0, 0_usize);
        for &score in v {
            let excess = sign * score - a;
            if excess > lambda {
                above += 1;
            } else if excess > 0.0 {
                inside += 1;
                sum += sign * score;
            }
        }
        let next = (u + sum + lambda * above as f64) / (1 + inside) as f64;
        if sets == (inside, above) {
            let mut rise = 0.0;
            for (displacement, &score) in displacement[others].iter_mut().zip(v) {
                let fall = (sign * score - next).clamp(0.0, lambda);
                *displacement = -sign * fall;
                rise += fall;
            }
            displacement[lone] = sign * rise;
            return true;
        }
        if next > a {
            lower = a;
        } else {
            upper = a;
        }
        // The sets that a bisection repeats are not those at `next`.
        (a, sets) = if next >= lower && next <= upper {
            (next, (inside, above))
        } else {
            (0.5 * (lower + upper), (usize::MAX, usize::MAX))
        };
    }
    false
}

impl Loss for Hinge {
    type Workspace = HingeWorkspace;

    const BOX: bool = true;

    fn value(&self, scores: &[f64], relevant: usize, workspace: &mut HingeWorkspace) -> f64 {
        let Gathered { above, .. } = workspace.gather(scores, relevant, 0.0);
        let HingeWorkspace { u, v, buckets, .. } = workspace;
        // Number and sum of the u from the k-th one down.
        buckets.clear();
        buckets.resize(u.len() + 1, (0, 0.0));
        for k in (0..u.len()).rev() {
            buckets[k] = (buckets[k + 1].0 + 1, buckets[k + 1].1 + u[k].score);
        }
        let (count, sum) = buckets[0];
        let mut total = above.1 * count as f64 - sum * above.0 as f64;
        for &(x, _) in v.iter() {
            let (count, sum) = buckets[u.partition_point(|u| u.score >= x)];
            total += x * count as f64 - sum;
        }
        total.max(0.0)
    }

    fn prox(
        &self,
        centre: &[f64],
        _guess: &[f64],
        displacement: &mut [f64],
        relevant: usize,
        lambda: f64,
        workspace: &mut HingeWorkspace,
    ) {
        displacement.fill(0.0);
        let smaller = relevant.min(centre.len() - relevant);
        if smaller == 1 && one_against_all(centre, relevant, lambda, displacement) {
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
        if workspace.v.len() >= BRACKETED_SIZE {
            workspace.settle(lambda, sign, displacement);
        }
        workspace.split(lambda, sign, displacement);
    }

    /// For the hinge `D_i` is the sum of the pairs' dual variables, which is the sum of `beta_im` over `P_i`.
    fn dual_value(
        &self,
        dual: &[f64],
        _scores: &[f64],
        relevant: usize,
        _weight: f64,
        _workspace: &mut HingeWorkspace,
    ) -> f64 {
        dual[..relevant].iter().sum()
    }

    fn negative_slope(&self, margin: f64) -> f64 {
        if margin < 1.0 { 1.0 } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::vector::dot;
    use crate::pairwise::bias::in_box;

    /// A random block: few distinct values (ties) half of the time, one label on a side often.
    fn block(random: &mut fastrand::Rng) -> (Vec<f64>, usize, f64) {
        let p = if random.bool() { 1 } else { random.usize(1..7) };
        let r = if random.u8(..) < 60 {
            1
        } else {
            random.usize(1..9)
        };
        let spread = [0.5, 2.0, 10.0][random.usize(0..3)];
        let ties = random.bool();
        let scores = (0..p + r)
            .map(|_| {
                let x = spread * (random.f64() - 0.5);
                if ties { (2.0 * x).round() / 2.0 } else { x }
            })
            .collect();
        (scores, p, 10.0_f64.powf(-3.0 + 4.0 * random.f64()))
    }

    fn displacement_of(
        centre: &[f64],
        p: usize,
        lambda: f64,
        workspace: &mut HingeWorkspace,
    ) -> Vec<f64> {
        let mut displacement = vec![f64::NAN; centre.len()];
        Hinge.prox(centre, centre, &mut displacement, p, lambda, workspace);
        displacement
    }

    fn brute_force_value(scores: &[f64], p: usize) -> f64 {
        let (relevant, irrelevant) = scores.split_at(p);
        let pair = |m: &f64, n: &f64| (1.0 - m + n).max(0.0);
        relevant
            .iter()
            .map(|m| irrelevant.iter().map(|n| pair(m, n)).sum::<f64>())
            .sum()
    }

    /// The same proximal map by coordinate descent over the pairs' dual variables, to convergence.
    fn coordinate_descent(centre: &[f64], p: usize, lambda: f64) -> Vec<f64> {
        let r = centre.len() - p;
        let mut alpha = vec![0.0; p * r];
        let mut s = centre.to_vec();
        for _ in 0..100_000 {
            let mut moved: f64 = 0.0;
            for m in 0..p {
                for n in 0..r {
                    let old: f64 = alpha[m * r + n];
                    let new = (old - (s[m] - s[p + n] - 1.0) / 2.0).clamp(0.0, lambda);
                    s[m] += new - old;
                    s[p + n] -= new - old;
                    alpha[m * r + n] = new;
                    moved = moved.max((new - old).abs());
                }
            }
            if moved < 1e-15 {
                break;
            }
        }
        s.iter().zip(centre).map(|(s, c)| s - c).collect()
    }

    #[test]
    fn value_is_the_sum_over_pairs() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut workspace = HingeWorkspace::default();
        for _ in 0..5000 {
            let (scores, p, _) = block(&mut random);
            let expected = brute_force_value(&scores, p);
            assert!(
                (Hinge.value(&scores, p, &mut workspace) - expected).abs()
                    < 1e-12 * (1.0 + expected)
            );
        }
    }

    #[test]
    fn prox_agrees_with_coordinate_descent_over_pairs() {
        let mut random = fastrand::Rng::with_seed(4);
        let mut workspace = HingeWorkspace::default();
        for _ in 0..3000 {
            let (centre, p, lambda) = block(&mut random);
            let displacement = displacement_of(&centre, p, lambda, &mut workspace);
            let expected = coordinate_descent(&centre, p, lambda);
            for (x, y) in displacement.iter().zip(&expected) {
                assert!(
                    (x - y).abs() < 1e-10,
                    "{centre:?} {p} {lambda}: {displacement:?} {expected:?}"
                );
            }
        }
    }

    /// Sides of 40 and more: here labels are settled by brackets first.
    #[test]
    fn large_blocks_agree_with_coordinate_descent_over_pairs() {
        let mut random = fastrand::Rng::with_seed(6);
        let mut workspace = HingeWorkspace::default();
        for round in 0..300 {
            let (p, r) = (random.usize(1..6), random.usize(40..90));
            let (p, r) = if round % 2 == 0 { (p, r) } else { (r, p) };
            let ties = random.bool();
            let centre: Vec<f64> = (0..p + r)
                .map(|_| {
                    let x = 4.0 * random.f64();
                    if ties { (4.0 * x).round() / 4.0 } else { x }
                })
                .collect();
            let lambda = 10.0_f64.powf(-4.0 + 3.0 * random.f64());
            let displacement = displacement_of(&centre, p, lambda, &mut workspace);
            let expected = coordinate_descent(&centre, p, lambda);
            for (x, y) in displacement.iter().zip(&expected) {
                assert!((x - y).abs() < 1e-9, "{p} {r} {lambda}: {x} {y}");
            }
        }
    }

    /// Blocks of hundreds of labels, the smaller side often a single one: the displacement lies in the box of the pairs'
    /// dual variables, and its dual objective is the primal objective.
    #[test]
    fn large_blocks_have_no_duality_gap() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut workspace = HingeWorkspace::default();
        for round in 0..20_000 {
            let small = if round % 4 < 3 { 1 } else { random.usize(2..9) };
            let large = random.usize(small..400);
            let p = if random.bool() { small } else { large };
            let spread = 10.0_f64.powf(2.0 * random.f64() - 1.0);
            let lambda = 10.0_f64.powf(4.0 * random.f64() - 3.0);
            let tail = [1, 3][random.usize(0..2)];
            let centre: Vec<f64> = (0..small + large)
                .map(|_| spread * (2.0 * random.f64() - 1.0).powi(tail))
                .collect();
            let mut displacement = displacement_of(&centre, p, lambda, &mut workspace);
            let moved: Vec<f64> = centre
                .iter()
                .zip(&displacement)
                .map(|(c, d)| c + d)
                .collect();
            let square = dot(&displacement, &displacement);
            let loss = lambda * Hinge.value(&moved, p, &mut workspace);
            let linear = displacement[..p].iter().sum::<f64>() - dot(&displacement, &centre);
            let gap = square + loss - linear;
            let scale = square + loss + lambda * (small * large) as f64 * spread;
            assert!(
                gap.abs() <= 1e-12 * scale,
                "{small} {large} {lambda}: {gap}"
            );
            assert!(in_box(&mut displacement, p, lambda));
        }
    }

    #[test]
    fn extreme_lambda_and_offsets() {
        let mut random = fastrand::Rng::with_seed(5);
        let mut workspace = HingeWorkspace::default();
        for _ in 0..2000 {
            let (centre, p, _) = block(&mut random);
            let mut displacement = vec![0.0; centre.len()];
            // So small that every pair stays as it is: each violated pair counts lambda.
            Hinge.prox(
                &centre,
                &centre,
                &mut displacement,
                p,
                1e-13,
                &mut workspace,
            );
            for m in 0..p {
                let active = centre[p..].iter().filter(|&&n| n > centre[m] - 1.0).count();
                let ties = centre[p..]
                    .iter()
                    .filter(|&&n| (n - centre[m] + 1.0).abs() < 1e-9)
                    .count();
                let slack = 1e-13 * (ties as f64 + 1e-3);
                assert!(
                    (displacement[m] - 1e-13 * active as f64).abs() <= slack,
                    "{centre:?} {p}"
                );
            }
            // So large that no pair may be violated afterwards.
            Hinge.prox(&centre, &centre, &mut displacement, p, 1e12, &mut workspace);
            let moved: Vec<f64> = centre
                .iter()
                .zip(&displacement)
                .map(|(c, d)| c + d)
                .collect();
            assert!(brute_force_value(&moved, p) < 1e-10);
            // A large common offset changes nothing but rounding.
            let lifted: Vec<f64> = centre.iter().map(|c| c + 1e6).collect();
            let mut other = vec![0.0; centre.len()];
            Hinge.prox(&lifted, &lifted, &mut other, p, 1e12, &mut workspace);
            for (x, y) in displacement.iter().zip(&other) {
                assert!((x - y).abs() < 1e-8);
            }
        }
    }
}
