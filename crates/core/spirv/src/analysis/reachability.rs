//! Reachability from entry points: functions through calls, and the global variables that they use.

use super::SpirvCallGraph;
use crate::Id;
use crate::grammar::Op;
use crate::ir::{Func, IdWords, ModuleSection, SpirvModule};

/// Functions and global variables by entry point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryReach {
    /// For each entry point in the module's order its function, the functions that it reaches, and the variables
    /// that they use, by increasing id.
    entries: Vec<(Id, Vec<Func>, Vec<Id>)>,
}

impl EntryReach {
    /// One pass over the module's functions, and one over the call graph for each entry point.
    pub fn from_module(module: &SpirvModule) -> Self {
        Self::from_call_graph(
            module,
            &SpirvCallGraph::from_module(module),
            &IdWords::new(module),
        )
    }

    pub(crate) fn from_call_graph(
        module: &SpirvModule,
        calls: &SpirvCallGraph,
        ids: &IdWords,
    ) -> Self {
        let variables = find_variable_aliases(module, ids);
        let size = module.functions().iter().map(|f| f.index() + 1).max();
        let mut used: Vec<Vec<Id>> = vec![Vec::new(); size.unwrap_or(0)];
        for func in module.functions() {
            let list = &mut used[func.index()];
            for inst in module.function_insts(*func) {
                ids.visit_uses(inst, |_, id| {
                    if let Ok(at) = variables.binary_search_by_key(&id, |v| v.0) {
                        list.push(variables[at].1);
                    }
                });
            }
            list.sort_unstable();
            list.dedup();
        }
        let mut by_id: Vec<(Id, Func)> = module
            .functions()
            .iter()
            .map(|f| (module.function_id(*f), *f))
            .collect();
        by_id.sort_unstable();
        let mut seen = vec![u32::MAX; used.len()];
        let points = module.section_insts(ModuleSection::EntryPoints);
        let points = points.filter(|p| p.op() == Op::EntryPoint);
        let entries = points.enumerate().map(|(n, point)| {
            let function = point.id_operand(1);
            let start = by_id.binary_search_by_key(&function, |f| f.0);
            let mut reached = Vec::new();
            let mut stack: Vec<Func> = start.map(|at| by_id[at].1).into_iter().collect();
            while let Some(func) = stack.pop() {
                if std::mem::replace(&mut seen[func.index()], n as u32) != n as u32 {
                    reached.push(func);
                    stack.extend(calls.callees(func).iter().rev());
                }
            }
            let mut variables: Vec<Id> = reached
                .iter()
                .flat_map(|f| used[f.index()].iter().copied())
                .collect();
            variables.sort_unstable();
            variables.dedup();
            (function, reached, variables)
        });
        EntryReach {
            entries: entries.collect(),
        }
    }

    /// The function of entry point `n`, in the module's order.
    pub fn entry_function(&self, n: usize) -> Id {
        self.entries[n].0
    }

    /// Number of entry points.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the module has no entry point.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The functions that entry point `n` may run, its own first.
    pub fn reachable_functions(&self, n: usize) -> &[Func] {
        &self.entries[n].1
    }

    /// Global variables that the functions of entry point `n` use, by increasing id.
    pub fn used_variables(&self, n: usize) -> &[Id] {
        &self.entries[n].2
    }

    /// Whether entry point `n` uses a global variable.
    pub fn is_variable_used(&self, n: usize, variable: Id) -> bool {
        self.entries[n].2.binary_search(&variable).is_ok()
    }
}

/// Ids whose use is a use of a global variable, with that variable, by increasing id. These are the variables,
/// and constants and initialisers derived from them.
fn find_variable_aliases(module: &SpirvModule, ids: &IdWords) -> Vec<(Id, Id)> {
    let mut found: Vec<(Id, Id)> = Vec::new();
    for inst in module.section_insts(ModuleSection::Globals) {
        let Some(id) = inst.result() else { continue };
        if matches!(inst.op(), Op::Variable | Op::UntypedVariableKHR) {
            found.push((id, id));
        } else if inst.op() == Op::SpecConstantOp {
            let mut through = None;
            ids.visit_uses(inst, |_, used| {
                if let Some(pair) = found.iter().find(|f| f.0 == used) {
                    through = Some(pair.1);
                }
            });
            found.extend(through.map(|variable| (id, variable)));
        }
    }
    found.sort_unstable();
    found
}
