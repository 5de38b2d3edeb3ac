//! Constructs of structured control flow.

use super::{BlockDominators, EdgeLists, FlowGraph};
use crate::grammar::Op;
use crate::ir::SpirvModule;
use std::fmt;

/// A header with its merge instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StructuredConstruct {
    /// The block that ends in the merge instruction and a branch.
    pub header: u32,
    /// The merge block.
    pub merge: u32,
    /// Continue target, for loops.
    pub continues: Option<u32>,
}

/// Construct tree: the innermost construct of each block (specification, section 2.11).
///
/// A construct contains the blocks that its header dominates and its merge block does not. The header of a loop
/// is in its own loop. The header of a selection is in the construct around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstructTree {
    constructs: Vec<StructuredConstruct>,
    /// The construct around each construct, `u32::MAX` for none.
    parent: Vec<u32>,
    /// The construct that a block is the header of, `u32::MAX` for none.
    headed: Vec<u32>,
    /// The innermost construct around each block.
    around: Vec<u32>,
    children: EdgeLists,
}

impl ConstructTree {
    /// One pass over the blocks in the order of the dominator tree.
    pub fn from_cfg(module: &SpirvModule, cfg: &FlowGraph, dominators: &BlockDominators) -> Self {
        let (mut found, merged) = Self::find_headers(module, cfg);
        for &block in dominators.preorder() {
            let above = dominators.immediate_dominator(block);
            let mut around = above.map_or(u32::MAX, |d| match found.headed[d as usize] {
                u32::MAX => found.around[d as usize],
                own => own,
            });
            if let Some(left) = found.constructs.get(merged[block as usize] as usize)
                && dominators.dominates(left.header, block)
            {
                around = found.parent[merged[block as usize] as usize];
            }
            let own = found.headed[block as usize];
            if let Some(construct) = found.constructs.get(own as usize) {
                found.parent[own as usize] = around;
                if construct.continues.is_some() {
                    around = own;
                }
            }
            found.around[block as usize] = around;
        }
        found.children = EdgeLists::to_children(found.parent.len(), |c| found.parent(c));
        found
    }

    /// The constructs without their nesting, and for each block the construct whose merge block it is.
    fn find_headers(module: &SpirvModule, cfg: &FlowGraph) -> (Self, Vec<u32>) {
        let mut found = ConstructTree {
            constructs: Vec::new(),
            parent: Vec::new(),
            headed: vec![u32::MAX; cfg.len()],
            around: vec![u32::MAX; cfg.len()],
            children: EdgeLists::default(),
        };
        let mut merged = vec![u32::MAX; cfg.len()];
        for header in 0..cfg.len() as u32 {
            let Some(inst) = module.merge_inst(cfg.block(header)) else {
                continue;
            };
            let merge = cfg.block_position(inst.id_operand(0));
            let continues =
                (inst.op() == Op::LoopMerge).then(|| cfg.block_position(inst.id_operand(1)));
            let (Some(merge), None | Some(Some(_))) = (merge, continues) else {
                continue;
            };
            let own = found.constructs.len() as u32;
            found.headed[header as usize] = own;
            merged[merge as usize] = own;
            found.parent.push(u32::MAX);
            found.constructs.push(StructuredConstruct {
                header,
                merge,
                continues: continues.flatten(),
            });
        }
        (found, merged)
    }

    /// The constructs in the order of their headers.
    pub fn constructs(&self) -> &[StructuredConstruct] {
        &self.constructs
    }

    /// The innermost construct that a block is in, as an index.
    pub fn innermost_construct(&self, block: u32) -> Option<u32> {
        to_valid_index(self.around[block as usize])
    }

    /// The construct around a construct.
    pub fn parent(&self, construct: u32) -> Option<u32> {
        to_valid_index(self.parent[construct as usize])
    }

    /// The constructs directly within a construct, in the order of their headers.
    pub fn children(&self, construct: u32) -> &[u32] {
        self.children.targets(construct)
    }

    /// The index of a construct among the children of its parent, from 0.
    pub fn sibling_index(&self, construct: u32) -> Option<usize> {
        let siblings = self.children(self.parent(construct)?);
        siblings.binary_search(&construct).ok()
    }

    /// Whether the merge block of a header's construct is reached only by branches that are in no construct
    /// within it. The merge instruction is then redundant. The result is meaningless for loops, which keep
    /// theirs.
    pub fn is_left_directly(
        &self,
        module: &SpirvModule,
        cfg: &FlowGraph,
        dominators: &BlockDominators,
        header: u32,
    ) -> bool {
        let Some(own) = self.headed_by(header) else {
            return false;
        };
        let construct = self.constructs[own as usize];
        if construct.continues.is_some() {
            return true;
        }
        let sources = cfg.predecessors(construct.merge).iter();
        sources
            .filter(|s| **s != header && dominators.is_reachable(**s))
            .all(|s| {
                let terminator = module.terminator(cfg.block(*s));
                terminator.op() == Op::Branch && self.innermost_construct(*s) == Some(own)
            })
    }

    /// The construct that a block is the header of.
    pub fn headed_by(&self, block: u32) -> Option<u32> {
        to_valid_index(self.headed[block as usize])
    }
}

impl fmt::Display for ConstructTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, c) in self.constructs.iter().enumerate() {
            write!(
                f,
                "construct {at} of block {} ; merge: {}",
                c.header, c.merge
            )?;
            if let Some(continues) = c.continues {
                write!(f, ", continue: {continues}")?;
            }
            match self.parent(at as u32) {
                Some(p) => writeln!(f, ", in construct {p}")?,
                None => writeln!(f)?,
            }
        }
        Ok(())
    }
}

fn to_valid_index(index: u32) -> Option<u32> {
    (index != u32::MAX).then_some(index)
}
