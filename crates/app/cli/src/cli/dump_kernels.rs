//! Kernel dumps: the modules of a program's kernels as files, for `--dump-spirv`.

use spirula_program::CompiledProgram;
use std::fs;
use std::path::Path;

/// Writes each kernel to a file of the folder, such as `NAME.3.spv`. The numbers are those of `compile --kernel`.
/// `NAME.3.laid-out.spv` is the module for devices with explicit layouts of workgroup memory.
///
/// # Errors
/// A message, when the folder or a file cannot be written.
pub fn dump_kernels(program: &CompiledProgram, folder: &Path, name: &str) -> Result<(), String> {
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |e: std::io::Error| format!("cannot write {path}: {e}")
    };
    fs::create_dir_all(folder).map_err(failed(folder))?;
    let kernels = program.kernels.iter().enumerate();
    for (number, kernel) in kernels {
        for (module, kind) in kernel.modules().zip(["", ".laid-out"]) {
            let path = folder.join(format!("{name}.{number}{kind}.spv"));
            fs::write(&path, module.to_bytes()).map_err(failed(&path))?;
        }
    }
    Ok(())
}
