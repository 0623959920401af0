//! The labels of an instance that can be in an active pair.

use super::Pairs;
use crate::linalg::vector::range;

/// A relevant label that can be in an active pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Relevant {
    /// Score minus the margin.
    pub score: f64,
    /// The weight `w_m` of its pairs.
    pub weight: f64,
    pub position: usize,
    /// If the hinge orders them: the sort key, and the weight of those after it.
    pub order: f64,
    pub below: f64,
}

/// The score and the position of an irrelevant label.
pub(super) type Irrelevant = (f64, usize);

/// The labels, with scores relative to the highest irrelevant one: far from 0, sums would lose digits.
#[derive(Clone, Debug, Default)]
pub(super) struct Candidates {
    pub relevant: Vec<Relevant>,
    pub irrelevant: Vec<Irrelevant>,
    /// The highest irrelevant score.
    pub base: f64,
}

impl Candidates {
    /// Finds the irrelevant labels above a floor, and the relevant ones that are not above all irrelevant ones by the
    /// margin; all labels if the floor is minus infinity.
    pub fn find(&mut self, scores: &[f64], pairs: Pairs<'_>, floor: f64) {
        let (positive, negative) = scores.split_at(pairs.relevant);
        let (base, all) = (range(negative).1, floor == f64::NEG_INFINITY);
        let shifted = positive.iter().map(|score| score - base - 1.0).enumerate();
        let found = shifted.filter(|&(_, score)| all || score < 0.0);
        self.relevant.clear();
        self.relevant
            .extend(found.map(|(position, score)| Relevant {
                score,
                weight: pairs.weight(position),
                position,
                order: 0.0,
                below: 0.0,
            }));
        self.irrelevant.resize(negative.len(), (0.0, 0));
        let mut kept = 0;
        for (&score, position) in negative.iter().zip(pairs.relevant..) {
            // Written unconditionally, so that there is no branch to mispredict.
            self.irrelevant[kept] = (score - base, position);
            kept += usize::from(all || score > floor);
        }
        self.irrelevant.truncate(kept);
        self.base = base;
    }

    /// Sorts the irrelevant labels in descending order.
    pub fn sort_irrelevant(&mut self) {
        self.irrelevant
            .sort_unstable_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
    }
}
