//! What an access is compared with: where its pointer comes from.

use super::{ClifLowering, RowKind};
use crate::analysis::analysed_module::AnalysedModule;
use crate::codegen::lowering::invariant_flags;
use crate::layout::globals::GlobalLocation;
use crate::layout::launch_context::at;
use crate::layout::parameters::SlotKind;
use crate::sanitizer::instruction_sites;
use crate::sanitizer::runtime::{self, info};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;

/// How long what a pointer comes from is.
#[derive(Clone, Copy)]
pub(super) enum ObjectLength {
    Known(u64),
    /// Of a row, by its number.
    Row(usize),
}

/// Where cells begin.
#[derive(Clone, Copy)]
pub(super) enum ShadowBase {
    /// Those of a row, by its number.
    Row(usize),
    /// So many bytes behind those of the workgroup.
    Group(i64),
}

/// What is kept about it.
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
    /// Definedness, so many bytes behind.
    Private(u64),
    Nothing,
}

/// What a pointer comes from.
#[derive(Clone, Copy)]
pub(super) struct AccessedObject {
    pub base: Value,
    pub length: ObjectLength,
    pub space: ShadowKind,
}

impl AccessedObject {
    /// What an access is told to be where it reads what need not be written before.
    pub fn cleared_flag(&self) -> u64 {
        match self.space {
            ShadowKind::Group { cleared: true, .. } => info::CLEARED,
            _ => 0,
        }
    }
}

impl ClifLowering<'_, '_, '_> {
    /// What a pointer comes from, where that is known here.
    pub(super) fn find_accessed_object(
        &mut self,
        pointer: Id,
    ) -> Result<Option<AccessedObject>, SourceDiagnostic> {
        let Some(root) = self.find_pointer_root(pointer) else {
            return Ok(None);
        };
        let place = self.place_of(root)?;
        if place.is_some() {
            let site = self.current_site();
            let program = self.program;
            if let Some(checking) = &mut self.shared.checking {
                checking
                    .sites
                    .name_object(site, || describe_root(program, root));
            }
        }
        Ok(place)
    }

    /// The variable or argument that a pointer comes from.
    pub(super) fn find_pointer_root(&self, pointer: Id) -> Option<Id> {
        let checking = self.shared.checking.as_ref();
        checking.and_then(|c| c.provenance.find_root(pointer))
    }

    /// What pointers to a variable or argument come from.
    pub(super) fn place_of(
        &mut self,
        root: Id,
    ) -> Result<Option<AccessedObject>, SourceDiagnostic> {
        let place = if let Some(room) = self.rooms.get(&root).copied() {
            Some(AccessedObject {
                base: self.room_address(room.held),
                length: ObjectLength::Known(room.bytes),
                space: ShadowKind::Private(room.defined),
            })
        } else if let Some(global) = self.shared.globals.get(root) {
            self.global_place(root, global)
        } else {
            self.argument_place(root)
        };
        Ok(place)
    }

    pub(super) fn global_place(
        &mut self,
        root: Id,
        global: GlobalLocation,
    ) -> Option<AccessedObject> {
        let size = self.program.variable_type(root);
        let size = size.map_or(0, |ty| self.program.types.layouts.get(ty).size);
        let known = |base: Value, space: ShadowKind| AccessedObject {
            base,
            length: ObjectLength::Known(size),
            space,
        };
        Some(match global {
            GlobalLocation::Data { address } => known(
                self.emit_iconst(types::I64, address as i64),
                ShadowKind::Nothing,
            ),
            GlobalLocation::Push => known(
                self.load_context_field(types::I64, at::PUSH),
                ShadowKind::Nothing,
            ),
            GlobalLocation::Private { offset } => {
                let base = self.item.rooms;
                let base = self.builder.ins().iadd_imm_s(base, i64::from(offset));
                let all = u64::from(self.shared.globals.private_bytes).next_multiple_of(16);
                known(base, ShadowKind::Private(all))
            }
            GlobalLocation::Workgroup { offset } => {
                let base = self.load_context_field(types::I64, at::WORKGROUP);
                let base = self.builder.ins().iadd_imm_s(base, i64::from(offset));
                let granule = self.group_granule();
                let cells = ShadowBase::Group(i64::from(offset >> granule) * 8);
                let cleared = self.shared.globals.zero_workgroup;
                known(base, ShadowKind::Group { cells, cleared })
            }
            GlobalLocation::Binding { index } => {
                let params = self
                    .program
                    .functions
                    .get(self.program.entry.func)
                    .params
                    .len();
                let base = self.binding_address(index);
                self.row_place(base, params + index as usize, false)
            }
            _ => return None,
        })
    }

    pub(super) fn argument_place(&mut self, root: Id) -> Option<AccessedObject> {
        let params = &self.program.functions.get(self.program.entry.func).params;
        let index = params.iter().position(|p| *p == root)?;
        let slot = self.shared.slots.get(index)?;
        let is_group = match slot.kind {
            SlotKind::Buffer => false,
            SlotKind::Local => true,
            _ => return None,
        };
        let args = self.load_context_field(types::I64, at::ARGS);
        let offset = slot.offset as i32;
        let base = self
            .builder
            .ins()
            .load(types::I64, invariant_flags(), args, offset);
        Some(self.row_place(base, index, is_group))
    }

    fn row_place(&mut self, base: Value, row: usize, is_group: bool) -> AccessedObject {
        let kind = self.shared.rows.get(row).copied();
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
    pub(super) fn first_cell(&mut self, cells: ShadowBase) -> Value {
        match cells {
            ShadowBase::Row(row) => self.row_field(row, runtime::at::CELLS),
            ShadowBase::Group(first) => {
                let cells = self.load_workgroup_field(runtime::at::GROUP_CELLS);
                self.builder.ins().iadd_imm_s(cells, first)
            }
        }
    }

    pub(super) fn group_granule(&self) -> u32 {
        self.shared.checking.as_ref().map_or(2, |c| c.group_granule)
    }
}

/// What a variable or parameter is called in reports.
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
