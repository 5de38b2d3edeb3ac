//! Low halves of 64-bit integers, computed in 32 bits. The low half of a sum or product depends on low halves only.

use super::ModuleValues;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Inst, SpirvModule};
use spirula_spirv::{Id, IdMap};

/// The depth to which operations are examined.
const DEEPEST: u32 = 32;

/// The low halves that were created for the values of a module.
pub struct LowHalves {
    /// The low half of each examined result.
    known: IdMap<Option<Id>>,
}

impl LowHalves {
    /// An empty table.
    pub fn new(module: &SpirvModule) -> Self {
        LowHalves {
            known: IdMap::new(module.bound(), None),
        }
    }

    /// The low half of a value in a 32-bit type. Truncations are inserted before `at`.
    pub fn lower_half(
        &mut self,
        facts: &mut ModuleValues,
        module: &mut SpirvModule,
        wide: Id,
        uint: Id,
        at: Inst,
    ) -> Id {
        self.lower_half_within(facts, module, wide, uint, at, DEEPEST)
    }

    fn lower_half_within(
        &mut self,
        facts: &mut ModuleValues,
        module: &mut SpirvModule,
        wide: Id,
        uint: Id,
        at: Inst,
        depth: u32,
    ) -> Id {
        if let Some(low) = self.known[wide] {
            return low;
        }
        let constant = facts.scalar_constant_bits(module, wide);
        let constant = constant.map(|value| u64::from(value.bits as u32));
        if let Some(low) = constant.and_then(|c| facts.intern_scalar(module, uint, c)) {
            return low;
        }
        let (op, inst) = match facts.definition(module, wide) {
            Some(def) => (def.op(), def.handle()),
            None => (Op::Nop, at),
        };
        if matches!(op, Op::UConvert | Op::SConvert) {
            let from = module.inst(inst).id_operand(0);
            if facts.int_width(module, from) == Some(32) {
                return from;
            }
        }
        let Some(count) = count_low_bits_operands(op).filter(|_| depth > 0) else {
            return facts.insert_inst(module, at, Op::UConvert, uint, &[wide.word()]);
        };
        let mut words = Vec::with_capacity(count);
        for number in 0..count {
            let operand = module.inst(inst).id_operand(number);
            let low = self.lower_half_within(facts, module, operand, uint, inst, depth - 1);
            words.push(low.word());
        }
        let low = facts.insert_inst(module, inst, op, uint, &words);
        self.known.set(wide, Some(low));
        low
    }
}

/// The number of operands of an operation whose low bits depend only on their low bits.
pub fn count_low_bits_operands(op: Op) -> Option<usize> {
    match op {
        Op::IAdd | Op::ISub | Op::IMul => Some(2),
        Op::BitwiseAnd | Op::BitwiseOr | Op::BitwiseXor => Some(2),
        Op::SNegate | Op::Not => Some(1),
        _ => None,
    }
}
