//! Functions as text.

use crate::ir::{
    HostOperation, ParallelOperation, SegmentBody, SegmentFold, SegmentFunction, SegmentKind,
    SegmentStatement,
};
use spirula_soac::ir::{
    SoacAccumulator, SoacFunction, SoacLoopForm, SoacOperand, SoacStatement, SoacVariableId,
};
use spirula_soac::print::{
    format_bindings, format_body, format_lambda, format_operands, format_statement,
};
use std::fmt::{self, Write as _};

impl fmt::Display for SegmentFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = SegmentPrinter {
            signature: &self.signature,
            out: String::new(),
            depth: 1,
        };
        let parameters = format_bindings(&self.signature, &self.signature.parameters);
        writeln!(printer.out, "fun {} ({parameters}) =", self.signature.name)?;
        printer.print_body(&self.body)?;
        f.write_str(&printer.out)?;
        for (id, callee) in self.callees.iter() {
            write!(f, "with {id:?}: {callee}")?;
        }
        Ok(())
    }
}

/// State of the printer.
struct SegmentPrinter<'f> {
    signature: &'f SoacFunction,
    out: String,
    depth: usize,
}

impl SegmentPrinter<'_> {
    fn operand(&self, operand: SoacOperand) -> String {
        format_operands(self.signature, &[operand])
    }

    fn name(&self, id: SoacVariableId) -> String {
        self.operand(SoacOperand::Variable(id))
    }

    fn indent(&mut self) {
        self.out.push_str(&"  ".repeat(self.depth));
    }

    fn print_body(&mut self, body: &SegmentBody) -> fmt::Result {
        for statement in &body.statements {
            self.print_statement(statement)?;
        }
        self.indent();
        let results = format_operands(self.signature, &body.results);
        writeln!(self.out, "in ({results})")
    }

    fn print_nested(&mut self, body: &SegmentBody) -> fmt::Result {
        self.out.push_str("{\n");
        self.depth += 1;
        self.print_body(body)?;
        self.depth -= 1;
        self.indent();
        self.out.push('}');
        Ok(())
    }

    fn print_statement(&mut self, statement: &SegmentStatement) -> fmt::Result {
        if let HostOperation::Plain(operation) = &statement.operation {
            let plain = SoacStatement {
                results: statement.results.clone(),
                certificates: statement.certificates.clone(),
                operation: operation.clone(),
            };
            self.out
                .push_str(&format_statement(self.signature, &plain, self.depth));
            return Ok(());
        }
        self.indent();
        let results = format_bindings(self.signature, &statement.results);
        write!(self.out, "let ({results}) = ")?;
        if !statement.certificates.is_empty() {
            let names: Vec<_> = statement
                .certificates
                .iter()
                .map(|&id| self.name(id))
                .collect();
            write!(self.out, "#{{{}}} ", names.join(", "))?;
        }
        match &statement.operation {
            HostOperation::Plain(_) => {}
            HostOperation::If(condition, accept, reject) => {
                let condition = self.operand(*condition);
                write!(self.out, "if {condition} then ")?;
                self.print_nested(accept)?;
                self.out.push_str(" else ");
                self.print_nested(reject)?;
            }
            HostOperation::Loop(parameters, form, body) => {
                self.print_loop(parameters, *form, body)?;
            }
            HostOperation::WithAccumulators(accumulators, body) => {
                self.print_accumulators(accumulators)?;
                self.print_nested(body)?;
            }
            HostOperation::Parallel(operation) => self.print_parallel(operation)?,
            HostOperation::Grouped(operation, otherwise) => {
                self.out.push_str("by workgroups ");
                self.print_parallel(operation)?;
                self.out.push_str(" else ");
                self.print_nested(otherwise)?;
            }
        }
        self.out.push('\n');
        Ok(())
    }

    fn print_loop(
        &mut self,
        parameters: &[(SoacVariableId, SoacOperand)],
        form: SoacLoopForm,
        body: &SegmentBody,
    ) -> fmt::Result {
        self.out.push_str("loop (");
        for (index, (parameter, initial)) in parameters.iter().enumerate() {
            let separator = if index > 0 { ", " } else { "" };
            let binding = format_bindings(self.signature, &[*parameter]);
            let initial = self.operand(*initial);
            write!(self.out, "{separator}{binding} = {initial}")?;
        }
        match form {
            SoacLoopForm::For(counter, bound) => {
                let counter = format_bindings(self.signature, &[counter]);
                let bound = self.operand(bound);
                write!(self.out, ") for {counter} < {bound} do ")?;
            }
            SoacLoopForm::While(position) => {
                let condition = self.name(parameters[position].0);
                write!(self.out, ") while {condition} do ")?;
            }
        }
        self.print_nested(body)
    }

    fn print_accumulators(&mut self, accumulators: &[SoacAccumulator]) -> fmt::Result {
        self.out.push_str("with_accumulators");
        for accumulator in accumulators {
            let name = self.name(accumulator.variable);
            let targets = format_operands(self.signature, &accumulator.targets);
            write!(self.out, " {name} ({targets})")?;
            if let Some(function) = &accumulator.combine {
                self.out
                    .push_str(&format_lambda(self.signature, function, self.depth));
            }
        }
        self.out.push(' ');
        Ok(())
    }

    fn print_parallel(&mut self, operation: &ParallelOperation) -> fmt::Result {
        let name = match operation.kind {
            SegmentKind::Map => "segmap",
            SegmentKind::Reduce(_) => "segred",
            SegmentKind::Scan(_) => "segscan",
            SegmentKind::Histogram(_) => "seghist",
            SegmentKind::Scatter(_) => "segscatter",
        };
        self.out.push_str(name);
        for dimension in &operation.space {
            let (index, size) = (self.name(dimension.index), self.operand(dimension.size));
            write!(self.out, " [{index} < {size}]")?;
        }
        if !operation.targets().is_empty() {
            let targets = format_operands(self.signature, operation.targets());
            write!(self.out, " into ({targets})")?;
        }
        if let Some(fold) = operation.fold() {
            self.print_fold(fold)?;
        }
        self.out.push_str(" {\n");
        let body = format_body(self.signature, &operation.body, self.depth + 1);
        self.out.push_str(&body);
        self.indent();
        self.out.push('}');
        Ok(())
    }

    fn print_fold(&mut self, fold: &SegmentFold) -> fmt::Result {
        let order = if fold.is_commutative { "comm " } else { "" };
        let neutral = format_operands(self.signature, &fold.neutral);
        write!(self.out, " {order}({neutral})")?;
        self.out
            .push_str(&format_lambda(self.signature, &fold.function, self.depth));
        Ok(())
    }
}
