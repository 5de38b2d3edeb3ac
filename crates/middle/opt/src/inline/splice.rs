//! Function splicing: copies the body of a function to the place of a call.
//!
//! The block of a call is split after the call, and the blocks of the copy go between the two halves. A loop header
//! keeps its merge instruction, which stays in the first half. The calls of a block are inlined from the last to
//! the first, so that each instruction moves once.

use super::callees::{CalleeSummary, CalleeTable};
use super::names_and_decorations::{IdAnnotations, InstRefId};
use super::scopes::{self, CallDebugLocation, DebugInstKind};
use crate::merge_return::ReturnMerger;
use crate::structure;
use rustc_hash::FxHashSet;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::analysis::{BlockDominators, FlowGraph};
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Block, ErasedIds, Func, IdWords, Inst, InstRef, List, SpirvModule};
use spirula_spirv::{Id, IdMap};

/// Replaces calls by copies of functions.
pub struct CallInliner {
    ids: IdWords,
    callees: CalleeTable,
    annotations: IdAnnotations,
    /// For each id of the callee its id in the copy.
    copy: IdMap<Option<Id>>,
    /// The replacement of the result of each call.
    replaced: IdMap<Option<Id>>,
    /// Blocks by label.
    blocks: IdMap<Option<Block>>,
    structured: bool,
    words: Vec<u32>,
    /// Merges the returns of callees.
    pub merger: ReturnMerger,
    /// Number of inlined calls.
    pub inlined: usize,
    /// Functions that replaced a call.
    copied: Vec<Func>,
}

/// A call with the debug instructions before it.
struct InlineCallSite {
    inst: Inst,
    callee: Func,
    body: CalleeSummary,
    site: CallDebugLocation,
}

impl CallInliner {
    pub fn new(module: &SpirvModule, callees: CalleeTable) -> Self {
        let mut blocks = IdMap::new(module.bound(), None);
        for func in module.functions() {
            for block in &module.function(*func).blocks {
                blocks.set(module.label(*block), Some(*block));
            }
        }
        CallInliner {
            ids: IdWords::new(module),
            callees,
            annotations: IdAnnotations::new(module),
            copy: IdMap::new(module.bound(), None),
            replaced: IdMap::new(module.bound(), None),
            blocks,
            structured: module.is_structured(),
            words: Vec::new(),
            merger: ReturnMerger::new(module),
            inlined: 0,
            copied: Vec::new(),
        }
    }

    /// Inlines the calls of a function whose callees are in their final form.
    pub fn inline_calls(
        &mut self,
        module: &mut SpirvModule,
        func: Func,
        erased: &mut ErasedIds,
    ) -> Result<(), SourceDiagnostic> {
        let blocks = module.function(func).blocks.clone();
        let has_call = |b: &Block| module.body(*b).any(|i| i.op() == Op::FunctionCall);
        let calling: Vec<bool> = blocks.iter().map(has_call).collect();
        if !calling.contains(&true) {
            return Ok(());
        }
        let mut continuing = None;
        let mut order = Vec::with_capacity(blocks.len());
        let before = self.inlined;
        for (block, calling) in blocks.iter().zip(calling) {
            order.push(*block);
            if !calling {
                continue;
            }
            let calls = self.take_inlinable_calls(module, *block, erased);
            let mut tails: Vec<Vec<Block>> = Vec::new();
            for call in calls.into_iter().rev() {
                if call.body.ends && self.structured {
                    if continuing.is_none() {
                        continuing = Some(self.find_continue_blocks(module, func)?);
                    }
                    if continuing.as_ref().is_some_and(|c| c.contains(block)) {
                        continue;
                    }
                }
                tails.extend(self.splice_callee(module, func, *block, &call, erased));
            }
            order.extend(tails.into_iter().rev().flatten());
        }
        if self.inlined > before {
            module.set_block_order(func, order);
            self.rewrite_results(module, func);
        }
        Ok(())
    }

    /// Deletes inlined functions without remaining calls that only names and decorations refer to. Returns their
    /// number.
    pub fn drop_uncalled(&mut self, module: &mut SpirvModule, erased: &mut ErasedIds) -> usize {
        self.copied.sort_unstable();
        self.copied.dedup();
        self.copied.retain(|f| !self.callees.is_seen_outside(*f));
        if self.copied.is_empty() {
            return 0;
        }
        let mut dead: IdMap<bool> = IdMap::new(module.bound(), false);
        for func in &self.copied {
            dead.set(module.function_id(*func), true);
        }
        for inst in module.all_insts().filter(|i| !i.op().is_about_ids()) {
            self.ids.visit_uses(inst, |_, id| {
                if dead[id] {
                    dead.set(id, false);
                }
            });
        }
        self.copied.retain(|f| dead[module.function_id(*f)]);
        let gone = &self.copied;
        module.erase_functions(|f| gone.binary_search(&f).is_ok(), erased);
        gone.len()
    }

    fn take_inlinable_calls(
        &mut self,
        module: &mut SpirvModule,
        block: Block,
        erased: &mut ErasedIds,
    ) -> Vec<InlineCallSite> {
        let mut site = CallDebugLocation::default();
        let mut found: Vec<(Inst, Id, CallDebugLocation)> = Vec::new();
        for inst in module.body(block) {
            site.record_inst(&self.ids, inst);
            if inst.op() == Op::FunctionCall {
                found.push((inst.handle(), inst.id_operand(0), site));
            }
        }
        let mut calls = Vec::new();
        for (inst, function, site) in found {
            let (merger, ids) = (&mut self.merger, &self.ids);
            let single = |module: &mut SpirvModule, func| {
                merger
                    .merge_returns(module, ids, func, erased)
                    .unwrap_or(false)
            };
            if let Some((callee, body)) = self.callees.choose_callee(module, function, single) {
                calls.push(InlineCallSite {
                    inst,
                    callee,
                    body,
                    site,
                });
            }
        }
        calls
    }

    /// Assigns new ids to a callee, or those of the arguments.
    fn assign_callee_ids(&mut self, module: &mut SpirvModule, call: &InlineCallSite) -> bool {
        let arguments: Vec<Id> = module.inst(call.inst).id_operands(1).collect();
        let function = module.function(call.callee);
        let params: Vec<Id> = module
            .list_insts(function.params)
            .filter_map(InstRef::result)
            .collect();
        if params.len() != arguments.len() {
            return false;
        }
        for (param, argument) in params.into_iter().zip(arguments) {
            self.copy.set(param, Some(argument));
        }
        let mut results: Vec<InstRefId> = Vec::new();
        for block in &function.blocks {
            let label = module.inst(module.block(*block).label);
            results.extend(InstRefId::from_inst(label));
            let body = module.body(*block);
            let copied = body.filter(|i| !self.ids.is_unknown_remark(*i));
            results.extend(copied.filter_map(InstRefId::from_inst));
        }
        for old in results {
            let new = module.fresh_id();
            self.copy.set(old.id, Some(new));
            self.annotations.copy_annotations(module, old, new);
        }
        true
    }

    /// A copy of an instruction, outside of any list.
    fn clone_inst(&mut self, module: &mut SpirvModule, inst: Inst) -> Inst {
        let source = module.inst(inst);
        self.words.clear();
        self.words.extend_from_slice(source.words());
        let (words, copy) = (&mut self.words, &self.copy);
        self.ids.visit_uses(source, |at, id| {
            if let Some(new) = copy[id] {
                words[at] = new.word();
            }
        });
        if let Some(new) = source.result().and_then(|id| copy[id]) {
            let at = source.words().len() - source.operands().len() - 1;
            words[at] = new.word();
        }
        let new = module.create_inst(source.op(), words);
        self.ids.record_inst(module.inst(new));
        new
    }

    /// The blocks in the continue construct of a loop.
    fn find_continue_blocks(
        &self,
        module: &SpirvModule,
        func: Func,
    ) -> Result<FxHashSet<Block>, SourceDiagnostic> {
        let cfg = FlowGraph::with_ids(module, &self.ids, func)?;
        let within =
            structure::find_continue_blocks(module, &cfg, &BlockDominators::from_cfg(&cfg));
        let blocks = (0..cfg.len() as u32).map(|at| cfg.block(at));
        Ok(blocks.zip(within).filter(|b| b.1).map(|b| b.0).collect())
    }

    /// Replaces a call by a copy. Returns the blocks after that of the call, in their order.
    fn splice_callee(
        &mut self,
        module: &mut SpirvModule,
        func: Func,
        block: Block,
        call: &InlineCallSite,
        erased: &mut ErasedIds,
    ) -> Option<Vec<Block>> {
        let blocks = module.function(call.callee).blocks.clone();
        let single = blocks.len() == 1
            && matches!(
                module.terminator(blocks[0]).op(),
                Op::Return | Op::ReturnValue
            );
        if !single && self.is_undivided(module, block) || !self.assign_callee_ids(module, call) {
            return None;
        }
        self.inlined += 1;
        self.copied.push(call.callee);
        let mut place = InlineCopy::new(self, module, func, call);
        if single {
            let value =
                place.copy_block_body(module, self, blocks[0], InsertionPoint::Before(call.inst));
            place.restore_caller_scope(module, InsertionPoint::Before(call.inst));
            self.replace_call_result(module, call, value, erased);
            return Some(Vec::new());
        }
        let post = self.split_after_call(module, func, block, call.inst);
        module.copy_sampled_images(&self.ids, block, post);
        let mut made = Vec::with_capacity(blocks.len() + 1);
        let mut returned: Vec<(Id, Option<Id>)> = Vec::new();
        let entry_label = module.label(blocks[0]);
        let own_entry = module
            .list_insts(module.block(block).body)
            .next_back()
            .is_some_and(|i| i.op() == Op::LoopMerge)
            || module
                .merge_inst(blocks[0])
                .is_some_and(|m| m.op() == Op::LoopMerge);
        if !own_entry {
            self.copy.set(entry_label, Some(module.label(block)));
        }
        for (at, source) in blocks.iter().enumerate() {
            let target = if at == 0 && !own_entry {
                block
            } else {
                let label = self.copy[module.label(*source)].unwrap_or(Id::MAX);
                let target = module.create_block(func, label);
                self.blocks.set(label, Some(target));
                made.push(target);
                target
            };
            if at == 0 && own_entry {
                let branch = module.create_inst(Op::Branch, &[module.label(target).word()]);
                module.append_inst(module.block(block).body, branch);
            }
            let list = module.block(target).body;
            let value = place.copy_block_body(module, self, *source, InsertionPoint::End(list));
            let returns = matches!(
                module.terminator(*source).op(),
                Op::Return | Op::ReturnValue
            );
            if returns {
                let branch = module.create_inst(Op::Branch, &[module.label(post).word()]);
                module.append_inst(list, branch);
                returned.push((module.label(target), value));
            }
        }
        let first = module.first_after_phis(post);
        place.restore_caller_scope(module, InsertionPoint::Before(first));
        self.join_returns(module, call, post, &returned, erased);
        made.push(post);
        Some(made)
    }

    /// Whether a block cannot be split: it is a loop header, and its branch would require a merge instruction of
    /// its own.
    fn is_undivided(&self, module: &SpirvModule, block: Block) -> bool {
        let Some(merge) = module.merge_inst(block).filter(|m| m.op() == Op::LoopMerge) else {
            return false;
        };
        let terminator = module.terminator(block);
        let leaves = |id: Id| id == merge.id_operand(0) || id == merge.id_operand(1);
        self.structured
            && match terminator.op() {
                Op::BranchConditional => {
                    !leaves(terminator.id_operand(1)) && !leaves(terminator.id_operand(2))
                }
                Op::Switch => true,
                _ => false,
            }
    }

    /// Moves the instructions after a call into a new block, except the merge instruction of a loop. The first
    /// half has no terminator then.
    fn split_after_call(
        &mut self,
        module: &mut SpirvModule,
        func: Func,
        block: Block,
        call: Inst,
    ) -> Block {
        let label = module.fresh_id();
        let post = module.create_block(func, label);
        self.blocks.set(label, Some(post));
        let merge = module.merge_inst(block).filter(|m| m.op() == Op::LoopMerge);
        let merge = merge.map(InstRef::handle);
        let (old, new) = (module.block(block).body, module.block(post).body);
        let mut next = module.next(call);
        while let Some(inst) = next {
            next = module.next(inst);
            module.remove_inst(inst);
            let list = if Some(inst) == merge { old } else { new };
            module.append_inst(list, inst);
        }
        let own = module.label(block);
        if let Some(merge) = merge
            && module.inst(merge).id_operand(1) == own
        {
            // A loop of one block: the new block is its continue target.
            module.words_mut(merge)[1] = label.word();
        }
        for (_, target) in module.block_targets(&self.ids, post) {
            if let Some(target) = self.blocks[target] {
                module.rename_phi_parent(target, own, label);
            }
        }
        post
    }

    /// Connects the return values of the copy to the result of the call.
    fn join_returns(
        &mut self,
        module: &mut SpirvModule,
        call: &InlineCallSite,
        post: Block,
        returned: &[(Id, Option<Id>)],
        erased: &mut ErasedIds,
    ) {
        let values: Vec<(Id, Id)> = returned.iter().filter_map(|r| Some((r.1?, r.0))).collect();
        let inst = module.inst(call.inst);
        let (ty, result) = (inst.words()[0], inst.words()[1]);
        if values.len() < 2 {
            let value = match (values.first(), returned.is_empty()) {
                (Some((value, _)), _) => Some(*value),
                (None, true) => self.make_undefined_result(module, ty),
                (None, false) => None,
            };
            return self.replace_call_result(module, call, value, erased);
        }
        let pairs = values.iter().flat_map(|(v, l)| [v.word(), l.word()]);
        let words: Vec<u32> = [ty, result].into_iter().chain(pairs).collect();
        let phi = module.create_inst(Op::Phi, &words);
        let first = module.body(post).next().map(InstRef::handle);
        if let Some(first) = first {
            module.insert_before(first, phi);
        }
        module.remove_inst(call.inst);
    }

    /// The result of a function that never returns; nothing for `void`.
    fn make_undefined_result(&self, module: &mut SpirvModule, ty: u32) -> Option<Id> {
        let ty = Id::new(ty)?;
        let globals = module.section_insts(spirula_spirv::ir::ModuleSection::Globals);
        let is_void = globals
            .filter(|i| i.op() == Op::TypeVoid)
            .any(|i| i.result() == Some(ty));
        (!is_void).then(|| module.ensure_undef(ty))
    }

    fn replace_call_result(
        &mut self,
        module: &mut SpirvModule,
        call: &InlineCallSite,
        value: Option<Id>,
        erased: &mut ErasedIds,
    ) {
        if let (Some(result), Some(value)) = (module.inst(call.inst).result(), value) {
            self.replaced.set(result, Some(value));
        }
        module.erase_inst(call.inst, erased);
    }

    fn resolve_result(&self, mut id: Id) -> Id {
        while let Some(next) = self.replaced[id] {
            id = next;
        }
        id
    }

    fn rewrite_results(&self, module: &mut SpirvModule, func: Func) {
        for block in module.function(func).blocks.clone() {
            let mut next = module.body(block).next().map(InstRef::handle);
            while let Some(inst) = next {
                next = module.next(inst);
                self.ids
                    .rewrite_uses(module, inst, |id| self.resolve_result(id));
            }
        }
    }
}

/// The place where copies are inserted.
#[derive(Clone, Copy)]
enum InsertionPoint {
    Before(Inst),
    End(List),
}

impl InsertionPoint {
    fn insert_inst(self, module: &mut SpirvModule, inst: Inst) {
        match self {
            InsertionPoint::Before(at) => module.insert_before(at, inst),
            InsertionPoint::End(list) => module.append_inst(list, inst),
        }
    }
}

/// A copy in progress.
struct InlineCopy {
    /// The first instruction of the caller; variables go before it.
    variables: Inst,
    site: CallDebugLocation,
    inlined_at: Option<Id>,
    /// Whether lines and scopes of the callee were copied.
    lines: bool,
    scopes: bool,
}

impl InlineCopy {
    fn new(
        splicer: &CallInliner,
        module: &mut SpirvModule,
        func: Func,
        call: &InlineCallSite,
    ) -> Self {
        let entry = module.function(func).blocks[0];
        let first = module.body(entry).next().map(InstRef::handle);
        InlineCopy {
            variables: first.unwrap_or(call.inst),
            site: call.site,
            inlined_at: call.site.inlined_at(&splicer.ids, module),
            lines: false,
            scopes: false,
        }
    }

    /// Copies the instructions of a block, and returns its return value.
    fn copy_block_body(
        &mut self,
        module: &mut SpirvModule,
        splicer: &mut CallInliner,
        source: Block,
        at: InsertionPoint,
    ) -> Option<Id> {
        let mut value = None;
        let mut next = module.body(source).next().map(InstRef::handle);
        while let Some(inst) = next {
            next = module.next(inst);
            let i = module.inst(inst);
            match (i.op(), scopes::classify_debug_inst(&splicer.ids, i)) {
                (Op::Return, _) | (_, Some(DebugInstKind::Definition)) => {}
                _ if splicer.ids.is_unknown_remark(i) => {}
                (Op::ReturnValue, _) => {
                    let id = i.id_operand(0);
                    value = Some(splicer.copy[id].unwrap_or(id));
                }
                (Op::Variable, _) => self.copy_variable(module, splicer, inst, at),
                (_, Some(DebugInstKind::Scope)) => self.copy_debug_scope(module, splicer, inst, at),
                (op, kind) => {
                    self.lines |= op.is_line() || kind == Some(DebugInstKind::Line);
                    let copy = splicer.clone_inst(module, inst);
                    at.insert_inst(module, copy);
                }
            }
        }
        value
    }

    /// Copies a variable to the beginning of the caller. Its initialiser becomes a store at the beginning of the
    /// copy, which may be in a loop.
    fn copy_variable(
        &mut self,
        module: &mut SpirvModule,
        splicer: &mut CallInliner,
        inst: Inst,
        at: InsertionPoint,
    ) {
        let copy = splicer.clone_inst(module, inst);
        let words = module.inst(copy).words().to_vec();
        if let [ty, id, class, initial] = words[..] {
            module.replace_words(copy, &[ty, id, class]);
            let store = module.create_inst(Op::Store, &[id, initial]);
            at.insert_inst(module, store);
        }
        module.insert_before(self.variables, copy);
    }

    fn copy_debug_scope(
        &mut self,
        module: &mut SpirvModule,
        splicer: &mut CallInliner,
        inst: Inst,
        at: InsertionPoint,
    ) {
        let Some(mut site) = self.inlined_at else {
            return;
        };
        let copy = splicer.clone_inst(module, inst);
        let mut words = module.inst(copy).words().to_vec();
        if words.len() >= 5 {
            if let Some(inner) = words.get(5).copied().and_then(Id::new) {
                let Some(chain) = scopes::chain_inlined_at(module, inner, site, 0) else {
                    return;
                };
                site = chain;
            }
            words.truncate(5);
            words.push(site.word());
            module.replace_words(copy, &words);
        }
        at.insert_inst(module, copy);
        self.scopes = true;
    }

    /// Restores the debug scope of the caller after a copy.
    fn restore_caller_scope(&self, module: &mut SpirvModule, at: InsertionPoint) {
        let debug_insts = [
            self.site.line.filter(|_| self.lines),
            self.site.scope.filter(|_| self.scopes),
        ];
        for inst in debug_insts.into_iter().flatten() {
            let mut words = module.inst(inst).words().to_vec();
            let op = module.inst(inst).op();
            if op == Op::ExtInst {
                words[1] = module.fresh_id().word();
            }
            let copy = module.create_inst(op, &words);
            at.insert_inst(module, copy);
        }
        if self.lines && self.site.line.is_none() {
            let none = module.create_inst(Op::NoLine, &[]);
            at.insert_inst(module, none);
        }
    }
}
