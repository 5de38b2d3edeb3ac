//! Constructors: entry points with the mode `Initializer`, which run once before all others.

use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_spirv::grammar::enumerants::ExecutionMode;
use spirula_spirv::ir::{ModuleSection, SpirvModule};

/// Names of a module's constructors, in their order.
fn list_initialisers(module: &SpirvModule) -> Vec<String> {
    let modes = module.section_insts(ModuleSection::ExecutionModes);
    let first = modes.filter(|m| m.operands().get(1) == Some(&ExecutionMode::Initializer.0));
    let first: Vec<_> = first.map(|m| m.id_operand(0)).collect();
    if first.is_empty() {
        return Vec::new();
    }
    let points = module.section_insts(ModuleSection::EntryPoints);
    let points = points.filter(|point| first.contains(&point.id_operand(1)));
    points.map(|point| point.string_operand(2)).collect()
}

/// A warning that names the constructors of a module, for devices that do not run them.
pub fn warn_of_initialisers(module: &SpirvModule) -> Option<SourceDiagnostic> {
    let names = list_initialisers(module);
    let message = format!(
        "constructors do not run before the kernels there: {}",
        names.join(", ")
    );
    (!names.is_empty()).then(|| {
        SourceDiagnostic::warning(SourceLocation::Unknown, message)
            .with_hint("the CPU device runs constructors")
    })
}
