//! The state of the lowering of the host's functions, and its expressions.

use crate::ir::{ExprData, ExprId, FuncId, KernelProgram, VarId};
use crate::lower::{LoweredKernel, unsupported_diagnostic};
use rustc_hash::FxHashMap;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_program::program::{HostFunction, HostMemoryRef, HostRegister, HostSlot, HostStep};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};
use std::sync::Arc;

/// The state of the lowering of the host's functions.
pub(super) struct HostStepLowering<'a> {
    pub(super) program: &'a KernelProgram,
    pub(super) lowered: &'a [Result<LoweredKernel, SourceDiagnostic>],
    /// For each kernel of the program, its index in the result.
    pub(super) kernel_ids: Vec<usize>,
    /// Slots of the variables of the current function.
    pub(super) slots: FxHashMap<VarId, HostSlot>,
    pub(super) globals: FxHashMap<VarId, HostSlot>,
    pub(super) function: HostFunction,
    pub(super) data: Vec<Arc<[u8]>>,
    pub(super) place: SourceLocation,
    /// The invocation that is being lowered, if the host runs a kernel itself.
    pub(super) invocation: Option<HostInvocation>,
}

impl HostStepLowering<'_> {
    pub(super) fn begin_function(&mut self) {
        self.slots = self.globals.clone();
        self.function = HostFunction::default();
    }

    pub(super) fn lower_function(
        &mut self,
        function: FuncId,
    ) -> Result<HostFunction, SourceDiagnostic> {
        self.begin_function();
        let data = self.program.function(function);
        self.function.inputs = data.inputs.iter().map(|v| self.slot_of_var(*v)).collect();
        self.function.outputs = data.outputs.iter().map(|v| self.slot_of_var(*v)).collect();
        if let Some(body) = data.body {
            self.lower_block(body)?;
        }
        Ok(self.function.clone())
    }

    pub(super) fn slot_of_var(&mut self, var: VarId) -> HostSlot {
        if let Some(slot) = self.slots.get(&var) {
            return *slot;
        }
        let slot = match self.program.scalar_type(var) {
            Some(_) => HostSlot::Scalar(self.new_temporary()),
            None => HostSlot::Memory(HostMemoryRef(take_number(&mut self.function.memories))),
        };
        self.slots.insert(var, slot);
        slot
    }

    pub(super) fn new_temporary(&mut self) -> HostRegister {
        HostRegister(take_number(&mut self.function.scalars))
    }

    pub(super) fn scalar_register(&mut self, var: VarId) -> Result<HostRegister, SourceDiagnostic> {
        match self.slot_of_var(var) {
            HostSlot::Scalar(reg) => Ok(reg),
            HostSlot::Memory(_) => Err(self.unsupported_diagnostic("memory as a value")),
        }
    }

    pub(super) fn memory_reference(
        &mut self,
        var: VarId,
    ) -> Result<HostMemoryRef, SourceDiagnostic> {
        match self.slot_of_var(var) {
            HostSlot::Memory(mem) => Ok(mem),
            HostSlot::Scalar(_) => Err(self.unsupported_diagnostic("a scalar as memory")),
        }
    }

    pub(super) fn unsupported_diagnostic(&self, construct: &str) -> SourceDiagnostic {
        unsupported_diagnostic(self.place, construct)
    }

    pub(super) fn push_step(&mut self, step: HostStep) {
        self.function.steps.push(step);
    }

    /// The register that holds the value of an expression.
    pub(super) fn lower_expr(&mut self, expr: ExprId) -> Result<HostRegister, SourceDiagnostic> {
        let program = self.program;
        match program.expr(expr) {
            ExprData::Var(var) => self.scalar_register(var),
            ExprData::Literal(literal) => Ok(self.set_literal(literal)),
            ExprData::Apply(operator, start) => {
                let mut operands = [HostRegister(0); 3];
                for (to, operand) in operands.iter_mut().zip(program.operands(operator, start)) {
                    *to = self.lower_expr(*operand)?;
                }
                Ok(self.apply_operator(operator, operands))
            }
            ExprData::Parameter(param) => {
                let to = self.new_temporary();
                self.push_step(HostStep::Parameter(to, param.index()));
                Ok(to)
            }
            ExprData::Limit(limit) => {
                let to = self.new_temporary();
                self.push_step(HostStep::Limit(to, limit.index()));
                Ok(to)
            }
        }
    }

    pub(super) fn set_literal(&mut self, literal: ScalarLiteral) -> HostRegister {
        let to = self.new_temporary();
        self.push_step(HostStep::Set(to, literal.bits));
        to
    }

    pub(super) fn apply_operator(
        &mut self,
        operator: ScalarOperator,
        operands: [HostRegister; 3],
    ) -> HostRegister {
        let to = self.new_temporary();
        self.push_step(HostStep::Apply(operator, to, operands));
        to
    }

    /// Applies an operator to two `i64`s.
    pub(super) fn apply_i64_op(
        &mut self,
        op: ScalarOp,
        a: HostRegister,
        b: HostRegister,
    ) -> HostRegister {
        self.apply_operator(ScalarOperator::with_type(op, ScalarType::I64), [a, b, b])
    }

    pub(super) fn lower_exprs(
        &mut self,
        exprs: &[ExprId],
    ) -> Result<Vec<HostRegister>, SourceDiagnostic> {
        exprs.iter().map(|expr| self.lower_expr(*expr)).collect()
    }
}

/// The invocation that the host runs, as registers of 32 bits.
#[derive(Clone, Copy)]
pub(super) struct HostInvocation {
    pub group: HostRegister,
    pub local: HostRegister,
    pub size: HostRegister,
}

/// Takes the next number of a counter.
pub(super) fn take_number(number: &mut u32) -> u32 {
    *number += 1;
    *number - 1
}
