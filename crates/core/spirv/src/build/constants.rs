//! Uniqued constants of the module builder.

use super::SpirvBuilder;
use crate::Id;
use crate::grammar::Op;

impl SpirvBuilder {
    /// A constant by its opcode, type and operands, once for equal ones.
    pub fn declare_constant(&mut self, op: Op, ty: Id, operands: &[u32]) -> Id {
        self.intern_typed(op, ty, operands)
    }

    /// `OpConstantTrue` or `OpConstantFalse`.
    pub fn constant_bool(&mut self, value: bool) -> Id {
        let ty = self.bool_type();
        self.declare_constant(
            if value {
                Op::ConstantTrue
            } else {
                Op::ConstantFalse
            },
            ty,
            &[],
        )
    }

    /// `OpConstant` of an integer or float type from its bits, in as many words as the width needs. Integers
    /// narrower than 32 bits are sign-extended if the type is signed, and zero-extended otherwise; `value` must
    /// already have this form.
    pub fn constant_bits(&mut self, ty: Id, width: u32, value: u64) -> Id {
        let words = [value as u32, (value >> 32) as u32];
        self.declare_constant(
            Op::Constant,
            ty,
            if width > 32 { &words } else { &words[..1] },
        )
    }

    /// An unsigned 32-bit constant: scopes, semantics, sizes.
    pub fn constant_u32(&mut self, value: u32) -> Id {
        let ty = self.int_type(32, false);
        self.constant_bits(ty, 32, value.into())
    }

    /// An unsigned 64-bit constant.
    pub fn constant_u64(&mut self, value: u64) -> Id {
        let ty = self.int_type(64, false);
        self.constant_bits(ty, 64, value)
    }

    /// An `f32` constant.
    pub fn constant_f32(&mut self, value: f32) -> Id {
        let ty = self.float_type(32);
        self.constant_bits(ty, 32, value.to_bits().into())
    }

    /// `OpConstantNull`.
    pub fn constant_null(&mut self, ty: Id) -> Id {
        self.declare_constant(Op::ConstantNull, ty, &[])
    }

    /// `OpUndef` at module level.
    pub fn declare_undef(&mut self, ty: Id) -> Id {
        self.declare_constant(Op::Undef, ty, &[])
    }

    /// `OpConstantComposite`.
    pub fn constant_composite(&mut self, ty: Id, parts: &[Id]) -> Id {
        let words: Vec<u32> = parts.iter().map(|p| p.word()).collect();
        self.declare_constant(Op::ConstantComposite, ty, &words)
    }
}
