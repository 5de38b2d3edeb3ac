//! Structured operations.

use super::{DimExtent, NodeGraph, ScalarNode, TensorShape, TensorValue};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};

/// Work over an index space: maps, reductions, contractions, gathers, scatters and histograms.
///
/// At every point of the space the body's nodes can be evaluated; they read elements of tensors at
/// positions that are again nodes, the operands' index maps. What the reductions give is known once
/// their axes have run; nodes over [`NodeData::Reduced`](super::NodeData::Reduced) are evaluated
/// once for each point of the parallel axes.
#[derive(Clone, Debug, Default)]
pub struct StructuredOp {
    /// The dimensions of the space; all parallel axes come before all reduced ones.
    pub axes: Vec<IterationAxis>,
    /// What is computed at a point.
    pub body: NodeGraph,
    /// Folds over the reduced axes. Values of one may be made of what those before it gave.
    pub reductions: Vec<TensorReduction>,
    /// The results, in the order of the operation's values.
    pub yields: Vec<StructuredYield>,
}

/// A dimension of an index space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IterationAxis {
    /// Its size; indices count from 0.
    pub extent: DimExtent,
    /// How its points depend on each other.
    pub kind: AxisKind,
}

/// How the points of an axis depend on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisKind {
    /// Not at all.
    Parallel,
    /// They are folded, in any order.
    Reduction,
}

/// A fold over all reduced axes. Accumulators that are combined together form one reduction.
#[derive(Clone, Debug)]
pub struct TensorReduction {
    /// Where each accumulator begins, without any index of a reduced axis; a neutral element of the
    /// combiner or a value that is to be counted once.
    pub initial: Vec<ScalarNode>,
    /// What is folded into each.
    pub values: Vec<ScalarNode>,
    /// How.
    pub combiner: ScalarCombiner,
}

/// An associative and commutative function of accumulators and as many values.
#[derive(Clone, Debug)]
pub struct ScalarCombiner {
    /// Nodes over [`NodeData::Argument`](super::NodeData::Argument)s: accumulators first, then
    /// values. Reads nothing.
    pub body: NodeGraph,
    /// The accumulators afterwards.
    pub results: Vec<ScalarNode>,
}

impl ScalarCombiner {
    /// One accumulator, by an operator.
    pub fn from_op(op: ScalarOp, ty: ScalarType) -> Self {
        let mut body = NodeGraph::default();
        let accumulator = body.intern_argument(0, ty);
        let value = body.intern_argument(1, ty);
        let result = body.apply_op(op, &[accumulator, value]);
        ScalarCombiner {
            body,
            results: vec![result],
        }
    }

    /// The operator, where the function is nothing else.
    pub fn as_operator(&self) -> Option<ScalarOp> {
        let [result] = self.results[..] else {
            return None;
        };
        let (operator, operands) = self.body.as_apply(result)?;
        let arguments = operands.iter().map(|n| self.body.as_argument(*n));
        arguments.eq([Some(0), Some(1)]).then_some(operator.op)
    }

    /// The operator, where one of the arguments is given that is no number, and the operator's result
    /// otherwise.
    pub fn of_numbers(&self) -> Option<ScalarOp> {
        let ([a, b], rest) = self.unless_nan(*self.results.first()?)?;
        let ([other, _], rest) = self.unless_nan(rest)?;
        let (operator, operands) = self.body.as_apply(rest)?;
        let is_both = a != b && other == b && operands == [a, b];
        (self.results.len() == 1 && is_both).then_some(operator.op)
    }

    /// An argument that a node gives if it is no number, the other one, and what else it gives.
    fn unless_nan(&self, node: ScalarNode) -> Option<([ScalarNode; 2], ScalarNode)> {
        let (select, &[condition, given, rest]) = self.body.as_apply(node)? else {
            return None;
        };
        let (test, tested) = self.body.as_apply(condition)?;
        let asks = (select.op, test.op) == (ScalarOp::Cond, ScalarOp::IsNan) && *tested == [given];
        let number = 1u32.checked_sub(self.body.as_argument(given)?)?;
        let mut nodes = self.body.node_ids();
        let other = nodes.find(|n| self.body.as_argument(*n) == Some(number))?;
        asks.then_some(([given, other], rest))
    }

    /// The value that does not change others, where the function is an operator that has one.
    pub fn neutral_element(&self, ty: ScalarType) -> Option<ScalarLiteral> {
        let format = ty.format();
        let sign = 1u64 << (ty.width() - 1);
        let bits = match self.as_operator().or_else(|| self.of_numbers())? {
            ScalarOp::FAdd => format?.sign_bit(),
            ScalarOp::FMul => ScalarOperator::from_conversion(ScalarOp::SToF, ScalarType::I32, ty)
                .eval_operands(&[1]),
            ScalarOp::FMax => format?.infinity() | format?.sign_bit(),
            ScalarOp::FMin => format?.infinity(),
            ScalarOp::Add | ScalarOp::Or | ScalarOp::Xor | ScalarOp::UMax | ScalarOp::LogOr => 0,
            ScalarOp::Mul | ScalarOp::LogAnd => 1,
            ScalarOp::And | ScalarOp::UMin => u64::MAX,
            ScalarOp::SMax => sign,
            ScalarOp::SMin => sign - 1,
            _ => return None,
        };
        Some(ScalarLiteral::new(ty, bits))
    }
}

/// A result of a structured operation.
#[derive(Clone, Debug)]
pub struct StructuredYield {
    /// What is written at each point of the parallel axes.
    pub value: ScalarNode,
    /// Where.
    pub destination: YieldDestination,
}

/// Where a result is written.
#[derive(Clone, Debug)]
pub enum YieldDestination {
    /// At the point itself: the shape of the result is that of the parallel axes.
    Point,
    /// At a position, once for each point of all axes, after the folds; no two have the same.
    Each(Vec<ScalarNode>),
    /// At a position, at each point of all axes, what is folded up to there: the folded axes are run
    /// in order. A position that is outside is not written.
    Prefix {
        /// The position; no two points have the same.
        indices: Vec<ScalarNode>,
        /// Sizes of the result.
        shape: TensorShape,
    },
    /// Into a copy of a tensor, at a computed position; points whose position is outside write
    /// nothing.
    Scatter {
        /// The tensor that is copied.
        base: TensorValue,
        /// The position.
        indices: Vec<ScalarNode>,
        /// How the element that is there and the value are combined; without one the value
        /// replaces it, and which of several values for one position stays is open.
        combiner: Option<ScalarCombiner>,
        /// Whether no two points have the same position.
        distinct: bool,
    },
}

impl YieldDestination {
    /// The position that it says.
    pub fn indices(&self) -> &[ScalarNode] {
        match self {
            YieldDestination::Point => &[],
            YieldDestination::Each(indices)
            | YieldDestination::Prefix { indices, .. }
            | YieldDestination::Scatter { indices, .. } => indices,
        }
    }
}

impl StructuredOp {
    /// A space of parallel axes with nothing computed yet.
    pub fn with_parallel_axes(shape: &[DimExtent]) -> Self {
        let mut op = StructuredOp::default();
        for extent in shape {
            op.add_axis(*extent, AxisKind::Parallel);
        }
        op
    }

    /// Adds an axis and gives its index.
    pub fn add_axis(&mut self, extent: DimExtent, kind: AxisKind) -> ScalarNode {
        let axis = self.axes.len() as u32;
        self.axes.push(IterationAxis { extent, kind });
        self.body.intern_index(axis, extent)
    }

    /// The indices of the axes so far.
    pub fn axis_indices(&mut self) -> Vec<ScalarNode> {
        let axes = self.axes.iter().enumerate();
        axes.map(|(at, axis)| self.body.intern_index(at as u32, axis.extent))
            .collect()
    }

    /// Adds axes for every dimension of a shape, those that are folded after the others, and gives
    /// their indices in the order of the shape.
    pub fn reduced_position(&mut self, shape: &[DimExtent], folded: &[usize]) -> Vec<ScalarNode> {
        let mut position = vec![None; shape.len()];
        for kind in [AxisKind::Parallel, AxisKind::Reduction] {
            for (at, extent) in shape.iter().enumerate() {
                if folded.contains(&at) == (kind == AxisKind::Reduction) {
                    position[at] = Some(self.add_axis(*extent, kind));
                }
            }
        }
        position.into_iter().flatten().collect()
    }

    /// Sizes of the parallel axes.
    pub fn parallel_shape(&self) -> impl Iterator<Item = DimExtent> + '_ {
        let parallel = self.axes.iter().filter(|a| a.kind == AxisKind::Parallel);
        parallel.map(|a| a.extent)
    }

    /// Number of parallel axes, which come first.
    pub fn parallel_rank(&self) -> usize {
        self.parallel_shape().count()
    }

    /// Whether there is no point at which anything is given.
    pub fn is_empty(&self) -> bool {
        self.parallel_shape()
            .any(|extent| extent == DimExtent::Static(0))
    }

    /// Whether nothing is folded and every result is written at its point.
    pub fn is_map(&self) -> bool {
        let at_point = |y: &StructuredYield| matches!(y.destination, YieldDestination::Point);
        self.reductions.is_empty() && self.yields.iter().all(at_point)
    }

    /// Whether results are written while the folded axes are run, which is in order then.
    pub fn is_scan(&self) -> bool {
        let is_prefix =
            |y: &StructuredYield| matches!(y.destination, YieldDestination::Prefix { .. });
        self.yields.iter().any(is_prefix)
    }

    /// Adds a result that is written at its point.
    pub fn add_yield(&mut self, value: ScalarNode) {
        self.yields.push(StructuredYield {
            value,
            destination: YieldDestination::Point,
        });
    }

    /// Adds a fold and gives its accumulators as nodes.
    pub fn add_reduction(&mut self, reduction: TensorReduction) -> Vec<ScalarNode> {
        let first: usize = self.reductions.iter().map(|r| r.values.len()).sum();
        let types: Vec<ScalarType> = reduction
            .values
            .iter()
            .map(|node| self.body.ty(*node))
            .collect();
        self.reductions.push(reduction);
        let numbered = types.into_iter().enumerate();
        numbered
            .map(|(at, ty)| self.body.intern_accumulator((first + at) as u32, ty))
            .collect()
    }

    /// Every node that something outside of the body refers to.
    pub fn collect_roots(&self) -> Vec<ScalarNode> {
        let mut roots = Vec::new();
        for reduction in &self.reductions {
            roots.extend(&reduction.initial);
            roots.extend(&reduction.values);
        }
        for result in &self.yields {
            roots.push(result.value);
            roots.extend(result.destination.indices());
        }
        roots
    }

    /// Puts other nodes in the place of the roots, in the order of [`StructuredOp::collect_roots`].
    pub fn replace_roots(&mut self, mut next: impl FnMut(ScalarNode) -> Option<ScalarNode>) {
        let mut replace = |node: &mut ScalarNode| {
            if let Some(other) = next(*node) {
                *node = other;
            }
        };
        for reduction in &mut self.reductions {
            reduction.initial.iter_mut().for_each(&mut replace);
            reduction.values.iter_mut().for_each(&mut replace);
        }
        for result in &mut self.yields {
            replace(&mut result.value);
            if let YieldDestination::Scatter { indices, .. }
            | YieldDestination::Prefix { indices, .. }
            | YieldDestination::Each(indices) = &mut result.destination
            {
                indices.iter_mut().for_each(&mut replace);
            }
        }
    }

    /// Sizes of the axes that are known only when run.
    pub fn dynamic_sizes(&self) -> impl Iterator<Item = TensorValue> + '_ {
        self.axes.iter().filter_map(|axis| axis.extent.as_value())
    }

    /// Every tensor that is read, each once, in the order of the nodes; those copied, and sizes of axes.
    pub fn collect_operands(&self) -> Vec<TensorValue> {
        let mut operands = Vec::new();
        let mut add = |value: TensorValue| {
            if !operands.contains(&value) {
                operands.push(value);
            }
        };
        self.body.values_read().for_each(&mut add);
        for result in &self.yields {
            if let YieldDestination::Scatter { base, .. } = result.destination {
                add(base);
            }
        }
        self.dynamic_sizes().for_each(&mut add);
        operands
    }
}
