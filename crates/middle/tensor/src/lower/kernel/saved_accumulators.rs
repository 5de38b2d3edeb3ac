//! Saved accumulators: in the workgroup's memory while other points accumulate.

use super::super::element_write::AccumulatorArrays;
use super::combine_accumulators::fold_into_accumulators;
use super::{DispatchLowering, UnrolledPoint, accumulator_types};
use crate::ir::{NodeGraph, ScalarNode};
use spirula_kernel::ir::VarId;
use spirula_program::ScalarOp;

/// The accumulators of a point and the place where they are saved.
struct SavedPoint {
    place: ScalarNode,
    accumulators: Vec<VarId>,
}

impl DispatchLowering<'_> {
    /// Declares the memory.
    pub(super) fn declare_saved(&mut self) {
        let Some(saved) = self.nest.saved else {
            return;
        };
        for ty in accumulator_types(&self.nest.op) {
            let memory = self.declare_shared(ty, saved.size as i64);
            self.saved.push(memory);
        }
    }

    /// The place where the accumulators of a point are saved, if they are.
    pub(super) fn saved_place(&self, template: &mut NodeGraph) -> Vec<ScalarNode> {
        let place: Vec<ScalarNode> = self.nest.saved.iter().map(|saved| saved.place).collect();
        template.import_nodes(&self.nest.points, &place, |_, _, _| None)
    }

    fn saved_points(&self) -> Vec<SavedPoint> {
        let points = self.leaves.iter().filter_map(|leaf| {
            Some(SavedPoint {
                place: leaf.saved?,
                accumulators: leaf.accumulators.clone(),
            })
        });
        points.collect()
    }

    pub(super) fn save_accumulators(&mut self) {
        let (types, memory) = (accumulator_types(&self.nest.op), self.saved.clone());
        for point in self.saved_points() {
            AccumulatorArrays::new(&types, &memory).write_elements(
                &mut self.e,
                point.place,
                &point.accumulators,
            );
        }
    }

    pub(super) fn restore_accumulators(&mut self) {
        let (types, memory) = (accumulator_types(&self.nest.op), self.saved.clone());
        for point in self.saved_points() {
            let values =
                AccumulatorArrays::new(&types, &memory).read_elements(&mut self.e, point.place);
            for (var, value) in point.accumulators.iter().zip(values) {
                self.e.b.push_assignment(*var, value);
            }
        }
    }

    /// Combines the saved accumulators of the invocations of a loop, for each point, with the initial values.
    pub(super) fn combine_saved(&mut self, number: u32) {
        let (types, memory) = (accumulator_types(&self.nest.op), self.saved.clone());
        let counter = self.loop_counter(number);
        let lanes = self.nest.loop_extent(number);
        for leaf in 0..self.leaves.len() {
            let UnrolledPoint {
                saved: Some(place),
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
                    &self.nest.op.reductions,
                    &accumulators,
                    &values,
                );
            }
        }
    }
}
