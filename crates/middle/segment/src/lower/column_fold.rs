//! Reductions by columns, on a processor: each invocation folds a segment, and neighbouring segments are lanes of vectors.
//!
//! An invocation that folds one segment after the other loads single elements. Where neighbouring segments have neighbouring
//! elements, or share them, vectors fold as many segments at once: products of matrices by the columns of the second factor,
//! sums of columns, and sums over all bodies for each body. The elements of a segment are folded in their order.

use super::element_access::ElementAccess;
use super::fold::{FoldChunk, FoldPlan};
use super::view::{ArrayView, ScalarRef};
use super::{FunctionLowering, LoweredValue};
use crate::ir::ParallelOperation;
use spirula_soac::ir::{SoacOperand, SoacVariableId};

/// Most segments of a workgroup: a few vectors, so that there is work for each processor.
const MOST_COLUMNS: i64 = 32;

impl FunctionLowering<'_> {
    /// Whether vectors can fold neighbouring segments at once.
    pub(super) fn folds_by_columns(&self, plan: &FoldPlan<'_>) -> Result<bool, String> {
        let operation = plan.operation;
        let has_others = operation.body.results.len() != plan.folded();
        let [.., column, _] = &operation.space[..] else {
            return Ok(false);
        };
        if has_others || !self.folds_by_vectors(plan) {
            return Ok(false);
        }
        let Some(accesses) = self.find_element_accesses(&operation.body) else {
            return Ok(false);
        };
        for access in &accesses.loads {
            if !self.loads_neighbours(operation, access, column.index)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether neighbours along a dimension load neighbouring elements, or the same one.
    fn loads_neighbours(
        &self,
        operation: &ParallelOperation,
        access: &ElementAccess,
        column: SoacVariableId,
    ) -> Result<bool, String> {
        let LoweredValue::Array(array) = self.value(access.array)? else {
            return Ok(false);
        };
        let one = ScalarRef::from_int64(1);
        let points = access.points.iter().zip(&array.strides);
        let mut own = points.filter(|(point, _)| **point == SoacOperand::Variable(column));
        Ok(self.has_plain_points(operation, access) && own.all(|(_, stride)| *stride == one))
    }

    /// Makes a kernel that folds each segment, whose elements are one chunk.
    pub(super) fn offload_column_folds(
        &mut self,
        plan: &FoldPlan<'_>,
        totals: &[ArrayView],
    ) -> Result<(), String> {
        let neutral = self.operand_values(&plan.fold.neutral)?;
        let (&width, outer) = plan.outer.split_last().ok_or("a fold has no segments")?;
        self.offload_rows(width, outer, MOST_COLUMNS, |lowering, point| {
            let segment = lowering.flatten_point(&point, &plan.outer);
            let chunk = FoldChunk {
                point,
                start: ScalarRef::from_int64(0),
                count: plan.width,
            };
            let states = lowering.make_states(&neutral)?;
            lowering.fold_chunk(plan, &chunk, &states, |_, _, _| Ok(()))?;
            lowering.write_point(totals, &[segment], &states)
        })
    }
}
