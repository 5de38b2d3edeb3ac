//! Code sinking: a computation before a branch whose result only one side uses moves to that side. A computation in a
//! loop whose result is only used after the loop moves there and runs once. See Knoop, Rüthing and Steffen, "Partial
//! Dead Code Elimination", 1994, here for single computations. Instructions without effects sink, and so do loads of
//! memory that nothing writes while the module runs. Nothing sinks into a loop.
//!
//! Before:
//! ```text
//! %x = OpFMul %float %a %b
//!      OpSelectionMerge %m None
//!      OpBranchConditional %c %then %m
//! %then = OpLabel
//!      OpStore %p %x
//! ```
//! After:
//! ```text
//!      OpSelectionMerge %m None
//!      OpBranchConditional %c %then %m
//! %then = OpLabel
//! %x = OpFMul %float %a %b
//!      OpStore %p %x
//! ```

use crate::analyses::{AnalysisCache, FlowAnalysis};
use crate::gvn::{AliasAnalysis, WriterScope, is_plain};
use crate::pass::PassOutcome;
use crate::use_lists::ValueUsers;
use crate::values::ModuleValues;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::analysis::{LoopNest, PostDominators};
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Block, Func, Inst, InstRef, SpirvModule};

pub fn run_sink(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    let branches = |b: &Block| {
        matches!(
            module.terminator(*b).op(),
            Op::BranchConditional | Op::Switch
        )
    };
    let branching: Vec<Func> = module
        .functions()
        .iter()
        .copied()
        .filter(|f| module.function(*f).blocks.iter().any(branches))
        .collect();
    if branching.is_empty() {
        return Ok(PassOutcome::default());
    }
    let facts = cache.take_facts(module);
    let memory = cache.take_memory(module, &facts);
    let mut sinker = CodeSinker {
        facts: &facts,
        memory: &memory,
        users: ValueUsers::new(module.bound()),
        home: vec![NONE; module.inst_count()],
        sunk: 0,
    };
    for func in branching {
        let flow = cache.function_flow(module, func)?;
        sinker.sink_function(module, &flow);
    }
    let sunk = sinker.sunk;
    cache.put_facts(facts);
    cache.put_memory(memory);
    Ok(PassOutcome {
        statistics: vec![("instructions sunk", sunk)],
    })
}

const NONE: u32 = u32::MAX;

struct CodeSinker<'a> {
    facts: &'a ModuleValues,
    memory: &'a AliasAnalysis,
    users: ValueUsers,
    /// The block of each instruction.
    home: Vec<u32>,
    sunk: usize,
}

impl CodeSinker<'_> {
    fn sink_function(&mut self, module: &mut SpirvModule, flow: &FlowAnalysis) {
        let cfg = &flow.cfg;
        let loops = LoopNest::from_cfg(cfg, &flow.dominators);
        let post_dominators = PostDominators::from_cfg(cfg);
        self.users.clear();
        for at in 0..cfg.len() as u32 {
            for inst in module.body(cfg.block(at)) {
                self.home[inst.handle().index()] = at;
                let users = &mut self.users;
                let facts = self.facts;
                facts.ids.visit_uses(inst, |_, id| {
                    let local = facts
                        .definition(module, id)
                        .is_some_and(|d| can_be_moved(d.op()));
                    if local {
                        users.add_user(id, inst.handle());
                    }
                });
            }
        }
        // Users come first, so that operands which only they use can follow.
        for &at in flow.dominators.preorder().iter().rev() {
            let body: Vec<Inst> = module.body(cfg.block(at)).map(InstRef::handle).collect();
            for inst in body.into_iter().rev() {
                let Some(target) = self.find_sink_target(module, flow, &loops, inst, at) else {
                    continue;
                };
                let left = loops
                    .innermost_loop(at)
                    .is_some_and(|l| !loops.contains(l, target));
                if post_dominators.dominates(target, at) && !left {
                    continue;
                }
                let first = module.first_after_phis(cfg.block(target));
                module.move_before(first, inst);
                self.home[inst.index()] = target;
                self.sunk += 1;
            }
        }
    }

    /// The dominated block to which an instruction may sink.
    fn find_sink_target(
        &self,
        module: &SpirvModule,
        flow: &FlowAnalysis,
        loops: &LoopNest,
        inst: Inst,
        at: u32,
    ) -> Option<u32> {
        let i = module.inst(inst);
        let id = i.result()?;
        if !self.may_sink(module, i) {
            return None;
        }
        let mut target = None;
        for user in self.users.users_of(id) {
            for block in self.blocks_of(module, flow, user, id) {
                if !flow.dominators.is_reachable(block) {
                    return None;
                }
                target = Some(match target {
                    None => block,
                    Some(other) => find_common_dominator(flow, other, block)?,
                });
            }
        }
        let mut target = target?;
        while target != at {
            let around = loops.innermost_loop(target);
            if around.is_none_or(|l| loops.contains(l, at)) {
                return Some(target);
            }
            target = flow.dominators.immediate_dominator(target)?;
        }
        None
    }

    /// The blocks in which an instruction uses its operands: a phi uses them at the ends of predecessors.
    fn blocks_of(&self, module: &SpirvModule, flow: &FlowAnalysis, user: Inst, id: Id) -> Vec<u32> {
        let inst = module.inst(user);
        if inst.op() != Op::Phi {
            return vec![self.home[user.index()]];
        }
        let pairs = inst.operands().chunks_exact(2);
        let own = pairs.filter(|p| p[0] == id.word());
        own.filter_map(|p| flow.cfg.block_position(Id::new(p[1])?))
            .collect()
    }

    fn may_sink(&self, module: &SpirvModule, inst: InstRef<'_>) -> bool {
        match inst.op() {
            Op::Load => {
                let place = self
                    .memory
                    .pointer_location(self.facts, module, inst.id_operand(0));
                place.kind == WriterScope::ReadOnly && is_plain(inst.operands().get(1))
            }
            Op::ExtInst => {
                let set = self.facts.ids.ext_inst_set(inst);
                set.is_some_and(|s| {
                    !s.is_debug_info() && s.instruction_effects(inst.operand_word(1)).is_pure()
                })
            }
            Op::Undef => false,
            op => can_be_moved(op) && op.effects().is_pure(),
        }
    }
}

/// Whether instructions of an opcode can sink.
fn can_be_moved(op: Op) -> bool {
    op == Op::Load || op == Op::ExtInst || op.effects().is_pure()
}

/// The nearest common dominator.
fn find_common_dominator(flow: &FlowAnalysis, mut a: u32, b: u32) -> Option<u32> {
    while !flow.dominators.dominates(a, b) {
        a = flow.dominators.immediate_dominator(a)?;
    }
    Some(a)
}
