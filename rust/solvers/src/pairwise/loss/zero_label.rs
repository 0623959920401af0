//! The hinge loss with a zero label, of Rank-SVMz (after Xu 2012): value in one pass, proximal map in one variable.
//!
//! A zero label with a score of its own, the last one, stands between the relevant and the irrelevant labels, and each
//! label is compared with it alone:
//!
//! ```text
//! phi(s) = sum over m in P of max(0, 1 - (s_m - s_0))  +  sum over n in N of max(0, 1 - (s_0 - s_n))
//! ```
//!
//! For a given `t = s_0` the proximal map of every other label is explicit: with the centre `c`,
//!
//! ```text
//! s_m = c_m + clip(t + 1 - c_m, 0, lambda),    s_n = c_n - clip(c_n + 1 - t, 0, lambda)
//! ```
//!
//! and what the others gain the zero label loses, which leaves one equation, increasing and piecewise linear in `t`:
//!
//! ```text
//! t - c_0 + sum_m clip(t + 1 - c_m, 0, lambda) - sum_n clip(c_n + 1 - t, 0, lambda) = 0
//! ```
//!
//! With weights of the relevant labels, the bound of their terms is `lambda w_m`.
//!
//! Newton's method inside a shrinking bracket finds the piece of the root, from the current score mostly at once, and is
//! exact there: O(q) an iteration.

use super::{Hinge, Loss, Pairs};

/// Iterations of Newton's method, and how often one of them halves the bracket instead.
const MOST_ITERATIONS: usize = 200;
const HALVING: usize = 4;

/// Values below this share of the terms they are the sum of are rounding.
const ROUNDING: f64 = 2.0 * f64::EPSILON;

/// The hinge loss `max(0, 1 - z)` of the pairs with a zero label.
#[derive(Clone, Copy, Debug, Default)]
pub struct ZeroLabelHinge;

/// The equation for the zero label's score at one point.
struct Equation {
    value: f64,
    slope: f64,
    /// Sum of the magnitudes of its terms.
    size: f64,
}

/// By how much a relevant label of centre `c` rises, for a zero label at `t`.
fn rise(c: f64, t: f64, lambda: f64) -> f64 {
    (t + 1.0 - c).clamp(0.0, lambda)
}

/// By how much an irrelevant label of centre `c` falls, for a zero label at `t`.
fn fall(c: f64, t: f64, lambda: f64) -> f64 {
    (c + 1.0 - t).clamp(0.0, lambda)
}

impl Equation {
    fn at(t: f64, centre: &[f64], pairs: Pairs<'_>, lambda: f64) -> Self {
        let (zero, relevant) = (centre.len() - 1, pairs.relevant);
        let (mut risen, mut fallen, mut slope) = (0.0, 0.0, 1.0);
        let mut add = |moved: f64, most: f64, sum: &mut f64| {
            *sum += moved;
            slope += if moved > 0.0 && moved < most {
                1.0
            } else {
                0.0
            };
        };
        for (m, &c) in centre[..relevant].iter().enumerate() {
            let most = lambda * pairs.weight(m);
            add(rise(c, t, most), most, &mut risen);
        }
        for &c in &centre[relevant..zero] {
            add(fall(c, t, lambda), lambda, &mut fallen);
        }
        Self {
            value: t - centre[zero] + risen - fallen,
            slope,
            size: t.abs() + centre[zero].abs() + risen + fallen,
        }
    }
}

/// The zero label's score after the proximal map.
fn zero_score(centre: &[f64], guess: f64, pairs: Pairs<'_>, lambda: f64) -> f64 {
    let (zero, relevant) = (centre.len() - 1, pairs.relevant);
    // The others move the zero label by `lambda` each at most.
    let weight: f64 = (0..relevant).map(|m| pairs.weight(m)).sum();
    let mut lower = centre[zero] - lambda * weight;
    let mut upper = centre[zero] + lambda * (zero - relevant) as f64;
    let mut t = guess.clamp(lower, upper);
    for iteration in 1..=MOST_ITERATIONS {
        let Equation { value, slope, size } = Equation::at(t, centre, pairs, lambda);
        let newton = t - value / slope;
        if value.abs() <= ROUNDING * size {
            return newton;
        }
        if value > 0.0 {
            upper = t;
        } else {
            lower = t;
        }
        let inside = newton > lower && newton < upper;
        t = if inside && !iteration.is_multiple_of(HALVING) {
            newton
        } else {
            0.5 * (lower + upper)
        };
    }
    t
}

impl Loss for ZeroLabelHinge {
    type Workspace = ();

    const BOX: bool = true;

    const ZERO_LABEL: bool = true;

    const WEIGHTS: bool = true;

    fn value(&self, scores: &[f64], pairs: Pairs<'_>, _workspace: &mut ()) -> f64 {
        let (zero, relevant) = (scores.len() - 1, pairs.relevant);
        let t = scores[zero];
        let above: f64 = scores[..relevant]
            .iter()
            .enumerate()
            .map(|(m, s)| pairs.weight(m) * (1.0 - s + t).max(0.0))
            .sum();
        let below: f64 = scores[relevant..zero]
            .iter()
            .map(|s| (1.0 - t + s).max(0.0))
            .sum();
        above + below
    }

    fn prox(
        &self,
        centre: &[f64],
        guess: &[f64],
        displacement: &mut [f64],
        pairs: Pairs<'_>,
        lambda: f64,
        _workspace: &mut (),
    ) {
        let (zero, relevant) = (centre.len() - 1, pairs.relevant);
        let t = zero_score(centre, guess[zero], pairs, lambda);
        let mut total = 0.0;
        for (k, (displacement, &c)) in displacement.iter_mut().zip(&centre[..zero]).enumerate() {
            *displacement = if k < relevant {
                rise(c, t, lambda * pairs.weight(k))
            } else {
                -fall(c, t, lambda)
            };
            total += *displacement;
        }
        displacement[zero] = -total;
    }

    /// The sum of the pairs' dual variables, which are those of the labels without their signs.
    fn dual_value(
        &self,
        dual: &[f64],
        _scores: &[f64],
        _pairs: Pairs<'_>,
        _weight: f64,
        _workspace: &mut (),
    ) -> f64 {
        dual[..dual.len() - 1].iter().map(|beta| beta.abs()).sum()
    }

    fn negative_slope(&self, margin: f64) -> f64 {
        Hinge.negative_slope(margin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairwise::loss::for_each_pair;

    /// A random block: ties half of the time, one side empty often.
    fn block(random: &mut fastrand::Rng) -> (Vec<f64>, usize, f64) {
        let (p, r) = match random.u8(..4) {
            0 => (0, random.usize(1..7)),
            1 => (random.usize(1..7), 0),
            _ => (random.usize(1..7), random.usize(1..30)),
        };
        let spread = [0.5, 2.0, 10.0][random.usize(0..3)];
        let ties = random.bool();
        let scores = (0..p + r + 1)
            .map(|_| {
                let x = spread * (random.f64() - 0.5);
                if ties { (2.0 * x).round() / 2.0 } else { x }
            })
            .collect();
        (scores, p, 10.0_f64.powf(-3.0 + 4.0 * random.f64()))
    }

    fn displacement_of(centre: &[f64], guess: &[f64], p: usize, lambda: f64) -> Vec<f64> {
        let mut displacement = vec![f64::NAN; centre.len()];
        let pairs = Pairs::all(p);
        ZeroLabelHinge.prox(centre, guess, &mut displacement, pairs, lambda, &mut ());
        displacement
    }

    /// The same proximal map by coordinate descent over the pairs' dual variables, to convergence.
    fn coordinate_descent(centre: &[f64], p: usize, lambda: f64) -> Vec<f64> {
        let mut alpha = vec![0.0; centre.len() - 1];
        let mut s = centre.to_vec();
        for _ in 0..100_000 {
            let (mut moved, mut pair): (f64, usize) = (0.0, 0);
            for_each_pair::<ZeroLabelHinge>(Pairs::all(p), centre.len(), |m, n, _| {
                let old: f64 = alpha[pair];
                let new = (old - (s[m] - s[n] - 1.0) / 2.0).clamp(0.0, lambda);
                s[m] += new - old;
                s[n] -= new - old;
                alpha[pair] = new;
                moved = moved.max((new - old).abs());
                pair += 1;
            });
            if moved < 1e-15 {
                break;
            }
        }
        s.iter().zip(centre).map(|(s, c)| s - c).collect()
    }

    #[test]
    fn pairs_are_those_with_the_zero_label() {
        let mut pairs = Vec::new();
        for_each_pair::<ZeroLabelHinge>(Pairs::all(2), 5, |m, n, _| pairs.push((m, n)));
        assert_eq!(pairs, [(0, 4), (1, 4), (4, 2), (4, 3)]);
    }

    #[test]
    fn value_is_the_sum_over_pairs() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..2000 {
            let (scores, p, _) = block(&mut random);
            let mut expected = 0.0;
            for_each_pair::<ZeroLabelHinge>(Pairs::all(p), scores.len(), |m, n, _| {
                expected += (1.0 - (scores[m] - scores[n])).max(0.0);
            });
            let value = ZeroLabelHinge.value(&scores, Pairs::all(p), &mut ());
            assert!((value - expected).abs() < 1e-12 * (1.0 + expected));
        }
    }

    #[test]
    fn prox_agrees_with_coordinate_descent_over_pairs() {
        let mut random = fastrand::Rng::with_seed(4);
        for _ in 0..3000 {
            let (centre, p, lambda) = block(&mut random);
            let displacement = displacement_of(&centre, &centre, p, lambda);
            let expected = coordinate_descent(&centre, p, lambda);
            for (x, y) in displacement.iter().zip(&expected) {
                assert!(
                    (x - y).abs() < 1e-10,
                    "{centre:?} {p} {lambda}: {displacement:?} {expected:?}"
                );
            }
        }
    }

    #[test]
    fn guess_does_not_change_the_proximal_map() {
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..3000 {
            let (centre, p, lambda) = block(&mut random);
            let cold = displacement_of(&centre, &centre, p, lambda);
            let guess: Vec<f64> = centre.iter().map(|_| 20.0 * random.f64() - 10.0).collect();
            let warm = displacement_of(&centre, &guess, p, lambda);
            for (x, y) in cold.iter().zip(&warm) {
                assert!((x - y).abs() < 1e-12, "{centre:?} {p} {lambda}");
            }
        }
    }

    #[test]
    fn extreme_lambda_and_offsets() {
        let mut random = fastrand::Rng::with_seed(6);
        for _ in 0..2000 {
            let (centre, p, _) = block(&mut random);
            // So small that every pair stays as it is: each violated pair counts lambda, but for the pairs on the kink.
            let small = displacement_of(&centre, &centre, p, 1e-13);
            for_each_pair::<ZeroLabelHinge>(Pairs::all(p), centre.len(), |m, n, _| {
                let other = if n == centre.len() - 1 { m } else { n };
                let lack = 1.0 - (centre[m] - centre[n]);
                if lack.abs() > 1e-9 {
                    let expected = if lack > 0.0 { 1e-13 } else { 0.0 };
                    assert!((small[other].abs() - expected).abs() < 1e-28);
                }
            });
            // So large that no pair may be violated afterwards.
            let large = displacement_of(&centre, &centre, p, 1e12);
            let moved: Vec<f64> = centre.iter().zip(&large).map(|(c, d)| c + d).collect();
            assert!(ZeroLabelHinge.value(&moved, Pairs::all(p), &mut ()) < 1e-10);
            // A large common offset changes nothing but rounding.
            let lifted: Vec<f64> = centre.iter().map(|c| c + 1e6).collect();
            let other = displacement_of(&lifted, &lifted, p, 1e12);
            for (x, y) in large.iter().zip(&other) {
                assert!((x - y).abs() < 1e-8);
            }
        }
    }
}
