//! Records of instructions.

use super::constants::{
    address_flags, binary_flags, binary_opcode, cast_flags, cast_opcode, fast_math_flags, predicate,
};
use super::function::Body;
use super::module::align;
use super::ops::{Ops, sign_rotated};
use crate::Error;
use crate::ir::{
    Align, Block, CallInfo, CallingConvention, Extra, Flags, Instruction, Opcode, Ordering, RmwOp,
    Span, Symbol, Type, TypeKind, Value, address_type, compare_type, member_type, shuffle_mask,
    shuffle_type,
};
use smallvec::{SmallVec, smallvec};

impl Body<'_> {
    /// Reads an instruction.
    pub fn instruction(&mut self, code: u64, ops: Ops<'_>) -> Result<(), Error> {
        match code {
            2 => self.binary(ops),
            3 => self.cast(ops),
            6 => self.extract_element(ops),
            7 => self.insert_element(ops),
            8 => self.shuffle(ops),
            9 | 28 => self.compare(ops),
            10 => self.ret(ops),
            11 => self.branch(ops),
            12 => self.switch(ops),
            13 | 34 | 57 => self.call(code, ops),
            15 => {
                self.push(
                    Opcode::Unreachable,
                    Type::VOID,
                    &[],
                    Extra::None,
                    ops.place(),
                );
                Ok(())
            }
            16 => self.phi(ops),
            19 => self.alloca(ops),
            20 | 41 => self.load(code == 41, ops),
            44 | 45 => self.store(code == 45, ops),
            23 => self.va_arg(ops),
            26 => self.extract_value(ops),
            27 => self.insert_value(ops),
            29 => self.select(ops),
            31 => self.indirect_branch(ops),
            36 => self.fence(ops),
            39 => self.unary(Opcode::Resume, ops),
            43 => self.address(ops),
            46 => self.compare_exchange(ops),
            38 | 59 => self.read_modify_write(code == 59, ops),
            47 => self.landing_pad(ops),
            48 => self.cleanup_return(ops),
            49 => self.catch_return(ops),
            50 => self.pad(Opcode::CatchPad, ops),
            51 => self.pad(Opcode::CleanupPad, ops),
            52 => self.catch_switch(ops),
            56 => self.unary(Opcode::FNeg, ops),
            58 => self.unary(Opcode::Freeze, ops),
            _ => ops.error(format!("instructions of code {code} are not known")),
        }
    }

    fn flagged(
        &mut self,
        opcode: Opcode,
        flags: Flags,
        ty: Type,
        operands: &[Value],
        extra: Extra,
        ops: &Ops<'_>,
    ) -> Result<(), Error> {
        let operands = self.operands(operands);
        self.push_inst(
            Instruction {
                opcode,
                flags,
                ty,
                operands,
                extra,
            },
            ops.place(),
        );
        Ok(())
    }

    fn blocks(&mut self, blocks: &[Block]) -> Extra {
        let start = self.func.block_pool.len();
        self.func.block_pool.extend_from_slice(blocks);
        Extra::Blocks(Span::since(start, &self.func.block_pool))
    }

    fn numbers(&mut self, numbers: &[u32]) -> Span {
        let start = self.func.number_pool.len();
        self.func.number_pool.extend_from_slice(numbers);
        Span::since(start, &self.func.number_pool)
    }

    fn is_float(&self, ty: Type) -> bool {
        let types = &self.reader.module.types;
        types.float_width(types.scalar(ty)).is_some()
    }

    /// Fast-math flags, if the record has more and the result may have them.
    fn fast_math(&self, ty: Type, ops: &mut Ops<'_>) -> Flags {
        match ops.or_zero() {
            bits if self.is_float(ty) => fast_math_flags(bits),
            _ => Flags::NONE,
        }
    }

    fn binary(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let (left, ty) = self.value(&mut ops)?;
        let right = self.value_of(ty, &mut ops)?;
        let opcode = binary_opcode(ops.next()?, self.is_float(ty), &ops)?;
        let flags = binary_flags(opcode, ops.or_zero());
        self.flagged(opcode, flags, ty, &[left, right], Extra::None, &ops)
    }

    fn unary(&mut self, opcode: Opcode, mut ops: Ops<'_>) -> Result<(), Error> {
        let (operand, ty) = self.value(&mut ops)?;
        let mut flags = Flags::NONE;
        if opcode == Opcode::FNeg {
            if ops.next()? != 0 {
                return ops.error("a unary operation that is not known");
            }
            flags = fast_math_flags(ops.or_zero());
        }
        let ty = if opcode == Opcode::Resume {
            Type::VOID
        } else {
            ty
        };
        self.flagged(opcode, flags, ty, &[operand], Extra::None, &ops)
    }

    fn cast(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let (operand, _) = self.value(&mut ops)?;
        let ty = self.reader.types.take(&mut ops)?;
        let opcode = cast_opcode(&mut ops)?;
        let flags = cast_flags(opcode, ops.or_zero());
        self.flagged(opcode, flags, ty, &[operand], Extra::None, &ops)
    }

    fn extract_element(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let (vector, ty) = self.value(&mut ops)?;
        let (index, _) = self.value(&mut ops)?;
        let TypeKind::Vector { element, .. } = *self.reader.module.types.kind(ty) else {
            return ops.error("an element of what is no vector");
        };
        self.flagged(
            Opcode::ExtractElement,
            Flags::NONE,
            element,
            &[vector, index],
            Extra::None,
            &ops,
        )
    }

    fn insert_element(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let (vector, ty) = self.value(&mut ops)?;
        let TypeKind::Vector { element, .. } = *self.reader.module.types.kind(ty) else {
            return ops.error("an element of what is no vector");
        };
        let element = self.value_of(element, &mut ops)?;
        let (index, _) = self.value(&mut ops)?;
        let operands = [vector, element, index];
        self.flagged(
            Opcode::InsertElement,
            Flags::NONE,
            ty,
            &operands,
            Extra::None,
            &ops,
        )
    }

    fn shuffle(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let (left, ty) = self.value(&mut ops)?;
        let right = self.value_of(ty, &mut ops)?;
        let (mask, _) = self.value(&mut ops)?;
        let module = &mut self.reader.module;
        let mask = mask
            .as_const()
            .and_then(|mask| shuffle_mask(&module.types, &module.consts, mask));
        let Some(mask) = mask else {
            return ops.error("a shuffle without a constant mask");
        };
        let Some(ty) = shuffle_type(&mut module.types, ty, mask.len()) else {
            return ops.error("a shuffle of what is no vector");
        };
        let mask = Extra::Mask(self.numbers(&mask));
        self.flagged(
            Opcode::ShuffleVector,
            Flags::NONE,
            ty,
            &[left, right],
            mask,
            &ops,
        )
    }

    fn compare(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let (left, ty) = self.value(&mut ops)?;
        let right = self.value_of(ty, &mut ops)?;
        let predicate = predicate(&mut ops)?;
        let (opcode, flags) = match predicate.is_integer() {
            true if ops.or_zero() & 1 != 0 => (Opcode::ICmp, Flags::SAMESIGN),
            true => (Opcode::ICmp, Flags::NONE),
            false => (Opcode::FCmp, fast_math_flags(ops.or_zero())),
        };
        let ty = compare_type(&mut self.reader.module.types, ty);
        self.flagged(
            opcode,
            flags,
            ty,
            &[left, right],
            Extra::Compare(predicate),
            &ops,
        )
    }

    fn ret(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        if ops.is_empty() {
            return self.flagged(Opcode::Ret, Flags::NONE, Type::VOID, &[], Extra::None, &ops);
        }
        let (operand, _) = self.value(&mut ops)?;
        self.flagged(
            Opcode::Ret,
            Flags::NONE,
            Type::VOID,
            &[operand],
            Extra::None,
            &ops,
        )
    }

    fn branch(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let first = self.target(ops.next()?, &ops)?;
        if ops.is_empty() {
            let blocks = self.blocks(&[first]);
            return self.flagged(Opcode::Br, Flags::NONE, Type::VOID, &[], blocks, &ops);
        }
        let second = self.target(ops.next()?, &ops)?;
        let condition = self.value_of(Type::I1, &mut ops)?;
        let blocks = self.blocks(&[first, second]);
        self.flagged(
            Opcode::Br,
            Flags::NONE,
            Type::VOID,
            &[condition],
            blocks,
            &ops,
        )
    }

    fn switch(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let ty = self.reader.types.take(&mut ops)?;
        let mut operands: SmallVec<[Value; 8]> = smallvec![self.value_of(ty, &mut ops)?];
        let mut blocks: SmallVec<[Block; 8]> = smallvec![self.target(ops.next()?, &ops)?];
        while !ops.is_empty() {
            operands.push(self.value_numbered(ty, ops.next()?, &ops)?);
            blocks.push(self.target(ops.next()?, &ops)?);
        }
        let blocks = self.blocks(&blocks);
        self.flagged(
            Opcode::Switch,
            Flags::NONE,
            Type::VOID,
            &operands,
            blocks,
            &ops,
        )
    }

    fn indirect_branch(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let ty = self.reader.types.take(&mut ops)?;
        let address = self.value_of(ty, &mut ops)?;
        let blocks = self.targets(ops.rest(), &ops)?;
        let blocks = self.blocks(&blocks);
        self.flagged(
            Opcode::IndirectBr,
            Flags::NONE,
            Type::VOID,
            &[address],
            blocks,
            &ops,
        )
    }

    fn targets(&self, numbers: &[u64], ops: &Ops<'_>) -> Result<SmallVec<[Block; 4]>, Error> {
        numbers
            .iter()
            .map(|&number| self.target(number, ops))
            .collect()
    }

    fn phi(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let ty = self.reader.types.take(&mut ops)?;
        let start = self.func.value_pool.len();
        let block_start = self.func.block_pool.len();
        while ops.len() >= 2 {
            let distance = sign_rotated(ops.next()?) as u64;
            let value = self.value_at(ty, distance, &ops)?;
            let block = self.target(ops.next()?, &ops)?;
            self.func.value_pool.push(value);
            self.func.block_pool.push(block);
        }
        let flags = self.fast_math(ty, &mut ops);
        let operands = Span::since(start, &self.func.value_pool);
        let extra = Extra::Blocks(Span::since(block_start, &self.func.block_pool));
        self.push_inst(
            Instruction {
                opcode: Opcode::Phi,
                flags,
                ty,
                operands,
                extra,
            },
            ops.place(),
        );
        Ok(())
    }

    fn select(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let (first, ty) = self.value(&mut ops)?;
        let second = self.value_of(ty, &mut ops)?;
        let (condition, _) = self.value(&mut ops)?;
        let flags = self.fast_math(ty, &mut ops);
        self.flagged(
            Opcode::Select,
            flags,
            ty,
            &[condition, first, second],
            Extra::None,
            &ops,
        )
    }

    fn alloca(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
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

    fn scope(&mut self, ops: &mut Ops<'_>) -> Result<Symbol, Error> {
        let number = ops.index()?;
        if let Some(&scope) = self.reader.sync_scopes.get(number) {
            return Ok(scope);
        }
        match number {
            0 => Ok(self.reader.module.strings.intern("singlethread")),
            1 => Ok(Symbol::EMPTY),
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
        let (mut ordering, mut scope) = (Ordering::NotAtomic, Symbol::EMPTY);
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

    fn load(&mut self, atomic: bool, mut ops: Ops<'_>) -> Result<(), Error> {
        let (pointer, _) = self.value(&mut ops)?;
        let ty = self.reader.types.take(&mut ops)?;
        let (extra, flags) = self.access(atomic, &mut ops)?;
        self.flagged(Opcode::Load, flags, ty, &[pointer], extra, &ops)
    }

    fn store(&mut self, atomic: bool, mut ops: Ops<'_>) -> Result<(), Error> {
        let (pointer, _) = self.value(&mut ops)?;
        let (value, _) = self.value(&mut ops)?;
        let (extra, flags) = self.access(atomic, &mut ops)?;
        self.flagged(
            Opcode::Store,
            flags,
            Type::VOID,
            &[value, pointer],
            extra,
            &ops,
        )
    }

    fn va_arg(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let list_type = self.reader.types.take(&mut ops)?;
        let list = self.value_of(list_type, &mut ops)?;
        let ty = self.reader.types.take(&mut ops)?;
        self.flagged(Opcode::VaArg, Flags::NONE, ty, &[list], Extra::None, &ops)
    }

    fn path(ops: &mut Ops<'_>) -> Result<SmallVec<[u32; 8]>, Error> {
        let mut path = SmallVec::new();
        while !ops.is_empty() {
            path.push(ops.next_u32()?);
        }
        Ok(path)
    }

    fn extract_value(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let (aggregate, ty) = self.value(&mut ops)?;
        let path = Self::path(&mut ops)?;
        let Some(ty) = member_type(&self.reader.module.types, ty, &path) else {
            return ops.error("the indices do not lead through the aggregate");
        };
        let indices = Extra::Indices(self.numbers(&path));
        self.flagged(
            Opcode::ExtractValue,
            Flags::NONE,
            ty,
            &[aggregate],
            indices,
            &ops,
        )
    }

    fn insert_value(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let (aggregate, ty) = self.value(&mut ops)?;
        let (element, _) = self.value(&mut ops)?;
        let path = Self::path(&mut ops)?;
        let indices = Extra::Indices(self.numbers(&path));
        self.flagged(
            Opcode::InsertValue,
            Flags::NONE,
            ty,
            &[aggregate, element],
            indices,
            &ops,
        )
    }

    fn fence(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let ordering = Self::ordering(&mut ops)?;
        let scope = self.scope(&mut ops)?;
        let extra = Extra::Fence { ordering, scope };
        self.flagged(Opcode::Fence, Flags::NONE, Type::VOID, &[], extra, &ops)
    }

    fn address(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
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
        let opcode = Opcode::GetElementPtr;
        self.push_inst(
            Instruction {
                opcode,
                flags,
                ty,
                operands,
                extra,
            },
            ops.place(),
        );
        Ok(())
    }

    fn compare_exchange(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
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
            .literal_struct([ty, Type::I1].into(), false);
        self.flagged(
            Opcode::CmpXchg,
            flags,
            ty,
            &[pointer, expected, new],
            extra,
            &ops,
        )
    }

    fn read_modify_write(&mut self, typed: bool, mut ops: Ops<'_>) -> Result<(), Error> {
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

    fn landing_pad(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let ty = self.reader.types.take(&mut ops)?;
        let flags = if ops.next()? != 0 {
            Flags::CLEANUP
        } else {
            Flags::NONE
        };
        let count = ops.next()?;
        let mut clauses = Vec::new();
        for _ in 0..count {
            ops.next()?;
            clauses.push(self.value(&mut ops)?.0);
        }
        self.flagged(Opcode::LandingPad, flags, ty, &clauses, Extra::None, &ops)
    }

    fn pad(&mut self, opcode: Opcode, mut ops: Ops<'_>) -> Result<(), Error> {
        let mut operands = vec![self.value_of(Type::TOKEN, &mut ops)?];
        for _ in 0..ops.next()? {
            operands.push(self.value(&mut ops)?.0);
        }
        self.flagged(
            opcode,
            Flags::NONE,
            Type::TOKEN,
            &operands,
            Extra::None,
            &ops,
        )
    }

    fn catch_switch(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let parent = self.value_of(Type::TOKEN, &mut ops)?;
        let count = ops.index()?;
        let mut blocks = self.targets(ops.take(count)?, &ops)?;
        blocks.extend(self.targets(ops.rest(), &ops)?);
        let flags = if ops.is_empty() {
            Flags::NONE
        } else {
            Flags::CLEANUP
        };
        let blocks = self.blocks(&blocks);
        self.flagged(
            Opcode::CatchSwitch,
            flags,
            Type::TOKEN,
            &[parent],
            blocks,
            &ops,
        )
    }

    fn cleanup_return(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let pad = self.value_of(Type::TOKEN, &mut ops)?;
        let blocks = self.targets(ops.rest(), &ops)?;
        let blocks = self.blocks(&blocks);
        self.flagged(
            Opcode::CleanupRet,
            Flags::NONE,
            Type::VOID,
            &[pad],
            blocks,
            &ops,
        )
    }

    fn catch_return(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let pad = self.value_of(Type::TOKEN, &mut ops)?;
        let target = self.target(ops.next()?, &ops)?;
        let blocks = self.blocks(&[target]);
        self.flagged(
            Opcode::CatchRet,
            Flags::NONE,
            Type::VOID,
            &[pad],
            blocks,
            &ops,
        )
    }

    /// `call` (34), `invoke` (13) and `callbr` (57).
    fn call(&mut self, code: u64, mut ops: Ops<'_>) -> Result<(), Error> {
        let attributes = self.reader.attributes.get(&mut ops)?;
        let bits = ops.next()?;
        let opcode = match code {
            34 => Opcode::Call,
            57 => Opcode::CallBr,
            _ => Opcode::Invoke,
        };
        let mut targets = SmallVec::new();
        match opcode {
            Opcode::Invoke => targets = self.targets(ops.take(2)?, &ops)?,
            Opcode::CallBr => {
                targets.push(self.target(ops.next()?, &ops)?);
                let count = ops.index()?;
                targets.extend(self.targets(ops.take(count)?, &ops)?);
            }
            _ => {}
        }
        // Where the record says that it states the function type, and the calling convention.
        let (explicit, convention, mut flags) = match opcode {
            Opcode::Call => (bits >> 15 & 1, bits >> 1 & 0x3ff, tail_flags(bits)),
            Opcode::CallBr => (bits >> 15 & 1, bits >> 1 & 0x3ff, Flags::NONE),
            _ => (bits >> 13 & 1, bits & 0x3ff, Flags::NONE),
        };
        if opcode == Opcode::Call && bits >> 17 & 1 != 0 {
            flags |= fast_math_flags(ops.next()?);
        }
        let stated = if explicit != 0 {
            Some(self.reader.types.take(&mut ops)?)
        } else {
            None
        };
        let (callee, callee_type) = self.value(&mut ops)?;
        let function_type = match (stated, self.reader.module.types.kind(callee_type)) {
            (Some(stated), _) => stated,
            (
                None,
                &TypeKind::Pointer {
                    pointee: Some(pointee),
                    ..
                },
            ) => pointee,
            _ => return ops.error("a call without a function type"),
        };
        let start = self.func.value_pool.len();
        self.func.value_pool.push(callee);
        let (result, arguments) = self.arguments(function_type, &mut ops)?;
        let bundles = self.take_bundles();
        let operands = Span::since(start, &self.func.value_pool);
        let target_start = self.func.block_pool.len();
        self.func.block_pool.extend_from_slice(&targets);
        let targets = Span::since(target_start, &self.func.block_pool);
        self.func.calls.push(CallInfo {
            function_type,
            convention: CallingConvention(convention as u32),
            attributes,
            arguments,
            bundles,
            targets,
        });
        let extra = Extra::Call(self.func.calls.len() as u32 - 1);
        self.push_inst(
            Instruction {
                opcode,
                flags,
                ty: result,
                operands,
                extra,
            },
            ops.place(),
        );
        Ok(())
    }

    /// Puts the arguments of a call into the pool; gives the type of its result and their number.
    fn arguments(&mut self, function: Type, ops: &mut Ops<'_>) -> Result<(Type, u32), Error> {
        let Some((result, params, variadic)) = self.reader.module.types.signature(function) else {
            return ops.error("a call of what is no function");
        };
        let mut count = params.len() as u32;
        for index in 0..params.len() {
            let ty = self
                .reader
                .module
                .types
                .signature(function)
                .map_or(result, |it| it.1[index]);
            if ty == Type::LABEL {
                return ops.error("a call with a label as an argument");
            }
            let value = self.value_of(ty, ops)?;
            self.func.value_pool.push(value);
        }
        while variadic && !ops.is_empty() {
            let (value, _) = self.value(ops)?;
            self.func.value_pool.push(value);
            count += 1;
        }
        Ok((result, count))
    }
}

fn tail_flags(bits: u64) -> Flags {
    let table = [(0, Flags::TAIL), (14, Flags::MUSTTAIL), (16, Flags::NOTAIL)];
    table
        .iter()
        .filter(|row| bits >> row.0 & 1 != 0)
        .fold(Flags::NONE, |flags, row| flags | row.1)
}
