//! The state of block coordinate ascent, epochs and certificates.

use super::chain::{Chain, Surroundings};
use super::leap::Leaps;
use super::shortlist::Shortlists;
use super::step::Step;
use crate::labels::Labels;
use crate::linalg::rows::Rows;
use crate::linalg::vector::axpy;
use crate::memory;
use crate::pairwise::loss::Loss;
use crate::pairwise::scores::{DenseScores, Moved, Scores};
use crate::parallel::threads::Threads;
use crate::report::{Monitor, ROUNDING, Settings, rounding_of};

/// Rows whose gap terms one chunk of work computes.
pub(super) const CHUNK: usize = 64;

/// Scores that a certificate holds at a time: few enough for the cache.
const CERTIFIED_SCORES: usize = 1 << 17;

/// Scores whose certificate is computed even for those who interrupt: well within the 100 ms they have to wait.
const PROMPT_ENTRIES: usize = 500_000;

/// Whether a certificate takes so long that an interrupted fit goes without one.
pub(crate) fn certifies_slowly(labels: &Labels) -> bool {
    labels.instances() * labels.count() > PROMPT_ENTRIES
}

/// Scores of the smallest problem whose epochs may go without a certificate: of linear features alone, where no kernel can
/// be indefinite.
const SCORES_FOR_ESTIMATES: usize = 1 << 23;

/// Most epochs in a row without a certificate.
const UNCERTIFIED: usize = 4;

/// How often the tolerated gap an estimate must be for an epoch without a certificate.
const FAR: f64 = 2.0;

/// Share of the tolerated gap that skipped instances may leave behind.
const SKIPPED_SHARE: f64 = 0.05;

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
    /// How far rounding may have moved these sums; of a part, the sizes of their terms together.
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
}

/// The state of block coordinate ascent.
pub(crate) struct Engine<'a, S: Scores, T: Step> {
    pub labels: &'a Labels,
    pub scores: &'a mut S,
    pub threads: &'a Threads,
    pub(super) settings: &'a Settings,
    pub(super) random: fastrand::Rng,
    pub(super) order: Vec<u32>,
    /// The hardest labels of the instances, as the last certificate found them.
    pub(super) shortlists: Option<Shortlists>,
    /// The gap that is good enough, by the last certificate.
    pub(super) tolerated: f64,
    /// The dual matrix `B`.
    pub dual: S::Dual,
    /// `g = sum_i v_i beta_i`
    pub sum: Vec<f64>,
    /// The constant part `b` of the scores.
    pub offset: Vec<f64>,
    /// The scores contain `sigma g`.
    pub sigma: f64,
    /// The bias `b + sigma g` enters the scores of instance `i` `v_i` times, and `g = sum_i v_i beta_i`: 1 but where a
    /// [`crate::pairwise::scores::Direction`] has a multiplier.
    pub(super) factors: Vec<f64>,
    pub(super) leaps: Leaps,
    /// `D_i` of every instance.
    pub dual_terms: Vec<f64>,
    /// Gap term of every instance.
    pub(super) gaps: Vec<f64>,
    pub(super) chains: Vec<Chain<T>>,
    joined: Joined,
    epochs: usize,
    /// Epochs since the last certificate.
    uncertified: usize,
    /// Whether an epoch may go without a certificate: whoever runs the epochs says so.
    pub may_estimate: bool,
}

/// Epochs in which a chain visits its instances once: easy problems need no more.
const SINGLE_EPOCHS: usize = 2;

/// Most multiply-adds of all passes over a chain, so that an interruption is answered promptly.
const INSIDE: usize = 200_000_000;

/// The moves of all chains.
#[derive(Default)]
struct Joined {
    instances: Vec<u32>,
    changes: Vec<f64>,
}

/// The sums of the dual variables of each instance, which are the hinge's dual terms.
pub(crate) fn hinge_dual_terms(labels: &Labels, dual: &[f64]) -> Vec<f64> {
    let terms = dual
        .chunks_exact(labels.count())
        .enumerate()
        .map(|(i, row)| labels.sum_of_pairs(i, row));
    terms.collect()
}

/// `sum_i v_i beta_i`, and whether all `beta_i` are 0.
pub(crate) fn weighted_sum<R: Rows>(dual: &R, factors: &[f64], q: usize) -> (Vec<f64>, bool) {
    let (mut sum, mut zero, mut buffer) = (vec![0.0; q], true, Vec::new());
    for (i, &factor) in factors.iter().enumerate() {
        let row = dual.row(i, q, &mut buffer);
        zero &= row.iter().all(|&beta| beta == 0.0);
        axpy(factor, row, &mut sum);
    }
    (sum, zero)
}

/// How an epoch went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Epoch {
    /// Some block moved.
    Moved,
    /// Every visited block stood still; others were skipped.
    Still,
    /// Every block stood still.
    Unmoved,
    /// The monitor asked to stop.
    Interrupted,
}

impl Epoch {
    /// Whether no block that was visited moved.
    pub fn is_still(self) -> bool {
        matches!(self, Self::Still | Self::Unmoved)
    }
}

/// Scores of the smallest problem that is solved by several chains.
const SCORES_FOR_CHAINS: usize = 100_000;

/// What it takes to go back to a point.
pub(crate) struct Snapshot<S: Scores> {
    /// The dual matrix.
    pub dual: S::Dual,
    dual_terms: Vec<f64>,
    gaps: Vec<f64>,
    sum: Vec<f64>,
    offset: Vec<f64>,
    state: Vec<S::Number>,
}

/// Share of an epoch's joint moves that may overshoot; beyond it half as many chains go on.
const SPOILT_SHARE: f64 = 0.05;

fn chains<S: Scores, T: Step>(step: T, scores: &S, settings: &Settings) -> Vec<Chain<T>> {
    let count = match settings.chains {
        0 if settings.block_size > 0 => 1,
        0 if scores.instances() * scores.labels() < SCORES_FOR_CHAINS => 1,
        0 => S::CHAINS,
        // Further chains would have no instance to move.
        count => count.min(scores.instances()).max(1),
    };
    let others: Vec<T> = (1..count).map_while(|_| step.fork()).collect();
    std::iter::once(step)
        .chain(others)
        .map(Chain::new)
        .collect()
}

impl<'a, S: Scores, T: Step> Engine<'a, S, T> {
    /// Starts at a dual matrix whose scores are already in `scores`.
    pub fn new(
        labels: &'a Labels,
        scores: &'a mut S,
        step: T,
        dual: S::Dual,
        sigma: f64,
        threads: &'a Threads,
        settings: &'a Settings,
    ) -> Self {
        let (n, q) = (labels.instances(), labels.count());
        let chains = chains(step, scores, settings);
        let factors = match scores.direction() {
            Some(direction) => direction.factors.to_vec(),
            None => vec![1.0; n],
        };
        let (sum, at_zero) = weighted_sum(&dual, &factors, q);
        Self {
            order: (0..n as u32)
                .filter(|&i| labels.has_pairs(i as usize))
                .collect(),
            labels,
            scores,
            threads,
            settings,
            random: fastrand::Rng::with_seed(settings.seed),
            sum,
            factors,
            offset: vec![0.0; q],
            sigma,
            leaps: Leaps::default(),
            // The dual terms of a given start are unknown until its blocks have been visited.
            dual_terms: if at_zero {
                vec![0.0; n]
            } else {
                vec![f64::NEG_INFINITY; n]
            },
            dual,
            gaps: vec![0.0; n],
            chains,
            joined: Joined::default(),
            shortlists: None,
            tolerated: 0.0,
            epochs: 0,
            uncertified: 0,
            may_estimate: false,
        }
    }

    /// The loss of the problem.
    pub fn loss(&self) -> &T::Loss {
        self.chains[0].loss()
    }

    /// `b + sigma g`, the bias that the current scores contain.
    pub fn bias(&self) -> Vec<f64> {
        self.offset
            .iter()
            .zip(&self.sum)
            .map(|(b, g)| b + self.sigma * g)
            .collect()
    }

    /// `sum_i beta_i`
    pub fn sum_of_rows(&self) -> Vec<f64> {
        let ones = vec![1.0; self.factors.len()];
        weighted_sum(&self.dual, &ones, self.labels.count()).0
    }

    /// Number of instances that the next epoch visits.
    pub fn active(&self) -> usize {
        self.order.len()
    }

    /// Visits every active instance once.
    pub fn epoch(&mut self, monitor: &mut dyn Monitor) -> Epoch {
        if self.settings.shuffle {
            self.random.shuffle(&mut self.order);
            if self.repeats() && self.epochs.is_multiple_of(2) {
                self.join_neighbours();
            }
        }
        if let Some(outcome) = self.visit_hardest(monitor) {
            self.epochs += 1;
            // Visits among some labels meet no gap terms of the problem, so that a certificate has to follow.
            self.uncertified = UNCERTIFIED;
            return outcome;
        }
        // How far the chains' joint move goes is judged by dual terms.
        let unknown = self.epochs == 0 && self.dual_terms.contains(&f64::NEG_INFINITY);
        let chains = if unknown { 1 } else { self.chains.len() };
        let length = self.chain_length();
        let order = std::mem::take(&mut self.order);
        let everybody = (0..self.labels.instances()).filter(|&i| self.labels.has_pairs(i));
        let mut outcome = if order.len() == everybody.count() {
            Epoch::Unmoved
        } else {
            Epoch::Still
        };
        let (mut blocks, mut spoilt) = (0, 0);
        for block in order.chunks(length.saturating_mul(chains).max(1)) {
            if monitor.interrupted() {
                outcome = Epoch::Interrupted;
                break;
            }
            // The first epoch is made in any case, of each component of a problem.
            if self.epochs > 0 && monitor.out_of_time() {
                // The rest of the blocks might have moved.
                outcome = Epoch::Moved;
                break;
            }
            if let Some(step_length) = self.visit(block, length) {
                outcome = Epoch::Moved;
                spoilt += usize::from(step_length < 1.0);
            }
            blocks += 1;
        }
        if spoilt as f64 > SPOILT_SHARE * blocks as f64 {
            self.chains.truncate(chains / 2);
        }
        self.order = order;
        self.epochs += 1;
        outcome
    }

    /// Solves the instances of a block in chains of a given length. Returns how far they went along their joint move,
    /// if there was any.
    fn visit(&mut self, block: &[u32], length: usize) -> Option<f64> {
        let count = block.len().div_ceil(length);
        self.run_chains(block, length, count);
        let Joined { instances, changes } = &mut self.joined;
        instances.clear();
        changes.clear();
        for chain in &self.chains[..count] {
            instances.extend_from_slice(&chain.moved);
            changes.extend_from_slice(&chain.changes);
        }
        let moved = !instances.is_empty();
        let step_length = if moved { self.close(count) } else { 1.0 };
        for (chain, part) in self.chains.iter().zip(block.chunks(length)) {
            for (&i, &gap) in part.iter().zip(&chain.gaps) {
                self.gaps[i as usize] = gap;
            }
            for (&i, &term) in part.iter().zip(&chain.terms) {
                let old = &mut self.dual_terms[i as usize];
                *old = if step_length < 1.0 {
                    *old + step_length * (term - *old)
                } else {
                    term
                };
            }
        }
        self.move_rows(count, step_length);
        moved.then_some(step_length)
    }

    fn run_chains(&mut self, block: &[u32], length: usize, count: usize) {
        let shift = self.bias();
        let around = Surroundings {
            labels: self.labels,
            scores: &*self.scores,
            dual: &self.dual,
            dual_terms: &self.dual_terms,
            shift: &shift,
            sigma: self.sigma,
            factors: &self.factors,
            joint: count > 1,
            passes: self.passes(length),
            estimates: self.estimates(),
        };
        self.threads
            .for_each_chunk(&mut self.chains[..count], 1, |index, chain| {
                let end = block.len().min((index + 1) * length);
                chain[0].run(&around, &block[index * length..end]);
            });
    }

    /// Whether the next epoch solves each chain's instances several times: not in the first epochs, which suffice for
    /// easy problems, and not where chains run at the same time.
    fn repeats(&self) -> bool {
        let free = self.settings.acceleration && self.settings.block_size == 0;
        free && T::PASSES > 1 && self.chains.len() == 1 && self.epochs >= SINGLE_EPOCHS
    }

    /// Makes chains of an instance each and those that it has the largest kernel values with: solved several times in a row,
    /// they settle among themselves what they would else need epochs for. Every second order is left as it is, for what
    /// such chains never settle.
    fn join_neighbours(&mut self) {
        let length = self.chain_length();
        let mut rest = &mut *self.order;
        while rest.len() > length && length > 1 {
            let Some(row) = self.scores.stored_row(rest[0]) else {
                return;
            };
            let size = |i: &u32| row[*i as usize].abs();
            rest[1..].select_nth_unstable_by(length - 2, |i, j| size(j).total_cmp(&size(i)));
            rest = &mut rest[length..];
        }
    }

    /// Number of instances in a chain.
    fn chain_length(&self) -> usize {
        match self.settings.block_size {
            0 => self.scores.chain_length(),
            size => size,
        }
    }

    /// How often a chain of so many instances may solve them.
    fn passes(&self, length: usize) -> usize {
        if self.repeats() {
            (INSIDE / (length * length * self.labels.count())).clamp(1, T::PASSES)
        } else {
            1
        }
    }

    /// Tells all scores of the joint move. Returns how far it goes.
    fn close(&mut self, count: usize) -> f64 {
        let Joined { instances, changes } = &self.joined;
        self.scores
            .close(Moved { instances, changes }, self.threads);
        let step_length = if count > 1 {
            self.joint_step(count)
        } else {
            1.0
        };
        if step_length < 1.0 {
            let Joined { instances, changes } = &mut self.joined;
            let back = step_length - 1.0;
            changes.iter_mut().for_each(|change| *change *= back);
            self.scores
                .close(Moved { instances, changes }, self.threads);
        }
        step_length
    }

    /// Moves the rows of `B`.
    fn move_rows(&mut self, count: usize, step_length: f64) {
        let (q, mut buffer) = (self.labels.count(), Vec::new());
        for chain in &self.chains[..count] {
            let moves = chain
                .rows
                .chunks_exact(q)
                .zip(chain.changes.chunks_exact(q));
            for (&i, (new, change)) in chain.moved.iter().zip(moves) {
                self.dual.change(i as usize, q, &mut buffer, |row| {
                    if step_length < 1.0 {
                        axpy(step_length, change, row);
                    } else {
                        row.copy_from_slice(new);
                    }
                });
                let factor = step_length * self.factors[i as usize];
                axpy(factor, change, &mut self.sum);
            }
        }
    }

    /// How far to go along the joint move of the first `count` chains, which is done: all the way, unless they have
    /// overshot; then to the best point of the way, as estimated from the probes.
    fn joint_step(&mut self, count: usize) -> f64 {
        let Joined { instances, changes } = &self.joined;
        let mut sum = vec![0.0; self.sum.len()];
        for (&i, change) in instances.iter().zip(changes.chunks_exact(sum.len())) {
            axpy(self.factors[i as usize], change, &mut sum);
        }
        let (scores, sigma, factors) = (&*self.scores, self.sigma, &*self.factors);
        let chains = &mut self.chains[..count];
        self.threads.for_each_chunk(chains, 1, |_, chain| {
            chain[0].measure(scores, &sum, sigma, factors);
        });
        let (mut slope, mut secured, mut curvature) = (0.0, 0.0, 0.0);
        for probes in chains.iter().map(|chain| chain.probes()) {
            slope += probes.slope;
            secured += probes.secured;
            curvature += probes.curvature;
        }
        if slope - 0.5 * curvature < 0.5 * secured {
            (slope / curvature).clamp(0.0, 1.0)
        } else {
            1.0
        }
    }

    /// Whether visits note the gap terms of their instances, so that not each epoch needs a certificate.
    fn estimates(&self) -> bool {
        self.may_estimate
            && S::WEIGHTS
            && self.labels.instances() * self.labels.count() >= SCORES_FOR_ESTIMATES
    }

    /// Whether the gap, by the terms that the visits of the last epoch have met, is so far above the `tolerated` one that
    /// a certificate can wait.
    pub fn is_far(&mut self, tolerated: f64) -> bool {
        let far = self.estimates()
            && self.epochs > 1
            && self.uncertified < UNCERTIFIED
            && self.gap() > FAR * tolerated;
        self.uncertified += usize::from(far);
        far
    }

    /// Computes every instance's gap term at the current scores.
    pub fn certify(&mut self) -> Certificate {
        self.uncertified = 0;
        self.shortlists = None;
        let by_hard_labels = self.has_shortlists().then(|| self.certify_hard_labels());
        let mut total = match by_hard_labels.flatten() {
            Some(certificate) => certificate,
            None => self.certify_all(),
        };
        let (n, q) = (self.labels.instances(), self.labels.count());
        total.rounding = rounding_of(total.rounding, q + CHUNK + n.div_ceil(CHUNK));
        total
    }

    /// The certificate by the scores of all labels.
    fn certify_all(&mut self) -> Certificate {
        let q = self.labels.count();
        let (labels, loss, bias) = (self.labels, self.chains[0].loss(), self.bias());
        let (scores, dual, dual_terms) = (&*self.scores, &self.dual, &self.dual_terms);
        let factors = &*self.factors;
        let parts = self
            .threads
            .map_chunks(&mut self.gaps, CHUNK, |chunk, gaps| {
                let together = (CERTIFIED_SCORES / q.max(1)).clamp(1, gaps.len());
                let mut rows = memory::matrix(together, q);
                let (mut scratch, mut of_dual) = (Vec::new(), Vec::new());
                let mut gathered = vec![0.0; q];
                let mut part = Certificate::default();
                let mut first = chunk * CHUNK;
                for gaps in gaps.chunks_mut(together) {
                    let rows = &mut rows[..gaps.len() * q];
                    let instances: Vec<u32> = (first as u32..(first + gaps.len()) as u32).collect();
                    scores.rows(&instances, rows, &mut scratch);
                    for ((i, gap), row) in
                        (first..).zip(gaps.iter_mut()).zip(rows.chunks_exact_mut(q))
                    {
                        if !labels.has_pairs(i) {
                            continue;
                        }
                        let (mut quadratic, mut linear, mut size) = (0.0, 0.0, 0.0);
                        let block = dual.row(i, q, &mut of_dual);
                        for ((score, beta), b) in row.iter_mut().zip(block).zip(&bias) {
                            quadratic += *score * beta;
                            let shift = factors[i] * b;
                            size += (score.abs() + shift.abs()) * beta.abs();
                            *score += shift;
                            linear += *score * beta;
                        }
                        let known = labels.gather(i, row, &mut gathered);
                        let phi = labels.weight(i) * loss.value(known, labels.pairs_of(i));
                        *gap = phi - dual_terms[i] + linear;
                        part.loss += phi;
                        part.dual_terms += dual_terms[i];
                        part.quadratic += quadratic;
                        part.gap += *gap;
                        part.rounding += size + phi + dual_terms[i].abs();
                    }
                    first += gaps.len();
                }
                part
            });
        let mut total = Certificate::default();
        parts.iter().for_each(|part| total.add(part));
        total
    }

    /// The sum of the instances' gap terms, as last certified or met by a visit.
    pub fn gap(&self) -> f64 {
        self.gaps.iter().sum()
    }

    /// Chooses the instances of the next epoch: those whose gap terms matter for a gap of `tolerated`.
    pub fn choose_active(&mut self, tolerated: f64) {
        if !self.settings.shrinking {
            return;
        }
        let n = self.labels.instances();
        self.tolerated = tolerated;
        let negligible = SKIPPED_SHARE * tolerated / n.max(1) as f64;
        self.order.clear();
        let (labels, gaps) = (self.labels, &self.gaps);
        self.order.extend(
            (0..n as u32)
                .filter(|&i| labels.has_pairs(i as usize) && gaps[i as usize] > negligible),
        );
    }

    /// A bound on the rounding of `<B, K B>`.
    pub fn rounding(&self) -> f64 {
        self.scores.rounding(&self.dual)
    }

    /// What the rounding of the scores makes of the objectives.
    pub fn rounding_of_scores(&self) -> f64 {
        let size = self.scores.size(&self.dual);
        rounding_of(size * size, self.labels.count() + CHUNK)
    }

    /// How far rounding may move the objective of a linear model past the bound of this point.
    pub fn rounding_of_model(&self, primal: f64) -> f64 {
        // Its weights are no longer than the root of twice the objective.
        let of_scores = (2.0 * primal).sqrt() * self.scores.size(&self.dual);
        rounding_of(primal + of_scores, self.labels.count() + CHUNK)
    }

    /// Computes the scores anew from the dual matrix; `false` (and no change but by rounding) when interrupted.
    pub fn recompute(&mut self, monitor: &mut dyn Monitor) -> bool {
        let done = self.scores.refresh(&self.dual, self.threads, monitor);
        if done {
            self.sum = weighted_sum(&self.dual, &self.factors, self.labels.count()).0;
        }
        done
    }

    /// Whether a dual objective shows that the problem has no minimum; then the primal objective of `B = 0`. Only a box
    /// keeps the dual of an indefinite kernel bounded. With any other kernel no dual objective exceeds a primal one. What
    /// has overflowed compares with nothing.
    pub fn diverged(&self, dual: f64) -> Option<f64> {
        if T::Loss::BOX {
            return None;
        }
        let at_zero = self.objective_at_zero();
        let bounded = dual <= (1.0 + ROUNDING) * at_zero;
        (!bounded).then_some(at_zero)
    }

    /// The primal objective of `B = 0`.
    pub fn objective_at_zero(&self) -> f64 {
        let of_one_pair = self.loss().of_margin(0.0);
        (0..self.labels.instances())
            .map(|i| self.labels.weight_of_pairs_of(i) * of_one_pair)
            .sum()
    }

    /// Moves to `B = 0`, without a bias.
    pub fn move_to_zero(&mut self, monitor: &mut dyn Monitor) {
        let (n, q) = (self.labels.instances(), self.labels.count());
        self.dual = S::Dual::zeros(n, q);
        self.sum.fill(0.0);
        self.offset.fill(0.0);
        self.scores.recompute(&self.dual, self.threads, monitor);
    }

    /// A copy of the present point.
    pub fn snapshot(&mut self) -> Snapshot<S> {
        Snapshot {
            dual: self.dual.copied(),
            dual_terms: self.dual_terms.to_vec(),
            gaps: self.gaps.to_vec(),
            sum: self.sum.clone(),
            offset: self.offset.clone(),
            state: memory::copied(self.scores.state()),
        }
    }

    /// Goes back to a point.
    pub fn restore(&mut self, point: &Snapshot<S>) {
        self.dual = point.dual.copied();
        self.dual_terms.copy_from_slice(&point.dual_terms);
        self.gaps.copy_from_slice(&point.gaps);
        self.sum.copy_from_slice(&point.sum);
        self.offset.copy_from_slice(&point.offset);
        self.scores.state().copy_from_slice(&point.state);
    }

    /// Forgets the way to the present point: it has been moved by something else than the block steps.
    pub fn restart(&mut self) {
        // A list has all labels with a dual variable of the point that it was noted at, and no other's.
        self.shortlists = None;
        for chain in &mut self.chains {
            chain.restart();
        }
        self.wake_all();
    }

    /// Epochs so far.
    pub fn epochs(&self) -> usize {
        self.epochs
    }

    /// Makes every instance active again.
    pub fn wake_all(&mut self) {
        self.order.clear();
        let labels = self.labels;
        self.order
            .extend((0..labels.instances() as u32).filter(|&i| labels.has_pairs(i as usize)));
    }
}

impl<S: DenseScores, T: Step> Engine<'_, S, T> {
    /// The scores of all instances, without the bias.
    pub fn all_scores(&self) -> Vec<f64> {
        self.scores.all(self.threads)
    }
}
