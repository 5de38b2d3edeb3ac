//! Address expressions: constants that are computed from addresses.
//!
//! Their normal form is the address of a global, minus the address of another, plus a number. Sizes
//! of types have this form (`ptrtoint (ptr getelementptr (T, ptr null, i32 1) to i64)`). So have
//! differences of addresses, which become numbers once both addresses are in the same global.

use crate::ir::{
    ConstKind, ExprExtra, GlobalKind, LlvmConst, LlvmConstantExpr, LlvmGlobal, LlvmModule,
    LlvmOpcode, LlvmType, LlvmTypeKind,
};
use rustc_hash::FxHashMap;

/// Nesting depth of constants beyond which no form is computed.
const MAX_DEPTH: u32 = 255;

/// `plus - minus + bytes`, modulo two to the power of the constant's width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AddressForm {
    pub(super) plus: Option<LlvmGlobal>,
    pub(super) minus: Option<LlvmGlobal>,
    pub(super) bytes: u64,
}

impl AddressForm {
    fn from_bytes(bytes: u64) -> Self {
        AddressForm {
            bytes,
            ..AddressForm::default()
        }
    }

    /// The number, if no address is left.
    pub(super) fn as_number(self) -> Option<u64> {
        (self.plus.is_none() && self.minus.is_none()).then_some(self.bytes)
    }

    fn negate(self) -> Self {
        AddressForm {
            plus: self.minus,
            minus: self.plus,
            bytes: self.bytes.wrapping_neg(),
        }
    }

    /// The sum, or `None` if more than one address would be added or subtracted.
    fn checked_add(self, other: Self) -> Option<Self> {
        let bytes = self.bytes.wrapping_add(other.bytes);
        let mut plus = [self.plus, other.plus];
        let mut minus = [self.minus, other.minus];
        for a in &mut plus {
            for b in &mut minus {
                if a == b {
                    (*a, *b) = (None, None);
                }
            }
        }
        let only = |pair: [Option<LlvmGlobal>; 2]| match pair {
            [Some(_), Some(_)] => None,
            [a, b] => Some(a.or(b)),
        };
        Some(AddressForm {
            plus: only(plus)?,
            minus: only(minus)?,
            bytes,
        })
    }
}

/// The forms of a module's constants, each computed once.
#[derive(Default)]
pub(super) struct AddressForms {
    known: FxHashMap<LlvmConst, Option<AddressForm>>,
    depth: u32,
}

impl AddressForms {
    /// The form of a pointer or integer, or `None` if it cannot be expressed in this form.
    pub(super) fn find_layout(
        &mut self,
        module: &LlvmModule,
        constant: LlvmConst,
    ) -> Option<AddressForm> {
        match module.consts.kind(constant) {
            ConstKind::Null => return Some(AddressForm::from_bytes(0)),
            ConstKind::Int(bits) => return Some(AddressForm::from_bytes(*bits)),
            ConstKind::Expr(_) | ConstKind::Global(_) => {}
            _ => return None,
        }
        if let Some(known) = self.known.get(&constant) {
            return *known;
        }
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let form = self.compute_layout(module, constant);
        self.depth -= 1;
        self.known.insert(constant, form);
        form
    }

    fn compute_layout(&mut self, module: &LlvmModule, constant: LlvmConst) -> Option<AddressForm> {
        match module.consts.kind(constant) {
            ConstKind::Global(global) => match module.global(*global).kind {
                GlobalKind::Alias(target) => self.find_layout(module, target.0?),
                _ => Some(AddressForm {
                    plus: Some(*global),
                    ..AddressForm::default()
                }),
            },
            ConstKind::Expr(expr) => {
                self.compute_expression_layout(module, module.consts.ty(constant), expr)
            }
            _ => None,
        }
    }

    fn compute_expression_layout(
        &mut self,
        module: &LlvmModule,
        ty: LlvmType,
        expr: &LlvmConstantExpr,
    ) -> Option<AddressForm> {
        let first = *expr.operands.first()?;
        let width = |ty: LlvmType| match module.types.address_space(ty) {
            Some(space) => Some(module.layout.pointer_width(space)),
            None => module.types.int_width(ty),
        };
        let (from, to) = (width(module.consts.ty(first)), width(ty)?);
        match expr.opcode {
            LlvmOpcode::GetElementPtr => {
                let base = self.find_layout(module, first)?;
                base.checked_add(AddressForm::from_bytes(constant_byte_offset(module, expr)?))
            }
            LlvmOpcode::Add | LlvmOpcode::Sub => {
                let left = self.find_layout(module, first)?;
                let right = self.find_layout(module, *expr.operands.get(1)?)?;
                match expr.opcode {
                    LlvmOpcode::Add => left.checked_add(right),
                    _ => left.checked_add(right.negate()),
                }
            }
            LlvmOpcode::BitCast | LlvmOpcode::AddrSpaceCast | LlvmOpcode::Trunc if from? >= to => {
                self.find_layout(module, first)
            }
            LlvmOpcode::PtrToInt
            | LlvmOpcode::PtrToAddr
            | LlvmOpcode::IntToPtr
            | LlvmOpcode::ZExt => {
                let form = self.find_layout(module, first)?;
                match form.as_number() {
                    Some(bytes) => Some(AddressForm::from_bytes(
                        bytes & super::shapes::make_width_mask(from?),
                    )),
                    None => (from? >= to).then_some(form),
                }
            }
            LlvmOpcode::SExt => {
                let bytes = self.find_layout(module, first)?.as_number()?;
                let unused = 64_u32.checked_sub(from?)?;
                Some(AddressForm::from_bytes(
                    ((bytes << unused) as i64 >> unused) as u64,
                ))
            }
            _ => None,
        }
    }
}

/// Number of bytes that an address computation with constant indices steps over, wrapped at 64
/// bits.
fn constant_byte_offset(module: &LlvmModule, expr: &LlvmConstantExpr) -> Option<u64> {
    let (types, layout) = (&module.types, &module.layout);
    let ExprExtra::SourceType(mut ty) = expr.extra else {
        return None;
    };
    let mut bytes = 0_u64;
    for (n, index) in expr.operands.iter().skip(1).enumerate() {
        let index = module.consts.as_i64(types, *index)?;
        let step = match types.kind(ty) {
            LlvmTypeKind::Struct { .. } if n > 0 => {
                let at = usize::try_from(index).ok()?;
                let offset = *layout.struct_layout(types, ty)?.offsets.get(at)?;
                ty = types.element_type(ty, index as u64)?;
                offset
            }
            _ => {
                if n > 0 {
                    let (LlvmTypeKind::Array { element, .. }
                    | LlvmTypeKind::Vector { element, .. }) = *types.kind(ty)
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
