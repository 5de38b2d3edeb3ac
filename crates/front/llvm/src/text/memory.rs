//! Memory instruction parser: allocations, accesses and address computations.

use super::parser::LlvmParser;
use crate::ir::{
    InstructionExtra, LlvmAlign, LlvmInstFlags, LlvmOpcode, LlvmSymbol, LlvmType, LlvmValue,
    Ordering, RmwOp, address_type,
};
use crate::{LlvmResult, error_at};

impl LlvmParser<'_> {
    pub(super) fn parse_alloca(&mut self, start: usize) -> LlvmResult<()> {
        let mut flags = self.parse_flags(LlvmInstFlags::INALLOCA);
        flags |= self.parse_flags(LlvmInstFlags::SWIFTERROR);
        let ty = self.parse_type()?;
        let mut count = None;
        let mut align = LlvmAlign::NONE;
        let mut space = 0;
        while self.comma_before_operand() {
            if self.at_word("align") {
                self.take_token();
                align = LlvmAlign::from_bytes(self.align_number()?).unwrap_or(LlvmAlign::NONE);
            } else if let Some(found) = self.parse_address_space()? {
                space = found;
            } else {
                count = Some(self.typed_value()?.1);
            }
        }
        let one = self
            .module
            .consts
            .make_int(&self.module.types, LlvmType::I32, 1);
        let count = count.unwrap_or(LlvmValue::from_constant(one));
        let pointer = self.pointer_to(ty, space);
        let extra = InstructionExtra::Alloca { ty, align };
        self.push_operation(LlvmOpcode::Alloca, flags, pointer, &[count], extra, start)
    }

    /// Parses `syncscope("…")` if it follows, then an ordering.
    pub(super) fn parse_scope_and_ordering(&mut self) -> LlvmResult<(LlvmSymbol, Ordering)> {
        let scope = self.parse_scope()?;
        Ok((scope, self.parse_ordering()?))
    }

    pub(super) fn parse_scope(&mut self) -> LlvmResult<LlvmSymbol> {
        if !self.eat_word("syncscope") {
            return Ok(LlvmSymbol::EMPTY);
        }
        self.expect_punct(b'(')?;
        let scope = self.symbol_string()?;
        self.expect_punct(b')')?;
        Ok(scope)
    }

    pub(super) fn parse_ordering(&mut self) -> LlvmResult<Ordering> {
        match self.eat_named(Ordering::from_name) {
            Some(ordering) => Ok(ordering),
            None => self.fail_expected("an ordering"),
        }
    }

    /// Parses `, align 8` if it follows.
    pub(super) fn parse_comma_alignment(&mut self) -> LlvmResult<LlvmAlign> {
        if !self.comma_before_operand() {
            return Ok(LlvmAlign::NONE);
        }
        self.expect_word("align")?;
        Ok(LlvmAlign::from_bytes(self.align_number()?).unwrap_or(LlvmAlign::NONE))
    }

    pub(super) fn parse_access(&mut self, atomic: bool) -> LlvmResult<InstructionExtra> {
        let (scope, ordering) = if atomic {
            self.parse_scope_and_ordering()?
        } else {
            (LlvmSymbol::EMPTY, Ordering::NotAtomic)
        };
        Ok(InstructionExtra::Access {
            align: self.parse_comma_alignment()?,
            ordering,
            scope,
        })
    }

    /// Parses the keyword `atomic` of an access if it follows.
    fn eat_atomic(&mut self) -> LlvmResult<bool> {
        let atomic = self.eat_word("atomic");
        self.refuse_elementwise()?;
        Ok(atomic)
    }

    /// Refuses element-wise atomic operations on vectors (LLVM 23).
    fn refuse_elementwise(&self) -> LlvmResult<()> {
        if self.at_word("elementwise") {
            self.fail_with("element-wise atomic operations are not supported")
        } else {
            Ok(())
        }
    }

    pub(super) fn parse_load(&mut self, start: usize) -> LlvmResult<()> {
        let atomic = self.eat_atomic()?;
        let flags = self.parse_flags(LlvmInstFlags::VOLATILE);
        let ty = self.parse_type()?;
        self.expect_punct(b',')?;
        let (_, pointer) = self.typed_value()?;
        let extra = self.parse_access(atomic)?;
        self.push_operation(LlvmOpcode::Load, flags, ty, &[pointer], extra, start)
    }

    pub(super) fn parse_store(&mut self, start: usize) -> LlvmResult<()> {
        let atomic = self.eat_atomic()?;
        let flags = self.parse_flags(LlvmInstFlags::VOLATILE);
        let (_, value) = self.typed_value()?;
        self.expect_punct(b',')?;
        let (_, pointer) = self.typed_value()?;
        let extra = self.parse_access(atomic)?;
        self.push_operation(
            LlvmOpcode::Store,
            flags,
            LlvmType::VOID,
            &[value, pointer],
            extra,
            start,
        )
    }

    pub(super) fn parse_address(&mut self, flags: LlvmInstFlags, start: usize) -> LlvmResult<()> {
        let source = self.parse_type()?;
        self.expect_punct(b',')?;
        let (base_type, base) = self.typed_value()?;
        let mut operands = vec![base];
        let mut indices = Vec::new();
        while self.comma_before_operand() {
            let (ty, index) = self.typed_value()?;
            operands.push(index);
            indices.push((ty, index.as_const()));
        }
        let place = self.place_from(start);
        let module = &mut self.module;
        let ty = address_type(
            &mut module.types,
            &module.consts,
            source,
            base_type,
            indices,
        )
        .map_err(|error| error.locate(place))?;
        // The flag implies the weaker one.
        let flags = if flags.contains_all(LlvmInstFlags::INBOUNDS) {
            LlvmInstFlags(flags.0 & !LlvmInstFlags::NUSW.0)
        } else {
            flags
        };
        self.push_operation(
            LlvmOpcode::GetElementPtr,
            flags,
            ty,
            &operands,
            InstructionExtra::SourceType(source),
            start,
        )
    }

    pub(super) fn parse_fence(&mut self, start: usize) -> LlvmResult<()> {
        let (scope, ordering) = self.parse_scope_and_ordering()?;
        let extra = InstructionExtra::Fence { ordering, scope };
        self.push_operation(
            LlvmOpcode::Fence,
            LlvmInstFlags::NONE,
            LlvmType::VOID,
            &[],
            extra,
            start,
        )
    }

    pub(super) fn compare_exchange(&mut self, start: usize) -> LlvmResult<()> {
        let mut flags = if self.eat_word("weak") {
            LlvmInstFlags::WEAK
        } else {
            LlvmInstFlags::NONE
        };
        flags |= self.parse_flags(LlvmInstFlags::VOLATILE);
        let (_, pointer) = self.typed_value()?;
        self.expect_punct(b',')?;
        let (ty, expected) = self.typed_value()?;
        self.expect_punct(b',')?;
        let place = self.token.place();
        let (new_type, new) = self.typed_value()?;
        if !self.module.types.is_compatible(new_type, ty) {
            return Err(error_at(
                place,
                "a value of another type than the one expected in memory",
            ));
        }
        let (scope, success) = self.parse_scope_and_ordering()?;
        let failure = self.parse_ordering()?;
        let extra = InstructionExtra::CmpXchg {
            align: self.parse_comma_alignment()?,
            success,
            failure,
            scope,
        };
        let ty = self
            .module
            .types
            .literal_struct([ty, LlvmType::I1].into(), false);
        self.push_operation(
            LlvmOpcode::CmpXchg,
            flags,
            ty,
            &[pointer, expected, new],
            extra,
            start,
        )
    }

    pub(super) fn read_modify_write(&mut self, start: usize) -> LlvmResult<()> {
        let flags = self.parse_flags(LlvmInstFlags::VOLATILE);
        self.refuse_elementwise()?;
        let Some(op) = self.eat_named(RmwOp::from_name) else {
            return self.fail_expected("an atomic operation");
        };
        let (_, pointer) = self.typed_value()?;
        self.expect_punct(b',')?;
        let (ty, value) = self.typed_value()?;
        let (scope, ordering) = self.parse_scope_and_ordering()?;
        let extra = InstructionExtra::Rmw {
            op,
            align: self.parse_comma_alignment()?,
            ordering,
            scope,
        };
        self.push_operation(
            LlvmOpcode::AtomicRmw,
            flags,
            ty,
            &[pointer, value],
            extra,
            start,
        )
    }
}
