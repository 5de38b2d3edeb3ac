//! The host program of the book launches a kernel that was compiled for Vulkan.

use spirula_runtime::list_devices;
use spirula_spirv::{ir::SpirvModule, text};
use std::path::Path;
use std::process::Command;

/// `examples/saxpy.cl`, compiled for Vulkan 1.3.
const SAXPY: &str = include_str!("vulkan_host/saxpy.spvasm");

#[test]
fn the_host_in_rust_computes() {
    let devices = list_devices();
    if !devices.iter().any(|device| device.id.starts_with("vulkan")) {
        eprintln!("NOT TESTED: this machine has no Vulkan device");
        return;
    }
    let words = text::parse_assembly(SAXPY, &text::ParseOptions::default()).expect("assembly");
    let module = SpirvModule::from_words(words).expect("a module");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("saxpy.spv");
    std::fs::write(&path, module.to_bytes()).expect("a file");

    // Examples are beside the folder of tests.
    let test = std::env::current_exe().expect("a test knows where it is");
    let profile = test.ancestors().nth(2).expect("the folder of the profile");
    let name = format!("vulkan_host{}", std::env::consts::EXE_SUFFIX);
    let program = Path::new(profile).join("examples").join(name);
    let run = Command::new(&program)
        .arg(&path)
        .output()
        .expect("`cargo test -p spirula-runtime` builds the example");
    let error = String::from_utf8_lossy(&run.stderr);
    let output = String::from_utf8_lossy(&run.stdout);
    assert_eq!(output, "[1.0, 3.0, 5.0, 7.0]\n", "{error}");
}
