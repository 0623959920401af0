//! The engine of the pairwise family: block coordinate ascent in the dual, one exact proximal step an instance.
//!
//! ```text
//! primal   min over W, b   1/2 sum_k ||w_k||^2 + sum_i phi_i(f(x_i)),   phi_i(s) = c_i sum_{m,n} loss(s_m - s_n)
//! dual     max over B      sum_i D_i(beta_i) - 1/2 <B, K B>,            D_i(beta) = -phi_i^*(-beta)
//! ```
//!
//! `B` (`n x q`) is all that the model needs of the dual variables of the pairs (Xu 2013, eq. (21)), so no pair is ever
//! stored. With the other instances held, the block of instance `i` is solved exactly by one proximal map: with
//! `kappa = K_ii`, current scores `s` and `v = s - kappa beta_i`,
//!
//! ```text
//! s_new = argmin 1/(2 kappa) ||s - v||^2 + phi_i(s),    beta_i = (s_new - v) / kappa,    D_i = phi_i(s_new) + <beta_i, s_new>
//! ```
//!
//! Every instance owns one term of the duality gap, `phi_i(s_i) - D_i + <beta_i, s_i> >= 0`. Their sum is the stop
//! rule and the certificate; an instance whose term is negligible is skipped in the next epoch (all terms are
//! computed anew after each epoch, so none is skipped for good).
//!
//! Biases: none (`K`), penalized (`K + 1`, the features with an appended 1 of Chen et al. 2009), and free (Xu 2013,
//! eq. (18)) through the augmented Lagrangian of [`crate::pairwise::free_bias`], which sees the scores `F + sigma g + b` with
//! `g = sum_i beta_i`.

mod chain;
mod engine;
mod local_scores;
mod part;
mod step;

pub(crate) use engine::{Certificate, Engine, Epoch, hinge_dual_terms, rounding_of_quadratic};
pub use part::{Answer, Common, PartState, improve_part};
pub use step::{Block, Proximal, Step};

use crate::error::SolverError;
use crate::labels::Labels;
use crate::memory::{self, Purpose};
use crate::pairwise::loss::Loss;
use crate::pairwise::scores::Scores;
use crate::parallel::threads::Threads;
use crate::report::{Monitor, Report, Settings, Solution, Status, Trace, relative_gap, verdict};

/// Primal and dual objective without a bias or with a penalized one.
fn objectives(certificate: &Certificate, sigma: f64, sum: &[f64]) -> (f64, f64) {
    let quadratic = certificate.quadratic + sigma * sum.iter().map(|g| g * g).sum::<f64>();
    (
        0.5 * quadratic + certificate.loss,
        certificate.dual_terms - 0.5 * quadratic,
    )
}

/// Solves a pairwise problem without a bias or with a penalized one. `start` is a dual matrix to start from (rows in
/// the feasible set of the loss), else 0.
///
/// A kernel so indefinite that the problem has no minimum gives the status `IndefiniteKernel` and `B = 0`.
///
/// # Errors
/// When settings, labels and scores do not fit together.
#[expect(
    clippy::too_many_arguments,
    reason = "the signature that the loops share"
)]
pub fn solve<S: Scores, T: Step>(
    labels: &Labels,
    scores: &mut S,
    step: T,
    penalized_bias: bool,
    start: Option<Vec<f64>>,
    settings: &Settings,
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Result<Solution, SolverError> {
    let Some(start) = prepare(labels, scores, start, settings, threads, monitor)? else {
        return Ok(Solution::interrupted(labels));
    };
    let sigma = if penalized_bias { 1.0 } else { 0.0 };
    let mut trace = Trace::default();
    let at_zero = objective_at_zero(labels, step.loss());
    // Only a box keeps the dual of an indefinite kernel bounded. With any other kernel no dual objective exceeds
    // a primal one. What has overflowed compares with nothing.
    let diverges = |dual: f64| {
        let bounded = dual <= (1.0 + 1e-9) * at_zero;
        !T::Loss::BOX && !bounded
    };
    let mut engine = Engine::new(labels, scores, step, start, sigma, threads, settings);
    let mut epochs = 0;
    let (mut status, mut primal);
    let mut dual = 0.0;
    loop {
        let outcome = engine.epoch(monitor);
        epochs += 1;
        if outcome == Epoch::Interrupted && engine.certifies_slowly() {
            // The bound of the epoch before holds; what this point costs stays unknown.
            primal = f64::INFINITY;
            break status = Status::Interrupted;
        }
        let mut certificate = engine.certify();
        (primal, dual) = objectives(&certificate, sigma, &engine.sum);
        if diverges(dual) {
            engine.dual.fill(0.0);
            engine.sum.fill(0.0);
            engine.scores.recompute(&engine.dual, threads, monitor);
            (primal, dual) = (at_zero, 0.0);
            trace.record(epochs, primal, dual, engine.active(), monitor);
            break status = Status::IndefiniteKernel;
        }
        let mut gap = relative_gap(primal, dual);
        let last = epochs == settings.max_epochs || outcome != Epoch::Moved;
        if outcome != Epoch::Interrupted && (gap <= settings.tolerance || last) {
            // The certificate that counts is that of scores computed anew from B.
            if engine.scores.recompute(&engine.dual, threads, monitor) {
                certificate = engine.certify();
                (primal, dual) = objectives(&certificate, sigma, &engine.sum);
                gap = relative_gap(primal, dual);
            }
        }
        let visited = engine.active();
        engine.choose_active(settings.tolerance * primal.abs());
        trace.record(epochs, primal, dual, engine.active(), monitor);
        if outcome == Epoch::Interrupted {
            break status = Status::Interrupted;
        }
        status = verdict(
            primal,
            dual,
            certificate.quadratic,
            settings.tolerance,
            || engine.rounding(),
        )
        .unwrap_or(Status::MaxIterations);
        if status == Status::Converged || !primal.is_finite() {
            break;
        }
        if epochs == settings.max_epochs {
            break;
        }
        if monitor.interrupted() {
            break status = Status::Interrupted;
        }
        if outcome == Epoch::Still || engine.active() == 0 {
            // Nothing moved: either the skipped ones must, or rounding has the last word.
            let all = labels_with_pairs(labels);
            let plain = !engine.stop_accelerating();
            if visited == all && outcome == Epoch::Still && plain {
                if status != Status::IndefiniteKernel {
                    status = Status::Stalled;
                }
                break;
            }
            engine.wake_all();
        } else {
            engine.accelerate(epochs, dual);
            epochs += engine.newton_step(epochs, dual, gap, monitor);
        }
    }
    let bias = engine.bias();
    let dual_matrix = engine.dual;
    let report = Report {
        status,
        epochs,
        primal,
        dual,
        history: trace.history,
    };
    Ok(Solution {
        dual: dual_matrix,
        bias,
        report,
    })
}

/// The primal objective of `B = 0`.
fn objective_at_zero<L: Loss>(labels: &Labels, loss: &L) -> f64 {
    let of_one_pair = loss.value(&[0.0, 0.0], 1, &mut L::Workspace::default());
    (0..labels.instances())
        .map(|i| {
            let p = labels.relevant(i).len();
            labels.weight(i) * (p * (labels.count() - p)) as f64 * of_one_pair
        })
        .sum()
}

fn labels_with_pairs(labels: &Labels) -> usize {
    (0..labels.instances())
        .filter(|&i| labels.has_pairs(i))
        .count()
}

/// Checks that everything fits, and brings the scores to the starting point; `None` when interrupted before it is there.
pub(crate) fn prepare<S: Scores>(
    labels: &Labels,
    scores: &mut S,
    start: Option<Vec<f64>>,
    settings: &Settings,
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Result<Option<Vec<f64>>, SolverError> {
    settings.validate()?;
    let (n, q) = (labels.instances(), labels.count());
    if (scores.instances(), scores.labels()) != (n, q) {
        return Err(SolverError::Argument {
            name: "Y",
            found: format!("{n} x {q}"),
            expected: "as many rows as X",
        });
    }
    if let Some(value) = scores.diagonal().iter().find(|value| !value.is_finite()) {
        return Err(SolverError::Argument {
            name: "X",
            found: format!("a matrix with a kernel value of {value}"),
            expected: "finite kernel values: scale the features",
        });
    }
    match start {
        None => Ok(Some(memory::matrix(n, q, Purpose::RowsByLabels))),
        Some(mut start) if start.len() == n * q => {
            for (i, row) in start.chunks_exact_mut(q).enumerate() {
                if !labels.has_pairs(i) {
                    row.fill(0.0);
                }
            }
            Ok(scores.recompute(&start, threads, monitor).then_some(start))
        }
        Some(start) => Err(SolverError::Argument {
            name: "start",
            found: format!("{} numbers", start.len()),
            expected: "one row of q numbers for each instance",
        }),
    }
}
