//! The dual variables of a row's pairs, which `B` does not hold.
//!
//! They are a transport plan: pairs with a margin well below 1 are at `c_i`, well above at 0, and the others take what is
//! left, in the order of their margins. How many are in doubt depends on how far the scores have moved since the row's
//! block was solved; rows for which it does not come out even are left alone.

use crate::labels::Labels;

/// Pairs with a margin up to this far from 1 are in doubt, at first; how much farther the next look goes, and the last.
pub(super) const NEAREST: f64 = 1.0 / 64.0;
const FARTHER: f64 = 4.0;
const FARTHEST: f64 = 0.25;

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
    /// What the pairs in doubt can take of it.
    room: Vec<f64>,
    shifted: Vec<f64>,
    bands: Vec<f64>,
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
    /// corrects; `false`, and an infinite guess, when the row does not come out even.
    pub fn explain(&mut self, at: &At<'_>, i: usize, near: &mut f64) -> bool {
        self.gather(at, i);
        if at.labels.has_zero_label() {
            self.star();
            return true;
        }
        while *near <= FARTHEST {
            if self.is_even(*near) {
                return true;
            }
            *near *= FARTHER;
        }
        *near = f64::INFINITY;
        false
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

    /// Whether the plan comes out even with the pairs up to `near` from the margin in doubt.
    fn is_even(&mut self, near: f64) -> bool {
        self.near = near;
        if !self.may_be_even() {
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
        self.left.iter().all(|left| left.abs() <= slack)
    }

    /// Leaves what the pairs in doubt have to explain; whether no label has more of it than its pairs can take.
    fn may_be_even(&mut self) -> bool {
        let (near, weight, relevant) = (self.near, self.weight, self.relevant);
        self.left.clone_from(&self.beta);
        self.room.clear();
        self.room.resize(self.beta.len(), 0.0);
        let slack = LEFT_OVER * weight;
        let fits = |left: f64, room: f64| left >= -slack && left <= room + slack;
        let (preferred, others) = self.left.split_at_mut(relevant);
        let room = &mut self.room[relevant..];
        for (left, score) in preferred.iter_mut().zip(&self.scores) {
            let start = score - 1.0;
            let (mut full, mut doubt) = (0.0, 0.0);
            let irrelevant = self.scores[relevant..].iter();
            for ((left, room), score) in others.iter_mut().zip(&mut *room).zip(irrelevant) {
                let excess = start - score;
                let taken = if excess < -near { weight } else { 0.0 };
                let unsure = if excess.abs() <= near { weight } else { 0.0 };
                *left -= taken;
                *room += unsure;
                full += taken;
                doubt += unsure;
            }
            *left -= full;
            if !fits(*left, doubt) {
                return false;
            }
        }
        others
            .iter()
            .zip(room)
            .all(|(&left, room)| fits(left, *room))
    }

    /// The pairs in doubt, in the order of their margins.
    fn find_pairs(&mut self) {
        self.pairs.clear();
        for m in 0..self.relevant {
            let start = self.scores[m] - 1.0;
            for (n, score) in self.scores.iter().enumerate().skip(self.relevant) {
                let excess = start - score;
                if excess.abs() <= self.near {
                    self.pairs.push(Pair {
                        preferred: m as u32,
                        other: n as u32,
                        excess,
                        alpha: 0.0,
                    });
                }
            }
        }
        self.pairs.sort_unstable_by(|x, y| {
            x.excess
                .total_cmp(&y.excess)
                .then((x.preferred, x.other).cmp(&(y.preferred, y.other)))
        });
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
        if self.bands.iter().all(|&band| band <= self.near) {
            return;
        }
        for m in 0..self.relevant {
            let (start, band) = (self.scores[m] - 1.0, self.bands[m]);
            for n in self.relevant..self.scores.len() {
                let excess = start - self.scores[n];
                let distance = excess.abs();
                if distance > self.near && distance <= band.max(self.bands[n]) {
                    let pair = Pair {
                        preferred: m as u32,
                        other: n as u32,
                        excess,
                        alpha: if excess < 0.0 { self.weight } else { 0.0 },
                    };
                    self.visit_pair(&pair, &mut visit);
                }
            }
        }
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

    /// Two labels, the first relevant in each row, and no bias.
    fn explained(
        dual: &[f64],
        scores: &[f64],
        i: usize,
        near: &mut f64,
    ) -> Option<Vec<(f64, f64)>> {
        let labels = Labels::new(&[1, 0, 1, 0], 2, 1.0).unwrap();
        let at = At {
            labels: &labels,
            dual,
            scores,
            bias: &[0.0, 0.0],
        };
        let mut row = Row::new(2);
        row.explain(&at, i, near).then(|| {
            let mut arcs = Vec::new();
            row.arcs(&at, i, &[1.0, 1.0], |arc| {
                arcs.push((arc.cost, arc.capacity))
            });
            arcs
        })
    }

    /// The first pair is far above the margin and yet in use.
    #[test]
    fn rows_that_do_not_come_out_even_are_left_alone() {
        let (dual, scores) = ([0.5, -0.5, 0.5, -0.5], [9.0, 0.0, 1.0, 0.0]);
        let mut near = NEAREST;
        assert!(explained(&dual, &scores, 0, &mut near).is_none());
        assert_eq!(near, f64::INFINITY);
        near = NEAREST;
        let arcs = explained(&dual, &scores, 1, &mut near).unwrap();
        assert_eq!((near, arcs), (NEAREST, vec![(0.0, 0.5), (0.0, 0.5)]));
    }

    /// The doubt grows until the variable of a pair a little above the margin is explained.
    #[test]
    fn the_doubt_reaches_as_far_as_it_has_to() {
        let mut near = NEAREST;
        let arcs = explained(
            &[0.25, -0.25, 0.0, 0.0],
            &[1.125, 0.0, 0.0, 0.0],
            0,
            &mut near,
        );
        assert_eq!(near, 0.25);
        assert_eq!(arcs.unwrap(), [(0.125, 0.75), (0.0, 0.25)]);
    }

    /// Pairs beyond the doubt are at 0 or at the weight.
    #[test]
    fn pairs_far_from_the_margin_can_move_one_way() {
        let mut near = NEAREST;
        let dual = [0.0, 0.0, 1.0, -1.0];
        let scores = [1.5, 0.0, 0.5, 0.0];
        assert_eq!(
            explained(&dual, &scores, 0, &mut near).unwrap(),
            [(0.5, 1.0)]
        );
        assert_eq!(
            explained(&dual, &scores, 1, &mut near).unwrap(),
            [(0.5, 1.0)]
        );
        assert_eq!(near, NEAREST);
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
        };
        let (mut row, mut near, mut arcs) = (Row::new(3), NEAREST, Vec::new());
        assert!(row.explain(&at, 0, &mut near));
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
