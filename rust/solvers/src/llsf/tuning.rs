//! Numbers of the loops for label-specific features.

use crate::tuning::{Balance, numbers};

numbers! {
    /// The alternating direction method.
    SPLITTING: Splitting {
        /// Over-relaxation; anything in (0, 2) converges.
        relaxation: f64 = 1.7,
        /// Rounds between two certificates, each of which costs about two.
        check: usize = 5,
        /// The penalty changes by the root of the residuals' ratio, of which this is the square,
        balance: Balance = Balance { power: 0.25, least: 1.5, most: 5.0 },
        /// and by the root of the ratio of movements.
        movements: Balance = Balance { power: 0.5, least: 1.5, most: 5.0 },
        /// After this round it changes rarely: convergence needs a penalty that settles.
        penalty_settles: usize = 100,
        /// When the gap is closed and the KKT residual is still too large, the gradient at `Z` may be wrong by this many
        /// times the change of `rho Z` before the penalty grows,
        stationarity: f64 = 10.0,
        /// after that round at most this many times.
        most_late_changes: usize = 20,
    }

    /// Coordinate descent for one label, and its working set.
    LASSO: Descent {
        /// Steps on the support before giving up.
        most_steps: usize = 60,
        /// Passes before each of them.
        passes: usize = 4,
        /// Iterations of conjugate gradients,
        most_iterations: usize = 20,
        /// and the share of the gradient's square at which they end.
        accuracy: f64 = 0.01,
        /// A direction whose curvature is below this share of its coordinates' own curvature means dependent columns.
        dependent: f64 = 1e-12,
        /// The working set is solved to this share of the violation at the start of a visit.
        inner_accuracy: f64 = 0.1,
        /// It may grow to this many times the support,
        growth: usize = 2,
        /// and always to this.
        small_set: usize = 64,
    }
}
