//! Reuse of workgroup memory: a buffer whose tensor is not used any more serves for another tensor of its size.
//!
//! After each operation of a block, the buffers that it made are those of its results or temporary ones. A buffer of a result is
//! kept while the block has an operation that uses the result, or an expression that reads it.

use super::KernelWriter;
use super::binding::{TileBinding, TileLowering};
use super::buffer::TileBuffer;
use crate::emit::storage_type;
use crate::ir::{TileOperation, ValueId};

/// Arrays of a kernel.
#[derive(Debug, Default)]
pub(super) struct BufferPool {
    /// Arrays that hold nothing: number of elements, type of the elements, name.
    free: Vec<(u64, String, String)>,
    /// Buffers in use, in the order in which they were taken.
    taken: Vec<TileBuffer>,
}

/// A buffer of a block with the results that it holds.
pub(super) struct OwnedBuffer {
    buffer: TileBuffer,
    values: Vec<ValueId>,
}

impl KernelWriter<'_> {
    /// Takes an array for a number of elements.
    pub fn take_array(&mut self, count: u64, storage: &str, bits: u32) -> String {
        let free = &mut self.pool.free;
        let found = free
            .iter()
            .position(|row| row.0 == count && row.1 == storage);
        if let Some(position) = found {
            return free.swap_remove(position).2;
        }
        self.workgroup_bytes += count * u64::from(bits.max(8) / 8);
        self.text.make_array(count, storage)
    }

    /// Records that a buffer is in use.
    pub(super) fn record_taken(&mut self, buffer: &TileBuffer) {
        self.pool.taken.push(buffer.clone());
    }

    /// Number of buffers in use.
    pub fn count_taken(&self) -> usize {
        self.pool.taken.len()
    }

    /// Makes the array of a buffer available.
    fn release(&mut self, buffer: &TileBuffer) {
        self.pool.taken.retain(|taken| taken != buffer);
        let count = buffer.shape.iter().product();
        let storage = storage_type(&buffer.element);
        self.pool.free.push((count, storage, buffer.name.clone()));
    }
}

impl<'m> TileLowering<'m, '_> {
    /// Releases buffers after an operation of a block: its temporary ones, and those that the block does not use any more.
    /// `before` is the number of buffers that were in use before the operation.
    pub fn release_buffers(
        &mut self,
        owned: &mut Vec<OwnedBuffer>,
        operation: &'m TileOperation,
        before: usize,
    ) {
        for result in &operation.results {
            if let Some(TileBinding::Buffer(buffer)) = self.binding(*result)
                && let Some(owner) = owned.iter_mut().find(|owner| owner.buffer == *buffer)
            {
                owner.values.push(*result);
            }
        }
        let made: Vec<TileBuffer> = self.kernel.pool.taken[before..].to_vec();
        for buffer in made {
            let results = operation.results.iter().copied();
            let holds = |value: &ValueId| match self.binding(*value) {
                Some(TileBinding::Buffer(bound)) => *bound == buffer,
                _ => false,
            };
            let values: Vec<ValueId> = results.filter(holds).collect();
            if values.is_empty() && !self.is_bound_operand(operation, &buffer) {
                self.kernel.release(&buffer);
            } else {
                owned.push(OwnedBuffer { buffer, values });
            }
        }
        let Some(place) = self.facts.operation_position(operation) else {
            return;
        };
        let is_dead = |owner: &OwnedBuffer| {
            let mut values = owner.values.iter();
            !owner.values.is_empty() && !values.any(|value| self.is_alive(*value, place))
        };
        let (dead, kept) = std::mem::take(owned).into_iter().partition(is_dead);
        *owned = kept;
        let dead: Vec<OwnedBuffer> = dead;
        for owner in dead {
            self.kernel.release(&owner.buffer);
        }
    }

    /// Whether an operand of an operation was bound to a buffer that the operation made.
    fn is_bound_operand(&self, operation: &TileOperation, buffer: &TileBuffer) -> bool {
        operation
            .operands
            .iter()
            .any(|operand| match self.binding(*operand) {
                Some(TileBinding::Buffer(bound)) => bound == buffer,
                _ => false,
            })
    }

    /// Whether a value is used after an operation of its block, directly or by an expression.
    fn is_alive(&self, value: ValueId, after: super::facts::OperationPosition) -> bool {
        self.facts.uses(value).iter().any(|each| {
            let Some(index) = self.facts.index_in_block(each.position, after.block) else {
                return true;
            };
            if index > after.index {
                return true;
            }
            each.user.results.iter().any(|result| {
                let is_deferred = matches!(
                    self.binding(*result),
                    Some(TileBinding::Expression { .. } | TileBinding::Stepped { .. })
                );
                is_deferred && self.is_alive(*result, after)
            })
        })
    }
}
