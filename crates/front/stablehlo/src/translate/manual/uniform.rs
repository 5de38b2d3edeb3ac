//! Uniformity analysis: which values are equal on all shards.
//!
//! A result is equal on all shards if the operation takes only values that are, and nothing in it depends on the shard.

use super::collective;
use super::value::ShardedValue;
use crate::dialect::records::{
    CallAttributes, CompositeAttributes, CustomCallAttributes, ForeignCallAttributes,
};
use crate::dialect::{AttributeRecord, MlirOpcode};
use crate::mlir::{MlirBlock, MlirOp, MlirValue as Mlir};
use crate::translate::control::is_own_target;
use crate::translate::translator::StablehloTranslator;
use rustc_hash::{FxHashMap, FxHashSet};

/// Effects of an operation with everything inside of it and that it calls.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::translate) struct ShardEffects {
    /// Whether it contains a collective or a manual computation.
    pub communicates: bool,
    /// Whether it reads the number of the device.
    pub reads_device: bool,
    /// Whether it contains a loop.
    pub loops: bool,
    /// Whether it may call a foreign function.
    pub calls_out: bool,
}

impl ShardEffects {
    fn merge(&mut self, other: ShardEffects) {
        self.communicates |= other.communicates;
        self.reads_device |= other.reads_device;
        self.loops |= other.loops;
        self.calls_out |= other.calls_out;
    }
}

impl StablehloTranslator<'_> {
    /// The effects of an operation.
    pub(super) fn shard_effects(&mut self, op: MlirOp) -> ShardEffects {
        if let Some(known) = self.effects.get(&op) {
            return *known;
        }
        // Recursive functions are refused elsewhere.
        self.effects.insert(op, ShardEffects::default());
        let module = self.module;
        let opcode = module.opcode(op);
        let mut effects = ShardEffects {
            communicates: opcode.is_some_and(|opcode| {
                collective::is_collective(opcode) || opcode == MlirOpcode::SdyManualComputation
            }),
            reads_device: matches!(
                opcode,
                Some(MlirOpcode::PartitionId | MlirOpcode::ReplicaId)
            ) || self.has_foreign_effect(op),
            calls_out: opcode == Some(MlirOpcode::CustomCall),
            loops: opcode == Some(MlirOpcode::While),
        };
        for block in module.regions(op).flat_map(|region| module.blocks(region)) {
            for inner in module.ops(*block) {
                effects.merge(self.shard_effects(*inner));
            }
        }
        let callee = match opcode {
            Some(MlirOpcode::FuncCall) => CallAttributes::read(module, op)
                .ok()
                .map(|call| call.callee),
            Some(MlirOpcode::Composite) => {
                let composite = CompositeAttributes::read(module, op).ok();
                composite.map(|composite| composite.decomposition)
            }
            _ => None,
        };
        if let Some(function) = callee.and_then(|name| module.find_function(name.0)) {
            effects.merge(self.shard_effects(function));
        }
        self.effects.insert(op, effects);
        effects
    }

    /// Whether an operation calls a foreign function for its effect, which each shard has.
    fn has_foreign_effect(&self, op: MlirOp) -> bool {
        let module = self.module;
        if module.opcode(op) != Some(MlirOpcode::CustomCall) {
            return false;
        }
        let has_effect = ForeignCallAttributes::read(module, op)
            .is_ok_and(|attributes| attributes.has_side_effect == Some(true));
        let target = CustomCallAttributes::read(module, op);
        has_effect && target.is_ok_and(|call| !is_own_target(call.call_target_name.0))
    }

    /// Whether an operation computes the same on all shards.
    pub(super) fn is_uniform_operation(&mut self, op: MlirOp) -> bool {
        self.is_uniform_among(op, &FxHashMap::default())
    }

    /// The same, where some values are known to be equal on all shards or not.
    fn is_uniform_among(&mut self, op: MlirOp, known: &FxHashMap<Mlir, bool>) -> bool {
        let effects = self.shard_effects(op);
        // Shards that do not take part make no calls.
        let is_partial = effects.calls_out && self.shards.active.is_some();
        if effects.communicates || effects.reads_device || is_partial {
            return false;
        }
        let is_shared = |value: &Mlir| match known.get(value) {
            Some(is_shared) => *is_shared,
            None => !matches!(self.stored_value(*value), Some(ShardedValue::Each(_))),
        };
        self.module.operands(op).iter().all(is_shared)
            && self.captured_values(op).iter().all(is_shared)
    }

    /// The values that the regions of an operation take from outside.
    fn captured_values(&self, op: MlirOp) -> Vec<Mlir> {
        let module = self.module;
        let (mut used, mut defined) = (Vec::new(), FxHashSet::default());
        let mut open = vec![op];
        while let Some(op) = open.pop() {
            for block in module.regions(op).flat_map(|region| module.blocks(region)) {
                defined.extend(module.arguments(*block));
                for inner in module.ops(*block) {
                    used.extend_from_slice(module.operands(*inner));
                    defined.extend(module.results(*inner));
                    open.push(*inner);
                }
            }
        }
        used.retain(|value| !defined.contains(value));
        used
    }

    /// Which results of a block are equal on all shards, by its arguments.
    pub(super) fn find_uniform_results(
        &mut self,
        block: MlirBlock,
        arguments: &[bool],
    ) -> Vec<bool> {
        let module = self.module;
        let mut known: FxHashMap<Mlir, bool> = module
            .arguments(block)
            .zip(arguments.iter().copied())
            .collect();
        for op in module.ops(block) {
            if module.is_return(*op) {
                let results = module.operands(*op).iter();
                let is_shared = |value: &Mlir| match known.get(value) {
                    Some(is_shared) => *is_shared,
                    None => !matches!(self.stored_value(*value), Some(ShardedValue::Each(_))),
                };
                return results.map(is_shared).collect();
            }
            let is_uniform = self.is_uniform_among(*op, &known);
            known.extend(module.results(*op).map(|result| (result, is_uniform)));
        }
        Vec::new()
    }
}
