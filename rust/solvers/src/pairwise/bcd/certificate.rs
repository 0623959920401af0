//! The sums that certify an iterate, and each instance's term of the duality gap.

use super::iterate::Iterate;
use crate::linalg::rows::Rows;
use crate::memory;
use crate::pairwise::loss::Loss;
use crate::pairwise::scores::{self, Scores};
use crate::parallel::threads::CHUNK;
use crate::report::{Monitor, rounding_of};

/// Scores that a certificate holds at a time: small enough for the cache.
const CERTIFIED_SCORES: usize = 1 << 17;

/// The sums that make up the primal and the dual objective.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Certificate {
    /// `sum_i phi_i(s_i)`
    pub loss: f64,
    /// `sum_i D_i`, minus infinity while they are unknown.
    pub dual_terms: f64,
    /// `<B, K B>`, without any bias term.
    pub quadratic: f64,
    /// The sum of the instances' gap terms.
    pub gap: f64,
    /// A bound on the rounding error of these sums; for a part of the rows, the sum of the sizes of their terms.
    pub rounding: f64,
}

impl Certificate {
    /// Adds the sums of other instances.
    pub(super) fn add(&mut self, others: &Self) {
        self.loss += others.loss;
        self.dual_terms += others.dual_terms;
        self.quadratic += others.quadratic;
        self.gap += others.gap;
        self.rounding += others.rounding;
    }

    /// The certificate of all instances of an iterate, from its sums.
    pub(super) fn of<S: Scores + ?Sized>(mut self, iterate: &Iterate<'_, S>) -> Self {
        let labels = iterate.labels();
        let (n, q) = (labels.instances(), labels.count());
        self.rounding = rounding_of(self.rounding, q + CHUNK + n.div_ceil(CHUNK));
        if !iterate.is_known() {
            (self.dual_terms, self.gap) = (f64::NEG_INFINITY, f64::INFINITY);
        }
        self
    }
}

impl<S: Scores + ?Sized> Iterate<'_, S> {
    /// The certificate, from the scores of all labels; `None` when interrupted, see [`Self::certify_each`].
    pub fn certify(
        &mut self,
        loss: &impl Loss,
        rows: Option<usize>,
        monitor: &mut dyn Monitor,
    ) -> Option<Certificate> {
        let (labels, q, bias) = (self.labels(), self.labels().count(), self.bias());
        let certify = |at: &Self, mut first: usize, gaps: &mut [f64]| {
            let together = (CERTIFIED_SCORES / q.max(1)).clamp(1, gaps.len());
            let mut rows = memory::matrix(together, q);
            let (mut scratch, mut of_dual) = (Vec::new(), Vec::new());
            let mut gathered = vec![0.0; q];
            let mut part = Certificate::default();
            for gaps in gaps.chunks_mut(together) {
                let rows = &mut rows[..gaps.len() * q];
                let instances = scores::instances(first..first + gaps.len());
                at.scores().open(&instances, rows, &mut [], &mut scratch);
                let rows = gaps.iter_mut().zip(rows.chunks_exact_mut(q));
                for (i, (gap, row)) in (first..).zip(rows) {
                    if !labels.has_pairs(i) {
                        continue;
                    }
                    let (factor, term) = (at.factors()[i], at.dual_terms()[i]);
                    let (mut quadratic, mut linear, mut size) = (0.0, 0.0, 0.0);
                    let block = at.dual().row(i, q, &mut of_dual);
                    for ((score, beta), b) in row.iter_mut().zip(block).zip(&bias) {
                        quadratic += *score * beta;
                        let shift = factor * b;
                        size += (score.abs() + shift.abs()) * beta.abs();
                        *score += shift;
                        linear += *score * beta;
                    }
                    let known = labels.gather(i, row, &mut gathered);
                    let phi = labels.weight(i) * loss.value(known, labels.pairs_of(i));
                    *gap = phi - term + linear;
                    part.loss += phi;
                    part.dual_terms += term;
                    part.quadratic += quadratic;
                    part.gap += *gap;
                    part.rounding += size + phi + term.abs();
                }
                first += gaps.len();
            }
            part
        };
        let parts = self.certify_each(CHUNK, rows, certify, monitor)?;
        let mut total = Certificate::default();
        parts.iter().for_each(|part| total.add(part));
        Some(total.of(self))
    }
}
