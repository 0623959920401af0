//! The loops of multimargin: large-margin multi-label learning, with a certificate for every answer.
//!
//! | method | loss | scores | loop |
//! |---|---|---|---|
//! | Rank-SVM (Elisseeff & Weston 2001) | [`pairwise::loss::Hinge`] | any of [`pairwise::scores`], bias free, penalized or none | [`pairwise::bcd`], [`pairwise::dcd`], [`pairwise::frank_wolfe`] |
//! | Rank-SVMz (after Xu 2012) | [`pairwise::loss::ZeroLabelHinge`] | any, bias free, penalized or none | [`pairwise::bcd`], [`pairwise::dcd`] |
//! | Rank-LSVM (Xu 2016) | [`pairwise::loss::SquaredHinge`] | any, bias penalized | [`pairwise::bcd`], [`pairwise::dcd`] |
//! | Rank-CVM (Xu 2013) | [`pairwise::loss::SquaredHinge`], the solution divided by its sum | any, bias penalized | [`pairwise::bcd`]; as published: [`rank_cvm`] |
//! | mlODM (Tan et al. 2019) | [`pairwise::loss::OptimalMargin`] | any, no bias | [`pairwise::bcd`], [`pairwise::dcd`] |
//! | Rank-HLapSVM (Chen et al. 2009) | [`pairwise::loss::Hinge`] | linear on whitened features, or the kernel of eq. (27), no bias | [`pairwise::bcd`], [`pairwise::dcd`] |
//! | MLRL (Zhang & Yeung 2013) | hinge of each label | any kernel, coupled by a label covariance, bias free | [`mlrl`], on [`mlrl::smo`] |
//! | SSMLRL (Zhang & Yeung 2013) | as MLRL | the data-dependent kernel of eq. (22) | [`mlrl`] |
//! | LLSF (Huang et al. 2015) | squared error, l1 | features | [`llsf::descent`], [`llsf::admm`], [`llsf::apg`] |
//!
//! A pairwise method is a [`pairwise::loss::Loss`] (value and proximal map), a [`pairwise::scores::Scores`] (a kernel or linear features) and
//! the engine of [`pairwise::bcd`]; a further method is a row of this table. This crate does not depend on Python.

pub mod error;
pub mod kernel;
pub mod labels;
pub mod linalg;
pub mod llsf;
pub mod memory;
pub mod mlrl;
pub mod network;
pub mod pairwise;
pub mod parallel;
pub mod rank_cvm;
pub mod report;
