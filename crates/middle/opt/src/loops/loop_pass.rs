//! The loop pass driver: visits the loops of all functions of a module. Data about the whole module is computed at
//! the first function that has a loop for the pass. It is kept up to date while loops change, so that loop passes
//! take time linear in the module.

use super::{BlockCloner, LoopShape, TripCounter, create_preheaders, find_loop_shapes};
use crate::analyses::{AnalysisCache, AnalysisSet, FlowAnalysis};
use crate::gvn::AliasAnalysis;
use crate::pass::PassOutcome;
use crate::values::ModuleValues;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::analysis::LoopNest;
use spirula_spirv::ir::{Block, ErasedIds, Func, SpirvModule};

/// A pass over loops.
pub trait LoopPass {
    /// The unit that it changes: one loop, or several.
    type Candidate;

    /// Most repetitions of the pass over a function. It repeats while it changes something.
    const LEVELS: usize = 1;

    /// Whether the pass may find a candidate in a function whose loops have pre-headers.
    fn is_worth(
        &self,
        tools: &mut LoopPassContext,
        module: &SpirvModule,
        flow: &FlowAnalysis,
    ) -> bool {
        !find_loop_shapes(module, flow, tools.structured).is_empty()
    }

    /// The candidates of a function.
    fn find_candidates(
        &self,
        tools: &mut LoopPassContext,
        module: &SpirvModule,
        flow: &FlowAnalysis,
    ) -> Vec<Self::Candidate>;

    /// The blocks of a candidate. Of candidates that share blocks, only the first is transformed.
    fn candidate_blocks<'a>(&self, found: &'a Self::Candidate) -> &'a [Block];

    /// Transforms a candidate, or declines. Changes to other blocks are reported by
    /// [`LoopPassContext::mark_changed`].
    fn transform_candidate(
        &mut self,
        tools: &mut LoopPassContext,
        module: &mut SpirvModule,
        found: &Self::Candidate,
    ) -> bool;
}

/// The shared data of loop passes.
pub struct LoopPassContext {
    /// Whether control flow is structured.
    pub structured: bool,
    /// Facts about values.
    pub facts: Box<ModuleValues>,
    /// The trip count analysis.
    pub trips: TripCounter,
    memory: Option<AliasAnalysis>,
    copier: Option<BlockCloner>,
    /// For each block the last repetition that changed it.
    touched: Vec<u32>,
    time: u32,
}

impl LoopPassContext {
    fn new(module: &SpirvModule, cache: &mut AnalysisCache, structured: bool) -> Self {
        LoopPassContext {
            structured,
            facts: cache.take_facts(module),
            trips: TripCounter::new(module),
            memory: None,
            copier: None,
            touched: Vec::new(),
            time: 0,
        }
    }

    /// The alias analysis and the facts about values.
    pub fn alias_analysis(&mut self, module: &SpirvModule) -> (&AliasAnalysis, &ModuleValues) {
        let facts = &*self.facts;
        let memory = self
            .memory
            .get_or_insert_with(|| AliasAnalysis::new(module, facts));
        (memory, facts)
    }

    /// The block cloner.
    pub fn block_cloner(&mut self, module: &SpirvModule) -> &mut BlockCloner {
        self.copier.get_or_insert_with(|| BlockCloner::new(module))
    }

    /// Reports that a block has changed since the function was examined.
    pub fn mark_changed(&mut self, block: Block) {
        if self.touched.len() <= block.index() {
            self.touched.resize(block.index() + 1, 0);
        }
        self.touched[block.index()] = self.time;
    }

    fn is_touched(&self, block: Block) -> bool {
        self.touched.get(block.index()) == Some(&self.time)
    }

    /// Updates the facts for new instructions.
    fn catch_up(&mut self, module: &SpirvModule) {
        self.facts.catch_up(module);
    }
}

/// Runs a loop pass over a module. Its changes are counted under `what`.
pub fn run_loop_pass<P: LoopPass>(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
    pass: &mut P,
    what: &'static str,
) -> Result<PassOutcome, SourceDiagnostic> {
    let structured = module.is_structured();
    let (mut changed, mut made) = (0, 0);
    let mut erased = ErasedIds::new();
    let mut tools = None;
    for func in module.functions().to_vec() {
        let flow = cache.function_flow(module, func)?;
        if !LoopNest::are_in(&flow.cfg, &flow.dominators) {
            continue;
        }
        let tools = tools.get_or_insert_with(|| LoopPassContext::new(module, cache, structured));
        for _ in 0..P::LEVELS {
            let flow = cache.flow_by(module, &tools.facts.ids, func)?;
            if !pass.is_worth(tools, module, &flow) {
                break;
            }
            let entries = create_preheaders(module, cache, &tools.facts.ids, func)?;
            if entries > 0 {
                tools.catch_up(module);
                made += entries;
            }
            let here = transform_function(module, cache, tools, pass, func)?;
            if here == 0 {
                break;
            }
            changed += here;
            module.remove_unreachable(&tools.facts.ids, func, &mut erased);
            module.order_blocks(&tools.facts.ids, func);
            tools.catch_up(module);
            cache.drop_flow(func);
            cache.retain_analyses(AnalysisSet::FLOW);
        }
    }
    module.sweep_annotations(&erased);
    if let Some(tools) = tools {
        cache.put_facts(tools.facts);
    }
    Ok(PassOutcome {
        statistics: vec![(what, changed), ("pre-headers made", made)],
    })
}

/// Runs the pass over a function once. Returns the number of changes.
fn transform_function<P: LoopPass>(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
    tools: &mut LoopPassContext,
    pass: &mut P,
    func: Func,
) -> Result<usize, SourceDiagnostic> {
    let flow = cache.flow_by(module, &tools.facts.ids, func)?;
    tools.time += 1;
    let mut changed = 0;
    for found in pass.find_candidates(tools, module, &flow) {
        let blocks = pass.candidate_blocks(&found);
        if blocks.iter().any(|b| tools.is_touched(*b))
            || !pass.transform_candidate(tools, module, &found)
        {
            continue;
        }
        for block in pass.candidate_blocks(&found) {
            tools.mark_changed(*block);
        }
        changed += 1;
    }
    Ok(changed)
}

/// The trip count of a loop, if it is known and at most `limit`.
pub fn count_loop_iterations(
    tools: &mut LoopPassContext,
    module: &SpirvModule,
    shape: &LoopShape,
    limit: u32,
) -> Option<u32> {
    let LoopPassContext { trips, facts, .. } = tools;
    trips.count_iterations(facts, module, shape, limit)
}
