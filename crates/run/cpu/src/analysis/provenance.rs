//! Pointer provenance: the variable or parameter that each pointer comes from, and the accesses through it.
//!
//! The analysis is optimistic and flow-insensitive, over all reached functions at once. Parameters come from the
//! arguments of calls, results from the returned values, phis and selections from all their operands. It iterates a
//! few times over the instructions. A pointer that has not settled then counts as unknown.

use super::analysed_module::AnalysedModule;
use crate::module::constants::ConstantScalar;
use crate::module::operand_ids::operand_ids;
use crate::module::types::LoweredTypeKind;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::StorageClass;
use spirula_spirv::ir::{Func, InstRef, ModuleSection};
use spirula_spirv::{Id, IdMap};

/// Most iterations.
const ROUNDS: usize = 12;

/// The origin of a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProvenanceRoot {
    /// No origin was found yet.
    None,
    One(Id),
    Many,
}

impl ProvenanceRoot {
    fn meet_with(self, other: ProvenanceRoot) -> ProvenanceRoot {
        match (self, other) {
            (ProvenanceRoot::None, x) | (x, ProvenanceRoot::None) => x,
            (ProvenanceRoot::One(a), ProvenanceRoot::One(b)) if a == b => self,
            _ => ProvenanceRoot::Many,
        }
    }
}

/// The provenance of the pointers of a program.
pub(crate) struct PointerProvenance {
    roots: IdMap<ProvenanceRoot>,
    /// Logarithm of the size of the smallest access, by root.
    granules: IdMap<u32>,
    written: IdMap<bool>,
    /// Logarithm of the smallest access through pointers of unknown origin.
    unknown_granule: u32,
    unknown_writes: bool,
    has_unknown: bool,
    /// Values that something else than a selection uses.
    direct: IdMap<bool>,
}

impl PointerProvenance {
    /// Analyses all functions that the entry point reaches.
    pub fn from_program(program: &AnalysedModule<'_>) -> PointerProvenance {
        let bound = program.module.bound();
        let mut provenance = PointerProvenance {
            roots: IdMap::new(bound, ProvenanceRoot::None),
            granules: IdMap::new(bound, 3),
            written: IdMap::new(bound, false),
            unknown_granule: 3,
            unknown_writes: false,
            has_unknown: false,
            direct: IdMap::new(bound, false),
        };
        for inst in program.module.section_insts(ModuleSection::Globals) {
            // A variable, or a constant that is an address in one.
            if let Some(id) = inst.result()
                && let [ConstantScalar::Address { variable, .. }] = program.constants.scalars(id)
            {
                provenance.roots.set(id, ProvenanceRoot::One(*variable));
            }
        }
        for param in &program.functions.get(program.entry.func).params {
            provenance.roots.set(*param, ProvenanceRoot::One(*param));
        }
        // A function's own copy of an argument is a variable of its own.
        let functions = program.functions.bottom_up.iter();
        let params = functions.flat_map(|func| &program.functions.get(*func).params);
        for param in params.filter(|param| program.is_by_value(**param)) {
            provenance.roots.set(*param, ProvenanceRoot::One(*param));
        }
        let mut contents = IdMap::new(bound, ProvenanceRoot::None);
        let mut settled = false;
        for _ in 0..ROUNDS {
            settled = !provenance.propagate_roots(program, &mut contents);
            if settled {
                break;
            }
        }
        if !settled {
            provenance.mark_all_unknown(program);
        }
        provenance.note_accesses(program);
        provenance
    }

    /// The variable or entry point's parameter that a pointer points into, where that is known.
    pub fn find_root(&self, pointer: Id) -> Option<Id> {
        match self.roots[pointer] {
            ProvenanceRoot::One(root) => Some(root),
            _ => None,
        }
    }

    /// Logarithm of the size of the smallest access to a root.
    pub fn access_granule(&self, root: Id) -> u32 {
        self.granules[root].min(self.unknown_granule)
    }

    /// Logarithm of the size of the smallest access through pointers of unknown origin. It is at most that of a word.
    pub fn unknown_granule(&self) -> u32 {
        self.unknown_granule.min(2)
    }

    /// Whether any instruction writes to a root.
    pub fn is_written(&self, root: Id) -> bool {
        self.written[root] || self.unknown_writes
    }

    /// Whether anything is accessed of which only the address is known.
    pub fn has_unknown(&self) -> bool {
        self.has_unknown
    }

    /// Whether a value is used by something else than selections.
    pub fn is_direct(&self, value: Id) -> bool {
        self.direct[value]
    }

    fn propagate_roots(
        &mut self,
        program: &AnalysedModule<'_>,
        contents: &mut IdMap<ProvenanceRoot>,
    ) -> bool {
        let mut changed = false;
        for func in &program.functions.bottom_up {
            let function = program.module.function_id(*func);
            for inst in program.module.function_insts(*func) {
                match inst.op() {
                    Op::Store if program.functions.is_promoted(inst.id_operand(0)) => {
                        let met =
                            contents[inst.id_operand(0)].meet_with(self.roots[inst.id_operand(1)]);
                        changed |=
                            std::mem::replace(contents.get_mut(inst.id_operand(0)), met) != met;
                    }
                    Op::ReturnValue => {
                        changed |= self.join_root(function, self.roots[inst.id_operand(0)])
                    }
                    Op::FunctionCall => changed |= self.propagate_call(program, inst),
                    _ => {}
                }
                if let Some(id) = inst.result().filter(|_| is_pointer(program, inst)) {
                    let from = self.infer_root(program, inst, contents);
                    changed |= self.join_root(id, from);
                }
            }
        }
        changed
    }

    fn join_root(&mut self, id: Id, with: ProvenanceRoot) -> bool {
        let met = self.roots[id].meet_with(with);
        std::mem::replace(self.roots.get_mut(id), met) != met
    }

    fn propagate_call(&mut self, program: &AnalysedModule<'_>, inst: InstRef<'_>) -> bool {
        let Some(func) = program.functions.by_id(inst.id_operand(0)) else {
            return false;
        };
        let params = &program.functions.get(func).params;
        let mut changed = false;
        let passed = params.iter().zip(inst.id_operands(1));
        for (param, argument) in passed.filter(|(param, _)| !program.is_by_value(**param)) {
            changed |= self.join_root(*param, self.roots[argument]);
        }
        changed
    }

    /// The origin of a pointer by the instruction that defines it.
    fn infer_root(
        &self,
        program: &AnalysedModule<'_>,
        inst: InstRef<'_>,
        contents: &IdMap<ProvenanceRoot>,
    ) -> ProvenanceRoot {
        match inst.op() {
            Op::Variable | Op::UntypedVariableKHR => inst
                .result()
                .map_or(ProvenanceRoot::Many, ProvenanceRoot::One),
            op if op.is_access_chain()
                || matches!(
                    op,
                    Op::Bitcast
                        | Op::CopyObject
                        | Op::PtrCastToGeneric
                        | Op::GenericCastToPtr
                        | Op::GenericCastToPtrExplicit
                        | Op::CrossWorkgroupCastToPtrINTEL
                        | Op::PtrCastToCrossWorkgroupINTEL
                        | Op::FreezeKHR
                        | Op::ExpectKHR
                ) =>
            {
                self.roots[inst.id_operand(0)]
            }
            op if op.is_untyped_access_chain() => self.roots[inst.id_operand(1)],
            Op::Select => self.roots[inst.id_operand(1)].meet_with(self.roots[inst.id_operand(2)]),
            Op::Phi => inst
                .id_operands(0)
                .step_by(2)
                .fold(ProvenanceRoot::None, |met, id| {
                    met.meet_with(self.roots[id])
                }),
            Op::Load if program.functions.is_promoted(inst.id_operand(0)) => {
                contents[inst.id_operand(0)]
            }
            Op::FunctionCall => self.roots[inst.id_operand(0)],
            // The parameters of the entry point have their roots from the start. Calls set those of other functions.
            Op::FunctionParameter => ProvenanceRoot::None,
            _ => ProvenanceRoot::Many,
        }
    }

    /// All pointers but variables and parameters of the entry point become unknown.
    fn mark_all_unknown(&mut self, program: &AnalysedModule<'_>) {
        for func in &program.functions.bottom_up {
            for inst in program.module.function_insts(*func) {
                if let Some(id) = inst.result()
                    && self.roots[id] != ProvenanceRoot::One(id)
                {
                    self.roots.set(id, ProvenanceRoot::Many);
                }
            }
        }
    }

    fn note_accesses(&mut self, program: &AnalysedModule<'_>) {
        for func in &program.functions.bottom_up {
            for inst in program.module.function_insts(*func) {
                // The operands of selections and shuffles may be undefined where they are not chosen.
                if !matches!(inst.op(), Op::Select | Op::FreezeKHR | Op::VectorShuffle) {
                    for id in operand_ids(inst) {
                        self.direct.set(id, true);
                    }
                }
                self.note_access(program, inst);
            }
        }
    }

    fn note_access(&mut self, program: &AnalysedModule<'_>, inst: InstRef<'_>) {
        let scalar = |id: Id| program.scalar_of(id).map_or(1, |s| s.bytes());
        let of = |ty: Option<Id>| ty.and_then(|ty| program.types.component_scalar(ty));
        match inst.op() {
            Op::Load | Op::CooperativeMatrixLoadKHR => self.note_access_size(
                inst.id_operand(0),
                of(inst.result_type()).map_or(1, |s| s.bytes()),
                false,
            ),
            Op::Store | Op::CooperativeMatrixStoreKHR => {
                self.note_access_size(inst.id_operand(0), scalar(inst.id_operand(1)), true);
            }
            Op::CopyMemory | Op::CopyMemorySized => {
                self.has_unknown = true;
                let bytes = match inst.op() {
                    Op::CopyMemorySized => program.constants.get_u64(inst.id_operand(2)),
                    _ => program
                        .pointee_of(inst.id_operand(0))
                        .map(|ty| program.types.get(ty).extent),
                };
                let bytes = 1 << bytes.unwrap_or(1).trailing_zeros().min(3);
                self.note_access_size(inst.id_operand(0), bytes, true);
                self.note_access_size(inst.id_operand(1), bytes, false);
            }
            Op::FunctionCall => {
                if let Some(func) = program.functions.by_id(inst.id_operand(0)) {
                    self.note_copies(program, func, inst);
                }
            }
            Op::FunctionPointerCallINTEL => {
                for func in program.functions.find_call_targets(program, inst) {
                    self.note_copies(program, func, inst);
                }
            }
            Op::GroupAsyncCopy | Op::UntypedGroupAsyncCopyKHR => {
                self.note_access_size(inst.id_operand(1), 1, true);
                self.note_access_size(inst.id_operand(2), 1, false);
            }
            Op::ExtInst => {
                for id in inst.id_operands(2).filter(|id| {
                    let ty = program.type_of(*id);
                    ty.is_some_and(|ty| {
                        matches!(program.types.kind(ty), LoweredTypeKind::Pointer { .. })
                    })
                }) {
                    let bytes = of(program.pointee_of(id)).map_or(1, |s| s.bytes());
                    self.note_access_size(id, bytes.min(scalar_result(program, inst)), true);
                }
            }
            op if op.is_atomic() && program.byte_in_word(inst.id_operand(0)).is_some() => {
                self.note_access_size(inst.id_operand(0), 1, true);
            }
            op if op.is_atomic() => {
                let bytes = of(program.pointee_of(inst.id_operand(0))).map_or(4, |s| s.bytes());
                self.note_access_size(inst.id_operand(0), bytes, true);
            }
            _ => {}
        }
    }

    /// Records the copies that a call makes of arguments for `ByVal` parameters.
    fn note_copies(&mut self, program: &AnalysedModule<'_>, func: Func, call: InstRef<'_>) {
        let params = &program.functions.get(func).params;
        let passed = params.iter().zip(call.id_operands(1));
        for (param, argument) in passed.filter(|(param, _)| program.is_by_value(**param)) {
            // The copy knows of its sides by their addresses.
            self.has_unknown = true;
            let size = program.pointee_of(*param);
            let size = size.map_or(1, |ty| program.types.layouts.get(ty).size);
            self.note_access_size(argument, 1 << size.trailing_zeros().min(3), false);
        }
    }

    fn note_access_size(&mut self, pointer: Id, bytes: u32, writes: bool) {
        let granule = bytes.clamp(1, 8).trailing_zeros();
        match self.find_root(pointer) {
            Some(root) => {
                let least = self.granules[root].min(granule);
                self.granules.set(root, least);
                if writes {
                    self.written.set(root, true);
                }
            }
            None => {
                self.has_unknown = true;
                self.unknown_granule = self.unknown_granule.min(granule);
                self.unknown_writes |= writes;
            }
        }
    }
}

fn scalar_result(program: &AnalysedModule<'_>, inst: InstRef<'_>) -> u32 {
    let component = inst
        .result_type()
        .and_then(|ty| program.types.component_scalar(ty));
    component.map_or(1, |s| s.bytes())
}

fn is_pointer(program: &AnalysedModule<'_>, inst: InstRef<'_>) -> bool {
    let ty = inst.result_type();
    ty.is_some_and(|ty| matches!(program.types.kind(ty), LoweredTypeKind::Pointer { .. }))
}

/// Whether an id is a pointer to a variable that an invocation has for itself.
pub(crate) fn is_private(program: &AnalysedModule<'_>, id: Id) -> bool {
    let ty = program.type_of(id);
    ty.is_some_and(|ty| {
        matches!(
            program.types.kind(ty),
            LoweredTypeKind::Pointer {
                class: StorageClass::Function | StorageClass::Private,
                ..
            }
        )
    })
}
