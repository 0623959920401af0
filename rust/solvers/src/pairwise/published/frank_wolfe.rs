//! The Frank-Wolfe method for Rank-SVM, as Elisseeff and Weston proposed it (Xu 2013, section 7.1).
//!
//! ```text
//! min over alpha  W(alpha) = 1/2 <B, K B> - u^T alpha,   B = [alpha],   0 <= alpha <= c,   H alpha = 0 if the bias is free
//! ```
//!
//! (Xu 2013, eq. (24) and (26)). Each iteration solves the linear programme `min g^T a` over the same set (eq. (41)) at the
//! gradient `g_imn = s_im - s_in - 1`, and steps by exact line search (eq. (43)). The programme separates by pairs, but with
//! a free bias it is a minimum-cost circulation ([`circulation`]), whose prices are the biases.
//!
//! A start outside the feasible set is first moved into it, as every later iterate is a mean of the start and of vertices.
//! With a free bias, a start whose rows do not sum to 0 is replaced by 0.
//!
//! Deviations: the solution is stored as `B` and `u^T alpha` instead of one variable per pair, and the stop rule is the
//! relative duality gap.

use super::circulation::{self, Vertex};
use crate::error::SolverError;
use crate::labels::Labels;
use crate::linalg::vector::{axpy, dot, row_sum, size_of_terms};
use crate::memory;
use crate::pairwise::bias::{comes_out_even, feasible};
use crate::pairwise::loss::{Hinge, sum_of_losses};
use crate::pairwise::scores::{self, DenseScores, rounding};
use crate::pairwise::setup::{Bias, Setup, Solution, prepare};
use crate::parallel::threads::Threads;
use crate::report::{Monitor, Objectives, Status, Trace, rounding_of};

/// The vertex that minimises the linear function at these scores; `None` when interrupted.
fn vertex(
    labels: &Labels,
    scores: &[f64],
    kind: Bias,
    monitor: &mut dyn Monitor,
) -> Option<Vertex> {
    if kind == Bias::Free {
        return circulation::vertex(labels, scores, monitor);
    }
    let q = labels.count();
    let (mut dual, mut total) = (memory::zeros(scores.len()), 0.0);
    let rows = scores.chunks_exact(q).zip(dual.chunks_exact_mut(q));
    for (i, (scores, beta)) in rows.enumerate() {
        labels.each_pair(i, |m, n, weight| {
            if scores[m] - scores[n] < 1.0 {
                beta[m] += weight;
                beta[n] -= weight;
                total += weight;
            }
        });
    }
    let bias = vec![0.0; q];
    Some(Vertex { dual, total, bias })
}

/// The bias of a model: the sum of the rows of `B`, if it is penalized.
fn bias_of(kind: Bias, dual: &[f64], q: usize) -> Vec<f64> {
    match kind {
        Bias::Penalized => row_sum(dual, q),
        _ => vec![0.0; q],
    }
}

/// `F`, the scores of a dual matrix with its bias; `scores` are those without.
fn image(scores: &DenseScores<'_>, dual: &[f64], kind: Bias, threads: &Threads) -> Vec<f64> {
    let (mut image, q) = (scores::all(scores, threads), scores.labels());
    let bias = bias_of(kind, dual, q);
    let rows = image.chunks_exact_mut(q);
    rows.for_each(|row| axpy(1.0, &bias, row));
    image
}

/// Solves Rank-SVM by Frank-Wolfe. One iteration counts as one epoch.
///
/// # Errors
/// When settings, labels and scores do not match.
pub fn solve(
    labels: &Labels,
    scores: &mut DenseScores<'_>,
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
    let start = start
        .map(|start| feasible(labels, start))
        .filter(|start| bias != Bias::Free || comes_out_even(start, labels.count()));
    let Some(mut dual) = prepare(labels, scores, start, &settings, &threads, monitor)? else {
        return Ok(Solution::interrupted(labels));
    };
    let (n, q) = (labels.instances(), labels.count());
    let mut total: f64 = (0..n)
        .map(|i| labels.sum_of_pairs(i, &dual[i * q..(i + 1) * q]))
        .sum();
    let mut trace = Trace::default();
    // Whether the scores have been computed from B itself, not by adding up steps.
    let (mut at, mut exact) = (image(scores, &dual, bias, &threads), true);
    // The best biases for the scores if the bias is free: the primal objective is that of the model with them.
    let (mut best, mut iterations) = (vec![0.0; q], 0);
    let (status, found) = loop {
        let quadratic = dot(&dual, &at);
        let next = vertex(labels, &at, bias, monitor);
        if let Some(next) = next.as_ref().filter(|_| bias == Bias::Free) {
            best.clone_from(&next.bias);
        }
        let loss = sum_of_losses(&Hinge, labels, &at, &best);
        let (primal, bound) = (0.5 * quadratic + loss, total - 0.5 * quadratic);
        let size = loss + total.abs() + size_of_terms(&dual, &at);
        // The rounding error of `H alpha`, weighted by the biases.
        let sums = row_sum(&dual, q);
        let uneven: f64 = sums.iter().zip(&best).map(|(g, b)| (g * b).abs()).sum();
        let found = Objectives {
            primal,
            dual: bound,
            rounding: rounding_of(size, n + q) + uneven,
        };
        let used_up = (iterations == settings.max_epochs).then_some(Status::MaxIterations);
        let last = used_up.or_else(|| monitor.poll().is_out_of_time().then_some(Status::TimeLimit));
        let rounding = || rounding(scores, None, &dual);
        let status = if next.is_none() || monitor.poll().is_interrupted() {
            Some(Status::Interrupted)
        } else {
            found
                .verdict(quadratic, settings.tolerance, rounding)
                .or(last)
        };
        if status.is_some() && !exact {
            scores.recompute(&dual, &threads, &mut ());
            (at, exact) = (image(scores, &dual, bias, &threads), true);
            continue;
        }
        trace.record(iterations, primal, bound, n, monitor);
        if let Some(status) = status {
            break (status, found);
        }
        let Some(Vertex {
            dual: mut direction,
            total: of_vertex,
            ..
        }) = next
        else {
            break (Status::Interrupted, found);
        };
        axpy(-1.0, &dual, &mut direction);
        if !scores.recompute(&direction, &threads, monitor) {
            break (Status::Interrupted, found);
        }
        let change = image(scores, &direction, bias, &threads);
        // The slope z (eq. (62)) and the curvature (eq. (43)).
        let slope = dot(&direction, &at) - (of_vertex - total);
        let curvature = dot(&direction, &change);
        if slope >= 0.0 {
            break (Status::Stalled, found);
        }
        let length = if -slope < curvature {
            -slope / curvature
        } else {
            1.0
        };
        axpy(length, &direction, &mut dual);
        axpy(length, &change, &mut at);
        total += length * (of_vertex - total);
        exact = false;
        iterations += 1;
    };
    // The weights and scores of B, not those of the last direction.
    scores.recompute(&dual, &threads, &mut ());
    Ok(Solution {
        bias: if bias == Bias::Free {
            best
        } else {
            bias_of(bias, &dual, q)
        },
        dual,
        report: trace.report(status, iterations, found),
    })
}
