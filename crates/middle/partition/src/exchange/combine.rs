//! Combination of the elements of several devices, in the order of the devices.

use super::rewrite::ExchangeRewriter;
use crate::PartitionResult;
use spirula_stablehlo::MlirOpcode;
use spirula_stablehlo::mlir::{
    MlirFloat, MlirOp, MlirType, MlirTypeKind, MlirValue, OperationDraft,
};

impl ExchangeRewriter<'_> {
    /// Combines tensors of one type by the region of a collective.
    pub(super) fn combine_values(
        &mut self,
        op: MlirOp,
        values: &[MlirValue],
    ) -> PartitionResult<MlirValue> {
        let Some((first, rest)) = values.split_first() else {
            return self.error(op, "a group without devices");
        };
        let single = self.find_single_operation(op);
        let own_type = self.type_of(*first);
        let wide = self.wide_type(own_type);
        let inner = match single {
            Some(_) => wide,
            None => own_type,
        };
        let mut sum = self.convert_value(op, *first, inner)?;
        for value in rest {
            let value = self.convert_value(op, *value, inner)?;
            sum = match single {
                Some(name) => self.append_one(op, name, &[sum, value], inner, &[])?,
                None => self.map_region(op, sum, value)?,
            };
        }
        self.convert_value(op, sum, own_type)
    }

    /// The operation that a region consists of, if its arguments are the operands in any order.
    fn find_single_operation(&self, op: MlirOp) -> Option<&'static str> {
        use MlirOpcode as Op;
        let source = self.source;
        let region = source.regions(op).next()?;
        let [block] = source.blocks(region) else {
            return None;
        };
        let [only, end] = source.ops(*block) else {
            return None;
        };
        let opcode = source.opcode(*only)?;
        let is_known = matches!(
            opcode,
            Op::Add | Op::Multiply | Op::Maximum | Op::Minimum | Op::And | Op::Or | Op::Xor
        );
        let mut arguments: Vec<MlirValue> = source.arguments(*block).collect();
        let mut operands = source.operands(*only).to_vec();
        arguments.sort_unstable();
        operands.sort_unstable();
        let returned = source.operands(*end);
        let is_returned = source.results(*only).eq(returned.iter().copied());
        (is_known && is_returned && arguments == operands).then(|| opcode.name())
    }

    /// The type in which elements are combined: sums of short floating-point numbers keep digits.
    fn wide_type(&mut self, ty: MlirType) -> MlirType {
        let types = &mut self.builder.module_mut().types;
        let element = types.element_type(ty);
        let is_short = matches!(types.kind(element), MlirTypeKind::Float(_))
            && types.element_bytes(element).is_some_and(|bytes| bytes < 4);
        let sizes = types.static_shape(ty);
        match sizes.filter(|_| is_short) {
            Some(sizes) => {
                let single = types.float_type(MlirFloat::F32);
                types.tensor_type(&sizes, single)
            }
            None => ty,
        }
    }

    fn convert_value(
        &mut self,
        op: MlirOp,
        value: MlirValue,
        ty: MlirType,
    ) -> PartitionResult<MlirValue> {
        if self.type_of(value) == ty {
            return Ok(value);
        }
        self.append_one(op, "stablehlo.convert", &[value], ty, &[])
    }

    /// Applies the region of a collective to the elements of two tensors.
    fn map_region(
        &mut self,
        op: MlirOp,
        left: MlirValue,
        right: MlirValue,
    ) -> PartitionResult<MlirValue> {
        let ty = self.type_of(left);
        let rank = self.builder.sizes_of(left).len() as i64;
        let dimensions: Vec<i64> = (0..rank).collect();
        let module = self.builder.module_mut();
        let dimensions = module.integers_attribute(&dimensions);
        let properties = vec![(module.intern_text("dimensions"), dimensions)];
        let map = self.builder.append_operation(OperationDraft {
            properties,
            regions: 1,
            place: self.source.source_location(op),
            loc: self.source.location(op),
            ..OperationDraft::new("stablehlo.map", &[left, right], &[ty])
        });
        let mut known = self.known.clone();
        self.builder.copy_regions(self.source, op, map, &mut known);
        match self.builder.module().results(map).next() {
            Some(result) => Ok(result),
            None => self.error(op, "has no result"),
        }
    }
}
