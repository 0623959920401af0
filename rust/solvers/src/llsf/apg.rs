//! Accelerated proximal gradient, Algorithm 1 of the paper.
//!
//! Gradients are linear up to a constant, so the product `H W` of one iterate gives, by extrapolation, the gradient at
//! the next search point, and without further cost the certificate at the iterate itself.
//!
//! Deviations, unless the loop is requested as printed: the constant is `lambda_max(X^T X) + lambda_max(alpha M)`, which is
//! at most `sqrt(2)` below (15), and the momentum restarts when it points uphill (O'Donoghue and Candes).

use super::certificate::{Certificate, certify};
use super::lasso::{Point, soft_threshold};
use super::problem::{End, Problem};
use super::quadratic::Quadratic;
use crate::memory;
use crate::parallel::threads::Threads;
use crate::report::{Monitor, Status, Trace};

/// The published loop stops beyond this, as the squares of larger numbers would overflow.
const OVERFLOW: f64 = 1e100;

impl Point {
    fn copied(&self) -> Self {
        Self {
            weights: memory::copied(&self.weights),
            gradient: memory::copied(&self.gradient),
        }
    }

    /// Extrapolates beyond this point, coming from `before`.
    fn extrapolated(&self, before: &Self, momentum: f64) -> Self {
        let extrapolate = |current: &[f64], before: &[f64]| -> Vec<f64> {
            let pairs = current.iter().zip(before);
            memory::collected(pairs.map(|(&now, &then)| now + momentum * (now - then)))
        };
        Self {
            weights: extrapolate(&self.weights, &before.weights),
            gradient: extrapolate(&self.gradient, &before.gradient),
        }
    }

    /// Whether the momentum from this point to `next` points uphill: the step from `search` contradicts it.
    fn points_uphill(&self, search: &Self, next: &Self) -> bool {
        let steps = search.weights.iter().zip(&next.weights).zip(&self.weights);
        steps.map(|((s, w), v)| (s - w) * (w - v)).sum::<f64>() > 0.0
    }

    fn bounded(&self) -> bool {
        let bounded = |numbers: &[f64]| numbers.iter().all(|x| x.abs() < OVERFLOW);
        bounded(&self.weights) && bounded(&self.gradient)
    }
}

/// Runs the loop with this constant.
pub(super) fn run(
    problem: &Problem<'_>,
    quadratic: &Quadratic<'_>,
    lipschitz: f64,
    restarts: bool,
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> End {
    let lipschitz = lipschitz.max(f64::MIN_POSITIVE);
    let mut trace = Trace::default();
    let weights = problem.start();
    let mut current = Point {
        gradient: problem.gradient(quadratic, &weights, threads),
        weights,
    };
    let mut previous = current.copied();
    // `b` of the last two iterations.
    let (mut b_previous, mut b) = (1.0, 1.0);
    let mut certificate = certify(problem, &current.weights, &current.gradient);
    let mut iteration = 0;
    let status = loop {
        if problem.certified(&certificate) {
            break Status::Converged;
        }
        if iteration == problem.settings.max_epochs {
            break Status::MaxIterations;
        }
        if monitor.poll().breaks_off() {
            break monitor.poll().status();
        }
        let search = current.extrapolated(&previous, (b_previous - 1.0) / b);
        let steps = search.weights.iter().zip(&search.gradient);
        let steps =
            steps.map(|(&w, &g)| soft_threshold(w - g / lipschitz, problem.beta / lipschitz));
        let weights: Vec<f64> = memory::collected(steps);
        let Some(gradient) = problem.gradient_in_time(quadratic, &weights, threads, monitor) else {
            break monitor.poll().status();
        };
        let next = Point { gradient, weights };
        iteration += 1;
        let candidate = certify(problem, &next.weights, &next.gradient);
        if !(candidate.primal.abs() < OVERFLOW && next.bounded()) {
            break Status::Diverged;
        }
        (b_previous, b) = if restarts && current.points_uphill(&search, &next) {
            (1.0, 1.0)
        } else {
            (b, 0.5 * (1.0 + (4.0 * b * b + 1.0).sqrt()))
        };
        previous = std::mem::replace(&mut current, next);
        certificate = candidate;
        let Certificate { primal, dual, .. } = certificate;
        trace.record(iteration, primal, dual, problem.labels(), monitor);
    };
    End {
        weights: current.weights,
        status,
        epochs: iteration,
        trace,
        gradient: Some(current.gradient),
        bound: f64::NEG_INFINITY,
    }
}
