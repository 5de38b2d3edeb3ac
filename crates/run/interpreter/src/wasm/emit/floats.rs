//! Operations on `f32` and `f64`: those whose results IEEE 754 fixes, and the short formulas of `spirula_scalar`.

use super::arithmetic::StepOperands;
use super::{EmitInstruction, FunctionEmitter, StepOperand};
use crate::operation::{OperationName, ScalarOperation};
use crate::wasm::value_class::ValueClass;
use spirula_scalar::FloatEncoding;
use spirula_scalar::fold::FoldType;
use spirula_spirv::grammar::Op;

/// An instruction on `f32` and on `f64`.
#[derive(Clone, Copy)]
struct FloatPair {
    single: EmitInstruction,
    double: EmitInstruction,
}

macro_rules! pair {
    ($single:ident $double:ident) => {
        FloatPair {
            single: |sink| sink.$single(),
            double: |sink| sink.$double(),
        }
    };
}

/// Instructions of SPIR-V with two operands that are one of WebAssembly.
const BINARY: &[(Op, FloatPair)] = &[
    (Op::FAdd, pair!(f32_add f64_add)),
    (Op::FSub, pair!(f32_sub f64_sub)),
    (Op::FMul, pair!(f32_mul f64_mul)),
    (Op::FDiv, pair!(f32_div f64_div)),
];

/// Comparisons that are one of WebAssembly, or its negation.
const COMPARISONS: &[(Op, FloatPair, bool)] = &[
    (Op::FOrdEqual, pair!(f32_eq f64_eq), false),
    (Op::FUnordNotEqual, pair!(f32_ne f64_ne), false),
    (Op::FOrdLessThan, pair!(f32_lt f64_lt), false),
    (Op::FOrdGreaterThan, pair!(f32_gt f64_gt), false),
    (Op::FOrdLessThanEqual, pair!(f32_le f64_le), false),
    (Op::FOrdGreaterThanEqual, pair!(f32_ge f64_ge), false),
    (Op::FUnordLessThan, pair!(f32_ge f64_ge), true),
    (Op::FUnordGreaterThan, pair!(f32_le f64_le), true),
    (Op::FUnordLessThanEqual, pair!(f32_gt f64_gt), true),
    (Op::FUnordGreaterThanEqual, pair!(f32_lt f64_lt), true),
];

/// Extended instructions with one operand that are one instruction.
const UNARY: &[(&[&str], FloatPair)] = &[
    (
        &["sqrt", "Sqrt", "half_sqrt", "native_sqrt"],
        pair!(f32_sqrt f64_sqrt),
    ),
    (&["floor", "Floor"], pair!(f32_floor f64_floor)),
    (&["ceil", "Ceil"], pair!(f32_ceil f64_ceil)),
    (&["trunc", "Trunc"], pair!(f32_trunc f64_trunc)),
    (
        &["rint", "Round", "RoundEven"],
        pair!(f32_nearest f64_nearest),
    ),
    (&["fabs", "FAbs"], pair!(f32_abs f64_abs)),
];

const ADD: FloatPair = pair!(f32_add f64_add);
const SUB: FloatPair = pair!(f32_sub f64_sub);
const MUL: FloatPair = pair!(f32_mul f64_mul);
const DIV: FloatPair = pair!(f32_div f64_div);
const SQRT: FloatPair = pair!(f32_sqrt f64_sqrt);
const FLOOR: FloatPair = pair!(f32_floor f64_floor);
const LESS: FloatPair = pair!(f32_lt f64_lt);
const GREATER: FloatPair = pair!(f32_gt f64_gt);
const EQUAL: FloatPair = pair!(f32_eq f64_eq);
const NOT_EQUAL: FloatPair = pair!(f32_ne f64_ne);

impl FunctionEmitter<'_, '_> {
    /// Emits an operation on `f32` or `f64`; none where the host has it.
    pub(super) fn emit_float_operation(
        &mut self,
        operation: &ScalarOperation,
        operands: StepOperands,
    ) -> Option<ValueClass> {
        let class = ValueClass::of_type(operation.operand);
        let [a, b, ..] = operands;
        let op = match operation.name {
            OperationName::Core(op) => op,
            OperationName::Extended(name) => {
                return self.emit_float_function(name, class, operands);
            }
            OperationName::Decorated => return None,
        };
        if let Some((_, pair)) = BINARY.iter().find(|row| row.0 == op) {
            self.push(a, class);
            self.push(b, class);
            self.emit_float(*pair, class);
            return Some(class);
        }
        if let Some((_, pair, is_negated)) = COMPARISONS.iter().find(|row| row.0 == op) {
            self.push(a, class);
            self.push(b, class);
            self.emit_float(*pair, class);
            if *is_negated {
                self.sink().i32_eqz();
            }
            return Some(ValueClass::I32);
        }
        match op {
            Op::FNegate => {
                self.push(a, class);
                self.emit_float(pair!(f32_neg f64_neg), class);
                Some(class)
            }
            Op::IsNan => {
                self.push(a, class);
                self.push(a, class);
                self.emit_float(NOT_EQUAL, class);
                Some(ValueClass::I32)
            }
            Op::FConvert => self.emit_format_conversion(operation, class, a),
            Op::ConvertFToS | Op::ConvertFToU => self.emit_truncation(operation, class, a),
            _ => None,
        }
    }

    fn emit_float(&mut self, pair: FloatPair, class: ValueClass) {
        let is_double = class == ValueClass::F64;
        let emission = if is_double { pair.double } else { pair.single };
        emission(&mut self.sink());
    }

    /// Pushes a number that both types have.
    fn push_number(&mut self, number: f64, class: ValueClass) {
        let bits = match class {
            ValueClass::F64 => number.to_bits(),
            _ => (number as f32).to_bits().into(),
        };
        self.push_constant(bits, class);
    }

    fn emit_format_conversion(
        &mut self,
        operation: &ScalarOperation,
        class: ValueClass,
        operand: StepOperand,
    ) -> Option<ValueClass> {
        let to = match operation.result {
            FoldType::Float(FloatEncoding::F32) => ValueClass::F32,
            FoldType::Float(FloatEncoding::F64) => ValueClass::F64,
            _ => return None,
        };
        self.push(operand, class);
        let mut sink = self.sink();
        match (class, to) {
            (ValueClass::F32, ValueClass::F64) => sink.f64_promote_f32(),
            (ValueClass::F64, ValueClass::F32) => sink.f32_demote_f64(),
            _ => &mut sink,
        };
        Some(to)
    }

    /// A conversion to integers of 32 or 64 bits. Both saturate, and make 0 of NaN.
    fn emit_truncation(
        &mut self,
        operation: &ScalarOperation,
        class: ValueClass,
        operand: StepOperand,
    ) -> Option<ValueClass> {
        let is_wide = match operation.result {
            FoldType::Int { width: 32 } => false,
            FoldType::Int { width: 64 } => true,
            _ => return None,
        };
        let is_signed = operation.name == OperationName::Core(Op::ConvertFToS);
        self.push(operand, class);
        let mut sink = self.sink();
        match (class == ValueClass::F64, is_wide, is_signed) {
            (false, false, false) => sink.i32_trunc_sat_f32_u(),
            (false, false, true) => sink.i32_trunc_sat_f32_s(),
            (false, true, false) => sink.i64_trunc_sat_f32_u(),
            (false, true, true) => sink.i64_trunc_sat_f32_s(),
            (true, false, false) => sink.i32_trunc_sat_f64_u(),
            (true, false, true) => sink.i32_trunc_sat_f64_s(),
            (true, true, false) => sink.i64_trunc_sat_f64_u(),
            (true, true, true) => sink.i64_trunc_sat_f64_s(),
        };
        Some(ValueClass::of_type(operation.result))
    }

    /// Functions of OpenCL.std and GLSL.std.450, by the formulas of `spirula_scalar::math::common`.
    fn emit_float_function(
        &mut self,
        name: &str,
        class: ValueClass,
        [a, b, c, _]: StepOperands,
    ) -> Option<ValueClass> {
        let unary = UNARY.iter().find(|(names, _)| names.contains(&name));
        if let Some((_, pair)) = unary {
            self.push(a, class);
            self.emit_float(*pair, class);
            return Some(class);
        }
        match name {
            "fmin" | "FMin" | "NMin" | "fmin_common" => {
                self.emit_extreme_number(a, b, class, false)
            }
            "fmax" | "FMax" | "NMax" | "fmax_common" => self.emit_extreme_number(a, b, class, true),
            "fclamp" | "FClamp" | "NClamp" => {
                let larger = self.temporary(class, 2);
                self.emit_extreme_number(a, b, class, true);
                self.sink().local_set(larger);
                self.emit_extreme_number(StepOperand::Local(larger, class), c, class, false);
            }
            "mad" => {
                self.push(a, class);
                self.push(b, class);
                self.emit_float(MUL, class);
                self.push(c, class);
                self.emit_float(ADD, class);
            }
            "mix" => {
                self.push(a, class);
                self.push(b, class);
                self.push(a, class);
                self.emit_float(SUB, class);
                self.push(c, class);
                self.emit_float(MUL, class);
                self.emit_float(ADD, class);
            }
            "FMix" => self.emit_blend([a, b, c], class),
            "half_divide" | "native_divide" => {
                self.push(a, class);
                self.push(b, class);
                self.emit_float(DIV, class);
            }
            "half_recip" | "native_recip" => {
                self.push_number(1.0, class);
                self.push(a, class);
                self.emit_float(DIV, class);
            }
            "rsqrt" | "InverseSqrt" | "half_rsqrt" | "native_rsqrt" => {
                self.push_number(1.0, class);
                self.push(a, class);
                self.emit_float(SQRT, class);
                self.emit_float(DIV, class);
            }
            "Fract" => {
                self.push(a, class);
                self.push(a, class);
                self.emit_float(FLOOR, class);
                self.emit_float(SUB, class);
            }
            "step" | "Step" => {
                self.push_number(0.0, class);
                self.push_number(1.0, class);
                self.push(b, class);
                self.push(a, class);
                self.emit_float(LESS, class);
                self.sink().select();
            }
            _ => return None,
        }
        Some(class)
    }

    /// a·(1 − c) + b·c.
    fn emit_blend(&mut self, [a, b, c]: [StepOperand; 3], class: ValueClass) {
        self.push(a, class);
        self.push_number(1.0, class);
        self.push(c, class);
        self.emit_float(SUB, class);
        self.emit_float(MUL, class);
        self.push(b, class);
        self.push(c, class);
        self.emit_float(MUL, class);
        self.emit_float(ADD, class);
    }

    /// The smaller or larger number: the first where the second is NaN, is beyond it, or equals it with the other sign of
    /// zero.
    fn emit_extreme_number(
        &mut self,
        x: StepOperand,
        y: StepOperand,
        class: ValueClass,
        is_maximum: bool,
    ) {
        self.push(x, class);
        self.push(y, class);
        self.push(y, class);
        self.push(y, class);
        self.emit_float(NOT_EQUAL, class);
        self.push(x, class);
        self.push(y, class);
        self.emit_float(if is_maximum { GREATER } else { LESS }, class);
        self.sink().i32_or();
        self.push(x, class);
        self.push(y, class);
        self.emit_float(EQUAL, class);
        let signed = if is_maximum { y } else { x };
        if class == ValueClass::F64 {
            self.push(signed, ValueClass::I64);
            self.sink().i64_const(0).i64_lt_s();
        } else {
            self.push(signed, ValueClass::I32);
            self.sink().i32_const(0).i32_lt_s();
        }
        self.sink().i32_and().i32_or().select();
    }
}
