//! Lifting of conversions.

use super::body::{FunctionLifter, LiftSource};
use crate::ir::{LlvmOpcode, LlvmType, LlvmValue};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::grammar::enumerants::Decoration;

impl<'s> FunctionLifter<'_, 's> {
    /// Whether a conversion has a rounding mode or saturation, which LLVM's conversions lack.
    fn has_rounding_or_saturation(&self, source: &LiftSource<'s>) -> bool {
        let stated = |what| {
            source
                .result
                .is_some_and(|id| self.l.find_decoration(id, what).is_some())
        };
        stated(Decoration::SaturatedConversion) || stated(Decoration::FPRoundingMode)
    }

    /// A conversion to the type of the result.
    pub(super) fn push_conversion(
        &mut self,
        opcode: LlvmOpcode,
        source: &LiftSource<'s>,
    ) -> LlvmResult<LlvmValue> {
        if self.has_rounding_or_saturation(source) {
            let made = self.lift_friendly_call(source)?;
            return made.ok_or_else(|| make_refusal("it has no result"));
        }
        let ty = self.result_type(source)?;
        let value = self.operand_value(source, 0)?;
        if opcode == LlvmOpcode::AddrSpaceCast && self.type_of(value) == ty {
            return Ok(value);
        }
        Ok(self.push_instruction(opcode, ty, &[value]))
    }

    fn lift_resize(
        &mut self,
        extend: LlvmOpcode,
        source: &LiftSource<'s>,
    ) -> LlvmResult<Option<LlvmValue>> {
        if self.has_rounding_or_saturation(source) {
            return self.lift_friendly_call(source);
        }
        let ty = self.result_type(source)?;
        let value = self.operand_value(source, 0)?;
        Ok(Some(self.resize_integer(value, ty, extend)))
    }

    /// `OpUConvert`
    pub(super) fn unsigned_resize(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LlvmResult<Option<LlvmValue>> {
        self.lift_resize(LlvmOpcode::ZExt, source)
    }

    /// `OpSConvert`
    pub(super) fn signed_resize(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LlvmResult<Option<LlvmValue>> {
        self.lift_resize(LlvmOpcode::SExt, source)
    }

    /// `OpFConvert`
    pub(super) fn float_resize(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LlvmResult<Option<LlvmValue>> {
        let ty = self.result_type(source)?;
        let value = self.operand_value(source, 0)?;
        let types = &self.l.out.types;
        let width = |ty: LlvmType| types.float_width(types.scalar_type(ty));
        let opcode = match width(self.type_of(value)).cmp(&width(ty)) {
            std::cmp::Ordering::Less => LlvmOpcode::FpExt,
            std::cmp::Ordering::Greater => LlvmOpcode::FpTrunc,
            // Between the two formats of 16 bits.
            std::cmp::Ordering::Equal => return self.lift_friendly_call(source),
        };
        if self.has_rounding_or_saturation(source) {
            return self.lift_friendly_call(source);
        }
        Ok(Some(self.push_instruction(opcode, ty, &[value])))
    }

    /// `OpBitcast`. All pointers of one address space have the same type in LLVM.
    pub(super) fn lift_bitcast(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LlvmResult<Option<LlvmValue>> {
        let ty = self.result_type(source)?;
        let value = self.operand_value(source, 0)?;
        let from = self.type_of(value);
        let opcode = match (self.l.is_pointer(from), self.l.is_pointer(ty)) {
            _ if from == ty => return Ok(Some(value)),
            (true, true) => LlvmOpcode::AddrSpaceCast,
            (true, false) => LlvmOpcode::PtrToInt,
            (false, true) => LlvmOpcode::IntToPtr,
            (false, false) => LlvmOpcode::BitCast,
        };
        let integer = |ty| self.l.out.types.int_width(ty).is_some();
        // LLVM converts only between scalar pointers and integers. Vectors are converted through an
        // integer of the same number of bits.
        let (word, is_through) = (LlvmType::I64, !(integer(from) || integer(ty)));
        Ok(Some(match opcode {
            LlvmOpcode::PtrToInt if is_through => {
                let number = self.push_instruction(opcode, word, &[value]);
                self.push_instruction(LlvmOpcode::BitCast, ty, &[number])
            }
            LlvmOpcode::IntToPtr if is_through => {
                let number = self.push_instruction(LlvmOpcode::BitCast, word, &[value]);
                self.push_instruction(opcode, ty, &[number])
            }
            _ => self.push_instruction(opcode, ty, &[value]),
        }))
    }
}
