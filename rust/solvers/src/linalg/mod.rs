//! Linear algebra on slices: elementwise loops, matrix products, and feature matrices by rows and by columns.

pub mod columns;
pub mod features;
pub mod matmul;
pub mod sort;
pub mod vector;
