//! Where a free bias starts: at the biases that are best without features.
//!
//! Without features the problem is one of a few numbers,
//!
//! ```text
//! min over b   sum over labels m, l   C_ml max(0, 1 - (b_m - b_l))
//! ```
//!
//! with the capacities `C_ml` of [`super::repair`]. At `b = 0` all dual variables are at their bounds, and they balance once
//! what each label has too much of flows back through pairs, at a loss of 1 for each unit: the prices of that flow
//! ([`crate::network::prices`]) are the biases, with their signs changed. For small `C` they are nearly those of the solution.

use super::repair::centred;
use crate::labels::Labels;
use crate::linalg::vector::mean;
use crate::network::prices::{Network, Steps};
use crate::report::Monitor;

/// Pairs give way evenly between this margin and 1, and a share of them from 0 on: rows differ.
const FIRST_MARGIN: f64 = 0.7;
const SPREAD: f64 = 0.25;

/// Where the pairs of a label can move its scores farther than this, 0 was as good a start on five sets of text.
const REACH: f64 = 50.0;

/// Where the biases start, for scores with the diagonal `K_ii` and the capacities `C_ml`.
pub(super) fn first_bias(
    labels: &Labels,
    capacity: &[f64],
    diagonal: &[f64],
    monitor: &mut dyn Monitor,
) -> Vec<f64> {
    let q = labels.count();
    if mean(diagonal) * labels.weight_of_pairs() <= REACH * q as f64 {
        best_without_features(capacity, monitor)
    } else {
        vec![0.0; q]
    }
}

/// The biases that are best without features, for the capacities `C_ml`, `q x q` row-major; 0 when interrupted or on
/// overflow.
pub fn best_without_features(capacity: &[f64], monitor: &mut dyn Monitor) -> Vec<f64> {
    let q = capacity.len().isqrt();
    let steps = Steps {
        ends: [FIRST_MARGIN, 1.0],
        spread: SPREAD,
    };
    let mut network = Network::new(q, steps);
    let places = network.places();
    for (m, row) in capacity.chunks_exact(q).enumerate() {
        for (l, &capacity) in row.iter().enumerate() {
            network.add(places.of(l, m, 1.0), capacity);
        }
    }
    // At b = 0 label m has more of the dual variables than it should by what its pairs outweigh the others'.
    let mut network = network.closed();
    let demand = centred(
        network
            .out
            .iter()
            .zip(&network.into)
            .map(|(out, into)| out - into)
            .collect(),
    );
    let found = network.priced(&demand, &mut || monitor.interrupted());
    let bias = found.map(|found| centred(found.prices.iter().map(|price| -price).collect()));
    // In ascending order best biases are 1 apart at most: larger ones are what overflow has left.
    let within = |bias: &Vec<f64>| bias.iter().all(|b| b.abs() <= q as f64);
    bias.filter(within).unwrap_or_else(|| vec![0.0; q])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What all pairs cost without features.
    fn objective(capacity: &[f64], bias: &[f64]) -> f64 {
        let q = bias.len();
        let pairs = (0..q).flat_map(|m| (0..q).map(move |l| (m, l)));
        pairs
            .map(|(m, l)| capacity[m * q + l] * (1.0 - bias[m] + bias[l]).max(0.0))
            .sum()
    }

    /// There is a best bias of whole numbers, for the problem is a linear programme over a network with costs of 1.
    #[test]
    fn it_is_nearly_the_best_bias() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..100 {
            let q = random.usize(2..5);
            let mut capacity: Vec<f64> = (0..q * q).map(|_| random.f64().powi(3)).collect();
            (0..q).for_each(|k| capacity[k * q + k] = 0.0);
            let whole = (0..7_usize.pow(q as u32)).map(|number| {
                let digit = |k| (number / 7_usize.pow(k as u32) % 7) as f64;
                objective(&capacity, &(0..q).map(digit).collect::<Vec<_>>())
            });
            let best = whole.fold(f64::INFINITY, f64::min);
            let at_zero = objective(&capacity, &vec![0.0; q]);
            let found = objective(&capacity, &best_without_features(&capacity, &mut ()));
            // A hinge that gives way over a width is at most half of it below the hinge.
            let width = (1.0 - SPREAD) * (1.0 - FIRST_MARGIN) + SPREAD;
            assert!(found - best <= 0.5 * width * at_zero + 1e-9);
            assert!(found <= at_zero + 1e-9);
        }
    }
}
