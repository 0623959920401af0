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
//! difference of two scores, plus a term that is 0 outside the support. So the scores suffice: an instance's best pair
//! is its lowest relevant score against its highest irrelevant one, unless that pair is in the support, and a step
//! changes two labels' scores by one kernel row. That is `O(n)` a step. For instances of the support a lower bound is
//! kept: a step can lower only those entries of which one label's score fell or the other's rose. So finding the
//! smallest entry is a scan of one bound an instance and a closer look at the few whose bound is too low. Shrinking all
//! scores by `1 - lambda` (67) is left to one common factor.
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

/// What an instance remembers of its row of scores.
#[derive(Clone, Copy, Debug, Default)]
struct Extremes {
    /// The lowest relevant and the highest irrelevant score.
    low: f64,
    high: f64,
    /// Where they are.
    low_at: u32,
    high_at: u32,
    /// A lower bound of the instance's gradient entries; the smallest one where the support has none of its pairs.
    bound: f64,
    supported: bool,
}

impl Extremes {
    fn find_low(&mut self, positive: &[f64]) {
        (self.low, self.low_at) = (f64::INFINITY, 0);
        for (place, &score) in positive.iter().enumerate() {
            if score < self.low {
                (self.low, self.low_at) = (score, place as u32);
            }
        }
    }

    fn find_high(&mut self, row: &[f64], relevant: usize) {
        (self.high, self.high_at) = (f64::NEG_INFINITY, relevant as u32);
        for (place, &score) in row.iter().enumerate().skip(relevant) {
            if score > self.high {
                (self.high, self.high_at) = (score, place as u32);
            }
        }
    }

    /// Follows a change of the score at one place.
    fn follow(&mut self, row: &[f64], relevant: usize, place: u32) {
        let score = row[place as usize];
        if (place as usize) < relevant {
            if place == self.low_at {
                if score > self.low {
                    self.find_low(&row[..relevant]);
                } else {
                    self.low = score;
                }
            } else if score < self.low || (score == self.low && place < self.low_at) {
                (self.low, self.low_at) = (score, place);
            }
        } else if place == self.high_at {
            if score < self.high {
                self.find_high(row, relevant);
            } else {
                self.high = score;
            }
        } else if score > self.high || (score == self.high && place < self.high_at) {
            (self.high, self.high_at) = (score, place);
        }
    }
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
    /// Scores, the relevant labels of each row first.
    scores: Vec<f64>,
    /// Where each label is in its row, and which label is at each place.
    position: Vec<u32>,
    label: Vec<u32>,
    extremes: Vec<Extremes>,
    /// The dual variables of the instances of the support, in units of the common factor: `p_i x r_i`, by place.
    support: Vec<Vec<f64>>,
    /// The common factor of scores, extremes and support.
    scale: f64,
}

impl<'a, 'k> State<'a, 'k> {
    fn new(labels: &'a Labels, kernel: &'a KernelRows<'k>) -> Self {
        let (n, q) = (labels.instances(), labels.count());
        let (mut position, mut label) = (vec![0; n * q], vec![0; n * q]);
        for i in 0..n {
            let places = labels
                .relevant(i)
                .iter()
                .copied()
                .chain(labels.irrelevant(i).map(|k| k as u32));
            for (place, k) in places.enumerate() {
                label[i * q + place] = k;
                position[i * q + k as usize] = place as u32;
            }
        }
        Self {
            labels,
            kernel,
            scores: vec![0.0; n * q],
            position,
            label,
            extremes: vec![Extremes::default(); n],
            support: vec![Vec::new(); n],
            scale: 1.0,
        }
    }

    /// `Theta_ss` for every pair of the instance (54).
    fn diagonal(&self, i: usize) -> f64 {
        2.0 * (self.kernel.diagonal()[i] + 1.0) + 1.0 / self.labels.weight(i)
    }

    /// Adds a multiple of a vertex to the scores: `O(n)`.
    fn add_scores(&mut self, i: usize, m: u32, n: u32, weight: f64) {
        let q = self.labels.count();
        let row = self.kernel.row(i);
        for (j, (&k, extremes)) in row.iter().zip(&mut self.extremes).enumerate() {
            let change = weight * (k + 1.0);
            let relevant = self.labels.relevant(j).len();
            let places = &self.position[j * q..(j + 1) * q];
            let (at_m, at_n) = (places[m as usize], places[n as usize]);
            let scores = &mut self.scores[j * q..(j + 1) * q];
            scores[at_m as usize] += change;
            scores[at_n as usize] -= change;
            extremes.follow(scores, relevant, at_m);
            extremes.follow(scores, relevant, at_n);
            if !extremes.supported {
                extremes.bound = extremes.low - extremes.high;
                continue;
            }
            let (falling, rising) = if change > 0.0 {
                (at_n, at_m)
            } else {
                (at_m, at_n)
            };
            if (falling as usize) < relevant {
                extremes.bound = extremes.bound.min(scores[falling as usize] - extremes.high);
            }
            if (rising as usize) >= relevant {
                extremes.bound = extremes.bound.min(extremes.low - scores[rising as usize]);
            }
        }
    }

    /// Where a pair is in its instance's table.
    fn entry(&self, i: usize, m: u32, n: u32) -> usize {
        let q = self.labels.count();
        let relevant = self.labels.relevant(i).len();
        let places = &self.position[i * q..(i + 1) * q];
        places[m as usize] as usize * (q - relevant) + places[n as usize] as usize - relevant
    }

    /// Adds to a dual variable, in units of the common factor.
    fn add_weight(&mut self, i: usize, m: u32, n: u32, weight: f64) {
        if self.support[i].is_empty() {
            self.support[i].resize(self.labels.pairs(i), 0.0);
            self.extremes[i].supported = true;
        }
        let entry = self.entry(i, m, n);
        self.support[i][entry] += weight;
    }

    /// Calls `visit(i, m, n, alpha, g)` for every pair of the support: its dual variable and its gradient entry.
    fn for_each_of_support(&self, mut visit: impl FnMut(usize, u32, u32, f64, f64)) {
        let q = self.labels.count();
        for (i, table) in self.support.iter().enumerate() {
            let relevant = self.labels.relevant(i).len();
            let (row, label) = (
                &self.scores[i * q..(i + 1) * q],
                &self.label[i * q..(i + 1) * q],
            );
            for (k, &weight) in table
                .iter()
                .enumerate()
                .filter(|(_, weight)| **weight > 0.0)
            {
                let (a, b) = (k / (q - relevant), relevant + k % (q - relevant));
                let gradient = row[a] - row[b] + weight / self.labels.weight(i);
                visit(
                    i,
                    label[a],
                    label[b],
                    self.scale * weight,
                    self.scale * gradient,
                );
            }
        }
    }

    /// Multiplies the common factor out.
    fn normalise(&mut self) {
        let scale = std::mem::replace(&mut self.scale, 1.0);
        self.scores.iter_mut().for_each(|score| *score *= scale);
        for extremes in &mut self.extremes {
            extremes.low *= scale;
            extremes.high *= scale;
            extremes.bound *= scale;
        }
        for weight in self.support.iter_mut().flatten() {
            *weight *= scale;
        }
    }

    /// Computes the scores anew from the support.
    fn rebuild(&mut self) {
        self.normalise();
        let q = self.labels.count();
        self.scores.fill(0.0);
        let mut beta = vec![0.0; q];
        for i in 0..self.support.len() {
            if self.support[i].is_empty() {
                continue;
            }
            let relevant = self.labels.relevant(i).len();
            beta.fill(0.0);
            for (k, weight) in self.support[i].iter().enumerate() {
                beta[k / (q - relevant)] += weight;
                beta[relevant + k % (q - relevant)] -= weight;
            }
            let label = &self.label[i * q..(i + 1) * q];
            for (j, &k) in self.kernel.row(i).iter().enumerate() {
                for (&m, &beta) in label.iter().zip(&beta) {
                    self.scores[j * q + self.position[j * q + m as usize] as usize] +=
                        beta * (k + 1.0);
                }
            }
        }
        for (j, extremes) in self.extremes.iter_mut().enumerate() {
            let (row, relevant) = (
                &self.scores[j * q..(j + 1) * q],
                self.labels.relevant(j).len(),
            );
            extremes.find_low(&row[..relevant]);
            extremes.find_high(row, relevant);
            // An instance without pairs has an infinite difference.
            extremes.bound = extremes.low - extremes.high;
            extremes.supported = !self.support[j].is_empty();
        }
    }

    /// The objective `W`, computed anew.
    fn objective(&self) -> f64 {
        let mut total = 0.0;
        self.for_each_of_support(|_, _, _, weight, gradient| total += weight * gradient);
        0.5 * total
    }

    /// An instance's pair with the smallest gradient entry, the first one of several: its value, in units of the common
    /// factor, and its places.
    fn best_of(&self, i: usize) -> (f64, usize, usize) {
        let q = self.labels.count();
        let row = &self.scores[i * q..(i + 1) * q];
        let (positive, negative) = row.split_at(self.labels.relevant(i).len());
        let Extremes {
            low,
            high,
            low_at,
            high_at,
            ..
        } = self.extremes[i];
        let (low_at, high_at) = (low_at as usize, high_at as usize - positive.len());
        let support = &self.support[i];
        if support.is_empty() {
            return (low - high, low_at, high_at);
        }
        smallest_entry(positive, negative, support, 1.0 / self.labels.weight(i))
    }

    /// The pair with the smallest gradient entry (46); the first one of several.
    fn best(&mut self) -> Vertex {
        // The instance with the lowest bound is a good guess, which spares the others the closer look.
        let mut found = 0;
        for (i, extremes) in self.extremes.iter().enumerate() {
            if extremes.bound < self.extremes[found].bound {
                found = i;
            }
        }
        let mut best = self.best_of(found);
        self.extremes[found].bound = best.0;
        for i in 0..self.extremes.len() {
            let bound = self.extremes[i].bound;
            if bound > best.0 || (bound == best.0 && i >= found) {
                continue;
            }
            let candidate = self.best_of(i);
            self.extremes[i].bound = candidate.0;
            if candidate.0 < best.0 || (candidate.0 == best.0 && i < found) {
                (best, found) = (candidate, i);
            }
        }
        let row = found * self.labels.count();
        Vertex {
            instance: found,
            relevant: self.label[row + best.1],
            irrelevant: self.label[row + self.labels.relevant(found).len() + best.2],
            gradient: self.scale * best.0,
        }
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
        let alpha = &mut self.support[worst.instance][entry];
        *alpha = if step >= available {
            0.0
        } else {
            *alpha - weight
        };
        self.add_scores(worst.instance, worst.relevant, worst.irrelevant, -weight);
        let changed = &mut self.extremes[worst.instance];
        changed.bound = changed.low - changed.high;
        (
            step,
            objective + step * slope + 0.5 * step * step * curvature,
        )
    }
}

/// The smallest of `top - bottom + alpha / c` over all pairs of an instance, the first one of several, and its places.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma"))]
fn smallest_entry(
    positive: &[f64],
    negative: &[f64],
    table: &[f64],
    inverse_weight: f64,
) -> (f64, usize, usize) {
    let mut best = (f64::INFINITY, 0, 0);
    for (a, (&top, row)) in positive
        .iter()
        .zip(table.chunks_exact(negative.len()))
        .enumerate()
    {
        let value = |bottom: f64, alpha: f64| (top - bottom) + alpha * inverse_weight;
        let mut lanes = [f64::INFINITY; 4];
        let (bottoms, alphas) = (negative.chunks_exact(4), row.chunks_exact(4));
        let mut lowest = f64::INFINITY;
        for (&bottom, &alpha) in bottoms.remainder().iter().zip(alphas.remainder()) {
            lowest = lowest.min(value(bottom, alpha));
        }
        for (bottoms, alphas) in bottoms.zip(alphas) {
            for lane in 0..4 {
                lanes[lane] = lanes[lane].min(value(bottoms[lane], alphas[lane]));
            }
        }
        lowest = lanes.into_iter().fold(lowest, f64::min);
        if lowest < best.0 {
            let b = negative
                .iter()
                .zip(row)
                .position(|(&bottom, &alpha)| value(bottom, alpha) == lowest);
            best = (lowest, a, b.unwrap_or(0));
        }
    }
    best
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
    let (n, q) = (labels.instances(), labels.count());
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
        let (m, n) = (
            state.label[first * q],
            state.label[first * q + labels.relevant(first).len()],
        );
        state.add_weight(first, m, n, 1.0);
    }
    state.rebuild();

    let last = options.max_epochs.saturating_mul(pairs);
    let mut trace = Trace::default();
    let mut steps = Vec::new();
    let (mut iteration, mut next_record, mut restarts) = (1, 1, 0);
    let mut objective = state.objective();
    let (status, rho) = loop {
        let best = state.best();
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
            let rho = state.best().gradient;
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
                break (Status::Stalled, state.best().gradient);
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
    for i in 0..n {
        state.labels.scatter(
            i,
            &state.scores[i * q..(i + 1) * q],
            &mut scores[i * q..(i + 1) * q],
        );
        for (score, b) in scores[i * q..(i + 1) * q].iter_mut().zip(&bias) {
            *score = state.scale * *score - b;
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
