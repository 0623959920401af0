//! Sorting numbers that are spread over a known range.

/// So many values share a bin, on average.
const TOGETHER: usize = 4;

/// Sorts values by a key between `low` and `high`, in time proportional to their number where the keys are spread evenly.
/// Values with the same key stay in order. `scratch` is memory for a copy.
pub fn sort_spread<T: Copy>(
    values: &mut [T],
    key: impl Fn(&T) -> f64,
    (low, high): (f64, f64),
    scratch: &mut Scratch<T>,
) {
    let bins = values.len() / TOGETHER;
    let scale = bins as f64 / (high - low);
    if bins < 2 || !scale.is_finite() {
        values.sort_by(|x, y| key(x).total_cmp(&key(y)));
        return;
    }
    // A conversion saturates, so every key has a bin.
    let bin = |value: &T| (((key(value) - low) * scale) as usize).min(bins - 1);
    let Scratch { copy, ends } = scratch;
    ends.clear();
    ends.resize(bins, 0);
    values.iter().for_each(|value| ends[bin(value)] += 1);
    for b in 1..bins {
        ends[b] += ends[b - 1];
    }
    copy.clear();
    copy.extend_from_slice(values);
    for value in copy.iter().rev() {
        let end = &mut ends[bin(value)];
        *end -= 1;
        values[*end] = *value;
    }
    // Where the bins end is now where they start.
    let mut end = values.len();
    for &start in ends.iter().rev() {
        values[start..end].sort_by(|x, y| key(x).total_cmp(&key(y)));
        end = start;
    }
}

/// Memory for [`sort_spread`].
#[derive(Debug)]
pub struct Scratch<T> {
    copy: Vec<T>,
    ends: Vec<usize>,
}

impl<T> Default for Scratch<T> {
    fn default() -> Self {
        Self {
            copy: Vec::new(),
            ends: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_sorted_wherever_they_lie_and_ties_stay_in_order() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut scratch = Scratch::default();
        for count in 0..200 {
            let range = [(0.0, 1.0), (-3.0, 5.0), (0.5, 0.5), (0.0, 1e-300)][count % 4];
            let mut values: Vec<(f64, usize)> = (0..count)
                .map(|k| {
                    let share = [random.f64(), f64::from(random.u8(0..3)) / 2.0][count / 4 % 2];
                    (range.0 + share * (range.1 - range.0), k)
                })
                .collect();
            let mut expected = values.clone();
            expected.sort_by(|x, y| x.0.total_cmp(&y.0));
            sort_spread(&mut values, |value| value.0, range, &mut scratch);
            assert_eq!(values, expected);
        }
    }

    /// Keys out of the range and NaN have a place, too.
    #[test]
    fn keys_out_of_range_are_sorted() {
        let sort = |values: &mut [f64]| {
            sort_spread(
                values,
                |value| *value,
                (20.0, 60.0),
                &mut Scratch::default(),
            );
        };
        let mut values: Vec<f64> = (0..100).map(|k| f64::from((k * 37) % 100)).collect();
        values[3] = f64::INFINITY;
        values[50] = f64::NEG_INFINITY;
        sort(&mut values);
        assert!(values.is_sorted());
        values[7] = f64::NAN;
        sort(&mut values);
        assert_eq!(values.len(), 100);
    }
}
