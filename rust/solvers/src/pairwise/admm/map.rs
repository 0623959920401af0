//! The proximal maps of some instances in an iteration.
//!
//! Row `i` has scores `z_i` of its own, a multiplier `u_i` and the penalty `rho_i = rho s_i^2`, with scales `s_i` that give all
//! rows of the features one length. At its row `f_i` of `F`
//!
//! ```text
//! g_i = relaxation f_i + (1 - relaxation) z_i
//! z_i = prox of phi_i / rho_i at g_i + u_i,   u_i = u_i + g_i - z_i
//! ```
//!
//! and the row `beta_i = -rho_i u_i` is in the feasible set of the dual problem, with scores `z_i` that belong to it.

use crate::labels::Labels;
use crate::pairwise::loss::{Loss, dual_term};

/// Squared length, relative to the mean, of the shortest row that is scaled to the length of the others.
const SHORTEST: f64 = 1e-3;

/// The relaxation's factor of `F`.
pub(super) const RELAXATION: f64 = 1.8;

/// The factor for a row of this squared length: a nearly zero row stays short.
pub(crate) fn scale(square: f64, mean: f64) -> f64 {
    (square / mean).max(SHORTEST).sqrt().recip()
}

/// Sums of squares over the instances, for the residuals.
#[derive(Clone, Copy, Debug, Default)]
pub struct Squares {
    /// `F - Z`
    pub primal: f64,
    /// The changes of `Z`, and of `U`.
    pub moved: f64,
    /// `U`
    pub displacements: f64,
}

impl Squares {
    pub(crate) fn add(&mut self, others: &Self) {
        self.primal += others.primal;
        self.moved += others.moved;
        self.displacements += others.displacements;
    }

    /// The ratio of the relative residuals, for scores with this sum of squares.
    pub(crate) fn imbalance(&self, scores: f64) -> f64 {
        let (primal, dual) = (self.primal / scores, self.moved / self.displacements);
        (primal / dual).sqrt()
    }
}

/// The proximal maps of some instances.
pub(crate) struct Map<'a, L: Loss> {
    labels: &'a Labels,
    loss: &'a L,
    rho: f64,
    relaxed: Vec<f64>,
    known: [Vec<f64>; 3],
    workspace: L::Workspace,
    pub(crate) squares: Squares,
}

impl<'a, L: Loss> Map<'a, L> {
    pub(crate) fn new(labels: &'a Labels, loss: &'a L, rho: f64) -> Self {
        let q = labels.count();
        Self {
            labels,
            loss,
            rho,
            relaxed: vec![0.0; q],
            known: std::array::from_fn(|_| vec![0.0; q]),
            workspace: L::Workspace::default(),
            squares: Squares::default(),
        }
    }

    /// `phi_i / rho_i` is this factor times the sum over the pairs.
    fn lambda(&self, i: usize, scale: f64) -> f64 {
        self.labels.weight(i) / (self.rho * scale * scale)
    }

    /// Updates `z_i` and `-u_i` of an instance, given its `fitted` scores; all times its scale.
    pub(crate) fn apply(
        &mut self,
        i: usize,
        scale: f64,
        fitted: &[f64],
        scores: &mut [f64],
        displacement: &mut [f64],
    ) {
        let mut relaxed = std::mem::take(&mut self.relaxed);
        let state = fitted.iter().zip(&*scores).zip(&*displacement);
        for (relaxed, ((f, z), u)) in relaxed.iter_mut().zip(state) {
            *relaxed = RELAXATION * f + (1.0 - RELAXATION) * z - u;
        }
        self.project(i, scale, &relaxed, fitted, scores, displacement);
        self.relaxed = relaxed;
    }

    /// Replaces `z_i` and `-u_i` of an instance by the parts of a state `s_i = z_i + u_i`, all times its scale.
    pub(super) fn project(
        &mut self,
        i: usize,
        scale: f64,
        state: &[f64],
        fitted: &[f64],
        scores: &mut [f64],
        displacement: &mut [f64],
    ) {
        let (lambda, pairs) = (self.lambda(i, scale), self.labels.pairs_of(i));
        let [centre, guess, moved] = &mut self.known;
        let centre = self.labels.gather(i, state, centre);
        let guess = self.labels.gather(i, scores, guess);
        let moved = &mut moved[..centre.len()];
        centre.iter_mut().for_each(|score| *score /= scale);
        guess.iter_mut().for_each(|score| *score /= scale);
        self.loss
            .prox(centre, guess, moved, pairs, lambda, &mut self.workspace);
        moved.iter_mut().for_each(|u| *u *= scale);
        displacement.fill(0.0);
        self.labels.scatter(i, moved, displacement);
        let squares = &mut self.squares;
        let parts = scores.iter_mut().zip(&*displacement).zip(fitted);
        for (s, ((z, u), f)) in state.iter().zip(parts) {
            let before = *z;
            *z = s + u;
            squares.primal += (f - *z).powi(2);
            squares.moved += (*z - before).powi(2);
            squares.displacements += u * u;
        }
    }

    /// Writes the dual row of an instance with these scores and displacements, both times its scale, and returns the dual
    /// term.
    pub(crate) fn dual(
        &mut self,
        i: usize,
        scale: f64,
        scores: &[f64],
        displacement: &[f64],
        row: &mut [f64],
    ) -> f64 {
        let rows = row.iter_mut().zip(displacement);
        rows.for_each(|(beta, u)| *beta = self.rho * scale * u);
        let (lambda, weight) = (self.lambda(i, scale), self.labels.weight(i));
        let pairs = self.labels.pairs_of(i);
        let [block, at, _] = &mut self.known;
        let block = self.labels.gather(i, row, block);
        let at = self.labels.gather(i, scores, at);
        at.iter_mut().for_each(|score| *score /= scale);
        dual_term(
            self.loss,
            block,
            at,
            pairs,
            weight,
            lambda,
            &mut self.workspace,
        )
    }

    /// `phi_i` at the given scores.
    pub(crate) fn loss(&mut self, i: usize, scores: &[f64]) -> f64 {
        let known = self.labels.gather(i, scores, &mut self.known[0]);
        self.labels.weight(i) * self.loss.value(known, self.labels.pairs_of(i))
    }
}
