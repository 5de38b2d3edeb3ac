//! Predecessors: the reversed edges between blocks.

use super::{LlvmBlock, LlvmFunction};

/// The predecessors of each block, once per edge. Cost: two passes over the edges.
#[derive(Debug)]
pub(crate) struct LlvmPredecessors {
    /// By block: the start of its predecessors in `blocks`, with one entry more for the end.
    first: Vec<u32>,
    blocks: Vec<LlvmBlock>,
}

impl LlvmPredecessors {
    /// Collects the edges that leave the blocks in `from`.
    pub(crate) fn from_blocks(function: &LlvmFunction, from: &[LlvmBlock]) -> Self {
        let count = function.blocks.len();
        // Counts are stored one entry further, so that filling moves each start to its final
        // position.
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

    /// The predecessors of a block.
    pub(crate) fn get(&self, block: LlvmBlock) -> &[LlvmBlock] {
        let at = block.index();
        &self.blocks[self.first[at] as usize..self.first[at + 1] as usize]
    }
}
