//! The linear programme of Frank-Wolfe with a free bias (Xu 2013, eq. (41)), exactly.
//!
//! ```text
//! min over alpha   sum g_imn alpha_imn,    0 <= alpha <= c,    H alpha = 0,    g_imn = f_im - f_in - 1
//! ```
//!
//! Without `H alpha = 0` each pair has its weight if `g < 0`, else 0. The surplus of labels then flows to labels with a
//! deficit, along one shortest path after the other: a pair that leaves its bound costs `|g|` per unit. Lengths are reduced
//! by prices (Edmonds and Karp), which end up as the best biases for the scores, with opposite signs.
//!
//! `bias::oracle` computes nearly the same in a time that hardly depends on the number of pairs; this one
//! is exact, as published, and stores all pairs.

use crate::labels::Labels;
use crate::memory::{self, Purpose};
use crate::pairwise::bias::centred;
use crate::report::Monitor;

/// An excess of a label below this share of all capacities is rounding.
const EVEN: f64 = 1e-15;

/// Paths between two polls of the monitor.
const PATHS_BETWEEN_POLLS: usize = 64;

/// A vertex of the feasible set.
pub(super) struct Vertex {
    /// Its `B`.
    pub dual: Vec<f64>,
    /// Its `u^T alpha`.
    pub total: f64,
    /// The best biases for the scores: the multipliers of `H alpha = 0`.
    pub bias: Vec<f64>,
}

/// A pair at a bound, its weight or 0, which can move to the other one.
#[derive(Clone, Copy)]
struct Pair {
    /// `|g|`
    cost: f64,
    weight: f64,
    instance: usize,
}

/// The pairs that carry flow from one label to another, the cheapest first: those before `next` are full, and `next` carries
/// `given`.
#[derive(Clone, Default)]
struct Arc {
    pairs: Vec<Pair>,
    next: usize,
    given: f64,
}

impl Arc {
    /// The cost per unit of more flow, and the amount available at that cost.
    fn forth(&self) -> Option<(f64, f64)> {
        let pair = self.pairs.get(self.next)?;
        Some((pair.cost, pair.weight - self.given))
    }

    /// The saving per unit of less flow, and the amount available at that price.
    fn back(&self) -> Option<(f64, f64)> {
        if self.given > 0.0 {
            return Some((self.pairs[self.next].cost, self.given));
        }
        let pair = self.pairs[..self.next].last()?;
        Some((pair.cost, pair.weight))
    }

    /// Adds flow, at most the amount of [`Self::forth`].
    fn give(&mut self, amount: f64) {
        self.given += amount;
        if self.given >= self.pairs[self.next].weight {
            (self.next, self.given) = (self.next + 1, 0.0);
        }
    }

    /// Removes flow, at most the amount of [`Self::back`].
    fn take(&mut self, amount: f64) {
        if self.given == 0.0 {
            self.next -= 1;
            self.given = self.pairs[self.next].weight;
        }
        self.given = (self.given - amount).max(0.0);
    }
}

/// The network of the labels.
struct Network {
    q: usize,
    /// From each label to each other.
    arcs: Vec<Arc>,
    prices: Vec<f64>,
}

impl Network {
    /// The cheapest arc from `u` to `v`: its length, and whether it removes flow.
    fn length(&self, u: usize, v: usize) -> Option<(f64, bool)> {
        let back = self.arcs[v * self.q + u].back().map(|(cost, _)| -cost);
        let forth = self.arcs[u * self.q + v].forth().map(|(cost, _)| cost);
        match (back, forth) {
            (Some(back), forth) if forth.is_none_or(|forth| back <= forth) => Some((back, true)),
            (_, Some(forth)) => Some((forth, false)),
            (_, None) => None,
        }
    }

    /// The shortest path from the nearest label with a deficit back to the `source`; updates the prices.
    fn path(&mut self, source: usize, excess: &[f64]) -> Option<Vec<usize>> {
        let q = self.q;
        let mut distance = vec![f64::INFINITY; q];
        let (mut from, mut done) = (vec![source; q], vec![false; q]);
        distance[source] = 0.0;
        let sink = loop {
            let open = (0..q).filter(|&k| !done[k] && distance[k] < f64::INFINITY);
            let u = open.min_by(|&a, &b| distance[a].total_cmp(&distance[b]))?;
            done[u] = true;
            if excess[u] < 0.0 {
                break u;
            }
            for v in 0..q {
                if done[v] {
                    continue;
                }
                if let Some((length, _)) = self.length(u, v) {
                    let reduced = (length + self.prices[u] - self.prices[v]).max(0.0);
                    if distance[u] + reduced < distance[v] {
                        (distance[v], from[v]) = (distance[u] + reduced, u);
                    }
                }
            }
        };
        let farthest = distance[sink];
        for (price, distance) in self.prices.iter_mut().zip(&distance) {
            *price += distance.min(farthest);
        }
        let mut path = vec![sink];
        while let Some(&last) = path.last().filter(|&&last| last != source) {
            path.push(from[last]);
        }
        Some(path)
    }

    /// The capacity of the path, at most `most`.
    fn room(&self, path: &[usize], most: f64) -> f64 {
        path.windows(2).fold(most, |room, step| {
            let (u, v) = (step[1], step[0]);
            let along = match self.length(u, v) {
                Some((_, true)) => self.arcs[v * self.q + u].back(),
                _ => self.arcs[u * self.q + v].forth(),
            };
            along.map_or(0.0, |(_, available)| room.min(available))
        })
    }

    fn send(&mut self, path: &[usize], amount: f64) {
        for step in path.windows(2) {
            let (u, v) = (step[1], step[0]);
            match self.length(u, v) {
                Some((_, true)) => self.arcs[v * self.q + u].take(amount),
                Some(_) => self.arcs[u * self.q + v].give(amount),
                None => {}
            }
        }
    }
}

/// The vertex at these scores; `None` when interrupted.
pub(super) fn vertex(labels: &Labels, scores: &[f64], monitor: &mut dyn Monitor) -> Option<Vertex> {
    let (n, q) = (labels.instances(), labels.count());
    let mut network = Network {
        q,
        arcs: memory::filled(Arc::default(), q.saturating_mul(q)),
        prices: vec![0.0; q],
    };
    let mut dual = memory::zeros_for(scores.len(), Purpose::Matrix);
    let mut all = 0.0;
    for instance in 0..n {
        let row = &scores[instance * q..(instance + 1) * q];
        let beta = &mut dual[instance * q..(instance + 1) * q];
        labels.each_pair(instance, |m, l, weight| {
            let g = row[m] - row[l] - 1.0;
            all += weight;
            let arc = if g < 0.0 {
                beta[m] += weight;
                beta[l] -= weight;
                m * q + l
            } else {
                l * q + m
            };
            let cost = g.abs();
            let pair = Pair {
                cost,
                weight,
                instance,
            };
            memory::push(&mut network.arcs[arc].pairs, pair);
        });
        if instance.is_multiple_of(PATHS_BETWEEN_POLLS) && monitor.poll().is_interrupted() {
            return None;
        }
    }
    for arc in &mut network.arcs {
        arc.pairs.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    }
    let mut excess = crate::linalg::vector::row_sum(&dual, q);
    let rounding = EVEN * q as f64 * all;
    for paths in 1_usize.. {
        for amount in &mut excess {
            if amount.abs() <= rounding {
                *amount = 0.0;
            }
        }
        let first = (0..q).max_by(|&a, &b| excess[a].total_cmp(&excess[b]));
        let Some(source) = first.filter(|&k| excess[k] > 0.0) else {
            break;
        };
        // Rounding may leave a small excess that has nowhere to go.
        let Some(path) = network.path(source, &excess) else {
            excess[source] = 0.0;
            continue;
        };
        let sink = path[0];
        let amount = network.room(&path, excess[source].min(-excess[sink]));
        network.send(&path, amount);
        excess[source] -= amount;
        excess[sink] += amount;
        if paths.is_multiple_of(PATHS_BETWEEN_POLLS) && monitor.poll().is_interrupted() {
            return None;
        }
    }
    for (at, arc) in network.arcs.iter().enumerate() {
        let (tail, head) = (at / q, at % q);
        for (k, pair) in arc.pairs.iter().enumerate().take(arc.next + 1) {
            let moved = if k < arc.next { pair.weight } else { arc.given };
            dual[pair.instance * q + tail] -= moved;
            dual[pair.instance * q + head] += moved;
        }
    }
    let rows = dual.chunks_exact(q).enumerate();
    let total = rows.map(|(i, row)| labels.sum_of_pairs(i, row)).sum();
    let bias = centred(network.prices.iter().map(|price| -price).collect());
    Some(Vertex { dual, total, bias })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::vector::{dot, row_sum};
    use crate::pairwise::bias::feasible;
    use crate::pairwise::loss::{Hinge, sum_of_losses};

    /// Its value and that of its prices bound each other, and are equal.
    #[test]
    fn a_vertex_and_its_biases_prove_each_other() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..200 {
            let (n, q) = (random.usize(1..20), random.usize(2..7));
            let indicator: Vec<u8> = (0..n * q).map(|_| random.u8(0..3)).collect();
            let mut labels = Labels::new(&indicator, q, 3.0).unwrap();
            let weights: Vec<f64> = (0..q).map(|_| 0.5 + random.f64()).collect();
            labels = labels.with_label_weights(&weights).unwrap();
            // Costs with ties in some of the problems.
            let scores: Vec<f64> = (0..n * q).map(|_| random.f64() * 4.0).collect();
            let scores: Vec<f64> = if random.bool() {
                scores.iter().map(|s| s.round()).collect()
            } else {
                scores
            };
            let found = vertex(&labels, &scores, &mut ()).unwrap();
            let rounding = 1e-14 * labels.weight_of_pairs();
            assert!(row_sum(&found.dual, q).iter().all(|g| g.abs() <= rounding));
            let value = found.total - dot(&found.dual, &scores);
            let loss = sum_of_losses(&Hinge, &labels, &scores, &found.bias);
            assert!(
                (value - loss).abs() <= 1e-12 * (1.0 + loss),
                "{value} {loss}"
            );
            let feasible = feasible(&labels, found.dual.clone());
            for (nearest, beta) in feasible.iter().zip(&found.dual) {
                assert!((nearest - beta).abs() < 1e-12);
            }
        }
    }
}
