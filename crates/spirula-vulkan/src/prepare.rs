//! What is done to a kernel module before it is lowered: one kernel or all are kept, calls put in
//! place, variables become values.

use crate::compile::run;
use spirula_source::{Diagnostic, Place};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{AddressingModel, Decoration};
use spirula_spirv::ir::{Inst, Module, Section};

/// What makes unoptimised kernels small.
const PASSES: &str = "simplify-cfg,mem2reg,simplify-cfg,dedup,adce,mem2reg,simplify-cfg,adce";

/// A copy of a module that is ready to be lowered.
///
/// # Errors
/// When the entry point is missing, the module has 32-bit addresses, or is malformed.
pub fn prepare(module: &Module, entry: Option<&str>) -> Result<Module, Diagnostic> {
    let mut module = module.clone();
    let model = module.section(Section::MemoryModel).next();
    if let Some(model) = model.filter(|m| m.word(0) != AddressingModel::Physical64.0) {
        return Err(crate::facts::refuse(model, "a module without 64-bit addresses"));
    }
    keep(&mut module, entry)?;
    run(&mut module, PASSES)?;
    Ok(module)
}

/// Drops other entry points, and what makes functions be kept for linking.
fn keep(module: &mut Module, entry: Option<&str>) -> Result<(), Diagnostic> {
    let points = module.section(Section::EntryPoints);
    let (kept, other): (Vec<_>, Vec<_>) =
        points.partition(|p| entry.is_none_or(|name| p.string(2) == name));
    let ids: Vec<u32> = kept.iter().map(|p| p.word(1)).collect();
    if ids.is_empty() {
        let text = match entry {
            Some(name) => format!("the module has no entry point {name}"),
            None => "the module has no entry points".to_owned(),
        };
        return Err(Diagnostic::error(Place::Unknown, text));
    }
    let mut gone: Vec<Inst> = other.iter().map(|p| p.handle()).collect();
    let modes = module.section(Section::ExecutionModes);
    gone.extend(modes.filter(|m| !ids.contains(&m.word(0))).map(|m| m.handle()));
    let annotations = module.section(Section::Annotations);
    let linkage = annotations.filter(|a| {
        a.op() == Op::Decorate && a.word(1) == Decoration::LinkageAttributes.0
    });
    gone.extend(linkage.map(|a| a.handle()));
    for inst in gone {
        module.remove(inst);
    }
    Ok(())
}
