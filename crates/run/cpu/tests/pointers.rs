//! Pointers to functions, in every way that kernels run.

mod common;

use common::words_in_every_mode;

/// A kernel that writes the result of function `gid % 3` of a table for the global id. The third entry of the table
/// is `last`.
fn kernel(last: &str, inline: &str) -> String {
    let function = |name: &str, what: &str| {
        format!(
            "%{name} = OpFunction %ulong {inline} %unary
             %{name}_x = OpFunctionParameter %ulong
             %{name}_e = OpLabel
             %{name}_r = {what} %ulong %{name}_x %n100
             OpReturnValue %{name}_r
             OpFunctionEnd\n"
        )
    };
    format!(
        r#"OpCapability Kernel
OpCapability Addresses
OpCapability Int64
OpCapability FunctionPointersINTEL
OpExtension "SPV_INTEL_function_pointers"
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %main "main" %gid
OpDecorate %gid BuiltIn GlobalInvocationId
%void = OpTypeVoid
%ulong = OpTypeInt 64 0
%ulong3 = OpTypeVector %ulong 3
%input = OpTypePointer Input %ulong3
%pulong = OpTypePointer CrossWorkgroup %ulong
%unary = OpTypeFunction %ulong %ulong
%pointer = OpTypePointer CodeSectionINTEL %unary
%n0 = OpConstant %ulong 0
%n3 = OpConstant %ulong 3
%n100 = OpConstant %ulong 100
%three = OpTypeArray %pointer %n3
%pthree = OpTypePointer UniformConstant %three
%pentry = OpTypePointer UniformConstant %pointer
%padd = OpConstantFunctionPointerINTEL %pointer %add
%psub = OpConstantFunctionPointerINTEL %pointer %sub
%none = OpConstantNull %pointer
%all = OpConstantComposite %three %padd %psub {last}
%table = OpVariable %pthree UniformConstant %all
%gid = OpVariable %input Input
%fn = OpTypeFunction %void %pulong
{}{}%main = OpFunction %void None %fn
%out = OpFunctionParameter %pulong
%entry = OpLabel
%g = OpLoad %ulong3 %gid
%n = OpCompositeExtract %ulong %g 0
%which = OpUMod %ulong %n %n3
%at = OpInBoundsAccessChain %pentry %table %which
%f = OpLoad %pointer %at
%r = OpFunctionPointerCallINTEL %ulong %f %n
%to = OpInBoundsPtrAccessChain %pulong %out %n
OpStore %to %r
OpReturn
OpFunctionEnd
"#,
        function("add", "OpIAdd"),
        function("sub", "OpISub")
    )
}

fn run(text: &str) -> Vec<u64> {
    words_in_every_mode(text, 16)
}

#[test]
fn calls_go_where_the_pointer_says() {
    for inline in ["None", "DontInline"] {
        let got = run(&kernel("%padd", inline));
        let want = |n: u64| match n % 3 {
            1 => n.wrapping_sub(100),
            _ => n + 100,
        };
        assert_eq!(got, (0..16).map(want).collect::<Vec<u64>>());
    }
}

#[test]
fn what_is_no_function_is_not_called() {
    let got = run(&kernel("%none", "None"));
    let want = |n: u64| [n + 100, n.wrapping_sub(100), 0][n as usize % 3];
    assert_eq!(got, (0..16).map(want).collect::<Vec<u64>>());
}
