//! Checked construction of instructions and handles from untrusted numbers.

use super::module::{Block, Func, Inst, ModuleSection, SpirvModule};
use crate::Id;
use crate::grammar::{DecodeError, ExtInstSet, Kind, Op, OperandCategory, OperandIter};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};

impl SpirvModule {
    /// The instruction with an index, see [`Inst::index`].
    pub fn inst_at(&self, index: usize) -> Option<Inst> {
        (index < self.inst_count()).then(|| Inst::new(index))
    }

    /// The block with an index, see [`Block::index`].
    pub fn block_at(&self, index: usize) -> Option<Block> {
        (index < self.block_count()).then(|| Block::new(index))
    }

    /// The function with an index, see [`Func::index`].
    pub fn func_at(&self, index: usize) -> Option<Func> {
        (index < self.functions.len()).then(|| Func::new(index))
    }

    /// Creates an instruction like [`SpirvModule::create_inst`] if it satisfies the invariants of the IR. Operands are
    /// as in the grammar, and ids are not 0 and below the bound. Unknown opcodes and values are accepted unchanged.
    ///
    /// # Errors
    /// The fault of the words.
    pub fn try_create(&mut self, op: Op, words: &[u32]) -> Result<Inst, SourceDiagnostic> {
        self.check_operands(op, words)?;
        Ok(self.create_inst(op, words))
    }

    /// Replaces the words of an instruction like [`SpirvModule::replace_words`], under the same conditions.
    ///
    /// # Errors
    /// As [`SpirvModule::try_create`].
    pub fn try_replace_words(&mut self, inst: Inst, words: &[u32]) -> Result<(), SourceDiagnostic> {
        self.check_operands(self.inst(inst).op(), words)?;
        self.replace_words(inst, words);
        Ok(())
    }

    /// Checks whether an opcode with these words after its first would satisfy the invariants.
    ///
    /// # Errors
    /// The fault of the words.
    pub fn check_operands(&self, op: Op, words: &[u32]) -> Result<(), SourceDiagnostic> {
        let fault =
            |what: &str| SourceDiagnostic::error(SourceLocation::Unknown, format!("{op}: {what}"));
        if words.len() >= 0xffff {
            return Err(fault("it is longer than an instruction may be"));
        }
        let set = match (op, words) {
            (Op::ExtInst | Op::ExtInstWithForwardRefsKHR, [_, _, set, ..]) => {
                Id::new(*set).and_then(|set| self.find_imported_set(set))
            }
            _ => None,
        };
        // How wide a switch's literals are depends on its selector.
        let most = if op == Op::Switch { 2 } else { usize::MAX };
        for operand in OperandIter::new(op, words).with_ext(set).take(most) {
            match operand {
                Ok(o) if o.kind.info().category == OperandCategory::Id => {
                    let id = o.words[0];
                    if id == 0 || id >= self.bound() {
                        let bound = self.bound();
                        return Err(fault(&format!(
                            "the id {id} is not below the bound {bound}"
                        )));
                    }
                }
                Ok(o) if o.kind == Kind::LiteralExtInstInteger && set.is_none() => break,
                Ok(_) => {}
                Err(DecodeError::UnknownValue(..))
                    if !op.shape().has_fixed(words, self.bound()) =>
                {
                    let message = "an operand is missing, or an id is not below the bound";
                    return Err(fault(message));
                }
                Err(DecodeError::UnknownOpcode | DecodeError::UnknownValue(..)) => break,
                Err(error) => return Err(fault(&error.to_string())),
            }
        }
        Ok(())
    }

    /// The set that an `OpExtInstImport` imports under an id.
    fn find_imported_set(&self, set: Id) -> Option<&'static ExtInstSet> {
        let mut imports = self.section_insts(ModuleSection::Imports);
        let import = imports.find(|i| i.op() == Op::ExtInstImport && i.result() == Some(set))?;
        ExtInstSet::by_name(&import.string_operand(0))
    }
}
