//! The loops of multimargin: large-margin multi-label learning, with a certificate for every answer.
//!
//! | method | loss | scores | loop |
//! |---|---|---|---|
//! | Rank-SVM (Elisseeff & Weston) | [`loss::Hinge`] | any of [`scores`], bias free, penalized or none | [`bcd`], [`dcd`], [`frank_wolfe`] |
//! | LLSF | squared error, l1 | features | [`llsf::descent`], [`llsf::apg`] |
//!
//! A pairwise method is a [`loss::Loss`] (value and proximal map), a [`scores::Scores`] (a kernel or linear features) and
//! the engine of [`bcd`]; a further method is a row of this table. This crate knows nothing of Python.

mod acceleration;
pub mod bcd;
pub mod circulation;
pub mod dcd;
pub mod features;
pub mod frank_wolfe;
pub mod free_bias;
pub mod gram;
pub mod labels;
pub mod llsf;
pub mod loss;
pub mod matmul;
pub mod report;
pub mod routing;
pub mod scores;
pub mod threads;
pub mod vector;
