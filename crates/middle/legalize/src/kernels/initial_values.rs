//! Initial values, scalar by scalar.

use crate::MOST_VALUE_SCALARS;
use crate::kernels::module_info::{KernelModuleInfo, MemoryScalar};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

/// Most scalars of an initial value.
const MOST: usize = MOST_VALUE_SCALARS * 64;

/// Visits the scalars of a constant of a type with their places in bytes; those of nulls are left out.
///
/// # Errors
/// When it is no constant that has a place in memory, or one of too many scalars.
pub fn visit_constant_scalars(
    facts: &KernelModuleInfo<'_>,
    constant: Id,
    ty: Id,
    visit: &mut dyn FnMut(Id, MemoryScalar, u64) -> Result<(), SourceDiagnostic>,
) -> Result<(), SourceDiagnostic> {
    let mut work = vec![(constant, ty, 0_u64)];
    let mut left = MOST;
    while let Some((constant, ty, at)) = work.pop() {
        left = left
            .checked_sub(1)
            .ok_or_else(|| facts.diagnose_id(constant, "so large a constant"))?;
        if let Some(scalar) = facts.classify_scalar(ty) {
            visit(constant, scalar, at)?;
            continue;
        }
        let def = facts.find_definition(constant)?;
        match def.op() {
            Op::ConstantNull | Op::Undef => {}
            Op::ConstantComposite | Op::SpecConstantComposite => {
                for (n, id) in def.id_operands(0).enumerate() {
                    let (part, offset) = find_component(facts, ty, n)?;
                    work.push((id, part, at + offset));
                }
            }
            op => return Err(facts.diagnose_id(constant, &format!("{op} as an initial value"))),
        }
    }
    Ok(())
}

/// The type of a part of a composite, and its offset in bytes.
fn find_component(
    facts: &KernelModuleInfo<'_>,
    ty: Id,
    n: usize,
) -> Result<(Id, u64), SourceDiagnostic> {
    let def = facts.find_definition(ty)?;
    match def.op() {
        Op::TypeStruct => {
            let member = def.get_id(n);
            let member = member.ok_or_else(|| facts.diagnose_id(ty, "this constant"))?;
            Ok((member, facts.layouts.member_layout(ty, n as u32).offset))
        }
        Op::TypeVector | Op::TypeArray => {
            Ok((def.id_operand(0), n as u64 * facts.layouts.get(ty).stride))
        }
        op => Err(facts.diagnose_id(ty, &format!("{op} in memory"))),
    }
}

/// Writes a scalar's bits to its place.
///
/// # Errors
/// When it is beyond the end.
pub fn write_scalar(
    facts: &KernelModuleInfo<'_>,
    constant: Id,
    (bits, scalar): (u64, MemoryScalar),
    at: u64,
    out: &mut [u8],
) -> Result<(), SourceDiagnostic> {
    let size = scalar.size() as usize;
    let at = usize::try_from(at).unwrap_or(usize::MAX);
    let room = at.checked_add(size).and_then(|end| out.get_mut(at..end));
    let room = room.ok_or_else(|| facts.diagnose_id(constant, "this constant"))?;
    room.copy_from_slice(&bits.to_le_bytes()[..size]);
    Ok(())
}
