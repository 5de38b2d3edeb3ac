//! Lane slots: memory on the stack for the lanes of values, which loops over lanes read and write.

use super::lane_layout::{LaneLayout, LaneValues};
use super::vectorise::GangVectoriser;
use cranelift_codegen::ir::{
    InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, Type, Value, types,
};

impl GangVectoriser<'_> {
    /// The address of slot `n`.
    fn emit_spill_address(&mut self, n: usize) -> Value {
        while self.rooms.len() <= n {
            let bytes = 8 * self.width() as u32;
            let data = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 4);
            let slot = self.builder.create_sized_stack_slot(data);
            self.rooms.push(slot);
        }
        let slot = self.rooms[n];
        self.builder.ins().stack_addr(types::I64, slot, 0)
    }

    /// Writes the lanes of a value to a slot. Those that follow from the first lane's are not written.
    pub(super) fn write_lanes(&mut self, n: usize, value: Value) {
        let form = self.lane_layout(value);
        if let LaneLayout::Base(_) = form {
            return;
        }
        let held = self.get_lane_values(value);
        self.write_held(n, form, &held);
    }

    /// Writes values that have a layout to a slot.
    pub(super) fn write_held(&mut self, n: usize, form: LaneLayout, held: &[Value]) {
        let (_, ty) = self.layout_values(form);
        let room = self.emit_spill_address(n);
        for (part, held) in held.iter().enumerate() {
            let at = part as i32 * ty.bytes() as i32;
            let flags = MemFlagsData::trusted();
            self.builder.ins().store(flags, *held, room, at);
        }
    }

    /// Reads the lanes of a value from a slot.
    pub(super) fn read_lanes(&mut self, n: usize, value: Value) -> LaneValues {
        let (count, ty) = self.layout_values(self.lane_layout(value));
        let room = self.emit_spill_address(n);
        (0..count as i32)
            .map(|part| {
                let at = part * ty.bytes() as i32;
                let flags = MemFlagsData::trusted();
                self.builder.ins().load(ty, flags, room, at)
            })
            .collect()
    }

    /// The address of a lane's scalar of a value, and the type that it is stored as.
    fn lane_slot_address(&mut self, n: usize, value: Value, lane: Value) -> (Value, Type) {
        let ty = match self.lane_layout(value) {
            LaneLayout::Mask => types::I32,
            _ => self.old.dfg.value_type(value),
        };
        let room = self.emit_spill_address(n);
        let bytes = i64::from(ty.bytes());
        let offset = self.builder.ins().imul_imm_s(lane, bytes);
        (self.builder.ins().iadd(room, offset), ty)
    }

    /// Reads the scalar of a lane from a slot.
    pub(super) fn read_lane(&mut self, n: usize, value: Value, lane: Value) -> Value {
        if let LaneLayout::Base(ty) = self.lane_layout(value) {
            let first = self.get_lane_values(value)[0];
            let stride = self.lane_stride(value);
            return self.lane_of(first, ty, stride, lane);
        }
        let (address, ty) = self.lane_slot_address(n, value, lane);
        let flags = MemFlagsData::trusted();
        let scalar = self.builder.ins().load(ty, flags, address, 0);
        if self.lane_layout(value) == LaneLayout::Mask {
            return self.bool_of(scalar);
        }
        scalar
    }

    /// Writes the scalar of a lane to a slot.
    pub(super) fn write_lane(&mut self, n: usize, value: Value, lane: Value) {
        let mut scalar = self.get_lane_scalar(value);
        if self.lane_layout(value) == LaneLayout::Mask {
            scalar = self.all_bits(scalar);
        }
        let (address, _) = self.lane_slot_address(n, value, lane);
        let flags = MemFlagsData::trusted();
        self.builder.ins().store(flags, scalar, address, 0);
    }
}
