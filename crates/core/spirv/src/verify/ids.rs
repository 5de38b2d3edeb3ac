//! Rules 4 and 5: ids are defined before their uses and are used where their class is allowed.

use super::context::{DefPlace, VerifyContext, VerifyResult, ensure, make_fault};
use super::control_flow::FunctionFlow;
use super::rules::VerifyRule;
use crate::grammar::{ExtInstSet, InstructionClass, Op};
use crate::ir::InstRef;
use crate::{Id, IdSet};

/// Facts about ids so far.
pub(super) struct SeenIds {
    pub defined: IdSet,
    /// Ids that were used before their definition, with the instruction that did.
    pub waiting: Vec<(Id, crate::ir::Inst)>,
}

/// Checks the ids that an instruction uses, those before it being in `seen`.
pub(super) fn verify_ids(
    cx: &VerifyContext<'_>,
    inst: InstRef<'_>,
    seen: &mut SeenIds,
) -> VerifyResult {
    let class = inst.op().info().map(|i| i.class);
    let ty = inst.result_type();
    if let Some(ty) = ty {
        ensure(VerifyRule::DefinedBefore, seen.defined.contains(ty), || {
            format!("its type {ty} is not defined before")
        })?;
        ensure(VerifyRule::OperandClass, cx.is_type(ty.word()), || {
            format!(
                "its result type {ty} is no type, but {}",
                cx.defining_op(ty.word())
            )
        })?;
    }
    let free = is_free(cx, inst, class);
    let mut found = Ok(());
    let from = usize::from(ty.is_some());
    cx.ids.visit_uses(inst, |at, id| {
        if found.is_err() || at < from {
            return;
        }
        found = verify_id_operand(cx, inst, at, id, seen, free);
    });
    found
}

fn verify_id_operand(
    cx: &VerifyContext<'_>,
    inst: InstRef<'_>,
    at: usize,
    id: Id,
    seen: &mut SeenIds,
    free: bool,
) -> VerifyResult {
    if !seen.defined.contains(id) {
        ensure(
            VerifyRule::DefinedBefore,
            may_wait(cx, inst, at, id),
            || format!("{id} is not defined before"),
        )?;
        seen.waiting.push((id, inst.handle()));
        return Ok(());
    }
    if free {
        return Ok(());
    }
    let op = inst.op();
    if cx.is_type(id.word()) {
        let of_operation = op != Op::SpecConstantOp
            || matches!(
                Op(inst.operand_word(0) as u16),
                Op::CooperativeMatrixLengthKHR | Op::CooperativeMatrixLengthNV
            );
        return ensure(
            VerifyRule::OperandClass,
            takes_type(op) && of_operation,
            || format!("{id} is a type where a value is asked for"),
        );
    }
    if cx.type_of(id.word()) == 0 {
        return ensure(VerifyRule::OperandClass, takes_untyped(op, at), || {
            format!("{id} is no value, but {}", cx.defining_op(id.word()))
        });
    }
    ensure(
        VerifyRule::OperandClass,
        cx.defining_op(id.word()) != Op::ExtInst
            || !is_non_semantic(cx, cx.defining_inst(id.word()))
            || is_non_semantic(cx, Some(inst)),
        || format!("{id} is a non-semantic instruction, which has no value"),
    )
}

/// Instructions that may name ids of any class.
fn is_free(cx: &VerifyContext<'_>, inst: InstRef<'_>, class: Option<InstructionClass>) -> bool {
    matches!(
        class,
        None | Some(
            InstructionClass::Debug
                | InstructionClass::Annotation
                | InstructionClass::TypeDeclaration
                | InstructionClass::ModeSetting
                | InstructionClass::Graph
        )
    ) || inst.op() == Op::ExtInstWithForwardRefsKHR
        || inst.op() == Op::ExtInst && is_debug(cx, inst)
}

/// Whether an extended instruction is of a set that describes and does not compute.
pub(super) fn is_debug(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> bool {
    is_non_semantic(cx, Some(inst))
        || cx
            .ids
            .ext_inst_set(inst)
            .is_some_and(|s: &ExtInstSet| s.name.contains("DebugInfo"))
}

fn is_non_semantic(cx: &VerifyContext<'_>, inst: Option<InstRef<'_>>) -> bool {
    let Some(inst) = inst else { return false };
    matches!(inst.op(), Op::ExtInst | Op::ExtInstWithForwardRefsKHR)
        && cx
            .defining_inst(inst.operand_word(0))
            .is_some_and(|set| set.string_operand(0).starts_with("NonSemantic."))
}

/// Instructions other than types that have types among their operands.
fn takes_type(op: Op) -> bool {
    op.is_untyped_access_chain()
        || matches!(
            op,
            Op::Function
                | Op::SizeOf
                | Op::UntypedVariableKHR
                | Op::UntypedArrayLengthKHR
                | Op::CooperativeMatrixLengthKHR
                | Op::CooperativeMatrixLengthNV
                | Op::SpecConstantOp
                | Op::ConstantSizeOfEXT
                | Op::UntypedPrefetchKHR
                | Op::UntypedImageTexelPointerEXT
                | Op::AsmINTEL
                | Op::AbortKHR
                | Op::UntypedGroupAsyncCopyKHR
                | Op::UntypedVariableLengthArrayINTEL
        )
        || op
            .info()
            .is_some_and(|i| i.class == InstructionClass::Graph)
}

/// Instructions that have labels, functions, strings or sets among their operands.
fn takes_untyped(op: Op, at: usize) -> bool {
    match op {
        Op::Branch
        | Op::BranchConditional
        | Op::Switch
        | Op::Phi
        | Op::ExtInst
        | Op::ExtInstWithForwardRefsKHR
        | Op::LoopMerge
        | Op::SelectionMerge
        | Op::Line
        | Op::SpecConstantOp
        | Op::AsmINTEL
        | Op::AsmCallINTEL
        | Op::Load
        | Op::Store
        | Op::CopyMemory
        | Op::CopyMemorySized
        | Op::CooperativeMatrixLoadTensorNV => true,
        // The function, which has a type in our tables, is checked with the call.
        Op::FunctionCall => at == 2,
        op => op.info().is_some_and(|i| {
            matches!(
                i.class,
                InstructionClass::Graph | InstructionClass::Reserved | InstructionClass::Tensor
            )
        }),
    }
}

/// Whether the operand at a word may be defined later (specification, section 2.16.1).
fn may_wait(cx: &VerifyContext<'_>, inst: InstRef<'_>, at: usize, id: Id) -> bool {
    match inst.op() {
        Op::EntryPoint
        | Op::ExecutionMode
        | Op::ExecutionModeId
        | Op::Name
        | Op::MemberName
        | Op::Decorate
        | Op::DecorateId
        | Op::DecorateString
        | Op::MemberDecorate
        | Op::MemberDecorateString
        | Op::MemberDecorateIdEXT
        | Op::SelectionMerge
        | Op::LoopMerge
        | Op::Branch
        | Op::TypeForwardPointer
        | Op::ConditionalEntryPointINTEL
        | Op::ExtInstWithForwardRefsKHR => true,
        Op::GroupDecorate | Op::GroupMemberDecorate => at != 0,
        Op::BranchConditional | Op::Switch => at != 0,
        Op::FunctionCall | Op::GraphEntryPointARM => at == 2 || inst.op() != Op::FunctionCall,
        Op::Phi => at > 1,
        Op::EnqueueKernel => at == 8 + 2,
        Op::GetKernelNDrangeSubGroupCount | Op::GetKernelNDrangeMaxSubGroupSize => at == 3,
        Op::GetKernelWorkGroupSize | Op::GetKernelPreferredWorkGroupSizeMultiple => at == 2,
        // Functions that are called for each element.
        Op::CooperativeMatrixLoadTensorNV
        | Op::CooperativeMatrixPerElementOpNV
        | Op::CooperativeMatrixReduceNV => cx.defining_op(id.word()) == Op::Function,
        Op::ConstantFunctionPointerINTEL => true,
        Op::TypeStruct | Op::TypeArray | Op::TypeRuntimeArray | Op::TypePointer => {
            cx.forward_pointers.contains(&id.word())
        }
        Op::ExtInst => {
            let set = cx.ids.ext_inst_set(inst).map_or("", |s| s.name);
            set == "OpenCL.DebugInfo.100" || set == "DebugInfo"
        }
        _ => false,
    }
}

/// Definitions in blocks that do not dominate their uses.
pub(super) fn verify_dominance(
    cx: &VerifyContext<'_>,
    flow: &FunctionFlow<'_>,
    place: DefPlace,
) -> Vec<(crate::ir::Inst, super::context::VerifyFault)> {
    let mut faults = Vec::new();
    for block in 0..flow.blocks.len() as u32 {
        if !flow.dominators.is_reached(block) {
            continue;
        }
        for inst in cx.module.body(flow.blocks[block as usize]) {
            let mut wrong = None;
            if inst.op() == Op::Phi {
                for pair in inst.operands().chunks_exact(2) {
                    let parent = Id::new(pair[1]).and_then(|l| flow.block_position(l));
                    if let Some(parent) = parent
                        && flow.dominators.is_reached(parent)
                        && !is_definition_dominating(cx, flow, place, pair[0], parent)
                    {
                        wrong = Id::new(pair[0]);
                    }
                }
            } else {
                cx.ids.visit_uses(inst, |_, id| {
                    if !is_definition_dominating(cx, flow, place, id.word(), block) {
                        wrong = Some(id);
                    }
                });
            }
            if let Some(id) = wrong {
                let message = format!("{id} is defined where it does not dominate this use");
                faults.push((
                    inst.handle(),
                    make_fault(VerifyRule::DefinedBefore, message),
                ));
            }
        }
    }
    faults
}

/// Whether the definition of an id dominates a block.
fn is_definition_dominating(
    cx: &VerifyContext<'_>,
    flow: &FunctionFlow<'_>,
    function: DefPlace,
    id: u32,
    block: u32,
) -> bool {
    let Some(def) = cx.definition(id) else {
        return true;
    };
    // Functions are called from others.
    if def.place == DefPlace::OUTSIDE || def.op == Op::Function {
        return true;
    }
    match def.place.block_index(function, flow.blocks.len()) {
        Err(()) => false,
        Ok(None) => true,
        Ok(Some(_)) if def.op == Op::Label => true,
        Ok(Some(own)) => flow.dominators.is_above(own, block),
    }
}
