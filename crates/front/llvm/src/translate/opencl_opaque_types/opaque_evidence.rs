//! Evidence gathering: the values that are of opaque types.

use super::type_names::{OpaqueTypeName, parse_access, parse_opaque_type};
use crate::ir::{
    InstructionExtra, LlvmConst, LlvmFunc, LlvmFunction, LlvmInst, LlvmModule, LlvmOpcode,
    LlvmType, LlvmTypeKind, LlvmValue,
};
use crate::translate::demangle::{MangledBaseType, MangledParameter, demangle_name};
use spirula_entity::UnionFind;

/// Functions whose result is of an opaque type, with the type's name in OpenCL C.
const RESULTS: &[(&str, &str)] = &[
    ("async_work_group_copy", "event_t"),
    ("async_work_group_strided_copy", "event_t"),
    ("__spirv_GroupAsyncCopy", "event_t"),
    ("create_user_event", "clk_event_t"),
    ("get_default_queue", "queue_t"),
    ("__reserve_read_pipe", "reserve_id_t"),
    ("__reserve_write_pipe", "reserve_id_t"),
    ("__work_group_reserve_read_pipe", "reserve_id_t"),
    ("__work_group_reserve_write_pipe", "reserve_id_t"),
    ("__sub_group_reserve_read_pipe", "reserve_id_t"),
    ("__sub_group_reserve_write_pipe", "reserve_id_t"),
    ("__translate_sampler_initializer", "sampler_t"),
];

/// How much a piece of evidence weighs.
const IMPLIED: u8 = 1;
const DECLARED: u8 = 2;
const QUALIFIED: u8 = 3;

/// The inferred opaque types of a module's values. Each value has two slots: its own type, and its
/// pointee.
pub(super) struct OpaqueValueTypes {
    first: Vec<u32>,
    classes: UnionFind,
    /// By class root: the type of the class, with the weight of the evidence.
    elected: Vec<Option<(u8, OpaqueTypeName)>>,
    /// Constants that are used as opaque values: function, position in its operand pool, slot.
    pub(super) constants: Vec<(LlvmFunc, usize, u32)>,
}

impl OpaqueValueTypes {
    /// Whether there is any.
    pub(super) fn has_any(&self) -> bool {
        self.elected.iter().any(Option::is_some)
    }

    /// The slot of a local's own type.
    pub(super) fn slot_of(&self, func: LlvmFunc, local: usize) -> u32 {
        self.first[func.index()] + 2 * local as u32
    }

    /// The type of a slot.
    pub(super) fn find_handle(&mut self, slot: u32) -> Option<&OpaqueTypeName> {
        let class = self.classes.find_root(slot);
        self.elected[class as usize].as_ref().map(|found| &found.1)
    }
}

/// Whether a module refers to an opaque type in an older spelling. This is a quick check.
pub(super) fn has_old_opaque_types(module: &LlvmModule) -> bool {
    let structures = module.types.iter().any(|(_, kind)| match kind {
        LlvmTypeKind::Struct { name, .. } => parse_opaque_type(module.symbol_text(*name)).is_some(),
        _ => false,
    });
    structures || module.function_ids().any(|func| is_old(module, func))
}

/// Whether a function whose name implies opaque types has pointers in their place.
fn is_old(module: &LlvmModule, func: LlvmFunc) -> bool {
    let function = module.function(func);
    let pointer = |ty: LlvmType| module.types.address_space(ty).is_some();
    let result = module.types.function_signature(function.ty).map(|s| s.0);
    if result.is_some_and(pointer) && result_of(module.function_name(func)).is_some() {
        return true;
    }
    let Some(demangled) = demangle_name(module.function_name(func)) else {
        return false;
    };
    let mut pairs = demangled.params.iter().zip(&function.params);
    pairs.any(|(param, &ty)| {
        (pointer(ty) || ty == LlvmType::I32) && find_opaque_param_type(param).is_some()
    })
}

fn result_of(name: &str) -> Option<OpaqueTypeName> {
    let demangled = demangle_name(name);
    let name = demangled.as_ref().map_or(name, |d| d.name);
    parse_opaque_type(RESULTS.iter().find(|row| row.0 == name)?.1)
}

/// The opaque type of a parameter or of its pointee.
fn find_opaque_param_type(param: &MangledParameter<'_>) -> Option<OpaqueTypeName> {
    match param.base {
        MangledBaseType::Named(name) => parse_opaque_type(name),
        _ => None,
    }
}

/// Gathers the evidence.
pub(super) fn gather_evidence(module: &LlvmModule) -> OpaqueValueTypes {
    let mut first = Vec::with_capacity(module.functions.len());
    let mut count = 0;
    for function in &module.functions {
        first.push(count);
        count += 2 * (function.local_count() as u32 + 1);
    }
    let mut gathering = OpaqueEvidenceCollector {
        module,
        found: OpaqueValueTypes {
            first,
            classes: UnionFind::new(count as usize),
            elected: vec![None; count as usize],
            constants: Vec::new(),
        },
        evidence: Vec::new(),
    };
    for func in module.function_ids() {
        gathering.gather_from_function(func);
    }
    gathering.elect_opaque_types()
}

struct OpaqueEvidenceCollector<'m> {
    module: &'m LlvmModule,
    found: OpaqueValueTypes,
    evidence: Vec<(u32, u8, OpaqueTypeName)>,
}

impl OpaqueEvidenceCollector<'_> {
    fn result_slot(&self, func: LlvmFunc) -> u32 {
        self.found
            .slot_of(func, self.module.function(func).local_count())
    }

    fn add_evidence(&mut self, slot: u32, weight: u8, handle: OpaqueTypeName) {
        self.evidence.push((slot, weight, handle));
    }

    /// Evidence from a type: pointers to opaque structures.
    fn gather_from_type(&mut self, slot: u32, ty: LlvmType) {
        let LlvmTypeKind::Pointer {
            pointee: Some(pointee),
            ..
        } = *self.module.types.kind(ty)
        else {
            return;
        };
        match self.module.types.kind(pointee) {
            LlvmTypeKind::Struct { name, .. } => {
                if let Some(handle) = parse_opaque_type(self.module.symbol_text(*name)) {
                    self.add_evidence(slot, DECLARED, handle);
                }
            }
            // One level of indirection: the pointee of a pointer in memory.
            LlvmTypeKind::Pointer { .. } if slot.is_multiple_of(2) => {
                self.gather_from_type(slot + 1, pointee)
            }
            _ => {}
        }
    }

    fn gather_from_function(&mut self, func: LlvmFunc) {
        let module = self.module;
        let function = module.function(func);
        let name = module.function_name(func);
        for (index, &ty) in function.params.iter().enumerate() {
            self.gather_from_type(self.found.slot_of(func, index), ty);
        }
        if let Some((result, ..)) = module.types.function_signature(function.ty) {
            let slot = self.result_slot(func);
            self.gather_from_type(slot, result);
        }
        if function.is_declaration() {
            self.gather_from_builtin(func, name);
            return;
        }
        self.gather_from_kernel(func);
        for index in 0..function.insts.len() {
            self.gather_from_instruction(func, function, LlvmInst::new(index));
        }
    }

    /// Evidence from the name of a function without a body.
    fn gather_from_builtin(&mut self, func: LlvmFunc, name: &str) {
        if let Some(handle) = result_of(name) {
            let slot = self.result_slot(func);
            self.add_evidence(slot, QUALIFIED, handle);
        }
        let Some(demangled) = demangle_name(name) else {
            return;
        };
        let implied = u32::from(demangled.name.starts_with("write_image"));
        let function = self.module.function(func);
        for (index, param) in demangled.params.iter().enumerate() {
            let Some(handle) = find_opaque_param_type(param) else {
                continue;
            };
            if index >= function.params.len() {
                return;
            }
            let weight = if handle.is_open() { IMPLIED } else { QUALIFIED };
            let slot = self.found.slot_of(func, index) + u32::from(param.pointer);
            self.add_evidence(slot, weight, handle.with_access(implied));
        }
    }

    /// Evidence from a kernel's metadata about its parameters.
    fn gather_from_kernel(&mut self, func: LlvmFunc) {
        let strings = |kind: &str| self.module.function_strings(func, kind);
        let types = strings("kernel_arg_base_type");
        let types = if types.is_empty() {
            strings("kernel_arg_type")
        } else {
            types
        };
        let qualifiers = strings("kernel_arg_access_qual");
        let count = self.module.function(func).params.len();
        let mut stated = Vec::new();
        for (index, name) in types.iter().enumerate().take(count) {
            if let Some(handle) = parse_opaque_type(name) {
                let access = qualifiers.get(index).and_then(|q| parse_access(q));
                stated.push((index, handle.with_access(access.unwrap_or(0))));
            }
        }
        for (index, handle) in stated {
            let slot = self.found.slot_of(func, index);
            self.add_evidence(slot, DECLARED, handle);
        }
    }

    /// Joins a slot with that of an operand.
    fn join_operand(
        &mut self,
        slot: u32,
        func: LlvmFunc,
        function: &LlvmFunction,
        inst: LlvmInst,
        operand: usize,
    ) {
        let span = function.inst(inst).operands;
        let value = function.operands(inst)[operand];
        match value.as_local() {
            Some(local) => {
                let other = self.found.slot_of(func, local);
                self.found.classes.join_sets(slot, other);
            }
            None if value
                .as_const()
                .is_some_and(|c| self.may_be_opaque_constant(c)) =>
            {
                let at = span.start as usize + operand;
                self.found.constants.push((func, at, slot));
            }
            None => {}
        }
    }

    /// Whether a constant may represent an opaque value: a null pointer, or a literal sampler.
    fn may_be_opaque_constant(&self, constant: LlvmConst) -> bool {
        let ty = self.module.consts.ty(constant);
        ty == LlvmType::I32 || self.module.types.address_space(ty).is_some()
    }

    /// Joins the pointees of two values.
    fn join_pointees(&mut self, slot: u32, func: LlvmFunc, value: LlvmValue) {
        if let Some(local) = value.as_local() {
            let other = self.found.slot_of(func, local) + 1;
            self.found.classes.join_sets(slot + 1, other);
        }
    }

    fn gather_from_instruction(&mut self, func: LlvmFunc, function: &LlvmFunction, inst: LlvmInst) {
        let data = function.inst(inst);
        let operands = function.operands(inst);
        let slot = self
            .found
            .slot_of(func, function.params.len() + inst.index());
        self.gather_from_type(slot, data.ty);
        match data.opcode {
            LlvmOpcode::Alloca => {
                if let InstructionExtra::Alloca { ty, .. } = data.extra {
                    self.gather_from_type(slot + 1, ty);
                }
            }
            LlvmOpcode::Load => {
                if let Some(local) = operands[0].as_local() {
                    let content = self.found.slot_of(func, local) + 1;
                    self.found.classes.join_sets(slot, content);
                }
            }
            LlvmOpcode::Store => {
                if let Some(local) = operands[1].as_local() {
                    let content = self.found.slot_of(func, local) + 1;
                    self.join_operand(content, func, function, inst, 0);
                }
            }
            LlvmOpcode::Phi => {
                for (operand, &value) in operands.iter().enumerate() {
                    self.join_operand(slot, func, function, inst, operand);
                    self.join_pointees(slot, func, value);
                }
            }
            LlvmOpcode::Select => {
                for operand in [1, 2] {
                    self.join_operand(slot, func, function, inst, operand);
                    self.join_pointees(slot, func, operands[operand]);
                }
            }
            LlvmOpcode::Freeze | LlvmOpcode::BitCast => {
                self.join_operand(slot, func, function, inst, 0);
                self.join_pointees(slot, func, operands[0]);
            }
            LlvmOpcode::AddrSpaceCast => self.join_pointees(slot, func, operands[0]),
            LlvmOpcode::GetElementPtr => {
                if let InstructionExtra::SourceType(source) = data.extra
                    && !matches!(self.module.types.kind(source), LlvmTypeKind::Struct { .. })
                {
                    self.join_pointees(slot, func, operands[0]);
                }
            }
            LlvmOpcode::Ret if !operands.is_empty() => {
                let result = self.result_slot(func);
                self.join_operand(result, func, function, inst, 0);
            }
            LlvmOpcode::Call => self.gather_from_call(func, function, inst, slot),
            _ => {}
        }
    }

    fn gather_from_call(
        &mut self,
        func: LlvmFunc,
        function: &LlvmFunction,
        inst: LlvmInst,
        slot: u32,
    ) {
        let callee = function.callee(inst);
        let Some(callee) = callee.and_then(|value| self.module.as_function(value)) else {
            return;
        };
        if self.module.function_name(callee).starts_with("llvm.") {
            return;
        }
        let params = self.module.function(callee).params.len();
        for index in 0..function.arguments(inst).len().min(params) {
            let param = self.found.slot_of(callee, index);
            self.join_operand(param, func, function, inst, index + 1);
            self.join_pointees(param, func, function.arguments(inst)[index]);
        }
        let result = self.result_slot(callee);
        self.found.classes.join_sets(slot, result);
    }

    /// Selects the strongest evidence of each class; among equals, the first.
    fn elect_opaque_types(mut self) -> OpaqueValueTypes {
        for (slot, weight, handle) in self.evidence {
            let class = self.found.classes.find_root(slot) as usize;
            let rival = &mut self.found.elected[class];
            if rival.as_ref().is_none_or(|(other, _)| weight > *other) {
                *rival = Some((weight, handle.with_access(0)));
            }
        }
        self.found
    }
}
