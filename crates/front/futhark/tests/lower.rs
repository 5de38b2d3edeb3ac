//! Kernels of the corpus are lowered to valid modules.

mod printed_corpus;

use spirula_futhark::read_futhark;
use spirula_kernel::lower_kernel;
use spirula_testing::SpirvValTool;
use std::collections::BTreeMap;

#[test]
fn every_kernel_becomes_a_valid_module() {
    let Some(validator) = SpirvValTool::find_program() else {
        return;
    };
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    let mut invalid = Vec::new();
    let mut valid = 0;
    for file in printed_corpus::files() {
        let text = printed_corpus::text(&file);
        let program = read_futhark(&text).expect("the program reads");
        for kernel in program.kernel_ids() {
            match lower_kernel(&program, kernel) {
                Ok(lowered) => {
                    match validator.validate_module(&lowered.module.to_bytes(), "vulkan1.2") {
                        Ok(()) => valid += 1,
                        Err(said) => invalid.push(format!("{} {kernel:?}: {said}", file.display())),
                    }
                }
                Err(fault) => *refused.entry(fault.message).or_default() += 1,
            }
        }
    }
    eprintln!("{valid} modules are valid; refused: {refused:#?}");
    assert!(
        invalid.is_empty(),
        "{} invalid:\n{}",
        invalid.len(),
        invalid.join("\n")
    );
}
