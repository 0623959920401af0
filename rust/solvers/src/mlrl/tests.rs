use super::*;
use crate::parallel::threads::Threads;
use crate::report::{Objectives, Settings, Status};

const N: usize = 30;

/// A kernel of rank 5, and labels of which a third is positive.
fn data(seed: u64, q: usize) -> (Vec<f64>, Vec<f64>) {
    let mut random = fastrand::Rng::with_seed(seed);
    let x: Vec<f64> = (0..N * 5).map(|_| 4.0 * random.f64() - 2.0).collect();
    let product = |at: usize| (0..5).map(|f| x[at / N * 5 + f] * x[at % N * 5 + f]).sum();
    let sign = |at: usize| match at % N {
        0 => 1.0,
        1 => -1.0,
        _ => f64::from(random.u8(0..3) / 2) * 2.0 - 1.0,
    };
    let signs = (0..N * q).map(sign).collect();
    ((0..N * N).map(product).collect(), signs)
}

fn settings(tolerance: f64) -> Settings {
    Settings {
        tolerance,
        ..Settings::default()
    }
}

#[test]
fn threads_change_no_bit() {
    for (seed, q) in [(0, 4), (1, 4), (2, 4), (3, 4), (4, 80)] {
        let (kernel, signs) = data(seed, q);
        let room = if seed % 2 == 0 { 4 * N * N } else { 0 };
        let kernel = KernelRows::stored(&kernel, N).unwrap().with_room(room);
        assert_eq!(kernel.has_single_precision(), room > 0);
        let bounds = vec![1.0 / N as f64; N * q];
        let problem = Problem::new(&kernel, &signs, &bounds, 0.1).unwrap();
        let [alone, together] = [1, 3].map(|threads| {
            splitting(&problem, &settings(1e-4), &Threads::new(threads), &mut ()).unwrap()
        });
        assert_eq!(alone.expansion, together.expansion);
    }
}

/// Labels of equal size count in full, small ones next to a large one hardly at all, whatever the unit of the weights.
#[test]
fn small_labels_count_less() {
    let kernel = vec![0.0; N * N];
    let kernel = KernelRows::stored(&kernel, N).unwrap();
    let count = |positives: &[usize], weight: f64| {
        let sign = |at: usize| {
            if at % N < positives[at / N] {
                1.0
            } else {
                -1.0
            }
        };
        let signs: Vec<f64> = (0..N * positives.len()).map(sign).collect();
        let bounds = vec![weight; signs.len()];
        let problem = Problem::new(&kernel, &signs, &bounds, 0.1).unwrap();
        problem.effective_labels()
    };
    for weight in [1e-200, 1.0 / N as f64, 1e200] {
        // A label and its complement have the same size.
        assert!((count(&[7, 7, N - 7], weight) - 3.0).abs() < 1e-12);
        assert!((count(&[12, 1, 1], weight) - 196.0 / 146.0).abs() < 1e-12);
    }
}

#[test]
fn what_rounding_explains_is_no_indefinite_kernel() {
    let signs = [1.0, -1.0];
    let kernel = KernelRows::stored(&[1.0, 0.0, 0.0, 1.0], 2).unwrap();
    let problem = Problem::new(&kernel, &signs, &[0.5, 0.5], 0.1).unwrap();
    let floor = certificate::rounding(&problem, &[0.5, -0.5], 10.0);
    assert!(floor > 0.0 && floor < 1e-13);
    let found = Objectives {
        primal: 1.0,
        dual: 0.5,
        rounding: 0.0,
    };
    let ending = |quadratic: f64| found.verdict(quadratic, 1e-3, || 1e-8);
    assert_eq!(ending(-1e-10), None);
    assert_eq!(ending(-5e-9), Some(Status::Stalled));
    assert_eq!(ending(-2e-8), Some(Status::IndefiniteKernel));
}
