//! Block nesting: how deep blocks stand in the structured control flow, and the order that shows it.
//!
//! Both come from one walk over each function ([`walk_structured`]). Malformed functions are walked as far as their
//! branches lead.

use super::ids::IdTable;
use super::literal::{LiteralTypes, NumericLiteralType};
use crate::binary::{InstructionStream, RawInst};
use crate::grammar::Op;
use crate::structured_walk::{StructuredTargets, walk_structured};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

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

/// Walks the blocks of a function, and appends their instructions in the order of the walk.
fn order_function<'w>(
    blocks: &[NestedBlock],
    insts: &[RawInst<'w>],
    nesting: &mut BlockNesting,
    ordered: &mut Vec<RawInst<'w>>,
) {
    // Only malformed modules have several blocks with a label. The first one counts.
    let mut number_of_label = FxHashMap::default();
    let (mut walked, mut others) = (Vec::new(), Vec::new());
    for block in blocks {
        match number_of_label.entry(block.label) {
            Entry::Vacant(entry) => {
                entry.insert(walked.len());
                walked.push(block);
            }
            Entry::Occupied(_) => others.push(block),
        }
    }
    let find = |label: &u32| number_of_label.get(label).copied();
    let targets_of = |number: usize| {
        let block = walked[number];
        StructuredTargets {
            merge: block.merge.as_ref().and_then(find),
            continue_target: block.continue_target.as_ref().and_then(find),
            is_header: block.merge.is_some(),
            successors: block.targets.iter().filter_map(find).collect(),
        }
    };
    walk_structured(walked.len(), targets_of, |number, level| {
        let block = walked[number];
        nesting.levels.set(block.label, level);
        ordered.extend_from_slice(&insts[block.range.clone()]);
    });
    for block in others {
        ordered.extend_from_slice(&insts[block.range.clone()]);
    }
}
