//! Faults of instructions that access no memory: divisors, shifts, loops, indexes.

use super::{ClifLowering, SanitizerHooks, info};
use crate::codegen::access_hooks::EmitExit;
use crate::layout::launch_context::at;
use crate::sanitizer::runtime;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;

/// The number of the kind of fault.
const OUT_OF_BOUNDS: u64 = 0;
/// The number of the kind of fault.
const DIVISION: u64 = 4;
/// The number of the kind of fault.
const SHIFT: u64 = 5;
/// Beside a kind: a result is more than its type holds.
const OVERFLOW: u64 = info::OVERFLOW >> info::KIND_SHIFT;

impl SanitizerHooks {
    /// Reports a fault. The result is 1 if the launch has to end.
    pub(super) fn call_fault(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        kind: u64,
        site: u64,
    ) -> Value {
        let fault_word = lower.emit_iconst(types::I64, (kind << info::KIND_SHIFT | site) as i64);
        let args = [lower.item.context, lower.item.linear, fault_word];
        self.call_quietly(lower, runtime::report_fault as *const () as usize, &args)
    }

    pub(super) fn emit_fault_if(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        bad: Value,
        kind: u64,
    ) {
        let site = u64::from(self.current_site(lower));
        let fault_block = self.cold_block(lower);
        let next = lower.builder.create_block();
        lower.builder.ins().brif(bad, fault_block, &[], next, &[]);
        lower.builder.switch_to_block(fault_block);
        self.call_fault(lower, kind, site);
        lower.builder.ins().jump(next, &[]);
        lower.builder.switch_to_block(next);
    }

    /// Whether anything but a selection uses the result that is being computed.
    pub(super) fn result_counts(&self, lower: &mut ClifLowering<'_, '_, '_>) -> bool {
        let result = lower.current.and_then(|i| i.result());
        result.is_some_and(|id| self.analysis.provenance.is_direct(id))
    }

    /// Checks a divisor.
    pub fn check_divisor(&self, lower: &mut ClifLowering<'_, '_, '_>, divisor: Value) {
        if self.result_counts(lower) {
            let bad = lower.builder.ins().icmp_imm_s(IntCC::Equal, divisor, 0);
            self.emit_fault_if(lower, bad, DIVISION);
        }
    }

    /// Checks a quotient. `wraps` is not zero where its type does not hold it.
    pub fn check_quotient(&self, lower: &mut ClifLowering<'_, '_, '_>, wraps: Value) {
        if self.result_counts(lower) {
            self.emit_fault_if(lower, wraps, DIVISION | OVERFLOW);
        }
    }

    /// Checks the amount of a shift.
    pub fn check_shift(&self, lower: &mut ClifLowering<'_, '_, '_>, value: Value, amount: Value) {
        let bits = i64::from(lower.value_type(value).bits());
        if self.result_counts(lower)
            && lower
                .find_integer_constant(amount)
                .is_none_or(|n| n as u64 >= bits as u64)
        {
            let least = IntCC::UnsignedGreaterThanOrEqual;
            let bad = lower.builder.ins().icmp_imm_u(least, amount, bits);
            self.emit_fault_if(lower, bad, SHIFT);
        }
    }

    /// Checks where a field of bits begins and how many it has.
    pub fn check_field(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        value: Value,
        offset: Value,
        count: Value,
    ) {
        if !self.result_counts(lower) {
            return;
        }
        let bits = i64::from(lower.value_type(value).bits());
        let known = |n: Option<i64>| n.and_then(|n| u64::try_from(n).ok());
        let both = known(lower.find_integer_constant(offset))
            .zip(known(lower.find_integer_constant(count)));
        if both.is_some_and(|(offset, count)| offset.saturating_add(count) <= bits as u64) {
            return;
        }
        let offset = lower.extend_to(offset, types::I64, false);
        let count = lower.extend_to(count, types::I64, false);
        let end = lower.builder.ins().iadd(offset, count);
        let bad = lower
            .builder
            .ins()
            .icmp_imm_u(IntCC::UnsignedGreaterThan, end, bits);
        self.emit_fault_if(lower, bad, SHIFT);
    }

    /// Checks the index of a component that is chosen when run.
    pub fn check_component(&self, lower: &mut ClifLowering<'_, '_, '_>, index: Value, count: u64) {
        if self.result_counts(lower)
            && lower
                .find_integer_constant(index)
                .is_none_or(|n| n as u64 >= count)
        {
            let least = IntCC::UnsignedGreaterThanOrEqual;
            let bad = lower.builder.ins().icmp_imm_u(least, index, count as i64);
            self.emit_fault_if(lower, bad, OUT_OF_BOUNDS);
        }
    }

    /// Reports a call of an address that is no function.
    pub fn check_callee(&self, lower: &mut ClifLowering<'_, '_, '_>) {
        let site = u64::from(self.current_site(lower));
        self.call_fault(lower, OUT_OF_BOUNDS, site);
    }

    /// A fence.
    pub fn check_fence(&self, lower: &mut ClifLowering<'_, '_, '_>) {
        let args = [lower.item.context, lower.item.linear];
        let params = [types::I64, types::I32];
        let callee = runtime::note_fence as *const () as usize;
        lower.call_host(callee, &params, &[], &args);
    }

    /// Sets the number of loop iterations that the invocation has left.
    pub fn reset_budget(&self, lower: &mut ClifLowering<'_, '_, '_>) {
        if self.analysis.loops {
            let live = lower.load_context_field(types::I64, at::SANITIZER);
            let flags = MemFlagsData::trusted();
            let ins = lower.builder.ins();
            let full = ins.load(types::I64, flags, live, runtime::at::BUDGET_FULL);
            let at = runtime::at::BUDGET;
            lower.builder.ins().store(flags, full, live, at);
        }
    }

    /// Counts one loop iteration. `exit` ends the invocation where none is left.
    pub fn count_round(&self, lower: &mut ClifLowering<'_, '_, '_>, exit: &EmitExit<'_>) {
        let live = lower.load_context_field(types::I64, at::SANITIZER);
        let flags = MemFlagsData::trusted();
        let at = runtime::at::BUDGET;
        let left = lower.builder.ins().load(types::I64, flags, live, at);
        let next = lower.builder.create_block();
        let none = self.cold_block(lower);
        lower.builder.ins().brif(left, next, &[], none, &[]);
        lower.builder.switch_to_block(none);
        const ENDLESS: u64 = 6;
        let site = u64::from(self.current_site(lower));
        self.call_fault(lower, ENDLESS, site);
        exit(lower);
        lower.builder.switch_to_block(next);
        let left = lower.builder.ins().iadd_imm_s(left, -1);
        lower.builder.ins().store(flags, left, live, at);
    }

    /// Checks an index into an array of `count` elements. Returns the address to continue from.
    pub(super) fn check_array_index(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        address: Value,
        index: Id,
        count: u64,
    ) -> Result<Value, SourceDiagnostic> {
        // Indices count as signed, so that one that wrapped is reported as below zero.
        let known = lower.program.constant_index(index, true);
        if known.is_some_and(|n| (n as u64) < count) {
            return Ok(address);
        }
        let index = lower.read_value(index)?;
        let index = lower.extend_to(index, types::I64, true);
        Ok(self.check_index(lower, address, index, count))
    }

    /// An address that stays as it is while an index is one that an array has.
    pub fn check_index(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        address: Value,
        index: Value,
        count: u64,
    ) -> Value {
        if lower.program.entry.is_kernel {
            return address;
        }
        let count = lower.emit_iconst(types::I64, count as i64);
        let inside = lower
            .builder
            .ins()
            .icmp(IntCC::UnsignedLessThan, index, count);
        let beyond = lower.emit_iconst(types::I64, runtime::BEYOND as i64);
        lower.builder.ins().select(inside, address, beyond)
    }
}
