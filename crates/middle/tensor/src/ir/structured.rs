//! Structured operations.

use super::{Body, Dim, Node, Shape, Value};
use spirula_program::{Literal, Op, Operator, Scalar};

/// Work over an index space: maps, reductions, contractions, gathers, scatters and histograms.
///
/// At every point of the space the body's nodes can be evaluated; they read elements of tensors at
/// positions that are again nodes, the operands' index maps. What the reductions give is known once
/// their axes have run; nodes over [`NodeData::Reduced`](super::NodeData::Reduced) are evaluated
/// once for each point of the parallel axes.
#[derive(Clone, Debug, Default)]
pub struct Structured {
    /// The dimensions of the space; all parallel axes come before all reduced ones.
    pub axes: Vec<Axis>,
    /// What is computed at a point.
    pub body: Body,
    /// Folds over the reduced axes. Values of one may be made of what those before it gave.
    pub reductions: Vec<Reduction>,
    /// The results, in the order of the operation's values.
    pub yields: Vec<Yield>,
}

/// A dimension of an index space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Its size; indices count from 0.
    pub extent: Dim,
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
pub struct Reduction {
    /// Where each accumulator begins, without any index of a reduced axis; a neutral element of the
    /// combiner or a value that is to be counted once.
    pub initial: Vec<Node>,
    /// What is folded into each.
    pub values: Vec<Node>,
    /// How.
    pub combiner: Combiner,
}

/// An associative and commutative function of accumulators and as many values.
#[derive(Clone, Debug)]
pub struct Combiner {
    /// Nodes over [`NodeData::Argument`](super::NodeData::Argument)s: accumulators first, then
    /// values. Reads nothing.
    pub body: Body,
    /// The accumulators afterwards.
    pub results: Vec<Node>,
}

impl Combiner {
    /// One accumulator, by an operator.
    pub fn of(op: Op, ty: Scalar) -> Self {
        let mut body = Body::default();
        let accumulator = body.argument(0, ty);
        let value = body.argument(1, ty);
        let result = body.op(op, &[accumulator, value]);
        Combiner {
            body,
            results: vec![result],
        }
    }

    /// The operator, where the function is nothing else.
    pub fn operator(&self) -> Option<Op> {
        let [result] = self.results[..] else {
            return None;
        };
        let (operator, operands) = self.body.applied(result)?;
        let arguments = operands.iter().map(|n| self.body.as_argument(*n));
        arguments.eq([Some(0), Some(1)]).then_some(operator.op)
    }

    /// The operator, where one of the arguments is given that is no number, and the operator's result
    /// otherwise.
    pub fn of_numbers(&self) -> Option<Op> {
        let ([a, b], rest) = self.unless_nan(*self.results.first()?)?;
        let ([other, _], rest) = self.unless_nan(rest)?;
        let (operator, operands) = self.body.applied(rest)?;
        let is_both = a != b && other == b && operands == [a, b];
        (self.results.len() == 1 && is_both).then_some(operator.op)
    }

    /// An argument that a node gives if it is no number, the other one, and what else it gives.
    fn unless_nan(&self, node: Node) -> Option<([Node; 2], Node)> {
        let (select, &[condition, given, rest]) = self.body.applied(node)? else {
            return None;
        };
        let (test, tested) = self.body.applied(condition)?;
        let asks = (select.op, test.op) == (Op::Cond, Op::IsNan) && *tested == [given];
        let number = 1u32.checked_sub(self.body.as_argument(given)?)?;
        let mut nodes = self.body.ids();
        let other = nodes.find(|n| self.body.as_argument(*n) == Some(number))?;
        asks.then_some(([given, other], rest))
    }

    /// The value that does not change others, where the function is an operator that has one.
    pub fn neutral(&self, ty: Scalar) -> Option<Literal> {
        let format = ty.format();
        let sign = 1u64 << (ty.width() - 1);
        let bits = match self.operator().or_else(|| self.of_numbers())? {
            Op::FAdd => format?.sign_bit(),
            Op::FMul => Operator::convert(Op::SToF, Scalar::I32, ty).eval(&[1]),
            Op::FMax => format?.infinity() | format?.sign_bit(),
            Op::FMin => format?.infinity(),
            Op::Add | Op::Or | Op::Xor | Op::UMax | Op::LogOr => 0,
            Op::Mul | Op::LogAnd => 1,
            Op::And | Op::UMin => u64::MAX,
            Op::SMax => sign,
            Op::SMin => sign - 1,
            _ => return None,
        };
        Some(Literal::new(ty, bits))
    }
}

/// A result of a structured operation.
#[derive(Clone, Debug)]
pub struct Yield {
    /// What is written at each point of the parallel axes.
    pub value: Node,
    /// Where.
    pub destination: Destination,
}

/// Where a result is written.
#[derive(Clone, Debug)]
pub enum Destination {
    /// At the point itself: the shape of the result is that of the parallel axes.
    Point,
    /// At a position, once for each point of all axes, after the folds; no two have the same.
    Each(Vec<Node>),
    /// At a position, at each point of all axes, what is folded up to there: the folded axes are run
    /// in order. A position that is outside is not written.
    Prefix {
        /// The position; no two points have the same.
        indices: Vec<Node>,
        /// Sizes of the result.
        shape: Shape,
    },
    /// Into a copy of a tensor, at a computed position; points whose position is outside write
    /// nothing.
    Scatter {
        /// The tensor that is copied.
        base: Value,
        /// The position.
        indices: Vec<Node>,
        /// How the element that is there and the value are combined; without one the value
        /// replaces it, and which of several values for one position stays is open.
        combiner: Option<Combiner>,
        /// Whether no two points have the same position.
        distinct: bool,
    },
}

impl Destination {
    /// The position that it says.
    pub fn indices(&self) -> &[Node] {
        match self {
            Destination::Point => &[],
            Destination::Each(indices)
            | Destination::Prefix { indices, .. }
            | Destination::Scatter { indices, .. } => indices,
        }
    }
}

impl Structured {
    /// A space of parallel axes with nothing computed yet.
    pub fn parallel(shape: &[Dim]) -> Self {
        let mut op = Structured::default();
        for extent in shape {
            op.axis(*extent, AxisKind::Parallel);
        }
        op
    }

    /// Adds an axis and gives its index.
    pub fn axis(&mut self, extent: Dim, kind: AxisKind) -> Node {
        let axis = self.axes.len() as u32;
        self.axes.push(Axis { extent, kind });
        self.body.index(axis, extent)
    }

    /// The indices of the axes so far.
    pub fn point(&mut self) -> Vec<Node> {
        let axes = self.axes.iter().enumerate();
        axes.map(|(at, axis)| self.body.index(at as u32, axis.extent))
            .collect()
    }

    /// Adds axes for every dimension of a shape, those that are folded after the others, and gives
    /// their indices in the order of the shape.
    pub fn reduced_position(&mut self, shape: &[Dim], folded: &[usize]) -> Vec<Node> {
        let mut position = vec![None; shape.len()];
        for kind in [AxisKind::Parallel, AxisKind::Reduction] {
            for (at, extent) in shape.iter().enumerate() {
                if folded.contains(&at) == (kind == AxisKind::Reduction) {
                    position[at] = Some(self.axis(*extent, kind));
                }
            }
        }
        position.into_iter().flatten().collect()
    }

    /// Sizes of the parallel axes.
    pub fn parallel_shape(&self) -> impl Iterator<Item = Dim> + '_ {
        let parallel = self.axes.iter().filter(|a| a.kind == AxisKind::Parallel);
        parallel.map(|a| a.extent)
    }

    /// Number of parallel axes, which come first.
    pub fn parallel_rank(&self) -> usize {
        self.parallel_shape().count()
    }

    /// Whether there is no point at which anything is given.
    pub fn is_empty(&self) -> bool {
        self.parallel_shape().any(|extent| extent == Dim::Static(0))
    }

    /// Whether nothing is folded and every result is written at its point.
    pub fn is_map(&self) -> bool {
        let at_point = |y: &Yield| matches!(y.destination, Destination::Point);
        self.reductions.is_empty() && self.yields.iter().all(at_point)
    }

    /// Whether results are written while the folded axes are run, which is in order then.
    pub fn is_scan(&self) -> bool {
        let is_prefix = |y: &Yield| matches!(y.destination, Destination::Prefix { .. });
        self.yields.iter().any(is_prefix)
    }

    /// Adds a result that is written at its point.
    pub fn give(&mut self, value: Node) {
        self.yields.push(Yield {
            value,
            destination: Destination::Point,
        });
    }

    /// Adds a fold and gives its accumulators as nodes.
    pub fn fold(&mut self, reduction: Reduction) -> Vec<Node> {
        let first: usize = self.reductions.iter().map(|r| r.values.len()).sum();
        let types: Vec<Scalar> = reduction
            .values
            .iter()
            .map(|node| self.body.ty(*node))
            .collect();
        self.reductions.push(reduction);
        let numbered = types.into_iter().enumerate();
        numbered
            .map(|(at, ty)| self.body.reduced((first + at) as u32, ty))
            .collect()
    }

    /// Every node that something outside of the body refers to.
    pub fn roots(&self) -> Vec<Node> {
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

    /// Puts other nodes in the place of the roots, in the order of [`Structured::roots`].
    pub fn replace_roots(&mut self, mut next: impl FnMut(Node) -> Option<Node>) {
        let mut replace = |node: &mut Node| {
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
            if let Destination::Scatter { indices, .. }
            | Destination::Prefix { indices, .. }
            | Destination::Each(indices) = &mut result.destination
            {
                indices.iter_mut().for_each(&mut replace);
            }
        }
    }

    /// Sizes of the axes that are known only when run.
    pub fn sizes(&self) -> impl Iterator<Item = Value> + '_ {
        self.axes.iter().filter_map(|axis| axis.extent.value())
    }

    /// Every tensor that is read, each once, in the order of the nodes; those copied, and sizes of axes.
    pub fn operands(&self) -> Vec<Value> {
        let mut operands = Vec::new();
        let mut add = |value: Value| {
            if !operands.contains(&value) {
                operands.push(value);
            }
        };
        self.body.reads().for_each(&mut add);
        for result in &self.yields {
            if let Destination::Scatter { base, .. } = result.destination {
                add(base);
            }
        }
        self.sizes().for_each(&mut add);
        operands
    }
}
