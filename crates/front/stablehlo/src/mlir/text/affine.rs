//! Parser of affine maps and integer sets.

use super::cursor::MlirParseResult;
use super::parser::MlirParser;
use crate::mlir::{AffineExpr, AffineMap, AffineOp, AttributeKind, IntegerSet};

/// Maximum number of nodes in the expressions of one map, which bounds their depth.
const MAX_NODES: u32 = 2000;

/// Names of dimensions and symbols in their order.
struct AffineNames<'a> {
    dims: Vec<&'a str>,
    symbols: Vec<&'a str>,
    nodes: u32,
}

impl<'a> MlirParser<'a> {
    /// The part after `affine_map`.
    pub fn affine_map(&mut self) -> MlirParseResult<AttributeKind> {
        self.cursor.expect_punctuation("<")?;
        let mut names = self.affine_names()?;
        self.cursor.expect_punctuation("->")?;
        self.cursor.expect_punctuation("(")?;
        let results = self.parse_list(")", |parser| parser.affine_sum(&mut names))?;
        self.cursor.expect_punctuation(">")?;
        Ok(AttributeKind::AffineMap(Box::new(AffineMap {
            dims: names.dims.len() as u32,
            symbols: names.symbols.len() as u32,
            results,
        })))
    }

    /// The part after `affine_set`.
    pub fn integer_set(&mut self) -> MlirParseResult<AttributeKind> {
        self.cursor.expect_punctuation("<")?;
        let mut names = self.affine_names()?;
        self.cursor.expect_punctuation(":")?;
        self.cursor.expect_punctuation("(")?;
        let constraints = self.parse_list(")", |parser| parser.parse_constraint(&mut names))?;
        self.cursor.expect_punctuation(">")?;
        Ok(AttributeKind::IntegerSet(Box::new(IntegerSet {
            dims: names.dims.len() as u32,
            symbols: names.symbols.len() as u32,
            constraints,
        })))
    }

    fn affine_names(&mut self) -> MlirParseResult<AffineNames<'a>> {
        self.cursor.expect_punctuation("(")?;
        let dims = self.parse_list(")", Self::affine_name)?;
        let symbols = if self.cursor.eat_punctuation("[") {
            self.parse_list("]", Self::affine_name)?
        } else {
            Vec::new()
        };
        Ok(AffineNames {
            dims,
            symbols,
            nodes: 0,
        })
    }

    fn affine_name(&mut self) -> MlirParseResult<&'a str> {
        match self.cursor.read_word() {
            "" => self.cursor.report_expected("the name of a dimension"),
            name => Ok(name),
        }
    }

    /// `a >= b`, `a <= b` or `a == b`
    fn parse_constraint(
        &mut self,
        names: &mut AffineNames<'a>,
    ) -> MlirParseResult<(AffineExpr, bool)> {
        let left = self.affine_sum(names)?;
        let (equal, swap) = match () {
            () if self.cursor.eat_punctuation(">=") => (false, false),
            () if self.cursor.eat_punctuation("<=") => (false, true),
            () if self.cursor.eat_punctuation("==") => (true, false),
            () => return self.cursor.report_expected("`>=`, `<=` or `==`"),
        };
        let right = self.affine_sum(names)?;
        let (left, right) = if swap { (right, left) } else { (left, right) };
        let negative = self.affine_combine(right, AffineOp::Mul, AffineExpr::Constant(-1))?;
        Ok((self.affine_combine(left, AffineOp::Add, negative)?, equal))
    }

    fn affine_combine(
        &mut self,
        left: AffineExpr,
        op: AffineOp,
        right: AffineExpr,
    ) -> MlirParseResult<AffineExpr> {
        let linear = match op {
            AffineOp::Add => true,
            AffineOp::Mul => left.is_symbolic() || right.is_symbolic(),
            _ => right.is_symbolic(),
        };
        let combined = linear.then(|| left.combine_with(op, right)).flatten();
        match combined {
            Some(combined) => Ok(combined),
            None => self.cursor.report_error("the expression is not affine"),
        }
    }

    fn affine_sum(&mut self, names: &mut AffineNames<'a>) -> MlirParseResult<AffineExpr> {
        self.cursor.enter_nesting()?;
        let mut sum = self.affine_product(names)?;
        loop {
            self.cursor.skip_trivia();
            let minus = self.cursor.current_byte() == b'-' && self.cursor.byte_at_offset(1) != b'>';
            if !minus && !self.cursor.eat_punctuation("+") {
                break;
            }
            self.cursor.pos += usize::from(minus);
            let mut term = self.affine_product(names)?;
            if minus {
                term = self.affine_combine(term, AffineOp::Mul, AffineExpr::Constant(-1))?;
            }
            sum = self.affine_combine(sum, AffineOp::Add, term)?;
        }
        self.cursor.leave_nesting();
        Ok(sum)
    }

    fn affine_product(&mut self, names: &mut AffineNames<'a>) -> MlirParseResult<AffineExpr> {
        let mut product = self.affine_operand(names)?;
        loop {
            let op = match self.cursor.peek_word() {
                "mod" => AffineOp::Mod,
                "floordiv" => AffineOp::FloorDiv,
                "ceildiv" => AffineOp::CeilDiv,
                _ if self.cursor.current_byte() == b'*' => AffineOp::Mul,
                _ => return Ok(product),
            };
            if op == AffineOp::Mul {
                self.cursor.pos += 1;
            } else {
                self.cursor.read_word();
            }
            let right = self.affine_operand(names)?;
            product = self.affine_combine(product, op, right)?;
        }
    }

    fn affine_operand(&mut self, names: &mut AffineNames<'a>) -> MlirParseResult<AffineExpr> {
        names.nodes += 1;
        if names.nodes > MAX_NODES {
            return self.cursor.report_error("the map has too many expressions");
        }
        match self.cursor.peek_byte() {
            b'(' => {
                self.cursor.pos += 1;
                let inner = self.affine_sum(names)?;
                self.cursor.expect_punctuation(")")?;
                Ok(inner)
            }
            b'-' => {
                self.cursor.enter_nesting()?;
                self.cursor.pos += 1;
                let inner = self.affine_operand(names)?;
                let negated = self.affine_combine(inner, AffineOp::Mul, AffineExpr::Constant(-1));
                self.cursor.leave_nesting();
                negated
            }
            b'0'..=b'9' => Ok(AffineExpr::Constant(self.cursor.read_signed_number()?)),
            _ => {
                let name = self.affine_name()?;
                let find = |all: &[&str]| all.iter().position(|&other| other == name);
                match (find(&names.dims), find(&names.symbols)) {
                    (Some(at), _) => Ok(AffineExpr::Dim(at as u32)),
                    (_, Some(at)) => Ok(AffineExpr::Symbol(at as u32)),
                    _ => self.cursor.report_error(format!(
                        "`{name}` is neither a dimension nor a symbol of the map"
                    )),
                }
            }
        }
    }
}
