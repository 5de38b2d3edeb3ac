//! Memory instruction records: allocations, loads, stores, atomics and address computations.

use super::function::BitcodeBodyReader;
use super::globals::decode_alignment;
use super::operation_codes::address_flags;
use super::record_operands::RecordOperands;
use crate::LlvmResult;
use crate::ir::{
    InstructionExtra, LlvmAlign, LlvmInstFlags, LlvmOpcode, LlvmPoolRange, LlvmSymbol, LlvmType,
    LlvmTypeKind, Ordering, RmwOp, address_type,
};
use smallvec::SmallVec;

impl BitcodeBodyReader<'_> {
    pub(super) fn read_alloca(&mut self, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        let mut ty = self.reader.types.read_type(&mut ops)?;
        let size_type = self.reader.types.read_type(&mut ops)?;
        let size = self.value_numbered(size_type, ops.next()?, &ops)?;
        let bits = ops.next()?;
        let align = decode_alignment(bits & 0x1f | bits >> 8 << 5, &ops)?;
        if bits & 1 << 6 == 0 {
            match *self.reader.module.types.kind(ty) {
                LlvmTypeKind::Pointer {
                    pointee: Some(pointee),
                    ..
                } => ty = pointee,
                _ => return ops.fail_with("an allocation without a type"),
            }
        }
        let space = if ops.is_empty() {
            self.reader.module.layout.alloca_space()
        } else {
            ops.next_u32()?
        };
        let pointee = self.reader.types.typed_pointers.then_some(ty);
        let pointer = self
            .reader
            .module
            .types
            .intern_type(LlvmTypeKind::Pointer { space, pointee });
        let mut flags = LlvmInstFlags::NONE;
        if bits & 1 << 5 != 0 {
            flags |= LlvmInstFlags::INALLOCA;
        }
        if bits & 1 << 7 != 0 {
            flags |= LlvmInstFlags::SWIFTERROR;
        }
        let extra = InstructionExtra::Alloca { ty, align };
        self.push_flagged(LlvmOpcode::Alloca, flags, pointer, &[size], extra, &ops)
    }

    fn read_scope(&mut self, ops: &mut RecordOperands<'_>) -> LlvmResult<LlvmSymbol> {
        let number = ops.next_index()?;
        if let Some(&scope) = self.reader.sync_scopes.get(number) {
            return Ok(scope);
        }
        match number {
            0 => Ok(self.reader.module.strings.intern_text("singlethread")),
            1 => Ok(LlvmSymbol::EMPTY),
            _ => ops.fail_with("an undefined synchronisation scope"),
        }
    }

    fn read_ordering(ops: &mut RecordOperands<'_>) -> LlvmResult<Ordering> {
        match Ordering::from_code(ops.next()?) {
            Some(ordering) => Ok(ordering),
            None => ops.fail_with("an unknown ordering"),
        }
    }

    /// Reads alignment and volatility of an access, and ordering and scope of an atomic one.
    fn read_access(
        &mut self,
        atomic: bool,
        ops: &mut RecordOperands<'_>,
    ) -> LlvmResult<(InstructionExtra, LlvmInstFlags)> {
        let align = decode_alignment(ops.next()?, ops)?;
        let flags = if ops.next()? != 0 {
            LlvmInstFlags::VOLATILE
        } else {
            LlvmInstFlags::NONE
        };
        let (mut ordering, mut scope) = (Ordering::NotAtomic, LlvmSymbol::EMPTY);
        if atomic {
            ordering = Self::read_ordering(ops)?;
            scope = self.read_scope(ops)?;
        }
        Ok((
            InstructionExtra::Access {
                align,
                ordering,
                scope,
            },
            flags,
        ))
    }

    pub(super) fn read_load(
        &mut self,
        atomic: bool,
        mut ops: RecordOperands<'_>,
    ) -> LlvmResult<()> {
        let (pointer, _) = self.read_value(&mut ops)?;
        let ty = self.reader.types.read_type(&mut ops)?;
        let (extra, flags) = self.read_access(atomic, &mut ops)?;
        self.push_flagged(LlvmOpcode::Load, flags, ty, &[pointer], extra, &ops)
    }

    pub(super) fn read_store(
        &mut self,
        atomic: bool,
        mut ops: RecordOperands<'_>,
    ) -> LlvmResult<()> {
        let (pointer, _) = self.read_value(&mut ops)?;
        let (value, _) = self.read_value(&mut ops)?;
        let (extra, flags) = self.read_access(atomic, &mut ops)?;
        self.push_flagged(
            LlvmOpcode::Store,
            flags,
            LlvmType::VOID,
            &[value, pointer],
            extra,
            &ops,
        )
    }

    pub(super) fn read_va_arg(&mut self, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        let list_type = self.reader.types.read_type(&mut ops)?;
        let list = self.value_of(list_type, &mut ops)?;
        let ty = self.reader.types.read_type(&mut ops)?;
        self.push_flagged(
            LlvmOpcode::VaArg,
            LlvmInstFlags::NONE,
            ty,
            &[list],
            InstructionExtra::None,
            &ops,
        )
    }

    pub(super) fn read_fence(&mut self, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        let ordering = Self::read_ordering(&mut ops)?;
        let scope = self.read_scope(&mut ops)?;
        let extra = InstructionExtra::Fence { ordering, scope };
        self.push_flagged(
            LlvmOpcode::Fence,
            LlvmInstFlags::NONE,
            LlvmType::VOID,
            &[],
            extra,
            &ops,
        )
    }

    pub(super) fn read_address(&mut self, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        let flags = address_flags(ops.next()?);
        let source = self.reader.types.read_type(&mut ops)?;
        let start = self.func.value_pool.len();
        let (base, base_type) = self.read_value(&mut ops)?;
        self.func.value_pool.push(base);
        let mut indices: SmallVec<[_; 8]> = SmallVec::new();
        while !ops.is_empty() {
            let (index, ty) = self.read_value(&mut ops)?;
            self.func.value_pool.push(index);
            indices.push((ty, index.as_const()));
        }
        let module = &mut self.reader.module;
        let ty = address_type(
            &mut module.types,
            &module.consts,
            source,
            base_type,
            indices,
        )
        .or_else(|error| ops.fail_with(error.to_string()))?;
        let operands = LlvmPoolRange::from_start(start, &self.func.value_pool);
        let extra = InstructionExtra::SourceType(source);
        self.push_pooled(LlvmOpcode::GetElementPtr, flags, ty, operands, extra, &ops)
    }

    pub(super) fn compare_exchange(&mut self, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        let (pointer, _) = self.read_value(&mut ops)?;
        let (expected, ty) = self.read_value(&mut ops)?;
        let new = self.value_of(ty, &mut ops)?;
        let mut flags = if ops.next()? != 0 {
            LlvmInstFlags::VOLATILE
        } else {
            LlvmInstFlags::NONE
        };
        let success = Self::read_ordering(&mut ops)?;
        let scope = self.read_scope(&mut ops)?;
        let failure = Self::read_ordering(&mut ops)?;
        if ops.or_zero() != 0 {
            flags |= LlvmInstFlags::WEAK;
        }
        let align = decode_alignment(ops.or_zero(), &ops)?;
        let extra = InstructionExtra::CmpXchg {
            align,
            success,
            failure,
            scope,
        };
        let ty = self
            .reader
            .module
            .types
            .literal_struct([ty, LlvmType::I1].into(), false);
        self.push_flagged(
            LlvmOpcode::CmpXchg,
            flags,
            ty,
            &[pointer, expected, new],
            extra,
            &ops,
        )
    }

    pub(super) fn read_modify_write(
        &mut self,
        typed: bool,
        mut ops: RecordOperands<'_>,
    ) -> LlvmResult<()> {
        let (pointer, pointer_type) = self.read_value(&mut ops)?;
        let (value, ty) = if typed {
            self.read_value(&mut ops)?
        } else {
            let LlvmTypeKind::Pointer {
                pointee: Some(ty), ..
            } = *self.reader.module.types.kind(pointer_type)
            else {
                return ops.fail_with("an atomic operation on memory of unknown type");
            };
            (self.value_of(ty, &mut ops)?, ty)
        };
        let Some(op) = RmwOp::from_code(ops.next()?) else {
            return ops.fail_with("an unknown atomic operation");
        };
        let flags = if ops.next()? != 0 {
            LlvmInstFlags::VOLATILE
        } else {
            LlvmInstFlags::NONE
        };
        let ordering = Self::read_ordering(&mut ops)?;
        let scope = self.read_scope(&mut ops)?;
        let align: LlvmAlign = decode_alignment(ops.or_zero(), &ops)?;
        let extra = InstructionExtra::Rmw {
            op,
            align,
            ordering,
            scope,
        };
        self.push_flagged(
            LlvmOpcode::AtomicRmw,
            flags,
            ty,
            &[pointer, value],
            extra,
            &ops,
        )
    }
}
