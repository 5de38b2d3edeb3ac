//! OpenCL's opaque types as today's IR has them.
//!
//! Until LLVM 16 an image, sampler, event, queue, pipe or reservation was a pointer to an opaque
//! structure, then one to nothing at all, or an `i32` in the case of samplers; today it is a value
//! of a type such as `target("spirv.Image", …)`. [`upgrade_opaque_types`] finds such pointers by the names of
//! builtin functions that they are passed to and of the structures that they point to, and by the
//! metadata of kernels; follows them through phis, selects, calls, and variables of functions; and
//! gives them today's type. Modules without a trace of them are left alone.
//!
//! Cost: one pass over the instructions with union-find; a copy of the module where there are any.

mod opaque_evidence;
mod rewrite_module;
mod type_names;

use crate::ir::LlvmModule;

/// The module with today's opaque types; `None` where it has no others.
pub(super) fn upgrade_opaque_types(module: &LlvmModule) -> Option<LlvmModule> {
    if !opaque_evidence::has_old_opaque_types(module) {
        return None;
    }
    let found = opaque_evidence::gather_evidence(module);
    found
        .has_any()
        .then(|| rewrite_module::rewrite_module(module, found))
}
