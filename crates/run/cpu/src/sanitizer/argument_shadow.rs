//! Argument shadow: the bounds and the shadow cells of an argument or binding.

/// An argument or binding as generated code reads it. Offsets are from the address that the kernel is passed.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ArgumentShadow {
    /// Address of its first shadow cell.
    pub cells: u64,
    /// The first offsets at which accesses of 1, 2, 4, 8 and 16 bytes are outside.
    pub ends: [u64; 5],
    /// Address of the release record of its first cell.
    pub released: u64,
    /// Address and length of the memory that may be used. It may begin before the address that the kernel is passed.
    pub memory: [u64; 2],
}

impl ArgumentShadow {
    /// The shadow of memory from `base` on. The last parameter has the addresses of its cells and release records.
    pub fn new(base: u64, length: u64, [cells, released]: [u64; 2]) -> ArgumentShadow {
        let end = |n: u32| (length + 1).saturating_sub(1 << n);
        ArgumentShadow {
            cells,
            ends: [0, 1, 2, 3, 4].map(end),
            released,
            memory: [base, length],
        }
    }

    /// The shadow of the same memory for a pointer to an address in it.
    pub fn shadow_from_address(self, address: u64, granule: u32) -> ArgumentShadow {
        let before = address - self.memory[0];
        let cells = before >> granule << 3;
        // No cell begins at other addresses. The ends of 0 send each access to the runtime.
        let is_whole = before.is_multiple_of(1 << granule);
        ArgumentShadow {
            cells: self.cells + cells,
            ends: self.ends.map(|end| {
                if is_whole {
                    end.saturating_sub(before)
                } else {
                    0
                }
            }),
            released: self.released + cells,
            memory: self.memory,
        }
    }
}
