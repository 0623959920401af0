//! A geometry that is not in the crate, written only against the public interface.
//!
//! The instances lie in groups, and `K_ij` is 1 within a group, else 0: the scores of an instance are the sum of its group's
//! rows of the dual matrix.

use multimargin_solvers::labels::Labels;
use multimargin_solvers::pairwise::bcd::Proximal;
use multimargin_solvers::pairwise::loss::Hinge;
use multimargin_solvers::pairwise::scores::{Moved, Scores, StoredKernel};
use multimargin_solvers::pairwise::{self, Setup, bias::Bias};
use multimargin_solvers::parallel::threads::Threads;
use multimargin_solvers::report::{Monitor, Settings, Status};

// [scores]
/// The group of each instance, and the sums of the groups' rows of `B`.
struct Groups {
    of: Vec<usize>,
    sums: Vec<f64>,
    diagonal: Vec<f64>,
    labels: usize,
}

impl Groups {
    fn add(&mut self, i: usize, change: &[f64]) {
        let sum = &mut self.sums[self.of[i] * self.labels..];
        sum.iter_mut().zip(change).for_each(|(s, c)| *s += c);
    }
}

impl Scores for Groups {
    type Dual = Vec<f64>;
    type Number = f64;

    fn labels(&self) -> usize {
        self.labels
    }

    fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    fn chain_length(&self) -> usize {
        16
    }

    fn open(&self, block: &[u32], scores: &mut [f64], kernel: &mut [f64], _: &mut Vec<f64>) {
        for (row, &i) in scores.chunks_mut(self.labels).zip(block) {
            row.copy_from_slice(&self.sums[self.of[i as usize] * self.labels..][..self.labels]);
        }
        for (row, &i) in kernel.chunks_mut(block.len()).zip(block) {
            let alike = block
                .iter()
                .map(|&j| self.of[i as usize] == self.of[j as usize]);
            row.iter_mut()
                .zip(alike)
                .for_each(|(value, alike)| *value = f64::from(alike));
        }
    }

    fn close(&mut self, moved: Moved<'_>, _threads: &Threads) {
        for (&i, change) in moved
            .instances
            .iter()
            .zip(moved.changes.chunks(self.labels))
        {
            self.add(i as usize, change);
        }
    }

    fn state(&mut self) -> &mut Vec<f64> {
        &mut self.sums
    }

    fn recompute(&mut self, dual: &Vec<f64>, _: &Threads, _: &mut dyn Monitor) -> bool {
        self.sums.fill(0.0);
        for (i, row) in dual.chunks(self.labels).enumerate() {
            self.add(i, row);
        }
        true
    }
}
// [end of scores]

#[test]
fn the_engine_solves_the_problem_of_its_kernel_matrix() {
    let (n, q, groups) = (60, 5, 7);
    let mut random = fastrand::Rng::with_seed(3);
    let y: Vec<u8> = (0..n * q).map(|_| u8::from(random.bool())).collect();
    let labels = Labels::new(&y, q, 2.0).unwrap();
    let of: Vec<usize> = (0..n).map(|_| random.usize(..groups)).collect();
    let matrix: Vec<f64> = (0..n * n)
        .map(|k| f64::from(of[k / n] == of[k % n]))
        .collect();
    for bias in [Bias::Free, Bias::Penalized, Bias::None] {
        let solve = |scores: &mut pairwise::scores::DenseScores<'_>| {
            let settings = Settings {
                tolerance: 1e-9,
                max_epochs: 10_000,
                ..Settings::default()
            };
            let setup = Setup {
                bias,
                settings,
                ..Setup::default()
            };
            let step = Proximal::new(Hinge);
            pairwise::solve(&labels, scores, step, setup, &mut ())
                .unwrap()
                .report
        };
        let own = solve(&mut Groups {
            of: of.clone(),
            sums: vec![0.0; groups * q],
            diagonal: vec![1.0; n],
            labels: q,
        });
        let stored = solve(&mut StoredKernel::new(&matrix, n, q).unwrap());
        assert_eq!(own.status, Status::Converged, "{bias:?}");
        assert!(
            (own.primal - stored.primal).abs() < 2e-9 * stored.primal,
            "{bias:?}"
        );
        assert!(own.primal > 0.0);
    }
}
