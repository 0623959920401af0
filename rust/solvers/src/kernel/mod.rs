//! Kernel matrices: whole, in blocks, and by rows with a cache.

pub mod gram;
pub mod rows;
