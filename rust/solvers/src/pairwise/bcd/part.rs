//! One part's share of a fit whose rows are divided among many machines (CoCoA+, Smith et al. 2018).
//!
//! All parts have the linear model `W = sum_p X_p^T B_p`; each keeps its rows and its dual rows `B_p`. A part improves
//! its own rows by
//!
//! ```text
//! max over Delta   sum_i [ D_i(beta_i + delta_i) - <delta_i, W^T x_i + b> ] - growth/2 ( ||X_p^T Delta||^2 + sigma ||sum_i delta_i||^2 )
//! ```
//!
//! where `growth` allows for the moves of the other parts: if `growth` is the number of parts, the sum of all moves gains at
//! least as much as the parts expect. To the engine this is the kernel `growth (K + sigma)` with scores that start at those
//! of `W` and `b`.

use super::{Engine, Epoch, Iterate, Proximal};
use crate::error::{SolverError, check_size, refused};
use crate::labels::Labels;
use crate::pairwise::loss::{Loss, check_pairs};
use crate::pairwise::scores::{DenseScores, Scaled, Scores};
use crate::parallel::threads::Threads;
use crate::report::{Monitor, Settings};

/// The common point at which a part starts.
#[derive(Clone, Copy, Debug)]
pub struct Common<'a> {
    /// `W`, `d x q` row-major.
    pub weights: &'a [f64],
    /// The bias `b`, one a label.
    pub offset: &'a [f64],
    /// Curvature `sigma` of the bias: 1 if it is penalized, 0 without a bias.
    pub sigma: f64,
    /// Factor of the curvature.
    pub growth: f64,
}

impl Common<'_> {
    fn check(&self) -> Result<(), SolverError> {
        let in_range = self.growth > 0.0 && self.sigma >= 0.0;
        if in_range && (self.growth + self.sigma).is_finite() {
            return Ok(());
        }
        Err(refused(
            "growth or sigma",
            format!("{} or {}", self.growth, self.sigma),
            "a positive number and one that is not negative",
        ))
    }
}

/// A part's dual rows at a common point.
#[derive(Clone, Copy, Debug)]
pub struct PartPoint<'a> {
    /// `B_p`, `n x q` row-major.
    pub dual: &'a [f64],
    /// `W`, `d x q` row-major.
    pub weights: &'a [f64],
    /// The bias in the scores, one a label.
    pub offset: &'a [f64],
}

impl PartPoint<'_> {
    /// Gives the scores the common weights.
    ///
    /// # Errors
    /// When the sizes do not fit together.
    pub fn place(&self, labels: &Labels, scores: &mut DenseScores<'_>) -> Result<(), SolverError> {
        let (n, q) = (labels.instances(), labels.count());
        check_size("Y", n, scores.diagonal().len())?;
        check_size("dual", self.dual.len(), n * q)?;
        check_size("weights", self.weights.len(), scores.state().len())?;
        check_size("offset", self.offset.len(), q)?;
        scores.state().copy_from_slice(self.weights);
        Ok(())
    }
}

/// A part's dual rows and their dual terms.
#[derive(Clone, Debug)]
pub struct PartState {
    /// `B_p`, `n x q` row-major.
    pub dual: Vec<f64>,
    /// `D_i` of every instance, or lower bounds; `None` while unknown, until the rows have been visited.
    pub dual_terms: Option<Vec<f64>>,
}

/// The data that a part sends to the others.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The part's rows after the epoch.
    pub state: PartState,
    /// `X_p^T Delta`, `d x q` row-major.
    pub weights: Vec<f64>,
    /// `sum_i delta_i`
    pub sum: Vec<f64>,
    /// `sum_i phi_i` at the common point.
    pub loss: f64,
    /// The sum of the instances' terms of the duality gap at the common point.
    pub gap: f64,
    /// A bound on the rounding error of the difference of these sums.
    pub rounding: f64,
    /// `sum_i ||beta_i|| ||x_i||` at the common point: times `||W||`, a bound on the terms of `<B, X W>`.
    pub size: f64,
    /// Instances that the epoch visited.
    pub active: usize,
}

/// A part's share of a round.
#[derive(Clone, Debug)]
pub struct PartTask<'a> {
    /// The point at which the part starts.
    pub common: Common<'a>,
    /// The part's rows there.
    pub start: PartState,
    /// Instances whose gap terms are below their share of this are skipped.
    pub tolerated: f64,
    /// Epochs over the rows; with 0 they are only certified.
    pub epochs: usize,
    /// Settings of the engine.
    pub settings: Settings,
}

/// Certifies a part at the common point and improves its rows. `None` when interrupted.
///
/// # Errors
/// When the sizes do not match, or a factor is out of range.
pub fn improve_part<'a, L: Loss>(
    labels: &Labels,
    scores: &'a mut DenseScores<'a>,
    loss: L,
    task: PartTask<'_>,
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Result<Option<Answer>, SolverError> {
    let PartTask { common, start, .. } = task;
    common.check()?;
    check_pairs::<L>(labels)?;
    let mut scores = Scaled::new(scores, common.growth);
    let point = PartPoint {
        dual: &start.dual,
        weights: common.weights,
        offset: common.offset,
    };
    point.place(labels, &mut scores)?;
    if let Some(terms) = &start.dual_terms {
        check_size("dual_terms", terms.len(), labels.instances())?;
    }
    let sigma = common.growth * common.sigma;
    let PartState { dual, dual_terms } = start;
    let iterate = Iterate::new(labels, &mut scores, None, dual, sigma, threads);
    let mut engine = Engine::new(
        iterate.of_part(common.offset, dual_terms),
        Proximal::new(loss),
        &task.settings,
    );
    let Some(certificate) = engine.certify(monitor) else {
        return Ok(None);
    };
    let size = engine.iterate.size() / common.growth.sqrt();
    engine.choose_active(task.tolerated);
    let active = engine.active();
    for _ in 0..task.epochs {
        if engine.epoch(monitor) == Epoch::Interrupted {
            return Ok(None);
        }
    }
    let (dual, dual_terms, sum) = engine.iterate.into_parts();
    let mut weights = std::mem::take(scores.state());
    for (after, before) in weights.iter_mut().zip(common.weights) {
        *after = (*after - before) / common.growth;
    }
    Ok(Some(Answer {
        state: PartState { dual, dual_terms },
        weights,
        sum,
        loss: certificate.loss,
        gap: certificate.gap,
        rounding: certificate.rounding,
        size,
        active,
    }))
}
