//! Dispatches to kernels.

mod accumulate_leaves;
mod combine_accumulators;
mod tile_copies;
mod fragments;
mod saved_accumulators;
mod launch_arguments;
mod look_back;
mod workgroup_scan;
mod tile_staging;
mod store_results;
mod shuffle_words;

use super::node_emitter::{NodeEmitter, TensorStorage};
use crate::ir::{
    AffineSum, DimExtent, NodeData, NodeGraph, ScalarNode, StructuredOp, TensorFunction,
    TensorValue, YieldDestination,
};
use crate::schedule::{DispatchStep, LoopMapping, ScheduleStrategy, TensorDispatch};
use fragments::SubgroupFragments;
use launch::{collect_uses, rounds_on_host};
pub(super) use look_back::LookBackStatus;
use rustc_hash::FxHashMap;
use spirula_kernel::ProgramBuilder;
use spirula_kernel::ir::{
    BlockSize, ExprId, KernelData, KernelSyncScope, LaunchIndex, StmtKind, SyncKind, VarId,
    VariableType,
};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};
use tile_staging::TileWrites;

/// A dispatch as a kernel of a program whose memory and scalars are given by value, with memory for those that look back.
pub(super) fn lower_dispatch(
    b: &mut ProgramBuilder,
    function: &TensorFunction,
    dispatch: &TensorDispatch,
    sources: &FxHashMap<TensorValue, TensorStorage>,
    progress: Option<&LookBackStatus>,
) -> KernelData {
    let mut uses = collect_uses(function, dispatch, sources);
    uses.extend(progress.map(LookBackStatus::as_use));
    b.begin_block();
    let mut e = NodeEmitter::new(b);
    e.sources = sources.clone();
    let mut lower = DispatchLowering {
        e,
        function,
        dispatch,
        leaves: Vec::new(),
        stages: Vec::new(),
        copies: Vec::new(),
        fragments: SubgroupFragments::default(),
        kept: Vec::new(),
        rounds: vec![0; dispatch.loops.len()],
        carried: Vec::new(),
        progress,
        only: None,
        local: None,
        place: None,
        open: 0,
    };
    lower.begin_kernel();
    lower.lower_guarded_steps(&dispatch.steps);
    let body = b.end_block();
    let (groups, sizes) = (dispatch.workgroups(), dispatch.workgroup_size());
    let used = |at: &usize| groups[*at] != 1 || sizes[*at] != 1;
    let dimensions = (0..3).rev().find(used).map_or(1, |last| last + 1);
    let groups = groups[..dimensions].iter().enumerate();
    let blocks = groups
        .map(|(at, n)| match dispatch.rounds_of(at) {
            Some(rounds) => rounds_on_host(b, dispatch, rounds, sources),
            None => b.make_i64(*n as i64),
        })
        .collect();
    let sizes = sizes[..dimensions].iter();
    let block_size = sizes
        .map(|n| BlockSize::Constant(b.make_i64(*n as i64)))
        .collect();
    KernelData {
        blocks,
        block_size,
        captures: uses,
        failure_tolerant: true,
        body,
        place: dispatch.place,
    }
}

/// What is done at one point for one combination of rounds of the unrolled loops.
struct UnrolledPoint {
    /// Accumulators, what they begin as, and what is folded into them.
    accumulators: Vec<VarId>,
    initial: Vec<ScalarNode>,
    values: Vec<ScalarNode>,
    /// Which accumulators are given their only value: they begin with a neutral element, and no loop adds more.
    given: Vec<bool>,
    /// Whether the point is within the space, and whether the fold is.
    guard: ScalarNode,
    fold_guard: ScalarNode,
    /// Where its accumulators are kept, where they are.
    kept: Option<ScalarNode>,
    /// Values and positions of the results.
    yields: Vec<(ScalarNode, Vec<ScalarNode>)>,
}

struct DispatchLowering<'a> {
    e: NodeEmitter<'a>,
    function: &'a TensorFunction,
    dispatch: &'a TensorDispatch,
    leaves: Vec<UnrolledPoint>,
    /// What each invocation writes of each tile.
    stages: Vec<TileWrites>,
    /// The same of tiles for fragments.
    copies: Vec<Vec<tile_copies::TileCopyRun>>,
    fragments: SubgroupFragments,
    /// Memory for accumulators while others are added to.
    kept: Vec<VarId>,
    /// The rounds that loops which are written out are in.
    rounds: Vec<u64>,
    /// What a scan has before a round.
    carried: Vec<VarId>,
    /// Where chunks of a scan say what they have.
    progress: Option<&'a LookBackStatus>,
    /// The reduction that steps are about, where they are about one.
    only: Option<usize>,
    /// The number of the invocation in its workgroup.
    local: Option<ScalarNode>,
    /// Its number among those that fold together.
    place: Option<ScalarNode>,
    /// Loops whose counters have values, as bits.
    open: u64,
}

/// The bit of what is known only after all folds.
const AFTER: u64 = 1 << 63;

impl<'a> DispatchLowering<'a> {
    fn begin_kernel(&mut self) {
        for (number, data) in self.dispatch.loops.iter().enumerate() {
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
        for (at, staged) in self.dispatch.staged.iter().enumerate() {
            let copies = if self.is_double() == Some(true) { 2 } else { 1 };
            let count = copies * self.kept_size(staged);
            let memory = self.declare_shared(staged.ty, count);
            let value = self.staged_value(at);
            self.e.sources.insert(value, TensorStorage::Memory(memory));
        }
        self.make_leaves();
        self.make_kept();
        match &self.dispatch.matrix {
            Some(matrix) => {
                self.make_fragments(matrix);
                self.make_copies();
            }
            None => self.make_stages(),
        }
    }

    fn loop_counter(&mut self, number: u32) -> ScalarNode {
        let extent = self.dispatch.loops[number as usize].extent;
        self.e
            .body
            .intern_counter(number, DimExtent::Static(extent))
    }

    fn tile_size(&self, tile: usize) -> i64 {
        self.dispatch.tiles[tile].size as i64
    }

    /// Gives a counter the position in the launch as its value.
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

    /// Gives a counter an `i32` as its value.
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

    /// The number of the invocation, from the counters of the loops over invocations.
    fn number_invocations(&mut self) {
        let sizes = self.dispatch.workgroup_size();
        let mut sum = AffineSum::default();
        for (number, data) in self.dispatch.loops.iter().enumerate() {
            let LoopMapping::Invocation(dimension) = data.run else {
                continue;
            };
            let stride: u64 = sizes[..usize::from(dimension)].iter().product();
            let counter = self.loop_counter(number as u32);
            sum.add_scaled(&AffineSum::from_node(&self.e.body, counter), stride as i64);
        }
        self.local = Some(sum.into_node(&mut self.e.body));
        self.place = match self.dispatch.strategy {
            ScheduleStrategy::Subgroups | ScheduleStrategy::SubgroupRows => self.place_in_cluster(),
            _ => self.local,
        };
    }

    /// The nodes of all leaves.
    fn make_leaves(&mut self) {
        let mut template = NodeGraph::default();
        let dispatch = self.dispatch;
        let indices = template.import_nodes(&dispatch.points, &dispatch.indices, |_, _, _| None);
        let guards = template.import_nodes(&dispatch.points, &dispatch.guards, |_, _, _| None);
        let fold_guards =
            template.import_nodes(&dispatch.points, &dispatch.fold_guards, |_, _, _| None);
        let reads = self.staged_reads(&mut template);
        let roots = dispatch.op.collect_roots();
        let mut nodes = self.schedule_nodes(&mut template, &roots, &indices, &reads);
        nodes.push(conjoin_conditions(&mut template, &guards));
        nodes.push(conjoin_conditions(&mut template, &fold_guards));
        nodes.extend(&indices[..dispatch.op.parallel_rank()]);
        nodes.extend(self.kept_place(&mut template));
        let loops = dispatch.loops.iter().enumerate();
        let unrolled: Vec<(u32, u64)> = loops
            .filter(|(_, l)| l.run == LoopMapping::Unrolled)
            .map(|(at, l)| (at as u32, l.extent))
            .collect();
        let count: u64 = unrolled.iter().map(|(_, extent)| extent).product();
        for leaf in 0..count {
            let mut rest = leaf;
            let rounds = unrolled.iter().rev().map(|(number, extent)| {
                let round = rest % extent;
                rest /= extent;
                (*number, round)
            });
            let rounds: Vec<(u32, u64)> = rounds.collect();
            let leaf = self.make_leaf(&template, &nodes, &rounds);
            self.leaves.push(leaf);
        }
    }

    /// A leaf from the nodes of the template.
    fn make_leaf(
        &mut self,
        template: &NodeGraph,
        nodes: &[ScalarNode],
        rounds: &[(u32, u64)],
    ) -> UnrolledPoint {
        let op = &self.dispatch.op;
        let count = accumulator_types(op).len();
        let first = (self.leaves.len() * count) as u32;
        let nodes = self
            .e
            .body
            .import_nodes(template, nodes, |body, node, data| match data {
                NodeData::Counter(number) => {
                    let (_, round) = rounds.iter().find(|(n, _)| n == number)?;
                    Some(body.intern_i64(*round as i64))
                }
                NodeData::Reduced(number) => {
                    Some(body.intern_accumulator(first + number, template.ty(node)))
                }
                _ => None,
            });
        let mut nodes = nodes.into_iter();
        let mut take = |count: usize| nodes.by_ref().take(count).collect::<Vec<ScalarNode>>();
        let (mut initial, mut values) = (Vec::new(), Vec::new());
        for reduction in &op.reductions {
            initial.extend(take(reduction.initial.len()));
            values.extend(take(reduction.values.len()));
        }
        let scattered = op.yields.iter().map(|result| {
            let count = result.destination.indices().len();
            (take(1)[0], take(count))
        });
        let mut yields: Vec<(ScalarNode, Vec<ScalarNode>)> = scattered.collect();
        let guards = take(2);
        let point = take(op.parallel_rank());
        let kept = take(1).first().copied();
        for (result, (_, position)) in op.yields.iter().zip(&mut yields) {
            if matches!(result.destination, YieldDestination::Point) {
                position.clone_from(&point);
            }
        }
        let types = accumulator_types(op);
        let declare = |ty| self.e.b.declare_var("sum", VariableType::Scalar(ty), false);
        UnrolledPoint {
            accumulators: types.into_iter().map(declare).collect(),
            initial,
            given: vec![false; values.len()],
            values,
            guard: guards[0],
            fold_guard: guards[1],
            kept,
            yields,
        }
    }

    /// Nodes of the operation at given indices along the axes, with positions in memory; what is
    /// staged as it is read, where that is given.
    fn schedule_nodes(
        &self,
        body: &mut NodeGraph,
        roots: &[ScalarNode],
        indices: &[ScalarNode],
        reads: &[ScalarNode],
    ) -> Vec<ScalarNode> {
        let staged = &self.dispatch.staged;
        let function = self.function;
        body.import_nodes(&self.dispatch.op.body, roots, |body, node, data| {
            let at = staged.iter().position(|s| s.node == node);
            if let Some(read) = at.and_then(|at| reads.get(at)) {
                return Some(*read);
            }
            match data {
                NodeData::Index(axis) => indices.get(*axis as usize).copied(),
                NodeData::Element(value, position) if !position.is_empty() => {
                    let ty = function.ty(*value);
                    let flat = flatten_position(body, position, &ty.shape);
                    Some(body.intern_element(*value, ty.element, &[flat]))
                }
                _ => None,
            }
        })
    }

    /// Steps of a flat or serial dispatch under one condition for all.
    fn lower_guarded_steps(&mut self, steps: &[DispatchStep]) {
        if self.dispatch.strategy != ScheduleStrategy::Flat {
            return self.lower_steps(steps);
        }
        let mut inner = steps;
        while let [DispatchStep::For(number, next)] = inner {
            if !self.is_distributed(*number) {
                break;
            }
            inner = next;
        }
        let guard = self.leaves[0].guard;
        if self.e.body.as_literal(guard).is_some() {
            return self.lower_steps(inner);
        }
        let condition = self.e.emit_nodes(&[guard])[0];
        self.e.b.begin_block();
        let mark = self.e.begin_scope();
        self.lower_steps(inner);
        self.e.end_scope(mark);
        let then = self.e.b.end_block();
        self.e.b.begin_block();
        let otherwise = self.e.b.end_block();
        self.e.b.push_statement(StmtKind::If {
            condition,
            then,
            otherwise,
        });
    }

    fn is_distributed(&self, number: u32) -> bool {
        let run = self.dispatch.loops[number as usize].run;
        matches!(run, LoopMapping::Workgroup(_) | LoopMapping::Invocation(_))
    }

    fn lower_steps(&mut self, steps: &[DispatchStep]) {
        let is_matrix = self.dispatch.matrix.is_some();
        for step in steps {
            match step {
                DispatchStep::For(number, inner) => self.lower_loop(*number, inner),
                DispatchStep::Initialise => self.initialise_accumulators(),
                DispatchStep::Accumulate => self.accumulate_leaves(),
                DispatchStep::Combine(number) if self.dispatch.kept.is_some() => {
                    self.combine_kept(*number);
                }
                DispatchStep::Combine(number) => self.combine_invocations(*number),
                DispatchStep::Store => self.store_results(),
                DispatchStep::Stage(at) if is_matrix => self.copy_tile(*at),
                DispatchStep::Fetch(round) if is_matrix => self.fetch_runs(*round),
                DispatchStep::Commit(round) if is_matrix => self.commit_runs(*round),
                DispatchStep::Stage(at) => {
                    let places = &self.stages[*at].places;
                    if self.dispatch.strategy == ScheduleStrategy::Turned {
                        // All reads on their way before the first is waited for.
                        let values: Vec<ScalarNode> = places.iter().map(|p| p.value).collect();
                        self.e.emit_nodes(&values);
                    }
                    places.iter().for_each(|p| p.write_guarded(&mut self.e));
                }
                DispatchStep::Fetch(round) => self.fetch_tiles(*round),
                DispatchStep::Commit(_) => self.commit_tiles(),
                DispatchStep::Carry => self.initialise_carry(),
                DispatchStep::Prefix(number) => self.scan_prefix(*number),
                DispatchStep::Only(at) => self.only = Some(*at),
                DispatchStep::Share => self.publish_reductions(),
                DispatchStep::Clear => self.clear_fragments(),
                DispatchStep::Multiply => self.multiply_fragments(),
                DispatchStep::Spill => self.spill_fragment(),
                DispatchStep::Take => self.take_row_sums(),
                DispatchStep::Keep => self.save_accumulators(),
                DispatchStep::Recall => self.restore_accumulators(),
                DispatchStep::Barrier => self.emit_barrier(),
            }
        }
    }

    fn emit_barrier(&mut self) {
        self.e.b.push_statement(StmtKind::Sync {
            kind: SyncKind::Barrier,
            scope: KernelSyncScope::Shared,
        });
    }

    /// A loop: unrolled ones are in the leaves, distributed ones in the launch.
    fn lower_loop(&mut self, number: u32, inner: &[DispatchStep]) {
        let data = self.dispatch.loops[number as usize];
        if data.run == LoopMapping::Repeated {
            return self.write_out(number, data.extent, inner);
        }
        if data.run != LoopMapping::Sequential || data.extent == 1 {
            return self.lower_steps(inner);
        }
        self.hoist_invariants(inner);
        let node = self.loop_counter(number);
        let ty = self.e.computed_type(node);
        let counter = self.e.b.new_var("i", VariableType::Scalar(ty));
        let bound = match data.rounds {
            Some(rounds) => {
                let points = &self.dispatch.points;
                let rounds = self.e.body.import_nodes(points, &[rounds], |_, _, _| None)[0];
                self.e.emit_as(rounds, ty)
            }
            None => self.e.b.make_literal(ScalarLiteral::new(ty, data.extent)),
        };
        let value = self.e.b.read_var(counter);
        self.e.b.begin_block();
        let mark = self.e.begin_scope();
        self.e.set_value(node, value);
        self.open |= 1 << number;
        self.lower_steps(inner);
        self.open &= !(1 << number);
        self.e.end_scope(mark);
        let body = self.e.b.end_block();
        self.e.b.push_statement(StmtKind::For {
            counter,
            bound,
            body,
        });
    }

    /// The rounds of a loop, one after the other.
    fn write_out(&mut self, number: u32, rounds: u64, inner: &[DispatchStep]) {
        let node = self.loop_counter(number);
        let ty = self.e.computed_type(node);
        for round in 0..rounds {
            let mark = self.e.begin_scope();
            let value = self.e.b.make_literal(ScalarLiteral::new(ty, round));
            self.e.set_value(node, value);
            self.rounds[number as usize] = round;
            self.lower_steps(inner);
            self.e.end_scope(mark);
        }
    }

    /// Emits what steps of a loop need and what does not change in it.
    fn hoist_invariants(&mut self, steps: &[DispatchStep]) {
        let mut roots = Vec::new();
        self.collect_roots(steps, &mut roots);
        let fixed = self.mark_invariant();
        let ready = self.e.find_hoistable(&roots, |node| fixed[node.index()]);
        self.e.emit_nodes(&ready);
    }

    fn collect_roots(&self, steps: &[DispatchStep], roots: &mut Vec<ScalarNode>) {
        for step in steps {
            match step {
                DispatchStep::For(_, inner) => self.collect_roots(inner, roots),
                DispatchStep::Accumulate => {
                    for leaf in &self.leaves {
                        roots.extend(&leaf.values);
                    }
                }
                DispatchStep::Stage(_)
                | DispatchStep::Fetch(_)
                | DispatchStep::Commit(_)
                | DispatchStep::Multiply
                    if self.dispatch.matrix.is_some() =>
                {
                    roots.extend(
                        self.copies
                            .iter()
                            .flatten()
                            .flat_map(tile_copies::TileCopyRun::collect_roots),
                    );
                }
                DispatchStep::Stage(at) => {
                    for place in &self.stages[*at].places {
                        roots.extend([place.at, place.inside, place.value]);
                    }
                }
                DispatchStep::Fetch(_) | DispatchStep::Commit(_) => {
                    for place in self.stages.iter().flat_map(|s| &s.places) {
                        roots.extend([place.at, place.inside, place.value]);
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether each node depends only on loops that are open now.
    fn mark_invariant(&self) -> Vec<bool> {
        let body = &self.e.body;
        let mut needs = vec![0u64; body.len()];
        for node in body.node_ids() {
            let own = match body.node(node) {
                NodeData::Counter(number) => 1 << (number % 62),
                NodeData::Reduced(_) => AFTER,
                NodeData::Element(value, _) => {
                    let first = self.function.value_count();
                    let at = value.index().checked_sub(first);
                    let staged = at.and_then(|at| self.dispatch.staged.get(at));
                    // What is staged changes with the loop around it, and so within.
                    staged.map_or(0, |_| AFTER)
                }
                _ => 0,
            };
            let operands = body.operands(node).iter();
            needs[node.index()] = operands.fold(own, |all, n| all | needs[n.index()]);
        }
        needs
            .into_iter()
            .map(|needs| needs & !self.open == 0)
            .collect()
    }

    fn initialise_accumulators(&mut self) {
        let is_kept = self.dispatch.kept.is_some();
        for at in 0..self.leaves.len() {
            let (vars, initial) = {
                let leaf = &self.leaves[at];
                (leaf.accumulators.clone(), leaf.initial.clone())
            };
            let initial = match self.dispatch.strategy {
                // What the scan begins with is carried.
                ScheduleStrategy::Scan | ScheduleStrategy::LookBack => {
                    self.neutralise_initial(initial)
                }
                ScheduleStrategy::Cooperative
                | ScheduleStrategy::Subgroups
                | ScheduleStrategy::Rows
                | ScheduleStrategy::SubgroupRows
                | ScheduleStrategy::Across => match at > 0 || is_kept {
                    true => self.neutralise_initial(initial),
                    false => self.first_only(initial),
                },
                _ => initial,
            };
            self.leaves[at].given = self.find_single_valued(&initial);
            let range = self.accumulator_range();
            let values = self.e.emit_nodes(&initial[range.clone()]);
            for (var, value) in vars[range].iter().zip(values) {
                self.e.b.push_assignment(*var, value);
            }
        }
    }
}

/// Whether all conditions hold.
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

/// The place of a position in memory, counted in elements.
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

fn accumulator_types(op: &StructuredOp) -> Vec<ScalarType> {
    let values = op.reductions.iter().flat_map(|r| &r.values);
    values.map(|n| op.body.ty(*n)).collect()
}
