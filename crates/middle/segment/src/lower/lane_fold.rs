//! Reductions of commutative functions on a processor: the invocations of a workgroup fold every so manieth element of a chunk.
//!
//! They are lanes of vectors, so neighbouring elements are loaded, computed and folded at once. The first invocation
//! combines the states of all.

use super::fold::FoldPlan;
use super::group_fold::{GroupChunk, GroupMemory};
use super::view::{ArrayView, ScalarRef};
use super::workgroup::{GroupPosition, GroupSize};
use super::{FunctionLowering, LoweredValue};
use crate::scope::{count_work, is_simple};
use spirula_kernel::ir::SyncKind;
use spirula_program::ScalarOp;
use spirula_soac::ir::{SoacBody, SoacVariableId};

/// Most operations of an element whose code stands twice in a kernel.
const MOST_COPIED_WORK: i64 = 32;

/// Invocations of a workgroup, a multiple of the width of the widest vectors.
const LANES: i64 = 16;

impl FunctionLowering<'_> {
    /// Whether vectors can fold an only segment.
    pub(super) fn folds_by_lanes(&self, plan: &FoldPlan<'_>) -> bool {
        plan.outer.is_empty()
            && plan.fold.is_commutative
            && is_simple(&plan.fold.function)
            && self.has_narrow_values(&plan.operation.body)
            && self.folds_by_vectors(plan)
    }

    /// Whether the values of a body have at most 32 bits. Vectors have few lanes for others.
    fn has_narrow_values(&self, body: &SoacBody) -> bool {
        let is_narrow = |id: &SoacVariableId| {
            let variable_type = &self.function.variables[*id].variable_type;
            variable_type.element().size() <= 4
        };
        body.statements.iter().all(|statement| {
            let mut bodies = statement.operation.bodies().into_iter();
            statement.results.iter().all(is_narrow)
                && bodies.all(|body| self.has_narrow_values(body))
        })
    }

    /// Makes a kernel that folds each chunk.
    pub(super) fn offload_lane_folds(
        &mut self,
        plan: &FoldPlan<'_>,
        partials: &[ArrayView],
        others: &[ArrayView],
    ) -> Result<(), String> {
        let neutral = self.operand_values(&plan.fold.neutral)?;
        let size = GroupSize {
            count: ScalarRef::from_int64(LANES),
            logarithm: ScalarRef::from_int64(LANES.ilog2().into()),
        };
        self.offload_sized_groups(plan.chunks, size, |lowering, at| {
            let mut totals = Vec::with_capacity(neutral.len());
            for partial in partials {
                totals.push(lowering.new_shared_array(partial.element, LANES));
            }
            let chunk = GroupChunk {
                at,
                chunk: lowering.locate_chunk(plan, at.group),
                memory: GroupMemory {
                    totals,
                    values: Vec::new(),
                },
            };
            let states = lowering.make_states(&neutral)?;
            lowering.fold_lanes(plan, &chunk, &states, others)?;
            lowering.combine_lanes(plan, at, &chunk.memory.totals, &states)?;
            lowering.if_first(at, |lowering| {
                lowering.write_point(partials, &[at.group], &states)
            })
        })
    }

    /// Folds the elements of a chunk. Where they take little time, there is no test for each whether it is within the chunk.
    fn fold_lanes(
        &mut self,
        plan: &FoldPlan<'_>,
        chunk: &GroupChunk,
        states: &[LoweredValue],
        others: &[ArrayView],
    ) -> Result<(), String> {
        if count_work(&plan.operation.body) > MOST_COPIED_WORK {
            return self.fold_in_turns(plan, chunk, states, others);
        }
        let (at, count) = (chunk.at, chunk.chunk.count);
        let fold = |lowering: &mut Self, turn| {
            let offset = lowering.own_turn(at, turn);
            let values = lowering.lower_element(plan, chunk, offset, others)?;
            lowering.combine_states(&plan.fold.function, states, &values)
        };
        let turns = self.int64(ScalarOp::UDiv, count, at.size.count);
        self.count_to(turns, fold)?;
        let last = self.own_turn(at, turns);
        self.if_inside(last, count, |lowering| fold(lowering, turns))
    }

    /// Combines the states of the other lanes with those of the first.
    fn combine_lanes(
        &mut self,
        plan: &FoldPlan<'_>,
        at: GroupPosition,
        totals: &[ArrayView],
        states: &[LoweredValue],
    ) -> Result<(), String> {
        self.write_point(totals, &[at.local], states)?;
        self.wait_for_group(SyncKind::Barrier);
        let others = ScalarRef::from_int64(LANES - 1);
        self.if_first(at, |lowering| {
            lowering.count_to(others, |lowering, step| {
                let one = ScalarRef::from_int64(1);
                let lane = lowering.int64(ScalarOp::Add, step, one);
                let values = lowering.row_values(totals, lane);
                lowering.combine_states(&plan.fold.function, states, &values)
            })
        })
    }
}
