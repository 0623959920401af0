//! The basis in which the quadratic form is diagonal.
//!
//! With `X^T X = U diag(s) U^T` and `alpha M = V diag(t) V^T` the form maps `W` to `U (H . (U^T W V)) V^T` with
//! `H_ik = s_i + t_k`. `U` may be thin, with as many columns as `X` has rows: on the complement of its columns `s` is 0,
//! and what a matrix has there is never written out, since it is the matrix minus its projection.
//!
//! Every `S` with entries of at most `beta` gives the lower bound `1/2 ||Y||^2 - 1/2 <C - S, H^+ (C - S)>`, `C = X^T Y`, if
//! it has no component where `H` is 0; `C` has none there. So `S` is projected on the range of `H` and, where this takes
//! it out of the box, scaled back into it.

use super::Problem;
use crate::error::{SolverError, refused};
use crate::linalg::matmul::{View, multiply, multiply_add};
use crate::linalg::vector::{dot, transposed};
use crate::memory;
use crate::parallel::threads::Threads;

/// Rows of a matrix that one task computes.
pub(super) const ROWS_PER_TASK: usize = 128;
/// Entries of `H` below this share of the largest one are 0.
const NULL_SHARE: f64 = 1e-12;
/// The relative size of what sums of products lose, with a margin of a hundred.
const ROUNDING: f64 = 100.0 * f64::EPSILON;

/// Eigenvalues and eigenvectors of one symmetric matrix; vectors are columns, stored row-major.
#[derive(Clone, Copy, Debug)]
pub struct Eigenpairs<'a> {
    /// Eigenvalues.
    pub values: &'a [f64],
    /// Eigenvectors, one a column, row-major.
    pub vectors: &'a [f64],
}

impl Eigenpairs<'_> {
    fn fit(&self, rows: usize) -> bool {
        self.vectors.len() == rows * self.values.len()
            && self
                .values
                .iter()
                .chain(self.vectors)
                .all(|x| x.is_finite())
    }
}

/// The eigenpairs of `X^T X` (`d` rows, at most `d` of them) and of the coupling (`q` rows; none without coupling).
#[derive(Clone, Copy, Debug)]
pub struct Eigenbasis<'a> {
    features: Eigenpairs<'a>,
    coupling: Option<Eigenpairs<'a>>,
    columns: usize,
    labels: usize,
    largest: f64,
}

/// A `d x q` matrix in the basis.
#[derive(Clone, Debug)]
pub(super) struct Rotated {
    /// The matrix times `V`, `d x q`.
    pub mixed: Vec<f64>,
    /// `U^T` times that, `r x q`.
    pub inside: Vec<f64>,
}

impl<'a> Eigenbasis<'a> {
    /// Takes the eigenpairs that belong to `problem`.
    ///
    /// # Errors
    /// When they do not fit it or are not finite.
    pub fn new(
        problem: &Problem<'_>,
        features: Eigenpairs<'a>,
        coupling: Option<Eigenpairs<'a>>,
    ) -> Result<Self, SolverError> {
        let (d, q) = (problem.dimension(), problem.labels);
        let coupled = coupling.is_none_or(|pairs| pairs.fit(q) && pairs.values.len() == q);
        let fits = features.fit(d) && features.values.len() <= d && coupled;
        if !fits || coupling.is_some() != problem.coupling.is_some() {
            return Err(refused(
                "basis",
                format!("eigenpairs that do not fit {d} features and {q} labels"),
                "finite eigenpairs of X^T X, and of the coupling if there is one",
            ));
        }
        let largest = |values: &[f64]| values.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        Ok(Self {
            features,
            coupling,
            columns: d,
            labels: q,
            largest: largest(features.values) + coupling.map_or(0.0, |pairs| largest(pairs.values)),
        })
    }

    /// Whether `U` is square.
    pub(super) fn complete(&self) -> bool {
        self.rank() == self.columns
    }

    fn rank(&self) -> usize {
        self.features.values.len()
    }

    pub(super) fn feature_values(&self) -> &'a [f64] {
        self.features.values
    }

    pub(super) fn label_value(&self, k: usize) -> f64 {
        self.coupling.map_or(0.0, |pairs| pairs.values[k])
    }

    /// `1/h`, and 0 where `H` is 0.
    pub(super) fn inverse(&self, h: f64) -> f64 {
        if self.is_null(h) { 0.0 } else { 1.0 / h }
    }

    fn is_null(&self, h: f64) -> bool {
        h <= NULL_SHARE * self.largest
    }

    fn has_null_space(&self) -> bool {
        let smallest = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
        let feature = if self.complete() {
            smallest(self.features.values)
        } else {
            0.0
        };
        let label = self.coupling.map_or(0.0, |pairs| smallest(pairs.values));
        self.is_null(feature + label)
    }

    /// Rows of a matrix times `V`, or times its transpose.
    pub(super) fn mix(&self, rows: &[f64], transposed: bool, out: &mut [f64]) {
        let q = self.labels;
        let Some(pairs) = self.coupling else {
            out.copy_from_slice(rows);
            return;
        };
        let vectors = View::rows(pairs.vectors, q);
        let right = if transposed {
            vectors.transposed()
        } else {
            vectors
        };
        multiply((out.len() / q, q, q), View::rows(rows, q), right, out);
    }

    /// `inside = U^T mixed`, each entry times what `factor` makes of `s_i` and `k`.
    pub(super) fn project(
        &self,
        mixed: &[f64],
        inside: &mut [f64],
        factor: impl Fn(f64, usize) -> f64 + Sync + Send,
        threads: &Threads,
    ) {
        let (d, r, q) = (self.columns, self.rank(), self.labels);
        threads.for_each_chunk(inside, ROWS_PER_TASK * q, |index, chunk| {
            let first = index * ROWS_PER_TASK;
            let left = View {
                data: &self.features.vectors[first..],
                row_stride: 1,
                column_stride: r,
            };
            multiply((chunk.len() / q, d, q), left, View::rows(mixed, q), chunk);
            for (row, &s) in chunk
                .chunks_exact_mut(q)
                .zip(&self.features.values[first..])
            {
                for (k, value) in row.iter_mut().enumerate() {
                    *value *= factor(s, k);
                }
            }
        });
    }

    /// Adds the rows from `first` on of `U inside` to `out`.
    pub(super) fn add_rows(&self, inside: &[f64], first: usize, out: &mut [f64]) {
        let (r, q) = (self.rank(), self.labels);
        multiply_add(
            (out.len() / q, r, q),
            View::rows(&self.features.vectors[first * r..], r),
            View::rows(inside, q),
            out,
        );
    }

    /// A `d x q` matrix in the basis.
    pub(super) fn rotate(&self, matrix: &[f64], threads: &Threads) -> Rotated {
        let q = self.labels;
        let mut mixed = memory::zeros(matrix.len());
        threads.for_each_chunk(&mut mixed, ROWS_PER_TASK * q, |index, chunk| {
            let first = index * ROWS_PER_TASK * q;
            self.mix(&matrix[first..first + chunk.len()], false, chunk);
        });
        let mut inside = memory::matrix(self.rank(), q);
        self.project(&mixed, &mut inside, |_, _| 1.0, threads);
        Rotated { mixed, inside }
    }

    /// A function of the form times a rotated matrix, rotated back.
    fn apply(
        &self,
        matrix: &Rotated,
        function: impl Fn(f64) -> f64 + Sync + Send,
        threads: &Threads,
    ) -> Vec<f64> {
        let q = self.labels;
        let outside: Vec<f64> = (0..q)
            .map(|k| {
                if self.complete() {
                    0.0
                } else {
                    function(self.label_value(k))
                }
            })
            .collect();
        let mut inside = memory::copied(&matrix.inside);
        for (row, &s) in inside.chunks_exact_mut(q).zip(self.features.values) {
            for (k, x) in row.iter_mut().enumerate() {
                *x *= function(s + self.label_value(k)) - outside[k];
            }
        }
        let mut out = memory::zeros(matrix.mixed.len());
        threads.for_each_chunk(&mut out, ROWS_PER_TASK * q, |index, chunk| {
            let first = index * ROWS_PER_TASK;
            let mixed = &matrix.mixed[first * q..first * q + chunk.len()];
            let mut part = vec![0.0; chunk.len()];
            for (row, values) in part.chunks_exact_mut(q).zip(mixed.chunks_exact(q)) {
                for k in 0..q {
                    row[k] = values[k] * outside[k];
                }
            }
            self.add_rows(&inside, first, &mut part);
            self.mix(&part, true, chunk);
        });
        out
    }

    /// `<A, f(H) B>` by column of the basis; `range` says that one of the two has nothing outside the columns of `U`.
    pub(super) fn products(
        &self,
        (a, b): (&Rotated, &Rotated),
        function: impl Fn(f64) -> f64,
        range: bool,
    ) -> Vec<f64> {
        let q = self.labels;
        let mut sums = vec![0.0; q];
        let mut within = vec![0.0; q];
        let rows = a.inside.chunks_exact(q).zip(b.inside.chunks_exact(q));
        for ((a, b), &s) in rows.zip(self.features.values) {
            for k in 0..q {
                sums[k] += a[k] * b[k] * function(s + self.label_value(k));
                within[k] += a[k] * b[k];
            }
        }
        if !range && !self.complete() {
            let mut all = vec![0.0; q];
            for (a, b) in a.mixed.chunks_exact(q).zip(b.mixed.chunks_exact(q)) {
                for k in 0..q {
                    all[k] += a[k] * b[k];
                }
            }
            for k in 0..q {
                sums[k] += (all[k] - within[k]) * function(self.label_value(k));
            }
        }
        sums
    }

    /// What a bound depends on of `correlation`, which is `d x q` here.
    pub(super) fn anchor(&self, correlation: &[f64], threads: &Threads) -> Anchor {
        let rotated = self.rotate(correlation, threads);
        let norms = self.products((&rotated, &rotated), |h| self.inverse(h), true);
        Anchor { rotated, norms }
    }

    /// The lower bound of the optimum from a `d x q` matrix in the box, as good as the rounding of this basis allows.
    pub(super) fn bound(
        &self,
        problem: &Problem<'_>,
        anchor: &Anchor,
        dual: &[f64],
        threads: &Threads,
    ) -> Bound {
        let q = self.labels;
        let mut rotated = self.rotate(dual, threads);
        let mut largest = vec![0.0_f64; q];
        let mut note = |matrix: &[f64]| {
            for row in matrix.chunks_exact(q) {
                for (most, x) in largest.iter_mut().zip(row) {
                    *most = most.max(x.abs());
                }
            }
        };
        if self.has_null_space() {
            let projected = self.apply(
                &rotated,
                |h| if self.is_null(h) { 0.0 } else { 1.0 },
                threads,
            );
            note(&projected);
            rotated = self.rotate(&projected, threads);
        } else {
            note(dual);
        }
        let crossed = self.products((&anchor.rotated, &rotated), |h| self.inverse(h), true);
        let squared = self.products((&rotated, &rotated), |h| self.inverse(h), false);
        let share = |largest, crossed, squared| best_share(problem.beta, largest, crossed, squared);
        let shares: Vec<f64> = if self.coupling.is_some() {
            let most = largest.iter().copied().fold(0.0, f64::max);
            vec![share(most, crossed.iter().sum(), squared.iter().sum()); q]
        } else {
            (0..q)
                .map(|k| share(largest[k], crossed[k], squared[k]))
                .collect()
        };
        let value = (0..q)
            .map(|k| {
                let t = shares[k];
                problem.squared_norms[k]
                    - (anchor.norms[k] - 2.0 * t * crossed[k] + t * t * squared[k])
            })
            .sum::<f64>();
        Bound {
            value: 0.5 * value,
            rotated,
            shares,
        }
    }

    /// The bound once more, from `X` itself: at the point `H^+ (C - S)`, whose gradient is `-S`, with what rounding may
    /// have added to it taken off.
    pub(super) fn confirmed(
        &self,
        problem: &Problem<'_>,
        anchor: &Anchor,
        bound: &Bound,
        gradient: impl Fn(&[f64]) -> Vec<f64>,
        threads: &Threads,
    ) -> f64 {
        let q = self.labels;
        let minus = |c: &[f64], s: &[f64]| -> Vec<f64> {
            let differences = c
                .iter()
                .zip(s)
                .enumerate()
                .map(|(at, (c, s))| c - bound.shares[at % q] * s);
            memory::collected(differences)
        };
        let rest = Rotated {
            mixed: minus(&anchor.rotated.mixed, &bound.rotated.mixed),
            inside: minus(&anchor.rotated.inside, &bound.rotated.inside),
        };
        let point = self.apply(&rest, |h| self.inverse(h), threads);
        let by_label = transposed(&point, self.columns, q);
        let gradient = gradient(&by_label);
        problem.certificate(&by_label, &gradient).dual
            - ROUNDING * self.largest * dot(&point, &point)
    }
}

/// `C = X^T Y` in the basis.
#[derive(Debug)]
pub(super) struct Anchor {
    pub rotated: Rotated,
    /// `<C, H^+ C>` by column of the basis.
    norms: Vec<f64>,
}

/// A lower bound and where it comes from.
#[derive(Debug)]
pub(super) struct Bound {
    pub value: f64,
    rotated: Rotated,
    /// The multiple of `S` that is used, by label without coupling.
    shares: Vec<f64>,
}

/// The multiple of a dual point, within the box of `beta`, that gives the largest bound.
fn best_share(beta: f64, largest: f64, crossed: f64, squared: f64) -> f64 {
    let limit = if largest > beta { beta / largest } else { 1.0 };
    if squared > 0.0 {
        (crossed / squared).clamp(-limit, limit)
    } else {
        limit
    }
}
