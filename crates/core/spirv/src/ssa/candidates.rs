//! Candidates of promotion: which variables can become values, and where they are read and written.

use super::{NONE, VariablePromoter};
use crate::Id;
use crate::grammar::Op;
use crate::grammar::enumerants::{MemoryAccess, StorageClass};
use crate::ir::{Func, Inst, InstRef, SpirvModule};

/// A variable of a function.
#[derive(Clone, Debug)]
pub(super) struct PromotionCandidate {
    pub variable: Id,
    /// Type of its value.
    pub ty: Id,
    /// Whether nothing is done with it but loading and storing.
    pub kept: bool,
    /// Debug instructions that declare it.
    pub declarations: Vec<Inst>,
    /// Last block seen to write it.
    written_in: u32,
    /// Last block that is known to read the value from before.
    read_in: u32,
}

/// The variables of a function with the blocks that read and write them.
#[derive(Debug)]
pub(super) struct PromotionCandidates {
    pub all: Vec<PromotionCandidate>,
    /// Candidate and block that reads it before writing it, in the order of blocks.
    pub reads: Vec<(u32, u32)>,
    /// Candidate and block that writes it.
    pub writes: Vec<(u32, u32)>,
}

/// Memory operands that allow promotion.
const PLAIN: u32 = MemoryAccess::Aligned.0 | MemoryAccess::Nontemporal.0;

impl PromotionCandidates {
    pub fn from_function(
        promoter: &mut VariablePromoter,
        module: &SpirvModule,
        func: Func,
        choose: impl Fn(Id) -> bool,
    ) -> PromotionCandidates {
        let mut found = PromotionCandidates {
            all: Vec::new(),
            reads: Vec::new(),
            writes: Vec::new(),
        };
        let blocks = &module.function(func).blocks;
        let mut casts = Vec::new();
        for (at, block) in blocks.iter().enumerate() {
            for inst in module.body(*block) {
                if inst.op() == Op::Variable {
                    found.record_variable(promoter, module, inst, &choose);
                } else if !found.all.is_empty() {
                    found.record_access(promoter, inst, at as u32, &mut casts);
                }
            }
        }
        for candidate in found.all.iter().filter(|c| !c.kept) {
            promoter.replacements.keep_id(candidate.variable);
        }
        for cast in casts {
            let slot = promoter.replacements.slot_of(cast);
            if found.all.get(slot as usize).is_none_or(|c| !c.kept) {
                promoter.replacements.keep_id(cast);
            }
        }
        let all = &found.all;
        found.reads.retain(|r| all[r.0 as usize].kept);
        found.writes.retain(|w| all[w.0 as usize].kept);
        found.reads.sort_unstable();
        found.writes.sort_unstable();
        found
    }

    /// The candidates that can become values.
    pub fn iter_promotable(&self) -> impl Iterator<Item = &PromotionCandidate> {
        self.all.iter().filter(|c| c.kept)
    }

    fn record_variable(
        &mut self,
        promoter: &mut VariablePromoter,
        module: &SpirvModule,
        inst: InstRef<'_>,
        choose: &impl Fn(Id) -> bool,
    ) {
        let (Some(variable), Some(pointer)) = (inst.result(), inst.result_type()) else {
            return;
        };
        let is_local = inst.operand_word(0) == StorageClass::Function.0;
        if !is_local || promoter.pinned.contains(variable) || !choose(variable) {
            return;
        }
        let pointer = promoter.type_of(module, pointer);
        let Some(ty) = pointer
            .filter(|p| p.op() == Op::TypePointer)
            .map(|p| p.id_operand(1))
        else {
            return;
        };
        if !can_be_value(promoter, module, ty) {
            return;
        }
        promoter
            .replacements
            .set_slot(variable, self.all.len() as u32);
        self.all.push(PromotionCandidate {
            variable,
            ty,
            kept: true,
            declarations: Vec::new(),
            written_in: NONE,
            read_in: NONE,
        });
    }

    fn record_access(
        &mut self,
        promoter: &mut VariablePromoter,
        inst: InstRef<'_>,
        block: u32,
        casts: &mut Vec<Id>,
    ) {
        let slot = |n: usize| {
            let id = inst.get_id(n);
            id.map_or(NONE, |id| promoter.replacements.slot_of(id)) as usize
        };
        match inst.op() {
            Op::Load => {
                let accessed = inst.operands().get(1).copied();
                if let Some(c) = self.all.get_mut(slot(0)) {
                    c.kept &=
                        accessed.unwrap_or(0) & !PLAIN == 0 && inst.result_type() == Some(c.ty);
                    if c.variable != inst.id_operand(0) {
                        c.kept = false;
                    }
                    if c.written_in != block && c.read_in != block {
                        c.read_in = block;
                        self.reads
                            .push((promoter.replacements.slot_of(inst.id_operand(0)), block));
                    }
                }
            }
            Op::Store => {
                let accessed = inst.operands().get(2).copied();
                if let Some(c) = self.all.get_mut(slot(1)) {
                    c.kept = false;
                }
                if let Some(c) = self.all.get_mut(slot(0)) {
                    c.kept &=
                        accessed.unwrap_or(0) & !PLAIN == 0 && c.variable == inst.id_operand(0);
                    if c.written_in != block {
                        c.written_in = block;
                        self.writes
                            .push((promoter.replacements.slot_of(inst.id_operand(0)), block));
                    }
                }
            }
            Op::LifetimeStart | Op::LifetimeStop => {}
            // Lifetime instructions may refer to an address that was cast.
            Op::Bitcast => {
                let own = promoter.replacements.slot_of(inst.id_operand(0));
                if let (Some(_), Some(result)) = (self.all.get(own as usize), inst.result()) {
                    promoter.replacements.set_slot(result, own);
                    casts.push(result);
                }
            }
            Op::ExtInst
                if promoter
                    .ids
                    .ext_inst_set(inst)
                    .is_some_and(|s| s.is_debug_info()) =>
            {
                let all = &mut self.all;
                promoter.ids.visit_uses(inst, |_, id| {
                    if let Some(c) = all.get_mut(promoter.replacements.slot_of(id) as usize) {
                        c.declarations.push(inst.handle());
                    }
                });
            }
            _ => {
                let all = &mut self.all;
                promoter.ids.visit_uses(inst, |_, id| {
                    if let Some(c) = all.get_mut(promoter.replacements.slot_of(id) as usize) {
                        c.kept = false;
                    }
                });
            }
        }
    }
}

/// Whether values of a type can pass through phis: no images, samplers, events or other opaque
/// things, at any depth.
fn can_be_value(promoter: &VariablePromoter, module: &SpirvModule, ty: Id) -> bool {
    let mut work = vec![ty];
    let mut seen = 0;
    while let Some(ty) = work.pop() {
        let Some(inst) = promoter.type_of(module, ty) else {
            return false;
        };
        seen += 1;
        match inst.op() {
            Op::TypeBool | Op::TypeInt | Op::TypeFloat | Op::TypeVector | Op::TypeMatrix => {}
            Op::TypePointer | Op::TypeCooperativeMatrixKHR | Op::TypeCooperativeMatrixNV => {}
            Op::TypeArray => work.push(inst.id_operand(0)),
            // A structure of structures may name its parts more often than there are types.
            Op::TypeStruct if seen < 1000 => work.extend(inst.id_operands(0)),
            _ => return false,
        }
    }
    true
}
