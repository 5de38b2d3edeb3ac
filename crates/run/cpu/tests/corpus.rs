//! Modules from elsewhere: which of their kernels run in bundles.

use spirula_cpu::{JitKernel, JitOptions};
use spirula_spirv::grammar::enumerants::ExecutionModel;
use spirula_spirv::ir::{ModuleSection, SpirvModule};

/// Makes code both ways for all entry points of the corpus. Bundles are never the reason why a
/// kernel is refused, and most kernels run in them.
#[test]
fn kernels_of_the_corpus_compile_both_ways() {
    let Some(corpus) = spirula_testing::find_corpus("spirv/modules") else {
        return;
    };
    let (mut bundles, mut all) = (0, 0);
    for path in spirula_testing::list_files(&corpus, ".spv") {
        let bytes = std::fs::read(&path).expect("the corpus can be read");
        let Ok(module) = SpirvModule::from_bytes(&bytes) else {
            continue;
        };
        for point in module.section_insts(ModuleSection::EntryPoints) {
            let model = ExecutionModel(point.operand_word(0));
            let name = point.string_operand(2).to_string();
            let made = [true, false].map(|bundles| {
                let options = JitOptions {
                    bundles,
                    ..JitOptions::default()
                };
                JitKernel::compile_entry_point(&module, &name, model, &[], &options)
            });
            assert_eq!(made[0].is_ok(), made[1].is_ok(), "{}", path.display());
            if let [Ok(kernel), _] = made {
                all += 1;
                bundles += usize::from(kernel.runs_bundles());
            }
        }
    }
    println!("{bundles} of {all} kernels run in bundles");
    assert!(all > 0 && bundles * 2 > all);
}
