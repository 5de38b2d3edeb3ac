//! The parser: tokens and expressions.

use super::SYNTAX;
use crate::ProgramBuilder;
use crate::ir::{ExprId, KernelProgram, VarId, VariableType};
use rustc_hash::FxHashMap;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_program::{ProgramParameter, ScalarLiteral, ScalarOperator, ScalarType, SizeClass};
use spirula_text::{PlacedToken, TextToken, lex_tokens};

/// Deepest nesting of blocks and expressions.
pub(crate) const DEPTH: u32 = 200;

/// Reads a program from its text form. The program is not checked.
///
/// # Errors
/// At the first syntax error.
pub fn parse_program(text: &str) -> Result<KernelProgram, SourceDiagnostic> {
    if text.len() >= u32::MAX as usize {
        return Err(SourceDiagnostic::error(
            SourceLocation::Unknown,
            "the text is larger than 4 GiB",
        ));
    }
    let mut parser = KernelParser {
        tokens: lex_tokens(text, &SYNTAX)?,
        at: 0,
        builder: ProgramBuilder::new(),
        globals: FxHashMap::default(),
        locals: FxHashMap::default(),
        depth: 0,
    };
    parser.parse_program()?;
    Ok(parser.builder.finish_program())
}

pub(super) struct KernelParser {
    tokens: Vec<PlacedToken>,
    at: usize,
    pub builder: ProgramBuilder,
    pub globals: FxHashMap<String, VarId>,
    pub locals: FxHashMap<String, VarId>,
    pub depth: u32,
}

impl KernelParser {
    /// The next token.
    pub fn peek(&self) -> &TextToken {
        &self.tokens[self.at].token
    }

    /// The place of the next token.
    pub fn next_place(&self) -> SourceLocation {
        self.tokens[self.at].place
    }

    pub fn iter_tokens(&self) -> impl Iterator<Item = &TextToken> {
        self.tokens.iter().map(|placed| &placed.token)
    }

    pub fn next(&mut self) -> TextToken {
        let token = self.peek().clone();
        if token != TextToken::End {
            self.at += 1;
        }
        token
    }

    pub fn fault_here(&self, message: impl Into<String>) -> SourceDiagnostic {
        SourceDiagnostic::error(self.next_place(), message)
    }

    pub fn eat_mark(&mut self, mark: &str) -> bool {
        let found = matches!(self.peek(), TextToken::Mark(m) if *m == mark);
        self.at += usize::from(found);
        found
    }

    pub fn expect_mark(&mut self, mark: &str) -> Result<(), SourceDiagnostic> {
        if self.eat_mark(mark) {
            Ok(())
        } else {
            Err(self.fault_here(format!("expected {mark:?}")))
        }
    }

    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), TextToken::Word(w) if w == word);
        self.at += usize::from(found);
        found
    }

    pub fn expect_word(&mut self, word: &str) -> Result<(), SourceDiagnostic> {
        if self.eat_word(word) {
            Ok(())
        } else {
            Err(self.fault_here(format!("expected {word}")))
        }
    }

    pub fn parse_string(&mut self) -> Result<String, SourceDiagnostic> {
        let fault = self.fault_here("expected a string");
        match self.next() {
            TextToken::Text(text) => Ok(text),
            _ => Err(fault),
        }
    }

    pub fn function_name(&mut self) -> Result<String, SourceDiagnostic> {
        let fault = self.fault_here("expected the name of a function");
        match self.next() {
            TextToken::Function(name) => Ok(name),
            _ => Err(fault),
        }
    }

    /// Parses a word that names a row of a table.
    pub fn one_of<T: Copy>(&mut self, rows: &[(&str, T)]) -> Option<T> {
        let TextToken::Word(word) = self.peek() else {
            return None;
        };
        let found = rows.iter().find(|(name, _)| name == word)?.1;
        self.at += 1;
        Some(found)
    }

    pub fn parse_scalar_type(&mut self) -> Result<ScalarType, SourceDiagnostic> {
        let fault = self.fault_here("expected a scalar type");
        match self.next() {
            TextToken::Word(word) => ScalarType::from_name(&word).ok_or(fault),
            _ => Err(fault),
        }
    }

    /// Parses a name that is not in use yet.
    pub fn new_name(&mut self) -> Result<String, SourceDiagnostic> {
        let fault = self.fault_here("expected a new variable");
        let TextToken::Value(name) = self.next() else {
            return Err(fault);
        };
        if self.globals.contains_key(&name) || self.locals.contains_key(&name) {
            return Err(SourceDiagnostic::error(
                fault.place,
                format!("%{name} is the name of another variable"),
            ));
        }
        Ok(name)
    }

    /// Parses the name of a declared variable.
    pub fn parse_var(&mut self) -> Result<VarId, SourceDiagnostic> {
        let fault = self.fault_here("expected a variable");
        let TextToken::Value(name) = self.next() else {
            return Err(fault);
        };
        let found = self.locals.get(&name).or_else(|| self.globals.get(&name));
        let unknown = format!("there is no variable %{name}");
        found
            .copied()
            .ok_or_else(|| SourceDiagnostic::error(fault.place, unknown))
    }

    /// Parses items between commas, up to a closing delimiter.
    pub fn parse_list<T>(
        &mut self,
        close: &str,
        mut each: impl FnMut(&mut Self) -> Result<T, SourceDiagnostic>,
    ) -> Result<Vec<T>, SourceDiagnostic> {
        let mut items = Vec::new();
        while !self.eat_mark(close) {
            if !items.is_empty() {
                self.expect_mark(",")?;
            }
            items.push(each(self)?);
        }
        Ok(items)
    }

    pub fn parse_exprs(&mut self) -> Result<Vec<ExprId>, SourceDiagnostic> {
        self.expect_mark("[")?;
        self.parse_list("]", Self::parse_expr)
    }

    pub fn parse_literal(&mut self) -> Result<ScalarLiteral, SourceDiagnostic> {
        let fault = self.fault_here("expected a value");
        if self.eat_mark("(") {
            self.expect_mark(")")?;
            return Ok(ScalarLiteral::new(ScalarType::Unit, 0));
        }
        match self.next() {
            TextToken::Word(word) => ScalarLiteral::from_text(&word).ok_or(fault),
            _ => Err(fault),
        }
    }

    /// Parses an expression.
    pub fn parse_expr(&mut self) -> Result<ExprId, SourceDiagnostic> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.fault_here("too many nested expressions"));
        }
        let expr = self.expr_within();
        self.depth -= 1;
        expr
    }

    fn expr_within(&mut self) -> Result<ExprId, SourceDiagnostic> {
        let word = match self.peek() {
            TextToken::Value(_) => {
                let var = self.parse_var()?;
                return match self.builder.program().var(var).ty {
                    VariableType::Scalar(_) => Ok(self.builder.read_var(var)),
                    _ => Err(self.fault_here("memory is no operand")),
                };
            }
            TextToken::Word(word) => word.clone(),
            _ => {
                let literal = self.parse_literal()?;
                return Ok(self.builder.make_literal(literal));
            }
        };
        if let Some(operator) = ScalarOperator::from_text(&word) {
            self.next();
            self.expect_mark("(")?;
            let operands = self.parse_list(")", Self::parse_expr)?;
            if operands.len() != operator.arity() {
                let message = format!("{operator} takes {} operands", operator.arity());
                return Err(self.fault_here(message));
            }
            return Ok(self.builder.apply_operator(operator, &operands));
        }
        if self.eat_word("parameter") {
            self.expect_mark("(")?;
            let name = self.parse_string()?;
            self.expect_mark(",")?;
            let class = self.parse_size_class()?;
            self.expect_mark(")")?;
            return Ok(self
                .builder
                .read_parameter(ProgramParameter { name, class }));
        }
        if self.eat_word("limit") {
            self.expect_mark("(")?;
            let class = self.parse_size_class()?;
            self.expect_mark(")")?;
            return Ok(self.builder.read_device_limit(class));
        }
        let literal = self.parse_literal()?;
        Ok(self.builder.make_literal(literal))
    }

    fn parse_size_class(&mut self) -> Result<SizeClass, SourceDiagnostic> {
        let fault = self.fault_here("unknown class of sizes");
        let TextToken::Word(word) = self.next() else {
            return Err(fault);
        };
        match word.as_str() {
            "threshold" => {
                self.expect_mark("(")?;
                let default = if self.eat_word("none") {
                    None
                } else {
                    Some(self.parse_number()?)
                };
                self.expect_mark(",")?;
                let path = self.parse_string()?;
                self.expect_mark(")")?;
                Ok(SizeClass::Threshold(default, path))
            }
            "bespoke" => {
                self.expect_mark("(")?;
                let name = self.parse_string()?;
                self.expect_mark(",")?;
                let default = self.parse_number()?;
                self.expect_mark(")")?;
                Ok(SizeClass::Bespoke(name, default))
            }
            name => SizeClass::from_name(name).ok_or(fault),
        }
    }

    /// Parses a number without a type.
    pub fn parse_number<T: std::str::FromStr>(&mut self) -> Result<T, SourceDiagnostic> {
        let fault = self.fault_here("expected a number");
        match self.next() {
            TextToken::Word(word) => word.parse().map_err(|_| fault),
            _ => Err(fault),
        }
    }
}
