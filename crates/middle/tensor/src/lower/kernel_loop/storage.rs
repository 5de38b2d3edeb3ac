//! The memory of the tensors of a loop within a kernel.
//!
//! Each tensor has a block that the host allocates before the launch. Tensors share a block where one is dead when the other
//! is written: a carried tensor and its next value, and a tensor that is updated in place.

use super::KernelLoopLowering;
use crate::ir::{
    IterationAxis, NodeData, StructuredOp, TensorBlock, TensorValue, YieldDestination,
};
use crate::lower::node_emitter::TensorStorage;
use spirula_kernel::ir::{MemoryElement, MemorySpace, StmtKind, VarId, VariableType};

impl KernelLoopLowering<'_, '_> {
    /// The memory of a tensor of rank above 0.
    pub(super) fn memory_of(&self, value: TensorValue) -> Option<VarId> {
        match self.host.sources.get(&value) {
            Some(TensorStorage::Memory(var)) => Some(*var),
            _ => None,
        }
    }

    /// Binds a tensor to a block of memory that belongs to the loop.
    pub(super) fn hold_memory(&mut self, value: TensorValue, memory: VarId) {
        self.host
            .sources
            .insert(value, TensorStorage::Memory(memory));
        self.holders.entry(memory).or_default().push(value);
    }

    /// Ends the use of tensors whose last use is an operation.
    pub(super) fn release_dead(&mut self, position: (TensorBlock, usize)) {
        let Some(dead) = self.host.last.get(&position) else {
            return;
        };
        for value in dead {
            if let Some(TensorStorage::Memory(memory)) = self.host.sources.get(value)
                && let Some(holders) = self.holders.get_mut(memory)
            {
                holders.retain(|holder| holder != value);
            }
        }
    }

    /// A new block for a tensor.
    pub(super) fn new_memory(&mut self, like: TensorValue) -> VarId {
        let ty = self.host.function.ty(like);
        let bytes = ty.element_count().unwrap_or(0) * ty.element.size();
        let var = self
            .host
            .b
            .new_var("m", VariableType::Memory(MemorySpace::Device));
        self.blocks.push((var, bytes));
        var
    }

    /// Chooses the memory of an operation's results. Returns the tensors that are updated in place, with the results that
    /// replace them.
    pub(super) fn place_results(
        &mut self,
        position: (TensorBlock, usize),
        op: &StructuredOp,
        results: &[TensorValue],
    ) -> Vec<(TensorValue, TensorValue)> {
        let mut updated = Vec::new();
        for (number, (result, written)) in results.iter().zip(&op.yields).enumerate() {
            if let YieldDestination::Scatter { base, .. } = written.destination {
                match self.memory_of(base) {
                    Some(memory) if self.can_update(position, op, number, base, memory) => {
                        updated.push((base, *result));
                        self.hold_memory(*result, memory);
                    }
                    _ => {
                        let memory = self.new_memory(*result);
                        self.copy_tensor(memory, base);
                        self.hold_memory(*result, memory);
                    }
                }
                continue;
            }
            let wanted = self.wanted.get(result).copied();
            let memory = match wanted {
                Some(memory) if self.can_overwrite(position, op, memory) => memory,
                _ => self.new_memory(*result),
            };
            self.hold_memory(*result, memory);
        }
        updated
    }

    /// Whether all tensors in a block of the loop are dead after an operation.
    pub(super) fn is_free_after(&self, position: (TensorBlock, usize), memory: VarId) -> bool {
        let dead = self.host.last.get(&position);
        let is_dead = |value: &TensorValue| dead.is_some_and(|dead| dead.contains(value));
        let holders = self.holders.get(&memory);
        holders.is_some_and(|holders| holders.iter().all(is_dead))
    }

    /// Whether a scatter may happen in the memory of its tensor.
    fn can_update(
        &self,
        position: (TensorBlock, usize),
        op: &StructuredOp,
        number: usize,
        base: TensorValue,
        memory: VarId,
    ) -> bool {
        let mut read = op.body.values_read();
        let is_other = |value| value != base && self.memory_of(value) == Some(memory);
        self.is_free_after(position, memory)
            && op.can_update_in_place(number)
            && !read.any(is_other)
            && !self.is_taken_by_base(op, number, memory)
    }

    /// Whether another scatter of the same operation changes the same memory.
    fn is_taken_by_base(&self, op: &StructuredOp, number: usize, memory: VarId) -> bool {
        let mut others = op.yields.iter().enumerate().filter(|(at, _)| *at != number);
        others.any(|(_, result)| match result.destination {
            YieldDestination::Scatter { base, .. } => self.memory_of(base) == Some(memory),
            _ => false,
        })
    }

    /// Whether the points of a map may write over a tensor that they read: each reads the element that it writes.
    fn can_overwrite(
        &self,
        position: (TensorBlock, usize),
        op: &StructuredOp,
        memory: VarId,
    ) -> bool {
        if !self.is_free_after(position, memory) {
            return false;
        }
        let needed = op.body.mark_reachable(&op.collect_roots());
        let nodes = op.body.node_ids().filter(|n| needed[n.index()]);
        let mut reads = nodes.filter_map(|node| match op.body.node(node) {
            NodeData::Element(value, indices) if self.memory_of(*value) == Some(memory) => {
                Some((*value, indices))
            }
            _ => None,
        });
        let is_map = op.is_map();
        reads.all(|(value, indices)| {
            let shape = self.host.function.ty(value).shape.iter().copied();
            let is_map = is_map && op.parallel_shape().eq(shape);
            let is_own = |(at, axis): (usize, &IterationAxis)| {
                let is_unit = axis.extent.as_static() == Some(1);
                is_unit || op.body.as_index(indices[at]) == Some(at as u32)
            };
            let same_rank = indices.len() == op.axes.len();
            is_map && same_rank && op.axes.iter().enumerate().all(is_own)
        })
    }

    /// Copies all elements of a tensor to other memory.
    pub(super) fn copy_tensor(&mut self, to: VarId, value: TensorValue) {
        match self.host.sources.get(&value).copied() {
            Some(TensorStorage::Memory(from)) => self.copy_memory(to, from, value),
            Some(TensorStorage::Scalar(from)) => self.write_scalar(to, value, from),
            None => {}
        }
    }

    /// Writes a variable to the only element of a tensor in memory.
    pub(super) fn write_scalar(&mut self, memory: VarId, like: TensorValue, from: VarId) {
        self.order_accesses(&[], &[memory]);
        self.run_by_first(|this| {
            let to = this.first_element(memory, like);
            let value = this.host.b.read_var(from);
            this.host.b.push_statement(StmtKind::Write { to, value });
        });
    }

    /// Copies the elements of a tensor from memory to memory.
    pub(super) fn copy_memory(&mut self, to: VarId, from: VarId, like: TensorValue) {
        let ty = self.host.function.ty(like);
        let count = ty.element_count().unwrap_or(0);
        self.copy_elements(to, from, ty.element, count);
    }

    /// The only element of a tensor of rank 0 in memory.
    pub(super) fn first_element(&mut self, memory: VarId, value: TensorValue) -> MemoryElement {
        let element = self.host.function.ty(value).element;
        self.host.first_element(memory, element)
    }
}
