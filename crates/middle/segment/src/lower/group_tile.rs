//! The code of a workgroup that folds: tiles of values in its memory, and the totals of its invocations.

use super::fold::{FoldChunk, FoldPlan};
use super::group_fold::{GroupChunk, GroupFold, GroupMemory};
use super::view::{ArrayView, ScalarRef};
use super::workgroup::GroupPosition;
use super::{FunctionLowering, LoweredValue};
use spirula_kernel::ir::SyncKind;
use spirula_program::ScalarOp;
use spirula_soac::ir::SoacLambda;

impl FunctionLowering<'_> {
    /// Reduces a chunk. The states have its total, in all invocations where there are tiles, in the first otherwise.
    pub(super) fn reduce_group_chunk(
        &mut self,
        fold: &GroupFold<'_>,
        chunk: &GroupChunk,
        others: &[ArrayView],
    ) -> Result<Vec<LoweredValue>, String> {
        let plan = &fold.plan;
        let function = &plan.fold.function;
        let neutral = self.operand_values(&plan.fold.neutral)?;
        let states = self.make_states(&neutral)?;
        if plan.fold.is_commutative {
            self.fold_in_turns(plan, chunk, &states, others)?;
            self.reduce_totals(function, chunk.at, &chunk.memory, &states)?;
            return Ok(states);
        }
        self.visit_tiles(fold, chunk, |lowering, base| {
            lowering.load_tile(fold, chunk, base, others)?;
            let totals = lowering.fold_tile(fold, chunk, false)?;
            lowering.reduce_totals(function, chunk.at, &chunk.memory, &totals)?;
            let zero = ScalarRef::from_int64(0);
            let total = lowering.row_values(&chunk.memory.totals, zero);
            lowering.combine_states(function, &states, &total)
        })?;
        Ok(states)
    }

    /// Folds the elements of a chunk that are an invocation's turn.
    pub(super) fn fold_in_turns(
        &mut self,
        plan: &FoldPlan<'_>,
        chunk: &GroupChunk,
        states: &[LoweredValue],
        others: &[ArrayView],
    ) -> Result<(), String> {
        self.visit_turns(chunk.at, chunk.chunk.count, |lowering, offset| {
            let values = lowering.lower_element(plan, chunk, offset, others)?;
            lowering.combine_states(&plan.fold.function, states, &values)
        })
    }

    /// Computes an element of a chunk, and writes what is not folded.
    pub(super) fn lower_element(
        &mut self,
        plan: &FoldPlan<'_>,
        chunk: &GroupChunk,
        offset: ScalarRef,
        others: &[ArrayView],
    ) -> Result<Vec<LoweredValue>, String> {
        let position = self.int64(ScalarOp::Add, chunk.chunk.start, offset);
        let mut point = chunk.chunk.point.clone();
        point.push(position);
        self.bind_point(&plan.operation.space, &point);
        let mut values = self.lower_body(&plan.operation.body)?;
        let rest = values.split_off(plan.folded());
        self.write_point(others, &point, &rest)?;
        Ok(values)
    }

    /// A loop over the tiles of a chunk. `body` is given the first position of the tile in the chunk.
    pub(super) fn visit_tiles(
        &mut self,
        fold: &GroupFold<'_>,
        chunk: &GroupChunk,
        body: impl FnOnce(&mut Self, ScalarRef) -> Result<(), String>,
    ) -> Result<(), String> {
        let tile = ScalarRef::from_int64(self.profile.chunk_group_size * fold.items);
        let tiles = self.int64(ScalarOp::SDivUp, chunk.chunk.count, tile);
        self.count_to(tiles, |lowering, number| {
            let base = lowering.int64(ScalarOp::Mul, number, tile);
            body(lowering, base)
        })
    }

    /// Leaves the values of a tile in workgroup memory, with neutral ones after the last.
    pub(super) fn load_tile(
        &mut self,
        fold: &GroupFold<'_>,
        chunk: &GroupChunk,
        base: ScalarRef,
        others: &[ArrayView],
    ) -> Result<(), String> {
        let neutral = self.operand_values(&fold.plan.fold.neutral)?;
        self.visit_slots(fold, chunk, |lowering, slot| {
            let offset = lowering.int64(ScalarOp::Add, base, slot);
            let is_inside = lowering.compare(ScalarOp::SLt, offset, chunk.chunk.count);
            lowering.choose(
                is_inside,
                |lowering| {
                    let values = lowering.lower_element(&fold.plan, chunk, offset, others)?;
                    lowering.write_point(&chunk.memory.values, &[slot], &values)
                },
                |lowering| lowering.write_point(&chunk.memory.values, &[slot], &neutral),
            )
        })?;
        self.wait_for_group(SyncKind::Error);
        Ok(())
    }

    /// A loop over the slots of a tile that are an invocation's turn.
    fn visit_slots(
        &mut self,
        fold: &GroupFold<'_>,
        chunk: &GroupChunk,
        body: impl FnOnce(&mut Self, ScalarRef) -> Result<(), String>,
    ) -> Result<(), String> {
        self.count_to(ScalarRef::from_int64(fold.items), |lowering, turn| {
            let slot = lowering.own_turn(chunk.at, turn);
            body(lowering, slot)
        })
    }

    /// Folds the values of an invocation that follow each other. With `keeps`, a value becomes the fold up to it.
    fn fold_tile(
        &mut self,
        fold: &GroupFold<'_>,
        chunk: &GroupChunk,
        keeps: bool,
    ) -> Result<Vec<LoweredValue>, String> {
        let neutral = self.operand_values(&fold.plan.fold.neutral)?;
        let totals = self.make_states(&neutral)?;
        let items = ScalarRef::from_int64(fold.items);
        let first = self.int64(ScalarOp::Mul, chunk.at.local, items);
        self.count_to(items, |lowering, step| {
            let slot = lowering.int64(ScalarOp::Add, first, step);
            let values = lowering.row_values(&chunk.memory.values, slot);
            lowering.combine_states(&fold.plan.fold.function, &totals, &values)?;
            if keeps {
                lowering.write_point(&chunk.memory.values, &[slot], &totals)?;
            }
            Ok(())
        })?;
        Ok(totals)
    }

    /// Scans the values of a tile after those before it, which it joins.
    pub(super) fn scan_tile(
        &mut self,
        fold: &GroupFold<'_>,
        chunk: &GroupChunk,
        carry: &[LoweredValue],
    ) -> Result<(), String> {
        let function = &fold.plan.fold.function;
        let totals = self.fold_tile(fold, chunk, true)?;
        self.scan_totals(function, chunk.at, &chunk.memory, &totals)?;
        let prefix = self.make_states(carry)?;
        self.add_totals_before(function, chunk.at, &chunk.memory, &prefix)?;
        let items = ScalarRef::from_int64(fold.items);
        let first = self.int64(ScalarOp::Mul, chunk.at.local, items);
        self.count_to(items, |lowering, step| {
            let slot = lowering.int64(ScalarOp::Add, first, step);
            let values = lowering.row_values(&chunk.memory.values, slot);
            let joined = lowering.make_states(&prefix)?;
            lowering.combine_states(function, &joined, &values)?;
            lowering.write_point(&chunk.memory.values, &[slot], &joined)
        })?;
        let last = ScalarRef::from_int64(self.profile.chunk_group_size - 1);
        let total = self.row_values(&chunk.memory.totals, last);
        self.combine_states(function, carry, &total)?;
        self.wait_for_group(SyncKind::Barrier);
        Ok(())
    }

    /// Writes the values of a tile to arrays.
    pub(super) fn store_tile(
        &mut self,
        fold: &GroupFold<'_>,
        chunk: &GroupChunk,
        base: ScalarRef,
        scanned: &[ArrayView],
    ) -> Result<(), String> {
        self.visit_slots(fold, chunk, |lowering, slot| {
            let offset = lowering.int64(ScalarOp::Add, base, slot);
            lowering.if_inside(offset, chunk.chunk.count, |lowering| {
                let position = lowering.int64(ScalarOp::Add, chunk.chunk.start, offset);
                let mut point = chunk.chunk.point.clone();
                point.push(position);
                let values = lowering.row_values(&chunk.memory.values, slot);
                lowering.write_point(scanned, &point, &values)
            })
        })
    }

    /// The partial results of a segment that an invocation folds: some that follow each other.
    pub(super) fn locate_run(&mut self, plan: &FoldPlan<'_>, at: GroupPosition) -> FoldChunk {
        let size = ScalarRef::from_int64(self.profile.chunk_group_size);
        let length = self.int64(ScalarOp::SDivUp, plan.chunks, size);
        let before = self.int64(ScalarOp::Mul, at.local, length);
        let first = self.int64(ScalarOp::Mul, at.group, plan.chunks);
        let rest = self.int64(ScalarOp::Sub, plan.chunks, before);
        FoldChunk {
            point: Vec::new(),
            start: self.int64(ScalarOp::Add, first, before),
            count: self.int64(ScalarOp::SMin, length, rest),
        }
    }

    pub(super) fn fold_run(
        &mut self,
        plan: &FoldPlan<'_>,
        partials: &[ArrayView],
        run: &FoldChunk,
    ) -> Result<Vec<LoweredValue>, String> {
        let neutral = self.operand_values(&plan.fold.neutral)?;
        let states = self.make_states(&neutral)?;
        self.count_to(run.count, |lowering, step| {
            let item = lowering.int64(ScalarOp::Add, run.start, step);
            let values = lowering.row_values(partials, item);
            lowering.combine_states(&plan.fold.function, &states, &values)
        })?;
        Ok(states)
    }

    /// Combines the states of all invocations by a tree: those of the first have the total, and so has the first element of
    /// the totals.
    pub(super) fn reduce_totals(
        &mut self,
        function: &SoacLambda,
        at: GroupPosition,
        memory: &GroupMemory,
        states: &[LoweredValue],
    ) -> Result<(), String> {
        self.write_point(&memory.totals, &[at.local], states)?;
        self.wait_for_group(SyncKind::Error);
        self.visit_distances(at, |lowering, distance| {
            let twice = lowering.int64(ScalarOp::Add, distance, distance);
            let mask = lowering.int64(ScalarOp::Sub, twice, ScalarRef::from_int64(1));
            let rest = lowering.int64(ScalarOp::And, at.local, mask);
            lowering.if_inside(rest, ScalarRef::from_int64(1), |lowering| {
                let other = lowering.int64(ScalarOp::Add, at.local, distance);
                let values = lowering.row_values(&memory.totals, other);
                lowering.combine_states(function, states, &values)?;
                lowering.write_point(&memory.totals, &[at.local], states)
            })?;
            lowering.wait_for_group(SyncKind::Barrier);
            Ok(())
        })
    }

    /// Scans the states of all invocations: the totals are the combinations up to each invocation.
    pub(super) fn scan_totals(
        &mut self,
        function: &SoacLambda,
        at: GroupPosition,
        memory: &GroupMemory,
        states: &[LoweredValue],
    ) -> Result<(), String> {
        self.write_point(&memory.totals, &[at.local], states)?;
        self.wait_for_group(SyncKind::Barrier);
        self.visit_distances(at, |lowering, distance| {
            let before = lowering.int64(ScalarOp::Sub, at.local, distance);
            lowering.if_inside(before, at.local, |lowering| {
                let values = lowering.row_values(&memory.totals, before);
                let joined = lowering.make_states(&values)?;
                lowering.combine_states(function, &joined, states)?;
                lowering.move_states(states, &joined)
            })?;
            lowering.wait_for_group(SyncKind::Barrier);
            lowering.write_point(&memory.totals, &[at.local], states)?;
            lowering.wait_for_group(SyncKind::Barrier);
            Ok(())
        })
    }

    /// A loop over the powers of two below the size of a workgroup.
    fn visit_distances(
        &mut self,
        at: GroupPosition,
        body: impl FnOnce(&mut Self, ScalarRef) -> Result<(), String>,
    ) -> Result<(), String> {
        self.count_to(at.size.logarithm, |lowering, step| {
            let distance = lowering.int64(ScalarOp::Shl, ScalarRef::from_int64(1), step);
            body(lowering, distance)
        })
    }

    /// Adds to states the totals of the invocations before.
    pub(super) fn add_totals_before(
        &mut self,
        function: &SoacLambda,
        at: GroupPosition,
        memory: &GroupMemory,
        states: &[LoweredValue],
    ) -> Result<(), String> {
        let one = ScalarRef::from_int64(1);
        let before = self.int64(ScalarOp::Sub, at.local, one);
        self.if_inside(before, at.local, |lowering| {
            let values = lowering.row_values(&memory.totals, before);
            lowering.combine_states(function, states, &values)
        })
    }
}
