//! Debug stripping: deletes names, lines, sources, and instructions of debug information sets. Strings stay if
//! other instructions use them (`NonSemantic.DebugPrintf`). `strip-lines` keeps the names.
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

use crate::analyses::AnalysisCache;
use crate::pass::PassOutcome;
use crate::strip::{erase_unused, erase_where};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{ErasedIds, InstRef, ModuleSection, SpirvModule};

pub fn run_strip_debug(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    strip_debug_insts(module, cache, true)
}

/// Keeps the names.
pub fn run_lines(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    strip_debug_insts(module, cache, false)
}

fn strip_debug_insts(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
    names: bool,
) -> Result<PassOutcome, SourceDiagnostic> {
    let ids = cache.id_words(module);
    let is_debug = |inst: InstRef<'_>| {
        inst.op().is_line()
            || (names && matches!(inst.op(), Op::Name | Op::MemberName))
            || matches!(
                inst.op(),
                Op::Source | Op::SourceContinued | Op::SourceExtension | Op::ModuleProcessed
            )
            || ids
                .ext_inst_set(inst)
                .is_some_and(|s| inst.op() == Op::ExtInst && s.is_debug_info())
    };
    let mut erased = ErasedIds::new();
    let mut deleted = erase_where(module, &mut erased, is_debug);
    let is_string = |i: InstRef<'_>| i.op() == Op::String;
    let is_set =
        |i: InstRef<'_>| i.op() == Op::ExtInstImport && i.string_operand(0).contains("DebugInfo");
    deleted += erase_unused(module, &ids, ModuleSection::Sources, &mut erased, is_string);
    deleted += erase_unused(module, &ids, ModuleSection::Imports, &mut erased, is_set);
    module.sweep_annotations(&erased);
    Ok(PassOutcome {
        statistics: vec![("instructions deleted", deleted)],
    })
}
