//! Reductions and scans by workgroups, on devices of many processors.
//!
//! A chunk of a segment belongs to a workgroup, which takes it tile by tile. The invocations compute the values of a tile in
//! turns, so that neighbours read neighbouring memory, and leave them in workgroup memory. Then each folds a few values that
//! follow each other, and the totals of the invocations are combined in their order, so that the function need not be
//! commutative. Where it is, an invocation folds every so manieth element of the chunk by itself, and there are no tiles.
//!
//! Totals are reduced by a tree, and scanned as by D. Hillis and G. Steele ("Data parallel algorithms", 1986). The partial
//! results of the chunks of a segment are combined by one workgroup in the same way.

use super::fold::{FoldChunk, FoldPlan, SegmentCut};
use super::space::SharedItems;
use super::view::{ArrayView, ScalarRef};
use super::workgroup::GroupPosition;
use super::{FunctionLowering, LoweredValue};
use crate::ir::{ParallelOperation, SegmentFold};
use crate::scope::{changes_arrays, contains_operation};
use spirula_kernel::ir::{MemorySpace, StmtKind, SyncKind, VariableType};
use spirula_program::{ScalarOp, ScalarOperator, ScalarType};
use spirula_soac::ir::{SoacLambda, SoacOperation, SoacType, SoacVariableId};

/// Bytes of workgroup memory for the values of a tile.
const TILE_BYTES: i64 = 12 << 10;

/// Most values of an invocation in a tile. Odd numbers keep the accesses of neighbours in different banks.
const MOST_ITEMS: i64 = 11;

/// Elements of an invocation that a workgroup is worth.
const LEAST_ELEMENTS: i64 = 16;

/// The width from which on a workgroup folds a segment, where there are several.
const GROUP_WIDTH: i64 = 128;

/// A fold by workgroups.
pub(super) struct GroupFold<'o> {
    pub(super) plan: FoldPlan<'o>,
    /// Values of an invocation in a tile.
    items: i64,
}

/// The values of a workgroup, in its memory.
struct GroupMemory {
    /// The values of a tile, one array for each result of the function. Empty where there are no tiles.
    values: Vec<ArrayView>,
    /// The totals of the invocations.
    totals: Vec<ArrayView>,
}

/// A chunk, and the invocation that works on it.
struct GroupChunk {
    at: GroupPosition,
    chunk: FoldChunk,
    memory: GroupMemory,
}

/// Whether a function is so simple that it may run between barriers: it fails never and needs no memory.
pub(super) fn is_simple(function: &SoacLambda) -> bool {
    !contains_operation(&function.body.statements, &|operation| {
        !matches!(
            operation,
            SoacOperation::Scalar(..) | SoacOperation::Slice(..) | SoacOperation::If(..)
        )
    })
}

impl FunctionLowering<'_> {
    /// The fold by workgroups, if the device and the operation are fit for it.
    pub(super) fn plan_group_fold<'o>(
        &mut self,
        operation: &'o ParallelOperation,
        fold: &'o SegmentFold,
        is_scan: bool,
    ) -> Result<Option<GroupFold<'o>>, String> {
        let group_size = self.profile.chunk_group_size;
        let mut bytes = 0;
        for &neutral in &fold.neutral {
            match self.function.type_of(neutral) {
                SoacType::Scalar(scalar) => bytes += scalar.size().max(1) as i64,
                _ => return Ok(None),
            }
        }
        let body = &operation.body;
        let is_fit = group_size > 1
            && is_simple(&fold.function)
            && !self.needs_memory(body)
            && !self.has_races(body)
            && !(is_scan && changes_arrays(body));
        let items = (TILE_BYTES / (group_size * bytes.max(1))).min(MOST_ITEMS);
        if !is_fit || items == 0 {
            return Ok(None);
        }
        let items = items - (1 - items % 2);
        let least = if is_scan || !fold.is_commutative {
            items.max(2)
        } else {
            LEAST_ELEMENTS
        };
        let cut = SegmentCut {
            most_chunks: self.profile.group_count,
            least_length: least * group_size,
        };
        let plan = self.cut_fold(operation, fold, cut)?;
        Ok(Some(GroupFold { plan, items }))
    }

    /// Does one of two things: by workgroups where segments are wide enough, otherwise by an invocation for each segment.
    fn choose_by_width(
        &mut self,
        fold: &GroupFold<'_>,
        by_groups: impl FnOnce(&mut Self) -> Result<(), String>,
        by_invocations: impl FnOnce(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        if fold.plan.outer.is_empty() {
            return by_groups(self);
        }
        let least = ScalarRef::from_int64(GROUP_WIDTH);
        let operands = [self.read(fold.plan.width), self.read(least)];
        let narrow = ScalarOperator::with_type(ScalarOp::SLt, ScalarType::I64);
        let condition = self.builder.apply_operator(narrow, &operands);
        self.builder.begin_block();
        by_invocations(self)?;
        let then = self.builder.end_block();
        self.builder.begin_block();
        by_groups(self)?;
        let otherwise = self.builder.end_block();
        self.builder.push_statement(StmtKind::If {
            condition,
            then,
            otherwise,
        });
        Ok(())
    }

    /// Lowers a reduction by workgroups.
    pub(super) fn lower_group_reduce(
        &mut self,
        results: &[SoacVariableId],
        fold: &GroupFold<'_>,
    ) -> Result<(), String> {
        let plan = &fold.plan;
        let (folded, mapped) = results.split_at(plan.folded());
        let others = self.make_result_arrays(mapped)?;
        let totals: Vec<ArrayView> = folded
            .iter()
            .map(|&id| {
                let element = self.function.variables[id].variable_type.element();
                self.new_array(element, vec![plan.segments])
            })
            .collect();
        let by_width = |lowering: &mut Self| {
            lowering.choose_by_width(
                fold,
                |lowering| lowering.reduce_by_groups(fold, &totals, &others),
                |lowering| lowering.reduce_by_invocations(plan, &totals, &others),
            )
        };
        match self.plan_tiles(plan.operation, plan.fold)? {
            Some(tiles) => {
                let condition = self.has_many_rows(plan);
                self.builder.begin_block();
                self.reduce_by_tiles(plan, &tiles, &totals)?;
                let then = self.builder.end_block();
                self.builder.begin_block();
                by_width(self)?;
                let otherwise = self.builder.end_block();
                self.builder.push_statement(StmtKind::If {
                    condition,
                    then,
                    otherwise,
                });
            }
            None => by_width(self)?,
        }
        self.set_totals(folded, &totals)?;
        self.set_arrays(mapped, others);
        Ok(())
    }

    /// A workgroup for each chunk, then one for the partial results of each segment that has several.
    fn reduce_by_groups(
        &mut self,
        fold: &GroupFold<'_>,
        totals: &[ArrayView],
        others: &[ArrayView],
    ) -> Result<(), String> {
        let plan = &fold.plan;
        let groups = self.int64(ScalarOp::Mul, plan.segments, plan.chunks);
        let partials = self.make_partials_or(plan, totals);
        self.offload_groups(groups, |lowering, at| {
            let chunk = lowering.begin_group_chunk(fold, at, !plan.fold.is_commutative)?;
            let states = lowering.reduce_group_chunk(fold, &chunk, others)?;
            lowering.if_first(at, |lowering| {
                lowering.write_point(&partials, &[at.group], &states)
            })
        })?;
        let condition = self.has_chunks(plan);
        self.builder.begin_block();
        self.offload_groups(plan.segments, |lowering, at| {
            let outer = lowering.unflatten(at.group, &plan.outer);
            lowering.bind_point(&plan.operation.space, &outer);
            let memory = lowering.make_group_memory(plan, None);
            let run = lowering.locate_run(plan, at);
            let states = lowering.fold_run(plan, &partials, &run)?;
            lowering.reduce_totals(&plan.fold.function, at, &memory, &states)?;
            lowering.if_first(at, |lowering| {
                lowering.write_point(totals, &[at.group], &states)
            })
        })?;
        let then = self.builder.end_block();
        self.builder.begin_block();
        let otherwise = self.builder.end_block();
        self.builder.push_statement(StmtKind::If {
            condition,
            then,
            otherwise,
        });
        Ok(())
    }

    /// An invocation for each segment.
    fn reduce_by_invocations(
        &mut self,
        plan: &FoldPlan<'_>,
        totals: &[ArrayView],
        others: &[ArrayView],
    ) -> Result<(), String> {
        let neutral = self.operand_values(&plan.fold.neutral)?;
        self.offload_items(self.whole_segments(plan), |lowering, segment| {
            let chunk = lowering.whole_segment(plan, segment);
            let states = lowering.make_states(&neutral)?;
            lowering.fold_chunk(plan, &chunk, &states, |lowering, point, values| {
                lowering.write_point(others, point, values)
            })?;
            lowering.write_point(totals, &[segment], &states)
        })
    }

    fn whole_segments(&self, plan: &FoldPlan<'_>) -> SharedItems {
        SharedItems {
            count: plan.segments,
            is_chunked: false,
            is_single: false,
        }
    }

    fn whole_segment(&mut self, plan: &FoldPlan<'_>, segment: ScalarRef) -> FoldChunk {
        FoldChunk {
            point: self.unflatten(segment, &plan.outer),
            start: ScalarRef::from_int64(0),
            count: plan.width,
        }
    }

    /// Lowers a scan by workgroups.
    pub(super) fn lower_group_scan(
        &mut self,
        results: &[SoacVariableId],
        fold: &GroupFold<'_>,
    ) -> Result<(), String> {
        let plan = &fold.plan;
        let targets = self.make_result_arrays(results)?;
        let (scanned, others) = targets.split_at(plan.folded());
        self.choose_by_width(
            fold,
            |lowering| lowering.scan_by_groups(fold, scanned, others),
            |lowering| lowering.scan_by_invocations(plan, scanned, others),
        )?;
        self.set_arrays(results, targets);
        Ok(())
    }

    /// A workgroup scans each chunk. Where segments have several, a workgroup reduces each first, and one scans the partial
    /// results of each segment.
    fn scan_by_groups(
        &mut self,
        fold: &GroupFold<'_>,
        scanned: &[ArrayView],
        others: &[ArrayView],
    ) -> Result<(), String> {
        let plan = &fold.plan;
        let groups = self.int64(ScalarOp::Mul, plan.segments, plan.chunks);
        let partials: Vec<ArrayView> = scanned
            .iter()
            .map(|array| self.new_array(array.element, vec![groups]))
            .collect();
        let condition = self.has_chunks(plan);
        self.builder.begin_block();
        self.offload_groups(groups, |lowering, at| {
            let chunk = lowering.begin_group_chunk(fold, at, !plan.fold.is_commutative)?;
            let states = lowering.reduce_group_chunk(fold, &chunk, &[])?;
            lowering.if_first(at, |lowering| {
                lowering.write_point(&partials, &[at.group], &states)
            })
        })?;
        self.offload_group_prefixes(plan, &partials)?;
        let then = self.builder.end_block();
        self.builder.begin_block();
        let otherwise = self.builder.end_block();
        self.builder.push_statement(StmtKind::If {
            condition,
            then,
            otherwise,
        });
        let neutral = self.operand_values(&plan.fold.neutral)?;
        self.offload_groups(groups, |lowering, at| {
            let chunk = lowering.begin_group_chunk(fold, at, true)?;
            let carry = lowering.make_states(&neutral)?;
            let one = ScalarRef::from_int64(1);
            lowering.if_inside(one, plan.chunks, |lowering| {
                let before = lowering.row_values(&partials, at.group);
                lowering.move_states(&carry, &before)
            })?;
            lowering.visit_tiles(fold, &chunk, |lowering, base| {
                lowering.load_tile(fold, &chunk, base, others)?;
                lowering.scan_tile(fold, &chunk, &carry)?;
                lowering.store_tile(fold, &chunk, base, scanned)
            })
        })
    }

    /// Replaces the partial results of each segment by their exclusive prefixes.
    fn offload_group_prefixes(
        &mut self,
        plan: &FoldPlan<'_>,
        partials: &[ArrayView],
    ) -> Result<(), String> {
        let function = &plan.fold.function;
        let neutral = self.operand_values(&plan.fold.neutral)?;
        self.offload_groups(plan.segments, |lowering, at| {
            let outer = lowering.unflatten(at.group, &plan.outer);
            lowering.bind_point(&plan.operation.space, &outer);
            let memory = lowering.make_group_memory(plan, None);
            let run = lowering.locate_run(plan, at);
            let totals = lowering.fold_run(plan, partials, &run)?;
            lowering.scan_totals(function, at, &memory, &totals)?;
            let prefix = lowering.make_states(&neutral)?;
            lowering.add_totals_before(function, at, &memory, &prefix)?;
            lowering.count_to(run.count, |lowering, step| {
                let item = lowering.int64(ScalarOp::Add, run.start, step);
                let rows = lowering.row_values(partials, item);
                let values = lowering.make_states(&rows)?;
                lowering.write_point(partials, &[item], &prefix)?;
                lowering.combine_states(function, &prefix, &values)
            })
        })
    }

    /// An invocation for each segment.
    fn scan_by_invocations(
        &mut self,
        plan: &FoldPlan<'_>,
        scanned: &[ArrayView],
        others: &[ArrayView],
    ) -> Result<(), String> {
        let neutral = self.operand_values(&plan.fold.neutral)?;
        self.offload_items(self.whole_segments(plan), |lowering, segment| {
            let chunk = lowering.whole_segment(plan, segment);
            let states = lowering.make_states(&neutral)?;
            lowering.fold_chunk(plan, &chunk, &states, |lowering, point, values| {
                lowering.write_point(scanned, point, &states)?;
                lowering.write_point(others, point, values)
            })
        })
    }

    /// Arrays for the partial results of chunks. Where a segment is one chunk, they are the totals themselves.
    fn make_partials_or(&mut self, plan: &FoldPlan<'_>, totals: &[ArrayView]) -> Vec<ArrayView> {
        let count = self.int64(ScalarOp::Mul, plan.segments, plan.chunks);
        let partials: Vec<ArrayView> = totals
            .iter()
            .map(|total| {
                let device = VariableType::Memory(MemorySpace::Device);
                let memory = self.builder.declare_var("partial", device, false);
                self.dense_view(memory, total.element, vec![count])
            })
            .collect();
        let condition = self.has_chunks(plan);
        self.builder.begin_block();
        for partial in &partials {
            self.allocate(partial.memory, partial.element, &partial.shape);
        }
        let then = self.builder.end_block();
        self.builder.begin_block();
        for (partial, total) in partials.iter().zip(totals) {
            let (to, from) = (partial.memory, total.memory);
            self.builder.push_statement(StmtKind::Alias { to, from });
        }
        let otherwise = self.builder.end_block();
        self.builder.push_statement(StmtKind::If {
            condition,
            then,
            otherwise,
        });
        partials
    }

    /// The chunk of a workgroup.
    fn begin_group_chunk(
        &mut self,
        fold: &GroupFold<'_>,
        at: GroupPosition,
        has_tiles: bool,
    ) -> Result<GroupChunk, String> {
        let plan = &fold.plan;
        let memory = self.make_group_memory(plan, has_tiles.then_some(fold.items));
        let chunk = self.locate_chunk(plan, at.group);
        self.bind_point(&plan.operation.space, &chunk.point);
        Ok(GroupChunk { at, chunk, memory })
    }

    fn make_group_memory(&mut self, plan: &FoldPlan<'_>, items: Option<i64>) -> GroupMemory {
        let size = self.profile.chunk_group_size;
        let neutral = plan.fold.neutral.iter();
        let elements: Vec<ScalarType> = neutral
            .map(|&neutral| self.function.type_of(neutral).element())
            .collect();
        let mut make = |count: i64| {
            let arrays = elements.iter();
            arrays
                .map(|&element| self.new_shared_array(element, count))
                .collect()
        };
        GroupMemory {
            totals: make(size),
            values: items.map_or_else(Vec::new, |items| make(size * items)),
        }
    }

    /// Reduces a chunk. The states have its total, in all invocations where there are tiles, in the first otherwise.
    fn reduce_group_chunk(
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
    fn fold_in_turns(
        &mut self,
        plan: &FoldPlan<'_>,
        chunk: &GroupChunk,
        states: &[LoweredValue],
        others: &[ArrayView],
    ) -> Result<(), String> {
        let size = ScalarRef::from_int64(self.profile.chunk_group_size);
        let steps = self.int64(ScalarOp::SDivUp, chunk.chunk.count, size);
        self.count_to(steps, |lowering, step| {
            let before = lowering.int64(ScalarOp::Mul, step, size);
            let offset = lowering.int64(ScalarOp::Add, before, chunk.at.local);
            lowering.if_inside(offset, chunk.chunk.count, |lowering| {
                let values = lowering.lower_element(plan, chunk, offset, others)?;
                lowering.combine_states(&plan.fold.function, states, &values)
            })
        })
    }

    /// Computes an element of a chunk, and writes what is not folded.
    fn lower_element(
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
    fn visit_tiles(
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

    /// Leaves the values of a tile in workgroup memory, with neutral ones behind the last.
    fn load_tile(
        &mut self,
        fold: &GroupFold<'_>,
        chunk: &GroupChunk,
        base: ScalarRef,
        others: &[ArrayView],
    ) -> Result<(), String> {
        let neutral = self.operand_values(&fold.plan.fold.neutral)?;
        self.visit_slots(fold, chunk, |lowering, slot| {
            let offset = lowering.int64(ScalarOp::Add, base, slot);
            let operands = [lowering.read(offset), lowering.read(chunk.chunk.count)];
            let less = ScalarOperator::with_type(ScalarOp::SLt, ScalarType::I64);
            let condition = lowering.builder.apply_operator(less, &operands);
            lowering.builder.begin_block();
            let values = lowering.lower_element(&fold.plan, chunk, offset, others)?;
            lowering.write_point(&chunk.memory.values, &[slot], &values)?;
            let then = lowering.builder.end_block();
            lowering.builder.begin_block();
            lowering.write_point(&chunk.memory.values, &[slot], &neutral)?;
            let otherwise = lowering.builder.end_block();
            lowering.builder.push_statement(StmtKind::If {
                condition,
                then,
                otherwise,
            });
            Ok(())
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
        let size = ScalarRef::from_int64(self.profile.chunk_group_size);
        self.count_to(ScalarRef::from_int64(fold.items), |lowering, step| {
            let before = lowering.int64(ScalarOp::Mul, step, size);
            let slot = lowering.int64(ScalarOp::Add, before, chunk.at.local);
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

    /// Scans the values of a tile behind those before it, which it joins.
    fn scan_tile(
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
    fn store_tile(
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
    fn locate_run(&mut self, plan: &FoldPlan<'_>, at: GroupPosition) -> FoldChunk {
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

    fn fold_run(
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
    fn reduce_totals(
        &mut self,
        function: &SoacLambda,
        at: GroupPosition,
        memory: &GroupMemory,
        states: &[LoweredValue],
    ) -> Result<(), String> {
        self.write_point(&memory.totals, &[at.local], states)?;
        self.wait_for_group(SyncKind::Error);
        self.visit_distances(|lowering, distance| {
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
    fn scan_totals(
        &mut self,
        function: &SoacLambda,
        at: GroupPosition,
        memory: &GroupMemory,
        states: &[LoweredValue],
    ) -> Result<(), String> {
        self.write_point(&memory.totals, &[at.local], states)?;
        self.wait_for_group(SyncKind::Barrier);
        self.visit_distances(|lowering, distance| {
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
        body: impl FnOnce(&mut Self, ScalarRef) -> Result<(), String>,
    ) -> Result<(), String> {
        let steps = i64::from(self.profile.chunk_group_size.ilog2());
        self.count_to(ScalarRef::from_int64(steps), |lowering, step| {
            let distance = lowering.int64(ScalarOp::Shl, ScalarRef::from_int64(1), step);
            body(lowering, distance)
        })
    }

    /// Adds to states the totals of the invocations before.
    fn add_totals_before(
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
