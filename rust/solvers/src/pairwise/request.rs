//! A pairwise problem as a caller states it, and its answer. This module decides which scores represent the geometry, how
//! much memory they take, and which loop runs.

use super::bcd::{Proximal, certifies_slowly};
use super::bias::comes_out_even;
use super::loss::{Loss, sum_of_losses};
use super::published::Loop;
use super::scores::{
    self, Deflation, DenseScores, KernelBlocks, LinearDense, LinearMetric, LinearSparse,
    StoredKernel,
};
use super::setup::Setup;
use super::setup::{Bias, Solution};
use super::solve::{solve_deflated, solve_fixed};
use super::tuning::STORAGE;
use crate::error::SolverError;
use crate::kernel::gram::{Gram, Kernel};
use crate::kernel::rows::{KernelRows, SINGLE, is_within};
use crate::labels::Labels;
use crate::linalg::features::{Features, Sparse};
use crate::linalg::rows::CompactRows;
use crate::linalg::vector::{axpy, dot};
use crate::memory::Number;
use crate::report::{Monitor, Report};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The inner products of the training rows.
#[derive(Clone, Copy, Debug)]
pub enum Geometry<'a> {
    /// A kernel matrix, `n x n`.
    Matrix(&'a [f64]),
    /// A kernel on features.
    Kernel(Kernel, Features<'a>),
    /// `x^T M x'` with a symmetric positive definite `M`, `d x d`.
    Metric(Sparse<'a>, &'a [f64]),
}

/// Range of `K_ii` in which weights fit into single precision.
const MODERATE: RangeInclusive<f64> = 1e-50..=1e50;

/// How the dual matrix and the weights of a linear model are stored. Everything except `Dense` needs sparse features, the
/// engine's loop, and a bias that is not free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// All numbers.
    Dense,
    /// Rows of the dual matrix with few nonzeros are stored sparse: the same bits.
    Compact,
    /// A compact dual matrix, and weights in single precision if the tolerance allows it.
    Single,
    /// `Single` if there are many weights, `Compact` if the dual matrix is large.
    BySize,
}

/// How the matrix of a kernel is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KernelStorage {
    /// In double precision.
    Double,
    /// In double precision, with a copy in single precision once there have been many epochs.
    Both,
    /// In single precision, which is read at twice the speed; certificates compute exact scores from the kernel itself.
    Single,
    /// Not stored: its rows are computed when needed.
    Blocks,
}

impl KernelStorage {
    fn of_double(fits: bool) -> Self {
        if fits { Self::Double } else { Self::Blocks }
    }
}

/// A matrix of an answer, row-major.
#[derive(Clone, Debug)]
pub enum Stored {
    /// All numbers.
    Dense(Vec<f64>),
    /// All numbers, in single precision.
    Single(Vec<f32>),
    /// Its rows.
    Compact(CompactRows),
}

/// A pairwise problem, without its loss, and how to solve it.
pub struct Request<'a> {
    /// The label sets and the weights of the pairs.
    pub labels: Labels,
    /// The inner products.
    pub geometry: Geometry<'a>,
    /// Memory for kernel values.
    pub cache_bytes: usize,
    /// The storage of large matrices.
    pub storage: Storage,
    /// A loop other than the engine's.
    pub by: Option<Loop>,
    /// Bias, start, settings and threads.
    pub setup: Setup,
}

/// The answer to a request.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The dual matrix `B`, `n x q`.
    pub dual: Stored,
    /// The bias `b`, one a label.
    pub bias: Vec<f64>,
    /// The certificate.
    pub report: Report,
    /// Scores of the training rows without the bias, `n x q`; `None` if the answer is needed at once and they are not
    /// available, or if the dual matrix is compact.
    pub scores: Option<Vec<f64>>,
    /// `W`, `d x q`, of linear features.
    pub weights: Option<Stored>,
}

impl Request<'_> {
    /// Solves the problem with a loss.
    ///
    /// # Errors
    /// When the parts of the request do not fit together.
    pub fn solve<L: Loss>(self, loss: L, monitor: &mut dyn Monitor) -> Result<Answer, SolverError> {
        let (n, q) = (self.labels.instances(), self.labels.count());
        let threads = Arc::clone(&self.setup.threads);
        match self.geometry {
            Geometry::Matrix(matrix) => {
                let exact = KernelRows::stored(matrix, n)?;
                let storage = self.storage_of(&exact);
                self.answer_with_kernel(loss, exact, storage, monitor)
            }
            Geometry::Kernel(Kernel::Linear, Features::Dense(x)) => {
                let mut scores = LinearDense::new(x, q);
                let answer = self.answer(loss, &mut scores, monitor)?;
                Ok(answer.with_weights(scores.into_weights()))
            }
            Geometry::Kernel(Kernel::Linear, Features::Sparse(x)) => {
                let large =
                    |rows: usize| self.storage == Storage::BySize && rows * q > STORAGE.large;
                let single = self.storage == Storage::Single || large(x.columns());
                let compact = single || self.storage == Storage::Compact || large(n);
                let exists = self.by.is_none() && self.setup.bias != Bias::Free;
                if exists && single && self.allows_single(x) {
                    let scores = LinearSparse::at_zero(x, q);
                    return self.compact_answer(loss, scores, monitor, Stored::Single);
                }
                if exists && compact {
                    let scores = LinearSparse::at_zero(x, q);
                    return self.compact_answer(loss, scores, monitor, Stored::Dense);
                }
                let mut scores = LinearSparse::new(x, q);
                let answer = self.answer(loss, &mut scores, monitor)?;
                Ok(answer.with_weights(scores.into_weights()))
            }
            Geometry::Metric(x, metric) => {
                let mut scores = LinearMetric::new(x, metric, q, &threads)?;
                let answer = self.answer(loss, &mut scores, monitor)?;
                Ok(answer.with_weights(scores.into_weights()))
            }
            Geometry::Kernel(kernel, x) => {
                let gram = Gram::of(kernel, x);
                let exact = KernelRows::computed(gram.clone(), 0);
                let storage = self.storage_of(&exact);
                if storage == KernelStorage::Blocks {
                    let mut scores = KernelBlocks::new(gram, q, self.cache_bytes);
                    return self.answer(loss, &mut scores, monitor);
                }
                self.answer_with_kernel(loss, exact, storage, monitor)
            }
        }
    }

    /// Whether the rounding of weights in single precision is far below the tolerance.
    fn allows_single(&self, x: Sparse<'_>) -> bool {
        let norms = Features::Sparse(x).squared_norms();
        is_within(&norms, &MODERATE) && self.is_rough(&norms)
    }

    /// Whether rounding to single precision is far below the tolerance, with these `K_ii`.
    fn is_rough(&self, diagonal: &[f64]) -> bool {
        let tolerance = self.setup.settings.tolerance;
        let mut each = diagonal.iter().enumerate();
        let steepness = |(i, kappa)| kappa * self.labels.weight_of_pairs_of(i);
        tolerance >= STORAGE.rough
            && each.all(|one| tolerance >= STORAGE.rough_of_steep * steepness(one))
    }

    /// Chooses the storage of a kernel.
    fn storage_of(&self, exact: &KernelRows<'_>) -> KernelStorage {
        let values = exact.instances().saturating_mul(exact.instances());
        let fits = |bytes: usize| values.saturating_mul(bytes) <= self.cache_bytes;
        let (double, single) = (exact.bytes_per_value(), size_of::<f32>());
        let diagonal = exact.diagonal();
        let rough = self.by.is_none() && is_within(diagonal, &SINGLE) && self.is_rough(diagonal);
        if !(rough && fits(single)) {
            return KernelStorage::of_double(fits(double));
        }
        let work = STORAGE.cheap * (STORAGE.cheap_labels + self.labels.count());
        let cheap = exact.work_per_value() <= work && exact.instances() > STORAGE.large_kernel;
        if (cheap || !fits(double)) && exact.share_beside_mean() > STORAGE.alike {
            KernelStorage::Single
        } else if fits(double + single) {
            KernelStorage::Both
        } else {
            KernelStorage::of_double(fits(double))
        }
    }

    /// The answer with a stored kernel matrix.
    fn answer_with_kernel<L: Loss>(
        self,
        loss: L,
        exact: KernelRows<'_>,
        storage: KernelStorage,
        monitor: &mut dyn Monitor,
    ) -> Result<Answer, SolverError> {
        let (n, q) = (self.labels.instances(), self.labels.count());
        let threads = Arc::clone(&self.setup.threads);
        let scores = if storage == KernelStorage::Single {
            StoredKernel::rounded(exact, q, &threads, monitor)
        } else if let Some(matrix) = exact.into_matrix(&threads, monitor) {
            let scores = StoredKernel::new(matrix, n, q)?;
            let both = storage == KernelStorage::Both;
            Some(if both { scores.may_round() } else { scores })
        } else {
            None
        };
        match scores {
            Some(scores) => self.answer_with_matrix(loss, scores, monitor),
            None => Ok(Answer::interrupted(&self.labels)),
        }
    }

    /// The answer with a compact dual matrix, and weights stored by `stored`.
    fn compact_answer<T: Number, L: Loss>(
        self,
        loss: L,
        mut scores: LinearSparse<'_, T, CompactRows>,
        monitor: &mut dyn Monitor,
        stored: fn(Vec<T>) -> Stored,
    ) -> Result<Answer, SolverError> {
        let step = Proximal::new(loss);
        let solution = solve_fixed(&self.labels, &mut scores, None, step, self.setup, monitor)?;
        Ok(Answer {
            dual: Stored::Compact(solution.dual),
            bias: solution.bias,
            report: solution.report,
            scores: None,
            weights: Some(stored(scores.into_weights())),
        })
    }

    /// The answer with a kernel matrix from which the mean direction is taken out for the block steps.
    fn answer_with_matrix<L: Loss>(
        self,
        loss: L,
        mut scores: StoredKernel<'_>,
        monitor: &mut dyn Monitor,
    ) -> Result<Answer, SolverError> {
        let tuning = self.setup.settings.tuning.deflation.clone();
        if self.by.is_some() || !tuning.enabled {
            return self.answer(loss, &mut scores, monitor);
        }
        let threads = Arc::clone(&self.setup.threads);
        let constant = match self.setup.bias {
            Bias::Free => None,
            Bias::Penalized => Some(1.0),
            Bias::None => Some(0.0),
        };
        let deflation = scores.deflate(constant, &tuning, self.cache_bytes, &threads);
        self.answer_deflated(loss, &mut scores, deflation.as_ref(), monitor)
    }

    fn answer<L: Loss>(
        self,
        loss: L,
        scores: &mut DenseScores<'_>,
        monitor: &mut dyn Monitor,
    ) -> Result<Answer, SolverError> {
        self.answer_deflated(loss, scores, None, monitor)
    }

    /// The answer from scores whose kernel has been deflated.
    fn answer_deflated<L: Loss>(
        self,
        loss: L,
        scores: &mut DenseScores<'_>,
        deflation: Option<&Deflation>,
        monitor: &mut dyn Monitor,
    ) -> Result<Answer, SolverError> {
        let threads = Arc::clone(&self.setup.threads);
        let (labels, mut setup) = (&self.labels, self.setup);
        let of_free_bias = setup.bias == Bias::Free;
        if let (Some(start), Some(bias)) = (&setup.start, &mut setup.start_bias)
            && start.len() == scores.diagonal().len() * scores.labels()
            && bias.len() == scores.labels()
        {
            deflation.inspect(|taken| axpy(1.0, &taken.constant(start, bias.len()), bias));
        }
        let mut solution = match self.by {
            Some(_) if labels.have_top() => Err(SolverError::Unsupported(
                "the published loops compare with all irrelevant labels",
            )),
            Some(by) => by(labels, scores, setup, monitor),
            None => {
                let step = Proximal::new(loss.clone());
                solve_deflated(labels, scores, deflation, step, setup, monitor)
            }
        }?;
        let slow = scores.is_linear() && certifies_slowly(labels);
        let at_hand = !(slow && monitor.poll().hurries());
        let scores_of_model = at_hand.then(|| {
            let mut whole = scores::all(scores, &threads);
            deflation
                .inspect(|taken| taken.add_to(1.0, &mut whole, &solution.dual, labels.count()));
            whole
        });
        if let Some(taken) = deflation {
            // Scores of centred features equal those of the kernel only if the rows of B sum to 0.
            let moved = taken.constant(&solution.dual, labels.count());
            axpy(-1.0, &moved, &mut solution.bias);
        }
        if let Some(found) = &scores_of_model
            && of_free_bias
            && !comes_out_even(&solution.dual, labels.count())
            && solution.report.primal.is_finite()
        {
            let loss = sum_of_losses(&loss, labels, found, &solution.bias);
            solution
                .report
                .amend(0.5 * dot(&solution.dual, found) + loss);
        }
        Ok(Answer::dense(solution, scores_of_model))
    }
}

impl Answer {
    fn dense(solution: Solution, scores: Option<Vec<f64>>) -> Self {
        Self {
            dual: Stored::Dense(solution.dual),
            bias: solution.bias,
            report: solution.report,
            scores,
            weights: None,
        }
    }

    fn interrupted(labels: &Labels) -> Self {
        Self::dense(Solution::interrupted(labels), None)
    }

    fn with_weights(self, weights: Vec<f64>) -> Self {
        Self {
            weights: Some(Stored::Dense(weights)),
            ..self
        }
    }
}
