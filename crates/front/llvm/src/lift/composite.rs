//! Lifting of composites: vectors, arrays and structures.

use super::body::{FunctionLifter, LiftSource};
use super::lifted_entities::LiftedTypeShape;
use crate::ir::{
    ConstKind, InstructionExtra, LlvmInstFlags, LlvmOpcode, LlvmType, LlvmTypeKind, LlvmValue,
};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;

/// The number of a lane without an operand.
const NO_LANE: u32 = u32::MAX;

/// Greatest number of members that are copied one by one, and greatest nesting depth.
const MAX_PARTS: u64 = 4096;
const MAX_DEPTH: u32 = 16;

impl<'s> FunctionLifter<'_, 's> {
    fn lane_count(&self, ty: LlvmType) -> Option<u32> {
        match *self.l.out.types.kind(ty) {
            LlvmTypeKind::Vector { len, .. } => Some(len),
            _ => None,
        }
    }

    fn make_poison(&mut self, ty: LlvmType) -> LlvmValue {
        LlvmValue::from_constant(self.l.out.consts.intern_constant(ty, ConstKind::Poison))
    }

    /// `OpUndef` within a function.
    pub(super) fn lift_undef(&mut self, source: &LiftSource<'s>) -> LlvmResult<Option<LlvmValue>> {
        let ty = self.result_type(source)?;
        let undefined = self.l.out.consts.intern_constant(ty, ConstKind::Undef);
        Ok(Some(LlvmValue::from_constant(undefined)))
    }

    /// The operand itself.
    pub(super) fn lift_copy(&mut self, source: &LiftSource<'s>) -> LlvmResult<Option<LlvmValue>> {
        self.operand_value(source, 0).map(Some)
    }

    pub(super) fn push_shuffle(
        &mut self,
        left: LlvmValue,
        right: LlvmValue,
        mask: &[u32],
    ) -> LlvmResult<LlvmValue> {
        let element = self.l.out.types.scalar_type(self.type_of(left));
        let ty = self
            .l
            .out
            .types
            .make_vector(element, mask.len() as u32, false);
        let mask = InstructionExtra::Mask(self.push_numbers(mask));
        let operands = [left, right];
        Ok(self.push_with(
            LlvmOpcode::ShuffleVector,
            LlvmInstFlags::NONE,
            ty,
            &operands,
            mask,
        ))
    }

    /// A vector resized to `to` lanes. Lanes past its own are poison.
    fn resize_vector(&mut self, value: LlvmValue, from: u32, to: u32) -> LlvmResult<LlvmValue> {
        if from == to {
            return Ok(value);
        }
        let mask: Vec<u32> = (0..to)
            .map(|lane| if lane < from { lane } else { NO_LANE })
            .collect();
        let ty = self.type_of(value);
        let poison = self.make_poison(ty);
        self.push_shuffle(value, poison, &mask)
    }

    /// `OpVectorShuffle`, whose operands may be of two lengths.
    pub(super) fn lift_vector_shuffle(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LlvmResult<Option<LlvmValue>> {
        let (left, right) = (
            self.operand_value(source, 0)?,
            self.operand_value(source, 1)?,
        );
        let lanes = [left, right].map(|v| self.lane_count(self.type_of(v)));
        let [Some(a), Some(b)] = lanes else {
            return Err(make_refusal("an operand is not a vector"));
        };
        let both = a.max(b);
        let left = self.resize_vector(left, a, both)?;
        let right = self.resize_vector(right, b, both)?;
        let mask: Vec<u32> = source.operands[2..]
            .iter()
            .map(|&lane| match lane {
                NO_LANE => NO_LANE,
                lane if lane < a => lane,
                lane => lane - a + both,
            })
            .collect();
        if mask.iter().any(|&lane| lane != NO_LANE && lane >= 2 * both) {
            return Err(make_refusal("a lane is past the last"));
        }
        self.push_shuffle(left, right, &mask).map(Some)
    }

    /// `OpCompositeConstruct`: constituents are inserted one by one, vectors lane by lane.
    pub(super) fn lift_composite_construct(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LlvmResult<Option<LlvmValue>> {
        let ty = self.result_type(source)?;
        let parts = self.operand_values(source, 0)?;
        let mut whole = self.make_poison(ty);
        let Some(lanes) = self.lane_count(ty) else {
            let is_length_wrapper = matches!(
                self.l.find_lowered_type(source.result_type()?)?.shape,
                LiftedTypeShape::SpecialisedArray(_)
            );
            for (index, part) in (0..).zip(parts) {
                let path = [0, index];
                whole = self.insert_value(whole, part, &path[usize::from(!is_length_wrapper)..]);
            }
            return Ok(Some(whole));
        };
        let mut at = 0;
        for part in parts {
            match self.lane_count(self.type_of(part)) {
                None => {
                    whole = self.insert_lane(whole, part, at);
                    at += 1;
                }
                Some(count) => {
                    if count > lanes {
                        return Err(make_refusal("a constituent is longer than the composite"));
                    }
                    let part = self.resize_vector(part, count, lanes)?;
                    let mask: Vec<u32> = (0..lanes)
                        .map(|lane| {
                            if (at..at + count).contains(&lane) {
                                lanes + lane - at
                            } else {
                                lane
                            }
                        })
                        .collect();
                    whole = self.push_shuffle(whole, part, &mask)?;
                    at += count;
                }
            }
        }
        Ok(Some(whole))
    }

    pub(super) fn insert_lane(&mut self, whole: LlvmValue, part: LlvmValue, at: u32) -> LlvmValue {
        let index = LlvmValue::from_constant(self.l.make_i32(at));
        let ty = self.type_of(whole);
        self.push_instruction(LlvmOpcode::InsertElement, ty, &[whole, part, index])
    }

    pub(super) fn insert_value(
        &mut self,
        whole: LlvmValue,
        part: LlvmValue,
        path: &[u32],
    ) -> LlvmValue {
        let ty = self.type_of(whole);
        let path = InstructionExtra::Indices(self.push_numbers(path));
        self.push_with(
            LlvmOpcode::InsertValue,
            LlvmInstFlags::NONE,
            ty,
            &[whole, part],
            path,
        )
    }

    pub(super) fn extract_value(
        &mut self,
        whole: LlvmValue,
        path: &[u32],
    ) -> LlvmResult<LlvmValue> {
        if path.is_empty() {
            return Ok(whole);
        }
        let ty = self.type_of(whole);
        let Some(ty) = crate::ir::member_type(&self.l.out.types, ty, path) else {
            return Err(make_refusal(
                "the indices do not select a member of its type",
            ));
        };
        let path = InstructionExtra::Indices(self.push_numbers(path));
        Ok(self.push_with(
            LlvmOpcode::ExtractValue,
            LlvmInstFlags::NONE,
            ty,
            &[whole],
            path,
        ))
    }

    pub(super) fn extract_lane(&mut self, whole: LlvmValue, at: u32) -> LlvmResult<LlvmValue> {
        let ty = self.type_of(whole);
        if self.lane_count(ty).is_none_or(|lanes| at >= lanes) {
            return Err(make_refusal("there is no such lane"));
        }
        let element = self.l.out.types.scalar_type(ty);
        let index = LlvmValue::from_constant(self.l.make_i32(at));
        Ok(self.push_instruction(LlvmOpcode::ExtractElement, element, &[whole, index]))
    }

    /// Splits a path through a SPIR-V type into the path through aggregates and, at its end, the
    /// lane of a vector if it selects one.
    fn split_composite_path(
        &self,
        value: Id,
        path: &'s [u32],
    ) -> LlvmResult<(Vec<u32>, Option<u32>)> {
        let mut ty = self.l.type_of(value)?;
        let mut steps = Vec::with_capacity(path.len());
        for (at, &index) in path.iter().enumerate() {
            let lowered = self.l.find_lowered_type(ty)?;
            if self.lane_count(lowered.ty).is_some() {
                let rest = at + 1 < path.len();
                return if rest {
                    Err(make_refusal("the indices lead into a lane"))
                } else {
                    Ok((steps, Some(index)))
                };
            }
            match lowered.shape {
                LiftedTypeShape::Plain => {
                    return Err(make_refusal(
                        "the indices do not select a member of its type",
                    ));
                }
                LiftedTypeShape::SpecialisedArray(_) => steps.push(0),
                _ => {}
            }
            steps.push(index);
            ty = self.l.type_of_member(ty, index.into())?;
        }
        Ok((steps, None))
    }

    /// `OpCompositeExtract`
    pub(super) fn lift_composite_extract(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LlvmResult<Option<LlvmValue>> {
        let whole = self.operand_value(source, 0)?;
        let (path, lane) = self.split_composite_path(source.read_id(0)?, &source.operands[1..])?;
        let part = self.extract_value(whole, &path)?;
        match lane {
            Some(lane) => self.extract_lane(part, lane).map(Some),
            None => Ok(Some(part)),
        }
    }

    /// `OpCopyLogical`: copies the members into a type of another layout.
    pub(super) fn copy_logical(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LlvmResult<Option<LlvmValue>> {
        let (whole, ty) = (self.operand_value(source, 0)?, self.result_type(source)?);
        self.copy_composite(whole, ty, 0).map(Some)
    }

    fn copy_composite(
        &mut self,
        whole: LlvmValue,
        ty: LlvmType,
        depth: u32,
    ) -> LlvmResult<LlvmValue> {
        if self.type_of(whole) == ty {
            return Ok(whole);
        }
        let count = self.l.out.types.element_count(ty).unwrap_or(0);
        if depth > MAX_DEPTH || count > MAX_PARTS {
            return Err(make_refusal(
                "an aggregate is too large to be copied member by member",
            ));
        }
        let mut copy = self.make_poison(ty);
        for index in 0..count {
            let Some(part) = self.l.out.types.element_type(ty, index) else {
                break;
            };
            let old = self.extract_value(whole, &[index as u32])?;
            let new = self.copy_composite(old, part, depth + 1)?;
            copy = self.insert_value(copy, new, &[index as u32]);
        }
        Ok(copy)
    }

    /// `OpCompositeInsert`
    pub(super) fn lift_composite_insert(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LlvmResult<Option<LlvmValue>> {
        let (part, whole) = (
            self.operand_value(source, 0)?,
            self.operand_value(source, 1)?,
        );
        let (path, lane) = self.split_composite_path(source.read_id(1)?, &source.operands[2..])?;
        let part = match lane {
            None => part,
            Some(lane) => {
                let vector = self.extract_value(whole, &path)?;
                let lanes = self.lane_count(self.type_of(vector));
                if lanes.is_none_or(|lanes| lane >= lanes) {
                    return Err(make_refusal("there is no such lane"));
                }
                self.insert_lane(vector, part, lane)
            }
        };
        match path.as_slice() {
            [] => Ok(Some(part)),
            path => Ok(Some(self.insert_value(whole, part, path))),
        }
    }
}
