//! A free bias over the strongly connected components of the labels' network.
//!
//! Pairs of labels in different components carry no circulation: they are zero at every feasible point. So each component
//! is a problem of its own, and the pairs across cost nothing once the components are lifted apart by their biases.

use super::free::Free;
use super::repair::{capacities, centred};
use super::start::first_bias;
use crate::error::{SolverError, refused};
use crate::labels::Labels;
use crate::linalg::vector::dot;
use crate::memory;
use crate::network::routing::strongly_connected_components;
use crate::pairwise::bcd::{Engine, Step};
use crate::pairwise::loss::Loss;
use crate::pairwise::loss::sum_of_losses;
use crate::pairwise::outer;
use crate::pairwise::scores::DenseScores;
use crate::pairwise::setup::{Setup, prepare};
use crate::parallel::threads::Threads;
use crate::report::{Monitor, Record, Report, Settings, Solution, Status, verdict};
use std::time::Instant;

/// Solves a pairwise hinge problem with a free bias. `step` makes the block step for given labels.
///
/// # Errors
/// When the loss is not the hinge, or settings, labels and scores do not fit together.
pub(crate) fn solve<S: DenseScores, T: Step>(
    labels: &Labels,
    scores: &mut S,
    step: impl Fn(&Labels) -> Result<T, SolverError>,
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
    let Some(dual) = prepare(labels, scores, start, &settings, &threads, monitor)? else {
        return Ok(Solution::interrupted(labels));
    };
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
    let component_of = strongly_connected_components(q, &capacity);
    let work: Work<'_> = (&settings, &threads);
    if component_of.iter().all(|&component| component == 0) {
        let step = step(labels)?;
        return Ok(solve_component(
            labels, &capacity, scores, step, dual, bias, work, monitor,
        ));
    }
    let whole = Whole {
        labels,
        capacity,
        component_of,
        image: scores.all(&threads),
        dual,
        bias,
        report: Report {
            status: Status::Converged,
            epochs: 0,
            primal: 0.0,
            dual: 0.0,
            history: Vec::new(),
        },
        clock: Instant::now(),
    };
    whole.solve(scores, step, work, monitor)
}

/// Settings, and who does the work.
type Work<'a> = (&'a Settings, &'a Threads);

/// Solves the problem of one strongly connected component.
#[expect(
    clippy::too_many_arguments,
    reason = "two call sites, every argument a part of the problem"
)]
fn solve_component<S: DenseScores, T: Step>(
    labels: &Labels,
    capacity: &[f64],
    scores: &mut S,
    step: T,
    start: Vec<f64>,
    start_bias: Vec<f64>,
    (settings, threads): Work<'_>,
    monitor: &mut dyn Monitor,
) -> Solution {
    let mut rule = Free::new(labels, capacity, scores.diagonal(), settings.tolerance);
    let cold = start.iter().chain(&start_bias).all(|&value| value == 0.0);
    let bias = if cold {
        first_bias(labels, capacity, scores.diagonal(), monitor)
    } else {
        centred(start_bias)
    };
    let mut engine = Engine::new(labels, scores, step, start, rule.sigma, threads, settings);
    engine.offset = bias;
    outer::run(&mut engine, &mut rule, settings, monitor).solution(engine.dual)
}

/// A problem of several components. Those whose turn has not come are at the start.
struct Whole<'a> {
    labels: &'a Labels,
    /// `C_ml`, `q x q` row-major.
    capacity: Vec<f64>,
    component_of: Vec<usize>,
    dual: Vec<f64>,
    /// `K B`, `n x q` row-major.
    image: Vec<f64>,
    bias: Vec<f64>,
    /// The sums over the components so far.
    report: Report,
    clock: Instant,
}

impl Whole<'_> {
    fn solve<S: DenseScores, T: Step>(
        mut self,
        scores: &mut S,
        step: impl Fn(&Labels) -> Result<T, SolverError>,
        work: Work<'_>,
        monitor: &mut dyn Monitor,
    ) -> Result<Solution, SolverError> {
        let subsets = self.subsets();
        // Of no labels, for the loss alone.
        let loss = step(&self.labels.restricted(&[]))?.loss().clone();
        for (index, subset) in subsets.iter().enumerate() {
            // Each later component is left one epoch at least.
            let others = subsets.len() - 1 - index;
            let used = self.report.epochs + others;
            let settings = Settings {
                max_epochs: work.0.max_epochs.saturating_sub(used).max(1),
                ..work.0.clone()
            };
            let part_scores = scores.fresh(subset.len());
            let goes_on =
                self.solve_part(subset, part_scores, &step, (&settings, work.1), monitor)?;
            if !goes_on {
                break;
            }
        }
        Ok(self.finish(&loss, scores, work, monitor))
    }

    /// The components' labels. Those of one label are left out, and their dual variables set to 0, as no circulation
    /// passes through them.
    fn subsets(&mut self) -> Vec<Vec<usize>> {
        let q = self.labels.count();
        let count = self.component_of.iter().max().map_or(0, |&last| last + 1);
        let mut subsets: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (k, &component) in self.component_of.iter().enumerate() {
            subsets[component].push(k);
        }
        for alone in subsets.iter().filter(|subset| subset.len() == 1) {
            let rows = self.dual.chunks_exact_mut(q);
            for row in rows.chain(self.image.chunks_exact_mut(q)) {
                row[alone[0]] = 0.0;
            }
        }
        subsets.retain(|subset| subset.len() > 1);
        subsets
    }

    /// Solves one component; whether the others have their turn.
    fn solve_part<S: DenseScores, T: Step>(
        &mut self,
        subset: &[usize],
        mut scores: S,
        step: impl Fn(&Labels) -> Result<T, SolverError>,
        work: Work<'_>,
        monitor: &mut dyn Monitor,
    ) -> Result<bool, SolverError> {
        let q = self.labels.count();
        let labels = self.labels.restricted(subset);
        let step = step(&labels)?;
        let mut start = memory::room(self.labels.instances() * subset.len());
        for row in self.dual.chunks_exact(q) {
            start.extend(subset.iter().map(|&k| row[k]));
        }
        let start = start.iter().any(|&beta| beta != 0.0).then_some(start);
        // Of the labels of this component alone: how much each pair may have at once depends on how many there are.
        let capacity = capacities(&labels);
        let bias = subset.iter().map(|&k| self.bias[k]).collect();
        let mut shifted = Shifted {
            epochs: self.report.epochs,
            seconds: self.clock.elapsed().as_secs_f64(),
            primal: self.report.primal,
            dual: self.report.dual,
            inner: monitor,
            total: &mut self.report,
        };
        let prepared = prepare(&labels, &mut scores, start, work.0, work.1, &mut shifted)?;
        let Some(start) = prepared else {
            self.report.status = Status::Interrupted;
            return Ok(false);
        };
        let part = solve_component(
            &labels,
            &capacity,
            &mut scores,
            step,
            start,
            bias,
            work,
            &mut shifted,
        );
        self.take(subset, &part, &scores.all(work.1));
        Ok(part.report.status != Status::Interrupted)
    }

    /// Adds what was found for one component.
    fn take(&mut self, subset: &[usize], part: &Solution, part_image: &[f64]) {
        let (q, width) = (self.labels.count(), subset.len());
        for (position, &k) in subset.iter().enumerate() {
            for i in 0..self.labels.instances() {
                self.dual[i * q + k] = part.dual[i * width + position];
                self.image[i * q + k] = part_image[i * width + position];
            }
            self.bias[k] = part.bias[position];
        }
        let report = &mut self.report;
        report.epochs += part.report.epochs;
        report.primal += part.report.primal;
        report.dual += part.report.dual;
        let status = part.report.status;
        let graver = status != Status::Converged && report.status != Status::IndefiniteKernel;
        if graver || status == Status::Interrupted {
            report.status = status;
        }
    }

    /// Lifts the components apart, and certifies the whole.
    fn finish<S: DenseScores, L: Loss>(
        mut self,
        loss: &L,
        scores: &mut S,
        (settings, threads): Work<'_>,
        monitor: &mut dyn Monitor,
    ) -> Solution {
        let watcher: &mut dyn Monitor = if S::WEIGHTS { &mut () } else { monitor };
        if !scores.recompute(&self.dual, threads, watcher) {
            self.report.status = Status::Interrupted;
            scores.state().clone_from(&self.image);
        }
        lift_components(
            &self.component_of,
            &self.capacity,
            &self.image,
            &mut self.bias,
        );
        let quadratic: f64 = dot(&self.dual, &self.image);
        let primal = 0.5 * quadratic + sum_of_losses(loss, self.labels, &self.image, &self.bias);
        let report = &mut self.report;
        report.primal = primal;
        if report.status != Status::Interrupted && report.status != Status::IndefiniteKernel {
            // The parts may each be within the tolerance, and rounding take their sum beyond it.
            let otherwise = match report.status {
                Status::Converged => Status::Stalled,
                status => status,
            };
            let rounding = || scores.rounding(&self.dual);
            let found = verdict(primal, report.dual, quadratic, settings.tolerance, rounding);
            report.status = found.unwrap_or(otherwise);
        }
        if let Some(last) = report.history.last_mut() {
            (last.primal, last.dual) = (primal, report.dual);
        }
        Solution {
            dual: self.dual,
            bias: centred(self.bias),
            report: self.report,
        }
    }
}

/// Passes the records of one component on as those of the whole problem.
struct Shifted<'a> {
    inner: &'a mut dyn Monitor,
    total: &'a mut Report,
    epochs: usize,
    seconds: f64,
    primal: f64,
    dual: f64,
}

impl Monitor for Shifted<'_> {
    fn interrupted(&mut self) -> bool {
        self.inner.interrupted()
    }

    fn out_of_time(&mut self) -> bool {
        self.inner.out_of_time()
    }

    fn hurried(&self) -> bool {
        self.inner.hurried()
    }

    fn epoch(&mut self, record: &Record) {
        let record = Record {
            epoch: self.epochs + record.epoch,
            seconds: self.seconds + record.seconds,
            primal: self.primal + record.primal,
            dual: self.dual + record.dual,
            active: record.active,
        };
        self.total.history.push(record);
        self.inner.epoch(&record);
    }
}

/// Moves the biases of whole components apart until no pair across components suffers any loss on the training rows.
fn lift_components(component_of: &[usize], capacity: &[f64], scores: &[f64], bias: &mut [f64]) {
    let q = bias.len();
    let count = component_of.iter().max().map_or(0, |&last| last + 1);
    // Components are numbered so that arcs lead from larger to smaller numbers.
    let mut level = vec![0_usize; count];
    for component in 0..count {
        for m in (0..q).filter(|&m| component_of[m] == component) {
            for l in (0..q).filter(|&l| component_of[l] < component && capacity[m * q + l] > 0.0) {
                level[component] = level[component].max(level[component_of[l]] + 1);
            }
        }
    }
    let mut widest: f64 = 0.0;
    for row in scores.chunks_exact(q) {
        let shifted = row.iter().zip(bias.iter()).map(|(f, b)| f + b);
        let (low, high) = shifted.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), s| {
            (s.min(low), s.max(high))
        });
        widest = widest.max(high - low);
    }
    for (b, &component) in bias.iter_mut().zip(component_of) {
        *b += level[component] as f64 * (1.0 + widest);
    }
}
