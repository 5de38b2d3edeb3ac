//! Adjoints of variables while a body is swept in reverse.

use super::arithmetic::{add_values, add_zero, make_sum, zero_constant};
use super::reverse::ReverseTransform;
use crate::ir::{
    SliceSelector, SoacHistogram, SoacLambda, SoacOperand, SoacOperation, SoacType, SoacVariableId,
};
use spirula_program::{ScalarOp, ScalarType};
use std::collections::BTreeMap;

/// The adjoints that are known so far.
#[derive(Clone, Debug, Default)]
pub(super) struct AdjointMap {
    /// The adjoint of each variable that has one which may differ from zero.
    pub(super) values: BTreeMap<SoacVariableId, SoacOperand>,
    /// Variables with smaller ids are bound outside of the map whose function is swept.
    pub(super) foreign_bound: usize,
    /// Whether contributions to elements of arrays from outside are collected. They are in functions of maps.
    pub(super) collects: bool,
    /// Contributions to elements of arrays from outside.
    pub(super) sparse: Vec<SparseAdjoint>,
}

/// Contributions to elements of an array.
#[derive(Clone, Debug)]
pub(super) struct SparseAdjoint {
    /// The array.
    pub(super) array: SoacVariableId,
    /// The sizes of the contributions. Empty for one contribution.
    pub(super) prefix: Vec<SoacOperand>,
    /// The positions in the outer dimensions of the array, each of the sizes of the prefix. Negative ones do not count.
    pub(super) positions: Vec<SoacOperand>,
    /// The contributions.
    pub(super) value: SoacOperand,
}

impl ReverseTransform<'_> {
    /// Adds a contribution to the adjoint of an operand.
    pub(super) fn add_adjoint(&mut self, operand: SoacOperand, contribution: SoacOperand) {
        let SoacOperand::Variable(id) = operand else {
            return;
        };
        if !self.active.contains(id) {
            return;
        }
        let id = self.find_original(id);
        let sum = match self.adjoints.values.remove(&id) {
            Some(before) => add_values(self.builder, before, contribution),
            None => contribution,
        };
        self.adjoints.values.insert(id, sum);
    }

    /// Removes the adjoint of a variable. None if it is zero.
    pub(super) fn take_adjoint(&mut self, id: SoacVariableId) -> Option<SoacOperand> {
        self.adjoints.values.remove(&id)
    }

    /// Removes the adjoint of an operand, which is made if it is zero.
    pub(super) fn take_or_zero(&mut self, operand: SoacOperand) -> SoacOperand {
        let taken = match operand {
            SoacOperand::Variable(id) => self.take_adjoint(id),
            SoacOperand::Constant(_) => None,
        };
        taken.unwrap_or_else(|| {
            let operand_type = self.builder.type_of(operand);
            add_zero(self.builder, &operand_type)
        })
    }

    /// Adds a contribution to the adjoint of a slice.
    pub(super) fn add_slice_adjoint(
        &mut self,
        array: SoacOperand,
        selectors: &[SliceSelector],
        contribution: SoacOperand,
    ) {
        let SoacOperand::Variable(id) = array else {
            return;
        };
        if selectors.is_empty() {
            return self.add_adjoint(array, contribution);
        }
        if !self.active.contains(id) {
            return;
        }
        let id = self.find_original(id);
        let array = SoacOperand::Variable(id);
        if self.adjoints.collects && id.index() < self.adjoints.foreign_bound {
            let sparse = self.make_sparse(id, selectors, contribution);
            self.adjoints.sparse.push(sparse);
            return;
        }
        let is_new = !self.adjoints.values.contains_key(&id);
        let adjoint = self.take_or_zero(array);
        let sum = if is_new {
            contribution
        } else {
            let part_type = self.builder.type_of(contribution);
            let slice = SoacOperation::Slice(adjoint, selectors.to_vec());
            let before = self.builder.add_single("e", part_type, slice);
            add_values(self.builder, before, contribution)
        };
        let array_type = self.builder.type_of(array);
        let update = SoacOperation::Update(adjoint, selectors.to_vec(), sum);
        let updated = self.builder.add_single("adj", array_type, update);
        self.adjoints.values.insert(id, updated);
    }

    /// The contribution to a slice as contributions to elements.
    fn make_sparse(
        &mut self,
        array: SoacVariableId,
        selectors: &[SliceSelector],
        contribution: SoacOperand,
    ) -> SparseAdjoint {
        let mut prefix = Vec::new();
        for selector in selectors {
            if let SliceSelector::Stride { count, .. } = selector {
                prefix.push(*count);
            }
        }
        let mut dimension = 0;
        let mut positions = Vec::with_capacity(selectors.len());
        for selector in selectors {
            let position = match *selector {
                SliceSelector::Point(point) if prefix.is_empty() => point,
                SliceSelector::Point(point) => self.replicate(&prefix, point),
                SliceSelector::Stride {
                    start,
                    count,
                    stride,
                } => {
                    let indices_type = SoacType::Array(ScalarType::I64, vec![count]);
                    let iota = SoacOperation::Iota(count, start, stride);
                    let indices = self.builder.add_single("iota", indices_type, iota);
                    let spread = self.spread(indices, &prefix, dimension);
                    dimension += 1;
                    spread
                }
            };
            positions.push(position);
        }
        SparseAdjoint {
            array,
            prefix,
            positions,
            value: contribution,
        }
    }

    /// An array of sizes whose elements are all equal.
    pub(super) fn replicate(&mut self, sizes: &[SoacOperand], value: SoacOperand) -> SoacOperand {
        let value_type = self.builder.type_of(value);
        let mut shape = sizes.to_vec();
        shape.extend(value_type.shape());
        let result = SoacType::Array(value_type.element(), shape);
        let replicate = SoacOperation::Replicate(sizes.to_vec(), value);
        self.builder.add_single("rep", result, replicate)
    }

    /// A vector along one of several dimensions, repeated along the others.
    fn spread(
        &mut self,
        vector: SoacOperand,
        sizes: &[SoacOperand],
        dimension: usize,
    ) -> SoacOperand {
        if sizes.len() == 1 {
            return vector;
        }
        let element = self.builder.type_of(vector).element();
        let mut outer: Vec<usize> = (0..sizes.len())
            .filter(|&other| other != dimension)
            .collect();
        let repeated: Vec<_> = outer.iter().map(|&other| sizes[other]).collect();
        let replicated = self.replicate(&repeated, vector);
        // Dimension `i` of the result is one of those of the replicated array, of which the vector's is the last.
        outer.push(dimension);
        let place = |wanted: usize| outer.iter().position(|&other| other == wanted);
        let permutation = (0..sizes.len()).filter_map(place).collect();
        let result = SoacType::Array(element, sizes.to_vec());
        let rearrange = SoacOperation::Rearrange(replicated, permutation);
        self.builder.add_single("tr", result, rearrange)
    }

    /// Adds collected contributions to the adjoint of their array.
    pub(super) fn apply_sparse(&mut self, sparse: SparseAdjoint) {
        let array = SoacOperand::Variable(sparse.array);
        let SoacType::Array(element, shape) = self.builder.type_of(array) else {
            return;
        };
        let rank = sparse.positions.len();
        let (outer, rest) = shape.split_at(rank);
        let row = SoacType::from_shape(element, rest.to_vec());
        let total = self.builder.add_product(&sparse.prefix);
        let mut flat = Vec::with_capacity(rank);
        for &position in &sparse.positions {
            flat.push(self.flatten_prefix(position, &sparse.prefix, total));
        }
        let positions = self.linearise(total, &flat, outer);
        let values = self.flatten_prefix(sparse.value, &sparse.prefix, total);
        let adjoint = self.take_or_zero(array);
        let length = self.builder.add_product(outer);
        let mut flat_shape = vec![length];
        flat_shape.extend(rest);
        let flat_type = SoacType::Array(element, flat_shape.clone());
        let mut target = adjoint;
        if rank > 1 {
            let reshape = SoacOperation::Reshape(adjoint, flat_shape);
            target = self.builder.add_single("flat", flat_type.clone(), reshape);
        }
        let neutral = add_zero(self.builder, &row);
        let histogram = SoacHistogram {
            targets: vec![target],
            neutral: vec![neutral],
            function: make_sum(self.builder, &row),
            positions,
            values: vec![values],
        };
        let operation = SoacOperation::Histogram(Box::new(histogram));
        let mut sum = self.builder.add_single("adj", flat_type, operation);
        if rank > 1 {
            let array_type = SoacType::Array(element, shape.clone());
            let reshape = SoacOperation::Reshape(sum, shape.clone());
            sum = self.builder.add_single("adj", array_type, reshape);
        }
        self.adjoints.values.insert(sparse.array, sum);
    }

    /// The array with the dimensions of a prefix as one.
    fn flatten_prefix(
        &mut self,
        operand: SoacOperand,
        prefix: &[SoacOperand],
        total: SoacOperand,
    ) -> SoacOperand {
        let operand_type = self.builder.type_of(operand);
        let mut shape = vec![total];
        shape.extend(operand_type.shape().iter().skip(prefix.len()));
        let result = SoacType::Array(operand_type.element(), shape.clone());
        let operation = match prefix.len() {
            1 => return operand,
            0 => SoacOperation::Literal(vec![operand]),
            _ => SoacOperation::Reshape(operand, shape),
        };
        self.builder.add_single("flat", result, operation)
    }

    /// Positions in several dimensions as positions in one.
    fn linearise(
        &mut self,
        total: SoacOperand,
        positions: &[SoacOperand],
        sizes: &[SoacOperand],
    ) -> SoacOperand {
        if let [position] = positions {
            return *position;
        }
        let int64 = SoacType::Scalar(ScalarType::I64);
        let parameters: Vec<_> = positions
            .iter()
            .map(|_| self.builder.add_variable("p", int64.clone()))
            .collect();
        self.builder.begin_body();
        let mut linear = zero_constant(ScalarType::I64);
        for (&parameter, &size) in parameters.iter().zip(sizes) {
            let scaled = self.builder.add_int64(ScalarOp::Mul, linear, size);
            let position = SoacOperand::Variable(parameter);
            linear = self.builder.add_int64(ScalarOp::Add, scaled, position);
        }
        let body = self.builder.end_body(vec![linear]);
        let result = SoacType::Array(ScalarType::I64, vec![total]);
        let function = SoacLambda { parameters, body };
        let map = SoacOperation::Map(total, positions.to_vec(), function);
        self.builder.add_single("pos", result, map)
    }

    /// Adds the contributions that were collected since a position and whose sizes are not known outside to local adjoints.
    pub(super) fn apply_inner_sparse(&mut self, first: usize, bound: usize) {
        let collected = self.adjoints.sparse.split_off(first);
        for sparse in collected {
            let value_type = self.builder.type_of(sparse.value);
            let sizes = value_type.shape().iter().chain(&sparse.prefix);
            if sizes.copied().all(|size| is_below(size, bound)) {
                self.adjoints.sparse.push(sparse);
            } else {
                self.apply_sparse(sparse);
            }
        }
    }
}

/// Whether an operand is a constant or a variable with an id below a bound.
pub(super) fn is_below(operand: SoacOperand, bound: usize) -> bool {
    match operand {
        SoacOperand::Constant(_) => true,
        SoacOperand::Variable(id) => id.index() < bound,
    }
}
