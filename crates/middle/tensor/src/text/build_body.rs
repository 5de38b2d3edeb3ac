//! Bodies from their syntax: nodes are interned exactly as they are written.
//!
//! The printer writes a reduction where the first accumulator is used. Its values may be written out there although
//! lines that follow name parts of them. So accumulators are interned in the place of the reductions, and the values of
//! the reductions after all lines. The nodes then have the order of the lines, and print alike.

use super::syntax::{
    BodySyntax, CombinerSyntax, DestinationSyntax, ExprArena, ExprKind, ExprList, ExprRef,
    YieldSyntax,
};
use crate::ir::{
    AxisKind, DenseTensorType, DimExtent, IterationAxis, NodeGraph, NodeList, ScalarCombiner,
    ScalarNode, StructuredOp, StructuredYield, TensorFunction, TensorReduction, TensorValue,
    YieldDestination,
};
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::{ScalarOperator, ScalarType};

/// Names that expressions may use.
struct NodeScope<'a> {
    function: &'a TensorFunction,
    axes: &'a [IterationAxis],
    /// The nodes of lines.
    lines: Vec<ScalarNode>,
    /// Types of accumulators.
    accumulators: Vec<ScalarType>,
    /// Types of arguments.
    arguments: Vec<ScalarType>,
}

/// The structured operation of a body whose results have some types.
pub(super) fn build_structured(
    function: &TensorFunction,
    body: &BodySyntax,
    results: &[TensorValue],
) -> Result<StructuredOp, SourceDiagnostic> {
    let axes = body.axes.iter().map(|axis| IterationAxis {
        extent: axis.extent,
        kind: if axis.is_fold {
            AxisKind::Reduction
        } else {
            AxisKind::Parallel
        },
    });
    let mut op = StructuredOp {
        axes: axes.collect(),
        precision: body.precision,
        ..StructuredOp::default()
    };
    let mut graph = NodeGraph::default();
    let mut scope = NodeScope {
        function,
        axes: &op.axes,
        lines: Vec::new(),
        accumulators: Vec::new(),
        arguments: Vec::new(),
    };
    for value in body.folds.iter().flat_map(|fold| &fold.values.roots) {
        let ty = scope.infer_type(body, *value)?;
        scope.accumulators.push(ty);
    }
    let (before, after) = body.lines.split_at(body.lines_before_folds);
    for line in before {
        scope.intern_line(&mut graph, &body.arena, line)?;
    }
    for (number, ty) in scope.accumulators.iter().enumerate() {
        graph.intern_accumulator(number as u32, *ty);
    }
    for line in after {
        scope.intern_line(&mut graph, &body.arena, line)?;
    }
    let mut reductions = Vec::new();
    for fold in &body.folds {
        if fold.initial.roots.len() != fold.values.roots.len() {
            let message = "a reduction needs as many initial values as values";
            return Err(SourceDiagnostic::error(fold.place, message));
        }
        let initial = scope.intern_list(&mut graph, &body.arena, &fold.initial)?;
        let values = scope.intern_list(&mut graph, &body.arena, &fold.values)?;
        let types: Vec<ScalarType> = values.iter().map(|n| graph.ty(*n)).collect();
        let arguments = [&types[..], &types].concat();
        reductions.push(TensorReduction {
            initial,
            values,
            combiner: build_combiner(function, &fold.combiner, &arguments)?,
        });
    }
    let mut yields = Vec::new();
    for (at, result) in body.yields.iter().enumerate() {
        let ty = results.get(at).map(|value| function.ty(*value));
        let ty = ty.ok_or_else(|| {
            let message = "there are more results than values before the `=`";
            SourceDiagnostic::error(result.place, message)
        })?;
        yields.push(scope.build_yield(&mut graph, &body.arena, result, ty)?);
    }
    op.body = graph;
    op.reductions = reductions;
    op.yields = yields;
    Ok(op)
}

/// A combiner of arguments of some types.
pub(super) fn build_combiner(
    function: &TensorFunction,
    syntax: &CombinerSyntax,
    arguments: &[ScalarType],
) -> Result<ScalarCombiner, SourceDiagnostic> {
    let mut body = NodeGraph::default();
    match syntax {
        CombinerSyntax::Operator(op, place) => {
            let [first, second] = *arguments else {
                let message = "an operator combines one accumulator and one value";
                return Err(SourceDiagnostic::error(*place, message));
            };
            let operands =
                [(0, first), (1, second)].map(|(number, ty)| body.intern_argument(number, ty));
            let operator = ScalarOperator::with_type(*op, first);
            let result = body.intern_operator(operator, &operands);
            Ok(ScalarCombiner {
                body,
                results: vec![result],
            })
        }
        CombinerSyntax::Results(arena, list) => {
            let scope = NodeScope {
                function,
                axes: &[],
                lines: Vec::new(),
                accumulators: Vec::new(),
                arguments: arguments.to_vec(),
            };
            let results = scope.intern_list(&mut body, arena, list)?;
            Ok(ScalarCombiner { body, results })
        }
    }
}

impl NodeScope<'_> {
    fn intern_line(
        &mut self,
        graph: &mut NodeGraph,
        arena: &ExprArena,
        line: &ExprList,
    ) -> Result<(), SourceDiagnostic> {
        let nodes = self.intern_list(graph, arena, line)?;
        self.lines.extend(nodes);
        Ok(())
    }

    /// Interns the expressions of a list, operands first.
    fn intern_list(
        &self,
        graph: &mut NodeGraph,
        arena: &ExprArena,
        list: &ExprList,
    ) -> Result<Vec<ScalarNode>, SourceDiagnostic> {
        let Some(last) = list.roots.last() else {
            return Ok(Vec::new());
        };
        let mut nodes = Vec::new();
        for at in arena.exprs_up_to(list.first, *last) {
            let operand = |at: &ExprRef| nodes[at.index() - list.first];
            let node = self.intern_expr(graph, arena, at, operand)?;
            nodes.push(node);
        }
        let roots = list.roots.iter().map(|at| nodes[at.index() - list.first]);
        Ok(roots.collect())
    }

    fn intern_expr(
        &self,
        graph: &mut NodeGraph,
        arena: &ExprArena,
        at: ExprRef,
        operand: impl Fn(&ExprRef) -> ScalarNode,
    ) -> Result<ScalarNode, SourceDiagnostic> {
        let expr = arena.expr(at);
        let unknown =
            |name: String| SourceDiagnostic::error(expr.place, format!("{name} is not known here"));
        match &expr.kind {
            ExprKind::Literal(literal) => Ok(graph.intern_literal(*literal)),
            ExprKind::Index(axis) => match self.axes.get(*axis as usize) {
                Some(data) => Ok(graph.intern_index(*axis, data.extent)),
                None => Err(unknown(format!("d{axis}"))),
            },
            ExprKind::Line(number) => match self.lines.get(*number as usize) {
                Some(node) => Ok(*node),
                None => Err(unknown(format!("n{number}"))),
            },
            ExprKind::Accumulator(number) => match self.accumulators.get(*number as usize) {
                Some(ty) => Ok(graph.intern_accumulator(*number, *ty)),
                None => Err(unknown(format!("r{number}"))),
            },
            ExprKind::Argument(number) => match self.arguments.get(*number as usize) {
                Some(ty) => Ok(graph.intern_argument(*number, *ty)),
                None => Err(unknown(format!("a{number}"))),
            },
            ExprKind::Size(value) => Ok(graph.intern_size(DimExtent::Value(*value))),
            ExprKind::Element(value, position) => {
                let element = self.function.ty(*value).element;
                let position: NodeList = position.iter().map(operand).collect();
                Ok(graph.intern_element(*value, element, &position))
            }
            ExprKind::Apply(operator, operands) => {
                if operands.len() != operator.arity() {
                    let message = format!("{operator} has {} operands", operator.arity());
                    return Err(SourceDiagnostic::error(expr.place, message));
                }
                let operands: NodeList = operands.iter().map(operand).collect();
                for (at, node) in operands.iter().enumerate() {
                    let (wanted, found) = (operator.operand_type(at), graph.ty(*node));
                    if wanted != found {
                        let message =
                            format!("operand {at} of {operator} is {found} instead of {wanted}");
                        return Err(SourceDiagnostic::error(expr.place, message));
                    }
                }
                Ok(graph.intern_operator(*operator, &operands))
            }
        }
    }

    /// The type of an expression, before it is interned.
    fn infer_type(&self, body: &BodySyntax, at: ExprRef) -> Result<ScalarType, SourceDiagnostic> {
        let mut expr = body.arena.expr(at);
        if let ExprKind::Line(number) = expr.kind {
            let line = body.lines.get(number as usize);
            let root = line.and_then(|line| line.roots.first());
            expr = root.map_or(expr, |root| body.arena.expr(*root));
        }
        let unknown = || SourceDiagnostic::error(expr.place, "the type of a value is not known");
        match &expr.kind {
            ExprKind::Literal(literal) => Ok(literal.ty),
            ExprKind::Index(_) | ExprKind::Size(_) => Ok(ScalarType::I64),
            ExprKind::Element(value, _) => Ok(self.function.ty(*value).element),
            ExprKind::Apply(operator, _) => Ok(operator.to),
            ExprKind::Accumulator(number) => {
                let known = self.accumulators.get(*number as usize);
                known.copied().ok_or_else(unknown)
            }
            ExprKind::Argument(_) | ExprKind::Line(_) => Err(unknown()),
        }
    }

    fn build_yield(
        &self,
        graph: &mut NodeGraph,
        arena: &ExprArena,
        result: &YieldSyntax,
        ty: &DenseTensorType,
    ) -> Result<StructuredYield, SourceDiagnostic> {
        let value = self.intern_list(graph, arena, &result.value)?[0];
        let mut intern = |list: &ExprList| self.intern_list(graph, arena, list);
        let destination = match &result.destination {
            DestinationSyntax::Point => YieldDestination::Point,
            DestinationSyntax::Each(indices) => YieldDestination::Each(intern(indices)?),
            DestinationSyntax::Prefix(indices) => YieldDestination::Prefix {
                indices: intern(indices)?,
                shape: ty.shape.clone(),
            },
            DestinationSyntax::Scatter {
                base,
                indices,
                combiner,
                distinct,
            } => {
                let indices = intern(indices)?;
                let element = graph.ty(value);
                let combiner = combiner
                    .as_ref()
                    .map(|combiner| build_combiner(self.function, combiner, &[element, element]));
                YieldDestination::Scatter {
                    base: *base,
                    indices,
                    combiner: combiner.transpose()?,
                    distinct: *distinct,
                }
            }
        };
        Ok(StructuredYield { value, destination })
    }
}
