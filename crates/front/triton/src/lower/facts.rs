//! Facts about a function: where each value is defined and used, and which operations have effects.

use crate::ir::{TileBlock, TileFunction, TileOperation, TileRegion, ValueId};
use std::collections::HashMap;

/// Position of an operation: its block, and its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OperationPosition {
    pub block: usize,
    pub index: usize,
}

/// A use of a value by an operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValueUse<'m> {
    pub user: &'m TileOperation,
    pub position: OperationPosition,
    /// Number of the operand; none where the value is passed to a block.
    pub operand: Option<usize>,
}

/// Facts about a function.
#[derive(Debug, Default)]
pub(super) struct FunctionFacts<'m> {
    definitions: HashMap<ValueId, (&'m TileOperation, OperationPosition)>,
    uses: HashMap<ValueId, Vec<ValueUse<'m>>>,
    blocks: Vec<&'m TileBlock>,
    /// Position of the operation that a block is part of, by block.
    parents: Vec<Option<OperationPosition>>,
    positions: HashMap<*const TileOperation, OperationPosition>,
    parameters: &'m [ValueId],
}

impl<'m> FunctionFacts<'m> {
    /// The facts about a function.
    pub fn new(function: &'m TileFunction) -> Self {
        let mut facts = FunctionFacts::default();
        facts.add_region(&function.body, None);
        if let Some(block) = function.body.blocks.first() {
            facts.parameters = &block.arguments;
        }
        facts
    }

    fn add_region(&mut self, region: &'m TileRegion, parent: Option<OperationPosition>) {
        for block in &region.blocks {
            let number = self.blocks.len();
            self.blocks.push(block);
            self.parents.push(parent);
            for (index, operation) in block.operations.iter().enumerate() {
                let position = OperationPosition {
                    block: number,
                    index,
                };
                self.add_operation(operation, position);
            }
        }
    }

    fn add_operation(&mut self, operation: &'m TileOperation, position: OperationPosition) {
        self.positions.insert(operation, position);
        for result in &operation.results {
            self.definitions.insert(*result, (operation, position));
        }
        let operands = operation.operands.iter().enumerate();
        let operands = operands.map(|(number, value)| (*value, Some(number)));
        let passed = operation.successors.iter().flat_map(|next| &next.1);
        for (value, operand) in operands.chain(passed.map(|value| (*value, None))) {
            self.uses.entry(value).or_default().push(ValueUse {
                user: operation,
                position,
                operand,
            });
        }
        for region in &operation.regions {
            self.add_region(region, Some(position));
        }
    }

    /// The operation that defines a value, with its position; none for arguments of blocks.
    pub fn definition(&self, value: ValueId) -> Option<(&'m TileOperation, OperationPosition)> {
        self.definitions.get(&value).copied()
    }

    /// Number of the block that defines a value, as a result or as an argument.
    pub fn defining_block(&self, value: ValueId) -> Option<usize> {
        if let Some((_, position)) = self.definitions.get(&value) {
            return Some(position.block);
        }
        self.blocks
            .iter()
            .position(|block| block.arguments.contains(&value))
    }

    /// The uses of a value.
    pub fn uses(&self, value: ValueId) -> &[ValueUse<'m>] {
        self.uses.get(&value).map_or(&[], Vec::as_slice)
    }

    /// Position of an operation.
    pub fn operation_position(&self, operation: &TileOperation) -> Option<OperationPosition> {
        self.positions.get(&std::ptr::from_ref(operation)).copied()
    }

    /// Index in a block of the operation that is at a position or contains it; none where the block does not contain it.
    pub fn index_in_block(&self, position: OperationPosition, block: usize) -> Option<usize> {
        let mut position = position;
        while position.block != block {
            position = self.parents[position.block]?;
        }
        Some(position.index)
    }

    /// Whether a value is a parameter of the function.
    pub fn is_parameter(&self, value: ValueId) -> bool {
        self.parameters.contains(&value)
    }

    /// Whether an operation with effects stands between two of one block.
    pub fn has_effects_between(&self, block: usize, after: usize, before: usize) -> bool {
        let operations = self.blocks[block].operations.get(after + 1..before);
        operations.unwrap_or_default().iter().any(has_effects)
    }
}

/// Operations that change memory or depend on the order of execution.
const EFFECTS: &[&str] = &[
    "tt.store",
    "tt.atomic",
    "tt.call",
    "tt.print",
    "tt.assert",
    "tt.barrier",
    "ttg.barrier",
    "gpu.barrier",
    "tt.descriptor",
];

/// Whether an operation, or one in its regions, has effects.
pub(super) fn has_effects(operation: &TileOperation) -> bool {
    let name = operation.name.as_str();
    if EFFECTS.iter().any(|prefix| name.starts_with(prefix)) {
        return true;
    }
    let blocks = operation.regions.iter().flat_map(|region| &region.blocks);
    blocks.flat_map(|block| &block.operations).any(has_effects)
}
