//! Lane bounds: conditions of which the first and the last lane tell that all lanes agree.
//!
//! Most kernels begin by a comparison of the invocation's number with a size. The numbers of a gang rise by the lane.
//! Where they do not wrap, the comparison of the first and of the last lane decides for all. Only the gang at the end of
//! the range needs a mask.

use super::divergence::LaneVariance;
use super::vectorise::GangVectoriser;
use cranelift_codegen::ir::condcodes::{CondCode, IntCC};
use cranelift_codegen::ir::{Block, Inst, InstBuilder, Opcode, Value, ValueDef};

/// Most operations of a condition that are searched for comparisons.
const MOST_OPERATIONS: u32 = 8;

/// Two tests of a condition, each of which may miss a case: true only where all lanes agree.
#[derive(Clone, Copy, Default)]
struct LaneAgreement {
    /// True only where the condition holds for all lanes.
    all: Option<Value>,
    /// True only where the condition holds for no lane.
    none: Option<Value>,
}

impl GangVectoriser<'_> {
    /// Branches where the first and the last lane tell that all agree, and continues where they do not.
    pub(super) fn branch_on_bounds(&mut self, condition: Value, taken: Block, other: Block) {
        let mut left = MOST_OPERATIONS;
        let agreement = self.find_agreement(condition, &mut left);
        for (test, to) in [(agreement.all, taken), (agreement.none, other)] {
            let Some(test) = test else { continue };
            let next = self.builder.create_block();
            self.builder.ins().brif(test, to, &[], next, &[]);
            self.builder.switch_to_block(next);
        }
    }

    /// The tests of a condition: a comparison, or one that is made of others.
    fn find_agreement(&mut self, condition: Value, left: &mut u32) -> LaneAgreement {
        let condition = self.old.dfg.resolve_aliases(condition);
        if self.variance.lane_variance(condition).is_uniform() {
            let same = self.get_lane_values(condition)[0];
            let [all, none] = [IntCC::NotEqual, IntCC::Equal]
                .map(|code| self.builder.ins().icmp_imm_u(code, same, 0));
            return LaneAgreement {
                all: Some(all),
                none: Some(none),
            };
        }
        let ValueDef::Result(inst, _) = self.old.dfg.value_def(condition) else {
            return LaneAgreement::default();
        };
        let Some(fewer) = left.checked_sub(1) else {
            return LaneAgreement::default();
        };
        *left = fewer;
        let opcode = self.opcode(inst);
        if opcode == Opcode::Icmp {
            return self.compare_bounds(inst);
        }
        if !self.variance.is_bool(condition) {
            return LaneAgreement::default();
        }
        let args = self.old.dfg.inst_args(inst);
        let known = |arg: &Value| self.variance.integer_constant(*arg);
        let is_and = match opcode {
            Opcode::Band => true,
            Opcode::Bor => false,
            // Conditions of which the second is only computed where the first holds, or where it does not.
            Opcode::Select if known(&args[2]) == Some(0) => true,
            Opcode::Select if known(&args[1]) == Some(1) => false,
            _ => return LaneAgreement::default(),
        };
        let second = match opcode {
            Opcode::Select if is_and => args[1],
            Opcode::Select => args[2],
            _ => args[1],
        };
        let [a, b] = [args[0], second].map(|arg| self.find_agreement(arg, left));
        if is_and {
            LaneAgreement {
                all: self.hold_both(a.all, b.all),
                none: self.hold_either(a.none, b.none),
            }
        } else {
            LaneAgreement {
                all: self.hold_either(a.all, b.all),
                none: self.hold_both(a.none, b.none),
            }
        }
    }

    fn hold_both(&mut self, a: Option<Value>, b: Option<Value>) -> Option<Value> {
        Some(self.builder.ins().band(a?, b?))
    }

    fn hold_either(&mut self, a: Option<Value>, b: Option<Value>) -> Option<Value> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.builder.ins().bor(a, b)),
            (one, other) => one.or(other),
        }
    }

    /// The tests of a comparison of numbers that rise by the lane with one that is the same for all.
    fn compare_bounds(&mut self, inst: Inst) -> LaneAgreement {
        let args = self.old.dfg.inst_args(inst);
        let Some(code) = self.old.dfg.insts[inst].cond_code() else {
            return LaneAgreement::default();
        };
        let [a, b] = [args[0], args[1]].map(|arg| self.variance.lane_variance(arg));
        let (number, bound, code, stride) = match (a, b) {
            (LaneVariance::Affine { stride, .. }, b) if b.is_uniform() => {
                (args[0], args[1], code, stride)
            }
            (a, LaneVariance::Affine { stride, .. }) if a.is_uniform() => {
                (args[1], args[0], code.swap_args(), stride)
            }
            _ => return LaneAgreement::default(),
        };
        let ty = self.old.dfg.value_type(number);
        let Some(distance) = stride.checked_mul(self.width() as i64 - 1) else {
            return LaneAgreement::default();
        };
        if stride <= 0 || distance >= 1 << (ty.bits() - 1).min(62) {
            return LaneAgreement::default();
        }
        let first = self.get_lane_values(number)[0];
        let bound = self.get_lane_values(bound)[0];
        if matches!(code, IntCC::Equal | IntCC::NotEqual) {
            // No lane has a number that is further from the first one than the last is.
            let from_first = self.builder.ins().isub(bound, first);
            let beyond = IntCC::UnsignedGreaterThan;
            let apart = self.builder.ins().icmp_imm_s(beyond, from_first, distance);
            let [all, none] = match code {
                IntCC::NotEqual => [Some(apart), None],
                _ => [None, Some(apart)],
            };
            return LaneAgreement { all, none };
        }
        let last = self.builder.ins().iadd_imm_s(first, distance);
        let rising = match code {
            IntCC::SignedLessThan
            | IntCC::SignedLessThanOrEqual
            | IntCC::SignedGreaterThan
            | IntCC::SignedGreaterThanOrEqual => IntCC::SignedLessThanOrEqual,
            _ => IntCC::UnsignedLessThanOrEqual,
        };
        let rises = self.builder.ins().icmp(rising, first, last);
        // Where the numbers rise, the lane that is nearest to the bound decides.
        let less = matches!(
            code,
            IntCC::SignedLessThan
                | IntCC::SignedLessThanOrEqual
                | IntCC::UnsignedLessThan
                | IntCC::UnsignedLessThanOrEqual
        );
        let (hardest, easiest) = if less { (last, first) } else { (first, last) };
        let all = self.builder.ins().icmp(code, hardest, bound);
        let none = self.builder.ins().icmp(code.complement(), easiest, bound);
        LaneAgreement {
            all: Some(self.builder.ins().band(rises, all)),
            none: Some(self.builder.ins().band(rises, none)),
        }
    }
}
