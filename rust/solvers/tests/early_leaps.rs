//! Leaps that begin after a few epochs reach the optimum even on problems that mislead them.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, where a failure is a panic"
)]

use multimargin_solvers::kernel::gram::Kernel;
use multimargin_solvers::labels::Labels;
use multimargin_solvers::linalg::features::{Dense, Features};
use multimargin_solvers::pairwise::bias::Bias;
use multimargin_solvers::pairwise::loss::{Hinge, SquaredHinge};
use multimargin_solvers::pairwise::request::{Geometry, Request, Storage};
use multimargin_solvers::pairwise::{AnyLoss, Setup};
use multimargin_solvers::report::{Report, Settings, Status};

const N: usize = 60;
const Q: usize = 4;

fn report(labels: &Labels, x: &[f64], patience: usize, bias: Bias, smooth: bool) -> Report {
    let mut settings = Settings {
        tolerance: 1e-6,
        max_epochs: 5000,
        ..Settings::default()
    };
    settings.tuning.leaps.patience_of_columns = patience;
    let features = Dense::new(x, N, x.len() / N).unwrap();
    let request = Request {
        labels: labels.clone(),
        geometry: Geometry::Kernel(Kernel::Linear, Features::Dense(features)),
        cache_bytes: 0,
        storage: Storage::Dense,
        by: None,
        setup: Setup {
            bias,
            settings,
            ..Setup::default()
        },
    };
    let loss = if smooth {
        AnyLoss::SquaredHinge(SquaredHinge)
    } else {
        AnyLoss::Hinge(Hinge)
    };
    loss.solve(request, &mut ()).unwrap().report
}

/// Checks that the objective is the same for every number of epochs before the first leap.
fn check(name: &str, labels: &Labels, x: &[f64]) {
    for (bias, smooth) in [
        (Bias::Penalized, false),
        (Bias::Penalized, true),
        (Bias::Free, false),
    ] {
        let late = report(labels, x, 50, bias, smooth);
        for patience in [1, 3, 11, 14, 25] {
            let early = report(labels, x, patience, bias, smooth);
            let what = format!(
                "{name}, {bias:?}, {smooth}, after {patience}: {}",
                early.gap()
            );
            assert_eq!(early.status, Status::Converged, "{what}");
            let apart = (early.primal - late.primal).abs();
            assert!(apart <= 2e-6 * late.primal, "{what}");
        }
    }
}

fn labels(random: &mut fastrand::Rng, alike: usize, c: f64) -> Labels {
    let mut indicator: Vec<u8> = (0..N * Q).map(|_| random.u8(..2)).collect();
    indicator.truncate(N / alike * Q);
    // Copies of a row have different labels.
    let shifted = |k: usize| indicator[(k + k / (N / alike * Q)) % indicator.len()];
    let indicator: Vec<u8> = (0..N * Q).map(shifted).collect();
    Labels::new(&indicator, Q, c).unwrap()
}

#[test]
fn rows_that_are_all_alike() {
    for seed in 0..2 {
        let mut random = fastrand::Rng::with_seed(seed);
        let labels = labels(&mut random, 1, 1.0);
        // Over four orders of magnitude.
        let weights: Vec<f64> = (0..N)
            .map(|_| 10_f64.powf(4.0 * random.f64() - 1.0))
            .collect();
        let labels = labels.with_weights(&weights).unwrap();
        check("rows alike", &labels, &[1.0; N]);
    }
}

#[test]
fn columns_that_are_copies() {
    let mut random = fastrand::Rng::with_seed(2);
    let labels = labels(&mut random, 1, 100.0);
    let column: Vec<f64> = (0..2 * N).map(|_| random.f64() - 0.5).collect();
    let x: Vec<f64> = (0..N * 6)
        .map(|k| column[k / 6 * 2 + k % 6 / 3] * f64::from(1 + k as u32 % 3))
        .collect();
    check("copies of columns", &labels, &x);
}

#[test]
fn rows_that_are_copies_with_other_labels() {
    let mut random = fastrand::Rng::with_seed(3);
    let labels = labels(&mut random, 3, 100.0);
    let once: Vec<f64> = (0..N).map(|_| random.f64() - 0.5).collect();
    let x: Vec<f64> = (0..3 * N).map(|k| once[k % N]).collect();
    check("copies of rows", &labels, &x);
}
