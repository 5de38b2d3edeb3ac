//! Structural graph of a function: the edges of its branches, and edges from headers to their merge blocks and
//! continue targets (specification, section 2.11.1).

use super::context::{VerifyFault, make_fault};
use super::rules::VerifyRule;
use crate::Id;
use crate::analysis::{DominanceTree, EdgeLists, reverse_postorder};
use crate::grammar::Op;
use crate::ir::{Func, IdWords, Inst, InstRef, LabelPositions, SpirvModule};

/// No block.
pub(super) const NONE: u32 = u32::MAX;

/// Set in the source of an edge that is none of a branch.
const STRUCTURAL: u32 = 1 << 31;

/// The blocks of a function, by their positions in it, and where they lead.
pub(super) struct StructuralGraph {
    /// For each block its merge block and continue target, where it has them, and the targets of its
    /// terminator.
    edges: EdgeLists,
    /// How many of a block's edges are not those of its terminator: 1 for selections, 2 for loops.
    merges: Vec<u8>,
    /// The edges the other way round, those that are none of branches marked [`STRUCTURAL`].
    sources: EdgeLists,
}

impl StructuralGraph {
    /// The graph of a function.
    ///
    /// # Errors
    /// If a merge instruction names what is no block of it.
    pub fn from_function(
        module: &SpirvModule,
        ids: &IdWords,
        func: Func,
    ) -> Result<Self, (Inst, VerifyFault)> {
        let (edges, merges) = collect_structural_edges(module, ids, func)?;
        let blocks = 0..edges.len() as u32;
        let sources = EdgeLists::from_pairs(edges.len(), || {
            blocks.clone().flat_map(|block| {
                let structural = usize::from(merges[block as usize]);
                let marked = move |at| {
                    if at < structural {
                        block | STRUCTURAL
                    } else {
                        block
                    }
                };
                let targets = edges.targets(block).iter().enumerate();
                targets.map(move |(at, target)| (*target, marked(at)))
            })
        });
        Ok(StructuralGraph {
            edges,
            merges,
            sources,
        })
    }

    /// Merge block and continue target of a block, [`NONE`] without.
    pub fn merge_targets(&self, block: u32) -> (u32, u32) {
        match (self.merges[block as usize], self.edges.targets(block)) {
            (1, [merge, ..]) => (*merge, NONE),
            (2, [merge, continues, ..]) => (*merge, *continues),
            _ => (NONE, NONE),
        }
    }

    /// Whether any block is the header of a loop.
    pub fn has_loops(&self) -> bool {
        self.merges.contains(&2)
    }

    /// Where a block leads: the blocks that it names as merge block and continue target, and the targets of its
    /// terminator.
    pub fn structural_successors(&self, block: u32) -> &[u32] {
        self.edges.targets(block)
    }

    /// The targets of a block's terminator.
    pub fn successors(&self, block: u32) -> &[u32] {
        &self.edges.targets(block)[usize::from(self.merges[block as usize])..]
    }

    /// The blocks that branch to a block.
    pub fn predecessors(&self, block: u32) -> impl Iterator<Item = u32> + '_ {
        let sources = self.sources.targets(block).iter().copied();
        sources.filter(|source| source & STRUCTURAL == 0)
    }

    /// The blocks that the first one leads to, each before those that it leads to but for back edges.
    pub fn reverse_postorder(&self) -> Vec<u32> {
        self.edges.reverse_postorder(0)
    }

    /// The dominator tree, of the blocks in their order.
    pub fn compute_dominators(&self, order: &[u32]) -> DominanceTree {
        DominanceTree::from_predecessors(self.edges.len(), order, |block, visit| {
            let sources = self.sources.targets(block).iter();
            sources.for_each(|source| visit(source & !STRUCTURAL));
        })
    }

    /// The post-dominator tree: that of the reversed graph with a virtual root, the last node, after all final
    /// blocks.
    pub fn post_dominators(&self) -> DominanceTree {
        let edges = &self.edges;
        let exit = edges.len() as u32;
        let ends: Vec<u32> = (0..exit).filter(|b| edges.targets(*b).is_empty()).collect();
        let order = reverse_postorder(edges.len() + 1, exit, |node, at| {
            let before = if node == exit {
                &ends
            } else {
                self.sources.targets(node)
            };
            before.get(at).map(|block| block & !STRUCTURAL)
        });
        DominanceTree::from_predecessors(edges.len() + 1, &order, |block, visit| {
            let targets = edges.targets(block);
            if targets.is_empty() {
                visit(exit);
            }
            targets.iter().copied().for_each(visit);
        })
    }
}

/// The structural edges of a function, with how many of each block's are none of its terminator.
fn collect_structural_edges(
    module: &SpirvModule,
    ids: &IdWords,
    func: Func,
) -> Result<(EdgeLists, Vec<u8>), (Inst, VerifyFault)> {
    let labels = LabelPositions::from_function(module, func);
    let blocks = &module.function(func).blocks;
    let mut merges = vec![0; blocks.len()];
    let edges = EdgeLists::try_collect(blocks.len(), |block, list| {
        let terminator = module.terminator(blocks[block as usize]);
        let mut missing = None;
        let mut add = |inst: InstRef<'_>, label: Id| match labels.position(label) {
            Some(at) => list.push(at),
            None => missing = Some((inst.handle(), label)),
        };
        if let Some(merge) = module.merge_inst(blocks[block as usize]) {
            let count = if merge.op() == Op::LoopMerge { 2 } else { 1 };
            (0..count).for_each(|n| add(merge, merge.id_operand(n)));
            merges[block as usize] = count as u8;
        }
        let skipped = match terminator.op() {
            Op::Branch => 0,
            Op::BranchConditional | Op::Switch => 1,
            _ => usize::MAX,
        };
        ids.visit_uses(terminator, |at, label| {
            if at >= skipped {
                add(terminator, label);
            }
        });
        missing.map_or(Ok(()), |(inst, label)| {
            let message = format!("{label} is no block of this function");
            Err((inst, make_fault(VerifyRule::Structure, message)))
        })
    })?;
    Ok((edges, merges))
}
