//! Unrolled points: the nodes of each combination of iterations of the unrolled loops.

use super::{DispatchLowering, accumulator_types, conjoin_conditions, flatten_position};
use crate::ir::{NodeData, NodeGraph, ScalarNode, YieldDestination};
use crate::schedule::LoopMapping;
use spirula_kernel::ir::{VarId, VariableType};

/// A point of the unrolled loops: one combination of their iterations.
pub(super) struct UnrolledPoint {
    /// Accumulators of all reductions.
    pub accumulators: Vec<VarId>,
    /// Their initial values.
    pub initial: Vec<ScalarNode>,
    /// The values that are accumulated.
    pub values: Vec<ScalarNode>,
    /// Which accumulators are assigned their only value: they begin with a neutral element, and no loop adds more.
    pub given: Vec<bool>,
    /// Whether the point is inside the space.
    pub guard: ScalarNode,
    /// Whether the point of the reduced axes is inside.
    pub fold_guard: ScalarNode,
    /// The place of its saved accumulators, where there are such.
    pub saved: Option<ScalarNode>,
    /// Values and positions of the results.
    pub yields: Vec<PointYield>,
}

/// A result at a point.
#[derive(Clone)]
pub(super) struct PointYield {
    pub value: ScalarNode,
    pub position: Vec<ScalarNode>,
}

impl DispatchLowering<'_> {
    /// Makes the nodes of all points.
    pub(super) fn make_leaves(&mut self) {
        let mut template = NodeGraph::default();
        let nest = self.nest;
        let indices = template.import_nodes(&nest.points, &nest.indices, |_, _, _| None);
        let guards = template.import_nodes(&nest.points, &nest.guards, |_, _, _| None);
        let fold_guards = template.import_nodes(&nest.points, &nest.fold_guards, |_, _, _| None);
        let reads = self.staged_reads(&mut template);
        let roots = nest.op.collect_roots();
        let mut nodes = self.schedule_nodes(&mut template, &roots, &indices, &reads);
        nodes.push(conjoin_conditions(&mut template, &guards));
        nodes.push(conjoin_conditions(&mut template, &fold_guards));
        nodes.extend(&indices[..nest.op.parallel_rank()]);
        nodes.extend(self.saved_place(&mut template));
        let loops = nest.loops.iter().enumerate();
        let unrolled: Vec<(u32, u64)> = loops
            .filter(|(_, l)| l.run == LoopMapping::Unrolled)
            .map(|(at, l)| (at as u32, l.extent))
            .collect();
        let count: u64 = unrolled.iter().map(|(_, extent)| extent).product();
        for leaf in 0..count {
            let mut rest = leaf;
            let rounds = unrolled.iter().rev().map(|(number, extent)| {
                let round = rest % extent;
                rest /= extent;
                (*number, round)
            });
            let rounds: Vec<(u32, u64)> = rounds.collect();
            let leaf = self.make_leaf(&template, &nodes, &rounds);
            self.leaves.push(leaf);
        }
    }

    /// A point from the nodes of the template. `rounds` are the numbers of unrolled loops and their iterations.
    fn make_leaf(
        &mut self,
        template: &NodeGraph,
        nodes: &[ScalarNode],
        rounds: &[(u32, u64)],
    ) -> UnrolledPoint {
        let op = &self.nest.op;
        let count = accumulator_types(op).len();
        let first = (self.leaves.len() * count) as u32;
        let nodes = self
            .e
            .body
            .import_nodes(template, nodes, |body, node, data| match data {
                NodeData::Counter(number) => {
                    let (_, round) = rounds.iter().find(|(n, _)| n == number)?;
                    Some(body.intern_i64(*round as i64))
                }
                NodeData::Reduced(number) => {
                    Some(body.intern_accumulator(first + number, template.ty(node)))
                }
                _ => None,
            });
        let mut nodes = nodes.into_iter();
        let mut take = |count: usize| nodes.by_ref().take(count).collect::<Vec<ScalarNode>>();
        let (mut initial, mut values) = (Vec::new(), Vec::new());
        for reduction in &op.reductions {
            initial.extend(take(reduction.initial.len()));
            values.extend(take(reduction.values.len()));
        }
        let yields = op.yields.iter().map(|result| PointYield {
            value: take(1)[0],
            position: take(result.destination.indices().len()),
        });
        let mut yields: Vec<PointYield> = yields.collect();
        let guards = take(2);
        let point = take(op.parallel_rank());
        let saved = take(1).first().copied();
        for (result, own) in op.yields.iter().zip(&mut yields) {
            if matches!(result.destination, YieldDestination::Point) {
                own.position.clone_from(&point);
            }
        }
        let types = accumulator_types(op);
        let declare = |ty| self.e.b.declare_var("sum", VariableType::Scalar(ty), false);
        UnrolledPoint {
            accumulators: types.into_iter().map(declare).collect(),
            initial,
            given: vec![false; values.len()],
            values,
            guard: guards[0],
            fold_guard: guards[1],
            saved,
            yields,
        }
    }

    /// Copies nodes of the operation at some indices along the axes, with positions in memory. Staged nodes are
    /// replaced by `reads`, where these are given.
    pub(super) fn schedule_nodes(
        &self,
        body: &mut NodeGraph,
        roots: &[ScalarNode],
        indices: &[ScalarNode],
        reads: &[ScalarNode],
    ) -> Vec<ScalarNode> {
        let staged = self.staged();
        let function = self.function;
        body.import_nodes(&self.nest.op.body, roots, |body, node, data| {
            let at = staged.iter().position(|s| s.node == node);
            if let Some(read) = at.and_then(|at| reads.get(at)) {
                return Some(*read);
            }
            match data {
                NodeData::Index(axis) => indices.get(*axis as usize).copied(),
                NodeData::Element(value, position) if !position.is_empty() => {
                    let ty = function.ty(*value);
                    let flat = flatten_position(body, position, &ty.shape);
                    Some(body.intern_element(*value, ty.element, &[flat]))
                }
                _ => None,
            }
        })
    }
}
