//! The Frank-Wolfe method for Rank-CVM (Xu 2013, section 7.4), and its pairwise variant.
//!
//! ```text
//! min over alpha  W(alpha) = 1/2 alpha^T Theta alpha,   u^T alpha = 1,   alpha >= 0                  (Xu 2013, eq. (37))
//! Theta = (H^T H) o (K + 1) + D,   D = diag(1/c_i)                                                    (Xu 2013, eq. (38))
//! ```
//!
//! | here | Xu 2013 |
//! |---|---|
//! | `scale * score`, the entries of `F = (K + 1) B` | `f_k(x_i)` |
//! | `F_im - F_in + alpha_imn / c_i` | the gradient `g_imn` (59) |
//! | `State::diagonal` | `Theta_ss` (54) |
//! | `objective` | `W(alpha)` by the recursion (68) |
//! | `slope` | `z` (62) |
//!
//! The paper keeps and updates one gradient entry a pair, `O((3q + 7) L)` operations a step. But a gradient entry is a
//! difference of two scores, plus a term that is 0 outside the support. So the scores suffice: a step changes two
//! labels' scores by one kernel row, `O(n)`. Shrinking all scores by `1 - lambda` (67) is left to one common factor.
//!
//! Each instance has a lower bound of its entries, which follows the two labels of a step ([`bound`]); the pairs of an
//! instance are looked at where its bound is below the smallest entry found so far.
//!
//! The pairwise variant moves weight from the worst pair of the support to the best pair of all, which converges
//! linearly where the published step zigzags at a sublinear rate.
//!
//! Where we deviate: nothing but the bookkeeping in the published steps. Besides the published stop rule, `|z| < eps`,
//! there is a relative one, `-z <= tol W`; `-z` is the duality gap to Xu 2013, eq. (30) at `rho = min g`.

use crate::error::{SolverError, refused};
use crate::kernel::rows::KernelRows;
use crate::labels::Labels;
use crate::memory;
use crate::report::{Monitor, Report, Settings, Status, Trace, verdict};
use state::State;

mod bound;
mod state;
mod support;

/// Steps between two questions to the monitor.
const STEPS_PER_QUESTION: usize = 16;

/// How often the loop goes on after rounding turned out to have feigned convergence.
const RESTARTS: usize = 20;

/// A pair `(i, m, n)` and its dual variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeightedPair {
    /// The instance `i`.
    pub instance: u32,
    /// The relevant label `m`.
    pub relevant: u32,
    /// The irrelevant label `n`.
    pub irrelevant: u32,
    /// The dual variable `alpha_imn`, or the length of a step towards this pair.
    pub weight: f64,
}

/// How to step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From everywhere to the best pair, as published (64).
    Vertex,
    /// From the worst pair of the support to the best pair.
    Pairwise,
}

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StopRule {
    /// `|z| < eps`, as published.
    Absolute(f64),
    /// `-z <= tol W`.
    Relative(f64),
}

/// The options of [`solve`].
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How to step.
    pub direction: Direction,
    /// When to stop.
    pub stop: StopRule,
    /// Number of epochs `M`, of as many iterations as there are pairs.
    pub max_epochs: usize,
    /// How many of the first steps to record.
    pub recorded_steps: usize,
}

/// The solution of Rank-CVM.
#[derive(Clone, Debug)]
pub struct SimplexSolution {
    /// The dual matrix `B`, `n x q` row-major.
    pub dual: Vec<f64>,
    /// The bias, the column sums of `B`.
    pub bias: Vec<f64>,
    /// Scores of the training instances without the bias, `n x q` row-major.
    pub scores: Vec<f64>,
    /// The support: the pairs with a positive dual variable.
    pub support: Vec<WeightedPair>,
    /// The margin `rho`, the smallest gradient entry.
    pub rho: f64,
    /// The first steps: the pair and the step length.
    pub steps: Vec<WeightedPair>,
    /// The certificate: `primal` is `W`, and `dual` the lower bound `W + z`.
    pub report: Report,
}

impl Options {
    fn validate(&self) -> Result<(), SolverError> {
        let (StopRule::Absolute(tolerance) | StopRule::Relative(tolerance)) = self.stop;
        Settings {
            tolerance,
            max_epochs: self.max_epochs,
            ..Settings::default()
        }
        .validate()
    }
}

impl StopRule {
    fn satisfied(self, slope: f64, objective: f64) -> bool {
        match self {
            Self::Absolute(eps) => slope.abs() < eps,
            Self::Relative(tol) => {
                // The objective is the quadratic form, and positive unless the kernel is indefinite.
                let found = verdict(objective, objective + slope, 0.0, tol, || f64::INFINITY);
                found == Some(Status::Converged)
            }
        }
    }
}

/// Solves Rank-CVM from the published start (55), (56), or from a given support.
///
/// # Errors
/// When the arguments are out of range or do not fit together, or when there is no pair.
pub fn solve(
    labels: &Labels,
    kernel: &KernelRows<'_>,
    start: &[WeightedPair],
    options: &Options,
    monitor: &mut dyn Monitor,
) -> Result<SimplexSolution, SolverError> {
    options.validate()?;
    if labels.have_top() {
        return Err(SolverError::Unsupported(
            "only solver 'bcd' compares with the highest irrelevant labels alone",
        ));
    }
    let n = labels.instances();
    let mut state = begin(labels, kernel, start)?;
    let last = options.max_epochs.saturating_mul(number_of_pairs(labels));
    let mut trace = Trace::default();
    let mut steps = Vec::new();
    let (mut iteration, mut next_record, mut restarts) = (1, 1, 0);
    let mut objective = state.objective();
    let (status, rho) = loop {
        let best = state.best();
        let slope = best.gradient - 2.0 * objective;
        if !slope.is_finite() || restarts > RESTARTS {
            break (Status::Stalled, best.gradient);
        }
        if iteration >= next_record {
            trace.record(iteration, objective, objective + slope, n, monitor);
            next_record = iteration + iteration.min(n);
        }
        let asks = iteration % STEPS_PER_QUESTION == 0;
        let broken_off = (asks && monitor.breaks_off()).then(|| monitor.status());
        let satisfied = options.stop.satisfied(slope, objective);
        if let Some(status) = ending(broken_off, satisfied, iteration >= last) {
            objective = state.objective_anew();
            let rho = state.best().gradient;
            let satisfied = options.stop.satisfied(rho - 2.0 * objective, objective);
            if status != Status::Converged || satisfied {
                break (status, rho);
            }
            restarts += 1;
            continue;
        }
        let step;
        (step, objective) = state.step(options.direction, &best, objective);
        if steps.len() < options.recorded_steps {
            steps.push(best.weighted(step));
        }
        iteration += 1;
        if step <= 0.0 {
            objective = state.objective_anew();
            restarts += 1;
        }
    };
    let slope = rho - 2.0 * objective;
    trace.record(iteration, objective, objective + slope, n, monitor);
    Ok(solution(
        &state, objective, rho, status, iteration, steps, trace,
    ))
}

fn number_of_pairs(labels: &Labels) -> usize {
    (0..labels.instances())
        .filter(|&i| labels.has_pairs(i))
        .map(|i| labels.pairs(i))
        .sum()
}

/// Why the loop may end at a point; `None` when it goes on.
fn ending(broken_off: Option<Status>, satisfied: bool, last: bool) -> Option<Status> {
    if broken_off.is_some() {
        broken_off
    } else if satisfied {
        Some(Status::Converged)
    } else {
        last.then_some(Status::MaxIterations)
    }
}

/// The state at the published start, or at a given support.
fn begin<'a, 'k>(
    labels: &'a Labels,
    kernel: &'a KernelRows<'k>,
    start: &[WeightedPair],
) -> Result<State<'a, 'k>, SolverError> {
    let with_pairs = (0..labels.instances()).filter(|&i| labels.has_pairs(i));
    let mut state = State::new(labels, kernel);
    let diagonal = |i: usize| state.diagonal(i, labels.first_pair(i).0);
    let first = with_pairs.min_by(|&i, &j| diagonal(i).total_cmp(&diagonal(j)));
    let Some(first) = first else {
        return Err(refused(
            "Y",
            "without label pairs",
            "a row with both a relevant and an irrelevant label",
        ));
    };
    let total: f64 = start.iter().map(|pair| pair.weight).sum();
    for pair in start {
        let Ok(i) = check_start(labels, pair, total) else {
            return Err(refused(
                "start",
                format!("{pair:?}"),
                "pairs of a relevant and an irrelevant label with positive weights",
            ));
        };
        state.add_weight(i, pair.relevant, pair.irrelevant, pair.weight / total);
    }
    if start.is_empty() {
        let (m, n) = labels.first_pair(first);
        state.add_weight(first, m, n, 1.0);
    }
    state.rebuild();
    Ok(state)
}

fn check_start(labels: &Labels, pair: &WeightedPair, total: f64) -> Result<usize, ()> {
    let (i, n) = (pair.instance as usize, pair.irrelevant as usize);
    let valid = i < labels.instances()
        && n < labels.count()
        && labels.relevant(i).contains(&pair.relevant)
        && !labels.relevant(i).contains(&pair.irrelevant)
        && !labels.unknown(i).contains(&pair.irrelevant)
        && pair.weight > 0.0
        && total.is_finite();
    if valid { Ok(i) } else { Err(()) }
}

fn solution(
    state: &State<'_, '_>,
    objective: f64,
    rho: f64,
    status: Status,
    epochs: usize,
    steps: Vec<WeightedPair>,
    trace: Trace,
) -> SimplexSolution {
    let (n, q) = (state.labels.instances(), state.labels.count());
    let (mut dual, mut bias, mut scores) =
        (memory::matrix(n, q), vec![0.0; q], memory::matrix(n, q));
    let mut support = Vec::new();
    state.for_each_of_support(|i, relevant, irrelevant, weight, _| {
        let (m, k) = (relevant as usize, irrelevant as usize);
        dual[i * q + m] += weight;
        dual[i * q + k] -= weight;
        bias[m] += weight;
        bias[k] -= weight;
        support.push(WeightedPair {
            instance: i as u32,
            relevant,
            irrelevant,
            weight,
        });
    });
    for (i, row) in scores.chunks_mut(q).enumerate() {
        for (k, (score, b)) in row.iter_mut().zip(&bias).enumerate() {
            *score = state.score(i, k as u32) - b;
        }
    }
    SimplexSolution {
        dual,
        bias,
        scores,
        support,
        rho,
        steps,
        report: trace.report(
            status,
            epochs,
            objective,
            objective + (rho - 2.0 * objective),
        ),
    }
}

#[cfg(test)]
mod tests;
