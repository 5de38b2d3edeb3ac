//! Reductions whose results a map takes: where an invocation has the results of a segment, it computes the map's point from them.

use super::group_fold::GroupFold;
use super::view::{ArrayView, ScalarRef};
use super::{FunctionLowering, LoweredValue};
use crate::epilogues::find_segment_results;
use crate::ir::{HostOperation, ParallelOperation, SegmentKind, SegmentStatement};
use spirula_soac::ir::SoacVariableId;

/// Uses the results of a segment. It takes the segment's position in all but the last dimension.
pub(super) type FinishSegment<'c, L> =
    dyn Fn(&mut L, &[ScalarRef], &[LoweredValue]) -> Result<(), String> + 'c;

/// A map over the results of a reduction.
struct FoldEpilogue<'o> {
    /// The map.
    map: &'o ParallelOperation,
    /// The results of the map.
    results: &'o [SoacVariableId],
    /// The statements of the map that are results of the segment, and which ones.
    segment_results: Vec<Option<usize>>,
}

impl FunctionLowering<'_> {
    /// Lowers a reduction and the map that takes its results.
    pub(super) fn lower_reduce_and_map(
        &mut self,
        reduction: &SegmentStatement,
        map: &SegmentStatement,
    ) -> Result<(), String> {
        let (HostOperation::Parallel(reduce), HostOperation::Parallel(point)) =
            (&reduction.operation, &map.operation)
        else {
            return Err("an epilogue has no reduction".into());
        };
        let SegmentKind::Reduce(fold) = &reduce.kind else {
            return Err("an epilogue has no reduction".into());
        };
        self.deferred = self.find_deferred(reduce);
        for id in self.find_deferred(point) {
            if !self.deferred.contains(&id) {
                self.deferred.push(id);
            }
        }
        let by_groups = self.plan_group_fold(reduce, fold, false)?;
        let Some(by_groups) = by_groups else {
            self.deferred.clear();
            self.lower_parallel(&reduction.results, reduce)?;
            return self.lower_parallel(&map.results, point);
        };
        let epilogue = FoldEpilogue {
            map: point,
            results: &map.results,
            segment_results: find_segment_results(point, &reduction.results),
        };
        let lowered = self.lower_group_reduce_and_map(&reduction.results, &by_groups, &epilogue);
        self.deferred.clear();
        lowered
    }

    /// Lowers a reduction by workgroups and the map that takes its results. Where a workgroup reduces each segment, the map has a
    /// kernel of its own.
    fn lower_group_reduce_and_map(
        &mut self,
        folded: &[SoacVariableId],
        fold: &GroupFold<'_>,
        epilogue: &FoldEpilogue<'_>,
    ) -> Result<(), String> {
        let targets = self.make_result_arrays(epilogue.results)?;
        let finish = |lowering: &mut Self, point: &[ScalarRef], states: &[LoweredValue]| {
            lowering.apply_epilogue(epilogue, &targets, point, states)
        };
        self.choose_reduction(fold, &[], &finish, &|lowering| {
            let totals = lowering.make_segment_totals(&fold.plan, folded);
            lowering.reduce_by_groups(fold, &totals, &[])?;
            lowering.set_totals(folded, &totals)?;
            lowering.fill_space(epilogue.map, &targets)
        })?;
        self.set_arrays(epilogue.results, targets);
        Ok(())
    }

    /// Computes the point of a map from the results of its segment.
    fn apply_epilogue(
        &mut self,
        epilogue: &FoldEpilogue<'_>,
        targets: &[ArrayView],
        point: &[ScalarRef],
        states: &[LoweredValue],
    ) -> Result<(), String> {
        let map = epilogue.map;
        self.bind_point(&map.space, point);
        for (statement, result) in map.body.statements.iter().zip(&epilogue.segment_results) {
            match result {
                Some(number) => self.set(statement.results[0], states[*number].clone()),
                None => self.lower_statement(statement)?,
            }
        }
        let values = self.operand_values(&map.body.results)?;
        self.write_point(targets, point, &values)
    }
}
