//! The distances that the two sides of a splitting method move: their ratio is a good penalty, as the ratio of the distances
//! still to go is the best one (Applegate et al. 2021).

use crate::linalg::vector::dot;

/// A side that has moved by less than this share of its size is dominated by rounding.
const STILL: f64 = 1e-6;

/// The positions of both sides when their distances were last measured.
#[derive(Clone, Debug, Default)]
pub(crate) struct Movements {
    before: Option<[Vec<f64>; 2]>,
}

impl Movements {
    /// The distance moved by the multiplier relative to that of the scores or weights, since the last call; `None` the first
    /// time, and if one of them stands still.
    pub fn ratio(&mut self, primal: Vec<f64>, multiplier: Vec<f64>) -> Option<f64> {
        let before = self.before.replace([primal, multiplier])?;
        let now = self.before.as_ref()?;
        let [of_primal, of_multiplier] = [0, 1].map(|side| {
            let moved = now[side].iter().zip(&before[side]);
            let square: f64 = moved.map(|(new, old)| (new - old).powi(2)).sum();
            (square > STILL * STILL * dot(&now[side], &now[side])).then_some(square.sqrt())
        });
        Some(of_multiplier? / of_primal?)
    }
}

#[cfg(test)]
mod tests {
    use super::Movements;

    #[test]
    fn sides_that_stand_still_have_no_ratio() {
        let mut movements = Movements::default();
        assert_eq!(movements.ratio(vec![1.0, 0.0], vec![5.0, 5.0]), None);
        assert_eq!(movements.ratio(vec![1.0, 2.0], vec![5.0, 9.0]), Some(2.0));
        assert_eq!(movements.ratio(vec![1.0, 2.0], vec![5.0, 8.0]), None);
        assert_eq!(movements.ratio(vec![0.0, 2.0], vec![5.0, 8.0 + 1e-9]), None);
    }
}
