//! Values of shards: one for all, or one for each.

use crate::mlir::{MlirOp, MlirValue as Mlir};
use crate::sharding::DeviceMesh;
use crate::translate::error::TranslateResult;
use crate::translate::translator::{StablehloTranslator, TranslatedValue, TypedTensor};
use spirula_tensor::ir::TensorValue;
use std::rc::Rc;

/// A value of a block that is translated for several shards.
#[derive(Clone, Debug)]
pub(in crate::translate) enum ShardedValue {
    /// It is equal on all shards.
    Shared(TranslatedValue),
    /// Each shard has its own.
    Each(Vec<TranslatedValue>),
}

impl ShardedValue {
    /// The value of a shard among `count`. Those of an outer computation are shared by the shards that it has been cut into.
    pub fn of_shard(&self, shard: usize, count: usize) -> Option<&TranslatedValue> {
        match self {
            ShardedValue::Shared(value) => Some(value),
            ShardedValue::Each(values) => values.get(shard * values.len() / count.max(1)),
        }
    }
}

/// The shards of a manual computation.
#[derive(Debug)]
pub(in crate::translate) struct ShardContext {
    pub mesh: DeviceMesh,
    /// The axes along which there are shards.
    pub manual: Vec<String>,
    /// The point of the mesh of each shard; 0 along other axes.
    pub points: Vec<Vec<u64>>,
}

/// Progress of a translation through shards.
#[derive(Debug, Default)]
pub(in crate::translate) struct ShardState {
    /// The innermost manual computation.
    pub context: Option<Rc<ShardContext>>,
    /// The shard for which an operation is being translated; none for an operation for all.
    pub current: Option<usize>,
    /// Whether each shard takes part in the loop or branch that is being translated; none if all do.
    pub active: Option<Rc<[TensorValue]>>,
}

impl ShardState {
    /// Number of shards.
    pub fn count(&self) -> usize {
        self.context
            .as_ref()
            .map_or(1, |context| context.points.len())
    }

    /// The number of the device of the shard that is being translated; 0 outside of manual computations.
    pub fn current_device(&self) -> u64 {
        match (&self.context, self.current) {
            (Some(context), Some(shard)) => context.mesh.device_at(&context.points[shard]),
            _ => 0,
        }
    }
}

impl StablehloTranslator<'_> {
    /// A value on all shards.
    pub(super) fn sharded_value(&self, op: MlirOp, value: Mlir) -> TranslateResult<ShardedValue> {
        let count = self.shards.count();
        let found = match self.stored_value(value) {
            Some(ShardedValue::Each(values)) if values.len() != count => {
                let stored = ShardedValue::Each(values.clone());
                let expanded =
                    (0..count).filter_map(|shard| stored.of_shard(shard, count).cloned());
                Some(ShardedValue::Each(expanded.collect()))
            }
            other => other.cloned(),
        };
        found.ok_or_else(|| self.invalid_error(op, "a value is used where it is not defined"))
    }

    /// All operands of an operation on all shards.
    pub(super) fn sharded_operands(&self, op: MlirOp) -> TranslateResult<Vec<ShardedValue>> {
        let operands = self.module.operands(op).iter();
        operands
            .map(|value| self.sharded_value(op, *value))
            .collect()
    }

    /// The value of each shard.
    pub(super) fn expand_value(&self, value: &ShardedValue) -> Vec<TranslatedValue> {
        match value {
            ShardedValue::Shared(value) => vec![value.clone(); self.shards.count()],
            ShardedValue::Each(values) => values.clone(),
        }
    }

    /// The tensor of each shard.
    pub(super) fn expand_tensors(
        &self,
        op: MlirOp,
        value: &ShardedValue,
    ) -> TranslateResult<Vec<TypedTensor>> {
        let values = self.expand_value(value).into_iter();
        values
            .map(|value| match value {
                TranslatedValue::Tensor(tensor) => Ok(tensor),
                _ => Err(self.invalid_error(op, "a tensor is expected as operand")),
            })
            .collect()
    }

    /// Binds a value to its translation on all shards, after a check of its type.
    pub(super) fn bind_sharded(
        &mut self,
        op: MlirOp,
        value: Mlir,
        item: ShardedValue,
    ) -> TranslateResult<()> {
        let ty = self.module.type_of(value);
        let items = match &item {
            ShardedValue::Shared(item) => std::slice::from_ref(item),
            ShardedValue::Each(items) => items,
        };
        for item in items {
            self.check_value_type(op, ty, item)?;
        }
        self.store_value(value, item);
        Ok(())
    }

    /// Binds the results of an operation on all shards.
    pub(super) fn bind_sharded_results(
        &mut self,
        op: MlirOp,
        items: Vec<ShardedValue>,
    ) -> TranslateResult<()> {
        let values = self.module.results(op);
        let count = values.len();
        self.ensure_holds(op, count == items.len(), "has another number of results")?;
        for (value, item) in values.zip(items) {
            self.bind_sharded(op, value, item)?;
        }
        Ok(())
    }

    /// Runs a function for each shard.
    pub(super) fn for_each_shard(
        &mut self,
        mut run: impl FnMut(&mut Self, usize) -> TranslateResult<()>,
    ) -> TranslateResult<()> {
        for shard in 0..self.shards.count() {
            self.shards.current = Some(shard);
            run(self, shard)?;
        }
        self.shards.current = None;
        Ok(())
    }
}

/// Tensors of shards as one value: a shared one if all are the same.
pub(super) fn join_tensors(tensors: Vec<TypedTensor>) -> ShardedValue {
    let mut pairs = tensors.windows(2);
    let is_same =
        pairs.all(|pair| pair[0].parts == pair[1].parts && pair[0].element == pair[1].element);
    let mut values = tensors.into_iter().map(TranslatedValue::Tensor);
    match (is_same, values.next()) {
        (true, Some(first)) => ShardedValue::Shared(first),
        (_, first) => ShardedValue::Each(first.into_iter().chain(values).collect()),
    }
}
