//! Suspended sessions: the state of a program between calls, where its heap serves other programs, too.

use super::ProgramSession;
use super::launch::LaunchData;
use crate::heap::{MachineResult, ProgramHeap};
use crate::program::CompiledProgram;
use crate::{ForeignFunctionTable, KernelMachine, OwnedOrLent};

/// The state of a program between calls. It refers to memory of its heap until the heap releases it.
#[derive(Debug)]
pub struct SuspendedSession {
    /// Number of the program on its heap.
    pub(super) number: usize,
    pub(super) parameters: Vec<u64>,
    pub(super) limits: Vec<u64>,
    pub(super) scalars: Vec<u64>,
    pub(super) memories: Vec<Option<usize>>,
    pub(super) failures: Option<usize>,
    pub(super) is_unfinished: bool,
}

impl<'p, M: KernelMachine> ProgramSession<'p, M> {
    /// Initialises a program on a heap that serves several programs.
    ///
    /// # Errors
    /// When its initialisation fails.
    pub fn begin_on_heap(
        program: &'p CompiledProgram,
        heap: &'p mut ProgramHeap<M>,
    ) -> MachineResult<Self, M> {
        let mut session = ProgramSession::with_heap(program, OwnedOrLent::Lent(heap));
        match session.run_initialisation() {
            Ok(()) => Ok(session),
            Err(error) => {
                session.release_memories();
                Err(error)
            }
        }
    }

    /// Continues a session of this program on its heap.
    pub fn resume(
        program: &'p CompiledProgram,
        heap: &'p mut ProgramHeap<M>,
        suspended: SuspendedSession,
    ) -> Self {
        ProgramSession {
            program,
            number: suspended.number,
            blocks: OwnedOrLent::Lent(heap),
            data: LaunchData::default(),
            parameters: suspended.parameters,
            limits: suspended.limits,
            scalars: suspended.scalars,
            memories: suspended.memories,
            spare: Vec::new(),
            failures: suspended.failures,
            may_have_failed: false,
            is_unfinished: suspended.is_unfinished,
            traced: Vec::new(),
            functions: ForeignFunctionTable::default(),
        }
    }

    /// Ends the use of a heap that serves several programs.
    pub fn suspend(self) -> SuspendedSession {
        SuspendedSession {
            number: self.number,
            parameters: self.parameters,
            limits: self.limits,
            scalars: self.scalars,
            memories: self.memories,
            failures: self.failures,
            is_unfinished: self.is_unfinished,
        }
    }

    /// Drops the references to memory that all functions share.
    fn release_memories(&mut self) {
        let memories = std::mem::take(&mut self.memories);
        for block in memories.into_iter().chain([self.failures.take()]).flatten() {
            self.blocks.release_block(block);
        }
    }
}

impl<M: KernelMachine> ProgramHeap<M> {
    /// Ends a program: its memory is released, and the machine forgets its kernels.
    pub fn release_program(&mut self, suspended: SuspendedSession) {
        let memories = suspended.memories.into_iter();
        for block in memories.chain([suspended.failures]).flatten() {
            self.release_block(block);
        }
        self.machine.forget_program(suspended.number);
    }
}
