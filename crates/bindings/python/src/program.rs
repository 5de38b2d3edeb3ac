//! Programs and their functions as objects of Python.

use crate::device::PythonDevice;
use crate::failure::PythonFailure;
use crate::open_device::LoadedProgram;
use crate::program_call::{GivenValue, bind_arguments, call_entry, make_results};
use crate::signature::{EntrySignature, PythonParameter};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use spirula::TensorSignature;
use spirula_program::CompiledProgram;
use std::sync::Arc;

/// The entry point that a call of a program means, where it has several.
const MAIN: &str = "main";

/// A program that was compiled for a device.
///
/// A call of the program calls its only function, or its function `main`: `y, = program(x)`.
#[pyclass(name = "Program", module = "spirula", frozen)]
pub struct PythonProgram {
    loaded: Arc<LoadedProgram>,
    functions: Vec<Arc<EntrySignature>>,
}

impl PythonProgram {
    /// The object of a program on a device. `find_consumed` tells of the parameters of an
    /// entry point whether a call may change them; where nothing is known, it may.
    pub fn new(
        program: CompiledProgram,
        device: &PythonDevice,
        tensors: Option<&TensorSignature>,
        find_consumed: impl Fn(&str) -> Vec<bool>,
    ) -> Result<PythonProgram, PythonFailure> {
        let entries = program.entries.iter();
        let functions = entries.map(|entry| {
            let consumed = find_consumed(&entry.name);
            Arc::new(EntrySignature::new(entry, tensors, &consumed))
        });
        Ok(PythonProgram {
            functions: functions.collect(),
            loaded: Arc::new(LoadedProgram::new(program, device.open()?)),
        })
    }

    fn find_function(&self, name: Option<&str>) -> Result<PythonFunction, PythonFailure> {
        let named = |name: &str| self.functions.iter().find(|function| function.name == name);
        let found = match (name, self.functions.as_slice()) {
            (Some(name), _) => named(name),
            (None, [only]) => Some(only),
            (None, _) => named(MAIN),
        };
        let found = found.ok_or_else(|| {
            let names: Vec<&str> = self.functions.iter().map(|f| f.name.as_str()).collect();
            let names = names.join(", ");
            PythonFailure::argument(match name {
                Some(name) => format!("the program has no function {name}; it has: {names}"),
                None => format!("the program has several functions: choose one of {names}"),
            })
        })?;
        Ok(PythonFunction {
            loaded: self.loaded.clone(),
            signature: found.clone(),
        })
    }
}

#[pymethods]
impl PythonProgram {
    /// Names of the functions, in the order of the source.
    #[getter]
    fn functions(&self) -> Vec<&str> {
        self.functions.iter().map(|f| f.name.as_str()).collect()
    }

    /// The device that the program was compiled for.
    #[getter]
    fn device(&self) -> PythonDevice {
        PythonDevice::from_open(&self.loaded.device)
    }

    /// A function by its name; without a name the only one, or `main`.
    ///
    /// Raises ArgumentError if there is none.
    #[pyo3(signature = (name=None))]
    fn function(&self, name: Option<&str>) -> PyResult<PythonFunction> {
        Ok(self.find_function(name)?)
    }

    /// The program as the bytes of an archive, which `load` and the command read.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let written = py.detach(|| spirula_program::archive::write_archive(&self.loaded.program));
        let bytes = written.map_err(|error| PythonFailure::argument(error.to_string()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Calls the only function, or `main`. See `Function`.
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        self.find_function(None)?.__call__(py, args, kwargs)
    }

    fn __repr__(&self) -> String {
        format!("<spirula.Program {}>", self.functions().join(", "))
    }
}

/// A function of a program.
///
/// It takes its arguments by position or by name, of the dtype and shape of the parameter. They are
/// arrays on its device, numpy.ndarray, numbers, or anything that numpy.asarray takes. It returns a
/// tuple of arrays on the device.
///
/// Raises ArgumentError for arguments that do not fit, ProgramError for a failed assertion of the program, and DeviceError
/// if the device fails.
#[pyclass(name = "Function", module = "spirula", frozen)]
pub struct PythonFunction {
    loaded: Arc<LoadedProgram>,
    signature: Arc<EntrySignature>,
}

#[pymethods]
impl PythonFunction {
    /// The name.
    #[getter]
    fn name(&self) -> &str {
        &self.signature.name
    }

    /// Names, dtypes and shapes of the parameters.
    #[getter]
    fn parameters(&self) -> Vec<PythonParameter> {
        let parameters = self.signature.parameters.iter();
        parameters.map(PythonParameter::new).collect()
    }

    /// Dtypes and shapes of the results.
    #[getter]
    fn results(&self) -> Vec<PythonParameter> {
        let results = self.signature.results.iter();
        results.map(PythonParameter::new).collect()
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let given = bind_arguments(&self.loaded, &self.signature, args, kwargs)?;
        let outcome = py.detach(|| {
            let called = call_entry(&self.loaded, &self.signature, &given);
            drop::<Vec<GivenValue>>(given);
            called
        });
        make_results(py, &self.loaded, &self.signature, outcome)
    }

    fn __repr__(&self) -> String {
        let format = |values: &[crate::signature::ValueSignature]| {
            let types = values.iter().map(|value| value.format_type());
            types.collect::<Vec<_>>().join(", ")
        };
        let (parameters, results) = (&self.signature.parameters, &self.signature.results);
        let (takes, returns) = (format(parameters), format(results));
        format!(
            "<spirula.Function {}({takes}) -> ({returns})>",
            self.signature.name
        )
    }
}
