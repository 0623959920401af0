//! The free bias of Elisseeff and Weston: equality constraints `sum_i beta_i = 0` (Xu 2013, eq. (19)), by the augmented
//! Lagrangian, with a certificate that is exact.
//!
//! The engine sees the scores `F + sigma g + b` with `g = sum_i beta_i`, which is the kernel `K + sigma` and a constant `b`;
//! after each epoch the multiplier moves to `b + sigma g`. The dual value at such a point bounds the problem with the
//! bias held, not the problem itself, unless `g = 0`. So before stopping, the point is repaired:
//!
//! * Let `C_ml = sum of c_i` over the instances with `m` relevant and `l` irrelevant. Route `-g` times as much as
//!   possible, `t`, through the network of the labels with capacities `C_ml`, and share the flow of each arc among
//!   its instances in proportion to `c_i`: that is a `B_0` with `sum beta_0i = -t g`, feasible for the hinge.
//! * With `eps = 1/(1 + t)`, `B' = (1 - eps) B + eps B_0` is feasible and `sum beta'_i = 0`.
//!
//! Pairs of labels in different strongly connected components of that network carry no circulation: they are zero at
//! every feasible point. So each component is a problem of its own, and the pairs across cost nothing once the
//! components are lifted apart by their biases.

use crate::error::SolverError;
use crate::labels::Labels;
use crate::linalg::vector::{axpy, dot};
use crate::memory::{self, Purpose};
use crate::network::routing::{Routing, largest_routing, strongly_connected_components};
use crate::pairwise::bcd::{
    Certificate, Engine, Epoch, Step, hinge_dual_terms, prepare, rounding_of_quadratic,
};
use crate::pairwise::loss::{Hinge, HingeWorkspace, Loss};
use crate::pairwise::scores::Scores;
use crate::parallel::threads::Threads;
use crate::report::{
    Monitor, Record, Report, Settings, Solution, Status, Trace, relative_gap, verdict,
};
use std::time::Instant;

/// Weight of the augmentation, relative to the mean of the kernel's diagonal.
const AUGMENTATION: f64 = 0.3;

/// Growth of the augmentation after an epoch in which nothing moved.
const STILL_FACTOR: f64 = 4.0;

/// Largest growth of the augmentation.
const LARGEST_GROWTH: f64 = 1e12;

/// Steps of the biases below this share of the largest one are rounding.
const SETTLED: f64 = 1e-14;

/// A start may leave the feasible set by this share of an instance's weights: rounding.
const SLACK: f64 = 1e-12;

/// Routings beyond this multiple repair nothing that a double can hold.
const LARGEST_ROUTING: f64 = 1e15;

/// `C_ml`, the capacities of the labels' network, `q x q` row-major.
fn capacities(labels: &Labels) -> Vec<f64> {
    let q = labels.count();
    // Counting decides which capacities are zero: differences of sums of floats would not be.
    let (mut counts, mut weights) = (
        memory::filled(0_i64, q.saturating_mul(q), Purpose::LabelsByLabels),
        memory::matrix(q, q, Purpose::LabelsByLabels),
    );
    let (mut count, mut weight) = (vec![0_i64; q], vec![0.0; q]);
    for i in (0..labels.instances()).filter(|&i| labels.has_pairs(i)) {
        for &m in labels.relevant(i) {
            count[m as usize] += 1;
            weight[m as usize] += labels.weight(i);
            for &l in labels.relevant(i) {
                counts[m as usize * q + l as usize] += 1;
                weights[m as usize * q + l as usize] += labels.weight(i);
            }
        }
    }
    for m in 0..q {
        for l in 0..q {
            let index = m * q + l;
            weights[index] = if count[m] > counts[index] {
                (weight[m] - weights[index]).max(0.0)
            } else {
                0.0
            };
        }
    }
    weights
}

/// Adds `eps B_0` to `B`, where `B_0` shares the flow among the instances, and returns the new dual terms.
fn add_flow(labels: &Labels, capacity: &[f64], flow: &[f64], eps: f64, dual: &mut [f64]) {
    let q = labels.count();
    let arcs: Vec<Vec<(usize, f64)>> = (0..q)
        .map(|m| {
            (0..q)
                .filter(|&l| flow[m * q + l] > 0.0 && capacity[m * q + l] > 0.0)
                .map(|l| (l, eps * flow[m * q + l] / capacity[m * q + l]))
                .collect()
        })
        .collect();
    let mut is_relevant = vec![false; q];
    for (i, row) in dual.chunks_exact_mut(q).enumerate() {
        if !labels.has_pairs(i) {
            continue;
        }
        let relevant = labels.relevant(i);
        relevant
            .iter()
            .for_each(|&m| is_relevant[m as usize] = true);
        for &m in relevant {
            for &(l, share) in &arcs[m as usize] {
                if !is_relevant[l] {
                    row[m as usize] += share * labels.weight(i);
                    row[l] -= share * labels.weight(i);
                }
            }
        }
        relevant
            .iter()
            .for_each(|&m| is_relevant[m as usize] = false);
    }
}

/// The largest multiple of `-g` that the network of the labels can carry, and its flow, for `g = sum_i beta_i` and the
/// capacities `C_ml`, `q x q` row-major; `None` when interrupted or when `g` cannot be routed.
pub fn routing_of(sum: &[f64], capacity: &[f64], monitor: &mut dyn Monitor) -> Option<Routing> {
    // Each block sums to 0, so g does but for rounding.
    let demand = centred(sum.iter().map(|g| -g).collect());
    let mut interrupted = || monitor.interrupted();
    let routing = largest_routing(&demand, capacity, LARGEST_ROUTING, &mut interrupted).ok()?;
    (routing.scale > 0.0).then_some(routing)
}

/// The dual matrix moved to `sum_i beta_i = 0`; `None` when interrupted or when `g` cannot be routed.
fn repaired(
    labels: &Labels,
    capacity: &[f64],
    dual: &[f64],
    sum: &[f64],
    monitor: &mut dyn Monitor,
) -> Option<Vec<f64>> {
    let mut repaired = memory::copied(dual, Purpose::RowsByLabels);
    if sum.iter().all(|&g| g == 0.0) {
        return Some(repaired);
    }
    let routing = routing_of(sum, capacity, monitor)?;
    let eps = 1.0 / (1.0 + routing.scale);
    repaired.iter_mut().for_each(|beta| *beta *= 1.0 - eps);
    add_flow(labels, capacity, &routing.flow, eps, &mut repaired);
    Some(repaired)
}

/// Whether some dual variables in the boxes `[0, c_i]` of the pairs sum to the block `beta_i`, given with the relevant
/// labels first: the `s` largest supplies are at most the `t` smallest demands and the capacity to the others.
fn in_box(block: &mut [f64], relevant: usize, weight: f64) -> bool {
    let (supplies, demands) = block.split_at_mut(relevant);
    demands.iter_mut().for_each(|beta| *beta = -*beta);
    supplies.sort_unstable_by(|x, y| y.total_cmp(x));
    demands.sort_unstable_by(f64::total_cmp);
    let pairs = (supplies.len() * demands.len()) as f64;
    let slack = SLACK * weight * pairs;
    let total: f64 = supplies.iter().sum::<f64>() - demands.iter().sum::<f64>();
    let mut inside = total.abs() <= slack && demands[0] >= -slack;
    inside &= supplies[supplies.len() - 1] >= -slack;
    let mut supply = 0.0;
    for (s, largest) in supplies.iter().enumerate() {
        supply += largest;
        let capacity = weight * (s + 1) as f64;
        let most: f64 = demands.iter().map(|demand| demand.min(capacity)).sum();
        inside &= supply <= most + slack;
    }
    inside
}

/// A start for a hinge problem, moved into its feasible set: rows outside their box become 0, and with a free bias the
/// sum of the rows is routed away, or the start given up.
pub(crate) fn feasible(
    labels: &Labels,
    mut start: Vec<f64>,
    free_bias: bool,
    monitor: &mut dyn Monitor,
) -> Vec<f64> {
    let q = labels.count();
    if start.len() != labels.instances() * q {
        return start;
    }
    let mut gathered = vec![0.0; q];
    let mut sum = vec![0.0; q];
    for (i, row) in start.chunks_exact_mut(q).enumerate() {
        labels.gather(i, row, &mut gathered);
        let relevant = labels.relevant(i).len();
        if !(labels.has_pairs(i) && in_box(&mut gathered, relevant, labels.weight(i))) {
            row.fill(0.0);
        }
        axpy(1.0, row, &mut sum);
    }
    if !free_bias {
        return start;
    }
    repaired(labels, &capacities(labels), &start, &sum, monitor)
        .unwrap_or_else(|| memory::zeros(start.len(), Purpose::RowsByLabels))
}

/// Subtracts the mean: a constant added to all biases changes nothing.
pub(crate) fn centred(mut bias: Vec<f64>) -> Vec<f64> {
    let mean = bias.iter().sum::<f64>() / bias.len().max(1) as f64;
    bias.iter_mut().for_each(|b| *b -= mean);
    bias
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

/// One strongly connected component's solution.
struct Component {
    dual: Vec<f64>,
    bias: Vec<f64>,
    report: Report,
}

/// Solves a pairwise hinge problem with a free bias. `step` makes the block step for given labels. `start` and
/// `start_bias` are a dual matrix and biases to start from, else 0.
///
/// # Errors
/// When the loss is not the hinge, or settings, labels and scores do not fit together.
#[expect(
    clippy::too_many_arguments,
    reason = "the signature that the loops share, and the start of the bias"
)]
pub fn solve<S: Scores, T: Step>(
    labels: &Labels,
    scores: &mut S,
    step: impl Fn(&Labels) -> Result<T, SolverError>,
    start: Option<Vec<f64>>,
    start_bias: Option<Vec<f64>>,
    settings: &Settings,
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Result<Solution, SolverError> {
    if !<T::Loss as Loss>::BOX {
        return Err(SolverError::Unsupported(
            "a free bias is available for the hinge loss only",
        ));
    }
    let Some(start) = prepare(labels, scores, start, settings, threads, monitor)? else {
        return Ok(Solution::interrupted(labels));
    };
    let q = labels.count();
    let mut bias = start_bias.unwrap_or_else(|| vec![0.0; q]);
    if bias.len() != q {
        return Err(SolverError::Argument {
            name: "start_bias",
            found: format!("{} numbers", bias.len()),
            expected: "one number for each label",
        });
    }
    let capacity = capacities(labels);
    let component_of = strongly_connected_components(q, &capacity);
    let count = component_of.iter().max().map_or(0, |&last| last + 1);
    if count <= 1 {
        let step = step(labels)?;
        let Component { dual, bias, report } = solve_component(
            labels, &capacity, scores, step, start, bias, settings, threads, monitor,
        );
        return Ok(Solution { dual, bias, report });
    }

    let clock = Instant::now();
    let n = labels.instances();
    // A component that an interruption keeps from its turn stays at the start.
    let mut image = scores.all(threads);
    let mut dual = start;
    let mut total = Report {
        status: Status::Converged,
        epochs: 0,
        primal: 0.0,
        dual: 0.0,
        history: Vec::new(),
    };
    let mut subsets: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (k, &component) in component_of.iter().enumerate() {
        subsets[component].push(k);
    }
    // No circulation passes through a label alone in its component.
    for alone in subsets.iter().filter(|subset| subset.len() == 1) {
        for row in dual.chunks_exact_mut(q).chain(image.chunks_exact_mut(q)) {
            row[alone[0]] = 0.0;
        }
    }
    subsets.retain(|subset| subset.len() > 1);
    for (index, subset) in subsets.iter().enumerate() {
        let width = subset.len();
        let restricted = labels.restricted(subset);
        let mut part_start = memory::room(n * width, Purpose::RowsByLabels);
        for row in dual.chunks_exact(q) {
            part_start.extend(subset.iter().map(|&k| row[k]));
        }
        let part_capacity: Vec<f64> = subset
            .iter()
            .flat_map(|&m| subset.iter().map(move |&l| (m, l)))
            .map(|(m, l)| capacity[m * q + l])
            .collect();
        let mut part_scores = scores.fresh(width);
        let part_step = step(&restricted)?;
        // Each later component is left one epoch at least.
        let others = subsets.len() - 1 - index;
        let part_settings = Settings {
            max_epochs: settings
                .max_epochs
                .saturating_sub(total.epochs + others)
                .max(1),
            ..settings.clone()
        };
        let (epochs, primal, dual_objective) = (total.epochs, total.primal, total.dual);
        let mut shifted = Shifted {
            inner: &mut *monitor,
            total: &mut total,
            epochs,
            seconds: clock.elapsed().as_secs_f64(),
            primal,
            dual: dual_objective,
        };
        let prepared = prepare(
            &restricted,
            &mut part_scores,
            part_start
                .iter()
                .any(|&beta| beta != 0.0)
                .then_some(part_start),
            &part_settings,
            threads,
            &mut shifted,
        )?;
        let Some(part_start) = prepared else {
            total.status = Status::Interrupted;
            break;
        };
        let part = solve_component(
            &restricted,
            &part_capacity,
            &mut part_scores,
            part_step,
            part_start,
            subset.iter().map(|&k| bias[k]).collect(),
            &part_settings,
            threads,
            &mut shifted,
        );
        let part_image = part_scores.all(threads);
        for (position, &k) in subset.iter().enumerate() {
            for i in 0..n {
                dual[i * q + k] = part.dual[i * width + position];
                image[i * q + k] = part_image[i * width + position];
            }
            bias[k] = part.bias[position];
        }
        let Report {
            status,
            epochs,
            primal,
            dual: dual_objective,
            ..
        } = part.report;
        total.epochs += epochs;
        total.primal += primal;
        total.dual += dual_objective;
        if status != Status::Converged && total.status != Status::IndefiniteKernel {
            total.status = status;
        }
        if status == Status::Interrupted {
            total.status = status;
            break;
        }
    }
    let watcher: &mut dyn Monitor = if S::WEIGHTS { &mut () } else { monitor };
    if !scores.recompute(&dual, threads, watcher) {
        total.status = Status::Interrupted;
    }
    lift_components(&component_of, &capacity, &image, &mut bias);
    let quadratic: f64 = dot(&dual, &image);
    total.primal = 0.5 * quadratic + hinge_sum(labels, &image, &bias);
    if total.status != Status::Interrupted && total.status != Status::IndefiniteKernel {
        let floor = || {
            if S::WEIGHTS {
                f64::INFINITY
            } else {
                rounding_of_quadratic(&dual, scores.diagonal(), q)
            }
        };
        // The parts may each be within the tolerance, and rounding take their sum beyond it.
        let otherwise = match total.status {
            Status::Converged => Status::Stalled,
            status => status,
        };
        let (primal, bound) = (total.primal, total.dual);
        total.status =
            verdict(primal, bound, quadratic, settings.tolerance, floor).unwrap_or(otherwise);
    }
    if let Some(last) = total.history.last_mut() {
        (last.primal, last.dual) = (total.primal, total.dual);
    }
    Ok(Solution {
        dual,
        bias: centred(bias),
        report: total,
    })
}

/// `sum_i phi_i(s_i + b)`
pub(crate) fn hinge_sum(labels: &Labels, scores: &[f64], bias: &[f64]) -> f64 {
    let q = labels.count();
    let (mut row, mut gathered) = (vec![0.0; q], vec![0.0; q]);
    let mut workspace = HingeWorkspace::default();
    let mut total = 0.0;
    for i in (0..labels.instances()).filter(|&i| labels.has_pairs(i)) {
        row.copy_from_slice(&scores[i * q..(i + 1) * q]);
        axpy(1.0, bias, &mut row);
        labels.gather(i, &row, &mut gathered);
        total +=
            labels.weight(i) * Hinge.value(&gathered, labels.relevant(i).len(), &mut workspace);
    }
    total
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

/// Solves the problem of one strongly connected component.
#[expect(
    clippy::too_many_arguments,
    reason = "one call site, every argument a part of the problem"
)]
fn solve_component<S: Scores, T: Step>(
    labels: &Labels,
    capacity: &[f64],
    scores: &mut S,
    step: T,
    start: Vec<f64>,
    start_bias: Vec<f64>,
    settings: &Settings,
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Component {
    let mut trace = Trace::default();
    let diagonal = scores.diagonal();
    let mean = diagonal.iter().sum::<f64>() / diagonal.len().max(1) as f64;
    // Biases are of order 1, and g is at most the weight of all pairs: the second term lets even a tiny C move them.
    let weight: f64 = (0..labels.instances())
        .map(|i| labels.weight(i) * labels.pairs(i) as f64)
        .sum();
    let sigma = AUGMENTATION * mean.max(0.0) + 1.0 / weight;
    let mut engine = Engine::new(labels, scores, step, start, sigma, threads, settings);
    engine.offset = centred(start_bias);
    let (mut epochs, mut next_attempt) = (0, 0);
    let all = engine.active();
    let (status, primal, dual, bias) = loop {
        let visited = engine.active();
        let outcome = engine.epoch(monitor);
        epochs += 1;
        let bias = engine.bias();
        if outcome == Epoch::Interrupted && engine.certifies_slowly() {
            break (Status::Interrupted, f64::INFINITY, 0.0, bias);
        }
        let certificate = engine.certify();
        let held_primal = 0.5 * certificate.quadratic + certificate.loss;
        let shifted: f64 = bias.iter().zip(&engine.sum).map(|(b, g)| b * g).sum();
        let tolerated = settings.tolerance * held_primal.abs();
        if outcome == Epoch::Interrupted {
            // Without a repair the only lower bound is that of B = 0.
            trace.record(epochs, held_primal, 0.0, engine.active(), monitor);
            break (Status::Interrupted, held_primal, 0.0, bias);
        }
        let plain = outcome != Epoch::Still || !engine.stop_accelerating();
        let largest = bias
            .iter()
            .fold(1.0, |largest: f64, b| largest.max(b.abs()));
        let settled = engine
            .sum
            .iter()
            .all(|g| engine.sigma * g.abs() <= SETTLED * largest);
        let stuck = outcome == Epoch::Still && visited == all && plain && settled;
        let last = epochs == settings.max_epochs || stuck;
        let close = certificate.gap + shifted.abs() <= tolerated;
        if last || (close && epochs >= next_attempt) {
            let kept = (
                memory::copied(&engine.dual, Purpose::RowsByLabels),
                memory::copied(&engine.dual_terms, Purpose::Rows),
                engine.sum.clone(),
            );
            let attempt = certified(&mut engine, labels, capacity, &bias, threads, monitor);
            let reached = attempt.map(|(p, d)| relative_gap(p, d) <= settings.tolerance);
            if reached == Some(true) || last {
                let (p, d) = attempt.unwrap_or((held_primal, 0.0));
                trace.record(epochs, p, d, engine.active(), monitor);
                let quadratic = certificate.quadratic;
                let found = verdict(p, d, quadratic, settings.tolerance, || engine.rounding());
                let otherwise = if stuck {
                    Status::Stalled
                } else {
                    Status::MaxIterations
                };
                break (found.unwrap_or(otherwise), p, d, bias);
            }
            (engine.dual, engine.dual_terms, engine.sum) = kept;
            engine.scores.recompute(&engine.dual, threads, monitor);
            next_attempt = epochs + 1 + epochs / 5;
        }
        if outcome == Epoch::Still && visited == all {
            // Nothing moves at these biases: take larger steps until something does.
            engine.sigma = (engine.sigma * STILL_FACTOR).min(LARGEST_GROWTH * sigma);
        } else {
            engine.sigma = sigma.max(engine.sigma / STILL_FACTOR);
        }
        engine.choose_active(tolerated);
        trace.record(
            epochs,
            held_primal,
            held_primal - certificate.gap,
            engine.active(),
            monitor,
        );
        if monitor.interrupted() {
            if let Some(last) = trace.history.last_mut() {
                last.dual = 0.0;
            }
            break (Status::Interrupted, held_primal, 0.0, bias);
        }
        let moving = outcome != Epoch::Still && engine.active() > 0;
        if moving {
            engine.accelerate(epochs, held_primal - certificate.gap);
        } else {
            engine.wake_all();
        }
        engine.offset = centred(bias);
        if moving {
            let gap = (certificate.gap + shifted.abs()) / held_primal;
            epochs += engine.newton_step(epochs, held_primal - certificate.gap, gap, monitor);
        }
    };
    let report = Report {
        status,
        epochs,
        primal,
        dual,
        history: trace.history,
    };
    Component {
        dual: engine.dual,
        bias: centred(bias),
        report,
    }
}

/// Moves the engine to the repaired point and returns primal and dual objective there; `None` (at the old point) when
/// there is no repair.
fn certified<S: Scores, T: Step>(
    engine: &mut Engine<'_, S, T>,
    labels: &Labels,
    capacity: &[f64],
    bias: &[f64],
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Option<(f64, f64)> {
    let dual = repaired(labels, capacity, &engine.dual, &engine.sum, monitor)?;
    if !engine.scores.recompute(&dual, threads, monitor) {
        return None;
    }
    engine.dual_terms = hinge_dual_terms(labels, &dual);
    engine.dual = dual;
    let (offset, sigma) = (
        std::mem::replace(&mut engine.offset, bias.to_vec()),
        engine.sigma,
    );
    engine.sigma = 0.0;
    let Certificate {
        loss,
        dual_terms,
        quadratic,
        ..
    } = engine.certify();
    engine.offset = offset;
    engine.sigma = sigma;
    Some((0.5 * quadratic + loss, dual_terms - 0.5 * quadratic))
}
