//! Programs as text.

use crate::ir::{
    ArgumentOwnership, FusedSink, ReductionOrder, SliceSelector, SoacAccumulation, SoacAccumulator,
    SoacBody, SoacFold, SoacFunction, SoacFusedMap, SoacHistogram, SoacLambda, SoacLoopForm,
    SoacMessage, SoacMessagePart, SoacOperand, SoacOperation, SoacProgram, SoacStatement, SoacType,
    SoacVariableId,
};
use std::fmt::{self, Write as _};

impl fmt::Display for SoacProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (_, function) in self.functions.iter() {
            writeln!(f, "{function}")?;
        }
        Ok(())
    }
}

impl fmt::Display for SoacFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = FunctionPrinter {
            function: self,
            out: String::new(),
            depth: 1,
        };
        write!(printer.out, "fun {} (", self.name)?;
        printer.print_bindings(&self.parameters)?;
        printer.out.push_str(") =\n");
        printer.print_body(&self.body)?;
        f.write_str(&printer.out)?;
        for (id, callee) in self.callees.iter() {
            write!(f, "with {id:?}: {callee}")?;
        }
        Ok(())
    }
}

/// The text of a part of a function, at a depth of indentation.
fn format_part(
    function: &SoacFunction,
    depth: usize,
    print: impl FnOnce(&mut FunctionPrinter<'_>) -> fmt::Result,
) -> String {
    let mut printer = FunctionPrinter {
        function,
        out: String::new(),
        depth,
    };
    // Writing to a string does not fail.
    let _ = print(&mut printer);
    printer.out
}

/// A statement as a line of text.
pub fn format_statement(
    function: &SoacFunction,
    statement: &SoacStatement,
    depth: usize,
) -> String {
    format_part(function, depth, |printer| {
        printer.print_statement(statement)
    })
}

/// A body as lines of text: statements, then the results.
pub fn format_body(function: &SoacFunction, body: &SoacBody, depth: usize) -> String {
    format_part(function, depth, |printer| printer.print_body(body))
}

/// The function of a combinator as text.
pub fn format_lambda(function: &SoacFunction, lambda: &SoacLambda, depth: usize) -> String {
    format_part(function, depth, |printer| printer.print_lambda(lambda))
}

/// The parameters and the form of a loop as text.
pub fn format_loop_head(
    function: &SoacFunction,
    parameters: &[(SoacVariableId, SoacOperand)],
    form: SoacLoopForm,
) -> String {
    format_part(function, 0, |printer| {
        printer.print_loop_head(parameters, form)
    })
}

/// Accumulators with their arrays and functions as text.
pub fn format_accumulators(
    function: &SoacFunction,
    accumulators: &[SoacAccumulator],
    depth: usize,
) -> String {
    format_part(function, depth, |printer| {
        printer.print_accumulators(accumulators)
    })
}

/// Variables with their types as text.
pub fn format_bindings(function: &SoacFunction, ids: &[SoacVariableId]) -> String {
    format_part(function, 0, |printer| printer.print_bindings(ids))
}

/// Operands as text.
pub fn format_operands(function: &SoacFunction, operands: &[SoacOperand]) -> String {
    format_part(function, 0, |printer| {
        printer.out = printer.operands(operands);
        Ok(())
    })
}

/// State of the printer.
struct FunctionPrinter<'f> {
    function: &'f SoacFunction,
    out: String,
    depth: usize,
}

impl FunctionPrinter<'_> {
    fn name(&self, id: SoacVariableId) -> String {
        format!("{}_{}", self.function.variables[id].name, id.index())
    }

    fn operand(&self, operand: SoacOperand) -> String {
        match operand {
            SoacOperand::Constant(literal) => literal.to_string(),
            SoacOperand::Variable(id) => self.name(id),
        }
    }

    fn operands(&self, operands: &[SoacOperand]) -> String {
        let operands: Vec<_> = operands
            .iter()
            .map(|&operand| self.operand(operand))
            .collect();
        operands.join(", ")
    }

    fn type_text(&self, variable_type: &SoacType) -> String {
        match variable_type {
            SoacType::Certificate => "cert".to_owned(),
            SoacType::Accumulator => "acc".to_owned(),
            other => {
                let shape = other
                    .shape()
                    .iter()
                    .map(|&size| format!("[{}]", self.operand(size)));
                shape.collect::<String>() + other.element().name()
            }
        }
    }

    /// Prints variables with their types.
    fn print_bindings(&mut self, ids: &[SoacVariableId]) -> fmt::Result {
        for (index, &id) in ids.iter().enumerate() {
            let separator = if index > 0 { ", " } else { "" };
            let variable_type = self.type_text(&self.function.variables[id].variable_type);
            let name = self.name(id);
            write!(self.out, "{separator}{name}: {variable_type}")?;
        }
        Ok(())
    }

    fn indent(&mut self) {
        let indent = "  ".repeat(self.depth);
        self.out.push_str(&indent);
    }

    /// Prints a body: statements, then the results.
    fn print_body(&mut self, body: &SoacBody) -> fmt::Result {
        for statement in &body.statements {
            self.print_statement(statement)?;
        }
        self.indent();
        let results = self.operands(&body.results);
        writeln!(self.out, "in ({results})")
    }

    fn print_statement(&mut self, statement: &SoacStatement) -> fmt::Result {
        self.indent();
        self.out.push_str("let (");
        self.print_bindings(&statement.results)?;
        self.out.push_str(") = ");
        if !statement.certificates.is_empty() {
            let names: Vec<_> = statement
                .certificates
                .iter()
                .map(|&id| self.name(id))
                .collect();
            write!(self.out, "#{{{}}} ", names.join(", "))?;
        }
        self.print_operation(&statement.operation)?;
        self.out.push('\n');
        Ok(())
    }

    fn selectors(&self, selectors: &[SliceSelector]) -> String {
        let selectors = selectors.iter().map(|selector| match *selector {
            SliceSelector::Point(point) => self.operand(point),
            SliceSelector::Stride {
                start,
                count,
                stride,
            } => {
                format!(
                    "{} :+ {} * {}",
                    self.operand(start),
                    self.operand(count),
                    self.operand(stride)
                )
            }
        });
        selectors.collect::<Vec<_>>().join(", ")
    }

    fn print_nested(&mut self, body: &SoacBody) -> fmt::Result {
        self.out.push_str("{\n");
        self.depth += 1;
        self.print_body(body)?;
        self.depth -= 1;
        self.indent();
        self.out.push('}');
        Ok(())
    }

    fn print_lambda(&mut self, function: &SoacLambda) -> fmt::Result {
        self.out.push_str(" \\(");
        self.print_bindings(&function.parameters)?;
        self.out.push_str(") -> ");
        self.print_nested(&function.body)
    }

    fn print_operation(&mut self, operation: &SoacOperation) -> fmt::Result {
        match operation {
            SoacOperation::Scalar(operator, operands) => {
                let operands = self.operands(operands);
                write!(self.out, "{operator}({operands})")
            }
            SoacOperation::Parameter(name, None) => write!(self.out, "parameter({name:?})"),
            SoacOperation::Parameter(name, Some(default)) => {
                write!(self.out, "parameter({name:?}, {default}i64)")
            }
            SoacOperation::Check(condition, message) => self.print_check(*condition, message),
            SoacOperation::Slice(array, slices) => {
                let (array, slices) = (self.operand(*array), self.selectors(slices));
                write!(self.out, "{array}[{slices}]")
            }
            SoacOperation::Update(array, slices, value) => {
                let (array, slices) = (self.operand(*array), self.selectors(slices));
                let value = self.operand(*value);
                write!(self.out, "{array} with [{slices}] = {value}")
            }
            SoacOperation::Literal(elements) => {
                let elements = self.operands(elements);
                write!(self.out, "[{elements}]")
            }
            SoacOperation::Iota(count, first, step) => {
                let operands = self.operands(&[*count, *first, *step]);
                write!(self.out, "iota({operands})")
            }
            SoacOperation::Replicate(sizes, value) => {
                let (sizes, value) = (self.operands(sizes), self.operand(*value));
                write!(self.out, "replicate([{sizes}], {value})")
            }
            SoacOperation::Concat(arrays) => {
                let arrays = self.operands(arrays);
                write!(self.out, "concat({arrays})")
            }
            SoacOperation::Reshape(array, sizes) => {
                let (array, sizes) = (self.operand(*array), self.operands(sizes));
                write!(self.out, "reshape({array}, [{sizes}])")
            }
            SoacOperation::Rearrange(array, permutation) => {
                let array = self.operand(*array);
                write!(self.out, "rearrange({array}, {permutation:?})")
            }
            SoacOperation::Manifest(array) => {
                let array = self.operand(*array);
                write!(self.out, "manifest({array})")
            }
            SoacOperation::If(condition, accept, reject) => {
                let condition = self.operand(*condition);
                write!(self.out, "if {condition} then ")?;
                self.print_nested(accept)?;
                self.out.push_str(" else ");
                self.print_nested(reject)
            }
            SoacOperation::Loop(parameters, form, body) => {
                self.print_loop_head(parameters, *form)?;
                self.print_nested(body)
            }
            SoacOperation::Map(width, arrays, function) => {
                let (width, arrays) = (self.operand(*width), self.operands(arrays));
                write!(self.out, "map {width} ({arrays})")?;
                self.print_lambda(function)
            }
            SoacOperation::Reduce(width, arrays, neutral, function, order) => {
                let name = reduction_name(*order);
                let (width, arrays) = (self.operand(*width), self.operands(arrays));
                let neutral = self.operands(neutral);
                write!(self.out, "{name} {width} ({arrays}) ({neutral})")?;
                self.print_lambda(function)
            }
            SoacOperation::Scan(width, arrays, neutral, function) => {
                let (width, arrays) = (self.operand(*width), self.operands(arrays));
                let neutral = self.operands(neutral);
                write!(self.out, "scan {width} ({arrays}) ({neutral})")?;
                self.print_lambda(function)
            }
            SoacOperation::Scatter(array, positions, values) => {
                let operands = self.operands(&[*array, *positions, *values]);
                write!(self.out, "scatter({operands})")
            }
            SoacOperation::Histogram(histogram) => self.print_histogram(histogram),
            SoacOperation::Accumulate(accumulator, position, values) => {
                let (accumulator, position) = (self.name(*accumulator), self.operand(*position));
                let values = self.operands(values);
                write!(self.out, "accumulate {accumulator}[{position}] ({values})")
            }
            SoacOperation::WithAccumulators(accumulation) => self.print_accumulation(accumulation),
            SoacOperation::Fused(fused) => self.print_fused(fused),
            SoacOperation::Call(function, arguments) => {
                let arguments = arguments.iter().map(|argument| match argument.ownership {
                    ArgumentOwnership::Lent => self.operand(argument.operand),
                    ArgumentOwnership::Consumed => format!("*{}", self.operand(argument.operand)),
                });
                let arguments = arguments.collect::<Vec<_>>().join(", ");
                write!(self.out, "call {function:?} ({arguments})")
            }
        }
    }

    fn print_check(&mut self, condition: SoacOperand, message: &SoacMessage) -> fmt::Result {
        let condition = self.operand(condition);
        write!(self.out, "check({condition}")?;
        for part in &message.parts {
            match part {
                SoacMessagePart::Text(text) => write!(self.out, ", {text:?}")?,
                SoacMessagePart::Value(value) => {
                    let value = self.operand(*value);
                    write!(self.out, ", {value}")?;
                }
            }
        }
        if !message.places.is_empty() {
            write!(self.out, " at {:?}", message.places)?;
        }
        self.out.push(')');
        Ok(())
    }

    fn print_histogram(&mut self, histogram: &SoacHistogram) -> fmt::Result {
        let targets = self.operands(&histogram.targets);
        let neutral = self.operands(&histogram.neutral);
        let positions = self.operand(histogram.positions);
        let values = self.operands(&histogram.values);
        write!(
            self.out,
            "histogram ({targets}) ({neutral}) {positions} ({values})"
        )?;
        self.print_lambda(&histogram.function)
    }

    fn print_accumulation(&mut self, accumulation: &SoacAccumulation) -> fmt::Result {
        self.out.push_str("with_accumulators ");
        self.print_accumulators(&accumulation.accumulators)?;
        self.out.push(' ');
        self.print_nested(&accumulation.body)
    }

    fn print_accumulators(&mut self, accumulators: &[SoacAccumulator]) -> fmt::Result {
        self.out.push('(');
        for (index, accumulator) in accumulators.iter().enumerate() {
            let separator = if index > 0 { ", " } else { "" };
            let (name, targets) = (
                self.name(accumulator.variable),
                self.operands(&accumulator.targets),
            );
            write!(self.out, "{separator}{name} = ({targets})")?;
            if let Some(combine) = &accumulator.combine {
                self.print_lambda(combine)?;
            }
        }
        self.out.push(')');
        Ok(())
    }

    fn print_fused(&mut self, fused: &SoacFusedMap) -> fmt::Result {
        let (width, arrays) = (self.operand(fused.width), self.operands(&fused.arrays));
        write!(self.out, "fused {width} ({arrays})")?;
        self.print_lambda(&fused.function)?;
        self.out.push_str(" into ");
        match &fused.sink {
            FusedSink::Reduce(fold, order) => {
                self.out.push_str(reduction_name(*order));
                self.print_fold(fold)
            }
            FusedSink::Scan(fold) => {
                self.out.push_str("scan");
                self.print_fold(fold)
            }
            FusedSink::Scatter(targets) => {
                let targets = self.operands(targets);
                write!(self.out, "scatter ({targets})")
            }
            FusedSink::Histogram(targets, fold) => {
                let targets = self.operands(targets);
                write!(self.out, "histogram ({targets})")?;
                self.print_fold(fold)
            }
        }
    }

    fn print_fold(&mut self, fold: &SoacFold) -> fmt::Result {
        let neutral = self.operands(&fold.neutral);
        write!(self.out, " ({neutral})")?;
        self.print_lambda(&fold.function)
    }

    /// Prints a loop up to its body.
    fn print_loop_head(
        &mut self,
        parameters: &[(SoacVariableId, SoacOperand)],
        form: SoacLoopForm,
    ) -> fmt::Result {
        self.out.push_str("loop (");
        for (index, (parameter, initial)) in parameters.iter().enumerate() {
            let separator = if index > 0 { ", " } else { "" };
            self.out.push_str(separator);
            self.print_bindings(&[*parameter])?;
            let initial = self.operand(*initial);
            write!(self.out, " = {initial}")?;
        }
        match form {
            SoacLoopForm::For(counter, bound) => {
                self.out.push_str(") for ");
                self.print_bindings(&[counter])?;
                let bound = self.operand(bound);
                write!(self.out, " < {bound} do ")
            }
            SoacLoopForm::While(position) => {
                let condition = self.name(parameters[position].0);
                write!(self.out, ") while {condition} do ")
            }
        }
    }
}

/// The name of a reduction.
fn reduction_name(order: ReductionOrder) -> &'static str {
    match order {
        ReductionOrder::Ordered => "reduce",
        ReductionOrder::Commutative => "reduce_comm",
    }
}
