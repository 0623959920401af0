//! The bias of the model: none, penalized as a further weight, or free.
//!
//! To the engine ([`crate::pairwise::bcd`]) a bias is a curvature `sigma` and a constant `b` in the scores `F + sigma g +
//! b`, with `g = sum_i beta_i`. The outer loop also needs a [`super::rule::Rule`]: the objectives at such a point, how to
//! turn it into one that certifies the problem, and how `sigma` and `b` change after an epoch.
//!
//! | bias | `sigma` | `b` | certificate |
//! |---|---|---|---|
//! | none | 0 | 0 | the point's own |
//! | penalized (the features with an appended 1 of Chen et al. 2009) | 1 | 0 | the point's own |
//! | free (Xu 2013, eq. (18)) | the augmentation ([`free`]) | the multiplier | that of a repaired point ([`oracle`], [`repair`]) |

mod components;
mod fixed;
mod free;
mod multiplier;
pub mod network;
mod oracle;
mod repair;
mod tuning;

pub use super::setup::Bias;
pub(crate) use fixed::Fixed;
pub(crate) use free::solve as solve_free;
pub(crate) use multiplier::Multiplier;
pub use oracle::{Flow, Summary, best_without_features, flow};
pub(crate) use oracle::{mix, summary};
pub use repair::{centred, routing_of};
pub(crate) use repair::{comes_out_even, feasible};
