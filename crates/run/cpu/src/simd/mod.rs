//! SIMD gangs: vectorises the loop over invocations, so that several neighbouring invocations run at once.
//!
//! The input is Cranelift's IR of the code that runs the invocations of a workgroup one after the other. In the
//! output, each iteration of its loop runs a gang of four or eight invocations that are neighbours in x:
//!
//! - Uniform values stay scalar. Values that are affine in the lane are held by those of the first lane
//!   ([`divergence`]), so that addresses of neighbouring elements need one addition.
//! - Accesses to neighbouring elements become vector accesses, also those of a lane to elements of its own
//!   ([`record_access`]). Most arithmetic becomes vector arithmetic with the same
//!   roundings. Integers of 8 and 64 bits are vectors where this takes less time ([`vector_integers`]).
//! - Some functions are called for all lanes at once. Any other instruction is executed lane by lane ([`vectorise`]).
//! - The region between a divergent branch and its join is predicated ([`predication`]). If it does more than
//!   compute, it is serialised ([`serialised`]). If all lanes take the same path at run time, it stays a branch.
//!
//! Kernels whose invocations wait for each other within such a region stay scalar. All others can be vectorised.
//! Where a gang is a whole workgroup, a barrier is only a `nop` that marks its position.
//!
//! The method is that of SPMD on SIMD: M. Pharr and W. Mark, "ispc: A SPMD Compiler for High-Performance CPU
//! Programming". The analysis follows B. Coutinho and others, "Divergence Analysis and Optimizations".

pub(crate) mod access;
pub(crate) mod control_flow;
pub(crate) mod copied_instructions;
pub(crate) mod divergence;
pub(crate) mod divergent_regions;
pub(crate) mod flow_graph;
mod integer_widths;
mod lane_bounds;
pub(crate) mod lane_conversion;
pub(crate) mod lane_layout;
mod lane_loop;
mod lane_slots;
pub(crate) mod predication;
mod record_access;
pub(crate) mod serialised;
mod vector_division;
mod vector_integers;
pub(crate) mod vectorise;
pub(crate) mod wide_functions;

use crate::codegen::gang_loop::{GangEntry, GangTarget};
use cranelift_codegen::ir::{FuncRef, Function, Inst};
use cranelift_frontend::FunctionBuilderContext;

/// Most parameters of a block. Merging them under a mask takes time with the square of their number, and more do not
/// fit registers by far.
const MOST_PARAMETERS: usize = 1 << 10;

/// The code cannot be vectorised. The paths of a branch need not join, or lanes would be suspended at different points
/// or wait for each other in a loop. Or the code would grow too much.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GangRefusal;

/// Vector forms of functions on one number, by the addresses of the latter.
pub(crate) type WideFunctionMap = rustc_hash::FxHashMap<usize, spirula_scalar::wide::WideFunction>;

/// Functions and instructions that the vectorised code may use.
pub(crate) struct GangSupport<'a> {
    pub target: GangTarget,
    pub wide_functions: &'a WideFunctionMap,
    /// The function that stores two vectors past the caches.
    pub non_temporal_stub: Option<FuncRef>,
    /// The stores that may pass the caches by.
    pub non_temporal_insts: &'a rustc_hash::FxHashSet<Inst>,
}

/// Vectorises a function whose loop steps by gangs.
///
/// # Errors
/// When the code cannot be vectorised.
pub(crate) fn vectorise_gang_loop(
    func: &Function,
    mut roots: GangEntry,
    support: &GangSupport<'_>,
    builders: &mut FunctionBuilderContext,
) -> Result<Function, GangRefusal> {
    roots.context = func.dfg.resolve_aliases(roots.context);
    roots.frame = roots.frame.map(|frame| func.dfg.resolve_aliases(frame));
    let graph = flow_graph::ClifFlowGraph::from_function(func);
    let mut blocks = graph.blocks.iter();
    if blocks.any(|block| func.dfg.block_params(*block).len() > MOST_PARAMETERS) {
        return Err(GangRefusal);
    }
    let variance = divergence::VarianceAnalysis::from_function(func, &graph, &roots)?;
    vectorise::vectorise_function(&graph, &variance, support, builders)
}
