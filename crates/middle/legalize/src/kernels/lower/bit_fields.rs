//! Bit fields of integers of any width; Vulkan has instructions for 32 bits only.

use super::ShaderLowering;
use super::composites::expect_result;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

impl ShaderLowering<'_> {
    /// A mask of low bits.
    fn low_bits(&mut self, width: u32, count: Id) -> Id {
        let (ty, truth) = (self.make_int_type(width), self.b.bool_type());
        let (one, all, most) = (
            self.make_uint_constant(width, 1),
            self.make_uint_constant(width, u64::MAX >> (64 - width)),
            self.make_uint_constant(width, width.into()),
        );
        let bit = self.emit_value(Op::ShiftLeftLogical, ty, &[one, count]);
        let mask = self.emit_value(Op::ISub, ty, &[bit, one]);
        // A shift by the whole width is undefined in SPIR-V.
        let is_part = self.emit_value(Op::ULessThan, truth, &[count, most]);
        self.emit_value(Op::Select, ty, &[is_part, mask, all])
    }

    /// The offset and bit count of a field, in the width of its base.
    fn lower_field_bounds(
        &mut self,
        inst: InstRef<'_>,
        at: usize,
        width: u32,
    ) -> Result<[Id; 2], SourceDiagnostic> {
        let mut both = [Id::MAX; 2];
        for (n, value) in both.iter_mut().enumerate() {
            let (scalar, _) = self.find_component_scalar(inst.id_operand(at + n))?;
            let given = self.lower_operand(inst.id_operand(at + n))?;
            *value = self.resize_int(given, scalar.size() * 8, width);
        }
        Ok(both)
    }
}

/// `OpBitFieldInsert`.
pub fn lower_bit_field_insert(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let (scalar, _) = l.find_component_scalar(expect_result(inst))?;
    let width = scalar.size() * 8;
    let [offset, count] = l.lower_field_bounds(inst, 2, width)?;
    l.each_scalar(
        inst,
        &[inst.id_operand(0), inst.id_operand(1)],
        |l, ty, v| {
            let low = l.low_bits(width, count);
            let mask = l.emit_value(Op::ShiftLeftLogical, ty, &[low, offset]);
            let other = l.emit_value(Op::Not, ty, &[mask]);
            let kept = l.emit_value(Op::BitwiseAnd, ty, &[v[0], other]);
            let new = l.emit_value(Op::ShiftLeftLogical, ty, &[v[1], offset]);
            let new = l.emit_value(Op::BitwiseAnd, ty, &[new, mask]);
            l.emit_value(Op::BitwiseOr, ty, &[kept, new])
        },
    )
}

/// `OpBitFieldSExtract` and `OpBitFieldUExtract`.
pub fn lower_bit_field_extract(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let (scalar, _) = l.find_component_scalar(expect_result(inst))?;
    let width = scalar.size() * 8;
    let [offset, count] = l.lower_field_bounds(inst, 1, width)?;
    let is_signed = inst.op() == Op::BitFieldSExtract;
    l.each_scalar(inst, &[inst.id_operand(0)], |l, ty, v| {
        let low = l.low_bits(width, count);
        let moved = l.emit_value(Op::ShiftRightLogical, ty, &[v[0], offset]);
        let field = l.emit_value(Op::BitwiseAnd, ty, &[moved, low]);
        if !is_signed {
            return field;
        }
        // The field is sign-extended by its highest bit m: (x ^ m) - m.
        let one = l.make_uint_constant(width, 1);
        let half = l.emit_value(Op::ShiftRightLogical, ty, &[low, one]);
        let sign = l.emit_value(Op::BitwiseXor, ty, &[low, half]);
        let turned = l.emit_value(Op::BitwiseXor, ty, &[field, sign]);
        l.emit_value(Op::ISub, ty, &[turned, sign])
    })
}
