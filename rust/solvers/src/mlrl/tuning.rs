//! Numbers of the loops for label relationships.

use crate::tuning::{Balance, numbers};

numbers! {
    /// The operator splitting.
    SPLITTING: Splitting {
        /// The first penalty for a fixed Omega over the mean of what the regulariser has beyond `kappa`,
        first_penalty: f64 = 2.0,
        /// and over `kappa` at least.
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
        /// Where `V` has few singular values, so many more of `V + U` are followed at least from round to round,
        beside: usize = 8,
        /// and the directions of `V` are accurate to this share of the gap.
        directions: f64 = 0.3,
        /// Limits of that accuracy.
        loosest: f64 = 0.1,
        /// See `loosest`.
        tightest: f64 = 1e-12,
        /// Rows of the kernel are in single precision for tolerances from this one on, until a gap in double precision differs:
        /// half the bytes for the pair steps.
        single: f64 = 1e-4,
        /// In the first rounds the penalty for the trace norm follows how far `rho U` and `V` have come.
        first: usize = 10,
        /// How it does.
        ways: Balance = Balance { power: 1.0, least: 1.5, most: 10.0 },
        /// Later it changes when one relative residual is this many times the other.
        unbalanced: f64 = 2.0,
        /// A residual of `W` counts by this share where `W` takes less time than `V`: a smaller penalty means fewer rounds and
        /// more pair steps.
        cheap: f64 = 0.35,
        /// After this round the penalty stays: the iteration is sure to converge only with a penalty that settles.
        penalty_settles: usize = 100,
        /// In so many rounds it is looked at in every second one;
        often: usize = 20,
        /// later every so many.
        pace: usize = 8,
        /// The loop ends after this many rounds in which a sub-problem used up its steps: the kernel's scale is out of reach;
        most_exhausted: usize = 10,
        /// and after rounds that took so many times as many steps in all as one of them may.
        most_spent: f64 = 50.0,
        /// It has stalled when this many rounds
        still_rounds: usize = 500,
        /// leave more than this share of the gap.
        still_share: f64 = 0.99,
    }

    /// Largest number of pair steps of one label in one round.
    STEPS: Steps {
        /// So many,
        of_label: usize = 100_000,
        /// and so many for each instance,
        per_instance: usize = 1000,
        /// within a limit.
        most: usize = 10_000_000,
    }

    /// The published alternation.
    ALTERNATION: Alternation {
        /// (10) is solved to this share of the joint tolerance.
        share: f64 = 0.1,
        /// Rounds within the rounds in all: a sub-problem whose kernel's scale is out of reach may creep on for millions.
        rounds_within: usize = 100_000,
        /// A round that lowers the objective by no larger share of it has come to nothing, if (10) was left above its
        /// tolerance.
        nothing: f64 = 1e-13,
    }
}
