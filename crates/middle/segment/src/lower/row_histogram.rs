//! Histograms of rows on a processor: the columns of a row are lanes of vectors.
//!
//! Each workgroup adds a chunk of the rows to a copy of the arrays of its own, without atomic operations. A row is visited in
//! runs of as many columns as there are lanes. Where the width is no multiple of it, the last run begins earlier, and overlaps the
//! one before: its cells stand apart in the copy, so that no lane is ever idle. The copies are combined in the order of the chunks.

use super::FunctionLowering;
use super::histogram::HistogramPlan;
use super::view::{ArrayView, ElementOrder, ScalarRef};
use super::workgroup::{GANG_LANES, GroupPosition, GroupSize};
use spirula_kernel::ir::ExprId;
use spirula_program::ScalarOp;
use spirula_soac::ir::SoacLambda;

/// Rows for each bin of a copy from which on copies are cheap.
const ROWS_OF_BIN: i64 = 4;

/// A histogram of rows, its function of elements, and its copies.
struct RowHistogram<'p> {
    plan: &'p HistogramPlan<'p>,
    function: &'p SoacLambda,
    segments: ScalarRef,
    /// Chunks of a segment.
    chunks: ScalarRef,
    /// The arrays that chunks change, by segment, chunk and bin.
    copies: Vec<ArrayView>,
    /// Runs of columns.
    runs: ScalarRef,
    /// The first column of the last run.
    last_start: ScalarRef,
}

impl FunctionLowering<'_> {
    /// Chunks of a segment: enough for all workers.
    fn count_row_chunks(&mut self, segments: ScalarRef) -> ScalarRef {
        let most = ScalarRef::from_int64(self.profile.histogram_copies);
        let divisor = self.int64(ScalarOp::SMax, segments, ScalarRef::from_int64(1));
        self.int64(ScalarOp::SDivUp, most, divisor)
    }

    /// The condition that rows are as wide as a vector, and that there are enough for cheap copies.
    pub(super) fn has_row_lanes(
        &mut self,
        plan: &HistogramPlan<'_>,
        segments: ScalarRef,
    ) -> Result<ExprId, String> {
        let (&width, outer) = plan.sizes.split_last().ok_or("a histogram has no space")?;
        let target = &plan.targets[0];
        let (bins, columns) = (target.shape[outer.len()], target.shape[outer.len() + 1]);
        let chunks = self.count_row_chunks(segments);
        let cost = self.int64(ScalarOp::Mul, bins, chunks);
        let cost = self.int64(ScalarOp::Mul, cost, ScalarRef::from_int64(ROWS_OF_BIN));
        let is_cheap = self.compare(ScalarOp::SLe, cost, width);
        let is_wide = self.compare(ScalarOp::SLe, ScalarRef::from_int64(GANG_LANES), columns);
        Ok(self
            .builder
            .apply_op(ScalarOp::LogAnd, &[is_cheap, is_wide]))
    }

    /// Lowers a histogram of rows of one dimension, with the function of their elements.
    pub(super) fn lower_row_histogram(
        &mut self,
        plan: &HistogramPlan<'_>,
        segments: ScalarRef,
        function: &SoacLambda,
    ) -> Result<(), String> {
        let outer = plan.sizes.len() - 1;
        let columns = plan.targets[0].shape[outer + 1];
        let lanes = ScalarRef::from_int64(GANG_LANES);
        let chunks = self.count_row_chunks(segments);
        let runs = self.int64(ScalarOp::SDivUp, columns, lanes);
        let cells = self.int64(ScalarOp::Mul, runs, lanes);
        let mut copies = Vec::with_capacity(plan.targets.len());
        for target in &plan.targets {
            let shape = vec![segments, chunks, target.shape[outer], cells];
            let mut copy = self.new_array(target.element, shape);
            copy.order = ElementOrder::Strided;
            copies.push(copy);
        }
        let rows = RowHistogram {
            plan,
            function,
            segments,
            chunks,
            copies,
            runs,
            last_start: self.int64(ScalarOp::Sub, columns, lanes),
        };
        self.offload_row_chunks(&rows)?;
        self.offload_row_merge(&rows)
    }

    /// Makes a kernel whose workgroups add chunks of rows to copies.
    fn offload_row_chunks(&mut self, rows: &RowHistogram<'_>) -> Result<(), String> {
        let plan = rows.plan;
        let (&width, outer) = plan.sizes.split_last().ok_or("a histogram has no space")?;
        let length = self.int64(ScalarOp::SDivUp, width, rows.chunks);
        let groups = self.int64(ScalarOp::Mul, rows.segments, rows.chunks);
        self.offload_sized_groups(groups, GroupSize::gang(), |lowering, at| {
            let [segment, chunk] = lowering.split_number(at.group, rows.chunks);
            let point = lowering.unflatten(segment, outer);
            let copies = lowering.point_views(&rows.copies, &[segment, chunk]);
            lowering.clear_rows(rows, at, &copies)?;
            let start = lowering.int64(ScalarOp::Mul, chunk, length);
            let rest = lowering.int64(ScalarOp::Sub, width, start);
            let count = lowering.int64(ScalarOp::SMin, length, rest);
            lowering.count_to(count, |lowering, step| {
                let mut point = point.clone();
                point.push(lowering.int64(ScalarOp::Add, start, step));
                let (position, values) = lowering.lower_contribution(plan, &point)?;
                lowering.if_inside(position, copies[0].shape[0], |lowering| {
                    let bins = lowering.point_views(&copies, &[position]);
                    lowering.visit_runs(rows, at, |lowering, column, cell| {
                        let mut elements = Vec::with_capacity(values.len());
                        for value in &values {
                            elements.push(lowering.row_element(value, &[column])?);
                        }
                        lowering.combine_rows(rows.function, &bins, cell, &elements)
                    })
                })
            })
        })
    }

    /// Gives all cells of copies the neutral value.
    fn clear_rows(
        &mut self,
        rows: &RowHistogram<'_>,
        at: GroupPosition,
        copies: &[ArrayView],
    ) -> Result<(), String> {
        let neutral = self.operand_values(&rows.plan.fold.neutral)?;
        self.count_to(copies[0].shape[0], |lowering, bin| {
            let bins = lowering.point_views(copies, &[bin]);
            lowering.visit_runs(rows, at, |lowering, column, cell| {
                for (row, value) in bins.iter().zip(&neutral) {
                    let element = lowering.row_element(value, &[column])?;
                    let place = lowering.row_view(row, cell);
                    lowering.write_value(&place, &element)?;
                }
                Ok(())
            })
        })
    }

    /// Visits the columns of a lane: the position in a row, and that in a copy.
    fn visit_runs(
        &mut self,
        rows: &RowHistogram<'_>,
        at: GroupPosition,
        visit: impl FnOnce(&mut Self, ScalarRef, ScalarRef) -> Result<(), String>,
    ) -> Result<(), String> {
        self.count_to(rows.runs, |lowering, run| {
            let first_cell = lowering.int64(ScalarOp::Mul, run, at.size.count);
            let first = lowering.int64(ScalarOp::SMin, first_cell, rows.last_start);
            let column = lowering.int64(ScalarOp::Add, first, at.local);
            let cell = lowering.int64(ScalarOp::Add, first_cell, at.local);
            visit(lowering, column, cell)
        })
    }

    /// Makes a kernel whose workgroups combine a row of the results with those of the copies.
    fn offload_row_merge(&mut self, rows: &RowHistogram<'_>) -> Result<(), String> {
        let plan = rows.plan;
        let outer = plan.sizes.len() - 1;
        let (bins, columns) = (
            plan.targets[0].shape[outer],
            plan.targets[0].shape[outer + 1],
        );
        let whole = self.int64(ScalarOp::UDiv, columns, ScalarRef::from_int64(GANG_LANES));
        let groups = self.int64(ScalarOp::Mul, rows.segments, bins);
        self.offload_sized_groups(groups, GroupSize::gang(), |lowering, at| {
            let [segment, bin] = lowering.split_number(at.group, bins);
            let mut point = lowering.unflatten(segment, &plan.sizes[..outer]);
            lowering.bind_point(&plan.operation.space, &point);
            point.push(bin);
            let targets = lowering.point_views(&plan.targets, &point);
            let merge = |lowering: &mut Self, column, cell| {
                lowering.count_to(rows.chunks, |lowering, chunk| {
                    let copies = lowering.point_views(&rows.copies, &[segment, chunk, bin]);
                    let values = lowering.row_values(&copies, cell);
                    lowering.combine_rows(rows.function, &targets, column, &values)
                })
            };
            lowering.count_to(whole, |lowering, run| {
                let column = lowering.own_turn(at, run);
                merge(lowering, column, column)
            })?;
            // Of the last run only the columns that no other has.
            let cell = lowering.own_turn(at, whole);
            let column = lowering.int64(ScalarOp::Add, rows.last_start, at.local);
            let done = lowering.int64(ScalarOp::Mul, whole, at.size.count);
            let rest = lowering.int64(ScalarOp::Sub, columns, done);
            let offset = lowering.int64(ScalarOp::Sub, column, done);
            lowering.if_inside(offset, rest, |lowering| merge(lowering, column, cell))
        })
    }

    /// The quotient and the remainder of a number by a size.
    fn split_number(&mut self, number: ScalarRef, size: ScalarRef) -> [ScalarRef; 2] {
        let quotient = self.int64(ScalarOp::UDiv, number, size);
        let before = self.int64(ScalarOp::Mul, quotient, size);
        [quotient, self.int64(ScalarOp::Sub, number, before)]
    }
}
