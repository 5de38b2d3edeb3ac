//! Instruction stream: the header and the instructions of a module in their order.

use super::MAGIC;
use crate::grammar::{Op, SpirvVersion};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use std::ops::Range;

/// The five words before the first instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpirvHeader {
    /// Version of SPIR-V.
    pub version: SpirvVersion,
    /// Generator's number and version.
    pub generator: u32,
    /// One more than the largest id, as the module claims.
    pub bound: u32,
    /// Reserved for an instruction schema; 0.
    pub schema: u32,
}

impl SpirvHeader {
    /// Words that a header takes.
    pub const WORDS: usize = 5;

    /// The header at the beginning of a module.
    ///
    /// # Errors
    /// When the words are too few or no SPIR-V header.
    pub fn from_words(words: &[u32]) -> Result<SpirvHeader, SourceDiagnostic> {
        let &[magic, version, generator, bound, schema, ..] = words else {
            let place = SourceLocation::Word(words.len() as u32);
            return Err(SourceDiagnostic::error(
                place,
                "the module ends within its header",
            ));
        };
        if magic != MAGIC {
            return Err(SourceDiagnostic::error(
                SourceLocation::Word(0),
                "not a SPIR-V module: no magic number",
            ));
        }
        let version = SpirvVersion::from_word(version)
            .filter(|v| v.major() == 1)
            .ok_or_else(|| {
                SourceDiagnostic::error(
                    SourceLocation::Word(1),
                    format!("{version:#010x} is no version of SPIR-V"),
                )
            })?;
        Ok(SpirvHeader {
            version,
            generator,
            bound,
            schema,
        })
    }

    /// The header's words.
    pub fn to_words(&self) -> [u32; 5] {
        [
            MAGIC,
            self.version.word(),
            self.generator,
            self.bound,
            self.schema,
        ]
    }
}

/// An instruction of a module.
#[derive(Clone, Copy, Debug)]
pub struct RawInst<'a> {
    /// Opcode.
    pub op: Op,
    /// Words after the first.
    pub words: &'a [u32],
    /// Position of the first word in the module.
    pub at: usize,
}

impl RawInst<'_> {
    /// Source location of the instruction.
    pub fn place(&self) -> SourceLocation {
        SourceLocation::Word(self.at as u32)
    }
}

/// Iterator over the instructions of a module; it ends after an error.
#[derive(Clone, Debug)]
pub struct InstructionStream<'a> {
    words: &'a [u32],
    at: usize,
}

impl<'a> InstructionStream<'a> {
    /// The instructions of a whole module, header included in `words`.
    pub fn new(words: &'a [u32]) -> Self {
        InstructionStream {
            words,
            at: SpirvHeader::WORDS.min(words.len()),
        }
    }

    /// The instructions in a range of a module's words, which begins and ends where instructions do.
    pub fn with_range(words: &'a [u32], range: Range<usize>) -> Self {
        InstructionStream {
            words: &words[..range.end.min(words.len())],
            at: range.start,
        }
    }
}

impl<'a> InstructionStream<'a> {
    /// The next instruction; `None` at the end of the module and at a malformed instruction. A diagnostic is
    /// large, so that readers of many instructions ask for it once, after the last one.
    #[inline]
    pub(crate) fn next_valid(&mut self) -> Option<RawInst<'a>> {
        let at = self.at;
        let (length, op) = split_first_word(*self.words.get(at)?);
        let words = self.words.get(at + 1..at + length)?;
        self.at += length;
        Some(RawInst { op, words, at })
    }

    /// The error of the malformed instruction at which the iterator ended.
    pub(crate) fn diagnose_fault(&self) -> Option<SourceDiagnostic> {
        let (length, op) = split_first_word(*self.words.get(self.at)?);
        let message = if length == 0 {
            format!("{op} has a length of 0 words")
        } else {
            format!("{op} of {length} words extends beyond the end of the module")
        };
        Some(SourceDiagnostic::error(
            SourceLocation::Word(self.at as u32),
            message,
        ))
    }
}

impl<'a> Iterator for InstructionStream<'a> {
    type Item = Result<RawInst<'a>, SourceDiagnostic>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self.next_valid() {
            Some(inst) => Some(Ok(inst)),
            None if self.at >= self.words.len() => None,
            None => {
                let fault = self.diagnose_fault();
                self.at = self.words.len();
                fault.map(Err)
            }
        }
    }
}

/// Length in words and opcode of an instruction, from its first word.
#[inline]
pub(crate) fn split_first_word(first: u32) -> (usize, Op) {
    ((first >> 16) as usize, Op(first as u16))
}

/// The first word of an instruction with this number of words after it.
#[inline]
pub(crate) fn first_word(op: Op, words: usize) -> u32 {
    (words as u32 + 1) << 16 | u32::from(op.0)
}
