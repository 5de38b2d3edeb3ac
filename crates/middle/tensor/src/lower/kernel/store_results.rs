//! Writing results.

use super::super::node_emitter::TensorStorage;
use super::super::vector_access;
use super::super::element_write::ElementWrite;
use super::{DispatchLowering, conjoin_conditions, flatten_position};
use crate::ir::{ScalarNode, YieldDestination};
use crate::schedule::ScheduleStrategy;
use spirula_kernel::ir::VarId;
use spirula_program::{ScalarLiteral, ScalarOp, ScalarType};

impl DispatchLowering<'_> {
    /// Writes the results of this point, or these points.
    pub(super) fn store_results(&mut self) {
        let is_flat = self.dispatch.strategy == ScheduleStrategy::Flat;
        // What folds of rows gave was shared before.
        let is_rows = matches!(
            self.dispatch.strategy,
            ScheduleStrategy::Rows | ScheduleStrategy::SubgroupRows
        );
        if !is_rows {
            self.give_accumulators();
        }
        let is_scan = matches!(
            self.dispatch.strategy,
            ScheduleStrategy::Scan | ScheduleStrategy::LookBack
        );
        if is_rows || is_scan {
            return self.store_points();
        }
        let leaves = match self.dispatch.strategy {
            // They were combined into the first.
            ScheduleStrategy::Cooperative | ScheduleStrategy::Subgroups => 1,
            _ => self.leaves.len(),
        };
        let mut at = 0;
        while at < leaves {
            let guard = self.leaves[at].guard;
            let same = self.leaves[at..leaves].iter();
            let same = same.take_while(|l| l.guard == guard || is_flat).count();
            let count = match self.dispatch.has_vectors() {
                true => same,
                false => 1,
            };
            let guard = self.leaves[at].guard;
            self.store_leaves(at, count, guard);
            at += count;
        }
    }

    /// Writes what is given at each point of all axes, under one condition for those that have the same.
    fn store_points(&mut self) {
        let body = &mut self.e.body;
        let guards = self.leaves.iter();
        let guards = guards.map(|leaf| conjoin_conditions(body, &[leaf.guard, leaf.fold_guard]));
        let guards: Vec<ScalarNode> = guards.collect();
        let mut at = 0;
        for same in guards.chunk_by(|a, b| a == b) {
            self.store_leaves(at, same.len(), same[0]);
            at += same.len();
        }
    }

    /// Has accumulators be what the reductions gave.
    fn give_accumulators(&mut self) {
        let accumulators: Vec<VarId> = self
            .leaves
            .iter()
            .flat_map(|l| l.accumulators.clone())
            .collect();
        for (number, var) in accumulators.into_iter().enumerate() {
            let ty = match self.e.b.program().scalar_type(var) {
                Some(ty) => ty,
                None => continue,
            };
            let node = self.e.body.intern_accumulator(number as u32, ty);
            let value = self.e.b.read_var(var);
            self.e.set_value(node, value);
        }
    }

    /// Writes the results of leaves that have one condition.
    fn store_leaves(&mut self, first: usize, count: usize, mut guard: ScalarNode) {
        if self.dispatch.strategy == ScheduleStrategy::Flat {
            guard = self
                .e
                .body
                .intern_literal(ScalarLiteral::new(ScalarType::Bool, 1));
        }
        let is_one = matches!(
            self.dispatch.strategy,
            ScheduleStrategy::Cooperative | ScheduleStrategy::Subgroups | ScheduleStrategy::Across
        );
        if let Some(place) = self.place.filter(|_| is_one) {
            let body = &mut self.e.body;
            let zero = body.intern_i64(0);
            let is_first = body.apply_op(ScalarOp::Eq, &[place, zero]);
            guard = conjoin_conditions(body, &[guard, is_first]);
        }
        let mut rows: Vec<Vec<ElementWrite>> = Vec::new();
        for at in first..first + count {
            let yields = self.leaves[at].yields.clone();
            rows.push(self.collect_writes(yields));
        }
        // All places of one result, then all of the next.
        let results = rows.first().map_or(0, Vec::len);
        let mut rows: Vec<_> = rows.into_iter().map(Vec::into_iter).collect();
        let mut places = Vec::new();
        for _ in 0..results {
            places.extend(rows.iter_mut().filter_map(Iterator::next));
        }
        self.e.emit_if(guard, |e| {
            let values: Vec<ScalarNode> = places.iter().map(|p| p.value).collect();
            if count > 1 {
                e.vectorise_reads(&values);
            }
            e.emit_nodes(&values);
            vector_access::write_vectors(e, &places);
        });
    }

    /// Where results are written.
    fn collect_writes(&mut self, yields: Vec<(ScalarNode, Vec<ScalarNode>)>) -> Vec<ElementWrite> {
        let results = self.dispatch.op.yields.iter().zip(&self.dispatch.results);
        let mut places = Vec::new();
        for ((result, id), (value, position)) in results.zip(yields) {
            let Some(TensorStorage::Memory(memory)) = self.e.sources.get(id).copied() else {
                continue;
            };
            let shape = &self.function.ty(*id).shape;
            let body = &mut self.e.body;
            let (mut inside, mut by, mut contended) = (Vec::new(), None, false);
            if let YieldDestination::Scatter {
                combiner, distinct, ..
            } = &result.destination
            {
                by = combiner.clone();
                contended = combiner.is_none() && !distinct;
            }
            let may_be_outside = matches!(
                result.destination,
                YieldDestination::Scatter { .. } | YieldDestination::Prefix { .. }
            );
            if may_be_outside {
                for (index, dim) in position.iter().zip(shape) {
                    let (zero, size) = (body.intern_i64(0), body.intern_size(*dim));
                    inside.push(body.apply_op(ScalarOp::SLe, &[zero, *index]));
                    inside.push(body.apply_op(ScalarOp::SLt, &[*index, size]));
                }
            }
            places.push(ElementWrite {
                value,
                memory,
                inside: conjoin_conditions(body, &inside),
                at: flatten_position(body, &position, shape),
                combiner: by,
                contended,
            });
        }
        places
    }
}
