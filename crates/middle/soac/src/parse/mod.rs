//! Programs from text. The text is the one that the printer prints. `--` and `//` begin comments.
//!
//! The number at the end of a variable's name is no part of it: variables are numbered in the order in which they are bound.
//!
//! [`SoacParser`] also reads the parts of other forms that consist of code in this form.

mod operation;
mod token;

use crate::ir::{
    SoacBody, SoacFunction, SoacFunctionId, SoacLambda, SoacLoopForm, SoacOperand, SoacProgram,
    SoacStatement, SoacType, SoacVariable, SoacVariableId,
};
use rustc_hash::FxHashMap;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_entity::DenseId as _;
use spirula_program::{ScalarLiteral, ScalarType};
use token::{SoacToken, SoacTokenKind, split_tokens};

/// How deep bodies may be nested.
const MAX_DEPTH: usize = 256;

/// Reads a program.
///
/// # Errors
///
/// The first fault of the text with its place. The rules of the verifier are not checked.
pub fn parse_program(text: &str) -> Result<SoacProgram, SourceDiagnostic> {
    let mut parser = SoacParser::from_text(text)?;
    let mut program = SoacProgram::default();
    while !parser.is_at_end() {
        program.functions.push(parser.parse_function()?);
    }
    Ok(program)
}

fn make_fault(start: usize, message: impl Into<String>) -> SourceDiagnostic {
    SourceDiagnostic::error(SourceLocation::from_text_range(start, start + 1), message)
}

/// The results of a statement, and the certificates that its operation needs.
#[derive(Debug)]
pub struct StatementHead {
    /// The variables that are bound.
    pub results: Vec<SoacVariableId>,
    /// The certificates.
    pub certificates: Vec<SoacVariableId>,
}

/// The parameters and the form of a loop.
#[derive(Debug)]
pub struct LoopHead {
    /// The parameters with their first values.
    pub parameters: Vec<(SoacVariableId, SoacOperand)>,
    /// How often the loop runs.
    pub form: SoacLoopForm,
}

/// State of the parser: a position in the text, and the function that is read.
#[derive(Debug)]
pub struct SoacParser {
    tokens: Vec<SoacToken>,
    next: usize,
    depth: usize,
    /// The function that is read.
    function: SoacFunction,
    /// Its variables by their names.
    names: FxHashMap<String, SoacVariableId>,
}

impl SoacParser {
    /// A parser at the beginning of a text.
    ///
    /// # Errors
    ///
    /// A character that begins no token, with its place.
    pub fn from_text(text: &str) -> Result<Self, SourceDiagnostic> {
        let tokens = split_tokens(text).map_err(|fault| make_fault(fault.start, fault.message))?;
        Ok(SoacParser {
            tokens,
            next: 0,
            depth: 0,
            function: SoacFunction::default(),
            names: FxHashMap::default(),
        })
    }

    /// Whether the whole text is read.
    pub fn is_at_end(&self) -> bool {
        self.peek() == &SoacTokenKind::End
    }

    fn peek(&self) -> &SoacTokenKind {
        &self.tokens[self.next].kind
    }

    fn advance(&mut self) -> SoacTokenKind {
        let kind = self.peek().clone();
        if kind != SoacTokenKind::End {
            self.next += 1;
        }
        kind
    }

    /// A fault at the next token.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn fail<T>(&self, message: impl Into<String>) -> Result<T, SourceDiagnostic> {
        Err(make_fault(self.tokens[self.next].start, message))
    }

    /// Whether a mark is next.
    pub fn peek_mark(&self, mark: &str) -> bool {
        matches!(self.peek(), SoacTokenKind::Mark(found) if *found == mark)
    }

    /// Takes a mark if it is next.
    pub fn take_mark(&mut self, mark: &str) -> bool {
        let is_next = self.peek_mark(mark);
        self.next += usize::from(is_next);
        is_next
    }

    /// Takes a mark.
    ///
    /// # Errors
    ///
    /// Something else is next.
    pub fn expect_mark(&mut self, mark: &str) -> Result<(), SourceDiagnostic> {
        if self.take_mark(mark) {
            return Ok(());
        }
        self.fail(format!("`{mark}` is expected"))
    }

    /// Whether a word is next.
    pub fn peek_word(&self, word: &str) -> bool {
        matches!(self.peek(), SoacTokenKind::Word(found) if found == word)
    }

    /// Takes a word.
    ///
    /// # Errors
    ///
    /// Something else is next.
    pub fn expect_word(&mut self, word: &str) -> Result<(), SourceDiagnostic> {
        if self.peek_word(word) {
            self.next += 1;
            return Ok(());
        }
        self.fail(format!("`{word}` is expected"))
    }

    /// Takes a word if it is next.
    pub fn take_word(&mut self, word: &str) -> bool {
        let is_next = self.peek_word(word);
        self.next += usize::from(is_next);
        is_next
    }

    /// Whether a variable of the function is next.
    pub fn peek_variable(&self) -> bool {
        matches!(self.peek(), SoacTokenKind::Word(word) if self.names.contains_key(word))
    }

    fn parse_word(&mut self) -> Result<String, SourceDiagnostic> {
        if let SoacTokenKind::Word(word) = self.peek().clone() {
            self.next += 1;
            return Ok(word);
        }
        self.fail("a name is expected")
    }

    /// Items with commas between them, and a mark at their end.
    ///
    /// # Errors
    ///
    /// The first fault of the text.
    pub fn parse_list<T>(
        &mut self,
        end: &str,
        mut parse: impl FnMut(&mut Self) -> Result<T, SourceDiagnostic>,
    ) -> Result<Vec<T>, SourceDiagnostic> {
        let mut items = Vec::new();
        if self.take_mark(end) {
            return Ok(items);
        }
        loop {
            items.push(parse(self)?);
            if self.take_mark(end) {
                return Ok(items);
            }
            self.expect_mark(",")?;
        }
    }

    /// A function with those that it calls.
    fn parse_function(&mut self) -> Result<SoacFunction, SourceDiagnostic> {
        let mut function = self.parse_definition()?;
        while self.take_callee_mark(function.callees.len())? {
            let callee = self.parse_definition()?;
            function.callees.push(callee);
        }
        Ok(function)
    }

    /// Takes the mark in front of a function that is called, such as `with f1:`, if one is next. `number` is the number that it
    /// must have.
    ///
    /// # Errors
    ///
    /// The mark has another number, or no colon.
    pub fn take_callee_mark(&mut self, number: usize) -> Result<bool, SourceDiagnostic> {
        if !self.take_word("with") {
            return Ok(false);
        }
        let start = self.next;
        if self.parse_callee()?.index() != number {
            self.next = start;
            return self.fail("the number of the next function is expected");
        }
        self.expect_mark(":")?;
        Ok(true)
    }

    /// The number of a function that is called: `f0`, `f1` and so on.
    fn parse_callee(&mut self) -> Result<SoacFunctionId, SourceDiagnostic> {
        let start = self.next;
        let word = self.parse_word()?;
        let number = word.strip_prefix('f').map(str::parse::<u32>);
        match number {
            Some(Ok(number)) if number < u32::MAX => {
                Ok(SoacFunctionId::from_index(number as usize))
            }
            _ => {
                self.next = start;
                self.fail("the number of a function is expected")
            }
        }
    }

    fn parse_definition(&mut self) -> Result<SoacFunction, SourceDiagnostic> {
        self.begin_function()?;
        let body = self.parse_body()?;
        Ok(SoacFunction {
            body,
            ..self.finish_function()
        })
    }

    /// Begins a function: its name and its parameters. Its body follows.
    ///
    /// # Errors
    ///
    /// The first fault of the text.
    pub fn begin_function(&mut self) -> Result<(), SourceDiagnostic> {
        self.function = SoacFunction::default();
        self.names.clear();
        self.expect_word("fun")?;
        self.function.name = self.parse_word()?;
        self.function.parameters = self.parse_bindings()?;
        self.expect_mark("=")
    }

    /// The function that was read, without its body.
    pub fn finish_function(&mut self) -> SoacFunction {
        std::mem::take(&mut self.function)
    }

    /// Variables with their types, in parentheses.
    fn parse_bindings(&mut self) -> Result<Vec<SoacVariableId>, SourceDiagnostic> {
        self.expect_mark("(")?;
        self.parse_list(")", Self::parse_binding)
    }

    /// A variable with its type.
    fn parse_binding(&mut self) -> Result<SoacVariableId, SourceDiagnostic> {
        let start = self.next;
        let name = self.parse_word()?;
        self.expect_mark(":")?;
        let variable_type = self.parse_type()?;
        self.bind_name(start, name, variable_type)
    }

    /// The name of a variable whose type is known.
    ///
    /// # Errors
    ///
    /// There is no name, or the variable is bound already.
    pub fn bind_variable(
        &mut self,
        variable_type: SoacType,
    ) -> Result<SoacVariableId, SourceDiagnostic> {
        let start = self.next;
        let name = self.parse_word()?;
        self.bind_name(start, name, variable_type)
    }

    /// Binds a variable. `start` is the place of its name.
    fn bind_name(
        &mut self,
        start: usize,
        name: String,
        variable_type: SoacType,
    ) -> Result<SoacVariableId, SourceDiagnostic> {
        let plain = match name.rsplit_once('_') {
            Some((plain, number)) if number.parse::<u32>().is_ok() => plain,
            _ => &name,
        };
        let id = self.function.variables.push(SoacVariable {
            name: plain.to_owned(),
            variable_type,
        });
        if self.names.insert(name, id).is_some() {
            self.next = start;
            return self.fail("the variable is bound twice");
        }
        Ok(id)
    }

    fn parse_type(&mut self) -> Result<SoacType, SourceDiagnostic> {
        let mut shape = Vec::new();
        while self.take_mark("[") {
            shape.push(self.parse_operand()?);
            self.expect_mark("]")?;
        }
        let start = self.next;
        let name = self.parse_word()?;
        if name == "cert" && shape.is_empty() {
            return Ok(SoacType::Certificate);
        }
        if name == "acc" && shape.is_empty() {
            return Ok(SoacType::Accumulator);
        }
        match ScalarType::from_name(&name) {
            Some(element) => Ok(SoacType::from_shape(element, shape)),
            None => {
                self.next = start;
                self.fail("a type is expected")
            }
        }
    }

    fn parse_variable(&mut self) -> Result<SoacVariableId, SourceDiagnostic> {
        let start = self.next;
        let name = self.parse_word()?;
        match self.names.get(&name) {
            Some(&id) => Ok(id),
            None => {
                self.next = start;
                self.fail(format!("there is no variable `{name}`"))
            }
        }
    }

    /// A constant or a variable.
    ///
    /// # Errors
    ///
    /// The first fault of the text.
    pub fn parse_operand(&mut self) -> Result<SoacOperand, SourceDiagnostic> {
        if self.take_mark("(") {
            self.expect_mark(")")?;
            let unit = ScalarLiteral::new(ScalarType::Unit, 0);
            return Ok(SoacOperand::Constant(unit));
        }
        if let SoacTokenKind::Word(word) = self.peek()
            && !self.names.contains_key(word)
            && let Some(literal) = ScalarLiteral::from_text(word)
        {
            self.next += 1;
            return Ok(SoacOperand::Constant(literal));
        }
        self.parse_variable().map(SoacOperand::Variable)
    }

    /// Operands in parentheses.
    ///
    /// # Errors
    ///
    /// The first fault of the text.
    pub fn parse_operands(&mut self) -> Result<Vec<SoacOperand>, SourceDiagnostic> {
        self.expect_mark("(")?;
        self.parse_list(")", Self::parse_operand)
    }

    /// Operands in brackets.
    fn parse_sizes(&mut self) -> Result<Vec<SoacOperand>, SourceDiagnostic> {
        self.expect_mark("[")?;
        self.parse_list("]", Self::parse_operand)
    }

    /// A body in braces.
    ///
    /// # Errors
    ///
    /// The first fault of the text.
    pub fn parse_nested(&mut self) -> Result<SoacBody, SourceDiagnostic> {
        self.parse_braces(Self::parse_body)
    }

    /// Content in braces, which a function reads. Braces are nested to a bounded depth.
    ///
    /// # Errors
    ///
    /// The first fault of the text.
    pub fn parse_braces<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, SourceDiagnostic>,
    ) -> Result<T, SourceDiagnostic> {
        self.expect_mark("{")?;
        if self.depth == MAX_DEPTH {
            return self.fail(format!("more than {MAX_DEPTH} bodies are nested"));
        }
        self.depth += 1;
        let content = parse(self)?;
        self.depth -= 1;
        self.expect_mark("}")?;
        Ok(content)
    }

    fn parse_body(&mut self) -> Result<SoacBody, SourceDiagnostic> {
        let mut statements = Vec::new();
        while self.peek_word("let") {
            statements.push(self.parse_statement()?);
        }
        self.expect_word("in")?;
        let results = self.parse_operands()?;
        Ok(SoacBody {
            statements,
            results,
        })
    }

    /// A function of a combinator, which begins with a backslash.
    ///
    /// # Errors
    ///
    /// The first fault of the text.
    pub fn parse_lambda(&mut self) -> Result<SoacLambda, SourceDiagnostic> {
        self.expect_mark("\\")?;
        let parameters = self.parse_bindings()?;
        self.expect_mark("->")?;
        let body = self.parse_nested()?;
        Ok(SoacLambda { parameters, body })
    }

    fn parse_statement(&mut self) -> Result<SoacStatement, SourceDiagnostic> {
        let head = self.parse_statement_head()?;
        let operation = self.parse_operation()?;
        Ok(SoacStatement {
            results: head.results,
            certificates: head.certificates,
            operation,
        })
    }

    /// A statement up to its operation. Its variables are in scope after the operation only, but their types come first.
    ///
    /// # Errors
    ///
    /// The first fault of the text.
    pub fn parse_statement_head(&mut self) -> Result<StatementHead, SourceDiagnostic> {
        self.expect_word("let")?;
        let results = self.parse_bindings()?;
        self.expect_mark("=")?;
        let mut certificates = Vec::new();
        if self.take_mark("#") {
            self.expect_mark("{")?;
            certificates = self.parse_list("}", Self::parse_variable)?;
        }
        Ok(StatementHead {
            results,
            certificates,
        })
    }
}
