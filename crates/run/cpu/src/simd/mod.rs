//! Code for gangs: neighbouring invocations at once, in vectors.
//!
//! The code that runs the invocations of a workgroup one after the other, as Cranelift's IR, is
//! rewritten such that each round of its loop runs four or eight invocations that are neighbours in x:
//! - what is the same for all of them stays scalar, and so does what is a first value and a multiple
//!   of the lane's number ([`shape`]): addresses of neighbouring elements need one addition;
//! - accesses to neighbouring elements become vector accesses, and most arithmetic on 32 bits and on
//!   `f64` becomes vector arithmetic with the same roundings;
//! - some functions are called for all lanes at once, any other instruction is done lane by lane ([`widen`]);
//! - where a branch differs between the invocations, the region up to where its ways meet is run under a
//!   mask ([`masked`]) or, if it does more than compute, by one invocation after the other ([`alone`]);
//!   where they agree, which is tested, it stays a branch.
//!
//! So every kernel can be rewritten, but for those whose invocations wait for each other within
//! such a region; those stay scalar. Where a gang is a workgroup by itself, a barrier is no more than a
//! `nop`, which tells where it is.
//!
//! SPMD on SIMD as in Pharr and Mark: ispc, A SPMD Compiler for High-Performance CPU Programming; the
//! analysis after Coutinho and others: Divergence Analysis and Optimizations.

pub(crate) mod access;
pub(crate) mod copied_instructions;
pub(crate) mod divergence;
pub(crate) mod flow_graph;
pub(crate) mod lane_conversion;
pub(crate) mod lane_layout;
pub(crate) mod predication;
pub(crate) mod serialised;
pub(crate) mod vectorise;
pub(crate) mod wide_functions;

use crate::codegen::gang_loop::{GangEntry, GangTarget};
use cranelift_codegen::ir::{FuncRef, Function, Inst};
use cranelift_frontend::FunctionBuilderContext;

/// Most values that a block takes from those before it: merging them under a mask takes time with the square of their
/// number, and they do not fit registers by far.
const MOST_PARAMETERS: usize = 1 << 10;

/// The code cannot be rewritten: the ways out of a branch need not meet, invocations would be
/// suspended at different points, may wait for each other in a loop, or the code would grow too much.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GangRefusal;

/// Functions of one number that there are of several, by their addresses.
pub(crate) type WideFunctionMap = rustc_hash::FxHashMap<usize, spirula_scalar::wide::WideFunction>;

/// What the rewritten code may use.
pub(crate) struct GangSupport<'a> {
    pub target: GangTarget,
    pub several: &'a WideFunctionMap,
    /// What stores two vectors past the caches.
    pub non_temporal_stub: Option<FuncRef>,
    /// The stores that may pass the caches by.
    pub non_temporal_insts: &'a rustc_hash::FxHashSet<Inst>,
}

/// Rewrites a function whose loop steps by gangs.
pub(crate) fn vectorise_gang_loop(
    func: &Function,
    mut roots: GangEntry,
    made: &GangSupport<'_>,
    builders: &mut FunctionBuilderContext,
) -> Result<Function, GangRefusal> {
    roots.context = func.dfg.resolve_aliases(roots.context);
    roots.frame = roots.frame.map(|frame| func.dfg.resolve_aliases(frame));
    let graph = flow_graph::ClifFlowGraph::from_function(func);
    let mut blocks = graph.blocks.iter();
    if blocks.any(|block| func.dfg.block_params(*block).len() > MOST_PARAMETERS) {
        return Err(GangRefusal);
    }
    let shapes = divergence::VarianceAnalysis::from_function(func, &graph, &roots)?;
    vectorise::vectorise_function(&graph, &shapes, made, builders)
}
