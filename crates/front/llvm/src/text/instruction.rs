//! Instructions in LLVM assembly.

use super::parser::LlvmParser;
use crate::ir::{
    InstructionExtra, LlvmBlock, LlvmInstFlags, LlvmInstruction, LlvmOpcode, LlvmPoolRange,
    LlvmType, LlvmTypeKind, LlvmValue, Predicate, compare_type, member_type, shuffle_mask,
    shuffle_type,
};
use crate::{BoxedDiagnostic, fault, upgrade};

const FAST_MATH: LlvmInstFlags = LlvmInstFlags::FAST;

/// Flags that may stand behind an opcode.
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
    /// An instruction, without the name of its result; it began at byte `start`.
    pub fn instruction(&mut self, start: usize) -> Result<(), BoxedDiagnostic> {
        let tail = match self.peek_word() {
            "tail" => LlvmInstFlags::TAIL,
            "musttail" => LlvmInstFlags::MUSTTAIL,
            "notail" => LlvmInstFlags::NOTAIL,
            _ => LlvmInstFlags::NONE,
        };
        if !tail.is_empty() {
            self.bump();
            if !self.at_word("call") {
                return self.expected("`call`");
            }
        }
        let Some(opcode) = self.eat_named(LlvmOpcode::from_name) else {
            return self.expected("an instruction");
        };
        let flags = self.flags(allowed_flags(opcode)) | tail;
        match opcode {
            _ if opcode.is_binary() => self.binary(opcode, flags, start),
            _ if opcode.is_cast() => self.cast(opcode, flags, start),
            LlvmOpcode::FNeg | LlvmOpcode::Freeze | LlvmOpcode::Resume => {
                self.unary(opcode, flags, start)
            }
            LlvmOpcode::ICmp | LlvmOpcode::FCmp => self.compare(opcode, flags, start),
            LlvmOpcode::Ret => self.ret(start),
            LlvmOpcode::Br => self.branch(start),
            LlvmOpcode::Switch => self.switch(start),
            LlvmOpcode::IndirectBr => self.indirect_branch(start),
            LlvmOpcode::Unreachable => self.plain(
                opcode,
                flags,
                LlvmType::VOID,
                &[],
                InstructionExtra::None,
                start,
            ),
            LlvmOpcode::Phi => self.phi(flags, start),
            LlvmOpcode::Select => self.select(flags, start),
            LlvmOpcode::Alloca => self.alloca(start),
            LlvmOpcode::Load => self.load(start),
            LlvmOpcode::Store => self.store(start),
            LlvmOpcode::GetElementPtr => self.address(flags, start),
            LlvmOpcode::Fence => self.fence(start),
            LlvmOpcode::CmpXchg => self.compare_exchange(start),
            LlvmOpcode::AtomicRmw => self.read_modify_write(start),
            LlvmOpcode::ExtractElement | LlvmOpcode::InsertElement | LlvmOpcode::ShuffleVector => {
                self.vector(opcode, start)
            }
            LlvmOpcode::ExtractValue | LlvmOpcode::InsertValue => self.aggregate(opcode, start),
            LlvmOpcode::VaArg => self.va_arg(start),
            LlvmOpcode::LandingPad => self.landing_pad(start),
            LlvmOpcode::CatchPad | LlvmOpcode::CleanupPad => self.pad(opcode, start),
            LlvmOpcode::CatchSwitch => self.catch_switch(start),
            LlvmOpcode::CatchRet | LlvmOpcode::CleanupRet => self.pad_return(opcode, start),
            _ => self.call(opcode, flags, start),
        }
    }

    pub(super) fn plain(
        &mut self,
        opcode: LlvmOpcode,
        flags: LlvmInstFlags,
        ty: LlvmType,
        operands: &[LlvmValue],
        extra: InstructionExtra,
        start: usize,
    ) -> Result<(), BoxedDiagnostic> {
        let operands = self.body()?.operands(operands);
        self.push(
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

    pub(super) fn blocks(
        &mut self,
        blocks: &[LlvmBlock],
    ) -> Result<InstructionExtra, BoxedDiagnostic> {
        let body = self.body()?;
        let start = body.func.block_pool.len();
        body.func.block_pool.extend_from_slice(blocks);
        Ok(InstructionExtra::Blocks(LlvmPoolRange::since(
            start,
            &body.func.block_pool,
        )))
    }

    pub(super) fn numbers(&mut self, numbers: &[u32]) -> Result<LlvmPoolRange, BoxedDiagnostic> {
        let body = self.body()?;
        let start = body.func.number_pool.len();
        body.func.number_pool.extend_from_slice(numbers);
        Ok(LlvmPoolRange::since(start, &body.func.number_pool))
    }

    fn binary(
        &mut self,
        opcode: LlvmOpcode,
        flags: LlvmInstFlags,
        start: usize,
    ) -> Result<(), BoxedDiagnostic> {
        let (ty, left) = self.typed_value()?;
        self.expect(b',')?;
        let right = self.value(ty)?;
        self.plain(
            opcode,
            flags,
            ty,
            &[left, right],
            InstructionExtra::None,
            start,
        )
    }

    fn unary(
        &mut self,
        opcode: LlvmOpcode,
        flags: LlvmInstFlags,
        start: usize,
    ) -> Result<(), BoxedDiagnostic> {
        let (ty, operand) = self.typed_value()?;
        let ty = if opcode == LlvmOpcode::Resume {
            LlvmType::VOID
        } else {
            ty
        };
        self.plain(opcode, flags, ty, &[operand], InstructionExtra::None, start)
    }

    fn cast(
        &mut self,
        opcode: LlvmOpcode,
        flags: LlvmInstFlags,
        start: usize,
    ) -> Result<(), BoxedDiagnostic> {
        let (from, operand) = self.typed_value()?;
        self.expect_word("to")?;
        let ty = self.ty()?;
        let opcode = match self.has_bytes {
            true => upgrade::byte_cast(&self.module.types, opcode, from, ty),
            false => opcode,
        };
        self.plain(opcode, flags, ty, &[operand], InstructionExtra::None, start)
    }

    fn compare(
        &mut self,
        opcode: LlvmOpcode,
        flags: LlvmInstFlags,
        start: usize,
    ) -> Result<(), BoxedDiagnostic> {
        let integer = opcode == LlvmOpcode::ICmp;
        let named = |name: &str| Predicate::from_name_for(name, integer);
        let Some(predicate) = self.eat_named(named) else {
            return self.expected("a comparison");
        };
        let (ty, left) = self.typed_value()?;
        self.expect(b',')?;
        let right = self.value(ty)?;
        let ty = compare_type(&mut self.module.types, ty);
        self.plain(
            opcode,
            flags,
            ty,
            &[left, right],
            InstructionExtra::Compare(predicate),
            start,
        )
    }

    fn ret(&mut self, start: usize) -> Result<(), BoxedDiagnostic> {
        let ty = self.ty()?;
        if ty == LlvmType::VOID {
            return self.plain(
                LlvmOpcode::Ret,
                LlvmInstFlags::NONE,
                ty,
                &[],
                InstructionExtra::None,
                start,
            );
        }
        let value = self.value(ty)?;
        self.plain(
            LlvmOpcode::Ret,
            LlvmInstFlags::NONE,
            LlvmType::VOID,
            &[value],
            InstructionExtra::None,
            start,
        )
    }

    fn branch(&mut self, start: usize) -> Result<(), BoxedDiagnostic> {
        if self.at_word("label") {
            let target = self.target()?;
            let blocks = self.blocks(&[target])?;
            return self.plain(
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
            return Err(fault(place, "a branch on what is no `i1`"));
        }
        self.expect(b',')?;
        let first = self.target()?;
        self.expect(b',')?;
        let second = self.target()?;
        let blocks = self.blocks(&[first, second])?;
        self.plain(
            LlvmOpcode::Br,
            LlvmInstFlags::NONE,
            LlvmType::VOID,
            &[condition],
            blocks,
            start,
        )
    }

    fn switch(&mut self, start: usize) -> Result<(), BoxedDiagnostic> {
        let (ty, value) = self.typed_value()?;
        self.expect(b',')?;
        let mut operands = vec![value];
        let mut blocks = vec![self.target()?];
        self.expect(b'[')?;
        while !self.eat(b']') {
            let place = self.token.place();
            let case = self.typed_constant()?;
            if self.module.consts.ty(case) != ty {
                return Err(fault(place, "a case of another type"));
            }
            self.expect(b',')?;
            operands.push(LlvmValue::constant(case));
            blocks.push(self.target()?);
        }
        let blocks = self.blocks(&blocks)?;
        self.plain(
            LlvmOpcode::Switch,
            LlvmInstFlags::NONE,
            LlvmType::VOID,
            &operands,
            blocks,
            start,
        )
    }

    fn indirect_branch(&mut self, start: usize) -> Result<(), BoxedDiagnostic> {
        let (_, address) = self.typed_value()?;
        self.expect(b',')?;
        let blocks = self.target_list()?;
        let blocks = self.blocks(&blocks)?;
        self.plain(
            LlvmOpcode::IndirectBr,
            LlvmInstFlags::NONE,
            LlvmType::VOID,
            &[address],
            blocks,
            start,
        )
    }

    pub(super) fn target_list(&mut self) -> Result<Vec<LlvmBlock>, BoxedDiagnostic> {
        self.expect(b'[')?;
        let mut blocks = Vec::new();
        self.list(b']', |parser| {
            blocks.push(parser.target()?);
            Ok(())
        })?;
        Ok(blocks)
    }

    fn phi(&mut self, flags: LlvmInstFlags, start: usize) -> Result<(), BoxedDiagnostic> {
        let ty = self.ty()?;
        let (mut operands, mut blocks) = (Vec::new(), Vec::new());
        loop {
            self.expect(b'[')?;
            operands.push(self.value(ty)?);
            self.expect(b',')?;
            blocks.push(self.block_name()?);
            self.expect(b']')?;
            if !self.comma_before(b'[') {
                break;
            }
        }
        let blocks = self.blocks(&blocks)?;
        self.plain(LlvmOpcode::Phi, flags, ty, &operands, blocks, start)
    }

    /// Takes a comma if a certain character follows it.
    pub(super) fn comma_before(&mut self, punct: u8) -> bool {
        let ahead = self.text[self.token.end..].trim_ascii_start();
        self.at(b',') && ahead.first() == Some(&punct) && self.eat(b',')
    }

    /// Takes a comma unless metadata follows it.
    pub(super) fn comma_before_operand(&mut self) -> bool {
        let ahead = self.text[self.token.end..].trim_ascii_start();
        self.at(b',') && ahead.first() != Some(&b'!') && self.eat(b',')
    }

    fn select(&mut self, flags: LlvmInstFlags, start: usize) -> Result<(), BoxedDiagnostic> {
        let (_, condition) = self.typed_value()?;
        self.expect(b',')?;
        let (ty, first) = self.typed_value()?;
        self.expect(b',')?;
        let place = self.token.place();
        let (second_type, second) = self.typed_value()?;
        if !self.module.types.agree(second_type, ty) {
            return Err(fault(place, "a value of another type than the first"));
        }
        self.plain(
            LlvmOpcode::Select,
            flags,
            ty,
            &[condition, first, second],
            InstructionExtra::None,
            start,
        )
    }

    fn vector(&mut self, opcode: LlvmOpcode, start: usize) -> Result<(), BoxedDiagnostic> {
        let place = self.token.place();
        let (ty, first) = self.typed_value()?;
        let LlvmTypeKind::Vector { element, .. } = *self.module.types.kind(ty) else {
            return Err(fault(place, "expected a vector"));
        };
        self.expect(b',')?;
        let place = self.token.place();
        let (second_type, second) = self.typed_value()?;
        if opcode == LlvmOpcode::ExtractElement {
            return self.plain(
                opcode,
                LlvmInstFlags::NONE,
                element,
                &[first, second],
                InstructionExtra::None,
                start,
            );
        }
        self.expect(b',')?;
        let expected = if opcode == LlvmOpcode::InsertElement {
            element
        } else {
            ty
        };
        if !self.module.types.agree(second_type, expected) {
            return Err(fault(
                place,
                "a value of a type that does not fit the vector",
            ));
        }
        let place = self.token.place();
        let (_, third) = self.typed_value()?;
        if opcode == LlvmOpcode::InsertElement {
            return self.plain(
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
            return Err(fault(
                place,
                "expected a constant vector of `i32` as the mask",
            ));
        };
        let mask = InstructionExtra::Mask(self.numbers(&mask)?);
        self.plain(
            opcode,
            LlvmInstFlags::NONE,
            ty,
            &[first, second],
            mask,
            start,
        )
    }

    fn aggregate(&mut self, opcode: LlvmOpcode, start: usize) -> Result<(), BoxedDiagnostic> {
        let (ty, aggregate) = self.typed_value()?;
        let mut operands = vec![aggregate];
        if opcode == LlvmOpcode::InsertValue {
            self.expect(b',')?;
            operands.push(self.typed_value()?.1);
        }
        let mut path = Vec::new();
        while self.comma_before_operand() {
            path.push(self.unsigned_32()?);
        }
        let Some(member) = member_type(&self.module.types, ty, &path).filter(|_| !path.is_empty())
        else {
            let place = self.place_from(start);
            return Err(fault(
                place,
                "the indices do not lead through the aggregate",
            ));
        };
        let indices = InstructionExtra::Indices(self.numbers(&path)?);
        let ty = if opcode == LlvmOpcode::ExtractValue {
            member
        } else {
            ty
        };
        self.plain(opcode, LlvmInstFlags::NONE, ty, &operands, indices, start)
    }

    fn va_arg(&mut self, start: usize) -> Result<(), BoxedDiagnostic> {
        let (_, list) = self.typed_value()?;
        self.expect(b',')?;
        let ty = self.ty()?;
        self.plain(
            LlvmOpcode::VaArg,
            LlvmInstFlags::NONE,
            ty,
            &[list],
            InstructionExtra::None,
            start,
        )
    }

    fn landing_pad(&mut self, start: usize) -> Result<(), BoxedDiagnostic> {
        let ty = self.ty()?;
        let flags = self.flags(LlvmInstFlags::CLEANUP);
        let mut clauses = Vec::new();
        while self.eat_word("catch") || self.eat_word("filter") {
            clauses.push(self.typed_value()?.1);
        }
        self.plain(
            LlvmOpcode::LandingPad,
            flags,
            ty,
            &clauses,
            InstructionExtra::None,
            start,
        )
    }

    fn pad(&mut self, opcode: LlvmOpcode, start: usize) -> Result<(), BoxedDiagnostic> {
        self.expect_word("within")?;
        let mut operands = vec![self.value(LlvmType::TOKEN)?];
        self.expect(b'[')?;
        self.list(b']', |parser| {
            operands.push(parser.typed_value()?.1);
            Ok(())
        })?;
        self.plain(
            opcode,
            LlvmInstFlags::NONE,
            LlvmType::TOKEN,
            &operands,
            InstructionExtra::None,
            start,
        )
    }

    fn catch_switch(&mut self, start: usize) -> Result<(), BoxedDiagnostic> {
        self.expect_word("within")?;
        let parent = self.value(LlvmType::TOKEN)?;
        let mut blocks = self.target_list()?;
        let unwind = self.unwind()?;
        let flags = if unwind.is_some() {
            LlvmInstFlags::CLEANUP
        } else {
            LlvmInstFlags::NONE
        };
        blocks.extend(unwind);
        let blocks = self.blocks(&blocks)?;
        self.plain(
            LlvmOpcode::CatchSwitch,
            flags,
            LlvmType::TOKEN,
            &[parent],
            blocks,
            start,
        )
    }

    /// `unwind to caller` or `unwind label %name`
    fn unwind(&mut self) -> Result<Option<LlvmBlock>, BoxedDiagnostic> {
        self.expect_word("unwind")?;
        if self.eat_word("to") {
            self.expect_word("caller")?;
            return Ok(None);
        }
        self.target().map(Some)
    }

    fn pad_return(&mut self, opcode: LlvmOpcode, start: usize) -> Result<(), BoxedDiagnostic> {
        self.expect_word("from")?;
        let pad = self.value(LlvmType::TOKEN)?;
        let target = if opcode == LlvmOpcode::CatchRet {
            self.expect_word("to")?;
            Some(self.target()?)
        } else {
            self.unwind()?
        };
        let blocks = self.blocks(target.as_slice())?;
        self.plain(
            opcode,
            LlvmInstFlags::NONE,
            LlvmType::VOID,
            &[pad],
            blocks,
            start,
        )
    }
}
