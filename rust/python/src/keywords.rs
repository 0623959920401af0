//! Functions with many keyword arguments take them as one structure, or as a pair whose first structure is shared with other
//! functions.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A structure of keyword arguments.
pub trait Keywords<'py>: Sized {
    /// Their names.
    fn names() -> Vec<&'static str>;

    /// The structure; further arguments are ignored.
    fn among(arguments: &Bound<'py, PyDict>) -> PyResult<Self>;

    /// The structure of a function's keyword arguments: an unknown one is refused.
    fn of(py: Python<'py>, arguments: Option<Bound<'py, PyDict>>) -> PyResult<Self> {
        let arguments = arguments.unwrap_or_else(|| PyDict::new(py));
        let names = Self::names();
        for key in arguments.keys() {
            let key: String = key.extract()?;
            if !names.contains(&key.as_str()) {
                let message = format!("unexpected keyword argument '{key}'");
                return Err(PyTypeError::new_err(message));
            }
        }
        Self::among(&arguments)
    }
}

impl<'py, A: Keywords<'py>, B: Keywords<'py>> Keywords<'py> for (A, B) {
    fn names() -> Vec<&'static str> {
        [A::names(), B::names()].concat()
    }

    fn among(arguments: &Bound<'py, PyDict>) -> PyResult<Self> {
        Ok((A::among(arguments)?, B::among(arguments)?))
    }
}

/// Declares a structure of keyword arguments. A field may have `#[pyo3(default = ...)]`.
macro_rules! keywords {
    ($(#[$doc:meta])* $visibility:vis struct $name:ident<$py:lifetime> {
        $($(#[$attribute:meta])* $field:ident: $type:ty,)*
    }) => {
        $(#[$doc])*
        #[derive(pyo3::FromPyObject)]
        #[pyo3(from_item_all)]
        $visibility struct $name<$py> {
            $($(#[$attribute])* $field: $type,)*
        }

        impl<$py> crate::keywords::Keywords<$py> for $name<$py> {
            fn names() -> Vec<&'static str> {
                vec![$(stringify!($field)),*]
            }

            fn among(arguments: &pyo3::Bound<$py, pyo3::types::PyDict>) -> pyo3::PyResult<Self> {
                pyo3::types::PyAnyMethods::extract(arguments.as_any())
            }
        }
    };
}

pub(crate) use keywords;
