//! Rule 14: structured control flow, for modules with the capability Shader.
//!
//! Dominance is *structural* here: it is that of the graph of branches and of edges from headers to their merge
//! blocks and continue targets (specification, section 2.11.1). A construct consists of the blocks that its header
//! dominates and its merge block does not; for loops neither does its continue target. It is entered through its
//! header only, and left to few blocks only.

use super::context::{VerifyFault, make_fault};
use super::rules::VerifyRule;
use super::structural_graph::{NONE, StructuralGraph};
use crate::Id;
use crate::analysis::DominanceTree;
use crate::grammar::Op;
use crate::ir::{Block, Func, IdWords, Inst, InstRef, SpirvModule};
use rustc_hash::{FxHashMap, FxHashSet};

type StructureResult = Result<(), (Inst, VerifyFault)>;

/// A case that was not looked at yet.
const UNKNOWN: u32 = u32::MAX - 1;

#[derive(Clone, Copy, PartialEq, Eq)]
enum ConstructKind {
    Selection,
    Loop,
    /// The continue construct of the loop with this header.
    Continue(u32),
}

#[derive(Clone, Copy)]
struct CheckedConstruct {
    kind: ConstructKind,
    header: u32,
    /// Merge block; for continue constructs the block of the back edge.
    exit: u32,
}

struct ConstructVerifier<'m> {
    module: &'m SpirvModule,
    handles: &'m [Block],
    graph: StructuralGraph,
    /// Header of which each block is the merge block.
    merged_by: Vec<u32>,
    tree: DominanceTree,
    /// Post-dominators, where there are loops.
    post: Option<DominanceTree>,
    order: Vec<u32>,
    /// Number of the walk that each block was seen in last, so that no table is cleared.
    inside: Vec<u32>,
    seen: Vec<u32>,
    walk: u32,
    /// The known behaviour of the current switch's cases.
    cases: FxHashMap<u32, u32>,
}

/// Checks a function's constructs. Its branches go to its blocks.
pub(super) fn verify_structure(module: &SpirvModule, ids: &IdWords, func: Func) -> StructureResult {
    if module.function(func).blocks.is_empty() {
        return Ok(());
    }
    let mut structure = ConstructVerifier::new(module, ids, func)?;
    let back = structure.back_edges()?;
    for construct in structure.find_constructs(&back) {
        structure.verify_construct(construct, &back)?;
    }
    structure.verify_selections()
}

impl<'m> ConstructVerifier<'m> {
    fn new(
        module: &'m SpirvModule,
        ids: &IdWords,
        func: Func,
    ) -> Result<Self, (Inst, VerifyFault)> {
        let graph = StructuralGraph::from_function(module, ids, func)?;
        let handles = &module.function(func).blocks;
        let blocks = handles.len();
        let mut merged_by = vec![NONE; blocks];
        for header in 0..blocks as u32 {
            let (merge, _) = graph.merge_targets(header);
            if merge != NONE && std::mem::replace(&mut merged_by[merge as usize], header) != NONE {
                let inst = module.merge_inst(handles[header as usize]);
                let inst = inst.map_or(Inst::FIRST, InstRef::handle);
                let message = "its merge block is that of another header too";
                return Err((inst, make_fault(VerifyRule::Structure, message)));
            }
        }
        let order = graph.reverse_postorder();
        let tree = graph.compute_dominators(&order);
        let post = graph.has_loops().then(|| graph.post_dominators());
        Ok(ConstructVerifier {
            module,
            handles,
            graph,
            merged_by,
            tree,
            post,
            order,
            inside: vec![0; blocks],
            seen: vec![0; blocks],
            walk: 0,
            cases: FxHashMap::default(),
        })
    }

    fn terminator(&self, block: u32) -> InstRef<'m> {
        self.module.terminator(self.handles[block as usize])
    }

    fn make_block_fault(&self, block: u32, message: impl Into<String>) -> (Inst, VerifyFault) {
        let label = self.module.block(self.handles[block as usize]).label;
        (label, make_fault(VerifyRule::Structure, message.into()))
    }

    fn block_label(&self, block: u32) -> Id {
        self.module.label(self.handles[block as usize])
    }

    fn is_reachable(&self, block: u32) -> bool {
        self.tree.is_reached(block)
    }

    fn is_loop(&self, block: u32) -> bool {
        self.graph.merge_targets(block).1 != NONE
    }

    /// The block of the back edge to each loop header. A back edge is one to a block that is on the
    /// path of the depth-first walk.
    fn back_edges(&self) -> Result<Vec<u32>, (Inst, VerifyFault)> {
        let blocks = self.handles.len();
        let mut latch = vec![NONE; blocks];
        let mut on_path = vec![false; blocks];
        let mut seen = vec![false; blocks];
        let mut stack = vec![(0u32, 0u32)];
        seen[0] = true;
        on_path[0] = true;
        while let Some((block, next)) = stack.last_mut() {
            let block = *block;
            let Some(target) = self
                .graph
                .structural_successors(block)
                .get(*next as usize)
                .copied()
            else {
                on_path[block as usize] = false;
                stack.pop();
                continue;
            };
            *next += 1;
            if on_path[target as usize] && self.graph.successors(block).contains(&target) {
                if !self.is_loop(target) {
                    let message = format!(
                        "it leads back to {}, which is no loop header",
                        self.block_label(target)
                    );
                    return Err(self.make_block_fault(block, message));
                }
                let known = &mut latch[target as usize];
                if *known != NONE && *known != block {
                    return Err(
                        self.make_block_fault(target, "the loop has more than one back edge")
                    );
                }
                *known = block;
            }
            if !std::mem::replace(&mut seen[target as usize], true) {
                on_path[target as usize] = true;
                stack.push((target, 0));
            }
        }
        for block in 0..blocks as u32 {
            if self.is_loop(block) && self.is_reachable(block) && latch[block as usize] == NONE {
                return Err(self.make_block_fault(block, "the loop has no back edge"));
            }
        }
        Ok(latch)
    }

    fn find_constructs(&self, back: &[u32]) -> Vec<CheckedConstruct> {
        let mut found = Vec::new();
        for header in 0..self.handles.len() as u32 {
            let (merge, continues) = self.graph.merge_targets(header);
            if merge == NONE || !self.is_reachable(header) {
                continue;
            }
            let kind = if continues == NONE {
                ConstructKind::Selection
            } else {
                ConstructKind::Loop
            };
            found.push(CheckedConstruct {
                kind,
                header,
                exit: merge,
            });
            if continues != NONE {
                found.push(CheckedConstruct {
                    kind: ConstructKind::Continue(header),
                    header: continues,
                    exit: back[header as usize],
                });
            }
        }
        found
    }

    /// The blocks of a construct, marked in `inside` with the construct's header.
    fn collect_blocks(&mut self, c: CheckedConstruct) -> Vec<u32> {
        let mut found = Vec::new();
        let mut stack = vec![c.header];
        let continues = match c.kind {
            ConstructKind::Loop => self.graph.merge_targets(c.header).1,
            _ => NONE,
        };
        self.walk += 1;
        let walk = self.walk;
        while let Some(block) = stack.pop() {
            if self.inside[block as usize] == walk || !self.tree.is_above(c.header, block) {
                continue;
            }
            let include = match c.kind {
                ConstructKind::Continue(_) => {
                    let post = self.post.as_ref();
                    post.is_some_and(|post| post.is_above(c.exit, block))
                        || !self.tree.is_above(c.exit, block)
                }
                ConstructKind::Selection => !self.tree.is_above(c.exit, block),
                ConstructKind::Loop => {
                    !self.tree.is_above(c.exit, block) && !self.tree.is_above(continues, block)
                }
            };
            if include {
                self.inside[block as usize] = walk;
                found.push(block);
                stack.extend_from_slice(self.graph.structural_successors(block));
            }
        }
        found
    }

    fn verify_construct(&mut self, c: CheckedConstruct, back: &[u32]) -> StructureResult {
        if !self.tree.is_above(c.header, c.exit) {
            let what = match c.kind {
                ConstructKind::Continue(_) => {
                    "the continue target does not dominate the back edge's block"
                }
                _ => "the header does not dominate its merge block",
            };
            return Err(
                self.make_block_fault(c.header, format!("{what} {}", self.block_label(c.exit)))
            );
        }
        if let ConstructKind::Continue(_) = c.kind
            && let Some(post) = &self.post
            && post.is_reached(c.header)
            && !post.is_above(c.exit, c.header)
        {
            let message = format!(
                "the continue target is not post-dominated by the back edge's block {}",
                self.block_label(c.exit)
            );
            return Err(self.make_block_fault(c.header, message));
        }
        let blocks = self.collect_blocks(c);
        for &block in &blocks {
            self.verify_block(c, block)?;
        }
        if c.kind == ConstructKind::Loop {
            self.entries_of_continue(c, back)?;
        }
        if c.kind == ConstructKind::Selection && self.terminator(c.header).op() == Op::Switch {
            self.verify_switch(c)?;
        }
        Ok(())
    }

    /// Whether a block is in the construct that was walked last.
    fn is_inside(&self, block: u32) -> bool {
        self.inside[block as usize] == self.walk
    }

    fn verify_block(&self, c: CheckedConstruct, block: u32) -> StructureResult {
        let is_inside = |b: u32| self.is_inside(b);
        for &target in self.graph.successors(block) {
            if !is_inside(target) && !self.is_exit(c, target) {
                let message = format!(
                    "it leaves the construct of {} to {}, which is no structured exit",
                    self.block_label(c.header),
                    self.block_label(target)
                );
                return Err(self.make_block_fault(block, message));
            }
        }
        if block == c.header {
            return Ok(());
        }
        for source in self.graph.predecessors(block) {
            if self.is_reachable(source) && !is_inside(source) {
                let message = format!(
                    "it enters the construct of {} at {}, not at its header",
                    self.block_label(c.header),
                    self.block_label(block)
                );
                return Err(self.make_block_fault(source, message));
            }
        }
        let (merge, _) = self.graph.merge_targets(block);
        if merge != NONE && self.is_reachable(merge) && !is_inside(merge) {
            let message = format!(
                "it is in the construct of {}, but its merge block {} is not",
                self.block_label(c.header),
                self.block_label(merge)
            );
            return Err(self.make_block_fault(block, message));
        }
        Ok(())
    }

    fn entries_of_continue(&self, c: CheckedConstruct, back: &[u32]) -> StructureResult {
        let continues = self.graph.merge_targets(c.header).1;
        if continues == c.header {
            return Ok(());
        }
        for source in self.graph.predecessors(continues) {
            if self.is_reachable(source)
                && !self.is_inside(source)
                && back[continues as usize] != source
            {
                let message = format!(
                    "it leads to the continue target {}, but is not in its loop",
                    self.block_label(continues)
                );
                return Err(self.make_block_fault(source, message));
            }
        }
        Ok(())
    }

    /// Whether a construct may be left to a block (specification, section 2.11.2).
    fn is_exit(&self, c: CheckedConstruct, target: u32) -> bool {
        match c.kind {
            ConstructKind::Loop => {
                let (merge, continues) = self.graph.merge_targets(c.header);
                target == merge || target == continues
            }
            ConstructKind::Continue(header) => {
                target == header || target == self.graph.merge_targets(header).0
            }
            ConstructKind::Selection => target == c.exit || self.is_outer_exit(c, target),
        }
    }

    /// Merge block or continue target of the innermost loop around a selection, or merge block of
    /// the innermost switch.
    fn is_outer_exit(&self, c: CheckedConstruct, target: u32) -> bool {
        let is_switch = |b: u32| self.terminator(b).op() == Op::Switch;
        let own_switch = is_switch(c.header);
        let mut seen_switch = false;
        let mut block = self.enclosing_header(c.header);
        while let Some(b) = block {
            let (merge, continues) = self.graph.merge_targets(b);
            let is_loop = continues != NONE;
            if merge != NONE && (is_loop || !own_switch && is_switch(b)) {
                if self.tree.is_above(merge, c.header) {
                    block = self.enclosing_header(b);
                    continue;
                }
                if (!seen_switch || is_loop) && target == merge || is_loop && target == continues {
                    return true;
                }
                seen_switch |= is_switch(b);
                if is_loop {
                    return false;
                }
            }
            block = self.enclosing_header(b);
        }
        false
    }

    /// The header that a block merges, or its dominator.
    fn enclosing_header(&self, block: u32) -> Option<u32> {
        let header = self.merged_by[block as usize];
        if header != NONE && self.tree.is_above(header, block) {
            return Some(header);
        }
        self.tree.parent(block)
    }

    /// Cases follow each other in the order of their targets, each falls through to one at most.
    fn verify_switch(&mut self, c: CheckedConstruct) -> StructureResult {
        let targets = self.graph.successors(c.header).to_vec();
        let default_repeats = targets[1..].contains(&targets[0]);
        self.cases.clear();
        for target in targets.iter().filter(|t| **t != c.exit) {
            self.cases.insert(*target, UNKNOWN);
        }
        let mut fallen = FxHashSet::default();
        let mut of_default = NONE;
        for (at, &target) in targets.iter().enumerate() {
            if target == c.exit {
                continue;
            }
            if self.cases.get(&target) == Some(&UNKNOWN) {
                if self.is_reachable(target) && !self.tree.is_above(c.header, target) {
                    let message = format!(
                        "the switch does not dominate its case {}",
                        self.block_label(target)
                    );
                    return Err(self.make_block_fault(c.header, message));
                }
                let to = self.fall_through(c, target)?;
                self.cases.insert(target, to);
                if to != NONE && !fallen.insert(to) {
                    return Err(self.make_block_fault(to, "several cases fall through to it"));
                }
            }
            let mut to = self.cases.get(&target).copied().unwrap_or(NONE);
            if to == targets[0] && !default_repeats {
                to = of_default;
            }
            if to == NONE {
                continue;
            }
            if at == 0 {
                of_default = to;
                continue;
            }
            let mut last = at;
            while targets.get(last + 1) == Some(&target) {
                last += 1;
            }
            if targets.get(last + 1) != Some(&to) {
                let message = format!(
                    "the case {} falls through to {}, which is not the next",
                    self.block_label(target),
                    self.block_label(to)
                );
                return Err(self.make_block_fault(c.header, message));
            }
        }
        Ok(())
    }

    /// The case that a case falls through to; `NONE` if there is none.
    fn fall_through(
        &mut self,
        c: CheckedConstruct,
        target: u32,
    ) -> Result<u32, (Inst, VerifyFault)> {
        let mut found = NONE;
        self.walk += 1;
        let walk = self.walk;
        let mut stack = vec![target];
        while let Some(block) = stack.pop() {
            if block == c.exit || std::mem::replace(&mut self.seen[block as usize], walk) == walk {
                continue;
            }
            let is_own = self.is_reachable(target)
                && self.is_reachable(block)
                && self.tree.is_above(target, block);
            if is_own {
                stack.extend_from_slice(self.graph.successors(block));
                continue;
            }
            if !self.cases.contains_key(&block) {
                if self.is_exit(c, block) {
                    continue;
                }
                let message = format!(
                    "the case leads to {}, which is no exit",
                    self.block_label(block)
                );
                return Err(self.make_block_fault(target, message));
            }
            if found == NONE {
                if target != block {
                    found = block;
                }
            } else if found != block {
                return Err(
                    self.make_block_fault(target, "the case falls through to several others")
                );
            }
        }
        Ok(found)
    }

    /// A branch to two blocks that are new needs a merge instruction.
    fn verify_selections(&self) -> StructureResult {
        let mut seen = vec![false; self.handles.len()];
        for &block in &self.order {
            let (merge, continues) = self.graph.merge_targets(block);
            for b in [merge, continues] {
                if b != NONE {
                    seen[b as usize] = true;
                }
            }
            let terminator = self.terminator(block);
            if !matches!(terminator.op(), Op::BranchConditional | Op::Switch) {
                continue;
            }
            let mut unseen = 0;
            for target in self.graph.successors(block) {
                unseen += u32::from(!std::mem::replace(&mut seen[*target as usize], true));
            }
            let (is_missing, what) = match terminator.op() {
                Op::Switch => (merge == NONE, "a switch"),
                _ => (
                    (merge == NONE || continues != NONE) && unseen > 1,
                    "a branch to two new blocks",
                ),
            };
            if is_missing {
                let found = make_fault(
                    VerifyRule::Structure,
                    format!("{what} has no OpSelectionMerge"),
                )
                .with_hint("declare where its paths come together again");
                return Err((terminator.handle(), found));
            }
        }
        Ok(())
    }
}
