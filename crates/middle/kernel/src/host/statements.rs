//! Lowering of the host's statements to steps.

use super::context::HostStepLowering;
use crate::ir::{
    CallStmt, CopyOperand, CopyStmt, ForeignStmt, FuncArgument, MessageId, MessageSegment,
    StaticData, StmtBlock, StmtKind, VarId, VariableType,
};
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::program::{
    ForeignStep, HostMemoryRef, HostRegister, HostSlot, HostStep, StridedCopy,
};

/// Largest constant data, in bytes.
const MOST_STATIC_BYTES: u64 = 1 << 30;

impl HostStepLowering<'_> {
    pub(super) fn lower_block(&mut self, block: StmtBlock) -> Result<(), SourceDiagnostic> {
        let program = self.program;
        for stmt in program.block_stmts(block) {
            self.place = stmt.place;
            self.lower_statement(&stmt.kind)?;
        }
        Ok(())
    }

    fn lower_statement(&mut self, stmt: &StmtKind) -> Result<(), SourceDiagnostic> {
        match stmt {
            StmtKind::Declare(var) => self.lower_declaration(*var)?,
            StmtKind::Assign { to, value } => {
                let value = self.lower_expr(*value)?;
                let to = self.scalar_register(*to)?;
                self.push_step(HostStep::Move(to, value));
            }
            StmtKind::Alias { to, from } => {
                let (to, from) = (self.memory_reference(*to)?, self.memory_reference(*from)?);
                self.push_step(HostStep::Refer(to, from));
            }
            StmtKind::Alloc { to, bytes } => {
                let bytes = self.lower_expr(*bytes)?;
                let to = self.memory_reference(*to)?;
                self.push_step(HostStep::Allocate(to, bytes));
            }
            StmtKind::Free(var) => {
                let mem = self.memory_reference(*var)?;
                self.push_step(HostStep::Forget(mem));
            }
            StmtKind::IsUnique { to, memory } => {
                let memory = self.memory_reference(*memory)?;
                let to = self.scalar_register(*to)?;
                self.push_step(HostStep::IsUnique(to, memory));
            }
            StmtKind::Static { to, data } => self.lower_static(*to, data)?,
            StmtKind::Read { to, from } => {
                let index = self.lower_expr(from.index)?;
                let memory = self.memory_reference(from.memory)?;
                let to = self.scalar_register(*to)?;
                self.push_step(HostStep::Read(to, memory, from.ty, index));
            }
            StmtKind::Write { to, value } => {
                let index = self.lower_expr(to.index)?;
                let value = self.lower_expr(*value)?;
                let memory = self.memory_reference(to.memory)?;
                self.push_step(HostStep::Write(memory, to.ty, index, value));
            }
            StmtKind::Copy(copy) => self.lower_copy(copy)?,
            StmtKind::Call(call) => self.lower_call(call)?,
            StmtKind::Foreign(call) => self.lower_foreign(call)?,
            StmtKind::Assert { condition, message } => {
                let condition = self.lower_expr(*condition)?;
                let values = self.lower_message_values(*message)?;
                self.push_step(HostStep::Assert(condition, message.index(), values));
            }
            StmtKind::Trace(message) => {
                let values = self.lower_message_values(*message)?;
                self.push_step(HostStep::Trace(message.index(), values));
            }
            StmtKind::Launch(kernel) => self.lower_launch(*kernel)?,
            StmtKind::If { .. } | StmtKind::For { .. } | StmtKind::While { .. } => {
                self.lower_control_flow(stmt)?;
            }
            StmtKind::Position {
                to,
                part,
                dimension,
            } => {
                let value = self.position_register(*part, *dimension)?;
                let to = self.scalar_register(*to)?;
                self.push_step(HostStep::Move(to, value));
            }
            StmtKind::Sync { .. } if self.invocation.is_some() => {}
            StmtKind::Sync { .. }
            | StmtKind::Shuffle { .. }
            | StmtKind::Atomic(_)
            | StmtKind::ReadVector { .. }
            | StmtKind::WriteVector { .. }
            | StmtKind::Fragment(_) => {
                return Err(self.unsupported_diagnostic("a statement of kernels on the host"));
            }
        }
        Ok(())
    }

    fn lower_static(&mut self, to: VarId, data: &StaticData) -> Result<(), SourceDiagnostic> {
        let to = self.memory_reference(to)?;
        let bytes = static_bytes(data)
            .ok_or_else(|| self.unsupported_diagnostic("so much constant data"))?;
        self.data.push(bytes.into());
        self.push_step(HostStep::Data(to, self.data.len() - 1));
        Ok(())
    }

    fn lower_declaration(&mut self, var: VarId) -> Result<(), SourceDiagnostic> {
        match self.program.var(var).ty {
            VariableType::Memory(_) => {
                let mem = self.memory_reference(var)?;
                self.push_step(HostStep::Forget(mem));
                Ok(())
            }
            VariableType::Scalar(_) => Ok(()),
            VariableType::Array(_) | VariableType::Fragment(_) => {
                Err(self.unsupported_diagnostic("a private array of the host"))
            }
        }
    }

    fn lower_copy(&mut self, copy: &CopyStmt) -> Result<(), SourceDiagnostic> {
        let step = StridedCopy {
            size: copy.ty.size(),
            shape: self.lower_exprs(&copy.shape)?,
            to: self.lower_copy_operand(&copy.to)?,
            from: self.lower_copy_operand(&copy.from)?,
        };
        self.push_step(HostStep::Copy(Box::new(step)));
        Ok(())
    }

    fn lower_copy_operand(
        &mut self,
        side: &CopyOperand,
    ) -> Result<(HostMemoryRef, HostRegister, Vec<HostRegister>), SourceDiagnostic> {
        let memory = self.memory_reference(side.memory)?;
        Ok((
            memory,
            self.lower_expr(side.offset)?,
            self.lower_exprs(&side.strides)?,
        ))
    }

    fn lower_call(&mut self, call: &CallStmt) -> Result<(), SourceDiagnostic> {
        let inputs = self.lower_arguments(&call.inputs)?;
        let outputs = call.outputs.iter().map(|v| self.slot_of_var(*v)).collect();
        self.push_step(HostStep::Call(call.function.index(), inputs, outputs));
        Ok(())
    }

    fn lower_foreign(&mut self, call: &ForeignStmt) -> Result<(), SourceDiagnostic> {
        let inputs = self.lower_arguments(&call.inputs)?;
        let outputs = call.outputs.iter().map(|v| self.slot_of_var(*v)).collect();
        self.push_step(HostStep::Foreign(Box::new(ForeignStep {
            signature: call.signature.clone(),
            inputs,
            outputs,
        })));
        Ok(())
    }

    fn lower_arguments(
        &mut self,
        arguments: &[FuncArgument],
    ) -> Result<Vec<HostSlot>, SourceDiagnostic> {
        let lowered = arguments.iter().map(|argument| match *argument {
            FuncArgument::Scalar(expr) => Ok(HostSlot::Scalar(self.lower_expr(expr)?)),
            FuncArgument::Memory(var) => Ok(HostSlot::Memory(self.memory_reference(var)?)),
        });
        lowered.collect()
    }

    fn lower_message_values(
        &mut self,
        message: MessageId,
    ) -> Result<Vec<HostRegister>, SourceDiagnostic> {
        let program = self.program;
        let parts = program.message(message).parts.iter();
        let values = parts.filter_map(|part| match part {
            MessageSegment::Value(expr) => Some(*expr),
            MessageSegment::Text(_) => None,
        });
        values.map(|expr| self.lower_expr(expr)).collect()
    }
}

fn static_bytes(data: &StaticData) -> Option<Vec<u8>> {
    let size = data.ty.size() as usize;
    let mut bytes = Vec::new();
    for value in &data.values {
        bytes.extend(&value.bits.to_le_bytes()[..size]);
    }
    match data.repeat {
        None => Some(bytes),
        Some(times) => {
            let total = times.checked_mul(bytes.len() as u64)?;
            (total <= MOST_STATIC_BYTES).then(|| bytes.repeat(times as usize))
        }
    }
}
