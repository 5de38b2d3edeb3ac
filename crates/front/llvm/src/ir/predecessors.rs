//! Edges between blocks, backwards.

use super::{LlvmBlock, LlvmFunction};

/// The blocks that lead to each block, once for each edge. Cost: two passes over the edges.
#[derive(Debug)]
pub(crate) struct LlvmPredecessors {
    /// By block: where those that lead to it begin in `blocks`; one more for the end.
    first: Vec<u32>,
    blocks: Vec<LlvmBlock>,
}

impl LlvmPredecessors {
    /// Edges from the blocks in `from`.
    pub(crate) fn from_blocks(function: &LlvmFunction, from: &[LlvmBlock]) -> Self {
        let count = function.blocks.len();
        // Counted one row further, so that filling moves each begin to its place.
        let mut first = vec![0u32; count + 2];
        for &block in from {
            for next in function.successors(block) {
                first[next.index() + 2] += 1;
            }
        }
        for at in 2..first.len() {
            first[at] += first[at - 1];
        }
        let mut blocks = vec![LlvmBlock::new(0); first[count + 1] as usize];
        for &block in from {
            for next in function.successors(block) {
                let slot = &mut first[next.index() + 1];
                blocks[*slot as usize] = block;
                *slot += 1;
            }
        }
        LlvmPredecessors { first, blocks }
    }

    /// The blocks that lead to one.
    pub(crate) fn get(&self, block: LlvmBlock) -> &[LlvmBlock] {
        let at = block.index();
        &self.blocks[self.first[at] as usize..self.first[at + 1] as usize]
    }
}
