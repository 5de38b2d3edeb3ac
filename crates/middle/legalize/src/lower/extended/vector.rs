//! Functions of whole vectors.

use super::super::composites::result;
use super::ShaderLowering;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::{Op, glsl_std_450 as glsl};
use spirula_spirv::ir::InstRef;

/// `select`: by the highest bit of each component, or whether a scalar is not zero.
pub fn select(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let operands = [inst.id(2), inst.id(3), inst.id(4)];
    let (scalar, count) = l.scalars(operands[2])?;
    let zero = l.number(scalar.size() * 8, 0);
    let truth = l.b.bool();
    l.each_scalar(inst, &operands, |l, ty, v| {
        let is_second = match count {
            1 => l.op(Op::INotEqual, truth, &[v[2], zero]),
            _ => l.op(Op::SLessThan, truth, &[v[2], zero]),
        };
        l.op(Op::Select, ty, &[is_second, v[1], v[0]])
    })
}

/// `shuffle` and `shuffle2`: components by numbers of which only the low bits count.
pub fn shuffle(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let operands: Vec<Id> = inst.ids(2).collect();
    let (mask, sources) = match operands.split_last() {
        Some(parts) => parts,
        None => return Err(crate::facts::refuse(inst, "this shuffle")),
    };
    let mut lanes = Vec::new();
    for source in sources {
        lanes.extend(l.lanes_of(*source)?);
    }
    let (scalar, _) = l.scalars(*mask)?;
    let width = scalar.size() * 8;
    let picks = l.lanes_of(*mask)?;
    let (part, _) = l.shape(result(inst))?;
    let (truth, number) = (l.b.bool(), l.int(width));
    let low = l.number(width, lanes.len().next_power_of_two() as u64 - 1);
    let mut parts = Vec::new();
    for pick in picks {
        let pick = l.op(Op::BitwiseAnd, number, &[pick, low]);
        let mut chosen = lanes[0];
        for (n, lane) in lanes.iter().enumerate().skip(1) {
            let n = l.number(width, n as u64);
            let is = l.op(Op::IEqual, truth, &[pick, n]);
            chosen = l.op(Op::Select, part, &[is, *lane, chosen]);
        }
        parts.push(chosen);
    }
    let ty = l.result_type(result(inst))?;
    Ok(l.construct(ty, parts))
}

/// `cross`, of four components as of three.
pub fn cross(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let (part, count) = l.shape(result(inst))?;
    let (scalar, _) = l.scalars(result(inst))?;
    let three = l.vector(part, 3);
    let mut operands = Vec::new();
    for operand in [inst.id(2), inst.id(3)] {
        let mut lanes = l.lanes_of(operand)?;
        lanes.truncate(3);
        operands.push(l.construct(three, lanes));
    }
    let product = l.glsl(glsl::CROSS, three, &operands);
    if count == 3 {
        return Ok(product);
    }
    let mut lanes = l.lanes(part, product, 3);
    lanes.push(l.real(scalar.size() * 8, 0.0));
    let ty = l.vector(part, 4);
    Ok(l.construct(ty, lanes))
}
