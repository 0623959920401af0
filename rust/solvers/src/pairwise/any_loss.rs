//! The losses by name, for callers who choose one at run time: the loops are compiled for each of them here.

use super::bcd;
use super::loss::{
    Hinge, Loss, OptimalMargin, SquaredHinge, ZeroLabelHinge, check_pairs, total_loss,
};
use super::parts::split::{self, Split, SplitAnswer};
use super::published::{self, Loop};
use super::request::{Answer, Request};
use super::scores::DenseScores;
use crate::error::{SolverError, check_size, refused};
use crate::labels::Labels;
use crate::parallel::threads::Threads;
use crate::report::Monitor;

/// A loss that the caller selects by name at run time.
#[derive(Clone, Copy, Debug)]
pub enum AnyLoss {
    /// The loss of Rank-SVM.
    Hinge(Hinge),
    /// The loss of Rank-CVM and Rank-LSVM.
    SquaredHinge(SquaredHinge),
    /// The loss of mlODM.
    OptimalMargin(OptimalMargin),
    /// The loss of Rank-SVMz.
    ZeroLabelHinge(ZeroLabelHinge),
}

/// The loops by name.
const SOLVERS: &str =
    "'bcd', 'dcd', (hinge only) 'frank-wolfe' or (optimal margin only) 'multiplicative'";

/// Runs code that is generic over the loss: `of_any!(any, |loss| run(loss))`. Together with `AnyLoss` this is the only list
/// of losses.
macro_rules! of_any {
    ($any:expr, |$loss:ident| $run:expr) => {
        match $any {
            AnyLoss::Hinge($loss) => $run,
            AnyLoss::SquaredHinge($loss) => $run,
            AnyLoss::OptimalMargin($loss) => $run,
            AnyLoss::ZeroLabelHinge($loss) => $run,
        }
    };
}
impl AnyLoss {
    /// The loss with this name; `theta` and `mu` are parameters of the optimal margin.
    ///
    /// # Errors
    /// When there is no such loss, or a parameter is out of range.
    pub fn new(name: &str, theta: f64, mu: f64) -> Result<Self, SolverError> {
        match name {
            "hinge" => Ok(Self::Hinge(Hinge)),
            "squared_hinge" => Ok(Self::SquaredHinge(SquaredHinge)),
            "optimal_margin" => Ok(Self::OptimalMargin(OptimalMargin::new(theta, mu)?)),
            "zero_label_hinge" => Ok(Self::ZeroLabelHinge(ZeroLabelHinge)),
            other => Err(refused(
                "loss",
                format!("{other:?}"),
                "'hinge', 'squared_hinge', 'optimal_margin' or 'zero_label_hinge'",
            )),
        }
    }

    /// The published loop with this solver name; `None` for that of the engine.
    ///
    /// # Errors
    /// When there is no such loop for the loss.
    pub fn published(self, solver: &str) -> Result<Option<Loop>, SolverError> {
        Ok(Some(match (solver, self) {
            ("bcd", _) => return Ok(None),
            ("dcd", any) => of_any!(any, |loss| published::dcd(loss)),
            ("frank-wolfe", Self::Hinge(_)) => published::frank_wolfe(),
            ("multiplicative", Self::OptimalMargin(loss)) => published::multiplicative(loss),
            _ => return Err(refused("solver", format!("{solver:?}"), SOLVERS)),
        }))
    }

    /// Whether the loss has a zero label.
    pub fn has_zero_label(self) -> bool {
        of_any!(self, |loss| has_zero_label(&loss))
    }

    /// [`Request::solve`] for the loss.
    ///
    /// # Errors
    /// When the parts of the request do not match.
    pub fn solve(
        self,
        request: Request<'_>,
        monitor: &mut dyn Monitor,
    ) -> Result<Answer, SolverError> {
        of_any!(self, |loss| request.solve(loss, monitor))
    }

    /// [`bcd::improve_part`] for the loss.
    ///
    /// # Errors
    /// When the sizes do not fit together, or a factor is out of range.
    pub fn improve_part<'a>(
        self,
        labels: &Labels,
        scores: &'a mut DenseScores<'a>,
        task: bcd::PartTask<'_>,
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> Result<Option<bcd::Answer>, SolverError> {
        of_any!(self, |loss| bcd::improve_part(
            labels, scores, loss, task, threads, monitor
        ))
    }

    /// [`split::split_part`] for the loss.
    ///
    /// # Errors
    /// When the sizes do not fit together, or a factor is out of range.
    pub fn split_part(
        self,
        labels: &Labels,
        scores: &mut DenseScores<'_>,
        common: Split<'_>,
        start: (Option<Vec<f64>>, Vec<f64>),
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> Result<Option<SplitAnswer>, SolverError> {
        of_any!(self, |loss| split::split_part(
            labels, scores, &loss, common, start, threads, monitor
        ))
    }

    /// `sum_i phi_i(s_i)` at the scores of all instances, `n x q`.
    ///
    /// # Errors
    /// When the labels do not have the pairs of the loss, or the scores are not `n x q`.
    pub fn total(self, labels: &Labels, scores: &[f64]) -> Result<f64, SolverError> {
        of_any!(self, |loss| total_loss(&loss, labels, scores))
    }

    /// The displacements `s - centre` of the proximal map of each instance's loss, with the centres as rows.
    ///
    /// # Errors
    /// When the labels do not have the pairs of the loss, or the centres are not `n x q`.
    pub fn prox(self, labels: &Labels, centre: &[f64], lam: f64) -> Result<Vec<f64>, SolverError> {
        of_any!(self, |loss| displacements(&loss, labels, centre, lam))
    }
}

fn has_zero_label<L: Loss>(_: &L) -> bool {
    L::ZERO_LABEL
}

fn displacements<L: Loss>(
    loss: &L,
    labels: &Labels,
    centre: &[f64],
    lam: f64,
) -> Result<Vec<f64>, SolverError> {
    check_pairs::<L>(labels)?;
    let q = labels.count();
    check_size("centre", centre.len(), labels.instances() * q)?;
    let (mut workspace, mut displacement) = (L::Workspace::default(), vec![0.0; centre.len()]);
    let (mut gathered, mut moved) = (vec![0.0; q], vec![0.0; q]);
    let rows = centre.chunks_exact(q).zip(displacement.chunks_exact_mut(q));
    for (i, (row, out)) in rows.enumerate().filter(|&(i, _)| labels.has_pairs(i)) {
        let known = labels.gather(i, row, &mut gathered);
        let moved = &mut moved[..known.len()];
        loss.prox(known, known, moved, labels.pairs_of(i), lam, &mut workspace);
        labels.scatter(i, moved, out);
    }
    Ok(displacement)
}
