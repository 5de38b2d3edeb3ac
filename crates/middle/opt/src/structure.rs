//! Queries of passes about the kind and parts of a module, and about structured control flow.

use spirula_spirv::Id;
use spirula_spirv::analysis::{BlockDominators, FlowGraph};
use spirula_spirv::grammar::enumerants::{AddressingModel, Capability};
use spirula_spirv::grammar::{Op, literal_string_words};
use spirula_spirv::ir::{Func, Inst, InstRef, ModuleSection, SpirvModule};

/// Whether addressing is physical: addresses are numbers that can be selected and computed with.
pub fn is_physical(module: &SpirvModule) -> bool {
    let models = [AddressingModel::Physical32.0, AddressingModel::Physical64.0];
    let mut declared = module.section_insts(ModuleSection::MemoryModel);
    declared.any(|m| m.op() == Op::MemoryModel && models.contains(&m.operand_word(0)))
}

/// Whether a function has variables.
pub fn has_variables(module: &SpirvModule, func: Func) -> bool {
    let entry = module.function(func).blocks.first();
    let mut insts = entry.into_iter().flat_map(|b| module.body(*b));
    insts.any(|i| i.op() == Op::Variable)
}

/// Rewrites the interfaces of entry points: `becomes` gives the replacement of each variable. Returns the number
/// of variables that disappear.
pub fn change_interfaces(
    module: &mut SpirvModule,
    becomes: impl Fn(&SpirvModule, Id, &mut Vec<u32>),
) -> usize {
    let entries: Vec<Inst> = module
        .section_insts(ModuleSection::EntryPoints)
        .filter(|e| e.op() == Op::EntryPoint)
        .map(InstRef::handle)
        .collect();
    let mut fewer = 0;
    for entry in entries {
        let words = module.inst(entry).words();
        let name = literal_string_words(words.get(2..).unwrap_or(&[]));
        let (head, variables) = words.split_at((2 + name).min(words.len()));
        let mut new = head.to_vec();
        for id in variables.iter().filter_map(|v| Id::new(*v)) {
            becomes(module, id, &mut new);
        }
        if new != words {
            fewer += words.len().saturating_sub(new.len());
            module.replace_words(entry, &new);
        }
    }
    fewer
}

/// For each block, by position, whether it is in the continue construct of a loop. A loop of one block has no
/// other block in it.
pub fn find_continue_blocks(
    module: &SpirvModule,
    cfg: &FlowGraph,
    dominators: &BlockDominators,
) -> Vec<bool> {
    const NONE: u32 = u32::MAX;
    let mut within = vec![false; cfg.len()];
    let mut header_of_merge = vec![NONE; cfg.len()];
    for at in 0..cfg.len() as u32 {
        let merge = module.merge_inst(cfg.block(at));
        let Some(merge) = merge.filter(|m| m.op() == Op::LoopMerge) else {
            continue;
        };
        if let Some(target) = cfg.block_position(merge.id_operand(1)).filter(|t| *t != at) {
            within[target as usize] = true;
        }
        if let Some(left) = cfg.block_position(merge.id_operand(0)) {
            header_of_merge[left as usize] = at;
        }
    }
    for &at in dominators.preorder() {
        let from = match header_of_merge[at as usize] {
            NONE => dominators.immediate_dominator(at),
            header => Some(header),
        };
        within[at as usize] |= from.is_some_and(|b| within[b as usize]);
    }
    within
}

/// Declares a capability if the module does not.
pub fn declare_capability(module: &mut SpirvModule, wanted: Capability) {
    let mut declared = module.section_insts(ModuleSection::Capabilities);
    if !declared.any(|c| c.op() == Op::Capability && c.operand_word(0) == wanted.0) {
        let capability = module.create_inst(Op::Capability, &[wanted.0]);
        module.append_inst(ModuleSection::Capabilities.list(), capability);
    }
}
