//! The loops of multimargin: large-margin multi-label learning, with a certificate for every answer.
//!
//! | method | loss | scores | loop |
//! |---|---|---|---|
//! | Rank-SVM (Elisseeff & Weston 2001) | [`loss::Hinge`] | any of [`scores`], bias free, penalized or none | [`bcd`], [`dcd`], [`frank_wolfe`] |
//! | Rank-LSVM (Xu 2016) | [`loss::SquaredHinge`] | any, bias penalized | [`bcd`], [`dcd`] |
//! | Rank-CVM (Xu 2013) | [`loss::SquaredHinge`], the solution divided by its sum | any, bias penalized | [`bcd`]; as published: [`simplex_frank_wolfe`] |
//! | mlODM (Tan et al. 2019) | [`loss::OptimalMargin`] | any, no bias | [`bcd`], [`dcd`] |
//! | Rank-HLapSVM (Chen et al. 2009) | [`loss::Hinge`] | linear on whitened features, or the kernel of eq. (27), no bias | [`bcd`], [`dcd`] |
//! | MLRL (Zhang & Yeung 2013) | hinge of each label | any kernel, coupled by a label covariance, bias free | [`mlrl`], on [`smo`] |
//! | SSMLRL (Zhang & Yeung 2013) | as MLRL | the data-dependent kernel of eq. (22) | [`mlrl`] |
//! | LLSF (Huang et al. 2015) | squared error, l1 | features | [`llsf::descent`], [`llsf::admm`], [`llsf::apg`] |
//!
//! A pairwise method is a [`loss::Loss`] (value and proximal map), a [`scores::Scores`] (a kernel or linear features) and
//! the engine of [`bcd`]; a further method is a row of this table. This crate does not depend on Python.

mod acceleration;
pub mod bcd;
pub mod circulation;
pub mod columns;
pub mod dcd;
pub mod features;
pub mod frank_wolfe;
pub mod free_bias;
pub mod gram;
pub mod kernel_rows;
pub mod labels;
pub mod llsf;
pub mod loss;
pub mod matmul;
pub mod memory;
pub mod mlrl;
mod proximal_newton;
pub mod report;
pub mod routing;
pub mod scores;
pub mod simplex_frank_wolfe;
pub mod smo;
mod team;
pub mod threads;
pub mod vector;
