//! Entry points that take and give the parts of all devices, so that nothing is cut or put together outside of the program.
//!
//! A tensor that every device has as a whole is one parameter or result. Any other is one for each device, in the order of their
//! numbers. Inside, the parts are put one after the other along a new dimension, which all axes of the mesh split: a manual
//! computation takes its own part of it.

use super::entry::{
    EntryPair, ManualCallShardings, begin_manual, call_local, end_manual, keep_entry_properties,
    wrap_entry,
};
use crate::layout::ShardLayout;
use crate::partition::PartitionedModule;
use spirula_stablehlo::mlir::{
    AttributeKind, MlirAttr, MlirModule, MlirType, MlirTypeKind, MlirValue, ModuleBuilder,
    OperationDraft,
};
use spirula_stablehlo::sharding::{AxisReference, TensorSharding};

/// A module whose entry point takes and gives the parts that devices have.
pub fn wrap_for_shards(partitioned: &PartitionedModule, global: &MlirModule) -> MlirModule {
    wrap_entry(partitioned, global, emit_shard_entry)
}

/// An entry point under construction.
struct ShardEntry<'b, 'm> {
    builder: &'b mut ModuleBuilder,
    pair: EntryPair<'m>,
    /// The number of the device at each position of the mesh.
    devices: Vec<usize>,
}

fn emit_shard_entry(builder: &mut ModuleBuilder, pair: EntryPair<'_>) {
    let mesh = &pair.partitioned.mesh;
    let positions = 0..mesh.device_count();
    let devices = positions.map(|position| mesh.device_at(position) as usize);
    let mut entry = ShardEntry {
        builder,
        pair,
        devices: devices.collect(),
    };
    entry.emit();
}

impl ShardEntry<'_, '_> {
    fn emit(&mut self) {
        let pair = self.pair;
        let (parameters, results) = (&pair.partitioned.parameters, &pair.partitioned.results);
        let [inputs, outputs] = pair.local_types;
        let given = self.list_parts(parameters, inputs);
        let taken = self.list_parts(results, outputs);
        let arguments = self.begin_function(&given, &taken);
        let mut arguments = arguments.as_slice();
        let mut operands = Vec::new();
        for (layout, ty) in parameters.iter().zip(inputs) {
            let (own, rest) = arguments.split_at(self.count_parts(layout));
            arguments = rest;
            operands.push(self.stack_parts(layout, *ty, own));
        }
        let stacked = |entry: &mut Self, layouts: &[ShardLayout], types: &[MlirType], count| {
            let pairs = layouts.iter().zip(types);
            let types = pairs.map(|(layout, ty)| entry.stacked_type(layout, *ty, count));
            types.collect::<Vec<MlirType>>()
        };
        let whole = stacked(self, results, outputs, self.devices.len() as u64);
        let inner = stacked(self, parameters, inputs, 1);
        let shardings = ManualCallShardings {
            inputs: &self.stacked_shardings(parameters),
            outputs: &self.stacked_shardings(results),
        };
        let (manual, own) = begin_manual(self.builder, pair, &shardings, &operands, &whole, &inner);
        let locals = own.iter().zip(inputs);
        let locals: Vec<MlirValue> = locals
            .map(|(value, ty)| self.reshape_value(*value, *ty))
            .collect();
        let values = call_local(self.builder, pair, &locals);
        let inner = stacked(self, results, outputs, 1);
        let values = values.iter().zip(inner);
        let values: Vec<MlirValue> = values
            .map(|(value, ty)| self.reshape_value(*value, ty))
            .collect();
        let values = end_manual(self.builder, manual, &values);
        let mut returned = Vec::new();
        for ((layout, ty), value) in results.iter().zip(outputs).zip(values) {
            self.cut_parts(layout, *ty, value, &mut returned);
        }
        let draft = OperationDraft::new("func.return", &returned, &[]);
        self.builder.append_operation(draft);
        self.builder.end_block();
    }

    /// Begins the function of these parameters and results. Returns its arguments.
    fn begin_function(&mut self, given: &[MlirType], taken: &[MlirType]) -> Vec<MlirValue> {
        let pair = self.pair;
        let module = self.builder.module_mut();
        let ty = module.types.intern(MlirTypeKind::Function {
            inputs: given.into(),
            results: taken.into(),
        });
        let ty = module.attributes.intern(AttributeKind::Type(ty));
        let mut properties = keep_entry_properties(pair);
        for (name, attr) in &mut properties {
            if pair.global.symbol_text(*name) == "function_type" {
                *attr = ty;
            }
        }
        let function = self.builder.append_operation(OperationDraft {
            properties,
            regions: 1,
            place: pair.global.source_location(pair.entry),
            loc: pair.global.location(pair.entry),
            ..OperationDraft::new("func.func", &[], &[])
        });
        self.builder.begin_block(function, 0, given)
    }

    /// Number of values that a tensor is.
    fn count_parts(&self, layout: &ShardLayout) -> usize {
        if layout.is_replicated() {
            1
        } else {
            self.devices.len()
        }
    }

    /// The types of the parts of tensors.
    fn list_parts(&self, layouts: &[ShardLayout], types: &[MlirType]) -> Vec<MlirType> {
        let pairs = layouts.iter().zip(types);
        let parts = pairs.flat_map(|(layout, ty)| vec![*ty; self.count_parts(layout)]);
        parts.collect()
    }

    /// The type of a given number of parts one after the other; that of a tensor itself where every device has all of
    /// it.
    fn stacked_type(&mut self, layout: &ShardLayout, part: MlirType, count: u64) -> MlirType {
        if layout.is_replicated() {
            return part;
        }
        let types = &mut self.builder.module_mut().types;
        let mut sizes = types.static_shape(part).unwrap_or_default();
        sizes.insert(0, count);
        let element = types.element_type(part);
        types.tensor_type(&sizes, element)
    }

    /// The shardings of stacked parts: all axes split the first dimension.
    fn stacked_shardings(&self, layouts: &[ShardLayout]) -> Vec<TensorSharding> {
        let mesh = &self.pair.partitioned.mesh;
        let axes = mesh.reference().axes.iter().map(|axis| AxisReference {
            name: axis.name.clone(),
            part: None,
        });
        let axes: Vec<AxisReference> = axes.collect();
        let shardings = layouts.iter().map(|layout| {
            let mut sharding = ShardLayout::new_replicated(layout.dims.len()).to_sharding(mesh);
            if !layout.is_replicated() {
                sharding.dimensions.insert(0, axes.clone());
                sharding.open.insert(0, false);
            }
            sharding
        });
        shardings.collect()
    }

    /// Parts, in the order of the devices' numbers, one after the other in the order of the mesh.
    fn stack_parts(
        &mut self,
        layout: &ShardLayout,
        part: MlirType,
        parts: &[MlirValue],
    ) -> MlirValue {
        if let [whole] = parts {
            return *whole;
        }
        let row = self.stacked_type(layout, part, 1);
        let devices = self.devices.clone();
        let rows = devices.iter().map(|device| parts[*device]);
        let rows: Vec<MlirValue> = rows.map(|value| self.reshape_value(value, row)).collect();
        let ty = self.stacked_type(layout, part, devices.len() as u64);
        let zero = self.builder.module_mut().integer_attribute(0, 64);
        self.append_one("stablehlo.concatenate", &rows, ty, &[("dimension", zero)])
    }

    /// Adds the parts of stacked ones in the order of the devices' numbers.
    fn cut_parts(
        &mut self,
        layout: &ShardLayout,
        part: MlirType,
        stacked: MlirValue,
        parts: &mut Vec<MlirValue>,
    ) {
        if layout.is_replicated() {
            parts.push(stacked);
            return;
        }
        let row = self.stacked_type(layout, part, 1);
        let sizes = self.builder.module().types.static_shape(row);
        let sizes: Vec<i64> = sizes
            .unwrap_or_default()
            .iter()
            .map(|size| size.cast_signed())
            .collect();
        let mut own = vec![stacked; self.devices.len()];
        for (position, device) in self.devices.clone().into_iter().enumerate() {
            let mut starts = vec![0; sizes.len()];
            let mut limits = sizes.clone();
            starts[0] = position as i64;
            limits[0] = position as i64 + 1;
            let lists = [
                ("start_indices", starts),
                ("limit_indices", limits),
                ("strides", vec![1; sizes.len()]),
            ];
            let lists = lists
                .map(|(name, list)| (name, self.builder.module_mut().integers_attribute(&list)));
            let cut = self.append_one("stablehlo.slice", &[stacked], row, &lists);
            own[device] = self.reshape_value(cut, part);
        }
        parts.append(&mut own);
    }

    fn reshape_value(&mut self, value: MlirValue, ty: MlirType) -> MlirValue {
        if self.builder.module().type_of(value) == ty {
            return value;
        }
        self.append_one("stablehlo.reshape", &[value], ty, &[])
    }

    /// Appends an operation of one result.
    fn append_one(
        &mut self,
        name: &str,
        operands: &[MlirValue],
        ty: MlirType,
        properties: &[(&str, MlirAttr)],
    ) -> MlirValue {
        let properties = self.builder.intern_attributes(properties);
        let op = self.builder.append_operation(OperationDraft {
            properties,
            ..OperationDraft::new(name, operands, &[ty])
        });
        let mut results = self.builder.module().results(op);
        results.next().unwrap_or(operands[0])
    }
}
