//! Read-only module index: where the parts of a module are in its words.

use super::ModuleSection;
use crate::Id;
use crate::binary::{InstructionStream, SpirvHeader, split_first_word};
use crate::grammar::{Op, OpcodeRole};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use std::ops::Range;

/// Sections, functions and blocks of a module as ranges of its words, found in one walk that looks at
/// each instruction's first word only.
///
/// Nothing is copied, and no operand is checked: instructions are as they were written. To edit, or to
/// be sure of them, read a [`super::SpirvModule`].
///
/// ```
/// # use spirula_spirv::{ir::{SpirvIndex, ModuleSection}, grammar::Op, text};
/// # let words = text::parse_assembly("
/// # OpCapability Kernel
/// # OpCapability Linkage
/// # OpMemoryModel Logical OpenCL
/// # %1 = OpTypeVoid
/// # %2 = OpTypeFunction %1
/// # %3 = OpFunction %1 None %2
/// # %4 = OpLabel
/// # OpBranch %5
/// # %5 = OpLabel
/// # OpReturn
/// # OpFunctionEnd", &text::ParseOptions::default()).unwrap();
/// let index = SpirvIndex::from_words(&words)?;
/// let capabilities = index.sections().iter().find(|s| s.section == ModuleSection::Capabilities);
/// assert_eq!(capabilities.unwrap().insts(&words).count(), 2);
/// for function in index.functions() {
///     for block in index.function_blocks(function) {
///         let last = block.insts(&words).last().unwrap()?;
///         assert!(last.op.is_terminator());
///     }
/// }
/// # assert_eq!(index.function_blocks(&index.functions()[0]).len(), 2);
/// # Ok::<(), spirula_diagnostics::SourceDiagnostic>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpirvIndex {
    /// The module's header.
    pub header: SpirvHeader,
    sections: Vec<SectionWords>,
    functions: Vec<FunctionWords>,
    blocks: Vec<BlockWords>,
}

/// Consecutive instructions of one section. A module with the logical layout has one for each section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionWords {
    /// The section; the trailer for all instructions between functions and after them.
    pub section: ModuleSection,
    /// Their words.
    pub words: Range<usize>,
}

/// A function, from `OpFunction` to `OpFunctionEnd`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionWords {
    /// Its words.
    pub words: Range<usize>,
    blocks: Range<usize>,
}

/// A block, from its label to its terminator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockWords {
    /// Its words.
    pub words: Range<usize>,
}

impl SpirvIndex {
    /// Goes over a module's words, header included.
    ///
    /// # Errors
    /// When the header is none, an instruction's length leads out of the module, or functions and
    /// blocks do not end.
    pub fn from_words(words: &[u32]) -> Result<SpirvIndex, SourceDiagnostic> {
        let mut index = SpirvIndex {
            header: SpirvHeader::from_words(words)?,
            sections: Vec::with_capacity(ModuleSection::ALL.len()),
            functions: Vec::new(),
            blocks: Vec::new(),
        };
        let mut at = SpirvHeader::WORDS;
        while at < words.len() {
            at = match Op(words[at] as u16) {
                Op::Function => index.index_function(words, at)?,
                op => index.index_section(words, at, op)?,
            };
        }
        Ok(index)
    }

    /// The sections outside of functions, in their order.
    pub fn sections(&self) -> &[SectionWords] {
        &self.sections
    }

    /// The functions in order.
    pub fn functions(&self) -> &[FunctionWords] {
        &self.functions
    }

    /// The blocks of a function in order; none for a declaration.
    pub fn function_blocks(&self, function: &FunctionWords) -> &[BlockWords] {
        &self.blocks[function.blocks.clone()]
    }

    /// Goes over instructions of one section; where the next ones begin.
    fn index_section(
        &mut self,
        words: &[u32],
        begin: usize,
        first: Op,
    ) -> Result<usize, SourceDiagnostic> {
        let has_functions = !self.functions.is_empty();
        let of = |op| {
            if has_functions {
                ModuleSection::Trailer
            } else {
                ModuleSection::from_op(op)
            }
        };
        let (section, mut known) = (of(first), first);
        let mut at = begin;
        while at < words.len() {
            let (length, op) = split_first_word(words[at]);
            // Sections are mostly of one opcode each.
            if op != known {
                if op == Op::Function || of(op) != section {
                    break;
                }
                known = op;
            }
            let role = op.shape().role;
            if !matches!(
                role,
                OpcodeRole::Plain | OpcodeRole::Annotation | OpcodeRole::Line
            ) {
                return Err(misplaced_error(op, at, "outside of a function"));
            }
            at = next_position(words, at, length)?;
        }
        self.sections.push(SectionWords {
            section,
            words: begin..at,
        });
        Ok(at)
    }

    /// Indexes a function. Returns the position after it.
    fn index_function(&mut self, words: &[u32], begin: usize) -> Result<usize, SourceDiagnostic> {
        let first_block = self.blocks.len();
        let mut at = next_position(words, begin, split_first_word(words[begin]).0)?;
        while at < words.len() {
            let (length, op) = split_first_word(words[at]);
            let next = next_position(words, at, length)?;
            match op.shape().role {
                OpcodeRole::Label => {
                    let end = block_end(words, next)?;
                    self.blocks.push(BlockWords { words: at..end });
                    at = end;
                }
                OpcodeRole::FunctionEnd => {
                    self.functions.push(FunctionWords {
                        words: begin..next,
                        blocks: first_block..self.blocks.len(),
                    });
                    return Ok(next);
                }
                OpcodeRole::Parameter | OpcodeRole::Line => at = next,
                OpcodeRole::Plain if op == Op::ExtInst => at = next,
                _ => return Err(misplaced_error(op, at, "outside of a basic block")),
            }
        }
        Err(ends_within(at, "a function"))
    }
}

/// The end of a block whose label ends at `at`.
#[inline]
fn block_end(words: &[u32], mut at: usize) -> Result<usize, SourceDiagnostic> {
    while at < words.len() {
        let (length, op) = split_first_word(words[at]);
        let next = next_position(words, at, length)?;
        match op.shape().role {
            OpcodeRole::Plain | OpcodeRole::Line | OpcodeRole::Annotation => at = next,
            OpcodeRole::Terminator => return Ok(next),
            _ => return Err(misplaced_error(op, at, "before the end of a basic block")),
        }
    }
    Err(ends_within(at, "a basic block"))
}

/// The position after an instruction.
#[inline]
fn next_position(words: &[u32], at: usize, length: usize) -> Result<usize, SourceDiagnostic> {
    if length == 0 || length > words.len() - at {
        return Err(
            match InstructionStream::with_range(words, at..words.len()).next() {
                Some(Err(error)) => error,
                _ => ends_within(at, "an instruction"),
            },
        );
    }
    Ok(at + length)
}

#[cold]
fn misplaced_error(op: Op, at: usize, where_: &str) -> SourceDiagnostic {
    SourceDiagnostic::error(SourceLocation::Word(at as u32), format!("{op} is {where_}"))
}

#[cold]
fn ends_within(at: usize, what: &str) -> SourceDiagnostic {
    let place = SourceLocation::Word(at as u32);
    SourceDiagnostic::error(place, format!("the module ends within {what}"))
}

macro_rules! insts {
    ($($of:ident),*) => {$(
        impl $of {
            /// The instructions, of the words that were indexed.
            pub fn insts<'a>(&self, words: &'a [u32]) -> InstructionStream<'a> {
                InstructionStream::with_range(words, self.words.clone())
            }
        }
    )*};
}

insts!(SectionWords, FunctionWords, BlockWords);

impl FunctionWords {
    /// The id of the function; `None` if the module lacks it.
    pub fn read_id(&self, words: &[u32]) -> Option<Id> {
        Id::new(*words.get(self.words.start + 2)?)
    }
}

impl BlockWords {
    /// The id of the label; `None` if the module lacks it.
    pub fn read_label(&self, words: &[u32]) -> Option<Id> {
        Id::new(*words.get(self.words.start + 1)?)
    }
}
