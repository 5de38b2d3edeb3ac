//! The text form of vectors, fragments and shuffles.
//!
//! ```text
//! (%x, %y) = load vector f32 %m[%at]
//! store vector f32 %m[%at], %x, %y
//! var %a: fragment f16 left 16 16
//! clear %c
//! %a = load fragment f16 %tile[%at], rows 40i64
//! store fragment f32 %tile[%at], rows 16i64, %c
//! %c = accumulate %a, %b
//! ```

use super::parse::KernelParser;
use super::print::{KernelPrinter, name_of, put};
use crate::ir::{
    ExprId, FragmentAddress, FragmentElement, FragmentOp, FragmentOrder, FragmentRole,
    FragmentType, MemoryElement, StmtKind, VarId, VariableType,
};
use spirula_diagnostics::SourceDiagnostic;

impl KernelPrinter<'_> {
    pub(super) fn fragment_type(&mut self, fragment: FragmentType) {
        let number = name_of(&FragmentElement::NAMES, fragment.number);
        let role = name_of(&FragmentRole::NAMES, fragment.role);
        let FragmentType { rows, columns, .. } = fragment;
        put!(self, "fragment {number} {role} {rows} {columns}");
    }

    pub(super) fn read_vector(&mut self, to: &[VarId], from: &MemoryElement) {
        self.out.push('(');
        self.print_list(to, |printer, var| printer.print_var(*var));
        self.out.push_str(") = load vector ");
        self.print_element(from);
    }

    pub(super) fn write_vector(&mut self, to: &MemoryElement, values: &[ExprId]) {
        self.out.push_str("store vector ");
        self.print_element(to);
        for value in values {
            self.out.push_str(", ");
            self.print_expr(*value);
        }
    }

    pub(super) fn print_fragment_op(&mut self, op: &FragmentOp) {
        match op {
            FragmentOp::Clear(var) => {
                self.out.push_str("clear ");
                self.print_var(*var);
            }
            FragmentOp::Load { to, from } => {
                self.print_target(*to);
                self.out.push_str("load fragment ");
                self.print_fragment_address(from);
            }
            FragmentOp::Store { to, from } => {
                self.out.push_str("store fragment ");
                self.print_fragment_address(to);
                self.out.push_str(", ");
                self.print_var(*from);
            }
            FragmentOp::Accumulate { to, factors } => {
                self.print_target(*to);
                self.out.push_str("accumulate ");
                self.print_var(factors[0]);
                self.out.push_str(", ");
                self.print_var(factors[1]);
            }
        }
    }

    fn print_fragment_address(&mut self, patch: &FragmentAddress) {
        self.print_element(&patch.first);
        put!(self, ", {} ", name_of(&FragmentOrder::NAMES, patch.order));
        self.print_expr(patch.stride);
    }
}

impl KernelParser {
    pub(super) fn fragment_type(&mut self) -> Result<VariableType, SourceDiagnostic> {
        let fault = self.fault_here("expected f16, bf16, f32, i8, u8 or i32");
        let number = self.one_of(&FragmentElement::NAMES).ok_or(fault)?;
        let fault = self.fault_here("expected left, right or sum");
        let role = self.one_of(&FragmentRole::NAMES).ok_or(fault)?;
        Ok(VariableType::Fragment(FragmentType {
            number,
            role,
            rows: self.parse_number()?,
            columns: self.parse_number()?,
        }))
    }

    /// Parses the rest of a vector load, after `(%x, %y) = load vector`.
    pub(super) fn read_vector(&mut self, to: Vec<VarId>) -> Result<(), SourceDiagnostic> {
        let from = self.parse_element()?;
        let to = to.into_boxed_slice();
        self.builder
            .push_statement(StmtKind::ReadVector { to, from });
        Ok(())
    }

    /// Parses the rest of a vector store, after `store vector`.
    pub(super) fn write_vector(&mut self) -> Result<(), SourceDiagnostic> {
        let to = self.parse_element()?;
        let mut values = Vec::new();
        while self.eat_mark(",") {
            values.push(self.parse_expr()?);
        }
        let values = values.into_boxed_slice();
        self.builder
            .push_statement(StmtKind::WriteVector { to, values });
        Ok(())
    }

    /// Parses the rest of a clear, after `clear`.
    pub(super) fn parse_clear(&mut self) -> Result<(), SourceDiagnostic> {
        let var = self.parse_var()?;
        self.push_fragment(FragmentOp::Clear(var));
        Ok(())
    }

    /// Parses the rest of a fragment load, after `%a = load fragment`.
    pub(super) fn load_fragment(&mut self, to: VarId) -> Result<(), SourceDiagnostic> {
        let from = self.parse_fragment_address()?;
        self.push_fragment(FragmentOp::Load { to, from });
        Ok(())
    }

    /// Parses the rest of a fragment store, after `store fragment`.
    pub(super) fn store_fragment(&mut self) -> Result<(), SourceDiagnostic> {
        let to = self.parse_fragment_address()?;
        self.expect_mark(",")?;
        let from = self.parse_var()?;
        self.push_fragment(FragmentOp::Store { to, from });
        Ok(())
    }

    /// Parses the rest of a multiplication, after `%c = accumulate`.
    pub(super) fn parse_accumulate(&mut self, to: VarId) -> Result<(), SourceDiagnostic> {
        let left = self.parse_var()?;
        self.expect_mark(",")?;
        let factors = [left, self.parse_var()?];
        self.push_fragment(FragmentOp::Accumulate { to, factors });
        Ok(())
    }

    fn push_fragment(&mut self, op: FragmentOp) {
        self.builder
            .push_statement(StmtKind::Fragment(Box::new(op)));
    }

    fn parse_fragment_address(&mut self) -> Result<FragmentAddress, SourceDiagnostic> {
        let first = self.parse_element()?;
        self.expect_mark(",")?;
        let fault = self.fault_here("expected rows or columns");
        let order = self.one_of(&FragmentOrder::NAMES).ok_or(fault)?;
        let stride = self.parse_expr()?;
        Ok(FragmentAddress {
            first,
            order,
            stride,
        })
    }
}
