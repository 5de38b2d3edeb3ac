//! Evidence gathering and voting: the inference itself.

use super::votes::{self, PointeeCandidates, gep_element};
use crate::ir::{
    AttrKind, GlobalKind, InstructionExtra, LlvmFunc, LlvmFunction, LlvmInst, LlvmModule,
    LlvmOpcode, LlvmType, LlvmTypeKind, LlvmValue, ValueKind,
};
use spirula_entity::UnionFind;

/// Known pointees of functions without a body, and of parameters whose values come from outside the
/// module.
pub trait PointeeHints {
    /// The pointee of argument `index` of `callee`, a declaration.
    fn argument_pointee(&self, callee: LlvmFunc, index: usize) -> Option<LlvmType>;

    /// The pointee of parameter `index` of `func`, for parameters whose uses give no evidence.
    fn parameter_pointee(&self, func: LlvmFunc, index: usize) -> Option<LlvmType>;
}

/// Hints that are always empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHints;

impl PointeeHints for NoHints {
    fn argument_pointee(&self, _: LlvmFunc, _: usize) -> Option<LlvmType> {
        None
    }

    fn parameter_pointee(&self, _: LlvmFunc, _: usize) -> Option<LlvmType> {
        None
    }
}

/// The inferred pointee types of a module.
#[derive(Clone, Debug)]
pub struct InferredPointees {
    /// The first slot of each function: one slot for each local, then one for the result.
    first: Vec<u32>,
    types: Vec<Option<LlvmType>>,
}

impl InferredPointees {
    /// Infers the pointees of all pointers of a module.
    pub fn infer_pointees(module: &LlvmModule, hints: &dyn PointeeHints) -> InferredPointees {
        let mut first = Vec::with_capacity(module.functions.len());
        let mut count = 0;
        for function in &module.functions {
            first.push(count as u32);
            count += function.local_count() + 1;
        }
        let mut inference = PointeeInference {
            module,
            hints,
            classes: UnionFind::new(count),
            candidates: PointeeCandidates::new(module),
            votes: Vec::new(),
            first,
        };
        for func in module.function_ids() {
            inference.infer_function(func);
        }
        inference.count_votes()
    }

    /// The pointee of a local, or `None` if it is not a pointer or has no evidence.
    pub fn local_pointee(&self, func: LlvmFunc, local: usize) -> Option<LlvmType> {
        self.types[self.first[func.index()] as usize + local]
    }

    /// The pointee of a function's result.
    pub fn result_pointee(&self, module: &LlvmModule, func: LlvmFunc) -> Option<LlvmType> {
        self.local_pointee(func, module.function(func).local_count())
    }
}

/// One vote for a type. Votes are sorted by class, then by type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PointeeVote {
    /// The slot voted for; before counting, it is replaced by the root of its class.
    slot: u32,
    ty: LlvmType,
    /// Number of earlier votes.
    order: u32,
    weight: u32,
}

struct PointeeInference<'a> {
    module: &'a LlvmModule,
    hints: &'a dyn PointeeHints,
    classes: UnionFind,
    candidates: PointeeCandidates,
    votes: Vec<PointeeVote>,
    first: Vec<u32>,
}

impl PointeeInference<'_> {
    fn slot_of(&self, func: LlvmFunc, local: usize) -> u32 {
        self.first[func.index()] + local as u32
    }

    fn result_slot(&self, func: LlvmFunc) -> u32 {
        self.slot_of(func, self.module.function(func).local_count())
    }

    fn cast_vote(&mut self, slot: u32, ty: LlvmType, weight: u32) {
        if let Some(ty) = self.candidates.find_candidate(self.module, ty) {
            self.votes.push(PointeeVote {
                slot,
                ty,
                order: self.votes.len() as u32,
                weight,
            });
        }
    }

    /// Votes for the pointee of a value, if it is a local.
    fn vote_value(&mut self, func: LlvmFunc, value: LlvmValue, ty: LlvmType, weight: u32) {
        if let Some(local) = value.as_local() {
            self.cast_vote(self.slot_of(func, local), ty, weight);
        }
    }

    /// Joins a slot with a value: with the class of a local, or with a vote for the type of a
    /// global.
    fn join_value(&mut self, slot: u32, func: LlvmFunc, value: LlvmValue) {
        match value.kind() {
            ValueKind::Local(local) => self.classes.join_sets(slot, self.slot_of(func, local)),
            ValueKind::Const(constant) => {
                if let Some(global) = self.module.as_global(constant) {
                    let global = self.module.global(global);
                    if matches!(global.kind, GlobalKind::Variable(_)) {
                        self.cast_vote(slot, global.value_type, votes::GLOBAL);
                    }
                }
            }
            ValueKind::Metadata(_) => {}
        }
    }

    fn is_pointer(&self, ty: LlvmType) -> bool {
        matches!(self.module.types.kind(ty), LlvmTypeKind::Pointer { .. })
    }

    fn vote_for_declared(&mut self, slot: u32, ty: LlvmType) {
        if let LlvmTypeKind::Pointer {
            pointee: Some(pointee),
            ..
        } = *self.module.types.kind(ty)
        {
            let weight = if pointee == LlvmType::I8 {
                votes::BYTES
            } else {
                votes::DECLARED
            };
            self.cast_vote(slot, pointee, weight);
        }
    }

    fn infer_function(&mut self, func: LlvmFunc) {
        let function = self.module.function(func);
        for (index, &ty) in function.params.iter().enumerate() {
            if self.is_pointer(ty) {
                self.infer_parameter(func, function, index, ty);
            }
        }
        for index in 0..function.insts.len() {
            let inst = LlvmInst::new(index);
            let ty = function.insts[index].ty;
            if self.is_pointer(ty) {
                self.vote_for_declared(self.slot_of(func, function.params.len() + index), ty);
            }
            self.infer_instruction(func, function, inst);
        }
    }

    fn infer_parameter(
        &mut self,
        func: LlvmFunc,
        function: &LlvmFunction,
        index: usize,
        ty: LlvmType,
    ) {
        let slot = self.slot_of(func, index);
        self.vote_for_declared(slot, ty);
        let attributes = &self.module.attributes;
        let set = attributes.param_set(function.attributes, index);
        let kinds = [
            AttrKind::ByVal,
            AttrKind::StructRet,
            AttrKind::ByRef,
            AttrKind::ElementType,
        ];
        for kind in kinds {
            if let Some(ty) = attributes.type_of(set, kind) {
                self.cast_vote(slot, ty, votes::ATTRIBUTE);
            }
        }
        if let Some(ty) = self.hints.parameter_pointee(func, index) {
            self.cast_vote(slot, ty, votes::BYTES);
        }
    }

    fn infer_instruction(&mut self, func: LlvmFunc, function: &LlvmFunction, inst: LlvmInst) {
        let operands = function.operands(inst);
        let data = function.inst(inst);
        let slot = self.slot_of(func, function.params.len() + inst.index());
        match data.opcode {
            LlvmOpcode::Alloca => {
                if let InstructionExtra::Alloca { ty, .. } = data.extra {
                    self.cast_vote(slot, ty, votes::ALLOCATION);
                }
            }
            LlvmOpcode::Load => self.vote_value(func, operands[0], data.ty, votes::ACCESS),
            LlvmOpcode::Store => {
                let ty = function.type_of(self.module, operands[0]);
                self.vote_value(func, operands[1], ty, votes::ACCESS);
            }
            LlvmOpcode::AtomicRmw | LlvmOpcode::CmpXchg => {
                let ty = function.type_of(self.module, operands[1]);
                self.vote_value(func, operands[0], ty, votes::ACCESS);
            }
            LlvmOpcode::GetElementPtr => {
                if let InstructionExtra::SourceType(source) = data.extra {
                    self.vote_value(func, operands[0], source, walked_vote_weight(source));
                }
                if let Some(end) = gep_element(self.module, function, inst) {
                    let weight = walked_vote_weight(end).min(votes::REACHED);
                    self.cast_vote(slot, end, weight);
                }
            }
            LlvmOpcode::Phi if self.is_pointer(data.ty) => {
                for &value in operands {
                    self.join_value(slot, func, value);
                }
            }
            LlvmOpcode::Select if self.is_pointer(data.ty) => {
                self.join_value(slot, func, operands[1]);
                self.join_value(slot, func, operands[2]);
            }
            LlvmOpcode::Freeze if self.is_pointer(data.ty) => {
                self.join_value(slot, func, operands[0])
            }
            LlvmOpcode::BitCast | LlvmOpcode::AddrSpaceCast if self.is_pointer(data.ty) => {
                let from = function.type_of(self.module, operands[0]);
                if self.declared_pointee(from) == self.declared_pointee(data.ty) {
                    self.join_value(slot, func, operands[0]);
                }
            }
            LlvmOpcode::Ret => {
                if let Some(&value) = operands.first()
                    && self.is_pointer(function.type_of(self.module, value))
                {
                    self.join_value(self.result_slot(func), func, value);
                }
            }
            LlvmOpcode::Call => self.infer_call(func, function, inst, slot),
            _ => {}
        }
    }

    fn declared_pointee(&self, ty: LlvmType) -> Option<LlvmType> {
        match *self.module.types.kind(ty) {
            LlvmTypeKind::Pointer { pointee, .. } => pointee,
            _ => None,
        }
    }

    fn infer_call(&mut self, func: LlvmFunc, function: &LlvmFunction, inst: LlvmInst, slot: u32) {
        let Some(callee) = function
            .callee(inst)
            .and_then(|value| self.module.as_function(value))
        else {
            return;
        };
        let target = self.module.function(callee);
        let arguments = function.arguments(inst);
        let is_pointer_result = self.is_pointer(function.inst(inst).ty);
        if self.module.function_name(callee).starts_with("llvm.") {
            // Intrinsics that return a pointer return their pointer argument, with one exception.
            let name = self.module.function_name(callee);
            let same = is_pointer_result && !name.starts_with("llvm.load.relative");
            if same
                && let Some(&first) = arguments.first()
                && self.is_pointer(function.type_of(self.module, first))
            {
                self.join_value(slot, func, first);
            }
            return;
        }
        for (index, &value) in arguments.iter().enumerate() {
            if !self.is_pointer(function.type_of(self.module, value)) {
                continue;
            }
            if let Some(ty) = self.hints.argument_pointee(callee, index) {
                self.vote_value(func, value, ty, votes::CALLEE);
            } else if index < target.params.len() {
                self.join_value(self.slot_of(callee, index), func, value);
            }
        }
        if is_pointer_result {
            self.classes.join_sets(slot, self.result_slot(callee));
        }
    }

    /// Sorts the votes by class, in linear time. Most classes have few votes.
    fn sort_votes(&mut self, slots: usize) {
        let mut begins = vec![0u32; slots + 1];
        for vote in &mut self.votes {
            vote.slot = self.classes.find_root(vote.slot);
            begins[vote.slot as usize + 1] += 1;
        }
        for slot in 0..slots {
            begins[slot + 1] += begins[slot];
        }
        let mut sorted = self.votes.clone();
        for vote in &self.votes {
            let place = &mut begins[vote.slot as usize];
            sorted[*place as usize] = *vote;
            *place += 1;
        }
        for class in sorted.chunk_by_mut(|a, b| a.slot == b.slot) {
            class.sort_unstable();
        }
        self.votes = sorted;
    }

    /// Counts the votes of each class.
    fn count_votes(mut self) -> InferredPointees {
        let slots = self.first.last().map_or(0, |first| {
            let last = self.module.functions.last();
            *first as usize + last.map_or(0, |f| f.local_count()) + 1
        });
        self.sort_votes(slots);
        let mut elected: Vec<Option<LlvmType>> = vec![None; slots];
        let mut best: Option<(u32, u32, u32)> = None;
        for group in (self.votes).chunk_by(|a, b| (a.slot, a.ty) == (b.slot, b.ty)) {
            let PointeeVote {
                slot: class,
                ty,
                order,
                ..
            } = group[0];
            let sum = |sum: u32, vote: &PointeeVote| sum.saturating_add(vote.weight);
            let weight = group.iter().fold(0, sum);
            let rival = best.filter(|(at, ..)| *at == class);
            if rival.is_none_or(|(_, w, o)| {
                (weight, std::cmp::Reverse(order)) > (w, std::cmp::Reverse(o))
            }) {
                best = Some((class, weight, order));
                elected[class as usize] = Some(ty);
            }
        }
        let types = (0..slots as u32)
            .map(|slot| elected[self.classes.find_root(slot) as usize])
            .collect();
        InferredPointees {
            first: self.first,
            types,
        }
    }
}

fn walked_vote_weight(ty: LlvmType) -> u32 {
    if ty == LlvmType::I8 {
        votes::BYTES
    } else {
        votes::WALKED
    }
}
