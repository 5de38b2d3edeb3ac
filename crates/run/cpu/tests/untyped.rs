//! Untyped pointers, in every mode: each instruction names the type that it accesses.

mod common;

use common::{compile_with, run_shader, words_in_every_mode};
use spirula_cpu::{CpuMode, JitOptions};

const HEAD: &str = r#"OpCapability Kernel
OpCapability Addresses
OpCapability Int64
OpCapability Int8
OpCapability Float64
OpCapability UntypedPointersKHR
OpCapability SubgroupDispatch
OpCapability Groups
OpCapability FMAKHR
OpExtension "SPV_KHR_untyped_pointers"
OpExtension "SPV_KHR_fma"
%cl = OpExtInstImport "OpenCL.std"
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %main "main" %gid %lane %shared %init
OpDecorate %gid BuiltIn GlobalInvocationId
OpDecorate %lane BuiltIn SubgroupLocalInvocationId
%void = OpTypeVoid
%uchar = OpTypeInt 8 0
%uint = OpTypeInt 32 0
%ulong = OpTypeInt 64 0
%double = OpTypeFloat 64
%event = OpTypeEvent
%ulong3 = OpTypeVector %ulong 3
%input = OpTypeUntypedPointerKHR Input
%global = OpTypeUntypedPointerKHR CrossWorkgroup
%local = OpTypeUntypedPointerKHR Workgroup
%kept = OpTypeUntypedPointerKHR Private
%private = OpTypeUntypedPointerKHR Function
%pevent = OpTypePointer Function %event
%n0 = OpConstant %ulong 0
%n1 = OpConstant %ulong 1
%n8 = OpConstant %ulong 8
%n7 = OpConstant %ulong 7
%one = OpConstant %uint 1
%two = OpConstant %uint 2
%crossed = OpConstant %uint 0x308
%half = OpConstant %double 0.75
%hundred = OpConstant %double 100
%first = OpConstantNull %event
%eight = OpTypeArray %ulong %n8
%gid = OpUntypedVariableKHR %input Input %ulong3
%lane = OpUntypedVariableKHR %input Input %uint
%init = OpUntypedVariableKHR %kept Private %ulong %n7
%shared = OpUntypedVariableKHR %local Workgroup %eight
%fn = OpTypeFunction %void %global
%main = OpFunction %void None %fn
%out = OpFunctionParameter %global
%entry = OpLabel
%events = OpVariable %pevent Function
%whole = OpUntypedVariableKHR %private Function %double
%power = OpUntypedVariableKHR %private Function %uint
%copy = OpUntypedVariableKHR %private Function %ulong
%g = OpLoad %ulong3 %gid
%n = OpCompositeExtract %ulong %g 0
%x = OpConvertUToF %double %n
%to = OpUntypedInBoundsPtrAccessChainKHR %global %ulong %out %n
"#;

fn run(body: &str) -> Vec<u64> {
    let text = format!("{HEAD}{body}\nOpStore %to %r Aligned 8\nOpReturn\nOpFunctionEnd\n");
    words_in_every_mode(&text, 16)
}

#[test]
fn second_results_are_as_wide_as_the_function_says() {
    let got = run("%scaled = OpFMul %double %x %half
        %rest = OpExtInst %double %cl modf %scaled %whole
        %w = OpLoad %double %whole Aligned 8
        %mantissa = OpExtInst %double %cl frexp %scaled %power
        %p = OpLoad %uint %power Aligned 4
        %p8 = OpUConvert %ulong %p
        %digits = OpExtInst %double %cl fma %w %hundred %rest
        %d = OpConvertFToU %ulong %digits
        %tens = OpIMul %ulong %d %n8
        %r = OpIAdd %ulong %tens %p8");
    let want = |n: u64| {
        let scaled = n as f64 * 0.75;
        let power = (1..).find(|p| scaled < f64::from(1 << p)).unwrap_or(0);
        let power = if scaled < 1.0 { 0 } else { power };
        100 * (scaled.trunc() as u64) * 8 + power as u64
    };
    assert_eq!(got, (0..16).map(want).collect::<Vec<u64>>());
}

#[test]
fn a_group_copies_elements_of_so_many_bytes() {
    let got = run("OpUntypedPrefetchKHR %out %n8
        OpStore %to %n Aligned 8
        OpControlBarrier %two %two %crossed
        %group = OpUDiv %ulong %n %n8
        %base = OpIMul %ulong %group %n8
        %from = OpUntypedInBoundsPtrAccessChainKHR %global %ulong %out %base
        %done = OpUntypedGroupAsyncCopyKHR %event %two %shared %from %n8 %n8 %n1 %first
        OpStore %events %done
        OpGroupWaitEvents %two %one %events
        OpControlBarrier %two %two %crossed
        %own = OpISub %ulong %n %base
        %other = OpISub %ulong %n7 %own
        %there = OpUntypedInBoundsPtrAccessChainKHR %local %ulong %shared %other
        %r = OpLoad %ulong %there Aligned 8");
    assert_eq!(got, [7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8]);
}

#[test]
fn variables_say_what_they_hold() {
    let got = run("%l = OpLoad %uint %lane Aligned 4
        %l8 = OpUConvert %ulong %l
        %i = OpLoad %ulong %init Aligned 8
        %sum = OpIAdd %ulong %l8 %i
        OpStore %copy %sum Aligned 8
        OpCopyMemorySized %to %copy %n8 Aligned 8
        %r = OpLoad %ulong %to Aligned 8");
    let subgroup = got.iter().filter(|l| **l == 7).count();
    let each = 16 / subgroup as u64;
    assert_eq!(got, (0..16).map(|n| 7 + n % each).collect::<Vec<u64>>());
}

#[test]
fn what_is_stored_is_read_as_another_type() {
    let got = run("OpStore %copy %n Aligned 8
        %same = OpLoad %ulong %copy Aligned 8
        OpStore %whole %x Aligned 8
        %bits = OpLoad %ulong %whole Aligned 8
        OpStore %power %two Aligned 4
        %byte = OpLoad %uchar %power Aligned 4
        %wide = OpUConvert %ulong %byte
        %both = OpIAdd %ulong %bits %same
        %r = OpIAdd %ulong %both %wide");
    let want = |n: u64| (n as f64).to_bits() + n + 2;
    assert_eq!(got, (0..16).map(want).collect::<Vec<u64>>());
}

/// Descriptors without types: a storage buffer of a structure with a running array, an array of descriptors, push constants.
const DESCRIPTORS: &str = r#"OpCapability Shader
OpCapability UntypedPointersKHR
OpExtension "SPV_KHR_untyped_pointers"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main" %x %y %pushed %gid
OpExecutionMode %main LocalSize 8 1 1
OpDecorate %gid BuiltIn GlobalInvocationId
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpMemberDecorate %block 1 Offset 4
OpDecorate %array ArrayStride 4
OpDecorate %constants Block
OpMemberDecorate %constants 0 Offset 0
OpDecorate %x DescriptorSet 0
OpDecorate %x Binding 0
OpDecorate %y DescriptorSet 0
OpDecorate %y Binding 1
%void = OpTypeVoid
%fn = OpTypeFunction %void
%uint = OpTypeInt 32 0
%uint3 = OpTypeVector %uint 3
%input = OpTypeUntypedPointerKHR Input
%gid = OpUntypedVariableKHR %input Input %uint3
%n0 = OpConstant %uint 0
%n1 = OpConstant %uint 1
%n4 = OpConstant %uint 4
%array = OpTypeRuntimeArray %uint
%block = OpTypeStruct %uint %array
%constants = OpTypeStruct %uint
%storage = OpTypeUntypedPointerKHR StorageBuffer
%push = OpTypeUntypedPointerKHR PushConstant
%x = OpUntypedVariableKHR %storage StorageBuffer %block
%y = OpUntypedVariableKHR %storage StorageBuffer %block
%pushed = OpUntypedVariableKHR %push PushConstant %constants
%main = OpFunction %void None %fn
%entry = OpLabel
%g = OpLoad %uint3 %gid
%i = OpCompositeExtract %uint %g 0
%from = OpUntypedAccessChainKHR %storage %block %x %n1 %i
%read = OpLoad %uint %from
%factor_ = OpUntypedInBoundsAccessChainKHR %push %constants %pushed %n0
%factor = OpLoad %uint %factor_
%product = OpIMul %uint %read %factor
%to = OpUntypedAccessChainKHR %storage %block %y %n1 %i
OpStore %to %product
%length = OpUntypedArrayLengthKHR %uint %block %x 1
%first = OpUntypedAccessChainKHR %storage %block %y %n0
%second = OpUntypedAccessChainKHR %storage %block %x %n0
OpCopyMemorySized %first %second %n4
OpStore %second %length
OpReturn
OpFunctionEnd
"#;

#[test]
fn descriptors_have_no_types() {
    for mode in [CpuMode::Gangs, CpuMode::Scalar] {
        let options = JitOptions {
            mode,
            ..JitOptions::default()
        };
        let kernel = compile_with(DESCRIPTORS, &[], &options);
        let kernel = kernel.unwrap_or_else(|faults| panic!("{}", faults[0]));
        let mut buffers = [(5..14).collect(), vec![0; 9]];
        run_shader(&kernel, [1, 1, 1], &mut buffers, &3u32.to_le_bytes()).unwrap();
        let [x, y] = buffers;
        assert_eq!(y[1..], [18, 21, 24, 27, 30, 33, 36, 39]);
        assert_eq!(x[0], 8);
    }
}
