//! Dead-store elimination across blocks: a store to a function variable is deleted if its value is never read. No path
//! from it then reads the variable before it is overwritten or the function is left. See Muchnick, "Advanced Compiler
//! Design and Implementation", 1997, section 18.10, and section 14.1.3 for liveness.
//!
//! Variables are treated as a whole. A read of any part keeps the stores to every part, and only a store of the
//! whole makes earlier stores dead.
//!
//! Before:
//! ```text
//! %p = OpAccessChain %ptr %array %i
//!      OpStore %p %x
//!      OpReturn
//! ```
//! After: no store.

use crate::analyses::{AnalysisCache, FlowAnalysis};
use crate::gvn::{AliasAnalysis, WriterScope, is_plain};
use crate::pass::PassOutcome;
use crate::structure::has_variables;
use crate::values::ModuleValues;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{ErasedIds, Func, Inst, InstRef, SpirvModule};
use spirula_spirv::{Id, IdMap};

/// Most variables of a function that are analysed, one bit of a set each.
const MOST: usize = 64;

pub fn run_dead_stores(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    if !module.functions().iter().any(|f| has_variables(module, *f)) {
        return Ok(PassOutcome::default());
    }
    let facts = cache.take_facts(module);
    let memory = cache.take_memory(module, &facts);
    let mut erased = ErasedIds::new();
    let mut deleted = 0;
    let mut bits: IdMap<u64> = IdMap::new(module.bound(), 0);
    for func in module.functions().to_vec() {
        if note_variables(module, &facts, func, &mut bits) == 0 {
            continue;
        }
        let flow = cache.function_flow(module, func)?;
        let stores = StoreLiveness {
            facts: &facts,
            memory: &memory,
            bits: &bits,
            flow: &flow,
        };
        for store in stores.find_dead_stores(module) {
            module.erase_inst(store, &mut erased);
            deleted += 1;
        }
    }
    module.sweep_annotations(&erased);
    cache.put_facts(facts);
    cache.put_memory(memory);
    Ok(PassOutcome {
        statistics: vec![("stores deleted", deleted)],
    })
}

/// Assigns a bit to each variable of a function. Returns their number.
fn note_variables(
    module: &SpirvModule,
    facts: &ModuleValues,
    func: Func,
    bits: &mut IdMap<u64>,
) -> usize {
    let entry = module.function(func).blocks.first().copied();
    let insts = entry.into_iter().flat_map(|b| module.body(b));
    let variables = insts.filter(|i| i.op() == Op::Variable);
    let plain = variables
        .filter_map(|v| v.result())
        .filter(|id| facts.decoration_marks(*id).is_some());
    let mut found = 0;
    for id in plain.take(MOST) {
        bits.set(id, 1 << found);
        found += 1;
    }
    found
}

/// The effects of an instruction on the variables.
#[derive(Clone, Copy, Default)]
struct VariableEffects {
    reads: u64,
    /// The variable that it writes, wholly or in part.
    writes: u64,
    whole: bool,
}

struct StoreLiveness<'a> {
    facts: &'a ModuleValues,
    memory: &'a AliasAnalysis,
    bits: &'a IdMap<u64>,
    flow: &'a FlowAnalysis,
}

impl StoreLiveness<'_> {
    fn variable_bit(&self, module: &SpirvModule, pointer: Id) -> u64 {
        let place = self.memory.pointer_location(self.facts, module, pointer);
        let local = place.kind == WriterScope::Local;
        place
            .base
            .filter(|_| local)
            .map_or(0, |base| self.bits[base])
    }

    fn classify_access(&self, module: &SpirvModule, inst: InstRef<'_>) -> VariableEffects {
        let mut access = VariableEffects::default();
        match inst.op() {
            Op::Load => access.reads = self.variable_bit(module, inst.id_operand(0)),
            Op::Store => {
                access.writes = self.variable_bit(module, inst.id_operand(0));
                access.whole = self.bits[inst.id_operand(0)] != 0;
                if !is_plain(inst.operands().get(2)) {
                    access.reads = access.writes;
                }
            }
            Op::CopyMemory => {
                access.reads = self.variable_bit(module, inst.id_operand(1));
                if inst.operands().len() == 2 {
                    access.writes = self.variable_bit(module, inst.id_operand(0));
                    access.whole = self.bits[inst.id_operand(0)] != 0;
                } else {
                    access.reads |= self.variable_bit(module, inst.id_operand(0));
                }
            }
            _ => {}
        }
        access
    }

    /// The live variables before an instruction, from those after it.
    fn live_before(access: VariableEffects, live: u64) -> u64 {
        let killed = if access.whole { access.writes } else { 0 };
        live & !killed | access.reads
    }

    fn find_dead_stores(&self, module: &SpirvModule) -> Vec<Inst> {
        let cfg = &self.flow.cfg;
        let mut before = vec![0u64; cfg.len()];
        let after = |before: &[u64], at: u32| {
            let next = cfg.successors(at).iter();
            next.fold(0, |live, s| live | before[*s as usize])
        };
        let accesses: Vec<Vec<(Inst, VariableEffects)>> = (0..cfg.len() as u32)
            .map(|at| {
                let body = module.body(cfg.block(at));
                let known = body.map(|i| (i.handle(), self.classify_access(module, i)));
                known.filter(|(_, a)| a.reads | a.writes != 0).collect()
            })
            .collect();
        let mut changed = true;
        while changed {
            changed = false;
            for &at in cfg.reverse_postorder().iter().rev() {
                let mut live = after(&before, at);
                for (_, access) in accesses[at as usize].iter().rev() {
                    live = Self::live_before(*access, live);
                }
                changed |= std::mem::replace(&mut before[at as usize], live) != live;
            }
        }
        let mut dead = Vec::new();
        for at in 0..cfg.len() as u32 {
            let mut live = after(&before, at);
            for (inst, access) in accesses[at as usize].iter().rev() {
                if access.writes != 0 && (live | access.reads) & access.writes == 0 {
                    dead.push(*inst);
                    continue;
                }
                live = Self::live_before(*access, live);
            }
        }
        dead
    }
}
