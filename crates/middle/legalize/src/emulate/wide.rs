//! Integers of 64 bits as two words, the lower one first.

use super::emitter::TypeEmulator;
use super::kinds::{EmulatedScalar, EmulatedShape, MOVES};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

/// What moves two words as it moves other vectors, or works on bits alone.
const PLAIN: &[Op] = &[
    Op::BitwiseAnd,
    Op::BitwiseOr,
    Op::BitwiseXor,
    Op::Not,
    Op::GroupNonUniformBitwiseAnd,
    Op::GroupNonUniformBitwiseOr,
    Op::GroupNonUniformBitwiseXor,
];

const COMPARISONS: &[Op] = &[
    Op::IEqual,
    Op::INotEqual,
    Op::ULessThan,
    Op::ULessThanEqual,
    Op::UGreaterThan,
    Op::UGreaterThanEqual,
    Op::SLessThan,
    Op::SLessThanEqual,
    Op::SGreaterThan,
    Op::SGreaterThanEqual,
];

const SHIFTS: &[Op] = &[
    Op::ShiftLeftLogical,
    Op::ShiftRightLogical,
    Op::ShiftRightArithmetic,
];

impl<'a> TypeEmulator<'a> {
    /// An operation of which something is wide.
    pub fn wide(
        &mut self,
        inst: InstRef<'a>,
        made: Option<EmulatedShape>,
        given: Option<EmulatedShape>,
    ) -> Result<(), SourceDiagnostic> {
        let op = inst.op();
        let count = made.or(given).map_or(1, |s| s.count);
        if (PLAIN.contains(&op) || MOVES.contains(&op)) && count == 1 {
            return Ok(());
        }
        match op {
            Op::CompositeConstruct if count == 1 => Ok(()),
            Op::CompositeConstruct | Op::VectorShuffle => self.gathered(inst),
            Op::Select => self.select(inst),
            Op::VectorExtractDynamic => self.extracted(inst),
            Op::VectorInsertDynamic => self.inserted(inst),
            _ if SHIFTS.contains(&op) && !self.is_wide(inst.id(0)) => self.shifted_by(inst, count),
            _ => self.each(inst, count),
        }
    }

    fn is_wide(&self, value: Id) -> bool {
        let shape = self.shape(value);
        shape.is_some_and(|s| matches!(s.kind, EmulatedScalar::Wide { .. }))
    }

    /// A shift of which only the amount is wide.
    fn shifted_by(&mut self, inst: InstRef<'a>, count: u32) -> Result<(), SourceDiagnostic> {
        let wide = inst.id(1);
        let lanes = self.amounts(wide);
        let ty = self.uints(count);
        let amount = match lanes[..] {
            [one] => one,
            _ => self.op(Op::CompositeConstruct, ty, &lanes),
        };
        self.ids.rewrite(&mut self.m, inst.handle(), |id| {
            if id == wide { amount } else { id }
        });
        Ok(())
    }

    /// What is done to each component by itself.
    fn each(&mut self, inst: InstRef<'a>, count: u32) -> Result<(), SourceDiagnostic> {
        let op = inst.op();
        let operands: Vec<Id> = inst.ids(0).collect();
        let is_shift = SHIFTS.contains(&op);
        let mut lanes = Vec::new();
        for operand in operands.iter().take(if is_shift { 1 } else { 2 }) {
            if !self.is_wide(*operand) {
                return Err(self.refuse(inst, &format!("{op} of integers of 64 bits")));
            }
            lanes.push(self.wide_lanes(*operand));
        }
        let amounts = match is_shift {
            true => self.amounts(operands[1]),
            false => Vec::new(),
        };
        let (mut results, mut truths) = (Vec::new(), Vec::new());
        for n in 0..count as usize {
            let v: Vec<[Id; 2]> = lanes.iter().map(|l| l[n]).collect();
            if COMPARISONS.contains(&op) {
                truths.push(self.compared(op, v[0], v[1]));
            } else if is_shift {
                results.push(self.shifted(op, v[0], amounts[n]));
            } else {
                results.push(self.computed(inst, &v)?);
            }
        }
        let value = match truths[..] {
            [] => self.joined(&results, inst.result_type()),
            [truth] => truth,
            _ => {
                let ty = self.truths(count);
                self.op(Op::CompositeConstruct, ty, &truths)
            }
        };
        self.becomes(inst, value);
        Ok(())
    }

    /// An integer of others.
    fn computed(&mut self, inst: InstRef<'a>, v: &[[Id; 2]]) -> Result<[Id; 2], SourceDiagnostic> {
        let (op, word) = (inst.op(), self.uint());
        Ok(match op {
            Op::IAdd => self.added(v[0], v[1]),
            Op::ISub => self.subtracted(v[0], v[1]),
            Op::IMul => self.multiplied(v[0], v[1]),
            Op::SNegate => self.negated(v[0]),
            Op::UDiv | Op::UMod | Op::SDiv | Op::SRem | Op::SMod => self.divided(op, v[0], v[1])?,
            Op::BitwiseAnd | Op::BitwiseOr | Op::BitwiseXor => {
                [0, 1].map(|k| self.op(op, word, &[v[0][k], v[1][k]]))
            }
            Op::Not => [0, 1].map(|k| self.op(op, word, &[v[0][k]])),
            _ => return Err(self.refuse(inst, &format!("{op} of integers of 64 bits"))),
        })
    }

    /// The words of one integer.
    pub fn halves(&mut self, value: Id) -> [Id; 2] {
        let word = self.uint();
        [0, 1].map(|n| self.extract(word, value, n))
    }

    /// The words of each component of a value of the source.
    pub fn wide_lanes(&mut self, value: Id) -> Vec<[Id; 2]> {
        let count = self.shape(value).map_or(1, |s| s.count);
        if count == 1 {
            return vec![self.halves(value)];
        }
        let word = self.uint();
        let mut lanes = Vec::new();
        for n in 0..count {
            lanes.push([0, 1].map(|k| {
                let words = [value.word(), n, k];
                self.op_words(Op::CompositeExtract, word, &words)
            }));
        }
        lanes
    }

    /// Integers of words, as a value of a type of the source.
    pub fn joined(&mut self, lanes: &[[Id; 2]], ty: Option<Id>) -> Id {
        let pair = self.uints(2);
        let mut parts = Vec::new();
        for lane in lanes {
            parts.push(self.op(Op::CompositeConstruct, pair, lane));
        }
        match (&parts[..], ty) {
            ([one], _) | ([one, ..], None) => *one,
            (all, Some(ty)) => self.op(Op::CompositeConstruct, ty, all),
            ([], None) => self.number(0),
        }
    }

    /// Amounts of shifts as words.
    fn amounts(&mut self, value: Id) -> Vec<Id> {
        match self.shape(value) {
            Some(shape) if matches!(shape.kind, EmulatedScalar::Wide { .. }) => {
                self.wide_lanes(value).into_iter().map(|l| l[0]).collect()
            }
            Some(shape) => {
                let value = self.unsigned(value, shape);
                let word = self.uint();
                match shape.count {
                    1 => vec![value],
                    count => (0..count).map(|n| self.extract(word, value, n)).collect(),
                }
            }
            None => vec![value],
        }
    }

    pub fn added(&mut self, a: [Id; 2], b: [Id; 2]) -> [Id; 2] {
        let (word, truth) = (self.uint(), self.truth());
        let low = self.op(Op::IAdd, word, &[a[0], b[0]]);
        let carries = self.op(Op::ULessThan, truth, &[low, a[0]]);
        let (one, zero) = (self.number(1), self.number(0));
        let carry = self.op(Op::Select, word, &[carries, one, zero]);
        let high = self.op(Op::IAdd, word, &[a[1], b[1]]);
        [low, self.op(Op::IAdd, word, &[high, carry])]
    }

    pub fn subtracted(&mut self, a: [Id; 2], b: [Id; 2]) -> [Id; 2] {
        let (word, truth) = (self.uint(), self.truth());
        let low = self.op(Op::ISub, word, &[a[0], b[0]]);
        let borrows = self.op(Op::ULessThan, truth, &[a[0], b[0]]);
        let (one, zero) = (self.number(1), self.number(0));
        let borrow = self.op(Op::Select, word, &[borrows, one, zero]);
        let high = self.op(Op::ISub, word, &[a[1], b[1]]);
        [low, self.op(Op::ISub, word, &[high, borrow])]
    }

    pub fn negated(&mut self, a: [Id; 2]) -> [Id; 2] {
        let zero = self.number(0);
        self.subtracted([zero; 2], a)
    }

    fn multiplied(&mut self, a: [Id; 2], b: [Id; 2]) -> [Id; 2] {
        let word = self.uint();
        let both = self.ty(Op::TypeStruct, &[word.word(), word.word()]);
        let whole = self.op(Op::UMulExtended, both, &[a[0], b[0]]);
        let (low, high) = (self.extract(word, whole, 0), self.extract(word, whole, 1));
        let x = self.op(Op::IMul, word, &[a[0], b[1]]);
        let y = self.op(Op::IMul, word, &[a[1], b[0]]);
        let sum = self.op(Op::IAdd, word, &[x, y]);
        [low, self.op(Op::IAdd, word, &[high, sum])]
    }

    fn shifted(&mut self, op: Op, a: [Id; 2], amount: Id) -> [Id; 2] {
        let (word, truth) = (self.uint(), self.truth());
        let (zero, most, thirty_two) = (self.number(0), self.number(31), self.number(32));
        let by = self.op(Op::BitwiseAnd, word, &[amount, most]);
        let whole = self.op(Op::BitwiseAnd, word, &[amount, thirty_two]);
        let is_far = self.op(Op::INotEqual, truth, &[whole, zero]);
        let is_none = self.op(Op::IEqual, truth, &[by, zero]);
        let rest = self.op(Op::ISub, word, &[thirty_two, by]);
        let rest = self.op(Op::BitwiseAnd, word, &[rest, most]);
        // Towards the word that bits come from, and the one that they go to.
        let is_left = op == Op::ShiftLeftLogical;
        let (from, to) = if is_left { (a[0], a[1]) } else { (a[1], a[0]) };
        let (near, far) = match is_left {
            true => (Op::ShiftLeftLogical, Op::ShiftRightLogical),
            false => (Op::ShiftRightLogical, Op::ShiftLeftLogical),
        };
        let over = self.op(far, word, &[from, rest]);
        let over = self.op(Op::Select, word, &[is_none, zero, over]);
        let own = self.op(near, word, &[to, by]);
        let to_near = self.op(Op::BitwiseOr, word, &[own, over]);
        let moved = self.op(if is_left { near } else { op }, word, &[from, by]);
        let fill = match op {
            Op::ShiftRightArithmetic => self.op(op, word, &[from, most]),
            _ => zero,
        };
        let to = self.op(Op::Select, word, &[is_far, moved, to_near]);
        let from = self.op(Op::Select, word, &[is_far, fill, moved]);
        if is_left { [from, to] } else { [to, from] }
    }

    /// A comparison.
    pub fn compared(&mut self, op: Op, a: [Id; 2], b: [Id; 2]) -> Id {
        let truth = self.truth();
        let same = self.op(Op::IEqual, truth, &[a[1], b[1]]);
        match op {
            Op::IEqual | Op::INotEqual => {
                let low = self.op(Op::IEqual, truth, &[a[0], b[0]]);
                let equal = self.op(Op::LogicalAnd, truth, &[same, low]);
                match op {
                    Op::IEqual => equal,
                    _ => self.op(Op::LogicalNot, truth, &[equal]),
                }
            }
            _ => {
                let (high, low) = match op {
                    Op::ULessThan => (op, op),
                    Op::UGreaterThan => (op, op),
                    Op::ULessThanEqual => (Op::ULessThan, op),
                    Op::UGreaterThanEqual => (Op::UGreaterThan, op),
                    Op::SLessThan => (op, Op::ULessThan),
                    Op::SGreaterThan => (op, Op::UGreaterThan),
                    Op::SLessThanEqual => (Op::SLessThan, Op::ULessThanEqual),
                    _ => (Op::SGreaterThan, Op::UGreaterThanEqual),
                };
                let high = self.op(high, truth, &[a[1], b[1]]);
                let low = self.op(low, truth, &[a[0], b[0]]);
                let low = self.op(Op::LogicalAnd, truth, &[same, low]);
                self.op(Op::LogicalOr, truth, &[high, low])
            }
        }
    }

    /// One of two.
    pub fn chosen(&mut self, condition: Id, a: [Id; 2], b: [Id; 2]) -> [Id; 2] {
        let word = self.uint();
        [0, 1].map(|n| self.op(Op::Select, word, &[condition, a[n], b[n]]))
    }

    pub fn is_negative(&mut self, a: [Id; 2]) -> Id {
        let (truth, zero) = (self.truth(), self.number(0));
        self.op(Op::SLessThan, truth, &[a[1], zero])
    }

    fn select(&mut self, inst: InstRef<'a>) -> Result<(), SourceDiagnostic> {
        let (a, b) = (self.wide_lanes(inst.id(1)), self.wide_lanes(inst.id(2)));
        let each = self.shape(inst.id(0)).map_or(1, |s| s.count) > 1;
        let truth = self.truth();
        let mut lanes = Vec::new();
        for (n, (a, b)) in a.into_iter().zip(b).enumerate() {
            let condition = match each {
                true => self.extract(truth, inst.id(0), n as u32),
                false => inst.id(0),
            };
            lanes.push(self.chosen(condition, a, b));
        }
        let value = self.joined(&lanes, inst.result_type());
        self.becomes(inst, value);
        Ok(())
    }

    /// A vector of components of others.
    fn gathered(&mut self, inst: InstRef<'a>) -> Result<(), SourceDiagnostic> {
        let is_shuffle = inst.op() == Op::VectorShuffle;
        let given: Vec<Id> = inst
            .ids(0)
            .take(if is_shuffle { 2 } else { usize::MAX })
            .collect();
        let mut all = Vec::new();
        for value in given {
            all.extend(self.wide_lanes(value));
        }
        let lanes = match is_shuffle {
            // A component that is not said may be any.
            true => {
                let numbers = inst.operands()[2..].iter().map(|n| *n as usize);
                numbers
                    .map(|n| all.get(n).copied().unwrap_or(all[0]))
                    .collect()
            }
            false => all,
        };
        let value = self.joined(&lanes, inst.result_type());
        self.becomes(inst, value);
        Ok(())
    }

    fn extracted(&mut self, inst: InstRef<'a>) -> Result<(), SourceDiagnostic> {
        let (truth, lanes) = (self.truth(), self.wide_lanes(inst.id(0)));
        let index = self.index(inst.id(1));
        let mut found = lanes[0];
        for (n, lane) in lanes.iter().enumerate().skip(1) {
            let n = self.number(n as u32);
            let is_it = self.op(Op::IEqual, truth, &[index, n]);
            found = self.chosen(is_it, *lane, found);
        }
        let value = self.joined(&[found], inst.result_type());
        self.becomes(inst, value);
        Ok(())
    }

    fn inserted(&mut self, inst: InstRef<'a>) -> Result<(), SourceDiagnostic> {
        let (truth, mut lanes) = (self.truth(), self.wide_lanes(inst.id(0)));
        let new = self.halves(inst.id(1));
        let index = self.index(inst.id(2));
        for (n, lane) in lanes.iter_mut().enumerate() {
            let n = self.number(n as u32);
            let is_it = self.op(Op::IEqual, truth, &[index, n]);
            *lane = self.chosen(is_it, new, *lane);
        }
        let value = self.joined(&lanes, inst.result_type());
        self.becomes(inst, value);
        Ok(())
    }
}
