//! Functions on whole vectors.

use crate::codegen::lowering::ClifLowering;
use crate::codegen::{ClifResult, ClifScalars};
use crate::module::types::ScalarRepr;
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::ir::InstRef;

/// The operands, halves widened, and the component type of the result.
fn read_operands(
    lower: &mut ClifLowering,
    inst: InstRef,
) -> Result<(Vec<ClifScalars>, ScalarRepr), SourceDiagnostic> {
    let ty = lower.result_type(inst)?;
    let scalar = lower.component_scalar(ty)?;
    let all: Result<Vec<ClifScalars>, SourceDiagnostic> = inst
        .id_operands(2)
        .map(|id| lower.read_widened_floats(id))
        .collect();
    Ok((all?, scalar))
}

fn set_narrowed_result(
    lower: &mut ClifLowering,
    inst: InstRef,
    scalar: ScalarRepr,
    values: &[Value],
) -> ClifResult {
    let values: ClifScalars = values
        .iter()
        .map(|v| lower.narrow_to_half(scalar, *v))
        .collect();
    lower.set_result(inst.result(), &values)
}

fn emit_norm(lower: &mut ClifLowering, scalar: ScalarRepr, v: &[Value]) -> Value {
    if let [x] = v {
        return lower.builder.ins().fabs(*x);
    }
    let sum = lower.sum_of_products(scalar, v, v);
    lower.builder.ins().sqrt(sum)
}

fn emit_differences(lower: &mut ClifLowering, a: &[Value], b: &[Value]) -> ClifScalars {
    let pairs = a.iter().zip(b);
    pairs
        .map(|(a, b)| lower.builder.ins().fsub(*a, *b))
        .collect()
}

pub(super) fn lower_length(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let (v, scalar) = read_operands(lower, inst)?;
    let length = emit_norm(lower, scalar, &v[0]);
    set_narrowed_result(lower, inst, scalar, &[length])
}

pub(super) fn lower_distance(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let (v, scalar) = read_operands(lower, inst)?;
    let way = emit_differences(lower, &v[0], &v[1]);
    let length = emit_norm(lower, scalar, &way);
    set_narrowed_result(lower, inst, scalar, &[length])
}

/// A vector whose length can be computed without overflow and underflow.
struct ScaledVector {
    components: ClifScalars,
    /// The factor from its length to that of the original: a power of two, 1 for vectors of usual size.
    inverse: Value,
    /// Whether the original is so large that it was scaled down, and the factor of that.
    shrunk: (Value, Value),
}

fn emit_scaled_vector(lower: &mut ClifLowering, scalar: ScalarRepr, v: &[Value]) -> ScaledVector {
    // Halves are computed in `f32`, which holds all their squares.
    let (limit, shrink, grow) = match scalar {
        ScalarRepr::F64 => (500, -700, 800),
        _ => (60, -100, 100),
    };
    let mut largest = lower.builder.ins().fabs(v[0]);
    for x in &v[1..] {
        let size = lower.builder.ins().fabs(*x);
        largest = lower.builder.ins().fmax(largest, size);
    }
    let mut power = |exponent: i32| lower.make_float_constant(v[0], 2.0_f64.powi(exponent));
    let (high, low) = (power(limit), power(-limit));
    let scales = [power(0), power(shrink), power(grow)];
    let factors = [power(0), power(-shrink), power(-grow)];
    let is_large = lower
        .builder
        .ins()
        .fcmp(FloatCC::GreaterThan, largest, high);
    let is_small = lower.builder.ins().fcmp(FloatCC::LessThan, largest, low);
    let mut choose = |values: [Value; 3]| {
        let usual = lower.builder.ins().select(is_small, values[2], values[0]);
        lower.builder.ins().select(is_large, values[1], usual)
    };
    let (scale, inverse) = (choose(scales), choose(factors));
    let one = scales[0];
    let shrunk = lower.builder.ins().select(is_large, scale, one);
    let components = v.iter().map(|x| lower.builder.ins().fmul(*x, scale));
    ScaledVector {
        components: components.collect(),
        inverse,
        shrunk: (is_large, shrunk),
    }
}

fn emit_exact_norm(lower: &mut ClifLowering, scalar: ScalarRepr, v: &[Value]) -> Value {
    let scaled = emit_scaled_vector(lower, scalar, v);
    let norm = emit_norm(lower, scalar, &scaled.components);
    lower.builder.ins().fmul(norm, scaled.inverse)
}

/// `length` of OpenCL, whose intermediate results neither overflow nor underflow.
pub(super) fn lower_exact_length(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let (v, scalar) = read_operands(lower, inst)?;
    let length = emit_exact_norm(lower, scalar, &v[0]);
    set_narrowed_result(lower, inst, scalar, &[length])
}

/// `distance` of OpenCL, likewise.
pub(super) fn lower_exact_distance(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let (v, scalar) = read_operands(lower, inst)?;
    let way = emit_differences(lower, &v[0], &v[1]);
    let length = emit_exact_norm(lower, scalar, &way);
    set_narrowed_result(lower, inst, scalar, &[length])
}

/// `normalize` of OpenCL, likewise.
pub(super) fn lower_exact_normalize(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let (v, scalar) = read_operands(lower, inst)?;
    let scaled = emit_scaled_vector(lower, scalar, &v[0]);
    let length = emit_norm(lower, scalar, &scaled.components);
    let divisor = emit_divisor(lower, length);
    let (is_large, shrunk) = scaled.shrunk;
    let pairs = v[0].iter().zip(&scaled.components);
    let out: ClifScalars = pairs
        .map(|(original, component)| {
            // Small components of a large vector would vanish by its scale before the division.
            let dividend = lower.builder.ins().select(is_large, *original, *component);
            let quotient = lower.builder.ins().fdiv(dividend, divisor);
            lower.builder.ins().fmul(quotient, shrunk)
        })
        .collect();
    set_narrowed_result(lower, inst, scalar, &out)
}

/// A vector of length 0 stays as it is.
pub(super) fn lower_normalize(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let (v, scalar) = read_operands(lower, inst)?;
    let length = emit_norm(lower, scalar, &v[0]);
    let divisor = emit_divisor(lower, length);
    let out: ClifScalars = (v[0].iter())
        .map(|x| lower.builder.ins().fdiv(*x, divisor))
        .collect();
    set_narrowed_result(lower, inst, scalar, &out)
}

/// A length, or 1 for that of a vector of zeros.
fn emit_divisor(lower: &mut ClifLowering, length: Value) -> Value {
    let zero = lower.zero_like(length);
    let one = lower.make_float_constant(length, 1.0);
    let none = lower.builder.ins().fcmp(FloatCC::Equal, length, zero);
    lower.builder.ins().select(none, one, length)
}

/// The cross product of three components. A fourth component becomes 0.
pub(super) fn lower_cross(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let (v, scalar) = read_operands(lower, inst)?;
    let (a, b) = (&v[0], &v[1]);
    if a.len() < 3 || b.len() < 3 {
        return Err(lower.instruction_fault("its operands have too few components"));
    }
    let mut out = ClifScalars::new();
    for n in 0..3 {
        let (i, j) = ((n + 1) % 3, (n + 2) % 3);
        let first = lower.builder.ins().fmul(a[i], b[j]);
        let second = lower.builder.ins().fmul(a[j], b[i]);
        out.push(lower.builder.ins().fsub(first, second));
    }
    if a.len() > 3 {
        out.push(lower.zero_like(a[0]));
    }
    set_narrowed_result(lower, inst, scalar, &out)
}

/// N where Nref points against I, else −N; operands N, I, Nref.
pub(super) fn face_forward(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let (v, scalar) = read_operands(lower, inst)?;
    let dot = lower.sum_of_products(scalar, &v[2], &v[1]);
    let zero = lower.zero_like(dot);
    let against = lower.builder.ins().fcmp(FloatCC::LessThan, dot, zero);
    let mut out = ClifScalars::new();
    for n in &v[0] {
        let turned = lower.builder.ins().fneg(*n);
        out.push(lower.builder.ins().select(against, *n, turned));
    }
    set_narrowed_result(lower, inst, scalar, &out)
}

/// I − 2·dot(N, I)·N.
pub(super) fn lower_reflect(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let (v, scalar) = read_operands(lower, inst)?;
    let dot = lower.sum_of_products(scalar, &v[1], &v[0]);
    let twice = lower.builder.ins().fadd(dot, dot);
    let mut out = ClifScalars::new();
    for (i, n) in v[0].iter().zip(&v[1]) {
        let part = lower.builder.ins().fmul(twice, *n);
        out.push(lower.builder.ins().fsub(*i, part));
    }
    set_narrowed_result(lower, inst, scalar, &out)
}

/// k = 1 − eta²·(1 − dot(N, I)²); 0 where k < 0, else eta·I − (eta·dot(N, I) + √k)·N.
pub(super) fn lower_refract(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let (v, scalar) = read_operands(lower, inst)?;
    let eta = v[2][0];
    let dot = lower.sum_of_products(scalar, &v[1], &v[0]);
    let one = lower.make_float_constant(dot, 1.0);
    let zero = lower.zero_like(dot);
    let square = lower.builder.ins().fmul(dot, dot);
    let rest = lower.builder.ins().fsub(one, square);
    let eta_square = lower.builder.ins().fmul(eta, eta);
    let product = lower.builder.ins().fmul(eta_square, rest);
    let k = lower.builder.ins().fsub(one, product);
    let none = lower.builder.ins().fcmp(FloatCC::LessThan, k, zero);
    let root = lower.builder.ins().sqrt(k);
    let along = lower.builder.ins().fmul(eta, dot);
    let factor = lower.builder.ins().fadd(along, root);
    let mut out = ClifScalars::new();
    for (i, n) in v[0].iter().zip(&v[1]) {
        let first = lower.builder.ins().fmul(eta, *i);
        let second = lower.builder.ins().fmul(factor, *n);
        let bent = lower.builder.ins().fsub(first, second);
        out.push(lower.builder.ins().select(none, zero, bent));
    }
    set_narrowed_result(lower, inst, scalar, &out)
}
