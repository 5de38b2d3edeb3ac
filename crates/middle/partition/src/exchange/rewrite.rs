//! Copy of a program: its collectives are rewritten, and the number of the device is an argument.

use super::ElementMovement;
use super::alignment::EntryMoves;
use super::operation::DeviceGroups;
use crate::PartitionResult;
use crate::partition::PartitionedModule;
use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceDiagnostic;
use spirula_stablehlo::MlirOpcode;
use spirula_stablehlo::mlir::{
    AttributeKind, IntegerSignedness, MlirModule, MlirOp, MlirType, MlirTypeKind, MlirValue,
    ModuleBuilder, OperationDraft,
};

/// A copy in progress.
pub(super) struct ExchangeRewriter<'s> {
    pub(super) source: &'s MlirModule,
    pub(super) builder: ModuleBuilder,
    /// The values that stand for those of the source.
    pub(super) known: FxHashMap<MlirValue, MlirValue>,
    /// The number of the device, in the entry point.
    pub(super) device: Option<MlirValue>,
    /// Number of devices.
    pub(super) devices: i64,
    moves: &'s EntryMoves,
    /// Number of calls so far.
    pub(super) sites: u32,
}

/// Rewrites a program.
pub(super) fn rewrite_program(
    partitioned: &PartitionedModule,
    moves: &EntryMoves,
) -> PartitionResult<MlirModule> {
    let (source, entry) = (&partitioned.module, partitioned.entry.as_str());
    let mut rewriter = ExchangeRewriter {
        source,
        builder: ModuleBuilder::new_like(source),
        known: FxHashMap::default(),
        device: None,
        devices: partitioned.mesh.device_count().cast_signed(),
        moves,
        sites: 0,
    };
    let root = source.root();
    rewriter.builder.set_module_attributes(
        source.properties(root).to_vec(),
        source.discardable_attributes(root).to_vec(),
    );
    for function in source.functions() {
        if source.symbol_name(*function) == Some(entry) {
            rewriter.rewrite_entry(*function)?;
        } else {
            rewriter.device = None;
            rewriter.rewrite_operation(*function)?;
        }
    }
    Ok(rewriter.builder.finish())
}

impl ExchangeRewriter<'_> {
    /// An error at an operation of the source.
    pub(super) fn error<T>(&self, op: MlirOp, message: &str) -> PartitionResult<T> {
        let name = self.source.op_name(op);
        let place = self.source.source_location(op);
        Err(SourceDiagnostic::error(
            place,
            format!("`{name}`: {message}"),
        ))
    }

    /// The value that stands for one of the source.
    pub(super) fn copied_value(&self, value: MlirValue) -> MlirValue {
        self.known.get(&value).copied().unwrap_or(value)
    }

    /// The entry point, which gets the number of the device.
    fn rewrite_entry(&mut self, function: MlirOp) -> PartitionResult<()> {
        let source = self.source;
        let [mut inputs, results] = read_function_type(source, function);
        let types = &mut self.builder.module_mut().types;
        let unsigned = types.intern(MlirTypeKind::Integer {
            width: 32,
            sign: IntegerSignedness::Unsigned,
        });
        inputs.insert(0, types.tensor_type(&[], unsigned));
        let ty = types.intern(MlirTypeKind::Function {
            inputs: inputs.clone().into(),
            results: results.into(),
        });
        let attributes = &mut self.builder.module_mut().attributes;
        let ty = attributes.intern(AttributeKind::Type(ty));
        // Attributes of arguments and results hold for the program of the caller, which has them.
        let properties = source.properties(function).iter().copied();
        let properties = properties
            .filter(|(name, _)| !matches!(source.symbol_text(*name), "arg_attrs" | "res_attrs"));
        let properties = properties.map(|(name, attr)| match source.symbol_text(name) {
            "function_type" => (name, ty),
            _ => (name, attr),
        });
        let copy = self.builder.append_operation(OperationDraft {
            properties: properties.collect(),
            attributes: source.discardable_attributes(function).to_vec(),
            regions: 1,
            place: source.source_location(function),
            loc: source.location(function),
            ..OperationDraft::new("func.func", &[], &[])
        });
        let arguments = self.builder.begin_block(copy, 0, &inputs);
        self.device = arguments.first().copied();
        for region in source.regions(function) {
            let [block] = source.blocks(region) else {
                return self.error(function, "a function of several blocks");
            };
            let moves = self.moves;
            let given = self.move_parts(function, &arguments[1..], &moves.parameters)?;
            self.known.extend(source.arguments(*block).zip(given));
            for op in source.ops(*block) {
                if source.is_return(*op) {
                    self.return_parts(*op)?;
                } else {
                    self.rewrite_operation(*op)?;
                }
            }
        }
        self.builder.end_block();
        Ok(())
    }

    /// Moves the parts that have to.
    fn move_parts(
        &mut self,
        op: MlirOp,
        values: &[MlirValue],
        moves: &[Option<Vec<i64>>],
    ) -> PartitionResult<Vec<MlirValue>> {
        let mut moved = values.to_vec();
        for (value, pairs) in moved.iter_mut().zip(moves) {
            if let Some(pairs) = pairs {
                let groups = DeviceGroups {
                    devices: pairs.clone(),
                    width: 2,
                };
                let sizes = self.builder.sizes_of(*value);
                let kind = ElementMovement::Permute;
                *value = self.call_exchange(op, kind, *value, &sizes, &groups)?;
            }
        }
        Ok(moved)
    }

    /// The end of the entry point.
    fn return_parts(&mut self, op: MlirOp) -> PartitionResult<()> {
        let values = self.source.operands(op).iter();
        let values: Vec<MlirValue> = values.map(|value| self.copied_value(*value)).collect();
        let moves = self.moves;
        let values = self.move_parts(op, &values, &moves.results)?;
        let draft = OperationDraft::new(self.source.op_name(op), &values, &[]);
        self.builder.append_operation(draft);
        Ok(())
    }

    /// A copy of an operation with everything inside of it.
    fn rewrite_operation(&mut self, op: MlirOp) -> PartitionResult<()> {
        use MlirOpcode as Op;
        match self.source.opcode(op) {
            Some(Op::PartitionId) => self.use_device(op),
            Some(
                opcode @ (Op::AllReduce
                | Op::AllGather
                | Op::AllToAll
                | Op::ReduceScatter
                | Op::CollectiveBroadcast
                | Op::CollectivePermute
                | Op::CrossReplicaSum),
            ) => self.rewrite_collective(op, opcode),
            _ => match self.find_only_device(op) {
                Some(device) => self.call_on_device(op, device),
                None => self.copy_operation(op),
            },
        }
    }

    fn use_device(&mut self, op: MlirOp) -> PartitionResult<()> {
        let Some(device) = self.device else {
            return self.error(op, "the number of the device in a function that is called");
        };
        self.bind_result(op, 0, device);
        Ok(())
    }

    /// Lets a value stand for a result of the source.
    pub(super) fn bind_result(&mut self, op: MlirOp, at: usize, value: MlirValue) {
        let results: Vec<MlirValue> = self.source.results(op).collect();
        if let Some(result) = results.get(at) {
            self.known.insert(*result, value);
        }
    }

    pub(super) fn copy_operation(&mut self, op: MlirOp) -> PartitionResult<()> {
        let source = self.source;
        let operands = source.operands(op).iter();
        let operands: Vec<MlirValue> = operands.map(|value| self.copied_value(*value)).collect();
        let results = source.results(op).map(|value| source.type_of(value));
        let results: Vec<MlirType> = results.collect();
        let copy = self.builder.append_operation(OperationDraft {
            properties: source.properties(op).to_vec(),
            attributes: source.discardable_attributes(op).to_vec(),
            regions: source.regions(op).len(),
            place: source.source_location(op),
            loc: source.location(op),
            ..OperationDraft::new(source.op_name(op), &operands, &results)
        });
        let made = self.builder.module().results(copy);
        self.known.extend(source.results(op).zip(made));
        for (at, region) in source.regions(op).enumerate() {
            let [block] = source.blocks(region) else {
                continue;
            };
            let types = source.arguments(*block).map(|value| source.type_of(value));
            let types: Vec<MlirType> = types.collect();
            let arguments = self.builder.begin_block(copy, at, &types);
            self.known.extend(source.arguments(*block).zip(arguments));
            for inner in source.ops(*block) {
                self.rewrite_operation(*inner)?;
            }
            self.builder.end_block();
        }
        Ok(())
    }
}

/// The types of the parameters and of the results of a function.
fn read_function_type(module: &MlirModule, function: MlirOp) -> [Vec<MlirType>; 2] {
    let attr = module.find_attribute(function, "function_type");
    if let Some(AttributeKind::Type(ty)) = attr.map(|attr| module.attributes.kind(attr))
        && let MlirTypeKind::Function { inputs, results } = module.types.kind(*ty)
    {
        return [inputs.to_vec(), results.to_vec()];
    }
    [Vec::new(), Vec::new()]
}
