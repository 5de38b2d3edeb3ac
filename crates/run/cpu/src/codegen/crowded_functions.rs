//! Crowded functions: which functions are compiled with the single-pass register allocator.
//!
//! Cranelift's usual allocator tries to fit each value among those that are live, and evicts others where it does not
//! fit. With thousands of live values or block parameters, it takes time with the square of their number. None of
//! those values stays in a register for long, so that a single pass loses little.

use cranelift_codegen::ir::{Function, Value};

/// Number of live values from which on a function may be crowded.
const MOST_ALIVE: usize = 500;
/// Sum of the lengths of their lives in instructions, from which on it is.
const MOST_LENGTH: u64 = 1 << 20;
/// Parameters of all blocks, from which on it is.
const MOST_PARAMETERS: usize = 1 << 13;

/// Whether the usual allocator would take too long. Values count as live from their definition to their last use, in
/// the order of the code. The cost is linear.
pub(crate) fn is_crowded(func: &Function) -> bool {
    let dfg = &func.dfg;
    let blocks = func.layout.blocks();
    let parameters: usize = blocks.map(|block| dfg.block_params(block).len()).sum();
    if parameters > MOST_PARAMETERS {
        return true;
    }
    let lives = compute_live_ranges(func);
    let length: u64 = lives.iter().map(|[from, to]| u64::from(to - from)).sum();
    length > MOST_LENGTH && count_most_live(&lives) > MOST_ALIVE
}

/// The numbers of the instructions between which each value is live.
fn compute_live_ranges(func: &Function) -> Vec<[u32; 2]> {
    let dfg = &func.dfg;
    let mut lives = vec![[0; 2]; dfg.num_values()];
    let mut number = 0;
    let at = |value: Value| dfg.resolve_aliases(value).as_u32() as usize;
    for block in func.layout.blocks() {
        for param in dfg.block_params(block) {
            lives[at(*param)] = [number; 2];
        }
        for inst in func.layout.block_insts(block) {
            number += 1;
            for value in dfg.inst_values(inst) {
                let life = &mut lives[at(value)];
                life[1] = life[1].max(number);
            }
            for result in dfg.inst_results(inst) {
                lives[at(*result)] = [number; 2];
            }
        }
    }
    lives
}

/// The greatest number of values that are live at once.
fn count_most_live(lives: &[[u32; 2]]) -> usize {
    let end = lives.iter().map(|[_, to]| *to as usize).max().unwrap_or(0);
    let mut changes = vec![0_i32; end + 2];
    for [from, to] in lives.iter().filter(|[from, to]| from < to) {
        changes[*from as usize] += 1;
        changes[*to as usize] -= 1;
    }
    let alive = changes.iter().scan(0, |alive, change| {
        *alive += change;
        Some(*alive)
    });
    alive.max().map_or(0, |most| most as usize)
}
