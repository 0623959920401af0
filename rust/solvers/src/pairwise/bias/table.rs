//! A row's transport plan where pairs far from the margin are neither at 0 nor at the weight: rows that are mixtures of
//! blocks solved at different scores, as those of many machines are.
//!
//! Pairs near the margin have taken what they could, in the order of their margins. What is left then goes the shortest
//! ways through the table of all pairs, from labels that have more of it to give than they should.

/// The dual variables of a row's pairs, by the positions of its labels: the relevant ones come first.
pub(super) struct Table {
    relevant: usize,
    /// The weight of a pair.
    weight: f64,
    /// What is left of `|beta|`.
    left: Vec<f64>,
    /// `alpha_mn`, by relevant and irrelevant labels.
    alpha: Vec<f64>,
}

impl Table {
    /// The table of `|beta|` without any pair's share.
    pub fn new(beta: &[f64], relevant: usize, weight: f64) -> Self {
        Self {
            relevant,
            weight,
            left: beta.to_vec(),
            alpha: vec![0.0; relevant * (beta.len() - relevant)],
        }
    }

    fn index(&self, m: usize, n: usize) -> usize {
        m * (self.left.len() - self.relevant) + n - self.relevant
    }

    /// The variable of a pair.
    pub fn alpha(&self, m: usize, n: usize) -> f64 {
        self.alpha[self.index(m, n)]
    }

    /// Gives a pair as much as both labels have left.
    pub fn fill(&mut self, m: usize, n: usize) {
        let room = self.weight - self.alpha(m, n);
        self.add(m, n, room.min(self.left[m]).min(self.left[n]).max(0.0));
    }

    /// Adds to the variable of a pair.
    pub fn add(&mut self, m: usize, n: usize, amount: f64) {
        let index = self.index(m, n);
        self.alpha[index] += amount;
        self.left[m] -= amount;
        self.left[n] -= amount;
    }

    /// Deals what is left to all pairs; whether no label keeps more than `slack` of it.
    pub fn deal(&mut self, slack: f64) -> bool {
        self.deal_directly();
        // Ways get longer from one time to the next, but for rounding.
        for _ in 0..self.left.len() {
            let (ends, before) = self.shortest_ways(slack);
            let moved = ends
                .into_iter()
                .filter(|&end| self.go(end, &before))
                .count();
            if moved == 0 {
                break;
            }
        }
        self.left.iter().all(|left| left.abs() <= slack)
    }

    /// Deals to pairs of which both labels have too little, or too much.
    fn deal_directly(&mut self) {
        for m in 0..self.relevant {
            for n in self.relevant..self.left.len() {
                let (left, other) = (self.left[m], self.left[n]);
                if left > 0.0 && other > 0.0 {
                    self.fill(m, n);
                } else if left < 0.0 && other < 0.0 {
                    self.add(m, n, left.max(other).max(-self.alpha(m, n)));
                }
            }
        }
    }

    /// What a label has to give to the pairs' variables, of which relevant labels are the tails: negative where it has to take.
    fn excess(&self, label: usize) -> f64 {
        if label < self.relevant {
            self.left[label]
        } else {
            -self.left[label]
        }
    }

    /// How much can go from a label to the one at the other end of a pair.
    fn room(&self, from: usize, to: usize) -> f64 {
        if from < self.relevant {
            self.weight - self.alpha(from, to)
        } else {
            self.alpha(to, from)
        }
    }

    /// The shortest ways from labels that have to give: the labels that have to take where they end, and the label before
    /// each.
    fn shortest_ways(&self, slack: f64) -> (Vec<usize>, Vec<usize>) {
        let labels = self.left.len();
        let mut before = vec![usize::MAX; labels];
        let mut reached: Vec<usize> = (0..labels).filter(|&k| self.excess(k) > slack).collect();
        reached.iter().for_each(|&k| before[k] = k);
        let (mut next, mut ends) = (0, Vec::new());
        while let Some(&from) = reached.get(next) {
            next += 1;
            let others = if from < self.relevant {
                self.relevant..labels
            } else {
                0..self.relevant
            };
            for to in others {
                if before[to] == usize::MAX && self.room(from, to) > 0.0 {
                    before[to] = from;
                    reached.push(to);
                    if self.excess(to) < 0.0 {
                        ends.push(to);
                    }
                }
            }
        }
        (ends, before)
    }

    /// Moves as much as can go along a way, on which others may have gone before; whether any could.
    fn go(&mut self, end: usize, before: &[usize]) -> bool {
        let (mut label, mut amount) = (end, -self.excess(end));
        while before[label] != label {
            amount = amount.min(self.room(before[label], label));
            label = before[label];
        }
        amount = amount.min(self.excess(label));
        if amount <= 0.0 {
            return false;
        }
        label = end;
        while before[label] != label {
            let from = before[label];
            if from < self.relevant {
                self.add(from, label, amount);
            } else {
                self.add(label, from, -amount);
            }
            label = from;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plans of random pairs, and their sums by label.
    fn mixture(
        random: &mut fastrand::Rng,
        relevant: usize,
        labels: usize,
        weight: f64,
    ) -> Vec<f64> {
        let mut beta = vec![0.0; labels];
        for m in 0..relevant {
            for n in relevant..labels {
                let share = match random.u8(0..3) {
                    0 => 0.0,
                    1 => weight,
                    _ => weight * random.f64(),
                };
                beta[m] += share;
                beta[n] += share;
            }
        }
        beta
    }

    #[test]
    fn the_sums_of_any_plan_are_dealt_whatever_was_dealt_before() {
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..300 {
            let labels = random.usize(2..12);
            let relevant = random.usize(1..labels);
            let weight = 0.1 + random.f64();
            let beta = mixture(&mut random, relevant, labels, weight);
            let mut table = Table::new(&beta, relevant, weight);
            for m in 0..relevant {
                for n in relevant..labels {
                    match random.u8(0..3) {
                        0 => table.add(m, n, weight),
                        1 => table.fill(m, n),
                        _ => {}
                    }
                }
            }
            assert!(table.deal(1e-12 * weight));
            for (k, sum) in beta.iter().enumerate() {
                let others = if k < relevant {
                    relevant..labels
                } else {
                    0..relevant
                };
                let alphas = others.map(|l| table.alpha(k.min(l), k.max(l)));
                let alphas: Vec<f64> = alphas.collect();
                assert!(alphas.iter().all(|a| (-1e-12..=weight + 1e-12).contains(a)));
                assert!((alphas.iter().sum::<f64>() - sum).abs() < 1e-10);
            }
        }
    }

    /// One relevant label would need more than its two pairs can take.
    #[test]
    fn what_no_plan_sums_to_is_left() {
        let mut table = Table::new(&[2.5, 1.25, 1.25], 1, 1.0);
        assert!(!table.deal(1e-9));
    }

    /// Label 0 has to give to label 3, and their pair is full: it gives by way of 2 and 1.
    #[test]
    fn ways_lead_around_full_pairs() {
        let mut table = Table::new(&[2.0, 1.0, 1.0, 2.0], 2, 1.0);
        table.add(0, 3, 1.0);
        table.add(1, 2, 1.0);
        assert!(table.deal(1e-15));
        let found = [(0, 2), (0, 3), (1, 2), (1, 3)].map(|(m, n)| table.alpha(m, n));
        assert_eq!(found, [1.0, 1.0, 0.0, 1.0]);
    }
}
