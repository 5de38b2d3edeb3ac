//! Foreign calls: custom calls whose target is a function that does not belong to the program.
//!
//! Operands and results have static shapes. Complex numbers are pairs in one tensor, and tensors with a layout are
//! transposed. A token is an array without elements.

use super::assertion;
use super::element::TensorElement;
use super::entry::{interleave_components, split_components, token_shape};
use super::error::TranslateResult;
use super::translator::{StablehloTranslator, TranslatedValue};
use crate::dialect::records::ForeignCallAttributes;
use crate::mlir::{
    AttributeKind, LocationKind, MlirAttr, MlirLoc, MlirModule, MlirOp, MlirTypeKind,
};
use spirula_program::{ForeignArrayType, ForeignAttribute, ForeignSignature};
use spirula_tensor::ir::{DenseTensorType, DimExtent, ForeignCall, TensorShape, TensorValue};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The custom calls that become foreign calls, among those that the translation does not know itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ForeignTargets {
    /// None: they are not supported. A callback to Python within control flow fails where it is reached.
    None,
    /// All. A program needs the functions when it runs.
    #[default]
    Any,
    /// Those of these names.
    Named(Arc<NamedTargets>),
}

/// Functions that a program may call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedTargets {
    /// Their names.
    pub names: BTreeSet<String>,
    /// Whether those that are routines of LAPACK do the work of the translation's own. A library of the processor is several
    /// times as fast as loops of tensor operations.
    pub replace_routines: bool,
}

impl ForeignTargets {
    fn contains(&self, target: &str) -> bool {
        match self {
            ForeignTargets::None => false,
            ForeignTargets::Any => true,
            ForeignTargets::Named(named) => named.names.contains(target),
        }
    }

    /// Whether a function does the work of a routine that the translation has, too.
    pub(super) fn replaces_routine(&self, target: &str) -> bool {
        match self {
            ForeignTargets::None | ForeignTargets::Any => false,
            ForeignTargets::Named(named) => named.replace_routines && named.names.contains(target),
        }
    }
}

/// The name of a token's type.
const TOKEN: &str = "token";

/// The attribute with the text that calls of older conventions have.
const OPAQUE: &str = "opaque";

/// The version of the convention with typed attributes.
const TYPED: u32 = 4;

/// A `custom_call` with a target that is no operation of the translation's own.
pub(super) fn translate_foreign_call(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    target: &str,
) -> TranslateResult<()> {
    if !t.foreign.contains(target) {
        if assertion::is_callback(target) {
            return assertion::translate_callback(t, op, target);
        }
        let what = format!("custom_call @{target}");
        return Err(t.unsupported_error(op, what));
    }
    let attributes: ForeignCallAttributes = t.read_attributes(op)?;
    let (mut operands, mut operand_types) = (Vec::new(), Vec::new());
    for (at, value) in t.module.operands(op).iter().enumerate() {
        let item = t.resolve_value(op, *value)?;
        let layout = read_layout(t.module, attributes.operand_layouts, at);
        let (value, ty) = pass_operand(t, op, item, layout)?;
        operands.push(value);
        operand_types.push(ty);
    }
    let results = (0..t.module.results(op).len()).map(|at| {
        let layout = read_layout(t.module, attributes.result_layouts, at);
        ForeignTensor::of_result(t, op, at, layout)
    });
    let results = results.collect::<TranslateResult<Vec<ForeignTensor>>>()?;
    let signature = ForeignSignature {
        target: target.to_owned(),
        attributes: read_parameters(t, op, &attributes)?,
        operands: operand_types,
        results: results.iter().map(ForeignTensor::to_foreign).collect(),
        has_effect: attributes.has_side_effect.unwrap_or(false),
        aliases: read_aliases(t.module, attributes.output_operand_aliases),
        device: t.shards.current_device() as u32,
        convention: match attributes.typed {
            Some(_) => TYPED,
            None => attributes.api_version.map_or(1, |version| version as u32),
        },
        origin: describe_location(t.module, t.module.location(op)),
    };
    let aliases = signature.check_aliases();
    t.ensure_holds(op, aliases.is_ok(), "has aliases of other types")?;
    let call = ForeignCall {
        signature,
        operands,
    };
    let types = results.iter().map(ForeignTensor::passed_type).collect();
    let values = emit_call(t, call, types);
    let pairs = results.iter().zip(values);
    let items = pairs.map(|(tensor, value)| tensor.bind_value(t, value));
    let items = items.collect::<TranslateResult<_>>()?;
    t.bind_items(op, items)
}

/// Adds the call. A shard that does not take part in a loop or branch makes no call.
fn emit_call(
    t: &mut StablehloTranslator<'_>,
    call: ForeignCall,
    types: Vec<DenseTensorType>,
) -> Vec<TensorValue> {
    let active = t.shards.active.clone().zip(t.shards.current);
    let Some((active, shard)) = active else {
        return t.builder.add_foreign(call, types);
    };
    let _ = t.builder.begin_block(&[]);
    let values = t.builder.add_foreign(call, types.clone());
    let then = t.builder.end_block(&values);
    let _ = t.builder.begin_block(&[]);
    let zeros = types.iter().map(|ty| {
        let zero = spirula_program::ScalarLiteral::new(ty.element, 0);
        t.builder.add_splat(zero, &ty.shape)
    });
    let zeros: Vec<TensorValue> = zeros.collect();
    let otherwise = t.builder.end_block(&zeros);
    t.builder.add_if(active[shard], then, otherwise)
}

/// A tensor as a foreign call has it. A token has no element type.
struct ForeignTensor {
    element: Option<TensorElement>,
    sizes: Vec<u64>,
    /// The dimensions from the slowest to the fastest; empty for their own order.
    layout: Vec<usize>,
}

impl ForeignTensor {
    /// The type of a result.
    fn of_result(
        t: &StablehloTranslator<'_>,
        op: MlirOp,
        at: usize,
        layout: Vec<usize>,
    ) -> TranslateResult<ForeignTensor> {
        let types = t.module.results(op).map(|value| t.module.type_of(value));
        let is_token = types.skip(at).take(1).any(|ty| {
            let kind = t.module.types.kind(ty);
            matches!(kind, MlirTypeKind::Dialect { .. })
        });
        if is_token {
            return Ok(ForeignTensor::token());
        }
        let (element, shape) = t.result_type(op, at)?;
        let sizes = shape.iter().filter_map(|dim| dim.as_static()).collect();
        ForeignTensor::new(t, op, element, sizes, layout)
    }

    fn new(
        t: &StablehloTranslator<'_>,
        op: MlirOp,
        element: TensorElement,
        sizes: Vec<u64>,
        layout: Vec<usize>,
    ) -> TranslateResult<ForeignTensor> {
        let mut sorted = layout.clone();
        sorted.sort_unstable();
        let is_layout = layout.is_empty() || sorted.into_iter().eq(0..sizes.len());
        t.ensure_holds(op, is_layout, "has a layout of other dimensions")?;
        Ok(ForeignTensor {
            element: Some(element),
            layout,
            sizes,
        })
    }

    fn token() -> ForeignTensor {
        ForeignTensor {
            element: None,
            sizes: Vec::new(),
            layout: Vec::new(),
        }
    }

    /// The sizes in the order of the layout.
    fn stored_sizes(&self) -> TensorShape {
        let stored = |at: usize| {
            self.layout
                .get(at)
                .map_or(self.sizes[at], |d| self.sizes[*d])
        };
        let sizes = (0..self.sizes.len()).map(|at| DimExtent::Static(stored(at)));
        sizes.collect()
    }

    /// The type of the tensor that is passed.
    fn passed_type(&self) -> DenseTensorType {
        let Some(element) = self.element else {
            return DenseTensorType {
                element: TensorElement::Bool.storage_type(),
                shape: token_shape(),
            };
        };
        let mut shape = self.stored_sizes();
        if element.component_count() == 2 {
            shape.push(DimExtent::Static(2));
        }
        DenseTensorType {
            element: element.storage_type(),
            shape,
        }
    }

    fn to_foreign(&self) -> ForeignArrayType {
        let passed = self.passed_type();
        let element = self.element.map(|element| element.stored_element());
        ForeignArrayType {
            element: element.map_or_else(|| TOKEN.to_owned(), |element| element.to_string()),
            shape: self.sizes.clone(),
            layout: self.layout.clone(),
            bytes: passed.element_count().unwrap_or(0) * passed.element.size(),
        }
    }

    /// The result of the module for a tensor that a call returns.
    fn bind_value(
        &self,
        t: &mut StablehloTranslator<'_>,
        value: TensorValue,
    ) -> TranslateResult<TranslatedValue> {
        let Some(element) = self.element else {
            return Ok(TranslatedValue::Token);
        };
        let stored = split_components(t, element, value, &self.stored_sizes())?;
        let tensor = if self.layout.is_empty() {
            stored
        } else {
            let shape = self.sizes.iter().map(|size| DimExtent::Static(*size));
            let layout = self.layout.clone();
            t.gather_elements(&stored, &shape.collect(), |_, point| {
                layout.iter().map(|at| point[*at]).collect()
            })?
        };
        Ok(TranslatedValue::Tensor(tensor))
    }
}

/// An operand as a call takes it, with its type.
fn pass_operand(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    item: TranslatedValue,
    layout: Vec<usize>,
) -> TranslateResult<(TensorValue, ForeignArrayType)> {
    let tensor = match item {
        TranslatedValue::Tensor(tensor) => tensor,
        TranslatedValue::Token => {
            let zeros = t.emit_zeros(TensorElement::Bool, &token_shape());
            let ty = ForeignTensor::token().to_foreign();
            return Ok((zeros.first_component(), ty));
        }
        TranslatedValue::Tuple(_) => {
            return Err(t.unsupported_error(op, "custom_call of a tuple"));
        }
    };
    let sizes = t.static_sizes(op, &tensor)?;
    let ty = ForeignTensor::new(t, op, tensor.element, sizes, layout)?;
    let stored = if ty.layout.is_empty() {
        tensor
    } else {
        let layout = ty.layout.clone();
        t.gather_elements(&tensor, &ty.stored_sizes(), |_, point| {
            let at = |dimension| layout.iter().position(|d| *d == dimension);
            let dimensions = 0..layout.len();
            dimensions
                .filter_map(|d| at(d).map(|at| point[at]))
                .collect()
        })?
    };
    Ok((interleave_components(t, &stored)?, ty.to_foreign()))
}

/// The dimensions of an operand or result from the slowest to the fastest; empty where that is their order.
fn read_layout(module: &MlirModule, layouts: Option<MlirAttr>, at: usize) -> Vec<usize> {
    let Some(AttributeKind::Array(layouts)) = layouts.map(|attr| module.attributes.kind(attr))
    else {
        return Vec::new();
    };
    let layout = layouts.get(at).and_then(|attr| module.as_integers(*attr));
    let numbers = layout.unwrap_or_default().into_iter().rev();
    let layout: Vec<usize> = numbers
        .map(|d| usize::try_from(d).unwrap_or(usize::MAX))
        .collect();
    if layout.iter().copied().eq(0..layout.len()) {
        return Vec::new();
    }
    layout
}

/// Operands whose elements a result begins with.
fn read_aliases(module: &MlirModule, aliases: Option<MlirAttr>) -> Vec<(usize, usize)> {
    let Some(AttributeKind::Array(aliases)) = aliases.map(|attr| module.attributes.kind(attr))
    else {
        return Vec::new();
    };
    let read = |attr: &MlirAttr| {
        let operand = module.find_field(*attr, "operand_index")?;
        let operand = usize::try_from(module.as_integer(operand)?).ok()?;
        let result = module.field_integers(*attr, "output_tuple_indices");
        let result = result.first().copied().unwrap_or(0);
        Some((operand, usize::try_from(result).ok()?))
    };
    aliases.iter().filter_map(read).collect()
}

/// The values that the call passes besides its operands.
fn read_parameters(
    t: &StablehloTranslator<'_>,
    op: MlirOp,
    attributes: &ForeignCallAttributes,
) -> TranslateResult<Vec<(String, ForeignAttribute)>> {
    let Some(given) = attributes.typed.or(attributes.backend_config) else {
        return Ok(Vec::new());
    };
    let value = read_parameter(t.module, given);
    match value.ok_or_else(|| t.unsupported_error(op, "form of attributes of a custom_call"))? {
        ForeignAttribute::Dictionary(named) => Ok(named),
        other => Ok(vec![(OPAQUE.to_owned(), other)]),
    }
}

fn read_parameter(module: &MlirModule, attr: MlirAttr) -> Option<ForeignAttribute> {
    let name = |ty| Some(TensorElement::from_type(module, ty)?.to_string());
    Some(match module.attributes.kind(attr) {
        AttributeKind::Unit => ForeignAttribute::Dictionary(Vec::new()),
        AttributeKind::Integer { value, ty } => {
            let width = width_of(module, *ty)?;
            ForeignAttribute::Scalar(name(*ty)?, value.to_le_bytes()[..width].to_vec())
        }
        AttributeKind::Float { bits, ty } => {
            let width = width_of(module, *ty)?;
            ForeignAttribute::Scalar(name(*ty)?, bits.to_le_bytes()[..width].to_vec())
        }
        AttributeKind::String(text) => ForeignAttribute::Text(module.symbol_text(*text).to_owned()),
        AttributeKind::DenseArray { element, data } => {
            ForeignAttribute::Array(name(*element)?, data.to_vec())
        }
        AttributeKind::Elements(_) | AttributeKind::Resource { .. } => {
            let elements = module.as_elements(attr)?;
            let count = usize::try_from(module.types.element_count(elements.ty)?).ok()?;
            let data = if elements.splat {
                elements.data.repeat(count)
            } else {
                elements.data.to_vec()
            };
            ForeignAttribute::Array(name(module.types.element_type(elements.ty))?, data)
        }
        AttributeKind::Dictionary(named) => {
            let read = |(name, attr): &(crate::mlir::MlirSymbol, MlirAttr)| {
                let name = module.symbol_text(*name).to_owned();
                Some((name, read_parameter(module, *attr)?))
            };
            ForeignAttribute::Dictionary(named.iter().map(read).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

/// Bytes of an element of a type.
fn width_of(module: &MlirModule, ty: crate::mlir::MlirType) -> Option<usize> {
    let element = TensorElement::from_type(module, ty)?;
    Some(element.storage_type().size() as usize * element.component_count())
}

/// The place that the source of a module names, as text; empty if there is none.
fn describe_location(module: &MlirModule, location: MlirLoc) -> String {
    let mut location = location;
    loop {
        location = match module.locations.kind(location) {
            LocationKind::File {
                file,
                start: (line, column),
                ..
            } => return format!("{}:{line}:{column}", module.symbol_text(*file)),
            LocationKind::Name { child, .. } => *child,
            LocationKind::CallSite { callee, .. } => *callee,
            LocationKind::Fused { parts, .. } if !parts.is_empty() => parts[0],
            LocationKind::Fused { .. } | LocationKind::Unknown => return String::new(),
        };
    }
}
