//! Losses of label pairs: a [`loss::Loss`] (value and proximal map) and [`scores::Scores`] (a kernel or linear features)
//! define a problem, a [`Setup`] how to solve it; a [`request::Request`] chooses among all of them.
//!
//! [`solve()`] runs the one outer loop (`outer`) of block coordinate ascent ([`bcd`]) with
//! a rule for the bias ([`bias`]); slow problems get iterations on all blocks at once (`admm`).
//! [`published`] are the loops as published.

mod accelerator;
mod admm;
mod any_loss;
pub mod bcd;
pub mod bias;
pub mod loss;
mod outer;
pub mod parts;
mod prompt;
pub mod published;
pub mod request;
mod rule;
pub mod scores;
mod setup;
mod solve;
mod tuning;

pub use any_loss::AnyLoss;
pub use setup::{Setup, Solution};
pub use solve::solve;
