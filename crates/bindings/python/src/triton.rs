//! Kernels of Triton: facts that its runtime needs before it loads a kernel.

use crate::failure::{FailureKind, NamedSource, PythonFailure};
use pyo3::prelude::*;

/// Bytes of workgroup memory that the kernel of a module of TTIR needs.
///
/// Raises CompileError for a module that cannot be compiled.
#[pyfunction]
#[pyo3(signature = (source, *, name="input"))]
pub fn measure_triton(py: Python<'_>, source: &str, name: &str) -> PyResult<u64> {
    let measured = py.detach(|| {
        let module = spirula_triton::read_module(source)?;
        spirula_triton::lower_module(&module, spirula_triton::PROGRAM_WIDTH)
    });
    let kernel = measured.map_err(|fault| {
        let source = NamedSource {
            name: name.to_owned(),
            bytes: source.as_bytes().to_vec(),
        };
        PythonFailure::from_diagnostics(FailureKind::Compile, vec![fault], &source)
    })?;
    Ok(kernel.workgroup_bytes)
}
