//! Evaluation of scalar operators.

use crate::operator::{ScalarOpSemantics, floor_div, trunc_div};
use crate::{ScalarOp, ScalarOperator, ScalarType};
use spirula_scalar::convert::{float_to_float, float_to_int, int_to_float};
use spirula_scalar::table::RealFn;
use spirula_scalar::{FloatEncoding, FloatRounding, NativeFloat, int, math};

impl ScalarOperator {
    /// The result of the operators that sizes and indices mostly use, without a lookup in the table.
    #[inline]
    pub(crate) fn eval_quick(self, a: u64, b: u64) -> Option<u64> {
        let (x, y) = (a as i64, b as i64);
        Some(match (self.op, self.from) {
            (ScalarOp::Add, ScalarType::I64) => a.wrapping_add(b),
            (ScalarOp::Sub, ScalarType::I64) => a.wrapping_sub(b),
            (ScalarOp::Mul, ScalarType::I64) => a.wrapping_mul(b),
            (ScalarOp::SQuot, ScalarType::I64) => trunc_div(x, y) as u64,
            (ScalarOp::SDiv, ScalarType::I64) => floor_div(x, y) as u64,
            (ScalarOp::SDivUp | ScalarOp::SDivUpSafe, ScalarType::I64) => {
                floor_div(x.wrapping_add(y).wrapping_sub(1), y) as u64
            }
            (ScalarOp::SMax, ScalarType::I64) => x.max(y) as u64,
            (ScalarOp::SMin, ScalarType::I64) => x.min(y) as u64,
            (ScalarOp::And, ScalarType::I64) | (ScalarOp::LogAnd, ScalarType::Bool) => a & b,
            (ScalarOp::LogOr, ScalarType::Bool) => a | b,
            (ScalarOp::Not, ScalarType::Bool) => a ^ 1,
            (ScalarOp::Eq, ScalarType::I64 | ScalarType::I32 | ScalarType::Bool) => (a == b).into(),
            (ScalarOp::SLt, ScalarType::I64) => (x < y).into(),
            (ScalarOp::SLe, ScalarType::I64) => (x <= y).into(),
            (ScalarOp::SExt, ScalarType::I32) if self.to == ScalarType::I64 => a as i32 as u64,
            (ScalarOp::SExt, ScalarType::I64) if self.to == ScalarType::I32 => u64::from(a as u32),
            _ => return None,
        })
    }

    /// The result for operands by their bits. Bits above a type's width are 0, in operands and in the result. Missing
    /// operands count as 0.
    pub fn eval_operands(self, operands: &[u64]) -> u64 {
        let at = |index: usize| operands.get(index).copied().unwrap_or(0);
        let (a, b, c) = (at(0), at(1), at(2));
        let width = self.from.width().max(1);
        let signed = |bits| int::sign_extend(bits, width);
        let bits = match self.op.row().semantics {
            ScalarOpSemantics::Int1(f) => f(a, width),
            ScalarOpSemantics::Int2(f) => f(a, b, width),
            ScalarOpSemantics::Int3(f) => f(a, b, c, width),
            ScalarOpSemantics::Signed(f) => f(signed(a), signed(b), width) as u64,
            ScalarOpSemantics::Unsigned(f) => f(a, b, width),
            ScalarOpSemantics::IntTest(f) => f(a, b, width).into(),
            ScalarOpSemantics::UnsignedTest(f) => f(a, b).into(),
            ScalarOpSemantics::Real(narrow, wide) => self.eval_real(narrow, wide, [a, b, c]),
            ScalarOpSemantics::RealTest(f) => f(to_f64(a, self.from), to_f64(b, self.from)).into(),
            ScalarOpSemantics::Own => self.eval_special([a, b, c]),
        };
        self.to.truncate_bits(bits)
    }

    fn eval_real(self, narrow: RealFn<f32>, wide: RealFn<f64>, operands: [u64; 3]) -> u64 {
        if self.from == ScalarType::F64 {
            return apply_real(wide, operands.map(f64::from_bits)).to_bits();
        }
        let operands = operands.map(|bits| to_f64(bits, self.from) as f32);
        from_f32(apply_real(narrow, operands), self.from)
    }

    /// The result of operators that need both types, or that fit no other rule.
    fn eval_special(self, operands: [u64; 3]) -> u64 {
        let [a, b, c] = operands;
        let (from, to) = (self.from.format(), self.to.format());
        let width = self.from.width().max(1);
        let nearest = FloatRounding::NearestEven;
        match (self.op, from, to) {
            (ScalarOp::Eq, Some(_), _) => (to_f64(a, self.from) == to_f64(b, self.from)).into(),
            (ScalarOp::Eq, ..) => (a == b).into(),
            (ScalarOp::Cond, ..) => {
                if a != 0 {
                    b
                } else {
                    c
                }
            }
            (ScalarOp::FNeg, Some(format), _) => a ^ format.sign_bit(),
            (ScalarOp::FSignum, Some(format), _) => signum(a, format),
            (ScalarOp::SExt, ..) => int::sign_extend(a, width) as u64,
            (ScalarOp::FConv, Some(from), Some(to)) => float_to_float(a, from, to, nearest),
            (ScalarOp::SToF, _, Some(to)) => int_to_float(a, width, true, to, nearest),
            (ScalarOp::UToF, _, Some(to)) => int_to_float(a, width, false, to, nearest),
            (ScalarOp::FToS | ScalarOp::FToU, Some(format), _) => {
                let is_infinite = a & !format.sign_bit() == format.infinity();
                let signed = self.op == ScalarOp::FToS;
                let zero = FloatRounding::TowardZero;
                if is_infinite {
                    0
                } else {
                    float_to_int(a, format, self.to.width(), signed, zero)
                }
            }
            (ScalarOp::ToBool, Some(format), _) => (a & !format.sign_bit() != 0).into(),
            (ScalarOp::ToBool, ..) => (a != 0).into(),
            (ScalarOp::FromBool, _, Some(format)) => int_to_float(a, 1, false, format, nearest),
            (ScalarOp::Ldexp, Some(FloatEncoding::F64), _) => {
                math::ldexp(f64::from_bits(a), b as u32 as i32).to_bits()
            }
            (ScalarOp::Ldexp, ..) => from_f32(
                math::ldexp(to_f64(a, self.from) as f32, b as u32 as i32),
                self.from,
            ),
            (ScalarOp::NextAfter, Some(format), _) => next_after(a, b, format),
            _ => a,
        }
    }
}

/// The result of a function of as many operands as it takes. Operators have no function of another shape.
fn apply_real<T: NativeFloat>(function: RealFn<T>, [a, b, c]: [T; 3]) -> T {
    match function {
        RealFn::Unary(f) => f(a),
        RealFn::Binary(f) => f(a, b),
        RealFn::Ternary(f) => f(a, b, c),
        _ => a,
    }
}

fn to_f64(bits: u64, ty: ScalarType) -> f64 {
    match ty {
        ScalarType::F64 => return f64::from_bits(bits),
        ScalarType::F32 => return f32::from_bits(bits as u32).into(),
        _ => {}
    }
    let format = ty.format().unwrap_or(FloatEncoding::F64);
    f64::from_bits(float_to_float(
        bits,
        format,
        FloatEncoding::F64,
        FloatRounding::NearestEven,
    ))
}

fn from_f32(value: f32, ty: ScalarType) -> u64 {
    if ty == ScalarType::F32 {
        return value.to_bits().into();
    }
    let format = ty.format().unwrap_or(FloatEncoding::F32);
    float_to_float(
        value.to_bits().into(),
        FloatEncoding::F32,
        format,
        FloatRounding::NearestEven,
    )
}

/// 1 with the sign of a number; zeros and NaN are returned unchanged.
fn signum(bits: u64, format: FloatEncoding) -> u64 {
    let sign = bits & format.sign_bit();
    let magnitude = bits ^ sign;
    if magnitude == 0 || magnitude > format.infinity() {
        return bits;
    }
    sign | int_to_float(1, 1, false, format, FloatRounding::NearestEven)
}

/// The number next to `a` in the direction of `b`.
fn next_after(a: u64, b: u64, format: FloatEncoding) -> u64 {
    let (sign, infinity) = (format.sign_bit(), format.infinity());
    let (size_a, size_b) = (a & !sign, b & !sign);
    match () {
        () if size_a > infinity => a,
        () if size_b > infinity => b,
        () if a == b || size_a | size_b == 0 => b,
        () if size_a == 0 => (b & sign) | 1,
        () if (a ^ b) & sign != 0 || size_a > size_b => a - 1,
        () => a + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ROWS, ScalarLiteral};

    fn eval_text(operator: &str, operands: &[&str]) -> String {
        let operator = ScalarOperator::from_text(operator).expect(operator);
        let bits: Vec<u64> = operands
            .iter()
            .map(|o| ScalarLiteral::from_text(o).expect(o).bits)
            .collect();
        ScalarLiteral::new(operator.to, operator.eval_operands(&bits)).to_string()
    }

    #[test]
    fn the_sign_of_what_has_none_is_itself() {
        for ty in ["f16", "f32", "f64"] {
            let operator = format!("fsignum.{ty}");
            let own = [format!("{ty}.nan"), format!("0.0{ty}"), format!("-0.0{ty}")];
            for value in own {
                assert_eq!(eval_text(&operator, &[&value]), value);
            }
            let signs = [("2.5", "1.0"), ("-0.25", "-1.0")].map(|(a, b)| (format!("{a}{ty}"), b));
            for (value, sign) in signs {
                assert_eq!(eval_text(&operator, &[&value]), format!("{sign}{ty}"));
            }
            assert_eq!(
                eval_text(&operator, &[&format!("-{ty}.inf")]),
                format!("-1.0{ty}")
            );
        }
    }

    #[test]
    fn divisions_round_as_named() {
        assert_eq!(eval_text("sdiv.i32", &["-7i32", "2i32"]), "-4i32");
        assert_eq!(eval_text("smod.i32", &["-7i32", "2i32"]), "1i32");
        assert_eq!(eval_text("squot.i32", &["-7i32", "2i32"]), "-3i32");
        assert_eq!(eval_text("srem.i8", &["-7i8", "2i8"]), "-1i8");
        assert_eq!(eval_text("sdiv_up.i64", &["7i64", "2i64"]), "4i64");
        assert_eq!(eval_text("udiv.i8", &["-1i8", "2i8"]), "127i8");
        assert_eq!(eval_text("sdiv_safe.i64", &["7i64", "0i64"]), "0i64");
        assert_eq!(
            eval_text("squot.i32", &["-2147483648i32", "-1i32"]),
            "-2147483648i32"
        );
    }

    #[test]
    fn conversions_and_the_rest() {
        assert_eq!(eval_text("sext.i8.i64", &["-1i8"]), "-1i64");
        assert_eq!(eval_text("zext.i8.i64", &["-1i8"]), "255i64");
        assert_eq!(eval_text("sext.i64.i8", &["257i64"]), "1i8");
        assert_eq!(eval_text("ftos.f64.i32", &["-2.9f64"]), "-2i32");
        assert_eq!(eval_text("ftos.f32.i32", &["f32.inf"]), "0i32");
        assert_eq!(eval_text("pow.i32", &["3i32", "4i32"]), "81i32");
        assert_eq!(eval_text("pow.i32", &["3i32", "-4i32"]), "0i32");
        assert_eq!(eval_text("eq.f32", &["f32.nan", "f32.nan"]), "false");
        assert_eq!(eval_text("eq.f32", &["0.0f32", "-0.0f32"]), "true");
        assert_eq!(
            eval_text("nextafter.f32", &["1.0f32", "2.0f32"]),
            "1.0000001f32"
        );
        assert_eq!(eval_text("clz.i16", &["1i16"]), "15i32");
        assert_eq!(eval_text("fadd.f16", &["1.5f16", "0.25f16"]), "1.75f16");
        assert_eq!(eval_text("round.f64", &["2.5f64"]), "2.0f64");
    }

    #[test]
    fn every_row_is_at_its_place_and_reads_back() {
        for (index, row) in ROWS.iter().enumerate() {
            assert_eq!(row.op as usize, index);
            assert_eq!(ScalarOp::from_name(row.name), Some(row.op));
            for from in ScalarType::ALL {
                for to in ScalarType::ALL {
                    let operator = ScalarOperator {
                        op: row.op,
                        from,
                        to,
                    };
                    if operator.is_valid() {
                        assert_eq!(
                            ScalarOperator::from_text(&operator.to_string()),
                            Some(operator)
                        );
                        let result = operator.eval_operands(&[1; 3]);
                        assert_eq!(result, to.truncate_bits(result));
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_quick_is_what_the_table_says() {
        let numbers = [
            0,
            1,
            2,
            7,
            1 << 31,
            1 << 32,
            1 << 63,
            u64::MAX,
            u64::MAX - 6,
        ];
        let mut quick = 0;
        for row in ROWS {
            for (from, to) in ScalarType::ALL
                .iter()
                .flat_map(|a| ScalarType::ALL.map(|b| (*a, b)))
            {
                let op = row.op;
                let operator = ScalarOperator { op, from, to };
                if !operator.is_valid() || operator.eval_quick(0, 0).is_none() {
                    continue;
                }
                quick += 1;
                for (a, b) in numbers.iter().flat_map(|a| numbers.map(|b| (*a, b))) {
                    let [a, b] = [a, b].map(|bits| from.truncate_bits(bits));
                    let operands = &[a, b][..operator.arity()];
                    assert_eq!(
                        operator.eval_quick(a, b),
                        Some(operator.eval_operands(operands)),
                        "{operator} {a} {b}"
                    );
                }
            }
        }
        assert_eq!(quick, 20);
    }
}
