//! The cheap repair of a point with a free bias: it is mixed with the answer of Frank-Wolfe's linear oracle.
//!
//! Among all feasible dual matrices whose rows sum to `-t g`, the oracle finds the one with the largest
//!
//! ```text
//! sum_i D_i(beta_i) - <B_0, F + b>
//! ```
//!
//! This is a minimum-cost flow through the network of the labels: at `b`, pairs below the margin have their full weight and
//! the others 0, and each unit by which a pair's variable differs from that costs the distance of the pair from the margin.
//! The prices of the flow ([`super::network`]) are the amounts by which to lower the biases so that it is the best matrix.
//! Costs are rounded to a few steps for each pair of labels, and the flow of each step is shared among its pairs in
//! proportion to their weights. Only pairs within a band around the margin take part; labels that find too little capacity
//! there get a wider band.
//!
//! With `eps = 1/(1 + t)`, `B' = (1 - eps) B + eps B_0` sums to 0. Few pairs of `B` and `B_0` differ, so that it is nearly
//! as good as `B`: the flow costs about `a/eps` (at prices proportional to `t g`), and the rows lose about `eps^2/2 sum_i
//! K_ii |beta_0i - beta_i|^2`; together this is smallest at the cube root of `a` over that sum. With `t = 0` the prices give
//! the best biases for the scores `F`.

use super::network::{Network, STEPS, Steps};
use super::repair::centred;
use crate::labels::Labels;
use crate::linalg::vector::{axpy, dot};
use crate::memory::{self, Purpose};
use crate::pairwise::tuning::REPAIR;
use crate::parallel::threads::Threads;
use crate::report::Monitor;
use multiversion::multiversion;

/// Pairs this close to the margin may have any share of their weight at negligible cost: the share decreases with the
/// margin, so that rounding makes no difference at a margin of exactly 1.
const FINEST: f64 = 1.0 / 1024.0;

/// Maximum number of rows, and of their labels, in one chunk of work; chunks per thread between two polls of the monitor.
const ROWS_TOGETHER: usize = 16;
const LABELS_TOGETHER: usize = 16_000;
const CHUNKS_BETWEEN_POLLS: usize = 4;

/// The oracle's answer; each vector has one number per label.
#[derive(Clone, Debug)]
pub struct Flow {
    /// The band of each label around the margin.
    pub bands: Vec<f64>,
    /// The amounts by which to lower the biases so that it is the best matrix.
    pub prices: Vec<f64>,
    /// The share `eps` of the mixture.
    pub share: f64,
    /// The amounts by which to lower the biases to make them best for the scores.
    pub best: Vec<f64>,
}

/// A summary of the pairs within some bands; the summaries of several parts of the rows are added up.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Their capacity between any two labels, by tail, head and cost step.
    pub capacities: Vec<f64>,
    /// The sum of the best dual rows.
    pub sum: Vec<f64>,
    /// `sum_i K_ii |beta_0i - beta_i|^2` for these.
    pub distance: f64,
}

/// Computes the summary of the pairs within some bands; `None` when interrupted.
pub type Look<'a> = dyn FnMut(&[f64], &mut dyn Monitor) -> Option<Summary> + 'a;

/// The oracle's answer for dual rows that sum to `sum`, from the summaries of `look`; it may lose a part of the `tolerated`
/// gap. `None` when interrupted, or if no pairs can carry the flow.
pub fn flow(
    sum: &[f64],
    weight_of_pairs: f64,
    tolerated: f64,
    look: &mut Look<'_>,
    monitor: &mut dyn Monitor,
) -> Option<Flow> {
    let moved: f64 = sum.iter().map(|g| g.abs()).sum();
    let first = (REPAIR.band_per_share * moved / weight_of_pairs)
        .clamp(REPAIR.least_band, REPAIR.largest_band);
    let mut bands = vec![first; sum.len()];
    let mut start = vec![0.0; sum.len()];
    for _ in 0..REPAIR.looks {
        let near = look(&bands, monitor)?;
        let unmet = match carried(
            sum,
            near,
            &bands,
            &mut start,
            REPAIR.negligible * tolerated,
            monitor,
        )? {
            Ok(flow) => return Some(flow),
            Err(unmet) => unmet,
        };
        if !may_widen(&bands, &unmet) {
            return None;
        }
        let wider = bands.iter_mut().zip(&unmet).filter(|label| *label.1 > 0.0);
        wider.for_each(|(band, _)| *band = REPAIR.widest_band);
    }
    None
}

/// The flow at the best share of the mixture for the rows' sum `g`, or at a share of 1 if that loses no more than
/// `negligible`; or the demand that could not be carried. `None` when interrupted.
fn carried(
    sum: &[f64],
    near: Summary,
    bands: &[f64],
    start: &mut Vec<f64>,
    negligible: f64,
    monitor: &mut dyn Monitor,
) -> Option<Result<Flow, Vec<f64>>> {
    let network = Network::new(sum.len(), steps(bands), near.capacities);
    let mut at = |share: f64| {
        let times = (1.0 - share) / share;
        let pairs = near.sum.iter().zip(sum);
        let demand: Vec<f64> = pairs.map(|(best, g)| -best - times * g).collect();
        let found = network.priced(&demand, start, &mut || monitor.poll().is_interrupted())?;
        if let Ok(prices) = &found {
            start.clone_from(prices);
        }
        Some(found)
    };
    let best = match at(1.0)? {
        Ok(best) => best,
        Err(unmet) => return Some(Err(unmet)),
    };
    let mut flow = Flow {
        bands: bands.to_vec(),
        prices: best.clone(),
        share: 1.0,
        best,
    };
    if 0.5 * near.distance <= negligible {
        return Some(Ok(flow));
    }
    let mut share = REPAIR.first_share;
    for _ in 0..REPAIR.shares {
        let prices = match at(share)? {
            Ok(prices) => prices,
            Err(unmet) if may_widen(bands, &unmet) => return Some(Err(unmet)),
            Err(_) => {
                share = (share * flow.share).sqrt();
                continue;
            }
        };
        let dearer: Vec<f64> = prices.iter().zip(&flow.best).map(|(p, b)| p - b).collect();
        let slope = 0.5 * share * dot(&dearer, sum).abs();
        let better = (slope / near.distance)
            .cbrt()
            .clamp(REPAIR.least_share, 1.0);
        (flow.prices, flow.share) = (prices, share);
        if better == 1.0 {
            (flow.prices, flow.share) = (flow.best.clone(), 1.0);
            break;
        }
        if (1.0 / REPAIR.near_enough..REPAIR.near_enough).contains(&(better / share)) {
            break;
        }
        share = better;
    }
    Some(Ok(flow))
}

/// Whether the band of some label with unmet demand can still be widened.
fn may_widen(bands: &[f64], unmet: &[f64]) -> bool {
    let mut labels = bands.iter().zip(unmet);
    labels.any(|(&band, &amount)| amount > 0.0 && band < REPAIR.widest_band)
}

/// The cost steps within some bands.
fn steps(bands: &[f64]) -> Steps {
    Steps::up_to(bands.iter().copied().fold(FINEST, f64::max))
}

/// A possible change of a pair near the margin: its variable may increase, or decrease, in which case the arc is reversed.
struct Arc {
    tail: usize,
    head: usize,
    /// First-order loss of the dual value per unit: the pair's distance from the margin.
    cost: f64,
    capacity: f64,
}

/// The pairs of a row at its scores, bias included.
struct Row<'a> {
    labels: &'a Labels,
    i: usize,
    scores: &'a [f64],
    bands: &'a [f64],
}

/// Scores of irrelevant labels that are compared together.
const LANES: usize = 8;

impl Row<'_> {
    /// Writes the best dual row: pairs below the margin have their weight, those above it 0. Calls `visit` for its pairs
    /// that are within the band of either label around the margin. `known` is a buffer of [`known_of`] numbers.
    fn best(&self, best: &mut [f64], known: &mut [f64], mut visit: impl FnMut(Arc)) {
        best.fill(0.0);
        let (labels, i) = (self.labels, self.i);
        if labels.has_zero_label() {
            labels.each_pair(i, |m, l, weight| {
                let excess = self.scores[m] - 1.0 - self.scores[l];
                let share = share(excess);
                best[m] += weight * share;
                best[l] -= weight * share;
                self.visit_near((m, l), excess, weight, &mut visit);
            });
            return;
        }
        if !labels.has_pairs(i) {
            return;
        }
        let relevant = labels.relevant(i);
        let count = labels.gather(i, self.scores, known).len();
        let irrelevant: Vec<usize> = labels.irrelevant(i).collect();
        let widest = self.bands.iter().copied().fold(0.0, f64::max);
        let (scores, shares) =
            known[relevant.len()..].split_at_mut(irrelevant.len().next_multiple_of(LANES));
        let shares = &mut shares[..scores.len()];
        // Far above the margin.
        scores[count - relevant.len()..].fill(f64::NEG_INFINITY);
        shares.fill(0.0);
        for &m in relevant {
            let (weight, m) = (labels.pair_weight(i, m), m as usize);
            let mut near = |first: usize, excess: &[f64; LANES], mut lanes: u32| {
                while lanes != 0 {
                    let lane = lanes.trailing_zeros() as usize;
                    lanes &= lanes - 1;
                    let pair = (m, irrelevant[first + lane]);
                    self.visit_near(pair, excess[lane], weight, &mut visit);
                }
            };
            best[m] =
                weight * add_shares(self.scores[m], widest, weight, scores, shares, &mut near);
        }
        for (&l, share) in irrelevant.iter().zip(shares) {
            best[l] = -*share;
        }
    }

    /// Calls `visit` with the pair, whose margin exceeds 1 by `excess`, if it is within the band of either label.
    #[inline(always)]
    fn visit_near(
        &self,
        (m, l): (usize, usize),
        excess: f64,
        weight: f64,
        visit: &mut impl FnMut(Arc),
    ) {
        let cost = excess.abs();
        if cost <= self.bands[m].max(self.bands[l]) {
            let share = share(excess);
            for (tail, head, share) in [(m, l, 1.0 - share), (l, m, share)] {
                if share > 0.0 {
                    let capacity = weight * share;
                    visit(Arc {
                        tail,
                        head,
                        cost,
                        capacity,
                    });
                }
            }
        }
    }
}

/// Size of the buffer of [`Row::best`]: two numbers for each label, in whole lanes.
fn known_of(labels: usize) -> usize {
    2 * (labels + LANES)
}

/// The share of its weight for a pair whose margin exceeds 1 by `excess`.
#[inline(always)]
fn share(excess: f64) -> f64 {
    (0.5 - 0.5 * excess / FINEST).clamp(0.0, 1.0)
}

/// Adds `weight` times the shares of the pairs of a relevant label with the given score to the sums of the irrelevant
/// labels. If some of several consecutive labels may be within the band, calls `near` with the first of them, the amounts by
/// which their margins exceed 1, and a bit mask of those within. Returns the sum of the shares.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma"))]
fn add_shares(
    score: f64,
    band: f64,
    weight: f64,
    others: &[f64],
    shares: &mut [f64],
    near: &mut dyn FnMut(usize, &[f64; LANES], u32),
) -> f64 {
    let (others, _) = others.as_chunks::<LANES>();
    let (shares, _) = shares.as_chunks_mut::<LANES>();
    let mut sums = [0.0; LANES];
    for (block, (others, own)) in others.iter().zip(shares).enumerate() {
        let (mut excesses, mut lanes) = ([0.0; LANES], 0);
        for lane in 0..LANES {
            let excess = score - 1.0 - others[lane];
            let share = share(excess);
            own[lane] += weight * share;
            sums[lane] += share;
            excesses[lane] = excess;
            lanes |= u32::from(excess.abs() <= band) << lane;
        }
        if lanes != 0 {
            near(block * LANES, &excesses, lanes);
        }
    }
    sums.iter().sum()
}

/// The summary of the pairs within the bands at these scores, bias included, for the diagonal `K_ii`; `None` when
/// interrupted.
pub(crate) fn summary(
    labels: &Labels,
    scores: &[f64],
    dual: &[f64],
    diagonal: &[f64],
    bands: &[f64],
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Option<Summary> {
    let (n, q, steps) = (labels.instances(), labels.count(), steps(bands));
    let mut all = Summary {
        capacities: memory::zeros_for(q * q * STEPS, Purpose::LabelNetwork),
        sum: vec![0.0; q],
        distance: 0.0,
    };
    let together = (LABELS_TOGETHER / q).clamp(1, ROWS_TOGETHER);
    let between_polls = CHUNKS_BETWEEN_POLLS * threads.count() * together;
    for first in (0..n).step_by(between_polls) {
        if monitor.poll().is_interrupted() {
            return None;
        }
        let end = n.min(first + between_polls);
        let parts = threads.map((first..end).step_by(together), |_, start| {
            let (mut arcs, mut best, mut known) =
                (Vec::new(), vec![0.0; q], vec![0.0; known_of(q)]);
            let (mut sum, mut distance) = (vec![0.0; q], 0.0);
            for (i, kappa) in (start..).zip(&diagonal[start..end.min(start + together)]) {
                let range = i * q..(i + 1) * q;
                let row = Row {
                    labels,
                    i,
                    scores: &scores[range.clone()],
                    bands,
                };
                row.best(&mut best, &mut known, |arc| {
                    arcs.push((steps.place(q, arc.tail, arc.head, arc.cost), arc.capacity));
                });
                axpy(1.0, &best, &mut sum);
                let pairs = best.iter().zip(&dual[range]);
                let squares: f64 = pairs.map(|(new, old)| (new - old) * (new - old)).sum();
                distance += kappa * squares;
            }
            (arcs, sum, distance)
        });
        for (arcs, sum, distance) in parts {
            for (place, capacity) in arcs {
                all.capacities[place] += capacity;
            }
            axpy(1.0, &sum, &mut all.sum);
            all.distance += distance;
        }
    }
    Some(all)
}

/// Mixes the dual rows with the oracle's.
pub(crate) fn mix(
    labels: &Labels,
    scores: &[f64],
    dual: &mut [f64],
    flow: &Flow,
    threads: &Threads,
) {
    let (q, steps) = (labels.count(), steps(&flow.bands));
    threads.for_each_chunk(dual, ROWS_TOGETHER * q, |chunk, rows| {
        let (mut best, mut change) = (vec![0.0; q], vec![0.0; q]);
        let mut known = vec![0.0; known_of(q)];
        for (i, beta) in (chunk * ROWS_TOGETHER..).zip(rows.chunks_exact_mut(q)) {
            change.fill(0.0);
            let row = Row {
                labels,
                i,
                scores: &scores[i * q..(i + 1) * q],
                bands: &flow.bands,
            };
            row.best(&mut best, &mut known, |arc| {
                let difference = flow.prices[arc.tail] - flow.prices[arc.head];
                if difference > 0.0 {
                    let share = steps.share(arc.cost, difference);
                    change[arc.tail] += share * arc.capacity;
                    change[arc.head] -= share * arc.capacity;
                }
            });
            for ((beta, best), change) in beta.iter_mut().zip(&best).zip(&change) {
                *beta += flow.share * (best + change - *beta);
            }
        }
    });
}

/// The best biases without features, for the capacities `C_ml`, `q x q` row-major; 0 when interrupted or on overflow:
///
/// ```text
/// min over b   sum over labels m, l   C_ml max(0, 1 - (b_m - b_l))
/// ```
///
/// At `b = 0` all dual variables are at their bounds. They balance once the surplus of each label has flowed back through
/// pairs, at a loss of 1 per unit: the prices of that flow are the biases with opposite signs.
pub fn best_without_features(capacity: &[f64], monitor: &mut dyn Monitor) -> Vec<f64> {
    let q = capacity.len().isqrt();
    // With all arcs reversed, their prices are the biases themselves.
    let network = Network::of_dearest(q, Steps::up_to(1.0), capacity);
    // At b = 0, the surplus of label m is the weight of the pairs in which it is relevant minus that of the others.
    let demand = centred(network.outflow());
    let found = network.priced(&demand, &vec![0.0; q], &mut || {
        monitor.poll().is_interrupted()
    });
    let Some(Ok(prices)) = found else {
        return vec![0.0; q];
    };
    let bias = centred(prices);
    // Sorted, the best biases differ by at most 1 from one to the next: larger ones result from overflow.
    if bias.iter().all(|b| b.abs() <= q as f64) {
        bias
    } else {
        vec![0.0; q]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::vector::row_sum;
    use crate::pairwise::bias::components::Components;
    use crate::pairwise::bias::repair::{capacities, feasible, repaired};

    /// The dual value to first order.
    fn value(labels: &Labels, dual: &[f64], scores: &[f64]) -> f64 {
        let rows = dual.chunks_exact(labels.count()).enumerate();
        let terms: f64 = rows.map(|(i, row)| labels.sum_of_pairs(i, row)).sum();
        terms - dot(dual, scores)
    }

    /// For dual variables that are at their weight below the margin, 0 above it, and arbitrary near it.
    #[test]
    fn mixtures_are_feasible_sum_to_zero_and_lose_less_than_with_a_routing() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut mixtures = 0;
        for problem in 0..60 {
            let (n, q) = (120, 5);
            let indicator: Vec<u8> = (0..n * q).map(|_| random.u8(0..3)).collect();
            let mut labels = Labels::new(&indicator, q, 3.0).unwrap();
            if problem % 2 == 1 {
                let weights: Vec<f64> = (0..q).map(|_| 0.5 + random.f64()).collect();
                labels = labels.with_label_weights(&weights).unwrap();
            }
            let scores: Vec<f64> = (0..n * q).map(|_| 1.5 * random.f64()).collect();
            let mut dual = vec![0.0; n * q];
            for (i, row) in dual.chunks_exact_mut(q).enumerate() {
                labels.each_pair(i, |m, l, weight| {
                    let share = match scores[i * q + m] - 1.0 - scores[i * q + l] {
                        excess if excess < -0.02 => 1.0,
                        excess if excess > 0.02 => 0.0,
                        _ => random.f64(),
                    };
                    row[m] += share * weight;
                    row[l] -= share * weight;
                });
            }
            let capacity = capacities(&labels, &mut ()).unwrap();
            let components = Components::new(&capacity, q);
            let (threads, diagonal) = (Threads::new(1), vec![1e3; n]);
            let sum = components.centred(&row_sum(&dual, q));
            let look = &mut |bands: &[f64], monitor: &mut dyn Monitor| {
                let found = summary(&labels, &scores, &dual, &diagonal, bands, &threads, monitor);
                found.map(|found| Summary {
                    sum: components.centred(&found.sum),
                    ..found
                })
            };
            let flow = flow(&sum, labels.weight_of_pairs(), 0.0, look, &mut ()).unwrap();
            let mut moved = dual.clone();
            mix(&labels, &scores, &mut moved, &flow, &threads);
            assert!(sum.iter().any(|g| g.abs() > 0.1));
            mixtures += usize::from(flow.share < 1.0);
            let routed = repaired(&labels, &capacity, &dual, &sum, 1.0, &mut ()).unwrap();
            assert!(value(&labels, &moved, &scores) > value(&labels, &routed, &scores));
            for dual in [moved, routed] {
                assert!(row_sum(&dual, q).iter().all(|g| g.abs() < 1e-10));
                for (nearest, beta) in feasible(&labels, dual.clone()).iter().zip(&dual) {
                    assert!((nearest - beta).abs() < 1e-9);
                }
            }
        }
        assert!(mixtures > 20, "{mixtures}");
    }

    /// Computed for many labels at a time or pair by pair: the same row, and the same pairs within the bands.
    #[test]
    fn best_rows_are_those_of_their_pairs() {
        let mut random = fastrand::Rng::with_seed(2);
        for problem in 0..200 {
            let q = random.usize(2..60);
            let indicator: Vec<u8> = (0..q).map(|_| random.u8(0..3)).collect();
            let mut labels = Labels::new(&indicator, q, 3.0).unwrap();
            match problem % 3 {
                1 => {
                    let weights: Vec<f64> = (0..q).map(|_| 0.5 + random.f64()).collect();
                    labels = labels.with_label_weights(&weights).unwrap();
                }
                2 => labels = labels.with_zero_label(2.0, None).unwrap(),
                _ => {}
            }
            let q = labels.count();
            let scores: Vec<f64> = (0..q).map(|_| 1.5 * random.f64()).collect();
            let bands: Vec<f64> = (0..q).map(|_| 0.2 * random.f64()).collect();
            let (mut expected, mut arcs) = (vec![0.0; q], Vec::new());
            labels.each_pair(0, |m, l, weight| {
                let excess = scores[m] - 1.0 - scores[l];
                let share = (0.5 - 0.5 * excess / FINEST).clamp(0.0, 1.0);
                expected[m] += weight * share;
                expected[l] -= weight * share;
                if excess.abs() <= bands[m].max(bands[l]) {
                    arcs.push((m, l, weight * (1.0 - share)));
                    arcs.push((l, m, weight * share));
                }
            });
            arcs.retain(|arc| arc.2 > 0.0);
            let row = Row {
                labels: &labels,
                i: 0,
                scores: &scores,
                bands: &bands,
            };
            let (mut best, mut known, mut found) =
                (vec![7.0; q], vec![7.0; known_of(q)], Vec::new());
            row.best(&mut best, &mut known, |arc| {
                found.push((arc.tail, arc.head, arc.capacity));
            });
            assert_eq!(found, arcs);
            for (found, expected) in best.iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-12);
            }
        }
    }
}
