//! Descriptor scalar replacement: an array of descriptors that is only indexed by constants becomes a variable for
//! each element that is used, with consecutive bindings. This serves consumers without arrays of descriptors. It
//! changes the interface of the module.
//!
//! Before:
//! ```text
//!      OpDecorate %buffers Binding 3
//! %p = OpAccessChain %ptr %buffers %two %zero
//! ```
//! After:
//! ```text
//!      OpDecorate %buffer2 Binding 5
//! %p = OpAccessChain %ptr %buffer2 %zero
//! ```

use crate::analyses::AnalysisCache;
use crate::gvn::is_chain;
use crate::pass::PassOutcome;
use crate::structure::change_interfaces;
use crate::values::ModuleValues;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Decoration, StorageClass};
use spirula_spirv::ir::{ErasedIds, Inst, InstRef, ModuleSection, SpirvModule};
use spirula_spirv::{Id, IdMap};

/// Most elements of an array.
const MOST: u32 = 256;

pub fn run_split_descriptors(
    module: &mut SpirvModule,
    _cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    let mut facts = ModuleValues::new(module);
    let mut arrays = gather_splittable_arrays(module, &facts);
    let mut erased = ErasedIds::new();
    let mut replaced: IdMap<Option<Id>> = IdMap::new(module.bound(), None);
    let mut parts: IdMap<Vec<Id>> = IdMap::new(module.bound(), Vec::new());
    arrays.retain(|a| !a.chains.is_empty());
    for array in &arrays {
        let made = split_array(module, &mut facts, array, &mut replaced, &mut erased);
        parts.set(array.id, made);
        module.erase_inst(array.inst, &mut erased);
    }
    if !arrays.is_empty() {
        rewrite_interfaces(module, &parts);
        let all: Vec<Inst> = module.all_insts().map(InstRef::handle).collect();
        for inst in all {
            facts
                .ids
                .rewrite_uses(module, inst, |id| replaced[id].unwrap_or(id));
        }
        module.sweep_annotations(&erased);
    }
    Ok(PassOutcome {
        statistics: vec![("arrays of descriptors split", arrays.len())],
    })
}

/// A descriptor array.
struct DescriptorArrayUse {
    id: Id,
    inst: Inst,
    element: Id,
    class: u32,
    /// The access chains into it with their first index.
    chains: Vec<(Inst, u32)>,
}

/// The arrays that can be split.
fn gather_splittable_arrays(module: &SpirvModule, facts: &ModuleValues) -> Vec<DescriptorArrayUse> {
    let classes = [
        StorageClass::UniformConstant,
        StorageClass::Uniform,
        StorageClass::StorageBuffer,
    ];
    let mut bound: IdMap<bool> = IdMap::new(0, false);
    for d in module.section_insts(ModuleSection::Annotations) {
        if d.op() == Op::Decorate && d.operand_word(1) == Decoration::Binding.0 {
            bound.set(d.id_operand(0), true);
        }
    }
    let mut arrays: Vec<DescriptorArrayUse> = Vec::new();
    let mut slot: IdMap<Option<u32>> = IdMap::new(module.bound(), None);
    for inst in module.section_insts(ModuleSection::Globals) {
        let (Some(id), Op::Variable) = (inst.result(), inst.op()) else {
            continue;
        };
        let class = inst.operand_word(0);
        let pointer = inst
            .result_type()
            .and_then(|ty| facts.def_of(module, ty, Op::TypePointer));
        let array = pointer.and_then(|p| facts.def_of(module, p.id_operand(1), Op::TypeArray));
        let length = array
            .and_then(|a| facts.scalar_constant_bits(module, a.id_operand(1)))
            .map(|v| v.bits);
        let short = length.is_some_and(|n| n <= u64::from(MOST));
        if let Some(array) = array.filter(|_| short && bound[id])
            && classes.iter().any(|c| c.0 == class)
        {
            slot.set(id, Some(arrays.len() as u32));
            arrays.push(DescriptorArrayUse {
                id,
                inst: inst.handle(),
                element: array.id_operand(0),
                class,
                chains: Vec::new(),
            });
        }
    }
    let mut kept = vec![true; arrays.len()];
    for inst in module.all_insts() {
        if inst.op().is_about_ids() || inst.op() == Op::EntryPoint {
            continue;
        }
        let begin = inst.words().len() - inst.operands().len();
        let chain = inst.op().is_plain_access_chain();
        facts.ids.visit_uses(inst, |at, id| {
            let Some(own) = slot[id].map(|own| own as usize) else {
                return;
            };
            let index = inst
                .get_id(1)
                .filter(|_| chain && is_chain(inst.op()) && at == begin);
            match index.and_then(|i| facts.scalar_constant_bits(module, i)) {
                Some(index) if index.bits < u64::from(MOST) => {
                    arrays[own].chains.push((inst.handle(), index.bits as u32));
                }
                _ => kept[own] = false,
            }
        });
    }
    let mut at = 0;
    arrays.retain(|_| {
        at += 1;
        kept[at - 1]
    });
    arrays
}

/// Creates and returns the variables of the elements of an array.
fn split_array(
    module: &mut SpirvModule,
    facts: &mut ModuleValues,
    array: &DescriptorArrayUse,
    replaced: &mut IdMap<Option<Id>>,
    erased: &mut ErasedIds,
) -> Vec<Id> {
    let pointer = [array.class, array.element.word()];
    let ty = facts.intern_type(module, Op::TypePointer, &pointer);
    let mut made: Vec<(u32, Id)> = Vec::new();
    for (chain, at) in &array.chains {
        let known = made.iter().find(|m| m.0 == *at).map(|m| m.1);
        let part = known.unwrap_or_else(|| {
            let id = module.fresh_id();
            let words = [ty.word(), id.word(), array.class];
            let variable = module.create_inst(Op::Variable, &words);
            // After its type, which may be new.
            module.append_inst(ModuleSection::Globals.list(), variable);
            copy_element_decorations(module, array.id, id, *at);
            made.push((*at, id));
            id
        });
        let inst = module.inst(*chain);
        if inst.operands().len() > 2 {
            let words = [&[part.word()], &inst.operands()[2..]].concat();
            let op = inst.op();
            facts.rewrite_inst(module, *chain, op, &words);
        } else if let Some(id) = inst.result() {
            replaced.set(id, Some(part));
            module.erase_inst(*chain, erased);
        }
    }
    made.into_iter().map(|m| m.1).collect()
}

/// Gives an element the decorations of its array, and a binding at its offset from that of the array.
fn copy_element_decorations(module: &mut SpirvModule, array: Id, part: Id, at: u32) {
    for section in [ModuleSection::Names, ModuleSection::Annotations] {
        let about: Vec<Inst> = module
            .section_insts(section)
            .filter(|i| i.get_id(0) == Some(array))
            .map(InstRef::handle)
            .collect();
        for inst in about {
            let i = module.inst(inst);
            let mut words = i.words().to_vec();
            words[0] = part.word();
            let binding = i.op() == Op::Decorate && i.operand_word(1) == Decoration::Binding.0;
            if binding && words.len() > 2 {
                words[2] += at;
            }
            let op = i.op();
            let copy = module.create_inst(op, &words);
            module.insert_after(inst, copy);
        }
    }
}

/// Replaces arrays by their elements in the interfaces of entry points.
fn rewrite_interfaces(module: &mut SpirvModule, parts: &IdMap<Vec<Id>>) {
    change_interfaces(module, |_, id, new| match &parts[id][..] {
        [] => new.push(id.word()),
        made => new.extend(made.iter().map(|id| id.word())),
    });
}
