//! Entry point: the function that a kernel starts with, its workgroup size and the width of its gangs.

use super::constants::{ConstantScalar, SpirvConstants};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{BuiltIn, Decoration, ExecutionMode, ExecutionModel};
use spirula_spirv::ir::{Func, ModuleSection, SpirvModule};

/// Most invocations of a gang.
pub(crate) const MAX_GANG_WIDTH: usize = 8;
/// Fewest invocations of a gang.
const LEAST_GANG_WIDTH: usize = 4;

/// The entry point that is compiled.
#[derive(Clone, Debug)]
pub(crate) struct EntryInfo {
    /// The function.
    pub func: Func,
    /// The function's name.
    pub name: String,
    /// Whether it is a `Kernel`; a `GLCompute` shader otherwise.
    pub is_kernel: bool,
    /// Whether it is a function that a kernel enqueues instead of an entry point.
    pub is_block: bool,
    /// Size of its workgroups, where the module fixes it.
    pub local_size: Option<[u32; 3]>,
}

/// Selects the function that a kernel starts with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EntrySelector<'a> {
    /// An entry point.
    Entry(&'a str, ExecutionModel),
    /// A function that a kernel enqueues.
    Block(Func),
}

impl EntryInfo {
    /// The description of the selected function.
    ///
    /// # Errors
    /// When the module has no such entry point, its execution model is not supported, or it has no body.
    pub fn from_module(
        module: &SpirvModule,
        constants: &SpirvConstants,
        start: EntrySelector<'_>,
    ) -> Result<EntryInfo, SourceDiagnostic> {
        match start {
            EntrySelector::Entry(name, model) => find_entry(module, constants, name, model),
            EntrySelector::Block(func) => Ok(block_entry(module, constants, func)),
        }
    }

    /// The size along an axis of every workgroup, where it is known. The last workgroups of a kernel may be smaller
    /// than the size that the module fixes.
    pub fn uniform_axis_size(&self, axis: usize) -> Option<u32> {
        let size = self.local_size?[axis];
        (!self.is_kernel || size == 1).then_some(size)
    }

    /// Invocations of a gang; none where the workgroup size is no multiple of a gang width.
    pub fn gang_width(&self) -> Option<usize> {
        choose_gang_width(self.local_size.map(|size| size[0]), MAX_GANG_WIDTH)
    }

    /// Invocations of a gang whose values fill the registers: fewer, where a workgroup has several gangs.
    pub fn narrow_gang_width(&self) -> Option<usize> {
        let sizes = self.local_size;
        if sizes.is_some_and(|sizes| sizes[0] <= MAX_GANG_WIDTH as u32) {
            return self.gang_width();
        }
        choose_gang_width(sizes.map(|size| size[0]), LEAST_GANG_WIDTH)
    }

    /// Whether each workgroup of a shader is one gang and one subgroup.
    pub fn is_gang(&self, subgroup_size: u32) -> bool {
        let Some([x, y, z]) = self.local_size else {
            return false;
        };
        let width = self.gang_width().filter(|width| *width as u32 == x);
        !self.is_kernel && width.is_some() && [y, z] == [1, 1] && x <= subgroup_size
    }
}

/// The gang width for workgroups of `size` invocations in x: the largest width, up to `most`, that divides the size. A size
/// that is not fixed takes the largest width.
fn choose_gang_width(size: Option<u32>, most: usize) -> Option<usize> {
    let widths = [MAX_GANG_WIDTH, LEAST_GANG_WIDTH].into_iter();
    let mut widths = widths.filter(|width| *width <= most);
    widths.find(|width| size.is_none_or(|size| size.is_multiple_of(*width as u32)))
}

/// The description of a function that a kernel enqueues.
fn block_entry(module: &SpirvModule, constants: &SpirvConstants, func: Func) -> EntryInfo {
    let function = module.function_id(func);
    let mut names = module.section_insts(ModuleSection::Names);
    let name = names.find(|n| n.op() == Op::Name && n.id_operand(0) == function);
    EntryInfo {
        func,
        name: name.map_or_else(|| function.to_string(), |n| n.string_operand(1)),
        is_kernel: true,
        is_block: true,
        local_size: local_size(module, constants, function),
    }
}

fn find_entry(
    module: &SpirvModule,
    constants: &SpirvConstants,
    name: &str,
    model: ExecutionModel,
) -> Result<EntryInfo, SourceDiagnostic> {
    let mut points = module.section_insts(ModuleSection::EntryPoints);
    let point = points
        .find(|p| p.operand_word(0) == model.0 && p.string_operand(2) == name)
        .ok_or_else(|| {
            let message = format!("the module has no entry point {name} of model {model}");
            SourceDiagnostic::error(SourceLocation::Unknown, message)
        })?;
    if model != ExecutionModel::Kernel && model != ExecutionModel::GLCompute {
        let message = format!("the execution model {model} is not supported by the CPU device");
        return Err(SourceDiagnostic::error(point.place(), message));
    }
    let function = point.id_operand(1);
    let func = module
        .functions()
        .iter()
        .copied()
        .find(|f| module.function_id(*f) == function);
    let func = func.filter(|f| !module.function(*f).blocks.is_empty());
    let func = func.ok_or_else(|| {
        let message = format!("the entry point {name} has no body");
        SourceDiagnostic::error(point.place(), message)
    })?;
    let is_kernel = model == ExecutionModel::Kernel;
    let declared = local_size(module, constants, function);
    Ok(EntryInfo {
        func,
        name: name.to_owned(),
        is_kernel,
        is_block: false,
        local_size: if is_kernel {
            declared
        } else {
            Some(declared.unwrap_or([1; 3]))
        },
    })
}

/// The workgroup size that a module fixes. The constant decorated `WorkgroupSize` overrides the execution modes.
fn local_size(module: &SpirvModule, constants: &SpirvConstants, function: Id) -> Option<[u32; 3]> {
    for inst in module.section_insts(ModuleSection::Annotations) {
        if let (Op::Decorate, [target, decoration, builtin]) = (inst.op(), inst.operands())
            && *decoration == Decoration::BuiltIn.0
            && *builtin == BuiltIn::WorkgroupSize.0
            && let Some(id) = Id::new(*target)
        {
            let bits = |n: usize| match constants.scalars(id).get(n) {
                Some(ConstantScalar::Plain(bits)) => Some(*bits as u32),
                _ => None,
            };
            // In kernels the built-in is a variable, which fixes no size.
            if let (Some(x), Some(y), Some(z)) = (bits(0), bits(1), bits(2)) {
                return Some([x, y, z]);
            }
        }
    }
    let modes = module.section_insts(ModuleSection::ExecutionModes);
    for mode in modes.filter(|m| m.id_operand(0) == function) {
        let [_, kind, x, y, z] = *mode.operands() else {
            continue;
        };
        if kind == ExecutionMode::LocalSize.0 {
            return Some([x, y, z]);
        }
        if kind == ExecutionMode::LocalSizeId.0 {
            let value = |word| constants.get_u64(Id::new(word)?).map(|v| v as u32);
            return Some([value(x)?, value(y)?, value(z)?]);
        }
    }
    None
}
