//! Instruction records: dispatch by code, and arithmetic, comparisons, vectors and aggregates.

use super::function::BitcodeBodyReader;
use super::operation_codes::{
    binary_flags, binary_opcode, cast_flags, cast_opcode, fast_math_flags, read_predicate,
};
use super::record_operands::{RecordOperands, sign_rotated};
use crate::LlvmResult;
use crate::auto_upgrade;
use crate::ir::{
    InstructionExtra, LlvmBlock, LlvmInstFlags, LlvmInstruction, LlvmOpcode, LlvmPoolRange,
    LlvmType, LlvmTypeKind, LlvmValue, compare_type, member_type, shuffle_mask, shuffle_type,
};
use smallvec::SmallVec;

impl BitcodeBodyReader<'_> {
    /// Reads an instruction.
    pub fn read_instruction(&mut self, code: u64, ops: RecordOperands<'_>) -> LlvmResult<()> {
        match code {
            2 => self.read_binary(ops),
            3 => self.read_cast(ops),
            6 => self.extract_element(ops),
            7 => self.insert_element(ops),
            8 => self.read_shuffle(ops),
            9 | 28 => self.read_compare(ops),
            10 => self.read_return(ops),
            11 => self.read_branch(ops),
            12 => self.read_switch(ops),
            13 | 34 | 57 => self.read_call(code, ops),
            15 => {
                self.push_unflagged(
                    LlvmOpcode::Unreachable,
                    LlvmType::VOID,
                    &[],
                    InstructionExtra::None,
                    ops.place(),
                );
                Ok(())
            }
            16 => self.read_phi(ops),
            19 => self.read_alloca(ops),
            20 | 41 => self.read_load(code == 41, ops),
            44 | 45 => self.read_store(code == 45, ops),
            23 => self.read_va_arg(ops),
            26 => self.extract_value(ops),
            27 => self.insert_value(ops),
            29 => self.read_select(ops),
            31 => self.read_indirect_branch(ops),
            36 => self.read_fence(ops),
            39 => self.read_unary(LlvmOpcode::Resume, ops),
            43 => self.read_address(ops),
            46 => self.compare_exchange(ops),
            38 | 59 => self.read_modify_write(code == 59, ops),
            47 => self.read_landing_pad(ops),
            48 => self.read_cleanup_return(ops),
            49 => self.read_catch_return(ops),
            50 => self.read_pad(LlvmOpcode::CatchPad, ops),
            51 => self.read_pad(LlvmOpcode::CleanupPad, ops),
            52 => self.read_catch_switch(ops),
            56 => self.read_unary(LlvmOpcode::FNeg, ops),
            58 => self.read_unary(LlvmOpcode::Freeze, ops),
            _ => ops.fail_with(format!("instructions of code {code} are not supported")),
        }
    }

    pub(super) fn push_flagged(
        &mut self,
        opcode: LlvmOpcode,
        flags: LlvmInstFlags,
        ty: LlvmType,
        operands: &[LlvmValue],
        extra: InstructionExtra,
        ops: &RecordOperands<'_>,
    ) -> LlvmResult<()> {
        let operands = self.func.add_operands(operands);
        self.push_pooled(opcode, flags, ty, operands, extra, ops)
    }

    /// Adds an instruction whose operands are already in the pool.
    pub(super) fn push_pooled(
        &mut self,
        opcode: LlvmOpcode,
        flags: LlvmInstFlags,
        ty: LlvmType,
        operands: LlvmPoolRange,
        extra: InstructionExtra,
        ops: &RecordOperands<'_>,
    ) -> LlvmResult<()> {
        self.push_inst(
            LlvmInstruction {
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

    pub(super) fn add_blocks(&mut self, blocks: &[LlvmBlock]) -> InstructionExtra {
        let start = self.func.block_pool.len();
        self.func.block_pool.extend_from_slice(blocks);
        InstructionExtra::Blocks(LlvmPoolRange::from_start(start, &self.func.block_pool))
    }

    pub(super) fn add_numbers(&mut self, numbers: &[u32]) -> LlvmPoolRange {
        let start = self.func.number_pool.len();
        self.func.number_pool.extend_from_slice(numbers);
        LlvmPoolRange::from_start(start, &self.func.number_pool)
    }

    fn is_float(&self, ty: LlvmType) -> bool {
        let types = &self.reader.module.types;
        types.float_width(types.scalar_type(ty)).is_some()
    }

    /// Fast-math flags, if the record has another operand and the type of the result allows them.
    fn fast_math(&self, ty: LlvmType, ops: &mut RecordOperands<'_>) -> LlvmInstFlags {
        match ops.or_zero() {
            bits if self.is_float(ty) => fast_math_flags(bits),
            _ => LlvmInstFlags::NONE,
        }
    }

    fn read_binary(&mut self, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        let (left, ty) = self.read_value(&mut ops)?;
        let right = self.value_of(ty, &mut ops)?;
        let opcode = binary_opcode(ops.next()?, self.is_float(ty), &ops)?;
        let flags = binary_flags(opcode, ops.or_zero());
        self.push_flagged(
            opcode,
            flags,
            ty,
            &[left, right],
            InstructionExtra::None,
            &ops,
        )
    }

    fn read_unary(&mut self, opcode: LlvmOpcode, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        let (operand, ty) = self.read_value(&mut ops)?;
        let mut flags = LlvmInstFlags::NONE;
        if opcode == LlvmOpcode::FNeg {
            if ops.next()? != 0 {
                return ops.fail_with("an unknown unary operation");
            }
            flags = fast_math_flags(ops.or_zero());
        }
        let ty = if opcode == LlvmOpcode::Resume {
            LlvmType::VOID
        } else {
            ty
        };
        self.push_flagged(opcode, flags, ty, &[operand], InstructionExtra::None, &ops)
    }

    fn read_cast(&mut self, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        let (operand, from) = self.read_value(&mut ops)?;
        let ty = self.reader.types.read_type(&mut ops)?;
        let mut opcode = cast_opcode(&mut ops)?;
        if self.reader.types.has_bytes {
            opcode = auto_upgrade::byte_cast(&self.reader.module.types, opcode, from, ty);
        }
        let flags = cast_flags(opcode, ops.or_zero());
        self.push_flagged(opcode, flags, ty, &[operand], InstructionExtra::None, &ops)
    }

    fn extract_element(&mut self, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        let (vector, ty) = self.read_value(&mut ops)?;
        let (index, _) = self.read_value(&mut ops)?;
        let LlvmTypeKind::Vector { element, .. } = *self.reader.module.types.kind(ty) else {
            return ops.fail_with("an element of a value that is not a vector");
        };
        self.push_flagged(
            LlvmOpcode::ExtractElement,
            LlvmInstFlags::NONE,
            element,
            &[vector, index],
            InstructionExtra::None,
            &ops,
        )
    }

    fn insert_element(&mut self, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        let (vector, ty) = self.read_value(&mut ops)?;
        let LlvmTypeKind::Vector { element, .. } = *self.reader.module.types.kind(ty) else {
            return ops.fail_with("an element of a value that is not a vector");
        };
        let element = self.value_of(element, &mut ops)?;
        let (index, _) = self.read_value(&mut ops)?;
        let operands = [vector, element, index];
        self.push_flagged(
            LlvmOpcode::InsertElement,
            LlvmInstFlags::NONE,
            ty,
            &operands,
            InstructionExtra::None,
            &ops,
        )
    }

    fn read_shuffle(&mut self, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        let (left, ty) = self.read_value(&mut ops)?;
        let right = self.value_of(ty, &mut ops)?;
        let (mask, _) = self.read_value(&mut ops)?;
        let module = &mut self.reader.module;
        let mask = mask
            .as_const()
            .and_then(|mask| shuffle_mask(&module.types, &module.consts, mask));
        let Some(mask) = mask else {
            return ops.fail_with("a shuffle without a constant mask");
        };
        let Some(ty) = shuffle_type(&mut module.types, ty, mask.len()) else {
            return ops.fail_with("a shuffle of a value that is not a vector");
        };
        let mask = InstructionExtra::Mask(self.add_numbers(&mask));
        self.push_flagged(
            LlvmOpcode::ShuffleVector,
            LlvmInstFlags::NONE,
            ty,
            &[left, right],
            mask,
            &ops,
        )
    }

    fn read_compare(&mut self, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        let (left, ty) = self.read_value(&mut ops)?;
        let right = self.value_of(ty, &mut ops)?;
        let predicate = read_predicate(&mut ops)?;
        let (opcode, flags) = if !predicate.is_integer() {
            (LlvmOpcode::FCmp, fast_math_flags(ops.or_zero()))
        } else if ops.or_zero() & 1 != 0 {
            (LlvmOpcode::ICmp, LlvmInstFlags::SAMESIGN)
        } else {
            (LlvmOpcode::ICmp, LlvmInstFlags::NONE)
        };
        let ty = compare_type(&mut self.reader.module.types, ty);
        self.push_flagged(
            opcode,
            flags,
            ty,
            &[left, right],
            InstructionExtra::Compare(predicate),
            &ops,
        )
    }

    fn read_phi(&mut self, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        let ty = self.reader.types.read_type(&mut ops)?;
        let start = self.func.value_pool.len();
        let block_start = self.func.block_pool.len();
        while ops.len() >= 2 {
            let distance = sign_rotated(ops.next()?) as u64;
            let value = self.value_at(ty, distance, &ops)?;
            let block = self.find_block(ops.next()?, &ops)?;
            self.func.value_pool.push(value);
            self.func.block_pool.push(block);
        }
        let flags = self.fast_math(ty, &mut ops);
        let operands = LlvmPoolRange::from_start(start, &self.func.value_pool);
        let extra = InstructionExtra::Blocks(LlvmPoolRange::from_start(
            block_start,
            &self.func.block_pool,
        ));
        self.push_pooled(LlvmOpcode::Phi, flags, ty, operands, extra, &ops)
    }

    fn read_select(&mut self, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        let (first, ty) = self.read_value(&mut ops)?;
        let second = self.value_of(ty, &mut ops)?;
        let (condition, _) = self.read_value(&mut ops)?;
        let flags = self.fast_math(ty, &mut ops);
        self.push_flagged(
            LlvmOpcode::Select,
            flags,
            ty,
            &[condition, first, second],
            InstructionExtra::None,
            &ops,
        )
    }

    fn read_index_path(ops: &mut RecordOperands<'_>) -> LlvmResult<SmallVec<[u32; 8]>> {
        let mut path = SmallVec::new();
        while !ops.is_empty() {
            path.push(ops.next_u32()?);
        }
        Ok(path)
    }

    fn extract_value(&mut self, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        let (aggregate, ty) = self.read_value(&mut ops)?;
        let path = Self::read_index_path(&mut ops)?;
        let Some(ty) = member_type(&self.reader.module.types, ty, &path) else {
            return ops.fail_with("the indices do not select a member of the aggregate");
        };
        let indices = InstructionExtra::Indices(self.add_numbers(&path));
        self.push_flagged(
            LlvmOpcode::ExtractValue,
            LlvmInstFlags::NONE,
            ty,
            &[aggregate],
            indices,
            &ops,
        )
    }

    fn insert_value(&mut self, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        let (aggregate, ty) = self.read_value(&mut ops)?;
        let (element, _) = self.read_value(&mut ops)?;
        let path = Self::read_index_path(&mut ops)?;
        let indices = InstructionExtra::Indices(self.add_numbers(&path));
        self.push_flagged(
            LlvmOpcode::InsertValue,
            LlvmInstFlags::NONE,
            ty,
            &[aggregate, element],
            indices,
            &ops,
        )
    }
}
