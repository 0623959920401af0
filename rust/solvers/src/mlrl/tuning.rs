//! Numbers of the loops for label relationships.

use crate::tuning::{Balance, numbers};

numbers! {
    /// The operator splitting.
    SPLITTING: Splitting {
        /// The first penalty for a fixed Omega, relative to the mean of the regulariser beyond `kappa`,
        first_penalty: f64 = 2.0,
        /// and at least this share of `kappa`.
        least_penalty: f64 = 1e-3,
        /// Over-relaxation of `W` for the trace norm; anything in (0, 2) converges.
        relaxation: f64 = 1.8,
        /// The same for a fixed Omega.
        fixed_relaxation: f64 = 1.5,
        /// The labels' problems are solved to F_low <= F_up + this share of the gap of one label's mean loss for the trace
        /// norm,
        accuracy: f64 = 15.0,
        /// and this one for a fixed Omega, at first;
        fixed_accuracy: f64 = 20.0,
        /// more accurately when the gap of `pace` rounds ago is left to this share,
        slow: f64 = 0.75,
        /// by this factor,
        sharper: f64 = 0.7,
        /// down to this share.
        sharpest: f64 = 4.0,
        /// If `V` has few singular values, at least this many more of `V + U` are followed from round to round,
        beside: usize = 8,
        /// and the directions of `V` are computed to this share of the gap.
        directions: f64 = 0.3,
        /// Limits of that accuracy.
        loosest: f64 = 0.1,
        /// See `loosest`.
        tightest: f64 = 1e-12,
        /// Kernel rows are in single precision for tolerances of at least this, until a gap in double precision differs:
        /// half the bytes for the pair steps.
        single: f64 = 1e-4,
        /// In this many first rounds the penalty for the trace norm follows the distances that `rho U` and `V` have moved.
        first: usize = 10,
        /// Its rule.
        movements: Balance = Balance { power: 1.0, least: 1.5, most: 10.0 },
        /// Later it changes when one relative residual is this many times the other.
        unbalanced: f64 = 2.0,
        /// A residual of `W` is weighted by this if `W` takes less time than `V`: a smaller penalty means fewer rounds and
        /// more pair steps.
        cheap: f64 = 0.35,
        /// After this round the penalty is fixed: convergence is guaranteed only for a penalty that settles.
        penalty_settles: usize = 100,
        /// In this many first rounds it is adjusted in every second one;
        often: usize = 20,
        /// later once in this many.
        pace: usize = 8,
        /// The loop ends after this many rounds in which a sub-problem used up its steps: the kernel's scale is out of reach;
        most_exhausted: usize = 10,
        /// and after this many times the maximum number of steps of one round.
        most_spent: f64 = 50.0,
        /// It has stalled when this many rounds
        still_rounds: usize = 500,
        /// leave more than this share of the gap open.
        still_share: f64 = 0.99,
    }

    /// Largest number of pair steps of one label in one round.
    STEPS: Steps {
        /// A fixed number,
        of_label: usize = 100_000,
        /// and a number for each instance,
        per_instance: usize = 1000,
        /// up to a limit.
        most: usize = 10_000_000,
    }

    /// The published alternation.
    ALTERNATION: Alternation {
        /// (10) is solved to this share of the joint tolerance.
        share: f64 = 0.1,
        /// Inner rounds in total: a sub-problem whose kernel has a scale out of reach may creep on for millions.
        rounds_within: usize = 100_000,
        /// A round that lowers the objective by no more than this share of it has stalled, if (10) was left above its
        /// tolerance.
        nothing: f64 = 1e-13,
    }
}
