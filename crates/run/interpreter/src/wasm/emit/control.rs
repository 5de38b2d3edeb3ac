//! Calls, ends and waits.
//!
//! A function in which an invocation may wait or end returns a status before its results. Where the status is not
//! [`STATUS_RETURNED`], the caller returns it as well; it saves its registers, and where the invocation resumes it makes the
//! call again, which goes on in the called function.

use super::{FunctionEmitter, byte_offset};
use crate::exchange::ExchangeKind;
use crate::step::{Slot, TableRange};
use crate::wasm::module_writer::GLOBAL_STATE;
use crate::wasm::value_class::ValueClass;
use wasm_encoder::BlockType;

/// The status of a function that has returned.
pub(in crate::wasm) const STATUS_RETURNED: i32 = 0;
/// The invocation has ended.
pub(in crate::wasm) const STATUS_ENDED: i32 = 1;
/// The status of an invocation that waits at the first point. Each point has two: bit 0 is set where all invocations only
/// wait for each other.
const STATUS_WAITING: i32 = 2;

/// The status of an invocation that waits at a point.
pub(in crate::wasm) fn waiting_status(point: u32, is_plain_barrier: bool) -> i32 {
    STATUS_WAITING + (point as i32 * 2) + i32::from(is_plain_barrier)
}

/// The point where an invocation with a status waits.
pub(in crate::wasm) fn waiting_point(status: u32) -> Option<u32> {
    Some(status.checked_sub(STATUS_WAITING as u32)? / 2)
}

impl FunctionEmitter<'_, '_> {
    /// Emits the return of a status, without results that matter.
    fn return_status(&mut self) {
        for _ in 0..self.plan.results {
            self.push_constant(0, ValueClass::I64);
        }
        self.sink().return_();
    }

    /// The end of the invocation.
    pub(super) fn emit_end(&mut self) {
        self.sink().i32_const(STATUS_ENDED);
        self.return_status();
    }

    /// The end of the function. That of the entry point ends the invocation.
    pub(super) fn emit_return(&mut self, from: Slot, count: u32) {
        if self.plan.may_suspend {
            let is_entry = self.plan.number == 0;
            let status = if is_entry {
                STATUS_ENDED
            } else {
                STATUS_RETURNED
            };
            self.sink().i32_const(status);
        }
        for n in 0..self.plan.results {
            if n < count {
                self.push_slot(from + n, ValueClass::I64);
            } else {
                self.push_constant(0, ValueClass::I64);
            }
        }
        self.sink().return_();
    }

    /// A wait at a point. The invocation resumes in the block with this number in the dispatcher.
    pub(super) fn emit_suspend(&mut self, point: u32, resume: u32) {
        self.save_registers(resume);
        let exchange = &self.kernel.code.points[point as usize];
        let is_plain = exchange.kind == ExchangeKind::Barrier && !exchange.is_subgroup;
        self.sink().i32_const(waiting_status(point, is_plain));
        self.return_status();
    }

    /// Saves the registers in the state of the invocation, and where it resumes.
    fn save_registers(&mut self, resume: u32) {
        let state = byte_offset(self.plan.saved.into());
        self.sink()
            .global_get(GLOBAL_STATE)
            .i32_const(resume as i32)
            .i32_store(state);
        for (slot, local, class) in self.list_used() {
            let place = byte_offset(self.saved_offset(slot));
            let mut sink = self.sink();
            sink.global_get(GLOBAL_STATE).local_get(local);
            class.convert(ValueClass::I64, &mut sink);
            sink.i64_store(place);
        }
    }

    /// A call. `resume` is the number of its block in the dispatcher, where the function resumes.
    pub(super) fn emit_call(
        &mut self,
        function: u32,
        arguments: TableRange,
        to: Slot,
        resume: Option<u32>,
    ) {
        for argument in &self.kernel.code.moves[arguments.indices()] {
            self.push_slot(argument.from, ValueClass::I64);
        }
        let called = &self.emission.plan.functions[function as usize];
        let (results, may_suspend) = (called.results, called.may_suspend);
        self.sink().call(Self::function_index(function));
        // The last result is on top.
        for n in (0..results).rev() {
            self.pop_to(to + n, ValueClass::I64);
        }
        if !may_suspend {
            return;
        }
        let status = self.temporary(ValueClass::I32, 0);
        self.sink().local_tee(status).if_(BlockType::Empty);
        if let Some(resume) = resume {
            self.save_registers(resume);
        }
        self.sink().local_get(status);
        self.return_status();
        self.sink().end();
        if resume.is_some() {
            // The next call begins at the beginning.
            let state = byte_offset(self.emission.plan.functions[function as usize].saved.into());
            self.sink()
                .global_get(GLOBAL_STATE)
                .i32_const(0)
                .i32_store(state);
        }
    }
}
