//! All blocks at once, by the alternating direction method of multipliers (Boyd et al. 2011), where coordinate ascent is slow.
//!
//! Where the kernel has a low rank (linear features, fewer than rows) or `C` is large, the blocks hinder each
//! other. With scores `Z` of their own beside those of the model, the problem is
//!
//! ```text
//! min over F, Z   1/2 <F, K^-1 F> + sum_i phi_i(z_i),   F = Z
//! ```
//!
//! and an iteration with the penalty `rho` and the scaled multiplier `U` is
//!
//! ```text
//! F = argmin 1/2 <F, K^-1 F> + rho/2 ||F - Z + U||^2 = A (A^T A + I / rho)^-1 A^T (Z - U),   K = A A^T
//! G = relaxation F + (1 - relaxation) Z
//! z_i = prox of phi_i / rho at g_i + u_i
//! U = U + G - Z
//! ```
//!
//! which costs as much as an epoch: two products with `A` and one proximal map an instance. It depends on `S = Z + U` alone,
//! whose next value is extrapolated ([`crate::linalg::anderson`]) before the proximal maps part it. The rows of `A` are scaled to one
//! length, and those of `F`, `Z` and `U` with them. A free bias makes `A` centred and adds the mean row of `Z - U` to `F`.
//!
//! The displacements of the proximal maps are `-U`, and `B = -rho U` is in the feasible set of the dual problem after each of
//! them. The matrix `rho (Z - U - F)` has the scores `F`, but is not in that set; both meet at the optimum. Nothing here
//! certifies anything: the outer loop computes the gap of what it takes.

use crate::labels::Labels;
use crate::linalg::anderson::Anderson;
use crate::linalg::matmul::{View, multiply, multiply_add};
use crate::linalg::vector::{axpy, dot, mean, transposed};
use crate::memory;
use crate::pairwise::loss::{Loss, prompt_rows};
use crate::pairwise::scores::{self, LinearDense, Moved, Scores};
use crate::pairwise::splitting::{Map, RELAXATION, Squares, scale};
use crate::parallel::threads::{CHUNK, Threads};
use crate::report::Monitor;
use crate::tuning::{Extrapolating, Leaping};
use nalgebra::DMatrix;

/// What is left of a kernel value, relative to the largest one, when the root is complete.
const ROUNDING: f64 = 1e-13;

/// Rows of the root that are multiplied between two questions to the monitor.
const TOGETHER: usize = 256;

/// Largest matrix that is inverted in one piece.
const SMALL: usize = 64;

/// What a kernel has beside that of the scores.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Beside {
    /// A weight times `v v^T`, with the factors `v` of the instances.
    Direction(f64),
    /// A free bias.
    Free,
}

/// The state of the method.
pub(crate) struct Admm {
    labels: usize,
    root: Root,
    /// `A^T A`, and the inverse of `A^T A + I / rho`.
    gram: Vec<f64>,
    inverse: Vec<f64>,
    rho: f64,
    tuning: Leaping,
    /// `Z`, and the displacements `-U` of the proximal maps.
    scores: Vec<f64>,
    displacements: Vec<f64>,
    iterations: usize,
    anderson: Anderson,
}

/// `A`, of a row for each instance with pairs.
pub(crate) struct Root {
    /// The instances.
    instances: Vec<u32>,
    values: Vec<f64>,
    rank: usize,
    /// By what its rows are multiplied, and those of `F`, `Z` and `U`.
    scales: Vec<f64>,
    /// Whether the bias is free.
    free: bool,
}

/// Why there is no root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRoot {
    /// The kernel is indefinite, or its rank too large.
    Never,
    /// A rank of so much at least is not worth it.
    Dear(usize),
    Interrupted,
}

/// How many columns explain all, if not more, by what the first ones explain: before, and now. Pivots gain less and less; what
/// is explained grows like a power of their number at best.
fn foreseen(before: (f64, f64), (rank, explained): (f64, f64)) -> f64 {
    let power = (explained / before.1).ln() / (rank / before.0).ln();
    let power = if power.is_finite() {
        power.min(1.0)
    } else {
        1.0
    };
    rank * explained.recip().powf(power.recip())
}

/// The kernel of the scores between some instances and the `pivots` among them, row-major with a column for each label, of
/// which the first ones are of use. The state of `scores` is that of `B = 0` afterwards.
fn kernel_columns<S: Scores + ?Sized>(
    scores: &mut S,
    instances: &[u32],
    pivots: &[usize],
    threads: &Threads,
) -> Vec<f64> {
    let q = scores.labels();
    let mut units = memory::matrix(pivots.len(), q);
    for (k, unit) in units.chunks_exact_mut(q).enumerate() {
        unit[k] = 1.0;
    }
    let moved: Vec<u32> = pivots.iter().map(|&pivot| instances[pivot]).collect();
    let moved = Moved {
        instances: &moved,
        changes: &units,
        nonzeros: None,
    };
    scores.state().fill(S::Number::default());
    scores.close(moved, threads);
    scores::of(scores, instances, threads)
}

impl Root {
    /// The pivoted Cholesky decomposition of the kernel of the scores and what it has `beside`, with the factors `v`, unless its rank, as far as it
    /// is known, is one that is not `worth` it. The state of `scores` is another one afterwards.
    pub fn new<S: Scores + ?Sized>(
        labels: &Labels,
        scores: &mut S,
        (beside, factors): (Beside, &[f64]),
        worth: impl Fn(usize) -> bool,
        tuning: &Leaping,
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> Result<Self, NoRoot> {
        let q = scores.labels();
        let weight = match beside {
            Beside::Direction(weight) => weight,
            Beside::Free => 0.0,
        };
        let instances: Vec<u32> = (0..labels.instances() as u32)
            .filter(|&i| labels.has_pairs(i as usize))
            .collect();
        let factor = |i: u32| factors[i as usize];
        let diagonal = scores.diagonal();
        let of = |&i: &u32| diagonal[i as usize] + weight * factor(i).powi(2);
        let mut rest: Vec<f64> = instances.iter().map(of).collect();
        let largest = rest.iter().copied().fold(0.0, f64::max);
        let total: f64 = rest.iter().sum();
        let count = instances.len();
        let most = tuning.rank.min(tuning.root / count.max(1));
        // One after the other, `rank` of them.
        let (mut columns, mut rank, mut judged) = (Vec::new(), 0, tuning.probed);
        let mut before = (0.0, 0.0);
        loop {
            let mut pivots: Vec<usize> = (0..count)
                .filter(|&k| rest[k] > ROUNDING * largest)
                .collect();
            pivots.sort_unstable_by(|&j, &k| rest[k].total_cmp(&rest[j]).then(j.cmp(&k)));
            pivots.truncate(q);
            if pivots.is_empty() {
                break;
            }
            if monitor.poll().breaks_off() {
                return Err(NoRoot::Interrupted);
            }
            if rank >= judged {
                let explained = 1.0 - rest.iter().sum::<f64>() / total;
                let needed = foreseen(before, (rank as f64, explained)) as usize;
                before = (rank as f64, explained);
                if needed > most && count > most {
                    return Err(NoRoot::Never);
                }
                if !worth(needed.min(count)) {
                    return Err(NoRoot::Dear(needed.min(count)));
                }
                judged = 2 * rank;
            }
            let width = pivots.len();
            let kernel = kernel_columns(scores, &instances, &pivots, threads);
            let mut panel = memory::matrix(count, width);
            let found = View::rows(&columns, count).transposed();
            let at_pivots = pivots
                .iter()
                .map(|&pivot| (0..rank).map(move |j| j * count + pivot));
            let known: Vec<f64> = at_pivots.flatten().map(|at| -columns[at]).collect();
            let known = View::rows(&known, rank).transposed();
            multiply((count, rank, width), found, known, &mut panel);
            let old = rank;
            for (k, &pivot) in pivots.iter().enumerate() {
                if rest[pivot] <= ROUNDING * largest {
                    continue;
                }
                if rank == most {
                    return Err(NoRoot::Never);
                }
                let own = weight * factor(instances[pivot]);
                let value = |(j, &i): (usize, &u32)| {
                    kernel[j * q + k] + own * factor(i) + panel[j * width + k]
                };
                let mut column: Vec<f64> =
                    memory::collected(instances.iter().enumerate().map(value));
                for other in columns[old * count..].chunks_exact(count) {
                    axpy(-other[pivot], other, &mut column);
                }
                let scale = column[pivot].sqrt().recip();
                if !scale.is_finite() {
                    return Err(NoRoot::Never);
                }
                for (entry, rest) in column.iter_mut().zip(&mut rest) {
                    *entry *= scale;
                    *rest -= *entry * *entry;
                }
                rest[pivot] = 0.0;
                memory::extend(&mut columns, column);
                rank += 1;
            }
        }
        let definite = rest.iter().all(|&rest| rest >= -ROUNDING.sqrt() * largest);
        if !definite || rank == 0 {
            return Err(NoRoot::Never);
        }
        let mut root = Self {
            instances,
            values: transposed(&columns, rank, count),
            rank,
            scales: vec![1.0; count],
            free: matches!(beside, Beside::Free),
        };
        // Rows of a kernel from its mean differ by what is left of rows that are alike.
        if scores.is_linear() {
            root.scale();
        }
        if root.free {
            root.centre();
        }
        Ok(root)
    }

    /// Gives all rows one length: the scores of long rows would hide those of the others. A row of next to nothing stays
    /// short.
    fn scale(&mut self) {
        let squares = self.values.chunks_exact(self.rank).map(|row| dot(row, row));
        let squares: Vec<f64> = squares.collect();
        let mean = mean(&squares);
        self.scales = squares.iter().map(|&square| scale(square, mean)).collect();
        for (row, scale) in self.values.chunks_exact_mut(self.rank).zip(&self.scales) {
            row.iter_mut().for_each(|value| *value *= scale);
        }
    }

    /// Subtracts the mean row.
    fn centre(&mut self) {
        let mean_row = self.mean_row(&self.values, self.rank);
        for (row, scale) in self.values.chunks_exact_mut(self.rank).zip(&self.scales) {
            axpy(-scale, &mean_row, row);
        }
    }

    /// The row `m` for which the multiples of `m` by the scales are nearest to the rows.
    fn mean_row(&self, rows: &[f64], width: usize) -> Vec<f64> {
        let mut mean = vec![0.0; width];
        let total = self.total();
        for (row, scale) in rows.chunks_exact(width).zip(&self.scales) {
            axpy(scale / total, row, &mut mean);
        }
        mean
    }

    /// The sum of the squares of the scales.
    fn total(&self) -> f64 {
        dot(&self.scales, &self.scales)
    }

    /// Adds to some rows, from the first one on, what `F` has there by its weights and the bias.
    fn add_fitted(&self, first: usize, weights: &[f64], bias: &[f64], rows: &mut [f64]) {
        let (q, rank) = (bias.len(), self.rank);
        for (row, &scale) in rows.chunks_exact_mut(q).zip(&self.scales[first..]) {
            axpy(scale, bias, row);
        }
        let left = View::rows(&self.values[first * rank..], rank);
        let right = View::rows(weights, q);
        multiply_add((rows.len() / q, rank, q), left, right, rows);
    }

    /// `A^T A`; `None` when interrupted.
    fn gram(&self, threads: &Threads, monitor: &mut dyn Monitor) -> Option<Vec<f64>> {
        let mut gram = memory::matrix(self.rank, self.rank);
        for rows in self.values.chunks(TOGETHER * self.rank) {
            if monitor.poll().breaks_off() {
                return None;
            }
            LinearDense::add(&mut gram, rows, rows, self.rank, self.rank, threads);
        }
        Some(gram)
    }

    /// `A^T rows`, for rows of `q` numbers.
    fn transposed_product(&self, rows: &[f64], q: usize, threads: &Threads) -> Vec<f64> {
        let mut product = memory::matrix(self.rank, q);
        LinearDense::add(&mut product, &self.values, rows, self.rank, q, threads);
        product
    }
}

/// Inverts a positive definite matrix of so many rows in place, by halves; whether it is one, and nobody asked to stop.
fn invert(matrix: &mut [f64], size: usize, monitor: &mut dyn Monitor) -> bool {
    if size <= SMALL {
        let small = DMatrix::from_column_slice(size, size, matrix);
        let Some(decomposition) = small.cholesky() else {
            return false;
        };
        matrix.copy_from_slice(decomposition.inverse().as_slice());
        return true;
    }
    if monitor.poll().breaks_off() {
        return false;
    }
    let (first, second) = (size / 2, size - size / 2);
    let part = |rows: usize, columns: usize, at: usize| {
        let rows = (0..rows).flat_map(|i| &matrix[i * size + at..][..columns]);
        memory::collected(rows.copied())
    };
    let mut upper = part(first, first, 0);
    let side = part(first, second, first);
    let mut lower = part(size, second, first).split_off(first * second);
    if !invert(&mut upper, first, monitor) {
        return false;
    }
    let mut product = memory::matrix(first, second);
    let [of_upper, of_side] = [View::rows(&upper, first), View::rows(&side, second)];
    multiply((first, first, second), of_upper, of_side, &mut product);
    let mut taken = memory::matrix(second, second);
    let of_product = View::rows(&product, second);
    multiply(
        (second, first, second),
        of_side.transposed(),
        of_product,
        &mut taken,
    );
    axpy(-1.0, &taken, &mut lower);
    if !invert(&mut lower, second, monitor) {
        return false;
    }
    if monitor.poll().breaks_off() {
        return false;
    }
    let mut corner = memory::matrix(first, second);
    let of_lower = View::rows(&lower, second);
    multiply((first, second, second), of_product, of_lower, &mut corner);
    let of_corner = View::rows(&corner, second);
    multiply_add(
        (first, second, first),
        of_corner,
        of_product.transposed(),
        &mut upper,
    );
    for (i, row) in matrix.chunks_exact_mut(size).enumerate() {
        let (left, right) = row.split_at_mut(first);
        if let Some(below) = i.checked_sub(first) {
            let column = left.iter_mut().zip(corner.chunks_exact(second));
            column.for_each(|(value, corner)| *value = -corner[below]);
            right.copy_from_slice(&lower[below * second..][..second]);
        } else {
            left.copy_from_slice(&upper[i * first..][..first]);
            let row = right.iter_mut().zip(&corner[i * second..]);
            row.for_each(|(value, corner)| *value = -corner);
        }
    }
    true
}

impl Admm {
    /// Starts at a dual matrix of `q` labels whose scores, with the bias, are those of `at`; `None` where there is no inverse,
    /// or when interrupted.
    pub fn new(
        root: Root,
        dual: &[f64],
        at: &[f64],
        q: usize,
        tuning: &Leaping,
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> Option<Self> {
        let of = |rows: &[f64], power: i32| {
            let mut own = memory::matrix(root.instances.len(), q);
            let places = root.instances.iter().zip(&root.scales);
            for (row, (&i, scale)) in own.chunks_exact_mut(q).zip(places) {
                axpy(
                    scale.powi(power),
                    &rows[i as usize * q..(i as usize + 1) * q],
                    row,
                );
            }
            own
        };
        let gram = root.gram(threads, monitor)?;
        let mut admm = Self {
            displacements: of(dual, -1),
            scores: of(at, 1),
            labels: q,
            root,
            gram,
            inverse: Vec::new(),
            rho: 1.0,
            tuning: tuning.clone(),
            iterations: 0,
            anderson: Anderson::new(&Extrapolating::default()),
        };
        let square = dot(&admm.displacements, &admm.displacements);
        let rho = (square / admm.spread()).sqrt();
        admm.displacements.iter_mut().for_each(|u| *u /= rho);
        (admm.inverse, admm.rho) = (admm.inverted(rho, monitor)?, rho);
        Some(admm)
    }

    /// With other numbers of the extrapolation.
    pub fn extrapolated(self, tuning: &Extrapolating) -> Self {
        Self {
            anderson: Anderson::new(tuning),
            ..self
        }
    }

    /// The inverse for a penalty; `None` where there is none, or when interrupted.
    fn inverted(&self, rho: f64, monitor: &mut dyn Monitor) -> Option<Vec<f64>> {
        let rank = self.root.rank;
        let mut inverse = memory::copied(&self.gram);
        for k in 0..rank {
            inverse[k * rank + k] += 1.0 / rho;
        }
        let exists = rho > 0.0 && rho.is_finite() && invert(&mut inverse, rank, monitor);
        exists.then_some(inverse)
    }

    /// At most so many iterations, as few when interrupted or out of time; how many there were.
    pub fn advance<L: Loss>(
        &mut self,
        most: usize,
        labels: &Labels,
        loss: &L,
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> usize {
        let prompt = prompt_rows(loss, labels);
        for count in 0..most {
            if monitor.poll().breaks_off() {
                return count;
            }
            let Some(squares) = self.iterate(labels, loss, threads, prompt, monitor) else {
                return count;
            };
            self.iterations += 1;
            let tuning = &self.tuning;
            let (often, balance) = if self.iterations <= tuning.early {
                (tuning.often, tuning.early_balance)
            } else {
                (tuning.iterations, tuning.balance)
            };
            if self.iterations.is_multiple_of(often) && self.iterations < tuning.balanced {
                let factor = balance.factor(squares.imbalance(self.spread()));
                self.change_penalty(factor, monitor);
            }
        }
        most
    }

    /// The sum of squares of `Z`: about the mean row, which is next to free, unless the bias is or all rows are alike.
    fn spread(&self) -> f64 {
        let square = dot(&self.scores, &self.scores);
        if self.root.free {
            return square;
        }
        let mean = self.root.mean_row(&self.scores, self.labels);
        let spread = square - self.root.total() * dot(&mean, &mean);
        if spread > ROUNDING * square {
            spread
        } else {
            square
        }
    }

    /// `Z - U`
    fn target(&self) -> Vec<f64> {
        let mut target = memory::copied(&self.scores);
        axpy(1.0, &self.displacements, &mut target);
        target
    }

    /// The mean row of `F` for that of the target: 0 without a free bias.
    fn mean_fitted(&self, target: &[f64]) -> Vec<f64> {
        if self.root.free {
            self.root.mean_row(target, self.labels)
        } else {
            vec![0.0; self.labels]
        }
    }

    /// `(A^T A + I / rho)^-1 A^T target`
    fn weights(&self, target: &[f64], threads: &Threads) -> Vec<f64> {
        let (q, rank) = (self.labels, self.root.rank);
        let product = self.root.transposed_product(target, q, threads);
        let mut weights = memory::matrix(rank, q);
        let inverse = View::rows(&self.inverse, rank);
        multiply(
            (rank, rank, q),
            inverse,
            View::rows(&product, q),
            &mut weights,
        );
        weights
    }

    /// `F` of all rows by its weights and the bias, and the state `Z + U` that comes next.
    fn next_state(&mut self, weights: &[f64], bias: &[f64], threads: &Threads) -> [Vec<f64>; 2] {
        let (q, root) = (self.labels, &self.root);
        let mut fitted = memory::matrix(root.instances.len(), q);
        threads.for_each_chunk(&mut fitted, CHUNK * q, |chunk, rows| {
            root.add_fitted(chunk * CHUNK, weights, bias, rows);
        });
        let mut state = memory::copied(&self.scores);
        axpy(-1.0, &self.displacements, &mut state);
        let mut next = memory::copied(&state);
        axpy(RELAXATION, &fitted, &mut next);
        axpy(-RELAXATION, &self.scores, &mut next);
        self.anderson.step(&state, &mut next, threads);
        [fitted, next]
    }

    /// One iteration, of at most `prompt` rows a thread between two looks; `None` when it was broken off, after some of the rows.
    fn iterate<L: Loss>(
        &mut self,
        labels: &Labels,
        loss: &L,
        threads: &Threads,
        prompt: usize,
        monitor: &mut dyn Monitor,
    ) -> Option<Squares> {
        let q = self.labels;
        let target = self.target();
        let bias = self.mean_fitted(&target);
        let weights = self.weights(&target, threads);
        let [fitted, state] = self.next_state(&weights, &bias, threads);
        let (root, rho) = (&self.root, self.rho);
        let together = CHUNK.min(prompt);
        // Easy rows are one group.
        let group = (prompt / together * together).saturating_mul(threads.count());
        let groups = self.scores.chunks_mut(group * q);
        let groups = groups.zip(self.displacements.chunks_mut(group * q));
        let mut squares = Squares::default();
        for (before, (scores, displacements)) in (0..).step_by(group).zip(groups) {
            if before > 0 && monitor.poll().breaks_off() {
                return None;
            }
            let rows = scores.chunks_mut(together * q);
            let rows = rows.zip(displacements.chunks_mut(together * q));
            let parts = threads.map(rows, |chunk, (scores, displacements)| {
                let first = before + chunk * together;
                let mut map = Map::new(labels, loss, rho);
                let rows = scores
                    .chunks_exact_mut(q)
                    .zip(displacements.chunks_exact_mut(q));
                for (k, (scores, displacements)) in (first..).zip(rows) {
                    let (i, row) = (root.instances[k] as usize, k * q..(k + 1) * q);
                    let (state, fitted) = (&state[row.clone()], &fitted[row]);
                    map.project(i, root.scales[k], state, fitted, scores, displacements);
                }
                map.squares
            });
            parts.iter().for_each(|part| squares.add(part));
        }
        Some(squares)
    }

    /// Changes the penalty and leaves `rho U` as it is; or both, where there is no inverse or when interrupted.
    fn change_penalty(&mut self, factor: f64, monitor: &mut dyn Monitor) {
        if factor == 1.0 {
            return;
        }
        let rho = self.rho * factor;
        if let Some(inverse) = self.inverted(rho, monitor) {
            (self.rho, self.inverse) = (rho, inverse);
            self.anderson.forget();
            self.displacements.iter_mut().for_each(|u| *u /= factor);
        }
    }

    /// The dual matrix of all instances and its dual terms; `None` when interrupted.
    pub fn dual<L: Loss>(
        &self,
        labels: &Labels,
        loss: &L,
        monitor: &mut dyn Monitor,
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        let (n, q) = (labels.instances(), self.labels);
        let (mut dual, mut terms) = (memory::matrix(n, q), vec![0.0; n]);
        let mut map = Map::new(labels, loss, self.rho);
        let rows = self.displacements.chunks_exact(q);
        let places = self.root.instances.iter().zip(&self.root.scales);
        let places = places.zip(rows).zip(self.scores.chunks_exact(q));
        let together = CHUNK.min(prompt_rows(loss, labels));
        for (k, (((&i, &scale), u), scores)) in places.enumerate() {
            if k.is_multiple_of(together) && monitor.poll().is_interrupted() {
                return None;
            }
            let i = i as usize;
            let row = &mut dual[i * q..(i + 1) * q];
            terms[i] = map.dual(i, scale, scores, u, row);
        }
        Some((dual, terms))
    }

    /// The matrix `rho (Z - U - F)` of all instances, whose scores are `F`: that of a model, if not a feasible one.
    pub fn model(&self, labels: &Labels, threads: &Threads) -> Vec<f64> {
        let (q, mut rest) = (self.labels, self.target());
        let (bias, weights) = (self.mean_fitted(&rest), self.weights(&rest, threads));
        let mut fitted = memory::matrix(self.root.instances.len(), q);
        self.root.add_fitted(0, &weights, &bias, &mut fitted);
        axpy(-1.0, &fitted, &mut rest);
        let mut model = memory::matrix(labels.instances(), q);
        let places = self.root.instances.iter().zip(&self.root.scales);
        for ((&i, scale), rest) in places.zip(rest.chunks_exact(q)) {
            let row = &mut model[i as usize * q..(i as usize + 1) * q];
            axpy(self.rho * scale, rest, row);
        }
        model
    }

    /// The free bias with which such scores have the mean row of `F`.
    pub fn bias(&self, scores: &[f64]) -> Vec<f64> {
        let (q, total) = (self.labels, self.root.total());
        let mut bias = self.root.mean_row(&self.target(), q);
        for (&i, scale) in self.root.instances.iter().zip(&self.root.scales) {
            let row = &scores[i as usize * q..(i as usize + 1) * q];
            axpy(-scale * scale / total, row, &mut bias);
        }
        bias
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairwise::bias::feasible;
    use crate::pairwise::loss::{Hinge, OptimalMargin, SquaredHinge, sum_of_losses};
    use crate::pairwise::scores::{self, StoredKernel};
    use crate::report::Stops;

    const N: usize = 30;
    const Q: usize = 4;

    /// A kernel of rank 3 and random labels.
    fn problem(random: &mut fastrand::Rng) -> (Vec<f64>, Labels) {
        let features: Vec<f64> = (0..N * 3).map(|_| random.f64() - 0.4).collect();
        let value = |k: usize| dot(&features[k / N * 3..][..3], &features[k % N * 3..][..3]);
        let indicator: Vec<u8> = (0..N * Q).map(|_| random.u8(..2)).collect();
        let kernel = (0..N * N).map(value).collect();
        (kernel, Labels::new(&indicator, Q, 100.0).unwrap())
    }

    /// Started where block steps would be early on.
    fn started(kernel: &[f64], labels: &Labels, beside: Beside, factors: &[f64]) -> Option<Admm> {
        let threads = Threads::default();
        let mut scores = StoredKernel::new(kernel, N, Q).unwrap();
        let dual: Vec<f64> = (0..N * Q).map(|k| ((k * k) % 7) as f64 - 3.0).collect();
        scores.recompute(&dual, &threads, &mut ());
        let at = scores::all(&scores, &threads);
        let tuning = Leaping::default();
        let root = Root::new(
            labels,
            &mut scores,
            (beside, factors),
            |_| true,
            &tuning,
            &threads,
            &mut (),
        );
        let root = root.ok()?;
        Admm::new(root, &dual, &at, Q, &tuning, &threads, &mut ())
    }

    /// An iteration is broken off between rows of hundreds of relevant labels, and so is the dual matrix.
    #[test]
    fn maps_that_take_long_are_asked_between() {
        const COUNT: usize = 12;
        const MANY: usize = 700;
        let mut random = fastrand::Rng::with_seed(1);
        let indicator: Vec<u8> = (0..COUNT * MANY).map(|_| random.u8(..2)).collect();
        let labels = Labels::new(&indicator, MANY, 1.0).unwrap();
        let mut kernel = vec![0.0; COUNT * COUNT];
        (0..COUNT).for_each(|i| kernel[i * COUNT + i] = 1.0);
        let (threads, loss) = (Threads::default(), OptimalMargin::new(0.3, 0.5).unwrap());
        let mut scores = StoredKernel::new(&kernel, COUNT, MANY).unwrap();
        // The scores of the kernel I are the dual matrix.
        let dual: Vec<f64> = (0..COUNT * MANY)
            .map(|k| (k * k % 7) as f64 - 3.0)
            .collect();
        let (beside, tuning) = (Beside::Direction(0.0), Leaping::default());
        let factors = [1.0; COUNT];
        let monitor = &mut ();
        let root = Root::new(
            &labels,
            &mut scores,
            (beside, &factors),
            |_| true,
            &tuning,
            &threads,
            monitor,
        );
        let root = root.unwrap();
        let admm = Admm::new(root, &dual, &dual, MANY, &tuning, &threads, monitor);
        let mut admm = admm.unwrap();
        assert_eq!(admm.advance(1, &labels, &loss, &threads, &mut Stops(3)), 0);
        assert!(admm.dual(&labels, &loss, &mut Stops(3)).is_none());
        assert_eq!(admm.advance(1, &labels, &loss, &threads, &mut Stops(99)), 1);
        assert!(admm.dual(&labels, &loss, &mut Stops(99)).is_some());
    }

    /// A rank that is not worth it is foreseen after a few columns, and nothing goes on when asked to stop.
    #[test]
    fn a_root_of_too_many_columns_is_given_up_early() {
        const COUNT: usize = 300;
        let indicator: Vec<u8> = (0..COUNT * Q).map(|k| u8::from(k % Q == 0)).collect();
        let labels = Labels::new(&indicator, Q, 1.0).unwrap();
        let mut kernel = vec![0.5; COUNT * COUNT];
        (0..COUNT).for_each(|i| kernel[i * COUNT + i] = 1.0);
        let mut scores = StoredKernel::new(&kernel, COUNT, Q).unwrap();
        let (threads, tuning) = (Threads::default(), Leaping::default());
        let beside = (Beside::Direction(0.0), &[1.0; COUNT][..]);
        let asked = std::cell::RefCell::new(Vec::new());
        let worth = |rank| {
            asked.borrow_mut().push(rank);
            false
        };
        let mut root =
            |worth: &dyn Fn(usize) -> bool, tuning: &Leaping, monitor: &mut dyn Monitor| {
                let scores = &mut scores;
                Root::new(&labels, scores, beside, worth, tuning, &threads, monitor)
                    .map(|root| root.rank)
            };
        let found = root(&worth, &tuning, &mut ());
        let Err(NoRoot::Dear(needed)) = found else {
            panic!("{found:?}");
        };
        // The first column explains half of everything, and the others as much as is left to each.
        assert!((tuning.probed..COUNT).contains(&needed), "{needed}");
        assert_eq!(*asked.borrow(), [needed]);
        assert_eq!(root(&|_| true, &tuning, &mut ()), Ok(COUNT));
        let interrupted = root(&|_| true, &tuning, &mut Stops(3));
        assert_eq!(interrupted, Err(NoRoot::Interrupted));
        let few = Leaping {
            rank: 70,
            ..tuning.clone()
        };
        let mut looks = Stops(1000);
        assert_eq!(root(&|_| true, &few, &mut looks), Err(NoRoot::Never));
        assert!(looks.0 > 900);
    }

    #[test]
    fn matrices_are_inverted_by_halves() {
        let mut random = fastrand::Rng::with_seed(1);
        for size in [1, 2, SMALL, SMALL + 1, 2 * SMALL + 3, 200] {
            let root: Vec<f64> = (0..size * size).map(|_| random.f64() - 0.5).collect();
            let view = View::rows(&root, size);
            let mut matrix = vec![0.0; size * size];
            multiply((size, size, size), view.transposed(), view, &mut matrix);
            (0..size).for_each(|k| matrix[k * (size + 1)] += 0.1);
            let mut inverse = matrix.clone();
            assert!(invert(&mut inverse, size, &mut ()));
            let mut product = vec![0.0; size * size];
            let [left, right] = [View::rows(&matrix, size), View::rows(&inverse, size)];
            multiply((size, size, size), left, right, &mut product);
            for (k, value) in product.iter().enumerate() {
                let expected = f64::from(k % (size + 1) == 0);
                assert!((value - expected).abs() < 1e-9, "{size} {k} {value}");
            }
            matrix[size * size - 1] = -1.0;
            assert!(!invert(&mut matrix, size, &mut ()));
        }
    }

    #[test]
    fn the_root_is_that_of_the_whole_kernel() {
        let mut random = fastrand::Rng::with_seed(2);
        let (kernel, labels) = problem(&mut random);
        let factors: Vec<f64> = (0..N).map(|_| random.f64()).collect();
        for (weight, rank) in [(0.0, 3), (2.0, 4)] {
            let admm = started(&kernel, &labels, Beside::Direction(weight), &factors).unwrap();
            let root = &admm.root;
            assert_eq!(root.rank, rank);
            for (j, &i) in root.instances.iter().enumerate() {
                for (l, &k) in root.instances.iter().enumerate() {
                    let (i, k) = (i as usize, k as usize);
                    let expected = kernel[i * N + k] + weight * factors[i] * factors[k];
                    let [row, other] = [j, l].map(|at| &root.values[at * rank..][..rank]);
                    let scaled = expected * root.scales[j] * root.scales[l];
                    assert!((dot(row, other) - scaled).abs() < 1e-12);
                }
            }
        }
        let none = Beside::Direction(0.0);
        let mut indefinite = kernel.clone();
        indefinite[N + 1] = -1.0;
        assert!(started(&indefinite, &labels, none, &factors).is_none());
        assert!(started(&[0.0; N * N], &labels, none, &factors).is_none());
        assert!(started(&[f64::NAN; N * N], &labels, none, &factors).is_none());
    }

    /// The primal objective of the model and the dual one of `B` meet.
    fn check<L: Loss>(loss: &L, seed: u64, beside: Beside) {
        let (kernel, labels) = problem(&mut fastrand::Rng::with_seed(seed));
        let threads = Threads::default();
        let mut admm = started(&kernel, &labels, beside, &[1.0; N]).unwrap();
        assert_eq!(admm.advance(6000, &labels, loss, &threads, &mut ()), 6000);
        let mut scores = StoredKernel::new(&kernel, N, Q).unwrap();
        let mut objective = |dual: &Vec<f64>| {
            scores.recompute(dual, &threads, &mut ());
            let all = scores::all(&scores, &threads);
            let mut sum = vec![0.0; Q];
            dual.chunks_exact(Q)
                .for_each(|row| axpy(1.0, row, &mut sum));
            let (bias, square) = match beside {
                Beside::Free => (admm.bias(&all), 0.0),
                Beside::Direction(weight) => {
                    let square = weight * dot(&sum, &sum);
                    (sum.iter().map(|g| weight * g).collect(), square)
                }
            };
            let quadratic = 0.5 * (dot(dual, &all) + square);
            (
                quadratic,
                quadratic + sum_of_losses(loss, &labels, &all, &bias),
                sum,
            )
        };
        let (_, primal, _) = objective(&admm.model(&labels, &threads));
        let (dual, terms) = admm.dual(&labels, loss, &mut ()).unwrap();
        let (quadratic, _, sum) = objective(&dual);
        let bound = terms.iter().sum::<f64>() - quadratic;
        assert!(
            (primal - bound).abs() < 1e-7 * primal,
            "{beside:?} {primal} {bound}"
        );
        if matches!(beside, Beside::Free) {
            assert!(sum.iter().all(|g| g.abs() < 1e-6));
        }
        if L::BOX {
            let nearest = feasible(&labels, dual.clone());
            let largest = labels.weight_of_pairs();
            for (nearest, beta) in nearest.iter().zip(&dual) {
                assert!((nearest - beta).abs() <= 1e-12 * largest);
            }
        }
    }

    #[test]
    fn model_and_dual_matrix_meet_at_the_optimum() {
        for seed in 0..5 {
            for beside in [Beside::Direction(0.0), Beside::Direction(1.0), Beside::Free] {
                check(&Hinge, seed, beside);
                check(&SquaredHinge, seed, beside);
                check(&OptimalMargin::new(0.3, 0.5).unwrap(), seed, beside);
            }
        }
    }
}
