//! The sub-problem of a fixed label covariance, label by label, and the published alternation on top of it.
//!
//! ```text
//! (10)   max over Z   sum alpha - 1/(2 lambda) tr(Z^T K Z Omega),    columns of Z sum to 0,    0 <= alpha <= 1/n
//! ```
//!
//! With `G = K Z` kept, the gradient of label `j` is `G Omega_j / lambda - y_j`, one product of cost O(nq); a pair step
//! inside the label (Appendix A) costs O(n) and changes column `j` of `G` alone. The labels are visited in turn, each
//! from where it was left. Then `W = phi(X)^T Z Omega / lambda`.
//!
//! The alternation solves (10) and sets `Omega = (W^T W)^{1/2} / tr`, (11), in turn. It stalls above the joint optimum:
//! an eigenvalue of Omega that is near 0 multiplies what could make it grow. That is why [`super::splitting`] exists.

use super::certificate::{joint_bound, loss_and_bias, rounding};
use super::columns::{Column, duals, solve_one};
use super::splitting::{Regulariser, split};
use super::symmetric::{Eigen, covariance_step, gram, independent, mix, transpose};
use super::{Problem, Settings, Solution, Values};
use crate::error::{SolverError, refused};
use crate::linalg::matmul::{View, multiply};
use crate::memory;
use crate::parallel::threads::Threads;
use crate::report::{Monitor, Status, Trace, relative_gap};

/// A diagonal entry of Omega below this share of the mean one says too little about `K z` to divide by it.
const NEGLIGIBLE: f64 = 1e-6;
/// Limits of the tolerance of F_low <= F_up.
const LOOSEST: f64 = 1e-2;
const TIGHTEST: f64 = 1e-12;
/// The tolerance of F_low <= F_up shrinks by this factor when no label moves.
const TIGHTENING: f64 = 0.1;
/// Labels are solved to F_low <= F_up + this share of the relative gap.
const SUB_SHARE: f64 = 0.3;
/// Sub-problems of the alternation are solved to this share of the joint tolerance.
const SHARE: f64 = 0.1;
/// A fixed covariance that is not solved after this many visits to all labels couples them too strongly to go on so.
const PATIENCE: usize = 100;
/// Largest number of visits to all labels in one sub-problem of the alternation.
const MOST_SWEEPS: usize = 1000;
/// A sub-problem is at the limit of rounding when this many visits to all labels bring no smaller gap.
const STILL: usize = 20;
/// It has reached that limit when it does so this many times, each from products computed anew.
const CHECKS: usize = 3;
/// The alternation is at the limit of rounding when this many rounds with such sub-problems bring no lower objective.
const STILL_ROUNDS: usize = 5;

/// Pair steps of all rounds, for each row and label, and at least: a kernel many orders above lambda needs more than
/// anybody waits for.
const MOST_STEPS: usize = 10_000;
const LEAST_LIMIT: usize = 10_000_000;

/// After how many pair steps in all rounds the alternation ends.
fn most_steps(problem: &Problem<'_>) -> usize {
    let size = problem.instances().saturating_mul(problem.labels());
    size.saturating_mul(MOST_STEPS).max(LEAST_LIMIT)
}

/// `Z` and `K Z`, by label.
struct State {
    columns: Vec<Column>,
    products: Vec<f64>,
    /// Of F_low <= F_up.
    tolerance: f64,
    steps: usize,
}

/// The value of a sub-problem at the current point.
struct Value {
    objectives: Values,
    bias: Vec<f64>,
    /// `K Z Omega / lambda`
    scores: Vec<f64>,
}

impl Value {
    fn gap(&self) -> f64 {
        relative_gap(self.objectives.primal, self.objectives.dual)
    }
}

/// How a sub-problem of the alternation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Its relative gap, with products computed anew, is within the tolerance.
    Solved,
    /// Rounding, or the limit of visits, keeps it above.
    Unsolved,
    /// The monitor asked to stop, or the time was over.
    BrokenOff,
}

impl State {
    fn new(problem: &Problem<'_>) -> Self {
        let (n, q) = (problem.instances(), problem.labels());
        Self {
            columns: (0..q).map(|_| Column::zero(n)).collect(),
            products: memory::matrix(n, q),
            tolerance: LOOSEST,
            steps: 0,
        }
    }

    /// Visits every label once; `false` when broken off.
    fn sweep(
        &mut self,
        problem: &Problem<'_>,
        omega: &[f64],
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> bool {
        let (n, q) = (problem.instances(), problem.labels());
        let before = self.steps;
        let mut scores = vec![0.0; n];
        for label in 0..q {
            let row: Vec<f64> = omega[label * q..(label + 1) * q]
                .iter()
                .map(|o| o / problem.lambda)
                .collect();
            let products = View::rows(&self.products, n);
            multiply((1, q, n), View::rows(&row, q), products, &mut scores);
            let column = &mut self.columns[label];
            let parts = scores.iter().zip(problem.sign(label));
            for (f, (score, y)) in column.gradient.iter_mut().zip(parts) {
                *f = score - y;
            }
            let scale = row[label];
            let tolerance = self.tolerance;
            let solved = solve_one(problem, label, scale, tolerance, column, monitor);
            let product = &mut self.products[label * n..(label + 1) * n];
            if omega[label * q + label] * q as f64 > NEGLIGIBLE {
                let parts = column.gradient.iter().zip(&scores).zip(problem.sign(label));
                for (g, ((f, score), y)) in product.iter_mut().zip(parts) {
                    *g += (f - (score - y)) / scale;
                }
            } else if let Some(fresh) = problem.kernel.product(&column.dual, 1, threads, monitor) {
                product.copy_from_slice(&fresh);
            }
            let Some(steps) = solved else { return false };
            self.steps += steps;
        }
        if self.steps == before {
            self.tolerance = (TIGHTENING * self.tolerance).max(TIGHTEST);
        }
        true
    }

    /// Makes ready for the next sweep: a tolerance that suits the gap.
    fn prepare(&mut self, gap: f64) {
        self.tolerance = self.tolerance.min((SUB_SHARE * gap).max(TIGHTEST));
    }

    /// Visits the labels until the relative gap of (10) is at most `tolerance`, or no smaller in many visits. The products
    /// are computed anew before either is believed.
    fn solve(
        &mut self,
        problem: &Problem<'_>,
        omega: &[f64],
        tolerance: f64,
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> Outcome {
        let (mut smallest, mut still, mut checked) = (f64::INFINITY, 0, 0);
        for _ in 0..MOST_SWEEPS {
            if !self.sweep(problem, omega, threads, monitor) {
                return Outcome::BrokenOff;
            }
            let mut gap = self.value(problem, omega).gap();
            still = if gap < smallest { 0 } else { still + 1 };
            smallest = smallest.min(gap);
            let spent = self.steps >= most_steps(problem);
            if gap <= tolerance || still == STILL || spent {
                if !self.recompute(problem, threads, monitor) {
                    return Outcome::BrokenOff;
                }
                gap = self.value(problem, omega).gap();
                checked += 1;
                if gap <= tolerance {
                    return Outcome::Solved;
                }
                if checked == CHECKS || spent {
                    return Outcome::Unsolved;
                }
                // Once more from products without drift.
                (smallest, still) = (gap, 0);
            }
            self.prepare(gap);
        }
        if self.recompute(problem, threads, monitor) {
            Outcome::Unsolved
        } else {
            Outcome::BrokenOff
        }
    }

    /// Replaces the products by ones computed from `Z` alone; `false` when broken off.
    fn recompute(
        &mut self,
        problem: &Problem<'_>,
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> bool {
        let factor = transpose(&duals(&self.columns), problem.instances());
        let columns = problem.labels();
        match problem.kernel.product(&factor, columns, threads, monitor) {
            Some(products) => self.products = transpose(&products, columns),
            None => return false,
        }
        true
    }

    fn value(&self, problem: &Problem<'_>, omega: &[f64]) -> Value {
        let n = problem.instances();
        let scaled: Vec<f64> = memory::collected(omega.iter().map(|o| o / problem.lambda));
        let scores = mix(&scaled, &self.products, n);
        let (mut quadratic, mut sum) = (0.0, 0.0);
        for (column, scores) in self.columns.iter().zip(scores.chunks_exact(n)) {
            for (z, f) in column.dual.iter().zip(scores) {
                quadratic += z * f;
                sum += z.abs();
            }
        }
        let (loss, bias) = loss_and_bias(problem, &scores);
        Value {
            objectives: Values {
                primal: loss + 0.5 * quadratic,
                dual: sum - 0.5 * quadratic,
                quadratic,
            },
            bias,
            scores,
        }
    }

    /// `Z Omega / lambda`
    fn expansion(&self, problem: &Problem<'_>, omega: &[f64]) -> Vec<f64> {
        let scaled: Vec<f64> = memory::collected(omega.iter().map(|o| o / problem.lambda));
        mix(&scaled, &duals(&self.columns), problem.instances())
    }
}

/// Solves (8) and (10) for a fixed label covariance, `q x q`, symmetric and positive semidefinite.
///
/// # Errors
/// When a setting is out of range or the covariance has another shape.
pub fn fixed(
    problem: &Problem<'_>,
    covariance: &[f64],
    settings: &Settings,
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Result<Solution, SolverError> {
    settings.validate()?;
    check_shape(covariance, problem.labels())?;
    let largest = covariance.iter().fold(0.0, |a: f64, b| a.max(b.abs())) / problem.lambda;
    let mut trace = Trace::default();
    let mut state = State::new(problem);
    let mut rounds = 0;
    let (status, value) = loop {
        rounds += 1;
        let finished = state.sweep(problem, covariance, threads, monitor);
        let mut value = state.value(problem, covariance);
        let used_up = rounds == settings.rounds;
        let last = used_up || !finished || monitor.out_of_time();
        if (last || value.gap() <= settings.tolerance) && state.recompute(problem, threads, monitor)
        {
            value = state.value(problem, covariance);
        }
        let Values { primal, dual, .. } = value.objectives;
        trace.record(rounds, primal, dual, problem.instances(), monitor);
        if !finished && monitor.interrupted() {
            break (Status::Interrupted, value);
        }
        let floor = || rounding(problem, &duals(&state.columns), largest);
        let found = value.objectives.ending(settings.tolerance, floor);
        let otherwise = used_up.then_some(Status::MaxIterations);
        let otherwise = otherwise.or_else(|| last.then(|| monitor.status()));
        if let Some(status) = found.or(otherwise) {
            break (status, value);
        }
        if rounds == PATIENCE {
            let regulariser = Regulariser::fixed(covariance, problem.labels())?;
            let begun = (trace, state.steps);
            return split(problem, &regulariser, settings, threads, monitor, begun);
        }
        state.prepare(value.gap());
    };
    let Values { primal, dual, .. } = value.objectives;
    Ok(Solution {
        expansion: state.expansion(problem, covariance),
        bias: value.bias,
        dual: duals(&state.columns),
        covariance: memory::copied(covariance),
        scores: value.scores,
        steps: state.steps,
        report: trace.report(status, rounds, primal, dual),
    })
}

fn check_shape(covariance: &[f64], q: usize) -> Result<(), SolverError> {
    if covariance.len() == q * q {
        return Ok(());
    }
    Err(refused(
        "covariance",
        format!("{} numbers for {q} labels", covariance.len()),
        "a q x q matrix",
    ))
}

fn check_ridge(ridge: f64) -> Result<(), SolverError> {
    if (0.0..=1.0).contains(&ridge) {
        return Ok(());
    }
    Err(refused("ridge", ridge, "a number between 0 and 1"))
}

/// `(1 - ridge) Omega + ridge I/q`
fn with_ridge(omega: &[f64], ridge: f64, q: usize) -> Vec<f64> {
    omega
        .iter()
        .zip(independent(q))
        .map(|(o, i)| (1.0 - ridge) * o + ridge * i)
        .collect()
}

/// The lowest objective so far, and for how many rounds neither it fell nor a sub-problem was solved.
struct Progress {
    lowest: f64,
    still: usize,
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            lowest: f64::INFINITY,
            still: 0,
        }
    }
}

impl Progress {
    fn note(&mut self, primal: f64, outcome: Outcome) {
        self.still = if primal < self.lowest || outcome == Outcome::Solved {
            0
        } else {
            self.still + 1
        };
        self.lowest = self.lowest.min(primal);
    }
}

/// The status with which the alternation ends after a sub-problem, `found` where the monitor does not end it; `None`
/// when it goes on.
fn ending(outcome: Outcome, found: Option<Status>, monitor: &mut dyn Monitor) -> Option<Status> {
    let broken_off = outcome == Outcome::BrokenOff;
    if broken_off && monitor.interrupted() {
        return Some(Status::Interrupted);
    }
    found.or_else(|| (broken_off || monitor.out_of_time()).then(|| monitor.status()))
}

/// The published alternation, started at Omega = I/q. Each sub-problem is solved with `(1 - ridge) Omega + ridge I/q`:
/// at a ridge of 0 an eigenvalue that has become 0 stays 0.
///
/// # Errors
/// When a setting is out of range or the kernel is not finite.
pub fn alternating(
    problem: &Problem<'_>,
    ridge: f64,
    settings: &Settings,
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Result<Solution, SolverError> {
    settings.validate()?;
    check_ridge(ridge)?;
    let sub_tolerance = SHARE * settings.tolerance;
    let mut trace = Trace::default();
    let mut state = State::new(problem);
    let mut omega = independent(problem.labels());
    let mut best_bound = (f64::NEG_INFINITY, Vec::new());
    let mut progress = Progress::default();
    let mut rounds = 0;
    loop {
        rounds += 1;
        let outcome = state.solve(problem, &omega, sub_tolerance, threads, monitor);
        if outcome == Outcome::BrokenOff {
            // The products have gathered rounding. Where the monitor interrupts, there is no time for them.
            state.recompute(problem, threads, monitor);
        }
        let value = state.value(problem, &omega);
        let point = joint_point(problem, &state, &omega, &value)?;
        if point.bound > best_bound.0 {
            best_bound = (point.bound, point.dual);
        }
        let (primal, dual) = (point.primal, best_bound.0);
        trace.record(rounds, primal, dual, problem.instances(), monitor);
        let next = with_ridge(&point.covariance, ridge, problem.labels());
        progress.note(primal, outcome);
        let floor = || rounding(problem, &duals(&state.columns), 1.0 / problem.lambda);
        let objectives = Values {
            primal,
            dual,
            quadratic: value.objectives.quadratic,
        };
        let found = objectives.ending(settings.tolerance, floor);
        let spent = progress.still == STILL_ROUNDS || state.steps >= most_steps(problem);
        let last = spent
            .then_some(Status::Stalled)
            .or((rounds == settings.rounds).then_some(Status::MaxIterations));
        let Some(status) = ending(outcome, found.or(last), monitor) else {
            omega = next;
            continue;
        };
        return Ok(Solution {
            expansion: point.expansion,
            bias: value.bias,
            dual: best_bound.1,
            covariance: point.covariance,
            scores: value.scores,
            steps: state.steps,
            report: trace.report(status, rounds, primal, dual),
        });
    }
}

/// What a sub-problem's solution is for the joint problem.
struct JointPoint {
    expansion: Vec<f64>,
    covariance: Vec<f64>,
    primal: f64,
    /// The lower bound, and the dual point that gives it.
    bound: f64,
    dual: Vec<f64>,
}

fn joint_point(
    problem: &Problem<'_>,
    state: &State,
    omega: &[f64],
    value: &Value,
) -> Result<JointPoint, SolverError> {
    let (n, q) = (problem.instances(), problem.labels());
    let expansion = state.expansion(problem, omega);
    let eigen = Eigen::new(&gram(&expansion, &value.scores, n), q)?;
    let (covariance, trace_norm) = covariance_step(&eigen);
    let loss = loss_and_bias(problem, &value.scores).0;
    let dual = duals(&state.columns);
    let (bound, t) = joint_bound(problem, &dual, &state.products)?;
    Ok(JointPoint {
        expansion,
        covariance,
        primal: loss + 0.5 * problem.lambda * trace_norm * trace_norm,
        bound,
        dual: memory::collected(dual.iter().map(|z| t * z)),
    })
}
