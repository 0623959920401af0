//! Numbers of the pairwise family's methods.

use crate::tuning::numbers;

numbers! {
    /// The augmentation of a free bias ([`super::bias`]), and of a direction that was taken from the kernel.
    AUGMENTATION: Augmentation {
        /// Relative to the mean of the kernel's diagonal,
        of_diagonal: f64 = 0.3,
        /// plus a term relative to the inverse of the mean weight of a label's pairs.
        per_label: f64 = 3.0,
        /// The augmentation of a direction, relative to these: the part left out belongs to the problem, and is large at
        /// first.
        of_direction: f64 = 4.0,
        /// Growth factor after an epoch in which nothing moved,
        still_factor: f64 = 4.0,
        /// at most,
        largest_growth: f64 = 1e12,
        /// and for a direction at most, relative to its weight: the constant is then almost 0, and the engine sees the whole
        /// kernel.
        largest_of_direction: f64 = 1e15,
        /// Epochs in which the biases wait for blocks that are farther from their goal.
        early: usize = 10,
        /// If the pairs of a label can move its scores by more than this, the bias starts at 0, which was as good on five
        /// sets of text.
        reach: f64 = 50.0,
        /// Steps of the biases below this share of the largest one are rounding.
        settled: f64 = 1e-14,
    }

    /// The repair of a point with a free bias.
    REPAIR: Repair {
        /// The share of the gap with the bias held that remains after the repair, which finds a better bias: 0.6 to 0.8 when
        /// measured.
        leaves: f64 = 0.75,
        /// The share of the tolerated gap that it may lose without looking for a better one.
        negligible: f64 = 0.1,
        /// At first, pairs take part if their margin differs from 1 by at most this many times the share of the loss's
        /// weight that is to be moved,
        band_per_share: f64 = 30.0,
        /// at least,
        least_band: f64 = 1.0 / 64.0,
        /// and at most.
        largest_band: f64 = 0.25,
        /// The band of a label with too little capacity, which includes nearly all of its pairs.
        widest_band: f64 = 16.0,
        /// Maximum number of summaries of the pairs.
        looks: usize = 8,
        /// The share of the mixture: the first one,
        first_share: f64 = 0.5,
        /// the least one,
        least_share: f64 = 1e-9,
        /// the number of shares tried,
        shares: usize = 3,
        /// and by what factor the best may differ from the last.
        near_enough: f64 = 1.5,
    }

    /// How matrices are stored ([`super::request`]).
    STORAGE: Storing {
        /// A matrix of more numbers than this is large.
        large: usize = 1 << 26,
        /// The kernel of more instances than this is large as well: its matrix is read from memory.
        large_kernel: usize = 2048,
        /// Exact scores are cheap if a kernel value costs at most this many multiplications,
        cheap: usize = 4,
        /// times the number of labels plus this.
        cheap_labels: usize = 16,
        /// If less than this share remains beside its mean direction, the remainder of a kernel is below its rounding error.
        alike: f64 = 1e-2,
        /// Rounding to single precision is far below a tolerance of this,
        rough: f64 = 1e-4,
        /// and of this for each unit of `c_i K_ii`.
        rough_of_steep: f64 = 1e-7,
        /// Epochs in which every instance moves, after which a copy in single precision has paid.
        epochs: usize = 5,
    }

    /// Newton's method for the proximal maps of smooth losses ([`super::loss`]).
    NEWTON: Newton {
        /// Steps from the guess,
        steps_from_guess: usize = 10,
        /// and more of them, with smaller steps of `lambda`, if these do not succeed: this many,
        steps: usize = 60,
        /// plus this many for each of the few. Beyond that it cycles within rounding.
        steps_per_label: usize = 2,
        /// Ratio of two successive values of `lambda`.
        factor: f64 = 10.0,
        /// Bound on the trials of a line search.
        trials: usize = 60,
        /// It ends once the derivative has shrunk to this share of its first value.
        slope_share: f64 = 0.1,
        /// After a step that is shortened, but not below this share, each of the few moves separately;
        long: f64 = 0.01,
        /// after a shorter one only in one step of this many, as moves along a kink need the pieces beyond it.
        alone: usize = 3,
        /// Beyond this stiffness, pairs are tied as far as rounding can tell,
        stiffest: f64 = 1e14,
        /// or beyond this one with far pairs, which cause more rounding.
        stiffest_of_far: f64 = 1e13,
        /// If no pair is apart by more than this many times the rounding at the minimiser, no step can find the pieces on
        /// which it lies.
        noise: f64 = 16.0,
        /// Then it ends after this many consecutive steps, plus the number of the few, without progress beyond rounding.
        blocked: usize = 1,
    }

    /// Dual terms of stiff blocks ([`super::loss`]).
    DUAL_TERM: DualTerm {
        /// Largest `lambda`, times a weight of a label, whose proximal map is exact enough for a dual term.
        stiff: f64 = 1e6,
        /// The factor by which the steps that replace a larger one shrink.
        soft: f64 = 1e3,
        /// The longest of them if labels have no weights,
        long: f64 = 1e9,
        /// and in any case.
        longest: f64 = 1e13,
        /// A dual term has settled when it changes by less than this share of its terms,
        same: f64 = 1e-13,
        /// and may change by more this many times.
        rounds: usize = 30,
    }
}
