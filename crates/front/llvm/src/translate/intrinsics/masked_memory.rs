//! Masked memory accesses: only the lanes that a mask selects are accessed.
//!
//! The extension SPV_INTEL_masked_gather_scatter is used only if it was requested, as it needs
//! vectors of pointers. Without it, a lane whose mask bit is not constant branches around its
//! access. Newer modules state the alignment as an attribute, older ones in an argument.

use super::super::function_body::FunctionTranslator;
use super::super::scalarise_vectors::OF_POINTERS;
use crate::ir::{AttrKind, ConstKind, LlvmType, LlvmValue};
use crate::translate::call_rules::ExternalCall;
use crate::translate::shapes::NumericShape;
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::MemoryAccess;

/// `llvm.masked.load(pointer, [alignment,] mask, otherwise)`
pub(super) fn lower_masked_load(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let [pointer, .., mask, otherwise] = call.args[..] else {
        return Err(make_refusal("an argument is missing"));
    };
    let access = body.lane_access(call, 0, call.args.len() == 4)?;
    let base = body.lower_pointer(pointer, access.memory)?;
    body.load_lanes(call, access, mask, Some(otherwise), &mut |body, lane| {
        body.step_to(base, lane)
    })
}

/// `llvm.masked.store(vector, pointer, [alignment,] mask)`
pub(super) fn lower_masked_store(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let [vector, pointer, .., mask] = call.args[..] else {
        return Err(make_refusal("an argument is missing"));
    };
    let access = body.lane_access(call, 1, call.args.len() == 4)?;
    let base = body.lower_pointer(pointer, access.memory)?;
    body.store_lanes(access, vector, mask, &mut |body, lane| {
        body.step_to(base, lane)
    })
}

/// `llvm.masked.gather(pointers, [alignment,] mask, otherwise)`
pub(super) fn lower_masked_gather(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let [pointers, .., mask, otherwise] = call.args[..] else {
        return Err(make_refusal("an argument is missing"));
    };
    let access = body.lane_access(call, 0, call.args.len() == 4)?;
    if body.t.is_requested(OF_POINTERS) {
        let pointers = body.lower_value(pointers)?;
        let [mask, otherwise] = [body.lower_value(mask)?, body.lower_value(otherwise)?];
        let words = [pointers.word(), access.align, mask.word(), otherwise.word()];
        let ty = body.result_type(call.inst)?;
        return Ok(Some(body.t.b.append_value(
            Op::MaskedGatherINTEL,
            ty,
            &words,
        )));
    }
    body.load_lanes(call, access, mask, Some(otherwise), &mut |body, lane| {
        let pointer = body.lane_value(pointers, lane)?;
        Ok(body.cast_pointer(pointer, access.memory))
    })
}

/// `llvm.masked.scatter(vector, pointers, [alignment,] mask)`
pub(super) fn lower_masked_scatter(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let [vector, pointers, .., mask] = call.args[..] else {
        return Err(make_refusal("an argument is missing"));
    };
    let access = body.lane_access(call, 1, call.args.len() == 4)?;
    if body.t.is_requested(OF_POINTERS) {
        let vector = body.lower_value(vector)?;
        let [pointers, mask] = [body.lower_value(pointers)?, body.lower_value(mask)?];
        let words = [vector.word(), pointers.word(), access.align, mask.word()];
        body.t.b.append_effect(Op::MaskedScatterINTEL, &words);
        return Ok(None);
    }
    body.store_lanes(access, vector, mask, &mut |body, lane| {
        let pointer = body.lane_value(pointers, lane)?;
        Ok(body.cast_pointer(pointer, access.memory))
    })
}

/// `llvm.masked.expandload(pointer, mask, otherwise)`: consecutive elements are loaded into the
/// selected lanes.
pub(super) fn lower_expand_load(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let (mask, otherwise) = (call.arg(1)?, call.arg(2)?);
    let access = body.lane_access(call, 0, false)?;
    let base = body.lower_pointer(call.arg(0)?, access.memory)?;
    let places = body.count_lanes_before(mask)?;
    body.load_lanes(call, access, mask, Some(otherwise), &mut |body, lane| {
        Ok(body.step_pointer(base, places[lane as usize]))
    })
}

/// `llvm.masked.compressstore(vector, pointer, mask)`: the selected lanes are stored to consecutive
/// elements.
pub(super) fn lower_compress_store(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let mask = call.arg(2)?;
    let access = body.lane_access(call, 1, false)?;
    let base = body.lower_pointer(call.arg(1)?, access.memory)?;
    let places = body.count_lanes_before(mask)?;
    body.store_lanes(access, call.arg(0)?, mask, &mut |body, lane| {
        Ok(body.step_pointer(base, places[lane as usize]))
    })
}

/// The properties of the accesses of all lanes.
#[derive(Clone, Copy)]
pub(super) struct MaskedLaneAccess {
    element: LlvmType,
    /// The element in memory form.
    pub(super) memory: Id,
    align: u32,
    /// The number of lanes that are accessed at most, if the call states it.
    pub(super) length: Option<LlvmValue>,
}

/// The address of a lane's element.
type LaneAddressFn<'a, 'b, 'c> =
    &'a mut dyn FnMut(&mut FunctionTranslator<'b, 'c>, u32) -> LlvmResult<Id>;

impl<'t, 'm> FunctionTranslator<'t, 'm> {
    /// The accesses to the lanes of the vector that a call loads, or that it stores as its first
    /// argument. `pointer` is the index of the pointer argument.
    pub(super) fn lane_access(
        &mut self,
        call: &ExternalCall<'_>,
        pointer: usize,
        stated: bool,
    ) -> LlvmResult<MaskedLaneAccess> {
        let vector = match pointer {
            0 => self.inst_type(call.inst),
            _ => self.type_of(call.arg(0)?),
        };
        let element = self.t.module.types.scalar_type(vector);
        if self
            .t
            .find_shape(element)
            .is_some_and(|shape| !shape.is_exact())
        {
            return Err(make_refusal("the lanes have no addresses"));
        }
        let align = if stated {
            self.t.module.as_u64(call.arg(pointer + 1)?)
        } else {
            self.function.call_info(call.inst).and_then(|info| {
                let attributes = &self.t.module.attributes;
                let set = attributes.param_set(info.attributes, pointer);
                attributes.find_number(set, AttrKind::Align)
            })
        };
        // The alignment of the vector applies to a lane as far as the lane's size permits.
        let layout = &self.t.module.layout;
        let size = layout
            .alloc_size(&self.t.module.types, element)
            .unwrap_or(1);
        let align = align.unwrap_or(1).max(1).min(size.next_power_of_two());
        Ok(MaskedLaneAccess {
            element,
            memory: self.t.memory_type(element)?,
            align: if size.is_power_of_two() {
                align as u32
            } else {
                1
            },
            length: None,
        })
    }

    pub(super) fn step_to(&mut self, base: Id, lane: u32) -> LlvmResult<Id> {
        if lane == 0 {
            return Ok(base);
        }
        let size = NumericShape::new_int(self.t.pointer_bits, 1);
        let lane = self.t.make_splat(size, u64::from(lane));
        Ok(self.step_pointer(base, lane))
    }

    /// By lane: the number of earlier lanes that the mask selects.
    fn count_lanes_before(&mut self, mask: LlvmValue) -> LlvmResult<Vec<Id>> {
        let size = NumericShape::new_int(self.t.pointer_bits, 1);
        let ty = self.t.shape_type(size);
        let mut count = self.t.make_zero(size);
        let mut places = Vec::new();
        for bit in self.lane_values(mask)? {
            places.push(count);
            let one = self.convert_boolean(bit, size, false);
            count = self.emit_op(Op::IAdd, ty, [count, one]);
        }
        Ok(places)
    }

    /// Loads the selected lanes. The others are `otherwise`, or undefined.
    pub(super) fn load_lanes(
        &mut self,
        call: &ExternalCall<'_>,
        access: MaskedLaneAccess,
        mask: LlvmValue,
        otherwise: Option<LlvmValue>,
        place: LaneAddressFn<'_, 't, 'm>,
    ) -> LlvmResult<Option<Id>> {
        let ty = self.inst_type(call.inst);
        let mut lanes = Vec::new();
        for lane in 0..self.lane_count(ty) {
            let other = match otherwise {
                Some(value) => self.lane_value(value, lane)?,
                None => {
                    let ty = self.t.register_type(access.element)?;
                    self.t.b.declare_undef(ty)
                }
            };
            let known = self.known_active(mask, access.length, lane);
            if known == Some(false) {
                lanes.push(other);
                continue;
            }
            let Some(result) = self.t.b.type_of(other) else {
                return Err(make_refusal("a lane has no type"));
            };
            let skipped = self.begin_lane(mask, access, lane, known)?;
            let pointer = place(self, lane)?;
            let words = [pointer.word(), MemoryAccess::Aligned.0, access.align];
            let id = self.t.b.append_value(Op::Load, access.memory, &words);
            let mut id = self.convert_to_register(access.element, id)?;
            if let Some((before, after)) = skipped {
                let from = self.current_label();
                self.end_lane(after);
                let (joined, phi) = self.t.b.append_phi(result);
                let words = [id, from, other, before].map(Id::word);
                self.t.b.set_phi(phi, &words);
                id = joined;
            }
            lanes.push(id);
        }
        self.compose_lanes(ty, &lanes).map(Some)
    }

    /// Stores the lanes that are named.
    pub(super) fn store_lanes(
        &mut self,
        access: MaskedLaneAccess,
        vector: LlvmValue,
        mask: LlvmValue,
        place: LaneAddressFn<'_, 't, 'm>,
    ) -> LlvmResult<Option<Id>> {
        let pointee = self.t.pointee_of(access.memory);
        for lane in 0..self.lane_count(self.type_of(vector)) {
            let known = self.known_active(mask, access.length, lane);
            if known == Some(false) {
                continue;
            }
            let mut value = self.lane_value(vector, lane)?;
            if let Some((_, pointee)) = pointee {
                value = self.cast_pointer(value, pointee);
            }
            let skipped = self.begin_lane(mask, access, lane, known)?;
            let pointer = place(self, lane)?;
            let words = [
                pointer.word(),
                value.word(),
                MemoryAccess::Aligned.0,
                access.align,
            ];
            self.t.b.append_effect(Op::Store, &words);
            if let Some((_, after)) = skipped {
                self.end_lane(after);
            }
        }
        Ok(None)
    }

    /// Whether a lane is selected and within the length, if both are constant.
    pub(super) fn known_active(
        &self,
        mask: LlvmValue,
        length: Option<LlvmValue>,
        lane: u32,
    ) -> Option<bool> {
        let within = match length {
            None => Some(true),
            Some(length) => {
                let length = self.t.module.as_u64(length);
                length.map(|length| u64::from(lane) < length)
            }
        };
        match (self.known_bit(mask, lane), within) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        }
    }

    /// Whether a lane is named and within the length.
    pub(super) fn emit_lane_active(
        &mut self,
        mask: LlvmValue,
        length: Option<LlvmValue>,
        lane: u32,
    ) -> LlvmResult<Id> {
        if let Some(known) = self.known_active(mask, length, lane) {
            return Ok(self.t.b.constant_bool(known));
        }
        let Some(length) = length else {
            return self.lane_value(mask, lane);
        };
        let shape = self.shape_of(length)?;
        let end = self.lower_value(length)?;
        let number = self.t.make_splat(shape, u64::from(lane));
        let bool = self.t.b.bool_type();
        let within = self.emit_op(Op::ULessThan, bool, [number, end]);
        if self.known_bit(mask, lane) == Some(true) {
            return Ok(within);
        }
        let bit = self.lane_value(mask, lane)?;
        Ok(self.emit_op(Op::LogicalAnd, bool, [bit, within]))
    }

    /// Whether a lane is selected, if the mask is constant.
    fn known_bit(&self, mask: LlvmValue, lane: u32) -> Option<bool> {
        let consts = &self.t.module.consts;
        let mask = mask.as_const()?;
        if consts.is_zero(mask) {
            return Some(false);
        }
        match consts.kind(mask) {
            ConstKind::Aggregate(bits) => consts.as_u64(*bits.get(lane as usize)?),
            ConstKind::Splat(bit) => consts.as_u64(*bit),
            _ => None,
        }
        .map(|bit| bit != 0)
    }

    /// Begins the access of a lane, in a block of its own if the lane may be inactive. Returns the
    /// block before it and the block after it.
    fn begin_lane(
        &mut self,
        mask: LlvmValue,
        access: MaskedLaneAccess,
        lane: u32,
        known: Option<bool>,
    ) -> LlvmResult<Option<(Id, Id)>> {
        if known == Some(true) {
            return Ok(None);
        }
        let bit = self.emit_lane_active(mask, access.length, lane)?;
        let before = self.current_label();
        let [access, after] = [(); 2].map(|()| self.t.b.fresh_id());
        let words = [bit, access, after].map(Id::word);
        self.t.b.append_effect(Op::BranchConditional, &words);
        self.begin_block(access);
        Ok(Some((before, after)))
    }

    fn end_lane(&mut self, after: Id) {
        self.t.b.append_effect(Op::Branch, &[after.word()]);
        self.begin_block(after);
    }
}
