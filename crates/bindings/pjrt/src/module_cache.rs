//! Cache of compiled modules by their content: equal programs are compiled once.

use crate::error::PluginResult;
use crate::module::CompiledModule;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Most modules that are kept.
const MOST: usize = 256;

/// The modules that were compiled last.
#[derive(Default)]
pub struct ModuleCache {
    /// The latest last.
    modules: Mutex<VecDeque<Arc<CompiledModule>>>,
}

impl ModuleCache {
    /// The module of a fingerprint, which is compiled if it is not there. Threads compile different modules at once.
    pub fn find_or_compile(
        &self,
        fingerprint: &str,
        compile: impl FnOnce() -> PluginResult<CompiledModule>,
    ) -> PluginResult<Arc<CompiledModule>> {
        if let Some(found) = self.find(fingerprint) {
            return Ok(found);
        }
        let compiled = Arc::new(compile()?);
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        modules.push_back(compiled.clone());
        if modules.len() > MOST {
            modules.pop_front();
        }
        Ok(compiled)
    }

    /// The module of a fingerprint, which becomes the latest.
    fn find(&self, fingerprint: &str) -> Option<Arc<CompiledModule>> {
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        let at = modules
            .iter()
            .position(|module| module.facts.fingerprint == fingerprint)?;
        let found = modules.remove(at)?;
        modules.push_back(found.clone());
        Some(found)
    }
}
