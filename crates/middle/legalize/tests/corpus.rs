//! Every kernel module of the corpus: what is compiled is valid, what is refused says why.

mod common;

use common::{VulkanModuleChecks, modules};
use spirula_legalize::{VulkanCompileOptions, compile_kernels, has_kernels};
use spirula_spirv::grammar::Op;

/// Modules that are compiled at least.
const COMPILED: usize = 247;

#[test]
fn kernel_modules() {
    let Some(modules) = modules(has_kernels) else {
        return;
    };
    let mut checks = VulkanModuleChecks::new(8);
    for (name, module) in modules {
        match compile_kernels(&module, &VulkanCompileOptions::default()) {
            Err(faults) => {
                checks.refused += 1;
                eprintln!("{name}: {}", faults[0]);
            }
            Ok(made) => {
                checks.check(&name, &made);
                let functions = made.functions().iter();
                let mut insts = functions.flat_map(|f| made.function_insts(*f));
                if let Some(inst) = insts.find(|i| matches!(i.op(), Op::SRem | Op::SMod)) {
                    // Undefined on Vulkan where an operand is negative.
                    let text = format!("{name}: {} remains", inst.op());
                    checks.wrong.push(text);
                }
            }
        }
    }
    checks.finish(COMPILED);
}
