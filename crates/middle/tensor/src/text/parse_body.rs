//! Parser of bodies: axes, lines, reductions, results, and scalar expressions.

use super::parse::TensorParser;
use super::syntax::{
    AxisSyntax, BodySyntax, DestinationSyntax, ExprArena, ExprKind, ExprList, ExprRef, FoldSyntax,
    YieldSyntax,
};
use crate::ir::ProductPrecision;
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};
use spirula_text::TextToken;

/// The axes and the body of a structured operation, after the word `over`.
pub(super) fn parse_body(parser: &mut TensorParser) -> Result<BodySyntax, SourceDiagnostic> {
    let mut body = BodySyntax::default();
    if parser.skip_word("a") {
        parser.expect_word("point")?;
    } else {
        let mut number = 0;
        body.axes = parser.parse_list(|parser| {
            let is_fold = parser.skip_word("fold");
            parser.expect_word(&format!("d{number}"))?;
            parser.expect_mark("<")?;
            number += 1;
            Ok(AxisSyntax {
                is_fold,
                extent: parser.parse_extent()?,
            })
        })?;
    }
    if parser.skip_word("reduced") {
        body.precision = ProductPrecision::Reduced;
    }
    parser.expect_mark("{")?;
    while !parser.skip_mark("}") {
        parse_line(parser, &mut body)?;
    }
    Ok(body)
}

/// A line of a body.
fn parse_line(parser: &mut TensorParser, body: &mut BodySyntax) -> Result<(), SourceDiagnostic> {
    let place = parser.place();
    if parser.skip_word("yield") {
        let value = parser.parse_single(&mut body.arena)?;
        let destination = if parser.skip_word("so") {
            parser.expect_word("far")?;
            parser.expect_word("at")?;
            DestinationSyntax::Prefix(parser.parse_position(&mut body.arena)?)
        } else if parser.skip_word("at") {
            parser.expect_word("each")?;
            DestinationSyntax::Each(parser.parse_position(&mut body.arena)?)
        } else {
            DestinationSyntax::Point
        };
        body.yields.push(YieldSyntax {
            value,
            destination,
            place,
        });
        return Ok(());
    }
    if parser.skip_word("scatter") {
        let value = parser.parse_single(&mut body.arena)?;
        parser.expect_word("into")?;
        let base = parser.parse_value()?;
        let indices = parser.parse_position(&mut body.arena)?;
        let has_combiner = parser.skip_word("by");
        let combiner = has_combiner.then(|| parser.parse_combiner()).transpose()?;
        let destination = DestinationSyntax::Scatter {
            base,
            indices,
            combiner,
            distinct: parser.skip_word("distinct"),
        };
        body.yields.push(YieldSyntax {
            value,
            destination,
            place,
        });
        return Ok(());
    }
    if parser.is_word(&format!("n{}", body.lines.len())) {
        parser.expect_word(&format!("n{}", body.lines.len()))?;
        parser.expect_mark("=")?;
        let line = parser.parse_single(&mut body.arena)?;
        body.lines.push(line);
        if body.folds.is_empty() {
            body.lines_before_folds = body.lines.len();
        }
        return Ok(());
    }
    parse_fold(parser, body)
}

/// `r0, r1 = fold (…) from 0i32, 1i32 of n0, n1`.
fn parse_fold(parser: &mut TensorParser, body: &mut BodySyntax) -> Result<(), SourceDiagnostic> {
    let place = parser.place();
    let first: usize = body.folds.iter().map(|f| f.values.roots.len()).sum();
    let mut number = first;
    let wanted = format!("`n{}`, `r{first}`, `yield` or `scatter`", body.lines.len());
    if !parser.is_word(&format!("r{first}")) {
        return parser.error(format!("expected {wanted}"));
    }
    parser.parse_list(|parser| {
        number += 1;
        parser.expect_word(&format!("r{}", number - 1))
    })?;
    parser.expect_mark("=")?;
    parser.expect_word("fold")?;
    let combiner = parser.parse_combiner()?;
    parser.expect_word("from")?;
    let initial = parser.parse_exprs(&mut body.arena)?;
    parser.expect_word("of")?;
    let values = parser.parse_exprs(&mut body.arena)?;
    if values.roots.len() != number - first {
        let message = "a reduction needs as many values as accumulators";
        return Err(SourceDiagnostic::error(place, message));
    }
    body.folds.push(FoldSyntax {
        combiner,
        initial,
        values,
        place,
    });
    Ok(())
}

/// Index arithmetic that is written with signs.
fn find_infix_operator(token: &TextToken) -> Option<ScalarOp> {
    match token {
        TextToken::Mark("+") => Some(ScalarOp::Add),
        TextToken::Mark("*") => Some(ScalarOp::Mul),
        TextToken::Word(word) if word == "div" => Some(ScalarOp::SDiv),
        TextToken::Word(word) if word == "mod" => Some(ScalarOp::SMod),
        _ => None,
    }
}

impl TensorParser {
    /// One expression.
    fn parse_single(&mut self, arena: &mut ExprArena) -> Result<ExprList, SourceDiagnostic> {
        let first = arena.len();
        let root = self.parse_sum(arena)?;
        Ok(ExprList {
            first,
            roots: vec![root],
        })
    }

    /// One or more expressions with commas between them.
    pub fn parse_exprs(&mut self, arena: &mut ExprArena) -> Result<ExprList, SourceDiagnostic> {
        let first = arena.len();
        let roots = self.parse_list(|parser| parser.parse_sum(arena))?;
        Ok(ExprList { first, roots })
    }

    /// A position in brackets, which may be empty.
    fn parse_position(&mut self, arena: &mut ExprArena) -> Result<ExprList, SourceDiagnostic> {
        let first = arena.len();
        let roots = self.parse_indices(arena)?;
        Ok(ExprList { first, roots })
    }

    fn parse_indices(&mut self, arena: &mut ExprArena) -> Result<Vec<ExprRef>, SourceDiagnostic> {
        self.expect_mark("[")?;
        let mut indices = Vec::new();
        if !self.is_mark("]") {
            indices = self.parse_list(|parser| parser.parse_sum(arena))?;
        }
        self.expect_mark("]")?;
        Ok(indices)
    }

    /// Sums of products.
    fn parse_sum(&mut self, arena: &mut ExprArena) -> Result<ExprRef, SourceDiagnostic> {
        let mut left = self.parse_product(arena)?;
        while self.is_mark("+") {
            left = self.parse_infix(arena, left, ScalarOp::Add, Self::parse_product)?;
        }
        Ok(left)
    }

    /// Products, quotients and remainders.
    fn parse_product(&mut self, arena: &mut ExprArena) -> Result<ExprRef, SourceDiagnostic> {
        let mut left = self.parse_primary(arena)?;
        while let Some(op) = find_infix_operator(self.token()).filter(|op| *op != ScalarOp::Add) {
            left = self.parse_infix(arena, left, op, Self::parse_primary)?;
        }
        Ok(left)
    }

    /// The sign that is next and its right operand.
    fn parse_infix(
        &mut self,
        arena: &mut ExprArena,
        left: ExprRef,
        op: ScalarOp,
        operand: impl Fn(&mut Self, &mut ExprArena) -> Result<ExprRef, SourceDiagnostic>,
    ) -> Result<ExprRef, SourceDiagnostic> {
        let place = self.place();
        self.skip_token();
        let right = operand(self, arena)?;
        let operator = ScalarOperator::with_type(op, ScalarType::I64);
        Ok(arena.push_expr(ExprKind::Apply(operator, vec![left, right]), place))
    }

    /// A name, a literal, an element, an operator on operands, or an expression in brackets.
    fn parse_primary(&mut self, arena: &mut ExprArena) -> Result<ExprRef, SourceDiagnostic> {
        let place = self.place();
        match self.token().clone() {
            TextToken::Value(_) => {
                let value = self.parse_value()?;
                let position = self.nest(|parser| parser.parse_indices(arena))?;
                Ok(arena.push_expr(ExprKind::Element(value, position), place))
            }
            TextToken::Mark("(") => {
                self.skip_token();
                if self.skip_mark(")") {
                    let unit = ScalarLiteral::new(ScalarType::Unit, 0);
                    return Ok(arena.push_expr(ExprKind::Literal(unit), place));
                }
                let inner = self.nest(|parser| parser.parse_sum(arena))?;
                self.expect_mark(")")?;
                Ok(inner)
            }
            TextToken::Word(word) => {
                if let Some(kind) = read_name(&word) {
                    self.skip_token();
                    return Ok(arena.push_expr(kind, place));
                }
                if self.skip_word("size") {
                    self.expect_mark("(")?;
                    let value = self.parse_value()?;
                    self.expect_mark(")")?;
                    return Ok(arena.push_expr(ExprKind::Size(value), place));
                }
                let operator = self.parse_word("an expression", ScalarOperator::from_text)?;
                self.expect_mark("(")?;
                let operands =
                    self.nest(|parser| parser.parse_list(|parser| parser.parse_sum(arena)))?;
                self.expect_mark(")")?;
                Ok(arena.push_expr(ExprKind::Apply(operator, operands), place))
            }
            _ => self.error("expected an expression"),
        }
    }
}

/// The meaning of a word by itself: a name with a number, or a literal. Integers without a type are `i64`s.
fn read_name(word: &str) -> Option<ExprKind> {
    if let Ok(value) = word.parse::<i64>() {
        return Some(ExprKind::Literal(ScalarLiteral::from_i64(value)));
    }
    let number = || word.get(1..)?.parse::<u32>().ok();
    let kind = match word.as_bytes().first()? {
        b'd' => number().map(ExprKind::Index),
        b'n' => number().map(ExprKind::Line),
        b'r' => number().map(ExprKind::Accumulator),
        b'a' => number().map(ExprKind::Argument),
        _ => None,
    };
    kind.or_else(|| ScalarLiteral::from_text(word).map(ExprKind::Literal))
}
