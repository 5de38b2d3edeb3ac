//! What programs run on, and how runs end.

use crate::{ByteRegion, ProgramParameter, SizeClass};
use std::fmt;

/// What executes a program's kernels and holds its blocks.
pub trait KernelMachine {
    /// A block of device memory.
    type Block: Copy;
    /// What can go wrong.
    type Error: fmt::Display;

    /// Makes a block of at least so many bytes, with any contents.
    ///
    /// # Errors
    /// When there is no memory for it.
    fn allocate_block(&mut self, bytes: u64) -> Result<Self::Block, Self::Error>;

    /// Takes a block back; launches before may still use it.
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

    /// Copies out of several blocks at once, as [`KernelMachine::read_block`] does out of one.
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

    /// Waits until all launches so far have ended.
    ///
    /// # Errors
    /// When the machine fails.
    fn wait_idle(&mut self) -> Result<(), Self::Error>;

    /// Whether blocks are in the host's own memory, so that to read one is no more than a copy.
    fn is_host(&self) -> bool;

    /// Whether blocks that are not used any more may be handed out again, contents and all.
    fn reuses_blocks(&self) -> bool {
        true
    }

    /// The value of a tuning parameter. A session asks once, when it begins.
    fn parameter_value(&self, parameter: &ProgramParameter) -> u64;

    /// A limit, likewise.
    fn limit_value(&self, class: &SizeClass) -> u64;
}

/// A part of a block to be copied out.
#[derive(Debug)]
pub struct BlockRead<'a, B> {
    /// The block.
    pub block: B,
    /// The first byte.
    pub at: u64,
    /// What gets the bytes.
    pub out: &'a mut [u8],
}

/// A launch with everything that it needs.
#[derive(Debug)]
pub struct LaunchRequest<'a, B> {
    /// Number of the kernel.
    pub kernel: usize,
    /// Words of its module.
    pub words: &'a [u32],
    /// Words of the same module with workgroup memory that is laid out explicitly, if there is one.
    pub laid_out: Option<&'a [u32]>,
    /// Workgroups in each dimension, none 0.
    pub groups: [u64; 3],
    /// Values of the specialisation constants.
    pub constants: &'a [u64],
    /// Push constants.
    pub push: &'a [u8],
    /// Blocks.
    pub blocks: &'a [BlockBinding<B>],
}

/// A block that a launch is given.
#[derive(Clone, Copy, Debug)]
pub struct BlockBinding<B> {
    /// Where it is bound.
    pub binding: u32,
    /// The block.
    pub block: B,
    /// What of it the launch touches, where that is known.
    pub region: Option<ByteRegion>,
}

/// Why a program ended early.
#[derive(Debug)]
pub enum ProgramError<E> {
    /// An assertion did not hold: its message and places in the source of the program.
    Failed(String, String),
    /// The program asked for what makes no sense.
    Invalid(String),
    /// Something cannot be run.
    Unsupported(String),
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
            ProgramError::Machine(error) => error.fmt(f),
        }
    }
}
