//! The loops against each other through the public interface: all biases, all kinds of scores, any number of threads.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, where a failure is a panic"
)]

use multimargin_solvers::error::SolverError;
use multimargin_solvers::kernel::gram::{Gram, Kernel};
use multimargin_solvers::labels::Labels;
use multimargin_solvers::linalg::features::{Dense, Features, Sparse};
use multimargin_solvers::pairwise::bcd::{Proximal, Step};
use multimargin_solvers::pairwise::bias::Bias;
use multimargin_solvers::pairwise::dcd::OnePair;
use multimargin_solvers::pairwise::frank_wolfe;
use multimargin_solvers::pairwise::loss::{Hinge, Loss, OptimalMargin, SquaredHinge};
use multimargin_solvers::pairwise::scores::{
    DenseScores, KernelBlocks, LinearDense, LinearMetric, LinearSparse, StoredKernel,
};
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

/// The arrays of the CSR form.
fn compressed(problem: &Problem) -> (Vec<f64>, Vec<i32>, Vec<i32>) {
    let (mut data, mut indices, mut starts) = (Vec::new(), Vec::new(), vec![0]);
    for row in problem.x.chunks_exact(problem.d) {
        for (f, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            data.push(value);
            indices.push(f as i32);
        }
        starts.push(data.len() as i32);
    }
    (data, indices, starts)
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
    step: impl Fn(&Labels) -> Result<T, SolverError>,
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
    run(
        labels,
        scores,
        |_| Ok(Proximal::new(Hinge)),
        bias,
        s,
        1,
        &mut (),
    )
    .unwrap()
}

fn by_pairs<S: DenseScores>(labels: &Labels, scores: &mut S, bias: Bias, s: &Settings) -> Solution {
    let step = |labels: &Labels| OnePair::new(Hinge, labels);
    run(labels, scores, step, bias, s, 1, &mut ()).unwrap()
}

fn by_vertices<S: DenseScores>(
    labels: &Labels,
    scores: &mut S,
    bias: Bias,
    s: &Settings,
) -> Solution {
    frank_wolfe::solve(labels, scores, setup(bias, s, 1), &mut ()).unwrap()
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

#[test]
fn the_three_loops_agree_for_every_bias() {
    for seed in 0..12 {
        let problem = Problem::new(seed, 25, 4, 5);
        let labels = problem.labels([0.2, 1.0, 3.0][seed as usize % 3]);
        let matrix = problem.kernel_matrix(Kernel::Rbf { gamma: 0.5 });
        for bias in BIASES {
            let scores = || StoredKernel::new(&matrix, 25, 5).unwrap();
            let exact = by_blocks(&labels, &mut scores(), bias, &settings(1e-7));
            let pairs = by_pairs(&labels, &mut scores(), bias, &settings(1e-7));
            let vertices = by_vertices(&labels, &mut scores(), bias, &settings(1e-2));
            assert_agree(&exact, &pairs, 1e-7);
            assert_agree(&exact, &vertices, 1e-2);
            if bias == Bias::None {
                assert!(exact.bias.iter().all(|&b| b == 0.0));
            }
        }
    }
}

#[test]
fn all_kinds_of_scores_agree() {
    for seed in 20..26 {
        let problem = Problem::new(seed, 40, 6, 4);
        let labels = problem.labels(1.0);
        let (data, indices, starts) = compressed(&problem);
        let sparse = Sparse::new(&data, &indices, &starts, 6).unwrap();
        for bias in BIASES {
            let s = settings(1e-6);
            let matrix = problem.kernel_matrix(Kernel::Linear);
            let mut stored = StoredKernel::new(&matrix, 40, 4).unwrap();
            let stored = by_blocks(&labels, &mut stored, bias, &s);
            let mut dense = LinearDense::new(problem.dense(), 4);
            assert_agree(&stored, &by_blocks(&labels, &mut dense, bias, &s), 1e-6);
            let mut rows = LinearSparse::new(sparse, 4);
            assert_agree(&stored, &by_blocks(&labels, &mut rows, bias, &s), 1e-6);
            let identity: Vec<f64> = (0..36).map(|k| f64::from(u8::from(k % 7 == 0))).collect();
            let threads = Threads::new(1);
            let mut metric = LinearMetric::new(sparse, &identity, 4, &threads).unwrap();
            assert_agree(&stored, &by_blocks(&labels, &mut metric, bias, &s), 1e-6);
            assert!(LinearMetric::new(sparse, &identity[1..], 4, &threads).is_err());
            for features in [Features::Dense(problem.dense()), Features::Sparse(sparse)] {
                let gram = Gram::of(Kernel::Linear, features);
                let mut blocks = KernelBlocks::new(gram, 4, 0);
                assert_agree(&stored, &by_blocks(&labels, &mut blocks, bias, &s), 1e-6);
            }
        }
    }
}

#[test]
fn cache_of_kernel_rows_changes_nothing_but_rounding() {
    let problem = Problem::new(30, 50, 3, 4);
    let labels = problem.labels(2.0);
    let kernel = Kernel::Rbf { gamma: 1.0 };
    let matrix = problem.kernel_matrix(kernel);
    for bias in BIASES {
        let s = Settings {
            max_epochs: 5,
            ..settings(1e-12)
        };
        let mut stored = StoredKernel::new(&matrix, 50, 4).unwrap();
        let expected = by_blocks(&labels, &mut stored, bias, &s);
        for rows in [0, 1, 7, 49, 50, 1000] {
            let mut blocks = KernelBlocks::new(problem.gram(kernel), 4, 8 * 50 * rows);
            let found = by_blocks(&labels, &mut blocks, bias, &s);
            for (x, y) in found.dual.iter().zip(&expected.dual) {
                assert!((x - y).abs() < 1e-9, "{rows} rows: {x} {y}");
            }
        }
    }
}

#[test]
fn threads_give_equal_bits() {
    let problem = Problem::new(40, 400, 100, 4);
    let labels = problem.labels(0.5);
    let (data, indices, starts) = compressed(&problem);
    let sparse = Sparse::new(&data, &indices, &starts, 100).unwrap();
    let kernel = Kernel::Rbf { gamma: 0.05 };
    let s = Settings {
        max_epochs: 4,
        ..settings(1e-12)
    };
    fn solve<S: DenseScores>(
        labels: &Labels,
        mut scores: S,
        bias: Bias,
        s: &Settings,
        threads: usize,
    ) -> Solution {
        let step = |_: &Labels| Ok(Proximal::new(Hinge));
        run(labels, &mut scores, step, bias, s, threads, &mut ()).unwrap()
    }
    for (bias, chains) in BIASES.into_iter().flat_map(|bias| [(bias, 0), (bias, 3)]) {
        let s = Settings {
            chains,
            ..s.clone()
        };
        let at = |threads: usize| {
            let matrix = problem
                .gram(kernel)
                .matrix(&Threads::new(threads), &mut ())
                .unwrap();
            let blocks = KernelBlocks::new(problem.gram(kernel), 4, 8 * 400 * 50);
            [
                solve(
                    &labels,
                    StoredKernel::new(&matrix, 400, 4).unwrap(),
                    bias,
                    &s,
                    threads,
                ),
                solve(&labels, blocks, bias, &s, threads),
                solve(
                    &labels,
                    LinearDense::new(problem.dense(), 4),
                    bias,
                    &s,
                    threads,
                ),
                solve(&labels, LinearSparse::new(sparse, 4), bias, &s, threads),
            ]
        };
        let one = at(1);
        for threads in [2, 3, 4] {
            for (x, y) in one.iter().zip(&at(threads)) {
                assert_eq!((&x.dual, &x.bias), (&y.dual, &y.bias));
                assert_eq!(x.report.primal, y.report.primal);
                assert_eq!(x.report.dual, y.report.dual);
            }
        }
    }
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
        let step = |_: &Labels| Ok(Proximal::new(loss.clone()));
        let mut scores = LinearDense::new(problem.dense(), problem.q);
        run(&labels, &mut scores, step, bias, &s, 2, &mut ()).unwrap()
    })
}

#[test]
fn chains_reach_the_same_optimum() {
    for seed in 80..90 {
        let problem = Problem::new(seed, 60, 4, 5);
        for chains in [2, 5, 20] {
            for bias in BIASES {
                let [one, several] = by_chains(&problem, &Hinge, bias, chains);
                assert_agree(&one, &several, 2e-9);
            }
            let [one, several] = by_chains(&problem, &SquaredHinge, Bias::Penalized, chains);
            assert_agree(&one, &several, 2e-9);
            let loss = OptimalMargin::new(0.2, 0.4).unwrap();
            let [one, several] = by_chains(&problem, &loss, Bias::None, chains);
            assert_agree(&one, &several, 2e-9);
        }
    }
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

#[test]
fn components_of_a_free_bias_are_solved_apart() {
    let problem = two_components();
    let labels = problem.labels(1.0);
    let matrix = problem.kernel_matrix(Kernel::Rbf { gamma: 0.5 });
    let scores = || StoredKernel::new(&matrix, 40, 4).unwrap();
    let s = settings(1e-7);
    let blocks = by_blocks(&labels, &mut scores(), Bias::Free, &s);
    let vertices = by_vertices(&labels, &mut scores(), Bias::Free, &settings(1e-2));
    assert_agree(&blocks, &vertices, 1e-2);
    assert_agree(
        &blocks,
        &by_pairs(&labels, &mut scores(), Bias::Free, &s),
        1e-7,
    );
    assert!(blocks.bias.iter().sum::<f64>().abs() < 1e-9);
    // Each component on its own has the same dual variables and its share of the optimum.
    let parts: Vec<Solution> = [[0, 1], [2, 3]]
        .iter()
        .map(|subset| {
            let mut scores = StoredKernel::new(&matrix, 40, 2).unwrap();
            by_blocks(&labels.restricted(subset), &mut scores, Bias::Free, &s)
        })
        .collect();
    let optimum: f64 = parts.iter().map(|part| part.report.primal).sum();
    assert!((blocks.report.primal / optimum - 1.0).abs() < 1e-6);
    for k in 0..4 {
        let sum: f64 = blocks.dual.iter().skip(k).step_by(4).sum();
        assert!(sum.abs() < 1e-9, "{sum}");
    }
}

/// Asks to stop after some epochs.
struct StopAfter {
    epochs: usize,
    seen: Vec<Record>,
}

impl Monitor for StopAfter {
    fn interrupted(&mut self) -> bool {
        self.seen.len() >= self.epochs
    }

    fn epoch(&mut self, record: &Record) {
        self.seen.push(*record);
    }
}

#[test]
fn statuses_tell_why_a_loop_ended() {
    for problem in [Problem::new(60, 40, 3, 4), two_components()] {
        let labels = problem.labels(10.0);
        let matrix = problem.kernel_matrix(Kernel::Rbf { gamma: 0.5 });
        let short = Settings {
            max_epochs: 4,
            ..settings(1e-12)
        };
        for bias in BIASES {
            let scores = || StoredKernel::new(&matrix, 40, 4).unwrap();
            let solution = by_blocks(&labels, &mut scores(), bias, &short);
            assert_eq!(solution.report.status, Status::MaxIterations);
            assert_eq!(solution.report.epochs, 4);
            assert_eq!(solution.report.history.len(), 4);
            let solution = by_vertices(&labels, &mut scores(), bias, &short);
            assert_eq!(solution.report.status, Status::MaxIterations);
            assert_eq!(solution.report.epochs, 4);

            for epochs in [0, 2] {
                let mut monitor = StopAfter {
                    epochs,
                    seen: Vec::new(),
                };
                let step = |_: &Labels| Ok(Proximal::new(Hinge));
                let long = settings(1e-12);
                let stopped =
                    run(&labels, &mut scores(), step, bias, &long, 1, &mut monitor).unwrap();
                assert_eq!(stopped.report.status, Status::Interrupted);
                assert_eq!(stopped.report.epochs, epochs.max(1));
                assert_eq!(monitor.seen.len(), stopped.report.history.len());
                assert!(stopped.report.primal.is_finite());
                assert!(stopped.report.dual <= stopped.report.primal);
                assert_eq!(stopped.dual.iter().all(|&beta| beta == 0.0), epochs == 0);
            }
        }
    }
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
                let step = |_: &Labels| Ok(Proximal::new(Hinge));
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
            let stopped = frank_wolfe::solve(&labels, &mut scores(), setup, clock).unwrap();
            assert_eq!(stopped.report.status, Status::TimeLimit);
        }
    }
}

#[test]
fn indefinite_kernels_are_noticed_and_solved_to_the_tolerance() {
    for seed in 70..75 {
        let problem = Problem::new(seed, 30, 3, 4);
        let labels = problem.labels(1.0);
        let mut matrix = problem.kernel_matrix(Kernel::Linear);
        (0..30).for_each(|i| matrix[i * 30 + i] -= 3.0);
        for bias in BIASES {
            let mut scores = StoredKernel::new(&matrix, 30, 4).unwrap();
            let s = Settings {
                max_epochs: 2000,
                ..settings(1e-3)
            };
            let report = by_blocks(&labels, &mut scores, bias, &s).report;
            assert_eq!(report.status, Status::IndefiniteKernel);
            if bias != Bias::Free {
                // The first point within the tolerance is the last one.
                assert!(report.gap() <= 1e-3, "{bias:?}");
                let before = report.history.iter().rev().skip(1);
                let gaps = before.map(|record| (record.primal - record.dual) / record.primal.abs());
                assert!(gaps.into_iter().all(|gap| gap > 1e-3), "{bias:?}");
            }
        }
    }
}

#[test]
fn overflow_ends_the_loop_whatever_the_bias() {
    let problem = Problem::new(71, 30, 3, 4);
    let labels = problem.labels(1e160);
    let mut matrix = problem.kernel_matrix(Kernel::Linear);
    matrix.iter_mut().for_each(|value| *value *= 1e160);
    for bias in BIASES {
        let mut scores = StoredKernel::new(&matrix, 30, 4).unwrap();
        let report = by_blocks(&labels, &mut scores, bias, &settings(1e-6)).report;
        assert_eq!(report.status, Status::Stalled, "{bias:?}");
        assert_eq!(report.epochs, 1, "{bias:?}");
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

#[test]
fn bad_settings_are_refused() {
    let problem = Problem::new(80, 10, 2, 3);
    let labels = problem.labels(1.0);
    let solve = |settings: &Settings, bias: Bias, q: usize| {
        let mut scores = LinearDense::new(problem.dense(), q);
        let step = |_: &Labels| Ok(Proximal::new(Hinge));
        let error = run(&labels, &mut scores, step, bias, settings, 1, &mut ()).unwrap_err();
        let mut scores = LinearDense::new(problem.dense(), q);
        let setup = setup(bias, settings, 1);
        let other = frank_wolfe::solve(&labels, &mut scores, setup, &mut ());
        assert_eq!(other.unwrap_err(), error);
        error.to_string()
    };
    for bias in BIASES {
        for tolerance in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let message = solve(&settings(tolerance), bias, 3);
            assert!(message.starts_with("tol is"), "{message}");
            assert!(message.ends_with("expected a positive number"), "{message}");
        }
        let none = Settings {
            max_epochs: 0,
            ..Settings::default()
        };
        assert_eq!(solve(&none, bias, 3), "max_iter is 0, expected at least 1");
        let message = solve(&Settings::default(), bias, 2);
        assert_eq!(message, "Y is 10 x 3, expected as many rows as X");
    }
    let mut scores = LinearDense::new(problem.dense(), 3);
    let step = |_: &Labels| Ok(Proximal::new(SquaredHinge));
    let s = Settings::default();
    let error = run(&labels, &mut scores, step, Bias::Free, &s, 1, &mut ()).unwrap_err();
    assert!(matches!(error, SolverError::Unsupported(_)));
    for c in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = Labels::new(&problem.y, 3, c).unwrap_err().to_string();
        assert!(error.starts_with("C is"), "{error}");
    }
    assert!(Labels::new(&problem.y, 4, 1.0).is_err());
    assert!(StoredKernel::new(&[0.0; 8], 3, 2).is_err());
    assert!(Dense::new(&[0.0; 8], 3, 2).is_err());
    assert!(Sparse::new(&[1.0], &[2], &[0, 1], 2).is_err());
    assert!(Sparse::new(&[1.0], &[0], &[0, 2], 2).is_err());
}

#[test]
fn an_interruption_before_the_first_epoch_reports_none() {
    let problem = Problem::new(61, 40, 3, 4);
    let labels = problem.labels(10.0);
    let mut monitor = StopAfter {
        epochs: 0,
        seen: Vec::new(),
    };
    let mut scores = LinearDense::new(problem.dense(), problem.q);
    let setup = Setup {
        start: Some(vec![0.0; problem.n * problem.q]),
        ..setup(Bias::Penalized, &settings(1e-3), 1)
    };
    let step = |_: &Labels| Ok(Proximal::new(Hinge));
    let stopped = pairwise::solve(&labels, &mut scores, step, setup, &mut monitor);
    let report = stopped.unwrap().report;
    assert_eq!((report.status, report.epochs), (Status::Interrupted, 0));
    assert!(report.primal.is_infinite());
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
