//! Operations that take the place of another.

use crate::mlir::{
    AttributeKind, DenseElements, DialectBody, MlirAttr, MlirBlock, MlirModule, MlirOp, MlirRegion,
    MlirType, MlirValue, NamedAttribute,
};
use rustc_hash::FxHashMap;

/// A reduction that is about to be emitted.
pub(super) struct ReductionDraft<'a> {
    pub name: &'a str,
    /// The operation of the region.
    pub operation: &'a str,
    /// Type of the result.
    pub ty: MlirType,
    pub properties: &'a [(&'a str, MlirAttr)],
}

/// Operations that are about to take the place of another.
pub(super) struct ReplacementEmitter<'m> {
    pub module: &'m mut MlirModule,
    replaced: MlirOp,
    ops: Vec<MlirOp>,
}

impl ReplacementEmitter<'_> {
    pub fn new(module: &mut MlirModule, replaced: MlirOp) -> ReplacementEmitter<'_> {
        let ops = Vec::new();
        ReplacementEmitter {
            module,
            replaced,
            ops,
        }
    }

    /// An operation of one result.
    pub fn emit_one(
        &mut self,
        name: &str,
        operands: &[MlirValue],
        ty: MlirType,
        properties: &[(&str, MlirAttr)],
    ) -> MlirValue {
        let op = self.reserve_operation(name, operands, &[ty], properties);
        self.ops.push(op);
        self.first_result(op)
    }

    /// The maximum along the last dimension of integers; -1 if there is none greater.
    pub fn emit_maximum(&mut self, value: MlirValue) -> MlirValue {
        let element = self.element_of(value);
        let least = self.emit_integers(&[-1], &[]);
        let mut sizes = self.sizes_of(value);
        let last = sizes.len().saturating_sub(1);
        sizes.truncate(last);
        let ty = self.module.types.tensor_type(&sizes, element);
        let dimensions = self.module.integers_attribute(&[last as i64]);
        let properties = [("dimensions", dimensions)];
        let draft = ReductionDraft {
            name: "stablehlo.reduce",
            operation: "stablehlo.maximum",
            ty,
            properties: &properties,
        };
        self.emit_reduction(&draft, &[value, least])
    }

    /// A reduction whose region is one operation.
    pub fn emit_reduction(
        &mut self,
        draft: &ReductionDraft<'_>,
        operands: &[MlirValue],
    ) -> MlirValue {
        let element = self.element_of(operands[0]);
        let scalar = self.module.types.tensor_type(&[], element);
        let op = self.reserve_operation(draft.name, operands, &[draft.ty], draft.properties);
        let block = self.reserve_region(op, &[scalar, scalar]);
        let sides: Vec<MlirValue> = self.module.arguments(block).collect();
        let inner = self.reserve_operation(draft.operation, &sides, &[scalar], &[]);
        let results: Vec<MlirValue> = self.module.results(inner).collect();
        let end = self.reserve_operation("stablehlo.return", &results, &[], &[]);
        self.module.set_ops(block, &[inner, end]);
        self.ops.push(op);
        self.first_result(op)
    }

    /// The result of an operation that was made with one.
    fn first_result(&self, op: MlirOp) -> MlirValue {
        MlirValue::new(self.module.ops[op.index()].results.to_range().start)
    }

    /// An operation of one result, whose region is a copy of a block without regions inside.
    pub fn emit_combination(
        &mut self,
        name: &str,
        operand: MlirValue,
        ty: MlirType,
        properties: &[(&str, MlirAttr)],
        combiner: MlirBlock,
    ) -> MlirValue {
        let op = self.reserve_operation(name, &[operand], &[ty], properties);
        let arguments: Vec<MlirValue> = self.module.arguments(combiner).collect();
        let types: Vec<MlirType> = arguments
            .iter()
            .map(|argument| self.module.type_of(*argument))
            .collect();
        let block = self.reserve_region(op, &types);
        let own = self.module.arguments(block);
        let mut known: FxHashMap<MlirValue, MlirValue> = arguments.into_iter().zip(own).collect();
        let mut copies = Vec::new();
        for inner in self.module.ops(combiner).to_vec() {
            copies.push(self.copy_plain(inner, &mut known));
        }
        self.module.set_ops(block, &copies);
        self.ops.push(op);
        self.first_result(op)
    }

    /// A copy of an operation without regions. A return becomes that of regions.
    fn copy_plain(&mut self, op: MlirOp, known: &mut FxHashMap<MlirValue, MlirValue>) -> MlirOp {
        let name = if self.module.is_return(op) {
            "stablehlo.return".to_owned()
        } else {
            self.module.op_name(op).to_owned()
        };
        let operands = self.module.operands(op).iter();
        let operands: Vec<MlirValue> = operands
            .map(|value| known.get(value).copied().unwrap_or(*value))
            .collect();
        let results = self.module.results(op);
        let results: Vec<MlirType> = results.map(|value| self.module.type_of(value)).collect();
        let copy = self.reserve_operation(&name, &operands, &results, &[]);
        let mut properties = self.module.properties(op).to_vec();
        self.module.set_attributes(copy, &mut properties, &mut []);
        known.extend(self.module.results(op).zip(self.module.results(copy)));
        copy
    }

    /// The only region of an operation, with a block that has arguments of these types.
    fn reserve_region(&mut self, op: MlirOp, types: &[MlirType]) -> MlirBlock {
        let regions = self.module.reserve_regions(op, 1);
        let region = MlirRegion::new(regions.to_range().start);
        let block = self.module.reserve_block(region);
        self.module.set_blocks(region, &[block]);
        self.module.set_arguments(block, types);
        block
    }

    fn reserve_operation(
        &mut self,
        name: &str,
        operands: &[MlirValue],
        results: &[MlirType],
        properties: &[(&str, MlirAttr)],
    ) -> MlirOp {
        let name = self.module.intern_text(name);
        let op = self
            .module
            .reserve_op(name, self.module.source_location(self.replaced));
        self.module.set_operands(op, operands);
        self.module.set_results(op, results);
        let mut properties: Vec<NamedAttribute> = properties
            .iter()
            .map(|(name, attr)| (self.module.intern_text(name), *attr))
            .collect();
        self.module.set_attributes(op, &mut properties, &mut []);
        let loc = self.module.location(self.replaced);
        self.module.set_location(op, loc);
        op
    }

    /// Integers of 64 bits.
    pub fn emit_integers(&mut self, values: &[i64], sizes: &[u64]) -> MlirValue {
        let value = self.make_elements(values, sizes);
        let element = self.module.types.integer_type(64);
        let ty = self.module.types.tensor_type(sizes, element);
        self.emit_one("stablehlo.constant", &[], ty, &[("value", value)])
    }

    /// The attribute of integers of 64 bits.
    pub fn make_elements(&mut self, values: &[i64], sizes: &[u64]) -> MlirAttr {
        let element = self.module.types.integer_type(64);
        let ty = self.module.types.tensor_type(sizes, element);
        let data = values.iter().flat_map(|value| value.to_le_bytes());
        let elements = DenseElements::new(ty, 8, data.collect());
        let kind = AttributeKind::Elements(elements);
        self.module.attributes.intern(kind)
    }

    /// The attribute of a channel between devices.
    pub fn make_channel(&mut self, number: i64) -> MlirAttr {
        let fields = [("handle", number), ("type", 1)];
        let fields = fields.map(|(name, value)| (name, self.module.integer_attribute(value, 64)));
        self.make_structure("stablehlo.channel_handle", &fields)
    }

    pub fn emit_reshape(&mut self, value: MlirValue, sizes: &[u64]) -> MlirValue {
        let element = self.element_of(value);
        let ty = self.module.types.tensor_type(sizes, element);
        self.emit_one("stablehlo.reshape", &[value], ty, &[])
    }

    /// A value that is repeated along all dimensions but one.
    pub fn emit_broadcast(&mut self, value: MlirValue, sizes: &[u64], kept: &[i64]) -> MlirValue {
        let element = self.element_of(value);
        let ty = self.module.types.tensor_type(sizes, element);
        let kept = self.module.integers_attribute(kept);
        let properties = [("broadcast_dimensions", kept)];
        self.emit_one("stablehlo.broadcast_in_dim", &[value], ty, &properties)
    }

    /// An operation whose operands and result have one type.
    pub fn emit_alike(&mut self, name: &str, operands: &[MlirValue; 2]) -> MlirValue {
        let ty = self.module.type_of(operands[0]);
        self.emit_one(name, operands, ty, &[])
    }

    pub fn emit_compare(&mut self, direction: &str, operands: &[MlirValue; 2]) -> MlirValue {
        let sizes = self.sizes_of(operands[0]);
        let truth = self.module.types.integer_type(1);
        let ty = self.module.types.tensor_type(&sizes, truth);
        let name = self.module.intern_text("stablehlo.comparison_direction");
        let body = DialectBody::Keyword(self.module.intern_text(direction));
        let kind = AttributeKind::Dialect { name, body };
        let direction = self.module.attributes.intern(kind);
        let properties = [("comparison_direction", direction)];
        self.emit_one("stablehlo.compare", operands, ty, &properties)
    }

    /// An attribute of a dialect with fields.
    pub fn make_structure(&mut self, name: &str, fields: &[(&str, MlirAttr)]) -> MlirAttr {
        let fields: Vec<NamedAttribute> = fields
            .iter()
            .map(|(name, attr)| (self.module.intern_text(name), *attr))
            .collect();
        let name = self.module.intern_text(name);
        let body = DialectBody::Fields(fields.into());
        self.module
            .attributes
            .intern(AttributeKind::Dialect { name, body })
    }

    pub fn element_of(&self, value: MlirValue) -> MlirType {
        let types = &self.module.types;
        types.element_type(self.module.type_of(value))
    }

    pub fn sizes_of(&self, value: MlirValue) -> Vec<u64> {
        let sizes = self.module.types.static_shape(self.module.type_of(value));
        sizes.unwrap_or_default()
    }

    /// Puts the operations in the place of the other, and a value in that of its result.
    pub fn finish(self, value: MlirValue) {
        let (module, replaced) = (self.module, self.replaced);
        insert_operations(module, replaced, self.ops);
        let results = module.results(replaced);
        let pairs: Vec<(MlirValue, MlirValue)> = results.map(|result| (result, value)).collect();
        module.replace_operands(&pairs);
    }

    /// Puts the operations before the other, which gets other operands.
    pub fn finish_before(mut self, operands: &[MlirValue]) {
        self.module.set_operands(self.replaced, operands);
        self.ops.push(self.replaced);
        insert_operations(self.module, self.replaced, self.ops);
    }
}

/// Puts operations in the place of another.
fn insert_operations(module: &mut MlirModule, replaced: MlirOp, ops: Vec<MlirOp>) {
    let Some(block) = module.block_of(replaced) else {
        return;
    };
    let mut all = module.ops(block).to_vec();
    if let Some(at) = all.iter().position(|op| *op == replaced) {
        all.splice(at..=at, ops);
        module.set_ops(block, &all);
    }
}
