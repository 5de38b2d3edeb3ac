//! Calls, control flow, and operations on whole values.

use super::assertion;
use super::error::TranslateResult;
use super::expectation;
use super::foreign;
use super::lapack;
use super::mhlo_call;
use super::sort;
use super::translator::{StablehloTranslator, TranslatedValue, TypedTensor};
use super::window;
use crate::dialect::records::{
    CallAttributes, CompositeAttributes, CustomCallAttributes, GetTupleElementAttributes,
};
use crate::dialect::{AttributeRecord, MlirOpcode, SymbolName};
use crate::mlir::{MlirBlock, MlirOp};
use spirula_program::{ScalarLiteral, ScalarOp as Scalar};
use spirula_tensor::ir::{TensorBlock, TensorValue};

/// `func.call`
pub(super) fn translate_call(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let attributes = CallAttributes::read(t.module, op).ok();
    inline_callee(t, op, attributes.map(|attributes| attributes.callee))
}

/// `composite`: a call of its decomposition.
pub(super) fn translate_composite(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let attributes = CompositeAttributes::read(t.module, op).ok();
    inline_callee(t, op, attributes.map(|attributes| attributes.decomposition))
}

fn inline_callee(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    callee: Option<SymbolName<'_>>,
) -> TranslateResult<()> {
    let module = t.module;
    let SymbolName(callee) =
        callee.ok_or_else(|| t.invalid_error(op, "a call names no function"))?;
    let operands = module.operands(op).iter();
    let arguments = operands
        .map(|value| t.resolve_value(op, *value))
        .collect::<TranslateResult<_>>()?;
    let results = t.inline_call(op, callee, arguments)?;
    t.bind_items(op, results)
}

/// `custom_call`: assertions, checks, routines of LAPACK, markers that do not change values, and foreign functions.
pub(super) fn custom_call(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let attributes: CustomCallAttributes<'_> = t.read_attributes(op)?;
    let target = attributes.call_target_name.0;
    if let Some(name) = target.strip_prefix("check.") {
        return expectation::translate_check_call(t, op, name);
    }
    if let Some(name) = mhlo_call::find_operation(target) {
        return t.on_values(op, |t| mhlo_call::translate_mhlo_call(t, op, name));
    }
    match target {
        "stablehlo.dynamic_reduce_window" => window::dynamic_reduce_window(t, op),
        "ApproxTopK" => sort::approximate_top_k(t, op),
        "shape_assertion" => assertion::shape_assertion(t, op),
        "InspectSharding" | "LayoutConstraint" | "Sharding" | "annotate_device_placement" => {
            forward_operands(t, op)
        }
        "SPMDFullToShardShape" | "SPMDShardToFullShape" => convert_shape(t, op, target),
        // It keeps its operands from being removed as unused, and has no results.
        "dce_sink" => t.bind_items(op, Vec::new()),
        "tridiagonal_solve_perturbed_ffi" => lapack::translate_perturbed_solve(t, op),
        // Routines of LAPACK have operands; other functions may have their names.
        _ if t.module.operands(op).is_empty() || lapack::is_left_to_library(t, op, target)? => {
            foreign::translate_foreign_call(t, op, target)
        }
        _ => lapack::translate_lapack_call(t, op, target)
            .unwrap_or_else(|| foreign::translate_foreign_call(t, op, target)),
    }
}

/// Whether the target of a custom call is an assertion, a check or a marker.
pub(super) fn is_own_target(target: &str) -> bool {
    let names = [
        "ApproxTopK",
        "InspectSharding",
        "LayoutConstraint",
        "Sharding",
        "SPMDFullToShardShape",
        "SPMDShardToFullShape",
        "annotate_device_placement",
        "dce_sink",
        "shape_assertion",
        "stablehlo.dynamic_reduce_window",
    ];
    target.starts_with("check.")
        || names.contains(&target)
        || mhlo_call::find_operation(target).is_some()
}

/// Boundaries of manual computations in programs that were made with Shardy off. With one device they change nothing.
fn convert_shape(t: &mut StablehloTranslator<'_>, op: MlirOp, target: &str) -> TranslateResult<()> {
    let types = t
        .module
        .operands(op)
        .iter()
        .map(|value| t.module.type_of(*value));
    if types.eq(t.module.results(op).map(|value| t.module.type_of(value))) {
        return forward_operands(t, op);
    }
    let what = format!(
        "custom_call @{target} of several devices; programs made with Shardy are supported"
    );
    Err(t.unsupported_error(op, what))
}

/// Operations whose results are their operands.
pub(super) fn forward_operands(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let operands = t.module.operands(op).iter();
    let items = operands
        .map(|value| t.resolve_value(op, *value))
        .collect::<TranslateResult<_>>()?;
    t.bind_items(op, items)
}

/// Operations that say something about their operands and have no results.
pub(super) fn ignore_operands(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    t.bind_items(op, Vec::new())
}

/// `tuple`
pub(super) fn translate_tuple(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let operands = t.module.operands(op).iter();
    let items = operands
        .map(|value| t.resolve_value(op, *value))
        .collect::<TranslateResult<_>>()?;
    t.bind_items(op, vec![TranslatedValue::Tuple(items)])
}

/// `get_tuple_element`
pub(super) fn get_tuple_element(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let GetTupleElementAttributes { index } = t.read_attributes(op)?;
    let at = usize::try_from(index).unwrap_or(usize::MAX);
    let operand = t.module.operands(op).first().copied();
    let item = match operand {
        Some(value) => t.resolve_value(op, value)?,
        None => TranslatedValue::Token,
    };
    match item {
        TranslatedValue::Tuple(items) if at < items.len() => {
            t.bind_items(op, vec![items[at].clone()])
        }
        _ => Err(t.invalid_error(op, "a tuple has no such element")),
    }
}

/// `after_all` and `create_token`
pub(super) fn translate_token(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    t.bind_items(op, vec![TranslatedValue::Token])
}

/// `replica_id` and `partition_id`: the device of the shard in a manual computation, otherwise the only one.
pub(super) fn first_id(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let (element, shape) = t.result_type(op, 0)?;
    let id = match t.module.opcode(op) {
        Some(MlirOpcode::PartitionId) => t.shards.current_device(),
        _ => 0,
    };
    let id = t
        .builder
        .add_splat(ScalarLiteral::new(element.storage_type(), id), &shape);
    t.bind_result(op, TypedTensor::new(element, id))
}

/// All parts of tensors, in order.
pub(super) fn flatten_components(items: &[TranslatedValue]) -> Vec<TensorValue> {
    let of = |item: &TranslatedValue| match item {
        TranslatedValue::Tensor(tensor) => tensor.parts.to_vec(),
        TranslatedValue::Tuple(items) => flatten_components(items),
        TranslatedValue::Token => Vec::new(),
    };
    items.iter().flat_map(of).collect()
}

/// Values of the same structure with other parts.
pub(super) fn with_parts(
    items: &[TranslatedValue],
    parts: &mut impl Iterator<Item = TensorValue>,
) -> Vec<TranslatedValue> {
    let replaced = items.iter().map(|item| match item {
        TranslatedValue::Tensor(tensor) => TranslatedValue::Tensor(TypedTensor {
            element: tensor.element,
            parts: tensor.parts.iter().filter_map(|_| parts.next()).collect(),
            tracked: None,
        }),
        TranslatedValue::Tuple(items) => TranslatedValue::Tuple(with_parts(items, parts)),
        TranslatedValue::Token => TranslatedValue::Token,
    });
    replaced.collect()
}

/// `while`
pub(super) fn translate_while(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let operands = t.module.operands(op).iter();
    let initial: Vec<TranslatedValue> = operands
        .map(|value| t.resolve_value(op, *value))
        .collect::<TranslateResult<_>>()?;
    let values = flatten_components(&initial);
    let condition = loop_block(t, op, 0, &initial, &values)?;
    t.ensure_holds(
        op,
        t.builder.function().block(condition).results.len() == 1,
        "has a wrong condition",
    )?;
    let body = loop_block(t, op, 1, &initial, &values)?;
    let results = t.builder.add_while(&values, condition, body);
    let items = with_parts(&initial, &mut results.into_iter());
    t.bind_items(op, items)
}

fn loop_block(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    region: usize,
    initial: &[TranslatedValue],
    values: &[TensorValue],
) -> TranslateResult<TensorBlock> {
    let types: Vec<_> = values.iter().map(|v| t.builder.ty(*v).clone()).collect();
    let block = t.region_block(op, region)?;
    let parameters = t.builder.begin_block(&types);
    let items = with_parts(initial, &mut parameters.into_iter());
    let arguments = t.module.arguments(block);
    t.ensure_holds(
        op,
        arguments.len() == items.len(),
        "has a region of another type",
    )?;
    for (argument, item) in arguments.zip(items) {
        t.check_value_type(op, t.module.type_of(argument), &item)?;
        t.bind_value(argument, item);
    }
    let results = t.nested_block(block)?;
    if region == 1 {
        t.ensure_holds(
            op,
            results.len() == initial.len(),
            "has a region of another type",
        )?;
        let mut arguments = t.module.arguments(block).zip(&results);
        arguments
            .try_for_each(|(like, item)| t.check_value_type(op, t.module.type_of(like), item))?;
    }
    let results = flatten_components(&results);
    Ok(t.builder.end_block(&results))
}

/// `if`
pub(super) fn translate_if(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let condition = t.tensor_operand(op, 0)?;
    let is_truth = condition.element == super::element::TensorElement::Bool;
    t.ensure_holds(
        op,
        is_truth && t.tensor_shape(&condition).is_empty(),
        "has a wrong condition",
    )?;
    let (then, items) = translate_branch(t, op, 0)?;
    let (otherwise, other) = translate_branch(t, op, 1)?;
    t.ensure_holds(
        op,
        items.len() == other.len(),
        "has branches of different types",
    )?;
    let results = t
        .builder
        .add_if(condition.first_component(), then, otherwise);
    bind_branches(t, op, &items, results)
}

fn bind_branches(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    like: &[TranslatedValue],
    results: Vec<TensorValue>,
) -> TranslateResult<()> {
    let items = with_parts(like, &mut results.into_iter());
    t.bind_items(op, items)
}

/// A branch as a block, and its results, which have the types of the operation's results.
fn translate_branch(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    at: usize,
) -> TranslateResult<(TensorBlock, Vec<TranslatedValue>)> {
    let block: MlirBlock = t.region_block(op, at)?;
    let _ = t.builder.begin_block(&[]);
    let items = t.nested_block(block)?;
    let results = t.module.results(op);
    t.ensure_holds(
        op,
        results.len() == items.len(),
        "has a branch of another type",
    )?;
    for (result, item) in results.zip(&items) {
        t.check_value_type(op, t.module.type_of(result), item)?;
    }
    let results = flatten_components(&items);
    Ok((t.builder.end_block(&results), items))
}

/// `case`: a chain of `if`s. An index out of range takes the last branch.
pub(super) fn translate_case(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let index = t.tensor_operand(op, 0)?;
    t.ensure_holds(
        op,
        t.tensor_shape(&index).is_empty() && !index.parts.is_empty(),
        "has a wrong index",
    )?;
    let count = t.module.regions(op).len();
    t.ensure_holds(op, count > 0, "has no branches")?;
    let mut opened = Vec::new();
    let mut given = Vec::new();
    for at in 0..count - 1 {
        let condition = t
            .builder
            .add_elementwise(&[index.first_component()], |body, v| {
                let number = ScalarLiteral::new(body.ty(v[0]), at as u64);
                let number = body.intern_literal(number);
                body.apply_op(Scalar::Eq, &[v[0], number])
            });
        let (then, items) = translate_branch(t, op, at)?;
        given = items;
        opened.push((condition, then));
        let _ = t.builder.begin_block(&[]);
    }
    let block = t.region_block(op, count - 1)?;
    let items = t.nested_block(block)?;
    let mut results = flatten_components(&items);
    if opened.is_empty() {
        given = items;
    }
    while let Some((condition, then)) = opened.pop() {
        let otherwise = t.builder.end_block(&results);
        results = t.builder.add_if(condition, then, otherwise);
    }
    bind_branches(t, op, &given, results)
}
