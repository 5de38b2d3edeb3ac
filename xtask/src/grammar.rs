//! Grammar tables: generates `crates/core/spirv/src/grammar/generated` from Khronos' grammar files.
//!
//! The generated files are committed, so building the project needs neither the JSON nor this task.

mod model;
mod names;
mod write;

use anyhow::{Context, Result};
use model::{Core, ExtSet};
use std::fs;
use std::path::Path;

/// Extended instruction sets: file stem, name in `OpExtInstImport`, Rust module, and prefix of the operand kinds that
/// the set defines.
const SETS: &[(&str, &str, &str, &str)] = &[
    ("opencl.std.100", "OpenCL.std", "opencl_std", "OpenClStd"),
    ("glsl.std.450", "GLSL.std.450", "glsl_std_450", "GlslStd450"),
    ("debuginfo", "DebugInfo", "debug_info", "DebugInfo"),
    (
        "opencl.debuginfo.100",
        "OpenCL.DebugInfo.100",
        "opencl_debug_info_100",
        "OpenClDebugInfo100",
    ),
    (
        "nonsemantic.shader.debuginfo.100",
        "NonSemantic.Shader.DebugInfo.100",
        "shader_debug_info_100",
        "ShaderDebugInfo100",
    ),
    (
        "nonsemantic.shader.debuginfo",
        "NonSemantic.Shader.DebugInfo",
        "shader_debug_info",
        "ShaderDebugInfo",
    ),
    (
        "nonsemantic.clspvreflection",
        "NonSemantic.ClspvReflection.5",
        "clspv_reflection",
        "ClspvReflection",
    ),
    (
        "nonsemantic.debugbreak",
        "NonSemantic.DebugBreak",
        "debug_break",
        "DebugBreak",
    ),
    (
        "nonsemantic.debugprintf",
        "NonSemantic.DebugPrintf",
        "debug_printf",
        "DebugPrintf",
    ),
    (
        "nonsemantic.vkspreflection",
        "NonSemantic.VkspReflection.1",
        "vksp_reflection",
        "VkspReflection",
    ),
];

/// Reads the grammar in `folder` and rewrites the tables.
pub fn generate_tables(folder: &Path) -> Result<()> {
    let core: Core = read_json_file(&folder.join("spirv.core.grammar.json"))?;
    let mut sets = Vec::new();
    for &(stem, import, module, prefix) in SETS {
        let set: ExtSet = read_json_file(&folder.join(format!("extinst.{stem}.grammar.json")))?;
        sets.push(write::NamedSet {
            import,
            module,
            prefix,
            set,
        });
    }
    let out =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/core/spirv/src/grammar/generated");
    fs::create_dir_all(&out)?;
    let files = [
        ("mod.rs", write::write_module_index()),
        ("op.rs", write::write_opcodes(&core)),
        ("enumerants.rs", write::write_enumerants(&core)),
        ("instructions.rs", write::write_instructions(&core)),
        ("kinds.rs", write::write_operand_kinds(&core, &sets)),
        ("ext.rs", write::ext_sets(&sets)),
    ];
    for (name, text) in files {
        fs::write(out.join(name), text).with_context(|| format!("writing {name}"))?;
    }
    Ok(())
}

fn read_json_file<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T> {
    let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("parsing {}", path.display()))
}
