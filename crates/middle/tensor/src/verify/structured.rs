//! Rules of structured operations and combiners.

use super::{FunctionVerifier, has_equal_shape};
use crate::ir::{
    AxisKind, DimExtent, NodeData, NodeGraph, ScalarCombiner, ScalarNode, StructuredOp,
    StructuredYield, TensorValue, YieldDestination,
};
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::ScalarType;

impl FunctionVerifier<'_> {
    pub(super) fn verify_structured(
        &self,
        op: &StructuredOp,
        results: &[TensorValue],
    ) -> Result<(), SourceDiagnostic> {
        let is_ordered = op
            .axes
            .is_sorted_by_key(|axis| axis.kind == AxisKind::Reduction);
        self.require(is_ordered, || {
            "a parallel axis follows a reduced one".to_owned()
        })?;
        for size in op.dynamic_sizes() {
            self.verify_size(size)?;
        }
        let accumulators = op.reductions.iter().flat_map(|r| &r.values);
        let accumulators: Vec<ScalarType> = accumulators.map(|n| op.body.ty(*n)).collect();
        let needed = op.body.mark_reachable(&op.collect_roots());
        for node in op.body.node_ids().filter(|n| needed[n.index()]) {
            self.verify_node(&op.body, node)?;
            let is_known = match op.body.node(node) {
                NodeData::Index(axis) => (*axis as usize) < op.axes.len(),
                NodeData::Reduced(number) => {
                    accumulators.get(*number as usize) == Some(&op.body.ty(node))
                }
                NodeData::Argument(_) => false,
                _ => true,
            };
            self.require(is_known, || {
                "an index, accumulator or argument does not exist".to_owned()
            })?;
        }
        self.verify_reductions(op)?;
        for (result, value) in op.yields.iter().zip(results) {
            self.verify_yield(op, result, *value)?;
        }
        Ok(())
    }

    /// Checks the type of a node, and of its operands.
    fn verify_node(&self, body: &NodeGraph, node: ScalarNode) -> Result<(), SourceDiagnostic> {
        match body.node(node) {
            NodeData::Element(value, position) => {
                self.verify_use(*value)?;
                let ty = self.ty(*value);
                self.require(position.len() == ty.rank(), || {
                    format!("{} indices of a {ty}", position.len())
                })?;
                let mut indices = position.iter();
                let is_typed =
                    body.ty(node) == ty.element && indices.all(|n| body.ty(*n) == ScalarType::I64);
                self.require(is_typed, || format!("an element of {ty} has other types"))
            }
            NodeData::Size(value) => self.verify_size(*value),
            NodeData::Apply(operator, operands) => {
                let is_known = operator.is_valid() && operands.len() == operator.arity();
                self.require(is_known, || {
                    format!("there is no {operator} of {} operands", operands.len())
                })?;
                let mut operands = operands.iter().enumerate();
                let is_typed = operands.all(|(at, n)| body.ty(*n) == operator.operand_type(at));
                self.require(is_typed, || {
                    format!("operands of {operator} have other types")
                })
            }
            NodeData::Counter(_) => self.require(false, || "counters are for schedules".to_owned()),
            NodeData::Literal(_)
            | NodeData::Index(_)
            | NodeData::Reduced(_)
            | NodeData::Argument(_) => Ok(()),
        }
    }

    fn verify_reductions(&self, op: &StructuredOp) -> Result<(), SourceDiagnostic> {
        let types = |nodes: &[ScalarNode]| -> Vec<ScalarType> {
            nodes.iter().map(|n| op.body.ty(*n)).collect()
        };
        let mut first = 0;
        for reduction in &op.reductions {
            let accumulators = types(&reduction.values);
            let is_typed = !accumulators.is_empty() && types(&reduction.initial) == accumulators;
            self.require(is_typed, || {
                "initial values and values of a reduction have several types".to_owned()
            })?;
            self.require(!depends_on_reduction(op, &reduction.initial), || {
                "an initial value depends on a reduced axis".to_owned()
            })?;
            let roots = [&reduction.initial[..], &reduction.values].concat();
            let needed = op.body.mark_reachable(&roots);
            let mut nodes = op.body.node_ids().filter(|n| needed[n.index()]);
            let is_earlier = nodes.all(|node| match op.body.node(node) {
                NodeData::Reduced(number) => (*number as usize) < first,
                _ => true,
            });
            self.require(is_earlier, || {
                "a reduction depends on a later accumulator".to_owned()
            })?;
            first += accumulators.len();
            let arguments = [&accumulators[..], &accumulators].concat();
            self.verify_combiner(&reduction.combiner, &arguments, &accumulators)?;
        }
        Ok(())
    }

    /// Checks that a combiner reads nothing but arguments of some types.
    pub(super) fn verify_combiner_nodes(
        &self,
        combiner: &ScalarCombiner,
        arguments: &[ScalarType],
    ) -> Result<(), SourceDiagnostic> {
        let body = &combiner.body;
        let needed = body.mark_reachable(&combiner.results);
        for node in body.node_ids().filter(|n| needed[n.index()]) {
            let is_own = match body.node(node) {
                NodeData::Argument(number) => {
                    arguments.get(*number as usize) == Some(&body.ty(node))
                }
                NodeData::Literal(_) | NodeData::Apply(..) => true,
                _ => false,
            };
            self.require(is_own, || {
                "a combiner reads something but its arguments".to_owned()
            })?;
            self.verify_node(body, node)?;
        }
        Ok(())
    }

    fn verify_yield(
        &self,
        op: &StructuredOp,
        result: &StructuredYield,
        value: TensorValue,
    ) -> Result<(), SourceDiagnostic> {
        let ty = self.ty(value);
        let found = op.body.ty(result.value);
        self.require(found == ty.element, || {
            format!("a result of type {found} defines a {ty}")
        })?;
        let shape: Vec<DimExtent> = op.parallel_shape().collect();
        let fits = match &result.destination {
            YieldDestination::Point => has_equal_shape(&shape, &ty.shape),
            YieldDestination::Each(_) => true,
            YieldDestination::Prefix { shape, .. } => has_equal_shape(shape, &ty.shape),
            YieldDestination::Scatter { base, .. } => {
                self.verify_use(*base)?;
                self.verify_equal_types(*base, value)?;
                true
            }
        };
        self.require(fits, || format!("{value:?} has another shape than {ty}"))?;
        let indices = result.destination.indices();
        let is_position = match result.destination {
            YieldDestination::Point => true,
            _ => indices.len() == ty.rank(),
        };
        let is_typed = indices.iter().all(|n| op.body.ty(*n) == ScalarType::I64);
        self.require(is_position && is_typed, || {
            format!("a result is not written at a position of {ty}")
        })?;
        if let YieldDestination::Scatter {
            combiner: Some(combiner),
            ..
        } = &result.destination
        {
            self.verify_combiner(combiner, &[found, found], &[found])?;
        }
        Ok(())
    }
}

/// Whether nodes depend on the index of a reduced axis.
fn depends_on_reduction(op: &StructuredOp, roots: &[ScalarNode]) -> bool {
    let needed = op.body.mark_reachable(roots);
    let mut nodes = op.body.node_ids().filter(|n| needed[n.index()]);
    nodes.any(|node| match op.body.node(node) {
        NodeData::Index(axis) => op.axes[*axis as usize].kind == AxisKind::Reduction,
        _ => false,
    })
}
