//! A free bias where the labels' network has several strongly connected components.
//!
//! Pairs of labels in different components carry no circulation: they are zero at every feasible point. So the loop sees
//! the pairs inside components alone, and the biases then lift the components apart, so that the pairs across cost nothing.

use super::free::Free;
use super::repair::{capacities, centred};
use super::start::first_bias;
use crate::error::{SolverError, refused};
use crate::labels::Labels;
use crate::network::routing::strongly_connected_components;
use crate::pairwise::bcd::{Engine, Step};
use crate::pairwise::loss::{Loss, sum_of_losses};
use crate::pairwise::outer;
use crate::pairwise::scores::DenseScores;
use crate::pairwise::setup::{Setup, prepare};
use crate::report::{Monitor, Report, Settings, Solution, Status, verdict};
use std::borrow::Cow;

/// Solves a pairwise hinge problem with a free bias.
///
/// # Errors
/// When the loss is not the hinge, or settings, labels and scores do not fit together.
pub(crate) fn solve<S: DenseScores, T: Step>(
    labels: &Labels,
    scores: &mut S,
    step: T,
    setup: Setup,
    monitor: &mut dyn Monitor,
) -> Result<Solution, SolverError> {
    if !<T::Loss as Loss>::BOX {
        return Err(SolverError::Unsupported(
            "a free bias is available for the hinge loss only",
        ));
    }
    let Setup {
        start,
        start_bias,
        settings,
        threads,
        ..
    } = setup;
    let q = labels.count();
    let bias = start_bias.unwrap_or_else(|| vec![0.0; q]);
    if bias.len() != q {
        return Err(refused(
            "start_bias",
            format!("{} numbers", bias.len()),
            "one number for each label",
        ));
    }
    let capacity = capacities(labels);
    let components = Components::new(&capacity, q);
    let (within, capacity) = if components.several() {
        let within = labels.within(&components.of);
        // Of the labels of a component alone: how much each pair may have at once depends on how many there are.
        let capacity = capacities(&within);
        (Cow::Owned(within), capacity)
    } else {
        (Cow::Borrowed(labels), capacity)
    };
    let Some(dual) = prepare(&within, scores, start, &settings, &threads, monitor)? else {
        return Ok(Solution::interrupted(labels));
    };
    let diagonal = scores.diagonal();
    let mut rule = Free::new(
        &within,
        &capacity,
        &components,
        diagonal,
        settings.tolerance,
    );
    let cold = dual.iter().chain(&bias).all(|&value| value == 0.0);
    let bias = if cold {
        first_bias(&within, &capacity, diagonal, monitor)
    } else {
        centred(bias)
    };
    let loss = step.loss().clone();
    let mut engine = Engine::new(&within, scores, step, dual, rule.sigma, &threads, &settings);
    engine.offset = bias;
    let ended = outer::run(&mut engine, &mut rule, &settings, monitor);
    let mut solution = ended.solution(engine.dual);
    if components.several() {
        let image = scores.all(&threads);
        let before = sum_of_losses(&loss, &within, &image, &solution.bias);
        components.lift(&image, &mut solution.bias);
        let after = sum_of_losses(&loss, labels, &image, &solution.bias);
        let quadratic = 2.0 * (solution.report.primal - before);
        let rounding = || scores.rounding(&solution.dual);
        certify_again(&mut solution.report, quadratic, after, &settings, rounding);
    }
    Ok(solution)
}

/// Certifies a model whose biases have changed, with the `quadratic` of its objectives and the `losses` there.
fn certify_again(
    report: &mut Report,
    quadratic: f64,
    losses: f64,
    settings: &Settings,
    rounding: impl FnOnce() -> f64,
) {
    report.amend(0.5 * quadratic + losses);
    if report.status == Status::Converged {
        // The biases have fewer digits when they are large.
        let (primal, dual, tolerance) = (report.primal, report.dual, settings.tolerance);
        report.status =
            verdict(primal, dual, quadratic, tolerance, rounding).unwrap_or(Status::Stalled);
    }
}

/// The strongly connected components of the labels' network.
pub(super) struct Components {
    /// By label, numbered so that arcs lead from larger to smaller numbers.
    of: Vec<usize>,
    /// How many components lie below each label's on the longest way.
    level: Vec<usize>,
}

impl Components {
    pub fn new(capacity: &[f64], q: usize) -> Self {
        let of = strongly_connected_components(q, capacity);
        let mut level = vec![0; q];
        for component in 0..q {
            for m in (0..q).filter(|&m| of[m] == component) {
                for l in (0..q).filter(|&l| of[l] < component && capacity[m * q + l] > 0.0) {
                    level[component] = level[component].max(level[of[l]] + 1);
                }
            }
        }
        let level = of.iter().map(|&component| level[component]).collect();
        Self { of, level }
    }

    fn several(&self) -> bool {
        self.of.iter().any(|&component| component != 0)
    }

    /// Numbers less the mean of their components.
    pub fn centred(&self, values: &[f64]) -> Vec<f64> {
        let (mut sums, mut counts) = (vec![0.0; values.len()], vec![0.0; values.len()]);
        for (value, &component) in values.iter().zip(&self.of) {
            sums[component] += value;
            counts[component] += 1.0;
        }
        let of_label = values.iter().zip(&self.of);
        of_label
            .map(|(value, &component)| value - sums[component] / counts[component])
            .collect()
    }

    /// Moves the biases of whole components apart until no pair across components suffers any loss at the scores of the
    /// training rows.
    fn lift(&self, scores: &[f64], bias: &mut Vec<f64>) {
        *bias = self.centred(bias);
        let mut widest: f64 = 0.0;
        for row in scores.chunks_exact(bias.len()) {
            let shifted = row.iter().zip(bias.iter()).map(|(f, b)| f + b);
            let (low, high) = shifted.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), s| {
                (s.min(low), s.max(high))
            });
            widest = widest.max(high - low);
        }
        for (b, &level) in bias.iter_mut().zip(&self.level) {
            *b += level as f64 * (1.0 + widest);
        }
        *bias = centred(std::mem::take(bias));
    }
}
