//! Operations that generated code leaves to the functions of `spirula_scalar`.

use crate::geometry::compute_geometry;
use crate::invocation::apply_second_result;
use crate::operation::{ScalarOperation, narrow_number, narrow_to_half, widen_number};
use crate::step::{GeometryStep, SecondResultStep};
use spirula_scalar::convert::float_to_float;
use spirula_scalar::{FloatEncoding, FloatRounding};

/// Most components of the operands of a function on vectors.
const MOST_COMPONENTS: usize = 256;

/// An operation on the bits of scalars.
#[derive(Clone, Debug)]
pub(crate) enum HostedOperation {
    Scalar(ScalarOperation),
    /// The first result of a function that has two.
    First(SecondResultStep),
    /// Its second result.
    Second(SecondResultStep),
    FromHalf(FloatEncoding),
    ToHalf(FloatEncoding, FloatRounding),
    /// A number of a narrow format as `f32`.
    Widen(FloatEncoding),
    /// An `f32` that is rounded to a narrow format.
    Narrow(FloatEncoding),
}

impl HostedOperation {
    fn apply(&self, operands: [u64; 4]) -> u64 {
        let [a, b, ..] = operands;
        match self {
            HostedOperation::Scalar(operation) => operation.apply(operands),
            HostedOperation::First(step) => apply_second_result(step, a, b).0,
            HostedOperation::Second(step) => apply_second_result(step, a, b).1,
            HostedOperation::FromHalf(format) => {
                float_to_float(a, FloatEncoding::F16, *format, FloatRounding::NearestEven)
            }
            HostedOperation::ToHalf(format, rounding) => narrow_to_half(a, *format, *rounding),
            HostedOperation::Widen(format) => widen_number(a, *format).to_bits().into(),
            HostedOperation::Narrow(format) => narrow_number(f32::from_bits(a as u32), *format),
        }
    }
}

/// The functions that a generated module imports, by their numbers.
#[derive(Debug, Default)]
pub struct HostFunctions {
    operations: Vec<HostedOperation>,
    geometry: Vec<GeometryStep>,
}

impl HostFunctions {
    /// Appends an operation, and returns its number.
    pub(crate) fn push_operation(&mut self, operation: HostedOperation) -> u32 {
        self.operations.push(operation);
        self.operations.len() as u32 - 1
    }

    /// Appends a function on vectors, and returns its number.
    pub(crate) fn push_geometry(&mut self, step: GeometryStep) -> u32 {
        self.geometry.push(step);
        self.geometry.len() as u32 - 1
    }

    /// Computes an operation; 0 where there is none with this number.
    pub fn apply(&self, number: u32, operands: [u64; 4]) -> u64 {
        let operation = self.operations.get(number as usize);
        operation.map_or(0, |operation| operation.apply(operands))
    }
}

/// Components of vectors that pass between generated code and its host.
#[derive(Debug, Default)]
pub struct HostRow {
    operands: Vec<u64>,
    results: Vec<u64>,
}

impl HostRow {
    /// Sets a component of the operands.
    pub fn put(&mut self, at: u32, bits: u64) {
        let at = at as usize;
        if at >= MOST_COMPONENTS {
            return;
        }
        if self.operands.len() <= at {
            self.operands.resize(at + 1, 0);
        }
        self.operands[at] = bits;
    }

    /// Computes a function on the operands.
    pub fn compute(&mut self, functions: &HostFunctions, number: u32) {
        let Some(step) = functions.geometry.get(number as usize) else {
            return;
        };
        let mut rest = &self.operands[..];
        let rows = step.counts.map(|count| {
            let (row, others) = rest.split_at((count as usize).min(rest.len()));
            rest = others;
            row
        });
        self.results = compute_geometry(step, rows);
    }

    /// A component of the result; 0 where it has none with this number.
    pub fn take(&self, at: u32) -> u64 {
        self.results.get(at as usize).copied().unwrap_or(0)
    }
}
