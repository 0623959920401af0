//! Accelerated proximal gradient, Algorithm 1 of the paper.
//!
//! Gradients are linear up to a constant, so the product `H W` of one iterate gives, by extrapolation, the gradient at
//! the next search point, and without further cost the certificate at the iterate itself.
//!
//! Where we deviate (unless [`Published`] is asked for): the constant is `lambda_max(X^T X) + lambda_max(alpha M)`, which
//! is at most `sqrt(2)` below (15); it is estimated by power iteration, and a step that proves it too small is repeated
//! with a larger one. The momentum restarts when it points uphill (O'Donoghue and Candes). Where the eigenbasis of the form
//! is known, the lower bound comes from the gradient cut off at `beta`; and a loop whose gap will clearly not reach the
//! tolerance within its iterations says so early.

use super::eigenbasis::{Anchor, Bound, Eigenbasis};
use super::quadratic::Quadratic;
use super::soft_threshold::soft_threshold;
use super::{Problem, Solution, transposed};
use crate::error::SolverError;
use crate::linalg::vector::dot;
use crate::memory::{self, Purpose};
use crate::parallel::threads::Threads;
use crate::report::{Monitor, Settings, Status, Trace, relative_gap};

/// Beyond this the published loop stops: the squares of larger numbers overflow.
const OVERFLOW: f64 = 1e100;
/// How far beyond the curvature seen the constant is raised when a step proves it too small.
const MARGIN: f64 = 1.01;
/// Iterations between two bounds in the eigenbasis.
const BOUND_PERIOD: usize = 10;
/// The gap is extrapolated after each of this many parts of the iterations, but the last, ...
const PARTS: usize = 5;
/// ... and the loop goes on unless it will miss the tolerance by this factor: the first part, in which the momentum has yet
/// to be restarted, foretells little.
const HOPELESS: f64 = 10.0;
const HOPELESS_AT_FIRST: f64 = 100.0;

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

/// The bounds in an eigenbasis.
struct Bounds<'a> {
    problem: &'a Problem<'a>,
    basis: &'a Eigenbasis<'a>,
    anchor: Anchor,
    best: Option<Bound>,
}

impl<'a> Bounds<'a> {
    fn new(problem: &'a Problem<'a>, basis: &'a Eigenbasis<'a>, threads: &Threads) -> Self {
        let correlation = transposed(&problem.correlation, problem.labels, problem.dimension());
        Self {
            problem,
            basis,
            anchor: basis.anchor(&correlation, threads),
            best: None,
        }
    }

    fn value(&self) -> f64 {
        self.best
            .as_ref()
            .map_or(f64::NEG_INFINITY, |bound| bound.value)
    }

    /// Looks for a better bound at a point's gradient.
    fn improve(&mut self, gradient: &[f64], threads: &Threads) {
        let beta = self.problem.beta;
        let cut = gradient.iter().map(|g| (-g).clamp(-beta, beta));
        let inside = memory::collected(cut, Purpose::FeaturesByLabels);
        let dual = transposed(&inside, self.problem.labels, self.problem.dimension());
        let bound = self.basis.bound(self.problem, &self.anchor, &dual, threads);
        if bound.value > self.value() {
            self.best = Some(bound);
        }
    }

    /// The best bound, from `X` itself.
    fn confirmed(&self, quadratic: &Quadratic, threads: &Threads) -> f64 {
        self.best.as_ref().map_or(f64::NEG_INFINITY, |bound| {
            let gradient = |weights: &[f64]| self.problem.gradient(quadratic, weights, threads);
            self.basis
                .confirmed(self.problem, &self.anchor, bound, gradient, threads)
        })
    }
}

/// Whether the gap, falling as a power of the iterations as it did since half of them, will still be far above the
/// tolerance after the last one.
fn hopeless(trace: &Trace, settings: &Settings) -> bool {
    let made = trace.history.len();
    let part = (settings.max_epochs / PARTS).max(2);
    if !made.is_multiple_of(part) || made == 0 || made >= settings.max_epochs {
        return false;
    }
    let gap_after = |iterations: usize| {
        let record = &trace.history[iterations - 1];
        relative_gap(record.primal, record.dual)
    };
    let (now, before) = (gap_after(made), gap_after(made / 2));
    let power = (before / now).log2() / (made as f64 / (made / 2) as f64).log2();
    let last = now * (made as f64 / settings.max_epochs as f64).powf(power.max(0.0));
    let factor = if made == part {
        HOPELESS_AT_FIRST
    } else {
        HOPELESS
    };
    last > factor * settings.tolerance
}

/// Solves a problem from `start` (`q x d`, default 0). With `basis` the lower bounds are better.
///
/// # Errors
/// When an argument is out of range.
pub fn solve(
    problem: &Problem<'_>,
    variant: Variant,
    basis: Option<&Eigenbasis<'_>>,
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
    let mut bounds = basis.map(|basis| Bounds::new(problem, basis, threads));
    let mut iteration = 0;
    let status = loop {
        if problem.certified(&certificate, settings) {
            break Status::Converged;
        }
        if iteration == settings.max_epochs {
            break Status::MaxIterations;
        }
        if !printed && hopeless(&trace, settings) {
            break Status::Slow;
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
            let (mut curvature, mut length) = (0.0, 0.0);
            for k in 0..next.len() {
                let step = next[k] - search[k];
                curvature += step * (next_gradient[k] - search_gradient[k]);
                length += step * step;
            }
            // Near the optimum the step is rounding, and so is its curvature.
            let noise = 1e-12 * dot(&next, &next);
            if curvature <= lipschitz * length || length <= noise {
                break (next, next_gradient);
            }
            lipschitz = MARGIN * curvature / length;
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
        if let Some(bounds) = &mut bounds {
            if iteration % BOUND_PERIOD == 0 {
                bounds.improve(&gradient, threads);
            }
            certificate.dual = certificate.dual.max(bounds.value());
        }
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
        bounds.map_or(f64::NEG_INFINITY, |bounds| {
            bounds.confirmed(&quadratic, threads)
        }),
        status,
        iteration,
        trace,
        settings,
        threads,
    );
    solution.lipschitz = Some(lipschitz);
    Ok(solution)
}
