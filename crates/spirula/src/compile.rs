//! From the bytes of an input to a SPIR-V module.

use crate::detect::{InputKind, detect};
use spirula_source::{Diagnostic, Place};
use spirula_spirv::ir::Module;
use spirula_spirv::target::Target;
use spirula_spirv::text;
use std::fmt;

/// How an input is compiled.
#[derive(Clone, Debug, Default)]
pub struct CompileOptions {
    /// What the module is for; by default what suits the input.
    pub target: Option<Target>,
    /// Target triple for LLVM IR, instead of its own.
    pub triple: Option<String>,
}

/// An input that was read, before it is brought to SPIR-V.
#[derive(Debug)]
pub enum Program {
    /// It is SPIR-V already.
    Spirv(InputKind, Module),
    /// It is LLVM IR.
    Llvm(InputKind, Box<spirula_llvm::ir::Module>),
}

/// A module with what is worth knowing about how it came about.
#[derive(Debug)]
pub struct Compiled {
    /// The module.
    pub module: Module,
    /// What the input was.
    pub input: InputKind,
    /// Warnings and notes.
    pub diagnostics: Vec<Diagnostic>,
}

/// The part of a compilation that refused its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The input is malformed, or nothing that is accepted.
    Read,
    /// The input is well-formed, but cannot be expressed in SPIR-V, or not yet.
    Translate,
}

/// Why an input was refused.
#[derive(Debug)]
pub struct CompileError {
    /// The part that refused it.
    pub stage: Stage,
    /// What is wrong, at least one error.
    pub diagnostics: Vec<Diagnostic>,
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.diagnostics.first() {
            Some(first) => first.fmt(f),
            None => f.write_str("the input was refused"),
        }
    }
}

impl std::error::Error for CompileError {}

impl CompileError {
    fn read(diagnostics: Vec<Diagnostic>) -> Self {
        CompileError {
            stage: Stage::Read,
            diagnostics,
        }
    }
}

/// Compiles an input of any accepted form.
///
/// # Errors
/// When the input is malformed, of no accepted form, or needs something that is missing.
pub fn compile(bytes: &[u8], options: &CompileOptions) -> Result<Compiled, CompileError> {
    read(bytes)?.into_spirv(options)
}

/// Reads an input of any accepted form: the first half of [`compile`].
///
/// # Errors
/// When the input is malformed or of no accepted form.
pub fn read(bytes: &[u8]) -> Result<Program, CompileError> {
    let one = |diagnostic| CompileError::read(vec![diagnostic]);
    let kind = detect(bytes).map_err(one)?;
    match kind {
        InputKind::SpirvBinary => {
            let module = Module::from_bytes(bytes).map_err(one)?;
            Ok(Program::Spirv(kind, module))
        }
        InputKind::SpirvText => {
            let words = text::parse(utf8(bytes)?, &text::ParseOptions::default())
                .map_err(CompileError::read)?;
            let module = Module::from_words(words).map_err(one)?;
            Ok(Program::Spirv(kind, module))
        }
        InputKind::LlvmBitcode | InputKind::LlvmText => {
            let module = spirula_llvm::read(bytes).map_err(one)?;
            Ok(Program::Llvm(kind, Box::new(module)))
        }
    }
}

impl Program {
    /// Brings an input that was read to SPIR-V: the second half of [`compile`].
    ///
    /// # Errors
    /// When it needs something that SPIR-V, the target or Spirula lacks.
    pub fn into_spirv(self, options: &CompileOptions) -> Result<Compiled, CompileError> {
        match self {
            Program::Spirv(input, module) => {
                if let Some(target) = options.target {
                    check_version(&module, target)?;
                }
                Ok(Compiled {
                    module,
                    input,
                    diagnostics: Vec::new(),
                })
            }
            Program::Llvm(input, module) => {
                let translation = spirula_llvm::Options {
                    target: options.target.unwrap_or_default(),
                    triple: options.triple.clone(),
                };
                let translated = spirula_llvm::translate(&module, &translation);
                let module = translated.map_err(|diagnostics| CompileError {
                    stage: Stage::Translate,
                    diagnostics,
                })?;
                Ok(Compiled {
                    module,
                    input,
                    diagnostics: Vec::new(),
                })
            }
        }
    }
}

/// SPIR-V that comes in goes out as it is, so it must not be newer than what is asked for.
fn check_version(module: &Module, target: Target) -> Result<(), CompileError> {
    if module.version <= target.version {
        return Ok(());
    }
    let message = format!(
        "the module is SPIR-V {}, newer than the {} of the target environment",
        module.version, target.version
    );
    Err(CompileError {
        stage: Stage::Translate,
        diagnostics: vec![Diagnostic::error(Place::Word(1), message)],
    })
}

/// A text as UTF-8, byte order mark left out.
fn utf8(bytes: &[u8]) -> Result<&str, CompileError> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(e) => {
            let place = Place::Byte(e.valid_up_to() as u64);
            let error = Diagnostic::error(place, "the text is not UTF-8 here");
            Err(CompileError::read(vec![error]))
        }
    }
}
