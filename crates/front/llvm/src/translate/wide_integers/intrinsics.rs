//! Wide integer intrinsics.

use super::{LIMB, LIMB_SHAPE, LimbInteger};
use crate::ir::{LlvmInst, LlvmValue, Predicate, ValueKind};
use crate::translate::call_rules::LlvmCallee;
use crate::translate::function_body::FunctionTranslator;
use crate::translate::shapes::NumericShape;
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::{Op, opencl_std as std_};

/// Intrinsics that select one of two numbers: the first if the predicate holds.
const EXTREMES: &[(&str, Predicate)] = &[
    ("umin", Predicate::Ult),
    ("umax", Predicate::Ugt),
    ("smin", Predicate::Slt),
    ("smax", Predicate::Sgt),
];

impl FunctionTranslator<'_, '_> {
    /// Translates a call of an intrinsic whose first argument is a wide integer.
    pub(super) fn lower_wide_call(
        &mut self,
        inst: LlvmInst,
        result: Option<LimbInteger>,
    ) -> Option<LlvmResult<Option<Id>>> {
        let callee = self.function.callee(inst).and_then(|v| v.as_const());
        let func = callee.and_then(|constant| self.t.callee_of(constant))?;
        let LlvmCallee::Intrinsic(Some(_), name) = *self.t.find_callee(func) else {
            return None;
        };
        let args = self.function.arguments(inst);
        let first = *args.first()?;
        if matches!(first.kind(), ValueKind::Metadata(_)) {
            return None;
        }
        let wide = self.t.find_wide_type(self.type_of(first)).or(result)?;
        let stem = name.strip_prefix("llvm.")?;
        let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
        if matches!(stem, "expect" | "ssa.copy" | "expect.with.probability") {
            return Some(self.lower_value(first).map(Some));
        }
        let reduction = stem.strip_prefix("vector.reduce.");
        let made = match (stem.split_once(".with."), reduction) {
            (Some((operation, "overflow")), _) => {
                self.lower_wide_overflow(inst, wide, operation, args)
            }
            (_, Some(operation)) => self.reduce_wide(inst, wide, operation, first),
            _ => self.lower_wide_intrinsic(inst, wide, stem, args),
        };
        let made = made.map_err(|refusal| refusal.in_call_of(name));
        Some(made.map(Some))
    }

    fn lower_wide_intrinsic(
        &mut self,
        inst: LlvmInst,
        wide: LimbInteger,
        stem: &str,
        args: &[LlvmValue],
    ) -> LlvmResult<Id> {
        let left = self.lower_limbs(args[0])?;
        let limbs = match stem {
            "umin" | "umax" | "smin" | "smax" => {
                let right = self.lower_limbs(args[1])?;
                self.emit_wide_extremum(wide, stem, &left, &right)?
            }
            "abs" => self.split_sign(wide, &left).0,
            "ctpop" => {
                let count = self.each_count(&left);
                self.one_limb(count, wide)
            }
            "ctlz" => {
                let count = self.leading_zeros_of(&left);
                let unused = u64::from(LIMB - wide.last_bits());
                let count = self.subtract_from_limb(count, unused);
                self.one_limb(count, wide)
            }
            "cttz" => {
                let count = self.trailing_zeros_of(&left, wide);
                self.one_limb(count, wide)
            }
            "bswap" => self.swap_limb_bytes(wide, &left),
            "bitreverse" => {
                let mut swapped = self.reverse_limb_groups(1, &left);
                let unused = u64::from(LIMB - wide.last_bits());
                if unused > 0 {
                    let by = self.t.make_splat(LIMB_SHAPE, unused);
                    swapped = self.shift_right(&swapped, by, Some(unused), false);
                }
                swapped
            }
            "fshl" | "fshr" => self.lower_wide_funnel_shift(wide, stem == "fshl", args)?,
            _ => {
                return Err(make_refusal(format!(
                    "the intrinsic on an integer of {} bits",
                    wide.bits
                )));
            }
        };
        let ty = self.inst_type(inst);
        self.compose_limbs(ty, wide, &limbs)
    }

    /// Reduces the lanes of a vector to one number.
    fn reduce_wide(
        &mut self,
        inst: LlvmInst,
        wide: LimbInteger,
        operation: &str,
        vector: LlvmValue,
    ) -> LlvmResult<Id> {
        let mut all: Option<Vec<Id>> = None;
        for lane in self.lane_values(vector)? {
            let lane = self.limbs_of(lane, wide);
            let Some(before) = all else {
                all = Some(lane);
                continue;
            };
            all = Some(match operation {
                "add" => self.add_limbs(&before, &lane).0,
                "mul" => self.multiply_limbs(&before, &lane, wide.limbs),
                "and" => self.each_limb(Op::BitwiseAnd, &before, &lane),
                "or" => self.each_limb(Op::BitwiseOr, &before, &lane),
                "xor" => self.each_limb(Op::BitwiseXor, &before, &lane),
                _ => self.emit_wide_extremum(wide, operation, &before, &lane)?,
            });
        }
        let ty = self.inst_type(inst);
        self.compose_limbs(ty, wide, &all.unwrap_or_default())
    }

    /// The smaller or larger of two numbers.
    fn emit_wide_extremum(
        &mut self,
        wide: LimbInteger,
        operation: &str,
        left: &[Id],
        right: &[Id],
    ) -> LlvmResult<Vec<Id>> {
        let Some((_, predicate)) = EXTREMES.iter().find(|row| row.0 == operation) else {
            return Err(make_refusal(format!(
                "the intrinsic on an integer of {} bits",
                wide.bits
            )));
        };
        let first = self.compare_limbs(wide, *predicate, left, right);
        Ok(self.select_limbs(first, left, right))
    }

    fn one_limb(&mut self, limb: Id, wide: LimbInteger) -> Vec<Id> {
        let mut limbs = vec![self.t.make_zero(LIMB_SHAPE); wide.limbs];
        limbs[0] = limb;
        limbs
    }

    fn subtract_from_limb(&mut self, limb: Id, by: u64) -> Id {
        if by == 0 {
            return limb;
        }
        let ty = self.t.shape_type(LIMB_SHAPE);
        let by = self.t.make_splat(LIMB_SHAPE, by);
        self.emit_op(Op::ISub, ty, [limb, by])
    }

    /// The bits that are set.
    fn each_count(&mut self, limbs: &[Id]) -> Id {
        let ty = self.t.shape_type(LIMB_SHAPE);
        let mut sum = self.t.make_zero(LIMB_SHAPE);
        for &limb in limbs {
            let count = self.emit_op(Op::BitCount, ty, [limb]);
            sum = self.emit_op(Op::IAdd, ty, [sum, count]);
        }
        sum
    }

    /// The number of zeros above the highest set bit.
    pub(super) fn leading_zeros_of(&mut self, limbs: &[Id]) -> Id {
        self.zeros_before(std_::CLZ, limbs.iter().copied())
    }

    fn trailing_zeros_of(&mut self, limbs: &[Id], wide: LimbInteger) -> Id {
        let mut limbs = limbs.to_vec();
        if wide.last_bits() < LIMB {
            let ty = self.t.shape_type(LIMB_SHAPE);
            let above = self.t.make_splat(LIMB_SHAPE, 1 << wide.last_bits());
            let last = limbs[wide.limbs - 1];
            limbs[wide.limbs - 1] = self.emit_op(Op::BitwiseOr, ty, [last, above]);
        }
        self.zeros_before(std_::CTZ, limbs.iter().rev().copied())
    }

    /// The number of zeros up to the first set bit; limbs that come later in the iterator are
    /// examined first.
    fn zeros_before(&mut self, number: u32, limbs: impl Iterator<Item = Id>) -> Id {
        let ty = self.t.shape_type(LIMB_SHAPE);
        let mut all: Option<Id> = None;
        for limb in limbs {
            let count = self.emit_ext_inst(number, ty, &[limb]);
            all = Some(match all {
                Some(later) => {
                    let whole = self.t.make_splat(LIMB_SHAPE, u64::from(LIMB));
                    let later = self.emit_op(Op::IAdd, ty, [later, whole]);
                    let here = self.is_nonzero(LIMB_SHAPE, limb);
                    self.emit_select(ty, here, count, later)
                }
                None => count,
            });
        }
        all.unwrap_or_else(|| self.t.make_zero(LIMB_SHAPE))
    }

    /// Reverses the order of the limbs and of the groups of bits in each.
    fn reverse_limb_groups(&mut self, smallest: u32, limbs: &[Id]) -> Vec<Id> {
        let mut all: Vec<Id> = limbs
            .iter()
            .map(|limb| self.emit_swapped_groups(LIMB_SHAPE, *limb, smallest))
            .collect();
        all.reverse();
        all
    }

    fn swap_limb_bytes(&mut self, wide: LimbInteger, limbs: &[Id]) -> Vec<Id> {
        let swapped = self.reverse_limb_groups(8, limbs);
        let unused = u64::from(LIMB - wide.last_bits());
        if unused == 0 {
            return swapped;
        }
        let by = self.t.make_splat(LIMB_SHAPE, unused);
        self.shift_right(&swapped, by, Some(unused), false)
    }

    /// A funnel shift.
    fn lower_wide_funnel_shift(
        &mut self,
        wide: LimbInteger,
        left: bool,
        args: &[LlvmValue],
    ) -> LlvmResult<Vec<Id>> {
        let [high, low, by] = args[..] else {
            return Err(make_refusal("an argument is missing"));
        };
        let known = self.t.module.as_u64(by);
        let (high, low) = (self.lower_limbs(high)?, self.lower_limbs(low)?);
        let by = self.lower_limbs(by)?[0];
        if !wide.bits.is_power_of_two() && known.is_none() {
            return Err(make_refusal(format!(
                "the operands have {} bits",
                wide.bits
            )));
        }
        let bits = u64::from(wide.bits);
        let known = known.map(|known| known % bits);
        let ty = self.t.shape_type(LIMB_SHAPE);
        let most = self.t.make_splat(LIMB_SHAPE, bits - 1);
        let amount = match known {
            Some(known) => self.t.make_splat(LIMB_SHAPE, known),
            None => self.emit_op(Op::BitwiseAnd, ty, [by, most]),
        };
        let back = self.emit_op(Op::ISub, ty, [most, amount]);
        let one = self.t.make_splat(LIMB_SHAPE, 1);
        let back_known = known.map(|known| bits - 1 - known);
        let (first, second) = if left {
            let first = self.shift_left(&high, amount, known);
            let second = self.shift_right(&low, one, Some(1), false);
            (first, self.shift_right(&second, back, back_known, false))
        } else {
            let first = self.shift_right(&low, amount, known, false);
            let second = self.shift_left(&high, one, Some(1));
            (first, self.shift_left(&second, back, back_known))
        };
        Ok(self.each_limb(Op::BitwiseOr, &first, &second))
    }

    /// A result, and whether it overflowed.
    fn lower_wide_overflow(
        &mut self,
        inst: LlvmInst,
        wide: LimbInteger,
        operation: &str,
        args: &[LlvmValue],
    ) -> LlvmResult<Id> {
        let (left, right) = (self.lower_limbs(args[0])?, self.lower_limbs(args[1])?);
        let bool = self.t.b.bool_type();
        let whole = wide.last_bits() == LIMB;
        let (limbs, over) = match operation {
            "uadd" | "usub" if whole => match operation {
                "uadd" => self.add_limbs(&left, &right),
                _ => self.subtract_limbs(&left, &right),
            },
            "sadd" | "ssub" if whole => {
                let add = operation == "sadd";
                let limbs = if add {
                    self.add_limbs(&left, &right).0
                } else {
                    self.subtract_limbs(&left, &right).0
                };
                // A signed result moves down if something positive is subtracted or something
                // negative is added.
                let zero = vec![self.t.make_zero(LIMB_SHAPE); wide.limbs];
                let down = if add {
                    self.compare_limbs(wide, Predicate::Slt, &right, &zero)
                } else {
                    self.compare_limbs(wide, Predicate::Sgt, &right, &zero)
                };
                let below = self.compare_limbs(wide, Predicate::Slt, &limbs, &left);
                (
                    limbs,
                    self.emit_op(Op::LogicalNotEqual, bool, [down, below]),
                )
            }
            "umul" if whole => self.multiply_checked(&left, &right),
            "smul" if whole => self.multiply_checked_signed(wide, &left, &right),
            _ => {
                return Err(make_refusal(format!(
                    "the intrinsic on an integer of {} bits",
                    wide.bits
                )));
            }
        };
        let ty = self.type_of(args[0]);
        let number = self.compose_limbs(ty, wide, &limbs)?;
        let over = self.convert_boolean(over, NumericShape::new_int(8, 1), false);
        let ty = self.result_type(inst)?;
        Ok(self.emit_op(Op::CompositeConstruct, ty, [number, over]))
    }

    fn multiply_checked(&mut self, left: &[Id], right: &[Id]) -> (Vec<Id>, Id) {
        let count = left.len();
        let mut limbs = self.multiply_limbs(left, right, count * 2);
        let high = limbs.split_off(count);
        let zero = vec![self.t.make_zero(LIMB_SHAPE); count];
        let same = self.compare_limbs_equal(&high, &zero);
        (limbs, self.emit_logical_not(same))
    }

    /// The product of the magnitudes. It fits if it is below the magnitude of the smallest number,
    /// or equal to it for a negative result.
    fn multiply_checked_signed(
        &mut self,
        wide: LimbInteger,
        left: &[Id],
        right: &[Id],
    ) -> (Vec<Id>, Id) {
        let bool = self.t.b.bool_type();
        let (left, minus) = self.split_sign(wide, left);
        let (right, other) = self.split_sign(wide, right);
        let negative = self.emit_op(Op::LogicalNotEqual, bool, [minus, other]);
        let (limbs, over) = self.multiply_checked(&left, &right);
        let turned = self.negate_limbs(&limbs);
        let result = self.select_limbs(negative, &turned, &limbs);
        // The sign of the result is wrong, and the result is not zero.
        let zero = vec![self.t.make_zero(LIMB_SHAPE); wide.limbs];
        let below = self.compare_limbs(wide, Predicate::Slt, &result, &zero);
        let differs = self.emit_op(Op::LogicalNotEqual, bool, [below, negative]);
        let none = self.compare_limbs_equal(&result, &zero);
        let some = self.emit_logical_not(none);
        let differs = self.emit_op(Op::LogicalAnd, bool, [differs, some]);
        (result, self.emit_op(Op::LogicalOr, bool, [over, differs]))
    }
}
