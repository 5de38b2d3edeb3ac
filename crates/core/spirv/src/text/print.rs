//! Disassembler: words to text.

use super::header;
use super::ids::IdTable;
use super::literal::{LiteralTypes, NumericLiteralType};
use super::names::FriendlyNames;
use crate::binary::{InstructionStream, RawInst, SpirvHeader};
use crate::grammar::{
    DecodeError, ExtInstSet, Kind, KindInfo, Op, OperandCategory, OperandIter, ParsedOperand,
    ResultForm, literal_string,
};
use spirula_diagnostics::SourceDiagnostic;
use std::fmt;

/// Column at which opcodes begin.
const INDENT: usize = 15;

/// Options of the disassembler. The default is the format of SPIRV-Tools with `--raw-id`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintOptions {
    /// Begin with the header as a comment, from which [`super::parse()`] takes it back.
    pub header: bool,
    /// Align opcodes in a column.
    pub indent: bool,
    /// Print names such as `%main` and `%v4float` instead of numbers. Assembling the text assigns new numbers to
    /// named ids.
    pub friendly_names: bool,
}

impl Default for PrintOptions {
    fn default() -> Self {
        PrintOptions {
            header: true,
            indent: true,
            friendly_names: false,
        }
    }
}

/// Disassembles a module in one piece. [`ModuleDisassembly`] gives it in parts.
///
/// # Errors
/// If the words do not begin with a header, or if the length of an instruction is wrong. Unknown and malformed
/// instructions are no errors; they are printed as numbers.
pub fn print_assembly(words: &[u32], options: &PrintOptions) -> Result<String, SourceDiagnostic> {
    let header = SpirvHeader::from_words(words)?;
    // Texts of usual modules have about eight bytes a word.
    let mut printer = DisassemblyPrinter::new(words, options, words.len() * 10);
    printer.print_header(&header, options);
    for inst in InstructionStream::new(words) {
        printer.print_instruction(&inst?);
    }
    Ok(printer.out)
}

/// A module that is printed as it is displayed, in parts, so that a large one's text, which is several times
/// as large, need not be held.
///
/// ```
/// use spirula_spirv::text::{ModuleDisassembly, ParseOptions, PrintOptions, parse_assembly};
///
/// let words = parse_assembly("OpMemoryModel Logical GLSL450", &ParseOptions::default()).unwrap();
/// let options = PrintOptions { header: false, indent: false, ..PrintOptions::default() };
/// let text = ModuleDisassembly::new(&words, options).unwrap();
/// assert_eq!(text.to_string(), "OpMemoryModel Logical GLSL450\n");
/// ```
#[derive(Clone, Debug)]
pub struct ModuleDisassembly<'w> {
    words: &'w [u32],
    header: SpirvHeader,
    options: PrintOptions,
}

/// Bytes of text that are handed on at a time.
const PART: usize = 1 << 13;

impl<'w> ModuleDisassembly<'w> {
    /// Of a module's words.
    ///
    /// # Errors
    /// Those of [`print`].
    pub fn new(words: &'w [u32], options: PrintOptions) -> Result<Self, SourceDiagnostic> {
        let header = SpirvHeader::from_words(words)?;
        for inst in InstructionStream::new(words) {
            inst?;
        }
        Ok(ModuleDisassembly {
            words,
            header,
            options,
        })
    }
}

impl fmt::Display for ModuleDisassembly<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let room = self.words.len().saturating_mul(10).min(PART + PART / 8);
        let mut printer = DisassemblyPrinter::new(self.words, &self.options, room);
        printer.print_header(&self.header, &self.options);
        for inst in InstructionStream::new(self.words).map_while(Result::ok) {
            printer.print_instruction(&inst);
            if printer.out.len() >= PART {
                f.write_str(&printer.out)?;
                printer.out.clear();
            }
        }
        f.write_str(&printer.out)
    }
}

struct DisassemblyPrinter {
    out: String,
    indent: usize,
    names: Option<FriendlyNames>,
    types: LiteralTypes,
    sets: IdTable<Option<&'static ExtInstSet>>,
}

/// How far an instruction's operands could be printed.
enum OperandPrintExtent {
    All,
    /// Skips to this word; words after it have no text of their own.
    UpTo(usize),
    /// The grammar and the words disagree.
    Malformed,
}

impl DisassemblyPrinter {
    fn new(words: &[u32], options: &PrintOptions, room: usize) -> Self {
        DisassemblyPrinter {
            out: String::with_capacity(room),
            indent: if options.indent { INDENT } else { 0 },
            names: options
                .friendly_names
                .then(|| FriendlyNames::from_words(words)),
            types: LiteralTypes::default(),
            sets: IdTable::default(),
        }
    }

    fn print_header(&mut self, header: &SpirvHeader, options: &PrintOptions) {
        if options.header {
            header::print_header(header, &mut self.out);
        }
    }

    fn print_instruction(&mut self, inst: &RawInst<'_>) {
        let start = self.out.len();
        match self.print_operands(inst) {
            OperandPrintExtent::All => self.record_definition(inst),
            OperandPrintExtent::UpTo(at) => {
                self.record_definition(inst);
                for word in &inst.words[at..] {
                    self.out.push_str(" !");
                    push_number(u64::from(*word), &mut self.out);
                }
            }
            OperandPrintExtent::Malformed => {
                self.out.truncate(start);
                self.print_unknown(inst);
            }
        }
        self.out.push('\n');
    }

    /// Records facts that later instructions are printed by.
    fn record_definition(&mut self, inst: &RawInst<'_>) {
        self.types.record_instruction(inst.op, inst.words);
        if let (Op::ExtInstImport, [id, string @ ..]) = (inst.op, inst.words) {
            let set = ExtInstSet::by_name(&literal_string(string));
            self.sets.set(*id, set);
        }
    }

    /// Prints an instruction by the grammar.
    fn print_operands(&mut self, inst: &RawInst<'_>) -> OperandPrintExtent {
        let Some(row) = inst.op.info() else {
            return OperandPrintExtent::Malformed;
        };
        let result = match row.result {
            ResultForm::None => None,
            ResultForm::Untyped => Some(inst.words.first()),
            ResultForm::Typed => Some(inst.words.get(1)),
        };
        match result {
            None => self.print_padding(self.indent),
            Some(Some(id)) if *id < u32::MAX && inst.words[0] < u32::MAX => self.print_result(*id),
            Some(_) => return OperandPrintExtent::Malformed,
        }
        self.out.push_str(row.name);
        if inst.op.shape().has_ids_only(inst.words) && !inst.words.contains(&u32::MAX) {
            self.print_id_operands(inst);
            return OperandPrintExtent::All;
        }
        let mut operands = OperandIter::new(inst.op, inst.words);
        let mut selector = None;
        match (inst.op, inst.words) {
            (Op::ExtInst | Op::ExtInstWithForwardRefsKHR, [_, _, set, ..]) => {
                operands = operands.with_ext(self.sets.get(*set))
            }
            (Op::Switch, [value, ..]) => {
                selector = self.types.number_of_value(*value);
                operands = operands
                    .with_switch_literal_words(selector.map_or(1, NumericLiteralType::word_count));
            }
            _ => {}
        }
        let mut at = 0;
        for operand in operands {
            match operand {
                Ok(operand) if operand.kind == Kind::IdResult => at += 1,
                Ok(operand) => {
                    let start = self.out.len();
                    self.out.push(' ');
                    if !self.print_operand(inst, selector, &operand) {
                        self.out.truncate(start);
                        return OperandPrintExtent::UpTo(at);
                    }
                    at += operand.words.len();
                }
                Err(DecodeError::UnknownValue(..) | DecodeError::EndlessString) => {
                    return OperandPrintExtent::UpTo(at);
                }
                Err(_) => return OperandPrintExtent::Malformed,
            }
        }
        OperandPrintExtent::All
    }

    /// Prints the operands of an instruction that has nothing but ids, as most have.
    fn print_id_operands(&mut self, inst: &RawInst<'_>) {
        let result = inst.op.shape().result_position();
        for (at, id) in inst.words.iter().enumerate() {
            if Some(at) != result {
                self.out.push(' ');
                self.print_id(*id);
            }
        }
    }

    /// Prints an operand; `false` when it has no text from which it could be read back.
    fn print_operand(
        &mut self,
        inst: &RawInst<'_>,
        selector: Option<NumericLiteralType>,
        operand: &ParsedOperand<'_>,
    ) -> bool {
        let info = operand.kind.info();
        let word = operand.words[0];
        match (info.category, operand.kind) {
            (OperandCategory::Id, _) if word == u32::MAX => return false,
            (OperandCategory::Id, _) => self.print_id(word),
            (OperandCategory::ValueEnum, _) => match info.enumerant_by_value(word) {
                Some(row) => self.out.push_str(row.name),
                None => return false,
            },
            (OperandCategory::BitEnum, _) => return self.print_mask(info, word),
            (_, Kind::LiteralString) => return self.print_string(operand.words),
            (_, Kind::LiteralFloat) => {
                return NumericLiteralType::Float(super::float::FloatLiteralFormat::F32)
                    .print_literal(operand.words, &mut self.out);
            }
            (_, Kind::LiteralContextDependentNumber) => {
                let number = self.types.number_type(inst.words[0]);
                return number.is_some_and(|n| n.print_literal(operand.words, &mut self.out));
            }
            (_, Kind::LiteralInteger) if inst.op == Op::Switch => match selector {
                Some(number) => return number.print_literal(operand.words, &mut self.out),
                None => push_number(u64::from(word), &mut self.out),
            },
            (_, Kind::LiteralSpecConstantOpInteger) => match Op(word as u16).info() {
                Some(row) => self.out.push_str(&row.name[2..]),
                None => return false,
            },
            (_, Kind::LiteralExtInstInteger) => return self.ext_inst(inst, word),
            _ => push_number(u64::from(word), &mut self.out),
        }
        true
    }

    /// Prints an extended instruction's name; the number where its set is not known.
    fn ext_inst(&mut self, inst: &RawInst<'_>, number: u32) -> bool {
        match self.sets.get(inst.words[2]) {
            Some(set) => match set.instruction_by_number(number) {
                Some(row) => self.out.push_str(row.name),
                None => return false,
            },
            None => push_number(u64::from(number), &mut self.out),
        }
        true
    }

    fn print_mask(&mut self, info: &KindInfo, mask: u32) -> bool {
        if mask == 0 {
            let none = info.enumerant_by_value(0);
            self.out.push_str(none.map_or("", |row| row.name));
            return none.is_some();
        }
        let mut rest = mask;
        while rest != 0 {
            let bit = rest & rest.wrapping_neg();
            let Some(row) = info.enumerant_by_value(bit) else {
                return false;
            };
            if rest != mask {
                self.out.push('|');
            }
            self.out.push_str(row.name);
            rest ^= bit;
        }
        true
    }

    /// Prints a string unless it is not UTF-8 or has bytes after its end.
    fn print_string(&mut self, words: &[u32]) -> bool {
        let mut buffer = Vec::new();
        buffer.extend(words.iter().flat_map(|w| w.to_le_bytes()));
        let end = buffer.iter().position(|b| *b == 0).unwrap_or(buffer.len());
        if buffer[end..].iter().any(|b| *b != 0) {
            return false;
        }
        let Ok(text) = std::str::from_utf8(&buffer[..end]) else {
            return false;
        };
        self.out.push('"');
        for part in text.split_inclusive(['"', '\\']) {
            match part.as_bytes() {
                [.., last @ (b'"' | b'\\')] => {
                    self.out.push_str(&part[..part.len() - 1]);
                    self.out.push('\\');
                    self.out.push(char::from(*last));
                }
                _ => self.out.push_str(part),
            }
        }
        self.out.push('"');
        true
    }

    /// Prints an instruction that the grammar does not know or does not fit.
    fn print_unknown(&mut self, inst: &RawInst<'_>) {
        self.print_padding(self.indent);
        self.out.push_str("OpUnknown(");
        push_number(u64::from(inst.op.0), &mut self.out);
        self.out.push_str(", ");
        push_number(inst.words.len() as u64 + 1, &mut self.out);
        self.out.push(')');
        for word in inst.words {
            self.out.push(' ');
            push_number(u64::from(*word), &mut self.out);
        }
    }

    /// Prints `%id = `, its end at the column of opcodes.
    fn print_result(&mut self, id: u32) {
        let start = self.out.len();
        self.print_id(id);
        let width = self.out.len() - start + " = ".len();
        if width < self.indent {
            const SPACES: &str = "               ";
            self.out.insert_str(start, &SPACES[..self.indent - width]);
        }
        self.out.push_str(" = ");
    }

    fn print_id(&mut self, id: u32) {
        self.out.push('%');
        match &self.names {
            Some(names) => names.write_name(id, &mut self.out),
            None => push_number(u64::from(id), &mut self.out),
        }
    }

    fn print_padding(&mut self, count: usize) {
        for _ in 0..count {
            self.out.push(' ');
        }
    }
}

/// Writes a number in decimal.
pub fn push_number(mut number: u64, out: &mut String) {
    if number < 10 {
        out.push(char::from(b'0' + number as u8));
        return;
    }
    let mut buffer = [0u8; 20];
    let mut at = buffer.len();
    loop {
        at -= 1;
        buffer[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.push_str(std::str::from_utf8(&buffer[at..]).unwrap_or_default());
}
