//! The loops of multimargin: large-margin multi-label learning, with a certificate for every answer.
//!
//! | method | loss | scores | loop |
//! |---|---|---|---|
//! | Rank-SVM (Elisseeff & Weston 2001) | [`pairwise::loss::Hinge`] | any of [`pairwise::scores`], bias free, penalized or none | [`pairwise::solve`] with blocks ([`pairwise::bcd`]) or, as published, pairs; [`pairwise::published::frank_wolfe()`] |
//! | Rank-SVMz (after Xu 2012) | [`pairwise::loss::ZeroLabelHinge`] | any, bias free, penalized or none | [`pairwise::solve`] |
//! | Rank-LSVM (Xu 2016) | [`pairwise::loss::SquaredHinge`] | any, bias penalized | [`pairwise::solve`] |
//! | Rank-CVM (Xu 2013) | [`pairwise::loss::SquaredHinge`], the solution divided by its sum | any, bias penalized | [`pairwise::solve`]; as published: [`pairwise::published::rank_cvm`] |
//! | mlODM (Tan et al. 2019) | [`pairwise::loss::OptimalMargin`] | any, no bias | [`pairwise::solve`] |
//! | Rank-HLapSVM (Chen et al. 2009) | [`pairwise::loss::Hinge`] | whitened features, or sparse ones under a metric, no bias | [`pairwise::solve`] |
//! | MLRL (Zhang & Yeung 2013) | hinge of each label | any kernel, coupled by a label covariance, bias free | [`mlrl::splitting`], as published: [`mlrl::alternating`]; a given covariance: [`mlrl::fixed`]; all on [`mlrl::smo`] |
//! | SSMLRL (Zhang & Yeung 2013) | as MLRL | the data-dependent kernel of eq. (22) | as MLRL |
//! | LLSF (Huang et al. 2015) | squared error, l1 | features | [`llsf::Solver`] |
//!
//! A pairwise method is a [`pairwise::loss::Loss`] (value and proximal map), a [`pairwise::scores::Scores`] (a kernel or
//! linear features), a rule for the bias ([`pairwise::bias`]) and the one loop around them; a further method is a row of
//! this table. [`pairwise::request`] chooses scores and loop for a problem as a caller states it.
//! [`report::Objectives::verdict`] decides with which status a loop ends. This crate does not depend on Python.

pub(crate) mod anderson;
pub mod error;
pub mod kernel;
pub mod labels;
pub mod linalg;
pub mod llsf;
pub mod memory;
pub mod mlrl;
mod movements;
pub mod pairwise;
pub mod parallel;
pub mod report;
pub mod tuning;
