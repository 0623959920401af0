//! Python bindings of `multimargin-solvers`, and nothing else: arrays in without a copy, arrays and a report out.

mod arguments;
mod kernels;
mod label_features;
mod losses;
mod monitor;
mod pairwise;

use pyo3::prelude::*;

/// The compiled loops of multimargin. Private: the public interface is in the Python modules.
#[pymodule]
mod _rust {
    #[pymodule_export]
    use super::kernels::{kernel_matrix, kernel_product};
    #[pymodule_export]
    use super::label_features::{LabelFeaturesSolution, solve_label_features};
    #[pymodule_export]
    use super::losses::{loss_prox, loss_value};
    #[pymodule_export]
    use super::pairwise::{PairwiseSolution, solve_pairwise};
}
