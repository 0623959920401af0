//! A free bias when the labels' network has several strongly connected components.
//!
//! Pairs of labels in different components carry no circulation: they are zero at every feasible point. So the loop sees
//! only the pairs inside components; afterwards the biases move the components apart until the pairs across them have no
//! loss.

use super::repair::centred;
use crate::memory;

/// The strongly connected components of the labels' network.
pub(super) struct Components {
    /// By label: the first label of its component.
    pub of: Vec<usize>,
    /// By label: the number of labels reachable through pairs. Pairs across components lead to labels that reach fewer.
    reach: Vec<usize>,
}

impl Components {
    /// The components of the network with the capacities `C_ml`, `q x q` row-major.
    pub fn new(capacity: &[f64], q: usize) -> Self {
        let sets = strongly_connected(capacity, q);
        let (mut of, mut set_of) = (vec![0; q], vec![0; q]);
        for (index, set) in sets.iter().enumerate() {
            let first = set.iter().copied().min().unwrap_or(0);
            for &label in set {
                (of[label], set_of[label]) = (first, index);
            }
        }
        // A set comes after those that it leads to, which are complete by then.
        let words = sets.len().div_ceil(64);
        let (mut reached, mut reach) = (memory::filled(0_u64, sets.len() * words), vec![0; q]);
        for (index, set) in sets.iter().enumerate() {
            let (before, rest) = reached.split_at_mut(index * words);
            let own = &mut rest[..words];
            own[index / 64] |= 1 << (index % 64);
            let rows = set
                .iter()
                .map(|label| &capacity[label * q..(label + 1) * q]);
            for (_, &to) in rows
                .flat_map(|row| row.iter().zip(&set_of))
                .filter(|arc| *arc.0 > 0.0)
            {
                if own[to / 64] >> (to % 64) & 1 == 0 {
                    let there = &before[to * words..(to + 1) * words];
                    own.iter_mut()
                        .zip(there)
                        .for_each(|(own, there)| *own |= there);
                }
            }
            let is_reached = |other: &usize| own[other / 64] >> (other % 64) & 1 == 1;
            let count: usize = (0..=index)
                .filter(is_reached)
                .map(|other| sets[other].len())
                .sum();
            set.iter().for_each(|&label| reach[label] = count);
        }
        Self { of, reach }
    }

    pub fn several(&self) -> bool {
        self.of.iter().any(|&component| component != 0)
    }

    /// Numbers minus the mean of their components.
    pub fn centred(&self, values: &[f64]) -> Vec<f64> {
        let (mut sums, mut counts) = (vec![0.0; values.len()], vec![0.0; values.len()]);
        for (value, &component) in values.iter().zip(&self.of) {
            sums[component] += value;
            counts[component] += 1.0;
        }
        let of_label = values.iter().zip(&self.of);
        of_label
            .map(|(value, &component)| value - sums[component] / counts[component])
            .collect()
    }

    /// Moves the biases of whole components apart until no pair across components has a loss at the scores of the training
    /// rows.
    pub fn lift(&self, scores: &[f64], bias: &mut Vec<f64>) {
        *bias = self.centred(bias);
        let mut widest: f64 = 0.0;
        for row in scores.chunks_exact(bias.len()) {
            let shifted = row.iter().zip(bias.iter()).map(|(f, b)| f + b);
            let (low, high) = shifted.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), s| {
                (s.min(low), s.max(high))
            });
            widest = widest.max(high - low);
        }
        let mut levels = memory::copied(&self.reach);
        levels.sort_unstable();
        levels.dedup();
        for (b, reach) in bias.iter_mut().zip(&self.reach) {
            let level = levels.partition_point(|other| other < reach);
            *b += level as f64 * (1.0 + widest);
        }
        *bias = centred(std::mem::take(bias));
    }
}

/// The sets of mutually reachable labels, each after those that it leads to (Tarjan 1972, without recursion).
fn strongly_connected(capacity: &[f64], q: usize) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let (mut number, mut lowest, mut placed) = (vec![UNSEEN; q], vec![0; q], vec![false; q]);
    let (mut open, mut path, mut sets, mut seen) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for start in 0..q {
        if number[start] == UNSEEN {
            path.push((start, 0));
        }
        while let Some((label, from)) = path.pop() {
            if from == 0 {
                (number[label], lowest[label]) = (seen, seen);
                seen += 1;
                open.push(label);
            }
            let row = &capacity[label * q..(label + 1) * q];
            let mut arcs = (from..q).filter(|&to| row[to] > 0.0 && !placed[to]);
            let new = arcs.find(|&to| {
                if number[to] != UNSEEN {
                    lowest[label] = lowest[label].min(number[to]);
                }
                number[to] == UNSEEN
            });
            if let Some(to) = new {
                path.push((label, to + 1));
                path.push((to, 0));
                continue;
            }
            if lowest[label] == number[label] {
                let place = open.iter().rposition(|&other| other == label).unwrap_or(0);
                let set = open.split_off(place);
                set.iter().for_each(|&other| placed[other] = true);
                sets.push(set);
            }
            if let Some(&(before, _)) = path.last() {
                lowest[before] = lowest[before].min(lowest[label]);
            }
        }
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_the_classes_of_mutual_reachability_and_are_lifted_along_the_arcs() {
        let mut random = fastrand::Rng::with_seed(2);
        for _ in 0..3000 {
            let q = random.usize(1..9);
            let keep = random.f64();
            let capacity: Vec<f64> = (0..q * q)
                .map(|_| {
                    if random.f64() < keep {
                        random.f64()
                    } else {
                        0.0
                    }
                })
                .collect();
            let arc = |place: usize| capacity[place] > 0.0 || place / q == place % q;
            let mut reaches: Vec<bool> = (0..q * q).map(arc).collect();
            for _ in 0..q {
                for place in 0..q * q {
                    let (from, to) = (place / q * q, place % q);
                    let via = |k| reaches[from + k] && arc(k * q + to);
                    reaches[place] = reaches[place] || (0..q).any(via);
                }
            }
            let components = Components::new(&capacity, q);
            let scores: Vec<f64> = (0..3 * q).map(|_| random.f64()).collect();
            let mut bias: Vec<f64> = (0..q).map(|_| random.f64()).collect();
            components.lift(&scores, &mut bias);
            for (from, to) in (0..q * q).map(|place| (place / q, place % q)) {
                let together = reaches[from * q + to] && reaches[to * q + from];
                assert_eq!(together, components.of[from] == components.of[to]);
                if capacity[from * q + to] > 0.0 && !together {
                    for row in scores.chunks_exact(q) {
                        assert!(row[from] + bias[from] - row[to] - bias[to] >= 1.0 - 1e-12);
                    }
                }
            }
        }
    }
}
