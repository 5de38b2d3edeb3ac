//! Syntax of bodies: scalar expressions and the lines of structured operations, before they become nodes.

use crate::ir::{DimExtent, ProductPrecision, TensorValue};
use spirula_diagnostics::SourceLocation;
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator};

/// An expression of an [`ExprArena`].
#[derive(Clone, Copy, Debug)]
pub(super) struct ExprRef(u32);

/// Expressions, operands before what they are operands of.
#[derive(Default)]
pub(super) struct ExprArena {
    exprs: Vec<PlacedExpr>,
}

/// An expression and its place.
pub(super) struct PlacedExpr {
    pub kind: ExprKind,
    pub place: SourceLocation,
}

/// A scalar expression.
pub(super) enum ExprKind {
    Literal(ScalarLiteral),
    /// `d0`.
    Index(u32),
    /// `n0`: the node of a line.
    Line(u32),
    /// `r0`.
    Accumulator(u32),
    /// `a0`.
    Argument(u32),
    /// `size(%0)`.
    Size(TensorValue),
    /// `%0[d0, d1]`.
    Element(TensorValue, Vec<ExprRef>),
    Apply(ScalarOperator, Vec<ExprRef>),
}

impl ExprArena {
    /// Adds an expression.
    pub fn push_expr(&mut self, kind: ExprKind, place: SourceLocation) -> ExprRef {
        self.exprs.push(PlacedExpr { kind, place });
        ExprRef(self.exprs.len() as u32 - 1)
    }

    /// An expression.
    pub fn expr(&self, at: ExprRef) -> &PlacedExpr {
        &self.exprs[at.0 as usize]
    }

    /// The number of expressions so far.
    pub fn len(&self) -> usize {
        self.exprs.len()
    }

    /// The expressions from one on up to a root, in order.
    pub fn exprs_up_to(
        &self,
        first: usize,
        root: ExprRef,
    ) -> impl Iterator<Item = ExprRef> + use<> {
        (first as u32..=root.0).map(ExprRef)
    }
}

impl ExprRef {
    /// Its number in the arena.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A list of expressions: the first expression that belongs to them in the arena, and their roots.
pub(super) struct ExprList {
    pub first: usize,
    pub roots: Vec<ExprRef>,
}

/// A combiner or comparator.
pub(super) enum CombinerSyntax {
    /// `fadd.f32`; the type is that of the result.
    Operator(ScalarOp, SourceLocation),
    /// `(…, …)`: the results over arguments.
    Results(ExprArena, ExprList),
}

/// A reduction: `r0 = fold fadd.f32 from 0.0f32 of n0`.
pub(super) struct FoldSyntax {
    pub combiner: CombinerSyntax,
    pub initial: ExprList,
    pub values: ExprList,
    pub place: SourceLocation,
}

/// A result.
pub(super) struct YieldSyntax {
    pub value: ExprList,
    pub destination: DestinationSyntax,
    pub place: SourceLocation,
}

/// Where a result is written.
pub(super) enum DestinationSyntax {
    Point,
    Each(ExprList),
    Prefix(ExprList),
    Scatter {
        base: TensorValue,
        indices: ExprList,
        combiner: Option<CombinerSyntax>,
        distinct: bool,
    },
}

/// An axis: `d0 < 32` or `fold d2 < %1`.
pub(super) struct AxisSyntax {
    pub is_fold: bool,
    pub extent: DimExtent,
}

/// The body of a structured operation.
#[derive(Default)]
pub(super) struct BodySyntax {
    pub axes: Vec<AxisSyntax>,
    pub precision: ProductPrecision,
    pub arena: ExprArena,
    /// `n0 = …`, by number.
    pub lines: Vec<ExprList>,
    /// The number of lines before the reductions.
    pub lines_before_folds: usize,
    pub folds: Vec<FoldSyntax>,
    pub yields: Vec<YieldSyntax>,
}
