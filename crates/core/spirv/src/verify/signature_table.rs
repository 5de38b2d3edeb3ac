//! Signature table of rule 10: the types of operands and results of instructions on numbers and Booleans.

use crate::grammar::Op;
use OperandRelation as R;
use TypeConstraint as T;

/// The requirement on a type: scalars or vectors unless stated otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TypeConstraint {
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
pub(super) enum OperandRelation {
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

/// Opcode, type of the result, and relation of each operand to it.
pub(super) type SignatureRow = (Op, TypeConstraint, &'static [OperandRelation]);

#[rustfmt::skip]
pub(super) const ROWS: &[SignatureRow] = &[
    (Op::FNegate, T::Float, &[R::Result]),
    (Op::FAdd, T::Float, &[R::Result, R::Result]),
    (Op::FSub, T::Float, &[R::Result, R::Result]),
    (Op::FMul, T::Float, &[R::Result, R::Result]),
    (Op::FDiv, T::Float, &[R::Result, R::Result]),
    (Op::FRem, T::Float, &[R::Result, R::Result]),
    (Op::FMod, T::Float, &[R::Result, R::Result]),
    (Op::UDiv, T::Unsigned, &[R::Result, R::Result]),
    (Op::UMod, T::Unsigned, &[R::Result, R::Result]),
    (Op::SNegate, T::Int, &[R::IntSame]),
    (Op::IAdd, T::Int, &[R::IntSame, R::IntSame]),
    (Op::ISub, T::Int, &[R::IntSame, R::IntSame]),
    (Op::IMul, T::Int, &[R::IntSame, R::IntSame]),
    (Op::SDiv, T::Int, &[R::IntSame, R::IntSame]),
    (Op::SRem, T::Int, &[R::IntSame, R::IntSame]),
    (Op::SMod, T::Int, &[R::IntSame, R::IntSame]),
    (Op::VectorTimesScalar, T::FloatVector, &[R::Result, R::Component]),
    (Op::ShiftLeftLogical, T::Int, &[R::IntSame, R::IntCount]),
    (Op::ShiftRightLogical, T::Int, &[R::IntSame, R::IntCount]),
    (Op::ShiftRightArithmetic, T::Int, &[R::IntSame, R::IntCount]),
    (Op::BitwiseOr, T::Int, &[R::IntSame, R::IntSame]),
    (Op::BitwiseXor, T::Int, &[R::IntSame, R::IntSame]),
    (Op::BitwiseAnd, T::Int, &[R::IntSame, R::IntSame]),
    (Op::Not, T::Int, &[R::IntSame]),
    (Op::BitFieldInsert, T::Int, &[R::Result, R::Result, R::IntScalar, R::IntScalar]),
    (Op::BitFieldSExtract, T::Int, &[R::Result, R::IntScalar, R::IntScalar]),
    (Op::BitFieldUExtract, T::Int, &[R::Result, R::IntScalar, R::IntScalar]),
    (Op::BitReverse, T::Int, &[R::Result]),
    (Op::BitCount, T::Int, &[R::IntCount]),
    (Op::ConvertFToU, T::Unsigned, &[R::FloatCount]),
    (Op::ConvertFToS, T::Int, &[R::FloatCount]),
    (Op::ConvertSToF, T::Float, &[R::IntCount]),
    (Op::ConvertUToF, T::Float, &[R::IntCount]),
    (Op::UConvert, T::Unsigned, &[R::IntOther]),
    (Op::SConvert, T::Int, &[R::IntOther]),
    (Op::FConvert, T::Float, &[R::FloatOther]),
    (Op::QuantizeToF16, T::Float32, &[R::Result]),
    (Op::SatConvertSToU, T::Int, &[R::IntCount]),
    (Op::SatConvertUToS, T::Int, &[R::IntCount]),
    (Op::Any, T::BoolScalar, &[R::BoolVector]),
    (Op::All, T::BoolScalar, &[R::BoolVector]),
    (Op::IsNan, T::Bool, &[R::FloatCount]),
    (Op::IsInf, T::Bool, &[R::FloatCount]),
    (Op::IsFinite, T::Bool, &[R::FloatCount]),
    (Op::IsNormal, T::Bool, &[R::FloatCount]),
    (Op::SignBitSet, T::Bool, &[R::FloatCount]),
    (Op::LessOrGreater, T::Bool, &[R::FloatCount, R::First]),
    (Op::Ordered, T::Bool, &[R::FloatCount, R::First]),
    (Op::Unordered, T::Bool, &[R::FloatCount, R::First]),
    (Op::FOrdEqual, T::Bool, &[R::FloatCount, R::First]),
    (Op::FUnordEqual, T::Bool, &[R::FloatCount, R::First]),
    (Op::FOrdNotEqual, T::Bool, &[R::FloatCount, R::First]),
    (Op::FUnordNotEqual, T::Bool, &[R::FloatCount, R::First]),
    (Op::FOrdLessThan, T::Bool, &[R::FloatCount, R::First]),
    (Op::FUnordLessThan, T::Bool, &[R::FloatCount, R::First]),
    (Op::FOrdGreaterThan, T::Bool, &[R::FloatCount, R::First]),
    (Op::FUnordGreaterThan, T::Bool, &[R::FloatCount, R::First]),
    (Op::FOrdLessThanEqual, T::Bool, &[R::FloatCount, R::First]),
    (Op::FUnordLessThanEqual, T::Bool, &[R::FloatCount, R::First]),
    (Op::FOrdGreaterThanEqual, T::Bool, &[R::FloatCount, R::First]),
    (Op::FUnordGreaterThanEqual, T::Bool, &[R::FloatCount, R::First]),
    (Op::LogicalEqual, T::Bool, &[R::Result, R::Result]),
    (Op::LogicalNotEqual, T::Bool, &[R::Result, R::Result]),
    (Op::LogicalOr, T::Bool, &[R::Result, R::Result]),
    (Op::LogicalAnd, T::Bool, &[R::Result, R::Result]),
    (Op::LogicalNot, T::Bool, &[R::Result]),
    (Op::IEqual, T::Bool, &[R::IntCount, R::IntFirst]),
    (Op::INotEqual, T::Bool, &[R::IntCount, R::IntFirst]),
    (Op::UGreaterThan, T::Bool, &[R::IntCount, R::IntFirst]),
    (Op::UGreaterThanEqual, T::Bool, &[R::IntCount, R::IntFirst]),
    (Op::ULessThan, T::Bool, &[R::IntCount, R::IntFirst]),
    (Op::ULessThanEqual, T::Bool, &[R::IntCount, R::IntFirst]),
    (Op::SGreaterThan, T::Bool, &[R::IntCount, R::IntFirst]),
    (Op::SGreaterThanEqual, T::Bool, &[R::IntCount, R::IntFirst]),
    (Op::SLessThan, T::Bool, &[R::IntCount, R::IntFirst]),
    (Op::SLessThanEqual, T::Bool, &[R::IntCount, R::IntFirst]),
    (Op::DPdx, T::Float32, &[R::Result]),
    (Op::DPdy, T::Float32, &[R::Result]),
    (Op::Fwidth, T::Float32, &[R::Result]),
    (Op::DPdxFine, T::Float32, &[R::Result]),
    (Op::DPdyFine, T::Float32, &[R::Result]),
    (Op::FwidthFine, T::Float32, &[R::Result]),
    (Op::DPdxCoarse, T::Float32, &[R::Result]),
    (Op::DPdyCoarse, T::Float32, &[R::Result]),
    (Op::FwidthCoarse, T::Float32, &[R::Result]),
];
