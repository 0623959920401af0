//! Exact search along a direction in which a quadratic with an l1 norm falls.

use crate::memory;

/// Where a search ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchEnd {
    /// How far along the direction, in (0, 1].
    pub length: f64,
    /// The coordinate that vanishes exactly there, if the search ends at a kink.
    pub vanishing: Option<usize>,
}

/// The best step along `direction` from `weights`, both over the same coordinates, none of them 0 at the start. With the
/// signs of the start held, the minimum would be at 1; `curvature` is that of the quadratic along the direction. Each
/// coordinate that changes its sign on the way adds a kink.
pub fn search(weights: &[f64], direction: &[f64], curvature: f64, beta: f64) -> SearchEnd {
    let crossings = weights
        .iter()
        .zip(direction)
        .enumerate()
        .filter_map(|(k, (&w, &p))| {
            let t = -w / p;
            (t > 0.0 && t < 1.0).then_some((t, k))
        });
    let mut crossings = memory::collected(crossings);
    // Of crossings at the same place, the first coordinate comes first: no order that needs memory of its own.
    crossings.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut kink = 0.0;
    for &(t, k) in &crossings {
        // Where the slope vanishes with the kinks passed so far.
        if 1.0 - kink / curvature <= t {
            break;
        }
        kink += 2.0 * beta * direction[k].abs();
        if 1.0 - kink / curvature <= t {
            return SearchEnd {
                length: t,
                vanishing: Some(k),
            };
        }
    }
    SearchEnd {
        length: 1.0 - kink / curvature,
        vanishing: None,
    }
}
