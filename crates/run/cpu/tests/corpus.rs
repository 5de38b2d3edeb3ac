//! Modules from elsewhere: which of their kernels run in gangs.

use spirula_cpu::{CpuMode, JitKernel, JitOptions};
use spirula_spirv::grammar::enumerants::ExecutionModel;
use spirula_spirv::ir::{ModuleSection, SpirvModule};

/// Compiles all entry points of the corpus with and without gangs. Gangs are never the reason why a kernel is
/// refused, and most kernels use them.
#[test]
fn kernels_of_the_corpus_compile_both_ways() {
    let Some(corpus) = spirula_testing::find_corpus("spirv/modules") else {
        return;
    };
    let (mut gangs, mut all) = (0, 0);
    for path in spirula_testing::list_files(&corpus, ".spv") {
        let bytes = std::fs::read(&path).expect("the corpus can be read");
        let Ok(module) = SpirvModule::from_bytes(&bytes) else {
            continue;
        };
        for point in module.section_insts(ModuleSection::EntryPoints) {
            let model = ExecutionModel(point.operand_word(0));
            let name = point.string_operand(2).to_string();
            let made = [CpuMode::Gangs, CpuMode::Scalar].map(|mode| {
                let options = JitOptions {
                    mode,
                    ..JitOptions::default()
                };
                JitKernel::compile_entry_point(&module, &name, model, &[], &options)
            });
            assert_eq!(made[0].is_ok(), made[1].is_ok(), "{}", path.display());
            if let [Ok(kernel), _] = made {
                all += 1;
                gangs += usize::from(kernel.runs_gangs());
            }
        }
    }
    println!("{gangs} of {all} kernels run in gangs");
    assert!(all > 0 && gangs * 2 > all);
}
