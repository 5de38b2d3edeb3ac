//! The memory that the tensors of a function take.

use super::kernel_loop::KernelLoops;
use crate::ir::{LastUses, OpKind, TensorBlock, TensorFunction, TensorValue, find_last_uses};

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
        is_host: super::host_scalars::find_host_scalars(function, &KernelLoops::default()),
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
    last: LastUses,
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
