//! Sixteen numbers at once, in loops that compile to vector instructions.

/// Numbers handled at once: two vectors of the widest machines, as the compiler turns a loop over a single one into
/// scalar instructions first.
pub(super) const LANES: usize = 16;

/// As many numbers as are handled at once.
pub(super) type Lanes = [f64; LANES];

/// The lower one of two numbers; unlike `f64::min` one instruction, as there is no NaN to think of.
#[inline(always)]
pub(super) fn lower(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// Lowers each lane to the number at its place.
#[inline(always)]
pub(super) fn lower_each(lanes: &mut Lanes, values: &Lanes) {
    for (lane, &value) in lanes.iter_mut().zip(values) {
        *lane = lower(value, *lane);
    }
}

/// The lowest lane, by halves.
#[inline(always)]
pub(super) fn lowest_lane(mut lanes: Lanes) -> f64 {
    let mut half = LANES / 2;
    while half > 0 {
        let (first, second) = lanes.split_at_mut(half);
        for (lane, &other) in first.iter_mut().zip(&*second) {
            *lane = lower(*lane, other);
        }
        half /= 2;
    }
    lanes[0]
}

/// A bit for each lane of at most `limit`.
#[inline(always)]
pub(super) fn at_most(lanes: &Lanes, limit: f64) -> u32 {
    let lanes = lanes.iter().zip(0..);
    lanes.fold(0, |bits, (&value, lane)| {
        bits | u32::from(value <= limit) << lane
    })
}
