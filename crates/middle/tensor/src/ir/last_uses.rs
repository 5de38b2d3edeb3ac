//! Last uses: the operations after which tensors are dead.

use super::{OpKind, TensorBlock, TensorFunction, TensorValue};
use rustc_hash::FxHashMap;

/// Values by the operation of their own block that uses them last.
pub type LastUses = FxHashMap<(TensorBlock, usize), Vec<TensorValue>>;

/// Values by the operation of their own block that uses them last. The parameters of a loop's body belong to it, and those
/// of its condition to none. Results of blocks are left out, and constants too, because the program keeps them.
pub fn find_last_uses(function: &TensorFunction) -> LastUses {
    let mut last = LastUseSearch {
        function,
        home: find_home_blocks(function),
        at: vec![None; function.value_count()],
    };
    last.visit_block(function.body(), &mut Vec::new());
    let mut lists = LastUses::default();
    let mut kept = vec![false; function.value_count()];
    for block in function.block_ids() {
        for result in &function.block(block).results {
            kept[result.index()] = true;
        }
        for op in &function.block(block).ops {
            if matches!(op.kind, OpKind::Constant(_)) {
                op.results.iter().for_each(|v| kept[v.index()] = true);
            }
        }
    }
    for (index, at) in last.at.iter().enumerate() {
        if let (Some(at), false) = (at, kept[index]) {
            lists.entry(*at).or_default().push(TensorValue::new(index));
        }
    }
    lists
}

/// The block that each value belongs to.
fn find_home_blocks(function: &TensorFunction) -> Vec<Option<TensorBlock>> {
    let mut home = vec![None; function.value_count()];
    let mut take = |values: &[TensorValue], block| {
        values.iter().for_each(|v| home[v.index()] = Some(block));
    };
    take(&function.block(function.body()).parameters, function.body());
    for block in function.block_ids() {
        for op in &function.block(block).ops {
            take(&op.results, block);
            if let OpKind::While { body, .. } = op.kind {
                take(&function.block(body).parameters, body);
            }
        }
    }
    home
}

struct LastUseSearch<'a> {
    function: &'a TensorFunction,
    home: Vec<Option<TensorBlock>>,
    at: Vec<Option<(TensorBlock, usize)>>,
}

impl LastUseSearch<'_> {
    /// Visits operations in order; `around` has the operations that contain the block.
    fn visit_block(&mut self, block: TensorBlock, around: &mut Vec<(TensorBlock, usize)>) {
        let data = self.function.block(block);
        for (at, op) in data.ops.iter().enumerate() {
            around.push((block, at));
            for operand in op.kind.collect_operands() {
                self.note_use(operand, around);
            }
            for result in &op.results {
                self.at[result.index()] = Some((block, at));
            }
            for inner in op.kind.blocks() {
                self.visit_block(inner, around);
                for result in &self.function.block(inner).results {
                    self.note_use(*result, around);
                }
            }
            around.pop();
        }
    }

    /// Notes a use, at the operation of the block that the value belongs to.
    fn note_use(&mut self, value: TensorValue, around: &[(TensorBlock, usize)]) {
        let Some(home) = self.home[value.index()] else {
            return;
        };
        if let Some(at) = around.iter().rev().find(|(block, _)| *block == home) {
            self.at[value.index()] = Some(*at);
        }
    }
}
