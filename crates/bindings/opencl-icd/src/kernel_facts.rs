//! Facts of kernels that queries report: workgroup memory, and attributes of the source.

use crate::program_image::ProgramImage;
use spirula_spirv::grammar::enumerants::ExecutionMode;
use spirula_spirv::reflect::{EntryDetails, EntryExecutionMode, subgroup_demands};

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
    pub fn from_image(image: &ProgramImage, name: &str) -> KernelFacts {
        let details = EntryDetails::from_module(&image.module, name).unwrap_or_default();
        let mut demands = subgroup_demands(&image.module).into_iter();
        let hint = image
            .find_argument_texts("vec_type_hint", name)
            .into_iter()
            .next()
            .unwrap_or_default();
        KernelFacts {
            workgroup_bytes: details.workgroup_bytes,
            attributes: list_attributes(&details.modes, &hint),
            subgroup_size: demands
                .find(|demand| demand.entry == name)
                .map(|demand| demand.size),
        }
    }
}

/// The attributes that execution modes come from. The type of a vector hint is `hint`, unless it is empty.
fn list_attributes(modes: &[EntryExecutionMode], hint: &str) -> String {
    let describe = |mode: &EntryExecutionMode| match mode.mode {
        ExecutionMode::VecTypeHint if !hint.is_empty() => Some(format!("vec_type_hint({hint})")),
        _ => describe_mode(mode),
    };
    let texts: Vec<String> = modes.iter().filter_map(describe).collect();
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
