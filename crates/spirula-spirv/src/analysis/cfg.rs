//! The control-flow graph of a function.

use super::Definitions;
use crate::Id;
use crate::grammar::Op;
use crate::ir::{Block, Func, IdWords, Inst, InstRef, Labels, Module, switch_cases};
use spirula_source::Diagnostic;

/// Edges between a function's blocks, and an order in which to walk them.
///
/// Blocks are known here by their position in [`crate::ir::Function::blocks`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cfg {
    /// The function's blocks in their order.
    blocks: Vec<Block>,
    /// Begin of each block's successors in `targets`.
    first: Vec<u32>,
    targets: Vec<u32>,
    /// Begin of each block's predecessors in `sources`.
    first_source: Vec<u32>,
    sources: Vec<u32>,
    reverse_postorder: Vec<u32>,
    labels: Labels,
}

impl Cfg {
    /// Computed in time linear in blocks and edges. An edge stands once for each time the
    /// terminator names it.
    ///
    /// # Errors
    /// When a branch goes to an id that is no label of the function.
    pub fn compute(
        module: &Module,
        definitions: &Definitions,
        func: Func,
    ) -> Result<Cfg, Diagnostic> {
        Cfg::of_targets(module, func, |terminator, visit| {
            branch_targets(module, definitions, terminator)
                .into_iter()
                .for_each(visit);
        })
        .map_err(|(inst, target)| no_label(module, inst, target))
    }

    /// The same for who has no definitions at hand.
    ///
    /// # Errors
    /// As [`Cfg::compute`].
    pub fn with_ids(module: &Module, ids: &IdWords, func: Func) -> Result<Cfg, Diagnostic> {
        Cfg::of_targets(module, func, |terminator, visit| {
            let skip = match terminator.op() {
                Op::Branch => 0,
                Op::BranchConditional | Op::Switch => 1,
                _ => return,
            };
            ids.visit(terminator, |at, id| {
                if at >= skip {
                    visit(id);
                }
            });
        })
        .map_err(|(inst, target)| no_label(module, inst, target))
    }

    /// The same where `targets` visits the labels that a terminator goes to.
    ///
    /// # Errors
    /// A terminator with the id that is no label of the function.
    pub(crate) fn of_targets(
        module: &Module,
        func: Func,
        targets_of: impl Fn(InstRef<'_>, &mut dyn FnMut(Id)),
    ) -> Result<Cfg, (Inst, Id)> {
        let blocks = module.function(func).blocks.clone();
        let labels = Labels::of(module, func);
        let mut first = Vec::with_capacity(blocks.len() + 1);
        let mut targets = Vec::new();
        for block in &blocks {
            first.push(targets.len() as u32);
            let terminator = module.terminator(*block);
            let mut wrong = None;
            targets_of(terminator, &mut |target| match labels.position(target) {
                Some(at) => targets.push(at),
                None => wrong = Some(target),
            });
            if let Some(target) = wrong {
                return Err((terminator.handle(), target));
            }
        }
        first.push(targets.len() as u32);
        let (first_source, sources) = reverse(&first, &targets);
        let mut cfg = Cfg {
            blocks,
            first,
            targets,
            first_source,
            sources,
            reverse_postorder: Vec::new(),
            labels,
        };
        cfg.reverse_postorder = cfg.depth_first();
        Ok(cfg)
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
    pub fn position(&self, label: Id) -> Option<u32> {
        self.labels.position(label)
    }

    /// The blocks that may follow.
    #[inline]
    pub fn successors(&self, at: u32) -> &[u32] {
        &self.targets[self.first[at as usize] as usize..self.first[at as usize + 1] as usize]
    }

    /// The blocks that may come before.
    #[inline]
    pub fn predecessors(&self, at: u32) -> &[u32] {
        let from = self.first_source[at as usize] as usize;
        &self.sources[from..self.first_source[at as usize + 1] as usize]
    }

    /// The blocks that are reachable from the entry, each before its successors but for back edges.
    pub fn reverse_postorder(&self) -> &[u32] {
        &self.reverse_postorder
    }

    fn depth_first(&self) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.len());
        if self.is_empty() {
            return order;
        }
        let mut seen = vec![false; self.len()];
        seen[0] = true;
        let mut stack = vec![(0u32, 0usize)];
        while let Some((at, next)) = stack.last_mut() {
            match self.successors(*at).get(*next).copied() {
                Some(successor) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[successor as usize], true) {
                        stack.push((successor, 0));
                    }
                }
                None => {
                    order.push(*at);
                    stack.pop();
                }
            }
        }
        order.reverse();
        order
    }
}

fn no_label(module: &Module, inst: Inst, target: Id) -> Diagnostic {
    let terminator = module.inst(inst);
    let op = terminator.op();
    let message = format!("{op} to {target}, which is no label of this function");
    Diagnostic::error(terminator.place(), message)
}

/// The labels that a terminator may go to, in its order; a switch's default first.
fn branch_targets(module: &Module, definitions: &Definitions, terminator: InstRef<'_>) -> Vec<Id> {
    match terminator.op() {
        Op::Branch => vec![terminator.id(0)],
        Op::BranchConditional => vec![terminator.id(1), terminator.id(2)],
        Op::Switch => {
            let words = module.switch_literal_words(definitions, terminator);
            let cases = switch_cases(terminator, words).map(|(_, label)| label);
            std::iter::once(terminator.id(1)).chain(cases).collect()
        }
        _ => Vec::new(),
    }
}

fn reverse(first: &[u32], targets: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let blocks = first.len() - 1;
    let mut begin = vec![0u32; blocks + 1];
    for target in targets {
        begin[*target as usize + 1] += 1;
    }
    for at in 0..blocks {
        begin[at + 1] += begin[at];
    }
    let mut fill = begin.clone();
    let mut sources = vec![0; targets.len()];
    for at in 0..blocks {
        for target in &targets[first[at] as usize..first[at + 1] as usize] {
            sources[fill[*target as usize] as usize] = at as u32;
            fill[*target as usize] += 1;
        }
    }
    (begin, sources)
}
