//! Elementwise loops on slices, compiled for the vector units that the machine has.

use multiversion::multiversion;

/// `y += a x`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma"))]
pub fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// `sum of x_k y_k`, in eight interleaved partial sums.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma"))]
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut partial = [0.0; 8];
    let (x_blocks, y_blocks) = (x.chunks_exact(8), y.chunks_exact(8));
    let tail: f64 = x_blocks
        .remainder()
        .iter()
        .zip(y_blocks.remainder())
        .map(|(a, b)| a * b)
        .sum();
    for (x, y) in x_blocks.zip(y_blocks) {
        for lane in 0..8 {
            partial[lane] += x[lane] * y[lane];
        }
    }
    partial.iter().sum::<f64>() + tail
}

/// Below this argument `exp` underflows to zero.
const EXP_UNDERFLOW: f64 = -708.0;
/// Above this argument `exp` would overflow.
const EXP_OVERFLOW: f64 = 709.0;
/// Adding and subtracting this rounds to the nearest integer, and leaves that integer in the low bits of the sum.
const ROUNDING: f64 = 6_755_399_441_055_744.0;
const LN2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// `exp(x)` by reduction to `|r| <= ln(2)/2` and a Taylor polynomial of degree 13 (error below one unit in the last
/// place), in operations that vectorise. Arguments are clamped to the range in which the result is a normal number;
/// below it the result is 0.
#[inline(always)]
fn exp(x: f64) -> f64 {
    let clamped = x.clamp(EXP_UNDERFLOW, EXP_OVERFLOW);
    let shifted = clamped * std::f64::consts::LOG2_E + ROUNDING;
    let k = shifted - ROUNDING;
    let r = (clamped - k * LN2_HIGH) - k * LN2_LOW;
    let mut p = 1.0 / 6_227_020_800.0;
    p = p * r + 1.0 / 479_001_600.0;
    p = p * r + 1.0 / 39_916_800.0;
    p = p * r + 1.0 / 3_628_800.0;
    p = p * r + 1.0 / 362_880.0;
    p = p * r + 1.0 / 40_320.0;
    p = p * r + 1.0 / 5_040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    let power = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    if x < EXP_UNDERFLOW { 0.0 } else { p * power }
}

/// Turns inner products `x . y_k` into `exp(-gamma ||x - y_k||^2)`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma"))]
pub fn rbf(products: &mut [f64], squared_norm: f64, squared_norms: &[f64], gamma: f64) {
    for (product, &other) in products.iter_mut().zip(squared_norms) {
        // Rounding can make the squared distance of two equal rows slightly negative.
        let distance = (squared_norm + other - 2.0 * *product).max(0.0);
        *product = exp(-gamma * distance);
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
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma"))]
pub fn sigmoid(products: &mut [f64], gamma: f64, coef0: f64) {
    for product in products.iter_mut() {
        let x = gamma * *product + coef0;
        *product = 1.0 - 2.0 / (exp(2.0 * x) + 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_agrees_with_the_standard_library() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..100_000 {
            let x = -700.0 + 1400.0 * random.f64();
            assert!((exp(x) / x.exp() - 1.0).abs() < 4.0 * f64::EPSILON, "{x}");
        }
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-1e4), 0.0);
        assert!(exp(1e4).is_finite());
    }

    #[test]
    fn sigmoid_is_tanh() {
        let mut random = fastrand::Rng::with_seed(2);
        let x: Vec<f64> = (0..10_000).map(|_| 40.0 * (random.f64() - 0.5)).collect();
        let mut y = x.clone();
        sigmoid(&mut y, 1.0, 0.0);
        for (x, y) in x.iter().zip(&y) {
            assert!((x.tanh() - y).abs() < 4.0 * f64::EPSILON, "{x}");
        }
    }

    #[test]
    fn dot_and_axpy_reach_the_tail() {
        let x: Vec<f64> = (0..19).map(f64::from).collect();
        assert_eq!(dot(&x, &x), (0..19).map(|k| f64::from(k * k)).sum::<f64>());
        let mut y = vec![1.0; 19];
        axpy(2.0, &x, &mut y);
        assert_eq!(y[18], 37.0);
    }
}
