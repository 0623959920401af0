//! What is built against the public interface alone. One program: each is optimised with the whole crate.

mod early_leaps;
mod own_loss;
mod own_scores;
mod time_limit;
