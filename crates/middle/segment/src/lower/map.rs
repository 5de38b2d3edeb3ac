//! Maps and scatters over spaces.

use super::offload::InvocationGrid;
use super::space::SharedItems;
use super::view::{ArrayView, ScalarRef};
use super::{FunctionLowering, LoweredValue};
use crate::ir::ParallelOperation;
use spirula_soac::ir::{SoacOperand, SoacType, SoacVariableId};

impl FunctionLowering<'_> {
    /// Arrays for results.
    pub(super) fn make_result_arrays(
        &mut self,
        results: &[SoacVariableId],
    ) -> Result<Vec<ArrayView>, String> {
        let mut targets = Vec::with_capacity(results.len());
        for &id in results {
            let (element, shape) = self.result_shape(id)?;
            targets.push(self.new_array(element, shape));
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

    /// Lowers a map over a space of at least one dimension.
    pub(super) fn lower_space_map(
        &mut self,
        results: &[SoacVariableId],
        operation: &ParallelOperation,
    ) -> Result<(), String> {
        let sizes = self.space_sizes(operation)?;
        let targets = self.make_result_arrays(results)?;
        let items = SharedItems {
            count: self.product(&sizes),
            is_chunked: self.needs_memory(&operation.body),
            is_single: self.has_races(&operation.body),
        };
        self.offload_items(items, |lowering, item| {
            let point = lowering.unflatten(item, &sizes);
            lowering.bind_point(&operation.space, &point);
            let values = lowering.lower_body(&operation.body)?;
            lowering.write_point(&targets, &point, &values)
        })?;
        for (&id, target) in results.iter().zip(targets) {
            self.set(id, LoweredValue::Array(target));
        }
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
        self.begin_kernel(one);
        let mut values = self.lower_body(&operation.body)?;
        for (value, cell) in values.iter_mut().zip(&cells) {
            match (&*value, cell) {
                (LoweredValue::Scalar(scalar), Some(cell)) => {
                    let place = self.row_view(cell, ScalarRef::from_int64(0));
                    self.store(&place, *scalar);
                }
                (LoweredValue::Array(view), _) if !self.is_visible(view) => {
                    *value = LoweredValue::Array(self.manifest(&view.clone()));
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
                    LoweredValue::Scalar(self.load(&place))
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
        let mut scalars = view.strides.iter().chain(&view.shape).chain([&view.offset]);
        scalars.all(|scalar| match scalar {
            ScalarRef::Constant(_) => true,
            ScalarRef::Var(var) => var.index() < kernel.first_var,
        })
    }

    /// Lowers a scatter.
    pub(super) fn lower_space_scatter(
        &mut self,
        results: &[SoacVariableId],
        operation: &ParallelOperation,
        target: SoacOperand,
    ) -> Result<(), String> {
        let (result, mapped) = results.split_first().ok_or("a scatter has no result")?;
        let sizes = self.space_sizes(operation)?;
        let target = self.array(target)?;
        let others = self.make_result_arrays(mapped)?;
        let items = SharedItems {
            count: self.product(&sizes),
            is_chunked: self.needs_memory(&operation.body),
            is_single: self.has_races(&operation.body),
        };
        self.offload_items(items, |lowering, item| {
            let point = lowering.unflatten(item, &sizes);
            lowering.bind_point(&operation.space, &point);
            let values = lowering.lower_body(&operation.body)?;
            let [LoweredValue::Scalar(position), value, rest @ ..] = &values[..] else {
                return Err("a scatter has no position".into());
            };
            lowering.write_point(&others, &point, rest)?;
            let array = lowering.point_view(&target, &point[..point.len() - 1]);
            lowering.if_inside(*position, array.shape[0], |lowering| {
                let place = lowering.row_view(&array, *position);
                lowering.write_value(&place, value)
            })
        })?;
        self.set(*result, LoweredValue::Array(target));
        self.set_arrays(mapped, others);
        Ok(())
    }

    /// Gives variables arrays.
    pub(super) fn set_arrays(&mut self, ids: &[SoacVariableId], arrays: Vec<ArrayView>) {
        for (&id, array) in ids.iter().zip(arrays) {
            self.set(id, LoweredValue::Array(array));
        }
    }
}
