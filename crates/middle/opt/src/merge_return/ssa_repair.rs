//! SSA repair after return merging: values that no longer dominate their uses go through a variable. Addresses and
//! handles are computed again at their uses.

use crate::pool::InternPool;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::analysis::{BlockDominators, FlowGraph, IdDefinitions};
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Func, IdWords, Inst, InstRef, SpirvModule};
use spirula_spirv::{Id, IdMap};

/// Function and block of each definition.
type DefinitionBlock = Option<(Func, u32)>;

/// Tables that are reused for all functions of a module.
pub struct SsaRepair {
    definitions: IdDefinitions,
    places: IdMap<DefinitionBlock>,
    /// The variable of each value that goes through one.
    variables: IdMap<Option<Id>>,
}

/// The control flow of the function that is repaired.
struct RepairGraph<'a> {
    ids: &'a IdWords,
    cfg: &'a FlowGraph,
    dominators: &'a BlockDominators,
    func: Func,
}

/// A use that its definition does not dominate.
struct BrokenUse {
    user: Inst,
    at: usize,
    id: Id,
    /// The instruction before which the value must be available.
    before: Inst,
    /// Block of that instruction.
    block: u32,
}

impl SsaRepair {
    pub fn new(module: &SpirvModule) -> Self {
        SsaRepair {
            definitions: IdDefinitions::from_module(module),
            places: IdMap::new(module.bound(), None),
            variables: IdMap::new(0, None),
        }
    }

    /// Whether every value of a function can be made available at its uses in other blocks.
    pub fn is_possible(&mut self, module: &SpirvModule, ids: &IdWords, cfg: &FlowGraph) -> bool {
        // Blocks of definitions that cannot be moved or stored.
        let mut fixed: Vec<(Id, u32)> = Vec::new();
        for at in 0..cfg.len() as u32 {
            for inst in module.body(cfg.block(at)) {
                let (Some(id), Some(ty)) = (inst.result(), inst.result_type()) else {
                    continue;
                };
                let again = inst.op() == Op::Variable || self.can_be_made_again(module, inst);
                if !again && !self.is_storable(module, ty) {
                    fixed.push((id, at));
                }
            }
        }
        if fixed.is_empty() {
            return true;
        }
        fixed.sort_unstable();
        (0..cfg.len() as u32).all(|at| {
            module.body(cfg.block(at)).all(|inst| {
                let mut fits = true;
                ids.visit_uses(inst, |_, id| {
                    if let Ok(known) = fixed.binary_search_by_key(&id, |f| f.0) {
                        fits &= fixed[known].1 == at;
                    }
                });
                fits
            })
        })
    }

    fn is_storable(&self, module: &SpirvModule, ty: Id) -> bool {
        let mut work = vec![ty];
        let mut seen = 0;
        while let Some(ty) = work.pop() {
            let Some(inst) = self.definitions.get(module, ty) else {
                return false;
            };
            seen += 1;
            match inst.op() {
                Op::TypeVoid | Op::TypeBool | Op::TypeInt | Op::TypeFloat => {}
                Op::TypeVector | Op::TypeMatrix | Op::TypeCooperativeMatrixKHR => {}
                Op::TypeArray if seen < 1000 => work.push(inst.id_operand(0)),
                Op::TypeStruct if seen < 1000 => work.extend(inst.id_operands(0)),
                _ => return false,
            }
        }
        true
    }

    fn can_be_made_again(&self, module: &SpirvModule, inst: InstRef<'_>) -> bool {
        match inst.op() {
            op if op.is_plain_access_chain() || op == Op::CopyObject => true,
            // Handles are loaded from memory that nothing writes.
            Op::Load => inst.result_type().is_some_and(|ty| {
                let ty = self.definitions.defining_op(module, ty);
                matches!(
                    ty,
                    Some(
                        Op::TypeImage
                            | Op::TypeSampler
                            | Op::TypeSampledImage
                            | Op::TypeAccelerationStructureKHR
                    )
                )
            }),
            _ => false,
        }
    }

    /// Repairs a function whose edges have changed.
    pub fn repair_function(
        &mut self,
        module: &mut SpirvModule,
        ids: &IdWords,
        func: Func,
        pool: &mut InternPool,
    ) -> Result<(), SourceDiagnostic> {
        let cfg = FlowGraph::with_ids(module, ids, func)?;
        let dominators = BlockDominators::from_cfg(&cfg);
        module.order_blocks_by(func, &cfg, &dominators);
        let mut homes = Vec::new();
        for at in 0..cfg.len() as u32 {
            for inst in module.body(cfg.block(at)) {
                if let Some(id) = inst.result() {
                    self.places.set(id, Some((func, at)));
                    homes.push((id, inst.handle()));
                }
            }
        }
        homes.sort_unstable_by_key(|h| h.0);
        let graph = RepairGraph {
            ids,
            cfg: &cfg,
            dominators: &dominators,
            func,
        };
        let mut broken = Vec::new();
        for at in 0..cfg.len() as u32 {
            if dominators.is_reachable(at) {
                for inst in module.body(cfg.block(at)) {
                    self.find_broken_uses(module, &graph, at, inst, &mut broken);
                }
            }
        }
        while let Some(use_) = broken.pop() {
            let home = homes.binary_search_by_key(&use_.id, |h| h.0);
            let Ok(home) = home.map(|at| homes[at].1) else {
                continue;
            };
            let inst = module.inst(home);
            let again = self.can_be_made_again(module, inst);
            let (op, mut words) = (inst.op(), inst.words().to_vec());
            let fresh = module.fresh_id();
            words[1] = fresh.word();
            if again {
                let copy = module.create_inst(op, &words);
                module.insert_before(use_.before, copy);
                let copied = module.inst(copy);
                let (block, before) = (use_.block, copy);
                ids.visit_uses(copied, |at, id| {
                    if !self.is_dominated_by_definition(&dominators, func, block, id) {
                        broken.push(BrokenUse {
                            user: copy,
                            at,
                            id,
                            before,
                            block,
                        });
                    }
                });
            } else {
                let variable = self.variable_for_value(module, func, home, use_.id, pool);
                let load = [words[0], fresh.word(), variable.word()];
                let load = module.create_inst(Op::Load, &load);
                module.insert_before(use_.before, load);
            }
            module.words_mut(use_.user)[use_.at] = fresh.word();
        }
        Ok(())
    }

    /// The variable of a value, which is stored at its definition.
    fn variable_for_value(
        &mut self,
        module: &mut SpirvModule,
        func: Func,
        home: Inst,
        id: Id,
        pool: &mut InternPool,
    ) -> Id {
        if let Some(known) = self.variables[id] {
            return known;
        }
        let inst = module.inst(home);
        let (op, ty) = (inst.op(), inst.result_type());
        let variable = super::create_variable(module, func, ty.unwrap_or(id), pool);
        self.variables.set(id, Some(variable));
        let mut at = module.next(home);
        while let Some(next) = at.filter(|n| op == Op::Phi && module.inst(*n).op() == Op::Phi) {
            at = module.next(next);
        }
        let store = module.create_inst(Op::Store, &[variable.word(), id.word()]);
        if let Some(at) = at {
            module.insert_before(at, store);
        }
        variable
    }

    fn find_broken_uses(
        &self,
        module: &SpirvModule,
        graph: &RepairGraph<'_>,
        block: u32,
        inst: InstRef<'_>,
        broken: &mut Vec<BrokenUse>,
    ) {
        let RepairGraph {
            ids,
            cfg,
            dominators,
            func,
        } = *graph;
        let user = inst.handle();
        let is_phi = inst.op() == Op::Phi;
        ids.visit_uses(inst, |at, id| {
            let (block, before) = if is_phi && at >= 2 && at % 2 == 0 {
                let parent = inst.words().get(at + 1).copied().and_then(Id::new);
                let parent = parent.and_then(|l| cfg.block_position(l));
                let Some(parent) = parent.filter(|p| dominators.is_reachable(*p)) else {
                    return;
                };
                (parent, module.before_end(cfg.block(parent)))
            } else if inst.op().is_terminator() {
                (block, module.before_end(cfg.block(block)))
            } else {
                (block, user)
            };
            // Within a block nothing has changed.
            if !self.is_dominated_by_definition(dominators, func, block, id) {
                broken.push(BrokenUse {
                    user,
                    at,
                    id,
                    before,
                    block,
                });
            }
        });
    }

    fn is_dominated_by_definition(
        &self,
        dominators: &BlockDominators,
        func: Func,
        block: u32,
        id: Id,
    ) -> bool {
        match self.places[id] {
            Some((home, from)) if home == func => dominators.dominates(from, block),
            _ => true,
        }
    }
}
