//! Records of instructions that access memory or compute addresses.

use super::codes::address_flags;
use super::function::Body;
use super::globals::align;
use super::ops::Ops;
use crate::Error;
use crate::ir::{
    Align, Extra, Flags, LlvmSymbol, LlvmType, Opcode, Ordering, RmwOp, Span, TypeKind,
    address_type,
};
use smallvec::SmallVec;

impl Body<'_> {
    pub(super) fn alloca(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let mut ty = self.reader.types.take(&mut ops)?;
        let size_type = self.reader.types.take(&mut ops)?;
        let size = self.value_numbered(size_type, ops.next()?, &ops)?;
        let bits = ops.next()?;
        let align = align(bits & 0x1f | bits >> 8 << 5, &ops)?;
        if bits & 1 << 6 == 0 {
            match *self.reader.module.types.kind(ty) {
                TypeKind::Pointer {
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
            .intern(TypeKind::Pointer { space, pointee });
        let mut flags = Flags::NONE;
        if bits & 1 << 5 != 0 {
            flags |= Flags::INALLOCA;
        }
        if bits & 1 << 7 != 0 {
            flags |= Flags::SWIFTERROR;
        }
        let extra = Extra::Alloca { ty, align };
        self.flagged(Opcode::Alloca, flags, pointer, &[size], extra, &ops)
    }

    fn scope(&mut self, ops: &mut Ops<'_>) -> Result<LlvmSymbol, Error> {
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

    fn ordering(ops: &mut Ops<'_>) -> Result<Ordering, Error> {
        match Ordering::from_code(ops.next()?) {
            Some(ordering) => Ok(ordering),
            None => ops.error("an ordering that is not known"),
        }
    }

    /// Alignment and whether volatile; for an atomic access also ordering and scope.
    fn access(&mut self, atomic: bool, ops: &mut Ops<'_>) -> Result<(Extra, Flags), Error> {
        let align = align(ops.next()?, ops)?;
        let flags = if ops.next()? != 0 {
            Flags::VOLATILE
        } else {
            Flags::NONE
        };
        let (mut ordering, mut scope) = (Ordering::NotAtomic, LlvmSymbol::EMPTY);
        if atomic {
            ordering = Self::ordering(ops)?;
            scope = self.scope(ops)?;
        }
        Ok((
            Extra::Access {
                align,
                ordering,
                scope,
            },
            flags,
        ))
    }

    pub(super) fn load(&mut self, atomic: bool, mut ops: Ops<'_>) -> Result<(), Error> {
        let (pointer, _) = self.value(&mut ops)?;
        let ty = self.reader.types.take(&mut ops)?;
        let (extra, flags) = self.access(atomic, &mut ops)?;
        self.flagged(Opcode::Load, flags, ty, &[pointer], extra, &ops)
    }

    pub(super) fn store(&mut self, atomic: bool, mut ops: Ops<'_>) -> Result<(), Error> {
        let (pointer, _) = self.value(&mut ops)?;
        let (value, _) = self.value(&mut ops)?;
        let (extra, flags) = self.access(atomic, &mut ops)?;
        self.flagged(
            Opcode::Store,
            flags,
            LlvmType::VOID,
            &[value, pointer],
            extra,
            &ops,
        )
    }

    pub(super) fn va_arg(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let list_type = self.reader.types.take(&mut ops)?;
        let list = self.value_of(list_type, &mut ops)?;
        let ty = self.reader.types.take(&mut ops)?;
        self.flagged(Opcode::VaArg, Flags::NONE, ty, &[list], Extra::None, &ops)
    }

    pub(super) fn fence(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let ordering = Self::ordering(&mut ops)?;
        let scope = self.scope(&mut ops)?;
        let extra = Extra::Fence { ordering, scope };
        self.flagged(Opcode::Fence, Flags::NONE, LlvmType::VOID, &[], extra, &ops)
    }

    pub(super) fn address(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
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
        let operands = Span::since(start, &self.func.value_pool);
        let extra = Extra::SourceType(source);
        self.gathered(Opcode::GetElementPtr, flags, ty, operands, extra, &ops)
    }

    pub(super) fn compare_exchange(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let (pointer, _) = self.value(&mut ops)?;
        let (expected, ty) = self.value(&mut ops)?;
        let new = self.value_of(ty, &mut ops)?;
        let mut flags = if ops.next()? != 0 {
            Flags::VOLATILE
        } else {
            Flags::NONE
        };
        let success = Self::ordering(&mut ops)?;
        let scope = self.scope(&mut ops)?;
        let failure = Self::ordering(&mut ops)?;
        if ops.or_zero() != 0 {
            flags |= Flags::WEAK;
        }
        let align = align(ops.or_zero(), &ops)?;
        let extra = Extra::CmpXchg {
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
            Opcode::CmpXchg,
            flags,
            ty,
            &[pointer, expected, new],
            extra,
            &ops,
        )
    }

    pub(super) fn read_modify_write(&mut self, typed: bool, mut ops: Ops<'_>) -> Result<(), Error> {
        let (pointer, pointer_type) = self.value(&mut ops)?;
        let (value, ty) = if typed {
            self.value(&mut ops)?
        } else {
            let TypeKind::Pointer {
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
            Flags::VOLATILE
        } else {
            Flags::NONE
        };
        let ordering = Self::ordering(&mut ops)?;
        let scope = self.scope(&mut ops)?;
        let align: Align = align(ops.or_zero(), &ops)?;
        let extra = Extra::Rmw {
            op,
            align,
            ordering,
            scope,
        };
        self.flagged(Opcode::AtomicRmw, flags, ty, &[pointer, value], extra, &ops)
    }
}
