//! The mechanisms that make block coordinate ascent fast, each with a switch and its numbers, of which `benchmarks/ablate.py`
//! measures what each gives; and tables of the numbers that nobody sets.

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

            /// All mechanisms but those of these names.
            ///
            /// # Errors
            /// When there is none of a name.
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
    /// Instances whose gap terms are negligible are skipped; all terms are computed anew with each certificate.
    shrinking: Shrinking {
        /// Share of the tolerated gap that skipped instances may leave behind.
        share: f64 = 0.05,
    }

    /// A chain solves its instances several times in a row, where no other runs at the same time.
    passes: Passes {
        /// Epochs with one pass: easy problems need no more.
        single_epochs: usize = 2,
        /// Most multiply-adds of all passes over a chain, so that an interruption is answered promptly.
        work: usize = 200_000_000,
        /// Passes end when one gains less than this share of the first: a pass costs about so much of an epoch's visit, whose
        /// product with the kernel reaches all instances.
        least_gain: f64 = 0.06,
        /// An instance that gains less than this share of the mean of the pass before rests until the next epoch.
        least_share: f64 = 0.3,
    }

    /// In every second epoch of several passes a chain is an instance and those that it has the largest kernel values with:
    /// they settle among themselves what they would else need epochs for.
    neighbours: Neighbours {}

    /// Large problems with linear scores, of which the solutions take a good part of the time, are solved by several chains at
    /// the same time: threads share the update of other scores anyway.
    chains: Chains {
        /// How many.
        count: usize = 4,
        /// Scores of the smallest such problem.
        scores: usize = 100_000,
        /// One instance in so many is a probe of how much the chains overshoot together.
        probed: usize = 8,
        /// Share of an epoch's joint moves that may overshoot; beyond it half as many chains go on.
        spoilt: f64 = 0.05,
    }

    /// With thousands of labels, instances are visited among their hardest labels.
    shortlists: Shortlisting {
        /// Fewest labels of such a problem.
        labels: usize = 256,
        /// Shortlists pay if they hold at most one in so many labels.
        short: usize = 8,
        /// With pairs of the `k` highest irrelevant labels alone, one in so many labels is listed besides them,
        reserve: usize = 32,
        /// but these at least.
        least_reserve: usize = 30,
        /// How many labels without a dual variable stay listed after a visit. With none for instances that have many dual
        /// variables, the labels that would take these over are never found.
        kept: usize = 8,
        /// How many instances list a label on the way to the first point, besides those to which it is hard.
        turns: usize = 64,
        /// Most passes over the same shortlists.
        passes: usize = 12,
        /// Passes end when the gap that they meet is below this share of the first one's,
        share: f64 = 0.1,
        /// and when it is below this share of the tolerated gap.
        enough: f64 = 0.9,
        /// How far below the margin of the lowest relevant label a label still is hard.
        close: f64 = 0.1,
        /// Instances that are visited between two questions to the monitor.
        together: usize = 64,
        /// Consecutive labels whose weights stay in the cache,
        panel: usize = 32,
        /// and most instances whose hard labels are held by a thread.
        held: usize = 1 << 14,
    }

    /// The mean direction is taken out of a kernel matrix whose rows are alike, which makes block steps longer.
    deflation: Deflating {
        /// A multiplier costs epochs of its own: the diagonal has to fall below this share.
        largest_share: f64 = 0.7,
    }

    /// Iterations on all blocks at once lead on where epochs are slow.
    leaps: Leaping {
        /// Epochs between two leaps: a dual matrix of all blocks at once is off where the kernel is steep, which block steps
        /// mend.
        rest: usize = 1,
        /// Epochs before the first leap on a kernel, whose block steps settle what a leap would disturb,
        patience: usize = 400,
        /// on linear scores, for which a leap finds a model of its own,
        patience_of_linear: usize = 20,
        /// and on those of dense columns, where early leaps save most epochs.
        patience_of_columns: usize = 3,
        /// A gap of less than so many times the tolerated one is left to block steps, unless there have been leaps.
        close: f64 = 3.0,
        /// Scores of the largest such problem.
        scores: usize = 1 << 20,
        /// Entries of the largest root of its kernel,
        root: usize = 1 << 24,
        /// and its largest rank: an inverse of that size is computed whenever the penalty changes.
        rank: usize = 2048,
        /// which is estimated after so many columns first: a root that is too large is given up early.
        probed: usize = 64,
        /// Iterations that a problem is expected to take: leaps begin where these, with all that they need, cost less than the
        /// epochs that are left.
        expected: usize = 40,
        /// Iterations of a leap.
        iterations: usize = 20,
        /// The penalty changes after leaps with fewer iterations before: one that goes on changing need not converge.
        balanced: usize = 300,
        /// that of a loss with kinks, with fewer than these.
        followed: usize = 1000,
        /// How it follows the relative residuals.
        balance: Balance = Balance { power: 0.25, least: 1.2, most: 10.0 },
        /// In so many iterations at first it follows them
        early: usize = 60,
        /// every so many,
        often: usize = 5,
        /// and faster, as that of a loss with kinks follows the ways.
        early_balance: Balance = Balance { power: 0.5, least: 1.2, most: 10.0 },
        /// Early leaps in a row that lead to no better point than those before, after which there are none
        failures: usize = 2,
        /// (or so many that lead to none better than the epochs beside them)
        rejected: usize = 12,
        /// for so many epochs. They start anew from there, once and for all.
        patience_anew: usize = 50,
    }

    /// The iterations of splitting methods are extrapolated ([`crate::anderson`]).
    extrapolation: Extrapolating {
        /// Differences that are remembered at most,
        most: usize = 10,
        /// and at least, where there is room
        least: usize = 2,
        /// for so many numbers in all,
        room: usize = 1 << 24,
        /// and of a loss with kinks: many labels have pieces of their own, which a few differences do not know.
        room_of_kinks: usize = 1 << 19,
        /// What is added to the diagonal of their products, relative to its trace.
        damping: f64 = 1e-10,
    }

    /// A point with a free bias is mixed with the best matrix to first order, whose prices are better biases; else with a
    /// routing of what its rows sum to.
    oracle: Oracle {
        /// Better biases are looked for at this gap first,
        first_gap: f64 = 1e-3,
        /// and at so many times less each time.
        fewer: f64 = 20.0,
    }
}

/// How a penalty follows the residuals of a splitting method.
#[derive(Clone, Copy, Debug)]
pub struct Balance {
    /// It changes by this power of their ratio,
    pub power: f64,
    /// if by this factor at least,
    pub least: f64,
    /// and by that one at most.
    pub most: f64,
}

impl Balance {
    /// The factor of the penalty for such a ratio; 1 where that has overflowed.
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
    /// How many irrelevant labels are listed for an instance without dual variables, with pairs of the `top` highest alone.
    pub(crate) fn longest(&self, top: usize, q: usize) -> usize {
        top.saturating_add((q / self.reserve).max(self.least_reserve))
    }

    /// How many labels short lists of so many instances hold at most.
    pub(crate) fn room(&self, instances: usize, q: usize) -> usize {
        instances * (q / self.short)
    }
}

/// Declares tables of numbers that nobody sets: the name, the type and the numbers of each.
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
