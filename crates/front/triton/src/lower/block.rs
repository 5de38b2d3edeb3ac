//! Blocks: the operations of a block in order.

use super::binding::{TileBinding, TileLowering, is_shape_operation};
use super::fault;
use crate::TritonResult;
use crate::emit::is_scalar_operation;
use crate::ir::{TileBlock, TileOperation, ValueId};

/// Operations that end a block that is part of an operation.
const TERMINATORS: &[&str] = &[
    "scf.yield",
    "scf.condition",
    "tt.reduce.return",
    "tt.scan.return",
];

/// Operations that tell something about values, and have no effect.
const HINTS: &[&str] = &[
    "llvm.intr.assume",
    "tt.grid_dependency_launch_dependents",
    "tt.grid_dependency_wait",
];

/// Function that lowers an operation.
type LowerFunction =
    for<'m, 'w, 'l> fn(&'l mut TileLowering<'m, 'w>, &'m TileOperation) -> TritonResult<()>;

/// Operations that are not expressions, with the functions that lower them.
#[rustfmt::skip]
static OPERATIONS: &[(&str, LowerFunction)] = &[
    ("cf.br", |l, o| l.lower_branch(o)),
    ("cf.cond_br", |l, o| l.lower_branch(o)),
    ("gpu.barrier", |l, o| l.lower_barrier(o)),
    ("scf.for", |l, o| l.lower_for(o)),
    ("scf.if", |l, o| l.lower_if(o)),
    ("scf.while", |l, o| l.lower_while(o)),
    ("tt.assert", |l, o| l.lower_assert(o)),
    ("tt.atomic_cas", |l, o| l.lower_atomic(o)),
    ("tt.atomic_load", |l, o| l.lower_atomic(o)),
    ("tt.atomic_rmw", |l, o| l.lower_atomic(o)),
    ("tt.atomic_store", |l, o| l.lower_atomic(o)),
    ("tt.call", |l, o| l.lower_call(o)),
    ("tt.dot", |l, o| l.lower_dot(o)),
    ("tt.dot_scaled", |l, o| l.lower_scaled_dot(o)),
    ("tt.get_num_programs", |l, o| l.lower_program_query(o)),
    ("tt.get_program_id", |l, o| l.lower_program_query(o)),
    ("tt.histogram", |l, o| l.lower_histogram(o)),
    ("tt.map_elementwise", |l, o| l.lower_map(o)),
    ("tt.map_elementwise.return", |l, o| l.lower_return(o)),
    ("tt.print", |l, o| l.lower_print(o)),
    ("tt.reduce", |l, o| l.lower_reduce(o)),
    ("tt.return", |l, o| l.lower_return(o)),
    ("tt.scan", |l, o| l.lower_scan(o)),
    ("tt.store", |l, o| l.lower_store(o)),
    ("ttg.barrier", |l, o| l.lower_barrier(o)),
];

/// Operations with the least numbers of their operands and results.
#[rustfmt::skip]
static LEAST_COUNTS: &[(&str, usize, usize)] = &[
    ("tt.atomic_cas", 3, 1),
    ("tt.atomic_load", 1, 1),
    ("tt.atomic_rmw", 2, 1),
    ("tt.atomic_store", 2, 0),
    ("tt.load", 1, 1),
    ("tt.reduce", 1, 1),
    ("tt.scan", 1, 1),
    ("tt.store", 2, 0),
];

/// Whether an operation computes the elements of its results one by one.
fn is_expression(name: &str) -> bool {
    is_scalar_operation(name) || is_shape_operation(name) || name == "tt.load"
}

/// Refuses an operation that lacks operands or results.
fn require_counts(operation: &TileOperation) -> TritonResult<()> {
    let name = operation.name.as_str();
    let row = LEAST_COUNTS.iter().find(|row| row.0 == name);
    let results = usize::from(is_expression(name));
    let (operands, results) = row.map_or((0, results), |row| (row.1, row.2));
    if operation.operands.len() >= operands && operation.results.len() >= results {
        return Ok(());
    }
    let message = format!("{name} lacks operands or results");
    Err(fault(&operation.place, message))
}

impl<'m> TileLowering<'m, '_> {
    /// Lowers the operations of a block.
    pub fn lower_block(&mut self, block: &'m TileBlock) -> TritonResult<()> {
        self.lower_operations(&block.operations)
    }

    /// Lowers operations in order. Buffers are released when they are not used any more.
    fn lower_operations(&mut self, operations: &'m [TileOperation]) -> TritonResult<()> {
        let mut owned = Vec::new();
        for operation in operations {
            let before = self.kernel.count_taken();
            self.lower_operation(operation)?;
            self.release_buffers(&mut owned, operation, before);
        }
        Ok(())
    }

    /// Lowers a block that is part of an operation, and returns the operands of its last operation.
    pub fn lower_inner_block(&mut self, block: &'m TileBlock) -> TritonResult<&'m [ValueId]> {
        let Some((last, rest)) = block.operations.split_last() else {
            return Ok(&[]);
        };
        self.lower_operations(rest)?;
        if TERMINATORS.contains(&last.name.as_str()) {
            return Ok(&last.operands);
        }
        self.lower_operation(last)?;
        Ok(&[])
    }

    fn lower_operation(&mut self, operation: &'m TileOperation) -> TritonResult<()> {
        let name = operation.name.as_str();
        if HINTS.contains(&name) {
            return Ok(());
        }
        require_counts(operation)?;
        if is_expression(name) {
            return self.lower_expression(operation);
        }
        match OPERATIONS.binary_search_by(|row| row.0.cmp(name)) {
            Ok(position) => OPERATIONS[position].1(self, operation),
            Err(_) => Err(fault(&operation.place, format!("{name} is not supported"))),
        }
    }

    /// Lowers an operation that computes each element of its results by itself.
    fn lower_expression(&mut self, operation: &'m TileOperation) -> TritonResult<()> {
        for (number, result) in operation.results.iter().enumerate() {
            let ty = self.type_of(*result);
            if ty.shape.is_none() {
                let value = self.evaluate_operation(operation, number, &[])?;
                self.bind(*result, TileBinding::Scalar(value));
                continue;
            }
            if operation.name == "tt.gather"
                && let Some(source) = operation.operands.first()
                && !matches!(self.binding(*source), Some(TileBinding::Buffer(_)))
            {
                let buffer = self.require_buffer(*source)?;
                self.bind(*source, TileBinding::Buffer(buffer));
            }
            if let Some(expression) = self.make_expression(operation, number) {
                self.bind(*result, expression);
                continue;
            }
            let stored = TileBinding::Expression {
                operation,
                number,
                cost: 0,
                depth: 0,
            };
            self.bind(*result, stored);
            let buffer = self.make_buffer(ty);
            self.fill_buffer(&buffer, *result)?;
            self.bind(*result, TileBinding::Buffer(buffer));
        }
        Ok(())
    }

    /// Lowers a barrier.
    fn lower_barrier(&mut self, _: &'m TileOperation) -> TritonResult<()> {
        self.kernel.emit_barrier();
        Ok(())
    }

    /// Lowers the number of the program, or of programs, in a dimension of the grid.
    fn lower_program_query(&mut self, operation: &'m TileOperation) -> TritonResult<()> {
        let axis = match operation.word_at(0) {
            Some("x") => "0",
            Some("y") => "1",
            Some("z") => "2",
            _ => return Err(fault(&operation.place, "unknown axis of the grid")),
        };
        let function = if operation.name == "tt.get_program_id" {
            "_Z12get_group_idj"
        } else {
            "_Z14get_num_groupsj"
        };
        let text = &mut self.kernel.text;
        let number = text.call("i64", function, &[("i32", axis)]);
        let number = text.compute(format!("trunc i64 {number} to i32"));
        if let Some(result) = operation.results.first() {
            self.bind(*result, TileBinding::Scalar(number));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATIONS;

    #[test]
    fn operations_are_sorted() {
        assert!(OPERATIONS.is_sorted_by_key(|row| row.0));
    }
}
