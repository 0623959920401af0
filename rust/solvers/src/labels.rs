//! Relevant and irrelevant labels of each instance.

use crate::error::SolverError;
use crate::memory::{self, Purpose};

/// The label sets of `n` instances over `q` labels, and the weight of each instance's pairs.
#[derive(Clone, Debug)]
pub struct Labels {
    count: usize,
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
        if weights.len() != labels.instances() {
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
        for (own, &weight) in labels.weights.iter_mut().zip(weights) {
            *own = if *own > 0.0 { weight } else { 0.0 };
        }
        Ok(labels)
    }

    /// The same instances seen through a subset of the labels, with the weights of the whole: the pairs inside the
    /// subset keep their weight, instances without pairs inside it get weight 0.
    pub fn restricted(&self, subset: &[usize]) -> Self {
        let mut position = vec![u32::MAX; self.count];
        for (new, &old) in subset.iter().enumerate() {
            position[old] = new as u32;
        }
        let mut restricted = Self {
            count: subset.len(),
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
            restricted.weights.push(if p == 0 || p == subset.len() {
                0.0
            } else {
                self.weights[i]
            });
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

    /// Number of pairs `p_i r_i` of instance `i`.
    pub fn pairs(&self, i: usize) -> usize {
        let p = self.relevant(i).len();
        p * (self.count - p)
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

#[cfg(test)]
mod tests {
    use super::*;

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
