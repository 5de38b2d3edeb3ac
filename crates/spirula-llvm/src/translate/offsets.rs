//! Addresses behind null, which is how constant expressions write sizes and offsets:
//! `ptrtoint (ptr getelementptr (T, ptr null, i32 1) to i64)`.

use crate::ir::{Const, ConstKind, ExprExtra, Module, Opcode, TypeKind};

/// Bytes from null to a constant address, where they are known; wrapped at 64 bits.
pub(super) fn behind_null(module: &Module, constant: Const) -> Option<u64> {
    let (types, layout) = (&module.types, &module.layout);
    let expr = match module.consts.kind(constant) {
        ConstKind::Null => return Some(0),
        ConstKind::Expr(expr) if expr.opcode == Opcode::GetElementPtr => expr,
        _ => return None,
    };
    let (base, indices) = expr.operands.split_first()?;
    let ExprExtra::SourceType(mut ty) = expr.extra else {
        return None;
    };
    if *module.consts.kind(*base) != ConstKind::Null {
        return None;
    }
    let mut bytes = 0_u64;
    for (n, index) in indices.iter().enumerate() {
        let index = module.consts.as_i64(types, *index)?;
        let step = match types.kind(ty) {
            TypeKind::Struct { .. } if n > 0 => {
                let at = usize::try_from(index).ok()?;
                let offset = *layout.struct_layout(types, ty)?.offsets.get(at)?;
                ty = types.element(ty, index as u64)?;
                offset
            }
            _ => {
                if n > 0 {
                    let (TypeKind::Array { element, .. } | TypeKind::Vector { element, .. }) =
                        *types.kind(ty)
                    else {
                        return None;
                    };
                    ty = element;
                }
                layout.alloc_size(types, ty)?.wrapping_mul(index as u64)
            }
        };
        bytes = bytes.wrapping_add(step);
    }
    Some(bytes)
}
