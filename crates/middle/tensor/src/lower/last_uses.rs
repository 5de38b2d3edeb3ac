//! Last uses of tensors, and the memory that they take.

use crate::ir::{OpKind, TensorBlock, TensorFunction, TensorValue};
use rustc_hash::FxHashMap;

/// Values by the operation of their own block that uses them last. Results of blocks are left out, and constants too,
/// because the program keeps them.
pub(super) fn find_last_uses(
    function: &TensorFunction,
) -> FxHashMap<(TensorBlock, usize), Vec<TensorValue>> {
    let mut last = TensorLastUses {
        function,
        defining_block: find_defining_blocks(function),
        at: vec![None; function.value_count()],
    };
    last.visit_block(function.body(), &mut Vec::new());
    let mut lists: FxHashMap<(TensorBlock, usize), Vec<TensorValue>> = FxHashMap::default();
    let mut kept = vec![false; function.value_count()];
    for block in function.block_ids() {
        for result in &function.block(block).results {
            kept[result.index()] = true;
        }
        for op in &function.block(block).ops {
            if matches!(op.kind, OpKind::Constant(_)) {
                op.results.iter().for_each(|v| kept[v.index()] = true);
            }
        }
    }
    for (index, at) in last.at.iter().enumerate() {
        if let (Some(at), false) = (at, kept[index]) {
            lists.entry(*at).or_default().push(TensorValue::new(index));
        }
    }
    lists
}

/// The block that defines each value; none for parameters, which the function does not free.
fn find_defining_blocks(function: &TensorFunction) -> Vec<Option<TensorBlock>> {
    let mut defining = vec![None; function.value_count()];
    for block in function.block_ids() {
        for op in &function.block(block).ops {
            for result in &op.results {
                defining[result.index()] = Some(block);
            }
        }
    }
    defining
}

struct TensorLastUses<'a> {
    function: &'a TensorFunction,
    defining_block: Vec<Option<TensorBlock>>,
    at: Vec<Option<(TensorBlock, usize)>>,
}

impl TensorLastUses<'_> {
    /// Visits operations in order; `around` has the operations that contain the block.
    fn visit_block(&mut self, block: TensorBlock, around: &mut Vec<(TensorBlock, usize)>) {
        let data = self.function.block(block);
        for (at, op) in data.ops.iter().enumerate() {
            around.push((block, at));
            for operand in op.kind.collect_operands() {
                self.note_use(operand, around);
            }
            for result in &op.results {
                self.at[result.index()] = Some((block, at));
            }
            for inner in op.kind.blocks() {
                self.visit_block(inner, around);
                for result in &self.function.block(inner).results {
                    self.note_use(*result, around);
                }
            }
            around.pop();
        }
    }

    /// Notes a use, at the operation of the block that defines the value.
    fn note_use(&mut self, value: TensorValue, around: &[(TensorBlock, usize)]) {
        let Some(home) = self.defining_block[value.index()] else {
            return;
        };
        if let Some(at) = around.iter().rev().find(|(block, _)| *block == home) {
            self.at[value.index()] = Some(*at);
        }
    }
}

/// Bytes of the tensors that a function computes, as far as their sizes are known. Arguments, constants and scalars of
/// the host are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TensorMemoryUse {
    /// Bytes of all of them.
    pub made: u64,
    /// Most bytes that are live at once; memory is reused after the last use.
    pub peak: u64,
}

/// The memory that the tensors of a function take; of loops, that of one iteration.
pub fn measure_memory_use(function: &TensorFunction) -> TensorMemoryUse {
    let mut count = TensorMemoryCounter {
        function,
        is_host: super::host_scalars::find_host_scalars(function),
        last: find_last_uses(function),
        roots: (0..function.value_count()).map(TensorValue::new).collect(),
        users: vec![0; function.value_count()],
        live: 0,
        memory: TensorMemoryUse::default(),
    };
    count.count_block(function.body());
    count.memory
}

struct TensorMemoryCounter<'a> {
    function: &'a TensorFunction,
    is_host: Vec<bool>,
    last: FxHashMap<(TensorBlock, usize), Vec<TensorValue>>,
    /// The tensor whose memory each value has.
    roots: Vec<TensorValue>,
    /// Number of values that have the memory of each.
    users: Vec<u32>,
    live: u64,
    memory: TensorMemoryUse,
}

impl TensorMemoryCounter<'_> {
    fn tensor_bytes(&self, value: TensorValue) -> u64 {
        let ty = self.function.ty(value);
        ty.element_count()
            .unwrap_or(0)
            .saturating_mul(ty.element.size())
    }

    fn count_block(&mut self, block: TensorBlock) {
        let function = self.function;
        for (at, op) in function.block(block).ops.iter().enumerate() {
            match &op.kind {
                OpKind::Structured(_) => {
                    for result in &op.results {
                        self.allocate_tensor(*result);
                    }
                }
                OpKind::Reshape(source) => {
                    let root = self.roots[source.index()];
                    self.roots[op.results[0].index()] = root;
                    self.users[root.index()] += 1;
                }
                _ => {}
            }
            for inner in op.kind.blocks() {
                self.count_block(inner);
            }
            for value in self.last.remove(&(block, at)).unwrap_or_default() {
                self.release_tensor(value);
            }
        }
    }

    fn allocate_tensor(&mut self, value: TensorValue) {
        if self.is_host[value.index()] {
            return;
        }
        let bytes = self.tensor_bytes(value);
        self.users[value.index()] = 1;
        self.live += bytes;
        self.memory.made += bytes;
        self.memory.peak = self.memory.peak.max(self.live);
    }

    fn release_tensor(&mut self, value: TensorValue) {
        let root = self.roots[value.index()];
        let users = &mut self.users[root.index()];
        let was_last = *users == 1;
        *users = users.saturating_sub(1);
        if was_last {
            self.live -= self.tensor_bytes(root).min(self.live);
        }
    }
}
