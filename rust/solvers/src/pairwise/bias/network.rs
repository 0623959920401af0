//! Prices at which a small network carries a demand.
//!
//! The flow on an arc increases with the difference of the prices at its ends, from 0 at a difference of 0. The prices
//! maximize a concave function whose gradient is the unmet demand. As the gradient is piecewise linear, a few Newton steps,
//! each solved by conjugate gradients on the Laplacian of the arcs' slopes, are exact up to rounding.

use super::tuning::PRICES;
use crate::linalg::vector::{axpy, dot};
use crate::memory::{self, Purpose};
use multiversion::multiversion;
use std::borrow::Cow;

/// Number of cost steps.
pub const STEPS: usize = 16;

/// End of the first step.
const FIRST_END: f64 = 1.0 / 1024.0;

/// The share of each capacity that opens evenly from a price of 0 to the end of the last step, whatever its cost, so that
/// slopes are never 0.
const SPREAD: f64 = 0.05;

/// Columns of the lower triangle of slopes that are computed together.
const TOGETHER: usize = 32;

/// Cost steps at which arcs open as the price difference increases: a geometric sequence.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    ends: [f64; STEPS],
}

impl Steps {
    /// The steps up to the highest cost.
    pub fn up_to(dearest: f64) -> Self {
        let growth = (dearest / FIRST_END)
            .max(1.0)
            .powf(1.0 / (STEPS - 1) as f64);
        let mut ends = [dearest.max(FIRST_END); STEPS];
        let mut next = FIRST_END;
        for end in &mut ends[..STEPS - 1] {
            *end = next;
            next *= growth;
        }
        Self { ends }
    }

    /// The step of a cost, or the number of steps.
    #[inline(always)]
    fn of(&self, cost: f64) -> usize {
        self.ends.iter().map(|&end| usize::from(end < cost)).sum()
    }

    /// Index of the capacity for a cost on an arc from `tail` to `head`.
    #[inline]
    pub fn place(&self, nodes: usize, tail: usize, head: usize, cost: f64) -> usize {
        (tail * nodes + head) * STEPS + self.of(cost)
    }

    /// Where a step begins.
    #[inline]
    fn start(&self, step: usize) -> f64 {
        if step == 0 { 0.0 } else { self.ends[step - 1] }
    }

    /// The share of a capacity of this cost that is carried at a price difference.
    #[inline]
    pub fn share(&self, cost: f64, difference: f64) -> f64 {
        let step = self.of(cost);
        let start = self.start(step);
        let own = ((difference - start) / (self.ends[step] - start)).clamp(0.0, 1.0);
        let evenly = (difference / self.ends[STEPS - 1]).clamp(0.0, 1.0);
        own + SPREAD * (evenly - own)
    }
}

/// Arcs between any two nodes, by cost step. Only the last `HELD` steps are stored; the others are empty.
pub struct Network<'a, const HELD: usize = STEPS> {
    nodes: usize,
    steps: Steps,
    /// By tail, head and step, cumulated over the steps.
    capacities: Cow<'a, [f64]>,
    /// The total capacity of the arcs out of and into each node.
    out: Vec<f64>,
    into: Vec<f64>,
}

impl Network<'static> {
    /// The network with the capacities at their places.
    pub fn new(nodes: usize, steps: Steps, mut capacities: Vec<f64>) -> Self {
        for by_step in capacities.chunks_exact_mut(STEPS) {
            let mut before = 0.0;
            for capacity in by_step {
                before += *capacity;
                *capacity = before;
            }
        }
        Self::of_sums(nodes, steps, Cow::Owned(capacities))
    }
}

impl<'a> Network<'a, 1> {
    /// The network of arcs that all have the highest cost, by tail and head.
    pub fn of_dearest(nodes: usize, steps: Steps, capacities: &'a [f64]) -> Self {
        Self::of_sums(nodes, steps, Cow::Borrowed(capacities))
    }
}

impl<'a, const HELD: usize> Network<'a, HELD> {
    /// The network with the cumulated capacities of the stored steps.
    fn of_sums(nodes: usize, steps: Steps, capacities: Cow<'a, [f64]>) -> Self {
        let (mut out, mut into) = (vec![0.0; nodes], vec![0.0; nodes]);
        let rows = capacities.chunks_exact((nodes * HELD).max(1));
        for (out, row) in out.iter_mut().zip(rows) {
            for (into, by_step) in into.iter_mut().zip(row.chunks_exact(HELD)) {
                *out += by_step[HELD - 1];
                *into += by_step[HELD - 1];
            }
        }
        Self {
            nodes,
            steps,
            capacities,
            out,
            into,
        }
    }

    /// The net outflow of each node when all arcs are full.
    pub fn outflow(&self) -> Vec<f64> {
        let both = self.out.iter().zip(&self.into);
        both.map(|(out, into)| out - into).collect()
    }

    /// The prices at which every node `k` has the net outflow `demand[k]`, searched from `start`; `None` when `interrupted`.
    pub fn priced(
        &self,
        demand: &[f64],
        start: &[f64],
        interrupted: &mut dyn FnMut() -> bool,
    ) -> Option<Priced> {
        let lacking = self.shortages(demand);
        if lacking.iter().any(|&amount| amount > 0.0) {
            return Some(Err(lacking));
        }
        let dearest = self.steps.ends[STEPS - 1];
        let both = self.out.iter().zip(&self.into);
        let scale: Vec<f64> = both.map(|(out, into)| (out + into) / dearest).collect();
        let carried = |tail, head, difference| self.carried(tail * self.nodes + head, difference);
        priced(demand, &scale, start, &carried, interrupted)
    }

    /// The part of each node's demand that exceeds the capacity of its arcs.
    fn shortages(&self, demand: &[f64]) -> Vec<f64> {
        let total: f64 = demand.iter().map(|amount| amount.abs()).sum();
        let rounding = demand.len() as f64 * f64::EPSILON * total;
        let rooms = self.out.iter().zip(&self.into);
        let lacking = demand.iter().zip(rooms).map(|(&amount, (out, into))| {
            let lacking = amount.abs() - if amount > 0.0 { out } else { into };
            if lacking > rounding { lacking } else { 0.0 }
        });
        lacking.collect()
    }

    /// The flow on an arc at a price difference, and its slope there.
    #[inline(always)]
    fn carried(&self, pair: usize, difference: f64) -> (f64, f64) {
        let before = &self.capacities[pair * HELD..(pair + 1) * HELD];
        let steps = &self.steps;
        if before[HELD - 1] == 0.0 {
            return (0.0, 0.0);
        }
        let step = steps.of(difference);
        if step == STEPS {
            return (before[HELD - 1], 0.0);
        }
        // Number of stored steps among the first `steps`.
        let up_to = |steps: usize| match (steps + HELD).checked_sub(STEPS) {
            None | Some(0) => 0.0,
            Some(held) => before[held - 1],
        };
        let (full, start) = (up_to(step), steps.start(step));
        let slope = (up_to(step + 1) - full) / (steps.ends[step] - start);
        let evenly = before[HELD - 1] / steps.ends[STEPS - 1];
        let own = full + slope * (difference - start);
        (
            own + SPREAD * (evenly * difference - own),
            slope + SPREAD * (evenly - slope),
        )
    }
}

/// The prices at which a network carries a demand, one per node, up to a constant; or the absolute value of each node's
/// demand that it cannot carry.
pub type Priced = Result<Vec<f64>, Vec<f64>>;

/// The prices at which every node `k` has the net outflow `demand[k]`, for arcs between any two nodes, given by their flow
/// and its slope at a nonnegative price difference. `scale` is the approximate total slope of a node's arcs. `None` when
/// `interrupted`.
pub fn priced(
    demand: &[f64],
    scale: &[f64],
    start: &[f64],
    carried: &impl Fn(usize, usize, f64) -> (f64, f64),
    interrupted: &mut dyn FnMut() -> bool,
) -> Option<Priced> {
    let nodes = demand.len();
    Newton {
        demand,
        scale,
        carried,
        damping: PRICES.first_damping,
        prices: start.to_vec(),
        left: demand.to_vec(),
        slopes: memory::zeros_for(triangle(nodes), Purpose::LabelNetwork),
        diagonal: vec![0.0; nodes],
    }
    .solve(interrupted)
}

/// Number of pairs of `nodes` nodes, which is also the start of that row in a lower triangle without diagonal.
fn triangle(nodes: usize) -> usize {
    nodes.saturating_mul(nodes.saturating_sub(1)) / 2
}

/// Subtracts the flows at some prices from the demand that is `left`, and writes the slopes between any two nodes.
///
/// Between two nodes, only the arc towards the lower price carries flow; if the prices are equal, both arcs have a slope.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma"))]
fn subtract_flows<F: Fn(usize, usize, f64) -> (f64, f64)>(
    prices: &[f64],
    carried: &F,
    slopes: &mut [f64],
    (left, diagonal): (&mut [f64], &mut [f64]),
) {
    let nodes = prices.len();
    // A block of columns at a time, so that the upward arcs are read in cache lines, too.
    for first in (0..nodes).step_by(TOGETHER) {
        for row in first + 1..nodes {
            for column in first..row.min(first + TOGETHER) {
                let difference = prices[row] - prices[column];
                let (tail, head) = if difference >= 0.0 {
                    (row, column)
                } else {
                    (column, row)
                };
                let (flow, mut slope) = carried(tail, head, difference.abs());
                if difference == 0.0 {
                    slope += carried(head, tail, 0.0).1;
                }
                slopes[triangle(row) + column] = slope;
                left[tail] -= flow;
                left[head] += flow;
                diagonal[tail] += slope;
                diagonal[head] += slope;
            }
        }
    }
}

/// Newton's method for the prices.
struct Newton<'a, F> {
    demand: &'a [f64],
    scale: &'a [f64],
    carried: &'a F,
    damping: f64,
    prices: Vec<f64>,
    /// The unmet demand.
    left: Vec<f64>,
    /// Slopes between any two nodes, as a lower triangle, and the diagonal of the Laplacian.
    slopes: Vec<f64>,
    diagonal: Vec<f64>,
}

impl<F: Fn(usize, usize, f64) -> (f64, f64)> Newton<'_, F> {
    fn solve(mut self, interrupted: &mut dyn FnMut() -> bool) -> Option<Priced> {
        let total: f64 = self.demand.iter().map(|amount| amount.abs()).sum();
        let rounding = PRICES.exact * total;
        self.evaluate();
        for _ in 0..PRICES.newton_steps {
            if interrupted() {
                return None;
            }
            let most = largest(&self.left);
            if most <= rounding {
                break;
            }
            let share = most / total;
            let direction = self.direction(
                (share * share).clamp(PRICES.exact, PRICES.forcing),
                interrupted,
            )?;
            let length = self.search(&direction, interrupted)?;
            self.damping *= if length < PRICES.short {
                PRICES.more_damping
            } else {
                PRICES.less_damping
            };
            if self.damping > PRICES.most_damping && length == 0.0 {
                break;
            }
            self.damping = self
                .damping
                .clamp(PRICES.least_damping, PRICES.most_damping);
        }
        let most = largest(&self.left);
        if most <= rounding {
            return Some(Ok(self.prices));
        }
        // Small remainders elsewhere belong to the node with the largest one.
        let kept = |left: &f64| {
            if left.abs() > PRICES.much * most {
                left.abs()
            } else {
                0.0
            }
        };
        Some(Err(self.left.iter().map(kept).collect()))
    }

    /// Computes the unmet demand at the prices, and the slopes.
    fn evaluate(&mut self) {
        self.left.copy_from_slice(self.demand);
        self.diagonal.fill(0.0);
        let sums = (&mut *self.left, &mut *self.diagonal);
        subtract_flows(&self.prices, self.carried, &mut self.slopes, sums);
    }

    /// The Newton direction, to a relative residual of `share`, by conjugate gradients; `None` when `interrupted`.
    fn direction(&self, share: f64, interrupted: &mut dyn FnMut() -> bool) -> Option<Vec<f64>> {
        let nodes = self.demand.len();
        let mut direction = vec![0.0; nodes];
        let mut residual = self.left.clone();
        let damped = self.diagonal.iter().zip(self.scale);
        let diagonal: Vec<f64> = damped.map(|(d, scale)| d + self.damping * scale).collect();
        let scaled = |residual: &[f64]| -> Vec<f64> {
            let pairs = residual.iter().zip(&diagonal);
            pairs
                .map(|(r, d)| if *d > 0.0 { r / d } else { 0.0 })
                .collect()
        };
        let mut conjugate = scaled(&residual);
        let mut square = dot(&residual, &conjugate);
        let goal = share * share * square;
        for _ in 0..PRICES.gradient_steps {
            if interrupted() {
                return None;
            }
            let product = self.product(&diagonal, &conjugate);
            let curvature = dot(&conjugate, &product);
            if curvature <= 0.0 {
                break;
            }
            axpy(square / curvature, &conjugate, &mut direction);
            axpy(-square / curvature, &product, &mut residual);
            let next = scaled(&residual);
            let next_square = dot(&residual, &next);
            if next_square <= goal {
                break;
            }
            let ratio = next_square / square;
            square = next_square;
            for (c, n) in conjugate.iter_mut().zip(&next) {
                *c = n + ratio * *c;
            }
        }
        Some(direction)
    }

    /// The Laplacian with another diagonal times a vector.
    fn product(&self, diagonal: &[f64], vector: &[f64]) -> Vec<f64> {
        let mut product: Vec<f64> = diagonal.iter().zip(vector).map(|(d, v)| d * v).collect();
        for row in 1..vector.len() {
            let slopes = &self.slopes[triangle(row)..triangle(row + 1)];
            product[row] -= dot(slopes, &vector[..row]);
            axpy(-vector[row], slopes, &mut product[..row]);
        }
        product
    }

    /// Line search along a direction until the gain is nearly exhausted; returns the step length, `None` when `interrupted`.
    fn search(&mut self, direction: &[f64], interrupted: &mut dyn FnMut() -> bool) -> Option<f64> {
        let first = dot(&self.left, direction);
        let start = self.prices.clone();
        let (mut low, mut high, mut length) = (0.0, f64::INFINITY, 1.0);
        for _ in 0..PRICES.trials {
            if interrupted() {
                return None;
            }
            self.prices.copy_from_slice(&start);
            axpy(length, direction, &mut self.prices);
            self.evaluate();
            let gain = dot(&self.left, direction);
            if gain.abs() <= PRICES.flat * first {
                return Some(length);
            }
            if gain > 0.0 {
                low = length;
            } else {
                high = length;
            }
            length = if high < f64::INFINITY {
                0.5 * (low + high)
            } else {
                2.0 * length
            };
        }
        self.prices.copy_from_slice(&start);
        axpy(low, direction, &mut self.prices);
        self.evaluate();
        Some(low)
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, value| value.abs().max(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn net(arcs: &[(usize, usize, f64, f64)], nodes: usize) -> Network<'static> {
        let steps = Steps::up_to(12.0);
        let mut capacities = vec![0.0; nodes * nodes * STEPS];
        for &(tail, head, cost, capacity) in arcs {
            capacities[steps.place(nodes, tail, head, cost)] += capacity;
        }
        Network::new(nodes, steps, capacities)
    }

    /// The demand is the net outflow at random prices.
    #[test]
    fn random_networks_carry_their_demand() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..200 {
            let nodes = random.usize(2..9);
            let mut arcs = Vec::new();
            for _ in 0..random.usize(nodes..60) {
                let (tail, head) = (random.usize(0..nodes), random.usize(0..nodes));
                if tail != head {
                    arcs.push((tail, head, 12.0 * random.f64(), random.f64()));
                }
            }
            let network = net(&arcs, nodes);
            let carried = |prices: &[f64]| {
                let mut outflow = vec![0.0; nodes];
                for &(tail, head, cost, capacity) in &arcs {
                    let share = network.steps.share(cost, prices[tail] - prices[head]);
                    outflow[tail] += share * capacity;
                    outflow[head] -= share * capacity;
                }
                outflow
            };
            let prices: Vec<f64> = (0..nodes).map(|_| 8.0 * random.f64()).collect();
            let demand = carried(&prices);
            let found = network
                .priced(&demand, &vec![0.0; nodes], &mut || false)
                .unwrap()
                .unwrap();
            let total: f64 = demand.iter().map(|amount| amount.abs()).sum();
            for (there, wanted) in carried(&found).iter().zip(&demand) {
                assert!((there - wanted).abs() <= PRICES.exact * total.max(1e-300));
            }
        }
    }

    #[test]
    fn nodes_that_lack_capacity_are_named() {
        let arcs = [(0, 1, 0.5, 4.0), (1, 0, 0.5, 4.0), (1, 2, 0.5, 1.0)];
        let found = net(&arcs, 3).priced(&[1.0, 1.0, -2.0], &[0.0; 3], &mut || false);
        assert_eq!(found, Some(Err(vec![0.0, 0.0, 1.0])));
        // Each node on its own could carry its demand.
        let arcs = [
            (0, 1, 0.5, 4.0),
            (2, 1, 0.5, 4.0),
            (1, 3, 0.5, 3.0),
            (2, 3, 0.5, 2.0),
        ];
        let found = net(&arcs, 4)
            .priced(&[4.0, 0.0, 1.0, -5.0], &[0.0; 4], &mut || false)
            .unwrap();
        let unmet = found.unwrap_err();
        assert!(unmet.iter().sum::<f64>() > 0.1);
    }
}
