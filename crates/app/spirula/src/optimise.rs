//! Optimisation of the kernels of programs.

use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_opt::{PassPipeline, PipelineOptions, optimise_module};
use spirula_program::CompiledProgram;
use spirula_spirv::ir::SpirvModule;

/// The representation that kernels were lowered from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KernelOrigin {
    /// The tensor IR.
    TensorIr,
    /// The kernel IR.
    KernelIr,
}

/// Passes over kernels of the tensor IR. Lowering makes a variable of each scalar of the kernel IR. Every device that
/// runs a module compiles it again, so that less code to compile is worth more than the time of these passes.
const TENSOR_PASSES: &[&str] = &["O2"];

/// Passes over other kernels: those of `O2` that make a difference. Such kernels have one function, no aggregates, and
/// each type and constant once. The passes that are left out take two fifths of the time and save 2 % of the size.
const KERNEL_PASSES: &[&str] = &[
    "mem2reg",
    "simplify-cfg",
    "narrow-counters",
    NARROW_INDICES,
    "gvn",
    "workgroup-to-local",
    "mem2reg",
    "simplify-cfg",
    "adce",
    "if-convert",
    "licm",
    "unroll-runtime=4",
    "simplify-cfg",
    "dead-stores",
    "adce",
    "trim-capabilities",
    "compact-ids",
];

/// The pass that gives indices fewer bits.
const NARROW_INDICES: &str = "narrow-indices";

/// Optimises all kernels of a program.
///
/// # Errors
/// When a module is malformed, or a pass fails on it.
pub(crate) fn optimise_kernels(
    program: &mut CompiledProgram,
    origin: KernelOrigin,
) -> Result<(), SourceDiagnostic> {
    let passes = match origin {
        KernelOrigin::TensorIr => TENSOR_PASSES,
        KernelOrigin::KernelIr => KERNEL_PASSES,
    };
    let passes = passes.iter().copied();
    let all_passes = build_pipeline(passes.clone())?;
    let wide_passes = build_pipeline(passes.filter(|pass| *pass != NARROW_INDICES))?;
    for kernel in &mut program.kernels {
        // Where there is a second module with an explicit layout, this one composes elements of shared memory from
        // smaller ones. It is for devices such as lavapipe, whose compiler unrolls loops over narrow indices into such
        // memory and then takes minutes.
        let pipeline = match kernel.laid_out {
            Some(_) => &wide_passes,
            None => &all_passes,
        };
        if let Ok(module) = &mut kernel.module {
            optimise_kernel(module, pipeline)?;
        }
        if let Some(module) = &mut kernel.laid_out {
            optimise_kernel(module, &all_passes)?;
        }
    }
    Ok(())
}

fn build_pipeline<'n>(
    passes: impl Iterator<Item = &'n str>,
) -> Result<PassPipeline, SourceDiagnostic> {
    PassPipeline::from_names(passes).map_err(|error| to_source_diagnostic(&error))
}

fn optimise_kernel(
    module: &mut SpirvModule,
    pipeline: &PassPipeline,
) -> Result<(), SourceDiagnostic> {
    let optimised = optimise_module(module, pipeline, &mut PipelineOptions::default());
    optimised.map_err(|error| to_source_diagnostic(&error))?;
    Ok(())
}

fn to_source_diagnostic(error: &dyn std::fmt::Display) -> SourceDiagnostic {
    SourceDiagnostic::error(
        SourceLocation::Unknown,
        format!("optimising a kernel: {error}"),
    )
}
