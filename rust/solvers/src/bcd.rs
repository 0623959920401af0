//! The engine of the pairwise family: block coordinate ascent in the dual, one exact proximal step an instance.
//!
//! ```text
//! primal   min over W, b   1/2 sum_k ||w_k||^2 + sum_i phi_i(f(x_i)),   phi_i(s) = c_i sum_{m,n} loss(s_m - s_n)
//! dual     max over B      sum_i D_i(beta_i) - 1/2 <B, K B>,            D_i(beta) = -phi_i^*(-beta)
//! ```
//!
//! `B` (`n x q`) is all that the model needs of the dual variables of the pairs (000, eq. 21), so no pair is ever
//! stored. With the other instances held, the block of instance `i` is solved exactly by one proximal map: with
//! `kappa = K_ii`, current scores `s` and `v = s - kappa beta_i`,
//!
//! ```text
//! s_new = argmin 1/(2 kappa) ||s - v||^2 + phi_i(s),    beta_i = (s_new - v) / kappa,    D_i = phi_i(s_new) + <beta_i, s_new>
//! ```
//!
//! Every instance owns one term of the duality gap, `phi_i(s_i) - D_i + <beta_i, s_i> >= 0`. Their sum is the stop
//! rule and the certificate; an instance whose term is negligible is skipped in the next epoch (all terms are
//! computed anew after each epoch, so nobody is skipped for good).
//!
//! Biases: none (`K`), penalized (`K + 1`, the features of paper 002 with an appended 1), and free (000, eq. 18) through
//! the augmented Lagrangian of [`crate::free_bias`], which sees the scores `F + sigma g + b` with `g = sum_i beta_i`.

use crate::acceleration::{Anchor, PATIENCE};
use crate::labels::Labels;
use crate::loss::Loss;
use crate::report::{
    Monitor, Report, Settings, Solution, SolverError, Status, Trace, relative_gap,
};
use crate::scores::{Moved, Scores};
use crate::threads::Threads;
use crate::vector::axpy;

/// Rows whose gap terms one chunk of work computes.
const CHUNK: usize = 64;

/// Scores whose certificate is computed even for those who interrupt: well within the 100 ms they have to wait.
const PROMPT_ENTRIES: usize = 500_000;

/// Share of the tolerated gap that skipped instances may leave behind.
const SKIPPED_SHARE: f64 = 0.05;

/// One instance's block of the dual, with the relevant labels first.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// The instance `i`.
    pub instance: usize,
    /// Number of relevant labels `p_i`.
    pub relevant: usize,
    /// Weight `c_i` of each pair.
    pub weight: f64,
    /// Curvature `kappa = K_ii` (with the bias term).
    pub kappa: f64,
    /// Current scores.
    pub scores: &'a [f64],
    /// Current dual block `beta_i`.
    pub dual: &'a [f64],
}

/// A way to improve one instance's block: exactly ([`Proximal`]) or one pair at a time ([`crate::dcd::OnePair`]).
pub trait Step {
    /// The loss of the problem.
    type Loss: Loss;

    /// The loss of the problem.
    fn loss(&self) -> &Self::Loss;

    /// Writes the new block `beta_i` and returns its dual term `D_i`.
    fn step(&mut self, block: Block<'_>, dual: &mut [f64]) -> f64;
}

/// The exact block step by the loss's proximal map.
#[derive(Clone, Debug, Default)]
pub struct Proximal<L: Loss> {
    loss: L,
    workspace: L::Workspace,
    centre: Vec<f64>,
    displacement: Vec<f64>,
}

impl<L: Loss> Proximal<L> {
    /// Steps for a loss.
    pub fn new(loss: L) -> Self {
        Self {
            loss,
            workspace: L::Workspace::default(),
            centre: Vec::new(),
            displacement: Vec::new(),
        }
    }
}

/// The dual block of scores that the block cannot move (`kappa = 0`): a negative subgradient of `phi_i`.
pub(crate) fn negative_gradient<L: Loss>(loss: &L, block: &Block<'_>, dual: &mut [f64]) {
    dual.fill(0.0);
    for m in 0..block.relevant {
        for n in block.relevant..dual.len() {
            let alpha = block.weight * loss.negative_slope(block.scores[m] - block.scores[n]);
            dual[m] += alpha;
            dual[n] -= alpha;
        }
    }
}

impl<L: Loss> Step for Proximal<L> {
    type Loss = L;

    fn loss(&self) -> &L {
        &self.loss
    }

    fn step(&mut self, block: Block<'_>, dual: &mut [f64]) -> f64 {
        let Block {
            relevant,
            weight,
            kappa,
            scores,
            ..
        } = block;
        if kappa <= 0.0 {
            negative_gradient(&self.loss, &block, dual);
            return self
                .loss
                .dual_value(dual, scores, relevant, weight, &mut self.workspace);
        }
        self.centre.clear();
        self.centre.extend(
            scores
                .iter()
                .zip(block.dual)
                .map(|(s, beta)| s - kappa * beta),
        );
        self.displacement.resize(scores.len(), 0.0);
        self.loss.prox(
            &self.centre,
            scores,
            &mut self.displacement,
            relevant,
            kappa * weight,
            &mut self.workspace,
        );
        for ((beta, centre), displacement) in dual
            .iter_mut()
            .zip(&mut self.centre)
            .zip(&self.displacement)
        {
            *beta = displacement / kappa;
            *centre += displacement;
        }
        self.loss
            .dual_value(dual, &self.centre, relevant, weight, &mut self.workspace)
    }
}

/// The sums that make up the primal and the dual objective.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Certificate {
    /// `sum_i phi_i(s_i)`
    pub loss: f64,
    /// `sum_i D_i`
    pub dual_terms: f64,
    /// `<B, K B>`, without any bias term.
    pub quadratic: f64,
    /// The sum of the instances' gap terms.
    pub gap: f64,
}

/// The state of block coordinate ascent.
pub(crate) struct Engine<'a, S: Scores, T: Step> {
    labels: &'a Labels,
    pub scores: &'a mut S,
    step: &'a mut T,
    threads: &'a Threads,
    settings: &'a Settings,
    random: fastrand::Rng,
    order: Vec<u32>,
    /// The dual matrix `B`.
    pub dual: Vec<f64>,
    /// `g = sum_i beta_i`
    pub sum: Vec<f64>,
    /// The constant part `b` of the scores.
    pub offset: Vec<f64>,
    /// The scores contain `sigma g`.
    pub sigma: f64,
    anchor: Option<Anchor>,
    /// `D_i` of every instance.
    pub dual_terms: Vec<f64>,
    /// Gap term of every instance.
    gaps: Vec<f64>,
    buffers: Buffers,
}

#[derive(Default)]
struct Buffers {
    scores: Vec<f64>,
    kernel: Vec<f64>,
    changes: Vec<f64>,
    shift: Vec<f64>,
    gathered_scores: Vec<f64>,
    gathered_dual: Vec<f64>,
    new_dual: Vec<f64>,
    moved: Vec<u32>,
}

/// How an epoch went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Epoch {
    /// Some block moved.
    Moved,
    /// Every visited block stood still.
    Still,
    /// The monitor asked to stop.
    Interrupted,
}

impl<'a, S: Scores, T: Step> Engine<'a, S, T> {
    /// Starts at a dual matrix whose scores are already in `scores`.
    pub fn new(
        labels: &'a Labels,
        scores: &'a mut S,
        step: &'a mut T,
        dual: Vec<f64>,
        sigma: f64,
        threads: &'a Threads,
        settings: &'a Settings,
    ) -> Self {
        let (n, q) = (labels.instances(), labels.count());
        let mut sum = vec![0.0; q];
        for row in dual.chunks_exact(q) {
            axpy(1.0, row, &mut sum);
        }
        Self {
            order: (0..n as u32)
                .filter(|&i| labels.has_pairs(i as usize))
                .collect(),
            labels,
            scores,
            step,
            threads,
            settings,
            random: fastrand::Rng::with_seed(settings.seed),
            sum,
            offset: vec![0.0; q],
            sigma,
            anchor: None,
            // The dual terms of a given start are unknown until its blocks have been visited.
            dual_terms: if dual.iter().all(|&beta| beta == 0.0) {
                vec![0.0; n]
            } else {
                vec![f64::NEG_INFINITY; n]
            },
            dual,
            gaps: vec![0.0; n],
            buffers: Buffers::default(),
        }
    }

    /// `b + sigma g`, the bias that the current scores contain.
    pub fn bias(&self) -> Vec<f64> {
        self.offset
            .iter()
            .zip(&self.sum)
            .map(|(b, g)| b + self.sigma * g)
            .collect()
    }

    /// Number of instances that the next epoch visits.
    pub fn active(&self) -> usize {
        self.order.len()
    }

    /// Visits every active instance once.
    pub fn epoch(&mut self, monitor: &mut dyn Monitor) -> Epoch {
        if self.settings.shuffle {
            self.random.shuffle(&mut self.order);
        }
        let size = match self.settings.block_size {
            0 => self.scores.block_size(),
            size => size,
        };
        let order = std::mem::take(&mut self.order);
        let mut outcome = Epoch::Still;
        for block in order.chunks(size) {
            if monitor.interrupted() {
                outcome = Epoch::Interrupted;
                break;
            }
            if self.visit(block) {
                outcome = Epoch::Moved;
            }
        }
        self.order = order;
        outcome
    }

    /// Solves the instances of a block in turn; whether any moved.
    fn visit(&mut self, block: &[u32]) -> bool {
        let (q, count) = (self.labels.count(), block.len());
        let buffers = &mut self.buffers;
        buffers.scores.resize(count * q, 0.0);
        buffers.kernel.resize(count * count, 0.0);
        buffers.gathered_scores.resize(q, 0.0);
        buffers.gathered_dual.resize(q, 0.0);
        buffers.new_dual.resize(q, 0.0);
        buffers.changes.clear();
        buffers.moved.clear();
        self.scores.open(
            block,
            &mut buffers.scores,
            &mut buffers.kernel,
            self.threads,
        );
        buffers.shift.clear();
        buffers.shift.extend(
            self.offset
                .iter()
                .zip(&self.sum)
                .map(|(b, g)| b + self.sigma * g),
        );

        for (k, &instance) in block.iter().enumerate() {
            let i = instance as usize;
            let (current, later) = buffers.scores[k * q..].split_at_mut(q);
            for (score, shift) in current.iter_mut().zip(&buffers.shift) {
                *score += shift;
            }
            let row = &mut self.dual[i * q..(i + 1) * q];
            let rho = match &self.anchor {
                Some(anchor) => {
                    let point = &anchor.point[i * q..(i + 1) * q];
                    for ((score, beta), a) in current.iter_mut().zip(row.iter()).zip(point) {
                        *score += anchor.rho * (beta - a);
                    }
                    anchor.rho
                }
                None => 0.0,
            };
            self.labels.gather(i, current, &mut buffers.gathered_scores);
            self.labels.gather(i, row, &mut buffers.gathered_dual);
            let solved = Block {
                instance: i,
                relevant: self.labels.relevant(i).len(),
                weight: self.labels.weight(i),
                kappa: self.scores.diagonal()[i] + self.sigma + rho,
                scores: &buffers.gathered_scores,
                dual: &buffers.gathered_dual,
            };
            self.dual_terms[i] = self.step.step(solved, &mut buffers.new_dual);
            if buffers.new_dual == buffers.gathered_dual {
                continue;
            }
            let first = buffers.changes.len();
            buffers.moved.push(instance);
            buffers.changes.resize(first + q, 0.0);
            let change = &mut buffers.changes[first..];
            self.labels.scatter(i, &buffers.new_dual, change);
            for (change, beta) in change.iter_mut().zip(row.iter_mut()) {
                let new = *change;
                *change -= *beta;
                *beta = new;
            }
            axpy(1.0, change, &mut self.sum);
            axpy(self.sigma, change, &mut buffers.shift);
            let kernel = &buffers.kernel[k * count + k + 1..(k + 1) * count];
            for (scores, &value) in later.chunks_exact_mut(q).zip(kernel) {
                if value != 0.0 {
                    axpy(value, change, scores);
                }
            }
        }
        if buffers.moved.is_empty() {
            return false;
        }
        self.scores.close(
            Moved {
                instances: &buffers.moved,
                changes: &buffers.changes,
            },
            self.threads,
        );
        true
    }

    /// Whether a certificate takes so long that whoever interrupts does not get one.
    pub fn certifies_slowly(&self) -> bool {
        self.labels.instances() * self.labels.count() > PROMPT_ENTRIES
    }

    /// Computes every instance's gap term at the current scores.
    pub fn certify(&mut self) -> Certificate {
        let q = self.labels.count();
        let (labels, loss, bias) = (self.labels, self.step.loss(), self.bias());
        let (scores, dual, dual_terms) = (&*self.scores, &self.dual, &self.dual_terms);
        let parts = self
            .threads
            .map_chunks(&mut self.gaps, CHUNK, |chunk, gaps| {
                let mut rows = vec![0.0; gaps.len() * q];
                let mut gathered = vec![0.0; q];
                let mut workspace = <T::Loss as Loss>::Workspace::default();
                let first = chunk * CHUNK;
                scores.rows(first..first + gaps.len(), &mut rows);
                let mut part = Certificate::default();
                for (offset, (gap, row)) in
                    gaps.iter_mut().zip(rows.chunks_exact_mut(q)).enumerate()
                {
                    let i = first + offset;
                    if !labels.has_pairs(i) {
                        continue;
                    }
                    let (mut quadratic, mut linear) = (0.0, 0.0);
                    for ((score, beta), b) in
                        row.iter_mut().zip(&dual[i * q..(i + 1) * q]).zip(&bias)
                    {
                        quadratic += *score * beta;
                        *score += b;
                        linear += *score * beta;
                    }
                    labels.gather(i, row, &mut gathered);
                    let phi = labels.weight(i)
                        * loss.value(&gathered, labels.relevant(i).len(), &mut workspace);
                    *gap = phi - dual_terms[i] + linear;
                    part.loss += phi;
                    part.dual_terms += dual_terms[i];
                    part.quadratic += quadratic;
                    part.gap += *gap;
                }
                part
            });
        let mut total = Certificate::default();
        for part in parts {
            total.loss += part.loss;
            total.dual_terms += part.dual_terms;
            total.quadratic += part.quadratic;
            total.gap += part.gap;
        }
        total
    }

    /// Chooses the instances of the next epoch: those whose gap terms matter for a gap of `tolerated`.
    pub fn choose_active(&mut self, tolerated: f64) {
        if !self.settings.shrinking {
            return;
        }
        let n = self.labels.instances();
        let negligible = SKIPPED_SHARE * tolerated / n.max(1) as f64;
        self.order.clear();
        let (labels, gaps) = (self.labels, &self.gaps);
        self.order.extend(
            (0..n as u32)
                .filter(|&i| labels.has_pairs(i as usize) && gaps[i as usize] > negligible),
        );
    }

    /// After `epochs` epochs with the given dual objective: sets in or advances the acceleration.
    pub fn accelerate(&mut self, epochs: usize, objective: f64) {
        if let Some(anchor) = &mut self.anchor {
            anchor.after_epoch(&self.dual, objective);
        } else if self.settings.acceleration && epochs >= PATIENCE {
            let n = self.labels.instances().max(1) as f64;
            let rho = self.scores.diagonal().iter().sum::<f64>() / n + self.sigma;
            if rho > 0.0 {
                self.anchor = Some(Anchor::new(rho, &self.dual, objective));
            }
        }
    }

    /// Ends the acceleration; whether there was one.
    pub fn stop_accelerating(&mut self) -> bool {
        self.anchor.take().is_some()
    }

    /// Makes every instance active again.
    pub fn wake_all(&mut self) {
        self.order.clear();
        let labels = self.labels;
        self.order
            .extend((0..labels.instances() as u32).filter(|&i| labels.has_pairs(i as usize)));
    }
}

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
    step: &mut T,
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
        let indefinite =
            certificate.quadratic < -1e-9 * primal.abs() || gap < -1e-9 || !gap.is_finite();
        if outcome == Epoch::Interrupted {
            break status = Status::Interrupted;
        }
        if indefinite {
            status = Status::IndefiniteKernel;
        } else if gap <= settings.tolerance {
            break status = Status::Converged;
        } else {
            status = Status::MaxIterations;
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
    match start {
        None => Ok(Some(vec![0.0; n * q])),
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
