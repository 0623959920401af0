//! Scores with the whole kernel matrix in memory.

use super::deflated::Deflation;
use super::{KernelValues, Moved, Scores, copy_rows};
use crate::error::SolverError;
use crate::kernel::check_square;
use crate::kernel::gram::{stored_product, with_scratch};
use crate::kernel::rows::{KernelRows, rounded};
use crate::linalg::few_columns::{FEW, Lanes, add_products};
use crate::linalg::matmul::{View, multiply_add};
use crate::linalg::vector::axpy;
use crate::memory::{self, Number};
use crate::pairwise::tuning::STORAGE;
use crate::parallel::threads::Threads;
use crate::report::Monitor;
use crate::tuning::Deflating;
use std::borrow::Cow;

/// Rows of `F` updated by one chunk of work: whole blocks of a product.
const CHUNK: usize = 480;

/// A stored kernel matrix and `F = K B`.
#[derive(Debug)]
pub struct StoredKernel<'a> {
    matrix: Matrix<'a>,
    diagonal: Vec<f64>,
    labels: usize,
    scores: Vec<f64>,
}

/// The storage of the matrix. In single precision, moves update the scores with the rounded matrix, while recomputed scores
/// are those of the exact one.
#[derive(Debug)]
enum Matrix<'a> {
    Double {
        exact: Cow<'a, [f64]>,
        /// A copy in single precision,
        rounded: Option<Vec<f32>>,
        /// and the number of moves until it is made, if it may be made.
        due: Option<usize>,
    },
    Single {
        rounded: Vec<f32>,
        exact: Box<KernelRows<'a>>,
        /// The part taken out of the kernel.
        taken: Option<Deflation>,
    },
}

impl Matrix<'_> {
    /// The kernel values used by updates.
    fn stored(&self) -> KernelValues<'_> {
        match self {
            Self::Single { rounded, .. }
            | Self::Double {
                rounded: Some(rounded),
                ..
            } => KernelValues::Single(rounded),
            Self::Double { exact, .. } => KernelValues::Double(exact),
        }
    }
}

impl<'a> StoredKernel<'a> {
    /// Wraps a symmetric `n x n` matrix; the scores start at 0.
    ///
    /// # Errors
    /// When the matrix is not square.
    pub fn new(
        matrix: impl Into<Cow<'a, [f64]>>,
        n: usize,
        labels: usize,
    ) -> Result<Self, SolverError> {
        let exact = matrix.into();
        check_square(&exact, n)?;
        let diagonal: Vec<f64> = exact.iter().copied().step_by(n + 1).collect();
        let matrix = Matrix::Double {
            exact,
            rounded: None,
            due: None,
        };
        Ok(Self::of(matrix, diagonal, labels))
    }

    /// With the kernel matrix in single precision only; `None` when interrupted.
    pub(in crate::pairwise) fn rounded(
        exact: KernelRows<'a>,
        labels: usize,
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> Option<Self> {
        let diagonal = exact.diagonal().to_vec();
        let matrix = Matrix::Single {
            rounded: exact.rounded(threads, monitor)?,
            exact: Box::new(exact),
            taken: None,
        };
        Some(Self::of(matrix, diagonal, labels))
    }

    fn of(matrix: Matrix<'a>, diagonal: Vec<f64>, labels: usize) -> Self {
        Self {
            matrix,
            scores: memory::matrix(diagonal.len(), labels),
            diagonal,
            labels,
        }
    }

    /// Allows updates with a copy in single precision, once it pays.
    pub(in crate::pairwise) fn may_round(mut self) -> Self {
        if let Matrix::Double { due, .. } = &mut self.matrix {
            *due = Some(STORAGE.epochs * self.diagonal.len());
        }
        self
    }

    /// Takes the mean direction out of the kernel plus this constant, if that pays, or centres it if there is no constant. A
    /// borrowed matrix is copied, if the copy fits into `bytes`.
    pub(in crate::pairwise) fn deflate(
        &mut self,
        constant: Option<f64>,
        tuning: &Deflating,
        bytes: usize,
        threads: &Threads,
    ) -> Option<Deflation> {
        let n = self.diagonal.len();
        let mean_row = match self.matrix.stored() {
            KernelValues::Double(matrix) => mean_row(matrix, n),
            KernelValues::Single(matrix) => mean_row(matrix, n),
        };
        let deflation = Deflation::of(&mean_row, &self.diagonal, constant, tuning)?;
        match &mut self.matrix {
            Matrix::Double { exact, .. } => {
                if matches!(exact, Cow::Borrowed(_)) {
                    if size_of_val(&**exact) > bytes {
                        return None;
                    }
                    *exact = Cow::Owned(memory::copied(exact));
                }
                deflation.take_from(exact.to_mut(), threads);
            }
            Matrix::Single { rounded, taken, .. } => {
                deflation.take_from(rounded, threads);
                *taken = Some(deflation.clone());
            }
        }
        deflation.take_from_diagonal(&mut self.diagonal);
        self.diagonal
            .iter_mut()
            .for_each(|kappa| *kappa = kappa.max(0.0));
        Some(deflation)
    }

    fn row(&self, i: u32) -> KernelValues<'_> {
        let n = self.diagonal.len();
        self.matrix.stored().part(i as usize * n, n)
    }

    /// Rounds the matrix once enough instances have moved.
    fn round_when_due(&mut self, moved: usize, threads: &Threads) {
        if let Matrix::Double {
            exact,
            rounded: copy @ None,
            due: Some(due),
        } = &mut self.matrix
        {
            *due = due.saturating_sub(moved);
            if *due == 0 {
                *copy = Some(rounded(exact, threads));
            }
        }
    }
}

/// The mean row of a matrix.
fn mean_row<T: Number>(matrix: &[T], n: usize) -> Vec<f64> {
    let mut mean_row = vec![0.0; n];
    for row in matrix.chunks_exact(n.max(1)) {
        axpy(1.0 / n as f64, row, &mut mean_row);
    }
    mean_row
}

/// `F += K[:, instances] changes`
fn add<T: Lanes>(matrix: &[T], moved: Moved<'_>, scores: &mut [f64], q: usize, threads: &Threads) {
    let (n, count) = (scores.len() / q, moved.instances.len());
    threads.for_each_chunk(scores, CHUNK * q, |chunk, scores| {
        let (first, length) = (chunk * CHUNK, scores.len() / q);
        let rows = moved.instances.iter().map(|&i| {
            let start = i as usize * n + first;
            &matrix[start..start + length]
        });
        if q <= FEW {
            add_products(&rows.collect::<Vec<_>>(), moved.changes, scores, q);
            return;
        }
        with_scratch(count * length, |panel| {
            for (copy, row) in panel.chunks_exact_mut(length).zip(rows) {
                for (copy, &value) in copy.iter_mut().zip(row) {
                    *copy = value.into();
                }
            }
            let left = View::rows(panel, length).transposed();
            let right = View::rows(moved.changes, q);
            multiply_add((length, count, q), left, right, scores);
        });
    });
}

impl Scores for StoredKernel<'_> {
    type Dual = Vec<f64>;
    type Number = f64;

    fn labels(&self) -> usize {
        self.labels
    }

    fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    fn chain_length(&self) -> usize {
        64
    }

    fn open(&self, block: &[u32], scores: &mut [f64], kernel: &mut [f64], _: &mut Vec<f64>) {
        copy_rows(&self.scores, self.labels, block, scores);
        let rows = kernel.chunks_exact_mut(block.len()).zip(block);
        for (k, (values, &i)) in rows.enumerate() {
            let (values, later) = (&mut values[k + 1..], &block[k + 1..]);
            match self.row(i) {
                KernelValues::Double(row) => pick(row, later, values),
                KernelValues::Single(row) => pick(row, later, values),
            }
        }
    }

    fn stored_row(&self, i: u32) -> Option<KernelValues<'_>> {
        Some(self.row(i))
    }

    fn close(&mut self, moved: Moved<'_>, threads: &Threads) {
        self.round_when_due(moved.instances.len(), threads);
        let (scores, q) = (&mut self.scores, self.labels);
        match self.matrix.stored() {
            KernelValues::Double(matrix) => add(matrix, moved, scores, q, threads),
            KernelValues::Single(matrix) => add(matrix, moved, scores, q, threads),
        }
    }

    fn state(&mut self) -> &mut Vec<f64> {
        &mut self.scores
    }

    fn recompute(&mut self, dual: &Vec<f64>, threads: &Threads, monitor: &mut dyn Monitor) -> bool {
        let (n, q) = (self.diagonal.len(), self.labels);
        let scores = match &self.matrix {
            Matrix::Double { exact, .. } => stored_product(exact, n, dual, q, threads, monitor),
            Matrix::Single { exact, taken, .. } => {
                let product = exact.product(dual, q, threads, monitor);
                product.map(|mut scores| {
                    if let Some(taken) = taken {
                        taken.add_to(-1.0, &mut scores, dual, q);
                    }
                    scores
                })
            }
        };
        match scores {
            Some(scores) => {
                self.scores = scores;
                true
            }
            None => false,
        }
    }
}

/// Copies selected numbers of a row.
fn pick<T: Number>(row: &[T], places: &[u32], out: &mut [f64]) {
    for (value, &j) in out.iter_mut().zip(places) {
        *value = row[j as usize].into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::gram::{Gram, Kernel};
    use crate::linalg::features::{Dense, Features};

    const N: usize = 150;
    const Q: usize = 5;

    /// In single precision, for a computed or stored kernel, deflated or not, and for a copy that is made later: moves
    /// update the scores with the rounded matrix, and recomputed scores are exact.
    #[test]
    fn scores_by_a_rounded_matrix_are_exact_when_computed_anew() {
        let mut random = fastrand::Rng::with_seed(5);
        let x: Vec<f64> = (0..N * 3).map(|_| random.f64()).collect();
        let features = Features::Dense(Dense::new(&x, N, 3).unwrap());
        let gram = || Gram::of(Kernel::Rbf { gamma: 0.5 }, features);
        let threads = Threads::new(2);
        let matrix: Vec<f64> = gram().matrix(&threads, &mut ()).unwrap();
        let exact = || StoredKernel::new(&matrix, N, Q).unwrap();
        let rounded = |rows| StoredKernel::rounded(rows, Q, &threads, &mut ()).unwrap();
        let tuning = Deflating::default();
        for constant in [None, Some(None), Some(Some(1.0))] {
            let mut all = [
                exact(),
                rounded(KernelRows::computed(gram(), 0)),
                rounded(KernelRows::stored(&matrix, N).unwrap()),
                exact().may_round(),
            ];
            let mut dual = vec![0.0; N * Q];
            let taken = all.each_mut().map(|scores| {
                let constant = constant?;
                let taken = scores.deflate(constant, &tuning, usize::MAX, &threads);
                assert!(taken.is_some());
                taken
            });
            let instances: Vec<u32> = (0..N as u32).collect();
            for _ in 0..=STORAGE.epochs {
                // As small as small weights can make them.
                let changes: Vec<f64> = (0..N * Q).map(|_| 1e-60 * (random.f64() - 0.5)).collect();
                axpy(1.0, &changes, &mut dual);
                for scores in &mut all {
                    let moved = Moved {
                        instances: &instances,
                        changes: &changes,
                        nonzeros: None,
                    };
                    scores.close(moved, &threads);
                }
            }
            let of_kernel = stored_product(&matrix, N, &dual, Q, &threads, &mut ()).unwrap();
            let largest = of_kernel.iter().fold(0.0, |m: f64, s| m.max(s.abs()));
            for (k, (scores, taken)) in all.iter_mut().zip(&taken).enumerate() {
                let off = |scores: &StoredKernel<'_>| {
                    let mut whole = scores.scores.clone();
                    if let Some(taken) = taken {
                        taken.add_to(1.0, &mut whole, &dual, Q);
                    }
                    let pairs = whole.iter().zip(&of_kernel);
                    pairs.fold(0.0, |m: f64, (a, b)| m.max((a - b).abs())) / largest
                };
                let rounded = matches!(scores.matrix.stored(), KernelValues::Single(_));
                assert_eq!(rounded, k > 0);
                let rough = off(scores);
                assert!(rough < 1e-5 && (rough > 1e-9) == rounded, "{k} {rough}");
                assert!(scores.recompute(&dual, &threads, &mut ()));
                let fine = off(scores);
                assert!(fine < 1e-12, "{k} {fine}");
            }
        }
    }
}
