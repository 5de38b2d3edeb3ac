//! Description of programs.

use crate::values::program::type_text;
use crate::values::tensor;
use spirula::TensorSignature;
use spirula_program::CompiledProgram;
use spirula_program::program::{EntryValueType, ProgramEntry};
use spirula_stablehlo::translate::InterfaceTensor;
use std::fmt::Write;

/// Describes entry points, kernels and tuning parameters.
pub fn describe_program(program: &CompiledProgram, tensors: Option<&TensorSignature>) -> String {
    let entries = program.entries.iter();
    let mut out: String = entries
        .map(|e| describe_program_entry(e, tensors))
        .collect();
    for (number, kernel) in program.kernels.iter().enumerate() {
        // Writing to a string does not fail.
        let _ = match &kernel.module {
            Err(why) => writeln!(out, "kernel {number}: not compiled, {why}"),
            Ok(module) => {
                let buffers = kernel.bound_count();
                let (words, scalars) = (module.word_count(), kernel.scalars.len());
                let fails = if kernel.can_fail { ", may fail" } else { "" };
                writeln!(
                    out,
                    "kernel {number}: words {words}, buffers {buffers}, scalars {scalars}{fails}"
                )
            }
        };
    }
    for parameter in &program.parameters {
        let (name, class) = (&parameter.name, &parameter.class);
        let _ = writeln!(out, "tuning parameter {name}: {class}");
    }
    out
}

/// Describes an entry point of a program with its parameters and results.
pub fn describe_program_entry(entry: &ProgramEntry, tensors: Option<&TensorSignature>) -> String {
    let ty = |value: Option<&EntryValueType>, tensor: Option<&InterfaceTensor>| match tensor {
        Some(tensor) => tensor::format_tensor_type(tensor),
        None => type_text(value),
    };
    let mut out = format!("entry point {}\n", entry.name);
    // Writing to a string does not fail.
    for (number, parameter) in entry.parameters.iter().enumerate() {
        let tensor = tensors.and_then(|t| t.parameters.get(number));
        let ty = ty(parameter.value.as_ref(), tensor);
        let _ = writeln!(out, "  argument {number} {}: {ty}", parameter.name);
    }
    for (number, result) in entry.results.iter().enumerate() {
        let tensor = tensors.and_then(|t| t.results.get(number));
        let ty = ty(result.value.as_ref(), tensor);
        let _ = writeln!(out, "  result {number}: {ty}");
    }
    out
}
