//! Which functions are compiled with the register allocator that makes one pass.
//!
//! Cranelift's usual allocator tries where values fit beside the others that are alive, and moves them when they do not.
//! Thousands of values that are alive at a time, or as many parameters of blocks, make it take time with the square of
//! their number. None of those values is in a register for long then, so that little is lost by one pass.

use cranelift_codegen::ir::{Function, Value};

/// Values that are alive at a time, from which on a function may be crowded.
const MOST_ALIVE: usize = 500;
/// Sum of the lengths of their lives in instructions, from which on it is.
const MOST_LENGTH: u64 = 1 << 20;
/// Parameters of all blocks, from which on it is.
const MOST_PARAMETERS: usize = 1 << 13;

/// Whether the usual allocator would take too long. Values are taken to be alive from their definition to their last use, in
/// the order of the code. Linear.
pub(crate) fn is_crowded(func: &Function) -> bool {
    let dfg = &func.dfg;
    let blocks = func.layout.blocks();
    let parameters: usize = blocks.map(|block| dfg.block_params(block).len()).sum();
    if parameters > MOST_PARAMETERS {
        return true;
    }
    let lives = compute_live_ranges(func);
    let length: u64 = lives.iter().map(|[from, to]| u64::from(to - from)).sum();
    length > MOST_LENGTH && most_alive(&lives) > MOST_ALIVE
}

/// By value: the instructions between which it is alive, by their numbers.
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

/// The most that are alive at once.
fn most_alive(lives: &[[u32; 2]]) -> usize {
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
