//! Component widening: accesses to components of vectors and matrices become accesses to the whole, so that the
//! variable can become a value.

use super::accesses::{AggregateAccesses, AggregateVariable};
use super::split::{AggregateUse, classify_use};
use crate::gvn::is_plain;
use crate::values::ModuleValues;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{ErasedIds, Inst, InstRef, SpirvModule};

/// The position of a component.
enum ComponentPath {
    /// Constant indices.
    Constant(Vec<u32>),
    /// A dynamic component of a vector.
    Dynamic(Id),
}

/// Widens the accesses to a variable if all of them allow it. Returns their number.
pub fn vectorise_accesses(
    facts: &mut ModuleValues,
    accesses: &AggregateAccesses,
    module: &mut SpirvModule,
    variable: &AggregateVariable,
    erased: &mut ErasedIds,
) -> usize {
    let vector = match facts.defining_op(module, variable.ty) {
        Op::TypeVector => true,
        Op::TypeMatrix => false,
        _ => return 0,
    };
    let mut chains = Vec::new();
    for user in accesses.address_users(variable.id) {
        let inst = module.inst(*user);
        let chain = inst.op().is_plain_access_chain();
        if chain {
            let path = resolve_component_path(facts, module, inst, variable.ty, vector);
            let (Some(path), Some(result)) = (path, inst.result()) else {
                return 0;
            };
            let users = accesses.address_users(result);
            if !users.iter().all(|u| is_access(facts, module, *u, result)) {
                return 0;
            }
            chains.push((*user, path, users));
        } else {
            match classify_use(facts, accesses, module, variable.id, *user) {
                Some(AggregateUse::Load | AggregateUse::Store | AggregateUse::Gone) => {}
                _ => return 0,
            }
        }
    }
    let mut widened = 0;
    for (chain, path, users) in chains {
        for user in users {
            vectorise_access(facts, module, variable, *user, &path, erased);
        }
        module.erase_inst(chain, erased);
        widened += users.len().max(1);
    }
    widened
}

/// The indices of an access chain: constants within bounds, or a dynamic index into a vector.
fn resolve_component_path(
    facts: &ModuleValues,
    module: &SpirvModule,
    chain: InstRef<'_>,
    ty: Id,
    vector: bool,
) -> Option<ComponentPath> {
    let mut path = Vec::new();
    let mut at = ty;
    for index in chain.id_operands(1) {
        let Some(value) = facts.scalar_constant_bits(module, index) else {
            let only = vector && chain.operands().len() == 2;
            return only.then_some(ComponentPath::Dynamic(index));
        };
        let count = facts.part_count(module, at)?;
        let index = u32::try_from(value.bits).ok().filter(|i| *i < count)?;
        at = facts.part_type(module, at, index)?;
        path.push(index);
    }
    Some(ComponentPath::Constant(path))
}

/// Whether an instruction only loads from a pointer or stores to it.
fn is_access(facts: &ModuleValues, module: &SpirvModule, user: Inst, pointer: Id) -> bool {
    let inst = module.inst(user);
    match inst.op() {
        Op::Load => {
            let known = inst
                .result()
                .is_some_and(|r| facts.decoration_marks(r).is_some());
            known && is_plain(inst.operands().get(1))
        }
        Op::Store => is_plain(inst.operands().get(2)) && inst.id_operand(1) != pointer,
        _ => false,
    }
}

fn vectorise_access(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    variable: &AggregateVariable,
    user: Inst,
    path: &ComponentPath,
    erased: &mut ErasedIds,
) {
    let (ty, id) = (variable.ty, variable.id.word());
    let is_load = module.inst(user).op() == Op::Load;
    let whole = facts.insert_inst(module, user, Op::Load, ty, &[id]).word();
    if is_load {
        match path {
            ComponentPath::Constant(indices) => {
                let words = [&[whole], &indices[..]].concat();
                facts.rewrite_inst(module, user, Op::CompositeExtract, &words);
            }
            ComponentPath::Dynamic(index) => {
                let words = [whole, index.word()];
                facts.rewrite_inst(module, user, Op::VectorExtractDynamic, &words);
            }
        }
        return;
    }
    let value = module.inst(user).operand_word(1);
    let new = match path {
        ComponentPath::Constant(indices) => {
            let words = [&[value, whole], &indices[..]].concat();
            facts.insert_inst(module, user, Op::CompositeInsert, ty, &words)
        }
        ComponentPath::Dynamic(index) => {
            let words = [whole, value, index.word()];
            facts.insert_inst(module, user, Op::VectorInsertDynamic, ty, &words)
        }
    };
    let store = module.create_inst(Op::Store, &[id, new.word()]);
    module.insert_before(user, store);
    module.erase_inst(user, erased);
}
