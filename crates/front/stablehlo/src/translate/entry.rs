//! Translation of entry points, with their parameters and results.

use super::element::TensorElement;
use super::error::{TranslateError, TranslateResult};
use super::foreign::ForeignTargets;
use super::parameter_names::name_parameters;
use super::result_check::ResultCheck;
use super::scalar::{ElementValue, ScalarBuilder};
use super::translator::{DeclaredSizes, StablehloTranslator, TranslatedValue, TypedTensor};
use crate::expand::expand_operations;
use crate::memory_layout::{DimensionOrder, EntryLayouts};
use crate::mlir::{MlirModule, MlirOp, MlirTypeKind, MlirValue as Mlir};
use spirula_diagnostics::SourceLocation;
use spirula_tensor::ir::{
    DenseTensorType, DimExtent, StructuredOp, TensorFunction, TensorShape, TensorValue,
};

/// A tensor of the interface of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct InterfaceTensor {
    /// Type of the elements.
    pub element: TensorElement,
    /// Sizes; none is a dynamic one.
    pub shape: Vec<Option<u64>>,
}

/// A translated entry point.
#[derive(Clone, Debug)]
pub struct TranslatedEntry {
    /// The function.
    pub function: TensorFunction,
    /// Its parameters.
    pub parameters: Vec<InterfaceTensor>,
    /// Its results. Further results of the function, which only checks compare, follow them and are
    /// not listed.
    pub results: Vec<InterfaceTensor>,
    /// Checks of its results.
    pub checks: Vec<ResultCheck>,
}

/// Translates a function of a module and everything that it calls. A token among its parameters and results becomes a
/// tensor of truth values without elements.
///
/// # Errors
/// If the module is not well formed, or uses something that the translation does not know.
pub fn translate_entry(module: &MlirModule, entry: &str) -> TranslateResult<TranslatedEntry> {
    translate_for(module, entry, &TranslateOptions::default())
}

/// Treatment of a window of a scatter that is partly out of bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScatterWindows {
    /// The elements within bounds are written, as StableHLO defines it.
    #[default]
    Elements,
    /// Nothing is written, as XLA has it and JAX expects it.
    Whole,
}

/// Facts about arguments that are known when a function is translated.
#[derive(Clone, Debug, Default)]
pub struct KnownArguments {
    /// Shapes of the first arguments as they are given, those of complex numbers with a last dimension for both parts.
    /// Dimensions of unknown size have their sizes.
    pub shapes: Vec<Vec<u64>>,
    /// Values of the first arguments, where they are integers without dimensions: sizes that are
    /// computed of them are known.
    pub numbers: Vec<Option<i64>>,
}

/// Options of a translation.
#[derive(Clone, Debug)]
pub struct TranslateOptions {
    /// Facts about the arguments.
    pub known: KnownArguments,
    /// Treatment of windows of scatters that are partly out of bounds.
    pub windows: ScatterWindows,
    /// The custom calls that become foreign calls.
    pub foreign: ForeignTargets,
    /// Layouts of the interface in memory; by default rows.
    pub layouts: EntryLayouts,
}

impl Default for TranslateOptions {
    fn default() -> Self {
        TranslateOptions {
            known: KnownArguments::default(),
            windows: ScatterWindows::default(),
            foreign: ForeignTargets::None,
            layouts: EntryLayouts::default(),
        }
    }
}

/// The same with options.
///
/// # Errors
/// Those of [`translate_entry`]; also if a shape does not match its parameter.
pub fn translate_for(
    module: &MlirModule,
    entry: &str,
    options: &TranslateOptions,
) -> TranslateResult<TranslatedEntry> {
    let module = expand_operations(module);
    let module = module.as_ref();
    let function = module.find_function(entry);
    let function = function.ok_or_else(|| {
        TranslateError::new_invalid(
            SourceLocation::Unknown,
            format!("there is no function @{entry}"),
        )
    })?;
    let mut t = StablehloTranslator::new(module, entry);
    t.windows = options.windows;
    t.foreign.clone_from(&options.foreign);
    let body = t.region_block(function, 0)?;
    let mut parameters = Vec::new();
    let names = name_parameters(module, function);
    for ((at, argument), name) in module.arguments(body).enumerate().zip(&names) {
        let ty = module.type_of(argument);
        let is_token = matches!(module.types.kind(ty), MlirTypeKind::Dialect { .. });
        parameters.push(if is_token {
            add_token(&mut t, name, argument)
        } else {
            add_parameter(&mut t, function, at, name, argument, options)?
        });
    }
    let results = t.translate_block(body)?;
    let mut interfaces = Vec::new();
    for (at, item) in results.into_iter().enumerate() {
        let mut tensor = match item {
            TranslatedValue::Tensor(tensor) => tensor,
            TranslatedValue::Token => t.emit_zeros(TensorElement::Bool, &token_shape()),
            TranslatedValue::Tuple(_) => {
                return Err(t.unsupported_error(function, "result that is a tuple"));
            }
        };
        if let Some(order) = find_order(&options.layouts.results, at) {
            tensor = store_in_order(&mut t, &tensor, order)?;
        }
        interfaces.push(describe_interface(&t, &tensor));
        add_result(&mut t, function, &tensor)?;
    }
    let checks = results_of_checks(&mut t, function, interfaces.len())?;
    Ok(TranslatedEntry {
        function: t.builder.finish_function(),
        parameters,
        results: interfaces,
        checks,
    })
}

fn describe_interface(t: &StablehloTranslator<'_>, tensor: &TypedTensor) -> InterfaceTensor {
    InterfaceTensor {
        element: tensor.element,
        shape: t
            .tensor_shape(tensor)
            .iter()
            .map(|dim| dim.as_static())
            .collect(),
    }
}

/// The shape of the tensor that a token becomes: no elements, as JAX has it.
pub(super) fn token_shape() -> TensorShape {
    [DimExtent::Static(0)].into_iter().collect()
}

/// Adds the parameter of a token.
fn add_token(t: &mut StablehloTranslator<'_>, name: &str, argument: Mlir) -> InterfaceTensor {
    let ty = DenseTensorType {
        element: TensorElement::Bool.storage_type(),
        shape: token_shape(),
    };
    t.builder.add_parameter(name, ty, false);
    t.bind_value(argument, TranslatedValue::Token);
    InterfaceTensor {
        element: TensorElement::Bool,
        shape: vec![Some(0)],
    }
}

/// Sizes with a last dimension for both parts of a complex number.
fn interleave_shape(shape: &TensorShape) -> TensorShape {
    let mut shape = shape.clone();
    shape.push(DimExtent::Static(2));
    shape
}

/// The order of an argument or result whose dimensions do not lie in rows.
fn find_order(orders: &[Option<DimensionOrder>], at: usize) -> Option<&DimensionOrder> {
    orders.get(at).and_then(Option::as_ref)
}

/// A tensor whose rows are those of another with this order of dimensions.
fn store_in_order(
    t: &mut StablehloTranslator<'_>,
    tensor: &TypedTensor,
    order: &DimensionOrder,
) -> TranslateResult<TypedTensor> {
    let shape = order.permute(&t.tensor_shape(tensor));
    let shape = shape.into_iter().collect();
    t.gather_elements(tensor, &shape, |_, point| order.restore(point))
}

/// Adds the parameter of a position and a name.
fn add_parameter(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    at: usize,
    name: &str,
    argument: Mlir,
    options: &TranslateOptions,
) -> TranslateResult<InterfaceTensor> {
    let known = &options.known;
    let order = find_order(&options.layouts.parameters, at);
    let (element, mut declared) = t.tensor_type(op, t.module.type_of(argument))?;
    if let Some(order) = order {
        declared = order.permute(&declared).into_iter().collect();
    }
    let rank = declared.len();
    if element.component_count() == 2 {
        declared.push(Some(2));
    }
    let given = known.shapes.get(at).map(Vec::as_slice);
    let outside = parameter_shape(t, &declared, given);
    let outside = outside.ok_or_else(|| {
        let given: DeclaredSizes = given.into_iter().flatten().copied().map(Some).collect();
        let (given, takes) = (format_sizes(&given), format_sizes(&declared));
        t.invalid_error(
            op,
            format!("argument {at} has sizes {given}, it takes {takes}"),
        )
    })?;
    let shape: TensorShape = outside[..rank].iter().cloned().collect();
    let ty = DenseTensorType {
        element: element.storage_type(),
        shape: outside,
    };
    let value = t.builder.add_parameter(name, ty, element.is_unsigned());
    let mut tensor = split_components(t, element, value, &shape)?;
    let interface = describe_interface(t, &tensor);
    if let Some(order) = order {
        let shape: TensorShape = order.restore(&shape).into_iter().collect();
        tensor = t.gather_elements(&tensor, &shape, |_, point| order.permute(point))?;
    }
    t.track_parameter(&mut tensor, known.numbers.get(at).copied().flatten());
    t.bind_value(argument, TranslatedValue::Tensor(tensor));
    Ok(interface)
}

/// The tensor of a value in which parts of complex numbers are interleaved.
pub(super) fn split_components(
    t: &mut StablehloTranslator<'_>,
    element: TensorElement,
    value: TensorValue,
    shape: &TensorShape,
) -> TranslateResult<TypedTensor> {
    let parts = element.component_count() as i64;
    if parts == 1 {
        return Ok(TypedTensor::new(element, value));
    }
    let whole = TypedTensor::new(element.component_element(), value);
    let mut halves = Vec::new();
    for part in 0..parts {
        let half = t.gather_elements(&whole, shape, |c, point| {
            let mut position = point.to_vec();
            position.push(c.body.intern_i64(part));
            position
        })?;
        halves.push(half.first_component());
    }
    Ok(TypedTensor::from_components(element, &halves))
}

/// Sizes as types write them, `[2x?]`.
fn format_sizes(declared: &DeclaredSizes) -> String {
    let text = declared.iter().map(|size| match size {
        Some(size) => size.to_string(),
        None => "?".to_owned(),
    });
    format!("[{}]", text.collect::<Vec<_>>().join("x"))
}

/// The shape of a parameter: given sizes, or values that are known with the argument.
fn parameter_shape(
    t: &mut StablehloTranslator<'_>,
    declared: &DeclaredSizes,
    given: Option<&[u64]>,
) -> Option<TensorShape> {
    let Some(given) = given else {
        let size = |size: &Option<u64>| match size {
            Some(size) => DimExtent::Static(*size),
            None => DimExtent::Value(t.builder.add_parameter_size()),
        };
        return Some(declared.iter().map(size).collect());
    };
    let mut pairs = declared.iter().zip(given);
    let fits = pairs.all(|(declared, given)| declared.is_none_or(|size| size == *given));
    let whole = fits && declared.len() == given.len();
    whole.then(|| given.iter().map(|size| DimExtent::Static(*size)).collect())
}

fn add_result(
    t: &mut StablehloTranslator<'_>,
    _op: MlirOp,
    tensor: &TypedTensor,
) -> TranslateResult<()> {
    let value = interleave_components(t, tensor)?;
    t.builder.add_result(value, tensor.element.is_unsigned());
    Ok(())
}

/// A tensor as one value: parts of complex numbers interleaved.
pub(super) fn interleave_components(
    t: &mut StablehloTranslator<'_>,
    tensor: &TypedTensor,
) -> TranslateResult<TensorValue> {
    let [re, im] = tensor.parts[..] else {
        return Ok(tensor.first_component());
    };
    let shape = interleave_shape(&t.tensor_shape(tensor));
    let part = tensor.element.component_element();
    let (re, im) = (TypedTensor::new(part, re), TypedTensor::new(part, im));
    let joined = t.map_points(&shape, |t, s: &mut StructuredOp, point| {
        let (side, position) = (point[point.len() - 1], &point[..point.len() - 1]);
        let (re, im) = (
            t.read_element(s, &re, position),
            t.read_element(s, &im, position),
        );
        let mut c = ScalarBuilder::new(&mut s.body);
        let zero = c.body.intern_i64(0);
        let is_real = c.eq(side, zero);
        Ok(ElementValue::new(
            part,
            c.select(is_real, re.node(), im.node()),
        ))
    })?;
    Ok(joined.first_component())
}

/// Adds the tensors that checks compare as further results.
fn results_of_checks(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    first: usize,
) -> TranslateResult<Vec<ResultCheck>> {
    let mut next = first;
    let mut checks = Vec::new();
    for (mut check, found, expected) in std::mem::take(&mut t.checks) {
        for (tensor, at) in [(&found, &mut check.found), (&expected, &mut check.expected)] {
            *at = next;
            next += 1;
            add_result(t, op, tensor)?;
        }
        checks.push(check);
    }
    Ok(checks)
}
