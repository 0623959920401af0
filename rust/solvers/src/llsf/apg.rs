//! Accelerated proximal gradient, Algorithm 1 of the paper.
//!
//! Gradients are linear up to a constant, so the product `H W` of one iterate gives, by extrapolation, the gradient at
//! the next search point, and without further cost the certificate at the iterate itself.
//!
//! Where we deviate (unless [`Published`] is asked for): the constant is `lambda_max(X^T X) + lambda_max(alpha M)`, which
//! is at most `sqrt(2)` below (15); it is estimated by power iteration, and a step that proves it too small is repeated
//! with a larger one. The momentum restarts when it points uphill (O'Donoghue and Candes).

use super::certificate::Certificate;
use super::quadratic::Quadratic;
use super::soft_threshold::soft_threshold;
use super::{Problem, Solution};
use crate::error::SolverError;
use crate::linalg::vector::dot;
use crate::memory;
use crate::parallel::threads::Threads;
use crate::report::{Monitor, Settings, Status, Trace};

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

/// A point and the gradient of the smooth part there.
struct Point {
    weights: Vec<f64>,
    gradient: Vec<f64>,
}

impl Point {
    fn copied(&self) -> Self {
        Self {
            weights: memory::copied(&self.weights),
            gradient: memory::copied(&self.gradient),
        }
    }

    /// The point beyond this one, seen from `before`.
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

    fn certificate(&self, problem: &Problem<'_>) -> Certificate {
        problem.certificate(&self.weights, &self.gradient)
    }

    fn bounded(&self) -> bool {
        let bounded = |numbers: &[f64]| numbers.iter().all(|x| x.abs() < OVERFLOW);
        bounded(&self.weights) && bounded(&self.gradient)
    }
}

/// The iterates.
struct State<'a> {
    problem: &'a Problem<'a>,
    quadratic: &'a Quadratic,
    threads: &'a Threads,
    printed: bool,
    lipschitz: f64,
    current: Point,
    previous: Point,
    /// `b` of the last two iterations.
    b_previous: f64,
    b: f64,
}

impl<'a> State<'a> {
    fn new(
        problem: &'a Problem<'a>,
        quadratic: &'a Quadratic,
        variant: Variant,
        start: Option<Vec<f64>>,
        threads: &'a Threads,
    ) -> Result<Self, SolverError> {
        let lipschitz = match variant {
            Variant::Printed(Published { lipschitz }) => lipschitz,
            Variant::Restarting {
                coupling_eigenvalue,
            } => quadratic.largest_eigenvalue(problem.features) + coupling_eigenvalue,
        };
        let weights = problem.start(start)?;
        let gradient = problem.gradient(quadratic, &weights, threads);
        let current = Point { weights, gradient };
        Ok(Self {
            problem,
            quadratic,
            threads,
            printed: matches!(variant, Variant::Printed(_)),
            lipschitz: lipschitz.max(f64::MIN_POSITIVE),
            previous: current.copied(),
            current,
            b_previous: 1.0,
            b: 1.0,
        })
    }

    fn search_point(&self) -> Point {
        let momentum = (self.b_previous - 1.0) / self.b;
        self.current.extrapolated(&self.previous, momentum)
    }

    /// The proximal gradient step from `search`, with a constant that the curvature along the step does not exceed.
    fn proximal_step(&mut self, search: &Point) -> Point {
        loop {
            let next = self.shrunk(search);
            if self.printed {
                return next;
            }
            let (mut curvature, mut length) = (0.0, 0.0);
            for k in 0..next.weights.len() {
                let step = next.weights[k] - search.weights[k];
                curvature += step * (next.gradient[k] - search.gradient[k]);
                length += step * step;
            }
            // Near the optimum the step is rounding, and so is its curvature.
            let noise = 1e-12 * dot(&next.weights, &next.weights);
            if curvature <= self.lipschitz * length || length <= noise {
                return next;
            }
            self.lipschitz = MARGIN * curvature / length;
        }
    }

    /// The proximal gradient step from `search` with the present constant.
    fn shrunk(&self, search: &Point) -> Point {
        let lipschitz = self.lipschitz;
        let threshold = self.problem.beta / lipschitz;
        let pairs = search.weights.iter().zip(&search.gradient);
        let weights =
            memory::collected(pairs.map(|(&w, &g)| soft_threshold(w - g / lipschitz, threshold)));
        let gradient = self
            .problem
            .gradient(self.quadratic, &weights, self.threads);
        Point { weights, gradient }
    }

    /// Goes on to `next`. The momentum restarts when the step from `search` contradicts the move.
    fn advance(&mut self, search: &Point, next: Point) {
        let uphill = !self.printed
            && (0..next.weights.len())
                .map(|k| {
                    (search.weights[k] - next.weights[k])
                        * (next.weights[k] - self.current.weights[k])
                })
                .sum::<f64>()
                > 0.0;
        self.previous = std::mem::replace(&mut self.current, next);
        (self.b_previous, self.b) = if uphill {
            (1.0, 1.0)
        } else {
            (self.b, 0.5 * (1.0 + (4.0 * self.b * self.b + 1.0).sqrt()))
        };
    }
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
    let quadratic = Quadratic::for_products(problem.features);
    let mut trace = Trace::default();
    let mut state = State::new(problem, &quadratic, variant, start, threads)?;
    let mut certificate = state.current.certificate(problem);
    let mut iteration = 0;
    let status = loop {
        if problem.certified(&certificate, settings) {
            break Status::Converged;
        }
        if iteration == settings.max_epochs {
            break Status::MaxIterations;
        }
        if monitor.breaks_off() {
            break monitor.status();
        }
        iteration += 1;
        let search = state.search_point();
        let next = state.proximal_step(&search);
        let candidate = next.certificate(problem);
        if !(candidate.primal.abs() < OVERFLOW && next.bounded()) {
            break Status::Diverged;
        }
        state.advance(&search, next);
        certificate = candidate;
        let Certificate { primal, dual, .. } = certificate;
        trace.record(iteration, primal, dual, problem.labels, monitor);
    };
    Ok(problem.solution(
        &quadratic,
        state.current.weights,
        f64::NEG_INFINITY,
        status,
        iteration,
        trace,
        settings,
        threads,
    ))
}
