//! Kept memory: blocks of bytes at fixed addresses that live as long as the code that refers to them.

/// Blocks that generated code reads and writes.
#[derive(Default)]
pub(crate) struct KeptMemory {
    blocks: Vec<Box<[u128]>>,
}

impl KeptMemory {
    /// Allocates zeroed memory that is aligned to 16 bytes. Returns its address.
    pub fn keep_zeros(&mut self, bytes: u64) -> usize {
        let block = vec![0u128; (bytes as usize).div_ceil(16).max(1)].into_boxed_slice();
        self.blocks.push(block);
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
        for (to, from) in block.iter_mut().zip(bytes.chunks(16)) {
            let mut word = [0; 16];
            word[..from.len()].copy_from_slice(from);
            *to = u128::from_ne_bytes(word);
        }
    }
}
