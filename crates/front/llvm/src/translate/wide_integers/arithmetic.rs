//! Limb arithmetic (Knuth, The Art of Computer Programming, volume 2, section 4.3.1; division bit
//! by bit).

use super::{LIMB, LIMB_SHAPE, LimbInteger};
use crate::ir::Predicate;
use crate::translate::function_body::FunctionTranslator;
use crate::translate::shapes::NumericShape;
use spirula_spirv::Id;
use spirula_spirv::grammar::{Op, opencl_std as std_};

impl FunctionTranslator<'_, '_> {
    pub(super) fn emit_logical_not(&mut self, truth: Id) -> Id {
        let bool = self.t.b.bool_type();
        self.emit_op(Op::LogicalNot, bool, [truth])
    }

    /// One instruction for each pair of limbs.
    pub(super) fn each_limb(&mut self, op: Op, left: &[Id], right: &[Id]) -> Vec<Id> {
        let ty = self.t.shape_type(LIMB_SHAPE);
        let pairs = left.iter().zip(right);
        pairs
            .map(|(left, right)| self.emit_op(op, ty, [*left, *right]))
            .collect()
    }

    /// A sum, and the carry out of the last limb.
    pub(super) fn add_limbs(&mut self, left: &[Id], right: &[Id]) -> (Vec<Id>, Id) {
        let (ty, bool) = (self.t.shape_type(LIMB_SHAPE), self.t.b.bool_type());
        let mut carry = None;
        let mut sums = Vec::with_capacity(left.len());
        for (&left, &right) in left.iter().zip(right) {
            let mut sum = self.emit_op(Op::IAdd, ty, [left, right]);
            let mut over = self.emit_op(Op::ULessThan, bool, [sum, left]);
            if let Some(carry) = carry {
                let one = self.convert_boolean(carry, LIMB_SHAPE, false);
                let before = sum;
                sum = self.emit_op(Op::IAdd, ty, [before, one]);
                let again = self.emit_op(Op::ULessThan, bool, [sum, before]);
                over = self.emit_op(Op::LogicalOr, bool, [over, again]);
            }
            sums.push(sum);
            carry = Some(over);
        }
        let carry = carry.unwrap_or_else(|| self.t.b.constant_bool(false));
        (sums, carry)
    }

    /// A difference, and the borrow out of the last limb.
    pub(super) fn subtract_limbs(&mut self, left: &[Id], right: &[Id]) -> (Vec<Id>, Id) {
        let (ty, bool) = (self.t.shape_type(LIMB_SHAPE), self.t.b.bool_type());
        let mut borrow = None;
        let mut all = Vec::with_capacity(left.len());
        for (&left, &right) in left.iter().zip(right) {
            let mut rest = self.emit_op(Op::ISub, ty, [left, right]);
            let mut under = self.emit_op(Op::ULessThan, bool, [left, right]);
            if let Some(borrow) = borrow {
                let one = self.convert_boolean(borrow, LIMB_SHAPE, false);
                let again = self.emit_op(Op::ULessThan, bool, [rest, one]);
                rest = self.emit_op(Op::ISub, ty, [rest, one]);
                under = self.emit_op(Op::LogicalOr, bool, [under, again]);
            }
            all.push(rest);
            borrow = Some(under);
        }
        let borrow = borrow.unwrap_or_else(|| self.t.b.constant_bool(false));
        (all, borrow)
    }

    /// The lowest limbs of a product.
    pub(super) fn multiply_limbs(&mut self, left: &[Id], right: &[Id], count: usize) -> Vec<Id> {
        let ty = self.t.shape_type(LIMB_SHAPE);
        let zero = self.t.make_zero(LIMB_SHAPE);
        let mut all = vec![zero; count];
        for (at, &a) in left.iter().enumerate() {
            for (by, &b) in right.iter().enumerate() {
                let place = at + by;
                if place >= count {
                    break;
                }
                let mut part = vec![self.emit_op(Op::IMul, ty, [a, b])];
                if place + 1 < count {
                    part.push(self.emit_ext_inst(std_::U_MUL_HI, ty, &[a, b]));
                }
                part.resize(count - place, zero);
                let (sum, _) = self.add_limbs(&all[place..], &part);
                all[place..].copy_from_slice(&sum);
            }
        }
        all
    }

    pub(super) fn compare_limbs_equal(&mut self, left: &[Id], right: &[Id]) -> Id {
        let bool = self.t.b.bool_type();
        let mut all = None;
        for (&left, &right) in left.iter().zip(right) {
            let same = self.emit_op(Op::IEqual, bool, [left, right]);
            all = Some(match all {
                Some(all) => self.emit_op(Op::LogicalAnd, bool, [all, same]),
                None => same,
            });
        }
        all.unwrap_or_else(|| self.t.b.constant_bool(true))
    }

    /// Whether a number is less than another. The last limbs are signed if the numbers are.
    pub(super) fn emit_wide_less_than(&mut self, left: &[Id], right: &[Id], signed: bool) -> Id {
        let bool = self.t.b.bool_type();
        let mut below = None;
        for (at, (&left_limb, &right_limb)) in left.iter().zip(right).enumerate() {
            let op = if signed && at + 1 == left.len() {
                Op::SLessThan
            } else {
                Op::ULessThan
            };
            let here = self.emit_op(op, bool, [left_limb, right_limb]);
            below = Some(match below {
                Some(lower) => {
                    let same = self.emit_op(Op::IEqual, bool, [left_limb, right_limb]);
                    let lower = self.emit_op(Op::LogicalAnd, bool, [same, lower]);
                    self.emit_op(Op::LogicalOr, bool, [here, lower])
                }
                None => here,
            });
        }
        below.unwrap_or_else(|| self.t.b.constant_bool(false))
    }

    /// Shifts to the left by an amount, which may be constant.
    pub(super) fn shift_left(&mut self, limbs: &[Id], by: Id, known: Option<u64>) -> Vec<Id> {
        let zero = self.t.make_zero(LIMB_SHAPE);
        let mut reversed: Vec<Id> = limbs.to_vec();
        reversed.reverse();
        let mut all = self.shift_limbs(&reversed, zero, by, known, true);
        all.reverse();
        all
    }

    /// Shifts to the right. An arithmetic shift fills with the sign of the last limb.
    pub(super) fn shift_right(
        &mut self,
        limbs: &[Id],
        by: Id,
        known: Option<u64>,
        arithmetic: bool,
    ) -> Vec<Id> {
        let ty = self.t.shape_type(LIMB_SHAPE);
        let fill = if arithmetic && let Some(&last) = limbs.last() {
            let most = self.t.make_splat(LIMB_SHAPE, u64::from(LIMB - 1));
            self.emit_op(Op::ShiftRightArithmetic, ty, [last, most])
        } else {
            self.t.make_zero(LIMB_SHAPE)
        };
        self.shift_limbs(limbs, fill, by, known, false)
    }

    /// Shifts towards the beginning of the list. Each limb is combined from one further on and the
    /// one after that. Limbs past the end are `fill`.
    fn shift_limbs(
        &mut self,
        limbs: &[Id],
        fill: Id,
        by: Id,
        known: Option<u64>,
        left: bool,
    ) -> Vec<Id> {
        let shape = LIMB_SHAPE;
        let ty = self.t.shape_type(shape);
        let at = |n: usize| limbs.get(n).copied().unwrap_or(fill);
        if let Some(known) = known {
            let skip = (known / u64::from(LIMB)).min(limbs.len() as u64) as usize;
            let amount = self.t.make_splat(shape, known % u64::from(LIMB));
            return (0..limbs.len())
                .map(|n| {
                    if known.is_multiple_of(u64::from(LIMB)) {
                        at(n + skip)
                    } else {
                        self.shift_limb_pair(at(n + skip), at(n + skip + 1), amount, left)
                    }
                })
                .collect();
        }
        let low = self.t.make_splat(shape, u64::from(LIMB - 1));
        let amount = self.emit_op(Op::BitwiseAnd, ty, [by, low]);
        let log = self.t.make_splat(shape, u64::from(LIMB.trailing_zeros()));
        let skip = self.emit_op(Op::ShiftRightLogical, ty, [by, log]);
        let bool = self.t.b.bool_type();
        let parts: Vec<Id> = (0..limbs.len())
            .map(|n| self.shift_limb_pair(at(n), at(n + 1), amount, left))
            .collect();
        let mut all = parts.clone();
        for skipped in 1..limbs.len() {
            let count = self.t.make_splat(shape, skipped as u64);
            let here = self.emit_op(Op::IEqual, bool, [skip, count]);
            for (n, limb) in all.iter_mut().enumerate() {
                let part = parts.get(n + skipped).copied().unwrap_or(fill);
                *limb = self.emit_select(ty, here, part, *limb);
            }
        }
        all
    }

    /// The first limb shifted by less than a limb, combined with the bits that the second shifts
    /// into it.
    fn shift_limb_pair(&mut self, first: Id, second: Id, by: Id, left: bool) -> Id {
        let shape = LIMB_SHAPE;
        let ty = self.t.shape_type(shape);
        let most = self.t.make_splat(shape, u64::from(LIMB - 1));
        let one = self.t.make_splat(shape, 1);
        let rest = self.emit_op(Op::BitwiseXor, ty, [by, most]);
        let (there, back) = if left {
            (Op::ShiftLeftLogical, Op::ShiftRightLogical)
        } else {
            (Op::ShiftRightLogical, Op::ShiftLeftLogical)
        };
        let kept = self.emit_op(there, ty, [first, by]);
        // Two steps, as a shift by a whole limb is undefined.
        let moved = self.emit_op(back, ty, [second, one]);
        let moved = self.emit_op(back, ty, [moved, rest]);
        self.emit_op(Op::BitwiseOr, ty, [kept, moved])
    }

    /// Zero less a number.
    pub(super) fn negate_limbs(&mut self, limbs: &[Id]) -> Vec<Id> {
        let zero = vec![self.t.make_zero(LIMB_SHAPE); limbs.len()];
        self.subtract_limbs(&zero, limbs).0
    }

    /// One list of limbs or another.
    pub(super) fn select_limbs(&mut self, condition: Id, yes: &[Id], no: &[Id]) -> Vec<Id> {
        let ty = self.t.shape_type(LIMB_SHAPE);
        let pairs = yes.iter().zip(no);
        pairs
            .map(|(yes, no)| self.emit_select(ty, condition, *yes, *no))
            .collect()
    }

    /// Quotient and remainder by a loop. Each iteration shifts the highest bit of the dividend into
    /// the remainder, and a bit of the quotient into the dividend.
    pub(super) fn divide_limbs(
        &mut self,
        wide: LimbInteger,
        left: &[Id],
        right: &[Id],
    ) -> (Vec<Id>, Vec<Id>) {
        let (shape, counter) = (LIMB_SHAPE, NumericShape::new_int(32, 1));
        let (ty, bool) = (self.t.shape_type(shape), self.t.b.bool_type());
        let number = self.t.shape_type(counter);
        let [zero, one] = [0, 1].map(|bits| self.t.make_splat(shape, bits));
        let before = self.current_label();
        let [head, after] = [(); 2].map(|()| self.t.b.fresh_id());
        self.t.b.append_effect(Op::Branch, &[head.word()]);

        self.begin_block(head);
        let (round, round_phi) = self.t.b.append_phi(number);
        let mut joined = || -> Vec<_> { left.iter().map(|_| self.t.b.append_phi(ty)).collect() };
        let (quotients, remainders) = (joined(), joined());
        let quotient: Vec<Id> = quotients.iter().map(|phi| phi.0).collect();
        let remainder: Vec<Id> = remainders.iter().map(|phi| phi.0).collect();
        // The highest bit of the dividend moves into the remainder. Limbs are used whole, as the
        // bits above the width are zero.
        let top = self.extract_top_bit(&quotient);
        let over = self.extract_top_bit(&remainder);
        let mut next = self.shift_left(&remainder, one, Some(1));
        next[0] = self.emit_op(Op::BitwiseOr, ty, [next[0], top]);
        let below = self.emit_wide_less_than(&next, right, false);
        let fits = self.emit_logical_not(below);
        let over = self.is_nonzero(shape, over);
        let fits = self.emit_op(Op::LogicalOr, bool, [fits, over]);
        let (less, _) = self.subtract_limbs(&next, right);
        let next = self.select_limbs(fits, &less, &next);
        let mut shifted = self.shift_left(&quotient, one, Some(1));
        let bit = self.convert_boolean(fits, shape, false);
        shifted[0] = self.emit_op(Op::BitwiseOr, ty, [shifted[0], bit]);
        let step = self.t.make_splat(counter, 1);
        let done = self.emit_op(Op::IAdd, number, [round, step]);
        let bits = self
            .t
            .make_splat(counter, u64::from(LIMB) * wide.limbs as u64);
        let more = self.emit_op(Op::ULessThan, bool, [done, bits]);
        let last = self.current_label();
        let words = [more, head, after].map(Id::word);
        self.t.b.append_effect(Op::BranchConditional, &words);

        let start = self.t.make_zero(counter);
        let mut set = |phi, from: Id, to: Id| {
            let words = [from, before, to, last].map(Id::word);
            self.t.b.set_phi(phi, &words);
        };
        set(round_phi, start, done);
        for (n, phi) in quotients.iter().enumerate() {
            set(phi.1, left[n], shifted[n]);
        }
        for (n, phi) in remainders.iter().enumerate() {
            set(phi.1, zero, next[n]);
        }
        self.begin_block(after);
        (shifted, next)
    }

    /// The highest bit of a number.
    fn extract_top_bit(&mut self, limbs: &[Id]) -> Id {
        let ty = self.t.shape_type(LIMB_SHAPE);
        let most = self.t.make_splat(LIMB_SHAPE, u64::from(LIMB - 1));
        let last = limbs[limbs.len() - 1];
        self.emit_op(Op::ShiftRightLogical, ty, [last, most])
    }

    /// Quotient and remainder of signed numbers. The remainder has the sign of the dividend.
    pub(super) fn divide_signed(
        &mut self,
        wide: LimbInteger,
        left: &[Id],
        right: &[Id],
    ) -> (Vec<Id>, Vec<Id>) {
        let bool = self.t.b.bool_type();
        let (left, negative) = self.split_sign(wide, left);
        let (right, other) = self.split_sign(wide, right);
        let (quotient, remainder) = self.divide_limbs(wide, &left, &right);
        let differ = self.emit_op(Op::LogicalNotEqual, bool, [negative, other]);
        let minus = self.negate_limbs(&quotient);
        let quotient = self.select_limbs(differ, &minus, &quotient);
        let minus = self.negate_limbs(&remainder);
        let remainder = self.select_limbs(negative, &minus, &remainder);
        (quotient, remainder)
    }

    /// The magnitude of a signed number, and whether the number is negative.
    pub(super) fn split_sign(&mut self, wide: LimbInteger, limbs: &[Id]) -> (Vec<Id>, Id) {
        let zero = vec![self.t.make_zero(LIMB_SHAPE); limbs.len()];
        let negative = self.compare_limbs(wide, Predicate::Slt, limbs, &zero);
        let signed = self.sign_extend_limbs(wide, limbs);
        let minus = self.negate_limbs(&signed);
        (self.select_limbs(negative, &minus, &signed), negative)
    }
}
