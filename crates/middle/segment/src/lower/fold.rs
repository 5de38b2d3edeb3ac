//! Reductions and scans along the last dimension of a space.
//!
//! A segment is cut into chunks. A reduction folds each chunk from the neutral element, then the partial results of a segment in their
//! order, so that the function need not be commutative. Where these are many, several stages fold runs of them. A scan reduces
//! first, too: then each chunk begins with the exclusive prefix of the partial results (Sengupta et al., "Scan primitives for
//! GPU computing", 2007). Where there are as many segments as the device needs, a segment is a single chunk.

use super::space::SharedItems;
use super::view::{ArrayView, ScalarRef};
use super::{FunctionLowering, LoweredValue};
use crate::ir::{ParallelOperation, SegmentFold, SegmentKind};
use crate::scope::{changes_arrays, count_work, has_loops};
use spirula_kernel::ir::{MemorySpace, StmtKind, VariableType};
use spirula_program::ScalarOp;
use spirula_soac::ir::{SoacBody, SoacLambda, SoacType, SoacVariableId};

/// Partial results that follow each other and that an invocation folds, where several stages fold them.
const RUN_LENGTH: i64 = 64;

/// Bytes of partial results from which on there are no more chunks.
const PARTIAL_BYTES: i64 = 64 << 20;

/// Operations of an element up to which a processor's chunks have their usual length.
const SHORT_WORK: i64 = 8;

/// Fewest elements of a chunk on a processor.
const LEAST_CHUNK: i64 = 64;

/// A fold over a space, and how its segments are cut.
pub(super) struct FoldPlan<'o> {
    pub(super) operation: &'o ParallelOperation,
    pub(super) fold: &'o SegmentFold,
    /// The sizes of all but the last dimension.
    pub(super) outer: Vec<ScalarRef>,
    /// The size of the last dimension.
    pub(super) width: ScalarRef,
    /// The number of segments.
    pub(super) segments: ScalarRef,
    /// Chunks of a segment.
    pub(super) chunks: ScalarRef,
    /// Elements of a chunk, apart from the last one.
    pub(super) length: ScalarRef,
}

/// A chunk in a kernel.
pub(super) struct FoldChunk {
    /// The position of the segment in the outer dimensions.
    pub(super) point: Vec<ScalarRef>,
    /// The first element.
    pub(super) start: ScalarRef,
    /// The number of elements.
    pub(super) count: ScalarRef,
}

/// How segments are cut into chunks.
pub(super) struct SegmentCut {
    /// Most chunks of all segments.
    pub(super) most_chunks: ScalarRef,
    /// Fewest elements of a chunk.
    pub(super) least_length: i64,
}

impl<'o> FoldPlan<'o> {
    /// The number of results that are folded.
    pub(super) fn folded(&self) -> usize {
        self.fold.neutral.len()
    }

    fn inner_index(&self) -> Option<SoacVariableId> {
        self.operation.space.last().map(|dimension| dimension.index)
    }
}

impl FunctionLowering<'_> {
    /// Cuts the segments of a fold into chunks for invocations.
    fn plan_fold<'o>(
        &mut self,
        operation: &'o ParallelOperation,
        fold: &'o SegmentFold,
    ) -> Result<FoldPlan<'o>, String> {
        let cut = SegmentCut {
            most_chunks: self.limit_chunks(fold)?,
            least_length: self.choose_chunk_length(&operation.body),
        };
        let mut plan = self.cut_fold(operation, fold, cut)?;
        if matches!(operation.kind, SegmentKind::Scan(_)) && changes_arrays(&operation.body) {
            // The first pass over the elements would change them.
            let one = ScalarRef::from_int64(1);
            plan.length = self.int64(ScalarOp::SMax, plan.width, one);
            plan.chunks = one;
        }
        Ok(plan)
    }

    /// Fewest elements of a chunk: fewer where each takes longer.
    fn choose_chunk_length(&self, body: &SoacBody) -> i64 {
        let length = self.profile.chunk_length;
        if self.interleaves_scratch() {
            // Elements that take long are worth an invocation each.
            return if has_loops(body) { 1 } else { length };
        }
        let short = length * SHORT_WORK / count_work(body).max(1);
        short.clamp(LEAST_CHUNK.min(length), length)
    }

    /// Most chunks of a fold: those that the device has use for, if the partial results do not take much memory.
    fn limit_chunks(&mut self, fold: &SegmentFold) -> Result<ScalarRef, String> {
        let most = ScalarRef::from_int64(self.profile.chunk_count);
        if !self.interleaves_scratch() {
            return Ok(most);
        }
        let mut bytes = ScalarRef::from_int64(0);
        for &neutral in &fold.neutral {
            let neutral = self.function.type_of(neutral);
            let mut sizes = self.scalars(neutral.shape())?;
            sizes.push(ScalarRef::from_int64(neutral.element().size() as i64));
            let size = self.product(&sizes);
            bytes = self.int64(ScalarOp::Add, bytes, size);
        }
        let bytes = self.int64(ScalarOp::SMax, bytes, ScalarRef::from_int64(1));
        let memory = ScalarRef::from_int64(PARTIAL_BYTES);
        let by_memory = self.int64(ScalarOp::SDivUp, memory, bytes);
        Ok(self.int64(ScalarOp::SMin, most, by_memory))
    }

    /// Cuts the segments of a fold into chunks.
    pub(super) fn cut_fold<'o>(
        &mut self,
        operation: &'o ParallelOperation,
        fold: &'o SegmentFold,
        cut: SegmentCut,
    ) -> Result<FoldPlan<'o>, String> {
        let mut outer = self.space_sizes(operation)?;
        let width = outer.pop().ok_or("a fold has no dimension")?;
        let segments = self.product(&outer);
        let one = ScalarRef::from_int64(1);
        let least = ScalarRef::from_int64(cut.least_length);
        let divisor = self.int64(ScalarOp::SMax, segments, one);
        let by_device = self.int64(ScalarOp::SDivUp, cut.most_chunks, divisor);
        let by_length = self.int64(ScalarOp::SDivUp, width, least);
        let chunks = self.int64(ScalarOp::SMin, by_device, by_length);
        let chunks = self.int64(ScalarOp::SMax, chunks, one);
        let length = self.int64(ScalarOp::SDivUp, width, chunks);
        let length = self.int64(ScalarOp::SMax, length, one);
        let chunks = self.int64(ScalarOp::SDivUp, width, length);
        Ok(FoldPlan {
            operation,
            fold,
            outer,
            width,
            segments,
            chunks: self.int64(ScalarOp::SMax, chunks, one),
            length,
        })
    }

    /// Arrays with a partial result of each chunk.
    fn make_partials(
        &mut self,
        plan: &FoldPlan<'_>,
        results: &[SoacVariableId],
    ) -> Result<Vec<ArrayView>, String> {
        let count = self.int64(ScalarOp::Mul, plan.segments, plan.chunks);
        let mut partials = Vec::with_capacity(plan.folded());
        for (&id, &neutral) in results.iter().zip(&plan.fold.neutral) {
            let element = self.function.variables[id].variable_type.element();
            let mut shape = vec![count];
            shape.extend(self.scalars(self.function.type_of(neutral).shape())?);
            partials.push(self.new_array(element, shape));
        }
        Ok(partials)
    }

    /// The chunk with a number.
    pub(super) fn locate_chunk(&mut self, plan: &FoldPlan<'_>, number: ScalarRef) -> FoldChunk {
        let segment = self.int64(ScalarOp::UDiv, number, plan.chunks);
        let before = self.int64(ScalarOp::Mul, segment, plan.chunks);
        let chunk = self.int64(ScalarOp::Sub, number, before);
        let start = self.int64(ScalarOp::Mul, chunk, plan.length);
        let rest = self.int64(ScalarOp::Sub, plan.width, start);
        FoldChunk {
            point: self.unflatten(segment, &plan.outer),
            start,
            count: self.int64(ScalarOp::SMin, plan.length, rest),
        }
    }

    /// Folds the elements of a chunk. `visit` is called after each with its point and the results of the body that are not folded.
    pub(super) fn fold_chunk(
        &mut self,
        plan: &FoldPlan<'_>,
        chunk: &FoldChunk,
        states: &[LoweredValue],
        visit: impl FnOnce(&mut Self, &[ScalarRef], &[LoweredValue]) -> Result<(), String>,
    ) -> Result<(), String> {
        self.bind_point(&plan.operation.space, &chunk.point);
        self.count_to(chunk.count, |lowering, step| {
            let position = lowering.int64(ScalarOp::Add, chunk.start, step);
            let mut point = chunk.point.clone();
            point.push(position);
            if let Some(index) = plan.inner_index() {
                lowering.set(index, LoweredValue::Scalar(position));
            }
            let values = lowering.lower_body(&plan.operation.body)?;
            let (folded, others) = values.split_at(plan.folded());
            lowering.combine_states(&plan.fold.function, states, folded)?;
            visit(lowering, &point, others)
        })
    }

    /// Combines states with values.
    pub(super) fn combine_states(
        &mut self,
        function: &SoacLambda,
        states: &[LoweredValue],
        values: &[LoweredValue],
    ) -> Result<(), String> {
        let elements = function.parameters.iter().skip(states.len());
        for (&parameter, value) in elements.zip(values) {
            self.set(parameter, value.clone());
        }
        self.step_states(function, states)
    }

    /// The number of chunks that a fold has in all.
    fn chunk_items(&mut self, plan: &FoldPlan<'_>) -> SharedItems {
        SharedItems {
            count: self.int64(ScalarOp::Mul, plan.segments, plan.chunks),
            is_chunked: self.profile.chunk_group_size == 1,
            is_single: self.has_races(&plan.operation.body),
        }
    }

    /// The segments of a fold.
    fn segment_items(&self, plan: &FoldPlan<'_>) -> SharedItems {
        SharedItems {
            count: plan.segments,
            is_chunked: self.profile.chunk_group_size == 1,
            is_single: false,
        }
    }

    /// Makes a kernel that folds each chunk.
    fn offload_chunk_folds(
        &mut self,
        plan: &FoldPlan<'_>,
        partials: &[ArrayView],
        others: &[ArrayView],
    ) -> Result<(), String> {
        let neutral = self.operand_values(&plan.fold.neutral)?;
        let items = self.chunk_items(plan);
        self.offload_items(items, |lowering, item| {
            let chunk = lowering.locate_chunk(plan, item);
            let states = lowering.make_states(&neutral)?;
            lowering.fold_chunk(plan, &chunk, &states, |lowering, point, values| {
                lowering.write_point(others, point, values)
            })?;
            lowering.write_point(partials, &[item], &states)
        })
    }

    /// Whether vectors can fold: the device has them, states are scalars, and a point needs no memory of its own.
    pub(super) fn folds_by_vectors(&self, plan: &FoldPlan<'_>) -> bool {
        let mut neutral = plan.fold.neutral.iter();
        let is_scalar = neutral.all(|&value| self.function.type_of(value).shape().is_empty());
        let body = &plan.operation.body;
        let is_possible = !self.needs_memory(body) && !self.has_races(body);
        is_scalar && is_possible && !self.profile.runs_in_lockstep()
    }

    /// Folds each chunk: by vectors of neighbouring elements, by vectors of neighbouring segments where a segment is a
    /// chunk, or one element after the other.
    fn fold_segments(
        &mut self,
        plan: &FoldPlan<'_>,
        partials: &[ArrayView],
        others: &[ArrayView],
    ) -> Result<(), String> {
        if self.folds_by_lanes(plan) {
            return self.offload_lane_folds(plan, partials, others);
        }
        if !self.folds_by_columns(plan)? {
            return self.offload_chunk_folds(plan, partials, others);
        }
        let condition = self.has_chunks(plan);
        self.choose(
            condition,
            |lowering| lowering.offload_chunk_folds(plan, partials, others),
            |lowering| lowering.offload_column_folds(plan, partials),
        )
    }

    /// The condition that a segment has several chunks.
    pub(super) fn has_chunks(&mut self, plan: &FoldPlan<'_>) -> spirula_kernel::ir::ExprId {
        self.compare(ScalarOp::SLt, ScalarRef::from_int64(1), plan.chunks)
    }

    /// Lowers a reduction.
    pub(super) fn lower_space_reduce(
        &mut self,
        results: &[SoacVariableId],
        operation: &ParallelOperation,
        fold: &SegmentFold,
    ) -> Result<(), String> {
        if let Some(by_groups) = self.plan_group_fold(operation, fold, false)? {
            return self.lower_group_reduce(results, &by_groups);
        }
        let plan = self.plan_fold(operation, fold)?;
        let replaced = self.arrange_rows(operation)?;
        let (folded, mapped) = results.split_at(plan.folded());
        let others = self.make_result_arrays(mapped)?;
        let partials = self.make_partials(&plan, folded)?;
        self.fold_segments(&plan, &partials, &others)?;
        self.restore_values(replaced);
        let totals = self.reduce_partials(&plan, &partials)?;
        self.set_totals(folded, &totals)?;
        self.set_arrays(mapped, others);
        Ok(())
    }

    /// Gives the results of a reduction their values.
    pub(super) fn set_totals(
        &mut self,
        results: &[SoacVariableId],
        totals: &[ArrayView],
    ) -> Result<(), String> {
        for (&id, total) in results.iter().zip(totals) {
            let shape = self.function.variables[id].variable_type.clone();
            let value = if let SoacType::Scalar(_) = shape {
                let place = self.row_view(total, ScalarRef::from_int64(0));
                self.load_result(id, place)
            } else {
                let (element, shape) = self.result_shape(id)?;
                LoweredValue::Array(self.dense_view(total.memory, element, shape))
            };
            self.set(id, value);
        }
        Ok(())
    }

    /// Reduces the partial results of each segment. Those of segments that are a single chunk are results themselves.
    fn reduce_partials(
        &mut self,
        plan: &FoldPlan<'_>,
        partials: &[ArrayView],
    ) -> Result<Vec<ArrayView>, String> {
        let mut totals = Vec::with_capacity(partials.len());
        for partial in partials {
            let device = VariableType::Memory(MemorySpace::Device);
            let memory = self.builder.declare_var("total", device, false);
            let mut shape = partial.shape.clone();
            shape[0] = plan.segments;
            totals.push(self.dense_view(memory, partial.element, shape));
        }
        let condition = self.has_chunks(plan);
        self.choose(
            condition,
            |lowering| lowering.offload_partial_folds(plan, partials, &totals),
            |lowering| {
                lowering.alias_arrays(&totals, partials);
                Ok(())
            },
        )?;
        Ok(totals)
    }

    /// Lets arrays be the same as others.
    pub(super) fn alias_arrays(&mut self, arrays: &[ArrayView], others: &[ArrayView]) {
        for (array, other) in arrays.iter().zip(others) {
            let (to, from) = (array.memory, other.memory);
            self.builder.push_statement(StmtKind::Alias { to, from });
        }
    }

    fn offload_partial_folds(
        &mut self,
        plan: &FoldPlan<'_>,
        partials: &[ArrayView],
        totals: &[ArrayView],
    ) -> Result<(), String> {
        let mut from = partials.to_vec();
        let mut count = plan.chunks;
        for _ in 0..self.profile.count_fold_stages() {
            let run = ScalarRef::from_int64(RUN_LENGTH);
            let runs = self.int64(ScalarOp::SDivUp, count, run);
            let all = self.int64(ScalarOp::Mul, plan.segments, runs);
            let mut to = Vec::with_capacity(from.len());
            for array in &from {
                let mut shape = array.shape.clone();
                shape[0] = all;
                to.push(self.new_array(array.element, shape));
            }
            self.offload_run_folds(plan, &from, count, run, &to)?;
            (from, count) = (to, runs);
        }
        for total in totals {
            self.allocate(total.memory, total.element, &total.shape);
        }
        self.offload_run_folds(plan, &from, count, count, totals)
    }

    /// Makes a kernel that folds each run of values that follow each other. Each segment has a number of values.
    fn offload_run_folds(
        &mut self,
        plan: &FoldPlan<'_>,
        from: &[ArrayView],
        count: ScalarRef,
        length: ScalarRef,
        to: &[ArrayView],
    ) -> Result<(), String> {
        let neutral = self.operand_values(&plan.fold.neutral)?;
        let runs = self.int64(ScalarOp::SDivUp, count, length);
        let items = SharedItems {
            count: self.int64(ScalarOp::Mul, plan.segments, runs),
            ..self.segment_items(plan)
        };
        self.offload_items(items, |lowering, item| {
            let [segment, run] = lowering.unflatten(item, &[plan.segments, runs])[..] else {
                return Err("a run has no position".into());
            };
            let point = lowering.unflatten(segment, &plan.outer);
            lowering.bind_point(&plan.operation.space, &point);
            let states = lowering.make_states(&neutral)?;
            let before = lowering.int64(ScalarOp::Mul, run, length);
            let rest = lowering.int64(ScalarOp::Sub, count, before);
            let number = lowering.int64(ScalarOp::SMin, length, rest);
            let first = lowering.int64(ScalarOp::Mul, segment, count);
            let first = lowering.int64(ScalarOp::Add, first, before);
            lowering.count_to(number, |lowering, step| {
                let item = lowering.int64(ScalarOp::Add, first, step);
                let values = lowering.row_values(from, item);
                lowering.combine_states(&plan.fold.function, &states, &values)
            })?;
            lowering.write_point(to, &[item], &states)
        })
    }

    /// Lowers a scan.
    pub(super) fn lower_space_scan(
        &mut self,
        results: &[SoacVariableId],
        operation: &ParallelOperation,
        fold: &SegmentFold,
    ) -> Result<(), String> {
        if let Some(by_groups) = self.plan_group_fold(operation, fold, true)? {
            return self.lower_group_scan(results, &by_groups);
        }
        let plan = self.plan_fold(operation, fold)?;
        let replaced = self.arrange_rows(operation)?;
        let targets = self.make_result_arrays(results)?;
        let (scanned, others) = targets.split_at(plan.folded());
        let partials = self.make_partials(&plan, &results[..plan.folded()])?;
        let condition = self.has_chunks(&plan);
        self.choose(
            condition,
            |lowering| lowering.offload_chunk_folds(&plan, &partials, &[]),
            |_| Ok(()),
        )?;
        self.offload_prefixes(&plan, &partials)?;
        let items = self.chunk_items(&plan);
        self.offload_items(items, |lowering, item| {
            let chunk = lowering.locate_chunk(&plan, item);
            let before = lowering.row_values(&partials, item);
            let states = lowering.make_states(&before)?;
            lowering.fold_chunk(&plan, &chunk, &states, |lowering, point, values| {
                lowering.write_point(scanned, point, &states)?;
                lowering.write_point(others, point, values)
            })
        })?;
        self.restore_values(replaced);
        self.set_arrays(results, targets);
        Ok(())
    }

    /// Makes a kernel that replaces the partial results of each segment by their exclusive prefixes. Nothing needs the last one.
    fn offload_prefixes(
        &mut self,
        plan: &FoldPlan<'_>,
        partials: &[ArrayView],
    ) -> Result<(), String> {
        let neutral = self.operand_values(&plan.fold.neutral)?;
        let items = self.segment_items(plan);
        self.offload_items(items, |lowering, segment| {
            let point = lowering.unflatten(segment, &plan.outer);
            lowering.bind_point(&plan.operation.space, &point);
            let states = lowering.make_states(&neutral)?;
            let first = lowering.int64(ScalarOp::Mul, segment, plan.chunks);
            let one = ScalarRef::from_int64(1);
            let last = lowering.int64(ScalarOp::Sub, plan.chunks, one);
            lowering.count_to(last, |lowering, chunk| {
                let item = lowering.int64(ScalarOp::Add, first, chunk);
                let rows = lowering.row_values(partials, item);
                let values = lowering.make_states(&rows)?;
                lowering.write_point(partials, &[item], &states)?;
                lowering.combine_states(&plan.fold.function, &states, &values)
            })?;
            let item = lowering.int64(ScalarOp::Add, first, last);
            lowering.write_point(partials, &[item], &states)
        })
    }
}
