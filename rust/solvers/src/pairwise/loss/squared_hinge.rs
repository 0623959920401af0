//! The squared hinge `1/2 max(0, 1 - z)^2` of Rank-CVM (Xu 2013, eq. (30)) and Rank-LSVM, optionally with weights of the
//! relevant labels and with pairs restricted to the highest irrelevant labels.

use super::newton::NewtonWorkspace;
use super::{Loss, OptimalMargin, Pairs};

/// The squared hinge `1/2 max(0, 1 - z)^2`.
#[derive(Clone, Copy, Debug, Default)]
pub struct SquaredHinge;

impl Loss for SquaredHinge {
    type Workspace = NewtonWorkspace;

    const FREE_WEIGHTS: bool = false;

    const WEIGHTS: bool = true;

    const TOP: bool = true;

    fn of_margin(&self, margin: f64) -> f64 {
        0.5 * (1.0 - margin).max(0.0).powi(2)
    }

    fn prox(
        &self,
        centre: &[f64],
        guess: &[f64],
        displacement: &mut [f64],
        pairs: Pairs<'_>,
        lambda: f64,
        workspace: &mut NewtonWorkspace,
    ) {
        workspace.prox(
            OptimalMargin::default(),
            centre,
            guess,
            displacement,
            pairs,
            lambda,
        );
    }

    fn negative_slope(&self, margin: f64) -> f64 {
        (1.0 - margin).max(0.0)
    }
}
