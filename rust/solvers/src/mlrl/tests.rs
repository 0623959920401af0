use super::*;
use crate::kernel::gram::{Gram, Kernel};
use crate::linalg::features::{Dense, Features};
use crate::parallel::threads::Threads;
use crate::report::{Monitor, Record, Status};

struct Data {
    n: usize,
    q: usize,
    x: Vec<f64>,
    kernel: Vec<f64>,
    signs: Vec<f64>,
    bounds: Vec<f64>,
    lambda: f64,
}

/// A random problem whose labels have both classes.
fn data(seed: u64) -> Data {
    let mut random = fastrand::Rng::with_seed(seed);
    let (n, q, d) = (random.usize(4..40), random.usize(1..6), random.usize(1..8));
    let x: Vec<f64> = (0..n * d).map(|_| 4.0 * random.f64() - 2.0).collect();
    let features = Features::Dense(Dense::new(&x, n, d).unwrap());
    let kernel = if random.bool() {
        Kernel::Linear
    } else {
        Kernel::Rbf { gamma: 0.5 }
    };
    let gram = Gram::of(kernel, features);
    let kernel = gram.matrix(&Threads::default(), &mut ()).unwrap();
    let mut signs: Vec<f64> = (0..n * q)
        .map(|_| if random.f64() < 0.3 { 1.0 } else { -1.0 })
        .collect();
    for label in 0..q {
        signs[label * n] = 1.0;
        signs[label * n + 1] = -1.0;
    }
    // Every other problem has weights, and a third of its labels is unknown.
    let mut weight = |at: usize| match (seed % 2, at % n) {
        (0, _) => 1.0,
        (_, 0 | 1) => 0.5,
        _ if random.f64() < 0.33 => 0.0,
        _ => 2.0 * random.f64(),
    };
    let bounds = (0..n * q).map(|at| weight(at) / n as f64).collect();
    Data {
        n,
        q,
        x,
        kernel,
        signs,
        bounds,
        lambda: 10f64.powf(3.0 * random.f64() - 2.0),
    }
}

/// A covariance of random rank, with a label that has none now and then.
fn covariance(seed: u64, q: usize) -> Vec<f64> {
    let mut random = fastrand::Rng::with_seed(seed);
    let rank = random.usize(1..=q);
    let mut half: Vec<f64> = (0..q * rank).map(|_| random.f64() - 0.5).collect();
    if q > 1 && random.f64() < 0.2 {
        half[..rank].fill(0.0);
    }
    let trace: f64 = half.iter().map(|v| v * v).sum();
    (0..q * q)
        .map(|at| {
            let (j, k) = (at / q, at % q);
            let product: f64 = (0..rank)
                .map(|r| half[j * rank + r] * half[k * rank + r])
                .sum();
            product / trace
        })
        .collect()
}

fn gap_settings(tolerance: f64, rounds: usize) -> Settings {
    Settings { tolerance, rounds }
}

fn check_feasible(data: &Data, solution: &Solution) {
    for (label, z) in solution.dual.chunks_exact(data.n).enumerate() {
        assert!(z.iter().sum::<f64>().abs() < 1e-15, "label {label}");
        let of_label = label * data.n..;
        let boxes = data.signs[of_label.clone()]
            .iter()
            .zip(&data.bounds[of_label]);
        for (z, (y, c)) in z.iter().zip(boxes) {
            assert!((0.0..=*c).contains(&(z * y)));
        }
    }
}

#[test]
fn threads_and_computed_rows_change_nothing_that_matters() {
    for seed in 0..10 {
        let data = data(seed);
        let kernel = KernelRows::stored(&data.kernel, data.n).unwrap();
        let problem = Problem::new(&kernel, &data.signs, &data.bounds, data.lambda).unwrap();
        let settings = gap_settings(1e-4, 1000);
        let alone = splitting(&problem, &settings, &Threads::default(), &mut ()).unwrap();
        let together = splitting(&problem, &settings, &Threads::new(3), &mut ()).unwrap();
        assert_eq!(alone.expansion, together.expansion);
        let d = data.x.len() / data.n;
        let features = Features::Dense(Dense::new(&data.x, data.n, d).unwrap());
        let linear = Gram::of(Kernel::Linear, features);
        let matrix = linear.matrix(&Threads::default(), &mut ()).unwrap();
        let stored = KernelRows::stored(&matrix, data.n).unwrap();
        let computed = KernelRows::computed(linear, 3 * 8 * data.n);
        let [a, b] = [&stored, &computed].map(|kernel| {
            let problem = Problem::new(kernel, &data.signs, &data.bounds, data.lambda).unwrap();
            splitting(&problem, &settings, &Threads::default(), &mut ())
                .unwrap()
                .report
        });
        assert!((a.primal - b.primal).abs() <= 2e-4 * a.primal);
    }
}

struct Impatient(usize);

impl Monitor for Impatient {
    fn interrupted(&mut self) -> bool {
        self.0 == 0
    }
    fn epoch(&mut self, _record: &Record) {
        self.0 = self.0.saturating_sub(1);
    }
}

#[test]
fn an_interrupted_loop_returns_its_state_with_a_certificate() {
    let data = data(8);
    let kernel = KernelRows::stored(&data.kernel, data.n).unwrap();
    let problem = Problem::new(&kernel, &data.signs, &data.bounds, data.lambda).unwrap();
    let settings = gap_settings(1e-12, 1000);
    let threads = Threads::default();
    let omega = covariance(2, data.q);
    for solution in [
        splitting(&problem, &settings, &threads, &mut Impatient(1)).unwrap(),
        alternating(&problem, 0.0, &settings, &threads, &mut Impatient(0)).unwrap(),
        fixed(&problem, &omega, &settings, &threads, &mut Impatient(0)).unwrap(),
    ] {
        assert_eq!(solution.report.status, Status::Interrupted);
        assert!(solution.report.gap() >= 0.0);
        check_feasible(&data, &solution);
    }
}

#[test]
fn what_rounding_explains_is_no_indefinite_kernel() {
    let signs = [1.0, -1.0];
    let kernel = KernelRows::stored(&[1.0, 0.0, 0.0, 1.0], 2).unwrap();
    let problem = Problem::new(&kernel, &signs, &[0.5, 0.5], 0.1).unwrap();
    let floor = certificate::rounding(&problem, &[0.5, -0.5], 10.0);
    assert!(floor > 0.0 && floor < 1e-13);
    let point = |quadratic: f64| Values {
        primal: 1.0,
        dual: 0.5,
        quadratic,
    };
    let ending = |quadratic: f64| point(quadratic).ending(1e-3, || 1e-8);
    assert_eq!(ending(-1e-10), None);
    assert_eq!(ending(-5e-9), Some(Status::Stalled));
    assert_eq!(ending(-2e-8), Some(Status::IndefiniteKernel));
}
