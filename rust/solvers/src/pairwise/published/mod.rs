//! The loops as published: steps of one pair ([`mod@dcd`]) and multiplicative ones of one instance ([`mod@multiplicative`]) in the
//! engine's loop, and the method of Frank and Wolfe for Rank-SVM ([`mod@frank_wolfe`]) and for Rank-CVM ([`rank_cvm`]). The
//! first one is available for every [`PairLoss`].

mod circulation;
pub mod dcd;
pub mod frank_wolfe;
pub mod multiplicative;
pub mod rank_cvm;

pub use dcd::PairLoss;

use super::loss::OptimalMargin;
use super::scores::DenseScores;
use super::setup::{Setup, Solution};
use super::solve::solve;
use crate::error::SolverError;
use crate::labels::Labels;
use crate::report::Monitor;
use dcd::OnePair;
use multiplicative::Multiplicative;

/// A loop on dense scores.
pub type Loop = Box<
    dyn FnOnce(
            &Labels,
            &mut DenseScores<'_>,
            Setup,
            &mut dyn Monitor,
        ) -> Result<Solution, SolverError>
        + Send,
>;

/// Steps of one pair.
pub fn dcd(loss: impl PairLoss + 'static) -> Loop {
    Box::new(|labels, scores, setup, monitor| {
        solve(labels, scores, OnePair::new(loss, labels)?, setup, monitor)
    })
}

/// The steps of one instance of mlODM.
pub fn multiplicative(loss: OptimalMargin) -> Loop {
    Box::new(move |labels, scores, setup, monitor| {
        solve(labels, scores, Multiplicative::new(loss), setup, monitor)
    })
}

/// The loop of Rank-SVM.
pub fn frank_wolfe() -> Loop {
    Box::new(frank_wolfe::solve)
}
