//! The optimal margin distribution loss of mlODM (Tan et al. 2019, eq. (15)): value by two searches per irrelevant
//! label, proximal map by the Newton method of `newton.rs`.

use super::newton::{Margins, NewtonWorkspace};
use super::squared_hinge::Moments;
use super::{Loss, Pairs};

/// The loss `1/2 [max(0, 1 - theta - z)^2 + mu max(0, z - 1 - theta)^2]`: margins are drawn to 1, from above with the
/// weight `mu` only, and not at all within `theta`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OptimalMargin {
    margins: Margins,
}

/// A parameter of [`OptimalMargin`] outside its range.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum OptimalMarginError {
    /// `theta` outside `[0, 1)`.
    #[error("theta is {0}, expected 0 <= theta < 1")]
    Theta(f64),
    /// `mu` outside `(0, 1]`.
    #[error("mu is {0}, expected 0 < mu <= 1")]
    Mu(f64),
}

impl OptimalMargin {
    /// The loss with tolerance `0 <= theta < 1` and weight `0 < mu <= 1`.
    pub fn new(theta: f64, mu: f64) -> Result<Self, OptimalMarginError> {
        if !(0.0..1.0).contains(&theta) {
            return Err(OptimalMarginError::Theta(theta));
        }
        if !(mu > 0.0 && mu <= 1.0) {
            return Err(OptimalMarginError::Mu(mu));
        }
        Ok(Self {
            margins: Margins { theta, mu },
        })
    }

    /// Margins within `theta` of 1 cost nothing.
    pub fn theta(&self) -> f64 {
        self.margins.theta
    }

    /// Weight of margins that are too large.
    pub fn mu(&self) -> f64 {
        self.margins.mu
    }
}

impl Loss for OptimalMargin {
    type Workspace = NewtonWorkspace;

    const WEIGHTS: bool = true;

    fn value(&self, scores: &[f64], pairs: Pairs<'_>, workspace: &mut NewtonWorkspace) -> f64 {
        let Margins { theta, mu } = self.margins;
        let (positive, negative) = scores.split_at(pairs.relevant);
        let NewtonWorkspace {
            sorted,
            below,
            above,
            ..
        } = workspace;
        sorted.clear();
        sorted.extend((0..).zip(positive).map(|(m, s)| (s - 1.0, pairs.weight(m))));
        sorted.sort_unstable_by(|x, y| x.0.total_cmp(&y.0));
        let mut moments = Moments::default();
        below.clear();
        below.push(moments);
        for &(a, weight) in sorted.iter() {
            moments = moments.and_weighted(a, weight);
            below.push(moments);
        }
        moments = Moments::default();
        above.clear();
        above.push(moments);
        for &(a, weight) in sorted.iter().rev() {
            moments = moments.and_weighted(a, weight);
            above.push(moments);
        }
        let of_label = |&y: &f64| {
            let near = sorted.partition_point(|&(a, _)| a < y - theta);
            let far = sorted.len() - sorted.partition_point(|&(a, _)| a <= y + theta);
            below[near].squared_distances(y - theta) + mu * above[far].squared_distances(y + theta)
        };
        0.5 * negative.iter().map(of_label).sum::<f64>()
    }

    fn prox(
        &self,
        centre: &[f64],
        guess: &[f64],
        displacement: &mut [f64],
        pairs: Pairs<'_>,
        lambda: f64,
        workspace: &mut NewtonWorkspace,
    ) {
        workspace.prox(self.margins, centre, guess, displacement, pairs, lambda);
    }

    fn negative_slope(&self, margin: f64) -> f64 {
        let Margins { theta, mu } = self.margins;
        (1.0 - theta - margin).max(0.0) - mu * (margin - 1.0 - theta).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairwise::loss::newton::brute_force::{Problem, problems};
    use proptest::prelude::*;

    fn losses() -> impl Strategy<Value = OptimalMargin> {
        let theta = prop_oneof![Just(0.0), Just(0.5), 0.0..0.95];
        let mu = prop_oneof![Just(1.0), 0.01..1.0];
        (theta, mu).prop_map(|(theta, mu)| OptimalMargin::new(theta, mu).unwrap())
    }

    fn evaluate(loss: &OptimalMargin, margin: f64) -> f64 {
        let Margins { theta, mu } = loss.margins;
        let below = (1.0 - theta - margin).max(0.0);
        let above = (margin - 1.0 - theta).max(0.0);
        0.5 * (below * below + mu * above * above)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn proximal_map_satisfies_the_optimality_conditions(
            loss in losses(),
            problem in problems(-12.0..6.0),
        ) {
            let displacement = problem.displacement(&loss);
            let violation = problem.violation(&loss, &displacement);
            prop_assert!(violation < 100.0, "{violation}");
            let sum: f64 = displacement.iter().sum();
            prop_assert!(sum.abs() < problem.slack_of_sum(), "{sum}");
        }

        #[test]
        fn guess_does_not_change_the_proximal_map(
            loss in losses(),
            problem in problems(-8.0..4.0),
        ) {
            let cold = problem.displacement(&loss);
            let warm = problem.displacement_from(&loss, &problem.point(&cold));
            for (cold, warm) in cold.iter().zip(&warm) {
                prop_assert!((cold - warm).abs() <= 16.0 * problem.rounding());
            }
        }

        #[test]
        fn value_is_the_sum_over_all_pairs(loss in losses(), problem in problems(0.0..1.0)) {
            let Problem { centre, relevant, .. } = &problem;
            let value = loss.value(centre, Pairs::all(*relevant), &mut NewtonWorkspace::default());
            let expected = problem.value(|margin| evaluate(&loss, margin));
            let slack = problem.slack_of_value(expected);
            prop_assert!((value - expected).abs() <= slack, "{value} {expected}");
        }

        /// Without tolerance and with equal weights the loss is `1/2 (1 - z)^2`: a linear system of full rank whose
        /// solution is the displacement of each side to the other's mean.
        #[test]
        fn least_squares_in_closed_form(problem in problems(-8.0..8.0)) {
            let loss = OptimalMargin::new(0.0, 1.0).unwrap();
            let Problem { centre, relevant, lambda, .. } = &problem;
            let (positive, negative) = centre.split_at(*relevant);
            let (p, r) = (positive.len() as f64, negative.len() as f64);
            let mean = |scores: &[f64]| scores.iter().sum::<f64>() / scores.len() as f64;
            // (1 + lambda r) s_m = c_m + lambda r (1 + mean of s_n), and the same with the sides exchanged.
            let gap = (1.0 - mean(positive) + mean(negative)) / (1.0 + lambda * (p + r));
            let displacement = problem.displacement(&loss);
            for (k, (displacement, centre)) in displacement.iter().zip(centre).enumerate() {
                let (partners, own, sign) =
                    if k < *relevant { (r, mean(positive), 1.0) } else { (p, mean(negative), -1.0) };
                let share = lambda * partners / (1.0 + lambda * partners);
                let common = lambda * partners * gap * sign;
                let expected = common - share * (centre - own);
                let slack = 64.0 * problem.rounding() * share;
                prop_assert!((displacement - expected).abs() <= slack, "{displacement} {expected}");
            }
        }
    }

    /// A kernel that is not positive semidefinite may drive them there.
    #[test]
    fn overflowed_scores_have_no_proximal_map_but_do_no_harm() {
        let loss = OptimalMargin::new(0.25, 0.5).unwrap();
        let mut workspace = NewtonWorkspace::default();
        for extreme in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e308, -1e308] {
            for position in 0..5 {
                for relevant in 1..5 {
                    let mut centre = [0.3, -1e308, 0.1, 2.0, 1e200];
                    centre[position] = extreme;
                    let mut displacement = [0.0; 5];
                    loss.prox(
                        &centre,
                        &centre,
                        &mut displacement,
                        Pairs::all(relevant),
                        1e3,
                        &mut workspace,
                    );
                    loss.value(&centre, Pairs::all(relevant), &mut workspace);
                }
            }
        }
    }

    #[test]
    fn one_pair_in_closed_form() {
        let loss = OptimalMargin::new(0.25, 0.5).unwrap();
        for (centre, weight, distance) in [
            ([0.0, 0.0], 1.0, 0.75),
            ([3.0, 0.0], 0.5, -1.75),
            ([1.0, 0.0], 1.0, 0.0),
        ] {
            for lambda in [1e-12, 1e-3, 1.0, 1e3, 1e12] {
                let mut displacement = [0.0; 2];
                let mut workspace = NewtonWorkspace::default();
                loss.prox(
                    &centre,
                    &[0.0; 2],
                    &mut displacement,
                    Pairs::all(1),
                    lambda,
                    &mut workspace,
                );
                let expected = distance * lambda * weight / (1.0 + 2.0 * lambda * weight);
                assert!((displacement[0] - expected).abs() <= 1e-15 * expected.abs());
                assert!((displacement[1] + expected).abs() <= 1e-15 * expected.abs());
            }
        }
    }

    #[test]
    fn large_lambda_satisfies_the_optimality_conditions() {
        let loss = OptimalMargin::new(0.2, 0.5).unwrap();
        let mut random = fastrand::Rng::with_seed(1);
        for lambda in [1e7, 1e8, 1e9] {
            for _ in 0..200 {
                let centre: Vec<f64> = (0..24).map(|_| 2.0 * random.f64() - 1.0).collect();
                let guess = vec![0.0; 24];
                let problem = Problem {
                    centre,
                    guess,
                    relevant: 4,
                    lambda,
                };
                let displacement = problem.displacement(&loss);
                let violation = problem.violation(&loss, &displacement);
                assert!(violation < 100.0, "{violation}");
            }
        }
    }

    #[test]
    fn blocks_without_pairs_do_not_move() {
        let loss = OptimalMargin::new(0.2, 0.5).unwrap();
        let mut workspace = NewtonWorkspace::default();
        for relevant in [0, 3] {
            let mut displacement = [f64::NAN; 3];
            loss.prox(
                &[1.0, 2.0, 3.0],
                &[0.0; 3],
                &mut displacement,
                Pairs::all(relevant),
                1.0,
                &mut workspace,
            );
            assert_eq!(displacement, [0.0; 3]);
            assert_eq!(
                loss.value(&[1.0, 2.0, 3.0], Pairs::all(relevant), &mut workspace),
                0.0
            );
        }
    }

    #[test]
    fn parameters_are_checked() {
        for theta in [-0.1, 1.0, f64::NAN] {
            let error = OptimalMargin::new(theta, 0.5).unwrap_err();
            assert!(error.to_string().starts_with("theta is"));
        }
        for mu in [0.0, -1.0, 1.1, f64::NAN] {
            let error = OptimalMargin::new(0.2, mu).unwrap_err();
            assert!(error.to_string().starts_with("mu is"));
        }
        assert!(OptimalMargin::new(0.0, 1.0).is_ok());
    }

    #[test]
    fn negative_slope_is_the_derivative() {
        let loss = OptimalMargin::new(0.2, 0.5).unwrap();
        for margin in [-2.0, 0.5, 0.9, 1.1, 1.5, 3.0] {
            let difference =
                (evaluate(&loss, margin - 1e-6) - evaluate(&loss, margin + 1e-6)) / 2e-6;
            assert!((loss.negative_slope(margin) - difference).abs() < 1e-9);
        }
    }
}
