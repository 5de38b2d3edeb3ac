//! Assembler: text to words.
//!
//! After an error it continues with the next instruction, so that one run reports several errors.

use super::header::HeaderComment;
use super::ids::IdTable;
use super::lexer::{AssemblyLexer, AssemblyWord, is_opcode};
use super::literal::LiteralTypes;
use super::symbols::AssemblySymbols;
use crate::binary::SpirvHeader;
use crate::grammar::{ExtInstSet, SpirvVersion};
use spirula_diagnostics::{DiagnosticList, SourceDiagnostic, SourceLocation};

/// Faults after which the rest of a text is not looked at.
const MOST_FAULTS: usize = 20;

/// Most words of an instruction.
const LONGEST: usize = 0xffff;

/// How a text is assembled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseOptions {
    /// Version in the module's header. If `None`, that of the header comment, or else the default. The text is
    /// not checked against it.
    pub version: Option<SpirvVersion>,
    /// Version in the header if there is no other source: [`SpirvVersion::NEWEST`] unless set.
    pub default_version: SpirvVersion,
    /// Generator word of the module's header. If `None`, that of the header comment, or else 0.
    pub generator: Option<u32>,
    /// Whether values that the options leave open are taken from a disassembler's comment at the head of the
    /// text. The bound is never below the ids.
    pub header_comment: bool,
}

impl Default for ParseOptions {
    fn default() -> Self {
        ParseOptions {
            version: None,
            default_version: SpirvVersion::NEWEST,
            generator: None,
            header_comment: true,
        }
    }
}

/// The words of a text's module.
///
/// Numeric ids such as `%12` keep their numbers. Named ids get the numbers that are free, from 1 on in the order in
/// which they appear.
///
/// # Errors
/// Everything wrong with the text, up to a limit, in the order of the text.
pub fn parse_assembly(source: &str, options: &ParseOptions) -> Result<Vec<u32>, DiagnosticList> {
    parse_watched(source, options, |_, _| {})
}

/// Maps words of a module to the source locations of their instructions. Positions must be increasing. All
/// locations are unknown if the text has errors.
pub fn locate_words(source: &str, words: &[u32]) -> Vec<SourceLocation> {
    let mut found = vec![SourceLocation::Unknown; words.len()];
    let (mut at, mut last) = (0, SourceLocation::Unknown);
    let parsed = parse_watched(source, &ParseOptions::default(), |begin, place| {
        while words.get(at).is_some_and(|word| (*word as usize) < begin) {
            found[at] = last;
            at += 1;
        }
        last = place;
    });
    if parsed.is_err() {
        return vec![SourceLocation::Unknown; words.len()];
    }
    found[at..].fill(last);
    found
}

/// As [`parse_assembly`], and reports for each instruction the position of its first word and its source
/// location.
fn parse_watched(
    source: &str,
    options: &ParseOptions,
    mut watch: impl FnMut(usize, SourceLocation),
) -> Result<Vec<u32>, DiagnosticList> {
    let mut comment = HeaderComment::default();
    if options.header_comment {
        comment = HeaderComment::from_text(source);
    }
    let version = options.version.or(comment.version);
    let generator = options.generator.or(comment.generator);
    let header = SpirvHeader {
        version: version.unwrap_or(options.default_version),
        generator: generator.unwrap_or(0),
        bound: 0,
        schema: comment.schema.unwrap_or(0),
    };
    let mut parser = AssemblyParser {
        lexer: AssemblyLexer::new(source),
        // Texts of usual modules have about eight bytes a word.
        words: Vec::with_capacity(SpirvHeader::WORDS + source.len() / 6),
        symbols: AssemblySymbols::new(source),
        types: LiteralTypes::default(),
        sets: IdTable::default(),
    };
    parser.words.extend(header.to_words());
    let mut faults = Vec::new();
    while faults.len() < MOST_FAULTS && parser.lexer.peek().is_some() {
        let start = parser.words.len();
        let begin = parser.lexer.position();
        if let Err(fault) = parser.parse_instruction() {
            faults.push(*fault);
            parser.words.truncate(start);
            parser.skip_to_instruction();
        } else {
            watch(
                start,
                SourceLocation::from_text_range(begin, parser.lexer.last_end()),
            );
        }
    }
    if !faults.is_empty() {
        return Err(faults.into());
    }
    parser.words[3] = parser.symbols.bound().max(comment.bound.unwrap_or(0));
    Ok(parser.words)
}

/// Faults are large and rare.
pub(super) type AssemblyFault = Box<SourceDiagnostic>;

/// A fault at a word.
pub(super) fn fault_at(word: AssemblyWord<'_>, message: impl Into<String>) -> AssemblyFault {
    Box::new(SourceDiagnostic::error(
        SourceLocation::from_text_range(word.start, word.end()),
        message,
    ))
}

pub(super) struct AssemblyParser<'a> {
    pub(super) lexer: AssemblyLexer<'a>,
    pub(super) words: Vec<u32>,
    pub(super) symbols: AssemblySymbols<'a>,
    pub(super) types: LiteralTypes,
    /// Imported sets by their ids, as far as the tables have them.
    pub(super) sets: IdTable<Option<&'static ExtInstSet>>,
}

impl<'a> AssemblyParser<'a> {
    /// Reads one instruction and adds its words.
    fn parse_instruction(&mut self) -> Result<(), AssemblyFault> {
        let Some(first) = self.lexer.next_word() else {
            return Ok(());
        };
        match first.text.as_bytes()[0] {
            b'%' => {
                let result = self.parse_id(first)?;
                self.expect_equals(first)?;
                let opcode = self.lexer.next_word().filter(|w| is_opcode(w.text));
                let opcode = opcode.ok_or_else(|| {
                    fault_at(
                        first,
                        format!("an instruction must follow {} =", first.text),
                    )
                })?;
                self.parse_known_instruction(opcode, Some((first, result)))
            }
            b'!' => {
                let word = self.raw_word(first)?;
                self.words.push(word);
                self.raw_operands()
            }
            _ if first.text.starts_with("OpUnknown(") => self.parse_unknown_instruction(first),
            _ if is_opcode(first.text) => self.parse_known_instruction(first, None),
            _ => Err(Box::new(
                fault_at(
                    first,
                    format!(
                        "an instruction is expected, not '{}'",
                        shorten_word(first.text)
                    ),
                )
                .with_hint("an instruction is '%id = OpName operands' or 'OpName operands'"),
            )),
        }
    }

    fn expect_equals(&mut self, id: AssemblyWord<'_>) -> Result<(), AssemblyFault> {
        match self.lexer.next_word() {
            Some(word) if word.text == "=" => Ok(()),
            Some(word) => Err(fault_at(
                word,
                format!("'=' must follow {}", shorten_word(id.text)),
            )),
            None => Err(fault_at(
                id,
                format!("'=' must follow {}", shorten_word(id.text)),
            )),
        }
    }

    /// Sets the length in an instruction's first word, which has its opcode.
    pub(super) fn finish_instruction(
        &mut self,
        start: usize,
        opcode: AssemblyWord<'_>,
    ) -> Result<(), AssemblyFault> {
        let length = self.words.len() - start;
        if length > LONGEST {
            let message = format!("{} has {length} words, {LONGEST} are the most", opcode.text);
            return Err(fault_at(opcode, message));
        }
        self.words[start] |= (length as u32) << 16;
        Ok(())
    }

    /// `OpUnknown(opcode, words)` and operands of any kind.
    fn parse_unknown_instruction(&mut self, first: AssemblyWord<'a>) -> Result<(), AssemblyFault> {
        let mut last = first;
        if !first.text.ends_with(')') {
            let next = self.lexer.next_word().filter(|w| w.text.ends_with(')'));
            last = next.ok_or_else(|| malformed_unknown(first))?;
        }
        let numbers = self
            .lexer
            .text_between(first.start + "OpUnknown(".len(), last.end() - 1);
        let (op, length) = numbers
            .split_once(',')
            .and_then(|(op, length)| {
                let op: u16 = op.trim().parse().ok()?;
                let length: u16 = length.trim().parse().ok()?;
                Some((op, usize::from(length)))
            })
            .ok_or_else(|| malformed_unknown(first))?;
        let start = self.words.len();
        self.words.push((length as u32) << 16 | u32::from(op));
        self.raw_operands()?;
        let given = self.words.len() - start;
        if given != length {
            let message = format!("OpUnknown says {length} words but has {given}");
            return Err(fault_at(first, message));
        }
        Ok(())
    }

    /// Operands up to the next instruction, which may be anything but names of values.
    pub(super) fn raw_operands(&mut self) -> Result<(), AssemblyFault> {
        while !self.lexer.at_instruction() {
            let Some(word) = self.lexer.next_word() else {
                break;
            };
            self.raw_operand(word)?;
        }
        Ok(())
    }

    fn skip_to_instruction(&mut self) {
        while !self.lexer.at_instruction() {
            self.lexer.next_word();
        }
    }
}

fn malformed_unknown(first: AssemblyWord<'_>) -> AssemblyFault {
    let message = "OpUnknown needs an opcode and a number of words";
    Box::new(fault_at(first, message).with_hint("write it as 'OpUnknown(9999, 3) 1 2'"))
}

/// A word as messages show it: its beginning where it is long.
pub(super) fn shorten_word(word: &str) -> std::borrow::Cow<'_, str> {
    const MOST: usize = 60;
    match word.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &word[..at]).into(),
        None => word.into(),
    }
}
