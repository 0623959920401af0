//! Functions of many keyword arguments take them as one structure.

/// Declares a structure that is extracted from a dictionary of keyword arguments, and the list of its fields, so that an
/// unknown one can be refused. A field may have `#[pyo3(default = ...)]`.
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

        impl<$py> $name<$py> {
            const FIELDS: &'static [&'static str] = &[$(stringify!($field)),*];

            /// The structure of a function's keyword arguments.
            fn of(
                py: pyo3::Python<$py>,
                arguments: Option<pyo3::Bound<$py, pyo3::types::PyDict>>,
            ) -> pyo3::PyResult<Self> {
                use pyo3::prelude::*;
                let arguments = arguments.unwrap_or_else(|| pyo3::types::PyDict::new(py));
                for key in arguments.keys() {
                    let key: String = key.extract()?;
                    if !Self::FIELDS.contains(&key.as_str()) {
                        return Err(pyo3::exceptions::PyTypeError::new_err(format!(
                            "unexpected keyword argument '{key}'"
                        )));
                    }
                }
                arguments.extract()
            }
        }
    };
}

pub(crate) use keywords;
