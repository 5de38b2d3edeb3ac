//! Conversion between arrays and the tensors of StableHLO. Programs store the types of StableHLO in fewer types.

use super::program;
use spirula_program::ProgramValue;
use spirula_runtime::data::{ElementArray, ElementType as Stored};
use spirula_stablehlo::mlir::MlirFloat;
use spirula_stablehlo::translate::{InterfaceTensor, TensorElement};

/// The array type of a tensor's elements: the type of the parts of complex numbers, or of the bits of formats that
/// arrays lack.
pub fn array_element(element: TensorElement) -> Option<Stored> {
    match element.component_element() {
        TensorElement::Float(MlirFloat::BF16) => Some(Stored::BF16),
        TensorElement::Float(float) if float.width() == 8 => Some(Stored::U8),
        TensorElement::Float(float) if float.width() < 8 => None,
        part => program::to_element_type(part.storage_type(), part.is_unsigned()),
    }
}

/// Converts an array to the value of a parameter.
///
/// # Errors
/// When the array has another type.
pub fn to_value(array: ElementArray, parameter: &InterfaceTensor) -> Result<ProgramValue, String> {
    let element = parameter.element;
    if array_element(element) != Some(array.element()) {
        let (takes, given) = (format_tensor_type(parameter), array.element());
        return Err(format!("it takes {takes}, {given} is given"));
    }
    Ok(ProgramValue {
        element: element.storage_type(),
        unsigned: element.is_unsigned(),
        shape: array.shape().iter().map(|size| *size as u64).collect(),
        bytes: array.into_bytes(),
    })
}

/// Converts a result to an array.
///
/// # Errors
/// When arrays lack its type.
pub fn to_array(value: &ProgramValue, result: &InterfaceTensor) -> Result<ElementArray, String> {
    let stored = array_element(result.element);
    let stored = stored.ok_or_else(|| format!("arrays have no {}", result.element))?;
    let shape = value.shape.iter().map(|size| *size as usize).collect();
    ElementArray::new(stored, shape, value.bytes.clone()).map_err(|e| e.to_string())
}

/// The type of a parameter or result, such as `?x3xcomplex<f32>`. An unknown size is a question mark.
pub fn format_tensor_type(interface: &InterfaceTensor) -> String {
    let sizes = interface.shape.iter().map(|size| match size {
        Some(size) => format!("{size}x"),
        None => "?x".to_owned(),
    });
    let element = interface.element;
    let stored = array_element(element).filter(|_| matches!(element, TensorElement::Int { .. }));
    let name = stored.map_or_else(|| element.to_string(), |e| e.name().to_owned());
    sizes.chain([name]).collect()
}
