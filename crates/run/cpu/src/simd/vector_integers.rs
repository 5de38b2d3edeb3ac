//! Vector integers: which integers of 8 and 64 bits are held by vectors.
//!
//! An index is extracted from a vector before it addresses anything. Therefore integers that only compute addresses stay
//! scalars, one for each lane. An integer becomes a vector if it is compared, or moves between memory and
//! vectors, or is computed from such integers. Products stay scalars, and shifts of bytes: few processors have them
//! for vectors.

use super::divergence::{LaneVariance, VarianceAnalysis, block_call_arguments, branch_block_calls};
use super::flow_graph::ClifFlowGraph;
use cranelift_codegen::ir::{Inst, Opcode, Type, Value, ValueDef, types};

/// Most walks over a function. An integer that is not found by then stays scalar.
const MOST_WALKS: u32 = 10;

impl VarianceAnalysis<'_> {
    /// The type of the vectors that hold a varying integer of 8 or 64 bits; none where scalars hold it.
    pub fn find_integer_vector(&self, value: Value) -> Option<Type> {
        let value = self.func.dfg.resolve_aliases(value);
        let is_vector = self.vectors[value.as_u32() as usize];
        is_vector.then(|| match self.func.dfg.value_type(value) {
            types::I8 => types::I8X16,
            _ => types::I64X2,
        })
    }

    fn is_vector_integer(&self, value: Value) -> bool {
        self.find_integer_vector(value).is_some()
    }

    /// Finds the integers that vectors hold, when the variance of all values is known.
    pub(super) fn find_vector_integers(&mut self, graph: &ClifFlowGraph) {
        for at in 0..graph.blocks.len() as u32 {
            for inst in graph.block_insts(self.func, at) {
                self.choose_profitable(inst);
            }
        }
        for _ in 0..MOST_WALKS {
            let mut changed = false;
            for at in 0..graph.blocks.len() as u32 {
                for inst in graph.block_insts(self.func, at) {
                    changed |= self.choose_around(inst);
                }
            }
            for at in (0..graph.blocks.len() as u32).rev() {
                let insts: Vec<Inst> = graph.block_insts(self.func, at).collect();
                for inst in insts.into_iter().rev() {
                    changed |= self.choose_around(inst);
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// Lets vectors hold the integers of an instruction that takes less time for vectors than for each lane.
    fn choose_profitable(&mut self, inst: Inst) {
        let dfg = &self.func.dfg;
        let args = dfg.inst_args(inst);
        let result = dfg.inst_results(inst).first().copied();
        match dfg.insts[inst].opcode() {
            Opcode::Icmp => {
                self.choose(args[0]);
                self.choose(args[1]);
            }
            Opcode::Load if self.frame_slot(inst).is_none() => {
                let value = result.filter(|value| self.is_consecutive(args[0], *value));
                self.choose_unless_address(value);
            }
            Opcode::Store
                if self.is_consecutive(args[1], args[0]) && self.is_vector_result(args[0]) =>
            {
                self.choose(args[0]);
            }
            Opcode::Uextend | Opcode::Sextend if self.is_bool(args[0]) => {
                self.choose_unless_address(result);
            }
            Opcode::Ireduce if dfg.value_type(args[0]) == types::I32 => {
                self.choose_unless_address(result);
            }
            _ => {}
        }
    }

    /// Lets vectors hold the integers that an instruction joins with those of vectors. Returns whether there were any.
    fn choose_around(&mut self, inst: Inst) -> bool {
        let mut changed = false;
        let dfg = &self.func.dfg;
        for call in branch_block_calls(self.func, inst) {
            let params = dfg.block_params(call.block(&dfg.value_lists));
            for (arg, param) in block_call_arguments(self.func, *call).zip(params) {
                if self.is_vector_integer(arg) || self.is_vector_integer(*param) {
                    changed |= self.choose(arg) | self.choose(*param);
                }
            }
        }
        let args = dfg.inst_args(inst);
        let operands = match dfg.insts[inst].opcode() {
            Opcode::Iadd
            | Opcode::Isub
            | Opcode::Ineg
            | Opcode::Band
            | Opcode::Bor
            | Opcode::Bxor
            | Opcode::Bnot => args,
            Opcode::Select => &args[1..],
            Opcode::Ishl | Opcode::Ushr | Opcode::Sshr if self.is_vector_shift(args) => &args[..1],
            _ => return changed,
        };
        let result = dfg.first_result(inst);
        if operands.iter().any(|arg| self.is_vector_integer(*arg)) {
            changed |= self.choose_unless_address(Some(result));
        }
        if self.is_vector_integer(result) {
            for arg in operands {
                changed |= self.choose(*arg);
            }
        }
        changed
    }

    fn choose_unless_address(&mut self, value: Option<Value>) -> bool {
        let value = value.map(|value| self.func.dfg.resolve_aliases(value));
        let integer = value.filter(|value| !self.addresses[value.as_u32() as usize]);
        integer.is_some_and(|integer| self.choose(integer))
    }

    /// Lets vectors hold an integer. Returns false where they do already, or cannot.
    fn choose(&mut self, value: Value) -> bool {
        let dfg = &self.func.dfg;
        let value = dfg.resolve_aliases(value);
        let is_kept = match dfg.value_def(value) {
            ValueDef::Result(inst, _) => self.frame_slot(inst).is_some(),
            _ => false,
        };
        let varies = self.variance[value.as_u32() as usize] == LaneVariance::Varying;
        let is_integer = matches!(dfg.value_type(value), types::I8 | types::I64);
        let can = varies && !is_kept && is_integer && !self.is_bool(value);
        can && !std::mem::replace(&mut self.vectors[value.as_u32() as usize], true)
    }

    /// Whether neighbouring lanes access neighbours in memory at an address of a value.
    fn is_consecutive(&self, address: Value, value: Value) -> bool {
        let bytes = i64::from(self.func.dfg.value_type(value).bytes());
        match self.lane_variance(address) {
            LaneVariance::Affine { stride, .. } => stride == bytes,
            _ => false,
        }
    }

    /// Whether vectors of integers are shifted, by an amount that is the same for all lanes.
    fn is_vector_shift(&self, args: &[Value]) -> bool {
        let is_byte = self.func.dfg.value_type(args[0]) == types::I8;
        !is_byte && self.lane_variance(args[1]).is_uniform()
    }

    /// Whether an integer can be computed as a vector.
    fn is_vector_result(&self, value: Value) -> bool {
        let dfg = &self.func.dfg;
        let ValueDef::Result(inst, _) = dfg.value_def(dfg.resolve_aliases(value)) else {
            return true;
        };
        let args = dfg.inst_args(inst);
        match dfg.insts[inst].opcode() {
            Opcode::Load => self.is_consecutive(args[0], value),
            Opcode::Iadd
            | Opcode::Isub
            | Opcode::Ineg
            | Opcode::Band
            | Opcode::Bor
            | Opcode::Bxor
            | Opcode::Bnot
            | Opcode::Select
            | Opcode::Uextend
            | Opcode::Sextend => true,
            Opcode::Ireduce => dfg.value_type(args[0]) == types::I32,
            Opcode::Ishl | Opcode::Ushr | Opcode::Sshr => self.is_vector_shift(args),
            _ => false,
        }
    }
}
