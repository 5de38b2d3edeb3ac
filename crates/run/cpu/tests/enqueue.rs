//! Kernels that kernels enqueue, in every way that kernels run.

mod common;

use common::{compile_with, in_every_mode, run_kernel};
use spirula_cpu::{JitArgument, JitOptions};

const HEAD: &str = r#"OpCapability Kernel
OpCapability Addresses
OpCapability Int64
OpCapability Int8
OpCapability GenericPointer
OpCapability DeviceEnqueue
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %main "main" %gid
OpDecorate %gid BuiltIn GlobalInvocationId
%void = OpTypeVoid
%bool = OpTypeBool
%byte = OpTypeInt 8 0
%uint = OpTypeInt 32 0
%ulong = OpTypeInt 64 0
%ulong3 = OpTypeVector %ulong 3
%input = OpTypePointer Input %ulong3
%pulong = OpTypePointer CrossWorkgroup %ulong
%pbyte = OpTypePointer Generic %byte
%ppulong = OpTypePointer Generic %pulong
%private = OpTypePointer Function %pulong
%plocal = OpTypePointer Workgroup %byte
%lulong = OpTypePointer Workgroup %ulong
%queue = OpTypeQueue
%event = OpTypeDeviceEvent
%fevent = OpTypePointer Function %event
%pevent = OpTypePointer Generic %event
%n0 = OpConstant %ulong 0
%n1 = OpConstant %ulong 1
%n2 = OpConstant %ulong 2
%n4 = OpConstant %ulong 4
%n8 = OpConstant %ulong 8
%n100 = OpConstant %ulong 100
%u0 = OpConstant %uint 0
%u1 = OpConstant %uint 1
%u8 = OpConstant %uint 8
%u64 = OpConstant %uint 64
%u3 = OpConstant %uint 3
%sizes = OpTypeArray %ulong %u3
%range = OpTypeStruct %uint %sizes %sizes %sizes
%noevents = OpConstantNull %pevent
%gid = OpVariable %input Input
%mainfn = OpTypeFunction %void %pulong
%blockfn = OpTypeFunction %void %pbyte
%localfn = OpTypeFunction %void %pbyte %plocal
"#;

/// A kernel with a buffer of 64-bit words. `body` has `%n`, the global id. `blocks` are functions that it enqueues.
/// Their captured value, the buffer's address, is at `%.captured` of type `%pbyte`.
fn kernel(globals: &str, variables: &str, body: &str, blocks: &[(&str, &str, &str)]) -> String {
    let block = |(name, params, body): &(&str, &str, &str)| {
        let ty = if params.is_empty() {
            "blockfn"
        } else {
            "localfn"
        };
        format!(
            "%{name} = OpFunction %void None %{ty}
             %{name}_captured = OpFunctionParameter %pbyte
             {params}
             %{name}_e = OpLabel
             %{name}_p = OpBitcast %ppulong %{name}_captured
             %{name}_out = OpLoad %pulong %{name}_p Aligned 8
             %{name}_g = OpLoad %ulong3 %gid
             %{name}_n = OpCompositeExtract %ulong %{name}_g 0
             %{name}_at = OpInBoundsPtrAccessChain %pulong %{name}_out %{name}_n
             {body}
             OpReturn
             OpFunctionEnd\n"
        )
        .replace("%.", &format!("%{name}_"))
    };
    let blocks: String = blocks.iter().map(block).collect();
    format!(
        r#"{HEAD}{globals}
{blocks}%main = OpFunction %void None %mainfn
%out = OpFunctionParameter %pulong
%entry = OpLabel
%kept = OpVariable %private Function
{variables}
OpStore %kept %out Aligned 8
%keptg = OpPtrCastToGeneric %ppulong %kept
%captured = OpBitcast %pbyte %keptg
%g = OpLoad %ulong3 %gid
%n = OpCompositeExtract %ulong %g 0
%q = OpGetDefaultQueue %queue
{body}
OpReturn
OpFunctionEnd
"#
    )
}

fn run(text: &str, words: usize) -> Vec<u64> {
    in_every_mode(|options| {
        let kernel = compile_with(text, &[], options);
        let kernel = kernel.unwrap_or_else(|faults| panic!("{}\n{text}", faults[0]));
        let mut buffers = [vec![0; words]];
        let none: &[JitArgument<'_>] = &[];
        run_kernel(&kernel, [8, 1, 1], Some([8, 1, 1]), &mut buffers, none).unwrap();
        let [words] = buffers;
        words
    })
}

const ENQUEUE: &str = "%done = OpEnqueueKernel %uint %q %u0 %nd %u0 %noevents %noevents";

#[test]
fn what_invocations_enqueue_runs_after_them() {
    // Invocation n enqueues eight invocations, which add 100 to the value that it wrote at n + 8.
    let body = format!(
        "%to = OpInBoundsPtrAccessChain %pulong %out %n
         OpStore %to %n1 Aligned 8
         %first = OpIEqual %bool %n %n0
         OpSelectionMerge %end None
         OpBranchConditional %first %then %end
         %then = OpLabel
         %nd = OpBuildNDRange %range %n8 %n4 %n8
         {ENQUEUE} %block %captured %u8 %u8
         OpBranch %end
         %end = OpLabel"
    );
    let block = "%.below = OpISub %ulong %.n %n8
        %.from = OpInBoundsPtrAccessChain %pulong %.out %.below
        %.v = OpLoad %ulong %.from Aligned 8
        %.w = OpIAdd %ulong %.v %n100
        OpStore %.at %.w Aligned 8";
    let got = run(&kernel("", "", &body, &[("block", "", block)]), 16);
    assert_eq!(got, [[1; 8], [101; 8]].concat());
}

#[test]
fn kernels_enqueue_themselves_and_have_workgroup_memory() {
    // The block doubles the first word until it is 64; each time it goes through workgroup memory.
    let body = format!(
        "%first = OpIEqual %bool %n %n0
         OpSelectionMerge %end None
         OpBranchConditional %first %then %end
         %then = OpLabel
         OpStore %out %n2 Aligned 8
         %nd = OpBuildNDRange %range %n1 %n1 %n0
         {ENQUEUE} %block %captured %u8 %u8 %u64
         OpBranch %end
         %end = OpLabel"
    );
    let block = format!(
        "%.s = OpBitcast %lulong %.local
         %.v = OpLoad %ulong %.out Aligned 8
         OpStore %.s %.v Aligned 8
         %.x = OpLoad %ulong %.s Aligned 8
         %.w = OpIAdd %ulong %.x %.v
         OpStore %.out %.w Aligned 8
         %.more = OpULessThan %bool %.w %n100
         OpSelectionMerge %.end None
         OpBranchConditional %.more %.then %.end
         %.then = OpLabel
         %.q = OpGetDefaultQueue %queue
         %.nd = OpBuildNDRange %range %n1 %n1 %n0
         {} %block %.captured %u8 %u8 %u64
         OpBranch %.end
         %.end = OpLabel",
        ENQUEUE
            .replace("%done", "%.done")
            .replace("%q", "%.q")
            .replace("%nd", "%.nd")
    );
    let params = "%.local = OpFunctionParameter %plocal";
    let got = run(&kernel("", "", &body, &[("block", params, &block)]), 8);
    assert_eq!(got[0], 128);
}

#[test]
fn events_say_what_comes_first() {
    // The second block waits for a user event, which the third sets: 1, then 1 + 100, then doubled.
    let body = "%first = OpIEqual %bool %n %n0
         OpSelectionMerge %end None
         OpBranchConditional %first %then %end
         %then = OpLabel
         %user = OpCreateUserEvent %event
         OpStore %events %user Aligned 8
         %eventsg = OpPtrCastToGeneric %pevent %events
         %lastg = OpPtrCastToGeneric %pevent %last
         %nd = OpBuildNDRange %range %n1 %n1 %n0
         %a = OpEnqueueKernel %uint %q %u0 %nd %u1 %eventsg %lastg %twice %captured %u8 %u8
         %b = OpEnqueueKernel %uint %q %u0 %nd %u0 %noevents %noevents %add %captured %u8 %u8
         %m = OpEnqueueMarker %uint %q %u1 %lastg %eventsg
         OpSetUserEventStatus %user %u0
         %e = OpLoad %event %last
         %valid = OpIsValidEvent %bool %e
         %v = OpSelect %ulong %valid %n1 %n0
         OpStore %out %v Aligned 8
         OpRetainEvent %e
         OpReleaseEvent %e
         OpBranch %end
         %end = OpLabel";
    let add = "%.v = OpLoad %ulong %.out Aligned 8
        %.w = OpIAdd %ulong %.v %n100
        OpStore %.out %.w Aligned 8";
    let twice = "%.v = OpLoad %ulong %.out Aligned 8
        %.w = OpIAdd %ulong %.v %.v
        OpStore %.out %.w Aligned 8";
    let variables = "%events = OpVariable %fevent Function\n%last = OpVariable %fevent Function";
    let blocks = [("add", "", add), ("twice", "", twice)];
    // The event is complete before any of them runs, so that they run in the order in which they were enqueued.
    assert_eq!(run(&kernel("", variables, body, &blocks), 8)[0], 102);
    // If the second launch completes it, the order is reversed.
    let late = body.replace("OpSetUserEventStatus %user %u0\n", "");
    let set = format!(
        "{add}
        %.second = OpInBoundsPtrAccessChain %pulong %.out %n1
        %.bits = OpLoad %ulong %.second Aligned 8
        OpStore %.second %n0 Aligned 8"
    );
    let blocks = [("add", "", &set[..]), ("twice", "", twice)];
    let text = kernel("", variables, &late, &blocks);
    let kernel = compile_with(&text, &[], &JitOptions::default());
    let kernel = kernel.unwrap_or_else(|faults| panic!("{}", faults[0]));
    let mut buffers = [vec![0; 8]];
    let error = run_kernel(&kernel, [8, 1, 1], Some([8, 1, 1]), &mut buffers, &[]).unwrap_err();
    let message = error.to_string();
    assert_eq!(
        message,
        "what main has enqueued waits for events that nothing sets"
    );
    assert_eq!(buffers[0][0], 101);
}

#[test]
fn kernels_ask_about_kernels() {
    let body = "%nd = OpBuildNDRange %range %n100 %n100 %n0
        %a = OpGetKernelNDrangeSubGroupCount %uint %nd %block %captured %u8 %u8
        %b = OpGetKernelNDrangeMaxSubGroupSize %uint %nd %block %captured %u8 %u8
        %c = OpGetKernelWorkGroupSize %uint %block %captured %u8 %u8
        %ab = OpIMul %uint %a %b
        %abc = OpIAdd %uint %ab %c
        %v = OpUConvert %ulong %abc
        %to = OpInBoundsPtrAccessChain %pulong %out %n
        OpStore %to %v Aligned 8";
    let got = run(&kernel("", "", body, &[("block", "", "")]), 8);
    assert_eq!(got, [104 + 256; 8]);
}
