//! Regions that compute scalars: combiners of reductions and scatters, comparators of sorts.

use super::bitcast;
use super::constant::scalar_bits;
use super::element::TensorElement;
use super::error::TranslateResult;
use super::scalar::{ElementValue, ElementwiseCall, ScalarBuilder, find_elementwise_function};
use super::translator::StablehloTranslator;
use crate::dialect::records::{CallAttributes, CompositeAttributes};
use crate::dialect::{AttributeRecord, MlirOpcode, SymbolName};
use crate::mlir::{MlirBlock, MlirFloat, MlirModule, MlirOp, MlirValue as Mlir};
use spirula_tensor::ir::{NodeGraph, ScalarCombiner};

/// Translates a region on scalars. Floats of the format `wide` are `f32` within: those of 16 bits
/// and less are reduced without intermediate rounding.
pub(super) fn translate_scalar_region(
    t: &mut StablehloTranslator<'_>,
    body: &mut NodeGraph,
    block: MlirBlock,
    arguments: Vec<ElementValue>,
    wide: Option<MlirFloat>,
) -> TranslateResult<Vec<ElementValue>> {
    t.scalars.begin_body();
    scalar_block(t, body, block, arguments, wide, 0)
}

/// Deepest nesting of calls and branches.
const DEPTH: usize = 50;

fn scalar_block(
    t: &mut StablehloTranslator<'_>,
    body: &mut NodeGraph,
    block: MlirBlock,
    arguments: Vec<ElementValue>,
    wide: Option<MlirFloat>,
    depth: usize,
) -> TranslateResult<Vec<ElementValue>> {
    let module = t.module;
    let ops = module.ops(block);
    let Some(last) = ops.last().copied() else {
        return Err(super::TranslateError::new_invalid(
            spirula_diagnostics::SourceLocation::Unknown,
            "a region is empty",
        ));
    };
    let parameters = module.arguments(block);
    let fits = parameters.len() == arguments.len();
    t.ensure_holds(last, fits && depth < DEPTH, "ends a region of another type")?;
    for (parameter, argument) in parameters.zip(arguments) {
        let element = scalar_type(t, last, parameter, wide)?;
        t.ensure_holds(
            last,
            element == argument.element,
            "ends a region of another type",
        )?;
        t.scalars.bind_value(parameter, argument);
    }
    for op in ops {
        if module.is_return(*op) {
            let operands = module.operands(*op).iter();
            return operands
                .map(|value| resolve_scalar(t, body, *op, *value, wide))
                .collect();
        }
        scalar_op(t, body, *op, wide, depth)?;
    }
    Err(t.invalid_error(last, "a region does not end in a return"))
}

/// The element type of a value of rank 0.
fn scalar_type(
    t: &StablehloTranslator<'_>,
    op: MlirOp,
    value: Mlir,
    wide: Option<MlirFloat>,
) -> TranslateResult<TensorElement> {
    let (element, shape) = t.tensor_type(op, t.module.type_of(value))?;
    if !shape.is_empty() {
        return Err(t.unsupported_error(op, "region that computes with tensors"));
    }
    Ok(promote_element(element, wide))
}

/// The element type that is computed with.
pub(super) fn promote_element(element: TensorElement, wide: Option<MlirFloat>) -> TensorElement {
    match (element, wide) {
        (TensorElement::Float(float), Some(wide)) if float == wide => {
            TensorElement::Float(MlirFloat::F32)
        }
        _ => element,
    }
}

/// The scalar of a value. Constants may be defined outside of the region.
fn resolve_scalar(
    t: &mut StablehloTranslator<'_>,
    body: &mut NodeGraph,
    op: MlirOp,
    value: Mlir,
    wide: Option<MlirFloat>,
) -> TranslateResult<ElementValue> {
    if let Some(val) = t.scalars.get(value) {
        return Ok(val.clone());
    }
    match find_constant(t.module, value) {
        Some(constant) => constant_val(t, body, constant, wide),
        None => Err(t.unsupported_error(op, "region that uses a value from outside")),
    }
}

/// The constant that a scalar is, perhaps behind operations that do not change it.
fn find_constant(module: &MlirModule, mut value: Mlir) -> Option<MlirOp> {
    loop {
        let op = module.defining_op(value)?;
        match module.opcode(op)? {
            MlirOpcode::Constant => return Some(op),
            opcode if IDENTITIES.contains(&opcode) => value = *module.operands(op).first()?,
            _ => return None,
        }
    }
}

fn constant_val(
    t: &mut StablehloTranslator<'_>,
    body: &mut NodeGraph,
    op: MlirOp,
    wide: Option<MlirFloat>,
) -> TranslateResult<ElementValue> {
    let (given, shape) = t.result_type(op, 0)?;
    t.ensure_holds(op, shape.is_empty(), "is not a scalar")?;
    let element = t.declared_element(op, 0)?;
    let literals = scalar_bits(t, op, element.stored_element());
    let literals = literals.ok_or_else(|| t.invalid_error(op, "a constant has no elements"))?;
    let mut val = ElementValue {
        element,
        nodes: literals
            .into_iter()
            .map(|l| body.intern_literal(l))
            .collect(),
    };
    if given != element {
        val = t.real_scalar(op, body, val)?;
    }
    let to = promote_element(element, wide);
    let converted = ScalarBuilder::new(body).convert_value(&val, to);
    converted.ok_or_else(|| t.unsupported_error(op, format!("constant of {element}")))
}

fn scalar_op(
    t: &mut StablehloTranslator<'_>,
    body: &mut NodeGraph,
    op: MlirOp,
    wide: Option<MlirFloat>,
    depth: usize,
) -> TranslateResult<()> {
    let module = t.module;
    let opcode = module.opcode(op);
    let results: Vec<Mlir> = module.results(op).collect();
    if opcode == Some(MlirOpcode::Constant) {
        let val = constant_val(t, body, op, wide)?;
        if let Some(result) = results.first() {
            t.scalars.bind_value(*result, val);
        }
        return Ok(());
    }
    let operands = module.operands(op).iter();
    let operands: Vec<ElementValue> = operands
        .map(|value| resolve_scalar(t, body, op, *value, wide))
        .collect::<TranslateResult<_>>()?;
    let callee = match opcode {
        Some(MlirOpcode::FuncCall) => CallAttributes::read(module, op)
            .ok()
            .map(|call| call.callee),
        Some(MlirOpcode::Composite) => CompositeAttributes::read(module, op)
            .ok()
            .map(|composite| composite.decomposition),
        _ => None,
    };
    let values = if let Some(SymbolName(callee)) = callee {
        let function = module.find_function(callee);
        let function =
            function.ok_or_else(|| t.invalid_error(op, format!("no function @{callee}")))?;
        let block = t.region_block(function, 0)?;
        scalar_block(t, body, block, operands, wide, depth + 1)?
    } else if opcode == Some(MlirOpcode::BitcastConvert) {
        let to = t.result_element(op, 0)?;
        let recast = bitcast::bitcast_value(&mut ScalarBuilder::new(body), &operands, to);
        vec![recast.ok_or_else(|| t.unsupported_error(op, "bitcast_convert in a region"))?]
    } else if opcode.is_some_and(|opcode| IDENTITIES.contains(&opcode)) {
        operands.into_iter().take(1).collect()
    } else {
        vec![apply_scalar_function(t, body, op, &operands, wide)?]
    };
    t.ensure_holds(
        op,
        values.len() == results.len(),
        "has another number of results",
    )?;
    for (result, val) in results.into_iter().zip(values) {
        let element = scalar_type(t, op, result, wide)?;
        t.ensure_holds(op, element == val.element, "has a result of another type")?;
        t.scalars.bind_value(result, val);
    }
    Ok(())
}

/// Operations that return a scalar unchanged.
const IDENTITIES: &[MlirOpcode] = &[
    MlirOpcode::Reshape,
    MlirOpcode::BroadcastInDim,
    MlirOpcode::Transpose,
    MlirOpcode::Reverse,
    MlirOpcode::OptimizationBarrier,
    MlirOpcode::SdyShardingConstraint,
    MlirOpcode::UnrealizedConversionCast,
];

/// The result of an operation that a row of the table computes.
fn apply_scalar_function(
    t: &mut StablehloTranslator<'_>,
    body: &mut NodeGraph,
    op: MlirOp,
    operands: &[ElementValue],
    wide: Option<MlirFloat>,
) -> TranslateResult<ElementValue> {
    let name = t.module.op_name(op);
    let opcode = t.module.opcode(op);
    let Some(operation) = opcode.and_then(find_elementwise_function) else {
        return Err(t.unsupported_error(op, format!("{name} in a region")));
    };
    t.ensure_holds(
        op,
        operation.arity == operands.len(),
        "has too few or many operands",
    )?;
    let element = t.result_element(op, 0)?;
    let call = ElementwiseCall {
        module: t.module,
        op,
        result: promote_element(t.expressed_element(element), wide),
    };
    // Quantised scalars are computed as the numbers that they represent.
    let operands = operands.iter().cloned();
    let operands: Vec<ElementValue> = operands
        .map(|val| t.real_scalar(op, body, val))
        .collect::<TranslateResult<_>>()?;
    call.check_operands(t, &operands)?;
    let result = (operation.function)(&mut ScalarBuilder::new(body), &call, &operands);
    let unknown = || t.unsupported_error(op, format!("{name} of {}", operands[0].element));
    t.stored_scalar(op, body, result.ok_or_else(unknown)?, element)
}

/// The combiner of a region. Its arguments are the parts of the scalars of these types in order.
pub(super) fn build_combiner(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    block: MlirBlock,
    elements: &[TensorElement],
    wide: Option<MlirFloat>,
) -> TranslateResult<(ScalarCombiner, Vec<ElementValue>)> {
    let mut body = NodeGraph::default();
    let mut number = 0;
    let arguments = elements.iter().map(|element| ElementValue {
        element: *element,
        nodes: (0..element.component_count())
            .map(|_| {
                number += 1;
                body.intern_argument(number - 1, element.storage_type())
            })
            .collect(),
    });
    let arguments = arguments.collect();
    let results = translate_scalar_region(t, &mut body, block, arguments, wide)?;
    t.ensure_holds(op, !results.is_empty(), "has a region without results")?;
    let nodes = results.iter().flat_map(|val| val.nodes.clone()).collect();
    let combiner = ScalarCombiner {
        body,
        results: nodes,
    };
    Ok((combiner, results))
}
