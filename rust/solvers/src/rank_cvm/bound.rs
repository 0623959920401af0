//! Lower bounds of the gradient entries of an instance, which spare most instances a look at their pairs.
//!
//! A look at an instance notes the scores of its relevant labels, `R_m = F_m`, and for its irrelevant ones
//! `T_n = min over m (F_m + alpha_mn / c)`. From then on, as long as no `alpha` of the instance falls,
//!
//! ```text
//! g_mn  >=  (T_n - F_n) + (F_m - R_m)  >=  min over n (T_n - F_n)  +  min over m (F_m - R_m).
//! ```
//!
//! A step changes the scores of two labels, and lowers the two minima to these labels' own differences at most.

/// What a label is to an instance; neither of both where it is unknown, or the instance has no pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Role {
    Neither,
    Relevant,
    Irrelevant,
}

/// What rounding may move a difference by, relative to its two terms.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// At most the minima over `n` and over `m` since the last look.
#[derive(Clone, Copy)]
pub(super) struct Bound {
    irrelevant: f64,
    relevant: f64,
}

impl Bound {
    /// Of an instance without pairs.
    pub(super) const NO_PAIRS: Self = Self {
        irrelevant: f64::INFINITY,
        relevant: f64::INFINITY,
    };

    /// Below all entries.
    pub(super) const UNKNOWN: Self = Self {
        irrelevant: f64::NEG_INFINITY,
        relevant: 0.0,
    };

    /// Of an instance that is being looked at: its irrelevant labels are still to follow.
    pub(super) const BEGUN: Self = Self {
        irrelevant: f64::INFINITY,
        relevant: 0.0,
    };

    pub(super) fn value(self) -> f64 {
        self.irrelevant + self.relevant
    }

    /// Follows a label, from what was noted of it to its score.
    pub(super) fn follow(&mut self, role: Role, noted: f64, score: f64) {
        let rounding = ROUNDING * (noted.abs() + score.abs());
        match role {
            Role::Relevant => self.relevant = lower(score - noted - rounding, self.relevant),
            Role::Irrelevant => self.irrelevant = lower(noted - score - rounding, self.irrelevant),
            Role::Neither => {}
        }
    }
}

/// The lower one of two numbers, NaN if one of them is.
pub(super) fn lower(a: f64, b: f64) -> f64 {
    if a < b || a.is_nan() { a } else { b }
}
