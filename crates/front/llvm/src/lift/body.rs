//! Function body lifting: blocks, phis, values and their names.

use super::instruction_table;
use super::lifted_entities::LiftedFunctionLines;
use super::lifter::SpirvLifter;
use super::lifter::make_unique_name;
use crate::ir::{
    AttrList, CallInfo, CallingConvention, InstructionExtra, LlvmBlock, LlvmBlockData, LlvmFunc,
    LlvmFunction, LlvmInst, LlvmInstFlags, LlvmInstruction, LlvmMetadata, LlvmOpcode,
    LlvmPoolRange, LlvmSymbol, LlvmType, LlvmValue, MetadataAttachment,
};
use crate::{LlvmResult, make_refusal};
use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceLocation;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;
use spirula_spirv::{Id, ir as spirv};

/// An instruction to be lifted: one of a block, or the operation of a specialisation constant.
#[derive(Clone, Copy, Debug)]
pub(super) struct LiftSource<'s> {
    pub(super) op: Op,
    pub(super) ty: Option<Id>,
    pub(super) result: Option<Id>,
    /// The operand words after result type and result.
    pub(super) operands: &'s [u32],
    pub(super) place: SourceLocation,
}

impl<'s> LiftSource<'s> {
    fn from_instruction(inst: InstRef<'s>) -> Self {
        LiftSource {
            op: inst.op(),
            ty: inst.result_type(),
            result: inst.result(),
            operands: inst.operands(),
            place: inst.place(),
        }
    }

    /// The operation of an `OpSpecConstantOp`.
    fn of_constant(inst: InstRef<'s>) -> Self {
        LiftSource {
            op: Op(inst.operand_word(0) as u16),
            operands: &inst.operands()[1..],
            ..LiftSource::from_instruction(inst)
        }
    }

    /// Word `n` of the operands.
    pub(super) fn read_word(&self, n: usize) -> LlvmResult<u32> {
        let word = self.operands.get(n).copied();
        word.ok_or_else(|| make_refusal("an operand is missing"))
    }

    /// Operand `n` as an id.
    pub(super) fn read_id(&self, n: usize) -> LlvmResult<Id> {
        Id::new(self.read_word(n)?).ok_or_else(|| make_refusal("an operand has the id 0"))
    }

    /// The operands from `n` on as ids.
    pub(super) fn iter_ids(&self, n: usize) -> impl Iterator<Item = Id> + 's {
        let words = self.operands.get(n..).unwrap_or(&[]);
        words.iter().filter_map(|word| Id::new(*word))
    }

    /// The type of the result.
    pub(super) fn result_type(&self) -> LlvmResult<Id> {
        self.ty.ok_or_else(|| make_refusal("it has no result type"))
    }
}

/// The state of lifting one function body.
pub(super) struct FunctionLifter<'l, 's> {
    pub(super) l: &'l mut SpirvLifter<'s>,
    pub(super) function: LlvmFunction,
    /// The source location of the current instruction.
    place: SourceLocation,
    /// The block being lifted.
    current: LlvmBlock,
    /// Names in use, with the number of requests for each.
    used_names: FxHashMap<LlvmSymbol, u32>,
    /// Phis, with the ids of their values and incoming blocks.
    phis: Vec<(LlvmInst, &'s [u32])>,
    /// Headers of loops, with the loop's metadata.
    pub(super) loops: Vec<(LlvmBlock, LlvmMetadata)>,
    /// Places in the source.
    pub(super) lines: LiftedFunctionLines,
    /// Ids that have a value in this function only.
    defined: Vec<Id>,
}

impl<'s> SpirvLifter<'s> {
    /// Lifts a function.
    pub(super) fn lift_function(&mut self, func: spirv::Func) {
        let source = self.source;
        let id = source.function_id(func);
        let Some(made) = self.functions[id] else {
            return;
        };
        let function = self.out.functions[made.index()].clone();
        if !function.blocks.is_empty() {
            let why = format!("{id} is another function, too");
            return self.report_at(Op::Function, SourceLocation::Unknown, &why);
        }
        let mut body = FunctionLifter {
            l: self,
            function,
            place: SourceLocation::Unknown,
            current: LlvmBlock::new(0),
            used_names: FxHashMap::default(),
            phis: Vec::new(),
            loops: Vec::new(),
            lines: LiftedFunctionLines::default(),
            defined: Vec::new(),
        };
        body.lift_parameters(func);
        body.lift_blocks(func);
        let FunctionLifter {
            function, defined, ..
        } = body;
        // Values of one function are not visible in another.
        for id in defined {
            self.values.set(id, None);
        }
        for &block in &source.function(func).blocks {
            self.blocks.set(source.label(block), None);
        }
        self.out.functions[made.index()] = function;
    }
}

impl<'s> FunctionLifter<'_, 's> {
    fn lift_parameters(&mut self, func: spirv::Func) {
        let source = self.l.source;
        let params = source.list_insts(source.function(func).params);
        for (index, id) in params.filter_map(InstRef::result).enumerate() {
            let value = self.function.param_value(index);
            self.define_local(id, value);
        }
    }

    fn lift_blocks(&mut self, func: spirv::Func) {
        let source = self.l.source;
        let blocks = &source.function(func).blocks;
        for (index, &block) in blocks.iter().enumerate() {
            let label = source.label(block);
            self.l.blocks.set(label, Some(LlvmBlock::new(index)));
            let name = self.local_name(label);
            self.function.blocks.push(LlvmBlockData {
                name,
                insts: LlvmPoolRange::default(),
            });
        }
        let errors = self.l.diagnostics.len();
        for (index, &block) in blocks.iter().enumerate() {
            let start = self.function.insts.len();
            self.current = LlvmBlock::new(index);
            if index == 0 {
                self.declare_spec_constants(func);
            }
            for inst in source.body(block) {
                self.lift_instruction(LiftSource::from_instruction(inst));
            }
            self.function.blocks[index].insts =
                LlvmPoolRange::from_start(start, &self.function.insts);
            self.no_line();
        }
        // After a refusal, values are missing, so no further checks are possible.
        if self.l.diagnostics.len() == errors {
            self.finish_phis();
            self.finish_loops();
            self.finish_lines();
        }
        self.function.attachments.sort_by_key(|a| a.inst);
    }

    /// Creates the specialisation constants that this function uses, in their order.
    fn declare_spec_constants(&mut self, func: spirv::Func) {
        let source = self.l.source;
        if self.l.special.is_empty() {
            return;
        }
        let mut used = vec![false; self.l.special.len()];
        let special = std::mem::take(&mut self.l.special);
        let mut pending = Vec::new();
        let ids = &self.l.ids;
        let spec_constant_index = &self.l.spec_constant_index;
        for inst in source.function_insts(func) {
            ids.visit_uses(inst, |_, id| pending.extend(spec_constant_index[id]));
        }
        while let Some(at) = pending.pop() {
            if !std::mem::replace(&mut used[at], true) {
                ids.visit_uses(source.inst(special[at]), |_, id| {
                    pending.extend(spec_constant_index[id])
                });
            }
        }
        let used = special.iter().zip(used).filter(|row| row.1);
        for (&handle, _) in used {
            let inst = source.inst(handle);
            self.lift_instruction(match inst.op() {
                Op::SpecConstantOp => LiftSource::of_constant(inst),
                _ => LiftSource::from_instruction(inst),
            });
        }
        self.l.special = special;
    }

    /// Lifts one instruction, or reports why it cannot be lifted.
    fn lift_instruction(&mut self, source: LiftSource<'s>) {
        self.place = source.place;
        let first = self.function.insts.len();
        match instruction_table::lift_by_opcode(self, &source) {
            Ok(Some(value)) => {
                if let Some(id) = source.result {
                    let fresh = value.as_local() >= Some(self.function.params.len() + first);
                    if fresh {
                        self.define_local(id, value);
                        self.attach_decorations(id, value);
                    } else {
                        self.l.values.set(id, Some(value));
                        self.defined.push(id);
                    }
                }
            }
            Ok(None) => {}
            Err(why) => self.l.report_at(source.op, source.place, &why.to_string()),
        }
        self.attach_location_since(first);
    }

    /// Records the local that an id stands for, with its name.
    fn define_local(&mut self, id: Id, value: LlvmValue) {
        self.l.values.set(id, Some(value));
        self.defined.push(id);
        let name = self.local_name(id);
        let Some(local) = value.as_local().filter(|_| !name.is_empty()) else {
            return;
        };
        let names = &mut self.function.names;
        if names.len() <= local {
            names.resize(local + 1, LlvmSymbol::EMPTY);
        }
        names[local] = name;
    }

    fn local_name(&mut self, id: Id) -> LlvmSymbol {
        match self.l.names.get(self.l.source, id) {
            Some(name) => make_unique_name(&mut self.l.out.strings, &mut self.used_names, &name),
            None => LlvmSymbol::EMPTY,
        }
    }

    /// Attaches the decorations that LLVM has no words for.
    fn attach_decorations(&mut self, id: Id, value: LlvmValue) {
        if let Some(node) = self.l.decoration_node(id)
            && let Some(local) = value.as_local()
            && let Some(inst) = self.function.inst_of(local)
        {
            self.attach_to_instruction(inst, "spirv.Decorations", node);
        }
    }

    /// Attaches metadata to an instruction.
    pub(super) fn attach_to_instruction(&mut self, inst: LlvmInst, kind: &str, node: LlvmMetadata) {
        let kind = self.l.out.strings.intern_text(kind);
        self.function
            .attachments
            .push(MetadataAttachment { inst, kind, node });
    }

    /// Adds an instruction without extras.
    pub(super) fn push_instruction(
        &mut self,
        opcode: LlvmOpcode,
        ty: LlvmType,
        operands: &[LlvmValue],
    ) -> LlvmValue {
        self.push_with(
            opcode,
            LlvmInstFlags::NONE,
            ty,
            operands,
            InstructionExtra::None,
        )
    }

    /// Adds an instruction.
    pub(super) fn push_with(
        &mut self,
        opcode: LlvmOpcode,
        flags: LlvmInstFlags,
        ty: LlvmType,
        operands: &[LlvmValue],
        extra: InstructionExtra,
    ) -> LlvmValue {
        let start = self.function.value_pool.len();
        self.function.value_pool.extend_from_slice(operands);
        let operands = LlvmPoolRange::from_start(start, &self.function.value_pool);
        let inst = LlvmInst::new(self.function.insts.len());
        self.function.insts.push(LlvmInstruction {
            opcode,
            flags,
            ty,
            operands,
            extra,
        });
        self.function.places.push(self.place);
        self.function.result_value(inst)
    }

    /// The number of the last instruction.
    pub(super) fn last_instruction(&self) -> LlvmInst {
        LlvmInst::new(self.function.insts.len().saturating_sub(1))
    }

    /// Adds numbers for a shuffle or a path.
    pub(super) fn push_numbers(&mut self, numbers: &[u32]) -> LlvmPoolRange {
        let start = self.function.number_pool.len();
        self.function.number_pool.extend_from_slice(numbers);
        LlvmPoolRange::from_start(start, &self.function.number_pool)
    }

    /// The block being lifted.
    pub(super) fn current_block(&self) -> LlvmBlock {
        self.current
    }

    /// Adds successors.
    pub(super) fn push_targets(&mut self, blocks: &[LlvmBlock]) -> InstructionExtra {
        let start = self.function.block_pool.len();
        self.function.block_pool.extend_from_slice(blocks);
        InstructionExtra::Blocks(LlvmPoolRange::from_start(start, &self.function.block_pool))
    }

    /// The block of a label.
    pub(super) fn find_block(&self, label: Id) -> LlvmResult<LlvmBlock> {
        self.l.blocks[label].ok_or_else(|| make_refusal(format!("{label} is not a block")))
    }

    /// Adds a call of a function.
    pub(super) fn push_call(
        &mut self,
        func: LlvmFunc,
        flags: LlvmInstFlags,
        args: &[LlvmValue],
    ) -> LlvmValue {
        let function = self.l.out.function(func);
        let (ty, convention) = (function.ty, function.convention);
        let callee = self.l.function_address(func);
        self.call_address(callee, ty, convention, flags, args)
    }

    /// Adds a call of a function through its address.
    pub(super) fn call_address(
        &mut self,
        callee: LlvmValue,
        ty: LlvmType,
        convention: CallingConvention,
        flags: LlvmInstFlags,
        args: &[LlvmValue],
    ) -> LlvmValue {
        let result = self.l.out.types.function_signature(ty).map(|s| s.0);
        let info = CallInfo {
            function_type: ty,
            convention,
            attributes: AttrList::EMPTY,
            arguments: args.len() as u32,
            bundles: Vec::new(),
            targets: LlvmPoolRange::default(),
        };
        let mut operands = vec![callee];
        operands.extend_from_slice(args);
        let extra = InstructionExtra::Call(self.function.calls.len() as u32);
        self.function.calls.push(info);
        let result = result.unwrap_or(LlvmType::VOID);
        self.push_with(LlvmOpcode::Call, flags, result, &operands, extra)
    }

    /// Adds a phi. Its values follow once all blocks exist.
    pub(super) fn push_phi(&mut self, source: &LiftSource<'s>) -> LlvmResult<LlvmValue> {
        let ty = self.l.find_type(source.result_type()?)?;
        let value = self.push_instruction(LlvmOpcode::Phi, ty, &[]);
        self.phis.push((self.last_instruction(), source.operands));
        Ok(value)
    }

    /// Completes the phis. LLVM has one value per edge, SPIR-V one per block.
    fn finish_phis(&mut self) {
        let mut edges = vec![Vec::new(); self.function.blocks.len()];
        for block in self.function.block_ids() {
            for successor in self.function.successors(block) {
                edges[successor.index()].push(block);
            }
        }
        let mut of_block = vec![None; self.function.insts.len()];
        for block in self.function.block_ids() {
            for inst in self.function.block_insts(block) {
                of_block[inst.index()] = Some(block);
            }
        }
        // By block: the phi that received a value from it last, and that value.
        let mut given: Vec<Option<(LlvmInst, LlvmValue)>> = vec![None; self.function.blocks.len()];
        for (phi, words) in std::mem::take(&mut self.phis) {
            let place = self.function.inst_place(phi);
            for pair in words.chunks_exact(2) {
                let (value, label) = (Id::new(pair[0]), Id::new(pair[1]));
                let value = value.and_then(|id| self.l.values[id]);
                let block = label.and_then(|id| self.l.blocks[id]);
                if let (Some(value), Some(block)) = (value, block) {
                    given[block.index()] = Some((phi, value));
                }
            }
            let from = of_block[phi.index()].map_or(&[][..], |b| &edges[b.index()]);
            let given = |block: &LlvmBlock| given[block.index()].filter(|(of, _)| *of == phi);
            let values: Option<Vec<LlvmValue>> = from.iter().map(|b| Some(given(b)?.1)).collect();
            let Some(values) = values else {
                self.l
                    .report_at(Op::Phi, place, "it has no value for a predecessor");
                continue;
            };
            let start = self.function.value_pool.len();
            self.function.value_pool.extend(values);
            let operands = LlvmPoolRange::from_start(start, &self.function.value_pool);
            let extra = self.push_targets(from);
            let inst = &mut self.function.insts[phi.index()];
            (inst.operands, inst.extra) = (operands, extra);
        }
    }

    /// Attaches loop metadata to the branches back to the loop headers.
    fn finish_loops(&mut self) {
        if self.loops.is_empty() {
            return;
        }
        let mut hints = vec![None; self.function.blocks.len()];
        for (header, node) in std::mem::take(&mut self.loops) {
            hints[header.index()] = Some(node);
        }
        for block in self.function.block_ids() {
            let back = self.function.successors(block).iter();
            let mut back = back.filter(|header| **header <= block);
            if let Some(node) = back.find_map(|header| hints[header.index()]) {
                let latch = self.function.terminator(block);
                self.attach_to_instruction(latch, "llvm.loop", node);
            }
        }
    }
}
