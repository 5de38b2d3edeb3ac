//! OpenCL's opaque types: older spellings are upgraded to target extension types.
//!
//! Until LLVM 16 an image, sampler, event, queue, pipe or reservation was a pointer to an opaque
//! structure, later an untyped pointer; samplers could also be `i32`. Today it is a value of a type
//! such as `target("spirv.Image", …)`. [`upgrade_opaque_types`] finds such pointers by three kinds
//! of evidence: the names of built-in functions that they are passed to, the names of the
//! structures that they point to, and the metadata of kernels. It follows them through phis,
//! selects, calls and variables of functions, and gives them today's type. Modules without such
//! types are unchanged.
//!
//! Cost: one pass over the instructions with union-find; a copy of the module if there are any such
//! types.

mod opaque_evidence;
mod rewrite_module;
mod type_names;

use crate::ir::LlvmModule;

/// The module with today's opaque types, or `None` if it has no older ones.
pub(super) fn upgrade_opaque_types(module: &LlvmModule) -> Option<LlvmModule> {
    if !opaque_evidence::has_old_opaque_types(module) {
        return None;
    }
    let found = opaque_evidence::gather_evidence(module);
    found
        .has_any()
        .then(|| rewrite_module::rewrite_module(module, found))
}
