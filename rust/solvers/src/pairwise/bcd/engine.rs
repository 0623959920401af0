//! Epochs of block coordinate ascent on an iterate: which instances are visited, in which order and how often.

use super::certificate::Certificate;
use super::chain::Chain;
use super::iterate::{Checkpoint, Iterate, Moves};
use super::shortlist::Shortlists;
use super::step::Step;
use crate::labels::Labels;
use crate::memory::Number;
use crate::pairwise::loss::{Loss, prompt_rows};
use crate::pairwise::scores::{KernelValues, Scores};
use crate::parallel::threads::CHUNK;
use crate::report::{Monitor, ROUNDING, Settings, rounding_of};

/// Scores whose certificate is computed even after an interruption: it takes well under 100 ms.
const PROMPT_ENTRIES: usize = 500_000;

/// Work between two polls of the monitor, in multiplications of a dense matrix product.
const PROMPT_WORK: f64 = 5e8;

/// Whether a certificate takes so long that an interrupted fit skips it.
pub(crate) fn certifies_slowly(labels: &Labels) -> bool {
    labels.instances() * labels.count() > PROMPT_ENTRIES
}

/// The outcome of an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Epoch {
    /// Some block moved.
    Moved,
    /// No visited block moved; others were skipped.
    Still,
    /// No block moved.
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

/// Visits the instances of an iterate.
pub(crate) struct Engine<'a, S: Scores + ?Sized, T: Step> {
    /// The current iterate.
    pub iterate: Iterate<'a, S>,
    pub(super) chains: Vec<Chain<T>>,
    /// The moves of all chains.
    pub(super) joined: Moves,
    pub(super) settings: &'a Settings,
    pub(super) random: fastrand::Rng,
    /// The instances of the next epoch.
    pub(super) order: Vec<u32>,
    /// The hardest labels of the instances, as found by the last certificate.
    pub(super) shortlists: Option<Shortlists>,
    /// The absolute gap that is tolerated, from the last certificate.
    pub(super) tolerated: f64,
    epochs: usize,
    /// Block solutions of the last epoch, with repetitions.
    pub(super) solved: usize,
    /// Whether visits may be restricted to some of the labels.
    may_list: bool,
    /// Whether chains may solve their instances several times.
    may_repeat: bool,
    /// Maximum number of rows that a chain visits between two polls.
    most_rows: usize,
}

fn chains<S: Scores + ?Sized, T: Step>(step: T, scores: &S, settings: &Settings) -> Vec<Chain<T>> {
    let tuning = &settings.tuning.chains;
    let large = tuning.enabled && scores.diagonal().len() * scores.labels() >= tuning.scores;
    let count = match settings.chains {
        0 if settings.block_size > 0 => 1,
        0 if scores.is_linear() && large => tuning.count,
        0 => 1,
        // Further chains would have no instance to move.
        count => count.min(scores.diagonal().len()).max(1),
    };
    let others: Vec<T> = (1..count).map_while(|_| step.fork()).collect();
    std::iter::once(step)
        .chain(others)
        .map(Chain::new)
        .collect()
}

impl<'a, S: Scores + ?Sized, T: Step> Engine<'a, S, T> {
    /// Starts at an iterate.
    pub fn new(iterate: Iterate<'a, S>, step: T, settings: &'a Settings) -> Self {
        let mut engine = Self {
            most_rows: prompt_rows(step.loss(), iterate.labels()),
            chains: chains(step, iterate.scores(), settings),
            iterate,
            joined: Moves::default(),
            settings,
            random: fastrand::Rng::with_seed(settings.seed),
            order: Vec::new(),
            shortlists: None,
            tolerated: 0.0,
            epochs: 0,
            solved: 0,
            may_list: false,
            may_repeat: true,
        };
        engine.wake_all();
        engine
    }

    /// Allows visits restricted to the hardest labels, where that pays. Only for a bias that no rule moves.
    pub fn with_shortlists(self) -> Self {
        Self {
            may_list: true,
            ..self
        }
    }

    /// Sets whether chains may solve their instances several times: rows of `B` that have settled among themselves are long
    /// and cancel each other, which misleads methods that move all rows at once.
    pub fn let_repeat(&mut self, may_repeat: bool) {
        self.may_repeat = may_repeat;
    }

    /// The loss of the problem.
    pub fn loss(&self) -> &T::Loss {
        self.chains[0].loss()
    }

    /// Number of instances that the next epoch will visit.
    pub fn active(&self) -> usize {
        self.order.len()
    }

    /// Number of block solutions of the last epoch, with repetitions.
    pub fn solved(&self) -> usize {
        self.solved
    }

    /// Epochs so far.
    pub fn epochs(&self) -> usize {
        self.epochs
    }

    /// Visits every active instance once.
    pub fn epoch(&mut self, monitor: &mut dyn Monitor) -> Epoch {
        if self.settings.shuffle {
            self.random.shuffle(&mut self.order);
            let neighbours = self.settings.tuning.neighbours.enabled;
            if neighbours && self.repeats() && self.epochs.is_multiple_of(2) {
                self.join_neighbours();
            }
        }
        self.solved = 0;
        if let Some(outcome) = self.visit_hardest(monitor) {
            self.epochs += 1;
            return outcome;
        }
        // The step length of a joint move depends on dual terms.
        let chains = if self.iterate.is_known() {
            self.chains.len()
        } else {
            1
        };
        let length = self.chain_length();
        let order = std::mem::take(&mut self.order);
        let labels = self.iterate.labels();
        let everybody = (0..labels.instances()).filter(|&i| labels.has_pairs(i));
        let mut outcome = if order.len() == everybody.count() {
            Epoch::Unmoved
        } else {
            Epoch::Still
        };
        let (mut blocks, mut spoilt) = (0, 0);
        for block in order.chunks(length.saturating_mul(chains).max(1)) {
            let poll = monitor.poll();
            if poll.is_interrupted() {
                outcome = Epoch::Interrupted;
                break;
            }
            // The first epoch is always completed.
            if self.epochs > 0 && poll.is_out_of_time() {
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
        if spoilt as f64 > self.settings.tuning.chains.spoilt * blocks as f64 {
            self.chains.truncate(chains / 2);
        }
        if outcome != Epoch::Interrupted {
            self.iterate.all_visited();
        }
        self.order = order;
        self.epochs += 1;
        outcome
    }

    /// Whether the next epoch solves each chain's instances several times: not in the first epochs, which suffice for easy
    /// problems, and not if chains run in parallel.
    fn repeats(&self) -> bool {
        let tuning = &self.settings.tuning.passes;
        let free = tuning.enabled && self.may_repeat && self.settings.block_size == 0;
        free && T::PASSES > 1 && self.chains.len() == 1 && self.epochs >= tuning.single_epochs
    }

    /// Forms chains of an instance and those with the largest kernel values to it: solved several times in a row, they
    /// settle among themselves what would otherwise take epochs. Every second order stays random, for instances that such
    /// chains never bring together.
    fn join_neighbours(&mut self) {
        let length = self.chain_length();
        let mut rest = &mut *self.order;
        while rest.len() > length && length > 1 {
            let Some(row) = self.iterate.scores().stored_row(rest[0]) else {
                return;
            };
            match row {
                KernelValues::Double(row) => choose_largest(row, &mut rest[1..], length - 1),
                KernelValues::Single(row) => choose_largest(row, &mut rest[1..], length - 1),
            }
            rest = &mut rest[length..];
        }
    }

    /// Number of instances in a chain.
    fn chain_length(&self) -> usize {
        match self.settings.block_size {
            0 => self.iterate.scores().chain_length().min(self.most_rows),
            size => size,
        }
    }

    /// How often a chain of `length` instances may solve them.
    pub(super) fn passes(&self, length: usize) -> usize {
        // A single instance needs one solution.
        if self.repeats() && length > 1 {
            let labels = self.iterate.labels().count();
            (self.settings.tuning.passes.work / (length * length * labels)).clamp(1, T::PASSES)
        } else {
            1
        }
    }

    /// Whether instances have shortlists of labels.
    pub(super) fn has_shortlists(&self) -> bool {
        let tuning = &self.settings.tuning;
        let enabled = tuning.shortlists.enabled && tuning.shrinking.enabled;
        self.may_list && enabled && self.lists_labels()
    }

    /// Computes every instance's gap term at the current scores; `None` when interrupted, if that takes long.
    pub fn certify(&mut self, monitor: &mut dyn Monitor) -> Option<Certificate> {
        self.shortlists = None;
        if self.has_shortlists()
            && let Some(found) = self.certify_hard_labels(monitor)
        {
            return Some(found);
        }
        let (rows, loss) = (self.rows_between_questions(), self.chains[0].loss());
        self.iterate.certify(loss, rows, monitor)
    }

    /// Number of rows that a certificate processes between two polls of the monitor; `None` if it does not poll.
    pub(super) fn rows_between_questions(&self) -> Option<usize> {
        let labels = self.iterate.labels();
        certifies_slowly(labels).then(|| {
            let of_row = self.iterate.scores().work() / labels.instances() as f64;
            let rows = (PROMPT_WORK / of_row) as usize;
            rows.max(CHUNK) * self.iterate.threads().count()
        })
    }

    /// Goes back to a checkpoint, for which no shortlists are known.
    pub fn roll_back(&mut self, point: &Checkpoint<S>) {
        self.shortlists = None;
        self.iterate.roll_back(point);
    }

    /// Selects the instances of the next epoch: those whose gap terms matter for a gap of `tolerated`.
    pub fn choose_active(&mut self, tolerated: f64) {
        let tuning = &self.settings.tuning.shrinking;
        if !tuning.enabled {
            return;
        }
        self.tolerated = tolerated;
        self.wake_all();
        if self.iterate.is_known() {
            let gaps = self.iterate.gaps();
            let negligible = tuning.share * tolerated / gaps.len().max(1) as f64;
            self.order.retain(|&i| gaps[i as usize] > negligible);
        }
    }

    /// Makes every instance active again.
    pub fn wake_all(&mut self) {
        self.order.clear();
        let labels = self.iterate.labels();
        self.order
            .extend((0..labels.instances() as u32).filter(|&i| labels.has_pairs(i as usize)));
    }

    /// A bound on the error of the objectives due to the rounding of the scores.
    pub fn rounding_of_scores(&self) -> f64 {
        let size = self.iterate.size();
        rounding_of(size * size, self.iterate.labels().count() + CHUNK)
    }

    /// A bound on the rounding error of a linear model's objective relative to the bound of this point.
    pub fn rounding_of_model(&self, primal: f64) -> f64 {
        // The norm of its weights is at most the root of twice the objective.
        let of_scores = (2.0 * primal).sqrt() * self.iterate.size();
        rounding_of(primal + of_scores, self.iterate.labels().count() + CHUNK)
    }

    /// The primal objective of `B = 0` if a dual objective shows that the problem has no minimum. With an indefinite kernel,
    /// only box constraints keep the dual bounded; with any other kernel, no dual objective exceeds a primal one. NaN counts
    /// as unbounded.
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
        let labels = self.iterate.labels();
        (0..labels.instances())
            .map(|i| labels.weight_of_pairs_of(i) * of_one_pair)
            .sum()
    }

    /// Resets the state of the visits after something other than block steps has moved the point.
    pub fn restart(&mut self) {
        // A list covers the nonzero dual variables of the point at which it was made, not those of others.
        self.shortlists = None;
        for chain in &mut self.chains {
            chain.restart();
        }
        self.wake_all();
    }
}

/// Moves the `count` instances with the largest values in a kernel row to the front.
fn choose_largest<T: Number>(row: &[T], instances: &mut [u32], count: usize) {
    let size = |i: &u32| row[*i as usize].into().abs();
    instances.select_nth_unstable_by(count - 1, |i, j| size(j).total_cmp(&size(i)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::features::Dense;
    use crate::pairwise::bcd::Proximal;
    use crate::pairwise::loss::Hinge;
    use crate::pairwise::scores::LinearDense;
    use crate::parallel::threads::Threads;
    use crate::report::Stops;

    /// A slow certificate polls from time to time, whatever the number of threads, and a quick one never does.
    #[test]
    fn long_certificates_are_asked_between() {
        const D: usize = 1000;
        for (n, q, asks) in [(1700, 300, true), (300, 30, false)] {
            let x = vec![0.0; n * D];
            let indicator: Vec<u8> = (0..n * q).map(|k| u8::from(k % q == 0)).collect();
            let labels = Labels::new(&indicator, q, 1.0).unwrap();
            let (settings, threads) = (Settings::default(), Threads::new(2));
            let mut scores = LinearDense::new(Dense::new(&x, n, D).unwrap(), q);
            let dual = vec![0.0; n * q];
            let iterate = Iterate::new(&labels, &mut scores, None, dual, 0.0, &threads);
            let mut engine = Engine::new(iterate, Proximal::new(Hinge), &settings);
            assert_eq!(engine.certify(&mut Stops(2)).is_none(), asks);
            assert!(engine.certify(&mut Stops(1000)).is_some());
        }
    }

    /// The first epochs solve each block once, later ones solve the blocks of a chain several times.
    #[test]
    fn repeated_visits_are_counted() {
        const N: usize = 60;
        let mut random = fastrand::Rng::with_seed(1);
        let x: Vec<f64> = (0..N * 3).map(|_| random.f64() - 0.5).collect();
        let indicator: Vec<u8> = (0..N * 4).map(|k| u8::from(k % 5 < 2)).collect();
        let labels = Labels::new(&indicator, 4, 100.0).unwrap();
        let settings = Settings::default();
        let threads = Threads::new(1);
        let mut scores = LinearDense::new(Dense::new(&x, N, 3).unwrap(), 4);
        let iterate = Iterate::new(&labels, &mut scores, None, vec![0.0; N * 4], 0.0, &threads);
        let mut engine = Engine::new(iterate, Proximal::new(Hinge), &settings);
        for epoch in 0..3 {
            engine.epoch(&mut ());
            let once = engine.active();
            assert!(once > 0);
            if epoch < settings.tuning.passes.single_epochs {
                assert_eq!(engine.solved(), once);
            } else {
                assert!(engine.solved() > once);
            }
        }
        engine.let_repeat(false);
        engine.epoch(&mut ());
        assert_eq!(engine.solved(), engine.active());
    }
}
