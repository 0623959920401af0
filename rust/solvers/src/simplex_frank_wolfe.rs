//! The Frank-Wolfe method for Rank-CVM (000, section 7.4), and its pairwise variant.
//!
//! ```text
//! min over alpha  W(alpha) = 1/2 alpha^T Theta alpha,   u^T alpha = 1,   alpha >= 0                  (000, eq. 37)
//! Theta = (H^T H) o (K + 1) + D,   D = diag(1/c_i)                                                    (000, eq. 38)
//! ```
//!
//! | here | 000 |
//! |---|---|
//! | `scale * score`, the entries of `F = (K + 1) B` | `f_k(x_i)` |
//! | `F_im - F_in + alpha_imn / c_i` | the gradient `g_imn` (59) |
//! | [`Vertex::diagonal`] | `Theta_ss` (54) |
//! | `objective` | `W(alpha)` by the recursion (68) |
//! | `slope` | `z` (62) |
//!
//! The paper keeps and updates one gradient entry a pair, `O((3q + 7) L)` operations a step. But a gradient entry is a
//! difference of two scores, plus a term that is 0 outside the support. So the scores suffice: a step changes two
//! labels' scores by one kernel row, `O(n)`. For each instance a lower bound of its gradient entries is kept, of which a
//! step can lower only those where one label's score fell or the other's rose. So finding the smallest entry is a scan
//! of one bound an instance and a closer look at those whose bound is too low. Shrinking all scores by `1 - lambda`
//! (67) is left to one common factor.
//!
//! The pairwise variant moves weight from the worst pair of the support to the best pair of all, which converges
//! linearly where the published step zigzags at a sublinear rate.
//!
//! Where we deviate: nothing but the bookkeeping in the published steps. Besides the published stop rule, `|z| < eps`,
//! there is a relative one, `-z <= tol W`; `-z` is the duality gap to 000 (30) at `rho = min g`.

use crate::kernel_rows::KernelRows;
use crate::labels::Labels;
use crate::report::{Monitor, Report, Settings, SolverError, Status, Trace};
use multiversion::multiversion;

/// Below this common factor the scores are multiplied out, long before anything over- or underflows.
const SMALLEST_SCALE: f64 = 1e-100;

/// Steps between two questions to the monitor.
const STEPS_PER_QUESTION: usize = 16;

/// Several units in the last place of a number, relative to it.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Numbers handled at once.
const LANES: usize = 8;

/// How often the loop goes on after rounding turned out to have feigned convergence.
const RESTARTS: usize = 20;

/// A pair `(i, m, n)` and its dual variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeightedPair {
    /// The instance `i`.
    pub instance: u32,
    /// The relevant label `m`.
    pub relevant: u32,
    /// The irrelevant label `n`.
    pub irrelevant: u32,
    /// The dual variable `alpha_imn`, or the length of a step towards this pair.
    pub weight: f64,
}

/// How to step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From everywhere to the best pair, as published (64).
    Vertex,
    /// From the worst pair of the support to the best pair.
    Pairwise,
}

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StopRule {
    /// `|z| < eps`, as published.
    Absolute(f64),
    /// `-z <= tol W`.
    Relative(f64),
}

/// The options of [`solve`].
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How to step.
    pub direction: Direction,
    /// When to stop.
    pub stop: StopRule,
    /// Number of epochs `M`, of as many iterations as there are pairs.
    pub max_epochs: usize,
    /// How many of the first steps to record.
    pub recorded_steps: usize,
}

/// The solution of Rank-CVM.
#[derive(Clone, Debug)]
pub struct SimplexSolution {
    /// The dual matrix `B`, `n x q` row-major.
    pub dual: Vec<f64>,
    /// The bias, the column sums of `B`.
    pub bias: Vec<f64>,
    /// Scores of the training instances without the bias, `n x q` row-major.
    pub scores: Vec<f64>,
    /// The support: the pairs with a positive dual variable.
    pub support: Vec<WeightedPair>,
    /// The margin `rho`, the smallest gradient entry.
    pub rho: f64,
    /// The first steps: the pair and the step length.
    pub steps: Vec<WeightedPair>,
    /// The certificate: `primal` is `W`, and `dual` the lower bound `W + z`.
    pub report: Report,
}

/// A pair and its gradient entry.
#[derive(Clone, Copy, Debug)]
struct Vertex {
    instance: usize,
    relevant: u32,
    irrelevant: u32,
    gradient: f64,
}

struct State<'a, 'k> {
    labels: &'a Labels,
    kernel: &'a KernelRows<'k>,
    /// Scores `F`, `q x n`: one label after the other, so that a step changes two contiguous rows. A last row of
    /// negative infinity stands for the labels that only fill up a vector.
    scores: Vec<f64>,
    /// Which scores belong to relevant labels, `q x n`.
    relevant: Vec<u8>,
    /// The labels of each instance: the relevant ones, then the others, filled up with label `q` to whole vectors.
    label: Vec<u32>,
    /// Where each instance's labels start.
    starts: Vec<usize>,
    bounds: Bounds,
    /// `alpha / c` of the instances of the support, in units of the common factor: a row for each relevant label, with an
    /// entry for each of the other labels that `places` gives.
    support: Vec<Vec<f64>>,
    /// The common factor of scores, bounds and support.
    scale: f64,
}

/// What is known of the gradient entries of each instance without looking at them.
struct Bounds {
    /// A lower bound of the instance's relevant scores.
    low: Vec<f64>,
    /// An upper bound of its irrelevant scores.
    high: Vec<f64>,
    /// A lower bound of its gradient entries.
    entry: Vec<f64>,
}

impl<'a, 'k> State<'a, 'k> {
    fn new(labels: &'a Labels, kernel: &'a KernelRows<'k>) -> Self {
        let (n, q) = (labels.instances(), labels.count());
        let (mut label, mut starts) = (Vec::new(), vec![0]);
        let mut relevant = vec![0; n * q];
        for i in 0..n {
            label.extend_from_slice(labels.relevant(i));
            label.extend(labels.irrelevant(i).map(|k| k as u32));
            let filled = (q - labels.relevant(i).len()).next_multiple_of(LANES);
            label.resize(starts[i] + labels.relevant(i).len() + filled, q as u32);
            starts.push(label.len());
            for &k in labels.relevant(i) {
                relevant[k as usize * n + i] = 1;
            }
        }
        let mut scores = vec![0.0; n * q];
        scores.resize(n * (q + 1), f64::NEG_INFINITY);
        Self {
            labels,
            kernel,
            scores,
            relevant,
            label,
            starts,
            bounds: Bounds {
                low: vec![0.0; n],
                high: vec![0.0; n],
                entry: vec![0.0; n],
            },
            support: vec![Vec::new(); n],
            scale: 1.0,
        }
    }

    /// `Theta_ss` for every pair of the instance (54).
    fn diagonal(&self, i: usize) -> f64 {
        2.0 * (self.kernel.diagonal()[i] + 1.0) + 1.0 / self.labels.weight(i)
    }

    /// The labels of an instance: the relevant ones, and the others filled up to whole vectors.
    fn places(&self, i: usize) -> (&[u32], &[u32]) {
        self.label[self.starts[i]..self.starts[i + 1]].split_at(self.labels.relevant(i).len())
    }

    /// Adds a multiple of a vertex to the scores: `O(n)`.
    fn add_scores(&mut self, i: usize, m: u32, n: u32, weight: f64) {
        let instances = self.labels.instances();
        let (m, n) = (m as usize * instances, n as usize * instances);
        let (first, second) = self.scores.split_at_mut(m.max(n));
        let (at_m, at_n) = if m < n {
            (&mut first[m..m + instances], &mut second[..instances])
        } else {
            (&mut second[..instances], &mut first[n..n + instances])
        };
        follow(
            &self.kernel.row(i),
            weight,
            (at_m, &self.relevant[m..m + instances]),
            (at_n, &self.relevant[n..n + instances]),
            &mut self.bounds,
        );
    }

    /// Where a pair is in its instance's table.
    fn entry(&self, i: usize, m: u32, n: u32) -> usize {
        let (relevant, irrelevant) = self.places(i);
        let place = |labels: &[u32], label| labels.iter().position(|&k| k == label).unwrap_or(0);
        place(relevant, m) * irrelevant.len() + place(irrelevant, n)
    }

    /// Adds to a dual variable, in units of the common factor.
    fn add_weight(&mut self, i: usize, m: u32, n: u32, weight: f64) {
        if self.support[i].is_empty() {
            let (relevant, irrelevant) = self.places(i);
            let entries = relevant.len() * irrelevant.len();
            self.support[i].resize(entries, 0.0);
        }
        let entry = self.entry(i, m, n);
        self.support[i][entry] += weight / self.labels.weight(i);
    }

    /// Calls `visit(i, m, n, alpha, g)` for every pair of the support: its dual variable and its gradient entry.
    fn for_each_of_support(&self, mut visit: impl FnMut(usize, u32, u32, f64, f64)) {
        let instances = self.labels.instances();
        for (i, table) in self.support.iter().enumerate() {
            let (relevant, irrelevant) = self.places(i);
            for (k, &own) in table.iter().enumerate().filter(|(_, own)| **own > 0.0) {
                let (m, n) = (
                    relevant[k / irrelevant.len()],
                    irrelevant[k % irrelevant.len()],
                );
                let score = |label: u32| self.scores[label as usize * instances + i];
                let gradient = score(m) + own - score(n);
                let alpha = own * self.labels.weight(i);
                visit(i, m, n, self.scale * alpha, self.scale * gradient);
            }
        }
    }

    /// Multiplies the common factor out.
    fn normalise(&mut self) {
        let scale = std::mem::replace(&mut self.scale, 1.0);
        let Bounds { low, high, entry } = &mut self.bounds;
        for values in [&mut self.scores, low, high, entry] {
            values.iter_mut().for_each(|value| *value *= scale);
        }
        for weight in self.support.iter_mut().flatten() {
            *weight *= scale;
        }
    }

    /// Computes the scores anew from the support.
    fn rebuild(&mut self) {
        self.normalise();
        let (n, q) = (self.labels.instances(), self.labels.count());
        self.scores[..n * q].fill(0.0);
        let mut beta = vec![0.0; q];
        for i in 0..n {
            if self.support[i].is_empty() {
                continue;
            }
            beta.fill(0.0);
            let (relevant, irrelevant) = self.places(i);
            for (&m, row) in relevant
                .iter()
                .zip(self.support[i].chunks(irrelevant.len()))
            {
                for (&n, own) in irrelevant.iter().zip(row).filter(|(_, own)| **own > 0.0) {
                    let alpha = own * self.labels.weight(i);
                    beta[m as usize] += alpha;
                    beta[n as usize] -= alpha;
                }
            }
            let row = self.kernel.row(i);
            for (scores, &beta) in self.scores.chunks_mut(n).zip(&beta) {
                if beta != 0.0 {
                    for (score, &k) in scores.iter_mut().zip(row.iter()) {
                        *score += beta * (k + 1.0);
                    }
                }
            }
        }
        // So low that every instance is looked at.
        self.bounds.entry.fill(f64::NEG_INFINITY);
    }

    /// The objective `W`, computed anew.
    fn objective(&self) -> f64 {
        let mut total = 0.0;
        self.for_each_of_support(|_, _, _, weight, gradient| total += weight * gradient);
        0.5 * total
    }

    /// The smallest gradient entry of an instance, in units of the common factor, which makes its bounds sharp.
    fn look(&mut self, i: usize, scratch: &mut [f64]) -> f64 {
        let (relevant, irrelevant) = self.places(i);
        let instances = self.labels.instances();
        let scores = &self.scores[i..];
        let (low, high, entry) = extremes(
            scores,
            instances,
            relevant,
            irrelevant,
            &self.support[i],
            scratch,
        );
        self.bounds.low[i] = low;
        self.bounds.high[i] = high;
        self.bounds.entry[i] = entry;
        entry
    }

    /// The pair with the smallest gradient entry (46); the first one of several.
    fn best(&mut self, scratch: &mut [f64]) -> Vertex {
        // The instance with the lowest bound is a good guess, which spares the others the closer look.
        let lowest = smallest(&self.bounds.entry);
        let bounds = self.bounds.entry.iter();
        let mut found = bounds.clone().position(|&b| b == lowest).unwrap_or(0);
        let mut best = self.look(found, scratch);
        let mut next = 0;
        while let Some(i) = first_at_most(&self.bounds.entry, next, best) {
            next = i + 1;
            if self.bounds.entry[i] == best && i >= found {
                continue;
            }
            let candidate = self.look(i, scratch);
            if candidate < best || (candidate == best && i < found) {
                (best, found) = (candidate, i);
            }
        }
        let (relevant, irrelevant) = self.pair_of(found, best);
        Vertex {
            instance: found,
            relevant,
            irrelevant,
            gradient: self.scale * best,
        }
    }

    /// The first pair of an instance with the given gradient entry, in units of the common factor.
    fn pair_of(&self, i: usize, gradient: f64) -> (u32, u32) {
        let instances = self.labels.instances();
        let score = |label: u32| self.scores[label as usize * instances + i];
        let (relevant, irrelevant) = self.places(i);
        for (a, &m) in relevant.iter().enumerate() {
            let row = self.support[i].chunks(irrelevant.len()).nth(a);
            for (b, &n) in irrelevant.iter().enumerate() {
                let own = row.map_or(0.0, |row| row[b]);
                if score(m) + own - score(n) == gradient {
                    return (m, n);
                }
            }
        }
        (relevant[0], irrelevant[0])
    }

    /// The pair of the support with the largest gradient entry, and its dual variable.
    fn worst(&self) -> (Vertex, f64) {
        let mut worst = Vertex {
            instance: 0,
            relevant: 0,
            irrelevant: 0,
            gradient: f64::NEG_INFINITY,
        };
        let mut weight = 0.0;
        self.for_each_of_support(|i, m, n, alpha, gradient| {
            if gradient > worst.gradient {
                worst = Vertex {
                    instance: i,
                    relevant: m,
                    irrelevant: n,
                    gradient,
                };
                weight = alpha;
            }
        });
        (worst, weight)
    }

    /// `Theta` between two pairs (53).
    fn theta(&mut self, s: &Vertex, t: &Vertex) -> f64 {
        let sign = |equal: bool| f64::from(u8::from(equal));
        let h = sign(s.relevant == t.relevant) + sign(s.irrelevant == t.irrelevant)
            - sign(s.relevant == t.irrelevant)
            - sign(s.irrelevant == t.relevant);
        let same =
            s.instance == t.instance && s.relevant == t.relevant && s.irrelevant == t.irrelevant;
        let own = sign(same) / self.labels.weight(s.instance);
        let k = if s.instance == t.instance {
            self.kernel.diagonal()[s.instance]
        } else {
            self.kernel.row(s.instance)[t.instance]
        };
        h * (k + 1.0) + own
    }

    /// The published step to a vertex (64) to (69): its length, and the new objective.
    fn vertex_step(&mut self, best: &Vertex, objective: f64) -> (f64, f64) {
        let Vertex {
            instance: i,
            relevant: m,
            irrelevant: n,
            gradient,
        } = *best;
        let diagonal = self.diagonal(i);
        let slope = gradient - 2.0 * objective;
        let step = (-slope / (diagonal - 2.0 * gradient + 2.0 * objective)).min(1.0);
        let kept = 1.0 - step;
        if kept == 0.0 {
            self.support.iter_mut().for_each(Vec::clear);
            self.add_weight(i, m, n, 1.0);
            self.scale = 1.0;
            self.rebuild();
        } else {
            self.scale *= kept;
            if self.scale < SMALLEST_SCALE {
                self.normalise();
            }
            let weight = step / self.scale;
            self.add_weight(i, m, n, weight);
            self.add_scores(i, m, n, weight);
        }
        let objective =
            kept * kept * objective + step * kept * gradient + 0.5 * step * step * diagonal;
        (step, objective)
    }

    /// The pairwise step: its length, and the new objective.
    fn pairwise_step(&mut self, best: &Vertex, objective: f64) -> (f64, f64) {
        let (worst, available) = self.worst();
        let slope = best.gradient - worst.gradient;
        let curvature = self.diagonal(best.instance) + self.diagonal(worst.instance)
            - 2.0 * self.theta(best, &worst);
        if slope >= 0.0 || curvature <= 0.0 {
            return (0.0, objective);
        }
        let step = (-slope / curvature).min(available);
        let weight = step / self.scale;
        self.add_weight(best.instance, best.relevant, best.irrelevant, weight);
        self.add_scores(best.instance, best.relevant, best.irrelevant, weight);
        let entry = self.entry(worst.instance, worst.relevant, worst.irrelevant);
        let own = &mut self.support[worst.instance][entry];
        *own = if step >= available {
            0.0
        } else {
            *own - weight / self.labels.weight(worst.instance)
        };
        self.add_scores(worst.instance, worst.relevant, worst.irrelevant, -weight);
        // Its own entry fell by more than its scores did.
        let Bounds { low, high, entry } = &mut self.bounds;
        entry[worst.instance] = low[worst.instance] - high[worst.instance];
        (
            step,
            objective + step * slope + 0.5 * step * step * curvature,
        )
    }
}

/// The lower one of two numbers; unlike `f64::min` one instruction, as there is no NaN to think of.
#[inline(always)]
fn lower(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// Adds `weight (k + 1)` to the scores of label `m` and subtracts it from those of `n`, and lowers the bounds to what
/// the scores that went towards each other allow: entries of a label that moved away from the others only grew.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512bw+avx512vl+avx2+fma",
    "x86_64+avx2+fma"
))]
fn follow(
    row: &[f64],
    weight: f64,
    (at_m, m_relevant): (&mut [f64], &[u8]),
    (at_n, n_relevant): (&mut [f64], &[u8]),
    bounds: &mut Bounds,
) {
    let scores = at_m
        .iter_mut()
        .zip(m_relevant)
        .zip(at_n.iter_mut().zip(n_relevant));
    let bounds = bounds
        .low
        .iter_mut()
        .zip(&mut bounds.high)
        .zip(&mut bounds.entry);
    for (&k, (((m, &m_relevant), (n, &n_relevant)), ((low, high), entry))) in
        row.iter().zip(scores.zip(bounds))
    {
        let change = weight * (k + 1.0);
        let rising = change > 0.0;
        *m += change;
        *n -= change;
        for (score, relevant, rising) in [
            (*m, m_relevant != 0, rising),
            (*n, n_relevant != 0, !rising),
        ] {
            let (lowest, highest) = (lower(*low, score), -lower(-*high, -score));
            *low = if relevant { lowest } else { *low };
            *high = if relevant { *high } else { highest };
            let difference = if relevant {
                score - *high
            } else {
                *low - score
            };
            // The entries of this label fell by no more than its score moved, but for the rounding of the scores.
            let fallen = *entry - change.abs() - ROUNDING * (score.abs() + entry.abs());
            // In this order an instance without pairs, whose `fallen` is NaN, keeps its infinite entry.
            let sharper = if fallen > difference {
                fallen
            } else {
                difference
            };
            *entry = if relevant == rising {
                *entry
            } else {
                lower(*entry, sharper)
            };
        }
    }
}

/// The smallest of the numbers.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma"))]
fn smallest(values: &[f64]) -> f64 {
    let mut lanes = [[f64::INFINITY; LANES]; 4];
    let chunks = values.chunks_exact(4 * LANES);
    let rest = chunks.remainder().iter().copied();
    for chunk in chunks {
        for (lanes, values) in lanes.iter_mut().zip(chunk.chunks_exact(LANES)) {
            lower_each(lanes, values);
        }
    }
    lanes
        .into_iter()
        .map(lowest_lane)
        .chain(rest)
        .fold(f64::INFINITY, lower)
}

/// Lowers each lane to the number at its place.
#[inline(always)]
fn lower_each(lanes: &mut [f64; LANES], values: &[f64]) {
    for (lane, &value) in lanes.iter_mut().zip(values) {
        *lane = lower(value, *lane);
    }
}

/// The lowest lane, by halves.
#[inline(always)]
fn lowest_lane(lanes: [f64; LANES]) -> f64 {
    let [a, b, c, d, e, f, g, h] = lanes;
    lower(
        lower(lower(a, e), lower(c, g)),
        lower(lower(b, f), lower(d, h)),
    )
}

/// The first place from `start` on with a number of at most `limit`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma"))]
fn first_at_most(values: &[f64], start: usize, limit: f64) -> Option<usize> {
    let mut place = start;
    for chunk in values[start..].chunks(4 * LANES) {
        if chunk
            .iter()
            .fold(false, |any, &value| any | (value <= limit))
        {
            return chunk
                .iter()
                .position(|&value| value <= limit)
                .map(|at| place + at);
        }
        place += chunk.len();
    }
    None
}

/// An instance's lowest relevant score, its highest irrelevant one, and the smallest of `top + alpha / c - bottom` over
/// its pairs; `scores` starts at the instance's score of the first label, and an empty table is one of zeros.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma"))]
fn extremes(
    scores: &[f64],
    instances: usize,
    relevant: &[u32],
    irrelevant: &[u32],
    table: &[f64],
    scratch: &mut [f64],
) -> (f64, f64, f64) {
    let negative = &mut scratch[..irrelevant.len()];
    for (score, &k) in negative.iter_mut().zip(irrelevant) {
        *score = scores[k as usize * instances];
    }
    let mut lanes = [f64::INFINITY; LANES];
    for scores in negative.chunks_exact(LANES) {
        for (lane, &score) in lanes.iter_mut().zip(scores) {
            *lane = lower(-score, *lane);
        }
    }
    let high = -lowest_lane(lanes);
    let low = relevant.iter().fold(f64::INFINITY, |low, &m| {
        lower(scores[m as usize * instances], low)
    });
    if table.is_empty() {
        return (low, high, low - high);
    }
    let mut lanes = [f64::INFINITY; LANES];
    for (at, bottoms) in negative.chunks_exact(LANES).enumerate() {
        let mut tops = [f64::INFINITY; LANES];
        for (&m, row) in relevant.iter().zip(table.chunks_exact(irrelevant.len())) {
            let top = scores[m as usize * instances];
            for (lane, &own) in tops.iter_mut().zip(&row[at * LANES..(at + 1) * LANES]) {
                *lane = lower(top + own, *lane);
            }
        }
        for ((lane, &top), &bottom) in lanes.iter_mut().zip(&tops).zip(bottoms) {
            *lane = lower(top - bottom, *lane);
        }
    }
    (low, high, lowest_lane(lanes))
}

impl StopRule {
    fn satisfied(self, slope: f64, objective: f64) -> bool {
        match self {
            Self::Absolute(eps) => slope.abs() < eps,
            Self::Relative(tol) => -slope <= tol * objective,
        }
    }
}

/// Solves Rank-CVM from the published start (55), (56), or from a given support.
///
/// # Errors
/// When the arguments are out of range or do not fit together, or when there is no pair.
pub fn solve(
    labels: &Labels,
    kernel: &KernelRows<'_>,
    start: &[WeightedPair],
    options: &Options,
    monitor: &mut dyn Monitor,
) -> Result<SimplexSolution, SolverError> {
    let (StopRule::Absolute(tolerance) | StopRule::Relative(tolerance)) = options.stop;
    Settings {
        tolerance,
        max_epochs: options.max_epochs,
        ..Settings::default()
    }
    .validate()?;
    let n = labels.instances();
    let with_pairs: Vec<usize> = (0..n).filter(|&i| labels.has_pairs(i)).collect();
    let pairs: usize = with_pairs.iter().map(|&i| labels.pairs(i)).sum();
    let mut state = State::new(labels, kernel);
    let first = with_pairs
        .iter()
        .copied()
        .min_by(|&i, &j| state.diagonal(i).total_cmp(&state.diagonal(j)));
    let Some(first) = first else {
        return Err(SolverError::Argument {
            name: "Y",
            found: "without label pairs".into(),
            expected: "a row with both a relevant and an irrelevant label",
        });
    };
    let total: f64 = start.iter().map(|pair| pair.weight).sum();
    for pair in start {
        let Ok(i) = check_start(labels, pair, total) else {
            return Err(SolverError::Argument {
                name: "start",
                found: format!("{pair:?}"),
                expected: "pairs of a relevant and an irrelevant label with positive weights",
            });
        };
        state.add_weight(i, pair.relevant, pair.irrelevant, pair.weight / total);
    }
    if start.is_empty() {
        let (relevant, irrelevant) = state.places(first);
        let (m, n) = (relevant[0], irrelevant[0]);
        state.add_weight(first, m, n, 1.0);
    }
    state.rebuild();

    let last = options.max_epochs.saturating_mul(pairs);
    let mut scratch = vec![0.0; labels.count().next_multiple_of(LANES)];
    let mut trace = Trace::default();
    let mut steps = Vec::new();
    let (mut iteration, mut next_record, mut restarts) = (1, 1, 0);
    let mut objective = state.objective();
    let (status, rho) = loop {
        let best = state.best(&mut scratch);
        let slope = best.gradient - 2.0 * objective;
        if iteration >= next_record {
            trace.record(iteration, objective, objective + slope, n, monitor);
            next_record = iteration + iteration.min(n);
        }
        let status = if iteration % STEPS_PER_QUESTION == 0 && monitor.interrupted() {
            Some(Status::Interrupted)
        } else if options.stop.satisfied(slope, objective) {
            Some(Status::Converged)
        } else if iteration >= last {
            Some(Status::MaxIterations)
        } else {
            None
        };
        if let Some(status) = status {
            // The recursions have gathered rounding: look again at the point itself.
            state.rebuild();
            objective = state.objective();
            let rho = state.best(&mut scratch).gradient;
            let satisfied = options.stop.satisfied(rho - 2.0 * objective, objective);
            if status == Status::Converged && !satisfied {
                restarts += 1;
                if restarts > RESTARTS {
                    break (Status::Stalled, rho);
                }
                continue;
            }
            break (status, rho);
        }
        let (step, new_objective) = match options.direction {
            Direction::Vertex => state.vertex_step(&best, objective),
            Direction::Pairwise => state.pairwise_step(&best, objective),
        };
        if steps.len() < options.recorded_steps {
            steps.push(WeightedPair {
                instance: best.instance as u32,
                relevant: best.relevant,
                irrelevant: best.irrelevant,
                weight: step,
            });
        }
        objective = new_objective;
        iteration += 1;
        if step <= 0.0 {
            state.rebuild();
            objective = state.objective();
            restarts += 1;
            if restarts > RESTARTS {
                break (Status::Stalled, state.best(&mut scratch).gradient);
            }
        }
    };
    let slope = rho - 2.0 * objective;
    trace.record(iteration, objective, objective + slope, n, monitor);
    Ok(solution(
        &state, objective, rho, status, iteration, steps, trace,
    ))
}

fn check_start(labels: &Labels, pair: &WeightedPair, total: f64) -> Result<usize, ()> {
    let (i, n) = (pair.instance as usize, pair.irrelevant as usize);
    let valid = i < labels.instances()
        && n < labels.count()
        && labels.relevant(i).contains(&pair.relevant)
        && !labels.relevant(i).contains(&pair.irrelevant)
        && pair.weight > 0.0
        && total.is_finite();
    if valid { Ok(i) } else { Err(()) }
}

fn solution(
    state: &State<'_, '_>,
    objective: f64,
    rho: f64,
    status: Status,
    epochs: usize,
    steps: Vec<WeightedPair>,
    trace: Trace,
) -> SimplexSolution {
    let (n, q) = (state.labels.instances(), state.labels.count());
    let (mut dual, mut bias, mut scores) = (vec![0.0; n * q], vec![0.0; q], vec![0.0; n * q]);
    let mut support = Vec::new();
    state.for_each_of_support(|i, relevant, irrelevant, weight, _| {
        let (m, k) = (relevant as usize, irrelevant as usize);
        dual[i * q + m] += weight;
        dual[i * q + k] -= weight;
        bias[m] += weight;
        bias[k] -= weight;
        support.push(WeightedPair {
            instance: i as u32,
            relevant,
            irrelevant,
            weight,
        });
    });
    for (row, i) in scores.chunks_mut(q).zip(0..) {
        for (k, (score, b)) in row.iter_mut().zip(&bias).enumerate() {
            *score = state.scale * state.scores[k * n + i] - b;
        }
    }
    SimplexSolution {
        dual,
        bias,
        scores,
        support,
        rho,
        steps,
        report: Report {
            status,
            epochs,
            primal: objective,
            dual: rho - objective,
            history: trace.history,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random_problem(seed: u64, n: usize, q: usize) -> (Vec<f64>, Labels) {
        let mut random = fastrand::Rng::with_seed(seed);
        let x: Vec<f64> = (0..n * 3).map(|_| random.f64() - 0.5).collect();
        let mut kernel = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                kernel[i * n + j] = (0..3).map(|k| x[i * 3 + k] * x[j * 3 + k]).sum();
            }
        }
        let mut indicator: Vec<u8> = (0..n * q).map(|_| u8::from(random.f64() < 0.4)).collect();
        (indicator[0], indicator[1]) = (1, 0);
        (kernel, Labels::new(&indicator, q, 2.0).unwrap())
    }

    fn options(direction: Direction, tolerance: f64) -> Options {
        Options {
            direction,
            stop: StopRule::Relative(tolerance),
            max_epochs: 1000,
            recorded_steps: 0,
        }
    }

    /// The gradient entries of all pairs at a support.
    fn smallest_gradient(kernel: &[f64], labels: &Labels, support: &[WeightedPair]) -> f64 {
        let (n, q) = (labels.instances(), labels.count());
        let mut f = vec![0.0; n * q];
        for pair in support {
            for j in 0..n {
                let k = pair.weight * (kernel[pair.instance as usize * n + j] + 1.0);
                f[j * q + pair.relevant as usize] += k;
                f[j * q + pair.irrelevant as usize] -= k;
            }
        }
        let mut smallest = f64::INFINITY;
        for i in (0..n).filter(|&i| labels.has_pairs(i)) {
            for &m in labels.relevant(i) {
                for l in labels.irrelevant(i) {
                    let own = support
                        .iter()
                        .filter(|p| {
                            (p.instance as usize, p.relevant, p.irrelevant as usize) == (i, m, l)
                        })
                        .map(|p| p.weight / labels.weight(i))
                        .sum::<f64>();
                    smallest = smallest.min(f[i * q + m as usize] - f[i * q + l] + own);
                }
            }
        }
        smallest
    }

    #[test]
    fn the_margin_is_the_smallest_of_all_gradient_entries() {
        for seed in 0..20 {
            let (kernel, labels) = random_problem(seed, 9, 4);
            let rows = KernelRows::stored(&kernel, 9).unwrap();
            for direction in [Direction::Vertex, Direction::Pairwise] {
                let options = options(direction, 1e-2);
                let answer = solve(&labels, &rows, &[], &options, &mut ()).unwrap();
                let expected = smallest_gradient(&kernel, &labels, &answer.support);
                assert!((answer.rho - expected).abs() < 1e-12, "{seed}");
                let total: f64 = answer.support.iter().map(|p| p.weight).sum();
                assert!((total - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn pairwise_steps_reach_the_limit_of_double_precision() {
        for seed in 0..20 {
            let (kernel, labels) = random_problem(seed, 12, 4);
            let rows = KernelRows::stored(&kernel, 12).unwrap();
            let exact = solve(
                &labels,
                &rows,
                &[],
                &options(Direction::Pairwise, 1e-11),
                &mut (),
            )
            .unwrap();
            assert_eq!(exact.report.status, Status::Converged, "{seed}");
            let rough = solve(
                &labels,
                &rows,
                &[],
                &options(Direction::Vertex, 1e-2),
                &mut (),
            )
            .unwrap();
            assert!(rough.report.primal >= exact.report.dual);
            assert!(rough.report.dual <= exact.report.primal);
            // Going on from the optimum stops at once.
            let again = solve(
                &labels,
                &rows,
                &exact.support,
                &options(Direction::Pairwise, 1e-10),
                &mut (),
            )
            .unwrap();
            assert_eq!(again.report.epochs, 1);
        }
    }

    #[test]
    fn labels_without_pairs_and_malformed_starts_are_errors() {
        let kernel = [1.0, 0.0, 0.0, 1.0];
        let rows = KernelRows::stored(&kernel, 2).unwrap();
        let options = options(Direction::Vertex, 1e-2);
        let without = Labels::new(&[1, 1, 0, 0], 2, 1.0).unwrap();
        assert!(solve(&without, &rows, &[], &options, &mut ()).is_err());
        let labels = Labels::new(&[1, 0, 0, 1], 2, 1.0).unwrap();
        let wrong = WeightedPair {
            instance: 1,
            relevant: 0,
            irrelevant: 1,
            weight: 1.0,
        };
        assert!(solve(&labels, &rows, &[wrong], &options, &mut ()).is_err());
    }
}
