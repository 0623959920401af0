//! Acceleration of slow problems: an accelerated proximal point method around block coordinate ascent.
//!
//! Where the kernel has a null space (linear features, fewer than rows) and `C` is large, the dual is nearly a linear
//! programme along many directions, and coordinate ascent alone is slow. A proximal term `rho/2 ||B - A||^2` in the
//! dual adds curvature along those directions; moving the proximal centre `A` with Nesterov's momentum makes up for
//! the shorter steps (the Catalyst scheme). Each block step has the kernel `K + rho` on its own diagonal.
//!
//! The gap is always that of the problem without the term, so the acceleration can change how fast the loops
//! converge, never to what.

use crate::linalg::rows::Rows;

/// Epochs before the acceleration sets in: most problems are solved by then.
pub(crate) const PATIENCE: usize = 50;

/// Epochs between two moves of the proximal centre, at first.
const EPOCHS: usize = 3;

/// After this many moves, and whenever their number has doubled from there on, it takes one more epoch: momentum
/// gathers the errors of all proximal steps, so those of a long run must be smaller.
const MOVES: usize = 64;

/// The proximal centre and its momentum.
#[derive(Clone, Debug)]
pub(crate) struct Centre<R> {
    /// Weight of the proximal term.
    pub rho: f64,
    /// The point `A`, `n x q`.
    pub point: R,
    previous: R,
    theta: f64,
    objective: f64,
    epochs: usize,
    moves: usize,
}

impl<R: Rows> Centre<R> {
    /// A proximal centre at the current dual matrix.
    pub fn new(rho: f64, dual: &R, objective: f64) -> Self {
        let previous = dual.copied();
        Self {
            objective,
            previous,
            ..Self::fixed(rho, dual.copied())
        }
    }

    /// A proximal centre that does not move.
    pub fn fixed(rho: f64, point: R) -> Self {
        Self {
            rho,
            point,
            previous: R::zeros(0, 0),
            theta: 1.0,
            objective: 0.0,
            epochs: 0,
            moves: 0,
        }
    }

    /// Called after each epoch; moves the proximal centre when it is time. A falling dual objective means that the
    /// momentum has overshot, and starts it anew.
    pub fn after_epoch(&mut self, dual: &R, (n, q): (usize, usize), objective: f64) {
        self.epochs += 1;
        if self.epochs < EPOCHS + (self.moves / MOVES + 1).ilog2() as usize {
            return;
        }
        self.epochs = 0;
        self.moves += 1;
        if objective < self.objective {
            self.theta = 1.0;
        }
        self.objective = objective;
        let theta = 0.5 * (1.0 + (1.0 + 4.0 * self.theta * self.theta).sqrt());
        let momentum = (self.theta - 1.0) / theta;
        self.theta = theta;
        let [mut of_dual, mut of_point, mut of_previous] = [const { Vec::new() }; 3];
        for i in 0..n {
            let row = dual.row(i, q, &mut of_dual);
            self.previous.change(i, q, &mut of_previous, |previous| {
                self.point.change(i, q, &mut of_point, |point| {
                    for ((a, previous), beta) in point.iter_mut().zip(previous).zip(row) {
                        *a = beta + momentum * (beta - *previous);
                        *previous = *beta;
                    }
                });
            });
        }
    }
}
