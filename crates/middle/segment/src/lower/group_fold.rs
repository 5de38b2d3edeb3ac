//! Reductions and scans by workgroups, on devices of many processors.
//!
//! A chunk of a segment belongs to a workgroup, which takes it tile by tile. The invocations compute the values of a tile in
//! turns, so that neighbours read neighbouring memory, and leave them in workgroup memory. Then each folds a few values that
//! follow each other, and the totals of the invocations are combined in their order, so that the function need not be
//! commutative. Where it is, an invocation folds every so manieth element of the chunk by itself, and there are no tiles.
//!
//! Totals are reduced by a tree, and scanned as by D. Hillis and G. Steele ("Data parallel algorithms", 1986). The partial
//! results of the chunks of a segment are combined by one workgroup in the same way.

use super::epilogue::FinishSegment;
use super::fold::{FoldChunk, FoldPlan, SegmentCut};
use super::space::SharedItems;
use super::view::{ArrayView, ScalarRef};
use super::workgroup::GroupPosition;
use super::{FunctionLowering, LoweredValue};
use crate::ir::{ParallelOperation, SegmentFold};
use crate::scope::{changes_arrays, is_simple};
use spirula_kernel::ir::{MemorySpace, VariableType};
use spirula_program::{ScalarOp, ScalarType};
use spirula_soac::ir::{SoacType, SoacVariableId};

/// Bytes of workgroup memory for the values of a tile.
const TILE_BYTES: i64 = 12 << 10;

/// Most values of an invocation in a tile. Odd numbers keep the accesses of neighbours in different banks.
const MOST_ITEMS: i64 = 11;

/// Elements of an invocation that a workgroup is worth.
const LEAST_ELEMENTS: i64 = 16;

/// The width from which on a workgroup folds a segment, where there are several.
const GROUP_WIDTH: i64 = 128;

/// A fold by workgroups.
pub(super) struct GroupFold<'o> {
    pub(super) plan: FoldPlan<'o>,
    /// Values of an invocation in a tile.
    pub(super) items: i64,
}

/// The values of a workgroup, in its memory.
pub(super) struct GroupMemory {
    /// The values of a tile, one array for each result of the function. Empty where there are no tiles.
    pub(super) values: Vec<ArrayView>,
    /// The totals of the invocations.
    pub(super) totals: Vec<ArrayView>,
}

/// A chunk, and the invocation that works on it.
pub(super) struct GroupChunk {
    pub(super) at: GroupPosition,
    pub(super) chunk: FoldChunk,
    pub(super) memory: GroupMemory,
}

impl FunctionLowering<'_> {
    /// The fold by workgroups, if the device and the operation are fit for it.
    pub(super) fn plan_group_fold<'o>(
        &mut self,
        operation: &'o ParallelOperation,
        fold: &'o SegmentFold,
        is_scan: bool,
    ) -> Result<Option<GroupFold<'o>>, String> {
        let group_size = self.profile.chunk_group_size;
        let mut bytes = 0;
        for &neutral in &fold.neutral {
            match self.function.type_of(neutral) {
                SoacType::Scalar(scalar) => bytes += scalar.size().max(1) as i64,
                _ => return Ok(None),
            }
        }
        let body = &operation.body;
        let is_fit = group_size > 1
            && is_simple(&fold.function)
            && !self.needs_memory(body)
            && !self.has_races(body)
            && !(is_scan && changes_arrays(body));
        let items = (TILE_BYTES / (group_size * bytes.max(1))).min(MOST_ITEMS);
        if !is_fit || items == 0 {
            return Ok(None);
        }
        let items = items - (1 - items % 2);
        let least = if is_scan || !fold.is_commutative {
            items.max(2)
        } else {
            LEAST_ELEMENTS
        };
        let cut = SegmentCut {
            most_chunks: ScalarRef::from_int64(self.profile.group_count),
            least_length: least * group_size,
        };
        let plan = self.cut_fold(operation, fold, cut)?;
        Ok(Some(GroupFold { plan, items }))
    }

    /// Does one of two things: by workgroups where segments are wide enough, otherwise by an invocation for each segment.
    fn choose_by_width(
        &mut self,
        fold: &GroupFold<'_>,
        by_groups: impl FnOnce(&mut Self) -> Result<(), String>,
        by_invocations: impl FnOnce(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        if fold.plan.outer.is_empty() {
            return by_groups(self);
        }
        let least = if let ScalarRef::Constant(_) = fold.plan.width {
            ScalarRef::from_int64(GROUP_WIDTH)
        } else {
            self.read_threshold("segment_width", GROUP_WIDTH)
        };
        let is_narrow = self.compare(ScalarOp::SLt, fold.plan.width, least);
        self.choose(is_narrow, by_invocations, by_groups)
    }

    /// Lowers a reduction by workgroups.
    pub(super) fn lower_group_reduce(
        &mut self,
        results: &[SoacVariableId],
        fold: &GroupFold<'_>,
    ) -> Result<(), String> {
        let plan = &fold.plan;
        let (folded, mapped) = results.split_at(plan.folded());
        let others = self.make_result_arrays(mapped)?;
        let totals = self.make_segment_totals(plan, folded);
        let finish = |lowering: &mut Self, point: &[ScalarRef], states: &[LoweredValue]| {
            let segment = lowering.flatten_point(point, &plan.outer);
            lowering.write_point(&totals, &[segment], states)
        };
        self.choose_reduction(fold, &others, &finish, &|lowering| {
            lowering.reduce_by_groups(fold, &totals, &others)
        })?;
        self.set_totals(folded, &totals)?;
        self.set_arrays(mapped, others);
        Ok(())
    }

    /// Reduces by squares of segments or by an invocation for each, which has the results of a segment to finish it. Where segments
    /// are wide, reduces by workgroups.
    pub(super) fn choose_reduction(
        &mut self,
        fold: &GroupFold<'_>,
        others: &[ArrayView],
        finish: &FinishSegment<'_, Self>,
        by_groups: &dyn Fn(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        let plan = &fold.plan;
        let by_width = |lowering: &mut Self| {
            lowering.choose_by_width(fold, by_groups, |lowering| {
                lowering.reduce_by_invocations(plan, others, finish)
            })
        };
        match self.plan_tiles(plan.operation, plan.fold)? {
            Some(tiles) => self.choose_tiles(plan, &tiles, finish, &by_width),
            None => by_width(self),
        }
    }

    /// Arrays for the results of a reduction, with an element for each segment.
    pub(super) fn make_segment_totals(
        &mut self,
        plan: &FoldPlan<'_>,
        results: &[SoacVariableId],
    ) -> Vec<ArrayView> {
        let totals = results.iter().map(|&id| {
            let element = self.function.variables[id].variable_type.element();
            self.new_array(element, vec![plan.segments])
        });
        totals.collect()
    }

    /// A workgroup for each chunk, then one for the partial results of each segment that has several.
    pub(super) fn reduce_by_groups(
        &mut self,
        fold: &GroupFold<'_>,
        totals: &[ArrayView],
        others: &[ArrayView],
    ) -> Result<(), String> {
        let plan = &fold.plan;
        let groups = self.int64(ScalarOp::Mul, plan.segments, plan.chunks);
        let partials = self.make_partials_or(plan, totals)?;
        self.reduce_group_chunks(fold, groups, &partials, others)?;
        let condition = self.has_chunks(plan);
        self.choose(
            condition,
            |lowering| lowering.reduce_group_partials(plan, &partials, totals),
            |_| Ok(()),
        )
    }

    /// A workgroup reduces each chunk.
    fn reduce_group_chunks(
        &mut self,
        fold: &GroupFold<'_>,
        groups: ScalarRef,
        partials: &[ArrayView],
        others: &[ArrayView],
    ) -> Result<(), String> {
        self.offload_groups(groups, |lowering, at| {
            let has_tiles = !fold.plan.fold.is_commutative;
            let chunk = lowering.begin_group_chunk(fold, at, has_tiles)?;
            let states = lowering.reduce_group_chunk(fold, &chunk, others)?;
            lowering.if_first(at, |lowering| {
                lowering.write_point(partials, &[at.group], &states)
            })
        })
    }

    /// A workgroup reduces the partial results of each segment.
    fn reduce_group_partials(
        &mut self,
        plan: &FoldPlan<'_>,
        partials: &[ArrayView],
        totals: &[ArrayView],
    ) -> Result<(), String> {
        self.offload_groups(plan.segments, |lowering, at| {
            let outer = lowering.unflatten(at.group, &plan.outer);
            lowering.bind_point(&plan.operation.space, &outer);
            let memory = lowering.make_group_memory(plan, None);
            let run = lowering.locate_run(plan, at);
            let states = lowering.fold_run(plan, partials, &run)?;
            lowering.reduce_totals(&plan.fold.function, at, &memory, &states)?;
            lowering.if_first(at, |lowering| {
                lowering.write_point(totals, &[at.group], &states)
            })
        })
    }

    /// An invocation for each segment.
    fn reduce_by_invocations(
        &mut self,
        plan: &FoldPlan<'_>,
        others: &[ArrayView],
        finish: &FinishSegment<'_, Self>,
    ) -> Result<(), String> {
        let neutral = self.operand_values(&plan.fold.neutral)?;
        self.offload_items(self.whole_segments(plan), |lowering, segment| {
            let chunk = lowering.whole_segment(plan, segment);
            let states = lowering.make_states(&neutral)?;
            lowering.fold_chunk(plan, &chunk, &states, |lowering, point, values| {
                lowering.write_point(others, point, values)
            })?;
            finish(lowering, &chunk.point, &states)
        })
    }

    fn whole_segments(&self, plan: &FoldPlan<'_>) -> SharedItems {
        SharedItems {
            count: plan.segments,
            is_chunked: false,
            is_single: false,
        }
    }

    fn whole_segment(&mut self, plan: &FoldPlan<'_>, segment: ScalarRef) -> FoldChunk {
        FoldChunk {
            point: self.unflatten(segment, &plan.outer),
            start: ScalarRef::from_int64(0),
            count: plan.width,
        }
    }

    /// Lowers a scan by workgroups.
    pub(super) fn lower_group_scan(
        &mut self,
        results: &[SoacVariableId],
        fold: &GroupFold<'_>,
    ) -> Result<(), String> {
        let plan = &fold.plan;
        let targets = self.make_result_arrays(results)?;
        let (scanned, others) = targets.split_at(plan.folded());
        self.choose_by_width(
            fold,
            |lowering| lowering.scan_by_groups(fold, scanned, others),
            |lowering| lowering.scan_by_invocations(plan, scanned, others),
        )?;
        self.set_arrays(results, targets);
        Ok(())
    }

    /// A workgroup scans each chunk. Where segments have several, a workgroup reduces each first, and one scans the partial
    /// results of each segment.
    fn scan_by_groups(
        &mut self,
        fold: &GroupFold<'_>,
        scanned: &[ArrayView],
        others: &[ArrayView],
    ) -> Result<(), String> {
        let plan = &fold.plan;
        let groups = self.int64(ScalarOp::Mul, plan.segments, plan.chunks);
        let partials: Vec<ArrayView> = scanned
            .iter()
            .map(|array| self.new_array(array.element, vec![groups]))
            .collect();
        let condition = self.has_chunks(plan);
        self.choose(
            condition,
            |lowering| {
                lowering.reduce_group_chunks(fold, groups, &partials, &[])?;
                lowering.offload_group_prefixes(plan, &partials)
            },
            |_| Ok(()),
        )?;
        let neutral = self.operand_values(&plan.fold.neutral)?;
        self.offload_groups(groups, |lowering, at| {
            let chunk = lowering.begin_group_chunk(fold, at, true)?;
            let carry = lowering.make_states(&neutral)?;
            let one = ScalarRef::from_int64(1);
            lowering.if_inside(one, plan.chunks, |lowering| {
                let before = lowering.row_values(&partials, at.group);
                lowering.move_states(&carry, &before)
            })?;
            lowering.visit_tiles(fold, &chunk, |lowering, base| {
                lowering.load_tile(fold, &chunk, base, others)?;
                lowering.scan_tile(fold, &chunk, &carry)?;
                lowering.store_tile(fold, &chunk, base, scanned)
            })
        })
    }

    /// Replaces the partial results of each segment by their exclusive prefixes.
    fn offload_group_prefixes(
        &mut self,
        plan: &FoldPlan<'_>,
        partials: &[ArrayView],
    ) -> Result<(), String> {
        let function = &plan.fold.function;
        let neutral = self.operand_values(&plan.fold.neutral)?;
        self.offload_groups(plan.segments, |lowering, at| {
            let outer = lowering.unflatten(at.group, &plan.outer);
            lowering.bind_point(&plan.operation.space, &outer);
            let memory = lowering.make_group_memory(plan, None);
            let run = lowering.locate_run(plan, at);
            let totals = lowering.fold_run(plan, partials, &run)?;
            lowering.scan_totals(function, at, &memory, &totals)?;
            let prefix = lowering.make_states(&neutral)?;
            lowering.add_totals_before(function, at, &memory, &prefix)?;
            lowering.count_to(run.count, |lowering, step| {
                let item = lowering.int64(ScalarOp::Add, run.start, step);
                let rows = lowering.row_values(partials, item);
                let values = lowering.make_states(&rows)?;
                lowering.write_point(partials, &[item], &prefix)?;
                lowering.combine_states(function, &prefix, &values)
            })
        })
    }

    /// An invocation for each segment.
    fn scan_by_invocations(
        &mut self,
        plan: &FoldPlan<'_>,
        scanned: &[ArrayView],
        others: &[ArrayView],
    ) -> Result<(), String> {
        let neutral = self.operand_values(&plan.fold.neutral)?;
        self.offload_items(self.whole_segments(plan), |lowering, segment| {
            let chunk = lowering.whole_segment(plan, segment);
            let states = lowering.make_states(&neutral)?;
            lowering.fold_chunk(plan, &chunk, &states, |lowering, point, values| {
                lowering.write_point(scanned, point, &states)?;
                lowering.write_point(others, point, values)
            })
        })
    }

    /// Arrays for the partial results of chunks. Where a segment is one chunk, they are the totals themselves.
    fn make_partials_or(
        &mut self,
        plan: &FoldPlan<'_>,
        totals: &[ArrayView],
    ) -> Result<Vec<ArrayView>, String> {
        let count = self.int64(ScalarOp::Mul, plan.segments, plan.chunks);
        let partials: Vec<ArrayView> = totals
            .iter()
            .map(|total| {
                let device = VariableType::Memory(MemorySpace::Device);
                let memory = self.builder.declare_var("partial", device, false);
                self.dense_view(memory, total.element, vec![count])
            })
            .collect();
        let condition = self.has_chunks(plan);
        self.choose(
            condition,
            |lowering| {
                for partial in &partials {
                    lowering.allocate(partial.memory, partial.element, &partial.shape);
                }
                Ok(())
            },
            |lowering| {
                lowering.alias_arrays(&partials, totals);
                Ok(())
            },
        )?;
        Ok(partials)
    }

    /// The chunk of a workgroup.
    fn begin_group_chunk(
        &mut self,
        fold: &GroupFold<'_>,
        at: GroupPosition,
        has_tiles: bool,
    ) -> Result<GroupChunk, String> {
        let plan = &fold.plan;
        let memory = self.make_group_memory(plan, has_tiles.then_some(fold.items));
        let chunk = self.locate_chunk(plan, at.group);
        self.bind_point(&plan.operation.space, &chunk.point);
        Ok(GroupChunk { at, chunk, memory })
    }

    fn make_group_memory(&mut self, plan: &FoldPlan<'_>, items: Option<i64>) -> GroupMemory {
        let size = self.profile.chunk_group_size;
        let neutral = plan.fold.neutral.iter();
        let elements: Vec<ScalarType> = neutral
            .map(|&neutral| self.function.type_of(neutral).element())
            .collect();
        let mut make = |count: i64| {
            let arrays = elements.iter();
            arrays
                .map(|&element| self.new_shared_array(element, count))
                .collect()
        };
        GroupMemory {
            totals: make(size),
            values: items.map_or_else(Vec::new, |items| make(size * items)),
        }
    }
}
