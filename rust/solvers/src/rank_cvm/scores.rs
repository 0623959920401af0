//! Scores of the training instances, and the search for the smallest gradient entry.

use super::bounds::Bounds;
use super::lanes::{LANES, Lanes, at_most, lower, lower_each, lowest_lane};
use super::support::Support;
use crate::labels::Labels;
use crate::memory::{self, Purpose};
use multiversion::multiversion;
use std::ops::Deref;

/// A bound is a sum of a few differences of scores and `alpha / c`, and the gradient entry another one: rounding moves
/// them by less than this, relative to the largest score or `alpha / c`.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Scores and bounds, in units of the common factor. Instances come in blocks of [`LANES`], and each block has `q` rows,
/// one a label: so a step changes whole vectors of two rows, and all labels of a block lie side by side.
pub(super) struct Scores<'a> {
    labels: &'a Labels,
    scores: Vec<Lanes>,
    /// `T_n` at irrelevant labels and `R_m` at relevant ones (see [`super::bounds`]); infinite at unknown ones.
    noted: Vec<Lanes>,
    /// A bit for each instance of the block to which the label is relevant.
    relevant: Vec<u64>,
    bounds: Vec<Bounds>,
    /// The largest absolute value among the scores and `alpha / c`, so far.
    largest: f64,
    /// What a step adds to a label's scores.
    changes: Vec<Lanes>,
    /// Scores of one instance, and the minima of its columns.
    scratch: [Vec<Lanes>; 2],
}

impl<'a> Scores<'a> {
    /// Scores of zero.
    pub(super) fn new(labels: &'a Labels) -> Self {
        let (n, q) = (labels.instances(), labels.count());
        let blocks = n.div_ceil(LANES);
        let mut scores = Self {
            labels,
            scores: memory::filled(
                [0.0; LANES],
                blocks.saturating_mul(q),
                Purpose::RowsByLabels,
            ),
            noted: memory::filled(
                [f64::INFINITY; LANES],
                blocks.saturating_mul(q),
                Purpose::RowsByLabels,
            ),
            relevant: memory::filled(0, blocks.saturating_mul(q), Purpose::RowsByLabels),
            bounds: memory::filled(Bounds::OF_NOTHING, blocks, Purpose::Rows),
            largest: 0.0,
            changes: memory::filled([0.0; LANES], blocks, Purpose::Rows),
            scratch: std::array::from_fn(|_| vec![[0.0; LANES]; q.div_ceil(LANES)]),
        };
        for i in 0..n {
            for &m in labels.relevant(i) {
                let (row, lane) = scores.place(i, m);
                scores.relevant[row] |= 1 << lane;
                scores.noted[row][lane] = f64::NEG_INFINITY;
            }
        }
        scores.forget();
        scores
    }

    #[inline(always)]
    fn place(&self, i: usize, label: u32) -> (usize, usize) {
        let row = i / LANES * self.labels.count() + label as usize;
        (row, i % LANES)
    }

    /// The score of a label.
    pub(super) fn get(&self, i: usize, label: u32) -> f64 {
        let (row, lane) = self.place(i, label);
        self.scores[row][lane]
    }

    /// Adds a multiple of a vertex, given its instance's kernel row, to the scores: `O(n)`.
    pub(super) fn add(&mut self, kernel: &[f64], m: u32, n: u32, weight: f64) {
        follow(self, kernel, m as usize, n as usize, weight);
    }

    /// Hears of an `alpha / c` that rose.
    pub(super) fn own_rose(&mut self, own: f64) {
        self.largest = self.largest.max(own);
    }

    /// Hears of an `alpha / c` that fell.
    pub(super) fn own_fell(&mut self, i: usize, m: u32, n: u32, own: f64) {
        let (at_m, lane) = self.place(i, m);
        let (at_n, _) = self.place(i, n);
        let minimum = lower(self.noted[at_m][lane] + own, self.noted[at_n][lane]);
        self.noted[at_n][lane] = minimum;
        let column = &mut self.bounds[i / LANES].columns[lane];
        *column = lower(minimum - self.scores[at_n][lane], *column);
    }

    /// Computes the scores anew, from rows of the dual matrix and the kernel rows that belong to them.
    pub(super) fn rebuild<Row: Deref<Target = [f64]>>(
        &mut self,
        rows: impl Iterator<Item = (Vec<f64>, Row)>,
    ) {
        let q = self.labels.count();
        self.scores.fill([0.0; LANES]);
        for (beta, kernel) in rows {
            for (label, &beta) in beta.iter().enumerate().filter(|(_, beta)| **beta != 0.0) {
                let of_label = self.scores.iter_mut().skip(label).step_by(q);
                for (scores, kernel) in of_label.zip(kernel.chunks(LANES)) {
                    for (score, &k) in scores.iter_mut().zip(kernel) {
                        *score += beta * (k + 1.0);
                    }
                }
            }
        }
        let scores = self.scores.as_flattened().iter();
        self.largest = scores.fold(self.largest, |largest, s| largest.max(s.abs()));
        self.forget();
    }

    pub(super) fn multiply(&mut self, factor: f64) {
        for score in self.scores.as_flattened_mut() {
            *score *= factor;
        }
        self.largest *= factor;
        self.forget();
    }

    /// Makes the bounds so low that every instance is looked at.
    fn forget(&mut self) {
        let labels = self.labels;
        for i in (0..labels.instances()).filter(|&i| labels.has_pairs(i)) {
            for label in 0..labels.count() as u32 {
                let (row, lane) = self.place(i, label);
                self.noted[row][lane] = if self.relevant[row] & (1 << lane) != 0 {
                    0.0
                } else {
                    f64::NEG_INFINITY
                };
            }
            for &label in labels.unknown(i) {
                let (row, lane) = self.place(i, label);
                self.noted[row][lane] = f64::INFINITY;
            }
            let bounds = &mut self.bounds[i / LANES];
            (bounds.columns[i % LANES], bounds.rows[i % LANES]) = (f64::NEG_INFINITY, 0.0);
        }
    }

    /// The smallest gradient entry, and the first instance that has it; NaN where scores have overflowed.
    pub(super) fn smallest_entry(&mut self, support: &Support<'_>) -> (f64, usize) {
        search(self, support)
    }

    /// Whether an instance has pairs: the last lanes may be of no instance.
    fn has_pairs(&self, i: usize) -> bool {
        i < self.labels.instances() && self.labels.has_pairs(i)
    }

    /// Takes a block's bounds anew from the scores of all labels.
    #[inline(always)]
    fn sharpen(&mut self, block: usize) {
        let q = self.labels.count();
        let rows = block * q..(block + 1) * q;
        let known = self.noted[rows.clone()]
            .iter()
            .zip(&self.relevant[rows.clone()]);
        let mut bounds = Bounds::OF_NOTHING;
        for (scores, (noted, &relevant)) in self.scores[rows].iter().zip(known) {
            bounds.lower_to(scores, noted, relevant);
        }
        self.bounds[block] = bounds;
    }

    /// Looks at all pairs of an instance: its smallest gradient entry, which is its bound from then on.
    #[inline(always)]
    fn look(&mut self, i: usize, support: &Support<'_>) -> f64 {
        let (start, lane) = self.place(i, 0);
        let rows = start..start + self.labels.count();
        let relevant = self.labels.relevant(i);
        let [scores, minima] = &mut self.scratch;
        let of_labels = scores.as_flattened_mut();
        for (score, row) in of_labels.iter_mut().zip(&self.scores[rows.clone()]) {
            *score = row[lane];
        }
        let table = support.table(i);
        if table.is_empty() {
            let low = relevant
                .iter()
                .fold(f64::INFINITY, |low, &m| lower(of_labels[m as usize], low));
            minima.fill([f64::INFINITY; LANES]);
            let of_minima = minima.as_flattened_mut();
            for (minimum, relevant) in of_minima.iter_mut().zip(&self.relevant[rows.clone()]) {
                if relevant & (1 << lane) == 0 {
                    *minimum = low;
                }
            }
            for &label in self.labels.unknown(i) {
                of_minima[label as usize] = f64::INFINITY;
            }
        } else {
            let width = minima.len();
            for (at, minima) in minima.iter_mut().enumerate() {
                let mut lowest = [f64::INFINITY; LANES];
                for (&m, row) in relevant.iter().zip(table.chunks_exact(width)) {
                    let score = of_labels[m as usize];
                    lower_each(&mut lowest, &row[at].map(|own| score + own));
                }
                *minima = lowest;
            }
        }
        for (noted, &minimum) in self.noted[rows].iter_mut().zip(minima.as_flattened()) {
            noted[lane] = minimum;
        }
        for &m in relevant {
            self.noted[start + m as usize][lane] = of_labels[m as usize];
        }
        let mut lowest = [f64::INFINITY; LANES];
        for (minima, scores) in minima.iter().zip(&*scores) {
            lower_each(&mut lowest, &std::array::from_fn(|k| minima[k] - scores[k]));
        }
        let entry = lowest_lane(lowest);
        let bounds = &mut self.bounds[i / LANES];
        (bounds.columns[lane], bounds.rows[lane]) = (entry, 0.0);
        entry
    }
}

/// Adds `weight (k + 1)` to the scores of label `m` and subtracts it from those of `n`, and lowers the bounds.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512bw+avx512vl+avx2+fma",
    "x86_64+avx2+fma"
))]
fn follow(scores: &mut Scores<'_>, kernel: &[f64], m: usize, n: usize, weight: f64) {
    let q = scores.labels.count();
    let changes = scores.changes.as_flattened_mut();
    for (change, k) in changes.iter_mut().zip(kernel) {
        *change = weight * (k + 1.0);
    }
    let mut lowest = [-scores.largest; LANES];
    let blocks = scores
        .scores
        .chunks_exact_mut(q)
        .zip(scores.noted.chunks_exact(q))
        .zip(scores.relevant.chunks_exact(q))
        .zip(&mut scores.bounds);
    for ((((scores, noted), relevant), bounds), changes) in blocks.zip(&scores.changes) {
        let risen: Lanes = std::array::from_fn(|lane| scores[m][lane] + changes[lane]);
        let fallen: Lanes = std::array::from_fn(|lane| scores[n][lane] - changes[lane]);
        (scores[m], scores[n]) = (risen, fallen);
        bounds.lower_to(&risen, &noted[m], relevant[m]);
        bounds.lower_to(&fallen, &noted[n], relevant[n]);
        lower_each(&mut lowest, &risen.map(|score| -score.abs()));
        lower_each(&mut lowest, &fallen.map(|score| -score.abs()));
    }
    scores.largest = -lowest_lane(lowest);
}

/// The smallest gradient entry, and the first instance that has it; NaN where scores have overflowed.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512bw+avx512vl+avx2+fma",
    "x86_64+avx2+fma"
))]
fn search(scores: &mut Scores<'_>, support: &Support<'_>) -> (f64, usize) {
    let margin = ROUNDING * scores.largest;
    // The instance with the lowest bound is a good guess, which spares the others the closer look.
    let mut lowest = [f64::INFINITY; LANES];
    for bounds in &scores.bounds {
        lower_each(&mut lowest, &bounds.entries());
    }
    let lowest = lowest_lane(lowest);
    let mut found = 0;
    for (block, bounds) in scores.bounds.iter().enumerate() {
        let lanes = at_most(&bounds.entries(), lowest);
        if lanes != 0 {
            found = block * LANES + lanes.trailing_zeros() as usize;
            break;
        }
    }
    if !scores.has_pairs(found) {
        // No bound is below infinity, which the lanes without pairs hold.
        let first = (0..scores.labels.instances()).find(|&i| scores.has_pairs(i));
        return (f64::NAN, first.unwrap_or(0));
    }
    let mut best = scores.look(found, support);
    if !(best + margin).is_finite() {
        return (f64::NAN, found);
    }
    for block in 0..scores.bounds.len() {
        if at_most(&scores.bounds[block].entries(), best + margin) == 0 {
            continue;
        }
        // A bound may be low only because it never rises again.
        scores.sharpen(block);
        let mut lanes = at_most(&scores.bounds[block].entries(), best + margin);
        while lanes != 0 {
            let i = block * LANES + lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            if i == found {
                continue;
            }
            let entry = scores.look(i, support);
            if entry < best || (entry == best && i < found) {
                (best, found) = (entry, i);
            }
        }
    }
    (best, found)
}
