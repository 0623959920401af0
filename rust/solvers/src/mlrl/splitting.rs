//! The joint problem by operator splitting: trace norm on one side, independent support vector machines on the other.
//!
//! ```text
//! min over W   L(W) + lambda/2 ||W||_*^2,     L = hinge loss with the best bias
//! ```
//!
//! Douglas and Rachford's iteration (the alternating direction method of multipliers), with penalty rho:
//!
//! * `W = argmin L(W) + rho/2 ||W - (V - U)||^2`: the labels are independent here, so these are `q` support vector machines
//!   with the offsets `V - U`, solved by [`crate::mlrl::smo`] from where the last round left them. Their dual point `Z` is
//!   feasible for the whole problem, and bounds it: `W = V - U + phi(X)^T Z / rho`;
//! * `V = argmin lambda/2 ||V||_*^2 + rho/2 ||W + U - V||^2`: singular values shrink by one threshold; `V` is the model,
//!   and `Omega = (V^T V)^{1/2} / tr` its label covariance. Labels that share nothing get eigenvalues that are exactly 0,
//!   and an eigenvalue that was 0 can come back;
//! * `U += W - V`.
//!
//! All three are `phi(X)^T A` for some `A`, so only `A` and the scores `K A` are kept; a round costs no kernel product.
//!
//! With another regulariser only the step of `V` and the bound change, so a fixed Omega is solved the same way where one
//! label after another is slow: [`Regulariser`].
//!
//! This replaces the published alternation ([`super::alternating`]), which stalls above the joint optimum.

use super::certificate::{best_multiple, loss_and_bias, rounding};
use super::columns::{Column, duals, solve_all};
use super::symmetric::{Eigen, covariance_step, gram, largest_eigenvalue, mix, transpose};
use super::{Problem, Settings, Solution, Values};
use crate::error::SolverError;
use crate::linalg::vector::dot;
use crate::memory;
use crate::parallel::threads::Threads;
use crate::report::{Monitor, Report, Status, Trace, relative_gap};

/// The first penalty over `lambda q`, which is the factor of the regulariser at Omega = I/q.
const FIRST_PENALTY: f64 = 2.0;
/// Over-relaxation of `W`; anything in (0, 2) converges.
const RELAXATION: f64 = 1.8;
/// The penalty changes when one relative residual is this many times the other.
const UNBALANCED: f64 = 2.0;
/// After this round the penalty stays: the iteration is sure to converge only with a penalty that settles.
const PENALTY_SETTLES: usize = 100;
/// The sub-problems are solved to F_low <= F_up + this share of the gap of one label's mean loss, ...
const FIRST_ACCURACY: f64 = 5.0;
/// ... within these limits.
const LOOSEST: f64 = 0.1;
const TIGHTEST: f64 = 1e-12;
/// The loop ends after this many rounds in which a sub-problem used up its steps: the kernel's scale is out of reach.
const MOST_EXHAUSTED: usize = 10;
/// It has stalled when this many rounds leave more than this share of the gap.
const STILL_ROUNDS: usize = 500;
const STILL_SHARE: f64 = 0.99;
/// Eigenvalues of a fixed Omega below this share of the largest one are 0.
const SMALLEST_SHARE: f64 = 1e-14;

/// `phi(X)^T A` as `A` and the scores `K A`, both by label.
#[derive(Clone, Debug)]
struct Weights {
    expansion: Vec<f64>,
    scores: Vec<f64>,
}

impl Weights {
    fn zero(length: usize) -> Self {
        Self {
            expansion: memory::zeros(length),
            scores: memory::zeros(length),
        }
    }

    /// Applies a function of numbers to expansions and scores alike.
    fn combine<const M: usize>(parts: [&Self; M], f: impl Fn([f64; M]) -> f64) -> Self {
        let zip = |of: fn(&Self) -> &[f64]| {
            let parts = parts.map(of);
            (0..parts[0].len())
                .map(|at| f(parts.map(|part| part[at])))
                .collect()
        };
        Self {
            expansion: zip(|weights| &weights.expansion),
            scores: zip(|weights| &weights.scores),
        }
    }

    fn mixed(&self, mixing: &[f64], n: usize) -> Self {
        Self {
            expansion: mix(mixing, &self.expansion, n),
            scores: mix(mixing, &self.scores, n),
        }
    }

    fn gram(&self, n: usize) -> Vec<f64> {
        gram(&self.expansion, &self.scores, n)
    }

    fn norm(&self) -> f64 {
        let square: f64 = self
            .expansion
            .iter()
            .zip(&self.scores)
            .map(|(a, f)| a * f)
            .sum();
        square.max(0.0).sqrt()
    }
}

/// Solves the joint problem; see the head of this file.
///
/// # Errors
/// When a setting is out of range or the kernel is not finite.
pub fn splitting(
    problem: &Problem<'_>,
    settings: &Settings,
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Result<Solution, SolverError> {
    settings.validate()?;
    let begun = (Trace::default(), 0);
    let regulariser = Regulariser::TraceNorm;
    split(problem, &regulariser, settings, threads, monitor, begun)
}

/// The same for either regulariser, after the rounds of another loop: their trace and pair steps.
pub(super) fn split(
    problem: &Problem<'_>,
    regulariser: &Regulariser,
    settings: &Settings,
    threads: &Threads,
    monitor: &mut dyn Monitor,
    (mut trace, mut steps): (Trace, usize),
) -> Result<Solution, SolverError> {
    let before = trace.history.len();
    let mut state = State::new(problem);
    let mut patience = Patience::default();
    let mut rounds = 0;
    let (status, certified) = loop {
        rounds += 1;
        let solved = state.solve_labels(problem, threads, monitor);
        let rebalances =
            rounds <= PENALTY_SETTLES && (rounds <= 20 && rounds % 2 == 0 || rounds % 8 == 0);
        state.follow(problem, regulariser, rebalances)?;
        let objectives = state.best.objectives();
        let Values { primal, dual, .. } = objectives;
        trace.record(before + rounds, primal, dual, problem.instances(), monitor);
        let Some(made) = solved else {
            break (monitor.status(), None);
        };
        steps += made;
        if made == 0 {
            state.accuracy *= 0.3;
        }
        let floor = || rounding(problem, &state.best.dual, 1.0 / problem.lambda);
        let found = objectives.ending(settings.tolerance, floor);
        let stalled = patience.ends(&state, rounds);
        let used_up = (before + rounds == settings.rounds).then_some(Status::MaxIterations);
        let last = used_up.or_else(|| monitor.out_of_time().then_some(Status::TimeLimit));
        if found.is_some() || stalled || last.is_some() {
            let Some(point) = state.best.certify(problem, regulariser, threads, monitor)? else {
                break (Status::Interrupted, None);
            };
            let found = point.objectives.ending(settings.tolerance, floor);
            if let Some(status) = found.or(stalled.then_some(Status::Stalled)).or(last) {
                break (status, Some(point));
            }
        }
    };
    let point = match certified {
        Some(point) => point,
        None => state
            .best
            .certify_in_any_case(problem, regulariser, threads)?,
    };
    let Values { primal, dual, .. } = point.objectives;
    trace.amend(primal, dual);
    let report = trace.report(status, before + rounds, primal, dual);
    Ok(point.solution(state.best, steps, report))
}

/// The signs that more rounds will not help.
struct Patience {
    /// Rounds in which a label used up its steps.
    exhausted: usize,
    /// The gap [`STILL_ROUNDS`] rounds ago.
    earlier: f64,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            exhausted: 0,
            earlier: f64::INFINITY,
        }
    }
}

impl Patience {
    fn ends(&mut self, state: &State, rounds: usize) -> bool {
        self.exhausted += usize::from(state.columns.iter().any(|column| column.exhausted));
        let mut still = false;
        if rounds.is_multiple_of(STILL_ROUNDS) {
            let Values { primal, dual, .. } = state.best.objectives();
            still = primal - dual > STILL_SHARE * self.earlier;
            self.earlier = primal - dual;
        }
        still || self.exhausted >= MOST_EXHAUSTED
    }
}

/// The iterates; matrices by label.
struct State {
    rho: f64,
    columns: Vec<Column>,
    /// `K Z`
    products: Vec<f64>,
    v: Weights,
    u: Weights,
    /// `V - U` of this round.
    offset: Weights,
    /// Of the labels' problems, relative to the gap.
    accuracy: f64,
    gap: f64,
    best: Best,
}

impl State {
    fn new(problem: &Problem<'_>) -> Self {
        let (n, q) = (problem.instances(), problem.labels());
        let zero = Weights::zero(n * q);
        Self {
            rho: FIRST_PENALTY * problem.lambda * q as f64,
            columns: (0..q).map(|_| Column::zero(n)).collect(),
            products: memory::matrix(n, q),
            accuracy: FIRST_ACCURACY,
            gap: 1.0,
            best: Best {
                primal: loss_and_bias(problem, &zero.scores).0,
                expansion: memory::copied(&zero.expansion),
                bound: 0.0,
                dual: memory::matrix(n, q),
            },
            v: zero.clone(),
            offset: zero.clone(),
            u: zero,
        }
    }

    /// `W`, as `q` support vector machines with the offsets `V - U`: the pair steps made, `None` when broken off.
    fn solve_labels(
        &mut self,
        problem: &Problem<'_>,
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> Option<usize> {
        let n = problem.instances();
        let rho = self.rho;
        self.offset = Weights::combine([&self.v, &self.u], |[v, u]| v - u);
        for (label, column) in self.columns.iter_mut().enumerate() {
            let range = label * n..(label + 1) * n;
            let parts = self.products[range.clone()].iter();
            let parts = parts.zip(&self.offset.scores[range]);
            let gradient = column.gradient.iter_mut().zip(parts);
            for ((f, (g, d)), y) in gradient.zip(problem.sign(label)) {
                *f = g / rho + d - y;
            }
        }
        // Margins are wrong by the tolerance, so the loss of each label is, and the gap is one of their sum.
        let loss = (self.best.primal / problem.labels() as f64).min(1.0);
        let tolerance = (self.accuracy * self.gap * loss).clamp(TIGHTEST, LOOSEST);
        let columns = &mut self.columns;
        let solved = solve_all(problem, 1.0 / rho, tolerance, columns, threads, monitor);
        for (label, column) in self.columns.iter().enumerate() {
            let range = label * n..(label + 1) * n;
            let parts = self.products[range.clone()].iter_mut();
            let parts = parts.zip(&self.offset.scores[range]);
            for (((g, d), f), y) in parts.zip(&column.gradient).zip(problem.sign(label)) {
                *g = rho * (f - d + y);
            }
        }
        solved
    }

    /// `V` and `U` after the labels' problems, and the best points so far; where it `rebalances`, the penalty changes if
    /// one residual outweighs the other.
    fn follow(
        &mut self,
        problem: &Problem<'_>,
        regulariser: &Regulariser,
        rebalances: bool,
    ) -> Result<(), SolverError> {
        let (n, q, rho) = (problem.instances(), problem.labels(), self.rho);
        let dual = duals(&self.columns);
        let (bound, t) = regulariser.bound(problem, &dual, &self.products)?;
        if bound > self.best.bound {
            self.best.bound = bound;
            let multiple = dual.iter().map(|z| t * z);
            self.best.dual = memory::collected(multiple);
        }
        let pushed = Weights {
            expansion: dual,
            scores: memory::copied(&self.products),
        };
        let w = Weights::combine([&self.offset, &pushed], |[d, z]| d + z / rho);
        let sum = Weights::combine([&w, &self.v, &self.u], |[w, v, u]| {
            RELAXATION * w + (1.0 - RELAXATION) * v + u
        });
        let shrunk = regulariser.shrink(&sum.gram(n), q, problem.lambda / rho)?;
        let next = sum.mixed(&shrunk.mixing, n);
        self.u = Weights::combine([&sum, &next], |[sum, v]| sum - v);
        let before = std::mem::replace(&mut self.v, next);
        let loss = loss_and_bias(problem, &self.v.scores).0;
        let primal = loss + 0.5 * problem.lambda * shrunk.penalty;
        if primal < self.best.primal {
            self.best.primal = primal;
            self.best.expansion.clone_from(&self.v.expansion);
        }
        self.gap = relative_gap(self.best.primal, self.best.bound);
        if rebalances {
            let moved = Weights::combine([&self.v, &before], |[new, old]| new - old).norm();
            let apart = Weights::combine([&w, &self.v], |[w, v]| w - v).norm();
            let factor = balance(apart, moved, &self.v, &self.u);
            self.rho *= factor;
            self.u = Weights::combine([&self.u], |[u]| u / factor);
        }
        Ok(())
    }
}

/// The factor that brings the penalty nearer to balance.
fn balance(apart: f64, moved: f64, v: &Weights, u: &Weights) -> f64 {
    let (of_w, of_u) = (apart * u.norm(), moved * v.norm());
    if of_w > UNBALANCED * of_u {
        2.0
    } else if of_u > UNBALANCED * of_w {
        0.5
    } else {
        1.0
    }
}

/// `R` in the problem `L(W) + lambda/2 R(W)`.
#[derive(Clone, Debug)]
pub(super) enum Regulariser {
    /// `||W||_*^2`: Omega is learned.
    TraceNorm,
    /// `tr(W Omega^-1 W^T)`
    Fixed {
        /// Omega.
        covariance: Vec<f64>,
        /// Its eigenvalues and eigenvectors.
        eigen: Eigen,
    },
}

impl Regulariser {
    /// Takes a symmetric positive semidefinite `q x q` matrix.
    pub fn fixed(covariance: &[f64], q: usize) -> Result<Self, SolverError> {
        Ok(Self::Fixed {
            covariance: memory::copied(covariance),
            eigen: Eigen::new(covariance, q)?,
        })
    }

    /// The dual value that bounds the problem, at the best multiple `t Z`, and `t`. `products` are `K Z`.
    fn bound(
        &self,
        problem: &Problem<'_>,
        dual: &[f64],
        products: &[f64],
    ) -> Result<(f64, f64), SolverError> {
        let matrix = gram(dual, products, problem.instances());
        let quadratic = match self {
            Self::TraceNorm => largest_eigenvalue(&matrix, problem.labels())?,
            Self::Fixed { covariance, .. } => dot(&matrix, covariance),
        };
        Ok(best_multiple(problem, dual, quadratic))
    }

    /// `argmin over V of  ratio/2 R(V) + 1/2 ||T - V||^2` for `gram = T^T T`.
    fn shrink(&self, gram: &[f64], q: usize, ratio: f64) -> Result<Shrunk, SolverError> {
        match self {
            Self::TraceNorm => Ok(shrink(&Eigen::new(gram, q)?, ratio)),
            Self::Fixed { eigen, .. } => {
                let shares: Vec<f64> = eigen.values.iter().map(|o| o.max(0.0)).collect();
                let factors: Vec<f64> = shares.iter().map(|o| o / (o + ratio)).collect();
                // V^T V = M T^T T M for V = T M, and M Omega^-1 M has these eigenvalues.
                let weights: Vec<f64> = shares.iter().map(|o| o / (o + ratio).powi(2)).collect();
                Ok(Shrunk {
                    mixing: eigen.compose(&factors),
                    penalty: dot(gram, &eigen.compose(&weights)),
                })
            }
        }
    }

    /// `R` of weights given by expansion and scores, and Omega.
    fn evaluate(
        &self,
        expansion: &[f64],
        scores: &[f64],
        n: usize,
    ) -> Result<(f64, Vec<f64>), SolverError> {
        match self {
            Self::TraceNorm => {
                let eigen = Eigen::new(&gram(expansion, scores, n), expansion.len() / n)?;
                let (covariance, trace_norm) = covariance_step(&eigen);
                Ok((trace_norm * trace_norm, covariance))
            }
            Self::Fixed { covariance, eigen } => {
                // In the basis of Omega, where each part of W is as small as its eigenvalue.
                let (parts, products) = (eigen.rotate(expansion, n), eigen.rotate(scores, n));
                let penalty = parts
                    .chunks_exact(n)
                    .zip(products.chunks_exact(n))
                    .zip(&eigen.values)
                    .filter(|(_, o)| **o > SMALLEST_SHARE * eigen.values[0])
                    .map(|((part, product), o)| dot(part, product) / o)
                    .sum();
                Ok((penalty, memory::copied(covariance)))
            }
        }
    }
}

/// What a step of `V` does to `T`.
#[derive(Debug)]
struct Shrunk {
    /// `V = T mixing`
    mixing: Vec<f64>,
    /// `R(V)`
    penalty: f64,
}

/// The step for the trace norm; `eigen` is that of `T^T T`. The singular values become `max(0, s - theta)` with `theta = ratio sum of the results`,
/// which is `ratio / (1 + r ratio)` times the sum of the `r` largest ones, for the number `r` that stays positive.
fn shrink(eigen: &Eigen, ratio: f64) -> Shrunk {
    let singular: Vec<f64> = eigen.values.iter().map(|v| v.max(0.0).sqrt()).collect();
    let (mut sum, mut theta) = (0.0, 0.0);
    for (k, s) in singular.iter().enumerate() {
        if *s <= theta {
            break;
        }
        sum += s;
        theta = ratio * sum / (1.0 + (k + 1) as f64 * ratio);
    }
    let results: Vec<f64> = singular.iter().map(|s| (s - theta).max(0.0)).collect();
    let trace_norm: f64 = results.iter().sum();
    let factors: Vec<f64> = singular
        .iter()
        .zip(&results)
        .map(|(s, result)| if *result > 0.0 { result / s } else { 0.0 })
        .collect();
    Shrunk {
        mixing: eigen.compose(&factors),
        penalty: trace_norm * trace_norm,
    }
}

/// The best model and the best bound so far.
struct Best {
    primal: f64,
    expansion: Vec<f64>,
    bound: f64,
    dual: Vec<f64>,
}

/// The certificate of a model and a dual point, from their expansions alone.
struct Point {
    objectives: Values,
    bias: Vec<f64>,
    covariance: Vec<f64>,
    scores: Vec<f64>,
}

impl Point {
    /// The solution of which this is the certificate.
    fn solution(self, best: Best, steps: usize, report: Report) -> Solution {
        Solution {
            expansion: best.expansion,
            bias: self.bias,
            dual: best.dual,
            covariance: self.covariance,
            scores: self.scores,
            steps,
            report,
        }
    }
}

impl Best {
    /// The objectives as the rounds found them.
    fn objectives(&self) -> Values {
        Values {
            primal: self.primal,
            dual: self.bound,
            quadratic: 0.0,
        }
    }

    /// What the best points are worth, computed anew; `None` when interrupted.
    fn certify(
        &self,
        problem: &Problem<'_>,
        regulariser: &Regulariser,
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> Result<Option<Point>, SolverError> {
        let (n, q) = (problem.instances(), problem.labels());
        let both = [self.expansion.as_slice(), &self.dual].concat();
        let factor = transpose(&both, n);
        let Some(products) = problem.kernel.product(&factor, 2 * q, threads, monitor) else {
            return Ok(None);
        };
        let mut scores = transpose(&products, 2 * q);
        let products = scores.split_off(n * q);
        let (penalty, covariance) = regulariser.evaluate(&self.expansion, &scores, n)?;
        let (loss, bias) = loss_and_bias(problem, &scores);
        Ok(Some(Point {
            objectives: Values {
                primal: loss + 0.5 * problem.lambda * penalty,
                dual: regulariser.bound(problem, &self.dual, &products)?.0,
                quadratic: dot(&self.dual, &products) / problem.lambda,
            },
            bias,
            covariance,
            scores,
        }))
    }

    /// The same after the loop was interrupted: now it is not to be.
    fn certify_in_any_case(
        &self,
        problem: &Problem<'_>,
        regulariser: &Regulariser,
        threads: &Threads,
    ) -> Result<Point, SolverError> {
        self.certify(problem, regulariser, threads, &mut ())?
            .ok_or(SolverError::Unsupported("the certificate was interrupted"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shrinking_solves_its_problem() {
        // With T^T T = diag(s^2) the minimiser is diag too: compare with a fine search over the threshold.
        let mut random = fastrand::Rng::with_seed(11);
        for _ in 0..100 {
            let mut s: Vec<f64> = (0..4).map(|_| random.f64()).collect();
            s.sort_by(|a, b| b.total_cmp(a));
            let ratio = 2.0 * random.f64();
            let value = |results: &[f64]| {
                let sum: f64 = results.iter().sum();
                let apart: f64 = s.iter().zip(results).map(|(s, r)| (s - r) * (s - r)).sum();
                0.5 * ratio * sum * sum + 0.5 * apart
            };
            let matrix: Vec<f64> = (0..16)
                .map(|at| {
                    if at / 4 == at % 4 {
                        s[at / 4] * s[at / 4]
                    } else {
                        0.0
                    }
                })
                .collect();
            let shrunk = shrink(&Eigen::new(&matrix, 4).unwrap(), ratio);
            let results: Vec<f64> = (0..4).map(|k| s[k] * shrunk.mixing[5 * k]).collect();
            assert!((results.iter().sum::<f64>() - shrunk.penalty.sqrt()).abs() < 1e-12);
            let best = (0..=2000)
                .map(|step| {
                    let theta = s[0] * step as f64 / 2000.0;
                    value(&s.iter().map(|s| (s - theta).max(0.0)).collect::<Vec<_>>())
                })
                .fold(f64::INFINITY, f64::min);
            assert!(value(&results) <= best + 1e-12);
        }
    }
}
