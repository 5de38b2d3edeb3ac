//! Wide integer conversions: from and to memory, other integers, floats and pointers.

use super::{LIMB, LIMB_SHAPE, LimbInteger};
use crate::ir::{
    InstructionExtra, LlvmAlign, LlvmInst, LlvmInstFlags, LlvmOpcode, LlvmValue, Ordering,
};
use crate::translate::function_body::FunctionTranslator;
use crate::translate::shapes::{NumericElement, NumericShape};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::MemoryAccess;
use spirula_spirv::grammar::{Op, opencl_std as std_};

/// A part of a wide integer that one load or store accesses, in bits.
#[derive(Clone, Copy, Debug)]
struct IntegerPiece {
    /// Distance from the integer's lowest bit.
    offset: u32,
    /// 8, 16, 32 or 64.
    width: u32,
}

/// The properties of a load or store of a wide integer.
#[derive(Clone, Copy, Debug)]
struct WideAccess {
    align: LlvmAlign,
    volatile: bool,
}

/// Splits an integer in memory into pieces that SPIR-V can access, lowest bits first.
fn split_into_pieces(bits: u32) -> Vec<IntegerPiece> {
    let mut rest = bits.next_multiple_of(8);
    let mut offset = 0;
    let mut all = Vec::new();
    for width in [64, 32, 16, 8] {
        while rest >= width {
            all.push(IntegerPiece { offset, width });
            offset += width;
            rest -= width;
        }
    }
    all
}

impl FunctionTranslator<'_, '_> {
    /// The properties of a load or store. An atomic one is refused.
    fn require_plain_access(&self, inst: LlvmInst) -> LlvmResult<WideAccess> {
        let data = self.function.inst(inst);
        match data.extra {
            InstructionExtra::Access {
                align,
                ordering: Ordering::NotAtomic | Ordering::Unordered,
                ..
            } => Ok(WideAccess {
                align,
                volatile: data.flags.contains_all(LlvmInstFlags::VOLATILE),
            }),
            _ => Err(make_refusal(
                "an atomic access to an integer of more than 64 bits",
            )),
        }
    }

    /// The pointer to a piece, the piece's type, and the memory operands of the access to it.
    fn access_piece(
        &mut self,
        base: Id,
        piece: IntegerPiece,
        access: WideAccess,
    ) -> (Id, Id, [u32; 2]) {
        let ty = self.t.b.int_type(piece.width, false);
        let at = u64::from(piece.offset / 8);
        let bytes = self.byte_offset(base, at);
        let pointer = self.cast_pointer(bytes, ty);
        let whole = access.align.to_bytes().unwrap_or(1);
        let align = if at == 0 {
            whole
        } else {
            whole.min(1 << at.trailing_zeros())
        };
        let mut mask = MemoryAccess::Aligned;
        if access.volatile {
            mask |= MemoryAccess::Volatile;
        }
        (pointer, ty, [mask.0, align as u32])
    }

    pub(super) fn load_wide(&mut self, inst: LlvmInst, wide: LimbInteger) -> LlvmResult<Id> {
        let access = self.require_plain_access(inst)?;
        let base = self.lower_value(self.function.operands(inst)[0])?;
        let number = self.t.shape_type(LIMB_SHAPE);
        let mut limbs: Vec<Option<Id>> = vec![None; wide.limbs];
        for piece in split_into_pieces(wide.bits) {
            let IntegerPiece { offset, width } = piece;
            let (pointer, ty, words) = self.access_piece(base, piece, access);
            let words = [pointer.word(), words[0], words[1]];
            let id = self.t.b.append_value(Op::Load, ty, &words);
            let mut id =
                self.resize_integer(NumericShape::new_int(width, 1), LIMB_SHAPE, id, false);
            if !offset.is_multiple_of(LIMB) {
                let by = self.t.make_splat(LIMB_SHAPE, u64::from(offset % LIMB));
                id = self.emit_op(Op::ShiftLeftLogical, number, [id, by]);
            }
            let limb = &mut limbs[(offset / LIMB) as usize];
            *limb = Some(match *limb {
                Some(low) => self.emit_op(Op::BitwiseOr, number, [low, id]),
                None => id,
            });
        }
        let limbs: Vec<Id> = limbs.into_iter().flatten().collect();
        let ty = self.inst_type(inst);
        self.compose_limbs(ty, wide, &limbs)
    }

    pub(super) fn store_wide(&mut self, inst: LlvmInst, wide: LimbInteger) -> LlvmResult<()> {
        let access = self.require_plain_access(inst)?;
        let [value, pointer] = self.function.operands(inst) else {
            return Err(make_refusal("a store without two operands"));
        };
        let limbs = self.lower_limbs(*value)?;
        let base = self.lower_value(*pointer)?;
        let number = self.t.shape_type(LIMB_SHAPE);
        for piece in split_into_pieces(wide.bits) {
            let IntegerPiece { offset, width } = piece;
            let mut part = limbs[(offset / LIMB) as usize];
            if !offset.is_multiple_of(LIMB) {
                let by = self.t.make_splat(LIMB_SHAPE, u64::from(offset % LIMB));
                part = self.emit_op(Op::ShiftRightLogical, number, [part, by]);
            }
            part = self.resize_integer(LIMB_SHAPE, NumericShape::new_int(width, 1), part, false);
            let (pointer, _, words) = self.access_piece(base, piece, access);
            let words = [pointer.word(), part.word(), words[0], words[1]];
            self.t.b.append_effect(Op::Store, &words);
        }
        Ok(())
    }

    pub(super) fn convert_wide(
        &mut self,
        inst: LlvmInst,
        from: Option<LimbInteger>,
        to: Option<LimbInteger>,
    ) -> LlvmResult<Id> {
        let value = self.function.operands(inst)[0];
        let ty = self.inst_type(inst);
        match (self.function.inst(inst).opcode, from, to) {
            (LlvmOpcode::ZExt | LlvmOpcode::Trunc, Some(_), Some(to)) => {
                let limbs = self.lower_limbs(value)?;
                let zero = self.t.make_zero(LIMB_SHAPE);
                let limbs = resize_limbs(&limbs, zero, to.limbs);
                self.compose_limbs(ty, to, &limbs)
            }
            (LlvmOpcode::SExt, Some(from), Some(to)) => {
                let limbs = self.lower_limbs(value)?;
                let limbs = self.sign_extend_limbs(from, &limbs);
                let sign = self.sign_of(limbs[limbs.len() - 1]);
                let limbs = resize_limbs(&limbs, sign, to.limbs);
                self.compose_limbs(ty, to, &limbs)
            }
            (
                opcode @ (LlvmOpcode::ZExt | LlvmOpcode::SExt | LlvmOpcode::PtrToInt),
                None,
                Some(to),
            ) => {
                let signed = opcode == LlvmOpcode::SExt;
                let low = self.first_limb(value, signed)?;
                let high = if signed {
                    self.sign_of(low)
                } else {
                    self.t.make_zero(LIMB_SHAPE)
                };
                let limbs = resize_limbs(&[low], high, to.limbs);
                self.compose_limbs(ty, to, &limbs)
            }
            (LlvmOpcode::Trunc, Some(_), None) => {
                let limbs = self.lower_limbs(value)?;
                let to = self.t.require_shape(ty)?;
                Ok(self.truncate_integer(LIMB_SHAPE, to, limbs[0]))
            }
            (LlvmOpcode::IntToPtr, Some(_), None) => {
                let limbs = self.lower_limbs(value)?;
                let size = NumericShape::new_int(self.t.pointer_bits, 1);
                let id = self.resize_integer(LIMB_SHAPE, size, limbs[0], false);
                let ty = self.result_type(inst)?;
                Ok(self.emit_op(Op::ConvertUToPtr, ty, [id]))
            }
            (opcode @ (LlvmOpcode::UiToFp | LlvmOpcode::SiToFp), Some(from), None) => {
                let limbs = self.lower_limbs(value)?;
                let to = self.t.require_shape(ty)?;
                self.convert_limbs_to_float(from, to, &limbs, opcode == LlvmOpcode::SiToFp)
            }
            (opcode @ (LlvmOpcode::FpToUi | LlvmOpcode::FpToSi), None, Some(to)) => {
                let limbs = self.convert_float_to_limbs(value, to, opcode == LlvmOpcode::FpToSi)?;
                self.compose_limbs(ty, to, &limbs)
            }
            (LlvmOpcode::BitCast, Some(_), Some(_)) => self.lower_value(value),
            (LlvmOpcode::BitCast, Some(from), None) if from.last_bits() == LIMB => {
                let limbs = self.lower_limbs(value)?;
                let element = self.t.module.types.scalar_type(ty);
                let to = self.t.require_shape(element)?;
                let lanes = self.regroup_bits(LIMB_SHAPE, to, &limbs)?;
                self.compose_lanes(ty, &lanes)
            }
            (LlvmOpcode::BitCast, None, Some(to)) if to.last_bits() == LIMB => {
                let element = self.t.module.types.scalar_type(self.type_of(value));
                let from = self.t.require_shape(element)?;
                let lanes = self.lane_values(value)?;
                let limbs = self.regroup_bits(from, LIMB_SHAPE, &lanes)?;
                self.compose_limbs(ty, to, &limbs)
            }
            (opcode, ..) => Err(make_refusal(format!(
                "the conversion {} of an integer of more than 64 bits",
                opcode.name()
            ))),
        }
    }

    /// All bits as the highest.
    fn sign_of(&mut self, limb: Id) -> Id {
        let ty = self.t.shape_type(LIMB_SHAPE);
        let most = self.t.make_splat(LIMB_SHAPE, u64::from(LIMB - 1));
        self.emit_op(Op::ShiftRightArithmetic, ty, [limb, most])
    }

    /// A number of at most 64 bits, or a pointer, as a limb.
    fn first_limb(&mut self, value: LlvmValue, signed: bool) -> LlvmResult<Id> {
        let id = self.lower_value(value)?;
        if self.is_pointer(value) {
            return self.pointer_bits_as(id, LIMB_SHAPE);
        }
        let shape = self.shape_of(value)?;
        if shape.elem == NumericElement::Bool {
            return Ok(self.convert_boolean(id, LIMB_SHAPE, signed));
        }
        let id = if signed {
            self.sign_extend_value(shape, id)
        } else {
            id
        };
        Ok(self.resize_integer(shape, LIMB_SHAPE, id, signed))
    }

    /// A float, rounded once: from the 64 highest bits, whose last bit also records whether lower
    /// bits are set.
    fn convert_limbs_to_float(
        &mut self,
        from: LimbInteger,
        to: NumericShape,
        limbs: &[Id],
        signed: bool,
    ) -> LlvmResult<Id> {
        if to.elem != NumericElement::Float || to.width == 16 {
            return Err(make_refusal(
                "a float narrower than 32 bits from an integer of more than 64 bits",
            ));
        }
        let (number, float) = (self.t.shape_type(LIMB_SHAPE), self.t.shape_type(to));
        let (limbs, negative) = if signed {
            let (limbs, negative) = self.split_sign(from, limbs);
            (limbs, Some(negative))
        } else {
            (limbs.to_vec(), None)
        };
        let above = self.leading_zeros_of(&limbs);
        let shifted = self.shift_left(&limbs, above, None);
        let mut rest = self.t.make_zero(LIMB_SHAPE);
        for &limb in &shifted[..shifted.len() - 1] {
            rest = self.emit_op(Op::BitwiseOr, number, [rest, limb]);
        }
        let sticky = self.is_nonzero(LIMB_SHAPE, rest);
        let sticky = self.convert_boolean(sticky, LIMB_SHAPE, false);
        let top = shifted[shifted.len() - 1];
        let top = self.emit_op(Op::BitwiseOr, number, [top, sticky]);
        let id = self.emit_op(Op::ConvertUToF, float, [top]);
        let exponent = NumericShape::new_int(32, 1);
        let int = self.t.shape_type(exponent);
        let above = self.resize_integer(LIMB_SHAPE, exponent, above, false);
        let most = self
            .t
            .make_splat(exponent, u64::from(LIMB) * (limbs.len() as u64 - 1));
        let scale = self.emit_op(Op::ISub, int, [most, above]);
        let id = self.emit_ext_inst(std_::LDEXP, float, &[id, scale]);
        let Some(negative) = negative else {
            return Ok(id);
        };
        let minus = self.emit_op(Op::FNegate, float, [id]);
        Ok(self.emit_select(float, negative, minus, id))
    }

    /// The limbs of a float, rounded towards zero. They are computed from the highest down, each
    /// from what the higher limbs leave.
    fn convert_float_to_limbs(
        &mut self,
        value: LlvmValue,
        to: LimbInteger,
        signed: bool,
    ) -> LlvmResult<Vec<Id>> {
        let shape = self.shape_of(value)?;
        if shape.elem != NumericElement::Float {
            return Err(make_refusal(
                "an integer of more than 64 bits from a bfloat",
            ));
        }
        let (float, bool) = (self.t.shape_type(shape), self.t.b.bool_type());
        let number = self.t.shape_type(LIMB_SHAPE);
        let id = self.lower_value(value)?;
        let mut rest = self.emit_ext_inst(std_::FABS, float, &[id]);
        let mut limbs = Vec::with_capacity(to.limbs);
        for limb in (0..to.limbs).rev() {
            let exponent = u64::from(LIMB) * limb as u64;
            let down = self.t.make_splat(
                NumericShape::new_int(32, 1),
                exponent.wrapping_neg() & 0xffff_ffff,
            );
            let part = self.emit_ext_inst(std_::LDEXP, float, &[rest, down]);
            let part = self.emit_ext_inst(std_::TRUNC, float, &[part]);
            limbs.push(self.emit_op(Op::ConvertFToU, number, [part]));
            let up = self.t.make_splat(NumericShape::new_int(32, 1), exponent);
            let whole = self.emit_ext_inst(std_::LDEXP, float, &[part, up]);
            rest = self.emit_op(Op::FSub, float, [rest, whole]);
        }
        limbs.reverse();
        if !signed {
            return Ok(limbs);
        }
        let zero = self.t.make_zero(shape);
        let negative = self.emit_op(Op::FOrdLessThan, bool, [id, zero]);
        let minus = self.negate_limbs(&limbs);
        Ok(self.select_limbs(negative, &minus, &limbs))
    }
}

/// Limbs cut or extended to a number of them.
fn resize_limbs(limbs: &[Id], fill: Id, count: usize) -> Vec<Id> {
    let all = limbs.iter().copied().chain(std::iter::repeat(fill));
    all.take(count).collect()
}
