//! Pipes: a launch or invocation reads what another one wrote, in every mode.
#![allow(unsafe_code)] // Kernels are run on buffers that the tests own.

mod common;

use common::{in_every_mode, module};
use spirula_cpu::{
    CpuMode, InvocationRange, JitArgument, JitKernel, JitLaunch, JitOptions, KernelSanitizer,
    LaunchError, MemorySpan, PipeShape,
};
use spirula_spirv::grammar::enumerants::ExecutionModel;

/// Kernels `write` and `read` with a pipe of words and a buffer; `%n` is the global id.
fn kernels(write: &str, read: &str) -> String {
    let kernel = |name: &str, pipe: &str, function: &str, body: &str| {
        format!(
            "%{name} = OpFunction %void None %{function}
             %{name}_p = OpFunctionParameter %{pipe}
             %{name}_out = OpFunctionParameter %puint
             %{name}_e = OpLabel
             %{name}_v = OpVariable %private Function
             %{name}_g = OpLoad %ulong3 %gid
             %{name}_n = OpCompositeExtract %ulong %{name}_g 0
             %{name}_u = OpUConvert %uint %{name}_n
             %{name}_at = OpInBoundsPtrAccessChain %puint %{name}_out %{name}_n
             {}
             OpReturn
             OpFunctionEnd\n",
            body.replace("%.", &format!("%{name}_"))
        )
    };
    format!(
        r#"OpCapability Kernel
OpCapability Addresses
OpCapability Int64
OpCapability Pipes
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %write "write" %gid %lid
OpEntryPoint Kernel %read "read" %gid %lid
OpDecorate %gid BuiltIn GlobalInvocationId
OpDecorate %lid BuiltIn LocalInvocationId
%void = OpTypeVoid
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%ulong = OpTypeInt 64 0
%ulong3 = OpTypeVector %ulong 3
%input = OpTypePointer Input %ulong3
%puint = OpTypePointer CrossWorkgroup %uint
%private = OpTypePointer Function %uint
%rid = OpTypeReserveId
%rpipe = OpTypePipe ReadOnly
%wpipe = OpTypePipe WriteOnly
%n0 = OpConstant %uint 0
%n1 = OpConstant %uint 1
%n2 = OpConstant %uint 2
%n4 = OpConstant %uint 4
%n8 = OpConstant %uint 8
%n100 = OpConstant %uint 100
%gid = OpVariable %input Input
%lid = OpVariable %input Input
%writes = OpTypeFunction %void %wpipe %puint
%reads = OpTypeFunction %void %rpipe %puint
{}{}"#,
        kernel("write", "wpipe", "writes", write),
        kernel("read", "rpipe", "reads", read)
    )
}

fn memory(words: &mut [u64]) -> MemorySpan {
    MemorySpan {
        address: words.as_mut_ptr().cast(),
        length: size_of_val(words) as u64,
    }
}

fn empty(shape: PipeShape) -> Vec<u64> {
    let mut words = vec![0; shape.memory_bytes().unwrap() as usize / 8];
    let header = shape.encode_header();
    for (word, bytes) in words.iter_mut().zip(header.chunks(8)) {
        *word = u64::from_le_bytes(bytes.try_into().unwrap());
    }
    words
}

/// Runs one of the kernels over 16 invocations in groups of 8.
fn run(
    text: &str,
    name: &str,
    pipe: &mut [u64],
    out: &mut [u64],
    options: &JitOptions,
) -> Result<(), LaunchError> {
    let module = module(text);
    let kernel =
        JitKernel::compile_entry_point(&module, name, ExecutionModel::Kernel, &[], options);
    let kernel = kernel.unwrap_or_else(|error| panic!("{error}"));
    let arguments = [
        JitArgument::Memory(memory(pipe)),
        JitArgument::Memory(memory(out)),
    ];
    let launch = JitLaunch {
        size: InvocationRange::Items {
            global: [16, 1, 1],
            local: Some([8, 1, 1]),
            offset: [0; 3],
            dimensions: 1,
        },
        arguments: &arguments,
        bindings: &[],
        push: &[],
        threads: 0,
        timeout: None,
    };
    if options.mode == CpuMode::Sanitizer {
        let mut checker = KernelSanitizer::default();
        // SAFETY: the memory is that of the vectors, which live in the caller.
        unsafe { kernel.run_checked(&launch, &mut checker)? };
        assert!(checker.reports().is_empty(), "{}", checker.reports()[0]);
        return Ok(());
    }
    // SAFETY: as above.
    unsafe { kernel.run_launch(&launch) }
}

/// Writes through a pipe and reads in every mode: the words that both wrote, in order.
fn both(text: &str, capacity: u32) -> [Vec<u32>; 2] {
    in_every_mode(|options| {
        let mut pipe = empty(PipeShape {
            packet: 4,
            capacity,
        });
        ["write", "read"].map(|name| {
            let mut out = vec![0; 8];
            run(text, name, &mut pipe, &mut out, options).unwrap();
            let words = out.iter().flat_map(|w| [*w as u32, (*w >> 32) as u32]);
            let mut words: Vec<u32> = words.collect();
            words.sort_unstable();
            words
        })
    })
}

const FAIL: u32 = u32::MAX;

#[test]
fn packets_go_from_launch_to_launch() {
    let write = "OpStore %.v %.u
        %.r = OpWritePipe %uint %.p %.v %n4 %n4
        OpStore %.at %.r";
    let read = "%.r = OpReadPipe %uint %.p %.v %n4 %n4
        %.ok = OpIEqual %bool %.r %n0
        OpSelectionMerge %.end None
        OpBranchConditional %.ok %.then %.else
        %.then = OpLabel
        %.w = OpLoad %uint %.v
        %.x = OpIAdd %uint %.w %n100
        OpStore %.at %.x
        OpBranch %.end
        %.else = OpLabel
        OpStore %.at %.r
        OpBranch %.end
        %.end = OpLabel";
    let text = kernels(write, read);
    let [wrote, got] = both(&text, 16);
    assert_eq!(wrote, [0; 16]);
    assert_eq!(got, (100..116).collect::<Vec<u32>>());
    // There is no room for all.
    let [wrote, got] = both(&text, 10);
    assert_eq!((wrote[9], &wrote[10..]), (0, &[FAIL; 6][..]));
    assert_eq!(&got[10..], [FAIL; 6]);
}

#[test]
fn invocations_reserve_packets() {
    let write = "%.id = OpReserveWritePipePackets %rid %.p %n2 %n4 %n4
        %.valid = OpIsValidReserveId %bool %.id
        OpSelectionMerge %.end None
        OpBranchConditional %.valid %.then %.end
        %.then = OpLabel
        OpStore %.v %.u
        %.a = OpReservedWritePipe %uint %.p %.id %n0 %.v %n4 %n4
        %.b = OpReservedWritePipe %uint %.p %.id %n1 %.v %n4 %n4
        %.c = OpReservedWritePipe %uint %.p %.id %n2 %.v %n4 %n4
        OpCommitWritePipe %.p %.id %n4 %n4
        %.ab = OpBitwiseOr %uint %.a %.b
        %.abc = OpISub %uint %.c %.ab
        OpStore %.at %.abc
        OpBranch %.end
        %.end = OpLabel";
    let read = "%.most = OpGetMaxPipePackets %uint %.p %n4 %n4
        %.id = OpReserveReadPipePackets %rid %.p %n2 %n4 %n4
        %.valid = OpIsValidReserveId %bool %.id
        OpSelectionMerge %.end None
        OpBranchConditional %.valid %.then %.end
        %.then = OpLabel
        %.b = OpReservedReadPipe %uint %.p %.id %n1 %.v %n4 %n4
        OpCommitReadPipe %.p %.id %n4 %n4
        %.w = OpLoad %uint %.v
        %.x = OpIAdd %uint %.w %.most
        OpStore %.at %.x
        OpBranch %.end
        %.end = OpLabel";
    let [wrote, got] = both(&kernels(write, read), 32);
    assert_eq!(wrote, [FAIL; 16]);
    assert_eq!(got, (32..48).collect::<Vec<u32>>());
}

#[test]
fn workgroups_reserve_packets() {
    let body = |what: &str, use_: &str| {
        format!(
            "%.l3 = OpLoad %ulong3 %lid
             %.l = OpCompositeExtract %ulong %.l3 0
             %.lu = OpUConvert %uint %.l
             OpStore %.v %.u
             %.id = OpGroupReserve{what}PipePackets %rid %n2 %.p %n8 %n4 %n4
             %.r = OpReserved{what}Pipe %uint %.p %.id %.lu %.v %n4 %n4
             OpGroupCommit{what}Pipe %n2 %.p %.id %n4 %n4
             {use_}"
        )
    };
    let write = body("Write", "OpStore %.at %.r");
    let read = body("Read", "%.w = OpLoad %uint %.v\nOpStore %.at %.w");
    let [wrote, got] = both(&kernels(&write, &read), 16);
    assert_eq!(wrote, [0; 16]);
    assert_eq!(got, (0..16).collect::<Vec<u32>>());
}

#[test]
fn modules_have_pipes_of_their_own() {
    let write = "%.s = OpLoad %storage %kept
        %.q = OpCreatePipeFromPipeStorage %wpipe %.s
        %.t = OpCreatePipeFromPipeStorage %rpipe %.s
        OpStore %.v %.u
        %.r = OpWritePipe %uint %.q %.v %n4 %n4
        %.c = OpReadPipe %uint %.t %.v %n4 %n4
        %.w = OpLoad %uint %.v
        OpStore %.at %.w";
    let read = "%.c = OpGetNumPipePackets %uint %.p %n4 %n4
        OpStore %.at %.c";
    let text = kernels(write, read)
        .replace("Pipes\n", "Pipes\nOpCapability PipeStorage\n")
        .replace(
            "%gid = OpVar",
            "%storage = OpTypePipeStorage
             %pstorage = OpTypePointer CrossWorkgroup %storage
             %pipes = OpConstantPipeStorage %storage 4 4 20
             %kept = OpVariable %pstorage CrossWorkgroup %pipes
             %gid = OpVar",
        );
    let [wrote, got] = both(&text, 4);
    assert_eq!(wrote, (0..16).collect::<Vec<u32>>());
    assert_eq!(got, [0; 16]);
}

#[test]
fn other_memory_is_refused() {
    let text = kernels("", "");
    let mut none = vec![0; 64];
    let error = run(
        &text,
        "write",
        &mut none,
        &mut [0; 8],
        &JitOptions::default(),
    );
    let message = error.unwrap_err().to_string();
    assert_eq!(message, "argument 0 of write is no pipe");
}
