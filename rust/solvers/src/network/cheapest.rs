//! The cheapest way to carry a demand through a small network of arcs with capacities and costs.
//!
//! A circulation of least cost through one more node, which feeds the sources and is fed by the sinks: feeding pays more
//! than any path costs, so as much as possible is carried.

use super::circulation::{Circulation, CirculationStatus};
use super::routing::{RoutingError, balanced};

/// Arcs `tails[j] -> heads[j]` with their capacities and costs, which are not negative.
#[derive(Clone, Debug, Default)]
pub struct Arcs {
    /// Where each arc starts.
    pub tails: Vec<u32>,
    /// Where each arc ends.
    pub heads: Vec<u32>,
    /// The most that each arc carries.
    pub capacities: Vec<f64>,
    /// What a unit costs.
    pub costs: Vec<f64>,
}

impl Arcs {
    /// Adds an arc.
    pub fn push(&mut self, tail: u32, head: u32, capacity: f64, cost: f64) {
        self.tails.push(tail);
        self.heads.push(head);
        self.capacities.push(capacity);
        self.costs.push(cost);
    }
}

/// The cheapest way to carry a demand.
#[derive(Clone, Debug)]
pub struct Cheapest {
    /// The flow of each arc.
    pub flow: Vec<f64>,
    /// The price `pi` of a unit at each node, up to a constant: an arc with room left costs `pi_tail - pi_head` at
    /// least, one that carries something at most.
    pub prices: Vec<f64>,
    /// What could not be carried of each node's demand, without its sign; 0 everywhere when all is carried.
    pub unmet: Vec<f64>,
}

/// The flow on each arc that gives every node `k` the net outflow `demand[k]` at least cost, up to `q * 2^-51` of the
/// total, or as much of it as the network can carry; `None` when `interrupted` returns true.
///
/// The demand need not be balanced to the last bit; its larger side is scaled to the smaller one.
///
/// # Errors
/// A demand that is not finite or does not sum to 0, arcs that are not ones of the network.
pub fn cheapest_routing(
    demand: &[f64],
    mut arcs: Arcs,
    interrupted: &mut dyn FnMut() -> bool,
) -> Result<Option<Cheapest>, RoutingError> {
    let nodes = demand.len();
    let demand = balanced(demand)?;
    let total: f64 = demand.iter().filter(|&&amount| amount > 0.0).sum();
    let inner = arcs.tails.len();
    if total == 0.0 {
        return Ok(Some(Cheapest {
            flow: vec![0.0; inner],
            prices: vec![0.0; nodes],
            unmet: vec![0.0; nodes],
        }));
    }
    let dearest = arcs.costs.iter().copied().fold(0.0, f64::max);
    let reward = if dearest > 0.0 {
        nodes as f64 * dearest
    } else {
        1.0
    };
    // Flows are exact to a fraction of the largest capacity, and no arc needs more than all.
    for capacity in &mut arcs.capacities {
        *capacity = capacity.min(total);
    }
    let hub = nodes as u32;
    for (node, &amount) in (0..).zip(&demand) {
        if amount > 0.0 {
            arcs.push(hub, node, amount, -reward);
        } else if amount < 0.0 {
            arcs.push(node, hub, -amount, 0.0);
        }
    }
    let mut circulation = Circulation::new(nodes + 1, &arcs.tails, &arcs.heads, &arcs.capacities)?;
    let outcome = circulation.solve(&arcs.costs, interrupted)?;
    if outcome.status != CirculationStatus::Optimal {
        return Ok(None);
    }
    let (carried, fed) = circulation.flow().split_at(inner);
    let fed_nodes = (0..nodes).filter(|&node| demand[node] != 0.0);
    let mut unmet = vec![0.0; nodes];
    for (node, flow) in fed_nodes.zip(fed) {
        unmet[node] = demand[node].abs() - flow;
    }
    // Each unit that is left over lacks at a source and at a sink.
    let rounding = 4.0 * nodes as f64 * f64::EPSILON * total;
    if unmet.iter().sum::<f64>() <= rounding {
        unmet.fill(0.0);
    }
    Ok(Some(Cheapest {
        flow: carried.to_vec(),
        prices: circulation.potentials()[..nodes].to_vec(),
        unmet,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arcs(list: &[(u32, u32, f64, f64)]) -> Arcs {
        let mut arcs = Arcs::default();
        for &(tail, head, capacity, cost) in list {
            arcs.push(tail, head, capacity, cost);
        }
        arcs
    }

    fn solve(demand: &[f64], arcs: Arcs) -> Option<Cheapest> {
        cheapest_routing(demand, arcs, &mut || false).unwrap()
    }

    #[test]
    fn the_cheaper_way_is_filled_first() {
        let ways = [(0, 1, 10.0, 3.0), (0, 2, 0.5, 1.0), (2, 1, 9.0, 1.0)];
        let found = solve(&[2.0, -2.0, 0.0], arcs(&ways)).unwrap();
        assert_eq!(found.flow, [1.5, 0.5, 0.5]);
        assert_eq!(found.prices[0] - found.prices[1], 3.0);
        assert_eq!(found.prices[2] - found.prices[1], 1.0);
    }

    #[test]
    fn too_little_capacity_carries_what_it_can() {
        let unmet = |list: &[(u32, u32, f64, f64)]| solve(&[2.0, -2.0], arcs(list)).unwrap().unmet;
        assert_eq!(unmet(&[(0, 1, 1.0, 0.0)]), [1.0, 1.0]);
        assert_eq!(unmet(&[(1, 0, 5.0, 0.0)]), [2.0, 2.0]);
        assert_eq!(unmet(&[(0, 1, 5.0, 0.0)]), [0.0, 0.0]);
        assert_eq!(unmet(&[]), [2.0, 2.0]);
        assert_eq!(solve(&[0.0, 0.0], arcs(&[])).unwrap().prices, [0.0, 0.0]);
    }

    #[test]
    fn an_unbalanced_demand_is_refused() {
        let error = cheapest_routing(&[1.0, 1.0], Arcs::default(), &mut || false);
        assert!(matches!(error, Err(RoutingError::Unbalanced { .. })));
    }

    /// Flow and prices satisfy the optimality conditions: what has room left is not cheaper than the prices say, what
    /// carries something is not dearer.
    #[test]
    fn random_networks_are_certified_by_their_prices() {
        let mut random = fastrand::Rng::with_seed(5);
        let mut solved = 0;
        for _ in 0..300 {
            let nodes = random.usize(2..8);
            let list: Vec<(u32, u32, f64, f64)> = (0..random.usize(1..60))
                .map(|_| {
                    let node = |random: &mut fastrand::Rng| random.u32(0..nodes as u32);
                    let ends = (node(&mut random), node(&mut random));
                    (ends.0, ends.1, random.f64(), random.f64())
                })
                .collect();
            let mut demand: Vec<f64> = (0..nodes).map(|_| random.f64() - 0.5).collect();
            let mean = demand.iter().sum::<f64>() / nodes as f64;
            demand.iter_mut().for_each(|amount| *amount -= mean);
            let found = solve(&demand, arcs(&list)).unwrap();
            if found.unmet.iter().any(|&amount| amount > 0.0) {
                continue;
            }
            solved += 1;
            let mut net = vec![0.0; nodes];
            for (&(tail, head, capacity, cost), &flow) in list.iter().zip(&found.flow) {
                net[tail as usize] += flow;
                net[head as usize] -= flow;
                assert!((0.0..=capacity).contains(&flow));
                let reduced = cost - found.prices[tail as usize] + found.prices[head as usize];
                let most: f64 = demand.iter().map(|amount| amount.abs()).sum();
                assert!(flow == 0.0 || reduced < 1e-12);
                assert!(flow >= capacity.min(most / 2.0) * (1.0 - 1e-12) || reduced > -1e-12);
            }
            for (net, amount) in net.iter().zip(&demand) {
                assert!((net - amount).abs() < 1e-14);
            }
        }
        assert!(solved > 100, "{solved}");
    }
}
