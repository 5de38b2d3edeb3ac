//! Compute shaders lifted to LLVM IR and compiled again are valid for Vulkan.

use spirula::{CompileOptions, compile_input};
use spirula_spirv::grammar::enumerants::ExecutionModel;
use spirula_spirv::ir::{InstRef, ModuleSection, SpirvModule};
use spirula_testing::{SpirvValTool, find_corpus, list_files};

/// One of this many modules is tested; `EVERY` sets another number.
fn step() -> usize {
    std::env::var("EVERY").map_or(5, |n| n.parse().expect("EVERY is a number"))
}

const ENVIRONMENT: &str = "vulkan1.3";

#[test]
fn shaders_come_back_valid() {
    let (Some(folder), Some(validator)) =
        (find_corpus("spirv/modules"), SpirvValTool::find_program())
    else {
        return;
    };
    let paths = list_files(&folder, ".spv").into_iter();
    let (mut checked, mut wrong) = (0, Vec::new());
    for path in paths.step_by(step()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let bytes = std::fs::read(&path).expect("the corpus can be read");
        let module = SpirvModule::from_bytes(&bytes).expect("the file is a module");
        let is_compute = |point: InstRef<'_>| point.operand_word(0) == ExecutionModel::GLCompute.0;
        let points = || module.section_insts(ModuleSection::EntryPoints);
        // Some files need more than Vulkan has by default.
        if points().next().is_none()
            || !points().all(is_compute)
            || validator.validate_module(&bytes, ENVIRONMENT).is_err()
        {
            continue;
        }
        checked += 1;
        let lifted = match spirula_llvm::lift_module(&module) {
            Ok(lifted) => lifted,
            Err(all) => {
                wrong.push(format!("{name}: {}", all[0].message));
                continue;
            }
        };
        let text = spirula_llvm::print_assembly(&lifted);
        let compiled = compile_input(text.as_bytes(), &CompileOptions::default());
        let compiled = compiled.and_then(|compiled| compiled.into_module());
        match compiled.map(|module| validator.validate_module(&module.to_bytes(), ENVIRONMENT)) {
            Ok(Ok(())) => {}
            Ok(Err(fault)) => wrong.push(format!("{name}: {fault}")),
            Err(error) => wrong.push(format!("{name}: {error:?}")),
        }
    }
    assert!(checked > 0, "no shader was looked at");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
