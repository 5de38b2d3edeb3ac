//! Terminator records other than calls, and exception pads.

use super::function::BitcodeBodyReader;
use super::record_operands::RecordOperands;
use crate::LlvmResult;
use crate::ir::{InstructionExtra, LlvmBlock, LlvmInstFlags, LlvmOpcode, LlvmType, LlvmValue};
use smallvec::{SmallVec, smallvec};

impl BitcodeBodyReader<'_> {
    pub(super) fn read_return(&mut self, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        if ops.is_empty() {
            return self.push_flagged(
                LlvmOpcode::Ret,
                LlvmInstFlags::NONE,
                LlvmType::VOID,
                &[],
                InstructionExtra::None,
                &ops,
            );
        }
        let (operand, _) = self.read_value(&mut ops)?;
        self.push_flagged(
            LlvmOpcode::Ret,
            LlvmInstFlags::NONE,
            LlvmType::VOID,
            &[operand],
            InstructionExtra::None,
            &ops,
        )
    }

    pub(super) fn read_branch(&mut self, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        let first = self.find_block(ops.next()?, &ops)?;
        if ops.is_empty() {
            let blocks = self.add_blocks(&[first]);
            return self.push_flagged(
                LlvmOpcode::Br,
                LlvmInstFlags::NONE,
                LlvmType::VOID,
                &[],
                blocks,
                &ops,
            );
        }
        let second = self.find_block(ops.next()?, &ops)?;
        let condition = self.value_of(LlvmType::I1, &mut ops)?;
        let blocks = self.add_blocks(&[first, second]);
        self.push_flagged(
            LlvmOpcode::Br,
            LlvmInstFlags::NONE,
            LlvmType::VOID,
            &[condition],
            blocks,
            &ops,
        )
    }

    pub(super) fn read_switch(&mut self, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        let ty = self.reader.types.read_type(&mut ops)?;
        let mut operands: SmallVec<[LlvmValue; 8]> = smallvec![self.value_of(ty, &mut ops)?];
        let mut blocks: SmallVec<[LlvmBlock; 8]> = smallvec![self.find_block(ops.next()?, &ops)?];
        while !ops.is_empty() {
            operands.push(self.value_numbered(ty, ops.next()?, &ops)?);
            blocks.push(self.find_block(ops.next()?, &ops)?);
        }
        let blocks = self.add_blocks(&blocks);
        self.push_flagged(
            LlvmOpcode::Switch,
            LlvmInstFlags::NONE,
            LlvmType::VOID,
            &operands,
            blocks,
            &ops,
        )
    }

    pub(super) fn read_indirect_branch(&mut self, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        let ty = self.reader.types.read_type(&mut ops)?;
        let address = self.value_of(ty, &mut ops)?;
        let blocks = self.find_blocks(ops.remaining(), &ops)?;
        let blocks = self.add_blocks(&blocks);
        self.push_flagged(
            LlvmOpcode::IndirectBr,
            LlvmInstFlags::NONE,
            LlvmType::VOID,
            &[address],
            blocks,
            &ops,
        )
    }

    pub(super) fn find_blocks(
        &self,
        numbers: &[u64],
        ops: &RecordOperands<'_>,
    ) -> LlvmResult<SmallVec<[LlvmBlock; 4]>> {
        numbers
            .iter()
            .map(|&number| self.find_block(number, ops))
            .collect()
    }

    pub(super) fn read_landing_pad(&mut self, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        let ty = self.reader.types.read_type(&mut ops)?;
        let flags = if ops.next()? != 0 {
            LlvmInstFlags::CLEANUP
        } else {
            LlvmInstFlags::NONE
        };
        let count = ops.next()?;
        let mut clauses = Vec::new();
        for _ in 0..count {
            ops.next()?;
            clauses.push(self.read_value(&mut ops)?.0);
        }
        self.push_flagged(
            LlvmOpcode::LandingPad,
            flags,
            ty,
            &clauses,
            InstructionExtra::None,
            &ops,
        )
    }

    pub(super) fn read_pad(
        &mut self,
        opcode: LlvmOpcode,
        mut ops: RecordOperands<'_>,
    ) -> LlvmResult<()> {
        let mut operands = vec![self.value_of(LlvmType::TOKEN, &mut ops)?];
        for _ in 0..ops.next()? {
            operands.push(self.read_value(&mut ops)?.0);
        }
        self.push_flagged(
            opcode,
            LlvmInstFlags::NONE,
            LlvmType::TOKEN,
            &operands,
            InstructionExtra::None,
            &ops,
        )
    }

    pub(super) fn read_catch_switch(&mut self, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        let parent = self.value_of(LlvmType::TOKEN, &mut ops)?;
        let count = ops.next_index()?;
        let mut blocks = self.find_blocks(ops.take(count)?, &ops)?;
        blocks.extend(self.find_blocks(ops.remaining(), &ops)?);
        let flags = if ops.is_empty() {
            LlvmInstFlags::NONE
        } else {
            LlvmInstFlags::CLEANUP
        };
        let blocks = self.add_blocks(&blocks);
        self.push_flagged(
            LlvmOpcode::CatchSwitch,
            flags,
            LlvmType::TOKEN,
            &[parent],
            blocks,
            &ops,
        )
    }

    pub(super) fn read_cleanup_return(&mut self, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        let pad = self.value_of(LlvmType::TOKEN, &mut ops)?;
        let blocks = self.find_blocks(ops.remaining(), &ops)?;
        let blocks = self.add_blocks(&blocks);
        self.push_flagged(
            LlvmOpcode::CleanupRet,
            LlvmInstFlags::NONE,
            LlvmType::VOID,
            &[pad],
            blocks,
            &ops,
        )
    }

    pub(super) fn read_catch_return(&mut self, mut ops: RecordOperands<'_>) -> LlvmResult<()> {
        let pad = self.value_of(LlvmType::TOKEN, &mut ops)?;
        let target = self.find_block(ops.next()?, &ops)?;
        let blocks = self.add_blocks(&[target]);
        self.push_flagged(
            LlvmOpcode::CatchRet,
            LlvmInstFlags::NONE,
            LlvmType::VOID,
            &[pad],
            blocks,
            &ops,
        )
    }
}
