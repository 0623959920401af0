//! The value of a smooth loss: two searches per irrelevant label.

use super::super::Pairs;
use super::super::candidates::Candidates;
use super::{Margins, NewtonWorkspace};

/// Number or weight, mean and sum of squared deviations of some scores.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    /// Appends one more score, which counts `weight` times.
    fn and(self, score: f64, weight: f64) -> Self {
        let count = self.count + weight;
        let deviation = score - self.mean;
        let mean = self.mean + weight * deviation / count;
        Self {
            count,
            mean,
            squares: self.squares + weight * deviation * (score - mean),
        }
    }

    /// Sum of the squared distances to a number.
    fn squared_distances(&self, to: f64) -> f64 {
        let distance = to - self.mean;
        self.count * distance * distance + self.squares
    }
}

impl NewtonWorkspace {
    /// The sum over the pairs.
    pub(in super::super) fn value(
        &mut self,
        Margins { theta, mu }: Margins,
        scores: &[f64],
        pairs: Pairs<'_>,
    ) -> f64 {
        self.candidates.find_pairs(scores, pairs, mu > 0.0);
        let Candidates {
            relevant,
            irrelevant,
            ..
        } = &self.candidates;
        running_moments(
            relevant.iter().map(|a| (a.score, a.weight)),
            &mut self.below,
        );
        let reversed = relevant.iter().rev().map(|a| (a.score, a.weight));
        running_moments(reversed.filter(|_| mu > 0.0), &mut self.above);
        let of_label = |&(y, _): &(f64, usize)| {
            let near = relevant.partition_point(|a| a.score < y - theta);
            let cost = self.below[near].squared_distances(y - theta);
            if mu == 0.0 {
                return cost;
            }
            let far = relevant.len() - relevant.partition_point(|a| a.score <= y + theta);
            cost + mu * self.above[far].squared_distances(y + theta)
        };
        0.5 * irrelevant.iter().map(of_label).sum::<f64>()
    }
}

/// The moments of no scores, of the first one, of the first two and so on.
fn running_moments(scores: impl Iterator<Item = (f64, f64)>, moments: &mut Vec<Moments>) {
    moments.clear();
    moments.push(Moments::default());
    let mut last = Moments::default();
    for (score, weight) in scores {
        last = last.and(score, weight);
        moments.push(last);
    }
}
