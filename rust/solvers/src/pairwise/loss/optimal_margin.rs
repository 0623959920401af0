//! The optimal margin distribution loss of mlODM (Tan et al. 2019, eq. (15)).

use super::newton::NewtonWorkspace;
use super::{Loss, Pairs};
use crate::error::{SolverError, refused};

/// The loss `1/2 [max(0, 1 - theta - z)^2 + mu max(0, z - 1 - theta)^2]`: margins are pulled towards 1, from above only with
/// the weight `mu`, and not at all within `theta`. The default, `theta = mu = 0`, is the squared hinge.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OptimalMargin {
    theta: f64,
    mu: f64,
}

impl OptimalMargin {
    /// The loss with tolerance `0 <= theta < 1` and weight `0 < mu <= 1`.
    ///
    /// # Errors
    /// When one of them is out of range.
    pub fn new(theta: f64, mu: f64) -> Result<Self, SolverError> {
        if !(0.0..1.0).contains(&theta) {
            return Err(refused("theta", theta, "0 <= theta < 1"));
        }
        if !(mu > 0.0 && mu <= 1.0) {
            return Err(refused("mu", mu, "0 < mu <= 1"));
        }
        Ok(Self { theta, mu })
    }

    /// Margins within `theta` of 1 cost nothing.
    pub fn theta(&self) -> f64 {
        self.theta
    }

    /// Weight of margins that are too large.
    pub fn mu(&self) -> f64 {
        self.mu
    }
}

impl Loss for OptimalMargin {
    type Workspace = NewtonWorkspace;

    const WEIGHTS: bool = true;

    fn of_margin(&self, margin: f64) -> f64 {
        let Self { theta, mu } = *self;
        let (below, above) = (
            (1.0 - theta - margin).max(0.0),
            (margin - 1.0 - theta).max(0.0),
        );
        0.5 * (below * below + mu * above * above)
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
        workspace.prox(*self, centre, guess, displacement, pairs, lambda);
    }

    fn work(&self, pairs: Pairs<'_>, labels: usize) -> usize {
        // Each step of Newton's method eliminates the smaller side.
        let few = pairs.relevant.min(labels.saturating_sub(pairs.relevant));
        few.saturating_mul(few).saturating_mul(few) / 3 + labels
    }

    fn negative_slope(&self, margin: f64) -> f64 {
        let Self { theta, mu } = *self;
        (1.0 - theta - margin).max(0.0) - mu * (margin - 1.0 - theta).max(0.0)
    }
}
