//! Rule 24: operations over groups of invocations.

use super::context::{VerifyContext, VerifyResult, ensure};
use super::rules::Rule;
use super::scopes;
use super::signatures::{self, OperandRelation, TypeConstraint, parts};
use crate::grammar::enumerants::GroupOperation;
use crate::grammar::{InstructionClass, Op, SpirvVersion};
use crate::ir::InstRef;

/// Arithmetic: name, what it works on.
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
pub(super) fn check(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let class = inst.op().info().map(|i| i.class);
    if class == Some(InstructionClass::NonUniform) {
        return non_uniform(cx, inst);
    }
    match inst.op() {
        Op::GroupAll | Op::GroupAny => signatures::types(
            cx,
            Rule::Groups,
            inst.words()[0],
            TypeConstraint::BoolScalar,
            &[OperandRelation::Result],
            &[cx.ty(inst.word(1))],
        ),
        _ => Ok(()),
    }
}

fn same(cx: &VerifyContext<'_>, id: u32, result: u32) -> VerifyResult {
    ensure(Rule::Groups, cx.ty(id) == result, || {
        format!(
            "the value is of {}, the result of {}",
            cx.describe(cx.ty(id)),
            cx.describe(result)
        )
    })
}

fn unsigned(cx: &VerifyContext<'_>, id: u32, what: &str) -> VerifyResult {
    let shape = cx.value_shape(id);
    ensure(
        Rule::Groups,
        shape.op == Op::TypeInt && !shape.signed,
        || format!("{what} is no integer without sign"),
    )
}

fn is_ballot(cx: &VerifyContext<'_>, ty: u32) -> bool {
    let own = parts(cx, ty);
    own.part.op == Op::TypeInt && own.part.width == 32 && !own.part.signed && own.count == 4
}

fn ballot(cx: &VerifyContext<'_>, ty: u32, what: &str) -> VerifyResult {
    ensure(Rule::Groups, is_ballot(cx, ty), || {
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

fn boolean(cx: &VerifyContext<'_>, ty: u32, what: &str) -> VerifyResult {
    ensure(Rule::Groups, cx.op(ty) == Op::TypeBool, || {
        format!("{what} is no boolean")
    })
}

fn non_uniform(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let op = inst.op();
    if has_scope(op) {
        scopes::execution(cx, inst, inst.word(0))?;
    }
    let result = inst.words()[0];
    let value = inst.operands().get(1).copied().unwrap_or(0);
    if let Some((_, is)) = ARITHMETIC.iter().find(|r| r.0 == op) {
        return arithmetic(cx, inst, *is);
    }
    match op {
        Op::GroupNonUniformElect => boolean(cx, result, "the result"),
        Op::GroupNonUniformAll | Op::GroupNonUniformAny => {
            boolean(cx, result, "the result")?;
            boolean(cx, cx.ty(value), "the predicate")
        }
        Op::GroupNonUniformAllEqual => {
            boolean(cx, result, "the result")?;
            number(cx, cx.ty(value), "the value")
        }
        Op::GroupNonUniformBroadcast
        | Op::GroupNonUniformShuffle
        | Op::GroupNonUniformShuffleXor
        | Op::GroupNonUniformShuffleUp
        | Op::GroupNonUniformShuffleDown
        | Op::GroupNonUniformQuadBroadcast
        | Op::GroupNonUniformQuadSwap
        | Op::GroupNonUniformRotateKHR => {
            number(cx, result, "the result")?;
            same(cx, value, result)?;
            unsigned(cx, inst.word(2), "the invocation")?;
            let constant = match op {
                Op::GroupNonUniformBroadcast | Op::GroupNonUniformQuadBroadcast => {
                    cx.version < SpirvVersion::new(1, 5)
                }
                Op::GroupNonUniformQuadSwap => true,
                _ => false,
            };
            ensure(
                Rule::Groups,
                !constant || cx.is_constant(inst.word(2)),
                || "the invocation is no constant, as SPIR-V before 1.5 demands".to_owned(),
            )
        }
        Op::GroupNonUniformBroadcastFirst => {
            number(cx, result, "the result")?;
            same(cx, value, result)
        }
        _ => ballots(cx, inst, result, value),
    }
}

/// Operations on which of a group's invocations something holds for.
fn ballots(cx: &VerifyContext<'_>, inst: InstRef<'_>, result: u32, value: u32) -> VerifyResult {
    match inst.op() {
        Op::GroupNonUniformBallot => {
            ballot(cx, result, "the result")?;
            boolean(cx, cx.ty(value), "the predicate")
        }
        Op::GroupNonUniformInverseBallot => {
            boolean(cx, result, "the result")?;
            ballot(cx, cx.ty(value), "the value")
        }
        Op::GroupNonUniformBallotBitExtract => {
            boolean(cx, result, "the result")?;
            ballot(cx, cx.ty(value), "the value")?;
            unsigned(cx, inst.word(2), "the index")
        }
        Op::GroupNonUniformBallotBitCount => {
            let shape = cx.shape(result);
            ensure(
                Rule::Groups,
                shape.op == Op::TypeInt && !shape.signed,
                || "the result is no integer without sign".to_owned(),
            )?;
            ballot(cx, cx.ty(inst.word(2)), "the value")?;
            let operation = GroupOperation(inst.word(1));
            ensure(
                Rule::Groups,
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
            let shape = cx.shape(result);
            ensure(
                Rule::Groups,
                shape.op == Op::TypeInt && !shape.signed,
                || "the result is no integer without sign".to_owned(),
            )?;
            ballot(cx, cx.ty(value), "the value")
        }
        _ => Ok(()),
    }
}

fn number(cx: &VerifyContext<'_>, ty: u32, what: &str) -> VerifyResult {
    let own = parts(cx, ty);
    ensure(
        Rule::Groups,
        matches!(own.part.op, Op::TypeInt | Op::TypeFloat | Op::TypeBool),
        || format!("{what} is neither numbers nor booleans"),
    )
}

fn arithmetic(cx: &VerifyContext<'_>, inst: InstRef<'_>, is: TypeConstraint) -> VerifyResult {
    let result = inst.words()[0];
    let value = inst.word(2);
    signatures::types(
        cx,
        Rule::Groups,
        result,
        is,
        &[OperandRelation::Result],
        &[cx.ty(value)],
    )?;
    let clustered = GroupOperation(inst.word(1)) == GroupOperation::ClusteredReduce;
    let size = inst.operands().get(3).copied();
    if clustered {
        let size = size.unwrap_or(0);
        unsigned(cx, size, "the size of clusters")?;
        // Other sizes than powers of two are undefined behaviour, which modules may have.
        return ensure(Rule::Groups, cx.is_constant(size), || {
            "the size of clusters is no constant".to_owned()
        });
    }
    let partitioned = inst.word(1) >= GroupOperation::PartitionedReduceNV.0;
    ensure(Rule::Groups, size.is_none() || partitioned, || {
        "a size of clusters stands with ClusteredReduce only".to_owned()
    })
}
