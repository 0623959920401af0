//! Numbers of the pairwise family's methods.

use crate::tuning::numbers;

numbers! {
    /// The augmentation of a free bias ([`super::bias`]), and of a direction that was taken from the kernel.
    AUGMENTATION: Augmentation {
        /// Relative to the mean of the kernel's diagonal,
        of_diagonal: f64 = 0.3,
        /// and what is added, relative to the mean weight of a label's pairs: the share of it that a bias moves.
        per_label: f64 = 3.0,
        /// That of a direction, in units of the others: what is left out is part of the problem, and large at first.
        of_direction: f64 = 4.0,
        /// Growth after an epoch in which nothing moved,
        still_factor: f64 = 4.0,
        /// at most,
        largest_growth: f64 = 1e12,
        /// and of a direction at most, in units of its weight: the constant is next to 0 then, and the engine sees the whole
        /// kernel.
        largest_of_direction: f64 = 1e15,
        /// Epochs in which the biases wait for blocks that have farther to go.
        early: usize = 10,
        /// Where the pairs of a label can move its scores farther than this, 0 was as good a start on five sets of text.
        reach: f64 = 50.0,
        /// Steps of the biases below this share of the largest one are rounding.
        settled: f64 = 1e-14,
    }

    /// The repair of a point with a free bias.
    REPAIR: Repair {
        /// What it leaves of the gap at a held bias, for it finds a better bias: measured, 0.6 to 0.8 of it.
        leaves: f64 = 0.75,
        /// What it may lose of the tolerated gap without looking for a better one.
        negligible: f64 = 0.1,
        /// Pairs with a margin up to this far from 1 take part, at first: so many times the share of the loss's weight that is
        /// to be moved,
        band_per_share: f64 = 30.0,
        /// at least,
        least_band: f64 = 1.0 / 64.0,
        /// and at most.
        largest_band: f64 = 0.25,
        /// The band of a label that finds too little capacity: nearly all of its pairs.
        widest_band: f64 = 16.0,
        /// Most looks at the pairs.
        looks: usize = 8,
        /// The share of the mixture: the first one,
        first_share: f64 = 0.5,
        /// the least one,
        least_share: f64 = 1e-9,
        /// how many are tried,
        shares: usize = 3,
        /// and by what factor the best may differ from the last.
        near_enough: f64 = 1.5,
    }

    /// How matrices are stored ([`super::request`]).
    STORAGE: Storing {
        /// A matrix of more numbers than this is large.
        large: usize = 1 << 26,
        /// So is the kernel of more instances than this: its matrix is read from memory.
        large_kernel: usize = 2048,
        /// Exact scores are cheap up to so many multiplications for a value of the kernel,
        cheap: usize = 4,
        /// times the labels and so many.
        cheap_labels: usize = 16,
        /// With less than this beside its mean direction, a kernel without that is less than its rounding before.
        alike: f64 = 1e-2,
        /// Single precision is far below a tolerance of this much,
        rough: f64 = 1e-4,
        /// and of so much for each unit of `c_i K_ii`.
        rough_of_steep: f64 = 1e-7,
        /// Epochs in which every instance moves, after which a copy in single precision has paid.
        epochs: usize = 5,
    }

    /// Newton's method for the proximal maps of smooth losses ([`super::loss`]).
    NEWTON: Newton {
        /// Steps from the guess,
        steps_from_guess: usize = 10,
        /// and more of them, with shorter steps of `lambda`, where these do not succeed: so many,
        steps: usize = 60,
        /// and some for each of the few. What takes longer goes round in rounding.
        steps_per_label: usize = 2,
        /// Ratio of two successive values of `lambda`.
        factor: f64 = 10.0,
        /// Bound on the trials of a line search.
        trials: usize = 60,
        /// It ends once the derivative has shrunk to this share of its first value.
        slope_share: f64 = 0.1,
        /// After a step that is shortened, but to no less than this share, each of the few moves alone;
        long: f64 = 0.01,
        /// after a shorter one it does in one step of so many, as moves along a kink need the pieces beyond it.
        alone: usize = 3,
        /// Pairs that are drawn together more strongly are so as far as rounding can tell,
        stiffest: f64 = 1e14,
        /// of which far pairs cause more.
        stiffest_of_far: f64 = 1e13,
        /// Where no pair is apart by more than so many times the rounding at the minimiser, no step can find the pieces on
        /// which it lies.
        noise: f64 = 16.0,
        /// There, so many steps in a row beyond the number of the few that lead no farther than rounding are the end.
        blocked: usize = 1,
    }

    /// Dual terms of stiff blocks ([`super::loss`]).
    DUAL_TERM: DualTerm {
        /// Largest `lambda`, times a weight of a label, whose proximal map is exact enough for a dual term.
        stiff: f64 = 1e6,
        /// By what the steps that make up for a larger one shrink.
        soft: f64 = 1e3,
        /// The longest of them, where labels have no weights,
        long: f64 = 1e9,
        /// and in any case.
        longest: f64 = 1e13,
        /// The share of its terms by which a dual term changes that is as good as settled,
        same: f64 = 1e-13,
        /// and how often it may change by more.
        rounds: usize = 30,
    }
}
