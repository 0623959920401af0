//! The prices at which a small network carries a demand.
//!
//! What an arc carries rises with the difference of the prices at its ends: nothing below 0, and within each step of
//! costs the step's capacity, evenly. The prices maximize a concave function, whose gradient is what is left of the
//! demand: Newton steps, each solved by conjugate gradients on the Laplacian of the arcs' slopes, are exact to rounding
//! after a few, for the gradient is linear in pieces.

use crate::linalg::vector::{axpy, dot};
use crate::memory;

/// Newton steps, steps of conjugate gradients in each, and trials of a line search.
const NEWTON_STEPS: usize = 100;
const GRADIENT_STEPS: usize = 200;
const TRIALS: usize = 30;

/// A line search ends where the slope is this share of the first one.
const FLAT: f64 = 0.5;

/// Conjugate gradients stop at this share of what is left, at first; later at the square of the share of the demand, and
/// before there is nothing but rounding.
const FORCING: f64 = 0.1;
const EXACT: f64 = 1e-12;

/// Damping, by a slope for each node, as a share of its capacity over the dearest cost: the first one, the least, which
/// nodes all of whose arcs are full or empty need, the most, and how it changes with the length of a step.
const FIRST_DAMPING: f64 = 0.1;
const LEAST_DAMPING: f64 = 1e-9;
const MOST_DAMPING: f64 = 1e4;
const MORE_DAMPING: f64 = 100.0;
const LESS_DAMPING: f64 = 0.1;
const SHORT: f64 = 0.25;

/// The spread with which Newton's method goes on where it ends without one: slopes are nowhere 0 then.
const SPREAD: f64 = 0.25;

/// Nodes with less than this share of what is left at another are no reason for it.
const MUCH: f64 = 1e-2;

/// The steps of costs, by which arcs open as the difference of prices rises.
#[derive(Clone, Copy, Debug)]
pub struct Steps<const STEPS: usize> {
    /// Where they end, in ascending order; the first begins at 0.
    pub ends: [f64; STEPS],
    /// The share of each capacity that opens evenly from 0 to the last end, whatever its cost.
    pub spread: f64,
}

impl<const STEPS: usize> Steps<STEPS> {
    /// The step of a cost, or the number of steps.
    #[inline]
    pub fn of(&self, cost: f64) -> usize {
        self.ends.iter().map(|&end| usize::from(end < cost)).sum()
    }

    /// Where a step begins.
    #[inline]
    pub fn start(&self, step: usize) -> f64 {
        if step == 0 { 0.0 } else { self.ends[step - 1] }
    }

    /// The share of a step's capacity that is carried at a difference of prices.
    #[inline]
    pub fn share(&self, step: usize, difference: f64) -> f64 {
        let start = self.start(step);
        let own = ((difference - start) / (self.ends[step] - start)).clamp(0.0, 1.0);
        let evenly = (difference / self.ends[STEPS - 1]).clamp(0.0, 1.0);
        own + self.spread * (evenly - own)
    }
}

/// Arcs between any two nodes, in steps of costs.
pub struct Network<const STEPS: usize> {
    nodes: usize,
    steps: Steps<STEPS>,
    /// By tail, head and step; once closed, with the capacities of the steps before.
    capacities: Vec<f64>,
}

/// Where a network holds the capacities of arcs.
#[derive(Clone, Copy, Debug)]
pub struct Places<const STEPS: usize> {
    nodes: usize,
    steps: Steps<STEPS>,
}

impl<const STEPS: usize> Places<STEPS> {
    /// The place of an arc whose cost is at most the end of the last step.
    #[inline]
    pub fn of(&self, tail: usize, head: usize, cost: f64) -> usize {
        (tail * self.nodes + head) * STEPS + self.steps.of(cost)
    }
}

/// What a network makes of a demand.
pub struct Prices<const STEPS: usize> {
    /// One a node, up to a constant.
    pub prices: Vec<f64>,
    /// The steps by which the arcs opened.
    pub steps: Steps<STEPS>,
    /// What could not be carried of each node's demand, without its sign; 0 everywhere when all is carried.
    pub unmet: Vec<f64>,
}

impl<const STEPS: usize> Prices<STEPS> {
    /// Whether all of the demand is carried.
    pub fn is_met(&self) -> bool {
        self.unmet.iter().all(|&amount| amount == 0.0)
    }
}

impl<const STEPS: usize> Network<STEPS> {
    /// A network without arcs.
    pub fn new(nodes: usize, steps: Steps<STEPS>) -> Self {
        let capacities = memory::matrix(nodes * STEPS, nodes);
        Self::of(nodes, steps, capacities)
    }

    /// The network with these capacities, by tail, head and step.
    pub fn of(nodes: usize, steps: Steps<STEPS>, capacities: Vec<f64>) -> Self {
        Self {
            nodes,
            steps,
            capacities,
        }
    }

    /// The capacities, by tail, head and step.
    pub fn into_capacities(self) -> Vec<f64> {
        self.capacities
    }

    /// Where the capacities are.
    pub fn places(&self) -> Places<STEPS> {
        Places {
            nodes: self.nodes,
            steps: self.steps,
        }
    }

    /// Adds capacity to an arc.
    #[inline]
    pub fn add(&mut self, place: usize, capacity: f64) {
        self.capacities[place] += capacity;
    }

    /// The network with all of its arcs.
    pub fn closed(mut self) -> Closed<STEPS> {
        let (mut out, mut into) = (vec![0.0; self.nodes], vec![0.0; self.nodes]);
        let rows = self.capacities.chunks_exact_mut(self.nodes * STEPS);
        for (out, row) in out.iter_mut().zip(rows) {
            for (into, by_step) in into.iter_mut().zip(row.chunks_exact_mut(STEPS)) {
                let mut before = 0.0;
                for capacity in by_step {
                    before += *capacity;
                    *capacity = before;
                }
                *out += before;
                *into += before;
            }
        }
        Closed {
            network: self,
            out,
            into,
        }
    }

    /// What an arc carries at a difference of prices, and its slope there.
    #[inline]
    fn carried(&self, pair: usize, difference: f64) -> (f64, f64) {
        let before = &self.capacities[pair * STEPS..(pair + 1) * STEPS];
        let steps = &self.steps;
        let step = steps.of(difference);
        if step == STEPS {
            return (before[STEPS - 1], 0.0);
        }
        let full = if step == 0 { 0.0 } else { before[step - 1] };
        let start = steps.start(step);
        let slope = (before[step] - full) / (steps.ends[step] - start);
        let evenly = before[STEPS - 1] / steps.ends[STEPS - 1];
        let own = full + slope * (difference - start);
        (
            own + steps.spread * (evenly * difference - own),
            slope + steps.spread * (evenly - slope),
        )
    }
}

/// A network that has all of its arcs.
pub struct Closed<const STEPS: usize> {
    network: Network<STEPS>,
    /// What all arcs of each node can carry, out of it.
    pub out: Vec<f64>,
    /// The same into it.
    pub into: Vec<f64>,
}

impl<const STEPS: usize> Closed<STEPS> {
    /// The prices at which every node `k` has the net outflow `demand[k]`; `None` when `interrupted` returns true.
    pub fn priced(
        &mut self,
        demand: &[f64],
        interrupted: &mut dyn FnMut() -> bool,
    ) -> Option<Prices<STEPS>> {
        let dearest = self.network.steps.ends[STEPS - 1];
        let both = self.out.iter().zip(&self.into);
        let scale: Vec<f64> = both.map(|(out, into)| (out + into) / dearest).collect();
        let found = Newton::new(&self.network, demand, &scale).solve(interrupted)?;
        if found.is_met() {
            return Some(found);
        }
        let spread = std::mem::replace(&mut self.network.steps.spread, SPREAD);
        let found = Newton::new(&self.network, demand, &scale).solve(interrupted);
        self.network.steps.spread = spread;
        found
    }
}

/// Newton's method for the prices.
struct Newton<'a, const STEPS: usize> {
    network: &'a Network<STEPS>,
    demand: &'a [f64],
    /// The slopes of a damping of 1.
    scale: &'a [f64],
    damping: f64,
    prices: Vec<f64>,
    /// What is left of the demand.
    left: Vec<f64>,
    /// By tail and head, and the diagonal of the Laplacian.
    slopes: Vec<f64>,
    diagonal: Vec<f64>,
}

impl<'a, const STEPS: usize> Newton<'a, STEPS> {
    fn new(network: &'a Network<STEPS>, demand: &'a [f64], scale: &'a [f64]) -> Self {
        let nodes = network.nodes;
        Self {
            network,
            demand,
            scale,
            damping: FIRST_DAMPING,
            prices: vec![0.0; nodes],
            left: demand.to_vec(),
            slopes: memory::matrix(nodes, nodes),
            diagonal: vec![0.0; nodes],
        }
    }

    fn solve(mut self, interrupted: &mut dyn FnMut() -> bool) -> Option<Prices<STEPS>> {
        let total: f64 = self.demand.iter().map(|amount| amount.abs()).sum();
        let rounding = 4.0 * self.network.nodes as f64 * f64::EPSILON * total;
        self.evaluate();
        for _ in 0..NEWTON_STEPS {
            if interrupted() {
                return None;
            }
            let most = largest(&self.left);
            if most <= rounding {
                break;
            }
            let share = most / total;
            let direction = self.direction((share * share).clamp(EXACT, FORCING), interrupted)?;
            let length = self.search(&direction);
            self.damping *= if length < SHORT {
                MORE_DAMPING
            } else {
                LESS_DAMPING
            };
            if self.damping > MOST_DAMPING && length == 0.0 {
                break;
            }
            self.damping = self.damping.clamp(LEAST_DAMPING, MOST_DAMPING);
        }
        // What is left elsewhere would have gone to where most is left.
        let least = rounding.max(MUCH * largest(&self.left));
        let kept = |left: &f64| if left.abs() > least { left.abs() } else { 0.0 };
        let unmet = self.left.iter().map(kept).collect();
        Some(Prices {
            prices: self.prices,
            steps: self.network.steps,
            unmet,
        })
    }

    /// What is left of the demand at the prices, and the slopes.
    fn evaluate(&mut self) {
        let nodes = self.network.nodes;
        self.left.copy_from_slice(self.demand);
        self.diagonal.fill(0.0);
        for (tail, slopes) in self.slopes.chunks_exact_mut(nodes).enumerate() {
            for (head, slope) in slopes.iter_mut().enumerate() {
                *slope = 0.0;
                let difference = self.prices[tail] - self.prices[head];
                if tail == head || difference < 0.0 {
                    continue;
                }
                let (flow, steepness) = self.network.carried(tail * nodes + head, difference);
                *slope = steepness;
                self.left[tail] -= flow;
                self.left[head] += flow;
                self.diagonal[tail] += steepness;
                self.diagonal[head] += steepness;
            }
        }
    }

    /// The Newton direction, to a share of what is left, by conjugate gradients; `None` when `interrupted`.
    fn direction(&self, share: f64, interrupted: &mut dyn FnMut() -> bool) -> Option<Vec<f64>> {
        let nodes = self.network.nodes;
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
        for _ in 0..GRADIENT_STEPS {
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
        for (tail, slopes) in self.slopes.chunks_exact(vector.len()).enumerate() {
            product[tail] -= dot(slopes, vector);
            axpy(-vector[tail], slopes, &mut product);
        }
        product
    }

    /// Goes along a direction to where the gain is nearly exhausted, and returns how far.
    fn search(&mut self, direction: &[f64]) -> f64 {
        let first = dot(&self.left, direction);
        let start = self.prices.clone();
        let (mut low, mut high, mut length) = (0.0, f64::INFINITY, 1.0);
        for _ in 0..TRIALS {
            self.prices.copy_from_slice(&start);
            axpy(length, direction, &mut self.prices);
            self.evaluate();
            let gain = dot(&self.left, direction);
            if gain.abs() <= FLAT * first {
                return length;
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
        low
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, value| value.abs().max(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDS: Steps<12> = Steps {
        ends: [
            1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0,
        ],
        spread: 0.0,
    };

    /// The net outflow of each node, by the shares of the steps.
    fn carried(steps: Steps<12>, arcs: &[(usize, usize, f64, f64)], prices: &[f64]) -> Vec<f64> {
        let mut outflow = vec![0.0; prices.len()];
        for &(tail, head, cost, capacity) in arcs {
            let share = steps.share(steps.of(cost), prices[tail] - prices[head]);
            outflow[tail] += share * capacity;
            outflow[head] -= share * capacity;
        }
        outflow
    }

    fn priced(arcs: &[(usize, usize, f64, f64)], demand: &[f64]) -> Prices<12> {
        let mut network = Network::new(demand.len(), ENDS);
        for &(tail, head, cost, capacity) in arcs {
            let place = network.places().of(tail, head, cost);
            network.add(place, capacity);
        }
        network.closed().priced(demand, &mut || false).unwrap()
    }

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
            // What some prices make of the arcs is a demand that they can carry, up to the last bit of it.
            let prices: Vec<f64> = (0..nodes).map(|_| 8.0 * random.f64()).collect();
            let demand = carried(ENDS, &arcs, &prices);
            let found = priced(&arcs, &demand);
            let total: f64 = demand.iter().map(|amount| amount.abs()).sum();
            assert_eq!(found.unmet, vec![0.0; nodes]);
            for (there, wanted) in carried(found.steps, &arcs, &found.prices)
                .iter()
                .zip(&demand)
            {
                assert!((there - wanted).abs() <= 1e-14 * nodes as f64 * total.max(1e-300));
            }
        }
    }

    #[test]
    fn nodes_that_lack_capacity_are_named() {
        let arcs = [(0, 1, 0.5, 4.0), (1, 0, 0.5, 4.0), (1, 2, 0.5, 1.0)];
        let found = priced(&arcs, &[1.0, 1.0, -2.0]);
        assert!((found.unmet[2] - 1.0).abs() < 1e-6);
        assert!(found.unmet[0] + found.unmet[1] > 0.1);
    }

    /// Capacities 2 at a cost of 1 and 7 at a cost of 3: in each step so much of it, and 9 evenly up to the last end.
    #[test]
    fn arcs_carry_the_shares_of_their_steps_and_rise_by_their_slopes() {
        for (spread, expected) in [
            (0.0, [(0.5, 1.0, 2.0), (2.0, 5.5, 3.5), (4.0, 9.0, 0.0)]),
            (
                0.25,
                [(0.5, 1.125, 2.25), (2.0, 5.625, 3.375), (4.0, 9.0, 0.0)],
            ),
        ] {
            let ends = [1.0, 3.0];
            let steps = Steps { ends, spread };
            let mut network = Network::new(2, steps);
            // From node 0 to node 1, with what comes before.
            network.capacities[2..4].copy_from_slice(&[2.0, 9.0]);
            for (difference, flow, slope) in expected {
                assert_eq!(network.carried(1, difference), (flow, slope));
                let shares = 2.0 * steps.share(0, difference) + 7.0 * steps.share(1, difference);
                assert!((shares - flow).abs() < 1e-15 * 9.0);
            }
        }
    }
}
