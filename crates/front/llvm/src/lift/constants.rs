//! Lifting of constants and specialisation constants.

use super::lifter::SpirvLifter;
use crate::ir::{
    self, ConstKind, ExprExtra, LlvmConst, LlvmConstantExpr, LlvmInstFlags, LlvmOpcode, LlvmType,
    LlvmTypeKind, LlvmValue,
};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Decoration;
use spirula_spirv::ir::InstRef;

/// Pointer conversions that LLVM also has as constant expressions.
const CASTS: &[(Op, LlvmOpcode)] = &[
    (Op::PtrCastToGeneric, LlvmOpcode::AddrSpaceCast),
    (Op::GenericCastToPtr, LlvmOpcode::AddrSpaceCast),
    (Op::ConvertPtrToU, LlvmOpcode::PtrToInt),
    (Op::ConvertUToPtr, LlvmOpcode::IntToPtr),
];

impl SpirvLifter<'_> {
    /// Creates the LLVM constant, or records the id as a specialisation constant.
    pub(super) fn define_constant(&mut self, inst: InstRef<'_>) -> LlvmResult<()> {
        let (Some(id), Some(ty)) = (inst.result(), inst.result_type()) else {
            return Err(make_refusal("it has no result"));
        };
        match self.known_constant(inst, ty)? {
            Some(constant) => self
                .values
                .set(id, Some(LlvmValue::from_constant(constant))),
            None => {
                if self.find_decoration(id, Decoration::BuiltIn).is_some() {
                    self.workgroup_size = Some(id);
                }
                self.spec_constant_index.set(id, Some(self.special.len()));
                self.special.push(inst.handle());
                self.note_number(inst);
            }
        }
        Ok(())
    }

    /// The LLVM constant. It is `None` for specialisation constants, and for constants that only a
    /// call can create.
    fn known_constant(&mut self, inst: InstRef<'_>, ty: Id) -> LlvmResult<Option<LlvmConst>> {
        let ty = self.find_type(ty)?;
        let constant = match inst.op() {
            Op::Constant => self.lift_scalar_constant(ty, inst.operands())?,
            Op::ConstantTrue | Op::ConstantFalse => {
                let truth = inst.op() == Op::ConstantTrue;
                self.out
                    .consts
                    .intern_constant(ty, ConstKind::Int(truth.into()))
            }
            Op::ConstantNull => self.out.consts.make_zero(&self.out.types, ty),
            Op::Undef => self.out.consts.intern_constant(ty, ConstKind::Undef),
            Op::ConstantComposite | Op::SpecConstantComposite => {
                return self.lift_composite_constant(ty, inst);
            }
            Op::ConstantFunctionPointerINTEL => self.function_pointer(ty, inst.id_operand(0))?,
            Op::SpecConstantOp => return self.lift_constant_operation(ty, inst),
            _ => return Ok(None),
        };
        Ok(Some(constant))
    }

    /// The address of a function that is defined later in the module.
    fn function_pointer(&mut self, ty: LlvmType, function: Id) -> LlvmResult<LlvmConst> {
        let func = self.find_declared_function(function)?;
        let address = self.function_address(func);
        let address = address.as_const().ok_or("a function without an address")?;
        if self.out.consts.ty(address) == ty {
            Ok(address)
        } else {
            Ok(self.cast_constant(LlvmOpcode::AddrSpaceCast, ty, address))
        }
    }

    /// An integer or float by its words.
    pub(super) fn lift_scalar_constant(
        &mut self,
        ty: LlvmType,
        words: &[u32],
    ) -> LlvmResult<LlvmConst> {
        let words: Vec<u64> = words
            .chunks(2)
            .map(|pair| u64::from(pair[0]) | pair.get(1).map_or(0, |high| u64::from(*high) << 32))
            .collect();
        let ir::LlvmModule { types, consts, .. } = &mut self.out;
        match types.kind(ty) {
            LlvmTypeKind::Int(_) => Ok(consts.wide_int(types, ty, &words)),
            _ if types.float_width(ty).is_some() => {
                let bits = words.first().copied().unwrap_or(0);
                Ok(consts.intern_constant(ty, ConstKind::Float(bits)))
            }
            _ => Err(make_refusal("a number of a type that is not numeric")),
        }
    }

    fn lift_composite_constant(
        &mut self,
        ty: LlvmType,
        inst: InstRef<'_>,
    ) -> LlvmResult<Option<LlvmConst>> {
        if matches!(self.out.types.kind(ty), LlvmTypeKind::Target { .. }) {
            return Ok(None);
        }
        let mut parts = Vec::new();
        for part in inst.id_operands(0) {
            if self.spec_constant_index[part].is_some() {
                return Ok(None);
            }
            parts.push(self.find_constant(part)?);
        }
        if !matches!(
            self.out.types.kind(ty),
            LlvmTypeKind::Struct { .. } | LlvmTypeKind::Array { .. } | LlvmTypeKind::Vector { .. }
        ) {
            return Err(make_refusal("its type has no members in LLVM IR"));
        }
        if self.out.types.element_count(ty) != Some(parts.len() as u64) {
            return Err(make_refusal(
                "the number of its constituents is not that of its type",
            ));
        }
        let ir::LlvmModule { types, consts, .. } = &mut self.out;
        Ok(Some(consts.make_aggregate(types, ty, &parts)))
    }

    /// An operation on constants, if LLVM has it as a constant expression.
    fn lift_constant_operation(
        &mut self,
        ty: LlvmType,
        inst: InstRef<'_>,
    ) -> LlvmResult<Option<LlvmConst>> {
        let op = Op(inst.operand_word(0) as u16);
        if inst
            .id_operands(1)
            .any(|id| self.spec_constant_index[id].is_some())
        {
            return Ok(None);
        }
        if let Some((_, opcode)) = CASTS.iter().find(|row| row.0 == op) {
            let operand = self.find_constant(inst.id_operand(1))?;
            return Ok(Some(self.cast_constant(*opcode, ty, operand)));
        }
        match op {
            Op::Bitcast => {
                let operand = self.find_constant(inst.id_operand(1))?;
                let from = self.out.consts.ty(operand);
                let opcode = match (self.is_pointer(from), self.is_pointer(ty)) {
                    _ if from == ty => return Ok(Some(operand)),
                    (true, true) => LlvmOpcode::AddrSpaceCast,
                    (true, false) => LlvmOpcode::PtrToInt,
                    (false, true) => LlvmOpcode::IntToPtr,
                    (false, false) => LlvmOpcode::BitCast,
                };
                Ok(Some(self.cast_constant(opcode, ty, operand)))
            }
            op if op.is_access_chain() => {
                let (element, inbounds) = (op.selects_element(), op.is_inbounds_access_chain());
                self.lift_constant_address(ty, inst, element, inbounds)
                    .map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Whether a type is a pointer.
    pub(super) fn is_pointer(&self, ty: LlvmType) -> bool {
        matches!(self.out.types.kind(ty), LlvmTypeKind::Pointer { .. })
    }

    fn cast_constant(&mut self, opcode: LlvmOpcode, ty: LlvmType, operand: LlvmConst) -> LlvmConst {
        self.make_constant_expression(opcode, LlvmInstFlags::NONE, ty, &[operand], ExprExtra::None)
    }

    /// A constant expression.
    pub(super) fn make_constant_expression(
        &mut self,
        opcode: LlvmOpcode,
        flags: LlvmInstFlags,
        ty: LlvmType,
        operands: &[LlvmConst],
        extra: ExprExtra,
    ) -> LlvmConst {
        let expr = LlvmConstantExpr {
            opcode,
            flags,
            operands: operands.into(),
            extra,
        };
        self.out
            .consts
            .intern_constant(ty, ConstKind::Expr(Box::new(expr)))
    }

    fn lift_constant_address(
        &mut self,
        ty: LlvmType,
        inst: InstRef<'_>,
        element: bool,
        inbounds: bool,
    ) -> LlvmResult<LlvmConst> {
        let base = inst.id_operand(1);
        let pointee = self.find_pointee(self.type_of(base)?)?;
        let source = self.find_type(pointee)?;
        let mut operands = vec![self.find_constant(base)?];
        if !element {
            operands.push(self.make_i32(0));
        }
        let mut within = pointee;
        for (index, id) in inst.id_operands(2).enumerate() {
            if element && index == 0 {
                operands.push(self.find_constant(id)?);
                continue;
            }
            let before = self.step_before(within)?;
            operands.extend(before.and_then(|zero| zero.as_const()));
            let (constant, part) = self.constant_step(within, id)?;
            operands.push(constant);
            within = part;
        }
        let flags = if inbounds {
            LlvmInstFlags::INBOUNDS
        } else {
            LlvmInstFlags::NONE
        };
        let extra = ExprExtra::SourceType(source);
        Ok(self.make_constant_expression(LlvmOpcode::GetElementPtr, flags, ty, &operands, extra))
    }

    /// A constant index into a type, and the type that it selects. Indices of structure members
    /// have 32 bits.
    pub(super) fn constant_step(&mut self, within: Id, index: Id) -> LlvmResult<(LlvmConst, Id)> {
        if self.find_lowered_type(within)?.shape != super::lifted_entities::LiftedTypeShape::Struct
        {
            return Ok((self.find_constant(index)?, self.type_of_member(within, 0)?));
        }
        let n = self.read_constant_number(index)?;
        let part = self.type_of_member(within, n)?;
        Ok((self.make_i32(n as u32), part))
    }
}
