//! The Newton step. The optimality conditions of a piece have the matrix `I + lambda Laplacian` of the graph of active
//! pairs, a diagonally dominant M-matrix. It is eliminated without a single subtraction of its entries (the rule of
//! Grassmann, Taksar and Heyman: carry row sums, not diagonals), so that the solution does not suffer when `lambda` is 1e12.
//!
//! Without far pairs the sorted labels have nested partners: walking up the few, everything seen so far responds linearly
//! to the sum of the scores above it, and the elimination takes `O(q)`. With far pairs it takes the cube of their number.

use super::{Margins, NewtonWorkspace};

/// What the few below a node respond with, before and after it, in the elimination of nested partners.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Response {
    constant: f64,
    factor: f64,
    row_sum: f64,
}

impl NewtonWorkspace {
    /// Finds the direction to the solution of the optimality conditions of the current piece.
    pub(super) fn eliminate(&mut self, lambda: f64) {
        if self.nodes.iter().all(|node| node.far == self.few.len()) {
            self.eliminate_nested(lambda);
        } else {
            self.couple(lambda);
            self.eliminate_coupled();
        }
    }

    /// The same without far pairs.
    fn eliminate_nested(&mut self, lambda: f64) {
        let Self {
            few,
            nodes,
            responses,
            ..
        } = self;
        responses.clear();
        let mut above: f64 = nodes.iter().map(|node| node.count).sum();
        let mut seen = Response::default();
        let mut next = nodes.iter().peekable();
        for (j, label) in few.iter_mut().enumerate() {
            let inverse = 1.0 / (1.0 + lambda * label.weight * above);
            label.near = (above, inverse);
            seen.constant += label.weight * label.centre * inverse;
            seen.factor += lambda * label.weight * label.weight * inverse;
            seen.row_sum += label.weight * inverse;
            while let Some(node) = next.next_if(|node| node.near == j + 1) {
                above -= node.count;
                let pivot = 1.0 + node.lambda * (seen.row_sum + seen.factor * above);
                responses.push((seen, pivot));
                let share = seen.factor / pivot;
                let drawn = node.lambda * node.count;
                seen.constant += share * (node.sum + drawn * seen.constant);
                seen.row_sum += share * node.count * (1.0 + node.lambda * seen.row_sum);
                seen.factor += share * drawn * seen.factor;
            }
        }
        let mut total = 0.0;
        let mut nodes = nodes.iter().zip(responses.iter()).rev().peekable();
        for (j, label) in few.iter_mut().enumerate().rev() {
            while let Some((node, (below, pivot))) = nodes.next_if(|(node, _)| node.near > j) {
                let below = below.constant + below.factor * total;
                total += (node.sum + node.lambda * node.count * below) / pivot;
            }
            let (above, inverse) = label.near;
            let pull = total - above * label.centre;
            label.direction = label.centre + lambda * label.weight * pull * inverse - label.score;
        }
    }

    /// The optimality conditions of the few without the many, as a matrix, the sums of its rows and right-hand sides.
    ///
    /// Without the many, the few at `j < i` are coupled through every node that both have as partner, by the product of
    /// the two weights and `count / stiffness`; what a row loses in the elimination is made up by its row sum, which
    /// collects `weight count / stiffness`.
    fn couple(&mut self, lambda: f64) {
        let Margins { theta, mu } = self.margins;
        self.sum_partners(|node, far| {
            let shift = if far {
                1.0 + lambda * node.near_weight
            } else {
                -lambda * mu * node.far_weight
            };
            let sum = node.sum + 2.0 * theta * shift * node.count;
            (node.count / node.stiffness, sum / node.stiffness)
        });
        let Self {
            few,
            nodes,
            matrix,
            row_sums,
            values,
            ..
        } = self;
        let k = few.len();
        row_sums.clear();
        values.clear();
        matrix.clear();
        matrix.resize(k * k, 0.0);
        for (j, label) in few.iter().enumerate() {
            let (pull, count) = label.pull(mu);
            row_sums.push(1.0 + lambda * label.weight * count);
            values.push(label.centre + lambda * label.weight * pull);
            let mut both = 0.0;
            let from = nodes.partition_point(|node| node.near <= j);
            let mut nodes = nodes[from..].iter().peekable();
            for (i, other) in few.iter().enumerate().skip(j + 1) {
                // Near to the one at j and far from the one at i.
                while let Some(node) = nodes.next_if(|node| node.far <= i) {
                    both += node.count / node.stiffness;
                }
                let coupling = other.near.0 + mu * (both + mu * label.far.0);
                matrix[i * k + j] = lambda * lambda * coupling * (other.weight * label.weight);
            }
        }
    }

    /// Solves the coupled conditions: from the last one to the first without pivoting, as the matrix is diagonally
    /// dominant, then back.
    fn eliminate_coupled(&mut self) {
        let Self {
            few,
            matrix,
            row_sums,
            values,
            ..
        } = self;
        let k = few.len();
        for i in (0..k).rev() {
            let (above, row) = matrix.split_at_mut(i * k);
            let row = &mut row[..i];
            let pivot = row_sums[i] + row.iter().sum::<f64>();
            let (row_sum, value) = (row_sums[i], values[i]);
            for j in 0..i {
                let share = row[j] / pivot;
                row_sums[j] += share * row_sum;
                values[j] += share * value;
                for (target, source) in above[j * k..j * k + j].iter_mut().zip(&*row) {
                    *target += share * source;
                }
            }
            row.iter_mut().for_each(|entry| *entry /= pivot);
            values[i] /= pivot;
        }
        for i in 0..k {
            let (solved, rest) = values.split_at_mut(i);
            let row = matrix[i * k..].iter().zip(solved);
            rest[0] += row.map(|(entry, a)| entry * *a).sum::<f64>();
            few[i].direction = rest[0] - few[i].score;
        }
    }
}
