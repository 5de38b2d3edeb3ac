//! Loop editing: creation of pre-headers.

use super::module::{Block, Inst, SpirvModule};
use super::{EditError, IdWords, InstRef};
use crate::Id;
use crate::grammar::Op;

impl SpirvModule {
    /// Creates a block through which alone a loop header is entered from outside. `latches` are the blocks
    /// within the loop that branch to the header, `outside` all others that do.
    ///
    /// Phis of the header are split: values from outside meet in the new block. Merge instructions outside of
    /// the loop that name the header then name the new block, which keeps structured control flow.
    ///
    /// # Errors
    /// If nothing leads into the loop: its header is the entry block, or unreachable.
    pub fn create_pre_header(
        &mut self,
        ids: &IdWords,
        header: Block,
        outside: &[Block],
    ) -> Result<Block, EditError> {
        let label = self.label(header);
        let func = self.block(header).func;
        let at = self.function(func).blocks.iter().position(|b| *b == header);
        let (Some(at @ 1..), false) = (at, outside.is_empty()) else {
            return Err(EditError::Entry(label));
        };
        let new_label = self.fresh_id();
        let block = self.create_block(func, new_label);
        let blocks = &mut self.functions[func.index()].blocks;
        blocks.pop();
        blocks.insert(at, block);
        let body = self.block(block).body;
        let branch = self.create_inst(Op::Branch, &[label.word()]);
        self.append_inst(body, branch);
        for source in outside {
            let terminator = self.terminator(*source).handle();
            for (at, target) in self.block_targets(ids, *source) {
                if target == label {
                    self.words_mut(terminator)[at] = new_label.word();
                }
            }
        }
        self.rename_merges(header, new_label);
        let phis: Vec<Inst> = self.phis(header).map(InstRef::handle).collect();
        let sources: Vec<u32> = outside.iter().map(|b| self.label(*b).word()).collect();
        for phi in phis {
            self.split_phi(phi, block, &sources);
        }
        Ok(block)
    }

    /// Merge instructions of other blocks that name a header name its pre-header instead. Within
    /// the loop only the header can: a loop of one block is its own continue target.
    fn rename_merges(&mut self, header: Block, new: Id) {
        let label = self.label(header).word();
        for at in 0..self.function(self.block(header).func).blocks.len() {
            let block = self.function(self.block(header).func).blocks[at];
            let Some(merge) = self.merge_inst(block).filter(|_| block != header) else {
                continue;
            };
            let labels = if merge.op() == Op::LoopMerge { 2 } else { 1 };
            let inst = merge.handle();
            for word in &mut self.words_mut(inst)[..labels] {
                if *word == label {
                    *word = new.word();
                }
            }
        }
    }

    fn split_phi(&mut self, phi: Inst, pre_header: Block, sources: &[u32]) {
        let words = self.inst(phi).words().to_vec();
        let (head, pairs) = words.split_at(2);
        let (outer, inner): (Vec<&[u32]>, Vec<&[u32]>) =
            pairs.chunks_exact(2).partition(|p| sources.contains(&p[1]));
        let first = outer.first().map_or(0, |p| p[0]);
        let value = if outer.iter().all(|p| p[0] == first) {
            first
        } else {
            let id = self.fresh_id().word();
            let mut joined = vec![head[0], id];
            joined.extend(outer.iter().copied().flatten());
            let inst = self.create_inst(Op::Phi, &joined);
            let at = self.first_after_phis(pre_header);
            self.insert_before(at, inst);
            id
        };
        let mut kept = head.to_vec();
        kept.extend([value, self.label(pre_header).word()]);
        kept.extend(inner.into_iter().flatten());
        self.replace_words(phi, &kept);
    }
}
