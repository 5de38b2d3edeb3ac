//! Stores of results.

use super::super::element_write::ElementWrite;
use super::super::node_emitter::TensorStorage;
use super::super::vector_access;
use super::unrolled_points::PointYield;
use super::{DispatchLowering, conjoin_conditions, flatten_position};
use crate::ir::{ScalarNode, YieldDestination};
use crate::schedule::{DispatchLoop, FoldSharing, LoopMapping};
use spirula_kernel::ir::VarId;
use spirula_program::{ScalarLiteral, ScalarOp, ScalarType};

impl DispatchLowering<'_> {
    /// Writes the results of this point, or of all unrolled points.
    pub(super) fn store_results(&mut self) {
        let sharing = self.plan.fold_sharing();
        // Broadcast accumulators are bound already.
        if sharing != FoldSharing::Broadcast {
            self.bind_accumulators();
        }
        match sharing {
            FoldSharing::Broadcast | FoldSharing::Scan => self.store_each_point(),
            // All accumulators were combined into those of the first point.
            FoldSharing::First => self.store_guarded_points(1),
            FoldSharing::Alone | FoldSharing::FirstOfEach => {
                self.store_guarded_points(self.leaves.len());
            }
        }
    }

    /// Writes the results of the first `count` points, under one condition for neighbours that have the same.
    fn store_guarded_points(&mut self, count: usize) {
        let is_guarded = self.plan.has_outer_guard();
        let mut at = 0;
        while at < count {
            let guard = self.leaves[at].guard;
            // Without vectors a condition is all that points have in common.
            let is_condition =
                self.nest.profile.is_processor() && self.e.body.as_literal(guard).is_none();
            let together = if self.dispatch.has_vectors() || is_condition {
                let same = self.leaves[at..count].iter();
                same.take_while(|l| l.guard == guard || is_guarded).count()
            } else {
                1
            };
            self.store_points(at, together, guard);
            at += together;
        }
    }

    /// Writes the results at each point of all axes, under one condition for neighbours that have the same.
    fn store_each_point(&mut self) {
        let body = &mut self.e.body;
        let guards = self.leaves.iter();
        let guards = guards.map(|leaf| conjoin_conditions(body, &[leaf.guard, leaf.fold_guard]));
        let guards: Vec<ScalarNode> = guards.collect();
        let mut at = 0;
        for same in guards.chunk_by(|a, b| a == b) {
            self.store_points(at, same.len(), same[0]);
            at += same.len();
        }
    }

    /// Binds the results of the reductions to the accumulators.
    fn bind_accumulators(&mut self) {
        let accumulators: Vec<VarId> = self
            .leaves
            .iter()
            .flat_map(|l| l.accumulators.clone())
            .collect();
        for (number, var) in accumulators.into_iter().enumerate() {
            let Some(ty) = self.e.b.program().scalar_type(var) else {
                continue;
            };
            let node = self.e.body.intern_accumulator(number as u32, ty);
            let value = self.e.b.read_var(var);
            self.e.set_value(node, value);
        }
    }

    /// Writes the results of `count` points that have one condition.
    fn store_points(&mut self, first: usize, count: usize, mut guard: ScalarNode) {
        if self.plan.has_outer_guard() {
            guard = self
                .e
                .body
                .intern_literal(ScalarLiteral::new(ScalarType::Bool, 1));
        }
        let is_first_alone = matches!(
            self.plan.fold_sharing(),
            FoldSharing::First | FoldSharing::FirstOfEach
        );
        if let Some(place) = self.place.filter(|_| is_first_alone) {
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
        let is_wide = count > 1 && self.dispatch.has_vectors();
        self.e.emit_if(guard, |e| {
            let values: Vec<ScalarNode> = places.iter().map(|p| p.value).collect();
            if is_wide {
                e.vectorise_reads(&values);
            }
            e.emit_nodes(&values);
            vector_access::write_vectors(e, &places);
        });
    }

    /// The writes of a point's results.
    fn collect_writes(&mut self, yields: Vec<PointYield>) -> Vec<ElementWrite> {
        let results = self.nest.op.yields.iter().zip(&self.dispatch.results);
        let is_serial = |l: &DispatchLoop| l.run == LoopMapping::Sequential || l.extent == 1;
        let alone = self.nest.loops.iter().all(is_serial);
        let mut places = Vec::new();
        for ((result, id), own) in results.zip(yields) {
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
                contended = combiner.is_none() && !distinct && !alone;
            }
            let may_be_outside = matches!(
                result.destination,
                YieldDestination::Scatter { .. } | YieldDestination::Prefix { .. }
            );
            if may_be_outside {
                for (index, dim) in own.position.iter().zip(shape) {
                    let (zero, size) = (body.intern_i64(0), body.intern_size(*dim));
                    inside.push(body.apply_op(ScalarOp::SLe, &[zero, *index]));
                    inside.push(body.apply_op(ScalarOp::SLt, &[*index, size]));
                }
            }
            places.push(ElementWrite {
                value: own.value,
                memory,
                inside: conjoin_conditions(body, &inside),
                at: flatten_position(body, &own.position, shape),
                combiner: by,
                contended,
                alone,
            });
        }
        places
    }
}
