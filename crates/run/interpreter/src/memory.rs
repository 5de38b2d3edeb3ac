//! Memory of a launch: regions, and addresses that name them.

use crate::facts::MemoryCell;

/// Bits of an address below the number of its region.
pub(crate) const OFFSET_BITS: u32 = 40;

/// The distance from an address to the same offset of the next region.
pub(crate) const REGION_STRIDE: u64 = 1 << OFFSET_BITS;

/// A region of memory: the upper bits of addresses. No region has the number 0, so that null points nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemoryRegion(pub u32);

impl MemoryRegion {
    /// Variables of the invocation.
    pub(crate) const PRIVATE: MemoryRegion = MemoryRegion(1);
    /// Variables of the workgroup.
    pub(crate) const WORKGROUP: MemoryRegion = MemoryRegion(2);
    /// Constants and variables of the module.
    pub(crate) const MODULE: MemoryRegion = MemoryRegion(3);
    /// Push constants, and copies of arguments.
    pub(crate) const ARGUMENTS: MemoryRegion = MemoryRegion(4);
    /// The first buffer, and the first resource that a buffer is bound to.
    const BUFFERS: u32 = 8;
    const RESOURCES: u32 = 1 << 20;

    /// The region of a buffer by its number.
    pub(crate) fn from_buffer(number: usize) -> MemoryRegion {
        MemoryRegion((number as u32).saturating_add(Self::BUFFERS))
    }

    /// The region of a resource by its number in the kernel.
    pub(crate) fn from_resource(number: usize) -> MemoryRegion {
        MemoryRegion((number as u32).saturating_add(Self::RESOURCES))
    }

    /// The address of a byte of the region.
    pub(crate) fn address(self, offset: u64) -> u64 {
        (u64::from(self.0) << OFFSET_BITS).wrapping_add(offset)
    }
}

/// The region that an address names.
pub(crate) fn region_of(address: u64) -> MemoryRegion {
    MemoryRegion((address >> OFFSET_BITS) as u32)
}

/// The offset of an address in its region.
fn offset_of(address: u64) -> usize {
    (address & ((1 << OFFSET_BITS) - 1)) as usize
}

/// The memory that the invocations of a workgroup share.
#[derive(Debug)]
pub(crate) struct SharedMemory<'b> {
    pub buffers: &'b mut [Vec<u8>],
    /// The buffer of each resource of the kernel.
    pub bound: Vec<Option<usize>>,
    pub workgroup: Vec<u8>,
    pub module: Vec<u8>,
    pub arguments: Vec<u8>,
}

impl SharedMemory<'_> {
    /// The number of the buffer that a region is.
    fn find_buffer(&self, MemoryRegion(number): MemoryRegion) -> Option<usize> {
        match number.checked_sub(MemoryRegion::RESOURCES) {
            Some(resource) => *self.bound.get(resource as usize)?,
            None => Some(number.checked_sub(MemoryRegion::BUFFERS)? as usize),
        }
    }
}

/// An access outside of memory: its address and size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutsideAccess {
    pub address: u64,
    pub bytes: u64,
}

/// All memory that an invocation can access.
pub(crate) struct VisibleMemory<'a, 'b> {
    pub private: &'a mut Vec<u8>,
    pub shared: &'a mut SharedMemory<'b>,
}

impl VisibleMemory<'_, '_> {
    fn region(&self, region: MemoryRegion) -> Option<&Vec<u8>> {
        Some(match region {
            MemoryRegion::PRIVATE => self.private,
            MemoryRegion::WORKGROUP => &self.shared.workgroup,
            MemoryRegion::MODULE => &self.shared.module,
            MemoryRegion::ARGUMENTS => &self.shared.arguments,
            region => self.shared.buffers.get(self.shared.find_buffer(region)?)?,
        })
    }

    fn region_mut(&mut self, region: MemoryRegion) -> Option<&mut Vec<u8>> {
        Some(match region {
            MemoryRegion::PRIVATE => self.private,
            MemoryRegion::WORKGROUP => &mut self.shared.workgroup,
            MemoryRegion::MODULE => &mut self.shared.module,
            MemoryRegion::ARGUMENTS => &mut self.shared.arguments,
            region => {
                let buffer = self.shared.find_buffer(region)?;
                self.shared.buffers.get_mut(buffer)?
            }
        })
    }

    /// Bytes of memory.
    ///
    /// # Errors
    /// When they are outside of a region.
    #[inline]
    pub(crate) fn bytes(&self, address: u64, count: usize) -> Result<&[u8], OutsideAccess> {
        let start = offset_of(address);
        let found = self
            .region(region_of(address))
            .and_then(|region| region.get(start..start.checked_add(count)?));
        found.ok_or(OutsideAccess {
            address,
            bytes: count as u64,
        })
    }

    /// Bytes of memory, to write.
    ///
    /// # Errors
    /// When they are outside of a region.
    #[inline]
    pub(crate) fn bytes_mut(
        &mut self,
        address: u64,
        count: usize,
    ) -> Result<&mut [u8], OutsideAccess> {
        let start = offset_of(address);
        let found = self
            .region_mut(region_of(address))
            .and_then(|region| region.get_mut(start..start.checked_add(count)?));
        found.ok_or(OutsideAccess {
            address,
            bytes: count as u64,
        })
    }

    /// Bytes from an address to the end of its region.
    ///
    /// # Errors
    /// When the address is outside of a region.
    pub(crate) fn bytes_behind(&self, address: u64) -> Result<u64, OutsideAccess> {
        let region = self.region(region_of(address));
        let rest = region.and_then(|region| region.len().checked_sub(offset_of(address)));
        let rest = rest.ok_or(OutsideAccess { address, bytes: 0 });
        rest.map(|bytes| bytes as u64)
    }

    /// Reads a scalar.
    ///
    /// # Errors
    /// When it is outside of a region.
    #[inline]
    pub(crate) fn read_cell(&self, base: u64, cell: MemoryCell) -> Result<u64, OutsideAccess> {
        let address = base.wrapping_add(cell.offset);
        let mut word = [0; 8];
        let bytes = self.bytes(address, cell.bytes.into())?;
        word[..bytes.len()].copy_from_slice(bytes);
        Ok(u64::from_le_bytes(word))
    }

    /// Writes a scalar.
    ///
    /// # Errors
    /// When it is outside of a region.
    #[inline]
    pub(crate) fn write_cell(
        &mut self,
        base: u64,
        cell: MemoryCell,
        bits: u64,
    ) -> Result<(), OutsideAccess> {
        let address = base.wrapping_add(cell.offset);
        let bytes = self.bytes_mut(address, cell.bytes.into())?;
        let size = bytes.len();
        bytes.copy_from_slice(&bits.to_le_bytes()[..size]);
        Ok(())
    }

    /// Copies bytes, which may overlap.
    ///
    /// # Errors
    /// When some are outside of a region.
    pub(crate) fn copy_bytes(
        &mut self,
        to: u64,
        from: u64,
        count: u64,
    ) -> Result<(), OutsideAccess> {
        let outside = OutsideAccess {
            address: from,
            bytes: count,
        };
        let count = usize::try_from(count).map_err(|_| outside)?;
        let copied = self.bytes(from, count)?.to_vec();
        self.bytes_mut(to, count)?.copy_from_slice(&copied);
        Ok(())
    }
}
