//! By-value parameters: each call has its own copy of a structure.

mod common;

use common::words_in_every_mode;

/// The way in which a function is called.
#[derive(Clone, Copy, Debug)]
enum CalleeVariant {
    /// A small function, which is inlined.
    Small,
    /// Too large for that.
    Large,
    /// A call through a pointer.
    Pointer,
    /// A function with a barrier.
    Waits,
}

/// A kernel whose function changes a member of its structure. It is called twice with the same variable. The results
/// of the calls, and the variable's value afterwards, go to `x`.
fn counting(callee: CalleeVariant) -> String {
    let padding: String = match callee {
        CalleeVariant::Large => (0..400)
            .map(|n| format!("%pad{} = OpIAdd %i64 %pad{n} %n2\n", n + 1))
            .collect(),
        _ => String::new(),
    };
    let padding = format!("%pad0 = OpIAdd %i64 %was %n1\n{padding}");
    let last = if padding.contains("%pad400") {
        "%pad400"
    } else {
        "%pad0"
    };
    let wait = match callee {
        CalleeVariant::Waits => "OpControlBarrier %u2 %u2 %u272\n",
        _ => "",
    };
    let call = |result: &str, argument: &str| match callee {
        CalleeVariant::Pointer => {
            format!("%{result} = OpFunctionPointerCallINTEL %i64 %take_ {argument}\n")
        }
        _ => format!("%{result} = OpFunctionCall %i64 %take {argument}\n"),
    };
    let (pointer, capability) = match callee {
        CalleeVariant::Pointer => (
            "%ptake = OpTypePointer CodeSectionINTEL %takes\n%take_ = OpConstantFunctionPointerINTEL %ptake %take\n",
            "OpCapability FunctionPointersINTEL\nOpExtension \"SPV_INTEL_function_pointers\"\n",
        ),
        _ => ("", ""),
    };
    let (first, second) = (call("first", "%variable"), call("second", "%variable"));
    format!(
        r#"OpCapability Kernel
OpCapability Addresses
OpCapability Int64
{capability}OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %main "main" %gid
OpDecorate %gid BuiltIn GlobalInvocationId
OpDecorate %own FuncParamAttr ByVal
%void = OpTypeVoid
%u32 = OpTypeInt 32 0
%i64 = OpTypeInt 64 0
%u2 = OpConstant %u32 2
%u272 = OpConstant %u32 272
%n0 = OpConstant %i64 0
%n1 = OpConstant %i64 1
%n2 = OpConstant %i64 2
%n3 = OpConstant %i64 3
%n5 = OpConstant %i64 5
%i0 = OpConstant %u32 0
%i1 = OpConstant %u32 1
%rest = OpTypeArray %i64 %n3
%ray = OpTypeStruct %rest %i64
%pray = OpTypePointer Function %ray
%pdepth = OpTypePointer Function %i64
%px = OpTypePointer CrossWorkgroup %i64
%vec = OpTypeVector %i64 3
%pvec = OpTypePointer Input %vec
%gid = OpVariable %pvec Input
%takes = OpTypeFunction %i64 %pray
{pointer}%kernel = OpTypeFunction %void %px
%take = OpFunction %i64 None %takes
%own = OpFunctionParameter %pray
%begin = OpLabel
%depth = OpInBoundsAccessChain %pdepth %own %i1
%was = OpLoad %i64 %depth
OpStore %depth %n0
{wait}%is = OpLoad %i64 %depth
{padding}%sum = OpIAdd %i64 {last} %is
OpReturnValue %sum
OpFunctionEnd
%main = OpFunction %void None %kernel
%x = OpFunctionParameter %px
%entry = OpLabel
%variable = OpVariable %pray Function
%member = OpInBoundsAccessChain %pdepth %variable %i1
OpStore %member %n5
%origin = OpInBoundsAccessChain %pdepth %variable %i0 %i1
OpStore %origin %n2
{first}{second}%left = OpLoad %i64 %member
%from = OpLoad %i64 %origin
%g = OpLoad %vec %gid
%i = OpCompositeExtract %i64 %g 0
%at0 = OpIMul %i64 %i %n5
%p0 = OpInBoundsPtrAccessChain %px %x %at0
OpStore %p0 %first
%at1 = OpIAdd %i64 %at0 %n1
%p1 = OpInBoundsPtrAccessChain %px %x %at1
OpStore %p1 %second
%at2 = OpIAdd %i64 %at0 %n2
%p2 = OpInBoundsPtrAccessChain %px %x %at2
OpStore %p2 %left
%at3 = OpIAdd %i64 %at0 %n3
%p3 = OpInBoundsPtrAccessChain %px %x %at3
OpStore %p3 %from
OpReturn
OpFunctionEnd
"#
    )
}

#[test]
fn a_function_changes_its_own_copy() {
    for callee in [
        CalleeVariant::Small,
        CalleeVariant::Large,
        CalleeVariant::Pointer,
        CalleeVariant::Waits,
    ] {
        let found = words_in_every_mode(&counting(callee), 16 * 5);
        let given = if matches!(callee, CalleeVariant::Large) {
            806
        } else {
            6
        };
        for (n, words) in found.chunks(5).enumerate() {
            assert_eq!(words, [given, given, 5, 2, 7], "{callee:?}, invocation {n}");
        }
    }
}
