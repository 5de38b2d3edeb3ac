//! The peer: `spirv-opt -O` as a process.

use std::path::PathBuf;
use std::process::Command;

/// A module after `spirv-opt -O`; `None` if the program is missing or rejects the module.
pub fn optimised(bytes: &[u8]) -> Option<Vec<u8>> {
    let tools = std::env::var_os("SPIRV_TOOLS").map(PathBuf::from);
    let program = tools.map_or_else(|| "spirv-opt".into(), |t| t.join("spirv-opt"));
    let name = format!("spirula-bench-{}", std::process::id());
    let [from, to] =
        ["in", "out"].map(|end| std::env::temp_dir().join(format!("{name}.{end}.spv")));
    std::fs::write(&from, bytes).ok()?;
    let status = Command::new(program)
        .arg("-O")
        .arg(&from)
        .arg("-o")
        .arg(&to)
        .output();
    let made = status.ok().filter(|o| o.status.success());
    let found = made.and_then(|_| std::fs::read(&to).ok());
    for path in [from, to] {
        _ = std::fs::remove_file(path);
    }
    found
}
