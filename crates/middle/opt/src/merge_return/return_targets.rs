//! The targets of merged returns: a return leaves the innermost loop, else the innermost switch, and then goes from
//! merge block to merge block until it leaves the function.

use crate::structure;
use spirula_spirv::analysis::{BlockDominators, ConstructTree, FlowGraph};
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::SpirvModule;

/// An edge on the way out of a function.
#[derive(Clone, Copy, Debug)]
pub struct ReturnExit {
    /// The block that takes it.
    pub block: u32,
    /// Its target; the end of the function if there is no construct around it.
    pub target: Option<u32>,
    /// Whether the block is reached by returns only.
    pub only: bool,
}

/// All edges on the way out of a function.
#[derive(Debug)]
pub struct ReturnPlan {
    /// From blocks that return.
    pub returns: Vec<ReturnExit>,
    /// From merge blocks that returns pass.
    pub merges: Vec<ReturnExit>,
}

/// The blocks that return.
pub fn find_return_blocks(
    module: &SpirvModule,
    cfg: &FlowGraph,
    dominators: &BlockDominators,
) -> Vec<u32> {
    let blocks = (0..cfg.len() as u32).filter(|at| dominators.is_reachable(*at));
    blocks
        .filter(|at| {
            let op = module.terminator(cfg.block(*at)).op();
            matches!(op, Op::Return | Op::ReturnValue)
        })
        .collect()
}

impl ReturnPlan {
    /// `None` if a path leads through the continue construct of a loop, or through a merge block that is a loop
    /// header.
    pub fn new(
        module: &SpirvModule,
        cfg: &FlowGraph,
        dominators: &BlockDominators,
        constructs: &ConstructTree,
        returns: Vec<u32>,
    ) -> Option<ReturnPlan> {
        let continuing = structure::find_continue_blocks(module, cfg, dominators);
        let mut marked = vec![false; constructs.constructs().len()];
        let mut work = Vec::new();
        let mut plan = ReturnPlan {
            returns: Vec::new(),
            merges: Vec::new(),
        };
        for block in returns {
            if continuing[block as usize] {
                return None;
            }
            let left = find_breakable_construct(
                module,
                cfg,
                constructs,
                constructs.innermost_construct(block),
            );
            work.extend(left);
            plan.returns.push(ReturnExit {
                block,
                target: left.map(|c| constructs.constructs()[c as usize].merge),
                only: false,
            });
        }
        while let Some(construct) = work.pop() {
            if std::mem::replace(&mut marked[construct as usize], true) {
                continue;
            }
            let block = constructs.constructs()[construct as usize].merge;
            let merge = module.merge_inst(cfg.block(block));
            if continuing[block as usize] || merge.is_some_and(|m| m.op() == Op::LoopMerge) {
                return None;
            }
            let left =
                find_breakable_construct(module, cfg, constructs, constructs.parent(construct));
            work.extend(left);
            plan.merges.push(ReturnExit {
                block,
                target: left.map(|c| constructs.constructs()[c as usize].merge),
                only: !dominators.is_reachable(block),
            });
        }
        Some(plan)
    }
}

/// The construct that a block within `from` can leave: the innermost loop, else the innermost switch.
fn find_breakable_construct(
    module: &SpirvModule,
    cfg: &FlowGraph,
    constructs: &ConstructTree,
    from: Option<u32>,
) -> Option<u32> {
    let mut switch = None;
    let mut at = from;
    while let Some(construct) = at {
        let own = constructs.constructs()[construct as usize];
        if own.continues.is_some() {
            return Some(construct);
        }
        if module.terminator(cfg.block(own.header)).op() == Op::Switch {
            switch = switch.or(at);
        }
        at = constructs.parent(construct);
    }
    switch
}
