//! Operations.

use super::token::SoacTokenKind;
use super::{LoopHead, SoacParser};
use crate::ir::{
    ArgumentOwnership, FusedSink, ReductionOrder, SliceSelector, SoacAccumulation, SoacAccumulator,
    SoacArgument, SoacFold, SoacFusedMap, SoacHistogram, SoacLoopForm, SoacMessage,
    SoacMessagePart, SoacOperand, SoacOperation, SoacType, SoacVariableId,
};
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::ScalarOperator;
use std::sync::Arc;

impl SoacParser {
    /// An operation.
    ///
    /// # Errors
    ///
    /// The first fault of the text.
    pub fn parse_operation(&mut self) -> Result<SoacOperation, SourceDiagnostic> {
        if self.peek_mark("[") {
            return self.parse_sizes().map(SoacOperation::Literal);
        }
        let SoacTokenKind::Word(word) = self.peek().clone() else {
            return self.parse_part();
        };
        if self.peek_variable() {
            return self.parse_part();
        }
        if let Some(operator) = ScalarOperator::from_text(&word) {
            self.advance();
            let operands = self.parse_operands()?;
            return Ok(SoacOperation::Scalar(operator, operands));
        }
        let start = self.next;
        self.advance();
        match word.as_str() {
            "check" => self.parse_check(),
            "parameter" => self.parse_parameter(),
            "iota" => {
                let [count, first, step] = self.parse_exactly()?;
                Ok(SoacOperation::Iota(count, first, step))
            }
            "replicate" => {
                self.expect_mark("(")?;
                let sizes = self.parse_sizes()?;
                self.expect_mark(",")?;
                let value = self.parse_operand()?;
                self.expect_mark(")")?;
                Ok(SoacOperation::Replicate(sizes, value))
            }
            "concat" => self.parse_operands().map(SoacOperation::Concat),
            "reshape" => {
                self.expect_mark("(")?;
                let array = self.parse_operand()?;
                self.expect_mark(",")?;
                let sizes = self.parse_sizes()?;
                self.expect_mark(")")?;
                Ok(SoacOperation::Reshape(array, sizes))
            }
            "rearrange" => self.parse_rearrange(),
            "manifest" => {
                let [array] = self.parse_exactly()?;
                Ok(SoacOperation::Manifest(array))
            }
            "scatter" => {
                let [array, positions, values] = self.parse_exactly()?;
                Ok(SoacOperation::Scatter(array, positions, values))
            }
            "if" => {
                let condition = self.parse_operand()?;
                self.expect_word("then")?;
                let accept = self.parse_nested()?;
                self.expect_word("else")?;
                let reject = self.parse_nested()?;
                Ok(SoacOperation::If(condition, accept, reject))
            }
            "loop" => {
                let head = self.parse_loop_head()?;
                let body = self.parse_nested()?;
                Ok(SoacOperation::Loop(head.parameters, head.form, body))
            }
            "accumulate" => {
                let accumulator = self.parse_variable()?;
                self.expect_mark("[")?;
                let position = self.parse_operand()?;
                self.expect_mark("]")?;
                let values = self.parse_operands()?;
                Ok(SoacOperation::Accumulate(accumulator, position, values))
            }
            "with_accumulators" => self.parse_accumulation(),
            "call" => self.parse_call(),
            _ => {
                self.next = start;
                self.parse_combinator(&word)
            }
        }
    }

    fn parse_combinator(&mut self, word: &str) -> Result<SoacOperation, SourceDiagnostic> {
        if !matches!(
            word,
            "map" | "reduce" | "reduce_comm" | "scan" | "histogram" | "fused"
        ) {
            return self.parse_part();
        }
        self.advance();
        match word {
            "histogram" => self.parse_histogram(),
            "fused" => self.parse_fused(),
            "map" => {
                let width = self.parse_operand()?;
                let arrays = self.parse_operands()?;
                Ok(SoacOperation::Map(width, arrays, self.parse_lambda()?))
            }
            _ => {
                let width = self.parse_operand()?;
                let arrays = self.parse_operands()?;
                let SoacFold { neutral, function } = self.parse_fold()?;
                Ok(match read_order(word) {
                    None => SoacOperation::Scan(width, arrays, neutral, function),
                    Some(order) => SoacOperation::Reduce(width, arrays, neutral, function, order),
                })
            }
        }
    }

    /// A call, after its first word. A star marks an argument that is consumed.
    fn parse_call(&mut self) -> Result<SoacOperation, SourceDiagnostic> {
        let function = self.parse_callee()?;
        self.expect_mark("(")?;
        let arguments = self.parse_list(")", |parser| {
            let is_consumed = parser.take_mark("*");
            let ownership = if is_consumed {
                ArgumentOwnership::Consumed
            } else {
                ArgumentOwnership::Lent
            };
            let operand = parser.parse_operand()?;
            Ok(SoacArgument { operand, ownership })
        })?;
        Ok(SoacOperation::Call(function, arguments))
    }

    /// A number of operands in parentheses.
    fn parse_exactly<const COUNT: usize>(
        &mut self,
    ) -> Result<[SoacOperand; COUNT], SourceDiagnostic> {
        let start = self.next;
        let operands = self.parse_operands()?;
        <[SoacOperand; COUNT]>::try_from(operands).or_else(|_| {
            self.next = start;
            self.fail(format!("{COUNT} operands are expected"))
        })
    }

    fn parse_parameter(&mut self) -> Result<SoacOperation, SourceDiagnostic> {
        self.expect_mark("(")?;
        let SoacTokenKind::Text(name) = self.peek().clone() else {
            return self.fail("the name of a parameter is expected");
        };
        self.advance();
        let default = if self.take_mark(",") {
            let Some(default) = self.parse_operand()?.to_int64() else {
                return self.fail("the default of a parameter is no constant");
            };
            Some(default)
        } else {
            None
        };
        self.expect_mark(")")?;
        Ok(SoacOperation::Parameter(name.into(), default))
    }

    fn parse_check(&mut self) -> Result<SoacOperation, SourceDiagnostic> {
        self.expect_mark("(")?;
        let condition = self.parse_operand()?;
        let mut parts = Vec::new();
        while self.take_mark(",") {
            if let SoacTokenKind::Text(text) = self.peek().clone() {
                self.advance();
                parts.push(SoacMessagePart::Text(text));
            } else {
                parts.push(SoacMessagePart::Value(self.parse_operand()?));
            }
        }
        let places = self.parse_places()?;
        self.expect_mark(")")?;
        Ok(SoacOperation::Check(
            condition,
            SoacMessage { parts, places },
        ))
    }

    /// Parses the places of a check, if there are some.
    fn parse_places(&mut self) -> Result<Arc<str>, SourceDiagnostic> {
        if !self.peek_word("at") {
            return Ok(Arc::default());
        }
        self.expect_word("at")?;
        let SoacTokenKind::Text(places) = self.peek().clone() else {
            return self.fail("places in the source are expected");
        };
        self.advance();
        Ok(places.into())
    }

    fn parse_rearrange(&mut self) -> Result<SoacOperation, SourceDiagnostic> {
        self.expect_mark("(")?;
        let array = self.parse_operand()?;
        self.expect_mark(",")?;
        self.expect_mark("[")?;
        let permutation = self.parse_list("]", |parser| {
            let start = parser.next;
            parser.parse_word()?.parse().or_else(|_| {
                parser.next = start;
                parser.fail("the number of a dimension is expected")
            })
        })?;
        self.expect_mark(")")?;
        Ok(SoacOperation::Rearrange(array, permutation))
    }

    /// An element, a slice or an update of an array.
    fn parse_part(&mut self) -> Result<SoacOperation, SourceDiagnostic> {
        let array = self.parse_operand()?;
        if !self.peek_word("with") {
            return Ok(SoacOperation::Slice(array, self.parse_selectors()?));
        }
        self.advance();
        let selectors = self.parse_selectors()?;
        self.expect_mark("=")?;
        let value = self.parse_operand()?;
        Ok(SoacOperation::Update(array, selectors, value))
    }

    fn parse_selectors(&mut self) -> Result<Vec<SliceSelector>, SourceDiagnostic> {
        self.expect_mark("[")?;
        self.parse_list("]", |parser| {
            let start = parser.parse_operand()?;
            if !parser.take_mark(":+") {
                return Ok(SliceSelector::Point(start));
            }
            let count = parser.parse_operand()?;
            parser.expect_mark("*")?;
            let stride = parser.parse_operand()?;
            Ok(SliceSelector::Stride {
                start,
                count,
                stride,
            })
        })
    }

    /// A loop after its first word, up to its body.
    ///
    /// # Errors
    ///
    /// The first fault of the text.
    pub fn parse_loop_head(&mut self) -> Result<LoopHead, SourceDiagnostic> {
        self.expect_mark("(")?;
        let parameters = self.parse_list(")", |parser| {
            let id = parser.parse_binding()?;
            parser.expect_mark("=")?;
            Ok((id, parser.parse_operand()?))
        })?;
        let form = if self.peek_word("while") {
            self.advance();
            let condition = self.parse_variable()?;
            self.find_condition(&parameters, condition)?
        } else {
            self.expect_word("for")?;
            let counter = self.parse_binding()?;
            self.expect_mark("<")?;
            SoacLoopForm::For(counter, self.parse_operand()?)
        };
        self.expect_word("do")?;
        Ok(LoopHead { parameters, form })
    }

    fn find_condition(
        &self,
        parameters: &[(SoacVariableId, SoacOperand)],
        condition: SoacVariableId,
    ) -> Result<SoacLoopForm, SourceDiagnostic> {
        let position = parameters.iter().position(|(id, _)| *id == condition);
        match position {
            Some(position) => Ok(SoacLoopForm::While(position)),
            None => self.fail("the condition of a loop is no parameter of it"),
        }
    }

    fn parse_accumulation(&mut self) -> Result<SoacOperation, SourceDiagnostic> {
        let accumulators = self.parse_accumulators()?;
        let body = self.parse_nested()?;
        let accumulation = SoacAccumulation { accumulators, body };
        Ok(SoacOperation::WithAccumulators(Box::new(accumulation)))
    }

    /// Accumulators with their arrays and functions, in parentheses.
    ///
    /// # Errors
    ///
    /// The first fault of the text.
    pub fn parse_accumulators(&mut self) -> Result<Vec<SoacAccumulator>, SourceDiagnostic> {
        self.expect_mark("(")?;
        self.parse_list(")", |parser| {
            let variable = parser.bind_variable(SoacType::Accumulator)?;
            parser.expect_mark("=")?;
            let targets = parser.parse_operands()?;
            let has_function = parser.peek_mark("\\");
            let combine = has_function.then(|| parser.parse_lambda()).transpose()?;
            Ok(SoacAccumulator {
                variable,
                targets,
                combine,
            })
        })
    }

    fn parse_histogram(&mut self) -> Result<SoacOperation, SourceDiagnostic> {
        let targets = self.parse_operands()?;
        let neutral = self.parse_operands()?;
        let positions = self.parse_operand()?;
        let values = self.parse_operands()?;
        let function = self.parse_lambda()?;
        Ok(SoacOperation::Histogram(Box::new(SoacHistogram {
            targets,
            neutral,
            function,
            positions,
            values,
        })))
    }

    fn parse_fused(&mut self) -> Result<SoacOperation, SourceDiagnostic> {
        let width = self.parse_operand()?;
        let arrays = self.parse_operands()?;
        let function = self.parse_lambda()?;
        self.expect_word("into")?;
        let start = self.next;
        let word = self.parse_word()?;
        let sink = match word.as_str() {
            "scatter" => FusedSink::Scatter(self.parse_operands()?),
            "histogram" => {
                let targets = self.parse_operands()?;
                FusedSink::Histogram(targets, self.parse_fold()?)
            }
            "scan" => FusedSink::Scan(self.parse_fold()?),
            name => match read_order(name) {
                Some(order) => FusedSink::Reduce(self.parse_fold()?, order),
                None => {
                    self.next = start;
                    return self.fail("a reduction, scan, scatter or histogram is expected");
                }
            },
        };
        Ok(SoacOperation::Fused(Box::new(SoacFusedMap {
            width,
            arrays,
            function,
            sink,
        })))
    }

    /// A neutral element and a function.
    fn parse_fold(&mut self) -> Result<SoacFold, SourceDiagnostic> {
        let neutral = self.parse_operands()?;
        let function = self.parse_lambda()?;
        Ok(SoacFold { neutral, function })
    }
}

/// The order of a reduction by its name.
fn read_order(name: &str) -> Option<ReductionOrder> {
    match name {
        "reduce" => Some(ReductionOrder::Ordered),
        "reduce_comm" => Some(ReductionOrder::Commutative),
        _ => None,
    }
}
