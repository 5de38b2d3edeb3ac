//! Formats that are often given and not accepted, each with advice.

use super::table::describe_accepted_inputs;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};

const FROM_C: &str = "compile it to LLVM IR first: clang -c -x cl -target spir64-unknown-unknown \
                      -Xclang -finclude-default-header -emit-llvm IN -o OUT.bc";
const FROM_GLSL: &str = "compile it to SPIR-V first, with glslc or glslangValidator";
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
    (
        "@compute",
        "WGSL",
        "compile it to SPIR-V first, with naga or tint",
    ),
    (
        "[numthreads",
        "HLSL",
        "compile it to SPIR-V first, with dxc -spirv",
    ),
    (
        ".version",
        "PTX",
        "compile the source for a SPIR-V target instead",
    ),
];

/// The refusal of an input whose first bytes are those of another format.
pub(super) fn refuse_bytes(bytes: &[u8]) -> Option<SourceDiagnostic> {
    let (_, name, hint) = FOREIGN_BYTES
        .iter()
        .find(|(magic, ..)| bytes.starts_with(magic))?;
    Some(make_refusal(SourceLocation::Byte(0), name, hint))
}

/// The refusal of an input with a line of another language. The line begins at byte `start`, with `length` bytes in
/// the input.
pub(super) fn refuse_line(line: &str, start: usize, length: usize) -> Option<SourceDiagnostic> {
    let (_, name, hint) = FOREIGN_LINES
        .iter()
        .find(|(beginning, ..)| line.starts_with(beginning))?;
    let place = SourceLocation::from_text_range(start, start + length);
    Some(make_refusal(place, name, hint))
}

fn make_refusal(place: SourceLocation, name: &str, hint: &str) -> SourceDiagnostic {
    SourceDiagnostic::error(place, format!("the input is {name}, which is not accepted"))
        .with_note(describe_accepted_inputs())
        .with_hint(hint)
}
