//! Decides when to end rounds that do not reach the tolerance.

use super::tuning::SPLITTING;

/// Signs that more rounds will not help.
#[derive(Default)]
pub(super) struct Patience {
    /// Rounds over all regularisers, and their maximum number, if there is one.
    rounds: usize,
    pub most_rounds: Option<usize>,
    /// Rounds in which some label used up its steps.
    exhausted: usize,
    /// Steps of the label with most steps, summed over the rounds, relative to the maximum of one round.
    spent: f64,
    /// The gap `SPLITTING.still_rounds` rounds ago.
    earlier: f64,
    still: bool,
}

impl Patience {
    /// No gap has been seen yet.
    pub fn begin_anew(&mut self) {
        (self.earlier, self.still) = (f64::INFINITY, false);
    }

    /// Rounds in another precision follow: the steps used so far say nothing about them. The total number of rounds still
    /// counts.
    pub fn renew(&mut self) {
        (self.exhausted, self.spent) = (0, 0.0);
        self.begin_anew();
    }

    pub fn note(&mut self, rounds: usize, exhausted: bool, spent: f64, gap: f64) {
        self.rounds += 1;
        self.spent += spent;
        self.exhausted += usize::from(exhausted);
        if rounds.is_multiple_of(SPLITTING.still_rounds) {
            self.still = gap > SPLITTING.still_share * self.earlier;
            self.earlier = gap;
        }
    }

    pub fn is_over(&self) -> bool {
        self.still || self.used_up()
    }

    pub fn used_up(&self) -> bool {
        let out_of_rounds = self.most_rounds.is_some_and(|most| self.rounds >= most);
        out_of_rounds
            || self.exhausted >= SPLITTING.most_exhausted
            || self.spent >= SPLITTING.most_spent
    }
}
