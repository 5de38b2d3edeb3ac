//! Compiling and running small modules written as text.
#![allow(unsafe_code, dead_code)] // Kernels are run on buffers that the tests own.

use spirula_cpu::{
    CpuMode, DescriptorResource, InvocationRange, JitArgument, JitKernel, JitLaunch, JitOptions,
    LaunchError, MemorySpan, ResourceBinding,
};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::grammar::enumerants::ExecutionModel;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::text::{ParseOptions, parse_assembly};
use std::fmt::Debug;

/// A module from its text.
pub fn module(text: &str) -> SpirvModule {
    let words = parse_assembly(text, &ParseOptions::default())
        .unwrap_or_else(|faults| panic!("{}\n{text}", faults[0]));
    SpirvModule::from_words(words).expect("what the assembler writes is a module")
}

/// Compiles the entry point `main`, whichever model it has.
pub fn compile(text: &str) -> Result<JitKernel, Vec<SourceDiagnostic>> {
    compile_with(text, &[], &JitOptions::default())
}

/// Compiles a kernel with specialisation constants and options.
pub fn compile_with(
    text: &str,
    spec: &[(u32, u64)],
    options: &JitOptions,
) -> Result<JitKernel, Vec<SourceDiagnostic>> {
    let model = if text.contains("OpEntryPoint Kernel") {
        ExecutionModel::Kernel
    } else {
        ExecutionModel::GLCompute
    };
    let kernel = JitKernel::compile_entry_point(&module(text), "main", model, spec, options);
    kernel.map_err(|error| error.diagnostics().to_vec())
}

/// The result of `run`, which is the same in every mode: with gangs, without, and with the sanitizer.
pub fn in_every_mode<T: Debug + PartialEq>(mut run: impl FnMut(&JitOptions) -> T) -> T {
    let modes = [CpuMode::Gangs, CpuMode::Scalar, CpuMode::Sanitizer];
    let results = modes.map(|mode| {
        run(&JitOptions {
            mode,
            ..JitOptions::default()
        })
    });
    assert!(results.windows(2).all(|r| r[0] == r[1]), "{results:?}");
    let [result, ..] = results;
    result
}

/// The messages of a refusal.
pub fn refusal(text: &str) -> Vec<String> {
    match compile(text) {
        Ok(_) => panic!("the module was accepted"),
        Err(faults) => faults.into_iter().map(|f| f.message).collect(),
    }
}

fn memory<T>(buffer: &mut Vec<T>) -> MemorySpan {
    MemorySpan {
        address: buffer.as_mut_ptr().cast(),
        length: size_of_val(buffer.as_slice()) as u64,
    }
}

/// Runs a kernel on buffers of 64-bit words and values.
pub fn run_kernel(
    kernel: &JitKernel,
    global: [u64; 3],
    local: Option<[u32; 3]>,
    buffers: &mut [Vec<u64>],
    values: &[JitArgument<'_>],
) -> Result<(), LaunchError> {
    let mut arguments: Vec<JitArgument<'_>> = buffers
        .iter_mut()
        .map(|b| JitArgument::Memory(memory(b)))
        .collect();
    arguments.extend_from_slice(values);
    let launch = JitLaunch {
        size: InvocationRange::Items {
            global,
            local,
            offset: [0; 3],
            dimensions: 3,
        },
        arguments: &arguments,
        bindings: &[],
        push: &[],
        threads: 0,
        timeout: None,
    };
    // SAFETY: the kernels of the tests stay within their buffers, which live in the caller.
    unsafe { kernel.run_launch(&launch) }
}

/// The buffer of `words` 64-bit words that 16 invocations in workgroups of 8 write, the same in every mode.
pub fn words_in_every_mode(text: &str, words: usize) -> Vec<u64> {
    in_every_mode(|options| {
        let kernel = compile_with(text, &[], options);
        let kernel = kernel.unwrap_or_else(|faults| panic!("{}", faults[0]));
        let mut buffers = [vec![7; words]];
        run_kernel(&kernel, [16, 1, 1], Some([8, 1, 1]), &mut buffers, &[]).unwrap();
        let [found] = buffers;
        found
    })
}

/// Runs a shader on buffers of 32-bit words, bound to set 0 in order.
pub fn run_shader(
    kernel: &JitKernel,
    groups: [u32; 3],
    buffers: &mut [Vec<u32>],
    push: &[u8],
) -> Result<(), LaunchError> {
    let bindings: Vec<ResourceBinding> = buffers
        .iter_mut()
        .enumerate()
        .map(|(n, b)| ResourceBinding {
            set: 0,
            binding: n as u32,
            index: 0,
            resource: DescriptorResource::Memory(memory(b)),
        })
        .collect();
    let launch = JitLaunch {
        size: InvocationRange::Groups(groups),
        arguments: &[],
        bindings: &bindings,
        push,
        threads: 0,
        timeout: None,
    };
    // SAFETY: as above.
    unsafe { kernel.run_launch(&launch) }
}

/// A shader with storage buffers of `uint` at bindings 0 and 1, `%x` and `%y`, and built-in
/// variables. `globals` is put before the function, `body` into its entry block; `%local`, `%global`
/// and `%group` are the ids' first components, `%index` the local index.
pub fn shader(size: [u32; 3], globals: &str, body: &str) -> String {
    let [x, y, z] = size;
    format!(
        r#"OpCapability Shader
OpCapability GroupNonUniform
OpCapability GroupNonUniformVote
OpCapability GroupNonUniformBallot
OpCapability GroupNonUniformArithmetic
OpCapability GroupNonUniformShuffle
OpCapability GroupNonUniformShuffleRelative
OpCapability GroupNonUniformClustered
OpCapability GroupNonUniformQuad
%glsl = OpExtInstImport "GLSL.std.450"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main" %lid %gid %wid %idx %lane %x %y
OpExecutionMode %main LocalSize {x} {y} {z}
OpDecorate %lid BuiltIn LocalInvocationId
OpDecorate %gid BuiltIn GlobalInvocationId
OpDecorate %wid BuiltIn WorkgroupId
OpDecorate %idx BuiltIn LocalInvocationIndex
OpDecorate %lane BuiltIn SubgroupLocalInvocationId
OpDecorate %array ArrayStride 4
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpDecorate %x DescriptorSet 0
OpDecorate %x Binding 0
OpDecorate %y DescriptorSet 0
OpDecorate %y Binding 1
%void = OpTypeVoid
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%int = OpTypeInt 32 1
%float = OpTypeFloat 32
%uint2 = OpTypeVector %uint 2
%uint3 = OpTypeVector %uint 3
%uint4 = OpTypeVector %uint 4
%n0 = OpConstant %uint 0
%n1 = OpConstant %uint 1
%n2 = OpConstant %uint 2
%n3 = OpConstant %uint 3
%n4 = OpConstant %uint 4
%n8 = OpConstant %uint 8
%n64 = OpConstant %uint 64
%barrier = OpConstant %uint 264
%array = OpTypeRuntimeArray %uint
%block = OpTypeStruct %array
%pblock = OpTypePointer StorageBuffer %block
%puint = OpTypePointer StorageBuffer %uint
%pvec = OpTypePointer Input %uint3
%pin = OpTypePointer Input %uint
%x = OpVariable %pblock StorageBuffer
%y = OpVariable %pblock StorageBuffer
%lid = OpVariable %pvec Input
%gid = OpVariable %pvec Input
%wid = OpVariable %pvec Input
%idx = OpVariable %pin Input
%lane = OpVariable %pin Input
%fn = OpTypeFunction %void
{globals}
%main = OpFunction %void None %fn
%entry = OpLabel
%lid3 = OpLoad %uint3 %lid
%local = OpCompositeExtract %uint %lid3 0
%gid3 = OpLoad %uint3 %gid
%global = OpCompositeExtract %uint %gid3 0
%group_ = OpAccessChain %pin %wid %n0
%group = OpLoad %uint %group_
%index = OpLoad %uint %idx
%laneid = OpLoad %uint %lane
{body}
OpReturn
OpFunctionEnd
"#
    )
}
