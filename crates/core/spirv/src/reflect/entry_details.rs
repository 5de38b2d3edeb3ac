//! Reflection of declarations beyond bindings: execution modes, inputs and outputs, members of blocks.

use super::{InterfaceReflector, entry_point};
use crate::Id;
use crate::analysis::EntryReach;
use crate::grammar::Op;
use crate::grammar::enumerants::{BuiltIn, Decoration, ExecutionMode, StorageClass};
use crate::ir::{InstRef, ModuleSection, SpirvModule};
use spirula_diagnostics::SourceDiagnostic;

/// Declarations of an entry point.
#[derive(Clone, Debug, Default)]
pub struct EntryDetails {
    /// Execution modes, in the order of the module.
    pub modes: Vec<EntryExecutionMode>,
    /// Variables and members that a shader takes from the stage before or from the device.
    pub inputs: Vec<InterfaceVariable>,
    /// Variables and members that a shader gives to the stage after.
    pub outputs: Vec<InterfaceVariable>,
    /// Members of the blocks of push constants that it reaches, by offset.
    pub push_constants: Vec<PushConstantMember>,
    /// Bytes of the workgroup variables that it reaches, before specialisation.
    pub workgroup_bytes: u64,
}

/// An execution mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryExecutionMode {
    /// The mode.
    pub mode: ExecutionMode,
    /// Its literals; for modes whose operands are ids (`LocalSizeId` …) the values of the constants before
    /// specialisation, 0 where they are none.
    pub operands: Vec<u32>,
}

/// An input or output: a variable, or a member of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterfaceVariable {
    /// The `OpVariable`.
    pub variable: Id,
    /// `OpName` of the variable, or `OpMemberName`.
    pub name: Option<String>,
    /// Its type.
    pub ty: Id,
    /// Its location and component, if it is not a built-in variable.
    pub location: Option<(u32, u32)>,
    /// The built-in variable that it is.
    pub builtin: Option<BuiltIn>,
}

/// A member of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushConstantMember {
    /// `OpMemberName`.
    pub name: Option<String>,
    /// Its type.
    pub ty: Id,
    /// Bytes from the beginning of the block.
    pub offset: u64,
    /// Bytes, 0 where it has no end.
    pub size: u64,
}

impl EntryDetails {
    /// The details of the entry point with the given name.
    ///
    /// # Errors
    /// If there is no such entry point, or the layout of types is unknown.
    pub fn from_module(module: &SpirvModule, name: &str) -> Result<EntryDetails, SourceDiagnostic> {
        let (number, point) = entry_point(module, name)?;
        let reflector = InterfaceReflector::new(module)?;
        let mut details = EntryDetails {
            modes: reflector.read_execution_modes(point.id_operand(1)),
            ..EntryDetails::default()
        };
        for operand in point.parse_operands().map_while(Result::ok).skip(3) {
            let variable = operand.words.first().copied().and_then(Id::new);
            if let Some(variable) = variable.and_then(|id| reflector.find_definition(id)) {
                reflector.gather_ports(variable, &mut details);
            }
        }
        let reach = EntryReach::from_module(module);
        let used = reach.used_variables(number);
        details.workgroup_bytes =
            reflector.sum_variables(used.iter().copied(), StorageClass::Workgroup);
        for variable in used {
            if let Some(block) = reflector.find_pushed_block(*variable) {
                details
                    .push_constants
                    .extend(reflector.describe_members(block));
            }
        }
        details.push_constants.sort_by_key(|m| m.offset);
        Ok(details)
    }
}

impl<'a> InterfaceReflector<'a> {
    fn read_execution_modes(&self, function: Id) -> Vec<EntryExecutionMode> {
        let modes = self.module.section_insts(ModuleSection::ExecutionModes);
        let modes = modes.filter(|m| m.get_id(0) == Some(function));
        let mode = |inst: InstRef<'_>| {
            let [_, mode, operands @ ..] = inst.operands() else {
                return None;
            };
            let value = |word: &u32| {
                let value =
                    Id::new(*word).and_then(|id| self.definitions.default_value(self.module, id));
                value.map_or(0, |v| v as u32)
            };
            let operands = match inst.op() {
                Op::ExecutionModeId => operands.iter().map(value).collect(),
                _ => operands.to_vec(),
            };
            let mode = ExecutionMode(*mode);
            Some(EntryExecutionMode { mode, operands })
        };
        modes.filter_map(mode).collect()
    }

    /// The type of the value of an interface variable.
    fn gather_ports(&self, variable: InstRef<'a>, details: &mut EntryDetails) {
        let (Some(id), Some(ty)) = (variable.result(), self.find_data_type(variable)) else {
            return;
        };
        let ports = match StorageClass(variable.operand_word(0)) {
            StorageClass::Input => &mut details.inputs,
            StorageClass::Output => &mut details.outputs,
            _ => return,
        };
        let block = self.block_of(ty);
        match block {
            Some(block) if !self.has_place(id, u32::MAX) => {
                let members = self
                    .find_definition(block)
                    .into_iter()
                    .flat_map(|b| b.id_operands(0));
                ports.extend(members.enumerate().map(|(n, ty)| {
                    let name = self.member_name(block, n as u32);
                    self.describe_port(id, name, ty, block, n as u32)
                }));
            }
            _ => ports.push(self.describe_port(
                id,
                self.names.get(self.module, id),
                ty,
                id,
                u32::MAX,
            )),
        }
    }

    /// The block that a variable is, or is an array of.
    fn block_of(&self, ty: Id) -> Option<Id> {
        let mut inst = self.find_definition(ty)?;
        if matches!(inst.op(), Op::TypeArray | Op::TypeRuntimeArray) {
            inst = self.find_definition(inst.get_id(0)?)?;
        }
        (inst.op() == Op::TypeStruct).then(|| inst.result())?
    }

    fn has_place(&self, id: Id, member: u32) -> bool {
        let mut all = self.decorations.decorations_of(self.module, id, member);
        all.any(|(d, _)| matches!(d, Decoration::Location | Decoration::BuiltIn))
    }

    fn describe_port(
        &self,
        variable: Id,
        name: Option<String>,
        ty: Id,
        of: Id,
        member: u32,
    ) -> InterfaceVariable {
        let word = |what| {
            let mut all = self.decorations.decorations_of(self.module, of, member);
            all.find(|(d, _)| *d == what)
                .and_then(|(_, operands)| operands.first().copied())
        };
        let component = word(Decoration::Component).unwrap_or(0);
        InterfaceVariable {
            variable,
            name,
            ty,
            location: word(Decoration::Location).map(|l| (l, component)),
            builtin: word(Decoration::BuiltIn).map(BuiltIn),
        }
    }

    fn member_name(&self, block: Id, member: u32) -> Option<String> {
        let names = self.module.section_insts(ModuleSection::Names);
        let mut names = names.filter(|i| i.op() == Op::MemberName);
        let found = names.find(|i| i.get_id(0) == Some(block) && i.operand_word(1) == member)?;
        Some(found.string_operand(2)).filter(|name| !name.is_empty())
    }

    /// The block that a variable pushes.
    fn find_pushed_block(&self, variable: Id) -> Option<Id> {
        let inst = self.find_definition(variable)?;
        let block = self.find_definition(self.find_data_type(inst)?)?;
        let is_pushed = inst.operand_word(0) == StorageClass::PushConstant.0;
        (is_pushed && block.op() == Op::TypeStruct).then(|| block.result())?
    }

    fn describe_members(&self, block: Id) -> Vec<PushConstantMember> {
        let members = self
            .find_definition(block)
            .into_iter()
            .flat_map(|b| b.id_operands(0));
        let member = |(n, ty): (usize, Id)| PushConstantMember {
            name: self.member_name(block, n as u32),
            ty,
            offset: self.layouts.member_layout(block, n as u32).offset,
            size: self.layouts.get(ty).size,
        };
        members.enumerate().map(member).collect()
    }
}
