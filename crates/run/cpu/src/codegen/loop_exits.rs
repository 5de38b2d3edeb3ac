//! Loop exits: turns branches that leave loops, so that the exit is the first target.
//!
//! Cranelift visits the second target first. It hoists loop-invariant code only until it has visited a block after
//! the loop (`egraph/elaborate.rs`, 0.135), so that the loop has to be visited first.

use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::dominator_tree::DominatorTree;
use cranelift_codegen::flowgraph::ControlFlowGraph;
use cranelift_codegen::ir::condcodes::{CondCode, IntCC};
use cranelift_codegen::ir::{Function, Inst, InstBuilder, InstructionData, Value};
use cranelift_codegen::loop_analysis::LoopAnalysis;

/// Turns the branches of a function. Cost: that of finding its loops.
pub(crate) fn leave_first(func: &mut Function) {
    let cfg = ControlFlowGraph::with_function(func);
    let domtree = DominatorTree::with_function(func, &cfg);
    let mut loops = LoopAnalysis::new();
    loops.compute(func, &cfg, &domtree);
    let blocks: Vec<_> = func.layout.blocks().collect();
    for block in blocks {
        let (Some(of), Some(inst)) = (loops.innermost_loop(block), func.layout.last_inst(block))
        else {
            continue;
        };
        let InstructionData::Brif { arg, blocks, .. } = func.dfg.insts[inst] else {
            continue;
        };
        let stays = blocks.map(|call| loops.is_in_loop(call.block(&func.dfg.value_lists), of));
        if stays == [true, false] {
            invert_branch(func, inst, arg);
        }
    }
}

/// Exchanges the ways of a conditional branch.
fn invert_branch(func: &mut Function, inst: Inst, condition: Value) {
    let not = negate_condition(func, inst, condition);
    if let InstructionData::Brif { arg, blocks, .. } = &mut func.dfg.insts[inst] {
        *arg = not;
        blocks.swap(0, 1);
    }
}

/// A value that is not zero where a condition is zero.
fn negate_condition(func: &mut Function, before: Inst, condition: Value) -> Value {
    let made = func.dfg.value_def(condition).inst();
    let made = made.map(|inst| func.dfg.insts[inst]);
    let mut cursor = FuncCursor::new(func).at_inst(before);
    match made {
        Some(InstructionData::IntCompare { cond, args, .. }) => {
            let [a, b] = args;
            cursor.ins().icmp(cond.complement(), a, b)
        }
        Some(InstructionData::FloatCompare { cond, args, .. }) => {
            let [a, b] = args;
            cursor.ins().fcmp(cond.complement(), a, b)
        }
        _ => cursor.ins().icmp_imm_s(IntCC::Equal, condition, 0),
    }
}
