//! Accessed object: the variable or argument that a pointer comes from, with its bounds and its shadow.

use super::analysis::RowKind;
use super::{ClifLowering, SanitizerHooks};
use crate::analysis::analysed_module::AnalysedModule;
use crate::codegen::lowering::invariant_flags;
use crate::layout::globals::GlobalLocation;
use crate::layout::launch_context::at;
use crate::layout::parameters::SlotKind;
use crate::sanitizer::{access_info as info, instruction_sites, runtime};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;

/// Length of an object in bytes.
#[derive(Clone, Copy)]
pub(super) enum ObjectLength {
    Known(u64),
    /// The length of a row, by its number.
    Row(usize),
}

/// The base of shadow cells.
#[derive(Clone, Copy)]
pub(super) enum ShadowBase {
    /// The cells of a row, by its number.
    Row(usize),
    /// Bytes after the first cell of the workgroup.
    Group(i64),
}

/// The shadow of an object.
#[derive(Clone, Copy)]
pub(super) enum ShadowKind {
    /// Cells from an address on.
    Global {
        cells: ShadowBase,
        granule: u32,
    },
    Group {
        cells: ShadowBase,
        cleared: bool,
    },
    /// Flags of defined bytes, which lie this many bytes after them.
    Private(u64),
    Nothing,
}

/// The object that a pointer comes from.
#[derive(Clone, Copy)]
pub(super) struct AccessedObject {
    pub base: Value,
    pub length: ObjectLength,
    pub space: ShadowKind,
}

impl AccessedObject {
    /// The bit of the access info for reads that need no write before.
    pub fn cleared_flag(&self) -> u64 {
        match self.space {
            ShadowKind::Group { cleared: true, .. } => info::CLEARED,
            _ => 0,
        }
    }
}

impl SanitizerHooks {
    /// The object that a pointer comes from; none where it is not known.
    pub(super) fn find_accessed_object(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        pointer: Id,
    ) -> Result<Option<AccessedObject>, SourceDiagnostic> {
        let Some(root) = self.find_pointer_root(pointer) else {
            return Ok(None);
        };
        let place = self.place_of(lower, root)?;
        if place.is_some() {
            let site = self.current_site(lower);
            let describe = || describe_root(lower.program, root);
            self.sites.borrow_mut().name_object(site, describe);
        }
        Ok(place)
    }

    /// The variable or argument that a pointer comes from.
    pub(super) fn find_pointer_root(&self, pointer: Id) -> Option<Id> {
        self.analysis.provenance.find_root(pointer)
    }

    /// The object of a root, which is a variable or an argument.
    pub(super) fn place_of(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        root: Id,
    ) -> Result<Option<AccessedObject>, SourceDiagnostic> {
        let room = self.state.borrow().rooms.get(&root).copied();
        let place = if let Some(room) = room {
            Some(AccessedObject {
                base: lower.private_memory_address(room.held),
                length: ObjectLength::Known(room.bytes),
                space: ShadowKind::Private(room.defined),
            })
        } else if let Some(global) = lower.shared.globals.get(root) {
            self.global_cell_location(lower, root, global)
        } else {
            self.argument_cell_location(lower, root)
        };
        Ok(place)
    }

    pub(super) fn global_cell_location(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        root: Id,
        global: GlobalLocation,
    ) -> Option<AccessedObject> {
        let size = lower.program.variable_type(root);
        let size = size.map_or(0, |ty| lower.program.types.layouts.get(ty).size);
        let known = |base: Value, space: ShadowKind| AccessedObject {
            base,
            length: ObjectLength::Known(size),
            space,
        };
        Some(match global {
            GlobalLocation::Data { address } => known(
                lower.emit_iconst(types::I64, address as i64),
                ShadowKind::Nothing,
            ),
            GlobalLocation::Push => known(
                lower.load_context_field(types::I64, at::PUSH),
                ShadowKind::Nothing,
            ),
            GlobalLocation::Private { offset } => {
                let base = lower.item.rooms;
                let base = lower.builder.ins().iadd_imm_s(base, i64::from(offset));
                let all = u64::from(lower.shared.globals.private_bytes).next_multiple_of(16);
                known(base, ShadowKind::Private(all))
            }
            GlobalLocation::Workgroup { offset } => {
                let base = lower.load_context_field(types::I64, at::WORKGROUP);
                let base = lower.builder.ins().iadd_imm_s(base, i64::from(offset));
                let granule = self.group_granule();
                let cells = ShadowBase::Group(i64::from(offset >> granule) * 8);
                let cleared = lower.shared.globals.zero_workgroup;
                known(base, ShadowKind::Group { cells, cleared })
            }
            GlobalLocation::Binding { index } => {
                let params = lower
                    .program
                    .functions
                    .get(lower.program.entry.func)
                    .params
                    .len();
                let base = lower.binding_address(index);
                self.row_cell_location(base, params + index as usize, false)
            }
            _ => return None,
        })
    }

    pub(super) fn argument_cell_location(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        root: Id,
    ) -> Option<AccessedObject> {
        let params = &lower.program.functions.get(lower.program.entry.func).params;
        let index = params.iter().position(|p| *p == root)?;
        let slot = lower.shared.slots.get(index)?;
        let is_group = match slot.kind {
            SlotKind::Buffer => false,
            SlotKind::Local => true,
            _ => return None,
        };
        let args = lower.load_context_field(types::I64, at::ARGS);
        let offset = slot.offset as i32;
        let base = lower
            .builder
            .ins()
            .load(types::I64, invariant_flags(), args, offset);
        Some(self.row_cell_location(base, index, is_group))
    }

    fn row_cell_location(&self, base: Value, row: usize, is_group: bool) -> AccessedObject {
        let kind = self.rows.get(row).copied();
        let kind = kind.unwrap_or(RowKind {
            granule: 2,
            races: false,
        });
        let space = match (is_group, kind.races) {
            (true, _) => ShadowKind::Group {
                cells: ShadowBase::Row(row),
                cleared: false,
            },
            (false, true) => ShadowKind::Global {
                cells: ShadowBase::Row(row),
                granule: kind.granule,
            },
            _ => ShadowKind::Nothing,
        };
        AccessedObject {
            base,
            length: ObjectLength::Row(row),
            space,
        }
    }

    /// The address of the first cell.
    pub(super) fn first_cell(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        cells: ShadowBase,
    ) -> Value {
        match cells {
            ShadowBase::Row(row) => self.row_field(lower, row, runtime::at::CELLS),
            ShadowBase::Group(first) => {
                let cells = self.load_workgroup_field(lower, runtime::at::GROUP_CELLS);
                lower.builder.ins().iadd_imm_s(cells, first)
            }
        }
    }

    pub(super) fn group_granule(&self) -> u32 {
        self.analysis.group_granule
    }
}

/// The description of a variable or parameter in reports.
pub(super) fn describe_root(program: &AnalysedModule<'_>, root: Id) -> String {
    use spirula_spirv::grammar::enumerants::{Decoration, StorageClass};
    let name = instruction_sites::name_of(program, root);
    let params = &program.functions.get(program.entry.func).params;
    if let Some(n) = params.iter().position(|p| *p == root) {
        return format!("argument {n} ({name})");
    }
    if let Some(binding) = program.decoration_operand(root, Decoration::Binding) {
        let set = program.decoration_operand(root, Decoration::DescriptorSet);
        return format!("set {} binding {binding} ({name})", set.unwrap_or(0));
    }
    let class = program.type_of(root).map(|ty| program.types.kind(ty));
    let class = match class {
        Some(crate::module::types::LoweredTypeKind::Pointer { class, .. }) => class,
        _ => StorageClass::Function,
    };
    let kind = match class {
        StorageClass::Workgroup => "workgroup variable",
        StorageClass::Function | StorageClass::Private => "private variable",
        StorageClass::PushConstant => "push constants",
        _ => "variable",
    };
    format!("{kind} {name}")
}
