//! The parser: tokens and expressions.

use super::lexer::{KernelToken, tokens};
use crate::ProgramBuilder;
use crate::ir::{ExprId, KernelProgram, VarId, VariableType};
use rustc_hash::FxHashMap;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_program::{ProgramParameter, ScalarLiteral, ScalarOperator, ScalarType, SizeClass};

/// Deepest nesting of blocks and expressions.
pub(crate) const DEPTH: u32 = 200;

/// Reads a program from its text form. The program is not checked.
///
/// # Errors
/// At the first thing that is not of this form.
pub fn parse(text: &str) -> Result<KernelProgram, SourceDiagnostic> {
    if text.len() >= u32::MAX as usize {
        return Err(SourceDiagnostic::error(
            SourceLocation::Unknown,
            "the text is larger than 4 GiB",
        ));
    }
    let mut parser = KernelParser {
        tokens: tokens(text)?,
        at: 0,
        builder: ProgramBuilder::new(),
        globals: FxHashMap::default(),
        locals: FxHashMap::default(),
        depth: 0,
    };
    parser.program()?;
    Ok(parser.builder.finish())
}

pub(super) struct KernelParser {
    tokens: Vec<(KernelToken, SourceLocation)>,
    at: usize,
    pub builder: ProgramBuilder,
    pub globals: FxHashMap<String, VarId>,
    pub locals: FxHashMap<String, VarId>,
    pub depth: u32,
}

impl KernelParser {
    /// The next token.
    pub fn peek(&self) -> &KernelToken {
        &self.tokens[self.at].0
    }

    /// The place of the next token.
    pub fn place(&self) -> SourceLocation {
        self.tokens[self.at].1
    }

    pub fn all(&self) -> impl Iterator<Item = &KernelToken> {
        self.tokens.iter().map(|(token, _)| token)
    }

    pub fn next(&mut self) -> KernelToken {
        let token = self.peek().clone();
        if token != KernelToken::End {
            self.at += 1;
        }
        token
    }

    pub fn fault(&self, message: impl Into<String>) -> SourceDiagnostic {
        SourceDiagnostic::error(self.place(), message)
    }

    pub fn eat(&mut self, mark: &str) -> bool {
        let found = matches!(self.peek(), KernelToken::Mark(m) if *m == mark);
        self.at += usize::from(found);
        found
    }

    pub fn expect(&mut self, mark: &str) -> Result<(), SourceDiagnostic> {
        match self.eat(mark) {
            true => Ok(()),
            false => Err(self.fault(format!("expected {mark:?}"))),
        }
    }

    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), KernelToken::Word(w) if w == word);
        self.at += usize::from(found);
        found
    }

    pub fn expect_word(&mut self, word: &str) -> Result<(), SourceDiagnostic> {
        match self.eat_word(word) {
            true => Ok(()),
            false => Err(self.fault(format!("expected {word}"))),
        }
    }

    pub fn text(&mut self) -> Result<String, SourceDiagnostic> {
        let fault = self.fault("expected a string");
        match self.next() {
            KernelToken::Text(text) => Ok(text),
            _ => Err(fault),
        }
    }

    pub fn function_name(&mut self) -> Result<String, SourceDiagnostic> {
        let fault = self.fault("expected the name of a function");
        match self.next() {
            KernelToken::Function(name) => Ok(name),
            _ => Err(fault),
        }
    }

    /// A word that means one of the rows of a table.
    pub fn one_of<T: Copy>(&mut self, rows: &[(&str, T)]) -> Option<T> {
        let KernelToken::Word(word) = self.peek() else {
            return None;
        };
        let found = rows.iter().find(|(name, _)| name == word)?.1;
        self.at += 1;
        Some(found)
    }

    pub fn scalar(&mut self) -> Result<ScalarType, SourceDiagnostic> {
        let fault = self.fault("expected a scalar type");
        match self.next() {
            KernelToken::Word(word) => ScalarType::from_name(&word).ok_or(fault),
            _ => Err(fault),
        }
    }

    /// A name that is not in use yet.
    pub fn new_name(&mut self) -> Result<String, SourceDiagnostic> {
        let fault = self.fault("expected a new variable");
        let KernelToken::Var(name) = self.next() else {
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

    /// A variable that there is.
    pub fn var(&mut self) -> Result<VarId, SourceDiagnostic> {
        let fault = self.fault("expected a variable");
        let KernelToken::Var(name) = self.next() else {
            return Err(fault);
        };
        let found = self.locals.get(&name).or_else(|| self.globals.get(&name));
        let unknown = format!("there is no variable %{name}");
        found
            .copied()
            .ok_or_else(|| SourceDiagnostic::error(fault.place, unknown))
    }

    /// Items between commas up to a closing mark.
    pub fn list<T>(
        &mut self,
        close: &str,
        mut each: impl FnMut(&mut Self) -> Result<T, SourceDiagnostic>,
    ) -> Result<Vec<T>, SourceDiagnostic> {
        let mut items = Vec::new();
        while !self.eat(close) {
            if !items.is_empty() {
                self.expect(",")?;
            }
            items.push(each(self)?);
        }
        Ok(items)
    }

    pub fn exprs(&mut self) -> Result<Vec<ExprId>, SourceDiagnostic> {
        self.expect("[")?;
        self.list("]", Self::expr)
    }

    pub fn literal(&mut self) -> Result<ScalarLiteral, SourceDiagnostic> {
        let fault = self.fault("expected a value");
        if self.eat("(") {
            self.expect(")")?;
            return Ok(ScalarLiteral::new(ScalarType::Unit, 0));
        }
        match self.next() {
            KernelToken::Word(word) => ScalarLiteral::parse(&word).ok_or(fault),
            _ => Err(fault),
        }
    }

    /// An expression.
    pub fn expr(&mut self) -> Result<ExprId, SourceDiagnostic> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.fault("too many nested expressions"));
        }
        let expr = self.expr_within();
        self.depth -= 1;
        expr
    }

    fn expr_within(&mut self) -> Result<ExprId, SourceDiagnostic> {
        let word = match self.peek() {
            KernelToken::Var(_) => {
                let var = self.var()?;
                return match self.builder.program().var(var).ty {
                    VariableType::Scalar(_) => Ok(self.builder.value(var)),
                    _ => Err(self.fault("memory is no operand")),
                };
            }
            KernelToken::Word(word) => word.clone(),
            _ => {
                let literal = self.literal()?;
                return Ok(self.builder.literal(literal));
            }
        };
        if let Some(operator) = ScalarOperator::parse(&word) {
            self.next();
            self.expect("(")?;
            let operands = self.list(")", Self::expr)?;
            if operands.len() != operator.arity() {
                let message = format!("{operator} takes {} operands", operator.arity());
                return Err(self.fault(message));
            }
            return Ok(self.builder.apply(operator, &operands));
        }
        if self.eat_word("parameter") {
            self.expect("(")?;
            let name = self.text()?;
            self.expect(",")?;
            let class = self.class()?;
            self.expect(")")?;
            return Ok(self.builder.parameter(ProgramParameter { name, class }));
        }
        if self.eat_word("limit") {
            self.expect("(")?;
            let class = self.class()?;
            self.expect(")")?;
            return Ok(self.builder.limit(class));
        }
        let literal = self.literal()?;
        Ok(self.builder.literal(literal))
    }

    fn class(&mut self) -> Result<SizeClass, SourceDiagnostic> {
        let fault = self.fault("unknown class of sizes");
        let KernelToken::Word(word) = self.next() else {
            return Err(fault);
        };
        match word.as_str() {
            "threshold" => {
                self.expect("(")?;
                let default = match self.eat_word("none") {
                    true => None,
                    false => Some(self.number()?),
                };
                self.expect(",")?;
                let path = self.text()?;
                self.expect(")")?;
                Ok(SizeClass::Threshold(default, path))
            }
            "bespoke" => {
                self.expect("(")?;
                let name = self.text()?;
                self.expect(",")?;
                let default = self.number()?;
                self.expect(")")?;
                Ok(SizeClass::Bespoke(name, default))
            }
            name => SizeClass::from_name(name).ok_or(fault),
        }
    }

    /// A number without a type.
    pub fn number<T: std::str::FromStr>(&mut self) -> Result<T, SourceDiagnostic> {
        let fault = self.fault("expected a number");
        match self.next() {
            KernelToken::Word(word) => word.parse().map_err(|_| fault),
            _ => Err(fault),
        }
    }
}
