//! Constants and global objects.

use super::value::{AbstractScalar, AbstractValue, ObjectAddress};
use super::{EvaluationResult, LlvmEvaluator, instructions, stop_unsupported};
use spirula_llvm::ir::{ConstKind, ExprExtra, GlobalKind, LlvmConst, LlvmOpcode};

/// Distance in bytes between two addresses of the same object, in 64 bits.
fn subtract_addresses(end: AbstractScalar, start: AbstractScalar) -> AbstractScalar {
    match (end, start) {
        (AbstractScalar::Address(end), AbstractScalar::Address(start))
            if end.object == start.object =>
        {
            AbstractScalar::Bits(end.offset.wrapping_sub(start.offset) as u64 as u128)
        }
        _ => AbstractScalar::Any,
    }
}

impl LlvmEvaluator<'_> {
    pub(super) fn lay_out_globals(&mut self) -> EvaluationResult<()> {
        let module = self.module;
        for global in module.global_ids() {
            let data = module.global(global);
            // A function's address is that of an object of its own.
            let size = match data.kind {
                GlobalKind::Variable(_) => module.layout.alloc_size(&module.types, data.value_type),
                GlobalKind::Function(_) => None,
                _ => continue,
            };
            let address = self.memory.allocate_object(size.unwrap_or(0));
            self.globals[global.index()] = Some(address);
        }
        for global in module.global_ids() {
            let data = module.global(global);
            let GlobalKind::Variable(variable) = &data.kind else {
                continue;
            };
            if let (Some(initial), Some(address)) =
                (variable.initializer, self.globals[global.index()])
            {
                let value = self.eval_constant(initial)?;
                self.write_value(address, data.value_type, &value)?;
            }
        }
        Ok(())
    }

    pub(super) fn eval_constant(&mut self, constant: LlvmConst) -> EvaluationResult<AbstractValue> {
        let module = self.module;
        let data = module.consts.get(constant);
        let all = |scalar: AbstractScalar, count: usize| Ok(vec![scalar; count]);
        match &data.kind {
            ConstKind::Int(bits) | ConstKind::Float(bits) => {
                let kind = self.scalar_kind(data.ty)?;
                Ok(vec![super::float::scalar_from_bits(kind, (*bits).into())])
            }
            ConstKind::Wide(words) if words.len() == 2 => Ok(vec![AbstractScalar::Bits(
                u128::from(words[1]) << 64 | u128::from(words[0]),
            )]),
            ConstKind::Null | ConstKind::Zero => {
                let count = self.type_leaves(data.ty)?.len();
                all(AbstractScalar::Bits(0), count)
            }
            ConstKind::Undef | ConstKind::Poison => {
                let count = self.type_leaves(data.ty)?.len();
                all(AbstractScalar::Any, count)
            }
            ConstKind::Aggregate(elements) => {
                let mut value = AbstractValue::new();
                for element in elements {
                    value.extend(self.eval_constant(*element)?);
                }
                Ok(value)
            }
            ConstKind::Data(_) => {
                let kind =
                    self.scalar_kind(module.types.element_type(data.ty, 0).unwrap_or(data.ty))?;
                let elements = module.consts.data_elements(&module.types, constant);
                let elements = elements.into_iter().flatten();
                Ok(elements
                    .map(|bits| super::float::scalar_from_bits(kind, bits.into()))
                    .collect())
            }
            ConstKind::Splat(element) => {
                let scalar = self.eval_constant(*element)?[0];
                let count = self.type_leaves(data.ty)?.len();
                all(scalar, count)
            }
            ConstKind::Global(global) => match self.globals[global.index()] {
                Some(address) => Ok(vec![AbstractScalar::Address(address)]),
                None => stop_unsupported("the address of an alias"),
            },
            ConstKind::Expr(expr) => {
                let mut operands = Vec::new();
                for operand in &expr.operands {
                    operands.push(self.eval_constant(*operand)?);
                }
                let types: Vec<_> = expr.operands.iter().map(|o| module.consts.ty(*o)).collect();
                match (expr.opcode, &expr.extra) {
                    (LlvmOpcode::GetElementPtr, ExprExtra::SourceType(source)) => {
                        self.eval_element_pointer(*source, &operands, &types)
                    }
                    (LlvmOpcode::Sub, _) => {
                        Ok(vec![subtract_addresses(operands[0][0], operands[1][0])])
                    }
                    (op, _) if op.is_cast() => self.eval_cast(op, &operands[0], types[0], data.ty),
                    (op, _) => stop_unsupported(format!("a constant expression of {}", op.name())),
                }
            }
            other => stop_unsupported(format!("the constant {other:?}")),
        }
    }

    /// Stores a value of a type. Padding may be anything afterwards.
    pub(super) fn write_value(
        &mut self,
        address: ObjectAddress,
        ty: spirula_llvm::ir::LlvmType,
        value: &[AbstractScalar],
    ) -> EvaluationResult<()> {
        let module = self.module;
        let size = module.layout.alloc_size(&module.types, ty).unwrap_or(0);
        let shape = self.type_leaves(ty)?;
        let padding = instructions::has_padding(module, ty).then_some(size);
        for n in 0..padding.unwrap_or(0) {
            let at = super::memory::offset_address(address, n);
            if let Some([cell]) = self.memory.cells_at(at, 1) {
                *cell = super::AbstractByte::Any;
            }
        }
        for (leaf, scalar) in shape.iter().zip(value) {
            if self.memory.store_scalar(address, *leaf, *scalar).is_none() {
                return super::stop_undefined("a store outside of an object");
            }
        }
        Ok(())
    }
}
