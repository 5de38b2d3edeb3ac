//! Emission of structured control flow from the dominator tree.

use super::DEEPEST;
use super::block_writer::{MultiwayTerminator, PhiStore};
use super::demotion::DemotionSlots;
use super::reducible_graph::{ControlFlowEdge, NONE, ReducibleGraph};
use super::target_numbers::TargetNumbers;
use rustc_hash::FxHashMap;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_spirv::Id;
use spirula_spirv::analysis::FlowGraph;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Block, Func, IdWords, SpirvModule};

/// Targets that paths through a part still have to reach, in increasing order. If there are any, a block is open in which all of
/// these paths meet.
type PendingTargets = Vec<u32>;

/// The emitted part of a node or loop, and the nodes that follow it.
struct EmittedPart {
    pending: PendingTargets,
    /// Nodes that it dominates, in the order in which they can follow.
    below: Vec<u32>,
    /// The node that follows directly, to which the last block branches.
    next: Option<u32>,
}

/// Routes of an edge.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EdgeRoute {
    /// To its target, which is an arm of its own.
    Arm,
    /// To the end of the construct.
    Fall,
    /// To a label of the enclosing loop: its continue target or merge block.
    Leave(Id),
}

/// Labels of a loop's construct.
#[derive(Clone, Copy)]
struct LoopConstructLabels {
    header: Id,
    next: Id,
    merge: Id,
}

pub(super) struct ControlFlowEmitter<'a> {
    pub(super) module: &'a mut SpirvModule,
    pub(super) ids: &'a IdWords,
    pub(super) func: Func,
    pub(super) cfg: &'a FlowGraph,
    pub(super) graph: ReducibleGraph,
    pub(super) slots: &'a mut DemotionSlots,
    /// Blocks in the order of emission.
    pub(super) order: Vec<Block>,
    /// The open block.
    pub(super) current: Option<Block>,
    /// Labels of dispatchers.
    dispatchers: Vec<Id>,
    /// Variables that dispatchers read.
    pub(super) notes: Vec<Id>,
    loops: Vec<LoopConstructLabels>,
    /// Stores of edges, by the label that they come from.
    pub(super) moves: FxHashMap<Id, Vec<PhiStore>>,
    /// The variable with the number of the target, once it is needed.
    pub(super) target: Option<Id>,
    pub(super) numbers: TargetNumbers,
    depth: u32,
}

/// Gives a function structured control flow; its phis become variables.
///
/// # Errors
/// When constructs would nest too deeply.
pub fn structurise_function(
    module: &mut SpirvModule,
    ids: &IdWords,
    func: Func,
    cfg: &FlowGraph,
    slots: &mut DemotionSlots,
) -> Result<(), SourceDiagnostic> {
    let graph = ReducibleGraph::new(cfg);
    let extra = graph.edges.len() - cfg.len();
    let numbers = TargetNumbers::new(module);
    let dispatchers = (0..extra).map(|_| module.fresh_id()).collect();
    let notes = (0..extra).map(|_| slots.create_variable(module, numbers.ty));
    let notes = notes.collect();
    let loops = graph.loops.iter().map(|_| LoopConstructLabels {
        header: module.fresh_id(),
        next: module.fresh_id(),
        merge: module.fresh_id(),
    });
    let loops = loops.collect();
    let mut emitter = ControlFlowEmitter {
        ids,
        func,
        cfg,
        slots,
        order: Vec::with_capacity(cfg.len()),
        current: None,
        dispatchers,
        notes,
        loops,
        moves: FxHashMap::default(),
        target: None,
        numbers,
        depth: 0,
        graph,
        module,
    };
    emitter.demote_phis();
    let root = emitter.graph.root();
    let pending = emitter.emit_subtree(root, NONE)?;
    if !pending.is_empty() {
        let text = "control flow could not be structured";
        return Err(SourceDiagnostic::error(SourceLocation::Unknown, text));
    }
    let order = emitter.order;
    module.set_block_order(func, order);
    Ok(())
}

impl ControlFlowEmitter<'_> {
    /// Emits a node with all nodes that it dominates within the loop `around`, or a loop if the node is the header of another loop.
    /// Successive parts neither nest nor recurse.
    fn emit_subtree(&mut self, node: u32, around: u32) -> Result<PendingTargets, SourceDiagnostic> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let text = format!("control flow nests deeper than {DEEPEST} constructs");
            return Err(SourceDiagnostic::error(SourceLocation::Unknown, text));
        }
        let mut next = Some(node);
        let mut pending = Vec::new();
        // Nodes that emitted nodes dominate, the latest last.
        let mut below = Vec::new();
        loop {
            if let Some(node) = next {
                let part = match self.graph.find_headed_loop(node) {
                    Some(inner) if inner != around => self.emit_loop_construct(inner, around),
                    _ => self.emit_node(node, around),
                }?;
                (pending, next) = (part.pending, part.next);
                below.push(part.below.into_iter());
                continue;
            }
            let Some(nodes) = below.last_mut() else {
                break;
            };
            match nodes.next() {
                None => _ = below.pop(),
                Some(node) => next = self.emit_follower(node, &mut pending, around)?,
            }
        }
        self.depth -= 1;
        Ok(pending)
    }

    /// Emits a loop construct; returns the nodes that follow it within the loop `around`.
    fn emit_loop_construct(
        &mut self,
        inner: u32,
        around: u32,
    ) -> Result<EmittedPart, SourceDiagnostic> {
        let LoopConstructLabels {
            header,
            next,
            merge,
        } = self.loops[inner as usize];
        let first = self.graph.loops[inner as usize].header;
        self.open_block(header);
        self.append_instruction(Op::LoopMerge, &[merge.word(), next.word(), 0]);
        let body = self.node_label(first);
        self.emit_branch(body);
        let left = self.emit_subtree(first, inner)?;
        if !left.is_empty() {
            let text = "a loop could not be structured";
            return Err(SourceDiagnostic::error(SourceLocation::Unknown, text));
        }
        self.open_block(next);
        self.emit_branch(header);
        self.open_block(merge);
        let exits = self.graph.loops[inner as usize].exits.clone();
        let below = self.graph.loops[inner as usize].below.clone();
        let (only, mut pending) = (exits.len() == 1, Vec::new());
        for exit in exits {
            let way = self.route_target(exit, around);
            match way {
                EdgeRoute::Leave(label) if only => {
                    if self.is_named_at(label, around) {
                        self.store_target(exit);
                    }
                    self.emit_branch(label);
                }
                EdgeRoute::Leave(label) => {
                    let after = self.module.fresh_id();
                    self.emit_target_test(exit, label, after);
                    self.open_block(after);
                }
                _ => {
                    if only {
                        self.store_target(exit);
                    }
                    pending.push(exit);
                }
            }
        }
        pending.sort_unstable();
        if pending.is_empty() && self.current.is_some() {
            self.append_instruction(Op::Unreachable, &[]);
            self.current = None;
        }
        Ok(EmittedPart {
            pending,
            below,
            next: None,
        })
    }

    /// Emits a node and its arms; returns the nodes that follow.
    fn emit_node(&mut self, node: u32, around: u32) -> Result<EmittedPart, SourceDiagnostic> {
        let label = self.node_label(node);
        let block = if self.graph.is_dispatcher(node) {
            self.open_block(label)
        } else {
            let block = self.cfg.block(node);
            self.order.push(block);
            self.current = Some(block);
            block
        };
        let edges = self.graph.edges[node as usize].clone();
        let arm = |e: &&ControlFlowEdge| self.find_edge_route(node, **e, around) == EdgeRoute::Arm;
        let arms: Vec<u32> = edges.iter().filter(arm).map(|e| e.to).collect();
        let (pending, next) = match edges[..] {
            [] => {
                self.current = None;
                (Vec::new(), None)
            }
            [edge] => self.emit_jump(node, block, edge, around),
            _ => self.emit_selection(node, block, &edges, around)?,
        };
        let below = self.graph.below[node as usize].iter().copied();
        Ok(EmittedPart {
            pending,
            below: below.filter(|n| !arms.contains(n)).collect(),
            next,
        })
    }

    /// Emits the only edge of a node.
    fn emit_jump(
        &mut self,
        node: u32,
        block: Block,
        edge: ControlFlowEdge,
        around: u32,
    ) -> (PendingTargets, Option<u32>) {
        if !self.graph.is_dispatcher(node) {
            self.take_terminator(block);
        }
        self.emit_edge_stores(node, edge);
        match self.find_edge_route(node, edge, around) {
            EdgeRoute::Arm => {
                let label = self.entry_label(edge.to);
                self.emit_branch(label);
                (Vec::new(), Some(edge.to))
            }
            EdgeRoute::Fall => {
                self.store_target(edge.to);
                (vec![edge.to], None)
            }
            EdgeRoute::Leave(label) => {
                if self.is_named_at(label, around) {
                    self.store_target(edge.to);
                }
                self.emit_branch(label);
                (Vec::new(), None)
            }
        }
    }

    /// Emits a node with several edges: a selection construct.
    fn emit_selection(
        &mut self,
        node: u32,
        block: Block,
        edges: &[ControlFlowEdge],
        around: u32,
    ) -> Result<(PendingTargets, Option<u32>), SourceDiagnostic> {
        let (op, selector) = self.take_selector(node, block);
        let merge = self.module.fresh_id();
        // Smaller arms come first, the largest last. If no other arm reaches the merge block, the largest continues there, so that code
        // after `if (c) return;` is not nested.
        let mut order: Vec<usize> = (0..edges.len()).collect();
        order.sort_by_key(|at| match self.find_edge_route(node, edges[*at], around) {
            EdgeRoute::Arm => 1 + self.graph.sizes[edges[*at].to as usize],
            _ => 0,
        });
        let mut pending = Vec::new();
        let mut labels = vec![merge; edges.len()];
        let mut rest = None;
        for (number, &at) in order.iter().enumerate() {
            let edge = edges[at];
            let way = self.find_edge_route(node, edge, around);
            if way == EdgeRoute::Arm && number + 1 == edges.len() && pending.is_empty() {
                rest = Some(edge);
                break;
            }
            let (label, left) = self.emit_arm(node, edge, merge, around)?;
            labels[at] = label;
            merge_pending(&mut pending, &left);
        }
        self.current = Some(block);
        self.append_instruction(Op::SelectionMerge, &[merge.word(), 0]);
        let words = self.relabel_selector(selector, edges, &labels);
        self.append_instruction(op, &words);
        self.open_block(merge);
        if let Some(edge) = rest {
            self.emit_edge_stores(node, edge);
            let label = self.entry_label(edge.to);
            self.emit_branch(label);
        } else if pending.is_empty() {
            self.append_instruction(Op::Unreachable, &[]);
            self.current = None;
        }
        Ok((pending, rest.map(|e| e.to)))
    }

    /// Emits the arm of a selection's edge up to the merge block: returns the label to branch to, and the pending targets.
    fn emit_arm(
        &mut self,
        node: u32,
        edge: ControlFlowEdge,
        merge: Id,
        around: u32,
    ) -> Result<(Id, PendingTargets), SourceDiagnostic> {
        let way = self.find_edge_route(node, edge, around);
        let is_plain = way == EdgeRoute::Arm && !self.has_writes(node, edge);
        let label = if is_plain {
            self.entry_label(edge.to)
        } else {
            let label = self.module.fresh_id();
            self.open_block(label);
            self.emit_edge_stores(node, edge);
            label
        };
        let left = match way {
            EdgeRoute::Arm => {
                if !is_plain {
                    let label = self.entry_label(edge.to);
                    self.emit_branch(label);
                }
                let left = self.emit_subtree(edge.to, around)?;
                if !left.is_empty() {
                    self.emit_branch(merge);
                }
                left
            }
            EdgeRoute::Fall => {
                self.store_target(edge.to);
                self.emit_branch(merge);
                vec![edge.to]
            }
            EdgeRoute::Leave(label) => {
                if self.is_named_at(label, around) {
                    self.store_target(edge.to);
                }
                self.emit_branch(label);
                Vec::new()
            }
        };
        Ok((label, left))
    }

    /// The words of a selector with the new labels of its edges.
    fn relabel_selector(
        &self,
        mut selector: MultiwayTerminator,
        edges: &[ControlFlowEdge],
        labels: &[Id],
    ) -> Vec<u32> {
        for (edge, label) in edges.iter().zip(labels) {
            let old = match edge.origin {
                NONE => self.node_label(edge.to),
                origin => self.module.label(self.cfg.block(origin)),
            };
            for target in &selector.targets {
                if target.1 == old {
                    selector.words[target.0] = label.word();
                }
            }
        }
        selector.words
    }

    /// Emits a dominated node that paths reach: directly if all of them do, else after a test.
    fn emit_follower(
        &mut self,
        node: u32,
        pending: &mut PendingTargets,
        around: u32,
    ) -> Result<Option<u32>, SourceDiagnostic> {
        let Ok(at) = pending.binary_search(&node) else {
            return Ok(None);
        };
        pending.remove(at);
        let label = self.entry_label(node);
        if pending.is_empty() {
            self.emit_branch(label);
            return Ok(Some(node));
        }
        let after = self.module.fresh_id();
        self.emit_target_test(node, label, after);
        let left = self.emit_subtree(node, around)?;
        if !left.is_empty() {
            self.emit_branch(after);
        }
        self.open_block(after);
        merge_pending(pending, &left);
        Ok(None)
    }

    /// The route of a node's edge within the loop `around`.
    fn find_edge_route(&self, node: u32, edge: ControlFlowEdge, around: u32) -> EdgeRoute {
        match self.route_target(edge.to, around) {
            EdgeRoute::Fall
                if self.graph.entries[edge.to as usize] == 1
                    && self.graph.below[node as usize].contains(&edge.to) =>
            {
                EdgeRoute::Arm
            }
            way => way,
        }
    }

    fn route_target(&self, to: u32, around: u32) -> EdgeRoute {
        if around == NONE {
            return EdgeRoute::Fall;
        }
        let labels = self.loops[around as usize];
        if self.graph.loops[around as usize].header == to {
            EdgeRoute::Leave(labels.next)
        } else if self.graph.contains(around, to) {
            EdgeRoute::Fall
        } else {
            EdgeRoute::Leave(labels.merge)
        }
    }

    /// Whether a path to a label of the loop `around` has to store its target, since there are several.
    fn is_named_at(&self, label: Id, around: u32) -> bool {
        around != NONE
            && self.loops[around as usize].merge == label
            && self.graph.loops[around as usize].exits.len() > 1
    }

    /// The label by which a node is entered from outside of the loop whose header it is.
    fn entry_label(&self, node: u32) -> Id {
        match self.graph.find_headed_loop(node) {
            Some(inner) => self.loops[inner as usize].header,
            None => self.node_label(node),
        }
    }

    pub(super) fn node_label(&self, node: u32) -> Id {
        match node.checked_sub(self.graph.blocks) {
            Some(at) => self.dispatchers[at as usize],
            None => self.module.label(self.cfg.block(node)),
        }
    }
}

fn merge_pending(pending: &mut PendingTargets, more: &[u32]) {
    pending.extend(more);
    pending.sort_unstable();
    pending.dedup();
}
