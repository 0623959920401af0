//! The KKT residual and the duality gap of a point.
//!
//! With `H` the quadratic form, `C = X^T Y` and `G = H W - C` the gradient, every `V` with entries of at most `beta`
//! gives the lower bound `1/2 ||Y||^2 - 1/2 <V + C, H^+ (V + C)>`. At `V = t G` it is
//!
//! ```text
//! 1/2 ||Y||^2 - 1/2 [ (1-t)^2 k + 2 t (1-t) <C, W> + t^2 <W, H W> ],     k = <C, H^+ C>
//! ```
//!
//! and any upper bound of `k` will do: `||Y||^2` does when the coupling is positive semidefinite. The best `t` with
//! `|t| max |G| <= beta` is taken; without coupling each label has its own.

use super::problem::Problem;
use crate::report::{Objectives, Status, rounding_of};

/// Objectives and residual at a point.
#[derive(Clone, Copy, Debug)]
pub struct Certificate {
    /// Objective.
    pub primal: f64,
    /// Lower bound of the optimum; minus infinity when the problem is not convex.
    pub dual: f64,
    /// A bound on the rounding error of their difference.
    pub rounding: f64,
    /// Largest violation of the optimality conditions.
    pub kkt_residual: f64,
}

/// The sums over some labels from which the certificate is computed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    squared_norm: f64,
    fit: f64,
    curvature: f64,
    l1: f64,
    largest: f64,
    /// Sum of the absolute values of the form's terms.
    size: f64,
    pub(super) kkt_residual: f64,
}

impl Sums {
    /// The sums of label `k`.
    pub(super) fn of_label(
        problem: &Problem<'_>,
        k: usize,
        weights: &[f64],
        gradient: &[f64],
    ) -> Self {
        let d = problem.dimension();
        let correlation = &problem.correlation[k * d..(k + 1) * d];
        let mut sums = Self {
            squared_norm: problem.squared_norms[k],
            ..Self::default()
        };
        for ((&w, &g), &c) in weights.iter().zip(gradient).zip(correlation) {
            sums.largest = sums.largest.max(g.abs());
            sums.kkt_residual = sums.kkt_residual.max(violation(w, g, problem.beta));
            if w != 0.0 {
                sums.fit += c * w;
                sums.curvature += w * (g + c);
                sums.l1 += w.abs();
                sums.size += (c * w).abs() + (w * (g + c)).abs();
            }
        }
        sums
    }

    fn add(&mut self, other: &Self) {
        self.squared_norm += other.squared_norm;
        self.fit += other.fit;
        self.curvature += other.curvature;
        self.l1 += other.l1;
        self.size += other.size;
        self.largest = self.largest.max(other.largest);
        self.kkt_residual = self.kkt_residual.max(other.kkt_residual);
    }

    pub(super) fn primal(&self, beta: f64) -> f64 {
        0.5 * self.squared_norm - self.fit + 0.5 * self.curvature + beta * self.l1
    }

    fn dual(&self, beta: f64, anchor: f64) -> f64 {
        let limit = (beta / self.largest).min(1.0);
        let curvature = anchor - 2.0 * self.fit + self.curvature;
        let best = (anchor - self.fit) / curvature;
        let best = if curvature > 0.0 { best } else { limit };
        let t = best.clamp(-limit, limit);
        let s = 1.0 - t;
        let curvature = s * s * anchor + 2.0 * t * s * self.fit + t * t * self.curvature;
        0.5 * self.squared_norm - 0.5 * curvature
    }

    /// The lower bound of one label on its own.
    pub(super) fn own_dual(&self, beta: f64) -> f64 {
        self.dual(beta, self.squared_norm)
    }
}

/// Distance of `-g` from `beta` times the subdifferential of `|w|`.
pub(super) fn violation(w: f64, g: f64, beta: f64) -> f64 {
    if w == 0.0 {
        (g.abs() - beta).max(0.0)
    } else {
        (g + beta.copysign(w)).abs()
    }
}

/// The certificate at `weights`, where the smooth part has this gradient.
pub(super) fn certify(problem: &Problem<'_>, weights: &[f64], gradient: &[f64]) -> Certificate {
    let d = problem.dimension();
    let of_label = |k: usize| {
        let range = k * d..(k + 1) * d;
        Sums::of_label(problem, k, &weights[range.clone()], &gradient[range])
    };
    combine(problem, (0..problem.labels()).map(of_label))
}

/// The certificate of all labels from the sums of each.
pub(super) fn combine(problem: &Problem<'_>, of_labels: impl Iterator<Item = Sums>) -> Certificate {
    let mut total = Sums::default();
    let mut separate = 0.0;
    for sums in of_labels {
        separate += sums.own_dual(problem.beta);
        total.add(&sums);
    }
    let dual = if !problem.convex {
        f64::NEG_INFINITY
    } else if problem.coupling.is_none() {
        separate
    } else {
        total.dual(problem.beta, problem.anchor.unwrap_or(total.squared_norm))
    };
    let size = total.squared_norm + total.size + problem.beta * total.l1;
    Certificate {
        primal: total.primal(problem.beta),
        dual,
        rounding: rounding_of(size, problem.dimension() + problem.labels()),
        kkt_residual: total.kkt_residual,
    }
}

impl Certificate {
    /// The objectives.
    pub(super) fn objectives(&self) -> Objectives {
        Objectives {
            primal: self.primal,
            dual: self.dual,
            rounding: self.rounding,
        }
    }
}

impl Problem<'_> {
    /// Whether gap and KKT residual are within the tolerance.
    pub(super) fn certified(&self, certificate: &Certificate) -> bool {
        // A form that was made convex has negative curvature only through rounding.
        let (quadratic, rounding) = (0.0, || f64::INFINITY);
        let found = certificate.objectives();
        let found = found.verdict(quadratic, self.settings.tolerance, rounding);
        self.convex
            && found == Some(Status::Converged)
            && certificate.kkt_residual <= self.largest_residual()
    }
}
