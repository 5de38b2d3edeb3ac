//! Disassembler: words to text.

use super::header;
use super::ids::IdTable;
use super::literal::{LiteralTypes, NumericLiteralType};
use super::names::FriendlyNames;
use super::nesting::{BlockNesting, nest_blocks};
use super::notes::DisassemblyNotes;
use super::print_options::{PrintOptions, color};
use crate::binary::{InstructionStream, RawInst, SpirvHeader};
use crate::grammar::{
    DecodeError, ExtInstSet, Kind, KindInfo, Op, OperandCategory, OperandIter, ParsedOperand,
    ResultForm, literal_string,
};
use spirula_diagnostics::SourceDiagnostic;
use std::fmt;

/// Column at which opcodes begin.
const INDENT: usize = 15;

/// Disassembles a module in one piece. [`ModuleDisassembly`] gives it in parts.
///
/// # Errors
/// If the words do not begin with a header, or if the length of an instruction is wrong. Unknown and malformed
/// instructions are no errors; they are printed as numbers.
pub fn print_assembly(words: &[u32], options: &PrintOptions) -> Result<String, SourceDiagnostic> {
    let header = SpirvHeader::from_words(words)?;
    // Texts of usual modules have about eight bytes a word.
    let mut printer = DisassemblyPrinter::new(words, options, words.len() * 10);
    printer.print_header(&header);
    for inst in InstructionStream::new(words) {
        let inst = inst?;
        if !options.uses_nesting() {
            printer.print_instruction(&inst);
        }
    }
    if options.uses_nesting() {
        let ordered = printer.order_instructions(words);
        ordered
            .iter()
            .for_each(|inst| printer.print_instruction(inst));
    }
    Ok(printer.out)
}

/// Disassembles a module into one text for each instruction, in the order of the module. The header, colours and
/// comments are left out.
///
/// # Errors
/// Those of [`print_assembly`].
pub fn print_instructions(
    words: &[u32],
    options: &PrintOptions,
) -> Result<Vec<String>, SourceDiagnostic> {
    SpirvHeader::from_words(words)?;
    let plain = PrintOptions {
        indent: options.indent,
        friendly_names: options.friendly_names,
        ..PrintOptions::default()
    };
    let mut printer = DisassemblyPrinter::new(words, &plain, 0);
    let print = |inst: Result<RawInst<'_>, SourceDiagnostic>| {
        printer.out.clear();
        printer.print_instruction(&inst?);
        Ok(printer.out.trim_end_matches('\n').to_owned())
    };
    InstructionStream::new(words).map(print).collect()
}

/// A module that is printed as it is displayed, in parts. The text of a large one, which is several times as large,
/// need not be held.
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
        printer.print_header(&self.header);
        let mut print = |inst: &RawInst<'_>, printer: &mut DisassemblyPrinter| {
            printer.print_instruction(inst);
            if printer.out.len() >= PART {
                f.write_str(&printer.out)?;
                printer.out.clear();
            }
            Ok(())
        };
        if self.options.uses_nesting() {
            for inst in printer.order_instructions(self.words) {
                print(&inst, &mut printer)?;
            }
        } else {
            for inst in InstructionStream::new(self.words).map_while(Result::ok) {
                print(&inst, &mut printer)?;
            }
        }
        f.write_str(&printer.out)
    }
}

struct DisassemblyPrinter {
    out: String,
    indent: usize,
    options: PrintOptions,
    names: Option<FriendlyNames>,
    types: LiteralTypes,
    sets: IdTable<Option<&'static ExtInstSet>>,
    notes: DisassemblyNotes,
    nesting: BlockNesting,
    /// Spaces before opcodes beyond the column, by the nesting of the block.
    nested: usize,
    /// Bytes of the line that a terminal does not show.
    hidden: usize,
    /// Where the text after the first operand begins.
    first_operand_end: Option<usize>,
}

/// Levels that are shown. A malformed module may have blocks that are nested without end.
const MOST_LEVELS: usize = 64;

/// Spaces for each level of nesting.
const NEST_INDENT: usize = 2;

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
            options: *options,
            names: options
                .friendly_names
                .then(|| FriendlyNames::from_words(words)),
            types: LiteralTypes::default(),
            sets: IdTable::default(),
            notes: DisassemblyNotes::default(),
            nesting: BlockNesting::default(),
            nested: 0,
            hidden: 0,
            first_operand_end: None,
        }
    }

    fn print_header(&mut self, header: &SpirvHeader) {
        if self.options.header {
            header::print_header(header, &mut self.out);
        }
    }

    /// The instructions of a module in the order of the options. Their nesting is recorded.
    fn order_instructions<'w>(&mut self, words: &'w [u32]) -> Vec<RawInst<'w>> {
        let (nesting, ordered) = nest_blocks(words);
        self.nesting = nesting;
        if self.options.reorder_blocks {
            return ordered;
        }
        InstructionStream::new(words)
            .map_while(Result::ok)
            .collect()
    }

    /// Prints an instruction with what stands before and after it.
    fn print_instruction(&mut self, inst: &RawInst<'_>) {
        if self.options.comments {
            self.print_section_title(inst);
        }
        if self.options.nested_indent {
            self.enter_block(inst);
        }
        (self.hidden, self.first_operand_end) = (0, None);
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
                self.hidden = 0;
                self.print_unknown(inst);
            }
        }
        if self.options.comments || self.options.offsets {
            self.print_comment(inst, start);
        }
        if self.options.nested_indent && inst.op == Op::Label {
            self.nested += NEST_INDENT;
        }
        self.out.push('\n');
    }

    /// Sets the indentation for an instruction. A block has an empty line before it.
    fn enter_block(&mut self, inst: &RawInst<'_>) {
        match (inst.op, inst.words) {
            (Op::Label, [label, ..]) => {
                self.out.push('\n');
                let level = self.nesting.level_of(*label) as usize;
                self.nested = level.min(MOST_LEVELS) * NEST_INDENT;
            }
            (Op::Function | Op::FunctionEnd, _) => self.nested = 0,
            _ => {}
        }
    }

    /// Prints the title of a section or function before its first instruction.
    fn print_section_title(&mut self, inst: &RawInst<'_>) {
        if let Some(title) = self.notes.begin_section(inst.op) {
            self.out.push('\n');
            self.print_padding(self.indent);
            self.out.push_str("; ");
            self.out.push_str(title);
            self.out.push('\n');
        }
        if let (Op::Function, [_, id, ..]) = (inst.op, inst.words) {
            let lines = if self.options.uses_nesting() {
                "\n\n"
            } else {
                "\n"
            };
            self.out.push_str(lines);
            self.print_padding(self.indent);
            self.out.push_str("; Function ");
            self.print_name(*id);
            self.out.push('\n');
        }
    }

    /// Prints the comment of a line that began at `start`: the offset, the number of a named id, and decorations.
    fn print_comment(&mut self, inst: &RawInst<'_>, start: usize) {
        let is_decoration = matches!(inst.op, Op::Decorate | Op::DecorateId | Op::DecorateString);
        let text = self
            .first_operand_end
            .and_then(|end| self.out.get(end + 1..));
        if let (true, Some(target), Some(text)) = (is_decoration, inst.words.first(), text) {
            self.notes.record_decoration(*target, text);
        }
        let mut parts = Vec::new();
        if self.options.offsets {
            let offset = inst.at * size_of::<u32>();
            let (on, off) = if self.options.colors {
                (color::OFFSET, color::RESET)
            } else {
                ("", "")
            };
            parts.push(format!("{on}{offset:#010x}{off}"));
        }
        if self.options.comments {
            if let (Op::Name, [id, ..]) = (inst.op, inst.words) {
                parts.push(format!("id %{id}"));
            }
            if let Some(id) = result_of(inst) {
                let decorations = self.notes.decorations_of(id);
                parts.extend(decorations.iter().map(|text| text.to_string()));
            }
        }
        if !parts.is_empty() {
            let width = self.out[start..].chars().count() - self.hidden;
            let spaces = self.notes.place_comment(width);
            self.print_padding(spaces);
            self.out.push_str("; ");
            self.out.push_str(&parts.join(", "));
        }
    }

    /// Begins a coloured part.
    fn begin_color(&mut self, color: &str) {
        if self.options.colors {
            self.out.push_str(color);
            self.hidden += color.len();
        }
    }

    /// Ends a coloured part.
    fn end_color(&mut self) {
        self.begin_color(color::RESET);
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
            None => self.print_padding(self.indent + self.nested),
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
                    let (start, hidden) = (self.out.len(), self.hidden);
                    self.out.push(' ');
                    if !self.print_operand(inst, selector, &operand) {
                        self.out.truncate(start);
                        self.hidden = hidden;
                        return OperandPrintExtent::UpTo(at);
                    }
                    at += operand.words.len();
                    if at == 1 {
                        self.first_operand_end = Some(self.out.len());
                    }
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
                let number = NumericLiteralType::Float(super::float::FloatLiteralFormat::F32);
                return self.print_number(Some(number), operand.words);
            }
            (_, Kind::LiteralContextDependentNumber) => {
                let number = self.types.number_type(inst.words[0]);
                return number.is_some() && self.print_number(number, operand.words);
            }
            (_, Kind::LiteralInteger) if inst.op == Op::Switch => {
                return self.print_number(selector, operand.words);
            }
            (_, Kind::LiteralSpecConstantOpInteger) => match Op(word as u16).info() {
                Some(row) => self.out.push_str(&row.name[2..]),
                None => return false,
            },
            (_, Kind::LiteralExtInstInteger) => return self.ext_inst(inst, word),
            _ => return self.print_number(None, operand.words),
        }
        true
    }

    /// Prints a number of a type, or else its first word. The result is false where it has no text.
    fn print_number(&mut self, number: Option<NumericLiteralType>, words: &[u32]) -> bool {
        self.begin_color(color::NUMBER);
        let is_printed = match number {
            Some(number) => number.print_literal(words, &mut self.out),
            None => {
                push_number(u64::from(words[0]), &mut self.out);
                true
            }
        };
        self.end_color();
        is_printed
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
        self.begin_color(color::STRING);
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
        self.end_color();
        self.out.push('"');
        true
    }

    /// Prints an instruction that the grammar does not know or does not fit.
    fn print_unknown(&mut self, inst: &RawInst<'_>) {
        self.print_padding(self.indent + self.nested);
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
        self.begin_color(color::RESULT);
        let start = self.out.len();
        self.out.push('%');
        self.print_name(id);
        let width = self.out.len() - start + " = ".len();
        if width < self.indent {
            const SPACES: &str = "               ";
            self.out.insert_str(start, &SPACES[..self.indent - width]);
        }
        self.end_color();
        self.out.push_str(" = ");
        self.print_padding(self.nested);
    }

    fn print_id(&mut self, id: u32) {
        self.begin_color(color::ID);
        self.out.push('%');
        self.print_name(id);
        self.end_color();
    }

    /// Prints the name of an id, or its number.
    fn print_name(&mut self, id: u32) {
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

/// The result of an instruction that the grammar knows.
fn result_of(inst: &RawInst<'_>) -> Option<u32> {
    let position = inst.op.shape().result_position()?;
    inst.words.get(position).copied()
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
