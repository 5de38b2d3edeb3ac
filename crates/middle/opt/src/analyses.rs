//! The analysis cache: analyses that passes share. An analysis is computed when it is first requested. It is
//! dropped when a pass that does not keep it has changed the module.

use crate::gvn::AliasAnalysis;
use crate::values::ModuleValues;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::analysis::{BlockDominators, FlowGraph, IdDefinitions, SpirvCallGraph};
use spirula_spirv::ir::{Func, IdWords, InstRef, SpirvModule};
use std::rc::Rc;

/// A set of analyses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnalysisSet(u8);

impl AnalysisSet {
    /// None.
    pub const NONE: AnalysisSet = AnalysisSet(0);
    /// Control-flow graph and dominators of each function.
    pub const FLOW: AnalysisSet = AnalysisSet(1);
    /// The defining instruction of each id. A pass keeps this analysis if it gives no instruction another
    /// result.
    pub const DEFINITIONS: AnalysisSet = AnalysisSet(2);
    /// The call graph.
    pub const CALLS: AnalysisSet = AnalysisSet(4);
    /// Facts about values: definitions, types, constants and decorations. A pass keeps this analysis if it
    /// deletes no globals and removes no decorations from what remains.
    pub const FACTS: AnalysisSet = AnalysisSet(8);

    /// The union of both sets.
    pub const fn union(self, other: AnalysisSet) -> AnalysisSet {
        AnalysisSet(self.0 | other.0)
    }

    /// Whether all of `other` are in this set.
    pub const fn contains(self, other: AnalysisSet) -> bool {
        self.0 & other.0 == other.0
    }
}

/// The control flow of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowAnalysis {
    /// Blocks and edges.
    pub cfg: FlowGraph,
    /// Dominator tree.
    pub dominators: BlockDominators,
}

/// The defining instructions of those that existed when it was computed.
#[derive(Debug)]
struct DefinitionSnapshot {
    definitions: Rc<IdDefinitions>,
    count: usize,
}

impl FlowAnalysis {
    /// Whether every block can be reached.
    pub fn is_all_reachable(&self) -> bool {
        self.cfg.reverse_postorder().len() == self.cfg.len()
    }
}

/// Cached analyses, valid for the current state of a module.
#[derive(Debug, Default)]
pub struct AnalysisCache {
    ids: Option<Rc<IdWords>>,
    definitions: Option<DefinitionSnapshot>,
    calls: Option<Rc<SpirvCallGraph>>,
    flows: Vec<Option<Rc<FlowAnalysis>>>,
    facts: Option<Box<ModuleValues>>,
    memory: Option<Box<AliasAnalysis>>,
}

impl AnalysisCache {
    /// An empty cache.
    pub fn new() -> Self {
        Self::default()
    }

    /// The words of instructions that are ids.
    pub fn id_words(&mut self, module: &SpirvModule) -> Rc<IdWords> {
        let made = || Rc::new(IdWords::new(module));
        self.ids.get_or_insert_with(made).clone()
    }

    /// Defining instructions.
    pub fn definitions(&mut self, module: &SpirvModule) -> Rc<IdDefinitions> {
        let count = module.inst_count();
        let known = self.definitions.get_or_insert_with(|| DefinitionSnapshot {
            definitions: Rc::new(IdDefinitions::from_module(module)),
            count,
        });
        if known.count < count {
            Rc::make_mut(&mut known.definitions).add_new_insts(module, known.count);
            known.count = count;
        }
        known.definitions.clone()
    }

    /// The call graph.
    pub fn call_graph(&mut self, module: &SpirvModule) -> Rc<SpirvCallGraph> {
        let made = || Rc::new(SpirvCallGraph::from_module(module));
        self.calls.get_or_insert_with(made).clone()
    }

    /// The facts about values, to be returned by [`AnalysisCache::put_facts`].
    pub(crate) fn take_facts(&mut self, module: &SpirvModule) -> Box<ModuleValues> {
        match self.facts.take() {
            Some(mut known) => {
                known.catch_up(module);
                known
            }
            None => Box::new(ModuleValues::new(module)),
        }
    }

    /// Returns to the cache what [`AnalysisCache::take_facts`] took.
    pub(crate) fn put_facts(&mut self, facts: Box<ModuleValues>) {
        self.facts = Some(facts);
    }

    /// The alias analysis, to be returned by [`AnalysisCache::put_memory`].
    pub(crate) fn take_memory(
        &mut self,
        module: &SpirvModule,
        facts: &ModuleValues,
    ) -> Box<AliasAnalysis> {
        let known = self.memory.take();
        known.unwrap_or_else(|| Box::new(AliasAnalysis::new(module, facts)))
    }

    /// Returns to the cache what [`AnalysisCache::take_memory`] took.
    pub(crate) fn put_memory(&mut self, memory: Box<AliasAnalysis>) {
        self.memory = Some(memory);
    }

    /// The control flow of a function.
    ///
    /// # Errors
    /// If the target of a branch is no label of the function.
    pub fn function_flow(
        &mut self,
        module: &SpirvModule,
        func: Func,
    ) -> Result<Rc<FlowAnalysis>, SourceDiagnostic> {
        if let Some(Some(flow)) = self.flows.get(func.index()) {
            return Ok(flow.clone());
        }
        let ids = self.id_words(module);
        self.flow_by(module, &ids, func)
    }

    /// As [`AnalysisCache::function_flow`], with known id positions.
    pub(crate) fn flow_by(
        &mut self,
        module: &SpirvModule,
        ids: &IdWords,
        func: Func,
    ) -> Result<Rc<FlowAnalysis>, SourceDiagnostic> {
        if let Some(Some(flow)) = self.flows.get(func.index()) {
            return Ok(flow.clone());
        }
        let cfg = FlowGraph::with_ids(module, ids, func)?;
        let dominators = BlockDominators::from_cfg(&cfg);
        let flow = Rc::new(FlowAnalysis { cfg, dominators });
        if self.flows.len() <= func.index() {
            self.flows.resize(func.index() + 1, None);
        }
        self.flows[func.index()] = Some(flow.clone());
        Ok(flow)
    }

    /// Drops the control flow of a function that a pass has changed.
    pub fn drop_flow(&mut self, func: Func) {
        if let Some(flow) = self.flows.get_mut(func.index()) {
            *flow = None;
        }
    }

    /// Drops all analyses except the kept ones.
    pub fn retain_analyses(&mut self, kept: AnalysisSet) {
        self.ids = None;
        self.memory = None;
        if !kept.contains(AnalysisSet::FACTS) {
            self.facts = None;
        }
        if !kept.contains(AnalysisSet::DEFINITIONS) {
            self.definitions = None;
        }
        if !kept.contains(AnalysisSet::CALLS) {
            self.calls = None;
        }
        if !kept.contains(AnalysisSet::FLOW) {
            self.flows.clear();
        }
    }

    /// Checks that each cached analysis equals a fresh one.
    ///
    /// # Errors
    /// The name of the first analysis that differs.
    pub fn verify_cached(&mut self, module: &SpirvModule) -> Result<(), &'static str> {
        if let Some(facts) = &mut self.facts {
            facts.catch_up(module);
            if facts.find_stale_id(module).is_some() {
                return Err("values");
            }
        }
        let definitions = IdDefinitions::from_module(module);
        if self.definitions.is_some() {
            let known = self.definitions(module);
            let mut all = module.all_insts().filter_map(InstRef::result);
            if all.any(|id| known.defining_inst(id) != definitions.defining_inst(id)) {
                return Err("definitions");
            }
        }
        if self
            .calls
            .as_ref()
            .is_some_and(|c| **c != SpirvCallGraph::from_module(module))
        {
            return Err("call graph");
        }
        for func in module.functions() {
            if let Some(Some(known)) = self.flows.get(func.index()) {
                let cfg = FlowGraph::from_function(module, &definitions, *func);
                let right = cfg.is_ok_and(|cfg| {
                    let dominators = BlockDominators::from_cfg(&cfg);
                    **known == FlowAnalysis { cfg, dominators }
                });
                if !right {
                    return Err("control flow");
                }
            }
        }
        Ok(())
    }
}
