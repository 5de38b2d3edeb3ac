//! Calls that one device makes for all, such as callbacks outside of manual computations.

use super::ElementMovement;
use super::operation::DeviceGroups;
use super::rewrite::ExchangeRewriter;
use crate::PartitionResult;
use crate::emit::ONLY_DEVICE;
use spirula_stablehlo::mlir::{
    AttributeKind, DenseElements, DialectBody, MlirOp, MlirType, MlirValue, OperationDraft,
};

impl ExchangeRewriter<'_> {
    /// The device that alone makes a call; `None` for calls that all devices make.
    pub(super) fn find_only_device(&self, op: MlirOp) -> Option<i64> {
        let source = self.source;
        let device = source.as_integer(source.find_attribute(op, ONLY_DEVICE)?)?;
        // A result of another kind, such as a token, cannot be sent.
        let mut results = source.results(op).map(|value| source.type_of(value));
        let is_sent = |ty: MlirType| {
            let element = source.types.element_type(ty);
            source.types.static_shape(ty).is_some() && source.types.element_bytes(element).is_some()
        };
        results.all(is_sent).then_some(device)
    }

    /// Lets one device make a call. The others get its results.
    pub(super) fn call_on_device(&mut self, op: MlirOp, device: i64) -> PartitionResult<()> {
        let Some(own) = self.device else {
            return self.error(op, "a call of one device in a function that is called");
        };
        let source = self.source;
        let types: Vec<MlirType> = source
            .results(op)
            .map(|value| source.type_of(value))
            .collect();
        let wanted = self.splat_constant(op, self.type_of(own), &(device as u32).to_le_bytes())?;
        let is_own = self.compare_equal(op, own, wanted)?;
        let branch = self.builder.append_operation(OperationDraft {
            regions: 2,
            place: source.source_location(op),
            loc: source.location(op),
            ..OperationDraft::new("stablehlo.if", &[is_own], &types)
        });
        self.builder.begin_block(branch, 0, &[]);
        self.copy_operation(op)?;
        let made: Vec<MlirValue> = source
            .results(op)
            .map(|value| self.copied_value(value))
            .collect();
        self.end_branch(&made);
        self.builder.begin_block(branch, 1, &[]);
        let mut zeros = Vec::new();
        for ty in &types {
            let element = source.types.element_type(*ty);
            let width = source.types.element_bytes(element).unwrap_or(1);
            zeros.push(self.splat_constant(op, *ty, &vec![0; width])?);
        }
        self.end_branch(&zeros);
        let mut devices: Vec<i64> = (0..self.devices).filter(|other| *other != device).collect();
        devices.insert(0, device);
        let groups = DeviceGroups {
            width: devices.len(),
            devices,
        };
        let results: Vec<MlirValue> = self.builder.module().results(branch).collect();
        for (at, result) in results.into_iter().enumerate() {
            let sizes = self.builder.sizes_of(result);
            let sent =
                self.call_exchange(op, ElementMovement::Broadcast, result, &sizes, &groups)?;
            self.bind_result(op, at, sent);
        }
        Ok(())
    }

    fn end_branch(&mut self, values: &[MlirValue]) {
        let draft = OperationDraft::new("stablehlo.return", values, &[]);
        self.builder.append_operation(draft);
        self.builder.end_block();
    }

    fn splat_constant(
        &mut self,
        op: MlirOp,
        ty: MlirType,
        bytes: &[u8],
    ) -> PartitionResult<MlirValue> {
        let elements = DenseElements::from_splat(ty, bytes);
        let attributes = &mut self.builder.module_mut().attributes;
        let value = attributes.intern(AttributeKind::Elements(elements));
        self.append_one(op, "stablehlo.constant", &[], ty, &[("value", value)])
    }

    fn compare_equal(
        &mut self,
        op: MlirOp,
        left: MlirValue,
        right: MlirValue,
    ) -> PartitionResult<MlirValue> {
        let module = self.builder.module_mut();
        let name = module.intern_text("stablehlo.comparison_direction");
        let body = DialectBody::Keyword(module.intern_text("EQ"));
        let direction = AttributeKind::Dialect { name, body };
        let direction = module.attributes.intern(direction);
        let truth = module.types.integer_type(1);
        let ty = module.types.tensor_type(&[], truth);
        let properties = [("comparison_direction", direction)];
        self.append_one(op, "stablehlo.compare", &[left, right], ty, &properties)
    }
}
