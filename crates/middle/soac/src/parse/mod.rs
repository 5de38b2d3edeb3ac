//! Programs from text. The text is the one that the printer prints; `--` begins a comment.
//!
//! The number at the end of a variable's name is no part of it: variables are numbered in the order in which they are bound.

mod operation;
mod token;

use crate::ir::{
    SoacBody, SoacFunction, SoacFunctionId, SoacLambda, SoacOperand, SoacProgram, SoacStatement,
    SoacType, SoacVariable, SoacVariableId,
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
    let tokens = split_tokens(text).map_err(|fault| make_fault(fault.start, fault.message))?;
    let mut parser = SoacParser {
        tokens,
        next: 0,
        depth: 0,
        function: SoacFunction::default(),
        names: FxHashMap::default(),
    };
    let mut program = SoacProgram::default();
    while parser.peek() != &SoacTokenKind::End {
        program.functions.push(parser.parse_function()?);
    }
    Ok(program)
}

fn make_fault(start: usize, message: impl Into<String>) -> SourceDiagnostic {
    SourceDiagnostic::error(SourceLocation::from_text_range(start, start + 1), message)
}

/// State of the parser.
struct SoacParser {
    tokens: Vec<SoacToken>,
    next: usize,
    depth: usize,
    /// The function that is read.
    function: SoacFunction,
    /// Its variables by their names.
    names: FxHashMap<String, SoacVariableId>,
}

impl SoacParser {
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

    fn fail<T>(&self, message: impl Into<String>) -> Result<T, SourceDiagnostic> {
        Err(make_fault(self.tokens[self.next].start, message))
    }

    fn peek_mark(&self, mark: &str) -> bool {
        matches!(self.peek(), SoacTokenKind::Mark(found) if *found == mark)
    }

    fn take_mark(&mut self, mark: &str) -> bool {
        let is_next = self.peek_mark(mark);
        self.next += usize::from(is_next);
        is_next
    }

    fn expect_mark(&mut self, mark: &str) -> Result<(), SourceDiagnostic> {
        if self.take_mark(mark) {
            return Ok(());
        }
        self.fail(format!("`{mark}` is expected"))
    }

    fn peek_word(&self, word: &str) -> bool {
        matches!(self.peek(), SoacTokenKind::Word(found) if found == word)
    }

    fn expect_word(&mut self, word: &str) -> Result<(), SourceDiagnostic> {
        if self.peek_word(word) {
            self.next += 1;
            return Ok(());
        }
        self.fail(format!("`{word}` is expected"))
    }

    fn parse_word(&mut self) -> Result<String, SourceDiagnostic> {
        if let SoacTokenKind::Word(word) = self.peek().clone() {
            self.next += 1;
            return Ok(word);
        }
        self.fail("a name is expected")
    }

    /// Items with commas between them, and a mark at their end.
    fn parse_list<T>(
        &mut self,
        end: &str,
        parse: impl Fn(&mut Self) -> Result<T, SourceDiagnostic>,
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
        while self.peek_word("with") {
            self.advance();
            let start = self.next;
            if self.parse_callee()?.index() != function.callees.len() {
                self.next = start;
                return self.fail("the number of the next function is expected");
            }
            self.expect_mark(":")?;
            let callee = self.parse_definition()?;
            function.callees.push(callee);
        }
        Ok(function)
    }

    /// The number of a function that is called: `f0`, `f1` and so on.
    fn parse_callee(&mut self) -> Result<SoacFunctionId, SourceDiagnostic> {
        let start = self.next;
        let word = self.parse_word()?;
        let number = word.strip_prefix('f').map(str::parse::<u32>);
        match number {
            Some(Ok(number)) => Ok(SoacFunctionId::from_index(number as usize)),
            _ => {
                self.next = start;
                self.fail("the number of a function is expected")
            }
        }
    }

    fn parse_definition(&mut self) -> Result<SoacFunction, SourceDiagnostic> {
        self.function = SoacFunction::default();
        self.names.clear();
        self.expect_word("fun")?;
        self.function.name = self.parse_word()?;
        self.function.parameters = self.parse_bindings()?;
        self.expect_mark("=")?;
        let body = self.parse_body()?;
        let mut function = std::mem::take(&mut self.function);
        function.body = body;
        Ok(function)
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

    fn parse_operand(&mut self) -> Result<SoacOperand, SourceDiagnostic> {
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
    fn parse_operands(&mut self) -> Result<Vec<SoacOperand>, SourceDiagnostic> {
        self.expect_mark("(")?;
        self.parse_list(")", Self::parse_operand)
    }

    /// Operands in brackets.
    fn parse_sizes(&mut self) -> Result<Vec<SoacOperand>, SourceDiagnostic> {
        self.expect_mark("[")?;
        self.parse_list("]", Self::parse_operand)
    }

    /// A body in braces.
    fn parse_nested(&mut self) -> Result<SoacBody, SourceDiagnostic> {
        self.expect_mark("{")?;
        if self.depth == MAX_DEPTH {
            return self.fail(format!("more than {MAX_DEPTH} bodies are nested"));
        }
        self.depth += 1;
        let body = self.parse_body()?;
        self.depth -= 1;
        self.expect_mark("}")?;
        Ok(body)
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

    /// A function of a combinator, after its backslash.
    fn parse_lambda(&mut self) -> Result<SoacLambda, SourceDiagnostic> {
        self.expect_mark("\\")?;
        let parameters = self.parse_bindings()?;
        self.expect_mark("->")?;
        let body = self.parse_nested()?;
        Ok(SoacLambda { parameters, body })
    }

    /// A statement. Its variables are in scope after its operation only, but their types come first.
    fn parse_statement(&mut self) -> Result<SoacStatement, SourceDiagnostic> {
        self.expect_word("let")?;
        let results = self.parse_bindings()?;
        self.expect_mark("=")?;
        let mut certificates = Vec::new();
        if self.take_mark("#") {
            self.expect_mark("{")?;
            certificates = self.parse_list("}", Self::parse_variable)?;
        }
        let operation = self.parse_operation()?;
        Ok(SoacStatement {
            results,
            certificates,
            operation,
        })
    }
}
