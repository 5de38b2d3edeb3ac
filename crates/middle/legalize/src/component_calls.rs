//! Calls of scalar functions for the components of an operation.

use spirula_spirv::Id;
use spirula_spirv::analysis::IdDefinitions;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Inst, SpirvModule};

/// A type, its component type and their number.
pub fn split_vector_type(
    module: &SpirvModule,
    definitions: &IdDefinitions,
    ty: Id,
) -> Option<(Id, Id, u32)> {
    let def = definitions.get(module, ty)?;
    Some(match def.op() {
        Op::TypeVector => (ty, def.id_operand(0), def.operand_word(1)),
        _ => (ty, ty, 1),
    })
}

/// Emits calls of a function for each component, before an instruction. Operands and results of other widths than those of the function
/// are converted.
pub fn call_by_component(
    module: &mut SpirvModule,
    definitions: &IdDefinitions,
    at: Inst,
    ty: Id,
    function: Id,
    operands: &[Id],
    result: Id,
) -> Option<()> {
    let (_, part, count) = split_vector_type(module, definitions, ty)?;
    let head = definitions.get(module, function)?;
    let given = head.result_type()?;
    let params: Vec<Id> = definitions
        .get(module, head.id_operand(1))?
        .id_operands(1)
        .collect();
    let mut words = vec![ty.word(), result.word()];
    for n in 0..count {
        let mut call = vec![given.word(), 0, function.word()];
        for (operand, param) in operands.iter().zip(&params) {
            let whole = definitions.get(module, *operand)?.result_type()?;
            let (_, kind, lanes) = split_vector_type(module, definitions, whole)?;
            let mut value = *operand;
            if lanes > 1 {
                let words = vec![kind.word(), 0, value.word(), n];
                value = put_value(module, at, Op::CompositeExtract, words, None);
            }
            if kind != *param {
                let words = vec![param.word(), 0, value.word()];
                value = put_value(module, at, Op::FConvert, words, None);
            }
            call.push(value.word());
        }
        // The last instruction on a scalar defines the result itself.
        let own = (count == 1).then_some(result);
        let value = if given == part {
            put_value(module, at, Op::FunctionCall, call, own)
        } else {
            let made = put_value(module, at, Op::FunctionCall, call, None);
            let words = vec![part.word(), 0, made.word()];
            put_value(module, at, Op::FConvert, words, own)
        };
        words.push(value.word());
    }
    if count > 1 {
        insert_instruction(module, at, Op::CompositeConstruct, &words);
    }
    Some(())
}

/// Inserts an instruction with a result before another; the result is new unless given.
fn put_value(
    module: &mut SpirvModule,
    at: Inst,
    op: Op,
    mut words: Vec<u32>,
    result: Option<Id>,
) -> Id {
    let id = result.unwrap_or_else(|| module.fresh_id());
    words[1] = id.word();
    insert_instruction(module, at, op, &words);
    id
}

/// Inserts an instruction before another.
pub fn insert_instruction(module: &mut SpirvModule, at: Inst, op: Op, words: &[u32]) {
    let inst = module.create_inst(op, words);
    module.insert_before(at, inst);
}
