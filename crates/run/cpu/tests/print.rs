//! Kernel output: OpenCL's `printf`, and the debug printf of shaders.

mod common;

use common::{compile_with, run_kernel, run_shader, shader};
use spirula_cpu::{CpuMode, JitOptions};

/// Bytes of a string, its zero included, as a constant array that is called `name`.
fn text(name: &str, text: &str) -> String {
    let bytes: Vec<u8> = text.bytes().chain([0]).collect();
    let mut out = format!("%{name}_n = OpConstant %int {}\n", bytes.len());
    out += &format!("%{name}_t = OpTypeArray %char %{name}_n\n");
    out += &format!("%{name}_p = OpTypePointer UniformConstant %{name}_t\n");
    for (n, byte) in bytes.iter().enumerate() {
        out += &format!("%{name}_{n} = OpConstant %char {byte}\n");
    }
    let parts: Vec<String> = (0..bytes.len()).map(|n| format!("%{name}_{n}")).collect();
    out += &format!(
        "%{name}_v = OpConstantComposite %{name}_t {}\n",
        parts.join(" ")
    );
    out + &format!("%{name} = OpVariable %{name}_p UniformConstant %{name}_v\n")
}

/// A kernel that prints of each invocation, by the format.
fn kernel(format: &str, arguments: &str) -> String {
    format!(
        "OpCapability Kernel
OpCapability Addresses
OpCapability Int64
OpCapability Int8
OpCapability Float16
%cl = OpExtInstImport \"OpenCL.std\"
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %main \"main\" %gid
OpDecorate %gid BuiltIn GlobalInvocationId
%void = OpTypeVoid
%char = OpTypeInt 8 0
%int = OpTypeInt 32 0
%long = OpTypeInt 64 0
%long3 = OpTypeVector %long 3
%half = OpTypeFloat 16
%float = OpTypeFloat 32
%float2 = OpTypeVector %float 2
%pin = OpTypePointer Input %long3
%gid = OpVariable %pin Input
%pchar = OpTypePointer UniformConstant %char
%zero = OpConstant %int 0
%big = OpConstant %long 5000000000
%third = OpConstant %float 0.375
%two = OpConstant %float 2
%pair = OpConstantComposite %float2 %third %two
%one_half = OpConstant %half 0.5
{}{}
%fn = OpTypeFunction %void
%main = OpFunction %void None %fn
%entry = OpLabel
%gid3 = OpLoad %long3 %gid
%global = OpCompositeExtract %long %gid3 0
%number = OpUConvert %int %global
%f = OpInBoundsPtrAccessChain %pchar %format %zero %zero
%s = OpInBoundsPtrAccessChain %pchar %word %zero %zero
%r = OpExtInst %int %cl printf %f {arguments}
OpReturn
OpFunctionEnd
",
        text("format", format),
        text("word", "word"),
    )
}

fn printed(format: &str, arguments: &str, mode: CpuMode) -> String {
    let options = JitOptions {
        mode,
        ..JitOptions::default()
    };
    let text = kernel(format, arguments);
    let kernel = compile_with(&text, &[], &options).unwrap_or_else(|f| panic!("{}", f[0]));
    assert!(
        !kernel.runs_gangs(),
        "text comes in the order of invocations"
    );
    run_kernel(&kernel, [6, 1, 1], Some([2, 1, 1]), &mut [], &[]).expect("it runs");
    let first = String::from_utf8(kernel.take_printed()).expect("it is text");
    assert_eq!(kernel.take_printed(), b"", "what was taken is gone");
    first
}

#[test]
fn every_kind_of_argument() {
    for mode in [CpuMode::Gangs, CpuMode::Sanitizer] {
        assert_eq!(printed("%d;", "%number", mode), "0;1;2;3;4;5;");
        let line = printed("%s %v2f %g %ld%%\n", "%s %pair %one_half %big", mode);
        assert_eq!(line, "word 0.375000,2.000000 0.5 5000000000%\n".repeat(6));
        assert_eq!(printed("plain\n", "", mode), "plain\n".repeat(6));
    }
}

#[test]
fn shaders_print() {
    let text = shader(
        [4, 1, 1],
        "",
        "%r = OpExtInst %void %debug 1 %format %local %global",
    );
    let text = text.replacen(
        "%glsl =",
        "%debug = OpExtInstImport \"NonSemantic.DebugPrintf\"\n%glsl =",
        1,
    );
    let text = text.replacen(
        "OpDecorate",
        "%format = OpString \"%u of %u, \"\nOpDecorate",
        1,
    );
    let kernel =
        compile_with(&text, &[], &JitOptions::default()).unwrap_or_else(|f| panic!("{}", f[0]));
    let mut buffers = [vec![0; 8], vec![0; 8]];
    run_shader(&kernel, [2, 1, 1], &mut buffers, &[]).expect("it runs");
    assert_eq!(
        String::from_utf8_lossy(&kernel.take_printed()),
        "0 of 0, 1 of 1, 2 of 2, 3 of 3, 0 of 4, 1 of 5, 2 of 6, 3 of 7, "
    );
}

#[test]
fn a_kernel_that_prints_for_ever_takes_no_more_memory() {
    let long = "x".repeat(4000);
    let text = kernel(&format!("{long}%d"), "%number");
    let kernel =
        compile_with(&text, &[], &JitOptions::default()).unwrap_or_else(|f| panic!("{}", f[0]));
    run_kernel(&kernel, [1 << 15, 1, 1], Some([64, 1, 1]), &mut [], &[]).expect("it runs");
    let printed = kernel.take_printed().len();
    assert!((1 << 20..1 << 28).contains(&printed), "{printed}");
}
