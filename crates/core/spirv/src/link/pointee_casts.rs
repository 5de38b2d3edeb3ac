//! Functions that modules declare with different pointee types.
//!
//! LLVM IR has no pointee types, so translators infer them, for each module by its own uses.

use crate::Id;
use crate::analysis::IdDefinitions;
use crate::grammar::Op;
use crate::ir::{Inst, SpirvModule};
use rustc_hash::FxHashSet;

/// Whether two types are types of functions with equal results, whose parameters are equal or pointers of the same storage class.
pub(super) fn differ_in_pointees(
    module: &SpirvModule,
    definitions: &IdDefinitions,
    types: [Id; 2],
) -> bool {
    let read = |ty: Id| {
        definitions
            .get(module, ty)
            .filter(|ty| ty.op() == Op::TypeFunction)
    };
    let [Some(first), Some(second)] = types.map(read) else {
        return false;
    };
    let class = |ty: Id| {
        let pointer = definitions.get(module, ty)?;
        (pointer.op() == Op::TypePointer).then(|| pointer.operand_word(0))
    };
    let is_alike = |(at, (one, other)): (usize, (Id, Id))| {
        let is_pointer = at > 0 && class(one).is_some() && class(one) == class(other);
        one == other || is_pointer
    };
    let pairs = first.id_operands(0).zip(second.id_operands(0));
    first.operands().len() == second.operands().len() && pairs.enumerate().all(is_alike)
}

/// Casts the pointers that calls of some functions pass to the types of their parameters.
pub(super) fn cast_arguments(
    module: &mut SpirvModule,
    definitions: &IdDefinitions,
    functions: &FxHashSet<Id>,
) {
    let mut calls = Vec::new();
    for func in module.functions() {
        let insts = module.function_insts(*func);
        let own =
            insts.filter(|i| i.op() == Op::FunctionCall && functions.contains(&i.id_operand(0)));
        calls.extend(own.map(|call| call.handle()));
    }
    for call in calls {
        cast_call(module, definitions, call);
    }
}

fn cast_call(module: &mut SpirvModule, definitions: &IdDefinitions, call: Inst) {
    let inst = module.inst(call);
    let callee = definitions.get(module, inst.id_operand(0));
    let signature = callee.and_then(|callee| definitions.get(module, callee.get_id(1)?));
    let Some(signature) = signature else { return };
    let wanted: Vec<Id> = signature.id_operands(1).collect();
    let passed: Vec<Id> = inst.id_operands(1).collect();
    for (at, (argument, ty)) in passed.into_iter().zip(wanted).enumerate() {
        let own = definitions.get(module, argument);
        if own.and_then(|own| own.result_type()) == Some(ty) {
            continue;
        }
        let cast = module.fresh_id();
        let words = [ty, cast, argument].map(Id::word);
        let inst = module.create_inst(Op::Bitcast, &words);
        module.insert_before(call, inst);
        // Type, result and function come before the arguments.
        module.words_mut(call)[3 + at] = cast.word();
    }
}
