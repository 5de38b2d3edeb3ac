//! Loop-invariant code motion: nodes that do not change in a loop are emitted before it.

use super::DispatchLowering;
use super::tile_copies::TileCopyRun;
use crate::ir::{NodeData, ScalarNode};
use crate::schedule::DispatchStep;

/// The bit of values that are known only after all reductions.
const AFTER: u64 = 1 << 63;

impl DispatchLowering<'_> {
    /// Emits the invariant nodes that the steps of a loop need.
    pub(super) fn hoist_invariants(&mut self, steps: &[DispatchStep]) {
        let mut roots = Vec::new();
        self.collect_roots(steps, &mut roots);
        let fixed = self.mark_invariant();
        let ready = self.e.find_hoistable(&roots, |node| fixed[node.index()]);
        self.e.emit_nodes(&ready);
    }

    /// Adds the nodes that steps need.
    fn collect_roots(&self, steps: &[DispatchStep], roots: &mut Vec<ScalarNode>) {
        for step in steps {
            match step {
                DispatchStep::For(_, inner) => self.collect_roots(inner, roots),
                DispatchStep::Accumulate => {
                    for leaf in &self.leaves {
                        roots.extend(&leaf.values);
                    }
                }
                DispatchStep::Stage(_)
                | DispatchStep::Fetch(_)
                | DispatchStep::Commit(_)
                | DispatchStep::Multiply
                    if self.matmul().is_some() =>
                {
                    let runs = self.copies.iter().flatten();
                    roots.extend(runs.flat_map(TileCopyRun::collect_roots));
                }
                DispatchStep::Stage(at) => {
                    for place in &self.stages[*at].places {
                        roots.extend([place.at, place.inside, place.value]);
                    }
                }
                DispatchStep::Fetch(_) | DispatchStep::Commit(_) => {
                    for place in self.stages.iter().flat_map(|s| &s.places) {
                        roots.extend([place.at, place.inside, place.value]);
                    }
                }
                _ => {}
            }
        }
    }

    /// Marks the nodes that depend only on loops that are open.
    fn mark_invariant(&self) -> Vec<bool> {
        let body = &self.e.body;
        let mut needs = vec![0u64; body.len()];
        for node in body.node_ids() {
            let own = match body.node(node) {
                NodeData::Counter(number) => 1 << (number % 62),
                NodeData::Reduced(_) => AFTER,
                NodeData::Element(value, _) => {
                    let first = self.function.value_count();
                    let at = value.index().checked_sub(first);
                    let staged = at.and_then(|at| self.staged().get(at));
                    // Staged tiles change with the loop around them, and so within it.
                    staged.map_or(0, |_| AFTER)
                }
                _ => 0,
            };
            let operands = body.operands(node).iter();
            needs[node.index()] = operands.fold(own, |all, n| all | needs[n.index()]);
        }
        needs
            .into_iter()
            .map(|needs| needs & !self.open == 0)
            .collect()
    }
}
