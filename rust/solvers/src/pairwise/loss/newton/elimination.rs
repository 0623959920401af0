//! The Newton step. The optimality conditions of a piece have the matrix `I + lambda Laplacian` of the graph of active
//! pairs, a diagonally dominant M-matrix. It is eliminated without a single subtraction of its entries (the rule of
//! Grassmann, Taksar and Heyman: carry row sums, not diagonals), so that the solution does not suffer when `lambda` is 1e12.
//! The cost is cubic in the number of the few.

use super::{NewtonWorkspace, Node};

impl NewtonWorkspace {
    /// The optimality conditions of the few without the many, as a matrix, the sums of its rows and right-hand sides.
    ///
    /// Without the many, the few at `j < i` are coupled through every node that both have as partner, by the product of the
    /// two weights and `count / stiffness`; what the elimination removes from a row is accounted for in its row sum, which
    /// collects `weight count / stiffness`.
    pub(super) fn couple(&mut self, lambda: f64) {
        let (theta, mu) = (self.loss.theta(), self.loss.mu());
        self.sum_partners(|node, far| {
            let shift = if far {
                1.0 + lambda * node.near_weight
            } else {
                -lambda * mu * node.far_weight
            };
            let sum = node.sum + 2.0 * theta * shift * node.count;
            (node.count / node.stiffness, sum / node.stiffness)
        });
        self.row_sums.clear();
        self.values.clear();
        for label in &self.few {
            let ((pull, count), lambda) = (label.pull(mu), lambda * label.weight);
            self.row_sums.push(1.0 + lambda * count);
            self.values.push(label.centre + lambda * pull);
        }
        let strength = |node: &Node| node.lambda * node.count / node.stiffness;
        self.sum_partners(|node, _| (strength(node), 0.0));
        let (few, k) = (&self.few, self.few.len());
        self.matrix.clear();
        self.matrix.resize(k * k, 0.0);
        for (j, label) in few.iter().enumerate() {
            let mut both = 0.0;
            let from = self.nodes.partition_point(|node| node.near <= j);
            let mut nodes = self.nodes[from..].iter().peekable();
            for (i, other) in few.iter().enumerate().skip(j + 1) {
                // Nodes near to the label at j and far from the one at i.
                while let Some(node) = nodes.next_if(|node| node.far <= i) {
                    both += strength(node);
                }
                let coupling = other.near.0 + mu * (both + mu * label.far.0);
                self.matrix[i * k + j] = lambda * coupling * (other.weight * label.weight);
            }
        }
    }

    /// Finds the direction to the solution of these conditions: from the last one to the first without pivoting, as the matrix is
    /// diagonally dominant, then back.
    pub(super) fn eliminate(&mut self) {
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
