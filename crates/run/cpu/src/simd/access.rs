//! Loads and stores of gangs.

use super::divergence::{FrameSlot, LaneVariance};
use super::lane_layout::{LaneLayout, LaneValues, vector_of};
use super::vectorise::GangVectoriser;
use crate::layout::launch_context::at;
use crate::module::entry_point::MAX_GANG_WIDTH;
use cranelift_codegen::ir::{
    Endianness, FuncRef, Inst, InstBuilder, MemFlagsData, Opcode, Type, Value, types,
};
use smallvec::SmallVec;

impl GangVectoriser<'_> {
    /// Flags of a vector access that replaces one of scalars.
    pub(super) fn vector_flags(&self, inst: Inst) -> MemFlagsData {
        let flags = self.old.dfg.insts[inst].memflags_data(&self.old.dfg);
        let mut wide = MemFlagsData::new().with_notrap();
        if let Some(flags) = flags {
            wide = wide.with_alias_region(flags.alias_region());
            if flags.readonly() {
                wide = wide.with_readonly();
            }
        }
        wide
    }

    /// A load from an address that follows from the first lane's.
    pub fn rewrite_load(&mut self, inst: Inst) -> bool {
        let address = self.old.dfg.inst_args(inst)[0];
        let result = self.old.dfg.first_result(inst);
        let LaneLayout::Base(_) = self.lane_layout(address) else {
            return false;
        };
        let stride = self.lane_stride(address);
        let offset = self.old.dfg.insts[inst].load_store_offset().unwrap_or(0);
        let ty = self.old.dfg.value_type(result);
        let base = self.get_lane_values(address)[0];
        let form = self.lane_layout(result);
        if let LaneLayout::Parts(vector) = form
            && stride == i64::from(ty.bytes())
        {
            let flags = self.vector_flags(inst);
            let parts: LaneValues = (0..self.layout_values(form).0)
                .map(|n| {
                    let at = offset.wrapping_add(16 * n as i32);
                    self.load_vector(vector, flags, base, at)
                })
                .collect();
            self.set_lane_values(result, &parts);
            return true;
        }
        let flags = self.old.dfg.insts[inst].memflags_data(&self.old.dfg);
        let flags = flags.unwrap_or(MemFlagsData::new());
        let Some(offsets) = lane_offsets(self.width(), offset, stride) else {
            return false;
        };
        let lanes: LaneValues = offsets
            .iter()
            .map(|at| self.builder.ins().load(ty, flags, base, *at))
            .collect();
        let held = self.assemble_lanes(result, &lanes);
        self.set_lane_values(result, &held);
        true
    }

    /// A store to an address that follows from the first lane's.
    pub fn rewrite_store(&mut self, inst: Inst) -> bool {
        let args = self.old.dfg.inst_args(inst);
        let (value, address) = (args[0], args[1]);
        let LaneLayout::Base(_) = self.lane_layout(address) else {
            return false;
        };
        let stride = self.lane_stride(address);
        let offset = self.old.dfg.insts[inst].load_store_offset().unwrap_or(0);
        let ty = self.old.dfg.value_type(value);
        let base = self.get_lane_values(address)[0];
        let vector = match self.lane_layout(value) {
            LaneLayout::Base(types::I64) => Some(types::I64X2),
            LaneLayout::Parts(vector) => Some(vector),
            LaneLayout::Mask | LaneLayout::Base(types::I8) => Some(types::I8X16),
            _ => vector_of(ty),
        };
        if let Some(vector) = vector
            && stride == i64::from(ty.bytes())
            && (ty.is_int() || self.lane_stride(value) == 0)
        {
            let flags = self.vector_flags(inst);
            let parts = self.extract_stored(value, vector);
            match self.non_temporal_stub {
                Some((callee, stores))
                    if stores.contains(&inst) && parts.len().is_multiple_of(2) =>
                {
                    self.store_non_temporal(callee, flags, &parts, base, offset);
                }
                _ => self.store_vectors(flags, &parts, base, offset),
            }
            return true;
        }
        let Some(offsets) = lane_offsets(self.width(), offset, stride) else {
            return false;
        };
        let flags = self.old.dfg.insts[inst].memflags_data(&self.old.dfg);
        let flags = flags.unwrap_or(MemFlagsData::new());
        let lanes = self.extract_lanes(value);
        for (lane, at) in lanes.iter().zip(offsets) {
            self.builder.ins().store(flags, *lane, base, at);
        }
        true
    }

    /// The vectors of a value that is stored.
    fn extract_stored(&mut self, value: Value, vector: Type) -> LaneValues {
        if self.lane_layout(value) != LaneLayout::Mask {
            return self.extract_vectors(value, vector);
        }
        let mask = self.get_lane_values(value);
        self.emit_bits(&mask, vector)
    }

    /// Loads a vector. Those of bytes are filled by half at most.
    fn load_vector(
        &mut self,
        vector: Type,
        flags: MemFlagsData,
        base: Value,
        offset: i32,
    ) -> Value {
        let Some(word) = self.word_of_bytes(vector) else {
            return self.builder.ins().load(vector, flags, base, offset);
        };
        let bytes = self.builder.ins().load(word, flags, base, offset);
        let words = word.by(16 / word.bytes()).unwrap_or(types::I64X2);
        let held = self.builder.ins().scalar_to_vector(words, bytes);
        self.bitcast_vector(vector, held)
    }

    /// The type of a word that has the bytes of all lanes; none for vectors of wider numbers.
    fn word_of_bytes(&self, vector: Type) -> Option<Type> {
        let word = if self.width() == 8 {
            types::I64
        } else {
            types::I32
        };
        (vector == types::I8X16).then_some(word)
    }

    fn store_vectors(&mut self, flags: MemFlagsData, parts: &[Value], base: Value, offset: i32) {
        for (n, part) in parts.iter().enumerate() {
            let at = offset.wrapping_add(16 * n as i32);
            let ty = self.builder.func.dfg.value_type(*part);
            let stored = match self.word_of_bytes(ty) {
                Some(word) => {
                    let words = word.by(16 / word.bytes()).unwrap_or(types::I64X2);
                    let held = self.bitcast_vector(words, *part);
                    self.builder.ins().extractlane(held, 0)
                }
                None => *part,
            };
            self.builder.ins().store(flags, stored, base, at);
        }
    }

    /// Stores vectors past the caches where the launch selects non-temporal stores.
    fn store_non_temporal(
        &mut self,
        callee: FuncRef,
        flags: MemFlagsData,
        parts: &[Value],
        base: Value,
        offset: i32,
    ) {
        let context = self.get_lane_values(self.variance.roots.context)[0];
        let trusted = MemFlagsData::trusted().with_readonly();
        let ins = self.builder.ins();
        let asked = ins.load(types::I64, trusted, context, at::NON_TEMPORAL);
        let [past, plain, after] = [(); 3].map(|()| self.builder.create_block());
        self.builder.ins().brif(asked, past, &[], plain, &[]);
        self.builder.switch_to_block(past);
        for (n, pair) in parts.chunks_exact(2).enumerate() {
            let at = i64::from(offset) + 32 * n as i64;
            let to = self.builder.ins().iadd_imm_s(base, at);
            let mut args = vec![to];
            for part in pair {
                args.push(match self.builder.func.dfg.value_type(*part) {
                    types::I32X4 => *part,
                    _ => {
                        let order = MemFlagsData::new().with_endianness(Endianness::Little);
                        self.builder.ins().bitcast(types::I32X4, order, *part)
                    }
                });
            }
            self.builder.ins().call(callee, &args);
        }
        self.builder.ins().jump(after, &[]);
        self.builder.switch_to_block(plain);
        self.store_vectors(flags, parts, base, offset);
        self.builder.ins().jump(after, &[]);
        self.builder.switch_to_block(after);
    }

    /// Rewrites an access to a value that is kept over barriers.
    pub fn rewrite_slot_access(&mut self, inst: Inst, slot: FrameSlot) {
        let args = self.old.dfg.inst_args(inst);
        let is_load = self.opcode(inst) == Opcode::Load;
        let value = if is_load {
            self.old.dfg.first_result(inst)
        } else {
            args[0]
        };
        let ty = self.old.dfg.value_type(value);
        let frame = self.get_lane_values(*args.last().unwrap_or(&value))[0];
        let form = slot_form(slot, ty);
        let flags = self.vector_flags(inst);
        let (count, each) = self.layout_values(form);
        let first = slot.offset * self.width() as i32;
        let at = |n: usize| first + (n as u32 * each.bytes()) as i32;
        if is_load {
            let held: LaneValues = (0..count)
                .map(|n| self.builder.ins().load(each, flags, frame, at(n)))
                .collect();
            match (form, slot.shape) {
                (LaneLayout::Base(_), LaneVariance::Affine { stride, .. }) => {
                    self.set_from_first(value, held[0], stride);
                }
                // Values that are kept over barriers count as varying, and so do the loads of them.
                _ => self.set_lane_values(value, &held),
            }
        } else {
            let held = self.convert_layout(value, form);
            for (n, part) in held.into_iter().enumerate() {
                self.builder.ins().store(flags, part, frame, at(n));
            }
        }
    }
}

/// The lane layout of a value of a type in a slot.
pub(super) fn slot_form(slot: FrameSlot, ty: Type) -> LaneLayout {
    match (slot.shape, vector_of(ty)) {
        (LaneVariance::Affine { .. } | LaneVariance::Unknown, _) => LaneLayout::Base(ty),
        _ if slot.is_bool && ty == types::I8 => LaneLayout::Mask,
        (_, Some(vector)) => LaneLayout::Parts(vector),
        _ => LaneLayout::Lanes(ty),
    }
}

/// Offsets of the accesses of `width` lanes; none where they do not fit.
fn lane_offsets(width: usize, offset: i32, stride: i64) -> Option<SmallVec<[i32; MAX_GANG_WIDTH]>> {
    let last = i64::from(offset).checked_add(stride.checked_mul(width as i64)?)?;
    i32::try_from(last).ok()?;
    let offsets = (0..width as i64).map(|n| offset.wrapping_add((n * stride) as i32));
    Some(offsets.collect())
}
