//! Operations: by instructions of WebAssembly where these have the same results, else by the host.

use super::{FunctionEmitter, StepOperand};
use crate::operation::{OperationName, ScalarOperation};
use crate::wasm::host::HostedOperation;
use crate::wasm::value_class::ValueClass;
use spirula_scalar::FloatEncoding;
use spirula_scalar::fold::FoldType;
use spirula_spirv::grammar::Op;

/// The operands of an operation; those that it does not have are any others.
pub(super) type StepOperands = [StepOperand; 4];

impl FunctionEmitter<'_, '_> {
    /// Emits an operation, and returns the class of the result on the stack. `wanted` is the class that suits best.
    pub(super) fn emit_operation(
        &mut self,
        operation: &ScalarOperation,
        operands: StepOperands,
        wanted: ValueClass,
    ) -> ValueClass {
        if operation.name == OperationName::Core(Op::Select) {
            let [condition, first, second, _] = operands;
            self.push(first, wanted);
            self.push(second, wanted);
            self.push(condition, ValueClass::I32);
            self.sink().i32_const(1).i32_and().select();
            return wanted;
        }
        let made = match operation.operand {
            FoldType::Float(FloatEncoding::F32 | FloatEncoding::F64) => {
                self.emit_float_operation(operation, operands)
            }
            FoldType::Float(_) => None,
            FoldType::Bool => self.emit_logical_operation(operation, operands),
            FoldType::Int { width } if matches!(width, 8 | 16 | 32 | 64) => {
                self.emit_integer_operation(operation, width, operands)
            }
            FoldType::Int { .. } => None,
        };
        made.unwrap_or_else(|| self.call_host(HostedOperation::Scalar(*operation), &operands))
    }

    /// Operations on truth values, of which bit 0 counts.
    fn emit_logical_operation(
        &mut self,
        operation: &ScalarOperation,
        [a, b, ..]: StepOperands,
    ) -> Option<ValueClass> {
        let OperationName::Core(op) = operation.name else {
            return None;
        };
        if !matches!(
            op,
            Op::LogicalAnd
                | Op::LogicalOr
                | Op::LogicalEqual
                | Op::LogicalNotEqual
                | Op::LogicalNot
        ) {
            return None;
        }
        self.push(a, ValueClass::I32);
        if op != Op::LogicalNot {
            self.push(b, ValueClass::I32);
        }
        let mut sink = self.sink();
        match op {
            Op::LogicalAnd => sink.i32_and(),
            Op::LogicalOr => sink.i32_or(),
            Op::LogicalNotEqual => sink.i32_xor(),
            Op::LogicalEqual => sink.i32_xor().i32_const(1).i32_xor(),
            _ => sink.i32_const(1).i32_xor(),
        };
        sink.i32_const(1).i32_and();
        Some(ValueClass::I32)
    }
}
