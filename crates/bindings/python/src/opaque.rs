//! Values without a form outside of their program, such as records of Futhark.

use crate::open_device::{LoadedProgram, ReleasedObject};
use pyo3::prelude::*;
use spirula_program::ResidentValue;
use std::sync::Arc;

/// The scalars and arrays of a value, which are released with its last owner.
pub struct OpaqueParts {
    program: Arc<LoadedProgram>,
    pub type_name: String,
    pub values: Vec<ResidentValue>,
}

impl OpaqueParts {
    /// The parts of a value of a program.
    pub fn new(
        program: &Arc<LoadedProgram>,
        type_name: &str,
        values: Vec<ResidentValue>,
    ) -> OpaqueParts {
        OpaqueParts {
            program: program.clone(),
            type_name: type_name.to_owned(),
            values,
        }
    }

    /// Whether the value belongs to a program.
    pub fn is_of(&self, program: &Arc<LoadedProgram>) -> bool {
        Arc::ptr_eq(&self.program, program)
    }
}

impl Drop for OpaqueParts {
    fn drop(&mut self) {
        for value in self.values.drain(..) {
            self.program.device.release(ReleasedObject::Value(value));
        }
    }
}

/// A value that only functions of the same program take: a record, a tuple, or a value of an abstract type.
#[pyclass(name = "Opaque", module = "spirula", frozen)]
pub struct PythonOpaque {
    pub content: Arc<OpaqueParts>,
}

#[pymethods]
impl PythonOpaque {
    /// The name of its type in the program.
    #[getter]
    fn type_name(&self) -> &str {
        &self.content.type_name
    }

    fn __repr__(&self) -> String {
        format!("<spirula.Opaque {}>", self.content.type_name)
    }
}
