//! The Frank-Wolfe method for Rank-SVM, as Elisseeff and Weston proposed it (Xu 2013, section 7.1).
//!
//! ```text
//! min over alpha  W(alpha) = 1/2 <B, K B> - u^T alpha,   B = H alpha,   0 <= alpha <= c,   and H alpha = 0 for a free bias
//! ```
//!
//! (Xu 2013, eq. (24) and (26)). Each iteration solves the linear programme `min g^T a` over the same set (eq. (41)) at
//! the gradient `g_imn = s_im - s_in - 1` and steps by exact line search (eq. (43)). With a free bias the programme is
//! a circulation of least cost on a graph with one node a label and one arc a pair ([`crate::network::circulation`]); its
//! potentials are the best biases, so that `-z` is the duality gap at them. Otherwise it separates by pairs.
//!
//! A start outside the feasible set is moved into it first: every later iterate is a mean of the start and of vertices.
//!
//! Where we deviate: the solution is kept as `B` and `u^T alpha` instead of one variable a pair, and the stop rule is the
//! relative duality gap.

use super::bias::{Bias, centred, feasible};
use super::loss::Hinge;
use super::loss::sum_of_losses;
use super::scores::DenseScores;
use super::setup::{Setup, prepare};
use crate::error::SolverError;
use crate::labels::Labels;
use crate::linalg::vector::{axpy, dot, row_sum};
use crate::memory;
use crate::network::circulation::Circulation;
use crate::parallel::threads::Threads;
use crate::report::{Monitor, Solution, Status, Trace, verdict};

/// The vertex that minimises a linear function over the feasible set.
struct Vertex {
    /// `B` of the vertex.
    dual: Vec<f64>,
    /// `u^T alpha` of the vertex.
    total: f64,
    /// The biases that belong to it.
    bias: Vec<f64>,
}

/// The linear programme of one iteration.
enum Oracle<'a> {
    Circulation {
        labels: &'a Labels,
        network: Box<Circulation>,
        costs: Vec<f64>,
    },
    Separable {
        labels: &'a Labels,
    },
}

/// Calls `visit(i, m, n, c)` for all pairs and their weights `c`, instance by instance.
fn for_each_pair(labels: &Labels, mut visit: impl FnMut(usize, usize, usize, f64)) {
    for i in (0..labels.instances()).filter(|&i| labels.has_pairs(i)) {
        let irrelevant: Vec<usize> = labels.irrelevant(i).collect();
        for &m in labels.relevant(i) {
            let weight = labels.pair_weight(i, m);
            for &n in &irrelevant {
                visit(i, m as usize, n, weight);
            }
        }
    }
}

impl<'a> Oracle<'a> {
    fn new(labels: &'a Labels, bias: Bias) -> Self {
        if bias != Bias::Free {
            return Self::Separable { labels };
        }
        let mut arcs = Vec::new();
        for_each_pair(labels, |_, m, n, weight| {
            memory::push(&mut arcs, (m as u32, n as u32, weight));
        });
        Self::Circulation {
            labels,
            network: Box::new(Circulation::new(labels.count(), &arcs)),
            costs: memory::zeros(arcs.len()),
        }
    }

    /// The best vertex for the scores (`g_imn = s_im - s_in - 1`).
    fn minimise(&mut self, scores: &[f64], monitor: &mut dyn Monitor) -> Vertex {
        match self {
            Self::Circulation {
                labels,
                network,
                costs,
            } => {
                let q = labels.count();
                let mut arc = 0;
                for_each_pair(labels, |i, m, n, _| {
                    costs[arc] = scores[i * q + m] - scores[i * q + n] - 1.0;
                    arc += 1;
                });
                // Where it is interrupted, so is the loop, before it steps.
                network.solve(costs, &mut || monitor.interrupted());
                let mut vertex = Vertex {
                    dual: memory::zeros(scores.len()),
                    total: 0.0,
                    bias: centred(network.potentials().iter().map(|pi| -pi).collect()),
                };
                let flow = network.flow();
                arc = 0;
                for_each_pair(labels, |i, m, n, _| {
                    vertex.dual[i * q + m] += flow[arc];
                    vertex.dual[i * q + n] -= flow[arc];
                    vertex.total += flow[arc];
                    arc += 1;
                });
                vertex
            }
            Self::Separable { labels } => {
                let q = labels.count();
                let mut vertex = Vertex {
                    dual: memory::zeros(scores.len()),
                    total: 0.0,
                    bias: vec![0.0; q],
                };
                for_each_pair(labels, |i, m, n, weight| {
                    if scores[i * q + m] - scores[i * q + n] < 1.0 {
                        vertex.dual[i * q + m] += weight;
                        vertex.dual[i * q + n] -= weight;
                        vertex.total += weight;
                    }
                });
                vertex
            }
        }
    }
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

    /// The objectives with the bias that the best vertex gives.
    fn objectives(&self, labels: &Labels, bias: &[f64]) -> Objectives {
        let quadratic = dot(&self.dual, &self.image);
        Objectives {
            primal: 0.5 * quadratic + sum_of_losses(&Hinge, labels, &self.image, bias),
            dual: self.total - 0.5 * quadratic,
            quadratic,
        }
    }

    /// The bias of the model, given that of the best vertex.
    fn bias(&self, kind: Bias, of_vertex: Vec<f64>) -> Vec<f64> {
        match kind {
            Bias::Penalized => row_sum(&self.dual, of_vertex.len()),
            _ => of_vertex,
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
/// When settings, labels and scores do not fit together.
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
    let start = start.map(|start| feasible(labels, start, bias == Bias::Free, monitor));
    let Some(dual) = prepare(labels, scores, start, &settings, &threads, monitor)? else {
        return Ok(Solution::interrupted(labels));
    };
    let mut trace = Trace::default();
    let mut oracle = Oracle::new(labels, bias);
    let first = image(scores, &dual, bias, &threads);
    let mut point = Point::new(labels, dual, first);
    let mut iterations = 0;
    let (status, intercept, at) = loop {
        let vertex = oracle.minimise(&point.image, monitor);
        let at = point.objectives(labels, &vertex.bias);
        let intercept = point.bias(bias, vertex.bias);
        let used_up = (iterations == settings.max_epochs).then_some(Status::MaxIterations);
        let last = used_up.or_else(|| monitor.out_of_time().then_some(Status::TimeLimit));
        let rounding = || scores.rounding(&point.dual);
        let mut status = ending(&at, last, settings.tolerance, rounding);
        if monitor.interrupted() {
            status = Some(Status::Interrupted);
        } else if status.is_some() && !point.exact {
            // The certificate that counts is that of scores computed anew from B.
            if !point.recompute(scores, bias, &threads, monitor) {
                break (Status::Interrupted, intercept, at);
            }
            continue;
        }
        trace.record(iterations, at.primal, at.dual, labels.instances(), monitor);
        if let Some(status) = status {
            break (status, intercept, at);
        }
        let towards = (vertex.dual, vertex.total);
        if let Some(status) = point.go(towards, scores, bias, &threads, monitor) {
            break (status, intercept, at);
        }
        iterations += 1;
    };
    // Weights and scores are those of B, not those of the last direction.
    let watcher: &mut dyn Monitor = if S::WEIGHTS { &mut () } else { monitor };
    if !scores.recompute(&point.dual, &threads, watcher) {
        *scores.state() = point.scores(labels.count(), bias);
    }
    Ok(Solution {
        dual: point.dual,
        bias: intercept,
        report: trace.report(status, iterations, at.primal, at.dual),
    })
}
