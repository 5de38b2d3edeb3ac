//! Copied instructions: emits instructions of the original code for one lane or for uniform values.

use super::lane_layout::LaneValues;
use super::vectorise::GangVectoriser;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::instructions::InstructionMapper;
use cranelift_codegen::ir::{
    self, AtomicRmwOp, Block, BlockCall, Inst, InstBuilder, InstBuilderBase, InstructionData,
    MemFlagsData, Opcode, StackSlot, Type, Value, ValueListPool,
};

impl GangVectoriser<'_> {
    /// A copy of an instruction with these operands; its results.
    pub fn copy_instruction(&mut self, inst: Inst, args: &[Value]) -> LaneValues {
        let data = self.old.dfg.insts[inst];
        if let Some(made) = self.rewrite_unshared_atomic(inst, args) {
            return made;
        }
        self.build_instruction(data, args, self.old.dfg.ctrl_typevar(inst))
    }

    /// An atomic access to memory that no other thread can see becomes loads and stores. An alias region marks such
    /// accesses.
    fn rewrite_unshared_atomic(&mut self, inst: Inst, args: &[Value]) -> Option<LaneValues> {
        let data = self.old.dfg.insts[inst];
        let opcode = data.opcode();
        data.memflags_data(&self.old.dfg)?.alias_region()?;
        let ty = self.old.dfg.ctrl_typevar(inst);
        let flags = MemFlagsData::new().with_notrap();
        if opcode == Opcode::AtomicStore {
            self.builder.ins().store(flags, args[0], args[1], 0);
            return Some(LaneValues::new());
        }
        if !matches!(opcode, Opcode::AtomicRmw | Opcode::AtomicCas) {
            return None;
        }
        let old = self.builder.ins().load(ty, flags, args[0], 0);
        let new = match data.atomic_rmw_op() {
            Some(op) => self.emit_modification(op, old, args[1])?,
            None => {
                let same = self.builder.ins().icmp(IntCC::Equal, old, args[1]);
                self.builder.ins().select(same, args[2], old)
            }
        };
        self.builder.ins().store(flags, new, args[0], 0);
        Some([old].as_slice().into())
    }

    fn emit_modification(&mut self, op: AtomicRmwOp, old: Value, operand: Value) -> Option<Value> {
        let ins = self.builder.ins();
        Some(match op {
            AtomicRmwOp::Xchg => operand,
            AtomicRmwOp::Add => ins.iadd(old, operand),
            AtomicRmwOp::Sub => ins.isub(old, operand),
            AtomicRmwOp::And => ins.band(old, operand),
            AtomicRmwOp::Or => ins.bor(old, operand),
            AtomicRmwOp::Xor => ins.bxor(old, operand),
            AtomicRmwOp::Smin => ins.smin(old, operand),
            AtomicRmwOp::Umin => ins.umin(old, operand),
            AtomicRmwOp::Smax => ins.smax(old, operand),
            AtomicRmwOp::Umax => ins.umax(old, operand),
            _ => return None,
        })
    }

    /// An instruction with these operands and controlling type.
    pub fn build_instruction(
        &mut self,
        data: InstructionData,
        args: &[Value],
        ty: Type,
    ) -> LaneValues {
        let operands = OperandReplacer {
            args,
            pool: &mut self.builder.func.dfg.value_lists,
        };
        let data = data.map(operands);
        let (made, dfg) = self.builder.ins().build(data, ty);
        dfg.inst_results(made).into()
    }
}

/// Replaces the operands of an instruction, in order. Nothing else changes its number.
struct OperandReplacer<'a> {
    args: &'a [Value],
    pool: &'a mut ValueListPool,
}

impl InstructionMapper for OperandReplacer<'_> {
    fn map_value(&mut self, value: Value) -> Value {
        match self.args.split_first() {
            Some((first, rest)) => {
                self.args = rest;
                *first
            }
            None => value,
        }
    }

    fn map_value_list(&mut self, _: ir::ValueList) -> ir::ValueList {
        let args = std::mem::take(&mut self.args);
        ir::ValueList::from_slice(args, self.pool)
    }

    fn map_global_value(&mut self, global_value: ir::GlobalValue) -> ir::GlobalValue {
        global_value
    }

    fn map_jump_table(&mut self, jump_table: ir::JumpTable) -> ir::JumpTable {
        jump_table
    }

    fn map_exception_table(&mut self, table: ir::ExceptionTable) -> ir::ExceptionTable {
        table
    }

    fn map_block_call(&mut self, block_call: BlockCall) -> BlockCall {
        block_call
    }

    fn map_block(&mut self, block: Block) -> Block {
        block
    }

    fn map_func_ref(&mut self, func_ref: ir::FuncRef) -> ir::FuncRef {
        func_ref
    }

    fn map_sig_ref(&mut self, sig_ref: ir::SigRef) -> ir::SigRef {
        sig_ref
    }

    fn map_stack_slot(&mut self, stack_slot: StackSlot) -> StackSlot {
        stack_slot
    }

    fn map_dynamic_stack_slot(&mut self, slot: ir::DynamicStackSlot) -> ir::DynamicStackSlot {
        slot
    }

    fn map_constant(&mut self, constant: ir::Constant) -> ir::Constant {
        constant
    }

    fn map_immediate(&mut self, immediate: ir::Immediate) -> ir::Immediate {
        immediate
    }
}
