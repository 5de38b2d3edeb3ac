//! Initial values of variables, visited and written scalar by scalar.

use crate::MOST_VALUE_SCALARS;
use crate::kernels::module_info::{KernelModuleInfo, MemoryScalar};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

/// Most scalars of an initial value.
const MOST: usize = MOST_VALUE_SCALARS * 64;

/// Visits the scalars of a constant of a type with their offsets in bytes. Null scalars are skipped.
///
/// # Errors
/// When it is no constant that can be in memory, or has too many scalars.
pub fn visit_constant_scalars(
    info: &KernelModuleInfo<'_>,
    constant: Id,
    ty: Id,
    visit: &mut dyn FnMut(Id, MemoryScalar, u64) -> Result<(), SourceDiagnostic>,
) -> Result<(), SourceDiagnostic> {
    let mut work = vec![(constant, ty, 0_u64)];
    let mut left = MOST;
    while let Some((constant, ty, at)) = work.pop() {
        left = left
            .checked_sub(1)
            .ok_or_else(|| info.diagnose_id(constant, "so large a constant"))?;
        if let Some(scalar) = info.classify_scalar(ty) {
            visit(constant, scalar, at)?;
            continue;
        }
        let def = info.find_definition(constant)?;
        match def.op() {
            Op::ConstantNull | Op::Undef => {}
            Op::ConstantComposite | Op::SpecConstantComposite => {
                for (n, id) in def.id_operands(0).enumerate() {
                    let (part, offset) = find_component(info, ty, n)?;
                    work.push((id, part, at + offset));
                }
            }
            op => return Err(info.diagnose_id(constant, &format!("{op} as an initial value"))),
        }
    }
    Ok(())
}

/// The type of a component of a composite, and its offset in bytes.
fn find_component(
    info: &KernelModuleInfo<'_>,
    ty: Id,
    n: usize,
) -> Result<(Id, u64), SourceDiagnostic> {
    let def = info.find_definition(ty)?;
    match def.op() {
        Op::TypeStruct => {
            let member = def.get_id(n);
            let member = member.ok_or_else(|| info.diagnose_id(ty, "this constant"))?;
            Ok((member, info.layouts.member_layout(ty, n as u32).offset))
        }
        Op::TypeVector | Op::TypeArray => {
            Ok((def.id_operand(0), n as u64 * info.layouts.get(ty).stride))
        }
        op => Err(info.diagnose_id(ty, &format!("{op} in memory"))),
    }
}

/// Writes the bits of a scalar at an offset.
///
/// # Errors
/// When the offset is beyond the end.
pub fn write_scalar(
    info: &KernelModuleInfo<'_>,
    constant: Id,
    bits: u64,
    scalar: MemoryScalar,
    at: u64,
    out: &mut [u8],
) -> Result<(), SourceDiagnostic> {
    let size = scalar.size() as usize;
    let at = usize::try_from(at).unwrap_or(usize::MAX);
    let room = at.checked_add(size).and_then(|end| out.get_mut(at..end));
    let room = room.ok_or_else(|| info.diagnose_id(constant, "this constant"))?;
    room.copy_from_slice(&bits.to_le_bytes()[..size]);
    Ok(())
}
