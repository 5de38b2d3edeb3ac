//! Rows of a drawing: the blocks of a function in the order of its structured control flow, one below the other.
//!
//! The blocks of a loop or a selection follow each other, so that a box can stand around them. In a function without
//! merge instructions, natural loops have boxes where their blocks follow each other.

use super::row_boxes::RowBox;
use crate::Id;
use crate::analysis::{BlockDominators, FlowGraph, LoopNest};
use crate::grammar::Op;
use crate::ir::SpirvModule;
use crate::structured_walk::{StructuredTargets, walk_structured};

/// The order of a function's blocks, and the boxes around them.
#[derive(Debug, Default)]
pub struct BlockRows {
    /// The blocks by row.
    pub blocks: Vec<u32>,
    /// The boxes.
    pub boxes: Vec<RowBox>,
    /// The row of each block.
    row_of: Vec<usize>,
}

impl BlockRows {
    /// The rows of a function.
    pub fn from_function(
        module: &SpirvModule,
        cfg: &FlowGraph,
        dominators: &BlockDominators,
    ) -> BlockRows {
        let merges: Vec<_> = (0..cfg.len() as u32)
            .map(|at| MergeTargets::of_block(module, cfg, at))
            .collect();
        let is_structured = merges.iter().any(|merge| merge.merge.is_some());
        let blocks = if is_structured {
            order_structured(cfg, &merges)
        } else {
            order_reachable(cfg)
        };
        let mut row_of = vec![0; blocks.len()];
        for (row, block) in blocks.iter().enumerate() {
            row_of[*block as usize] = row;
        }
        let mut rows = BlockRows {
            blocks,
            boxes: Vec::new(),
            row_of,
        };
        let boxes = if is_structured {
            rows.box_constructs(&merges)
        } else {
            rows.box_loops(cfg, dominators)
        };
        rows.boxes = boxes;
        rows
    }

    /// The row of a block.
    pub fn row_of(&self, block: u32) -> usize {
        self.row_of[block as usize]
    }

    /// A box from each header to the row before its merge block.
    fn box_constructs(&self, merges: &[MergeTargets]) -> Vec<RowBox> {
        let boxes = merges.iter().enumerate().filter_map(|(header, targets)| {
            let (first, merge) = (self.row_of[header], self.row_of(targets.merge?));
            (merge > first).then(|| RowBox {
                first,
                last: merge - 1,
                title: title_box(targets.is_loop),
                is_loop: targets.is_loop,
            })
        });
        boxes.collect()
    }

    /// A box around each natural loop whose rows follow each other.
    fn box_loops(&self, cfg: &FlowGraph, dominators: &BlockDominators) -> Vec<RowBox> {
        let nest = LoopNest::from_cfg(cfg, dominators);
        let members = nest.collect_members(&self.blocks);
        let boxes = members.iter().filter_map(|members| {
            let rows = || members.iter().map(|block| self.row_of(*block));
            let (first, last) = (rows().min()?, rows().max()?);
            (last - first + 1 == members.len()).then_some(RowBox {
                first,
                last,
                title: title_box(true),
                is_loop: true,
            })
        });
        boxes.collect()
    }
}

/// The title of a loop or a selection.
fn title_box(is_loop: bool) -> String {
    if is_loop { "loop" } else { "selection" }.to_owned()
}

/// The targets of a block's merge instruction.
#[derive(Clone, Copy, Debug, Default)]
struct MergeTargets {
    merge: Option<u32>,
    continue_target: Option<u32>,
    is_loop: bool,
}

impl MergeTargets {
    fn of_block(module: &SpirvModule, cfg: &FlowGraph, at: u32) -> MergeTargets {
        let Some(inst) = module.merge_inst(cfg.block(at)) else {
            return MergeTargets::default();
        };
        let is_loop = inst.op() == Op::LoopMerge;
        let position = |id: Id| cfg.block_position(id);
        MergeTargets {
            merge: position(inst.id_operand(0)),
            continue_target: is_loop.then(|| position(inst.id_operand(1))).flatten(),
            is_loop,
        }
    }
}

/// The blocks in reverse postorder, and unreachable blocks after them.
fn order_reachable(cfg: &FlowGraph) -> Vec<u32> {
    let mut blocks = cfg.reverse_postorder().to_vec();
    let mut is_there = vec![false; cfg.len()];
    for block in &blocks {
        is_there[*block as usize] = true;
    }
    blocks.extend((0..cfg.len() as u32).filter(|block| !is_there[*block as usize]));
    blocks
}

/// The blocks by a structured walk.
fn order_structured(cfg: &FlowGraph, merges: &[MergeTargets]) -> Vec<u32> {
    let mut blocks = Vec::with_capacity(cfg.len());
    let number = |block: u32| block as usize;
    let targets_of = |at: usize| StructuredTargets {
        merge: merges[at].merge.map(number),
        continue_target: merges[at].continue_target.map(number),
        is_header: merges[at].merge.is_some(),
        successors: cfg
            .successors(at as u32)
            .iter()
            .map(|s| number(*s))
            .collect(),
    };
    walk_structured(cfg.len(), targets_of, |at, _| blocks.push(at as u32));
    blocks
}
