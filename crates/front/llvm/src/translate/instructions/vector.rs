//! Vector instructions: element access and shuffles.

use crate::ir::LlvmInst;
use crate::translate::function_body::FunctionTranslator;
use crate::translate::shapes::NumericShape;
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

/// A lane of a shuffle that may be anything.
const ANY: u32 = u32::MAX;

impl FunctionTranslator<'_, '_> {
    pub(super) fn extract_element(&mut self, inst: LlvmInst) -> LlvmResult<Id> {
        let operands = self.function.operands(inst);
        let shape = self.shape_of(operands[0])?;
        let vector = self.lower_value(operands[0])?;
        match self.t.module.as_u64(operands[1]) {
            Some(lane) if lane < u64::from(shape.lanes) => {
                Ok(self.extract_lane(shape, vector, lane as u32))
            }
            Some(_) => {
                let ty = self.t.shape_type(shape.to_scalar());
                Ok(self.t.b.declare_undef(ty))
            }
            None if shape.padded == 1 => Ok(vector),
            None => {
                let index = self.lower_value(operands[1])?;
                let ty = self.t.shape_type(shape.to_scalar());
                Ok(self.emit_op(Op::VectorExtractDynamic, ty, [vector, index]))
            }
        }
    }

    pub(super) fn insert_element(&mut self, inst: LlvmInst) -> LlvmResult<Id> {
        let operands = self.function.operands(inst);
        let shape = self.shape_of(operands[0])?;
        let element = self.lower_value(operands[1])?;
        if shape.padded == 1 {
            return Ok(element);
        }
        let ty = self.t.shape_type(shape);
        let vector = self.lower_value(operands[0])?;
        match self.t.module.as_u64(operands[2]) {
            Some(lane) if lane < u64::from(shape.lanes) => {
                let words = [element.word(), vector.word(), lane as u32];
                Ok(self.t.b.append_value(Op::CompositeInsert, ty, &words))
            }
            Some(_) => Ok(self.t.b.declare_undef(ty)),
            None => {
                let index = self.lower_value(operands[2])?;
                Ok(self.emit_op(Op::VectorInsertDynamic, ty, [vector, element, index]))
            }
        }
    }

    pub(super) fn lower_shuffle(&mut self, inst: LlvmInst) -> LlvmResult<Id> {
        let operands = self.function.operands(inst);
        let mask = self.function.numbers_of(inst);
        let from = self.shape_of(operands[0])?;
        let to = self.result_shape(inst)?;
        if mask.len() != to.lanes as usize {
            return Err(make_refusal("a shuffle whose mask does not fit its type"));
        }
        let left = self.lower_value(operands[0])?;
        let is_one = self.is_undefined(operands[1]);
        let right = if is_one {
            left
        } else {
            self.lower_value(operands[1])?
        };
        if from.padded == 1 || to.padded == 1 {
            return Ok(self.shuffle_lanes(from, to, mask, [left, right]));
        }
        let ty = self.t.shape_type(to);
        let mut words = vec![left.word(), right.word()];
        words.extend(mask.iter().map(|&lane| match lane {
            ANY => ANY,
            _ if lane < from.lanes => lane,
            _ if is_one => ANY,
            _ => lane - from.lanes + from.padded,
        }));
        words.resize(2 + to.padded as usize, ANY);
        Ok(self.t.b.append_value(Op::VectorShuffle, ty, &words))
    }

    /// A shuffle from or to scalars.
    fn shuffle_lanes(
        &mut self,
        from: NumericShape,
        to: NumericShape,
        mask: &[u32],
        operands: [Id; 2],
    ) -> Id {
        let mut lanes = Vec::with_capacity(mask.len());
        for &lane in mask {
            let id = if lane < from.lanes {
                self.extract_lane(from, operands[0], lane)
            } else if lane < from.lanes * 2 {
                self.extract_lane(from, operands[1], lane - from.lanes)
            } else {
                let ty = self.t.shape_type(to.to_scalar());
                self.t.b.declare_undef(ty)
            };
            lanes.push(id);
        }
        self.compose_vector(to, &lanes)
    }
}
