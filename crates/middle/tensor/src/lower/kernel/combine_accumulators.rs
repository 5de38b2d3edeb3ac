//! Folding together: the accumulators of a workgroup's invocations into one.

use super::super::node_emitter::NodeEmitter;
use super::super::element_write::AccumulatorArrays;
use super::{DispatchLowering, accumulator_types, conjoin_conditions, shuffle_words};
use crate::ir::{ScalarNode, TensorReduction};
use crate::schedule::{DispatchStep, LoopMapping};
use spirula_kernel::ir::{ExprId, StmtKind, VarId, VariableType};
use spirula_program::{ScalarOp, ScalarType};

/// Accumulators that an invocation folds at a time.
const RADIX: u64 = 8;

impl<'a> DispatchLowering<'a> {
    /// The accumulators that steps are about.
    pub(super) fn accumulator_range(&self) -> std::ops::Range<usize> {
        let sizes = self.dispatch.op.reductions.iter().map(|r| r.values.len());
        match self.only {
            None => 0..sizes.sum(),
            Some(at) => {
                let sizes: Vec<usize> = sizes.collect();
                let first = sizes[..at].iter().sum();
                first..first + sizes[at]
            }
        }
    }

    /// The reductions that steps are about.
    pub(super) fn active_reductions(&self) -> &'a [TensorReduction] {
        let all = &self.dispatch.op.reductions;
        match self.only {
            None => all,
            Some(at) => &all[at..=at],
        }
    }

    /// What accumulators begin as where several invocations fold together: the first with what is
    /// asked for, the others with the neutral element, where the operator has one.
    pub(super) fn first_only(&mut self, initial: Vec<ScalarNode>) -> Vec<ScalarNode> {
        let mut first = 0;
        let mut nodes = initial.clone();
        for reduction in &self.dispatch.op.reductions {
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

    /// Which accumulators are given their only value, if they begin as stated.
    pub(super) fn find_single_valued(&self, initial: &[ScalarNode]) -> Vec<bool> {
        let is_once = !self.adds_again(&self.dispatch.steps);
        let body = &self.e.body;
        let (mut given, mut first) = (vec![false; initial.len()], 0);
        for reduction in &self.dispatch.op.reductions {
            let neutral = reduction.combiner.neutral_element(body.ty(initial[first]));
            // Maxima of two numbers are the greater one, of a number and another thing the number.
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
                let data = self.dispatch.loops[*number as usize];
                let repeats = matches!(data.run, LoopMapping::Sequential | LoopMapping::Repeated);
                let adds = has_step(inner, &DispatchStep::Accumulate)
                    && !has_step(inner, &DispatchStep::Initialise);
                (repeats && data.extent > 1 && adds) || self.adds_again(inner)
            }
            _ => false,
        })
    }

    /// What further accumulators of an invocation begin as: neutral elements.
    pub(super) fn neutralise_initial(&mut self, mut initial: Vec<ScalarNode>) -> Vec<ScalarNode> {
        let mut first = 0;
        for reduction in &self.dispatch.op.reductions {
            let body = &mut self.e.body;
            if let Some(neutral) = reduction.combiner.neutral_element(body.ty(initial[first])) {
                initial[first] = body.intern_literal(neutral);
            }
            first += reduction.values.len();
        }
        initial
    }

    /// Folds an invocation's further accumulators into its first, pair by pair, so that none waits for all before.
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

    /// Folds the accumulators of all invocations of a loop into one, which each of them gets: those of a
    /// subgroup by shuffles, where the device has them, then [`RADIX`] of what is left at a time in the
    /// workgroup's memory.
    pub(super) fn combine_invocations(&mut self, number: u32) {
        self.combine_leaves();
        let size = self.dispatch.loops[number as usize].extent;
        let range = self.accumulator_range();
        let vars = self.leaves[0].accumulators[range.clone()].to_vec();
        let types = accumulator_types(&self.dispatch.op)[range].to_vec();
        let Some(local) = self.local else { return };
        let lanes = self.extent_of(LoopMapping::Lane);
        self.combine_subgroup(lanes.min(self.dispatch.cluster), &vars, &types);
        let mut left = size / lanes;
        if left == 1 {
            return;
        }
        let memory: Vec<VarId> = types
            .iter()
            .map(|ty| self.declare_shared(*ty, left as i64))
            .collect();
        let memory = AccumulatorArrays::new(&types, &memory);
        self.wait_for_the_round_before();
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
                fold_places(e, reductions, &memory, &vars, (local, next), RADIX);
                memory.write_elements(e, local, &vars);
            });
            self.emit_barrier();
            left = next;
        }
        let zero = self.e.body.intern_i64(0);
        fold_places(&mut self.e, reductions, &memory, &vars, (zero, 1), left);
    }

    /// Rounds of the loop that something runs; 1 where it runs none.
    pub(super) fn extent_of(&self, run: LoopMapping) -> u64 {
        let mut loops = self.dispatch.loops.iter();
        loops.find(|l| l.run == run).map_or(1, |l| l.extent)
    }

    /// The counter of the loop that something runs.
    pub(super) fn counter_of(&mut self, run: LoopMapping) -> Option<ScalarNode> {
        let number = self.dispatch.loops.iter().position(|l| l.run == run)?;
        Some(self.loop_counter(number as u32))
    }

    /// The number of the invocation among those that have the same result.
    pub(super) fn place_in_cluster(&mut self) -> Option<ScalarNode> {
        let lane = self.counter_of(LoopMapping::Lane)?;
        let body = &mut self.e.body;
        let size = body.intern_i64(self.dispatch.cluster as i64);
        Some(body.apply_op(ScalarOp::SMod, &[lane, size]))
    }

    /// Folds the accumulators of each subgroup, or cluster of it, together, so that all of its invocations have the same.
    fn combine_subgroup(&mut self, lanes: u64, vars: &[VarId], types: &[ScalarType]) {
        let reductions = self.active_reductions();
        let mut mask = lanes as u32 / 2;
        while mask > 0 {
            let others = shuffle_variables(&mut self.e, mask, vars, types);
            fold_into_accumulators(&mut self.e, reductions, vars, &others);
            mask /= 2;
        }
    }

    /// Where an invocation writes what is left after shuffles, and whether it does.
    pub(super) fn place_left(&mut self, local: ScalarNode) -> (ScalarNode, ScalarNode) {
        let counters = [LoopMapping::Subgroup, LoopMapping::Lane].map(|run| self.counter_of(run));
        let [Some(subgroup), Some(lane)] = counters else {
            return (local, conjoin_conditions(&mut self.e.body, &[]));
        };
        let zero = self.e.body.intern_i64(0);
        (subgroup, self.e.body.apply_op(ScalarOp::Eq, &[lane, zero]))
    }

    /// Has what other invocations still read of a round of the loops around stay.
    pub(super) fn wait_for_the_round_before(&mut self) {
        let loops = self.dispatch.loops.iter().enumerate();
        let mut open = loops.filter(|(at, _)| self.open & 1 << at != 0);
        if open.any(|(_, data)| data.run == LoopMapping::Sequential) {
            self.emit_barrier();
        }
    }

    /// Gives what was combined to what comes after, as what the reductions gave.
    pub(super) fn publish_reductions(&mut self) {
        let range = self.accumulator_range();
        let types = accumulator_types(&self.dispatch.op);
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

/// What the invocation whose number in the subgroup differs in a bit has of some variables.
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

/// What the invocation whose number in the subgroup differs in a bit hands over, of 32 bits.
fn shuffle_word(e: &mut NodeEmitter<'_>, value: ExprId, ty: ScalarType, mask: u32) -> ExprId {
    let to = e.b.declare_var("other", VariableType::Scalar(ty), false);
    e.b.push_statement(StmtKind::Shuffle { to, value, mask });
    e.b.read_var(to)
}

/// Whether a step is among others, or in their loops.
fn has_step(steps: &[DispatchStep], wanted: &DispatchStep) -> bool {
    steps.iter().any(|step| match step {
        DispatchStep::For(_, inner) => has_step(inner, wanted),
        step => step == wanted,
    })
}

/// Folds values of reductions into their accumulators.
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

/// Folds what lies in the workgroup's memory into accumulators: so many places from a first one on, a
/// distance apart.
fn fold_places(
    e: &mut NodeEmitter<'_>,
    reductions: &[TensorReduction],
    memory: &AccumulatorArrays<'_>,
    vars: &[VarId],
    (first, distance): (ScalarNode, u64),
    count: u64,
) {
    let places = (0..count).map(|at| {
        let offset = e.body.intern_i64((at * distance) as i64);
        e.body.apply_op(ScalarOp::Add, &[first, offset])
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
