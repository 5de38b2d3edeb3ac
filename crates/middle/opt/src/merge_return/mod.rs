//! Return merging: gives a structured function one return. Returns become branches, and values that no longer reach
//! their uses are repaired.

mod return_targets;
mod ssa_repair;

use crate::inline::{DebugKind, debug_kind};
use crate::pool::InternPool;
use return_targets::ReturnPlan;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::analysis::{BlockDominators, ConstructTree, FlowGraph};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{SelectionControl, StorageClass};
use spirula_spirv::ir::{
    Block, ErasedIds, Func, IdWords, Inst, InstRef, ModuleSection, SpirvModule,
};
use spirula_spirv::{Id, IdMap};
use ssa_repair::SsaRepair;

/// Merges returns, function by function.
pub struct ReturnMerger {
    pool: Option<InternPool>,
    repair: SsaRepair,
    void: IdMap<bool>,
    /// Number of functions whose returns were merged.
    pub merged: usize,
    /// Number of functions that lost unreachable blocks.
    pub trimmed: usize,
}

/// The additions to a function: variables, and the block that returns.
struct MergedReturn {
    /// The variable of the return value.
    value: Option<(Id, Id)>,
    /// The variable that records whether the function has returned, with its type and the constant `true`.
    done: Option<(Id, Id, Id)>,
    end: Block,
}

impl ReturnMerger {
    pub fn new(module: &SpirvModule) -> Self {
        let mut void = IdMap::new(0, false);
        for ty in module.section_insts(ModuleSection::Globals) {
            if let Some(id) = ty.result().filter(|_| ty.op() == Op::TypeVoid) {
                void.set(id, true);
            }
        }
        ReturnMerger {
            pool: None,
            repair: SsaRepair::new(module),
            void,
            merged: 0,
            trimmed: 0,
        }
    }

    /// Gives a function at most one return, outside of all constructs. Returns whether this succeeded.
    ///
    /// # Errors
    /// If the target of a branch is no label of the function.
    pub fn merge_returns(
        &mut self,
        module: &mut SpirvModule,
        ids: &IdWords,
        func: Func,
        erased: &mut ErasedIds,
    ) -> Result<bool, SourceDiagnostic> {
        self.trimmed += usize::from(module.remove_unreachable(ids, func, erased));
        let cfg = FlowGraph::with_ids(module, ids, func)?;
        let dominators = BlockDominators::from_cfg(&cfg);
        let constructs = ConstructTree::from_cfg(module, &cfg, &dominators);
        let returns = return_targets::find_return_blocks(module, &cfg, &dominators);
        if returns.is_empty()
            || returns.len() == 1 && constructs.innermost_construct(returns[0]).is_none()
        {
            return Ok(true);
        }
        let Some(plan) = ReturnPlan::new(module, &cfg, &dominators, &constructs, returns) else {
            return Ok(false);
        };
        if !self.repair.is_possible(module, ids, &cfg) {
            return Ok(false);
        }
        let entry = cfg.block(0);
        let Some(first) = module.body(entry).find(|i| i.op() != Op::Variable) else {
            return Ok(false);
        };
        let first = first.handle();
        let definition = module
            .body(entry)
            .find(|i| debug_kind(ids, *i) == Some(DebugKind::Definition));
        let definition = definition.map(InstRef::handle);
        if module.split_block(ids, entry, first).is_err() {
            return Ok(false);
        }
        // `DebugFunctionDefinition` belongs to the first block of a function.
        if let Some(definition) = definition {
            let end = module.terminator(entry).handle();
            module.move_before(end, definition);
        }
        let mut pool = self.pool.take().unwrap_or_else(|| InternPool::new(module));
        self.apply_plan(module, ids, func, &cfg, &plan, &mut pool);
        self.repair.repair_function(module, ids, func, &mut pool)?;
        self.pool = Some(pool);
        self.merged += 1;
        Ok(true)
    }

    fn apply_plan(
        &mut self,
        module: &mut SpirvModule,
        ids: &IdWords,
        func: Func,
        cfg: &FlowGraph,
        plan: &ReturnPlan,
        pool: &mut InternPool,
    ) {
        let parts = self.create_merged_return(module, func, plan, pool);
        self.wrap_in_switch(module, func, &parts, pool);
        for exit in &plan.returns {
            self.redirect_return(module, cfg, exit.block, exit.target, &parts, pool);
        }
        for exit in &plan.merges {
            self.continue_return(module, ids, cfg, exit, &parts, pool);
        }
    }

    fn create_merged_return(
        &self,
        module: &mut SpirvModule,
        func: Func,
        plan: &ReturnPlan,
        pool: &mut InternPool,
    ) -> MergedReturn {
        let label = module.fresh_id();
        let end = module.create_block(func, label);
        let list = module.block(end).body;
        let result = module.inst(module.function(func).def).result_type();
        let value = result.filter(|ty| !self.void[*ty]).map(|ty| {
            let variable = create_variable(module, func, ty, pool);
            let loaded = module.fresh_id();
            let words = [ty, loaded, variable].map(Id::word);
            let load = module.create_inst(Op::Load, &words);
            let give = module.create_inst(Op::ReturnValue, &[loaded.word()]);
            module.append_inst(list, load);
            module.append_inst(list, give);
            (ty, variable)
        });
        if value.is_none() {
            let give = module.create_inst(Op::Return, &[]);
            module.append_inst(list, give);
        }
        let done = (!plan.merges.is_empty()).then(|| {
            let ty = pool.intern_bool_type(module);
            let variable = create_variable(module, func, ty, pool);
            let yes = pool.intern_bool_constant(module, ty, true);
            (ty, variable, yes)
        });
        MergedReturn { value, done, end }
    }

    /// Wraps the body in a switch of one case, which selections can leave.
    fn wrap_in_switch(
        &self,
        module: &mut SpirvModule,
        func: Func,
        parts: &MergedReturn,
        pool: &mut InternPool,
    ) {
        let entry = module.function(func).blocks[0];
        let terminator = module.terminator(entry);
        let (branch, body) = (terminator.handle(), terminator.id_operand(0));
        if let Some((ty, variable, _)) = parts.done {
            let no = pool.intern_bool_constant(module, ty, false);
            let store = module.create_inst(Op::Store, &[variable.word(), no.word()]);
            module.insert_before(branch, store);
        }
        let end = module.label(parts.end);
        let merge = [end.word(), SelectionControl::None.0];
        let merge = module.create_inst(Op::SelectionMerge, &merge);
        module.insert_before(branch, merge);
        let zero = pool.intern_u32_constant(module, 0);
        module.set_terminator(entry, Op::Switch, &[zero.word(), body.word()]);
    }

    /// Replaces a return by a branch out of its construct.
    fn redirect_return(
        &self,
        module: &mut SpirvModule,
        cfg: &FlowGraph,
        block: u32,
        target: Option<u32>,
        parts: &MergedReturn,
        pool: &mut InternPool,
    ) {
        let block = cfg.block(block);
        let terminator = module.terminator(block);
        let (at, value) = (terminator.handle(), terminator.get_id(0));
        if let (Some((_, variable)), Some(value)) = (parts.value, value) {
            let store = module.create_inst(Op::Store, &[variable.word(), value.word()]);
            module.insert_before(at, store);
        }
        if let (Some((_, variable, yes)), Some(_)) = (parts.done, target) {
            let store = module.create_inst(Op::Store, &[variable.word(), yes.word()]);
            module.insert_before(at, store);
        }
        let target = target.map_or(parts.end, |t| cfg.block(t));
        let label = module.label(target);
        module.set_terminator(block, Op::Branch, &[label.word()]);
        extend_phis(module, target, block, pool);
    }

    /// Makes the merge block of a construct continue to the next construct around it if the function has
    /// returned.
    fn continue_return(
        &self,
        module: &mut SpirvModule,
        ids: &IdWords,
        cfg: &FlowGraph,
        exit: &return_targets::ReturnExit,
        parts: &MergedReturn,
        pool: &mut InternPool,
    ) {
        let block = cfg.block(exit.block);
        let target = exit.target.map_or(parts.end, |t| cfg.block(t));
        let label = module.label(target);
        let Some((ty, variable, _)) = parts.done else {
            return;
        };
        if exit.only {
            module.set_terminator(block, Op::Branch, &[label.word()]);
            extend_phis(module, target, block, pool);
            return;
        }
        let first = module.first_after_phis(block);
        let Ok(rest) = module.split_block(ids, block, first) else {
            return;
        };
        let rest = module.label(rest);
        let done = module.fresh_id();
        let load = module.create_inst(Op::Load, &[ty, done, variable].map(Id::word));
        let branch = module.terminator(block).handle();
        module.insert_before(branch, load);
        let words = [done, label, rest].map(Id::word);
        module.set_terminator(block, Op::BranchConditional, &words);
        extend_phis(module, target, block, pool);
    }
}

/// Gives the phis of a block undefined values for a new predecessor.
fn extend_phis(module: &mut SpirvModule, block: Block, parent: Block, pool: &mut InternPool) {
    let parent = module.label(parent);
    let phis: Vec<Inst> = module.phis(block).map(InstRef::handle).collect();
    for phi in phis {
        if let Some(ty) = module.inst(phi).result_type() {
            let undef = pool.intern_undef(module, ty);
            module.set_phi_value(phi, parent, undef);
        }
    }
}

/// A new function variable.
fn create_variable(module: &mut SpirvModule, func: Func, ty: Id, pool: &mut InternPool) -> Id {
    let pointer = pool.local_pointer(module, ty);
    let id = module.fresh_id();
    let words = [pointer.word(), id.word(), StorageClass::Function.0];
    let inst = module.create_inst(Op::Variable, &words);
    let entry = module.function(func).blocks[0];
    let first = module.body(entry).next().map(InstRef::handle);
    if let Some(first) = first {
        module.insert_before(first, inst);
    }
    id
}
