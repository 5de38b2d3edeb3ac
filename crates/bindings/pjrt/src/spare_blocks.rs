//! Memory for the operands of exchanges, which is used again: to map new memory takes longer than to copy elements to it.

use crate::error::PluginResult;
use crate::host_array::make_zeros;
use spirula_exchange::frame::ByteBlock;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;

/// Bytes of a block that is worth keeping: allocators map larger ones anew.
const LEAST_BYTES: usize = 128 << 10;

/// Most bytes that a thread keeps.
const MOST_BYTES: usize = 512 << 20;

thread_local! {
    /// The blocks of the device whose jobs this thread runs, the oldest first. Others may still read some.
    static SPARE_BLOCKS: RefCell<VecDeque<ByteBlock>> = const { RefCell::new(VecDeque::new()) };
}

/// A block of so many bytes, which a function fills.
///
/// # Errors
/// When there is no memory, and those of the function.
pub fn fill_block(
    length: usize,
    fill: impl FnOnce(&mut [u8]) -> PluginResult<()>,
) -> PluginResult<ByteBlock> {
    let mut bytes = match take_bytes(length) {
        Some(bytes) => bytes,
        None => make_zeros(length as u64)?,
    };
    fill(&mut bytes)?;
    let block = Arc::new(bytes);
    keep_block(&block);
    Ok(block)
}

/// The bytes of a block of this length that nobody else has.
fn take_bytes(length: usize) -> Option<Vec<u8>> {
    SPARE_BLOCKS.with_borrow_mut(|blocks| {
        let is_free = |own: &ByteBlock| own.len() == length && Arc::strong_count(own) == 1;
        let at = blocks.iter().position(is_free)?;
        Arc::into_inner(blocks.remove(at)?)
    })
}

fn keep_block(block: &ByteBlock) {
    if !(LEAST_BYTES..=MOST_BYTES).contains(&block.len()) {
        return;
    }
    SPARE_BLOCKS.with_borrow_mut(|blocks| {
        blocks.push_back(block.clone());
        let mut total: usize = blocks.iter().map(|own| own.len()).sum();
        while total > MOST_BYTES
            && let Some(oldest) = blocks.pop_front()
        {
            total -= oldest.len();
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_used_again_once_they_are_free() {
        let make = |number: u8| {
            let filled = fill_block(LEAST_BYTES, |bytes| {
                bytes.fill(number);
                Ok(())
            });
            filled.unwrap()
        };
        let first = make(1);
        let second = make(2);
        assert_ne!(first.as_ptr(), second.as_ptr());
        assert_eq!((first[0], second[0]), (1, 2));
        let place = first.as_ptr();
        drop(first);
        let third = make(3);
        assert_eq!(third.as_ptr(), place);
        assert_eq!((second[0], third[7]), (2, 3));
    }

    #[test]
    fn few_bytes_are_kept() {
        for _ in 0..3 {
            fill_block(MOST_BYTES / 2, |_| Ok(())).unwrap();
            let held = fill_block(LEAST_BYTES, |_| Ok(())).unwrap();
            drop(held);
        }
        let total = SPARE_BLOCKS.with_borrow(|blocks| blocks.iter().map(|own| own.len()).sum());
        assert!((LEAST_BYTES..=MOST_BYTES).contains(&total));
    }
}
