//! Rules of products, convolutions and reductions.

use super::context::{RuleContext, RuleRow};
use crate::rule::{PartialCombination, ShardingRule};
use spirula_stablehlo::MlirOpcode as Op;
use spirula_stablehlo::mlir::{AttributeKind, MlirModule, MlirOp, MlirTypeKind, MlirValue};

pub(super) const RULES: &[RuleRow] = &[
    (&[Op::DotGeneral], multiply_tensors),
    (&[Op::Dot], multiply_matrices),
    (&[Op::Convolution], convolve_tensors),
    (&[Op::Reduce], reduce_dimensions),
];

fn multiply_tensors(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let field = |name| context.field_positions("dot_dimension_numbers", name);
    let batching = [
        field("lhs_batching_dimensions")?,
        field("rhs_batching_dimensions")?,
    ];
    let contracting = [
        field("lhs_contracting_dimensions")?,
        field("rhs_contracting_dimensions")?,
    ];
    join_product(context, &batching, &contracting)
}

/// The factors of a product: batches come first in the result, then the other dimensions of both operands.
fn join_product(
    context: &RuleContext<'_>,
    batching: &[Vec<usize>; 2],
    contracting: &[Vec<usize>; 2],
) -> Option<ShardingRule> {
    let mut rule = context.whole_rule();
    let sides = [context.operand(0)?, context.operand(1)?];
    let mut next = 0;
    for (left, right) in batching[0].iter().zip(&batching[1]) {
        let dimensions = [(0, *left), (1, *right), (2, next)];
        rule.join_dimensions(*sides[0].get(*left)?, &dimensions);
        next += 1;
    }
    for (side, shape) in sides.iter().enumerate() {
        for (at, size) in shape.iter().enumerate() {
            if !batching[side].contains(&at) && !contracting[side].contains(&at) {
                rule.join_dimensions(*size, &[(side, at), (2, next)]);
                next += 1;
            }
        }
    }
    for (left, right) in contracting[0].iter().zip(&contracting[1]) {
        let factor = rule.add_reduced_factor(*sides[0].get(*left)?);
        rule.set_factor(0, *left, factor);
        rule.set_factor(1, *right, factor);
    }
    Some(rule)
}

/// `dot`: the last dimension of the left operand and the first of the right one.
fn multiply_matrices(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let last = context.operand(0)?.len().checked_sub(1)?;
    join_product(context, &[vec![], vec![]], &[vec![last], vec![0]])
}

/// Batches and features; spatial dimensions are whole.
fn convolve_tensors(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let numbers = context
        .module
        .find_attribute(context.op, "dimension_numbers")?;
    let field = |name| usize::try_from(context.module.field_integer(numbers, name)).ok();
    let groups = |name| context.position(name).unwrap_or(1);
    let mut rule = context.whole_rule();
    let (input, kernel) = (context.operand(0)?, context.operand(1)?);
    let is_single = groups("batch_group_count") == 1;
    if is_single {
        let batch = field("input_batch_dimension")?;
        let dimensions = [(0, batch), (2, field("output_batch_dimension")?)];
        rule.join_dimensions(*input.get(batch)?, &dimensions);
    }
    if is_single && groups("feature_group_count") == 1 {
        let output = field("kernel_output_feature_dimension")?;
        let dimensions = [(1, output), (2, field("output_feature_dimension")?)];
        rule.join_dimensions(*kernel.get(output)?, &dimensions);
        let feature = field("input_feature_dimension")?;
        let factor = rule.add_reduced_factor(*input.get(feature)?);
        rule.set_factor(0, feature, factor);
        rule.set_factor(1, field("kernel_input_feature_dimension")?, factor);
    }
    // The spatial dimensions are work as well, which no device shares.
    for at in context
        .module
        .field_integers(numbers, "kernel_spatial_dimensions")
    {
        rule.add_factor(*kernel.get(usize::try_from(at).ok()?)?);
    }
    for at in context
        .module
        .field_integers(numbers, "output_spatial_dimensions")
    {
        let size = context.result(0)?.get(usize::try_from(at).ok()?)?;
        rule.add_factor(*size);
    }
    Some(rule)
}

/// The dimensions that remain, and those that are reduced where partial results can be combined.
fn reduce_dimensions(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let mut rule = context.cheap_rule();
    let reduced = context.positions("dimensions")?;
    let count = context.operands / 2;
    let can_combine = count == 1 && is_combinable(context.module, context.op);
    let mut next = 0;
    for (at, size) in context.operand(0)?.iter().enumerate() {
        if !reduced.contains(&at) {
            let inputs = (0..count).map(|input| (input, at));
            let results = (0..count).map(|result| (context.operands + result, next));
            let dimensions: Vec<(usize, usize)> = inputs.chain(results).collect();
            rule.join_dimensions(*size, &dimensions);
            next += 1;
        } else if can_combine {
            let factor = rule.add_reduced_factor(*size);
            rule.set_factor(0, at, factor);
        }
    }
    rule.combination = PartialCombination::Region;
    Some(rule)
}

/// Whether partial results of a reduction can be combined by its region, although each has the initial value: it is one
/// operation of both arguments, and combining the initial value again changes nothing.
fn is_combinable(module: &MlirModule, op: MlirOp) -> bool {
    let block = module.regions(op).next();
    let Some([block]) = block.map(|region| module.blocks(region)) else {
        return false;
    };
    let [combine, last] = module.ops(*block) else {
        return false;
    };
    let arguments: Vec<MlirValue> = module.arguments(*block).collect();
    let mut operands = module.operands(*combine).to_vec();
    operands.sort();
    let results: Vec<MlirValue> = module.results(*combine).collect();
    if operands != arguments || module.operands(*last) != results {
        return false;
    }
    match module.opcode(*combine) {
        Some(Op::Maximum | Op::Minimum | Op::And | Op::Or) => true,
        Some(Op::Add | Op::Xor) => is_constant(module, module.operands(op)[1], 0),
        Some(Op::Multiply) => is_constant(module, module.operands(op)[1], 1),
        _ => false,
    }
}

/// Whether a value is a constant whose elements are all this number.
fn is_constant(module: &MlirModule, value: MlirValue, number: u8) -> bool {
    let Some(op) = module.defining_op(value) else {
        return false;
    };
    if module.opcode(op) != Some(Op::Constant) {
        return false;
    }
    let Some(elements) = module.find_elements(op, "value") else {
        return false;
    };
    let element = module.types.element_type(elements.ty);
    let wanted = match module.types.kind(element) {
        MlirTypeKind::Float(float) => float.format().encode_value(f64::from(number)),
        MlirTypeKind::Integer { .. } => u64::from(number),
        MlirTypeKind::Complex(_) if number == 0 => 0,
        _ => return false,
    };
    let Some(width) = module.types.element_bytes(element) else {
        return false;
    };
    let mut bytes = wanted.to_le_bytes().to_vec();
    bytes.resize(width.max(8), 0);
    elements
        .data
        .chunks(width)
        .all(|chunk| chunk == &bytes[..width])
        && matches!(
            module
                .find_attribute(op, "value")
                .map(|attr| module.attributes.kind(attr)),
            Some(AttributeKind::Elements(_))
        )
}
