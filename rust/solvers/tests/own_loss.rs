//! A loss that is not in the crate, written only against the public interface: all that the engine needs.
//!
//! The loss is that of least-squares ranking, `1/2 (1 - z)^2`, whose proximal map has a closed form.

use multimargin_solvers::labels::Labels;
use multimargin_solvers::linalg::features::Dense;
use multimargin_solvers::pairwise::bcd::Proximal;
use multimargin_solvers::pairwise::bias::Bias;
use multimargin_solvers::pairwise::loss::{Loss, Pairs};
use multimargin_solvers::pairwise::scores::{LinearDense, Scores};
use multimargin_solvers::pairwise::{self, Setup};
use multimargin_solvers::report::{Settings, Status};

// [loss]
/// `1/2 (1 - z)^2`: every pair is pulled to the margin 1, from both sides.
#[derive(Clone, Copy, Debug, Default)]
struct LeastSquares;

impl Loss for LeastSquares {
    type Workspace = ();

    fn of_margin(&self, margin: f64) -> f64 {
        0.5 * (1.0 - margin).powi(2)
    }

    fn prox(
        &self,
        centre: &[f64],
        _guess: &[f64],
        displacement: &mut [f64],
        pairs: Pairs<'_>,
        lambda: f64,
        _workspace: &mut (),
    ) {
        // Setting the gradient to zero gives s_m in terms of the sum of all s_n, and the reverse; the sum of all scores
        // does not change, which leaves one linear equation.
        let (positive, negative) = centre.split_at(pairs.relevant);
        let (p, r) = (positive.len() as f64, negative.len() as f64);
        let total: f64 = centre.iter().sum();
        let sum_positive =
            (positive.iter().sum::<f64>() + lambda * p * (r + total)) / (1.0 + lambda * (p + r));
        let sum_negative = total - sum_positive;
        for (k, (displacement, v)) in displacement.iter_mut().zip(centre).enumerate() {
            *displacement = if k < pairs.relevant {
                lambda * (r + sum_negative - r * v) / (1.0 + lambda * r)
            } else {
                lambda * (sum_positive - p - p * v) / (1.0 + lambda * p)
            };
        }
    }

    fn negative_slope(&self, margin: f64) -> f64 {
        1.0 - margin
    }
}
// [end of loss]

fn scores(random: &mut fastrand::Rng) -> (Vec<f64>, usize) {
    let (p, r) = (random.usize(1..5), random.usize(1..7));
    let scores = (0..p + r).map(|_| 4.0 * random.f64() - 2.0).collect();
    (scores, p)
}

#[test]
fn prox_is_a_stationary_point() {
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..1000 {
        let (centre, p) = scores(&mut random);
        let lambda = 10.0_f64.powf(4.0 * random.f64() - 3.0);
        let mut displacement = vec![f64::NAN; centre.len()];
        LeastSquares.prox(
            &centre,
            &centre,
            &mut displacement,
            Pairs::all(p),
            lambda,
            &mut (),
        );
        let s: Vec<f64> = centre
            .iter()
            .zip(&displacement)
            .map(|(c, d)| c + d)
            .collect();
        // s - centre must be lambda times the sum of the slopes of each label's pairs.
        for (k, moved) in displacement.iter().enumerate() {
            let slopes: f64 = if k < p {
                s[p..]
                    .iter()
                    .map(|n| LeastSquares.negative_slope(s[k] - n))
                    .sum()
            } else {
                -s[..p]
                    .iter()
                    .map(|m| LeastSquares.negative_slope(m - s[k]))
                    .sum::<f64>()
            };
            assert!((moved - lambda * slopes).abs() < 1e-10 * (1.0 + lambda));
        }
    }
}

// [engine]
#[test]
fn the_engine_closes_the_gap() {
    let (n, d, q) = (40, 5, 6);
    let mut random = fastrand::Rng::with_seed(2);
    let x: Vec<f64> = (0..n * d).map(|_| random.f64() - 0.5).collect();
    let y: Vec<u8> = (0..n * q).map(|_| u8::from(random.f64() < 0.3)).collect();
    let labels = Labels::new(&y, q, 2.0).unwrap();
    let mut scores = LinearDense::new(Dense::new(&x, n, d).unwrap(), q);
    let setup = Setup {
        bias: Bias::Penalized,
        settings: Settings {
            tolerance: 1e-10,
            ..Settings::default()
        },
        ..Setup::default()
    };
    let step = Proximal::new(LeastSquares);
    let solution = pairwise::solve(&labels, &mut scores, step, setup, &mut ()).unwrap();
    assert_eq!(solution.report.status, Status::Converged);
    assert!(solution.report.gap() <= 1e-10);
    assert!(solution.report.primal > 0.0);
    assert_eq!(scores.diagonal().len(), n);
}
// [end of engine]
