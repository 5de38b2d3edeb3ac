//! Failures of kernels: the block that they are written to, and their messages.

use super::ProgramSession;
use crate::heap::MachineResult;
use crate::{KernelMachine, ProgramError};

impl<M: KernelMachine> ProgramSession<'_, M> {
    /// The error of a message with values.
    pub(super) fn make_failure(&self, message: usize, values: &[u64]) -> ProgramError<M::Error> {
        match self.program.messages.get(message) {
            Some(message) => {
                ProgramError::Failed(message.format_values(values), message.backtrace.clone())
            }
            None => ProgramError::Invalid("a kernel failed with an unknown message".to_owned()),
        }
    }

    /// The block for failures. It is allocated with zeros when it is first needed.
    pub(super) fn failure_block(&mut self) -> MachineResult<usize, M> {
        if let Some(block) = self.failures {
            return Ok(block);
        }
        let messages = self.program.messages.iter();
        let values = messages.map(|m| m.parts.len()).max().unwrap_or(0);
        let bytes = vec![0; 8 + values * 8];
        let block = self.blocks.allocate_device(bytes.len() as u64)?;
        self.blocks.write_bytes(block, 0, &bytes)?;
        self.failures = Some(block);
        Ok(block)
    }

    /// Reads a part of a block, and fails if a kernel failed since the last check.
    pub(super) fn read_checked(
        &mut self,
        block: usize,
        at: u64,
        out: &mut [u8],
    ) -> MachineResult<(), M> {
        let Some(failures) = self.failures.filter(|_| self.may_have_failed) else {
            return self.blocks.read_all(&mut [(block, at, out)]);
        };
        let mut code = [0; 4];
        let mut both = [(failures, 0, &mut code[..]), (block, at, out)];
        self.blocks.read_all(&mut both)?;
        self.report_failure(code)
    }

    /// Fails if a kernel failed since the last check.
    pub(super) fn check_failures(&mut self) -> MachineResult<(), M> {
        let Some(failures) = self.failures.filter(|_| self.may_have_failed) else {
            return Ok(());
        };
        let mut code = [0; 4];
        self.blocks.read_all(&mut [(failures, 0, &mut code)])?;
        self.report_failure(code)
    }

    /// Fails if the first word of the block for failures is the number of a message. The next call then initialises the
    /// program again.
    fn report_failure(&mut self, code: [u8; 4]) -> MachineResult<(), M> {
        self.may_have_failed = false;
        let code = u32::from_le_bytes(code);
        let Some((message, block)) = code.checked_sub(1).zip(self.failures) else {
            return Ok(());
        };
        self.is_unfinished = true;
        self.blocks.write_bytes(block, 0, &[0; 4])?;
        let parts = self.program.messages.get(message as usize);
        let count = parts.map_or(0, |m| m.parts.len() as u64);
        let bytes = self.blocks.read_bytes(block, 8, count * 8)?;
        let words = bytes.chunks_exact(8);
        let values: Vec<u64> = words
            .map(|word| word.try_into().map_or(0, u64::from_le_bytes))
            .collect();
        Err(self.make_failure(message as usize, &values))
    }
}
