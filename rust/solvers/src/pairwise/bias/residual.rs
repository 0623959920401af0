//! The cheap repair of a point with a free bias: the flow `-g` goes through the pairs whose margin is near 1.
//!
//! The dual variable of a pair may rise to `c_i` or fall to 0. With the margin `z` of the pair, the biases in it, rising
//! by `delta` changes the dual value by `(1 - z) delta` to first order: at a good point nothing where the variable is
//! inside its box, and a loss of `|z - 1| delta` at most where it is not. So `-g` is routed through these *residual*
//! capacities at least cost ([`crate::network::cheapest`]). All pairs of two labels make one bundle of arcs, by cost in
//! a few steps; each step is shared among its pairs in proportion to what they can take.
//!
//! `B` does not hold the dual variables of the pairs. Those of a row are a transport plan: pairs with a margin well below
//! 1 are at `c_i`, well above at 0, and the others take what is left, in the order of their margins. Rows for which that
//! does not come out even are left as they are.

use super::repair::centred;
use crate::labels::Labels;
use crate::memory::{self, Purpose};
use crate::network::cheapest::{Arcs, Cheapest, cheapest_routing};
use crate::report::Monitor;

/// Steps of the cost of a bundle.
const STEPS: usize = 12;

/// Each step reaches so many times as far as the one before.
const GROWTH: f64 = 1.5;

/// Pairs with a margin up to this far from 1 take part, at first.
pub(super) const BAND: f64 = 0.25;

/// How much farther the next attempt goes, and how many there are.
const WIDER: f64 = 4.0;
const ATTEMPTS: usize = 4;

/// The next repair looks at fewer pairs when this one has used none beyond this share of the band.
const NEAR: f64 = 0.1;

/// What may be left of a row's transport plan, as a share of the weight of a pair.
const LEFT_OVER: f64 = 1e-9;

/// Rows between two looks at the interruption.
const ROWS_BETWEEN_POLLS: usize = 16;

/// A point: `B`, the scores `K B`, and the bias, whose sum over rows is to be repaired.
pub(super) struct At<'a> {
    pub labels: &'a Labels,
    /// `n x q` row-major.
    pub dual: &'a [f64],
    /// `n x q` row-major, without the bias.
    pub scores: &'a [f64],
    pub bias: &'a [f64],
}

/// How much of their residual capacities the pairs take.
pub(super) struct Plan {
    band: f64,
    /// By step, tail and head.
    shares: Vec<f64>,
    /// The labels' prices of a unit: the biases at which the flow costs nothing are lower by as much.
    pub prices: Vec<f64>,
    /// Where the next repair had better begin.
    pub next_band: f64,
}

/// A pair of a row, by the positions of its labels.
#[derive(Clone, Copy, Debug)]
struct Pair {
    preferred: u32,
    other: u32,
    /// The margin minus 1.
    excess: f64,
    /// The dual variable.
    alpha: f64,
}

/// A pair's variable that can rise, or fall: then the arc leads back.
struct Arc {
    tail: usize,
    head: usize,
    cost: f64,
    capacity: f64,
}

/// Buffers of a row.
#[derive(Default)]
struct Row {
    /// `0..q`, as numbers that can be gathered.
    all_labels: Vec<f64>,
    /// The known labels, their scores and what is left to explain of `|beta|`, relevant labels first.
    label_of: Vec<f64>,
    scores: Vec<f64>,
    left: Vec<f64>,
    shifted: Vec<f64>,
    pairs: Vec<Pair>,
}

impl Row {
    fn new(q: usize) -> Self {
        Self {
            all_labels: (0..q).map(|k| k as f64).collect(),
            ..Self::default()
        }
    }

    /// Finds the pairs of row `i` with a margin near 1 and their dual variables; none when the row is left as it is.
    fn find(&mut self, at: &At<'_>, i: usize, band: f64) {
        let q = at.labels.count();
        let relevant = at.labels.relevant(i).len();
        let weight = at.labels.weight(i);
        self.pairs.clear();
        let gather = |row: &[f64], into: &mut Vec<f64>| {
            into.resize(q, 0.0);
            let known = at.labels.gather(i, row, into).len();
            into.truncate(known);
        };
        gather(&self.all_labels, &mut self.label_of);
        let range = i * q..(i + 1) * q;
        self.shifted.clear();
        let scores = at.scores[range.clone()].iter().zip(at.bias);
        self.shifted.extend(scores.map(|(score, b)| score + b));
        gather(&self.shifted, &mut self.scores);
        gather(&at.dual[range], &mut self.left);
        self.left[relevant..]
            .iter_mut()
            .for_each(|beta| *beta = -*beta);
        if at.labels.has_zero_label() {
            self.star(relevant, weight, band);
            return;
        }
        for m in 0..relevant {
            self.scan(m, relevant, weight, band);
        }
        self.pairs.sort_unstable_by(|x, y| {
            x.excess
                .total_cmp(&y.excess)
                .then((x.preferred, x.other).cmp(&(y.preferred, y.other)))
        });
        for pair in &mut self.pairs {
            let (m, n) = (pair.preferred as usize, pair.other as usize);
            pair.alpha = weight.min(self.left[m]).min(self.left[n]).max(0.0);
            self.left[m] -= pair.alpha;
            self.left[n] -= pair.alpha;
        }
        let slack = LEFT_OVER * weight;
        if self.left.iter().any(|left| left.abs() > slack) {
            self.pairs.clear();
        }
    }

    /// The pairs of the `m`-th relevant label: those far below the margin take `weight` from what is left.
    fn scan(&mut self, m: usize, relevant: usize, weight: f64, band: f64) {
        let start = self.scores[m] - 1.0;
        let mut full = 0.0;
        let irrelevant = &self.scores[relevant..];
        for (left, score) in self.left[relevant..].iter_mut().zip(irrelevant) {
            let taken = if start - score < -band { weight } else { 0.0 };
            *left -= taken;
            full += taken;
        }
        self.left[m] -= full;
        for (n, score) in irrelevant.iter().enumerate() {
            let excess = start - score;
            if excess.abs() <= band {
                self.pairs.push(Pair {
                    preferred: m as u32,
                    other: (relevant + n) as u32,
                    excess,
                    alpha: 0.0,
                });
            }
        }
    }

    /// The pairs with a zero label, each of which is known by its other label.
    fn star(&mut self, relevant: usize, weight: f64, band: f64) {
        let zero = self.scores.len() - 1;
        for k in 0..zero {
            let (preferred, other) = if k < relevant { (k, zero) } else { (zero, k) };
            let excess = self.scores[preferred] - self.scores[other] - 1.0;
            if excess.abs() <= band {
                self.pairs.push(Pair {
                    preferred: preferred as u32,
                    other: other as u32,
                    excess,
                    alpha: self.left[k].clamp(0.0, weight),
                });
            }
        }
    }

    /// Calls `visit` for what the pairs' variables can do.
    fn arcs(&self, weight: f64, mut visit: impl FnMut(Arc)) {
        for pair in &self.pairs {
            let tail = self.label_of[pair.preferred as usize] as usize;
            let head = self.label_of[pair.other as usize] as usize;
            let slack = LEFT_OVER * weight;
            if weight - pair.alpha > slack {
                visit(Arc {
                    tail,
                    head,
                    cost: pair.excess.max(0.0),
                    capacity: weight - pair.alpha,
                });
            }
            if pair.alpha > slack {
                visit(Arc {
                    tail: head,
                    head: tail,
                    cost: (-pair.excess).max(0.0),
                    capacity: pair.alpha,
                });
            }
        }
    }
}

/// The largest cost of a step.
fn reach(step: usize, band: f64) -> f64 {
    band * GROWTH.powi(step as i32 + 1 - STEPS as i32)
}

/// The step of a cost.
fn step_of(cost: f64, band: f64) -> usize {
    (0..STEPS - 1)
        .find(|&step| cost <= reach(step, band))
        .unwrap_or(STEPS - 1)
}

/// The cheapest repair, among pairs up to `band` from the margin or more; `None` when interrupted, or when they cannot
/// carry it.
pub(super) fn plan(
    at: &At<'_>,
    sum: &[f64],
    mut band: f64,
    monitor: &mut dyn Monitor,
) -> Option<Plan> {
    let demand = centred(sum.iter().map(|g| -g).collect());
    for _ in 0..ATTEMPTS {
        let capacity = capacities(at, band, monitor)?;
        if let Some(plan) = route(&demand, capacity, band, monitor) {
            return Some(plan);
        }
        if monitor.interrupted() {
            return None;
        }
        band *= WIDER;
    }
    None
}

/// The residual capacities by step, tail and head.
fn capacities(at: &At<'_>, band: f64, monitor: &mut dyn Monitor) -> Option<Vec<f64>> {
    let q = at.labels.count();
    let mut capacity = memory::matrix(STEPS * q, q, Purpose::LabelsByLabels);
    let mut row = Row::new(q);
    for i in 0..at.labels.instances() {
        if i % ROWS_BETWEEN_POLLS == 0 && monitor.interrupted() {
            return None;
        }
        if at.labels.has_pairs(i) {
            row.find(at, i, band);
            row.arcs(at.labels.weight(i), |arc| {
                let step = step_of(arc.cost, band);
                capacity[(step * q + arc.tail) * q + arc.head] += arc.capacity;
            });
        }
    }
    Some(capacity)
}

/// Routes the demand at least cost.
fn route(
    demand: &[f64],
    mut capacity: Vec<f64>,
    band: f64,
    monitor: &mut dyn Monitor,
) -> Option<Plan> {
    let q = demand.len();
    let mut arcs = Arcs::default();
    let mut places = Vec::new();
    for (place, &amount) in capacity
        .iter()
        .enumerate()
        .filter(|&(_, &amount)| amount > 0.0)
    {
        let (step, tail, head) = (place / (q * q), place / q % q, place % q);
        let cost = 0.5 * reach(step, band) * (1.0 + 1.0 / GROWTH);
        arcs.push(tail as u32, head as u32, amount, cost);
        places.push(place);
    }
    let cheapest = cheapest_routing(demand, arcs, &mut || monitor.interrupted());
    let Cheapest { flow, prices } = cheapest.ok()??;
    let mut farthest = 0;
    for (&place, &flow) in places.iter().zip(&flow) {
        if flow > 0.0 {
            farthest = farthest.max(place / (q * q));
        }
        capacity[place] = flow / capacity[place];
    }
    let farthest = reach(farthest, band);
    Some(Plan {
        band,
        next_band: if farthest <= NEAR * band {
            band / WIDER
        } else {
            band
        },
        shares: capacity,
        prices,
    })
}

impl Plan {
    /// Calls `visit(i, change of beta_i)` for the rows that move; `false` when interrupted.
    pub fn moves(
        &self,
        at: &At<'_>,
        monitor: &mut dyn Monitor,
        mut visit: impl FnMut(usize, &[f64]),
    ) -> bool {
        let q = at.labels.count();
        let mut row = Row::new(q);
        let mut change = vec![0.0; q];
        for i in 0..at.labels.instances() {
            if i % ROWS_BETWEEN_POLLS == 0 && monitor.interrupted() {
                return false;
            }
            if !at.labels.has_pairs(i) {
                continue;
            }
            row.find(at, i, self.band);
            let mut moved = false;
            row.arcs(at.labels.weight(i), |arc| {
                let step = step_of(arc.cost, self.band);
                let amount = self.shares[(step * q + arc.tail) * q + arc.head] * arc.capacity;
                change[arc.tail] += amount;
                change[arc.head] -= amount;
                moved |= amount > 0.0;
            });
            if moved {
                visit(i, &change);
                change.fill(0.0);
            }
        }
        true
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
                        excess if excess < -0.02 => 1.0,
                        excess if excess > 0.02 => 0.0,
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
            }
        }
    }

    #[test]
    fn a_repaired_point_is_feasible_and_sums_to_zero() {
        for seed in 0..40 {
            let problem = Problem::new(seed, 60, 5, seed % 2 == 1);
            let (labels, q) = (&problem.labels, problem.labels.count());
            let sum = row_sum(&problem.dual, q);
            let plan = plan(&problem.at(), &sum, BAND, &mut ()).unwrap();
            let mut moved = problem.dual.clone();
            assert!(plan.moves(&problem.at(), &mut (), |i, change| {
                axpy(1.0, change, &mut moved[i * q..(i + 1) * q]);
            }));
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

    /// Two pairs of opposite labels, one at the margin and one far from it: the first carries all it can.
    #[test]
    fn pairs_at_the_margin_come_first() {
        let labels = Labels::new(&[1, 0, 1, 0, 0, 1], 2, 1.0).unwrap();
        let problem = Problem {
            labels,
            dual: vec![0.0, 0.0, 0.0, 0.0, -0.5, 0.5],
            scores: vec![1.2, 0.0, 1.0, 0.0, 0.0, 1.0],
            bias: vec![0.0, 0.0],
        };
        let plan = plan(&problem.at(), &[-0.5, 0.5], BAND, &mut ()).unwrap();
        let mut rows = Vec::new();
        plan.moves(&problem.at(), &mut (), |i, change| {
            rows.push((i, change.to_vec()))
        });
        // Row 1 can rise by 1 and row 2 fall by 0.5, both at no cost.
        assert!(rows.iter().all(|&(i, _)| i > 0), "{rows:?}");
        let carried: f64 = rows.iter().map(|(_, change)| change[0]).sum();
        assert!((carried - 0.5).abs() < 1e-15);
    }

    #[test]
    fn an_interruption_leaves_no_plan() {
        struct Now;
        impl Monitor for Now {
            fn interrupted(&mut self) -> bool {
                true
            }
            fn epoch(&mut self, _record: &crate::report::Record) {}
        }
        let problem = Problem::new(1, 60, 5, false);
        let sum = row_sum(&problem.dual, 5);
        assert!(plan(&problem.at(), &sum, BAND, &mut Now).is_none());
        let plan = plan(&problem.at(), &sum, BAND, &mut ()).unwrap();
        assert!(!plan.moves(&problem.at(), &mut Now, |_, _| {}));
    }

    /// A row whose block is no plan that its margins explain does not take part.
    #[test]
    fn rows_that_do_not_come_out_even_are_left_alone() {
        let labels = Labels::new(&[1, 0, 1, 0], 2, 1.0).unwrap();
        let problem = Problem {
            labels,
            // The first pair is far above the margin and yet in use.
            dual: vec![0.5, -0.5, 0.5, -0.5],
            scores: vec![9.0, 0.0, 1.0, 0.0],
            bias: vec![0.0, 0.0],
        };
        let mut row = Row::new(2);
        row.find(&problem.at(), 0, BAND);
        assert!(row.pairs.is_empty());
        row.find(&problem.at(), 1, BAND);
        assert_eq!(row.pairs.len(), 1);
        assert!(
            plan(&problem.at(), &[1.0, -1.0], BAND, &mut ()).is_some_and(|plan| {
                let mut moved = false;
                plan.moves(&problem.at(), &mut (), |i, _| moved |= i == 0);
                !moved || plan.band > 8.0
            })
        );
    }
}
