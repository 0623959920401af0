//! All blocks at once, by the alternating direction method of multipliers (Boyd et al. 2011), for problems where coordinate
//! ascent is slow.
//!
//! If the kernel has low rank (fewer linear features than rows) or `C` is large, the blocks hinder each other. With scores
//! `Z` for the losses, separate from the scores `F` of the model, the problem is
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
//! which costs as much as an epoch: two products with `A` and one proximal map per instance. It depends on `S = Z + U` only,
//! whose next value is extrapolated ([`crate::anderson`]) before the proximal maps split it into `Z` and `U`. The rows of
//! `A` are scaled to equal length, and those of `F`, `Z` and `U` accordingly. With a free bias, `A` is centred, and the mean
//! row of `Z - U` is added to `F`.
//!
//! The displacements of the proximal maps are `-U`, so that `B = -rho U` is dual feasible after each iteration. The matrix
//! `rho (Z - U - F)` has the scores `F`, but is not feasible; both agree at the optimum. Nothing is certified here: the
//! outer loop computes the gap of every point that it takes.

mod map;
mod root;
#[cfg(test)]
mod tests;

use map::RELAXATION;
pub use map::Squares;
pub(crate) use map::{Map, scale};
pub(crate) use root::{NoRoot, Root};

use crate::anderson::Anderson;
use crate::labels::Labels;
use crate::linalg::inverse::invert;
use crate::linalg::matmul::{View, multiply};
use crate::linalg::vector::{axpy, dot};
use crate::memory;
use crate::movements::Movements;
use crate::pairwise::loss::{Loss, prompt_rows};
use crate::parallel::threads::{CHUNK, Threads};
use crate::report::Monitor;
use crate::tuning::{Extrapolating, Leaping};

/// The rows of scores are considered equal if their spread is below this share of their squares.
const ALIKE: f64 = 1e-13;

/// The part of the problem's kernel that is not in the kernel of the scores.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Beside {
    /// This weight times `v v^T`, with the factors `v` of the instances.
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
    /// The distances that `Z` and `rho U` move, for the penalty of a loss with kinks.
    movements: Movements,
}

impl Admm {
    /// Starts at a dual matrix of `q` labels whose scores, with the bias, are those of `at`; `None` if there is no inverse,
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
            movements: Movements::default(),
        };
        let square = dot(&admm.displacements, &admm.displacements);
        let rho = (square / admm.spread()).sqrt();
        admm.displacements.iter_mut().for_each(|u| *u /= rho);
        (admm.inverse, admm.rho) = (admm.inverted(rho, monitor)?, rho);
        Some(admm)
    }

    /// With the settings of the extrapolation for a loss.
    pub fn extrapolated<L: Loss>(self, tuning: &Extrapolating) -> Self {
        let room = if L::BOX {
            tuning.room_of_kinks
        } else {
            tuning.room
        };
        let tuning = Extrapolating {
            room,
            ..tuning.clone()
        };
        Self {
            anderson: Anderson::new(&tuning),
            ..self
        }
    }

    /// The inverse for a penalty; `None` if there is none, or when interrupted.
    fn inverted(&self, rho: f64, monitor: &mut dyn Monitor) -> Option<Vec<f64>> {
        let rank = self.root.rank;
        let mut inverse = memory::copied(&self.gram);
        for k in 0..rank {
            inverse[k * rank + k] += 1.0 / rho;
        }
        let exists = rho > 0.0
            && rho.is_finite()
            && invert(&mut inverse, rank, &mut || monitor.poll().breaks_off());
        exists.then_some(inverse)
    }

    /// Makes at most `iterations` iterations, fewer when interrupted or out of time. Returns their number.
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
            let factor = self.factor::<L>(&squares);
            self.change_penalty(factor, monitor);
        }
        most
    }

    /// The factor of the penalty after an iteration with these residuals. At first it balances them, for a smooth loss also
    /// later. With kinks, residuals may balance at a penalty that is ten times too large: the penalty then becomes the ratio
    /// of the distances that `rho U` and `Z` have moved, as the ratio of the distances still to go would be the best one
    /// (Applegate et al. 2021).
    fn factor<L: Loss>(&mut self, squares: &Squares) -> f64 {
        let is_early = self.iterations <= self.tuning.early;
        let (often, balance) = if is_early {
            (self.tuning.often, self.tuning.early_balance)
        } else if L::BOX {
            (self.tuning.iterations, self.tuning.early_balance)
        } else {
            (self.tuning.iterations, self.tuning.balance)
        };
        if !self.iterations.is_multiple_of(often) {
            return 1.0;
        }
        let follows = L::BOX && self.iterations < self.tuning.followed;
        let ratio = follows.then(|| self.ratio_of_movements()).flatten();
        let ratio = if is_early || (!L::BOX && self.iterations < self.tuning.balanced) {
            Some(squares.imbalance(self.spread()))
        } else {
            ratio.map(|ratio| ratio / self.rho)
        };
        ratio.map_or(1.0, |ratio| balance.factor(ratio))
    }

    /// The distance moved by `rho U` relative to that of `Z`; see [`Movements::ratio`].
    fn ratio_of_movements(&mut self) -> Option<f64> {
        let multiplier = self.displacements.iter().map(|u| self.rho * u);
        let multiplier = memory::collected(multiplier);
        self.movements
            .ratio(memory::copied(&self.scores), multiplier)
    }

    /// The sum of squares of `Z`, measured from its mean row, which costs almost nothing, unless the bias is free or all
    /// rows are equal.
    fn spread(&self) -> f64 {
        let square = dot(&self.scores, &self.scores);
        if self.root.free {
            return square;
        }
        let mean = self.root.mean_row(&self.scores, self.labels);
        let spread = square - self.root.total() * dot(&mean, &mean);
        if spread > ALIKE * square {
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

    /// The mean row of the target, which `F` takes over; 0 without a free bias.
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

    /// The next state `S = Z + U`, given `F`.
    fn next_state(&mut self, fitted: &[f64], threads: &Threads) -> Vec<f64> {
        let mut state = memory::copied(&self.scores);
        axpy(-1.0, &self.displacements, &mut state);
        let mut next = memory::copied(&state);
        axpy(RELAXATION, fitted, &mut next);
        axpy(-RELAXATION, &self.scores, &mut next);
        self.anderson.step(&state, &mut next, threads);
        next
    }

    /// One iteration, with at most `prompt` rows per thread between two polls; `None` when interrupted partway.
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
        let fitted = self.root.fitted(&weights, &bias, threads);
        let state = self.next_state(&fitted, threads);
        let (root, rho) = (&self.root, self.rho);
        let together = CHUNK.min(prompt);
        // Cheap rows form a single group.
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

    /// Changes the penalty and leaves `rho U` unchanged; changes nothing if there is no inverse or when interrupted.
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

    /// The matrix `rho (Z - U - F)` of all instances, whose scores are `F`: it defines a model, but is not feasible.
    pub fn model(&self, labels: &Labels, threads: &Threads) -> Vec<f64> {
        let (q, mut rest) = (self.labels, self.target());
        let (bias, weights) = (self.mean_fitted(&rest), self.weights(&rest, threads));
        let fitted = self.root.fitted(&weights, &bias, threads);
        axpy(-1.0, &fitted, &mut rest);
        let mut model = memory::matrix(labels.instances(), q);
        let places = self.root.instances.iter().zip(&self.root.scales);
        for ((&i, scale), rest) in places.zip(rest.chunks_exact(q)) {
            let row = &mut model[i as usize * q..(i as usize + 1) * q];
            axpy(self.rho * scale, rest, row);
        }
        model
    }

    /// The free bias that gives these scores the mean row of `F`.
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
