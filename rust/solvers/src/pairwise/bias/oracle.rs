//! The cheap repair of a point with a free bias: it is mixed with what the linear oracle of Frank-Wolfe answers.
//!
//! Of all feasible dual matrices whose rows sum to `-t g`, the oracle asks for the one with the largest
//!
//! ```text
//! sum_i D_i(beta_i) - <B_0, F + b>
//! ```
//!
//! That is a flow at least cost through the network of the labels: at `b` pairs below the margin have their weight and the
//! others 0, and each unit that a pair's variable differs from that costs how far the pair is from the margin
//! ([`super::margins`]). The prices of the flow ([`crate::network::prices`]) are what the biases are lower by at which it
//! is the best matrix. Rows' costs are known by two labels in a few steps, and each step is shared among its pairs in
//! proportion to their weights. Pairs within a band around the margin take part; labels that find too little capacity there
//! get a wider band.
//!
//! With `eps = 1/(1 + t)`, `B' = (1 - eps) B + eps B_0` sums to 0. Few pairs of `B` and `B_0` differ, so that it is nearly as
//! good as `B`: what flows costs about `a/eps` (at prices in proportion to `t g`), and the rows lose about `eps^2/2 sum_i
//! K_ii |beta_0i - beta_i|^2`, which is least at the cube root of `a` over that sum. With `t = 0` the prices give the best
//! biases for the scores `F`.

use super::components::Components;
use super::margins::{At, FINEST, Row};
use crate::linalg::vector::{axpy, dot};
use crate::network::prices::{self, Closed, Steps};
use crate::parallel::threads::Threads;
use crate::report::Monitor;

/// How many steps of costs there are.
pub(super) const STEPS: usize = 16;

/// The capacities between any two labels.
pub(super) type Network = prices::Network<STEPS>;

/// Pairs with a margin up to this far from 1 take part, at first: so many times the share of the loss's weight that is
/// to be moved, within limits.
const BAND_PER_SHARE: f64 = 30.0;
const LEAST_BAND: f64 = 1.0 / 64.0;
const LARGEST_BAND: f64 = 0.25;

/// The band of a label that finds too little capacity: nearly all of its pairs.
const WIDEST: f64 = 16.0;

/// Most looks at the pairs.
const LOOKS: usize = 8;

/// The share of the mixture: the first one, how many are tried, and by what factor the best may differ from the last.
const FIRST_SHARE: f64 = 0.5;
const SHARES: usize = 3;
const NEAR_ENOUGH: f64 = 1.5;
const LEAST_SHARE: f64 = 1e-9;

/// Most rows, and labels of them, of one chunk of work; chunks for each thread between two looks at the interruption.
const ROWS_TOGETHER: usize = 16;
const LABELS_TOGETHER: usize = 16_000;
const CHUNKS_BETWEEN_POLLS: usize = 4;

/// The oracle's answer, by numbers of one a label.
#[derive(Clone, Debug)]
pub struct Flow {
    /// How far from the margin the pairs of each label may be.
    pub bands: Vec<f64>,
    /// The biases at which it is the best matrix are lower by as much.
    pub prices: Vec<f64>,
    /// The share of each capacity that opens evenly, see [`Steps`].
    pub spread: f64,
    /// The share `eps` of the mixture.
    pub share: f64,
    /// The best biases for the scores are lower by as much.
    pub best: Vec<f64>,
}

/// What the capacities within some bands make of it.
#[derive(Clone, Debug)]
pub enum Carried {
    /// This flow.
    By(Flow),
    /// Some labels need wider bands, these ones.
    Within(Vec<f64>),
}

/// What is known of all pairs within some bands.
pub(super) struct Summary {
    pub network: Network,
    /// The sum of the best dual rows.
    pub sum: Vec<f64>,
    /// `sum_i K_ii |beta_0i - beta_i|^2` for these.
    pub distance: f64,
}

/// The ends of the steps of costs: a geometric sequence up to the widest band.
pub(super) fn steps(bands: &[f64]) -> Steps<STEPS> {
    let widest = bands.iter().copied().fold(FINEST, f64::max);
    let growth = (widest / FINEST).powf(1.0 / (STEPS - 1) as f64);
    let mut ends = [widest; STEPS];
    let mut next = FINEST;
    for end in &mut ends[..STEPS - 1] {
        *end = next;
        next *= growth;
    }
    Steps { ends, spread: 0.0 }
}

/// The oracle's answer at `B` with the rows' sum `g`; `None` when interrupted, or when no pairs can carry it.
pub(super) fn flow(
    at: &At<'_>,
    dual: &mut [f64],
    sum: &[f64],
    components: &Components,
    negligible: f64,
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Option<Flow> {
    let sum = &components.centred(sum);
    let mut bands = vec![first_band(sum, at.labels.weight_of_pairs()); sum.len()];
    for _ in 0..LOOKS {
        let mut summary = summary(at, dual, &bands, threads, monitor)?;
        summary.sum = components.centred(&summary.sum);
        match carried(sum, bands, summary, negligible, monitor)? {
            Carried::By(flow) => return Some(flow),
            Carried::Within(wider) => bands = wider,
        }
    }
    None
}

/// The band to begin with, for the sum of the dual rows and what all pairs weigh together.
pub fn first_band(sum: &[f64], weight_of_pairs: f64) -> f64 {
    let moved: f64 = sum.iter().map(|g| g.abs()).sum();
    (BAND_PER_SHARE * moved / weight_of_pairs).clamp(LEAST_BAND, LARGEST_BAND)
}

/// The pairs within the bands; `None` when interrupted.
pub(super) fn summary(
    at: &At<'_>,
    dual: &mut [f64],
    bands: &[f64],
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Option<Summary> {
    let q = bands.len();
    let mut all = Summary {
        network: Network::new(q, steps(bands)),
        sum: vec![0.0; q],
        distance: 0.0,
    };
    let places = all.network.places();
    let complete = each_chunk(
        at,
        dual,
        threads,
        monitor,
        |rows| {
            let (mut row, mut best) = (Row::new(q), vec![0.0; q]);
            let (mut arcs, mut sum, mut distance) = (Vec::new(), vec![0.0; q], 0.0);
            for (i, beta) in rows {
                row.best(at, i, bands, &mut best, |arc| {
                    arcs.push((places.of(arc.tail, arc.head, arc.cost), arc.capacity));
                });
                axpy(1.0, &best, &mut sum);
                let differences = best.iter().zip(&*beta).map(|(new, old)| new - old);
                distance += at.diagonal[i] * differences.map(|change| change * change).sum::<f64>();
            }
            (arcs, sum, distance)
        },
        |(arcs, sum, distance): (Vec<(usize, f64)>, _, _)| {
            for (place, capacity) in arcs {
                all.network.add(place, capacity);
            }
            axpy(1.0, &sum, &mut all.sum);
            all.distance += distance;
        },
    );
    complete.then_some(all)
}

/// Mixes the dual rows with the oracle's; `false` when interrupted.
pub(super) fn mix(
    at: &At<'_>,
    dual: &mut [f64],
    flow: &Flow,
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> bool {
    let q = flow.bands.len();
    let steps = Steps {
        spread: flow.spread,
        ..steps(&flow.bands)
    };
    each_chunk(
        at,
        dual,
        threads,
        monitor,
        |rows| {
            let (mut row, mut best, mut change) = (Row::new(q), vec![0.0; q], vec![0.0; q]);
            for (i, beta) in rows {
                change.fill(0.0);
                row.best(at, i, &flow.bands, &mut best, |arc| {
                    let difference = flow.prices[arc.tail] - flow.prices[arc.head];
                    if difference > 0.0 {
                        let share = steps.share(steps.of(arc.cost), difference);
                        change[arc.tail] += share * arc.capacity;
                        change[arc.head] -= share * arc.capacity;
                    }
                });
                for ((beta, best), change) in beta.iter_mut().zip(&best).zip(&change) {
                    *beta += flow.share * (best + change - *beta);
                }
            }
        },
        |()| {},
    )
}

/// Calls `work` with the rows that have pairs, a few at a time, and `take` with what it returns, in order; `false` when
/// interrupted.
fn each_chunk<R: Send>(
    at: &At<'_>,
    dual: &mut [f64],
    threads: &Threads,
    monitor: &mut dyn Monitor,
    work: impl Fn(&mut dyn Iterator<Item = (usize, &mut [f64])>) -> R + Sync + Send,
    mut take: impl FnMut(R),
) -> bool {
    let q = at.labels.count();
    let together = (LABELS_TOGETHER / q).clamp(1, ROWS_TOGETHER);
    let between_polls = CHUNKS_BETWEEN_POLLS * threads.count() * together;
    for (poll, rows) in dual.chunks_mut(between_polls * q).enumerate() {
        if monitor.interrupted() {
            return false;
        }
        let found = threads.map_chunks(rows, together * q, |chunk, rows| {
            let first = poll * between_polls + chunk * together;
            let rows = (first..).zip(rows.chunks_exact_mut(q));
            work(&mut rows.filter(|&(i, _)| at.labels.has_pairs(i)))
        });
        found.into_iter().for_each(&mut take);
    }
    true
}

/// The flow at the best share of the mixture for the rows' sum `g`, or that of all where this loses no more than what is
/// `negligible`; `None` when interrupted, or when no wider bands are
/// left.
pub(super) fn carried(
    sum: &[f64],
    bands: Vec<f64>,
    summary: Summary,
    negligible: f64,
    monitor: &mut dyn Monitor,
) -> Option<Carried> {
    let Summary {
        network,
        sum: of_best,
        distance,
    } = summary;
    let mut network = network.closed();
    let best = match priced(&mut network, &demand(&of_best, sum, 1.0), monitor)? {
        Ok((prices, spread)) => (prices, spread),
        Err(unmet) => return widened(bands, &unmet).map(Carried::Within),
    };
    let (mut share, mut tried) = (FIRST_SHARE, 0);
    if 0.5 * distance <= negligible {
        share = 1.0;
    }
    let (prices, spread) = loop {
        if share >= 1.0 {
            share = 1.0;
            break best.clone();
        }
        match priced(&mut network, &demand(&of_best, sum, share), monitor)? {
            Ok(found) => {
                let dearer: Vec<f64> = found.0.iter().zip(&best.0).map(|(p, b)| p - b).collect();
                let slope = 0.5 * share * dot(&dearer, sum).abs();
                let better = (slope / distance).cbrt().clamp(LEAST_SHARE, 1.0);
                tried += 1;
                let ratio = better / share;
                if tried == SHARES || (1.0 / NEAR_ENOUGH..NEAR_ENOUGH).contains(&ratio) {
                    break found;
                }
                share = better;
            }
            Err(unmet) => match widened(bands.clone(), &unmet) {
                Some(wider) => return Some(Carried::Within(wider)),
                None => share *= 2.0,
            },
        }
    };
    Some(Carried::By(Flow {
        bands,
        prices,
        spread,
        share,
        best: best.0,
    }))
}

/// What is to flow out of each label so that dual rows that sum to `of_best` sum to `-t g`.
fn demand(of_best: &[f64], sum: &[f64], share: f64) -> Vec<f64> {
    let times = (1.0 - share) / share;
    let pairs = of_best.iter().zip(sum);
    pairs.map(|(best, g)| -best - times * g).collect()
}

/// Prices and spread.
type Priced = (Vec<f64>, f64);

/// The prices and the spread of a demand, or what could not be carried; `None` when interrupted.
fn priced(
    network: &mut Closed<STEPS>,
    demand: &[f64],
    monitor: &mut dyn Monitor,
) -> Option<Result<Priced, Vec<f64>>> {
    let lacking = shortages(demand, network);
    if lacking.iter().any(|&amount| amount > 0.0) {
        return Some(Err(lacking));
    }
    let found = network.priced(demand, &mut || monitor.interrupted())?;
    Some(if found.is_met() {
        Ok((found.prices, found.steps.spread))
    } else {
        Err(found.unmet)
    })
}

/// What the arcs of a label lack to carry its demand, whatever the other labels do; 0 where they may do.
fn shortages(demand: &[f64], network: &Closed<STEPS>) -> Vec<f64> {
    let total: f64 = demand.iter().map(|amount| amount.abs()).sum();
    let rounding = demand.len() as f64 * f64::EPSILON * total;
    let rooms = network.out.iter().zip(&network.into);
    let lacking = demand.iter().zip(rooms).map(|(&amount, (out, into))| {
        let room = if amount > 0.0 { out } else { into };
        amount.abs() - room
    });
    lacking
        .map(|amount| if amount > rounding { amount } else { 0.0 })
        .collect()
}

/// Wider bands for the labels whose demand is not met; `None` when none are left.
fn widened(mut bands: Vec<f64>, unmet: &[f64]) -> Option<Vec<f64>> {
    let mut wider = false;
    for (band, &amount) in bands.iter_mut().zip(unmet) {
        if amount > 0.0 && *band < WIDEST {
            *band = WIDEST;
            wider = true;
        }
    }
    wider.then_some(bands)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::Labels;
    use crate::linalg::vector::row_sum;
    use crate::pairwise::bias::repair::{capacities, feasible, repaired};

    /// The dual value to first order.
    fn value(labels: &Labels, dual: &[f64], scores: &[f64]) -> f64 {
        let rows = dual.chunks_exact(labels.count()).enumerate();
        let terms: f64 = rows.map(|(i, row)| labels.sum_of_pairs(i, row)).sum();
        terms - dot(dual, scores)
    }

    /// Of dual variables that are at their weight below the margin and 0 above it, but anything near it.
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
            for i in (0..n).filter(|&i| labels.has_pairs(i)) {
                for &m in labels.relevant(i) {
                    for l in labels.irrelevant(i) {
                        let m = m as usize;
                        let share = match scores[i * q + m] - 1.0 - scores[i * q + l] {
                            excess if excess < -0.02 => 1.0,
                            excess if excess > 0.02 => 0.0,
                            _ => random.f64(),
                        };
                        dual[i * q + m] += share * labels.pair_weight(i, m as u32);
                        dual[i * q + l] -= share * labels.pair_weight(i, m as u32);
                    }
                }
            }
            let at = At {
                labels: &labels,
                scores: &scores,
                bias: &vec![0.0; q],
                diagonal: &vec![1e3; n],
            };
            let components = Components::new(&capacities(&labels), q);
            let threads = Threads::new(1);
            let sum = row_sum(&dual, q);
            let mut moved = dual.clone();
            let flow = flow(&at, &mut moved, &sum, &components, 0.0, &threads, &mut ());
            let flow = flow.unwrap();
            assert_eq!(moved, dual);
            assert!(mix(&at, &mut moved, &flow, &threads, &mut ()));
            assert!(sum.iter().any(|g| g.abs() > 0.1));
            mixtures += usize::from(flow.share < 0.5);
            assert!(row_sum(&moved, q).iter().all(|g| g.abs() < 1e-10));
            for (nearest, moved) in feasible(&labels, moved.clone()).iter().zip(&moved) {
                assert!((nearest - moved).abs() < 1e-9);
            }
            let capacity = capacities(&labels);
            let routed = repaired(
                &labels,
                &capacity,
                &dual,
                &components.centred(&sum),
                1.0,
                &mut (),
            );
            let routed = value(&labels, &routed.unwrap(), &scores);
            assert!(value(&labels, &moved, &scores) > routed);
        }
        assert!(mixtures > 20, "{mixtures}");
    }

    /// A label that no pair can serve is given all of its pairs once; then there is no flow.
    #[test]
    fn labels_without_capacity_are_given_up() {
        let summary = || Summary {
            network: Network::new(2, steps(&[1.0; 2])),
            sum: vec![0.0; 2],
            distance: 1.0,
        };
        let carry = |bands: Vec<f64>| carried(&[1.0, -1.0], bands, summary(), 0.0, &mut ());
        let Some(Carried::Within(bands)) = carry(vec![1.0; 2]) else {
            panic!("no wider bands");
        };
        assert_eq!(bands, [WIDEST; 2]);
        assert!(matches!(carry(bands), Some(Carried::By(flow)) if flow.share == 1.0));
    }
}
