//! Elementwise loops on slices, compiled for the vector units of the machine.

use crate::memory::{self, Number};
use multiversion::multiversion;
use multiversion::target::target_cfg_f;

/// `y += a x`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma"))]
pub fn axpy<T: Number, U: Number>(a: f64, x: &[U], y: &mut [T]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y = T::nearest((*y).into() + a * x.into());
    }
}

/// `out = sum_k values[k] matrix[rows[k]]`, the rows of a row-major matrix with as many columns as `out` has entries: the
/// same bits as [`axpy`] for each `k`, but `out` stays in registers.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma"))]
pub fn combine_rows<T: Number>(rows: &[i32], values: &[f64], matrix: &[T], out: &mut [f64]) {
    let mut done = combine_columns::<64, T>(rows, values, matrix, out, 0);
    done = combine_columns::<32, T>(rows, values, matrix, out, done);
    done = combine_columns::<16, T>(rows, values, matrix, out, done);
    done = combine_columns::<8, T>(rows, values, matrix, out, done);
    done = combine_columns::<4, T>(rows, values, matrix, out, done);
    done = combine_columns::<2, T>(rows, values, matrix, out, done);
    combine_columns::<1, T>(rows, values, matrix, out, done);
}

/// [`combine_rows`] from column `first` on, `WIDTH` columns at a time. Returns the first column of the remainder.
#[inline(always)]
fn combine_columns<const WIDTH: usize, T: Number>(
    rows: &[i32],
    values: &[f64],
    matrix: &[T],
    out: &mut [f64],
    mut first: usize,
) -> usize {
    let columns = out.len();
    while first + WIDTH <= columns {
        let mut sums = [0.0; WIDTH];
        for (&row, &value) in rows.iter().zip(values) {
            let entries = &matrix[row as usize * columns + first..][..WIDTH];
            for (sum, &entry) in sums.iter_mut().zip(entries) {
                *sum += value * entry.into();
            }
        }
        out[first..first + WIDTH].copy_from_slice(&sums);
        first += WIDTH;
    }
    first
}

/// Calls `each` with each number and one of eight lanes: sums by lane vectorise.
#[inline(always)]
pub fn by_lanes(numbers: &[f64], mut each: impl FnMut(usize, f64)) {
    let (blocks, rest) = numbers.as_chunks::<8>();
    for block in blocks {
        (0..8).for_each(|lane| each(lane, block[lane]));
    }
    rest.iter().for_each(|&x| each(0, x));
}

/// The lowest and the highest of some numbers, in lanes that vectorise.
#[inline]
pub fn range(numbers: &[f64]) -> (f64, f64) {
    let mut lowest = [f64::INFINITY; 8];
    let mut highest = [f64::NEG_INFINITY; 8];
    by_lanes(numbers, |lane, x| {
        lowest[lane] = if x < lowest[lane] { x } else { lowest[lane] };
        highest[lane] = if x > highest[lane] { x } else { highest[lane] };
    });
    (
        lowest.into_iter().fold(f64::INFINITY, f64::min),
        highest.into_iter().fold(f64::NEG_INFINITY, f64::max),
    )
}

/// Prefetches the cache line of `values[index]`, which may lie past the end; does nothing on processors other than x86-64.
#[inline(always)]
pub fn prefetch<T>(values: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = values.as_ptr().wrapping_add(index);
        // SAFETY: A prefetch is a hint, which faults at no address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, index);
}

/// The mean of some values, 0 if there are none.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The sum of the rows of a row-major matrix with `q` columns.
pub fn row_sum(matrix: &[f64], q: usize) -> Vec<f64> {
    let mut sum = vec![0.0; q];
    matrix
        .chunks_exact(q)
        .for_each(|row| axpy(1.0, row, &mut sum));
    sum
}

/// `sum of |x_k y_k|`: the size of the terms of [`dot`].
pub fn size_of_terms(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| (x * y).abs()).sum()
}

/// `sum of x_k y_k`, in eight interleaved partial sums.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma"))]
pub fn dot<T: Number, U: Number>(x: &[T], y: &[U]) -> f64 {
    let mut partial = [0.0; 8];
    let (x_blocks, y_blocks) = (x.chunks_exact(8), y.chunks_exact(8));
    let tail: f64 = x_blocks
        .remainder()
        .iter()
        .zip(y_blocks.remainder())
        .map(|(&a, &b)| a.into() * b.into())
        .sum();
    for (x, y) in x_blocks.zip(y_blocks) {
        for lane in 0..8 {
            partial[lane] += x[lane].into() * y[lane].into();
        }
    }
    partial.iter().sum::<f64>() + tail
}

/// Below this argument `exp` underflows to zero.
const EXP_UNDERFLOW: f64 = -708.0;
/// Above this argument `exp` would overflow.
const EXP_OVERFLOW: f64 = 709.0;
/// Adding and subtracting this number rounds to the nearest integer, and leaves that integer in the low bits of the sum.
const TO_INTEGER: f64 = 6_755_399_441_055_744.0;
const LN2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// Coefficients, highest first, of the near-minimax polynomial of degree 11 of `exp` on
/// `|r| <= ln(2)/2` (Chebyshev interpolation; error 3e-18).
const EXP: [f64; 12] = [
    2.511_003_772_194_656e-8,
    2.763_263_978_986_839_4e-7,
    2.755_724_091_826_552_5e-6,
    2.480_148_548_192_088e-5,
    1.984_126_988_990_047_4e-4,
    1.388_888_895_231_515_5e-3,
    8.333_333_333_319_6e-3,
    4.166_666_666_648_809e-2,
    0.166_666_666_666_666_8,
    0.500_000_000_000_001_8,
    1.0,
    1.0,
];

/// `a b + c`, rounded once if the processor has an instruction for it (otherwise it would be a function call).
#[inline(always)]
fn multiply_add<const FUSED: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// `exp(x)` with an error below two units in the last place, in operations that vectorise: `2^k exp(r)` with `x = r + k
/// ln(2)`, `|r| <= ln(2)/2`; 0 below the range of normal numbers, and the largest number above it.
#[inline(always)]
fn exp<const FUSED: bool>(x: f64) -> f64 {
    let clamped = x.clamp(EXP_UNDERFLOW, EXP_OVERFLOW);
    let shifted = multiply_add::<FUSED>(clamped, std::f64::consts::LOG2_E, TO_INTEGER);
    let k = shifted - TO_INTEGER;
    let r = multiply_add::<FUSED>(-k, LN2_HIGH, clamped);
    let r = multiply_add::<FUSED>(-k, LN2_LOW, r);
    let mut p = EXP[0];
    for &coefficient in &EXP[1..] {
        p = multiply_add::<FUSED>(p, r, coefficient);
    }
    let power = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    if x < EXP_UNDERFLOW { 0.0 } else { p * power }
}

#[inline(always)]
fn rbf_loop<const FUSED: bool>(products: &mut [f64], norm: f64, norms: &[f64], gamma: f64) {
    for (product, &other) in products.iter_mut().zip(norms) {
        // Rounding can make the distance of two equal rows slightly negative.
        let distance = multiply_add::<FUSED>(-2.0, *product, norm + other).max(0.0);
        *product = exp::<FUSED>(-gamma * distance);
    }
}

/// Turns inner products `x . y_k` into `exp(-gamma ||x - y_k||^2)`, by squared norms; with other norms, half of what distances
/// lack to their sum.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma"))]
pub fn rbf(products: &mut [f64], norm: f64, norms: &[f64], gamma: f64) {
    if target_cfg_f!(target_feature = "fma") {
        rbf_loop::<true>(products, norm, norms, gamma);
    } else {
        rbf_loop::<false>(products, norm, norms, gamma);
    }
}

#[inline(always)]
fn exponentials_loop<const FUSED: bool>(numbers: &mut [f64], factor: f64) {
    for number in numbers {
        *number = exp::<FUSED>(factor * *number);
    }
}

/// Turns numbers `x` into `exp(factor x)`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma"))]
pub fn exponentials(numbers: &mut [f64], factor: f64) {
    if target_cfg_f!(target_feature = "fma") {
        exponentials_loop::<true>(numbers, factor);
    } else {
        exponentials_loop::<false>(numbers, factor);
    }
}

/// Turns inner products `p` into `(gamma p + coef0)^degree`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma"))]
pub fn polynomial(products: &mut [f64], gamma: f64, coef0: f64, degree: u32) {
    for product in products.iter_mut() {
        *product = gamma * *product + coef0;
    }
    match degree {
        0 => products.fill(1.0),
        1 => {}
        2 => products.iter_mut().for_each(|p| *p *= *p),
        3 => products.iter_mut().for_each(|p| *p = *p * *p * *p),
        _ => products
            .iter_mut()
            .for_each(|p| *p = p.powi(degree.min(i32::MAX as u32) as i32)),
    }
}

/// Turns inner products `p` into `tanh(gamma p + coef0)`.
pub fn sigmoid(products: &mut [f64], gamma: f64, coef0: f64) {
    for product in products {
        *product = (gamma * *product + coef0).tanh();
    }
}

/// The transpose of a row-major matrix.
pub(crate) fn transposed(matrix: &[f64], rows: usize, columns: usize) -> Vec<f64> {
    let mut out = memory::zeros(matrix.len());
    transpose(matrix, rows, columns, &mut out);
    out
}

/// The same, to `out`.
pub(crate) fn transpose(matrix: &[f64], rows: usize, columns: usize, out: &mut [f64]) {
    for i in 0..rows {
        for j in 0..columns {
            out[j * rows + i] = matrix[i * columns + j];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combined_rows_have_the_bits_of_axpy() {
        let mut random = fastrand::Rng::with_seed(1);
        for columns in 0..200 {
            let matrix: Vec<f64> = (0..12 * columns).map(|_| random.f64() - 0.5).collect();
            let rows: Vec<i32> = (0..random.usize(0..9)).map(|_| random.i32(0..12)).collect();
            let values: Vec<f64> = rows.iter().map(|_| random.f64() - 0.5).collect();
            let mut expected = vec![0.0; columns];
            for (&row, &value) in rows.iter().zip(&values) {
                let start = row as usize * columns;
                axpy(value, &matrix[start..start + columns], &mut expected);
            }
            let mut out = vec![f64::NAN; columns];
            combine_rows(&rows, &values, &matrix, &mut out);
            assert_eq!(out, expected);
        }
    }

    #[test]
    fn exp_agrees_with_the_standard_library() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..100_000 {
            let x = -700.0 + 1400.0 * random.f64();
            for y in [exp::<true>(x), exp::<false>(x)] {
                assert!((y / x.exp() - 1.0).abs() < 2.0 * f64::EPSILON, "{x}");
            }
        }
        assert_eq!(exp::<true>(0.0), 1.0);
        assert_eq!(exp::<true>(-1e4), 0.0);
        assert!(exp::<true>(1e4).is_finite());
    }
}
