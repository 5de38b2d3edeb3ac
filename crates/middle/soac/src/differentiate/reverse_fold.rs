//! Reverse mode of reductions, scans, histograms and scatters.

use super::arithmetic::{add_zero, is_sum};
use super::copy::BodyCopier;
use super::reverse::ReverseTransform;
use super::reverse_bin::{ReversedBins, find_operator};
use super::reverse_scan::ReversedScan;
use crate::ir::{
    SliceSelector, SoacBody, SoacHistogram, SoacLambda, SoacLoopForm, SoacOperand, SoacOperation,
    SoacStatement, SoacType,
};
use spirula_program::{ScalarOp, ScalarOperator, ScalarType};

impl ReverseTransform<'_> {
    /// The array in reverse order.
    pub(super) fn reverse_rows(&mut self, width: SoacOperand, array: SoacOperand) -> SoacOperand {
        let one = SoacOperand::from_int64(1);
        let last = self.builder.add_int64(ScalarOp::Sub, width, one);
        let selector = SliceSelector::Stride {
            start: last,
            count: width,
            stride: SoacOperand::from_int64(-1),
        };
        let array_type = self.builder.type_of(array);
        self.slice(array, vec![selector], array_type)
    }

    /// The results of a copy of a function for operands.
    pub(super) fn apply_copy(
        &mut self,
        function: &SoacLambda,
        operands: &[SoacOperand],
    ) -> Vec<SoacOperand> {
        let mut copier = self.make_copier();
        for (&parameter, &operand) in function.parameters.iter().zip(operands) {
            copier.replace(parameter, operand);
        }
        let body = copier.copy_body(self.builder, &function.body);
        for statement in body.statements {
            self.builder.push_statement(statement);
        }
        body.results
    }

    /// Sweeps a reduction in reverse. The result is the combination of those in front of an element, the element, and those
    /// after it, for each element.
    pub(super) fn reverse_reduce(
        &mut self,
        width: SoacOperand,
        arrays: &[SoacOperand],
        neutral: &[SoacOperand],
        function: &SoacLambda,
        adjoints: &[Option<SoacOperand>],
    ) {
        if is_sum(function)
            && let Some(adjoint) = adjoints[0]
        {
            let repeated = self.replicate(&[width], adjoint);
            return self.add_adjoint(arrays[0], repeated);
        }
        let arrays: Vec<_> = arrays.iter().map(|&array| self.read(array)).collect();
        let before = self.scan_copy(width, &arrays, neutral, function);
        let backwards = arrays.iter().map(|&array| self.reverse_rows(width, array));
        let backwards: Vec<_> = backwards.collect();
        let count = neutral.len();
        let (left, right) = function.parameters.split_at(count);
        let swapped = SoacLambda {
            parameters: right.iter().chain(left).copied().collect(),
            body: function.body.clone(),
        };
        let after = self.scan_copy(width, &backwards, neutral, &swapped);
        let lambda = self.combine_around(width, &arrays, neutral, function, &[before, after]);
        let mut inputs = vec![self.indices(width)];
        inputs.extend(&arrays);
        self.reverse_map(width, &inputs, &lambda, adjoints, true);
    }

    /// The function, with copies of variables from outside that have no adjoints: each use of them counts once.
    fn freeze_outside(&mut self, function: &SoacLambda) -> SoacLambda {
        let mut copier = BodyCopier::default();
        for id in self.find_outside(&[], &function.body) {
            if function.parameters.contains(&id) {
                continue;
            }
            let operand = SoacOperand::Variable(id);
            let source = self.read(operand);
            let operand_type = self.builder.type_of(operand);
            let frozen = self.slice(source, Vec::new(), operand_type);
            if let SoacOperand::Variable(copy) = frozen {
                self.active.freeze(copy);
            }
            copier.replace(id, frozen);
        }
        copier.copy_lambda(self.builder, function)
    }

    pub(super) fn indices(&mut self, width: SoacOperand) -> SoacOperand {
        let (zero, one) = (SoacOperand::from_int64(0), SoacOperand::from_int64(1));
        let indices_type = SoacType::Array(ScalarType::I64, vec![width]);
        self.builder
            .add_single("iota", indices_type, SoacOperation::Iota(width, zero, one))
    }

    /// The scan of arrays by a copy of a function.
    fn scan_copy(
        &mut self,
        width: SoacOperand,
        arrays: &[SoacOperand],
        neutral: &[SoacOperand],
        function: &SoacLambda,
    ) -> Vec<SoacOperand> {
        let lambda = self.make_copier().copy_lambda(self.builder, function);
        let types = arrays.iter().map(|&array| self.builder.type_of(array));
        let types: Vec<_> = types.collect();
        let scan = SoacOperation::Scan(width, arrays.to_vec(), neutral.to_vec(), lambda);
        self.builder.add_operation("sc", types, scan)
    }

    /// A function of an index and elements that combines the elements with those in front of the index and those after it.
    /// Only the elements are active.
    fn combine_around(
        &mut self,
        width: SoacOperand,
        arrays: &[SoacOperand],
        neutral: &[SoacOperand],
        function: &SoacLambda,
        scans: &[Vec<SoacOperand>; 2],
    ) -> SoacLambda {
        let int64 = SoacType::Scalar(ScalarType::I64);
        let index = self.builder.add_variable("i", int64);
        let mut parameters = vec![index];
        for &array in arrays {
            let row = self.row_type(array);
            let parameter = self.builder.add_variable("a", row);
            if self.active.has_operand(array) {
                self.active.insert(self.builder, parameter);
            }
            parameters.push(parameter);
        }
        let elements = parameters[1..].iter().map(|&id| SoacOperand::Variable(id));
        let elements: Vec<_> = elements.collect();
        self.builder.begin_body();
        let one = SoacOperand::from_int64(1);
        let index = SoacOperand::Variable(index);
        let last = self.builder.add_int64(ScalarOp::Sub, width, one);
        let from_end = self.builder.add_int64(ScalarOp::Sub, last, index);
        let mut operands = self.element_before(index, &scans[0], neutral);
        operands.extend(elements);
        let mut operands = self.apply_copy(function, &operands);
        operands.extend(self.element_before(from_end, &scans[1], neutral));
        let frozen = self.freeze_outside(function);
        let results = self.apply_copy(&frozen, &operands);
        let body = self.builder.end_body(results);
        self.active.visit_body(self.builder, &body);
        SoacLambda { parameters, body }
    }

    /// The elements in front of a position, or the neutral ones at the first.
    pub(super) fn element_before(
        &mut self,
        position: SoacOperand,
        arrays: &[SoacOperand],
        neutral: &[SoacOperand],
    ) -> Vec<SoacOperand> {
        let (zero, one) = (SoacOperand::from_int64(0), SoacOperand::from_int64(1));
        let has_before = self.builder.add_int64(ScalarOp::SLt, zero, position);
        let types: Vec<_> = arrays.iter().map(|&array| self.row_type(array)).collect();
        self.builder.begin_body();
        let before = self.builder.add_int64(ScalarOp::Sub, position, one);
        let mut elements = Vec::with_capacity(arrays.len());
        for (&array, row) in arrays.iter().zip(&types) {
            elements.push(self.slice(array, vec![SliceSelector::Point(before)], row.clone()));
        }
        let accept = self.builder.end_body(elements);
        let reject = SoacBody {
            statements: Vec::new(),
            results: neutral.to_vec(),
        };
        let choice = SoacOperation::If(has_before, accept, reject);
        self.builder.add_operation("before", types, choice)
    }

    /// Sweeps a scan in reverse.
    pub(super) fn reverse_scan(
        &mut self,
        statement: &SoacStatement,
        width: SoacOperand,
        arrays: &[SoacOperand],
        neutral: &[SoacOperand],
        function: &SoacLambda,
        adjoints: &[Option<SoacOperand>],
    ) {
        if is_sum(function)
            && let Some(adjoint) = adjoints[0]
        {
            let row = self.row_type(adjoint);
            let backwards = self.reverse_rows(width, adjoint);
            let zero = add_zero(self.builder, &row);
            let sums = self.scan_copy(width, &[backwards], &[zero], function);
            let sums = self.reverse_rows(width, sums[0]);
            return self.add_adjoint(arrays[0], sums);
        }
        let arrays: Vec<_> = arrays.iter().map(|&array| self.read(array)).collect();
        let results = statement.results.iter();
        let results = results.map(|&id| self.read(SoacOperand::Variable(id)));
        let scan = ReversedScan {
            width,
            arrays: &arrays,
            neutral,
            function,
            results: results.collect(),
        };
        if let Some(components) = self.find_linear_components(&scan) {
            return self.reverse_linear_scan(&scan, &components, adjoints);
        }
        let mut initial = neutral.to_vec();
        for &result in &statement.results {
            let result_type = self.builder.type_of(SoacOperand::Variable(result));
            initial.push(add_zero(self.builder, &result_type));
        }
        let count = neutral.len();
        self.reverse_as_loop(width, &initial, adjoints, |transform, index, state| {
            let mut operands = state[..count].to_vec();
            let point = vec![SliceSelector::Point(index)];
            for &array in &arrays {
                let row = transform.row_type(array);
                operands.push(transform.slice(array, point.clone(), row));
            }
            let mut next = transform.apply_copy(function, &operands);
            for position in 0..count {
                let (target, value) = (state[count + position], next[position]);
                let target_type = transform.builder.type_of(target);
                let update = SoacOperation::Update(target, point.clone(), value);
                next.push(transform.builder.add_single("out", target_type, update));
            }
            next
        });
    }

    /// Writes a combinator as a loop, and sweeps the loop in reverse. The adjoints are those of the last values of the loop.
    fn reverse_as_loop(
        &mut self,
        width: SoacOperand,
        initial: &[SoacOperand],
        adjoints: &[Option<SoacOperand>],
        make: impl FnOnce(&mut Self, SoacOperand, &[SoacOperand]) -> Vec<SoacOperand>,
    ) {
        let int64 = SoacType::Scalar(ScalarType::I64);
        let counter = self.builder.add_variable("i", int64);
        let mut ids = Vec::with_capacity(initial.len());
        let mut results = Vec::with_capacity(initial.len());
        for &first in initial {
            let value_type = self.builder.type_of(first);
            ids.push(self.builder.add_variable("p", value_type.clone()));
            results.push(self.builder.add_variable("p", value_type));
        }
        let state: Vec<_> = ids.iter().map(|&id| SoacOperand::Variable(id)).collect();
        self.builder.begin_body();
        let next = make(self, SoacOperand::Variable(counter), &state);
        let body = self.builder.end_body(next);
        let parameters = ids.into_iter().zip(initial.iter().copied()).collect();
        let form = SoacLoopForm::For(counter, width);
        let statement = SoacStatement {
            results: results.clone(),
            certificates: Vec::new(),
            operation: SoacOperation::Loop(parameters, form, body),
        };
        self.active.visit_statement(self.builder, &statement);
        let records = self.sweep_forward(vec![statement]);
        let first = results.len() - adjoints.len();
        for (&result, adjoint) in results[first..].iter().zip(adjoints) {
            if let Some(adjoint) = *adjoint {
                self.add_adjoint(SoacOperand::Variable(result), adjoint);
            }
        }
        self.sweep_reverse(&records);
    }

    /// The rows of an array at positions, with zero where there are none.
    pub(super) fn gather(&mut self, array: SoacOperand, positions: SoacOperand) -> SoacOperand {
        let width = self.builder.type_of(positions).shape()[0];
        let row = self.row_type(array);
        let position = self
            .builder
            .add_variable("p", SoacType::Scalar(ScalarType::I64));
        self.builder.begin_body();
        let point = SoacOperand::Variable(position);
        let value = self.read_inside(array, point);
        let body = self.builder.end_body(vec![value]);
        let parameters = vec![position];
        let mut shape = vec![width];
        shape.extend(row.shape());
        let result = SoacType::Array(row.element(), shape);
        let map = SoacOperation::Map(width, vec![positions], SoacLambda { parameters, body });
        self.builder.add_single("gather", result, map)
    }

    fn is_inside(&mut self, position: SoacOperand, length: SoacOperand) -> SoacOperand {
        let less = ScalarOperator::with_type(ScalarOp::ULt, ScalarType::I64);
        self.builder.add_scalar(less, &[position, length])
    }

    /// The positions of a scatter into an array like one that is given, without those that are written again.
    fn find_winners(&mut self, positions: SoacOperand, like: SoacOperand) -> SoacOperand {
        let int64 = SoacType::Scalar(ScalarType::I64);
        let (width, length) = (self.length_of(positions), self.length_of(like));
        let indices = self.indices(width);
        let nowhere = SoacOperand::from_int64(-1);
        let nobody = self.replicate(&[length], nowhere);
        let array_type = self.builder.type_of(nobody);
        let scatter = SoacOperation::Scatter(nobody, positions, indices);
        let last = self.builder.add_single("last", array_type, scatter);
        let parameters = vec![
            self.builder.add_variable("p", int64.clone()),
            self.builder.add_variable("i", int64),
        ];
        let [position, index] = [0, 1].map(|side| SoacOperand::Variable(parameters[side]));
        self.builder.begin_body();
        let winner = self.read_inside(last, position);
        let has_won = self.builder.add_int64(ScalarOp::Eq, winner, index);
        let is_inside = self.is_inside(position, length);
        let and = ScalarOperator::with_type(ScalarOp::LogAnd, ScalarType::Bool);
        let counts = self.builder.add_scalar(and, &[has_won, is_inside]);
        let select = ScalarOperator::with_type(ScalarOp::Cond, ScalarType::I64);
        let kept = self
            .builder
            .add_scalar(select, &[counts, position, nowhere]);
        let body = self.builder.end_body(vec![kept]);
        let function = SoacLambda { parameters, body };
        let result = self.builder.type_of(indices);
        let map = SoacOperation::Map(width, vec![positions, indices], function);
        self.builder.add_single("won", result, map)
    }

    fn length_of(&self, array: SoacOperand) -> SoacOperand {
        self.builder.type_of(array).shape()[0]
    }

    /// Sweeps a scatter in reverse: the values have the adjoints at their positions, the array the others.
    pub(super) fn reverse_scatter(
        &mut self,
        array: SoacOperand,
        positions: SoacOperand,
        values: SoacOperand,
        adjoint: SoacOperand,
    ) {
        let positions = self.read(positions);
        if self.active.has_operand(values) {
            let winners = self.find_winners(positions, adjoint);
            let gathered = self.gather(adjoint, winners);
            self.add_adjoint(values, gathered);
        }
        if self.active.has_operand(array) {
            let array_type = self.builder.type_of(array);
            let values_type = self.builder.type_of(values);
            let zeros = add_zero(self.builder, &values_type);
            let scatter = SoacOperation::Scatter(adjoint, positions, zeros);
            let rest = self.builder.add_single("adj", array_type, scatter);
            self.add_adjoint(array, rest);
        }
    }

    /// Sweeps a histogram in reverse.
    pub(super) fn reverse_histogram(
        &mut self,
        statement: &SoacStatement,
        histogram: &SoacHistogram,
        adjoints: &[Option<SoacOperand>],
    ) {
        let positions = self.read(histogram.positions);
        if is_sum(&histogram.function)
            && let Some(adjoint) = adjoints[0]
        {
            if self.active.has_operand(histogram.values[0]) {
                let gathered = self.gather(adjoint, positions);
                self.add_adjoint(histogram.values[0], gathered);
            }
            return self.add_adjoint(histogram.targets[0], adjoint);
        }
        let values = histogram.values.iter().map(|&value| self.read(value));
        let values: Vec<_> = values.collect();
        if self.reverse_scalar_bins(statement, histogram, positions, &values, adjoints) {
            return;
        }
        let mut initial = Vec::with_capacity(histogram.targets.len());
        for &target in &histogram.targets {
            let source = self.read(target);
            let array_type = self.builder.type_of(source);
            let copy = SoacOperation::Manifest(source);
            let copy = self.builder.add_single("again", array_type, copy);
            if let SoacOperand::Variable(id) = target {
                self.link_copy(id, copy);
            }
            initial.push(copy);
        }
        let width = self.builder.type_of(positions).shape()[0];
        let target_type = self
            .builder
            .type_of(SoacOperand::Variable(statement.results[0]));
        let length = target_type.shape()[0];
        self.reverse_as_loop(width, &initial, adjoints, |transform, index, state| {
            transform.combine_bin(histogram, [positions, index, length], &values, state)
        });
    }

    /// Sweeps a histogram in reverse whose function is a minimum, a maximum or a product. Returns whether it is.
    fn reverse_scalar_bins(
        &mut self,
        statement: &SoacStatement,
        histogram: &SoacHistogram,
        positions: SoacOperand,
        values: &[SoacOperand],
        adjoints: &[Option<SoacOperand>],
    ) -> bool {
        let after = self.read(SoacOperand::Variable(statement.results[0]));
        let (Some(op), Some(adjoint), SoacType::Scalar(element)) = (
            find_operator(&histogram.function),
            adjoints[0],
            self.row_type(after),
        ) else {
            return false;
        };
        let bins = ReversedBins {
            before: self.read(histogram.targets[0]),
            after,
            positions,
            values: values[0],
            adjoint,
            element,
            length: self.length_of(after),
            width: self.length_of(positions),
        };
        let [value_adjoint, target_adjoint] = match op {
            ScalarOp::FMin
            | ScalarOp::FMax
            | ScalarOp::SMin
            | ScalarOp::SMax
            | ScalarOp::UMin
            | ScalarOp::UMax => self.reverse_extreme_bins(&bins),
            ScalarOp::FMul => self.reverse_product_bins(&bins),
            _ => return false,
        };
        self.add_adjoint(histogram.values[0], value_adjoint);
        self.add_adjoint(histogram.targets[0], target_adjoint);
        true
    }

    /// Combines a value with its bin: the arrays of bins afterwards. `place` is positions, index, number of bins.
    fn combine_bin(
        &mut self,
        histogram: &SoacHistogram,
        place: [SoacOperand; 3],
        values: &[SoacOperand],
        state: &[SoacOperand],
    ) -> Vec<SoacOperand> {
        let [positions, index, length] = place;
        let int64 = SoacType::Scalar(ScalarType::I64);
        let at_index = vec![SliceSelector::Point(index)];
        let position = self.slice(positions, at_index.clone(), int64);
        let point = vec![SliceSelector::Point(position)];
        let is_inside = self.is_inside(position, length);
        let rows: Vec<_> = state.iter().map(|&array| self.row_type(array)).collect();
        self.builder.begin_body();
        let mut before = Vec::with_capacity(state.len());
        for (&array, row) in state.iter().zip(&rows) {
            before.push(self.slice(array, point.clone(), row.clone()));
        }
        let accept = self.builder.end_body(before);
        let reject = SoacBody {
            statements: Vec::new(),
            results: histogram.neutral.clone(),
        };
        let choice = SoacOperation::If(is_inside, accept, reject);
        let mut operands = self.builder.add_operation("bin", rows.clone(), choice);
        for (&array, row) in values.iter().zip(&rows) {
            operands.push(self.slice(array, at_index.clone(), row.clone()));
        }
        let next = self.apply_copy(&histogram.function, &operands);
        let types: Vec<_> = state
            .iter()
            .map(|&array| self.builder.type_of(array))
            .collect();
        self.builder.begin_body();
        let mut updated = Vec::with_capacity(state.len());
        for ((&array, &value), array_type) in state.iter().zip(&next).zip(&types) {
            let update = SoacOperation::Update(array, point.clone(), value);
            updated.push(self.builder.add_single("out", array_type.clone(), update));
        }
        let accept = self.builder.end_body(updated);
        let reject = SoacBody {
            statements: Vec::new(),
            results: state.to_vec(),
        };
        let choice = SoacOperation::If(is_inside, accept, reject);
        self.builder.add_operation("out", types, choice)
    }
}
