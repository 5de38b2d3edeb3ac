//! Conversion instructions.

use crate::ir::{LlvmInst, LlvmOpcode, LlvmTypeKind, LlvmValue};
use crate::translate::function_body::FunctionTranslator;
use crate::translate::shapes::{NumericElement, NumericShape};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

impl FunctionTranslator<'_, '_> {
    pub(super) fn lower_convert(&mut self, inst: LlvmInst) -> LlvmResult<Id> {
        let opcode = self.function.inst(inst).opcode;
        let value = self.function.operands(inst)[0];
        match opcode {
            LlvmOpcode::PtrToInt | LlvmOpcode::PtrToAddr | LlvmOpcode::IntToPtr
                if let (Some(from), Some(to)) = self.find_conversion_shapes(inst, value) =>
            {
                let operand = self.lower_value(value)?;
                let opcode = if from.width > to.width {
                    LlvmOpcode::Trunc
                } else {
                    LlvmOpcode::ZExt
                };
                self.convert_number(opcode, from, to, operand)
            }
            LlvmOpcode::PtrToInt | LlvmOpcode::PtrToAddr => {
                let operand = self.lower_value(value)?;
                let to = self.result_shape(inst)?;
                self.pointer_bits_as(operand, to)
            }
            LlvmOpcode::IntToPtr => self.lower_integer_to_pointer(inst),
            LlvmOpcode::AddrSpaceCast => {
                let ty = self.inst_type(inst);
                let Some(space) = self.t.module.types.address_space(ty) else {
                    return Err(self.t.no_type(ty));
                };
                let class = self.t.storage_class(space)?;
                let pointee = self.find_pointee(self.local_of(inst))?;
                let operand = self.lower_pointer(value, pointee)?;
                self.cast_space(operand, class)
            }
            LlvmOpcode::BitCast if self.is_pointer(value) || self.is_opaque(value) => {
                self.lower_value(value)
            }
            _ => {
                let from = self.shape_of(value)?;
                let to = self.result_shape(inst)?;
                let operand = self.lower_value(value)?;
                self.convert_number(opcode, from, to, operand)
            }
        }
    }

    /// The shapes of an instruction's operand and result. Device addresses have the shapes of
    /// numbers.
    fn find_conversion_shapes(
        &self,
        inst: LlvmInst,
        value: LlvmValue,
    ) -> (Option<NumericShape>, Option<NumericShape>) {
        let shape = |ty| self.t.find_shape(ty);
        (shape(self.type_of(value)), shape(self.inst_type(inst)))
    }

    /// Whether a value is of a type that only SPIR-V has.
    fn is_opaque(&self, value: LlvmValue) -> bool {
        let kind = self.t.module.types.kind(self.type_of(value));
        matches!(kind, LlvmTypeKind::Target { .. })
    }

    /// Converts a number as an instruction states.
    pub(in crate::translate) fn convert_number(
        &mut self,
        opcode: LlvmOpcode,
        from: NumericShape,
        to: NumericShape,
        id: Id,
    ) -> LlvmResult<Id> {
        let ty = self.t.shape_type(to);
        Ok(match (opcode, from.elem) {
            (LlvmOpcode::BitCast, _) => return self.emit_bitcast(from, to, id),
            (LlvmOpcode::ZExt, NumericElement::Bool) => self.convert_boolean(id, to, false),
            (LlvmOpcode::SExt, NumericElement::Bool) => self.convert_boolean(id, to, true),
            (LlvmOpcode::UiToFp, NumericElement::Bool) => {
                let id = self.convert_boolean(id, NumericShape::new_int(32, from.lanes), false);
                self.emit_op(Op::ConvertUToF, ty, [id])
            }
            (LlvmOpcode::SiToFp, NumericElement::Bool) => {
                let id = self.convert_boolean(id, NumericShape::new_int(32, from.lanes), true);
                self.emit_op(Op::ConvertSToF, ty, [id])
            }
            (LlvmOpcode::ZExt, _) => self.resize_integer(from, to, id, false),
            (LlvmOpcode::SExt, _) => {
                let extended = self.sign_extend_value(from, id);
                let id = self.resize_integer(from, to, extended, true);
                self.mask_high_bits(to, id)
            }
            (LlvmOpcode::Trunc, _) => self.truncate_integer(from, to, id),
            (LlvmOpcode::UiToFp, _) => self.emit_op(Op::ConvertUToF, ty, [id]),
            (LlvmOpcode::SiToFp, _) => {
                let extended = self.sign_extend_value(from, id);
                self.emit_op(Op::ConvertSToF, ty, [extended])
            }
            (LlvmOpcode::FpToUi | LlvmOpcode::FpToSi, _) => {
                let op = match opcode {
                    LlvmOpcode::FpToUi => Op::ConvertFToU,
                    _ => Op::ConvertFToS,
                };
                let whole = to.as_int(to.width.max(8));
                let ty = self.t.shape_type(whole);
                let id = self.emit_op(op, ty, [id]);
                match to.elem {
                    NumericElement::Bool => self.is_nonzero(whole, id),
                    _ => self.mask_high_bits(to, id),
                }
            }
            (LlvmOpcode::FpTrunc | LlvmOpcode::FpExt, _)
                if (from.elem, from.width) == (to.elem, to.width) =>
            {
                id
            }
            (LlvmOpcode::FpTrunc | LlvmOpcode::FpExt, _) => self.emit_op(Op::FConvert, ty, [id]),
            _ => {
                return Err(make_refusal(format!(
                    "the conversion {} of this type",
                    opcode.name()
                )));
            }
        })
    }

    /// An integer in fewer bits.
    pub(in crate::translate) fn truncate_integer(
        &mut self,
        from: NumericShape,
        to: NumericShape,
        id: Id,
    ) -> Id {
        if to.elem == NumericElement::Bool {
            let ty = self.t.shape_type(from);
            let one = self.t.make_splat(from, 1);
            let low = self.emit_op(Op::BitwiseAnd, ty, [id, one]);
            return self.is_nonzero(from, low);
        }
        let id = self.resize_integer(from, to, id, false);
        self.mask_high_bits(to, id)
    }

    /// The address in a pointer as an integer.
    pub(in crate::translate) fn pointer_bits_as(
        &mut self,
        pointer: Id,
        to: NumericShape,
    ) -> LlvmResult<Id> {
        let size = NumericShape::new_int(self.t.pointer_bits, 1);
        if to.lanes != 1 {
            return Err(make_refusal(
                "vectors of pointers have no counterpart in SPIR-V",
            ));
        }
        let ty = self.t.shape_type(size);
        let bits = self.emit_op(Op::ConvertPtrToU, ty, [pointer]);
        if to.elem == NumericElement::Bool || to.width < size.width {
            return Ok(self.truncate_integer(size, to, bits));
        }
        let id = self.resize_integer(size, to, bits, false);
        Ok(self.mask_high_bits(to, id))
    }

    fn lower_integer_to_pointer(&mut self, inst: LlvmInst) -> LlvmResult<Id> {
        let value = self.function.operands(inst)[0];
        let from = self.shape_of(value)?;
        let size = NumericShape::new_int(self.t.pointer_bits, 1);
        if from.lanes != 1 {
            return Err(make_refusal(
                "vectors of pointers have no counterpart in SPIR-V",
            ));
        }
        let mut id = self.lower_value(value)?;
        if from.elem == NumericElement::Bool {
            id = self.convert_boolean(id, size, false);
        } else {
            id = self.resize_integer(from, size, id, false);
        }
        let ty = self.result_type(inst)?;
        Ok(self.emit_op(Op::ConvertUToPtr, ty, [id]))
    }
}
