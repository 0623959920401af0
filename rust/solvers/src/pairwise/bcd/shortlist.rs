//! Shortlists: for each instance, the irrelevant labels with a nonzero dual variable, and those that violate a margin or
//! come close to it, as found by a certificate.

use super::hardest::Hardest;
use crate::labels::Labels;
use crate::memory;
use crate::tuning::Shortlisting;
use std::ops::Range;

/// The irrelevant labels listed for consecutive instances.
#[derive(Clone, Debug, Default)]
pub(super) struct Shortlists {
    pub labels: Vec<u32>,
    /// The range of each instance's list.
    places: Vec<Range<usize>>,
}

impl Shortlists {
    pub fn of(&self, i: usize) -> &[u32] {
        &self.labels[self.places[i].clone()]
    }

    /// Whether all lists together are short, with `q` labels.
    pub fn are_short(&self, q: usize, tuning: &Shortlisting) -> bool {
        self.labels.len() <= tuning.room(self.places.len(), q)
    }

    /// Adds an empty list for the next instance.
    pub fn skip(&mut self) {
        self.places.push(self.labels.len()..self.labels.len());
    }

    /// Adds the list of the next instance, `i`: the `active` labels, ascending, which have nonzero dual variables, except
    /// relevant ones, and the hardest labels.
    pub fn list(&mut self, labels: &Labels, i: usize, active: &[u32], hardest: &mut Hardest) {
        let first = self.labels.len();
        let relevant = labels.relevant(i);
        let irrelevant = |l: &&u32| relevant.binary_search(l).is_err();
        memory::extend(&mut self.labels, active.iter().filter(irrelevant).copied());
        let others = hardest.trimmed().iter().map(|(label, _)| *label);
        let others = others.filter(|label| active.binary_search(label).is_err());
        memory::extend(&mut self.labels, others);
        // Two ascending runs, which the stable sort merges.
        self.labels[first..].sort();
        self.places.push(first..self.labels.len());
    }

    /// Reduces the list of instance `i` to the labels with a nonzero dual variable and at most `others` of the others, the
    /// highest ones.
    pub fn shorten(&mut self, i: usize, others: usize, dual: &[f64], scores: &[f64]) {
        let place = &mut self.places[i];
        let active = dual.iter().filter(|beta| **beta != 0.0).count();
        let most = active + others;
        if place.len() <= most {
            return;
        }
        let list = &mut self.labels[place.clone()];
        let facts = list.iter().zip(dual).zip(scores);
        let mut kept: Vec<(bool, f64, u32)> = facts
            .map(|((&label, beta), &score)| (*beta == 0.0, -score, label))
            .collect();
        kept.select_nth_unstable_by(most, |j, k| {
            j.0.cmp(&k.0).then(j.1.total_cmp(&k.1)).then(j.2.cmp(&k.2))
        });
        for (old, (_, _, label)) in list.iter_mut().zip(&kept[..most]) {
            *old = *label;
        }
        list[..most].sort_unstable();
        place.end = place.start + most;
    }

    /// Adds the lists of the instances that follow.
    pub fn append(&mut self, mut next: Self) {
        let before = self.labels.len();
        let places = next.places.iter();
        self.places
            .extend(places.map(|place| before + place.start..before + place.end));
        self.labels.append(&mut next.labels);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::UNKNOWN;
    use crate::linalg::rows::find_nonzeros;

    const Q: usize = 400;

    /// One instance with the relevant labels 3 and 7, and label 5 unknown.
    fn labels() -> Labels {
        let mut indicator = [0; Q];
        (indicator[3], indicator[5], indicator[7]) = (1, UNKNOWN, 1);
        Labels::new(&indicator, Q, 1.0).unwrap()
    }

    /// The list of an instance with the given scores and dual block.
    fn listed(labels: &Labels, scores: &[f64], dual: &[f64]) -> Shortlists {
        let (mut active, mut lists) = (Vec::new(), Shortlists::default());
        find_nonzeros(dual, &mut active);
        let (relevant, tuning) = ([scores[3], scores[7]].into_iter(), Shortlisting::default());
        let mut hardest = Hardest::new(relevant, 0.1, tuning.longest(labels.top(), Q), 0);
        assert!(hardest.collect(labels, 0, 0, scores));
        lists.list(labels, 0, &active, &mut hardest);
        lists
    }

    #[test]
    fn what_is_listed_is_hard_or_has_a_dual_variable() {
        let (mut scores, mut dual) = (vec![-2.0; Q], vec![0.0; Q]);
        (scores[3], scores[5], scores[7]) = (0.5, 9.0, 2.0);
        (scores[9], scores[20], scores[21]) = (1.0, -0.49, -0.61);
        (dual[3], dual[30]) = (0.1, -0.1);
        assert_eq!(listed(&labels(), &scores, &dual).of(0), [9, 20, 30]);
        // Of many hard labels only the hardest are listed, but all with a nonzero dual variable.
        let order = |l: usize| (l * 37 % Q) as f64;
        let scores: Vec<f64> = (0..Q).map(order).collect();
        let mut easy: Vec<u32> = (0..Q as u32).filter(|l| ![3, 5, 7].contains(l)).collect();
        easy.sort_by(|&j, &k| order(j as usize).total_cmp(&order(k as usize)));
        dual.fill(0.0);
        easy[..50].iter().for_each(|&l| dual[l as usize] = -0.1);
        let top = labels().with_top(2).unwrap();
        let mut expected = [&easy[..50], &easy[easy.len() - 32..]].concat();
        expected.sort_unstable();
        let mut lists = listed(&top, &scores, &dual);
        assert_eq!(lists.of(0), expected);
        // Shortened again, given the scores and dual variables of the listed labels.
        let of_list = |of: &[f64]| expected.iter().map(|&l| of[l as usize]).collect::<Vec<_>>();
        lists.shorten(0, 8, &of_list(&dual), &of_list(&scores));
        let mut expected = [&easy[..50], &easy[easy.len() - 8..]].concat();
        expected.sort_unstable();
        assert_eq!(lists.of(0), expected);
    }
}
