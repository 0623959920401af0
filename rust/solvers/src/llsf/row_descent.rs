//! Coordinate descent over the rows of `W`, for labels that are coupled.
//!
//! A visit takes one feature and minimises along its coefficients for all labels in turn; the coupling only mixes
//! coefficients of the same feature, so a visit needs one row of the gradient. An epoch visits the working set: the
//! features with a nonzero coefficient or a violated condition.
//!
//! With a stored `X^T X` the updates of a block of features are delayed: inside the block the gradients are kept current
//! through the block of `X^T X`, then one matrix product brings all others up to date. The iterates are those of the
//! plain method. Otherwise the residuals `X W - Y` are kept, and one column of `X` is met twice in a visit.
//!
//! Descent settles the signs quickly and is slow on nearly dependent features. So every few epochs take a Newton step
//! on the present support, by preconditioned conjugate gradients, with an exact search over the kinks on the way; and
//! the lower bound comes from a point of its own.

use super::certificate::Certificate;
use super::line_search::{SearchEnd, search};
use super::quadratic::{FeatureColumns, Quadratic, add_coupled, squared_column_norms};
use super::request::Rows;
use super::soft_threshold::coordinate;
use super::{Problem, Solution, transposed};
use crate::error::SolverError;
use crate::linalg::matmul::{View, multiply};
use crate::linalg::vector::{axpy, dot};
use crate::memory::{self, Purpose};
use crate::parallel::threads::Threads;
use crate::report::{Monitor, Settings, Status, Trace};

/// Features whose updates are applied to the others at once.
const BLOCK: usize = 64;
/// Features that one task of the delayed update brings up to date.
const ROWS_PER_TASK: usize = 128;
/// Epochs between two Newton steps.
const EPOCHS_PER_NEWTON_STEP: usize = 8;
/// Conjugate-gradient iterations in a Newton step, and the reduction of the residual at which they end.
const MAX_CONJUGATE_GRADIENTS: usize = 50;
const NEWTON_ACCURACY: f64 = 0.03;
/// The relative size of what sums of products lose, with a margin of a hundred.
const ROUNDING: f64 = 100.0 * f64::EPSILON;
/// Solves that one lower bound may take, and the part of the tolerance that may remain of the excess over `beta`.
const BOUND_ROUNDS: usize = 4;
const NEGLIGIBLE_EXCESS: f64 = 0.1;
/// Columns of `X` met between two questions to the monitor.
const BATCH: usize = 256;

/// Everything feature after feature (`d x q`).
struct State<'a> {
    problem: &'a Problem<'a>,
    coupling: &'a [f64],
    weights: Vec<f64>,
    /// `X^T (X W - Y)`: always current with a stored `X^T X`, else refreshed once an epoch.
    error: Vec<f64>,
    /// `alpha W M`.
    mixture: Vec<f64>,
}

impl State<'_> {
    /// Minimises along the coefficients of feature `j`, whose part of the gradient without the coupling is `error`.
    /// Writes the changes and returns whether there are any.
    fn visit(&mut self, j: usize, error: &[f64], squared_norm: f64, changes: &mut [f64]) -> bool {
        let (q, beta) = (self.problem.labels, self.problem.beta);
        let range = j * q..(j + 1) * q;
        let weights = &mut self.weights[range.clone()];
        let mixture = &mut self.mixture[range];
        let mut moved = false;
        for k in 0..q {
            let row = &self.coupling[k * q..(k + 1) * q];
            let new = coordinate(
                weights[k],
                error[k] + mixture[k],
                squared_norm + row[k],
                beta,
            );
            changes[k] = new - weights[k];
            if changes[k] != 0.0 {
                moved = true;
                weights[k] = new;
                axpy(changes[k], row, mixture);
            }
        }
        moved
    }

    /// The features with a nonzero coefficient or a violated condition.
    fn working_set(&self) -> Vec<usize> {
        let (q, beta) = (self.problem.labels, self.problem.beta);
        let features = (0..self.problem.dimension()).filter(|&j| {
            (j * q..(j + 1) * q).any(|at| {
                self.weights[at] != 0.0 || (self.error[at] + self.mixture[at]).abs() > beta
            })
        });
        memory::collected(features, Purpose::Columns)
    }

    fn certificate(&self) -> Certificate {
        let (q, d) = (self.problem.labels, self.problem.dimension());
        let gradient = self.error.iter().zip(&self.mixture).map(|(e, m)| e + m);
        let gradient = memory::collected(gradient, Purpose::FeaturesByLabels);
        self.problem.certificate(
            &transposed(&self.weights, d, q),
            &transposed(&gradient, d, q),
        )
    }
}

/// One epoch with a stored `X^T X`. Returns whether anything moved, or `None` when the monitor stops it.
fn epoch_on_gram(
    state: &mut State<'_>,
    gram: &[f64],
    set: &[usize],
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Option<bool> {
    let (q, d) = (state.problem.labels, state.problem.dimension());
    let mut error = vec![0.0; q];
    let mut changes = memory::matrix(BLOCK, q, Purpose::FeaturesByLabels);
    let mut panel = memory::room(BLOCK * d, Purpose::FeaturesByFeatures);
    let mut moved = false;
    for block in set.chunks(BLOCK) {
        if monitor.breaks_off() {
            return None;
        }
        let mut changed = Vec::with_capacity(block.len());
        for &j in block {
            let row = &gram[j * d..(j + 1) * d];
            error.copy_from_slice(&state.error[j * q..(j + 1) * q]);
            for (place, &other) in changed.iter().enumerate() {
                axpy(row[other], &changes[place * q..(place + 1) * q], &mut error);
            }
            let place = changed.len();
            if state.visit(j, &error, row[j], &mut changes[place * q..(place + 1) * q]) {
                changed.push(j);
            }
        }
        if changed.is_empty() {
            continue;
        }
        moved = true;
        panel.clear();
        for &j in &changed {
            panel.extend_from_slice(&gram[j * d..(j + 1) * d]);
        }
        threads.for_each_chunk(&mut state.error, ROWS_PER_TASK * q, |index, rows| {
            let left = View {
                data: &panel[index * ROWS_PER_TASK..],
                row_stride: 1,
                column_stride: d,
            };
            multiply(
                (rows.len() / q, changed.len(), q),
                left,
                View::rows(&changes, q),
                rows,
                q,
                true,
            );
        });
    }
    Some(moved)
}

/// The residuals `X W - Y` (`n x q`) and the columns that meet them.
struct Residuals {
    columns: FeatureColumns,
    values: Vec<f64>,
}

impl Residuals {
    fn new(problem: &Problem<'_>, rows: Rows<'_>, weights: &[f64]) -> Self {
        let (n, d, q) = (problem.features.rows(), problem.dimension(), problem.labels);
        let columns = FeatureColumns::of(problem.features);
        let mut values = memory::collected(
            (0..n * q).map(|entry| -rows.entry(entry / q, entry % q)),
            Purpose::RowsByLabels,
        );
        for j in 0..d {
            let row = &weights[j * q..(j + 1) * q];
            if row.iter().any(|&w| w != 0.0) {
                columns.for_each(j, n, |i, x| axpy(x, row, &mut values[i * q..(i + 1) * q]));
            }
        }
        Self { columns, values }
    }

    /// Row `j` of `X^T (X W - Y)`.
    fn error(&self, j: usize, n: usize, q: usize, error: &mut [f64]) {
        error.fill(0.0);
        self.columns.for_each(j, n, |i, x| {
            axpy(x, &self.values[i * q..(i + 1) * q], error)
        });
    }

    /// One epoch. Returns whether anything moved, or `None` when the monitor stops it.
    fn epoch(
        &mut self,
        state: &mut State<'_>,
        set: &[usize],
        squared_norms: &[f64],
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> Option<bool> {
        let (n, q) = (state.problem.features.rows(), state.problem.labels);
        let mut error = vec![0.0; q];
        let mut changes = vec![0.0; q];
        let mut moved = false;
        for batch in set.chunks(BATCH) {
            if monitor.breaks_off() {
                return None;
            }
            for &j in batch {
                self.error(j, n, q, &mut error);
                if state.visit(j, &error, squared_norms[j], &mut changes) {
                    moved = true;
                    let values = &mut self.values;
                    self.columns.for_each(j, n, |i, x| {
                        axpy(x, &changes, &mut values[i * q..(i + 1) * q])
                    });
                }
            }
        }
        let this = &*self;
        threads.for_each_chunk(&mut state.error, q, |j, row| this.error(j, n, q, row));
        Some(moved)
    }
}

/// What a state is made from.
struct Form<'a> {
    problem: &'a Problem<'a>,
    coupling: &'a [f64],
    rows: Rows<'a>,
    quadratic: Quadratic,
    squared_norms: Vec<f64>,
    threads: &'a Threads,
}

impl<'a> Form<'a> {
    fn new(
        problem: &'a Problem<'a>,
        coupling: &'a [f64],
        rows: Rows<'a>,
        threads: &'a Threads,
    ) -> Self {
        Self {
            problem,
            coupling,
            rows,
            quadratic: Quadratic::for_coordinates(problem.features),
            squared_norms: squared_column_norms(problem.features),
            threads,
        }
    }

    /// The state at `weights` (`d x q`), and the residuals where they are kept.
    fn state(&self, weights: Vec<f64>) -> (State<'a>, Option<Residuals>) {
        let (q, d) = (self.problem.labels, self.problem.dimension());
        let by_label = transposed(&weights, d, q);
        let error = self.problem.error(&self.quadratic, &by_label, self.threads);
        let mut mixture = memory::matrix(q, d, Purpose::FeaturesByLabels);
        add_coupled(self.coupling, q, &by_label, d, &mut mixture, self.threads);
        let residuals = matches!(self.quadratic, Quadratic::Implicit)
            .then(|| Residuals::new(self.problem, self.rows, &weights));
        let state = State {
            problem: self.problem,
            coupling: self.coupling,
            error: transposed(&error, q, d),
            mixture: transposed(&mixture, q, d),
            weights,
        };
        (state, residuals)
    }

    /// One epoch over the working set. Returns whether anything moved, or `None` when the monitor stops it.
    fn epoch(
        &self,
        state: &mut State<'_>,
        residuals: Option<&mut Residuals>,
        set: &[usize],
        monitor: &mut dyn Monitor,
    ) -> Option<bool> {
        match (&self.quadratic, residuals) {
            (Quadratic::Stored(gram), _) => epoch_on_gram(state, gram, set, self.threads, monitor),
            (Quadratic::Implicit, Some(residuals)) => {
                residuals.epoch(state, set, &self.squared_norms, self.threads, monitor)
            }
            (Quadratic::Implicit, None) => Some(false),
        }
    }
}

impl Form<'_> {
    /// The quadratic form times a `d x q` matrix.
    fn product(&self, matrix: &[f64]) -> Vec<f64> {
        let (q, d) = (self.problem.labels, self.problem.dimension());
        let by_label = transposed(matrix, d, q);
        let mut product = memory::matrix(q, d, Purpose::FeaturesByLabels);
        self.quadratic
            .products(self.problem.features, &by_label, &mut product, self.threads);
        add_coupled(self.coupling, q, &by_label, d, &mut product, self.threads);
        transposed(&product, q, d)
    }

    /// An upper bound of the quadratic form's largest eigenvalue: the trace of one part, and the size of the other's
    /// entries times their number in a row.
    fn largest_curvature(&self) -> f64 {
        let entry = self
            .coupling
            .iter()
            .fold(0.0_f64, |most, c| most.max(c.abs()));
        self.squared_norms.iter().sum::<f64>() + entry * self.problem.labels as f64
    }

    /// Solves with the quadratic form on some entries of a `d x q` matrix, approximately. Returns the solution and its
    /// curvature; `None` when there is none, or the monitor stops it.
    fn conjugate_gradients(
        &self,
        entries: &[usize],
        mut residual: Vec<f64>,
        accuracy: f64,
        monitor: &mut dyn Monitor,
    ) -> Option<(Vec<f64>, f64)> {
        let q = self.problem.labels;
        let curvatures = entries
            .iter()
            .map(|&at| self.squared_norms[at / q] + self.coupling[at % q * (q + 1)]);
        let curvatures = memory::collected(curvatures, Purpose::FeaturesByLabels);
        let precondition = |residual: &[f64]| -> Vec<f64> {
            let pairs = residual.iter().zip(&curvatures);
            memory::collected(
                pairs.map(|(r, c)| r / c.max(f64::MIN_POSITIVE)),
                Purpose::FeaturesByLabels,
            )
        };
        let goal = accuracy * dot(&residual, &residual).sqrt();
        let mut preconditioned = precondition(&residual);
        let mut direction = memory::copied(&preconditioned, Purpose::FeaturesByLabels);
        let mut solution = memory::zeros(entries.len(), Purpose::FeaturesByLabels);
        let mut strength = dot(&residual, &preconditioned);
        let mut curvature = 0.0;
        let mut full = memory::zeros(self.problem.size(), Purpose::FeaturesByLabels);
        for _ in 0..MAX_CONJUGATE_GRADIENTS {
            if monitor.breaks_off() {
                return None;
            }
            for (&at, &value) in entries.iter().zip(&direction) {
                full[at] = value;
            }
            let product = self.product(&full);
            let product = memory::collected(
                entries.iter().map(|&at| product[at]),
                Purpose::FeaturesByLabels,
            );
            let of_direction = dot(&direction, &product);
            let flat = ROUNDING * self.largest_curvature() * dot(&direction, &direction);
            if !(of_direction > flat && strength > 0.0) {
                break;
            }
            let length = strength / of_direction;
            axpy(length, &direction, &mut solution);
            axpy(-length, &product, &mut residual);
            // Conjugate steps add up their curvatures.
            curvature += length * length * of_direction;
            if dot(&residual, &residual).sqrt() <= goal {
                break;
            }
            preconditioned = precondition(&residual);
            let next = dot(&residual, &preconditioned);
            for (p, z) in direction.iter_mut().zip(&preconditioned) {
                *p = z + next / strength * *p;
            }
            strength = next;
        }
        (curvature > 0.0 && curvature.is_finite()).then_some((solution, curvature))
    }

    /// The point that a Newton step on the support leads to.
    fn newton(&self, state: &State<'_>, monitor: &mut dyn Monitor) -> Option<Vec<f64>> {
        let beta = self.problem.beta;
        let support = (0..state.weights.len()).filter(|&at| state.weights[at] != 0.0);
        let support = memory::collected(support, Purpose::FeaturesByLabels);
        let weights = memory::collected(
            support.iter().map(|&at| state.weights[at]),
            Purpose::FeaturesByLabels,
        );
        let descent = support
            .iter()
            .map(|&at| -(state.error[at] + state.mixture[at] + beta.copysign(state.weights[at])));
        let descent = memory::collected(descent, Purpose::FeaturesByLabels);
        let (direction, curvature) =
            self.conjugate_gradients(&support, descent, NEWTON_ACCURACY, monitor)?;
        let SearchEnd { length, vanishing } = search(&weights, &direction, curvature, beta);
        let mut point = memory::copied(&state.weights, Purpose::FeaturesByLabels);
        for (&at, &change) in support.iter().zip(&direction) {
            point[at] += length * change;
        }
        if let Some(place) = vanishing {
            point[support[place]] = 0.0;
        }
        Some(point)
    }

    /// A lower bound of the optimum from a point whose gradient is nearly that of this state, cut off at `beta`: less is
    /// lost by this than by scaling the whole gradient down to its largest entry.
    fn lower_bound(&self, state: &State<'_>, tolerance: f64, monitor: &mut dyn Monitor) -> f64 {
        let (q, d, beta) = (
            self.problem.labels,
            self.problem.dimension(),
            self.problem.beta,
        );
        let entries = memory::collected(0..state.weights.len(), Purpose::FeaturesByLabels);
        let mut point = memory::copied(&state.weights, Purpose::FeaturesByLabels);
        let gradient = state.error.iter().zip(&state.mixture).map(|(e, m)| e + m);
        let mut gradient = memory::collected(gradient, Purpose::FeaturesByLabels);
        let mut bound = f64::NEG_INFINITY;
        for _ in 0..BOUND_ROUNDS {
            let excess = gradient.iter().map(|g| g.clamp(-beta, beta) - g);
            let excess = memory::collected(excess, Purpose::FeaturesByLabels);
            if excess
                .iter()
                .all(|e| e.abs() <= NEGLIGIBLE_EXCESS * tolerance * beta)
            {
                break;
            }
            let Some((correction, _)) =
                self.conjugate_gradients(&entries, excess, NEWTON_ACCURACY, monitor)
            else {
                break;
            };
            axpy(1.0, &correction, &mut point);
            let by_label = transposed(&point, d, q);
            let fresh = self
                .problem
                .gradient(&self.quadratic, &by_label, self.threads);
            // A point far out along a direction without curvature would turn rounding into a false bound.
            let rounding = ROUNDING * self.largest_curvature() * dot(&point, &point);
            bound = bound.max(self.problem.certificate(&by_label, &fresh).dual - rounding);
            gradient = transposed(&fresh, q, d);
        }
        bound
    }
}

/// Why the loop ends at a point; `None` when it goes on.
fn ending(
    problem: &Problem<'_>,
    certificate: &Certificate,
    epoch: usize,
    settings: &Settings,
    monitor: &mut dyn Monitor,
) -> Option<Status> {
    if problem.certified(certificate, settings) {
        Some(Status::Converged)
    } else if epoch == settings.max_epochs {
        Some(Status::MaxIterations)
    } else {
        monitor.out_of_time().then_some(Status::TimeLimit)
    }
}

/// Solves a convex problem from `start` (`q x d`, default 0).
///
/// # Errors
/// When an argument is out of range.
pub(super) fn solve(
    problem: &Problem<'_>,
    coupling: &[f64],
    rows: Rows<'_>,
    start: Option<Vec<f64>>,
    settings: &Settings,
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Result<Solution, SolverError> {
    let mut trace = Trace::default();
    let (q, d) = (problem.labels, problem.dimension());
    let form = Form::new(problem, coupling, rows, threads);
    let (mut state, mut residuals) = form.state(transposed(&problem.start(start)?, q, d));

    let mut bound = f64::NEG_INFINITY;
    let mut settled_primal = f64::INFINITY;
    let mut epoch = 0;
    let status = loop {
        let mut certificate = state.certificate();
        certificate.dual = certificate.dual.max(bound);
        let set = state.working_set();
        let Certificate { primal, dual, .. } = certificate;
        if epoch > 0 {
            trace.record(epoch, primal, dual, set.len(), monitor);
        }
        if let Some(status) = ending(problem, &certificate, epoch, settings, monitor) {
            break status;
        }
        epoch += 1;
        match form.epoch(&mut state, residuals.as_mut(), &set, monitor) {
            None => break monitor.status(),
            Some(false) => break Status::Stalled,
            Some(true) => {}
        }
        if epoch % EPOCHS_PER_NEWTON_STEP == 0 {
            if let Some(weights) = form.newton(&state, monitor) {
                (state, residuals) = form.state(weights);
            }
            // The bound that the gradient gives by itself is poor for long after the objective has settled.
            let settled = settled_primal - primal <= settings.tolerance * primal.abs();
            settled_primal = primal;
            if settled {
                bound = bound.max(form.lower_bound(&state, settings.tolerance, monitor));
            }
        }
    };

    let weights = transposed(&state.weights, d, q);
    Ok(problem.solution(
        &form.quadratic,
        weights,
        bound,
        status,
        epoch,
        trace,
        settings,
        threads,
    ))
}
