//! The device's own memory: that of workgroups and of invocations. Whatever index a kernel computes, the process
//! continues, and other memory is unchanged.

mod common;

use common::{compile_with, run_kernel, run_shader, shader};
use proptest::prelude::*;
use spirula_cpu::{CpuMode, JitArgument, JitOptions, LaunchError};

/// The owner of the array that is indexed.
#[derive(Clone, Copy, Debug)]
enum ArrayOwner {
    Workgroup,
    Private,
    Function,
}

const OWNERS: [ArrayOwner; 3] = [
    ArrayOwner::Workgroup,
    ArrayOwner::Private,
    ArrayOwner::Function,
];

/// A shader that stores to an element of its own array and reads it back into `y`. `x` has the index, as two words.
/// With `wide` the index has 64 bits. With `nested` the array is one of arrays, and the index is used twice.
fn indexing(owner: ArrayOwner, wide: bool, nested: bool) -> String {
    let class = format!("{owner:?}");
    let index = if wide {
        "%low = OpUConvert %ulong %word\n%top = OpUConvert %ulong %word1\n\
             %high = OpShiftLeftLogical %ulong %top %n32\n%i = OpBitwiseOr %ulong %low %high"
    } else {
        "%i = OpCopyObject %uint %word"
    };
    let chain = if nested { "%i %i" } else { "%i" };
    let whole = if nested { "%rows" } else { "%row" };
    let globals = format!(
        "%ulong = OpTypeInt 64 0\n%n32 = OpConstant %uint 32\n%row = OpTypeArray %uint4 %n8\n\
         %rows = OpTypeArray %row %n8\n%pown = OpTypePointer {class} {whole}\n%pvector = OpTypePointer {class} %uint4\n{}",
        match owner {
            ArrayOwner::Function => String::new(),
            _ => format!("%own = OpVariable %pown {class}"),
        }
    );
    let variable = match owner {
        ArrayOwner::Function => "%own = OpVariable %pown Function\n",
        _ => "",
    };
    let body = format!(
        "%px = OpAccessChain %puint %x %n0 %n0\n%word = OpLoad %uint %px\n\
         %px1 = OpAccessChain %puint %x %n0 %n1\n%word1 = OpLoad %uint %px1\n{index}\n\
         %at = OpAccessChain %pvector %own {chain}\n\
         %value = OpCompositeConstruct %uint4 %global %n1 %n2 %n3\nOpStore %at %value\n\
         OpControlBarrier %n2 %n2 %barrier\n%back = OpLoad %uint4 %at\n%first = OpCompositeExtract %uint %back 0\n\
         %py = OpAccessChain %puint %y %n0 %global\nOpStore %py %first"
    );
    let text = shader([8, 1, 1], &globals, &body);
    text.replace(
        "%entry = OpLabel\n",
        &format!("%entry = OpLabel\n{variable}"),
    )
}

/// The result of a launch in which all invocations use an index.
fn outcome(text: &str, index: u64, mode: CpuMode) -> Result<(), LaunchError> {
    let options = JitOptions {
        mode,
        ..JitOptions::default()
    };
    let kernel = compile_with(text, &[], &options).unwrap_or_else(|f| panic!("{}\n{text}", f[0]));
    let mut buffers = [vec![index as u32, (index >> 32) as u32], vec![7; 8]];
    let result = run_shader(&kernel, [1, 1, 1], &mut buffers, &[]);
    assert_eq!(buffers[0], [index as u32, (index >> 32) as u32]);
    result
}

/// Whether a launch was ended since it went past memory of its own.
fn is_past(owner: ArrayOwner, result: &Result<(), LaunchError>) -> bool {
    match owner {
        ArrayOwner::Workgroup => matches!(result, Err(LaunchError::PastWorkgroup { .. })),
        _ => matches!(result, Err(LaunchError::PastPrivate { .. })),
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_index_out_of_bounds_ends_the_launch() {
    let far = [1 << 12, 1 << 20, 1 << 27, u64::from(u32::MAX >> 1), 1 << 31];
    for owner in OWNERS {
        for (wide, nested) in [(false, false), (true, false), (false, true), (true, true)] {
            let text = indexing(owner, wide, nested);
            for mode in [CpuMode::Gangs, CpuMode::Scalar] {
                assert_eq!(outcome(&text, 7, mode), Ok(()), "{owner:?}");
                let negative = if wide {
                    -4000_i64 as u64
                } else {
                    -4000_i32 as u32 as u64
                };
                for index in far.into_iter().chain([negative]) {
                    let result = outcome(&text, index, mode);
                    assert!(is_past(owner, &result), "{owner:?} {index:#x}: {result:?}");
                }
            }
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn the_error_says_where_workgroup_memory_ends() {
    let result = outcome(
        &indexing(ArrayOwner::Workgroup, false, false),
        8,
        CpuMode::Gangs,
    );
    let error = result.expect_err("the array has 8 elements").to_string();
    let wanted = "main goes past workgroup memory: it accesses byte 128 of 128; the device cpu+san says where";
    assert_eq!(error, wanted);
}

/// A kernel that stores to the workgroup memory of its argument.
const GIVEN: &str = r#"OpCapability Kernel
OpCapability Addresses
OpCapability Int64
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %main "main" %lid
OpDecorate %lid BuiltIn LocalInvocationId
%void = OpTypeVoid
%i64 = OpTypeInt 64 0
%vec = OpTypeVector %i64 3
%plocal = OpTypePointer Workgroup %i64
%pvec = OpTypePointer Input %vec
%lid = OpVariable %pvec Input
%fn = OpTypeFunction %void %plocal
%main = OpFunction %void None %fn
%scratch = OpFunctionParameter %plocal
%entry = OpLabel
%l = OpLoad %vec %lid Aligned 32
%i = OpCompositeExtract %i64 %l 0
%own = OpInBoundsPtrAccessChain %plocal %scratch %i
OpStore %own %i Aligned 8
OpReturn
OpFunctionEnd
"#;

#[test]
#[cfg(target_os = "linux")]
fn workgroup_memory_that_is_too_small_ends_the_launch() {
    for mode in [CpuMode::Gangs, CpuMode::Scalar] {
        let options = JitOptions {
            mode,
            ..JitOptions::default()
        };
        let kernel = compile_with(GIVEN, &[], &options).expect("the kernel is supported");
        let run = |bytes| {
            let values = [JitArgument::Local(bytes)];
            run_kernel(&kernel, [64, 1, 1], Some([64, 1, 1]), &mut [], &values)
        };
        assert_eq!(run(512), Ok(()));
        assert!(matches!(
            run(256),
            Err(LaunchError::PastWorkgroup { length: 256, .. })
        ));
        assert_eq!(run(512), Ok(()), "the device goes on");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_index_harms_the_process(owner in 0..3_usize, wide: bool, nested: bool, gangs: bool, index: u64, shift in 0..64_u32) {
        let owner = OWNERS[owner];
        let index = ((index as i64) >> shift) as u64;
        let mode = if gangs { CpuMode::Gangs } else { CpuMode::Scalar };
        let result = outcome(&indexing(owner, wide, nested), index, mode);
        prop_assert!(result.is_ok() || is_past(owner, &result), "{result:?}");
    }
}
