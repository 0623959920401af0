//! The visit of a block of instances, from their scores to their rows of `B`: the instances are divided among chains.

use super::chain::{Surroundings, joint_step};
use super::engine::Engine;
use super::step::Step;
use crate::pairwise::scores::Scores;

impl<S: Scores + ?Sized, T: Step> Engine<'_, S, T> {
    /// Solves the instances of a block in chains of a given length. Returns the step length along their joint move, if
    /// anything moved.
    pub(super) fn visit(&mut self, block: &[u32], length: usize) -> Option<f64> {
        let count = block.len().div_ceil(length);
        let around = Surroundings {
            at: &self.iterate,
            shift: &self.iterate.bias(),
            joint: count > 1,
            passes: self.passes(length),
            tuning: &self.settings.tuning,
        };
        let threads = self.iterate.threads();
        let chains = &mut self.chains[..count];
        threads.for_each_chunk(chains, 1, |index, chain| {
            let end = block.len().min((index + 1) * length);
            chain[0].run(&around, &block[index * length..end]);
        });
        self.joined.clear();
        for chain in &*chains {
            self.joined.append(&chain.moves);
            self.solved += chain.solved;
        }
        let moved = !self.joined.instances.is_empty();
        let step_length = self.iterate.move_rows(&mut self.joined, |at, moves| {
            if count > 1 {
                joint_step(chains, at, moves)
            } else {
                1.0
            }
        });
        for (chain, instances) in chains.iter().zip(block.chunks(length)) {
            self.iterate
                .move_terms(instances, &chain.terms, step_length);
        }
        moved.then_some(step_length)
    }
}
