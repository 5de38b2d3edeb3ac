//! Reflection stripping: deletes instructions that only reflection tools read. These are the instructions of
//! non-semantic sets other than debug information, and decorations that state the intent of a variable
//! (`SPV_GOOGLE_hlsl_functionality1`, `SPV_GOOGLE_user_type`), with their extensions.
//!
//! Before: `OpDecorateString %x UserSemantic "POSITION"`. After: it is gone.

use crate::analyses::AnalysisCache;
use crate::pass::PassOutcome;
use crate::strip::{erase_unused, erase_where};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Decoration;
use spirula_spirv::ir::{ErasedIds, Inst, InstRef, ModuleSection, SpirvModule};

/// Decorations without a meaning for devices.
const MEANINGS: [Decoration; 3] = [
    Decoration::UserSemantic,
    Decoration::UserTypeGOOGLE,
    Decoration::CounterBuffer,
];

/// Extensions that only those decorations require.
const EXTENSIONS: [&str; 4] = [
    "SPV_GOOGLE_hlsl_functionality1",
    "SPV_GOOGLE_user_type",
    "SPV_GOOGLE_decorate_string",
    "SPV_KHR_non_semantic_info",
];

pub fn run_strip_reflection(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    let ids = cache.id_words(module);
    let sets: Vec<Id> = module
        .section_insts(ModuleSection::Imports)
        .filter(|i| i.op() == Op::ExtInstImport && is_reflection_set(&i.string_operand(0)))
        .filter_map(InstRef::result)
        .collect();
    let mut erased = ErasedIds::new();
    let mut deleted = erase_where(module, &mut erased, |i| is_reflection(&sets, i));
    let is_set = |i: InstRef<'_>| {
        i.op() == Op::ExtInstImport && i.string_operand(0).starts_with("NonSemantic.")
    };
    deleted += erase_unused(module, &ids, ModuleSection::Imports, &mut erased, is_set);
    deleted += delete_unneeded_extensions(module);
    module.sweep_annotations(&erased);
    Ok(PassOutcome {
        statistics: vec![("instructions deleted", deleted)],
    })
}

/// Whether an instruction set has a meaning neither for devices nor for debuggers.
fn is_reflection_set(name: &str) -> bool {
    name.starts_with("NonSemantic.") && !name.contains("DebugInfo")
}

fn is_reflection(sets: &[Id], inst: InstRef<'_>) -> bool {
    let of = |at: usize| {
        let decoration = inst.operands().get(at).copied();
        MEANINGS.iter().any(|m| Some(m.0) == decoration)
    };
    match inst.op() {
        Op::Decorate | Op::DecorateId | Op::DecorateString => of(1),
        Op::MemberDecorate | Op::MemberDecorateString => of(2),
        Op::ExtInst | Op::ExtInstWithForwardRefsKHR => {
            inst.get_id(0).is_some_and(|set| sets.contains(&set))
        }
        _ => false,
    }
}

/// Deletes the extensions that are no longer required.
fn delete_unneeded_extensions(module: &mut SpirvModule) -> usize {
    let strings = module
        .section_insts(ModuleSection::Annotations)
        .any(|d| matches!(d.op(), Op::DecorateString | Op::MemberDecorateString));
    let sets = module
        .section_insts(ModuleSection::Imports)
        .any(|i| i.string_operand(0).starts_with("NonSemantic."));
    let idle: Vec<Inst> = module
        .section_insts(ModuleSection::Extensions)
        .filter(|e| {
            let name = e.string_operand(0);
            let needed = match name.as_str() {
                "SPV_KHR_non_semantic_info" => sets,
                _ => strings,
            };
            EXTENSIONS.contains(&name.as_str()) && !needed
        })
        .map(InstRef::handle)
        .collect();
    for extension in &idle {
        module.remove_inst(*extension);
    }
    idle.len()
}
