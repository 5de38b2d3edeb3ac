//! Histograms on a processor, whose workers have private copies of the arrays or columns of them.
//!
//! A worker changes a copy of its own without atomic operations. Copies cost as much as the values do where the arrays are large: then
//! changes are atomic, or a worker has some columns of rows that are combined element by element, and visits all values.

use super::FunctionLowering;
use super::atomic::AtomicChange;
use super::histogram::HistogramPlan;
use super::offload::InvocationGrid;
use super::view::{ArrayView, ScalarRef};
use spirula_program::ScalarOp;
use spirula_soac::ir::SoacLambda;

/// Values for each element of the arrays from which on copies are cheap.
const CHEAP_COPIES: i64 = 64;

/// Segments from which on each is the work of one worker, without a copy.
const ENOUGH_SEGMENTS: i64 = 16;

/// Columns of a workgroup.
const GROUP_COLUMNS: i64 = 32;

/// The form where copies are not cheap.
enum SharedForm<'o> {
    /// Atomic changes.
    Atomic(AtomicChange<'o>),
    /// Columns, with the function of elements.
    Columns(&'o SoacLambda),
}

impl FunctionLowering<'_> {
    /// Lowers a histogram to private copies, and to other forms where there are some. The host chooses by the sizes.
    pub(super) fn lower_worker_histogram(
        &mut self,
        plan: &HistogramPlan<'_>,
    ) -> Result<(), String> {
        let Some(form) = self.find_shared_form(plan) else {
            return self.lower_private_histogram(plan);
        };
        let rank = plan.sizes.len();
        let segments = self.product(&plan.sizes[..rank - 1]);
        match form {
            SharedForm::Columns(function) if plan.targets[0].shape.len() == rank + 1 => {
                let has_lanes = self.has_row_lanes(plan, segments)?;
                self.choose(
                    has_lanes,
                    |lowering| lowering.lower_row_histogram(plan, segments, function),
                    |lowering| lowering.choose_worker_form(plan, segments, form),
                )
            }
            _ => self.choose_worker_form(plan, segments, form),
        }
    }

    /// Lowers a histogram to private copies where these are cheap or there are many segments, otherwise to another form.
    fn choose_worker_form(
        &mut self,
        plan: &HistogramPlan<'_>,
        segments: ScalarRef,
        form: SharedForm<'_>,
    ) -> Result<(), String> {
        let rank = plan.sizes.len();
        let cells = self.product(&plan.targets[0].shape[rank - 1..]);
        let cost = self.int64(ScalarOp::Mul, cells, ScalarRef::from_int64(CHEAP_COPIES));
        let is_cheap = self.compare(ScalarOp::SLe, cost, plan.sizes[rank - 1]);
        let enough = ScalarRef::from_int64(ENOUGH_SEGMENTS);
        let is_enough = self.compare(ScalarOp::SLe, enough, segments);
        let is_private = self
            .builder
            .apply_op(ScalarOp::LogOr, &[is_cheap, is_enough]);
        self.choose(
            is_private,
            |lowering| lowering.lower_private_histogram(plan),
            |lowering| match form {
                SharedForm::Atomic(change) => lowering.lower_atomic_histogram(plan, &change),
                SharedForm::Columns(function) => lowering.lower_columns(plan, function),
            },
        )
    }

    fn find_shared_form<'o>(&self, plan: &HistogramPlan<'o>) -> Option<SharedForm<'o>> {
        let function = self.find_cell_function(plan)?;
        if plan.targets[0].shape.len() > plan.sizes.len() {
            return Some(SharedForm::Columns(function));
        }
        self.find_change(function).map(SharedForm::Atomic)
    }

    /// The elements of the rows of an array at a point of a row.
    fn column_view(&mut self, array: &ArrayView, point: &[ScalarRef]) -> ArrayView {
        let first_row = ArrayView {
            strides: array.strides[1..].to_vec(),
            shape: array.shape[1..].to_vec(),
            ..array.clone()
        };
        ArrayView {
            strides: vec![array.strides[0]],
            shape: vec![array.shape[0]],
            ..self.point_view(&first_row, point)
        }
    }

    /// Makes a kernel whose invocations have a column each, and combine its elements with those of all rows.
    fn lower_columns(
        &mut self,
        plan: &HistogramPlan<'_>,
        function: &SoacLambda,
    ) -> Result<(), String> {
        let (width, outer) = plan.sizes.split_last().ok_or("a histogram has no space")?;
        let mut sizes = outer.to_vec();
        sizes.extend(&plan.targets[0].shape[plan.sizes.len()..]);
        let grid = InvocationGrid {
            width: self.product(&sizes),
            group_size: ScalarRef::from_int64(GROUP_COLUMNS),
        };
        self.offload(grid, |lowering, item| {
            let mut segment = lowering.unflatten(item, &sizes);
            let column = segment.split_off(outer.len());
            let arrays = lowering.point_views(&plan.targets, &segment);
            let mut columns = Vec::with_capacity(arrays.len());
            for array in &arrays {
                columns.push(lowering.column_view(array, &column));
            }
            lowering.count_to(*width, |lowering, step| {
                let mut point = segment.clone();
                point.push(step);
                let (position, rows) = lowering.lower_contribution(plan, &point)?;
                lowering.if_inside(position, columns[0].shape[0], |lowering| {
                    let mut values = Vec::with_capacity(rows.len());
                    for row in &rows {
                        values.push(lowering.row_element(row, &column)?);
                    }
                    lowering.combine_rows(function, &columns, position, &values)
                })
            })
        })
    }
}
