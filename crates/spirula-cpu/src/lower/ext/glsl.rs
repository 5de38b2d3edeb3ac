//! The instructions of GLSL.std.450 that are lowered in place, by number.

use super::Row::{self, Bits, Real, With};
use super::{geometry, host, matrix, real, whole};
use crate::lower::lanes::Domain;
use crate::lower::scope::Lower;
use crate::lower::{Done, arithmetic};
use crate::types::Scalar;
use spirula_scalar::table::Set;
use spirula_spirv::ir::InstRef;

pub(super) const ROWS: &[(u32, Row)] = &[
    (1, Real(real::nearest)),
    (2, Real(real::nearest)),
    (3, Real(real::trunc)),
    (4, Real(real::abs)),
    (5, Bits(whole::abs)),
    (8, Real(real::floor)),
    (9, Real(real::ceil)),
    (10, Real(real::fraction)),
    (31, Real(real::sqrt)),
    (32, Real(real::inverse_sqrt)),
    (33, With(matrix::determinant)),
    (34, With(matrix::inverse)),
    (37, Real(real::min)),
    (38, Bits(whole::min_unsigned)),
    (39, Bits(whole::min_signed)),
    (40, Real(real::max)),
    (41, Bits(whole::max_unsigned)),
    (42, Bits(whole::max_signed)),
    (43, Real(real::clamp)),
    (44, Bits(whole::clamp_unsigned)),
    (45, Bits(whole::clamp_signed)),
    (46, Real(real::blend)),
    (48, Real(real::step)),
    (50, With(fma)),
    (66, With(geometry::length)),
    (67, With(geometry::distance)),
    (68, With(geometry::cross)),
    (69, With(geometry::normalize)),
    (70, With(geometry::face_forward)),
    (71, With(geometry::reflect)),
    (72, With(geometry::refract)),
    (79, Real(real::min)),
    (80, Real(real::max)),
    (81, Real(real::clamp)),
];

/// `Fma`: one rounding, which halves that are computed in `f32` would not have.
fn fma(lower: &mut Lower, inst: InstRef) -> Done {
    let is_wide = matches!(
        lower.component(lower.result_type(inst)?)?,
        Scalar::F32 | Scalar::F64
    );
    match Set::Glsl.function(inst.word(1)) {
        Some(function) if !is_wide => host::lower(lower, inst, function),
        _ => super::by_lanes(lower, inst, Domain::Real, arithmetic::fma),
    }
}
