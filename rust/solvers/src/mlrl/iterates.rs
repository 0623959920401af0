//! The iterates of the splitting and its rounds; see [`super::splitting()`].

use super::Problem;
use super::best::{Best, Point};
use super::certificate::{best_multiple, loss_and_bias};
use super::columns::{Column, Task, solve_all};
use super::patience::Patience;
use super::regulariser::{Regulariser, Weights};
use super::symmetric::{Eigen, eigenvalues};
use super::tuning::SPLITTING;
use crate::error::SolverError;
use crate::linalg::vector::dot;
use crate::memory;
use crate::parallel::threads::Threads;
use crate::report::{Monitor, relative_gap};

/// The outcome of a round.
pub(super) struct Made {
    /// False when it was interrupted.
    pub finished: bool,
    /// Whether more rounds will not help.
    pub stalled: bool,
    /// The objectives found by the round.
    pub primal: f64,
    pub dual: f64,
}

/// The iterates; matrices are stored by label.
pub(super) struct State {
    regulariser: Regulariser,
    rho: f64,
    /// Whether rows of the kernel are in single precision.
    pub single: bool,
    columns: Vec<Column>,
    /// `phi(X)^T Z`
    pushed: Weights,
    v: Weights,
    /// `V + U`
    sum: Weights,
    /// The largest eigenvalues of the square of `V + U`, if `V` has few.
    basis: Option<Eigen>,
    /// An approximate eigenvector of the largest eigenvalue of `Z^T K Z`.
    top: Vec<f64>,
    /// Whether `W` was the better model than `V` when both were judged.
    inner: bool,
    /// See [`Regulariser::pace`].
    accuracy: f64,
    gap: f64,
    /// The gap `SPLITTING.pace` rounds ago.
    earlier: f64,
    pub best: Best,
    rounds: usize,
    pub patience: Patience,
}

impl State {
    /// Starts at zero. Rounds towards a gap of `tolerance` read the kernel in single precision if that is accurate enough.
    pub fn new(
        problem: &Problem<'_>,
        regulariser: Regulariser,
        tolerance: f64,
    ) -> Result<Self, SolverError> {
        let (n, q) = (problem.instances(), problem.labels());
        let zero = || Weights::zero(n * q);
        let mut state = Self {
            regulariser: Regulariser::TraceNorm,
            rho: 0.0,
            single: tolerance >= SPLITTING.single && problem.kernel.has_single_precision(),
            columns: memory::collected((0..q).map(|_| Column::zero(n))),
            pushed: zero(),
            sum: zero(),
            basis: None,
            top: memory::filled(1.0, q),
            inner: false,
            best: Best::nothing(n * q),
            v: zero(),
            accuracy: 0.0,
            gap: 1.0,
            earlier: f64::INFINITY,
            rounds: 0,
            patience: Patience::default(),
        };
        state.begin(problem, regulariser)?;
        Ok(state)
    }

    /// Begins with another regulariser, at the current `Z`.
    pub fn begin(
        &mut self,
        problem: &Problem<'_>,
        regulariser: Regulariser,
    ) -> Result<(), SolverError> {
        self.regulariser = regulariser;
        self.rounds = 0;
        self.accuracy = self.regulariser.pace().1;
        self.earlier = f64::INFINITY;
        self.patience.begin_anew();
        (self.best.primal, self.best.bound) = (f64::INFINITY, f64::NEG_INFINITY);
        let kappa = self.regulariser.shared(problem);
        self.rho = self.regulariser.first_penalty(problem);
        self.v = self.regulariser.weights(problem, &self.pushed);
        let parts = [&self.pushed, &self.v];
        self.sum = Weights::combine(parts, |[z, v]| v + (z - kappa * v) / self.rho);
        self.judge(problem, 0.0, None)
    }

    /// The same, with points judged as points of the joint problem, and at most `most_rounds` rounds over all regularisers.
    pub fn judged_jointly(mut self, most_rounds: usize) -> Self {
        self.best.joint = Some((f64::NEG_INFINITY, self.best.dual.copied()));
        self.patience.most_rounds = Some(most_rounds);
        self
    }

    /// Runs rounds until the gap is within the tolerance or as small as rounding allows. Returns also the label covariance
    /// that is best for the resulting weights.
    pub fn solve(
        &mut self,
        problem: &Problem<'_>,
        tolerance: f64,
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> Result<(Made, Vec<f64>), SolverError> {
        let mut finished = true;
        while finished && self.gap > tolerance && !self.patience.is_over() {
            finished = self.round(problem, threads, monitor)?;
        }
        let quadratic =
            Regulariser::TraceNorm.quadratic(&self.best.dual, problem, Some(&mut self.top))?;
        let (bound, _) = best_multiple(problem, &self.best.dual.expansion, quadratic);
        if let Some(best) = self.best.joint.as_mut().filter(|best| bound > best.0) {
            best.0 = bound;
            best.1.copy(&self.best.dual);
        }
        let point = self.point(problem)?;
        let made = Made {
            finished,
            stalled: self.patience.is_over(),
            primal: point.found.primal,
            dual: point.found.dual,
        };
        Ok((made, point.covariance))
    }

    /// Whether labels keep using up their steps, or all rounds are used up: the kernel's scale is out of reach.
    pub fn used_up(&self) -> bool {
        self.patience.used_up()
    }

    /// Updates `W`, `V` and `U` in turn, and the best points so far; false when interrupted.
    pub fn round(
        &mut self,
        problem: &Problem<'_>,
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> Result<bool, SolverError> {
        self.rounds += 1;
        let kappa = self.regulariser.shared(problem);
        let made = self.solve_labels(problem, kappa, threads, monitor);
        self.follow(problem, kappa)?;
        if made == Some(0) {
            self.accuracy *= 0.3;
        }
        if self.rounds.is_multiple_of(SPLITTING.pace) {
            if self.gap > SPLITTING.slow * self.earlier {
                self.accuracy = self
                    .accuracy
                    .min((SPLITTING.sharper * self.accuracy).max(SPLITTING.sharpest));
            }
            self.earlier = self.gap;
        }
        let exhausted = self.columns.iter().any(|column| column.exhausted);
        let gap = self.best.primal - self.best.bound;
        let most = self.columns.iter().map(|column| column.steps).max();
        let spent = most.unwrap_or(0) as f64 / problem.most_steps() as f64;
        self.patience.note(self.rounds, exhausted, spent, gap);
        Ok(made.is_some())
    }

    /// Updates `W` by `q` support vector machines with the offsets `V - U`. Returns the number of pair steps; `None` when
    /// interrupted.
    fn solve_labels(
        &mut self,
        problem: &Problem<'_>,
        kappa: f64,
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> Option<usize> {
        let n = problem.instances();
        let total = kappa + self.rho;
        let share = self.rho / total;
        let offset = |(v, sum): (&f64, &f64)| share * (2.0 * v - sum);
        let (v, sum, products) = (&self.v.scores, &self.sum.scores, &mut self.pushed.scores);
        for (label, column) in self.columns.iter_mut().enumerate() {
            let range = label * n..(label + 1) * n;
            let offsets = v[range.clone()].iter().zip(&sum[range.clone()]).map(offset);
            let parts = products[range].iter().zip(offsets);
            let gradient = column.gradient.iter_mut().zip(parts);
            for ((f, (g, d)), y) in gradient.zip(problem.sign(label)) {
                *f = g / total + d - y;
            }
        }
        // An error of the tolerance in the margins is one in the loss of each label, and the gap is that of their sum.
        let loss = (self.best.primal / problem.labels() as f64).min(1.0);
        let tolerance =
            (self.accuracy * self.gap * loss).clamp(SPLITTING.tightest, SPLITTING.loosest);
        let columns = &mut self.columns;
        let task = Task {
            scale: 1.0 / total,
            tolerance,
            single: self.single,
        };
        let solved = solve_all(problem, task, columns, threads, monitor);
        let expansions = self.pushed.expansion.chunks_exact_mut(n);
        for ((label, column), z) in self.columns.iter().enumerate().zip(expansions) {
            z.copy_from_slice(&column.dual);
            let range = label * n..(label + 1) * n;
            let offsets = v[range.clone()].iter().zip(&sum[range.clone()]).map(offset);
            let parts = products[range].iter_mut().zip(offsets);
            for (((g, d), f), y) in parts.zip(&column.gradient).zip(problem.sign(label)) {
                *g = total * (f - d + y);
            }
        }
        solved
    }

    /// Updates `V` and `U` after the labels' problems, and from time to time the penalty. If Omega is learned, the first
    /// rounds set it to the ratio of the distances of `rho U` and `V` from 0, where both began (Applegate et al. 2021);
    /// later it changes if one residual outweighs the other.
    fn follow(&mut self, problem: &Problem<'_>, kappa: f64) -> Result<(), SolverError> {
        let (rho, rounds) = (self.rho, self.rounds);
        let total = kappa + rho;
        let share = rho / total;
        let every = if rounds <= SPLITTING.often {
            2
        } else {
            SPLITTING.pace
        };
        let looks = rounds <= SPLITTING.penalty_settles && rounds.is_multiple_of(every);
        let by_movements = self.regulariser.is_learned() && rounds <= SPLITTING.first;
        let due = self.inner || rounds.is_multiple_of(SPLITTING.pace);
        let w = (due || looks && !by_movements).then(|| {
            let parts = [&self.v, &self.sum, &self.pushed];
            Weights::combine(parts, |[v, sum, z]| share * (2.0 * v - sum) + z / total)
        });
        let relaxation = self.regulariser.pace().0;
        self.sum.update([&self.v, &self.pushed], |sum, [v, z]| {
            sum + relaxation * (share * (2.0 * v - sum) + z / total - v)
        });
        let accuracy = SPLITTING.directions * self.gap;
        let (next, trace_norm) =
            self.regulariser
                .shrink(&self.sum, problem, rho, &mut self.basis, accuracy)?;
        let before = std::mem::replace(&mut self.v, next);
        if rounds <= SPLITTING.often || rounds.is_multiple_of(2) {
            self.judge(problem, trace_norm, w.as_ref().filter(|_| due))?;
        }
        if looks {
            let u = Weights::combine([&self.sum, &self.v], |[sum, v]| sum - v);
            let factor = match w.filter(|_| !by_movements) {
                Some(w) => self.balance([&w, &before, &u]),
                None => SPLITTING.movements.factor(u.norm() / self.v.norm()),
            };
            self.rho *= factor;
            self.sum = Weights::combine([&self.v, &u], |[v, u]| v + u / factor);
        }
        Ok(())
    }

    /// The factor that brings the penalty closer to balance, from `W`, the last `V`, and `U`.
    fn balance(&self, [w, before, u]: [&Weights; 3]) -> f64 {
        let moved = Weights::combine([&self.v, before], |[new, old]| new - old).norm();
        let apart = Weights::combine([w, &self.v], |[w, v]| w - v).norm();
        let steps: usize = self.columns.iter().map(|column| column.steps).sum();
        let cheap = steps < self.columns.len().pow(2) / 2;
        let price = if cheap { SPLITTING.cheap } else { 1.0 };
        let (of_w, of_u) = (price * apart * u.norm(), moved * self.v.norm());
        if of_w > SPLITTING.unbalanced * of_u {
            2.0
        } else if of_u > SPLITTING.unbalanced * of_w {
            0.5
        } else {
            1.0
        }
    }

    /// Compares the bound of `Z`, and the models of `V` and `Z`, or of `V` and `W`, with the best ones so far. `trace_norm`
    /// is that of `V`.
    fn judge(
        &mut self,
        problem: &Problem<'_>,
        trace_norm: f64,
        w: Option<&Weights>,
    ) -> Result<(), SolverError> {
        let pushed = &self.pushed;
        let quadratic = self
            .regulariser
            .quadratic(pushed, problem, Some(&mut self.top))?;
        let loss = loss_and_bias(problem, &self.v.scores).0;
        if let Regulariser::TraceNorm = self.regulariser {
            let of_v = loss + 0.5 * problem.lambda * trace_norm * trace_norm;
            self.best.note_model(of_v, &self.v);
            if let Some(w) = w {
                let values = eigenvalues(&w.gram(problem.instances()), problem.labels())?;
                let norm: f64 = values.iter().map(|value| value.max(0.0).sqrt()).sum();
                let loss = loss_and_bias(problem, &w.scores).0;
                let of_w = loss + 0.5 * problem.lambda * norm * norm;
                self.best.note_model(of_w, w);
                self.inner = of_w < of_v;
            }
        } else {
            let (kappa, rho) = (self.regulariser.shared(problem), self.rho);
            let parts = [&self.v, &self.sum];
            let behind = Weights::combine(parts, |[v, sum]| kappa * v + rho * (sum - v));
            let penalty = dot(&behind.expansion, &self.v.scores);
            self.best.note_model(loss + 0.5 * penalty, &behind);
            let scores = self.regulariser.weights(problem, pushed).scores;
            let penalty = quadratic / problem.lambda;
            let loss = loss_and_bias(problem, &scores).0;
            self.best.note_model(loss + 0.5 * penalty, pushed);
        }
        let (bound, _) = best_multiple(problem, &pushed.expansion, quadratic);
        self.best.note_bound(bound, pushed);
        self.gap = relative_gap(self.best.primal, self.best.bound);
        Ok(())
    }

    /// The best points with recomputed objectives.
    pub fn point(&self, problem: &Problem<'_>) -> Result<Point, SolverError> {
        self.best.point(problem, &self.regulariser)
    }

    /// Continues in double precision, from recomputed scores; false when interrupted.
    pub fn leave_single_precision(
        &mut self,
        problem: &Problem<'_>,
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> bool {
        if !self.single {
            return true;
        }
        self.single = false;
        self.patience.renew();
        let weights = [&mut self.pushed, &mut self.v, &mut self.sum];
        Weights::renew(weights, problem, threads, monitor)
    }
}
