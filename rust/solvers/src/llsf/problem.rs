//! The input and the output of a loop of LLSF.

use super::quadratic::Quadratic;
use crate::error::{SolverError, refused};
use crate::linalg::features::Features;
use crate::linalg::matmul::{View, multiply_rows};
use crate::memory;
use crate::parallel::threads::Threads;
use crate::report::{Monitor, Settings, Status, Trace};

/// Labels whose gradient a thread computes between two polls of the monitor: a multiple of the blocks of the products.
const TOGETHER: usize = 128;

/// A problem of LLSF, where to start and when to stop.
#[derive(Debug)]
pub struct Problem<'a> {
    /// The rows, or others with the same `X^T X`: the problem depends on nothing else of them.
    pub features: Features<'a>,
    /// `X^T Y`, `q x d`.
    pub correlation: Vec<f64>,
    /// The squared norms of the columns of `Y`.
    pub squared_norms: Vec<f64>,
    /// `alpha M`, `q x q`; `None` for independent labels.
    pub coupling: Option<&'a [f64]>,
    /// The weight of the l1 norm.
    pub beta: f64,
    /// An upper bound of `<C, H^+ C>` with `C = X^T Y` and `H` the quadratic form. The default is `||Y||^2`, which is one if
    /// the coupling alone is positive semidefinite.
    pub anchor: Option<f64>,
    /// Whether the quadratic form is positive semidefinite.
    pub convex: bool,
    /// Coefficients to start from, `q x d`; 0 unless given.
    pub start: Option<Vec<f64>>,
    /// When to stop.
    pub settings: Settings,
}

/// The end point of a loop.
pub(super) struct End {
    pub weights: Vec<f64>,
    pub status: Status,
    pub epochs: usize,
    pub trace: Trace,
    /// The gradient of the smooth part at the weights, if it was computed afresh.
    pub gradient: Option<Vec<f64>>,
    /// A lower bound of the optimum in addition to that of the certificate.
    pub bound: f64,
}

impl Problem<'_> {
    pub(super) fn check(&self) -> Result<(), SolverError> {
        self.settings.validate()?;
        let q = self.labels();
        let mut sums = self.correlation.iter().chain(&self.squared_norms);
        if q == 0 || self.correlation.len() != self.size() || !sums.all(|x| x.is_finite()) {
            return Err(refused(
                "sums",
                format!("{} numbers for {q} labels", self.correlation.len()),
                "finite numbers, one for each feature and label",
            ));
        }
        if self.coupling.is_some_and(|matrix| matrix.len() != q * q) {
            return Err(refused(
                "coupling",
                format!("a matrix that does not fit {q} labels"),
                "a matrix of shape (q, q)",
            ));
        }
        if !(self.beta > 0.0 && self.beta.is_finite()) {
            return Err(refused("beta", self.beta, "a positive number"));
        }
        let fits =
            |start: &Vec<f64>| start.len() == self.size() && start.iter().all(|w| w.is_finite());
        if !self.start.as_ref().is_none_or(fits) {
            return Err(refused(
                "start",
                "a matrix of another shape, or with numbers that are not finite",
                "finite coefficients of shape (q, d)",
            ));
        }
        Ok(())
    }

    pub(super) fn labels(&self) -> usize {
        self.squared_norms.len()
    }

    pub(super) fn dimension(&self) -> usize {
        self.features.columns()
    }

    pub(super) fn size(&self) -> usize {
        self.labels() * self.dimension()
    }

    pub(super) fn start(&self) -> Vec<f64> {
        match &self.start {
            None => memory::zeros(self.size()),
            Some(start) => memory::copied(start),
        }
    }

    /// The largest KKT residual that is accepted, relative to the largest entry of `X^T Y`.
    pub(super) fn largest_residual(&self) -> f64 {
        let sizes = self.correlation.iter().map(|c| c.abs());
        self.settings.tolerance * sizes.fold(0.0, f64::max)
    }

    /// The gradient of the smooth part at `weights`, computed afresh.
    pub(super) fn gradient(
        &self,
        quadratic: &Quadratic<'_>,
        weights: &[f64],
        threads: &Threads,
    ) -> Vec<f64> {
        let found = self.gradient_in_time(quadratic, weights, threads, &mut ());
        found.unwrap_or_default()
    }

    /// The same; `None` when interrupted.
    pub(super) fn gradient_in_time(
        &self,
        quadratic: &Quadratic<'_>,
        weights: &[f64],
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> Option<Vec<f64>> {
        let (q, d) = (self.labels(), self.dimension());
        let at_zero = weights.iter().all(|&w| w == 0.0);
        let together = TOGETHER * threads.count();
        let mut gradient = memory::zeros(self.size());
        let groups = gradient.chunks_mut((together * d).max(1)).enumerate();
        for (first, out) in groups.map(|(group, out)| (group * together, out)) {
            if monitor.poll().breaks_off() {
                return None;
            }
            if !at_zero {
                quadratic.products(&weights[first * d..][..out.len()], out, threads);
            }
            for (g, c) in out.iter_mut().zip(&self.correlation[first * d..]) {
                *g -= c;
            }
            if let Some(coupling) = self.coupling.filter(|_| !at_zero) {
                let left = View::rows(&coupling[first * q..], q);
                let shape = (out.len() / d, q, d);
                multiply_rows(threads, shape, left, View::rows(weights, d), out, true);
            }
        }
        Some(gradient)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::features::Dense;
    use crate::llsf::Solver;
    use crate::report::{Poll, Record};

    /// Interrupts in the middle of the gradient of the second iteration.
    struct AfterOne {
        polls: usize,
    }

    impl Monitor for AfterOne {
        fn poll(&mut self) -> Poll {
            self.polls = self.polls.saturating_sub(1);
            if self.polls == 0 {
                Poll::Interrupted { at_once: true }
            } else {
                Poll::Go
            }
        }

        fn epoch(&mut self, _record: &Record) {
            // Before the step, and before its first group of labels.
            self.polls = 3;
        }
    }

    fn with_problem(max_epochs: usize, check: impl Fn(&Problem<'_>, &[f64])) {
        let (n, d, q) = (7, 3, 2 * TOGETHER + 5);
        let mut random = fastrand::Rng::with_seed(2);
        let mut numbers = |count| -> Vec<f64> { (0..count).map(|_| random.f64() - 0.5).collect() };
        let (x, correlation, weights) = (numbers(n * d), numbers(q * d), numbers(q * d));
        let mut coupling = vec![0.1; q * q];
        (0..q).for_each(|k| coupling[k * q + k] = 1.0);
        let problem = Problem {
            features: Features::Dense(Dense::new(&x, n, d).unwrap()),
            correlation,
            squared_norms: vec![4.0; q],
            coupling: Some(&coupling),
            beta: 0.01,
            anchor: None,
            convex: true,
            start: None,
            settings: Settings {
                tolerance: 1e-12,
                max_epochs,
                ..Settings::default()
            },
        };
        check(&problem, &weights);
    }

    #[test]
    fn groups_of_labels_have_the_gradient_of_the_definition() {
        with_problem(1000, |problem, weights| {
            let quadratic = Quadratic::applied(problem.features);
            let of = |count| problem.gradient(&quadratic, weights, &Threads::new(count));
            let found = of(1);
            assert_eq!(found, of(3));
            let d = problem.dimension();
            let mut products = vec![0.0; found.len()];
            quadratic.products(weights, &mut products, &Threads::new(1));
            for (at, value) in found.iter().enumerate() {
                let (k, j) = (at / d, at % d);
                let row = &problem.coupling.unwrap()[k * problem.labels()..];
                let coupled = (0..problem.labels()).map(|l| row[l] * weights[l * d + j]);
                let expected = products[at] - problem.correlation[at] + coupled.sum::<f64>();
                assert!((value - expected).abs() < 1e-12);
            }
        });
    }

    #[test]
    fn an_interrupted_step_is_not_made() {
        let by = Solver::Gradient {
            lipschitz: 50.0,
            restarts: true,
        };
        with_problem(1, |once, _| {
            let made = once.solve(by, &Threads::new(1), &mut ()).unwrap();
            with_problem(1000, |problem, _| {
                let mut monitor = AfterOne { polls: usize::MAX };
                let stopped = problem.solve(by, &Threads::new(1), &mut monitor).unwrap();
                assert_eq!(stopped.report.status, Status::Interrupted);
                assert_eq!(stopped.weights, made.weights);
                assert_eq!(
                    (stopped.report.epochs, stopped.report.primal),
                    (1, made.report.primal)
                );
            });
        });
    }
}
