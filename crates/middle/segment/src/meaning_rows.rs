//! Rows of arrays that the points of a space select, as arguments of the maps that a space means.
//!
//! A point may change a row of its own in place, where the array is not used otherwise. A map over the array says so: the function
//! consumes its parameter.

use crate::ir::{ParallelOperation, SpaceDimension};
use crate::nest::add_variable;
use crate::scope::collect_bound;
use spirula_entity::EntitySet;
use spirula_soac::ir::{
    SliceSelector, SoacFunction, SoacOperand, SoacOperation, SoacType, SoacVariableId,
};

/// An operation whose body selects no rows at the positions of a dimension.
pub(crate) struct RowArguments {
    /// The operation.
    pub(crate) operation: ParallelOperation,
    /// The arrays, which the map over the dimension takes.
    pub(crate) arrays: Vec<SoacOperand>,
    /// The parameters of its function: a row of each array.
    pub(crate) rows: Vec<SoacVariableId>,
}

impl RowArguments {
    /// Replaces the rows that the body of an operation selects at the positions of a dimension.
    pub(crate) fn extract(
        signature: &mut SoacFunction,
        operation: &ParallelOperation,
        dimension: SpaceDimension,
    ) -> Self {
        let mut bound = EntitySet::default();
        collect_bound(&operation.body, &mut bound);
        let mut arguments = RowArguments {
            operation: operation.clone(),
            arrays: Vec::new(),
            rows: Vec::new(),
        };
        let position = SliceSelector::Point(SoacOperand::Variable(dimension.index));
        for index in 0..operation.body.statements.len() {
            let statement = &operation.body.statements[index];
            let SoacOperation::Slice(array, selectors) = &statement.operation else {
                continue;
            };
            let array_type = signature.type_of(*array);
            let is_outer = matches!(array, SoacOperand::Variable(id) if !bound.contains(*id));
            let has_size = array_type.shape().first() == Some(&dimension.size);
            let is_row = statement
                .results
                .iter()
                .all(|&id| matches!(signature.variables[id].variable_type, SoacType::Array(..)));
            if is_outer && has_size && is_row && selectors.first() == Some(&position) {
                let row = arguments.add_row(signature, *array);
                let rest = selectors[1..].to_vec();
                arguments.operation.body.statements[index].operation =
                    SoacOperation::Slice(SoacOperand::Variable(row), rest);
            }
        }
        arguments
    }

    /// The parameter for a row of an array.
    fn add_row(&mut self, signature: &mut SoacFunction, array: SoacOperand) -> SoacVariableId {
        if let Some(known) = self.arrays.iter().position(|&known| known == array) {
            return self.rows[known];
        }
        let array_type = signature.type_of(array);
        let shape = array_type.shape().iter().skip(1).copied().collect();
        let row_type = SoacType::from_shape(array_type.element(), shape);
        let row = add_variable(signature, "row", row_type);
        self.arrays.push(array);
        self.rows.push(row);
        row
    }
}
