//! Roots of increasing, piecewise linear functions of one number.

/// Most steps; from a good start two or three are enough.
const STEPS: usize = 200;

/// One step in so many halves the bracket: Newton's method may close it slowly.
const HALVING: usize = 4;

/// The root within a bracket, by Newton's method from `start`. `newton(t, came)` is the root of the piece on which `t` lies;
/// `None` where `t` is the answer, as when `came` says that it is the root of a piece, and it lies on that piece. `None` when
/// the steps are used up.
#[inline(always)]
pub fn root(
    start: f64,
    (mut lower, mut upper): (f64, f64),
    mut newton: impl FnMut(f64, bool) -> Option<f64>,
) -> Option<f64> {
    let (mut t, mut came) = (start.max(lower).min(upper), false);
    for step in 1..=STEPS {
        let Some(next) = newton(t, came) else {
            return Some(t);
        };
        if next > t {
            lower = t;
        } else {
            upper = t;
        }
        came = next >= lower && next <= upper && !step.is_multiple_of(HALVING);
        t = if came { next } else { 0.5 * (lower + upper) };
    }
    None
}
