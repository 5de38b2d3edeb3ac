//! Read access to one instruction.

use super::module::Inst;
use crate::Id;
use crate::grammar::{Op, OperandIter, ParsedOperand, literal_string};
use spirula_diagnostics::SourceLocation;

/// An instruction of a module, borrowed.
#[derive(Clone, Copy)]
pub struct InstRef<'a> {
    pub(super) handle: Inst,
    pub(super) op: Op,
    /// Position of its first word in the module that was read; `u32::MAX` where it has none.
    pub(super) at: u32,
    pub(super) words: &'a [u32],
}

impl<'a> InstRef<'a> {
    /// Handle in its module.
    #[inline]
    pub fn handle(self) -> Inst {
        self.handle
    }

    /// Opcode.
    #[inline]
    pub fn op(self) -> Op {
        self.op
    }

    /// All words after the first, result type and result id included.
    #[inline]
    pub fn words(self) -> &'a [u32] {
        self.words
    }

    /// Its location in the module that was read; unknown for new instructions.
    pub fn place(self) -> SourceLocation {
        match self.at {
            u32::MAX => SourceLocation::Unknown,
            at => SourceLocation::Word(at),
        }
    }

    /// Result type.
    #[inline]
    pub fn result_type(self) -> Option<Id> {
        match self.op.shape().result_position() {
            Some(1) => self.words.first().copied().and_then(Id::new),
            _ => None,
        }
    }

    /// Result id.
    #[inline]
    pub fn result(self) -> Option<Id> {
        self.op.shape().result_of(self.words)
    }

    /// The words after result type and result id.
    #[inline]
    pub fn operands(self) -> &'a [u32] {
        self.words
            .get(self.op.shape().head_length()..)
            .unwrap_or(&[])
    }

    /// Word `n` of the operands, which the grammar demands.
    ///
    /// # Panics
    /// When the instruction has fewer words, which the reader excludes for operands that the
    /// grammar demands.
    #[inline]
    pub fn operand_word(self, n: usize) -> u32 {
        self.operands()[n]
    }

    /// Word `n` of the operands as an id, which the grammar demands there.
    ///
    /// # Panics
    /// As [`Self::operand_word`], and when the word is 0.
    #[inline]
    pub fn id_operand(self, n: usize) -> Id {
        match Id::new(self.operand_word(n)) {
            Some(id) => id,
            None => panic!("{} has the id 0", self.op),
        }
    }

    /// Word `n` of the operands as an id, where there is one.
    #[inline]
    pub fn get_id(self, n: usize) -> Option<Id> {
        self.operands().get(n).copied().and_then(Id::new)
    }

    /// The operands from word `n` on as ids; words that are 0, which no id is, are left out.
    #[inline]
    pub fn id_operands(self, n: usize) -> impl DoubleEndedIterator<Item = Id> + 'a {
        let words = self.operands().get(n..).unwrap_or(&[]);
        words.iter().filter_map(|w| Id::new(*w))
    }

    /// The literal string that begins at word `n` of the operands.
    pub fn string_operand(self, n: usize) -> String {
        literal_string(self.operands().get(n..).unwrap_or(&[])).into_owned()
    }

    /// The first operand with a name of the grammar, such as `Base` or `Operand 1`.
    ///
    /// ```
    /// # use spirula_spirv::{ir::SpirvModule, text};
    /// # let words = text::parse_assembly("%1 = OpTypeInt 32 1", &text::ParseOptions::default()).unwrap();
    /// # let module = SpirvModule::from_words(words).unwrap();
    /// let int = module.all_insts().next().unwrap();
    /// assert_eq!(int.named_operand("Width").unwrap().words, [32]);
    /// assert!(int.named_operand("Height").is_none());
    /// ```
    pub fn named_operand(self, name: &str) -> Option<ParsedOperand<'a>> {
        self.parse_operands()
            .map_while(Result::ok)
            .find(|o| o.name == name)
    }

    /// The operands split by the grammar.
    pub fn parse_operands(self) -> OperandIter<'a> {
        OperandIter::new(self.op, self.words)
    }
}
