//! Reference-counted blocks of a running program.

use crate::block_pool::{BlockPool, PooledBlock};
use crate::copy_call;
use crate::{BlockRead, KernelMachine, ProgramError};
use smallvec::SmallVec;

/// A block with its number of references: on the device, or in the host's memory.
struct RefCountedBlock<B> {
    /// The device's block, if it is there.
    device: Option<PooledBlock<B>>,
    /// The bytes of a block of the host.
    bytes: Vec<u8>,
    size: u64,
    references: u32,
}

/// Reference-counted blocks, and the machine that owns the device's. One program has a heap of its own, or several programs
/// use a heap in turns and exchange [`crate::ResidentValue`]s.
pub struct ProgramHeap<M: KernelMachine> {
    pub(crate) machine: M,
    blocks: Vec<RefCountedBlock<M::Block>>,
    unused: Vec<usize>,
    pool: BlockPool<M::Block>,
    /// Number of blocks that the machine has allocated.
    made: u64,
    /// Bytes of the device's blocks that have references.
    in_use: u64,
    /// The most that there ever were.
    most_in_use: u64,
    /// Number of programs so far.
    programs: usize,
}

/// Use of a heap's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapUse {
    /// Bytes that have references.
    pub in_use: u64,
    /// The most that there ever were.
    pub most_in_use: u64,
    /// Number of blocks that the machine has allocated.
    pub allocations: u64,
}

/// Result of an operation on a machine.
pub type MachineResult<T, M> = Result<T, ProgramError<<M as KernelMachine>::Error>>;

/// A side of a copy with its block.
pub(crate) type BlockView<'a> = (usize, &'a copy_call::StridedView);

/// Granularity of the sizes of the device's blocks.
const GRAIN: u64 = 16;

/// Bytes that are copied at a time.
const CHUNK: u64 = 128 << 10;

impl<M: KernelMachine> ProgramHeap<M> {
    /// A heap without blocks.
    pub fn new(machine: M) -> Self {
        ProgramHeap {
            pool: BlockPool::new(!machine.is_host()),
            machine,
            blocks: Vec::new(),
            unused: Vec::new(),
            made: 0,
            in_use: 0,
            most_in_use: 0,
            programs: 0,
        }
    }

    /// The machine.
    pub fn machine(&mut self) -> &mut M {
        &mut self.machine
    }

    /// The use of memory.
    pub fn memory_use(&self) -> HeapUse {
        HeapUse {
            in_use: self.in_use,
            most_in_use: self.most_in_use,
            allocations: self.made,
        }
    }

    /// A number for a program that begins.
    pub(crate) fn number_program(&mut self) -> usize {
        self.programs += 1;
        self.programs - 1
    }

    fn insert_block(&mut self, block: RefCountedBlock<M::Block>) -> usize {
        match self.unused.pop() {
            Some(at) => {
                self.blocks[at] = block;
                at
            }
            None => {
                self.blocks.push(block);
                self.blocks.len() - 1
            }
        }
    }

    /// Allocates a block of the device with one reference and undefined contents.
    pub(crate) fn allocate_device(&mut self, bytes: u64) -> MachineResult<usize, M> {
        let size = bytes.max(1).checked_next_multiple_of(GRAIN);
        let size =
            size.ok_or_else(|| ProgramError::Invalid(format!("no memory of {bytes} bytes")))?;
        let device = match self.pool.take_piece(size) {
            Some(kept) => kept,
            None => self.create_piece(size)?,
        };
        self.in_use += device.size;
        self.most_in_use = self.most_in_use.max(self.in_use);
        Ok(self.insert_block(RefCountedBlock {
            device: Some(device),
            bytes: Vec::new(),
            size,
            references: 1,
        }))
    }

    /// Allocates a block of the machine. If that fails, the blocks of the pool are freed first.
    fn create_piece(&mut self, size: u64) -> MachineResult<PooledBlock<M::Block>, M> {
        let number = self.made;
        self.made += 1;
        let piece = |block| PooledBlock {
            block,
            size,
            number,
        };
        let made = self.machine.allocate_block(size).map(piece);
        let kept = match made {
            Err(_) => self.pool.drain(),
            Ok(_) => Vec::new(),
        };
        if kept.is_empty() {
            return made.map_err(ProgramError::Machine);
        }
        kept.into_iter()
            .for_each(|block| self.machine.free_block(block));
        self.machine.wait_idle().map_err(ProgramError::Machine)?;
        let made = self.machine.allocate_block(size).map(piece);
        made.map_err(ProgramError::Machine)
    }

    /// Marks the beginning of a call, when the machine is idle.
    pub(crate) fn begin_call(&mut self) {
        self.pool.mark_all_unused();
    }

    /// Frees the blocks that are kept for reuse.
    pub(crate) fn free_unused(&mut self) {
        let kept = self.pool.drain();
        kept.into_iter()
            .for_each(|block| self.machine.free_block(block));
    }

    /// Whether a block is on the device.
    pub(crate) fn is_on_device(&self, block: usize) -> bool {
        self.blocks[block].device.is_some()
    }

    /// Allocates a block of the host with one reference.
    pub(crate) fn allocate_host(&mut self, bytes: Vec<u8>) -> usize {
        self.insert_block(RefCountedBlock {
            device: None,
            size: bytes.len() as u64,
            bytes,
            references: 1,
        })
    }

    pub(crate) fn retain_block(&mut self, block: usize) {
        self.blocks[block].references += 1;
    }

    /// Whether a block has a single reference.
    pub(crate) fn is_unique(&self, block: usize) -> bool {
        self.blocks[block].references == 1
    }

    pub(crate) fn release_block(&mut self, at: usize) {
        let block = &mut self.blocks[at];
        block.references -= 1;
        if block.references == 0 {
            block.bytes = Vec::new();
            if let Some(device) = block.device.take() {
                self.in_use -= device.size;
                let excess = if self.machine.reuses_blocks() {
                    self.pool.keep_piece(device, self.most_in_use)
                } else {
                    vec![device.block]
                };
                excess.into_iter().for_each(|b| self.machine.free_block(b));
            }
            self.unused.push(at);
        }
    }

    /// The size of a block in bytes.
    pub(crate) fn block_size(&self, block: usize) -> u64 {
        self.blocks[block].size
    }

    /// The machine's block.
    pub(crate) fn device_block(&self, block: usize) -> MachineResult<M::Block, M> {
        let device = self.blocks[block].device.map(|device| device.block);
        device.ok_or_else(|| ProgramError::Invalid("host memory handed to a kernel".to_owned()))
    }

    fn check_range(&self, block: usize, at: u64, length: u64) -> MachineResult<(), M> {
        let size = self.blocks[block].size;
        match at.checked_add(length) {
            Some(end) if end <= size => Ok(()),
            _ => {
                let message = format!("{length} bytes at {at} of a block of {size} bytes");
                Err(ProgramError::Invalid(message))
            }
        }
    }

    pub(crate) fn read_bytes(
        &mut self,
        block: usize,
        at: u64,
        length: u64,
    ) -> MachineResult<Vec<u8>, M> {
        self.check_range(block, at, length)?;
        let mut out = vec![0; length as usize];
        self.read_into(block, at, &mut out)?;
        Ok(out)
    }

    /// Copies a part of a block to memory of the host.
    pub(crate) fn read_into(
        &mut self,
        block: usize,
        at: u64,
        out: &mut [u8],
    ) -> MachineResult<(), M> {
        self.check_range(block, at, out.len() as u64)?;
        self.read_all(&mut [(block, at, out)])
    }

    /// Copies parts of blocks to the host. It waits for the device once.
    pub(crate) fn read_all(
        &mut self,
        parts: &mut [(usize, u64, &mut [u8])],
    ) -> MachineResult<(), M> {
        for (block, at, out) in &*parts {
            self.check_range(*block, *at, out.len() as u64)?;
        }
        let mut there: SmallVec<[_; 2]> = SmallVec::new();
        for (block, at, out) in parts.iter_mut().filter(|(_, _, out)| !out.is_empty()) {
            let (data, at) = (&self.blocks[*block], *at);
            match data.device {
                Some(PooledBlock { block, .. }) => there.push(BlockRead { block, at, out }),
                None => out.copy_from_slice(&data.bytes[at as usize..at as usize + out.len()]),
            }
        }
        if there.is_empty() {
            Ok(())
        } else {
            self.machine
                .read_all(&mut there)
                .map_err(ProgramError::Machine)
        }
    }

    pub(crate) fn write_bytes(
        &mut self,
        block: usize,
        at: u64,
        bytes: &[u8],
    ) -> MachineResult<(), M> {
        self.check_range(block, at, bytes.len() as u64)?;
        let data = &mut self.blocks[block];
        match data.device {
            _ if bytes.is_empty() => Ok(()),
            Some(device) => {
                let written = self.machine.write_block(device.block, at, bytes);
                written.map_err(ProgramError::Machine)
            }
            None => {
                data.bytes[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
                Ok(())
            }
        }
    }

    /// Whether a strided copy can run on the device: both sides are there and do not overlap. `size` is that of an element
    /// in bytes, and the shape has no zeros.
    ///
    /// # Errors
    /// When a side extends beyond its block.
    pub(crate) fn can_copy_on_device(
        &self,
        size: u64,
        shape: &[i64],
        sides: [BlockView<'_>; 2],
    ) -> MachineResult<bool, M> {
        let mut reaches = [(0, 0); 2];
        for (reach, (block, side)) in reaches.iter_mut().zip(sides) {
            let (first, length) = find_extent(shape, side).ok_or_else(range_error)?;
            self.check_range(block, first * size, length * size)?;
            *reach = (first, first + length);
        }
        let are_there = sides
            .iter()
            .all(|(block, _)| self.blocks[*block].device.is_some());
        let [to, from] = reaches;
        let overlap = sides[0].0 == sides[1].0 && to.0 < from.1 && from.0 < to.1;
        Ok(are_there && !self.machine.is_host() && !overlap)
    }

    /// Copies bytes from one block to another, which begin at `starts`: the target's first. Where the host has both, they
    /// pass through memory that fits a cache.
    fn copy_bytes(
        &mut self,
        [target, source]: [usize; 2],
        starts: [u64; 2],
        length: u64,
    ) -> MachineResult<(), M> {
        for (block, at) in [target, source].into_iter().zip(starts) {
            self.check_range(block, at, length)?;
        }
        let most = if self.machine.is_host() {
            CHUNK
        } else {
            length
        };
        let mut bytes = vec![0; length.min(most) as usize];
        let mut done = 0;
        while done < length {
            let part = &mut bytes[..(length - done).min(most) as usize];
            self.read_all(&mut [(source, starts[1] + done, part)])?;
            self.write_bytes(target, starts[0] + done, part)?;
            done += part.len() as u64;
        }
        Ok(())
    }

    /// The same copy through the host.
    pub(crate) fn copy_through_host(
        &mut self,
        size: u64,
        shape: &[i64],
        sides: [BlockView<'_>; 2],
    ) -> MachineResult<(), M> {
        let [(target_block, to), (source_block, from)] = sides;
        let (first, length) = find_extent(shape, from).ok_or_else(range_error)?;
        if target_block != source_block && is_row_major(shape, to) && is_row_major(shape, from) {
            let starts = [to.first as u64 * size, first * size];
            return self.copy_bytes([target_block, source_block], starts, length * size);
        }
        let source = self.read_bytes(source_block, first * size, length * size)?;
        let source_first = first as i64;
        let (first, length) = find_extent(shape, to).ok_or_else(range_error)?;
        let mut sizes = shape.iter();
        let count = sizes.try_fold(1i64, |count, size| count.checked_mul(*size));
        let count = count.ok_or_else(range_error)?;
        let is_dense = length as i64 == count;
        let mut target = if is_dense {
            vec![0; (length * size) as usize]
        } else {
            self.read_bytes(target_block, first * size, length * size)?
        };
        let bytes = size as usize;
        let mut index = vec![0i64; shape.len()];
        let (mut to_at, mut from_at) = (to.first - first as i64, from.first - source_first);
        for _ in 0..count {
            let (t, f) = (to_at as usize * bytes, from_at as usize * bytes);
            target[t..t + bytes].copy_from_slice(&source[f..f + bytes]);
            for dimension in (0..shape.len()).rev() {
                index[dimension] += 1;
                to_at += to.strides[dimension];
                from_at += from.strides[dimension];
                if index[dimension] < shape[dimension] {
                    break;
                }
                index[dimension] = 0;
                to_at -= to.strides[dimension] * shape[dimension];
                from_at -= from.strides[dimension] * shape[dimension];
            }
        }
        self.write_bytes(target_block, first * size, &target)
    }
}

/// Whether the elements of a side follow each other in row-major order.
fn is_row_major(shape: &[i64], side: &copy_call::StridedView) -> bool {
    let mut next = 1;
    let mut dimensions = shape.iter().zip(&side.strides).rev();
    dimensions.all(|(size, stride)| {
        let is_next = *size == 1 || *stride == next;
        next *= size;
        is_next
    })
}

fn range_error<E>() -> ProgramError<E> {
    ProgramError::Invalid("a copy reaches beyond all memory".to_owned())
}

/// The first element of a side, and the number of elements up to its last; `None` where they are beyond all memory.
fn find_extent(shape: &[i64], side: &copy_call::StridedView) -> Option<(u64, u64)> {
    let (mut low, mut high) = (side.first, side.first);
    for (size, stride) in shape.iter().zip(&side.strides) {
        let span = size.checked_sub(1)?.checked_mul(*stride)?;
        low = low.checked_add(span.min(0))?;
        high = high.checked_add(span.max(0))?;
    }
    let length = high.checked_sub(low)?.checked_add(1)?;
    let in_reach = low >= 0 && high < i64::MAX / 16;
    in_reach.then_some((low as u64, length as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LaunchRequest, ProgramParameter, SizeClass};

    /// A machine that counts its blocks.
    #[derive(Default)]
    struct CountingMachine {
        made: u32,
        freed: u32,
    }

    impl KernelMachine for CountingMachine {
        type Block = u32;
        type Error = String;

        fn allocate_block(&mut self, _: u64) -> Result<u32, String> {
            self.made += 1;
            Ok(self.made)
        }

        fn free_block(&mut self, _: u32) {
            self.freed += 1;
        }

        fn write_block(&mut self, _: u32, _: u64, _: &[u8]) -> Result<(), String> {
            Ok(())
        }

        fn read_block(&mut self, _: u32, _: u64, _: &mut [u8]) -> Result<(), String> {
            Ok(())
        }

        fn launch_kernel(&mut self, _: &LaunchRequest<'_, u32>) -> Result<(), String> {
            Ok(())
        }

        fn wait_idle(&mut self) -> Result<(), String> {
            Ok(())
        }

        fn is_host(&self) -> bool {
            false
        }

        fn parameter_value(&self, _: &ProgramParameter) -> u64 {
            1
        }

        fn limit_value(&self, _: &SizeClass) -> u64 {
            1
        }
    }

    #[test]
    fn copies_of_rows_and_of_columns_are_equal() {
        let mut blocks = ProgramHeap::new(CountingMachine::default());
        let numbers: Vec<u8> = (0..24).collect();
        let side = |first, strides: [i64; 2]| copy_call::StridedView {
            first,
            strides: SmallVec::from_slice(&strides),
        };
        let source = blocks.allocate_host(numbers.clone());
        let whole = side(4, [4, 1]);
        // Strides of dimensions of one element do not matter.
        for (shape, to) in [([2, 4], side(0, [4, 1])), ([8, 1], side(0, [1, 99]))] {
            let target = blocks.allocate_host(vec![0; 8]);
            let from = match shape {
                [2, 4] => whole.clone(),
                _ => side(4, [1, 7]),
            };
            let copied = blocks.copy_through_host(1, &shape, [(target, &to), (source, &from)]);
            copied.unwrap();
            assert_eq!(blocks.read_bytes(target, 0, 8).unwrap(), numbers[4..12]);
        }
        let target = blocks.allocate_host(vec![0; 8]);
        let turned = [(target, &side(0, [1, 2])), (source, &whole)];
        blocks.copy_through_host(1, &[2, 4], turned).unwrap();
        let columns = [4, 8, 5, 9, 6, 10, 7, 11];
        assert_eq!(blocks.read_bytes(target, 0, 8).unwrap(), columns);
        let beyond = [(target, &side(4, [4, 1])), (source, &whole)];
        assert!(blocks.copy_through_host(1, &[2, 4], beyond).is_err());
    }

    #[test]
    fn a_second_call_finds_the_blocks_of_the_first() {
        let mut blocks = ProgramHeap::new(CountingMachine::default());
        for _ in 0..3 {
            let made = [200 << 20, 300 << 20, 1 << 30].map(|size| blocks.allocate_device(size));
            for block in made {
                blocks.release_block(block.unwrap());
            }
        }
        assert_eq!((blocks.machine.made, blocks.machine.freed), (3, 0));
    }
}
