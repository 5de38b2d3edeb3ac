//! Records of terminators other than calls, and of the pads of exceptions.

use super::function::Body;
use super::ops::Ops;
use crate::Error;
use crate::ir::{Extra, Flags, LlvmBlock, LlvmType, Opcode, Value};
use smallvec::{SmallVec, smallvec};

impl Body<'_> {
    pub(super) fn ret(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        if ops.is_empty() {
            return self.flagged(
                Opcode::Ret,
                Flags::NONE,
                LlvmType::VOID,
                &[],
                Extra::None,
                &ops,
            );
        }
        let (operand, _) = self.value(&mut ops)?;
        self.flagged(
            Opcode::Ret,
            Flags::NONE,
            LlvmType::VOID,
            &[operand],
            Extra::None,
            &ops,
        )
    }

    pub(super) fn branch(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let first = self.target(ops.next()?, &ops)?;
        if ops.is_empty() {
            let blocks = self.blocks(&[first]);
            return self.flagged(Opcode::Br, Flags::NONE, LlvmType::VOID, &[], blocks, &ops);
        }
        let second = self.target(ops.next()?, &ops)?;
        let condition = self.value_of(LlvmType::I1, &mut ops)?;
        let blocks = self.blocks(&[first, second]);
        self.flagged(
            Opcode::Br,
            Flags::NONE,
            LlvmType::VOID,
            &[condition],
            blocks,
            &ops,
        )
    }

    pub(super) fn switch(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let ty = self.reader.types.take(&mut ops)?;
        let mut operands: SmallVec<[Value; 8]> = smallvec![self.value_of(ty, &mut ops)?];
        let mut blocks: SmallVec<[LlvmBlock; 8]> = smallvec![self.target(ops.next()?, &ops)?];
        while !ops.is_empty() {
            operands.push(self.value_numbered(ty, ops.next()?, &ops)?);
            blocks.push(self.target(ops.next()?, &ops)?);
        }
        let blocks = self.blocks(&blocks);
        self.flagged(
            Opcode::Switch,
            Flags::NONE,
            LlvmType::VOID,
            &operands,
            blocks,
            &ops,
        )
    }

    pub(super) fn indirect_branch(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let ty = self.reader.types.take(&mut ops)?;
        let address = self.value_of(ty, &mut ops)?;
        let blocks = self.targets(ops.rest(), &ops)?;
        let blocks = self.blocks(&blocks);
        self.flagged(
            Opcode::IndirectBr,
            Flags::NONE,
            LlvmType::VOID,
            &[address],
            blocks,
            &ops,
        )
    }

    pub(super) fn targets(
        &self,
        numbers: &[u64],
        ops: &Ops<'_>,
    ) -> Result<SmallVec<[LlvmBlock; 4]>, Error> {
        numbers
            .iter()
            .map(|&number| self.target(number, ops))
            .collect()
    }

    pub(super) fn landing_pad(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
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

    pub(super) fn pad(&mut self, opcode: Opcode, mut ops: Ops<'_>) -> Result<(), Error> {
        let mut operands = vec![self.value_of(LlvmType::TOKEN, &mut ops)?];
        for _ in 0..ops.next()? {
            operands.push(self.value(&mut ops)?.0);
        }
        self.flagged(
            opcode,
            Flags::NONE,
            LlvmType::TOKEN,
            &operands,
            Extra::None,
            &ops,
        )
    }

    pub(super) fn catch_switch(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let parent = self.value_of(LlvmType::TOKEN, &mut ops)?;
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
            LlvmType::TOKEN,
            &[parent],
            blocks,
            &ops,
        )
    }

    pub(super) fn cleanup_return(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let pad = self.value_of(LlvmType::TOKEN, &mut ops)?;
        let blocks = self.targets(ops.rest(), &ops)?;
        let blocks = self.blocks(&blocks);
        self.flagged(
            Opcode::CleanupRet,
            Flags::NONE,
            LlvmType::VOID,
            &[pad],
            blocks,
            &ops,
        )
    }

    pub(super) fn catch_return(&mut self, mut ops: Ops<'_>) -> Result<(), Error> {
        let pad = self.value_of(LlvmType::TOKEN, &mut ops)?;
        let target = self.target(ops.next()?, &ops)?;
        let blocks = self.blocks(&[target]);
        self.flagged(
            Opcode::CatchRet,
            Flags::NONE,
            LlvmType::VOID,
            &[pad],
            blocks,
            &ops,
        )
    }
}
