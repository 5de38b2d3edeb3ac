//! Single operations of a rewritten program.

use super::rewrite::ExchangeRewriter;
use super::{EXCHANGE_TARGET, ElementMovement};
use crate::PartitionResult;
use spirula_stablehlo::mlir::{
    AttributeKind, DenseElements, MlirAttr, MlirOp, MlirType, MlirValue, OperationDraft,
};

/// The version of the convention of calls with typed attributes.
const TYPED: i64 = 4;

/// The groups of devices of a call.
pub(super) struct DeviceGroups {
    /// The devices of all groups, one group after the other.
    pub devices: Vec<i64>,
    /// Number of devices of a group.
    pub width: usize,
}

impl ExchangeRewriter<'_> {
    pub(super) fn type_of(&self, value: MlirValue) -> MlirType {
        self.builder.module().type_of(value)
    }

    /// Bytes of a tensor.
    pub(super) fn bytes_of(&self, value: MlirValue) -> u64 {
        let types = &self.builder.module().types;
        let ty = self.type_of(value);
        let width = types.element_bytes(types.element_type(ty)).unwrap_or(16);
        types.element_count(ty).unwrap_or(0) * width as u64
    }

    /// Appends an operation of one result.
    pub(super) fn append_one(
        &mut self,
        op: MlirOp,
        name: &str,
        operands: &[MlirValue],
        ty: MlirType,
        properties: &[(&str, MlirAttr)],
    ) -> PartitionResult<MlirValue> {
        let properties = self.builder.intern_attributes(properties);
        let made = self.builder.append_operation(OperationDraft {
            properties,
            place: self.source.source_location(op),
            loc: self.source.location(op),
            ..OperationDraft::new(name, operands, &[ty])
        });
        match self.builder.module().results(made).next() {
            Some(result) => Ok(result),
            None => self.error(op, "has no result"),
        }
    }

    pub(super) fn reshape_value(
        &mut self,
        op: MlirOp,
        value: MlirValue,
        sizes: &[u64],
    ) -> PartitionResult<MlirValue> {
        let ty = self.builder.resized_type(value, sizes);
        if self.type_of(value) == ty {
            return Ok(value);
        }
        self.append_one(op, "stablehlo.reshape", &[value], ty, &[])
    }

    /// Moves a dimension to another place.
    pub(super) fn move_dimension(
        &mut self,
        op: MlirOp,
        value: MlirValue,
        from: usize,
        to: usize,
    ) -> PartitionResult<MlirValue> {
        if from == to {
            return Ok(value);
        }
        let sizes = self.builder.sizes_of(value);
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        let moved = order.remove(from);
        order.insert(to, moved);
        let moved: Vec<u64> = order.iter().map(|at| sizes[*at]).collect();
        let ty = self.builder.resized_type(value, &moved);
        let order: Vec<i64> = order.iter().map(|at| *at as i64).collect();
        let order = self.builder.module_mut().integers_attribute(&order);
        let properties = [("permutation", order)];
        self.append_one(op, "stablehlo.transpose", &[value], ty, &properties)
    }

    /// The elements of the first dimension from one on and before another.
    pub(super) fn slice_rows(
        &mut self,
        op: MlirOp,
        value: MlirValue,
        start: u64,
        limit: u64,
    ) -> PartitionResult<MlirValue> {
        let mut sizes = self.builder.sizes_of(value);
        if start == 0 && limit == sizes[0] {
            return Ok(value);
        }
        let mut starts = vec![0; sizes.len()];
        starts[0] = start as i64;
        let mut limits: Vec<i64> = sizes.iter().map(|size| size.cast_signed()).collect();
        limits[0] = limit as i64;
        sizes[0] = limit - start;
        let ty = self.builder.resized_type(value, &sizes);
        let lists = [
            ("start_indices", starts),
            ("limit_indices", limits),
            ("strides", vec![1; sizes.len()]),
        ];
        let lists =
            lists.map(|(name, list)| (name, self.builder.module_mut().integers_attribute(&list)));
        self.append_one(op, "stablehlo.slice", &[value], ty, &lists)
    }

    /// Adds elements of zero after a tensor of one dimension.
    pub(super) fn pad_row(
        &mut self,
        op: MlirOp,
        value: MlirValue,
        size: u64,
    ) -> PartitionResult<MlirValue> {
        let own = self.builder.sizes_of(value)[0];
        if own == size {
            return Ok(value);
        }
        let scalar = self.builder.resized_type(value, &[]);
        let module = self.builder.module_mut();
        let width = module
            .types
            .element_bytes(module.types.element_type(scalar));
        let zero = DenseElements::from_splat(scalar, &vec![0; width.unwrap_or(1)]);
        let zero = module.attributes.intern(AttributeKind::Elements(zero));
        let zero = self.append_one(op, "stablehlo.constant", &[], scalar, &[("value", zero)])?;
        let ty = self.builder.resized_type(value, &[size]);
        let lists = [
            ("edge_padding_low", 0),
            ("edge_padding_high", (size - own) as i64),
            ("interior_padding", 0),
        ];
        let lists =
            lists.map(|(name, by)| (name, self.builder.module_mut().integers_attribute(&[by])));
        self.append_one(op, "stablehlo.pad", &[value, zero], ty, &lists)
    }

    /// Calls the function that moves elements.
    pub(super) fn call_exchange(
        &mut self,
        op: MlirOp,
        kind: ElementMovement,
        value: MlirValue,
        sizes: &[u64],
        groups: &DeviceGroups,
    ) -> PartitionResult<MlirValue> {
        let ty = self.builder.resized_type(value, sizes);
        let site = i64::from(self.sites);
        self.sites += 1;
        let module = self.builder.module_mut();
        let text = |module: &mut spirula_stablehlo::mlir::MlirModule, text: &str| {
            let text = module.intern_text(text);
            module.attributes.intern(AttributeKind::String(text))
        };
        let fields = [
            ("groups", module.integers_attribute(&groups.devices)),
            ("kind", text(module, kind.name())),
            ("site", module.integer_attribute(site, 64)),
            ("width", module.integer_attribute(groups.width as i64, 64)),
        ];
        let fields = fields.map(|(name, attr)| (module.intern_text(name), attr));
        let config = AttributeKind::Dictionary(Box::new(fields));
        let config = module.attributes.intern(config);
        let target = text(module, EXCHANGE_TARGET);
        let properties = [
            ("call_target_name", target),
            ("has_side_effect", module.integer_attribute(1, 1)),
            ("api_version", module.integer_attribute(TYPED, 32)),
            ("backend_config", config),
        ];
        self.append_one(op, "stablehlo.custom_call", &[value], ty, &properties)
    }
}
