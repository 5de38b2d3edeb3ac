//! Reductions as products of matrices: which elements rows and columns of results share, and the squares that workgroups compute.

use super::element_access::ElementAccess;
use super::view::ScalarRef;
use super::{FunctionLowering, LoweredValue};
use crate::ir::{ParallelOperation, SegmentFold};
use spirula_program::ScalarType;
use spirula_soac::ir::{SoacOperand, SoacVariableId};

/// Bytes of workgroup memory for elements.
const MOST_BYTES: i64 = 16 << 10;

/// Fewest steps for which elements are in workgroup memory.
const LEAST_STEPS: i64 = 4;

/// Most statements for each result of the largest square. Its code repeats them for each result.
const MOST_STATEMENTS: usize = 4;

/// The square of a workgroup. The elements that it has in workgroup memory are at most four times as many as its invocations, per array.
#[derive(Clone, Copy, Debug)]
pub(super) struct TileShape {
    /// Invocations of a workgroup in each direction.
    pub(super) side: i64,
    /// Results of an invocation in each direction.
    pub(super) each: i64,
    /// Steps of the reduction for which elements are in workgroup memory.
    pub(super) steps: i64,
    /// Rows and columns from which on it is worth it.
    pub(super) least: i64,
    /// Fewest squares, so that the device is busy.
    pub(super) squares: i64,
    /// Whether the last steps read no more elements. A card is faster so where a reduction has many steps, and slower where it has
    /// few.
    pub(super) ends_reads: bool,
}

/// The squares, the smallest first.
const TILE_SHAPES: &[TileShape] = &[
    TileShape {
        side: 8,
        each: 4,
        steps: 8,
        least: 16,
        squares: 0,
        ends_reads: false,
    },
    TileShape {
        side: 16,
        each: 4,
        steps: 16,
        least: 48,
        squares: 0,
        ends_reads: false,
    },
    TileShape {
        side: 16,
        each: 8,
        steps: 8,
        least: 256,
        squares: 256,
        ends_reads: true,
    },
];

impl TileShape {
    /// Invocations of a workgroup.
    pub(super) fn invocations(self) -> i64 {
        self.side * self.side
    }

    /// Results of a workgroup in each direction.
    pub(super) fn block(self) -> i64 {
        self.side * self.each
    }

    /// Distance of steps in workgroup memory. Elements of neighbouring steps are in different banks.
    pub(super) fn pitch(self) -> i64 {
        self.block() + 1
    }

    /// Elements in workgroup memory.
    pub(super) fn slots(self) -> i64 {
        self.pitch() * self.steps
    }

    /// Elements that an invocation copies.
    pub(super) fn turns(self) -> i64 {
        self.block() * self.steps / self.invocations()
    }
}

/// The dependences of an element of an array, besides the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TileSide {
    /// The row, or neither.
    Row,
    /// The column.
    Column,
}

/// A use of the elements of an array.
#[derive(Debug)]
pub(super) struct TileLoad {
    /// The variable that is an element.
    pub(super) id: SoacVariableId,
    pub(super) element: ScalarType,
    pub(super) side: TileSide,
    /// Whether elements of neighbouring steps follow each other, not those of neighbouring rows or columns.
    pub(super) follows_steps: bool,
    /// The statements that select the element.
    pub(super) chain: Vec<usize>,
}

/// How the elements of a reduction are shared.
pub(super) struct TilePlan {
    pub(super) loads: Vec<TileLoad>,
    /// The statements that are computed for each result.
    pub(super) rest: Vec<usize>,
    /// The squares that may be used, the smallest first.
    pub(super) shapes: Vec<TileShape>,
}

impl TileSide {
    pub(super) fn axis(self) -> usize {
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
        if operation.space.len() < 3 || body.results.len() != fold.neutral.len() {
            return Ok(None);
        }
        let Some(accesses) = self.find_element_accesses(body) else {
            return Ok(None);
        };
        let mut plan = TilePlan {
            loads: Vec::with_capacity(accesses.loads.len()),
            rest: accesses.rest,
            shapes: Vec::new(),
        };
        for access in &accesses.loads {
            let Some(load) = self.plan_load(operation, access)? else {
                return Ok(None);
            };
            plan.loads.push(load);
        }
        let has_side = |side| plan.loads.iter().any(|load| load.side == side);
        let sizes = plan.loads.iter().map(|load| load.element.size() as i64);
        let bytes = sizes.sum::<i64>();
        let is_shared = has_side(TileSide::Row) && has_side(TileSide::Column);
        if is_shared {
            plan.shapes = self.find_shapes(bytes, plan.rest.len());
        }
        Ok((!plan.shapes.is_empty()).then_some(plan))
    }

    /// The use of an element that depends on the step, and on the row or the column but not on both.
    fn plan_load(
        &self,
        operation: &ParallelOperation,
        access: &ElementAccess,
    ) -> Result<Option<TileLoad>, String> {
        let mut indices = operation.indices().into_iter().rev();
        let (Some(step), Some(column), Some(row)) =
            (indices.next(), indices.next(), indices.next())
        else {
            return Ok(None);
        };
        let find = |id: SoacVariableId| {
            let mut points = access.points.iter();
            points.position(|&point| point == SoacOperand::Variable(id))
        };
        let (side, own) = match (find(row), find(column)) {
            (own, None) => (TileSide::Row, own),
            (None, own) => (TileSide::Column, own),
            _ => return Ok(None),
        };
        let (Some(step), true) = (find(step), self.has_plain_points(operation, access)) else {
            return Ok(None);
        };
        let LoweredValue::Array(array) = self.value(access.array)? else {
            return Ok(None);
        };
        let one = ScalarRef::from_int64(1);
        let is_unit = |dimension: usize| array.strides.get(dimension) == Some(&one);
        Ok(Some(TileLoad {
            id: access.id,
            element: array.element,
            side,
            follows_steps: is_unit(step) || !own.is_some_and(is_unit),
            chain: access.chain.clone(),
        }))
    }

    /// The squares for elements whose parts in all arrays have some bytes, and a number of statements for each result.
    fn find_shapes(&self, bytes: i64, statements: usize) -> Vec<TileShape> {
        let has_little_code = statements <= MOST_STATEMENTS;
        let count = TILE_SHAPES.len() - usize::from(!has_little_code);
        let shapes = TILE_SHAPES[..count].iter().map(|&shape| {
            let mut shape = shape;
            while bytes * shape.slots() > MOST_BYTES {
                shape.steps /= 2;
            }
            shape
        });
        let most = self.profile.chunk_group_size;
        let fits = |shape: &TileShape| shape.steps >= LEAST_STEPS && shape.invocations() <= most;
        shapes.filter(fits).collect()
    }
}
