//! Dead component elimination: only those components of a vector are computed that are needed. A backward analysis by
//! bit vectors finds them through shuffles, constructions, insertions, phis and componentwise operations. See Muchnick,
//! "Advanced Compiler Design and Implementation", 1997, chapter 8.
//!
//! Unneeded operands of a construction become undefined, and unneeded insertions are deleted. Their operands are
//! left to `adce`.
//!
//! Before:
//! ```text
//! %v = OpCompositeConstruct %v2 %x %y
//! %w = OpFMul %v2 %v %v
//! %z = OpCompositeExtract %float %w 0
//! ```
//! After: `OpUndef` in the place of `%y`.

use crate::analyses::AnalysisCache;
use crate::pass::PassOutcome;
use crate::values::{ModuleValues, first_value};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{ErasedIds, Func, Inst, InstRef, SpirvModule};
use spirula_spirv::{Id, IdMap};

pub fn run_dead_components(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    let made = |i: InstRef<'_>| matches!(i.op(), Op::CompositeConstruct | Op::CompositeInsert);
    if !module.all_insts().any(made) {
        return Ok(PassOutcome::default());
    }
    let mut facts = cache.take_facts(module);
    let mut need = DemandedComponents {
        components: IdMap::new(module.bound(), 0),
        work: Vec::new(),
    };
    let mut erased = ErasedIds::new();
    let mut replaced: IdMap<Option<Id>> = IdMap::new(module.bound(), None);
    let (mut freed, mut dropped) = (0, 0);
    for func in module.functions().to_vec() {
        need.compute_demand(module, &facts, func);
        let insts: Vec<Inst> = module.function_insts(func).map(InstRef::handle).collect();
        let before = dropped;
        for inst in &insts {
            match module.inst(*inst).op() {
                Op::CompositeConstruct => {
                    freed += undefine_unneeded(module, &mut facts, &need, *inst)
                }
                Op::CompositeInsert => {
                    if let Some((id, into)) = find_forwarded_vector(module, &facts, &need, *inst) {
                        replaced.set(id, Some(into));
                        module.erase_inst(*inst, &mut erased);
                        dropped += 1;
                    }
                }
                _ => {}
            }
        }
        if dropped > before {
            for inst in insts {
                facts.ids.rewrite_uses(module, inst, |mut id| {
                    while let Some(next) = replaced[id] {
                        id = next;
                    }
                    id
                });
            }
        }
    }
    module.sweep_annotations(&erased);
    cache.put_facts(facts);
    Ok(PassOutcome {
        statistics: vec![("components freed", freed), ("insertions dropped", dropped)],
    })
}

const ALL: u32 = u32::MAX;

/// The bit of a component; 0 for an index that no vector has.
fn component_bit(component: u32) -> u32 {
    1u32.checked_shl(component).unwrap_or(0)
}

/// The needed components of each value, as bits.
struct DemandedComponents {
    components: IdMap<u32>,
    work: Vec<Id>,
}

impl DemandedComponents {
    fn compute_demand(&mut self, module: &SpirvModule, facts: &ModuleValues, func: Func) {
        for inst in module.function_insts(func) {
            if !is_followed(module, facts, inst) {
                facts.ids.visit_uses(inst, |_, id| self.add_demand(id, ALL));
            }
        }
        while let Some(id) = self.work.pop() {
            if let Some(inst) = facts.definition(module, id) {
                self.propagate_demand(module, facts, inst, self.components[id]);
            }
        }
    }

    fn add_demand(&mut self, id: Id, components: u32) {
        let known = self.components.get_mut(id);
        if *known | components != *known {
            *known |= components;
            self.work.push(id);
        }
    }

    /// Propagates the needed components of an instruction's result to its operands.
    fn propagate_demand(
        &mut self,
        module: &SpirvModule,
        facts: &ModuleValues,
        inst: InstRef<'_>,
        needed: u32,
    ) {
        if !is_followed(module, facts, inst) {
            return;
        }
        let op = inst.op();
        match op {
            Op::CompositeExtract => {
                self.add_demand(inst.id_operand(0), component_bit(inst.operand_word(1)))
            }
            Op::CompositeInsert => {
                let bit = component_bit(inst.operand_word(2));
                if needed & bit != 0 {
                    self.add_demand(inst.id_operand(0), ALL);
                }
                self.add_demand(inst.id_operand(1), needed & !bit);
            }
            Op::CompositeConstruct => {
                for (at, part) in inst.id_operands(0).enumerate() {
                    if needed & component_bit(at as u32) != 0 {
                        self.add_demand(part, ALL);
                    }
                }
            }
            Op::VectorShuffle => {
                let first = vector_width(module, facts, inst.id_operand(0)).unwrap_or(0);
                for (at, from) in inst.operands()[2..].iter().enumerate() {
                    if needed & component_bit(at as u32) == 0 {
                        continue;
                    }
                    match from.checked_sub(first) {
                        None => self.add_demand(inst.id_operand(0), component_bit(*from)),
                        Some(from) => self.add_demand(inst.id_operand(1), component_bit(from)),
                    }
                }
            }
            Op::Phi => {
                for pair in inst.operands().chunks_exact(2) {
                    if let Some(value) = Id::new(pair[0]) {
                        self.add_demand(value, needed);
                    }
                }
            }
            _ => {
                for id in inst.id_operands(first_value(op)) {
                    let vector = vector_width(module, facts, id).is_some();
                    self.add_demand(id, if vector { needed } else { ALL });
                }
            }
        }
    }
}

/// The components of a vector.
fn vector_width(module: &SpirvModule, facts: &ModuleValues, id: Id) -> Option<u32> {
    let ty = facts.type_of(module, id)?;
    let vector = facts.def_of(module, ty, Op::TypeVector)?;
    Some(vector.operand_word(1)).filter(|n| *n <= 16)
}

/// Whether the needed operand components depend on the needed result components. All other instructions need all
/// components.
fn is_followed(module: &SpirvModule, facts: &ModuleValues, inst: InstRef<'_>) -> bool {
    let Some(id) = inst.result() else {
        return false;
    };
    let own = vector_width(module, facts, id);
    match inst.op() {
        Op::CompositeExtract => {
            inst.operands().len() == 2 && vector_width(module, facts, inst.id_operand(0)).is_some()
        }
        Op::CompositeInsert => inst.operands().len() == 3 && own.is_some(),
        Op::CompositeConstruct => own.is_some_and(|n| n as usize == inst.operands().len()),
        Op::VectorShuffle | Op::Phi => own.is_some(),
        Op::ExtInst => own.is_some() && facts.is_foldable(inst),
        // The operands of an instruction that is undefined for some operands must not change.
        op => {
            let pure = op.effects().is_pure() && op != Op::Bitcast;
            own.is_some() && facts.is_foldable(inst) && pure
        }
    }
}

/// Makes unneeded operands of constructions undefined. Returns their number.
fn undefine_unneeded(
    module: &mut SpirvModule,
    facts: &mut ModuleValues,
    need: &DemandedComponents,
    inst: Inst,
) -> usize {
    let i = module.inst(inst);
    let needed = i.result().map_or(ALL, |id| need.components[id]);
    if needed == ALL || !is_followed(module, facts, i) {
        return 0;
    }
    let parts: Vec<Id> = i.id_operands(0).collect();
    let mut freed = 0;
    for (at, part) in parts.into_iter().enumerate() {
        let idle = needed & component_bit(at as u32) == 0;
        let cheap = facts.is_constant(module, part) || facts.defining_op(module, part) == Op::Undef;
        let ty = facts.type_of(module, part).filter(|_| idle && !cheap);
        if let Some(ty) = ty {
            let undefined = facts.intern_constant(module, Op::Undef, ty, &[]);
            let first = module.inst(inst).words().len() - module.inst(inst).operands().len();
            module.words_mut(inst)[first + at] = undefined.word();
            freed += 1;
        }
    }
    freed
}

/// The vector that an insertion leaves unchanged in the needed components.
fn find_forwarded_vector(
    module: &SpirvModule,
    facts: &ModuleValues,
    need: &DemandedComponents,
    inst: Inst,
) -> Option<(Id, Id)> {
    let i = module.inst(inst);
    let id = i.result()?;
    let plain = is_followed(module, facts, i) && facts.decoration_marks(id).is_some();
    let idle = plain && need.components[id] & component_bit(i.operand_word(2)) == 0;
    idle.then(|| (id, i.id_operand(1)))
}
