//! Structured operations.

use super::{DimExtent, NodeGraph, ScalarNode, TensorShape, TensorValue};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};
use std::ops::Range;

/// Work over an index space: maps, reductions, contractions, gathers, scatters and histograms.
///
/// The body's nodes can be evaluated at each point of the space. They read elements of tensors at positions that are nodes
/// too: the operands' index maps. Results of reductions are known after their axes have run. Nodes over
/// [`NodeData::Reduced`](super::NodeData::Reduced) are evaluated once for each point of the parallel axes.
#[derive(Clone, Debug, Default)]
pub struct StructuredOp {
    /// The dimensions of the space; all parallel axes come before all reduced ones.
    pub axes: Vec<IterationAxis>,
    /// The scalars that are computed at a point.
    pub body: NodeGraph,
    /// Reductions over the reduced axes. Values of one may depend on the results of those before it.
    pub reductions: Vec<TensorReduction>,
    /// The results, in the order of the values that the operation defines.
    pub yields: Vec<StructuredYield>,
    /// Precision of the products of a contraction.
    pub precision: ProductPrecision,
}

/// Precision of the products of a contraction of `f32`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProductPrecision {
    /// Products are rounded as `f32` is.
    #[default]
    Full,
    /// Products may be computed from parts of their factors. The error of a product is at most 2^-15 of it. Infinities, NaN
    /// and the largest finite numbers count as in full precision.
    Reduced,
}

/// A dimension of an index space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IterationAxis {
    /// The size; indices count from 0.
    pub extent: DimExtent,
    /// The dependence of its points.
    pub kind: AxisKind,
}

/// The dependence of the points of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisKind {
    /// The points are independent.
    Parallel,
    /// The points are reduced, in any order.
    Reduction,
}

/// A reduction over all reduced axes. Accumulators that are combined together form one reduction.
#[derive(Clone, Debug)]
pub struct TensorReduction {
    /// Initial value of each accumulator: a neutral element of the combiner, or a value that counts once. It depends on no
    /// reduced axis.
    pub initial: Vec<ScalarNode>,
    /// Values that are accumulated.
    pub values: Vec<ScalarNode>,
    /// The combiner.
    pub combiner: ScalarCombiner,
}

/// An associative and commutative function of accumulators and as many values.
#[derive(Clone, Debug)]
pub struct ScalarCombiner {
    /// Nodes over [`NodeData::Argument`](super::NodeData::Argument)s: accumulators first, then values. They read nothing
    /// else.
    pub body: NodeGraph,
    /// The new accumulators.
    pub results: Vec<ScalarNode>,
}

impl ScalarCombiner {
    /// The combiner of one accumulator by an operator.
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

    /// The operator, if the combiner is nothing else.
    pub fn as_operator(&self) -> Option<ScalarOp> {
        let [result] = self.results[..] else {
            return None;
        };
        let (operator, operands) = self.body.as_apply(result)?;
        let arguments = operands.iter().map(|n| self.body.as_argument(*n));
        arguments.eq([Some(0), Some(1)]).then_some(operator.op)
    }

    /// The operator, if the combiner returns an argument that is NaN, and the operator's result otherwise.
    pub fn as_nan_operator(&self) -> Option<ScalarOp> {
        let ([a, b], rest) = self.unless_nan(*self.results.first()?)?;
        let ([other, _], rest) = self.unless_nan(rest)?;
        let (operator, operands) = self.body.as_apply(rest)?;
        let is_both = a != b && other == b && operands == [a, b];
        (self.results.len() == 1 && is_both).then_some(operator.op)
    }

    /// An argument that a node returns if it is NaN, the other argument, and the node's value otherwise.
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

    /// The neutral element, if the combiner is an operator that has one.
    pub fn neutral_element(&self, ty: ScalarType) -> Option<ScalarLiteral> {
        let format = ty.format();
        let sign = 1u64 << (ty.width() - 1);
        let bits = match self.as_operator().or_else(|| self.as_nan_operator())? {
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
    /// The value that is written at each point of the parallel axes.
    pub value: ScalarNode,
    /// The place.
    pub destination: YieldDestination,
}

/// The place that a result is written to.
#[derive(Clone, Debug)]
pub enum YieldDestination {
    /// The point itself. The shape of the result is that of the parallel axes.
    Point,
    /// A position for each point of all axes, after the reductions. No two points have the same.
    Each(Vec<ScalarNode>),
    /// A position for each point of all axes, with the value that is reduced up to there: the reduced axes run in order. A
    /// position that is outside is not written.
    Prefix {
        /// The position; no two points have the same.
        indices: Vec<ScalarNode>,
        /// Sizes of the result.
        shape: TensorShape,
    },
    /// A computed position in a copy of a tensor. Points whose position is outside write nothing.
    Scatter {
        /// The tensor that is copied.
        base: TensorValue,
        /// The position.
        indices: Vec<ScalarNode>,
        /// Combines the element that is there with the value. Without it the value replaces the element, and it is not
        /// specified which of several values for one position stays.
        combiner: Option<ScalarCombiner>,
        /// Whether no two points have the same position.
        distinct: bool,
    },
}

impl YieldDestination {
    /// The position; empty for the point itself.
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
    /// A space of parallel axes with an empty body.
    pub fn with_parallel_axes(shape: &[DimExtent]) -> Self {
        let mut op = StructuredOp::default();
        for extent in shape {
            op.add_axis(*extent, AxisKind::Parallel);
        }
        op
    }

    /// Adds an axis and returns its index.
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

    /// Adds an axis for each dimension of a shape, the reduced ones after the others. Returns their indices in the order of
    /// the shape.
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

    /// The sizes of the parallel axes.
    pub fn parallel_shape(&self) -> impl Iterator<Item = DimExtent> + '_ {
        let parallel = self.axes.iter().filter(|a| a.kind == AxisKind::Parallel);
        parallel.map(|a| a.extent)
    }

    /// The number of parallel axes, which come first.
    pub fn parallel_rank(&self) -> usize {
        self.parallel_shape().count()
    }

    /// The numbers of the axes of a kind.
    pub fn axes_of_kind(&self, kind: AxisKind) -> impl Iterator<Item = usize> + '_ {
        (0..self.axes.len()).filter(move |at| self.axes[*at].kind == kind)
    }

    /// Number of points of some axes together. `None` where a size is known only at run time, or there are 2^64 points or more.
    pub fn count_static_points(&self, axes: impl IntoIterator<Item = usize>) -> Option<u64> {
        let mut sizes = axes.into_iter().map(|at| self.axes[at].extent.as_static());
        sizes.try_fold(1u64, |n, size| n.checked_mul(size?))
    }

    /// Number of accumulators of all reductions.
    pub fn accumulator_count(&self) -> usize {
        self.reductions.iter().map(|r| r.values.len()).sum()
    }

    /// The numbers of the accumulators of each reduction.
    pub fn accumulator_ranges(&self) -> Vec<Range<usize>> {
        let mut next = 0;
        let ranges = self.reductions.iter().map(|reduction| {
            let first = next;
            next += reduction.values.len();
            first..next
        });
        ranges.collect()
    }

    /// Whether there is no point.
    pub fn is_empty(&self) -> bool {
        self.parallel_shape()
            .any(|extent| extent == DimExtent::Static(0))
    }

    /// Whether there are no reductions and all results are written at their points.
    pub fn is_map(&self) -> bool {
        let at_point = |y: &StructuredYield| matches!(y.destination, YieldDestination::Point);
        self.reductions.is_empty() && self.yields.iter().all(at_point)
    }

    /// Whether results are written while the reduced axes run, in order.
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

    /// Adds a reduction and returns its accumulators as nodes.
    pub fn add_reduction(&mut self, reduction: TensorReduction) -> Vec<ScalarNode> {
        let first = self.accumulator_count();
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

    /// All nodes that reductions and results refer to.
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

    /// Replaces the roots by other nodes, in the order of [`StructuredOp::collect_roots`].
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

    /// The sizes of axes that are known only at run time.
    pub fn dynamic_sizes(&self) -> impl Iterator<Item = TensorValue> + '_ {
        self.axes.iter().filter_map(|axis| axis.extent.as_value())
    }

    /// All tensors that are read, each once, in the order of the nodes; then tensors that are copied, and sizes of axes.
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
