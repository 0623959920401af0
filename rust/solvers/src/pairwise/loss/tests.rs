//! What values and proximal maps of all losses have to satisfy. A loss is named here with its definition, and is judged on
//! random blocks: with and without weights of the relevant labels and a limit of the highest irrelevant ones, ties, one label
//! on a side, hundreds of labels, scores far from 0, weights of the pairs from next to nothing to what allows no violation.

use super::{Hinge, Loss, OptimalMargin, Pairs, SquaredHinge, ZeroLabelHinge, for_each_pair};

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
    /// A random one of up to so many labels a side. With `decades`, the relevant labels have weights that differ by a factor
    /// of up to `10^decades`, and pairs with the highest irrelevant labels alone.
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

    /// With pairs of all irrelevant labels.
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

    /// The sum over the pairs, by its definition.
    fn value<L: Loss>(&self, scores: &[f64], definition: fn(f64) -> f64) -> f64 {
        let mut chosen = scores.to_vec();
        let irrelevant = &mut chosen[self.relevant..];
        if irrelevant.len() > self.top {
            irrelevant.sort_unstable_by(|x, y| y.total_cmp(x));
            chosen.truncate(self.relevant + self.top);
        }
        let mut sum = 0.0;
        for_each_pair::<L>(self.pairs(), chosen.len(), |m, n, weight| {
            sum += weight * definition(chosen[m] - chosen[n]);
        });
        sum
    }

    /// The largest of `minus the sum of the displacements over S, less lambda w(P - S) min(k, |S & N|)` over all sets `S`
    /// of labels: the displacement is `-lambda` times a subgradient of the hinge's loss at 0 if it is 0.
    fn excess(&self, displacement: &[f64]) -> f64 {
        let q = self.centre.len();
        let of_set = |set: usize| {
            let inside = |k: &usize| set >> k & 1 == 1;
            let fall: f64 = (0..q).filter(inside).map(|k| -displacement[k]).sum();
            let outside = (0..self.relevant).filter(|k| !inside(k));
            let outside: f64 = outside.map(|k| self.pairs().weight(k)).sum();
            let irrelevant = (self.relevant..q).filter(inside).count();
            fall - self.lambda * outside * irrelevant.min(self.top) as f64
        };
        (0..1 << q).map(of_set).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The duality gap of the hinge at a displacement, and the size of its terms.
    fn gap<L: Loss>(&self, loss: &L, displacement: &[f64], rises: f64) -> (f64, f64) {
        let square: f64 = displacement.iter().map(|d| d * d).sum();
        let point = self.point(displacement);
        let value = loss.value(&point, self.pairs(), &mut L::Workspace::default());
        let product: f64 = displacement
            .iter()
            .zip(&self.centre)
            .map(|(d, c)| d * c)
            .sum();
        let size = 1.0 + self.centre.iter().fold(0.0, |x: f64, c| x.max(c.abs()));
        let scale = 1.0 + square + self.lambda * value + rises.abs() * size;
        (square + self.lambda * value - rises + product, scale)
    }

    /// Rounding error of a score.
    fn rounding(&self) -> f64 {
        f64::EPSILON * self.centre.iter().fold(1.0, |x: f64, c| x.max(c.abs()))
    }

    /// The largest violation of the optimality conditions of a smooth loss, and that in units of the rounding errors that scores
    /// stored as floating point numbers cause in it. With `theta` the share in which each irrelevant label counts, 1 above the level
    /// of the `k`-th and 0 below, `d_m = lambda w_m sum theta_n psi_mn` and `d_n = -lambda theta_n sum w_m psi_mn`.
    fn violation<L: Loss>(&self, loss: &L, displacement: &[f64]) -> (f64, f64) {
        let (scores, p, rounding) = (self.point(displacement), self.relevant, self.rounding());
        let top = self.top.min(scores.len() - p);
        let mut sorted = scores[p..].to_vec();
        sorted.sort_unstable_by(|x, y| y.total_cmp(x));
        let level = sorted[top - 1];
        let tie = 64.0 * rounding;
        let mut residual = displacement.to_vec();
        let mut bound: Vec<f64> = residual.iter().map(|d| f64::EPSILON * d.abs()).collect();
        let (mut shares, mut at_level, mut worst) = (0.0, 0.0_f64, 0.0_f64);
        for n in p..scores.len() {
            let slope =
                |m: usize, by: f64| loss.negative_slope(scores[m] - scores[n] + by * rounding);
            let weight = |m: usize| self.lambda * self.pairs().weight(m);
            let full: f64 = (0..p).map(|m| weight(m) * slope(m, 0.0)).sum();
            let near = |m: &usize| slope(*m, -32.0) != 0.0 || slope(*m, 32.0) != 0.0;
            let slack: f64 = (0..p).filter(near).map(weight).sum::<f64>() * rounding;
            let theta = if top == scores.len() - p || scores[n] > level + tie {
                1.0
            } else if scores[n] < level - tie {
                0.0
            } else if full <= 32.0 * slack {
                // Counts, but for nothing.
                continue;
            } else {
                at_level = full;
                let theta = -displacement[n] / full;
                worst = worst.max(-theta * full).max((theta - 1.0) * full);
                theta
            };
            shares += theta;
            residual[n] += theta * full;
            bound[n] += slack;
            for m in 0..p {
                residual[m] -= theta * weight(m) * slope(m, 0.0);
                bound[m] += if near(&m) { weight(m) * rounding } else { 0.0 };
            }
        }
        worst = worst.max((shares - top as f64).abs() * at_level);
        let in_units = |(residual, bound): (&f64, &f64)| match *residual {
            0.0 => 0.0,
            residual => residual.abs() / bound,
        };
        let units = residual.iter().zip(&bound).map(in_units);
        let absolute = residual.iter().fold(worst, |most, r| most.max(r.abs()));
        (absolute, units.fold(0.0, f64::max))
    }
}

fn hinge(z: f64) -> f64 {
    (1.0 - z).max(0.0)
}

fn squared_hinge(z: f64) -> f64 {
    0.5 * hinge(z).powi(2)
}

const ODM: (f64, f64) = (0.2, 0.5);

fn optimal_margin(z: f64) -> f64 {
    let (theta, mu) = ODM;
    0.5 * ((1.0 - theta - z).max(0.0).powi(2) + mu * (z - 1.0 - theta).max(0.0).powi(2))
}

fn odm() -> OptimalMargin {
    OptimalMargin::new(ODM.0, ODM.1).unwrap()
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

fn check_value<L: Loss>(loss: &L, definition: fn(f64) -> f64) {
    let mut workspace = L::Workspace::default();
    for most in [8, 60] {
        for problem in problems::<L>(1, 1500, most) {
            let value = loss.value(&problem.centre, problem.pairs(), &mut workspace);
            let expected = problem.value::<L>(&problem.centre, definition);
            assert!(
                (value - expected).abs()
                    <= 1e-11 * problem.centre[0].abs().max(1.0) * (1.0 + expected),
                "{value} {expected} {problem:?}"
            );
        }
    }
    for margin in [-2.0, 0.0, 0.5, 0.9, 1.1, 1.5, 3.0] {
        let difference = (definition(margin - 1e-6) - definition(margin + 1e-6)) / 2e-6;
        assert!((loss.negative_slope(margin) - difference).abs() < 1e-9);
    }
}

#[test]
fn values_are_those_of_the_definition() {
    check_value(&Hinge, hinge);
    check_value(&ZeroLabelHinge, hinge);
    check_value(&SquaredHinge, squared_hinge);
    check_value(&odm(), optimal_margin);
}

/// What the map returns does not depend on the guess, and a label far from 0 moves as one near it.
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

/// The displacement of a hinge lies in the dual's feasible set, and the dual objective there is the primal objective.
#[test]
fn the_hinges_have_no_duality_gap() {
    let mut workspace = Default::default();
    let small = problems::<Hinge>(4, 3000, 6);
    for problem in small.chain(problems::<Hinge>(5, 600, 400)) {
        let displacement = problem.displacement(&Hinge, &mut workspace, &problem.centre);
        let rises: f64 = displacement[..problem.relevant].iter().sum();
        let (gap, scale) = problem.gap(&Hinge, &displacement, rises);
        assert!(gap.abs() <= 1e-10 * scale, "{gap} {problem:?}");
        if problem.centre.len() <= 12 {
            let excess = problem.excess(&displacement);
            assert!(excess <= 1e-10 * scale, "{excess} {problem:?}");
        }
    }
    for problem in problems::<ZeroLabelHinge>(6, 3000, 30) {
        let displacement = problem.displacement(&ZeroLabelHinge, &mut (), &problem.centre);
        let (others, p) = (&displacement[..displacement.len() - 1], problem.relevant);
        let slack = |scale: f64| 1e-10 * scale;
        let duals = (0..).zip(others).map(|(k, d)| {
            let (dual, weight) = if k < p {
                (*d, problem.pairs().weight(k))
            } else {
                (-d, 1.0)
            };
            (dual, problem.lambda * weight)
        });
        let total: f64 = duals.clone().map(|(dual, _)| dual).sum();
        let (gap, scale) = problem.gap(&ZeroLabelHinge, &displacement, total);
        assert!(gap.abs() <= slack(scale), "{gap} {problem:?}");
        let sum: f64 = displacement.iter().sum();
        assert!(sum.abs() <= slack(scale), "{sum} {problem:?}");
        for (dual, most) in duals {
            let inside = -slack(scale) <= dual && dual <= most + slack(scale);
            assert!(inside, "{dual} {most} {problem:?}");
        }
    }
}

fn check_smooth<L: Loss>(loss: &L, lambdas: [f64; 2]) {
    let mut random = fastrand::Rng::with_seed(7);
    let mut workspace = L::Workspace::default();
    for most in [8, 40, 200] {
        for problem in problems::<L>(8, 240_000 / (40 + most * most / 4), most) {
            let exponent = lambdas[0] + (lambdas[1] - lambdas[0]) * random.f64();
            // Where labels have weights or share a level, what rounding does is not known so well.
            let plain = problem.weights.is_empty();
            let problem = Problem {
                lambda: if plain {
                    10.0_f64.powf(exponent)
                } else {
                    problem.lambda
                },
                ..problem
            };
            let displacement = problem.displacement(loss, &mut workspace, &problem.centre);
            let (violation, units) = problem.violation(loss, &displacement);
            let heaviest = problem.weights.iter().fold(1.0, |x: f64, &w| x.max(w));
            let sizes = 1.0 + problem.lambda * heaviest * problem.centre.len() as f64;
            let allowed = 1e-9 * sizes * (1.0 + problem.centre[0].abs());
            assert!(
                if plain {
                    units < 100.0
                } else {
                    violation <= allowed
                },
                "{violation} {units} {problem:?} {displacement:?}"
            );
        }
    }
}

#[test]
fn smooth_losses_satisfy_the_optimality_conditions() {
    check_smooth(&SquaredHinge, [-12.0, 12.0]);
    check_smooth(&odm(), [-12.0, 6.0]);
    check_smooth(&OptimalMargin::new(0.0, 1.0).unwrap(), [-12.0, 6.0]);
}

/// Weights of 1 and all pairs give what the plain losses give, and a weight of the pairs that allows no violation none.
fn check_extremes<L: Loss>(loss: &L, definition: fn(f64) -> f64) {
    let mut workspace = L::Workspace::default();
    let mut random = fastrand::Rng::with_seed(9);
    for round in 0..3000 {
        let plain = Problem::random(&mut random, 12, None);
        let weighted = Problem {
            weights: vec![1.0; plain.relevant],
            ..plain.clone()
        };
        let found = [&plain, &weighted]
            .map(|problem| problem.displacement(loss, &mut workspace, &problem.centre));
        for (x, y) in found[0].iter().zip(&found[1]) {
            let allowed = 1e-9 * (1.0 + plain.centre[0].abs());
            assert!((x - y).abs() <= allowed, "{plain:?} {found:?}");
        }
        let tiny = Problem {
            lambda: 1e-13,
            ..plain
        };
        let displacement = tiny.displacement(loss, &mut workspace, &tiny.centre);
        if round % 2 == 0 && tiny.centre[0].abs() < 100.0 {
            // Each pair counts by its slope at the centre, but for those on a kink.
            let mut expected = vec![(0.0, 1e-3); displacement.len()];
            for_each_pair::<L>(tiny.pairs(), displacement.len(), |m, n, _| {
                let margin = tiny.centre[m] - tiny.centre[n];
                let slope = [-1e-9, 0.0, 1e-9].map(|by| loss.negative_slope(margin + by));
                let doubt = (slope[0] - slope[2]).abs() + 1e-9 * slope[1].abs();
                for (k, sign) in [(m, 1.0), (n, -1.0)] {
                    expected[k].0 += sign * slope[1];
                    expected[k].1 += doubt;
                }
            });
            for (d, (sum, doubt)) in displacement.iter().zip(expected) {
                assert!((d - 1e-13 * sum).abs() <= 1e-13 * doubt, "{tiny:?}");
            }
        }
        if L::BOX {
            let huge = Problem {
                lambda: 1e12,
                ..tiny
            };
            let displacement = huge.displacement(loss, &mut workspace, &huge.centre);
            let left = huge.value::<L>(&huge.point(&displacement), definition);
            assert!(left < 1e-9, "{left} {huge:?}");
        }
    }
}

#[test]
fn weights_of_one_and_extreme_weights() {
    check_extremes(&Hinge, hinge);
    check_extremes(&SquaredHinge, squared_hinge);
    check_extremes(&odm(), optimal_margin);
}

/// A kernel that is not positive semidefinite may drive scores there: they have no proximal map, but do no harm. Blocks without
/// pairs do not move, and labels in no active pair stay exactly.
fn check_oddities<L: Loss>(loss: &L) {
    let mut workspace = L::Workspace::default();
    for extreme in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e308, -1e308] {
        for position in 0..5 {
            for relevant in 1..5 {
                let mut centre = [0.3, -1e308, 0.1, 2.0, 1e200];
                centre[position] = extreme;
                let pairs = Pairs::all(relevant);
                loss.prox(&centre, &centre, &mut [0.0; 5], pairs, 1e3, &mut workspace);
                loss.value(&centre, pairs, &mut workspace);
            }
        }
    }
    for relevant in [0, 3] {
        let (scores, pairs) = ([1.0, 2.0, 3.0], Pairs::all(relevant));
        let mut displacement = [f64::NAN; 3];
        loss.prox(
            &scores,
            &[0.0; 3],
            &mut displacement,
            pairs,
            1.0,
            &mut workspace,
        );
        assert_eq!(displacement, [0.0; 3]);
        assert_eq!(loss.value(&scores, pairs, &mut workspace), 0.0);
    }
}

#[test]
fn overflowed_scores_and_blocks_without_pairs_do_no_harm() {
    check_oddities(&Hinge);
    check_oddities(&SquaredHinge);
    check_oddities(&odm());
    let centre = [0.3, 5.0, 0.4, -0.7000001, -0.5];
    for prox in [
        |c: &[f64], d: &mut [f64]| {
            Hinge.prox(c, c, d, Pairs::all(2), 10.0, &mut Default::default())
        },
        |c: &[f64], d: &mut [f64]| {
            SquaredHinge.prox(c, c, d, Pairs::all(2), 10.0, &mut Default::default());
        },
    ] {
        let mut moved = [f64::NAN; 5];
        prox(&centre, &mut moved);
        assert_eq!([moved[1], moved[3], moved[4]], [0.0; 3]);
        assert!(moved[0] > 0.4 && moved[2] < -0.4);
    }
}

#[test]
fn pairs_with_a_zero_label_are_those_of_each_label() {
    let mut pairs = Vec::new();
    for_each_pair::<ZeroLabelHinge>(Pairs::all(2), 5, |m, n, _| pairs.push((m, n)));
    assert_eq!(pairs, [(0, 4), (1, 4), (4, 2), (4, 3)]);
}

#[test]
fn parameters_of_the_optimal_margin_are_checked() {
    for theta in [-0.1, 1.0, f64::NAN] {
        let error = OptimalMargin::new(theta, 0.5).unwrap_err();
        assert!(error.to_string().starts_with("theta is"));
    }
    for mu in [0.0, -1.0, 1.1, f64::NAN] {
        let error = OptimalMargin::new(0.2, mu).unwrap_err();
        assert!(error.to_string().starts_with("mu is"));
    }
}
