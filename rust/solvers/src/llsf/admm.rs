//! The alternating direction method of multipliers in the eigenbasis of the quadratic form.
//!
//! ```text
//! min  1/2 <W, H W> - <C, W> + beta ||Z||_1,   W = Z
//! ```
//!
//! With `X^T X = U diag(s) U^T` and `alpha M = V diag(t) V^T` the form maps `W` to `U (H . (U^T W V)) V^T` with
//! `H_ik = s_i + t_k`. `U` may be thin, with as many columns as `X` has rows: on the complement of its columns `s` is 0.
//! With penalty rho and the scaled dual variable `D`, a round is
//!
//! * `W = (H + rho)^-1 (C + rho (Z - D))`: diagonal in the basis, two products with `U` and two with `V`;
//! * `Q = a W + (1 - a) Z + D` with the over-relaxation `a`; `Z` is the soft threshold of `Q` at `beta / rho`, and `D`
//!   the part that is cut off. So only `Q` is stored, and extrapolated ([`crate::anderson`]).
//!
//! `Z` is the model. `S = rho D` lies in the box of beta: the gradient at `H^+ (C - S)` is `-S`, projected on the range of
//! `H` where that has a null space, so that this point gives a lower bound ([`super::certificate`]).
//!
//! The penalty follows the distances that `Z` and `rho D` have moved (Applegate et al. 2021); if one of them stands still,
//! and in late rounds, it follows the relative residuals `||W - Z||` and `||Z - Z_before||` (Wohlberg 2017), and once the
//! gap is closed the KKT residual of `Z`. With columns of very different scales, the distances alone may settle at a penalty
//! that is too large for the small columns. Coordinate descent is better at finding the signs and zeros of a very sparse
//! solution; when many features contribute to a label, this loop needs a few dozen rounds however strongly they depend on
//! each other.

use super::certificate::certify;
use super::lasso::soft_threshold;
use super::problem::{End, Problem};
use super::quadratic::Quadratic;
use super::tuning::SPLITTING;
use crate::anderson::Anderson;
use crate::error::{SolverError, refused};
use crate::linalg::matmul::{View, multiply_rows};
use crate::linalg::vector::{dot, transpose};
use crate::memory;
use crate::movements::Movements;
use crate::parallel::threads::Threads;
use crate::report::{Monitor, Status, Trace, relative_gap};
use crate::tuning::Extrapolating;

/// Entries of `H` below this share of the largest one are 0.
const NULL_SHARE: f64 = 1e-12;
/// Relative rounding error of sums of products, with a safety factor of a hundred.
const LOST: f64 = 100.0 * f64::EPSILON;

/// Eigenvalues and eigenvectors of one symmetric matrix; vectors are columns, stored row-major.
#[derive(Clone, Copy, Debug)]
pub struct Eigenpairs<'a> {
    /// Eigenvalues.
    pub values: &'a [f64],
    /// Eigenvectors, one a column, row-major.
    pub vectors: &'a [f64],
}

impl<'a> Eigenpairs<'a> {
    fn fit(&self, rows: usize) -> bool {
        let mut numbers = self.values.iter().chain(self.vectors);
        self.vectors.len() == rows * self.values.len() && numbers.all(|x| x.is_finite())
    }

    fn view(&self) -> View<'a> {
        View::rows(self.vectors, self.values.len())
    }

    fn largest(&self) -> f64 {
        self.values.iter().copied().fold(0.0, f64::max)
    }

    /// The median of the nonzero eigenvalues: the data then dominate in half of the directions.
    fn first_penalty(&self) -> f64 {
        let mut values = self.values.to_vec();
        values.sort_by(f64::total_cmp);
        values.retain(|&s| s > 1e-9 * self.largest());
        let median = values.get(values.len() / 2).copied();
        median.filter(|&s| s > 0.0).unwrap_or(1.0)
    }
}

/// The squared norms that determine the penalty.
#[derive(Clone, Copy, Debug, Default)]
struct Norms {
    apart: f64,
    moved: f64,
    w: f64,
    z: f64,
    d: f64,
}

impl Norms {
    /// The factor that brings the penalty closer to balance.
    fn balance(&self) -> f64 {
        // ||W - Z|| / max(||W||, ||Z||) over (rho ||Z - Z_before||) / (rho ||D||), squared.
        let ratio = self.apart * self.d / (self.w.max(self.z) * self.moved);
        if !(ratio.is_finite() && ratio > 0.0) {
            return 1.0;
        }
        SPLITTING.balance.factor(ratio)
    }
}

/// The state; matrices are `q x d`, except the last two, `d x q` and `r x q`.
struct Loop<'a> {
    problem: &'a Problem<'a>,
    /// The eigenpairs of `X^T X`: `d` rows, at most `d` of them.
    features: Eigenpairs<'a>,
    /// Those of the coupling.
    coupling: Option<Eigenpairs<'a>>,
    threads: &'a Threads,
    rho: f64,
    /// The largest entry of `H`.
    largest: f64,
    /// `Z + D`
    sum: Vec<f64>,
    anderson: Anderson,
    /// `W`
    weights: Vec<f64>,
    movements: Movements,
    mixed: Vec<f64>,
    inside: Vec<f64>,
}

impl Loop<'_> {
    fn threshold(&self) -> f64 {
        self.problem.beta / self.rho
    }

    /// `Z`
    fn model(&self) -> Vec<f64> {
        let threshold = self.threshold();
        memory::collected(self.sum.iter().map(|&x| soft_threshold(x, threshold)))
    }

    /// Multiplies the matrix in `weights` by `(H + rho)^-1`, in place; entries where `H + rho` is 0 become 0. False when
    /// interrupted, which happens only between the products.
    fn invert(&mut self, rho: f64, monitor: &mut dyn Monitor) -> bool {
        let (q, d) = (self.problem.labels(), self.problem.dimension());
        let (r, threads) = (self.features.values.len(), self.threads);
        let (mixed, inside) = (&mut self.mixed, &mut self.inside);
        match self.coupling {
            None => transpose(&self.weights, q, d, mixed),
            Some(pairs) => {
                let rows = View::rows(&self.weights, d).transposed();
                multiply_rows(threads, (d, q, q), rows, pairs.view(), mixed, false);
            }
        }
        let (u, right) = (self.features.view(), View::rows(mixed, q));
        multiply_rows(threads, (r, d, q), u.transposed(), right, inside, false);
        if monitor.poll().breaks_off() {
            return false;
        }
        let null = NULL_SHARE * self.largest;
        let inverse = |h: f64| if h + rho > null { 1.0 / (h + rho) } else { 0.0 };
        let values = |k: usize| self.coupling.map_or(0.0, |pairs| pairs.values[k]);
        // The part outside the range of U is divided by t + rho; inside it, the difference to that is added.
        let outside = |t: f64| if r == d { 0.0 } else { inverse(t) };
        for (row, s) in inside.chunks_exact_mut(q).zip(self.features.values) {
            for (k, x) in row.iter_mut().enumerate() {
                *x *= inverse(s + values(k)) - outside(values(k));
            }
        }
        for row in mixed.chunks_exact_mut(q) {
            (row.iter_mut().enumerate()).for_each(|(k, x)| *x *= outside(values(k)));
        }
        multiply_rows(threads, (d, r, q), u, View::rows(inside, q), mixed, true);
        match self.coupling {
            None => transpose(mixed, d, q, &mut self.weights),
            Some(pairs) => {
                let right = View::rows(mixed, q).transposed();
                let out = &mut self.weights;
                multiply_rows(threads, (q, q, d), pairs.view(), right, out, false);
            }
        }
        !monitor.poll().breaks_off()
    }

    fn round(&mut self, monitor: &mut dyn Monitor) -> Option<Norms> {
        let (rho, threshold) = (self.rho, self.threshold());
        let known = self.sum.iter().zip(&self.problem.correlation);
        for (right, (&x, c)) in self.weights.iter_mut().zip(known) {
            *right = c + rho * (2.0 * soft_threshold(x, threshold) - x);
        }
        self.invert(rho, monitor).then(|| {
            let before = memory::copied(&self.sum);
            let norms = self.follow();
            self.anderson.step(&before, &mut self.sum, self.threads);
            norms
        })
    }

    /// The point whose gradient is `-rho D` within the range of `H`.
    fn dual_point(&mut self) -> &[f64] {
        let (rho, threshold) = (self.rho, self.threshold());
        let known = self.sum.iter().zip(&self.problem.correlation);
        for (right, (&x, c)) in self.weights.iter_mut().zip(known) {
            *right = c - rho * (x - soft_threshold(x, threshold));
        }
        self.invert(0.0, &mut ());
        &self.weights
    }

    /// `Z` and `D` after `W`.
    fn follow(&mut self) -> Norms {
        let (threshold, mut norms) = (self.threshold(), Norms::default());
        for (x, w) in self.sum.iter_mut().zip(&self.weights) {
            let before = soft_threshold(*x, threshold);
            let next =
                SPLITTING.relaxation * w + (1.0 - SPLITTING.relaxation) * before + (*x - before);
            let z = soft_threshold(next, threshold);
            norms.apart += (w - z) * (w - z);
            norms.moved += (z - before) * (z - before);
            norms.w += w * w;
            norms.z += z * z;
            norms.d += (next - z) * (next - z);
            *x = next;
        }
        norms
    }

    /// The factor of the penalty once the gap is closed: what remains is the error of the gradient at `Z`, in which `H`
    /// magnifies the distance to `W`. At the optimum the gradient is `-rho D`.
    fn late_balance(&self, gradient: &[f64], norms: &Norms) -> f64 {
        let threshold = self.threshold();
        let differences = gradient.iter().zip(&self.sum).map(|(g, &x)| {
            let difference = g + self.rho * (x - soft_threshold(x, threshold));
            difference * difference
        });
        let moved = self.rho * norms.moved.sqrt();
        SPLITTING
            .balance
            .limited((differences.sum::<f64>().sqrt() / (SPLITTING.stationarity * moved)).sqrt())
    }

    /// The factor of the penalty from the distances that `Z`, the model, and `rho D` have moved since the last call, if both
    /// have moved.
    fn factor_of_movements(&mut self, model: &[f64]) -> Option<f64> {
        let rho = self.rho;
        let multiplier = self.sum.iter().zip(model).map(|(x, z)| rho * (x - z));
        let multiplier = memory::collected(multiplier);
        let ratio = self.movements.ratio(memory::copied(model), multiplier)?;
        Some(SPLITTING.movements.factor(ratio / rho))
    }

    /// Changes the penalty; `Z` and `rho D` stay the same.
    fn rescale(&mut self, factor: f64) {
        let threshold = self.threshold();
        self.rho *= factor;
        self.anderson.forget();
        for x in &mut self.sum {
            let z = soft_threshold(*x, threshold);
            *x = z + (*x - z) / factor;
        }
    }
}

/// Runs the loop with the eigenpairs of `X^T X` and of the coupling.
pub(super) fn run(
    problem: &Problem<'_>,
    quadratic: &Quadratic<'_>,
    features: Eigenpairs<'_>,
    coupling: Option<Eigenpairs<'_>>,
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Result<End, SolverError> {
    let (q, d) = (problem.labels(), problem.dimension());
    if !problem.convex {
        return Err(SolverError::Unsupported(
            "the alternating direction method needs a convex problem: shift the coupling, or use the published loop",
        ));
    }
    let coupled = coupling.is_none_or(|pairs| pairs.fit(q) && pairs.values.len() == q);
    let fits = features.fit(d) && features.values.len() <= d && coupled;
    if !fits || coupling.is_some() != problem.coupling.is_some() {
        return Err(refused(
            "basis",
            format!("eigenpairs that do not fit {d} features and {q} labels"),
            "finite eigenpairs of X^T X, and of the coupling if there is one",
        ));
    }
    let mut trace = Trace::default();
    let gradient = |weights: &[f64]| problem.gradient(quadratic, weights, threads);
    let weights = problem.start();
    let (rho, beta) = (features.first_penalty(), problem.beta);
    // Z is the start, and D follows from its gradient.
    let slopes = gradient(&weights);
    let sum = memory::collected(weights.iter().zip(&slopes).map(|(&w, g)| {
        if w == 0.0 {
            (-g).clamp(-beta, beta) / rho
        } else {
            w + (beta / rho).copysign(w)
        }
    }));
    let mut state = Loop {
        problem,
        features,
        coupling,
        threads,
        rho,
        largest: features.largest() + coupling.map_or(0.0, |pairs| pairs.largest()),
        sum,
        anderson: Anderson::new(&Extrapolating::default()),
        mixed: memory::matrix(q, d),
        movements: Movements::default(),
        inside: memory::matrix(q, features.values.len()),
        weights,
    };
    let (mut norms, mut late_changes, mut round) = (Norms::default(), 0, 0);
    let (mut model, mut bound) = (Vec::new(), f64::NEG_INFINITY);
    let status = loop {
        let last = round == problem.settings.max_epochs;
        if round.is_multiple_of(SPLITTING.check) || last {
            model = state.model();
            let slopes = gradient(&model);
            let mut certificate = certify(problem, &model, &slopes);
            if round > 0 {
                let (largest, point) = (state.largest, state.dual_point());
                let dual = certify(problem, point, &gradient(point)).dual;
                bound = bound.max(dual - LOST * largest * dot(point, point));
            }
            bound = bound.max(certificate.dual);
            certificate.dual = bound;
            if round > 0 {
                trace.record(round, certificate.primal, bound, q, monitor);
            }
            if problem.certified(&certificate) {
                break Status::Converged;
            }
            if last {
                break Status::MaxIterations;
            }
            let (factor, settled) =
                if relative_gap(certificate.primal, bound) <= problem.settings.tolerance {
                    let settled = late_changes == SPLITTING.most_late_changes;
                    (state.late_balance(&slopes, &norms), settled)
                } else {
                    let is_late = round > SPLITTING.penalty_settles;
                    let settled = is_late && round % SPLITTING.penalty_settles != 0;
                    let of_movements = (!is_late)
                        .then(|| state.factor_of_movements(&model))
                        .flatten();
                    (of_movements.unwrap_or_else(|| norms.balance()), settled)
                };
            if round > 0 && !settled && factor != 1.0 {
                late_changes += usize::from(round > SPLITTING.penalty_settles);
                state.rescale(factor);
            }
        }
        round += 1;
        match state.round(monitor) {
            Some(made) => norms = made,
            None => break monitor.poll().status(),
        }
    };
    Ok(End {
        weights: model,
        status,
        epochs: round,
        trace,
        gradient: None,
        bound,
    })
}
