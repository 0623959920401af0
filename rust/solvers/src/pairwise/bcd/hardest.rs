//! The hardest irrelevant labels of one instance: those that violate a margin, or come close to it.

use crate::labels::Labels;
use crate::memory;
use std::cmp::Ordering;

/// Labels held beyond `most` before the easiest are dropped.
const SLACK: usize = 64;

/// The hardest labels of an instance, collected one by one.
#[derive(Clone, Debug)]
pub(super) struct Hardest {
    /// How many labels to keep.
    most: usize,
    /// Labels below this score are easy.
    limit: f64,
    /// Among labels with equal scores, this one counts as the hardest, followed by the next ones cyclically.
    turn: u32,
    /// Labels and their scores.
    found: Vec<(u32, f64)>,
}

impl Hardest {
    /// For the labels to be ranked below those with the scores `relevant`: labels that are below the margin by `close` or
    /// more are easy.
    pub fn new(relevant: impl Iterator<Item = f64>, close: f64, most: usize, turn: u32) -> Self {
        let lowest = relevant.fold(f64::INFINITY, f64::min);
        Self {
            most,
            limit: lowest - 1.0 - close,
            turn,
            found: Vec::new(),
        }
    }

    /// Whether some of these scores may be those of hard labels, or are NaN.
    pub fn may_be_among(&self, scores: &[f64]) -> bool {
        let easy = scores.iter().map(|score| *score < self.limit);
        !easy.fold(true, |all, easy| all & easy)
    }

    /// Collects the hard labels among those from `first` on, except the relevant and unknown ones of instance `i`. Returns
    /// whether none of their scores is NaN.
    pub fn collect(&mut self, labels: &Labels, i: usize, first: u32, scores: &[f64]) -> bool {
        let others = [labels.relevant(i), labels.unknown(i)];
        let mut numbers = true;
        for (label, &score) in (first..).zip(scores) {
            if score < self.limit || others.iter().any(|set| set.binary_search(&label).is_ok()) {
                continue;
            }
            numbers &= !score.is_nan();
            memory::push(&mut self.found, (label, score));
            if self.found.len() >= self.most.saturating_add(SLACK) {
                self.trim();
            }
        }
        numbers
    }

    /// Number of labels, at most `most`.
    pub fn count(&self) -> usize {
        self.found.len().min(self.most)
    }

    /// The hardest labels, in the order in which they were collected.
    pub fn trimmed(&mut self) -> &[(u32, f64)] {
        self.trim();
        &self.found
    }

    /// Drops all but the hardest labels.
    fn trim(&mut self) {
        if self.found.len() <= self.most {
            return;
        }
        let (turn, mut ranked) = (self.turn, self.found.clone());
        let easiest = self.most.saturating_sub(1);
        let (_, &mut easiest, _) = ranked.select_nth_unstable_by(easiest, |j, k| order(turn, j, k));
        self.found
            .retain(|label| order(turn, label, &easiest).is_le());
        self.limit = easiest.1.max(self.limit);
    }
}

/// Orders labels with scores by how hard they are, the hardest first.
fn order(turn: u32, j: &(u32, f64), k: &(u32, f64)) -> Ordering {
    // Cyclically, the labels before the turn come last.
    let place = |label: u32| label.wrapping_sub(turn);
    k.1.total_cmp(&j.1).then(place(j.0).cmp(&place(k.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Labels with equal scores are taken from the turn on, however they are divided into panels, and none that ties with
    /// the lowest kept one is lost.
    #[test]
    fn equal_scores_are_taken_in_turn() {
        const Q: usize = 300;
        let mut indicator = [0; Q];
        indicator[299] = 1;
        let labels = Labels::new(&indicator, Q, 1.0).unwrap();
        for panel in [1, 32, Q] {
            let mut hardest = Hardest::new([0.0].into_iter(), 0.1, 4, 297);
            for first in (0..Q).step_by(panel) {
                let scores = vec![0.0; panel.min(Q - first)];
                assert!(hardest.may_be_among(&scores));
                assert!(hardest.collect(&labels, 0, first as u32, &scores));
            }
            assert_eq!(hardest.count(), 4);
            let mut found: Vec<u32> = hardest.trimmed().iter().map(|(label, _)| *label).collect();
            found.sort_unstable();
            assert_eq!(found, [0, 1, 297, 298]);
            assert!(!hardest.may_be_among(&[-0.1; 40]));
            assert!(hardest.may_be_among(&[-0.1, f64::NAN]));
            assert!(!hardest.collect(&labels, 0, 7, &[f64::NAN]));
        }
    }
}
