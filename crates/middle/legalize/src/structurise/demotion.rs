//! Demotion: variables for phis, and for values that do not reach their uses while control flow changes.

use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::analysis::{BlockDominators, FlowGraph, IdDefinitions};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::StorageClass;
use spirula_spirv::ir::{Func, IdWords, Inst, ModuleSection, SpirvModule};
use spirula_spirv::{Id, IdMap};

/// Variables of a function that replace values.
pub struct DemotionSlots {
    /// Pointer type by pointee.
    pointers: FxHashMap<Id, Id>,
    /// Pointer type and id of each variable.
    made: Vec<(Id, Id)>,
    /// Variable of each value.
    of: IdMap<Option<Id>>,
}

impl DemotionSlots {
    /// No variables.
    pub fn new(module: &SpirvModule) -> DemotionSlots {
        let mut pointers = FxHashMap::default();
        for inst in module.section_insts(ModuleSection::Globals) {
            let is_pointer =
                inst.op() == Op::TypePointer && inst.operand_word(0) == StorageClass::Function.0;
            if let Some(id) = inst.result().filter(|_| is_pointer) {
                pointers.insert(inst.id_operand(1), id);
            }
        }
        DemotionSlots {
            pointers,
            made: Vec::new(),
            of: IdMap::new(module.bound(), None),
        }
    }

    /// Creates a variable for values of a type.
    pub fn create_variable(&mut self, module: &mut SpirvModule, ty: Id) -> Id {
        let pointer = *self.pointers.entry(ty).or_insert_with(|| {
            let id = module.fresh_id();
            let words = [id.word(), StorageClass::Function.0, ty.word()];
            let inst = module.create_inst(Op::TypePointer, &words);
            module.append_inst(ModuleSection::Globals.list(), inst);
            id
        });
        let id = module.fresh_id();
        self.made.push((pointer, id));
        id
    }

    /// The variable of a value, created at the first query.
    pub fn find_value_slot(&mut self, module: &mut SpirvModule, value: Id, ty: Id) -> Id {
        if let Some(known) = self.of[value] {
            return known;
        }
        let id = self.create_variable(module, ty);
        self.of.set(value, Some(id));
        id
    }

    /// Inserts all variables into the entry block; returns their ids.
    pub fn insert_variables(self, module: &mut SpirvModule, func: Func) -> Vec<Id> {
        let entry = module.function(func).blocks[0];
        for &(pointer, id) in &self.made {
            let words = [pointer.word(), id.word(), StorageClass::Function.0];
            let variable = module.create_inst(Op::Variable, &words);
            let first = module.body(entry).next().map(|i| i.handle());
            match first {
                Some(first) => module.insert_before(first, variable),
                None => module.append_inst(module.block(entry).body, variable),
            }
        }
        self.made.into_iter().map(|(_, id)| id).collect()
    }
}

/// Replaces values that do not dominate all of their uses by variables. The function must have no phis.
///
/// # Errors
/// When a branch has no target.
pub fn demote_values(
    module: &mut SpirvModule,
    func: Func,
    slots: &mut DemotionSlots,
) -> Result<(), SourceDiagnostic> {
    let ids = IdWords::new(module);
    let definitions = IdDefinitions::from_module(module);
    let cfg = FlowGraph::from_function(module, &definitions, func)?;
    let dominators = BlockDominators::from_cfg(&cfg);
    let mut home = IdMap::new(module.bound(), u32::MAX);
    for at in 0..cfg.len() as u32 {
        for inst in module.body(cfg.block(at)) {
            if let Some(id) = inst.result() {
                home.set(id, at);
            }
        }
    }
    let mut uses: Vec<(Inst, Id)> = Vec::new();
    for at in 0..cfg.len() as u32 {
        for inst in module.body(cfg.block(at)) {
            ids.visit_uses(inst, |_, id| {
                let from = home[id];
                if from != u32::MAX && from != at && !dominators.dominates(from, at) {
                    uses.push((inst.handle(), id));
                }
            });
        }
    }
    uses.dedup();
    let mut stored = IdMap::new(module.bound(), false);
    for (user, value) in uses {
        let Some(def) = definitions.get(module, value) else {
            continue;
        };
        let Some(ty) = def.result_type() else {
            continue;
        };
        let def = def.handle();
        let slot = slots.find_value_slot(module, value, ty);
        if !stored[value] {
            stored.set(value, true);
            let store = module.create_inst(Op::Store, &[slot.word(), value.word()]);
            module.insert_after(def, store);
        }
        let id = module.fresh_id();
        let words = [ty.word(), id.word(), slot.word()];
        let load = module.create_inst(Op::Load, &words);
        // A merge instruction has to stay directly before its branch.
        let before = module.previous(user).map(|p| module.inst(p));
        let merges = |op| matches!(op, Op::LoopMerge | Op::SelectionMerge);
        let at = match before {
            Some(merge) if merges(merge.op()) => merge.handle(),
            _ => user,
        };
        module.insert_before(at, load);
        ids.rewrite_uses(module, user, |used| if used == value { id } else { used });
    }
    Ok(())
}
