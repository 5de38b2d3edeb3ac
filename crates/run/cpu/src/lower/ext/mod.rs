//! Extended instructions: OpenCL.std and GLSL.std.450.
//!
//! What is cheap is lowered in place, by the rows of [`opencl`] and [`glsl`]; the rest calls the
//! functions of `spirula_scalar`.

mod geometry;
mod glsl;
mod host;
mod matrix;
mod opencl;
mod print;
pub(super) mod real;
mod vectors;
mod whole;

use super::lanes::{LaneDomain, LaneFn};
use super::scope::ClifLowering;
use super::{ClifResult, arithmetic};
use crate::program::{AnalysedModule, ExtSet};
use crate::types::ScalarRepr;
use spirula_scalar::table::ScalarExtSet;
use spirula_spirv::Id;
use spirula_spirv::grammar::ExtInstSet;
use spirula_spirv::ir::InstRef;

/// How an extended instruction is lowered in place.
#[derive(Clone, Copy)]
enum ClifExtInstRule {
    /// Component by component, on the bits.
    Bits(LaneFn),
    /// Component by component; halves are computed in `f32`.
    Real(LaneFn),
    /// By a function of its own.
    With(fn(&mut ClifLowering, InstRef) -> ClifResult),
    /// It changes nothing.
    Nothing,
}

fn row(set: ScalarExtSet, number: u32) -> Option<ClifExtInstRule> {
    let rows = match set {
        ScalarExtSet::OpenCl => opencl::ROWS,
        ScalarExtSet::Glsl => glsl::ROWS,
    };
    rows.iter().find(|row| row.0 == number).map(|row| row.1)
}

/// Whether an `OpExtInst` can be lowered at all; else what to call it.
pub(crate) fn check(program: &AnalysedModule<'_>, inst: InstRef<'_>) -> Result<(), String> {
    let number = inst.word(1);
    let set = match program.sets[inst.id(0)] {
        Some(ExtSet::NonSemantic | ExtSet::DebugPrintf) => return Ok(()),
        Some(ExtSet::Scalar(set)) => set,
        Some(ExtSet::Unknown) | None => return Err("its extended instruction set".to_owned()),
    };
    if row(set, number).is_some() || set.function(number).is_some() {
        return Ok(());
    }
    let set_name = match set {
        ScalarExtSet::OpenCl => "OpenCL.std",
        ScalarExtSet::Glsl => "GLSL.std.450",
    };
    let table = ExtInstSet::by_name(set_name);
    Err(match table.and_then(|t| t.instruction(number)) {
        Some(row) => format!("{} of {set_name}", row.name),
        None => format!("the instruction {number} of {set_name}"),
    })
}

/// `OpExtInst`.
pub(crate) fn lower(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let set = match lower.program.sets[inst.id(0)] {
        Some(ExtSet::Scalar(set)) => set,
        Some(ExtSet::DebugPrintf) => return print::debug(lower, inst),
        _ => return Ok(()),
    };
    let number = inst.word(1);
    let (domain, f) = match row(set, number) {
        Some(ClifExtInstRule::Bits(f)) => (LaneDomain::Bits, f),
        Some(ClifExtInstRule::Real(f)) => (LaneDomain::Real, f),
        Some(ClifExtInstRule::With(f)) => return f(lower, inst),
        Some(ClifExtInstRule::Nothing) => return Ok(()),
        None => {
            return match set.function(number) {
                Some(function) => host::lower(lower, inst, function),
                None => lower.unsupported("this extended instruction"),
            };
        }
    };
    by_lanes(lower, inst, domain, f)
}

/// An extended instruction component by component.
/// `fma`: one rounding, which halves that are computed in `f32` would not have.
fn fma(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let wide = [ScalarRepr::F32, ScalarRepr::F64];
    if wide.contains(&lower.component(lower.result_type(inst)?)?) {
        return by_lanes(lower, inst, LaneDomain::Real, arithmetic::fma);
    }
    match lower.program.sets[inst.id(0)] {
        Some(ExtSet::Scalar(set)) => match set.function(inst.word(1)) {
            Some(function) => host::lower(lower, inst, function),
            None => lower.unsupported("a fused operation on this type"),
        },
        _ => lower.unsupported("its extended instruction set"),
    }
}

fn by_lanes(lower: &mut ClifLowering, inst: InstRef, domain: LaneDomain, f: LaneFn) -> ClifResult {
    let ty = lower.result_type(inst)?;
    let operands: Vec<Id> = inst.ids(2).collect();
    let values = lower.map_lanes(ty, &operands, domain, f)?;
    lower.set_result(inst.result(), &values)
}
