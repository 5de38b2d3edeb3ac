//! Use-definition information: which operation defines each value, and how often it is used.
//!
//! It stays valid while operations are replaced.

use crate::ir::{OpKind, TensorBlock, TensorFunction, TensorValue};

/// An operation: its block and its number in the block.
pub(super) type TensorOpPosition = (TensorBlock, usize);

/// Uses and definitions of the values of a function, while operations keep their positions.
pub(super) struct TensorUses {
    /// Number of operations that use each value, also as a size of their results. A result of a block counts as one.
    counts: Vec<u32>,
    /// The operation that defines each value, and the number of its result.
    makers: Vec<Option<(TensorOpPosition, usize)>>,
}

impl TensorUses {
    /// Counts the uses, in time linear in the size of the function.
    pub fn from_function(function: &TensorFunction) -> Self {
        let mut uses = TensorUses {
            counts: vec![0; function.value_count()],
            makers: vec![None; function.value_count()],
        };
        let demanded = function.demands.iter().flat_map(|demand| demand.sizes);
        let sizes: Vec<TensorValue> = demanded.filter_map(|dim| dim.as_value()).collect();
        uses.count_uses(&sizes);
        for block in function.block_ids() {
            let data = function.block(block);
            for (at, op) in data.ops.iter().enumerate() {
                uses.count_uses(&op.kind.collect_operands());
                let sizes = op
                    .results
                    .iter()
                    .flat_map(|v| function.ty(*v).dynamic_sizes());
                uses.count_uses(&sizes.collect::<Vec<TensorValue>>());
                for (number, result) in op.results.iter().enumerate() {
                    uses.makers[result.index()] = Some(((block, at), number));
                }
            }
            uses.count_uses(&data.results);
        }
        uses
    }

    fn count_uses(&mut self, values: &[TensorValue]) {
        for value in values {
            self.counts[value.index()] += 1;
        }
    }

    /// The operation that defines a value, and the number of its result.
    pub fn defining_op(&self, value: TensorValue) -> Option<(TensorOpPosition, usize)> {
        self.makers[value.index()]
    }

    /// The same with the kind of the operation.
    pub fn defining_kind<'f>(
        &self,
        function: &'f TensorFunction,
        value: TensorValue,
    ) -> Option<(&'f OpKind, usize)> {
        let ((block, at), number) = self.defining_op(value)?;
        Some((&function.block(block).ops[at].kind, number))
    }

    /// Number of operations and blocks that use a value.
    pub fn use_count(&self, value: TensorValue) -> u32 {
        self.counts[value.index()]
    }

    /// Replaces an operation. Operations that only it used before do not count as users of their operands any more.
    pub fn replace_kind(
        &mut self,
        function: &mut TensorFunction,
        position: TensorOpPosition,
        kind: OpKind,
    ) {
        let (block, at) = position;
        self.count_uses(&kind.collect_operands());
        let op = &mut function.block_mut(block).ops[at];
        let before = std::mem::replace(&mut op.kind, kind);
        let mut released = before.collect_operands();
        while let Some(value) = released.pop() {
            let count = &mut self.counts[value.index()];
            *count = count.saturating_sub(1);
            let Some(((block, at), _)) = self.makers[value.index()] else {
                continue;
            };
            let op = &function.block(block).ops[at];
            let is_plain = op.kind.blocks().next().is_none();
            if is_plain && op.results.iter().all(|v| self.use_count(*v) == 0) {
                released.extend(op.kind.collect_operands());
            }
        }
    }
}
