//! Histograms on a processor, whose workers have private copies of the arrays or columns of them.
//!
//! A worker changes a copy of its own without atomic operations. Copies cost as much as the values do where the arrays are large: then
//! changes are atomic, or a worker has some columns of rows that are combined element by element, and visits all values.

use super::atomic::AtomicChange;
use super::histogram::{HistogramPlan, find_element_function};
use super::offload::InvocationGrid;
use super::view::ScalarRef;
use super::{FunctionLowering, LoweredValue};
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
    /// Lowers a histogram to private copies, and to another form where there is one. The host chooses by the sizes.
    pub(super) fn lower_worker_histogram(
        &mut self,
        plan: &HistogramPlan<'_>,
    ) -> Result<(), String> {
        let Some(form) = self.find_shared_form(plan) else {
            return self.lower_private_histogram(plan);
        };
        let rank = plan.sizes.len();
        let segments = self.product(&plan.sizes[..rank - 1]);
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
        let mut function = &plan.fold.function;
        let rows = plan.targets[0].shape.len() - plan.sizes.len();
        if rows == 0 {
            return self.find_change(function).map(SharedForm::Atomic);
        }
        // Each column computes the positions again.
        if !plan.others.is_empty() || self.needs_memory(&plan.operation.body) {
            return None;
        }
        for _ in 0..rows {
            function = find_element_function(function)?;
        }
        Some(SharedForm::Columns(function))
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
            lowering.count_to(*width, |lowering, step| {
                let mut point = segment.clone();
                point.push(step);
                let (position, rows) = lowering.lower_contribution(plan, &point)?;
                lowering.if_inside(position, arrays[0].shape[0], |lowering| {
                    let mut places = Vec::with_capacity(arrays.len());
                    let mut operands = Vec::with_capacity(2 * arrays.len());
                    for array in &arrays {
                        let row = lowering.row_view(array, position);
                        let place = lowering.point_view(&row, &column);
                        operands.push(LoweredValue::Scalar(lowering.load(&place)));
                        places.push(place);
                    }
                    for row in &rows {
                        operands.push(lowering.row_element(row, &column)?);
                    }
                    for (&parameter, operand) in function.parameters.iter().zip(operands) {
                        lowering.set(parameter, operand);
                    }
                    let values = lowering.lower_body(&function.body)?;
                    for (place, value) in places.iter().zip(&values) {
                        lowering.write_value(place, value)?;
                    }
                    Ok(())
                })
            })
        })
    }
}
