//! Tests that the Python package cannot make: starts other than the centre, rounding errors and scores that have overflowed.
//! On random blocks: with and without weights of the relevant labels and a limit of the highest irrelevant ones, ties, one
//! label on a side, hundreds of labels, scores far from 0.

use super::{Hinge, Loss, OptimalMargin, Pairs, SquaredHinge, ZeroLabelHinge};

/// A proximal map.
#[derive(Clone, Debug)]
struct Problem {
    centre: Vec<f64>,
    relevant: usize,
    /// Of the relevant labels; none where all are 1.
    weights: Vec<f64>,
    top: usize,
    lambda: f64,
}

impl Problem {
    /// A random problem of up to `most` labels a side. With `decades`, the relevant labels have weights that differ by a
    /// factor of up to `10^decades`, and pairs with the highest irrelevant labels only.
    fn random(random: &mut fastrand::Rng, most: usize, decades: Option<f64>) -> Self {
        let mut side = || {
            if random.u8(..3) == 0 {
                1
            } else {
                random.usize(1..=most)
            }
        };
        let (p, r) = (side(), side());
        let spread = [0.5, 2.0, 10.0][random.usize(0..3)];
        let offset = [0.0, 0.0, 1e3][random.usize(0..3)];
        let ties = random.bool();
        let mut score = || {
            let x = spread * (random.f64() - 0.5);
            offset + if ties { (2.0 * x).round() / 2.0 } else { x }
        };
        let centre = (0..p + r).map(|_| score()).collect();
        let weights = decades.map(|decades| {
            let decades = decades * random.f64();
            let weight = |random: &mut fastrand::Rng| 10.0_f64.powf(decades * (random.f64() - 0.5));
            (0..p).map(|_| weight(random)).collect()
        });
        Self {
            centre,
            relevant: p,
            top: if decades.is_none() || random.u8(..4) == 0 {
                usize::MAX
            } else {
                random.usize(1..=r)
            },
            weights: weights.unwrap_or_default(),
            lambda: 10.0_f64.powf(-3.0 + 5.0 * random.f64()),
        }
    }

    /// With pairs with all irrelevant labels.
    fn of_all(self) -> Self {
        Self {
            top: usize::MAX,
            ..self
        }
    }

    fn pairs(&self) -> Pairs<'_> {
        Pairs {
            relevant: self.relevant,
            weights: &self.weights,
            top: self.top,
        }
    }

    fn displacement<L: Loss>(
        &self,
        loss: &L,
        workspace: &mut L::Workspace,
        guess: &[f64],
    ) -> Vec<f64> {
        let mut displacement = vec![f64::NAN; self.centre.len()];
        let (centre, pairs) = (&self.centre, self.pairs());
        loss.prox(
            centre,
            guess,
            &mut displacement,
            pairs,
            self.lambda,
            workspace,
        );
        displacement
    }

    fn point(&self, displacement: &[f64]) -> Vec<f64> {
        let pairs = self.centre.iter().zip(displacement);
        pairs.map(|(c, d)| c + d).collect()
    }

    /// Rounding error of a score.
    fn rounding(&self) -> f64 {
        f64::EPSILON * self.centre.iter().fold(1.0, |x: f64, c| x.max(c.abs()))
    }

    /// The largest violation of the optimality conditions of a smooth loss with all pairs, in units of the rounding errors
    /// that scores stored as floating point numbers cause in it.
    fn violation<L: Loss>(&self, loss: &L, displacement: &[f64]) -> f64 {
        let (scores, p, rounding) = (self.point(displacement), self.relevant, self.rounding());
        let mut residual = displacement.to_vec();
        let mut bound: Vec<f64> = residual.iter().map(|d| f64::EPSILON * d.abs()).collect();
        for m in 0..p {
            let lambda = self.lambda * self.pairs().weight(m);
            for n in p..scores.len() {
                let slope = |by: f64| loss.negative_slope(scores[m] - scores[n] + by * rounding);
                let pull = lambda * slope(0.0);
                (residual[m], residual[n]) = (residual[m] - pull, residual[n] + pull);
                if slope(-32.0) != 0.0 || slope(32.0) != 0.0 {
                    bound[m] += lambda * rounding;
                    bound[n] += lambda * rounding;
                }
            }
        }
        let in_units = |(residual, bound): (&f64, &f64)| match *residual {
            0.0 => 0.0,
            residual => residual.abs() / bound,
        };
        residual
            .iter()
            .zip(&bound)
            .map(in_units)
            .fold(0.0, f64::max)
    }
}

fn odm() -> OptimalMargin {
    OptimalMargin::new(0.2, 0.5).unwrap()
}

/// Problems that a loss can have: plain ones, and those with weights and a top.
fn problems<L: Loss>(seed: u64, count: usize, most: usize) -> impl Iterator<Item = Problem> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..count).map(move |round| {
        let decades = (L::WEIGHTS && round % 2 == 1).then_some(4.0);
        let problem = Problem::random(&mut random, most, decades);
        match (L::TOP, L::ZERO_LABEL) {
            (_, true) => {
                // The last label is the zero label; either side of the others may be empty.
                let relevant = random.usize(0..problem.centre.len());
                let weights = problem.weights.iter().copied().cycle().take(relevant);
                Problem {
                    relevant,
                    weights: weights.collect(),
                    ..problem
                }
                .of_all()
            }
            (true, _) => problem,
            _ => problem.of_all(),
        }
    })
}

/// The result does not depend on the guess, and a label far from 0 moves like one near it.
fn check_guess<L: Loss>(loss: &L) {
    let mut random = fastrand::Rng::with_seed(2);
    let mut workspace = L::Workspace::default();
    for problem in problems::<L>(3, 3000, 12) {
        let cold = problem.displacement(loss, &mut workspace, &problem.centre);
        let other = problem.centre.iter().map(|_| 20.0 * random.f64() - 10.0);
        let mut guesses = vec![problem.point(&cold), other.collect()];
        if L::BOX && !L::ZERO_LABEL {
            guesses.push(vec![f64::NAN; cold.len()]);
            guesses.push(vec![f64::INFINITY; cold.len()]);
        }
        let lifted = Problem {
            centre: problem.centre.iter().map(|c| c + 64.0).collect(),
            ..problem.clone()
        };
        let mut found: Vec<Vec<f64>> = guesses
            .iter()
            .map(|guess| problem.displacement(loss, &mut workspace, guess))
            .collect();
        found.push(lifted.displacement(loss, &mut workspace, &lifted.centre));
        for warm in found {
            for (x, y) in cold.iter().zip(&warm) {
                let allowed = 1e-9 * (1.0 + problem.centre[0].abs());
                assert!((x - y).abs() <= allowed, "{problem:?} {cold:?} {warm:?}");
            }
        }
    }
}

#[test]
fn neither_guess_nor_offset_changes_a_proximal_map() {
    check_guess(&Hinge);
    check_guess(&ZeroLabelHinge);
    check_guess(&SquaredHinge);
    check_guess(&odm());
}

/// For weights that differ by some orders of magnitude.
fn check_smooth<L: Loss>(loss: &L, exponents: [f64; 2], decades: Option<f64>) {
    let mut random = fastrand::Rng::with_seed(7);
    let mut workspace = L::Workspace::default();
    for most in [8, 40, 200] {
        for _ in 0..120_000 / (40 + most * most / 4) {
            let exponent = exponents[0] + (exponents[1] - exponents[0]) * random.f64();
            let problem = Problem {
                lambda: 10.0_f64.powf(exponent),
                ..Problem::random(&mut random, most, decades).of_all()
            };
            let displacement = problem.displacement(loss, &mut workspace, &problem.centre);
            let units = problem.violation(loss, &displacement);
            assert!(units < 100.0, "{units} {problem:?} {displacement:?}");
        }
    }
}

#[test]
fn smooth_losses_satisfy_the_optimality_conditions_to_rounding() {
    check_smooth(&SquaredHinge, [-12.0, 12.0], None);
    check_smooth(&odm(), [-12.0, 6.0], None);
    check_smooth(&OptimalMargin::new(0.0, 1.0).unwrap(), [-12.0, 6.0], None);
}

/// Rounding in the sum of the scores does not shift labels of small weight.
#[test]
fn labels_of_little_weight_have_no_rounding_of_the_others() {
    check_smooth(&SquaredHinge, [-6.0, 6.0], Some(12.0));
    check_smooth(&odm(), [-6.0, 3.0], Some(8.0));
}

/// Centres of solutions in which the last label that counts ties with the first one that does not: rounding decides whether
/// they share.
fn check_ties<L: Loss>(loss: &L) {
    let mut random = fastrand::Rng::with_seed(11);
    let mut workspace = L::Workspace::default();
    for _ in 0..5000 {
        let mut problem = Problem::random(&mut random, 6, Some(0.0));
        problem.weights = vec![1.0; problem.relevant];
        problem.lambda = 10.0_f64.powf(9.0 * random.f64());
        let p = problem.relevant;
        let scores: Vec<f64> = (0..problem.centre.len())
            .map(|_| 0.25 * f64::from(random.u8(..8)))
            .collect();
        let mut order: Vec<usize> = (p..scores.len()).collect();
        order.sort_by(|&j, &k| scores[k].total_cmp(&scores[j]));
        problem.centre.copy_from_slice(&scores);
        for &n in order.iter().take(problem.top) {
            for m in 0..p {
                let slope = loss.negative_slope(scores[m] - scores[n]);
                problem.centre[m] -= problem.lambda * slope;
                problem.centre[n] += problem.lambda * slope;
            }
        }
        let guess: Vec<f64> = scores.iter().map(|s| s + 0.1 * random.f64()).collect();
        let displacement = problem.displacement(loss, &mut workspace, &guess);
        let allowed = 64.0 * problem.rounding();
        for (found, score) in problem.point(&displacement).iter().zip(&scores) {
            assert!(
                (found - score).abs() <= allowed,
                "{problem:?} {displacement:?}"
            );
        }
    }
}

#[test]
fn labels_tie_at_the_level() {
    check_ties(&Hinge);
    check_ties(&SquaredHinge);
}

/// An indefinite kernel may drive scores there: they have no proximal map, but must do no harm.
fn check_overflow<L: Loss>(loss: &L) {
    let mut workspace = L::Workspace::default();
    for extreme in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e308, -1e308] {
        for position in 0..5 {
            for relevant in 1..5 {
                let mut centre = [0.3, -1e308, 0.1, 2.0, 1e200];
                centre[position] = extreme;
                let pairs = Pairs::all(relevant);
                loss.prox(&centre, &centre, &mut [0.0; 5], pairs, 1e3, &mut workspace);
            }
        }
    }
}

#[test]
fn overflowed_scores_do_no_harm() {
    check_overflow(&Hinge);
    check_overflow(&SquaredHinge);
    check_overflow(&odm());
}
