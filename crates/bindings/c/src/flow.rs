//! The control-flow graph of a function with dominators and loops: a snapshot that identifies blocks by their
//! positions in the function.

use crate::body::{ask, list, status};
use crate::error::{ApiFailure, SpirulaError, SpirulaStatus};
use crate::handle::{self, OutPointer, SPIRULA_NONE, get_ref, handle_number};
use crate::module::SpirulaModule;
use spirula_spirv::analysis::{
    BlockDominators, FlowGraph, IdDefinitions, LoopNest, PostDominators,
};

/// The control-flow graph of a function, as it was when the graph was created. Its blocks are positions from 0 on,
/// the entry block first; `spirula_flow_block` returns their numbers in the module.
#[derive(Debug)]
pub struct SpirulaFlow {
    cfg: FlowGraph,
    dominators: BlockDominators,
    post_dominators: PostDominators,
    loops: LoopNest,
}

impl SpirulaFlow {
    fn require_block_position(&self, position: u32) -> Result<u32, ApiFailure> {
        let missing = || ApiFailure::Argument(format!("{position} is no block of the graph"));
        let known = (position as usize) < self.cfg.len();
        known.then_some(position).ok_or_else(missing)
    }
}

/// Computes the graph of a function, with dominators, post-dominators and loops.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_flow_new(
    module: *const SpirulaModule,
    function: u32,
    flow: *mut *mut SpirulaFlow,
    error: *mut *mut SpirulaError,
) -> SpirulaStatus {
    status!(error, || {
        // SAFETY: the crate's contract.
        let (module, out) = unsafe { (&get_ref(module)?.module, OutPointer::new(flow)?) };
        let func = handle::find_func(module, function)?;
        let cfg = FlowGraph::from_function(module, &IdDefinitions::from_module(module), func)?;
        let dominators = BlockDominators::from_cfg(&cfg);
        let flow = SpirulaFlow {
            post_dominators: PostDominators::from_cfg(&cfg),
            loops: LoopNest::from_cfg(&cfg, &dominators),
            dominators,
            cfg,
        };
        out.set_value(Box::into_raw(Box::new(flow)));
        Ok(())
    })
}

/// Frees a graph; null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_flow_free(flow: *mut SpirulaFlow) {
    if !flow.is_null() {
        // SAFETY: it came from `Box::into_raw`, and by the contract is not freed yet.
        drop(unsafe { Box::from_raw(flow) });
    }
}

/// The number of blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_flow_count(flow: *const SpirulaFlow) -> usize {
    ask!(0, flow, |flow| Ok(flow.cfg.len()))
}

/// The number in the module of the block at a position.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_flow_block(flow: *const SpirulaFlow, position: u32) -> u32 {
    ask!(SPIRULA_NONE, flow, |flow| {
        Ok(flow
            .cfg
            .block(flow.require_block_position(position)?)
            .index() as u32)
    })
}

/// The position of the block with a label; `SPIRULA_NONE` if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_flow_position(flow: *const SpirulaFlow, label: u32) -> u32 {
    ask!(SPIRULA_NONE, flow, |flow| {
        let label = spirula_spirv::Id::new(label);
        let position = label.and_then(|l| flow.cfg.block_position(l));
        Ok(handle_number(position.map(|p| p as usize)))
    })
}

/// The successors of a block, once for each time its terminator names them. Returns their number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_flow_successors(
    flow: *const SpirulaFlow,
    position: u32,
    buffer: *mut u32,
    capacity: usize,
) -> usize {
    list!(flow, buffer, capacity, |flow| {
        let successors = flow.cfg.successors(flow.require_block_position(position)?);
        Ok(successors)
    })
}

/// The predecessors of a block. Returns their number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_flow_predecessors(
    flow: *const SpirulaFlow,
    position: u32,
    buffer: *mut u32,
    capacity: usize,
) -> usize {
    list!(flow, buffer, capacity, |flow| {
        let predecessors = flow
            .cfg
            .predecessors(flow.require_block_position(position)?);
        Ok(predecessors)
    })
}

/// The reachable blocks in reverse postorder: each before its successors, except for back edges. Returns their
/// number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_flow_reverse_postorder(
    flow: *const SpirulaFlow,
    buffer: *mut u32,
    capacity: usize,
) -> usize {
    list!(flow, buffer, capacity, |flow| {
        Ok(flow.cfg.reverse_postorder())
    })
}

/// The immediate dominator of a block; `SPIRULA_NONE` for the entry and for unreachable blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_flow_immediate_dominator(
    flow: *const SpirulaFlow,
    position: u32,
) -> u32 {
    ask!(SPIRULA_NONE, flow, |flow| {
        let above = flow
            .dominators
            .immediate_dominator(flow.require_block_position(position)?);
        Ok(handle_number(above.map(|b| b as usize)))
    })
}

/// Whether `above` dominates `below`; a block dominates itself.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_flow_dominates(
    flow: *const SpirulaFlow,
    above: u32,
    below: u32,
) -> bool {
    ask!(false, flow, |flow| {
        Ok(flow.dominators.dominates(
            flow.require_block_position(above)?,
            flow.require_block_position(below)?,
        ))
    })
}

/// The immediate post-dominator of a block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_flow_immediate_post_dominator(
    flow: *const SpirulaFlow,
    position: u32,
) -> u32 {
    ask!(SPIRULA_NONE, flow, |flow| {
        let below = flow
            .post_dominators
            .immediate_post_dominator(flow.require_block_position(position)?);
        Ok(handle_number(below.map(|b| b as usize)))
    })
}

/// The header of the innermost loop around a block; `SPIRULA_NONE` outside of loops.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_flow_loop_header(flow: *const SpirulaFlow, position: u32) -> u32 {
    ask!(SPIRULA_NONE, flow, |flow| {
        let innermost = flow
            .loops
            .innermost_loop(flow.require_block_position(position)?);
        let header = innermost.and_then(|at| flow.loops.loops().get(at as usize));
        Ok(handle_number(header.map(|l| l.header as usize)))
    })
}
