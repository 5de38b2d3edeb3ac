//! Opaque variables: variables of images and samplers, in which unoptimised kernels keep their arguments.
//!
//! A phi must not have such a value, so passes that make values of variables leave these variables alone. A variable that is stored once
//! is replaced by the stored value. Others stay, and are refused as images that are selected at run time. Cost: one pass over the
//! instructions of functions that have such variables.

use rustc_hash::FxHashMap;
use spirula_spirv::Id;
use spirula_spirv::analysis::IdDefinitions;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Func, IdWords, Inst, InstRef, SpirvModule};

/// A variable and its uses.
#[derive(Default)]
struct OpaqueVariable {
    /// Stored values.
    values: Vec<Id>,
    /// Loaded values.
    loaded: Vec<Id>,
    /// The variable, its loads and stores, and its annotations.
    insts: Vec<Inst>,
    /// Whether it has other uses.
    is_kept: bool,
}

/// Replaces loads from variables of images and samplers by the stored values.
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

/// The final replacement of a value, which may have passed through several variables.
fn find_stored_value(values: &FxHashMap<Id, Id>, mut id: Id) -> Id {
    // At most as many steps as values, even if the module is malformed.
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
