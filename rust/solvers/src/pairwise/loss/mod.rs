//! Pairwise losses of one instance.
//!
//! Instance `i` with relevant labels `P` and irrelevant labels `N` has the loss
//!
//! ```text
//! phi_i(s) = c_i * sum over m in P, n in N of loss(s_m - s_n)
//! ```
//!
//! or, if [`Pairs`] says so, with a weight `w_m` for each relevant label, and with the sum over the highest labels of `N`
//! only. The engine ([`crate::pairwise::bcd`]) needs three things of a loss: its value and its slope at one margin, and the
//! proximal map of that sum. Scores of one instance are always passed as one slice with the relevant labels first:
//! `scores[..relevant]` are the `s_m`, `scores[relevant..]` the `s_n`. Neither side is sorted. A loss with a zero label
//! ([`Loss::ZERO_LABEL`]) has different pairs; the zero label's score is the last one.

mod candidates;
mod hinge;
mod newton;
mod optimal_margin;
mod squared_hinge;
#[cfg(test)]
mod tests;
mod zero_label;

pub use hinge::{Hinge, HingeWorkspace};
pub use newton::NewtonWorkspace;
pub use optimal_margin::OptimalMargin;
pub use squared_hinge::SquaredHinge;
pub use zero_label::ZeroLabelHinge;

use crate::error::{SolverError, refused};
use crate::labels::Labels;
pub use crate::labels::Pairs;
use crate::linalg::vector::{axpy, dot};
use crate::pairwise::tuning::DUAL_TERM;
use multiversion::multiversion;

/// A convex loss of the margin `z = s_m - s_n` of a label pair, summed over all pairs of one instance.
pub trait Loss: Clone + Send + Sync {
    /// Buffers that are reused from one instance to the next.
    type Workspace: Default + Send;

    /// Whether the dual variables of the pairs fill the box `[0, c_i]` and their sum is the dual term (the hinge).
    const BOX: bool = false;

    /// Whether the last label is a zero label: the pairs are those of a relevant label and the zero label, and of the
    /// zero label and an irrelevant one. The labels then come from [`crate::labels::Labels::with_zero_label`].
    const ZERO_LABEL: bool = false;

    /// Whether the relevant labels may have weights.
    const WEIGHTS: bool = false;

    /// Whether a linear model may have weights other than those of the dual matrix, with the objective of these weights.
    const FREE_WEIGHTS: bool = true;

    /// Whether pairs may be restricted to the highest irrelevant labels; only for a decreasing loss.
    const TOP: bool = false;

    /// The loss of a pair with the margin `z`.
    fn of_margin(&self, margin: f64) -> f64;

    /// `sum over pairs of w_m loss(s_m - s_n)`, without the weight `c_i`.
    fn value(&self, scores: &[f64], pairs: Pairs<'_>) -> f64 {
        let (positive, negative) = scores.split_at(pairs.relevant);
        if let (true, Some((zero, negative))) = (Self::ZERO_LABEL, negative.split_last()) {
            let zero = std::slice::from_ref(zero);
            return sum_of_pairs(self, positive, zero, pairs.weights)
                + sum_of_pairs(self, zero, negative, &[]);
        }
        if pairs.top >= negative.len() {
            return sum_of_pairs(self, positive, negative, pairs.weights);
        }
        let mut highest = negative.to_vec();
        highest.select_nth_unstable_by(pairs.top, |x, y| y.total_cmp(x));
        highest.truncate(pairs.top);
        sum_of_pairs(self, positive, &highest, pairs.weights)
    }

    /// The proximal map, as the displacement from its centre: overwrites `displacement` with `s - centre` for
    ///
    /// ```text
    /// s = argmin over s of 1/2 ||s - centre||^2 + lambda * sum over pairs of w_m loss(s_m - s_n)
    /// ```
    ///
    /// The displacement is `kappa` times the block of dual variables, and is computed without the cancellation that
    /// subtracting two close scores would bring. `guess` holds the current scores, from which iterative losses start; the
    /// result of exact ones does not depend on it beyond rounding. A label in no active pair gets a displacement of exactly
    /// zero.
    fn prox(
        &self,
        centre: &[f64],
        guess: &[f64],
        displacement: &mut [f64],
        pairs: Pairs<'_>,
        lambda: f64,
        workspace: &mut Self::Workspace,
    );

    /// Approximate number of operations of a step of the proximal map with this many labels.
    fn work(&self, _pairs: Pairs<'_>, labels: usize) -> usize {
        labels
    }

    /// The dual term `D_i = -phi_i^*(-beta_i)` of a block `dual` and the scores `scores` that belong to it
    /// (`-beta_i` is a subgradient of `phi_i` there): Fenchel-Young holds with equality.
    fn dual_value(&self, dual: &[f64], scores: &[f64], pairs: Pairs<'_>, weight: f64) -> f64 {
        weight * self.value(scores, pairs) + dot(dual, scores)
    }

    /// `-loss'(z)`: the dual variable of a pair, divided by `c_i`, that belongs to the margin `z` (a subgradient at a kink).
    fn negative_slope(&self, margin: f64) -> f64;
}

/// Operations of single steps of the proximal maps between two polls of the monitor: a map takes tens of steps, and with
/// thousands of labels a second by itself.
const PROMPT_WORK: usize = 50_000_000;

/// Number of rows that a thread may visit between two polls of the monitor.
pub(crate) fn prompt_rows<L: Loss>(loss: &L, labels: &Labels) -> usize {
    let work = |i| loss.work(labels.pairs_of(i), labels.known(i));
    let hardest = (0..labels.instances()).map(work).max().unwrap_or(0);
    (PROMPT_WORK / hardest.max(1)).max(1)
}

/// The dual term of a block computed by the proximal map with `lambda`. Its scores `centre + displacement` are refined until
/// they are accurate enough for that.
///
/// The block is exact, but its scores have the rounding of a centre of size `lambda`, and any error in them makes
/// [`Loss::dual_value`] too large: it is `phi_i(s) + <beta_i, s>`, whose minimum is the dual term. The proximal point method
/// finds the minimum: its first, long steps reach labels of small weight, the last, short ones correct the rounding of the
/// others. This is repeated until nothing changes, and the last change, which exceeds the remaining error, is subtracted;
/// minus infinity if it does not end. A dual term that is a sum needs no scores.
pub(crate) fn dual_term<L: Loss>(
    loss: &L,
    dual: &[f64],
    scores: &mut [f64],
    pairs: Pairs<'_>,
    weight: f64,
    lambda: f64,
    workspace: &mut L::Workspace,
) -> f64 {
    let (weakest, strongest) = pairs.range_of_weights();
    // Longer steps would gain nothing; if `lambda` has overflowed, there are none.
    let longest = (DUAL_TERM.soft * strongest / weakest).clamp(DUAL_TERM.long, DUAL_TERM.longest);
    let stiffness = (lambda * strongest).min(DUAL_TERM.soft * longest);
    if L::BOX || stiffness <= DUAL_TERM.stiff {
        return loss.dual_value(dual, scores, pairs, weight);
    }
    let (mut centre, mut displacement) = (scores.to_vec(), scores.to_vec());
    let mut least = f64::INFINITY;
    for _ in 0..DUAL_TERM.rounds {
        let mut step = stiffness;
        while step > DUAL_TERM.stiff {
            step /= DUAL_TERM.soft;
            let lambda = step / strongest;
            centre.copy_from_slice(scores);
            axpy(-lambda / weight, dual, &mut centre);
            loss.prox(&centre, scores, &mut displacement, pairs, lambda, workspace);
            let moved = centre.iter().zip(&displacement);
            let moved = scores.iter_mut().zip(moved);
            moved.for_each(|(score, (centre, displacement))| *score = centre + displacement);
        }
        let found = loss.dual_value(dual, scores, pairs, weight);
        let change = least - found;
        // NaN, after an overflow, ends the loop as well.
        let terms = dual.iter().zip(&*scores);
        let size = found.abs() + terms.map(|(beta, score)| (beta * score).abs()).sum::<f64>();
        let goes_on = change > DUAL_TERM.same * size;
        if !goes_on {
            return least.min(found) - change.abs().min(found.abs());
        }
        least = found;
    }
    f64::NEG_INFINITY
}

/// Checks that the labels have the kind of pairs that the loss needs.
///
/// # Errors
/// When they do not.
pub fn check_pairs<L: Loss>(labels: &Labels) -> Result<(), SolverError> {
    if L::ZERO_LABEL != labels.has_zero_label() {
        return Err(SolverError::Unsupported(
            "labels with a zero label belong to a loss with a zero label, and no others do",
        ));
    }
    if labels.are_weighted() && !L::WEIGHTS {
        return Err(SolverError::Unsupported(
            "the loss has no weights of labels",
        ));
    }
    if labels.have_top() && !L::TOP {
        return Err(SolverError::Unsupported(
            "the loss compares with all irrelevant labels",
        ));
    }
    Ok(())
}

/// `sum_i phi_i(s_i)` at the scores of all instances, `n x q`.
///
/// # Errors
/// When the labels do not have the pairs of the loss, or the scores are not `n x q`.
pub fn total_loss<L: Loss>(loss: &L, labels: &Labels, scores: &[f64]) -> Result<f64, SolverError> {
    check_pairs::<L>(labels)?;
    if scores.len() != labels.instances() * labels.count() {
        return Err(refused(
            "scores",
            format!("{} numbers", scores.len()),
            "a score for each instance and label",
        ));
    }
    Ok(sum_of_losses(
        loss,
        labels,
        scores,
        &vec![0.0; labels.count()],
    ))
}

/// `sum_i phi_i(s_i + b)`
pub(crate) fn sum_of_losses<L: Loss>(
    loss: &L,
    labels: &Labels,
    scores: &[f64],
    bias: &[f64],
) -> f64 {
    let q = labels.count();
    let (mut row, mut gathered) = (vec![0.0; q], vec![0.0; q]);
    let mut total = 0.0;
    for i in (0..labels.instances()).filter(|&i| labels.has_pairs(i)) {
        row.copy_from_slice(&scores[i * q..(i + 1) * q]);
        axpy(1.0, bias, &mut row);
        let known = labels.gather(i, &row, &mut gathered);
        total += labels.weight(i) * loss.value(known, labels.pairs_of(i));
    }
    total
}

/// The sum over the pairs of two sets of labels; `weights` are those of the first set, empty if all are 1.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma"))]
fn sum_of_pairs<L: Loss>(loss: &L, preferred: &[f64], others: &[f64], weights: &[f64]) -> f64 {
    let (blocks, rest) = others.as_chunks::<8>();
    let mut total = 0.0;
    for (m, preferred) in preferred.iter().enumerate() {
        let mut lanes = [0.0; 8];
        for block in blocks {
            for (lane, other) in lanes.iter_mut().zip(block) {
                *lane += loss.of_margin(preferred - other);
            }
        }
        let rest = rest.iter().map(|other| loss.of_margin(preferred - other));
        let sum = lanes.iter().sum::<f64>() + rest.sum::<f64>();
        total += weights.get(m).map_or(sum, |weight| weight * sum);
    }
    total
}

/// Calls `visit(m, n, w)` with the positions and the weight of every pair of an instance, the preferred label first.
pub(crate) fn for_each_pair<L: Loss>(
    pairs: Pairs<'_>,
    labels: usize,
    mut visit: impl FnMut(usize, usize, f64),
) {
    let relevant = pairs.relevant;
    if L::ZERO_LABEL {
        let zero = labels - 1;
        (0..relevant).for_each(|m| visit(m, zero, pairs.weight(m)));
        (relevant..zero).for_each(|n| visit(zero, n, 1.0));
        return;
    }
    for m in 0..relevant {
        let weight = pairs.weight(m);
        for n in relevant..labels {
            visit(m, n, weight);
        }
    }
}
