//! Dead member elimination: structures that are only reached through addresses lose the members that nothing
//! accesses. The remaining members keep their offsets, so that the layout of buffers does not change (cf. Debray et
//! al., "Compiler Techniques for Code Compaction", 2000, on dead data).
//!
//! A structure stays whole if a value of it exists: loaded, stored, constructed or constant. It also stays whole if a
//! variable of it is no buffer, since stages must agree on their interface. The same holds if its address is used other
//! than by access chains. Push constants keep their last member, and with it their size. Modules that are linked keep
//! everything.
//!
//! Before:
//! ```text
//!      OpMemberDecorate %s 0 Offset 0
//!      OpMemberDecorate %s 1 Offset 16
//! %s = OpTypeStruct %v4 %float
//! %p = OpAccessChain %floatp %buffer %int_1
//! ```
//! After:
//! ```text
//!      OpMemberDecorate %s 0 Offset 16
//! %s = OpTypeStruct %float
//! %p = OpAccessChain %floatp %buffer %int_0
//! ```

use crate::analyses::AnalysisCache;
use crate::pass::PassOutcome;
use crate::pool::InternPool;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::analysis::IdDefinitions;
use spirula_spirv::grammar::enumerants::{Capability, StorageClass};
use spirula_spirv::grammar::{InstructionClass, Op};
use spirula_spirv::ir::{IdWords, Inst, InstRef, ModuleSection, SpirvModule};
use spirula_spirv::{Id, IdMap};
use std::rc::Rc;

pub fn run_dead_members(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    let mut deleted = 0;
    if !is_excluded(module) {
        let definitions = cache.definitions(module);
        let ids = cache.id_words(module);
        let mut members = LiveMembers::new(module, &definitions, &ids);
        members.scan_globals(module);
        let funcs = module.functions().to_vec();
        for func in &funcs {
            for inst in module.function_insts(*func) {
                members.mark_inst_members(module, inst);
            }
        }
        deleted = members.delete_dead_members(module);
    }
    Ok(PassOutcome {
        statistics: vec![("members deleted", deleted)],
    })
}

/// Whether the types of the module are visible to others, or described in ways that cannot be followed.
fn is_excluded(module: &SpirvModule) -> bool {
    let excluded = [Capability::Linkage.0, Capability::Kernel.0];
    let mut capabilities = module.section_insts(ModuleSection::Capabilities);
    capabilities.any(|c| c.op() == Op::Capability && excluded.contains(&c.operand_word(0)))
        || module
            .section_insts(ModuleSection::Annotations)
            .any(|d| matches!(d.op(), Op::GroupMemberDecorate | Op::MemberDecorateIdEXT))
}

struct LiveMembers<'a> {
    definitions: Rc<IdDefinitions>,
    ids: &'a IdWords,
    /// Types that stay whole.
    whole: IdMap<bool>,
    /// The accessed members of each structure.
    reached: IdMap<Vec<bool>>,
    /// Access chains and array lengths, whose indices change.
    chains: Vec<Inst>,
}

impl<'a> LiveMembers<'a> {
    fn new(module: &SpirvModule, definitions: &Rc<IdDefinitions>, ids: &'a IdWords) -> Self {
        let mut members = LiveMembers {
            definitions: definitions.clone(),
            ids,
            whole: IdMap::new(module.bound(), false),
            reached: IdMap::new(module.bound(), Vec::new()),
            chains: Vec::new(),
        };
        for ty in module.section_insts(ModuleSection::Globals) {
            if let Some(id) = ty.result().filter(|_| ty.op() == Op::TypeStruct) {
                members.reached.set(id, vec![false; ty.operands().len()]);
            }
        }
        members
    }

    fn scan_globals(&mut self, module: &SpirvModule) {
        for inst in module.section_insts(ModuleSection::Globals) {
            match inst.op() {
                Op::Variable => match StorageClass(inst.operand_word(0)) {
                    StorageClass::Uniform | StorageClass::StorageBuffer => {}
                    StorageClass::PushConstant => self.keep_size(module, inst.result_type()),
                    _ => self.keep_pointee(module, inst.result_type()),
                },
                Op::TypePointer => {
                    // Memory that is accessed by addresses is shared with others.
                    if inst.operand_word(0) == StorageClass::PhysicalStorageBuffer.0 {
                        self.keep_all_members(module, inst.id_operand(1));
                    }
                }
                op if op
                    .info()
                    .is_some_and(|i| i.class == InstructionClass::TypeDeclaration) => {}
                _ => self.keep_value(module, inst),
            }
        }
    }

    /// Marks the type of an existing value as whole.
    fn keep_value(&mut self, module: &SpirvModule, inst: InstRef<'_>) {
        let Some(ty) = inst.result_type() else { return };
        match self.definitions.defining_op(module, ty) {
            Some(Op::TypePointer | Op::TypeVoid | Op::TypeFunction) => {}
            _ => self.keep_all_members(module, ty),
        }
    }

    fn keep_pointee(&mut self, module: &SpirvModule, pointer: Option<Id>) {
        let pointer = pointer.and_then(|p| self.definitions.get(module, p));
        if let Some(ty) = pointer.filter(|p| p.op() == Op::TypePointer) {
            self.keep_all_members(module, ty.id_operand(1));
        }
    }

    /// Keeps the last member of a structure, which determines its size.
    fn keep_size(&mut self, module: &SpirvModule, pointer: Option<Id>) {
        let pointer = pointer.and_then(|p| self.definitions.get(module, p));
        let ty = pointer
            .filter(|p| p.op() == Op::TypePointer)
            .map(|p| p.id_operand(1));
        let Some(inst) = ty.and_then(|ty| self.definitions.get(module, ty)) else {
            return;
        };
        let last = inst.operands().len().saturating_sub(1);
        match (inst.op(), inst.result(), inst.get_id(last)) {
            (Op::TypeStruct, Some(id), Some(member)) => {
                self.mark_member(id, last as u32);
                self.keep_all_members(module, member);
            }
            _ => self.keep_pointee(module, pointer.and_then(InstRef::result)),
        }
    }

    fn keep_all_members(&mut self, module: &SpirvModule, ty: Id) {
        let mut work = vec![ty];
        while let Some(ty) = work.pop() {
            let Some(inst) = self.definitions.get(module, ty) else {
                continue;
            };
            let parts = match inst.op() {
                Op::TypeArray | Op::TypeRuntimeArray => 1,
                Op::TypeStruct => inst.operands().len(),
                _ => continue,
            };
            if !std::mem::replace(self.whole.get_mut(ty), true) {
                work.extend(inst.id_operands(0).take(parts));
            }
        }
    }

    fn mark_inst_members(&mut self, module: &SpirvModule, inst: InstRef<'_>) {
        match inst.op() {
            Op::Variable => self.keep_pointee(module, inst.result_type()),
            op if op.is_plain_access_chain() => self.mark_chain_members(module, inst),
            Op::ArrayLength => {
                let base = self.type_of(module, inst.id_operand(0));
                let base = base.and_then(|b| self.definitions.get(module, b));
                if let Some(ty) = base
                    .filter(|b| b.op() == Op::TypePointer)
                    .map(|b| b.id_operand(1))
                {
                    self.mark_member(ty, inst.operand_word(1));
                    self.chains.push(inst.handle());
                }
            }
            Op::Load => self.keep_value(module, inst),
            Op::Store | Op::FunctionCall => {
                self.keep_value(module, inst);
            }
            Op::ExtInst
                if self
                    .ids
                    .ext_inst_set(inst)
                    .is_some_and(|s| s.is_debug_info()) => {}
            op if op.is_line() => {}
            _ => {
                self.keep_value(module, inst);
                let mut used = Vec::new();
                self.ids.visit_uses(inst, |_, id| used.push(id));
                for id in used {
                    let ty = self.type_of(module, id);
                    self.keep_pointee(module, ty);
                }
            }
        }
    }

    fn type_of(&self, module: &SpirvModule, id: Id) -> Option<Id> {
        self.definitions.get(module, id)?.result_type()
    }

    fn mark_member(&mut self, ty: Id, member: u32) {
        if let Some(reached) = self.reached.get_mut(ty).get_mut(member as usize) {
            *reached = true;
        }
    }

    /// Marks the members that an access chain passes.
    fn mark_chain_members(&mut self, module: &SpirvModule, chain: InstRef<'_>) {
        self.chains.push(chain.handle());
        let mut passed = Vec::new();
        visit_chain_members(module, &self.definitions, chain, |_, ty, member| {
            passed.push((ty, member));
        });
        for (ty, member) in passed {
            self.mark_member(ty, member);
        }
    }

    /// Deletes the unmarked members. Returns their number.
    fn delete_dead_members(&mut self, module: &mut SpirvModule) -> usize {
        let mut new: IdMap<Option<Rc<[u32]>>> = IdMap::new(0, None);
        let mut deleted = 0;
        let structs: Vec<Inst> = module
            .section_insts(ModuleSection::Globals)
            .filter(|i| i.op() == Op::TypeStruct)
            .map(InstRef::handle)
            .collect();
        let mut changed = Vec::new();
        for inst in structs {
            let Some(id) = module.inst(inst).result() else {
                continue;
            };
            let reached = &self.reached[id];
            if self.whole[id] || reached.iter().all(|r| *r) || !reached.contains(&true) {
                continue;
            }
            let mut next = 0;
            let numbers = reached.iter().map(|r| {
                let own = if *r { next } else { GONE };
                next += u32::from(*r);
                own
            });
            new.set(id, Some(numbers.collect()));
            deleted += reached.len() - next as usize;
            changed.push((inst, id));
        }
        if deleted == 0 {
            return 0;
        }
        // Access chains are walked by the old types.
        self.renumber_chains(module, &new);
        for (inst, id) in changed {
            let Some(numbers) = &new[id] else { continue };
            let kept = module.inst(inst).operands().iter().zip(numbers.iter());
            let kept = kept.filter(|(_, n)| **n != GONE).map(|(w, _)| *w);
            let words: Vec<u32> = std::iter::once(id.word()).chain(kept).collect();
            module.replace_words(inst, &words);
        }
        remap_member_annotations(module, &new);
        deleted
    }

    fn renumber_chains(&self, module: &mut SpirvModule, new: &IdMap<Option<Rc<[u32]>>>) {
        let mut pool = InternPool::new(module);
        for chain in &self.chains {
            let inst = module.inst(*chain);
            if inst.op() == Op::ArrayLength {
                let base = self.type_of(module, inst.id_operand(0));
                let pointee = base
                    .and_then(|b| self.definitions.get(module, b))
                    .map(|b| b.id_operand(1));
                let number = pointee.and_then(|ty| new[ty].as_ref());
                if let Some(number) =
                    number.and_then(|n| n.get(inst.operand_word(1) as usize).copied())
                {
                    module.words_mut(*chain)[3] = number;
                }
                continue;
            }
            let mut changes = Vec::new();
            visit_chain_members(module, &self.definitions, inst, |at, ty, member| {
                let number = new[ty]
                    .as_ref()
                    .and_then(|n| n.get(member as usize).copied());
                changes.extend(number.filter(|n| *n != member).map(|n| (at, n)));
            });
            for (at, number) in changes {
                let old = module.inst(*chain).id_operand(at);
                let ty = self.type_of(module, old);
                if let Some(ty) = ty {
                    let wide = self
                        .definitions
                        .get(module, old)
                        .map(|c| c.operands().len());
                    let words = &[number, 0][..wide.unwrap_or(1).clamp(1, 2)];
                    let constant = pool.intern_constant(module, Op::Constant, ty, words);
                    module.words_mut(*chain)[2 + at] = constant.word();
                }
            }
        }
    }
}

/// A deleted member.
const GONE: u32 = u32::MAX;

/// Visits the structures that an access chain enters: position of the index among the operands, type and member.
fn visit_chain_members(
    module: &SpirvModule,
    definitions: &IdDefinitions,
    chain: InstRef<'_>,
    mut visit: impl FnMut(usize, Id, u32),
) {
    let base = definitions.get(module, chain.id_operand(0));
    let pointer = base.and_then(InstRef::result_type);
    let pointer = pointer.and_then(|p| definitions.get(module, p));
    let Some(pointer) = pointer.filter(|p| p.op() == Op::TypePointer) else {
        return;
    };
    let mut ty = pointer.id_operand(1);
    for (at, index) in chain.id_operands(0).enumerate().skip(1) {
        let Some(inst) = definitions.get(module, ty) else {
            return;
        };
        match inst.op() {
            Op::TypeStruct => {
                let Some(member) = definitions.constant_value(module, index) else {
                    return;
                };
                visit(at, ty, member as u32);
                let Some(next) = inst.get_id(member as usize) else {
                    return;
                };
                ty = next;
            }
            _ => match inst.get_id(0) {
                Some(next) => ty = next,
                None => return,
            },
        }
    }
}

/// Renumbers the members in names and decorations.
fn remap_member_annotations(module: &mut SpirvModule, new: &IdMap<Option<Rc<[u32]>>>) {
    for section in [ModuleSection::Names, ModuleSection::Annotations] {
        let insts: Vec<Inst> = module.section_insts(section).map(InstRef::handle).collect();
        for inst in insts {
            let i = module.inst(inst);
            let of_member = matches!(
                i.op(),
                Op::MemberName | Op::MemberDecorate | Op::MemberDecorateString
            );
            let target = i.get_id(0).filter(|_| of_member);
            let Some(numbers) = target.and_then(|t| new[t].as_ref()) else {
                continue;
            };
            match numbers.get(i.operand_word(1) as usize) {
                Some(&GONE) | None => module.remove_inst(inst),
                Some(&number) => module.words_mut(inst)[1] = number,
            }
        }
    }
}
