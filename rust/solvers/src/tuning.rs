//! The mechanisms that make block coordinate ascent fast, each with a switch and its numbers (`benchmarks/ablate.py`
//! measures the gain of each), and tables of numbers without a switch.

use crate::error::{SolverError, refused};

/// The quoted names, with commas.
macro_rules! quoted {
    ($first:ident $($rest:ident)*) => {
        concat!("'", stringify!($first), "'" $(, ", '", stringify!($rest), "'")*)
    };
}

/// Declares the mechanisms: the name and the type of each, and its numbers with their defaults.
macro_rules! mechanisms {
    ($(
        $(#[$doc:meta])*
        $name:ident: $type:ident { $($(#[$of_number:meta])* $number:ident: $kind:ty = $default:expr,)* }
    )*) => {
        /// All mechanisms.
        #[derive(Clone, Debug, Default)]
        pub struct Tuning {
            $($(#[$doc])* pub $name: $type,)*
        }

        impl Tuning {
            /// The names of the mechanisms.
            pub const NAMES: &'static str = quoted!($($name)*);

            /// All mechanisms except those with these names.
            ///
            /// # Errors
            /// When there is no mechanism with one of the names.
            pub fn without<S: AsRef<str>>(names: &[S]) -> Result<Self, SolverError> {
                let mut tuning = Self::default();
                for name in names.iter().map(AsRef::as_ref) {
                    match name {
                        $(stringify!($name) => tuning.$name.enabled = false,)*
                        other => return Err(refused("without", format!("{other:?}"), Self::NAMES)),
                    }
                }
                Ok(tuning)
            }
        }

        $(
            $(#[$doc])*
            #[derive(Clone, Debug)]
            pub struct $type {
                /// Whether it is used.
                pub enabled: bool,
                $($(#[$of_number])* pub $number: $kind,)*
            }

            impl Default for $type {
                fn default() -> Self {
                    Self { enabled: true, $($number: $default,)* }
                }
            }
        )*
    };
}

mechanisms! {
    /// Instances whose gap terms are negligible are skipped; each certificate recomputes all terms.
    shrinking: Shrinking {
        /// Share of the tolerated gap that skipped instances may contribute.
        share: f64 = 0.05,
    }

    /// A chain solves its instances several times in a row, if no other runs in parallel.
    passes: Passes {
        /// Epochs with one pass: easy problems need no more.
        single_epochs: usize = 2,
        /// Maximum number of multiply-adds of all passes over a chain, so that interruptions are answered promptly.
        work: usize = 200_000_000,
        /// Passes end when one gains less than this share of the first, about the share of its cost in that of a visit,
        /// whose product with the kernel reaches all instances.
        least_gain: f64 = 0.06,
        /// An instance that gains less than this share of the previous pass's mean rests until the next epoch.
        least_share: f64 = 0.3,
    }

    /// In every second epoch with several passes, a chain consists of an instance and those with the largest kernel values
    /// to it: they settle among themselves what would otherwise take epochs.
    neighbours: Neighbours {}

    /// Large problems with linear scores, where block solutions take a large part of the time, are solved by several chains
    /// in parallel; with other scores, threads share the update of all scores.
    chains: Chains {
        /// Number of chains.
        count: usize = 4,
        /// Scores of the smallest such problem.
        scores: usize = 100_000,
        /// One instance in this many is a probe of how far the joint move overshoots.
        probed: usize = 8,
        /// Share of an epoch's joint moves that may overshoot; beyond it, the number of chains is halved.
        spoilt: f64 = 0.05,
    }

    /// With hundreds of labels or more, visits are restricted to the hardest labels.
    shortlists: Shortlisting {
        /// Minimum number of labels.
        labels: usize = 256,
        /// Shortlists pay if they hold at most one in this many labels.
        short: usize = 8,
        /// If only the `k` highest irrelevant labels form pairs, one in this many labels is listed in addition to them,
        reserve: usize = 32,
        /// but at least this many.
        least_reserve: usize = 30,
        /// Number of labels with a dual variable of 0 that stay listed after a visit. With none, instances with many nonzero
        /// dual variables would never find the labels that should replace them.
        kept: usize = 8,
        /// Number of instances that list a label in the first epoch, in addition to those for which it is hard.
        turns: usize = 64,
        /// Maximum number of passes over the same shortlists.
        passes: usize = 12,
        /// Passes end when the gap that they find is below this share of that of the first pass,
        share: f64 = 0.1,
        /// or below this share of the tolerated gap.
        enough: f64 = 0.9,
        /// Distance below the margin of the lowest relevant label up to which a label counts as hard.
        close: f64 = 0.1,
        /// Instances visited between two polls of the monitor.
        together: usize = 64,
        /// Consecutive labels whose weights stay in the cache,
        panel: usize = 32,
        /// and maximum number of instances whose hard labels are held by a thread.
        held: usize = 1 << 14,
    }

    /// The mean direction is taken out of a kernel matrix whose rows lie close together, which makes block steps longer.
    deflation: Deflating {
        /// A multiplier costs additional epochs: the diagonal has to fall below this share.
        largest_share: f64 = 0.7,
    }

    /// Iterations on all blocks at once take over if epochs are slow.
    leaps: Leaping {
        /// Epochs between two leaps: the dual matrix after a leap is inaccurate in steep directions of the kernel, which
        /// block steps repair.
        rest: usize = 1,
        /// Epochs before the first leap with a kernel, whose block steps settle what a leap would disturb,
        patience: usize = 400,
        /// with linear scores, for which a leap also finds a model directly,
        patience_of_linear: usize = 20,
        /// and with dense columns, where early leaps save most epochs.
        patience_of_columns: usize = 3,
        /// A gap of less than this many times the tolerated one is left to block steps, unless there have been leaps.
        close: f64 = 3.0,
        /// Number of scores of the largest such problem.
        scores: usize = 1 << 20,
        /// Maximum number of entries of the kernel's root,
        root: usize = 1 << 24,
        /// and its maximum rank: an inverse of that size is computed whenever the penalty changes.
        rank: usize = 2048,
        /// The rank is first estimated after this many columns, so that too large a root is given up early.
        probed: usize = 64,
        /// Expected number of iterations: leaps begin if these, with their preparation, cost less than the remaining epochs.
        expected: usize = 40,
        /// Iterations of a leap.
        iterations: usize = 20,
        /// The penalty changes after leaps that begin before this many iterations, as convergence needs a penalty that
        /// settles;
        balanced: usize = 300,
        /// for a loss with kinks, before this many.
        followed: usize = 1000,
        /// Its rule given the relative residuals.
        balance: Balance = Balance { power: 0.25, least: 1.2, most: 10.0 },
        /// In this many first iterations it changes
        early: usize = 60,
        /// after every few of them,
        often: usize = 5,
        /// and faster; for a loss with kinks this is also the rule given the distances moved.
        early_balance: Balance = Balance { power: 0.5, least: 1.2, most: 10.0 },
        /// Leaps pause after this many consecutive early leaps that lead to no better point than the previous ones
        failures: usize = 2,
        /// (or this many that lead to none better than the epochs between them)
        rejected: usize = 12,
        /// for this many epochs. They restart from there, only once.
        patience_anew: usize = 50,
    }

    /// The iterations of splitting methods are extrapolated ([`crate::anderson`]).
    extrapolation: Extrapolating {
        /// Maximum number of differences in the history,
        most: usize = 10,
        /// and minimum, if there is room
        least: usize = 2,
        /// for this many numbers in total,
        room: usize = 1 << 24,
        /// and for a loss with kinks: with many labels there are many pieces, which a few differences cannot represent.
        room_of_kinks: usize = 1 << 19,
        /// Regularisation added to the diagonal of their products, relative to the trace.
        damping: f64 = 1e-10,
    }

    /// A point with a free bias is mixed with the best matrix to first order, whose prices are better biases; otherwise with
    /// a routing of the sum of its rows.
    oracle: Oracle {
        /// Better biases are looked for at this gap first,
        first_gap: f64 = 1e-3,
        /// and then each time at a gap smaller by this factor.
        fewer: f64 = 20.0,
    }
}

/// The rule by which a penalty follows the residuals of a splitting method.
#[derive(Clone, Copy, Debug)]
pub struct Balance {
    /// It changes by this power of their ratio,
    pub power: f64,
    /// if the factor is at least this,
    pub least: f64,
    /// and by at most this factor.
    pub most: f64,
}

impl Balance {
    /// The factor of the penalty for a ratio; 1 if that has overflowed.
    pub(crate) fn factor(&self, ratio: f64) -> f64 {
        let factor = ratio.powf(self.power);
        if factor.is_finite() {
            self.limited(factor)
        } else {
            1.0
        }
    }

    /// A factor of the penalty within the limits.
    pub(crate) fn limited(&self, factor: f64) -> f64 {
        if factor.max(factor.recip()) > self.least {
            factor.clamp(self.most.recip(), self.most)
        } else {
            1.0
        }
    }
}

impl Shortlisting {
    /// Number of irrelevant labels listed for an instance without dual variables, if only the `top` highest form pairs.
    pub(crate) fn longest(&self, top: usize, q: usize) -> usize {
        top.saturating_add((q / self.reserve).max(self.least_reserve))
    }

    /// Maximum number of labels that the short lists of `instances` instances hold together.
    pub(crate) fn room(&self, instances: usize, q: usize) -> usize {
        instances * (q / self.short)
    }
}

/// Declares tables of fixed numbers: the name, the type and the numbers of each.
macro_rules! numbers {
    ($(
        $(#[$doc:meta])*
        $name:ident: $type:ident { $($(#[$of_number:meta])* $number:ident: $kind:ty = $value:expr,)* }
    )*) => {
        $(
            $(#[$doc])*
            pub(crate) const $name: $type = $type { $($number: $value,)* };

            $(#[$doc])*
            pub(crate) struct $type {
                $($(#[$of_number])* pub $number: $kind,)*
            }
        )*
    };
}

pub(crate) use numbers;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mechanism_is_switched_off_by_its_name() {
        for name in Tuning::NAMES.split('\'').skip(1).step_by(2) {
            let switched = format!("{:?}", Tuning::without(&[name]).unwrap());
            assert_eq!(switched.matches("enabled: false").count(), 1, "{name}");
        }
        let all = format!("{:?}", Tuning::default());
        assert_eq!(
            all.matches("enabled: true").count(),
            Tuning::NAMES.matches('\'').count() / 2
        );
        let error = Tuning::without(&["haste"]).unwrap_err().to_string();
        assert!(error.starts_with("without is \"haste\""), "{error}");
    }
}
