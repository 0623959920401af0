//! Coordinate descent over working sets, for labels that are not coupled: each is a lasso by itself.
//!
//! A label's working set holds its nonzero coefficients and the zeros that violate optimality. The lasso on this set is
//! solved to a tenth of the label's violation, on a block of `X^T X` that stays in the processor's cache; then the
//! label's full gradient is brought up to date. Each label stops at its own duality gap, and threads share the labels.

use super::certificate::{Certificate, Sums, combine};
use super::lasso::Lasso;
use super::quadratic::{FeatureColumns, Quadratic};
use super::{Problem, Solution};
use crate::error::SolverError;
use crate::linalg::vector::axpy;
use crate::memory;
use crate::parallel::threads::Threads;
use crate::report::{Monitor, Settings, Status, Trace};

/// How far below the violation at the start of a visit the working set is solved.
const INNER_ACCURACY: f64 = 0.1;
/// Labels visited between two questions to the monitor.
const BATCH: usize = 16;
/// A working set may grow to this many times the support, and always to `SMALL_SET`.
const GROWTH: usize = 2;
const SMALL_SET: usize = 64;

/// One label's coefficients and what is kept up to date with them.
struct Label {
    weights: Vec<f64>,
    /// `X^T (X w - y)`, the gradient of the smooth part.
    gradient: Vec<f64>,
    /// `X w`, where `X^T X` is not stored.
    scores: Vec<f64>,
    done: bool,
    violation: f64,
}

impl Label {
    /// The support and the largest violators, in ascending order.
    fn working_set(&self, beta: f64) -> Vec<usize> {
        let (mut set, mut violators) = (Vec::new(), Vec::new());
        for (j, &w) in self.weights.iter().enumerate() {
            if w != 0.0 {
                set.push(j);
            } else if self.gradient[j].abs() > beta {
                violators.push(j);
            }
        }
        let room = (GROWTH * set.len()).max(SMALL_SET) - set.len();
        if violators.len() > room {
            violators.select_nth_unstable_by(room, |&a, &b| {
                self.gradient[b].abs().total_cmp(&self.gradient[a].abs())
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
    columns: Option<&'a FeatureColumns>,
}

impl Visit<'_> {
    /// Visits all labels that are not done. Returns whether a coefficient changed; `None` when interrupted.
    fn epoch(
        &self,
        labels: &mut [Label],
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> Option<bool> {
        let mut moved = false;
        for (index, batch) in labels.chunks_mut(BATCH).enumerate() {
            if monitor.breaks_off() {
                return None;
            }
            let changed = threads.map_chunks(batch, 1, |k, labels| {
                let solve = |label: &mut Label| !label.done && self.solve(index * BATCH + k, label);
                labels.iter_mut().any(solve)
            });
            moved |= changed.contains(&true);
        }
        Some(moved)
    }

    /// Brings label `k` to a tenth of its violation on a working set. Returns whether a coefficient changed.
    fn solve(&self, k: usize, label: &mut Label) -> bool {
        let beta = self.problem.beta;
        let set = label.working_set(beta);
        let before = set.iter().map(|&j| label.weights[j]).collect::<Vec<_>>();
        let mut lasso = Lasso {
            form: self.form(&set),
            weights: before.to_vec(),
            gradient: set.iter().map(|&j| label.gradient[j]).collect(),
            beta,
        };
        lasso.solve(INNER_ACCURACY * label.violation);
        for (&j, &w) in set.iter().zip(&lasso.weights) {
            label.weights[j] = w;
        }
        let changes = set
            .iter()
            .zip(&before)
            .map(|(&j, &old)| (j, label.weights[j] - old))
            .filter(|&(_, change)| change != 0.0);
        let changes = changes.collect::<Vec<_>>();
        let d = self.problem.dimension();
        match (self.quadratic, self.columns) {
            (Quadratic::Stored(gram), _) => {
                for &(j, change) in &changes {
                    axpy(change, &gram[j * d..(j + 1) * d], &mut label.gradient);
                }
            }
            (Quadratic::Implicit, Some(columns)) => {
                for &(j, change) in &changes {
                    columns.axpy(change, j, &mut label.scores);
                }
                let correlation = &self.problem.correlation[k * d..(k + 1) * d];
                for (j, gradient) in label.gradient.iter_mut().enumerate() {
                    *gradient = columns.dot(j, &label.scores) - correlation[j];
                }
            }
            (Quadratic::Implicit, None) => {}
        }
        !changes.is_empty()
    }

    /// The quadratic form on a working set.
    fn form(&self, set: &[usize]) -> Vec<f64> {
        let (n, d, m) = (
            self.problem.features.rows(),
            self.problem.dimension(),
            set.len(),
        );
        let mut form = memory::room(m.saturating_mul(m));
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
        form
    }
}

/// The labels at `weights` (`q x d`).
fn labels_at(visit: &Visit<'_>, weights: &[f64], threads: &Threads) -> Vec<Label> {
    let problem = visit.problem;
    let (d, q) = (problem.dimension(), problem.labels);
    let gradient = problem.error(visit.quadratic, weights, threads);
    let scores = |k: usize| {
        let mut scores = Vec::new();
        if let Some(columns) = visit.columns {
            scores = memory::zeros(problem.features.rows());
            for (j, &w) in weights[k * d..(k + 1) * d].iter().enumerate() {
                if w != 0.0 {
                    columns.axpy(w, j, &mut scores);
                }
            }
        }
        scores
    };
    let labels = (0..q).map(|k| Label {
        weights: memory::copied(&weights[k * d..(k + 1) * d]),
        gradient: memory::copied(&gradient[k * d..(k + 1) * d]),
        scores: scores(k),
        done: false,
        violation: f64::INFINITY,
    });
    memory::collected(labels)
}

/// The certificate of all labels; marks those whose own gap and violation are small enough as done.
fn certify(problem: &Problem<'_>, labels: &mut [Label], scale: f64, tolerance: f64) -> Certificate {
    let sums: Vec<Sums> = labels
        .iter()
        .enumerate()
        .map(|(k, label)| Sums::of_label(problem, k, &label.weights, &label.gradient))
        .collect();
    let certificate = combine(problem, sums.iter().copied());
    let share = certificate.primal / problem.labels as f64;
    for (label, sums) in labels.iter_mut().zip(&sums) {
        label.violation = sums.kkt_residual;
        let (own, own_dual) = (sums.primal(problem.beta), sums.own_dual(problem.beta));
        // The mean of both shares: the sum of the gaps is then within the tolerance of the sum of the objectives.
        label.done = own - own_dual <= 0.5 * tolerance * (own + share)
            && label.violation <= tolerance * scale;
    }
    certificate
}

/// Solves a problem without coupling from `start` (`q x d`, default 0).
///
/// # Errors
/// When an argument is out of range, or the labels are coupled.
pub fn solve(
    problem: &Problem<'_>,
    start: Option<Vec<f64>>,
    settings: &Settings,
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Result<Solution, SolverError> {
    settings.validate()?;
    if problem.coupling.is_some() {
        return Err(SolverError::Unsupported(
            "coordinate descent needs labels that are not coupled (alpha = 0), expected solver 'admm' or 'apg'",
        ));
    }
    let mut trace = Trace::default();
    let quadratic = Quadratic::for_coordinates(problem.features);
    let columns =
        matches!(quadratic, Quadratic::Implicit).then(|| FeatureColumns::of(problem.features));
    let visit = Visit {
        problem,
        quadratic: &quadratic,
        columns: columns.as_ref(),
    };
    let mut labels = labels_at(&visit, &problem.start(start)?, threads);
    let scale = problem.scale();
    let mut epoch = 0;
    let status = loop {
        let certificate = certify(problem, &mut labels, scale, settings.tolerance);
        if epoch > 0 {
            let active = labels.iter().filter(|label| !label.done).count();
            trace.record(epoch, certificate.primal, certificate.dual, active, monitor);
        }
        if problem.certified(&certificate, settings) {
            break Status::Converged;
        }
        if epoch == settings.max_epochs {
            break Status::MaxIterations;
        }
        if monitor.out_of_time() {
            break Status::TimeLimit;
        }
        epoch += 1;
        match visit.epoch(&mut labels, threads, monitor) {
            None => break monitor.status(),
            Some(false) => break Status::Stalled,
            Some(true) => {}
        }
    };

    let mut weights = memory::room(problem.size());
    for label in labels {
        weights.extend_from_slice(&label.weights);
    }
    Ok(problem.solution(
        &quadratic,
        weights,
        f64::NEG_INFINITY,
        status,
        epoch,
        trace,
        settings,
        threads,
    ))
}
