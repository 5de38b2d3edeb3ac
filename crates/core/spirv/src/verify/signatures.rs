//! Rule 10 by signatures: the types of operands and results of instructions on numbers and Booleans.
//!
//! A row of the [signature table](super::signature_table) gives the type of the result, and for each operand how its
//! type relates to that of the result. Conditions that a row cannot express are in [`super::values`].

use super::context::{TypeSummary, VerifyContext, VerifyResult, make_fault};
use super::rules::VerifyRule;
use super::signature_table::{OperandRelation, ROWS, SignatureRow, TypeConstraint};
use crate::grammar::Op;

/// The row of an opcode.
pub(super) fn find_signature(op: Op) -> Option<&'static SignatureRow> {
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
pub(super) struct TypeComponents {
    pub part: TypeSummary,
    /// 0 for a scalar.
    pub count: u32,
}

/// The components of a scalar or vector; those of a cooperative matrix count as one.
pub(super) fn get_components(cx: &VerifyContext<'_>, ty: u32) -> TypeComponents {
    let shape = cx.type_shape(ty);
    let (part, count) = match shape.op {
        Op::TypeVector => (cx.type_shape(shape.part), shape.count),
        Op::TypeVectorIdEXT => (cx.type_shape(shape.part), u32::MAX - 1),
        Op::TypeCooperativeMatrixKHR | Op::TypeCooperativeMatrixNV => {
            (cx.type_shape(shape.part), u32::MAX)
        }
        _ => (shape, 0),
    };
    TypeComponents { part, count }
}

/// Checks a result and operands, given by their types.
pub(super) fn verify_operand_types(
    cx: &VerifyContext<'_>,
    rule: VerifyRule,
    result: u32,
    is: TypeConstraint,
    likes: &[OperandRelation],
    operands: &[u32],
) -> VerifyResult {
    let own = get_components(cx, result);
    if cx.defining_op(result) == Op::TypeVectorIdEXT {
        return Ok(());
    }
    if !is.is_satisfied_by(&own) {
        let message = format!(
            "the result is of {}, not of {}",
            cx.describe_type(result),
            is.name()
        );
        return Err(make_fault(rule, message));
    }
    let first = operands.first().copied().unwrap_or(0);
    for (n, (like, ty)) in likes.iter().zip(operands).enumerate() {
        if !like.is_satisfied_by(cx, result, &own, first, *ty) {
            let message = format!(
                "operand {n} is of {}, not of {} as a result of {} demands",
                cx.describe_type(*ty),
                like.name(),
                cx.describe_type(result)
            );
            return Err(make_fault(rule, message));
        }
    }
    Ok(())
}

impl TypeConstraint {
    fn is_satisfied_by(self, own: &TypeComponents) -> bool {
        let TypeComponents { part, count } = own;
        let is = |op| part.op == op;
        match self {
            TypeConstraint::Float => is(Op::TypeFloat),
            TypeConstraint::Int => is(Op::TypeInt),
            TypeConstraint::Unsigned => is(Op::TypeInt) && !part.signed,
            TypeConstraint::Bool => is(Op::TypeBool),
            TypeConstraint::Number => is(Op::TypeInt) || is(Op::TypeFloat),
            TypeConstraint::BoolScalar => is(Op::TypeBool) && *count == 0,
            TypeConstraint::FloatVector => is(Op::TypeFloat) && *count > 0,
            TypeConstraint::ShortFloat => is(Op::TypeFloat) && part.width <= 32,
            TypeConstraint::Float32 => is(Op::TypeFloat) && part.width == 32,
            TypeConstraint::Int32 => is(Op::TypeInt) && part.width == 32,
        }
    }

    fn name(self) -> &'static str {
        match self {
            TypeConstraint::Float => "floats",
            TypeConstraint::Int => "integers",
            TypeConstraint::Unsigned => "integers without sign",
            TypeConstraint::Bool => "booleans",
            TypeConstraint::Number => "numbers",
            TypeConstraint::BoolScalar => "a boolean",
            TypeConstraint::FloatVector => "a vector of floats",
            TypeConstraint::ShortFloat => "floats of 16 or 32 bits",
            TypeConstraint::Float32 => "floats of 32 bits",
            TypeConstraint::Int32 => "integers of 32 bits",
        }
    }
}

impl OperandRelation {
    fn is_satisfied_by(
        self,
        cx: &VerifyContext<'_>,
        result: u32,
        own: &TypeComponents,
        first: u32,
        ty: u32,
    ) -> bool {
        if self == OperandRelation::Result {
            return ty == result;
        }
        let TypeComponents { part, count } = get_components(cx, ty);
        let many = |op| part.op == op && count == own.count;
        let scalar = |op| part.op == op && count == 0;
        match self {
            OperandRelation::Result => true,
            OperandRelation::First => ty == first,
            OperandRelation::IntSame => many(Op::TypeInt) && part.width == own.part.width,
            OperandRelation::IntCount => many(Op::TypeInt),
            OperandRelation::IntOther => many(Op::TypeInt) && part.width != own.part.width,
            OperandRelation::FloatCount => many(Op::TypeFloat),
            OperandRelation::FloatOther => many(Op::TypeFloat) && ty != result,
            OperandRelation::IntFirst => {
                many(Op::TypeInt) && part.width == get_components(cx, first).part.width
            }
            OperandRelation::IntScalar => scalar(Op::TypeInt),
            OperandRelation::BoolVector => part.op == Op::TypeBool && count > 0,
            OperandRelation::Component => cx.type_shape(result).part == ty,
            OperandRelation::Int32Count => many(Op::TypeInt) && part.width == 32,
        }
    }

    fn name(self) -> &'static str {
        match self {
            OperandRelation::Result => "the same type",
            OperandRelation::First => "the first operand's type",
            OperandRelation::IntSame => "as many integers of the same width",
            OperandRelation::IntCount => "as many integers",
            OperandRelation::IntOther => "as many integers of another width",
            OperandRelation::FloatCount => "as many floats",
            OperandRelation::FloatOther => "as many floats of another type",
            OperandRelation::IntFirst => "as many integers as wide as the first operand's",
            OperandRelation::IntScalar => "an integer",
            OperandRelation::BoolVector => "a vector of booleans",
            OperandRelation::Component => "the component type",
            OperandRelation::Int32Count => "as many integers of 32 bits",
        }
    }
}
