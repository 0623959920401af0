//! The cheap repair of a point with a free bias: the flow `-g` goes through the pairs whose margin is near 1.
//!
//! The dual variable of a pair may rise to `c_i` or fall to 0 ([`super::transport`]). With the margin `z` of the pair, the
//! biases in it, rising by `delta` changes the dual value by `(1 - z) delta` to first order: at a good point nothing where
//! the variable is inside its box, and a loss of `|z - 1| delta` at most where it is not. So `-g` goes through these
//! *residual* capacities, cheap ones first ([`crate::network::prices`]). All pairs of two labels make one arc, whose
//! capacities are known by cost in a few steps; each step is shared among its pairs in proportion to what they can take.
//!
//! Pairs within a band around the margin take part. Labels that find too little capacity there get a wider band.

use super::repair::centred;
use super::transport::{At, FARTHEST, NEAREST, Row};
use crate::labels::Labels;
use crate::network::prices::{self, Steps};
use crate::parallel::threads::Threads;
use crate::report::Monitor;

/// How many steps of costs there are.
pub(super) const STEPS: usize = 12;

/// The residual capacities between any two labels.
pub(super) type Network = prices::Network<STEPS>;

/// The largest cost of the first step.
const FINEST: f64 = 1.0 / 256.0;

/// Pairs with a margin up to this far from 1 take part, at first: so many times the share of the loss's weight that is
/// to be moved, within limits. Much that moves through few pairs costs more than to first order.
const BAND_PER_SHARE: f64 = 30.0;
const LEAST_BAND: f64 = 1.0 / 64.0;
const LARGEST_BAND: f64 = 0.25;

/// The widest band of a label that finds too little capacity.
const WIDEST: f64 = 16.0;

/// How much wider a label's band becomes, and how many attempts there are.
const WIDER: f64 = 4.0;
const ATTEMPTS: usize = 12;

/// From so many rows on, a part of them carries the flow alone, if it can: rows take the time of a repair.
const MANY: usize = 1000;

/// How far from the margin the variables of these rows are in doubt at most: the pairs that may be are many farther out,
/// and must be sorted.
const CLOSE: f64 = 1.0 / 16.0;

/// Most rows, and labels of them, that one chunk of work explains; chunks for each thread between two looks at the
/// interruption.
const ROWS_TOGETHER: usize = 16;
const LABELS_TOGETHER: usize = 16_000;
const CHUNKS_BETWEEN_POLLS: usize = 4;

/// How much of their residual capacities the pairs take, by numbers of one a label.
#[derive(Clone, Debug)]
pub struct Flow {
    /// How far from the margin the pairs of each label may be.
    pub bands: Vec<f64>,
    /// The labels' prices of a unit: the biases at which the flow costs nothing are lower by as much.
    pub prices: Vec<f64>,
    /// The share of each capacity that opens evenly, see [`Steps`].
    pub spread: f64,
}

/// Which rows take part: every `stride`-th one whose variables are in doubt up to the `farthest` from the margin at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rows {
    stride: usize,
    farthest: f64,
}

/// Few of many rows first, and more where the pairs of these lack capacity.
const STAGES: [Rows; 3] = [
    Rows {
        stride: 2,
        farthest: CLOSE,
    },
    Rows {
        stride: 1,
        farthest: CLOSE,
    },
    Rows::ALL,
];

impl Rows {
    pub const ALL: Self = Self {
        stride: 1,
        farthest: FARTHEST,
    };

    fn include(self, i: usize, near: f64) -> bool {
        i.is_multiple_of(self.stride) && near <= self.farthest
    }
}

/// A flow through the pairs of rows.
pub(super) struct Plan {
    pub flow: Flow,
    /// Which rows take part.
    pub rows: Rows,
    /// How far from the margin the variables of each row are in doubt.
    pub near: Vec<f64>,
}

fn widest(bands: &[f64]) -> f64 {
    bands.iter().copied().fold(0.0, f64::max)
}

/// The ends of the steps of costs: a geometric sequence up to the widest band.
pub(super) fn steps(bands: &[f64]) -> Steps<STEPS> {
    let widest = widest(bands).max(FINEST);
    let growth = (widest / FINEST).powf(1.0 / (STEPS - 1) as f64);
    let mut ends = [widest; STEPS];
    let mut next = FINEST;
    for end in &mut ends[..STEPS - 1] {
        *end = next;
        next *= growth;
    }
    Steps { ends, spread: 0.0 }
}

/// The repair at least cost, among pairs within the bands of their labels or wider ones; `None` when interrupted, or when they
/// cannot carry it.
pub(super) fn plan(
    at: &At<'_>,
    sum: &[f64],
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Option<Plan> {
    let demand = demand_of(sum);
    let first = first_band(&demand, at.labels.weight_of_pairs());
    let mut bands = vec![first; demand.len()];
    let mut near = nearest(at.labels);
    let last = STAGES.len() - 1;
    let mut stage = if near.len() < MANY { last } else { 0 };
    for _ in 0..ATTEMPTS {
        let mut network = capacities(at, &bands, STAGES[stage], &mut near, threads, monitor)?;
        let mut lacking = shortages(&demand, &network);
        while stage < last && !is_met(&lacking) {
            // All rows come before wider bands.
            let more = (STAGES[stage + 1], Some(STAGES[stage]));
            network = add_rows(network, at, &bands, more, &mut near, threads, monitor)?;
            lacking = shortages(&demand, &network);
            stage += 1;
        }
        match carried(&demand, bands.clone(), network, lacking, monitor)? {
            Carried::By(flow) => {
                let rows = STAGES[stage];
                return Some(Plan { flow, rows, near });
            }
            Carried::Within(_) if stage < last => stage += 1,
            Carried::Within(wider) => bands = wider,
        }
    }
    None
}

/// What is to flow out of each label so that the dual rows sum to 0.
pub(super) fn demand_of(sum: &[f64]) -> Vec<f64> {
    centred(sum.iter().map(|g| -g).collect())
}

/// How far from the margin the variables of each row are in doubt, at first.
pub(super) fn nearest(labels: &Labels) -> Vec<f64> {
    vec![NEAREST; labels.instances()]
}

/// What the pairs within the bands make of a demand.
#[derive(Clone, Debug)]
pub enum Carried {
    /// This flow carries it.
    By(Flow),
    /// Some labels need wider bands, these ones.
    Within(Vec<f64>),
}

/// Prices the demand, from the shortages that it meets; `None` when interrupted, or when no wider bands are left.
pub(super) fn carried(
    demand: &[f64],
    bands: Vec<f64>,
    network: Network,
    mut unmet: Vec<f64>,
    monitor: &mut dyn Monitor,
) -> Option<Carried> {
    if is_met(&unmet) {
        let found = network.priced(demand, &mut || monitor.interrupted())?;
        if is_met(&found.unmet) {
            let flow = Flow {
                bands,
                prices: found.prices,
                spread: found.steps.spread,
            };
            return Some(Carried::By(flow));
        }
        unmet = found.unmet;
    }
    let mut wider = bands;
    (!monitor.interrupted() && widen(&mut wider, &unmet)).then_some(Carried::Within(wider))
}

/// Widens the bands of the labels whose demand is not met; whether any could be.
fn widen(bands: &mut [f64], unmet: &[f64]) -> bool {
    let mut wider = false;
    for (band, &amount) in bands.iter_mut().zip(unmet) {
        if amount > 0.0 && *band < WIDEST {
            *band = (*band * WIDER).min(WIDEST);
            wider = true;
        }
    }
    wider
}

/// The band to begin with, for what all pairs weigh together.
pub(super) fn first_band(demand: &[f64], weight_of_pairs: f64) -> f64 {
    let moved: f64 = demand.iter().map(|amount| amount.abs()).sum();
    (BAND_PER_SHARE * moved / weight_of_pairs).clamp(LEAST_BAND, LARGEST_BAND)
}

/// Calls `visit` for those of the rows, but for some others, whose pairs' variables are known, to ask for arcs within the
/// bands, and `take` with what it has found in each few rows, in order; `false` when interrupted.
fn each_row<R: Default + Send>(
    (at, bands): (&At<'_>, &[f64]),
    (rows, others): (Rows, Option<Rows>),
    near: &mut [f64],
    threads: &Threads,
    monitor: &mut dyn Monitor,
    visit: impl Fn(usize, &mut Row, &mut R) + Sync,
    mut take: impl FnMut(R),
) -> bool {
    let q = at.labels.count();
    let widest = widest(bands);
    let together = (LABELS_TOGETHER / q).clamp(1, ROWS_TOGETHER);
    let between_polls = CHUNKS_BETWEEN_POLLS * threads.count() * together;
    for (poll, near) in near.chunks_mut(between_polls).enumerate() {
        if monitor.interrupted() {
            return false;
        }
        let found = threads.map_chunks(near, together, |chunk, near| {
            let (mut row, mut found) = (Row::new(q), R::default());
            let first = poll * between_polls + chunk * together;
            for (i, near) in (first..).zip(near) {
                let known = others.is_some_and(|others| others.include(i, *near));
                let asked = i.is_multiple_of(rows.stride) && !known && at.labels.has_pairs(i);
                if asked && row.explain(at, i, near, rows.farthest, widest) {
                    visit(i, &mut row, &mut found);
                }
            }
            found
        });
        found.into_iter().for_each(&mut take);
    }
    true
}

/// The residual capacities of some rows; `None` when interrupted.
pub(super) fn capacities(
    at: &At<'_>,
    bands: &[f64],
    rows: Rows,
    near: &mut [f64],
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Option<Network> {
    let network = Network::new(at.labels.count(), steps(bands));
    add_rows(network, at, bands, (rows, None), near, threads, monitor)
}

/// Adds the residual capacities of some rows, but for others; `None` when interrupted.
fn add_rows(
    mut network: Network,
    at: &At<'_>,
    bands: &[f64],
    rows: (Rows, Option<Rows>),
    near: &mut [f64],
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Option<Network> {
    let places = network.places();
    let complete = each_row(
        (at, bands),
        rows,
        near,
        threads,
        monitor,
        |i, row, found: &mut Vec<(usize, f64)>| {
            row.arcs(at, i, bands, |arc| {
                found.push((places.of(arc.tail, arc.head, arc.cost), arc.capacity));
            });
        },
        |found| {
            for (place, capacity) in found {
                network.add(place, capacity);
            }
        },
    );
    complete.then_some(network)
}

/// What the arcs of a label lack to carry its demand, whatever the other labels do; 0 where they may do.
pub(super) fn shortages(demand: &[f64], network: &Network) -> Vec<f64> {
    let total: f64 = demand.iter().map(|amount| amount.abs()).sum();
    let rounding = demand.len() as f64 * f64::EPSILON * total;
    let (out, into) = network.totals();
    let carried = |k: usize| if demand[k] > 0.0 { out[k] } else { into[k] };
    let lacking = |k: usize| demand[k].abs() - carried(k);
    (0..demand.len())
        .map(|k| {
            if lacking(k) > rounding {
                lacking(k)
            } else {
                0.0
            }
        })
        .collect()
}

fn is_met(unmet: &[f64]) -> bool {
    unmet.iter().all(|&amount| amount == 0.0)
}

impl Plan {
    /// Calls `visit(i, change of beta_i)` for the rows that move; `false` when interrupted.
    pub fn moves(
        &mut self,
        at: &At<'_>,
        threads: &Threads,
        monitor: &mut dyn Monitor,
        mut visit: impl FnMut(usize, &[f64]),
    ) -> bool {
        let q = at.labels.count();
        let Flow {
            bands,
            prices,
            spread,
        } = &self.flow;
        let steps = Steps {
            spread: *spread,
            ..steps(bands)
        };
        each_row(
            (at, bands),
            (self.rows, None),
            &mut self.near,
            threads,
            monitor,
            |i, row, found: &mut Vec<(usize, Vec<f64>)>| {
                let (mut change, mut moved) = (vec![0.0; q], false);
                row.arcs(at, i, bands, |arc| {
                    let difference = prices[arc.tail] - prices[arc.head];
                    if difference <= 0.0 {
                        return;
                    }
                    let share = steps.share(steps.of(arc.cost), difference);
                    change[arc.tail] += share * arc.capacity;
                    change[arc.head] -= share * arc.capacity;
                    moved |= share > 0.0;
                });
                if moved {
                    found.push((i, change));
                }
            },
            |found| found.iter().for_each(|(i, change)| visit(*i, change)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::vector::{axpy, row_sum};
    use crate::pairwise::bias::repair::in_box;

    struct Problem {
        labels: Labels,
        dual: Vec<f64>,
        scores: Vec<f64>,
        bias: Vec<f64>,
    }

    impl Problem {
        /// Random labels, some of them unknown, and random scores, the dual variables of whose pairs are `c_i` below the margin, 0 above it, and anything near it.
        fn new(seed: u64, n: usize, q: usize, zero_label: bool) -> Self {
            Self::in_doubt(seed, n, q, zero_label, |_| 0.02)
        }

        /// The same with variables that may be anything up to `doubt(i)` from the margin.
        fn in_doubt(
            seed: u64,
            n: usize,
            q: usize,
            zero_label: bool,
            doubt: impl Fn(usize) -> f64,
        ) -> Self {
            let mut random = fastrand::Rng::with_seed(seed);
            let indicator: Vec<u8> = (0..n * q).map(|_| random.u8(0..3)).collect();
            let mut labels = Labels::new(&indicator, q, 3.0).unwrap();
            if zero_label {
                labels = labels.with_zero_label(3.0, None).unwrap();
            }
            let q = labels.count();
            let scores: Vec<f64> = (0..n * q).map(|_| 1.5 * random.f64()).collect();
            let bias: Vec<f64> = (0..q).map(|_| random.f64() - 0.5).collect();
            let mut dual = vec![0.0; n * q];
            for i in (0..n).filter(|&i| labels.has_pairs(i)) {
                let relevant: Vec<usize> = labels.relevant(i).iter().map(|&m| m as usize).collect();
                let irrelevant: Vec<usize> = labels.irrelevant(i).collect();
                let pairs: Vec<(usize, usize)> = if zero_label {
                    let preferred = relevant.iter().map(|&m| (m, q - 1));
                    let others = irrelevant.iter().filter(|&&n| n != q - 1);
                    preferred.chain(others.map(|&n| (q - 1, n))).collect()
                } else {
                    let with_all = |&m: &usize| irrelevant.iter().map(move |&n| (m, n));
                    relevant.iter().flat_map(with_all).collect()
                };
                for (m, n) in pairs {
                    let margin = scores[i * q + m] + bias[m] - scores[i * q + n] - bias[n];
                    let share = match margin - 1.0 {
                        excess if excess < -doubt(i) => 1.0,
                        excess if excess > doubt(i) => 0.0,
                        _ => random.f64(),
                    };
                    dual[i * q + m] += share * labels.weight(i);
                    dual[i * q + n] -= share * labels.weight(i);
                }
            }
            Self {
                labels,
                dual,
                scores,
                bias,
            }
        }

        fn at(&self) -> At<'_> {
            At {
                labels: &self.labels,
                dual: &self.dual,
                scores: &self.scores,
                bias: &self.bias,
                mixtures: false,
            }
        }
    }

    #[test]
    fn a_repaired_point_is_feasible_and_sums_to_zero() {
        for seed in 0..40 {
            let problem = Problem::new(seed, 60, 5, seed % 2 == 1);
            let (labels, q) = (&problem.labels, problem.labels.count());
            let sum = row_sum(&problem.dual, q);
            let mut plan = plan(&problem.at(), &sum, &Threads::new(1), &mut ()).unwrap();
            let mut moved = problem.dual.clone();
            assert!(
                plan.moves(&problem.at(), &Threads::new(1), &mut (), |i, change| {
                    axpy(1.0, change, &mut moved[i * q..(i + 1) * q]);
                })
            );
            assert!(sum.iter().any(|g| g.abs() > 0.1));
            assert!(row_sum(&moved, q).iter().all(|g| g.abs() < 1e-12));
            for i in (0..60).filter(|&i| labels.has_pairs(i)) {
                let (row, relevant) = (&moved[i * q..(i + 1) * q], labels.relevant(i).len());
                let mut gathered = vec![0.0; q];
                let known = labels.gather(i, row, &mut gathered);
                assert!(labels.known_only(i, row));
                if labels.has_zero_label() {
                    let (c, (others, zero)) = (labels.weight(i), known.split_at(known.len() - 1));
                    let mut total = zero[0];
                    for (k, &beta) in others.iter().enumerate() {
                        let alpha = if k < relevant { beta } else { -beta };
                        assert!((-1e-12..=c + 1e-12).contains(&alpha));
                        total += beta;
                    }
                    assert!(total.abs() < 1e-12);
                } else {
                    assert!(in_box(known, relevant, labels.weight(i)));
                }
            }
        }
    }

    /// Of many rows, every second one in doubt near the margin moves, then all of these, then the others: each part only
    /// where the one before cannot carry the flow.
    #[test]
    fn few_of_many_rows_carry_the_flow_if_they_can() {
        let far = |i: usize| if i % 4 < 2 { 0.02 } else { 0.2 };
        let problem = Problem::in_doubt(1, MANY, 5, false, far);
        let sum = row_sum(&problem.dual, 5);
        let mut reached = Vec::new();
        for share in [0.03, 0.3, 1.0] {
            let sum: Vec<f64> = sum.iter().map(|g| share * g).collect();
            let mut plan = plan(&problem.at(), &sum, &Threads::new(1), &mut ()).unwrap();
            let (near, rows) = (plan.near.clone(), plan.rows);
            let (mut moved, mut others) = (vec![0.0; 5], [0; 2]);
            assert!(
                plan.moves(&problem.at(), &Threads::new(1), &mut (), |i, change| {
                    assert!(rows.include(i, near[i]));
                    others[0] += i % 2;
                    others[1] += usize::from(near[i] > CLOSE);
                    axpy(1.0, change, &mut moved);
                })
            );
            let most = sum.iter().fold(0.0, |most: f64, g| most.max(g.abs()));
            for (moved, g) in moved.iter().zip(&sum) {
                assert!((moved + g).abs() < 1e-10 * most);
            }
            assert_eq!(
                others.map(|rows| rows > 0),
                [rows != STAGES[0], rows == Rows::ALL]
            );
            reached.push(rows);
        }
        assert_eq!(reached, STAGES);
    }
}
