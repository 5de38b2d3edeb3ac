//! Second-order array combinators.

use super::control::is_outer;
use super::value::{StaticArray, StaticFunction, StaticValue};
use super::{InternaliseResult, SourceInternaliser};
use spirula_program::{ScalarOp, ScalarOperator, ScalarType as MachineType};
use spirula_soac::ir::{
    ReductionOrder, SoacBody, SoacHistogram, SoacLambda, SoacOperand, SoacOperation, SoacType,
    SoacVariableId,
};
use std::rc::Rc;

impl SourceInternaliser<'_> {
    /// Parameters for a value of a structure.
    pub(super) fn add_parameters(
        &mut self,
        structure: &StaticValue,
    ) -> (StaticValue, Vec<SoacVariableId>) {
        let types = structure.leaf_types();
        let ids: Vec<_> = types
            .into_iter()
            .map(|leaf| self.builder.add_variable("p", leaf))
            .collect();
        let operands: Vec<_> = ids.iter().map(|&id| SoacOperand::Variable(id)).collect();
        (structure.with_leaves(&operands), ids)
    }

    /// The function of a combinator: its parameters are values of structures, its result is a value.
    pub(super) fn make_lambda(
        &mut self,
        function: &Rc<StaticFunction>,
        structures: &[&StaticValue],
    ) -> InternaliseResult<(SoacLambda, StaticValue)> {
        let mut parameters = Vec::new();
        let mut arguments = Vec::new();
        for structure in structures {
            let (argument, ids) = self.add_parameters(structure);
            parameters.extend(ids);
            arguments.push(argument);
        }
        self.builder.begin_body();
        let value = self.call_function(function, arguments)?;
        let body = self.builder.end_body(value.leaves());
        Ok((SoacLambda { parameters, body }, value))
    }

    /// A function of each element of an array. `wanted` has the sizes of the results, as far as they are known.
    pub(super) fn map_elements(
        &mut self,
        function: &Rc<StaticFunction>,
        array: &StaticArray,
        wanted: &[Option<SoacOperand>],
    ) -> InternaliseResult<StaticValue> {
        let first_inner = self.builder.count_variables();
        let (lambda, value) = self.make_lambda(function, &[&array.element])?;
        if value.has_function() {
            return Err(self.fail("the elements of an array contain functions"));
        }
        let mut lengths = value.lengths();
        if wanted.len() == lengths.len() {
            for (length, wanted) in lengths.iter_mut().zip(wanted) {
                if let Some(wanted) = *wanted
                    && !is_outer(*length, first_inner)
                {
                    *length = wanted;
                }
            }
        }
        if lengths.iter().any(|&length| !is_outer(length, first_inner)) {
            lengths = self.hoist_lengths(&lambda, &lengths, array);
        }
        let structure = StaticValue::from_element(array.length, value.with_lengths(&lengths));
        let operation = SoacOperation::Map(array.length, array.element.leaves(), lambda);
        let results = self
            .builder
            .add_operation("m", structure.leaf_types(), operation);
        Ok(structure.with_leaves(&results))
    }

    /// The sizes of the results of a function, which are the same for all elements: those for the first element. Without
    /// elements they are zero. Only the statements that compute sizes are repeated.
    fn hoist_lengths(
        &mut self,
        function: &SoacLambda,
        lengths: &[SoacOperand],
        array: &StaticArray,
    ) -> Vec<SoacOperand> {
        let zero = SoacOperand::from_int64(0);
        let has_elements = self.builder.add_int64(ScalarOp::SLt, zero, array.length);
        self.builder.begin_body();
        let element = self.element_at(array, zero);
        let results = self
            .builder
            .copy_slice(function, &element.leaves(), lengths);
        let accept = self.builder.end_body(results);
        let reject = SoacBody {
            statements: Vec::new(),
            results: vec![zero; lengths.len()],
        };
        let types = vec![SoacType::Scalar(MachineType::I64); lengths.len()];
        self.builder
            .add_operation("n", types, SoacOperation::If(has_elements, accept, reject))
    }

    /// The reduction of an array.
    pub(super) fn reduce_elements(
        &mut self,
        function: &Rc<StaticFunction>,
        neutral: &StaticValue,
        array: &StaticArray,
        order: ReductionOrder,
    ) -> InternaliseResult<StaticValue> {
        let (lambda, _) = self.make_lambda(
            function,
            &[neutral, &array.element.with_lengths(&neutral.lengths())],
        )?;
        let arrays = array.element.leaves();
        let operation =
            SoacOperation::Reduce(array.length, arrays, neutral.leaves(), lambda, order);
        let results = self
            .builder
            .add_operation("r", neutral.leaf_types(), operation);
        Ok(neutral.with_leaves(&results))
    }

    /// The scan of an array.
    pub(super) fn scan_elements(
        &mut self,
        function: &Rc<StaticFunction>,
        neutral: &StaticValue,
        array: &StaticArray,
    ) -> InternaliseResult<StaticValue> {
        let element = array.element.clone();
        let (lambda, _) = self.make_lambda(function, &[&element, &element])?;
        let operation =
            SoacOperation::Scan(array.length, element.leaves(), neutral.leaves(), lambda);
        let structure = StaticValue::from_element(array.length, element);
        let results = self
            .builder
            .add_operation("sc", structure.leaf_types(), operation);
        Ok(structure.with_leaves(&results))
    }

    /// An array of integers made by a function of operands, one of each of some arrays of integers.
    pub(super) fn map_scalars(
        &mut self,
        width: SoacOperand,
        arrays: &[(SoacOperand, MachineType)],
        function: impl FnOnce(&mut Self, &[SoacOperand]) -> SoacOperand,
    ) -> SoacOperand {
        let parameters: Vec<_> = arrays
            .iter()
            .map(|(_, machine)| self.builder.add_variable("p", SoacType::Scalar(*machine)))
            .collect();
        let operands: Vec<_> = parameters
            .iter()
            .map(|&id| SoacOperand::Variable(id))
            .collect();
        self.builder.begin_body();
        let result = function(self, &operands);
        let body = self.builder.end_body(vec![result]);
        let lambda = SoacLambda { parameters, body };
        let inputs = arrays.iter().map(|(array, _)| *array).collect();
        let result = SoacType::Array(MachineType::I64, vec![width]);
        self.builder
            .add_single("m", result, SoacOperation::Map(width, inputs, lambda))
    }

    /// For flags: how many are set up to each position, and in all.
    fn count_flags(
        &mut self,
        width: SoacOperand,
        flags: SoacOperand,
    ) -> (SoacOperand, SoacOperand) {
        let counts = self.map_scalars(
            width,
            &[(flags, MachineType::Bool)],
            |internaliser, operands| {
                let widen = ScalarOperator::from_conversion(
                    ScalarOp::FromBool,
                    MachineType::Bool,
                    MachineType::I64,
                );
                internaliser.builder.add_scalar(widen, operands)
            },
        );
        self.sum_prefixes(width, counts)
    }

    /// The sums of the integers up to each position, and the sum of all.
    pub(super) fn sum_prefixes(
        &mut self,
        width: SoacOperand,
        counts: SoacOperand,
    ) -> (SoacOperand, SoacOperand) {
        let zero = SoacOperand::from_int64(0);
        let int64 = SoacType::Scalar(MachineType::I64);
        let parameters = vec![
            self.builder.add_variable("a", int64.clone()),
            self.builder.add_variable("b", int64.clone()),
        ];
        self.builder.begin_body();
        let sum = self.builder.add_int64(
            ScalarOp::Add,
            SoacOperand::Variable(parameters[0]),
            SoacOperand::Variable(parameters[1]),
        );
        let body = self.builder.end_body(vec![sum]);
        let lambda = SoacLambda { parameters, body };
        let result = SoacType::Array(MachineType::I64, vec![width]);
        let scan = SoacOperation::Scan(width, vec![counts], vec![zero], lambda);
        let offsets = self.builder.add_single("off", result, scan);
        let has_elements = self.builder.add_int64(ScalarOp::SLt, zero, width);
        self.builder.begin_body();
        let last = self
            .builder
            .add_int64(ScalarOp::Sub, width, SoacOperand::from_int64(1));
        let selector = vec![spirula_soac::ir::SliceSelector::Point(last)];
        let total =
            self.builder
                .add_single("k", int64.clone(), SoacOperation::Slice(offsets, selector));
        let accept = self.builder.end_body(vec![total]);
        let reject = SoacBody {
            statements: Vec::new(),
            results: vec![zero],
        };
        let total =
            self.builder
                .add_single("k", int64, SoacOperation::If(has_elements, accept, reject));
        (offsets, total)
    }

    /// The flags of a predicate.
    fn flag_elements(
        &mut self,
        predicate: &Rc<StaticFunction>,
        array: &StaticArray,
    ) -> InternaliseResult<SoacOperand> {
        let flags = self.map_elements(predicate, array, &[])?;
        flags
            .leaves()
            .first()
            .copied()
            .ok_or_else(|| self.fail("a predicate is no truth value"))
    }

    /// The elements of an array at new positions in an array of some length. Positions outside are left out.
    fn permute(
        &mut self,
        array: &StaticArray,
        length: SoacOperand,
        positions: SoacOperand,
    ) -> StaticValue {
        let structure = StaticValue::from_element(length, array.element.clone());
        let leaves = array.element.leaves();
        let mut results = Vec::new();
        for (leaf, result) in leaves.into_iter().zip(structure.leaf_types()) {
            let zero = self.constant(result.element(), 0);
            let target = self.replicate_operand(result.shape(), zero);
            results.push(self.builder.add_single(
                "sel",
                result,
                SoacOperation::Scatter(target, positions, leaf),
            ));
        }
        structure.with_leaves(&results)
    }

    /// The elements for which a predicate holds.
    pub(super) fn filter_elements(
        &mut self,
        predicate: &Rc<StaticFunction>,
        array: &StaticArray,
    ) -> InternaliseResult<StaticValue> {
        let flags = self.flag_elements(predicate, array)?;
        let (offsets, total) = self.count_flags(array.length, flags);
        let inputs = [(flags, MachineType::Bool), (offsets, MachineType::I64)];
        let positions = self.map_scalars(array.length, &inputs, |internaliser, operands| {
            let before = internaliser.builder.add_int64(
                ScalarOp::Sub,
                operands[1],
                SoacOperand::from_int64(1),
            );
            internaliser.choose_position(operands[0], before, SoacOperand::from_int64(-1))
        });
        Ok(self.permute(array, total, positions))
    }

    /// One of two positions.
    pub(super) fn choose_position(
        &mut self,
        condition: SoacOperand,
        accept: SoacOperand,
        reject: SoacOperand,
    ) -> SoacOperand {
        let select = ScalarOperator::with_type(ScalarOp::Cond, MachineType::I64);
        self.builder
            .add_scalar(select, &[condition, accept, reject])
    }

    /// The elements for which a predicate holds, and the others.
    pub(super) fn partition_elements(
        &mut self,
        predicate: &Rc<StaticFunction>,
        array: &StaticArray,
    ) -> InternaliseResult<StaticValue> {
        let flags = self.flag_elements(predicate, array)?;
        let (offsets, total) = self.count_flags(array.length, flags);
        let (zero, one) = (SoacOperand::from_int64(0), SoacOperand::from_int64(1));
        let result = SoacType::Array(MachineType::I64, vec![array.length]);
        let indices =
            self.builder
                .add_single("iota", result, SoacOperation::Iota(array.length, zero, one));
        let inputs = [
            (flags, MachineType::Bool),
            (offsets, MachineType::I64),
            (indices, MachineType::I64),
        ];
        let positions = self.map_scalars(array.length, &inputs, |internaliser, operands| {
            let accepted = internaliser
                .builder
                .add_int64(ScalarOp::Sub, operands[1], one);
            let rejected = internaliser
                .builder
                .add_int64(ScalarOp::Sub, operands[2], operands[1]);
            let rejected = internaliser
                .builder
                .add_int64(ScalarOp::Add, total, rejected);
            internaliser.choose_position(operands[0], accepted, rejected)
        });
        let permuted = self.permute(array, array.length, positions);
        let others = self.builder.add_int64(ScalarOp::Sub, array.length, total);
        let accepted = self.slice_rows(&permuted, zero, total)?;
        let rejected = self.slice_rows(&permuted, total, others)?;
        Ok(self.make_pair(accepted, rejected))
    }

    /// Some rows of an array, which are known to exist.
    fn slice_rows(
        &mut self,
        value: &StaticValue,
        start: SoacOperand,
        count: SoacOperand,
    ) -> InternaliseResult<StaticValue> {
        let array = self.require_array(value.clone())?;
        let structure = StaticValue::from_element(count, array.element);
        let mut types = structure.leaf_types().into_iter();
        let stride = SoacOperand::from_int64(1);
        Ok(structure.map_leaves(&mut |leaf| {
            let result = types.next().unwrap_or(SoacType::Certificate);
            let selector = vec![spirula_soac::ir::SliceSelector::Stride {
                start,
                count,
                stride,
            }];
            self.builder
                .add_single("e", result, SoacOperation::Slice(leaf, selector))
        }))
    }

    /// The array with its outer dimensions as one, and the positions as indices of it: -1 where they are outside.
    fn flatten_outer(
        &mut self,
        target: StaticValue,
        positions: &StaticArray,
        rank: usize,
    ) -> InternaliseResult<(StaticArray, SoacOperand, Vec<SoacOperand>)> {
        let mut sizes = Vec::with_capacity(rank);
        let mut element = target;
        for _ in 0..rank {
            let array = self.require_array(element)?;
            sizes.push(array.length);
            element = array.element;
        }
        let leaves = positions.element.leaves();
        if rank == 1 {
            let length = sizes[0];
            return Ok((StaticArray { length, element }, leaves[0], sizes));
        }
        let length = self.builder.add_product(&sizes);
        let inputs: Vec<_> = leaves
            .iter()
            .map(|&leaf| (leaf, MachineType::I64))
            .collect();
        let flat = self.map_scalars(positions.length, &inputs, |internaliser, operands| {
            let mut index = SoacOperand::from_int64(0);
            let mut inside = internaliser.truth(true);
            let less = ScalarOperator::with_type(ScalarOp::ULt, MachineType::I64);
            for (&operand, &size) in operands.iter().zip(&sizes) {
                let is_inside = internaliser.builder.add_scalar(less, &[operand, size]);
                inside = internaliser.add_and(inside, is_inside);
                index = internaliser.builder.add_int64(ScalarOp::Mul, index, size);
                index = internaliser
                    .builder
                    .add_int64(ScalarOp::Add, index, operand);
            }
            internaliser.choose_position(inside, index, SoacOperand::from_int64(-1))
        });
        let flattened = StaticValue::from_element(length, element);
        let flattened = self.reshape(&flattened);
        let array = self.require_array(flattened)?;
        Ok((array, flat, sizes))
    }

    /// The data of an array with the sizes of the structure that it is in.
    pub(super) fn reshape(&mut self, structure: &StaticValue) -> StaticValue {
        let mut types = structure.leaf_types().into_iter();
        structure.map_leaves(&mut |leaf| {
            let result = types.next().unwrap_or(SoacType::Certificate);
            let sizes = result.shape().to_vec();
            self.builder
                .add_single("re", result, SoacOperation::Reshape(leaf, sizes))
        })
    }

    /// The array with its outer dimension as several.
    fn unflatten_outer(&mut self, array: StaticArray, sizes: &[SoacOperand]) -> StaticValue {
        let nested = sizes.iter().rev().fold(array.element, |element, &size| {
            StaticValue::from_element(size, element)
        });
        if sizes.len() == 1 {
            nested
        } else {
            self.reshape(&nested)
        }
    }

    /// The array with elements at positions replaced.
    pub(super) fn scatter_elements(
        &mut self,
        target: StaticValue,
        positions: &StaticArray,
        values: &StaticArray,
        rank: usize,
    ) -> InternaliseResult<StaticValue> {
        let (array, flat, sizes) = self.flatten_outer(target, positions, rank)?;
        let structure = StaticValue::from_element(array.length, array.element.clone());
        let mut types = structure.leaf_types().into_iter();
        let mut leaves = values.element.leaves().into_iter();
        let element = array.element.map_leaves(&mut |leaf| {
            let (Some(result), Some(value)) = (types.next(), leaves.next()) else {
                return leaf;
            };
            self.builder
                .add_single("sct", result, SoacOperation::Scatter(leaf, flat, value))
        });
        let length = array.length;
        Ok(self.unflatten_outer(StaticArray { length, element }, &sizes))
    }

    /// The array with values combined with its elements at positions.
    pub(super) fn histogram_elements(
        &mut self,
        target: StaticValue,
        function: &Rc<StaticFunction>,
        neutral: &StaticValue,
        positions: &StaticArray,
        values: &StaticArray,
        rank: usize,
    ) -> InternaliseResult<StaticValue> {
        let (array, flat, sizes) = self.flatten_outer(target, positions, rank)?;
        let (lambda, _) = self.make_lambda(function, &[&array.element, &array.element])?;
        let histogram = SoacHistogram {
            targets: array.element.leaves(),
            neutral: neutral.leaves(),
            function: lambda,
            positions: flat,
            values: values.element.leaves(),
        };
        let structure = StaticValue::from_element(array.length, array.element.clone());
        let operation = SoacOperation::Histogram(Box::new(histogram));
        let results = self
            .builder
            .add_operation("h", structure.leaf_types(), operation);
        let length = array.length;
        let element = array.element.with_leaves(&results);
        Ok(self.unflatten_outer(StaticArray { length, element }, &sizes))
    }
}
