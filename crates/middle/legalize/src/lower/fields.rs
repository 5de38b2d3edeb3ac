//! Bit fields of integers of any width; Vulkan has those of 32 bits.

use super::ShaderLowering;
use super::composites::result;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

impl ShaderLowering<'_> {
    /// So many low bits as a mask.
    fn low_bits(&mut self, width: u32, count: Id) -> Id {
        let (ty, truth) = (self.int(width), self.b.bool());
        let (one, all, most) = (
            self.number(width, 1),
            self.number(width, u64::MAX >> (64 - width)),
            self.number(width, width.into()),
        );
        let bit = self.op(Op::ShiftLeftLogical, ty, &[one, count]);
        let mask = self.op(Op::ISub, ty, &[bit, one]);
        // A shift by the whole width is undefined.
        let is_part = self.op(Op::ULessThan, truth, &[count, most]);
        self.op(Op::Select, ty, &[is_part, mask, all])
    }

    /// The offset and number of bits of a field, with as many bits as what it is of.
    fn field(
        &mut self,
        inst: InstRef<'_>,
        at: usize,
        width: u32,
    ) -> Result<[Id; 2], SourceDiagnostic> {
        let mut both = [Id::MAX; 2];
        for (n, value) in both.iter_mut().enumerate() {
            let (scalar, _) = self.scalars(inst.id(at + n))?;
            let given = self.value(inst.id(at + n))?;
            *value = self.resize(given, scalar.size() * 8, width);
        }
        Ok(both)
    }
}

/// `OpBitFieldInsert`.
pub fn insert(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let (scalar, _) = l.scalars(result(inst))?;
    let width = scalar.size() * 8;
    let [offset, count] = l.field(inst, 2, width)?;
    l.each_scalar(inst, &[inst.id(0), inst.id(1)], |l, ty, v| {
        let low = l.low_bits(width, count);
        let mask = l.op(Op::ShiftLeftLogical, ty, &[low, offset]);
        let other = l.op(Op::Not, ty, &[mask]);
        let kept = l.op(Op::BitwiseAnd, ty, &[v[0], other]);
        let new = l.op(Op::ShiftLeftLogical, ty, &[v[1], offset]);
        let new = l.op(Op::BitwiseAnd, ty, &[new, mask]);
        l.op(Op::BitwiseOr, ty, &[kept, new])
    })
}

/// `OpBitFieldSExtract` and `OpBitFieldUExtract`.
pub fn extract(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let (scalar, _) = l.scalars(result(inst))?;
    let width = scalar.size() * 8;
    let [offset, count] = l.field(inst, 1, width)?;
    let is_signed = inst.op() == Op::BitFieldSExtract;
    l.each_scalar(inst, &[inst.id(0)], |l, ty, v| {
        let low = l.low_bits(width, count);
        let moved = l.op(Op::ShiftRightLogical, ty, &[v[0], offset]);
        let field = l.op(Op::BitwiseAnd, ty, &[moved, low]);
        if !is_signed {
            return field;
        }
        // With the highest bit of the field as its sign: of m, (x ^ m) - m.
        let one = l.number(width, 1);
        let half = l.op(Op::ShiftRightLogical, ty, &[low, one]);
        let sign = l.op(Op::BitwiseXor, ty, &[low, half]);
        let turned = l.op(Op::BitwiseXor, ty, &[field, sign]);
        l.op(Op::ISub, ty, &[turned, sign])
    })
}
