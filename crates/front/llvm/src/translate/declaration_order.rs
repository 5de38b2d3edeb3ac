//! Order of module-scope declarations, as Khronos' translator has it.
//!
//! First come integer types and the constants that types need, then the other types, then
//! everything else. Within each group the order of creation is kept.
//!
//! Cost: linear in the types, constants and variables of the module.

use spirula_spirv::IdMap;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{IdWords, InstRef, ModuleSection, SpirvModule};

/// Ranks in their order. 0 is the rank of instructions that are not at module scope.
const INTEGERS: u8 = 1;
const NUMBERS: u8 = 2;
const TYPES: u8 = 3;
const REST: u8 = 4;

/// Orders types, constants and variables. A declaration that depends on one of a later rank gets
/// that rank.
pub(super) fn order_globals(module: &mut SpirvModule) {
    // Instructions that depend on imports and on widths are debug information, which has the last
    // rank.
    let ids = IdWords::new(&SpirvModule::new(module.version));
    let mut ranks = IdMap::new(module.bound(), 0);
    let mut sorted = [const { Vec::new() }; REST as usize + 1];
    for inst in module.section_insts(ModuleSection::Globals) {
        let mut rank = own_rank(inst, &ranks);
        ids.visit_uses(inst, |_, id| rank = rank.max(ranks[id]));
        if let Some(id) = inst.result() {
            ranks.set(id, rank);
        }
        sorted[usize::from(rank)].push(inst.handle());
    }
    for inst in sorted.into_iter().flatten() {
        module.remove_inst(inst);
        module.append_inst(ModuleSection::Globals.list(), inst);
    }
}

fn own_rank(inst: InstRef<'_>, ranks: &IdMap<u8>) -> u8 {
    let of_integer = inst.result_type().is_some_and(|ty| ranks[ty] == INTEGERS);
    match inst.op() {
        Op::TypeInt => INTEGERS,
        Op::Constant | Op::ConstantNull | Op::SpecConstant | Op::Undef if of_integer => NUMBERS,
        op if op.is_type_declaration() => TYPES,
        _ => REST,
    }
}
