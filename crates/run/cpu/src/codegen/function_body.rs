//! Function body: lowers the blocks of a function in order.

use super::ClifResult;
use super::instruction_table::lower_instruction;
use super::lowering::ClifLowering;
use crate::layout::launch_context::at;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, types};
use spirula_spirv::ir::Func;

impl ClifLowering<'_, '_, '_> {
    /// Adds one to the counter of a block, where blocks are counted.
    fn count_block(&mut self, func: Func, at: u32) {
        let Some(counters) = &self.shared.counters else {
            return;
        };
        let offset = counters.counter_index(func, at) as i32 * 8;
        let counters = self.load_context_field(types::I64, at::COUNTERS);
        let flags = MemFlagsData::trusted();
        let ins = self.builder.ins();
        let runs = ins.load(types::I64, flags, counters, offset);
        let runs = self.builder.ins().iadd_imm_s(runs, 1);
        self.builder.ins().store(flags, runs, counters, offset);
    }

    /// Lowers the blocks of the innermost scope's function.
    pub fn lower_body(&mut self) -> ClifResult {
        let func = self.current_scope().func;
        let program = self.program;
        let info = program.functions.get(func);
        for &at in &info.order {
            let block = self.current_scope().blocks[at as usize];
            self.current_scope().position = at;
            self.current_scope().begun[at as usize] = true;
            self.builder.switch_to_block(block);
            self.count_block(func, at);
            for inst in program.module.body(info.cfg.block(at)) {
                self.current = Some(inst);
                lower_instruction(self, inst)?;
                self.hooks().after_instruction(self, inst);
                if self.is_ill_typed {
                    return Err(self.instruction_fault("the types of its operands do not fit"));
                }
            }
        }
        Ok(())
    }
}
