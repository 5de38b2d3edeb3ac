//! Loop shape: loops whose iterations can be copied. Such a loop is entered from one block, has one back edge, and
//! is left by one branch that every iteration reaches.

use crate::analyses::{AnalysisCache, FlowAnalysis};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::analysis::{ConstructTree, LoopNest};
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Block, Func, IdWords, SpirvModule};

/// A loop whose iterations can be copied.
#[derive(Clone, Debug)]
pub struct LoopShape {
    /// The only predecessor of the loop, which ends in `OpBranch`.
    pub entry: Block,
    /// The header.
    pub header: Block,
    /// The latch: the block with the back edge.
    pub latch: Block,
    /// The block with the exit branch.
    pub exit: Block,
    /// The target of the exit branch inside the loop.
    pub stays: Id,
    /// The target of the exit branch outside.
    pub leaves: Id,
    /// Whether the loop continues if the condition holds.
    pub stays_when: bool,
    /// All blocks, the header first, in reverse post-order.
    pub blocks: Vec<Block>,
}

/// Gives each loop of a function a pre-header: a single predecessor without other successors. Returns the number
/// of new blocks.
pub fn create_preheaders(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
    ids: &IdWords,
    func: Func,
) -> Result<usize, SourceDiagnostic> {
    let flow = cache.function_flow(module, func)?;
    let cfg = &flow.cfg;
    let loops = LoopNest::from_cfg(cfg, &flow.dominators);
    let mut named = vec![false; cfg.len()];
    for at in 0..cfg.len() as u32 {
        if let Some(merge) = module.merge_inst(cfg.block(at)) {
            let count = if merge.op() == Op::LoopMerge { 2 } else { 1 };
            for label in merge
                .id_operands(0)
                .take(count)
                .filter_map(|l| cfg.block_position(l))
            {
                named[label as usize] |= label != at;
            }
        }
    }
    let mut made = 0;
    for (at, l) in loops.loops().iter().enumerate() {
        let mut outside: Vec<u32> = cfg.predecessors(l.header).to_vec();
        outside.retain(|p| !loops.contains(at as u32, *p));
        outside.dedup();
        let plain = match outside[..] {
            [only] => module.terminator(cfg.block(only)).op() == Op::Branch,
            _ => false,
        };
        // Pre-headers of other loops that this one leads to may have changed its predecessors.
        if plain && !named[l.header as usize] {
            continue;
        }
        let header = cfg.block(l.header);
        let label = module.label(header);
        let outside: Vec<Block> = module
            .function(func)
            .blocks
            .iter()
            .copied()
            .filter(|b| {
                let leads = module.block_targets(ids, *b).iter().any(|t| t.1 == label);
                let at_block = cfg.block_position(module.label(*b));
                leads && !at_block.is_some_and(|b| loops.contains(at as u32, b))
            })
            .collect();
        made += usize::from(module.create_pre_header(ids, header, &outside).is_ok());
    }
    if made > 0 {
        cache.drop_flow(func);
    }
    Ok(made)
}

/// The loops of a function that have this shape, inner loops first.
pub fn find_loop_shapes(
    module: &SpirvModule,
    flow: &FlowAnalysis,
    structured: bool,
) -> Vec<LoopShape> {
    let loops = LoopNest::from_cfg(&flow.cfg, &flow.dominators);
    if loops.loops().is_empty() {
        return Vec::new();
    }
    let members = loops.collect_members(flow.cfg.reverse_postorder());
    let constructs =
        structured.then(|| ConstructTree::from_cfg(module, &flow.cfg, &flow.dominators));
    (0..loops.loops().len())
        .filter_map(|at| {
            match_loop_shape(module, flow, constructs.as_ref(), &loops, at, &members[at])
        })
        .collect()
}

fn match_loop_shape(
    module: &SpirvModule,
    flow: &FlowAnalysis,
    constructs: Option<&ConstructTree>,
    loops: &LoopNest,
    at: usize,
    members: &[u32],
) -> Option<LoopShape> {
    let cfg = &flow.cfg;
    let l = &loops.loops()[at];
    let [latch] = l.latches[..] else { return None };
    let own = at as u32;
    let mut outside = cfg.predecessors(l.header).to_vec();
    outside.retain(|p| !loops.contains(own, *p));
    let [entry] = outside[..] else { return None };
    if module.terminator(cfg.block(entry)).op() != Op::Branch {
        return None;
    }
    let mut edges = Vec::new();
    for &block in members {
        let out = cfg.successors(block).iter();
        edges.extend(
            out.filter(|s| !loops.contains(own, **s))
                .map(|s| (block, *s)),
        );
        // A block that returns or ends the invocation leaves the loop as well.
        if cfg.successors(block).is_empty() {
            return None;
        }
    }
    let [(exit, target)] = edges[..] else {
        return None;
    };
    let branch = module.terminator(cfg.block(exit));
    let [yes, no] = [1, 2].map(|n| branch.get_id(n).and_then(|l| cfg.block_position(l)));
    if branch.op() != Op::BranchConditional || yes == no || !flow.dominators.dominates(exit, latch)
    {
        return None;
    }
    if let Some(constructs) = constructs
        && !(is_plain(module, flow, constructs, l.header, exit, target)
            && merges_inside(module, flow, members, l.header))
    {
        return None;
    }
    let stays_when = no == Some(target);
    let [stays, leaves] = if stays_when { [1, 2] } else { [2, 1] };
    Some(LoopShape {
        entry: cfg.block(entry),
        header: cfg.block(l.header),
        latch: cfg.block(latch),
        exit: cfg.block(exit),
        stays: branch.id_operand(stays),
        leaves: branch.id_operand(leaves),
        stays_when,
        blocks: members.iter().map(|b| cfg.block(*b)).collect(),
    })
}

/// Whether a structured loop exits to its merge block, and whether its exit and back edge are outside of inner
/// constructs. Its iterations then do not need its merge instruction.
fn is_plain(
    module: &SpirvModule,
    flow: &FlowAnalysis,
    constructs: &ConstructTree,
    header: u32,
    exit: u32,
    target: u32,
) -> bool {
    let cfg = &flow.cfg;
    let Some(own) = constructs.headed_by(header) else {
        return false;
    };
    let construct = constructs.constructs()[own as usize];
    let Some(continues) = construct.continues else {
        return false;
    };
    let directly =
        |block: u32| block == header || constructs.innermost_construct(block) == Some(own);
    let selects = module.merge_inst(cfg.block(exit)).map(|m| m.op()) == Some(Op::SelectionMerge);
    let mut sources = cfg.predecessors(continues).to_vec();
    sources.retain(|s| flow.dominators.is_reachable(*s));
    let continued = match sources[..] {
        [only] => directly(only),
        // A loop of one block, or one whose header is its only continuing block.
        _ => continues == header,
    };
    construct.merge == target && directly(exit) && !selects && continued
}

/// Whether the blocks contain all merge blocks and continue targets that they declare, except those of a header.
/// A copy would refer to the same blocks otherwise.
pub fn merges_inside(
    module: &SpirvModule,
    flow: &FlowAnalysis,
    blocks: &[u32],
    header: u32,
) -> bool {
    let cfg = &flow.cfg;
    let inside = |label: Id| {
        cfg.block_position(label)
            .is_some_and(|at| blocks.contains(&at))
    };
    blocks.iter().filter(|b| **b != header).all(|b| {
        let Some(merge) = module.merge_inst(cfg.block(*b)) else {
            return true;
        };
        let count = if merge.op() == Op::LoopMerge { 2 } else { 1 };
        merge.id_operands(0).take(count).all(inside)
    })
}
