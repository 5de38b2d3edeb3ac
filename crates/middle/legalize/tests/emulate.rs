//! Every shader of the corpus without small and 64-bit types: what is made is valid and declares none.

mod common;

use common::{VulkanModuleChecks, modules};
use spirula_legalize::emulate::{MissingNumericTypes, emulate_missing_types};
use spirula_spirv::grammar::enumerants::{Capability, ExecutionModel};
use spirula_spirv::ir::{ModuleSection, SpirvModule};
use spirula_spirv::verify;

const LACKED: &[Capability] = &[
    Capability::Int8,
    Capability::Int16,
    Capability::Int64,
    Capability::Float16,
    Capability::StorageBuffer8BitAccess,
    Capability::StorageBuffer16BitAccess,
];

fn lacking(module: &SpirvModule) -> MissingNumericTypes {
    MissingNumericTypes::from_module(module, |c| !LACKED.contains(&c))
}

fn is_meant(module: &SpirvModule) -> bool {
    let mut points = module.section_insts(ModuleSection::EntryPoints);
    points.all(|p| p.operand_word(0) == ExecutionModel::GLCompute.0)
        && lacking(module) != MissingNumericTypes::default()
}

#[test]
fn shaders_of_the_corpus() {
    let Some(modules) = modules(is_meant) else {
        return;
    };
    let mut checks = VulkanModuleChecks::new(4);
    for (name, module) in modules {
        match emulate_missing_types(&module, lacking(&module)) {
            Err(faults) => {
                checks.refused += 1;
                eprintln!("{name}: {}", faults[0]);
            }
            Ok(emulated) => {
                let declared = emulated.section_insts(ModuleSection::Capabilities);
                for capability in declared.map(|c| Capability(c.operand_word(0))) {
                    if LACKED.contains(&capability) {
                        let text = format!("{name}: {capability} is still declared");
                        checks.wrong.push(text);
                    }
                }
                if verify::verify_module(&module, &checks.options).is_ok() {
                    checks.check(&name, &emulated);
                } else {
                    // Some need options for their layouts.
                    checks.made += 1;
                }
            }
        }
    }
    checks.finish(123);
}
