//! Compiles kernel modules for Vulkan: pairs of an input and an output file.

use spirula_spirv::ir::SpirvModule;

fn main() {
    let files: Vec<String> = std::env::args().skip(1).collect();
    for pair in files.chunks_exact(2) {
        let read = std::fs::read(&pair[0]).map_err(|e| e.to_string());
        let module = read.and_then(|b| SpirvModule::from_bytes(&b).map_err(|e| e.to_string()));
        let compiled = module.and_then(|module| {
            spirula_legalize::compile_kernels(
                &module,
                &spirula_legalize::VulkanCompileOptions::default(),
            )
            .map_err(|faults| faults[0].to_string())
        });
        let written = compiled
            .and_then(|m| std::fs::write(&pair[1], m.to_bytes()).map_err(|e| e.to_string()));
        if let Err(error) = written {
            println!("{}: {error}", pair[0]);
        }
    }
}
