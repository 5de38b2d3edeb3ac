//! Control-flow graph of a function.

use super::lengauer_tarjan::find_immediate_dominators;
use super::{EdgeLists, IdDefinitions};
use crate::Id;
use crate::grammar::Op;
use crate::ir::{Block, Func, IdWords, Inst, InstRef, LabelPositions, SpirvModule, switch_cases};
use spirula_diagnostics::SourceDiagnostic;

/// Control-flow graph of a function, with a traversal order.
///
/// Blocks are identified by their position in [`crate::ir::SpirvFunction::blocks`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowGraph {
    /// The function's blocks in their order.
    blocks: Vec<Block>,
    labels: LabelPositions,
    graph: FlowEdges,
}

/// The edges of a control-flow graph in both directions, without labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FlowEdges {
    pub successors: EdgeLists,
    pub predecessors: EdgeLists,
    /// The reachable blocks, each before its successors except for back edges.
    pub reverse_postorder: Vec<u32>,
}

impl FlowEdges {
    /// The edges of a function. `targets` visits the labels of a terminator's targets, and `position` maps
    /// labels to blocks.
    ///
    /// # Errors
    /// A terminator with the id that is no label of the function.
    pub fn of_targets(
        module: &SpirvModule,
        func: Func,
        position: impl Fn(Id) -> Option<u32>,
        targets: impl Fn(InstRef<'_>, &mut dyn FnMut(Id)),
    ) -> Result<FlowEdges, (Inst, Id)> {
        let blocks = &module.function(func).blocks;
        let successors = EdgeLists::try_collect(blocks.len(), |at, list| {
            let terminator = module.terminator(blocks[at as usize]);
            let mut wrong = None;
            targets(terminator, &mut |target| match position(target) {
                Some(at) => list.push(at),
                None => wrong = Some(target),
            });
            wrong.map_or(Ok(()), |target| Err((terminator.handle(), target)))
        })?;
        Ok(FlowEdges {
            predecessors: successors.to_reversed(),
            reverse_postorder: successors.reverse_postorder(0),
            successors,
        })
    }

    /// The immediate dominator of each block. The entry is its own; unreachable blocks have `u32::MAX`.
    pub fn compute_dominators(&self) -> Vec<u32> {
        let blocks = self.predecessors.len();
        find_immediate_dominators(blocks, &self.reverse_postorder, &|block, visit| {
            self.predecessors
                .targets(block)
                .iter()
                .copied()
                .for_each(visit);
        })
    }
}

impl FlowGraph {
    /// Computes the graph in time linear in blocks and edges. An edge occurs once for each mention in the
    /// terminator.
    ///
    /// # Errors
    /// If the target of a branch is no label of the function.
    pub fn from_function(
        module: &SpirvModule,
        definitions: &IdDefinitions,
        func: Func,
    ) -> Result<FlowGraph, SourceDiagnostic> {
        FlowGraph::of_targets(module, func, |terminator, visit| {
            branch_targets(module, definitions, terminator)
                .into_iter()
                .for_each(visit);
        })
        .map_err(|(inst, target)| no_label(module, inst, target))
    }

    /// As [`FlowGraph::from_function`], without definitions.
    ///
    /// # Errors
    /// As there.
    pub fn with_ids(
        module: &SpirvModule,
        ids: &IdWords,
        func: Func,
    ) -> Result<FlowGraph, SourceDiagnostic> {
        FlowGraph::of_targets(module, func, |terminator, visit| {
            let skip = match terminator.op() {
                Op::Branch => 0,
                Op::BranchConditional | Op::Switch => 1,
                _ => return,
            };
            ids.visit_uses(terminator, |at, id| {
                if at >= skip {
                    visit(id);
                }
            });
        })
        .map_err(|(inst, target)| no_label(module, inst, target))
    }

    /// As [`FlowGraph::from_function`]; `targets` visits the labels of a terminator's targets.
    ///
    /// # Errors
    /// A terminator with the id that is no label of the function.
    pub(crate) fn of_targets(
        module: &SpirvModule,
        func: Func,
        targets_of: impl Fn(InstRef<'_>, &mut dyn FnMut(Id)),
    ) -> Result<FlowGraph, (Inst, Id)> {
        let labels = LabelPositions::from_function(module, func);
        let position = |label| labels.position(label);
        let graph = FlowEdges::of_targets(module, func, position, targets_of)?;
        Ok(FlowGraph {
            blocks: module.function(func).blocks.clone(),
            labels,
            graph,
        })
    }

    /// The edges.
    pub(crate) fn graph(&self) -> &FlowEdges {
        &self.graph
    }

    /// Converts to the edges alone, which releases the rest of the memory.
    pub(crate) fn into_graph(self) -> FlowEdges {
        self.graph
    }

    /// Number of blocks.
    #[inline]
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether the function is a declaration.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The block at a position.
    #[inline]
    pub fn block(&self, at: u32) -> Block {
        self.blocks[at as usize]
    }

    /// The position of the block with a label.
    #[inline]
    pub fn block_position(&self, label: Id) -> Option<u32> {
        self.labels.position(label)
    }

    /// The successors of a block.
    #[inline]
    pub fn successors(&self, at: u32) -> &[u32] {
        self.graph.successors.targets(at)
    }

    /// The predecessors of a block.
    #[inline]
    pub fn predecessors(&self, at: u32) -> &[u32] {
        self.graph.predecessors.targets(at)
    }

    /// The reachable blocks, each before its successors except for back edges.
    pub fn reverse_postorder(&self) -> &[u32] {
        &self.graph.reverse_postorder
    }
}

fn no_label(module: &SpirvModule, inst: Inst, target: Id) -> SourceDiagnostic {
    let terminator = module.inst(inst);
    let op = terminator.op();
    let message = format!("{op} to {target}, which is no label of this function");
    SourceDiagnostic::error(terminator.place(), message)
}

/// The labels of a terminator's targets, in its order; the default of a switch first.
fn branch_targets(
    module: &SpirvModule,
    definitions: &IdDefinitions,
    terminator: InstRef<'_>,
) -> Vec<Id> {
    match terminator.op() {
        Op::Branch => vec![terminator.id_operand(0)],
        Op::BranchConditional => vec![terminator.id_operand(1), terminator.id_operand(2)],
        Op::Switch => {
            let words = module.switch_literal_words(definitions, terminator);
            let cases = switch_cases(terminator, words).map(|(_, label)| label);
            std::iter::once(terminator.id_operand(1))
                .chain(cases)
                .collect()
        }
        _ => Vec::new(),
    }
}
