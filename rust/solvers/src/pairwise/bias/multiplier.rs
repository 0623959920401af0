//! No bias, or a penalized one, where the scores leave out a part `tau v v^T` of the kernel
//! (`scores::Direction`): that part is a penalized bias of its own, which enters the scores of instance
//! `i` `v_i` times. With `g = sum_i v_i beta_i` it has a multiplier `b` (the augmented Lagrangian of `g = z`, whose `z` is
//! known in closed form):
//!
//! ```text
//! max over B, z   sum_i D_i(beta_i) - 1/2 <B, K B> - tau/2 ||z||^2 - <b, g - z> - sigma/2 ||g - z||^2
//! ```
//!
//! To the engine this is the curvature `tau sigma / (tau + sigma)` and the constant `tau b / (tau + sigma)`. After an epoch
//! `b` moves to the bias in the scores, which converges to `tau g`. A block step is as long as the rest of the kernel
//! allows. The certificate is that of the problem itself: of the scores with the bias `tau g`.

use super::free::{augmentation, negligible};
use crate::labels::Labels;
use crate::pairwise::admm::Beside;
use crate::pairwise::bcd::{Certificate, Engine, Step};
use crate::pairwise::rule::{Moment, Point, Rule};
use crate::pairwise::scores::Scores;
use crate::pairwise::tuning::AUGMENTATION;

/// The rule for such a bias.
pub(crate) struct Multiplier {
    /// `tau`, and the part of it that is the bias of the model.
    weight: f64,
    penalized: f64,
    least: f64,
    sigma: f64,
    /// `b`
    multiplier: Vec<f64>,
}

impl Multiplier {
    /// The rule for scores with the diagonal `K_ii` that leave out a direction of the given weight. `penalized` is the
    /// weight of the model's bias, 0 for none.
    pub fn new(labels: &Labels, diagonal: &[f64], weight: f64, penalized: f64) -> Self {
        let sigma = AUGMENTATION.of_direction * augmentation(labels, diagonal);
        Self {
            weight,
            penalized,
            least: sigma,
            sigma,
            multiplier: vec![0.0; labels.count()],
        }
    }

    fn curvature(&self) -> f64 {
        self.weight / (1.0 + self.weight / self.sigma)
    }

    /// Gives the engine the bias that belongs to its dual matrix.
    fn place<S: Scores + ?Sized, T: Step>(&self, engine: &mut Engine<'_, S, T>, sigma: f64) {
        let (sum, rest) = (engine.iterate.sum(), self.weight - sigma);
        let offset = sum.iter().map(|g| rest * g).collect();
        engine.iterate.set_bias(offset, sigma);
    }

    /// Passes the multiplier to the engine.
    fn give<S: Scores + ?Sized, T: Step>(&self, engine: &mut Engine<'_, S, T>) {
        let share = self.weight / (self.weight + self.sigma);
        let offset = self.multiplier.iter().map(|b| share * b).collect();
        engine.iterate.set_bias(offset, self.curvature());
    }
}

impl<S: Scores + ?Sized, T: Step> Rule<S, T> for Multiplier {
    fn point(&self, engine: &Engine<'_, S, T>, sums: &Certificate) -> Point {
        let iterate = &engine.iterate;
        let of_bias = self.weight * iterate.sum().iter().map(|g| g * g).sum::<f64>();
        let bias = iterate.bias();
        let negligible = negligible(&bias);
        let mut pairs = self.multiplier.iter().zip(&bias);
        Point {
            settled: pairs.all(|(multiplier, bias)| (multiplier - bias).abs() <= negligible),
            ..Point::certified(sums, sums.quadratic + of_bias)
        }
    }

    fn update(&mut self, engine: &mut Engine<'_, S, T>, moment: Moment) {
        match moment {
            Moment::Epoch => {
                self.multiplier = engine.iterate.bias();
                return self.place(engine, engine.iterate.sigma());
            }
            Moment::Moved => self.sigma = self.least.max(self.sigma / AUGMENTATION.still_factor),
            Moment::Unmoved => {
                self.sigma = (self.sigma * AUGMENTATION.still_factor)
                    .min(AUGMENTATION.largest_of_direction * self.weight);
            }
            Moment::Leap => {
                self.place(engine, self.curvature());
                self.multiplier = engine.iterate.bias();
            }
        }
        self.give(engine);
    }

    fn beside(&self, _: &Engine<'_, S, T>) -> Beside {
        Beside::Direction(self.weight)
    }

    fn bias(&self, engine: &Engine<'_, S, T>) -> Vec<f64> {
        let mut bias = engine.iterate.sum_of_rows();
        bias.iter_mut().for_each(|b| *b *= self.penalized);
        bias
    }
}
