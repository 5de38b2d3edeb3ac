//! Scatters over spaces: elements are written at positions that are computed.
//!
//! A position outside of an array is ignored, so that programs choose what is written by positions of -1. Where a body ends
//! with a choice of positions, the elements are written within it. The ways that write nothing then compute no
//! position and no value.

use super::space::SharedItems;
use super::view::{ArrayView, ScalarRef};
use super::{FunctionLowering, LoweredValue};
use crate::ir::ParallelOperation;
use spirula_kernel::ir::StmtKind;
use spirula_soac::ir::{
    SoacBody, SoacOperand, SoacOperation, SoacStatement, SoacType, SoacVariableId,
};

/// The choice that ends a body, and gives it its positions.
struct FinalChoice<'b> {
    before: &'b [SoacStatement],
    condition: SoacOperand,
    /// The ways, with the results of the body on each.
    ways: [(&'b [SoacStatement], Vec<SoacOperand>); 2],
}

impl FunctionLowering<'_> {
    /// Lowers a scatter.
    pub(super) fn lower_space_scatter(
        &mut self,
        results: &[SoacVariableId],
        operation: &ParallelOperation,
        targets: &[SoacOperand],
    ) -> Result<(), String> {
        let (results, mapped) = results.split_at(targets.len().min(results.len()));
        let sizes = self.space_sizes(operation)?;
        let targets = self.arrays(targets)?;
        let others = self.make_result_arrays(mapped)?;
        let items = SharedItems {
            count: self.product(&sizes),
            is_chunked: self.needs_memory(&operation.body),
            is_single: self.has_races(&operation.body),
        };
        self.offload_points(items, &sizes, |lowering, point| {
            lowering.bind_point(&operation.space, &point);
            let outer = &point[..point.len() - 1];
            let arrays = lowering.point_views(&targets, outer);
            let SoacBody {
                statements,
                results,
            } = &operation.body;
            if others.is_empty() {
                return lowering.lower_scattered(statements, results, &arrays);
            }
            let values = lowering.lower_body(&operation.body)?;
            let parts = values.split_at_checked(2 * arrays.len());
            let (pairs, rest) = parts.ok_or("a scatter has too few values")?;
            lowering.write_point(&others, &point, rest)?;
            lowering.scatter_values(&arrays, pairs)
        })?;
        self.set_arrays(results, targets);
        self.set_arrays(mapped, others);
        Ok(())
    }

    /// Lowers statements whose results are positions and values of elements of arrays.
    fn lower_scattered(
        &mut self,
        statements: &[SoacStatement],
        results: &[SoacOperand],
        arrays: &[ArrayView],
    ) -> Result<(), String> {
        let Some(choice) = self.find_final_choice(statements, results) else {
            self.lower_statements(statements)?;
            if are_outside(results) {
                return Ok(());
            }
            let values = results.iter().map(|&result| self.value(result));
            let values = values.collect::<Result<Vec<_>, _>>()?;
            return self.scatter_values(arrays, &values);
        };
        self.lower_statements(choice.before)?;
        let condition = self.scalar(choice.condition)?;
        let condition = self.read(condition);
        let mut blocks = Vec::with_capacity(2);
        for (statements, results) in &choice.ways {
            self.builder.begin_block();
            self.forget_accesses();
            self.lower_scattered(statements, results, arrays)?;
            blocks.push(self.builder.end_block());
        }
        self.forget_accesses();
        self.builder.push_statement(StmtKind::If {
            condition,
            then: blocks[0],
            otherwise: blocks[1],
        });
        Ok(())
    }

    /// The choice that ends statements, if one of its ways writes nothing, or may come to such a choice. Its results
    /// are scalars.
    fn find_final_choice<'b>(
        &self,
        statements: &'b [SoacStatement],
        results: &[SoacOperand],
    ) -> Option<FinalChoice<'b>> {
        let (last, before) = statements.split_last()?;
        let SoacOperation::If(condition, accept, reject) = &last.operation else {
            return None;
        };
        let is_scalar = |&id: &SoacVariableId| {
            matches!(
                self.function.variables[id].variable_type,
                SoacType::Scalar(_)
            )
        };
        if !last.results.iter().all(is_scalar) {
            return None;
        }
        let ways = [accept, reject].map(|body| {
            let replace = |result: &SoacOperand| {
                let SoacOperand::Variable(id) = result else {
                    return *result;
                };
                let position = last.results.iter().position(|result| result == id);
                position.map_or(*result, |n| body.results[n])
            };
            let results: Vec<SoacOperand> = results.iter().map(replace).collect();
            (body.statements.as_slice(), results)
        });
        let is_worth = |(statements, results): &(&[SoacStatement], Vec<SoacOperand>)| {
            are_outside(results) || self.find_final_choice(statements, results).is_some()
        };
        ways.iter().any(is_worth).then_some(FinalChoice {
            before,
            condition: *condition,
            ways,
        })
    }

    /// Writes values to elements of arrays. Each array has a position and a value; a position outside is ignored.
    pub(super) fn scatter_values(
        &mut self,
        arrays: &[ArrayView],
        pairs: &[LoweredValue],
    ) -> Result<(), String> {
        let mut writes = Vec::with_capacity(arrays.len());
        for (array, pair) in arrays.iter().zip(pairs.chunks_exact(2)) {
            let LoweredValue::Scalar(position) = pair[0] else {
                return Err("the position of a scatter is no scalar".into());
            };
            writes.push((position, array, &pair[1]));
        }
        // Writes to the same position of arrays of one length need one test.
        let is_same = |a: &(ScalarRef, &ArrayView, _), b: &(ScalarRef, &ArrayView, _)| {
            a.0 == b.0 && a.1.shape[0] == b.1.shape[0]
        };
        for group in writes.chunk_by(is_same) {
            let (position, first, _) = group[0];
            self.if_inside(position, first.shape[0], |lowering| {
                for (position, array, value) in group {
                    let place = lowering.row_view(array, *position);
                    lowering.write_value(&place, value)?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// Whether all positions are constants below zero.
fn are_outside(results: &[SoacOperand]) -> bool {
    let mut positions = results.iter().step_by(2);
    positions.all(|position| position.to_int64().is_some_and(|position| position < 0))
}
