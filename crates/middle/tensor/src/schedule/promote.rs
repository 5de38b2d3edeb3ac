//! Promotion to workgroup memory.
//!
//! The factors of a tiled contraction are computed once for each tile by all invocations together,
//! into the workgroup's memory, with barriers around. What was fused into a factor is thus done once
//! for each element of a tile. Factors that are elements as they lie in the device's memory stay there
//! where the profile asks for it ([`TensorDispatch::is_direct`]). Places of a tile that are outside hold zeros, so that sums need no
//! guard.

use super::tile::{ContractionAxes, axes_of, match_contraction};
use super::{
    DispatchStep, LoopMapping, PrefetchRound, ScheduleStrategy, StagedNode, SubgroupMatmul,
    TensorDispatch,
};
use crate::ir::{AffineSum, NodeData, ScalarNode};

/// Promotes the factors of a tiled contraction.
pub(super) fn promote_factors(dispatch: &mut TensorDispatch) {
    let is_tiled = matches!(
        dispatch.strategy,
        ScheduleStrategy::Tiled | ScheduleStrategy::Matrices
    );
    if !is_tiled || dispatch.is_direct {
        return;
    }
    let Some(contraction) = match_contraction(&dispatch.op) else {
        return;
    };
    let Some(outer) = dispatch.step_loop else {
        return;
    };
    let factors = dispatch.matrix.map_or(contraction.factors, |m| m.factors);
    for factor in factors {
        let axes = axes_of(&dispatch.op, factor);
        let depends = |at: &usize| dispatch.tiles[*at].axes.iter().any(|axis| axes[*axis]);
        let tiles = (0..dispatch.tiles.len()).filter(depends).collect();
        let tiles = fastest_last(dispatch, factor, tiles);
        let (layout, padding) = match dispatch.matrix {
            Some(_) => (
                tiles.clone(),
                SubgroupMatmul::row_padding(dispatch.op.body.ty(factor)),
            ),
            None => choose_layout(dispatch, &contraction, &tiles),
        };
        dispatch.staged.push(StagedNode {
            node: factor,
            ty: dispatch.op.body.ty(factor),
            tiles,
            layout,
            padding,
        });
    }
    let steps = std::mem::take(&mut dispatch.steps);
    let rounds = dispatch.loops[outer as usize].extent;
    let is_double = dispatch.matrix.is_some_and(|m| m.buffers > 1);
    dispatch.steps = match dispatch.profile.prefetch && rounds > 1 {
        true => {
            dispatch.ahead = Some(dispatch.add_loop(rounds, LoopMapping::Sequential));
            insert_prefetch(steps, outer, is_double)
        }
        false => insert_stages(steps, outer, dispatch.staged.len()),
    };
    // Zeros outside of the operands make sums right without a guard.
    dispatch.fold_guards.clear();
}

/// Keeps adjacent points next to each other, where invocations have such.
fn choose_layout(
    dispatch: &TensorDispatch,
    of: &ContractionAxes,
    tiles: &[usize],
) -> (Vec<usize>, u64) {
    let mut layout = tiles.to_vec();
    let adjacent = dispatch.profile.adjacent;
    let is_points = |tile: &usize| dispatch.tiles[*tile].axes != of.steps;
    if adjacent > 1 {
        layout.sort_by_key(is_points);
    }
    let is_turned = layout != tiles;
    (layout, if is_turned { adjacent } else { 0 })
}

/// Puts stages and barriers at the beginning and a barrier at the end of a loop.
fn insert_stages(steps: Vec<DispatchStep>, at: u32, count: usize) -> Vec<DispatchStep> {
    let each = steps.into_iter().map(|step| match step {
        DispatchStep::For(number, inner) if number == at => {
            let mut steps: Vec<DispatchStep> = (0..count).map(DispatchStep::Stage).collect();
            steps.push(DispatchStep::Barrier);
            steps.extend(inner);
            steps.push(DispatchStep::Barrier);
            DispatchStep::For(number, steps)
        }
        DispatchStep::For(number, inner) => {
            DispatchStep::For(number, insert_stages(inner, at, count))
        }
        step => step,
    });
    each.collect()
}

/// The same with the next round's tiles on their way while this round's are used; into memory of their
/// own where there is such, so that the workgroup waits once a round.
fn insert_prefetch(steps: Vec<DispatchStep>, at: u32, is_double: bool) -> Vec<DispatchStep> {
    let mut all = Vec::new();
    for step in steps {
        match step {
            DispatchStep::For(number, inner) if number == at => {
                all.push(DispatchStep::Fetch(PrefetchRound::First));
                let mut steps = Vec::new();
                match is_double {
                    true => all.extend([
                        DispatchStep::Commit(PrefetchRound::First),
                        DispatchStep::Barrier,
                    ]),
                    false => steps.extend([
                        DispatchStep::Commit(PrefetchRound::First),
                        DispatchStep::Barrier,
                    ]),
                }
                steps.push(DispatchStep::Fetch(PrefetchRound::Next));
                steps.extend(inner);
                if is_double {
                    steps.push(DispatchStep::Commit(PrefetchRound::Next));
                }
                steps.push(DispatchStep::Barrier);
                all.push(DispatchStep::For(number, steps));
            }
            DispatchStep::For(number, inner) => all.push(DispatchStep::For(
                number,
                insert_prefetch(inner, at, is_double),
            )),
            step => all.push(step),
        }
    }
    all
}

/// The tiles with the one last along which a factor's elements lie next to each other.
fn fastest_last(
    dispatch: &TensorDispatch,
    factor: ScalarNode,
    mut tiles: Vec<usize>,
) -> Vec<usize> {
    let body = &dispatch.op.body;
    let needed = body.mark_reachable(&[factor]);
    let contiguous = body
        .node_ids()
        .filter(|n| needed[n.index()])
        .find_map(|node| {
            let NodeData::Element(_, position) = body.node(node) else {
                return None;
            };
            let last = AffineSum::from_node(body, *position.last()?);
            let unit = last.terms.iter().find(|(_, factor)| *factor == 1)?;
            body.as_index(unit.0)
        });
    let has = |tile: &usize| {
        let axes = &dispatch.tiles[*tile].axes;
        contiguous.is_some_and(|axis| axes.contains(&(axis as usize)))
    };
    if let Some(at) = tiles.iter().position(has) {
        let fastest = tiles.remove(at);
        tiles.push(fastest);
    }
    tiles
}
