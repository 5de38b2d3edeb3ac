//! Reverse mode of histograms of scalars by minimum, maximum and product, in parallel.
//!
//! The adjoint of a bin goes to the first of the values that are equal to its minimum or maximum, where the value that was in
//! the bin before is in front of all others. Of a product each factor gets the product of the others: zeros are counted, so
//! that none is divided by.

use super::arithmetic::zero_constant;
use super::reverse::ReverseTransform;
use super::scalar_rule::number_literal;
use crate::ir::{SoacHistogram, SoacLambda, SoacOperand, SoacOperation, SoacType, SoacVariableId};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};

/// A histogram that is swept in reverse.
pub(super) struct ReversedBins {
    /// The bins before, copied.
    pub(super) before: SoacOperand,
    /// The bins afterwards.
    pub(super) after: SoacOperand,
    pub(super) positions: SoacOperand,
    pub(super) values: SoacOperand,
    /// The adjoints of the bins.
    pub(super) adjoint: SoacOperand,
    pub(super) element: ScalarType,
    /// Number of bins.
    pub(super) length: SoacOperand,
    /// Number of values.
    pub(super) width: SoacOperand,
}

/// The operator that a function is on its two parameters, in their order.
pub(super) fn find_operator(function: &SoacLambda) -> Option<ScalarOp> {
    let ([left, right], [statement]) = (
        function.parameters.as_slice(),
        function.body.statements.as_slice(),
    ) else {
        return None;
    };
    let parameters = [SoacOperand::Variable(*left), SoacOperand::Variable(*right)];
    let is_result = function.body.results == [SoacOperand::Variable(*statement.results.first()?)];
    match &statement.operation {
        SoacOperation::Scalar(operator, operands) if is_result && *operands == parameters => {
            Some(operator.op)
        }
        _ => None,
    }
}

/// The function of a map that is being made: its operands, and what it adds.
type RowFunction<'f> = &'f mut dyn FnMut(&mut ReverseTransform<'_>, &[SoacOperand]) -> SoacOperand;

impl ReverseTransform<'_> {
    /// An array made by a function of the elements of arrays of scalars.
    fn map_rows(
        &mut self,
        width: SoacOperand,
        arrays: &[SoacOperand],
        result: ScalarType,
        function: RowFunction<'_>,
    ) -> SoacOperand {
        let mut parameters: Vec<SoacVariableId> = Vec::with_capacity(arrays.len());
        for &array in arrays {
            let row = self.row_type(array);
            parameters.push(self.builder.add_variable("e", row));
        }
        let operands: Vec<_> = parameters
            .iter()
            .map(|&id| SoacOperand::Variable(id))
            .collect();
        self.builder.begin_body();
        let value = function(self, &operands);
        let body = self.builder.end_body(vec![value]);
        let array_type = SoacType::Array(result, vec![width]);
        let map = SoacOperation::Map(width, arrays.to_vec(), SoacLambda { parameters, body });
        self.builder.add_single("m", array_type, map)
    }

    fn apply(
        &mut self,
        op: ScalarOp,
        element: ScalarType,
        operands: &[SoacOperand],
    ) -> SoacOperand {
        self.builder
            .add_scalar(ScalarOperator::with_type(op, element), operands)
    }

    /// A histogram of scalars by an operator.
    fn add_bins(
        &mut self,
        targets: SoacOperand,
        neutral: SoacOperand,
        operator: ScalarOperator,
        bins: &ReversedBins,
        values: SoacOperand,
    ) -> SoacOperand {
        let scalar = SoacType::Scalar(operator.to);
        let parameters = vec![
            self.builder.add_variable("l", scalar.clone()),
            self.builder.add_variable("r", scalar),
        ];
        let operands = [0, 1].map(|side| SoacOperand::Variable(parameters[side]));
        self.builder.begin_body();
        let combined = self.builder.add_scalar(operator, &operands);
        let body = self.builder.end_body(vec![combined]);
        let histogram = SoacHistogram {
            targets: vec![targets],
            neutral: vec![neutral],
            function: SoacLambda { parameters, body },
            positions: bins.positions,
            values: vec![values],
        };
        let array_type = self.builder.type_of(targets);
        let operation = SoacOperation::Histogram(Box::new(histogram));
        self.builder.add_single("h", array_type, operation)
    }

    /// Sweeps a histogram by minimum or maximum in reverse. Returns the adjoints of the values and of the bins before.
    pub(super) fn reverse_extreme_bins(&mut self, bins: &ReversedBins) -> [SoacOperand; 2] {
        let int64 = ScalarType::I64;
        let nobody = SoacOperand::from_int64(i64::MAX);
        let indices = self.indices(bins.width);
        let after = self.gather(bins.after, bins.positions);
        let before = self.gather(bins.before, bins.positions);
        let inputs = [indices, bins.values, after, before];
        let element = bins.element;
        let candidates = self.map_rows(bins.width, &inputs, int64, &mut |transform, row| {
            let is_extreme = transform.apply(ScalarOp::Eq, element, &[row[1], row[2]]);
            let was_before = transform.apply(ScalarOp::Eq, element, &[row[3], row[2]]);
            let is_new = transform.apply(ScalarOp::Not, ScalarType::Bool, &[was_before]);
            let both = [is_extreme, is_new];
            let counts = transform.apply(ScalarOp::LogAnd, ScalarType::Bool, &both);
            transform.apply(ScalarOp::Cond, int64, &[counts, row[0], nobody])
        });
        let targets = self.replicate(&[bins.length], nobody);
        let minimum = ScalarOperator::with_type(ScalarOp::SMin, int64);
        let winners = self.add_bins(targets, nobody, minimum, bins, candidates);
        let winner = self.gather(winners, bins.positions);
        let passed = self.gather(bins.adjoint, bins.positions);
        let zero = zero_constant(element);
        let inputs = [indices, winner, passed];
        let values = self.map_rows(bins.width, &inputs, element, &mut |transform, row| {
            let has_won = transform.apply(ScalarOp::Eq, int64, &row[..2]);
            transform.apply(ScalarOp::Cond, element, &[has_won, row[2], zero])
        });
        let inputs = [winners, bins.adjoint];
        let before = self.map_rows(bins.length, &inputs, element, &mut |transform, row| {
            let is_kept = transform.apply(ScalarOp::Eq, int64, &[row[0], nobody]);
            transform.apply(ScalarOp::Cond, element, &[is_kept, row[1], zero])
        });
        [values, before]
    }

    /// Sweeps a histogram by product in reverse. Returns the adjoints of the values and of the bins before.
    pub(super) fn reverse_product_bins(&mut self, bins: &ReversedBins) -> [SoacOperand; 2] {
        let (int64, element) = (ScalarType::I64, bins.element);
        let one = SoacOperand::Constant(number_literal(element, 1.0));
        let zero = zero_constant(element);
        let mut counts = Vec::with_capacity(2);
        let mut products = Vec::with_capacity(2);
        for (width, array) in [(bins.length, bins.before), (bins.width, bins.values)] {
            counts.push(
                self.map_rows(width, &[array], int64, &mut |transform, row| {
                    let is_zero = transform.apply(ScalarOp::Eq, element, &[row[0], zero]);
                    let number = ScalarOperator::from_conversion(
                        ScalarOp::FromBool,
                        ScalarType::Bool,
                        int64,
                    );
                    transform.builder.add_scalar(number, &[is_zero])
                }),
            );
            products.push(
                self.map_rows(width, &[array], element, &mut |transform, row| {
                    let is_zero = transform.apply(ScalarOp::Eq, element, &[row[0], zero]);
                    transform.apply(ScalarOp::Cond, element, &[is_zero, one, row[0]])
                }),
            );
        }
        let add = ScalarOperator::with_type(ScalarOp::Add, int64);
        let no_zeros = SoacOperand::Constant(ScalarLiteral::from_i64(0));
        let zeros = self.add_bins(counts[0], no_zeros, add, bins, counts[1]);
        let multiply = ScalarOperator::with_type(ScalarOp::FMul, element);
        let product = self.add_bins(products[0], one, multiply, bins, products[1]);
        let gathered = [zeros, product, bins.adjoint];
        let gathered = gathered.map(|array| self.gather(array, bins.positions));
        let values = [gathered[0], gathered[1], gathered[2], bins.values];
        let values = self.divide_products(bins.width, &values, element);
        let before = [zeros, product, bins.adjoint, bins.before];
        let before = self.divide_products(bins.length, &before, element);
        [values, before]
    }

    /// The adjoints of factors, from the numbers of zeros, the products of other factors, the adjoints of the products, and
    /// the factors.
    fn divide_products(
        &mut self,
        width: SoacOperand,
        arrays: &[SoacOperand],
        element: ScalarType,
    ) -> SoacOperand {
        let zero = zero_constant(element);
        let (none, single) = (SoacOperand::from_int64(0), SoacOperand::from_int64(1));
        self.map_rows(width, arrays, element, &mut |transform, row| {
            let [zeros, product, adjoint, factor] = [row[0], row[1], row[2], row[3]];
            let is_zero = transform.apply(ScalarOp::Eq, element, &[factor, zero]);
            let own = ScalarOperator::with_type(ScalarOp::Cond, ScalarType::I64);
            let own = transform.builder.add_scalar(own, &[is_zero, single, none]);
            let has_product = transform.apply(ScalarOp::Eq, ScalarType::I64, &[zeros, own]);
            let one = SoacOperand::Constant(number_literal(element, 1.0));
            let divisor = transform.apply(ScalarOp::Cond, element, &[is_zero, one, factor]);
            let others = transform.apply(ScalarOp::FDiv, element, &[product, divisor]);
            let slope = transform.apply(ScalarOp::FMul, element, &[others, adjoint]);
            transform.apply(ScalarOp::Cond, element, &[has_product, slope, zero])
        })
    }
}
