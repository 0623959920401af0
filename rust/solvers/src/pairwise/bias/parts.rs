//! The cheap repair of a point with a free bias whose rows are dealt to many machines ([`super::oracle`]): what a part
//! does, and what is known from the sums over the parts.

use super::margins::At;
use super::oracle::{self, Carried, Flow, Network, STEPS, Summary};
use super::repair::centred;
use crate::error::{SolverError, check_size};
use crate::labels::Labels;
use crate::pairwise::bcd::PartPoint;
use crate::pairwise::scores::DenseScores;
use crate::parallel::threads::Threads;
use crate::report::Monitor;

pub use oracle::first_band;

/// What a part knows of its pairs within some bands; the sums over the parts are known of all.
#[derive(Clone, Debug)]
pub struct PartSummary {
    /// What they weigh, by tail, head and step of costs.
    pub capacities: Vec<f64>,
    /// The sum of the best dual rows.
    pub sum: Vec<f64>,
    /// How far these are from the part's, squared and weighted by the diagonal of the kernel.
    pub distance: f64,
}

/// The part's pairs within the bands of their labels; `None` when interrupted.
///
/// # Errors
/// When the sizes do not fit together.
pub fn pairs_near_margin<S: DenseScores>(
    labels: &Labels,
    mut scores: S,
    point: PartPoint<'_>,
    bands: &[f64],
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Result<Option<PartSummary>, SolverError> {
    check_size("bands", bands.len(), labels.count())?;
    point.place(labels, &mut scores)?;
    let all = scores.all(threads);
    let at = at(labels, &all, point, scores.diagonal());
    let mut dual = point.dual.to_vec();
    let found = oracle::summary(&at, &mut dual, bands, threads, monitor);
    Ok(found.map(|found| PartSummary {
        capacities: found.network.into_capacities(),
        sum: found.sum,
        distance: found.distance,
    }))
}

/// The flow that makes the dual rows, which sum to `g`, sum to 0 by what is known of all pairs within the bands, where it
/// may lose what is `negligible`; `None` when interrupted, or when no pairs can carry it.
///
/// # Errors
/// When the sizes do not fit together.
pub fn flow_of_parts(
    sum: &[f64],
    bands: Vec<f64>,
    all: PartSummary,
    negligible: f64,
    monitor: &mut dyn Monitor,
) -> Result<Option<Carried>, SolverError> {
    let q = sum.len();
    check_size("bands", bands.len(), q)?;
    check_size("sum of the best rows", all.sum.len(), q)?;
    check_size("capacities", all.capacities.len(), q * q * STEPS)?;
    let summary = Summary {
        network: Network::of(q, oracle::steps(&bands), all.capacities),
        sum: centred(all.sum),
        distance: all.distance,
    };
    let sum = centred(sum.to_vec());
    Ok(oracle::carried(&sum, bands, summary, negligible, monitor))
}

/// The part's dual rows mixed with their share of a flow; `None` when interrupted.
///
/// # Errors
/// When the sizes do not fit together.
pub fn mixed_rows<S: DenseScores>(
    labels: &Labels,
    mut scores: S,
    point: PartPoint<'_>,
    flow: &Flow,
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Result<Option<Vec<f64>>, SolverError> {
    check_size("bands", flow.bands.len(), labels.count())?;
    check_size("prices", flow.prices.len(), labels.count())?;
    point.place(labels, &mut scores)?;
    let all = scores.all(threads);
    let mut dual = point.dual.to_vec();
    let at = at(labels, &all, point, scores.diagonal());
    let complete = oracle::mix(&at, &mut dual, flow, threads, monitor);
    Ok(complete.then_some(dual))
}

fn at<'a>(
    labels: &'a Labels,
    scores: &'a [f64],
    point: PartPoint<'a>,
    diagonal: &'a [f64],
) -> At<'a> {
    At {
        labels,
        scores,
        bias: point.offset,
        diagonal,
    }
}
