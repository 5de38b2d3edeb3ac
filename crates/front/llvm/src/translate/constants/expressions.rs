//! Constant expressions: each becomes one `OpSpecConstantOp`.

use crate::ir::{
    ExprExtra, LlvmConst, LlvmConstantExpr, LlvmInstFlags, LlvmOpcode, LlvmType, LlvmTypeKind,
    LlvmValue,
};
use crate::pointee_inference::element_type;
use crate::translate::storage_classes::space_cast;
use crate::translate::translator::LlvmTranslator;
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::{AccessChainForm, Op};

impl LlvmTranslator<'_> {
    pub(super) fn lower_expression(
        &mut self,
        ty: LlvmType,
        expr: &LlvmConstantExpr,
    ) -> LlvmResult<Id> {
        let first = expr.operands.first().copied();
        let Some(first) = first else {
            return Err(make_refusal("a constant expression without operands"));
        };
        match expr.opcode {
            LlvmOpcode::GetElementPtr => self.lower_address(expr, first),
            LlvmOpcode::BitCast if self.module.types.is_pointer_like(ty) => {
                self.lower_constant(first)
            }
            LlvmOpcode::AddrSpaceCast => self.cast_constant_space(ty, first),
            // Device addresses are numbers.
            LlvmOpcode::PtrToInt | LlvmOpcode::PtrToAddr | LlvmOpcode::IntToPtr
                if let Some(shape) = self.find_shape(ty)
                    && self.find_shape(self.module.consts.ty(first)) == Some(shape) =>
            {
                self.lower_constant(first)
            }
            LlvmOpcode::PtrToInt | LlvmOpcode::PtrToAddr => {
                let result = self.register_type(ty)?;
                let operand = self.lower_constant(first)?;
                Ok(self.emit_spec_op(Op::ConvertPtrToU, result, &[operand.word()]))
            }
            LlvmOpcode::IntToPtr => {
                let result = self.register_type(ty)?;
                let operand = self.lower_constant(first)?;
                Ok(self.emit_spec_op(Op::ConvertUToPtr, result, &[operand.word()]))
            }
            LlvmOpcode::ExtractElement => self.extracted_lane(ty, expr),
            _ => self.arithmetic_expression(ty, expr),
        }
    }

    /// One component of a constant vector.
    fn extracted_lane(&mut self, ty: LlvmType, expr: &LlvmConstantExpr) -> LlvmResult<Id> {
        let lane = expr
            .operands
            .get(1)
            .and_then(|c| self.module.consts.as_u64(*c));
        let vector = self.require_shape(self.module.consts.ty(expr.operands[0]))?;
        let lane = lane.filter(|lane| *lane < u64::from(vector.lanes) && vector.lanes > 1);
        let (Some(lane), true) = (lane, vector.is_exact()) else {
            return Err(make_refusal(
                "the constant expression extractelement of this vector",
            ));
        };
        let operand = self.lower_constant(expr.operands[0])?;
        let result = self.register_type(ty)?;
        Ok(self.emit_spec_op(Op::CompositeExtract, result, &[operand.word(), lane as u32]))
    }

    fn arithmetic_expression(&mut self, ty: LlvmType, expr: &LlvmConstantExpr) -> LlvmResult<Id> {
        let unknown = || {
            make_refusal(format!(
                "the constant expression {} cannot be translated",
                expr.opcode.name()
            ))
        };
        let op = match expr.opcode {
            LlvmOpcode::Add => Op::IAdd,
            LlvmOpcode::Sub => Op::ISub,
            LlvmOpcode::Mul => Op::IMul,
            LlvmOpcode::Shl => Op::ShiftLeftLogical,
            LlvmOpcode::And => Op::BitwiseAnd,
            LlvmOpcode::Or => Op::BitwiseOr,
            LlvmOpcode::Xor => Op::BitwiseXor,
            LlvmOpcode::LShr => Op::ShiftRightLogical,
            LlvmOpcode::AShr => Op::ShiftRightArithmetic,
            LlvmOpcode::Trunc | LlvmOpcode::ZExt => Op::UConvert,
            LlvmOpcode::SExt => Op::SConvert,
            LlvmOpcode::BitCast => Op::Bitcast,
            _ => return Err(unknown()),
        };
        let mut words = Vec::with_capacity(expr.operands.len());
        for &operand in &expr.operands {
            let shape = self.require_shape(self.module.consts.ty(operand))?;
            if !shape.is_exact() {
                return Err(unknown());
            }
            words.push(self.lower_constant(operand)?.word());
        }
        if !self.require_shape(ty)?.is_exact() {
            return Err(unknown());
        }
        let result = self.register_type(ty)?;
        Ok(self.emit_spec_op(op, result, &words))
    }

    fn cast_constant_space(&mut self, ty: LlvmType, first: LlvmConst) -> LlvmResult<Id> {
        let operand = self.lower_constant(first)?;
        let from = self.b.type_of(operand).and_then(|ty| self.pointee_of(ty));
        let space = self.module.types.address_space(ty).unwrap_or(0);
        let to = self.storage_class(space)?;
        let Some((from, pointee)) = from else {
            return Err(make_refusal(
                "an address space cast of a value that is not a pointer",
            ));
        };
        let mut id = operand;
        for (op, class) in space_cast(from, to)? {
            let result = self.pointer_type(class, pointee);
            id = self.emit_spec_op(op, result, &[id.word()]);
        }
        Ok(id)
    }

    fn lower_address(&mut self, expr: &LlvmConstantExpr, base: LlvmConst) -> LlvmResult<Id> {
        let ExprExtra::SourceType(source) = expr.extra else {
            return Err(make_refusal("an address computation without a source type"));
        };
        let indices = || {
            expr.operands[1..]
                .iter()
                .map(|c| LlvmValue::from_constant(*c))
        };
        let Some(end) = element_type(self.module, source, indices()) else {
            return Err(make_refusal(
                "an address computation steps into a type without members",
            ));
        };
        if matches!(
            self.module.types.kind(source),
            LlvmTypeKind::Vector { len: 1, .. }
        ) {
            return Err(make_refusal(
                "an address computation within a vector of one lane",
            ));
        }
        let pointee = self.memory_type(source)?;
        let base = self.constant_pointer(base, pointee)?;
        if expr.operands.len() == 1 {
            return Ok(base);
        }
        let class = self.b.type_of(base).and_then(|ty| self.pointee_of(ty));
        let Some((class, _)) = class else {
            return Err(make_refusal(
                "an address computation from a value that is not a pointer",
            ));
        };
        let mut words = vec![base.word()];
        for &index in &expr.operands[1..] {
            let id = match self.index_constant(index) {
                Some(id) => id,
                None => self.lower_constant(index)?,
            };
            words.push(id.word());
        }
        let end = self.memory_type(end)?;
        let result = self.pointer_type(class, end);
        let is_inbounds = expr.flags.contains_all(LlvmInstFlags::INBOUNDS);
        let chain = AccessChainForm::TYPED
            .with_element(true)
            .with_inbounds(is_inbounds);
        Ok(self.emit_spec_op(chain.opcode(), result, &words))
    }
}
