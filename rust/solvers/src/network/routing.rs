//! The largest multiple of a demand that a small network can carry, and the flow that does it.
//!
//! On the nodes `0..q` with the capacities `u_kl` of the arcs `k -> l`, and a demand `d` with `sum d = 0`:
//!
//! ```text
//! max t    subject to    sum_l a_kl - sum_l a_lk = t d_k for all k,    0 <= a <= u,    t <= limit
//! ```
//!
//! This repairs a point of the Rank-SVM dual with a free bias: with `u_kl` the sum of `c_i` over the instances for
//! which label `k` is relevant and label `l` is not, the flow is a sum of feasible `beta_i` whose column sums cancel
//! those of the point.
//!
//! A set `S` of nodes lets `t d(S) <= u(S)` pass, where `d(S)` is its demand and `u(S)` the capacity of the arcs that
//! leave it, and the largest `t` is the least `u(S) / d(S)`. Newton's method on that minimum (Dinkelbach 1967): try a
//! `t` that is too large, find a minimum cut by a maximum flow, go on with the ratio of that cut. Maximum flows are found by
//! blocking flows (Dinic 1970), in whole multiples of a unit, so that their sums are exact.

use crate::memory;
use std::collections::VecDeque;

/// A demand is balanced when its sum is below this fraction of its absolute sum: what remains is taken for rounding.
const BALANCE_TOLERANCE: f64 = 1e-6;

/// More cuts than Newton's method ever needs.
const MOST_CUTS: usize = 1000;

/// Less that is sent has a unit as if it were this much: units are no denormal numbers.
const LEAST_SENT: f64 = 1e-280;

/// A node that no search has reached.
const UNSEEN: usize = usize::MAX;

/// A flow that carries a multiple of the demand.
#[derive(Debug, Clone, PartialEq)]
pub struct Routing {
    /// The multiple `t`; 0 when a part of the demand has to cross a cut without capacity.
    pub scale: f64,
    /// The flow `a`, q x q in row-major order: `flow[k * q + l]` goes from `k` to `l`.
    pub flow: Vec<f64>,
}

/// Routes the largest multiple of `demand`, up to `limit`, through the network with the q x q `capacity` (row-major,
/// `capacity[k * q + l]` for the arc `k -> l`; the diagonal is ignored).
///
/// The net outflow of node `k` is `scale * demand[k]` up to `q * 2^-51` of the total that is sent, and `scale` is
/// the largest possible one up to `q^2 * 2^-51`, relatively. A demand of 0 is routed `limit` times by no flow at
/// all. `None` when `interrupted` returns true, and where a number has overflowed, or the demand does not sum to 0.
///
/// The demand need not be balanced to the last bit; its larger side is scaled to the smaller one. But a
/// part of the demand above `q * 2^-51` of the whole that has to cross a cut without capacity makes the scale 0,
/// be it a rounding error or not.
pub fn largest_routing(
    demand: &[f64],
    capacity: &[f64],
    limit: f64,
    interrupted: &mut dyn FnMut() -> bool,
) -> Option<Routing> {
    let nodes = demand.len();
    debug_assert_eq!(capacity.len(), nodes * nodes);
    if !capacity
        .iter()
        .chain(demand)
        .all(|amount| amount.is_finite())
    {
        return None;
    }
    let demand = balanced(demand)?;
    let total: f64 = demand.iter().filter(|&&amount| amount > 0.0).sum();
    let nothing = |scale| Routing {
        scale,
        flow: memory::zeros(capacity.len()),
    };
    if total == 0.0 {
        return Some(nothing(limit));
    }

    let saturated = 2.0 * nodes as f64 * f64::EPSILON;
    let mut scale = limit.min(single_node_bound(&demand, capacity, saturated * total));
    let mut reduction = 4.0 * f64::EPSILON;
    for _ in 0..MOST_CUTS {
        let sent = scale * total;
        if sent <= 0.0 {
            break;
        }
        let mut network = Network::new(&demand, capacity, scale, sent);
        let source_side = network.saturate(interrupted)?;
        let shortfall = 1.0 - network.value() / sent;
        if shortfall <= saturated {
            let flow = network.flow(capacity);
            return Some(Routing { scale, flow });
        }
        let cut = cut_ratio(&demand, capacity, &source_side);
        if cut < scale * (1.0 - reduction) {
            scale = cut;
        } else {
            // The cut is known; what is missing are the roundings of its capacities in the flow.
            scale *= 1.0 - reduction.max(2.0 * shortfall);
            reduction *= 2.0;
        }
    }
    Some(nothing(0.0))
}

/// The demand with its larger side scaled down to the smaller one. Nodes without demand keep none.
fn balanced(demand: &[f64]) -> Option<Vec<f64>> {
    let supply: f64 = demand.iter().filter(|&&amount| amount > 0.0).sum();
    let need: f64 = -demand.iter().filter(|&&amount| amount < 0.0).sum::<f64>();
    let (sum, absolute) = (supply - need, supply + need);
    if sum.abs() > BALANCE_TOLERANCE * absolute {
        return None;
    }
    let less = supply.min(need);
    let scaled = |amount: f64| match amount {
        0.0 => 0.0,
        amount if amount > 0.0 => amount * (less / supply),
        amount => amount * (less / need),
    };
    Some(demand.iter().map(|&amount| scaled(amount)).collect())
}

/// The least ratio over the cuts around a single node whose demand is above `rounding`.
fn single_node_bound(demand: &[f64], capacity: &[f64], rounding: f64) -> f64 {
    let nodes = demand.len();
    let (mut outgoing, mut incoming) = (vec![0.0; nodes], vec![0.0; nodes]);
    for (from, row) in capacity.chunks_exact(nodes).enumerate() {
        for (to, &amount) in row.iter().enumerate().filter(|&(to, _)| to != from) {
            outgoing[from] += amount;
            incoming[to] += amount;
        }
    }
    let mut bound = f64::INFINITY;
    for ((&amount, &outgoing), &incoming) in demand.iter().zip(&outgoing).zip(&incoming) {
        if amount > rounding {
            bound = bound.min(outgoing / amount);
        } else if amount < -rounding {
            bound = bound.min(incoming / -amount);
        }
    }
    bound
}

/// `u(S) / d(S)`, infinite when `S` does not send anything.
fn cut_ratio(demand: &[f64], capacity: &[f64], inside: &[bool]) -> f64 {
    let (mut leaving, mut sent) = (0.0, 0.0);
    for (from, row) in capacity.chunks_exact(demand.len()).enumerate() {
        if inside[from] {
            sent += demand[from];
            leaving += row
                .iter()
                .zip(inside)
                .filter(|&(_, &inside)| !inside)
                .map(|(&amount, _)| amount)
                .sum::<f64>();
        }
    }
    if sent > 0.0 {
        leaving / sent
    } else {
        f64::INFINITY
    }
}

/// What the arcs can still carry, in units: between the nodes, from a source that comes after them, and to a sink that
/// comes last.
struct Network {
    nodes: usize,
    /// By tail and head, with what can be taken back.
    room: Vec<f64>,
    unit: f64,
    /// In units.
    sent: f64,
}

impl Network {
    /// The network in which every node may send or take `scale` times its demand, `sent` in all.
    fn new(demand: &[f64], capacity: &[f64], scale: f64, sent: f64) -> Self {
        let nodes = demand.len() + 2;
        // No arc needs more than is sent, and what is then in both directions of one is at most 2^53 units. A unit is
        // below 2^-51 of what is sent, so that each node's rounding is within what counts as saturated.
        let unit = 2_f64.powi(sent.max(LEAST_SENT).log2().ceil() as i32 - 52);
        let mut network = Self {
            nodes,
            room: Vec::new(),
            unit,
            sent: sent / unit,
        };
        let in_units = |amount| network.in_units(amount);
        let mut room = memory::matrix(nodes, nodes);
        for (node, row) in capacity.chunks_exact(demand.len()).enumerate() {
            let own = &mut room[node * nodes..(node + 1) * nodes];
            for (room, &amount) in own.iter_mut().zip(row) {
                *room = in_units(amount);
            }
            own[node] = 0.0;
            own[nodes - 1] = in_units(scale * -demand[node].min(0.0));
        }
        for (room, &amount) in room[(nodes - 2) * nodes..].iter_mut().zip(demand) {
            *room = in_units(scale * amount.max(0.0));
        }
        network.room = room;
        network
    }

    /// The capacity of an arc.
    fn in_units(&self, amount: f64) -> f64 {
        (amount / self.unit).min(self.sent).floor()
    }

    /// Sends as much as possible; returns which nodes are on the source's side of a minimum cut, or none when interrupted.
    fn saturate(&mut self, interrupted: &mut dyn FnMut() -> bool) -> Option<Vec<bool>> {
        loop {
            if interrupted() {
                return None;
            }
            let levels = self.levels();
            if levels[self.nodes - 1] == UNSEEN {
                let inside = levels[..self.nodes - 2].iter().map(|&at| at != UNSEEN);
                return Some(inside.collect());
            }
            self.block(&levels);
        }
    }

    /// The number of arcs with room from the source to each node.
    fn levels(&self) -> Vec<usize> {
        let mut levels = vec![UNSEEN; self.nodes];
        levels[self.nodes - 2] = 0;
        let mut queue = VecDeque::from([self.nodes - 2]);
        while let Some(node) = queue.pop_front() {
            let row = &self.room[node * self.nodes..(node + 1) * self.nodes];
            for (to, &room) in row.iter().enumerate() {
                if room > 0.0 && levels[to] == UNSEEN {
                    levels[to] = levels[node] + 1;
                    queue.push_back(to);
                }
            }
        }
        levels
    }

    /// Sends along paths on which the level rises until each has an arc without room.
    fn block(&mut self, levels: &[usize]) {
        let (nodes, source, sink) = (self.nodes, self.nodes - 2, self.nodes - 1);
        let mut next = vec![0; nodes];
        let mut path = vec![source];
        while let Some(&node) = path.last() {
            if node == sink {
                let arc = |ends: &[usize]| ends[0] * nodes + ends[1];
                let arcs: Vec<usize> = path.windows(2).map(arc).collect();
                let sent = arcs
                    .iter()
                    .fold(f64::INFINITY, |m, &arc| self.room[arc].min(m));
                for &arc in &arcs {
                    self.room[arc] -= sent;
                    self.room[arc % nodes * nodes + arc / nodes] += sent;
                }
                let full = arcs.iter().position(|&arc| self.room[arc] == 0.0);
                path.truncate(full.unwrap_or(0) + 1);
                continue;
            }
            let onwards =
                |&to: &usize| self.room[node * nodes + to] > 0.0 && levels[to] == levels[node] + 1;
            next[node] = (next[node]..nodes).find(onwards).unwrap_or(nodes);
            if next[node] < nodes {
                path.push(next[node]);
            } else {
                path.pop();
                if let Some(&before) = path.last() {
                    next[before] += 1;
                }
            }
        }
    }

    /// How much is sent.
    fn value(&self) -> f64 {
        let arrived = &self.room[(self.nodes - 1) * self.nodes..];
        self.unit * arrived.iter().sum::<f64>()
    }

    /// The flow between the nodes: of an arc in both directions, what one carries more than the other.
    fn flow(&self, capacity: &[f64]) -> Vec<f64> {
        let nodes = self.nodes - 2;
        let mut flow = memory::matrix(nodes, nodes);
        for (place, flow) in flow.iter_mut().enumerate() {
            let (from, to) = (place / nodes, place % nodes);
            if from != to {
                let room = self.room[from * self.nodes + to];
                *flow = self.unit * (self.in_units(capacity[place]) - room).max(0.0);
            }
        }
        flow
    }
}

/// The strongly connected component of every node, in the graph of the arcs `k -> l` with
/// `capacity[k * nodes + l] > 0`.
///
/// Components are numbered from 0 in reverse topological order: an arc between two components leads to the one with
/// the smaller number. (Tarjan 1972, without recursion.) Entries that a matrix of the wrong size lacks count as 0.
pub fn strongly_connected_components(nodes: usize, capacity: &[f64]) -> Vec<usize> {
    let has_arc = |from: usize, to: usize| {
        capacity
            .get(from * nodes + to)
            .is_some_and(|&amount| amount > 0.0)
    };
    let mut component = vec![UNSEEN; nodes];
    // The order in which nodes were found, and the earliest node in the stack that each can reach.
    let (mut found, mut earliest) = (vec![UNSEEN; nodes], vec![UNSEEN; nodes]);
    let (mut clock, mut components) = (0, 0);
    let (mut open, mut path): (Vec<usize>, Vec<(usize, usize)>) = (Vec::new(), Vec::new());
    for start in 0..nodes {
        if found[start] != UNSEEN {
            continue;
        }
        path.push((start, 0));
        while let Some((node, next)) = path.pop() {
            if next == 0 {
                (found[node], earliest[node]) = (clock, clock);
                clock += 1;
                open.push(node);
            }
            let successor = (next..nodes).find(|&to| {
                if has_arc(node, to) && component[to] == UNSEEN && found[to] != UNSEEN {
                    earliest[node] = earliest[node].min(found[to]);
                }
                has_arc(node, to) && found[to] == UNSEEN
            });
            if let Some(to) = successor {
                path.push((node, to + 1));
                path.push((to, 0));
                continue;
            }
            if earliest[node] == found[node] {
                while let Some(member) = open.pop() {
                    component[member] = components;
                    if member == node {
                        break;
                    }
                }
                components += 1;
            }
            if let Some(&(parent, _)) = path.last() {
                earliest[parent] = earliest[parent].min(earliest[node]);
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(demand: &[f64], capacity: &[f64], limit: f64) -> Routing {
        largest_routing(demand, capacity, limit, &mut || false).unwrap()
    }

    /// The largest multiple of `demand`: the least ratio over all cuts.
    fn scale_by_enumeration(demand: &[f64], capacity: &[f64], limit: f64) -> f64 {
        (1_u32..(1 << demand.len()) - 1).fold(limit, |scale, set| {
            let inside: Vec<bool> = (0..demand.len()).map(|node| set >> node & 1 == 1).collect();
            let amounts = demand.iter().zip(&inside);
            let sent: f64 = amounts.filter(|(_, inside)| **inside).map(|(a, _)| a).sum();
            if sent > 0.0 {
                scale.min(cut_ratio(demand, capacity, &inside))
            } else {
                scale
            }
        })
    }

    fn assert_routes(routing: &Routing, demand: &[f64], capacity: &[f64]) {
        let nodes = demand.len();
        let sent: f64 = routing.scale * demand.iter().map(|amount| amount.abs()).sum::<f64>();
        for (flow, capacity) in routing.flow.iter().zip(capacity) {
            assert!(
                (0.0..=*capacity).contains(flow),
                "flow {flow} with capacity {capacity}"
            );
        }
        for (node, &amount) in demand.iter().enumerate() {
            let outflow: f64 = (0..nodes)
                .map(|other| {
                    routing.flow[node * nodes + other] - routing.flow[other * nodes + node]
                })
                .sum();
            let error = (outflow - routing.scale * amount).abs();
            assert!(
                error <= 1e-14 * nodes as f64 * sent,
                "node {node} sends {outflow}: {routing:?}"
            );
        }
    }

    /// Capacities of very different sizes, and many of 0.
    fn capacities(random: &mut fastrand::Rng, nodes: usize) -> Vec<f64> {
        let capacity = |random: &mut fastrand::Rng| match random.u8(0..9) {
            0..3 => 0.0,
            3..5 => f64::from(random.u8(1..4)),
            5..7 => random.f64(),
            7 => (18.0 * random.f64() - 9.0).exp2(),
            _ => 10_f64.powf(18.0 * random.f64() - 9.0),
        };
        (0..nodes * nodes).map(|_| capacity(random)).collect()
    }

    /// Demands whose partial sums are free of rounding, so that a set of nodes has demand 0 exactly or not at all.
    fn demand(random: &mut fastrand::Rng, nodes: usize) -> Vec<f64> {
        let unit = 2_f64.powi(random.i32(-30..30));
        let amounts = (1..nodes).map(|_| unit * f64::from(random.i8(-8..=8)));
        let mut demand: Vec<f64> = amounts.collect();
        demand.push(-demand.iter().sum::<f64>());
        demand
    }

    #[test]
    fn the_scale_is_the_least_ratio_over_all_cuts() {
        let mut random = fastrand::Rng::with_seed(1);
        for round in 0..3000 {
            let nodes = random.usize(2..8);
            let (mut demand, capacity) =
                (demand(&mut random, nodes), capacities(&mut random, nodes));
            let limit = [f64::INFINITY, 1.0, 0.0, 1e-3 * random.f64()][random.usize(0..4)];
            let expected = scale_by_enumeration(&demand, &capacity, limit);
            // What rounding leaves of the sum is no demand.
            demand[0] *= 1.0 + f64::from(round % 3) * f64::EPSILON;
            let routing = route(&demand, &capacity, limit);
            if expected.is_finite() {
                let error = (routing.scale - expected).abs();
                assert!(
                    error <= 1e-12 * expected,
                    "{} for {expected}",
                    routing.scale
                );
                assert_routes(&routing, &demand, &capacity);
            } else {
                assert!(routing.scale == limit && demand.iter().all(|&amount| amount == 0.0));
            }
        }
    }

    #[test]
    fn components_are_the_classes_of_mutual_reachability_in_reverse_topological_order() {
        let mut random = fastrand::Rng::with_seed(2);
        for _ in 0..3000 {
            let nodes = random.usize(1..9);
            let (mut capacity, keep) = (capacities(&mut random, nodes), random.f64());
            for amount in &mut capacity {
                *amount *= f64::from(u8::from(random.f64() < keep));
            }
            let arc = |place: usize| capacity[place] > 0.0 || place / nodes == place % nodes;
            let mut reaches: Vec<bool> = (0..nodes * nodes).map(arc).collect();
            for via in 0..nodes {
                for place in 0..nodes * nodes {
                    let (from, to) = (place / nodes * nodes, place % nodes);
                    reaches[place] |= reaches[from + via] && reaches[via * nodes + to];
                }
            }
            let component = strongly_connected_components(nodes, &capacity);
            let count = component.iter().max().unwrap() + 1;
            assert!((0..count).all(|number| component.contains(&number)));
            for from in 0..nodes {
                for to in 0..nodes {
                    let (there, back) = (reaches[from * nodes + to], reaches[to * nodes + from]);
                    assert_eq!(there && back, component[from] == component[to]);
                    assert!(!there || component[from] >= component[to]);
                }
            }
        }
    }

    #[test]
    fn nothing_is_routed_where_nothing_can_be() {
        let cut = [0.0, 0.0, 5.0, 5.0, 0.0, 5.0, 5.0, 0.0, 0.0];
        let routing = route(&[1.0, -1.0, 0.0], &cut, 3.0);
        assert_eq!((routing.scale, routing.flow), (0.0, vec![0.0; 9]));
        // A node that no arc reaches has demands of rounding when a mean is subtracted.
        let pair = [0.0, 5.0, 0.0, 5.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(route(&[1.0, -1.0, 1e-17], &pair, 3.0).scale, 3.0);
        assert_eq!(route(&[1.0, -1.001, 1e-3], &pair, 3.0).scale, 0.0);
        let routing = route(&[0.0, 0.0], &[1.0; 4], 2.5);
        assert_eq!((routing.scale, routing.flow), (2.5, vec![0.0; 4]));
        let none = |demand: &[f64], capacity: f64, interrupted: bool| {
            largest_routing(demand, &[capacity; 4], 1.0, &mut || interrupted).is_none()
        };
        assert!(none(&[1.0, -1.0], 1.0, true) && !none(&[1.0, -1.0], 1.0, false));
        assert!(none(&[1.0, f64::NAN], 1.0, false) && none(&[1.0, -1.0], f64::INFINITY, false));
        assert!(none(&[1.0, -0.5], 1.0, false));
    }
}
