//! Coordinate descent over working sets, for labels that are not coupled: each is a lasso of its own.
//!
//! A label's working set holds its nonzero coefficients and the zeros that violate optimality. The lasso on this set is
//! solved to a tenth of the label's violation, on a block of `X^T X` that stays in the processor's cache; then the
//! label's full gradient is brought up to date. Each label stops at its own duality gap, and threads share the labels.

use super::certificate::{Certificate, Sums, combine};
use super::lasso::{Lasso, Point};
use super::problem::{End, Problem};
use super::quadratic::{FeatureColumns, Quadratic};
use super::tuning::LASSO;
use crate::error::SolverError;
use crate::linalg::vector::axpy;
use crate::memory;
use crate::parallel::threads::Threads;
use crate::report::{Monitor, Status, Trace};

/// Labels visited between two polls of the monitor.
const BATCH: usize = 16;

/// One label's coefficients and the vectors that are kept up to date with them.
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
        let room = (LASSO.growth * set.len()).max(LASSO.small_set) - set.len();
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

/// The quadratic form used by the steps of a label.
enum Form<'a> {
    /// `X^T X`
    Gram(&'a [f64]),
    /// The columns of `X`, where `X^T X` is not stored.
    Columns(FeatureColumns),
}

/// The data shared by all visits.
struct Visit<'a> {
    problem: &'a Problem<'a>,
    form: Form<'a>,
}

impl Visit<'_> {
    /// Visits all unfinished labels. Returns whether a coefficient changed; `None` when interrupted.
    fn epoch(
        &self,
        labels: &mut [Label],
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> Option<bool> {
        let mut moved = false;
        for (index, batch) in labels.chunks_mut(BATCH).enumerate() {
            if monitor.poll().breaks_off() {
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

    /// Reduces the violation of label `k` on a working set to a tenth. Returns whether a coefficient changed.
    fn solve(&self, k: usize, label: &mut Label) -> bool {
        let (d, beta) = (self.problem.dimension(), self.problem.beta);
        let set = label.working_set(beta);
        let point = Point {
            weights: set.iter().map(|&j| label.weights[j]).collect(),
            gradient: set.iter().map(|&j| label.gradient[j]).collect(),
        };
        let form = self.form_on(&set);
        let mut lasso = Lasso { form, point, beta };
        lasso.solve(LASSO.inner_accuracy * label.violation);
        let mut changed = false;
        for (&j, &w) in set.iter().zip(&lasso.point.weights) {
            let change = w - std::mem::replace(&mut label.weights[j], w);
            if change != 0.0 {
                changed = true;
                match &self.form {
                    Form::Gram(gram) => {
                        axpy(change, &gram[j * d..(j + 1) * d], &mut label.gradient);
                    }
                    Form::Columns(columns) => columns.axpy(change, j, &mut label.scores),
                }
            }
        }
        if let Form::Columns(columns) = &self.form {
            let correlation = &self.problem.correlation[k * d..(k + 1) * d];
            for (j, (g, c)) in label.gradient.iter_mut().zip(correlation).enumerate() {
                *g = columns.dot(j, &label.scores) - c;
            }
        }
        changed
    }

    /// The quadratic form on a working set.
    fn form_on(&self, set: &[usize]) -> Vec<f64> {
        let m = set.len();
        let mut form = memory::room(m.saturating_mul(m));
        match &self.form {
            Form::Gram(gram) => {
                for row in set.iter().map(|&j| &gram[j * self.problem.dimension()..]) {
                    form.extend(set.iter().map(|&other| row[other]));
                }
            }
            Form::Columns(columns) => {
                let mut column = vec![0.0; self.problem.features.rows()];
                for &j in set {
                    columns.axpy(1.0, j, &mut column);
                    form.extend(set.iter().map(|&other| columns.dot(other, &column)));
                    columns.axpy(-1.0, j, &mut column);
                }
            }
        }
        form
    }
}

/// The labels at the start.
fn labels_at_start(visit: &Visit<'_>, quadratic: &Quadratic<'_>, threads: &Threads) -> Vec<Label> {
    let problem = visit.problem;
    let weights = problem.start();
    let gradient = problem.gradient(quadratic, &weights, threads);
    let d = problem.dimension().max(1);
    let parts = weights.chunks_exact(d).zip(gradient.chunks_exact(d));
    let labels = parts.map(|(weights, gradient)| {
        let mut scores = Vec::new();
        if let Form::Columns(columns) = &visit.form {
            scores = memory::zeros(problem.features.rows());
            for (j, &w) in weights.iter().enumerate().filter(|(_, w)| **w != 0.0) {
                columns.axpy(w, j, &mut scores);
            }
        }
        Label {
            weights: memory::copied(weights),
            gradient: memory::copied(gradient),
            scores,
            done: false,
            violation: f64::INFINITY,
        }
    });
    memory::collected(labels)
}

/// The certificate of all labels; marks those with a small enough gap and violation as done.
fn certify(problem: &Problem<'_>, labels: &mut [Label], largest_residual: f64) -> Certificate {
    let of =
        |(k, label): (usize, &Label)| Sums::of_label(problem, k, &label.weights, &label.gradient);
    let sums: Vec<Sums> = labels.iter().enumerate().map(of).collect();
    let certificate = combine(problem, sums.iter().copied());
    let share = certificate.primal / problem.labels() as f64;
    for (label, sums) in labels.iter_mut().zip(&sums) {
        label.violation = sums.kkt_residual;
        let (own, own_dual) = (sums.primal(problem.beta), sums.own_dual(problem.beta));
        // The mean of its own objective and an equal share: the gaps then sum to at most the tolerance times the sum of the
        // objectives.
        label.done = own - own_dual <= 0.5 * problem.settings.tolerance * (own + share)
            && label.violation <= largest_residual;
    }
    certificate
}

/// Runs the loop on a problem without coupling.
pub(super) fn run(
    problem: &Problem<'_>,
    quadratic: &Quadratic<'_>,
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Result<End, SolverError> {
    if problem.coupling.is_some() {
        return Err(SolverError::Unsupported(
            "coordinate descent needs labels that are not coupled (alpha = 0)",
        ));
    }
    let mut trace = Trace::default();
    let form = match &quadratic.gram {
        Some(gram) => Form::Gram(gram),
        None => Form::Columns(FeatureColumns::of(problem.features)),
    };
    let visit = Visit { problem, form };
    let mut labels = labels_at_start(&visit, quadratic, threads);
    let largest_residual = problem.largest_residual();
    let mut epoch = 0;
    let status = loop {
        let certificate = certify(problem, &mut labels, largest_residual);
        if epoch > 0 {
            let active = labels.iter().filter(|label| !label.done).count();
            trace.record(epoch, certificate.primal, certificate.dual, active, monitor);
        }
        if problem.certified(&certificate) {
            break Status::Converged;
        }
        if epoch == problem.settings.max_epochs {
            break Status::MaxIterations;
        }
        if monitor.poll().is_out_of_time() {
            break Status::TimeLimit;
        }
        epoch += 1;
        match visit.epoch(&mut labels, threads, monitor) {
            None => break monitor.poll().status(),
            Some(false) => break Status::Stalled,
            Some(true) => {}
        }
    };

    let mut weights = memory::room(problem.size());
    for label in labels {
        weights.extend_from_slice(&label.weights);
    }
    Ok(End {
        weights,
        status,
        epochs: epoch,
        trace,
        gradient: None,
        bound: f64::NEG_INFINITY,
    })
}
