//! The pairs of a row by their margins.

use crate::labels::Labels;

/// Pairs so near the margin may have any share of their weight at no cost worth mentioning: they have the less the farther up
/// they are, so that rounding makes no difference where their margin is 1.
pub(super) const FINEST: f64 = 1.0 / 1024.0;

/// The scores of all rows.
pub(super) struct At<'a> {
    pub labels: &'a Labels,
    /// `n x q` row-major, without the bias.
    pub scores: &'a [f64],
    pub bias: &'a [f64],
    /// `K_ii`
    pub diagonal: &'a [f64],
}

/// What a pair near the margin can do: its variable may rise, or fall; then the arc leads back.
pub(super) struct Arc {
    pub tail: usize,
    pub head: usize,
    /// What the dual value loses to first order, by the unit: how far the pair is from the margin.
    pub cost: f64,
    pub capacity: f64,
}

/// The share of its weight that a pair has, by how far it is above the margin.
fn share_of(excess: f64) -> f64 {
    (0.5 - 0.5 * excess / FINEST).clamp(0.0, 1.0)
}

/// The best dual row at the scores: pairs below the margin have their weight, those above it 0.
#[derive(Default)]
pub(super) struct Row {
    /// `0..q`, as numbers that can be gathered.
    all_labels: Vec<f64>,
    /// The known labels and their scores, the bias included; the relevant ones come first.
    label_of: Vec<f64>,
    scores: Vec<f64>,
    shifted: Vec<f64>,
    bands: Vec<f64>,
    /// The irrelevant labels that may have a pair near the margin, by ascending score.
    by_score: Vec<(f64, u32)>,
    /// The irrelevant labels with a wider band than the narrowest one.
    wider: Vec<usize>,
    /// By how much more in all the pairs of each of these weigh that are below the margin than those of the one before.
    more: Vec<f64>,
    /// The dual row of the known labels.
    block: Vec<f64>,
}

impl Row {
    /// Buffers for `q` labels.
    pub fn new(q: usize) -> Self {
        Self {
            all_labels: (0..q).map(|k| k as f64).collect(),
            ..Self::default()
        }
    }

    /// Writes the best dual row of row `i`, and calls `visit` for its pairs that are within the band of either label (of the
    /// other label than a zero label) around the margin.
    pub fn best(
        &mut self,
        at: &At<'_>,
        i: usize,
        bands: &[f64],
        best: &mut [f64],
        mut visit: impl FnMut(Arc),
    ) {
        let (q, labels) = (bands.len(), at.labels);
        let gather = |row: &[f64], into: &mut Vec<f64>| {
            into.resize(q, 0.0);
            let known = labels.gather(i, row, into).len();
            into.truncate(known);
        };
        gather(&self.all_labels, &mut self.label_of);
        gather(bands, &mut self.bands);
        self.shifted.clear();
        let scores = at.scores[i * q..(i + 1) * q].iter().zip(at.bias);
        self.shifted.extend(scores.map(|(score, b)| score + b));
        gather(&self.shifted, &mut self.scores);
        self.block.clear();
        self.block.resize(self.scores.len(), 0.0);
        if labels.has_zero_label() {
            self.star(labels, i, &mut visit);
        } else {
            self.all_pairs(labels, i, &mut visit);
        }
        labels.scatter(i, &self.block, best);
    }

    /// Pairs with a zero label, the last one.
    fn star(&mut self, labels: &Labels, i: usize, visit: &mut impl FnMut(Arc)) {
        let zero = self.scores.len() - 1;
        for k in 0..zero {
            let (m, l, weight) = match labels.relevant(i).get(k) {
                Some(&label) => (k, zero, labels.pair_weight(i, label)),
                None => (zero, k, labels.weight(i)),
            };
            let excess = self.scores[m] - 1.0 - self.scores[l];
            self.add(m, l, weight * share_of(excess));
            if excess.abs() <= self.bands[k] {
                self.arcs(m, l, excess, weight, visit);
            }
        }
    }

    /// Pairs of a relevant and an irrelevant label.
    fn all_pairs(&mut self, labels: &Labels, i: usize, visit: &mut impl FnMut(Arc)) {
        let relevant = labels.relevant(i);
        let (mut lowest, mut highest) = (f64::INFINITY, f64::NEG_INFINITY);
        for (score, band) in self.scores.iter().zip(&self.bands).take(relevant.len()) {
            lowest = lowest.min(score - 1.0 - band);
            highest = highest.max(score - 1.0 + band);
        }
        let all: f64 = relevant.iter().map(|&m| labels.pair_weight(i, m)).sum();
        self.by_score.clear();
        let mut above = 0;
        for (k, &score) in self.scores.iter().enumerate().skip(relevant.len()) {
            if score > highest {
                above += 1;
                self.block[k] = -all;
            } else if score >= lowest {
                self.by_score.push((score, k as u32));
            }
        }
        self.by_score.sort_by(|x, y| x.0.total_cmp(&y.0));
        self.more.clear();
        self.more.resize(self.by_score.len() + 1, 0.0);
        let narrowest = self.bands.iter().copied().fold(f64::INFINITY, f64::min);
        let irrelevant = self.bands.iter().zip(0..).skip(relevant.len());
        self.wider.clear();
        self.wider
            .extend(irrelevant.filter(|k| *k.0 > narrowest).map(|k| k.1));
        for (m, &label) in relevant.iter().enumerate() {
            let (margin, weight) = (self.scores[m] - 1.0, labels.pair_weight(i, label));
            // Up to there pairs have a part of their weight at most.
            let first = self.by_score.partition_point(|k| margin - k.0 > -FINEST);
            self.block[m] += weight * (above + self.by_score.len() - first) as f64;
            self.more[first] += weight;
            let begin = self
                .by_score
                .partition_point(|k| margin - k.0 > self.bands[m]);
            for place in begin..self.by_score.len() {
                let (score, l) = self.by_score[place];
                let excess = margin - score;
                if excess < -self.bands[m] {
                    break;
                }
                if place < first {
                    self.add(m, l as usize, weight * share_of(excess));
                }
                self.arcs(m, l as usize, excess, weight, visit);
            }
            for &l in &self.wider {
                let excess = margin - self.scores[l];
                if excess.abs() > self.bands[m] && excess.abs() <= self.bands[l] {
                    self.arcs(m, l, excess, weight, visit);
                }
            }
        }
        let mut below = 0.0;
        for (&(_, l), more) in self.by_score.iter().zip(&self.more) {
            below += more;
            self.block[l as usize] -= below;
        }
    }

    fn add(&mut self, m: usize, l: usize, amount: f64) {
        self.block[m] += amount;
        self.block[l] -= amount;
    }

    /// Visits what a pair's variable can do.
    #[inline]
    fn arcs(&self, m: usize, l: usize, excess: f64, weight: f64, visit: &mut impl FnMut(Arc)) {
        let (tail, head) = (self.label_of[m] as usize, self.label_of[l] as usize);
        let (share, cost) = (share_of(excess), excess.abs());
        if share < 1.0 {
            let capacity = weight * (1.0 - share);
            visit(Arc {
                tail,
                head,
                cost,
                capacity,
            });
        }
        if share > 0.0 {
            visit(Arc {
                tail: head,
                head: tail,
                cost,
                capacity: weight * share,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pair of a row by its definition.
    #[test]
    fn rows_are_those_of_all_pairs_and_arcs_those_within_a_band() {
        let mut random = fastrand::Rng::with_seed(11);
        let (n, q) = (60, 9);
        let indicator: Vec<u8> = (0..n * q).map(|_| random.u8(0..3)).collect();
        let plain = || Labels::new(&indicator, q, 0.5).unwrap();
        let weights: Vec<f64> = (0..q).map(|_| 0.5 + random.f64()).collect();
        for labels in [
            plain(),
            plain().with_label_weights(&weights).unwrap(),
            plain().with_zero_label(0.5, None).unwrap(),
        ] {
            let (zero, q) = (labels.has_zero_label(), labels.count());
            let scores: Vec<f64> = (0..n * q).map(|_| 2.0 * random.f64()).collect();
            let bias: Vec<f64> = (0..q).map(|_| random.f64() - 0.5).collect();
            let bands: Vec<f64> = (0..q).map(|k| [0.1, 0.1, 0.7][k % 3]).collect();
            let at = At {
                labels: &labels,
                scores: &scores,
                bias: &bias,
                diagonal: &[],
            };
            let mut row = Row::new(q);
            for i in (0..n).filter(|&i| labels.has_pairs(i)) {
                let irrelevant: Vec<usize> = labels.irrelevant(i).collect();
                let mut pairs = Vec::new();
                for &m in labels.relevant(i) {
                    let partners = irrelevant.iter().filter(|&&l| !zero || l == q - 1);
                    let weight = labels.pair_weight(i, m);
                    pairs.extend(partners.map(|&l| (m as usize, l, weight)));
                }
                if zero {
                    let others = irrelevant.iter().filter(|&&l| l < q - 1);
                    pairs.extend(others.map(|&l| (q - 1, l, labels.weight(i))));
                }
                let (mut wanted, mut arcs) = (vec![0.0; q], Vec::new());
                for (m, l, weight) in pairs {
                    let score = |k: usize| scores[i * q + k] + bias[k];
                    let excess = score(m) - 1.0 - score(l);
                    let share = (0.5 - 512.0 * excess).clamp(0.0, 1.0);
                    wanted[m] += share * weight;
                    wanted[l] -= share * weight;
                    let band = match (zero, m == q - 1) {
                        (false, _) => bands[m].max(bands[l]),
                        (true, false) => bands[m],
                        (true, true) => bands[l],
                    };
                    if excess.abs() <= band {
                        let cost = excess.abs();
                        let both = [(m, l, 1.0 - share), (l, m, share)];
                        let can = both.iter().filter(|arc| arc.2 > 0.0);
                        arcs.extend(can.map(|arc| (arc.0, arc.1, cost, weight * arc.2)));
                    }
                }
                let (mut best, mut found) = (vec![f64::NAN; q], Vec::new());
                row.best(&at, i, &bands, &mut best, |arc| {
                    found.push((arc.tail, arc.head, arc.cost, arc.capacity));
                });
                for (best, wanted) in best.iter().zip(&wanted) {
                    assert!((best - wanted).abs() < 1e-12);
                }
                found.sort_by(|x, y| x.partial_cmp(y).unwrap());
                arcs.sort_by(|x, y| x.partial_cmp(y).unwrap());
                assert_eq!(found, arcs);
            }
        }
    }
}
