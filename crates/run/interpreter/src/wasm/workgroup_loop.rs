//! `run_group(is_new)`: the loop over the invocations of a workgroup.
//!
//! Without waits, each invocation runs to its end. With them each has a state: a status, and the registers of functions where
//! it waits. All that run go on in order until each has ended or waits. Where all wait at one plain barrier, they go on; any
//! other wait is left to the caller, who computes exchanges and sets the status of invocations that go on to 0.

use super::emit::{STATUS_ENDED, byte_offset};
use super::function_plan::KernelPlan;
use super::memory_layout::{self as layout, FixedLayout};
use super::module_writer::{
    FAULT_STEPS, FIRST_FUNCTION, GLOBAL_PRIVATE, GLOBAL_STATE, GLOBAL_STEPS, HELPER_FAULT,
};
use crate::decode::{BuiltinPlace, DecodedKernel};
use crate::exchange::SUBGROUP_SIZE;
use crate::memory::MemoryRegion;
use crate::step::CodeStep;
use spirula_spirv::grammar::enumerants::BuiltIn;
use wasm_encoder::{BlockType, Function, InstructionSink, ValType};

/// Locals: the parameter, then those of the loop.
const IS_NEW: u32 = 0;
const NUMBER: u32 = 1;
const COUNT: u32 = 2;
const LOCAL_ID: [u32; 3] = [3, 4, 5];
const STATUS: u32 = 6;
/// The status of the first invocation that waits, and whether another waits elsewhere.
const FIRST_WAIT: u32 = 7;
const IS_MIXED: u32 = 8;

/// The writer of the loop.
struct LoopWriter<'k> {
    kernel: &'k DecodedKernel,
    plan: &'k KernelPlan,
    fixed: &'k FixedLayout,
}

/// Writes the function.
pub(super) fn write_workgroup_loop(
    kernel: &DecodedKernel,
    plan: &KernelPlan,
    fixed: &FixedLayout,
) -> Function {
    let writer = LoopWriter {
        kernel,
        plan,
        fixed,
    };
    let mut function = Function::new([(8, ValType::I32)]);
    let mut sink = function.instructions();
    load_word(&mut sink, layout::GROUP_COUNT);
    sink.local_set(COUNT);
    load_long(&mut sink, layout::STEPS_LEFT);
    sink.global_set(GLOBAL_STEPS);
    if kernel.code.points.is_empty() {
        writer.clear_workgroup(&mut sink);
        writer.write_simple_loop(&mut sink);
    } else {
        sink.local_get(IS_NEW).if_(BlockType::Empty);
        writer.clear_workgroup(&mut sink);
        writer.write_beginning(&mut sink);
        sink.end();
        writer.write_waiting_loop(&mut sink);
    }
    sink.i32_const(0)
        .global_get(GLOBAL_STEPS)
        .i64_store(byte_offset(layout::STEPS_LEFT.into()));
    sink.end();
    function
}

fn load_word(sink: &mut InstructionSink<'_>, place: u32) {
    sink.i32_const(0).i32_load(byte_offset(place.into()));
}

fn load_long(sink: &mut InstructionSink<'_>, place: u32) {
    sink.i32_const(0).i64_load(byte_offset(place.into()));
}

impl LoopWriter<'_> {
    fn clear_workgroup(&self, sink: &mut InstructionSink<'_>) {
        let row = u64::from(self.fixed.region_row(MemoryRegion::WORKGROUP.0));
        sink.i32_const(0)
            .i32_load(byte_offset(row))
            .i32_const(0)
            .i32_const(0)
            .i64_load(byte_offset(row + 8))
            .i32_wrap_i64()
            .memory_fill(0);
    }

    /// Opens a loop over the invocations.
    fn open_loop(&self, sink: &mut InstructionSink<'_>) {
        sink.i32_const(0).local_set(NUMBER);
        sink.block(BlockType::Empty).loop_(BlockType::Empty);
        sink.local_get(NUMBER).local_get(COUNT).i32_ge_u().br_if(1);
    }

    fn close_loop(&self, sink: &mut InstructionSink<'_>) {
        sink.local_get(NUMBER)
            .i32_const(1)
            .i32_add()
            .local_set(NUMBER)
            .br(0)
            .end()
            .end();
    }

    /// Runs each invocation to its end.
    fn write_simple_loop(&self, sink: &mut InstructionSink<'_>) {
        load_word(sink, layout::PRIVATE);
        sink.global_set(GLOBAL_PRIVATE);
        self.open_loop(sink);
        self.begin_invocation(sink);
        self.count_steps(sink);
        self.write_call(sink);
        self.close_loop(sink);
        sink.i32_const(0);
    }

    /// Sets the variables of the invocation.
    fn begin_invocation(&self, sink: &mut InstructionSink<'_>) {
        sink.i32_const(0)
            .local_get(NUMBER)
            .i32_store(byte_offset(layout::INVOCATION.into()));
        let initial = self.kernel.private_memory.len() as i32;
        let has_variables = self.kernel.private_memory.iter().any(|byte| *byte != 0)
            || initial as usize > 32 * self.kernel.builtins.len();
        if has_variables {
            sink.global_get(GLOBAL_PRIVATE);
            load_word(sink, layout::TEMPLATE);
            sink.i32_const(initial).memory_copy(0, 0);
        }
        let frame = self.kernel.code.functions.first();
        let frame = frame.map_or(0, |entry| entry.frame_bytes);
        if let Some(entry) = self.plan.functions.first().filter(|_| frame > 0) {
            sink.global_get(GLOBAL_PRIVATE)
                .i32_const(entry.frame as i32)
                .i32_add()
                .i32_const(0)
                .i32_const(frame as i32)
                .memory_fill(0);
        }
        self.write_local_ids(sink);
        for (number, place) in self.kernel.builtins.iter().enumerate() {
            self.write_builtin(sink, number as u32, place);
        }
    }

    /// Counts steps that an invocation runs before its next wait or its end, apart from those of loops. As a loop may lead
    /// through a wait, each time that an invocation goes on is counted.
    fn count_steps(&self, sink: &mut InstructionSink<'_>) {
        let Some(entry) = self.plan.functions.first() else {
            return;
        };
        let parts = self.kernel.code.points.len() + 1;
        let steps = entry.steps.len().div_ceil(parts);
        // The place is that of the first wait, where there is one.
        let mut code = self.kernel.code.steps.iter();
        let wait = code.position(|step| matches!(step, CodeStep::Suspend(_)));
        let place = wait.unwrap_or(entry.steps.start);
        sink.global_get(GLOBAL_STEPS)
            .i64_const(steps as i64)
            .i64_sub()
            .global_set(GLOBAL_STEPS)
            .global_get(GLOBAL_STEPS)
            .i64_const(0)
            .i64_lt_s()
            .if_(BlockType::Empty)
            .i32_const(FAULT_STEPS)
            .i32_const(place as i32)
            .i64_const(0)
            .i64_const(0)
            .call(HELPER_FAULT)
            .end();
    }

    /// The coordinates of the invocation in its workgroup.
    fn write_local_ids(&self, sink: &mut InstructionSink<'_>) {
        let [width, height] = [layout::GROUP_SIZE, layout::GROUP_SIZE + 4];
        let [x, y, z] = LOCAL_ID;
        sink.local_get(NUMBER);
        load_word(sink, width);
        sink.i32_rem_u().local_set(x);
        sink.local_get(NUMBER);
        load_word(sink, width);
        sink.i32_div_u().local_tee(z);
        load_word(sink, height);
        sink.i32_rem_u().local_set(y);
        sink.local_get(z);
        load_word(sink, height);
        sink.i32_div_u().local_set(z);
    }

    fn write_builtin(&self, sink: &mut InstructionSink<'_>, number: u32, place: &BuiltinPlace) {
        for component in 0..place.count.min(3) as u32 {
            sink.global_get(GLOBAL_PRIVATE);
            self.push_builtin(sink, number, place, component);
            let offset = place.offset + u64::from(component) * place.bytes as u64;
            match place.bytes {
                1 => sink.i64_store8(byte_offset(offset)),
                2 => sink.i64_store16(byte_offset(offset)),
                4 => sink.i64_store32(byte_offset(offset)),
                _ => sink.i64_store(byte_offset(offset)),
            };
        }
    }

    /// Pushes a component of a built-in variable: the value of the first invocation, which the caller knows, and what the
    /// number of the invocation adds.
    fn push_builtin(
        &self,
        sink: &mut InstructionSink<'_>,
        number: u32,
        place: &BuiltinPlace,
        component: u32,
    ) {
        let constant = layout::BUILTINS + 24 * number + 8 * component;
        let lanes = SUBGROUP_SIZE as i64;
        let own = LOCAL_ID[component as usize];
        let mask = (1i64 << SUBGROUP_SIZE) - 1;
        match place.builtin {
            BuiltIn::LocalInvocationId | BuiltIn::GlobalInvocationId => {
                load_long(sink, constant);
                sink.local_get(own).i64_extend_i32_u().i64_add();
            }
            BuiltIn::GlobalLinearId if component == 0 => {
                let [x, y, z] = LOCAL_ID;
                load_long(sink, constant);
                sink.local_get(x).i64_extend_i32_u().i64_add();
                for (id, stride) in [(y, layout::GRID_ROW), (z, layout::GRID_PLANE)] {
                    sink.local_get(id).i64_extend_i32_u();
                    load_long(sink, stride);
                    sink.i64_mul().i64_add();
                }
            }
            _ if component > 0 => load_long(sink, constant),
            BuiltIn::LocalInvocationIndex => push_number(sink),
            BuiltIn::SubgroupId => {
                push_number(sink);
                sink.i64_const(lanes).i64_div_u();
            }
            BuiltIn::SubgroupLocalInvocationId => push_lane(sink),
            BuiltIn::SubgroupSize if place.is_kernel => self.push_subgroup_size(sink),
            BuiltIn::SubgroupEqMask => {
                push_lane_mask(sink, 1, 0);
            }
            BuiltIn::SubgroupLtMask => {
                push_lane_mask(sink, 1, 1);
            }
            BuiltIn::SubgroupLeMask => {
                push_lane_mask(sink, 2, 1);
            }
            BuiltIn::SubgroupGtMask => {
                push_lane_mask(sink, 2, 1);
                sink.i64_const(mask).i64_xor().i64_const(mask).i64_and();
            }
            BuiltIn::SubgroupGeMask => {
                push_lane_mask(sink, 1, 1);
                sink.i64_const(mask).i64_xor().i64_const(mask).i64_and();
            }
            _ => load_long(sink, constant),
        }
    }

    /// Invocations of the subgroup: the last one has the rest.
    fn push_subgroup_size(&self, sink: &mut InstructionSink<'_>) {
        let lanes = SUBGROUP_SIZE as i32;
        let rest = STATUS;
        sink.local_get(COUNT)
            .local_get(NUMBER)
            .i32_const(-lanes)
            .i32_and()
            .i32_sub()
            .local_set(rest);
        sink.i32_const(lanes)
            .local_get(rest)
            .local_get(rest)
            .i32_const(lanes)
            .i32_gt_u()
            .select()
            .i64_extend_i32_u();
    }

    /// Calls the entry point. Its status is left in a local, and its results dropped.
    fn write_call(&self, sink: &mut InstructionSink<'_>) {
        let Some(entry) = self.plan.functions.first() else {
            return;
        };
        for parameter in 0..entry.parameters {
            load_long(sink, self.fixed.parameters + 8 * parameter);
        }
        sink.call(FIRST_FUNCTION);
        for _ in 0..entry.results {
            sink.drop();
        }
        if entry.may_suspend {
            sink.local_set(STATUS);
        }
    }

    /// Sets the globals of the invocation: its variables and state.
    fn choose_invocation(&self, sink: &mut InstructionSink<'_>) {
        for (place, bytes, global) in [
            (
                layout::PRIVATE,
                self.fixed.private_bytes as i32,
                GLOBAL_PRIVATE,
            ),
            (layout::STATES, self.fixed.state_bytes as i32, GLOBAL_STATE),
        ] {
            load_word(sink, place);
            sink.local_get(NUMBER)
                .i32_const(bytes)
                .i32_mul()
                .i32_add()
                .global_set(global);
        }
    }

    /// Begins all invocations.
    fn write_beginning(&self, sink: &mut InstructionSink<'_>) {
        load_word(sink, layout::STATES);
        sink.i32_const(0)
            .local_get(COUNT)
            .i32_const(self.fixed.state_bytes as i32)
            .i32_mul()
            .memory_fill(0);
        self.open_loop(sink);
        self.choose_invocation(sink);
        self.begin_invocation(sink);
        self.close_loop(sink);
    }

    fn write_waiting_loop(&self, sink: &mut InstructionSink<'_>) {
        sink.loop_(BlockType::Empty);
        sink.i32_const(0)
            .local_set(FIRST_WAIT)
            .i32_const(0)
            .local_set(IS_MIXED);
        self.open_loop(sink);
        self.choose_invocation(sink);
        sink.i32_const(0)
            .local_get(NUMBER)
            .i32_store(byte_offset(layout::INVOCATION.into()));
        sink.global_get(GLOBAL_STATE)
            .i32_load(byte_offset(0))
            .local_tee(STATUS)
            .i32_eqz()
            .if_(BlockType::Empty);
        self.count_steps(sink);
        self.write_call(sink);
        sink.global_get(GLOBAL_STATE)
            .local_get(STATUS)
            .i32_store(byte_offset(0))
            .end();
        // The first wait is compared with the others.
        sink.local_get(STATUS)
            .i32_const(STATUS_ENDED)
            .i32_gt_u()
            .if_(BlockType::Empty)
            .local_get(FIRST_WAIT)
            .i32_eqz()
            .if_(BlockType::Empty)
            .local_get(STATUS)
            .local_set(FIRST_WAIT)
            .end()
            .local_get(IS_MIXED)
            .local_get(STATUS)
            .local_get(FIRST_WAIT)
            .i32_ne()
            .i32_or()
            .local_set(IS_MIXED)
            .end();
        self.close_loop(sink);
        // Bit 0 of a status is that of a plain barrier.
        sink.local_get(FIRST_WAIT)
            .i32_const(1)
            .i32_and()
            .local_get(IS_MIXED)
            .i32_eqz()
            .i32_and()
            .if_(BlockType::Empty);
        self.write_release(sink);
        sink.br(1).end().end();
        sink.local_get(FIRST_WAIT);
    }

    /// Lets all invocations that wait go on.
    fn write_release(&self, sink: &mut InstructionSink<'_>) {
        self.open_loop(sink);
        self.choose_invocation(sink);
        sink.global_get(GLOBAL_STATE)
            .i32_load(byte_offset(0))
            .i32_const(STATUS_ENDED)
            .i32_ne()
            .if_(BlockType::Empty)
            .global_get(GLOBAL_STATE)
            .i32_const(0)
            .i32_store(byte_offset(0))
            .end();
        self.close_loop(sink);
    }
}

fn push_number(sink: &mut InstructionSink<'_>) {
    sink.local_get(NUMBER).i64_extend_i32_u();
}

fn push_lane(sink: &mut InstructionSink<'_>) {
    push_number(sink);
    sink.i64_const(SUBGROUP_SIZE as i64 - 1).i64_and();
}

/// Pushes `(first << lane) - less`.
fn push_lane_mask(sink: &mut InstructionSink<'_>, first: i64, less: i64) {
    sink.i64_const(first);
    push_lane(sink);
    sink.i64_shl().i64_const(less).i64_sub();
}
