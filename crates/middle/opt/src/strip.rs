//! Deletion of every instruction of a kind.

use spirula_spirv::IdMap;
use spirula_spirv::ir::{ErasedIds, IdWords, Inst, InstRef, ModuleSection, SpirvModule};

/// Deletes the instructions for which a predicate holds. Returns their number.
pub fn erase_where(
    module: &mut SpirvModule,
    erased: &mut ErasedIds,
    is_dead: impl Fn(InstRef<'_>) -> bool,
) -> usize {
    let found: Vec<Inst> = module
        .all_insts()
        .filter(|i| is_dead(*i))
        .map(InstRef::handle)
        .collect();
    for inst in &found {
        module.erase_inst(*inst, erased);
    }
    found.len()
}

/// Deletes the instructions of a section for which a predicate holds and whose results are unused.
pub fn erase_unused(
    module: &mut SpirvModule,
    ids: &IdWords,
    section: ModuleSection,
    erased: &mut ErasedIds,
    is_removable: impl Fn(InstRef<'_>) -> bool,
) -> usize {
    let mut used = IdMap::new(module.bound(), false);
    for inst in module.all_insts() {
        ids.visit_uses(inst, |_, id| used.set(id, true));
    }
    let is_free = |i: &InstRef<'_>| is_removable(*i) && i.result().is_some_and(|id| !used[id]);
    let free: Vec<Inst> = module
        .section_insts(section)
        .filter(is_free)
        .map(InstRef::handle)
        .collect();
    for inst in &free {
        module.erase_inst(*inst, erased);
    }
    free.len()
}
