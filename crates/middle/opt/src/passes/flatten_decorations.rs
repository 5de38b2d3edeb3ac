//! Decoration group removal: the decorations of a group become decorations of each of its targets. Current
//! consumers and the other passes do not support groups.
//!
//! Before:
//! ```text
//!      OpDecorate %group RelaxedPrecision
//! %group = OpDecorationGroup
//!      OpGroupDecorate %group %a %b
//! ```
//! After:
//! ```text
//!      OpDecorate %a RelaxedPrecision
//!      OpDecorate %b RelaxedPrecision
//! ```

use crate::analyses::AnalysisCache;
use crate::pass::PassOutcome;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::IdMap;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{ErasedIds, Inst, InstRef, ModuleSection, SpirvModule};

pub fn run_flatten_decorations(
    module: &mut SpirvModule,
    _cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    let mut groups: IdMap<Option<Vec<Inst>>> = IdMap::new(0, None);
    let insts: Vec<Inst> = module
        .section_insts(ModuleSection::Annotations)
        .map(InstRef::handle)
        .collect();
    let mut found = 0;
    for inst in &insts {
        if let Some(id) = module.inst(*inst).result() {
            groups.set(id, Some(Vec::new()));
            found += 1;
        }
    }
    if found == 0 {
        return Ok(PassOutcome::default());
    }
    for inst in &insts {
        let i = module.inst(*inst);
        let said = matches!(i.op(), Op::Decorate | Op::DecorateId | Op::DecorateString);
        if said && let Some(list) = groups.get_mut(i.id_operand(0)) {
            list.push(*inst);
        }
    }
    let mut erased = ErasedIds::new();
    for inst in &insts {
        match module.inst(*inst).op() {
            Op::GroupDecorate => expand_group_decorate(module, &groups, *inst, 1),
            Op::GroupMemberDecorate => expand_group_decorate(module, &groups, *inst, 2),
            Op::DecorationGroup => {}
            _ => continue,
        }
        module.erase_inst(*inst, &mut erased);
    }
    module.sweep_annotations(&erased);
    Ok(PassOutcome {
        statistics: vec![("groups spread", found)],
    })
}

/// Applies the decorations of a group to each target. A target has the given number of words.
fn expand_group_decorate(
    module: &mut SpirvModule,
    groups: &IdMap<Option<Vec<Inst>>>,
    inst: Inst,
    step: usize,
) {
    let words = module.inst(inst).words().to_vec();
    let group = module.inst(inst).id_operand(0);
    for target in words[1..].chunks_exact(step) {
        for said in groups[group].iter().flatten() {
            let said = module.inst(*said);
            let op = match (said.op(), step) {
                (op, 1) => op,
                (Op::DecorateString, _) => Op::MemberDecorateString,
                (Op::DecorateId, _) => Op::MemberDecorateIdEXT,
                _ => Op::MemberDecorate,
            };
            let words = [target, &said.words()[1..]].concat();
            let copy = module.create_inst(op, &words);
            module.insert_before(inst, copy);
        }
    }
}
