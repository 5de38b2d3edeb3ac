//! Functions and basic blocks.

use super::{
    AttrList, CallInfo, CallingConvention, InstructionExtra, LlvmBlock, LlvmConst, LlvmGlobal,
    LlvmInst, LlvmInstruction, LlvmLocations, LlvmMetadata, LlvmPoolRange, LlvmSymbol, LlvmType,
    LlvmValue,
};
use spirula_diagnostics::SourceLocation;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A function, declared (no blocks) or defined.
#[derive(Clone, Debug)]
pub struct LlvmFunction {
    /// The global that names it.
    pub global: LlvmGlobal,
    /// Its function type.
    pub ty: LlvmType,
    /// Calling convention.
    pub convention: CallingConvention,
    /// Attributes of the function, its result and its parameters.
    pub attributes: AttrList,
    /// Types of its parameters; also the first locals.
    pub params: Vec<LlvmType>,
    /// Name of the garbage collector; empty if none.
    pub gc: LlvmSymbol,
    /// Personality function for exceptions.
    pub personality: Option<LlvmConst>,
    /// Data before the entry point.
    pub prefix: Option<LlvmConst>,
    /// Data at the entry point.
    pub prologue: Option<LlvmConst>,
    /// Blocks in order; the first is the entry.
    pub blocks: Vec<LlvmBlockData>,
    /// Instructions in order.
    pub insts: Vec<LlvmInstruction>,
    /// Source location of each instruction.
    pub places: LlvmLocations,
    /// Name of each local, parameters first; empty if unnamed. Locals past the end have none.
    pub names: Vec<LlvmSymbol>,
    /// Attributes, bundles and other properties of calls; see [`InstructionExtra::Call`].
    pub calls: Vec<CallInfo>,
    /// Metadata attached to instructions, in the order of the instructions.
    pub attachments: Vec<MetadataAttachment>,
    /// Debug records, in the order of the instructions that they precede.
    pub debug_records: Vec<DebugRecord>,
    /// Pool of instruction operands.
    pub value_pool: Vec<LlvmValue>,
    /// Pool of successors, and of the incoming blocks of phis.
    pub block_pool: Vec<LlvmBlock>,
    /// Pool of shuffle masks and aggregate indices.
    pub number_pool: Vec<u32>,
}

/// A basic block.
#[derive(Clone, Copy, Debug)]
pub struct LlvmBlockData {
    /// Its name; empty if unnamed.
    pub name: LlvmSymbol,
    /// Its instructions: at least one, and the last is the terminator.
    pub insts: LlvmPoolRange,
}

/// Metadata attached to an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetadataAttachment {
    /// The instruction.
    pub inst: LlvmInst,
    /// Kind, such as `dbg` or `tbaa`.
    pub kind: LlvmSymbol,
    /// The node.
    pub node: LlvmMetadata,
}

/// A debug record, such as `#dbg_value(...)`.
#[derive(Clone, Debug)]
pub struct DebugRecord {
    /// The instruction that it precedes.
    pub before: LlvmInst,
    /// The kind of record.
    pub kind: DebugRecordKind,
    /// Its arguments in the order of LLVM assembly; the debug location is last.
    pub arguments: Vec<Option<LlvmMetadata>>,
}

/// The kind of a debug record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DebugRecordKind {
    /// From here on, a variable has this value.
    Value,
    /// A variable is in memory at this address.
    Declare,
    /// A store to a variable.
    Assign,
    /// A label.
    Label,
    /// A variable is in memory at an address that is computed from a value (LLVM 21).
    DeclareValue,
}

impl LlvmFunction {
    /// A declaration without attributes.
    pub fn new(global: LlvmGlobal, ty: LlvmType, params: Vec<LlvmType>) -> Self {
        LlvmFunction {
            global,
            ty,
            convention: CallingConvention::C,
            attributes: AttrList::EMPTY,
            params,
            gc: LlvmSymbol::EMPTY,
            personality: None,
            prefix: None,
            prologue: None,
            blocks: Vec::new(),
            insts: Vec::new(),
            places: LlvmLocations::default(),
            names: Vec::new(),
            calls: Vec::new(),
            attachments: Vec::new(),
            debug_records: Vec::new(),
            value_pool: Vec::new(),
            block_pool: Vec::new(),
            number_pool: Vec::new(),
        }
    }

    /// Copies the body into memory of exact size. `room` gets the memory in which the body was
    /// read, for the next body.
    pub(crate) fn compact_body(&mut self, room: &mut LlvmFunction) {
        fn take_exact_pool<T: Copy>(pool: &mut Vec<T>) -> Vec<T> {
            let copy = pool.as_slice().to_vec();
            pool.clear();
            copy
        }
        self.swap_body(room);
        self.blocks = take_exact_pool(&mut room.blocks);
        self.insts = take_exact_pool(&mut room.insts);
        self.places = room.places.take_exact();
        self.calls = room.calls.drain(..).collect();
        self.attachments = take_exact_pool(&mut room.attachments);
        self.debug_records = room.debug_records.drain(..).collect();
        self.value_pool = take_exact_pool(&mut room.value_pool);
        self.block_pool = take_exact_pool(&mut room.block_pool);
        self.number_pool = take_exact_pool(&mut room.number_pool);
    }

    /// Exchanges the bodies of two functions.
    pub(crate) fn swap_body(&mut self, other: &mut LlvmFunction) {
        use std::mem::swap;
        swap(&mut self.blocks, &mut other.blocks);
        swap(&mut self.insts, &mut other.insts);
        swap(&mut self.places, &mut other.places);
        swap(&mut self.calls, &mut other.calls);
        swap(&mut self.attachments, &mut other.attachments);
        swap(&mut self.debug_records, &mut other.debug_records);
        swap(&mut self.value_pool, &mut other.value_pool);
        swap(&mut self.block_pool, &mut other.block_pool);
        swap(&mut self.number_pool, &mut other.number_pool);
    }

    /// Whether it has no body.
    pub fn is_declaration(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Number of locals: parameters and instructions.
    pub fn local_count(&self) -> usize {
        self.params.len() + self.insts.len()
    }

    /// The value of parameter `index`.
    pub fn param_value(&self, index: usize) -> LlvmValue {
        LlvmValue::from_local(index)
    }

    /// The instruction that defines a local; `None` for a parameter.
    pub fn inst_of(&self, local: usize) -> Option<LlvmInst> {
        local.checked_sub(self.params.len()).map(LlvmInst::new)
    }

    /// The value that an instruction defines.
    pub fn result_value(&self, inst: LlvmInst) -> LlvmValue {
        LlvmValue::from_local(self.params.len() + inst.index())
    }

    /// An instruction.
    pub fn inst(&self, inst: LlvmInst) -> &LlvmInstruction {
        &self.insts[inst.index()]
    }

    /// The source location of an instruction.
    pub fn inst_place(&self, inst: LlvmInst) -> SourceLocation {
        self.places.get(inst.index())
    }

    /// All blocks in order.
    pub fn block_ids(&self) -> impl DoubleEndedIterator<Item = LlvmBlock> + use<> {
        (0..self.blocks.len()).map(LlvmBlock::new)
    }

    /// The instructions of a block in order.
    pub fn block_insts(
        &self,
        block: LlvmBlock,
    ) -> impl DoubleEndedIterator<Item = LlvmInst> + use<> {
        self.blocks[block.index()]
            .insts
            .to_range()
            .map(LlvmInst::new)
    }

    /// The last instruction of a block.
    pub fn terminator(&self, block: LlvmBlock) -> LlvmInst {
        LlvmInst::new(self.blocks[block.index()].insts.to_range().end - 1)
    }

    /// Adds operands to the pool.
    pub(crate) fn add_operands(&mut self, operands: &[LlvmValue]) -> LlvmPoolRange {
        let start = self.value_pool.len();
        self.value_pool.extend_from_slice(operands);
        LlvmPoolRange::from_start(start, &self.value_pool)
    }

    /// Operands of an instruction; [`LlvmInstruction`] has their order for each opcode.
    pub fn operands(&self, inst: LlvmInst) -> &[LlvmValue] {
        &self.value_pool[self.inst(inst).operands.to_range()]
    }

    /// Successors of a terminator, or the incoming blocks of a phi; empty for other instructions.
    pub fn blocks_of(&self, inst: LlvmInst) -> &[LlvmBlock] {
        match self.inst(inst).extra {
            InstructionExtra::Blocks(span) => &self.block_pool[span.to_range()],
            InstructionExtra::Call(call) => {
                &self.block_pool[self.calls[call as usize].targets.to_range()]
            }
            _ => &[],
        }
    }

    /// Successors of a block.
    pub fn successors(&self, block: LlvmBlock) -> &[LlvmBlock] {
        self.blocks_of(self.terminator(block))
    }

    /// The reachable blocks in reverse post-order: each block comes before those that it dominates,
    /// and a loop's header before the rest of the loop.
    pub fn reverse_post_order(&self) -> Vec<LlvmBlock> {
        let Some(entry) = self.block_ids().next() else {
            return Vec::new();
        };
        let mut seen = vec![false; self.blocks.len()];
        let mut order = Vec::with_capacity(self.blocks.len());
        let mut stack = vec![(entry, self.successors(entry).len())];
        seen[entry.index()] = true;
        while let Some((block, left)) = stack.last_mut() {
            if *left == 0 {
                order.push(*block);
                stack.pop();
                continue;
            }
            *left -= 1;
            let next = self.successors(*block)[*left];
            if !std::mem::replace(&mut seen[next.index()], true) {
                stack.push((next, self.successors(next).len()));
            }
        }
        order.reverse();
        order
    }

    /// The reachable blocks in an order close to that of the module. Each block except the first
    /// comes after one of its predecessors, and so after all blocks that dominate it.
    pub fn compute_block_layout(&self) -> Vec<LlvmBlock> {
        let mut ready: BinaryHeap<Reverse<usize>> = BinaryHeap::new();
        let mut seen = vec![false; self.blocks.len()];
        let mut order = Vec::with_capacity(self.blocks.len());
        if let Some(entry) = seen.first_mut() {
            *entry = true;
            ready.push(Reverse(0));
        }
        while let Some(Reverse(index)) = ready.pop() {
            let block = LlvmBlock::new(index);
            order.push(block);
            for next in self.successors(block) {
                if !std::mem::replace(&mut seen[next.index()], true) {
                    ready.push(Reverse(next.index()));
                }
            }
        }
        order
    }

    /// Shuffle mask or aggregate indices of an instruction; empty otherwise.
    pub fn numbers_of(&self, inst: LlvmInst) -> &[u32] {
        match self.inst(inst).extra {
            InstructionExtra::Mask(span) | InstructionExtra::Indices(span) => {
                &self.number_pool[span.to_range()]
            }
            _ => &[],
        }
    }

    /// The properties of a call; `None` for other instructions.
    pub fn call_info(&self, inst: LlvmInst) -> Option<&CallInfo> {
        match self.inst(inst).extra {
            InstructionExtra::Call(call) => Some(&self.calls[call as usize]),
            _ => None,
        }
    }

    /// Callee of a call.
    pub fn callee(&self, inst: LlvmInst) -> Option<LlvmValue> {
        self.call_info(inst)
            .and_then(|_| self.operands(inst).first().copied())
    }

    /// Arguments of a call, without the callee and the bundles.
    pub fn arguments(&self, inst: LlvmInst) -> &[LlvmValue] {
        match self.call_info(inst) {
            Some(call) => &self.operands(inst)[1..=call.arguments as usize],
            None => &[],
        }
    }

    /// Metadata attached to an instruction.
    pub fn attachments(&self, inst: LlvmInst) -> &[MetadataAttachment] {
        let from = self
            .attachments
            .partition_point(|attachment| attachment.inst < inst);
        let len = self.attachments[from..].partition_point(|attachment| attachment.inst == inst);
        &self.attachments[from..from + len]
    }

    /// The metadata of one kind attached to an instruction.
    pub fn find_attachment(&self, inst: LlvmInst, kind: LlvmSymbol) -> Option<LlvmMetadata> {
        self.attachments(inst)
            .iter()
            .find(|a| a.kind == kind)
            .map(|a| a.node)
    }

    /// Name of a local; empty if unnamed.
    pub fn local_name(&self, local: usize) -> LlvmSymbol {
        self.names.get(local).copied().unwrap_or(LlvmSymbol::EMPTY)
    }

    /// Type of a local.
    pub fn local_type(&self, local: usize) -> LlvmType {
        match local.checked_sub(self.params.len()) {
            Some(inst) => self.insts[inst].ty,
            None => self.params[local],
        }
    }
}
