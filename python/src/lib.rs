//! The compiled half of the Python package `agogic`: thin, checked calls into the library. What a user sees is written in Python, in
//! `agogic/`, and turns friendly arguments into the plain ones here.

mod aligning;
mod engine;
mod errors;
mod job;
mod sound;

/// `agogic._agogic`.
#[pyo3::pymodule]
mod _agogic {
    #[pymodule_export]
    use crate::aligning::{Aligned, align_file, align_samples, check_settings, formats, setting_names};
    #[pymodule_export]
    use crate::engine::{Gdtw, dtw, gdtw, soft_dtw};
    #[pymodule_export]
    use crate::job::Job;
    #[pymodule_export]
    use crate::sound::{demo, features_of_file, features_of_samples, synthesize};

    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        use pyo3::types::PyModuleMethods;
        crate::job::remember_process();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
