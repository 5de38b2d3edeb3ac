//! Instructions in LLVM assembly.

use super::parser::Parser;
use crate::ir::{
    Extra, Flags, Instruction, LlvmBlock, LlvmType, Opcode, Predicate, Span, TypeKind, Value,
    compare_type, member_type, shuffle_mask, shuffle_type,
};
use crate::{Error, fault, upgrade};

const FAST_MATH: Flags = Flags::FAST;

/// Flags that may stand behind an opcode.
fn allowed_flags(opcode: Opcode) -> Flags {
    match opcode {
        Opcode::Add | Opcode::Sub | Opcode::Mul | Opcode::Shl | Opcode::Trunc => {
            Flags::NUW | Flags::NSW
        }
        Opcode::UDiv | Opcode::SDiv | Opcode::LShr | Opcode::AShr => Flags::EXACT,
        Opcode::Or => Flags::DISJOINT,
        Opcode::ZExt => Flags::NNEG,
        Opcode::UiToFp => Flags::NNEG | FAST_MATH,
        Opcode::ICmp => Flags::SAMESIGN,
        Opcode::GetElementPtr => Flags::INBOUNDS | Flags::NUSW | Flags::NUW,
        Opcode::FNeg
        | Opcode::FAdd
        | Opcode::FSub
        | Opcode::FMul
        | Opcode::FDiv
        | Opcode::FRem
        | Opcode::FCmp
        | Opcode::Phi
        | Opcode::Select
        | Opcode::Call
        | Opcode::FpTrunc
        | Opcode::FpExt
        | Opcode::SiToFp => FAST_MATH,
        _ => Flags::NONE,
    }
}

impl Parser<'_> {
    /// An instruction, without the name of its result; it began at byte `start`.
    pub fn instruction(&mut self, start: usize) -> Result<(), Error> {
        let tail = match self.peek_word() {
            "tail" => Flags::TAIL,
            "musttail" => Flags::MUSTTAIL,
            "notail" => Flags::NOTAIL,
            _ => Flags::NONE,
        };
        if !tail.is_empty() {
            self.bump();
            if !self.at_word("call") {
                return self.expected("`call`");
            }
        }
        let Some(opcode) = self.eat_named(Opcode::from_name) else {
            return self.expected("an instruction");
        };
        let flags = self.flags(allowed_flags(opcode)) | tail;
        match opcode {
            _ if opcode.is_binary() => self.binary(opcode, flags, start),
            _ if opcode.is_cast() => self.cast(opcode, flags, start),
            Opcode::FNeg | Opcode::Freeze | Opcode::Resume => self.unary(opcode, flags, start),
            Opcode::ICmp | Opcode::FCmp => self.compare(opcode, flags, start),
            Opcode::Ret => self.ret(start),
            Opcode::Br => self.branch(start),
            Opcode::Switch => self.switch(start),
            Opcode::IndirectBr => self.indirect_branch(start),
            Opcode::Unreachable => {
                self.plain(opcode, flags, LlvmType::VOID, &[], Extra::None, start)
            }
            Opcode::Phi => self.phi(flags, start),
            Opcode::Select => self.select(flags, start),
            Opcode::Alloca => self.alloca(start),
            Opcode::Load => self.load(start),
            Opcode::Store => self.store(start),
            Opcode::GetElementPtr => self.address(flags, start),
            Opcode::Fence => self.fence(start),
            Opcode::CmpXchg => self.compare_exchange(start),
            Opcode::AtomicRmw => self.read_modify_write(start),
            Opcode::ExtractElement | Opcode::InsertElement | Opcode::ShuffleVector => {
                self.vector(opcode, start)
            }
            Opcode::ExtractValue | Opcode::InsertValue => self.aggregate(opcode, start),
            Opcode::VaArg => self.va_arg(start),
            Opcode::LandingPad => self.landing_pad(start),
            Opcode::CatchPad | Opcode::CleanupPad => self.pad(opcode, start),
            Opcode::CatchSwitch => self.catch_switch(start),
            Opcode::CatchRet | Opcode::CleanupRet => self.pad_return(opcode, start),
            _ => self.call(opcode, flags, start),
        }
    }

    pub(super) fn plain(
        &mut self,
        opcode: Opcode,
        flags: Flags,
        ty: LlvmType,
        operands: &[Value],
        extra: Extra,
        start: usize,
    ) -> Result<(), Error> {
        let operands = self.body()?.operands(operands);
        self.push(
            Instruction {
                opcode,
                flags,
                ty,
                operands,
                extra,
            },
            start,
        )
    }

    pub(super) fn blocks(&mut self, blocks: &[LlvmBlock]) -> Result<Extra, Error> {
        let body = self.body()?;
        let start = body.func.block_pool.len();
        body.func.block_pool.extend_from_slice(blocks);
        Ok(Extra::Blocks(Span::since(start, &body.func.block_pool)))
    }

    pub(super) fn numbers(&mut self, numbers: &[u32]) -> Result<Span, Error> {
        let body = self.body()?;
        let start = body.func.number_pool.len();
        body.func.number_pool.extend_from_slice(numbers);
        Ok(Span::since(start, &body.func.number_pool))
    }

    fn binary(&mut self, opcode: Opcode, flags: Flags, start: usize) -> Result<(), Error> {
        let (ty, left) = self.typed_value()?;
        self.expect(b',')?;
        let right = self.value(ty)?;
        self.plain(opcode, flags, ty, &[left, right], Extra::None, start)
    }

    fn unary(&mut self, opcode: Opcode, flags: Flags, start: usize) -> Result<(), Error> {
        let (ty, operand) = self.typed_value()?;
        let ty = if opcode == Opcode::Resume {
            LlvmType::VOID
        } else {
            ty
        };
        self.plain(opcode, flags, ty, &[operand], Extra::None, start)
    }

    fn cast(&mut self, opcode: Opcode, flags: Flags, start: usize) -> Result<(), Error> {
        let (from, operand) = self.typed_value()?;
        self.expect_word("to")?;
        let ty = self.ty()?;
        let opcode = match self.has_bytes {
            true => upgrade::byte_cast(&self.module.types, opcode, from, ty),
            false => opcode,
        };
        self.plain(opcode, flags, ty, &[operand], Extra::None, start)
    }

    fn compare(&mut self, opcode: Opcode, flags: Flags, start: usize) -> Result<(), Error> {
        let integer = opcode == Opcode::ICmp;
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
            Extra::Compare(predicate),
            start,
        )
    }

    fn ret(&mut self, start: usize) -> Result<(), Error> {
        let ty = self.ty()?;
        if ty == LlvmType::VOID {
            return self.plain(Opcode::Ret, Flags::NONE, ty, &[], Extra::None, start);
        }
        let value = self.value(ty)?;
        self.plain(
            Opcode::Ret,
            Flags::NONE,
            LlvmType::VOID,
            &[value],
            Extra::None,
            start,
        )
    }

    fn branch(&mut self, start: usize) -> Result<(), Error> {
        if self.at_word("label") {
            let target = self.target()?;
            let blocks = self.blocks(&[target])?;
            return self.plain(Opcode::Br, Flags::NONE, LlvmType::VOID, &[], blocks, start);
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
            Opcode::Br,
            Flags::NONE,
            LlvmType::VOID,
            &[condition],
            blocks,
            start,
        )
    }

    fn switch(&mut self, start: usize) -> Result<(), Error> {
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
            operands.push(Value::constant(case));
            blocks.push(self.target()?);
        }
        let blocks = self.blocks(&blocks)?;
        self.plain(
            Opcode::Switch,
            Flags::NONE,
            LlvmType::VOID,
            &operands,
            blocks,
            start,
        )
    }

    fn indirect_branch(&mut self, start: usize) -> Result<(), Error> {
        let (_, address) = self.typed_value()?;
        self.expect(b',')?;
        let blocks = self.target_list()?;
        let blocks = self.blocks(&blocks)?;
        self.plain(
            Opcode::IndirectBr,
            Flags::NONE,
            LlvmType::VOID,
            &[address],
            blocks,
            start,
        )
    }

    pub(super) fn target_list(&mut self) -> Result<Vec<LlvmBlock>, Error> {
        self.expect(b'[')?;
        let mut blocks = Vec::new();
        self.list(b']', |parser| {
            blocks.push(parser.target()?);
            Ok(())
        })?;
        Ok(blocks)
    }

    fn phi(&mut self, flags: Flags, start: usize) -> Result<(), Error> {
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
        self.plain(Opcode::Phi, flags, ty, &operands, blocks, start)
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

    fn select(&mut self, flags: Flags, start: usize) -> Result<(), Error> {
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
            Opcode::Select,
            flags,
            ty,
            &[condition, first, second],
            Extra::None,
            start,
        )
    }

    fn vector(&mut self, opcode: Opcode, start: usize) -> Result<(), Error> {
        let place = self.token.place();
        let (ty, first) = self.typed_value()?;
        let TypeKind::Vector { element, .. } = *self.module.types.kind(ty) else {
            return Err(fault(place, "expected a vector"));
        };
        self.expect(b',')?;
        let place = self.token.place();
        let (second_type, second) = self.typed_value()?;
        if opcode == Opcode::ExtractElement {
            return self.plain(
                opcode,
                Flags::NONE,
                element,
                &[first, second],
                Extra::None,
                start,
            );
        }
        self.expect(b',')?;
        let expected = if opcode == Opcode::InsertElement {
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
        if opcode == Opcode::InsertElement {
            return self.plain(
                opcode,
                Flags::NONE,
                ty,
                &[first, second, third],
                Extra::None,
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
        let mask = Extra::Mask(self.numbers(&mask)?);
        self.plain(opcode, Flags::NONE, ty, &[first, second], mask, start)
    }

    fn aggregate(&mut self, opcode: Opcode, start: usize) -> Result<(), Error> {
        let (ty, aggregate) = self.typed_value()?;
        let mut operands = vec![aggregate];
        if opcode == Opcode::InsertValue {
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
        let indices = Extra::Indices(self.numbers(&path)?);
        let ty = if opcode == Opcode::ExtractValue {
            member
        } else {
            ty
        };
        self.plain(opcode, Flags::NONE, ty, &operands, indices, start)
    }

    fn va_arg(&mut self, start: usize) -> Result<(), Error> {
        let (_, list) = self.typed_value()?;
        self.expect(b',')?;
        let ty = self.ty()?;
        self.plain(Opcode::VaArg, Flags::NONE, ty, &[list], Extra::None, start)
    }

    fn landing_pad(&mut self, start: usize) -> Result<(), Error> {
        let ty = self.ty()?;
        let flags = self.flags(Flags::CLEANUP);
        let mut clauses = Vec::new();
        while self.eat_word("catch") || self.eat_word("filter") {
            clauses.push(self.typed_value()?.1);
        }
        self.plain(Opcode::LandingPad, flags, ty, &clauses, Extra::None, start)
    }

    fn pad(&mut self, opcode: Opcode, start: usize) -> Result<(), Error> {
        self.expect_word("within")?;
        let mut operands = vec![self.value(LlvmType::TOKEN)?];
        self.expect(b'[')?;
        self.list(b']', |parser| {
            operands.push(parser.typed_value()?.1);
            Ok(())
        })?;
        self.plain(
            opcode,
            Flags::NONE,
            LlvmType::TOKEN,
            &operands,
            Extra::None,
            start,
        )
    }

    fn catch_switch(&mut self, start: usize) -> Result<(), Error> {
        self.expect_word("within")?;
        let parent = self.value(LlvmType::TOKEN)?;
        let mut blocks = self.target_list()?;
        let unwind = self.unwind()?;
        let flags = if unwind.is_some() {
            Flags::CLEANUP
        } else {
            Flags::NONE
        };
        blocks.extend(unwind);
        let blocks = self.blocks(&blocks)?;
        self.plain(
            Opcode::CatchSwitch,
            flags,
            LlvmType::TOKEN,
            &[parent],
            blocks,
            start,
        )
    }

    /// `unwind to caller` or `unwind label %name`
    fn unwind(&mut self) -> Result<Option<LlvmBlock>, Error> {
        self.expect_word("unwind")?;
        if self.eat_word("to") {
            self.expect_word("caller")?;
            return Ok(None);
        }
        self.target().map(Some)
    }

    fn pad_return(&mut self, opcode: Opcode, start: usize) -> Result<(), Error> {
        self.expect_word("from")?;
        let pad = self.value(LlvmType::TOKEN)?;
        let target = if opcode == Opcode::CatchRet {
            self.expect_word("to")?;
            Some(self.target()?)
        } else {
            self.unwind()?
        };
        let blocks = self.blocks(target.as_slice())?;
        self.plain(opcode, Flags::NONE, LlvmType::VOID, &[pad], blocks, start)
    }
}
