//! Function body translation: blocks, phis, and access to values.

use super::debug_info::debug_state::{EmittedDebugLocation, FunctionDebugState};
use super::local_uses::LocalUses;
use super::loop_hints::{LoopHintContext, LoopHints, find_loop_hints};
use super::phis::PhiState;
use super::pointer_casts::RecentCasts;
use super::shapes::NumericShape;
use super::translated_entities::TranslatedSignature;
use super::translator::LlvmTranslator;
use super::words::TranslationWords;
use crate::ir::{
    ConstKind, LlvmBlock, LlvmFunc, LlvmFunction, LlvmInst, LlvmModule, LlvmOpcode, LlvmSymbol,
    LlvmType, LlvmTypeKind, LlvmValue, ValueKind,
};
use crate::{LlvmError, LlvmResult, make_refusal};
use smallvec::smallvec;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Decoration, StorageClass};
use spirula_spirv::ir as spirv;
use std::rc::Rc;

/// Operands beyond which an instruction would be too long.
pub(super) const MAX_OPERANDS: usize = 60_000;

/// The state of translating one function body.
pub(super) struct FunctionTranslator<'t, 'm> {
    pub(super) t: &'t mut LlvmTranslator<'m>,
    pub(super) func: LlvmFunc,
    pub(super) function: &'m LlvmFunction,
    pub(super) signature: Rc<TranslatedSignature>,
    values: Vec<Option<Id>>,
    labels: Vec<Option<Id>>,
    /// By instruction: whether it was refused, and even its type cannot be translated.
    refused: Vec<bool>,
    pub(super) phis: PhiState,
    /// Label of the block being written.
    current: Id,
    /// Loops with hints.
    pub(super) loops: Vec<LoopHints>,
    /// Pointer casts in the current block.
    pub(super) casts: RecentCasts,
    /// The kinds of metadata that instructions of the function have.
    pub(super) metadata_kinds: InstructionMetadataKinds,
    /// Debug information of this function.
    pub(super) debug: FunctionDebugState,
    /// The current lane, while a vector operation is scalarised.
    pub(super) at_lane: Option<u32>,
    /// Generic casts of variables that exist so far, with the variables, in ascending order.
    pub(super) generic_casts: Vec<(Id, Id)>,
    /// By local: the overflow flag that is kept besides its value. Empty until one exists.
    pub(super) flags: Vec<Option<Id>>,
    /// Properties of the uses of locals.
    pub(super) uses: LocalUses,
}

/// Kinds of metadata that instructions of a function carry.
pub(super) struct InstructionMetadataKinds {
    pub(super) nontemporal: Option<LlvmSymbol>,
    pub(super) decorations: Option<LlvmSymbol>,
    pub(super) cache_controls: Option<LlvmSymbol>,
}

impl InstructionMetadataKinds {
    fn new(module: &LlvmModule, function: &LlvmFunction) -> Self {
        let attached = |name: &str| {
            let kind = module.strings.find_symbol(name)?;
            let mut all = function.attachments.iter();
            all.any(|a| a.kind == kind).then_some(kind)
        };
        InstructionMetadataKinds {
            nontemporal: attached("nontemporal"),
            decorations: attached("spirv.Decorations"),
            cache_controls: attached("spirv.DecorationCacheControlINTEL"),
        }
    }
}

impl<'t, 'm> FunctionTranslator<'t, 'm> {
    pub(super) fn new(
        t: &'t mut LlvmTranslator<'m>,
        func: LlvmFunc,
        signature: Rc<TranslatedSignature>,
        params: &[Id],
    ) -> Self {
        let function = t.module.function(func);
        let mut values = vec![None; function.local_count()];
        for (value, param) in values.iter_mut().zip(params) {
            *value = Some(*param);
        }
        FunctionTranslator {
            func,
            function,
            current: signature.id,
            signature,
            values,
            labels: vec![None; function.blocks.len()],
            refused: vec![false; function.insts.len()],
            phis: PhiState::new(function.blocks.len()),
            loops: Vec::new(),
            casts: RecentCasts::default(),
            metadata_kinds: InstructionMetadataKinds::new(t.module, function),
            debug: FunctionDebugState {
                enabled: t.has_debug(),
                ..FunctionDebugState::default()
            },
            at_lane: None,
            generic_casts: Vec::new(),
            flags: Vec::new(),
            uses: LocalUses::default(),
            t,
        }
    }

    /// Translates all blocks that can be reached.
    pub(super) fn translate_body(mut self) {
        let order = self.function.compute_block_layout();
        self.loops = find_loop_hints(
            LoopHintContext {
                module: self.t.module,
                version: self.t.version,
                extensions: &self.t.options.extensions,
            },
            self.function,
        );
        for (index, &block) in order.iter().enumerate() {
            let label = self.label_of(block);
            self.begin_block(label);
            let name = self.function.blocks[block.index()].name;
            self.t.name_id(label, self.t.module.symbol_text(name));
            if index == 0 {
                self.make_stack_variables(&order);
                self.cast_generic_parameters();
                self.emit_function_definition();
            }
            for inst in self.function.block_insts(block) {
                self.translate_instruction(block, inst);
            }
            self.phis.exits[block.index()] = Some(self.current);
        }
        self.finish_phis();
    }

    /// Makes those pointer parameters generic that are joined with pointers to other memory.
    fn cast_generic_parameters(&mut self) {
        let (all, here) = (self.t.generic_params, self.func);
        for &(_, param) in all.iter().filter(|(func, _)| *func == here) {
            let cast = self.values[param].map(|id| self.cast_space(id, StorageClass::Generic));
            if let Some(Ok(id)) = cast {
                self.values[param] = Some(id);
            }
        }
    }

    fn translate_instruction(&mut self, block: LlvmBlock, inst: LlvmInst) {
        self.emit_debug_location(inst);
        let before = self.t.b.module().bound();
        let opcode = self.function.inst(inst).opcode;
        let made = match opcode {
            _ if self.is_too_long(inst) => {
                Err(make_refusal("an instruction with too many operands"))
            }
            LlvmOpcode::Phi => self.begin_phi(block, inst).map(Some),
            // Made at the beginning of the function.
            LlvmOpcode::Alloca | LlvmOpcode::Call
                if self.refused[inst.index()] || self.values[self.local_of(inst)].is_some() =>
            {
                return;
            }
            _ => {
                let before = self.apply_cache_controls(inst);
                let made = self.lower_instruction(inst);
                for (local, id) in before {
                    self.replace_translated(local, id);
                }
                made
            }
        };
        let settled = match made {
            Ok(Some(id)) => self.adapt_result(inst, id).map(Some),
            Ok(None) => Ok(None),
            Err(refusal) => Err(refusal),
        };
        match settled {
            Ok(Some(id)) => {
                self.set_result(inst, id);
                if id.word() >= before {
                    self.name_result(inst, id);
                    self.apply_instruction_decorations(inst, id);
                }
            }
            Ok(None) => {}
            Err(refusal) => {
                self.t
                    .report_refusal(self.func, self.function.inst_place(inst), &refusal);
                self.define_placeholder(inst, opcode);
            }
        }
    }

    /// Whether a local is missing because its instruction was refused.
    fn is_refused(&self, local: usize) -> bool {
        let inst = self.function.inst_of(local);
        inst.is_some_and(|inst| self.refused[inst.index()])
    }

    /// Whether an instruction has more operands than a SPIR-V instruction can have.
    fn is_too_long(&self, inst: LlvmInst) -> bool {
        let data = self.function.inst(inst);
        let phi = data.opcode == LlvmOpcode::Phi;
        let words = data.operands.len as usize + self.function.numbers_of(inst).len();
        !phi && data.opcode != LlvmOpcode::Switch && words > MAX_OPERANDS
    }

    /// Defines a placeholder for the result of a refused instruction, so that its users can be
    /// checked.
    pub(super) fn define_placeholder(&mut self, inst: LlvmInst, opcode: LlvmOpcode) {
        if opcode.is_terminator() {
            self.t.b.append_effect(Op::Unreachable, &[]);
            self.refused[inst.index()] = true;
            return;
        }
        let ty = self.function.inst(inst).ty;
        if ty == LlvmType::VOID {
            return;
        }
        match self.t.local_type(self.func, self.local_of(inst), ty) {
            Ok(ty) => {
                let id = self.t.b.declare_undef(ty);
                self.set_result(inst, id);
            }
            Err(_) => self.refused[inst.index()] = true,
        }
    }

    /// The number of the local that an instruction defines.
    pub(super) fn local_of(&self, inst: LlvmInst) -> usize {
        self.function.params.len() + inst.index()
    }

    /// The id of a local, if it was translated.
    pub(super) fn find_translated(&self, local: usize) -> Option<Id> {
        self.values[local]
    }

    /// Replaces the id of a local.
    pub(super) fn replace_translated(&mut self, local: usize, id: Id) {
        self.values[local] = Some(id);
    }

    /// Sets the id of an instruction's result.
    pub(super) fn set_result(&mut self, inst: LlvmInst, id: Id) {
        let local = self.local_of(inst);
        self.values[local] = Some(id);
    }

    /// Names a result as the module does.
    pub(super) fn name_result(&mut self, inst: LlvmInst, id: Id) {
        let name = self.function.local_name(self.local_of(inst));
        if !name.is_empty() {
            self.t.name_id(id, self.t.module.symbol_text(name));
        }
    }

    /// Adapts a result to its uses: a pointer is cast to the pointee type of its class.
    pub(super) fn adapt_result(&mut self, inst: LlvmInst, id: Id) -> LlvmResult<Id> {
        let ty = self.function.inst(inst).ty;
        if self.t.is_shader() {
            return Ok(if self.t.is_address(ty) {
                self.adapt_address(inst, id)
            } else {
                id
            });
        }
        if self.t.module.types.address_space(ty).is_none() {
            return Ok(id);
        }
        let pointee = self.find_pointee(self.local_of(inst))?;
        Ok(self.cast_pointer(id, pointee))
    }

    /// Whether a phi has a local as an operand.
    pub(super) fn is_phi_operand(&mut self, local: usize) -> bool {
        self.uses.is_phi_operand(self.function, local)
    }

    /// The pointee of a local's class, in memory form.
    pub(super) fn find_pointee(&mut self, local: usize) -> LlvmResult<Id> {
        if self.at_lane.is_some() {
            return Ok(self.t.make_byte_type());
        }
        let pointee = self.t.pointees.local_pointee(self.func, local);
        self.t.pointee_type(pointee)
    }

    /// The type of an instruction's result.
    pub(super) fn result_type(&mut self, inst: LlvmInst) -> LlvmResult<Id> {
        let ty = self.inst_type(inst);
        match (self.at_lane, self.t.pointer_space(ty)) {
            (Some(_), Some(space)) => self.t.pointer_to(space, None),
            _ => self.t.local_type(self.func, self.local_of(inst), ty),
        }
    }

    /// The shape of an instruction's result.
    pub(super) fn result_shape(&self, inst: LlvmInst) -> LlvmResult<NumericShape> {
        self.t.require_shape(self.inst_type(inst))
    }

    /// The LLVM type of an operand.
    pub(super) fn type_of(&self, value: LlvmValue) -> LlvmType {
        let ty = self.function.type_of(self.t.module, value);
        match self.at_lane {
            Some(_) => self.t.module.types.scalar_type(ty),
            None => ty,
        }
    }

    /// The shape of an operand.
    pub(super) fn shape_of(&self, value: LlvmValue) -> LlvmResult<NumericShape> {
        self.t.require_shape(self.type_of(value))
    }

    /// Whether an operand is a pointer.
    pub(super) fn is_pointer(&self, value: LlvmValue) -> bool {
        self.t.pointer_space(self.type_of(value)).is_some()
    }

    /// A value in register form. A pointer keeps its type.
    pub(super) fn lower_value(&mut self, value: LlvmValue) -> LlvmResult<Id> {
        if let Some(lane) = self.lane_of(value) {
            return self.lane_value(value, lane);
        }
        match value.kind() {
            ValueKind::Local(local) => match self.values.get(local) {
                Some(Some(id)) if self.t.is_shader() => Ok(self.as_address(*id)),
                Some(Some(id)) => Ok(*id),
                _ if self.is_refused(local) => Err(Box::new(LlvmError::Reported)),
                _ => Err(make_refusal("a value is used before its definition")),
            },
            ValueKind::Const(constant) => {
                let id = self.t.lower_constant(constant)?;
                self.mark_referred_variables(value);
                Ok(id)
            }
            ValueKind::Metadata(_) => Err(make_refusal("metadata is used as a value")),
        }
    }

    /// The current lane of a value, if it is a vector.
    fn lane_of(&self, value: LlvmValue) -> Option<u32> {
        let lane = self.at_lane?;
        let ty = self.function.type_of(self.t.module, value);
        let vector = matches!(self.t.module.types.kind(ty), LlvmTypeKind::Vector { .. });
        vector.then_some(lane)
    }

    /// A pointer to a type in memory form.
    pub(super) fn lower_pointer(&mut self, value: LlvmValue, pointee: Id) -> LlvmResult<Id> {
        match value.kind() {
            ValueKind::Const(constant) if !self.t.is_shader() && self.lane_of(value).is_none() => {
                let id = self.t.constant_pointer(constant, pointee)?;
                self.mark_referred_variables(value);
                Ok(id)
            }
            _ if self.is_address(value) => self.address_to_pointer(value, pointee),
            _ => {
                let id = self.lower_value(value)?;
                Ok(self.cast_pointer(id, pointee))
            }
        }
    }

    /// A value as the given type, which may differ from its own only in pointees.
    pub(super) fn value_as(&mut self, value: LlvmValue, ty: Id) -> LlvmResult<Id> {
        let Some((class, pointee)) = self.t.pointee_of(ty) else {
            return self.lower_value(value);
        };
        if !self.is_pointer(value) {
            return self.lower_value(value);
        }
        match value.as_const().map(|c| self.t.module.consts.kind(c)) {
            Some(ConstKind::Null) => return Ok(self.t.b.constant_null(ty)),
            Some(ConstKind::Undef | ConstKind::Poison) => return Ok(self.t.b.declare_undef(ty)),
            _ => {}
        }
        let id = self.lower_pointer(value, pointee)?;
        let known = self.t.b.type_of(id).and_then(|ty| self.t.pointee_of(ty));
        match known {
            Some((have, _)) if have != class && class == StorageClass::Generic => {
                self.cast_space(id, class)
            }
            Some((have, _)) if have != class => Err(make_refusal(format!(
                "a pointer to {have} is used as a pointer to {class}"
            ))),
            _ => Ok(id),
        }
    }

    /// Notes the variables that a constant refers to.
    fn mark_referred_variables(&mut self, value: LlvmValue) {
        let Some(constant) = value.as_const() else {
            return;
        };
        let kind = self.t.module.consts.kind(constant);
        if !matches!(
            kind,
            ConstKind::Global(_) | ConstKind::Expr(_) | ConstKind::Aggregate(_)
        ) {
            return;
        }
        let stamp = self.func.index() as u32 + 1;
        if std::mem::replace(&mut self.t.reference_marks[constant.index()], stamp) == stamp {
            return;
        }
        let mut found = std::mem::take(&mut self.t.references[self.func.index()].variables);
        self.t.referred_variables(constant, &mut found);
        self.t.references[self.func.index()].variables = found;
    }

    /// Notes the use of a variable.
    pub(super) fn mark_variable(&mut self, id: Id) {
        let variables = &mut self.t.references[self.func.index()].variables;
        if !variables.contains(&id) {
            variables.push(id);
        }
    }

    /// Appends an instruction whose operands are ids.
    pub(super) fn emit_op<const N: usize>(&mut self, op: Op, ty: Id, operands: [Id; N]) -> Id {
        self.t.b.append_value(op, ty, &operands.map(Id::word))
    }

    /// Appends an instruction of OpenCL's extended set.
    pub(super) fn emit_ext_inst(&mut self, number: u32, ty: Id, operands: &[Id]) -> Id {
        let set = self.t.opencl_std();
        let mut words: TranslationWords = smallvec![set.word(), number];
        words.extend(operands.iter().map(|id| id.word()));
        self.t.b.append_value(Op::ExtInst, ty, &words)
    }

    /// Decorates a result that was just created and has no decoration of this kind.
    pub(super) fn decorate_result(&mut self, id: Id, decoration: Decoration, operands: &[u32]) {
        let mut words: TranslationWords = smallvec![id.word(), decoration.0];
        words.extend_from_slice(operands);
        self.t
            .b
            .push_inst(spirv::ModuleSection::Annotations, Op::Decorate, &words);
    }

    /// The label of a block.
    pub(super) fn label_of(&mut self, block: LlvmBlock) -> Id {
        let t = &mut *self.t;
        *self.labels[block.index()].get_or_insert_with(|| t.b.fresh_id())
    }

    /// Begins a SPIR-V block, which need not correspond to a block of LLVM.
    pub(super) fn begin_block(&mut self, label: Id) {
        self.t.b.begin_block(label);
        self.current = label;
        self.casts.clear();
        self.debug.last_location = EmittedDebugLocation::default();
    }

    /// Label of the block being written.
    pub(super) fn current_label(&self) -> Id {
        self.current
    }
}
