//! Errors of the library as the exceptions of `agogic._errors`, with the same sentences.

use agogic::Error;
use pyo3::prelude::*;

/// The exception for an error.
pub fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let class = match error {
        Error::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => "MissingFileError",
        Error::Io { .. } => "FileError",
        Error::Malformed { .. } | Error::Unsupported { .. } | Error::Limit { .. } => "UnreadableError",
        Error::Unsuitable { .. } => "UnsuitableError",
        Error::Invalid { .. } | Error::Misplaced { .. } => "InvalidError",
        Error::Infeasible { .. } => "InfeasibleError",
        Error::Cancelled => "CancelledError",
        _ => "Error",
    };
    let made = py.import("agogic._errors").and_then(|errors| errors.getattr(class)?.call1((error.to_string(),)));
    made.map_or_else(|failure| failure, PyErr::from_value)
}
