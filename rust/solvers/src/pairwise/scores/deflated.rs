//! A kernel without its mean direction, for matrices whose rows lie close together.
//!
//! With the mean row of the kernel `k_i = <phi_i, m>`, `m = 1/n sum_j phi_j`, and `<m, m>` the mean of `k`:
//!
//! | bias | kernel of the blocks | what it leaves out |
//! |---|---|---|
//! | free | `<phi_i - m, phi_j - m>` | nothing, as `sum_i beta_i = 0`: its scores are those of the kernel but for a constant `sum_i k_i beta_i` |
//! | none, or in the kernel (`K + s`) | `K_ij + s - tau v_i v_j`, `tau = <m, m> + s`, `v_i = (k_i + s) / tau` | `tau v v^T`, for which [`crate::pairwise::bias`] has a multiplier |
//!
//! Both are positive semidefinite if `K` is: the remainder of `phi_i` is orthogonal to `m`, or measured from it. Their
//! diagonal is the curvature of a block step, which determines its length: if all rows are nearly equal, it is a small
//! fraction of `K_ii`, and the steps are longer by that factor.
//!
//! Both are `K - u w^T - w u^T`.

use crate::linalg::rows::{Rows, weighted_sum};
use crate::linalg::vector::{axpy, mean};
use crate::memory::Number;
use crate::parallel::threads::{CHUNK, Threads};
use crate::report::ROUNDING;
use crate::tuning::Deflating;

/// The part taken out of a kernel: `u w^T + w u^T`.
#[derive(Clone, Debug)]
pub(crate) struct Deflation {
    u: Vec<f64>,
    w: Vec<f64>,
    /// `K_ii` of the original kernel.
    pub diagonal: Vec<f64>,
    /// The part that has a multiplier.
    pub direction: Option<Direction>,
}

/// The part `tau v v^T` of a kernel that its scores leave out.
#[derive(Clone, Debug)]
pub(crate) struct Direction {
    /// `tau`
    pub weight: f64,
    /// `v`, one number an instance.
    pub factors: Vec<f64>,
}

impl Deflation {
    /// The deflation of a kernel with this mean row and diagonal, and the constant that a bias adds to it (`None` for a free
    /// bias); `None` if the kernel is indefinite, or its rows are not close together.
    pub fn of(
        mean_row: &[f64],
        diagonal: &[f64],
        constant: Option<f64>,
        tuning: &Deflating,
    ) -> Option<Self> {
        let (deflation, share) = match constant {
            None => (Self::centring(mean_row, diagonal), f64::INFINITY),
            Some(s) => (Self::of_mean(mean_row, diagonal, s)?, tuning.largest_share),
        };
        let mut rest = diagonal.to_vec();
        deflation.take_from_diagonal(&mut rest);
        let rounding = ROUNDING * mean(diagonal).abs();
        let definite = rest.iter().all(|&kappa| kappa >= -rounding);
        (definite && mean(&rest) <= share * mean(diagonal)).then_some(deflation)
    }

    /// Centres the features.
    fn centring(mean_row: &[f64], diagonal: &[f64]) -> Self {
        let half = 0.5 * mean(mean_row);
        Self {
            u: mean_row.iter().map(|k| k - half).collect(),
            w: vec![1.0; mean_row.len()],
            diagonal: diagonal.to_vec(),
            direction: None,
        }
    }

    /// Takes the direction of the mean out of `K + s`; `None` if the mean is 0.
    fn of_mean(mean_row: &[f64], diagonal: &[f64], s: f64) -> Option<Self> {
        let weight = mean(mean_row) + s;
        if weight.is_nan() || weight <= 0.0 {
            return None;
        }
        let factors: Vec<f64> = mean_row.iter().map(|k| (k + s) / weight).collect();
        // tau v v^T - s, as the product of a sum and a difference.
        let (scale, shift) = (weight.sqrt(), s.sqrt());
        Some(Self {
            u: factors.iter().map(|v| 0.5 * (scale * v - shift)).collect(),
            w: factors.iter().map(|v| scale * v + shift).collect(),
            diagonal: diagonal.to_vec(),
            direction: Some(Direction { weight, factors }),
        })
    }

    /// Subtracts it from a kernel matrix.
    pub fn take_from<T: Number>(&self, matrix: &mut [T], threads: &Threads) {
        let n = self.u.len();
        threads.for_each_chunk(matrix, CHUNK * n, |chunk, rows| {
            for (row, i) in rows.chunks_exact_mut(n).zip(chunk * CHUNK..) {
                for ((value, u), w) in row.iter_mut().zip(&self.u).zip(&self.w) {
                    *value = T::nearest((*value).into() - (self.u[i] * w + self.w[i] * u));
                }
            }
        });
    }

    /// Subtracts it from the diagonal only.
    pub fn take_from_diagonal(&self, diagonal: &mut [f64]) {
        for ((kappa, u), w) in diagonal.iter_mut().zip(&self.u).zip(&self.w) {
            *kappa -= 2.0 * u * w;
        }
    }

    /// Adds `times` its contribution to the scores at `B`: `u (w^T B) + w (u^T B)`.
    pub fn add_to(&self, times: f64, scores: &mut [f64], dual: &impl Rows, q: usize) {
        for (left, right) in [(&self.u, &self.w), (&self.w, &self.u)] {
            let (sum, _) = weighted_sum(dual, right, q);
            for (row, factor) in scores.chunks_exact_mut(q).zip(left) {
                axpy(times * factor, &sum, row);
            }
        }
    }

    /// The constant that centring subtracts from the scores at `B`, if `sum_i beta_i = 0`.
    pub fn constant(&self, dual: &impl Rows, q: usize) -> Vec<f64> {
        match self.direction {
            None => weighted_sum(dual, &self.u, q).0,
            Some(_) => vec![0.0; q],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: usize = 7;

    /// A kernel whose rows lie close together, and its mean row.
    fn kernel(random: &mut fastrand::Rng) -> (Vec<f64>, Vec<f64>) {
        let features: Vec<[f64; 2]> = (0..N).map(|_| [0; 2].map(|_| 0.3 * random.f64())).collect();
        let value = |k: usize| {
            let (x, y) = (features[k / N], features[k % N]);
            let noise = if k / N == k % N { 0.05 } else { 0.0 };
            1.0 + x[0] * y[0] + x[1] * y[1] + noise
        };
        let kernel: Vec<f64> = (0..N * N).map(value).collect();
        let mean_row = kernel.chunks(N).map(mean).collect();
        (kernel, mean_row)
    }

    /// Checked by their definitions, and by `K B` from the scores of the remaining kernel.
    #[test]
    fn what_is_left_and_what_is_taken_make_up_the_kernel() {
        let mut random = fastrand::Rng::with_seed(3);
        for constant in [None, Some(0.0), Some(1.0)] {
            let s: f64 = constant.unwrap_or_default();
            let (given, mean_row) = kernel(&mut random);
            let mut diagonal: Vec<f64> = given.iter().copied().step_by(N + 1).collect();
            let deflation =
                Deflation::of(&mean_row, &diagonal, constant, &Deflating::default()).unwrap();
            let (mut left, tau) = (given.clone(), mean(&mean_row));
            deflation.take_from(&mut left, &Threads::default());
            deflation.take_from_diagonal(&mut diagonal);
            let dual: Vec<f64> = (0..N).map(|_| random.f64() - 0.5).collect();
            let product = |matrix: &[f64]| -> Vec<f64> {
                let rows = matrix.chunks(N);
                rows.map(|row| row.iter().zip(&dual).map(|(k, b)| k * b).sum())
                    .collect()
            };
            let mut scores = product(&left);
            deflation.add_to(1.0, &mut scores, &dual, 1);
            for (i, (found, expected)) in scores.iter().zip(product(&given)).enumerate() {
                assert!((found - expected).abs() < 1e-12);
                assert!((left[i * N + i] - diagonal[i]).abs() < 1e-12);
                for j in 0..N {
                    let taken = match &deflation.direction {
                        None => mean_row[i] + mean_row[j] - tau,
                        Some(direction) => {
                            let v = &direction.factors;
                            (tau + s) * v[i] * v[j] - s
                        }
                    };
                    assert!((given[i * N + j] - left[i * N + j] - taken).abs() < 1e-12);
                }
                // The mean of the features of K + s has no component left.
                let sum: f64 = left[i * N..][..N].iter().sum();
                assert!(sum.abs() < 1e-12, "{constant:?}");
            }
        }
    }
}
