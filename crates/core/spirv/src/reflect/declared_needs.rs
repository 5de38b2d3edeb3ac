//! Declared needs of entry points: sizes of subgroups, and memory of their variables.

use super::InterfaceReflector;
use crate::Id;
use crate::grammar::Op;
use crate::grammar::enumerants::{ExecutionMode, StorageClass};
use crate::ir::{ModuleSection, SpirvModule};
use spirula_diagnostics::SourceLocation;

/// A size of subgroups that an entry point demands by its execution mode `SubgroupSize`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubgroupDemand {
    /// Name of the entry point.
    pub entry: String,
    /// Invocations of a subgroup.
    pub size: u32,
    /// The place of the execution mode.
    pub place: SourceLocation,
}

/// The sizes of subgroups that entry points demand, in the order of the entry points.
pub fn subgroup_demands(module: &SpirvModule) -> Vec<SubgroupDemand> {
    let points = module.section_insts(ModuleSection::EntryPoints);
    let demands = points.filter_map(|point| {
        let mut modes = module.section_insts(ModuleSection::ExecutionModes);
        let demand = modes.find(|mode| {
            mode.get_id(0) == Some(point.id_operand(1))
                && mode.operands().get(1) == Some(&ExecutionMode::SubgroupSize.0)
        })?;
        Some(SubgroupDemand {
            entry: point.string_operand(2),
            size: *demand.operands().get(2)?,
            place: demand.place(),
        })
    });
    demands.collect()
}

/// Bytes of the variables at program scope in global memory; 0 where the layout of types is unknown.
pub fn program_variable_bytes(module: &SpirvModule) -> u64 {
    let Ok(reflector) = InterfaceReflector::new(module) else {
        return 0;
    };
    let globals = module.section_insts(ModuleSection::Globals);
    let variables = globals.filter(|inst| inst.op() == Op::Variable);
    reflector.sum_variables(
        variables.filter_map(|inst| inst.result()),
        StorageClass::CrossWorkgroup,
    )
}

impl InterfaceReflector<'_> {
    /// Bytes of those variables that are in a storage class.
    pub(super) fn sum_variables(
        &self,
        variables: impl Iterator<Item = Id>,
        class: StorageClass,
    ) -> u64 {
        let sizes = variables.filter_map(|id| {
            let variable = self.find_definition(id)?;
            let pointee = self.find_data_type(variable)?;
            let is_inside = StorageClass(variable.operand_word(0)) == class;
            is_inside.then(|| self.layouts.get(pointee).size)
        });
        sizes.fold(0, u64::saturating_add)
    }
}
