//! Values of specialisation constants as Vulkan takes them.

use ash::vk;
use spirula_spirv::Id;
use spirula_spirv::analysis::{EntryReach, IdDecorations, IdDefinitions, TypeLayouts};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{BuiltIn, Decoration, ExecutionMode, StorageClass};
use spirula_spirv::ir::{ModuleSection, SpirvModule};
use spirula_spirv::reflect::{EntryInterface, SpecConstant, spec_constants};

/// Bytes of a specialised boolean, a `VkBool32`.
const BOOL: usize = 4;

/// Values for the constants of a module.
pub struct ShaderSpecialisation {
    entries: Vec<vk::SpecializationMapEntry>,
    data: Vec<u8>,
    /// Size of a workgroup once specialised; 1 where the module does not tell.
    pub workgroup_size: [u32; 3],
    /// Bytes of the workgroup's memory that the entry point's variables take once specialised, as
    /// far as the sizes of their types are known.
    pub workgroup_memory: u64,
}

impl ShaderSpecialisation {
    /// The values given by `SpecId`, each as wide as its constant.
    pub fn new(
        module: &SpirvModule,
        interface: &EntryInterface,
        spec: &[(u32, u64)],
    ) -> ShaderSpecialisation {
        let definitions = IdDefinitions::from_module(module);
        let decorations = IdDecorations::from_module(module);
        let constants = spec_constants(module, &definitions, &decorations);
        let mut out = ShaderSpecialisation {
            entries: Vec::new(),
            data: Vec::new(),
            workgroup_size: interface.workgroup_size.unwrap_or([1; 3]),
            workgroup_memory: 0,
        };
        for &(spec_id, value) in spec {
            let constant = constants.iter().find(|c| c.spec_id == spec_id);
            let ty = constant.and_then(|c| definitions.get(module, c.ty));
            let Some(ty) = ty else { continue };
            let size = match ty.op() {
                Op::TypeBool => BOOL,
                _ => (ty.operand_word(0) as usize / 8).clamp(1, size_of::<u64>()),
            };
            let entry = vk::SpecializationMapEntry::default()
                .constant_id(spec_id)
                .offset(out.data.len() as u32)
                .size(size);
            out.entries.push(entry);
            out.data.extend_from_slice(&value.to_le_bytes()[..size]);
        }
        let values = SpecialisedConstants {
            module,
            definitions: &definitions,
            constants: &constants,
            spec,
        };
        if let Some(size) = values.workgroup_size(&decorations, interface.function) {
            out.workgroup_size = size;
        }
        out.workgroup_memory = values.workgroup_memory(&decorations, interface.function);
        out
    }

    /// As a pipeline takes it.
    pub fn to_vk_info(&self) -> vk::SpecializationInfo<'_> {
        vk::SpecializationInfo::default()
            .map_entries(&self.entries)
            .data(&self.data)
    }
}

struct SpecialisedConstants<'a> {
    module: &'a SpirvModule,
    definitions: &'a IdDefinitions,
    constants: &'a [SpecConstant],
    spec: &'a [(u32, u64)],
}

impl SpecialisedConstants<'_> {
    /// A constant's value once specialised.
    fn evaluate_constant(&self, id: Id) -> Option<u32> {
        let spec_id = self.constants.iter().find(|c| c.id == id);
        let given = spec_id.and_then(|c| self.spec.iter().find(|(id, _)| *id == c.spec_id));
        match given {
            Some((_, value)) => Some(*value as u32),
            None => Some(self.definitions.default_value(self.module, id)? as u32),
        }
    }

    /// The sizes of the variables of the workgroup that a function reaches.
    fn workgroup_memory(&self, decorations: &IdDecorations, function: Id) -> u64 {
        let (module, definitions) = (self.module, self.definitions);
        let length = |id| self.evaluate_constant(id).map(u64::from);
        let Ok(layouts) = TypeLayouts::from_module(module, definitions, decorations, length) else {
            return 0;
        };
        let reach = EntryReach::from_module(module);
        let Some(entry) = (0..reach.len()).find(|n| reach.entry_function(*n) == function) else {
            return 0;
        };
        let variables = reach.used_variables(entry).iter();
        let variables = variables.filter_map(|id| definitions.get(module, *id));
        let shared = variables.filter(|v| v.operand_word(0) == StorageClass::Workgroup.0);
        let pointers = shared.filter_map(|v| definitions.get(module, v.result_type()?));
        pointers
            .map(|pointer| layouts.get(pointer.id_operand(1)).size)
            .sum()
    }

    fn evaluate_size(&self, mut ids: impl Iterator<Item = Id>) -> Option<[u32; 3]> {
        let mut next = || self.evaluate_constant(ids.next()?);
        Some([next()?, next()?, next()?])
    }

    /// The size by ids of constants: of the constant decorated `WorkgroupSize`, which counts above
    /// the execution mode, or of `LocalSizeId`.
    fn workgroup_size(&self, decorations: &IdDecorations, function: Id) -> Option<[u32; 3]> {
        let mut globals = self.module.section_insts(ModuleSection::Globals);
        let decorated = globals.find(|inst| {
            let is_composite =
                matches!(inst.op(), Op::ConstantComposite | Op::SpecConstantComposite);
            let builtin = inst.result().filter(|_| is_composite);
            let builtin =
                builtin.and_then(|id| decorations.get(self.module, id, Decoration::BuiltIn));
            builtin == Some(&[BuiltIn::WorkgroupSize.0])
        });
        if let Some(constant) = decorated {
            return self.evaluate_size(constant.id_operands(0));
        }
        let mut modes = self.module.section_insts(ModuleSection::ExecutionModes);
        let mode = modes.find(|m| {
            m.op() == Op::ExecutionModeId
                && m.id_operand(0) == function
                && m.operand_word(1) == ExecutionMode::LocalSizeId.0
        })?;
        self.evaluate_size(mode.id_operands(2))
    }
}
