//! The cheap repair of a point with a free bias whose rows are dealt to many machines ([`super::residual`]): what a part
//! does, and what is known from the sum over the parts.

use super::residual::{self, Carried, Flow, Network, Plan, Rows, STEPS};
use super::transport::At;
use crate::error::{SolverError, check_size};
use crate::labels::Labels;
use crate::linalg::vector::axpy;
use crate::pairwise::bcd::PartPoint;
use crate::pairwise::scores::DenseScores;
use crate::parallel::threads::Threads;
use crate::report::Monitor;

/// The band to begin with, for the sum of the dual rows and what all pairs weigh together.
pub fn residual_band(sum: &[f64], weight_of_pairs: f64) -> f64 {
    residual::first_band(&residual::demand_of(sum), weight_of_pairs)
}

/// What the part's pairs can carry between any two labels, by tail, head and step of costs; `None` when interrupted.
///
/// # Errors
/// When the sizes do not fit together.
pub fn residual_capacities<S: DenseScores>(
    labels: &Labels,
    scores: S,
    point: PartPoint<'_>,
    bands: &[f64],
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Result<Option<Vec<f64>>, SolverError> {
    check_size("bands", bands.len(), labels.count())?;
    let scores = common_scores(labels, scores, point, threads)?;
    let mut near = residual::nearest(labels);
    let at = at(labels, &scores, point);
    let network = residual::capacities(&at, bands, Rows::ALL, &mut near, threads, monitor);
    Ok(network.map(Network::into_capacities))
}

/// The prices at which the capacities of all parts within the bands carry what makes the dual rows sum to 0; `None` when
/// interrupted, or when no pairs can.
///
/// # Errors
/// When the sizes do not fit together.
pub fn residual_flow(
    sum: &[f64],
    bands: Vec<f64>,
    capacities: Vec<f64>,
    monitor: &mut dyn Monitor,
) -> Result<Option<Carried>, SolverError> {
    let q = sum.len();
    check_size("bands", bands.len(), q)?;
    check_size("capacities", capacities.len(), q * q * STEPS)?;
    let network = Network::of(q, residual::steps(&bands), capacities);
    let demand = residual::demand_of(sum);
    let lacking = residual::shortages(&demand, &network);
    Ok(residual::carried(&demand, bands, network, lacking, monitor))
}

/// The part's dual rows after their share of a flow; `None` when interrupted.
///
/// # Errors
/// When the sizes do not fit together.
pub fn residual_moves<S: DenseScores>(
    labels: &Labels,
    scores: S,
    point: PartPoint<'_>,
    flow: Flow,
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Result<Option<Vec<f64>>, SolverError> {
    let q = labels.count();
    check_size("bands", flow.bands.len(), q)?;
    check_size("prices", flow.prices.len(), q)?;
    let scores = common_scores(labels, scores, point, threads)?;
    let near = residual::nearest(labels);
    let mut plan = Plan {
        flow,
        rows: Rows::ALL,
        near,
    };
    let mut dual = point.dual.to_vec();
    let complete = plan.moves(
        &at(labels, &scores, point),
        threads,
        monitor,
        |i, change| {
            axpy(1.0, change, &mut dual[i * q..(i + 1) * q]);
        },
    );
    Ok(complete.then_some(dual))
}

/// The scores of the part's rows by the common weights.
fn common_scores<S: DenseScores>(
    labels: &Labels,
    mut scores: S,
    point: PartPoint<'_>,
    threads: &Threads,
) -> Result<Vec<f64>, SolverError> {
    point.place(labels, &mut scores)?;
    Ok(scores.all(threads))
}

fn at<'a>(labels: &'a Labels, scores: &'a [f64], point: PartPoint<'a>) -> At<'a> {
    At {
        labels,
        dual: point.dual,
        scores,
        bias: point.offset,
        // The steps of the rounds mix.
        mixtures: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::features::Dense;
    use crate::linalg::vector::row_sum;
    use crate::pairwise::bias::in_box;
    use crate::pairwise::scores::LinearDense;

    const Q: usize = 5;

    /// Labels, features and dual rows: any share of the weight for any pair.
    struct Rows {
        indicator: Vec<u8>,
        x: Vec<f64>,
        dual: Vec<f64>,
    }

    impl Rows {
        fn random(seed: u64, n: usize) -> Self {
            let mut random = fastrand::Rng::with_seed(seed);
            let indicator: Vec<u8> = (0..n * Q).map(|_| random.u8(0..2)).collect();
            let labels = Labels::weighted(&indicator, Q, &vec![0.5; n]).unwrap();
            let mut dual = vec![0.0; n * Q];
            for i in (0..n).filter(|&i| labels.has_pairs(i)) {
                for &m in labels.relevant(i) {
                    for l in labels.irrelevant(i) {
                        let alpha = 0.5 * random.f64();
                        dual[i * Q + m as usize] += alpha;
                        dual[i * Q + l] -= alpha;
                    }
                }
            }
            let x = (0..n * 3).map(|_| random.f64() - 0.5).collect();
            Self { indicator, x, dual }
        }

        fn part(&self, rows: std::ops::Range<usize>) -> Self {
            let of = |width: usize| rows.start * width..rows.end * width;
            Self {
                indicator: self.indicator[of(Q)].to_vec(),
                x: self.x[of(3)].to_vec(),
                dual: self.dual[of(Q)].to_vec(),
            }
        }

        /// Calls a function of the part at weights and bias that are all of one kind.
        fn asked<R>(
            &self,
            ask: impl FnOnce(&Labels, LinearDense<'_>, PartPoint<'_>) -> Result<Option<R>, SolverError>,
        ) -> R {
            let n = self.indicator.len() / Q;
            let labels = Labels::weighted(&self.indicator, Q, &vec![0.5; n]).unwrap();
            let weights: Vec<f64> = (0..3 * Q).map(|k| (k as f64).sin()).collect();
            let point = PartPoint {
                dual: &self.dual,
                weights: &weights,
                offset: &[0.1, -0.2, 0.3, 0.0, -0.2],
            };
            let features = Dense::new(&self.x, n, 3).unwrap();
            ask(&labels, LinearDense::new(features, Q), point)
                .unwrap()
                .unwrap()
        }

        fn capacities(&self, bands: &[f64]) -> Vec<f64> {
            let threads = Threads::new(1);
            self.asked(|labels, scores, point| {
                residual_capacities(labels, scores, point, bands, &threads, &mut ())
            })
        }

        fn moved(&self, flow: &Flow) -> Vec<f64> {
            let threads = Threads::new(1);
            self.asked(|labels, scores, point| {
                residual_moves(labels, scores, point, flow.clone(), &threads, &mut ())
            })
        }
    }

    /// Two parts, one flow: their dual rows sum to 0 together and stay in their boxes.
    #[test]
    fn parts_move_their_shares_of_one_flow() {
        for seed in 0..20 {
            let all = Rows::random(seed, 60);
            let parts = [all.part(0..25), all.part(25..60)];
            let sum = row_sum(&all.dual, Q);
            let mut bands = vec![residual_band(&sum, 30.0); Q];
            let flow = loop {
                let [left, right] = [0, 1].map(|p: usize| parts[p].capacities(&bands));
                let both = left.iter().zip(&right).map(|(l, r)| l + r).collect();
                match residual_flow(&sum, bands, both, &mut ()).unwrap().unwrap() {
                    Carried::By(flow) => break flow,
                    Carried::Within(wider) => bands = wider,
                }
            };
            let moved = [parts[0].moved(&flow), parts[1].moved(&flow)].concat();
            assert!(sum.iter().any(|g| g.abs() > 0.1));
            assert!(row_sum(&moved, Q).iter().all(|g| g.abs() < 1e-9));
            let labels = Labels::weighted(&all.indicator, Q, &[0.5; 60]).unwrap();
            for i in (0..60).filter(|&i| labels.has_pairs(i)) {
                let mut gathered = vec![0.0; Q];
                let known = labels.gather(i, &moved[i * Q..(i + 1) * Q], &mut gathered);
                assert!(in_box(known, labels.relevant(i).len(), 0.5));
            }
            // What the parts can carry is what all rows can.
            let whole = all.capacities(&flow.bands);
            let [left, right] = [0, 1].map(|p: usize| parts[p].capacities(&flow.bands));
            for ((l, r), both) in left.iter().zip(&right).zip(&whole) {
                assert!((l + r - both).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn arrays_of_another_size_are_named() {
        let rows = Rows::random(1, 4);
        let error = |bands: &[f64], capacities: Vec<f64>| {
            let found = residual_flow(&[0.5, -0.5], bands.to_vec(), capacities, &mut ());
            found.unwrap_err().to_string()
        };
        assert!(error(&[1.0], vec![0.0; 48]).starts_with("bands is 1 numbers"));
        assert!(error(&[1.0; 2], vec![0.0; 47]).starts_with("capacities is 47 numbers"));
        assert_eq!(rows.capacities(&[1.0; Q]).len(), Q * Q * STEPS);
    }
}
