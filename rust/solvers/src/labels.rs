//! Relevant and irrelevant labels of each instance.

use crate::error::SolverError;
use crate::memory::{self, Purpose};

/// The label sets of `n` instances over `q` labels, and the weight of each instance's pairs.
///
/// The pairs of an instance are all of a relevant and an irrelevant label; or, with a zero label, which comes last, all
/// of a relevant label and the zero label, and of the zero label and an irrelevant one.
#[derive(Clone, Debug)]
pub struct Labels {
    count: usize,
    zero: bool,
    starts: Vec<usize>,
    relevant: Vec<u32>,
    weights: Vec<f64>,
}

impl Labels {
    /// Reads an `n x q` row-major indicator matrix, and gives every pair of instance `i` the weight
    /// `c_i = C / (p_i r_i)` (Xu 2013, eq. (19)); instances without pairs get weight 0.
    ///
    /// # Errors
    /// When the matrix is no multiple of `q`, or `C` is not a positive number.
    pub fn new(indicator: &[u8], q: usize, c: f64) -> Result<Self, SolverError> {
        if !(c > 0.0 && c.is_finite()) {
            return Err(SolverError::Argument {
                name: "C",
                found: c.to_string(),
                expected: "a positive number",
            });
        }
        if q == 0 || !indicator.len().is_multiple_of(q) {
            return Err(SolverError::Argument {
                name: "Y",
                found: format!("{} entries for {q} labels", indicator.len()),
                expected: "a whole number of rows of at least one label",
            });
        }
        let mut labels = Self {
            count: q,
            zero: false,
            starts: vec![0],
            relevant: Vec::new(),
            weights: memory::room(indicator.len() / q, Purpose::Rows),
        };
        for row in indicator.chunks_exact(q) {
            memory::extend(
                &mut labels.relevant,
                Purpose::RowsByLabels,
                (0..q as u32).filter(|&k| row[k as usize] != 0),
            );
            let p = labels.relevant.len() - labels.starts[labels.starts.len() - 1];
            let pairs = p * (q - p);
            memory::push(&mut labels.starts, labels.relevant.len(), Purpose::Rows);
            labels
                .weights
                .push(if pairs == 0 { 0.0 } else { c / pairs as f64 });
        }
        Ok(labels)
    }

    /// Reads an `n x q` row-major indicator matrix with the weight `c_i` of the pairs of every instance given.
    ///
    /// # Errors
    /// When the matrix is not `n x q` for `n` weights, or a weight is negative or not finite.
    pub fn weighted(indicator: &[u8], q: usize, weights: &[f64]) -> Result<Self, SolverError> {
        let mut labels = Self::new(indicator, q, 1.0)?;
        check_weights(weights, labels.instances())?;
        for (own, &weight) in labels.weights.iter_mut().zip(weights) {
            *own = if *own > 0.0 { weight } else { 0.0 };
        }
        Ok(labels)
    }

    /// The same label sets with a zero label as label `q` (Xu 2012). Every instance has `q` pairs then; their weight is
    /// `weights`, or `C / q` for all.
    ///
    /// # Errors
    /// When the weights are not one for each instance, or one is negative or not finite.
    pub fn with_zero_label(mut self, c: f64, weights: Option<&[f64]>) -> Result<Self, SolverError> {
        let each = c / self.count as f64;
        self.weights.fill(each);
        if let Some(weights) = weights {
            check_weights(weights, self.instances())?;
            self.weights.copy_from_slice(weights);
        }
        self.count += 1;
        self.zero = true;
        Ok(self)
    }

    /// Whether the last label is a zero label.
    pub fn has_zero_label(&self) -> bool {
        self.zero
    }

    /// The same instances seen through a subset of the labels (ascending), with the weights of the whole: the pairs
    /// inside the subset keep their weight, instances without pairs inside it get weight 0.
    pub fn restricted(&self, subset: &[usize]) -> Self {
        let zero = self.zero && subset.last() == Some(&(self.count - 1));
        let mut position = vec![u32::MAX; self.count];
        for (new, &old) in subset.iter().enumerate() {
            position[old] = new as u32;
        }
        let mut restricted = Self {
            count: subset.len(),
            zero,
            starts: vec![0],
            relevant: Vec::new(),
            weights: memory::room(self.instances(), Purpose::Rows),
        };
        for i in 0..self.instances() {
            let start = restricted.relevant.len();
            let kept = self
                .relevant(i)
                .iter()
                .map(|&k| position[k as usize])
                .filter(|&k| k != u32::MAX);
            memory::extend(&mut restricted.relevant, Purpose::RowsByLabels, kept);
            restricted.relevant[start..].sort_unstable();
            let p = restricted.relevant.len() - start;
            memory::push(
                &mut restricted.starts,
                restricted.relevant.len(),
                Purpose::Rows,
            );
            let pairs = pairs_of(p, subset.len(), zero) * usize::from(zero == self.zero);
            restricted
                .weights
                .push(if pairs == 0 { 0.0 } else { self.weights[i] });
        }
        restricted
    }

    /// Number of labels `q`.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Number of instances `n`.
    pub fn instances(&self) -> usize {
        self.weights.len()
    }

    /// The relevant labels `P_i`, ascending.
    pub fn relevant(&self, i: usize) -> &[u32] {
        &self.relevant[self.starts[i]..self.starts[i + 1]]
    }

    /// The weight `c_i` of each pair of instance `i`; 0 when it has none.
    pub fn weight(&self, i: usize) -> f64 {
        self.weights[i]
    }

    /// Whether instance `i` has a pair.
    pub fn has_pairs(&self, i: usize) -> bool {
        self.weights[i] > 0.0
    }

    /// Number of pairs of instance `i`: `p_i r_i`, or one a label with a zero label.
    pub fn pairs(&self, i: usize) -> usize {
        pairs_of(self.relevant(i).len(), self.count, self.zero)
    }

    /// The sum of the dual variables of all pairs of instance `i`, whose block `beta_i` is `row`.
    pub(crate) fn sum_of_pairs(&self, i: usize, row: &[f64]) -> f64 {
        let preferred: f64 = self.relevant(i).iter().map(|&m| row[m as usize]).sum();
        if self.zero {
            // What the relevant labels receive from the zero label, and what it receives from the others.
            2.0 * preferred + row[self.count - 1]
        } else {
            preferred
        }
    }

    /// The first relevant and the first irrelevant label of instance `i`; label 0 stands for a missing one.
    pub(crate) fn first_pair(&self, i: usize) -> (u32, u32) {
        let relevant = self.relevant(i).first().copied().unwrap_or(0);
        (relevant, self.irrelevant(i).next().unwrap_or(0) as u32)
    }

    /// Calls `run(from, to)` for the runs of consecutive labels that are irrelevant to instance `i`.
    fn irrelevant_runs(&self, i: usize, mut run: impl FnMut(usize, usize)) {
        let mut from = 0;
        for &m in self.relevant(i) {
            run(from, m as usize);
            from = m as usize + 1;
        }
        run(from, self.count);
    }

    /// Copies a row in label order into one with the relevant labels first.
    pub fn gather(&self, i: usize, row: &[f64], gathered: &mut [f64]) {
        let relevant = self.relevant(i);
        for (target, &m) in gathered.iter_mut().zip(relevant) {
            *target = row[m as usize];
        }
        let mut position = relevant.len();
        self.irrelevant_runs(i, |from, to| {
            gathered[position..position + to - from].copy_from_slice(&row[from..to]);
            position += to - from;
        });
    }

    /// Copies a row with the relevant labels first into one in label order.
    pub fn scatter(&self, i: usize, gathered: &[f64], row: &mut [f64]) {
        let relevant = self.relevant(i);
        for (&source, &m) in gathered.iter().zip(relevant) {
            row[m as usize] = source;
        }
        let mut position = relevant.len();
        self.irrelevant_runs(i, |from, to| {
            row[from..to].copy_from_slice(&gathered[position..position + to - from]);
            position += to - from;
        });
    }

    /// The irrelevant labels `N_i`, ascending.
    pub fn irrelevant(&self, i: usize) -> impl Iterator<Item = usize> + '_ {
        let relevant = self.relevant(i);
        let mut next = 0;
        (0..self.count).filter(move |&k| {
            let skip = next < relevant.len() && relevant[next] as usize == k;
            if skip {
                next += 1;
            }
            !skip
        })
    }
}

/// Number of pairs of an instance with `p` relevant of `count` labels.
fn pairs_of(p: usize, count: usize, zero: bool) -> usize {
    if zero { count - 1 } else { p * (count - p) }
}

fn check_weights(weights: &[f64], instances: usize) -> Result<(), SolverError> {
    if weights.len() != instances {
        return Err(SolverError::Argument {
            name: "pair weights",
            found: format!("{} numbers", weights.len()),
            expected: "one for each row of Y",
        });
    }
    if let Some(weight) = weights.iter().find(|w| !(**w >= 0.0 && w.is_finite())) {
        return Err(SolverError::Argument {
            name: "pair weights",
            found: weight.to_string(),
            expected: "finite numbers that are not negative",
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zero_label_gives_every_instance_a_pair_a_label() {
        let labels = Labels::new(&[0, 1, 0, 0, 0, 0, 1, 1, 1], 3, 6.0)
            .and_then(|labels| labels.with_zero_label(6.0, None))
            .unwrap();
        assert_eq!(labels.count(), 4);
        for i in 0..3 {
            assert_eq!(
                (labels.has_pairs(i), labels.pairs(i), labels.weight(i)),
                (true, 3, 2.0)
            );
            let mut gathered = [0.0; 4];
            labels.gather(i, &[0.0, 1.0, 2.0, 9.0], &mut gathered);
            assert_eq!(gathered[3], 9.0);
        }
        let with = labels.restricted(&[0, 3]);
        assert!(with.has_zero_label() && (0..3).all(|i| with.pairs(i) == 1 && with.has_pairs(i)));
        let without = labels.restricted(&[0, 1]);
        assert!(!without.has_zero_label() && !(0..3).any(|i| without.has_pairs(i)));
    }

    #[test]
    fn gather_and_scatter_are_inverse() {
        let labels = Labels::new(&[0, 1, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0], 5, 2.0).unwrap();
        assert_eq!(labels.relevant(0), &[1, 4]);
        assert_eq!(labels.irrelevant(0).collect::<Vec<_>>(), vec![0, 2, 3]);
        assert_eq!(labels.weight(0), 2.0 / 6.0);
        assert!(!labels.has_pairs(1) && !labels.has_pairs(2));
        let row = [10.0, 11.0, 12.0, 13.0, 14.0];
        for i in 0..3 {
            let (mut gathered, mut back) = ([0.0; 5], [0.0; 5]);
            labels.gather(i, &row, &mut gathered);
            labels.scatter(i, &gathered, &mut back);
            assert_eq!(back, row);
        }
        let mut gathered = [0.0; 5];
        labels.gather(0, &row, &mut gathered);
        assert_eq!(gathered, [11.0, 14.0, 10.0, 12.0, 13.0]);
    }

    #[test]
    fn a_restriction_keeps_the_weight_of_the_whole() {
        let labels = Labels::new(&[0, 1, 0, 0, 1], 5, 3.0)
            .unwrap()
            .restricted(&[4, 0]);
        assert_eq!(
            (labels.count(), labels.relevant(0), labels.weight(0)),
            (2, &[0_u32][..], 0.5)
        );
        let labels = Labels::new(&[0, 1, 0, 0, 1], 5, 3.0)
            .unwrap()
            .restricted(&[1, 4]);
        assert_eq!(labels.weight(0), 0.0);
    }
}
