//! Checked insertion: edits of single instructions that first check whether they are allowed.
//!
//! [`SpirvModule::insert_before`] and similar functions insert any instruction anywhere, for passes that are
//! trusted. The edits of this file preserve the layout of a module whoever calls them. Each instruction stays in
//! its section or in a block, phis and variables come first, and nothing comes between a merge instruction and its
//! branch. A refused edit leaves the module unchanged. Whether ids are defined before their uses and have fitting
//! types is left to the verifier.

use super::module::{Block, Inst, ModuleSection, SpirvModule};
use super::{ErasedIds, IdWords, InstRef, LabelPositions};
use crate::analysis::DefUse;
use crate::grammar::{InstructionClass, Op};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};

/// The position of a new instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertPosition {
    /// Before an instruction.
    Before(Inst),
    /// After an instruction.
    After(Inst),
    /// At the beginning of a block. A phi comes after the other phis, a variable after these and the other variables,
    /// any other instruction after all of them.
    Begin(Block),
    /// To the end of a block, before its merge instruction and terminator.
    End(Block),
    /// To the end of the section outside of functions that it belongs in.
    Section,
}

/// The instruction before which another one is inserted, or the section to whose end it is appended.
enum InsertAnchor {
    Before(Inst),
    EndOf(ModuleSection),
}

impl SpirvModule {
    /// Creates an instruction from its opcode and the words after the first, like [`SpirvModule::try_create`],
    /// and inserts it if it is allowed there.
    ///
    /// # Errors
    /// The fault of the words, or the reason why the instruction is not allowed there.
    pub fn try_insert(
        &mut self,
        at: InsertPosition,
        op: Op,
        words: &[u32],
    ) -> Result<Inst, SourceDiagnostic> {
        let spot = self
            .find_insertion_spot(at, op)
            .map_err(|why| placement_error(op, &why))?;
        self.check_operands(op, words)?;
        let inst = self.create_inst(op, words);
        match spot {
            InsertAnchor::Before(next) => self.insert_before(next, inst),
            InsertAnchor::EndOf(section) => self.append_inst(section.list(), inst),
        }
        Ok(inst)
    }

    /// Checks whether an instruction with an opcode is allowed at a position.
    ///
    /// # Errors
    /// The reason why it is not.
    pub fn check_place(&self, at: InsertPosition, op: Op) -> Result<(), SourceDiagnostic> {
        let spot = self.find_insertion_spot(at, op);
        spot.map(|_| ()).map_err(|why| placement_error(op, &why))
    }

    /// Removes an instruction from the module, like [`SpirvModule::erase_inst`], if nothing needs it. `uses`
    /// must be those of the current module, and are updated.
    ///
    /// # Errors
    /// If its result has uses other than names and decorations, or if a function, a block or the module requires
    /// it.
    pub fn try_erase(
        &mut self,
        uses: &mut DefUse,
        inst: Inst,
        erased: &mut ErasedIds,
    ) -> Result<(), SourceDiagnostic> {
        let old = self.inst(inst);
        let op = old.op();
        if self.list_of(inst).is_none() || shapes_functions(op) || op == Op::MemoryModel {
            return Err(placement_error(op, "it cannot be erased by itself"));
        }
        if matches!(op, Op::SelectionMerge | Op::LoopMerge) && self.is_structured() {
            return Err(placement_error(op, "structured control flow needs it"));
        }
        let is_used = |id| {
            let mut uses = uses.uses(id);
            uses.any(|u| !self.inst(u.inst).op().is_about_ids())
        };
        if let Some(id) = old.result().filter(|id| is_used(*id)) {
            return Err(placement_error(op, &format!("{id} is used")));
        }
        uses.remove_inst(old);
        self.erase_inst(inst, erased);
        Ok(())
    }

    /// Replaces the terminator of a block like [`SpirvModule::set_terminator`]. Callers must update the phis of
    /// the old and new targets; edits of edges do so themselves.
    ///
    /// # Errors
    /// If the words are wrong, the opcode is not that of a terminator, or a target is no block of the function
    /// or its first.
    pub fn try_set_terminator(
        &mut self,
        ids: &IdWords,
        block: Block,
        op: Op,
        words: &[u32],
    ) -> Result<Inst, SourceDiagnostic> {
        if !op.is_terminator() {
            return Err(placement_error(op, "it ends no block"));
        }
        self.check_operands(op, words)?;
        let merge = self.merge_inst(block).map(InstRef::op);
        let fits = match merge {
            Some(Op::LoopMerge) => matches!(op, Op::Branch | Op::BranchConditional),
            Some(_) => matches!(op, Op::BranchConditional | Op::Switch),
            None => true,
        };
        if let Some(merge) = merge.filter(|_| !fits) {
            return Err(placement_error(op, &format!("it cannot follow {merge}")));
        }
        // In no list, it is no part of the module yet.
        let new = self.create_inst(op, words);
        let labels = LabelPositions::from_function(self, self.block(block).func);
        let mut wrong = None;
        self.visit_targets(ids, self.inst(new), |_, label| {
            match labels.position(label) {
                None => wrong = Some(format!("its target {label} is no block of the function")),
                Some(0) => wrong = Some(format!("nothing can lead to the entry block {label}")),
                Some(_) => {}
            }
        });
        match wrong {
            Some(why) => Err(placement_error(op, &why)),
            None => Ok(self.set_terminator(block, op, words)),
        }
    }

    /// The place of an instruction that is inserted at a position.
    ///
    /// # Errors
    /// The reason why it is not allowed there.
    fn find_insertion_spot(&self, at: InsertPosition, op: Op) -> Result<InsertAnchor, String> {
        if shapes_functions(op) {
            return Err("functions and blocks are made as a whole".to_owned());
        }
        let before = match at {
            InsertPosition::Section if ModuleSection::from_op(op).can_hold(op) => {
                return Ok(InsertAnchor::EndOf(ModuleSection::from_op(op)));
            }
            InsertPosition::Section => return Err("it is allowed in functions only".to_owned()),
            InsertPosition::Begin(block) => self.block_start_for(block, op),
            InsertPosition::End(block) => self.before_end(block),
            InsertPosition::Before(inst) => inst,
            InsertPosition::After(inst) => match (self.next(inst), self.list_of(inst)) {
                (Some(next), Some(_)) => next,
                (None, Some(list)) => match list.section() {
                    Some(section) if section.can_hold(op) => {
                        return Ok(InsertAnchor::EndOf(section));
                    }
                    _ => return Err(format!("nothing can follow {}", self.inst(inst).op())),
                },
                (_, None) => inst,
            },
        };
        let Some(list) = self.list_of(before) else {
            return Err("the instruction beside it is in no list".to_owned());
        };
        let ends_block = self.list_ends(list).tail.map(|i| self.inst(i).op());
        match list.section() {
            Some(section) if section.can_hold(op) => {}
            Some(section) => return Err(format!("it does not belong to the section {section:?}")),
            None if ends_block.is_some_and(Op::is_terminator) => self.within_block(before, op)?,
            None if op.is_line() => {}
            None => {
                return Err(
                    "only line instructions are allowed between the parts of a function".to_owned(),
                );
            }
        }
        Ok(InsertAnchor::Before(before))
    }

    /// The instruction before which one at the beginning of a block is inserted.
    fn block_start_for(&self, block: Block, op: Op) -> Inst {
        let own = rank_of_op(op);
        let first = self.body(block).find(|i| match own {
            1 | 2 => rank_of(*i) > own,
            _ => rank_of_op(i.op()) == 3,
        });
        first.map_or_else(|| self.before_end(block), InstRef::handle)
    }

    /// Whether an instruction is allowed in a block, before another one.
    fn within_block(&self, next: Inst, op: Op) -> Result<(), String> {
        let class = op.info().map(|i| i.class);
        let is_global = matches!(
            class,
            Some(InstructionClass::TypeDeclaration | InstructionClass::ConstantCreation)
        );
        if ModuleSection::from_op(op) != ModuleSection::Globals || is_global && op != Op::Undef {
            return Err("it is allowed outside of functions only".to_owned());
        }
        let previous = self.previous(next).map(|i| self.inst(i));
        let is_merge = |op: Op| matches!(op, Op::SelectionMerge | Op::LoopMerge);
        if let Some(merge) = previous.map(InstRef::op).filter(|op| is_merge(*op)) {
            return Err(format!("nothing may come between {merge} and its branch"));
        }
        let next = self.inst(next);
        if is_merge(op) && !next.op().is_terminator() {
            return Err("it is allowed before the branch of its block only".to_owned());
        }
        let mut before = previous;
        while let Some(inst) = before.filter(|i| rank_of(*i) == 0) {
            before = self.previous(inst.handle()).map(|i| self.inst(i));
        }
        let rank = rank_of_op(op);
        if rank > 0 && before.is_some_and(|i| rank_of(i) > rank) {
            return Err("phis and variables come first".to_owned());
        }
        let mut following = Some(next);
        while let Some(inst) = following.filter(|i| rank_of(*i) == 0) {
            following = self.next(inst.handle()).map(|i| self.inst(i));
        }
        if rank > 0 && following.is_some_and(|i| rank_of(i) < rank) {
            return Err("phis and variables come first".to_owned());
        }
        Ok(())
    }
}

fn placement_error(op: Op, why: &str) -> SourceDiagnostic {
    SourceDiagnostic::error(SourceLocation::Unknown, format!("{op}: {why}"))
}

/// Whether an instruction is part of the frame of functions and blocks.
fn shapes_functions(op: Op) -> bool {
    let shapes = matches!(
        op,
        Op::Function | Op::FunctionParameter | Op::FunctionEnd | Op::Label
    );
    shapes || op.is_terminator()
}

/// The order of instructions in a block; 0 for those that are allowed anywhere.
fn rank_of_op(op: Op) -> u32 {
    match op {
        Op::Line | Op::NoLine => 0,
        Op::Phi => 1,
        Op::Variable | Op::UntypedVariableKHR => 2,
        _ => 3,
    }
}

/// As [`rank_of_op`], for an instruction of a block: extended instructions may be remarks, which are allowed
/// anywhere.
fn rank_of(inst: InstRef<'_>) -> u32 {
    match inst.op() {
        Op::ExtInst | Op::ExtInstWithForwardRefsKHR => 0,
        op => rank_of_op(op),
    }
}
