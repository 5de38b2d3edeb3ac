//! Row fusion: reductions of rows and the maps over their results and the same rows become one operation.
//!
//! A normalisation reduces rows, computes with the results and the rows again, perhaps reduces those values, and writes
//! elements of the rows. Where all these run over the same rows, one workgroup does all of it for a row. The row is read
//! from the device's memory once and from caches afterwards, and results of the reductions never reach memory. Maps in
//! between are recomputed where they are read.

use super::use_def::{TensorOpPosition, TensorUses};
use crate::ir::{
    AxisKind, DimExtent, NodeData, NodeGraph, OpKind, ScalarNode, StructuredOp, StructuredYield,
    TensorFunction, TensorValue, YieldDestination,
};
use crate::schedule::{ScheduleProfile, match_contraction};
use std::collections::BTreeSet;

/// Most nodes of the fused body.
const NODES: usize = 4096;
/// Fewest points of a row that are worth a workgroup: where there are many rows, and where there are few.
const SHORTEST: [u64; 2] = [64, 4];
/// Most rows that count as few.
const FEW: u64 = 4096;
/// Most points of a row for one workgroup, where there are fewer rows than keep a device busy.
const LONGEST: u64 = 1 << 16;
/// Most operations that are fused.
const MEMBERS: usize = 16;

/// Fuses reductions of rows with the maps that read them.
pub(super) fn fuse_rows(function: &mut TensorFunction, profile: &ScheduleProfile) {
    if profile.rows == 1 {
        return;
    }
    let mut uses = TensorUses::from_function(function);
    for block in function.block_ids() {
        for at in (0..function.block(block).ops.len()).rev() {
            if let Some(joined) = fuse_map_rows(function, &uses, (block, at), profile) {
                uses.replace_kind(function, (block, at), OpKind::Structured(Box::new(joined)));
            }
        }
    }
    // Reductions that were fused would be joined with their siblings.
    super::dce::eliminate_dead_code(function);
}

/// Whether an operation is a map that will be fused with the reductions that it reads: storing its result takes no dispatch more.
pub(super) fn is_fusible_map(
    function: &TensorFunction,
    uses: &TensorUses,
    at: TensorOpPosition,
    profile: &ScheduleProfile,
) -> bool {
    profile.rows > 1 && fuse_map_rows(function, uses, at, profile).is_some()
}

/// A map with the reductions whose results it reads, if they are over the same rows.
fn fuse_map_rows(
    function: &TensorFunction,
    uses: &TensorUses,
    at: TensorOpPosition,
    profile: &ScheduleProfile,
) -> Option<StructuredOp> {
    let map = structured_at(function, at)?;
    if !map.is_map() || map.axes.len() < 2 {
        return None;
    }
    let rows = map.collect_operands().into_iter().find_map(|value| {
        let (maker, _) = uses.defining_op(value)?;
        let fold = structured_at(function, maker).filter(|f| maker.0 == at.0 && is_fold(f))?;
        RowAxes::from_map(map, fold, value, profile)
    })?;
    let mut group = RowFusionGroup {
        function,
        uses,
        rows,
        members: BTreeSet::from([at.1]),
        at,
    };
    group.gather_producers();
    group.join_members(map)
}

fn structured_at(function: &TensorFunction, position: TensorOpPosition) -> Option<&StructuredOp> {
    let (block, at) = position;
    match &function.block(block).ops.get(at)?.kind {
        OpKind::Structured(op) => Some(op),
        _ => None,
    }
}

fn is_fold(op: &StructuredOp) -> bool {
    let at_point = |y: &StructuredYield| matches!(y.destination, YieldDestination::Point);
    !op.reductions.is_empty() && op.yields.iter().all(at_point) && match_contraction(op).is_none()
}

/// The axes of a map: those that number the rows, and those along a row. Axes of size 1 are neither.
struct RowAxes {
    across: Vec<usize>,
    along: Vec<usize>,
    extents: Vec<DimExtent>,
}

/// Whether an axis has more than one point or none.
fn is_wide(extent: DimExtent) -> bool {
    extent != DimExtent::Static(1)
}

impl RowAxes {
    /// The rows of a map that reads the result `value` of a reduction.
    fn from_map(
        map: &StructuredOp,
        fold: &StructuredOp,
        value: TensorValue,
        profile: &ScheduleProfile,
    ) -> Option<RowAxes> {
        let position = map
            .body
            .node_ids()
            .find_map(|node| match map.body.node(node) {
                NodeData::Element(read, position) if *read == value => Some(position),
                _ => None,
            })?;
        let wide = fold.parallel_shape().map(is_wide);
        let wide = position.iter().zip(wide).filter(|(_, wide)| *wide);
        let axes = wide.map(|(node, _)| map.body.as_index(*node));
        let across: Vec<usize> = axes.map(|a| a.map(|a| a as usize)).collect::<Option<_>>()?;
        let extents: Vec<DimExtent> = map.axes.iter().map(|axis| axis.extent).collect();
        let along = (0..extents.len()).filter(|at| !across.contains(at) && is_wide(extents[*at]));
        let rows = RowAxes {
            along: along.collect(),
            across,
            extents,
        };
        let length = map.count_static_points(rows.along.iter().copied())?;
        let is_known = rows
            .extents
            .iter()
            .all(|e| e.as_static().is_some_and(|n| n > 0));
        let count = map.count_static_points(rows.across.iter().copied())?;
        let shortest = SHORTEST[usize::from(count <= FEW)];
        let is_worth = length >= shortest && (length <= LONGEST || count >= profile.busy);
        (is_known && is_worth && rows.has_same_rows(fold)).then_some(rows)
    }

    /// Whether a reduction is over the same rows.
    fn has_same_rows(&self, fold: &StructuredOp) -> bool {
        let of = |kind: AxisKind| {
            let axes = fold.axes.iter().filter(move |axis| axis.kind == kind);
            axes.map(|axis| axis.extent).filter(|e| is_wide(*e))
        };
        let own =
            |axes: &[usize]| -> Vec<DimExtent> { axes.iter().map(|a| self.extents[*a]).collect() };
        of(AxisKind::Parallel).eq(own(&self.across)) && of(AxisKind::Reduction).eq(own(&self.along))
    }
}

/// Operations that are fused.
struct RowFusionGroup<'a> {
    function: &'a TensorFunction,
    uses: &'a TensorUses,
    rows: RowAxes,
    /// Their numbers in the block.
    members: BTreeSet<usize>,
    at: TensorOpPosition,
}

impl RowFusionGroup<'_> {
    /// Adds producers that only members use. The last are visited first, so that all users of a producer are known when
    /// it is visited.
    fn gather_producers(&mut self) {
        let mut open: BTreeSet<usize> = self.find_makers(self.at.1);
        while let Some(at) = open.pop_last() {
            if self.members.len() >= MEMBERS {
                return;
            }
            let op = structured_at(self.function, (self.at.0, at));
            let is_member =
                |op: &StructuredOp| (is_fold(op) && self.rows.has_same_rows(op)) || op.is_map();
            if op.is_some_and(is_member) && self.is_own(at) {
                self.members.insert(at);
                open.extend(self.find_makers(at));
            }
        }
    }

    /// The operations of the block that define the operands of one.
    fn find_makers(&self, at: usize) -> BTreeSet<usize> {
        let op = structured_at(self.function, (self.at.0, at));
        let operands = op.map(StructuredOp::collect_operands).unwrap_or_default();
        let makers = operands.into_iter().filter_map(|value| {
            let ((block, at), _) = self.uses.defining_op(value)?;
            (block == self.at.0).then_some(at)
        });
        makers.collect()
    }

    /// Whether only members use the results of an operation.
    fn is_own(&self, at: usize) -> bool {
        let results = &self.function.block(self.at.0).ops[at].results;
        results.iter().all(|value| {
            let users = self.members.iter().filter(|member| {
                let op = structured_at(self.function, (self.at.0, **member));
                op.is_some_and(|op| op.collect_operands().contains(value))
            });
            users.count() as u32 == self.uses.use_count(*value)
        })
    }

    /// The operation that the members are together.
    fn join_members(&self, map: &StructuredOp) -> Option<StructuredOp> {
        let mut joined = StructuredOp::default();
        let mut indices = vec![None; map.axes.len()];
        let kinds = [
            (&self.rows.across, AxisKind::Parallel),
            (&self.rows.along, AxisKind::Reduction),
        ];
        let zero = joined.body.intern_i64(0);
        for (axes, kind) in kinds {
            for axis in axes {
                indices[*axis] = Some(joined.add_axis(self.rows.extents[*axis], kind));
            }
        }
        let indices: Vec<ScalarNode> = indices.into_iter().map(|i| i.unwrap_or(zero)).collect();
        let own =
            |axes: &[usize]| -> Vec<ScalarNode> { axes.iter().map(|a| indices[*a]).collect() };
        let row = own(&self.rows.across);
        let all = [&row[..], &own(&self.rows.along)].concat();
        let mut copier = RowFusionCopier {
            group: self,
            row,
            known: Vec::new(),
            fits: true,
        };
        let mut folds = 0;
        for at in &self.members {
            let op = structured_at(self.function, (self.at.0, *at))?;
            if is_fold(op) {
                let mut wide = all.iter().copied();
                let axes = op.axes.iter().map(|axis| {
                    if is_wide(axis.extent) {
                        wide.next()
                    } else {
                        Some(zero)
                    }
                });
                let axes: Vec<ScalarNode> = axes.collect::<Option<_>>()?;
                copier.copy_folds(&mut joined, op, *at, &axes);
                folds += 1;
            }
        }
        let roots: Vec<ScalarNode> = map.yields.iter().map(|y| y.value).collect();
        let values = copier.copy_nodes(&mut joined.body, map, &roots, &indices);
        for value in values {
            joined.yields.push(StructuredYield {
                value,
                destination: YieldDestination::Each(indices.clone()),
            });
        }
        let is_small = joined.body.len() <= NODES;
        (folds > 0 && copier.fits && is_small).then_some(joined)
    }
}

/// Copies nodes of members into the fused body.
struct RowFusionCopier<'a> {
    group: &'a RowFusionGroup<'a>,
    /// The indices of a row.
    row: Vec<ScalarNode>,
    /// Results of reductions.
    known: Vec<(TensorValue, ScalarNode)>,
    /// Whether all results are read at their own rows.
    fits: bool,
}

impl RowFusionCopier<'_> {
    /// Adds the reductions of a member; `indices` are those of its axes.
    fn copy_folds(
        &mut self,
        joined: &mut StructuredOp,
        op: &StructuredOp,
        at: usize,
        indices: &[ScalarNode],
    ) {
        let first = joined.accumulator_count();
        for reduction in &op.reductions {
            let roots = [&reduction.initial[..], &reduction.values].concat();
            let copies = self.copy_nodes(&mut joined.body, op, &roots, indices);
            let (initial, values) = copies.split_at(reduction.initial.len());
            joined.add_reduction(crate::ir::TensorReduction {
                initial: initial.to_vec(),
                values: values.to_vec(),
                combiner: reduction.combiner.clone(),
            });
        }
        let roots: Vec<ScalarNode> = op.yields.iter().map(|y| y.value).collect();
        let body = &mut joined.body;
        let copies = self.import_nodes(body, op, &roots, indices, first as u32);
        let results = &self.group.function.block(self.group.at.0).ops[at].results;
        self.known.extend(results.iter().copied().zip(copies));
    }

    fn copy_nodes(
        &mut self,
        body: &mut NodeGraph,
        op: &StructuredOp,
        roots: &[ScalarNode],
        indices: &[ScalarNode],
    ) -> Vec<ScalarNode> {
        self.import_nodes(body, op, roots, indices, 0)
    }

    /// Copies nodes of an operation at some indices, with accumulators numbered from `first` on.
    fn import_nodes(
        &mut self,
        body: &mut NodeGraph,
        op: &StructuredOp,
        roots: &[ScalarNode],
        indices: &[ScalarNode],
        first: u32,
    ) -> Vec<ScalarNode> {
        body.import_nodes(&op.body, roots, |body, node, data| match data {
            NodeData::Index(axis) => indices.get(*axis as usize).copied(),
            NodeData::Reduced(number) => {
                Some(body.intern_accumulator(first + number, op.body.ty(node)))
            }
            NodeData::Element(value, position) => self.resolve_element(body, *value, position),
            _ => None,
        })
    }

    /// The node that a member computes, in place of the element that holds it.
    fn resolve_element(
        &mut self,
        body: &mut NodeGraph,
        value: TensorValue,
        position: &[ScalarNode],
    ) -> Option<ScalarNode> {
        if let Some((_, node)) = self.known.iter().find(|(known, _)| *known == value) {
            let shape = &self.group.function.ty(value).shape;
            let wide = position.iter().zip(shape).filter(|(_, e)| is_wide(**e));
            self.fits &= wide.map(|(index, _)| *index).eq(self.row.iter().copied());
            return Some(*node);
        }
        let ((block, at), number) = self.group.uses.defining_op(value)?;
        let is_member = block == self.group.at.0 && self.group.members.contains(&at);
        let op = structured_at(self.group.function, (block, at)).filter(|_| is_member)?;
        if !op.is_map() || body.len() > NODES {
            // The reduction has not been added, or the body is too large.
            self.fits = false;
            return None;
        }
        let root = op.yields[number].value;
        let copy = self.copy_nodes(body, op, &[root], position);
        copy.first().copied()
    }
}
