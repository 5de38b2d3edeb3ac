//! Materialised factors: factors of products, stored so that processors can read them from memory.
//!
//! Invocations without barriers read factors from the device's memory ([`ScheduleProfile::direct`]). Elements along
//! columns must be contiguous as the columns are, and nothing but indices may be computed for either factor. Where a
//! factor is converted, transposed or computed otherwise, storing it costs little beside a product that uses each of its
//! elements often.

use super::{fusion_cost, pad_input};
use crate::ir::{
    DenseTensorType, NodeData, NodeGraph, OpKind, ScalarNode, StructuredOp, TensorFunction,
    TensorOp, TensorShape,
};
use crate::schedule::{
    ContractionAxes, CrossLaneAxes, ScheduleProfile, find_node_axes, is_along_columns, is_in_place,
    match_contraction, plan_large_fragments,
};
use spirula_diagnostics::SourceLocation;
use spirula_program::ScalarType;

/// Factor of the cost of a copy whose rows are not multiples of vectors.
const ONE_BY_ONE: u64 = 8;

/// Stores the factors of all products for which it pays.
pub(super) fn materialise_factors(function: &mut TensorFunction, profile: &ScheduleProfile) {
    if !profile.is_processor() {
        return;
    }
    for block in function.block_ids() {
        let ops = std::mem::take(&mut function.block_mut(block).ops);
        let mut stored = Vec::with_capacity(ops.len());
        for mut op in ops {
            if let OpKind::Structured(structured) = &mut op.kind
                && let Some(parts) = match_contraction(structured)
            {
                if let Some(framed) =
                    pad_input::store_factor(function, structured, profile, op.place)
                {
                    stored.extend([framed, op]);
                    continue;
                }
                let factors = find_unsuitable_factors(function, structured, &parts, profile);
                let copies = factors
                    .iter()
                    .map(|factor| build_factor_copy(function, structured, factor, op.place));
                let copies: Vec<TensorOp> = copies.collect();
                **structured = replace_factors(structured, &factors, &copies);
                stored.extend(copies);
            }
            stored.push(op);
        }
        function.block_mut(block).ops = stored;
    }
}

/// A factor and the axes of the tensor that it is stored in.
struct StoredFactor {
    factor: ScalarNode,
    axes: Vec<usize>,
}

/// The factors that are to be stored.
fn find_unsuitable_factors(
    function: &TensorFunction,
    op: &StructuredOp,
    parts: &ContractionAxes,
    profile: &ScheduleProfile,
) -> Vec<StoredFactor> {
    let total = |axes: &[usize]| op.count_static_points(axes.iter().copied());
    let has_vectors = |node: &ScalarNode| {
        matches!(
            op.body.ty(*node),
            ScalarType::F32 | ScalarType::F64 | ScalarType::I32
        )
    };
    if CrossLaneAxes::from_op(op, profile).is_some() {
        return Vec::new();
    }
    if let Some(factors) = find_unlike_matrices(function, op, profile) {
        return factors;
    }
    let (Some(all), Some(columns)) = (
        op.count_static_points(0..op.axes.len()),
        total(&parts.columns),
    ) else {
        return Vec::new();
    };
    let is_grid = !parts.rows.is_empty() && !parts.columns.is_empty();
    let is_whole = columns.is_multiple_of(profile.tile[0]);
    if !is_grid || !is_whole || !parts.factors.iter().all(has_vectors) {
        return Vec::new();
    }
    let [rows, columns] = parts.factors;
    let mut factors = Vec::new();
    if !is_in_place(&op.body, rows) {
        factors.push(StoredFactor {
            factor: rows,
            axes: order_factor_axes(op, rows, [&parts.rows, &parts.steps]),
        });
    }
    if !is_along_columns(op, parts, columns) {
        factors.push(StoredFactor {
            factor: columns,
            axes: order_factor_axes(op, columns, [&parts.steps, &parts.columns]),
        });
    }
    let costs = factors.iter().map(|stored| {
        let elements = total(&stored.axes).unwrap_or(u64::MAX);
        fusion_cost::estimate_store_cost(function, &op.body, stored.factor, elements, profile)
    });
    if costs.fold(0, u64::saturating_add) <= all {
        factors
    } else {
        Vec::new()
    }
}

/// The same of a product by large fragments, whose factors must be matrices in memory; none where that does not pay.
fn find_unlike_matrices(
    function: &TensorFunction,
    op: &StructuredOp,
    profile: &ScheduleProfile,
) -> Option<Vec<StoredFactor>> {
    let plan = plan_large_fragments(function, op, profile)?;
    let all = op.count_static_points(0..op.axes.len())?;
    let mut factors = Vec::new();
    let mut cost = 0u64;
    for (side, factor) in plan.contraction.factors.into_iter().enumerate() {
        let kinds = plan.factor_axes(side);
        if plan.match_operand(function, op, side).is_some() {
            continue;
        }
        let [own, steps] = kinds;
        let axes = order_factor_axes(
            op,
            factor,
            if side == 0 {
                [own, steps]
            } else {
                [steps, own]
            },
        );
        let elements = op.count_static_points(axes.iter().copied())?;
        let each = if op
            .count_static_points(axes.last().copied())?
            .is_multiple_of(profile.tile[0])
        {
            1
        } else {
            // Neighbours read elements that are not contiguous.
            ONE_BY_ONE
        };
        let storing =
            fusion_cost::estimate_store_cost(function, &op.body, factor, elements, profile);
        cost = cost.saturating_add(storing.saturating_mul(each));
        factors.push(StoredFactor { factor, axes });
    }
    (cost <= all).then_some(factors)
}

/// The axes of a factor: those of neither kind, then those of the two kinds in their order.
fn order_factor_axes(op: &StructuredOp, factor: ScalarNode, kinds: [&[usize]; 2]) -> Vec<usize> {
    let has = find_node_axes(op, factor);
    let is_other = |at: &usize| kinds.iter().all(|axes| !axes.contains(at));
    let others = (0..op.axes.len()).filter(is_other);
    let kinds = kinds.into_iter().flatten().copied();
    others.chain(kinds).filter(|at| has[*at]).collect()
}

/// The operation that stores a factor.
fn build_factor_copy(
    function: &mut TensorFunction,
    op: &StructuredOp,
    stored: &StoredFactor,
    place: SourceLocation,
) -> TensorOp {
    let StoredFactor { factor, axes } = stored;
    let shape: TensorShape = axes.iter().map(|at| op.axes[*at].extent).collect();
    let mut map = StructuredOp::with_parallel_axes(&shape);
    let point = map.axis_indices();
    let values = map
        .body
        .import_nodes(&op.body, &[*factor], |_, _, data| match data {
            NodeData::Index(axis) => {
                let at = axes.iter().position(|at| *at == *axis as usize)?;
                Some(point[at])
            }
            _ => None,
        });
    map.add_yield(values[0]);
    let element = op.body.ty(*factor);
    let result = function.new_value(DenseTensorType { element, shape });
    TensorOp {
        kind: OpKind::Structured(Box::new(map)),
        results: vec![result],
        place,
    }
}

/// A product that reads stored factors.
fn replace_factors(
    op: &StructuredOp,
    factors: &[StoredFactor],
    copies: &[TensorOp],
) -> StructuredOp {
    let mut product = op.clone();
    let mut body = NodeGraph::default();
    let nodes = body.import_nodes(&op.body, &op.collect_roots(), |body, node, _| {
        let mut pairs = factors.iter().zip(copies);
        let (StoredFactor { factor, axes }, copy) =
            pairs.find(|(stored, _)| stored.factor == node)?;
        let indices = axes
            .iter()
            .map(|at| body.intern_index(*at as u32, op.axes[*at].extent));
        let position: Vec<ScalarNode> = indices.collect();
        Some(body.intern_element(copy.results[0], op.body.ty(*factor), &position))
    });
    product.body = body;
    let mut nodes = nodes.into_iter();
    product.replace_roots(|_| nodes.next());
    product
}
