//! Rule 10 as a table: the types of operands and results of instructions on numbers and booleans.
//!
//! A row says what the result is, and for each operand how its type relates to the result's. What
//! a row cannot say stands in [`super::values`].

use super::context::{Check, Cx, Shape, fault};
use super::rules::Rule;
use crate::grammar::Op;

/// What a type has to be: of scalars or vectors where it does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Is {
    Float,
    Int,
    /// Without signedness.
    Unsigned,
    Bool,
    /// An integer or a float.
    Number,
    BoolScalar,
    FloatVector,
    /// A float of 16 or 32 bits.
    ShortFloat,
    /// A float of 32 bits.
    Float32,
    /// An integer of 32 bits.
    Int32,
}

/// How an operand's type relates to the result's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Like {
    /// The same type.
    Result,
    /// Integers, as many and as wide.
    IntSame,
    /// As many integers.
    IntCount,
    /// As many integers of another width.
    IntOther,
    /// As many floats.
    FloatCount,
    /// As many floats of another type.
    FloatOther,
    /// The type of the first operand.
    First,
    /// Integers as wide as those of the first operand, and as many as the result.
    IntFirst,
    /// A scalar of these.
    IntScalar,
    /// A vector of booleans.
    BoolVector,
    /// The result's components.
    Component,
    /// As many integers of 32 bits.
    Int32Count,
}

type SignatureRow = (Op, Is, &'static [Like]);

const ROWS: &[SignatureRow] = &[
    (Op::FNegate, Is::Float, &[Like::Result]),
    (Op::FAdd, Is::Float, &[Like::Result, Like::Result]),
    (Op::FSub, Is::Float, &[Like::Result, Like::Result]),
    (Op::FMul, Is::Float, &[Like::Result, Like::Result]),
    (Op::FDiv, Is::Float, &[Like::Result, Like::Result]),
    (Op::FRem, Is::Float, &[Like::Result, Like::Result]),
    (Op::FMod, Is::Float, &[Like::Result, Like::Result]),
    (Op::UDiv, Is::Unsigned, &[Like::Result, Like::Result]),
    (Op::UMod, Is::Unsigned, &[Like::Result, Like::Result]),
    (Op::SNegate, Is::Int, &[Like::IntSame]),
    (Op::IAdd, Is::Int, &[Like::IntSame, Like::IntSame]),
    (Op::ISub, Is::Int, &[Like::IntSame, Like::IntSame]),
    (Op::IMul, Is::Int, &[Like::IntSame, Like::IntSame]),
    (Op::SDiv, Is::Int, &[Like::IntSame, Like::IntSame]),
    (Op::SRem, Is::Int, &[Like::IntSame, Like::IntSame]),
    (Op::SMod, Is::Int, &[Like::IntSame, Like::IntSame]),
    (
        Op::VectorTimesScalar,
        Is::FloatVector,
        &[Like::Result, Like::Component],
    ),
    (
        Op::ShiftLeftLogical,
        Is::Int,
        &[Like::IntSame, Like::IntCount],
    ),
    (
        Op::ShiftRightLogical,
        Is::Int,
        &[Like::IntSame, Like::IntCount],
    ),
    (
        Op::ShiftRightArithmetic,
        Is::Int,
        &[Like::IntSame, Like::IntCount],
    ),
    (Op::BitwiseOr, Is::Int, &[Like::IntSame, Like::IntSame]),
    (Op::BitwiseXor, Is::Int, &[Like::IntSame, Like::IntSame]),
    (Op::BitwiseAnd, Is::Int, &[Like::IntSame, Like::IntSame]),
    (Op::Not, Is::Int, &[Like::IntSame]),
    (
        Op::BitFieldInsert,
        Is::Int,
        &[Like::Result, Like::Result, Like::IntScalar, Like::IntScalar],
    ),
    (
        Op::BitFieldSExtract,
        Is::Int,
        &[Like::Result, Like::IntScalar, Like::IntScalar],
    ),
    (
        Op::BitFieldUExtract,
        Is::Int,
        &[Like::Result, Like::IntScalar, Like::IntScalar],
    ),
    (Op::BitReverse, Is::Int, &[Like::Result]),
    (Op::BitCount, Is::Int, &[Like::IntCount]),
    (Op::ConvertFToU, Is::Unsigned, &[Like::FloatCount]),
    (Op::ConvertFToS, Is::Int, &[Like::FloatCount]),
    (Op::ConvertSToF, Is::Float, &[Like::IntCount]),
    (Op::ConvertUToF, Is::Float, &[Like::IntCount]),
    (Op::UConvert, Is::Unsigned, &[Like::IntOther]),
    (Op::SConvert, Is::Int, &[Like::IntOther]),
    (Op::FConvert, Is::Float, &[Like::FloatOther]),
    (Op::QuantizeToF16, Is::Float32, &[Like::Result]),
    (Op::SatConvertSToU, Is::Int, &[Like::IntCount]),
    (Op::SatConvertUToS, Is::Int, &[Like::IntCount]),
    (Op::Any, Is::BoolScalar, &[Like::BoolVector]),
    (Op::All, Is::BoolScalar, &[Like::BoolVector]),
    (Op::IsNan, Is::Bool, &[Like::FloatCount]),
    (Op::IsInf, Is::Bool, &[Like::FloatCount]),
    (Op::IsFinite, Is::Bool, &[Like::FloatCount]),
    (Op::IsNormal, Is::Bool, &[Like::FloatCount]),
    (Op::SignBitSet, Is::Bool, &[Like::FloatCount]),
    (
        Op::LessOrGreater,
        Is::Bool,
        &[Like::FloatCount, Like::First],
    ),
    (Op::Ordered, Is::Bool, &[Like::FloatCount, Like::First]),
    (Op::Unordered, Is::Bool, &[Like::FloatCount, Like::First]),
    (Op::FOrdEqual, Is::Bool, &[Like::FloatCount, Like::First]),
    (Op::FUnordEqual, Is::Bool, &[Like::FloatCount, Like::First]),
    (Op::FOrdNotEqual, Is::Bool, &[Like::FloatCount, Like::First]),
    (
        Op::FUnordNotEqual,
        Is::Bool,
        &[Like::FloatCount, Like::First],
    ),
    (Op::FOrdLessThan, Is::Bool, &[Like::FloatCount, Like::First]),
    (
        Op::FUnordLessThan,
        Is::Bool,
        &[Like::FloatCount, Like::First],
    ),
    (
        Op::FOrdGreaterThan,
        Is::Bool,
        &[Like::FloatCount, Like::First],
    ),
    (
        Op::FUnordGreaterThan,
        Is::Bool,
        &[Like::FloatCount, Like::First],
    ),
    (
        Op::FOrdLessThanEqual,
        Is::Bool,
        &[Like::FloatCount, Like::First],
    ),
    (
        Op::FUnordLessThanEqual,
        Is::Bool,
        &[Like::FloatCount, Like::First],
    ),
    (
        Op::FOrdGreaterThanEqual,
        Is::Bool,
        &[Like::FloatCount, Like::First],
    ),
    (
        Op::FUnordGreaterThanEqual,
        Is::Bool,
        &[Like::FloatCount, Like::First],
    ),
    (Op::LogicalEqual, Is::Bool, &[Like::Result, Like::Result]),
    (Op::LogicalNotEqual, Is::Bool, &[Like::Result, Like::Result]),
    (Op::LogicalOr, Is::Bool, &[Like::Result, Like::Result]),
    (Op::LogicalAnd, Is::Bool, &[Like::Result, Like::Result]),
    (Op::LogicalNot, Is::Bool, &[Like::Result]),
    (Op::IEqual, Is::Bool, &[Like::IntCount, Like::IntFirst]),
    (Op::INotEqual, Is::Bool, &[Like::IntCount, Like::IntFirst]),
    (
        Op::UGreaterThan,
        Is::Bool,
        &[Like::IntCount, Like::IntFirst],
    ),
    (
        Op::UGreaterThanEqual,
        Is::Bool,
        &[Like::IntCount, Like::IntFirst],
    ),
    (Op::ULessThan, Is::Bool, &[Like::IntCount, Like::IntFirst]),
    (
        Op::ULessThanEqual,
        Is::Bool,
        &[Like::IntCount, Like::IntFirst],
    ),
    (
        Op::SGreaterThan,
        Is::Bool,
        &[Like::IntCount, Like::IntFirst],
    ),
    (
        Op::SGreaterThanEqual,
        Is::Bool,
        &[Like::IntCount, Like::IntFirst],
    ),
    (Op::SLessThan, Is::Bool, &[Like::IntCount, Like::IntFirst]),
    (
        Op::SLessThanEqual,
        Is::Bool,
        &[Like::IntCount, Like::IntFirst],
    ),
    (Op::DPdx, Is::Float32, &[Like::Result]),
    (Op::DPdy, Is::Float32, &[Like::Result]),
    (Op::Fwidth, Is::Float32, &[Like::Result]),
    (Op::DPdxFine, Is::Float32, &[Like::Result]),
    (Op::DPdyFine, Is::Float32, &[Like::Result]),
    (Op::FwidthFine, Is::Float32, &[Like::Result]),
    (Op::DPdxCoarse, Is::Float32, &[Like::Result]),
    (Op::DPdyCoarse, Is::Float32, &[Like::Result]),
    (Op::FwidthCoarse, Is::Float32, &[Like::Result]),
];

/// The row of an opcode.
pub(super) fn row(op: Op) -> Option<&'static SignatureRow> {
    use std::sync::OnceLock;
    static INDEX: OnceLock<Vec<u8>> = OnceLock::new();
    let index = INDEX.get_or_init(|| {
        let last = ROWS.iter().map(|r| r.0.0).max().unwrap_or(0);
        let mut index = vec![u8::MAX; usize::from(last) + 1];
        for (at, row) in ROWS.iter().enumerate() {
            index[usize::from(row.0.0)] = at as u8;
        }
        index
    });
    ROWS.get(usize::from(*index.get(usize::from(op.0))?))
}

/// A scalar or vector taken apart: its component and how many.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    pub part: Shape,
    /// 0 for a scalar.
    pub count: u32,
}

/// The components of a scalar or vector; those of a cooperative matrix count as one.
pub(super) fn parts(cx: &Cx<'_>, ty: u32) -> Parts {
    let shape = cx.shape(ty);
    let (part, count) = match shape.op {
        Op::TypeVector => (cx.shape(shape.part), shape.count),
        Op::TypeVectorIdEXT => (cx.shape(shape.part), u32::MAX - 1),
        Op::TypeCooperativeMatrixKHR | Op::TypeCooperativeMatrixNV => {
            (cx.shape(shape.part), u32::MAX)
        }
        _ => (shape, 0),
    };
    Parts { part, count }
}

/// Checks a result and operands given by their types.
pub(super) fn types(
    cx: &Cx<'_>,
    rule: Rule,
    result: u32,
    is: Is,
    likes: &[Like],
    operands: &[u32],
) -> Check {
    let own = parts(cx, result);
    if cx.op(result) == Op::TypeVectorIdEXT {
        return Ok(());
    }
    if !is.takes(&own) {
        let message = format!(
            "the result is of {}, not of {}",
            cx.describe(result),
            is.name()
        );
        return Err(fault(rule, message));
    }
    let first = operands.first().copied().unwrap_or(0);
    for (n, (like, ty)) in likes.iter().zip(operands).enumerate() {
        if !like.takes(cx, result, &own, first, *ty) {
            let message = format!(
                "operand {n} is of {}, not of {} as a result of {} demands",
                cx.describe(*ty),
                like.name(),
                cx.describe(result)
            );
            return Err(fault(rule, message));
        }
    }
    Ok(())
}

impl Is {
    fn takes(self, own: &Parts) -> bool {
        let Parts { part, count } = own;
        let is = |op| part.op == op;
        match self {
            Is::Float => is(Op::TypeFloat),
            Is::Int => is(Op::TypeInt),
            Is::Unsigned => is(Op::TypeInt) && !part.signed,
            Is::Bool => is(Op::TypeBool),
            Is::Number => is(Op::TypeInt) || is(Op::TypeFloat),
            Is::BoolScalar => is(Op::TypeBool) && *count == 0,
            Is::FloatVector => is(Op::TypeFloat) && *count > 0,
            Is::ShortFloat => is(Op::TypeFloat) && part.width <= 32,
            Is::Float32 => is(Op::TypeFloat) && part.width == 32,
            Is::Int32 => is(Op::TypeInt) && part.width == 32,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Is::Float => "floats",
            Is::Int => "integers",
            Is::Unsigned => "integers without sign",
            Is::Bool => "booleans",
            Is::Number => "numbers",
            Is::BoolScalar => "a boolean",
            Is::FloatVector => "a vector of floats",
            Is::ShortFloat => "floats of 16 or 32 bits",
            Is::Float32 => "floats of 32 bits",
            Is::Int32 => "integers of 32 bits",
        }
    }
}

impl Like {
    fn takes(self, cx: &Cx<'_>, result: u32, own: &Parts, first: u32, ty: u32) -> bool {
        if self == Like::Result {
            return ty == result;
        }
        let Parts { part, count } = parts(cx, ty);
        let many = |op| part.op == op && count == own.count;
        let scalar = |op| part.op == op && count == 0;
        match self {
            Like::Result => true,
            Like::First => ty == first,
            Like::IntSame => many(Op::TypeInt) && part.width == own.part.width,
            Like::IntCount => many(Op::TypeInt),
            Like::IntOther => many(Op::TypeInt) && part.width != own.part.width,
            Like::FloatCount => many(Op::TypeFloat),
            Like::FloatOther => many(Op::TypeFloat) && ty != result,
            Like::IntFirst => many(Op::TypeInt) && part.width == parts(cx, first).part.width,
            Like::IntScalar => scalar(Op::TypeInt),
            Like::BoolVector => part.op == Op::TypeBool && count > 0,
            Like::Component => cx.shape(result).part == ty,
            Like::Int32Count => many(Op::TypeInt) && part.width == 32,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Like::Result => "the same type",
            Like::First => "the first operand's type",
            Like::IntSame => "as many integers of the same width",
            Like::IntCount => "as many integers",
            Like::IntOther => "as many integers of another width",
            Like::FloatCount => "as many floats",
            Like::FloatOther => "as many floats of another type",
            Like::IntFirst => "as many integers as wide as the first operand's",
            Like::IntScalar => "an integer",
            Like::BoolVector => "a vector of booleans",
            Like::Component => "the component type",
            Like::Int32Count => "as many integers of 32 bits",
        }
    }
}
