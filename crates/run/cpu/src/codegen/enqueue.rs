//! Device-side enqueue: calls of [`crate::host::launch_queue`].

use super::access_hooks::{MemoryAccessKind, PointerAccess};
use super::lowering::{ClifLowering, plain_flags};
use super::{ClifResult, ClifScalars};
use crate::host::launch_queue::{self, WORDS};
use crate::module::types::LoweredTypeKind;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

/// Invocations of a workgroup that kernels prefer.
const PREFERRED: i64 = 256;
/// Position of the local sizes among the scalars of a range, after dimensions, offsets and sizes.
const LOCAL: usize = 7;

/// `OpGetDefaultQueue`: there is one.
pub(crate) fn default_queue(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let queue = lower.emit_iconst(types::I64, 1);
    lower.set_result(inst.result(), &[queue])
}

/// `OpBuildNDRange`: dimensions, offsets, sizes, sizes of workgroups.
pub(crate) fn lower_ndrange(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let given = [0, 1, 2].map(|n| lower.read_values(inst.id_operand(n)));
    let [global, local, offset] = given;
    let (global, local, offset) = (global?, local?, offset?);
    let count = lower.emit_iconst(types::I32, global.len() as i64);
    let mut out = ClifScalars::new();
    out.push(count);
    for (values, missing) in [(offset, 0), (global, 1), (local, 1)] {
        for n in 0..3 {
            out.push(match values.get(n) {
                Some(value) => lower.extend_to(*value, types::I64, false),
                None => lower.emit_iconst(types::I64, missing),
            });
        }
    }
    lower.set_result(inst.result(), &out)
}

/// `OpEnqueueKernel`.
pub(crate) fn lower_enqueue_kernel(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let range = lower.range_of(inst.id_operand(2))?;
    let mut words = vec![lower.emit_iconst(types::I64, inst.id_operand(6).index() as i64)];
    for value in range {
        words.push(lower.extend_to(value, types::I64, false));
    }
    words.extend(lower.read_event_operands(
        inst,
        [inst.id_operand(3), inst.id_operand(4), inst.id_operand(5)],
    )?);
    let size = lower.read_value(inst.id_operand(8))?;
    let size = lower.extend_to(size, types::I64, false);
    let param = lower.read_pointee_address(
        inst.id_operand(7),
        lower.program.constants.get_u64(inst.id_operand(8)),
    )?;
    words.extend([param, size]);
    let mut sizes = ClifScalars::new();
    for id in inst.id_operands(10) {
        sizes.push(lower.read_local_size(id)?);
    }
    let place = lower.store_words_on_stack(&sizes)?;
    words.extend([lower.emit_iconst(types::I64, sizes.len() as i64), place]);
    lower.pass_on(inst, &words)
}

/// `OpEnqueueMarker`.
pub(crate) fn lower_enqueue_marker(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let nothing = lower.emit_iconst(types::I64, 0);
    let mut words = vec![nothing; 11];
    words.extend(lower.read_event_operands(
        inst,
        [inst.id_operand(1), inst.id_operand(2), inst.id_operand(3)],
    )?);
    words.resize(WORDS, nothing);
    lower.pass_on(inst, &words)
}

/// `OpCreateUserEvent`, `OpSetUserEventStatus`.
pub(crate) fn lower_user_event(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let (event, status) = match inst.op() {
        Op::SetUserEventStatus => (
            lower.read_value(inst.id_operand(0))?,
            lower.read_value(inst.id_operand(1))?,
        ),
        _ => (
            lower.emit_iconst(types::I64, 0),
            lower.emit_iconst(types::I64, 0),
        ),
    };
    let status = lower.extend_to(status, types::I64, true);
    let callee = launch_queue::mark_event as *const () as usize;
    let args = [lower.item.context, event, status];
    let made = lower.call_host(callee, &[types::I64; 3], &[types::I64], &args);
    match inst.result() {
        Some(_) => lower.set_result(inst.result(), &made),
        None => Ok(()),
    }
}

/// `OpIsValidEvent`.
pub(crate) fn is_valid(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let event = lower.read_value(inst.id_operand(0))?;
    let valid = lower.builder.ins().icmp_imm_s(IntCC::NotEqual, event, 0);
    lower.set_result(inst.result(), &[valid])
}

/// `OpCaptureEventProfilingInfo`: zeros, until the event is complete.
pub(crate) fn lower_event_profiling(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let place = lower.read_pointee_address(inst.id_operand(2), Some(16))?;
    let zero = lower.emit_iconst(types::I64, 0);
    for offset in [0, 8] {
        lower
            .builder
            .ins()
            .store(plain_flags(), zero, place, offset);
    }
    let event = lower.read_value(inst.id_operand(0))?;
    let callee = launch_queue::capture_times as *const () as usize;
    let args = [lower.item.context, event, place];
    lower.call_host(callee, &[types::I64; 3], &[], &args);
    Ok(())
}

/// Queries of kernels about the kernels that they enqueue.
pub(crate) fn lower_kernel_query(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let lanes = i64::from(lower.shared.subgroup_size);
    let answer = match inst.op() {
        Op::GetKernelWorkGroupSize => lower.emit_iconst(types::I32, PREFERRED),
        Op::GetKernelMaxNumSubgroups => lower.emit_iconst(types::I32, PREFERRED / lanes),
        Op::GetKernelNDrangeSubGroupCount => {
            let range = lower.range_of(inst.id_operand(0))?;
            let mut all = lower.emit_iconst(types::I64, 1);
            for size in &range[LOCAL..] {
                all = lower.builder.ins().imul(all, *size);
            }
            let all = lower.builder.ins().iadd_imm_s(all, lanes - 1);
            let count = lower
                .builder
                .ins()
                .ushr_imm_u(all, i64::from(lanes.trailing_zeros()));
            lower.builder.ins().ireduce(types::I32, count)
        }
        _ => lower.emit_iconst(types::I32, lanes),
    };
    lower.set_result(inst.result(), &[answer])
}

impl ClifLowering<'_, '_, '_> {
    /// The scalars of a range, which may be passed by a pointer.
    fn range_of(&mut self, id: Id) -> Result<ClifScalars, SourceDiagnostic> {
        let ty = self.type_of(id)?;
        let values = match self.program.types.kind(ty) {
            LoweredTypeKind::Pointer {
                pointee: Some(ty), ..
            } => {
                let pointer = self.read_pointer(id)?;
                self.load_from(pointer, ty, false)?
            }
            _ => self.read_values(id)?,
        };
        match values.len() {
            10 => Ok(values),
            _ => self.fail_unsupported("a range of this type"),
        }
    }

    /// The number of events to wait for, their address, and the address for the new event.
    fn read_event_operands(
        &mut self,
        inst: InstRef<'_>,
        ids: [Id; 3],
    ) -> Result<[Value; 3], SourceDiagnostic> {
        let count = self.read_value(ids[0])?;
        let count = self.extend_to(count, types::I64, false);
        let known = self.program.constants.get_u64(ids[0]);
        let waits = match known {
            Some(0) => self.emit_iconst(types::I64, 0),
            known => self.read_pointee_address(ids[1], known.map(|n| n.saturating_mul(8)))?,
        };
        let event = if self.program.constants.is_zero(ids[2]) {
            self.emit_iconst(types::I64, 0)
        } else {
            let pointer = self.read_pointer(ids[2])?;
            let address = self.address_of(pointer)?;
            let access = PointerAccess {
                pointer: ids[2],
                address,
                kind: MemoryAccessKind::Write,
            };
            self.hooks().before_range_access(self, access, 8)?
        };
        self.current = Some(self.program.module.inst(inst.handle()));
        Ok([count, waits, event])
    }

    /// The address of memory that is read through a pointer.
    fn read_pointee_address(
        &mut self,
        id: Id,
        bytes: Option<u64>,
    ) -> Result<Value, SourceDiagnostic> {
        let pointer = self.read_pointer(id)?;
        let address = self.address_of(pointer)?;
        let Some(bytes) = bytes else {
            return Ok(address);
        };
        let access = PointerAccess {
            pointer: id,
            address,
            kind: MemoryAccessKind::Read,
        };
        self.hooks().before_range_access(self, access, bytes)
    }

    /// The size of an argument of workgroup memory: a number, or a pointer to one.
    fn read_local_size(&mut self, id: Id) -> Result<Value, SourceDiagnostic> {
        let ty = self.type_of(id)?;
        let LoweredTypeKind::Pointer { pointee, .. } = self.program.types.kind(ty) else {
            let size = self.read_value(id)?;
            return Ok(self.extend_to(size, types::I64, false));
        };
        let bytes = pointee.map_or(8, |ty| self.program.types.layouts.get(ty).size);
        let address = self.read_pointee_address(id, Some(bytes))?;
        let loaded = if bytes == 4 { types::I32 } else { types::I64 };
        let flags = plain_flags();
        let size = self.builder.ins().load(loaded, flags, address, 0);
        Ok(self.extend_to(size, types::I64, false))
    }

    /// The address of words on the stack.
    fn store_words_on_stack(&mut self, words: &[Value]) -> Result<Value, SourceDiagnostic> {
        let slot = self.stack_slot(8 * words.len().max(1) as u64)?;
        let place = self.builder.ins().stack_addr(types::I64, slot, 0);
        for (n, word) in words.iter().enumerate() {
            self.builder
                .ins()
                .store(plain_flags(), *word, place, 8 * n as i32);
        }
        Ok(place)
    }

    fn pass_on(&mut self, inst: InstRef<'_>, words: &[Value]) -> ClifResult {
        // Launches are enqueued in the order of invocations.
        self.shared.in_order = true;
        let place = self.store_words_on_stack(words)?;
        let callee = launch_queue::enqueue_kernel as *const () as usize;
        let args = [self.item.context, place];
        let done = self.call_host(callee, &[types::I64; 2], &[types::I32], &args);
        self.set_result(inst.result(), &done)
    }
}
