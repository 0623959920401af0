//! Accelerated proximal gradient, Algorithm 1 of the paper.
//!
//! Gradients are linear up to a constant, so the product `H W` of one iterate gives, by extrapolation, the gradient at
//! the next search point, and without further cost the certificate at the iterate itself.
//!
//! Where we deviate (unless [`Published`] is asked for): the constant is `lambda_max(X^T X) + lambda_max(alpha M)`, which
//! is at most `sqrt(2)` below (15); it is estimated by power iteration, and a step that proves it too small is repeated
//! with a larger one. The momentum restarts when it points uphill (O'Donoghue and Candes).

use super::descent::soft_threshold;
use super::quadratic::Quadratic;
use super::{Problem, Solution};
use crate::memory::{self, Purpose};
use crate::report::{Monitor, Settings, SolverError, Status, Trace};
use crate::threads::Threads;
use crate::vector::dot;

/// Beyond this the published loop stops: the squares of larger numbers overflow.
const OVERFLOW: f64 = 1e100;
/// How far beyond the curvature seen the constant is raised when a step proves it too small.
const MARGIN: f64 = 1.01;

/// The loop as printed: this constant, no restart.
#[derive(Clone, Copy, Debug)]
pub struct Published {
    /// `L_f` of (15).
    pub lipschitz: f64,
}

/// What distinguishes one run from another.
#[derive(Clone, Copy, Debug)]
pub enum Variant {
    /// Adaptive restart; `lambda_max` of the coupling is given (0 without coupling).
    Restarting {
        /// Largest eigenvalue of the coupling.
        coupling_eigenvalue: f64,
    },
    /// As printed.
    Printed(Published),
}

/// Solves a problem from `start` (`q x d`, default 0).
///
/// # Errors
/// When an argument is out of range.
pub fn solve(
    problem: &Problem<'_>,
    variant: Variant,
    start: Option<Vec<f64>>,
    settings: &Settings,
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Result<Solution, SolverError> {
    settings.validate()?;
    let beta = problem.beta;
    let quadratic = Quadratic::for_products(problem.features);
    let printed = matches!(variant, Variant::Printed(_));
    let mut lipschitz = match variant {
        Variant::Printed(Published { lipschitz }) => lipschitz,
        Variant::Restarting {
            coupling_eigenvalue,
        } => quadratic.largest_eigenvalue(problem.features) + coupling_eigenvalue,
    }
    .max(f64::MIN_POSITIVE);

    let mut trace = Trace::default();
    let mut weights = problem.start(start)?;
    let mut gradient = problem.gradient(&quadratic, &weights, threads);
    let (mut previous, mut previous_gradient) = (
        memory::copied(&weights, Purpose::FeaturesByLabels),
        memory::copied(&gradient, Purpose::FeaturesByLabels),
    );
    let (mut b_previous, mut b) = (1.0_f64, 1.0_f64);
    let mut certificate = problem.certificate(&weights, &gradient);
    let mut iteration = 0;
    let status = loop {
        if problem.certified(&certificate, settings) {
            break Status::Converged;
        }
        if iteration == settings.max_epochs {
            break Status::MaxIterations;
        }
        if monitor.interrupted() {
            break Status::Interrupted;
        }
        iteration += 1;
        let momentum = (b_previous - 1.0) / b;
        let extrapolate = |current: &[f64], before: &[f64]| -> Vec<f64> {
            let pairs = current.iter().zip(before);
            memory::collected(
                pairs.map(|(&now, &then)| now + momentum * (now - then)),
                Purpose::FeaturesByLabels,
            )
        };
        let search = extrapolate(&weights, &previous);
        let search_gradient = extrapolate(&gradient, &previous_gradient);
        let (next, next_gradient) = loop {
            let threshold = beta / lipschitz;
            let pairs = search.iter().zip(&search_gradient);
            let next = memory::collected(
                pairs.map(|(&w, &g)| soft_threshold(w - g / lipschitz, threshold)),
                Purpose::FeaturesByLabels,
            );
            let next_gradient = problem.gradient(&quadratic, &next, threads);
            if printed {
                break (next, next_gradient);
            }
            let (mut bend, mut length) = (0.0, 0.0);
            for k in 0..next.len() {
                let step = next[k] - search[k];
                bend += step * (next_gradient[k] - search_gradient[k]);
                length += step * step;
            }
            // Near the optimum the step is rounding, and so is its curvature.
            let noise = 1e-12 * dot(&next, &next);
            if bend <= lipschitz * length || length <= noise {
                break (next, next_gradient);
            }
            lipschitz = MARGIN * bend / length;
        };
        let uphill = !printed
            && (0..next.len())
                .map(|k| (search[k] - next[k]) * (next[k] - weights[k]))
                .sum::<f64>()
                > 0.0;
        let candidate = problem.certificate(&next, &next_gradient);
        let bounded = candidate.primal.abs() < OVERFLOW
            && next.iter().all(|w| w.abs() < OVERFLOW)
            && next_gradient.iter().all(|g| g.abs() < OVERFLOW);
        if !bounded {
            break Status::Diverged;
        }
        previous = std::mem::replace(&mut weights, next);
        previous_gradient = std::mem::replace(&mut gradient, next_gradient);
        certificate = candidate;
        trace.record(
            iteration,
            certificate.primal,
            certificate.dual,
            problem.labels,
            monitor,
        );
        (b_previous, b) = if uphill {
            (1.0, 1.0)
        } else {
            (b, 0.5 * (1.0 + (4.0 * b * b + 1.0).sqrt()))
        };
    };
    let mut solution = problem.solution(
        &quadratic,
        weights,
        f64::NEG_INFINITY,
        status,
        iteration,
        trace,
        settings,
        threads,
    );
    solution.lipschitz = Some(lipschitz);
    Ok(solution)
}
