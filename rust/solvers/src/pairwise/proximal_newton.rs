//! Proximal point steps by a semismooth Newton method, for hinge problems on which coordinate ascent is slow.
//!
//! Where kernel values are nearly the same, or `C` is so large that the dual is nearly a linear programme, the blocks
//! hinder each other, and no momentum makes up for that. A proximal point step moves all of them at once:
//!
//! ```text
//! B+ = argmax over B   sum_i D_i(beta_i) - 1/2 <B, K B> - <b, g> - rho/2 ||B - A||^2,   A the current B
//! ```
//!
//! With `K` understood to include the augmentation `sigma`, its dual is smooth: over all matrices `U`, feasible or not,
//!
//! ```text
//! min over U   1/2 <U, K U> + sum_i env_i(V_i),   V = K U + b - rho A,   gradient K (U - B(U)),
//! B(U)_i = (prox of rho phi_i at V_i, minus V_i) / rho
//! ```
//!
//! where `env` is the Moreau envelope. `B(U)` lies in the feasible set for any `U`, and `1/2 <R, K R>` with
//! `R = B(U) - U` is the duality gap of the step. The hinge's proximal map moves groups of tied labels to a common
//! score, so its derivative averages over each group. Let `Q` subtract these averages (and be 0 on labels without a
//! group); Newton's direction is then
//!
//! ```text
//! R - Z,   (rho + Q K Q) Z = Q K R
//! ```
//!
//! by conjugate gradients: one product with `K` each, as in an epoch, and never more memory than a few matrices like
//! `B`. The smaller `rho`, the fewer steps, and the more the groups change within each; it is adapted.
//!
//! Nothing here certifies anything: a point is kept only if its dual objective is higher, and the engine computes the
//! gap of the problem as it stands.

use crate::labels::Labels;
use crate::linalg::rows::Rows;
use crate::linalg::vector::{axpy, dot};
use crate::memory;
use crate::pairwise::loss::Loss;
use crate::pairwise::scores::Scores;
use crate::parallel::threads::Threads;
use crate::report::Monitor;

/// Epochs before the first step: most problems are solved by then.
const PATIENCE: usize = 200;

/// Epochs to the tolerated gap, at the current rate, beyond which a problem counts as slow.
const CRAWL: f64 = 1000.0;

/// Epochs between two steps, of which the first raised the dual; after one that did not, [`PATIENCE`].
const WAIT: usize = 2;

/// A step may take as many products as there were epochs, and this many in any case.
pub(crate) const LEAST_PRODUCTS: usize = 100;

/// Matrices like `B` of more entries take too much memory, a dozen times.
const LARGEST: usize = 1 << 20;

/// First `rho`, relative to the mean of the kernel's diagonal, and its bounds.
const FIRST_RHO: f64 = 0.1;
const RHO_RANGE: (f64, f64) = (1e-10, 1.0);

/// `rho` falls to this share after a step of few Newton iterations and grows as much after one that was not finished.
const FALL: f64 = 0.1;
const GROWTH: f64 = 4.0;
const FEW: usize = 6;
const MOST: usize = 15;

/// A step ends when its own gap is this share of its proximal term.
const STEP_TOLERANCE: f64 = 0.1;

/// Gaps below this share of the objective are rounding.
const ROUNDING: f64 = 1e-17;

/// Relative residual at which conjugate gradients end. Where the kernel is ill conditioned, less is not enough.
const RESIDUAL: f64 = 1e-8;

/// Slope at which a line search ends, relative to the first one, and its most evaluations.
const SLOPE: f64 = 0.1;
const EVALUATIONS: usize = 10;

/// Scores that differ by fewer units of rounding are tied.
const TIE: f64 = 64.0 * f64::EPSILON;

/// Instances that one chunk of work handles.
const CHUNK: usize = 64;

/// How fast the gap falls. What momentum will solve is better left to it.
#[derive(Clone, Debug)]
struct Pace {
    /// Smallest gap so far, in units of the tolerated one.
    smallest: f64,
    /// Epochs, and the smallest gap, when there were half as many.
    before: (usize, f64),
    next: usize,
    crawls: bool,
}

impl Pace {
    fn new() -> Self {
        Self {
            smallest: f64::INFINITY,
            before: (0, f64::INFINITY),
            next: PATIENCE / 2,
            crawls: false,
        }
    }

    /// Told of the gap after each epoch; whether it has ever been too far from the tolerated one for its pace. That is
    /// asked each time the epochs have doubled.
    fn crawls(&mut self, epochs: usize, gap: f64) -> bool {
        self.smallest = self.smallest.min(gap);
        if epochs >= self.next {
            if epochs >= PATIENCE {
                let pace = (self.before.1 / self.smallest).ln() / (epochs - self.before.0) as f64;
                self.crawls |= self.smallest.ln() > CRAWL * pace;
            }
            self.before = (epochs, self.smallest);
            self.next = 2 * epochs;
        }
        self.crawls
    }
}

/// When to take the next step, and how far.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    rho: f64,
    next: usize,
    pace: Pace,
}

impl Schedule {
    /// Nothing for the first epochs.
    pub fn new() -> Self {
        Self {
            rho: FIRST_RHO,
            next: PATIENCE,
            pace: Pace::new(),
        }
    }

    /// Told of the gap after each epoch, in units of the tolerated one; whether it is time for a step.
    pub fn due(&mut self, epochs: usize, gap: f64) -> bool {
        self.pace.crawls(epochs, gap) && epochs >= self.next
    }

    /// `rho`, relative to the mean of the kernel's diagonal.
    pub fn rho(&self) -> f64 {
        self.rho
    }

    /// Most products of a step after that many epochs.
    pub fn products(epochs: usize) -> usize {
        epochs.max(LEAST_PRODUCTS)
    }

    /// Told of a step after `epochs` epochs; whether to take it.
    pub fn takes(&mut self, epochs: usize, step: &NewtonStep) -> bool {
        if !step.solved {
            self.rho *= GROWTH;
        } else if step.iterations <= FEW {
            self.rho *= FALL;
        }
        self.rho = self.rho.clamp(RHO_RANGE.0, RHO_RANGE.1);
        let ascends = step.gain > 0.0;
        self.next = epochs + step.products + if ascends { WAIT } else { PATIENCE };
        ascends
    }
}

/// The problem around the present dual matrix.
#[derive(Clone, Copy)]
pub(crate) struct Subproblem<'a, L: Loss> {
    pub labels: &'a Labels,
    pub loss: &'a L,
    pub threads: &'a Threads,
    /// The dual matrix `A`.
    pub dual: &'a [f64],
    /// The constant part `b` of the scores, how many times an instance has it, and the weight of `g` in them.
    pub offset: &'a [f64],
    pub factors: &'a [f64],
    pub sigma: f64,
    pub rho: f64,
}

/// What a step found.
#[derive(Clone, Debug)]
pub(crate) struct NewtonStep {
    /// A feasible dual matrix.
    pub dual: Vec<f64>,
    /// By how much its dual objective is higher.
    pub gain: f64,
    /// Products with the kernel it took.
    pub products: usize,
    iterations: usize,
    solved: bool,
}

/// Whether problems of `n` instances and `q` labels with this loss are within reach.
pub(crate) fn applies<L: Loss>(labels: &Labels) -> bool {
    L::BOX && labels.instances() * labels.count() <= LARGEST
}

/// Products with `K + sigma`, counted.
struct Products<'a, S: Scores> {
    scores: &'a mut S,
    sigma: f64,
    factors: &'a [f64],
    threads: &'a Threads,
    monitor: &'a mut dyn Monitor,
    count: usize,
    most: usize,
}

impl<S: Scores> Products<'_, S> {
    /// `out = (K + sigma) matrix`; `None` when interrupted or out of time.
    fn product(&mut self, matrix: &[f64], out: &mut [f64]) -> Option<()> {
        self.count += 1;
        if self.monitor.out_of_time() {
            return None;
        }
        let matrix_rows = S::Dual::of_dense(memory::copied(matrix), self.scores.labels());
        if !self
            .scores
            .recompute(&matrix_rows, self.threads, self.monitor)
        {
            return None;
        }
        out.copy_from_slice(&self.scores.all(self.threads));
        if self.sigma != 0.0 {
            let q = self.scores.labels();
            let mut sum = vec![0.0; q];
            for (row, factor) in matrix.chunks_exact(q).zip(self.factors) {
                axpy(self.sigma * factor, row, &mut sum);
            }
            for (row, &factor) in out.chunks_exact_mut(q).zip(self.factors) {
                axpy(factor, &sum, row);
            }
        }
        Some(())
    }

    fn exhausted(&self) -> bool {
        self.count >= self.most
    }
}

impl<L: Loss> Subproblem<'_, L> {
    /// `B(U)` and the groups of its tied labels (0 for none), from `K U`.
    fn image(&self, product: &[f64], image: &mut [f64], groups: &mut [u32]) {
        let (q, labels) = (self.labels.count(), self.labels);
        let mut rows: Vec<(&mut [f64], &mut [u32])> =
            image.chunks_mut(q).zip(groups.chunks_mut(q)).collect();
        self.threads
            .for_each_chunk(&mut rows, CHUNK, |chunk, rows| {
                let (mut shifted, mut centre, mut displacement) =
                    (vec![0.0; q], vec![0.0; q], vec![0.0; q]);
                let mut workspace = L::Workspace::default();
                let mut order = Vec::with_capacity(q);
                for (i, (image, groups)) in (chunk * CHUNK..).zip(rows) {
                    groups.fill(0);
                    if !labels.has_pairs(i) {
                        continue;
                    }
                    let range = i * q..(i + 1) * q;
                    let (product, anchor) = (&product[range.clone()], &self.dual[range]);
                    for k in 0..q {
                        let offset = self.factors[i] * self.offset[k];
                        shifted[k] = product[k] + offset - self.rho * anchor[k];
                    }
                    let centre = labels.gather(i, &shifted, &mut centre);
                    let displacement = &mut displacement[..centre.len()];
                    let pairs = labels.pairs_of(i);
                    let relevant = pairs.relevant;
                    let lambda = self.rho * labels.weight(i);
                    self.loss
                        .prox(centre, centre, displacement, pairs, lambda, &mut workspace);
                    for (centre, displacement) in centre.iter_mut().zip(&mut *displacement) {
                        *centre += *displacement;
                        *displacement /= self.rho;
                    }
                    labels.scatter(i, displacement, image);
                    if L::ZERO_LABEL {
                        find_ties_with_zero_label(centre, relevant);
                    } else {
                        find_ties(centre, relevant, &mut order);
                    }
                    labels.scatter(i, centre, &mut shifted);
                    for (group, &number) in groups.iter_mut().zip(&shifted) {
                        *group = number as u32;
                    }
                }
            });
    }

    /// The block nearest to one that rounding may have moved out of the feasible set.
    fn feasible(&self, dual: &mut [f64]) {
        let (q, labels) = (self.labels.count(), self.labels);
        self.threads.for_each_chunk(dual, CHUNK * q, |chunk, rows| {
            let (mut centre, mut displacement) = (vec![0.0; q], vec![0.0; q]);
            let mut workspace = L::Workspace::default();
            for (i, row) in (chunk * CHUNK..).zip(rows.chunks_exact_mut(q)) {
                if !labels.has_pairs(i) {
                    continue;
                }
                let centre = labels.gather(i, row, &mut centre);
                let displacement = &mut displacement[..centre.len()];
                let pairs = labels.pairs_of(i);
                let relevant = pairs.relevant;
                centre.iter_mut().for_each(|beta| *beta = -*beta);
                // With the margin taken out, the proximal map of the hinge projects (Moreau).
                centre[..relevant].iter_mut().for_each(|beta| *beta += 1.0);
                if L::ZERO_LABEL {
                    let irrelevant = relevant..centre.len() - 1;
                    centre[irrelevant].iter_mut().for_each(|beta| *beta -= 1.0);
                }
                self.loss.prox(
                    centre,
                    centre,
                    displacement,
                    pairs,
                    labels.weight(i),
                    &mut workspace,
                );
                labels.scatter(i, displacement, row);
            }
        });
    }

    /// The dual objective of a feasible `B` with `K B`.
    fn objective(&self, dual: &[f64], product: &[f64]) -> f64 {
        let q = self.labels.count();
        let mut total = -0.5 * dot(dual, product);
        for (i, row) in dual.chunks_exact(q).enumerate() {
            if self.labels.has_pairs(i) {
                total += self.labels.sum_of_pairs(i, row);
                total -= self.factors[i] * dot(self.offset, row);
            }
        }
        total
    }
}

/// Replaces scores, the relevant ones first, by the numbers of their groups: labels that share a score (a margin apart)
/// with one of the other side, or 0.
fn find_ties(scores: &mut [f64], relevant: usize, order: &mut Vec<usize>) {
    for score in &mut scores[..relevant] {
        *score -= 1.0;
    }
    order.clear();
    order.extend(0..scores.len());
    order.sort_unstable_by(|&j, &k| scores[k].total_cmp(&scores[j]).then(j.cmp(&k)));
    let largest = scores
        .iter()
        .fold(1.0, |largest: f64, s| largest.max(s.abs()));
    let mut number = 0.0;
    let mut first = 0;
    while first < order.len() {
        // The first one belongs to its group whatever it is: what has overflowed compares with nothing.
        let (mut end, mut sides) = (first + 1, [false; 2]);
        let mut previous = scores[order[first]];
        sides[usize::from(order[first] < relevant)] = true;
        while end < order.len() && previous - scores[order[end]] <= TIE * largest {
            previous = scores[order[end]];
            sides[usize::from(order[end] < relevant)] = true;
            end += 1;
        }
        let group = if sides == [true; 2] {
            number += 1.0;
            number
        } else {
            0.0
        };
        for &k in &order[first..end] {
            scores[k] = group;
        }
        first = end;
    }
}

/// The same with a zero label, whose group is the only one.
fn find_ties_with_zero_label(scores: &mut [f64], relevant: usize) {
    let zero = scores.len() - 1;
    let t = scores[zero];
    let largest = scores
        .iter()
        .fold(1.0, |largest: f64, s| largest.max(s.abs()));
    let mut any = false;
    for (k, score) in scores[..zero].iter_mut().enumerate() {
        let margin = if k < relevant { *score - t } else { t - *score };
        let tied = (margin - 1.0).abs() <= TIE * largest;
        any |= tied;
        *score = f64::from(u8::from(tied));
    }
    scores[zero] = f64::from(u8::from(any));
}

/// `Q matrix`: subtracts the mean of each group, and sets labels without a group to 0.
fn project(matrix: &mut [f64], groups: &[u32], q: usize) {
    let mut sums = vec![(0.0, 0.0); q + 1];
    for (row, groups) in matrix.chunks_exact_mut(q).zip(groups.chunks_exact(q)) {
        for (value, &group) in row.iter().zip(groups) {
            let (sum, count) = &mut sums[group as usize];
            *sum += value;
            *count += 1.0;
        }
        for (value, &group) in row.iter_mut().zip(groups) {
            let (sum, count) = sums[group as usize];
            *value = if group == 0 {
                0.0
            } else {
                *value - sum / count
            };
        }
        for &group in groups {
            sums[group as usize] = (0.0, 0.0);
        }
    }
}

/// Newton's method on one proximal point step.
struct Newton<'a, L: Loss> {
    centre: &'a Subproblem<'a, L>,
    /// `U` and `K U`.
    point: Vec<f64>,
    product: Vec<f64>,
    /// `B(U)` and its groups.
    image: Vec<f64>,
    groups: Vec<u32>,
    /// The direction `D` and `K D`; at first `R` and `K R`.
    direction: Vec<f64>,
    direction_product: Vec<f64>,
    conjugate: Vec<f64>,
    conjugate_product: Vec<f64>,
    residual: Vec<f64>,
    buffer: Vec<f64>,
}

impl<'a, L: Loss> Newton<'a, L> {
    /// At `U = A`, whose product is given.
    fn new(centre: &'a Subproblem<'a, L>, product: Vec<f64>) -> Self {
        let size = product.len();
        let mut newton = Self {
            centre,
            point: memory::copied(centre.dual),
            product,
            image: memory::zeros(size),
            groups: memory::filled(0, size),
            direction: memory::zeros(size),
            direction_product: memory::zeros(size),
            conjugate: memory::zeros(size),
            conjugate_product: memory::zeros(size),
            residual: memory::zeros(size),
            buffer: memory::zeros(size),
        };
        centre.image(&newton.product, &mut newton.image, &mut newton.groups);
        newton
    }

    /// `R` and `K R`; returns the gap `1/2 <R, K R>` of the step.
    fn remainder<S: Scores>(&mut self, products: &mut Products<'_, S>) -> Option<f64> {
        for ((r, b), u) in self.direction.iter_mut().zip(&self.image).zip(&self.point) {
            *r = b - u;
        }
        products.product(&self.direction, &mut self.direction_product)?;
        Some(0.5 * dot(&self.direction, &self.direction_product))
    }

    /// From `R` to Newton's direction: each conjugate gradient step on `Z` is taken off `R` and `K R` at once.
    fn solve_direction<S: Scores>(&mut self, products: &mut Products<'_, S>) -> Option<()> {
        let (q, rho) = (self.centre.labels.count(), self.centre.rho);
        self.residual.copy_from_slice(&self.direction_product);
        project(&mut self.residual, &self.groups, q);
        self.conjugate.copy_from_slice(&self.residual);
        let mut square = dot(&self.residual, &self.residual);
        let enough = RESIDUAL * RESIDUAL * square;
        while square > enough && !products.exhausted() {
            products.product(&self.conjugate, &mut self.conjugate_product)?;
            self.buffer.copy_from_slice(&self.conjugate_product);
            project(&mut self.buffer, &self.groups, q);
            axpy(rho, &self.conjugate, &mut self.buffer);
            let length = square / dot(&self.conjugate, &self.buffer);
            axpy(-length, &self.conjugate, &mut self.direction);
            axpy(
                -length,
                &self.conjugate_product,
                &mut self.direction_product,
            );
            axpy(-length, &self.buffer, &mut self.residual);
            let next = dot(&self.residual, &self.residual);
            let ratio = next / square;
            for (conjugate, r) in self.conjugate.iter_mut().zip(&self.residual) {
                *conjugate = r + ratio * *conjugate;
            }
            square = next;
        }
        Some(())
    }

    /// `<U + t D - B, K D>`, which grows with `t` when `B` is the image there.
    fn slope(&self, t: f64) -> f64 {
        self.point
            .iter()
            .zip(&self.direction)
            .zip(&self.image)
            .zip(&self.direction_product)
            .map(|(((u, d), b), product)| (u + t * d - b) * product)
            .sum()
    }

    /// Moves along the direction to where the slope is small; whether it fell at all.
    fn line_search(&mut self) -> bool {
        let first = self.slope(0.0);
        if first >= 0.0 {
            return false;
        }
        let (mut low, mut high, mut t) = ((0.0, first), None::<(f64, f64)>, 1.0);
        for remaining in (0..EVALUATIONS).rev() {
            self.buffer.copy_from_slice(&self.product);
            axpy(t, &self.direction_product, &mut self.buffer);
            self.centre
                .image(&self.buffer, &mut self.image, &mut self.groups);
            let here = self.slope(t);
            if here.abs() <= SLOPE * first.abs() || remaining == 0 {
                break;
            }
            if here < 0.0 {
                low = (t, here);
            } else {
                high = Some((t, here));
            }
            t = match high {
                None => 2.0 * t,
                Some(high) => {
                    let share = -low.1 / (high.1 - low.1);
                    low.0 + (high.0 - low.0) * share.clamp(0.1, 0.9)
                }
            };
        }
        axpy(t, &self.direction, &mut self.point);
        self.product.copy_from_slice(&self.buffer);
        true
    }
}

/// One proximal point step. The state of `scores` is that of another matrix afterwards. `None` when interrupted or
/// out of time.
pub(crate) fn step<L: Loss, S: Scores>(
    centre: &Subproblem<'_, L>,
    scores: &mut S,
    most_products: usize,
    monitor: &mut dyn Monitor,
) -> Option<NewtonStep> {
    let mut products = Products {
        scores,
        sigma: centre.sigma,
        factors: centre.factors,
        threads: centre.threads,
        monitor,
        count: 0,
        most: most_products,
    };
    let mut product = memory::zeros(centre.dual.len());
    products.product(centre.dual, &mut product)?;
    let before = centre.objective(centre.dual, &product);
    let mut newton = Newton::new(centre, product);
    let (mut iterations, mut solved) = (0, false);
    while iterations < MOST && !products.exhausted() {
        let gap = newton.remainder(&mut products)?;
        let moved: f64 = newton
            .image
            .iter()
            .zip(centre.dual)
            .map(|(b, a)| (b - a).powi(2))
            .sum();
        let tolerated = STEP_TOLERANCE * 0.5 * centre.rho * moved;
        solved = gap <= tolerated.max(ROUNDING * before.abs());
        if solved || !gap.is_finite() {
            break;
        }
        iterations += 1;
        newton.solve_direction(&mut products)?;
        if !newton.line_search() {
            break;
        }
    }
    let Newton {
        mut image,
        mut product,
        ..
    } = newton;
    centre.feasible(&mut image);
    products.product(&image, &mut product)?;
    Some(NewtonStep {
        gain: centre.objective(&image, &product) - before,
        dual: image,
        products: products.count,
        iterations,
        solved,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairwise::bcd::Proximal;
    use crate::pairwise::loss::Hinge;
    use crate::pairwise::scores::StoredKernel;
    use crate::pairwise::{self, Setup};
    use crate::report::{Record, Settings, Solution, Status};

    /// A kernel of low rank, close to a constant, and random labels.
    fn problem(seed: u64) -> (Vec<f64>, Labels, usize, usize) {
        let mut random = fastrand::Rng::with_seed(seed);
        let (n, q, rank) = (20, 4, 3);
        let features: Vec<f64> = (0..n * rank).map(|_| 0.1 * random.f64()).collect();
        let kernel = (0..n * n)
            .map(|k| {
                let (i, j) = (k / n * rank, k % n * rank);
                1.0 + dot(&features[i..i + rank], &features[j..j + rank])
            })
            .collect();
        let indicator: Vec<u8> = (0..n * q).map(|_| random.u8(..2)).collect();
        (kernel, Labels::new(&indicator, q, 100.0).unwrap(), n, q)
    }

    fn subproblem<'a>(
        labels: &'a Labels,
        threads: &'a Threads,
        dual: &'a [f64],
        offset: &'a [f64],
        rho: f64,
    ) -> Subproblem<'a, Hinge> {
        Subproblem {
            labels,
            loss: &Hinge,
            threads,
            dual,
            offset,
            factors: &[1.0; 20],
            sigma: 0.0,
            rho,
        }
    }

    /// The answer of the loop, without a bias.
    fn solved(
        labels: &Labels,
        scores: &mut StoredKernel<'_>,
        settings: Settings,
        monitor: &mut dyn Monitor,
    ) -> Solution {
        let setup = Setup {
            settings,
            ..Setup::default()
        };
        let step = Proximal::new(Hinge);
        pairwise::solve(labels, scores, step, setup, monitor).unwrap()
    }

    /// Around `A = 0` the proximal term is a kernel `K + rho`, on which coordinate ascent is quick.
    #[test]
    fn a_step_solves_the_proximal_problem() {
        let threads = Threads::new(1);
        for seed in 0..10 {
            let (kernel, labels, n, q) = problem(seed);
            let rho = 0.5;
            let (zeros, offset) = (vec![0.0; n * q], vec![0.0; q]);
            let subproblem = subproblem(&labels, &threads, &zeros, &offset, rho);
            let mut scores = StoredKernel::new(&kernel, n, q).unwrap();
            let found = step(&subproblem, &mut scores, 10_000, &mut ()).unwrap();
            assert!(found.solved && found.gain > 0.0);

            let mut augmented = kernel.clone();
            (0..n).for_each(|i| augmented[i * n + i] += rho);
            let mut scores = StoredKernel::new(&augmented, n, q).unwrap();
            let settings = Settings {
                tolerance: 1e-10,
                max_epochs: 100_000,
                ..Settings::default()
            };
            let solution = solved(&labels, &mut scores, settings, &mut ());
            assert_eq!(solution.report.status, Status::Converged);
            assert!(scores.recompute(&found.dual, &threads, &mut ()));
            let product = scores.all(&threads);
            let reached = subproblem.objective(&found.dual, &product);
            let (optimum, term) = (
                solution.report.dual,
                0.5 * rho * dot(&found.dual, &found.dual),
            );
            assert!(reached <= optimum * (1.0 + 1e-8));
            assert!(
                optimum - reached <= STEP_TOLERANCE * term + 1e-8 * optimum,
                "{seed}: {reached} {optimum} {term}"
            );
        }
    }

    /// Interrupts after some polls.
    struct Impatient(usize);

    impl Monitor for Impatient {
        fn interrupted(&mut self) -> bool {
            self.0 = self.0.saturating_sub(1);
            self.0 == 0
        }
        fn epoch(&mut self, _record: &Record) {}
    }

    #[test]
    fn an_interruption_leaves_a_certified_point() {
        let (kernel, labels, n, q) = problem(1);
        let threads = Threads::new(1);
        for patience in [410, 450, 500] {
            let mut scores = StoredKernel::new(&kernel, n, q).unwrap();
            let settings = Settings {
                tolerance: 1e-13,
                max_epochs: 20_000,
                ..Settings::default()
            };
            let mut monitor = Impatient(patience);
            let solution = solved(&labels, &mut scores, settings, &mut monitor);
            assert_eq!(solution.report.status, Status::Interrupted);
            let product = scores.all(&threads);
            let zeros = vec![0.0; q];
            let subproblem = subproblem(&labels, &threads, &solution.dual, &zeros, 1.0);
            let (reported, dual) = (
                solution.report.dual,
                subproblem.objective(&solution.dual, &product),
            );
            assert!((reported - dual).abs() <= 1e-9 * dual.abs());
            assert!(scores.recompute(&solution.dual, &threads, &mut ()));
            let exact = scores.all(&threads);
            for (x, y) in product.iter().zip(&exact) {
                assert!((x - y).abs() <= 1e-9);
            }
        }
    }

    #[test]
    fn blocks_of_two_labels_are_clipped() {
        let labels = Labels::new(&[1, 0, 0, 1, 1, 1], 2, 3.0).unwrap();
        let threads = Threads::new(1);
        let zeros = [0.0; 6];
        let subproblem = subproblem(&labels, &threads, &zeros, &[0.0; 2], 1.0);
        let mut dual = vec![5.0, -4.0, 0.25, -0.5, 0.0, 0.0];
        subproblem.feasible(&mut dual);
        assert_eq!(dual, [3.0, -3.0, 0.0, 0.0, 0.0, 0.0]);
        let mut dual = vec![2.5, -1.5, -1.0, 2.0, 0.0, 0.0];
        subproblem.feasible(&mut dual);
        for (beta, expected) in dual.iter().zip([2.0, -2.0, -1.5, 1.5, 0.0, 0.0]) {
            assert!((beta - expected).abs() < 1e-15);
        }
    }

    #[test]
    fn ties_join_labels_of_both_sides() {
        // Relevant: 3, 1, 1 (2, 0, 0 without the margin); irrelevant: 2, 0.5, 0, -1.
        let mut scores = vec![3.0, 1.0, 1.0, 2.0, 0.5, 0.0, -1.0];
        find_ties(&mut scores, 3, &mut Vec::new());
        assert_eq!(scores, [1.0, 2.0, 2.0, 1.0, 0.0, 2.0, 0.0]);
        let mut matrix = vec![1.0, 1.0, 2.0, 3.0, 7.0, 6.0, 9.0];
        project(&mut matrix, &[1, 2, 2, 1, 0, 2, 0], 7);
        assert_eq!(matrix, [-1.0, -2.0, -1.0, 1.0, 0.0, 3.0, 0.0]);
    }
}
