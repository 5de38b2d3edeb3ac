//! Maps over spaces.

use super::offload::InvocationGrid;
use super::space::SharedItems;
use super::view::{ArrayView, ScalarRef};
use super::{FunctionLowering, LoweredValue};
use crate::ir::ParallelOperation;
use spirula_soac::ir::{SoacBody, SoacType, SoacVariableId};

impl FunctionLowering<'_> {
    /// Arrays for results.
    pub(super) fn make_result_arrays(
        &mut self,
        results: &[SoacVariableId],
    ) -> Result<Vec<ArrayView>, String> {
        let mut targets = Vec::with_capacity(results.len());
        for &id in results {
            targets.push(self.make_result_array(id)?);
        }
        Ok(targets)
    }

    /// Arrays for results whose rows invocations write. Neighbouring invocations differ in a dimension. Those that other invocations
    /// read by rows have a layout for it.
    fn make_row_results(
        &mut self,
        results: &[SoacVariableId],
        dimension: usize,
    ) -> Result<Vec<ArrayView>, String> {
        let mut targets = Vec::with_capacity(results.len());
        for &id in results {
            let (element, shape) = self.result_shape(id)?;
            let has_rows = shape.len() > dimension + 1 && self.row_arrays.contains(id);
            targets.push(if has_rows {
                self.new_row_array(element, shape, dimension)
            } else {
                self.new_array(element, shape)
            });
        }
        Ok(targets)
    }

    /// Writes values to the parts of arrays at a point.
    pub(super) fn write_point(
        &mut self,
        targets: &[ArrayView],
        point: &[ScalarRef],
        values: &[LoweredValue],
    ) -> Result<(), String> {
        for (target, value) in targets.iter().zip(values) {
            let place = self.point_view(target, point);
            self.write_value(&place, value)?;
        }
        Ok(())
    }

    /// Lowers a body whose results are the parts of arrays at a point.
    pub(super) fn lower_point(
        &mut self,
        body: &SoacBody,
        targets: &[ArrayView],
        point: &[ScalarRef],
    ) -> Result<(), String> {
        let mut places = Vec::with_capacity(targets.len());
        for target in targets {
            places.push(self.point_view(target, point));
        }
        let destinations: Vec<_> = places.iter().map(Some).collect();
        self.aim_results(body, &destinations);
        let values = self.lower_body(body)?;
        for (place, value) in places.iter().zip(&values) {
            self.write_value(place, value)?;
        }
        Ok(())
    }

    /// Lowers a map over a space of at least one dimension.
    pub(super) fn lower_space_map(
        &mut self,
        results: &[SoacVariableId],
        operation: &ParallelOperation,
    ) -> Result<(), String> {
        let targets = self.make_row_results(results, operation.space.len() - 1)?;
        self.fill_space(operation, &targets)?;
        self.set_arrays(results, targets);
        Ok(())
    }

    /// Writes the results of a map to arrays.
    pub(super) fn fill_space(
        &mut self,
        operation: &ParallelOperation,
        targets: &[ArrayView],
    ) -> Result<(), String> {
        let sizes = self.space_sizes(operation)?;
        let replaced = self.arrange_rows(operation)?;
        let items = SharedItems {
            count: self.product(&sizes),
            is_chunked: self.needs_memory(&operation.body),
            is_single: self.has_races(&operation.body),
        };
        self.offload_points(items, &sizes, |lowering, point| {
            lowering.bind_point(&operation.space, &point);
            lowering.lower_point(&operation.body, targets, &point)
        })?;
        self.restore_values(replaced);
        Ok(())
    }

    /// Lowers a body that runs once.
    pub(super) fn lower_single(
        &mut self,
        results: &[SoacVariableId],
        operation: &ParallelOperation,
    ) -> Result<(), String> {
        let one = ScalarRef::from_int64(1);
        let mut cells = Vec::with_capacity(results.len());
        for &id in results {
            let variable_type = self.function.variables[id].variable_type.clone();
            cells.push(match variable_type {
                SoacType::Scalar(scalar) => Some(self.new_array(scalar, vec![one])),
                _ => None,
            });
        }
        self.begin_kernel(one)?;
        let mut values = self.lower_body(&operation.body)?;
        for (value, cell) in values.iter_mut().zip(&cells) {
            match (&*value, cell) {
                (LoweredValue::Scalar(scalar), Some(cell)) => {
                    let place = self.row_view(cell, ScalarRef::from_int64(0));
                    self.store(&place, *scalar);
                }
                (LoweredValue::Array(view), _) if !self.is_visible(view) => {
                    let view = view.clone();
                    let block = self.new_scratch_array(view.element, view.shape.clone());
                    self.copy(&block, &view);
                    *value = LoweredValue::Array(block);
                }
                _ => {}
            }
        }
        let grid = InvocationGrid {
            width: one,
            group_size: one,
        };
        self.launch_kernel(grid)?;
        for ((&id, value), cell) in results.iter().zip(values).zip(cells) {
            let value = match cell {
                Some(cell) => {
                    let place = self.row_view(&cell, ScalarRef::from_int64(0));
                    self.load_result(id, place)
                }
                None => value,
            };
            self.set(id, value);
        }
        Ok(())
    }

    /// Whether the host knows where the elements of an array are.
    fn is_visible(&self, view: &ArrayView) -> bool {
        let Some(kernel) = &self.kernel else {
            return true;
        };
        let mut blocks = kernel.scratch.iter().map(|(block, _, _)| *block);
        let is_own = view.memory.index() >= kernel.first_var;
        if is_own && !blocks.any(|block| block == view.memory) {
            return false;
        }
        let mut scalars = view.strides.iter().chain(&view.shape).chain([&view.offset]);
        scalars.all(|scalar| match scalar {
            ScalarRef::Constant(_) => true,
            ScalarRef::Var(var) => var.index() < kernel.first_var,
        })
    }

    /// Gives variables arrays.
    pub(super) fn set_arrays(&mut self, ids: &[SoacVariableId], arrays: Vec<ArrayView>) {
        for (&id, array) in ids.iter().zip(arrays) {
            self.set(id, LoweredValue::Array(array));
        }
    }
}
