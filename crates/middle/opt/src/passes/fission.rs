//! Loop fission: a loop with independent parts becomes several loops. Each of them needs fewer registers and touches
//! less memory. See Kennedy and McKinley, "Maximizing Loop Parallelism and Improving Data Locality via Loop Fusion and
//! Distribution", 1993. See also Allen and Kennedy, "Optimizing Compilers for Modern Architectures", 2001, section 5.3.
//!
//! Stores that depend on each other stay in one group. Two stores depend on each other if one may write a location that
//! the other reads or writes, by the test of `fuse`. They also do if both use the same value of the previous iteration.
//! The test does not give the direction of a dependence. Each is therefore assumed in both directions, so that strongly
//! connected components are connected components. Computations that groups share are duplicated. Values that are used
//! after the loop stay in the last one.
//!
//! Iterations must be free of branches, the exit must be in the header, and the exit condition must be computed
//! without loads.
//!
//! Before: `for (i) { a[i] = x[i]; b[i] = y[i]; }`. After: `for (i) a[i] = x[i]; for (i) b[i] = y[i];`.

use crate::analyses::{AnalysisCache, FlowAnalysis};
use crate::loops::{
    LoopAccess, LoopPass, LoopPassContext, LoopShape, are_apart, count_loop_words,
    find_loop_shapes, gather_accesses, run_loop_pass,
};
use crate::pass::PassOutcome;
use spirula_diagnostics::SourceDiagnostic;
use spirula_entity::UnionFind;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Block, IdWords, Inst, InstRef, SpirvModule};

/// Most stores of an iteration.
const MOST_STORES: usize = 64;
/// Most words of an iteration.
const MOST_WORDS: usize = 1024;

pub fn run_fission(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    run_loop_pass(module, cache, &mut LoopFission, "loops split")
}

struct LoopFission;

/// A loop of which a part becomes a separate loop.
struct FissionSplit {
    shape: LoopShape,
    /// The stores of that part.
    own: Vec<Inst>,
}

impl LoopPass for LoopFission {
    type Candidate = FissionSplit;

    /// The rest of a loop may be split again.
    const LEVELS: usize = MOST_STORES;

    fn is_worth(
        &self,
        tools: &mut LoopPassContext,
        module: &SpirvModule,
        flow: &FlowAnalysis,
    ) -> bool {
        !self.find_candidates(tools, module, flow).is_empty()
    }

    fn find_candidates(
        &self,
        tools: &mut LoopPassContext,
        module: &SpirvModule,
        flow: &FlowAnalysis,
    ) -> Vec<FissionSplit> {
        let mut straight = find_loop_shapes(module, flow, tools.structured);
        straight.retain(|shape| is_straight(module, shape));
        let live_outs = find_live_outs(module, &tools.facts.ids, &straight);
        straight
            .into_iter()
            .zip(live_outs)
            .filter_map(|(shape, live_outs)| plan_split(module, tools, shape, &live_outs))
            .collect()
    }

    fn candidate_blocks<'a>(&self, split: &'a FissionSplit) -> &'a [Block] {
        &split.shape.blocks
    }

    fn transform_candidate(
        &mut self,
        tools: &mut LoopPassContext,
        module: &mut SpirvModule,
        split: &FissionSplit,
    ) -> bool {
        insert_part_before(module, tools, split);
        tools.mark_changed(split.shape.entry);
        true
    }
}

/// Whether the iterations of a loop are short and free of branches, and its exit is in its header.
fn is_straight(module: &SpirvModule, shape: &LoopShape) -> bool {
    let goes_on = |b: &Block| {
        let plain = module.terminator(*b).op() == Op::Branch && module.merge_inst(*b).is_none();
        plain || *b == shape.header
    };
    let at_header = shape.exit == shape.header && shape.latch != shape.header;
    at_header && count_loop_words(module, shape) <= MOST_WORDS && shape.blocks.iter().all(goes_on)
}

/// For each loop its values that are used after it, for loops without common blocks.
fn find_live_outs(module: &SpirvModule, ids: &IdWords, shapes: &[LoopShape]) -> Vec<Vec<Id>> {
    let mut used = vec![Vec::new(); shapes.len()];
    let Some(first) = shapes.first() else {
        return used;
    };
    let (mut blocks, mut values) = (Vec::new(), Vec::new());
    for (at, shape) in shapes.iter().enumerate() {
        blocks.extend(shape.blocks.iter().map(|b| (*b, at)));
        // Other values do not dominate the blocks after the loop.
        let results = module.body(shape.header).filter_map(InstRef::result);
        values.extend(results.map(|id| (id, at)));
    }
    blocks.sort_unstable();
    values.sort_unstable();
    let func = module.block(first.header).func;
    for block in &module.function(func).blocks {
        let home = blocks.binary_search_by_key(block, |b| b.0);
        let home = home.ok().map(|at| blocks[at].1);
        for inst in module.body(*block) {
            ids.visit_uses(inst, |_, id| {
                let found = values.binary_search_by_key(&id, |v| v.0);
                if let Some((_, at)) = found.ok().map(|at| values[at])
                    && home != Some(at)
                {
                    used[at].push(id);
                }
            });
        }
    }
    used
}

/// The part of a loop that can become a separate loop.
fn plan_split(
    module: &SpirvModule,
    tools: &mut LoopPassContext,
    shape: LoopShape,
    live_outs: &[Id],
) -> Option<FissionSplit> {
    let (memory, facts) = tools.alias_analysis(module);
    let found = gather_accesses(module, facts, memory, &shape.blocks)?;
    let (stores, loads) = (found.writes, found.reads);
    let in_header =
        |a: &LoopAccess| module.list_of(a.inst) == Some(module.block(shape.header).body);
    if !(1..=MOST_STORES).contains(&stores.len()) || stores.iter().any(in_header) {
        return None;
    }
    let slicer = LoopSlicer::new(module, &facts.ids, &shape);
    let condition = module.terminator(shape.header).id_operand(0);
    let control = slicer.slice_roots(&[condition]);
    if loads.iter().any(|l| control.contains(&l.inst)) {
        return None;
    }
    // The dependencies of each store, and last those of the values that are used after the loop.
    let mut needs: Vec<Vec<Inst>> = Vec::with_capacity(stores.len() + 1);
    for store in &stores {
        let mut roots = Vec::new();
        let i = module.inst(store.inst);
        facts.ids.visit_uses(i, |_, id| roots.push(id));
        needs.push(slicer.slice_roots(&roots));
    }
    needs.push(slicer.slice_roots(live_outs));
    for need in &mut needs {
        need.retain(|inst| !control.contains(inst));
    }
    let mut groups = UnionFind::new(needs.len());
    let apart = |a: &LoopAccess, b: &LoopAccess| are_apart(module, facts, memory, a, b);
    for (at, store) in stores.iter().enumerate() {
        let other = (0..at).filter(|o| !apart(store, &stores[*o]));
        other.for_each(|o| groups.join_sets(at as u32, o as u32));
        let clobbered = loads.iter().filter(|l| !apart(store, l));
        for load in clobbered {
            let readers = (0..needs.len()).filter(|n| needs[*n].contains(&load.inst));
            readers.for_each(|n| groups.join_sets(at as u32, n as u32));
        }
    }
    for phi in module.phis(shape.header).map(InstRef::handle) {
        let mut users = (0..needs.len()).filter(|n| needs[*n].contains(&phi));
        if let Some(first) = users.next() {
            users.for_each(|n| groups.join_sets(first as u32, n as u32));
        }
    }
    let last = groups.peek_root(stores.len() as u32);
    let first = (0..stores.len())
        .map(|s| groups.peek_root(s as u32))
        .find(|g| *g != last)?;
    let own = |at: &usize| groups.peek_root(*at as u32) == first;
    let (own, rest): (Vec<usize>, Vec<usize>) = (0..stores.len()).partition(own);
    let used = !needs[stores.len()].is_empty();
    (!rest.is_empty() || used).then(|| FissionSplit {
        shape,
        own: own.into_iter().map(|at| stores[at].inst).collect(),
    })
}

/// Computes backward slices within a loop.
struct LoopSlicer<'a> {
    module: &'a SpirvModule,
    ids: &'a IdWords,
    /// The instructions of the loop by their results.
    inside: Vec<(Id, Inst)>,
    latch: Id,
}

impl<'a> LoopSlicer<'a> {
    fn new(module: &'a SpirvModule, ids: &'a IdWords, shape: &LoopShape) -> Self {
        let insts = shape.blocks.iter().flat_map(|b| module.body(*b));
        let mut inside: Vec<(Id, Inst)> = insts
            .filter_map(|i| Some((i.result()?, i.handle())))
            .collect();
        inside.sort_unstable();
        LoopSlicer {
            module,
            ids,
            inside,
            latch: module.label(shape.latch),
        }
    }

    /// The instructions of the loop that values depend on, in this iteration and earlier ones.
    fn slice_roots(&self, roots: &[Id]) -> Vec<Inst> {
        let mut found = Vec::new();
        let mut work = roots.to_vec();
        while let Some(id) = work.pop() {
            let Ok(at) = self.inside.binary_search_by_key(&id, |i| i.0) else {
                continue;
            };
            let inst = self.inside[at].1;
            if found.contains(&inst) {
                continue;
            }
            found.push(inst);
            match self.module.inst(inst).op() {
                Op::Phi => work.extend(self.module.phi_value(inst, self.latch)),
                _ => self
                    .ids
                    .visit_uses(self.module.inst(inst), |_, id| work.push(id)),
            }
        }
        found
    }
}

/// Inserts a copy of a loop before it. The copy has some of the stores, the original has the others.
fn insert_part_before(module: &mut SpirvModule, tools: &mut LoopPassContext, split: &FissionSplit) {
    let shape = &split.shape;
    let func = module.block(shape.header).func;
    let label = module.fresh_id();
    let between = module.create_block(func, label);
    let outside = [(shape.leaves, label)];
    let copies = tools
        .block_cloner(module)
        .clone_blocks(module, &shape.blocks, &outside);
    let pairs = |module: &SpirvModule, a: Block, b: Block| -> Vec<(Inst, Inst)> {
        let handles = |b| module.body(b).map(InstRef::handle);
        handles(a).zip(handles(b)).collect()
    };
    for (block, copy) in shape.blocks.iter().zip(&copies) {
        for (old, new) in pairs(module, *block, *copy) {
            if module.inst(old).op() == Op::Store {
                let gone = if split.own.contains(&old) { old } else { new };
                module.remove_inst(gone);
            }
        }
    }
    let [entry, header] = [shape.entry, shape.header].map(|b| module.label(b));
    let first = module.label(copies[0]);
    module.branch_to(shape.entry, Some(first));
    let branch = module.create_inst(Op::Branch, &[header.word()]);
    module.append_inst(module.block(between).body, branch);
    module.rename_phi_parent(shape.header, entry, label);
}
