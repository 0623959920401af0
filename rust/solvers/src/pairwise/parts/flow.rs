//! One part's work in the cheap repair of a point with a free bias (`bias::oracle`).

use crate::error::{SolverError, check_size};
use crate::labels::Labels;
use crate::linalg::vector::axpy;
use crate::memory;
use crate::pairwise::bcd::PartPoint;
use crate::pairwise::bias::{self, Flow, Summary};
use crate::pairwise::scores::{self, DenseScores};
use crate::parallel::threads::Threads;
use crate::report::Monitor;

/// The part's pairs within the bands of their labels; `None` when interrupted.
///
/// # Errors
/// When the sizes do not match.
pub fn pairs_near_margin(
    labels: &Labels,
    scores: &mut DenseScores<'_>,
    point: PartPoint<'_>,
    bands: &[f64],
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Result<Option<Summary>, SolverError> {
    check_size("bands", bands.len(), labels.count())?;
    let at = with_bias(labels, scores, point, threads)?;
    let (dual, diagonal) = (point.dual, scores.diagonal());
    Ok(bias::summary(
        labels, &at, dual, diagonal, bands, threads, monitor,
    ))
}

/// The part's dual rows mixed with the part's share of a flow.
///
/// # Errors
/// When the sizes do not fit together.
pub fn mixed_rows(
    labels: &Labels,
    scores: &mut DenseScores<'_>,
    point: PartPoint<'_>,
    flow: &Flow,
    threads: &Threads,
) -> Result<Vec<f64>, SolverError> {
    check_size("bands", flow.bands.len(), labels.count())?;
    check_size("prices", flow.prices.len(), labels.count())?;
    let at = with_bias(labels, scores, point, threads)?;
    let mut dual = memory::copied(point.dual);
    bias::mix(labels, &at, &mut dual, flow, threads);
    Ok(dual)
}

/// The scores at the point, with the bias.
fn with_bias(
    labels: &Labels,
    scores: &mut DenseScores<'_>,
    point: PartPoint<'_>,
    threads: &Threads,
) -> Result<Vec<f64>, SolverError> {
    point.place(labels, scores)?;
    let mut all = scores::all(scores, threads);
    let rows = all.chunks_exact_mut(labels.count());
    rows.for_each(|row| axpy(1.0, point.offset, row));
    Ok(all)
}
