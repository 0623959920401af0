//! The dual variables of a row's pairs, which `B` does not hold.
//!
//! They are a transport plan: pairs with a margin well below 1 are at `c_i`, well above at 0, and the others take what is
//! left, in the order of their margins. How many are in doubt depends on how far the scores have moved since the row's
//! block was solved. Mixtures of blocks have a plan of all pairs where that does not come out even ([`super::table`]).

use super::table::Table;
use crate::labels::Labels;

/// Pairs with a margin up to this far from 1 are in doubt, at first; how much farther the next look goes, and the last.
pub(super) const NEAREST: f64 = 1.0 / 64.0;
const FARTHER: f64 = 4.0;
pub(super) const FARTHEST: f64 = 0.25;

/// What may be left of a row's transport plan, as a share of the weight of a pair.
const LEFT_OVER: f64 = 1e-9;

/// A point: `B`, the scores `K B`, and the bias, whose sum over rows is to be repaired.
pub(super) struct At<'a> {
    pub labels: &'a Labels,
    /// `n x q` row-major.
    pub dual: &'a [f64],
    /// `n x q` row-major, without the bias.
    pub scores: &'a [f64],
    pub bias: &'a [f64],
    /// Whether rows may be mixtures of blocks that were solved at different scores: rows that do not come out even have a plan
    /// of all pairs then, and are left alone else.
    pub mixtures: bool,
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
pub(super) struct Arc {
    pub tail: usize,
    pub head: usize,
    /// What the dual value loses to first order, by the unit.
    pub cost: f64,
    pub capacity: f64,
}

/// The pairs of a row whose variables are known.
#[derive(Default)]
pub(super) struct Row {
    /// `0..q`, as numbers that can be gathered.
    all_labels: Vec<f64>,
    /// How many of the known labels are relevant; they come first.
    relevant: usize,
    weight: f64,
    /// The known labels and their scores, the bias included.
    label_of: Vec<f64>,
    scores: Vec<f64>,
    /// `|beta|` of the known labels, and what is left to explain of it.
    beta: Vec<f64>,
    left: Vec<f64>,
    /// The irrelevant labels with a pair that may be in doubt or within a band, by ascending score.
    by_score: Vec<(f64, u32)>,
    /// How many others have all of their pairs below the margin, so that they are at the weight.
    full: usize,
    /// Whether one of the others has a share that is not what the margins say.
    far_in_doubt: bool,
    /// For each relevant label, which of these have pairs in doubt; the pairs with those after them are at the weight.
    in_doubt: Vec<(usize, usize)>,
    /// With how many more relevant labels than the one before each of these is in doubt, or at the weight.
    more: Vec<(i32, i32)>,
    shifted: Vec<f64>,
    bands: Vec<f64>,
    /// Those of the irrelevant labels whose bands are wider than the narrowest.
    wider: Vec<u32>,
    /// The pairs in doubt: those farther from the margin are at 0 or at the weight.
    pairs: Vec<Pair>,
    near: f64,
}

impl Row {
    /// Buffers for `q` labels.
    pub fn new(q: usize) -> Self {
        Self {
            all_labels: (0..q).map(|k| k as f64).collect(),
            ..Self::default()
        }
    }

    /// Finds the dual variables of row `i`, from a guess of how far from the margin they are in doubt, which it
    /// corrects, up to the `farthest`; `false` when they are not found. An infinite guess stands for rows that do not come
    /// out even. Arcs are asked for with bands up to the `widest`.
    pub fn explain(
        &mut self,
        at: &At<'_>,
        i: usize,
        near: &mut f64,
        farthest: f64,
        widest: f64,
    ) -> bool {
        let mixture = at.mixtures && near.is_infinite();
        if *near > farthest && !mixture {
            return false;
        }
        self.gather(at, i);
        if at.labels.has_zero_label() {
            self.star();
            return true;
        }
        self.sort(widest.max(farthest));
        while *near <= farthest {
            if self.is_even(*near) {
                return true;
            }
            *near *= FARTHER;
        }
        if *near <= FARTHEST {
            return false;
        }
        *near = f64::INFINITY;
        at.mixtures && self.is_plan()
    }

    /// Whether the row is a plan in which pairs far from the margin have a share, too: all pairs are in doubt then.
    fn is_plan(&mut self) -> bool {
        self.near = f64::INFINITY;
        let mut table = Table::new(&self.beta, self.relevant, self.weight);
        self.pairs.clear();
        for m in 0..self.relevant {
            for n in self.relevant..self.scores.len() {
                let excess = self.scores[m] - 1.0 - self.scores[n];
                if excess < -FARTHEST {
                    table.add(m, n, self.weight);
                }
                self.pairs.push(Pair {
                    preferred: m as u32,
                    other: n as u32,
                    excess,
                    alpha: 0.0,
                });
            }
        }
        let close = |pair: &&Pair| pair.excess.abs() <= FARTHEST;
        let mut in_doubt: Vec<Pair> = self.pairs.iter().filter(close).copied().collect();
        in_doubt.sort_by(|x, y| x.excess.total_cmp(&y.excess));
        for pair in &in_doubt {
            table.fill(pair.preferred as usize, pair.other as usize);
        }
        let dealt = table.deal(LEFT_OVER * self.weight);
        for pair in &mut self.pairs {
            pair.alpha = table.alpha(pair.preferred as usize, pair.other as usize);
        }
        dealt
    }

    fn gather(&mut self, at: &At<'_>, i: usize) {
        let q = at.labels.count();
        self.relevant = at.labels.relevant(i).len();
        self.weight = at.labels.weight(i);
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
        gather(&at.dual[range], &mut self.beta);
        self.beta[self.relevant..]
            .iter_mut()
            .for_each(|beta| *beta = -*beta);
    }

    /// Sorts the irrelevant labels but for those whose pairs are all farther from the margin than `distance`, on the same
    /// side: text has few others.
    fn sort(&mut self, distance: f64) {
        let (mut lowest, mut highest) = (f64::INFINITY, f64::NEG_INFINITY);
        for &score in &self.scores[..self.relevant] {
            lowest = lowest.min(score - 1.0 - distance);
            highest = highest.max(score - 1.0 + distance);
        }
        let slack = LEFT_OVER * self.weight;
        let of_full = self.weight * self.relevant as f64;
        self.by_score.clear();
        (self.full, self.far_in_doubt) = (0, false);
        for (k, &score) in self.scores.iter().enumerate().skip(self.relevant) {
            if score < lowest {
                self.far_in_doubt |= self.beta[k] > slack;
            } else if score > highest {
                self.full += 1;
                self.far_in_doubt |= (self.beta[k] - of_full).abs() > slack;
            } else {
                self.by_score.push((score, k as u32));
            }
        }
        if self.far_in_doubt {
            // Not even: the order does not matter.
            return;
        }
        self.by_score.sort_by(|x, y| x.0.total_cmp(&y.0));
    }

    /// Where the irrelevant labels begin and end, by ascending score, that a relevant one is a margin above but for
    /// `distance` at most.
    fn near_margin(&self, m: usize, distance: f64) -> (usize, usize) {
        let start = self.scores[m] - 1.0;
        let begin = self.by_score.partition_point(|k| start - k.0 > distance);
        let length = self.by_score[begin..].partition_point(|k| start - k.0 >= -distance);
        (begin, begin + length)
    }

    /// Whether the plan comes out even with the pairs up to `near` from the margin in doubt.
    fn is_even(&mut self, near: f64) -> bool {
        self.near = near;
        if self.far_in_doubt || !self.may_be_even() {
            return false;
        }
        self.find_pairs();
        for pair in &mut self.pairs {
            let (m, n) = (pair.preferred as usize, pair.other as usize);
            pair.alpha = self.weight.min(self.left[m]).min(self.left[n]).max(0.0);
            self.left[m] -= pair.alpha;
            self.left[n] -= pair.alpha;
        }
        let slack = LEFT_OVER * self.weight;
        let explained = |left: f64| left.abs() <= slack;
        let (relevant, others) = self.left.split_at(self.relevant);
        let near = self.by_score.iter();
        relevant.iter().all(|&left| explained(left))
            && near
                .map(|k| others[k.1 as usize - self.relevant])
                .all(explained)
    }

    /// Leaves what the pairs in doubt have to explain; whether no label has more of it than its pairs can take.
    fn may_be_even(&mut self) -> bool {
        let weight = self.weight;
        let slack = LEFT_OVER * weight;
        let fits = |left: f64, room: f64| left >= -slack && left <= room + slack;
        self.left.clone_from(&self.beta);
        self.in_doubt.clear();
        self.more.clear();
        self.more.resize(self.by_score.len() + 1, (0, 0));
        for m in 0..self.relevant {
            let (begin, end) = self.near_margin(m, self.near);
            self.in_doubt.push((begin, end));
            self.more[begin].0 += 1;
            self.more[end].0 -= 1;
            self.more[end].1 += 1;
            self.left[m] -= weight * (self.full + self.by_score.len() - end) as f64;
            if !fits(self.left[m], weight * (end - begin) as f64) {
                return false;
            }
        }
        let (mut doubt, mut full) = (0, 0);
        self.by_score.iter().zip(&self.more).all(|(&(_, n), more)| {
            doubt += more.0;
            full += more.1;
            let left = &mut self.left[n as usize];
            *left -= weight * f64::from(full);
            fits(*left, weight * f64::from(doubt))
        })
    }

    /// The pairs in doubt, in the order of their margins.
    fn find_pairs(&mut self) {
        self.pairs.clear();
        for (m, &(begin, end)) in self.in_doubt.iter().enumerate() {
            let start = self.scores[m] - 1.0;
            let pairs = self.by_score[begin..end]
                .iter()
                .rev()
                .map(|&(score, n)| Pair {
                    preferred: m as u32,
                    other: n,
                    excess: start - score,
                    alpha: 0.0,
                });
            self.pairs.extend(pairs);
        }
        self.pairs.sort_by(|x, y| x.excess.total_cmp(&y.excess));
    }

    /// The pairs with a zero label, each of which is known by its other label: none is in doubt.
    fn star(&mut self) {
        let zero = self.scores.len() - 1;
        self.near = f64::INFINITY;
        self.pairs.clear();
        for k in 0..zero {
            let (preferred, other) = if k < self.relevant {
                (k, zero)
            } else {
                (zero, k)
            };
            self.pairs.push(Pair {
                preferred: preferred as u32,
                other: other as u32,
                excess: self.scores[preferred] - self.scores[other] - 1.0,
                alpha: self.beta[k].clamp(0.0, self.weight),
            });
        }
    }

    /// Calls `visit` for what the variables can do, of pairs whose margin is within the band of either label.
    pub fn arcs(&mut self, at: &At<'_>, i: usize, bands: &[f64], mut visit: impl FnMut(Arc)) {
        self.bands.resize(bands.len(), 0.0);
        let known = at.labels.gather(i, bands, &mut self.bands).len();
        self.bands.truncate(known);
        for pair in &self.pairs {
            let (m, n) = (pair.preferred as usize, pair.other as usize);
            if pair.excess.abs() <= self.bands[m].max(self.bands[n]) {
                self.visit_pair(pair, &mut visit);
            }
        }
        if self.near.is_finite() {
            self.arcs_of_others(&mut visit);
        }
    }

    /// The same for the pairs that are not in doubt.
    fn arcs_of_others(&mut self, visit: &mut impl FnMut(Arc)) {
        let irrelevant = self.bands.iter().zip(0..).skip(self.relevant);
        let narrowest = irrelevant
            .clone()
            .fold(f64::INFINITY, |least: f64, (&band, _)| band.min(least));
        let wider = irrelevant.filter(|&(&band, _)| band > narrowest);
        self.wider.clear();
        self.wider.extend(wider.map(|(_, k)| k));
        for m in 0..self.relevant {
            let band = self.bands[m].max(narrowest);
            if band > self.near {
                let (begin, end) = self.near_margin(m, band);
                let doubt = self.in_doubt[m];
                for &(_, n) in &self.by_score[begin..doubt.0] {
                    self.visit_other(m, n, visit);
                }
                for &(_, n) in &self.by_score[doubt.1..end] {
                    self.visit_other(m, n, visit);
                }
            }
            for &n in &self.wider {
                let distance = (self.scores[m] - 1.0 - self.scores[n as usize]).abs();
                if distance > band.max(self.near) && distance <= self.bands[n as usize] {
                    self.visit_other(m, n, visit);
                }
            }
        }
    }

    /// A pair that is not in doubt.
    fn visit_other(&self, m: usize, n: u32, visit: &mut impl FnMut(Arc)) {
        let excess = self.scores[m] - 1.0 - self.scores[n as usize];
        let pair = Pair {
            preferred: m as u32,
            other: n,
            excess,
            alpha: if excess < 0.0 { self.weight } else { 0.0 },
        };
        self.visit_pair(&pair, visit);
    }

    #[inline]
    fn visit_pair(&self, pair: &Pair, visit: &mut impl FnMut(Arc)) {
        let tail = self.label_of[pair.preferred as usize] as usize;
        let head = self.label_of[pair.other as usize] as usize;
        let slack = LEFT_OVER * self.weight;
        if self.weight - pair.alpha > slack {
            visit(Arc {
                tail,
                head,
                cost: pair.excess.max(0.0),
                capacity: self.weight - pair.alpha,
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The arcs are those of the pairs within the band of either label, from the label that is to gain.
    #[test]
    fn arcs_are_those_of_the_pairs_within_their_bands() {
        let mut random = fastrand::Rng::with_seed(11);
        let (n, q) = (40, 9);
        let indicator: Vec<u8> = (0..n * q).map(|_| random.u8(0..2)).collect();
        let labels = Labels::new(&indicator, q, 1.0).unwrap();
        let scores: Vec<f64> = (0..n * q).map(|_| 2.0 * random.f64()).collect();
        let bands: Vec<f64> = (0..q).map(|k| [0.1, 0.1, 0.7][k % 3]).collect();
        let mut dual = vec![0.0; n * q];
        let mut margins = Vec::new();
        for i in (0..n).filter(|&i| labels.has_pairs(i)) {
            for &m in labels.relevant(i) {
                for l in labels.irrelevant(i) {
                    let m = m as usize;
                    let excess = scores[i * q + m] - 1.0 - scores[i * q + l];
                    let share = f64::from(u8::from(excess < 0.0));
                    dual[i * q + m] += share * labels.weight(i);
                    dual[i * q + l] -= share * labels.weight(i);
                    margins.push((i, m, l, excess));
                }
            }
        }
        let at = At {
            labels: &labels,
            dual: &dual,
            scores: &scores,
            bias: &vec![0.0; q],
            mixtures: true,
        };
        let mut row = Row::new(q);
        for i in (0..n).filter(|&i| labels.has_pairs(i)) {
            for bands in [&bands, &vec![f64::INFINITY; q]] {
                let widest = bands.iter().copied().fold(0.0, f64::max);
                assert!(row.explain(&at, i, &mut { NEAREST }, FARTHEST, widest));
                let mut found = Vec::new();
                row.arcs(&at, i, bands, |arc| found.push((arc.tail, arc.head)));
                let within =
                    |m: usize, l: usize, excess: f64| excess.abs() <= bands[m].max(bands[l]);
                let mut wanted: Vec<(usize, usize)> = margins
                    .iter()
                    .filter(|&&(row, m, l, excess)| row == i && within(m, l, excess))
                    .map(|&(_, m, l, excess)| if excess < 0.0 { (l, m) } else { (m, l) })
                    .collect();
                found.sort_unstable();
                wanted.sort_unstable();
                assert_eq!(found, wanted);
            }
        }
    }

    /// A zero label is in one pair a label, whose variable is the label's entry of `B`.
    #[test]
    fn pairs_with_a_zero_label_cost_what_they_are_from_the_margin() {
        let labels = Labels::new(&[1, 0], 2, 2.0)
            .and_then(|labels| labels.with_zero_label(2.0, None))
            .unwrap();
        let at = At {
            labels: &labels,
            dual: &[0.25, -1.0, 0.75],
            scores: &[2.0, -0.5, 0.25],
            bias: &[0.0; 3],
            mixtures: true,
        };
        let (mut row, mut near, mut arcs) = (Row::new(3), NEAREST, Vec::new());
        assert!(row.explain(&at, 0, &mut near, FARTHEST, 1.0));
        row.arcs(&at, 0, &[1.0; 3], |arc| {
            arcs.push((arc.tail, arc.head, arc.cost, arc.capacity))
        });
        // The margins are 1.75 and 0.75.
        assert_eq!(
            arcs,
            [(0, 2, 0.75, 0.75), (2, 0, 0.0, 0.25), (1, 2, 0.25, 1.0)]
        );
    }
}
