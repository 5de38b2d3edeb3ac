//! Operations of local tensors that rewritten operations need.

use super::emitter::LocalEmitter;
use crate::PartitionResult;
use spirula_stablehlo::mlir::{AttributeKind, DialectBody, MlirType, MlirValue};

impl LocalEmitter<'_> {
    pub(super) fn type_of(&self, value: MlirValue) -> MlirType {
        self.builder.module().type_of(value)
    }

    /// A tensor of a type, of which some dimensions are those of a value.
    pub(super) fn broadcast_value(
        &mut self,
        value: MlirValue,
        dimensions: &[i64],
        ty: MlirType,
    ) -> PartitionResult<MlirValue> {
        if self.type_of(value) == ty {
            return Ok(value);
        }
        let dimensions = self.builder.module_mut().integers_attribute(dimensions);
        let properties = [("broadcast_dimensions", dimensions)];
        self.append_one("stablehlo.broadcast_in_dim", &[value], ty, &properties)
    }

    pub(super) fn reshape_value(
        &mut self,
        value: MlirValue,
        sizes: &[u64],
    ) -> PartitionResult<MlirValue> {
        let ty = self.builder.resized_type(value, sizes);
        if self.type_of(value) == ty {
            return Ok(value);
        }
        self.append_one("stablehlo.reshape", &[value], ty, &[])
    }

    /// The elements of a dimension from one on and before another.
    pub(super) fn slice_dimension(
        &mut self,
        value: MlirValue,
        dimension: usize,
        start: u64,
        limit: u64,
    ) -> PartitionResult<MlirValue> {
        let mut sizes = self.builder.sizes_of(value);
        if start == 0 && limit == sizes[dimension] {
            return Ok(value);
        }
        let (mut starts, mut limits) = (vec![0; sizes.len()], sizes.clone());
        starts[dimension] = start;
        limits[dimension] = limit;
        sizes[dimension] = limit - start;
        let ty = self.builder.resized_type(value, &sizes);
        let lists = [
            ("start_indices", starts),
            ("limit_indices", limits),
            ("strides", vec![1; sizes.len()]),
        ];
        let lists = lists.map(|(name, list)| {
            let list: Vec<i64> = list.iter().map(|at| at.cast_signed()).collect();
            (name, self.builder.module_mut().integers_attribute(&list))
        });
        self.append_one("stablehlo.slice", &[value], ty, &lists)
    }

    /// Values one after the other along a dimension.
    pub(super) fn concatenate_values(
        &mut self,
        values: &[MlirValue],
        dimension: usize,
    ) -> PartitionResult<MlirValue> {
        if let [value] = values {
            return Ok(*value);
        }
        let mut sizes = self.builder.sizes_of(values[0]);
        sizes[dimension] = values
            .iter()
            .map(|value| self.builder.sizes_of(*value)[dimension])
            .sum();
        let ty = self.builder.resized_type(values[0], &sizes);
        let dimension = self.integer(dimension as u64);
        self.append_one(
            "stablehlo.concatenate",
            values,
            ty,
            &[("dimension", dimension)],
        )
    }

    /// Where a comparison of elements holds.
    pub(super) fn compare_values(
        &mut self,
        direction: &str,
        a: MlirValue,
        b: MlirValue,
    ) -> PartitionResult<MlirValue> {
        let sizes = self.builder.sizes_of(a);
        let module = self.builder.module_mut();
        let name = module.intern_text("stablehlo.comparison_direction");
        let body = DialectBody::Keyword(module.intern_text(direction));
        let direction = module
            .attributes
            .intern(AttributeKind::Dialect { name, body });
        let element = module.types.integer_type(1);
        let ty = module.types.tensor_type(&sizes, element);
        let properties = [("comparison_direction", direction)];
        self.append_one("stablehlo.compare", &[a, b], ty, &properties)
    }

    /// Elements of one tensor where a condition holds, else of another.
    pub(super) fn select_values(
        &mut self,
        condition: MlirValue,
        a: MlirValue,
        b: MlirValue,
    ) -> PartitionResult<MlirValue> {
        let ty = self.type_of(a);
        self.append_one("stablehlo.select", &[condition, a, b], ty, &[])
    }
}
