//! Module-level variables: where each lives.

use crate::analysis::analysed_module::AnalysedModule;
use crate::analysis::pointer_roots::BoundVariable;
use crate::image::ImageType;
use crate::layout::module_variables::VariableMemory;
use crate::memory::kept_memory::KeptMemory;
use crate::module::address_arithmetic::ComputedAddresses;
use crate::module::constants::ConstantScalar;
use crate::module::operand_ids::operand_ids;
use crate::module::types::{LoweredTypeKind, ScalarRepr};
use crate::pipe::PipeShape;
use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Decoration, StorageClass};
use spirula_spirv::ir::{InstRef, ModuleSection};
use spirula_spirv::{Id, IdMap};

/// Most bytes of the module-level variables of one kind.
const MAX_BYTES: u64 = 1 << 30;

/// Least alignment of a variable: that of a vector of a gang.
const LEAST_ALIGN: u32 = 16;
/// Most alignment of a variable: that of a vector of 16 doubles.
const MOST_ALIGN: u32 = 128;

/// The location of a module-level variable.
#[derive(Clone, Copy, Debug)]
pub(crate) enum GlobalLocation {
    /// At a fixed address of the host, for all invocations of all launches.
    Data { address: usize },
    /// In the workgroup's memory.
    Workgroup { offset: u32 },
    /// In the invocation's private memory.
    Private { offset: u32 },
    /// In SSA values of the entry function.
    Promoted,
    /// An input that is computed.
    BuiltIn,
    /// The push constants.
    Push,
    /// A row of the table of bindings.
    Binding { index: u32 },
    /// A row of the table of bindings with a table of its own, for an array of bindings.
    Bindings { index: u32 },
    /// Pipes and the like.
    Unsupported,
}

/// The kind of resource that an argument or binding takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParameterResource {
    /// Memory, or a value.
    Memory,
    Image(ImageType),
    Sampler,
    /// An image with a sampler.
    Both(ImageType),
    Pipe,
}

impl ParameterResource {
    /// The kind for a parameter or element of a type.
    pub fn from_type(program: &AnalysedModule<'_>, ty: Id) -> ParameterResource {
        let image = program.image_type(ty);
        match (program.types.kind(ty), image) {
            (LoweredTypeKind::Handle { count: 1 }, Some(image)) => ParameterResource::Image(image),
            (LoweredTypeKind::Handle { .. }, Some(image)) => ParameterResource::Both(image),
            (LoweredTypeKind::Handle { .. }, None) => ParameterResource::Sampler,
            _ if program.definitions.defining_op(program.module, ty) == Some(Op::TypePipe) => {
                ParameterResource::Pipe
            }
            _ => ParameterResource::Memory,
        }
    }
}

/// A binding of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BindingSlot {
    pub set: u32,
    pub binding: u32,
    pub resource: ParameterResource,
    /// Descriptors of an array of bindings; 0 for any number.
    pub count: Option<u32>,
}

/// Addresses of variables at module level that have one for all invocations.
pub(crate) type PlacedVariables = FxHashMap<Id, usize>;

/// The module-level variables that the entry point reaches.
pub(crate) struct ReachedGlobals {
    rows: IdMap<Option<GlobalLocation>>,
    /// Rows of the table of bindings.
    pub bindings: Vec<BindingSlot>,
    /// Bytes of workgroup memory.
    pub workgroup_bytes: u32,
    /// Alignment of the workgroup's memory.
    pub workgroup_align: u32,
    /// Whether workgroup memory has to be zero at the start.
    pub zero_workgroup: bool,
    /// Bytes of private memory.
    pub private_bytes: u32,
    /// The largest alignment of a variable in private memory.
    pub private_align: u32,
    /// Private variables with their initialisers.
    pub private: Vec<(Id, Option<Id>)>,
    /// Bytes of push constants.
    pub push_bytes: u64,
    /// Workgroup variables.
    pub workgroup: Vec<Id>,
    /// Variables that are bound to descriptors.
    pub bound: Vec<BoundVariable>,
    /// Constants in memory: addresses and sizes.
    pub data: Vec<(u64, u64)>,
    /// Variables that have one address for all invocations.
    pub variables: PlacedVariables,
    /// Constants that are computed of addresses.
    computed: ComputedAddresses,
}

impl ReachedGlobals {
    /// Places the variables that the reached functions use. Variables that other kernels have placed stay at their
    /// addresses, and keep their values.
    pub fn from_program(
        program: &AnalysedModule<'_>,
        memory: &mut VariableMemory,
    ) -> Result<ReachedGlobals, SourceDiagnostic> {
        let VariableMemory { kept, placed, .. } = memory;
        let mut globals = ReachedGlobals {
            rows: IdMap::new(program.module.bound(), None),
            bindings: Vec::new(),
            workgroup_bytes: 0,
            workgroup_align: LEAST_ALIGN,
            zero_workgroup: false,
            private_bytes: 0,
            private_align: LEAST_ALIGN,
            private: Vec::new(),
            push_bytes: 0,
            workgroup: Vec::new(),
            bound: Vec::new(),
            data: Vec::new(),
            variables: PlacedVariables::default(),
            computed: ComputedAddresses::default(),
        };
        let used = used_ids(program);
        globals.place_pipes(program, kept, &used, placed)?;
        let mut data = Vec::new();
        for inst in program.module.section_insts(ModuleSection::Globals) {
            let is_variable = matches!(inst.op(), Op::Variable | Op::UntypedVariableKHR);
            // Variables that other kernels have placed may be reached through pointers in memory.
            let is_used = |id: &Id| used[*id] || placed.contains_key(id);
            let Some(id) = inst.result().filter(|id| is_variable && is_used(id)) else {
                continue;
            };
            let known = placed.get(&id).copied();
            let global = globals.place_variable(program, kept, inst, id, known)?;
            globals.rows.set(id, Some(global));
            if let GlobalLocation::Data { address } = global {
                globals.variables.insert(id, address);
                if known.is_none() {
                    data.push((id, inst));
                }
            }
        }
        globals.computed =
            ComputedAddresses::from_program(program, |id| globals.variable_address(id));
        // Initialisers may have addresses of variables that come later.
        for (id, inst) in data {
            let (Some(GlobalLocation::Data { address }), Some(init)) =
                (globals.get(id), variable_initialiser(inst))
            else {
                continue;
            };
            let Some(ty) = inst.result().and_then(|id| program.variable_type(id)) else {
                continue;
            };
            let bytes = constant_bytes(program, &globals, init, ty)
                .map_err(|message| SourceDiagnostic::error(inst.place(), message))?;
            kept.fill_kept(address, &bytes);
        }
        placed.extend(globals.variables.iter().map(|(id, place)| (*id, *place)));
        Ok(globals)
    }

    /// Places the pipes that the module itself declares.
    fn place_pipes(
        &mut self,
        program: &AnalysedModule<'_>,
        kept: &mut KeptMemory,
        used: &IdMap<bool>,
        placed: &PlacedVariables,
    ) -> Result<(), SourceDiagnostic> {
        for inst in program.module.section_insts(ModuleSection::Globals) {
            let is_pipe = inst.op() == Op::ConstantPipeStorage;
            let Some(id) = inst.result().filter(|id| is_pipe && used[*id]) else {
                continue;
            };
            if let Some(&address) = placed.get(&id) {
                self.variables.insert(id, address);
                self.rows.set(id, Some(GlobalLocation::Data { address }));
                continue;
            }
            let shape = PipeShape {
                packet: inst.operand_word(0),
                capacity: inst.operand_word(2),
            };
            let Some(bytes) = shape.memory_bytes().filter(|bytes| *bytes <= MAX_BYTES) else {
                let message = format!("the pipe {id} holds no packet, or is too large");
                return Err(SourceDiagnostic::error(inst.place(), message));
            };
            let address = kept.keep_zeros(bytes);
            kept.fill_kept(address, &shape.encode_header());
            self.variables.insert(id, address);
            self.rows.set(id, Some(GlobalLocation::Data { address }));
        }
        Ok(())
    }

    /// The location of a variable; none for ids that are no reached variables.
    pub fn get(&self, id: Id) -> Option<GlobalLocation> {
        self.rows[id]
    }

    /// The address of a variable that has one for all invocations.
    fn variable_address(&self, id: Id) -> Option<u64> {
        match self.get(id) {
            Some(GlobalLocation::Data { address }) => Some(address as u64),
            _ => None,
        }
    }

    /// The value of a scalar of a constant; none where it depends on the address of memory that workgroups or
    /// invocations have one of each.
    pub fn resolve_scalar(&self, bits: ConstantScalar) -> Option<u64> {
        self.computed
            .resolve_scalar(bits, |id| self.variable_address(id))
    }

    fn place_variable(
        &mut self,
        program: &AnalysedModule<'_>,
        kept: &mut KeptMemory,
        inst: InstRef<'_>,
        id: Id,
        known: Option<usize>,
    ) -> Result<GlobalLocation, SourceDiagnostic> {
        let class = StorageClass(inst.operand_word(0));
        let ty = inst.result().and_then(|id| program.variable_type(id));
        let room = VariableFootprint::from_variable(program, id, ty);
        let too_large = || {
            let message = format!("the variable {id} of {} bytes is too large", room.size);
            SourceDiagnostic::error(inst.place(), message)
        };
        if room.size > MAX_BYTES {
            return Err(too_large());
        }
        let binding = program.decoration_operand(id, Decoration::Binding);
        Ok(match class {
            StorageClass::Input
                if program
                    .decoration_operand(id, Decoration::BuiltIn)
                    .is_some() =>
            {
                GlobalLocation::BuiltIn
            }
            StorageClass::StorageBuffer | StorageClass::Uniform if binding.is_some() => {
                self.add_binding(program, id, ty, binding.unwrap_or(0))
            }
            StorageClass::UniformConstant
                if ty.is_some_and(|ty| {
                    ParameterResource::from_type(program, array_element_type(program, ty))
                        != ParameterResource::Memory
                }) =>
            {
                match binding {
                    Some(binding) => self.add_binding(program, id, ty, binding),
                    None => GlobalLocation::Unsupported,
                }
            }
            StorageClass::PushConstant => {
                self.push_bytes = self.push_bytes.max(room.size);
                GlobalLocation::Push
            }
            StorageClass::Workgroup => {
                let is_block = ty.is_some_and(|ty| program.is_decorated(ty, Decoration::Block));
                let location = self.place_in_workgroup(inst, id, &room, is_block);
                location.ok_or_else(too_large)?
            }
            StorageClass::Private => {
                self.private.push((id, variable_initialiser(inst)));
                if program.functions.is_promoted(id) {
                    GlobalLocation::Promoted
                } else {
                    let offset = room.place_after(&mut self.private_bytes);
                    self.private_align = self.private_align.max(room.align as u32);
                    GlobalLocation::Private {
                        offset: offset.ok_or_else(too_large)?,
                    }
                }
            }
            StorageClass::UniformConstant | StorageClass::CrossWorkgroup
                if ty.is_some_and(|ty| program.types.scalar_count(ty) > 0)
                    && (program.entry.is_kernel || variable_initialiser(inst).is_some()) =>
            {
                if program
                    .decoration_operand(id, Decoration::BuiltIn)
                    .is_some()
                {
                    return Ok(GlobalLocation::BuiltIn);
                }
                let address = known.unwrap_or_else(|| kept.keep_zeros(room.size));
                self.data.push((address as u64, room.size));
                GlobalLocation::Data { address }
            }
            _ => GlobalLocation::Unsupported,
        })
    }

    /// Places a workgroup variable; none where memory is too small for it.
    fn place_in_workgroup(
        &mut self,
        inst: InstRef<'_>,
        id: Id,
        room: &VariableFootprint,
        is_block: bool,
    ) -> Option<GlobalLocation> {
        self.zero_workgroup |= variable_initialiser(inst).is_some();
        self.workgroup.push(id);
        self.workgroup_align = self.workgroup_align.max(room.align as u32);
        // Variables with explicit layout (blocks) all begin at the same address.
        if is_block {
            self.workgroup_bytes = self.workgroup_bytes.max(room.size as u32);
            return Some(GlobalLocation::Workgroup { offset: 0 });
        }
        let offset = room.place_after(&mut self.workgroup_bytes)?;
        Some(GlobalLocation::Workgroup { offset })
    }

    fn add_binding(
        &mut self,
        program: &AnalysedModule<'_>,
        id: Id,
        ty: Option<Id>,
        binding: u32,
    ) -> GlobalLocation {
        let set = program
            .decoration_operand(id, Decoration::DescriptorSet)
            .unwrap_or(0);
        let count = match ty.map(|ty| program.types.kind(ty)) {
            Some(LoweredTypeKind::Array { count, .. }) => {
                Some(u32::try_from(count).unwrap_or(u32::MAX))
            }
            Some(LoweredTypeKind::RuntimeArray { .. }) => Some(0),
            _ => None,
        };
        let slot = BindingSlot {
            set,
            binding,
            resource: ty.map_or(ParameterResource::Memory, |ty| {
                ParameterResource::from_type(program, array_element_type(program, ty))
            }),
            count,
        };
        let known = self.bindings.iter().position(|b| *b == slot);
        let index = known.unwrap_or_else(|| {
            self.bindings.push(slot);
            self.bindings.len() - 1
        }) as u32;
        self.bound.push(BoundVariable {
            id,
            row: index,
            is_array: count.is_some(),
        });
        match count {
            Some(_) => GlobalLocation::Bindings { index },
            None => GlobalLocation::Binding { index },
        }
    }
}

/// Size and alignment of a variable.
struct VariableFootprint {
    size: u64,
    align: u64,
}

impl VariableFootprint {
    fn from_variable(program: &AnalysedModule<'_>, id: Id, ty: Option<Id>) -> VariableFootprint {
        let Some(ty) = ty else {
            return VariableFootprint { size: 0, align: 1 };
        };
        let align = variable_align(program, id, ty).clamp(LEAST_ALIGN, MOST_ALIGN);
        VariableFootprint {
            size: program.types.layouts.get(ty).size,
            align: align.into(),
        }
    }

    /// Places the variable after `total` bytes. Returns its offset; none where it is too large.
    fn place_after(&self, total: &mut u32) -> Option<u32> {
        let offset = u64::from(*total).next_multiple_of(self.align);
        let end = offset + self.size;
        *total = (end <= MAX_BYTES).then_some(end as u32)?;
        Some(offset as u32)
    }
}

/// Alignment of a variable: that of its type, or a larger one that the module demands.
pub(crate) fn variable_align(program: &AnalysedModule<'_>, id: Id, ty: Id) -> u32 {
    let natural = program.types.layouts.get(ty).align;
    let demanded = program.decoration_operand(id, Decoration::Alignment);
    let demanded = demanded.filter(|align| align.is_power_of_two());
    natural.max(demanded.unwrap_or(1))
}

/// The type of the elements, where a type is an array.
fn array_element_type(program: &AnalysedModule<'_>, ty: Id) -> Id {
    match program.types.kind(ty) {
        LoweredTypeKind::Array { element, .. } | LoweredTypeKind::RuntimeArray { element } => {
            element
        }
        _ => ty,
    }
}

/// Whether a value is a pointer to workgroup memory.
pub(crate) fn is_workgroup(program: &AnalysedModule<'_>, id: Id) -> bool {
    let ty = program.type_of(id).map(|ty| program.types.kind(ty));
    matches!(
        ty,
        Some(LoweredTypeKind::Pointer {
            class: StorageClass::Workgroup,
            ..
        })
    )
}

/// The initialiser of a variable.
pub(crate) fn variable_initialiser(inst: InstRef<'_>) -> Option<Id> {
    match inst.op() {
        Op::UntypedVariableKHR => inst.get_id(2),
        _ => inst.get_id(1),
    }
}

/// The ids outside of functions that reached functions use, directly or through constants.
fn used_ids(program: &AnalysedModule<'_>) -> IdMap<bool> {
    let mut used = IdMap::new(program.module.bound(), false);
    let mut work = Vec::new();
    for func in &program.functions.bottom_up {
        for inst in program.module.function_insts(*func) {
            work.extend(
                operand_ids(inst).filter(|id| program.functions.local_index(*id).is_none()),
            );
            while let Some(id) = work.pop() {
                if !std::mem::replace(used.get_mut(id), true)
                    && let Some(def) = program.definitions.get(program.module, id)
                    && def.op() != Op::Function
                {
                    work.extend(operand_ids(def));
                }
            }
        }
    }
    used
}

/// The bytes of a constant in memory.
pub(crate) fn constant_bytes(
    program: &AnalysedModule<'_>,
    globals: &ReachedGlobals,
    id: Id,
    ty: Id,
) -> Result<Vec<u8>, String> {
    let size = program.types.layouts.get(ty).size;
    let mut bytes = vec![0u8; usize::try_from(size).map_err(|e| e.to_string())?];
    if program.constants.is_zero(id) {
        return Ok(bytes);
    }
    if !program.constants.contains(id) {
        return Err(format!("{id} is no constant that can be computed"));
    }
    let scalars = program.constants.scalars(id);
    let mut leaves = Vec::new();
    program.types.append_leaves(ty, 0, None, &mut leaves);
    for (leaf, bits) in leaves.iter().zip(scalars) {
        let Some(bits) = globals.resolve_scalar(*bits) else {
            return Err(format!("{id} depends on an address that is no constant"));
        };
        let (at, width) = (leaf.offset as usize, leaf.scalar.bytes() as usize);
        if let Some(to) = bytes.get_mut(at..at + width) {
            to.copy_from_slice(&bits.to_le_bytes()[..width]);
        }
    }
    Ok(bytes)
}

/// The scalars of types of module-level variables that hold built-in values.
pub(crate) fn builtin_type(
    program: &AnalysedModule<'_>,
    variable: Id,
) -> Option<(ScalarRepr, usize)> {
    let ty = program.variable_type(variable)?;
    Some((
        program.types.component_scalar(ty)?,
        program.types.scalar_count(ty),
    ))
}
