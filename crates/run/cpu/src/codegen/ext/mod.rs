//! Extended instructions: OpenCL.std and GLSL.std.450.
//!
//! The rows of [`opencl`] and [`glsl`] lower cheap instructions in place. All others call the functions of
//! `spirula_scalar`.

mod geometry;
mod glsl;
mod integers;
mod matrix;
mod opencl;
mod print;
pub(super) mod reals;
mod scalar_library;
mod vectors;

use super::lanes::{LaneDomain, LaneFn};
use super::lowering::ClifLowering;
use super::{ClifResult, arithmetic};
use crate::analysis::analysed_module::AnalysedModule;
use crate::module::typed_module::ExtSet;
use crate::module::types::ScalarRepr;
use spirula_scalar::table::ScalarExtSet;
use spirula_spirv::Id;
use spirula_spirv::grammar::ExtInstSet;
use spirula_spirv::ir::InstRef;

/// The rule by which an extended instruction is lowered in place.
#[derive(Clone, Copy)]
enum ClifExtInstRule {
    /// Component by component, on the bits.
    Bits(LaneFn),
    /// Component by component; halves are computed in `f32`.
    Real(LaneFn),
    /// By its own function.
    With(fn(&mut ClifLowering, InstRef) -> ClifResult),
    /// The instruction changes nothing.
    Nothing,
}

fn find_rule(set: ScalarExtSet, number: u32) -> Option<ClifExtInstRule> {
    let rows = match set {
        ScalarExtSet::OpenCl => opencl::ROWS,
        ScalarExtSet::Glsl => glsl::ROWS,
    };
    rows.iter().find(|row| row.0 == number).map(|row| row.1)
}

/// Checks that an `OpExtInst` can be lowered.
///
/// # Errors
/// The name of the instruction where it cannot be.
pub(crate) fn check_ext_inst(
    program: &AnalysedModule<'_>,
    inst: InstRef<'_>,
) -> Result<(), String> {
    let number = inst.operand_word(1);
    let set = match program.sets[inst.id_operand(0)] {
        Some(ExtSet::NonSemantic | ExtSet::DebugPrintf) => return Ok(()),
        Some(ExtSet::Scalar(set)) => set,
        Some(ExtSet::Unknown) | None => return Err("its extended instruction set".to_owned()),
    };
    if find_rule(set, number).is_some() || set.find_function(number).is_some() {
        return Ok(());
    }
    let set_name = match set {
        ScalarExtSet::OpenCl => "OpenCL.std",
        ScalarExtSet::Glsl => "GLSL.std.450",
    };
    let table = ExtInstSet::by_name(set_name);
    Err(match table.and_then(|t| t.instruction_by_number(number)) {
        Some(row) => format!("{} of {set_name}", row.name),
        None => format!("the instruction {number} of {set_name}"),
    })
}

/// `OpExtInst`.
pub(crate) fn lower_ext_inst(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let set = match lower.program.sets[inst.id_operand(0)] {
        Some(ExtSet::Scalar(set)) => set,
        Some(ExtSet::DebugPrintf) => return print::lower_debug_printf(lower, inst),
        _ => return Ok(()),
    };
    let number = inst.operand_word(1);
    let (domain, f) = match find_rule(set, number) {
        Some(ClifExtInstRule::Bits(f)) => (LaneDomain::Bits, f),
        Some(ClifExtInstRule::Real(f)) => (LaneDomain::Real, f),
        Some(ClifExtInstRule::With(f)) => return f(lower, inst),
        Some(ClifExtInstRule::Nothing) => return Ok(()),
        None => {
            return match set.find_function(number) {
                Some(function) => scalar_library::lower_host_call(lower, inst, function),
                None => lower.fail_unsupported("this extended instruction"),
            };
        }
    };
    lower_by_lanes(lower, inst, domain, f)
}

/// An extended instruction component by component.
/// `fma`: one rounding, which halves that are computed in `f32` would not have.
fn lower_fma(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let wide = [ScalarRepr::F32, ScalarRepr::F64];
    if wide.contains(&lower.component_scalar(lower.result_type(inst)?)?) {
        return lower_by_lanes(lower, inst, LaneDomain::Real, arithmetic::emit_fma);
    }
    match lower.program.sets[inst.id_operand(0)] {
        Some(ExtSet::Scalar(set)) => match set.find_function(inst.operand_word(1)) {
            Some(function) => scalar_library::lower_host_call(lower, inst, function),
            None => lower.fail_unsupported("a fused operation on this type"),
        },
        _ => lower.fail_unsupported("its extended instruction set"),
    }
}

fn lower_by_lanes(
    lower: &mut ClifLowering,
    inst: InstRef,
    domain: LaneDomain,
    f: LaneFn,
) -> ClifResult {
    let ty = lower.result_type(inst)?;
    let operands: Vec<Id> = inst.id_operands(2).collect();
    let values = lower.map_lanes(ty, &operands, domain, f)?;
    lower.set_result(inst.result(), &values)
}
