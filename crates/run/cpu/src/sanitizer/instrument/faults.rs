//! Faults of instructions that access no memory: divisors, shifts, loops, indexes.

use super::{ClifLowering, info};
use crate::layout::launch_context::at;
use crate::sanitizer::runtime;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};

/// The number of the kind of fault.
const OUT_OF_BOUNDS: u64 = 0;
/// The number of the kind of fault.
const DIVISION: u64 = 4;
/// The number of the kind of fault.
const SHIFT: u64 = 5;
/// Beside a kind: a result is more than its type holds.
const OVERFLOW: u64 = info::OVERFLOW >> info::KIND_SHIFT;

impl ClifLowering<'_, '_, '_> {
    /// Tells of a fault; whether the launch has to end.
    pub(super) fn call_fault(&mut self, kind: u64, site: u64) -> Value {
        let what = self.emit_iconst(types::I64, (kind << info::KIND_SHIFT | site) as i64);
        let args = [self.item.context, self.item.linear, what];
        self.call_quietly(runtime::report_fault as *const () as usize, &args)
    }

    pub(super) fn fault_if(&mut self, bad: Value, kind: u64) {
        let site = u64::from(self.current_site());
        let told = self.cold_block();
        let next = self.builder.create_block();
        self.builder.ins().brif(bad, told, &[], next, &[]);
        self.builder.switch_to_block(told);
        self.call_fault(kind, site);
        self.builder.ins().jump(next, &[]);
        self.builder.switch_to_block(next);
    }

    /// Whether anything but a selection uses the result that is being computed.
    pub(super) fn result_counts(&self) -> bool {
        let result = self.current.and_then(|i| i.result());
        let checking = self.shared.checking.as_ref();
        checking
            .zip(result)
            .is_some_and(|(c, id)| c.provenance.is_direct(id))
    }

    /// Checks a divisor.
    pub fn check_divisor(&mut self, divisor: Value) {
        if self.result_counts() {
            let bad = self.builder.ins().icmp_imm_s(IntCC::Equal, divisor, 0);
            self.fault_if(bad, DIVISION);
        }
    }

    /// Checks that a quotient is one that its type has, by what says that it is not.
    pub fn check_quotient(&mut self, wraps: Value) {
        if self.result_counts() {
            self.fault_if(wraps, DIVISION | OVERFLOW);
        }
    }

    /// Checks the amount of a shift.
    pub fn check_shift(&mut self, value: Value, amount: Value) {
        let bits = i64::from(self.value_type(value).bits());
        if self.result_counts()
            && self
                .find_integer_constant(amount)
                .is_none_or(|n| n as u64 >= bits as u64)
        {
            let least = IntCC::UnsignedGreaterThanOrEqual;
            let bad = self.builder.ins().icmp_imm_u(least, amount, bits);
            self.fault_if(bad, SHIFT);
        }
    }

    /// Checks where a field of bits begins and how many it has.
    pub fn check_field(&mut self, value: Value, offset: Value, count: Value) {
        if !self.result_counts() {
            return;
        }
        let bits = i64::from(self.value_type(value).bits());
        let known = |n: Option<i64>| n.and_then(|n| u64::try_from(n).ok());
        let both =
            known(self.find_integer_constant(offset)).zip(known(self.find_integer_constant(count)));
        if both.is_some_and(|(offset, count)| offset.saturating_add(count) <= bits as u64) {
            return;
        }
        let offset = self.extend_to(offset, types::I64, false);
        let count = self.extend_to(count, types::I64, false);
        let end = self.builder.ins().iadd(offset, count);
        let bad = self
            .builder
            .ins()
            .icmp_imm_u(IntCC::UnsignedGreaterThan, end, bits);
        self.fault_if(bad, SHIFT);
    }

    /// Checks the index of a component that is chosen when run.
    pub fn check_component(&mut self, index: Value, count: u64) {
        if self.result_counts()
            && self
                .find_integer_constant(index)
                .is_none_or(|n| n as u64 >= count)
        {
            let least = IntCC::UnsignedGreaterThanOrEqual;
            let bad = self.builder.ins().icmp_imm_u(least, index, count as i64);
            self.fault_if(bad, OUT_OF_BOUNDS);
        }
    }

    /// Tells of a call of what is no function.
    pub fn check_callee(&mut self) {
        if self.is_checking() {
            let site = u64::from(self.current_site());
            self.call_fault(OUT_OF_BOUNDS, site);
        }
    }

    /// A fence.
    pub fn check_fence(&mut self) {
        if self.is_checking() {
            let args = [self.item.context, self.item.linear];
            let params = [types::I64, types::I32];
            self.call_host(
                runtime::note_fence as *const () as usize,
                &params,
                &[],
                &args,
            );
        }
    }

    /// Gives the invocation its rounds of loops.
    pub fn reset_budget(&mut self) {
        if self.shared.checking.as_ref().is_some_and(|c| c.loops) {
            let live = self.load_context_field(types::I64, at::SANITIZER);
            let flags = MemFlagsData::trusted();
            let ins = self.builder.ins();
            let full = ins.load(types::I64, flags, live, runtime::at::BUDGET_FULL);
            let at = runtime::at::BUDGET;
            self.builder.ins().store(flags, full, live, at);
        }
    }

    /// Takes one round off; `leave` ends the invocation where none is left.
    pub fn count_round(&mut self, leave: impl FnOnce(&mut Self)) {
        let live = self.load_context_field(types::I64, at::SANITIZER);
        let flags = MemFlagsData::trusted();
        let at = runtime::at::BUDGET;
        let left = self.builder.ins().load(types::I64, flags, live, at);
        let next = self.builder.create_block();
        let none = self.cold_block();
        self.builder.ins().brif(left, next, &[], none, &[]);
        self.builder.switch_to_block(none);
        const ENDLESS: u64 = 6;
        let site = u64::from(self.current_site());
        self.call_fault(ENDLESS, site);
        leave(self);
        self.builder.switch_to_block(next);
        let left = self.builder.ins().iadd_imm_s(left, -1);
        self.builder.ins().store(flags, left, live, at);
    }

    /// An address that stays as it is while an index is one that an array has.
    pub fn check_index(&mut self, address: Value, index: Value, count: u64) -> Value {
        if !self.is_checking() || self.program.entry.is_kernel {
            return address;
        }
        let count = self.emit_iconst(types::I64, count as i64);
        let inside = self
            .builder
            .ins()
            .icmp(IntCC::UnsignedLessThan, index, count);
        let beyond = self.emit_iconst(types::I64, runtime::BEYOND as i64);
        self.builder.ins().select(inside, address, beyond)
    }
}
