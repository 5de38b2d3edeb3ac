//! Padded factors: factors of large products, copied so that their rows are aligned.
//!
//! Tiles for fragments are copied 16 bytes at a time, so rows must begin at multiples of 16 bytes. Where they do not, a
//! copy whose rows end in zeros costs little beside the product. The reduction includes the zeros, so that only the last
//! tiles of results have bounds.

use crate::ir::{
    DenseTensorType, DimExtent, NodeData, NodeGraph, OpKind, ScalarNode, StructuredOp,
    TensorFunction, TensorOp, TensorShape, TensorValue,
};
use crate::schedule::{ContractionAxes, ScheduleProfile, is_matrix_product, match_contraction};
use spirula_diagnostics::SourceLocation;
use spirula_program::{ScalarLiteral, ScalarOp, ScalarType};

/// Alignment of rows in bytes.
const BYTES: u64 = 16;

/// Pads the factors of all products for which it pays.
pub(super) fn pad_factors(function: &mut TensorFunction, profile: &ScheduleProfile) {
    if profile.matrices.is_none() {
        return;
    }
    for block in function.block_ids() {
        let ops = std::mem::take(&mut function.block_mut(block).ops);
        let mut padded = Vec::with_capacity(ops.len());
        for mut op in ops {
            if let OpKind::Structured(structured) = &mut op.kind
                && let Some(pads) = ProductPadding::from_op(function, structured, profile)
            {
                let copies = pads.build_copies(function, op.place);
                **structured = pads.pad_product(structured, &copies);
                padded.extend(copies);
            }
            padded.push(op);
        }
        function.block_mut(block).ops = padded;
    }
}

/// A factor that is an element of a tensor at plain indices.
struct IndexedFactor {
    node: ScalarNode,
    value: TensorValue,
    ty: DenseTensorType,
    /// The axis of each dimension.
    axes: Vec<usize>,
}

/// The factors of a product that are padded.
struct ProductPadding {
    factors: Vec<IndexedFactor>,
    /// The reduced axis and its new size, where that changes.
    fold: Option<(usize, u64)>,
}

impl ProductPadding {
    /// The padding of an operation; none where rows are aligned, or the product is small.
    fn from_op(
        function: &TensorFunction,
        op: &StructuredOp,
        profile: &ScheduleProfile,
    ) -> Option<ProductPadding> {
        if !is_matrix_product(op, profile) {
            return None;
        }
        let parts = match_contraction(op)?;
        let total = |axes: &[usize]| op.count_static_points(axes.iter().copied());
        let [rows, columns] = [total(&parts.rows)?, total(&parts.columns)?];
        // A copied element should be used often.
        if rows.min(columns) < 2 * profile.busy {
            return None;
        }
        let factors = parts.factors.map(|node| match_factor(function, op, node));
        let [Some(a), Some(b)] = factors else {
            return None;
        };
        let fold = longer_fold(op, &parts, &[&a, &b]);
        let mut pads = ProductPadding {
            factors: Vec::new(),
            fold,
        };
        for factor in [a, b] {
            if pads.padded_shape(&factor) != factor.ty.shape {
                pads.factors.push(factor);
            }
        }
        (!pads.factors.is_empty()).then_some(pads)
    }

    /// The shape of a factor's copy.
    fn padded_shape(&self, factor: &IndexedFactor) -> TensorShape {
        let last = factor.axes.len() - 1;
        let sizes = factor.ty.shape.iter().zip(&factor.axes).enumerate();
        let padded = sizes.map(|(at, (dim, axis))| {
            let size = match self.fold {
                Some((fold, size)) if fold == *axis => size,
                _ => dim.as_static().unwrap_or(0),
            };
            if at == last {
                DimExtent::Static(size.next_multiple_of(vector_elements(factor.ty.element)))
            } else {
                DimExtent::Static(size)
            }
        });
        padded.collect()
    }

    /// The operations that compute the copies.
    fn build_copies(&self, function: &mut TensorFunction, place: SourceLocation) -> Vec<TensorOp> {
        let copies = self.factors.iter().map(|factor| {
            let shape = self.padded_shape(factor);
            let mut op = StructuredOp::with_parallel_axes(&shape);
            let point = op.axis_indices();
            let body = &mut op.body;
            let mut inside = body.intern_literal(ScalarLiteral::new(ScalarType::Bool, 1));
            for (index, dim) in point.iter().zip(&factor.ty.shape) {
                let size = body.intern_size(*dim);
                let is_in = body.apply_op(ScalarOp::SLt, &[*index, size]);
                inside = match body.as_literal(is_in) {
                    Some(_) => inside,
                    None => body.apply_op(ScalarOp::LogAnd, &[inside, is_in]),
                };
            }
            let element = body.intern_element(factor.value, factor.ty.element, &point);
            let zero = body.intern_literal(ScalarLiteral::new(factor.ty.element, 0));
            let value = body.apply_op(ScalarOp::Cond, &[inside, element, zero]);
            op.add_yield(value);
            let copy = function.new_value(DenseTensorType {
                element: factor.ty.element,
                shape,
            });
            TensorOp {
                kind: OpKind::Structured(Box::new(op)),
                results: vec![copy],
                place,
            }
        });
        copies.collect()
    }

    /// The product of the copies.
    fn pad_product(&self, op: &StructuredOp, copies: &[TensorOp]) -> StructuredOp {
        let mut padded = op.clone();
        if let Some((axis, size)) = self.fold {
            padded.axes[axis].extent = DimExtent::Static(size);
        }
        let mut body = NodeGraph::default();
        let nodes = body.import_nodes(
            &op.body,
            &op.collect_roots(),
            |body, node, data| match data {
                NodeData::Index(axis) => {
                    let extent = padded.axes.get(*axis as usize)?.extent;
                    Some(body.intern_index(*axis, extent))
                }
                NodeData::Element(_, position) => {
                    let at = self.factors.iter().position(|f| f.node == node)?;
                    let element = self.factors[at].ty.element;
                    Some(body.intern_element(copies[at].results[0], element, position))
                }
                _ => None,
            },
        );
        padded.body = body;
        let mut nodes = nodes.into_iter();
        padded.replace_roots(|_| nodes.next());
        padded
    }
}

/// Number of elements in 16 bytes.
fn vector_elements(ty: ScalarType) -> u64 {
    (BYTES / ty.size().max(1)).max(1)
}

/// The only element that a factor is computed of, if there are no conditions.
fn match_factor(
    function: &TensorFunction,
    op: &StructuredOp,
    node: ScalarNode,
) -> Option<IndexedFactor> {
    let needed = op.body.mark_reachable(&[node]);
    let mut found = None;
    for node in op.body.node_ids().filter(|n| needed[n.index()]) {
        match op.body.node(node) {
            NodeData::Apply(operator, _) if operator.op == ScalarOp::Cond => return None,
            NodeData::Element(value, position) => {
                let axes = position
                    .iter()
                    .map(|n| Some(op.body.as_index(*n)? as usize));
                let axes: Vec<usize> = axes.collect::<Option<_>>()?;
                let whole = axes.iter().enumerate().all(|(at, axis)| {
                    let extent = op.axes[*axis].extent;
                    !axes[..at].contains(axis) && function.ty(*value).shape[at] == extent
                });
                if found.is_some() || axes.is_empty() || !whole {
                    return None;
                }
                found = Some(IndexedFactor {
                    node,
                    value: *value,
                    ty: function.ty(*value).clone(),
                    axes,
                });
            }
            _ => {}
        }
    }
    found
}

/// The reduced axis and its size rounded up to a multiple of 16 bytes, where a factor is contiguous along it.
fn longer_fold(
    op: &StructuredOp,
    parts: &ContractionAxes,
    factors: &[&IndexedFactor],
) -> Option<(usize, u64)> {
    let [fold] = parts.steps[..] else { return None };
    let size = op.axes[fold].extent.as_static()?;
    let along = factors.iter().filter(|f| f.axes.last() == Some(&fold));
    let multiple = along.map(|f| vector_elements(f.ty.element)).max()?;
    let longer = size.next_multiple_of(multiple);
    (longer != size).then_some((fold, longer))
}
