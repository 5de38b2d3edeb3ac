//! Wide integers: integers of more than 64 bits, if those of arbitrary width are not allowed.
//!
//! Such an integer is a composite of 64-bit integers, its *limbs*, least significant first. It is
//! an array, or a vector if the module aligns it as one. Bits above its width are zero. In memory
//! it is accessed limb by limb, and the last limb in pieces, so that no byte beyond it is accessed.
//!
//! | file | contents |
//! | --- | --- |
//! | `arithmetic` | sums, products, shifts, comparisons, division on lists of limbs |
//! | `conversions` | from and to other numbers |
//! | `intrinsics` | intrinsics on such integers |
//!
//! Cost: linear in the number of limbs; quadratic for products and for shifts by amounts that are
//! not constant.

mod arithmetic;
mod conversions;
mod intrinsics;

use super::function_body::FunctionTranslator;
use super::translator::LlvmTranslator;
use crate::ir::{
    ConstKind, InstructionExtra, LlvmConst, LlvmInst, LlvmOpcode, LlvmType, LlvmTypeKind,
    LlvmValue, Predicate,
};
use crate::translate::shapes::{NumericShape, make_width_mask};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

/// Bits beyond which an integer is refused.
const MAX_BITS: u32 = 1024;

/// Bits of a limb.
const LIMB: u32 = 64;

/// The shape of a limb.
const LIMB_SHAPE: NumericShape = NumericShape::new_int(LIMB, 1);

/// An integer of several limbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LimbInteger {
    bits: u32,
    limbs: usize,
}

impl LimbInteger {
    /// The bits of the last limb.
    fn last_bits(self) -> u32 {
        self.bits - LIMB * (self.limbs as u32 - 1)
    }
}

impl LlvmTranslator<'_> {
    /// The limbs of a type, if it is a wide integer.
    pub(super) fn find_wide_type(&self, ty: LlvmType) -> Option<LimbInteger> {
        match *self.module.types.kind(ty) {
            LlvmTypeKind::Int(bits)
                if bits > LIMB && bits <= MAX_BITS && self.find_shape(ty).is_none() =>
            {
                Some(LimbInteger {
                    bits,
                    limbs: bits.div_ceil(LIMB) as usize,
                })
            }
            _ => None,
        }
    }

    /// The composite of an integer's limbs.
    pub(super) fn wide_type(&mut self, ty: LlvmType, wide: LimbInteger) -> LlvmResult<Id> {
        let limb = self.b.int_type(LIMB, false);
        let align = self.module.layout.abi_align(&self.module.types, ty);
        let size = u64::from(LIMB / 8) * wide.limbs as u64;
        if wide.limbs.is_power_of_two() && wide.limbs <= 4 && align == size {
            let id = self.b.vector_type(limb, wide.limbs as u32);
            self.set_first_member(id, limb);
            return Ok(id);
        }
        self.array_type(limb, wide.limbs as u64)
    }

    /// A constant of several limbs.
    pub(super) fn wide_composite(
        &mut self,
        constant: LlvmConst,
        wide: LimbInteger,
    ) -> LlvmResult<Id> {
        let data = self.module.consts.get(constant);
        let ty = self.register_type(data.ty)?;
        let bits = match &data.kind {
            ConstKind::Int(bits) => vec![*bits],
            ConstKind::Wide(words) => words.to_vec(),
            ConstKind::Undef | ConstKind::Poison => return Ok(self.b.declare_undef(ty)),
            _ => return Err(make_refusal("a constant expression of more than 64 bits")),
        };
        let limbs = self.limb_constants(&bits, wide);
        Ok(self.b.constant_composite(ty, &limbs))
    }

    fn limb_constants(&mut self, bits: &[u64], wide: LimbInteger) -> Vec<Id> {
        let limb = self.b.int_type(LIMB, false);
        let padded = bits.iter().copied().chain(std::iter::repeat(0));
        padded
            .take(wide.limbs)
            .map(|bits| self.scalar_constant(limb, LIMB, bits))
            .collect()
    }
}

impl FunctionTranslator<'_, '_> {
    /// Translates an instruction on wide integers; `None` if it needs no special treatment.
    pub(super) fn lower_wide(&mut self, inst: LlvmInst) -> Option<LlvmResult<Option<Id>>> {
        if !self.t.types.has_wide_integers {
            return None;
        }
        let opcode = self.function.inst(inst).opcode;
        let result = self.t.find_wide_type(self.inst_type(inst));
        let first = self.function.operands(inst).first().copied();
        let operand = match (opcode, first) {
            (LlvmOpcode::Call, _) => return self.lower_wide_call(inst, result),
            (_, Some(value)) => self.t.find_wide_type(self.type_of(value)),
            (_, None) => None,
        };
        let made = match (opcode, result, operand) {
            (_, None, None) => return None,
            (LlvmOpcode::Load, Some(wide), _) => self.load_wide(inst, wide),
            (LlvmOpcode::Store, _, Some(wide)) => {
                return Some(self.store_wide(inst, wide).map(|()| None));
            }
            (LlvmOpcode::ICmp, _, Some(wide)) => self.compare_wide(inst, wide),
            (LlvmOpcode::Switch, _, Some(wide)) => {
                return Some(self.lower_wide_switch(inst, wide).map(|()| None));
            }
            _ if opcode.is_binary() => match result {
                Some(wide) => self.lower_wide_binary(inst, wide),
                None => return None,
            },
            _ if opcode.is_cast() => self.convert_wide(inst, operand, result),
            (LlvmOpcode::AtomicRmw | LlvmOpcode::CmpXchg, _, _) => Err(make_refusal(
                "an atomic access to an integer of more than 64 bits",
            )),
            _ => return None,
        };
        Some(made.map(Some))
    }

    /// The limbs of a value.
    fn lower_limbs(&mut self, value: LlvmValue) -> LlvmResult<Vec<Id>> {
        let ty = self.type_of(value);
        let wide = self.t.find_wide_type(ty);
        let wide =
            wide.ok_or_else(|| make_refusal("an integer of more than 64 bits is missing"))?;
        let constant = value.as_const().map(|c| self.t.module.consts.kind(c));
        match constant {
            Some(ConstKind::Int(bits)) => Ok(self.t.limb_constants(&[*bits], wide)),
            Some(ConstKind::Wide(words)) => Ok(self.t.limb_constants(words, wide)),
            _ => {
                let id = self.lower_value(value)?;
                Ok(self.limbs_of(id, wide))
            }
        }
    }

    fn limbs_of(&mut self, id: Id, wide: LimbInteger) -> Vec<Id> {
        let limb = self.t.shape_type(LIMB_SHAPE);
        (0..wide.limbs as u32)
            .map(|n| {
                self.t
                    .b
                    .append_value(Op::CompositeExtract, limb, &[id.word(), n])
            })
            .collect()
    }

    /// A value composed of limbs. The bits above the width are cleared.
    fn compose_limbs(&mut self, ty: LlvmType, wide: LimbInteger, limbs: &[Id]) -> LlvmResult<Id> {
        let mut limbs = limbs.to_vec();
        if wide.last_bits() < LIMB {
            let number = self.t.shape_type(LIMB_SHAPE);
            let bits = self
                .t
                .make_splat(LIMB_SHAPE, make_width_mask(wide.last_bits()));
            let last = limbs[wide.limbs - 1];
            limbs[wide.limbs - 1] = self.emit_op(Op::BitwiseAnd, number, [last, bits]);
        }
        let ty = self.t.register_type(ty)?;
        let words: Vec<u32> = limbs.iter().map(|id| id.word()).collect();
        Ok(self.t.b.append_value(Op::CompositeConstruct, ty, &words))
    }

    /// The limbs with the sign extended into the bits above the width.
    fn sign_extend_limbs(&mut self, wide: LimbInteger, limbs: &[Id]) -> Vec<Id> {
        let mut limbs = limbs.to_vec();
        let unused = LIMB - wide.last_bits();
        if unused > 0 {
            let number = self.t.shape_type(LIMB_SHAPE);
            let by = self.t.make_splat(LIMB_SHAPE, u64::from(unused));
            let last = limbs[wide.limbs - 1];
            let high = self.emit_op(Op::ShiftLeftLogical, number, [last, by]);
            limbs[wide.limbs - 1] = self.emit_op(Op::ShiftRightArithmetic, number, [high, by]);
        }
        limbs
    }

    fn lower_wide_binary(&mut self, inst: LlvmInst, wide: LimbInteger) -> LlvmResult<Id> {
        let ty = self.inst_type(inst);
        let [left, right] = self.function.operands(inst) else {
            return Err(make_refusal("an operation without two operands"));
        };
        let known = self.t.module.as_u64(*right);
        let (left, right) = (self.lower_limbs(*left)?, self.lower_limbs(*right)?);
        let each = |body: &mut Self, op| body.each_limb(op, &left, &right);
        let limbs = match self.function.inst(inst).opcode {
            LlvmOpcode::Add => self.add_limbs(&left, &right).0,
            LlvmOpcode::Sub => self.subtract_limbs(&left, &right).0,
            LlvmOpcode::Mul => self.multiply_limbs(&left, &right, wide.limbs),
            LlvmOpcode::And => each(self, Op::BitwiseAnd),
            LlvmOpcode::Or => each(self, Op::BitwiseOr),
            LlvmOpcode::Xor => each(self, Op::BitwiseXor),
            LlvmOpcode::Shl => self.shift_left(&left, right[0], known),
            LlvmOpcode::LShr => self.shift_right(&left, right[0], known, false),
            LlvmOpcode::AShr => {
                let left = self.sign_extend_limbs(wide, &left);
                self.shift_right(&left, right[0], known, true)
            }
            LlvmOpcode::UDiv => self.divide_limbs(wide, &left, &right).0,
            LlvmOpcode::URem => self.divide_limbs(wide, &left, &right).1,
            LlvmOpcode::SDiv => self.divide_signed(wide, &left, &right).0,
            LlvmOpcode::SRem => self.divide_signed(wide, &left, &right).1,
            opcode => return Err(make_refusal(format!("{} of integers", opcode.name()))),
        };
        self.compose_limbs(ty, wide, &limbs)
    }

    fn compare_wide(&mut self, inst: LlvmInst, wide: LimbInteger) -> LlvmResult<Id> {
        let InstructionExtra::Compare(predicate) = self.function.inst(inst).extra else {
            return Err(make_refusal("a comparison without a predicate"));
        };
        let [left, right] = self.function.operands(inst) else {
            return Err(make_refusal("a comparison without two operands"));
        };
        let (left, right) = (self.lower_limbs(*left)?, self.lower_limbs(*right)?);
        Ok(self.compare_limbs(wide, predicate, &left, &right))
    }

    /// A comparison of limbs.
    fn compare_limbs(
        &mut self,
        wide: LimbInteger,
        predicate: Predicate,
        left: &[Id],
        right: &[Id],
    ) -> Id {
        let (signed, swapped, not) = match predicate {
            Predicate::Eq => return self.compare_limbs_equal(left, right),
            Predicate::Ne => {
                let same = self.compare_limbs_equal(left, right);
                return self.emit_logical_not(same);
            }
            Predicate::Ult => (false, false, false),
            Predicate::Ugt => (false, true, false),
            Predicate::Uge => (false, false, true),
            Predicate::Ule => (false, true, true),
            Predicate::Slt => (true, false, false),
            Predicate::Sgt => (true, true, false),
            Predicate::Sge => (true, false, true),
            _ => (true, true, true),
        };
        let (mut left, mut right) = (left.to_vec(), right.to_vec());
        if signed {
            left = self.sign_extend_limbs(wide, &left);
            right = self.sign_extend_limbs(wide, &right);
        }
        let below = if swapped {
            self.emit_wide_less_than(&right, &left, signed)
        } else {
            self.emit_wide_less_than(&left, &right, signed)
        };
        if not {
            self.emit_logical_not(below)
        } else {
            below
        }
    }

    /// A switch: first the number of the matching case is computed, then a switch on it.
    fn lower_wide_switch(&mut self, inst: LlvmInst, wide: LimbInteger) -> LlvmResult<()> {
        let operands = self.function.operands(inst);
        let targets = self.function.blocks_of(inst);
        let selector = self.lower_limbs(operands[0])?;
        let number = NumericShape::new_int(32, 1);
        let ty = self.t.shape_type(number);
        let mut chosen = self.t.make_zero(number);
        let mut words = vec![self.label_of(targets[0]).word()];
        for (case, &target) in operands[1..].iter().zip(&targets[1..]) {
            let limbs = self.lower_limbs(*case)?;
            let here = self.compare_limbs(wide, Predicate::Eq, &selector, &limbs);
            let count = words.len() as u32 / 2 + 1;
            let case = self.t.make_splat(number, u64::from(count));
            chosen = self.emit_select(ty, here, case, chosen);
            words.extend([count, self.label_of(target).word()]);
        }
        words.insert(0, chosen.word());
        self.t.b.append_effect(Op::Switch, &words);
        Ok(())
    }
}
