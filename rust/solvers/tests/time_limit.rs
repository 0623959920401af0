//! How loops end when time runs out, tested through the public interface for all kinds of bias.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, where a failure is a panic"
)]

use multimargin_solvers::kernel::gram::{Gram, Kernel};
use multimargin_solvers::labels::Labels;
use multimargin_solvers::linalg::features::{Dense, Features};
use multimargin_solvers::pairwise::bcd::Proximal;
use multimargin_solvers::pairwise::bias::Bias;
use multimargin_solvers::pairwise::loss::{Hinge, OptimalMargin};
use multimargin_solvers::pairwise::scores::StoredKernel;
use multimargin_solvers::pairwise::{self, Setup, Solution, published::frank_wolfe};
use multimargin_solvers::parallel::threads::Threads;
use multimargin_solvers::report::{Monitor, Poll, Record, Settings, Status};

/// Random features, some of them zero, and labels that depend on them.
struct Problem {
    n: usize,
    d: usize,
    q: usize,
    x: Vec<f64>,
    y: Vec<u8>,
}

impl Problem {
    fn new(seed: u64, n: usize, d: usize, q: usize) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut number = || 2.0 * random.f64() - 1.0;
        let x: Vec<f64> = (0..n * d)
            .map(|_| Some(number()).filter(|x| x.abs() > 0.3).unwrap_or(0.0))
            .collect();
        let w: Vec<f64> = (0..d * q).map(|_| number()).collect();
        let mut y = Vec::with_capacity(n * q);
        for row in x.chunks_exact(d) {
            for k in 0..q {
                let score: f64 = (0..d).map(|f| row[f] * w[f * q + k]).sum();
                y.push(u8::from(score + 0.5 * number() > 0.1));
            }
        }
        Self { n, d, q, x, y }
    }

    fn labels(&self, c: f64) -> Labels {
        Labels::new(&self.y, self.q, c).unwrap()
    }

    fn kernel_matrix(&self, kernel: Kernel) -> Vec<f64> {
        let x = Features::Dense(Dense::new(&self.x, self.n, self.d).unwrap());
        Gram::of(kernel, x)
            .matrix(&Threads::new(1), &mut ())
            .unwrap()
    }
}

fn setup(bias: Bias, settings: &Settings) -> Setup {
    Setup {
        bias,
        settings: settings.clone(),
        ..Setup::default()
    }
}

/// Labels 0 and 1 are relevant wherever a row mixes 2 and 3, so that no circulation joins the two groups.
fn two_components() -> Problem {
    let mut problem = Problem::new(50, 40, 3, 4);
    for (i, row) in problem.y.chunks_exact_mut(4).enumerate() {
        if i % 2 == 0 {
            (row[0], row[1]) = (1, 1);
        } else {
            (row[2], row[3]) = (0, 0);
        }
    }
    problem
}

/// Out of time after a number of polls.
struct Clock {
    looks: usize,
    recorded: bool,
}

impl Monitor for Clock {
    fn poll(&mut self) -> Poll {
        self.looks = self.looks.saturating_sub(usize::from(self.recorded));
        if self.looks == 0 && self.recorded {
            return Poll::OutOfTime { recorded: true };
        }
        Poll::Go
    }

    fn epoch(&mut self, _record: &Record) {
        self.recorded = true;
    }
}

/// `<B, K B>`, with the square of a penalized bias.
fn squared_norm(dual: &[f64], matrix: &[f64], bias: Bias, q: usize) -> f64 {
    let n = dual.len() / q;
    let extra = if bias == Bias::Penalized { 1.0 } else { 0.0 };
    let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    pairs
        .map(|(i, j)| {
            let (b, c) = (&dual[i * q..(i + 1) * q], &dual[j * q..(j + 1) * q]);
            let product: f64 = b.iter().zip(c).map(|(b, c)| b * c).sum();
            (matrix[i * n + j] + extra) * product
        })
        .sum()
}

#[test]
fn a_loop_that_runs_out_of_time_certifies_where_it_is() {
    for problem in [Problem::new(60, 40, 3, 4), two_components()] {
        let labels = problem.labels(10.0);
        let matrix = problem.kernel_matrix(Kernel::Rbf { gamma: 0.5 });
        let scores = || StoredKernel::new(&matrix, 40, 4).unwrap();
        let long = Settings {
            block_size: 7,
            tolerance: 1e-9,
            max_epochs: 100_000,
            ..Settings::default()
        };
        for bias in [Bias::Free, Bias::Penalized, Bias::None] {
            let by_blocks = |monitor: &mut dyn Monitor| {
                let step = Proximal::new(Hinge);
                pairwise::solve(&labels, &mut scores(), step, setup(bias, &long), monitor).unwrap()
            };
            let optimum = by_blocks(&mut ()).report;
            // In the middle of an epoch, at its end, and while a Newton step is made.
            for looks in [1, 2, 5, 23, 61] {
                let mut clock = Clock {
                    looks,
                    recorded: false,
                };
                let stopped = by_blocks(&mut clock);
                let report = &stopped.report;
                assert_eq!(report.status, Status::TimeLimit, "{bias:?} {looks}");
                assert!(report.epochs < optimum.epochs, "{bias:?} {looks}");
                assert!(report.dual > 0.0 && report.dual <= optimum.primal * (1.0 + 1e-9));
                assert!(report.primal >= optimum.dual * (1.0 - 1e-9), "{bias:?}");
                // The bound is the dual objective of the returned point, which is feasible.
                let quadratic = squared_norm(&stopped.dual, &matrix, bias, 4);
                let total: f64 = stopped.dual.iter().filter(|&&beta| beta > 0.0).sum();
                let dual = total - 0.5 * quadratic;
                assert!((report.dual - dual).abs() < 1e-9 * dual, "{bias:?} {looks}");
                let last = report.history.last().unwrap();
                assert_eq!((last.primal, last.dual), (report.primal, report.dual));
            }
            let clock = &mut Clock {
                looks: 1,
                recorded: false,
            };
            let stopped = frank_wolfe::solve(&labels, &mut scores(), setup(bias, &long), clock);
            assert_eq!(stopped.unwrap().report.status, Status::TimeLimit);
        }
    }
}

/// After its first epoch a large problem with a free bias has the bound of `B = 0`, for which nothing is computed anew.
#[test]
fn a_late_bound_of_a_large_problem_takes_no_further_epoch() {
    const N: usize = 1001;
    const Q: usize = 500;
    let indicator: Vec<u8> = (0..N * Q).map(|k| u8::from(k % 333 == 0)).collect();
    let labels = Labels::new(&indicator, Q, 1.0).unwrap();
    let mut matrix = vec![0.0; N * N];
    (0..N).for_each(|i| matrix[i * N + i] = 1.0);
    let mut scores = StoredKernel::new(&matrix, N, Q).unwrap();
    let clock = &mut Clock {
        looks: 1,
        recorded: false,
    };
    let setup = setup(Bias::Free, &Settings::default());
    let stopped = pairwise::solve(&labels, &mut scores, Proximal::new(Hinge), setup, clock);
    let Solution { dual, report, .. } = stopped.unwrap();
    assert_eq!((report.status, report.epochs), (Status::TimeLimit, 1));
    assert_eq!((report.dual, report.gap()), (0.0, 1.0));
    assert!(dual.iter().any(|&beta| beta != 0.0));
}

/// Counts its polls.
#[derive(Default)]
struct Counter {
    polls: usize,
}

impl Monitor for Counter {
    fn poll(&mut self) -> Poll {
        self.polls += 1;
        Poll::Go
    }

    fn epoch(&mut self, _record: &Record) {}
}

/// Rows with hundreds of relevant labels, whose proximal maps eliminate as many unknowns in each step.
#[test]
fn maps_that_take_long_are_asked_between() {
    const N: usize = 24;
    const Q: usize = 700;
    let mut random = fastrand::Rng::with_seed(1);
    let indicator: Vec<u8> = (0..N * Q).map(|_| random.u8(..2)).collect();
    let labels = Labels::new(&indicator, Q, 1.0).unwrap();
    let mut matrix = vec![0.0; N * N];
    (0..N).for_each(|i| matrix[i * N + i] = 1.0);
    let once = Settings {
        max_epochs: 1,
        ..Settings::default()
    };
    let mut scores = StoredKernel::new(&matrix, N, Q).unwrap();
    let step = Proximal::new(OptimalMargin::new(0.3, 0.5).unwrap());
    let mut counter = Counter::default();
    let setup = setup(Bias::None, &once);
    pairwise::solve(&labels, &mut scores, step, setup, &mut counter).unwrap();
    assert!(counter.polls >= N / 4, "{} polls", counter.polls);
}
