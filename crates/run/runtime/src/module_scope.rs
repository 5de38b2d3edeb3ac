//! Module scope: which kernels share the variables at program scope of their module.

use spirula_spirv::ir::SpirvModule;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A number by which equal modules are kept apart. Kernels share the variables at program scope if their scope, module and
/// specialisation constants are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct KernelModuleScope(pub u64);

impl KernelModuleScope {
    /// The number that identifies the variables of a module with values of its specialisation constants.
    pub(crate) fn hash_module(self, module: &SpirvModule, spec: &[(u32, u64)]) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        spec.hash(&mut hasher);
        module.to_bytes().hash(&mut hasher);
        hasher.finish()
    }
}
