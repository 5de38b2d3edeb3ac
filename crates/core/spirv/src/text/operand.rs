//! Operand parser of the assembler, driven by the grammar.

use super::float::FloatLiteralFormat;
use super::integer::{self, NumberError};
use super::lexer::{AssemblyWord, is_opcode};
use super::literal::NumericLiteralType;
use super::parse::{AssemblyFault, AssemblyParser, fault_at, shorten_word};
use crate::grammar::{
    ExpectedOperands, ExtInstSet, InstructionInfo, Kind, KindInfo, Op, OperandCategory, ResultForm,
    all_instructions, literal_string,
};
use spirula_diagnostics::find_nearest;

/// The instruction being read.
struct AssemblyInstruction<'a> {
    row: &'static InstructionInfo,
    opcode: AssemblyWord<'a>,
    /// Position of its first word.
    start: usize,
    /// The result before `=`, until it is inserted.
    result: Option<u32>,
    expected: ExpectedOperands,
}

impl<'a> AssemblyParser<'a> {
    /// Reads an instruction whose opcode has a name, and its result if there is one before `=`.
    pub(super) fn parse_known_instruction(
        &mut self,
        opcode: AssemblyWord<'a>,
        result: Option<(AssemblyWord<'a>, u32)>,
    ) -> Result<(), AssemblyFault> {
        let row = Op::by_name(opcode.text).and_then(Op::info);
        let row = row.ok_or_else(|| unknown_opcode(opcode))?;
        if let (Some((word, _)), ResultForm::None) = (result, row.result) {
            let message = format!("{} has no result", row.name);
            let hint = format!("leave out '{} ='", shorten_word(word.text));
            return Err(Box::new(fault_at(word, message).with_hint(hint)));
        }
        let mut current = AssemblyInstruction {
            row,
            opcode,
            start: self.words.len(),
            result: result.map(|(_, id)| id),
            expected: ExpectedOperands::new(row.operands),
        };
        self.words.push(u32::from(row.op.0));
        self.parse_operands(&mut current)?;
        self.finish_instruction(current.start, opcode)?;
        let words = &self.words[current.start + 1..];
        self.types.record_instruction(row.op, words);
        if let (Op::ExtInstImport, [id, string @ ..]) = (row.op, words) {
            let set = ExtInstSet::by_name(&literal_string(string));
            self.sets.set(*id, set);
        }
        Ok(())
    }

    fn parse_operands(
        &mut self,
        current: &mut AssemblyInstruction<'a>,
    ) -> Result<(), AssemblyFault> {
        let assigned = current.result.is_some();
        loop {
            let lexer = &mut self.lexer;
            let next = current.expected.next_operand(|| lexer.at_instruction());
            let kind = match next {
                Ok(Some((Kind::IdResult, _))) if assigned => {
                    self.words.extend(current.result.take());
                    continue;
                }
                // The result was given before `=`, so that it is not missing at the end.
                Err((Kind::IdResult, _)) if assigned => {
                    self.words.extend(current.result.take());
                    continue;
                }
                Ok(Some((kind, _))) => kind,
                Ok(None) => return Ok(()),
                Err((kind, name)) => {
                    return Err(self.missing_operand_fault(current, assigned, kind, name));
                }
            };
            let Some(word) = self.lexer.next_word() else {
                return Ok(());
            };
            if word.text.starts_with('!') {
                self.raw_operand(word)?;
                return self.raw_rest(current);
            }
            self.parse_operand(current, kind, word)?;
        }
    }

    /// The fault of an instruction that ends before an operand.
    fn missing_operand_fault(
        &mut self,
        current: &AssemblyInstruction<'a>,
        assigned: bool,
        kind: Kind,
        name: &str,
    ) -> AssemblyFault {
        let so_far = self.lexer.span_since(current.opcode);
        if kind == Kind::LiteralSpecConstantOpInteger
            && self.lexer.peek() == Some(b'O')
            && let Some(word) = self.lexer.next_word()
        {
            return unknown_spec_op(word);
        }
        let row = current.row;
        let message = match (kind, name) {
            (Kind::IdResult, _) => format!("{} lacks its result", row.name),
            (Kind::IdResultType, _) => format!("{} lacks its result's type", row.name),
            (_, "") => format!("{} lacks its {}", row.name, kind.info().name),
            _ => format!("{} lacks its operand '{name}'", row.name),
        };
        let fault = fault_at(so_far, message);
        if row.result != ResultForm::None && !assigned {
            let hint = format!("the result comes first: '%id = {}'", row.name);
            return Box::new(fault.with_hint(hint));
        }
        fault
    }

    /// Parses the words after a raw word: the result at its position, else operands without a grammar.
    fn raw_rest(&mut self, current: &mut AssemblyInstruction<'a>) -> Result<(), AssemblyFault> {
        if current.result.is_some() {
            while self.words.len() < current.start + 2 && !self.lexer.at_instruction() {
                let Some(word) = self.lexer.next_word() else {
                    break;
                };
                self.raw_operand(word)?;
            }
            self.words.extend(current.result.take());
        }
        self.raw_operands()
    }

    fn parse_operand(
        &mut self,
        current: &mut AssemblyInstruction<'a>,
        kind: Kind,
        word: AssemblyWord<'a>,
    ) -> Result<(), AssemblyFault> {
        let info = kind.info();
        match (info.category, kind) {
            (OperandCategory::Id, _) => {
                let id = self.parse_id(word)?;
                self.words.push(id);
            }
            (OperandCategory::ValueEnum, _) => {
                let row = info.by_name(word.text);
                let row = row.ok_or_else(|| unknown_value(info, word))?;
                self.words.push(row.value);
                current.expected.push_operands(row.parameters);
            }
            (OperandCategory::BitEnum, _) => {
                let mask = parse_mask(info, word)?;
                self.words.push(mask);
                current.expected.push_bits(kind, mask);
            }
            (_, Kind::LiteralString) => self.parse_string(word)?,
            (_, Kind::LiteralFloat) => {
                self.parse_number(NumericLiteralType::Float(FloatLiteralFormat::F32), word)?
            }
            (_, Kind::LiteralContextDependentNumber) => {
                let ty = self.words[current.start + 1];
                let number = self
                    .types
                    .number_type(ty)
                    .ok_or_else(|| untyped_literal_fault(current, word))?;
                self.parse_number(number, word)?;
            }
            (_, Kind::LiteralInteger)
                if current.expected.in_pair() && current.row.op == Op::Switch =>
            {
                let selector = self.words[current.start + 1];
                match self.types.number_of_value(selector) {
                    Some(number) => self.parse_number(number, word)?,
                    None => self.any_number(word)?,
                }
            }
            (_, Kind::LiteralExtInstInteger) => self.ext_inst(current, word)?,
            (_, Kind::LiteralSpecConstantOpInteger) => {
                let op = Op::by_name(word.text).filter(|_| !is_opcode(word.text));
                let op = op.filter(|op| current.expected.enter_spec_op(u32::from(op.0)));
                let op = op.ok_or_else(|| unknown_spec_op(word))?;
                self.words.push(u32::from(op.0));
            }
            _ => self.parse_number(
                NumericLiteralType::Int {
                    width: 32,
                    signed: false,
                },
                word,
            )?,
        }
        Ok(())
    }

    /// The number of an id with its `%`.
    pub(super) fn parse_id(&mut self, word: AssemblyWord<'a>) -> Result<u32, AssemblyFault> {
        let Some(name) = word.text.strip_prefix('%') else {
            let message = format!("an id is expected, not '{}'", shorten_word(word.text));
            return Err(Box::new(
                fault_at(word, message).with_hint("ids begin with '%'"),
            ));
        };
        self.symbols.resolve_id(name).ok_or_else(|| {
            let message = format!("'{}' is no id", shorten_word(word.text));
            let hint = "an id is '%' and letters, digits or underscores, or a number";
            Box::new(fault_at(word, message).with_hint(hint))
        })
    }

    fn parse_number(
        &mut self,
        number: NumericLiteralType,
        word: AssemblyWord<'_>,
    ) -> Result<(), AssemblyFault> {
        let parsed = number.parse_literal(word.text, &mut self.words);
        parsed.map_err(|e| number_fault(&describe_number(number), e, word))
    }

    /// A number of one word, of which no more is known.
    fn any_number(&mut self, word: AssemblyWord<'_>) -> Result<(), AssemblyFault> {
        let parsed = if word.text.contains('.') {
            FloatLiteralFormat::F32
                .parse_literal(word.text)
                .map(|bits| bits as u32)
        } else {
            integer::parse_word(word.text)
        };
        let value = parsed.map_err(|e| number_fault("a number of 32 bits", e, word))?;
        self.words.push(value);
        Ok(())
    }

    /// The word that `!` and a number give.
    pub(super) fn raw_word(&mut self, word: AssemblyWord<'_>) -> Result<u32, AssemblyFault> {
        let value = integer::parse_integer(&word.text[1..], 32, false);
        let value = value.map_err(|e| number_fault("an unsigned number of 32 bits", e, word))?;
        Ok(value as u32)
    }

    /// An operand whose kind is not known: a raw word, an id, a string or a number.
    pub(super) fn raw_operand(&mut self, word: AssemblyWord<'a>) -> Result<(), AssemblyFault> {
        match word.text.as_bytes()[0] {
            b'!' => {
                let value = self.raw_word(word)?;
                self.words.push(value);
                Ok(())
            }
            b'%' => {
                let id = self.parse_id(word)?;
                self.words.push(id);
                Ok(())
            }
            b'"' => self.parse_string(word),
            b'0'..=b'9' | b'-' | b'.' => self.any_number(word),
            _ => {
                let message = format!(
                    "'{}' has no meaning after a raw word",
                    shorten_word(word.text)
                );
                let hint = "write names of values as '!' and their number there";
                Err(Box::new(fault_at(word, message).with_hint(hint)))
            }
        }
    }

    /// A literal string with its quotation marks.
    fn parse_string(&mut self, word: AssemblyWord<'a>) -> Result<(), AssemblyFault> {
        let Some(body) = word.text.strip_prefix('"') else {
            let message = format!("a string is expected, not '{}'", shorten_word(word.text));
            return Err(Box::new(
                fault_at(word, message).with_hint("strings are enclosed in '\"'"),
            ));
        };
        let mut filled = 0;
        let mut push = |byte: u8| {
            if filled % 4 == 0 {
                self.words.push(0);
            }
            if let Some(last) = self.words.last_mut() {
                *last |= u32::from(byte) << (filled % 4 * 8);
            }
            filled += 1;
        };
        let mut bytes = body.bytes().enumerate();
        let wrong = loop {
            match bytes.next() {
                Some((at, b'"')) if at + 1 == body.len() => break None,
                Some((_, b'"')) => break Some("white space must follow a string"),
                Some((_, 0)) => break Some("a string cannot hold NUL"),
                Some((_, b'\\')) => match bytes.next() {
                    Some((_, 0)) => break Some("a string cannot hold NUL"),
                    Some((_, byte)) => push(byte),
                    None => break Some("a string has no closing '\"'"),
                },
                Some((_, byte)) => push(byte),
                None => break Some("a string has no closing '\"'"),
            }
        };
        push(0);
        wrong.map_or(Ok(()), |message| Err(self.string_fault(word, message)))
    }

    /// An error shown at the first line of a string. Parsing continues on the next line, because a string
    /// without an end swallows more than was meant.
    fn string_fault(&mut self, word: AssemblyWord<'a>, message: &str) -> AssemblyFault {
        let first = word.text.split('\n').next();
        let Some(text) = first.filter(|text| *text != word.text) else {
            return fault_at(word, message);
        };
        let line = AssemblyWord { text, ..word };
        self.lexer.rewind_to(line);
        let hint = "if the string should end on its line, close it there with '\"'";
        Box::new(fault_at(line, message).with_hint(hint))
    }

    fn ext_inst(
        &mut self,
        current: &mut AssemblyInstruction<'a>,
        word: AssemblyWord<'a>,
    ) -> Result<(), AssemblyFault> {
        let set = self.sets.get(self.words[current.start + 3]);
        let number = match set {
            Some(set) if !word.text.starts_with(|c: char| c.is_ascii_digit()) => {
                let row = set.instruction_by_name(word.text);
                row.ok_or_else(|| unknown_ext_inst(set, word))?.number
            }
            _ => {
                let number = integer::parse_integer(word.text, 32, false);
                number.map_err(|e| number_fault("an instruction number", e, word))? as u32
            }
        };
        self.words.push(number);
        current.expected.enter_ext(set, number);
        Ok(())
    }
}

/// A mask of names joined by `|`.
fn parse_mask(info: &KindInfo, word: AssemblyWord<'_>) -> Result<u32, AssemblyFault> {
    let mut mask = 0;
    let mut start = word.start;
    for text in word.text.split('|') {
        let row = info.by_name(text);
        mask |= row
            .ok_or_else(|| unknown_value(info, AssemblyWord { text, start }))?
            .value;
        start += text.len() + 1;
    }
    Ok(mask)
}

fn describe_number(number: NumericLiteralType) -> String {
    match number {
        NumericLiteralType::Int { width, signed } => {
            let sign = if signed { "a signed" } else { "an unsigned" };
            format!("{sign} integer of {width} bits")
        }
        NumericLiteralType::Float(format) => {
            format!("a floating-point number of {} bits", format.width())
        }
    }
}

fn number_fault(expected: &str, error: NumberError, word: AssemblyWord<'_>) -> AssemblyFault {
    let text = shorten_word(word.text);
    fault_at(
        word,
        match error {
            NumberError::Malformed => format!("'{text}' is not {expected}"),
            NumberError::Negative => format!("'{text}' is negative, but {expected} is expected"),
            NumberError::TooLarge => format!("'{text}' does not fit into {expected}"),
        },
    )
}

fn with_guess(fault: AssemblyFault, guess: Option<String>) -> AssemblyFault {
    match guess {
        Some(guess) => Box::new(fault.with_hint(format!("did you mean '{guess}'?"))),
        None => fault,
    }
}

fn unknown_opcode(word: AssemblyWord<'_>) -> AssemblyFault {
    let names = all_instructions().iter().map(|row| row.name);
    let guess = find_nearest(word.text, names).map(str::to_owned);
    let message = format!("there is no instruction {}", shorten_word(word.text));
    with_guess(fault_at(word, message), guess)
}

fn unknown_spec_op(word: AssemblyWord<'_>) -> AssemblyFault {
    let message = format!(
        "'{}' cannot be used in OpSpecConstantOp",
        shorten_word(word.text)
    );
    if let Some(name) = word.text.strip_prefix("Op")
        && Op::by_name(word.text).is_some()
    {
        return with_guess(fault_at(word, message), Some(name.to_owned()));
    }
    let rows = all_instructions().iter();
    let typed = rows.filter(|row| row.result == ResultForm::Typed);
    let guess = find_nearest(word.text, typed.map(|row| &row.name[2..]));
    with_guess(fault_at(word, message), guess.map(str::to_owned))
}

fn unknown_ext_inst(set: &ExtInstSet, word: AssemblyWord<'_>) -> AssemblyFault {
    let names = set.instructions.iter().map(|row| row.name);
    let guess = find_nearest(word.text, names).map(str::to_owned);
    let message = format!(
        "{} has no instruction '{}'",
        set.name,
        shorten_word(word.text)
    );
    with_guess(fault_at(word, message), guess)
}

fn unknown_value(info: &KindInfo, word: AssemblyWord<'_>) -> AssemblyFault {
    let rows = info.enumerants.iter();
    let names = rows.flat_map(|row| row.aliases.iter().copied().chain([row.name]));
    let guess = find_nearest(word.text, names).map(str::to_owned);
    let message = format!("'{}' is no {}", shorten_word(word.text), info.name);
    with_guess(fault_at(word, message), guess)
}

fn untyped_literal_fault(
    current: &AssemblyInstruction<'_>,
    word: AssemblyWord<'_>,
) -> AssemblyFault {
    let message = format!("the type of {}'s literal is not known", current.row.name);
    let hint = "declare its type, an integer or floating-point type, before it";
    Box::new(fault_at(word, message).with_hint(hint))
}
