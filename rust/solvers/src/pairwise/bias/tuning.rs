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
        /// Conjugate gradients stop at first at this share of the unmet demand; later at the square of its share of the
        /// demand, but not below rounding.
        forcing: f64 = 0.1,
        /// An unmet demand of this share is rounding.
        exact: f64 = 1e-12,
        /// Damping of each node, as a share of its capacity over the highest cost: the first one,
        first_damping: f64 = 0.1,
        /// the least, needed by nodes whose arcs are all full or empty,
        least_damping: f64 = 1e-9,
        /// and the most.
        most_damping: f64 = 1e4,
        /// Its factor after a step that is shorter than `short`,
        more_damping: f64 = 100.0,
        /// and after others.
        less_damping: f64 = 0.1,
        /// See `more_damping`.
        short: f64 = 0.25,
        /// Nodes with less than this share of another node's unmet demand count as met.
        much: f64 = 1e-2,
    }
}
