//! Rule 10 for composites: construction, extraction, insertion, shuffles and logical copies.

use super::context::{VerifyContext, VerifyFault, VerifyResult, ensure, make_fault};
use super::rules::VerifyRule;
use super::values::{decompose_vector, ensure_same_type, small_composite};
use crate::grammar::Op;
use crate::ir::InstRef;

pub(super) fn extract_dynamic(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let shape = cx.value_shape(inst.operand_word(0));
    if shape.op == Op::TypeVectorIdEXT {
        return Ok(());
    }
    ensure(
        VerifyRule::Values,
        matches!(shape.op, Op::TypeVector | Op::TypeVectorIdEXT),
        || "the first operand is no vector".to_owned(),
    )?;
    ensure_same_type(cx, "the component", shape.part, inst.words()[0])?;
    verify_dynamic_index(cx, inst.operand_word(1))?;
    small_composite(cx, inst.words()[0])
}

pub(super) fn insert_dynamic(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let result = inst.words()[0];
    let shape = cx.type_shape(result);
    if shape.op == Op::TypeVectorIdEXT {
        return Ok(());
    }
    ensure(
        VerifyRule::Values,
        matches!(shape.op, Op::TypeVector | Op::TypeVectorIdEXT),
        || "the result is no vector".to_owned(),
    )?;
    ensure_same_type(cx, "the vector", cx.type_of(inst.operand_word(0)), result)?;
    ensure_same_type(
        cx,
        "the component",
        cx.type_of(inst.operand_word(1)),
        shape.part,
    )?;
    verify_dynamic_index(cx, inst.operand_word(2))
}

fn verify_dynamic_index(cx: &VerifyContext<'_>, id: u32) -> VerifyResult {
    ensure(
        VerifyRule::Values,
        cx.value_shape(id).op == Op::TypeInt,
        || "the index is no integer".to_owned(),
    )
}

pub(super) fn verify_shuffle(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let result = cx.type_shape(inst.words()[0]);
    let (a, b) = (
        cx.value_shape(inst.operand_word(0)),
        cx.value_shape(inst.operand_word(1)),
    );
    if [result.op, a.op, b.op].contains(&Op::TypeVectorIdEXT) {
        return Ok(());
    }
    ensure(
        VerifyRule::Values,
        [result.op, a.op, b.op] == [Op::TypeVector; 3],
        || "result and operands are not all vectors".to_owned(),
    )?;
    ensure(
        VerifyRule::Values,
        result.part == a.part && result.part == b.part,
        || "the vectors have different components".to_owned(),
    )?;
    let picks = &inst.operands()[2..];
    ensure(
        VerifyRule::Values,
        picks.len() == result.count as usize,
        || format!("{} literals for {} components", picks.len(), result.count),
    )?;
    // Numbers of components that are too large are faults of the types.
    let count = a.count.saturating_add(b.count);
    for pick in picks {
        ensure(
            VerifyRule::Values,
            *pick == u32::MAX || *pick < count,
            || format!("component {pick} of {count}"),
        )?;
    }
    small_composite(cx, inst.words()[0])
}

pub(super) fn verify_composite_construct(
    cx: &VerifyContext<'_>,
    inst: InstRef<'_>,
) -> VerifyResult {
    let result = inst.words()[0];
    let shape = cx.type_shape(result);
    let given = inst.operands();
    let each = |wanted: &dyn Fn(usize) -> u32, count: usize| {
        ensure(VerifyRule::Values, given.len() == count, || {
            format!(
                "{} constituents; {} has {count}",
                given.len(),
                cx.describe_type(result)
            )
        })?;
        for (n, id) in given.iter().enumerate() {
            ensure_same_type(cx, &format!("constituent {n}"), cx.type_of(*id), wanted(n))?;
        }
        Ok(())
    };
    match shape.op {
        Op::TypeVector => {
            let mut count = 0;
            for id in given {
                let Some(own) = decompose_vector(cx, cx.type_of(*id)) else {
                    ensure_same_type(cx, "a constituent", cx.type_of(*id), shape.part)?;
                    count += 1;
                    continue;
                };
                ensure_same_type(cx, "a constituent's component", own.0, shape.part)?;
                count += own.1;
            }
            ensure(
                VerifyRule::Values,
                count == shape.count && given.len() > 1,
                || format!("{count} components; the result has {}", shape.count),
            )?;
        }
        Op::TypeMatrix => each(&|_| shape.part, shape.count as usize)?,
        Op::TypeArray => {
            let length = cx.defining_inst(result).map_or(0, |t| t.operand_word(1));
            let length = cx
                .constant_value(length)
                .map_or(given.len(), |n| n as usize);
            each(&|_| shape.part, length)?;
        }
        Op::TypeStruct => {
            let members = cx.struct_members(result);
            each(&|n| members[n], members.len())?;
        }
        Op::TypeCooperativeMatrixKHR | Op::TypeCooperativeMatrixNV => each(&|_| shape.part, 1)?,
        Op::TypeVectorIdEXT => return Ok(()),
        _ => {
            let message = format!("{} is no composite", cx.describe_type(result));
            return Err(make_fault(VerifyRule::Values, message));
        }
    }
    small_composite(cx, result)
}

/// A composite whose parts are all the same value.
pub(super) fn verify_replicated_composite(
    cx: &VerifyContext<'_>,
    rule: VerifyRule,
    result: u32,
    value: u32,
) -> VerifyResult {
    let shape = cx.type_shape(result);
    let parts: &[u32] = match shape.op {
        Op::TypeStruct => cx.struct_members(result),
        Op::TypeVector
        | Op::TypeVectorIdEXT
        | Op::TypeMatrix
        | Op::TypeArray
        | Op::TypeCooperativeMatrixKHR
        | Op::TypeCooperativeMatrixNV
        | Op::TypeTensorARM => std::slice::from_ref(&shape.part),
        _ => {
            let message = format!("{} is no composite", cx.describe_type(result));
            return Err(make_fault(rule, message));
        }
    };
    let found = cx.type_of(value);
    let wrong = parts.iter().find(|part| **part != 0 && **part != found);
    ensure(rule, wrong.is_none(), || {
        format!(
            "the value is of {}, a part of the result of {}",
            cx.describe_type(found),
            cx.describe_type(*wrong.unwrap_or(&0))
        )
    })
}

/// The type that literal indices lead to.
pub(super) fn resolve_index_path(
    cx: &VerifyContext<'_>,
    mut ty: u32,
    path: &[u32],
) -> Result<u32, VerifyFault> {
    if path.len() > 255 {
        return Err(make_fault(
            VerifyRule::Limits,
            format!("{} indices; there may be 255", path.len()),
        ));
    }
    ensure(VerifyRule::Values, !path.is_empty(), || {
        "there are no indices".to_owned()
    })?;
    for at in path {
        let shape = cx.type_shape(ty);
        let beyond = |count: u64| {
            ensure(VerifyRule::Values, u64::from(*at) < count, || {
                format!("index {at} of {count}")
            })
        };
        ty = match shape.op {
            Op::TypeVector | Op::TypeMatrix => {
                beyond(shape.count.into())?;
                shape.part
            }
            Op::TypeArray => {
                let length = cx.defining_inst(ty).map_or(0, |t| t.operand_word(1));
                if let Some(length) = cx.constant_value(length) {
                    beyond(length)?;
                }
                shape.part
            }
            Op::TypeRuntimeArray
            | Op::TypeCooperativeMatrixKHR
            | Op::TypeCooperativeMatrixNV
            | Op::TypeVectorIdEXT => shape.part,
            Op::TypeStruct => {
                let members = cx.struct_members(ty);
                beyond(members.len() as u64)?;
                members[*at as usize]
            }
            _ => {
                let message = format!("{} has no parts", cx.describe_type(ty));
                return Err(make_fault(VerifyRule::Values, message));
            }
        };
    }
    Ok(ty)
}

pub(super) fn verify_copy_logical(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let (result, source) = (inst.words()[0], cx.type_of(inst.operand_word(0)));
    ensure(VerifyRule::Values, result != source, || {
        "the operand is of the result's type; OpCopyObject copies that".to_owned()
    })?;
    ensure(
        VerifyRule::Values,
        matches_logically(cx, result, source),
        || "the operand does not match the result member by member".to_owned(),
    )
}

/// Most pairs of types that are compared; modules with more are taken as they are.
const PAIRS: u32 = 1 << 14;

fn matches_logically(cx: &VerifyContext<'_>, a: u32, b: u32) -> bool {
    let mut pairs = 0;
    let mut stack = vec![(a, b)];
    while let Some((a, b)) = stack.pop() {
        pairs += 1;
        if a == b || pairs > PAIRS {
            continue;
        }
        let (x, y) = (cx.type_shape(a), cx.type_shape(b));
        match (x.op, y.op) {
            (Op::TypeArray, Op::TypeArray) => {
                let length = |ty| cx.defining_inst(ty).map_or(0, |t| t.operand_word(1));
                let (n, m) = (length(a), length(b));
                if n != m
                    && (cx.constant_value(n).is_none()
                        || cx.constant_value(n) != cx.constant_value(m))
                {
                    return false;
                }
                stack.push((x.part, y.part));
            }
            (Op::TypeStruct, Op::TypeStruct) => {
                let (p, q) = (cx.struct_members(a), cx.struct_members(b));
                if p.len() != q.len() {
                    return false;
                }
                stack.extend(p.iter().copied().zip(q.iter().copied()));
            }
            _ => return false,
        }
    }
    true
}
