//! Optimising the kernels of programs.

use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_opt::{PassPipeline, PipelineOptions, optimise_module};
use spirula_program::CompiledProgram;
use spirula_spirv::ir::SpirvModule;

/// What kernels of the tensor IR pass through. They are lowered with a variable for each scalar of the
/// imperative IR, and every module is compiled again by each device that runs it, so that less to compile
/// is worth more than the time that this takes.
const TENSORS: &str = "O2";

/// What other kernels pass through: of `O2` what makes a difference to them. They have one
/// function, no aggregates, and each type and constant once; what else is left out takes two fifths of the time
/// and makes them smaller by 2%.
const KERNELS: &str = "mem2reg,simplify-cfg,narrow-counters,narrow-indices,gvn,workgroup-to-local,mem2reg,simplify-cfg,adce,if-convert,licm,unroll-runtime=4,simplify-cfg,dead-stores,adce,trim-capabilities,compact-ids";

/// Optimises all kernels, of the tensor IR or others.
pub(crate) fn optimise_kernels(
    program: &mut CompiledProgram,
    of_tensors: bool,
) -> Result<(), SourceDiagnostic> {
    let passes = if of_tensors { TENSORS } else { KERNELS };
    let parsed = |passes: &str| {
        passes
            .parse::<PassPipeline>()
            .map_err(|error| to_source_diagnostic(&error))
    };
    let narrow = parsed(passes)?;
    let wide = parsed(&passes.replace("narrow-indices,", ""))?;
    for kernel in program.kernels.iter_mut().filter(|k| k.refusal.is_none()) {
        // Where shared memory can be laid out explicitly and is not, elements are put together from smaller
        // ones. That is for devices such as lavapipe, whose compiler unrolls loops over narrow indices into
        // them and then needs minutes.
        let plain = match kernel.laid_out {
            Some(_) => &wide,
            None => &narrow,
        };
        optimise_words(&mut kernel.words, plain)?;
        if let Some(words) = &mut kernel.laid_out {
            optimise_words(words, &narrow)?;
        }
    }
    Ok(())
}

fn optimise_words(words: &mut Vec<u32>, pipeline: &PassPipeline) -> Result<(), SourceDiagnostic> {
    let mut module = SpirvModule::from_words(std::mem::take(words))?;
    let optimised = optimise_module(&mut module, pipeline, &mut PipelineOptions::default());
    optimised.map_err(|error| to_source_diagnostic(&error))?;
    *words = module.to_words();
    Ok(())
}

fn to_source_diagnostic(error: &dyn std::fmt::Display) -> SourceDiagnostic {
    SourceDiagnostic::error(
        SourceLocation::Unknown,
        format!("optimising a kernel: {error}"),
    )
}
