//! Coordinate descent over working sets, one label after another.
//!
//! A label's working set holds its nonzero coefficients and the zeros that violate optimality. The lasso on this set
//! (the other labels fixed) is solved to a tenth of the label's violation, on a block of `X^T X` that stays in the
//! processor's cache. Then the label's full gradient and the other labels' coupling terms are brought up to date. An
//! epoch visits every label whose violation counts.
//!
//! Labels without coupling are separate lassos: each stops at its own duality gap, and threads share them.

use super::certificate::{Certificate, Sums, combine, violation};
use super::lasso::Lasso;
use super::quadratic::{Columns, Quadratic};
use super::{Problem, Solution};
use crate::report::{Monitor, Report, Settings, SolverError, Status, Trace, relative_gap};
use crate::threads::Threads;
use crate::vector::axpy;

/// How far below the violation at the start of a visit the working set is solved.
const INNER_ACCURACY: f64 = 0.1;
/// Labels whose violation is below this fraction of the largest are left for later.
const SKIPPED_VIOLATION: f64 = 0.05;
/// Labels visited between two questions to the monitor.
const BATCH: usize = 16;
/// A working set may grow to this many times the support, and always to `SMALL_SET`.
const GROWTH: usize = 2;
const SMALL_SET: usize = 64;

/// One label's coefficients and what is kept up to date with them.
struct Label {
    weights: Vec<f64>,
    /// `X^T (X w - y)`.
    error: Vec<f64>,
    /// The coupling's part of the gradient; empty without coupling.
    mixture: Vec<f64>,
    /// `X w - y`, where `X^T X` is not stored.
    residual: Vec<f64>,
    done: bool,
    violation: f64,
}

impl Label {
    fn gradient(&self, j: usize) -> f64 {
        self.error[j] + self.mixture.get(j).copied().unwrap_or(0.0)
    }

    fn sums(&self, problem: &Problem<'_>, k: usize) -> Sums {
        let d = problem.dimension();
        Sums::of_label(
            problem.squared_norms[k],
            &self.weights,
            (0..d).map(|j| self.gradient(j)),
            &problem.correlation[k * d..(k + 1) * d],
            problem.beta,
        )
    }

    /// The support and the largest violators, in ascending order.
    fn working_set(&self, beta: f64) -> Vec<usize> {
        let (mut set, mut violators) = (Vec::new(), Vec::new());
        for (j, &w) in self.weights.iter().enumerate() {
            if w != 0.0 {
                set.push(j);
            } else if self.gradient(j).abs() > beta {
                violators.push(j);
            }
        }
        let room = (GROWTH * set.len()).max(SMALL_SET) - set.len();
        if violators.len() > room {
            violators.select_nth_unstable_by(room, |&a, &b| {
                self.gradient(b).abs().total_cmp(&self.gradient(a).abs())
            });
            violators.truncate(room);
        }
        set.extend(violators);
        set.sort_unstable();
        set
    }
}

/// What all visits share.
struct Visit<'a> {
    problem: &'a Problem<'a>,
    quadratic: &'a Quadratic,
    columns: Option<&'a Columns>,
}

impl Visit<'_> {
    /// Brings a label to a tenth of its violation on a working set. Returns the coefficients that changed and by how
    /// much. `ridge` is the coupling of the label with itself.
    fn solve(&self, label: &mut Label, ridge: f64) -> Vec<(usize, f64)> {
        let beta = self.problem.beta;
        let set = label.working_set(beta);
        let before: Vec<f64> = set.iter().map(|&j| label.weights[j]).collect();
        let mut lasso = Lasso {
            form: self.form(&set, ridge),
            weights: before.clone(),
            gradient: set.iter().map(|&j| label.gradient(j)).collect(),
            beta,
        };
        lasso.solve(INNER_ACCURACY * label.violation);
        for (&j, &w) in set.iter().zip(&lasso.weights) {
            label.weights[j] = w;
        }
        let changes: Vec<(usize, f64)> = set
            .iter()
            .zip(&before)
            .map(|(&j, &old)| (j, label.weights[j] - old))
            .filter(|&(_, change)| change != 0.0)
            .collect();
        match (self.quadratic, self.columns) {
            (Quadratic::Stored(gram), _) => {
                let d = self.problem.dimension();
                for &(j, change) in &changes {
                    axpy(change, &gram[j * d..(j + 1) * d], &mut label.error);
                }
            }
            (Quadratic::Implicit, Some(columns)) => {
                for &(j, change) in &changes {
                    columns.axpy(change, j, &mut label.residual);
                }
                for (j, error) in label.error.iter_mut().enumerate() {
                    *error = columns.dot(j, &label.residual);
                }
            }
            (Quadratic::Implicit, None) => {}
        }
        changes
    }

    /// The quadratic form on a working set.
    fn form(&self, set: &[usize], ridge: f64) -> Vec<f64> {
        let (n, d, m) = (
            self.problem.features.rows(),
            self.problem.dimension(),
            set.len(),
        );
        let mut form = Vec::with_capacity(m * m);
        match (self.quadratic, self.columns) {
            (Quadratic::Stored(gram), _) => {
                for &j in set {
                    let row = &gram[j * d..(j + 1) * d];
                    form.extend(set.iter().map(|&other| row[other]));
                }
            }
            (Quadratic::Implicit, Some(columns)) => {
                form.resize(m * m, 0.0);
                let mut column = vec![0.0; n];
                for (k, &j) in set.iter().enumerate() {
                    columns.axpy(1.0, j, &mut column);
                    for (l, &other) in set[..=k].iter().enumerate() {
                        let product = columns.dot(other, &column);
                        form[k * m + l] = product;
                        form[l * m + k] = product;
                    }
                    columns.axpy(-1.0, j, &mut column);
                }
            }
            (Quadratic::Implicit, None) => {}
        }
        for k in 0..m {
            form[k * m + k] += ridge;
        }
        form
    }
}

/// Solves a convex problem from `start` (`q x d`, default 0).
///
/// # Errors
/// When an argument is out of range, or the problem is not convex.
pub fn solve(
    problem: &Problem<'_>,
    indicator: &[u8],
    start: Option<Vec<f64>>,
    settings: &Settings,
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Result<Solution, SolverError> {
    settings.validate()?;
    if !problem.convex {
        return Err(SolverError::Unsupported(
            "coordinate descent needs a convex problem: shift the coupling, or use the published loop",
        ));
    }
    let mut trace = Trace::default();
    let (d, q, beta) = (problem.dimension(), problem.labels, problem.beta);
    let quadratic = Quadratic::for_coordinates(problem.features);
    let columns = matches!(quadratic, Quadratic::Implicit).then(|| Columns::of(problem.features));
    let visit = Visit {
        problem,
        quadratic: &quadratic,
        columns: columns.as_ref(),
    };
    let weights = problem.start(start)?;
    let mut labels = initial_labels(
        problem,
        indicator,
        &quadratic,
        columns.as_ref(),
        weights,
        threads,
    );

    let scale = problem.scale();
    let converged = |certificate: &Certificate| {
        relative_gap(certificate.primal, certificate.dual) <= settings.tolerance
            && certificate.kkt_residual <= settings.tolerance * scale
    };
    let mut epoch = 0;
    let mut status = loop {
        let sums: Vec<Sums> = labels
            .iter()
            .enumerate()
            .map(|(k, label)| label.sums(problem, k))
            .collect();
        let certificate = combine(problem, sums.iter().copied());
        if epoch > 0 {
            let active = labels.iter().filter(|label| !label.done).count();
            trace.record(epoch, certificate.primal, certificate.dual, active, monitor);
        }
        if converged(&certificate) {
            break Status::Converged;
        }
        if epoch == settings.max_epochs {
            break Status::MaxIterations;
        }
        epoch += 1;
        let share = certificate.primal / q as f64;
        for (label, sums) in labels.iter_mut().zip(&sums) {
            label.violation = sums.kkt_residual;
            let own = sums.primal(beta);
            label.done = if problem.coupling.is_some() {
                label.violation <= SKIPPED_VIOLATION * certificate.kkt_residual
            } else {
                let gap = own - sums.own_dual(beta);
                // The mean of both shares: the sum of the gaps is then within the tolerance of the sum of the objectives.
                gap <= 0.5 * settings.tolerance * (own + share)
                    && label.violation <= settings.tolerance * scale
            };
        }
        let mut moved = false;
        let mut stopped = false;
        for batch in 0..q.div_ceil(BATCH) {
            if monitor.interrupted() {
                stopped = true;
                break;
            }
            let range = batch * BATCH..((batch + 1) * BATCH).min(q);
            if let Some(coupling) = problem.coupling {
                for k in range {
                    let row = &coupling[k * q..(k + 1) * q];
                    // The labels before it have moved since the violation was measured.
                    labels[k].violation = (0..d)
                        .map(|j| violation(labels[k].weights[j], labels[k].gradient(j), beta))
                        .fold(0.0, f64::max);
                    if labels[k].violation <= SKIPPED_VIOLATION * certificate.kkt_residual {
                        continue;
                    }
                    let changes = visit.solve(&mut labels[k], row[k]);
                    moved |= !changes.is_empty();
                    for (label, &strength) in labels.iter_mut().zip(row) {
                        for &(j, change) in &changes {
                            label.mixture[j] += strength * change;
                        }
                    }
                }
            } else {
                let changed = threads.map_chunks(&mut labels[range], 1, |_, labels| {
                    labels
                        .iter_mut()
                        .any(|label| !label.done && !visit.solve(label, 0.0).is_empty())
                });
                moved |= changed.contains(&true);
            }
        }
        if stopped {
            break Status::Interrupted;
        }
        if !moved {
            break Status::Stalled;
        }
    };

    let weights: Vec<f64> = labels.into_iter().flat_map(|label| label.weights).collect();
    let gradient = problem.gradient(&quadratic, &weights, threads);
    let certificate = problem.certificate(&weights, &gradient);
    if status == Status::Converged && !converged(&certificate) {
        // Rounding in the updates hid what is left of the gap.
        status = Status::Stalled;
    } else if status == Status::Stalled && converged(&certificate) {
        status = Status::Converged;
    }
    Ok(Solution {
        weights,
        kkt_residual: certificate.kkt_residual,
        lipschitz: None,
        report: Report {
            status,
            epochs: epoch,
            primal: certificate.primal,
            dual: certificate.dual,
            history: trace.history,
        },
    })
}

fn initial_labels(
    problem: &Problem<'_>,
    indicator: &[u8],
    quadratic: &Quadratic,
    columns: Option<&Columns>,
    weights: Vec<f64>,
    threads: &Threads,
) -> Vec<Label> {
    let (n, d, q) = (problem.features.rows(), problem.dimension(), problem.labels);
    let cold = weights.iter().all(|&w| w == 0.0);
    let mut products = vec![0.0; q * d];
    let mut mixtures = vec![0.0; q * d];
    if !cold {
        quadratic.products(problem.features, &weights, &mut products, threads);
        if let Some(coupling) = problem.coupling {
            super::quadratic::add_coupled(coupling, q, &weights, d, &mut mixtures, threads);
        }
    }
    (0..q)
        .map(|k| {
            let range = k * d..(k + 1) * d;
            let weights = weights[range.clone()].to_vec();
            let mut residual = Vec::new();
            if let Some(columns) = columns {
                residual.extend((0..n).map(|i| -f64::from(indicator[i * q + k])));
                for (j, &w) in weights.iter().enumerate() {
                    if w != 0.0 {
                        columns.axpy(w, j, &mut residual);
                    }
                }
            }
            let error = products[range.clone()]
                .iter()
                .zip(&problem.correlation[range.clone()])
                .map(|(p, c)| p - c)
                .collect();
            let mixture = match problem.coupling {
                Some(_) => mixtures[range].to_vec(),
                None => Vec::new(),
            };
            Label {
                weights,
                error,
                mixture,
                residual,
                done: false,
                violation: f64::INFINITY,
            }
        })
        .collect()
}
