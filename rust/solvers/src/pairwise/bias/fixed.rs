//! No bias, or a penalized one: the engine's point is a point of the problem, and certifies it.

use crate::pairwise::admm::Beside;
use crate::pairwise::bcd::{Certificate, Engine, Step};
use crate::pairwise::rule::{Point, Rule};
use crate::pairwise::scores::Scores;

/// The rule of a bias that is part of the kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fixed;

impl<S: Scores + ?Sized, T: Step> Rule<S, T> for Fixed {
    fn point(&self, engine: &Engine<'_, S, T>, sums: &Certificate) -> Point {
        let iterate = &engine.iterate;
        let of_bias = iterate.sigma() * iterate.sum().iter().map(|g| g * g).sum::<f64>();
        Point::certified(sums, sums.quadratic + of_bias)
    }

    fn beside(&self, engine: &Engine<'_, S, T>) -> Beside {
        Beside::Direction(engine.iterate.sigma())
    }

    fn bias(&self, engine: &Engine<'_, S, T>) -> Vec<f64> {
        engine.iterate.bias()
    }
}
