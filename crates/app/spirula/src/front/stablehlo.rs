//! Front end of StableHLO: MLIR text and bytecode, translated to the tensor IR.

use super::format::{
    FormatMarks, FormatReader, FrontEnd, InputFormat, LineMatch, TextMarks, starts_with_any,
};
use super::source::{SourceProgram, TensorProgram, TensorSource};
use crate::error::{CompileError, CompileStage};
use crate::options::{CompileOptions, ShardProgram};
use crate::signature::TensorSignature;
use crate::stages::{PARTITION, StageObserver};
use spirula_diagnostics::{ColumnUnit, LineStarts, SourceDiagnostic, SourceLocation};
use spirula_partition::{
    EntryMoves, PartitionOptions, call_exchanges, partition_module, wrap_as_manual, wrap_for_shards,
};
use spirula_stablehlo::mlir::{MlirModule, SsaNumbering};
use spirula_stablehlo::translate::{TranslateError, TranslateOptions, translate_for};
use spirula_tensor::ir::{OpKind, TensorFunction};
use std::fmt;

pub(super) static FRONT_END: FrontEnd = FrontEnd {
    title: "StableHLO (MLIR text or bytecode, jax.export)",
    formats: &[&MLIR_TEXT, &MLIR_BYTECODE, &JAX_EXPORT],
};

/// MLIR as text.
pub(super) static MLIR_TEXT: InputFormat = InputFormat {
    name: "MLIR",
    marks: FormatMarks::Text(TextMarks {
        comments: &["//"],
        match_comment: |comment| LineMatch::likely_if(comment.starts_with("//")),
        match_line: |line| LineMatch::certain_if(starts_with_any(line, LINES) || is_alias(line)),
    }),
    read: FormatReader::Located(read_text),
};

/// MLIR bytecode, such as StableHLO's portable artifacts.
static MLIR_BYTECODE: InputFormat = InputFormat {
    name: "MLIR bytecode",
    marks: FormatMarks::Magic(&[b"ML\xefR"]),
    read: FormatReader::Bytes(read_module),
};

/// A function that `jax.export` serialised, with its module as bytecode.
static JAX_EXPORT: InputFormat = InputFormat {
    name: "function of jax.export",
    marks: FormatMarks::Predicate(|bytes| spirula_stablehlo::find_exported_module(bytes).is_some()),
    read: FormatReader::Bytes(read_module),
};

/// Beginnings of lines that only MLIR has.
const LINES: &[&str] = &[
    "module {",
    "module @",
    "module attributes",
    "builtin.module",
    "func.func",
    "\"builtin.module\"",
    "\"func.func\"",
];

/// Whether a line is an alias of an attribute or a type.
fn is_alias(line: &str) -> bool {
    let Some((name, value)) = line.split_once('=') else {
        return false;
    };
    let Some(name) = name.trim_end().strip_prefix(['#', '!']) else {
        return false;
    };
    // In metadata of LLVM IR a number follows the mark, or `!` follows the equals sign.
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && !value.trim_start().starts_with('!')
}

/// The function that becomes the entry point where none is named.
const DEFAULT_FUNCTION: &str = "main";

fn read_module(bytes: &[u8]) -> Result<SourceProgram, CompileError> {
    Ok(SourceProgram::TensorSource(Box::new(verify_input(bytes)?)))
}

fn read_text(
    bytes: &[u8],
    path: &str,
    _: &mut Vec<SourceDiagnostic>,
) -> Result<SourceProgram, CompileError> {
    let source = StablehloText {
        module: verify_input(bytes)?,
        path: path.to_owned(),
        text: bytes.to_vec(),
    };
    Ok(SourceProgram::TensorSource(Box::new(source)))
}

fn verify_input(bytes: &[u8]) -> Result<MlirModule, CompileError> {
    let module = spirula_stablehlo::read_module(bytes).map_err(CompileError::from_read_fault)?;
    let faults = spirula_stablehlo::verify_module(&module);
    if !faults.is_empty() {
        return Err(CompileError::from_diagnostics(CompileStage::Read, faults));
    }
    Ok(module)
}

/// A module with its text, for the places of foreign calls.
struct StablehloText {
    module: MlirModule,
    path: String,
    text: Vec<u8>,
}

impl fmt::Debug for StablehloText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the module of {}", self.path)
    }
}

impl StablehloText {
    /// Gives foreign calls without a place the one in the text.
    fn locate_foreign_calls(&self, function: &mut TensorFunction) {
        let lines = LineStarts::new(&self.text);
        for block in function.block_ids() {
            for op in &mut function.block_mut(block).ops {
                if let (OpKind::Foreign(call), SourceLocation::Text { start, .. }) =
                    (&mut op.kind, op.place)
                    && call.signature.origin.is_empty()
                {
                    let at = lines.find_position(&self.text, start as usize, ColumnUnit::Character);
                    call.signature.origin = format!("{}:{}:{}", self.path, at.line, at.column);
                }
            }
        }
    }
}

impl TensorSource for StablehloText {
    fn translate_to_tensors(
        &self,
        options: &CompileOptions,
        watch: &mut StageObserver<'_>,
    ) -> Result<TensorProgram, CompileError> {
        let mut translated = self.module.translate_to_tensors(options, watch)?;
        self.locate_foreign_calls(&mut translated.function);
        Ok(translated)
    }
}

impl TensorSource for MlirModule {
    fn translate_to_tensors(
        &self,
        options: &CompileOptions,
        watch: &mut StageObserver<'_>,
    ) -> Result<TensorProgram, CompileError> {
        let entry = options.function.as_deref().unwrap_or(DEFAULT_FUNCTION);
        let choices = TranslateOptions {
            known: options.known.clone(),
            windows: options.windows,
            foreign: options.foreign.clone(),
            layouts: options.layouts.clone(),
        };
        let mut diagnostics = Vec::new();
        let is_partitioned = options.partitions.is_some() || options.shards.is_some();
        let partitioned = if is_partitioned {
            Some(partition_for(
                self,
                entry,
                options,
                watch,
                &mut diagnostics,
            )?)
        } else {
            None
        };
        let module = partitioned.as_ref().unwrap_or(self);
        let translated = translate_for(module, entry, &choices);
        let mut translated = translated.map_err(to_compile_error)?;
        if let Some(precision) = options.precision {
            translated.function.set_product_precision(precision);
        }
        Ok(TensorProgram {
            function: translated.function,
            signature: TensorSignature {
                parameters: translated.parameters,
                results: translated.results,
                checks: translated.checks,
            },
            diagnostics,
        })
    }
}

/// The program that runs the parts of all devices of a program for several, one operation after the other, or those of one.
fn partition_for(
    module: &MlirModule,
    entry: &str,
    options: &CompileOptions,
    watch: &mut StageObserver<'_>,
    diagnostics: &mut Vec<SourceDiagnostic>,
) -> Result<MlirModule, CompileError> {
    let mut shardings = options.shards.as_ref().map(|own| own.shardings().clone());
    let moves = match (&options.shards, &mut shardings) {
        (Some(ShardProgram::EachDevice(_)), Some(shardings)) => {
            EntryMoves::align(shardings, module)
        }
        _ => EntryMoves::default(),
    };
    let choices = PartitionOptions {
        devices: options.partitions,
        shardings,
    };
    let mut partitioned =
        partition_module(module, entry, &choices).map_err(CompileError::from_translate_fault)?;
    watch(PARTITION.0, &|| {
        let report = partitioned.report.to_string();
        let report: String = report.lines().map(|line| format!("// {line}\n")).collect();
        let text = partitioned.module.to_generic_text(SsaNumbering::Unique);
        report + &text
    });
    diagnostics.append(&mut partitioned.report.warnings);
    Ok(match &options.shards {
        Some(ShardProgram::AllDevices(_)) => wrap_for_shards(&partitioned, module),
        Some(ShardProgram::EachDevice(_)) => {
            call_exchanges(&partitioned, &moves).map_err(CompileError::from_translate_fault)?
        }
        None => wrap_as_manual(&partitioned, module),
    })
}

fn to_compile_error(error: TranslateError) -> CompileError {
    match error {
        TranslateError::Unsupported { what, place } => {
            let message = format!("{what} is not supported");
            CompileError::from_translate_fault(SourceDiagnostic::error(place, message))
        }
        TranslateError::Invalid(diagnostic) => CompileError::from_read_fault(diagnostic),
    }
}
