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
    /// The shadow of memory from `base` on. The last parameter has the addresses of its first cell and release record.
    pub fn new(base: u64, length: u64, [cells, released]: [u64; 2]) -> ArgumentShadow {
        let end = |n: u32| (length + 1).saturating_sub(1 << n);
        ArgumentShadow {
            cells,
            ends: [0, 1, 2, 3, 4].map(end),
            released,
            memory: [base, length],
        }
    }

    /// The shadow of a pointer to an address, from which the kernel may access `memory`. The last parameters have the addresses of
    /// the cell and the release record that have the address, and their granule.
    pub fn from_pointer(
        address: u64,
        memory: [u64; 2],
        cells: [u64; 2],
        granule: u32,
    ) -> ArgumentShadow {
        let after = (memory[0] + memory[1]).saturating_sub(address);
        let shadow = ArgumentShadow::new(address, after, cells);
        // No cell begins at other addresses. The ends of 0 send each access to the runtime.
        let is_whole = address.is_multiple_of(1 << granule);
        ArgumentShadow {
            ends: if is_whole { shadow.ends } else { [0; 5] },
            memory,
            ..shadow
        }
    }
}
