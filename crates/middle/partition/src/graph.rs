//! Graph of a program: its operations in order, with calls inlined.
//!
//! A function that is called twice stands in the graph twice, so that each call has layouts of its own.

use crate::layout::ShardLayout;
use crate::mesh::MeshAtom;
use crate::rule::ShardingRule;
use rustc_hash::FxHashMap;
use spirula_entity::define_ids;
use spirula_stablehlo::mlir::{MlirOp, MlirType, MlirValue};

define_ids! {
    /// A value of the graph.
    pub struct GraphValue: "v";
    /// A rule of the graph.
    pub struct GraphRule: "rule";
}

/// A value of the graph.
#[derive(Clone, Debug)]
pub struct GraphValueData {
    /// Type in the program.
    pub ty: MlirType,
    /// Sizes; none of a value that is no tensor.
    pub shape: Vec<u64>,
    /// Bytes of an element.
    pub element_bytes: u64,
    /// Whether devices may have parts of it.
    pub is_divisible: bool,
    /// The set of the atoms of manual computations around, which split nothing there.
    pub(crate) manual: u64,
}

/// Atoms that must split the dimensions of a value.
#[derive(Clone, Debug)]
pub struct LayoutPin {
    /// The value.
    pub value: GraphValue,
    /// The atoms of each dimension.
    pub dims: Vec<Vec<MeshAtom>>,
    /// Whether more atoms may split each dimension.
    pub open: Vec<bool>,
}

/// Tensors whose dimensions correspond by a rule.
#[derive(Clone, Debug)]
pub struct PropagationEdge {
    /// The rule.
    pub rule: GraphRule,
    /// The tensors in the order of the rule.
    pub tensors: Vec<GraphValue>,
}

/// Kind of a node.
#[derive(Clone, Debug)]
pub enum GraphNodeKind {
    /// An operation of tensors.
    Operation,
    /// Each result is an operand in the result's layout.
    Relayout,
    /// The result is the operand, whose elements move along a dimension, from the end on to the beginning.
    Rotation {
        /// The dimension.
        dimension: usize,
        /// Number of elements by which they move to the beginning.
        by: u64,
    },
    /// `while`: blocks of the condition and of the body.
    Loop,
    /// `if` and `case`: a block for each branch.
    Branch,
    /// A manual computation: the manual atoms of each dimension, which are the outermost ones, and those along which tensors are
    /// sums inside.
    Manual {
        /// Those of the operands.
        inputs: Vec<ShardLayout>,
        /// Those of the results.
        outputs: Vec<ShardLayout>,
    },
}

/// An operation of the graph.
#[derive(Clone, Debug)]
pub struct GraphNode {
    /// The operation of the program.
    pub op: MlirOp,
    /// Its kind.
    pub kind: GraphNodeKind,
    /// Its operands.
    pub operands: Vec<GraphValue>,
    /// Its results.
    pub results: Vec<GraphValue>,
    /// Values that regions which are copied take from outside.
    pub captures: Vec<(MlirValue, GraphValue)>,
    /// The rule, if the operation has one.
    pub rule: Option<GraphRule>,
    /// Blocks of control flow.
    pub blocks: Vec<GraphBlock>,
    /// Whether it stands in a manual computation.
    pub is_manual: bool,
}

/// A block of the graph.
#[derive(Clone, Debug, Default)]
pub struct GraphBlock {
    /// Its arguments.
    pub arguments: Vec<GraphValue>,
    /// Its operations.
    pub nodes: Vec<GraphNode>,
    /// Its results.
    pub returned: Vec<GraphValue>,
}

/// A program as a graph.
#[derive(Clone, Debug, Default)]
pub struct ProgramGraph {
    /// All values.
    pub values: Vec<GraphValueData>,
    /// All rules.
    pub rules: Vec<ShardingRule>,
    /// All tensors that correspond.
    pub edges: Vec<PropagationEdge>,
    /// Pairs of values that have one layout.
    pub ties: Vec<(GraphValue, GraphValue)>,
    /// Values whose layouts are given.
    pub pins: Vec<LayoutPin>,
    /// The atoms along which arguments and results of the program are sums.
    pub sums: FxHashMap<GraphValue, Vec<MeshAtom>>,
    /// The entry point.
    pub body: GraphBlock,
}

impl ProgramGraph {
    /// A value.
    pub fn value(&self, value: GraphValue) -> &GraphValueData {
        &self.values[value.index()]
    }

    /// The atoms along which an argument or result of the program is a sum.
    pub(crate) fn sums_of(&self, value: GraphValue) -> &[MeshAtom] {
        self.sums.get(&value).map_or(&[], Vec::as_slice)
    }

    /// A rule.
    pub fn rule(&self, rule: GraphRule) -> &ShardingRule {
        &self.rules[rule.index()]
    }

    /// Adds a rule.
    pub fn add_rule(&mut self, rule: ShardingRule) -> GraphRule {
        self.rules.push(rule);
        GraphRule::new(self.rules.len() - 1)
    }

    /// Adds an edge between two tensors of one shape.
    pub fn add_identity_edge(&mut self, from: GraphValue, to: GraphValue) {
        let shape = self.value(from).shape.clone();
        let is_same = self.value(to).shape == shape;
        if is_same && self.value(from).is_divisible && self.value(to).is_divisible {
            let rule = self.add_rule(ShardingRule::new_identity(&shape));
            let tensors = vec![from, to];
            self.edges.push(PropagationEdge { rule, tensors });
        }
    }
}
