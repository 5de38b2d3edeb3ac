//! Trip counts of loops that count up to a constant.

use spirula_stablehlo::mlir::{MlirBlock, MlirModule, MlirOp, MlirValue, ValueDefinition};

/// The number of iterations of a `while` that adds a constant to a number as long as this is less than another. The
/// number begins with a constant.
pub fn count_iterations(module: &MlirModule, op: MlirOp) -> Option<f64> {
    let blocks: Vec<MlirBlock> = module
        .regions(op)
        .filter_map(|region| module.blocks(region).first().copied())
        .collect();
    let [condition, body] = blocks[..] else {
        return None;
    };
    let goes_on = *terminator_operands(module, condition)?.first()?;
    let comparison = module.defining_op(goes_on)?;
    let direction = module.find_attribute(comparison, "comparison_direction")?;
    let is_less =
        is_operation(module, comparison, "compare") && module.as_keyword(direction) == Some("LT");
    let [counter, end] = module.operands(comparison)[..] else {
        return None;
    };
    let place = argument_place(module, condition, counter).filter(|_| is_less)?;
    let next = *terminator_operands(module, body)?.get(place)?;
    let addition = module.defining_op(next)?;
    let [counter, step] = module.operands(addition)[..] else {
        return None;
    };
    let is_same = argument_place(module, body, counter) == Some(place);
    let counts = is_operation(module, addition, "add") && is_same;
    let begin = *module.operands(op).get(place).filter(|_| counts)?;
    let [begin, end, step] = [begin, end, step].map(|value| read_constant(module, value));
    let (begin, end, step) = (begin?, end?, step?);
    let distance = end as f64 - begin as f64;
    (step > 0).then(|| (distance / step as f64).ceil().max(0.0))
}

fn is_operation(module: &MlirModule, op: MlirOp, name: &str) -> bool {
    module.op_name(op).strip_prefix("stablehlo.") == Some(name)
}

/// The operands of the last operation of a block.
fn terminator_operands(module: &MlirModule, block: MlirBlock) -> Option<&[MlirValue]> {
    Some(module.operands(*module.ops(block).last()?))
}

/// The position of a value among the arguments of a block.
fn argument_place(module: &MlirModule, block: MlirBlock, value: MlirValue) -> Option<usize> {
    match module.definition(value) {
        ValueDefinition::Argument(of, place) if of == block => Some(place as usize),
        _ => None,
    }
}

/// The only number of a constant.
fn read_constant(module: &MlirModule, value: MlirValue) -> Option<i64> {
    let op = module.defining_op(value)?;
    if !is_operation(module, op, "constant") {
        return None;
    }
    match module.find_integers(op, "value")?[..] {
        [number] => Some(number),
        _ => None,
    }
}
