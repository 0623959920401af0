//! Linear algebra on slices: elementwise loops, matrix products, decompositions, feature matrices by rows and by columns, and
//! matrices whose rows are stored as is smaller.

pub mod cholesky;
pub mod columns;
pub mod features;
pub mod few_columns;
pub(crate) mod inverse;
pub mod matmul;
pub mod root;
pub mod rows;
pub mod vector;
