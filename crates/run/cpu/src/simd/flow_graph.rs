//! Flow graph of a Cranelift function: block order, post-dominators, and the regions between branches and their
//! joins.

use cranelift_codegen::dominator_tree::DominatorTree;
use cranelift_codegen::flowgraph::ControlFlowGraph;
use cranelift_codegen::ir::{Block, Function, Inst};

/// No block.
const NONE: u32 = u32::MAX;

/// The reachable blocks, by their position in reverse post-order.
pub(super) struct ClifFlowGraph {
    pub blocks: Vec<Block>,
    /// The position of each block, by block number.
    position: Vec<u32>,
    successors: Vec<Vec<u32>>,
    pub predecessors: Vec<Vec<u32>>,
    /// The block in which all ways out of a block meet; the number of blocks for the exit.
    meets: Vec<u32>,
    tree: DominatorTree,
}

/// The blocks between a branch and the block in which its paths join.
pub(super) struct BranchRegion {
    /// The block in which the paths join. It is not part of the region.
    pub join: u32,
    /// Positions in order.
    pub blocks: Vec<u32>,
    /// Whether the branch itself can be reached from its successors.
    pub is_loop: bool,
}

impl BranchRegion {
    /// Whether a block belongs to it.
    pub fn contains(&self, at: u32) -> bool {
        self.blocks.binary_search(&at).is_ok()
    }
}

impl ClifFlowGraph {
    /// Computes the graph. The iteration over post-dominators ends after a few sweeps, so that the cost is linear in
    /// practice.
    pub fn from_function(func: &Function) -> ClifFlowGraph {
        let cfg = ControlFlowGraph::with_function(func);
        let tree = DominatorTree::with_function(func, &cfg);
        let blocks: Vec<Block> = tree.cfg_rpo().copied().collect();
        let mut position = vec![NONE; func.dfg.num_blocks()];
        for (n, block) in blocks.iter().enumerate() {
            position[block.as_u32() as usize] = n as u32;
        }
        let mut successors = vec![Vec::new(); blocks.len()];
        let mut predecessors = vec![Vec::new(); blocks.len()];
        for (n, block) in blocks.iter().enumerate() {
            let mut next: Vec<u32> = cfg
                .succ_iter(*block)
                .map(|b| position[b.as_u32() as usize])
                .collect();
            next.sort_unstable();
            next.dedup();
            for to in &next {
                predecessors[*to as usize].push(n as u32);
            }
            successors[n] = next;
        }
        let meets = post_dominators(&successors, &predecessors);
        ClifFlowGraph {
            blocks,
            position,
            successors,
            predecessors,
            meets,
            tree,
        }
    }

    /// The position of a block; none for one that is not reachable.
    pub fn block_position(&self, block: Block) -> Option<u32> {
        let at = self.position[block.as_u32() as usize];
        (at != NONE).then_some(at)
    }

    /// Whether every way to `b` leads through `a`.
    pub fn is_dominator(&self, a: u32, b: u32) -> bool {
        let block = |n: u32| self.blocks[n as usize];
        self.tree.block_dominates(block(a), block(b))
    }

    /// The blocks between the end of a block and the join of its paths; none where they need not join.
    pub fn find_branch_region(&self, from: u32) -> Option<BranchRegion> {
        let join = self.meets[from as usize];
        if join as usize >= self.blocks.len() {
            return None;
        }
        let mut blocks = Vec::new();
        for next in &self.successors[from as usize] {
            blocks.extend(self.find_reachable_blocks(*next, join));
        }
        blocks.sort_unstable();
        blocks.dedup();
        let is_loop = blocks.binary_search(&from).is_ok();
        Some(BranchRegion {
            join,
            blocks,
            is_loop,
        })
    }

    /// The blocks that can be reached from one, itself included, without going through another, in order.
    pub fn find_reachable_blocks(&self, from: u32, without: u32) -> Vec<u32> {
        let mut seen = vec![false; self.blocks.len()];
        seen[without as usize] = true;
        let mut work = vec![from];
        let mut blocks = Vec::new();
        while let Some(at) = work.pop() {
            if !std::mem::replace(&mut seen[at as usize], true) {
                blocks.push(at);
                work.extend(&self.successors[at as usize]);
            }
        }
        blocks.sort_unstable();
        blocks
    }

    /// The instructions of a block.
    pub fn block_insts<'a>(
        &self,
        func: &'a Function,
        at: u32,
    ) -> impl Iterator<Item = Inst> + use<'a> {
        func.layout.block_insts(self.blocks[at as usize])
    }
}

/// The positions of the blocks that use each value.
pub(super) fn find_use_blocks(func: &Function, graph: &ClifFlowGraph) -> Vec<Vec<u32>> {
    let mut uses: Vec<Vec<u32>> = vec![Vec::new(); func.dfg.num_values()];
    for at in 0..graph.blocks.len() as u32 {
        for inst in graph.block_insts(func, at) {
            for value in func.dfg.inst_values(inst) {
                let of = &mut uses[func.dfg.resolve_aliases(value).as_u32() as usize];
                if of.last() != Some(&at) {
                    of.push(at);
                }
            }
        }
    }
    uses
}

/// Whether each value is defined by an instruction and used only by instructions of the same block other than its
/// terminator.
pub(super) fn find_block_locals(func: &Function, graph: &ClifFlowGraph) -> Vec<bool> {
    let mut locals = vec![false; func.dfg.num_values()];
    let mut defined = vec![NONE; func.dfg.num_values()];
    // In this order, definitions precede uses.
    for at in 0..graph.blocks.len() as u32 {
        for inst in graph.block_insts(func, at) {
            let leaves = func.dfg.insts[inst].opcode().is_terminator();
            for value in func.dfg.inst_values(inst) {
                let value = func.dfg.resolve_aliases(value).as_u32() as usize;
                locals[value] &= !leaves && defined[value] == at;
            }
            for result in func.dfg.inst_results(inst) {
                let result = result.as_u32() as usize;
                (locals[result], defined[result]) = (true, at);
            }
        }
    }
    locals
}

/// Cooper, Harvey and Kennedy: A Simple, Fast Dominance Algorithm, on the reverse graph with an exit
/// that all blocks without successors lead to. Blocks that cannot reach the exit have none.
fn post_dominators(successors: &[Vec<u32>], predecessors: &[Vec<u32>]) -> Vec<u32> {
    let exit = successors.len();
    let ends = (0..exit).filter(|n| successors[*n].is_empty());
    let ends: Vec<u32> = ends.map(|n| n as u32).collect();
    let back = |at: u32| match predecessors.get(at as usize) {
        Some(before) => before.as_slice(),
        None => &ends,
    };
    let mut number = vec![NONE; exit + 1];
    let mut post = Vec::with_capacity(exit + 1);
    let mut seen = vec![false; exit + 1];
    seen[exit] = true;
    let mut stack = vec![(exit as u32, 0usize)];
    while let Some((at, n)) = stack.last_mut() {
        if let Some(next) = back(*at).get(*n).copied() {
            *n += 1;
            if !std::mem::replace(&mut seen[next as usize], true) {
                stack.push((next, 0));
            }
        } else {
            number[*at as usize] = post.len() as u32;
            post.push(*at);
            stack.pop();
        }
    }
    let mut meets = vec![NONE; exit + 1];
    meets[exit] = exit as u32;
    let exit_only = [exit as u32];
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for &at in post.iter().rev().skip(1) {
            let next = match successors[at as usize].as_slice() {
                [] => &exit_only[..],
                next => next,
            };
            let mut meet = NONE;
            for &other in next.iter().filter(|n| meets[**n as usize] != NONE) {
                meet = if meet == NONE {
                    other
                } else {
                    find_common_post_dominator(&meets, &number, meet, other)
                };
            }
            if meets[at as usize] != meet {
                meets[at as usize] = meet;
                changed = true;
            }
        }
    }
    meets.truncate(exit);
    meets
}

fn find_common_post_dominator(meets: &[u32], number: &[u32], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        while number[a as usize] < number[b as usize] {
            a = meets[a as usize];
        }
        while number[b as usize] < number[a as usize] {
            b = meets[b as usize];
        }
    }
    a
}
