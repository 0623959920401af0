//! The Frank-Wolfe method for Rank-CVM (Xu 2013, section 7.4).
//!
//! ```text
//! min over alpha  W(alpha) = 1/2 alpha^T Theta alpha,   u^T alpha = 1,   alpha >= 0                  (Xu 2013, eq. (37))
//! Theta = (H^T H) o (K + 1) + D,   D = diag(1/c_i)                                                    (Xu 2013, eq. (38))
//! ```
//!
//! | here | Xu 2013 |
//! |---|---|
//! | `State::scores`, the entries of `F = (K + 1) B` | `f_k(x_i)` |
//! | `F_im - F_in + alpha_imn / c_i` | the gradient `g_imn` (59) |
//! | `State::diagonal` | `Theta_ss` (54) |
//! | `objective` | `W(alpha)` by the recursion (68) |
//! | `slope` | `z` (62) |
//!
//! The paper stores and updates one gradient entry per pair. But a gradient entry is a difference of two scores, plus a term
//! that is 0 outside the support: a step multiplies all scores by `1 - lambda` (67), and changes those of two labels by a
//! kernel row.
//!
//! Besides the published stop rule, `|z| < eps`, there is a relative one, `-z <= tol W`; `-z` is the duality gap to
//! Xu 2013, eq. (30) at `rho = min g`.

use crate::error::{SolverError, refused};
use crate::kernel::{check_diagonal, rows::KernelRows};
use crate::labels::Labels;
use crate::linalg::vector::{axpy, row_sum};
use crate::memory::{self, Purpose};
use crate::report::{
    Monitor, Objectives, Report, Settings, Status, Trace, relative_gap, rounding_of,
};

/// Steps between two polls of the monitor.
const STEPS_PER_QUESTION: usize = 16;

/// How often the loop goes on after a convergence that turned out to be due to rounding.
const RESTARTS: usize = 20;

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StopRule {
    /// `|z| < eps`, as published.
    Absolute(f64),
    /// `-z <= tol W`.
    Relative(f64),
}

impl StopRule {
    fn satisfied(self, slope: f64, objective: f64) -> bool {
        match self {
            Self::Absolute(eps) => slope.abs() < eps,
            Self::Relative(tol) => relative_gap(objective, objective + slope) <= tol,
        }
    }
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
    /// The margin `rho`, the smallest gradient entry.
    pub rho: f64,
    /// The certificate: `primal` is `W`, and `dual` the lower bound `W + z`.
    pub report: Report,
}

/// Solves Rank-CVM from the published start (55), (56), in at most `max_epochs` epochs `M`, of as many iterations as there
/// are pairs.
///
/// # Errors
/// When the arguments are out of range or do not match, or when there is no pair.
pub fn solve(
    labels: &Labels,
    kernel: &KernelRows<'_>,
    stop: StopRule,
    max_epochs: usize,
    monitor: &mut dyn Monitor,
) -> Result<SimplexSolution, SolverError> {
    let (StopRule::Absolute(tolerance) | StopRule::Relative(tolerance)) = stop;
    Settings {
        tolerance,
        max_epochs,
        ..Settings::default()
    }
    .validate()?;
    if labels.have_top() {
        return Err(SolverError::Unsupported(
            "the published loops compare with all irrelevant labels",
        ));
    }
    check_diagonal(kernel.diagonal())?;
    let n = labels.instances();
    let mut state = State::begin(labels, kernel)?;
    let pairs: usize = (0..n)
        .filter(|&i| labels.has_pairs(i))
        .map(|i| labels.pairs(i))
        .sum();
    let last = max_epochs.saturating_mul(pairs);
    let mut trace = Trace::default();
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
        let ending = if asks && monitor.poll().breaks_off() {
            Some(monitor.poll().status())
        } else if stop.satisfied(slope, objective) {
            Some(Status::Converged)
        } else {
            (iteration >= last).then_some(Status::MaxIterations)
        };
        if let Some(status) = ending {
            // The final certificate is that of scores without the rounding errors accumulated by the recursions.
            state.rebuild();
            objective = state.objective();
            let rho = state.best().gradient;
            if status != Status::Converged || stop.satisfied(rho - 2.0 * objective, objective) {
                break (status, rho);
            }
            restarts += 1;
            continue;
        }
        let step;
        (step, objective) = state.step(&best, objective);
        iteration += 1;
        if step <= 0.0 {
            state.rebuild();
            objective = state.objective();
            restarts += 1;
        }
    };
    let bound = objective + (rho - 2.0 * objective);
    trace.record(iteration, objective, bound, n, monitor);
    let size = state
        .scores
        .iter()
        .fold(2.0 * objective, |most, score| most.max(score.abs()));
    let found = Objectives {
        primal: objective,
        dual: bound,
        rounding: rounding_of(size, n + labels.count()),
    };
    let report = trace.report(status, iteration, found);
    Ok(state.solution(rho, report))
}

/// A pair and its gradient entry.
#[derive(Clone, Copy, Debug)]
struct Vertex {
    instance: usize,
    relevant: usize,
    irrelevant: usize,
    gradient: f64,
}

/// A point of the simplex.
struct State<'a, 'k> {
    labels: &'a Labels,
    kernel: &'a KernelRows<'k>,
    /// The irrelevant labels of one instance after the other.
    irrelevant: Vec<u32>,
    /// Start and end of those of each instance.
    starts: Vec<usize>,
    /// The scores `F`, `n x q` row-major.
    scores: Vec<f64>,
    /// `alpha / c` of each instance's pairs, a row of `q` for each relevant label; empty where all are 0.
    shares: Vec<Vec<f64>>,
}

impl<'a, 'k> State<'a, 'k> {
    /// All weight on the first pair of the instance with the smallest diagonal entry (55), (56).
    fn begin(labels: &'a Labels, kernel: &'a KernelRows<'k>) -> Result<Self, SolverError> {
        let (n, q) = (labels.instances(), labels.count());
        let (mut irrelevant, mut starts) = (Vec::new(), memory::room(n + 1));
        starts.push(0);
        for i in 0..n {
            memory::extend(&mut irrelevant, labels.irrelevant(i).map(|l| l as u32));
            starts.push(irrelevant.len());
        }
        let mut state = Self {
            labels,
            kernel,
            irrelevant,
            starts,
            scores: memory::matrix(n, q),
            shares: memory::filled(Vec::new(), n),
        };
        let diagonal = |i: usize| state.diagonal(i, labels.first_pair(i).0 as usize);
        let with_pairs = (0..n).filter(|&i| labels.has_pairs(i));
        let first = with_pairs.min_by(|&i, &j| diagonal(i).total_cmp(&diagonal(j)));
        let Some(first) = first else {
            return Err(refused(
                "Y",
                "without label pairs",
                "a row with both a relevant and an irrelevant label",
            ));
        };
        let (m, n) = labels.first_pair(first);
        state.add(first, m as usize, n as usize, 1.0);
        Ok(state)
    }

    fn pair_weight(&self, i: usize, m: usize) -> f64 {
        self.labels.pair_weight(i, m as u32)
    }

    /// `Theta_ss` for every pair of the instance with a relevant label (54).
    fn diagonal(&self, i: usize, m: usize) -> f64 {
        2.0 * (self.kernel.diagonal()[i] + 1.0) + 1.0 / self.pair_weight(i, m)
    }

    /// Adds to a dual variable: one kernel row for the scores of two labels.
    fn add(&mut self, i: usize, m: usize, n: usize, weight: f64) {
        let (q, relevant) = (self.labels.count(), self.labels.relevant(i));
        let own = weight / self.pair_weight(i, m);
        let shares = &mut self.shares[i];
        if shares.is_empty() {
            *shares = memory::zeros_for(q * relevant.len(), Purpose::LabelPairs);
        }
        shares[relevant.partition_point(|&k| (k as usize) < m) * q + n] += own;
        let rows = self.scores.chunks_exact_mut(q);
        for (scores, &k) in rows.zip(self.kernel.row(i).iter()) {
            let change = weight * (k + 1.0);
            scores[m] += change;
            scores[n] -= change;
        }
    }

    /// The relevant labels of an instance, each with its row of shares; none outside of the support.
    fn support(&self, i: usize) -> impl Iterator<Item = (usize, &[f64])> {
        let rows = self.shares[i].chunks_exact(self.labels.count());
        let relevant = self.labels.relevant(i).iter();
        relevant.map(|&m| m as usize).zip(rows)
    }

    /// The dual matrix `B`.
    fn dual(&self) -> Vec<f64> {
        let q = self.labels.count();
        let mut dual = memory::matrix(self.labels.instances(), q);
        for (i, beta) in dual.chunks_exact_mut(q).enumerate() {
            for (m, shares) in self.support(i) {
                let weight = self.pair_weight(i, m);
                for (n, share) in shares.iter().enumerate() {
                    beta[m] += weight * share;
                    beta[n] -= weight * share;
                }
            }
        }
        dual
    }

    /// Recomputes the scores.
    fn rebuild(&mut self) {
        self.scores.fill(0.0);
        let q = self.labels.count();
        let dual = self.dual();
        for (i, beta) in dual.chunks_exact(q).enumerate() {
            if !self.shares[i].is_empty() {
                let rows = self.scores.chunks_exact_mut(q);
                for (scores, &k) in rows.zip(self.kernel.row(i).iter()) {
                    axpy(k + 1.0, beta, scores);
                }
            }
        }
    }

    /// The objective `W`: half the sum of `alpha g`.
    fn objective(&self) -> f64 {
        let mut total = 0.0;
        for (i, scores) in self.scores.chunks_exact(self.labels.count()).enumerate() {
            for (m, shares) in self.support(i) {
                let weight = self.pair_weight(i, m);
                for (share, score) in shares.iter().zip(scores) {
                    total += weight * share * (scores[m] + share - score);
                }
            }
        }
        0.5 * total
    }

    /// The pair with the smallest gradient entry (61), the first one of several; the entry is NaN if scores have overflowed.
    fn best(&self) -> Vertex {
        let mut best = Vertex {
            instance: 0,
            relevant: 0,
            irrelevant: 0,
            gradient: f64::INFINITY,
        };
        for (i, scores) in self.scores.chunks_exact(self.labels.count()).enumerate() {
            if !self.labels.has_pairs(i) {
                continue;
            }
            let mut try_row = |m: usize, shares: &[f64], irrelevant: &[u32]| {
                for &n in irrelevant {
                    let n = n as usize;
                    let own = shares.get(n).copied().unwrap_or(0.0);
                    let gradient = scores[m] + own - scores[n];
                    if gradient < best.gradient || gradient.is_nan() {
                        best = Vertex {
                            instance: i,
                            relevant: m,
                            irrelevant: n,
                            gradient,
                        };
                    }
                }
            };
            let irrelevant = &self.irrelevant[self.starts[i]..self.starts[i + 1]];
            if self.shares[i].is_empty() {
                let relevant = self.labels.relevant(i).iter().map(|&m| m as usize);
                let lowest = relevant.reduce(|m, k| if scores[k] < scores[m] { k } else { m });
                lowest.into_iter().for_each(|m| try_row(m, &[], irrelevant));
            }
            for (m, shares) in self.support(i) {
                try_row(m, shares, irrelevant);
            }
        }
        best
    }

    /// The step to a vertex (64) to (69): its length, and the new objective.
    fn step(&mut self, to: &Vertex, objective: f64) -> (f64, f64) {
        let diagonal = self.diagonal(to.instance, to.relevant);
        let slope = to.gradient - 2.0 * objective;
        let step = (-slope / (diagonal - 2.0 * to.gradient + 2.0 * objective)).clamp(0.0, 1.0);
        let kept = 1.0 - step;
        let shares = self.shares.iter_mut().flatten();
        let all = self.scores.iter_mut().chain(shares);
        all.for_each(|number| *number *= kept);
        self.add(to.instance, to.relevant, to.irrelevant, step);
        let objective =
            kept * kept * objective + step * kept * to.gradient + 0.5 * step * step * diagonal;
        (step, objective)
    }

    fn solution(&self, rho: f64, report: Report) -> SimplexSolution {
        let q = self.labels.count();
        let dual = self.dual();
        let bias = row_sum(&dual, q);
        let mut scores = memory::copied(&self.scores);
        for row in scores.chunks_exact_mut(q) {
            axpy(-1.0, &bias, row);
        }
        SimplexSolution {
            dual,
            bias,
            scores,
            rho,
            report,
        }
    }
}
