//! Linking of modules to a program.

use spirula_llvm::make_intrinsic_libraries;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::link::{LinkError, LinkOptions, link_modules};

/// Links modules to one, as [`link_modules`] does. Intrinsics of LLVM that they import, by names such as `llvm.usub.sat.i32`, are defined.
/// Modules of SYCL have such imports, as their translator knows no instruction for these intrinsics.
///
/// # Errors
/// A [`LinkError`]. The index of a module after those that were given stands for the definition of an intrinsic.
pub fn link_program(
    mut modules: Vec<SpirvModule>,
    options: &LinkOptions,
) -> Result<SpirvModule, LinkError> {
    let libraries = make_intrinsic_libraries(&modules);
    modules.extend(libraries);
    link_modules(modules, options)
}
