//! The memory of results: allocated, or taken from a tensor that is dead.
//!
//! A scatter changes a copy of a tensor. Where this is its last use, and no other variable refers to its memory, the scatter
//! happens there. The program counts references when it runs, so arguments and constants are copied, and arguments that
//! the caller hands over are not. A loop that replaces elements of what it carries copies it once at most.

use super::HostProgramLowering;
use crate::ir::{OpKind, StructuredOp, TensorBlock, TensorOp, TensorValue, YieldDestination};
use crate::lower::kernel_loop;
use crate::lower::node_emitter::TensorStorage;
use spirula_kernel::ir::{StmtKind, VarId, VariableType};
use spirula_program::ScalarType;

impl HostProgramLowering<'_> {
    /// Allocates memory for the results of an operation, with copies of the tensors that are scattered into. Returns the
    /// tensors that the operation may update in place, with the results that replace them.
    pub(super) fn allocate_results(
        &mut self,
        position: (TensorBlock, usize),
        op: &StructuredOp,
        results: &[TensorValue],
    ) -> Vec<(TensorValue, TensorValue)> {
        let mut updated = Vec::new();
        for (number, (result, written)) in results.iter().zip(&op.yields).enumerate() {
            let YieldDestination::Scatter { base, .. } = written.destination else {
                self.allocate_value(*result);
                continue;
            };
            if self.ends_in_memory(position, base) && op.can_update_in_place(number) {
                self.take_memory(*result, base);
                updated.push((base, *result));
            } else {
                let to = self.allocate_value(*result);
                self.copy_elements(to, base);
            }
        }
        updated
    }

    /// Gives a result the memory of a tensor, or a copy where other variables refer to that.
    fn take_memory(&mut self, result: TensorValue, base: TensorValue) {
        let to = self.declare_value(result);
        let from = self.as_memory(base);
        let ty = VariableType::Scalar(ScalarType::Bool);
        let unique = self.b.declare_var("unique", ty, false);
        self.b.push_statement(StmtKind::IsUnique {
            to: unique,
            memory: from,
        });
        let condition = self.b.read_var(unique);
        self.b.begin_block();
        self.b.push_statement(StmtKind::Alias { to, from });
        let then = self.b.end_block();
        self.b.begin_block();
        let bytes = self.emit_byte_count(result);
        self.b.push_statement(StmtKind::Alloc { to, bytes });
        self.copy_elements(to, base);
        let otherwise = self.b.end_block();
        self.b.push_statement(StmtKind::If {
            condition,
            then,
            otherwise,
        });
    }

    /// Copies all elements of a tensor.
    fn copy_elements(&mut self, to: VarId, value: TensorValue) {
        let from = self.as_memory(value);
        let ty = self.function.ty(value).element;
        let count = self.emit_element_count(value);
        self.emit_copy(to, from, ty, count);
    }

    /// Binds the values that a loop carries to variables with their initial values. Values that only begin the loop lose
    /// their own references.
    pub(super) fn bind_loop_values(
        &mut self,
        position: (TensorBlock, usize),
        initial: &[TensorValue],
        results: &[TensorValue],
    ) {
        for (result, from) in results.iter().zip(initial) {
            let var = self.declare_value(*result);
            self.assign_value(*result, var, *from);
        }
        let inside = self.collect_values_inside(position);
        let Some(dead) = self.last.get_mut(&position) else {
            return;
        };
        let begin = |value: &mut TensorValue| initial.contains(value) && !inside.contains(value);
        let begun: Vec<TensorValue> = dead.extract_if(.., begin).collect();
        begun.into_iter().for_each(|value| self.free_value(value));
    }

    /// The values that the blocks of an operation use.
    pub(in crate::lower) fn collect_values_inside(
        &self,
        position: (TensorBlock, usize),
    ) -> Vec<TensorValue> {
        let (block, at) = position;
        let inner = self.function.block(block).ops[at].kind.blocks();
        inner
            .flat_map(|block| self.collect_values_used(block))
            .collect()
    }

    /// The values that a block and its inner blocks use.
    pub(in crate::lower) fn collect_values_used(&self, block: TensorBlock) -> Vec<TensorValue> {
        let data = self.function.block(block);
        let mut used = data.results.clone();
        for op in &data.ops {
            used.extend(op.kind.collect_operands());
            let inner = op.kind.blocks();
            used.extend(inner.flat_map(|block| self.collect_values_used(block)));
        }
        used
    }

    /// Whether a tensor is in memory, and dead after an operation.
    fn ends_in_memory(&self, position: (TensorBlock, usize), value: TensorValue) -> bool {
        let is_memory = matches!(self.sources.get(&value), Some(TensorStorage::Memory(_)));
        is_memory
            && self
                .last
                .get(&position)
                .is_some_and(|dead| dead.contains(&value))
    }

    /// Runs a loop within one kernel. The memory of its results holds the initial values first.
    pub(super) fn run_loop_in_kernel(
        &mut self,
        position: (TensorBlock, usize),
        initial: &[TensorValue],
        condition: TensorBlock,
        body: TensorBlock,
    ) {
        let function = self.function;
        let (block, at) = position;
        let op = &function.block(block).ops[at];
        let mut constants = Vec::new();
        kernel_loop::collect_constants(function, op.kind.blocks(), &mut constants);
        for made in constants {
            if let OpKind::Constant(constant) = &made.kind {
                self.lower_constant(constant, made.results[0]);
            }
        }
        let inside = self.collect_values_inside(position);
        for (result, from) in op.results.iter().zip(initial) {
            if function.ty(*result).rank() == 0 {
                self.allocate_value(*result);
                continue;
            }
            if self.ends_in_memory(position, *from) && !inside.contains(from) {
                self.take_memory(*result, *from);
            } else {
                let to = self.allocate_value(*result);
                self.copy_elements(to, *from);
            }
        }
        let lanes = self.kernel_loops[&position];
        kernel_loop::lower_kernel_loop(self, op, initial, condition, body, lanes);
    }

    /// Drops the references of the results that a block itself makes, after others have taken them.
    pub(super) fn free_block_results(&mut self, block: TensorBlock) {
        let function = self.function;
        let data = function.block(block);
        // Constants stay for later calls.
        let is_computed = |op: &&TensorOp| !matches!(op.kind, OpKind::Constant(_));
        let made = data
            .ops
            .iter()
            .filter(is_computed)
            .flat_map(|op| &op.results);
        let made: Vec<TensorValue> = made.filter(|v| data.results.contains(v)).copied().collect();
        made.into_iter().for_each(|value| self.free_value(value));
    }

    pub(super) fn free_value(&mut self, value: TensorValue) {
        if let Some(TensorStorage::Memory(var)) = self.sources.get(&value) {
            self.b.push_statement(StmtKind::Free(*var));
        }
    }

    /// Assigns the next values of all carried values at once.
    pub(super) fn assign_next_values(&mut self, body: TensorBlock, vars: &[VarId]) {
        let data = self.function.block(body);
        let mut next = Vec::new();
        for (parameter, result) in data.parameters.iter().zip(&data.results) {
            let ty = self.variable_type(*parameter);
            let var = self.b.declare_var("next", ty, false);
            self.assign_value(*parameter, var, *result);
            next.push((ty, var));
        }
        self.free_block_results(body);
        for ((ty, from), to) in next.into_iter().zip(vars) {
            match ty {
                VariableType::Scalar(_) => {
                    let value = self.b.read_var(from);
                    self.b.push_assignment(*to, value);
                }
                _ => {
                    self.b.push_statement(StmtKind::Alias { to: *to, from });
                    self.b.push_statement(StmtKind::Free(from));
                }
            }
        }
    }
}
