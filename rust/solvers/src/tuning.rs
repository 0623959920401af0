//! The mechanisms that make block coordinate ascent fast, each with a switch and its numbers. What each gives is measured by
//! `benchmarks/ablate.py`.

use crate::error::{SolverError, refused};

/// All of them.
#[derive(Clone, Debug, Default)]
pub struct Tuning {
    /// Instances that matter little are skipped.
    pub shrinking: Shrinking,
    /// Instances are solved several times in a row.
    pub passes: Passes,
    /// Chains of instances that are close to each other.
    pub neighbours: Neighbours,
    /// Several chains at the same time.
    pub chains: Chains,
    /// Epochs without a certificate.
    pub estimates: Estimates,
    /// Visits among the hardest labels alone.
    pub shortlists: Shortlisting,
    /// Kernels without their mean direction.
    pub deflation: Deflating,
    /// Iterations on all blocks at once.
    pub leaps: Leaping,
    /// A free bias that is repaired by the best matrix to first order.
    pub oracle: Oracle,
}

/// The names of the mechanisms.
pub const MECHANISMS: &str = "'shrinking', 'passes', 'neighbours', 'chains', 'estimates', 'shortlists', 'deflation', \
                              'leaps' or 'oracle'";

impl Tuning {
    /// All mechanisms but those of these names.
    ///
    /// # Errors
    /// When there is none of a name.
    pub fn without<S: AsRef<str>>(names: &[S]) -> Result<Self, SolverError> {
        let mut tuning = Self::default();
        for name in names.iter().map(AsRef::as_ref) {
            let enabled = match name {
                "shrinking" => &mut tuning.shrinking.enabled,
                "passes" => &mut tuning.passes.enabled,
                "neighbours" => &mut tuning.neighbours.enabled,
                "chains" => &mut tuning.chains.enabled,
                "estimates" => &mut tuning.estimates.enabled,
                "shortlists" => &mut tuning.shortlists.enabled,
                "deflation" => &mut tuning.deflation.enabled,
                "leaps" => &mut tuning.leaps.enabled,
                "oracle" => &mut tuning.oracle.enabled,
                other => return Err(refused("without", format!("{other:?}"), MECHANISMS)),
            };
            *enabled = false;
        }
        Ok(tuning)
    }
}

/// Declares a mechanism: its numbers with their defaults.
macro_rules! mechanism {
    ($(#[$doc:meta])* $name:ident { $($(#[$of_field:meta])* $field:ident: $type:ty = $default:expr,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name {
            /// Whether it is used.
            pub enabled: bool,
            $($(#[$of_field])* pub $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { enabled: true, $($field: $default,)* }
            }
        }
    };
}

mechanism! {
/// Instances whose gap terms are negligible are skipped; all terms are computed anew with each certificate.
Shrinking {
    /// Share of the tolerated gap that skipped instances may leave behind.
    share: f64 = 0.05,
}
}

mechanism! {
/// A chain solves its instances several times in a row, where no other runs at the same time.
Passes {
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
}

mechanism! {
/// In every second epoch of several passes a chain is an instance and those that it has the largest kernel values with:
/// they settle among themselves what they would else need epochs for.
Neighbours {}
}

mechanism! {
/// Large problems with linear scores, of which the solutions take a good part of the time, are solved by several chains at
/// the same time: threads share the update of other scores anyway.
Chains {
    /// How many.
    count: usize = 4,
    /// Scores of the smallest such problem.
    scores: usize = 100_000,
    /// One instance in so many is a probe of how much the chains overshoot together.
    probed: usize = 8,
    /// Share of an epoch's joint moves that may overshoot; beyond it half as many chains go on.
    spoilt: f64 = 0.05,
}
}

mechanism! {
/// Epochs far from the optimum go without a certificate, where visits note gap terms: with linear features alone, where no
/// kernel can be indefinite.
Estimates {
    /// Scores of the smallest such problem.
    scores: usize = 1 << 23,
    /// Most of these epochs in a row.
    epochs: usize = 4,
    /// How often the tolerated gap an estimate must be.
    far: f64 = 2.0,
}
}

mechanism! {
/// With thousands of labels, instances are visited among their hardest labels.
Shortlisting {
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

mechanism! {
/// The mean direction is taken out of a kernel matrix whose rows are alike, which makes block steps longer.
Deflating {
    /// A multiplier costs epochs of its own: the diagonal has to fall below this share.
    largest_share: f64 = 0.7,
}
}

mechanism! {
/// Iterations on all blocks at once lead on where epochs are slow.
Leaping {
    /// Epochs between two leaps: a dual matrix of all blocks at once is off where the kernel is steep, which block steps
    /// mend.
    rest: usize = 3,
    /// Epochs before the first leap: most problems are solved by then.
    patience: usize = 400,
    /// The same for linear scores, for which a leap finds a model of its own.
    patience_of_linear: usize = 50,
    /// A gap of less than so many times the tolerated one is left to block steps, unless there have been leaps.
    close: f64 = 3.0,
}
}

mechanism! {
/// A point with a free bias is mixed with the best matrix to first order, whose prices are better biases; else with a
/// routing of what its rows sum to.
Oracle {
    /// Better biases are looked for at this gap first,
    first_gap: f64 = 1e-3,
    /// and at so many times less each time.
    fewer: f64 = 20.0,
}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mechanism_is_switched_off_by_its_name() {
        for name in MECHANISMS.split('\'').skip(1).step_by(2) {
            let switched = format!("{:?}", Tuning::without(&[name]).unwrap());
            assert_eq!(switched.matches("enabled: false").count(), 1, "{name}");
        }
        let all = format!("{:?}", Tuning::default());
        assert_eq!(
            all.matches("enabled: true").count(),
            MECHANISMS.matches('\'').count() / 2
        );
        let error = Tuning::without(&["haste"]).unwrap_err().to_string();
        assert!(error.starts_with("without is \"haste\""), "{error}");
    }
}
