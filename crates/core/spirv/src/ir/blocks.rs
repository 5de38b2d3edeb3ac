//! Control-flow editing: blocks and edges, with phis kept consistent.
//!
//! Each operation leaves the module well-formed, with phis that fit the graph, or returns an error and
//! changes nothing. Where a module must have structured control flow (it declares `Shader`), edits
//! that would break its rules are refused. Edits of edges change dominance: see
//! [`SpirvModule::order_blocks`]. An edge that is added or redirected may bypass the definition of a
//! used value. Callers must repair such uses.

use super::module::{Block, Func, Inst, ModuleSection, SpirvModule};
use super::{IdWords, InstRef};
use crate::Id;
use crate::grammar::Kind;
use crate::grammar::enumerants::Capability;
use crate::grammar::{Op, SpirvVersion};
use std::fmt;

/// The reason why an edit of the control-flow graph is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EditError {
    /// The instruction is not in the block, or is a phi, a variable or after the merge instruction, so that no
    /// block can begin there.
    NoSplitHere,
    /// The blocks are not joined by an edge.
    NoEdge(Id, Id),
    /// Structured control flow has no place for the block or edge.
    Unstructured(Id),
    /// The default target of an `OpSwitch` cannot be removed.
    DefaultEdge(Id),
    /// The block does not end in `OpBranch`.
    NoBranch(Id),
    /// The function's entry block has no predecessors.
    Entry(Id),
    /// Both targets of the block's `OpBranchConditional` would be the same, which SPIR-V allows up to
    /// version 1.5.
    SameTargets(Id),
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EditError::NoSplitHere => f.write_str("no block can begin at this instruction"),
            EditError::NoEdge(from, to) => write!(f, "there is no edge from {from} to {to}"),
            EditError::Unstructured(label) => {
                write!(
                    f,
                    "the edit would break the structured control flow at {label}"
                )
            }
            EditError::DefaultEdge(label) => {
                write!(
                    f,
                    "the default target of the OpSwitch in {label} cannot be removed"
                )
            }
            EditError::NoBranch(label) => write!(f, "the block {label} does not end in OpBranch"),
            EditError::Entry(label) => write!(f, "nothing can lead to the entry block {label}"),
            EditError::SameTargets(label) => write!(
                f,
                "both targets of the branch in {label} would be the same, which SPIR-V 1.6 does not allow"
            ),
        }
    }
}

impl std::error::Error for EditError {}

impl SpirvModule {
    /// Whether control flow must be structured: the module declares `Shader`, or a capability that implies it.
    pub fn is_structured(&self) -> bool {
        let mut declared: Vec<Capability> = self
            .section_insts(ModuleSection::Capabilities)
            .filter(|c| c.op() == Op::Capability)
            .map(|c| Capability(c.operand_word(0)))
            .collect();
        let mut at = 0;
        while let Some(capability) = declared.get(at).copied() {
            at += 1;
            if capability == Capability::Shader {
                return true;
            }
            let row = Kind::Capability.info().enumerant_by_value(capability.0);
            for implied in row.map_or(&[][..], |r| r.capabilities) {
                if !declared.contains(implied) {
                    declared.push(*implied);
                }
            }
        }
        false
    }

    /// The targets of a block's terminator with their positions among its words, in its order.
    pub fn block_targets(&self, ids: &IdWords, block: Block) -> Vec<(usize, Id)> {
        let mut targets = Vec::new();
        self.visit_targets(ids, self.terminator(block), |at, id| targets.push((at, id)));
        targets
    }

    pub(super) fn visit_targets(
        &self,
        ids: &IdWords,
        terminator: InstRef<'_>,
        mut visit: impl FnMut(usize, Id),
    ) {
        let skip = match terminator.op() {
            Op::Branch => 0,
            Op::BranchConditional | Op::Switch => 1,
            _ => return,
        };
        ids.visit_uses(terminator, |at, id| {
            if at >= skip {
                visit(at, id);
            }
        });
    }

    /// The phis of a block.
    #[inline]
    pub fn phis(&self, block: Block) -> impl Iterator<Item = InstRef<'_>> {
        self.body(block)
            .take_while(|i| i.op() == Op::Phi || i.op().is_line())
            .filter(|i| i.op() == Op::Phi)
    }

    /// The first instruction of a block after its phis.
    pub fn first_after_phis(&self, block: Block) -> Inst {
        let found = self
            .body(block)
            .find(|i| i.op() != Op::Phi && !i.op().is_line());
        found.unwrap_or_else(|| self.terminator(block)).handle()
    }

    /// The place for new instructions at the end of a block: before its merge instruction or terminator.
    pub fn before_end(&self, block: Block) -> Inst {
        let merge = self.merge_inst(block);
        merge.unwrap_or_else(|| self.terminator(block)).handle()
    }

    /// The value that a phi has from a block.
    pub fn phi_value(&self, phi: Inst, parent: Id) -> Option<Id> {
        let operands = self.inst(phi).operands();
        let pair = operands.chunks_exact(2).find(|p| p[1] == parent.word())?;
        Id::new(pair[0])
    }

    /// Sets the value of a phi for a predecessor.
    pub fn set_phi_value(&mut self, phi: Inst, parent: Id, value: Id) {
        let mut words = self.inst(phi).words().to_vec();
        let old = words[2..]
            .chunks_exact_mut(2)
            .find(|p| p[1] == parent.word());
        match old {
            Some(pair) => pair[0] = value.word(),
            None => words.extend([value.word(), parent.word()]),
        }
        self.replace_words(phi, &words);
    }

    /// Replaces the predecessor `old` by `new` in the phis of a block.
    pub fn rename_phi_parent(&mut self, block: Block, old: Id, new: Id) {
        let phis: Vec<Inst> = self.phis(block).map(InstRef::handle).collect();
        for phi in phis {
            for pair in self.words_mut(phi)[2..].chunks_exact_mut(2) {
                if pair[1] == old.word() {
                    pair[1] = new.word();
                }
            }
        }
    }

    /// Takes the pairs of a block out of another's phis.
    pub fn remove_phi_parent(&mut self, block: Block, parent: Id) {
        let phis: Vec<Inst> = self.phis(block).map(InstRef::handle).collect();
        for phi in phis {
            let words = self.inst(phi).words();
            let (head, pairs) = words.split_at(2);
            let kept = pairs.chunks_exact(2).filter(|p| p[1] != parent.word());
            let kept: Vec<u32> = head.iter().chain(kept.flatten()).copied().collect();
            if kept.len() < words.len() {
                self.replace_words(phi, &kept);
            }
        }
    }

    /// Replaces the terminator of a block. Callers must update phis.
    pub fn set_terminator(&mut self, block: Block, op: Op, words: &[u32]) -> Inst {
        let old = self.terminator(block).handle();
        let new = self.create_inst(op, words);
        self.insert_before(old, new);
        self.remove_inst(old);
        new
    }

    /// Creates an empty block after another one of its function.
    pub fn create_block_after(&mut self, before: Block) -> Block {
        let func = self.block(before).func;
        let label = self.fresh_id();
        let block = self.create_block(func, label);
        let blocks = &mut self.functions[func.index()].blocks;
        blocks.pop();
        let at = blocks.iter().position(|b| *b == before);
        blocks.insert(at.map_or(blocks.len(), |at| at + 1), block);
        block
    }

    /// Sets the order of a function's blocks, the entry block first. Omitted blocks are removed.
    ///
    /// # Panics
    /// If one of them belongs to another function.
    pub fn set_block_order(&mut self, func: Func, order: Vec<Block>) {
        assert!(
            order.iter().all(|b| self.block(*b).func == func),
            "a block of another function"
        );
        self.set_blocks(func, order);
    }

    /// The block of a function with a label.
    pub fn find_block(&self, func: Func, label: Id) -> Option<Block> {
        let blocks = &self.function(func).blocks;
        blocks.iter().copied().find(|b| self.label(*b) == label)
    }

    /// Moves an instruction before another one, in any block. That its operands are available
    /// there is the caller's care.
    pub fn move_before(&mut self, at: Inst, inst: Inst) {
        self.remove_inst(inst);
        self.insert_before(at, inst);
    }

    /// Splits a block: `at` and all instructions after it move to a new block, to which the old one branches. A
    /// loop header keeps its merge instruction. If a loop has a single block, the new block becomes its continue
    /// target. Sampled images that the new block uses are made there again.
    ///
    /// # Errors
    /// If no block can begin at `at`, or if a structured loop header would leave its conditional branch without
    /// a merge instruction.
    pub fn split_block(
        &mut self,
        ids: &IdWords,
        block: Block,
        at: Inst,
    ) -> Result<Block, EditError> {
        let op = self.inst(at).op();
        let misplaced = matches!(op, Op::Phi | Op::Variable | Op::UntypedVariableKHR);
        if misplaced || self.list_of(at) != Some(self.block(block).body) {
            return Err(EditError::NoSplitHere);
        }
        let merge = self.merge_inst(block).map(|m| (m.op(), m.handle()));
        if merge.is_some() && self.terminator(block).handle() == at {
            return Err(EditError::NoSplitHere);
        }
        let label = self.label(block);
        let is_loop = matches!(merge, Some((Op::LoopMerge, _)));
        if is_loop && self.is_structured() && self.terminator(block).op() != Op::Branch {
            return Err(EditError::Unstructured(label));
        }
        let new = self.create_block_after(block);
        let new_label = self.label(new);
        let body = self.block(new).body;
        let mut next = Some(at);
        while let Some(inst) = next {
            next = self.next(inst);
            self.remove_inst(inst);
            self.append_inst(body, inst);
        }
        let old_body = self.block(block).body;
        if let Some((Op::LoopMerge, inst)) = merge {
            self.remove_inst(inst);
            self.append_inst(old_body, inst);
        }
        let branch = self.create_inst(Op::Branch, &[new_label.word()]);
        self.append_inst(old_body, branch);
        self.continue_in(block, new_label);
        self.copy_sampled_images(ids, block, new);
        let func = self.block(block).func;
        for target in self.distinct_targets(ids, new) {
            if let Some(target) = self.find_block(func, target) {
                self.rename_phi_parent(target, label, new_label);
            }
        }
        Ok(new)
    }

    /// Where a loop's header is its continue target too, has another block be that: the one that now
    /// leads back to the header.
    fn continue_in(&mut self, header: Block, target: Id) {
        let own = self.label(header);
        let merge = self.merge_inst(header).filter(|m| m.op() == Op::LoopMerge);
        if let Some(inst) = merge
            .filter(|m| m.id_operand(1) == own)
            .map(InstRef::handle)
        {
            self.words_mut(inst)[1] = target.word();
        }
    }

    fn distinct_targets(&self, ids: &IdWords, block: Block) -> Vec<Id> {
        let mut targets: Vec<Id> = self.block_targets(ids, block).iter().map(|t| t.1).collect();
        targets.sort_unstable();
        targets.dedup();
        targets
    }

    fn require_edge(&self, ids: &IdWords, from: Block, to: Block) -> Result<(Id, Id), EditError> {
        let (a, b) = (self.label(from), self.label(to));
        let found = self.block_targets(ids, from).iter().any(|t| t.1 == b);
        found.then_some((a, b)).ok_or(EditError::NoEdge(a, b))
    }

    fn retarget_terminator(&mut self, ids: &IdWords, block: Block, old: Id, new: Id) {
        let positions = self.block_targets(ids, block);
        let terminator = self.terminator(block).handle();
        for (at, label) in positions {
            if label == old {
                self.words_mut(terminator)[at] = new.word();
            }
        }
    }

    /// Inserts a block on an edge; if a terminator names the target several times, on all of these. This splits
    /// critical edges.
    ///
    /// # Errors
    /// If there is no such edge, or if a structured branch must leave its construct directly.
    pub fn insert_on_edge(
        &mut self,
        ids: &IdWords,
        from: Block,
        to: Block,
    ) -> Result<Block, EditError> {
        let (source, target) = self.require_edge(ids, from, to)?;
        if self.is_structured() {
            let merge = self
                .merge_inst(from)
                .filter(|m| m.op() == Op::SelectionMerge);
            let merge = merge.map(|m| m.id_operand(0));
            let direct = match self.terminator(from).op() {
                Op::BranchConditional => merge.is_none(),
                Op::Switch => merge != Some(target),
                _ => false,
            };
            if direct {
                return Err(EditError::Unstructured(source));
            }
        }
        let block = self.create_block_after(from);
        let label = self.label(block);
        let branch = self.create_inst(Op::Branch, &[target.word()]);
        let body = self.block(block).body;
        self.append_inst(body, branch);
        self.retarget_terminator(ids, from, target, label);
        self.rename_phi_parent(to, source, label);
        if from == to {
            self.continue_in(from, label);
        }
        Ok(block)
    }

    /// Leads an edge to another block, whose phis take `value(phi)` from it.
    ///
    /// # Errors
    /// There is no such edge, the edge is that back to a loop's header, or the new target is an entry block. In a
    /// structured module, the target is not the merge block of the source's construct.
    pub fn redirect_edge(
        &mut self,
        ids: &IdWords,
        from: Block,
        to: Block,
        new: Block,
        value: impl Fn(InstRef<'_>) -> Id,
    ) -> Result<(), EditError> {
        let (source, target) = self.require_edge(ids, from, to)?;
        let label = self.label(new);
        if label == target {
            return Ok(());
        }
        self.check_target(from, new)?;
        self.check_loop_stays(ids, from, to)?;
        let known = self.block_targets(ids, from).iter().any(|t| t.1 == label);
        if known && self.terminator(from).op() == Op::BranchConditional {
            self.check_same_targets(source)?;
        }
        self.retarget_terminator(ids, from, target, label);
        self.remove_phi_parent(to, source);
        if !known {
            self.extend_phis(new, source, value);
        }
        Ok(())
    }

    /// Adds an edge to a block that ends in `OpBranch`: it leads to `to` if the condition holds.
    ///
    /// # Errors
    /// If the block has another terminator, or as for [`SpirvModule::redirect_edge`].
    pub fn add_edge(
        &mut self,
        from: Block,
        to: Block,
        condition: Id,
        value: impl Fn(InstRef<'_>) -> Id,
    ) -> Result<(), EditError> {
        let (source, target) = (self.label(from), self.label(to));
        self.check_target(from, to)?;
        let terminator = self.terminator(from);
        if terminator.op() != Op::Branch {
            return Err(EditError::NoBranch(source));
        }
        let old = terminator.id_operand(0);
        if old == target {
            self.check_same_targets(source)?;
        }
        let words = [condition, target, old].map(Id::word);
        self.set_terminator(from, Op::BranchConditional, &words);
        if old != target {
            self.extend_phis(to, source, value);
        }
        Ok(())
    }

    fn check_same_targets(&self, block: Id) -> Result<(), EditError> {
        if self.version < SpirvVersion::new(1, 6) {
            return Ok(());
        }
        Err(EditError::SameTargets(block))
    }

    fn check_target(&self, from: Block, to: Block) -> Result<(), EditError> {
        let label = self.label(to);
        if self.function(self.block(to).func).blocks.first() == Some(&to) {
            return Err(EditError::Entry(label));
        }
        if self.is_structured()
            && self
                .merge_inst(from)
                .is_none_or(|m| m.id_operand(0) != label)
        {
            return Err(EditError::Unstructured(self.label(from)));
        }
        Ok(())
    }

    fn extend_phis(&mut self, block: Block, parent: Id, value: impl Fn(InstRef<'_>) -> Id) {
        let phis: Vec<Inst> = self.phis(block).map(InstRef::handle).collect();
        for phi in phis {
            let value = value(self.inst(phi));
            self.set_phi_value(phi, parent, value);
        }
    }

    /// Removes an edge. A conditional branch becomes a branch, without its selection merge; a
    /// branch becomes `OpUnreachable`; of a switch the cases go. Blocks that cannot be reached any
    /// more stay: see [`SpirvModule::remove_unreachable`].
    ///
    /// # Errors
    /// There is no such edge, or it is the default of a switch, or structured control flow cannot do without it. Such
    /// an edge is that back to a loop's header, or a branch whose selection is left from within another construct. To
    /// find that out takes time in the function's size.
    pub fn remove_edge(&mut self, ids: &IdWords, from: Block, to: Block) -> Result<(), EditError> {
        let (source, target) = self.require_edge(ids, from, to)?;
        self.check_loop_stays(ids, from, to)?;
        let terminator = self.terminator(from);
        match terminator.op() {
            Op::BranchConditional => {
                self.check_merge_can_go(ids, from)?;
                let other = [terminator.id_operand(1), terminator.id_operand(2)];
                let other = other.into_iter().find(|t| *t != target);
                self.branch_to(from, other);
            }
            Op::Switch if terminator.id_operand(1) == target => {
                return Err(EditError::DefaultEdge(source));
            }
            Op::Switch => {
                let step = ids.switch_literal_words(terminator) + 1;
                let (head, cases) = terminator.words().split_at(2);
                let kept = cases
                    .chunks_exact(step)
                    .filter(|c| c[step - 1] != target.word());
                let words: Vec<u32> = head.iter().chain(kept.flatten()).copied().collect();
                let inst = terminator.handle();
                self.replace_words(inst, &words);
            }
            _ => self.branch_to(from, None),
        }
        self.remove_phi_parent(to, source);
        Ok(())
    }

    /// Ends a block in `OpBranch`, or in `OpUnreachable` without a target. The merge instruction of a selection
    /// is deleted. That of a loop is deleted if the block has no target. Callers must update the phis of the old
    /// and new targets.
    pub fn branch_to(&mut self, block: Block, target: Option<Id>) {
        let merge = self.merge_inst(block).map(|m| (m.op(), m.handle()));
        if let Some((op, inst)) = merge
            && (op == Op::SelectionMerge || target.is_none())
        {
            self.remove_inst(inst);
        }
        match target {
            Some(label) => self.set_terminator(block, Op::Branch, &[label.word()]),
            None => self.set_terminator(block, Op::Unreachable, &[]),
        };
    }
}
