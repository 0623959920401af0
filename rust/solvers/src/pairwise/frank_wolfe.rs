//! The Frank-Wolfe method for Rank-SVM, as Elisseeff and Weston proposed it (Xu 2013, section 7.1), without a bias or with a
//! penalized one.
//!
//! ```text
//! min over alpha  W(alpha) = 1/2 <B, K B> - u^T alpha,   B = H alpha,   0 <= alpha <= c
//! ```
//!
//! (Xu 2013, eq. (24) and (26)). Each iteration solves the linear programme `min g^T a` over the same set (eq. (41)) at
//! the gradient `g_imn = s_im - s_in - 1`, which separates by pairs, and steps by exact line search (eq. (43)).
//!
//! A start outside the feasible set is moved into it first: every later iterate is a mean of the start and of vertices.
//!
//! Where we deviate: the solution is kept as `B` and `u^T alpha` instead of one variable a pair, and the stop rule is the
//! relative duality gap. With a free bias the linear programme is a circulation: that loop is in the Python reference.

use super::bias::{Bias, feasible};
use super::loss::Hinge;
use super::loss::sum_of_losses;
use super::scores::DenseScores;
use super::setup::{Setup, prepare};
use crate::error::{SolverError, refused};
use crate::labels::Labels;
use crate::linalg::vector::{axpy, dot, row_sum};
use crate::memory;
use crate::parallel::threads::Threads;
use crate::report::{Monitor, Solution, Status, Trace, verdict};

/// The vertex that minimises the linear function at these scores: its `B`, and its `u^T alpha`.
fn vertex(labels: &Labels, scores: &[f64]) -> (Vec<f64>, f64) {
    let q = labels.count();
    let (mut dual, mut total) = (memory::zeros(scores.len()), 0.0);
    let rows = scores.chunks_exact(q).zip(dual.chunks_exact_mut(q));
    for (i, (scores, beta)) in rows.enumerate().filter(|&(i, _)| labels.has_pairs(i)) {
        for &m in labels.relevant(i) {
            let weight = labels.pair_weight(i, m);
            for n in labels.irrelevant(i) {
                if scores[m as usize] - scores[n] < 1.0 {
                    beta[m as usize] += weight;
                    beta[n] -= weight;
                    total += weight;
                }
            }
        }
    }
    (dual, total)
}

/// `F` of the matrix that `scores` was last recomputed for, with the sum of its rows added for the kernel `K + 1`.
fn image<S: DenseScores>(scores: &S, dual: &[f64], bias: Bias, threads: &Threads) -> Vec<f64> {
    let q = scores.labels();
    let mut image = scores.all(threads);
    if bias == Bias::Penalized {
        let sum = row_sum(dual, q);
        image
            .chunks_exact_mut(q)
            .for_each(|row| axpy(1.0, &sum, row));
    }
    image
}

/// The point of the loop.
struct Point {
    dual: Vec<f64>,
    /// `F`, with the sum of the rows of `B` for the kernel `K + 1`.
    image: Vec<f64>,
    /// `u^T alpha`
    total: f64,
    /// Whether `image` was computed from `dual` itself, not by adding up steps.
    exact: bool,
}

/// Primal and dual objective at a point, and the quadratic form in both.
struct Objectives {
    primal: f64,
    dual: f64,
    quadratic: f64,
}

/// Why the loop may end at a point; `None` when it goes on.
fn ending(
    at: &Objectives,
    last: Option<Status>,
    tolerance: f64,
    rounding: impl FnOnce() -> f64,
) -> Option<Status> {
    verdict(at.primal, at.dual, at.quadratic, tolerance, rounding).or(last)
}

impl Point {
    fn new(labels: &Labels, dual: Vec<f64>, image: Vec<f64>) -> Self {
        let q = labels.count();
        let of_instance = |i: usize| -> f64 {
            let relevant = labels.relevant(i).iter();
            relevant.map(|&m| dual[i * q + m as usize]).sum()
        };
        Self {
            total: (0..labels.instances()).map(of_instance).sum(),
            dual,
            image,
            exact: true,
        }
    }

    fn objectives(&self, labels: &Labels) -> Objectives {
        let quadratic = dot(&self.dual, &self.image);
        let no_bias = vec![0.0; labels.count()];
        Objectives {
            primal: 0.5 * quadratic + sum_of_losses(&Hinge, labels, &self.image, &no_bias),
            dual: self.total - 0.5 * quadratic,
            quadratic,
        }
    }

    /// The bias of the model.
    fn bias(&self, kind: Bias, q: usize) -> Vec<f64> {
        match kind {
            Bias::Penalized => row_sum(&self.dual, q),
            _ => vec![0.0; q],
        }
    }

    /// The scores `K B`.
    fn scores(&mut self, q: usize, bias: Bias) -> Vec<f64> {
        let mut scores = std::mem::take(&mut self.image);
        if bias == Bias::Penalized {
            let sum = row_sum(&self.dual, q);
            scores
                .chunks_exact_mut(q)
                .for_each(|row| axpy(-1.0, &sum, row));
        }
        scores
    }

    /// Computes `F` anew from `B`; `false` when interrupted.
    fn recompute<S: DenseScores>(
        &mut self,
        scores: &mut S,
        bias: Bias,
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> bool {
        if !scores.recompute(&self.dual, threads, monitor) {
            return false;
        }
        self.image = image(scores, &self.dual, bias, threads);
        self.exact = true;
        true
    }

    /// Goes towards a vertex with its `u^T alpha`. Returns the status of the loop where that is impossible.
    fn go<S: DenseScores>(
        &mut self,
        (vertex, total): (Vec<f64>, f64),
        scores: &mut S,
        bias: Bias,
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> Option<Status> {
        let mut direction = vertex;
        axpy(-1.0, &self.dual, &mut direction);
        if !scores.recompute(&direction, threads, monitor) {
            return Some(Status::Interrupted);
        }
        let direction_image = image(scores, &direction, bias, threads);
        let descends = self.step(&direction, &direction_image, total - self.total);
        (!descends).then_some(Status::Stalled)
    }

    /// Steps along a direction with its `F` and its change of `u^T alpha`, by exact line search (eq. (43)). `false` when it
    /// does not descend.
    fn step(&mut self, direction: &[f64], direction_image: &[f64], gain: f64) -> bool {
        // The slope z (eq. (62)) and the curvature (eq. (43)).
        let z = dot(direction, &self.image) - gain;
        if z >= 0.0 {
            return false;
        }
        let curvature = dot(direction, direction_image);
        let length = if -z < curvature { -z / curvature } else { 1.0 };
        axpy(length, direction, &mut self.dual);
        axpy(length, direction_image, &mut self.image);
        self.total += length * gain;
        self.exact = false;
        true
    }
}

/// Solves Rank-SVM by Frank-Wolfe. One iteration counts as one epoch.
///
/// # Errors
/// When settings, labels and scores do not fit together, or the bias is free.
pub fn solve<S: DenseScores>(
    labels: &Labels,
    scores: &mut S,
    setup: Setup,
    monitor: &mut dyn Monitor,
) -> Result<Solution, SolverError> {
    let Setup {
        bias,
        start,
        settings,
        threads,
        ..
    } = setup;
    if bias == Bias::Free {
        return Err(refused(
            "bias",
            "'free'",
            "'penalized' or 'none' with solver 'frank-wolfe', or solver 'bcd'",
        ));
    }
    let start = start.map(|start| feasible(labels, start));
    let Some(dual) = prepare(labels, scores, start, &settings, &threads, monitor)? else {
        return Ok(Solution::interrupted(labels));
    };
    let mut trace = Trace::default();
    let first = image(scores, &dual, bias, &threads);
    let mut point = Point::new(labels, dual, first);
    let mut iterations = 0;
    let (status, at) = loop {
        let at = point.objectives(labels);
        let used_up = (iterations == settings.max_epochs).then_some(Status::MaxIterations);
        let last = used_up.or_else(|| monitor.out_of_time().then_some(Status::TimeLimit));
        let rounding = || scores.rounding(&point.dual);
        let mut status = ending(&at, last, settings.tolerance, rounding);
        if monitor.interrupted() {
            status = Some(Status::Interrupted);
        } else if status.is_some() && !point.exact {
            // The certificate that counts is that of scores computed anew from B.
            if !point.recompute(scores, bias, &threads, monitor) {
                break (Status::Interrupted, at);
            }
            continue;
        }
        trace.record(iterations, at.primal, at.dual, labels.instances(), monitor);
        if let Some(status) = status {
            break (status, at);
        }
        let towards = vertex(labels, &point.image);
        if let Some(status) = point.go(towards, scores, bias, &threads, monitor) {
            break (status, at);
        }
        iterations += 1;
    };
    // Weights and scores are those of B, not those of the last direction.
    let watcher: &mut dyn Monitor = if S::WEIGHTS { &mut () } else { monitor };
    if !scores.recompute(&point.dual, &threads, watcher) {
        *scores.state() = point.scores(labels.count(), bias);
    }
    Ok(Solution {
        bias: point.bias(bias, labels.count()),
        dual: point.dual,
        report: trace.report(status, iterations, at.primal, at.dual),
    })
}
