//! Combination of accumulators: those of a workgroup's invocations into one.

use super::super::element_write::AccumulatorArrays;
use super::super::node_emitter::NodeEmitter;
use super::{DispatchLowering, accumulator_types, conjoin_conditions, shuffle_words};
use crate::ir::{ScalarNode, TensorReduction};
use crate::schedule::{DispatchStep, LoopMapping};
use spirula_kernel::ir::{ExprId, StmtKind, VarId, VariableType};
use spirula_program::{ScalarOp, ScalarType};

/// Number of accumulators that an invocation combines at a time.
const RADIX: u64 = 8;

impl<'a> DispatchLowering<'a> {
    /// The accumulators that steps are restricted to.
    pub(super) fn accumulator_range(&self) -> std::ops::Range<usize> {
        let op = &self.nest.op;
        match self.only {
            None => 0..op.accumulator_count(),
            Some(at) => op.accumulator_ranges()[at].clone(),
        }
    }

    /// The reductions that steps are restricted to.
    pub(super) fn active_reductions(&self) -> &'a [TensorReduction] {
        let all = &self.nest.op.reductions;
        match self.only {
            None => all,
            Some(at) => &all[at..=at],
        }
    }

    /// The initial values of accumulators where several invocations accumulate together. The first invocation has
    /// those of the operation, the others neutral elements, where the operator has such.
    pub(super) fn first_only(&mut self, initial: Vec<ScalarNode>) -> Vec<ScalarNode> {
        let mut first = 0;
        let mut nodes = initial.clone();
        for reduction in &self.nest.op.reductions {
            let neutral = reduction
                .combiner
                .neutral_element(self.e.body.ty(initial[first]));
            if let (Some(neutral), Some(place)) = (neutral, self.place) {
                let body = &mut self.e.body;
                let zero = body.intern_i64(0);
                let is_first = body.apply_op(ScalarOp::Eq, &[place, zero]);
                let neutral = body.intern_literal(neutral);
                nodes[first] = body.apply_op(ScalarOp::Cond, &[is_first, initial[first], neutral]);
            }
            first += reduction.values.len();
        }
        nodes
    }

    /// Which accumulators are assigned their only value, if they have the initial values `initial`.
    pub(super) fn find_single_valued(&self, initial: &[ScalarNode]) -> Vec<bool> {
        let is_once = !self.adds_again(&self.nest.steps);
        let body = &self.e.body;
        let (mut given, mut first) = (vec![false; initial.len()], 0);
        for reduction in &self.nest.op.reductions {
            let neutral = reduction.combiner.neutral_element(body.ty(initial[first]));
            // The maximum of a number and NaN is the number, so the only value may differ from the result.
            let keeps_all = !matches!(
                reduction.combiner.as_operator(),
                Some(ScalarOp::FMax | ScalarOp::FMin)
            );
            let begins = neutral.is_some() && body.as_literal(initial[first]) == neutral;
            given[first] = is_once && keeps_all && begins;
            first += reduction.values.len();
        }
        given
    }

    /// Whether a loop adds to accumulators that were set before it.
    fn adds_again(&self, steps: &[DispatchStep]) -> bool {
        steps.iter().any(|step| match step {
            DispatchStep::For(number, inner) => {
                let data = self.nest.loops[*number as usize];
                let repeats = matches!(data.run, LoopMapping::Sequential | LoopMapping::Repeated);
                let adds = has_step(inner, &DispatchStep::Accumulate)
                    && !has_step(inner, &DispatchStep::Initialise);
                (repeats && data.extent > 1 && adds) || self.adds_again(inner)
            }
            _ => false,
        })
    }

    /// The initial values of an invocation's further accumulators: neutral elements.
    pub(super) fn neutralise_initial(&mut self, mut initial: Vec<ScalarNode>) -> Vec<ScalarNode> {
        let mut first = 0;
        for reduction in &self.nest.op.reductions {
            let body = &mut self.e.body;
            if let Some(neutral) = reduction.combiner.neutral_element(body.ty(initial[first])) {
                initial[first] = body.intern_literal(neutral);
            }
            first += reduction.values.len();
        }
        initial
    }

    /// Combines an invocation's accumulators into its first, pair by pair, so that the chain of dependencies is short.
    fn combine_leaves(&mut self) {
        let (reductions, range) = (self.active_reductions(), self.accumulator_range());
        let (count, mut distance) = (self.leaves.len(), 1);
        while distance < count {
            for at in (0..count - distance).step_by(2 * distance) {
                let [own, other] =
                    [at, at + distance].map(|at| &self.leaves[at].accumulators[range.clone()]);
                let values: Vec<ExprId> = other.iter().map(|var| self.e.b.read_var(*var)).collect();
                fold_into_accumulators(&mut self.e, reductions, own, &values);
            }
            distance *= 2;
        }
    }

    /// Combines the accumulators of all invocations of a loop into one, which each of them gets.
    ///
    /// Those of a subgroup are combined by shuffles, where the device has them. The rest is combined in the
    /// workgroup's memory, [`RADIX`] at a time.
    pub(super) fn combine_invocations(&mut self, number: u32) {
        self.combine_leaves();
        let size = self.nest.loops[number as usize].extent;
        let range = self.accumulator_range();
        let vars = self.leaves[0].accumulators[range.clone()].to_vec();
        let types = accumulator_types(&self.nest.op)[range].to_vec();
        let Some(local) = self.local else { return };
        let lanes = self.extent_of(LoopMapping::Lane);
        let cluster = self.plan.cluster().unwrap_or(lanes);
        self.combine_subgroup(lanes.min(cluster), &vars, &types);
        let mut left = size / lanes;
        if left == 1 {
            return;
        }
        let memory: Vec<VarId> = types
            .iter()
            .map(|ty| self.declare_shared(*ty, left as i64))
            .collect();
        let memory = AccumulatorArrays::new(&types, &memory);
        self.wait_for_iteration_before();
        let (place, writes) = self.place_left(local);
        self.e
            .emit_if(writes, |e| memory.write_elements(e, place, &vars));
        self.emit_barrier();
        let reductions = self.active_reductions();
        while left > RADIX {
            let next = left / RADIX;
            let limit = self.e.body.intern_i64(next as i64);
            let is_in = self.e.body.apply_op(ScalarOp::SLt, &[local, limit]);
            self.e.emit_if(is_in, |e| {
                fold_places(
                    e,
                    reductions,
                    &memory,
                    &vars,
                    PlaceRange::new(local, next, RADIX),
                );
                memory.write_elements(e, local, &vars);
            });
            self.emit_barrier();
            left = next;
        }
        let zero = self.e.body.intern_i64(0);
        fold_places(
            &mut self.e,
            reductions,
            &memory,
            &vars,
            PlaceRange::new(zero, 1, left),
        );
    }

    /// Combines the accumulators of each subgroup, or cluster of it, so that all of its invocations have the same.
    fn combine_subgroup(&mut self, lanes: u64, vars: &[VarId], types: &[ScalarType]) {
        let reductions = self.active_reductions();
        let mut mask = lanes as u32 / 2;
        while mask > 0 {
            let others = shuffle_variables(&mut self.e, mask, vars, types);
            fold_into_accumulators(&mut self.e, reductions, vars, &others);
            mask /= 2;
        }
    }

    /// The place where an invocation writes its accumulators after shuffles, and whether it does.
    pub(super) fn place_left(&mut self, local: ScalarNode) -> (ScalarNode, ScalarNode) {
        let counters = [LoopMapping::Subgroup, LoopMapping::Lane].map(|run| self.counter_of(run));
        let [Some(subgroup), Some(lane)] = counters else {
            return (local, conjoin_conditions(&mut self.e.body, &[]));
        };
        let zero = self.e.body.intern_i64(0);
        (subgroup, self.e.body.apply_op(ScalarOp::Eq, &[lane, zero]))
    }

    /// Waits until other invocations have read the values of the previous iteration of the loops around.
    pub(super) fn wait_for_iteration_before(&mut self) {
        let loops = self.nest.loops.iter().enumerate();
        let mut open = loops.filter(|(at, _)| self.open & 1 << at != 0);
        if open.any(|(_, data)| data.run == LoopMapping::Sequential) {
            self.emit_barrier();
        }
    }

    /// Binds the results of the reductions to the combined accumulators, for the steps that follow.
    pub(super) fn broadcast_reductions(&mut self) {
        let range = self.accumulator_range();
        let types = accumulator_types(&self.nest.op);
        for leaf in 0..self.leaves.len() {
            for at in range.clone() {
                let value = self.e.b.read_var(self.leaves[0].accumulators[at]);
                let number = (leaf * types.len() + at) as u32;
                let node = self.e.body.intern_accumulator(number, types[at]);
                self.e.set_value(node, value);
            }
        }
    }
}

/// The variables of the invocation whose number in the subgroup differs in the bits of `mask`.
pub(super) fn shuffle_variables(
    e: &mut NodeEmitter<'_>,
    mask: u32,
    vars: &[VarId],
    types: &[ScalarType],
) -> Vec<ExprId> {
    let both = vars.iter().zip(types);
    let others = both.map(|(var, ty)| {
        let value = e.b.read_var(*var);
        if matches!(ty, ScalarType::I32 | ScalarType::F32) {
            return shuffle_word(e, value, *ty, mask);
        }
        let words = shuffle_words::split_into_words(e, value, *ty).into_iter();
        let words = words.map(|word| shuffle_word(e, word, ScalarType::I32, mask));
        let words: Vec<ExprId> = words.collect();
        let other = shuffle_words::join_words(e, &words, *ty);
        e.bind_to_variable(other, *ty)
    });
    others.collect()
}

/// The same of a value of 32 bits.
fn shuffle_word(e: &mut NodeEmitter<'_>, value: ExprId, ty: ScalarType, mask: u32) -> ExprId {
    let to = e.b.declare_var("other", VariableType::Scalar(ty), false);
    e.b.push_statement(StmtKind::Shuffle { to, value, mask });
    e.b.read_var(to)
}

/// Whether a step is among others or in their loops.
fn has_step(steps: &[DispatchStep], wanted: &DispatchStep) -> bool {
    steps.iter().any(|step| match step {
        DispatchStep::For(_, inner) => has_step(inner, wanted),
        step => step == wanted,
    })
}

/// Combines accumulators of reductions with values.
pub(super) fn fold_into_accumulators(
    e: &mut NodeEmitter<'_>,
    reductions: &[TensorReduction],
    vars: &[VarId],
    values: &[ExprId],
) {
    let mut first = 0;
    for reduction in reductions {
        let range = first..first + reduction.values.len();
        first = range.end;
        let own = vars[range.clone()].iter();
        let mut arguments: Vec<ExprId> = own.map(|var| e.b.read_var(*var)).collect();
        arguments.extend(&values[range.clone()]);
        let results = e.emit_combiner(&reduction.combiner, &arguments);
        for (var, value) in vars[range].iter().zip(results) {
            e.b.push_assignment(*var, value);
        }
    }
}

/// Places in the workgroup's memory, a distance apart.
struct PlaceRange {
    first: ScalarNode,
    distance: u64,
    count: u64,
}

impl PlaceRange {
    fn new(first: ScalarNode, distance: u64, count: u64) -> PlaceRange {
        PlaceRange {
            first,
            distance,
            count,
        }
    }
}

/// Sets accumulators to the combination of those at some places of the workgroup's memory.
fn fold_places(
    e: &mut NodeEmitter<'_>,
    reductions: &[TensorReduction],
    memory: &AccumulatorArrays<'_>,
    vars: &[VarId],
    range: PlaceRange,
) {
    let places = (0..range.count).map(|at| {
        let offset = e.body.intern_i64((at * range.distance) as i64);
        e.body.apply_op(ScalarOp::Add, &[range.first, offset])
    });
    let places: Vec<ScalarNode> = places.collect();
    let mut read = places.into_iter().map(|at| memory.read_elements(e, at));
    let read: Vec<Vec<ExprId>> = read.by_ref().collect();
    for (at, values) in read.iter().enumerate() {
        match at {
            0 => vars
                .iter()
                .zip(values)
                .for_each(|(var, value)| e.b.push_assignment(*var, *value)),
            _ => fold_into_accumulators(e, reductions, vars, values),
        }
    }
}
