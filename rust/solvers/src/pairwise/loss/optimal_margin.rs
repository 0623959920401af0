//! The optimal margin distribution loss of mlODM (Tan et al. 2019, eq. (15)).

use super::newton::{Margins, NewtonWorkspace};
use super::{Loss, Pairs};
use crate::error::{SolverError, refused};

/// The loss `1/2 [max(0, 1 - theta - z)^2 + mu max(0, z - 1 - theta)^2]`: margins are drawn to 1, from above with the
/// weight `mu` only, and not at all within `theta`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OptimalMargin {
    margins: Margins,
}

impl OptimalMargin {
    /// The loss with tolerance `0 <= theta < 1` and weight `0 < mu <= 1`.
    ///
    /// # Errors
    /// When one of them is out of its range.
    pub fn new(theta: f64, mu: f64) -> Result<Self, SolverError> {
        if !(0.0..1.0).contains(&theta) {
            return Err(refused("theta", theta, "0 <= theta < 1"));
        }
        if !(mu > 0.0 && mu <= 1.0) {
            return Err(refused("mu", mu, "0 < mu <= 1"));
        }
        Ok(Self {
            margins: Margins { theta, mu },
        })
    }

    /// Margins within `theta` of 1 cost nothing.
    pub fn theta(&self) -> f64 {
        self.margins.theta
    }

    /// Weight of margins that are too large.
    pub fn mu(&self) -> f64 {
        self.margins.mu
    }
}

impl Loss for OptimalMargin {
    type Workspace = NewtonWorkspace;

    const WEIGHTS: bool = true;

    fn value(&self, scores: &[f64], pairs: Pairs<'_>, workspace: &mut NewtonWorkspace) -> f64 {
        workspace.value(self.margins, scores, pairs)
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
        if !pairs.weights.is_empty() || centre.len() - pairs.relevant >= pairs.relevant {
            workspace.prox(self.margins, centre, guess, displacement, pairs, lambda);
            return;
        }
        // The time grows with the cube of the number of relevant labels: both sides change places.
        let mirrored = |scores: &[f64]| -> Vec<f64> { scores.iter().rev().map(|s| -s).collect() };
        let (centre, guess) = (mirrored(centre), mirrored(guess));
        let pairs = Pairs::all(centre.len() - pairs.relevant);
        workspace.prox(self.margins, &centre, &guess, displacement, pairs, lambda);
        displacement.reverse();
        displacement.iter_mut().for_each(|moved| *moved = -*moved);
    }

    fn negative_slope(&self, margin: f64) -> f64 {
        let Margins { theta, mu } = self.margins;
        (1.0 - theta - margin).max(0.0) - mu * (margin - 1.0 - theta).max(0.0)
    }
}
