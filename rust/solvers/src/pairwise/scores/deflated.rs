//! Scores of a kernel without its mean direction, in which most rows of a kernel lie close together.
//!
//! With the mean row of the kernel `k_i = <phi_i, m>`, `m = 1/n sum_j phi_j`, and `<m, m>` the mean of `k`:
//!
//! | bias | kernel of the blocks | what it leaves out |
//! |---|---|---|
//! | free | `<phi_i - m, phi_j - m>` | nothing, as `sum_i beta_i = 0`: its scores are those of the kernel but for a constant `sum_i k_i beta_i` |
//! | none, or in the kernel (`K + s`) | `K_ij + s - tau v_i v_j`, `tau = <m, m> + s`, `v_i = (k_i + s) / tau` | `tau v v^T`, for which [`crate::pairwise::bias`] has a multiplier |
//!
//! Both are positive semidefinite where `K` is: what is left of `phi_i` is orthogonal to `m`, or measured from it. Their
//! diagonal is the curvature of a block step, and so its length: where all rows are alike it is a small share of `K_ii`, and
//! the steps are as many times as long.
//!
//! Both are `K - u w^T - w u^T`.

use super::{DenseScores, Moved, Scores};
use crate::linalg::few_columns::add_products;
use crate::linalg::vector::{axpy, mean};
use crate::parallel::threads::Threads;
use crate::report::{Monitor, ROUNDING};

/// Rows that one chunk of work corrects.
const CHUNK: usize = 512;

/// A multiplier costs epochs of its own: the diagonal has to fall below this share.
const LARGEST_SHARE: f64 = 0.7;

/// A kernel without its mean direction.
#[derive(Clone, Debug)]
pub struct Deflated<S> {
    inner: S,
    left: Vec<f64>,
    right: Vec<f64>,
    direction: Option<Direction>,
    diagonal: Vec<f64>,
}

/// The part `tau v v^T` of a kernel that its scores leave out.
#[derive(Clone, Debug)]
pub struct Direction {
    /// `tau`
    pub weight: f64,
    /// `v`, one number an instance.
    pub factors: Vec<f64>,
}

impl<S: DenseScores> Deflated<S> {
    /// Measures the features of `inner`, at `B = 0`, from their mean, for a free bias. `mean_row` are the `k_i`. Gives
    /// `inner` back where the kernel is indefinite.
    ///
    /// # Errors
    /// `inner`
    pub fn centred(inner: S, mean_row: &[f64]) -> Result<Self, S> {
        let half = 0.5 * mean(mean_row);
        let left = mean_row.iter().map(|k| k - half).collect::<Vec<_>>();
        let right = vec![1.0; left.len()];
        Self::new(inner, left, right, None, f64::INFINITY)
    }

    /// Takes the direction of the mean out of `K + s`. Gives `inner` back where the kernel is indefinite, or its rows are not
    /// alike.
    ///
    /// # Errors
    /// `inner`
    pub fn without_mean(inner: S, mean_row: &[f64], s: f64) -> Result<Self, S> {
        let weight = mean(mean_row) + s;
        if weight.is_nan() || weight <= 0.0 {
            return Err(inner);
        }
        let factors = mean_row
            .iter()
            .map(|k| (k + s) / weight)
            .collect::<Vec<_>>();
        let (scale, shift) = (weight.sqrt(), s.sqrt());
        let of = |sign: f64, share: f64| {
            let numbers = factors.iter().map(|v| share * (scale * v + sign * shift));
            numbers.collect()
        };
        let (left, right) = (of(-1.0, 0.5), of(1.0, 1.0));
        let direction = Some(Direction { weight, factors });
        Self::new(inner, left, right, direction, LARGEST_SHARE)
    }

    fn new(
        inner: S,
        left: Vec<f64>,
        right: Vec<f64>,
        direction: Option<Direction>,
        share: f64,
    ) -> Result<Self, S> {
        let rounding = ROUNDING * mean(inner.diagonal()).abs();
        let terms = inner.diagonal().iter().zip(left.iter().zip(&right));
        let diagonal = terms.map(|(k, (u, w))| k - 2.0 * u * w).collect::<Vec<_>>();
        let definite = diagonal.iter().all(|&kappa| kappa >= -rounding);
        if !definite || mean(&diagonal) > share * mean(inner.diagonal()) {
            return Err(inner);
        }
        let diagonal = diagonal.iter().map(|k| k.max(0.0)).collect::<Vec<_>>();
        Ok(Self {
            inner,
            left,
            right,
            direction,
            diagonal,
        })
    }

    /// `sum_i u_i rows_i` and `sum_i w_i rows_i` of some rows of `q` numbers.
    fn sums(&self, rows: &[f64], instances: impl Iterator<Item = usize>) -> [Vec<f64>; 2] {
        let q = self.labels();
        let mut sums = [vec![0.0; q], vec![0.0; q]];
        for (i, row) in instances.zip(rows.chunks_exact(q)) {
            axpy(self.left[i], row, &mut sums[0]);
            axpy(self.right[i], row, &mut sums[1]);
        }
        sums
    }

    /// `out += sign (u (w^T B) + w (u^T B))`, for the [`Self::sums`] of `B`.
    fn add(
        (left, right): (&[f64], &[f64]),
        sums: &[Vec<f64>; 2],
        sign: f64,
        out: &mut [f64],
        threads: &Threads,
    ) {
        let q = sums[0].len();
        let weights: Vec<f64> = [&sums[1], &sums[0]]
            .into_iter()
            .flatten()
            .map(|sum| sign * sum)
            .collect();
        threads.for_each_chunk(out, CHUNK * q, |chunk, rows| {
            let vectors = [left, right].map(|v| &v[chunk * CHUNK..][..rows.len() / q]);
            add_products(&vectors, &weights, rows, q);
        });
    }
}

impl<S: DenseScores> Scores for Deflated<S> {
    type Dual = Vec<f64>;
    type Number = f64;

    const CHAINS: usize = S::CHAINS;

    fn instances(&self) -> usize {
        self.inner.instances()
    }

    fn labels(&self) -> usize {
        self.inner.labels()
    }

    fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    fn direction(&self) -> Option<&Direction> {
        self.direction.as_ref()
    }

    fn chain_length(&self) -> usize {
        self.inner.chain_length()
    }

    fn open(&self, block: &[u32], scores: &mut [f64], kernel: &mut [f64], scratch: &mut Vec<f64>) {
        self.inner.open(block, scores, kernel, scratch);
        for (k, &i) in block.iter().enumerate() {
            let (u, w) = (self.left[i as usize], self.right[i as usize]);
            let values = &mut kernel[k * block.len()..(k + 1) * block.len()];
            for (value, &j) in values.iter_mut().zip(block).skip(k + 1) {
                *value -= u * self.right[j as usize] + w * self.left[j as usize];
            }
        }
    }

    fn stored_row(&self, i: u32) -> Option<&[f64]> {
        self.inner.stored_row(i)
    }

    fn close(&mut self, moved: Moved<'_>, threads: &Threads) {
        let sums = self.sums(moved.changes, moved.instances.iter().map(|&i| i as usize));
        self.inner.close(moved, threads);
        let vectors = (&*self.left, &*self.right);
        Self::add(vectors, &sums, -1.0, self.inner.state(), threads);
    }

    fn rows(&self, instances: &[u32], out: &mut [f64], scratch: &mut Vec<f64>) {
        self.inner.rows(instances, out, scratch);
    }

    fn rounding(&self, dual: &Vec<f64>) -> f64 {
        self.inner.rounding(dual)
    }

    fn state(&mut self) -> &mut Vec<f64> {
        self.inner.state()
    }

    fn recompute(&mut self, dual: &Vec<f64>, threads: &Threads, monitor: &mut dyn Monitor) -> bool {
        let complete = self.inner.recompute(dual, threads, monitor);
        if complete {
            let sums = self.sums(dual, 0..self.instances());
            let vectors = (&*self.left, &*self.right);
            Self::add(vectors, &sums, -1.0, self.inner.state(), threads);
        }
        complete
    }

    fn whole(&self, dual: &Vec<f64>, threads: &Threads) -> Vec<f64> {
        let mut scores = self.inner.all(threads);
        let sums = self.sums(dual, 0..self.instances());
        let vectors = (&*self.left, &*self.right);
        Self::add(vectors, &sums, 1.0, &mut scores, threads);
        scores
    }

    fn constant(&self, dual: &Vec<f64>) -> Vec<f64> {
        match self.direction {
            None => self.sums(dual, 0..self.instances())[0].clone(),
            Some(_) => vec![0.0; self.labels()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairwise::scores::StoredKernel;

    const N: usize = 7;
    const Q: usize = 3;

    /// A kernel of rows that are alike.
    fn kernel(random: &mut fastrand::Rng) -> Vec<f64> {
        let features: Vec<f64> = (0..N * 2).map(|_| 0.3 * random.f64()).collect();
        let value = |k: usize| {
            let (i, j) = (k / N, k % N);
            let inner =
                features[2 * i] * features[2 * j] + features[2 * i + 1] * features[2 * j + 1];
            1.0 + inner + if i == j { 0.05 } else { 0.0 }
        };
        (0..N * N).map(value).collect()
    }

    fn product(kernel: impl Fn(usize, usize) -> f64, dual: &[f64]) -> Vec<f64> {
        let entry = |i: usize, k: usize| (0..N).map(|j| kernel(i, j) * dual[j * Q + k]).sum();
        (0..N * Q)
            .map(|place| entry(place / Q, place % Q))
            .collect()
    }

    fn assert_close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }

    /// Scores, kernel of a block and diagonal are those of `expected`, however the dual matrix is reached; the scores of the
    /// kernel as given come back.
    fn check(
        mut scores: Deflated<StoredKernel<'_>>,
        given: &[f64],
        expected: impl Fn(usize, usize) -> f64 + Copy,
        random: &mut fastrand::Rng,
    ) {
        let threads = Threads::default();
        let dual: Vec<f64> = (0..N * Q).map(|_| random.f64() - 0.5).collect();
        for rows in [0..4, 4..N] {
            let instances: Vec<u32> = rows.clone().map(|i| i as u32).collect();
            let moved = Moved {
                instances: &instances,
                changes: &dual[rows.start * Q..rows.end * Q],
            };
            scores.close(moved, &threads);
        }
        let by_definition = product(expected, &dual);
        assert_close(&scores.all(&threads), &by_definition);
        let whole = product(|i, j| given[i * N + j], &dual);
        assert_close(&scores.whole(&dual, &threads), &whole);
        assert!(scores.recompute(&dual, &threads, &mut ()));
        assert_close(&scores.all(&threads), &by_definition);
        let block = [5, 2, 6];
        let (mut rows, mut values) = ([0.0; 3 * Q], [0.0; 9]);
        scores.open(&block, &mut rows, &mut values, &mut Vec::new());
        for (k, &i) in block.iter().enumerate() {
            assert_close(
                &rows[k * Q..(k + 1) * Q],
                &by_definition[i as usize * Q..][..Q],
            );
            for l in k + 1..3 {
                let value = expected(i as usize, block[l] as usize);
                assert_close(&values[k * 3 + l..=k * 3 + l], &[value]);
            }
        }
        let diagonal: Vec<f64> = (0..N).map(|i| expected(i, i)).collect();
        assert_close(scores.diagonal(), &diagonal);
    }

    #[test]
    fn scores_are_those_of_the_kernel_from_the_mean() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..20 {
            let given = kernel(&mut random);
            let stored = StoredKernel::new(&given, N, Q).unwrap();
            let row = stored.mean_row();
            let total = row.iter().sum::<f64>() / N as f64;
            let scores = Deflated::centred(stored, &row).unwrap();
            let centred = |i: usize, j: usize| given[i * N + j] - row[i] - row[j] + total;
            check(scores, &given, centred, &mut random);
        }
    }

    #[test]
    fn what_is_left_out_makes_up_the_kernel() {
        let mut random = fastrand::Rng::with_seed(4);
        for s in [0.0, 1.0, 0.3] {
            let given = kernel(&mut random);
            let stored = StoredKernel::new(&given, N, Q).unwrap();
            let row = stored.mean_row();
            let scores = Deflated::without_mean(stored, &row, s).unwrap();
            let Direction { weight, factors } = scores.direction().unwrap().clone();
            let rest = |i: usize, j: usize| given[i * N + j] + s - weight * factors[i] * factors[j];
            // Of K + s, in the space of the features: nothing is left of the direction of the mean.
            for i in 0..N {
                assert!((0..N).map(|j| rest(i, j)).sum::<f64>().abs() < 1e-12);
            }
            check(scores, &given, rest, &mut random);
        }
    }
}
