//! Numbers of the network of a free bias.

use crate::tuning::numbers;

numbers! {
    /// Newton's method for the prices of a network ([`super::network`]).
    PRICES: Pricing {
        /// Newton steps,
        newton_steps: usize = 100,
        /// steps of conjugate gradients in each,
        gradient_steps: usize = 200,
        /// and trials of a line search at most.
        trials: usize = 30,
        /// A line search ends where the slope is this share of the first one.
        flat: f64 = 0.5,
        /// Conjugate gradients stop at this share of what is left, at first; later at the square of the share of the demand,
        /// and before there is nothing but rounding.
        forcing: f64 = 0.1,
        /// What is left at this share of the demand is rounding.
        exact: f64 = 1e-12,
        /// Damping, by a slope for each node, as a share of its capacity over the dearest cost: the first one,
        first_damping: f64 = 0.1,
        /// the least, which nodes all of whose arcs are full or empty need,
        least_damping: f64 = 1e-9,
        /// and the most.
        most_damping: f64 = 1e4,
        /// By what it changes after a step that is shorter than `short`,
        more_damping: f64 = 100.0,
        /// and after others.
        less_damping: f64 = 0.1,
        /// See `more_damping`.
        short: f64 = 0.25,
        /// Nodes with less than this share of what is left at another are no reason for it.
        much: f64 = 1e-2,
    }
}
