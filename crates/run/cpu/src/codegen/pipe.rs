//! Pipes: calls of [`crate::pipe`].

use super::ClifResult;
use super::access_hooks::{MemoryAccessKind, PointerAccess};
use super::lowering::{ClifLowering, plain_flags};
use crate::pipe::{self, PipeOperands, PipeUse};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;
use std::mem::offset_of;

/// The operands after the pipe. The size and alignment of packets come last.
#[derive(Clone, Copy)]
enum PipeOperandForm {
    Nothing,
    Packet,
    /// A reservation, or a number of packets.
    Id,
    /// A reservation, the packet's number in it, the packet.
    Reserved,
}

struct PipeInstruction(Op, PipeUse, PipeOperandForm);

const ROWS: &[PipeInstruction] = &[
    PipeInstruction(Op::ReadPipe, PipeUse::Read, PipeOperandForm::Packet),
    PipeInstruction(Op::WritePipe, PipeUse::Write, PipeOperandForm::Packet),
    PipeInstruction(
        Op::ReservedReadPipe,
        PipeUse::ReadReserved,
        PipeOperandForm::Reserved,
    ),
    PipeInstruction(
        Op::ReservedWritePipe,
        PipeUse::WriteReserved,
        PipeOperandForm::Reserved,
    ),
    PipeInstruction(
        Op::ReserveReadPipePackets,
        PipeUse::ReserveRead,
        PipeOperandForm::Id,
    ),
    PipeInstruction(
        Op::ReserveWritePipePackets,
        PipeUse::ReserveWrite,
        PipeOperandForm::Id,
    ),
    PipeInstruction(Op::CommitReadPipe, PipeUse::CommitRead, PipeOperandForm::Id),
    PipeInstruction(
        Op::CommitWritePipe,
        PipeUse::CommitWrite,
        PipeOperandForm::Id,
    ),
    PipeInstruction(
        Op::GetNumPipePackets,
        PipeUse::Packets,
        PipeOperandForm::Nothing,
    ),
    PipeInstruction(
        Op::GetMaxPipePackets,
        PipeUse::Capacity,
        PipeOperandForm::Nothing,
    ),
];

/// The instructions in the table.
pub(super) fn list_pipe_ops() -> impl Iterator<Item = Op> {
    ROWS.iter().map(|row| row.0)
}

/// An instruction that one invocation does by itself.
pub(crate) fn lower_pipe_operation(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let row = ROWS.iter().find(|row| row.0 == inst.op());
    let Some(PipeInstruction(_, operation, rest)) = row else {
        return lower.fail_unsupported("this use of a pipe");
    };
    let nothing = lower.emit_iconst(types::I64, 0);
    let [mut id, mut index, mut packet] = [nothing; 3];
    let after = match rest {
        PipeOperandForm::Nothing => 1,
        PipeOperandForm::Packet => 2,
        PipeOperandForm::Id => {
            id = lower.read_zero_extended(inst.id_operand(1))?;
            2
        }
        PipeOperandForm::Reserved => {
            id = lower.read_zero_extended(inst.id_operand(1))?;
            index = lower.read_zero_extended(inst.id_operand(2))?;
            4
        }
    };
    let size = lower.read_zero_extended(inst.id_operand(after))?;
    if matches!(rest, PipeOperandForm::Packet | PipeOperandForm::Reserved) {
        packet = lower.packet_address(
            inst.id_operand(after - 1),
            inst.id_operand(after),
            operation.is_read(),
        )?;
    }
    let pipe = lower.read_value(inst.id_operand(0))?;
    let result = lower.operate_pipe(*operation, [pipe, id, index, packet, size])?;
    let Some(ty) = inst.result_type().filter(|_| inst.result().is_some()) else {
        return Ok(());
    };
    let to = super::lowering::clif_type(lower.component_scalar(ty)?);
    let result = lower.resize_integer(result, to, false);
    lower.set_result(inst.result(), &[result])
}

/// `OpIsValidReserveId`.
pub(crate) fn is_valid(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let id = lower.read_value(inst.id_operand(0))?;
    let valid = lower.builder.ins().icmp_imm_s(IntCC::NotEqual, id, 0);
    lower.set_result(inst.result(), &[valid])
}

impl ClifLowering<'_, '_, '_> {
    fn read_zero_extended(&mut self, id: Id) -> Result<Value, SourceDiagnostic> {
        let value = self.read_value(id)?;
        Ok(self.extend_to(value, types::I64, false))
    }

    /// The address of a packet outside of the pipe.
    fn packet_address(
        &mut self,
        pointer: Id,
        size: Id,
        is_read: bool,
    ) -> Result<Value, SourceDiagnostic> {
        let held = self.read_pointer(pointer)?;
        let address = self.address_of(held)?;
        let bytes = self.read_constant(size)?;
        let kind = if is_read {
            MemoryAccessKind::Write
        } else {
            MemoryAccessKind::Read
        };
        let access = PointerAccess {
            pointer,
            address,
            kind,
        };
        self.hooks().before_range_access(self, access, bytes)
    }

    fn operate_pipe(
        &mut self,
        operation: PipeUse,
        operands: [Value; 5],
    ) -> Result<Value, SourceDiagnostic> {
        self.shared.in_order = true;
        let slot = self.stack_slot(size_of::<PipeOperands>() as u64)?;
        let place = self.builder.ins().stack_addr(types::I64, slot, 0);
        let offsets = [
            offset_of!(PipeOperands, pipe),
            offset_of!(PipeOperands, id),
            offset_of!(PipeOperands, index),
            offset_of!(PipeOperands, packet),
            offset_of!(PipeOperands, size),
        ];
        for (operand, offset) in operands.into_iter().zip(offsets) {
            self.builder
                .ins()
                .store(plain_flags(), operand, place, offset as i32);
        }
        let operation = self.emit_iconst(types::I64, operation as i64);
        let callee = pipe::run_pipe_operation as *const () as usize;
        let params = [types::I64; 2];
        let results = self.call_host(callee, &params, &[types::I64], &[operation, place]);
        Ok(results[0])
    }
}
