//! Reductions as products of matrices: which elements rows and columns of results share, and the squares that workgroups compute.

use super::view::ScalarRef;
use super::{FunctionLowering, LoweredValue};
use crate::ir::{ParallelOperation, SegmentFold};
use rustc_hash::FxHashMap;
use spirula_program::ScalarType;
use spirula_soac::ir::{SliceSelector, SoacOperand, SoacOperation, SoacVariableId};

/// Invocations of a workgroup in each direction.
pub(super) const SIDE: i64 = 16;

/// Bytes of workgroup memory for elements.
const MOST_BYTES: i64 = 16 << 10;

/// Fewest steps for which elements are in workgroup memory.
const LEAST_STEPS: i64 = 4;

/// Most statements for each result of the largest square, whose code has so many results.
const MOST_STATEMENTS: usize = 4;

/// The square of a workgroup. The elements that it has in workgroup memory are at most four times as many as its invocations, per array.
#[derive(Clone, Copy, Debug)]
pub(super) struct TileShape {
    /// Results of an invocation in each direction.
    pub(super) each: i64,
    /// Steps of the reduction for which elements are in workgroup memory.
    pub(super) steps: i64,
    /// Rows and columns from which on it is worth it.
    pub(super) least: i64,
    /// Fewest squares, so that the device is busy.
    pub(super) squares: i64,
}

/// The squares, the smallest first.
const TILE_SHAPES: &[TileShape] = &[
    TileShape {
        each: 2,
        steps: 32,
        least: 16,
        squares: 0,
    },
    TileShape {
        each: 4,
        steps: 16,
        least: 48,
        squares: 0,
    },
    TileShape {
        each: 8,
        steps: 8,
        least: 256,
        squares: 256,
    },
];

impl TileShape {
    /// Results of a workgroup in each direction.
    pub(super) fn block(self) -> i64 {
        SIDE * self.each
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
        self.block() * self.steps / (SIDE * SIDE)
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

/// The part of an array that a variable of a body is.
#[derive(Clone, Debug)]
struct SelectedPart {
    array: SoacOperand,
    /// The position in each dimension of the array, if there is one.
    points: Vec<Option<SoacOperand>>,
    /// The dimensions of the array that the part has, in its order.
    dimensions: Vec<usize>,
    chain: Vec<usize>,
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
            shapes: Vec::new(),
        };
        for (position, statement) in body.statements.iter().enumerate() {
            match &statement.operation {
                SoacOperation::Scalar(..) => plan.rest.push(position),
                SoacOperation::Slice(array, selectors) if !self.is_virtual(*array) => {
                    let mut part = self.find_part(&parts, *array, position);
                    if part.select(selectors).is_none() {
                        return Ok(None);
                    }
                    let id = statement.results[0];
                    if part.dimensions.is_empty() {
                        let Some(load) = self.plan_load(operation, id, &part)? else {
                            return Ok(None);
                        };
                        plan.loads.push(load);
                    }
                    parts.insert(id, part);
                }
                SoacOperation::Rearrange(array, permutation) if !self.is_virtual(*array) => {
                    let mut part = self.find_part(&parts, *array, position);
                    let dimensions = permutation.iter().map(|&from| part.dimensions[from]);
                    part.dimensions = dimensions.collect();
                    parts.insert(statement.results[0], part);
                }
                SoacOperation::Slice(..) => plan.rest.push(position),
                _ => return Ok(None),
            }
        }
        let has_side = |side| plan.loads.iter().any(|load| load.side == side);
        let sizes = plan.loads.iter().map(|load| load.element.size() as i64);
        let bytes = sizes.sum::<i64>();
        let is_shared = has_side(TileSide::Row) && has_side(TileSide::Column);
        if is_shared {
            plan.shapes = find_shapes(bytes, plan.rest.len());
        }
        Ok((!plan.shapes.is_empty()).then_some(plan))
    }

    /// The part of an array that a variable is, with the statement that makes another of it.
    fn find_part(
        &self,
        parts: &FxHashMap<SoacVariableId, SelectedPart>,
        array: SoacOperand,
        position: usize,
    ) -> SelectedPart {
        let known = match array {
            SoacOperand::Variable(id) => parts.get(&id).cloned(),
            SoacOperand::Constant(_) => None,
        };
        let mut part = known.unwrap_or_else(|| {
            let rank = self.function.type_of(array).shape().len();
            SelectedPart {
                array,
                points: vec![None; rank],
                dimensions: (0..rank).collect(),
                chain: Vec::new(),
            }
        });
        part.chain.push(position);
        part
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
            points.position(|&point| point == Some(SoacOperand::Variable(id)))
        };
        let (side, own) = match (find(row), find(column)) {
            (own, None) => (TileSide::Row, own),
            (None, own) => (TileSide::Column, own),
            _ => return Ok(None),
        };
        let is_index = |point: &Option<SoacOperand>| match point {
            None => false,
            Some(SoacOperand::Constant(_)) => true,
            Some(SoacOperand::Variable(id)) => {
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
}

/// The squares for elements whose parts in all arrays have some bytes, and a number of statements for each result.
fn find_shapes(bytes: i64, statements: usize) -> Vec<TileShape> {
    let has_little_code = statements <= MOST_STATEMENTS;
    let count = TILE_SHAPES.len() - usize::from(!has_little_code);
    let shapes = TILE_SHAPES[..count].iter().map(|&shape| {
        let mut shape = shape;
        while bytes * shape.slots() > MOST_BYTES {
            shape.steps /= 2;
        }
        shape
    });
    shapes.filter(|shape| shape.steps >= LEAST_STEPS).collect()
}

impl SelectedPart {
    /// Selects a part of the part. `None` if it is a slice.
    fn select(&mut self, selectors: &[SliceSelector]) -> Option<()> {
        for selector in selectors {
            let SliceSelector::Point(point) = selector else {
                return None;
            };
            let dimension = self.dimensions.remove(0);
            self.points[dimension] = Some(*point);
        }
        Some(())
    }
}
