//! Launches of kernels and shaders: sizes, arguments, atomics, specialisation.

mod common;

use common::{compile, compile_with, run_kernel, run_shader, shader};
use spirula_cpu::{CpuMode, JitArgument, JitOptions, LaunchError};

/// y[i] = x[i] + a, counting the workgroups' invocations in z.
const KERNEL: &str = r#"OpCapability Kernel
OpCapability Addresses
OpCapability Int64
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %main "main" %gid %lsize
OpDecorate %gid BuiltIn GlobalInvocationId
OpDecorate %lsize BuiltIn WorkgroupSize
%void = OpTypeVoid
%u32 = OpTypeInt 32 0
%i64 = OpTypeInt 64 0
%vec = OpTypeVector %i64 3
%pi64 = OpTypePointer CrossWorkgroup %i64
%plocal = OpTypePointer Workgroup %i64
%pvec = OpTypePointer Input %vec
%gid = OpVariable %pvec Input
%lsize = OpVariable %pvec Input
%fn = OpTypeFunction %void %pi64 %pi64 %pi64 %i64 %plocal
%device = OpConstant %u32 1
%relaxed = OpConstant %u32 0
%one = OpConstant %i64 1
%n32 = OpConstant %i64 32
%main = OpFunction %void None %fn
%x = OpFunctionParameter %pi64
%y = OpFunctionParameter %pi64
%z = OpFunctionParameter %pi64
%a = OpFunctionParameter %i64
%scratch = OpFunctionParameter %plocal
%entry = OpLabel
%g = OpLoad %vec %gid Aligned 32
%i = OpCompositeExtract %i64 %g 0
%l = OpLoad %vec %lsize Aligned 32
%s = OpCompositeExtract %i64 %l 0
%px = OpInBoundsPtrAccessChain %pi64 %x %i
%vx = OpLoad %i64 %px Aligned 8
%slot = OpUMod %i64 %i %n32
%own = OpInBoundsPtrAccessChain %plocal %scratch %slot
OpStore %own %vx Aligned 8
%again = OpLoad %i64 %own Aligned 8
%sum = OpIAdd %i64 %again %a
%py = OpInBoundsPtrAccessChain %pi64 %y %i
OpStore %py %sum Aligned 8
%old = OpAtomicIAdd %i64 %z %device %relaxed %s
OpReturn
OpFunctionEnd
"#;

#[test]
fn kernels_take_buffers_values_and_local_memory() {
    let kernel = compile(KERNEL).expect("the kernel is supported");
    let mut buffers = [(0..100).collect(), vec![0; 100], vec![0; 1]];
    let value = 1000u64.to_le_bytes();
    let values = [JitArgument::Bytes(&value), JitArgument::Local(256)];
    // Workgroups of 32, 32, 32 and 4.
    run_kernel(
        &kernel,
        [100, 1, 1],
        Some([32, 1, 1]),
        &mut buffers,
        &values,
    )
    .expect("the launch fits");
    assert_eq!(buffers[1], (1000..1100).collect::<Vec<u64>>());
    assert_eq!(buffers[2], [3 * 32 * 32 + 4 * 4]);
}

#[test]
fn launches_that_do_not_fit_are_refused() {
    let kernel = compile(KERNEL).expect("the kernel is supported");
    let mut buffers = [vec![0; 4], vec![0; 4], vec![0; 1]];
    let fault = |result: Result<(), LaunchError>| match result {
        Err(LaunchError::Launch(message)) => message,
        other => panic!("{other:?}"),
    };
    let few = run_kernel(&kernel, [4, 1, 1], None, &mut buffers, &[]);
    assert_eq!(fault(few), "main takes 5 arguments, 3 are given");
    let swapped = [JitArgument::Local(256), JitArgument::Bytes(&[0; 8])];
    let other = run_kernel(&kernel, [4, 1, 1], None, &mut buffers, &swapped);
    assert_eq!(fault(other), "argument 3 of main is of another kind");
    let empty = Some([0, 1, 1]);
    let values = [JitArgument::Bytes(&[0; 8]), JitArgument::Local(256)];
    let none = run_kernel(&kernel, [4, 1, 1], empty, &mut buffers, &values);
    assert_eq!(fault(none), "a workgroup is empty");
}

#[test]
fn atomics_of_many_groups_add_up() {
    let body = "%zero = OpAccessChain %puint %y %n0 %n0
%old = OpAtomicIAdd %uint %zero %n1 %n0 %n3
%max = OpAccessChain %puint %y %n0 %n1
%before = OpAtomicUMax %uint %max %n1 %n0 %global
%where = OpAccessChain %puint %y %n0 %n2
%bits = OpAtomicOr %uint %where %n1 %n0 %local";
    let kernel = compile(&shader([32, 2, 1], "", body)).expect("the shader is supported");
    let mut buffers = [vec![0; 1], vec![0; 3]];
    run_shader(&kernel, [500, 1, 1], &mut buffers, &[]).expect("the launch fits");
    assert_eq!(buffers[1], [500 * 64 * 3, 500 * 32 - 1, 31]);
}

#[test]
fn specialisation_sets_constants_sizes_and_operations() {
    let globals = "%spec = OpSpecConstant %uint 5
%double = OpSpecConstantOp %uint IMul %spec %n2
%many = OpTypeArray %uint %double
%pmany = OpTypePointer Function %many";
    let body = "%last = OpISub %uint %double %n1
%cell = OpAccessChain %pcell %var %last
OpStore %cell %spec
%seen = OpLoad %uint %cell
%r = OpIAdd %uint %seen %double
%to = OpAccessChain %puint %y %n0 %global
OpStore %to %r";
    let text = shader(
        [1, 1, 1],
        &format!("{globals}\n%pcell = OpTypePointer Function %uint"),
        body,
    )
    .replace(
        "%entry = OpLabel\n",
        "%entry = OpLabel\n%var = OpVariable %pmany Function\n",
    )
    .replace(
        "OpDecorate %x Binding 0\n",
        "OpDecorate %x Binding 0\nOpDecorate %spec SpecId 7\n",
    );
    for (spec, want) in [(&[][..], 15), (&[(7, 11)][..], 33)] {
        let kernel = compile_with(&text, spec, &JitOptions::default()).expect("it is supported");
        let mut buffers = [vec![0; 1], vec![0; 1]];
        run_shader(&kernel, [1, 1, 1], &mut buffers, &[]).expect("the launch fits");
        assert_eq!(buffers[1], [want]);
    }
}

#[test]
fn invocations_know_where_they_are() {
    let body = "%y3 = OpCompositeExtract %uint %gid3 1
%z3 = OpCompositeExtract %uint %gid3 2
%a = OpIMul %uint %z3 %n64
%b = OpIMul %uint %y3 %n8
%c = OpIAdd %uint %a %b
%at = OpIAdd %uint %c %global
%to = OpAccessChain %puint %y %n0 %at
OpStore %to %index";
    let kernel = compile(&shader([4, 2, 2], "", body)).expect("the shader is supported");
    let mut buffers = [vec![0; 1], vec![99; 256]];
    run_shader(&kernel, [2, 4, 2], &mut buffers, &[]).expect("the launch fits");
    for (at, index) in buffers[1].iter().enumerate() {
        let (x, y, z) = (at % 8, at / 8 % 8, at / 64);
        assert_eq!(*index as usize, x % 4 + y % 2 * 4 + z % 2 * 8, "at {at}");
    }
}

/// An index of 32 bits without a sign reaches as far as it can; the buffer is memory that is never touched but there.
#[test]
fn indices_go_beyond_two_to_the_31() {
    let globals = "%uchar = OpTypeInt 8 0\n%bytes = OpTypeRuntimeArray %uchar\n%many = OpTypeStruct %bytes\n\
                   %pmany = OpTypePointer StorageBuffer %many\n%puchar = OpTypePointer StorageBuffer %uchar\n\
                   %z = OpVariable %pmany StorageBuffer\n%first = OpConstant %uint 2147483648\n";
    let body = "%far = OpIAdd %uint %first %global\n%pz = OpAccessChain %puchar %z %n0 %far\n\
                %value = OpUConvert %uchar %global\nOpStore %pz %value\n\
                %fixed = OpAccessChain %puchar %z %n0 %first\nOpStore %fixed %value";
    let text = shader([8, 1, 1], globals, body);
    let text = text.replacen(
        "OpDecorate",
        "OpDecorate %bytes ArrayStride 1\nOpDecorate %many Block\nOpMemberDecorate %many 0 Offset 0\n\
         OpDecorate %z DescriptorSet 0\nOpDecorate %z Binding 2\nOpDecorate",
        1,
    );
    for mode in [CpuMode::Gangs, CpuMode::Scalar] {
        let options = JitOptions {
            mode,
            ..JitOptions::default()
        };
        let kernel = compile_with(&text, &[], &options).unwrap_or_else(|f| panic!("{}", f[0]));
        let mut buffers = [vec![0; 8], vec![0; 8], vec![0; (1 << 29) + 2]];
        run_shader(&kernel, [1, 1, 1], &mut buffers, &[]).expect("the buffer is long enough");
        assert_eq!(buffers[2][(1 << 29) + 1], 0x0706_0504);
    }
}

/// An index that wraps below zero belongs to an invocation that does not use it.
#[test]
fn indices_before_the_first_element_are_masked() {
    let globals = "%before = OpConstant %uint 4294967295\n";
    let body = "%at = OpIAdd %uint %global %before\n%has = OpINotEqual %bool %global %n0\n\
                %py = OpAccessChain %puint %y %n0 %global\n\
                OpSelectionMerge %merge None\nOpBranchConditional %has %then %otherwise\n\
                %then = OpLabel\n%px = OpAccessChain %puint %x %n0 %at\n%value = OpLoad %uint %px\n\
                OpBranch %merge\n%otherwise = OpLabel\nOpBranch %merge\n%merge = OpLabel\n\
                %either = OpPhi %uint %value %then %n0 %otherwise\nOpStore %py %either";
    let text = shader([8, 1, 1], globals, body);
    for mode in [CpuMode::Gangs, CpuMode::Scalar] {
        let options = JitOptions {
            mode,
            ..JitOptions::default()
        };
        let kernel = compile_with(&text, &[], &options).unwrap_or_else(|f| panic!("{}", f[0]));
        let mut buffers = [(10..26).collect(), vec![0; 16]];
        run_shader(&kernel, [2, 1, 1], &mut buffers, &[]).expect("all accesses are within");
        let expected: Vec<u32> = std::iter::once(0).chain(10..25).collect();
        assert_eq!(buffers[1], expected);
    }
}
