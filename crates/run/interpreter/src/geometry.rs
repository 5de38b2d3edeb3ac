//! Functions on whole vectors: lengths, products, reflections.
//!
//! Each rounds where the CPU device does, so that results are equal.

use crate::operation::{narrow_number, widen_number};
use crate::step::GeometryStep;
use spirula_scalar::{FloatEncoding, NativeFloat};

/// A function on vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GeometryFunction {
    Length,
    Distance,
    Normalize,
    /// The same three, without overflow and underflow between.
    ExactLength,
    ExactDistance,
    ExactNormalize,
    Cross,
    FaceForward,
    Reflect,
    Refract,
    Determinant,
    Inverse,
}

/// A floating-point type with the exponents at which vectors are scaled.
trait VectorFloat: NativeFloat {
    /// Exponents: of the limit of usual sizes, of the factor for large vectors, of that for small ones.
    const SCALES: [i32; 3];
}

impl VectorFloat for f32 {
    const SCALES: [i32; 3] = [60, -100, 100];
}

impl VectorFloat for f64 {
    const SCALES: [i32; 3] = [500, -700, 800];
}

/// Computes a function on operands, and returns the bits of the result's components.
pub(crate) fn compute_geometry(step: &GeometryStep, operands: [&[u64]; 3]) -> Vec<u64> {
    match step.format {
        FloatEncoding::F64 => compute_typed::<f64>(step.function, operands),
        FloatEncoding::F32 => compute_typed::<f32>(step.function, operands),
        format => {
            let widen = |bits: &u64| u64::from(widen_number(*bits, format).to_bits());
            let wide = operands.map(|bits| bits.iter().map(widen).collect::<Vec<u64>>());
            let wide = [&wide[0][..], &wide[1][..], &wide[2][..]];
            let results = compute_typed::<f32>(step.function, wide).into_iter();
            results
                .map(|bits| narrow_number(f32::from_bits(bits as u32), format))
                .collect()
        }
    }
}

fn compute_typed<T: VectorFloat>(function: GeometryFunction, operands: [&[u64]; 3]) -> Vec<u64> {
    let [a, b, c] = operands.map(|bits| bits.iter().map(|b| T::from_raw(*b)).collect::<Vec<T>>());
    let results = match function {
        GeometryFunction::Length => vec![compute_norm(&a)],
        GeometryFunction::Distance => vec![compute_norm(&subtract(&a, &b))],
        GeometryFunction::Normalize => {
            let divisor = choose_divisor(compute_norm(&a));
            a.iter().map(|x| *x / divisor).collect()
        }
        GeometryFunction::ExactLength => vec![compute_exact_norm(&a)],
        GeometryFunction::ExactDistance => vec![compute_exact_norm(&subtract(&a, &b))],
        GeometryFunction::ExactNormalize => normalize_exactly(&a),
        GeometryFunction::Cross => compute_cross(&a, &b),
        GeometryFunction::FaceForward => {
            let is_against = sum_products(&c, &b) < T::from_f64(0.0);
            let turn = |n: &T| if is_against { *n } else { -*n };
            a.iter().map(turn).collect()
        }
        GeometryFunction::Reflect => {
            let dot = sum_products(&b, &a);
            let twice = dot + dot;
            a.iter().zip(&b).map(|(i, n)| *i - twice * *n).collect()
        }
        GeometryFunction::Determinant => vec![compute_determinant(&a, count_rows(&a))],
        GeometryFunction::Inverse => invert_matrix(&a, count_rows(&a)),
        GeometryFunction::Refract => compute_refraction(&a, &b, c.first().copied()),
    };
    results.into_iter().map(NativeFloat::to_raw).collect()
}

/// The sum of products, from the first components on.
pub(crate) fn sum_products<T: NativeFloat>(a: &[T], b: &[T]) -> T {
    let mut products = a.iter().zip(b).map(|(a, b)| *a * *b);
    let first = products.next().unwrap_or_else(|| T::from_f64(0.0));
    products.fold(first, |sum, product| sum + product)
}

fn subtract<T: NativeFloat>(a: &[T], b: &[T]) -> Vec<T> {
    a.iter().zip(b).map(|(a, b)| *a - *b).collect()
}

fn compute_norm<T: NativeFloat>(v: &[T]) -> T {
    match v {
        [x] => x.abs(),
        _ => sum_products(v, v).sqrt(),
    }
}

/// A length, or 1 for that of a vector of zeros.
fn choose_divisor<T: NativeFloat>(length: T) -> T {
    if length == T::from_f64(0.0) {
        T::from_f64(1.0)
    } else {
        length
    }
}

/// A vector whose length neither overflows nor underflows.
struct RescaledVector<T> {
    components: Vec<T>,
    /// The factor from its length to that of the original.
    inverse: T,
    /// The factor by which a large vector was made smaller; 1 for others.
    shrunk: T,
    is_large: bool,
}

fn scale_vector<T: VectorFloat>(v: &[T]) -> RescaledVector<T> {
    let [limit, shrink, grow] = T::SCALES;
    let power = |exponent: i32| T::from_f64(2f64.powi(exponent));
    let mut largest = T::from_f64(0.0);
    let mut is_nan = false;
    for x in v {
        is_nan |= x.is_nan();
        if x.abs() > largest {
            largest = x.abs();
        }
    }
    let is_large = !is_nan && largest > power(limit);
    let is_small = !is_nan && largest < power(-limit);
    let exponent = match (is_large, is_small) {
        (true, _) => shrink,
        (_, true) => grow,
        _ => 0,
    };
    let scale = power(exponent);
    RescaledVector {
        components: v.iter().map(|x| *x * scale).collect(),
        inverse: power(-exponent),
        shrunk: if is_large { scale } else { power(0) },
        is_large,
    }
}

fn compute_exact_norm<T: VectorFloat>(v: &[T]) -> T {
    let scaled = scale_vector(v);
    compute_norm(&scaled.components) * scaled.inverse
}

fn normalize_exactly<T: VectorFloat>(v: &[T]) -> Vec<T> {
    let scaled = scale_vector(v);
    let divisor = choose_divisor(compute_norm(&scaled.components));
    let pairs = v.iter().zip(&scaled.components);
    pairs
        .map(|(original, component)| {
            // Small components of a large vector would vanish by its scale before the division.
            let dividend = if scaled.is_large {
                *original
            } else {
                *component
            };
            dividend / divisor * scaled.shrunk
        })
        .collect()
}

fn compute_cross<T: NativeFloat>(a: &[T], b: &[T]) -> Vec<T> {
    if a.len() < 3 || b.len() < 3 {
        return Vec::new();
    }
    let mut out: Vec<T> = (0..3)
        .map(|n| {
            let (i, j) = ((n + 1) % 3, (n + 2) % 3);
            a[i] * b[j] - a[j] * b[i]
        })
        .collect();
    if a.len() > 3 {
        out.push(T::from_f64(0.0));
    }
    out
}

/// The refraction of `i` at a surface with the normal `n`.
fn compute_refraction<T: NativeFloat>(i: &[T], n: &[T], eta: Option<T>) -> Vec<T> {
    let (zero, one) = (T::from_f64(0.0), T::from_f64(1.0));
    let eta = eta.unwrap_or(zero);
    let dot = sum_products(n, i);
    let k = one - eta * eta * (one - dot * dot);
    let factor = eta * dot + k.sqrt();
    let pairs = i.iter().zip(n);
    pairs
        .map(|(i, n)| {
            if k < zero {
                zero
            } else {
                eta * *i - factor * *n
            }
        })
        .collect()
}

/// Rows of a square matrix.
fn count_rows<T>(matrix: &[T]) -> usize {
    (1..=4).find(|n| n * n == matrix.len()).unwrap_or(1)
}

/// A square matrix without a column and a row.
fn remove_lines<T: NativeFloat>(matrix: &[T], size: usize, column: usize, row: usize) -> Vec<T> {
    let entries = matrix.iter().enumerate();
    entries
        .filter(|(at, _)| at / size != column && at % size != row)
        .map(|(_, entry)| *entry)
        .collect()
}

/// The determinant of a square matrix, by cofactors of its first row.
fn compute_determinant<T: NativeFloat>(matrix: &[T], size: usize) -> T {
    let mut sum = matrix.first().copied().unwrap_or_else(|| T::from_f64(0.0));
    for column in 0..size {
        if size == 1 {
            break;
        }
        let minor = compute_determinant(&remove_lines(matrix, size, column, 0), size - 1);
        let product = matrix[column * size] * minor;
        sum = match column {
            0 => product,
            column if column % 2 == 0 => sum + product,
            _ => sum - product,
        };
    }
    sum
}

/// The inverse of a square matrix, by the transpose of its cofactors.
fn invert_matrix<T: NativeFloat>(matrix: &[T], size: usize) -> Vec<T> {
    let one = T::from_f64(1.0);
    let factor = one / compute_determinant(matrix, size);
    let mut out = Vec::new();
    for column in 0..size {
        for row in 0..size {
            let minor = match size {
                1 => one,
                _ => compute_determinant(&remove_lines(matrix, size, row, column), size - 1),
            };
            out.push(
                if (column + row) % 2 == 0 {
                    minor
                } else {
                    -minor
                } * factor,
            );
        }
    }
    out
}
