//! Histograms: atomic changes where the function is one, otherwise private copies of the arrays that are combined at the end.

use super::atomic::AtomicChange;
use super::space::SharedItems;
use super::view::{ArrayView, ElementOrder, ScalarRef};
use super::{FunctionLowering, LoweredValue};
use crate::ir::{ParallelOperation, SegmentFold, SegmentHistogram};
use spirula_program::ScalarOp;
use spirula_soac::ir::{SoacLambda, SoacOperand, SoacOperation, SoacVariableId};

/// Bytes between private copies: workers that write the same line of a cache wait for each other.
const GAP_BYTES: i64 = 128;

/// The arrays of a histogram, and its sizes.
#[derive(Clone)]
pub(super) struct HistogramPlan<'o> {
    pub(super) operation: &'o ParallelOperation,
    pub(super) fold: &'o SegmentFold,
    /// The sizes of the space.
    pub(super) sizes: Vec<ScalarRef>,
    /// The arrays that are changed.
    pub(super) targets: Vec<ArrayView>,
    /// Arrays of the results that are not combined.
    pub(super) others: Vec<ArrayView>,
}

impl FunctionLowering<'_> {
    /// Lowers a histogram.
    pub(super) fn lower_space_histogram(
        &mut self,
        results: &[SoacVariableId],
        operation: &ParallelOperation,
        histogram: &SegmentHistogram,
    ) -> Result<(), String> {
        let outputs = operation.count_outputs().min(results.len());
        let (results, mapped) = results.split_at(outputs);
        let plan = HistogramPlan {
            operation,
            fold: &histogram.fold,
            sizes: self.space_sizes(operation)?,
            targets: self.arrays(&histogram.targets)?,
            others: self.make_result_arrays(mapped)?,
        };
        if self.profile.runs_in_lockstep() {
            let function = self.find_cell_function(&plan);
            match function.and_then(|function| self.find_change(function)) {
                Some(change) => self.lower_atomic_histogram(&plan, &change)?,
                None => self.lower_private_histogram(&plan)?,
            }
        } else {
            self.lower_worker_histogram(&plan)?;
        }
        self.set_arrays(results, plan.targets);
        self.set_arrays(mapped, plan.others);
        Ok(())
    }

    /// The position and the values of a point.
    pub(super) fn lower_contribution(
        &mut self,
        plan: &HistogramPlan<'_>,
        point: &[ScalarRef],
    ) -> Result<(ScalarRef, Vec<LoweredValue>), String> {
        self.bind_point(&plan.operation.space, point);
        let mut values = self.lower_body(&plan.operation.body)?;
        let combined = plan.fold.neutral.len();
        if values.len() <= combined {
            return Err("a histogram has no position".into());
        }
        let rest = values.split_off(combined + 1);
        self.write_point(&plan.others, point, &rest)?;
        match values.remove(0) {
            LoweredValue::Scalar(position) => Ok((position, values)),
            _ => Err("the position of a histogram is no scalar".into()),
        }
    }

    /// The function that combines single elements: the histogram's own, or that of the elements of rows.
    pub(super) fn find_cell_function<'o>(
        &self,
        plan: &HistogramPlan<'o>,
    ) -> Option<&'o SoacLambda> {
        let rows = plan.targets[0].shape.len() - plan.sizes.len();
        // Each element of a row computes what the rows are parts of again.
        let has_cheap_rows = plan.others.is_empty() && !self.needs_memory(&plan.operation.body);
        if rows > 0 && !has_cheap_rows {
            return None;
        }
        (0..rows).try_fold(&plan.fold.function, |function, _| {
            find_element_function(function)
        })
    }

    /// Adds values by atomic changes.
    pub(super) fn lower_atomic_histogram(
        &mut self,
        plan: &HistogramPlan<'_>,
        change: &AtomicChange<'_>,
    ) -> Result<(), String> {
        let Some(cell) = change.cell() else {
            return self.lower_changes(plan, change);
        };
        let cells = self.pack_arrays(cell, &plan.targets)?;
        let packed = HistogramPlan {
            targets: vec![cells.clone()],
            ..plan.clone()
        };
        self.lower_changes(&packed, change)?;
        self.unpack_cells(cell, &cells, &plan.targets)
    }

    fn lower_changes(
        &mut self,
        plan: &HistogramPlan<'_>,
        change: &AtomicChange<'_>,
    ) -> Result<(), String> {
        if !self.has_group_copies(plan) {
            return self.lower_device_histogram(plan, change);
        }
        self.choose_by_bins(plan, change, |lowering| {
            lowering.lower_device_histogram(plan, change)
        })
    }

    /// Changes elements of device memory.
    fn lower_device_histogram(
        &mut self,
        plan: &HistogramPlan<'_>,
        change: &AtomicChange<'_>,
    ) -> Result<(), String> {
        let rank = plan.sizes.len();
        let mut sizes = plan.sizes.clone();
        sizes.extend(&plan.targets[0].shape[rank..]);
        let items = SharedItems {
            count: self.product(&sizes),
            is_chunked: self.needs_memory(&plan.operation.body),
            is_single: false,
        };
        self.offload_items(items, |lowering, item| {
            let mut point = lowering.unflatten(item, &sizes);
            let inner = point.split_off(rank);
            let (position, rows) = lowering.lower_contribution(plan, &point)?;
            let array = lowering.point_view(&plan.targets[0], &point[..rank - 1]);
            lowering.if_inside(position, array.shape[0], |lowering| {
                let row = lowering.row_view(&array, position);
                let place = lowering.point_view(&row, &inner);
                let mut values = Vec::with_capacity(rows.len());
                for row in &rows {
                    values.push(lowering.row_element(row, &inner)?);
                }
                lowering.push_change(change, &place, &values)
            })
        })
    }

    /// The element of a row at a point. A scalar is its own element.
    pub(super) fn row_element(
        &mut self,
        row: &LoweredValue,
        point: &[ScalarRef],
    ) -> Result<LoweredValue, String> {
        match (row, point) {
            (LoweredValue::Scalar(_), []) => Ok(row.clone()),
            (LoweredValue::Array(array), _) => {
                let place = self.point_view(array, point);
                Ok(LoweredValue::Scalar(self.load(&place)))
            }
            (LoweredValue::Virtual(array), [position]) => Ok(LoweredValue::Scalar(
                self.virtual_element(*array, *position),
            )),
            _ => Err("a value of a histogram is no row".into()),
        }
    }

    /// Cuts the elements of each segment into chunks with private copies of the arrays, as many as are worth it.
    pub(super) fn lower_private_histogram(
        &mut self,
        plan: &HistogramPlan<'_>,
    ) -> Result<(), String> {
        let (width, outer) = plan.sizes.split_last().ok_or("a histogram has no space")?;
        let segments = self.product(outer);
        let one = ScalarRef::from_int64(1);
        let mut cells = one;
        for target in &plan.targets {
            let count = self.product(&target.shape[outer.len()..]);
            cells = self.int64(ScalarOp::SMax, cells, count);
        }
        let most = ScalarRef::from_int64(self.profile.histogram_copies);
        let divisor = self.int64(ScalarOp::SMax, segments, one);
        let by_device = self.int64(ScalarOp::SDivUp, most, divisor);
        let by_cells = self.int64(ScalarOp::UDiv, *width, cells);
        let chunks = self.int64(ScalarOp::SMin, by_device, by_cells);
        let chunks = self.int64(ScalarOp::SMax, chunks, one);
        let length = self.int64(ScalarOp::SDivUp, *width, chunks);
        let mut copies = Vec::with_capacity(plan.targets.len());
        let rest = self.int64(ScalarOp::Sub, chunks, one);
        for target in &plan.targets {
            let own = &target.shape[outer.len()..];
            let gap = ScalarRef::from_int64(GAP_BYTES / target.element.size().max(1) as i64);
            let bins = self.int64(ScalarOp::Add, own[0], gap);
            let mut shape = vec![segments, rest, bins];
            shape.extend(&own[1..]);
            let mut copy = self.new_array(target.element, shape);
            copy.shape[2] = own[0];
            copy.order = ElementOrder::Strided;
            copies.push(copy);
        }
        let cut = HistogramChunks {
            segments,
            chunks,
            length,
            copies,
        };
        self.offload_histogram_chunks(plan, &cut)?;
        self.offload_histogram_merge(plan, &cut)
    }

    /// The arrays that a chunk changes: those of the first chunk are the results themselves.
    fn offload_histogram_chunks(
        &mut self,
        plan: &HistogramPlan<'_>,
        cut: &HistogramChunks,
    ) -> Result<(), String> {
        let items = SharedItems {
            count: self.int64(ScalarOp::Mul, cut.segments, cut.chunks),
            is_chunked: self.profile.chunk_group_size == 1,
            is_single: false,
        };
        self.offload_items(items, |lowering, item| {
            let segment = lowering.int64(ScalarOp::UDiv, item, cut.chunks);
            let before = lowering.int64(ScalarOp::Mul, segment, cut.chunks);
            let chunk = lowering.int64(ScalarOp::Sub, item, before);
            let point = lowering.unflatten(segment, &plan.sizes[..plan.sizes.len() - 1]);
            let zero = ScalarRef::from_int64(0);
            let is_first = lowering.compare(ScalarOp::Eq, chunk, zero);
            lowering.choose(
                is_first,
                |lowering| {
                    let targets = lowering.point_views(&plan.targets, &point);
                    lowering.add_chunk(plan, cut, &targets, &point, chunk)
                },
                |lowering| {
                    let one = ScalarRef::from_int64(1);
                    let copy = lowering.int64(ScalarOp::Sub, chunk, one);
                    let targets = lowering.point_views(&cut.copies, &[segment, copy]);
                    lowering.clear_copies(plan, &targets)?;
                    lowering.add_chunk(plan, cut, &targets, &point, chunk)
                },
            )
        })
    }

    pub(super) fn point_views(
        &mut self,
        arrays: &[ArrayView],
        point: &[ScalarRef],
    ) -> Vec<ArrayView> {
        arrays
            .iter()
            .map(|array| self.point_view(array, point))
            .collect()
    }

    /// Gives all elements of private copies the neutral value.
    fn clear_copies(
        &mut self,
        plan: &HistogramPlan<'_>,
        copies: &[ArrayView],
    ) -> Result<(), String> {
        let neutral = self.operand_values(&plan.fold.neutral)?;
        for (copy, value) in copies.iter().zip(&neutral) {
            self.count_to(copy.shape[0], |lowering, position| {
                let row = lowering.row_view(copy, position);
                lowering.write_value(&row, value)
            })?;
        }
        Ok(())
    }

    /// Combines the values of a chunk with the elements of arrays, one after the other.
    fn add_chunk(
        &mut self,
        plan: &HistogramPlan<'_>,
        cut: &HistogramChunks,
        targets: &[ArrayView],
        outer: &[ScalarRef],
        chunk: ScalarRef,
    ) -> Result<(), String> {
        let width = *plan.sizes.last().ok_or("a histogram has no space")?;
        let start = self.int64(ScalarOp::Mul, chunk, cut.length);
        let rest = self.int64(ScalarOp::Sub, width, start);
        let count = self.int64(ScalarOp::SMin, cut.length, rest);
        self.count_to(count, |lowering, step| {
            let mut point = outer.to_vec();
            point.push(lowering.int64(ScalarOp::Add, start, step));
            let (position, values) = lowering.lower_contribution(plan, &point)?;
            lowering.if_inside(position, targets[0].shape[0], |lowering| {
                lowering.combine_rows(&plan.fold.function, targets, position, &values)
            })
        })
    }

    /// Combines the elements or rows of arrays at a position with values.
    pub(super) fn combine_rows(
        &mut self,
        function: &SoacLambda,
        targets: &[ArrayView],
        position: ScalarRef,
        values: &[LoweredValue],
    ) -> Result<(), String> {
        let (before, new) = function.parameters.split_at(targets.len());
        self.bind_rows(before, targets, position);
        for (&parameter, value) in new.iter().zip(values) {
            self.set(parameter, value.clone());
        }
        let results = self.lower_body(&function.body)?;
        self.replace_rows(targets, position, &results)
    }

    /// Makes a kernel that combines the results with the private copies, in their order.
    fn offload_histogram_merge(
        &mut self,
        plan: &HistogramPlan<'_>,
        cut: &HistogramChunks,
    ) -> Result<(), String> {
        let outer = plan.sizes.len() - 1;
        let bins = plan.targets[0].shape[outer];
        let sizes = [cut.segments, bins];
        let has_copies = self.int64(ScalarOp::Sub, cut.chunks, ScalarRef::from_int64(1));
        let has_copies = self.int64(ScalarOp::SMin, has_copies, ScalarRef::from_int64(1));
        let all = self.product(&sizes);
        let items = SharedItems {
            count: self.int64(ScalarOp::Mul, all, has_copies),
            is_chunked: self.needs_memory(&plan.fold.function.body),
            is_single: false,
        };
        self.offload_items(items, |lowering, item| {
            let point = lowering.unflatten(item, &sizes);
            let outer_point = lowering.unflatten(point[0], &plan.sizes[..outer]);
            lowering.bind_point(&plan.operation.space, &outer_point);
            let targets = lowering.point_views(&plan.targets, &outer_point);
            let rest = lowering.int64(ScalarOp::Sub, cut.chunks, ScalarRef::from_int64(1));
            lowering.count_to(rest, |lowering, copy| {
                let copies = lowering.point_views(&cut.copies, &[point[0], copy]);
                let values = lowering.row_values(&copies, point[1]);
                lowering.combine_rows(&plan.fold.function, &targets, point[1], &values)
            })
        })
    }
}

/// The function of the elements of rows, if a function of rows is a map of it.
fn find_element_function(function: &SoacLambda) -> Option<&SoacLambda> {
    let [statement] = &function.body.statements[..] else {
        return None;
    };
    let SoacOperation::Map(_, arrays, element) = &statement.operation else {
        return None;
    };
    let is_variables = |operands: &[SoacOperand], ids: &[SoacVariableId]| {
        operands.len() == ids.len()
            && operands
                .iter()
                .zip(ids)
                .all(|(&operand, &id)| operand == SoacOperand::Variable(id))
    };
    (is_variables(arrays, &function.parameters)
        && is_variables(&function.body.results, &statement.results))
    .then_some(element)
}

/// Chunks of the elements of a histogram, and the private copies of all but the first.
struct HistogramChunks {
    segments: ScalarRef,
    /// Chunks of a segment.
    chunks: ScalarRef,
    /// Elements of a chunk, apart from the last one.
    length: ScalarRef,
    copies: Vec<ArrayView>,
}
