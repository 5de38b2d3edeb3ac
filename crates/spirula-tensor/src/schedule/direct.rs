//! Tiles of contractions whose factors are read where they are.
//!
//! A processor has few registers and large caches: what a workgroup's memory saves there is less than
//! what waiting costs, as all accumulators have to be put away at each barrier. Without barriers each
//! invocation keeps its accumulators in registers over the whole fold. That is done where a factor is an
//! element of a tensor at indices as they are, so that nothing is computed again, and where tiles are
//! whole, so that nothing is read outside.

use super::Dispatch;
use super::tile::{Contraction, Split};
use crate::ir::{Node, NodeData};
use spirula_program::Scalar;

/// The tile of a contraction with so many rows and columns; none if its factors are better put into the
/// workgroup's memory.
pub(super) fn splits(
    dispatch: &Dispatch,
    contraction: &Contraction,
    [rows, columns]: [u64; 2],
) -> Option<[Split; 2]> {
    let most = dispatch.profile.direct;
    let [lanes, invocations] = dispatch.profile.tile;
    let is_plain = contraction.factors.iter().all(|f| is_plain(dispatch, *f));
    let is_grid = !contraction.rows.is_empty() && !contraction.columns.is_empty();
    let fits = is_plain && is_grid && contraction.steps.len() == 1;
    if most < 2 || !fits || !columns.is_multiple_of(lanes) {
        return None;
    }
    let across = Split {
        invocations: lanes,
        points: largest_divisor(columns / lanes, most),
    };
    let points = largest_divisor(rows, most);
    let others = (invocations / lanes).max(1);
    let down = Split {
        invocations: others.min(1 << (rows / points).trailing_zeros()),
        points,
    };
    (across.points * down.points > 1).then_some([down, across])
}

/// Whether a factor is an element, of a type that vectors have, at indices of axes.
fn is_plain(dispatch: &Dispatch, factor: Node) -> bool {
    let body = &dispatch.op.body;
    let has_vectors = matches!(body.ty(factor), Scalar::F32 | Scalar::F64 | Scalar::I32);
    match body.node(factor) {
        NodeData::Element(_, position) => {
            has_vectors && position.iter().all(|n| body.as_index(*n).is_some())
        }
        _ => false,
    }
}

/// The largest divisor of a number up to a bound.
fn largest_divisor(number: u64, most: u64) -> u64 {
    let mut divisors = (1..=most.min(number.max(1))).rev();
    divisors
        .find(|divisor| number.is_multiple_of(*divisor))
        .unwrap_or(1)
}
