//! Constants: those known before specialisation, and those that can be specialised.

use super::lifter::{Lifted, Lifter};
use crate::ir::{
    self, ConstKind, Expr, ExprExtra, Flags, LlvmConst, LlvmType, Opcode, TypeKind, Value,
};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Decoration;
use spirula_spirv::ir::InstRef;

/// Conversions of pointers that LLVM has as constant expressions, too.
const CASTS: &[(Op, Opcode)] = &[
    (Op::PtrCastToGeneric, Opcode::AddrSpaceCast),
    (Op::GenericCastToPtr, Opcode::AddrSpaceCast),
    (Op::ConvertPtrToU, Opcode::PtrToInt),
    (Op::ConvertUToPtr, Opcode::IntToPtr),
];

impl Lifter<'_> {
    /// Makes the counterpart of a constant, or notes that it can be specialised.
    pub(super) fn define_constant(&mut self, inst: InstRef<'_>) -> Lifted<()> {
        let (Some(id), Some(ty)) = (inst.result(), inst.result_type()) else {
            return Err("it has no result".to_owned());
        };
        match self.known_constant(inst, ty)? {
            Some(constant) => self.values.set(id, Some(Value::constant(constant))),
            None => {
                if self.decoration(id, Decoration::BuiltIn).is_some() {
                    self.workgroup_size = Some(id);
                }
                self.special_at.set(id, Some(self.special.len()));
                self.special.push(inst.handle());
                self.note_number(inst);
            }
        }
        Ok(())
    }

    /// The constant; none where it is known only after specialisation, or made by a call.
    fn known_constant(&mut self, inst: InstRef<'_>, ty: Id) -> Lifted<Option<LlvmConst>> {
        let ty = self.ty(ty)?;
        let constant = match inst.op() {
            Op::Constant => self.scalar(ty, inst.operands())?,
            Op::ConstantTrue | Op::ConstantFalse => {
                let truth = inst.op() == Op::ConstantTrue;
                self.out.consts.intern(ty, ConstKind::Int(truth.into()))
            }
            Op::ConstantNull => self.out.consts.zero(&self.out.types, ty),
            Op::Undef => self.out.consts.intern(ty, ConstKind::Undef),
            Op::ConstantComposite | Op::SpecConstantComposite => {
                return self.composite(ty, inst);
            }
            Op::ConstantFunctionPointerINTEL => self.function_pointer(ty, inst.id(0))?,
            Op::SpecConstantOp => return self.operation(ty, inst),
            _ => return Ok(None),
        };
        Ok(Some(constant))
    }

    /// The address of a function, which comes later in the module.
    fn function_pointer(&mut self, ty: LlvmType, function: Id) -> Lifted<LlvmConst> {
        let func = self.declared(function)?;
        let address = self.function_address(func);
        let address = address.as_const().ok_or("a function without an address")?;
        match self.out.consts.ty(address) == ty {
            true => Ok(address),
            false => Ok(self.cast_constant(Opcode::AddrSpaceCast, ty, address)),
        }
    }

    /// An integer or float by its words.
    pub(super) fn scalar(&mut self, ty: LlvmType, words: &[u32]) -> Lifted<LlvmConst> {
        let words: Vec<u64> = words
            .chunks(2)
            .map(|pair| u64::from(pair[0]) | pair.get(1).map_or(0, |high| u64::from(*high) << 32))
            .collect();
        let ir::Module { types, consts, .. } = &mut self.out;
        match types.kind(ty) {
            TypeKind::Int(_) => Ok(consts.wide_int(types, ty, &words)),
            _ if types.float_width(ty).is_some() => {
                let bits = words.first().copied().unwrap_or(0);
                Ok(consts.intern(ty, ConstKind::Float(bits)))
            }
            _ => Err("a number of a type that is none".to_owned()),
        }
    }

    fn composite(&mut self, ty: LlvmType, inst: InstRef<'_>) -> Lifted<Option<LlvmConst>> {
        if matches!(self.out.types.kind(ty), TypeKind::Target { .. }) {
            return Ok(None);
        }
        let mut parts = Vec::new();
        for part in inst.ids(0) {
            if self.special_at[part].is_some() {
                return Ok(None);
            }
            parts.push(self.constant(part)?);
        }
        if !matches!(
            self.out.types.kind(ty),
            TypeKind::Struct { .. } | TypeKind::Array { .. } | TypeKind::Vector { .. }
        ) {
            return Err("its type has no parts in LLVM IR".to_owned());
        }
        if self.out.types.element_count(ty) != Some(parts.len() as u64) {
            return Err("the number of its parts is not that of its type".to_owned());
        }
        let ir::Module { types, consts, .. } = &mut self.out;
        Ok(Some(consts.aggregate(types, ty, &parts)))
    }

    /// An operation on constants, where LLVM has it as a constant expression.
    fn operation(&mut self, ty: LlvmType, inst: InstRef<'_>) -> Lifted<Option<LlvmConst>> {
        let op = Op(inst.word(0) as u16);
        if inst.ids(1).any(|id| self.special_at[id].is_some()) {
            return Ok(None);
        }
        if let Some((_, opcode)) = CASTS.iter().find(|row| row.0 == op) {
            let operand = self.constant(inst.id(1))?;
            return Ok(Some(self.cast_constant(*opcode, ty, operand)));
        }
        match op {
            Op::Bitcast => {
                let operand = self.constant(inst.id(1))?;
                let from = self.out.consts.ty(operand);
                let opcode = match (self.is_pointer(from), self.is_pointer(ty)) {
                    _ if from == ty => return Ok(Some(operand)),
                    (true, true) => Opcode::AddrSpaceCast,
                    (true, false) => Opcode::PtrToInt,
                    (false, true) => Opcode::IntToPtr,
                    (false, false) => Opcode::BitCast,
                };
                Ok(Some(self.cast_constant(opcode, ty, operand)))
            }
            Op::AccessChain | Op::InBoundsAccessChain => {
                let inbounds = op == Op::InBoundsAccessChain;
                self.address(ty, inst, false, inbounds).map(Some)
            }
            Op::PtrAccessChain | Op::InBoundsPtrAccessChain => {
                let inbounds = op == Op::InBoundsPtrAccessChain;
                self.address(ty, inst, true, inbounds).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Whether a type is a pointer.
    pub(super) fn is_pointer(&self, ty: LlvmType) -> bool {
        matches!(self.out.types.kind(ty), TypeKind::Pointer { .. })
    }

    fn cast_constant(&mut self, opcode: Opcode, ty: LlvmType, operand: LlvmConst) -> LlvmConst {
        self.expression(opcode, Flags::NONE, ty, &[operand], ExprExtra::None)
    }

    /// A constant expression.
    pub(super) fn expression(
        &mut self,
        opcode: Opcode,
        flags: Flags,
        ty: LlvmType,
        operands: &[LlvmConst],
        extra: ExprExtra,
    ) -> LlvmConst {
        let expr = Expr {
            opcode,
            flags,
            operands: operands.into(),
            extra,
        };
        self.out.consts.intern(ty, ConstKind::Expr(Box::new(expr)))
    }

    fn address(
        &mut self,
        ty: LlvmType,
        inst: InstRef<'_>,
        element: bool,
        inbounds: bool,
    ) -> Lifted<LlvmConst> {
        let base = inst.id(1);
        let pointee = self.pointee(self.type_of(base)?)?;
        let source = self.ty(pointee)?;
        let mut operands = vec![self.constant(base)?];
        if !element {
            operands.push(self.i32(0));
        }
        let mut within = pointee;
        for (index, id) in inst.ids(2).enumerate() {
            if element && index == 0 {
                operands.push(self.constant(id)?);
                continue;
            }
            let before = self.step_before(within)?;
            operands.extend(before.and_then(|zero| zero.as_const()));
            let (constant, part) = self.constant_step(within, id)?;
            operands.push(constant);
            within = part;
        }
        let flags = if inbounds {
            Flags::INBOUNDS
        } else {
            Flags::NONE
        };
        let extra = ExprExtra::SourceType(source);
        Ok(self.expression(Opcode::GetElementPtr, flags, ty, &operands, extra))
    }

    /// A constant index into a type, and the type of what it leads to. Members of structures are
    /// numbered in 32 bits.
    pub(super) fn constant_step(&mut self, within: Id, index: Id) -> Lifted<(LlvmConst, Id)> {
        if self.lowered(within)?.shape != super::types::Shape::Struct {
            return Ok((self.constant(index)?, self.part(within, 0)?));
        }
        let n = self.number(index)?;
        let part = self.part(within, n)?;
        Ok((self.i32(n as u32), part))
    }
}
