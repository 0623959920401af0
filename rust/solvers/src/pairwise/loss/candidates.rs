//! The labels of an instance that can be part of an active pair of a falling loss that is 0 from the margin 1 on.

use super::Pairs;
use crate::linalg::vector::range;

/// A relevant label that can be part of an active pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Relevant {
    /// Score less the margin.
    pub score: f64,
    /// The weight `w_m` of its pairs.
    pub weight: f64,
    pub position: usize,
}

/// The labels, by the distances of their scores to the highest irrelevant one: far from 0 sums would lose digits.
#[derive(Clone, Debug, Default)]
pub(super) struct Candidates {
    pub relevant: Vec<Relevant>,
    /// Scores and positions.
    pub irrelevant: Vec<(f64, usize)>,
    /// The highest irrelevant score.
    pub base: f64,
}

impl Candidates {
    /// Finds them. The proximal map raises relevant and lowers irrelevant labels, so those that violate nothing stay as they
    /// are. Of a loss that does not fall, those are `all`.
    pub fn find(&mut self, scores: &[f64], pairs: Pairs<'_>, all: bool) {
        let (positive, negative) = scores.split_at(pairs.relevant);
        let (base, lowest) = (range(negative).1, range(positive).0);
        let lowest = lowest - base - 1.0;
        let shifted = positive.iter().map(|score| score - base - 1.0).enumerate();
        self.relevant.clear();
        self.relevant
            .extend(
                shifted
                    .filter(|&(_, score)| all || score < 0.0)
                    .map(|(position, score)| Relevant {
                        score,
                        weight: pairs.weight(position),
                        position,
                    }),
            );
        self.irrelevant.resize(negative.len(), (0.0, 0));
        let mut kept = 0;
        for (score, position) in negative.iter().zip(pairs.relevant..) {
            // Written in any case: no branch to mispredict.
            self.irrelevant[kept] = (score - base, position);
            kept += usize::from(all || score - base > lowest);
        }
        self.irrelevant.truncate(kept);
        self.base = base;
    }

    /// Finds those that form pairs, the relevant ones in ascending order.
    pub fn find_pairs(&mut self, scores: &[f64], pairs: Pairs<'_>, all: bool) {
        self.find(scores, pairs, all);
        let irrelevant = &mut self.irrelevant;
        if irrelevant.len() > pairs.top {
            irrelevant.select_nth_unstable_by(pairs.top, |x, y| y.0.total_cmp(&x.0));
            irrelevant.truncate(pairs.top);
        }
        self.relevant.sort_unstable_by(|x, y| {
            x.score
                .total_cmp(&y.score)
                .then(x.position.cmp(&y.position))
        });
    }

    /// Sorts the irrelevant labels in descending order.
    pub fn sort_irrelevant(&mut self) {
        self.irrelevant
            .sort_unstable_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
    }
}
