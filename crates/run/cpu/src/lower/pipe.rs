//! Pipes: calls of [`crate::pipe`].

use super::Done;
use super::checked::Use;
use super::scope::{Lower, plain};
use crate::pipe::{self, Operands, PipeUse};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use spirula_diagnostics::Diagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;
use std::mem::offset_of;

/// What stands behind the pipe among the operands of an instruction; size and alignment of packets come last.
#[derive(Clone, Copy)]
enum Rest {
    Nothing,
    Packet,
    /// A reservation, or a number of packets.
    Id,
    /// A reservation, the packet's number in it, the packet.
    Reserved,
}

struct Row(Op, PipeUse, Rest);

const ROWS: &[Row] = &[
    Row(Op::ReadPipe, PipeUse::Read, Rest::Packet),
    Row(Op::WritePipe, PipeUse::Write, Rest::Packet),
    Row(Op::ReservedReadPipe, PipeUse::ReadReserved, Rest::Reserved),
    Row(
        Op::ReservedWritePipe,
        PipeUse::WriteReserved,
        Rest::Reserved,
    ),
    Row(Op::ReserveReadPipePackets, PipeUse::ReserveRead, Rest::Id),
    Row(Op::ReserveWritePipePackets, PipeUse::ReserveWrite, Rest::Id),
    Row(Op::CommitReadPipe, PipeUse::CommitRead, Rest::Id),
    Row(Op::CommitWritePipe, PipeUse::CommitWrite, Rest::Id),
    Row(Op::GetNumPipePackets, PipeUse::Packets, Rest::Nothing),
    Row(Op::GetMaxPipePackets, PipeUse::Capacity, Rest::Nothing),
];

/// The instructions in the table.
pub(super) fn ops() -> impl Iterator<Item = Op> {
    ROWS.iter().map(|row| row.0)
}

/// An instruction that one invocation does by itself.
pub(crate) fn operate(lower: &mut Lower, inst: InstRef) -> Done {
    let row = ROWS.iter().find(|row| row.0 == inst.op());
    let Some(Row(_, what, rest)) = row else {
        return lower.unsupported("this use of a pipe");
    };
    let nothing = lower.iconst(types::I64, 0);
    let [mut id, mut index, mut packet] = [nothing; 3];
    let behind = match rest {
        Rest::Nothing => 1,
        Rest::Packet => 2,
        Rest::Id => {
            id = lower.wide(inst.id(1))?;
            2
        }
        Rest::Reserved => {
            id = lower.wide(inst.id(1))?;
            index = lower.wide(inst.id(2))?;
            4
        }
    };
    let size = lower.wide(inst.id(behind))?;
    if matches!(rest, Rest::Packet | Rest::Reserved) {
        packet = lower.packet(inst.id(behind - 1), inst.id(behind), what.reads())?;
    }
    let pipe = lower.value(inst.id(0))?;
    let result = lower.operate_pipe(*what, [pipe, id, index, packet, size])?;
    let Some(ty) = inst.result_type().filter(|_| inst.result().is_some()) else {
        return Ok(());
    };
    let to = super::scope::clif_type(lower.component(ty)?);
    let result = lower.resize(result, to, false);
    lower.set_result(inst.result(), &[result])
}

/// `OpIsValidReserveId`.
pub(crate) fn is_valid(lower: &mut Lower, inst: InstRef) -> Done {
    let id = lower.value(inst.id(0))?;
    let valid = lower.builder.ins().icmp_imm_s(IntCC::NotEqual, id, 0);
    lower.set_result(inst.result(), &[valid])
}

impl Lower<'_, '_, '_> {
    fn wide(&mut self, id: Id) -> Result<Value, Diagnostic> {
        let value = self.value(id)?;
        Ok(self.extend_to(value, types::I64, false))
    }

    /// The address of a packet outside of the pipe.
    fn packet(&mut self, pointer: Id, size: Id, is_read: bool) -> Result<Value, Diagnostic> {
        let held = self.pointer(pointer)?;
        let address = self.address_of(held)?;
        let bytes = self.constant(size)?;
        let how = if is_read { Use::Write } else { Use::Read };
        self.guard_range(pointer, address, bytes, how)
    }

    fn operate_pipe(&mut self, what: PipeUse, operands: [Value; 5]) -> Result<Value, Diagnostic> {
        self.shared.in_order = true;
        let slot = self.stack_slot(size_of::<Operands>() as u64)?;
        let place = self.builder.ins().stack_addr(types::I64, slot, 0);
        let offsets = [
            offset_of!(Operands, pipe),
            offset_of!(Operands, id),
            offset_of!(Operands, index),
            offset_of!(Operands, packet),
            offset_of!(Operands, size),
        ];
        for (operand, offset) in operands.into_iter().zip(offsets) {
            self.builder
                .ins()
                .store(plain(), operand, place, offset as i32);
        }
        let what = self.iconst(types::I64, what as i64);
        let callee = pipe::operate as *const () as usize;
        let params = [types::I64; 2];
        let results = self.call_host(callee, &params, &[types::I64], &[what, place]);
        Ok(results[0])
    }
}
