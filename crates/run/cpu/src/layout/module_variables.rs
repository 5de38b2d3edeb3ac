//! Module variables: variables at module level that the kernels of a module share.

use super::globals::PlacedVariables;
use crate::memory::kept_memory::KeptMemory;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The variables of a module that have one address for all invocations. Kernels of the module that are compiled with them share
/// their values, and keep their memory.
#[derive(Clone, Default)]
pub struct ModuleVariables {
    state: Arc<Mutex<VariableMemory>>,
}

/// The memory of a module's variables.
#[derive(Default)]
pub(crate) struct VariableMemory {
    /// The blocks of the variables.
    pub kept: KeptMemory,
    /// The address of each variable that a kernel reaches.
    pub placed: PlacedVariables,
    /// Whether a kernel has the initialisers, which run once.
    pub is_initialised: bool,
}

impl ModuleVariables {
    /// The memory, which one kernel at a time is compiled for.
    pub(crate) fn lock_memory(&self) -> MutexGuard<'_, VariableMemory> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
