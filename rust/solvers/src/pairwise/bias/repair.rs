//! The repair of a point with a free bias: a nearby feasible dual matrix whose rows sum to zero, so that its dual value
//! bounds the problem.
//!
//! * Let `C_ml = sum of c_i` over the instances with `m` relevant and `l` irrelevant (`c_i w_m` where labels have weights,
//!   and so much less that all pairs may have it at once where only the highest irrelevant labels count). Route `-g` times as
//!   much as possible, `t`, through the network of the labels, where the share of `C_ml` that flows is in proportion to a
//!   difference of prices `p_m - p_l`, and give each pair that share of its `c_i`: that is a `B_0` with `sum beta_0i = -t g`,
//!   feasible for the hinge.
//! * With `eps = 1/(1 + t)`, `B' = (1 - eps) B + eps B_0` is feasible and `sum beta'_i = 0`.

use super::network::priced;
use crate::labels::Labels;
use crate::linalg::vector::mean;
use crate::memory::{self, Purpose};
use crate::pairwise::loss::{Hinge, HingeWorkspace, Loss};
use crate::report::Monitor;

/// The sum of the rows relative to the sum of their sizes, up to which it is rounding.
const UNEVEN: f64 = 1e-9;

/// `C_ml`, the capacities of the labels' network, `q x q` row-major; `None` when interrupted.
pub(super) fn capacities(labels: &Labels, monitor: &mut dyn Monitor) -> Option<Vec<f64>> {
    let q = labels.count();
    let mut capacities = memory::zeros_for(q.saturating_mul(q), Purpose::LabelNetwork);
    for i in 0..labels.instances() {
        if monitor.poll().is_interrupted() {
            return None;
        }
        let share = labels.share_of_pairs(i);
        labels.each_pair(i, |m, l, weight| capacities[m * q + l] += share * weight);
    }
    Some(capacities)
}

/// A routing of a multiple of the rows' sum, given by its prices.
#[derive(Clone, Debug)]
pub struct Routing {
    /// The share `eps` of the mixture.
    pub share: f64,
    /// In the mixture, the share of its weight that a pair gains is the difference of its labels' prices.
    pub prices: Vec<f64>,
}

/// A routing of a multiple of `-g`, for `g = sum_i beta_i` and the capacities `C_ml`, `q x q` row-major; `None` when
/// interrupted or if `g` cannot be routed.
pub fn routing_of(sum: &[f64], capacity: &[f64], monitor: &mut dyn Monitor) -> Option<Routing> {
    let q = sum.len();
    let arcs = || (0..q * q).map(|arc| (arc / q, arc % q, capacity[arc]));
    let demand: Vec<f64> = sum.iter().map(|g| -g).collect();
    let mut scale = vec![0.0; q];
    for (m, l, capacity) in arcs() {
        scale[m] += capacity;
        scale[l] += capacity;
    }
    let carried = |m, l, difference| {
        let slope = capacity[m * q + l];
        (slope * difference, slope)
    };
    let start = vec![0.0; q];
    let found = priced(&demand, &scale, &start, &carried, &mut || {
        monitor.poll().is_interrupted()
    })?;
    let prices = found.ok()?;
    let fullest = arcs()
        .filter(|arc| arc.2 > 0.0)
        .fold(0.0, |most: f64, (m, l, _)| most.max(prices[m] - prices[l]));
    // The flow is t times the demand for t = 1 / fullest.
    let prices = prices.iter().map(|price| price / (1.0 + fullest));
    Some(Routing {
        share: fullest / (1.0 + fullest),
        prices: prices.collect(),
    })
}

/// The dual matrix moved to `sum_i beta_i = 0`; `None` when interrupted, or if `g` cannot be routed with a share of the
/// mixture of at most `most`.
pub(super) fn repaired(
    labels: &Labels,
    capacity: &[f64],
    dual: &[f64],
    sum: &[f64],
    most: f64,
    monitor: &mut dyn Monitor,
) -> Option<Vec<f64>> {
    let routing = routing_of(sum, capacity, monitor)?;
    if routing.share > most {
        return None;
    }
    let mut repaired = memory::copied(dual);
    for (i, row) in repaired.chunks_exact_mut(labels.count()).enumerate() {
        row.iter_mut().for_each(|beta| *beta *= 1.0 - routing.share);
        let share = labels.share_of_pairs(i);
        labels.each_pair(i, |m, l, weight| {
            let more = (routing.prices[m] - routing.prices[l]).max(0.0) * share * weight;
            row[m] += more;
            row[l] -= more;
        });
    }
    Some(repaired)
}

/// Whether the rows sum to 0 up to rounding: otherwise the dual value is no bound.
pub(crate) fn comes_out_even(dual: &[f64], q: usize) -> bool {
    let (mut sum, mut size) = (vec![0.0; q], 0.0);
    for row in dual.chunks_exact(q) {
        for (sum, beta) in sum.iter_mut().zip(row) {
            *sum += beta;
            size += beta.abs();
        }
    }
    sum.iter().map(|g| g.abs()).sum::<f64>() <= UNEVEN * size
}

/// A start for a hinge problem, with each row projected onto the feasible set.
pub(crate) fn feasible(labels: &Labels, mut start: Vec<f64>) -> Vec<f64> {
    let q = labels.count();
    if start.len() != labels.instances() * q {
        return start;
    }
    let (mut gathered, mut nearest) = (vec![0.0; q], vec![0.0; q]);
    let mut workspace = HingeWorkspace::default();
    for (i, row) in start.chunks_exact_mut(q).enumerate() {
        if !labels.has_pairs(i) {
            continue;
        }
        // Without the margin, the proximal map is a projection (Moreau), here onto the set for a weight of 1.
        let (pairs, weight) = (labels.pairs_of(i), labels.weight(i));
        let centre = labels.gather(i, row, &mut gathered);
        centre.iter_mut().for_each(|beta| *beta /= -weight);
        centre[..pairs.relevant]
            .iter_mut()
            .for_each(|beta| *beta += 1.0);
        let nearest = &mut nearest[..centre.len()];
        Hinge.prox(centre, centre, nearest, pairs, 1.0, &mut workspace);
        nearest.iter_mut().for_each(|beta| *beta *= weight);
        labels.scatter(i, nearest, row);
    }
    start
}

/// Subtracts the mean: a constant added to all biases changes nothing.
pub fn centred(mut bias: Vec<f64>) -> Vec<f64> {
    let mean = mean(&bias);
    bias.iter_mut().for_each(|b| *b -= mean);
    bias
}
