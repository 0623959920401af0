//! Sequential minimal optimisation for one label: the sub-problem of MLRL (Appendix A of the paper).
//!
//! ```text
//! min over z   c/2 z^T K z - p^T z,    sum z = 0,    z_i in [0, C_i] where y_i = 1, in [-C_i, 0] where y_i = -1
//! ```
//!
//! This is problem (34) restricted to the column `z = alpha . y` of one label: `C_i = 1/n`, `c` is the factor of its own
//! kernel, and `p` is `y` minus the scores that do not depend on `z`. Its gradient is the paper's `f = c K z - p`. With
//! `A = {z_i can grow}` and `B = {z_i can shrink}`, `F_up = min over A of f` and `F_low = max over B of f`, the optimum is
//! where `F_low <= F_up`; the loop stops at `F_low <= F_up + tolerance`.
//!
//! Deviation: a step costs O(n), since only the gradient of its own label is kept current (update (36) is applied to that
//! label only).

use crate::kernel::rows::{KernelRows, Precision};
use crate::linalg::vector::{by_lanes, prefetch};
use multiversion::multiversion;

/// Replaces a curvature that is not positive: tau of (33).
const SMALLEST_CURVATURE: f64 = 1e-12;
/// Partial results that the loops over instances keep in parallel, for the vector units.
const LANES: usize = 8;
/// A row is not in the cache, and too short for the processor to prefetch by itself: it is prefetched this many blocks
/// ahead.
const AHEAD: usize = 64;

/// The problem of one label; see the head of this file.
#[derive(Clone, Copy, Debug)]
pub struct LabelProblem<'a> {
    /// Kernel matrix `K`.
    pub kernel: &'a KernelRows<'a>,
    /// `y_i`, 1 or -1.
    pub signs: &'a [f64],
    /// `C_i`, the largest `|z_i|`.
    pub bounds: &'a [f64],
    /// `c`, the factor of the kernel.
    pub scale: f64,
}

/// When a label's loop stops.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// `F_low <= F_up + tolerance` is accepted.
    pub tolerance: f64,
    /// Largest number of steps.
    pub steps: usize,
}

/// Solves one label from the feasible start `dual`, whose gradient `c K z - p` is in `gradient`. Both are updated to the
/// point reached. Returns the number of steps and the violation `F_low - F_up` if that is positive, at most the tolerance at
/// an accepted point. The kernel rows of the precision `T` are taken as the kernel.
pub fn solve_label<T: Precision>(
    problem: &LabelProblem<'_>,
    dual: &mut [f64],
    gradient: &mut [f64],
    limits: Limits,
) -> (usize, f64) {
    let (kernel, scale) = (problem.kernel, problem.scale);
    let diagonal: Vec<T> = kernel.diagonal().iter().map(|&k| T::nearest(k)).collect();
    let smallest = T::nearest(SMALLEST_CURVATURE / scale);
    let bounds = |i: usize| bounds(problem.signs[i], problem.bounds[i]);
    let within = |inside: bool, otherwise: f64| T::nearest(if inside { 0.0 } else { otherwise });
    let boxes = problem.signs.iter().zip(problem.bounds);
    let places = dual
        .iter()
        .zip(boxes.map(|(&sign, &bound)| self::bounds(sign, bound)));
    // 0 if a variable can grow, or shrink, otherwise a number that keeps it from being chosen.
    let can_grow = |(z, (_, upper)): (&f64, (f64, f64))| within(*z < upper, f64::INFINITY);
    let can_shrink = |(z, (lower, _)): (&f64, (f64, f64))| within(*z > lower, f64::NEG_INFINITY);
    let mut grows: Vec<T> = places.clone().map(can_grow).collect();
    let mut shrinks: Vec<T> = places.map(can_shrink).collect();
    let mut steps = 0;
    // The scan after a step of length 0.
    let mut first = advance(gradient, &diagonal, &diagonal, 0.0, &shrinks);
    loop {
        let (mut violation, mut pair) = (0.0, None);
        if let Some(j) = first.index {
            let row = T::row(kernel, j);
            let first = (first.value, diagonal[j], smallest);
            let scan = best_partner(gradient, &grows, &diagonal, &row, first);
            (violation, pair) = (scan.0.into(), scan.1.map(|k| (j, row, k)));
        }
        let pair = pair.filter(|_| violation > limits.tolerance && steps < limits.steps);
        let Some((j, row_j, k)) = pair else {
            if steps > 0 {
                repair(problem, dual);
            }
            return (steps, violation);
        };
        let row_k = T::row(kernel, k);
        // The pair moves by (35) or (37). A variable that reaches its bound is set to it: the sets A and B compare exactly.
        let (lower, upper) = (bounds(j).0, bounds(k).1);
        let curvature = scale * (diagonal[j].into() + diagonal[k].into() - 2.0 * row_j[k].into());
        let wanted = (gradient[j] - gradient[k]) / curvature.max(SMALLEST_CURVATURE);
        let (room_j, room_k) = (dual[j] - lower, upper - dual[k]);
        let step = wanted.min(room_j).min(room_k);
        dual[j] = if step == room_j {
            lower
        } else {
            dual[j] - step
        };
        dual[k] = if step == room_k {
            upper
        } else {
            dual[k] + step
        };
        (grows[j], shrinks[k]) = (T::default(), T::default());
        shrinks[j] = within(dual[j] > lower, f64::NEG_INFINITY);
        grows[k] = within(dual[k] < upper, f64::INFINITY);
        first = advance(gradient, &row_j, &row_k, scale * step, &shrinks);
        steps += 1;
    }
}

/// `[0, C]` or `[-C, 0]`.
fn bounds(sign: f64, bound: f64) -> (f64, f64) {
    if sign > 0.0 {
        (0.0, bound)
    } else {
        (-bound, 0.0)
    }
}

/// Removes the rounding errors of many steps from `sum z`, at the variable with most room on either side.
fn repair(problem: &LabelProblem<'_>, dual: &mut [f64]) {
    let mut excess = total(dual);
    if excess == 0.0 {
        return;
    }
    let (mut i, mut most) = (0, 0.0);
    let boxes = problem.signs.iter().zip(problem.bounds);
    for (k, (&z, (&sign, &bound))) in dual.iter().zip(boxes).enumerate() {
        let (lower, upper) = bounds(sign, bound);
        let room = (z - lower).min(upper - z);
        if room > most {
            (i, most) = (k, room);
        }
    }
    let (lower, upper) = bounds(problem.signs[i], problem.bounds[i]);
    for _ in 0..4 {
        dual[i] = (dual[i] - excess).clamp(lower, upper);
        excess = total(dual);
        if excess == 0.0 {
            return;
        }
    }
}

/// The sum, in lanes that vectorise.
fn total(numbers: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    by_lanes(numbers, |lane, number| sums[lane] += number);
    sums.iter().sum()
}

/// The largest of some numbers and its place.
#[derive(Clone, Copy, Debug)]
struct Largest<T> {
    value: T,
    index: Option<usize>,
}

/// The largest of the lanes' values, the first one on ties; nothing if all are `none`.
#[inline(never)]
fn merge<T: Precision>(values: &[T; LANES], blocks: &[u32; LANES], none: T) -> Largest<T> {
    let larger = |a: T, b: T| if b > a { b } else { a };
    let value = values.iter().copied().fold(none, larger);
    let mut first = usize::MAX;
    for lane in 0..LANES {
        let index = blocks[lane] as usize * LANES + lane;
        let candidate = if values[lane] == value {
            index
        } else {
            usize::MAX
        };
        first = first.min(candidate);
    }
    Largest {
        value,
        index: (value > none).then_some(first),
    }
}

/// `F_low - F_up` if that is positive, and the instance that, paired with `j`, gives the largest decrease (31), up to a
/// factor. `first` is `(f_j, K_jj, the smallest curvature)`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma"))]
fn best_partner<T: Precision>(
    gradient: &[f64],
    penalties: &[T],
    diagonal: &[T],
    row: &[T],
    first: (f64, T, T),
) -> (T, Option<usize>) {
    let (f_j, k_jj, smallest) = first;
    let zero = T::default();
    let promise = |f_t: f64, penalty: T, k_tt: T, k_jt: T| {
        let slope = T::nearest(f_j - f_t) - penalty;
        let slope = if slope > zero { slope } else { zero };
        let curvature = k_jj + k_tt - (k_jt + k_jt);
        let curvature = if curvature > smallest {
            curvature
        } else {
            smallest
        };
        (slope, slope * slope / curvature)
    };
    let (mut values, mut blocks) = ([zero; LANES], [0_u32; LANES]);
    let mut steepest = [zero; LANES];
    let whole = gradient.len() / LANES;
    for (block, (((f, penalty), k_tt), k_jt)) in gradient
        .chunks_exact(LANES)
        .zip(penalties.chunks_exact(LANES))
        .zip(diagonal.chunks_exact(LANES))
        .zip(row.chunks_exact(LANES))
        .enumerate()
    {
        prefetch(row, (block + AHEAD) * LANES);
        for lane in 0..LANES {
            let (slope, decrease) = promise(f[lane], penalty[lane], k_tt[lane], k_jt[lane]);
            steepest[lane] = if slope > steepest[lane] {
                slope
            } else {
                steepest[lane]
            };
            let better = decrease > values[lane];
            values[lane] = if better { decrease } else { values[lane] };
            blocks[lane] = if better { block as u32 } else { blocks[lane] };
        }
    }
    let mut best = merge(&values, &blocks, zero);
    let steeper = |a: T, b: T| if b > a { b } else { a };
    let mut violation = steepest.iter().copied().fold(zero, steeper);
    for t in whole * LANES..gradient.len() {
        let (slope, decrease) = promise(gradient[t], penalties[t], diagonal[t], row[t]);
        violation = steeper(violation, slope);
        if decrease > best.value {
            best = Largest {
                value: decrease,
                index: Some(t),
            };
        }
    }
    (violation, best.index)
}

/// `f += amount (K_k - K_j)`, and the largest `f_i + penalty_i` afterwards, the first one on ties.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma"))]
fn advance<T: Precision>(
    gradient: &mut [f64],
    row_j: &[T],
    row_k: &[T],
    amount: f64,
    penalties: &[T],
) -> Largest<f64> {
    let (mut values, mut blocks) = ([f64::NEG_INFINITY; LANES], [0_u32; LANES]);
    let whole = gradient.len() / LANES;
    for (block, (((f, k_j), k_k), penalty)) in gradient
        .chunks_exact_mut(LANES)
        .zip(row_j.chunks_exact(LANES))
        .zip(row_k.chunks_exact(LANES))
        .zip(penalties.chunks_exact(LANES))
        .enumerate()
    {
        prefetch(row_k, (block + AHEAD) * LANES);
        for lane in 0..LANES {
            f[lane] += amount * (k_k[lane].into() - k_j[lane].into());
            let value = f[lane] + penalty[lane].into();
            let better = value > values[lane];
            values[lane] = if better { value } else { values[lane] };
            blocks[lane] = if better { block as u32 } else { blocks[lane] };
        }
    }
    let mut best = merge(&values, &blocks, f64::NEG_INFINITY);
    for i in whole * LANES..gradient.len() {
        gradient[i] += amount * (row_k[i].into() - row_j[i].into());
        let value = gradient[i] + penalties[i].into();
        if value > best.value {
            best = Largest {
                value,
                index: Some(i),
            };
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vector_scans_agree_with_plain_ones() {
        let mut random = fastrand::Rng::with_seed(1);
        for n in [1, 7, 8, 9, 31, 64] {
            let mut values: Vec<f64> = (0..n).map(|_| f64::from(random.i32(0..5))).collect();
            let penalties: Vec<f64> = (0..n)
                .map(|_| {
                    if random.bool() {
                        0.0
                    } else {
                        f64::NEG_INFINITY
                    }
                })
                .collect();
            let zeros = vec![0.0; n];
            let found = advance(&mut values, &zeros, &zeros, 0.0, &penalties);
            let expected = (0..n)
                .filter(|&i| penalties[i] == 0.0)
                .rev()
                .max_by(|&a, &b| values[a].total_cmp(&values[b]));
            assert_eq!(found.index, expected);
        }
    }

    #[test]
    fn rounding_of_the_sum_goes_to_a_variable_with_room() {
        let signs = [1.0, 1.0, -1.0, -1.0];
        let bounds = [1.0; 4];
        let rows = KernelRows::stored(&[0.0; 16], 4).unwrap();
        let problem = LabelProblem {
            kernel: &rows,
            signs: &signs,
            bounds: &bounds,
            scale: 1.0,
        };
        let mut dual = [0.1, 0.2, -0.3, 0.0];
        assert!(dual.iter().sum::<f64>() != 0.0);
        repair(&problem, &mut dual);
        assert_eq!(dual.iter().sum::<f64>(), 0.0);
        assert_eq!((dual[0], dual[3]), (0.1, 0.0));
    }
}
