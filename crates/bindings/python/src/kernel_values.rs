//! Parameters of kernels and shaders, and the values that they take.

use crate::array::{DeviceArray, PythonArray};
use crate::failure::PythonFailure;
use crate::host_array::{HostArray, MutableHostArray};
use crate::numpy_element::NumpyElement;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt};
use spirula_runtime::data::ElementType;
use spirula_runtime::type_names::{TypeNames, ValueElements};
use spirula_spirv::reflect::{
    BindingKind, EntryInterface, InterfaceBinding, InterfaceParam, ParamKind,
};
use std::sync::Arc;

/// Workgroup memory of a given number of bytes, as an argument of a kernel.
#[pyclass(name = "LocalMemory", module = "spirula", frozen, get_all)]
pub struct PythonLocalMemory {
    /// The number of bytes.
    nbytes: u64,
}

#[pymethods]
impl PythonLocalMemory {
    #[new]
    fn new(nbytes: u64) -> PythonLocalMemory {
        PythonLocalMemory { nbytes }
    }

    fn __repr__(&self) -> String {
        format!("spirula.LocalMemory({})", self.nbytes)
    }
}

/// A parameter of a kernel, or a resource of a shader.
#[derive(Clone, Debug)]
pub struct KernelParameter {
    pub name: Option<String>,
    pub form: ParameterForm,
    /// Set, binding and element of a descriptor.
    pub place: Option<(u32, u32, u32)>,
    /// Whether a shader declares that it does not write it.
    pub is_read_only: bool,
    /// The type in messages.
    type_name: String,
}

/// The form of a parameter.
#[derive(Clone, Copy, Debug)]
pub enum ParameterForm {
    /// A value: its elements where they have one type, and its bytes.
    Value(Option<ValueElements>, u64),
    /// A buffer, with the type of its elements where they have one.
    Buffer(Option<ElementType>),
    /// Workgroup memory.
    Local,
    /// An image, a sampler, or another object.
    Object,
}

/// The value of a parameter.
pub enum KernelValue {
    Host(MutableHostArray),
    Device(Arc<DeviceArray>),
    Bytes(Vec<u8>),
    Local(u64),
    /// An address that kernels of the device can access.
    Address(u64),
}

/// The parameters of a kernel, or the resources of a shader.
pub fn list_parameters(interface: &EntryInterface, types: &TypeNames<'_>) -> Vec<KernelParameter> {
    if interface.takes_arguments() {
        let params = interface.params.iter();
        return params.map(|param| describe_param(param, types)).collect();
    }
    let mut parameters = Vec::new();
    for binding in &interface.bindings {
        for index in 0..binding.count.max(1) {
            parameters.push(describe_binding(binding, index, types));
        }
    }
    parameters
}

fn describe_param(param: &InterfaceParam, types: &TypeNames<'_>) -> KernelParameter {
    KernelParameter {
        name: param.name.clone().filter(|name| !name.is_empty()),
        form: match param.kind {
            ParamKind::Value { size, .. } => ParameterForm::Value(types.param_value(param), size),
            ParamKind::Buffer { pointee, .. } => {
                ParameterForm::Buffer(types.find_buffer_element(pointee))
            }
            ParamKind::Workgroup { .. } => ParameterForm::Local,
            ParamKind::Opaque { .. } => ParameterForm::Object,
        },
        place: None,
        is_read_only: false,
        type_name: types.param_name(param),
    }
}

fn describe_binding(
    binding: &InterfaceBinding,
    index: u32,
    types: &TypeNames<'_>,
) -> KernelParameter {
    let (form, ty) = match binding.kind {
        BindingKind::Storage(ty) | BindingKind::Uniform(ty) => {
            (ParameterForm::Buffer(types.find_buffer_element(ty)), ty)
        }
        BindingKind::Opaque(ty) => (ParameterForm::Object, ty),
    };
    KernelParameter {
        name: binding.name.clone().filter(|name| !name.is_empty()),
        form,
        place: Some((binding.set, binding.binding, index)),
        is_read_only: binding.read_only || matches!(binding.kind, BindingKind::Uniform(_)),
        type_name: types.format_type(ty),
    }
}

impl KernelParameter {
    /// The parameter in messages.
    pub fn title(&self, number: usize) -> String {
        match &self.name {
            Some(name) => format!("argument {number} ({name})"),
            None => format!("argument {number}"),
        }
    }

    /// The value that an object of Python is.
    ///
    /// # Errors
    /// When it does not fit the parameter.
    pub fn bind_value(&self, number: usize, object: &Bound<'_, PyAny>) -> PyResult<KernelValue> {
        let refuse = |text: String| -> PyErr {
            PythonFailure::argument(format!("{}: {text}", self.title(number))).into()
        };
        match self.form {
            ParameterForm::Value(elements, size) => {
                let bytes = encode_value(object, elements, size, &self.type_name);
                bytes.map(KernelValue::Bytes).inspect_err(|error| {
                    // The note is advice only.
                    let _ = error.add_note(object.py(), self.title(number));
                })
            }
            ParameterForm::Local => match object.cast::<PythonLocalMemory>() {
                Ok(memory) => Ok(KernelValue::Local(memory.get().nbytes)),
                Err(_) => {
                    let text = "it takes workgroup memory: give spirula.LocalMemory(nbytes)";
                    Err(refuse(text.to_owned()))
                }
            },
            ParameterForm::Object => Err(refuse(format!(
                "it takes {}, and only buffers, values and workgroup memory are supported",
                self.type_name
            ))),
            ParameterForm::Buffer(_) if object.is_instance_of::<PyInt>() => {
                Ok(KernelValue::Address(object.extract()?))
            }
            ParameterForm::Buffer(element) => {
                let (value, found) = match object.cast::<PythonArray>() {
                    Ok(array) => {
                        let content = array.get().content.clone();
                        let found = content.element;
                        (KernelValue::Device(content), found)
                    }
                    Err(_) if !object.hasattr("dtype")? => {
                        let found = object.get_type().name()?;
                        return Err(refuse(format!("it takes an array, {found} is given")));
                    }
                    Err(_) => {
                        let array = MutableHostArray::from_object(object)?;
                        let found = array.element;
                        (KernelValue::Host(array), found)
                    }
                };
                match element.filter(|element| !is_stored_as(*element, found)) {
                    None => Ok(value),
                    Some(_) => Err(refuse(format!(
                        "it takes elements of {}, an array of {} is given",
                        self.type_name, found.dtype_name
                    ))),
                }
            }
        }
    }
}

/// Whether a buffer of an element type may hold an array. Bytes hold any; integers have no sign in modules.
fn is_stored_as(element: ElementType, found: &NumpyElement) -> bool {
    let is_float = found.dtype_name.contains("float") || found.dtype_name.contains("complex");
    let component = found.size() / found.components;
    element.size() == 1 || element.size() as u64 == component && element.is_float() == is_float
}

/// The type of NumPy for elements of a value.
fn to_numpy_element(element: ElementType) -> Option<&'static NumpyElement> {
    match element {
        ElementType::Bool => NumpyElement::from_name("i1"),
        other => {
            let name = other.name().replacen('u', "ui", 1);
            NumpyElement::from_name(&name)
        }
    }
}

/// The bytes of a value: of numbers, an array, or bytes as they are.
///
/// # Errors
/// When the object does not fit.
pub fn encode_value(
    object: &Bound<'_, PyAny>,
    elements: Option<ValueElements>,
    size: u64,
    type_name: &str,
) -> PyResult<Vec<u8>> {
    let refuse = |found: String| -> PyErr {
        let text = format!("a value of {type_name} ({size} bytes) is wanted, {found} is given");
        PythonFailure::argument(text).into()
    };
    if let Ok(bytes) = object.cast::<PyBytes>() {
        let bytes = bytes.as_bytes();
        return if bytes.len() as u64 == size {
            Ok(bytes.to_vec())
        } else {
            Err(refuse(format!("bytes of length {}", bytes.len())))
        };
    }
    let wanted = elements.and_then(|elements| to_numpy_element(elements.element));
    let is_typed = object.hasattr("dtype")?;
    let wanted = match wanted.filter(|wanted| wanted.unsigned && !is_typed) {
        // Integers have no sign in modules.
        Some(unsigned) if object.lt(0).unwrap_or(false) => {
            NumpyElement::from_scalar(unsigned.scalar, false)
        }
        _ => wanted,
    };
    let array = HostArray::from_object(object, wanted)?;
    let fits = elements.is_none_or(|elements| is_stored_as(elements.element, array.element));
    let mut bytes = array.bytes().to_vec();
    // A vector of three components has the size of one of four.
    if elements.is_some_and(|elements| elements.count == 3) && bytes.len() as u64 == size / 4 * 3 {
        bytes.resize(size as usize, 0);
    }
    if !fits || bytes.len() as u64 != size {
        let found = format!("{} of shape {:?}", array.element.dtype_name, array.shape);
        return Err(refuse(found));
    }
    Ok(bytes)
}
