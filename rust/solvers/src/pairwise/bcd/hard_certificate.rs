//! Certificates of problems with thousands of labels.
//!
//! A label that is below every relevant one by more than the margin, and has no dual variable, adds nothing to any sum of a
//! certificate. So its score is computed, compared and discarded: a panel of consecutive labels at a time, whose weights
//! stay in the cache from one instance to the next. The few remaining labels of each instance are summed, and listed for the
//! passes that follow.

use super::certificate::Certificate;
use super::hardest::Hardest;
use super::shortlist::Shortlists;
use super::{Engine, Iterate, Step};
use crate::labels::Labels;
use crate::linalg::rows::Rows;
use crate::linalg::vector::{axpy, dot, size_of_terms};
use crate::pairwise::loss::Loss;
use crate::pairwise::scores::{Few, Scores};
use crate::parallel::threads::CHUNK;
use crate::report::Monitor;
use crate::tuning::Shortlisting;

/// The components of the scores.
struct Point<'a> {
    labels: &'a Labels,
    few: &'a dyn Few,
    factors: &'a [f64],
    bias: &'a [f64],
    tuning: &'a Shortlisting,
}

impl Point<'_> {
    /// Writes the scores of some labels of instance `i`.
    fn scores(&self, i: usize, labels: &[u32], out: &mut Vec<f64>) {
        out.resize(labels.len(), 0.0);
        self.few.scores(i, labels, out);
        self.add_bias(i, labels, out);
    }

    fn add_bias(&self, i: usize, labels: &[u32], out: &mut [f64]) {
        for (score, &l) in out.iter_mut().zip(labels) {
            *score += self.factors[i] * self.bias[l as usize];
        }
    }

    /// The hard labels of some consecutive instances; `None` if there are too many, or scores are NaN.
    fn hardest(&self, first: usize, count: usize) -> Option<Vec<Hardest>> {
        let q = self.labels.count();
        let mut scores = Vec::new();
        let start = |i: usize| {
            self.scores(i, self.labels.relevant(i), &mut scores);
            let numbers = scores.iter().all(|score| !score.is_nan());
            let most = self.tuning.longest(self.labels.pairs_of(i).top, q);
            numbers.then(|| Hardest::new(scores.iter().copied(), self.tuning.close, most, 0))
        };
        let mut hardest: Vec<Hardest> = (first..first + count).map(start).collect::<Option<_>>()?;
        for from in (0..q).step_by(self.tuning.panel) {
            let to = q.min(from + self.tuning.panel);
            let instances = &mut (first..first + count).filter(|&i| self.labels.has_pairs(i));
            let collect = &mut |i: usize, scores: &mut [f64]| {
                axpy(self.factors[i], &self.bias[from..to], scores);
                let hardest = &mut hardest[i - first];
                !hardest.may_be_among(scores)
                    || hardest.collect(self.labels, i, from as u32, scores)
            };
            if !self.few.scan(from..to, instances, collect) {
                return None;
            }
            // The groups do not depend on the number of threads.
            let mut groups = hardest.chunks(CHUNK);
            let short = |group: &[Hardest]| {
                let all: usize = group.iter().map(Hardest::count).sum();
                all <= self.tuning.room(group.len(), q)
            };
            if !groups.all(short) {
                return None;
            }
        }
        Some(hardest)
    }
}

impl<S: Scores + ?Sized, T: Step> Engine<'_, S, T> {
    /// The certificate and the shortlists from the hard labels; `None` if there are too many, or when interrupted.
    pub(super) fn certify_hard_labels(&mut self, monitor: &mut dyn Monitor) -> Option<Certificate> {
        let labels = self.iterate.labels();
        let (q, bias) = (labels.count(), self.iterate.bias());
        let (loss, tuning) = (self.chains[0].loss(), &self.settings.tuning.shortlists);
        let threads = self.iterate.threads().count();
        let mut held = labels.instances().div_ceil(threads).min(tuning.held);
        let rows = self.rows_between_questions();
        if let (Some(rows), Some(few)) = (rows, self.iterate.scores().few()) {
            held = held.min((rows / threads).max(few.rows_at_once()));
        }
        let held = held.next_multiple_of(CHUNK);
        let certify = |at: &Iterate<'_, S>, first: usize, gaps: &mut [f64]| {
            let point = Point {
                labels,
                few: at.scores().few()?,
                factors: at.factors(),
                bias: &bias,
                tuning,
            };
            let mut hardest = point.hardest(first, gaps.len())?;
            let (mut active, mut beta, mut scores) = (Vec::new(), Vec::new(), Vec::new());
            let (mut sums, mut lists) = (Vec::new(), Shortlists::default());
            for ((k, gap), hardest) in gaps.iter_mut().enumerate().zip(&mut hardest) {
                let i = first + k;
                if k % CHUNK == 0 {
                    sums.push(Certificate::default());
                }
                if !labels.has_pairs(i) {
                    lists.skip();
                    continue;
                }
                let term = at.dual_terms()[i];
                at.dual().nonzeros(i, q, &mut active, &mut beta);
                scores.resize(active.len(), 0.0);
                point.few.scores(i, &active, &mut scores);
                let quadratic = dot(&scores, &beta);
                let mut size = size_of_terms(&scores, &beta);
                point.add_bias(i, &active, &mut scores);
                let linear = dot(&scores, &beta);
                size += size_of_terms(&scores, &beta);
                point.scores(i, labels.relevant(i), &mut scores);
                scores.extend(hardest.trimmed().iter().map(|(_, score)| *score));
                let value = loss.value(&scores, labels.pairs_of(i));
                let phi = labels.weight(i) * value;
                *gap = phi - term + linear;
                let sums = sums.last_mut()?;
                sums.loss += phi;
                sums.dual_terms += term;
                sums.quadratic += quadratic;
                sums.gap += *gap;
                sums.rounding += size + phi + term.abs();
                lists.list(labels, i, &active, hardest);
            }
            Some((sums, lists))
        };
        let parts = self.iterate.certify_each(held, rows, certify, monitor)?;
        let (mut total, mut all) = (Certificate::default(), Shortlists::default());
        for part in parts {
            let (sums, lists) = part?;
            all.append(lists);
            sums.iter().for_each(|sums| total.add(sums));
        }
        self.shortlists = Some(all);
        Some(total.of(&self.iterate))
    }
}
