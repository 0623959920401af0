//! The alternating direction method of multipliers in the eigenbasis of the quadratic form.
//!
//! ```text
//! min  1/2 <W, H W> - <C, W> + beta ||Z||_1,   W = Z
//! ```
//!
//! With penalty rho and the scaled dual variable `D`, a round is
//!
//! * `W = (H + rho)^-1 (C + rho (Z - D))`: diagonal in the basis, two products with `U` and two with `V`;
//! * `Q = a W + (1 - a) Z + D` with the over-relaxation `a`; `Z` is the soft threshold of `Q` at `beta / rho`, and `D`
//!   what it cuts off. So `Q` is all that is kept;
//! * `S = rho D` lies in the box and gives a lower bound, exactly as [`super::eigenbasis`] describes.
//!
//! The penalty follows the residuals `||W - Z||` and `||Z - Z_before||`, each relative to what it is a difference of
//! (Wohlberg 2017), and once the gap is closed the KKT residual of `Z`. Signs and zeros of a solution that is mostly zeros are a matter of coordinate descent; where many
//! features share a label, this loop needs a few dozen rounds whatever their dependence.

use super::certificate::Certificate;
use super::eigenbasis::{Anchor, Bound, Eigenbasis, ROWS_PER_TASK};
use super::quadratic::Quadratic;
use super::soft_threshold::soft_threshold;
use super::{Problem, Solution};
use crate::error::SolverError;
use crate::linalg::vector::transposed;
use crate::memory;
use crate::parallel::threads::Threads;
use crate::report::{Monitor, Settings, Status, Trace, relative_gap};

/// Over-relaxation; anything in (0, 2) converges.
const RELAXATION: f64 = 1.7;
/// Rounds between two certificates, each of which costs half a round.
const CHECK: usize = 5;
/// The penalty changes by the root of the residuals' ratio, within these limits.
const SMALLEST_CHANGE: f64 = 1.5;
const LARGEST_CHANGE: f64 = 5.0;
/// After this round the penalty changes at long distances only: the loop converges with one that settles.
const PENALTY_SETTLES: usize = 100;
/// Where the gap is closed and the KKT residual is not, the gradient at `Z` may be wrong by this many times the change of
/// `rho Z` before the penalty grows, ...
const STATIONARITY: f64 = 10.0;
/// ... after the round at which it settles this many times at most.
const MOST_LATE_CHANGES: usize = 20;

/// The squared norms from which the penalty is chosen.
#[derive(Clone, Copy, Debug, Default)]
struct Norms {
    apart: f64,
    moved: f64,
    w: f64,
    z: f64,
    d: f64,
}

impl Norms {
    fn add(mut self, other: Self) -> Self {
        self.apart += other.apart;
        self.moved += other.moved;
        self.w += other.w;
        self.z += other.z;
        self.d += other.d;
        self
    }

    /// The factor that brings the penalty nearer to balance.
    fn balance(&self) -> f64 {
        // ||W - Z|| / max(||W||, ||Z||) over (rho ||Z - Z_before||) / (rho ||D||), squared.
        let ratio = self.apart * self.d / (self.w.max(self.z) * self.moved);
        if !(ratio.is_finite() && ratio > 0.0) {
            return 1.0;
        }
        limited(ratio.powf(0.25))
    }
}

/// A change of the penalty within its limits.
fn limited(factor: f64) -> f64 {
    let factor = factor.clamp(1.0 / LARGEST_CHANGE, LARGEST_CHANGE);
    if factor.max(1.0 / factor) > SMALLEST_CHANGE {
        factor
    } else {
        1.0
    }
}

/// The state; every matrix is `d x q`.
struct Loop<'a> {
    problem: &'a Problem<'a>,
    basis: &'a Eigenbasis<'a>,
    threads: &'a Threads,
    correlation: Vec<f64>,
    anchor: Anchor,
    rho: f64,
    /// `Z + D`
    sum: Vec<f64>,
    mixed: Vec<f64>,
    inside: Vec<f64>,
}

impl<'a> Loop<'a> {
    /// Starts from coefficients (`q x d`) and the dual variable that their gradient suggests.
    fn new(
        problem: &'a Problem<'a>,
        basis: &'a Eigenbasis<'a>,
        start: &[f64],
        threads: &'a Threads,
    ) -> Self {
        let (q, d) = (problem.labels, problem.dimension());
        let weights = transposed(start, q, d);
        let gradient = transposed(&gradient(problem, start, threads), q, d);
        let correlation = transposed(&problem.correlation, q, d);
        let anchor = basis.anchor(&correlation, threads);
        let (rho, beta) = (first_penalty(basis), problem.beta);
        let sum = memory::collected(weights.iter().zip(&gradient).map(|(&w, g)| {
            if w == 0.0 {
                (-g).clamp(-beta, beta) / rho
            } else {
                w + (beta / rho).copysign(w)
            }
        }));
        Self {
            problem,
            basis,
            threads,
            correlation,
            inside: memory::matrix(basis.feature_values().len(), q),
            mixed: memory::matrix(d, q),
            anchor,
            rho,
            sum,
        }
    }

    /// Interrupted between the products only: each takes a few milliseconds.
    fn round(&mut self, monitor: &mut dyn Monitor) -> Option<Norms> {
        self.mix_right_side();
        if monitor.breaks_off() {
            return None;
        }
        let outside = self.divisors_outside();
        let (basis, rho) = (self.basis, self.rho);
        basis.project(
            &self.mixed,
            &mut self.inside,
            |s, k| 1.0 / (s + basis.label_value(k) + rho) - outside[k],
            self.threads,
        );
        if monitor.breaks_off() {
            return None;
        }
        Some(self.follow(&outside))
    }

    /// `(C + rho (Z - D)) V`
    fn mix_right_side(&mut self) {
        let (q, rho) = (self.problem.labels, self.rho);
        let threshold = self.problem.beta / rho;
        let (basis, sum, correlation) = (self.basis, &self.sum, &self.correlation);
        self.threads
            .for_each_chunk(&mut self.mixed, ROWS_PER_TASK * q, |index, chunk| {
                let range = index * ROWS_PER_TASK * q..index * ROWS_PER_TASK * q + chunk.len();
                let right: Vec<f64> = sum[range.clone()]
                    .iter()
                    .zip(&correlation[range])
                    .map(|(&x, c)| {
                        let z = soft_threshold(x, threshold);
                        c + rho * (z - (x - z))
                    })
                    .collect();
                basis.mix(&right, false, chunk);
            });
    }

    /// What is outside the columns of U is divided by t + rho; inside, the difference from that is added.
    fn divisors_outside(&self) -> Vec<f64> {
        let inverse = |k| {
            if self.basis.complete() {
                0.0
            } else {
                1.0 / (self.basis.label_value(k) + self.rho)
            }
        };
        (0..self.problem.labels).map(inverse).collect()
    }

    /// `W` back from the basis, then `Z` and `D` after it.
    fn follow(&mut self, outside: &[f64]) -> Norms {
        let (q, threshold) = (self.problem.labels, self.problem.beta / self.rho);
        let (basis, mixed, inside) = (self.basis, &self.mixed, &self.inside);
        let norms = self
            .threads
            .map_chunks(&mut self.sum, ROWS_PER_TASK * q, |index, chunk| {
                let first = index * ROWS_PER_TASK;
                let mut part = vec![0.0; chunk.len()];
                let rows = mixed[first * q..first * q + chunk.len()].chunks_exact(q);
                for (row, values) in part.chunks_exact_mut(q).zip(rows) {
                    for k in 0..q {
                        row[k] = values[k] * outside[k];
                    }
                }
                basis.add_rows(inside, first, &mut part);
                let mut weights = vec![0.0; chunk.len()];
                basis.mix(&part, true, &mut weights);
                let mut norms = Norms::default();
                for (x, w) in chunk.iter_mut().zip(weights) {
                    let before = soft_threshold(*x, threshold);
                    let next = RELAXATION * w + (1.0 - RELAXATION) * before + (*x - before);
                    let z = soft_threshold(next, threshold);
                    norms.apart += (w - z) * (w - z);
                    norms.moved += (z - before) * (z - before);
                    norms.w += w * w;
                    norms.z += z * z;
                    norms.d += (next - z) * (next - z);
                    *x = next;
                }
                norms
            });
        norms.into_iter().fold(Norms::default(), Norms::add)
    }

    /// `Z` and `S`.
    fn points(&self) -> (Vec<f64>, Vec<f64>) {
        let threshold = self.problem.beta / self.rho;
        let shrunk = self.sum.iter().map(|&x| soft_threshold(x, threshold));
        let z = memory::collected(shrunk);
        let cut = self.sum.iter().zip(&z).map(|(x, z)| self.rho * (x - z));
        let s = memory::collected(cut);
        (z, s)
    }

    /// The objective at `Z`, in the basis.
    fn primal(&self, z: &[f64]) -> f64 {
        let rotated = self.basis.rotate(z, self.threads);
        let curvature: f64 = self
            .basis
            .products((&rotated, &rotated), |h| h, false)
            .iter()
            .sum();
        let (fit, l1) = z
            .iter()
            .zip(&self.correlation)
            .fold((0.0, 0.0), |(fit, l1), (z, c)| (fit + z * c, l1 + z.abs()));
        let squared_norm: f64 = self.problem.squared_norms.iter().sum();
        0.5 * squared_norm - fit + 0.5 * curvature + self.problem.beta * l1
    }

    /// The norm of what the gradient at `Z` and `S` differ by: 0 at the optimum.
    fn stationarity(&self, gradient: &[f64]) -> f64 {
        let (q, d) = (self.problem.labels, self.problem.dimension());
        let threshold = self.problem.beta / self.rho;
        let mut sum = 0.0;
        for (k, row) in gradient.chunks_exact(d).enumerate() {
            for (j, g) in row.iter().enumerate() {
                let x = self.sum[j * q + k];
                let difference = g + self.rho * (x - soft_threshold(x, threshold));
                sum += difference * difference;
            }
        }
        sum.sqrt()
    }

    /// The factor of the penalty where the gap is closed: what is left is the gradient at `Z`, in which `H` magnifies
    /// the distance from `W`.
    fn late_balance(&self, gradient: &[f64], norms: &Norms) -> f64 {
        let moved = self.rho * norms.moved.sqrt();
        limited((self.stationarity(gradient) / (STATIONARITY * moved)).sqrt())
    }

    /// Changes the penalty and leaves `Z` and `S` as they are.
    fn rescale(&mut self, factor: f64) {
        let threshold = self.problem.beta / self.rho;
        self.rho *= factor;
        for x in &mut self.sum {
            let z = soft_threshold(*x, threshold);
            *x = z + (*x - z) / factor;
        }
    }
}

/// The median of the eigenvalues of `X^T X` that are not 0: half of the directions are then led by the data.
fn first_penalty(basis: &Eigenbasis<'_>) -> f64 {
    let mut values: Vec<f64> = basis.feature_values().to_vec();
    values.sort_by(f64::total_cmp);
    let largest = values.last().copied().unwrap_or(0.0);
    values.retain(|&s| s > 1e-9 * largest);
    values
        .get(values.len() / 2)
        .copied()
        .filter(|&s| s > 0.0)
        .unwrap_or(1.0)
}

/// The gradient of the smooth part, both `q x d`.
fn gradient(problem: &Problem<'_>, by_label: &[f64], threads: &Threads) -> Vec<f64> {
    problem.gradient(&Quadratic::Implicit, by_label, threads)
}

/// The best point (`d x q`) and bound so far.
struct Best {
    primal: f64,
    weights: Vec<f64>,
    bound: f64,
    from: Option<Bound>,
    /// The best bound that was computed once more from `X` itself.
    confirmed: f64,
}

impl Best {
    fn new(weights: Vec<f64>) -> Self {
        Self {
            primal: f64::INFINITY,
            weights,
            bound: f64::NEG_INFINITY,
            from: None,
            confirmed: f64::NEG_INFINITY,
        }
    }

    fn within(&self, tolerance: f64) -> bool {
        relative_gap(self.primal, self.bound) <= tolerance
    }

    /// Compares the points of this round.
    fn note(&mut self, state: &Loop<'_>, tolerance: f64) {
        let (z, s) = state.points();
        let primal = state.primal(&z);
        let bound = state
            .basis
            .bound(state.problem, &state.anchor, &s, state.threads);
        if bound.value > self.bound {
            (self.bound, self.from) = (bound.value, Some(bound));
        }
        // Within the tolerance the latest point is the one with the smallest KKT residual.
        if primal < self.primal || self.within(tolerance) {
            (self.primal, self.weights) = (primal, z);
        }
    }

    fn confirm(&mut self, state: &Loop<'_>) {
        let Some(bound) = self.from.take() else {
            return;
        };
        let (problem, threads) = (state.problem, state.threads);
        let there = |by_label: &[f64]| gradient(problem, by_label, threads);
        let value = state
            .basis
            .confirmed(problem, &state.anchor, &bound, there, threads);
        self.confirmed = self.confirmed.max(value);
    }

    /// The certificate of the best point, and the gradient there.
    fn certificate(&mut self, state: &Loop<'_>) -> (Certificate, Vec<f64>) {
        let problem = state.problem;
        let weights = transposed(&self.weights, problem.dimension(), problem.labels);
        let gradient = gradient(problem, &weights, state.threads);
        let mut certificate = problem.certificate(&weights, &gradient);
        self.confirm(state);
        certificate.dual = certificate.dual.max(self.confirmed);
        (certificate, gradient)
    }
}

fn check_convex(problem: &Problem<'_>) -> Result<(), SolverError> {
    if problem.convex {
        return Ok(());
    }
    Err(SolverError::Unsupported(
        "the alternating direction method needs a convex problem: shift the coupling, or use the published loop",
    ))
}

/// Solves a convex problem from `start` (`q x d`, default 0).
///
/// # Errors
/// When an argument is out of range, or the problem is not convex.
pub fn solve(
    problem: &Problem<'_>,
    basis: &Eigenbasis<'_>,
    start: Option<Vec<f64>>,
    settings: &Settings,
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Result<Solution, SolverError> {
    settings.validate()?;
    check_convex(problem)?;
    let (q, d) = (problem.labels, problem.dimension());
    let mut trace = Trace::default();
    let start = problem.start(start)?;
    let mut state = Loop::new(problem, basis, &start, threads);
    let mut best = Best::new(transposed(&start, q, d));
    let (mut norms, mut late_changes, mut round) = (Norms::default(), 0, 0);
    let status = loop {
        let last = round == settings.max_epochs;
        if round % CHECK == 0 || last {
            best.note(&state, settings.tolerance);
            if round > 0 {
                trace.record(round, best.primal, best.bound, q, monitor);
            }
            let mut settled = round > PENALTY_SETTLES && round % PENALTY_SETTLES != 0;
            let mut factor = norms.balance();
            if last || best.within(settings.tolerance) {
                let (certificate, gradient) = best.certificate(&state);
                if problem.certified(&certificate, settings) {
                    break Status::Converged;
                }
                if last {
                    break Status::MaxIterations;
                }
                factor = state.late_balance(&gradient, &norms);
                settled = late_changes == MOST_LATE_CHANGES;
            }
            if round > 0 && !settled && factor != 1.0 {
                late_changes += usize::from(round > PENALTY_SETTLES);
                state.rescale(factor);
            }
        }
        round += 1;
        match state.round(monitor) {
            Some(made) => norms = made,
            None => break monitor.status(),
        }
    };
    best.confirm(&state);
    Ok(problem.solution(
        &Quadratic::Implicit,
        transposed(&best.weights, d, q),
        best.confirmed,
        status,
        round,
        trace,
        settings,
        threads,
    ))
}
