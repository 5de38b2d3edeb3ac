//! Reverse mode of scans of scalars in parallel.
//!
//! The adjoints of the results of a scan satisfy a linear recurrence from the last to the first, whose coefficients are the
//! derivatives of the function by its left operands. A scan by composition of linear functions solves it. After A. Paszke,
//! M. J. Johnson, R. Frostig, D. Maclaurin, *Parallelism-preserving automatic differentiation for second-order array
//! languages*, 2021.

use super::copy::BodyCopier;
use super::reverse::ReverseTransform;
use crate::ir::{
    SliceSelector, SoacBody, SoacLambda, SoacOperand, SoacOperation, SoacType, SoacVariableId,
};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};

/// The largest number of components for which a scan is solved in parallel: the coefficients grow with its square.
const MAX_COMPONENTS: usize = 4;

/// A scan that is swept in reverse.
pub(super) struct ReversedScan<'s> {
    pub(super) width: SoacOperand,
    pub(super) arrays: &'s [SoacOperand],
    pub(super) neutral: &'s [SoacOperand],
    pub(super) function: &'s SoacLambda,
    /// The results of the scan.
    pub(super) results: Vec<SoacOperand>,
}

impl ReverseTransform<'_> {
    /// The components of a scan that are active, if it can be solved in parallel.
    pub(super) fn find_linear_components(&self, scan: &ReversedScan<'_>) -> Option<Vec<usize>> {
        let is_scalar =
            |operand: &SoacOperand| matches!(self.builder.type_of(*operand), SoacType::Scalar(_));
        let components = 0..scan.neutral.len();
        let components: Vec<usize> = components
            .filter(|&index| self.active.contains(scan.function.parameters[index]))
            .collect();
        let is_small = components.len() <= MAX_COMPONENTS;
        (is_small && scan.neutral.iter().all(is_scalar)).then_some(components)
    }

    /// Sweeps a scan of scalars in reverse.
    pub(super) fn reverse_linear_scan(
        &mut self,
        scan: &ReversedScan<'_>,
        components: &[usize],
        adjoints: &[Option<SoacOperand>],
    ) {
        let mut inputs = Vec::new();
        for &component in components {
            let adjoint = adjoints[component].unwrap_or_else(|| {
                let result_type = self.builder.type_of(scan.results[component]);
                super::arithmetic::add_zero(self.builder, &result_type)
            });
            inputs.push(self.reverse_rows(scan.width, adjoint));
        }
        let coefficients = self.map_coefficients(scan, components);
        inputs.extend(coefficients);
        let solved = self.solve_recurrence(scan, components, inputs);
        let mut complete = vec![None; adjoints.len()];
        for (&component, solution) in components.iter().zip(solved) {
            complete[component] = Some(self.reverse_rows(scan.width, solution));
        }
        let lambda = self.combine_with_before(scan);
        let mut arrays = vec![self.indices(scan.width)];
        arrays.extend(scan.arrays);
        self.reverse_map(scan.width, &arrays, &lambda, &complete, false);
    }

    /// The function that computes an element of the results from the one before it and an element of the arrays. Only the
    /// latter is active.
    fn combine_with_before(&mut self, scan: &ReversedScan<'_>) -> SoacLambda {
        let int64 = SoacType::Scalar(ScalarType::I64);
        let index = self.builder.add_variable("i", int64);
        let mut parameters = vec![index];
        for &array in scan.arrays {
            let row = self.row_type(array);
            let parameter = self.builder.add_variable("a", row);
            if self.active.has_operand(array) {
                self.active.insert(self.builder, parameter);
            }
            parameters.push(parameter);
        }
        self.builder.begin_body();
        let index = SoacOperand::Variable(index);
        let mut operands = self.element_before(index, &scan.results, scan.neutral);
        operands.extend(parameters[1..].iter().map(|&id| SoacOperand::Variable(id)));
        let results = self.apply_copy(scan.function, &operands);
        let body = self.builder.end_body(results);
        self.active.visit_body(self.builder, &body);
        SoacLambda { parameters, body }
    }

    /// For each position from the last to the first, the derivatives of the next result by this one: an array for each pair
    /// of components. They are zero at the last.
    fn map_coefficients(
        &mut self,
        scan: &ReversedScan<'_>,
        components: &[usize],
    ) -> Vec<SoacOperand> {
        let int64 = SoacType::Scalar(ScalarType::I64);
        let step = self.builder.add_variable("i", int64);
        let mut types = Vec::new();
        for _ in components {
            for &by in components {
                types.push(self.builder.type_of(scan.neutral[by]));
            }
        }
        self.builder.begin_body();
        let zero = SoacOperand::from_int64(0);
        let has_next = self
            .builder
            .add_int64(ScalarOp::SLt, zero, SoacOperand::Variable(step));
        self.builder.begin_body();
        let coefficients = self.add_coefficients(scan, components, SoacOperand::Variable(step));
        let accept = self.builder.end_body(coefficients);
        let zeros = types
            .iter()
            .map(|value_type| SoacOperand::Constant(ScalarLiteral::new(value_type.element(), 0)));
        let reject = SoacBody {
            statements: Vec::new(),
            results: zeros.collect(),
        };
        let choice = SoacOperation::If(has_next, accept, reject);
        let chosen = self.builder.add_operation("c", types.clone(), choice);
        let body = self.builder.end_body(chosen);
        let arrays = types
            .iter()
            .map(|value_type| SoacType::Array(value_type.element(), vec![scan.width]));
        let arrays = arrays.collect();
        let indices = self.indices(scan.width);
        let lambda = SoacLambda {
            parameters: vec![step],
            body,
        };
        let map = SoacOperation::Map(scan.width, vec![indices], lambda);
        self.builder.add_operation("c", arrays, map)
    }

    /// The derivatives of a result by the one before it, which is `step` in front of the end: by forward mode along each
    /// component.
    fn add_coefficients(
        &mut self,
        scan: &ReversedScan<'_>,
        components: &[usize],
        step: SoacOperand,
    ) -> Vec<SoacOperand> {
        let one = SoacOperand::from_int64(1);
        let next = self.builder.add_int64(ScalarOp::Sub, scan.width, step);
        let position = self.builder.add_int64(ScalarOp::Sub, next, one);
        let mut operands = Vec::with_capacity(2 * scan.arrays.len());
        for (arrays, at) in [(scan.results.as_slice(), position), (scan.arrays, next)] {
            for &array in arrays {
                let row = self.row_type(array);
                operands.push(self.slice(array, vec![SliceSelector::Point(at)], row));
            }
        }
        let mut coefficients = vec![Vec::new(); components.len()];
        for &by in components {
            let mut copier: BodyCopier = self.make_copier();
            let mut direction = None;
            let parameters = scan.function.parameters.iter().zip(&operands);
            for (index, (&parameter, &operand)) in parameters.enumerate() {
                let copied = if index == by {
                    let scalar = self.builder.type_of(operand);
                    let input = self.slice(operand, Vec::new(), scalar);
                    direction = Some(input);
                    input
                } else {
                    operand
                };
                copier.replace(parameter, copied);
            }
            let body = copier.copy_body(self.builder, &scan.function.body);
            let mut inputs: Vec<(SoacVariableId, SoacOperand)> = Vec::new();
            if let Some(SoacOperand::Variable(id)) = direction {
                let element = self.builder.type_of(SoacOperand::Variable(id)).element();
                let unit = super::scalar_rule::number_literal(element, 1.0);
                inputs.push((id, SoacOperand::Constant(unit)));
            }
            let tangents = super::add_forward(self.builder, body, &inputs);
            for (row, &component) in coefficients.iter_mut().zip(components) {
                row.push(tangents[component]);
            }
        }
        // The adjoint of component `p` is the sum over `q` of the derivative of `q` by `p` times the adjoint of `q`.
        let count = components.len();
        (0..count)
            .flat_map(|by| coefficients.iter().map(move |row| row[by]))
            .collect()
    }

    /// Solves the recurrence of adjoints by a scan of linear functions, each of a vector and a matrix.
    fn solve_recurrence(
        &mut self,
        scan: &ReversedScan<'_>,
        components: &[usize],
        inputs: Vec<SoacOperand>,
    ) -> Vec<SoacOperand> {
        let count = components.len();
        let types: Vec<SoacType> = inputs.iter().map(|&input| self.row_type(input)).collect();
        let parameters: Vec<_> = [&types, &types]
            .into_iter()
            .flatten()
            .map(|row| self.builder.add_variable("m", row.clone()))
            .collect();
        let operands: Vec<_> = parameters
            .iter()
            .map(|&id| SoacOperand::Variable(id))
            .collect();
        let (first, second) = operands.split_at(types.len());
        self.builder.begin_body();
        let mut results = Vec::with_capacity(types.len());
        for row in 0..count {
            let product = self.multiply_row(&second[count + row * count..][..count], |column| {
                first[column]
            });
            results.push(self.add(second[row], product));
        }
        for row in 0..count {
            for column in 0..count {
                let factors = &second[count + row * count..][..count];
                results.push(
                    self.multiply_row(factors, |inner| first[count + inner * count + column]),
                );
            }
        }
        let body = self.builder.end_body(results);
        let lambda = SoacLambda { parameters, body };
        let mut neutral = Vec::with_capacity(types.len());
        for (index, row) in types.iter().enumerate() {
            let is_diagonal = index >= count && (index - count) / count == (index - count) % count;
            let number = if is_diagonal { 1.0 } else { 0.0 };
            let literal = super::scalar_rule::number_literal(row.element(), number);
            neutral.push(SoacOperand::Constant(literal));
        }
        let arrays = inputs.iter().map(|&input| self.builder.type_of(input));
        let arrays = arrays.collect();
        let operation = SoacOperation::Scan(scan.width, inputs, neutral, lambda);
        let mut solved = self.builder.add_operation("r", arrays, operation);
        solved.truncate(count);
        solved
    }

    /// The sum of products of some factors with others.
    fn multiply_row(
        &mut self,
        factors: &[SoacOperand],
        other: impl Fn(usize) -> SoacOperand,
    ) -> SoacOperand {
        let mut sum = None;
        for (index, &factor) in factors.iter().enumerate() {
            let element = self.builder.type_of(factor).element();
            let op = if element.is_float() {
                ScalarOp::FMul
            } else {
                ScalarOp::Mul
            };
            let multiply = ScalarOperator::with_type(op, element);
            let product = self.builder.add_scalar(multiply, &[factor, other(index)]);
            sum = Some(match sum {
                Some(sum) => self.add(sum, product),
                None => product,
            });
        }
        sum.unwrap_or(SoacOperand::from_int64(0))
    }

    fn add(&mut self, left: SoacOperand, right: SoacOperand) -> SoacOperand {
        super::arithmetic::add_values(self.builder, left, right)
    }
}
