//! Dominance rule: definitions dominate their uses (rule 8).

use crate::ir::{
    LlvmBlock, LlvmFunction, LlvmInst, LlvmModule, LlvmOpcode, LlvmPredecessors, LlvmValue,
};
use crate::{LlvmResult, error_at};
use spirula_spirv::analysis::DominanceTree;
use std::cell::OnceCell;

/// Checks that every use in a reachable block comes after the definition on every path.
pub fn verify_dominance(module: &LlvmModule, function: &LlvmFunction) -> LlvmResult<()> {
    if function.blocks.is_empty() {
        return Ok(());
    }
    let order = function.reverse_post_order();
    let checker = LlvmDominanceChecker {
        function,
        order: &order,
        tree: OnceCell::new(),
        homes: map_instruction_blocks(function),
    };
    for &block in &order {
        for inst in function.block_insts(block) {
            if let Some(name) = checker.find_undominated_use(block, inst) {
                let shown = match module.symbol_text(function.local_name(name)) {
                    "" => "a value".to_owned(),
                    name => format!("`%{name}`"),
                };
                let message = format!("{shown} is used where it may not be defined");
                return Err(error_at(function.inst_place(inst), message));
            }
        }
    }
    Ok(())
}

/// The block of each instruction.
fn map_instruction_blocks(function: &LlvmFunction) -> Vec<LlvmBlock> {
    let mut homes = Vec::with_capacity(function.insts.len());
    for block in function.block_ids() {
        let end = function.blocks[block.index()].insts.to_range().end;
        homes.resize(end, block);
    }
    homes
}

fn build_dominator_tree(function: &LlvmFunction, order: &[LlvmBlock]) -> DominanceTree {
    let numbers: Vec<u32> = order.iter().map(|b| b.index() as u32).collect();
    let before = LlvmPredecessors::from_blocks(function, order);
    DominanceTree::from_predecessors(function.blocks.len(), &numbers, |node, visit| {
        let before = before.get(LlvmBlock::new(node as usize)).iter();
        before.for_each(|block| visit(block.index() as u32));
    })
}

struct LlvmDominanceChecker<'f> {
    function: &'f LlvmFunction,
    /// The reachable blocks in reverse post-order.
    order: &'f [LlvmBlock],
    /// Computed at the first use whose definition is neither in the same block nor in the entry
    /// block.
    tree: OnceCell<DominanceTree>,
    homes: Vec<LlvmBlock>,
}

impl LlvmDominanceChecker<'_> {
    fn dominator_tree(&self) -> &DominanceTree {
        self.tree
            .get_or_init(|| build_dominator_tree(self.function, self.order))
    }

    /// A local that an instruction uses although its definition does not dominate the use.
    fn find_undominated_use(&self, block: LlvmBlock, inst: LlvmInst) -> Option<usize> {
        let operands = self.function.operands(inst);
        if self.function.inst(inst).opcode == LlvmOpcode::Phi {
            let from = self.function.blocks_of(inst);
            let mut pairs = operands.iter().zip(from);
            // A phi's value from an unreachable block may be anything.
            let wrong = pairs.find(|(value, from)| {
                !self.is_defined_before(**value, **from, None)
                    && self.dominator_tree().is_reached(from.index() as u32)
            });
            return wrong.and_then(|(value, _)| value.as_local());
        }
        let mut operands = operands.iter();
        let wrong = operands.find(|value| !self.is_defined_before(**value, block, Some(inst)));
        wrong.and_then(|value| value.as_local())
    }

    /// Whether a value is defined on every path to an instruction, or to the end of its block.
    fn is_defined_before(
        &self,
        value: LlvmValue,
        block: LlvmBlock,
        before: Option<LlvmInst>,
    ) -> bool {
        let Some(local) = value.as_local() else {
            return true;
        };
        let Some(inst) = self.function.inst_of(local) else {
            return true;
        };
        let home = self.homes[inst.index()];
        if home == block {
            return before.is_none_or(|before| inst < before);
        }
        // The entry block is on every path.
        if home.index() == 0 {
            return true;
        }
        let (home, block) = (home.index() as u32, block.index() as u32);
        self.dominator_tree().is_above(home, block)
    }
}
