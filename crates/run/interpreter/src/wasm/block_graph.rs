//! Control-flow graph of a function's steps, made reducible by a dispatcher.
//!
//! Structured code is made of reducible graphs alone. A graph gets a node that enters blocks by number where an invocation
//! resumes within it, or where a loop has several entries: edges to a block that is entered through the dispatcher set its
//! number and go there. Each round routes the targets of retreating edges that do not dominate their sources, until there
//! are none.

use super::function_plan::FunctionPlan;
use crate::step::{CodeStep, KernelCode, TableRange};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::analysis::{DominanceTree, reverse_postorder};
use std::collections::HashMap;
use std::ops::Range;

/// Most blocks of a function.
const MOST_BLOCKS: usize = 8_000;

/// A block by its number; the dispatcher is the one after all others.
pub(super) type BlockNumber = usize;

/// A way to a block, with registers that it sets.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlowEdge {
    pub target: BlockNumber,
    pub moves: TableRange,
}

/// The end of a block.
#[derive(Clone, Debug)]
pub(super) enum BlockExit {
    /// The last step decides: an edge for each way. A switch has its default last.
    Ways(Vec<FlowEdge>),
    /// The next block follows.
    Next(FlowEdge),
    /// The last step leaves the function, or the invocation waits.
    Leave,
}

/// A block of steps.
#[derive(Clone, Debug)]
pub(super) struct StepBlock {
    /// All steps, the one that ends it included.
    pub steps: Range<usize>,
    pub exit: BlockExit,
}

/// The blocks of a function in structured order.
#[derive(Debug)]
pub(super) struct BlockGraph {
    pub blocks: Vec<StepBlock>,
    /// Blocks that are entered through the dispatcher, in the order of their numbers there; empty without one.
    pub dispatched: Vec<BlockNumber>,
    /// Whether edges to a block go through the dispatcher.
    pub is_routed: Vec<bool>,
    /// The position of each node in reverse postorder; none where it is not reached.
    pub order: Vec<Option<usize>>,
    /// Whether edges lead back to the node.
    pub is_loop: Vec<bool>,
    /// Blocks that join ways, by the node that dominates them, the last in order first.
    pub joins: Vec<Vec<BlockNumber>>,
    /// Whether a block joins ways.
    pub is_join: Vec<bool>,
}

impl BlockGraph {
    /// The graph of a function. `is_resumed` tells steps at which an invocation resumes in the function itself.
    ///
    /// # Errors
    /// When the function has too many blocks.
    pub(super) fn from_function(
        code: &KernelCode,
        plan: &FunctionPlan,
        is_resumed: impl Fn(&CodeStep) -> ResumeKind,
    ) -> Result<BlockGraph, SourceDiagnostic> {
        let (blocks, resumed) = split_blocks(code, plan, &is_resumed);
        if blocks.len() > MOST_BLOCKS {
            let place = code.places.get(plan.steps.start).copied();
            let message = "the function has too many blocks for one WebAssembly function";
            return Err(SourceDiagnostic::error(place.unwrap_or_default(), message));
        }
        let nodes = blocks.len() + 1;
        let mut graph = BlockGraph {
            blocks,
            dispatched: Vec::new(),
            is_routed: vec![false; nodes],
            order: Vec::new(),
            is_loop: Vec::new(),
            joins: Vec::new(),
            is_join: Vec::new(),
        };
        if !resumed.is_empty() {
            graph.dispatched.push(0);
            let others = resumed.into_iter().filter(|block| *block != 0);
            graph.dispatched.extend(others);
        }
        graph.make_structured();
        Ok(graph)
    }

    /// The number of the dispatcher.
    pub(super) fn dispatcher(&self) -> BlockNumber {
        self.blocks.len()
    }

    /// The node where the function begins.
    pub(super) fn root(&self) -> BlockNumber {
        if self.dispatched.is_empty() {
            0
        } else {
            self.dispatcher()
        }
    }

    /// The number of a block in the dispatcher.
    pub(super) fn dispatch_number(&self, block: BlockNumber) -> u32 {
        let position = self.dispatched.iter().position(|other| *other == block);
        position.unwrap_or(0) as u32
    }

    /// The nodes that follow a node, one for each way.
    fn successors(&self, node: BlockNumber) -> Vec<BlockNumber> {
        if node == self.dispatcher() {
            return self.dispatched.clone();
        }
        let through = |edge: &FlowEdge| {
            if self.is_routed[edge.target] {
                self.dispatcher()
            } else {
                edge.target
            }
        };
        match &self.blocks[node].exit {
            BlockExit::Ways(edges) => edges.iter().map(through).collect(),
            BlockExit::Next(edge) => vec![through(edge)],
            BlockExit::Leave => Vec::new(),
        }
    }

    /// Routes edges through the dispatcher until the graph is reducible, and finds loops and joins.
    fn make_structured(&mut self) {
        loop {
            let nodes = self.blocks.len() + 1;
            let successors: Vec<Vec<BlockNumber>> =
                (0..nodes).map(|node| self.successors(node)).collect();
            let reached = reverse_postorder(nodes, self.root() as u32, |node, way| {
                let target = successors[node as usize].get(way)?;
                Some(*target as u32)
            });
            self.order = vec![None; nodes];
            for (position, node) in reached.iter().enumerate() {
                self.order[*node as usize] = Some(position);
            }
            let dominators = find_dominators(&successors, &reached);
            let mut irreducible = Vec::new();
            self.is_loop = vec![false; nodes];
            let mut entries = vec![0usize; nodes];
            for node in &reached {
                for target in &successors[*node as usize] {
                    if self.order[*target] > self.order[*node as usize] {
                        entries[*target] += 1;
                    } else if dominators.is_above(*target as u32, *node) {
                        self.is_loop[*target] = true;
                    } else {
                        irreducible.push(*target);
                    }
                }
            }
            if irreducible.is_empty() {
                self.list_joins(&reached, &dominators, &entries);
                return;
            }
            self.route(&irreducible);
        }
    }

    fn route(&mut self, targets: &[BlockNumber]) {
        if self.dispatched.is_empty() {
            self.dispatched.push(0);
        }
        for target in targets {
            if !self.dispatched.contains(target) {
                self.dispatched.push(*target);
            }
            self.is_routed[*target] = true;
        }
    }

    fn list_joins(&mut self, reached: &[u32], dominators: &DominanceTree, entries: &[usize]) {
        let nodes = self.blocks.len() + 1;
        self.is_join = entries.iter().map(|count| *count > 1).collect();
        self.joins = vec![Vec::new(); nodes];
        for node in reached.iter().rev() {
            let is_join = self.is_join[*node as usize];
            if let Some(dominator) = dominators.parent(*node).filter(|_| is_join) {
                self.joins[dominator as usize].push(*node as usize);
            }
        }
    }
}

/// How an invocation resumes at a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResumeKind {
    Never,
    /// After the step.
    After,
    /// At the step, which is a call of a function that resumes itself.
    At,
}

/// Splits the steps of a function into blocks. Returns also those where an invocation resumes.
fn split_blocks(
    code: &KernelCode,
    plan: &FunctionPlan,
    is_resumed: &impl Fn(&CodeStep) -> ResumeKind,
) -> (Vec<StepBlock>, Vec<BlockNumber>) {
    let mut starts: Vec<usize> = vec![plan.steps.start];
    let mut resumed_steps = Vec::new();
    for at in plan.steps.clone() {
        match is_resumed(&code.steps[at]) {
            ResumeKind::Never => {}
            ResumeKind::After => resumed_steps.push(at + 1),
            ResumeKind::At => resumed_steps.push(at),
        }
        if code.steps[at].ends_block() {
            starts.push(at + 1);
        }
    }
    starts.extend(resumed_steps.iter().filter(|at| plan.steps.contains(at)));
    let edges = plan.list_edges(code);
    starts.extend(
        edges
            .iter()
            .map(|edge| code.edges[*edge as usize].target as usize),
    );
    starts.sort_unstable();
    starts.dedup();
    starts.retain(|start| *start < plan.steps.end);
    let numbers: HashMap<usize, BlockNumber> = starts
        .iter()
        .enumerate()
        .map(|(number, start)| (*start, number))
        .collect();
    let to_edge = |edge: &u32| {
        let edge = code.edges[*edge as usize];
        FlowEdge {
            target: numbers.get(&(edge.target as usize)).copied().unwrap_or(0),
            moves: edge.moves,
        }
    };
    let ends = starts.iter().skip(1).copied().chain([plan.steps.end]);
    let blocks = starts.iter().zip(ends).enumerate();
    let blocks = blocks.map(|(number, (start, end))| {
        let exit = match &code.steps[end - 1] {
            CodeStep::Jump(edge) => BlockExit::Ways(vec![to_edge(edge)]),
            CodeStep::Branch { edges, .. } => BlockExit::Ways(edges.iter().map(to_edge).collect()),
            CodeStep::Switch { cases, default, .. } => {
                let cases = code.cases[cases.indices()].iter();
                let edges = cases.map(|case| to_edge(&case.edge));
                BlockExit::Ways(edges.chain([to_edge(default)]).collect())
            }
            step if step.ends_block() || is_resumed(step) == ResumeKind::After => BlockExit::Leave,
            _ => BlockExit::Next(FlowEdge {
                target: number + 1,
                moves: TableRange::default(),
            }),
        };
        StepBlock {
            steps: *start..end,
            exit,
        }
    });
    let blocks = blocks.collect();
    let resumed = resumed_steps
        .iter()
        .filter_map(|at| numbers.get(at).copied());
    (blocks, resumed.collect())
}

/// The dominators of the nodes that are reached, in reverse postorder.
fn find_dominators(successors: &[Vec<BlockNumber>], reached: &[u32]) -> DominanceTree {
    let mut predecessors = vec![Vec::new(); successors.len()];
    for node in reached {
        for successor in &successors[*node as usize] {
            predecessors[*successor].push(*node);
        }
    }
    DominanceTree::from_predecessors(successors.len(), reached, |node, visit| {
        let nodes = predecessors[node as usize].iter().copied();
        nodes.for_each(visit);
    })
}
