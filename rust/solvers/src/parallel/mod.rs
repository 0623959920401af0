//! Threads: fixed chunks of work, and sums in a fixed order, so that results do not depend on their number.

mod team;
pub mod threads;
