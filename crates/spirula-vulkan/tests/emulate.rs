//! Every shader of the corpus without small and 64-bit types: what is made is valid and declares none.

use spirula_spirv::grammar::enumerants::{Capability, ExecutionModel};
use spirula_spirv::ir::{Module, Section};
use spirula_spirv::verify;
use spirula_testing::{Validator, corpus, files};
use spirula_vulkan::Options;
use spirula_vulkan::emulate::{Lacking, emulate};

const LACKED: &[Capability] = &[
    Capability::Int8,
    Capability::Int16,
    Capability::Int64,
    Capability::Float16,
    Capability::StorageBuffer8BitAccess,
    Capability::StorageBuffer16BitAccess,
];

#[test]
fn shaders_of_the_corpus() {
    let Some(folder) = corpus("spirv/modules") else {
        return;
    };
    let validator = Validator::find();
    let options = verify::Options {
        target: Options::default().target,
        ..verify::Options::default()
    };
    let (mut made, mut refused, mut wrong) = (0, 0, Vec::new());
    for file in files(&folder, ".spv") {
        let bytes = std::fs::read(&file).unwrap();
        let Ok(module) = Module::from_bytes(&bytes) else {
            continue;
        };
        let mut points = module.section(Section::EntryPoints);
        if !points.all(|p| p.word(0) == ExecutionModel::GLCompute.0) {
            continue;
        }
        let lacking = Lacking::of(&module, |c| !LACKED.contains(&c));
        if lacking == Lacking::default() {
            continue;
        }
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        match emulate(&module, lacking) {
            Err(faults) => {
                refused += 1;
                eprintln!("{name}: {}", faults[0]);
            }
            Ok(emulated) => {
                made += 1;
                let declared = emulated.section(Section::Capabilities);
                for capability in declared.map(|c| Capability(c.word(0))) {
                    if LACKED.contains(&capability) {
                        wrong.push(format!("{name}: {capability} is still declared"));
                    }
                }
                // Some need options for their layouts.
                if verify::module(&module, &options).is_err() {
                    continue;
                }
                if let Err(faults) = verify::module(&emulated, &options) {
                    wrong.push(format!("{name}: {}", faults[0]));
                }
                // Starting a process takes longer than the rest.
                if let Some(validator) = validator.as_ref().filter(|_| made % 4 == 0) {
                    let said = validator.check(&emulated.to_bytes(), "vulkan1.3");
                    wrong.extend(said.err().map(|text| format!("{name}: {text}")));
                }
            }
        }
    }
    eprintln!("{made} emulated, {refused} refused");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(made >= 123, "{made} emulated");
}
