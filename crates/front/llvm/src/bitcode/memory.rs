//! Records of instructions that access memory or compute addresses.

use super::codes::address_flags;
use super::function::BitcodeBodyReader;
use super::globals::align;
use super::ops::RecordOperands;
use crate::BoxedDiagnostic;
use crate::ir::{
    InstructionExtra, LlvmAlign, LlvmInstFlags, LlvmOpcode, LlvmPoolRange, LlvmSymbol, LlvmType,
    LlvmTypeKind, Ordering, RmwOp, address_type,
};
use smallvec::SmallVec;

impl BitcodeBodyReader<'_> {
    pub(super) fn alloca(&mut self, mut ops: RecordOperands<'_>) -> Result<(), BoxedDiagnostic> {
        let mut ty = self.reader.types.take(&mut ops)?;
        let size_type = self.reader.types.take(&mut ops)?;
        let size = self.value_numbered(size_type, ops.next()?, &ops)?;
        let bits = ops.next()?;
        let align = align(bits & 0x1f | bits >> 8 << 5, &ops)?;
        if bits & 1 << 6 == 0 {
            match *self.reader.module.types.kind(ty) {
                LlvmTypeKind::Pointer {
                    pointee: Some(pointee),
                    ..
                } => ty = pointee,
                _ => return ops.error("an allocation without a type"),
            }
        }
        let space = match ops.is_empty() {
            true => self.reader.module.layout.alloca_space(),
            false => ops.next_u32()?,
        };
        let pointee = self.reader.types.typed_pointers.then_some(ty);
        let pointer = self
            .reader
            .module
            .types
            .intern(LlvmTypeKind::Pointer { space, pointee });
        let mut flags = LlvmInstFlags::NONE;
        if bits & 1 << 5 != 0 {
            flags |= LlvmInstFlags::INALLOCA;
        }
        if bits & 1 << 7 != 0 {
            flags |= LlvmInstFlags::SWIFTERROR;
        }
        let extra = InstructionExtra::Alloca { ty, align };
        self.flagged(LlvmOpcode::Alloca, flags, pointer, &[size], extra, &ops)
    }

    fn scope(&mut self, ops: &mut RecordOperands<'_>) -> Result<LlvmSymbol, BoxedDiagnostic> {
        let number = ops.index()?;
        if let Some(&scope) = self.reader.sync_scopes.get(number) {
            return Ok(scope);
        }
        match number {
            0 => Ok(self.reader.module.strings.intern("singlethread")),
            1 => Ok(LlvmSymbol::EMPTY),
            _ => ops.error("a synchronisation scope that is not defined"),
        }
    }

    fn ordering(ops: &mut RecordOperands<'_>) -> Result<Ordering, BoxedDiagnostic> {
        match Ordering::from_code(ops.next()?) {
            Some(ordering) => Ok(ordering),
            None => ops.error("an ordering that is not known"),
        }
    }

    /// Alignment and whether volatile; for an atomic access also ordering and scope.
    fn access(
        &mut self,
        atomic: bool,
        ops: &mut RecordOperands<'_>,
    ) -> Result<(InstructionExtra, LlvmInstFlags), BoxedDiagnostic> {
        let align = align(ops.next()?, ops)?;
        let flags = if ops.next()? != 0 {
            LlvmInstFlags::VOLATILE
        } else {
            LlvmInstFlags::NONE
        };
        let (mut ordering, mut scope) = (Ordering::NotAtomic, LlvmSymbol::EMPTY);
        if atomic {
            ordering = Self::ordering(ops)?;
            scope = self.scope(ops)?;
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

    pub(super) fn load(
        &mut self,
        atomic: bool,
        mut ops: RecordOperands<'_>,
    ) -> Result<(), BoxedDiagnostic> {
        let (pointer, _) = self.value(&mut ops)?;
        let ty = self.reader.types.take(&mut ops)?;
        let (extra, flags) = self.access(atomic, &mut ops)?;
        self.flagged(LlvmOpcode::Load, flags, ty, &[pointer], extra, &ops)
    }

    pub(super) fn store(
        &mut self,
        atomic: bool,
        mut ops: RecordOperands<'_>,
    ) -> Result<(), BoxedDiagnostic> {
        let (pointer, _) = self.value(&mut ops)?;
        let (value, _) = self.value(&mut ops)?;
        let (extra, flags) = self.access(atomic, &mut ops)?;
        self.flagged(
            LlvmOpcode::Store,
            flags,
            LlvmType::VOID,
            &[value, pointer],
            extra,
            &ops,
        )
    }

    pub(super) fn va_arg(&mut self, mut ops: RecordOperands<'_>) -> Result<(), BoxedDiagnostic> {
        let list_type = self.reader.types.take(&mut ops)?;
        let list = self.value_of(list_type, &mut ops)?;
        let ty = self.reader.types.take(&mut ops)?;
        self.flagged(
            LlvmOpcode::VaArg,
            LlvmInstFlags::NONE,
            ty,
            &[list],
            InstructionExtra::None,
            &ops,
        )
    }

    pub(super) fn fence(&mut self, mut ops: RecordOperands<'_>) -> Result<(), BoxedDiagnostic> {
        let ordering = Self::ordering(&mut ops)?;
        let scope = self.scope(&mut ops)?;
        let extra = InstructionExtra::Fence { ordering, scope };
        self.flagged(
            LlvmOpcode::Fence,
            LlvmInstFlags::NONE,
            LlvmType::VOID,
            &[],
            extra,
            &ops,
        )
    }

    pub(super) fn address(&mut self, mut ops: RecordOperands<'_>) -> Result<(), BoxedDiagnostic> {
        let flags = address_flags(ops.next()?);
        let source = self.reader.types.take(&mut ops)?;
        let start = self.func.value_pool.len();
        let (base, base_type) = self.value(&mut ops)?;
        self.func.value_pool.push(base);
        let mut indices: SmallVec<[_; 8]> = SmallVec::new();
        while !ops.is_empty() {
            let (index, ty) = self.value(&mut ops)?;
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
        .or_else(|why| ops.error(why))?;
        let operands = LlvmPoolRange::since(start, &self.func.value_pool);
        let extra = InstructionExtra::SourceType(source);
        self.gathered(LlvmOpcode::GetElementPtr, flags, ty, operands, extra, &ops)
    }

    pub(super) fn compare_exchange(
        &mut self,
        mut ops: RecordOperands<'_>,
    ) -> Result<(), BoxedDiagnostic> {
        let (pointer, _) = self.value(&mut ops)?;
        let (expected, ty) = self.value(&mut ops)?;
        let new = self.value_of(ty, &mut ops)?;
        let mut flags = if ops.next()? != 0 {
            LlvmInstFlags::VOLATILE
        } else {
            LlvmInstFlags::NONE
        };
        let success = Self::ordering(&mut ops)?;
        let scope = self.scope(&mut ops)?;
        let failure = Self::ordering(&mut ops)?;
        if ops.or_zero() != 0 {
            flags |= LlvmInstFlags::WEAK;
        }
        let align = align(ops.or_zero(), &ops)?;
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
        self.flagged(
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
    ) -> Result<(), BoxedDiagnostic> {
        let (pointer, pointer_type) = self.value(&mut ops)?;
        let (value, ty) = if typed {
            self.value(&mut ops)?
        } else {
            let LlvmTypeKind::Pointer {
                pointee: Some(ty), ..
            } = *self.reader.module.types.kind(pointer_type)
            else {
                return ops.error("an atomic operation on memory of unknown type");
            };
            (self.value_of(ty, &mut ops)?, ty)
        };
        let Some(op) = RmwOp::from_code(ops.next()?) else {
            return ops.error("an atomic operation that is not known");
        };
        let flags = if ops.next()? != 0 {
            LlvmInstFlags::VOLATILE
        } else {
            LlvmInstFlags::NONE
        };
        let ordering = Self::ordering(&mut ops)?;
        let scope = self.scope(&mut ops)?;
        let align: LlvmAlign = align(ops.or_zero(), &ops)?;
        let extra = InstructionExtra::Rmw {
            op,
            align,
            ordering,
            scope,
        };
        self.flagged(
            LlvmOpcode::AtomicRmw,
            flags,
            ty,
            &[pointer, value],
            extra,
            &ops,
        )
    }
}
