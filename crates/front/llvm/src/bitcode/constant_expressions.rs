//! Constant expressions: their records within constant blocks.

use super::constants::ConstantReader;
use super::operation_codes::{
    address_flags, binary_flags, binary_opcode, cast_flags, cast_opcode, read_predicate,
};
use super::record_operands::RecordOperands;
use crate::LlvmResult;
use crate::ir::{
    ConstKind, ExprExtra, LlvmConst, LlvmConstantExpr, LlvmInstFlags, LlvmModule, LlvmOpcode,
    LlvmType, LlvmTypeKind, expression_type, shuffle_mask,
};

type ConstantExprParts = (LlvmOpcode, LlvmInstFlags, Vec<LlvmConst>, ExprExtra);

impl ConstantReader<'_> {
    pub(super) fn read_expression(
        &mut self,
        ty: LlvmType,
        code: u64,
        mut ops: RecordOperands<'_>,
    ) -> LlvmResult<Option<LlvmConst>> {
        let Some((opcode, flags, operands, extra)) = self.read_expression_parts(code, &mut ops)?
        else {
            return Ok(None);
        };
        let LlvmModule { types, consts, .. } = &mut *self.module;
        if !opcode.is_cast() {
            let inferred = expression_type(types, consts, opcode, &operands, &extra);
            match inferred {
                Ok(inferred) if inferred == ty => {}
                Ok(_) => return ops.fail_with("a constant expression of another type"),
                Err(error) => return ops.fail_with(error.to_string()),
            }
        }
        let expr = LlvmConstantExpr {
            opcode,
            flags,
            operands: operands.into(),
            extra,
        };
        Ok(Some(
            consts.intern_constant(ty, ConstKind::Expr(Box::new(expr))),
        ))
    }

    /// Opcode, flags, operands and extra data of a constant expression.
    fn read_expression_parts(
        &mut self,
        code: u64,
        ops: &mut RecordOperands<'_>,
    ) -> LlvmResult<Option<ConstantExprParts>> {
        let (opcode, flags, operands, extra) = match code {
            10 => return self.read_binary_parts(ops),
            11 => {
                let opcode = cast_opcode(ops)?;
                ops.next()?;
                let Some(operands) = self.read_operands(ops, 1)? else {
                    return Ok(None);
                };
                (
                    opcode,
                    cast_flags(opcode, ops.or_zero()),
                    operands,
                    ExprExtra::None,
                )
            }
            12 | 20 | 24 | 31 | 32 => return self.read_address_parts(code, ops),
            13 => return self.read_plain_parts(LlvmOpcode::Select, 3, ops),
            14 => return self.element_of(ops),
            15 => {
                let Some(mut operands) = self.read_operands(ops, 2)? else {
                    return Ok(None);
                };
                ops.next()?;
                let Some(index) = self.read_operand(ops)? else {
                    return Ok(None);
                };
                operands.push(index);
                (
                    LlvmOpcode::InsertElement,
                    LlvmInstFlags::NONE,
                    operands,
                    ExprExtra::None,
                )
            }
            16 | 19 => return self.read_shuffle_parts(code == 19, ops),
            17 => {
                ops.next()?;
                let Some(operands) = self.read_operands(ops, 2)? else {
                    return Ok(None);
                };
                let predicate = read_predicate(ops)?;
                let opcode = if predicate.is_integer() {
                    LlvmOpcode::ICmp
                } else {
                    LlvmOpcode::FCmp
                };
                (
                    opcode,
                    LlvmInstFlags::NONE,
                    operands,
                    ExprExtra::Compare(predicate),
                )
            }
            25 => {
                ops.next()?;
                return self.read_plain_parts(LlvmOpcode::FNeg, 1, ops);
            }
            _ => return ops.fail_with(format!("constants of code {code} are not supported")),
        };
        Ok(Some((opcode, flags, operands, extra)))
    }

    fn read_binary_parts(
        &mut self,
        ops: &mut RecordOperands<'_>,
    ) -> LlvmResult<Option<ConstantExprParts>> {
        let number = ops.next()?;
        let Some(operands) = self.read_operands(ops, 2)? else {
            return Ok(None);
        };
        let float = self.is_float(operands[0]);
        let opcode = binary_opcode(number, float, ops)?;
        let flags = binary_flags(opcode, ops.or_zero());
        Ok(Some((opcode, flags, operands, ExprExtra::None)))
    }

    /// A shuffle. Its first record operand may be its type.
    fn read_shuffle_parts(
        &mut self,
        typed: bool,
        ops: &mut RecordOperands<'_>,
    ) -> LlvmResult<Option<ConstantExprParts>> {
        if typed {
            ops.next()?;
        }
        let Some(mut operands) = self.read_operands(ops, 3)? else {
            return Ok(None);
        };
        let LlvmModule { types, consts, .. } = &*self.module;
        let mask = operands.pop();
        match mask.and_then(|mask| shuffle_mask(types, consts, mask)) {
            Some(mask) => Ok(Some((
                LlvmOpcode::ShuffleVector,
                LlvmInstFlags::NONE,
                operands,
                ExprExtra::Mask(mask.into()),
            ))),
            None => ops.fail_with("a shuffle without a mask"),
        }
    }

    fn read_plain_parts(
        &mut self,
        opcode: LlvmOpcode,
        count: usize,
        ops: &mut RecordOperands<'_>,
    ) -> LlvmResult<Option<ConstantExprParts>> {
        let operands = self.read_operands(ops, count)?;
        Ok(operands.map(|operands| (opcode, LlvmInstFlags::NONE, operands, ExprExtra::None)))
    }

    fn element_of(
        &mut self,
        ops: &mut RecordOperands<'_>,
    ) -> LlvmResult<Option<ConstantExprParts>> {
        let operands = self.read_typed_operands(ops)?;
        Ok(operands.map(|operands| {
            (
                LlvmOpcode::ExtractElement,
                LlvmInstFlags::NONE,
                operands,
                ExprExtra::None,
            )
        }))
    }

    fn read_address_parts(
        &mut self,
        code: u64,
        ops: &mut RecordOperands<'_>,
    ) -> LlvmResult<Option<ConstantExprParts>> {
        let explicit = matches!(code, 24 | 31 | 32) || ops.len() % 2 == 1;
        let source = if explicit {
            Some(self.types.read_type(ops)?)
        } else {
            None
        };
        let flags = match code {
            20 => LlvmInstFlags::INBOUNDS,
            24 if ops.next()? & 1 != 0 => LlvmInstFlags::INBOUNDS,
            31 | 32 => address_flags(ops.next()?),
            _ => LlvmInstFlags::NONE,
        };
        if code == 31 {
            let width = ops.next_u32()?;
            super::attributes::read_range(ops, width)?;
        }
        let Some(operands) = self.read_typed_operands(ops)? else {
            return Ok(None);
        };
        let Some(&base) = operands.first() else {
            return ops.fail_with("an address computation without a base");
        };
        let source = match (source, self.module.types.kind(self.module.consts.ty(base))) {
            (Some(source), _) => source,
            (
                None,
                &LlvmTypeKind::Pointer {
                    pointee: Some(pointee),
                    ..
                },
            ) => pointee,
            _ => return ops.fail_with("an address computation without a type"),
        };
        Ok(Some((
            LlvmOpcode::GetElementPtr,
            flags,
            operands,
            ExprExtra::SourceType(source),
        )))
    }

    fn is_float(&self, operand: LlvmConst) -> bool {
        let types = &self.module.types;
        types
            .float_width(types.scalar_type(self.module.consts.ty(operand)))
            .is_some()
    }
}
