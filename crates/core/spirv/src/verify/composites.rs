//! Rule 10 for composites: what is put together, taken apart, or copied member by member.

use super::context::{VerifyContext, VerifyFault, VerifyResult, ensure, fault};
use super::rules::Rule;
use super::values::{same, small_composite, vector};
use crate::grammar::Op;
use crate::ir::InstRef;

pub(super) fn extract_dynamic(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let shape = cx.value_shape(inst.word(0));
    if shape.op == Op::TypeVectorIdEXT {
        return Ok(());
    }
    ensure(
        Rule::Values,
        matches!(shape.op, Op::TypeVector | Op::TypeVectorIdEXT),
        || "the first operand is no vector".to_owned(),
    )?;
    same(cx, "the component", shape.part, inst.words()[0])?;
    index(cx, inst.word(1))?;
    small_composite(cx, inst.words()[0])
}

pub(super) fn insert_dynamic(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let result = inst.words()[0];
    let shape = cx.shape(result);
    if shape.op == Op::TypeVectorIdEXT {
        return Ok(());
    }
    ensure(
        Rule::Values,
        matches!(shape.op, Op::TypeVector | Op::TypeVectorIdEXT),
        || "the result is no vector".to_owned(),
    )?;
    same(cx, "the vector", cx.ty(inst.word(0)), result)?;
    same(cx, "the component", cx.ty(inst.word(1)), shape.part)?;
    index(cx, inst.word(2))
}

fn index(cx: &VerifyContext<'_>, id: u32) -> VerifyResult {
    ensure(Rule::Values, cx.value_shape(id).op == Op::TypeInt, || {
        "the index is no integer".to_owned()
    })
}

pub(super) fn shuffle(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let result = cx.shape(inst.words()[0]);
    let (a, b) = (cx.value_shape(inst.word(0)), cx.value_shape(inst.word(1)));
    if [result.op, a.op, b.op].contains(&Op::TypeVectorIdEXT) {
        return Ok(());
    }
    ensure(
        Rule::Values,
        [result.op, a.op, b.op] == [Op::TypeVector; 3],
        || "result and operands are not all vectors".to_owned(),
    )?;
    ensure(
        Rule::Values,
        result.part == a.part && result.part == b.part,
        || "the vectors have different components".to_owned(),
    )?;
    let picks = &inst.operands()[2..];
    ensure(Rule::Values, picks.len() == result.count as usize, || {
        format!("{} literals for {} components", picks.len(), result.count)
    })?;
    // Numbers of components that are too large are faults of the types.
    let count = a.count.saturating_add(b.count);
    for pick in picks {
        ensure(Rule::Values, *pick == u32::MAX || *pick < count, || {
            format!("component {pick} of {count}")
        })?;
    }
    small_composite(cx, inst.words()[0])
}

pub(super) fn construct(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let result = inst.words()[0];
    let shape = cx.shape(result);
    let given = inst.operands();
    let each = |wanted: &dyn Fn(usize) -> u32, count: usize| {
        ensure(Rule::Values, given.len() == count, || {
            format!(
                "{} constituents; {} has {count}",
                given.len(),
                cx.describe(result)
            )
        })?;
        for (n, id) in given.iter().enumerate() {
            same(cx, &format!("constituent {n}"), cx.ty(*id), wanted(n))?;
        }
        Ok(())
    };
    match shape.op {
        Op::TypeVector => {
            let mut count = 0;
            for id in given {
                let Some(own) = vector(cx, cx.ty(*id)) else {
                    same(cx, "a constituent", cx.ty(*id), shape.part)?;
                    count += 1;
                    continue;
                };
                same(cx, "a constituent's component", own.0, shape.part)?;
                count += own.1;
            }
            ensure(
                Rule::Values,
                count == shape.count && given.len() > 1,
                || format!("{count} components; the result has {}", shape.count),
            )?;
        }
        Op::TypeMatrix => each(&|_| shape.part, shape.count as usize)?,
        Op::TypeArray => {
            let length = cx.inst(result).map_or(0, |t| t.word(1));
            let length = cx.constant(length).map_or(given.len(), |n| n as usize);
            each(&|_| shape.part, length)?;
        }
        Op::TypeStruct => {
            let members = cx.members(result);
            each(&|n| members[n], members.len())?;
        }
        Op::TypeCooperativeMatrixKHR | Op::TypeCooperativeMatrixNV => each(&|_| shape.part, 1)?,
        Op::TypeVectorIdEXT => return Ok(()),
        _ => {
            let message = format!("{} is no composite", cx.describe(result));
            return Err(fault(Rule::Values, message));
        }
    }
    small_composite(cx, result)
}

/// A composite whose parts are all the same value.
pub(super) fn replicated(
    cx: &VerifyContext<'_>,
    rule: Rule,
    result: u32,
    value: u32,
) -> VerifyResult {
    let shape = cx.shape(result);
    let parts: &[u32] = match shape.op {
        Op::TypeStruct => cx.members(result),
        Op::TypeVector
        | Op::TypeVectorIdEXT
        | Op::TypeMatrix
        | Op::TypeArray
        | Op::TypeCooperativeMatrixKHR
        | Op::TypeCooperativeMatrixNV
        | Op::TypeTensorARM => std::slice::from_ref(&shape.part),
        _ => {
            let message = format!("{} is no composite", cx.describe(result));
            return Err(fault(rule, message));
        }
    };
    let found = cx.ty(value);
    let wrong = parts.iter().find(|part| **part != 0 && **part != found);
    ensure(rule, wrong.is_none(), || {
        format!(
            "the value is of {}, a part of the result of {}",
            cx.describe(found),
            cx.describe(*wrong.unwrap_or(&0))
        )
    })
}

/// The type that literal indices lead to.
pub(super) fn walk(cx: &VerifyContext<'_>, mut ty: u32, path: &[u32]) -> Result<u32, VerifyFault> {
    if path.len() > 255 {
        return Err(fault(
            Rule::Limits,
            format!("{} indices; there may be 255", path.len()),
        ));
    }
    ensure(Rule::Values, !path.is_empty(), || {
        "there are no indices".to_owned()
    })?;
    for at in path {
        let shape = cx.shape(ty);
        let beyond = |count: u64| {
            ensure(Rule::Values, u64::from(*at) < count, || {
                format!("index {at} of {count}")
            })
        };
        ty = match shape.op {
            Op::TypeVector | Op::TypeMatrix => {
                beyond(shape.count.into())?;
                shape.part
            }
            Op::TypeArray => {
                let length = cx.inst(ty).map_or(0, |t| t.word(1));
                if let Some(length) = cx.constant(length) {
                    beyond(length)?;
                }
                shape.part
            }
            Op::TypeRuntimeArray
            | Op::TypeCooperativeMatrixKHR
            | Op::TypeCooperativeMatrixNV
            | Op::TypeVectorIdEXT => shape.part,
            Op::TypeStruct => {
                let members = cx.members(ty);
                beyond(members.len() as u64)?;
                members[*at as usize]
            }
            _ => {
                let message = format!("{} has no parts", cx.describe(ty));
                return Err(fault(Rule::Values, message));
            }
        };
    }
    Ok(ty)
}

pub(super) fn logical(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let (result, source) = (inst.words()[0], cx.ty(inst.word(0)));
    ensure(Rule::Values, result != source, || {
        "the operand is of the result's type; OpCopyObject copies that".to_owned()
    })?;
    ensure(Rule::Values, matches_logically(cx, result, source), || {
        "the operand does not match the result member by member".to_owned()
    })
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
        let (x, y) = (cx.shape(a), cx.shape(b));
        match (x.op, y.op) {
            (Op::TypeArray, Op::TypeArray) => {
                let length = |ty| cx.inst(ty).map_or(0, |t| t.word(1));
                let (n, m) = (length(a), length(b));
                if n != m && (cx.constant(n).is_none() || cx.constant(n) != cx.constant(m)) {
                    return false;
                }
                stack.push((x.part, y.part));
            }
            (Op::TypeStruct, Op::TypeStruct) => {
                let (p, q) = (cx.members(a), cx.members(b));
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
