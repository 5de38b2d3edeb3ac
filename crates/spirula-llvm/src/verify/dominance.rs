//! Definitions dominate their uses.

use crate::ir::{Block, Function, Inst, Module, Opcode, Value};
use crate::{Error, fault};
use spirula_spirv::analysis::Tree;

/// Checks that every use in a block that can be reached comes after the definition on every path.
pub fn verify(module: &Module, function: &Function) -> Result<(), Error> {
    if function.blocks.is_empty() {
        return Ok(());
    }
    let order = function.reverse_post_order();
    let tree = tree(function, &order);
    let mut homes = vec![Block::new(0); function.insts.len()];
    for block in function.block_ids() {
        for inst in function.block_insts(block) {
            homes[inst.index()] = block;
        }
    }
    let checker = Checker {
        function,
        tree,
        homes,
    };
    for &block in &order {
        for inst in function.block_insts(block) {
            if let Some(name) = checker.missing(block, inst) {
                let shown = match module.str(function.name(name)) {
                    "" => "a value".to_owned(),
                    name => format!("`%{name}`"),
                };
                let message = format!("{shown} is used where it may not be defined");
                return Err(fault(function.place(inst), message));
            }
        }
    }
    Ok(())
}

fn tree(function: &Function, order: &[Block]) -> Tree {
    let numbers: Vec<u32> = order.iter().map(|b| b.index() as u32).collect();
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); function.blocks.len()];
    for &block in order {
        for next in function.successors(block) {
            before[next.index()].push(block.index() as u32);
        }
    }
    Tree::compute(function.blocks.len(), &numbers, |node, visit| {
        before[node as usize].iter().copied().for_each(visit);
    })
}

struct Checker<'f> {
    function: &'f Function,
    tree: Tree,
    /// By instruction: its block.
    homes: Vec<Block>,
}

impl Checker<'_> {
    /// A local that an instruction uses though its definition does not dominate it.
    fn missing(&self, block: Block, inst: Inst) -> Option<usize> {
        let operands = self.function.operands(inst);
        if self.function.inst(inst).opcode == Opcode::Phi {
            let from = self.function.blocks_of(inst);
            let mut pairs = operands.iter().zip(from);
            let wrong = pairs.find(|(value, from)| {
                self.tree.is_reached(from.index() as u32) && !self.reaches(**value, **from, None)
            });
            return wrong.and_then(|(value, _)| value.as_local());
        }
        let mut operands = operands.iter();
        let wrong = operands.find(|value| !self.reaches(**value, block, Some(inst)));
        wrong.and_then(|value| value.as_local())
    }

    /// Whether a value is defined on every path to an instruction, or to the end of its block.
    fn reaches(&self, value: Value, block: Block, before: Option<Inst>) -> bool {
        let Some(local) = value.as_local() else {
            return true;
        };
        let Some(inst) = self.function.inst_of(local) else {
            return true;
        };
        let home = self.homes[inst.index()];
        match (home == block, before) {
            (true, Some(before)) => inst < before,
            (true, None) => true,
            (false, _) => self
                .tree
                .is_above(home.index() as u32, block.index() as u32),
        }
    }
}
