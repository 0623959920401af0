//! Bad input, as an error that names the argument.

/// Bad input. A loop that merely stops early does not fail: its [`Status`](crate::report::Status) says so.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SolverError {
    /// An argument is outside its range or does not fit another one.
    #[error("{name} is {found}, expected {expected}")]
    Argument {
        /// The argument's name.
        name: &'static str,
        /// What was found.
        found: String,
        /// What is expected.
        expected: &'static str,
    },
    /// Two options that do not go together.
    #[error("{0}")]
    Unsupported(&'static str),
}

/// The error of an argument.
pub fn refused(
    name: &'static str,
    found: impl std::fmt::Display,
    expected: &'static str,
) -> SolverError {
    SolverError::Argument {
        name,
        found: found.to_string(),
        expected,
    }
}

/// Refuses an array whose size does not match the numbers of rows, features and labels.
pub(crate) fn check_size(
    name: &'static str,
    found: usize,
    wanted: usize,
) -> Result<(), SolverError> {
    if found == wanted {
        return Ok(());
    }
    Err(refused(
        name,
        format!("{found} numbers"),
        "as many as the rows, features and labels ask for",
    ))
}
