//! Circulations of least cost by cost scaling (Goldberg and Tarjan 1990), on a multigraph of few nodes (labels) and very
//! many arcs (label pairs):
//!
//! ```text
//! min  g^T a    subject to    H a = 0,    0 <= a <= c
//! ```
//!
//! where the column of `H` that belongs to the arc `m -> n` has `+1` in row `m` and `-1` in row `n`. This is the linear
//! programme that Frank-Wolfe for Rank-SVM with a free bias solves in every iteration.
//!
//! Parallel arcs form a bundle. Sorted by cost and filled from the cheapest, a bundle is one arc whose cost is convex and
//! piecewise linear in its flow, with a segment for every arc.
//!
//! Potentials `pi` make the costs `g - pi_tail + pi_head`. A flow is `eps`-optimal when no arc with room costs less than
//! `-eps`, and none with flow more than `eps`: it is then within `eps sum c` of the optimum, as are the potentials as a
//! solution of the dual `max over pi of -sum c max(0, -(g - H^T pi))`. A refinement fills the arcs of negative cost and
//! pushes what then arrives too much at a node along such arcs, and raises a node's potential by `eps` or more when it has
//! none; `eps` falls by a factor from one refinement to the next.
//!
//! Flows are whole multiples of one unit, a power of two, and capacities are rounded down to it, so that sums of flows
//! are exact: conservation holds to the last bit.

use crate::memory;
use std::collections::VecDeque;

/// By how much the last refinement may miss, in units of the largest cost.
const ACCURACY: f64 = 1e-12;

/// `eps` falls by this factor.
const REFINEMENT: f64 = 8.0;

/// Less capacity than this in all has a unit as if it were this much: units are no denormal numbers.
const LEAST_TOTAL: f64 = 1e-280;

/// Bundles visited between two looks at the interruption.
const WORK_BETWEEN_POLLS: usize = 1 << 20;

/// One arc, as a piece of the convex cost of its bundle.
#[derive(Clone, Copy)]
struct Segment {
    cost: f64,
    /// In units.
    capacity: f64,
    arc: usize,
}

/// All arcs from one node to another: a range of the segments, those before `at` full and those after it empty.
struct Bundle {
    tail: u32,
    head: u32,
    start: usize,
    end: usize,
    at: usize,
    /// The flow of the segment `at`, less than its capacity.
    flow: f64,
}

impl Bundle {
    /// Fills the segments cheaper than `limit`, and no other; returns the flow.
    fn fill(&mut self, segments: &[Segment], limit: f64) -> f64 {
        let own = &segments[self.start..self.end];
        let full = own.partition_point(|segment| segment.cost < limit);
        (self.at, self.flow) = (self.start + full, 0.0);
        own[..full].iter().map(|segment| segment.capacity).sum()
    }

    /// The cost of one more unit.
    fn dearer(&self, segments: &[Segment]) -> Option<f64> {
        (self.at < self.end).then(|| segments[self.at].cost)
    }

    /// What one unit less saves.
    fn saved(&self, segments: &[Segment]) -> Option<f64> {
        match self.flow > 0.0 {
            true => Some(segments[self.at].cost),
            false => (self.at > self.start).then(|| segments[self.at - 1].cost),
        }
    }

    /// Adds at most `wanted` to the flow, at a cost below `limit`; returns what was added.
    fn raise(&mut self, segments: &[Segment], limit: f64, wanted: f64) -> f64 {
        let mut left = wanted;
        while left > 0.0 && self.dearer(segments).is_some_and(|cost| cost < limit) {
            let room = segments[self.at].capacity - self.flow;
            if left < room {
                self.flow += left;
                return wanted;
            }
            left -= room;
            (self.at, self.flow) = (self.at + 1, 0.0);
        }
        wanted - left
    }

    /// Takes at most `wanted` from the flow, at a cost above `limit`; returns what was taken.
    fn lower(&mut self, segments: &[Segment], limit: f64, wanted: f64) -> f64 {
        let mut left = wanted;
        while left > 0.0 && self.saved(segments).is_some_and(|cost| cost > limit) {
            if self.flow == 0.0 {
                self.at -= 1;
                self.flow = segments[self.at].capacity;
            }
            let taken = left.min(self.flow);
            self.flow -= taken;
            left -= taken;
        }
        wanted - left
    }
}

/// A graph with capacities, a circulation on it, and the potentials that the next call starts from.
pub struct Circulation {
    segments: Vec<Segment>,
    bundles: Vec<Bundle>,
    /// The bundles that leave or enter each node.
    around: Vec<Vec<u32>>,
    potentials: Vec<f64>,
    unit: f64,
    arcs: usize,
}

impl Circulation {
    /// The zero circulation on the graph with the arcs `(tail, head, capacity)`. Tail and head are two nodes
    /// below `nodes`, capacities finite and not negative.
    pub fn new(nodes: usize, arcs: &[(u32, u32, f64)]) -> Self {
        let total: f64 = arcs.iter().map(|&(_, _, capacity)| capacity).sum();
        let unit = 2_f64.powi(total.max(LEAST_TOTAL).log2().ceil() as i32 - 52);
        let mut order: Vec<usize> = memory::collected(0..arcs.len());
        order.retain(|&arc| arcs[arc].2 >= unit);
        let ends = |arc: &usize| {
            let (tail, head, _) = arcs[*arc];
            (tail, head)
        };
        order.sort_unstable_by_key(ends);
        let mut around = vec![Vec::new(); nodes];
        let mut bundles = Vec::new();
        let mut start = 0;
        for same in order.chunk_by(|one, other| ends(one) == ends(other)) {
            let (tail, head) = ends(&same[0]);
            let number = bundles.len() as u32;
            around[tail as usize].push(number);
            around[head as usize].push(number);
            let end = start + same.len();
            let (at, flow) = (start, 0.0);
            bundles.push(Bundle {
                tail,
                head,
                start,
                end,
                at,
                flow,
            });
            start = end;
        }
        let segment = |arc: usize| Segment {
            cost: 0.0,
            capacity: (arcs[arc].2 / unit).floor(),
            arc,
        };
        Self {
            segments: memory::collected(order.into_iter().map(segment)),
            bundles,
            around,
            potentials: vec![0.0; nodes],
            unit,
            arcs: arcs.len(),
        }
    }

    /// Makes the flow a circulation of least cost for finite `costs`, one an arc; `false` when interrupted, which leaves
    /// a flow that need not be a circulation.
    pub fn solve(&mut self, costs: &[f64], interrupted: &mut dyn FnMut() -> bool) -> bool {
        let (mut largest, mut change) = (0.0_f64, 0.0_f64);
        for segment in &mut self.segments {
            let cost = costs[segment.arc];
            change = change.max((cost - segment.cost).abs());
            largest = largest.max(cost.abs());
            segment.cost = cost;
        }
        for bundle in &self.bundles {
            let own = &mut self.segments[bundle.start..bundle.end];
            own.sort_unstable_by(|x, y| x.cost.total_cmp(&y.cost).then(x.arc.cmp(&y.arc)));
        }
        let goal = ACCURACY * largest.max(change);
        // Potentials that fit the last costs are wrong by the change at most.
        let mut eps = change.max(goal);
        loop {
            eps = (eps / REFINEMENT).max(goal);
            if !self.refine(eps, interrupted) {
                return false;
            }
            if eps <= goal {
                return true;
            }
        }
    }

    /// Makes the flow an `eps`-optimal circulation; `false` when interrupted.
    fn refine(&mut self, eps: f64, interrupted: &mut dyn FnMut() -> bool) -> bool {
        let mut excess = vec![0.0; self.potentials.len()];
        for bundle in &mut self.bundles {
            let (tail, head) = (bundle.tail as usize, bundle.head as usize);
            let limit = self.potentials[tail] - self.potentials[head];
            let flow = bundle.fill(&self.segments, limit);
            excess[tail] -= flow;
            excess[head] += flow;
        }
        let mut active: VecDeque<usize> = (0..excess.len()).filter(|&k| excess[k] > 0.0).collect();
        let mut work = 0;
        while let Some(node) = active.pop_front() {
            while excess[node] > 0.0 {
                work += self.around[node].len();
                if work > WORK_BETWEEN_POLLS {
                    work = 0;
                    if interrupted() {
                        return false;
                    }
                }
                self.push(node, &mut excess, &mut active);
                if excess[node] > 0.0 {
                    self.relabel(node, eps);
                }
            }
        }
        true
    }

    /// Sends the excess of a node along what costs less than nothing.
    fn push(&mut self, node: usize, excess: &mut [f64], active: &mut VecDeque<usize>) {
        for &number in &self.around[node] {
            let bundle = &mut self.bundles[number as usize];
            let (tail, head) = (bundle.tail as usize, bundle.head as usize);
            let limit = self.potentials[tail] - self.potentials[head];
            let (sent, to) = if tail == node {
                (bundle.raise(&self.segments, limit, excess[node]), head)
            } else {
                (bundle.lower(&self.segments, limit, excess[node]), tail)
            };
            if sent > 0.0 {
                if excess[to] <= 0.0 && excess[to] + sent > 0.0 {
                    active.push_back(to);
                }
                excess[to] += sent;
                excess[node] -= sent;
            }
            if excess[node] == 0.0 {
                return;
            }
        }
    }

    /// Raises the potential of a node until the cheapest way out of it costs `-eps`. What arrived can go back: there is one.
    fn relabel(&mut self, node: usize, eps: f64) {
        let mut cheapest = f64::INFINITY;
        for &number in &self.around[node] {
            let bundle = &self.bundles[number as usize];
            let way = if bundle.tail as usize == node {
                let head = self.potentials[bundle.head as usize];
                bundle.dearer(&self.segments).map(|cost| cost + head)
            } else {
                let tail = self.potentials[bundle.tail as usize];
                bundle.saved(&self.segments).map(|cost| tail - cost)
            };
            cheapest = cheapest.min(way.unwrap_or(f64::INFINITY));
        }
        self.potentials[node] = cheapest + eps;
    }

    /// The flow of each arc.
    pub fn flow(&self) -> Vec<f64> {
        let mut flow = memory::zeros(self.arcs);
        for bundle in &self.bundles {
            for segment in &self.segments[bundle.start..bundle.at] {
                flow[segment.arc] = self.unit * segment.capacity;
            }
            if bundle.flow > 0.0 {
                flow[self.segments[bundle.at].arc] = self.unit * bundle.flow;
            }
        }
        flow
    }

    /// The potentials `pi` of the nodes.
    pub fn potentials(&self) -> &[f64] {
        &self.potentials
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The flow is a circulation within the capacities, and what it costs is the dual value of the potentials, for costs of
    /// about 1.
    fn assert_optimal(circulation: &Circulation, arcs: &[(u32, u32, f64)], costs: &[f64]) {
        let pi = circulation.potentials();
        let (mut primal, mut dual, mut size) = (0.0, 0.0, 0.0);
        let mut balance = vec![0.0; pi.len()];
        for ((&(tail, head, capacity), cost), flow) in
            arcs.iter().zip(costs).zip(circulation.flow())
        {
            assert!((0.0..=capacity).contains(&flow), "{flow} of {capacity}");
            balance[tail as usize] += flow;
            balance[head as usize] -= flow;
            primal += cost * flow;
            dual += capacity * (cost - pi[tail as usize] + pi[head as usize]).min(0.0);
            size += capacity;
        }
        assert!(balance.iter().all(|&left| left == 0.0), "{balance:?}");
        assert!(
            (primal - dual).abs() <= 3.0 * ACCURACY * size,
            "{primal} {dual} {size}"
        );
    }

    #[test]
    fn circulations_of_random_graphs_are_optimal_for_one_cost_after_the_other() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..300 {
            let nodes = random.u32(2..9);
            let mut arcs = Vec::new();
            for _ in 0..random.usize(1..120) {
                let capacity = match random.u8(..4) {
                    0 => 0.0,
                    1 => 10_f64.powi(random.i32(-6..7)),
                    _ => random.f64(),
                };
                // Dyadic, so that the balance of each node is summed without rounding.
                let capacity = (capacity * 4096.0).round() / 4096.0;
                let tail = random.u32(..nodes);
                arcs.push((tail, (tail + random.u32(1..nodes)) % nodes, capacity));
            }
            let mut circulation = Circulation::new(nodes as usize, &arcs);
            let mut costs: Vec<f64> = arcs.iter().map(|_| random.f64() - 0.6).collect();
            for step in [0.0, 1.0, 0.01] {
                for cost in &mut costs {
                    // Ties, too.
                    *cost = ((*cost + step * (random.f64() - 0.5)) * 64.0).round() / 64.0;
                }
                assert!(circulation.solve(&costs, &mut || false));
                assert_optimal(&circulation, &arcs, &costs);
            }
        }
    }

    #[test]
    fn an_interruption_ends_the_search() {
        let nodes = 400_u32;
        let mut random = fastrand::Rng::with_seed(5);
        let arcs: Vec<_> = (0..nodes)
            .flat_map(|tail| (0..nodes).map(move |head| (tail, head, 1.0)))
            .collect();
        let costs: Vec<f64> = arcs.iter().map(|_| random.f64() - 0.5).collect();
        let mut circulation = Circulation::new(nodes as usize, &arcs);
        assert!(!circulation.solve(&costs, &mut || true));
    }
}
