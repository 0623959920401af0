//! The cheap repair of a point with a free bias whose rows are dealt to many machines ([`super::residual`]): what a part
//! does, and what is known from the sum over the parts.

use super::residual::{self, Carried, Flow, Network, Plan, Rows, STEPS};
use super::transport::At;
use crate::error::{SolverError, check_size};
use crate::labels::Labels;
use crate::linalg::vector::axpy;
use crate::pairwise::bcd::PartPoint;
use crate::pairwise::scores::DenseScores;
use crate::parallel::threads::Threads;
use crate::report::Monitor;

/// The band to begin with, for the sum of the dual rows and what all pairs weigh together.
pub fn residual_band(sum: &[f64], weight_of_pairs: f64) -> f64 {
    residual::first_band(&residual::demand_of(sum), weight_of_pairs)
}

/// What the part's pairs can carry between any two labels, by tail, head and step of costs; `None` when interrupted.
///
/// # Errors
/// When the sizes do not fit together.
pub fn residual_capacities<S: DenseScores>(
    labels: &Labels,
    scores: S,
    point: PartPoint<'_>,
    bands: &[f64],
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Result<Option<Vec<f64>>, SolverError> {
    check_size("bands", bands.len(), labels.count())?;
    let scores = common_scores(labels, scores, point, threads)?;
    let mut near = residual::nearest(labels);
    let at = at(labels, &scores, point);
    let network = residual::capacities(&at, bands, Rows::ALL, &mut near, threads, monitor);
    Ok(network.map(Network::into_capacities))
}

/// The prices at which the capacities of all parts within the bands carry what makes the dual rows sum to 0; `None` when
/// interrupted, or when no pairs can.
///
/// # Errors
/// When the sizes do not fit together.
pub fn residual_flow(
    sum: &[f64],
    bands: Vec<f64>,
    capacities: Vec<f64>,
    monitor: &mut dyn Monitor,
) -> Result<Option<Carried>, SolverError> {
    let q = sum.len();
    check_size("bands", bands.len(), q)?;
    check_size("capacities", capacities.len(), q * q * STEPS)?;
    let network = Network::of(q, residual::steps(&bands), capacities);
    let demand = residual::demand_of(sum);
    let lacking = residual::shortages(&demand, &network);
    Ok(residual::carried(&demand, bands, network, lacking, monitor))
}

/// The part's dual rows after their share of a flow; `None` when interrupted.
///
/// # Errors
/// When the sizes do not fit together.
pub fn residual_moves<S: DenseScores>(
    labels: &Labels,
    scores: S,
    point: PartPoint<'_>,
    flow: Flow,
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Result<Option<Vec<f64>>, SolverError> {
    let q = labels.count();
    check_size("bands", flow.bands.len(), q)?;
    check_size("prices", flow.prices.len(), q)?;
    let scores = common_scores(labels, scores, point, threads)?;
    let near = residual::nearest(labels);
    let mut plan = Plan {
        flow,
        rows: Rows::ALL,
        near,
    };
    let mut dual = point.dual.to_vec();
    let complete = plan.moves(
        &at(labels, &scores, point),
        threads,
        monitor,
        |i, change| {
            axpy(1.0, change, &mut dual[i * q..(i + 1) * q]);
        },
    );
    Ok(complete.then_some(dual))
}

/// The scores of the part's rows by the common weights.
fn common_scores<S: DenseScores>(
    labels: &Labels,
    mut scores: S,
    point: PartPoint<'_>,
    threads: &Threads,
) -> Result<Vec<f64>, SolverError> {
    point.place(labels, &mut scores)?;
    Ok(scores.all(threads))
}

fn at<'a>(labels: &'a Labels, scores: &'a [f64], point: PartPoint<'a>) -> At<'a> {
    At {
        labels,
        dual: point.dual,
        scores,
        bias: point.offset,
        // The steps of the rounds mix.
        mixtures: true,
    }
}
