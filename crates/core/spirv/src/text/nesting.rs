//! Block nesting: how deep blocks stand in the structured control flow, and the order that shows it.
//!
//! Both come from one walk over each function. The walk starts at the first block and takes the targets of a branch in
//! their order. The merge block and the continue target of a header come after the blocks that it leads to. Malformed
//! functions are walked as far as their branches lead; blocks that nothing leads to follow in their order.

use super::ids::IdTable;
use super::literal::{LiteralTypes, NumericLiteralType};
use crate::binary::{InstructionStream, RawInst};
use crate::grammar::Op;
use rustc_hash::FxHashMap;

/// Levels of the blocks of a selection or loop above that of its header.
const BODY_LEVELS: u32 = 2;

/// Levels of a continue target above that of its header.
const CONTINUE_LEVELS: u32 = 1;

/// A block as the walk sees it.
#[derive(Default)]
struct NestedBlock {
    label: u32,
    merge: Option<u32>,
    continue_target: Option<u32>,
    targets: Vec<u32>,
    /// Range of its instructions among those of the module.
    range: std::ops::Range<usize>,
}

/// The nesting of all blocks of a module.
#[derive(Debug, Default)]
pub struct BlockNesting {
    levels: IdTable<u32>,
}

impl BlockNesting {
    /// The level of a block by its label; 0 outside of all selections and loops.
    pub fn level_of(&self, label: u32) -> u32 {
        self.levels.get(label)
    }
}

/// Finds the nesting of a module's blocks, and orders its instructions by it.
pub fn nest_blocks(words: &[u32]) -> (BlockNesting, Vec<RawInst<'_>>) {
    let insts: Vec<_> = InstructionStream::new(words)
        .map_while(Result::ok)
        .collect();
    let mut nesting = BlockNesting::default();
    let mut ordered = Vec::with_capacity(insts.len());
    let (mut types, mut blocks) = (LiteralTypes::default(), Vec::<NestedBlock>::new());
    for (at, inst) in insts.iter().enumerate() {
        types.record_instruction(inst.op, inst.words);
        match (inst.op, inst.words) {
            (Op::Label, [label, ..]) => blocks.push(NestedBlock {
                label: *label,
                range: at..at + 1,
                ..NestedBlock::default()
            }),
            (Op::FunctionEnd | Op::Function, _) => {
                order_function(&blocks, &insts, &mut nesting, &mut ordered);
                blocks.clear();
                ordered.push(*inst);
            }
            _ => match blocks.last_mut() {
                Some(block) => {
                    block.range.end = at + 1;
                    record_branch(block, inst, &types);
                }
                None => ordered.push(*inst),
            },
        }
    }
    order_function(&blocks, &insts, &mut nesting, &mut ordered);
    (nesting, ordered)
}

/// Records the targets of a merge or branch instruction.
fn record_branch(block: &mut NestedBlock, inst: &RawInst<'_>, types: &LiteralTypes) {
    match (inst.op, inst.words) {
        (Op::SelectionMerge, [merge, ..]) => block.merge = Some(*merge),
        (Op::LoopMerge, [merge, continue_target, ..]) => {
            (block.merge, block.continue_target) = (Some(*merge), Some(*continue_target));
        }
        (Op::Branch, [target, ..]) => block.targets.push(*target),
        (Op::BranchConditional, [_, yes, no, ..]) => block.targets.extend([*yes, *no]),
        (Op::Switch, [value, default, cases @ ..]) => {
            let number = types.number_of_value(*value);
            let literal = number.map_or(1, NumericLiteralType::word_count);
            block.targets.push(*default);
            let cases = cases.chunks_exact(literal + 1);
            block.targets.extend(cases.filter_map(|case| case.last()));
        }
        _ => {}
    }
}

/// A block that the walk will visit.
struct PendingBlock {
    label: u32,
    level: u32,
    /// Whether a header reserved it: it is a merge block or a continue target.
    is_reserved: bool,
}

/// Walks the blocks of a function, and appends their instructions in the order of the walk.
fn order_function<'w>(
    blocks: &[NestedBlock],
    insts: &[RawInst<'w>],
    nesting: &mut BlockNesting,
    ordered: &mut Vec<RawInst<'w>>,
) {
    let mut by_label = FxHashMap::default();
    for (at, block) in blocks.iter().enumerate() {
        by_label.entry(block.label).or_insert(at);
    }
    let mut is_visited = vec![false; blocks.len()];
    let mut is_reserved = vec![false; blocks.len()];
    for root in 0..blocks.len() {
        let label = blocks[root].label;
        let mut pending = vec![PendingBlock {
            label,
            level: nesting.level_of(label),
            is_reserved: true,
        }];
        while let Some(next) = pending.pop() {
            let Some(&at) = by_label.get(&next.label) else {
                continue;
            };
            if is_visited[at] || (is_reserved[at] && !next.is_reserved) {
                continue;
            }
            is_visited[at] = true;
            let block = &blocks[at];
            nesting.levels.set(block.label, next.level);
            ordered.extend_from_slice(&insts[block.range.clone()]);
            let reserved = [(block.merge, 0), (block.continue_target, CONTINUE_LEVELS)];
            for (label, levels) in reserved {
                let Some(label) = label else { continue };
                let Some(&at) = by_label.get(&label) else {
                    continue;
                };
                is_reserved[at] = true;
                pending.push(PendingBlock {
                    label,
                    level: next.level.saturating_add(levels),
                    is_reserved: true,
                });
            }
            let levels = if block.merge.is_some() {
                BODY_LEVELS
            } else {
                0
            };
            let level = next.level.saturating_add(levels);
            pending.extend(block.targets.iter().rev().map(|label| PendingBlock {
                label: *label,
                level,
                is_reserved: false,
            }));
        }
    }
    // Blocks whose label another block has.
    for (block, _) in blocks
        .iter()
        .zip(&is_visited)
        .filter(|(_, visited)| !**visited)
    {
        ordered.extend_from_slice(&insts[block.range.clone()]);
    }
}
