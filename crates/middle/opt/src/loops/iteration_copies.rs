//! Loop iteration cloning: copies of the iterations of a loop, chained one after the other.

use super::LoopShape;
use crate::inline::{IdAnnotations, InstRefId};
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Block, IdWords, Inst, InstRef, SpirvModule};
use spirula_spirv::{Id, IdMap};

/// Copies blocks.
pub struct BlockCloner {
    ids: IdWords,
    annotations: IdAnnotations,
    /// For each id its id in the latest copy.
    new: IdMap<Option<Id>>,
    /// The ids that differ in the latest copy.
    named: Vec<Id>,
}

/// The treatment of an instruction when its block is copied.
enum CloneAction {
    Copy,
    Nothing,
    BranchTo(Id),
}

/// A chain of copied iterations.
pub struct IterationChain {
    /// The first block of the first iteration.
    pub first: Block,
    /// The last block of the last iteration, which has no terminator yet.
    pub last: Block,
    /// The values of the header's phis in the next iteration, in their order.
    pub values: Vec<Id>,
}

impl BlockCloner {
    /// One pass over names and decorations.
    pub fn new(module: &SpirvModule) -> Self {
        BlockCloner {
            ids: IdWords::new(module),
            annotations: IdAnnotations::new(module),
            new: IdMap::new(module.bound(), None),
            named: Vec::new(),
        }
    }

    /// The id that stands for an id in the latest copy.
    pub fn resolve_clone(&self, id: Id) -> Id {
        self.new[id].unwrap_or(id)
    }

    /// Creates `count` iterations, at least one, none of which leaves the loop. The header's phis have the given
    /// values in the first iteration, or else those on entry to the loop.
    pub fn clone_iterations(
        &mut self,
        module: &mut SpirvModule,
        shape: &LoopShape,
        count: usize,
        values: Option<Vec<Id>>,
    ) -> IterationChain {
        self.forget_clones();
        let phis: Vec<Inst> = module.phis(shape.header).map(InstRef::handle).collect();
        let from = |module: &SpirvModule, label: Id| -> Vec<Id> {
            let value = |p: &Inst| module.phi_value(*p, label).unwrap_or(Id::MAX);
            phis.iter().map(value).collect()
        };
        let next = from(module, module.label(shape.latch));
        let mut values = values.unwrap_or_else(|| from(module, module.label(shape.entry)));
        let mut ends: Option<(Block, Block)> = None;
        for _ in 0..count {
            for (phi, value) in phis.iter().zip(&values) {
                let own = module.inst(*phi).result();
                own.into_iter()
                    .for_each(|id| self.set_replacement(id, *value));
            }
            let copies = self.clone_iteration(module, shape);
            values = next.iter().map(|v| self.resolve_clone(*v)).collect();
            let latch = shape.blocks.iter().position(|b| *b == shape.latch);
            let (head, latch) = (copies[0], copies[latch.unwrap_or(0)]);
            if let Some((_, before)) = ends {
                let label = module.label(head);
                append_branch(module, before, label);
            }
            ends = Some((ends.map_or(head, |e| e.0), latch));
        }
        let (first, last) = ends.unwrap_or((shape.header, shape.latch));
        IterationChain {
            first,
            last,
            values,
        }
    }

    /// Creates one iteration. Its last block has no terminator.
    fn clone_iteration(&mut self, module: &mut SpirvModule, shape: &LoopShape) -> Vec<Block> {
        self.assign_new_ids(module, &shape.blocks, Some(shape.header));
        let stays = self.resolve_clone(shape.stays);
        self.fill_blocks(module, &shape.blocks, |block, op| {
            let of_header = block == shape.header && (op == Op::LoopMerge || op == Op::Phi);
            if of_header || op.is_terminator() && block == shape.latch {
                CloneAction::Nothing
            } else if op.is_terminator() && block == shape.exit {
                CloneAction::BranchTo(stays)
            } else {
                CloneAction::Copy
            }
        })
    }

    /// Copies blocks unchanged. Ids that are defined in them, labels included, get copies. Other ids are
    /// replaced by the pairs in `outside`.
    pub fn clone_blocks(
        &mut self,
        module: &mut SpirvModule,
        blocks: &[Block],
        outside: &[(Id, Id)],
    ) -> Vec<Block> {
        self.forget_clones();
        for (old, new) in outside {
            self.set_replacement(*old, *new);
        }
        self.assign_new_ids(module, blocks, None);
        self.fill_blocks(module, blocks, |_, _| CloneAction::Copy)
    }

    /// Fills new blocks with the copied instructions of others.
    fn fill_blocks(
        &mut self,
        module: &mut SpirvModule,
        blocks: &[Block],
        becomes: impl Fn(Block, Op) -> CloneAction,
    ) -> Vec<Block> {
        let mut copies = Vec::with_capacity(blocks.len());
        for block in blocks {
            let func = module.block(*block).func;
            let label = self.resolve_clone(module.label(*block));
            let copy = module.create_block(func, label);
            copies.push(copy);
            let list = module.block(copy).body;
            let mut next = module.body(*block).next().map(InstRef::handle);
            while let Some(inst) = next {
                next = module.next(inst);
                if self.ids.is_unknown_remark(module.inst(inst)) {
                    continue;
                }
                let new = match becomes(*block, module.inst(inst).op()) {
                    CloneAction::Nothing => continue,
                    CloneAction::Copy => self.clone_inst(module, inst),
                    CloneAction::BranchTo(label) => module.create_inst(Op::Branch, &[label.word()]),
                };
                module.append_inst(list, new);
            }
        }
        copies
    }

    /// Sets the id that stands for another one in the next copy.
    fn set_replacement(&mut self, id: Id, new: Id) {
        self.new.set(id, Some(new));
        self.named.push(id);
    }

    /// Makes all ids stand for themselves again.
    fn forget_clones(&mut self) {
        for id in self.named.drain(..) {
            self.new.set(id, None);
        }
    }

    /// Assigns new ids to all definitions of blocks, except the phis of one of them.
    fn assign_new_ids(
        &mut self,
        module: &mut SpirvModule,
        blocks: &[Block],
        header: Option<Block>,
    ) {
        for block in blocks {
            let label = module.fresh_id();
            self.set_replacement(module.label(*block), label);
            let mut next = module.body(*block).next().map(InstRef::handle);
            while let Some(inst) = next {
                next = module.next(inst);
                let i = module.inst(inst);
                let is_known = i.op() == Op::Phi && header == Some(*block);
                if is_known || self.ids.is_unknown_remark(i) {
                    continue;
                }
                if let Some(old) = InstRefId::from_inst(i) {
                    let id = module.fresh_id();
                    self.set_replacement(old.id, id);
                    self.annotations.copy_annotations(module, old, id);
                }
            }
        }
    }

    fn clone_inst(&mut self, module: &mut SpirvModule, inst: Inst) -> Inst {
        let old = module.inst(inst);
        let op = old.op();
        let mut words = old.words().to_vec();
        self.ids.visit_uses(old, |at, id| {
            words[at] = self.new[id].unwrap_or(id).word();
        });
        if let Some(id) = old.result() {
            let at = words.len() - old.operands().len() - 1;
            words[at] = self.resolve_clone(id).word();
        }
        let new = module.create_inst(op, &words);
        self.ids.record_inst(module.inst(new));
        new
    }
}

/// Replaces a predecessor in the phis of a header by another block.
pub fn replace_predecessor(
    module: &mut SpirvModule,
    header: Block,
    [old, new]: [Block; 2],
    values: &[Id],
) {
    let [old, new] = [old, new].map(|block| module.label(block));
    let phis: Vec<Inst> = module.phis(header).map(InstRef::handle).collect();
    for (phi, value) in phis.into_iter().zip(values) {
        for pair in module.words_mut(phi)[2..].chunks_exact_mut(2) {
            if pair[1] == old.word() {
                pair.copy_from_slice(&[value.word(), new.word()]);
            }
        }
    }
}

/// Appends a branch to a block without a terminator.
pub fn append_branch(module: &mut SpirvModule, block: Block, label: Id) {
    let branch = module.create_inst(Op::Branch, &[label.word()]);
    module.append_inst(module.block(block).body, branch);
}

/// Appends an instruction to a block without a terminator. Returns its result.
pub fn append_inst(module: &mut SpirvModule, block: Block, op: Op, ty: Id, operands: &[Id]) -> Id {
    let id = module.fresh_id();
    let mut words = vec![ty.word(), id.word()];
    words.extend(operands.iter().map(|id| id.word()));
    let inst = module.create_inst(op, &words);
    module.append_inst(module.block(block).body, inst);
    id
}

impl IterationChain {
    /// Inserts the iterations between the entry block of a loop and its header.
    pub fn insert_before_loop(&self, module: &mut SpirvModule, shape: &LoopShape) {
        let label = module.label(self.first);
        module.branch_to(shape.entry, Some(label));
        append_branch(module, self.last, module.label(shape.header));
        replace_predecessor(module, shape.header, [shape.entry, self.last], &self.values);
    }

    /// Inserts the iterations between the latch of a loop and its header, so that they follow each of its
    /// iterations.
    pub fn insert_at_latch(
        &self,
        module: &mut SpirvModule,
        shape: &LoopShape,
        continues: Option<Id>,
    ) {
        let header = module.label(shape.header);
        let first = module.label(self.first);
        let terminator = module.terminator(shape.latch).handle();
        for word in module.words_mut(terminator) {
            if *word == header.word() {
                *word = first.word();
            }
        }
        append_branch(module, self.last, header);
        replace_predecessor(module, shape.header, [shape.latch, self.last], &self.values);
        let merge = module.merge_inst(shape.header).map(InstRef::handle);
        if let (Some(merge), Some(continues)) = (merge, continues) {
            module.words_mut(merge)[1] = continues.word();
        }
    }
}
