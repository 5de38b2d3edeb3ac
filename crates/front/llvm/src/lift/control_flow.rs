//! Lifting of control flow and function calls.

use super::body::{FunctionLifter, LiftSource};
use crate::ir::{
    CallingConvention, LlvmBlock, LlvmInstFlags, LlvmMetadata, LlvmOpcode, LlvmType, LlvmValue,
    MetadataKind,
};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::LoopControl;

/// Loop controls, their names in LLVM, and whether a number follows.
const LOOPS: &[(LoopControl, &str, bool)] = &[
    (LoopControl::Unroll, "llvm.loop.unroll.enable", false),
    (LoopControl::DontUnroll, "llvm.loop.unroll.disable", false),
    (
        LoopControl::DependencyInfinite,
        "llvm.loop.ivdep.enable",
        false,
    ),
    (
        LoopControl::DependencyLength,
        "llvm.loop.ivdep.safelen",
        true,
    ),
    (
        LoopControl::MinIterations,
        "llvm.loop.miniterations.count",
        true,
    ),
    (
        LoopControl::MaxIterations,
        "llvm.loop.maxiterations.count",
        true,
    ),
    (
        LoopControl::IterationMultiple,
        "llvm.loop.iterationmultiple.count",
        true,
    ),
    (LoopControl::PeelCount, "llvm.loop.peel.count", true),
    (LoopControl::PartialCount, "llvm.loop.unroll.count", true),
];

impl<'s> FunctionLifter<'_, 's> {
    fn push_terminator(
        &mut self,
        opcode: LlvmOpcode,
        operands: &[LlvmValue],
        blocks: &[LlvmBlock],
    ) {
        let extra = self.push_targets(blocks);
        self.push_with(opcode, LlvmInstFlags::NONE, LlvmType::VOID, operands, extra);
    }

    /// `OpPhi`
    pub(super) fn lift_phi(&mut self, source: &LiftSource<'s>) -> LlvmResult<Option<LlvmValue>> {
        self.push_phi(source).map(Some)
    }

    /// `OpBranch`
    pub(super) fn lift_branch(&mut self, source: &LiftSource<'s>) -> LlvmResult<Option<LlvmValue>> {
        let target = self.find_block(source.read_id(0)?)?;
        self.push_terminator(LlvmOpcode::Br, &[], &[target]);
        Ok(None)
    }

    /// `OpBranchConditional`; weights become `!prof`.
    pub(super) fn lift_conditional_branch(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LlvmResult<Option<LlvmValue>> {
        let condition = self.operand_value(source, 0)?;
        let targets = [
            self.find_block(source.read_id(1)?)?,
            self.find_block(source.read_id(2)?)?,
        ];
        self.push_terminator(LlvmOpcode::Br, &[condition], &targets);
        if let [_, _, _, yes, no] = source.operands[..] {
            let name = self.l.md_text("branch_weights");
            let parts = [name, self.l.md_number(yes), self.l.md_number(no)];
            let node = self.l.md_node(&parts);
            let inst = self.last_instruction();
            self.attach_to_instruction(inst, "prof", node);
        }
        Ok(None)
    }

    /// `OpSwitch`
    pub(super) fn lift_switch(&mut self, source: &LiftSource<'s>) -> LlvmResult<Option<LlvmValue>> {
        let selector = self.operand_value(source, 0)?;
        let ty = self.type_of(selector);
        let Some(width) = self.l.out.types.int_width(ty) else {
            return Err(make_refusal("its selector is not an integer"));
        };
        let words = width.div_ceil(32) as usize;
        let mut operands = vec![selector];
        let mut targets = vec![self.find_block(source.read_id(1)?)?];
        for case in source.operands[2..].chunks_exact(words + 1) {
            let (literal, label) = case.split_at(words);
            let label = Id::new(label[0]).ok_or("a label has the id 0")?;
            operands.push(LlvmValue::from_constant(
                self.l.lift_scalar_constant(ty, literal)?,
            ));
            targets.push(self.find_block(label)?);
        }
        self.push_terminator(LlvmOpcode::Switch, &operands, &targets);
        Ok(None)
    }

    /// `OpReturn` and `OpReturnValue`
    pub(super) fn lift_return(&mut self, source: &LiftSource<'s>) -> LlvmResult<Option<LlvmValue>> {
        let values = self.operand_values(source, 0)?;
        self.push_instruction(LlvmOpcode::Ret, LlvmType::VOID, &values);
        Ok(None)
    }

    /// `OpUnreachable`
    pub(super) fn lift_unreachable(&mut self, _: &LiftSource<'s>) -> LlvmResult<Option<LlvmValue>> {
        self.push_instruction(LlvmOpcode::Unreachable, LlvmType::VOID, &[]);
        Ok(None)
    }

    /// The loop metadata of an `OpLoopMerge`: a list whose first operand is itself, as LLVM
    /// requires.
    pub(super) fn lift_loop_merge(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LlvmResult<Option<LlvmValue>> {
        let control = source.read_word(2)?;
        let mut numbers = source.operands[3..].iter();
        let mut rows = Vec::new();
        for (_, name, counted) in LOOPS.iter().filter(|row| control & row.0.0 != 0) {
            let mut row = vec![self.l.md_text(name)];
            if *counted && let Some(number) = numbers.next() {
                row.push(self.l.md_number(*number));
            }
            rows.push(self.l.md_node(&row));
        }
        if !rows.is_empty() {
            let node = self.self_referring(rows);
            self.loops.push((self.current_block(), node));
        }
        Ok(None)
    }

    fn self_referring(&mut self, rows: Vec<LlvmMetadata>) -> LlvmMetadata {
        let metadata = &mut self.l.out.metadata;
        let node = metadata.push(MetadataKind::ArgList(Default::default()));
        let mut all = vec![Some(node)];
        all.extend(rows.into_iter().map(Some));
        let operands = metadata.push_operands(&all);
        let distinct = true;
        metadata.replace_metadata(node, MetadataKind::Node { distinct, operands });
        node
    }

    /// `OpFunctionCall`
    pub(super) fn lift_function_call(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LlvmResult<Option<LlvmValue>> {
        let callee = source.read_id(0)?;
        let func = self.l.functions[callee]
            .ok_or_else(|| make_refusal(format!("{callee} is not a function")))?;
        let args = self.operand_values(source, 1)?;
        let value = self.push_call(func, LlvmInstFlags::NONE, &args);
        Ok((self.type_of(value) != LlvmType::VOID).then_some(value))
    }

    /// `OpFunctionPointerCallINTEL`
    pub(super) fn lift_pointer_call(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LlvmResult<Option<LlvmValue>> {
        let callee = source.read_id(0)?;
        let pointee = self.l.find_pointee(self.l.type_of(callee)?)?;
        let ty = self.l.find_type(pointee)?;
        let address = self.l.find_value(callee)?;
        let args = self.operand_values(source, 1)?;
        let convention = CallingConvention::SPIR_FUNC;
        let value = self.call_address(address, ty, convention, LlvmInstFlags::NONE, &args);
        Ok((self.type_of(value) != LlvmType::VOID).then_some(value))
    }
}
