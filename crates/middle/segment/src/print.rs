//! Functions as text. The type of an index of a space, which is an `i64`, is not printed.

use crate::ir::{
    HostOperation, ParallelOperation, SegmentBody, SegmentFold, SegmentFunction, SegmentKind,
    SegmentStatement,
};
use spirula_soac::ir::{SoacFunction, SoacOperand, SoacStatement, SoacVariableId};
use spirula_soac::print::{
    format_accumulators, format_bindings, format_body, format_lambda, format_loop_head,
    format_operands, format_statement,
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
                let head = format_loop_head(self.signature, parameters, *form);
                self.out.push_str(&head);
                self.print_nested(body)?;
            }
            HostOperation::WithAccumulators(accumulators, body) => {
                let accumulators = format_accumulators(self.signature, accumulators, self.depth);
                write!(self.out, "with_accumulators {accumulators} ")?;
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
        if matches!(
            operation.kind,
            SegmentKind::Histogram(_) | SegmentKind::Scatter(_)
        ) {
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
