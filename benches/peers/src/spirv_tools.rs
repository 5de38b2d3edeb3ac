//! The contender SPIRV-Tools, as a library.

use crate::corpus::Sample;
use spirv_tools_sys::assembler::{BinaryOptions, DisassembleOptions, Text};
use spirv_tools_sys::diagnostics::Diagnostic;
use spirv_tools_sys::opt::{self, Optimizer, Passes};
use spirv_tools_sys::shared::{self, Binary, SpirvResult, TargetEnv, ToolContext};
use spirv_tools_sys::{assembler, diagnostics, val};
use std::ptr::null_mut;

/// A context for the environment of a module.
struct Context(*mut ToolContext);

impl Context {
    fn of(sample: &Sample) -> Context {
        // SAFETY: the call has no conditions.
        Context(unsafe { shared::context_create(environment(sample)) })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: made by `context_create`, destroyed once.
        unsafe { shared::context_destroy(self.0) }
    }
}

fn environment(sample: &Sample) -> TargetEnv {
    let name = sample.environment.as_str();
    name.parse().unwrap_or(TargetEnv::Universal_1_6)
}

pub fn validate(sample: &Sample) -> bool {
    let context = Context::of(sample);
    let binary = Binary {
        code: sample.words.as_ptr(),
        size: sample.words.len(),
    };
    let mut diagnostic: *mut Diagnostic = null_mut();
    // SAFETY: all pointers are valid for the call, what it makes is destroyed once.
    let result = unsafe {
        let options = val::validator_options_create();
        val::validator_options_set_scalar_block_layout(options, sample.options.scalar_block_layout);
        let result = val::validate_with_options(context.0, options, &binary, &mut diagnostic);
        val::validator_options_destroy(options);
        diagnostics::diagnostic_destroy(diagnostic);
        result
    };
    result == SpirvResult::Success
}

pub fn disassemble(sample: &Sample) -> bool {
    let context = Context::of(sample);
    let mut text: *mut Text = null_mut();
    let mut diagnostic: *mut Diagnostic = null_mut();
    let (words, size) = (sample.words.as_ptr(), sample.words.len());
    let options = DisassembleOptions::None as u32;
    // SAFETY: as above.
    let result = unsafe {
        let result =
            assembler::disassemble(context.0, words, size, options, &mut text, &mut diagnostic);
        assembler::text_destroy(text);
        diagnostics::diagnostic_destroy(diagnostic);
        result
    };
    result == SpirvResult::Success
}

pub fn assemble(sample: &Sample) -> bool {
    let context = Context::of(sample);
    let mut binary: *mut Binary = null_mut();
    let mut diagnostic: *mut Diagnostic = null_mut();
    let (text, size) = (sample.text.as_ptr().cast(), sample.text.len());
    let options = BinaryOptions::PreserveNumberIds as u32;
    // SAFETY: as above.
    let result = unsafe {
        let result =
            assembler::assemble(context.0, text, size, options, &mut binary, &mut diagnostic);
        shared::binary_destroy(binary);
        diagnostics::diagnostic_destroy(diagnostic);
        result
    };
    result == SpirvResult::Success
}

/// The optimiser builds its module, runs no pass, and writes the module.
pub fn build_and_write(sample: &Sample) -> bool {
    optimize(sample, |_| ())
}

pub fn construct_ssa(sample: &Sample) -> bool {
    // SAFETY: the optimizer is alive.
    optimize(sample, |optimizer| unsafe {
        opt::optimizer_register_pass(optimizer, Passes::SSARewrite);
    })
}

/// The passes of `spirv-opt -O`.
pub fn optimize_performance(sample: &Sample) -> bool {
    // SAFETY: the optimizer is alive.
    optimize(sample, |optimizer| unsafe {
        opt::optimizer_register_performance_passes(optimizer);
    })
}

/// The passes of `spirv-opt -Os`.
pub fn optimize_size(sample: &Sample) -> bool {
    // SAFETY: the optimizer is alive.
    optimize(sample, |optimizer| unsafe {
        opt::optimizer_register_size_passes(optimizer);
    })
}

/// Reads a module, runs the passes that `register` adds, and writes it. The module is not validated.
fn optimize(sample: &Sample, register: impl FnOnce(*mut Optimizer)) -> bool {
    let mut binary: *mut Binary = null_mut();
    let (words, size) = (sample.words.as_ptr(), sample.words.len());
    // SAFETY: as above.
    let result = unsafe {
        let optimizer = opt::optimizer_create(environment(sample));
        register(optimizer);
        let options = opt::optimizer_options_create();
        opt::optimizer_options_run_validator(options, false);
        let result = opt::optimizer_run(
            optimizer,
            words,
            size,
            &mut binary,
            ignore,
            null_mut(),
            options,
        );
        opt::optimizer_options_destroy(options);
        opt::optimizer_destroy(optimizer);
        shared::binary_destroy(binary);
        result
    };
    result == SpirvResult::Success
}

extern "C" fn ignore(
    _: diagnostics::MessageLevel,
    _: *const std::os::raw::c_char,
    _: *const diagnostics::Position,
    _: *const std::os::raw::c_char,
    _: *mut std::ffi::c_void,
) {
}
