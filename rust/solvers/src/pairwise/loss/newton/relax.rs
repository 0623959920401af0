//! A separate step of each of the few, for the current scores of the many, in which none limits the others.
//!
//! A Newton step with a line search is as long as the stiffest pairs allow; if weights differ by orders of magnitude, that
//! holds up all labels of smaller weight. With the many held fixed, each of the few has its own equation, increasing and
//! piecewise linear in the score `a`:
//!
//! ```text
//! a - c - lambda w sum_n max(0, y_n - a) + mu lambda w sum_n max(0, a - 2 theta - y_n) = 0
//! ```

use super::NewtonWorkspace;
use crate::linalg::root::root;

/// Scores of the many that count, in descending order, and the total distances of those before and after each one from it.
#[derive(Clone, Debug, Default)]
pub(super) struct Many {
    scores: Vec<f64>,
    above: Vec<f64>,
    below: Vec<f64>,
}

impl Many {
    /// Sums the distances, none of which is negative.
    fn sum_up(&mut self) {
        let Self {
            scores,
            above,
            below,
        } = self;
        for sums in [&mut *above, &mut *below] {
            sums.clear();
            sums.resize(scores.len(), 0.0);
        }
        for j in 1..scores.len() {
            above[j] = above[j - 1] + j as f64 * (scores[j - 1] - scores[j]);
        }
        for (j, after) in (0..scores.len().saturating_sub(1)).rev().zip(1..) {
            below[j] = below[j + 1] + f64::from(after) * (scores[j] - scores[j + 1]);
        }
    }

    /// The number above a level, and their total distance from it.
    fn above(&self, level: f64) -> (f64, f64) {
        let count = self.scores.partition_point(|&y| y > level);
        let sum = count.checked_sub(1).map_or(0.0, |last| {
            self.above[last] + count as f64 * (self.scores[last] - level)
        });
        (count as f64, sum)
    }

    /// The number below a level, and their total distance from it.
    fn below(&self, level: f64) -> (f64, f64) {
        let first = self.scores.partition_point(|&y| y >= level);
        let count = (self.scores.len() - first) as f64;
        let sum = self
            .scores
            .get(first)
            .map_or(0.0, |highest| self.below[first] + count * (level - highest));
        (count, sum)
    }
}

impl NewtonWorkspace {
    /// Moves each of the few to its best score given those of the many.
    pub(super) fn relax(&mut self, lambda: f64) {
        let (mu, gap) = (self.loss.mu(), 2.0 * self.loss.theta());
        let (v, many) = (&self.candidates.irrelevant, &mut self.many);
        many.scores.clear();
        many.scores.extend(v.iter().map(|&(v, _)| v));
        for node in &self.nodes {
            for score in &mut many.scores[node.range.0..node.range.1] {
                *score = if node.tied {
                    node.total() / node.count
                } else {
                    (*score + lambda * node.pull) / node.stiffness
                };
            }
        }
        many.scores.truncate(self.top);
        many.sum_up();
        let (Some(highest), Some(lowest)) = (many.scores.first(), many.scores.last()) else {
            return;
        };
        for label in &mut self.few {
            let (c, lambda) = (label.centre, lambda * label.weight);
            let bracket = (c.min(lowest + gap), c.max(*highest));
            (label.score, _) = root(label.score, bracket, |t| {
                let (near, rise) = many.above(t);
                let (far, fall) = if mu > 0.0 {
                    many.below(t - gap)
                } else {
                    (0.0, 0.0)
                };
                let value = t - c - lambda * (rise - mu * fall);
                let slope = 1.0 + lambda * (near + mu * far);
                (t - value / slope, (near, far))
            });
        }
    }
}
