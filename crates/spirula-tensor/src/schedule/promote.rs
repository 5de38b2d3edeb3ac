//! Promotion to workgroup memory.
//!
//! The factors of a tiled contraction are computed once for each tile by all invocations together,
//! into the workgroup's memory, with barriers around. What was fused into a factor is thus done once
//! for each element of a tile. Places of a tile that are outside hold zeros, so that sums need no
//! guard.

use super::tile::{axes_of, contraction};
use super::{Dispatch, Staged, Step, Strategy};
use crate::ir::{Affine, Node, NodeData};

/// Promotes the factors of a tiled contraction.
pub(super) fn run(dispatch: &mut Dispatch) {
    if dispatch.strategy != Strategy::Tiled {
        return;
    }
    let Some(contraction) = contraction(&dispatch.op) else {
        return;
    };
    let outer = step_loop(dispatch, contraction.step);
    let Some(outer) = outer else { return };
    for factor in contraction.factors {
        let axes = axes_of(&dispatch.op, factor);
        let tiled = (0..axes.len()).filter(|at| axes[*at] && dispatch.tiles[*at].is_some());
        let axes = fastest_last(dispatch, factor, tiled.collect());
        dispatch.staged.push(Staged {
            node: factor,
            ty: dispatch.op.body.ty(factor),
            axes,
            within: outer,
        });
    }
    let steps = std::mem::take(&mut dispatch.steps);
    let count = dispatch.staged.len();
    dispatch.steps = insert(steps, outer, count);
    // Zeros outside of the operands make sums right without a guard.
    dispatch.fold_guards.clear();
}

/// The loop over the tiles of an axis.
fn step_loop(dispatch: &Dispatch, axis: usize) -> Option<u32> {
    let tile = dispatch.tiles[axis]?;
    let base = Affine::of(&dispatch.points, tile.base);
    match base.terms.first() {
        Some((node, _)) => match dispatch.points.node(*node) {
            NodeData::Counter(number) => Some(*number),
            _ => None,
        },
        // A single round has no counter: its loop is the one before that over its places.
        None => {
            let local = Affine::of(&dispatch.points, tile.local);
            let (node, _) = local.terms.first()?;
            match dispatch.points.node(*node) {
                NodeData::Counter(number) => number.checked_sub(1),
                _ => None,
            }
        }
    }
}

/// Puts stages and barriers at the beginning and a barrier at the end of a loop.
fn insert(steps: Vec<Step>, at: u32, count: usize) -> Vec<Step> {
    let each = steps.into_iter().map(|step| match step {
        Step::For(number, inner) if number == at => {
            let mut steps: Vec<Step> = (0..count).map(Step::Stage).collect();
            steps.push(Step::Barrier);
            steps.extend(inner);
            steps.push(Step::Barrier);
            Step::For(number, steps)
        }
        Step::For(number, inner) => Step::For(number, insert(inner, at, count)),
        step => step,
    });
    each.collect()
}

/// The axes with the one last along which a factor's elements lie next to each other.
fn fastest_last(dispatch: &Dispatch, factor: Node, mut axes: Vec<usize>) -> Vec<usize> {
    let body = &dispatch.op.body;
    let needed = body.reachable(&[factor]);
    let contiguous = body.ids().filter(|n| needed[n.index()]).find_map(|node| {
        let NodeData::Element(_, position) = body.node(node) else {
            return None;
        };
        let last = Affine::of(body, *position.last()?);
        let unit = last.terms.iter().find(|(_, factor)| *factor == 1)?;
        body.as_index(unit.0)
    });
    if let Some(at) = axes.iter().position(|a| Some(*a as u32) == contiguous) {
        let fastest = axes.remove(at);
        axes.push(fastest);
    }
    axes
}
