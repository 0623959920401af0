//! Linear algebra on slices: elementwise loops, matrix products, decompositions, feature matrices by rows and by columns,
//! and matrices each of whose rows is stored dense or sparse, whichever is smaller.

pub mod cholesky;
pub mod columns;
pub mod features;
pub mod few_columns;
pub(crate) mod inverse;
pub mod manhattan;
pub mod matmul;
pub mod root;
pub mod rows;
pub mod vector;
