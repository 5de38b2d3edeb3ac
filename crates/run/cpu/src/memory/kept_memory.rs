//! Kept memory: blocks of bytes at fixed addresses that live as long as the code that refers to them.

/// Blocks that generated code reads and writes.
#[derive(Default)]
pub(crate) struct KeptMemory {
    blocks: Vec<Box<[KeptLine]>>,
}

/// Bytes with the alignment of the largest vector: sixteen numbers of 64 bits.
#[derive(Clone, Copy)]
#[repr(C, align(128))]
struct KeptLine([u8; LINE]);

/// Bytes of a line.
const LINE: usize = 128;

impl KeptMemory {
    /// Allocates zeroed memory that is aligned to 128 bytes. Returns its address.
    pub fn keep_zeros(&mut self, bytes: u64) -> usize {
        let lines = (bytes as usize).div_ceil(LINE).max(1);
        self.blocks
            .push(vec![KeptLine([0; LINE]); lines].into_boxed_slice());
        self.blocks.last().map_or(0, |b| b.as_ptr() as usize)
    }

    /// Allocates memory with these contents. Returns its address.
    pub fn keep_bytes(&mut self, bytes: &[u8]) -> usize {
        let address = self.keep_zeros(bytes.len() as u64);
        self.fill_kept(address, bytes);
        address
    }

    /// Sets the contents of the block at an address.
    pub fn fill_kept(&mut self, address: usize, bytes: &[u8]) {
        let mut blocks = self.blocks.iter_mut();
        let Some(block) = blocks.find(|b| b.as_ptr() as usize == address) else {
            return;
        };
        for (to, from) in block.iter_mut().zip(bytes.chunks(LINE)) {
            to.0[..from.len()].copy_from_slice(from);
        }
    }
}
