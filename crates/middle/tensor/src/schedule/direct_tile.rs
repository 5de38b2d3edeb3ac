//! Tiles of contractions whose factors are read where they are.
//!
//! A processor has few registers and large caches: what a workgroup's memory saves there is less than
//! what waiting costs, as all accumulators have to be put away at each barrier. Without barriers each
//! invocation keeps its accumulators in registers over the whole fold. That is done where nothing but indices
//! is computed again, and where tiles are whole. Elements along columns are those of neighbouring
//! invocations, best next to each other. Elements along rows are the same for them, so that these may be
//! anywhere, also outside of the tensor, as in convolutions: that is a branch which all take alike.

use super::ScheduleProfile;
use super::tile::{ContractionAxes, TileSplit};
use crate::ir::{DimExtent, NodeData, NodeGraph, ScalarNode, StructuredOp};
use spirula_program::{ScalarOp, ScalarType};

/// Tiles of a single row that there should be. Fewer are wider: what is read of the second factor lies
/// together then, which memory is faster at than registers are at holding the sums.
const TILES: u64 = 8;

/// The tile of a contraction with so many rows and columns; none if its factors are better put into the
/// workgroup's memory.
pub(super) fn choose_direct_splits(
    op: &StructuredOp,
    profile: &ScheduleProfile,
    contraction: &ContractionAxes,
    [rows, columns]: [u64; 2],
) -> Option<[TileSplit; 2]> {
    let most = profile.direct;
    let [lanes, invocations] = profile.tile;
    let [along_rows, along_columns] = contraction.factors;
    let is_read = is_in_place(&op.body, along_rows) && is_plain(&op.body, along_columns);
    // Without rows nothing is read twice: only what does not lie as the columns do is worth a copy.
    let is_shared = !contraction.rows.is_empty() || is_along(op, contraction, along_columns);
    let is_grid = !contraction.columns.is_empty() && is_shared;
    let fits = is_read && is_grid && !contraction.steps.is_empty();
    if most < 2 || !fits || !columns.is_multiple_of(lanes) {
        return None;
    }
    let wide = match rows {
        1 => (columns / lanes / TILES).clamp(most, most * 4),
        _ => most,
    };
    let across = TileSplit {
        invocations: lanes,
        points: largest_divisor(columns / lanes, wide),
    };
    let points = largest_divisor(rows, most);
    let others = (invocations / lanes).max(1);
    let down = TileSplit {
        invocations: others.min(1 << (rows / points).trailing_zeros()),
        points,
    };
    (across.points * down.points > 1).then_some([down, across])
}

/// Whether a factor is an element at indices of axes.
fn is_plain(body: &NodeGraph, factor: ScalarNode) -> bool {
    let NodeData::Element(_, position) = body.node(factor) else {
        return false;
    };
    let is_index = |n: &ScalarNode| body.as_index(*n).is_some() || body.as_literal(*n).is_some();
    is_in_place(body, factor) && position.iter().all(is_index)
}

/// Whether elements of such a factor lie as the columns do.
pub(crate) fn is_along(
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
    is_plain(&op.body, factor) && last == columns
}

/// Whether a node is an element, of a type that vectors have, at a position that is computed of indices
/// alone; or a literal where that is outside.
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
pub(super) fn largest_divisor(number: u64, most: u64) -> u64 {
    let mut divisors = (1..=most.min(number.max(1))).rev();
    divisors
        .find(|divisor| number.is_multiple_of(*divisor))
        .unwrap_or(1)
}
