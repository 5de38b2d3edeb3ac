//! Deduplication: merges equal types and constants. The first of several equal ones stays. Types and constants with
//! decorations, on themselves or on their members, are equal to nothing. Specialisation constants are never merged.
//! Composites of zeros become `OpConstantNull`, which is shorter.
//!
//! Before: `%1 = OpConstant %uint 4` and `%2 = OpConstant %uint 4`. After: the first, used twice.

use crate::analyses::AnalysisCache;
use crate::pass::PassOutcome;
use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::analysis::IdDefinitions;
use spirula_spirv::grammar::{InstructionClass, Op, ResultForm};
use spirula_spirv::ir::{ErasedIds, Inst, InstRef, ModuleSection, SpirvModule};
use spirula_spirv::{Id, IdMap};

pub fn run_dedup(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    let ids = cache.id_words(module);
    let mut decorated = IdMap::new(module.bound(), false);
    for inst in module.section_insts(ModuleSection::Annotations) {
        ids.visit_uses(inst, |_, id| decorated.set(id, true));
    }
    // A pointer with a forward declaration is used before its definition.
    for inst in module
        .section_insts(ModuleSection::Globals)
        .filter(|i| i.op() == Op::TypeForwardPointer)
    {
        decorated.set(inst.id_operand(0), true);
    }
    let mut new: IdMap<Option<Id>> = IdMap::new(module.bound(), None);
    let mut known: FxHashMap<Box<[u32]>, Id> = FxHashMap::default();
    // Constants all bits of which are zero.
    let mut zeros: IdMap<bool> = IdMap::new(0, false);
    let mut nulls = 0;
    let mut equal = Vec::new();
    let globals: Vec<Inst> = module
        .section_insts(ModuleSection::Globals)
        .map(InstRef::handle)
        .collect();
    for inst in globals {
        if !equal.is_empty() {
            ids.rewrite_uses(module, inst, |id| new[id].unwrap_or(id));
        }
        let i = module.inst(inst);
        let Some(id) = i
            .result()
            .filter(|id| can_be_joined(i.op()) && !decorated[*id])
        else {
            continue;
        };
        if is_zero(i) {
            zeros.set(id, true);
        }
        let all = i.op() == Op::ConstantComposite && i.id_operands(0).all(|p| zeros[p]);
        if all && let Some(ty) = i.result_type() {
            let words = [ty, id].map(Id::word);
            module.replace_inst(inst, Op::ConstantNull, &words);
            zeros.set(id, true);
            nulls += 1;
        }
        let i = module.inst(inst);
        let first = *known.entry(inst_key(i)).or_insert(id);
        if first != id {
            new.set(id, Some(first));
            equal.push(inst);
        }
    }
    let mut erased = ErasedIds::new();
    for inst in &equal {
        module.erase_inst(*inst, &mut erased);
    }
    if !equal.is_empty() {
        module.sweep_annotations(&erased);
        let all: Vec<Inst> = module.all_insts().map(InstRef::handle).collect();
        for inst in &all {
            ids.rewrite_uses(module, *inst, |id| new[id].unwrap_or(id));
        }
        replace_redundant_copies(module, &all);
    }
    Ok(PassOutcome {
        statistics: vec![
            ("types and constants joined", equal.len()),
            ("composites of zeros made null", nulls),
        ],
    })
}

/// Replaces copies between types that were merged; `OpCopyLogical` requires two types.
fn replace_redundant_copies(module: &mut SpirvModule, all: &[Inst]) {
    let is_logical = |i: &Inst| module.inst(*i).op() == Op::CopyLogical;
    let copies: Vec<Inst> = all.iter().copied().filter(is_logical).collect();
    if copies.is_empty() {
        return;
    }
    let definitions = IdDefinitions::from_module(module);
    for inst in copies {
        let i = module.inst(inst);
        let made = definitions.get(module, i.id_operand(0));
        if made.is_some_and(|made| made.result_type() == i.result_type()) {
            let words = i.words().to_vec();
            module.replace_inst(inst, Op::CopyObject, &words);
        }
    }
}

fn is_zero(inst: InstRef<'_>) -> bool {
    match inst.op() {
        Op::ConstantNull | Op::ConstantFalse => true,
        Op::Constant => inst.operands().iter().all(|w| *w == 0),
        _ => false,
    }
}

fn can_be_joined(op: Op) -> bool {
    let Some(info) = op.info() else { return false };
    match info.class {
        InstructionClass::TypeDeclaration => info.result == ResultForm::Untyped,
        InstructionClass::ConstantCreation => !info.name.starts_with("OpSpec"),
        _ => op == Op::Undef,
    }
}

/// The opcode and all words except the result.
fn inst_key(inst: InstRef<'_>) -> Box<[u32]> {
    let ty = inst.result_type().map_or(0, Id::word);
    let head = [u32::from(inst.op().0), ty];
    head.into_iter()
        .chain(inst.operands().iter().copied())
        .collect()
}
