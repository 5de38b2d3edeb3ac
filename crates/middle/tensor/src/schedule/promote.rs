//! Promotion of the factors of a tiled contraction to workgroup memory.
//!
//! All invocations of a workgroup together compute the factors once for each tile, into the workgroup's memory, with
//! barriers around. Operations that were fused into a factor are thus computed once for each element of a tile.
//! Places of a tile that are outside hold zeros, so that sums need no guard.

use super::{
    ContractionAxes, DispatchStep, LoopMapping, PrefetchLoops, PrefetchRound, StagedNode,
    StagingPlan, SubgroupMatmul, TensorLoopNest, find_node_axes,
};
use crate::ir::{AffineSum, NodeData, ScalarNode};

/// Promotes the factors of a contraction, at the iterations of the loop `outer` over tiles of the reduced axes.
pub(super) fn promote_factors(
    nest: &mut TensorLoopNest,
    contraction: &ContractionAxes,
    matmul: Option<&SubgroupMatmul>,
    outer: u32,
) -> StagingPlan {
    let mut staging = StagingPlan::default();
    let factors = matmul.map_or(contraction.factors, |m| m.factors);
    for factor in factors {
        let axes = find_node_axes(&nest.op, factor);
        let depends = |at: &usize| nest.tiles[*at].axes.iter().any(|axis| axes[*axis]);
        let tiles = (0..nest.tiles.len()).filter(depends).collect();
        let tiles = move_fastest_last(nest, factor, tiles);
        let parts = matmul.map_or(1, |m| m.parts);
        let ty = match matmul {
            Some(matmul) if parts > 1 => matmul.shape.factors[0].storage_type(),
            _ => nest.op.body.ty(factor),
        };
        let (layout, padding) = match matmul {
            Some(_) => (tiles.clone(), SubgroupMatmul::row_padding(ty)),
            None => choose_layout(nest, contraction, &tiles),
        };
        staging.nodes.push(StagedNode {
            node: factor,
            ty,
            parts,
            tiles,
            layout,
            padding,
        });
    }
    let steps = std::mem::take(&mut nest.steps);
    let rounds = nest.loop_extent(outer);
    let is_double = matmul.is_some_and(|m| m.buffers > 1);
    nest.steps = if nest.profile.prefetch && rounds > 1 {
        staging.prefetch = Some(PrefetchLoops {
            current: outer,
            ahead: nest.add_loop(rounds, LoopMapping::Sequential),
        });
        insert_prefetch(steps, outer, is_double)
    } else {
        insert_stages(steps, outer, staging.nodes.len())
    };
    // Zeros outside of the operands make sums right without a guard.
    nest.fold_guards.clear();
    staging
}

/// The order of tiles in memory and the padding of rows. Adjacent points are contiguous, where invocations have such.
fn choose_layout(
    nest: &TensorLoopNest,
    contraction: &ContractionAxes,
    tiles: &[usize],
) -> (Vec<usize>, u64) {
    let mut layout = tiles.to_vec();
    let adjacent = nest.profile.adjacent;
    let is_points = |tile: &usize| nest.tiles[*tile].axes != contraction.steps;
    if adjacent > 1 {
        layout.sort_by_key(is_points);
    }
    let is_turned = layout != tiles;
    (layout, if is_turned { adjacent } else { 0 })
}

/// Inserts stages and a barrier at the beginning of a loop, and a barrier at its end.
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

/// Inserts stages that fetch the next iteration's tiles while this iteration's are used.
///
/// With two copies of each tile, the next tiles are committed into the other copy, and the workgroup waits once an
/// iteration.
fn insert_prefetch(steps: Vec<DispatchStep>, at: u32, is_double: bool) -> Vec<DispatchStep> {
    let commit = [
        DispatchStep::Commit(PrefetchRound::First),
        DispatchStep::Barrier,
    ];
    let mut all = Vec::new();
    for step in steps {
        match step {
            DispatchStep::For(number, inner) if number == at => {
                all.push(DispatchStep::Fetch(PrefetchRound::First));
                let mut steps = Vec::new();
                let committed = if is_double { &mut all } else { &mut steps };
                committed.extend(commit.clone());
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

/// The tiles in an order whose last is the one along which a factor's elements are contiguous.
fn move_fastest_last(
    nest: &TensorLoopNest,
    factor: ScalarNode,
    mut tiles: Vec<usize>,
) -> Vec<usize> {
    let body = &nest.op.body;
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
        let axes = &nest.tiles[*tile].axes;
        contiguous.is_some_and(|axis| axes.contains(&(axis as usize)))
    };
    if let Some(at) = tiles.iter().position(has) {
        let fastest = tiles.remove(at);
        tiles.push(fastest);
    }
    tiles
}
