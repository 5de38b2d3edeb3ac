//! Every kernel module of the corpus: what is compiled is valid, what is refused says why.

use spirula_spirv::grammar::Op;
use spirula_spirv::ir::Module;
use spirula_spirv::verify;
use spirula_testing::{Validator, corpus, files};
use spirula_vulkan::{Options, compile, has_kernels};

/// Modules that are compiled at least.
const COMPILED: usize = 244;

#[test]
fn kernel_modules() {
    let Some(folder) = corpus("spirv/modules") else {
        return;
    };
    let validator = Validator::find();
    let options = verify::Options {
        target: Options::default().target,
        ..verify::Options::default()
    };
    let (mut compiled, mut refused, mut wrong) = (0, 0, Vec::new());
    for file in files(&folder, ".spv") {
        let bytes = std::fs::read(&file).unwrap();
        let Ok(module) = Module::from_bytes(&bytes) else {
            continue;
        };
        if !has_kernels(&module) {
            continue;
        }
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        match compile(&module, &Options::default()) {
            Err(faults) => {
                refused += 1;
                eprintln!("{name}: {}", faults[0]);
            }
            Ok(made) => {
                compiled += 1;
                if let Err(faults) = verify::module(&made, &options) {
                    wrong.push(format!("{name}: {}", faults[0]));
                }
                let insts = made
                    .functions()
                    .iter()
                    .flat_map(|f| made.function_insts(*f));
                let mut insts = insts.filter(|inst| matches!(inst.op(), Op::SRem | Op::SMod));
                if let Some(inst) = insts.next() {
                    // Undefined on Vulkan where an operand is negative.
                    wrong.push(format!("{name}: {} remains", inst.op()));
                }
                // Starting a process takes longer than the rest.
                let is_checked = compiled % 8 == 0;
                if let Some(validator) = validator.as_ref().filter(|_| is_checked) {
                    let said = validator.check(&made.to_bytes(), "vulkan1.3");
                    wrong.extend(said.err().map(|text| format!("{name}: {text}")));
                }
            }
        }
    }
    eprintln!("{compiled} compiled, {refused} refused");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compiled >= COMPILED, "{compiled} compiled");
}
