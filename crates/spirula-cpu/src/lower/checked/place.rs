//! What an access is compared with: where its pointer comes from.

use super::{Lower, RowKind};
use crate::check::{runtime, sites};
use crate::context::at;
use crate::lower::scope::fixed;
use crate::lower::{Global, SlotKind};
use crate::program::Program;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use spirula_source::Diagnostic;
use spirula_spirv::Id;

/// How long what a pointer comes from is.
#[derive(Clone, Copy)]
pub(super) enum Length {
    Known(u64),
    /// Of a row, by its address.
    Row(Value),
}

/// What is kept about it.
#[derive(Clone, Copy)]
pub(super) enum Space {
    /// Cells from an address on.
    Global {
        cells: Value,
        granule: u32,
    },
    Group {
        cells: Value,
        cleared: bool,
    },
    /// Definedness, so many bytes behind.
    Private(u64),
    Nothing,
}

/// What a pointer comes from.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub base: Value,
    pub length: Length,
    pub space: Space,
}

impl Lower<'_, '_, '_> {
    /// What a pointer comes from, where that is known here.
    pub(super) fn place(&mut self, pointer: Id) -> Result<Option<Place>, Diagnostic> {
        let root = self
            .shared
            .checking
            .as_ref()
            .and_then(|c| c.provenance.root(pointer));
        let Some(root) = root else { return Ok(None) };
        let place = if let Some(room) = self.rooms.get(&root).copied() {
            Some(Place {
                base: self.room_address(room.held),
                length: Length::Known(room.bytes),
                space: room.defined.map_or(Space::Nothing, Space::Private),
            })
        } else if let Some(global) = self.shared.globals.get(root) {
            self.global_place(root, global)
        } else {
            self.argument_place(root)
        };
        if place.is_some() {
            let site = self.site();
            let program = self.program;
            if let Some(checking) = &mut self.shared.checking {
                checking.sites.name_object(site, || describe(program, root));
            }
        }
        Ok(place)
    }

    pub(super) fn global_place(&mut self, root: Id, global: Global) -> Option<Place> {
        let size = self.program.variable_type(root);
        let size = size.map_or(0, |ty| self.program.types.layouts.get(ty).size);
        let known = |base: Value, space: Space| Place {
            base,
            length: Length::Known(size),
            space,
        };
        Some(match global {
            Global::Data { address } => {
                known(self.iconst(types::I64, address as i64), Space::Nothing)
            }
            Global::Push => known(self.context(types::I64, at::PUSH), Space::Nothing),
            Global::Private { offset } => {
                let base = self.item.private;
                let base = self.builder.ins().iadd_imm_s(base, i64::from(offset));
                let all = u64::from(self.shared.globals.private_bytes).next_multiple_of(16);
                known(base, Space::Private(all))
            }
            Global::Workgroup { offset } => {
                let base = self.context(types::I64, at::WORKGROUP);
                let base = self.builder.ins().iadd_imm_s(base, i64::from(offset));
                let granule = self.group_granule();
                let cells = self.live(runtime::at::GROUP_CELLS);
                let first = i64::from(offset >> granule) * 8;
                let cells = self.builder.ins().iadd_imm_s(cells, first);
                let cleared = self.shared.globals.zero_workgroup;
                known(base, Space::Group { cells, cleared })
            }
            Global::Binding { index } => {
                let params = self
                    .program
                    .functions
                    .get(self.program.entry.func)
                    .params
                    .len();
                self.row_place(params + index as usize, false)
            }
            _ => return None,
        })
    }

    pub(super) fn argument_place(&mut self, root: Id) -> Option<Place> {
        let params = &self.program.functions.get(self.program.entry.func).params;
        let index = params.iter().position(|p| *p == root)?;
        let slots = self.shared.slots;
        match slots.get(index)?.kind {
            SlotKind::Buffer => Some(self.row_place(index, false)),
            SlotKind::Local => Some(self.row_place(index, true)),
            _ => None,
        }
    }

    pub(super) fn row_place(&mut self, index: usize, is_group: bool) -> Place {
        let rows = self.live(runtime::at::ROWS);
        let row = index as i64 * i64::from(runtime::at::ROW);
        let row = self.builder.ins().iadd_imm_s(rows, row);
        let base = self.builder.ins().load(types::I64, fixed(), row, 0);
        let kind = self.shared.rows.get(index).copied();
        let kind = kind.unwrap_or(RowKind {
            granule: 2,
            races: false,
        });
        let space = if is_group || kind.races {
            let ins = self.builder.ins();
            let cells = ins.load(types::I64, fixed(), row, runtime::at::CELLS);
            if is_group {
                Space::Group {
                    cells,
                    cleared: false,
                }
            } else {
                Space::Global {
                    cells,
                    granule: kind.granule,
                }
            }
        } else {
            Space::Nothing
        };
        Place {
            base,
            length: Length::Row(row),
            space,
        }
    }

    pub(super) fn group_granule(&self) -> u32 {
        self.shared.checking.as_ref().map_or(2, |c| c.group_granule)
    }

    /// A field of what is known of the workgroup.
    pub(super) fn live(&mut self, offset: i32) -> Value {
        let live = self.context(types::I64, at::CHECK);
        self.builder.ins().load(types::I64, fixed(), live, offset)
    }
}

/// What a variable or parameter is called in reports.
pub(super) fn describe(program: &Program<'_>, root: Id) -> String {
    use spirula_spirv::grammar::enumerants::{Decoration, StorageClass};
    let name = sites::name_of(program, root);
    let params = &program.functions.get(program.entry.func).params;
    if let Some(n) = params.iter().position(|p| *p == root) {
        return format!("argument {n} ({name})");
    }
    if let Some(binding) = program.decoration(root, Decoration::Binding) {
        let set = program.decoration(root, Decoration::DescriptorSet);
        return format!("set {} binding {binding} ({name})", set.unwrap_or(0));
    }
    let class = program.type_of(root).map(|ty| program.types.kind(ty));
    let class = match class {
        Some(crate::types::Kind::Pointer { class, .. }) => class,
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
