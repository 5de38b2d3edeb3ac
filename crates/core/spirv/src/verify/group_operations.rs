//! Rule 24: group operations.

use super::context::{VerifyContext, VerifyResult, ensure};
use super::rules::VerifyRule;
use super::scopes;
use super::signature_table::{OperandRelation, TypeConstraint};
use super::signatures::{self, get_components};
use crate::grammar::enumerants::GroupOperation;
use crate::grammar::{InstructionClass, Op, SpirvVersion};
use crate::ir::InstRef;

/// Arithmetic: name, and the numbers that it takes.
const ARITHMETIC: &[(Op, TypeConstraint)] = &[
    (Op::GroupNonUniformIAdd, TypeConstraint::Int),
    (Op::GroupNonUniformFAdd, TypeConstraint::Float),
    (Op::GroupNonUniformIMul, TypeConstraint::Int),
    (Op::GroupNonUniformFMul, TypeConstraint::Float),
    (Op::GroupNonUniformSMin, TypeConstraint::Int),
    (Op::GroupNonUniformUMin, TypeConstraint::Unsigned),
    (Op::GroupNonUniformFMin, TypeConstraint::Float),
    (Op::GroupNonUniformSMax, TypeConstraint::Int),
    (Op::GroupNonUniformUMax, TypeConstraint::Unsigned),
    (Op::GroupNonUniformFMax, TypeConstraint::Float),
    (Op::GroupNonUniformBitwiseAnd, TypeConstraint::Int),
    (Op::GroupNonUniformBitwiseOr, TypeConstraint::Int),
    (Op::GroupNonUniformBitwiseXor, TypeConstraint::Int),
    (Op::GroupNonUniformLogicalAnd, TypeConstraint::Bool),
    (Op::GroupNonUniformLogicalOr, TypeConstraint::Bool),
    (Op::GroupNonUniformLogicalXor, TypeConstraint::Bool),
];

/// Checks a group operation.
pub(super) fn verify_group_operation(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let class = inst.op().info().map(|i| i.class);
    if class == Some(InstructionClass::NonUniform) {
        return non_uniform(cx, inst);
    }
    match inst.op() {
        Op::GroupAll | Op::GroupAny => signatures::verify_operand_types(
            cx,
            VerifyRule::Groups,
            inst.words()[0],
            TypeConstraint::BoolScalar,
            &[OperandRelation::Result],
            &[cx.type_of(inst.operand_word(1))],
        ),
        _ => Ok(()),
    }
}

fn ensure_result_type(cx: &VerifyContext<'_>, id: u32, result: u32) -> VerifyResult {
    ensure(VerifyRule::Groups, cx.type_of(id) == result, || {
        format!(
            "the value is of {}, the result of {}",
            cx.describe_type(cx.type_of(id)),
            cx.describe_type(result)
        )
    })
}

fn ensure_unsigned(cx: &VerifyContext<'_>, id: u32, what: &str) -> VerifyResult {
    let shape = cx.value_shape(id);
    ensure(
        VerifyRule::Groups,
        shape.op == Op::TypeInt && !shape.signed,
        || format!("{what} is no integer without sign"),
    )
}

fn is_ballot(cx: &VerifyContext<'_>, ty: u32) -> bool {
    let own = get_components(cx, ty);
    own.part.op == Op::TypeInt && own.part.width == 32 && !own.part.signed && own.count == 4
}

fn ensure_ballot(cx: &VerifyContext<'_>, ty: u32, what: &str) -> VerifyResult {
    ensure(VerifyRule::Groups, is_ballot(cx, ty), || {
        format!("{what} is no vector of four integers of 32 bits without sign")
    })
}

fn has_scope(op: Op) -> bool {
    !matches!(
        op,
        Op::GroupNonUniformQuadAllKHR
            | Op::GroupNonUniformQuadAnyKHR
            | Op::GroupNonUniformPartitionEXT
    )
}

fn ensure_boolean(cx: &VerifyContext<'_>, ty: u32, what: &str) -> VerifyResult {
    ensure(
        VerifyRule::Groups,
        cx.defining_op(ty) == Op::TypeBool,
        || format!("{what} is no boolean"),
    )
}

fn non_uniform(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let op = inst.op();
    if has_scope(op) {
        scopes::verify_execution_scope(cx, inst, inst.operand_word(0))?;
    }
    let result = inst.words()[0];
    let value = inst.operands().get(1).copied().unwrap_or(0);
    if let Some((_, is)) = ARITHMETIC.iter().find(|r| r.0 == op) {
        return verify_group_arithmetic(cx, inst, *is);
    }
    match op {
        Op::GroupNonUniformElect => ensure_boolean(cx, result, "the result"),
        Op::GroupNonUniformAll | Op::GroupNonUniformAny => {
            ensure_boolean(cx, result, "the result")?;
            ensure_boolean(cx, cx.type_of(value), "the predicate")
        }
        Op::GroupNonUniformAllEqual => {
            ensure_boolean(cx, result, "the result")?;
            ensure_number(cx, cx.type_of(value), "the value")
        }
        Op::GroupNonUniformBroadcast
        | Op::GroupNonUniformShuffle
        | Op::GroupNonUniformShuffleXor
        | Op::GroupNonUniformShuffleUp
        | Op::GroupNonUniformShuffleDown
        | Op::GroupNonUniformQuadBroadcast
        | Op::GroupNonUniformQuadSwap
        | Op::GroupNonUniformRotateKHR => {
            ensure_number(cx, result, "the result")?;
            ensure_result_type(cx, value, result)?;
            ensure_unsigned(cx, inst.operand_word(2), "the invocation")?;
            let constant = match op {
                Op::GroupNonUniformBroadcast | Op::GroupNonUniformQuadBroadcast => {
                    cx.version < SpirvVersion::new(1, 5)
                }
                Op::GroupNonUniformQuadSwap => true,
                _ => false,
            };
            ensure(
                VerifyRule::Groups,
                !constant || cx.is_constant(inst.operand_word(2)),
                || "the invocation is no constant, as SPIR-V before 1.5 demands".to_owned(),
            )
        }
        Op::GroupNonUniformBroadcastFirst => {
            ensure_number(cx, result, "the result")?;
            ensure_result_type(cx, value, result)
        }
        _ => verify_ballot(cx, inst, result, value),
    }
}

/// Operations on which of a group's invocations something holds for.
fn verify_ballot(
    cx: &VerifyContext<'_>,
    inst: InstRef<'_>,
    result: u32,
    value: u32,
) -> VerifyResult {
    match inst.op() {
        Op::GroupNonUniformBallot => {
            ensure_ballot(cx, result, "the result")?;
            ensure_boolean(cx, cx.type_of(value), "the predicate")
        }
        Op::GroupNonUniformInverseBallot => {
            ensure_boolean(cx, result, "the result")?;
            ensure_ballot(cx, cx.type_of(value), "the value")
        }
        Op::GroupNonUniformBallotBitExtract => {
            ensure_boolean(cx, result, "the result")?;
            ensure_ballot(cx, cx.type_of(value), "the value")?;
            ensure_unsigned(cx, inst.operand_word(2), "the index")
        }
        Op::GroupNonUniformBallotBitCount => {
            let shape = cx.type_shape(result);
            ensure(
                VerifyRule::Groups,
                shape.op == Op::TypeInt && !shape.signed,
                || "the result is no integer without sign".to_owned(),
            )?;
            ensure_ballot(cx, cx.type_of(inst.operand_word(2)), "the value")?;
            let operation = GroupOperation(inst.operand_word(1));
            ensure(
                VerifyRule::Groups,
                !cx.is_vulkan()
                    || matches!(
                        operation,
                        GroupOperation::Reduce
                            | GroupOperation::InclusiveScan
                            | GroupOperation::ExclusiveScan
                    ),
                || format!("Vulkan does not count bits with {operation}"),
            )
        }
        Op::GroupNonUniformBallotFindLSB | Op::GroupNonUniformBallotFindMSB => {
            let shape = cx.type_shape(result);
            ensure(
                VerifyRule::Groups,
                shape.op == Op::TypeInt && !shape.signed,
                || "the result is no integer without sign".to_owned(),
            )?;
            ensure_ballot(cx, cx.type_of(value), "the value")
        }
        _ => Ok(()),
    }
}

fn ensure_number(cx: &VerifyContext<'_>, ty: u32, what: &str) -> VerifyResult {
    let own = get_components(cx, ty);
    ensure(
        VerifyRule::Groups,
        matches!(own.part.op, Op::TypeInt | Op::TypeFloat | Op::TypeBool),
        || format!("{what} is neither numbers nor booleans"),
    )
}

fn verify_group_arithmetic(
    cx: &VerifyContext<'_>,
    inst: InstRef<'_>,
    is: TypeConstraint,
) -> VerifyResult {
    let result = inst.words()[0];
    let value = inst.operand_word(2);
    signatures::verify_operand_types(
        cx,
        VerifyRule::Groups,
        result,
        is,
        &[OperandRelation::Result],
        &[cx.type_of(value)],
    )?;
    let clustered = GroupOperation(inst.operand_word(1)) == GroupOperation::ClusteredReduce;
    let size = inst.operands().get(3).copied();
    if clustered {
        let size = size.unwrap_or(0);
        ensure_unsigned(cx, size, "the size of clusters")?;
        // Other sizes than powers of two are undefined behaviour, which modules may have.
        return ensure(VerifyRule::Groups, cx.is_constant(size), || {
            "the size of clusters is no constant".to_owned()
        });
    }
    let partitioned = inst.operand_word(1) >= GroupOperation::PartitionedReduceNV.0;
    ensure(VerifyRule::Groups, size.is_none() || partitioned, || {
        "a cluster size is for ClusteredReduce only".to_owned()
    })
}
