//! The optimal margin distribution loss of mlODM (Tan et al. 2019, eq. (15)): value by two searches per irrelevant
//! label, proximal map by the Newton method of `newton.rs`.

use super::newton::{Margins, NewtonWorkspace};
use super::squared_hinge::Moments;
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
        let Margins { theta, mu } = self.margins;
        let (positive, negative) = scores.split_at(pairs.relevant);
        let NewtonWorkspace {
            sorted,
            below,
            above,
            ..
        } = workspace;
        sorted.clear();
        sorted.extend((0..).zip(positive).map(|(m, s)| (s - 1.0, pairs.weight(m))));
        sorted.sort_unstable_by(|x, y| x.0.total_cmp(&y.0));
        let mut moments = Moments::default();
        below.clear();
        below.push(moments);
        for &(a, weight) in sorted.iter() {
            moments = moments.and(a, weight);
            below.push(moments);
        }
        moments = Moments::default();
        above.clear();
        above.push(moments);
        for &(a, weight) in sorted.iter().rev() {
            moments = moments.and(a, weight);
            above.push(moments);
        }
        let of_label = |&y: &f64| {
            let near = sorted.partition_point(|&(a, _)| a < y - theta);
            let far = sorted.len() - sorted.partition_point(|&(a, _)| a <= y + theta);
            below[near].squared_distances(y - theta) + mu * above[far].squared_distances(y + theta)
        };
        0.5 * negative.iter().map(of_label).sum::<f64>()
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
        workspace.prox(self.margins, centre, guess, displacement, pairs, lambda);
    }

    fn negative_slope(&self, margin: f64) -> f64 {
        let Margins { theta, mu } = self.margins;
        (1.0 - theta - margin).max(0.0) - mu * (margin - 1.0 - theta).max(0.0)
    }
}
