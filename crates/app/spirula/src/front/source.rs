//! Sources: inputs as their front ends read them.

use crate::error::CompileError;
use crate::options::CompileOptions;
use crate::signature::TensorSignature;
use crate::stages::StageObserver;
use spirula_diagnostics::SourceDiagnostic;
use spirula_futhark::compile::InternalisedSource;
use spirula_kernel::ir::KernelProgram;
use spirula_program::CompiledProgram;
use spirula_spirv::ir::SpirvModule;
use spirula_tensor::ir::TensorFunction;
use std::fmt;

/// An input that was read. The variant is the representation at which it enters the pipeline.
#[derive(Debug)]
pub enum SourceProgram {
    /// A SPIR-V module.
    Module(Box<SpirvModule>),
    /// A program of a language that is translated to one SPIR-V module.
    ModuleSource(Box<dyn ModuleSource>),
    /// A program of a language that is translated to the tensor IR.
    TensorSource(Box<dyn TensorSource>),
    /// The entry points of a program of array combinators, with its source.
    Combinators(Box<InternalisedSource>),
    /// A verified program in the kernel IR.
    Kernels(Box<KernelProgram>),
    /// A compiled program.
    Compiled(Box<CompiledProgram>),
}

/// A program that is translated to one SPIR-V module.
pub trait ModuleSource: fmt::Debug {
    /// Translates the program. Warnings are appended to `diagnostics`.
    ///
    /// # Errors
    /// When the program needs something that SPIR-V, the target or Spirula lacks.
    fn translate_to_spirv(
        &self,
        options: &CompileOptions,
        diagnostics: &mut Vec<SourceDiagnostic>,
    ) -> Result<SpirvModule, CompileError>;
}

/// A program that is translated to the tensor IR.
pub trait TensorSource: fmt::Debug {
    /// Translates the function that the options choose as the entry point. `watch` observes the stages before.
    ///
    /// # Errors
    /// When there is no such function, it is invalid, or it needs something that is missing.
    fn translate_to_tensors(
        &self,
        options: &CompileOptions,
        watch: &mut StageObserver<'_>,
    ) -> Result<TensorProgram, CompileError>;
}

/// A function in the tensor IR with the types of its source.
#[derive(Debug)]
pub struct TensorProgram {
    /// The function.
    pub function: TensorFunction,
    /// Its parameters, results and checks.
    pub signature: TensorSignature,
    /// Warnings.
    pub diagnostics: Vec<SourceDiagnostic>,
}
