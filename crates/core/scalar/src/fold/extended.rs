//! Constant folding of extended instructions with one scalar result.

use super::{
    FoldConstant, FoldType, canonicalise_nan, float_format, is_int, is_int_type, read_unsigned,
    round_to_encoding, to_f64,
};
use crate::format::FloatEncoding;
use crate::int::make_mask;
use crate::real::NativeFloat as Number;
use crate::table::{ExtInstBody, HalfFn, IntegerFn, RealFn, ScalarExtInst};

/// The result of `function` on constants, in the low bits. `None` where operands do not fit it, or where it has a
/// second result or packs vectors.
pub fn eval_extended(
    function: &ScalarExtInst,
    result: FoldType,
    operands: &[FoldConstant],
) -> Option<u64> {
    let bits = match function.body {
        ExtInstBody::Integer(body) => fold_integer(body, result, operands),
        ExtInstBody::Packing(_) => None,
        ExtInstBody::Real { f32, f64, f16 } => {
            // The format is the operands'; only `nan` has none among them.
            let format = operands
                .first()
                .and_then(|operand| float_format(operand.ty));
            match (format.or_else(|| float_format(result))?, f16) {
                (FloatEncoding::F64, _) => fold_real(f64, result, operands),
                (FloatEncoding::F16, Some(body)) => fold_half(body, result, operands),
                _ => fold_real(f32, result, operands),
            }
        }
    }?;
    Some(bits & make_mask(result.width()))
}

/// The operands as numbers, if all have the result's type.
fn read_reals<T: Number, const N: usize>(
    result: FoldType,
    operands: &[FoldConstant],
) -> Option<[T; N]> {
    let operands: &[FoldConstant; N] = operands.try_into().ok()?;
    let fits = float_format(result).is_some() && operands.iter().all(|o| o.ty == result);
    fits.then(|| operands.map(|operand| T::from_f64(to_f64(&operand))))
}

/// A function on numbers, in `T`, rounded to the result's format.
fn fold_real<T: Number + Into<f64>>(
    body: RealFn<T>,
    result: FoldType,
    operands: &[FoldConstant],
) -> Option<u64> {
    let value = match body {
        RealFn::Unary(f) => {
            let [x] = read_reals(result, operands)?;
            f(x)
        }
        RealFn::Binary(f) => {
            let [x, y] = read_reals(result, operands)?;
            f(x, y)
        }
        RealFn::Ternary(f) => {
            let [x, y, z] = read_reals(result, operands)?;
            f(x, y, z)
        }
        RealFn::WithInt(f) => {
            let (x, n) = operands.split_first()?;
            let [x] = read_reals(result, &[*x])?;
            let [n] = n else { return None };
            f(
                x,
                (n.ty == FoldType::Int { width: 32 }).then_some(n.bits as i32)?,
            )
        }
        RealFn::ToInt(f) => {
            let [x] = operands else { return None };
            let [number] = read_reals(x.ty, operands)?;
            return is_int_type(result).then(|| i64::from(f(number)) as u64);
        }
        RealFn::FromBits(f) => {
            let [code] = operands else { return None };
            let fits = is_int(code) && FoldType::Float(T::FORMAT) == result;
            return fits.then(|| f(read_unsigned(code)).to_raw());
        }
        RealFn::AndReal(_) | RealFn::AndInt(_) | RealFn::BinaryAndInt(_) => return None,
    };
    match float_format(result)? {
        FloatEncoding::F64 => Some(canonicalise_nan(value)),
        format => Some(round_to_encoding(value.into(), format)),
    }
}

/// A function on the bits of `f16`.
fn fold_half(body: HalfFn, result: FoldType, operands: &[FoldConstant]) -> Option<u64> {
    let same = operands.iter().all(|operand| operand.ty == result);
    let bits = match (body, operands) {
        (HalfFn::Binary(f), [x, y]) if same => f(x.bits as u16, y.bits as u16),
        (HalfFn::Ternary(f), [x, y, z]) if same => f(x.bits as u16, y.bits as u16, z.bits as u16),
        (HalfFn::FromBits(f), [code]) if is_int(code) => return Some(f(code.bits as u16).into()),
        _ => return None,
    };
    let nan = bits & 0x7FFF > FloatEncoding::F16.infinity() as u16;
    Some(if nan {
        FloatEncoding::F16.nan()
    } else {
        bits.into()
    })
}

/// A function on integers; operands have one width, which is the result's unless it is doubled.
/// Selections take other operands than integers too.
fn fold_integer(body: IntegerFn, result: FoldType, operands: &[FoldConstant]) -> Option<u64> {
    let ty = operands.first()?.ty;
    let width = ty.width();
    let bits = |operand: &FoldConstant| operand.bits & make_mask(width);
    let result_fits = is_int_type(result) && [width, 2 * width].contains(&result.width());
    let fits = (result_fits || result == ty)
        && (1..=64).contains(&width)
        && operands
            .iter()
            .all(|o| o.ty != FoldType::Bool && o.ty.width() == width);
    match (body, operands) {
        _ if !fits => None,
        (IntegerFn::Unary(f), [a]) => Some(f(bits(a), width)),
        (IntegerFn::Binary(f), [a, b]) => Some(f(bits(a), bits(b), width)),
        (IntegerFn::Ternary(f), [a, b, c]) => Some(f(bits(a), bits(b), bits(c), width)),
        _ => None,
    }
}
