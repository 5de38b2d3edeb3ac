//! Shadow memory: the memory that launches may use, with its shadow cells.

use super::shadow_cell::PHASES;
use std::collections::BTreeMap;

/// Alignment of the address at which the cells of a region begin, the largest granule in bytes. Cells then begin at
/// multiples of their granule, as accesses do, whatever the address of the region.
const CELL_ALIGN: u64 = 8;

/// Cells of a region, one for each granule of memory.
struct ShadowCells {
    /// Logarithm of the bytes of a cell.
    granule: u32,
    cells: Vec<u64>,
    /// Accesses for which the cells have no room.
    prior: Vec<u64>,
    /// The last atomic release at each cell's first byte: phase and invocation, in the position of a cell.
    released: Vec<u64>,
}

/// The granules in whose cells an access is recorded, as logarithms of bytes.
#[derive(Clone, Copy)]
pub(crate) enum CellGranules {
    /// The granule of the argument or binding that is accessed.
    One(u32),
    /// The granule of the smallest access by an address of unknown origin, and all smaller ones.
    UpTo(u32),
}

/// A piece of memory.
pub(crate) struct ShadowRegion {
    pub base: u64,
    pub length: u64,
    shadows: Vec<ShadowCells>,
}

impl ShadowRegion {
    /// The addresses of the cell and the release record that have an address, for a granule. They are allocated on first
    /// use.
    pub fn cell_addresses(&mut self, address: u64, granule: u32) -> [u64; 2] {
        let offset = self.cell_offset(address) >> granule << 3;
        let shadow = self.shadow_for_granule(granule);
        [&shadow.cells, &shadow.released].map(|of| of.as_ptr() as u64 + offset)
    }

    /// Bytes between the beginning of the first cell and an address.
    fn cell_offset(&self, address: u64) -> u64 {
        address - (self.base & !(CELL_ALIGN - 1))
    }

    fn shadow_for_granule(&mut self, granule: u32) -> &mut ShadowCells {
        let known = self.shadows.iter().position(|s| s.granule == granule);
        let at = known.unwrap_or_else(|| {
            let end = self.cell_offset(self.base) + self.length;
            let count = (end as usize >> granule) + 1;
            self.shadows.push(ShadowCells {
                granule,
                cells: vec![0; count],
                prior: vec![0; count],
                released: vec![0; count],
            });
            self.shadows.len() - 1
        });
        &mut self.shadows[at]
    }

    /// The last release at an address, in one granule or in any.
    pub fn last_release(&self, address: u64, granule: Option<u32>) -> u64 {
        let shadows = self.shadows.iter();
        let shadows = shadows.filter(|s| granule.is_none_or(|g| g == s.granule));
        let offset = self.cell_offset(address) as usize;
        let slots = shadows.filter_map(|s| s.released.get(offset >> s.granule));
        slots.copied().max().unwrap_or(0)
    }

    /// Notes that somebody released there.
    pub fn record_release(&mut self, address: u64, granule: Option<u32>, by: u64) {
        let offset = self.cell_offset(address) as usize;
        let shadows = self.shadows.iter_mut();
        for shadow in shadows.filter(|s| granule.is_none_or(|g| g == s.granule)) {
            if let Some(slot) = shadow.released.get_mut(offset >> shadow.granule) {
                *slot = by;
            }
        }
    }

    /// Calls a function with the cells of some bytes, in one granule or in all existing ones up to a bound. Larger
    /// granules belong to other kernels, in which neighbours share a cell.
    pub fn each_cell(
        &mut self,
        address: u64,
        bytes: u64,
        granules: CellGranules,
        mut f: impl FnMut(u64, &mut u64, &mut u64),
    ) {
        let range = match granules {
            CellGranules::One(granule) => granule..=granule,
            CellGranules::UpTo(most) => 0..=most,
        };
        if !self.shadows.iter().any(|s| range.contains(&s.granule)) {
            self.shadow_for_granule(*range.end());
        }
        let offset = self.cell_offset(address);
        for shadow in &mut self.shadows {
            if !range.contains(&shadow.granule) {
                continue;
            }
            let first = (offset >> shadow.granule) as usize;
            let last = ((offset + bytes.max(1) - 1) >> shadow.granule) as usize;
            let cells = shadow.cells.iter_mut().zip(&mut shadow.prior).enumerate();
            for (n, (cell, prior)) in cells.skip(first).take(last + 1 - first) {
                f((n as u64) << shadow.granule, cell, prior);
            }
        }
    }
}

/// All memory that launches may use.
#[derive(Default)]
pub(crate) struct ShadowMemory {
    rows: BTreeMap<u64, ShadowRegion>,
    next_phase: u64,
}

impl ShadowMemory {
    /// Adds a region, which replaces all regions that it overlaps.
    pub fn add_region(&mut self, base: u64, length: u64) {
        while let Some(found) = self.find_overlapping(base, length) {
            self.rows.remove(&found);
        }
        let region = ShadowRegion {
            base,
            length,
            shadows: Vec::new(),
        };
        self.rows.insert(base, region);
    }

    /// Removes one.
    pub fn remove_region(&mut self, base: u64) {
        self.rows.remove(&base);
    }

    fn find_overlapping(&self, base: u64, length: u64) -> Option<u64> {
        let end = base.saturating_add(length.max(1));
        let before = self.rows.range(..end).next_back();
        let found = before.filter(|(_, r)| r.base + r.length.max(1) > base);
        found.map(|(at, _)| *at)
    }

    /// The piece that has an address.
    pub fn find_region(&mut self, address: u64) -> Option<&mut ShadowRegion> {
        let before = self.rows.range_mut(..=address).next_back();
        before
            .map(|(_, r)| r)
            .filter(|r| address - r.base < r.length)
    }

    /// The piece that begins last before an address.
    pub fn preceding_region(&self, address: u64) -> Option<(u64, u64)> {
        let before = self.rows.range(..=address).next_back();
        before.map(|(_, r)| (r.base, r.length))
    }

    /// Begins a phase: its number. When there are no more numbers, everything is forgotten; whether
    /// that happened.
    pub fn next_phase(&mut self) -> (u64, bool) {
        self.next_phase += 1;
        let full = self.next_phase >= PHASES;
        if full {
            for region in self.rows.values_mut() {
                region.shadows.clear();
            }
            self.next_phase = 1;
        }
        (self.next_phase, full)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells of four bytes that another kernel had, and of bytes that this one has.
    #[test]
    fn accesses_by_address_are_noted_in_cells_of_their_size() {
        let mut regions = ShadowMemory::default();
        regions.add_region(0x1000, 8);
        let region = regions.find_region(0x1001).expect("it is there");
        region.cell_addresses(0x1000, 2);
        let mut noted = Vec::new();
        region.each_cell(0x1001, 1, CellGranules::UpTo(0), |at, cell, _| {
            *cell += 1;
            noted.push(at);
        });
        assert_eq!(noted, [1]);
        let mut cells = Vec::new();
        region.each_cell(0x1000, 8, CellGranules::One(2), |_, cell, _| {
            cells.push(*cell)
        });
        assert_eq!(cells, [0, 0]);
        region.each_cell(0x1000, 2, CellGranules::UpTo(1), |_, cell, _| {
            cells.push(*cell)
        });
        assert_eq!(cells[2..], [0, 1]);
    }

    /// Neighbours that are aligned share no cell, though the region begins within one.
    #[test]
    fn cells_begin_at_multiples_of_their_granule() {
        let mut regions = ShadowMemory::default();
        regions.add_region(0x1002, 10);
        let region = regions.find_region(0x1002).expect("it is there");
        let [first, next] = [0x1004, 0x1008].map(|at| region.cell_addresses(at, 2)[0]);
        assert_eq!(next - first, 8);
        for address in [0x1004, 0x1008] {
            region.each_cell(address, 4, CellGranules::One(2), |_, cell, _| *cell += 1);
        }
        let mut cells = Vec::new();
        region.each_cell(0x1002, 10, CellGranules::One(2), |_, cell, _| {
            cells.push(*cell)
        });
        assert_eq!(cells, [0, 1, 1]);
    }
}
