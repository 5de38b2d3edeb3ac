//! Block counters: how often each block of a kernel runs.
//!
//! Code that counts adds one to a counter at the beginning of each block. The number of instructions that ran follows
//! from the counters, so that no instruction is counted by itself. Each thread has its own counters.

use super::analysed_module::AnalysedModule;
use crate::module::typed_module::ExtSet;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Func, InstRef};
use std::sync::Mutex;

/// How often a block ran in all launches of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockCount {
    /// The function that contains it.
    pub function: Id,
    /// The block's label.
    pub block: Id,
    /// Number of times that invocations ran it.
    pub runs: u64,
    /// Its instructions that do something at run time. Labels, phis, variables, merge instructions and debug
    /// information do nothing.
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
    /// Counters for each block that can be reached.
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

    /// The totals of all launches so far.
    pub fn totals(&self) -> Vec<BlockCount> {
        let totals = self.totals.lock();
        let totals = totals.map(|t| t.clone()).unwrap_or_default();
        let with = |(block, runs): (&BlockCount, &u64)| BlockCount {
            runs: *runs,
            ..*block
        };
        self.blocks.iter().zip(&totals).map(with).collect()
    }

    /// The counter of a function's block by its position.
    pub fn counter_index(&self, func: Func, at: u32) -> usize {
        (self.firsts[func.index()] + at) as usize
    }

    /// Adds the counters of a thread.
    pub fn add_counts(&self, counted: &[u64]) {
        if let Ok(mut totals) = self.totals.lock() {
            for (total, runs) in totals.iter_mut().zip(counted) {
                *total += runs;
            }
        }
    }
}

/// Whether an instruction does something at run time.
fn does_something(program: &AnalysedModule<'_>, inst: InstRef<'_>) -> bool {
    match inst.op() {
        Op::Label | Op::Phi | Op::Variable | Op::UntypedVariableKHR => false,
        Op::Nop | Op::LoopMerge | Op::SelectionMerge | Op::LoopControlINTEL => false,
        Op::ExtInst => program.sets[inst.id_operand(0)] != Some(ExtSet::NonSemantic),
        op => !op.is_line(),
    }
}
