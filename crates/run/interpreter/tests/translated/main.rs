//! Translated code does what the interpreter does: control flow of every kind, waits, faults, and each operation.

mod async_copy;
mod control_flow;
mod faults;
mod operations;
mod resources;
#[path = "../engines/wasmi_engine.rs"]
mod wasmi_engine;

use spirula_diagnostics::SourceDiagnostic;
use spirula_interpreter::{
    InterpretedArgument, InterpretedLaunch, KernelInterpreter, WasmEngine, WasmKernel,
};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::text::{ParseOptions, parse_assembly};
use wasmi_engine::WasmiEngine;

/// Reads a module in the text form of SPIR-V.
fn read_module(text: &str) -> SpirvModule {
    let words = parse_assembly(text, &ParseOptions::default()).expect("the assembly is right");
    SpirvModule::from_words(words).expect("the assembler writes a module")
}

/// Runs a kernel whose only argument is a buffer, by both executors.
fn run_both(text: &str, size: u32, buffer: &[u8]) -> [Result<Vec<u8>, SourceDiagnostic>; 2] {
    run_with_limit(text, size, buffer, u64::MAX)
}

/// Runs it with a limit of steps.
fn run_with_limit(
    text: &str,
    size: u32,
    buffer: &[u8],
    most_steps: u64,
) -> [Result<Vec<u8>, SourceDiagnostic>; 2] {
    let module = read_module(text);
    let arguments = [InterpretedArgument::Buffer(0)];
    let launch = InterpretedLaunch {
        groups: [2, 1, 1],
        workgroup: [size, 1, 1],
        arguments: &arguments,
        most_steps,
        ..InterpretedLaunch::default()
    };
    let interpreter = KernelInterpreter::from_module(&module, "main", &[]).expect("it is decoded");
    let mut interpreted = vec![buffer.to_vec()];
    let ran = interpreter.run_launch(&launch, &mut interpreted);
    let interpreted = ran.map(|()| interpreted.remove(0));
    let kernel = WasmKernel::from_module(&module, "main", &[]).expect("it is translated");
    let mut engine = WasmiEngine::default();
    let instance = kernel.load(&mut engine).expect("the module is valid");
    let mut translated = vec![buffer.to_vec()];
    let ran = kernel.run_launch(&launch, &mut translated, &mut engine, instance);
    engine.drop_instance(instance);
    [interpreted, ran.map(|()| translated.remove(0))]
}

/// Runs a kernel by both executors, and compares the words that they have written.
fn check_equal(text: &str, size: u32, words: &[u32]) -> Vec<u32> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let [interpreted, translated] = run_both(text, size, &bytes);
    let interpreted = interpreted.expect("the interpreter runs it");
    assert_eq!(
        translated.expect("WebAssembly runs it"),
        interpreted,
        "{text}"
    );
    let words = interpreted.chunks_exact(4);
    words
        .map(|bytes| u32::from_le_bytes(bytes.try_into().expect("four bytes")))
        .collect()
}

/// Types and variables that all kernels have: `%data` is the argument, `%number` the number of the invocation.
const HEAD: &str = "
    OpCapability Kernel
    OpCapability Addresses
    OpCapability Int64
    OpCapability Int16
    OpCapability Int8
    OpCapability Float64
    OpCapability Groups
    OpCapability Linkage
%std = OpExtInstImport \"OpenCL.std\"
    OpMemoryModel Physical64 OpenCL
    OpEntryPoint Kernel %main \"main\" %id
    OpDecorate %id BuiltIn GlobalInvocationId
    OpDecorate %id Constant
%void = OpTypeVoid
%bool = OpTypeBool
%u8 = OpTypeInt 8 0
%u16 = OpTypeInt 16 0
%u32 = OpTypeInt 32 0
%u64 = OpTypeInt 64 0
%f32 = OpTypeFloat 32
%f64 = OpTypeFloat 64
%v3u64 = OpTypeVector %u64 3
%input = OpTypePointer Input %v3u64
%pointer = OpTypePointer CrossWorkgroup %u32
%local = OpTypePointer Function %u32
%kernel = OpTypeFunction %void %pointer
%id = OpVariable %input Input
%zero = OpConstant %u32 0
%one = OpConstant %u32 1
%two = OpConstant %u32 2
%three = OpConstant %u32 3
%ten = OpConstant %u32 10
";

/// A kernel of blocks, with more types and constants, and functions after it.
fn write_kernel(globals: &str, body: &str, functions: &str) -> String {
    format!(
        "{HEAD}{globals}
%main = OpFunction %void None %kernel
%data = OpFunctionParameter %pointer
%entry = OpLabel
%ids = OpLoad %v3u64 %id
%number64 = OpCompositeExtract %u64 %ids 0
%number = OpUConvert %u32 %number64
%place = OpPtrAccessChain %pointer %data %number64
{body}
OpFunctionEnd
{functions}"
    )
}
