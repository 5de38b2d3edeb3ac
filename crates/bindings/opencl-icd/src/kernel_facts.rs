//! Facts of kernels that queries tell: workgroup memory, and attributes of the source.

use spirula_spirv::analysis::{EntryReach, IdDecorations, IdDefinitions, TypeLayouts};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{ExecutionMode, StorageClass};
use spirula_spirv::ir::{ModuleSection, SpirvModule};
use spirula_spirv::reflect::{EntryDetails, EntryExecutionMode, EntryInterface};

/// Facts of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelFacts {
    /// Bytes of the workgroup memory that the kernel declares.
    pub workgroup_bytes: u64,
    /// Attributes as in the source, separated by blanks.
    pub attributes: String,
    /// Invocations of a sub-group, where the kernel demands a number.
    pub subgroup_size: Option<u32>,
}

impl KernelFacts {
    /// The facts of a kernel. They are those of an empty kernel where the module is unusual.
    pub fn from_module(module: &SpirvModule, interface: &EntryInterface) -> KernelFacts {
        let details = EntryDetails::from_module(module, &interface.name);
        let modes = details.map_or_else(|_| Vec::new(), |details| details.modes);
        KernelFacts {
            workgroup_bytes: count_workgroup_bytes(module, interface).unwrap_or(0),
            attributes: list_attributes(&modes),
            subgroup_size: find_subgroup_size(&modes),
        }
    }
}

/// Bytes of the workgroup variables that an entry point uses.
fn count_workgroup_bytes(module: &SpirvModule, interface: &EntryInterface) -> Option<u64> {
    let reach = EntryReach::from_module(module);
    let mut entries = 0..reach.len();
    let entry = entries.find(|n| reach.entry_function(*n) == interface.function)?;
    let definitions = IdDefinitions::from_module(module);
    let decorations = IdDecorations::from_module(module);
    let length = |id| definitions.default_value(module, id);
    let layouts = TypeLayouts::from_module(module, &definitions, &decorations, length).ok()?;
    let variables = reach.used_variables(entry).iter();
    let sizes = variables.filter_map(|id| {
        let variable = definitions.get(module, *id)?;
        let pointer = definitions.get(module, variable.result_type()?)?;
        let is_workgroup = StorageClass(pointer.operand_word(0)) == StorageClass::Workgroup;
        let size = || layouts.get(pointer.id_operand(1)).size;
        is_workgroup.then(size)
    });
    Some(sizes.sum())
}

/// Bytes of the variables at program scope in global memory.
pub fn count_variable_bytes(module: &SpirvModule) -> u64 {
    let definitions = IdDefinitions::from_module(module);
    let decorations = IdDecorations::from_module(module);
    let length = |id| definitions.default_value(module, id);
    let Ok(layouts) = TypeLayouts::from_module(module, &definitions, &decorations, length) else {
        return 0;
    };
    let globals = module.section_insts(ModuleSection::Globals);
    let variables = globals.filter(|inst| {
        inst.op() == Op::Variable && inst.operand_word(0) == StorageClass::CrossWorkgroup.0
    });
    let sizes = variables.filter_map(|variable| {
        let pointer = definitions.get(module, variable.result_type()?)?;
        Some(layouts.get(pointer.id_operand(1)).size)
    });
    sizes.sum()
}

fn find_subgroup_size(modes: &[EntryExecutionMode]) -> Option<u32> {
    let mut modes = modes.iter();
    let mode = modes.find(|mode| mode.mode == ExecutionMode::SubgroupSize)?;
    mode.operands.first().copied()
}

fn list_attributes(modes: &[EntryExecutionMode]) -> String {
    let texts: Vec<String> = modes.iter().filter_map(describe_mode).collect();
    texts.join(" ")
}

/// The attribute that an execution mode comes from.
fn describe_mode(mode: &EntryExecutionMode) -> Option<String> {
    let sizes = || {
        let sizes: Vec<String> = mode.operands.iter().map(u32::to_string).collect();
        sizes.join(",")
    };
    match mode.mode {
        ExecutionMode::LocalSize => Some(format!("reqd_work_group_size({})", sizes())),
        ExecutionMode::LocalSizeHint => Some(format!("work_group_size_hint({})", sizes())),
        ExecutionMode::VecTypeHint => {
            let (&code, _) = mode.operands.split_first()?;
            Some(format!("vec_type_hint({})", name_vector_type(code)?))
        }
        ExecutionMode::SubgroupSize => Some(format!("intel_reqd_sub_group_size({})", sizes())),
        _ => None,
    }
}

/// The vector type of a hint: the number of components in the upper half, the type of components in the lower one.
fn name_vector_type(code: u32) -> Option<String> {
    let names = ["char", "short", "int", "long", "half", "float", "double"];
    let name = names.get((code & 0xffff) as usize)?;
    Some(match code >> 16 {
        0 | 1 => (*name).to_owned(),
        count => format!("{name}{count}"),
    })
}
