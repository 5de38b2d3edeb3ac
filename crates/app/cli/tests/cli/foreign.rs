//! Inputs of other languages: each has the hint that helps.

use crate::harness::{CliOutput, ScratchFolder, module, spirula_with};
use std::io::Write;
use std::process::{Command, Stdio};

#[test]
fn nearly_right_inputs_have_a_hint() {
    let cases: &[(&[u8], &str)] = &[
        (b"\x08\x08\x12\x07pytorch\x1a\x05", "jax.export"),
        (b"HloModule jit_f\n", "jax.jit(f).lower(x).as_text()"),
        (
            b"import jax\n\ndef f(x):\n  return x\n",
            "jax.jit(f).lower(x).as_text()",
        ),
        (b"@triton.jit\ndef f(x):\n  pass\n", "kernel.asm[\"ttir\"]"),
        (
            b"#b = #ttg.blocked<{a = 1}>\nmodule {\n}\n",
            "kernel.asm[\"ttir\"]",
        ),
        (
            b"#version 450\nlayout(local_size_x = 1) in;\n",
            "glslangValidator -V",
        ),
        (b"[numthreads(8, 1, 1)]\nvoid main() {}\n", "dxc -spirv"),
        (b"#include <cuda.h>\n__global__ void f() {}\n", "OpenCL C"),
        (
            b"#include <metal_stdlib>\nkernel void f() {}\n",
            "SPIR-V instead",
        ),
        (b".version 8.0\n.target sm_80\n", "SPIR-V target"),
        (b"__kernel void f() {}\n", "clang -c -x cl"),
        (
            b"#![no_std]\npub fn f() {}\n",
            "rustc --crate-type lib --emit=llvm-bc",
        ),
    ];
    for (input, hint) in cases {
        // Checking compiles nothing, also where a compiler is installed.
        let ran = spirula_with(&["check", "-"], input).fails(1, hint);
        assert!(ran.err.contains("which is not accepted"), "{}", ran.err);
    }
}

const GLSL: &str = "\
#version 450
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Data { uint data[]; };
void main() { data[gl_GlobalInvocationID.x] *= 2u; }
";

/// A program in the place of an installed compiler, or none.
fn compile_with(compiler: &str, source: &str) -> CliOutput {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spirula"));
    command
        .args(["compile", "-", "-o", "-"])
        .env("PATH", "/nonexistent");
    if !compiler.is_empty() {
        command.env("SPIRULA_GLSLANG", compiler);
    }
    let process = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut process = process.expect("the command starts");
    let mut stdin = process.stdin.take().expect("standard input is a pipe");
    let _ = stdin.write_all(source.as_bytes());
    drop(stdin);
    process.wait_with_output().expect("the command ends").into()
}

#[cfg(unix)]
#[test]
fn shaders_are_compiled_by_an_installed_compiler() {
    compile_with("", GLSL).fails(1, "glslangValidator -V");
    let scratch = ScratchFolder::new();
    let module = scratch.file("double.spv", module("double.spvasm"));
    let script = |name: &str, body: &str| {
        let path = scratch.file(name, format!("#!/bin/sh\n{body}\n"));
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&path, permissions).expect("a mode");
        path
    };
    let good = script(
        "good",
        &format!("for last; do :; done; /bin/cp {module} \"$last\""),
    );
    let written = compile_with(&good, GLSL).ok().out;
    assert_eq!(written, std::fs::read(&module).unwrap());
    let bad = script(
        "bad",
        "echo \"ERROR: 0:4: 'x' : undeclared identifier\"; exit 2",
    );
    compile_with(&bad, GLSL).fails(1, "<stdin>:4:1");
    compile_with(&scratch.text("none"), GLSL).fails(1, "cannot be run");
}

#[test]
fn shaders_of_glslang_run() {
    let found = Command::new("glslangValidator").arg("--version").output();
    if found.is_err() {
        eprintln!("glslangValidator is not installed");
        return;
    }
    let args = ["run", "-", "--groups", "1", "--arg", "4xu32=iota"];
    let text = spirula_with(&args, GLSL.as_bytes()).ok().text();
    assert!(text.contains('6'), "{text}");
    let hlsl = "RWStructuredBuffer<uint> data : register(u0);\n[numthreads(4, 1, 1)]\n\
                void twice(uint3 id : SV_DispatchThreadID) { data[id.x] = data[id.x] * 2; }\n";
    let text = spirula_with(&args, hlsl.as_bytes()).ok().text();
    assert!(text.contains('6'), "{text}");
    let broken = GLSL.replace("*= 2u", "= wrong");
    spirula_with(&["compile", "-"], broken.as_bytes()).fails(1, "<stdin>:4:1");
}

#[test]
fn kernels_of_clang_run() {
    let found = ["clang", "clang-19"].map(|name| Command::new(name).arg("--version").output());
    if found.iter().all(Result::is_err) {
        eprintln!("Clang is not installed");
        return;
    }
    let source = "__kernel void twice(__global uint *data) { data[get_global_id(0)] *= 2; }\n";
    let args = ["run", "-", "--global", "4", "--arg", "4xu32=iota"];
    let text = spirula_with(&args, source.as_bytes()).ok().text();
    assert!(text.contains('6'), "{text}");
    let doubles = "__kernel void f(__global double *x) { x[get_global_id(0)] = 1.5; }\n";
    spirula_with(&["compile", "-"], doubles.as_bytes()).ok();
    let broken = source.replace("data[", "date[");
    spirula_with(&["compile", "-"], broken.as_bytes()).fails(1, "undeclared identifier 'date'");
}

const WGSL: &str = "\
// doubles
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  data[id.x] = data[id.x] * 2u;
}
";

#[cfg(not(feature = "wgsl"))]
#[test]
fn wgsl_needs_its_feature() {
    spirula_with(&["compile", "-"], WGSL.as_bytes()).fails(1, "the feature wgsl");
}

#[cfg(feature = "wgsl")]
#[test]
fn wgsl_is_compiled_and_run() {
    let binary = spirula_with(&["compile", "-", "-O"], WGSL.as_bytes())
        .ok()
        .out;
    spirula_with(&["val", "--target-env", "vulkan1.1"], &binary).ok();
    let args = ["run", "-", "--groups", "1", "--arg", "4xu32=iota"];
    let text = spirula_with(&args, WGSL.as_bytes()).ok().text();
    assert!(text.contains('6'), "{text}");
    let broken = WGSL.replace("2u", "2.5");
    spirula_with(&["compile", "-"], broken.as_bytes()).fails(1, "<stdin>:");
}
