//! Expressions.

use super::cursor::FutharkCursor;
use super::reader::{DEPTH, FutharkReader};
use spirula_diagnostics::SourceDiagnostic;
use spirula_kernel::ir::{ExprId, VariableType};
use spirula_program::{
    ProgramParameter, ScalarLiteral, ScalarOp, ScalarOperator, ScalarType, SizeClass,
};

impl FutharkReader<'_> {
    /// Parses an expression of a type. As in C, other integer types and truth values are converted to an integer
    /// type.
    pub(super) fn parse_typed_expr(&mut self, ty: ScalarType) -> Result<ExprId, SourceDiagnostic> {
        let start = self.cursor.at;
        let expr = self.parse_expr()?;
        self.convert_expr(expr, ty).ok_or_else(|| {
            let message = format!("expected an expression of type {ty}");
            self.cursor.fault_at(start, message)
        })
    }

    /// Converts an expression to another type; only integers and truth values can be converted.
    pub(super) fn convert_expr(&mut self, expr: ExprId, to: ScalarType) -> Option<ExprId> {
        let from = self.builder.program().type_of(expr)?;
        if from == to {
            return Some(expr);
        }
        let op = match (from, to) {
            (ScalarType::Bool, to) if to.is_int() => ScalarOp::FromBool,
            (from, ScalarType::Bool) if from.is_int() => ScalarOp::ToBool,
            (from, to) if from.is_int() && to.is_int() => ScalarOp::SExt,
            _ => return None,
        };
        Some(
            self.builder
                .apply_operator(ScalarOperator::from_conversion(op, from, to), &[expr]),
        )
    }

    pub(super) fn parse_expr(&mut self) -> Result<ExprId, SourceDiagnostic> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.cursor.fault_here("too many nested expressions"));
        }
        let expr = self.parse_expr_within();
        self.depth -= 1;
        expr
    }

    fn parse_expr_within(&mut self) -> Result<ExprId, SourceDiagnostic> {
        let start = self.cursor.at;
        let fault = |cursor: &FutharkCursor<'_>| {
            let text = &cursor.text[start..];
            cursor.fault_at(start, describe_unknown_expr(text))
        };
        if let Some(var) = self.take_bound_var() {
            return match self.builder.program().var(var).ty {
                VariableType::Scalar(_) => Ok(self.builder.read_var(var)),
                _ => Err(fault(&self.cursor).with_hint("memory is no operand")),
            };
        }
        if let Some(literal) = self.parse_literal() {
            return Ok(self.builder.make_literal(literal));
        }
        if self.cursor.eat_piece("get_size(") {
            return self.parse_size_parameter();
        }
        if self.cursor.eat_piece("get_user_param(") {
            return self.parse_user_parameter(", ");
        }
        if self.cursor.eat_piece("get_max_size(") || self.cursor.eat_piece("get_size_max(") {
            let class = self.parse_size_class()?;
            self.cursor.expect_piece(")")?;
            return Ok(self.builder.read_device_limit(class));
        }
        let name = self.cursor.take_word();
        let Some(operator) = self.operators.get(name).copied() else {
            return Err(fault(&self.cursor));
        };
        let mut operands = [None; 3];
        let count = operator.arity();
        let is_prefix = self.cursor.remaining_text().starts_with(" (");
        if !is_prefix {
            self.cursor.expect_piece("(")?;
        }
        for (index, operand) in operands.iter_mut().enumerate().take(count) {
            match (is_prefix, index) {
                (true, _) => self.cursor.expect_piece(" (")?,
                (false, 0) => {}
                (false, _) => self.cursor.expect_piece(", ")?,
            }
            *operand = Some(self.parse_typed_expr(operator.operand_type(index))?);
            if is_prefix {
                self.cursor.expect_piece(")")?;
            }
        }
        if !is_prefix {
            self.cursor.expect_piece(")")?;
        }
        let operands: Vec<ExprId> = operands.into_iter().flatten().collect();
        Ok(self.builder.apply_operator(operator, &operands))
    }

    /// Parses a literal, if one is next.
    pub(super) fn parse_literal(&mut self) -> Option<ScalarLiteral> {
        let line = self.cursor.remaining_line();
        let rest = line.strip_prefix('-').unwrap_or(line);
        let mut end = rest.len();
        for (at, c) in rest.char_indices() {
            // The sign of an exponent: `4.0e-2f64`.
            let is_sign = c == '-' && rest[..at].ends_with('e');
            if !c.is_ascii_alphanumeric() && c != '.' && !is_sign {
                end = at;
                break;
            }
        }
        let end = line.len() - rest.len() + end;
        let text = if line.starts_with("()") {
            "()"
        } else {
            &line[..end]
        };
        let literal = ScalarLiteral::from_text(text)?;
        self.cursor.take_bytes(text.len());
        Some(literal)
    }

    /// Parses a tuning parameter, after `get_size(`.
    pub(super) fn parse_size_parameter(&mut self) -> Result<ExprId, SourceDiagnostic> {
        let line = self.cursor.remaining_line();
        let mut from = 0;
        while let Some(found) = line[from..].find(", ") {
            let name = &line[..from + found];
            let start = self.cursor.at;
            self.cursor.take_bytes(name.len() + 2);
            if let Ok(class) = self.parse_size_class()
                && self.cursor.eat_piece(")")
            {
                let name = name.to_owned();
                return Ok(self
                    .builder
                    .read_parameter(ProgramParameter { name, class }));
            }
            self.cursor.at = start;
            from += found + 2;
        }
        Err(self
            .cursor
            .fault_here("expected a tuning parameter and its class"))
    }

    /// Parses a user parameter: its name, a separator, its default, and a parenthesis. The value 0 stands for the
    /// default, which may be any expression.
    pub(super) fn parse_user_parameter(
        &mut self,
        between: &str,
    ) -> Result<ExprId, SourceDiagnostic> {
        let fault = self
            .cursor
            .fault_here("expected the name of a parameter and its default");
        let end = self.cursor.remaining_line().find(between).ok_or(fault)?;
        let name = self.cursor.take_bytes(end).to_owned();
        self.cursor.expect_piece(between)?;
        let default = self.parse_typed_expr(ScalarType::I64)?;
        self.cursor.expect_piece(")")?;
        let class = SizeClass::Bespoke(name.clone(), 0);
        let value = self
            .builder
            .read_parameter(ProgramParameter { name, class });
        let zero = self.builder.make_i64(0);
        let is_default = self.builder.apply_op(ScalarOp::Eq, &[value, zero]);
        Ok(self
            .builder
            .apply_op(ScalarOp::Cond, &[is_default, default, value]))
    }

    pub(super) fn parse_size_class(&mut self) -> Result<SizeClass, SourceDiagnostic> {
        let fault = self.cursor.fault_here("unknown class of sizes");
        let name = self.cursor.take_word();
        if let Some(class) = SizeClass::from_name(name) {
            return Ok(class);
        }
        if name == "threshold" {
            self.cursor.expect_piece("(")?;
            let default = self.cursor.take_word();
            self.cursor.expect_piece(",")?;
            self.cursor.skip_blanks();
            let line = self.cursor.remaining_line();
            let end = find_closing_paren(line).ok_or_else(|| fault.clone())?;
            let path = self.cursor.take_bytes(end).to_owned();
            self.cursor.expect_piece(")")?;
            let default = match default {
                "def" => None,
                number => Some(number.parse().map_err(|_| fault)?),
            };
            return Ok(SizeClass::Threshold(default, path));
        }
        if name == "bespoke" {
            self.cursor.expect_piece("(")?;
            let line = self.cursor.remaining_line();
            let end = find_closing_paren(line).ok_or_else(|| fault.clone())?;
            let text = self.cursor.take_bytes(end);
            self.cursor.expect_piece(")")?;
            let (name, default) = text.rsplit_once(", ").ok_or_else(|| fault.clone())?;
            let default = default.parse().map_err(|_| fault)?;
            return Ok(SizeClass::Bespoke(name.to_owned(), default));
        }
        Err(fault)
    }
}

/// Describes why a text is no expression.
fn describe_unknown_expr(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let sign = usize::from(text.starts_with('-'));
    let length = text[sign..].find(|c| !is_part(c));
    let (word, rest) = text.split_at(length.map_or(text.len(), |n| n + sign));
    let digits = word[sign..].trim_start_matches(|c: char| c.is_ascii_digit());
    if digits.len() + sign < word.len()
        && let Some(ty) = ScalarType::from_name(digits)
    {
        return format!("{word} is no value of type {ty}");
    }
    if !word.is_empty() && (rest.starts_with(" (") || rest.starts_with('(')) {
        return format!("no operator is named {word}");
    }
    "expected a bound name, a value or an operator".to_owned()
}

/// Position of the parenthesis that closes one that was opened before the text.
fn find_closing_paren(text: &str) -> Option<usize> {
    let mut depth = 0u32;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}
