//! Parser of functions.

use super::SYNTAX;
use super::build_body::{build_combiner, build_structured};
use super::parse_body::parse_body;
use super::syntax::{CombinerSyntax, ExprArena};
use crate::ir::{
    DenseTensorType, DimExtent, OpKind, RadixSort, SizeConstraint, SizeRelation, TensorBlock,
    TensorConstant, TensorFunction, TensorOp, TensorShape, TensorSort, TensorValue,
    TensorValueData, WordSelection,
};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_program::{ScalarLiteral, ScalarType};
use spirula_text::{PlacedToken, TextToken, lex_tokens};

/// Deepest nesting of expressions and blocks.
const NESTING: u32 = 100;

/// Most values of a function.
const VALUES: usize = 1 << 20;

/// Reads the text of a function as [`write_function`](super::write_function) writes it, and verifies it.
///
/// The text of [`print_function`](super::print_function) is read too, unless it leaves out elements of constants.
/// Names of parameters and whether integers have a sign are lost there.
///
/// # Errors
/// When the text is not well formed, or the function is not valid ([`verify_function`](crate::verify_function)). The
/// diagnostic has the place in the text.
pub fn parse_function(text: &str) -> Result<TensorFunction, SourceDiagnostic> {
    let tokens = lex_tokens(text, &SYNTAX)?;
    let mut parser = TensorParser {
        tokens,
        at: 0,
        nesting: 0,
        function: TensorFunction::default(),
        defined: Vec::new(),
    };
    parser.parse_function()?;
    crate::verify::verify_function(&parser.function)?;
    Ok(parser.function)
}

/// The state of the parser.
pub(super) struct TensorParser {
    tokens: Vec<PlacedToken>,
    at: usize,
    nesting: u32,
    function: TensorFunction,
    /// Whether each value has a type.
    defined: Vec<bool>,
}

impl TensorParser {
    /// The next token.
    pub fn token(&self) -> &TextToken {
        &self.tokens[self.at].token
    }

    /// The token after the next one.
    pub fn token_after(&self) -> &TextToken {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.at + 1).min(last)].token
    }

    /// The place of the next token.
    pub fn place(&self) -> SourceLocation {
        self.tokens[self.at].place
    }

    /// Passes the next token, which is not the end.
    pub fn skip_token(&mut self) {
        self.take_token();
    }

    /// Takes the next token; the end is never passed.
    fn take_token(&mut self) -> TextToken {
        let token = self.token().clone();
        if token != TextToken::End {
            self.at += 1;
        }
        token
    }

    /// An error at the next token.
    pub fn error<T>(&self, message: impl Into<String>) -> Result<T, SourceDiagnostic> {
        Err(SourceDiagnostic::error(self.place(), message))
    }

    pub fn is_mark(&self, mark: &str) -> bool {
        matches!(self.token(), TextToken::Mark(m) if *m == mark)
    }

    /// Takes a mark, if it is next.
    pub fn skip_mark(&mut self, mark: &str) -> bool {
        let is_next = self.is_mark(mark);
        self.at += usize::from(is_next);
        is_next
    }

    pub fn expect_mark(&mut self, mark: &str) -> Result<(), SourceDiagnostic> {
        if self.skip_mark(mark) {
            return Ok(());
        }
        self.error(format!("expected `{mark}`"))
    }

    pub fn is_word(&self, word: &str) -> bool {
        matches!(self.token(), TextToken::Word(w) if w == word)
    }

    /// Takes a keyword, if it is next.
    pub fn skip_word(&mut self, word: &str) -> bool {
        let is_next = self.is_word(word);
        self.at += usize::from(is_next);
        is_next
    }

    pub fn expect_word(&mut self, word: &str) -> Result<(), SourceDiagnostic> {
        if self.skip_word(word) {
            return Ok(());
        }
        self.error(format!("expected `{word}`"))
    }

    /// Takes a word, if `read` gives a meaning to it.
    pub fn parse_word<T>(
        &mut self,
        wanted: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<T, SourceDiagnostic> {
        let meaning = match self.token() {
            TextToken::Word(word) => read(word),
            _ => None,
        };
        match meaning {
            Some(meaning) => {
                self.at += 1;
                Ok(meaning)
            }
            None => self.error(format!("expected {wanted}")),
        }
    }

    /// Runs a part of the parser one level deeper.
    pub fn nest<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T, SourceDiagnostic>,
    ) -> Result<T, SourceDiagnostic> {
        if self.nesting == NESTING {
            return self.error(format!("nested deeper than {NESTING} levels"));
        }
        self.nesting += 1;
        let result = inner(self)?;
        self.nesting -= 1;
        Ok(result)
    }

    /// Items with commas between them, up to a token that cannot begin one.
    pub fn parse_list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, SourceDiagnostic>,
    ) -> Result<Vec<T>, SourceDiagnostic> {
        let mut items = vec![item(self)?];
        while self.skip_mark(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// The number of a value.
    fn parse_value_number(&mut self) -> Result<TensorValue, SourceDiagnostic> {
        let TextToken::Value(number) = self.token() else {
            return self.error("expected a value");
        };
        match number.parse() {
            Ok(number) if number < VALUES => {
                self.at += 1;
                Ok(TensorValue::new(number))
            }
            _ => self.error(format!("values are numbered below {VALUES}")),
        }
    }

    /// A value that has been defined.
    pub fn parse_value(&mut self) -> Result<TensorValue, SourceDiagnostic> {
        let place = self.place();
        let value = self.parse_value_number()?;
        if self.is_defined(value) {
            return Ok(value);
        }
        let message = format!("{value:?} is not defined here");
        Err(SourceDiagnostic::error(place, message))
    }

    fn is_defined(&self, value: TensorValue) -> bool {
        self.defined.get(value.index()).is_some_and(|is| *is)
    }

    /// Gives a value its type.
    fn define_value(
        &mut self,
        value: TensorValue,
        ty: DenseTensorType,
        place: SourceLocation,
    ) -> Result<(), SourceDiagnostic> {
        if self.is_defined(value) {
            let message = format!("{value:?} is defined twice");
            return Err(SourceDiagnostic::error(place, message));
        }
        let count = self.defined.len().max(value.index() + 1);
        let unused = TensorValueData {
            ty: DenseTensorType::from_scalar(ScalarType::I64),
        };
        self.defined.resize(count, false);
        self.function.values.resize(count, unused);
        self.defined[value.index()] = true;
        self.function.values[value.index()] = TensorValueData { ty };
        Ok(())
    }

    /// A type: `f32[10,%3]`. Sizes of parameters may be values that nothing defines.
    fn parse_type(&mut self, is_parameter: bool) -> Result<DenseTensorType, SourceDiagnostic> {
        let element = self.parse_word("a type", ScalarType::from_name)?;
        self.expect_mark("[")?;
        let mut shape = TensorShape::new();
        while !self.is_mark("]") {
            if !shape.is_empty() {
                self.expect_mark(",")?;
            }
            let extent = match self.token() {
                TextToken::Value(_) if is_parameter => {
                    let place = self.place();
                    let value = self.parse_value_number()?;
                    if !self.is_defined(value) {
                        let ty = DenseTensorType::from_scalar(ScalarType::I64);
                        self.define_value(value, ty, place)?;
                    }
                    DimExtent::Value(value)
                }
                _ => self.parse_extent()?,
            };
            shape.push(extent);
        }
        self.expect_mark("]")?;
        Ok(DenseTensorType { element, shape })
    }

    /// A size: `10` or `%3`.
    pub fn parse_extent(&mut self) -> Result<DimExtent, SourceDiagnostic> {
        if let TextToken::Value(_) = self.token() {
            return Ok(DimExtent::Value(self.parse_value()?));
        }
        let size = |word: &str| word.parse().ok().filter(|n| *n <= i64::MAX as u64);
        Ok(DimExtent::Static(self.parse_word("a size", size)?))
    }

    /// Values with types, which become defined.
    fn parse_typed_values(&mut self) -> Result<Vec<TensorValue>, SourceDiagnostic> {
        if !matches!(self.token(), TextToken::Value(_)) {
            return Ok(Vec::new());
        }
        self.parse_list(|parser| {
            let place = parser.place();
            let value = parser.parse_value_number()?;
            parser.expect_mark(":")?;
            let ty = parser.parse_type(false)?;
            parser.define_value(value, ty, place)?;
            Ok(value)
        })
    }

    /// Values that have been defined; there may be none.
    pub fn parse_values(&mut self) -> Result<Vec<TensorValue>, SourceDiagnostic> {
        if !matches!(self.token(), TextToken::Value(_)) {
            return Ok(Vec::new());
        }
        self.parse_list(Self::parse_value)
    }

    fn parse_function(&mut self) -> Result<(), SourceDiagnostic> {
        self.expect_word("func")?;
        let TextToken::Function(name) = self.token().clone() else {
            return self.error("expected the name of a function");
        };
        self.at += 1;
        self.function.name = name;
        let body = self.function.new_block();
        self.expect_mark("(")?;
        if !self.is_mark(")") {
            let parameters = self.parse_list(Self::parse_parameter)?;
            self.function.block_mut(body).parameters = parameters;
        }
        self.expect_mark(")")?;
        self.expect_mark("->")?;
        let place = self.place();
        let mut types = Vec::new();
        if !self.is_mark("{") {
            types = self.parse_list(|parser| {
                let ty = parser.skip_type()?;
                let is_unsigned = parser.skip_word("unsigned");
                parser.function.entry.unsigned_results.push(is_unsigned);
                Ok(ty)
            })?;
        }
        self.expect_mark("{")?;
        while self.skip_word("demand") {
            let demand = self.parse_demand()?;
            self.function.demands.push(demand);
        }
        self.parse_block(body, "return")?;
        self.expect_mark("}")?;
        if *self.token() != TextToken::End {
            return self.error("expected the end of the text");
        }
        let results = &self.function.block(body).results;
        let found = results.iter().map(|v| self.function.ty(*v).to_string());
        if !found.eq(types) {
            let message = "these are not the types of the results";
            return Err(SourceDiagnostic::error(place, message));
        }
        Ok(())
    }

    /// The text of a type whose sizes may be defined later.
    fn skip_type(&mut self) -> Result<String, SourceDiagnostic> {
        let element = self.parse_word("a type", ScalarType::from_name)?;
        self.expect_mark("[")?;
        let mut sizes = Vec::new();
        while !self.is_mark("]") {
            if !sizes.is_empty() {
                self.expect_mark(",")?;
            }
            sizes.push(match self.take_token() {
                TextToken::Value(number) => format!("%{number}"),
                TextToken::Word(word) => word,
                _ => return self.error("expected a size"),
            });
        }
        self.expect_mark("]")?;
        Ok(format!("{element}[{}]", sizes.join(",")))
    }

    /// `%0 "name": f32[2] unsigned`.
    fn parse_parameter(&mut self) -> Result<TensorValue, SourceDiagnostic> {
        let place = self.place();
        let value = self.parse_value_number()?;
        let name = match self.token().clone() {
            TextToken::Text(name) => {
                self.at += 1;
                name
            }
            _ => "x".to_owned(),
        };
        self.expect_mark(":")?;
        let ty = self.parse_type(true)?;
        self.define_value(value, ty, place)?;
        let is_unsigned = self.skip_word("unsigned");
        self.function.entry.parameters.push(name);
        self.function.entry.unsigned_parameters.push(is_unsigned);
        Ok(value)
    }

    /// `%1 = 4` or `%1 repeats 4`; the values may be defined later.
    fn parse_demand(&mut self) -> Result<SizeConstraint, SourceDiagnostic> {
        let extent = |parser: &mut Self| match parser.token() {
            TextToken::Value(_) => Ok(DimExtent::Value(parser.parse_value_number()?)),
            _ => parser.parse_extent(),
        };
        let first = extent(self)?;
        let relation = if self.skip_mark("=") {
            SizeRelation::Equal
        } else {
            self.expect_word("repeats")?;
            SizeRelation::Repeated
        };
        let second = extent(self)?;
        Ok(SizeConstraint {
            sizes: [first, second],
            relation,
        })
    }

    /// The operations of a block, and its results after the word `end`.
    fn parse_block(&mut self, block: TensorBlock, end: &str) -> Result<(), SourceDiagnostic> {
        while !self.skip_word(end) {
            let op = self.nest(Self::parse_op)?;
            self.function.block_mut(block).ops.push(op);
        }
        let results = self.parse_values()?;
        self.function.block_mut(block).results = results;
        Ok(())
    }

    fn parse_nested_block(
        &mut self,
        with_parameters: bool,
    ) -> Result<TensorBlock, SourceDiagnostic> {
        let block = self.function.new_block();
        if with_parameters {
            self.expect_mark("(")?;
            let parameters = self.parse_typed_values()?;
            self.function.block_mut(block).parameters = parameters;
            self.expect_mark(")")?;
        }
        self.expect_mark("{")?;
        self.parse_block(block, "give")?;
        self.expect_mark("}")?;
        Ok(block)
    }

    fn parse_op(&mut self) -> Result<TensorOp, SourceDiagnostic> {
        let place = self.place();
        if self.skip_word("assert") {
            let assertion = self.parse_assertion()?;
            return Ok(TensorOp {
                kind: OpKind::Assert(Box::new(assertion)),
                results: Vec::new(),
                place,
            });
        }
        let results = self.parse_typed_values()?;
        if !results.is_empty() || !self.is_word("foreign") {
            self.expect_mark("=")?;
        }
        let kind = if self.skip_word("foreign") {
            OpKind::Foreign(Box::new(self.parse_foreign()?))
        } else if self.skip_word("constant") {
            OpKind::Constant(Box::new(self.parse_constant(&results, place)?))
        } else if self.skip_word("reshape") {
            OpKind::Reshape(self.parse_value()?)
        } else if self.skip_word("over") {
            let body = parse_body(self)?;
            OpKind::Structured(Box::new(build_structured(&self.function, &body, &results)?))
        } else if self.skip_word("sort") {
            OpKind::Sort(Box::new(self.parse_sort()?))
        } else if self.skip_word("radix_sort") {
            OpKind::RadixSort(self.parse_radix_sort()?)
        } else if self.skip_word("select") {
            OpKind::WordSelection(self.parse_selection()?)
        } else if self.skip_word("if") {
            let condition = self.parse_value()?;
            let then = self.parse_nested_block(false)?;
            self.expect_word("else")?;
            let otherwise = self.parse_nested_block(false)?;
            OpKind::If {
                condition,
                then,
                otherwise,
            }
        } else if self.skip_word("while") {
            self.expect_word("from")?;
            let initial = self.parse_values()?;
            self.expect_word("condition")?;
            let condition = self.parse_nested_block(true)?;
            self.expect_word("body")?;
            let body = self.parse_nested_block(true)?;
            OpKind::While {
                initial,
                condition,
                body,
            }
        } else {
            return self.error("expected an operation");
        };
        Ok(TensorOp {
            kind,
            results,
            place,
        })
    }

    /// `[1i32, 2i32]`.
    fn parse_constant(
        &mut self,
        results: &[TensorValue],
        place: SourceLocation,
    ) -> Result<TensorConstant, SourceDiagnostic> {
        let [result] = *results else {
            let message = "a constant is one value";
            return Err(SourceDiagnostic::error(place, message));
        };
        let ty = self.function.ty(result).clone();
        self.expect_mark("[")?;
        let size = ty.element.size() as usize;
        let mut bytes = Vec::new();
        let mut count = 0;
        while !self.is_mark("]") {
            if count > 0 {
                self.expect_mark(",")?;
            }
            let literal = self.parse_literal()?;
            if literal.ty != ty.element {
                self.at -= 1;
                return self.error(format!("expected an element of type {}", ty.element));
            }
            bytes.extend(&literal.bits.to_le_bytes()[..size]);
            count += 1;
        }
        if ty.element_count() != Some(count) {
            return self.error(format!("{count} elements are not those of {ty}"));
        }
        self.expect_mark("]")?;
        Ok(TensorConstant { ty, bytes })
    }

    /// A literal with its type: `1i32`, `-0.5f32`, `()`.
    fn parse_literal(&mut self) -> Result<ScalarLiteral, SourceDiagnostic> {
        if self.is_mark("(") && matches!(self.token_after(), TextToken::Mark(")")) {
            self.at += 2;
            return Ok(ScalarLiteral::new(ScalarType::Unit, 0));
        }
        self.parse_word("a literal", ScalarLiteral::from_text)
    }

    /// `stable %0, %1 along 0 by slt.bool`.
    fn parse_sort(&mut self) -> Result<TensorSort, SourceDiagnostic> {
        let is_stable = self.skip_word("stable");
        let operands = self.parse_list(Self::parse_value)?;
        self.expect_word("along")?;
        let dimension = self.parse_word("a dimension", |word| word.parse().ok())?;
        self.expect_word("by")?;
        let comparator = self.parse_combiner()?;
        let elements = operands.iter().map(|v| self.function.ty(*v).element);
        let arguments: Vec<ScalarType> = elements.flat_map(|ty| [ty, ty]).collect();
        Ok(TensorSort {
            comparator: build_combiner(&self.function, &comparator, &arguments)?,
            operands,
            dimension,
            is_stable,
        })
    }

    /// `%0 with %1 bits 32`.
    fn parse_radix_sort(&mut self) -> Result<RadixSort, SourceDiagnostic> {
        let words = self.parse_value()?;
        let mut carried = None;
        if self.skip_word("with") {
            carried = Some(self.parse_value()?);
        }
        self.expect_word("bits")?;
        let bits = self.parse_word("a number of bits", |word| word.parse().ok())?;
        Ok(RadixSort {
            words,
            carried,
            bits,
        })
    }

    /// `%1 least 5`.
    fn parse_selection(&mut self) -> Result<WordSelection, SourceDiagnostic> {
        let words = self.parse_value()?;
        self.expect_word("least")?;
        let count = self.parse_word("a number of words", |word| word.parse().ok())?;
        Ok(WordSelection { words, count })
    }

    /// `fadd.f32` or `(…, …)`.
    pub fn parse_combiner(&mut self) -> Result<CombinerSyntax, SourceDiagnostic> {
        let place = self.place();
        if self.skip_mark("(") {
            let mut arena = ExprArena::default();
            let results = self.parse_exprs(&mut arena)?;
            self.expect_mark(")")?;
            return Ok(CombinerSyntax::Results(arena, results));
        }
        let op = self.parse_word("a combiner", |word| {
            let (name, ty) = word.split_once('.')?;
            ScalarType::from_name(ty)?;
            let op = spirula_program::ScalarOp::from_name(name)?;
            let operator = spirula_program::ScalarOperator::with_type(op, ScalarType::I64);
            (operator.arity() == 2).then_some(op)
        })?;
        Ok(CombinerSyntax::Operator(op, place))
    }
}
