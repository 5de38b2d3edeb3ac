//! Signatures of the entry points of programs: names, dtypes and shapes of parameters and results.

use crate::numpy_element::NumpyElement;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use spirula::TensorSignature;
use spirula_program::program::{EntryOpaque, EntrySize, EntryValueType, ProgramEntry};
use spirula_stablehlo::translate::InterfaceTensor;

/// The signature of an entry point.
pub struct EntrySignature {
    pub name: String,
    pub parameters: Vec<ValueSignature>,
    pub results: Vec<ValueSignature>,
}

/// A parameter or a result of an entry point.
#[derive(Clone, Debug)]
pub struct ValueSignature {
    pub name: String,
    pub form: ValueForm,
    /// The number of scalars and arrays that it consists of.
    pub part_count: usize,
    /// Whether a call may change the arrays of a parameter.
    pub is_consumed: bool,
}

/// The form of a parameter or result.
#[derive(Clone, Debug)]
pub enum ValueForm {
    /// A scalar or an array. Sizes that calls choose are unknown.
    Array(&'static NumpyElement, Vec<Option<u64>>),
    /// A value that only the entry points of its program take, with the name of its type.
    Opaque(String),
    /// Elements that NumPy lacks, with the name of their type.
    Unknown(String),
}

impl EntrySignature {
    /// The signature of an entry point. Tensor programs have types that their program stores as others.
    pub fn new(
        entry: &ProgramEntry,
        tensors: Option<&TensorSignature>,
        consumed: &[bool],
    ) -> EntrySignature {
        let parameters = entry.parameters.iter().enumerate().map(|(at, parameter)| {
            let tensor = tensors.and_then(|tensors| tensors.parameters.get(at));
            let (value, opaque) = (parameter.value.as_ref(), parameter.opaque.as_ref());
            let mut signature = ValueSignature::new(parameter.name.clone(), value, opaque, tensor);
            // Programs of tensors never change arguments.
            signature.is_consumed = tensor.is_none() && consumed.get(at).copied().unwrap_or(true);
            signature
        });
        let results = entry.results.iter().enumerate();
        let results = results.map(|(at, result)| {
            let tensor = tensors.and_then(|tensors| tensors.results.get(at));
            let (value, opaque) = (result.value.as_ref(), result.opaque.as_ref());
            ValueSignature::new(at.to_string(), value, opaque, tensor)
        });
        // Further results of tensor programs are those that only checks compare.
        let most = tensors.map_or(usize::MAX, |tensors| tensors.results.len());
        EntrySignature {
            name: entry.name.clone(),
            parameters: parameters.collect(),
            results: results.take(most).collect(),
        }
    }
}

impl ValueSignature {
    fn new(
        name: String,
        value: Option<&EntryValueType>,
        opaque: Option<&EntryOpaque>,
        tensor: Option<&InterfaceTensor>,
    ) -> ValueSignature {
        let form = match (value, opaque, tensor) {
            (_, _, Some(tensor)) => describe_tensor(tensor),
            (Some(value), _, None) => describe_value(value),
            (None, opaque, None) => {
                ValueForm::Opaque(opaque.map_or_else(String::new, |opaque| opaque.name.clone()))
            }
        };
        let part_count = match (value, opaque) {
            (Some(_), _) => 1,
            (None, opaque) => opaque.map_or(0, |opaque| opaque.parts.len()),
        };
        ValueSignature {
            name,
            form,
            part_count,
            is_consumed: false,
        }
    }

    /// The type in messages: `float32[3, ?]`.
    pub fn format_type(&self) -> String {
        match &self.form {
            ValueForm::Array(element, shape) => format_array_type(element, shape),
            ValueForm::Opaque(name) | ValueForm::Unknown(name) => name.clone(),
        }
    }
}

/// An array type in messages: `float32[3, ?]`.
pub fn format_array_type(element: &NumpyElement, shape: &[Option<u64>]) -> String {
    let sizes = shape.iter().map(|size| match size {
        Some(size) => size.to_string(),
        None => "?".to_owned(),
    });
    let sizes: Vec<String> = sizes.collect();
    format!("{}[{}]", element.dtype_name, sizes.join(", "))
}

fn describe_tensor(tensor: &InterfaceTensor) -> ValueForm {
    let name = tensor.element.stored_element().to_string();
    match NumpyElement::from_name(&name) {
        Some(element) => ValueForm::Array(element, tensor.shape.clone()),
        None => ValueForm::Unknown(name),
    }
}

fn describe_value(value: &EntryValueType) -> ValueForm {
    let sizes = value.shape.iter().flatten().map(|size| match size {
        EntrySize::Known(size) => Some(*size),
        EntrySize::Scalar(_) => None,
    });
    match NumpyElement::from_scalar(value.element, value.unsigned) {
        Some(element) => ValueForm::Array(element, sizes.collect()),
        None => ValueForm::Unknown(value.element.name().to_owned()),
    }
}

/// A parameter or a result of a function.
#[pyclass(name = "Parameter", module = "spirula", frozen)]
pub struct PythonParameter {
    signature: ValueSignature,
}

impl PythonParameter {
    /// The object of a signature.
    pub fn new(signature: &ValueSignature) -> PythonParameter {
        PythonParameter {
            signature: signature.clone(),
        }
    }
}

#[pymethods]
impl PythonParameter {
    /// The name of a parameter, or the position of a result as text.
    #[getter]
    fn name(&self) -> &str {
        &self.signature.name
    }

    /// The numpy.dtype of the elements; None for a value that only the same program takes.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match &self.signature.form {
            ValueForm::Array(element, _) => Ok(Some(element.to_dtype(py)?)),
            ValueForm::Opaque(_) | ValueForm::Unknown(_) => Ok(None),
        }
    }

    /// Sizes of the dimensions, with None for those that each call chooses. None for a value that only the same program takes.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        match &self.signature.form {
            ValueForm::Array(_, shape) => Ok(Some(PyTuple::new(py, shape)?)),
            ValueForm::Opaque(_) | ValueForm::Unknown(_) => Ok(None),
        }
    }

    fn __repr__(&self) -> String {
        let (name, ty) = (&self.signature.name, self.signature.format_type());
        format!("<spirula.Parameter {name}: {ty}>")
    }
}
