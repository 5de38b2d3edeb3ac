//! The machine that programs run on, and errors of runs.

use crate::{ByteRegion, ForeignFailure, ProgramParameter, SizeClass};
use spirula_spirv::ir::SpirvModule;
use std::fmt;

/// A machine that runs a program's kernels and owns its device memory.
pub trait KernelMachine {
    /// A block of device memory.
    type Block: Copy;
    /// An error of the machine.
    type Error: fmt::Display;

    /// Allocates a block of at least `bytes` bytes, with undefined contents.
    ///
    /// # Errors
    /// When there is no memory for it.
    fn allocate_block(&mut self, bytes: u64) -> Result<Self::Block, Self::Error>;

    /// Frees a block; earlier launches may still use it.
    fn free_block(&mut self, block: Self::Block);

    /// Copies into a block, after all launches so far.
    ///
    /// # Errors
    /// When the machine fails.
    fn write_block(&mut self, block: Self::Block, at: u64, bytes: &[u8])
    -> Result<(), Self::Error>;

    /// Copies out of a block, after all launches so far.
    ///
    /// # Errors
    /// When the machine fails.
    fn read_block(
        &mut self,
        block: Self::Block,
        at: u64,
        out: &mut [u8],
    ) -> Result<(), Self::Error>;

    /// Copies out of several blocks at once, as [`KernelMachine::read_block`] does from one.
    ///
    /// # Errors
    /// When the machine fails.
    fn read_all(&mut self, parts: &mut [BlockRead<'_, Self::Block>]) -> Result<(), Self::Error> {
        let mut parts = parts.iter_mut();
        parts.try_for_each(|part| self.read_block(part.block, part.at, part.out))
    }

    /// Launches a kernel, after all launches and copies so far.
    ///
    /// # Errors
    /// When the machine cannot run it.
    fn launch_kernel(
        &mut self,
        request: &LaunchRequest<'_, Self::Block>,
    ) -> Result<(), Self::Error>;

    /// Forgets the kernels of a program that has ended.
    fn forget_program(&mut self, _program: usize) {}

    /// Waits until all launches so far have ended.
    ///
    /// # Errors
    /// When the machine fails.
    fn wait_idle(&mut self) -> Result<(), Self::Error>;

    /// Whether blocks are in the host's memory, so that reading one is only a copy.
    fn is_host(&self) -> bool;

    /// Whether freed blocks may be reused with their old contents.
    fn reuses_blocks(&self) -> bool {
        true
    }

    /// The value of a tuning parameter. A session reads it once, when it begins.
    fn parameter_value(&self, parameter: &ProgramParameter) -> u64;

    /// The value of a limit. A session reads it once, when it begins.
    fn limit_value(&self, class: &SizeClass) -> u64;
}

/// A part of a block that is copied to the host.
#[derive(Debug)]
pub struct BlockRead<'a, B> {
    /// The block.
    pub block: B,
    /// The first byte.
    pub at: u64,
    /// The destination.
    pub out: &'a mut [u8],
}

/// A launch with its kernel and data.
#[derive(Debug)]
pub struct LaunchRequest<'a, B> {
    /// Number of the program. Numbers are never reused.
    pub program: usize,
    /// Number of the kernel in its program.
    pub kernel: usize,
    /// Its module.
    pub module: &'a SpirvModule,
    /// The same module with workgroup memory in an explicit layout, if there is one.
    pub laid_out: Option<&'a SpirvModule>,
    /// Number of workgroups in each dimension, at least 1.
    pub groups: [u64; 3],
    /// Values of the specialisation constants.
    pub constants: &'a [u64],
    /// Push constants.
    pub push: &'a [u8],
    /// Blocks.
    pub blocks: &'a [BlockBinding<B>],
}

/// A block of a launch.
#[derive(Clone, Copy, Debug)]
pub struct BlockBinding<B> {
    /// The binding.
    pub binding: u32,
    /// The block.
    pub block: B,
    /// The region that the launch accesses, where that is known.
    pub region: Option<ByteRegion>,
}

/// The reason why a program ended early.
#[derive(Debug)]
pub enum ProgramError<E> {
    /// An assertion did not hold: its message and places in the source of the program.
    Failed(String, String),
    /// The program requested something that makes no sense.
    Invalid(String),
    /// Something cannot be run.
    Unsupported(String),
    /// A foreign function is missing, or has failed.
    Foreign(Box<ForeignFailure>),
    /// The machine failed.
    Machine(E),
}

impl<E: fmt::Display> fmt::Display for ProgramError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProgramError::Failed(message, places) if places.is_empty() => f.write_str(message),
            ProgramError::Failed(message, places) => {
                write!(f, "{message}\nBacktrace:")?;
                for (number, place) in places.split(" -> ").enumerate() {
                    write!(f, "\n-> #{number}  {place}")?;
                }
                Ok(())
            }
            ProgramError::Invalid(message) | ProgramError::Unsupported(message) => {
                f.write_str(message)
            }
            ProgramError::Foreign(failure) => failure.fmt(f),
            ProgramError::Machine(error) => error.fmt(f),
        }
    }
}
