//! A point of the simplex, the search for a step and the step.

use super::scores::Scores;
use super::support::Support;
use super::{Direction, WeightedPair};
use crate::kernel::rows::KernelRows;
use crate::labels::Labels;

/// Below this common factor the scores are multiplied out, long before anything over- or underflows.
const SMALLEST_SCALE: f64 = 1e-100;

/// A pair and its gradient entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vertex {
    pub(super) instance: usize,
    pub(super) relevant: u32,
    pub(super) irrelevant: u32,
    pub(super) gradient: f64,
}

impl Vertex {
    /// The pair, with the length of a step towards it.
    pub(super) fn weighted(&self, weight: f64) -> WeightedPair {
        WeightedPair {
            instance: self.instance as u32,
            relevant: self.relevant,
            irrelevant: self.irrelevant,
            weight,
        }
    }
}

pub(super) struct State<'a, 'k> {
    pub(super) labels: &'a Labels,
    kernel: &'a KernelRows<'k>,
    scores: Scores<'a>,
    support: Support<'a>,
    /// The common factor of scores and support.
    scale: f64,
}

impl<'a, 'k> State<'a, 'k> {
    pub(super) fn new(labels: &'a Labels, kernel: &'a KernelRows<'k>) -> Self {
        Self {
            labels,
            kernel,
            scores: Scores::new(labels),
            support: Support::new(labels),
            scale: 1.0,
        }
    }

    /// `Theta_ss` for every pair of the instance (54).
    pub(super) fn diagonal(&self, i: usize) -> f64 {
        2.0 * (self.kernel.diagonal()[i] + 1.0) + 1.0 / self.labels.weight(i)
    }

    /// A score of a training instance.
    pub(super) fn score(&self, i: usize, label: u32) -> f64 {
        self.scale * self.scores.get(i, label)
    }

    /// Adds to a dual variable, in units of the common factor.
    pub(super) fn add_weight(&mut self, i: usize, m: u32, n: u32, weight: f64) {
        let own = self.support.get_mut(i, m, n);
        *own += weight / self.labels.weight(i);
        self.scores.own_rose(*own);
    }

    /// Adds a multiple of a vertex to the scores.
    fn add_scores(&mut self, i: usize, m: u32, n: u32, weight: f64) {
        self.scores.add(&self.kernel.row(i), m, n, weight);
    }

    /// Calls `visit(i, m, n, alpha, g)` for every pair of the support: its dual variable and its gradient entry.
    pub(super) fn for_each_of_support(&self, mut visit: impl FnMut(usize, u32, u32, f64, f64)) {
        self.support.for_each(|i, m, n, own| {
            let gradient = self.scores.get(i, m) + own - self.scores.get(i, n);
            let alpha = own * self.labels.weight(i);
            visit(i, m, n, self.scale * alpha, self.scale * gradient);
        });
    }

    /// Multiplies the common factor out.
    fn normalise(&mut self) {
        let scale = std::mem::replace(&mut self.scale, 1.0);
        self.scores.multiply(scale);
        self.support.multiply(scale);
    }

    /// Computes the scores anew from the support.
    pub(super) fn rebuild(&mut self) {
        self.normalise();
        let (labels, support, kernel) = (self.labels, &self.support, self.kernel);
        let of_support = (0..labels.instances()).filter(|&i| !support.table(i).is_empty());
        let rows = of_support.map(|i| {
            let mut beta = vec![0.0; labels.count()];
            support.for_each_of(i, |m, n, own| {
                let alpha = own * labels.weight(i);
                beta[m as usize] += alpha;
                beta[n as usize] -= alpha;
            });
            (beta, kernel.row(i))
        });
        self.scores.rebuild(rows);
    }

    /// The objective `W`, computed anew.
    pub(super) fn objective(&self) -> f64 {
        let mut total = 0.0;
        self.for_each_of_support(|_, _, _, weight, gradient| total += weight * gradient);
        0.5 * total
    }

    /// The objective at scores computed anew, without the rounding that the recursions have gathered.
    pub(super) fn objective_anew(&mut self) -> f64 {
        self.rebuild();
        self.objective()
    }

    /// The pair with the smallest gradient entry (46); the first one of several.
    pub(super) fn best(&mut self) -> Vertex {
        let (best, instance) = self.scores.smallest_entry(&self.support);
        let (relevant, irrelevant) = self.pair_of(instance, best);
        Vertex {
            instance,
            relevant,
            irrelevant,
            gradient: self.scale * best,
        }
    }

    /// The first pair of an instance with the given gradient entry, in units of the common factor.
    fn pair_of(&self, i: usize, gradient: f64) -> (u32, u32) {
        for &m in self.labels.relevant(i) {
            for n in self.labels.irrelevant(i).map(|n| n as u32) {
                let own = self.support.get(i, m, n);
                if self.scores.get(i, m) + own - self.scores.get(i, n) == gradient {
                    return (m, n);
                }
            }
        }
        self.labels.first_pair(i)
    }

    /// The pair of the support with the largest gradient entry, and its dual variable.
    fn worst(&self) -> (Vertex, f64) {
        let mut worst = Vertex {
            instance: 0,
            relevant: 0,
            irrelevant: 0,
            gradient: f64::NEG_INFINITY,
        };
        let mut weight = 0.0;
        self.for_each_of_support(|i, m, n, alpha, gradient| {
            if gradient > worst.gradient {
                worst = Vertex {
                    instance: i,
                    relevant: m,
                    irrelevant: n,
                    gradient,
                };
                weight = alpha;
            }
        });
        (worst, weight)
    }

    /// `Theta` between two pairs (53).
    fn theta(&self, s: &Vertex, t: &Vertex) -> f64 {
        let sign = |equal: bool| f64::from(u8::from(equal));
        let h = sign(s.relevant == t.relevant) + sign(s.irrelevant == t.irrelevant)
            - sign(s.relevant == t.irrelevant)
            - sign(s.irrelevant == t.relevant);
        let same =
            s.instance == t.instance && s.relevant == t.relevant && s.irrelevant == t.irrelevant;
        let own = sign(same) / self.labels.weight(s.instance);
        let k = if s.instance == t.instance {
            self.kernel.diagonal()[s.instance]
        } else {
            self.kernel.row(s.instance)[t.instance]
        };
        h * (k + 1.0) + own
    }

    /// A step: its length, and the new objective.
    pub(super) fn step(&mut self, to: Direction, best: &Vertex, objective: f64) -> (f64, f64) {
        match to {
            Direction::Vertex => self.vertex_step(best, objective),
            Direction::Pairwise => self.pairwise_step(best, objective),
        }
    }

    /// The published step to a vertex (64) to (69): its length, and the new objective.
    fn vertex_step(&mut self, best: &Vertex, objective: f64) -> (f64, f64) {
        let Vertex {
            instance: i,
            relevant: m,
            irrelevant: n,
            gradient,
        } = *best;
        let diagonal = self.diagonal(i);
        let slope = gradient - 2.0 * objective;
        let step = (-slope / (diagonal - 2.0 * gradient + 2.0 * objective)).min(1.0);
        let kept = 1.0 - step;
        if kept == 0.0 {
            self.support.clear();
            self.add_weight(i, m, n, 1.0);
            self.scale = 1.0;
            self.rebuild();
        } else {
            self.scale *= kept;
            if self.scale < SMALLEST_SCALE {
                self.normalise();
            }
            let weight = step / self.scale;
            self.add_weight(i, m, n, weight);
            self.add_scores(i, m, n, weight);
        }
        let objective =
            kept * kept * objective + step * kept * gradient + 0.5 * step * step * diagonal;
        (step, objective)
    }

    /// The pairwise step: its length, and the new objective.
    fn pairwise_step(&mut self, best: &Vertex, objective: f64) -> (f64, f64) {
        let (worst, available) = self.worst();
        let slope = best.gradient - worst.gradient;
        let curvature = self.diagonal(best.instance) + self.diagonal(worst.instance)
            - 2.0 * self.theta(best, &worst);
        if slope >= 0.0 || curvature <= 0.0 {
            return (0.0, objective);
        }
        let step = (-slope / curvature).min(available);
        let weight = step / self.scale;
        self.add_weight(best.instance, best.relevant, best.irrelevant, weight);
        self.add_scores(best.instance, best.relevant, best.irrelevant, weight);
        let own = self
            .support
            .get_mut(worst.instance, worst.relevant, worst.irrelevant);
        *own = if step >= available {
            0.0
        } else {
            *own - weight / self.labels.weight(worst.instance)
        };
        self.scores
            .own_fell(worst.instance, worst.relevant, worst.irrelevant, *own);
        self.add_scores(worst.instance, worst.relevant, worst.irrelevant, -weight);
        (
            step,
            objective + step * slope + 0.5 * step * step * curvature,
        )
    }
}
