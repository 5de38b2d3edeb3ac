//! Counting what runs: how often each block of a kernel did.
//!
//! Code that counts adds one to a counter at the beginning of each block; from that follows how many
//! instructions ran, without a cost for each of them. Every thread has counters of its own.

use crate::exec::compile::JitKernel;
use crate::module::program::{AnalysedModule, ExtSet};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Func, InstRef};
use std::sync::Mutex;

/// How often a block ran in all launches of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockCount {
    /// The function that has it.
    pub function: Id,
    /// Its label.
    pub block: Id,
    /// How many invocations came through, each as often as it did.
    pub runs: u64,
    /// Its instructions that do something when they run: all but labels, phis, variables, merge
    /// instructions and debug information.
    pub instructions: u32,
}

/// The counters of a kernel's blocks.
#[derive(Default)]
pub(crate) struct BlockCounters {
    /// First counter of each reached function, by its index.
    firsts: Vec<u32>,
    blocks: Vec<BlockCount>,
    totals: Mutex<Vec<u64>>,
}

impl BlockCounters {
    /// One for each block that can be reached.
    pub fn new(program: &AnalysedModule<'_>) -> BlockCounters {
        let mut counters = BlockCounters::default();
        for func in &program.functions.bottom_up {
            let info = program.functions.get(*func);
            if counters.firsts.len() <= func.index() {
                counters.firsts.resize(func.index() + 1, 0);
            }
            counters.firsts[func.index()] = counters.blocks.len() as u32;
            for at in 0..info.cfg.len() as u32 {
                let block = info.cfg.block(at);
                let does = |inst: &InstRef<'_>| does_something(program, *inst);
                counters.blocks.push(BlockCount {
                    function: program.module.function_id(*func),
                    block: program.module.label(block),
                    runs: 0,
                    instructions: program.module.body(block).filter(does).count() as u32,
                });
            }
        }
        counters.totals = Mutex::new(vec![0; counters.blocks.len()]);
        counters
    }

    /// Number of counters.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// The counter of a function's block by its position.
    pub fn counter_index(&self, func: Func, at: u32) -> usize {
        (self.firsts[func.index()] + at) as usize
    }

    /// Adds what a thread counted.
    pub fn add_counts(&self, counted: &[u64]) {
        if let Ok(mut totals) = self.totals.lock() {
            for (total, runs) in totals.iter_mut().zip(counted) {
                *total += runs;
            }
        }
    }
}

/// Whether an instruction is work for whoever runs it.
fn does_something(program: &AnalysedModule<'_>, inst: InstRef<'_>) -> bool {
    match inst.op() {
        Op::Label | Op::Phi | Op::Variable | Op::UntypedVariableKHR => false,
        Op::Nop | Op::LoopMerge | Op::SelectionMerge | Op::LoopControlINTEL => false,
        Op::ExtInst => program.sets[inst.id_operand(0)] != Some(ExtSet::NonSemantic),
        op => !op.is_line(),
    }
}

impl JitKernel {
    /// How often each block ran in all launches so far; empty unless the kernel was compiled to
    /// count.
    pub fn block_counts(&self) -> Vec<BlockCount> {
        let totals = self.counters.totals.lock();
        let totals = totals.map(|t| t.clone()).unwrap_or_default();
        let with = |(block, runs): (&BlockCount, &u64)| BlockCount {
            runs: *runs,
            ..*block
        };
        self.counters.blocks.iter().zip(&totals).map(with).collect()
    }

    /// Number of instructions that ran in all launches so far, by all invocations together; 0 unless
    /// the kernel was compiled to count.
    pub fn instruction_count(&self) -> u64 {
        let of = |b: BlockCount| b.runs.saturating_mul(b.instructions.into());
        self.block_counts()
            .into_iter()
            .map(of)
            .fold(0, u64::saturating_add)
    }
}
