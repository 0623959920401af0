//! Losses of label pairs: a [`loss::Loss`] (value and proximal map) and [`scores::Scores`] (a kernel or linear features)
//! make a problem; [`bcd`] solves it by exact steps, [`dcd`] one pair at a time, [`frank_wolfe`] as published.
//! [`free_bias`] adds the equality constraints of a free bias. Slow problems get momentum (`acceleration`) and proximal
//! point steps (`proximal_newton`).

mod acceleration;
pub mod bcd;
pub mod dcd;
pub mod frank_wolfe;
pub mod free_bias;
pub mod loss;
mod proximal_newton;
pub mod scores;
