//! Reductions for each pair of a row and a column, as products of matrices, on devices of many processors.
//!
//! A workgroup computes a square of results. It copies the elements of arrays for its rows and columns to workgroup memory, a
//! few steps of the reduction at a time, where each is used by a whole row or column of results. An invocation has several
//! results of its own, so that it reads an element once for each row or column of them (V. Volkov, J. Demmel, "Benchmarking
//! GPUs to tune dense linear algebra", 2008).

use super::epilogue::FinishSegment;
use super::fold::FoldPlan;
use super::tile_plan::{TileLoad, TilePlan, TileShape};
use super::view::{ArrayView, ScalarRef};
use super::workgroup::{GroupPosition, GroupSize};
use super::{FunctionLowering, LoweredValue};
use spirula_kernel::ir::{ExprId, SyncKind};
use spirula_program::ScalarOp;
use spirula_soac::ir::{SoacOperand, SoacStatement};

/// The square of a workgroup, and an invocation in it.
struct TileFrame {
    shape: TileShape,
    /// The positions in the dimensions around the rows.
    outer: Vec<ScalarRef>,
    /// The first row and column of the square.
    first: [ScalarRef; 2],
    /// The number of rows and columns.
    sizes: [ScalarRef; 2],
    /// The row and column of the invocation among those of the workgroup.
    own: [ScalarRef; 2],
    /// The invocation.
    at: GroupPosition,
    /// The elements of each use.
    tiles: Vec<ArrayView>,
}

impl FunctionLowering<'_> {
    /// Reduces by the largest squares that are worth it, or otherwise.
    pub(super) fn choose_tiles(
        &mut self,
        plan: &FoldPlan<'_>,
        tiles: &TilePlan,
        finish: &FinishSegment<'_, Self>,
        otherwise: &dyn Fn(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        self.choose_shape(plan, tiles, finish, &tiles.shapes, otherwise)
    }

    fn choose_shape(
        &mut self,
        plan: &FoldPlan<'_>,
        tiles: &TilePlan,
        finish: &FinishSegment<'_, Self>,
        shapes: &[TileShape],
        otherwise: &dyn Fn(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        let Some((&shape, smaller)) = shapes.split_last() else {
            return otherwise(self);
        };
        let is_worth_it = self.is_shape_worth_it(plan, shape)?;
        self.choose(
            is_worth_it,
            |lowering| lowering.reduce_by_tiles(plan, tiles, finish, shape),
            |lowering| lowering.choose_shape(plan, tiles, finish, smaller, otherwise),
        )
    }

    /// Whether there are enough rows and columns, and enough squares.
    fn is_shape_worth_it(
        &mut self,
        plan: &FoldPlan<'_>,
        shape: TileShape,
    ) -> Result<ExprId, String> {
        let [.., rows, columns] = plan.outer[..] else {
            return Err("a product has no rows and columns".into());
        };
        let fewer = self.int64(ScalarOp::SMin, rows, columns);
        let least = ScalarRef::from_int64(shape.least);
        let has_sides = self.compare(ScalarOp::SLe, least, fewer);
        let results = self.product(&plan.outer);
        let busy = ScalarRef::from_int64(shape.squares * shape.block() * shape.block());
        let is_busy = self.compare(ScalarOp::SLe, busy, results);
        Ok(self
            .builder
            .apply_op(ScalarOp::LogAnd, &[has_sides, is_busy]))
    }

    /// Reduces by squares of results.
    fn reduce_by_tiles(
        &mut self,
        plan: &FoldPlan<'_>,
        tiles: &TilePlan,
        finish: &FinishSegment<'_, Self>,
        shape: TileShape,
    ) -> Result<(), String> {
        let [batch @ .., rows, columns] = &plan.outer[..] else {
            return Err("a product has no rows and columns".into());
        };
        let block = ScalarRef::from_int64(shape.block());
        let counts = [*rows, *columns].map(|size| self.int64(ScalarOp::SDivUp, size, block));
        let mut grid = batch.to_vec();
        grid.extend(counts);
        let groups = self.product(&grid);
        let neutral = self.operand_values(&plan.fold.neutral)?;
        let size = GroupSize::from_count(shape.invocations());
        self.offload_sized_groups(groups, size, |lowering, at| {
            let mut outer = lowering.unflatten(at.group, &grid);
            let squares = outer.split_off(batch.len());
            let first = [0, 1].map(|axis| lowering.int64(ScalarOp::Mul, squares[axis], block));
            let side = ScalarRef::from_int64(shape.side);
            let row = lowering.int64(ScalarOp::SQuot, at.local, side);
            let before = lowering.int64(ScalarOp::Mul, row, side);
            let column = lowering.int64(ScalarOp::Sub, at.local, before);
            let loads = tiles.loads.iter();
            let memory = loads
                .map(|load| lowering.new_shared_array(load.element, shape.slots()))
                .collect();
            let frame = TileFrame {
                shape,
                outer,
                first,
                sizes: [*rows, *columns],
                own: [row, column],
                at,
                tiles: memory,
            };
            let mut states = Vec::new();
            for _ in 0..shape.each * shape.each {
                states.push(lowering.make_states(&neutral)?);
            }
            let none = ScalarRef::from_int64(0);
            let is_empty = lowering.compare(ScalarOp::SLe, plan.width, none);
            lowering.choose(
                is_empty,
                |_| Ok(()),
                |lowering| lowering.add_blocks(plan, tiles, &frame, &states),
            )?;
            lowering.finish_results(&frame, &states, finish)
        })
    }

    /// Adds the steps of the reduction, some at a time. While they are added, the elements of the next ones are read.
    fn add_blocks(
        &mut self,
        plan: &FoldPlan<'_>,
        tiles: &TilePlan,
        frame: &TileFrame,
        states: &[Vec<LoweredValue>],
    ) -> Result<(), String> {
        let most = ScalarRef::from_int64(frame.shape.steps);
        let blocks = self.int64(ScalarOp::SDivUp, plan.width, most);
        let mut read = Vec::new();
        for load in &tiles.loads {
            let values = self.read_part(plan, frame, load, ScalarRef::from_int64(0))?;
            read.push(self.make_states(&values)?);
        }
        self.count_to(blocks, |lowering, block| {
            let start = lowering.int64(ScalarOp::Mul, block, most);
            let rest = lowering.int64(ScalarOp::Sub, plan.width, start);
            let count = lowering.int64(ScalarOp::SMin, most, rest);
            for ((load, tile), values) in tiles.loads.iter().zip(&frame.tiles).zip(&read) {
                lowering.fill_tile(frame, load, tile, values)?;
            }
            lowering.wait_for_group(SyncKind::Barrier);
            let following = lowering.int64(ScalarOp::Add, start, most);
            let next = lowering.read_next(plan, tiles, frame, &read, following)?;
            lowering.add_steps(plan, tiles, frame, states, [start, count])?;
            for (values, next) in read.iter().zip(&next) {
                lowering.move_states(values, next)?;
            }
            lowering.wait_for_group(SyncKind::Barrier);
            Ok(())
        })
    }

    /// Reads the elements of the next steps. Beyond the last one they are those of the last step, or nothing is read.
    fn read_next(
        &mut self,
        plan: &FoldPlan<'_>,
        tiles: &TilePlan,
        frame: &TileFrame,
        read: &[Vec<LoweredValue>],
        start: ScalarRef,
    ) -> Result<Vec<Vec<LoweredValue>>, String> {
        let mut next = Vec::with_capacity(read.len());
        if !frame.shape.ends_reads {
            for load in &tiles.loads {
                next.push(self.read_part(plan, frame, load, start)?);
            }
            return Ok(next);
        }
        for values in read {
            next.push(self.make_states(values)?);
        }
        let is_last = self.compare(ScalarOp::SLe, plan.width, start);
        self.choose(
            is_last,
            |_| Ok(()),
            |lowering| {
                let mut loads = tiles.loads.iter().zip(&next);
                loads.try_for_each(|(load, next)| {
                    let values = lowering.read_part(plan, frame, load, start)?;
                    lowering.move_states(next, &values)
                })
            },
        )?;
        Ok(next)
    }

    /// Binds the indices of the space.
    fn bind_tile_point(
        &mut self,
        plan: &FoldPlan<'_>,
        frame: &TileFrame,
        [row, column, step]: [ScalarRef; 3],
    ) {
        let mut point = frame.outer.clone();
        point.extend([row, column, step]);
        self.bind_point(&plan.operation.space, &point);
    }

    /// The line and the step of the element that an invocation copies in a turn. Neighbours copy elements that follow each other.
    fn locate_turn(&mut self, frame: &TileFrame, load: &TileLoad, turn: i64) -> [ScalarRef; 2] {
        let shape = frame.shape;
        let fast = if load.follows_steps {
            shape.steps
        } else {
            shape.block()
        };
        let fast = ScalarRef::from_int64(fast);
        let number = self.own_turn(frame.at, ScalarRef::from_int64(turn));
        let slow = self.int64(ScalarOp::SQuot, number, fast);
        let whole = self.int64(ScalarOp::Mul, slow, fast);
        let rest = self.int64(ScalarOp::Sub, number, whole);
        if load.follows_steps {
            [slow, rest]
        } else {
            [rest, slow]
        }
    }

    /// Reads the elements of a use that an invocation copies, from a step on. Beyond the last step, its elements are read.
    fn read_part(
        &mut self,
        plan: &FoldPlan<'_>,
        frame: &TileFrame,
        load: &TileLoad,
        start: ScalarRef,
    ) -> Result<Vec<LoweredValue>, String> {
        let axis = load.side.axis();
        let one = ScalarRef::from_int64(1);
        let last = self.int64(ScalarOp::Sub, frame.sizes[axis], one);
        let last_step = self.int64(ScalarOp::Sub, plan.width, one);
        let mut values = Vec::new();
        for turn in 0..frame.shape.turns() {
            let [line, step] = self.locate_turn(frame, load, turn);
            let position = self.int64(ScalarOp::Add, frame.first[axis], line);
            let position = self.int64(ScalarOp::SMin, position, last);
            let at = self.int64(ScalarOp::Add, start, step);
            let at = self.int64(ScalarOp::SMin, at, last_step);
            let mut point = [frame.first[0], frame.first[1], at];
            point[axis] = position;
            self.bind_tile_point(plan, frame, point);
            self.lower_some(&plan.operation.body.statements, &load.chain)?;
            values.push(self.value(SoacOperand::Variable(load.id))?);
        }
        Ok(values)
    }

    /// Writes elements that were read to workgroup memory.
    fn fill_tile(
        &mut self,
        frame: &TileFrame,
        load: &TileLoad,
        tile: &ArrayView,
        values: &[LoweredValue],
    ) -> Result<(), String> {
        for (turn, value) in (0..).zip(values) {
            let [line, step] = self.locate_turn(frame, load, turn);
            let slot = self.tile_slot(frame, step, line);
            let place = self.row_view(tile, slot);
            self.write_value(&place, value)?;
        }
        Ok(())
    }

    /// Lowers some statements.
    fn lower_some(
        &mut self,
        statements: &[SoacStatement],
        positions: &[usize],
    ) -> Result<(), String> {
        positions
            .iter()
            .try_for_each(|&position| self.lower_statement(&statements[position]))
    }

    /// The place of an element in workgroup memory.
    fn tile_slot(&mut self, frame: &TileFrame, step: ScalarRef, line: ScalarRef) -> ScalarRef {
        let pitch = ScalarRef::from_int64(frame.shape.pitch());
        let before = self.int64(ScalarOp::Mul, step, pitch);
        self.int64(ScalarOp::Add, before, line)
    }

    /// Adds steps of the reduction to the results of an invocation. A full number of them is a loop that can be unrolled.
    fn add_steps(
        &mut self,
        plan: &FoldPlan<'_>,
        tiles: &TilePlan,
        frame: &TileFrame,
        states: &[Vec<LoweredValue>],
        [start, count]: [ScalarRef; 2],
    ) -> Result<(), String> {
        let most = ScalarRef::from_int64(frame.shape.steps);
        let is_full = self.compare(ScalarOp::Eq, count, most);
        let add = |lowering: &mut Self, bound: ScalarRef| {
            lowering.count_to(bound, |lowering, step| {
                lowering.add_step(plan, tiles, frame, states, [start, step])
            })
        };
        self.choose(
            is_full,
            |lowering| add(lowering, most),
            |lowering| add(lowering, count),
        )
    }

    /// Adds a step of the reduction to the results of an invocation.
    fn add_step(
        &mut self,
        plan: &FoldPlan<'_>,
        tiles: &TilePlan,
        frame: &TileFrame,
        states: &[Vec<LoweredValue>],
        [start, step]: [ScalarRef; 2],
    ) -> Result<(), String> {
        let mut elements = Vec::with_capacity(tiles.loads.len());
        for (load, tile) in tiles.loads.iter().zip(&frame.tiles) {
            let mut values = Vec::new();
            for number in 0..frame.shape.each {
                let line = self.own_line(frame, load.side.axis(), number);
                let slot = self.tile_slot(frame, step, line);
                values.extend(self.row_values(std::slice::from_ref(tile), slot));
            }
            elements.push(values);
        }
        let at = self.int64(ScalarOp::Add, start, step);
        for row in 0..frame.shape.each {
            for column in 0..frame.shape.each {
                let lines = [row, column];
                let [first, second] = [0, 1].map(|axis| {
                    let line = self.own_line(frame, axis, lines[axis]);
                    self.int64(ScalarOp::Add, frame.first[axis], line)
                });
                self.bind_tile_point(plan, frame, [first, second, at]);
                for (load, values) in tiles.loads.iter().zip(&elements) {
                    let number = lines[load.side.axis()] as usize;
                    self.set(load.id, values[number].clone());
                }
                self.lower_some(&plan.operation.body.statements, &tiles.rest)?;
                let values = self.operand_values(&plan.operation.body.results)?;
                let state = &states[(row * frame.shape.each + column) as usize];
                self.combine_states(&plan.fold.function, state, &values)?;
            }
        }
        Ok(())
    }

    /// A row or column of an invocation, in the square.
    fn own_line(&mut self, frame: &TileFrame, axis: usize, number: i64) -> ScalarRef {
        let distance = ScalarRef::from_int64(number * frame.shape.side);
        self.int64(ScalarOp::Add, frame.own[axis], distance)
    }

    /// Uses the results of an invocation.
    fn finish_results(
        &mut self,
        frame: &TileFrame,
        states: &[Vec<LoweredValue>],
        finish: &FinishSegment<'_, Self>,
    ) -> Result<(), String> {
        for row in 0..frame.shape.each {
            for column in 0..frame.shape.each {
                let lines = [row, column];
                let place = [0, 1].map(|axis| {
                    let line = self.own_line(frame, axis, lines[axis]);
                    self.int64(ScalarOp::Add, frame.first[axis], line)
                });
                let state = &states[(row * frame.shape.each + column) as usize];
                self.if_inside(place[0], frame.sizes[0], |lowering| {
                    lowering.if_inside(place[1], frame.sizes[1], |lowering| {
                        let mut point = frame.outer.clone();
                        point.extend(place);
                        finish(lowering, &point, state)
                    })
                })?;
            }
        }
        Ok(())
    }
}
