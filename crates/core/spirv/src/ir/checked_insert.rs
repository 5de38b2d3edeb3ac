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

/// Where a new instruction goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertPosition {
    /// Before an instruction.
    Before(Inst),
    /// Behind an instruction.
    Behind(Inst),
    /// To the beginning of a block: a phi behind the other phis, a variable behind these and the other
    /// variables, anything else behind all of them.
    Begin(Block),
    /// To the end of a block, before its merge instruction and terminator.
    End(Block),
    /// To the end of the section outside of functions that it belongs in.
    Section,
}

/// What an instruction is put before, or the section that it is put at the end of.
enum InsertAnchor {
    Before(Inst),
    EndOf(ModuleSection),
}

impl SpirvModule {
    /// Makes an instruction of its opcode and the words behind the first, as [`SpirvModule::try_create`] does,
    /// and puts it where it is asked for, if it may stand there.
    ///
    /// # Errors
    /// What is wrong with the words, or why the instruction cannot stand there.
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

    /// Whether an instruction with an opcode may stand somewhere.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn check_place(&self, at: InsertPosition, op: Op) -> Result<(), SourceDiagnostic> {
        let spot = self.find_insertion_spot(at, op);
        spot.map(|_| ()).map_err(|why| placement_error(op, &why))
    }

    /// Takes an instruction out of the module, as [`SpirvModule::erase_inst`] does, if nothing needs it; `uses` are
    /// those of the module as it is, and take note.
    ///
    /// # Errors
    /// When its result is used by more than names and decorations, or it is what a function, a block or a
    /// module cannot be without.
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

    /// Puts another terminator in the place of a block's, as [`SpirvModule::set_terminator`] does. Phis of the
    /// old and the new targets are the caller's care: edits of edges keep them right.
    ///
    /// # Errors
    /// When the words are wrong, the opcode is that of no terminator, or a target is no block of the function
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
            return Err(placement_error(
                op,
                &format!("it cannot stand behind {merge}"),
            ));
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

    /// Where an instruction comes to stand that is asked for at a place.
    ///
    /// # Errors
    /// Why it cannot stand there.
    fn find_insertion_spot(&self, at: InsertPosition, op: Op) -> Result<InsertAnchor, String> {
        if shapes_functions(op) {
            return Err("functions and blocks are made as a whole".to_owned());
        }
        let before = match at {
            InsertPosition::Section if ModuleSection::from_op(op).can_hold(op) => {
                return Ok(InsertAnchor::EndOf(ModuleSection::from_op(op)));
            }
            InsertPosition::Section => return Err("it stands in functions only".to_owned()),
            InsertPosition::Begin(block) => self.block_start_for(block, op),
            InsertPosition::End(block) => self.before_end(block),
            InsertPosition::Before(inst) => inst,
            InsertPosition::Behind(inst) => match (self.next(inst), self.list_of(inst)) {
                (Some(next), Some(_)) => next,
                (None, Some(list)) => match list.section() {
                    Some(section) if section.can_hold(op) => {
                        return Ok(InsertAnchor::EndOf(section));
                    }
                    _ => return Err(format!("nothing can stand behind {}", self.inst(inst).op())),
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
            None => return Err("only lines stand between the parts of a function".to_owned()),
        }
        Ok(InsertAnchor::Before(before))
    }

    /// What an instruction is put before that is to stand at the beginning of a block.
    fn block_start_for(&self, block: Block, op: Op) -> Inst {
        let own = rank_of_op(op);
        let first = self.body(block).find(|i| match own {
            1 | 2 => rank_of(*i) > own,
            _ => rank_of_op(i.op()) == 3,
        });
        first.map_or_else(|| self.before_end(block), InstRef::handle)
    }

    /// Whether an instruction may stand in a block, before another one.
    fn within_block(&self, next: Inst, op: Op) -> Result<(), String> {
        let class = op.info().map(|i| i.class);
        let is_global = matches!(
            class,
            Some(InstructionClass::TypeDeclaration | InstructionClass::ConstantCreation)
        );
        if ModuleSection::from_op(op) != ModuleSection::Globals || is_global && op != Op::Undef {
            return Err("it stands outside of functions only".to_owned());
        }
        let previous = self.previous(next).map(|i| self.inst(i));
        let is_merge = |op: Op| matches!(op, Op::SelectionMerge | Op::LoopMerge);
        if let Some(merge) = previous.map(InstRef::op).filter(|op| is_merge(*op)) {
            return Err(format!("nothing can stand between {merge} and its branch"));
        }
        let next = self.inst(next);
        if is_merge(op) && !next.op().is_terminator() {
            return Err("it stands before the branch of its block only".to_owned());
        }
        let mut before = previous;
        while let Some(inst) = before.filter(|i| rank_of(*i) == 0) {
            before = self.previous(inst.handle()).map(|i| self.inst(i));
        }
        let rank = rank_of_op(op);
        if rank > 0 && before.is_some_and(|i| rank_of(i) > rank) {
            return Err("phis and variables stand first".to_owned());
        }
        let mut behind = Some(next);
        while let Some(inst) = behind.filter(|i| rank_of(*i) == 0) {
            behind = self.next(inst.handle()).map(|i| self.inst(i));
        }
        if rank > 0 && behind.is_some_and(|i| rank_of(i) < rank) {
            return Err("phis and variables stand first".to_owned());
        }
        Ok(())
    }
}

fn placement_error(op: Op, why: &str) -> SourceDiagnostic {
    SourceDiagnostic::error(SourceLocation::Unknown, format!("{op}: {why}"))
}

/// Whether functions and blocks are made of an instruction.
fn shapes_functions(op: Op) -> bool {
    let shapes = matches!(
        op,
        Op::Function | Op::FunctionParameter | Op::FunctionEnd | Op::Label
    );
    shapes || op.is_terminator()
}

/// In which order instructions stand in a block; 0 for those that stand anywhere.
fn rank_of_op(op: Op) -> u32 {
    match op {
        Op::Line | Op::NoLine => 0,
        Op::Phi => 1,
        Op::Variable | Op::UntypedVariableKHR => 2,
        _ => 3,
    }
}

/// The same of an instruction of a block: what is extended may describe and stand anywhere.
fn rank_of(inst: InstRef<'_>) -> u32 {
    match inst.op() {
        Op::ExtInst | Op::ExtInstWithForwardRefsKHR => 0,
        op => rank_of_op(op),
    }
}
