//! Formats that are often given and not accepted, each with advice.

use super::detect::detect_input_format;
use super::table::describe_accepted_inputs;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};

const FROM_C: &str = "compile it to LLVM IR first: clang -c -x cl -target spir64-unknown-unknown \
                      -Xclang -finclude-default-header -emit-llvm IN -o OUT.bc";
const FROM_GLSL: &str = "compile it to SPIR-V first: glslc -fshader-stage=compute IN -o OUT.spv, or \
                        glslangValidator -V -S comp IN -o OUT.spv";
const FROM_CUDA: &str = "write the kernel in OpenCL C or Rust, or compile it to LLVM IR by chipStar or HIP for SPIR-V; \
                        CUDA's own LLVM IR is for NVPTX and has other built-in functions";
const FROM_HLO: &str = "give StableHLO, from which HLO is made: jax.jit(f).lower(x).as_text() in Python, or \
                       jax.export.export(jax.jit(f))(x).serialize()";
const FROM_HLSL: &str = "compile it to SPIR-V first: dxc -spirv -T cs_6_0 -E main IN -Fo OUT.spv, or glslangValidator -D -V";
const FROM_METAL: &str =
    "compile the shader that it was made from to SPIR-V instead; Metal's compiler writes no SPIR-V";
const FROM_ONNX: &str = "export the model as StableHLO from its framework: jax.export, or torch.export with \
                        spirula.torch.to_stablehlo";
const FROM_PTX: &str = "compile the source that it was made from for a SPIR-V target instead";
const FROM_PYTHON: &str = "write what it traces to a file: jax.jit(f).lower(x).as_text(), \
                          jax.export.export(jax.jit(f))(x).serialize(), or \
                          spirula.torch.to_stablehlo(torch.export.export(model, (x,)))";
const FROM_RUST: &str = "compile it to LLVM IR first: rustc --crate-type lib --emit=llvm-bc -C panic=abort -C opt-level=3 \
                        IN -o OUT.bc";
const FROM_SYCL: &str =
    "compile its device code to LLVM IR or SPIR-V first: clang++ -fsycl -fsycl-device-only";
const FROM_TRITON: &str = "write the TTIR of a compiled kernel to a file: kernel.asm[\"ttir\"]";
const FROM_WGSL: &str = "build the command with the feature wgsl, or compile it to SPIR-V first: naga IN.wgsl OUT.spv, \
                        or tint --format spirv IN -o OUT.spv";
const FROM_OBJECT: &str = "give the LLVM IR or SPIR-V that it was made from (clang -emit-llvm)";

/// First bytes of a format, its name, and advice.
const FOREIGN_BYTES: &[(&[u8], &str, &str)] = &[
    (b"\x7fELF", "an ELF object", FROM_OBJECT),
    (b"MZ", "a Windows executable", FROM_OBJECT),
    (b"\xcf\xfa\xed\xfe", "a Mach-O object", FROM_OBJECT),
    (b"!<arch>", "an archive of objects", FROM_OBJECT),
    (
        b"__CLANG_OFFLOAD_BUNDLE__",
        "a bundle of device code",
        "take the module out of it with clang-offload-bundler -unbundle",
    ),
    (
        b"\x10\xff\x10\xad",
        "a package of device code",
        "take the module out of it with clang-offload-packager",
    ),
    (
        b"DXBC",
        "a DirectX container",
        "compile the source to SPIR-V instead, with dxc -spirv",
    ),
    (b"\x1f\x8b", "compressed with gzip", "decompress it first"),
    (
        b"\x28\xb5\x2f\xfd",
        "compressed with zstd",
        "decompress it first",
    ),
    (
        b"PK\x03\x04",
        "a zip archive",
        "take the module out of it first",
    ),
    (
        b"\x93NUMPY",
        "a NumPy array",
        "arrays are given to kernels with run --arg '@FILE.npy'",
    ),
    (b"\xff\xfe", "text in UTF-16", "convert it to UTF-8 first"),
    (b"\xfe\xff", "text in UTF-16", "convert it to UTF-8 first"),
];

/// Beginning of a line in a language, the name of the language, and advice.
const FOREIGN_LINES: &[(&str, &str, &str)] = &[
    ("#version", "GLSL", FROM_GLSL),
    ("layout(", "GLSL", FROM_GLSL),
    ("#include", "C source", FROM_C),
    ("#pragma", "C source", FROM_C),
    ("#define", "C source", FROM_C),
    ("__kernel", "OpenCL C", FROM_C),
    ("kernel ", "OpenCL C", FROM_C),
    ("typedef ", "C source", FROM_C),
    ("static ", "C source", FROM_C),
    ("void ", "C source", FROM_C),
    ("/*", "C source", FROM_C),
    ("__global__", "CUDA", FROM_CUDA),
    ("using namespace metal", "Metal", FROM_METAL),
    ("@group(", "WGSL", FROM_WGSL),
    ("@compute", "WGSL", FROM_WGSL),
    ("@workgroup_size", "WGSL", FROM_WGSL),
    ("var<", "WGSL", FROM_WGSL),
    ("enable f16", "WGSL", FROM_WGSL),
    ("[numthreads", "HLSL", FROM_HLSL),
    ("RWStructuredBuffer<", "HLSL", FROM_HLSL),
    ("StructuredBuffer<", "HLSL", FROM_HLSL),
    ("RWByteAddressBuffer", "HLSL", FROM_HLSL),
    ("cbuffer ", "HLSL", FROM_HLSL),
    (".version", "PTX", FROM_PTX),
    (".target", "PTX", FROM_PTX),
    ("HloModule ", "HLO as text", FROM_HLO),
    ("#!/usr/bin/env python", "Python source", FROM_PYTHON),
    ("import jax", "Python source", FROM_PYTHON),
    ("import numpy", "Python source", FROM_PYTHON),
    ("import torch", "Python source", FROM_PYTHON),
    ("import triton", "Python source", FROM_PYTHON),
    ("from jax", "Python source", FROM_PYTHON),
    ("from torch", "Python source", FROM_PYTHON),
    ("@jax.jit", "Python source", FROM_PYTHON),
    ("@triton.jit", "Python source", FROM_PYTHON),
    ("pub fn ", "Rust source", FROM_RUST),
    ("#![no_std]", "Rust source", FROM_RUST),
    ("use core::", "Rust source", FROM_RUST),
];

/// Text that only one language has, the name of the language, and advice. Several languages begin alike, so that the
/// whole text decides where there is such a mark.
const FOREIGN_MARKS: &[(&str, &str, &str)] = &[
    ("HloModule ", "HLO as text", FROM_HLO),
    (
        "@triton.jit",
        "Python source with kernels of Triton",
        FROM_TRITON,
    ),
    ("import jax", "Python source", FROM_PYTHON),
    ("import torch", "Python source", FROM_PYTHON),
    ("__global__", "CUDA", FROM_CUDA),
    ("metal_stdlib", "Metal", FROM_METAL),
    ("[[thread_position_in_grid]]", "Metal", FROM_METAL),
    ("numthreads(", "HLSL", FROM_HLSL),
    ("SV_DispatchThreadID", "HLSL", FROM_HLSL),
    ("SV_Target", "HLSL", FROM_HLSL),
    ("gl_GlobalInvocationID", "GLSL", FROM_GLSL),
    ("gl_FragCoord", "GLSL", FROM_GLSL),
    ("gl_Position", "GLSL", FROM_GLSL),
    ("local_size_x", "GLSL", FROM_GLSL),
    ("@compute", "WGSL", FROM_WGSL),
    ("@fragment", "WGSL", FROM_WGSL),
    ("var<storage", "WGSL", FROM_WGSL),
    ("sycl::", "SYCL source", FROM_SYCL),
    ("__kernel", "OpenCL C", FROM_C),
    ("get_global_id(", "OpenCL C", FROM_C),
];

/// Text of the stage of Triton after TTIR, in which tensors have layouts.
const TTGIR_MARKS: &[&str] = &["#ttg.", "#triton_gpu.", "ttg.num-warps", "\"triton_gpu."];

/// The refusal of an input whose first bytes are those of another format.
pub(super) fn refuse_bytes(bytes: &[u8]) -> Option<SourceDiagnostic> {
    if is_onnx_model(bytes) {
        return Some(make_refusal(
            SourceLocation::Byte(0),
            "an ONNX model",
            FROM_ONNX,
        ));
    }
    if bytes.get(4..8) == Some(b"TFL3") {
        let name = "a TensorFlow Lite model";
        return Some(make_refusal(SourceLocation::Byte(0), name, FROM_ONNX));
    }
    let (_, name, hint) = FOREIGN_BYTES
        .iter()
        .find(|(magic, ..)| bytes.starts_with(magic))?;
    Some(make_refusal(SourceLocation::Byte(0), name, hint))
}

/// Whether bytes begin as a model of ONNX: a message of Protocol Buffers whose first field is the version of the form,
/// and whose second is the name of the producer, the graph, or the sets of operators.
fn is_onnx_model(bytes: &[u8]) -> bool {
    const NEWEST_FORM: u8 = 32;
    match bytes {
        [0x08, 1..=NEWEST_FORM, 0x12, length, name @ ..] => {
            let name = name.get(..usize::from(*length));
            name.is_some_and(|name| !name.is_empty() && name.iter().all(u8::is_ascii_graphic))
        }
        [0x08, 1..=NEWEST_FORM, 0x3a | 0x42, _, ..] => true,
        _ => false,
    }
}

/// The refusal of an input with a line of another language. The line begins at byte `start` of the text, with `length`
/// bytes.
pub(super) fn refuse_line(
    text: &str,
    line: &str,
    start: usize,
    length: usize,
) -> Option<SourceDiagnostic> {
    let (_, name, hint) = FOREIGN_LINES
        .iter()
        .find(|(beginning, ..)| line.starts_with(beginning))?;
    // Lines such as those of the preprocessor begin texts of several languages.
    Some(refuse_marked_text(text).unwrap_or_else(|| {
        let place = SourceLocation::from_text_range(start, start + length);
        make_refusal(place, name, hint)
    }))
}

/// The refusal of a text that has a mark of another language.
pub(super) fn refuse_marked_text(text: &str) -> Option<SourceDiagnostic> {
    let mut found = FOREIGN_MARKS
        .iter()
        .filter_map(|(mark, name, hint)| Some((text.find(mark)?, mark, name, hint)));
    let (at, mark, name, hint) = found.next()?;
    let place = SourceLocation::from_text_range(at, at + mark.len());
    Some(make_refusal(place, name, hint))
}

/// The name of a language that is not accepted, where a text that no front end takes is of one.
pub fn name_foreign_language(bytes: &[u8]) -> Option<&'static str> {
    if detect_input_format(bytes).is_ok() {
        return None;
    }
    let text = std::str::from_utf8(bytes).ok()?;
    let mark = FOREIGN_MARKS.iter().find(|(mark, ..)| text.contains(mark));
    if let Some((_, name, _)) = mark {
        return Some(name);
    }
    text.lines().find_map(|line| {
        let mut rows = FOREIGN_LINES.iter();
        let row = rows.find(|(beginning, ..)| line.trim().starts_with(beginning));
        row.map(|(_, name, _)| *name)
    })
}

/// The refusal of Triton's representation of kernels for one graphics processor.
pub(super) fn refuse_ttgir(text: &str) -> Option<SourceDiagnostic> {
    let (at, mark) = TTGIR_MARKS
        .iter()
        .find_map(|mark| Some((text.find(mark)?, mark)))?;
    let place = SourceLocation::from_text_range(at, at + mark.len());
    let hint = "give the stage before it: kernel.asm[\"ttir\"] in Python, or the file .ttir in Triton's cache";
    Some(make_refusal(place, "TTGIR", hint))
}

fn make_refusal(place: SourceLocation, name: &str, hint: &str) -> SourceDiagnostic {
    SourceDiagnostic::error(place, format!("the input is {name}, which is not accepted"))
        .with_note(describe_accepted_inputs())
        .with_hint(hint)
}
