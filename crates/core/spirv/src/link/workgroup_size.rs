//! Workgroup sizes in linked modules.
//!
//! A constant decorated `WorkgroupSize` sets the size of all entry points of its module, above their
//! execution modes. In a linked module it would also set the size of entry points of other modules. It therefore
//! becomes an execution mode of the entry points of its own module, and an ordinary constant.

use crate::Id;
use crate::analysis::IdDefinitions;
use crate::grammar::enumerants::{BuiltIn, Decoration, ExecutionMode, ExecutionModel};
use crate::grammar::{Op, SpirvVersion};
use crate::ir::{Inst, InstRef, ModuleSection, SpirvModule};

/// The first version in which the size may be given by ids.
pub(super) const SIZE_BY_ID: SpirvVersion = SpirvVersion::new(1, 2);

/// The decoration of a constant as the size of workgroups.
fn find_size_decoration(module: &SpirvModule) -> Option<InstRef<'_>> {
    let wanted = [Decoration::BuiltIn.0, BuiltIn::WorkgroupSize.0];
    module
        .section_insts(ModuleSection::Annotations)
        .find(|i| i.op() == Op::Decorate && i.operands().get(1..) == Some(&wanted))
}

/// Whether the size of a module's workgroups is known only after specialisation.
pub(super) fn is_specialised(module: &SpirvModule) -> bool {
    let Some(target) = find_size_decoration(module).map(|d| d.id_operand(0)) else {
        return false;
    };
    let constants = module.section_insts(ModuleSection::Globals);
    let mut own = constants.filter(|i| i.result() == Some(target));
    own.any(|i| i.op() == Op::SpecConstantComposite)
}

/// Turns a module's `WorkgroupSize` constant into execution modes.
pub(super) fn localise_workgroup_size(module: &mut SpirvModule) {
    let Some((found, target)) = find_size_decoration(module).map(|d| (d.handle(), d.id_operand(0)))
    else {
        return;
    };
    let definitions = IdDefinitions::from_module(module);
    // In kernels it decorates variables.
    let is_constant =
        |i: &InstRef<'_>| matches!(i.op(), Op::ConstantComposite | Op::SpecConstantComposite);
    let Some(constant) = definitions.get(module, target).filter(is_constant) else {
        return;
    };
    let parts: Vec<Id> = constant.id_operands(0).collect();
    let values: Option<Vec<u32>> = parts
        .iter()
        .map(|part| definitions.constant_value(module, *part).map(|v| v as u32))
        .collect();
    let (op, mode, size) = match values {
        Some(values) => (Op::ExecutionMode, ExecutionMode::LocalSize, values),
        None => {
            let parts = parts.iter().map(|p| p.word()).collect();
            (Op::ExecutionModeId, ExecutionMode::LocalSizeId, parts)
        }
    };
    module.remove_inst(found);
    let is_size = |i: &InstRef<'_>| {
        let sizes = [ExecutionMode::LocalSize.0, ExecutionMode::LocalSizeId.0];
        i.operands().get(1).is_some_and(|m| sizes.contains(m))
    };
    let modes = module
        .section_insts(ModuleSection::ExecutionModes)
        .filter(is_size);
    let old: Vec<Inst> = modes.map(InstRef::handle).collect();
    for inst in old {
        module.remove_inst(inst);
    }
    let points = module.section_insts(ModuleSection::EntryPoints);
    let points = points.filter(|p| {
        let models = [
            ExecutionModel::GLCompute,
            ExecutionModel::Kernel,
            ExecutionModel::TaskNV,
            ExecutionModel::MeshNV,
            ExecutionModel::TaskEXT,
            ExecutionModel::MeshEXT,
        ];
        p.op() == Op::EntryPoint && models.contains(&ExecutionModel(p.operand_word(0)))
    });
    let mut functions: Vec<Id> = points.map(|p| p.id_operand(1)).collect();
    functions.sort_unstable();
    functions.dedup();
    for function in functions {
        let words: Vec<u32> = [function.word(), mode.0]
            .into_iter()
            .chain(size.clone())
            .collect();
        let inst = module.create_inst(op, &words);
        module.append_inst(ModuleSection::ExecutionModes.list(), inst);
    }
}
