//! Write-only removal: buffers that are decorated as not readable become readable. Some consumers, naga among them,
//! accept no others. Results do not change.
//!
//! Before:
//! ```text
//! OpDecorate %buffer NonReadable
//! OpMemberDecorate %block 0 NonReadable
//! ```
//! After: nothing. Images keep the decoration, which says how they are bound.

use crate::analyses::AnalysisCache;
use crate::pass::PassOutcome;
use crate::values::ModuleValues;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Decoration;
use spirula_spirv::ir::{Inst, InstRef, ModuleSection, SpirvModule};

pub fn run_readable_buffers(
    module: &mut SpirvModule,
    _cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    let facts = ModuleValues::new(module);
    let refuses = |said: &InstRef<'_>| match said.op() {
        Op::MemberDecorate => said.operand_word(2) == Decoration::NonReadable.0,
        Op::Decorate => {
            said.operand_word(1) == Decoration::NonReadable.0
                && !is_image(module, &facts, said.id_operand(0))
        }
        _ => false,
    };
    let said = module
        .section_insts(ModuleSection::Annotations)
        .filter(refuses);
    let said: Vec<Inst> = said.map(InstRef::handle).collect();
    for decoration in &said {
        module.remove_inst(*decoration);
    }
    Ok(PassOutcome {
        statistics: vec![("decorations deleted", said.len())],
    })
}

/// Whether a variable is an image or an array of images.
fn is_image(module: &SpirvModule, facts: &ModuleValues, variable: Id) -> bool {
    let mut ty = facts.type_of(module, variable);
    while let Some(def) = ty.and_then(|ty| facts.definition(module, ty)) {
        ty = match def.op() {
            Op::TypePointer => Some(def.id_operand(1)),
            Op::TypeArray | Op::TypeRuntimeArray => Some(def.id_operand(0)),
            op => return op == Op::TypeImage,
        };
    }
    false
}
