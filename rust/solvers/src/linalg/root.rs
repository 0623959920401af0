//! Roots of increasing, piecewise linear functions of one number.

/// Maximum number of steps; from a good start two or three are enough.
const STEPS: usize = 200;

/// One step in this many halves the bracket, as Newton's method may close it slowly.
const HALVING: usize = 4;

/// The root within a bracket, by Newton's method from `start`, and the piece on which it lies. `newton(t)` returns the root
/// of the linear piece at `t` and an identifier of that piece: a root that lies on its own piece is the answer. When the
/// steps are used up, the last point is returned.
#[inline(always)]
pub fn root<P: PartialEq>(
    start: f64,
    (mut lower, mut upper): (f64, f64),
    mut newton: impl FnMut(f64) -> (f64, P),
) -> (f64, P) {
    let (mut t, mut came, mut step) = (start.max(lower).min(upper), false, 0);
    let mut before = None;
    loop {
        step += 1;
        let (next, piece) = newton(t);
        if step == STEPS || came && before.as_ref() == Some(&piece) {
            return (t, piece);
        }
        before = Some(piece);
        if next > t {
            lower = t;
        } else {
            upper = t;
        }
        came = next >= lower && next <= upper && !step.is_multiple_of(HALVING);
        t = if came { next } else { 0.5 * (lower + upper) };
    }
}
