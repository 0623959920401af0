//! The iterate: a dual matrix and everything derived from it.

use crate::labels::Labels;
use crate::linalg::rows::{Rows, weighted_sum};
use crate::linalg::vector::axpy;
use crate::memory;
use crate::pairwise::scores::{self, Deflation, Moved, Scores};
use crate::parallel::threads::Threads;
use crate::report::Monitor;

/// A dual matrix `B`, its scores `F + v (b + sigma g)`, `g = sum_i v_i beta_i`, and the terms of the instances, which all
/// change together.
pub(crate) struct Iterate<'a, S: Scores + ?Sized> {
    labels: &'a Labels,
    threads: &'a Threads,
    scores: &'a mut S,
    deflation: Option<&'a Deflation>,
    dual: S::Dual,
    sum: Vec<f64>,
    offset: Vec<f64>,
    sigma: f64,
    /// `v`: 1, unless a direction that was taken from the kernel has a multiplier.
    factors: Vec<f64>,
    dual_terms: Vec<f64>,
    known: bool,
    gaps: Vec<f64>,
}

/// The state needed to return to a point.
pub(crate) struct Checkpoint<S: Scores + ?Sized> {
    dual: S::Dual,
    dual_terms: Vec<f64>,
    gaps: Vec<f64>,
    sum: Vec<f64>,
    offset: Vec<f64>,
    state: Vec<S::Number>,
}

/// New rows of `B`.
#[derive(Debug, Default)]
pub(super) struct Moves {
    /// The instances.
    pub instances: Vec<u32>,
    /// Their new rows, of `q` numbers each.
    pub rows: Vec<f64>,
    /// The changes of these rows.
    pub changes: Vec<f64>,
}

impl Moves {
    pub fn clear(&mut self) {
        self.instances.clear();
        self.rows.clear();
        self.changes.clear();
    }

    fn moved(&self) -> Moved<'_> {
        Moved {
            instances: &self.instances,
            changes: &self.changes,
            nonzeros: None,
        }
    }

    /// Adds the moves of other instances.
    pub fn append(&mut self, others: &Self) {
        memory::append(&mut self.instances, &others.instances);
        memory::append(&mut self.rows, &others.rows);
        memory::append(&mut self.changes, &others.changes);
    }
}

/// The sums of the dual variables of each instance, which are the hinge's dual terms.
pub(crate) fn hinge_dual_terms(labels: &Labels, dual: &[f64]) -> Vec<f64> {
    let terms = dual
        .chunks_exact(labels.count())
        .enumerate()
        .map(|(i, row)| labels.sum_of_pairs(i, row));
    terms.collect()
}

impl<'a, S: Scores + ?Sized> Iterate<'a, S> {
    /// At a dual matrix whose scores are already in `scores`, with `b = 0`.
    pub fn new(
        labels: &'a Labels,
        scores: &'a mut S,
        deflation: Option<&'a Deflation>,
        dual: S::Dual,
        sigma: f64,
        threads: &'a Threads,
    ) -> Self {
        let (n, q) = (labels.instances(), labels.count());
        let direction = deflation.and_then(|deflation| deflation.direction.as_ref());
        let factors = direction.map_or_else(|| vec![1.0; n], |direction| direction.factors.clone());
        let (sum, at_zero) = weighted_sum(&dual, &factors, q);
        Self {
            labels,
            threads,
            scores,
            deflation,
            dual,
            sum,
            offset: vec![0.0; q],
            sigma,
            factors,
            dual_terms: vec![0.0; n],
            known: at_zero,
            gaps: vec![0.0; n],
        }
    }

    /// For a part of the rows, whose scores are those of the common model: `b` contains the contributions of the other
    /// parts, and of these rows at the start, to the bias, so that `g` is their change only. The dual terms may be unknown.
    pub fn of_part(mut self, offset: &[f64], dual_terms: Option<Vec<f64>>) -> Self {
        self.offset.copy_from_slice(offset);
        self.sum.fill(0.0);
        self.known = dual_terms.is_some();
        self.dual_terms = dual_terms.unwrap_or(self.dual_terms);
        self
    }

    /// The labels.
    pub fn labels(&self) -> &'a Labels {
        self.labels
    }

    /// The threads.
    pub fn threads(&self) -> &'a Threads {
        self.threads
    }

    /// The kernel, and `F`.
    pub fn scores(&self) -> &S {
        self.scores
    }

    /// `B`
    pub fn dual(&self) -> &S::Dual {
        &self.dual
    }

    /// `g`
    pub fn sum(&self) -> &[f64] {
        &self.sum
    }

    /// `b`
    pub fn offset(&self) -> &[f64] {
        &self.offset
    }

    /// `sigma`
    pub fn sigma(&self) -> f64 {
        self.sigma
    }

    /// `v`
    pub fn factors(&self) -> &[f64] {
        &self.factors
    }

    /// `D_i` of every instance, if they are known.
    pub fn dual_terms(&self) -> &[f64] {
        &self.dual_terms
    }

    /// Whether the dual terms are known: after a given start they are not, until each block has been visited.
    pub fn is_known(&self) -> bool {
        self.known
    }

    /// Gap term of every instance in the last certificate.
    pub fn gaps(&self) -> &[f64] {
        &self.gaps
    }

    /// The sum of the gap terms.
    pub fn gap(&self) -> f64 {
        self.gaps.iter().sum()
    }

    /// Curvature of the block of instance `i`.
    pub fn curvature(&self, i: usize) -> f64 {
        self.scores.diagonal()[i] + self.sigma * self.factors[i] * self.factors[i]
    }

    /// `b + sigma g`, the bias that the current scores contain.
    pub fn bias(&self) -> Vec<f64> {
        let terms = self.offset.iter().zip(&self.sum);
        terms.map(|(b, g)| b + self.sigma * g).collect()
    }

    /// The bias in the scores of label `l`.
    pub fn bias_of(&self, l: usize) -> f64 {
        self.offset[l] + self.sigma * self.sum[l]
    }

    /// `sum_i ||beta_i|| sqrt(K_ii)`, for the original kernel.
    pub fn size(&self) -> f64 {
        scores::size(self.scores, self.deflation, &self.dual)
    }

    /// A bound on the rounding of `<B, K B>`.
    pub fn rounding(&self) -> f64 {
        scores::rounding(self.scores, self.deflation, &self.dual)
    }

    /// `sum_i beta_i`
    pub fn sum_of_rows(&self) -> Vec<f64> {
        let ones = vec![1.0; self.factors.len()];
        weighted_sum(&self.dual, &ones, self.labels.count()).0
    }

    /// `B` alone.
    pub fn into_dual(self) -> S::Dual {
        self.dual
    }

    /// `B`, its dual terms if known, and `g`.
    pub fn into_parts(self) -> (S::Dual, Option<Vec<f64>>, Vec<f64>) {
        (self.dual, self.known.then_some(self.dual_terms), self.sum)
    }

    /// Moves rows of `B` jointly, with the step length that `how_far` chooses given the scores after the full step.
    pub(super) fn move_rows(
        &mut self,
        moves: &mut Moves,
        how_far: impl FnOnce(&Self, &Moves) -> f64,
    ) -> f64 {
        if moves.instances.is_empty() {
            return 1.0;
        }
        self.scores.close(moves.moved(), self.threads);
        let length = how_far(self, moves);
        let (q, mut buffer) = (self.labels.count(), Vec::new());
        let rows = moves
            .rows
            .chunks_exact(q)
            .zip(moves.changes.chunks_exact(q));
        for (&i, (new, change)) in moves.instances.iter().zip(rows) {
            self.dual.change(i as usize, q, &mut buffer, |row| {
                if length < 1.0 {
                    axpy(length, change, row);
                } else {
                    row.copy_from_slice(new);
                }
            });
            axpy(length * self.factors[i as usize], change, &mut self.sum);
        }
        if length < 1.0 {
            let back = length - 1.0;
            moves.changes.iter_mut().for_each(|change| *change *= back);
            self.scores.close(moves.moved(), self.threads);
        }
        length
    }

    /// Stores dual terms for blocks that have moved by this step length.
    pub(super) fn move_terms(&mut self, instances: &[u32], terms: &[f64], length: f64) {
        for (&i, &term) in instances.iter().zip(terms) {
            let old = &mut self.dual_terms[i as usize];
            *old = if length < 1.0 {
                *old + length * (term - *old)
            } else {
                term
            };
        }
    }

    /// Notes that each block has been visited, and has its dual term.
    pub(super) fn all_visited(&mut self) {
        self.known = true;
    }

    /// Moves the row of instance `i` by a change, which is reset to 0 afterwards. Its new nonzeros are `values` at `places`.
    pub(super) fn move_row(
        &mut self,
        i: usize,
        places: &[u32],
        values: &[f64],
        change: &mut [f64],
        nonzeros: &[u32],
    ) {
        let moved = Moved {
            instances: &[i as u32],
            changes: change,
            nonzeros: Some(nonzeros),
        };
        self.scores.close(moved, self.threads);
        for &l in nonzeros {
            self.sum[l as usize] += self.factors[i] * std::mem::take(&mut change[l as usize]);
        }
        let q = self.labels.count();
        self.dual.replace(i, q, places, values);
    }

    /// Writes the gap terms of all instances, `together` at a time, and collects the results of `certify`. The monitor is
    /// polled after every `rows` rows, if given; `None` when interrupted.
    pub(super) fn certify_each<R: Send>(
        &mut self,
        together: usize,
        rows: Option<usize>,
        certify: impl Fn(&Self, usize, &mut [f64]) -> R + Sync,
        monitor: &mut dyn Monitor,
    ) -> Option<Vec<R>> {
        let mut gaps = std::mem::take(&mut self.gaps);
        let (at, mut found) = (&*self, Vec::new());
        let group = rows.unwrap_or(gaps.len()).max(1).next_multiple_of(together);
        let mut complete = true;
        for (first, gaps) in (0..).step_by(group).zip(gaps.chunks_mut(group)) {
            if rows.is_some() && monitor.poll().is_interrupted() {
                complete = false;
                break;
            }
            found.append(&mut at.threads.map_chunks(gaps, together, |chunk, gaps| {
                certify(at, first + chunk * together, gaps)
            }));
        }
        self.gaps = gaps;
        complete.then_some(found)
    }

    /// Gives the scores the constant `b` and the curvature `sigma`.
    pub fn set_bias(&mut self, offset: Vec<f64>, sigma: f64) {
        (self.offset, self.sigma) = (offset, sigma);
    }

    /// Gives the scores the bias `b + sigma g`.
    fn place(&mut self, bias: Vec<f64>) {
        self.offset = bias;
        axpy(-self.sigma, &self.sum, &mut self.offset);
    }

    /// Recomputes the scores from the dual matrix; `false` (and no change beyond rounding) when interrupted.
    pub fn recompute(&mut self, monitor: &mut dyn Monitor) -> bool {
        let done = self.scores.recompute(&self.dual, self.threads, monitor);
        if done {
            self.sum = weighted_sum(&self.dual, &self.factors, self.labels.count()).0;
        }
        done
    }

    /// Moves to a dual matrix with its dual terms, and the bias that `bias` computes from its scores and `g`. `false` when
    /// interrupted: the caller must then roll back.
    pub fn replace(
        &mut self,
        dual: S::Dual,
        dual_terms: Vec<f64>,
        bias: impl FnOnce(&S, &[f64]) -> Vec<f64>,
        monitor: &mut dyn Monitor,
    ) -> bool {
        if !self.scores.recompute(&dual, self.threads, monitor) {
            return false;
        }
        (self.sum, _) = weighted_sum(&dual, &self.factors, self.labels.count());
        let bias = bias(self.scores, &self.sum);
        (self.dual, self.dual_terms) = (dual, dual_terms);
        self.place(bias);
        true
    }

    /// Moves to a dual matrix of the hinge whose rows sum to 0 up to rounding, with this bias. `false` when interrupted: the
    /// caller must then roll back.
    pub fn replace_even(
        &mut self,
        dual: S::Dual,
        dual_terms: Vec<f64>,
        bias: Vec<f64>,
        monitor: &mut dyn Monitor,
    ) -> bool {
        (self.dual, self.dual_terms, self.offset) = (dual, dual_terms, bias);
        self.sum.fill(0.0);
        self.scores.recompute(&self.dual, self.threads, monitor)
    }

    /// Moves to `B = 0`, without a bias. Its scores are recomputed unless interrupted.
    pub fn move_to_zero(&mut self, monitor: &mut dyn Monitor) {
        let (n, q) = (self.labels.instances(), self.labels.count());
        self.dual = S::Dual::zeros(n, q);
        self.sum.fill(0.0);
        self.offset.fill(0.0);
        self.scores.recompute(&self.dual, self.threads, monitor);
    }

    /// A checkpoint of the current point.
    pub fn checkpoint(&mut self) -> Checkpoint<S> {
        Checkpoint {
            dual: self.dual.copied(),
            dual_terms: self.dual_terms.to_vec(),
            gaps: self.gaps.to_vec(),
            sum: self.sum.clone(),
            offset: self.offset.clone(),
            state: memory::copied(self.scores.state()),
        }
    }

    /// Returns to a checkpoint.
    pub fn roll_back(&mut self, point: &Checkpoint<S>) {
        self.dual = point.dual.copied();
        self.dual_terms.copy_from_slice(&point.dual_terms);
        self.gaps.copy_from_slice(&point.gaps);
        self.sum.copy_from_slice(&point.sum);
        self.offset.copy_from_slice(&point.offset);
        self.scores.state().copy_from_slice(&point.state);
    }

    /// Gives linear scores the weights of another matrix, and the bias that `bias` computes from its scores: a model that
    /// `B` bounds. The caller must then roll back or end the loop. `None` when interrupted.
    pub fn lend_scores<R>(
        &mut self,
        rows: &S::Dual,
        bias: impl FnOnce(&S) -> (Vec<f64>, R),
        monitor: &mut dyn Monitor,
    ) -> Option<R> {
        if !self.scores.recompute(rows, self.threads, monitor) {
            return None;
        }
        let (bias, result) = bias(self.scores);
        self.place(bias);
        Some(result)
    }

    /// The result of `work` on the scores, `B` and `v`; the scores are restored afterwards.
    pub fn borrow_scores<R>(&mut self, work: impl FnOnce(&mut S, &S::Dual, &[f64]) -> R) -> R {
        let kept = memory::copied(self.scores.state());
        let result = work(self.scores, &self.dual, &self.factors);
        *self.scores.state() = kept;
        result
    }
}
