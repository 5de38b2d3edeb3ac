//! Conversion to a later version.

use super::buffers;
use super::error::ConvertError;
use super::interfaces::{ALL_VARIABLES, complete_interfaces};
use crate::grammar::{Op, SpirvVersion};
use crate::ir::{Block, Inst, InstRef, SpirvModule};

/// From here on `OpBranchConditional` has two different targets.
const DIFFERENT_TARGETS: SpirvVersion = SpirvVersion::new(1, 6);

/// Removed instructions, with their successors of the same operands. A weak exchange may fail where its
/// successor does not, but need not.
const SUCCESSORS: &[(Op, Op)] = &[
    (Op::LessOrGreater, Op::FOrdNotEqual),
    (Op::AtomicCompareExchangeWeak, Op::AtomicCompareExchange),
];

/// Raises a module to a later version. A module of that version or a later one is left unchanged.
///
/// # Errors
/// If a buffer of the form that 1.4 removed is used in a way that the newer form does not support.
pub fn raise_version(module: &mut SpirvModule, version: SpirvVersion) -> Result<(), ConvertError> {
    let old = module.version;
    if old >= version {
        return Ok(());
    }
    let reaches = |first: SpirvVersion| old < first && version >= first;
    if reaches(ALL_VARIABLES) {
        buffers::modernise_buffers(module, version)?;
    }
    replace_removed_opcodes(module, version);
    module.version = version;
    if reaches(ALL_VARIABLES) {
        complete_interfaces(module);
    }
    if reaches(DIFFERENT_TARGETS) {
        different_targets(module);
    }
    Ok(())
}

fn replace_removed_opcodes(module: &mut SpirvModule, version: SpirvVersion) {
    let taken_back = |op: Op| op.info().is_some_and(|row| version > row.last_version);
    let old = module.all_insts().filter(|i| taken_back(i.op()));
    let old: Vec<Inst> = old.map(InstRef::handle).collect();
    for inst in old {
        let op = module.inst(inst).op();
        if let Some((_, new)) = SUCCESSORS.iter().find(|s| s.0 == op) {
            let words = module.inst(inst).words().to_vec();
            let new = module.create_inst(*new, &words);
            module.insert_before(inst, new);
            module.remove_inst(inst);
        }
    }
}

/// Conditional branches whose targets are one become branches; their selections have nothing to
/// merge then.
fn different_targets(module: &mut SpirvModule) {
    for func in module.functions().to_vec() {
        let blocks: Vec<Block> = module.function(func).blocks.clone();
        for block in blocks {
            let end = module.terminator(block);
            if end.op() != Op::BranchConditional || end.id_operand(1) != end.id_operand(2) {
                continue;
            }
            let target = end.id_operand(1);
            let merge = module.merge_inst(block).map(InstRef::handle);
            module.set_terminator(block, Op::Branch, &[target.word()]);
            if let Some(merge) = merge {
                module.remove_inst(merge);
            }
        }
    }
}
