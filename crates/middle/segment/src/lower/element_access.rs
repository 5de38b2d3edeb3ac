//! Element accesses: the element of which array, at which position, each load of a body of scalar statements takes.

use super::{FunctionLowering, LoweredValue};
use crate::ir::ParallelOperation;
use rustc_hash::FxHashMap;
use spirula_soac::ir::{SliceSelector, SoacBody, SoacOperand, SoacOperation, SoacVariableId};

/// A load of an element.
#[derive(Clone, Debug)]
pub(super) struct ElementAccess {
    /// The variable that is the element.
    pub(super) id: SoacVariableId,
    /// The array.
    pub(super) array: SoacOperand,
    /// The position in each dimension of the array.
    pub(super) points: Vec<SoacOperand>,
    /// The statements that select the element.
    pub(super) chain: Vec<usize>,
}

/// The loads of a body, and its other statements.
pub(super) struct ElementAccesses {
    pub(super) loads: Vec<ElementAccess>,
    /// The statements that select no part of an array in memory.
    pub(super) rest: Vec<usize>,
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

impl FunctionLowering<'_> {
    /// Finds the element accesses of a body. `None` if a statement is neither scalar nor a selection by positions.
    pub(super) fn find_element_accesses(&self, body: &SoacBody) -> Option<ElementAccesses> {
        let mut parts: FxHashMap<SoacVariableId, SelectedPart> = FxHashMap::default();
        let mut accesses = ElementAccesses {
            loads: Vec::new(),
            rest: Vec::new(),
        };
        for (position, statement) in body.statements.iter().enumerate() {
            let id = *statement.results.first()?;
            let part = match &statement.operation {
                SoacOperation::Slice(array, selectors) if !self.is_virtual(*array) => {
                    let mut part = self.find_part(&parts, *array, position);
                    part.select(selectors)?;
                    part
                }
                SoacOperation::Rearrange(array, permutation) if !self.is_virtual(*array) => {
                    let mut part = self.find_part(&parts, *array, position);
                    let dimensions = permutation.iter().map(|&from| part.dimensions[from]);
                    part.dimensions = dimensions.collect();
                    part
                }
                SoacOperation::Scalar(..) | SoacOperation::Slice(..) => {
                    accesses.rest.push(position);
                    continue;
                }
                _ => return None,
            };
            if part.dimensions.is_empty() {
                accesses.loads.push(ElementAccess {
                    id,
                    array: part.array,
                    points: part.points.iter().copied().collect::<Option<_>>()?,
                    chain: part.chain.clone(),
                });
            }
            parts.insert(id, part);
        }
        Some(accesses)
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

    /// Whether each position of an access is a constant, a value of the host, or a position of the space.
    pub(super) fn has_plain_points(
        &self,
        operation: &ParallelOperation,
        access: &ElementAccess,
    ) -> bool {
        access.points.iter().all(|point| match point {
            SoacOperand::Constant(_) => true,
            SoacOperand::Variable(id) => {
                operation.indices().contains(id) || self.values[id.index()].is_some()
            }
        })
    }

    fn is_virtual(&self, array: SoacOperand) -> bool {
        matches!(self.value(array), Ok(LoweredValue::Virtual(_)))
    }
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
