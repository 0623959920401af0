//! The repair of a point with a free bias: a feasible dual matrix near by whose rows sum to zero, so that its dual value
//! bounds the problem.
//!
//! * Let `C_ml = sum of c_i` over the instances with `m` relevant and `l` irrelevant (`c_i w_m` where labels have weights,
//!   and so much less that all pairs may have it at once where only the highest irrelevant labels count). Route `-g` times as much as
//!   possible, `t`, through the network of the labels with capacities `C_ml`, and share the flow of each arc among
//!   its instances in proportion to `c_i`: that is a `B_0` with `sum beta_0i = -t g`, feasible for the hinge.
//! * With `eps = 1/(1 + t)`, `B' = (1 - eps) B + eps B_0` is feasible and `sum beta'_i = 0`.

use crate::labels::Labels;
use crate::linalg::vector::mean;
use crate::memory;
use crate::network::routing::{Routing, largest_routing};
use crate::pairwise::loss::{Hinge, HingeWorkspace, Loss, Pairs};
use crate::report::Monitor;

/// A start may leave the feasible set by this share of an instance's weights: rounding.
const SLACK: f64 = 1e-12;

/// What may be left of the sum of the rows, as a share of the sum of their sizes: rounding.
const UNEVEN: f64 = 1e-9;

/// Routings beyond this multiple repair nothing that a double can hold.
const LARGEST_ROUTING: f64 = 1e15;

/// `C_ml`, the capacities of the labels' network, `q x q` row-major.
pub(super) fn capacities(labels: &Labels) -> Vec<f64> {
    let q = labels.count();
    // Counting decides which capacities are zero: differences of sums of floats would not be.
    let (mut counts, mut weights) = (
        memory::filled(0_i64, q.saturating_mul(q)),
        memory::matrix::<f64>(q, q),
    );
    if labels.has_zero_label() {
        return capacities_with_zero_label(labels);
    }
    let (mut count, mut weight) = (vec![0_i64; q], vec![0.0; q]);
    for i in (0..labels.instances()).filter(|&i| labels.has_pairs(i)) {
        let share = labels.share_of_pairs(i);
        for &m in labels.relevant(i) {
            let own = share * labels.pair_weight(i, m);
            count[m as usize] += 1;
            weight[m as usize] += own;
            for &l in labels.relevant(i) {
                counts[m as usize * q + l as usize] += 1;
                weights[m as usize * q + l as usize] += own;
            }
            for &l in labels.unknown(i) {
                counts[m as usize * q + l as usize] += 1;
                weights[m as usize * q + l as usize] += own;
            }
        }
    }
    for m in 0..q {
        for l in 0..q {
            let index = m * q + l;
            weights[index] = if count[m] > counts[index] {
                (weight[m] - weights[index]).max(0.0)
            } else {
                0.0
            };
        }
    }
    weights
}

/// The capacities of a star: all pairs are with the zero label.
fn capacities_with_zero_label(labels: &Labels) -> Vec<f64> {
    let q = labels.count();
    let zero = q - 1;
    let mut weights = memory::matrix(q, q);
    for i in (0..labels.instances()).filter(|&i| labels.has_pairs(i)) {
        for &m in labels.relevant(i) {
            weights[m as usize * q + zero] += labels.pair_weight(i, m);
        }
        for n in labels.irrelevant(i).filter(|&n| n != zero) {
            weights[zero * q + n] += labels.weight(i);
        }
    }
    weights
}

/// Adds `eps B_0` to `B`, where `B_0` shares the flow among the instances, and returns the new dual terms.
fn add_flow(labels: &Labels, capacity: &[f64], flow: &[f64], eps: f64, dual: &mut [f64]) {
    let q = labels.count();
    let arcs: Vec<Vec<(usize, f64)>> = (0..q)
        .map(|m| {
            (0..q)
                .filter(|&l| flow[m * q + l] > 0.0 && capacity[m * q + l] > 0.0)
                .map(|l| (l, eps * flow[m * q + l] / capacity[m * q + l]))
                .collect()
        })
        .collect();
    // Relevant or unknown: no arc leads there.
    let mut is_excluded = vec![false; q];
    for (i, row) in dual.chunks_exact_mut(q).enumerate() {
        if !labels.has_pairs(i) {
            continue;
        }
        let relevant = labels.relevant(i);
        let excluded = || relevant.iter().chain(labels.unknown(i));
        excluded().for_each(|&m| is_excluded[m as usize] = true);
        // The zero label, which is never relevant, has arcs to the irrelevant labels.
        let zero = labels.has_zero_label().then_some(q as u32 - 1);
        let spent = labels.share_of_pairs(i);
        for &m in relevant.iter().chain(&zero) {
            let own = spent * labels.pair_weight(i, m);
            for &(l, share) in &arcs[m as usize] {
                if !is_excluded[l] {
                    row[m as usize] += share * own;
                    row[l] -= share * own;
                }
            }
        }
        excluded().for_each(|&m| is_excluded[m as usize] = false);
    }
}

/// The largest multiple of `-g` that the network of the labels can carry, and its flow, for `g = sum_i beta_i` and the
/// capacities `C_ml`, `q x q` row-major; `None` when interrupted or when `g` cannot be routed.
pub fn routing_of(sum: &[f64], capacity: &[f64], monitor: &mut dyn Monitor) -> Option<Routing> {
    // Each block sums to 0, so g does but for rounding.
    let demand = centred(sum.iter().map(|g| -g).collect());
    let mut interrupted = || monitor.interrupted();
    let routing = largest_routing(&demand, capacity, LARGEST_ROUTING, &mut interrupted)?;
    (routing.scale > 0.0).then_some(routing)
}

/// The dual matrix moved to `sum_i beta_i = 0`; `None` when interrupted, or when `g` cannot be routed with a share of the
/// mixture of at most `most`.
pub(super) fn repaired(
    labels: &Labels,
    capacity: &[f64],
    dual: &[f64],
    sum: &[f64],
    most: f64,
    monitor: &mut dyn Monitor,
) -> Option<Vec<f64>> {
    let mut repaired = memory::copied(dual);
    if sum.iter().all(|&g| g == 0.0) {
        return Some(repaired);
    }
    let routing = routing_of(sum, capacity, monitor)?;
    let eps = 1.0 / (1.0 + routing.scale);
    if eps > most {
        return None;
    }
    repaired.iter_mut().for_each(|beta| *beta *= 1.0 - eps);
    add_flow(labels, capacity, &routing.flow, eps, &mut repaired);
    comes_out_even(&repaired, labels.count()).then_some(repaired)
}

/// Whether the rows sum to 0 but for rounding: without that the dual value is no bound.
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

/// Whether some dual variables in the boxes `[0, c_i]` of the pairs sum to the block `beta_i`, given with the relevant
/// labels first: the `s` largest supplies are at most the `t` smallest demands and the capacity to the others.
pub(crate) fn in_box(block: &mut [f64], relevant: usize, weight: f64) -> bool {
    let (supplies, demands) = block.split_at_mut(relevant);
    demands.iter_mut().for_each(|beta| *beta = -*beta);
    supplies.sort_unstable_by(|x, y| y.total_cmp(x));
    demands.sort_unstable_by(f64::total_cmp);
    let pairs = (supplies.len() * demands.len()) as f64;
    let slack = SLACK * weight * pairs;
    let total: f64 = supplies.iter().sum::<f64>() - demands.iter().sum::<f64>();
    let mut inside = total.abs() <= slack && demands[0] >= -slack;
    inside &= supplies[supplies.len() - 1] >= -slack;
    let mut supply = 0.0;
    for (s, largest) in supplies.iter().enumerate() {
        supply += largest;
        let capacity = weight * (s + 1) as f64;
        let most: f64 = demands.iter().map(|demand| demand.min(capacity)).sum();
        inside &= supply <= most + slack;
    }
    inside
}

/// The block of the hinge's feasible set that is nearest to one: with the margin taken out, the proximal map projects
/// (Moreau).
fn nearest(
    block: &[f64],
    pairs: Pairs<'_>,
    weight: f64,
    workspace: &mut HingeWorkspace,
) -> Vec<f64> {
    let mut centre: Vec<f64> = block.iter().map(|beta| -beta).collect();
    centre[..pairs.relevant]
        .iter_mut()
        .for_each(|beta| *beta += 1.0);
    let mut nearest = vec![0.0; block.len()];
    Hinge.prox(&centre, &centre, &mut nearest, pairs, weight, workspace);
    nearest
}

/// A start for a hinge problem, moved into its feasible set: rows outside their box become 0, or what is nearest where
/// labels have weights.
pub(crate) fn feasible(labels: &Labels, mut start: Vec<f64>) -> Vec<f64> {
    let q = labels.count();
    if start.len() != labels.instances() * q {
        return start;
    }
    let mut gathered = vec![0.0; q];
    let mut workspace = HingeWorkspace::default();
    for (i, row) in start.chunks_exact_mut(q).enumerate() {
        let known = labels.gather(i, row, &mut gathered);
        let pairs = labels.pairs_of(i);
        if !(labels.has_pairs(i) && labels.known_only(i, row)) {
            row.fill(0.0);
        } else if labels.are_weighted() {
            let nearest = nearest(known, pairs, labels.weight(i), &mut workspace);
            labels.scatter(i, &nearest, row);
        } else if !in_box(known, pairs.relevant, labels.weight(i)) {
            row.fill(0.0);
        }
    }
    start
}

/// Subtracts the mean: a constant added to all biases changes nothing.
pub(crate) fn centred(mut bias: Vec<f64>) -> Vec<f64> {
    let mean = mean(&bias);
    bias.iter_mut().for_each(|b| *b -= mean);
    bias
}
