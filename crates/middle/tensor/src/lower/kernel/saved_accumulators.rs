//! Accumulators in the workgroup's memory while others are added to.

use super::super::element_write::AccumulatorArrays;
use super::combine_accumulators::fold_into_accumulators;
use super::{DispatchLowering, UnrolledPoint, accumulator_types};
use crate::ir::{NodeGraph, ScalarNode};
use spirula_kernel::ir::VarId;
use spirula_program::ScalarOp;

impl DispatchLowering<'_> {
    /// Makes the memory.
    pub(super) fn make_kept(&mut self) {
        let Some(kept) = self.dispatch.kept else {
            return;
        };
        for ty in accumulator_types(&self.dispatch.op) {
            let memory = self.declare_shared(ty, kept.size as i64);
            self.kept.push(memory);
        }
    }

    /// The place in it of what a leaf has.
    pub(super) fn kept_place(&self, template: &mut NodeGraph) -> Vec<ScalarNode> {
        let dispatch = self.dispatch;
        let place: Vec<ScalarNode> = dispatch.kept.iter().map(|kept| kept.place).collect();
        template.import_nodes(&dispatch.points, &place, |_, _, _| None)
    }

    /// Accumulators of all leaves, with their places.
    fn kept_leaves(&self) -> Vec<(ScalarNode, Vec<VarId>)> {
        let leaves = self.leaves.iter();
        let placed = leaves.filter_map(|leaf| Some((leaf.kept?, leaf.accumulators.clone())));
        placed.collect()
    }

    pub(super) fn save_accumulators(&mut self) {
        let (types, memory) = (accumulator_types(&self.dispatch.op), self.kept.clone());
        for (at, accumulators) in self.kept_leaves() {
            AccumulatorArrays::new(&types, &memory).write_elements(&mut self.e, at, &accumulators);
        }
    }

    pub(super) fn restore_accumulators(&mut self) {
        let (types, memory) = (accumulator_types(&self.dispatch.op), self.kept.clone());
        for (at, accumulators) in self.kept_leaves() {
            let values = AccumulatorArrays::new(&types, &memory).read_elements(&mut self.e, at);
            for (var, value) in accumulators.iter().zip(values) {
                self.e.b.push_assignment(*var, value);
            }
        }
    }

    /// Folds what the invocations of a loop keep of each leaf into what it begins with.
    pub(super) fn combine_kept(&mut self, number: u32) {
        let (types, memory) = (accumulator_types(&self.dispatch.op), self.kept.clone());
        let counter = self.loop_counter(number);
        let lanes = self.dispatch.loops[number as usize].extent;
        for leaf in 0..self.leaves.len() {
            let UnrolledPoint {
                kept: Some(place),
                ref accumulators,
                ref initial,
                ..
            } = self.leaves[leaf]
            else {
                continue;
            };
            let (accumulators, initial) = (accumulators.clone(), initial.clone());
            let values = self.e.emit_nodes(&initial);
            for (var, value) in accumulators.iter().zip(values) {
                self.e.b.push_assignment(*var, value);
            }
            for lane in 0..lanes {
                let body = &mut self.e.body;
                let lane = body.intern_i64(lane as i64);
                let first = body.apply_op(ScalarOp::Sub, &[place, counter]);
                let at = body.apply_op(ScalarOp::Add, &[first, lane]);
                let values = AccumulatorArrays::new(&types, &memory).read_elements(&mut self.e, at);
                fold_into_accumulators(
                    &mut self.e,
                    &self.dispatch.op.reductions,
                    &accumulators,
                    &values,
                );
            }
        }
    }
}
