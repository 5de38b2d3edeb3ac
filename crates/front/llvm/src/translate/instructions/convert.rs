//! Conversions.

use crate::ir::{LlvmInst, Opcode, TypeKind, Value};
use crate::translate::body::Body;
use crate::translate::refusal::{Lowered, refuse};
use crate::translate::types::{Elem, Shape};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

impl Body<'_, '_> {
    pub(super) fn convert(&mut self, inst: LlvmInst) -> Lowered<Id> {
        let opcode = self.function.inst(inst).opcode;
        let value = self.function.operands(inst)[0];
        match opcode {
            Opcode::PtrToInt | Opcode::PtrToAddr | Opcode::IntToPtr
                if let (Some(from), Some(to)) = self.shapes(inst, value) =>
            {
                let operand = self.value(value)?;
                let opcode = match from.width > to.width {
                    true => Opcode::Trunc,
                    false => Opcode::ZExt,
                };
                self.convert_number(opcode, from, to, operand)
            }
            Opcode::PtrToInt | Opcode::PtrToAddr => {
                let operand = self.value(value)?;
                let to = self.result_shape(inst)?;
                self.pointer_bits_as(operand, to)
            }
            Opcode::IntToPtr => self.integer_to_pointer(inst),
            Opcode::AddrSpaceCast => {
                let ty = self.inst_type(inst);
                let Some(space) = self.t.module.types.address_space(ty) else {
                    return Err(self.t.no_type(ty));
                };
                let class = self.t.storage_class(space)?;
                let pointee = self.pointee(self.local_of(inst))?;
                let operand = self.pointer(value, pointee)?;
                self.cast_space(operand, class)
            }
            Opcode::BitCast if self.is_pointer(value) || self.is_opaque(value) => self.value(value),
            _ => {
                let from = self.shape_of(value)?;
                let to = self.result_shape(inst)?;
                let operand = self.value(value)?;
                self.convert_number(opcode, from, to, operand)
            }
        }
    }

    /// The shapes of what an instruction takes and gives: of device addresses, those of numbers.
    fn shapes(&self, inst: LlvmInst, value: Value) -> (Option<Shape>, Option<Shape>) {
        let shape = |ty| self.t.shape(ty);
        (shape(self.type_of(value)), shape(self.inst_type(inst)))
    }

    /// Whether a value is of a type that only SPIR-V has.
    fn is_opaque(&self, value: Value) -> bool {
        let kind = self.t.module.types.kind(self.type_of(value));
        matches!(kind, TypeKind::Target { .. })
    }

    /// A number converted as an instruction says.
    pub(in crate::translate) fn convert_number(
        &mut self,
        opcode: Opcode,
        from: Shape,
        to: Shape,
        id: Id,
    ) -> Lowered<Id> {
        let ty = self.t.shape_type(to);
        Ok(match (opcode, from.elem) {
            (Opcode::BitCast, _) => return self.bitcast(from, to, id),
            (Opcode::ZExt, Elem::Bool) => self.truth_as(id, to, false),
            (Opcode::SExt, Elem::Bool) => self.truth_as(id, to, true),
            (Opcode::UiToFp, Elem::Bool) => {
                let id = self.truth_as(id, Shape::int(32, from.lanes), false);
                self.op(Op::ConvertUToF, ty, [id])
            }
            (Opcode::SiToFp, Elem::Bool) => {
                let id = self.truth_as(id, Shape::int(32, from.lanes), true);
                self.op(Op::ConvertSToF, ty, [id])
            }
            (Opcode::ZExt, _) => self.resized(from, to, id, false),
            (Opcode::SExt, _) => {
                let extended = self.sign_extended(from, id);
                let id = self.resized(from, to, extended, true);
                self.masked(to, id)
            }
            (Opcode::Trunc, _) => self.truncate(from, to, id),
            (Opcode::UiToFp, _) => self.op(Op::ConvertUToF, ty, [id]),
            (Opcode::SiToFp, _) => {
                let extended = self.sign_extended(from, id);
                self.op(Op::ConvertSToF, ty, [extended])
            }
            (Opcode::FpToUi | Opcode::FpToSi, _) => {
                let op = match opcode {
                    Opcode::FpToUi => Op::ConvertFToU,
                    _ => Op::ConvertFToS,
                };
                let whole = to.as_int(to.width.max(8));
                let ty = self.t.shape_type(whole);
                let id = self.op(op, ty, [id]);
                match to.elem {
                    Elem::Bool => self.is_nonzero(whole, id),
                    _ => self.masked(to, id),
                }
            }
            (Opcode::FpTrunc | Opcode::FpExt, _)
                if (from.elem, from.width) == (to.elem, to.width) =>
            {
                id
            }
            (Opcode::FpTrunc | Opcode::FpExt, _) => self.op(Op::FConvert, ty, [id]),
            _ => {
                return Err(refuse(format!(
                    "the conversion {} of this type",
                    opcode.name()
                )));
            }
        })
    }

    /// An integer in fewer bits.
    pub(in crate::translate) fn truncate(&mut self, from: Shape, to: Shape, id: Id) -> Id {
        if to.elem == Elem::Bool {
            let ty = self.t.shape_type(from);
            let one = self.t.splat(from, 1);
            let low = self.op(Op::BitwiseAnd, ty, [id, one]);
            return self.is_nonzero(from, low);
        }
        let id = self.resized(from, to, id, false);
        self.masked(to, id)
    }

    /// The address in a pointer as an integer.
    pub(in crate::translate) fn pointer_bits_as(&mut self, pointer: Id, to: Shape) -> Lowered<Id> {
        let size = Shape::int(self.t.pointer_bits, 1);
        if to.lanes != 1 {
            return Err(refuse("vectors of pointers have no counterpart in SPIR-V"));
        }
        let ty = self.t.shape_type(size);
        let bits = self.op(Op::ConvertPtrToU, ty, [pointer]);
        if to.elem == Elem::Bool || to.width < size.width {
            return Ok(self.truncate(size, to, bits));
        }
        let id = self.resized(size, to, bits, false);
        Ok(self.masked(to, id))
    }

    fn integer_to_pointer(&mut self, inst: LlvmInst) -> Lowered<Id> {
        let value = self.function.operands(inst)[0];
        let from = self.shape_of(value)?;
        let size = Shape::int(self.t.pointer_bits, 1);
        if from.lanes != 1 {
            return Err(refuse("vectors of pointers have no counterpart in SPIR-V"));
        }
        let mut id = self.value(value)?;
        if from.elem == Elem::Bool {
            id = self.truth_as(id, size, false);
        } else {
            id = self.resized(from, size, id, false);
        }
        let ty = self.result_type(inst)?;
        Ok(self.op(Op::ConvertUToPtr, ty, [id]))
    }
}
