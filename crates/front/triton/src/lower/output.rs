//! Output of kernels: values that are printed, and assertions.

use super::binding::TileLowering;
use super::fault;
use crate::TritonResult;
use crate::emit::{emit_promoted, value_type};
use crate::ir::{TileElement, TileOperation, ValueId};

/// The variadic function of OpenCL C.
const PRINTF: &str = "declare spir_func i32 @printf(ptr addrspace(2), ...)";

impl<'m> TileLowering<'m, '_> {
    /// Lowers `tt.print`: a line for each element, with the program and the index.
    pub fn lower_print(&mut self, operation: &'m TileOperation) -> TritonResult<()> {
        let prefix = operation.word_at(0).unwrap_or_default().to_owned();
        if operation.operands.is_empty() {
            return self.emit_alone(&mut |lowering| lowering.emit_line(&prefix, None, &[]));
        }
        for operand in &operation.operands {
            match &self.type_of(*operand).shape {
                None => self
                    .emit_alone(&mut |lowering| lowering.emit_line(&prefix, Some(*operand), &[]))?,
                Some(shape) => self.for_each_element(shape, &mut |lowering, index| {
                    lowering.emit_line(&prefix, Some(*operand), index)
                })?,
            }
        }
        Ok(())
    }

    /// Emits one line of output.
    fn emit_line(
        &mut self,
        prefix: &str,
        operand: Option<ValueId>,
        index: &[String],
    ) -> TritonResult<()> {
        let mut format = "pid (%d, %d, %d)".to_owned();
        let mut arguments = String::new();
        for axis in ["0", "1", "2"] {
            let text = &mut self.kernel.text;
            let id = text.call("i64", "_Z12get_group_idj", &[("i32", axis)]);
            let id = text.compute(format!("trunc i64 {id} to i32"));
            arguments += &format!(", i32 {id}");
        }
        if !index.is_empty() {
            format += " idx (";
            format += &vec!["%d"; index.len()].join(", ");
            format += ")";
            for position in index {
                arguments += &format!(", i32 {position}");
            }
        }
        format += &prefix.replace('%', "%%");
        if let Some(operand) = operand {
            let element = self.type_of(operand).element.clone();
            let value = self.evaluate(operand, index)?;
            let (specifier, ty, value) = self.promote(&element, &value);
            format += specifier;
            arguments += &format!(", {ty} {value}");
        }
        format += "\n";
        let text = &mut self.kernel.text;
        let name = text.make_string(&format);
        text.declare(PRINTF);
        text.compute(format!(
            "call spir_func i32 (ptr addrspace(2), ...) @printf(ptr addrspace(2) {name}{arguments})"
        ));
        Ok(())
    }

    /// The format of a value, and the value in a type that variadic functions take.
    fn promote(
        &mut self,
        element: &TileElement,
        value: &str,
    ) -> (&'static str, &'static str, String) {
        let text = &mut self.kernel.text;
        match element {
            TileElement::Integer(64) => ("%ld", "i64", value.to_owned()),
            TileElement::Integer(32) => ("%d", "i32", value.to_owned()),
            TileElement::Integer(bits) => {
                let extension = if *bits == 1 { "zext" } else { "sext" };
                let wide = text.compute(format!("{extension} i{bits} {value} to i32"));
                ("%d", "i32", wide)
            }
            TileElement::Float(format) => ("%f", "double", emit_promoted(text, value, *format)),
            TileElement::Pointer(_) => {
                let ty = value_type(element);
                (
                    "0x%lx",
                    "i64",
                    text.compute(format!("ptrtoint {ty} {value} to i64")),
                )
            }
        }
    }

    /// Lowers `tt.assert`: a message for each element that does not hold. The caller of the kernel finds the message in its
    /// output.
    pub fn lower_assert(&mut self, operation: &'m TileOperation) -> TritonResult<()> {
        let Some(condition) = operation.operands.first().copied() else {
            return Err(fault(&operation.place, "malformed tt.assert"));
        };
        let message = operation.word_at(0).unwrap_or_default();
        let place = operation.place.source.as_deref().unwrap_or("kernel");
        let line = format!(": {place}: assertion failed: {message}");
        let shape = self.type_of(condition).dimensions();
        let mut body = |lowering: &mut Self, index: &[String]| {
            let holds = lowering.evaluate(condition, index)?;
            let fails = lowering
                .kernel
                .text
                .compute(format!("xor i1 {holds}, true"));
            lowering.emit_if(&fails, &mut |lowering| {
                lowering.emit_line(&line, None, index)
            })
        };
        if shape.is_empty() {
            return self.emit_alone(&mut |lowering| body(lowering, &[]));
        }
        self.for_each_element(shape, &mut body)
    }
}
