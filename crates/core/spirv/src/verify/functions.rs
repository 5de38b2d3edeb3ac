//! Rule 12: functions, parameters and calls.

use super::context::{VerifyContext, VerifyResult, ensure, make_fault};
use super::ids::is_debug;
use super::rules::VerifyRule;
use crate::Id;
use crate::grammar::Op;
use crate::grammar::enumerants::{Capability, StorageClass};
use crate::ir::{Func, InstRef};
use spirula_diagnostics::SourceDiagnostic;

/// Checks `OpFunction` and its parameters.
pub(super) fn verify_function(cx: &VerifyContext<'_>, func: Func) -> Result<(), SourceDiagnostic> {
    let function = cx.module.function(func);
    let def = cx.module.inst(function.def);
    let ty = def.operand_word(1);
    let shape = cx.type_shape(ty);
    let of_def = |check: VerifyResult| check.map_err(|f| f.into_diagnostic(def));
    of_def(ensure(
        VerifyRule::Functions,
        shape.op == Op::TypeFunction,
        || format!("its type %{ty} is no type of functions"),
    ))?;
    of_def(ensure(
        VerifyRule::Functions,
        shape.part == def.words()[0],
        || "its result is not that of its type".to_owned(),
    ))?;
    let wanted = cx.defining_inst(ty).map_or(&[][..], |t| &t.operands()[1..]);
    let params = cx.module.list_insts(function.params);
    let params = params.filter(|i| i.op() == Op::FunctionParameter);
    let mut count = 0;
    for param in params {
        let found = param.words()[0];
        let fits = wanted.get(count) == Some(&found);
        ensure(VerifyRule::Functions, fits, || {
            format!("parameter {count} is not of the type that the function's type has")
        })
        .map_err(|f| f.into_diagnostic(param))?;
        count += 1;
    }
    of_def(ensure(VerifyRule::Functions, count == wanted.len(), || {
        format!("{count} parameters; its type has {}", wanted.len())
    }))
}

/// Checks a call.
pub(super) fn verify_call(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let callee = inst.operand_word(0);
    let Some(function) = cx.defining_inst(callee).filter(|i| i.op() == Op::Function) else {
        return Err(make_fault(
            VerifyRule::Functions,
            format!("%{callee} is no function"),
        ));
    };
    ensure(
        VerifyRule::Functions,
        function.words()[0] == inst.words()[0],
        || "the result is not that of the function".to_owned(),
    )?;
    let Some(ty) = cx
        .defining_inst(function.operand_word(1))
        .filter(|i| i.op() == Op::TypeFunction)
    else {
        return Err(make_fault(
            VerifyRule::Functions,
            "the function has no type",
        ));
    };
    let (wanted, given) = (&ty.operands()[1..], &inst.operands()[1..]);
    ensure(VerifyRule::Functions, wanted.len() == given.len(), || {
        format!(
            "{} arguments; the function has {} parameters",
            given.len(),
            wanted.len()
        )
    })?;
    for (n, (wanted, given)) in wanted.iter().zip(given).enumerate() {
        let found = cx.type_of(*given);
        ensure(VerifyRule::Functions, found == *wanted, || {
            format!(
                "argument {n} is of {}, the parameter of {}",
                cx.describe_type(found),
                cx.describe_type(*wanted)
            )
        })?;
        verify_argument(cx, n, *given)?;
    }
    Ok(())
}

/// In logical addressing pointer arguments are whole variables (section 2.16.1).
fn verify_argument(cx: &VerifyContext<'_>, n: usize, given: u32) -> VerifyResult {
    let shape = cx.value_shape(given);
    if shape.op != Op::TypePointer || !cx.is_logical() {
        return Ok(());
    }
    let passes = match shape.class {
        StorageClass::UniformConstant
        | StorageClass::Function
        | StorageClass::Private
        | StorageClass::Workgroup
        | StorageClass::AtomicCounter => true,
        StorageClass::StorageBuffer => cx.variable_pointers(),
        StorageClass::TaskPayloadWorkgroupEXT | StorageClass::NodePayloadAMDX => true,
        _ => false,
    };
    ensure(VerifyRule::Functions, passes, || {
        format!(
            "argument {n} is a pointer of the class {}, which cannot be passed",
            shape.class
        )
    })?;
    let op = cx.defining_op(given);
    let whole = matches!(
        op,
        Op::Variable | Op::FunctionParameter | Op::UntypedVariableKHR
    );
    let by_class = match shape.class {
        StorageClass::StorageBuffer => true,
        StorageClass::Workgroup => cx.has_capability(Capability::VariablePointers),
        _ => false,
    };
    let is_object = shape.class == StorageClass::UniformConstant
        && op == Op::AccessChain
        && matches!(
            cx.defining_op(shape.part),
            Op::TypeImage | Op::TypeSampler | Op::TypeSampledImage
        );
    ensure(
        VerifyRule::Functions,
        whole || by_class || is_object,
        || format!("argument {n} is a pointer into a variable, not a variable"),
    )
}

/// A function's id is used where functions are named only.
pub(super) fn use_of_function(cx: &VerifyContext<'_>, inst: InstRef<'_>, id: Id) -> VerifyResult {
    ensure(
        VerifyRule::Functions,
        cx.defining_op(id.word()) != Op::Function
            || matches!(
                inst.op(),
                Op::EntryPoint
                    | Op::ExecutionMode
                    | Op::ExecutionModeId
                    | Op::Name
                    | Op::Decorate
                    | Op::DecorateId
                    | Op::DecorateString
                    | Op::GroupDecorate
                    | Op::FunctionCall
                    | Op::EnqueueKernel
                    | Op::GetKernelNDrangeSubGroupCount
                    | Op::GetKernelNDrangeMaxSubGroupSize
                    | Op::GetKernelWorkGroupSize
                    | Op::GetKernelPreferredWorkGroupSizeMultiple
                    | Op::GetKernelLocalSizeForSubgroupCount
                    | Op::GetKernelMaxNumSubgroups
                    | Op::ConstantFunctionPointerINTEL
                    | Op::ConditionalEntryPointINTEL
                    | Op::CooperativeMatrixPerElementOpNV
                    | Op::CooperativeMatrixReduceNV
                    | Op::CooperativeMatrixLoadTensorNV
            )
            || is_debug(cx, inst),
        || format!("{id} is a function, which cannot be used here"),
    )
}
