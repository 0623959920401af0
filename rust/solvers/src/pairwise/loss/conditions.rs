//! What values and proximal maps have to satisfy where relevant labels have weights, or form pairs with the highest
//! irrelevant ones alone.

use super::{Hinge, Loss, OptimalMargin, Pairs, SquaredHinge};

/// A proximal map.
#[derive(Clone, Debug)]
struct Problem {
    centre: Vec<f64>,
    relevant: usize,
    weights: Vec<f64>,
    top: usize,
    lambda: f64,
}

impl Problem {
    /// A random one of up to so many labels a side: ties half of the time, one label on a side often, weights that are
    /// equal, or that differ by a factor of up to `10^decades`.
    fn random(random: &mut fastrand::Rng, most: usize, decades: f64) -> Self {
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
        let decades = decades * random.f64();
        let weights = (0..p).map(|_| 10.0_f64.powf(decades * (random.f64() - 0.5)));
        Self {
            centre,
            relevant: p,
            weights: weights.collect(),
            top: if random.u8(..4) == 0 {
                usize::MAX
            } else {
                random.usize(1..=r)
            },
            lambda: 10.0_f64.powf(-3.0 + 5.0 * random.f64()),
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
        loss.prox(
            &self.centre,
            guess,
            &mut displacement,
            self.pairs(),
            self.lambda,
            workspace,
        );
        displacement
    }

    fn point(&self, displacement: &[f64]) -> Vec<f64> {
        self.centre
            .iter()
            .zip(displacement)
            .map(|(c, d)| c + d)
            .collect()
    }

    /// The sum over the pairs, by its definition.
    fn value(&self, scores: &[f64], loss: impl Fn(f64) -> f64) -> f64 {
        let mut irrelevant = scores[self.relevant..].to_vec();
        irrelevant.sort_unstable_by(|x, y| y.total_cmp(x));
        irrelevant.truncate(self.top);
        let of_label = |m: usize| -> f64 {
            let losses = irrelevant.iter().map(|n| loss(scores[m] - n));
            self.weights[m] * losses.sum::<f64>()
        };
        (0..self.relevant).map(of_label).sum()
    }

    /// The largest of `minus the sum of the displacements over S, less lambda w(P - S) min(k, |S & N|)` over all sets `S`
    /// of labels: the displacement is `-lambda` times a subgradient of the hinge's loss at 0 if it is 0.
    fn excess(&self, displacement: &[f64]) -> f64 {
        let q = self.centre.len();
        let of_set = |set: usize| {
            let inside = |k: &usize| set >> k & 1 == 1;
            let fall: f64 = (0..q).filter(inside).map(|k| -displacement[k]).sum();
            let outside: f64 = (0..self.relevant)
                .filter(|k| !inside(k))
                .map(|k| self.weights[k])
                .sum();
            let irrelevant = (self.relevant..q).filter(inside).count();
            fall - self.lambda * outside * irrelevant.min(self.top) as f64
        };
        (0..1 << q).map(of_set).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The largest violation of the optimality conditions of a smooth loss: with `theta` the share in which each
    /// irrelevant label counts, 1 above the level of the `k`-th and 0 below,
    /// `d_m = lambda w_m sum theta_n psi_mn` and `d_n = -lambda theta_n sum w_m psi_mn`.
    fn violation<L: Loss>(&self, loss: &L, displacement: &[f64]) -> f64 {
        let (scores, p) = (self.point(displacement), self.relevant);
        let top = self.top.min(scores.len() - p);
        let mut sorted = scores[p..].to_vec();
        sorted.sort_unstable_by(|x, y| y.total_cmp(x));
        let level = sorted[top - 1];
        let tie = 1e-9 * self.centre.iter().fold(1.0, |x: f64, c| x.max(c.abs()));
        let slope = |m: usize, n: usize| {
            self.lambda * self.weights[m] * loss.negative_slope(scores[m] - scores[n])
        };
        // How far the shares are from `k`, times what a label at the level counts.
        let (mut worst, mut shares, mut at_level) = (0.0_f64, 0.0, 0.0_f64);
        let mut rises = vec![0.0; p];
        for n in p..scores.len() {
            let full: f64 = (0..p).map(|m| slope(m, n)).sum();
            let theta = if top == scores.len() - p || scores[n] > level + tie {
                1.0
            } else if scores[n] < level - tie {
                0.0
            } else if full == 0.0 {
                // Counts, but for nothing.
                continue;
            } else {
                at_level = full;
                let theta = -displacement[n] / full;
                worst = worst.max(-theta * full).max((theta - 1.0) * full);
                theta
            };
            shares += theta;
            worst = worst.max((displacement[n] + theta * full).abs());
            (0..p).for_each(|m| rises[m] += theta * slope(m, n));
        }
        worst = worst.max((shares - top as f64).abs() * at_level);
        for (m, rise) in rises.iter().enumerate() {
            worst = worst.max((displacement[m] - rise).abs());
        }
        worst
    }
}

#[test]
fn values_are_those_of_the_definition() {
    let mut random = fastrand::Rng::with_seed(1);
    let odm = OptimalMargin::new(0.2, 0.5).unwrap();
    for _ in 0..3000 {
        let problem = Problem::random(&mut random, 8, 4.0);
        let (scores, pairs) = (&problem.centre, problem.pairs());
        let check = |value: f64, loss: fn(f64) -> f64, problem: &Problem| {
            let expected = problem.value(scores, loss);
            assert!(
                (value - expected).abs() <= 1e-9 * (1.0 + expected),
                "{value} {expected} {problem:?}"
            );
        };
        check(
            Hinge.value(scores, pairs, &mut Default::default()),
            |z| (1.0 - z).max(0.0),
            &problem,
        );
        let value = SquaredHinge.value(scores, pairs, &mut Default::default());
        check(value, |z| 0.5 * (1.0 - z).max(0.0).powi(2), &problem);
        let all = Problem {
            top: usize::MAX,
            ..problem.clone()
        };
        let value = odm.value(scores, all.pairs(), &mut Default::default());
        check(
            value,
            |z| 0.5 * ((0.8 - z).max(0.0).powi(2) + 0.5 * (z - 1.2).max(0.0).powi(2)),
            &all,
        );
    }
}

/// The displacement lies in the dual's feasible set, and the dual objective there is the primal objective.
#[test]
fn the_hinge_has_no_duality_gap() {
    let mut random = fastrand::Rng::with_seed(2);
    let mut workspace = Default::default();
    for round in 0..3000 {
        let problem = Problem::random(&mut random, 6, if round % 2 == 0 { 2.0 } else { 8.0 });
        let displacement = problem.displacement(&Hinge, &mut workspace, &problem.centre);
        let square: f64 = displacement.iter().map(|d| d * d).sum();
        let loss = problem.lambda
            * Hinge.value(
                &problem.point(&displacement),
                problem.pairs(),
                &mut workspace,
            );
        let rises: f64 = displacement[..problem.relevant].iter().sum();
        let product: f64 = displacement
            .iter()
            .zip(&problem.centre)
            .map(|(d, c)| d * c)
            .sum();
        let scale = 1.0 + square + loss + rises.abs() * (1.0 + problem.centre[0].abs());
        let gap = square + loss - rises + product;
        assert!(
            gap.abs() <= 1e-10 * scale,
            "{gap} {problem:?} {displacement:?}"
        );
        let excess = problem.excess(&displacement);
        assert!(
            excess <= 1e-10 * scale,
            "{excess} {problem:?} {displacement:?}"
        );
    }
}

#[test]
fn smooth_losses_satisfy_the_optimality_conditions() {
    let mut random = fastrand::Rng::with_seed(3);
    let mut workspace = Default::default();
    let odm = OptimalMargin::new(0.2, 0.5).unwrap();
    for round in 0..6000 {
        let most = if round % 4 == 0 { 40 } else { 8 };
        let problem = Problem::random(&mut random, most, 6.0);
        let largest = problem.weights.iter().fold(0.0, |x: f64, &w| x.max(w));
        let allowed = 1e-9
            * (1.0 + problem.lambda * largest * problem.centre.len() as f64)
            * (1.0 + problem.centre[0].abs());
        let displacement = problem.displacement(&SquaredHinge, &mut workspace, &problem.centre);
        let violation = problem.violation(&SquaredHinge, &displacement);
        assert!(
            violation <= allowed,
            "{violation} {allowed} {problem:?} {displacement:?}"
        );
        let all = Problem {
            top: usize::MAX,
            ..problem
        };
        let displacement = all.displacement(&odm, &mut Default::default(), &all.centre);
        let violation = all.violation(&odm, &displacement);
        assert!(
            violation <= allowed,
            "{violation} {allowed} {all:?} {displacement:?}"
        );
    }
}

#[test]
fn the_guess_does_not_change_the_proximal_map() {
    let mut random = fastrand::Rng::with_seed(4);
    let mut workspace = Default::default();
    for _ in 0..3000 {
        let problem = Problem::random(&mut random, 8, 4.0);
        let cold = problem.displacement(&SquaredHinge, &mut workspace, &problem.centre);
        let guess: Vec<f64> = problem
            .centre
            .iter()
            .map(|_| 20.0 * random.f64() - 10.0)
            .collect();
        for guess in [problem.point(&cold), guess] {
            let warm = problem.displacement(&SquaredHinge, &mut workspace, &guess);
            for (x, y) in cold.iter().zip(&warm) {
                assert!(
                    (x - y).abs() <= 1e-9 * (1.0 + problem.centre[0].abs()),
                    "{problem:?} {cold:?} {warm:?}"
                );
            }
        }
    }
}

/// Weights of 1 and all pairs give what the plain losses give.
#[test]
fn weights_of_one_change_nothing() {
    fn check<L: Loss>(loss: &L, problem: &Problem) {
        let mut workspace = L::Workspace::default();
        let ones = vec![1.0; problem.relevant];
        let weighted = Problem {
            weights: ones,
            top: usize::MAX,
            ..problem.clone()
        };
        let plain = Problem {
            weights: Vec::new(),
            ..weighted.clone()
        };
        let guess = &problem.centre;
        let weighted = weighted.displacement(loss, &mut workspace, guess);
        let plain = plain.displacement(loss, &mut workspace, guess);
        for (x, y) in weighted.iter().zip(&plain) {
            assert!(
                (x - y).abs() <= 1e-9 * (1.0 + guess[0].abs()),
                "{problem:?} {weighted:?} {plain:?}"
            );
        }
    }
    let mut random = fastrand::Rng::with_seed(5);
    for _ in 0..3000 {
        let problem = Problem::random(&mut random, 12, 0.0);
        check(&Hinge, &problem);
        check(&SquaredHinge, &problem);
        check(&OptimalMargin::new(0.3, 0.4).unwrap(), &problem);
    }
}
