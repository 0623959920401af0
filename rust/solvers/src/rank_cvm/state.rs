//! A point of the simplex, the search for a step and the step.

use super::bound::{Bound, Role, lower};
use super::support::Support;
use super::{Direction, WeightedPair};
use crate::kernel::rows::KernelRows;
use crate::labels::Labels;
use crate::linalg::vector::axpy;
use crate::memory;

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

/// A gradient entry of an instance and its pair.
#[derive(Clone, Copy, Debug)]
struct Entry {
    value: f64,
    relevant: u32,
    irrelevant: u32,
}

impl Entry {
    /// Above all entries.
    const NONE: Self = Self {
        value: f64::INFINITY,
        relevant: 0,
        irrelevant: 0,
    };
}

pub(super) struct State<'a, 'k> {
    pub(super) labels: &'a Labels,
    kernel: &'a KernelRows<'k>,
    /// The scores `F`, `n x q` row-major, in units of the common factor.
    scores: Vec<f64>,
    /// What a label is to an instance, `n x q`.
    roles: Vec<Role>,
    /// `R_m` and `T_n` of each instance's last look (see [`super::bound`]), `n x q`, and its bound.
    noted: Vec<f64>,
    bounds: Vec<Bound>,
    support: Support<'a>,
    /// The common factor of scores and support.
    scale: f64,
}

impl<'a, 'k> State<'a, 'k> {
    pub(super) fn new(labels: &'a Labels, kernel: &'a KernelRows<'k>) -> Self {
        let (n, q) = (labels.instances(), labels.count());
        let mut roles = memory::filled(Role::Neither, n.saturating_mul(q));
        for i in (0..n).filter(|&i| labels.has_pairs(i)) {
            for k in labels.irrelevant(i) {
                roles[i * q + k] = Role::Irrelevant;
            }
            for &k in labels.relevant(i) {
                roles[i * q + k as usize] = Role::Relevant;
            }
        }
        Self {
            labels,
            kernel,
            scores: memory::matrix(n, q),
            roles,
            noted: memory::matrix(n, q),
            bounds: vec![Bound::NO_PAIRS; n],
            support: Support::new(labels),
            scale: 1.0,
        }
    }

    /// `Theta_ss` for every pair of the instance with a relevant label (54).
    pub(super) fn diagonal(&self, i: usize, m: u32) -> f64 {
        2.0 * (self.kernel.diagonal()[i] + 1.0) + 1.0 / self.labels.pair_weight(i, m)
    }

    /// A score of a training instance.
    pub(super) fn score(&self, i: usize, label: u32) -> f64 {
        self.scale * self.scores[i * self.labels.count() + label as usize]
    }

    /// Adds to a dual variable, in units of the common factor.
    pub(super) fn add_weight(&mut self, i: usize, m: u32, n: u32, weight: f64) {
        *self.support.get_mut(i, m, n) += weight / self.labels.pair_weight(i, m);
    }

    /// Adds a multiple of a vertex to the scores: one kernel row for two labels, `O(n)`. The bounds follow.
    fn add_scores(&mut self, i: usize, m: u32, n: u32, weight: f64) {
        let (kernel, q) = (self.kernel.row(i), self.labels.count());
        let (m, n) = (m as usize, n as usize);
        let rows = self
            .scores
            .chunks_exact_mut(q)
            .zip(self.noted.chunks_exact(q))
            .zip(self.roles.chunks_exact(q));
        for ((((scores, noted), roles), bound), &k) in rows.zip(&mut self.bounds).zip(kernel.iter())
        {
            let change = weight * (k + 1.0);
            scores[m] += change;
            scores[n] -= change;
            bound.follow(roles[m], noted[m], scores[m]);
            bound.follow(roles[n], noted[n], scores[n]);
        }
        // The pair's own term may have fallen.
        self.bounds[i] = Bound::UNKNOWN;
    }

    /// Calls `visit(i, m, n, alpha, g)` for every pair of the support: its dual variable and its gradient entry.
    pub(super) fn for_each_of_support(&self, mut visit: impl FnMut(usize, u32, u32, f64, f64)) {
        let q = self.labels.count();
        self.support.for_each(|i, m, n, own| {
            let scores = &self.scores[i * q..(i + 1) * q];
            let gradient = scores[m as usize] + own - scores[n as usize];
            let alpha = own * self.labels.pair_weight(i, m);
            visit(i, m, n, self.scale * alpha, self.scale * gradient);
        });
    }

    /// Multiplies the common factor out.
    fn normalise(&mut self) {
        let scale = std::mem::replace(&mut self.scale, 1.0);
        self.scores.iter_mut().for_each(|score| *score *= scale);
        self.support.multiply(scale);
        self.forget_bounds();
    }

    /// Computes the scores anew from the support.
    pub(super) fn rebuild(&mut self) {
        self.normalise();
        let (labels, q) = (self.labels, self.labels.count());
        let mut beta = vec![0.0; q];
        self.scores.fill(0.0);
        for i in (0..labels.instances()).filter(|&i| !self.support.table(i).is_empty()) {
            beta.fill(0.0);
            self.support.for_each_of(i, |m, n, own| {
                let alpha = own * labels.pair_weight(i, m);
                beta[m as usize] += alpha;
                beta[n as usize] -= alpha;
            });
            let rows = self.scores.chunks_exact_mut(q);
            for (scores, &k) in rows.zip(self.kernel.row(i).iter()) {
                axpy(k + 1.0, &beta, scores);
            }
        }
        self.forget_bounds();
    }

    /// Makes the bounds so low that every instance is looked at.
    fn forget_bounds(&mut self) {
        for i in (0..self.labels.instances()).filter(|&i| self.labels.has_pairs(i)) {
            self.bounds[i] = Bound::UNKNOWN;
        }
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

    /// The pair with the smallest gradient entry (46), the first one of several; an entry of NaN where scores have
    /// overflowed. The instance with the lowest bound is a good guess, which spares most others the look at their pairs.
    pub(super) fn best(&mut self) -> Vertex {
        let lowest = (0..self.bounds.len()).reduce(|i, j| {
            let lower = self.bounds[j].value() < self.bounds[i].value();
            if lower { j } else { i }
        });
        let mut instance = lowest.unwrap_or(0);
        let mut smallest = self.look(instance);
        for i in 0..self.bounds.len() {
            if self.bounds[i].value() > smallest || i == instance || !self.labels.has_pairs(i) {
                continue;
            }
            let entry = self.look(i);
            let first = i < instance && entry == smallest;
            if entry < smallest || first || entry.is_nan() {
                (smallest, instance) = (entry, i);
            }
        }
        let best = self.smallest_of(instance);
        Vertex {
            instance,
            relevant: best.relevant,
            irrelevant: best.irrelevant,
            gradient: self.scale * best.value,
        }
    }

    /// Looks at all pairs of an instance, notes what its bound needs, and returns its smallest gradient entry.
    fn look(&mut self, i: usize) -> f64 {
        let q = self.labels.count();
        let of = i * q..(i + 1) * q;
        let (scores, roles) = (&self.scores[of.clone()], &self.roles[of.clone()]);
        let (noted, table) = (&mut self.noted[of], self.support.table(i));
        noted.fill(f64::INFINITY);
        if table.is_empty() {
            let relevant = self.labels.relevant(i).iter();
            noted.fill(relevant.fold(f64::INFINITY, |low, &m| lower(scores[m as usize], low)));
        }
        for (&m, row) in self.labels.relevant(i).iter().zip(table.chunks_exact(q)) {
            for (noted, &own) in noted.iter_mut().zip(row) {
                *noted = lower(scores[m as usize] + own, *noted);
            }
        }
        let (mut smallest, mut bound) = (f64::INFINITY, Bound::BEGUN);
        for ((noted, &score), &role) in noted.iter_mut().zip(scores).zip(roles) {
            if role == Role::Irrelevant {
                smallest = lower(*noted - score, smallest);
                bound.follow(role, *noted, score);
            } else {
                *noted = score;
            }
        }
        self.bounds[i] = bound;
        smallest
    }

    /// The smallest gradient entry of an instance and its pair.
    fn smallest_of(&self, i: usize) -> Entry {
        let mut smallest = Entry::NONE;
        for (row, &m) in self.labels.relevant(i).iter().enumerate() {
            let entry = self.smallest_with_relevant(i, row, m);
            if entry.value < smallest.value || entry.value.is_nan() {
                smallest = entry;
            }
        }
        smallest
    }

    /// The smallest entry among the pairs of a relevant label, the one at a place in the instance's list.
    fn smallest_with_relevant(&self, i: usize, row: usize, m: u32) -> Entry {
        let q = self.labels.count();
        let (scores, roles) = (
            &self.scores[i * q..(i + 1) * q],
            &self.roles[i * q..(i + 1) * q],
        );
        let table = self.support.table(i);
        let own = (!table.is_empty()).then(|| &table[row * q..(row + 1) * q]);
        let score = scores[m as usize];
        let mut smallest = Entry::NONE;
        for (n, (&other, &role)) in scores.iter().zip(roles).enumerate() {
            let value = score + own.map_or(0.0, |own| own[n]) - other;
            if role == Role::Irrelevant && (value < smallest.value || value.is_nan()) {
                smallest = Entry {
                    value,
                    relevant: m,
                    irrelevant: n as u32,
                };
            }
        }
        smallest
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
        let own = sign(same) / self.labels.pair_weight(s.instance, s.relevant);
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
        let diagonal = self.diagonal(i, m);
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
        let curvature = self.diagonal(best.instance, best.relevant)
            + self.diagonal(worst.instance, worst.relevant)
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
            *own - weight / self.labels.pair_weight(worst.instance, worst.relevant)
        };
        self.add_scores(worst.instance, worst.relevant, worst.irrelevant, -weight);
        (
            step,
            objective + step * slope + 0.5 * step * step * curvature,
        )
    }
}
