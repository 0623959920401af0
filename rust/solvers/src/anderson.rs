//! Anderson acceleration of an iteration `s <- g(s)` that leads to a fixed point (Walker and Ni 2011).
//!
//! With the residuals `r = g(s) - s` of the last iterations, the next state is the combination of their images whose
//! residual is smallest to first order:
//!
//! ```text
//! s = g(s_k) - dG gamma,   gamma = argmin || r_k - dR gamma ||,   dR = (.., r_j - r_{j-1}, ..), dG likewise
//! ```
//!
//! Splitting methods are such iterations in one matrix, and their steps do not increase residuals. If a combination did, its
//! image is discarded for the one before, and the history is cleared. So residuals shrink at least as fast as those of the
//! plain iteration, except for one wasted step each time.

use crate::linalg::vector::{axpy, dot};
use crate::memory;
use crate::parallel::threads::Threads;
use crate::tuning::Extrapolating;
use nalgebra::{DMatrix, DVector};

/// Numbers that one chunk of work handles: few enough for the cache, however long the history.
const CHUNK: usize = 1 << 11;

/// The memory of an iteration.
#[derive(Debug)]
pub(crate) struct Anderson {
    tuning: Extrapolating,
    /// `dR` and `dG` by columns; the newest replaces the oldest. Single precision is enough, as an extrapolation need not be
    /// exact.
    residuals: Vec<Vec<f32>>,
    images: Vec<Vec<f32>>,
    /// `dR^T dR`
    normal: DMatrix<f64>,
    /// The last residual, its image and its length.
    last: [Vec<f64>; 2],
    length: f64,
    /// Differences noted since the history was cleared; `None` before the first residual.
    known: Option<usize>,
}

impl Anderson {
    /// An empty history.
    pub fn new(tuning: &Extrapolating) -> Self {
        Self {
            tuning: tuning.clone(),
            residuals: Vec::new(),
            images: Vec::new(),
            normal: DMatrix::zeros(tuning.most, tuning.most),
            last: [Vec::new(), Vec::new()],
            length: f64::INFINITY,
            known: None,
        }
    }

    /// Clears the history, since the iteration has changed.
    pub fn forget(&mut self) {
        self.known = None;
    }

    /// Replaces the `image` of a state by the next state.
    pub fn step(&mut self, state: &[f64], image: &mut [f64], threads: &Threads) {
        let size = image.len();
        let most = self.tuning.most.min(self.tuning.room / (2 * size.max(1)));
        if !self.tuning.enabled || most < self.tuning.least {
            return;
        }
        let squares = threads.map(image.chunks(CHUNK).zip(state.chunks(CHUNK)), |_, (g, s)| {
            g.iter().zip(s).map(|(g, s)| (g - s).powi(2)).sum::<f64>()
        });
        let length = squares.iter().sum::<f64>().sqrt();
        // False also for a length that has overflowed to NaN.
        let shorter = length <= self.length;
        if self.known.is_some_and(|known| known > 0) && !shorter {
            image.copy_from_slice(&self.last[1]);
            return self.forget();
        }
        self.length = length;
        let known = self.known.unwrap_or(0);
        let (place, count) = (known % most, most.min(known + 1));
        if self.residuals.len() == place {
            self.residuals.push(memory::matrix(1, size));
            self.images.push(memory::matrix(1, size));
        }
        self.last
            .iter_mut()
            .for_each(|last| memory::resize(last, size, 0.0));
        let products = self.remember(state, image, place, count, threads);
        if self.known.is_none() || !shorter {
            self.known = length.is_finite().then_some(0);
            return;
        }
        let sum = |k: usize| products.iter().map(|row| row[k]).sum::<f64>();
        self.known = Some(known + 1);
        for k in 0..count {
            let product = sum(k);
            (self.normal[(k, place)], self.normal[(place, k)]) = (product, product);
        }
        let mut normal = self.normal.view((0, 0), (count, count)).into_owned();
        let damping = self.tuning.damping * normal.trace();
        (0..count).for_each(|k| normal[(k, k)] += damping);
        let right = DVector::from_fn(count, |k, _| sum(count + k));
        let gamma = normal.cholesky().map(|of_normal| of_normal.solve(&right));
        let Some(gamma) = gamma.filter(|gamma| gamma.iter().all(|x| x.is_finite())) else {
            return self.forget();
        };
        threads.for_each_chunk(image, CHUNK, |index, image| {
            for (of_image, gamma) in self.images.iter().zip(&gamma) {
                axpy(-gamma, &of_image[index * CHUNK..], image);
            }
        });
    }

    /// Stores a residual and its image, and their differences from the last ones in column `place`. Returns, for each chunk,
    /// the products of `count` columns of `dR` with the new column and with the residual.
    fn remember(
        &mut self,
        state: &[f64],
        image: &[f64],
        place: usize,
        count: usize,
        threads: &Threads,
    ) -> Vec<Vec<f64>> {
        let mut of_residual = std::mem::take(&mut self.residuals[place]);
        let (others, [residual, own]) = (&self.residuals, &mut self.last);
        let new = of_residual
            .chunks_mut(CHUNK)
            .zip(self.images[place].chunks_mut(CHUNK));
        let last = residual.chunks_mut(CHUNK).zip(own.chunks_mut(CHUNK));
        let products = threads.map(new.zip(last), |index, ((of_residual, of_image), (r, g))| {
            let range = index * CHUNK..index * CHUNK + r.len();
            let given = state[range.clone()].iter().zip(&image[range.clone()]);
            let differences = of_residual.iter_mut().zip(of_image);
            let old = r.iter_mut().zip(g);
            for (((dr, dg), (r, g)), (s, image)) in differences.zip(old).zip(given) {
                (*dr, *dg) = ((image - s - *r) as f32, (image - *g) as f32);
                (*r, *g) = (image - s, *image);
            }
            let column = |k: usize| {
                if k == place {
                    &*of_residual
                } else {
                    &others[k][range.clone()]
                }
            };
            let with_new = (0..count).map(|k| dot(column(k), of_residual));
            let with_last = (0..count).map(|k| dot(column(k), r));
            with_new.chain(with_last).collect()
        });
        self.residuals[place] = of_residual;
        products
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A linear map towards a point, slow in most of its directions.
    fn image(state: &[f64]) -> Vec<f64> {
        let at = |k: usize| 1.0 - 0.5_f64.powi((k % 6) as i32);
        let sum: f64 = state.iter().sum::<f64>() / state.len() as f64;
        let parts = state.iter().enumerate();
        parts.map(|(k, s)| at(k) * s + 0.01 * sum + 1.0).collect()
    }

    /// The distance of the state after `steps` steps from its image.
    fn residual(size: usize, steps: usize, threads: usize, anderson: bool) -> (f64, Vec<f64>) {
        let (threads, mut memory) = (
            Threads::new(threads),
            Anderson::new(&Extrapolating::default()),
        );
        let mut state = vec![0.0; size];
        for _ in 0..steps {
            let mut next = image(&state);
            if anderson {
                memory.step(&state, &mut next, &threads);
            }
            state = next;
        }
        let rest = image(&state)
            .iter()
            .zip(&state)
            .map(|(g, s)| (g - s).powi(2))
            .sum::<f64>();
        (rest.sqrt(), state)
    }

    #[test]
    fn a_linear_map_of_few_speeds_ends_in_as_many_steps() {
        let (first, _) = residual(600, 0, 1, false);
        let (plain, _) = residual(600, 20, 1, false);
        let (fast, _) = residual(600, 20, 1, true);
        assert!(
            plain > 0.1 * first && fast < 1e-9 * first,
            "{plain} {fast} {first}"
        );
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let of = |threads| residual(3 * CHUNK + 7, 15, threads, true).1;
        assert_eq!(of(1), of(3));
    }

    /// If residuals grow or are NaN, the images are taken as they are.
    #[test]
    fn what_misleads_is_forgotten() {
        let (threads, mut memory) = (Threads::default(), Anderson::new(&Extrapolating::default()));
        for factor in [1.0, 2.0, 4.0, f64::NAN, f64::INFINITY, 1.0] {
            let mut next = vec![factor, 2.0 * factor];
            memory.step(&[0.0, 0.0], &mut next, &threads);
            assert_eq!(next[0].to_bits(), factor.to_bits());
            assert_eq!(next[1].to_bits(), (2.0 * factor).to_bits());
        }
        // Two residuals on a line, and the zero of that line.
        let mut next = vec![0.75, 1.75];
        memory.step(&[0.25, 0.75], &mut next, &threads);
        let error = (next[0] - 0.5).abs() + (next[1] - 1.5).abs();
        assert!(error < 1e-6, "{next:?}");
        // The residual there is longer: back to the previous image.
        let mut next = vec![9.0, 9.0];
        memory.step(&[0.5, 1.5], &mut next, &threads);
        assert_eq!(next, [0.75, 1.75]);
        let mut next = vec![0.25, 0.5];
        memory.step(&[0.0, 0.0], &mut next, &threads);
        assert_eq!(next, [0.25, 0.5]);
    }

    /// States too large for a history.
    #[test]
    fn large_states_are_left_alone() {
        let tuning = Extrapolating::default();
        let size = tuning.room / (2 * tuning.least) + 1;
        let (threads, mut memory) = (Threads::default(), Anderson::new(&Extrapolating::default()));
        for factor in [1.0, 0.5, 0.25] {
            let mut next = vec![factor; size];
            memory.step(&vec![0.0; size], &mut next, &threads);
            assert!(next.iter().all(|&x| x == factor));
            assert!(memory.residuals.is_empty());
        }
    }
}
