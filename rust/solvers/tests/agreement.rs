//! How loops end, through the public interface: for all biases, in time and out of it, on hard and malformed problems.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, where a failure is a panic"
)]

use multimargin_solvers::error::SolverError;
use multimargin_solvers::kernel::gram::{Gram, Kernel};
use multimargin_solvers::labels::Labels;
use multimargin_solvers::linalg::features::{Dense, Features};
use multimargin_solvers::pairwise::bcd::{Proximal, Step};
use multimargin_solvers::pairwise::bias::Bias;
use multimargin_solvers::pairwise::frank_wolfe;
use multimargin_solvers::pairwise::loss::{Hinge, Loss, SquaredHinge};
use multimargin_solvers::pairwise::scores::{DenseScores, LinearDense, StoredKernel};
use multimargin_solvers::pairwise::{self, Setup};
use multimargin_solvers::parallel::threads::Threads;
use multimargin_solvers::report::{Monitor, Record, Report, Settings, Solution, Status};

const BIASES: [Bias; 3] = [Bias::Free, Bias::Penalized, Bias::None];

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

    fn dense(&self) -> Dense<'_> {
        Dense::new(&self.x, self.n, self.d).unwrap()
    }

    fn gram(&self, kernel: Kernel) -> Gram<'_> {
        Gram::of(kernel, Features::Dense(self.dense()))
    }

    fn kernel_matrix(&self, kernel: Kernel) -> Vec<f64> {
        self.gram(kernel).matrix(&Threads::new(1), &mut ()).unwrap()
    }
}

fn settings(tolerance: f64) -> Settings {
    Settings {
        tolerance,
        max_epochs: 100_000,
        ..Settings::default()
    }
}

fn run<S: DenseScores, T: Step>(
    labels: &Labels,
    scores: &mut S,
    step: T,
    bias: Bias,
    settings: &Settings,
    threads: usize,
    monitor: &mut dyn Monitor,
) -> Result<Solution, SolverError> {
    pairwise::solve(
        labels,
        scores,
        step,
        setup(bias, settings, threads),
        monitor,
    )
}

fn setup(bias: Bias, settings: &Settings, threads: usize) -> Setup {
    Setup {
        bias,
        settings: settings.clone(),
        threads: Threads::new(threads).into(),
        ..Setup::default()
    }
}

fn by_blocks<S: DenseScores>(
    labels: &Labels,
    scores: &mut S,
    bias: Bias,
    s: &Settings,
) -> Solution {
    run(labels, scores, Proximal::new(Hinge), bias, s, 1, &mut ()).unwrap()
}

/// Checks that two certified intervals of the optimum meet and that both are as narrow as promised.
fn assert_agree(one: &Solution, other: &Solution, tolerance: f64) {
    for solution in [one, other] {
        assert_eq!(solution.report.status, Status::Converged);
        assert!(solution.report.gap() <= tolerance);
        assert!(solution.report.gap() >= -1e-12);
        let last = solution.report.history.last().unwrap();
        assert_eq!(
            (last.primal, last.dual),
            (solution.report.primal, solution.report.dual)
        );
    }
    let slack = 1e-9 * one.report.primal.abs();
    assert!(one.report.dual <= other.report.primal + slack);
    assert!(other.report.dual <= one.report.primal + slack);
}

/// Solves a problem by several chains, and by one.
fn by_chains<L: Loss>(problem: &Problem, loss: &L, bias: Bias, chains: usize) -> [Solution; 2] {
    let labels = problem.labels(2.0);
    [1, chains].map(|chains| {
        let s = Settings {
            chains,
            block_size: 3,
            max_epochs: 20_000,
            ..settings(1e-9)
        };
        let step = Proximal::new(loss.clone());
        let mut scores = LinearDense::new(problem.dense(), problem.q);
        run(&labels, &mut scores, step, bias, &s, 2, &mut ()).unwrap()
    })
}

#[test]
fn chains_that_undo_each_other_are_held_back() {
    // All instances are the same but for their labels: each of 20 chains makes the whole step that all should make.
    let mut problem = Problem::new(91, 60, 4, 5);
    let row = problem.x[..4].to_vec();
    for x in problem.x.chunks_exact_mut(4) {
        x.copy_from_slice(&row);
    }
    for bias in BIASES {
        let [one, several] = by_chains(&problem, &Hinge, bias, 20);
        assert_agree(&one, &several, 2e-9);
    }
    let [one, several] = by_chains(&problem, &SquaredHinge, Bias::Penalized, 20);
    assert_agree(&one, &several, 2e-9);
    let history = &several.report.history;
    assert!(history[0].dual > 0.0, "the first epoch gains nothing");
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

/// Out of time after some looks at the clock.
struct Clock {
    looks: usize,
    recorded: bool,
}

impl Monitor for Clock {
    fn interrupted(&mut self) -> bool {
        false
    }

    fn out_of_time(&mut self) -> bool {
        self.looks = self.looks.saturating_sub(usize::from(self.recorded));
        self.looks == 0 && self.recorded
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
            ..settings(1e-9)
        };
        for bias in BIASES {
            let optimum = by_blocks(&labels, &mut scores(), bias, &long).report;
            // In the middle of an epoch, at its end, and while a Newton step is made.
            for looks in [1, 2, 5, 23, 61] {
                let mut clock = Clock {
                    looks,
                    recorded: false,
                };
                let step = Proximal::new(Hinge);
                let stopped = run(&labels, &mut scores(), step, bias, &long, 1, &mut clock);
                let stopped = stopped.unwrap();
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
            let setup = setup(bias, &long, 1);
            let stopped = frank_wolfe::solve(&labels, &mut scores(), setup, clock);
            match bias {
                Bias::Free => assert!(stopped.unwrap_err().to_string().starts_with("bias is")),
                _ => assert_eq!(stopped.unwrap().report.status, Status::TimeLimit),
            }
        }
    }
}

#[test]
fn a_loop_that_stalls_in_its_last_epoch_says_so() {
    let mut stalled = [0; 3];
    for seed in 0..300 {
        let problem = Problem::new(seed, 12, 4, 3);
        let labels = problem.labels(1.0);
        let matrix = problem.kernel_matrix(Kernel::Rbf { gamma: 0.5 });
        for (bias, stalled) in BIASES.into_iter().zip(&mut stalled) {
            let solve = |s: &Settings| {
                let mut scores = StoredKernel::new(&matrix, 12, 3).unwrap();
                by_blocks(&labels, &mut scores, bias, s).report
            };
            let free = solve(&settings(1e-300));
            let just_enough = Settings {
                max_epochs: free.epochs,
                ..settings(1e-300)
            };
            // Where a proximal point step would have ended too late for the limit, the way is another.
            let way = |report: &Report| {
                let points = report.history.iter().map(|r| (r.epoch, r.primal, r.dual));
                points.collect::<Vec<_>>()
            };
            if free.status != Status::Stalled {
                continue;
            }
            let limited = solve(&just_enough);
            if way(&limited) == way(&free) {
                assert_eq!(limited.status, Status::Stalled, "{bias:?}");
                *stalled += 1;
            }
        }
    }
    assert!(stalled.iter().all(|&count| count > 0), "{stalled:?}");
}

/// The bias is the multiplier of its constraint: followed well, it takes few more epochs than a bias in the kernel, which has
/// no constraint. With the bias held, the objectives of every epoch bound each other.
#[test]
fn a_free_bias_takes_about_the_epochs_of_a_penalized_one() {
    for (c, tolerance) in [(0.1, 1e-3), (0.1, 1e-5), (1.0, 1e-3), (1.0, 1e-5)] {
        let epochs = |bias: Bias| -> usize {
            let solutions = (0..6).map(|seed| {
                let problem = Problem::new(seed, 200, 30, 12);
                let mut scores = LinearDense::new(problem.dense(), 12);
                by_blocks(&problem.labels(c), &mut scores, bias, &settings(tolerance)).report
            });
            solutions
                .map(|report| {
                    assert_eq!(report.status, Status::Converged);
                    let history = &report.history;
                    assert!(history.iter().all(|record| record.dual <= record.primal));
                    report.epochs
                })
                .sum()
        };
        let (free, penalized) = (epochs(Bias::Free), epochs(Bias::Penalized));
        assert!(free <= penalized + 3 * penalized / 4, "{free} {penalized}");
    }
}
