//! Rule 9: constants fit their types.

use super::context::{TypeContents, VerifyContext, VerifyResult, ensure, make_fault};
use super::rules::VerifyRule;
use crate::grammar::Op;
use crate::ir::InstRef;

/// Checks a constant.
pub(super) fn verify_constant(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let ty = inst.words()[0];
    let shape = cx.type_shape(ty);
    match inst.op() {
        Op::ConstantTrue | Op::ConstantFalse | Op::SpecConstantTrue | Op::SpecConstantFalse => {
            ensure(VerifyRule::Constants, shape.op == Op::TypeBool, || {
                format!("its type is {}, not bool", cx.describe_type(ty))
            })
        }
        Op::Constant | Op::SpecConstant => verify_scalar_constant(cx, inst),
        Op::ConstantComposite | Op::SpecConstantComposite => verify_composite_constant(cx, inst),
        Op::ConstantCompositeReplicateEXT | Op::SpecConstantCompositeReplicateEXT => {
            verify_replicated_constant(cx, inst)
        }
        Op::ConstantFunctionPointerINTEL => function_pointer(cx, inst),
        Op::ConstantNull => ensure(
            VerifyRule::Constants,
            !shape.holds.has_any(TypeContents::NO_NULL),
            || format!("{} has no null", cx.describe_type(ty)),
        ),
        Op::ConstantSampler => ensure(VerifyRule::Constants, shape.op == Op::TypeSampler, || {
            "its type is no sampler".to_owned()
        }),
        Op::SpecConstantOp => verify_spec_constant_op(cx, inst),
        _ => Ok(()),
    }
}

fn verify_scalar_constant(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let ty = inst.words()[0];
    let shape = cx.type_shape(ty);
    ensure(
        VerifyRule::Constants,
        matches!(shape.op, Op::TypeInt | Op::TypeFloat),
        || format!("its type is {}, not a number", cx.describe_type(ty)),
    )?;
    super::values::small_composite(cx, ty)?;
    let words = inst.operands();
    ensure(
        VerifyRule::Constants,
        words.len() as u32 == shape.width.div_ceil(32).max(1),
        || {
            format!(
                "{} words do not make a {}",
                words.len(),
                cx.describe_type(ty)
            )
        },
    )?;
    if shape.width < 32 && shape.width > 0 {
        let high = words[0] >> shape.width;
        let negative = shape.signed && words[0] >> (shape.width - 1) & 1 == 1;
        let wanted = if negative { u32::MAX >> shape.width } else { 0 };
        ensure(VerifyRule::Constants, high == wanted, || {
            format!(
                "the bits above the {} of its type are not extended",
                shape.width
            )
        })?;
    }
    Ok(())
}

fn verify_composite_constant(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let ty = inst.words()[0];
    let parts = inst.operands();
    for part in parts {
        let op = cx.defining_op(*part);
        ensure(
            VerifyRule::Constants,
            cx.is_constant(*part) || op == Op::Undef,
            || format!("%{part} is no constant"),
        )?;
        let is_spec = matches!(
            op,
            Op::SpecConstant
                | Op::SpecConstantTrue
                | Op::SpecConstantFalse
                | Op::SpecConstantComposite
                | Op::SpecConstantOp
        );
        ensure(
            VerifyRule::Constants,
            !is_spec || inst.op() != Op::ConstantComposite,
            || format!("%{part} is a specialisation constant"),
        )?;
    }
    let count = |wanted: usize| {
        ensure(VerifyRule::Constants, parts.len() == wanted, || {
            format!(
                "{} constituents; {} has {wanted}",
                parts.len(),
                cx.describe_type(ty)
            )
        })
    };
    let shape = cx.type_shape(ty);
    let each = |wanted: &dyn Fn(usize) -> u32| {
        for (n, part) in parts.iter().enumerate() {
            let (found, wanted) = (cx.type_of(*part), wanted(n));
            ensure(VerifyRule::Constants, found == wanted, || {
                format!(
                    "constituent {n} is of {}, not of {}",
                    cx.describe_type(found),
                    cx.describe_type(wanted)
                )
            })?;
        }
        Ok(())
    };
    match shape.op {
        Op::TypeVector | Op::TypeMatrix => {
            count(shape.count as usize)?;
            each(&|_| shape.part)
        }
        Op::TypeArray => {
            let length = cx.defining_inst(ty).map_or(0, |t| t.operand_word(1));
            if let Some(length) = cx.constant_value(length) {
                count(usize::try_from(length).unwrap_or(usize::MAX))?;
            }
            each(&|_| shape.part)
        }
        Op::TypeStruct => {
            let members = cx.struct_members(ty);
            count(members.len())?;
            each(&|n| members[n])
        }
        Op::TypeCooperativeMatrixKHR | Op::TypeCooperativeMatrixNV => {
            count(1)?;
            each(&|_| shape.part)
        }
        Op::TypeVectorIdEXT => Ok(()),
        _ => Err(make_fault(
            VerifyRule::Constants,
            format!(
                "its type is {}, which is no composite",
                cx.describe_type(ty)
            ),
        )),
    }
}

fn verify_replicated_constant(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let value = inst.operand_word(0);
    ensure(
        VerifyRule::Constants,
        cx.is_constant(value) || cx.defining_op(value) == Op::Undef,
        || format!("%{value} is no constant"),
    )?;
    super::composites::verify_replicated_composite(
        cx,
        VerifyRule::Constants,
        inst.words()[0],
        value,
    )
}

/// The pointer to a function: its type points to the function's type, or is a pointer type without a known
/// pointee.
fn function_pointer(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let (ty, function) = (cx.type_shape(inst.words()[0]), inst.operand_word(0));
    let Some(def) = cx
        .defining_inst(function)
        .filter(|f| f.op() == Op::Function)
    else {
        let message = format!("%{function} is no function");
        return Err(make_fault(VerifyRule::Constants, message));
    };
    let fits = match ty.op {
        Op::TypePointer => {
            cx.defining_op(ty.part) != Op::TypeFunction || ty.part == def.operand_word(1)
        }
        Op::TypeUntypedPointerKHR => true,
        _ => false,
    };
    ensure(VerifyRule::Constants, fits, || {
        format!("its type is no pointer to functions of the type of %{function}")
    })
}

/// Operations on constants in any module.
const EVERYWHERE: &[Op] = &[
    Op::SConvert,
    Op::UConvert,
    Op::FConvert,
    Op::SNegate,
    Op::Not,
    Op::IAdd,
    Op::ISub,
    Op::IMul,
    Op::UDiv,
    Op::SDiv,
    Op::UMod,
    Op::SRem,
    Op::SMod,
    Op::ShiftRightLogical,
    Op::ShiftRightArithmetic,
    Op::ShiftLeftLogical,
    Op::BitwiseOr,
    Op::BitwiseXor,
    Op::BitwiseAnd,
    Op::VectorShuffle,
    Op::CompositeExtract,
    Op::CompositeInsert,
    Op::LogicalOr,
    Op::LogicalAnd,
    Op::LogicalNot,
    Op::LogicalEqual,
    Op::LogicalNotEqual,
    Op::Select,
    Op::IEqual,
    Op::INotEqual,
    Op::ULessThan,
    Op::SLessThan,
    Op::UGreaterThan,
    Op::SGreaterThan,
    Op::ULessThanEqual,
    Op::SLessThanEqual,
    Op::UGreaterThanEqual,
    Op::SGreaterThanEqual,
    Op::QuantizeToF16,
    Op::CooperativeMatrixLengthKHR,
    Op::CooperativeMatrixLengthNV,
];

/// Those that kernels have besides, without access chains.
const IN_KERNELS: &[Op] = &[
    Op::ConvertFToS,
    Op::ConvertSToF,
    Op::ConvertFToU,
    Op::ConvertUToF,
    Op::ConvertPtrToU,
    Op::ConvertUToPtr,
    Op::GenericCastToPtr,
    Op::PtrCastToGeneric,
    Op::Bitcast,
    Op::FNegate,
    Op::FAdd,
    Op::FSub,
    Op::FMul,
    Op::FDiv,
    Op::FRem,
    Op::FMod,
];

/// Operations on constants: the opcodes that the specification lists, those of kernels with that
/// capability only.
fn verify_spec_constant_op(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let op = Op(inst.operand_word(0) as u16);
    let everywhere = EVERYWHERE.contains(&op);
    let in_kernels = op.is_access_chain() || IN_KERNELS.contains(&op);
    if !everywhere && !in_kernels {
        return Err(make_fault(
            VerifyRule::Constants,
            format!("{op} is no operation on constants"),
        ));
    }
    if in_kernels && !cx.is_kernel {
        return Err(make_fault(
            VerifyRule::Capabilities,
            format!("{op} on constants needs the capability Kernel"),
        ));
    }
    super::values::verify_operation_types(cx, op, inst.words()[0], &inst.operands()[1..])?;
    if op == Op::QuantizeToF16 && !cx.is_shader {
        return Err(make_fault(
            VerifyRule::Capabilities,
            "OpQuantizeToF16 on constants needs the capability Shader",
        ));
    }
    Ok(())
}
