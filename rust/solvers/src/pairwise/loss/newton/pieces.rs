//! The many given the few: each has its own equation, in which `v` is an increasing, piecewise linear function of `y` with
//! kinks at each `a` and `a - 2 theta`. One merge of the sorted `v` with these kinks solves them all.
//!
//! If more than `k` labels are above the lowest `a`, the last ones meet at a level `t` and share the remainder of `k`: with
//! `h(x) = sum_m w_m max(0, x - a_m)`,
//!
//! ```text
//! sum_n min(1, (v_n - t)_+ / (lambda h(t))) = k
//! ```
//!
//! Labels with `v_n >= t + lambda h(t)` count fully, those down to `t` in part, and the others do not move.

use super::{NewtonWorkspace, Node};
use crate::linalg::root::root;

impl NewtonWorkspace {
    /// Sorts the few, and finds the pieces of the current point.
    pub(super) fn evaluate(&mut self, lambda: f64) {
        let (theta, mu) = (self.loss.theta(), self.loss.mu());
        self.few.sort_unstable_by(|x, y| {
            x.score
                .total_cmp(&y.score)
                .then(x.position.cmp(&y.position))
        });
        let mut after = (0.0, 0.0);
        for label in self.few.iter_mut().rev() {
            after.0 += label.weight;
            after.1 += label.weight * label.score;
            label.after = after;
        }
        self.nodes.clear();
        let many = &self.candidates.irrelevant;
        let lowest = self.few[0].score;
        let mut start = if mu > 0.0 {
            many.len()
        } else {
            many.partition_point(|&(v, _)| v > lowest)
        };
        if start > self.top {
            start = self.tie(lambda);
        }
        let (few, many) = (&self.few, &self.candidates.irrelevant);
        // Sums over the few below the current `y`, and over those far above it.
        let (mut near, mut below) = (0, (0.0, 0.0));
        let (mut far, mut beyond) = if mu > 0.0 {
            (0, after)
        } else {
            (few.len(), (0.0, 0.0))
        };
        let score = |j: usize| few.get(j).map_or(f64::INFINITY, |label| label.score);
        let (mut next_near, mut next_far) = (score(near), score(far) - 2.0 * theta);
        // A point of the function `v(y)`.
        let mut y = next_near.min(next_far);
        let spread = few[far..].iter().map(|a| a.weight * (a.score - lowest));
        let mut v = y - lambda * mu * spread.sum::<f64>();
        while start > 0 {
            let weight = below.0 + mu * beyond.0;
            let stiffness = 1.0 + lambda * weight;
            let kink = next_near.min(next_far);
            v += (kink - y) * stiffness;
            y = kink;
            let end = start;
            while start > 0 && many[start - 1].0 <= v {
                start -= 1;
            }
            if start < end && weight > 0.0 {
                self.nodes.push(Node {
                    near,
                    far,
                    range: (start, end),
                    tied: false,
                    count: (end - start) as f64,
                    sum: many[start..end].iter().map(|(v, _)| v).sum(),
                    lambda,
                    near_weight: below.0,
                    far_weight: beyond.0,
                    weight,
                    stiffness,
                    pull: below.1 + mu * (beyond.1 - 2.0 * theta * beyond.0),
                });
            }
            if far < few.len() && next_far <= next_near {
                far += 1;
                next_far = score(far) - 2.0 * theta;
                beyond = few.get(far).map_or((0.0, 0.0), |label| label.after);
            } else if let Some(label) = few.get(near) {
                below.0 += label.weight;
                below.1 += label.weight * label.score;
                near += 1;
                next_near = score(near);
            } else {
                break;
            }
        }
    }

    /// If more than `top` labels are above the lowest of the few, finds the node of those that share the remainder of `top`
    /// at the level `t`. Returns the number of labels above it, which count fully.
    fn tie(&mut self, lambda: f64) -> usize {
        let (few, v, top) = (&self.few, &self.candidates.irrelevant, self.top);
        // `h` at each of the few, and the sums of the weights and of the weighted scores up to it.
        let mut sums = (0.0, 0.0);
        let mut height = 0.0;
        let mut stages = Vec::with_capacity(few.len());
        for (j, label) in few.iter().enumerate() {
            height += sums.0 * (label.score - few[j.saturating_sub(1)].score);
            sums.0 += label.weight;
            sums.1 += label.weight * label.score;
            stages.push((height, sums.0, sums.1));
        }
        let stage_of = |t: f64| few.partition_point(|a| a.score < t).max(1);
        let high = |t: f64, stage: usize| {
            let (height, weights, _) = stages[stage - 1];
            t + lambda * (height + weights * (t - few[stage - 1].score).max(0.0))
        };
        let next = v[top].0;
        let stage = stage_of(next);
        if high(next, stage) <= v[top - 1].0 {
            return top;
        }
        let (_, (stage, first, end)) = root(next, (few[0].score, next), |t| {
            let stage = stage_of(t);
            let high = high(t, stage);
            let first = v[..top].partition_point(|&(v, _)| v >= high);
            let end = top + v[top..].partition_point(|&(v, _)| v >= t);
            let (below, (height, weights, _)) = (few[stage - 1].score, stages[stage - 1]);
            let rest = (top - first) as f64 * lambda;
            let sum: f64 = v[first..end].iter().map(|(v, _)| v - below).sum();
            let rise = (sum - rest * height) / ((end - first) as f64 + rest * weights);
            (below + rise, (stage, first, end))
        });
        if top > first {
            let (size, count) = ((end - first) as f64, (top - first) as f64);
            let sum: f64 = v[first..end].iter().map(|(v, _)| v).sum();
            let (_, weight, pull) = stages[stage - 1];
            let lambda = lambda * count / size;
            self.nodes.push(Node {
                near: stage,
                far: few.len(),
                range: (first, end),
                tied: true,
                count,
                sum: count * (sum / size),
                lambda,
                near_weight: weight,
                far_weight: 0.0,
                weight,
                stiffness: 1.0 + lambda * weight,
                pull,
            });
        }
        first
    }

    /// Sums the numbers and the scores of the partners of each of the few.
    pub(super) fn sum_scores(&mut self) {
        let gap = 2.0 * self.loss.theta();
        self.sum_partners(|node, far| {
            let shift = if far { gap * node.count } else { 0.0 };
            (node.count, node.total() + shift)
        });
    }

    /// Sums two numbers over the near and over the far partners of each of the few; the numbers may differ for near and far.
    pub(super) fn sum_partners(&mut self, of: impl Fn(&Node, bool) -> (f64, f64)) {
        let mut nodes = self.nodes.iter().rev().peekable();
        let mut sum = (0.0, 0.0);
        for (j, label) in self.few.iter_mut().enumerate().rev() {
            while let Some(node) = nodes.next_if(|node| node.near > j) {
                let (first, second) = of(node, false);
                sum = (sum.0 + first, sum.1 + second);
            }
            label.near = sum;
        }
        let mut nodes = self.nodes.iter().peekable();
        let mut sum = (0.0, 0.0);
        for (j, label) in self.few.iter_mut().enumerate() {
            while let Some(node) = nodes.next_if(|node| node.far <= j) {
                let (first, second) = of(node, true);
                sum = (sum.0 + first, sum.1 + second);
            }
            label.far = sum;
        }
    }
}
