//! Relevant, irrelevant and unknown labels of each instance.

use crate::error::{SolverError, refused};
use crate::linalg::features::Sparse;
use crate::linalg::vector::range;
use crate::memory;
use std::ops::Range;

/// Mark of an unknown label in an indicator matrix; 0 is irrelevant, anything else relevant.
pub const UNKNOWN: u8 = 2;

/// Marks that are checked together.
const RUN: usize = 64;

/// The pairs of one instance, whose labels come with the relevant ones first.
///
/// A relevant label `m` forms a pair with each of the `top` highest irrelevant labels, or with all if there are fewer; each
/// of these pairs has the weight `w_m`.
#[derive(Clone, Copy, Debug)]
pub struct Pairs<'a> {
    /// Number of relevant labels.
    pub relevant: usize,
    /// `w_m` of the relevant labels; empty where all are 1.
    pub weights: &'a [f64],
    /// Number of irrelevant labels with which each relevant one forms a pair, at most.
    pub top: usize,
}

impl Pairs<'static> {
    /// All pairs, each of weight 1.
    pub fn all(relevant: usize) -> Self {
        Self {
            relevant,
            weights: &[],
            top: usize::MAX,
        }
    }
}

impl Pairs<'_> {
    /// Whether these are all pairs of an instance with this many labels, each of weight 1.
    pub fn are_plain(&self, labels: usize) -> bool {
        self.weights.is_empty() && self.top >= labels - self.relevant
    }

    /// The weight `w_m` of the pairs of the `m`-th relevant label.
    pub fn weight(&self, m: usize) -> f64 {
        self.weights.get(m).copied().unwrap_or(1.0)
    }

    /// The smallest and the largest of these weights.
    pub fn range_of_weights(&self) -> (f64, f64) {
        if self.weights.is_empty() {
            (1.0, 1.0)
        } else {
            range(self.weights)
        }
    }

    /// Number of irrelevant labels with which each relevant one forms a pair.
    pub fn partners(&self, labels: usize) -> usize {
        self.top.min(labels - self.relevant)
    }
}

/// The label sets of `n` instances over `q` labels, and the weight of each instance's pairs.
///
/// Each label is relevant, irrelevant or unknown for an instance; unknown labels are in no pair. The pairs of an instance
/// are those of a relevant and an irrelevant label; or, with a zero label, which comes last, those of a relevant label and
/// the zero label and those of the zero label and an irrelevant one.
#[derive(Clone, Debug)]
pub struct Labels {
    count: usize,
    zero: bool,
    relevant: Sets,
    unknown: Sets,
    weights: Vec<f64>,
    /// `w_m` of the relevant labels, in their order; empty where all are 1.
    relevant_weights: Vec<f64>,
    top: usize,
}

/// Ascending labels of each instance, one instance after the other.
#[derive(Clone, Debug)]
struct Sets {
    starts: Vec<usize>,
    labels: Vec<u32>,
}

impl Sets {
    fn new() -> Self {
        Self {
            starts: vec![0],
            labels: Vec::new(),
        }
    }

    /// Appends the set of the next instance; returns its size.
    fn push(&mut self, labels: impl Iterator<Item = u32>) -> usize {
        memory::extend(&mut self.labels, labels);
        let start = self.starts[self.starts.len() - 1];
        self.starts.push(self.labels.len());
        let set = &mut self.labels[start..];
        set.sort_unstable();
        set.len()
    }

    fn of(&self, i: usize) -> &[u32] {
        &self.labels[self.starts[i]..self.starts[i + 1]]
    }
}

impl Labels {
    /// Reads an `n x q` row-major indicator matrix ([`UNKNOWN`] marks unknown labels), and gives every pair of instance
    /// `i` the weight `c_i = C / (p_i r_i)` (Xu 2013, eq. (19)); instances without pairs get weight 0.
    ///
    /// # Errors
    /// When the matrix is no multiple of `q`, or `C` is not a positive number.
    pub fn new(indicator: &[u8], q: usize, c: f64) -> Result<Self, SolverError> {
        if q == 0 || !indicator.len().is_multiple_of(q) {
            return Err(refused(
                "Y",
                format!("{} entries for {q} labels", indicator.len()),
                "a whole number of rows of at least one label",
            ));
        }
        // Most labels are irrelevant, in long runs.
        let some = |marks: &&[u8]| marks.iter().fold(0, |all, mark| all | mark) != 0;
        let rows = indicator.chunks_exact(q).map(|row| {
            let runs = row.chunks(RUN).zip((0..).step_by(RUN));
            let runs = runs.filter(move |(marks, _)| some(marks));
            runs.flat_map(|(marks, first)| (first..).zip(marks.iter().copied()))
        });
        Self::of_marks(rows, q, c)
    }

    /// Reads the marks of a CSR matrix, whose places ascend in each row.
    ///
    /// # Errors
    /// When they do not, there are no labels, or `C` is not a positive number.
    pub fn sparse(marks: Sparse<'_, u8>, c: f64) -> Result<Self, SolverError> {
        let ascend = (0..marks.rows()).all(|i| marks.row(i).0.is_sorted_by(|j, k| j < k));
        if !ascend || marks.columns() == 0 {
            return Err(refused(
                "Y",
                format!("places out of order, of {} labels", marks.columns()),
                "at least one label, and places that ascend in each row",
            ));
        }
        let rows = (0..marks.rows()).map(|i| {
            let (labels, marks) = marks.row(i);
            labels.iter().map(|&k| k as u32).zip(marks.iter().copied())
        });
        Self::of_marks(rows, marks.columns(), c)
    }

    /// From the marks of each instance, in ascending order of labels; irrelevant labels may be left out.
    fn of_marks<R: Iterator<Item = (u32, u8)> + Clone>(
        rows: impl Iterator<Item = R>,
        q: usize,
        c: f64,
    ) -> Result<Self, SolverError> {
        if !(c > 0.0 && c.is_finite()) {
            return Err(refused("C", c, "a positive number"));
        }
        let mut labels = Self {
            count: q,
            zero: false,
            relevant: Sets::new(),
            unknown: Sets::new(),
            weights: Vec::new(),
            relevant_weights: Vec::new(),
            top: usize::MAX,
        };
        for row in rows {
            let of = |marked: fn(u8) -> bool| {
                let row = row.clone();
                row.filter_map(move |(label, mark)| marked(mark).then_some(label))
            };
            let p = labels
                .relevant
                .push(of(|mark| mark != 0 && mark != UNKNOWN));
            let unknown = labels.unknown.push(of(|mark| mark == UNKNOWN));
            let pairs = p * (q - unknown - p);
            labels
                .weights
                .push(if pairs == 0 { 0.0 } else { c / pairs as f64 });
        }
        Ok(labels)
    }

    /// The same label sets with the given weight `c_i` for the pairs of each instance.
    ///
    /// # Errors
    /// When the weights are not one for each instance, or one is negative or not finite.
    pub fn with_weights(mut self, weights: &[f64]) -> Result<Self, SolverError> {
        check_weights(weights, self.instances())?;
        for (own, &weight) in self.weights.iter_mut().zip(weights) {
            *own = if *own > 0.0 { weight } else { 0.0 };
        }
        Ok(self)
    }

    /// The same label sets with a zero label as label `q` (Xu 2012). Every instance then has one pair for each known label;
    /// their weight is that of `weights`, or `C` divided by their number. Instances without pairs get weight 0.
    ///
    /// # Errors
    /// When the weights are not one for each instance, or one is negative or not finite.
    pub fn with_zero_label(mut self, c: f64, weights: Option<&[f64]>) -> Result<Self, SolverError> {
        if let Some(weights) = weights {
            check_weights(weights, self.instances())?;
        }
        for i in 0..self.instances() {
            let pairs = self.known(i);
            self.weights[i] = match weights {
                _ if pairs == 0 => 0.0,
                Some(weights) => weights[i],
                None => c / pairs as f64,
            };
        }
        self.count += 1;
        self.zero = true;
        Ok(self)
    }

    /// The same label sets; the pairs of a relevant label `m` now have `w_m` times the weight of their instance.
    ///
    /// # Errors
    /// When the weights are not one for each label, or one is not a positive number.
    pub fn with_label_weights(mut self, weights: &[f64]) -> Result<Self, SolverError> {
        let count = self.count - usize::from(self.zero);
        if weights.len() != count {
            return Err(refused(
                "label weights",
                format!("{} numbers", weights.len()),
                "one for each label",
            ));
        }
        if let Some(weight) = weights.iter().find(|w| !(**w > 0.0 && w.is_finite())) {
            return Err(refused("label weights", weight, "positive numbers"));
        }
        if weights.iter().all(|&weight| weight == 1.0) {
            self.relevant_weights.clear();
            return Ok(self);
        }
        let labels = self.relevant.labels.iter();
        self.relevant_weights = memory::collected(labels.map(|&label| weights[label as usize]));
        Ok(self)
    }

    /// The same label sets; a relevant label now forms pairs with the `top` highest irrelevant labels only.
    ///
    /// # Errors
    /// When `top` is 0, or there is a zero label.
    pub fn with_top(self, top: usize) -> Result<Self, SolverError> {
        if top == 0 {
            return Err(refused("top", 0, "at least 1"));
        }
        if self.zero {
            return Err(SolverError::Unsupported(
                "labels with a zero label have no top of the ranking",
            ));
        }
        let all = (0..self.instances()).all(|i| self.known(i) - self.relevant(i).len() <= top);
        let top = if all { usize::MAX } else { top };
        Ok(Self { top, ..self })
    }

    /// Whether the relevant labels have weights.
    pub fn are_weighted(&self) -> bool {
        !self.relevant_weights.is_empty()
    }

    /// Whether all pairs of an instance count, with equal weights.
    pub fn are_plain(&self) -> bool {
        !self.are_weighted() && !self.have_top()
    }

    /// Whether only the pairs with the highest irrelevant labels count.
    pub fn have_top(&self) -> bool {
        self.top < self.count
    }

    /// Number of the highest irrelevant labels that are in pairs.
    pub(crate) fn top(&self) -> usize {
        self.top
    }

    /// The pairs of instance `i`.
    pub fn pairs_of(&self, i: usize) -> Pairs<'_> {
        let range = self.relevant.starts[i]..self.relevant.starts[i + 1];
        Pairs {
            relevant: range.len(),
            weights: self.relevant_weights.get(range).unwrap_or(&[]),
            top: self.top,
        }
    }

    /// Whether the last label is a zero label.
    pub fn has_zero_label(&self) -> bool {
        self.zero
    }

    /// The same instances with only the pairs inside the parts of a partition of the labels, which keep their weights. An
    /// instance has pairs inside at most one part: the labels outside of it become unknown.
    pub(crate) fn within(&self, part_of: &[usize]) -> Self {
        let mut within = Self {
            relevant: Sets::new(),
            unknown: Sets::new(),
            weights: self.weights.clone(),
            relevant_weights: Vec::new(),
            ..*self
        };
        let mut seen = vec![usize::MAX; self.count];
        for i in 0..self.instances() {
            self.irrelevant(i).for_each(|n| seen[part_of[n]] = i);
            let parts = self.relevant(i).iter().map(|&m| part_of[m as usize]);
            let own = if self.zero {
                part_of.last().copied()
            } else {
                parts.clone().find(|&part| seen[part] == i)
            };
            if self.are_weighted() {
                let weights = (0..).map(|m| self.pairs_of(i).weight(m));
                let inside = parts.zip(weights).filter(|&(part, _)| own == Some(part));
                memory::extend(&mut within.relevant_weights, inside.map(|(_, w)| w));
            }
            let inside = |label: &u32| own == Some(part_of[*label as usize]);
            let relevant = self.relevant(i).iter().copied();
            within.relevant.push(relevant.filter(inside));
            let unknown = self.unknown(i);
            let outside =
                (0..self.count as u32).filter(|k| !inside(k) || unknown.binary_search(k).is_ok());
            within.unknown.push(outside);
            if own.is_none() || within.pairs(i) == 0 {
                within.weights[i] = 0.0;
            }
        }
        within
    }

    /// Number of labels `q`.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Number of instances `n`.
    pub fn instances(&self) -> usize {
        self.weights.len()
    }

    /// The relevant labels `P_i`, ascending.
    pub fn relevant(&self, i: usize) -> &[u32] {
        self.relevant.of(i)
    }

    /// The labels that are unknown for instance `i`, ascending.
    pub fn unknown(&self, i: usize) -> &[u32] {
        self.unknown.of(i)
    }

    /// Number of labels that are relevant or irrelevant to instance `i`, with the zero label.
    pub fn known(&self, i: usize) -> usize {
        self.count - self.unknown(i).len()
    }

    /// The weight `c_i` of each pair of instance `i`, without that of its relevant label; 0 if it has no pairs.
    pub fn weight(&self, i: usize) -> f64 {
        self.weights[i]
    }

    /// The weight `c_i w_m` of each pair of instance `i` with its relevant label `m`.
    pub fn pair_weight(&self, i: usize, m: u32) -> f64 {
        let weight = self.weights[i];
        if self.relevant_weights.is_empty() {
            return weight;
        }
        let position = self.relevant(i).binary_search(&m);
        position.map_or(weight, |position| {
            weight * self.pairs_of(i).weight(position)
        })
    }

    /// The share of its weight that every pair of an instance can have at the same time: 1, unless only pairs with the
    /// highest irrelevant labels count.
    pub(crate) fn share_of_pairs(&self, i: usize) -> f64 {
        let (p, known) = (self.relevant(i).len(), self.known(i));
        if self.zero || self.top >= known - p {
            1.0
        } else {
            self.top as f64 / (known - p) as f64
        }
    }

    /// Whether instance `i` has a pair.
    pub fn has_pairs(&self, i: usize) -> bool {
        self.weights[i] > 0.0
    }

    /// Number of pairs of instance `i`: `p_i r_i`, or, with a zero label, the number of known labels.
    pub fn pairs(&self, i: usize) -> usize {
        let (p, known) = (self.relevant(i).len(), self.known(i));
        if self.zero {
            known - 1
        } else {
            p * (known - p)
        }
    }

    /// The total weight of the pairs of instance `i`: `c_i p_i r_i` if all count the same.
    pub fn weight_of_pairs_of(&self, i: usize) -> f64 {
        let pairs = self.pairs_of(i);
        if pairs.are_plain(self.known(i)) {
            return self.weight(i) * self.pairs(i) as f64;
        }
        let relevant: f64 = (0..pairs.relevant).map(|m| pairs.weight(m)).sum();
        if self.zero {
            self.weight(i) * (relevant + (self.pairs(i) - pairs.relevant) as f64)
        } else {
            self.weight(i) * relevant * pairs.partners(self.known(i)) as f64
        }
    }

    /// The total weight of all pairs.
    pub fn weight_of_pairs(&self) -> f64 {
        (0..self.instances())
            .map(|i| self.weight_of_pairs_of(i))
            .sum()
    }

    /// Whether a block of instance `i` is zero at all unknown labels.
    pub(crate) fn known_only(&self, i: usize, row: &[f64]) -> bool {
        self.unknown(i).iter().all(|&k| row[k as usize] == 0.0)
    }

    /// The sum of the dual variables of all pairs of instance `i`, whose block `beta_i` is `row`.
    pub(crate) fn sum_of_pairs(&self, i: usize, row: &[f64]) -> f64 {
        let preferred: f64 = self.relevant(i).iter().map(|&m| row[m as usize]).sum();
        if self.zero {
            // The pairs of relevant labels with the zero label, and those of the zero label with irrelevant ones.
            2.0 * preferred + row[self.count - 1]
        } else {
            preferred
        }
    }

    /// Calls `visit(m, l, weight)` with every pair of instance `i`: `m` is preferred to `l`.
    #[inline]
    pub(crate) fn each_pair(&self, i: usize, mut visit: impl FnMut(usize, usize, f64)) {
        if !self.has_pairs(i) {
            return;
        }
        let zero = self.zero.then(|| self.count - 1);
        for &m in self.relevant(i) {
            let weight = self.pair_weight(i, m);
            match zero {
                Some(zero) => visit(m as usize, zero, weight),
                None => (self.irrelevant(i)).for_each(|l| visit(m as usize, l, weight)),
            }
        }
        if let Some(zero) = zero {
            let others = self.irrelevant(i).filter(|&l| l != zero);
            others.for_each(|l| visit(zero, l, self.weight(i)));
        }
    }

    /// The first relevant and the first irrelevant label of instance `i`; label 0 stands for a missing one.
    pub(crate) fn first_pair(&self, i: usize) -> (u32, u32) {
        let relevant = self.relevant(i).first().copied().unwrap_or(0);
        (relevant, self.irrelevant(i).next().unwrap_or(0) as u32)
    }

    /// The runs of consecutive labels that are irrelevant for instance `i`, ascending; some may be empty.
    fn irrelevant_runs(&self, i: usize) -> impl Iterator<Item = Range<usize>> + '_ {
        let (mut relevant, mut unknown) = (self.relevant(i), self.unknown(i));
        let mut from = 0;
        std::iter::from_fn(move || {
            if from > self.count {
                return None;
            }
            let others = relevant.first().into_iter().chain(unknown.first());
            let other = others.min().map_or(self.count, |&label| label as usize);
            for set in [&mut relevant, &mut unknown] {
                *set = set.strip_prefix(&[other as u32]).unwrap_or(set);
            }
            let run = from..other;
            from = other + 1;
            Some(run)
        })
    }

    /// The known labels, the relevant ones first.
    pub fn known_labels(&self, i: usize) -> impl Iterator<Item = usize> + '_ {
        let relevant = self.relevant(i).iter().map(|&label| label as usize);
        relevant.chain(self.irrelevant(i))
    }

    /// Copies the known labels of a row in label order, the relevant ones first; returns the part of `gathered` that
    /// holds them.
    pub fn gather<'a>(&self, i: usize, row: &[f64], gathered: &'a mut [f64]) -> &'a mut [f64] {
        let relevant = self.relevant(i);
        for (target, &m) in gathered.iter_mut().zip(relevant) {
            *target = row[m as usize];
        }
        let mut position = relevant.len();
        for run in self.irrelevant_runs(i) {
            gathered[position..position + run.len()].copy_from_slice(&row[run.clone()]);
            position += run.len();
        }
        &mut gathered[..position]
    }

    /// Copies a row of the known labels, the relevant ones first, into one in label order, with 0 at unknown labels.
    pub fn scatter(&self, i: usize, gathered: &[f64], row: &mut [f64]) {
        let relevant = self.relevant(i);
        for (&source, &m) in gathered.iter().zip(relevant) {
            row[m as usize] = source;
        }
        let mut position = relevant.len();
        for run in self.irrelevant_runs(i) {
            row[run.clone()].copy_from_slice(&gathered[position..position + run.len()]);
            position += run.len();
        }
        for &u in self.unknown(i) {
            row[u as usize] = 0.0;
        }
    }

    /// The irrelevant labels `N_i`, ascending.
    pub fn irrelevant(&self, i: usize) -> impl Iterator<Item = usize> + '_ {
        self.irrelevant_runs(i).flatten()
    }
}

fn check_weights(weights: &[f64], instances: usize) -> Result<(), SolverError> {
    if weights.len() != instances {
        return Err(refused(
            "pair weights",
            format!("{} numbers", weights.len()),
            "one for each row of Y",
        ));
    }
    if let Some(weight) = weights.iter().find(|w| !(**w >= 0.0 && w.is_finite())) {
        return Err(refused(
            "pair weights",
            weight,
            "finite numbers that are not negative",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_and_the_top_are_those_of_the_rows() {
        let marks = [1, 0, 0, 1, 0, 1, 2, 0];
        let labels = |top| {
            let labels = Labels::new(&marks, 4, 4.0).unwrap();
            let labels = labels.with_label_weights(&[2.0, 3.0, 5.0, 0.5]);
            labels.and_then(|labels| labels.with_top(top)).unwrap()
        };
        let top = labels(1);
        assert_eq!(top.pairs_of(0).weights, &[2.0, 0.5]);
        assert_eq!(top.pairs_of(1).weights, &[3.0]);
        assert_eq!(
            (top.pairs_of(0).partners(4), top.share_of_pairs(0)),
            (1, 0.5)
        );
        assert_eq!(top.pair_weight(1, 1), 6.0);
        assert_eq!(top.weight_of_pairs(), 2.5 + 6.0);
        let within = top.within(&[0, 0, 1, 0]);
        assert_eq!(within.pairs_of(0).weights, &[2.0, 0.5]);
        assert_eq!((within.unknown(0), within.weight(0)), (&[2][..], 1.0));
        assert_eq!((within.relevant(1), within.weight(1)), (&[1][..], 2.0));
        assert!(top.have_top() && top.are_weighted() && !top.are_plain());
        assert!(!labels(2).have_top());
        let ones =
            Labels::new(&marks, 4, 4.0).and_then(|labels| labels.with_label_weights(&[1.0; 4]));
        assert!(ones.unwrap().are_plain());
        for wrong in [
            &[1.0; 3][..],
            &[1.0, 0.0, 1.0, 1.0],
            &[1.0, f64::NAN, 1.0, 1.0],
        ] {
            let labels = Labels::new(&marks, 4, 4.0).unwrap();
            let error = labels.with_label_weights(wrong).unwrap_err().to_string();
            assert!(error.starts_with("label weights"), "{error}");
        }
        assert!(Labels::new(&marks, 4, 4.0).unwrap().with_top(0).is_err());
    }

    #[test]
    fn unknown_labels_are_in_no_pair() {
        let marks = [2, 1, 0, 2, 1, 0, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 0, 0, 2, 0];
        let labels = Labels::new(&marks, 5, 6.0).unwrap();
        assert_eq!(
            (labels.relevant(0), labels.unknown(0)),
            (&[1, 4][..], &[0, 3][..])
        );
        assert_eq!(labels.irrelevant(0).collect::<Vec<_>>(), vec![2]);
        assert_eq!(labels.first_pair(0), (1, 2));
        let of = |labels: &Labels, i| (labels.known(i), labels.pairs(i), labels.weight(i));
        assert_eq!(of(&labels, 0), (3, 2, 3.0));
        assert_eq!(of(&labels, 1), (2, 1, 6.0));
        assert_eq!(of(&labels, 2), (0, 0, 0.0));
        assert_eq!(of(&labels, 3), (3, 0, 0.0));
        let (mut gathered, mut back) = ([9.0; 5], [9.0; 5]);
        let known = labels.gather(0, &[10.0, 11.0, 12.0, 13.0, 14.0], &mut gathered);
        assert_eq!(known, [11.0, 14.0, 12.0]);
        labels.scatter(0, known, &mut back);
        assert_eq!(back, [0.0, 11.0, 12.0, 0.0, 14.0]);
        assert!(labels.known_only(0, &back) && !labels.known_only(1, &back));

        let zero = labels.with_zero_label(6.0, None).unwrap();
        assert_eq!(of(&zero, 0), (4, 3, 2.0));
        assert_eq!(of(&zero, 2), (1, 0, 0.0));
        assert_eq!(of(&zero, 3), (4, 3, 2.0));
        assert!(!zero.has_pairs(2));
    }
}
