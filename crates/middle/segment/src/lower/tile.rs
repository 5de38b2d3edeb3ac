//! Reductions for each pair of a row and a column, as products of matrices, on devices of many processors.
//!
//! A workgroup computes a square of results. It copies the elements of arrays for its rows and columns to workgroup memory, a
//! few steps of the reduction at a time, where each is used by a whole row or column of results. An invocation has several
//! results of its own, so that it reads an element once for each row or column of them (V. Volkov, J. Demmel, "Benchmarking
//! GPUs to tune dense linear algebra", 2008).

use super::fold::FoldPlan;
use super::view::{ArrayView, ScalarRef};
use super::workgroup::GroupPosition;
use super::{FunctionLowering, LoweredValue};
use crate::ir::{ParallelOperation, SegmentFold};
use rustc_hash::FxHashMap;
use spirula_kernel::ir::SyncKind;
use spirula_program::{ScalarLiteral, ScalarOp, ScalarType};
use spirula_soac::ir::{SliceSelector, SoacOperand, SoacOperation, SoacStatement, SoacVariableId};

/// Invocations of a workgroup in each direction.
const SIDE: i64 = 16;

/// Results of an invocation in each direction.
const EACH: i64 = 4;

/// Results of a workgroup in each direction.
const BLOCK: i64 = SIDE * EACH;

/// Steps of the reduction for which elements are in workgroup memory.
const STEPS: i64 = 16;

/// Distance of steps in workgroup memory. Elements of neighbouring steps are in different banks.
const PITCH: i64 = BLOCK + 1;

/// Bytes of workgroup memory for elements.
const MOST_BYTES: i64 = 16 << 10;

/// Rows and columns from which on squares are worth it.
const LEAST_SIDE: i64 = 32;

/// What an element of an array depends on, besides the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TileSide {
    /// The row, or neither.
    Row,
    /// The column.
    Column,
}

/// A use of the elements of an array.
#[derive(Debug)]
struct TileLoad {
    /// The variable that is an element.
    id: SoacVariableId,
    element: ScalarType,
    side: TileSide,
    /// Whether elements of neighbouring steps follow each other, not those of neighbouring rows or columns.
    follows_steps: bool,
    /// The statements that select the element.
    chain: Vec<usize>,
}

/// How the elements of a reduction are shared.
pub(super) struct TilePlan {
    loads: Vec<TileLoad>,
    /// The statements that are computed for each result.
    rest: Vec<usize>,
}

/// The part of an array that a variable of a body is.
#[derive(Clone, Debug)]
struct SelectedPart {
    array: SoacOperand,
    points: Vec<SoacOperand>,
    chain: Vec<usize>,
}

/// The square of a workgroup, and an invocation in it.
struct TileFrame {
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

impl TileSide {
    fn axis(self) -> usize {
        match self {
            TileSide::Row => 0,
            TileSide::Column => 1,
        }
    }
}

impl FunctionLowering<'_> {
    /// How elements are shared, if rows and columns of results share them.
    pub(super) fn plan_tiles(
        &self,
        operation: &ParallelOperation,
        fold: &SegmentFold,
    ) -> Result<Option<TilePlan>, String> {
        let body = &operation.body;
        if operation.space.len() < 3
            || self.profile.chunk_group_size != SIDE * SIDE
            || body.results.len() != fold.neutral.len()
        {
            return Ok(None);
        }
        let mut parts: FxHashMap<SoacVariableId, SelectedPart> = FxHashMap::default();
        let mut plan = TilePlan {
            loads: Vec::new(),
            rest: Vec::new(),
        };
        for (position, statement) in body.statements.iter().enumerate() {
            match &statement.operation {
                SoacOperation::Scalar(..) => plan.rest.push(position),
                SoacOperation::Slice(array, selectors) if !self.is_virtual(*array) => {
                    let Some(part) = select_part(&parts, *array, selectors, position) else {
                        return Ok(None);
                    };
                    let id = statement.results[0];
                    if self
                        .function
                        .type_of(SoacOperand::Variable(id))
                        .shape()
                        .is_empty()
                    {
                        let Some(load) = self.plan_load(operation, id, &part)? else {
                            return Ok(None);
                        };
                        plan.loads.push(load);
                    }
                    parts.insert(id, part);
                }
                SoacOperation::Slice(..) => plan.rest.push(position),
                _ => return Ok(None),
            }
        }
        let has_side = |side| plan.loads.iter().any(|load| load.side == side);
        let sizes = plan.loads.iter().map(|load| load.element.size() as i64);
        let bytes = sizes.sum::<i64>() * PITCH * STEPS;
        let is_shared = has_side(TileSide::Row) && has_side(TileSide::Column);
        Ok((is_shared && bytes <= MOST_BYTES).then_some(plan))
    }

    fn is_virtual(&self, array: SoacOperand) -> bool {
        matches!(self.value(array), Ok(LoweredValue::Virtual(_)))
    }

    /// The use of an element that depends on the step, and on the row or the column but not on both.
    fn plan_load(
        &self,
        operation: &ParallelOperation,
        id: SoacVariableId,
        part: &SelectedPart,
    ) -> Result<Option<TileLoad>, String> {
        let mut indices = operation.indices().into_iter().rev();
        let (Some(step), Some(column), Some(row)) =
            (indices.next(), indices.next(), indices.next())
        else {
            return Ok(None);
        };
        let find = |id: SoacVariableId| {
            let mut points = part.points.iter();
            points.position(|&point| point == SoacOperand::Variable(id))
        };
        let (side, own) = match (find(row), find(column)) {
            (own, None) => (TileSide::Row, own),
            (None, own) => (TileSide::Column, own),
            _ => return Ok(None),
        };
        let is_index = |point: &SoacOperand| match point {
            SoacOperand::Constant(_) => true,
            SoacOperand::Variable(id) => {
                operation.indices().contains(id) || self.values[id.index()].is_some()
            }
        };
        let (Some(step), true) = (find(step), part.points.iter().all(is_index)) else {
            return Ok(None);
        };
        let LoweredValue::Array(array) = self.value(part.array)? else {
            return Ok(None);
        };
        let one = ScalarRef::from_int64(1);
        let is_unit = |dimension: usize| array.strides.get(dimension) == Some(&one);
        Ok(Some(TileLoad {
            id,
            element: array.element,
            side,
            follows_steps: is_unit(step) || !own.is_some_and(is_unit),
            chain: part.chain.clone(),
        }))
    }

    /// Whether there are enough rows and columns for squares.
    pub(super) fn has_many_rows(&mut self, plan: &FoldPlan<'_>) -> spirula_kernel::ir::ExprId {
        let [.., rows, columns] = plan.outer[..] else {
            return self
                .builder
                .make_literal(ScalarLiteral::new(ScalarType::Bool, 0));
        };
        let fewer = self.int64(ScalarOp::SMin, rows, columns);
        let least = ScalarRef::from_int64(LEAST_SIDE);
        self.compare(ScalarOp::SLe, least, fewer)
    }

    /// Reduces by squares of results.
    pub(super) fn reduce_by_tiles(
        &mut self,
        plan: &FoldPlan<'_>,
        tiles: &TilePlan,
        totals: &[ArrayView],
    ) -> Result<(), String> {
        let [batch @ .., rows, columns] = &plan.outer[..] else {
            return Err("a product has no rows and columns".into());
        };
        let block = ScalarRef::from_int64(BLOCK);
        let counts = [*rows, *columns].map(|size| self.int64(ScalarOp::SDivUp, size, block));
        let mut grid = batch.to_vec();
        grid.extend(counts);
        let groups = self.product(&grid);
        let neutral = self.operand_values(&plan.fold.neutral)?;
        self.offload_groups(groups, |lowering, at| {
            let mut outer = lowering.unflatten(at.group, &grid);
            let squares = outer.split_off(batch.len());
            let first = [0, 1].map(|axis| lowering.int64(ScalarOp::Mul, squares[axis], block));
            let side = ScalarRef::from_int64(SIDE);
            let row = lowering.int64(ScalarOp::SQuot, at.local, side);
            let before = lowering.int64(ScalarOp::Mul, row, side);
            let column = lowering.int64(ScalarOp::Sub, at.local, before);
            let loads = tiles.loads.iter();
            let memory = loads
                .map(|load| lowering.new_shared_array(load.element, PITCH * STEPS))
                .collect();
            let frame = TileFrame {
                outer,
                first,
                sizes: [*rows, *columns],
                own: [row, column],
                at,
                tiles: memory,
            };
            let mut states = Vec::new();
            for _ in 0..EACH * EACH {
                states.push(lowering.make_states(&neutral)?);
            }
            lowering.visit_step_blocks(plan, |lowering, start, count| {
                for (load, tile) in tiles.loads.iter().zip(&frame.tiles) {
                    lowering.fill_tile(plan, &frame, load, tile, [start, count])?;
                }
                lowering.wait_for_group(SyncKind::Barrier);
                lowering.add_steps(plan, tiles, &frame, &states, [start, count])?;
                lowering.wait_for_group(SyncKind::Barrier);
                Ok(())
            })?;
            lowering.store_results(plan, &frame, &states, totals)
        })
    }

    /// A loop over the steps, some at a time. `body` is given the first, and their number.
    fn visit_step_blocks(
        &mut self,
        plan: &FoldPlan<'_>,
        body: impl FnOnce(&mut Self, ScalarRef, ScalarRef) -> Result<(), String>,
    ) -> Result<(), String> {
        let most = ScalarRef::from_int64(STEPS);
        let blocks = self.int64(ScalarOp::SDivUp, plan.width, most);
        self.count_to(blocks, |lowering, block| {
            let start = lowering.int64(ScalarOp::Mul, block, most);
            let rest = lowering.int64(ScalarOp::Sub, plan.width, start);
            let count = lowering.int64(ScalarOp::SMin, most, rest);
            body(lowering, start, count)
        })
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

    /// Copies the elements of a use to workgroup memory. Neighbours copy elements that follow each other.
    fn fill_tile(
        &mut self,
        plan: &FoldPlan<'_>,
        frame: &TileFrame,
        load: &TileLoad,
        tile: &ArrayView,
        [start, count]: [ScalarRef; 2],
    ) -> Result<(), String> {
        let axis = load.side.axis();
        let fast = ScalarRef::from_int64(if load.follows_steps { STEPS } else { BLOCK });
        let turns = BLOCK * STEPS / (SIDE * SIDE);
        self.count_to(ScalarRef::from_int64(turns), |lowering, turn| {
            let number = lowering.own_turn(frame.at, turn);
            let slow = lowering.int64(ScalarOp::SQuot, number, fast);
            let whole = lowering.int64(ScalarOp::Mul, slow, fast);
            let rest = lowering.int64(ScalarOp::Sub, number, whole);
            let (line, step) = if load.follows_steps {
                (slow, rest)
            } else {
                (rest, slow)
            };
            let position = lowering.int64(ScalarOp::Add, frame.first[axis], line);
            lowering.if_inside(position, frame.sizes[axis], |lowering| {
                lowering.if_inside(step, count, |lowering| {
                    let at = lowering.int64(ScalarOp::Add, start, step);
                    let mut point = [frame.first[0], frame.first[1], at];
                    point[axis] = position;
                    lowering.bind_tile_point(plan, frame, point);
                    lowering.lower_some(&plan.operation.body.statements, &load.chain)?;
                    let value = lowering.value(SoacOperand::Variable(load.id))?;
                    let slot = lowering.tile_slot(step, line);
                    lowering.write_point(std::slice::from_ref(tile), &[slot], &[value])
                })
            })
        })
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
    fn tile_slot(&mut self, step: ScalarRef, line: ScalarRef) -> ScalarRef {
        let before = self.int64(ScalarOp::Mul, step, ScalarRef::from_int64(PITCH));
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
        let most = ScalarRef::from_int64(STEPS);
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
            for number in 0..EACH {
                let line = self.own_line(frame, load.side.axis(), number);
                let slot = self.tile_slot(step, line);
                values.extend(self.row_values(std::slice::from_ref(tile), slot));
            }
            elements.push(values);
        }
        let at = self.int64(ScalarOp::Add, start, step);
        for row in 0..EACH {
            for column in 0..EACH {
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
                let state = &states[(row * EACH + column) as usize];
                self.combine_states(&plan.fold.function, state, &values)?;
            }
        }
        Ok(())
    }

    /// A row or column of an invocation, in the square.
    fn own_line(&mut self, frame: &TileFrame, axis: usize, number: i64) -> ScalarRef {
        let distance = ScalarRef::from_int64(number * SIDE);
        self.int64(ScalarOp::Add, frame.own[axis], distance)
    }

    /// Writes the results of an invocation.
    fn store_results(
        &mut self,
        plan: &FoldPlan<'_>,
        frame: &TileFrame,
        states: &[Vec<LoweredValue>],
        totals: &[ArrayView],
    ) -> Result<(), String> {
        for row in 0..EACH {
            for column in 0..EACH {
                let lines = [row, column];
                let place = [0, 1].map(|axis| {
                    let line = self.own_line(frame, axis, lines[axis]);
                    self.int64(ScalarOp::Add, frame.first[axis], line)
                });
                let state = &states[(row * EACH + column) as usize];
                self.if_inside(place[0], frame.sizes[0], |lowering| {
                    lowering.if_inside(place[1], frame.sizes[1], |lowering| {
                        let mut segment = ScalarRef::from_int64(0);
                        let mut point = frame.outer.clone();
                        point.extend(place);
                        for (position, &size) in point.into_iter().zip(&plan.outer) {
                            let before = lowering.int64(ScalarOp::Mul, segment, size);
                            segment = lowering.int64(ScalarOp::Add, before, position);
                        }
                        lowering.write_point(totals, &[segment], state)
                    })
                })?;
            }
        }
        Ok(())
    }
}

/// The part of an array that selectors select. `None` if it is a slice.
fn select_part(
    parts: &FxHashMap<SoacVariableId, SelectedPart>,
    array: SoacOperand,
    selectors: &[SliceSelector],
    position: usize,
) -> Option<SelectedPart> {
    let known = match array {
        SoacOperand::Variable(id) => parts.get(&id).cloned(),
        SoacOperand::Constant(_) => None,
    };
    let mut part = known.unwrap_or(SelectedPart {
        array,
        points: Vec::new(),
        chain: Vec::new(),
    });
    for selector in selectors {
        match selector {
            SliceSelector::Point(point) => part.points.push(*point),
            SliceSelector::Stride { .. } => return None,
        }
    }
    part.chain.push(position);
    Some(part)
}
