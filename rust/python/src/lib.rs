//! Python bindings of `multimargin-solvers`, and nothing else: arrays in without a copy, arrays and a report out.

mod answers;
mod arguments;
mod boundary;
mod flows;
mod kernels;
mod keywords;
mod label_features;
mod losses;
mod memory;
mod monitor;
mod pairwise;
mod parts;
mod relationships;
mod simplex;

use pyo3::prelude::*;

#[global_allocator]
static ALLOCATOR: memory::Allocator = memory::Allocator;

/// The compiled loops of multimargin. Private: the public interface is in the Python modules.
#[pymodule]
mod _rust {
    #[pymodule_export]
    use super::flows::{
        best_bias_without_features, flow_of_parts, mixed_rows, pairs_near_margin, route_label_sums,
    };
    #[pymodule_export]
    use super::kernels::{kernel_matrix, kernel_product, sparse_product};
    #[pymodule_export]
    use super::label_features::solve_label_features;
    #[pymodule_export]
    use super::losses::{loss_prox, total_loss};
    #[pymodule_export]
    use super::monitor::looks_for_signals;
    #[pymodule_export]
    use super::pairwise::solve_pairwise;
    #[pymodule_export]
    use super::parts::{improve_part, split_part};
    #[pymodule_export]
    use super::relationships::{solve_label, solve_mlrl};
    #[pymodule_export]
    use super::simplex::solve_simplex;
}
