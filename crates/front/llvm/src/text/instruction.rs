//! Instruction parser.

use super::parser::LlvmParser;
use crate::ir::{
    InstructionExtra, LlvmBlock, LlvmInstFlags, LlvmInstruction, LlvmOpcode, LlvmPoolRange,
    LlvmType, LlvmTypeKind, LlvmValue, Predicate, compare_type, member_type, shuffle_mask,
    shuffle_type,
};
use crate::{LlvmResult, auto_upgrade, error_at};

const FAST_MATH: LlvmInstFlags = LlvmInstFlags::FAST;

/// Flags that may follow an opcode.
fn allowed_flags(opcode: LlvmOpcode) -> LlvmInstFlags {
    match opcode {
        LlvmOpcode::Add
        | LlvmOpcode::Sub
        | LlvmOpcode::Mul
        | LlvmOpcode::Shl
        | LlvmOpcode::Trunc => LlvmInstFlags::NUW | LlvmInstFlags::NSW,
        LlvmOpcode::UDiv | LlvmOpcode::SDiv | LlvmOpcode::LShr | LlvmOpcode::AShr => {
            LlvmInstFlags::EXACT
        }
        LlvmOpcode::Or => LlvmInstFlags::DISJOINT,
        LlvmOpcode::ZExt => LlvmInstFlags::NNEG,
        LlvmOpcode::UiToFp => LlvmInstFlags::NNEG | FAST_MATH,
        LlvmOpcode::ICmp => LlvmInstFlags::SAMESIGN,
        LlvmOpcode::GetElementPtr => {
            LlvmInstFlags::INBOUNDS | LlvmInstFlags::NUSW | LlvmInstFlags::NUW
        }
        LlvmOpcode::FNeg
        | LlvmOpcode::FAdd
        | LlvmOpcode::FSub
        | LlvmOpcode::FMul
        | LlvmOpcode::FDiv
        | LlvmOpcode::FRem
        | LlvmOpcode::FCmp
        | LlvmOpcode::Phi
        | LlvmOpcode::Select
        | LlvmOpcode::Call
        | LlvmOpcode::FpTrunc
        | LlvmOpcode::FpExt
        | LlvmOpcode::SiToFp => FAST_MATH,
        _ => LlvmInstFlags::NONE,
    }
}

impl LlvmParser<'_> {
    /// Parses an instruction whose result name was already parsed. It began at byte `start`.
    pub fn parse_instruction(&mut self, start: usize) -> LlvmResult<()> {
        let tail = match self.peek_word() {
            "tail" => LlvmInstFlags::TAIL,
            "musttail" => LlvmInstFlags::MUSTTAIL,
            "notail" => LlvmInstFlags::NOTAIL,
            _ => LlvmInstFlags::NONE,
        };
        if !tail.is_empty() {
            self.take_token();
            if !self.at_word("call") {
                return self.fail_expected("`call`");
            }
        }
        let Some(opcode) = self.eat_named(LlvmOpcode::from_name) else {
            return self.fail_expected("an instruction");
        };
        let flags = self.parse_flags(allowed_flags(opcode)) | tail;
        match opcode {
            _ if opcode.is_binary() => self.parse_binary(opcode, flags, start),
            _ if opcode.is_cast() => self.parse_cast(opcode, flags, start),
            LlvmOpcode::FNeg | LlvmOpcode::Freeze | LlvmOpcode::Resume => {
                self.parse_unary(opcode, flags, start)
            }
            LlvmOpcode::ICmp | LlvmOpcode::FCmp => self.parse_compare(opcode, flags, start),
            LlvmOpcode::Ret => self.parse_return(start),
            LlvmOpcode::Br => self.parse_branch(start),
            LlvmOpcode::Switch => self.parse_switch(start),
            LlvmOpcode::IndirectBr => self.parse_indirect_branch(start),
            LlvmOpcode::Unreachable => self.push_operation(
                opcode,
                flags,
                LlvmType::VOID,
                &[],
                InstructionExtra::None,
                start,
            ),
            LlvmOpcode::Phi => self.parse_phi(flags, start),
            LlvmOpcode::Select => self.parse_select(flags, start),
            LlvmOpcode::Alloca => self.parse_alloca(start),
            LlvmOpcode::Load => self.parse_load(start),
            LlvmOpcode::Store => self.parse_store(start),
            LlvmOpcode::GetElementPtr => self.parse_address(flags, start),
            LlvmOpcode::Fence => self.parse_fence(start),
            LlvmOpcode::CmpXchg => self.compare_exchange(start),
            LlvmOpcode::AtomicRmw => self.read_modify_write(start),
            LlvmOpcode::ExtractElement | LlvmOpcode::InsertElement | LlvmOpcode::ShuffleVector => {
                self.parse_vector_instruction(opcode, start)
            }
            LlvmOpcode::ExtractValue | LlvmOpcode::InsertValue => {
                self.parse_aggregate_instruction(opcode, start)
            }
            LlvmOpcode::VaArg => self.parse_va_arg(start),
            LlvmOpcode::LandingPad => self.parse_landing_pad(start),
            LlvmOpcode::CatchPad | LlvmOpcode::CleanupPad => self.parse_pad(opcode, start),
            LlvmOpcode::CatchSwitch => self.parse_catch_switch(start),
            LlvmOpcode::CatchRet | LlvmOpcode::CleanupRet => self.parse_pad_return(opcode, start),
            _ => self.parse_call(opcode, flags, start),
        }
    }

    pub(super) fn push_operation(
        &mut self,
        opcode: LlvmOpcode,
        flags: LlvmInstFlags,
        ty: LlvmType,
        operands: &[LlvmValue],
        extra: InstructionExtra,
        start: usize,
    ) -> LlvmResult<()> {
        let operands = self.current_body()?.func.add_operands(operands);
        self.push_instruction(
            LlvmInstruction {
                opcode,
                flags,
                ty,
                operands,
                extra,
            },
            start,
        )
    }

    pub(super) fn add_blocks(&mut self, blocks: &[LlvmBlock]) -> LlvmResult<InstructionExtra> {
        let body = self.current_body()?;
        let start = body.func.block_pool.len();
        body.func.block_pool.extend_from_slice(blocks);
        Ok(InstructionExtra::Blocks(LlvmPoolRange::from_start(
            start,
            &body.func.block_pool,
        )))
    }

    pub(super) fn add_numbers(&mut self, numbers: &[u32]) -> LlvmResult<LlvmPoolRange> {
        let body = self.current_body()?;
        let start = body.func.number_pool.len();
        body.func.number_pool.extend_from_slice(numbers);
        Ok(LlvmPoolRange::from_start(start, &body.func.number_pool))
    }

    fn parse_binary(
        &mut self,
        opcode: LlvmOpcode,
        flags: LlvmInstFlags,
        start: usize,
    ) -> LlvmResult<()> {
        let (ty, left) = self.typed_value()?;
        self.expect_punct(b',')?;
        let right = self.parse_value(ty)?;
        self.push_operation(
            opcode,
            flags,
            ty,
            &[left, right],
            InstructionExtra::None,
            start,
        )
    }

    fn parse_unary(
        &mut self,
        opcode: LlvmOpcode,
        flags: LlvmInstFlags,
        start: usize,
    ) -> LlvmResult<()> {
        let (ty, operand) = self.typed_value()?;
        let ty = if opcode == LlvmOpcode::Resume {
            LlvmType::VOID
        } else {
            ty
        };
        self.push_operation(opcode, flags, ty, &[operand], InstructionExtra::None, start)
    }

    fn parse_cast(
        &mut self,
        opcode: LlvmOpcode,
        flags: LlvmInstFlags,
        start: usize,
    ) -> LlvmResult<()> {
        let (from, operand) = self.typed_value()?;
        self.expect_word("to")?;
        let ty = self.parse_type()?;
        let opcode = if self.has_bytes {
            auto_upgrade::byte_cast(&self.module.types, opcode, from, ty)
        } else {
            opcode
        };
        self.push_operation(opcode, flags, ty, &[operand], InstructionExtra::None, start)
    }

    fn parse_compare(
        &mut self,
        opcode: LlvmOpcode,
        flags: LlvmInstFlags,
        start: usize,
    ) -> LlvmResult<()> {
        let integer = opcode == LlvmOpcode::ICmp;
        let named = |name: &str| Predicate::from_name_for(name, integer);
        let Some(predicate) = self.eat_named(named) else {
            return self.fail_expected("a comparison");
        };
        let (ty, left) = self.typed_value()?;
        self.expect_punct(b',')?;
        let right = self.parse_value(ty)?;
        let ty = compare_type(&mut self.module.types, ty);
        self.push_operation(
            opcode,
            flags,
            ty,
            &[left, right],
            InstructionExtra::Compare(predicate),
            start,
        )
    }

    fn parse_return(&mut self, start: usize) -> LlvmResult<()> {
        let ty = self.parse_type()?;
        if ty == LlvmType::VOID {
            return self.push_operation(
                LlvmOpcode::Ret,
                LlvmInstFlags::NONE,
                ty,
                &[],
                InstructionExtra::None,
                start,
            );
        }
        let value = self.parse_value(ty)?;
        self.push_operation(
            LlvmOpcode::Ret,
            LlvmInstFlags::NONE,
            LlvmType::VOID,
            &[value],
            InstructionExtra::None,
            start,
        )
    }

    fn parse_branch(&mut self, start: usize) -> LlvmResult<()> {
        if self.at_word("label") {
            let target = self.parse_target()?;
            let blocks = self.add_blocks(&[target])?;
            return self.push_operation(
                LlvmOpcode::Br,
                LlvmInstFlags::NONE,
                LlvmType::VOID,
                &[],
                blocks,
                start,
            );
        }
        let place = self.token.place();
        let (ty, condition) = self.typed_value()?;
        if ty != LlvmType::I1 {
            return Err(error_at(place, "a branch on a value that is not an `i1`"));
        }
        self.expect_punct(b',')?;
        let first = self.parse_target()?;
        self.expect_punct(b',')?;
        let second = self.parse_target()?;
        let blocks = self.add_blocks(&[first, second])?;
        self.push_operation(
            LlvmOpcode::Br,
            LlvmInstFlags::NONE,
            LlvmType::VOID,
            &[condition],
            blocks,
            start,
        )
    }

    fn parse_switch(&mut self, start: usize) -> LlvmResult<()> {
        let (ty, value) = self.typed_value()?;
        self.expect_punct(b',')?;
        let mut operands = vec![value];
        let mut blocks = vec![self.parse_target()?];
        self.expect_punct(b'[')?;
        while !self.eat_punct(b']') {
            let place = self.token.place();
            let case = self.typed_constant()?;
            if self.module.consts.ty(case) != ty {
                return Err(error_at(place, "a case of another type"));
            }
            self.expect_punct(b',')?;
            operands.push(LlvmValue::from_constant(case));
            blocks.push(self.parse_target()?);
        }
        let blocks = self.add_blocks(&blocks)?;
        self.push_operation(
            LlvmOpcode::Switch,
            LlvmInstFlags::NONE,
            LlvmType::VOID,
            &operands,
            blocks,
            start,
        )
    }

    fn parse_indirect_branch(&mut self, start: usize) -> LlvmResult<()> {
        let (_, address) = self.typed_value()?;
        self.expect_punct(b',')?;
        let blocks = self.parse_target_list()?;
        let blocks = self.add_blocks(&blocks)?;
        self.push_operation(
            LlvmOpcode::IndirectBr,
            LlvmInstFlags::NONE,
            LlvmType::VOID,
            &[address],
            blocks,
            start,
        )
    }

    pub(super) fn parse_target_list(&mut self) -> LlvmResult<Vec<LlvmBlock>> {
        self.expect_punct(b'[')?;
        let mut blocks = Vec::new();
        self.parse_list(b']', |parser| {
            blocks.push(parser.parse_target()?);
            Ok(())
        })?;
        Ok(blocks)
    }

    fn parse_phi(&mut self, flags: LlvmInstFlags, start: usize) -> LlvmResult<()> {
        let ty = self.parse_type()?;
        let (mut operands, mut blocks) = (Vec::new(), Vec::new());
        loop {
            self.expect_punct(b'[')?;
            operands.push(self.parse_value(ty)?);
            self.expect_punct(b',')?;
            blocks.push(self.parse_block_name()?);
            self.expect_punct(b']')?;
            if !self.comma_before(b'[') {
                break;
            }
        }
        let blocks = self.add_blocks(&blocks)?;
        self.push_operation(LlvmOpcode::Phi, flags, ty, &operands, blocks, start)
    }

    /// Takes a comma if a certain character follows it.
    pub(super) fn comma_before(&mut self, punct: u8) -> bool {
        let ahead = self.text[self.token.end..].trim_ascii_start();
        self.is_at(b',') && ahead.first() == Some(&punct) && self.eat_punct(b',')
    }

    /// Takes a comma unless metadata follows it.
    pub(super) fn comma_before_operand(&mut self) -> bool {
        let ahead = self.text[self.token.end..].trim_ascii_start();
        self.is_at(b',') && ahead.first() != Some(&b'!') && self.eat_punct(b',')
    }

    fn parse_select(&mut self, flags: LlvmInstFlags, start: usize) -> LlvmResult<()> {
        let (_, condition) = self.typed_value()?;
        self.expect_punct(b',')?;
        let (ty, first) = self.typed_value()?;
        self.expect_punct(b',')?;
        let place = self.token.place();
        let (second_type, second) = self.typed_value()?;
        if !self.module.types.is_compatible(second_type, ty) {
            return Err(error_at(place, "a value of another type than the first"));
        }
        self.push_operation(
            LlvmOpcode::Select,
            flags,
            ty,
            &[condition, first, second],
            InstructionExtra::None,
            start,
        )
    }

    fn parse_vector_instruction(&mut self, opcode: LlvmOpcode, start: usize) -> LlvmResult<()> {
        let place = self.token.place();
        let (ty, first) = self.typed_value()?;
        let LlvmTypeKind::Vector { element, .. } = *self.module.types.kind(ty) else {
            return Err(error_at(place, "expected a vector"));
        };
        self.expect_punct(b',')?;
        let place = self.token.place();
        let (second_type, second) = self.typed_value()?;
        if opcode == LlvmOpcode::ExtractElement {
            return self.push_operation(
                opcode,
                LlvmInstFlags::NONE,
                element,
                &[first, second],
                InstructionExtra::None,
                start,
            );
        }
        self.expect_punct(b',')?;
        let expected = if opcode == LlvmOpcode::InsertElement {
            element
        } else {
            ty
        };
        if !self.module.types.is_compatible(second_type, expected) {
            return Err(error_at(
                place,
                "a value of a type that does not fit the vector",
            ));
        }
        let place = self.token.place();
        let (_, third) = self.typed_value()?;
        if opcode == LlvmOpcode::InsertElement {
            return self.push_operation(
                opcode,
                LlvmInstFlags::NONE,
                ty,
                &[first, second, third],
                InstructionExtra::None,
                start,
            );
        }
        let module = &mut self.module;
        let mask = third
            .as_const()
            .and_then(|mask| shuffle_mask(&module.types, &module.consts, mask));
        let ty = mask
            .as_ref()
            .and_then(|mask| shuffle_type(&mut module.types, ty, mask.len()));
        let (Some(mask), Some(ty)) = (mask, ty) else {
            return Err(error_at(
                place,
                "expected a constant vector of `i32` as the mask",
            ));
        };
        let mask = InstructionExtra::Mask(self.add_numbers(&mask)?);
        self.push_operation(
            opcode,
            LlvmInstFlags::NONE,
            ty,
            &[first, second],
            mask,
            start,
        )
    }

    fn parse_aggregate_instruction(&mut self, opcode: LlvmOpcode, start: usize) -> LlvmResult<()> {
        let (ty, aggregate) = self.typed_value()?;
        let mut operands = vec![aggregate];
        if opcode == LlvmOpcode::InsertValue {
            self.expect_punct(b',')?;
            operands.push(self.typed_value()?.1);
        }
        let mut path = Vec::new();
        while self.comma_before_operand() {
            path.push(self.unsigned_32()?);
        }
        let Some(member) = member_type(&self.module.types, ty, &path).filter(|_| !path.is_empty())
        else {
            let place = self.place_from(start);
            return Err(error_at(
                place,
                "the indices do not select a member of the aggregate",
            ));
        };
        let indices = InstructionExtra::Indices(self.add_numbers(&path)?);
        let ty = if opcode == LlvmOpcode::ExtractValue {
            member
        } else {
            ty
        };
        self.push_operation(opcode, LlvmInstFlags::NONE, ty, &operands, indices, start)
    }

    fn parse_va_arg(&mut self, start: usize) -> LlvmResult<()> {
        let (_, list) = self.typed_value()?;
        self.expect_punct(b',')?;
        let ty = self.parse_type()?;
        self.push_operation(
            LlvmOpcode::VaArg,
            LlvmInstFlags::NONE,
            ty,
            &[list],
            InstructionExtra::None,
            start,
        )
    }

    fn parse_landing_pad(&mut self, start: usize) -> LlvmResult<()> {
        let ty = self.parse_type()?;
        let flags = self.parse_flags(LlvmInstFlags::CLEANUP);
        let mut clauses = Vec::new();
        while self.eat_word("catch") || self.eat_word("filter") {
            clauses.push(self.typed_value()?.1);
        }
        self.push_operation(
            LlvmOpcode::LandingPad,
            flags,
            ty,
            &clauses,
            InstructionExtra::None,
            start,
        )
    }

    fn parse_pad(&mut self, opcode: LlvmOpcode, start: usize) -> LlvmResult<()> {
        self.expect_word("within")?;
        let mut operands = vec![self.parse_value(LlvmType::TOKEN)?];
        self.expect_punct(b'[')?;
        self.parse_list(b']', |parser| {
            operands.push(parser.typed_value()?.1);
            Ok(())
        })?;
        self.push_operation(
            opcode,
            LlvmInstFlags::NONE,
            LlvmType::TOKEN,
            &operands,
            InstructionExtra::None,
            start,
        )
    }

    fn parse_catch_switch(&mut self, start: usize) -> LlvmResult<()> {
        self.expect_word("within")?;
        let parent = self.parse_value(LlvmType::TOKEN)?;
        let mut blocks = self.parse_target_list()?;
        let unwind = self.parse_unwind_target()?;
        let flags = if unwind.is_some() {
            LlvmInstFlags::CLEANUP
        } else {
            LlvmInstFlags::NONE
        };
        blocks.extend(unwind);
        let blocks = self.add_blocks(&blocks)?;
        self.push_operation(
            LlvmOpcode::CatchSwitch,
            flags,
            LlvmType::TOKEN,
            &[parent],
            blocks,
            start,
        )
    }

    /// `unwind to caller` or `unwind label %name`
    fn parse_unwind_target(&mut self) -> LlvmResult<Option<LlvmBlock>> {
        self.expect_word("unwind")?;
        if self.eat_word("to") {
            self.expect_word("caller")?;
            return Ok(None);
        }
        self.parse_target().map(Some)
    }

    fn parse_pad_return(&mut self, opcode: LlvmOpcode, start: usize) -> LlvmResult<()> {
        self.expect_word("from")?;
        let pad = self.parse_value(LlvmType::TOKEN)?;
        let target = if opcode == LlvmOpcode::CatchRet {
            self.expect_word("to")?;
            Some(self.parse_target()?)
        } else {
            self.parse_unwind_target()?
        };
        let blocks = self.add_blocks(target.as_slice())?;
        self.push_operation(
            opcode,
            LlvmInstFlags::NONE,
            LlvmType::VOID,
            &[pad],
            blocks,
            start,
        )
    }
}
