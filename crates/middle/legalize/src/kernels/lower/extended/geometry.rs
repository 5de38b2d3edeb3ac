//! `length`, `distance` and `normalize`, whose results are right where squares of components overflow or vanish.
//!
//! Components are scaled by a power of two where the largest is very large or very small. Halves are computed in 32 bits.

use super::super::composites::expect_result;
use super::ShaderLowering;
use crate::kernels::module_info::MemoryScalar;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::{Op, glsl_std_450 as glsl};
use spirula_spirv::ir::InstRef;

/// Exponents of two for floats of a width.
struct NormScales {
    width: u32,
    /// Components whose size is above 2 to this, or below 2 to its negative, are scaled.
    bound: i32,
    /// Exponent of the factor of large components.
    shrink: i32,
    /// Exponent of the factor of small components.
    grow: i32,
}

const SCALES: [NormScales; 2] = [
    NormScales {
        width: 32,
        bound: 62,
        shrink: -66,
        grow: 90,
    },
    NormScales {
        width: 64,
        bound: 500,
        shrink: -600,
        grow: 700,
    },
];

/// The norm of a vector: that of its scaled components, and the factor which undoes the scale.
struct VectorNorm {
    root: Id,
    /// The scale of small components, and that of large ones. One of them is one.
    scales: [Id; 2],
    unscale: Id,
}

/// `length`
pub fn lower_length(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let vector = inst.id_operand(2);
    let (scalar, _) = l.find_component_scalar(vector)?;
    let lanes = l.lanes_of(vector)?;
    Ok(emit_length(l, scalar, lanes))
}

/// `distance`
pub fn lower_distance(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let (a, b) = (inst.id_operand(2), inst.id_operand(3));
    let (scalar, _) = l.find_component_scalar(a)?;
    let (part, _) = l.find_component_type(a)?;
    let pairs = l.lanes_of(a)?.into_iter().zip(l.lanes_of(b)?);
    let lanes: Vec<Id> = pairs
        .map(|(a, b)| l.emit_value(Op::FSub, part, &[a, b]))
        .collect();
    Ok(emit_length(l, scalar, lanes))
}

/// `normalize`. A vector with infinite components has the direction of these alone, and a vector of zeros stays.
pub fn lower_normalize(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let vector = inst.id_operand(2);
    let (scalar, count) = l.find_component_scalar(vector)?;
    let (width, lanes) = (work_width(scalar), l.lanes_of(vector)?);
    let lanes = convert_lanes(l, lanes, scalar.size() * 8, width);
    let (ty, truth) = (l.make_float_type(width), l.b.bool_type());
    let [zero, infinity] = [0.0, f64::INFINITY].map(|x| l.make_float_constant(width, x));
    let largest = emit_largest(l, ty, &lanes);
    let is_infinite = l.emit_value(Op::FOrdEqual, truth, &[largest, infinity]);
    let mut finite = Vec::new();
    for lane in &lanes {
        let size = l.emit_glsl(glsl::FABS, ty, &[*lane]);
        let own = l.emit_value(Op::FOrdEqual, truth, &[size, infinity]);
        let sign = l.emit_glsl(glsl::FSIGN, ty, &[*lane]);
        let nothing = l.emit_value(Op::FMul, ty, &[*lane, zero]);
        let direction = l.emit_value(Op::Select, ty, &[own, sign, nothing]);
        finite.push(l.emit_value(Op::Select, ty, &[is_infinite, direction, *lane]));
    }
    let norm = emit_norm(l, width, &finite);
    let is_zero = l.emit_value(Op::FOrdEqual, truth, &[norm.root, zero]);
    let mut parts = Vec::new();
    for (lane, finite) in lanes.into_iter().zip(finite) {
        // Components lose bits where they become denormal, so that they grow before the division, and shrink after it.
        let grown = l.emit_value(Op::FMul, ty, &[finite, norm.scales[0]]);
        let share = l.emit_value(Op::FDiv, ty, &[grown, norm.root]);
        let share = l.emit_value(Op::FMul, ty, &[share, norm.scales[1]]);
        parts.push(l.emit_value(Op::Select, ty, &[is_zero, lane, share]));
    }
    let parts = convert_lanes(l, parts, width, scalar.size() * 8);
    if count == 1 {
        return Ok(parts[0]);
    }
    let ty = l.result_type(expect_result(inst))?;
    Ok(l.construct_composite(ty, parts))
}

fn emit_length(l: &mut ShaderLowering<'_>, scalar: MemoryScalar, lanes: Vec<Id>) -> Id {
    let (own, width) = (scalar.size() * 8, work_width(scalar));
    let lanes = convert_lanes(l, lanes, own, width);
    let ty = l.make_float_type(width);
    let norm = emit_norm(l, width, &lanes);
    let length = l.emit_value(Op::FMul, ty, &[norm.root, norm.unscale]);
    convert_lanes(l, vec![length], width, own)[0]
}

/// The width in which floats are computed.
fn work_width(scalar: MemoryScalar) -> u32 {
    (scalar.size() * 8).max(32)
}

fn convert_lanes(l: &mut ShaderLowering<'_>, lanes: Vec<Id>, from: u32, to: u32) -> Vec<Id> {
    if from == to {
        return lanes;
    }
    let ty = l.make_float_type(to);
    let convert = |lane: Id| l.emit_value(Op::FConvert, ty, &[lane]);
    lanes.into_iter().map(convert).collect()
}

/// The largest size of a component.
fn emit_largest(l: &mut ShaderLowering<'_>, ty: Id, lanes: &[Id]) -> Id {
    let mut largest = l.emit_glsl(glsl::FABS, ty, &lanes[..1]);
    for lane in &lanes[1..] {
        let size = l.emit_glsl(glsl::FABS, ty, &[*lane]);
        largest = l.emit_glsl(glsl::NMAX, ty, &[largest, size]);
    }
    largest
}

fn emit_norm(l: &mut ShaderLowering<'_>, width: u32, lanes: &[Id]) -> VectorNorm {
    let (ty, truth) = (l.make_float_type(width), l.b.bool_type());
    let exponents = &SCALES[usize::from(width == SCALES[1].width)];
    let largest = emit_largest(l, ty, lanes);
    let power = |l: &mut ShaderLowering<'_>, exponent| {
        l.make_float_constant(width, f64::exp2(f64::from(exponent)))
    };
    let [high, low] = [exponents.bound, -exponents.bound].map(|exponent| power(l, exponent));
    let is_large = l.emit_value(Op::FOrdGreaterThan, truth, &[largest, high]);
    let is_small = l.emit_value(Op::FOrdLessThan, truth, &[largest, low]);
    let [scales, inverses] = [1, -1].map(|sign| {
        [(is_small, exponents.grow), (is_large, exponents.shrink)].map(|(applies, exponent)| {
            let [factor, one] = [sign * exponent, 0].map(|exponent| power(l, exponent));
            l.emit_value(Op::Select, ty, &[applies, factor, one])
        })
    });
    let [scale, unscale] = [scales, inverses].map(|factors| l.emit_value(Op::FMul, ty, &factors));
    let scaled: Vec<Id> = lanes
        .iter()
        .map(|lane| l.emit_value(Op::FMul, ty, &[*lane, scale]))
        .collect();
    let mut sum = l.emit_value(Op::FMul, ty, &[scaled[0], scaled[0]]);
    for lane in &scaled[1..] {
        sum = l.emit_multiply_add(ty, [*lane, *lane, sum]);
    }
    VectorNorm {
        root: l.emit_glsl(glsl::SQRT, ty, &[sum]),
        scales,
        unscale,
    }
}
