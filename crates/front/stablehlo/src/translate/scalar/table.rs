//! Scalar table: the operations that compute one element from one element of each operand.

use super::calc::ScalarBuilder;
use super::complex;
use super::value::ElementValue;
use crate::dialect::records::{CompareAttributes, ReducePrecisionAttributes};
use crate::dialect::{
    AttributeRecord, ComparisonDirection, ComparisonType, MlirOpcode, OpcodeTable,
};
use crate::mlir::{MlirModule, MlirOp as Mlir};
use crate::translate::element::{TensorElement, to_native_type};
use smallvec::smallvec;
use spirula_program::ScalarOp;

/// Context of an elementwise operation besides its operands.
#[derive(Clone, Copy)]
pub struct ElementwiseCall<'a> {
    /// The module.
    pub module: &'a MlirModule,
    /// The operation.
    pub op: Mlir,
    /// Element type of its result.
    pub result: TensorElement,
}

/// Computes an element; `None` if the operation does not exist for the types of the operands.
pub type ElementwiseFunction =
    fn(&mut ScalarBuilder<'_>, &ElementwiseCall<'_>, &[ElementValue]) -> Option<ElementValue>;

/// An operation on one element of each operand.
#[derive(Clone, Copy)]
pub struct ElementwiseOperation {
    /// Number of operands.
    pub arity: usize,
    /// Computes an element of the result.
    pub function: ElementwiseFunction,
}

const fn unary(function: ElementwiseFunction) -> ElementwiseOperation {
    ElementwiseOperation { arity: 1, function }
}

const fn binary(function: ElementwiseFunction) -> ElementwiseOperation {
    ElementwiseOperation { arity: 2, function }
}

const fn ternary(function: ElementwiseFunction) -> ElementwiseOperation {
    ElementwiseOperation { arity: 3, function }
}

static OPERATIONS: OpcodeTable<ElementwiseOperation> = OpcodeTable::from_rows(ROWS);

/// The function of scalars that an operation applies to each element, if it is one of those.
pub fn find_elementwise_function(opcode: MlirOpcode) -> Option<ElementwiseOperation> {
    OPERATIONS.get(opcode)
}

const ROWS: &[(MlirOpcode, ElementwiseOperation)] = &[
    (
        MlirOpcode::Add,
        binary(|c, _, v| {
            c.map_complex_pair(v, complex::add).or_else(|| {
                c.apply_operator(v, Some(ScalarOp::LogOr), ScalarOp::Add, ScalarOp::FAdd)
            })
        }),
    ),
    (
        MlirOpcode::Subtract,
        binary(|c, _, v| {
            c.map_complex_pair(v, complex::sub)
                .or_else(|| c.apply_operator(v, None, ScalarOp::Sub, ScalarOp::FSub))
        }),
    ),
    (
        MlirOpcode::Multiply,
        binary(|c, _, v| {
            c.map_complex_pair(v, complex::mul).or_else(|| {
                c.apply_operator(v, Some(ScalarOp::LogAnd), ScalarOp::Mul, ScalarOp::FMul)
            })
        }),
    ),
    (
        MlirOpcode::Divide,
        binary(|c, _, v| {
            c.map_complex_pair(v, complex::div)
                .or_else(|| c.map_integers(v, ScalarBuilder::int_div))
                .or_else(|| c.apply_operator(v, None, ScalarOp::SQuot, ScalarOp::FDiv))
        }),
    ),
    (
        MlirOpcode::Remainder,
        binary(|c, _, v| {
            c.map_integers(v, ScalarBuilder::int_rem)
                .or_else(|| c.apply_operator(v, None, ScalarOp::SRem, ScalarOp::FMod))
        }),
    ),
    (
        MlirOpcode::Power,
        binary(|c, _, v| {
            c.map_complex_pair(v, complex::pow)
                .or_else(|| c.map_integers(v, ScalarBuilder::int_pow))
                .or_else(|| c.map_real_pair(v, |c, a, b| c.apply_binary(ScalarOp::FPow, a, b)))
        }),
    ),
    (
        MlirOpcode::Atan2,
        binary(|c, _, v| {
            c.map_complex_pair(v, complex::atan2)
                .or_else(|| c.map_real_pair(v, |c, a, b| c.apply_binary(ScalarOp::Atan2, a, b)))
        }),
    ),
    (
        MlirOpcode::Maximum,
        binary(|c, _, v| choose_extreme(c, v, true)),
    ),
    (
        MlirOpcode::Minimum,
        binary(|c, _, v| choose_extreme(c, v, false)),
    ),
    (
        MlirOpcode::Clamp,
        ternary(|c, _, v| {
            let [low, value, high] = v else { return None };
            let value = choose_extreme(c, &[low.clone(), value.clone()], true)?;
            choose_extreme(c, &[value, high.clone()], false)
        }),
    ),
    (
        MlirOpcode::And,
        binary(|c, _, v| {
            c.apply_operator(v, Some(ScalarOp::LogAnd), ScalarOp::And, ScalarOp::FAdd)
        }),
    ),
    (
        MlirOpcode::Or,
        binary(|c, _, v| c.apply_operator(v, Some(ScalarOp::LogOr), ScalarOp::Or, ScalarOp::FAdd)),
    ),
    (
        MlirOpcode::Xor,
        binary(|c, _, v| match v {
            [a, b] if a.element == TensorElement::Bool => {
                let equal = c.eq(a.node(), b.node());
                Some(ElementValue::from_truth(c.not(equal)))
            }
            _ => c.map_integers(v, |c, _, v| c.apply_binary(ScalarOp::Xor, v[0], v[1])),
        }),
    ),
    (
        MlirOpcode::Not,
        unary(|c, _, v| {
            c.apply_operator(v, Some(ScalarOp::Not), ScalarOp::Complement, ScalarOp::FNeg)
        }),
    ),
    (
        MlirOpcode::ShiftLeft,
        binary(|c, _, v| c.map_integers(v, |c, e, v| c.int_shift(ScalarOp::Shl, e, v))),
    ),
    (
        MlirOpcode::ShiftRightLogical,
        binary(|c, _, v| c.map_integers(v, |c, e, v| c.int_shift(ScalarOp::LShr, e, v))),
    ),
    (
        MlirOpcode::ShiftRightArithmetic,
        binary(|c, _, v| c.map_integers(v, |c, e, v| c.int_shift(ScalarOp::AShr, e, v))),
    ),
    (
        MlirOpcode::Popcnt,
        unary(|c, _, v| c.map_integers(v, ScalarBuilder::int_popcount)),
    ),
    (
        MlirOpcode::CountLeadingZeros,
        unary(|c, _, v| c.map_integers(v, ScalarBuilder::int_clz)),
    ),
    (
        MlirOpcode::ChloMulhi,
        binary(|c, _, v| {
            c.map_integers(v, |c, e, v| match e {
                TensorElement::Int { signed: false, .. } => {
                    c.apply_binary(ScalarOp::UMulHi, v[0], v[1])
                }
                _ => c.apply_binary(ScalarOp::SMulHi, v[0], v[1]),
            })
        }),
    ),
    (
        MlirOpcode::Negate,
        unary(|c, _, v| match v {
            [a] if matches!(a.element, TensorElement::Complex(_)) => {
                c.map_real_or_complex(v, ScalarBuilder::neg, complex::neg)
            }
            _ => c.apply_operator(v, None, ScalarOp::Neg, ScalarOp::FNeg),
        }),
    ),
    (
        MlirOpcode::Abs,
        unary(|c, call, v| match v {
            [a] if matches!(a.element, TensorElement::Complex(_)) => {
                let size = complex::abs(c, a.as_complex());
                Some(ElementValue::new(call.result, size))
            }
            [a] if a.element.is_unsigned() => Some(a.clone()),
            _ => c.apply_operator(v, None, ScalarOp::Abs, ScalarOp::FAbs),
        }),
    ),
    (
        MlirOpcode::Sign,
        unary(|c, _, v| {
            c.map_integers(v, ScalarBuilder::int_sign)
                .or_else(|| c.map_real_or_complex(v, ScalarBuilder::sign, complex::sign))
        }),
    ),
    (
        MlirOpcode::Ceil,
        unary(|c, _, v| c.map_real(v, |c, x| c.apply_unary(ScalarOp::Ceil, x))),
    ),
    (
        MlirOpcode::Floor,
        unary(|c, _, v| c.map_real(v, |c, x| c.apply_unary(ScalarOp::Floor, x))),
    ),
    (
        MlirOpcode::RoundNearestEven,
        unary(|c, _, v| c.map_real(v, |c, x| c.apply_unary(ScalarOp::Round, x))),
    ),
    (
        MlirOpcode::RoundNearestAfz,
        unary(|c, _, v| c.map_real(v, ScalarBuilder::round_away)),
    ),
    (
        MlirOpcode::Sqrt,
        unary(|c, _, v| {
            c.map_real_or_complex(v, |c, x| c.apply_unary(ScalarOp::Sqrt, x), complex::sqrt)
        }),
    ),
    (
        MlirOpcode::Rsqrt,
        unary(|c, _, v| {
            c.map_real_or_complex(v, |c, x| c.apply_unary(ScalarOp::Rsqrt, x), complex::rsqrt)
        }),
    ),
    (
        MlirOpcode::Cbrt,
        unary(|c, _, v| {
            c.map_real_or_complex(v, |c, x| c.apply_unary(ScalarOp::Cbrt, x), complex::cbrt)
        }),
    ),
    (
        MlirOpcode::Exponential,
        unary(|c, _, v| {
            c.map_real_or_complex(v, |c, x| c.apply_unary(ScalarOp::Exp, x), complex::exp)
        }),
    ),
    (
        MlirOpcode::ExponentialMinusOne,
        unary(|c, _, v| c.map_real_or_complex(v, ScalarBuilder::expm1, complex::expm1)),
    ),
    (
        MlirOpcode::Log,
        unary(|c, _, v| {
            c.map_real_or_complex(v, |c, x| c.apply_unary(ScalarOp::Log, x), complex::log)
        }),
    ),
    (
        MlirOpcode::LogPlusOne,
        unary(|c, _, v| {
            c.map_real_or_complex(v, |c, x| c.apply_unary(ScalarOp::Log1p, x), complex::log1p)
        }),
    ),
    (
        MlirOpcode::Logistic,
        unary(|c, _, v| c.map_real_or_complex(v, ScalarBuilder::logistic, complex::logistic)),
    ),
    (
        MlirOpcode::Sine,
        unary(|c, _, v| {
            c.map_real_or_complex(v, |c, x| c.apply_unary(ScalarOp::Sin, x), complex::sin)
        }),
    ),
    (
        MlirOpcode::Cosine,
        unary(|c, _, v| {
            c.map_real_or_complex(v, |c, x| c.apply_unary(ScalarOp::Cos, x), complex::cos)
        }),
    ),
    (
        MlirOpcode::Tan,
        unary(|c, _, v| {
            c.map_real_or_complex(v, |c, x| c.apply_unary(ScalarOp::Tan, x), complex::tan)
        }),
    ),
    (
        MlirOpcode::Tanh,
        unary(|c, _, v| {
            c.map_real_or_complex(v, |c, x| c.apply_unary(ScalarOp::Tanh, x), complex::tanh)
        }),
    ),
    (
        MlirOpcode::ChloTan,
        unary(|c, _, v| {
            c.map_real_or_complex(v, |c, x| c.apply_unary(ScalarOp::Tan, x), complex::tan)
        }),
    ),
    (
        MlirOpcode::ChloSinh,
        unary(|c, _, v| {
            c.map_real_or_complex(v, |c, x| c.apply_unary(ScalarOp::Sinh, x), complex::sinh)
        }),
    ),
    (
        MlirOpcode::ChloCosh,
        unary(|c, _, v| {
            c.map_real_or_complex(v, |c, x| c.apply_unary(ScalarOp::Cosh, x), complex::cosh)
        }),
    ),
    (
        MlirOpcode::ChloAsin,
        unary(|c, _, v| {
            c.map_real_or_complex(v, |c, x| c.apply_unary(ScalarOp::Asin, x), complex::asin)
        }),
    ),
    (
        MlirOpcode::ChloAcos,
        unary(|c, _, v| {
            c.map_real_or_complex(v, |c, x| c.apply_unary(ScalarOp::Acos, x), complex::acos)
        }),
    ),
    (
        MlirOpcode::ChloAtan,
        unary(|c, _, v| {
            c.map_real_or_complex(v, |c, x| c.apply_unary(ScalarOp::Atan, x), complex::atan)
        }),
    ),
    (
        MlirOpcode::ChloAsinh,
        unary(|c, _, v| {
            c.map_real_or_complex(v, |c, x| c.apply_unary(ScalarOp::Asinh, x), complex::asinh)
        }),
    ),
    (
        MlirOpcode::ChloAcosh,
        unary(|c, _, v| {
            c.map_real_or_complex(v, |c, x| c.apply_unary(ScalarOp::Acosh, x), complex::acosh)
        }),
    ),
    (
        MlirOpcode::ChloAtanh,
        unary(|c, _, v| {
            c.map_real_or_complex(v, |c, x| c.apply_unary(ScalarOp::Atanh, x), complex::atanh)
        }),
    ),
    (
        MlirOpcode::ChloSquare,
        unary(|c, _, v| c.map_real_or_complex(v, ScalarBuilder::square, complex::square)),
    ),
    (
        MlirOpcode::ChloConj,
        unary(|c, _, v| c.map_real_or_complex(v, |_, x| x, |c, [a, b]| [a, c.neg(b)])),
    ),
    (
        MlirOpcode::ChloErf,
        unary(|c, _, v| c.map_real(v, |c, x| c.apply_unary(ScalarOp::Erf, x))),
    ),
    (
        MlirOpcode::ChloErfc,
        unary(|c, _, v| c.map_real(v, |c, x| c.apply_unary(ScalarOp::Erfc, x))),
    ),
    (
        MlirOpcode::ChloErfInv,
        unary(|c, _, v| c.map_real(v, ScalarBuilder::erf_inv)),
    ),
    (
        MlirOpcode::ChloLgamma,
        unary(|c, _, v| c.map_real(v, |c, x| c.apply_unary(ScalarOp::LGamma, x))),
    ),
    (
        MlirOpcode::ChloDigamma,
        unary(|c, _, v| c.map_real(v, ScalarBuilder::digamma)),
    ),
    (
        MlirOpcode::ChloZeta,
        binary(|c, _, v| c.map_real_pair(v, ScalarBuilder::zeta)),
    ),
    (
        MlirOpcode::ChloPolygamma,
        binary(|c, _, v| c.map_real_pair(v, ScalarBuilder::polygamma)),
    ),
    (
        MlirOpcode::ChloBesselI1e,
        unary(|c, _, v| c.map_real(v, ScalarBuilder::bessel_i1e)),
    ),
    (
        MlirOpcode::ChloNextAfter,
        binary(|c, _, v| next_after(c, v)),
    ),
    (
        MlirOpcode::IsFinite,
        unary(|c, _, v| match v {
            [a] => match a.element {
                TensorElement::Float(float) => {
                    let value = c.decode_float(float, a.node());
                    Some(ElementValue::from_truth(c.is_finite(value)))
                }
                _ => None,
            },
            _ => None,
        }),
    ),
    (
        MlirOpcode::ChloIsInf,
        unary(|c, _, v| test_infinity(c, v, None)),
    ),
    (
        MlirOpcode::ChloIsPosInf,
        unary(|c, _, v| test_infinity(c, v, Some(1.0))),
    ),
    (
        MlirOpcode::ChloIsNegInf,
        unary(|c, _, v| test_infinity(c, v, Some(-1.0))),
    ),
    (
        MlirOpcode::Select,
        ternary(|c, _, v| {
            let [condition, a, b] = v else { return None };
            let parts = a.nodes.iter().zip(&b.nodes);
            let nodes = parts.map(|(a, b)| c.select(condition.node(), *a, *b));
            Some(ElementValue {
                element: a.element,
                nodes: nodes.collect(),
            })
        }),
    ),
    (
        MlirOpcode::Compare,
        binary(|c, call, v| {
            let attributes = CompareAttributes::read(call.module, call.op).ok()?;
            let is_total = attributes.compare_type == Some(ComparisonType::TotalOrder);
            c.compare_values(attributes.comparison_direction, is_total, v)
        }),
    ),
    (
        MlirOpcode::Convert,
        unary(|c, call, v| c.convert_value(v.first()?, call.result)),
    ),
    (
        MlirOpcode::Complex,
        binary(|_, call, v| {
            let [re, im] = v else { return None };
            Some(ElementValue {
                element: call.result,
                nodes: smallvec![re.node(), im.node()],
            })
        }),
    ),
    (
        MlirOpcode::Real,
        unary(|_, call, v| Some(ElementValue::new(call.result, v.first()?.node()))),
    ),
    (
        MlirOpcode::Imag,
        unary(|c, call, v| match v.first()?.element {
            TensorElement::Complex(_) => Some(ElementValue::new(call.result, v[0].as_complex()[1])),
            _ => {
                let zero = c.integer_constant(call.result.storage_type(), 0);
                Some(ElementValue::new(call.result, zero))
            }
        }),
    ),
    (
        MlirOpcode::ReducePrecision,
        unary(|c, call, v| {
            let attributes = ReducePrecisionAttributes::read(call.module, call.op).ok()?;
            let exponent = u32::try_from(attributes.exponent_bits).ok()?;
            let mantissa = u32::try_from(attributes.mantissa_bits).ok()?;
            c.reduce_precision(v.first()?, exponent, mantissa)
        }),
    ),
];

fn choose_extreme(
    c: &mut ScalarBuilder<'_>,
    v: &[ElementValue],
    greater: bool,
) -> Option<ElementValue> {
    let [a, b] = v else { return None };
    if let TensorElement::Complex(_) = a.element {
        let direction = if greater {
            ComparisonDirection::GreaterEqual
        } else {
            ComparisonDirection::LessEqual
        };
        let chosen = c.compare_values(direction, false, v)?.node();
        let parts = a.nodes.iter().zip(&b.nodes);
        let nodes = parts.map(|(a, b)| c.select(chosen, *a, *b)).collect();
        return Some(ElementValue {
            element: a.element,
            nodes,
        });
    }
    let truth = if greater {
        ScalarOp::LogOr
    } else {
        ScalarOp::LogAnd
    };
    match (a.element, greater) {
        (TensorElement::Bool, _) => {
            c.apply_operator(v, Some(truth), ScalarOp::SMax, ScalarOp::FMax)
        }
        (TensorElement::Int { .. }, _) => c.map_integers(v, |c, e, v| c.int_extreme(e, greater, v)),
        (_, true) => c.map_real_pair(v, ScalarBuilder::maximum),
        (_, false) => c.map_real_pair(v, ScalarBuilder::minimum),
    }
}

fn test_infinity(
    c: &mut ScalarBuilder<'_>,
    v: &[ElementValue],
    sign: Option<f64>,
) -> Option<ElementValue> {
    let TensorElement::Float(float) = v.first()?.element else {
        return None;
    };
    let mut value = c.decode_float(float, v[0].node());
    if sign.is_none() {
        value = c.abs(value);
    }
    let infinity = c.constant_like(value, f64::INFINITY * sign.unwrap_or(1.0));
    Some(ElementValue::from_truth(c.eq(value, infinity)))
}

/// The next number of the type in the direction of another, by the order of bits.
fn next_after(c: &mut ScalarBuilder<'_>, v: &[ElementValue]) -> Option<ElementValue> {
    let [a, b] = v else { return None };
    let TensorElement::Float(float) = a.element else {
        return None;
    };
    let ty = TensorElement::Int {
        width: float.width(),
        signed: true,
    };
    let ty = ty.storage_type();
    let (x, y) = (
        c.decode_float(float, a.node()),
        c.decode_float(float, b.node()),
    );
    let (x_nan, y_nan) = (
        c.apply_unary(ScalarOp::IsNan, x),
        c.apply_unary(ScalarOp::IsNan, y),
    );
    let is_nan = c.or(x_nan, y_nan);
    let bits = [a, b].map(|v| c.cast_bits(ty, v.node()));
    let sign = 1u64 << (float.width() - 1);
    let size = bits.map(|bits| c.apply_with_constant(ScalarOp::And, bits, sign - 1));
    let signs = bits.map(|bits| c.apply_with_constant(ScalarOp::And, bits, sign));
    let equal = c.eq(x, y);
    let zero = c.integer_constant(ty, 0);
    let x_zero = c.eq(size[0], zero);
    let away = c.apply_with_constant(ScalarOp::Or, signs[1], 1);
    let same_sign = c.eq(signs[0], signs[1]);
    let other_sign = c.not(same_sign);
    let is_larger = c.apply_binary(ScalarOp::ULt, size[1], size[0]);
    let shrinks = c.or(other_sign, is_larger);
    let (lower, upper) = (
        c.apply_with_constant(ScalarOp::Sub, bits[0], 1),
        c.apply_with_constant(ScalarOp::Add, bits[0], 1),
    );
    let moved = c.select(shrinks, lower, upper);
    let moved = c.select(x_zero, away, moved);
    let moved = c.select(equal, bits[1], moved);
    let nan = c.integer_constant(ty, float.format().encode_value(f64::NAN));
    let result = c.select(is_nan, nan, moved);
    let stored = to_native_type(float).map_or(result, |ty| c.cast_bits(ty, result));
    Some(ElementValue::new(a.element, stored))
}
