//! Which components of a vector something is computed from.
//!
//! A vector that is read whole may have components that nothing was written to, so long as they only go on
//! into other vectors. What takes one out and computes with it, stores it or branches on it reads that one.

use super::provenance::is_private;
use crate::program::Program;
use crate::promote::operand_ids;
use crate::types::Kind;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;
use spirula_spirv::{Id, IdMap};

/// By value: a bit for each component that is used by itself.
pub(crate) fn used_components(program: &Program<'_>) -> IdMap<u64> {
    let bound = program.module.bound();
    let mut counts = IdMap::new(bound, false);
    let insts = || {
        let functions = program.functions.bottom_up.iter();
        functions.flat_map(|func| program.module.function_insts(*func))
    };
    for inst in insts().filter(|inst| !passes_on(program, *inst)) {
        for id in operand_ids(inst) {
            counts.set(id, true);
        }
    }
    let mut used = IdMap::new(bound, 0u64);
    for inst in insts().filter(|inst| inst.op() == Op::CompositeExtract) {
        let (vector, path) = (inst.id(0), &inst.operands()[1..]);
        if let ([n @ 0..64], Some(result)) = (path, inst.result())
            && counts[result]
            && is_vector(program, vector)
        {
            used.set(vector, used[vector] | 1 << n);
        }
    }
    used
}

fn is_vector(program: &Program<'_>, id: Id) -> bool {
    let ty = program.type_of(id);
    ty.is_some_and(|ty| matches!(program.types.kind(ty), Kind::Vector { .. }))
}

/// Whether an instruction only passes values on, so that they may be undefined.
fn passes_on(program: &Program<'_>, inst: InstRef<'_>) -> bool {
    match inst.op() {
        Op::CompositeConstruct
        | Op::CompositeInsert
        | Op::CompositeExtract
        | Op::VectorShuffle
        | Op::VectorInsertDynamic
        | Op::CopyObject
        | Op::FreezeKHR
        | Op::Bitcast
        | Op::Phi
        | Op::Select
        | Op::FunctionCall
        | Op::ReturnValue => true,
        Op::Store => is_private(program, inst.id(0)),
        _ => false,
    }
}
