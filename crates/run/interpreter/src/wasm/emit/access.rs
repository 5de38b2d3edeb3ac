//! Accesses to memory, each within the bounds of its region.

use super::{FunctionEmitter, RegionLocals, StepOperand};
use crate::memory::{MemoryRegion, OFFSET_BITS};
use crate::step::{Slot, TableRange};
use crate::wasm::address_facts::AddressFact;
use crate::wasm::module_writer::{
    FAULT_OUTSIDE, HELPER_FAULT, HELPER_FIND_REGION, HELPER_TRANSLATE,
};
use crate::wasm::value_class::ValueClass;
use wasm_encoder::{BlockType, ValType};

/// An address in linear memory: the local of its base, and an offset that instructions add.
#[derive(Clone, Copy, Debug)]
pub(in crate::wasm) struct CellPointer {
    pub local: u32,
    pub offset: u64,
}

impl CellPointer {
    /// The pointer a given number of bytes after.
    pub(super) fn add(self, bytes: u64) -> CellPointer {
        CellPointer {
            offset: self.offset + bytes,
            ..self
        }
    }
}

impl FunctionEmitter<'_, '_> {
    /// The locals of a region's bounds.
    fn find_region(&mut self, fact: AddressFact) -> usize {
        let known = self.regions.iter().position(|region| region.fact == fact);
        if let Some(known) = known {
            return known;
        }
        let is_parameter = matches!(fact, AddressFact::Parameter(_));
        let region = RegionLocals {
            fact,
            base: self.new_local(ValueClass::I32),
            size: self.new_local(ValueClass::I64),
            start: is_parameter.then(|| self.new_local(ValueClass::I64)),
            limits: Vec::new(),
        };
        self.regions.push(region);
        self.regions.len() - 1
    }

    /// The first offset in a region that is too large for a given number of bytes.
    fn find_limit(&mut self, region: usize, bytes: u64) -> u32 {
        let mut limits = self.regions[region].limits.iter();
        if let Some((_, limit)) = limits.find(|(span, _)| *span == bytes) {
            return *limit;
        }
        let limit = self.new_local(ValueClass::I64);
        self.regions[region].limits.push((bytes, limit));
        limit
    }

    /// Bytes that a region has in every launch.
    fn least_bytes(&self, region: u32) -> u64 {
        match MemoryRegion(region) {
            MemoryRegion::PRIVATE => self.emission.layout.private_bytes,
            MemoryRegion::WORKGROUP => self.kernel.workgroup_bytes,
            MemoryRegion::MODULE => self.kernel.module_memory.len() as u64,
            _ => 0,
        }
    }

    /// Emits the check of an access at an offset from an address, and returns its pointer in linear memory.
    pub(super) fn emit_access(
        &mut self,
        place: u32,
        address: Slot,
        offset: u64,
        bytes: u64,
    ) -> CellPointer {
        let fact = self.facts.get(address);
        match fact {
            AddressFact::Exact(exact) => {
                let region = (exact >> OFFSET_BITS) as u32;
                let start = (exact & ((1 << OFFSET_BITS) - 1)).saturating_add(offset);
                if start.saturating_add(bytes) <= self.least_bytes(region) {
                    let region = self.find_region(AddressFact::Region(region));
                    return CellPointer {
                        local: self.regions[region].base,
                        offset: start,
                    };
                }
                self.emit_checked(place, address, offset, bytes, AddressFact::Region(region))
            }
            AddressFact::Region(_) | AddressFact::Parameter(_) => {
                self.emit_checked(place, address, offset, bytes, fact)
            }
            AddressFact::Unseen | AddressFact::Anywhere => {
                self.emit_translated(place, address, offset, bytes)
            }
        }
    }

    /// An access to a region that is expected.
    fn emit_checked(
        &mut self,
        place: u32,
        address: Slot,
        offset: u64,
        bytes: u64,
        fact: AddressFact,
    ) -> CellPointer {
        if let AddressFact::Region(number) = fact
            && !self.has_region(number)
        {
            return self.emit_translated(place, address, offset, bytes);
        }
        let region = self.find_region(fact);
        let limit = self.find_limit(region, bytes);
        let (base, start) = (self.regions[region].base, self.regions[region].start);
        let (relative, pointer) = (self.offset_local, self.pointer_local);
        self.push_slot(address, ValueClass::I64);
        match (start, fact) {
            (Some(start), _) => {
                self.sink().local_get(start).i64_sub();
                if offset != 0 {
                    self.sink().i64_const(offset as i64).i64_add();
                }
            }
            (None, AddressFact::Region(number)) => {
                let start = MemoryRegion(number).address(0).wrapping_sub(offset);
                self.sink().i64_const(start as i64).i64_sub();
            }
            _ => {}
        }
        // An address outside may be in another region, so that the helper looks for it.
        self.sink()
            .local_tee(relative)
            .local_get(limit)
            .i64_ge_u()
            .if_(BlockType::Result(ValType::I32));
        self.push_translated(place, address, offset, bytes);
        self.sink()
            .else_()
            .local_get(relative)
            .i32_wrap_i64()
            .local_get(base)
            .i32_add()
            .end()
            .local_set(pointer);
        CellPointer {
            local: pointer,
            offset: 0,
        }
    }

    /// Whether a region is in the table of every launch.
    fn has_region(&self, number: u32) -> bool {
        let is_fixed = (MemoryRegion::PRIVATE.0..=MemoryRegion::ARGUMENTS.0).contains(&number);
        let resource = number.checked_sub(MemoryRegion::from_resource(0).0);
        is_fixed || resource.is_some_and(|number| number < self.emission.layout.resources)
    }

    /// An access to any region.
    fn emit_translated(
        &mut self,
        place: u32,
        address: Slot,
        offset: u64,
        bytes: u64,
    ) -> CellPointer {
        let pointer = self.pointer_local;
        self.push_translated(place, address, offset, bytes);
        self.sink().local_set(pointer);
        CellPointer {
            local: pointer,
            offset: 0,
        }
    }

    /// Pushes the address in linear memory of bytes that may be in any region.
    fn push_translated(&mut self, place: u32, address: Slot, offset: u64, bytes: u64) {
        self.push_slot(address, ValueClass::I64);
        if offset != 0 {
            self.sink().i64_const(offset as i64).i64_add();
        }
        self.sink()
            .i64_const(bytes as i64)
            .i32_const(place as i32)
            .call(HELPER_TRANSLATE);
    }

    /// The first byte of cells, and the number of bytes up to the end of the last.
    fn measure_cells(&self, cells: TableRange) -> Option<(u64, u64)> {
        let cells = &self.kernel.code.cells[cells.indices()];
        let start = cells.iter().map(|cell| cell.offset).min()?;
        let ends = cells.iter().map(|cell| cell.offset + u64::from(cell.bytes));
        Some((start, ends.max()?.saturating_sub(start)))
    }

    pub(super) fn emit_load(&mut self, place: u32, to: Slot, address: Slot, cells: TableRange) {
        let Some((start, bytes)) = self.measure_cells(cells) else {
            return;
        };
        let pointer = self.emit_access(place, address, start, bytes);
        for (n, cell) in self.kernel.code.cells[cells.indices()].iter().enumerate() {
            let slot = to + n as Slot;
            let class = self.classes[slot as usize];
            self.load_cell(pointer.add(cell.offset - start), cell.bytes, class);
            self.pop_to(slot, class);
        }
    }

    pub(super) fn emit_store(&mut self, place: u32, address: Slot, from: Slot, cells: TableRange) {
        let Some((start, bytes)) = self.measure_cells(cells) else {
            return;
        };
        let pointer = self.emit_access(place, address, start, bytes);
        for (n, cell) in self.kernel.code.cells[cells.indices()].iter().enumerate() {
            let value = StepOperand::Slot(from + n as Slot);
            self.store_cell(pointer.add(cell.offset - start), cell.bytes, value);
        }
    }

    /// A copy of bytes, which may overlap.
    pub(super) fn emit_memory_copy(&mut self, place: u32, [to, from, bytes]: [Slot; 3]) {
        for address in [to, from] {
            self.push_slot(address, ValueClass::I64);
            self.push_slot(bytes, ValueClass::I64);
            self.sink().i32_const(place as i32).call(HELPER_TRANSLATE);
        }
        self.push_slot(bytes, ValueClass::I32);
        self.sink().memory_copy(0, 0);
    }

    /// Bytes from an address to the end of its region, in a local.
    pub(super) fn emit_bytes_behind(&mut self, place: u32, address: Slot) -> u32 {
        let (rest, size) = (self.offset_local, self.temporary(ValueClass::I64, 0));
        let base = self.pointer_local;
        let mask = (1i64 << OFFSET_BITS) - 1;
        self.push_slot(address, ValueClass::I64);
        self.sink()
            .call(HELPER_FIND_REGION)
            .local_set(size)
            .local_set(base)
            .local_get(size);
        self.push_slot(address, ValueClass::I64);
        self.sink()
            .i64_const(mask)
            .i64_and()
            .i64_sub()
            .local_tee(rest)
            .i64_const(0)
            .i64_lt_s()
            .local_get(base)
            .i32_eqz()
            .i32_or()
            .if_(BlockType::Empty)
            .i32_const(FAULT_OUTSIDE)
            .i32_const(place as i32);
        self.push_slot(address, ValueClass::I64);
        self.sink().i64_const(0).call(HELPER_FAULT).end();
        rest
    }
}
