//! Operations on integers of 8, 16, 32 and 64 bits. Those of fewer than 32 bits are zero-extended in 32.

use super::arithmetic::StepOperands;
use super::{EmitInstruction, FunctionEmitter, StepOperand};
use crate::operation::{OperationName, ScalarOperation};
use crate::wasm::value_class::ValueClass;
use spirula_scalar::FloatEncoding;
use spirula_scalar::fold::FoldType;
use spirula_scalar::int::{make_mask, sign_extend};
use spirula_spirv::grammar::Op;

/// How operands and the result of an operation are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IntegerRule {
    /// Any operands; the result is cut to the width.
    Wrapping,
    /// Zero-extended operands, whose result fits.
    Natural,
    /// Operands are compared.
    Compare,
    CompareSigned,
}

use IntegerRule::{Compare, CompareSigned, Natural, Wrapping};

/// An operation that is one instruction of 32 and of 64 bits.
struct IntegerRow {
    op: Op,
    rule: IntegerRule,
    narrow: EmitInstruction,
    wide: EmitInstruction,
}

macro_rules! rows {
    ($($op:ident $rule:ident $narrow:ident $wide:ident;)*) => {
        &[$(IntegerRow {
            op: Op::$op,
            rule: $rule,
            narrow: |sink| sink.$narrow(),
            wide: |sink| sink.$wide(),
        },)*]
    };
}

const ROWS: &[IntegerRow] = rows! {
    IAdd Wrapping i32_add i64_add;
    ISub Wrapping i32_sub i64_sub;
    IMul Wrapping i32_mul i64_mul;
    BitwiseAnd Natural i32_and i64_and;
    BitwiseOr Natural i32_or i64_or;
    BitwiseXor Natural i32_xor i64_xor;
    IEqual Compare i32_eq i64_eq;
    INotEqual Compare i32_ne i64_ne;
    UGreaterThan Compare i32_gt_u i64_gt_u;
    UGreaterThanEqual Compare i32_ge_u i64_ge_u;
    ULessThan Compare i32_lt_u i64_lt_u;
    ULessThanEqual Compare i32_le_u i64_le_u;
    SGreaterThan CompareSigned i32_gt_s i64_gt_s;
    SGreaterThanEqual CompareSigned i32_ge_s i64_ge_s;
    SLessThan CompareSigned i32_lt_s i64_lt_s;
    SLessThanEqual CompareSigned i32_le_s i64_le_s;
};

impl FunctionEmitter<'_, '_> {
    /// Emits an operation on integers of a width; none where the host has it.
    pub(super) fn emit_integer_operation(
        &mut self,
        operation: &ScalarOperation,
        width: u32,
        operands: StepOperands,
    ) -> Option<ValueClass> {
        let op = match operation.name {
            OperationName::Core(op) => op,
            OperationName::Extended(name) => {
                return self.emit_integer_function(name, width, operands);
            }
            OperationName::Decorated => return None,
        };
        let class = class_of(width);
        if let Some(row) = ROWS.iter().find(|row| row.op == op) {
            let is_signed = row.rule == CompareSigned;
            self.push_integer(operands[0], width, is_signed);
            self.push_integer(operands[1], width, is_signed);
            let emission = if width == 64 { row.wide } else { row.narrow };
            emission(&mut self.sink());
            if matches!(row.rule, Compare | CompareSigned) {
                return Some(ValueClass::I32);
            }
            if row.rule != Natural {
                self.cut(width);
            }
            return Some(class);
        }
        match op {
            Op::ShiftLeftLogical | Op::ShiftRightLogical | Op::ShiftRightArithmetic => {
                self.emit_shift(op, width, operands);
            }
            Op::UDiv | Op::UMod => self.emit_unsigned_division(op, width, operands),
            Op::SDiv | Op::SRem => self.emit_signed_division(op, width, operands),
            Op::SMod => self.emit_signed_modulo(width, operands),
            Op::SNegate => {
                self.push_constant(0, class);
                self.push_integer(operands[0], width, false);
                self.emit_pair(width, |sink| sink.i32_sub(), |sink| sink.i64_sub());
                self.cut(width);
            }
            Op::Not => {
                self.push_integer(operands[0], width, false);
                self.push_constant(make_mask(width), class);
                self.emit_pair(width, |sink| sink.i32_xor(), |sink| sink.i64_xor());
            }
            Op::BitCount => {
                self.push_integer(operands[0], width, false);
                self.emit_pair(width, |sink| sink.i32_popcnt(), |sink| sink.i64_popcnt());
            }
            Op::UConvert | Op::SConvert => {
                return self.emit_integer_conversion(operation, width, operands[0]);
            }
            Op::ConvertSToF | Op::ConvertUToF => {
                return self.emit_float_conversion(operation, width, operands[0]);
            }
            _ => return None,
        }
        Some(class)
    }

    /// Pushes an integer, sign-extended where it is read as signed.
    fn push_integer(&mut self, operand: StepOperand, width: u32, is_signed: bool) {
        let class = class_of(width);
        if let Some(bits) = self.constant_of(operand).filter(|_| is_signed) {
            self.push_constant(sign_extend(bits, width) as u64, class);
            return;
        }
        self.push(operand, class);
        let mut sink = self.sink();
        match width {
            8 if is_signed => sink.i32_extend8_s(),
            16 if is_signed => sink.i32_extend16_s(),
            _ => &mut sink,
        };
    }

    fn emit_pair(&mut self, width: u32, narrow: EmitInstruction, wide: EmitInstruction) {
        let emission = if width == 64 { wide } else { narrow };
        emission(&mut self.sink());
    }

    /// Cuts the value on the stack to a width.
    fn cut(&mut self, width: u32) {
        if width < 32 {
            let mask = make_mask(width) as i32;
            self.sink().i32_const(mask).i32_and();
        }
    }

    fn emit_shift(&mut self, op: Op, width: u32, [value, amount, ..]: StepOperands) {
        let class = class_of(width);
        self.push_integer(value, width, op == Op::ShiftRightArithmetic);
        self.push(amount, class);
        // WebAssembly reduces amounts modulo 32 and 64 itself.
        if width < 32 {
            self.sink().i32_const(width as i32 - 1).i32_and();
        }
        match op {
            Op::ShiftLeftLogical => {
                self.emit_pair(width, |sink| sink.i32_shl(), |sink| sink.i64_shl());
            }
            Op::ShiftRightLogical => {
                self.emit_pair(width, |sink| sink.i32_shr_u(), |sink| sink.i64_shr_u());
            }
            _ => self.emit_pair(width, |sink| sink.i32_shr_s(), |sink| sink.i64_shr_s()),
        }
        self.cut(width);
    }

    /// Pushes a divisor; 1 stands for 0.
    fn push_divisor(&mut self, divisor: StepOperand, width: u32, is_signed: bool) {
        let class = class_of(width);
        self.push_integer(divisor, width, is_signed);
        if self.constant_of(divisor).is_some_and(|bits| bits != 0) {
            return;
        }
        self.push(divisor, class);
        let mut sink = self.sink();
        if width == 64 {
            sink.i64_eqz().i64_extend_i32_u().i64_or();
        } else {
            sink.i32_eqz().i32_or();
        }
    }

    fn emit_unsigned_division(&mut self, op: Op, width: u32, operands: StepOperands) {
        self.push_integer(operands[0], width, false);
        self.push_divisor(operands[1], width, false);
        if op == Op::UDiv {
            self.emit_pair(width, |sink| sink.i32_div_u(), |sink| sink.i64_div_u());
        } else {
            self.emit_pair(width, |sink| sink.i32_rem_u(), |sink| sink.i64_rem_u());
        }
    }

    /// A division, where a divisor of −1 is a multiplication by it: so the smallest number gives itself.
    fn emit_signed_division(&mut self, op: Op, width: u32, operands: StepOperands) {
        let class = class_of(width);
        let divisor = operands[1];
        let known = self.constant_of(divisor);
        let known = known.map(|bits| sign_extend(bits, width));
        // Remainders do not trap, and quotients of narrow numbers do not overflow.
        let may_overflow = op == Op::SDiv && width >= 32 && known.is_none_or(|bits| bits == -1);
        if !may_overflow {
            self.push_integer(operands[0], width, true);
            self.push_divisor(divisor, width, true);
            if op == Op::SDiv {
                self.emit_pair(width, |sink| sink.i32_div_s(), |sink| sink.i64_div_s());
            } else {
                self.emit_pair(width, |sink| sink.i32_rem_s(), |sink| sink.i64_rem_s());
            }
            self.cut(width);
            return;
        }
        let minus_one = make_mask(width);
        self.push_constant(0, class);
        self.push_integer(operands[0], width, true);
        self.emit_pair(width, |sink| sink.i32_sub(), |sink| sink.i64_sub());
        self.push_integer(operands[0], width, true);
        // A divisor of −1 divides as 1 here, and the result is not taken.
        self.push_constant(1, class);
        self.push_divisor(divisor, width, true);
        self.push(divisor, class);
        self.push_constant(minus_one, class);
        self.emit_pair(width, |sink| sink.i32_eq(), |sink| sink.i64_eq());
        self.sink().select();
        self.emit_pair(width, |sink| sink.i32_div_s(), |sink| sink.i64_div_s());
        self.push(divisor, class);
        self.push_constant(minus_one, class);
        self.emit_pair(width, |sink| sink.i32_eq(), |sink| sink.i64_eq());
        self.sink().select();
    }

    /// The remainder with the sign of the divisor.
    fn emit_signed_modulo(&mut self, width: u32, operands: StepOperands) {
        let class = class_of(width);
        let (divisor, remainder) = (self.temporary(class, 2), self.temporary(class, 3));
        self.push_divisor(operands[1], width, true);
        self.sink().local_set(divisor);
        self.push_integer(operands[0], width, true);
        self.sink().local_get(divisor);
        self.emit_pair(width, |sink| sink.i32_rem_s(), |sink| sink.i64_rem_s());
        self.sink().local_tee(remainder).local_get(divisor);
        self.emit_pair(width, |sink| sink.i32_add(), |sink| sink.i64_add());
        self.sink().local_get(remainder);
        // The divisor is added where the remainder has the other sign.
        self.sink().local_get(remainder).local_get(divisor);
        self.emit_pair(width, |sink| sink.i32_xor(), |sink| sink.i64_xor());
        self.push_constant(0, class);
        self.emit_pair(width, |sink| sink.i32_lt_s(), |sink| sink.i64_lt_s());
        self.sink().local_get(remainder);
        self.push_constant(0, class);
        self.emit_pair(width, |sink| sink.i32_ne(), |sink| sink.i64_ne());
        self.sink().i32_and().select();
        self.cut(width);
    }

    fn emit_integer_conversion(
        &mut self,
        operation: &ScalarOperation,
        width: u32,
        operand: StepOperand,
    ) -> Option<ValueClass> {
        let FoldType::Int { width: to } = operation.result else {
            return None;
        };
        if !matches!(to, 8 | 16 | 32 | 64) {
            return None;
        }
        let is_signed = operation.name == OperationName::Core(Op::SConvert);
        self.push_integer(operand, width, is_signed);
        let mut sink = self.sink();
        match (width, to) {
            (64, 64) => {}
            (64, _) => {
                sink.i32_wrap_i64();
            }
            (_, 64) if is_signed => {
                sink.i64_extend_i32_s();
            }
            (_, 64) => {
                sink.i64_extend_i32_u();
            }
            _ => {}
        }
        if to < 64 {
            self.cut(to);
        }
        Some(class_of(to))
    }

    fn emit_float_conversion(
        &mut self,
        operation: &ScalarOperation,
        width: u32,
        operand: StepOperand,
    ) -> Option<ValueClass> {
        let is_signed = operation.name == OperationName::Core(Op::ConvertSToF);
        let is_double = match operation.result {
            FoldType::Float(FloatEncoding::F32) => false,
            FoldType::Float(FloatEncoding::F64) => true,
            _ => return None,
        };
        self.push_integer(operand, width, is_signed);
        let mut sink = self.sink();
        match (is_double, width == 64, is_signed) {
            (false, false, false) => sink.f32_convert_i32_u(),
            (false, false, true) => sink.f32_convert_i32_s(),
            (false, true, false) => sink.f32_convert_i64_u(),
            (false, true, true) => sink.f32_convert_i64_s(),
            (true, false, false) => sink.f64_convert_i32_u(),
            (true, false, true) => sink.f64_convert_i32_s(),
            (true, true, false) => sink.f64_convert_i64_u(),
            (true, true, true) => sink.f64_convert_i64_s(),
        };
        Some(ValueClass::of_type(operation.result))
    }

    /// Functions of OpenCL.std and GLSL.std.450.
    fn emit_integer_function(
        &mut self,
        name: &str,
        width: u32,
        operands: StepOperands,
    ) -> Option<ValueClass> {
        let class = class_of(width);
        let [a, b, c, _] = operands;
        match name {
            "s_max" | "SMax" => self.emit_extreme(width, [a, b], true, true),
            "s_min" | "SMin" => self.emit_extreme(width, [a, b], true, false),
            "u_max" | "UMax" => self.emit_extreme(width, [a, b], false, true),
            "u_min" | "UMin" => self.emit_extreme(width, [a, b], false, false),
            "s_clamp" | "SClamp" | "u_clamp" | "UClamp" => {
                let is_signed = name.starts_with(['s', 'S']);
                let larger = self.temporary(class, 2);
                self.emit_extreme(width, [a, b], is_signed, true);
                self.sink().local_set(larger);
                let larger = StepOperand::Local(larger, class);
                self.emit_extreme(width, [larger, c], is_signed, false);
            }
            "s_abs" | "SAbs" => {
                self.push_constant(0, class);
                self.push_integer(a, width, true);
                self.emit_pair(width, |sink| sink.i32_sub(), |sink| sink.i64_sub());
                self.push_integer(a, width, true);
                self.push_integer(a, width, true);
                self.push_constant(0, class);
                self.emit_pair(width, |sink| sink.i32_lt_s(), |sink| sink.i64_lt_s());
                self.sink().select();
                self.cut(width);
            }
            "u_abs" => self.push_integer(a, width, false),
            "u_mul_hi" | "s_mul_hi" if width == 32 => {
                self.emit_upper_product([a, b], name == "s_mul_hi");
            }
            "rotate" if width >= 32 => {
                self.push(a, class);
                self.push(b, class);
                self.emit_pair(width, |sink| sink.i32_rotl(), |sink| sink.i64_rotl());
            }
            "bitselect" => self.emit_bit_selection(width, [a, b, c]),
            "FindILsb" => {
                // -1 where no bit is set.
                self.push_constant(make_mask(width), class);
                self.push_integer(a, width, false);
                self.emit_pair(width, |sink| sink.i32_ctz(), |sink| sink.i64_ctz());
                self.push_integer(a, width, false);
                self.emit_pair(width, |sink| sink.i32_eqz(), |sink| sink.i64_eqz());
                self.sink().select();
            }
            "popcount" => {
                self.push_integer(a, width, false);
                self.emit_pair(width, |sink| sink.i32_popcnt(), |sink| sink.i64_popcnt());
            }
            "clz" => {
                self.push_integer(a, width, false);
                self.emit_pair(width, |sink| sink.i32_clz(), |sink| sink.i64_clz());
                if width < 32 {
                    self.sink().i32_const(32 - width as i32).i32_sub();
                }
            }
            _ => return None,
        }
        Some(class)
    }

    /// The upper half of a product of 32 bits.
    fn emit_upper_product(&mut self, operands: [StepOperand; 2], is_signed: bool) {
        for operand in operands {
            self.push(operand, ValueClass::I32);
            let mut sink = self.sink();
            if is_signed {
                sink.i64_extend_i32_s();
            } else {
                sink.i64_extend_i32_u();
            }
        }
        self.sink()
            .i64_mul()
            .i64_const(32)
            .i64_shr_u()
            .i32_wrap_i64();
    }

    /// Bits of the second operand where the third has ones, else of the first.
    fn emit_bit_selection(&mut self, width: u32, [a, b, c]: [StepOperand; 3]) {
        let class = class_of(width);
        self.push(a, class);
        self.push(b, class);
        self.emit_pair(width, |sink| sink.i32_xor(), |sink| sink.i64_xor());
        self.push(c, class);
        self.emit_pair(width, |sink| sink.i32_and(), |sink| sink.i64_and());
        self.push(a, class);
        self.emit_pair(width, |sink| sink.i32_xor(), |sink| sink.i64_xor());
    }

    fn emit_extreme(
        &mut self,
        width: u32,
        [a, b]: [StepOperand; 2],
        is_signed: bool,
        is_maximum: bool,
    ) {
        let class = class_of(width);
        self.push(a, class);
        self.push(b, class);
        self.push_integer(a, width, is_signed);
        self.push_integer(b, width, is_signed);
        match (is_signed, is_maximum) {
            (true, true) => self.emit_pair(width, |sink| sink.i32_gt_s(), |sink| sink.i64_gt_s()),
            (true, false) => self.emit_pair(width, |sink| sink.i32_lt_s(), |sink| sink.i64_lt_s()),
            (false, true) => self.emit_pair(width, |sink| sink.i32_gt_u(), |sink| sink.i64_gt_u()),
            (false, false) => self.emit_pair(width, |sink| sink.i32_lt_u(), |sink| sink.i64_lt_u()),
        }
        self.sink().select();
    }
}

/// The class of integers of a width.
fn class_of(width: u32) -> ValueClass {
    if width > 32 {
        ValueClass::I64
    } else {
        ValueClass::I32
    }
}
