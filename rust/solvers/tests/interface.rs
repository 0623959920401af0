//! Tests built only against the public interface; a single program, as each is optimised with the whole crate.

mod early_leaps;
mod own_loss;
mod own_scores;
mod time_limit;
