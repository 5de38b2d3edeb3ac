//! Bindings: how each value of a function is available.

use super::KernelWriter;
use super::buffer::TileBuffer;
use super::facts::{FunctionFacts, ValueUse};
use super::load_fusion::is_load_fused;
use crate::emit::{is_scalar_operation, operation_cost};
use crate::ir::{TileFunction, TileOperation, TileType, ValueId};
use std::collections::HashMap;

/// Cost up to which an expression is evaluated again at each use.
const CHEAP: u32 = 8;
/// Cost of a load that is part of an expression.
const LOAD_COST: u32 = 30;
/// Deepest expression.
const MAX_EXPRESSION_DEPTH: u32 = 100;

/// How a value is available.
#[derive(Clone, Debug)]
pub(super) enum TileBinding<'m> {
    /// A scalar, or a tensor whose elements are all equal.
    Scalar(String),
    /// An array in workgroup memory.
    Buffer(TileBuffer),
    /// The result of an operation that is evaluated where an element is used.
    Expression {
        operation: &'m TileOperation,
        /// Which result.
        number: usize,
        /// Cost of an element.
        cost: u32,
        depth: u32,
    },
    /// A tensor that a loop carries and changes by the same number for all elements: the value before the loop, and the sum.
    Stepped { initial: ValueId, offset: String },
}

/// A function while it is lowered.
pub(super) struct TileLowering<'m, 'w> {
    pub function: &'m TileFunction,
    pub facts: FunctionFacts<'m>,
    pub kernel: &'w mut KernelWriter<'m>,
    bindings: HashMap<ValueId, TileBinding<'m>>,
    /// Elements that were evaluated, for each block of the emitted code around the current place.
    memo: Vec<HashMap<(ValueId, Vec<String>), String>>,
    /// Where a function that was called continues, and where it puts its results.
    pub return_to: Option<super::call::ReturnPoint>,
    /// Labels and arguments of the blocks around the current place.
    pub block_targets: Vec<Vec<super::control::BlockTarget>>,
}

impl<'m, 'w> TileLowering<'m, 'w> {
    /// A function without bindings.
    pub fn new(function: &'m TileFunction, kernel: &'w mut KernelWriter<'m>) -> Self {
        TileLowering {
            function,
            facts: FunctionFacts::new(function),
            kernel,
            bindings: HashMap::new(),
            memo: vec![HashMap::new()],
            return_to: None,
            block_targets: Vec::new(),
        }
    }

    /// Type of a value.
    pub fn type_of(&self, value: ValueId) -> &'m TileType {
        self.function.type_of(value)
    }

    /// Binds a value.
    pub fn bind(&mut self, value: ValueId, binding: TileBinding<'m>) {
        for level in &mut self.memo {
            level.retain(|key, _| key.0 != value);
        }
        self.bindings.insert(value, binding);
    }

    /// The binding of a value.
    pub fn binding(&self, value: ValueId) -> Option<&TileBinding<'m>> {
        self.bindings.get(&value)
    }

    /// An element that was evaluated before at a place that is executed before this one.
    pub fn recall(&self, value: ValueId, index: &[String]) -> Option<String> {
        let key = (value, index.to_vec());
        self.memo
            .iter()
            .rev()
            .find_map(|level| level.get(&key))
            .cloned()
    }

    /// Records an element that was evaluated.
    pub fn remember(&mut self, value: ValueId, index: &[String], element: &str) {
        if let Some(level) = self.memo.last_mut() {
            level.insert((value, index.to_vec()), element.to_owned());
        }
    }

    /// Begins code that is not always executed, or repeatedly.
    pub fn enter_scope(&mut self) {
        self.memo.push(HashMap::new());
    }

    /// Ends such code.
    pub fn leave_scope(&mut self) {
        self.memo.pop();
    }

    /// Cost of an element of a value.
    pub fn cost_of(&self, value: ValueId) -> (u32, u32) {
        match self.bindings.get(&value) {
            Some(TileBinding::Expression { cost, depth, .. }) => (*cost, *depth),
            Some(TileBinding::Buffer(_)) => (1, 0),
            Some(TileBinding::Stepped { initial, .. }) => {
                let (cost, depth) = self.cost_of(*initial);
                (cost + 1, depth + 1)
            }
            _ => (0, 0),
        }
    }

    /// The expression for a result of an operation, where it may be evaluated at its uses.
    pub fn make_expression(
        &self,
        operation: &'m TileOperation,
        number: usize,
    ) -> Option<TileBinding<'m>> {
        let name = operation.name.as_str();
        let is_load = name == "tt.load";
        if !is_load && !is_scalar_operation(name) && !is_shape_operation(name) {
            return None;
        }
        let mut cost = if is_load {
            LOAD_COST
        } else {
            element_cost(name)
        };
        let mut depth = 0;
        for operand in &operation.operands {
            let (more, below) = self.cost_of(*operand);
            cost = cost.saturating_add(more);
            depth = depth.max(below + 1);
        }
        let value = operation.results[number];
        if is_load && !is_load_fused(&self.facts, operation) {
            return None;
        }
        let is_kept = depth < MAX_EXPRESSION_DEPTH && (cost <= CHEAP || self.is_used_once(value));
        is_kept.then_some(TileBinding::Expression {
            operation,
            number,
            cost,
            depth,
        })
    }

    /// Whether each element of a value is used at most once.
    fn is_used_once(&self, value: ValueId) -> bool {
        let Some((_, position)) = self.facts.definition(value) else {
            return false;
        };
        match self.facts.uses(value) {
            [] => true,
            [only] => only.position.block == position.block && self.reads_once(only, value),
            _ => false,
        }
    }

    /// Whether an operation reads each element of an operand once.
    fn reads_once(&self, reader: &ValueUse<'m>, value: ValueId) -> bool {
        match reader.user.name.as_str() {
            "tt.broadcast" => {
                let result = reader.user.results.first();
                result
                    .is_some_and(|result| self.type_of(*result).shape == self.type_of(value).shape)
            }
            "tt.gather" | "tt.join" | "tt.cat" | "tt.splat" => false,
            "scf.for" => !super::stepped::is_stepped(&self.facts, reader),
            _ => true,
        }
    }
}

/// Operations that only move elements.
#[rustfmt::skip]
const SHAPE_OPERATIONS: &[(&str, u32)] = &[
    ("tt.broadcast", 0), ("tt.cat", 4), ("tt.expand_dims", 0), ("tt.gather", 2), ("tt.join", 2), ("tt.make_range", 1),
    ("tt.reshape", 3), ("tt.splat", 0), ("tt.split", 0), ("tt.trans", 0), ("tt.unsplat", 0),
];

/// Whether an operation only moves elements.
pub(super) fn is_shape_operation(name: &str) -> bool {
    SHAPE_OPERATIONS.iter().any(|row| row.0 == name)
}

/// The cost of an operation for each element.
fn element_cost(name: &str) -> u32 {
    let row = SHAPE_OPERATIONS.iter().find(|row| row.0 == name);
    row.map_or_else(|| operation_cost(name), |row| row.1)
}
