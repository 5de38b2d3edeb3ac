//! Lowering of a dispatch to a kernel.

mod accumulate_leaves;
mod combine_accumulators;
mod fragments;
mod hoist_invariants;
mod launch_arguments;
mod look_back;
mod lower_steps;
mod saved_accumulators;
mod shuffle_words;
mod split_factors;
mod store_results;
mod tile_copies;
mod tile_staging;
mod unrolled_points;
mod workgroup_scan;

use super::node_emitter::{NodeEmitter, TensorStorage};
use crate::ir::{
    AffineSum, DimExtent, NodeGraph, ScalarNode, StructuredOp, TensorFunction, TensorValue,
};
use crate::schedule::{
    LoopMapping, SchedulePlan, StagedNode, SubgroupMatmul, TensorDispatch, TensorLoopNest,
};
use fragments::SubgroupFragments;
use launch_arguments::{collect_captures, emit_dynamic_workgroups};
pub(super) use look_back::LookBackStatus;
use rustc_hash::FxHashMap;
use spirula_kernel::ProgramBuilder;
use spirula_kernel::ir::{
    BlockSize, ExprId, KernelData, KernelSyncScope, LaunchIndex, StmtKind, SyncKind, VarId,
    VariableType,
};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};
use tile_copies::TileCopyRun;
use tile_staging::TileWrites;
use unrolled_points::UnrolledPoint;

/// A dispatch as a kernel of a program. `sources` are the program's memory and scalars by tensor. `status` is the
/// memory of the chunks of a scan that looks back.
pub(super) fn lower_dispatch(
    b: &mut ProgramBuilder,
    function: &TensorFunction,
    dispatch: &TensorDispatch,
    sources: &FxHashMap<TensorValue, TensorStorage>,
    status: Option<&LookBackStatus>,
) -> KernelData {
    let nest = &dispatch.nest;
    let mut uses = collect_captures(function, dispatch, sources);
    uses.extend(status.map(LookBackStatus::as_capture));
    b.begin_block();
    emit_dispatch(b, function, dispatch, sources, status);
    let body = b.end_block();
    let (groups, sizes) = (nest.workgroups(), nest.workgroup_size());
    let used = |at: &usize| groups[*at] != 1 || sizes[*at] != 1;
    let dimensions = (0..3).rev().find(used).map_or(1, |last| last + 1);
    let groups = groups[..dimensions].iter().enumerate();
    let blocks = groups
        .map(|(at, n)| match nest.dynamic_workgroups(at) {
            Some(count) => emit_dynamic_workgroups(b, nest, count, sources),
            None => b.make_i64(*n as i64),
        })
        .collect();
    let sizes = sizes[..dimensions].iter();
    let block_size = sizes
        .map(|n| BlockSize::Constant(b.make_i64(*n as i64)))
        .collect();
    KernelData {
        label: Some(dispatch.label()),
        blocks,
        block_size,
        captures: uses,
        failure_tolerant: true,
        body,
        place: dispatch.place,
    }
}

/// Emits the statements of a dispatch into the open block.
pub(super) fn emit_dispatch(
    b: &mut ProgramBuilder,
    function: &TensorFunction,
    dispatch: &TensorDispatch,
    sources: &FxHashMap<TensorValue, TensorStorage>,
    status: Option<&LookBackStatus>,
) {
    let nest = &dispatch.nest;
    let mut e = NodeEmitter::new(b);
    e.sources = sources.clone();
    e.divides_slowly = nest.profile.is_processor();
    let mut lower = DispatchLowering {
        e,
        function,
        dispatch,
        nest,
        plan: &*dispatch.plan,
        leaves: Vec::new(),
        stages: Vec::new(),
        copies: Vec::new(),
        fragments: SubgroupFragments::default(),
        saved: Vec::new(),
        rounds: vec![0; nest.loops.len()],
        carried: Vec::new(),
        status,
        only: None,
        local: None,
        place: None,
        open: 0,
    };
    lower.begin_kernel();
    lower.lower_guarded_steps(&nest.steps);
}

struct DispatchLowering<'a> {
    e: NodeEmitter<'a>,
    function: &'a TensorFunction,
    dispatch: &'a TensorDispatch,
    nest: &'a TensorLoopNest,
    plan: &'a dyn SchedulePlan,
    leaves: Vec<UnrolledPoint>,
    /// The elements of each tile that an invocation writes.
    stages: Vec<TileWrites>,
    /// The same of tiles for fragments.
    copies: Vec<Vec<TileCopyRun>>,
    fragments: SubgroupFragments,
    /// Memory for saved accumulators.
    saved: Vec<VarId>,
    /// The current iterations of unrolled loops.
    rounds: Vec<u64>,
    /// The carry of a scan.
    carried: Vec<VarId>,
    /// Memory of the chunks of a scan that looks back.
    status: Option<&'a LookBackStatus>,
    /// The reduction that steps are restricted to.
    only: Option<usize>,
    /// The number of the invocation in its workgroup.
    local: Option<ScalarNode>,
    /// Its number among those that have a result together.
    place: Option<ScalarNode>,
    /// Loops whose counters have values, as bits.
    open: u64,
}

impl<'a> DispatchLowering<'a> {
    fn begin_kernel(&mut self) {
        for (number, data) in self.nest.loops.iter().enumerate() {
            let counter = self.loop_counter(number as u32);
            let (what, dimension) = match data.run {
                LoopMapping::Workgroup(dimension) => (LaunchIndex::Group, dimension),
                LoopMapping::Invocation(dimension) => (LaunchIndex::Local, dimension),
                LoopMapping::Subgroup => (LaunchIndex::Subgroup, 0),
                LoopMapping::Lane => (LaunchIndex::Lane, 0),
                _ => continue,
            };
            self.bind_launch_index(counter, what, dimension);
            self.open |= 1 << number;
        }
        self.number_invocations();
        self.take_chunk();
        let copies = if self.has_double_buffers() { 2 } else { 1 };
        for (at, staged) in self.staged().iter().enumerate() {
            let count = copies * staged.parts as i64 * self.tile_elements(staged);
            let memory = self.declare_shared(staged.ty, count);
            let value = self.staged_value(at);
            self.e.sources.insert(value, TensorStorage::Memory(memory));
        }
        self.make_leaves();
        self.declare_saved();
        match self.matmul() {
            Some(matmul) => {
                self.declare_fragments(matmul);
                self.make_copies();
            }
            None => self.make_stages(),
        }
    }

    /// Nodes that are staged in the workgroup's memory.
    fn staged(&self) -> &'a [StagedNode] {
        let staging = self.plan.staging();
        staging.map_or(&[], |staging| &staging.nodes)
    }

    /// The product that subgroups compute.
    fn matmul(&self) -> Option<&'a SubgroupMatmul> {
        self.plan.matmul()
    }

    /// The loop of the iterations that are fetched ahead, where tiles are prefetched.
    fn ahead(&self) -> Option<u32> {
        Some(self.plan.staging()?.prefetch?.ahead)
    }

    fn loop_counter(&mut self, number: u32) -> ScalarNode {
        let extent = self.nest.loop_extent(number);
        self.e
            .body
            .intern_counter(number, DimExtent::Static(extent))
    }

    fn tile_size(&self, tile: usize) -> i64 {
        self.nest.tiles[tile].size as i64
    }

    /// Binds a counter to a position in the launch.
    fn bind_launch_index(&mut self, counter: ScalarNode, what: LaunchIndex, dimension: u8) {
        if self.e.body.as_literal(counter).is_some() {
            return;
        }
        let name = match what {
            LaunchIndex::Group => "group",
            LaunchIndex::Subgroup => "subgroup",
            LaunchIndex::Lane => "lane",
            _ => "local",
        };
        let to = self
            .e
            .b
            .declare_var(name, VariableType::Scalar(ScalarType::I32), false);
        self.e.b.push_statement(StmtKind::Position {
            to,
            part: what,
            dimension,
        });
        let narrow = self.e.b.read_var(to);
        self.bind_counter(counter, narrow);
    }

    /// Binds a counter to an `i32`.
    fn bind_counter(&mut self, counter: ScalarNode, narrow: ExprId) {
        if self.e.computed_type(counter) == ScalarType::I32 {
            return self.e.set_value(counter, narrow);
        }
        let convert =
            ScalarOperator::from_conversion(ScalarOp::SExt, ScalarType::I32, ScalarType::I64);
        let wide = self.e.b.apply_operator(convert, &[narrow]);
        let wide = self.e.bind_to_variable(wide, ScalarType::I64);
        self.e.set_value(counter, wide);
    }

    /// Computes the number of the invocation from the counters of the loops over invocations.
    fn number_invocations(&mut self) {
        let sizes = self.nest.workgroup_size();
        let mut sum = AffineSum::default();
        for (number, data) in self.nest.loops.iter().enumerate() {
            let LoopMapping::Invocation(dimension) = data.run else {
                continue;
            };
            let stride: u64 = sizes[..usize::from(dimension)].iter().product();
            let counter = self.loop_counter(number as u32);
            sum.add_scaled(&AffineSum::from_node(&self.e.body, counter), stride as i64);
        }
        self.local = Some(sum.into_node(&mut self.e.body));
        self.place = match self.plan.cluster() {
            Some(cluster) => self.place_in_cluster(cluster),
            None => self.local,
        };
    }

    /// The number of the invocation in its cluster of a subgroup.
    fn place_in_cluster(&mut self, cluster: u64) -> Option<ScalarNode> {
        let lane = self.counter_of(LoopMapping::Lane)?;
        let body = &mut self.e.body;
        let size = body.intern_i64(cluster as i64);
        Some(body.apply_op(ScalarOp::SMod, &[lane, size]))
    }

    /// Number of iterations of the loop with a mapping; 1 where there is none.
    fn extent_of(&self, run: LoopMapping) -> u64 {
        let mut loops = self.nest.loops.iter();
        loops.find(|l| l.run == run).map_or(1, |l| l.extent)
    }

    /// The counter of the loop with a mapping.
    fn counter_of(&mut self, run: LoopMapping) -> Option<ScalarNode> {
        let number = self.nest.loops.iter().position(|l| l.run == run)?;
        Some(self.loop_counter(number as u32))
    }

    fn emit_barrier(&mut self) {
        self.e.b.push_statement(StmtKind::Sync {
            kind: SyncKind::Barrier,
            scope: KernelSyncScope::Shared,
        });
    }
}

/// The conjunction of conditions.
fn conjoin_conditions(body: &mut NodeGraph, conditions: &[ScalarNode]) -> ScalarNode {
    let mut holds = body.intern_literal(ScalarLiteral::new(ScalarType::Bool, 1));
    for condition in conditions {
        holds = match (body.as_literal(holds), body.as_literal(*condition)) {
            (Some(known), _) if known.bits != 0 => *condition,
            (_, Some(known)) if known.bits != 0 => holds,
            _ => body.apply_op(ScalarOp::LogAnd, &[holds, *condition]),
        };
    }
    holds
}

/// The place of a position in memory, in elements.
pub(super) fn flatten_position(
    body: &mut NodeGraph,
    position: &[ScalarNode],
    shape: &[DimExtent],
) -> ScalarNode {
    let mut flat = body.intern_i64(0);
    for (index, dim) in position.iter().zip(shape) {
        let size = body.intern_size(*dim);
        flat = body.apply_op(ScalarOp::Mul, &[flat, size]);
        flat = body.apply_op(ScalarOp::Add, &[flat, *index]);
    }
    flat
}

/// Types of the accumulators of all reductions.
fn accumulator_types(op: &StructuredOp) -> Vec<ScalarType> {
    let values = op.reductions.iter().flat_map(|r| &r.values);
    values.map(|n| op.body.ty(*n)).collect()
}
