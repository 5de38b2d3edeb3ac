//! Operations on scalars: the functions of `spirula_scalar`, chosen once for each instruction.

use crate::facts::ScalarKind;
use spirula_scalar::convert::{
    f16_from_f32, f16_from_f64, f16_to_f32, float_to_float, float_to_int, int_to_float,
    int_to_int_saturating,
};
use spirula_scalar::fold::{FoldConstant, FoldOperation, FoldType, eval_core, list_rules};
use spirula_scalar::int::make_mask;
use spirula_scalar::table::{ExtInstBody, HalfFn, IntegerFn, PackingFn, RealFn, ScalarExtInst};
use spirula_scalar::{FloatEncoding, FloatRounding, NativeFloat};
use spirula_spirv::grammar::Op;

/// The name of an operation, by which a compiler finds the machine's own instruction for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperationName {
    /// A core instruction.
    Core(Op),
    /// An extended instruction of OpenCL.std or GLSL.std.450.
    Extended(&'static str),
    /// A conversion with a decoration.
    Decorated,
}

/// An operation on scalars: its name, types and function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScalarOperation {
    pub name: OperationName,
    /// The type of the first operand.
    pub operand: FoldType,
    pub result: FoldType,
    function: ScalarFunction,
}

/// The function of an operation on scalars of known types.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ScalarFunction {
    /// An integer, and its width.
    Integer1(extern "C" fn(u64, u32) -> u64, u32),
    /// Two integers, and their width.
    Integer2(extern "C" fn(u64, u64, u32) -> u64, u32),
    /// Three integers, and their width.
    Integer3(extern "C" fn(u64, u64, u64, u32) -> u64, u32),
    /// A comparison of integers, and their width.
    Compare(extern "C" fn(u64, u64, u32) -> bool, u32),
    /// Functions of `f32` and `f64`.
    Single(RealFn<f32>),
    Double(RealFn<f64>),
    /// A function of `f32` on numbers of a narrower format.
    Narrow(RealFn<f32>, FloatEncoding),
    /// A function on the bits of halves.
    Half(HalfFn),
    CompareSingle(fn(f64, f64) -> bool),
    CompareDouble(fn(f64, f64) -> bool),
    /// The second operand where the first is true, else the third.
    Select,
    /// A conversion between types.
    Convert(
        fn(FoldConstant, FoldType) -> Option<u64>,
        FoldType,
        FoldType,
    ),
    /// A conversion between integers that saturates.
    Saturate {
        from: u32,
        to: u32,
        is_signed: bool,
    },
    /// A conversion that rounds in a stated direction.
    Round {
        from: FoldType,
        to: FoldType,
        is_signed: bool,
        rounding: FloatRounding,
    },
    Pack2(extern "C" fn(f32, f32) -> u32),
    Pack4(extern "C" fn(f32, f32, f32, f32) -> u32),
    Unpack(extern "C" fn(u32, u32) -> f32),
    PackDouble(extern "C" fn(u32, u32) -> f64),
    UnpackDouble(extern "C" fn(f64, u32) -> u32),
    /// Any instruction by its number: the types of the result and of the operands.
    General(u32, FoldType, [FoldType; 4]),
}

/// The operands of an operation; those that it does not have are 0.
pub(crate) type ScalarOperands = [u64; 4];

impl ScalarOperation {
    /// The operation of a core instruction on one component; none where it has no rule for these types.
    pub(crate) fn from_core(
        op: Op,
        result: ScalarKind,
        operands: &[ScalarKind],
    ) -> Option<ScalarOperation> {
        Some(ScalarOperation {
            name: OperationName::Core(op),
            operand: operands.first()?.to_fold_type(),
            result: result.to_fold_type(),
            function: ScalarFunction::from_core(op, result, operands)?,
        })
    }

    /// The operation of an extended instruction on numbers of a kind; none where it has no such function.
    pub(crate) fn from_extended(row: &ScalarExtInst, kind: ScalarKind) -> Option<ScalarOperation> {
        Some(ScalarOperation {
            name: OperationName::Extended(row.name),
            operand: kind.to_fold_type(),
            result: find_extended_result(row, kind),
            function: ScalarFunction::from_extended(row.body, kind)?,
        })
    }

    /// The second operand where the first is true, else the third.
    pub(crate) fn select() -> ScalarOperation {
        ScalarOperation {
            name: OperationName::Core(Op::Select),
            operand: FoldType::Bool,
            result: FoldType::Int { width: 64 },
            function: ScalarFunction::Select,
        }
    }

    /// A conversion between integers that saturates.
    pub(crate) fn saturate(from: u32, to: u32, is_signed: bool) -> ScalarOperation {
        ScalarOperation {
            name: OperationName::Decorated,
            operand: FoldType::Int { width: from },
            result: FoldType::Int { width: to },
            function: ScalarFunction::Saturate {
                from,
                to,
                is_signed,
            },
        }
    }

    /// A conversion that rounds in a stated direction.
    pub(crate) fn round(
        from: FoldType,
        to: FoldType,
        is_signed: bool,
        rounding: FloatRounding,
    ) -> ScalarOperation {
        ScalarOperation {
            name: OperationName::Decorated,
            operand: from,
            result: to,
            function: ScalarFunction::Round {
                from,
                to,
                is_signed,
                rounding,
            },
        }
    }

    /// The result of the operation. Types that do not fit give 0, which the verifier excludes.
    #[inline]
    pub(crate) fn apply(self, operands: ScalarOperands) -> u64 {
        self.function.apply(operands)
    }
}

/// The type of an extended instruction's result on numbers of a kind.
fn find_extended_result(row: &ScalarExtInst, kind: ScalarKind) -> FoldType {
    let int = |width| FoldType::Int { width };
    match row.body {
        ExtInstBody::Integer(_) if row.name.ends_with("upsample") => int(2 * kind.bits()),
        ExtInstBody::Real {
            f32: RealFn::ToInt(_),
            ..
        } => int(32),
        ExtInstBody::Packing(PackingFn::PackDouble(_)) => int(64),
        ExtInstBody::Packing(_) => int(32),
        _ => kind.to_fold_type(),
    }
}

impl ScalarFunction {
    /// The operation of a core instruction on one component; none where it has no rule for these types.
    fn from_core(op: Op, result: ScalarKind, operands: &[ScalarKind]) -> Option<ScalarFunction> {
        let opcode = u32::from(op.0);
        let rules = list_rules();
        let row = rules
            .binary_search_by_key(&opcode, |rule| rule.opcode)
            .ok()?;
        let first = operands.first()?.to_fold_type();
        let result = result.to_fold_type();
        let width = result.width();
        let found = match rules[row].fold {
            FoldOperation::Int1(f) => ScalarFunction::Integer1(f, width),
            FoldOperation::Logical1(f) => ScalarFunction::Integer1(f, 1),
            FoldOperation::Int2(f) => ScalarFunction::Integer2(f, width),
            FoldOperation::Logical2(f) => ScalarFunction::Integer2(f, 1),
            FoldOperation::Compare(f) => ScalarFunction::Compare(f, first.width()),
            FoldOperation::Select => ScalarFunction::Select,
            FoldOperation::Convert(f) => ScalarFunction::Convert(f, first, result),
            FoldOperation::Real2 { f32, f64 } => match result {
                FoldType::Float(FloatEncoding::F32) => ScalarFunction::Single(RealFn::Binary(f32)),
                FoldType::Float(FloatEncoding::F64) => ScalarFunction::Double(RealFn::Binary(f64)),
                FoldType::Float(format) => ScalarFunction::Narrow(RealFn::Binary(f32), format),
                _ => return None,
            },
            FoldOperation::RealCompare(f) => match first {
                FoldType::Float(FloatEncoding::F32) => ScalarFunction::CompareSingle(f),
                FoldType::Float(FloatEncoding::F64) => ScalarFunction::CompareDouble(f),
                _ => ScalarFunction::make_general(opcode, result, operands),
            },
            _ => ScalarFunction::make_general(opcode, result, operands),
        };
        Some(found)
    }

    fn make_general(opcode: u32, result: FoldType, operands: &[ScalarKind]) -> ScalarFunction {
        let mut types = [FoldType::Bool; 4];
        for (to, kind) in types.iter_mut().zip(operands) {
            *to = kind.to_fold_type();
        }
        ScalarFunction::General(opcode, result, types)
    }

    /// The operation of an extended instruction on numbers of a kind; none where it has no such function.
    fn from_extended(body: ExtInstBody, kind: ScalarKind) -> Option<ScalarFunction> {
        Some(match (body, kind) {
            (ExtInstBody::Integer(f), kind) => {
                let width = kind.bits();
                match f {
                    IntegerFn::Unary(f) => ScalarFunction::Integer1(f, width),
                    IntegerFn::Binary(f) => ScalarFunction::Integer2(f, width),
                    IntegerFn::Ternary(f) => ScalarFunction::Integer3(f, width),
                }
            }
            (ExtInstBody::Packing(f), _) => match f {
                PackingFn::Pack2(f) => ScalarFunction::Pack2(f),
                PackingFn::Pack4(f) => ScalarFunction::Pack4(f),
                PackingFn::Unpack(f) => ScalarFunction::Unpack(f),
                PackingFn::PackDouble(f) => ScalarFunction::PackDouble(f),
                PackingFn::UnpackDouble(f) => ScalarFunction::UnpackDouble(f),
            },
            (ExtInstBody::Real { f64, .. }, ScalarKind::Float(FloatEncoding::F64)) => {
                ScalarFunction::Double(f64)
            }
            (ExtInstBody::Real { f32, .. }, ScalarKind::Float(FloatEncoding::F32)) => {
                ScalarFunction::Single(f32)
            }
            (ExtInstBody::Real { f16: Some(f), .. }, ScalarKind::Float(FloatEncoding::F16)) => {
                ScalarFunction::Half(f)
            }
            (ExtInstBody::Real { f32, .. }, ScalarKind::Float(format)) => {
                ScalarFunction::Narrow(f32, format)
            }
            _ => return None,
        })
    }

    /// The result of the operation. Types that do not fit give 0, which the verifier excludes.
    #[inline]
    fn apply(self, [a, b, c, d]: ScalarOperands) -> u64 {
        match self {
            ScalarFunction::Integer1(f, width) => f(a, width),
            ScalarFunction::Integer2(f, width) => f(a, b, width),
            ScalarFunction::Integer3(f, width) => f(a, b, c, width),
            ScalarFunction::Compare(f, width) => f(a, b, width).into(),
            ScalarFunction::Single(f) => apply_real(f, a, b, c),
            ScalarFunction::Double(f) => apply_real(f, a, b, c),
            ScalarFunction::CompareSingle(f) => {
                f(read_single(a).into(), read_single(b).into()).into()
            }
            ScalarFunction::CompareDouble(f) => f(f64::from_bits(a), f64::from_bits(b)).into(),
            ScalarFunction::Select if a & 1 != 0 => b,
            ScalarFunction::Select => c,
            ScalarFunction::Convert(f, from, to) => {
                let bits = f(FoldConstant { ty: from, bits: a }, to);
                bits.unwrap_or(0) & make_mask(to.width())
            }
            ScalarFunction::Saturate {
                from,
                to,
                is_signed,
            } => int_to_int_saturating(a, from, is_signed, to, is_signed),
            ScalarFunction::Round {
                from,
                to,
                is_signed,
                rounding,
            } => convert_rounded(a, from, to, is_signed, rounding),
            ScalarFunction::Narrow(f, format) => apply_narrow(f, format, [a, b, c]),
            ScalarFunction::Half(f) => apply_half(f, a as u16, b as u16, c as u16),
            ScalarFunction::Pack2(f) => f(read_single(a), read_single(b)).into(),
            ScalarFunction::Pack4(f) => f(
                read_single(a),
                read_single(b),
                read_single(c),
                read_single(d),
            )
            .into(),
            ScalarFunction::Unpack(f) => f(a as u32, b as u32).to_bits().into(),
            ScalarFunction::PackDouble(f) => f(a as u32, b as u32).to_bits(),
            ScalarFunction::UnpackDouble(f) => f(f64::from_bits(a), b as u32).into(),
            ScalarFunction::General(opcode, result, types) => {
                let bits = [a, b, c, d];
                let operands: [FoldConstant; 4] = std::array::from_fn(|n| FoldConstant {
                    ty: types[n],
                    bits: bits[n],
                });
                let count = count_operands(opcode);
                eval_core(opcode, result, &operands[..count]).unwrap_or(0)
            }
        }
    }
}

/// A conversion that rounds in a stated direction.
fn convert_rounded(
    bits: u64,
    from: FoldType,
    to: FoldType,
    is_signed: bool,
    rounding: FloatRounding,
) -> u64 {
    match (from, to) {
        (FoldType::Float(from), FoldType::Float(to)) => float_to_float(bits, from, to, rounding),
        (FoldType::Float(from), to) => float_to_int(bits, from, to.width(), is_signed, rounding),
        (from, FoldType::Float(to)) => int_to_float(bits, from.width(), is_signed, to, rounding),
        _ => bits,
    }
}

/// Number of operands of an instruction in the table of rules.
fn count_operands(opcode: u32) -> usize {
    let rules = list_rules();
    let row = rules.binary_search_by_key(&opcode, |rule| rule.opcode);
    match row.map(|row| rules[row].fold) {
        Ok(FoldOperation::Insert(_)) => 4,
        Ok(
            FoldOperation::Extract(_)
            | FoldOperation::DotAccumulate(_)
            | FoldOperation::FusedMultiplyAdd
            | FoldOperation::Select,
        ) => 3,
        Ok(
            FoldOperation::Shift(_)
            | FoldOperation::Dot(_)
            | FoldOperation::Real2 { .. }
            | FoldOperation::RealCompare(_)
            | FoldOperation::Int2(_)
            | FoldOperation::Logical2(_)
            | FoldOperation::Compare(_),
        ) => 2,
        _ => 1,
    }
}

fn read_single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

/// The result of a function without pointers; one with a pointer is computed by [`apply_with_second`].
#[inline]
fn apply_real<T: NativeFloat>(function: RealFn<T>, a: u64, b: u64, c: u64) -> u64 {
    let (x, y, z) = (T::from_raw(a), T::from_raw(b), T::from_raw(c));
    let value = match function {
        RealFn::Unary(f) => f(x),
        RealFn::Binary(f) => f(x, y),
        RealFn::Ternary(f) => f(x, y, z),
        RealFn::WithInt(f) => f(x, b as i32),
        RealFn::ToInt(f) => return u64::from(f(x) as u32),
        RealFn::FromBits(f) => f(a),
        RealFn::AndReal(_) | RealFn::AndInt(_) | RealFn::BinaryAndInt(_) => {
            return apply_with_second(function, a, b).0;
        }
    };
    value.to_raw()
}

/// The two results of a function that has a second one.
pub(crate) fn apply_with_second<T: NativeFloat>(function: RealFn<T>, a: u64, b: u64) -> (u64, u64) {
    let (x, y) = (T::from_raw(a), T::from_raw(b));
    let (mut real, mut integer) = (T::from_f64(0.0), 0i32);
    let (value, second) = match function {
        RealFn::AndReal(f) => {
            let value = f(x, &mut real);
            (value, real.to_raw())
        }
        RealFn::AndInt(f) => {
            let value = f(x, &mut integer);
            (value, u64::from(integer as u32))
        }
        RealFn::BinaryAndInt(f) => {
            let value = f(x, y, &mut integer);
            (value, u64::from(integer as u32))
        }
        _ => return (apply_real(function, a, b, 0), 0),
    };
    (value.to_raw(), second)
}

/// The bits of a number of a narrow format as `f32`, which holds it exactly.
pub(crate) fn widen_number(bits: u64, format: FloatEncoding) -> f32 {
    if format == FloatEncoding::F16 {
        return f16_to_f32(bits as u16);
    }
    let wide = float_to_float(bits, format, FloatEncoding::F32, FloatRounding::NearestEven);
    read_single(wide)
}

/// The bits of an `f32` that is rounded to a narrow format.
pub(crate) fn narrow_number(value: f32, format: FloatEncoding) -> u64 {
    if format == FloatEncoding::F16 {
        return f16_from_f32(value).into();
    }
    let bits = value.to_bits().into();
    float_to_float(bits, FloatEncoding::F32, format, FloatRounding::NearestEven)
}

/// The bits of a half that a number of a format is rounded to.
pub(crate) fn narrow_to_half(bits: u64, format: FloatEncoding, rounding: FloatRounding) -> u64 {
    if format == FloatEncoding::F64 && rounding == FloatRounding::NearestEven {
        return f16_from_f64(f64::from_bits(bits)).into();
    }
    float_to_float(bits, format, FloatEncoding::F16, rounding)
}

/// A function of `f32` on numbers of a narrower format.
fn apply_narrow(function: RealFn<f32>, format: FloatEncoding, [a, b, c]: [u64; 3]) -> u64 {
    let widen = |bits: u64| u64::from(widen_number(bits, format).to_bits());
    match function {
        RealFn::ToInt(_) => apply_real(function, widen(a), 0, 0),
        RealFn::WithInt(_) => {
            narrow_number(read_single(apply_real(function, widen(a), b, 0)), format)
        }
        RealFn::FromBits(_) => narrow_number(read_single(apply_real(function, a, 0, 0)), format),
        _ => {
            let wide = apply_real(function, widen(a), widen(b), widen(c));
            narrow_number(read_single(wide), format)
        }
    }
}

fn apply_half(function: HalfFn, a: u16, b: u16, c: u16) -> u64 {
    let bits = match function {
        HalfFn::Binary(f) => f(a, b),
        HalfFn::Ternary(f) => f(a, b, c),
        HalfFn::FromBits(f) => f(a),
        HalfFn::AndReal(f) => f(a, &mut 0),
    };
    bits.into()
}
