//! Deletes what only people and debuggers read: names, lines, sources, and instructions of debug
//! information sets. Strings stay where other instructions use them (`NonSemantic.DebugPrintf`).
//!
//! Before:
//! ```text
//!      OpName %main "main"
//!      OpLine %file 3 7
//! %s = OpIAdd %int %a %b
//! ```
//! After:
//! ```text
//! %s = OpIAdd %int %a %b
//! ```

use crate::analyses::Cache;
use crate::pass::Outcome;
use spirula_source::Diagnostic;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Erased, IdWords, Inst, InstRef, Module, Section};
use spirula_spirv::{Id, IdMap};

pub fn run(module: &mut Module, cache: &mut Cache) -> Result<Outcome, Diagnostic> {
    let ids = cache.ids(module);
    let is_debug = |inst: InstRef<'_>| {
        inst.op().is_line()
            || matches!(
                inst.op(),
                Op::Name
                    | Op::MemberName
                    | Op::Source
                    | Op::SourceContinued
                    | Op::SourceExtension
                    | Op::ModuleProcessed
            )
            || ids
                .set(inst)
                .is_some_and(|s| inst.op() == Op::ExtInst && s.is_debug_info())
    };
    let found: Vec<Inst> = module
        .all_insts()
        .filter(|i| is_debug(*i))
        .map(InstRef::handle)
        .collect();
    let mut erased = Erased::new();
    let mut deleted = found.len();
    for inst in found {
        module.erase(inst, &mut erased);
    }
    for section in [Section::Sources, Section::Imports] {
        deleted += unused(module, &ids, section, &mut erased);
    }
    module.sweep(&erased);
    Ok(Outcome {
        statistics: vec![("instructions deleted", deleted)],
    })
}

/// Deletes the strings, or the imports of debug information, that nothing uses any more.
fn unused(module: &mut Module, ids: &IdWords, section: Section, erased: &mut Erased) -> usize {
    let mut used: IdMap<bool> = IdMap::new(module.bound(), false);
    for inst in module.all_insts() {
        ids.visit(inst, |_, id: Id| used.set(id, true));
    }
    let is_free = |i: &InstRef<'_>| {
        let removable = match i.op() {
            Op::String => true,
            Op::ExtInstImport => i.string(0).contains("DebugInfo"),
            _ => false,
        };
        removable && i.result().is_some_and(|id| !used[id])
    };
    let free: Vec<Inst> = module
        .section(section)
        .filter(is_free)
        .map(InstRef::handle)
        .collect();
    for inst in &free {
        module.erase(*inst, erased);
    }
    free.len()
}
