//! The squared hinge `1/2 max(0, 1 - z)^2` of Rank-CVM (Xu 2013, eq. (30)) and Rank-LSVM, with weights of the relevant labels
//! and pairs with the highest irrelevant labels alone where these are asked for.

use super::newton::{Margins, NewtonWorkspace};
use super::{Loss, Pairs};

/// The squared hinge `1/2 max(0, 1 - z)^2`.
#[derive(Clone, Copy, Debug, Default)]
pub struct SquaredHinge;

const MARGINS: Margins = Margins {
    theta: 0.0,
    mu: 0.0,
};

impl Loss for SquaredHinge {
    type Workspace = NewtonWorkspace;

    const FREE_WEIGHTS: bool = false;

    const WEIGHTS: bool = true;

    const TOP: bool = true;

    fn value(&self, scores: &[f64], pairs: Pairs<'_>, workspace: &mut NewtonWorkspace) -> f64 {
        workspace.value(MARGINS, scores, pairs)
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
        workspace.prox(MARGINS, centre, guess, displacement, pairs, lambda);
    }

    fn negative_slope(&self, margin: f64) -> f64 {
        (1.0 - margin).max(0.0)
    }
}
