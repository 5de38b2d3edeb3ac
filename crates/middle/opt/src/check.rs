//! Structural rules that every pass keeps, checked between passes. The module verifier knows more rules. These are
//! the ones that edits break first:
//!
//! 1. Every id that is used is defined, and none is defined twice.
//! 2. A phi has exactly one value for each predecessor of its block.
//! 3. A definition in a function dominates its uses; the values of a phi reach the ends of their blocks.
//! 4. Every target of names and decorations is defined.

use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::analysis::{BlockDominators, FlowGraph, IdDefinitions};
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Func, IdWords, InstRef, SpirvModule};
use spirula_spirv::{Id, IdMap};

/// Checks the rules.
///
/// # Errors
/// The first violation.
pub fn verify_module(module: &SpirvModule) -> Result<(), SourceDiagnostic> {
    let ids = IdWords::new(module);
    let definitions = IdDefinitions::from_module(module);
    let mut seen = IdMap::new(module.bound(), false);
    for inst in module.all_insts() {
        if let Some(id) = inst.result()
            && std::mem::replace(seen.get_mut(id), true)
        {
            return Err(breach_diagnostic(inst, format!("{id} is defined twice")));
        }
    }
    for inst in module.all_insts() {
        let mut missing = None;
        ids.visit_uses(inst, |_, id| {
            if !seen[id] {
                missing = Some(id);
            }
        });
        if let Some(id) = missing {
            return Err(breach_diagnostic(inst, format!("{id} is not defined")));
        }
    }
    let mut places = IdMap::new(module.bound(), None);
    for func in module.functions() {
        verify_function(module, &ids, &definitions, *func, &mut places)?;
    }
    Ok(())
}

/// Function, block and position of each defining instruction.
type DefinitionSites = IdMap<Option<(Func, u32, u32)>>;

fn verify_function(
    module: &SpirvModule,
    ids: &IdWords,
    definitions: &IdDefinitions,
    func: Func,
    places: &mut DefinitionSites,
) -> Result<(), SourceDiagnostic> {
    let cfg = FlowGraph::from_function(module, definitions, func)?;
    let dominators = BlockDominators::from_cfg(&cfg);
    for block in 0..cfg.len() as u32 {
        for (at, inst) in module.body(cfg.block(block)).enumerate() {
            if let Some(id) = inst.result() {
                places.set(id, Some((func, block, at as u32)));
            }
        }
    }
    for block in 0..cfg.len() as u32 {
        for (at, inst) in module.body(cfg.block(block)).enumerate() {
            let use_ = UsePosition {
                func,
                block,
                at: at as u32,
            };
            if inst.op() == Op::Phi {
                verify_phi(module, &cfg, &dominators, inst, &use_, places)?;
            } else if dominators.is_reachable(block) {
                let mut wrong = None;
                ids.visit_uses(inst, |_, id| {
                    if !use_.is_dominated(&dominators, places[id]) {
                        wrong = Some(id);
                    }
                });
                if let Some(id) = wrong {
                    return Err(breach_diagnostic(
                        inst,
                        format!("{id} does not dominate its use"),
                    ));
                }
            }
        }
    }
    Ok(())
}

struct UsePosition {
    func: Func,
    block: u32,
    at: u32,
}

impl UsePosition {
    fn is_dominated(&self, dominators: &BlockDominators, place: Option<(Func, u32, u32)>) -> bool {
        let Some((func, block, at)) = place else {
            return true;
        };
        func == self.func
            && if block == self.block {
                at < self.at
            } else {
                dominators.dominates(block, self.block)
            }
    }
}

fn verify_phi(
    module: &SpirvModule,
    cfg: &FlowGraph,
    dominators: &BlockDominators,
    inst: InstRef<'_>,
    use_: &UsePosition,
    places: &DefinitionSites,
) -> Result<(), SourceDiagnostic> {
    let mut sources = cfg.predecessors(use_.block).to_vec();
    sources.sort_unstable();
    sources.dedup();
    let pairs = inst.operands().chunks_exact(2);
    let mut parents: Vec<u32> = pairs
        .clone()
        .filter_map(|p| cfg.block_position(Id::new(p[1])?))
        .collect();
    parents.sort_unstable();
    if parents != sources {
        let label = module.label(cfg.block(use_.block));
        return Err(breach_diagnostic(
            inst,
            format!("the phi does not have the predecessors of {label}"),
        ));
    }
    for pair in pairs {
        let (Some(value), Some(label)) = (Id::new(pair[0]), Id::new(pair[1])) else {
            continue;
        };
        let Some(parent) = cfg
            .block_position(label)
            .filter(|p| dominators.is_reachable(*p))
        else {
            continue;
        };
        let end = UsePosition {
            func: use_.func,
            block: parent,
            at: u32::MAX,
        };
        if !end.is_dominated(dominators, places[value]) {
            return Err(breach_diagnostic(
                inst,
                format!("{value} does not reach the end of {label}"),
            ));
        }
    }
    Ok(())
}

fn breach_diagnostic(inst: InstRef<'_>, message: String) -> SourceDiagnostic {
    let result = inst.result().map_or(String::new(), |id| format!("{id} = "));
    SourceDiagnostic::error(inst.place(), format!("{result}{}: {message}", inst.op()))
}
