//! Reverse mode of maps.
//!
//! The map of the reverse sweep runs the function again for each element. Its results are the adjoints of the elements, and
//! the contributions to variables from outside: those to scalars and whole arrays are summed, those to elements of arrays
//! are combined by a histogram after all maps around.

use super::adjoint::{AdjointMap, SparseAdjoint};
use super::reverse::ReverseTransform;
use crate::ir::{SoacLambda, SoacOperand, SoacOperation, SoacType, SoacVariableId};
use spirula_program::ScalarType;

/// The values that the function of a map leaves for the sweep in reverse.
struct MapOutcome {
    /// The input arrays with the adjoints of their elements.
    elements: Vec<(SoacOperand, SoacOperand)>,
    /// Contributions to variables from outside.
    outside: Vec<(SoacVariableId, SoacOperand)>,
    /// Contributions to elements of arrays from outside.
    sparse: Vec<SparseAdjoint>,
}

impl ReverseTransform<'_> {
    /// Sweeps a map in reverse. The adjoints of the results are arrays, or are the same for all elements if they are
    /// `uniform`.
    pub(super) fn reverse_map(
        &mut self,
        width: SoacOperand,
        arrays: &[SoacOperand],
        function: &SoacLambda,
        adjoints: &[Option<SoacOperand>],
        uniform: bool,
    ) {
        let bound = self.builder.count_variables();
        let inner = AdjointMap {
            foreign_bound: bound,
            collects: true,
            ..AdjointMap::default()
        };
        let outer = std::mem::replace(&mut self.adjoints, inner);
        let mut inputs: Vec<_> = arrays.iter().map(|&array| self.read(array)).collect();
        let mut copier = self.make_copier();
        self.copy_consumed_inputs(function, &mut inputs);
        let mut parameters = copier.copy_variables(self.builder, &function.parameters);
        let mut row_adjoints = Vec::with_capacity(adjoints.len());
        for adjoint in adjoints {
            row_adjoints.push(match *adjoint {
                Some(adjoint) if !uniform => {
                    let row = self.row_type(adjoint);
                    let parameter = self.builder.add_variable("d", row);
                    parameters.push(parameter);
                    inputs.push(adjoint);
                    Some(SoacOperand::Variable(parameter))
                }
                other => other,
            });
        }
        self.builder.begin_body();
        if uniform {
            for adjoint in row_adjoints.iter_mut().flatten() {
                *adjoint = self.copy_seed(*adjoint);
            }
        }
        self.copy_consumed(&mut copier, &function.parameters, &function.body);
        self.reverse_body(copier, &function.body, &row_adjoints);
        self.apply_inner_sparse(0, bound);
        let outcome = self.collect_outcome(arrays, &parameters, bound);
        let mut results: Vec<_> = outcome.elements.iter().map(|(_, value)| *value).collect();
        results.extend(outcome.outside.iter().map(|(_, value)| *value));
        for part in &outcome.sparse {
            results.extend(&part.positions);
            results.push(part.value);
        }
        let body = self.builder.end_body(results);
        self.adjoints = outer;
        let lambda = SoacLambda { parameters, body };
        self.bind_outcome(width, inputs, lambda, outcome);
    }

    /// The type of the elements of an array.
    pub(super) fn row_type(&self, array: SoacOperand) -> SoacType {
        let array_type = self.builder.type_of(array);
        let shape = array_type.shape().iter().skip(1).copied().collect();
        SoacType::from_shape(array_type.element(), shape)
    }

    /// Copies the input arrays whose elements the function of a map consumes, since it is run again.
    fn copy_consumed_inputs(&mut self, function: &SoacLambda, inputs: &mut [SoacOperand]) {
        let consumed = super::alias::AliasTable::default().visit_body(&function.body);
        for (parameter, input) in function.parameters.iter().zip(inputs) {
            if consumed.contains(parameter) {
                let array_type = self.builder.type_of(*input);
                let manifest = SoacOperation::Manifest(*input);
                *input = self.builder.add_single("again", array_type, manifest);
            }
        }
    }

    fn collect_outcome(
        &mut self,
        arrays: &[SoacOperand],
        parameters: &[SoacVariableId],
        bound: usize,
    ) -> MapOutcome {
        let mut elements = Vec::new();
        for (&array, &parameter) in arrays.iter().zip(parameters) {
            if let Some(adjoint) = self.take_adjoint(parameter) {
                elements.push((array, adjoint));
            }
        }
        let values = std::mem::take(&mut self.adjoints.values);
        let outside = values.into_iter().filter(|(id, _)| id.index() < bound);
        MapOutcome {
            elements,
            outside: outside.collect(),
            sparse: std::mem::take(&mut self.adjoints.sparse),
        }
    }

    /// Adds the map of the reverse sweep, and what its results contribute.
    fn bind_outcome(
        &mut self,
        width: SoacOperand,
        inputs: Vec<SoacOperand>,
        lambda: SoacLambda,
        outcome: MapOutcome,
    ) {
        let array_of = |row: &SoacType| {
            let mut shape = vec![width];
            shape.extend(row.shape());
            SoacType::Array(row.element(), shape)
        };
        let mut types = Vec::with_capacity(lambda.body.results.len());
        for (array, _) in &outcome.elements {
            types.push(array_of(&self.row_type(*array)));
        }
        for (id, _) in &outcome.outside {
            let value_type = self.builder.type_of(SoacOperand::Variable(*id));
            types.push(array_of(&value_type));
        }
        for part in &outcome.sparse {
            let position = SoacType::from_shape(ScalarType::I64, part.prefix.clone());
            types.extend(part.positions.iter().map(|_| array_of(&position)));
            types.push(array_of(&self.builder.type_of(part.value)));
        }
        if types.is_empty() {
            return;
        }
        let map = SoacOperation::Map(width, inputs, lambda);
        let mut results = self.builder.add_operation("adj", types, map).into_iter();
        for ((array, _), result) in outcome.elements.into_iter().zip(&mut results) {
            self.add_adjoint(array, result);
        }
        for ((id, _), result) in outcome.outside.into_iter().zip(&mut results) {
            let variable = SoacOperand::Variable(id);
            let value_type = self.builder.type_of(variable);
            let sum = self.sum_outer(result, &[width], &value_type);
            self.add_adjoint(variable, sum);
        }
        for part in outcome.sparse {
            let positions = results.by_ref().take(part.positions.len()).collect();
            let mut prefix = vec![width];
            prefix.extend(&part.prefix);
            let Some(value) = results.next() else {
                return;
            };
            self.push_sparse(SparseAdjoint {
                array: part.array,
                prefix,
                positions,
                value,
            });
        }
    }

    /// Collects contributions, or adds them where their array has its adjoint.
    pub(super) fn push_sparse(&mut self, sparse: SparseAdjoint) {
        if self.adjoints.collects && sparse.array.index() < self.adjoints.foreign_bound {
            self.adjoints.sparse.push(sparse);
        } else {
            self.apply_sparse(sparse);
        }
    }
}
