//! Generic pointers: the storage class that they lead to.
//!
//! They are addresses of the host. An address in the workgroup's memory, or in the private memory of its invocations,
//! belongs to that class. All others are global, null included.

use super::ClifResult;
use super::lowering::ClifLowering;
use crate::layout::launch_context::at;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use spirula_spirv::grammar::enumerants::{MemorySemantics, StorageClass};
use spirula_spirv::ir::InstRef;

/// `OpGenericCastToPtrExplicit`: the pointer where it leads to memory of the class, else null.
pub(crate) fn cast_explicit(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let address = lower.read_value(inst.id_operand(0))?;
    let is_there = match StorageClass(inst.operand_word(1)) {
        StorageClass::Workgroup => is_shared(lower, address),
        StorageClass::Function => is_private(lower, address),
        _ => {
            let shared = is_shared(lower, address);
            let private = is_private(lower, address);
            let either = lower.builder.ins().bor(shared, private);
            lower.builder.ins().icmp_imm_u(IntCC::Equal, either, 0)
        }
    };
    let null = lower.emit_iconst(types::I64, 0);
    let found = lower.builder.ins().select(is_there, address, null);
    lower.set_result(inst.result(), &[found])
}

/// `OpGenericPtrMemSemantics`: the memory, as the semantics of a barrier name it.
pub(crate) fn lower_memory_semantics(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let address = lower.read_value(inst.id_operand(0))?;
    let [shared, global] = [
        MemorySemantics::WorkgroupMemory,
        MemorySemantics::CrossWorkgroupMemory,
    ]
    .map(|mask| lower.emit_iconst(types::I32, i64::from(mask.0)));
    let none = lower.emit_iconst(types::I32, 0);
    let is_shared = is_shared(lower, address);
    let found = lower.builder.ins().select(is_shared, shared, global);
    let is_private = is_private(lower, address);
    let found = lower.builder.ins().select(is_private, none, found);
    lower.set_result(inst.result(), &[found])
}

fn is_shared(lower: &mut ClifLowering, address: Value) -> Value {
    let base = lower.load_context_field(types::I64, at::WORKGROUP);
    let bytes = lower.load_context_field(types::I64, at::WORKGROUP_BYTES);
    is_within(lower, address, base, bytes)
}

fn is_private(lower: &mut ClifLowering, address: Value) -> Value {
    let base = lower.load_context_field(types::I64, at::PRIVATE);
    let bytes = lower.load_context_field(types::I64, at::PRIVATE + 8);
    is_within(lower, address, base, bytes)
}

fn is_within(lower: &mut ClifLowering, address: Value, base: Value, bytes: Value) -> Value {
    let offset = lower.builder.ins().isub(address, base);
    lower
        .builder
        .ins()
        .icmp(IntCC::UnsignedLessThan, offset, bytes)
}
