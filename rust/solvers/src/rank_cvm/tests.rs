use super::*;

fn random_problem(seed: u64, n: usize, q: usize) -> (Vec<f64>, Labels) {
    let mut random = fastrand::Rng::with_seed(seed);
    let x: Vec<f64> = (0..n * 3).map(|_| random.f64() - 0.5).collect();
    let mut kernel = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            kernel[i * n + j] = (0..3).map(|k| x[i * 3 + k] * x[j * 3 + k]).sum();
        }
    }
    let mut indicator: Vec<u8> = (0..n * q).map(|_| u8::from(random.f64() < 0.4)).collect();
    (indicator[0], indicator[1]) = (1, 0);
    (kernel, Labels::new(&indicator, q, 2.0).unwrap())
}

fn options(direction: Direction, tolerance: f64) -> Options {
    Options {
        direction,
        stop: StopRule::Relative(tolerance),
        max_epochs: 1000,
        recorded_steps: 0,
    }
}

/// An instance, a relevant and an irrelevant label.
type Pair = (usize, u32, u32);

/// `Theta` of all pairs, entry by entry (53), and the pairs.
fn theta(kernel: &[f64], labels: &Labels) -> (Vec<Vec<f64>>, Vec<Pair>) {
    let pairs: Vec<Pair> = (0..labels.instances())
        .flat_map(|i| {
            let of_label = move |&m: &u32| labels.irrelevant(i).map(move |l| (i, m, l as u32));
            labels.relevant(i).iter().flat_map(of_label)
        })
        .collect();
    let entry = |&(i, m, l): &Pair, &(j, o, p): &Pair| {
        let same = |a: u32, b: u32| f64::from(u8::from(a == b));
        let h = same(m, o) + same(l, p) - same(m, p) - same(l, o);
        let own = f64::from(u8::from((i, m, l) == (j, o, p))) / labels.weight(i);
        h * (kernel[i * labels.instances() + j] + 1.0) + own
    };
    let rows = pairs
        .iter()
        .map(|s| pairs.iter().map(|t| entry(s, t)).collect());
    (rows.collect(), pairs)
}

#[test]
fn every_step_goes_to_the_smallest_gradient_entry() {
    // Whole and broken blocks of instances and labels, and instances without pairs.
    for (seed, n, q) in [(0, 40, 4), (1, 17, 7), (2, 16, 16), (3, 5, 19), (4, 3, 2)] {
        for direction in [Direction::Vertex, Direction::Pairwise] {
            let (kernel, labels) = random_problem(seed, n, q);
            let (theta, pairs) = theta(&kernel, &labels);
            let rows = KernelRows::stored(&kernel, n).unwrap();
            let options = Options {
                max_epochs: 3,
                recorded_steps: 400,
                ..options(direction, 1e-12)
            };
            let steps = solve(&labels, &rows, &[], &options, &mut ()).unwrap().steps;
            assert!(!steps.is_empty());
            let mut alpha = vec![0.0; pairs.len()];
            let first = (0..pairs.len()).min_by(|&s, &t| theta[s][s].total_cmp(&theta[t][t]));
            alpha[first.unwrap()] = 1.0;
            for step in steps.iter().take_while(|step| step.weight > 0.0) {
                let gradient: Vec<f64> = theta
                    .iter()
                    .map(|row| row.iter().zip(&alpha).map(|(t, a)| t * a).sum())
                    .collect();
                let smallest = gradient.iter().copied().fold(f64::INFINITY, f64::min);
                let pair = (step.instance as usize, step.relevant, step.irrelevant);
                let chosen = pairs.iter().position(|&p| p == pair).unwrap();
                assert!(gradient[chosen] <= smallest + 1e-11, "{seed} {direction:?}");
                match direction {
                    Direction::Vertex => alpha.iter_mut().for_each(|a| *a *= 1.0 - step.weight),
                    Direction::Pairwise => {
                        let worst = (0..pairs.len())
                            .filter(|&s| alpha[s] > 0.0)
                            .max_by(|&s, &t| gradient[s].total_cmp(&gradient[t]))
                            .unwrap();
                        alpha[worst] = (alpha[worst] - step.weight).max(0.0);
                    }
                }
                alpha[chosen] += step.weight;
            }
        }
    }
}

#[test]
fn pairwise_steps_reach_the_limit_of_double_precision() {
    for seed in 0..20 {
        let (kernel, labels) = random_problem(seed, 12, 4);
        let rows = KernelRows::stored(&kernel, 12).unwrap();
        let exact = solve(
            &labels,
            &rows,
            &[],
            &options(Direction::Pairwise, 1e-11),
            &mut (),
        )
        .unwrap();
        assert_eq!(exact.report.status, Status::Converged, "{seed}");
        let rough = solve(
            &labels,
            &rows,
            &[],
            &options(Direction::Vertex, 1e-2),
            &mut (),
        )
        .unwrap();
        assert!(rough.report.primal >= exact.report.dual);
        assert!(rough.report.dual <= exact.report.primal);
        // Going on from the optimum stops at once.
        let again = solve(
            &labels,
            &rows,
            &exact.support,
            &options(Direction::Pairwise, 1e-10),
            &mut (),
        )
        .unwrap();
        assert_eq!(again.report.epochs, 1);
    }
}

#[test]
fn labels_without_pairs_and_malformed_starts_are_errors() {
    let kernel = [1.0, 0.0, 0.0, 1.0];
    let rows = KernelRows::stored(&kernel, 2).unwrap();
    let options = options(Direction::Vertex, 1e-2);
    let without = Labels::new(&[1, 1, 0, 0], 2, 1.0).unwrap();
    assert!(solve(&without, &rows, &[], &options, &mut ()).is_err());
    let labels = Labels::new(&[1, 0, 0, 1], 2, 1.0).unwrap();
    let wrong = WeightedPair {
        instance: 1,
        relevant: 0,
        irrelevant: 1,
        weight: 1.0,
    };
    assert!(solve(&labels, &rows, &[wrong], &options, &mut ()).is_err());
}
