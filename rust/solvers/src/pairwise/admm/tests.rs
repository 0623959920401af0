use super::*;
use crate::pairwise::bias::feasible;
use crate::pairwise::loss::{Hinge, OptimalMargin, SquaredHinge, sum_of_losses};
use crate::pairwise::scores::{self, Scores, StoredKernel};
use crate::report::Stops;

const N: usize = 30;
const Q: usize = 4;

/// A kernel of rank 3 and random labels.
fn problem(random: &mut fastrand::Rng) -> (Vec<f64>, Labels) {
    let features: Vec<f64> = (0..N * 3).map(|_| random.f64() - 0.4).collect();
    let value = |k: usize| dot(&features[k / N * 3..][..3], &features[k % N * 3..][..3]);
    let indicator: Vec<u8> = (0..N * Q).map(|_| random.u8(..2)).collect();
    let kernel = (0..N * N).map(value).collect();
    (kernel, Labels::new(&indicator, Q, 100.0).unwrap())
}

/// Started at a point like those of early block steps.
fn started(kernel: &[f64], labels: &Labels, beside: Beside, factors: &[f64]) -> Option<Admm> {
    let threads = Threads::default();
    let mut scores = StoredKernel::new(kernel, N, Q).unwrap();
    let dual: Vec<f64> = (0..N * Q).map(|k| ((k * k) % 7) as f64 - 3.0).collect();
    scores.recompute(&dual, &threads, &mut ());
    let at = scores::all(&scores, &threads);
    let tuning = Leaping::default();
    let root = Root::new(
        labels,
        &mut scores,
        (beside, factors),
        |_| true,
        &tuning,
        &threads,
        &mut (),
    );
    let root = root.ok()?;
    Admm::new(root, &dual, &at, Q, &tuning, &threads, &mut ())
}

/// An iteration can be interrupted between rows with hundreds of relevant labels, and so can the dual matrix.
#[test]
fn maps_that_take_long_are_asked_between() {
    const COUNT: usize = 12;
    const MANY: usize = 700;
    let mut random = fastrand::Rng::with_seed(1);
    let indicator: Vec<u8> = (0..COUNT * MANY).map(|_| random.u8(..2)).collect();
    let labels = Labels::new(&indicator, MANY, 1.0).unwrap();
    let mut kernel = vec![0.0; COUNT * COUNT];
    (0..COUNT).for_each(|i| kernel[i * COUNT + i] = 1.0);
    let (threads, loss) = (Threads::default(), OptimalMargin::new(0.3, 0.5).unwrap());
    let mut scores = StoredKernel::new(&kernel, COUNT, MANY).unwrap();
    // The scores of the kernel I are the dual matrix.
    let dual: Vec<f64> = (0..COUNT * MANY)
        .map(|k| (k * k % 7) as f64 - 3.0)
        .collect();
    let (beside, tuning) = (Beside::Direction(0.0), Leaping::default());
    let factors = [1.0; COUNT];
    let monitor = &mut ();
    let root = Root::new(
        &labels,
        &mut scores,
        (beside, &factors),
        |_| true,
        &tuning,
        &threads,
        monitor,
    );
    let root = root.unwrap();
    let admm = Admm::new(root, &dual, &dual, MANY, &tuning, &threads, monitor);
    let mut admm = admm.unwrap();
    assert_eq!(admm.advance(1, &labels, &loss, &threads, &mut Stops(3)), 0);
    assert!(admm.dual(&labels, &loss, &mut Stops(3)).is_none());
    assert_eq!(admm.advance(1, &labels, &loss, &threads, &mut Stops(99)), 1);
    assert!(admm.dual(&labels, &loss, &mut Stops(99)).is_some());
}

/// Too large a rank is predicted after a few columns, and everything stops on request.
#[test]
fn a_root_of_too_many_columns_is_given_up_early() {
    const COUNT: usize = 300;
    let indicator: Vec<u8> = (0..COUNT * Q).map(|k| u8::from(k % Q == 0)).collect();
    let labels = Labels::new(&indicator, Q, 1.0).unwrap();
    let mut kernel = vec![0.5; COUNT * COUNT];
    (0..COUNT).for_each(|i| kernel[i * COUNT + i] = 1.0);
    let mut scores = StoredKernel::new(&kernel, COUNT, Q).unwrap();
    let (threads, tuning) = (Threads::default(), Leaping::default());
    let beside = (Beside::Direction(0.0), &[1.0; COUNT][..]);
    let asked = std::cell::RefCell::new(Vec::new());
    let worth = |rank| {
        asked.borrow_mut().push(rank);
        false
    };
    let mut root = |worth: &dyn Fn(usize) -> bool, tuning: &Leaping, monitor: &mut dyn Monitor| {
        let scores = &mut scores;
        Root::new(&labels, scores, beside, worth, tuning, &threads, monitor).map(|root| root.rank)
    };
    let found = root(&worth, &tuning, &mut ());
    let Err(NoRoot::Dear(needed)) = found else {
        panic!("{found:?}");
    };
    // The first column explains half of everything, and the others equal shares of the rest.
    assert!((tuning.probed..COUNT).contains(&needed), "{needed}");
    assert_eq!(*asked.borrow(), [needed]);
    assert_eq!(root(&|_| true, &tuning, &mut ()), Ok(COUNT));
    let interrupted = root(&|_| true, &tuning, &mut Stops(3));
    assert_eq!(interrupted, Err(NoRoot::Interrupted));
    let few = Leaping {
        rank: 70,
        ..tuning.clone()
    };
    let mut looks = Stops(1000);
    assert_eq!(root(&|_| true, &few, &mut looks), Err(NoRoot::Never));
    assert!(looks.0 > 900);
}

#[test]
fn the_root_is_that_of_the_whole_kernel() {
    let mut random = fastrand::Rng::with_seed(2);
    let (kernel, labels) = problem(&mut random);
    let factors: Vec<f64> = (0..N).map(|_| random.f64()).collect();
    for (weight, rank) in [(0.0, 3), (2.0, 4)] {
        let admm = started(&kernel, &labels, Beside::Direction(weight), &factors).unwrap();
        let root = &admm.root;
        assert_eq!(root.rank, rank);
        for (j, &i) in root.instances.iter().enumerate() {
            for (l, &k) in root.instances.iter().enumerate() {
                let (i, k) = (i as usize, k as usize);
                let expected = kernel[i * N + k] + weight * factors[i] * factors[k];
                let [row, other] = [j, l].map(|at| &root.values[at * rank..][..rank]);
                let scaled = expected * root.scales[j] * root.scales[l];
                assert!((dot(row, other) - scaled).abs() < 1e-12);
            }
        }
    }
    let none = Beside::Direction(0.0);
    let mut indefinite = kernel.clone();
    indefinite[N + 1] = -1.0;
    assert!(started(&indefinite, &labels, none, &factors).is_none());
    assert!(started(&[0.0; N * N], &labels, none, &factors).is_none());
    assert!(started(&[f64::NAN; N * N], &labels, none, &factors).is_none());
}

/// The primal objective of the model and the dual one of `B` meet.
fn check<L: Loss>(loss: &L, seed: u64, beside: Beside) {
    let (kernel, labels) = problem(&mut fastrand::Rng::with_seed(seed));
    let threads = Threads::default();
    let mut admm = started(&kernel, &labels, beside, &[1.0; N]).unwrap();
    assert_eq!(admm.advance(6000, &labels, loss, &threads, &mut ()), 6000);
    let mut scores = StoredKernel::new(&kernel, N, Q).unwrap();
    let mut objective = |dual: &Vec<f64>| {
        scores.recompute(dual, &threads, &mut ());
        let all = scores::all(&scores, &threads);
        let mut sum = vec![0.0; Q];
        dual.chunks_exact(Q)
            .for_each(|row| axpy(1.0, row, &mut sum));
        let (bias, square) = match beside {
            Beside::Free => (admm.bias(&all), 0.0),
            Beside::Direction(weight) => {
                let square = weight * dot(&sum, &sum);
                (sum.iter().map(|g| weight * g).collect(), square)
            }
        };
        let quadratic = 0.5 * (dot(dual, &all) + square);
        (
            quadratic,
            quadratic + sum_of_losses(loss, &labels, &all, &bias),
            sum,
        )
    };
    let (_, primal, _) = objective(&admm.model(&labels, &threads));
    let (dual, terms) = admm.dual(&labels, loss, &mut ()).unwrap();
    let (quadratic, _, sum) = objective(&dual);
    let bound = terms.iter().sum::<f64>() - quadratic;
    assert!(
        (primal - bound).abs() < 1e-7 * primal,
        "{beside:?} {primal} {bound}"
    );
    if matches!(beside, Beside::Free) {
        assert!(sum.iter().all(|g| g.abs() < 1e-6));
    }
    if L::BOX {
        let nearest = feasible(&labels, dual.clone());
        let largest = labels.weight_of_pairs();
        for (nearest, beta) in nearest.iter().zip(&dual) {
            assert!((nearest - beta).abs() <= 1e-12 * largest);
        }
    }
}

#[test]
fn model_and_dual_matrix_meet_at_the_optimum() {
    for seed in 0..5 {
        for beside in [Beside::Direction(0.0), Beside::Direction(1.0), Beside::Free] {
            check(&Hinge, seed, beside);
            check(&SquaredHinge, seed, beside);
            check(&OptimalMargin::new(0.3, 0.5).unwrap(), seed, beside);
        }
    }
}

/// The penalty of a hinge follows the distances that its two matrices have moved, and settles.
#[test]
fn late_penalties_follow_the_movements() {
    let (kernel, labels) = problem(&mut fastrand::Rng::with_seed(3));
    let mut admm = started(&kernel, &labels, Beside::Free, &[1.0; N]).unwrap();
    assert_eq!(admm.ratio_of_movements(), None);
    let (before, rho) = (admm.displacements.clone(), admm.rho);
    admm.scores.iter_mut().for_each(|z| *z += 2.0);
    admm.displacements.iter_mut().for_each(|u| *u -= 6.0 / 4.0);
    admm.rho = 4.0;
    let moved = admm.displacements.iter().zip(&before);
    let way: f64 = moved.map(|(u, old)| (4.0 * u - rho * old).powi(2)).sum();
    let expected = (way / (4.0 * admm.scores.len() as f64)).sqrt();
    let ratio = admm.ratio_of_movements().unwrap();
    assert!((ratio / expected - 1.0).abs() < 1e-12, "{ratio} {expected}");
    let (threads, loss) = (Threads::default(), Hinge);
    let penalty_after = |iterations: usize| {
        let mut admm = started(&kernel, &labels, Beside::Free, &[1.0; N]).unwrap();
        admm.change_penalty(1e3, &mut ());
        admm.iterations = iterations;
        let before = admm.rho;
        admm.advance(100, &labels, &loss, &threads, &mut ());
        admm.rho / before
    };
    let Leaping {
        early, followed, ..
    } = Leaping::default();
    let moved = penalty_after(early);
    assert!(moved < 0.5, "{moved}");
    assert_eq!(penalty_after(followed), 1.0);
}
