//! Specialisation: values of specialisation constants in Vulkan's structures.

use ash::vk;
use spirula_legalize::device::SpecialisedWorkgroup;
use spirula_spirv::analysis::{IdDecorations, IdDefinitions};
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::reflect::{EntryInterface, spec_constants};

/// Bytes of a specialised boolean, a `VkBool32`.
const BOOL: usize = 4;

/// Values for the constants of a module.
pub struct ShaderSpecialisation {
    entries: Vec<vk::SpecializationMapEntry>,
    data: Vec<u8>,
    /// The workgroup once the module is specialised.
    pub workgroup: SpecialisedWorkgroup,
}

impl ShaderSpecialisation {
    /// The values by `SpecId`, each as wide as its constant.
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
            workgroup: SpecialisedWorkgroup::from_module(module, interface, spec),
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
        out
    }

    /// The structure for the creation of a pipeline.
    pub fn to_vk_info(&self) -> vk::SpecializationInfo<'_> {
        vk::SpecializationInfo::default()
            .map_entries(&self.entries)
            .data(&self.data)
    }
}
