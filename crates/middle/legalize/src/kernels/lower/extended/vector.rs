//! Extended instructions on whole vectors.

use super::super::composites::expect_result;
use super::ShaderLowering;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::{Op, glsl_std_450 as glsl};
use spirula_spirv::ir::InstRef;

/// `select`: by the highest bit of each component, or whether a scalar is not zero.
pub fn lower_select_builtin(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let operands = [inst.id_operand(2), inst.id_operand(3), inst.id_operand(4)];
    let (scalar, count) = l.find_component_scalar(operands[2])?;
    let zero = l.make_uint_constant(scalar.size() * 8, 0);
    let truth = l.b.bool_type();
    l.each_scalar(inst, &operands, |l, ty, v| {
        let is_second = match count {
            1 => l.emit_value(Op::INotEqual, truth, &[v[2], zero]),
            _ => l.emit_value(Op::SLessThan, truth, &[v[2], zero]),
        };
        l.emit_value(Op::Select, ty, &[is_second, v[1], v[0]])
    })
}

/// `shuffle` and `shuffle2`: components by indices of which only the low bits count.
pub fn lower_shuffle_builtin(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let operands: Vec<Id> = inst.id_operands(2).collect();
    let (mask, sources) = match operands.split_last() {
        Some(parts) => parts,
        None => {
            return Err(crate::error::diagnose_instruction(inst, "this shuffle"));
        }
    };
    let mut lanes = Vec::new();
    for source in sources {
        lanes.extend(l.lanes_of(*source)?);
    }
    let (scalar, _) = l.find_component_scalar(*mask)?;
    let width = scalar.size() * 8;
    let picks = l.lanes_of(*mask)?;
    let (part, _) = l.find_component_type(expect_result(inst))?;
    let (truth, number) = (l.b.bool_type(), l.make_int_type(width));
    let low = l.make_uint_constant(width, lanes.len().next_power_of_two() as u64 - 1);
    let mut parts = Vec::new();
    for pick in picks {
        let pick = l.emit_value(Op::BitwiseAnd, number, &[pick, low]);
        let mut chosen = lanes[0];
        for (n, lane) in lanes.iter().enumerate().skip(1) {
            let n = l.make_uint_constant(width, n as u64);
            let is = l.emit_value(Op::IEqual, truth, &[pick, n]);
            chosen = l.emit_value(Op::Select, part, &[is, *lane, chosen]);
        }
        parts.push(chosen);
    }
    let ty = l.result_type(expect_result(inst))?;
    Ok(l.construct_composite(ty, parts))
}

/// `cross`, of three or four components.
pub fn lower_cross(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let (part, count) = l.find_component_type(expect_result(inst))?;
    let (scalar, _) = l.find_component_scalar(expect_result(inst))?;
    let three = l.make_vector_type(part, 3);
    let mut operands = Vec::new();
    for operand in [inst.id_operand(2), inst.id_operand(3)] {
        let mut lanes = l.lanes_of(operand)?;
        lanes.truncate(3);
        operands.push(l.construct_composite(three, lanes));
    }
    let product = l.emit_glsl(glsl::CROSS, three, &operands);
    if count == 3 {
        return Ok(product);
    }
    let mut lanes = l.split_components(part, product, 3);
    lanes.push(l.make_float_constant(scalar.size() * 8, 0.0));
    let ty = l.make_vector_type(part, 4);
    Ok(l.construct_composite(ty, lanes))
}
