//! Exact remainders: `OpFRem` and `OpFMod` of floats become calls of functions.

use super::exact_functions::import_function;
use crate::component_calls::{call_by_component, split_vector_type};
use crate::remainders::{REMAINDERS, find_remainder};
use rustc_hash::FxHashMap;
use spirula_spirv::Id;
use spirula_spirv::analysis::IdDefinitions;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Capability;
use spirula_spirv::ir::{Inst, InstRef, ModuleSection, SpirvModule};
use std::collections::hash_map::Entry;

/// A remainder in a module.
struct RemainderUse {
    inst: Inst,
    ty: Id,
    result: Id,
    operands: Vec<Id>,
    /// The function's name, and the width of its floats.
    name: &'static str,
    width: u32,
}

/// The module with exact remainders; `None` where it has none. 16-bit floats are converted to 32 bits, which is exact. The module needs
/// integers of 64 bits where it has remainders of 64-bit floats.
pub fn replace_inexact_remainders(module: &SpirvModule) -> Option<SpirvModule> {
    let is_remainder = |inst: &InstRef<'_>| find_remainder(inst.op()).is_some();
    if !module.all_insts().any(|inst| is_remainder(&inst)) {
        return None;
    }
    let definitions = IdDefinitions::from_module(module);
    let insts = module.all_insts();
    let uses: Vec<RemainderUse> = insts
        .filter_map(|inst| match_remainder(module, &definitions, inst))
        .collect();
    let mut module = module.clone();
    let mut functions: FxHashMap<(&str, u32), Id> = FxHashMap::default();
    for used in &uses {
        let (name, width) = (used.name, used.width);
        if let Entry::Vacant(entry) = functions.entry((name, width)) {
            let (_, text) = REMAINDERS.iter().find(|row| row.0 == width)?;
            let name = format!("f_{name}_{width}");
            entry.insert(import_function(&mut module, text, &name)?);
        }
    }
    let definitions = IdDefinitions::from_module(&module);
    for used in &uses {
        let function = *functions.get(&(used.name, used.width))?;
        call_by_component(
            &mut module,
            &definitions,
            used.inst,
            used.ty,
            function,
            &used.operands,
            used.result,
        )?;
        module.remove_inst(used.inst);
    }
    if uses.iter().any(|used| used.width == 64) {
        declare_wide_integers(&mut module);
    }
    Some(module)
}

/// The remainder that an instruction computes.
fn match_remainder(
    module: &SpirvModule,
    definitions: &IdDefinitions,
    inst: InstRef<'_>,
) -> Option<RemainderUse> {
    let name = find_remainder(inst.op())?;
    let ty = inst.result_type()?;
    let (_, part, _) = split_vector_type(module, definitions, ty)?;
    let float = definitions.get(module, part)?;
    Some(RemainderUse {
        inst: inst.handle(),
        ty,
        result: inst.result()?,
        operands: inst.id_operands(0).collect(),
        name,
        width: float.operand_word(0).max(32),
    })
}

/// Declares integers of 64 bits, unless the module does.
fn declare_wide_integers(module: &mut SpirvModule) {
    let wide = Capability::Int64.0;
    let mut declared = module.section_insts(ModuleSection::Capabilities);
    if !declared.any(|declared| declared.operand_word(0) == wide) {
        let inst = module.create_inst(Op::Capability, &[wide]);
        module.append_inst(ModuleSection::Capabilities.list(), inst);
    }
}
