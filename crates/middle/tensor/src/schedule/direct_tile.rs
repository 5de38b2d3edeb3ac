//! Direct tiles: tiles of contractions whose factors are read from the device's memory.
//!
//! A processor has few registers and large caches. There staging in the workgroup's memory costs more than it saves,
//! because all accumulators have to be spilled at each barrier. Without barriers each invocation keeps its
//! accumulators in registers over the whole reduction.
//!
//! Direct tiles are used where nothing but indices is recomputed. Elements along columns
//! belong to neighbouring invocations, so they are best contiguous. Elements along rows are the same for all
//! invocations and may be anywhere. They may also be outside of the tensor, as in convolutions: the branch is then
//! uniform.

use super::tile_loops::TileSplit;
use super::{ContractionAxes, ScheduleProfile};
use crate::ir::{DimExtent, NodeData, NodeGraph, ScalarNode, StructuredOp};
use spirula_program::{ScalarOp, ScalarType};

/// Number of tiles of a single row that there should be. With fewer, tiles are wider: reads of the second factor are
/// then contiguous, which gains more from the memory than sums in registers do.
const TILES: u64 = 8;

/// The splits of a contraction that is no scattered row along its rows and columns, whose numbers are `sizes`. None if
/// its factors should be staged in the workgroup's memory.
pub(super) fn choose_direct_splits(
    op: &StructuredOp,
    profile: &ScheduleProfile,
    contraction: &ContractionAxes,
    sizes: [u64; 2],
) -> Option<[TileSplit; 2]> {
    let [rows, columns] = sizes;
    let most = profile.direct;
    let [lanes, invocations] = profile.tile;
    let [along_rows, along_columns] = contraction.factors;
    let is_read = is_in_place(&op.body, along_rows) && is_plain_element(&op.body, along_columns);
    let fits = is_read && !contraction.columns.is_empty() && !contraction.steps.is_empty();
    if most < 2 || !fits || columns < lanes {
        return None;
    }
    let lines = columns.div_ceil(lanes);
    let wide = match rows {
        1 => (lines / TILES).clamp(most, most * 4),
        _ => most,
    };
    let across = TileSplit {
        invocations: lanes,
        points: find_largest_divisor(lines, wide),
    };
    let points = find_largest_divisor(rows, most);
    let others = (invocations / lanes).max(1);
    let down = TileSplit {
        invocations: others.min(1 << (rows / points).trailing_zeros()),
        points,
    };
    (across.points * down.points > 1).then_some([down, across])
}

/// Whether a contraction on a processor is a product of a row, whose matrix does not lie along the columns. Each element of the
/// matrix is used once, so a copy has no use: invocations read it at a distance from each other.
pub(super) fn is_scattered_row(
    op: &StructuredOp,
    profile: &ScheduleProfile,
    contraction: &ContractionAxes,
) -> bool {
    profile.is_processor()
        && contraction.has_single_row(op)
        && !is_along_columns(op, contraction, contraction.factors[1])
}

/// Whether a factor is an element at indices of axes.
fn is_plain_element(body: &NodeGraph, factor: ScalarNode) -> bool {
    let NodeData::Element(_, position) = body.node(factor) else {
        return false;
    };
    let is_index = |n: &ScalarNode| body.as_index(*n).is_some() || body.as_literal(*n).is_some();
    is_in_place(body, factor) && position.iter().all(is_index)
}

/// Whether a factor is an element at indices of axes, contiguous along the last column axis.
pub(crate) fn is_along_columns(
    op: &StructuredOp,
    contraction: &ContractionAxes,
    factor: ScalarNode,
) -> bool {
    let is_wide = |axis: &usize| op.axes[*axis].extent != DimExtent::Static(1);
    let axis = |node: &ScalarNode| op.body.as_index(*node).map(|axis| axis as usize);
    let last = match op.body.node(factor) {
        NodeData::Element(_, position) => position.iter().rev().filter_map(axis).find(is_wide),
        _ => None,
    };
    let columns = contraction.columns.iter().rev().copied().find(is_wide);
    is_plain_element(&op.body, factor) && last == columns
}

/// Whether a node is an element of a type that vectors have, at a position that is computed of indices alone.
/// It may be a literal where the position is outside.
pub(crate) fn is_in_place(body: &NodeGraph, node: ScalarNode) -> bool {
    let has_vectors = matches!(
        body.ty(node),
        ScalarType::F32 | ScalarType::F64 | ScalarType::I32
    );
    let element = match body.as_apply(node) {
        Some((operator, &[_, inside, outside])) if operator.op == ScalarOp::Cond => {
            body.as_literal(outside).is_some().then_some(inside)
        }
        _ => Some(node),
    };
    let is_element = element.is_some_and(|n| matches!(body.node(n), NodeData::Element(..)));
    let needed = body.mark_reachable(&[node]);
    let nodes = body.node_ids().filter(|n| needed[n.index()]);
    let reads = nodes.filter(|n| matches!(body.node(*n), NodeData::Element(..)));
    has_vectors && is_element && reads.count() == 1
}

/// The largest divisor of a number up to a bound.
pub(super) fn find_largest_divisor(number: u64, most: u64) -> u64 {
    let mut divisors = (1..=most.min(number.max(1))).rev();
    divisors
        .find(|divisor| number.is_multiple_of(*divisor))
        .unwrap_or(1)
}
