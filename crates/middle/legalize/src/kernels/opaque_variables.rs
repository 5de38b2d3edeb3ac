//! Variables of images and samplers, which unoptimised kernels keep their arguments in.
//!
//! No phi may have such a value, so that passes that make values of variables leave them alone. A variable that is
//! stored once needs none: what is loaded is what was stored. Others stay, and are refused as what is chosen
//! when run. Cost: one pass over the instructions of functions that have such variables.

use rustc_hash::FxHashMap;
use spirula_spirv::Id;
use spirula_spirv::analysis::IdDefinitions;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Func, IdWords, Inst, InstRef, SpirvModule};

/// A variable, and what is done with it.
#[derive(Default)]
struct OpaqueVariable {
    /// What is stored, store by store.
    values: Vec<Id>,
    /// What is loaded.
    loaded: Vec<Id>,
    /// The variable, its loads and stores, and what is only said about it.
    insts: Vec<Inst>,
    /// Whether something else is done with it.
    is_kept: bool,
}

/// Replaces what is loaded from variables of images and samplers by what was stored.
pub fn replace_variables(module: &mut SpirvModule) {
    let definitions = IdDefinitions::from_module(module);
    let ids = IdWords::new(module);
    for func in module.functions().to_vec() {
        let held = gather_variables(module, &definitions, &ids, func);
        let mut values: FxHashMap<Id, Id> = FxHashMap::default();
        for held in held.iter().filter(|h| !h.is_kept && h.values.len() == 1) {
            values.extend(held.loaded.iter().map(|load| (*load, held.values[0])));
            for inst in &held.insts {
                module.remove_inst(*inst);
            }
        }
        if values.is_empty() {
            continue;
        }
        let rest: Vec<Inst> = module.function_insts(func).map(|i| i.handle()).collect();
        for inst in rest {
            ids.rewrite_uses(module, inst, |id| find_stored_value(&values, id));
        }
    }
}

/// What a value is in the end, which may have passed through several variables.
fn find_stored_value(values: &FxHashMap<Id, Id>, mut id: Id) -> Id {
    // No more steps than there are values, whatever the module says.
    for _ in 0..values.len() {
        match values.get(&id) {
            Some(value) => id = *value,
            None => break,
        }
    }
    id
}

fn gather_variables(
    module: &SpirvModule,
    definitions: &IdDefinitions,
    ids: &IdWords,
    func: Func,
) -> Vec<OpaqueVariable> {
    let mut held: Vec<OpaqueVariable> = Vec::new();
    let mut numbers: FxHashMap<Id, usize> = FxHashMap::default();
    for inst in module.function_insts(func) {
        if inst.op() == Op::Variable && is_opaque(module, definitions, inst) {
            numbers.extend(inst.result().map(|id| (id, held.len())));
            held.push(OpaqueVariable {
                insts: vec![inst.handle()],
                ..OpaqueVariable::default()
            });
        }
    }
    if held.is_empty() {
        return held;
    }
    for inst in module
        .function_insts(func)
        .filter(|i| i.op() != Op::Variable)
    {
        let mut of: Vec<usize> = Vec::new();
        ids.visit_uses(inst, |_, id| of.extend(numbers.get(&id)));
        for number in of {
            let one = &mut held[number];
            match (inst.op(), inst.result()) {
                (Op::Load, Some(result)) => one.loaded.push(result),
                (Op::Store, _) if !numbers.contains_key(&inst.id_operand(1)) => {
                    one.values.push(inst.id_operand(1));
                }
                // Debug information.
                (Op::LifetimeStart | Op::LifetimeStop | Op::ExtInst, _) => {}
                _ => {
                    one.is_kept = true;
                    continue;
                }
            }
            one.insts.push(inst.handle());
        }
    }
    held
}

fn is_opaque(module: &SpirvModule, definitions: &IdDefinitions, variable: InstRef<'_>) -> bool {
    let pointer = variable.result_type();
    let pointer = pointer.and_then(|ty| definitions.get(module, ty));
    let pointee = pointer.filter(|p| p.op() == Op::TypePointer);
    let pointee = pointee.and_then(|p| definitions.get(module, p.get_id(1)?));
    pointee.is_some_and(|ty| {
        matches!(
            ty.op(),
            Op::TypeImage | Op::TypeSampler | Op::TypeSampledImage
        )
    })
}
