//! Control flow of the vectorised code: terminators, edges and the arguments of blocks.

use super::GangRefusal;
use super::divergence::{block_call_arguments, branch_block_calls};
use super::lane_layout::LaneValues;
use super::vectorise::GangVectoriser;
use cranelift_codegen::ir::{Block, BlockCall, Inst, InstBuilder, JumpTableData, Opcode, Value};

impl GangVectoriser<'_> {
    pub(super) fn rewrite_terminator(&mut self, at: u32, inst: Inst) -> Result<(), GangRefusal> {
        match self.opcode(inst) {
            _ if self.variance.divergent_branch(self.graph, at).is_some() => {
                self.rewrite_divergent_branch(at, inst)
            }
            Opcode::Jump => {
                let call = branch_block_calls(self.old, inst)[0];
                self.jump_to_block(call);
                Ok(())
            }
            Opcode::Brif | Opcode::BrTable => {
                let selector = self.get_lane_values(self.old.dfg.inst_args(inst)[0])[0];
                self.rewrite_uniform_branch(inst, selector);
                Ok(())
            }
            _ => {
                let args = self.old.dfg.inst_args(inst);
                if !args
                    .iter()
                    .all(|arg| self.variance.lane_variance(*arg).is_uniform())
                {
                    return Err(GangRefusal);
                }
                self.emit_on_first_lane(inst);
                Ok(())
            }
        }
    }

    /// A branch that all invocations take alike.
    pub fn rewrite_uniform_branch(&mut self, inst: Inst, selector: Value) {
        let mut edges = Vec::new();
        let targets: Vec<Block> = branch_block_calls(self.old, inst)
            .iter()
            .map(|call| self.split_edge(*call, &mut edges))
            .collect();
        self.branch_to(inst, selector, &targets);
        for (block, call) in edges {
            self.builder.switch_to_block(block);
            self.jump_to_block(call);
        }
    }

    /// A branch with the same opcode to other blocks.
    pub fn branch_to(&mut self, inst: Inst, selector: Value, targets: &[Block]) {
        if self.opcode(inst) == Opcode::Brif {
            let ins = self.builder.ins();
            ins.brif(selector, targets[0], &[], targets[1], &[]);
            return;
        }
        let pool = &mut self.builder.func.dfg.value_lists;
        let calls: Vec<BlockCall> = targets
            .iter()
            .map(|block| BlockCall::new(*block, std::iter::empty(), pool))
            .collect();
        let table = JumpTableData::new(calls[0], &calls[1..]);
        let table = self.builder.create_jump_table(table);
        self.builder.ins().br_table(selector, table);
    }

    /// The target of an edge: its block, or a new block that sets the parameters.
    pub fn split_edge(&mut self, call: BlockCall, edges: &mut Vec<(Block, BlockCall)>) -> Block {
        if call.len(&self.old.dfg.value_lists) == 0 {
            return self.block_of(call);
        }
        let block = self.builder.create_block();
        edges.push((block, call));
        block
    }

    /// The position of the block that a call goes to.
    pub fn target_position(&self, call: BlockCall) -> u32 {
        let block = call.block(&self.old.dfg.value_lists);
        self.graph.block_position(block).unwrap_or(0)
    }

    fn block_of(&self, call: BlockCall) -> Block {
        self.blocks[self.target_position(call) as usize]
    }

    /// Sets the parameters of a block and goes there.
    pub fn jump_to_block(&mut self, call: BlockCall) {
        self.pass_arguments(call);
        let block = self.block_of(call);
        self.builder.ins().jump(block, &[]);
    }

    /// Sets the parameters of a block.
    pub fn pass_arguments(&mut self, call: BlockCall) {
        let target = call.block(&self.old.dfg.value_lists);
        let params = self.old.dfg.block_params(target);
        // All arguments are read before the first parameter changes.
        let held: Vec<LaneValues> = block_call_arguments(self.old, call)
            .zip(params)
            .map(|(arg, param)| {
                let form = self.lane_layout(*param);
                self.convert_layout(arg, form)
            })
            .collect();
        for (param, held) in params.iter().zip(held) {
            self.set_lane_values(*param, &held);
        }
    }
}
