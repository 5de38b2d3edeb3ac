//! Padded inputs: factors of convolutions, stored once for each position that is read.
//!
//! A convolution reads its input at the sum of a window's position and a position in the window. Outside of the input it
//! reads zeros; elements inside may be computed. A tensor over these sums is the input with a frame of zeros around it.
//! It is hardly larger than the input, while a tensor over both positions is larger by the size of the window. Rows of
//! windows are matrices in it, one row overlapping the next, so large fragments can be loaded from it.

use super::fusion_cost;
use crate::ir::{
    AffineSum, DenseTensorType, DimExtent, NodeData, NodeGraph, OpKind, ScalarNode, StructuredOp,
    TensorFunction, TensorOp, TensorShape, TensorValue,
};
use crate::schedule::{ScheduleProfile, plan_large_fragments};
use spirula_diagnostics::SourceLocation;
use spirula_program::ScalarOp;

/// A factor that depends on indices through positions only.
struct ConvolutionFactor {
    factor: ScalarNode,
    positions: Vec<WindowPosition>,
}

/// A position along a dimension: the sum of indices of axes times factors.
struct WindowPosition {
    node: ScalarNode,
    /// Axes and their factors.
    terms: Vec<(usize, i64)>,
    /// The least position.
    first: i64,
    /// The number of positions.
    size: u64,
}

/// Stores a factor of a product, if only then both factors are matrices in memory. Returns the operation that stores it.
pub(super) fn store_factor(
    function: &mut TensorFunction,
    product: &mut StructuredOp,
    profile: &ScheduleProfile,
    place: SourceLocation,
) -> Option<TensorOp> {
    let plan = plan_large_fragments(function, product, profile)?;
    if plan.is_in_memory(function, product) {
        return None;
    }
    for factor in plan.contraction.factors {
        let Some(frame) = ConvolutionFactor::from_factor(product, factor) else {
            continue;
        };
        let map = frame.build_map(&product.body);
        let shape = map.parallel_shape().collect();
        let element = product.body.ty(factor);
        let elements = frame.positions.iter().map(|p| p.size);
        let elements = elements.fold(1, u64::saturating_mul);
        let stored = function.new_value(DenseTensorType { element, shape });
        let framed = frame.build_product(product, stored);
        let plan = plan_large_fragments(function, &framed, profile);
        let cost =
            fusion_cost::estimate_store_cost(function, &product.body, factor, elements, profile);
        let points = framed
            .axes
            .iter()
            .filter_map(|axis| axis.extent.as_static());
        let points = points.fold(1, u64::saturating_mul);
        let is_worth_it =
            cost <= points && plan.is_some_and(|plan| plan.is_in_memory(function, &framed));
        if is_worth_it {
            *product = framed;
            return Some(TensorOp {
                kind: OpKind::Structured(Box::new(map)),
                results: vec![stored],
                place,
            });
        }
    }
    None
}

impl ConvolutionFactor {
    /// The positions of a factor; none where it depends on indices in other ways.
    fn from_factor(op: &StructuredOp, factor: ScalarNode) -> Option<ConvolutionFactor> {
        let body = &op.body;
        let needed = body.mark_reachable(&[factor]);
        let nodes = body.node_ids().filter(|node| needed[node.index()]);
        let elements = nodes.filter_map(|node| match body.node(node) {
            NodeData::Element(_, position) => Some(position),
            _ => None,
        });
        let position = elements.max_by_key(|position| position.len())?;
        let positions = position
            .iter()
            .map(|node| WindowPosition::from_node(op, *node));
        let positions: Vec<WindowPosition> = positions.collect::<Option<_>>()?;
        let moving = positions.iter().filter(|p| !p.terms.is_empty());
        let moving: Vec<ScalarNode> = moving.map(|p| p.node).collect();
        let is_once = |at: usize| !moving[..at].contains(&moving[at]);
        let depends = (0..moving.len()).all(is_once) && depends_by(body, factor, &moving);
        depends.then_some(ConvolutionFactor { factor, positions })
    }

    /// The map that computes the stored tensor.
    fn build_map(&self, body: &NodeGraph) -> StructuredOp {
        let sizes = self.positions.iter().map(|p| DimExtent::Static(p.size));
        let mut map = StructuredOp::with_parallel_axes(&sizes.collect::<TensorShape>());
        let point = map.axis_indices();
        let mut places = Vec::new();
        for (position, index) in self.positions.iter().zip(point) {
            let first = map.body.intern_i64(position.first);
            places.push(map.body.apply_op(ScalarOp::Add, &[index, first]));
        }
        let values = map.body.import_nodes(body, &[self.factor], |_, node, _| {
            let is_it = |p: &WindowPosition| p.node == node && !p.terms.is_empty();
            Some(places[self.positions.iter().position(is_it)?])
        });
        map.add_yield(values[0]);
        map
    }

    /// The product that reads the stored tensor.
    fn build_product(&self, op: &StructuredOp, stored: TensorValue) -> StructuredOp {
        let mut product = op.clone();
        let mut body = NodeGraph::default();
        let ty = op.body.ty(self.factor);
        let nodes = body.import_nodes(&op.body, &op.collect_roots(), |body, node, _| {
            if node != self.factor {
                return None;
            }
            let places = self.positions.iter().map(|p| p.stored_index(op, body));
            let position: Vec<ScalarNode> = places.collect();
            Some(body.intern_element(stored, ty, &position))
        });
        product.body = body;
        let mut nodes = nodes.into_iter();
        product.replace_roots(|_| nodes.next());
        product
    }
}

impl WindowPosition {
    /// The position of a node, if it is a sum of indices times positive factors.
    fn from_node(op: &StructuredOp, node: ScalarNode) -> Option<WindowPosition> {
        let sum = AffineSum::from_node(&op.body, node);
        let mut terms = Vec::new();
        let mut size = 1u64;
        for (term, factor) in &sum.terms {
            let axis = op.body.as_index(*term)? as usize;
            let extent = op.axes[axis].extent.as_static().filter(|n| *n > 0)?;
            let step = u64::try_from(*factor).ok()?;
            size = size.checked_add(step.checked_mul(extent - 1)?)?;
            terms.push((axis, *factor));
        }
        Some(WindowPosition {
            node,
            terms,
            first: sum.constant,
            size,
        })
    }

    /// The index in the stored tensor.
    fn stored_index(&self, op: &StructuredOp, body: &mut NodeGraph) -> ScalarNode {
        let mut sum = body.intern_i64(0);
        for (axis, factor) in &self.terms {
            let index = body.intern_index(*axis as u32, op.axes[*axis].extent);
            let factor = body.intern_i64(*factor);
            let term = body.apply_op(ScalarOp::Mul, &[index, factor]);
            sum = body.apply_op(ScalarOp::Add, &[sum, term]);
        }
        sum
    }
}

/// Whether a node depends on indices through some nodes only.
fn depends_by(body: &NodeGraph, node: ScalarNode, by: &[ScalarNode]) -> bool {
    let mut seen = vec![false; body.len()];
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        if by.contains(&node) || std::mem::replace(&mut seen[node.index()], true) {
            continue;
        }
        if body.as_index(node).is_some() {
            return false;
        }
        open.extend(body.operands(node));
    }
    true
}
