//! Kernels with the shaders that are made of them beside: `NAME.spvasm` becomes `NAME.vulkan`.

use spirula_legalize::{VulkanCompileOptions, compile_kernels};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::text::{ParseOptions, PrintOptions, parse_assembly, print_assembly};
use spirula_testing::{GoldenFiles, SpirvValTool, list_files};
use std::path::Path;

fn module(text: &str) -> SpirvModule {
    let words = parse_assembly(text, &ParseOptions::default()).expect("the text is correct");
    SpirvModule::from_words(words).expect("the module is correct")
}

#[test]
fn files_give_what_stands_beside_them() {
    let validator = SpirvValTool::find_program();
    let mut expected = GoldenFiles::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compile");
    for path in list_files(&folder, ".spvasm") {
        let text = std::fs::read_to_string(&path).expect("the file can be read");
        let text = match compile_kernels(&module(&text), &VulkanCompileOptions::default()) {
            Ok(made) => {
                let checked = validator
                    .as_ref()
                    .map(|v| v.validate_module(&made.to_bytes(), "vulkan1.3"));
                if let Some(Err(fault)) = checked {
                    panic!("{}: {fault}", path.display());
                }
                print_assembly(&made.to_words(), &PrintOptions::default())
                    .expect("it can be printed")
            }
            Err(faults) => faults.iter().map(|f| format!("{}\n", f.message)).collect(),
        };
        expected.compare_file(&path.with_extension("vulkan"), &text);
    }
    expected.finish_comparison();
}

/// Features without a counterpart, and the text of the refusal.
const REFUSED: &[(&str, &str)] = &[
    (
        "%t = OpTypeImage %void 2D 0 0 1 0 Unknown ReadOnly\n",
        "an image of several samples is not supported for Vulkan",
    ),
    (
        "%t = OpTypeImage %void Cube 0 0 0 0 Unknown ReadOnly\n",
        "an image of such dimensions is not supported for Vulkan",
    ),
];

#[test]
fn refused_images() {
    for (ty, message) in REFUSED {
        let text = format!(
            "OpCapability Kernel\nOpCapability Addresses\nOpCapability ImageBasic\n\
             OpMemoryModel Physical64 OpenCL\nOpEntryPoint Kernel %f \"f\"\n\
             %void = OpTypeVoid\n{ty}%fn = OpTypeFunction %void %t\n\
             %f = OpFunction %void None %fn\n%p = OpFunctionParameter %t\n\
             %l = OpLabel\nOpReturn\nOpFunctionEnd\n"
        );
        let faults = compile_kernels(&module(&text), &VulkanCompileOptions::default()).unwrap_err();
        assert_eq!(faults[0].message, *message);
        assert_ne!(
            faults[0].place,
            spirula_diagnostics::SourceLocation::Unknown,
            "{message}"
        );
    }
}

#[test]
fn functions_alone() {
    let text = "OpCapability Kernel\nOpCapability Addresses\nOpCapability Linkage\n\
                OpMemoryModel Physical64 OpenCL\nOpName %f \"twice\"\n\
                %void = OpTypeVoid\n%fn = OpTypeFunction %void\n\
                %f = OpFunction %void None %fn\n%l = OpLabel\nOpReturn\nOpFunctionEnd\n";
    let faults = compile_kernels(&module(text), &VulkanCompileOptions::default()).unwrap_err();
    let message = &faults[0].message;
    assert!(
        message.contains("no kernels but functions such as twice"),
        "{message}"
    );
    assert!(faults[0].hint.is_some());
}
