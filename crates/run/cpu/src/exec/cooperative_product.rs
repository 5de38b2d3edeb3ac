//! Cooperative products: multiplies matrices that the invocations of a subgroup hold together.
//!
//! Component `n` of an invocation is component `n * size + lane` of the matrix, row by row. The scheduler computes
//! products when all invocations have arrived. Sums of floats are computed in `f32`, or in `f64` where the result is
//! `f64`, and rounded once at the end. Integers are computed exactly.

use super::slot_numbers::{encode_float, number_from_bits};
use crate::layout::frames::WorkgroupFrames;
use crate::matrix::cooperative_product::CooperativeProduct;
use crate::module::types::ScalarRepr;
use spirula_spirv::grammar::enumerants::CooperativeMatrixOperands as Operands;

/// Invocations of a subgroup.
#[derive(Clone, Copy)]
pub(crate) struct SubgroupLanes<'a> {
    /// The invocations that take part.
    pub active: &'a [usize],
    pub first: usize,
    pub size: usize,
}

impl CooperativeProduct {
    /// Computes the result for the active invocations of a subgroup.
    pub fn compute_for_lanes(&self, frames: &mut WorkgroupFrames<'_>, lanes: SubgroupLanes<'_>) {
        match self.scalars[3] {
            ScalarRepr::F64 => self.multiply_factors(frames, lanes, &F64Arithmetic(self.scalars)),
            scalar if scalar.is_float() => {
                self.multiply_factors(frames, lanes, &F32Arithmetic(self.scalars))
            }
            _ => self.multiply_factors(frames, lanes, &IntegerArithmetic(self)),
        }
    }

    fn multiply_factors<N: ProductArithmetic>(
        &self,
        frames: &mut WorkgroupFrames<'_>,
        lanes: SubgroupLanes<'_>,
        numbers: &N,
    ) {
        let (rows, columns, depth) = (
            self.rows as usize,
            self.columns as usize,
            self.depth as usize,
        );
        let matrix = |frames: &WorkgroupFrames<'_>, which: usize, count: usize| -> Vec<N::Number> {
            let first = self.parts[..which].iter().sum::<u32>() as usize;
            let one = |n: usize| {
                let lane = lanes.first + n % lanes.size;
                let there = lanes.active.binary_search(&lane).is_ok();
                let bits = if there {
                    frames.read_slot(lane, first + n / lanes.size)
                } else {
                    0
                };
                numbers.decode_component(which, bits)
            };
            (0..count).map(one).collect()
        };
        let a = matrix(frames, 0, rows * depth);
        let b = matrix(frames, 1, depth * columns);
        let mut sums = matrix(frames, 2, rows * columns);
        for (row, sums) in sums.chunks_mut(columns).enumerate() {
            for (k, b) in b.chunks(columns).enumerate() {
                let a = a[row * depth + k];
                for (sum, b) in sums.iter_mut().zip(b) {
                    *sum = N::add_product(*sum, a, *b);
                }
            }
        }
        for lane in lanes.active {
            let own = sums.iter().skip(lane - lanes.first).step_by(lanes.size);
            for (n, sum) in own.enumerate() {
                frames.set_slot(*lane, n, numbers.encode_component(*sum));
            }
        }
    }
}

/// The numbers in which sums and products are computed.
trait ProductArithmetic {
    type Number: Copy;

    /// A component of the first factor, the second, or the summand, from its bits.
    fn decode_component(&self, which: usize, bits: u64) -> Self::Number;
    fn add_product(sum: Self::Number, a: Self::Number, b: Self::Number) -> Self::Number;
    /// The bits of a component of the result.
    fn encode_component(&self, sum: Self::Number) -> u64;
}

struct F32Arithmetic([ScalarRepr; 4]);

impl ProductArithmetic for F32Arithmetic {
    type Number = f32;

    fn decode_component(&self, which: usize, bits: u64) -> f32 {
        number_from_bits(bits, self.0[which]) as f32
    }

    fn add_product(sum: f32, a: f32, b: f32) -> f32 {
        sum + a * b
    }

    fn encode_component(&self, sum: f32) -> u64 {
        encode_float(sum.into(), self.0[3])
    }
}

struct F64Arithmetic([ScalarRepr; 4]);

impl ProductArithmetic for F64Arithmetic {
    type Number = f64;

    fn decode_component(&self, which: usize, bits: u64) -> f64 {
        number_from_bits(bits, self.0[which])
    }

    fn add_product(sum: f64, a: f64, b: f64) -> f64 {
        sum + a * b
    }

    fn encode_component(&self, sum: f64) -> u64 {
        encode_float(sum, self.0[3])
    }
}

struct IntegerArithmetic<'a>(&'a CooperativeProduct);

impl IntegerArithmetic<'_> {
    fn has_operand(&self, operand: Operands) -> bool {
        self.0.operands & operand.0 != 0
    }
}

impl ProductArithmetic for IntegerArithmetic<'_> {
    type Number = i128;

    fn decode_component(&self, which: usize, bits: u64) -> i128 {
        let signed = self.has_operand(match which {
            0 => Operands::MatrixASignedComponentsKHR,
            1 => Operands::MatrixBSignedComponentsKHR,
            _ => Operands::MatrixCSignedComponentsKHR,
        });
        let unused = 64 - self.0.scalars[which].bits();
        if signed {
            i128::from((bits << unused) as i64 >> unused)
        } else {
            i128::from(bits << unused >> unused)
        }
    }

    fn add_product(sum: i128, a: i128, b: i128) -> i128 {
        sum.wrapping_add(a.wrapping_mul(b))
    }

    fn encode_component(&self, sum: i128) -> u64 {
        if !self.has_operand(Operands::SaturatingAccumulationKHR) {
            return sum as u64;
        }
        let bits = self.0.scalars[3].bits();
        let signed = self.has_operand(Operands::MatrixResultSignedComponentsKHR);
        let (least, most) = if signed {
            (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
        } else {
            (0, (1i128 << bits) - 1)
        };
        sum.clamp(least, most) as u64
    }
}
