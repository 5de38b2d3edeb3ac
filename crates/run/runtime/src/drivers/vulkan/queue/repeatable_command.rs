//! Repeatable commands: launches, copies and fills as the program asks for them, by which recorded batches are compared.

use super::dependency_levels::CommandKind;
use crate::{
    BufferHandle, ByteRegion, IndexSpace, KernelHandle, KernelLaunch, LaunchBinding, LaunchInputs,
};

/// The work of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandWork {
    /// A launch of a kernel.
    Launch(KernelHandle, IndexSpace),
    /// A copy from the first binding to the second.
    Copy,
    /// Repetitions of the push constants in the binding.
    Fill,
}

/// A command that has the same effect whenever its handles and push constants are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepeatableCommand<'a> {
    /// Its work.
    pub work: CommandWork,
    /// The resources that it accesses.
    pub bindings: &'a [LaunchBinding],
    /// Push constants.
    pub push: &'a [u8],
}

impl CommandWork {
    /// The kind of the command.
    pub fn kind(self) -> CommandKind {
        match self {
            CommandWork::Launch(..) => CommandKind::Launch,
            CommandWork::Copy | CommandWork::Fill => CommandKind::Copy,
        }
    }
}

impl<'a> RepeatableCommand<'a> {
    /// A launch of a shader; `None` for one of a kernel.
    pub fn from_launch(launch: &'a KernelLaunch) -> Option<RepeatableCommand<'a>> {
        match &launch.inputs {
            LaunchInputs::Resources { bindings, push } => Some(RepeatableCommand {
                work: CommandWork::Launch(launch.kernel, launch.size),
                bindings,
                push,
            }),
            LaunchInputs::Arguments(_) => None,
        }
    }
}

/// The binding of a range of a buffer.
pub fn bind_range(buffer: BufferHandle, first: u64, width: u64) -> LaunchBinding {
    LaunchBinding {
        region: Some(ByteRegion {
            first,
            width,
            rows: 1,
            stride: width,
        }),
        ..LaunchBinding::with_whole_buffer(0, buffer)
    }
}
