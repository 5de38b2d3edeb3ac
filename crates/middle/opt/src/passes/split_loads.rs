//! Load splitting: the load of a composite of which only parts are used becomes a load of each of these parts, in
//! the same place.
//!
//! Before:
//! ```text
//! %s = OpLoad %structure %buffer
//! %x = OpCompositeExtract %float %s 2
//! ```
//! After:
//! ```text
//! %p = OpAccessChain %ptr %buffer %two
//! %x = OpLoad %float %p
//! ```

use crate::analyses::AnalysisCache;
use crate::pass::PassOutcome;
use crate::values::ModuleValues;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{ErasedIds, Func, Inst, InstRef, ModuleSection, SpirvModule};
use spirula_spirv::{Id, IdMap};

/// Most parts into which a load is split.
const MOST_PARTS: usize = 16;

pub fn run_split_loads(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    if !has_composite_loads(module) {
        return Ok(PassOutcome::default());
    }
    let mut facts = cache.take_facts(module);
    let mut erased = ErasedIds::new();
    // For each load that may be split: the load, and its extractions.
    let mut users: IdMap<Option<Vec<Inst>>> = IdMap::new(module.bound(), None);
    let mut replaced: IdMap<Option<Id>> = IdMap::new(module.bound(), None);
    let mut split = 0;
    for func in module.functions().to_vec() {
        let loads = gather_partial_loads(module, &facts, func, &mut users);
        let before = split;
        for load in loads {
            let Some(id) = module.inst(load).result() else {
                continue;
            };
            let parts = users.get_mut(id).take().unwrap_or_default();
            if !parts.is_empty() && is_worth(module, &facts, load, &parts) {
                load_parts(module, &mut facts, load, &parts, &mut replaced, &mut erased);
                split += 1;
            }
        }
        if split > before {
            let insts = module.function_insts(func).map(InstRef::handle);
            for inst in insts.collect::<Vec<_>>() {
                facts
                    .ids
                    .rewrite_uses(module, inst, |id| replaced[id].unwrap_or(id));
            }
        }
    }
    module.sweep_annotations(&erased);
    cache.put_facts(facts);
    Ok(PassOutcome {
        statistics: vec![("loads split", split)],
    })
}

/// Whether any composite that could be split is loaded.
fn has_composite_loads(module: &SpirvModule) -> bool {
    let mut composite: IdMap<bool> = IdMap::new(module.bound(), false);
    for ty in module.section_insts(ModuleSection::Globals) {
        if let (Op::TypeStruct | Op::TypeArray, Some(id)) = (ty.op(), ty.result()) {
            composite.set(id, true);
        }
    }
    let mut insts = module.all_insts().filter(|i| i.op() == Op::Load);
    insts.any(|i| i.result_type().is_some_and(|ty| composite[ty]))
}

/// The loads of a function of which only parts are used.
fn gather_partial_loads(
    module: &SpirvModule,
    facts: &ModuleValues,
    func: Func,
    users: &mut IdMap<Option<Vec<Inst>>>,
) -> Vec<Inst> {
    let mut loads = Vec::new();
    for block in &module.function(func).blocks {
        for inst in module.body(*block) {
            if inst.op() == Op::Load {
                if let Some(id) = inst.result().filter(|_| can_be_split(module, facts, inst)) {
                    users.set(id, Some(Vec::new()));
                    loads.push(inst.handle());
                }
                continue;
            }
            let part = inst.op() == Op::CompositeExtract && inst.operands().len() > 1;
            facts.ids.visit_uses(inst, |_, id| {
                let known = part
                    && inst
                        .result()
                        .is_some_and(|r| facts.decoration_marks(r).is_some());
                if known && let Some(list) = users.get_mut(id) {
                    list.push(inst.handle());
                } else if users[id].is_some() {
                    users.set(id, None);
                }
            });
        }
    }
    loads
}

fn can_be_split(module: &SpirvModule, facts: &ModuleValues, load: InstRef<'_>) -> bool {
    let (Some(id), Some(ty)) = (load.result(), load.result_type()) else {
        return false;
    };
    let composite = matches!(
        facts.defining_op(module, ty),
        Op::TypeStruct | Op::TypeArray
    );
    let plain = load.operands().get(1).is_none_or(|mask| *mask == 0);
    let pointer = facts.type_of(module, load.id_operand(0));
    let typed = pointer.is_some_and(|p| facts.defining_op(module, p) == Op::TypePointer);
    composite && plain && typed && facts.decoration_marks(id) == Some(0)
}

/// The number of scalars in a type, up to a limit.
fn count_scalars(module: &SpirvModule, facts: &ModuleValues, ty: Id, depth: u32) -> u32 {
    let count = facts.part_count(module, ty).unwrap_or(1);
    if depth == 0 {
        return count;
    }
    match facts.defining_op(module, ty) {
        Op::TypeStruct => (0..count.min(64))
            .filter_map(|at| facts.part_type(module, ty, at))
            .fold(0, |sum, part| {
                sum.saturating_add(count_scalars(module, facts, part, depth - 1))
            }),
        Op::TypeArray | Op::TypeMatrix | Op::TypeVector => {
            let part = facts.part_type(module, ty, 0);
            let each = part.map_or(1, |part| count_scalars(module, facts, part, depth - 1));
            count.saturating_mul(each)
        }
        _ => 1,
    }
}

/// Whether loading the parts separately reads less.
fn is_worth(module: &SpirvModule, facts: &ModuleValues, load: Inst, parts: &[Inst]) -> bool {
    let mut paths: Vec<(&[u32], Id)> = Vec::new();
    for part in parts {
        let inst = module.inst(*part);
        let Some(ty) = inst.result_type() else {
            return false;
        };
        if !paths.iter().any(|p| p.0 == &inst.operands()[1..]) {
            paths.push((&inst.operands()[1..], ty));
        }
    }
    if paths.len() > MOST_PARTS {
        return false;
    }
    let used: u32 = paths
        .iter()
        .map(|p| count_scalars(module, facts, p.1, 4))
        .sum();
    let ty = module.inst(load).result_type();
    ty.is_some_and(|ty| used < count_scalars(module, facts, ty, 4))
}

fn load_parts(
    module: &mut SpirvModule,
    facts: &mut ModuleValues,
    load: Inst,
    parts: &[Inst],
    replaced: &mut IdMap<Option<Id>>,
    erased: &mut ErasedIds,
) {
    let base = module.inst(load).id_operand(0);
    let class = facts
        .type_of(module, base)
        .and_then(|ty| facts.definition(module, ty))
        .map_or(0, |ty| ty.operand_word(0));
    let mut known: Vec<(Vec<u32>, Id)> = Vec::new();
    for part in parts {
        let inst = module.inst(*part);
        let (Some(id), Some(ty)) = (inst.result(), inst.result_type()) else {
            continue;
        };
        let path = inst.operands()[1..].to_vec();
        let value = match known.iter().find(|k| k.0 == path) {
            Some((_, value)) => *value,
            None => {
                let mut words = vec![base.word()];
                for at in &path {
                    words.push(facts.pool.intern_u32_constant(module, *at).word());
                }
                let pointer = facts
                    .pool
                    .intern_type(module, Op::TypePointer, &[class, ty.word()]);
                let chain = facts.insert_inst(module, load, Op::AccessChain, pointer, &words);
                let value = facts.insert_inst(module, load, Op::Load, ty, &[chain.word()]);
                known.push((path, value));
                value
            }
        };
        replaced.set(id, Some(value));
        module.erase_inst(*part, erased);
    }
    module.erase_inst(load, erased);
}
