//! Lifting table: one row for each instruction that becomes LLVM instructions. All other
//! instructions become calls of functions that are named after them.

use super::body::{FunctionLifter, LiftSource};
use crate::LlvmResult;
use crate::ir::{LlvmOpcode, LlvmTypeKind, LlvmValue, Predicate};
use rustc_hash::FxHashMap;
use spirula_spirv::grammar::{InstructionClass, Op};
use std::sync::OnceLock;

/// The function that lifts an instruction.
pub(super) type InstructionLiftFn =
    for<'l, 's> fn(&mut FunctionLifter<'l, 's>, &LiftSource<'s>) -> LlvmResult<Option<LlvmValue>>;

/// How an instruction is lifted.
#[derive(Clone, Copy)]
pub(super) enum LiftRule {
    /// An instruction on the same operands, with its flags.
    Same(LlvmOpcode),
    /// A shift. The amount has a width of its own.
    Shift(LlvmOpcode),
    /// A comparison.
    Compare(Predicate),
    /// A conversion to the type of the result.
    Convert(LlvmOpcode),
    /// Whatever this function does.
    By(InstructionLiftFn),
    /// Nothing.
    Nothing,
}

use LiftRule::{By, Compare, Convert, Nothing, Same, Shift};

/// A row for each instruction that does not become a call.
const ROWS: &[(Op, LiftRule)] = &[
    // Arithmetic and bits.
    (Op::FNegate, Same(LlvmOpcode::FNeg)),
    (Op::IAdd, Same(LlvmOpcode::Add)),
    (Op::FAdd, Same(LlvmOpcode::FAdd)),
    (Op::ISub, Same(LlvmOpcode::Sub)),
    (Op::FSub, Same(LlvmOpcode::FSub)),
    (Op::IMul, Same(LlvmOpcode::Mul)),
    (Op::FMul, Same(LlvmOpcode::FMul)),
    (Op::UDiv, Same(LlvmOpcode::UDiv)),
    (Op::SDiv, Same(LlvmOpcode::SDiv)),
    (Op::FDiv, Same(LlvmOpcode::FDiv)),
    (Op::UMod, Same(LlvmOpcode::URem)),
    (Op::SRem, Same(LlvmOpcode::SRem)),
    (Op::FRem, Same(LlvmOpcode::FRem)),
    (Op::BitwiseOr, Same(LlvmOpcode::Or)),
    (Op::BitwiseXor, Same(LlvmOpcode::Xor)),
    (Op::BitwiseAnd, Same(LlvmOpcode::And)),
    (Op::LogicalOr, Same(LlvmOpcode::Or)),
    (Op::LogicalAnd, Same(LlvmOpcode::And)),
    (Op::LogicalNotEqual, Compare(Predicate::Ne)),
    (Op::LogicalEqual, Compare(Predicate::Eq)),
    (Op::Select, Same(LlvmOpcode::Select)),
    (Op::ShiftRightLogical, Shift(LlvmOpcode::LShr)),
    (Op::ShiftRightArithmetic, Shift(LlvmOpcode::AShr)),
    (Op::ShiftLeftLogical, Shift(LlvmOpcode::Shl)),
    (Op::SNegate, By(|b, s| b.lift_negate(s))),
    (Op::Not, By(|b, s| b.lift_complement(s))),
    (Op::LogicalNot, By(|b, s| b.lift_complement(s))),
    (
        Op::VectorTimesScalar,
        By(|b, s| b.lift_vector_times_scalar(s)),
    ),
    (
        Op::MatrixTimesScalar,
        By(|b, s| b.lift_matrix_times_scalar(s)),
    ),
    (
        Op::MatrixTimesVector,
        By(|b, s| b.lift_matrix_times_vector(s)),
    ),
    (
        Op::VectorTimesMatrix,
        By(|b, s| b.lift_vector_times_matrix(s)),
    ),
    (
        Op::MatrixTimesMatrix,
        By(|b, s| b.lift_matrix_times_matrix(s)),
    ),
    (Op::OuterProduct, By(|b, s| b.lift_outer_product(s))),
    (Op::Transpose, By(|b, s| b.lift_transpose(s))),
    // Comparisons.
    (Op::IEqual, Compare(Predicate::Eq)),
    (Op::INotEqual, Compare(Predicate::Ne)),
    (Op::UGreaterThan, Compare(Predicate::Ugt)),
    (Op::SGreaterThan, Compare(Predicate::Sgt)),
    (Op::UGreaterThanEqual, Compare(Predicate::Uge)),
    (Op::SGreaterThanEqual, Compare(Predicate::Sge)),
    (Op::ULessThan, Compare(Predicate::Ult)),
    (Op::SLessThan, Compare(Predicate::Slt)),
    (Op::ULessThanEqual, Compare(Predicate::Ule)),
    (Op::SLessThanEqual, Compare(Predicate::Sle)),
    (Op::FOrdEqual, Compare(Predicate::FOeq)),
    (Op::FUnordEqual, Compare(Predicate::FUeq)),
    (Op::FOrdNotEqual, Compare(Predicate::FOne)),
    (Op::LessOrGreater, Compare(Predicate::FOne)),
    (Op::FUnordNotEqual, Compare(Predicate::FUne)),
    (Op::FOrdLessThan, Compare(Predicate::FOlt)),
    (Op::FUnordLessThan, Compare(Predicate::FUlt)),
    (Op::FOrdGreaterThan, Compare(Predicate::FOgt)),
    (Op::FUnordGreaterThan, Compare(Predicate::FUgt)),
    (Op::FOrdLessThanEqual, Compare(Predicate::FOle)),
    (Op::FUnordLessThanEqual, Compare(Predicate::FUle)),
    (Op::FOrdGreaterThanEqual, Compare(Predicate::FOge)),
    (Op::FUnordGreaterThanEqual, Compare(Predicate::FUge)),
    (Op::Ordered, Compare(Predicate::FOrd)),
    (Op::Unordered, Compare(Predicate::FUno)),
    (Op::PtrEqual, Compare(Predicate::Eq)),
    (Op::PtrNotEqual, Compare(Predicate::Ne)),
    (Op::IsNan, By(|b, s| b.is_nan(s))),
    // Conversions.
    (Op::ConvertFToU, Convert(LlvmOpcode::FpToUi)),
    (Op::ConvertFToS, Convert(LlvmOpcode::FpToSi)),
    (Op::ConvertSToF, Convert(LlvmOpcode::SiToFp)),
    (Op::ConvertUToF, Convert(LlvmOpcode::UiToFp)),
    (Op::UConvert, By(|b, s| b.unsigned_resize(s))),
    (Op::SConvert, By(|b, s| b.signed_resize(s))),
    (Op::FConvert, By(|b, s| b.float_resize(s))),
    (Op::ConvertPtrToU, Convert(LlvmOpcode::PtrToInt)),
    (Op::ConvertUToPtr, Convert(LlvmOpcode::IntToPtr)),
    (Op::PtrCastToGeneric, Convert(LlvmOpcode::AddrSpaceCast)),
    (Op::GenericCastToPtr, Convert(LlvmOpcode::AddrSpaceCast)),
    (Op::Bitcast, By(|b, s| b.lift_bitcast(s))),
    // Vectors and aggregates.
    (Op::VectorExtractDynamic, Same(LlvmOpcode::ExtractElement)),
    (Op::VectorInsertDynamic, Same(LlvmOpcode::InsertElement)),
    (Op::VectorShuffle, By(|b, s| b.lift_vector_shuffle(s))),
    (
        Op::CompositeConstruct,
        By(|b, s| b.lift_composite_construct(s)),
    ),
    (Op::CompositeExtract, By(|b, s| b.lift_composite_extract(s))),
    (Op::CompositeInsert, By(|b, s| b.lift_composite_insert(s))),
    (Op::CopyObject, By(|b, s| b.lift_copy(s))),
    (Op::CopyLogical, By(|b, s| b.copy_logical(s))),
    (Op::Undef, By(|b, s| b.lift_undef(s))),
    // Memory.
    (Op::Variable, By(|b, s| b.lift_variable(s))),
    (Op::UntypedVariableKHR, By(|b, s| b.lift_variable(s))),
    (Op::Load, By(|b, s| b.lift_load(s))),
    (Op::Store, By(|b, s| b.lift_store(s))),
    (Op::CopyMemory, By(|b, s| b.copy_memory(s))),
    (Op::CopyMemorySized, By(|b, s| b.copy_bytes(s))),
    (Op::AccessChain, By(|b, s| b.lift_access_chain(s))),
    (Op::InBoundsAccessChain, By(|b, s| b.lift_access_chain(s))),
    (Op::PtrAccessChain, By(|b, s| b.lift_access_chain(s))),
    (
        Op::InBoundsPtrAccessChain,
        By(|b, s| b.lift_access_chain(s)),
    ),
    (Op::LifetimeStart, By(|b, s| b.lift_lifetime(s))),
    (Op::LifetimeStop, By(|b, s| b.lift_lifetime(s))),
    // Control.
    (Op::Phi, By(|b, s| b.lift_phi(s))),
    (Op::LoopMerge, By(|b, s| b.lift_loop_merge(s))),
    (Op::SelectionMerge, Nothing),
    (Op::Branch, By(|b, s| b.lift_branch(s))),
    (
        Op::BranchConditional,
        By(|b, s| b.lift_conditional_branch(s)),
    ),
    (Op::Switch, By(|b, s| b.lift_switch(s))),
    (Op::Return, By(|b, s| b.lift_return(s))),
    (Op::ReturnValue, By(|b, s| b.lift_return(s))),
    (Op::Unreachable, By(|b, s| b.lift_unreachable(s))),
    (Op::FunctionCall, By(|b, s| b.lift_function_call(s))),
    (
        Op::FunctionPointerCallINTEL,
        By(|b, s| b.lift_pointer_call(s)),
    ),
    // Constants that can be specialised.
    (Op::SpecConstant, By(|b, s| b.spec_constant(s))),
    (Op::SpecConstantTrue, By(|b, s| b.spec_constant(s))),
    (Op::SpecConstantFalse, By(|b, s| b.spec_constant(s))),
    (
        Op::SpecConstantComposite,
        By(|b, s| b.lift_composite_construct(s)),
    ),
    (
        Op::ConstantComposite,
        By(|b, s| b.lift_composite_construct(s)),
    ),
    (Op::ConstantSampler, By(|b, s| b.lift_constant_sampler(s))),
    // Extended instructions, and instructions without effect on LLVM IR.
    (Op::ExtInst, By(|b, s| b.lift_extended_instruction(s))),
    (Op::Nop, Nothing),
    (Op::Line, By(|b, s| b.lift_line(s))),
    (
        Op::NoLine,
        By(|b, _| {
            b.no_line();
            Ok(None)
        }),
    ),
];

/// Instruction classes on cooperative matrices. LLVM IR has neither operators on them nor access to
/// their components.
const ON_MATRICES: &[InstructionClass] = &[
    InstructionClass::Arithmetic,
    InstructionClass::Conversion,
    InstructionClass::Composite,
];

/// The opcode that constructs a composite of constants if some constituents are results of calls.
fn to_construct_op(op: Op) -> Op {
    match op {
        Op::ConstantComposite | Op::SpecConstantComposite => Op::CompositeConstruct,
        op => op,
    }
}

impl<'s> FunctionLifter<'_, 's> {
    /// Whether an instruction takes or produces a cooperative matrix, other than to move it.
    fn is_on_matrices(&self, source: &LiftSource<'s>) -> LlvmResult<bool> {
        let is_moved = source.op == Op::CopyObject;
        let class = source.op.info().map(|row| row.class);
        let is_on = class.is_some_and(|class| ON_MATRICES.contains(&class));
        if is_moved || !(is_on || to_construct_op(source.op) != source.op) {
            return Ok(false);
        }
        let is_opaque = |ty| matches!(self.l.out.types.kind(ty), LlvmTypeKind::Target { .. });
        // Other opaque members, such as images, can be extracted from composites.
        if source.op != Op::CompositeExtract && is_opaque(self.result_type(source)?) {
            return Ok(true);
        }
        let first = self.operand_value(source, 0);
        Ok(first.is_ok_and(|value| is_opaque(self.type_of(value))))
    }
}

/// Lifts an instruction. Returns the value of its result, if it has one.
pub(super) fn lift_by_opcode<'s>(
    body: &mut FunctionLifter<'_, 's>,
    source: &LiftSource<'s>,
) -> LlvmResult<Option<LlvmValue>> {
    static INDEX: OnceLock<FxHashMap<u16, LiftRule>> = OnceLock::new();
    let index = INDEX.get_or_init(|| ROWS.iter().map(|row| (row.0.0, row.1)).collect());
    if body.is_on_matrices(source)? {
        return body.lift_friendly_call(&LiftSource {
            op: to_construct_op(source.op),
            ..*source
        });
    }
    match index.get(&source.op.0) {
        Some(Same(opcode)) => body.lift_same_operands(*opcode, source).map(Some),
        Some(Shift(opcode)) => body.lift_shift(*opcode, source).map(Some),
        Some(Compare(predicate)) => body.lift_compare(*predicate, source).map(Some),
        Some(Convert(opcode)) => body.push_conversion(*opcode, source).map(Some),
        Some(By(handler)) => handler(body, source),
        Some(Nothing) => Ok(None),
        None => body.lift_friendly_call(source),
    }
}
