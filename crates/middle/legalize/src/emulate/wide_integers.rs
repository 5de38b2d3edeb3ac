//! Wide integers: 64-bit integers as two words, the lower one first.

use super::emitter::TypeEmulator;
use super::type_shapes::{EmulatedScalar, EmulatedShape, MOVES};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

/// Instructions that move two words like other vectors, or work on bits alone.
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
    /// Emulates an operation of which at least one operand or the result is wide.
    pub fn emulate_wide(
        &mut self,
        inst: InstRef<'a>,
        result_shape: Option<EmulatedShape>,
        operand_shape: Option<EmulatedShape>,
    ) -> Result<(), SourceDiagnostic> {
        let op = inst.op();
        let count = result_shape.or(operand_shape).map_or(1, |s| s.count);
        if (PLAIN.contains(&op) || MOVES.contains(&op)) && count == 1 {
            return Ok(());
        }
        match op {
            Op::CompositeConstruct if count == 1 => Ok(()),
            Op::CompositeConstruct | Op::VectorShuffle => self.emulate_gather(inst),
            Op::Select => self.emulate_select(inst),
            Op::VectorExtractDynamic => self.emulate_dynamic_extract(inst),
            Op::VectorInsertDynamic => self.emulate_dynamic_insert(inst),
            _ if SHIFTS.contains(&op) && !self.is_wide(inst.id_operand(0)) => {
                self.shift_by_wide_amount(inst, count)
            }
            _ => self.emulate_components(inst, count),
        }
    }

    fn is_wide(&self, value: Id) -> bool {
        let shape = self.find_shape(value);
        shape.is_some_and(|s| matches!(s.kind, EmulatedScalar::Wide { .. }))
    }

    /// Emulates a shift of which only the amount is wide.
    fn shift_by_wide_amount(
        &mut self,
        inst: InstRef<'a>,
        count: u32,
    ) -> Result<(), SourceDiagnostic> {
        let wide = inst.id_operand(1);
        let lanes = self.split_shift_amounts(wide);
        let ty = self.make_uint_vector_type(count);
        let amount = match lanes[..] {
            [one] => one,
            _ => self.emit_value(Op::CompositeConstruct, ty, &lanes),
        };
        self.ids.rewrite_uses(&mut self.m, inst.handle(), |id| {
            if id == wide { amount } else { id }
        });
        Ok(())
    }

    /// Emulates an operation component by component.
    fn emulate_components(
        &mut self,
        inst: InstRef<'a>,
        count: u32,
    ) -> Result<(), SourceDiagnostic> {
        let op = inst.op();
        let operands: Vec<Id> = inst.id_operands(0).collect();
        let is_shift = SHIFTS.contains(&op);
        let mut lanes = Vec::new();
        for operand in operands.iter().take(if is_shift { 1 } else { 2 }) {
            if !self.is_wide(*operand) {
                return Err(
                    self.diagnose_instruction(inst, &format!("{op} of integers of 64 bits"))
                );
            }
            lanes.push(self.wide_lanes(*operand));
        }
        let amounts = if is_shift {
            self.split_shift_amounts(operands[1])
        } else {
            Vec::new()
        };
        let (mut results, mut truths) = (Vec::new(), Vec::new());
        for n in 0..count as usize {
            let v: Vec<[Id; 2]> = lanes.iter().map(|l| l[n]).collect();
            if COMPARISONS.contains(&op) {
                truths.push(self.compare_wide(op, v[0], v[1]));
            } else if is_shift {
                results.push(self.shift_wide(op, v[0], amounts[n]));
            } else {
                results.push(self.emit_wide_arithmetic(inst, &v)?);
            }
        }
        let value = match truths[..] {
            [] => self.join_words(&results, inst.result_type()),
            [truth] => truth,
            _ => {
                let ty = self.make_bool_vector_type(count);
                self.emit_value(Op::CompositeConstruct, ty, &truths)
            }
        };
        self.replace_result(inst, value);
        Ok(())
    }

    /// Computes an integer from others.
    fn emit_wide_arithmetic(
        &mut self,
        inst: InstRef<'a>,
        v: &[[Id; 2]],
    ) -> Result<[Id; 2], SourceDiagnostic> {
        let (op, word) = (inst.op(), self.make_uint_type());
        Ok(match op {
            Op::IAdd => self.add_wide(v[0], v[1]),
            Op::ISub => self.subtract_wide(v[0], v[1]),
            Op::IMul => self.multiply_wide(v[0], v[1]),
            Op::SNegate => self.negate_wide(v[0]),
            Op::UDiv | Op::UMod | Op::SDiv | Op::SRem | Op::SMod => {
                self.emit_division(op, v[0], v[1])?
            }
            Op::BitwiseAnd | Op::BitwiseOr | Op::BitwiseXor => {
                [0, 1].map(|k| self.emit_value(op, word, &[v[0][k], v[1][k]]))
            }
            Op::Not => [0, 1].map(|k| self.emit_value(op, word, &[v[0][k]])),
            _ => {
                return Err(
                    self.diagnose_instruction(inst, &format!("{op} of integers of 64 bits"))
                );
            }
        })
    }

    /// The words of one integer.
    pub fn split_words(&mut self, value: Id) -> [Id; 2] {
        let word = self.make_uint_type();
        [0, 1].map(|n| self.extract_component(word, value, n))
    }

    /// The words of each component of a value of the source.
    pub fn wide_lanes(&mut self, value: Id) -> Vec<[Id; 2]> {
        let count = self.find_shape(value).map_or(1, |s| s.count);
        if count == 1 {
            return vec![self.split_words(value)];
        }
        let word = self.make_uint_type();
        let mut lanes = Vec::new();
        for n in 0..count {
            lanes.push([0, 1].map(|k| {
                let words = [value.word(), n, k];
                self.op_words(Op::CompositeExtract, word, &words)
            }));
        }
        lanes
    }

    /// Joins words into integers, as a value of a type of the source.
    pub fn join_words(&mut self, lanes: &[[Id; 2]], ty: Option<Id>) -> Id {
        let pair = self.make_uint_vector_type(2);
        let mut parts = Vec::new();
        for lane in lanes {
            parts.push(self.emit_value(Op::CompositeConstruct, pair, lane));
        }
        match (&parts[..], ty) {
            ([one], _) | ([one, ..], None) => *one,
            (all, Some(ty)) => self.emit_value(Op::CompositeConstruct, ty, all),
            ([], None) => self.make_uint_constant(0),
        }
    }

    /// Amounts of shifts as words.
    fn split_shift_amounts(&mut self, value: Id) -> Vec<Id> {
        match self.find_shape(value) {
            Some(shape) if matches!(shape.kind, EmulatedScalar::Wide { .. }) => {
                self.wide_lanes(value).into_iter().map(|l| l[0]).collect()
            }
            Some(shape) => {
                let value = self.cast_to_unsigned(value, shape);
                let word = self.make_uint_type();
                match shape.count {
                    1 => vec![value],
                    count => (0..count)
                        .map(|n| self.extract_component(word, value, n))
                        .collect(),
                }
            }
            None => vec![value],
        }
    }

    pub fn add_wide(&mut self, a: [Id; 2], b: [Id; 2]) -> [Id; 2] {
        let (word, truth) = (self.make_uint_type(), self.make_bool_type());
        let low = self.emit_value(Op::IAdd, word, &[a[0], b[0]]);
        let carries = self.emit_value(Op::ULessThan, truth, &[low, a[0]]);
        let (one, zero) = (self.make_uint_constant(1), self.make_uint_constant(0));
        let carry = self.emit_value(Op::Select, word, &[carries, one, zero]);
        let high = self.emit_value(Op::IAdd, word, &[a[1], b[1]]);
        [low, self.emit_value(Op::IAdd, word, &[high, carry])]
    }

    pub fn subtract_wide(&mut self, a: [Id; 2], b: [Id; 2]) -> [Id; 2] {
        let (word, truth) = (self.make_uint_type(), self.make_bool_type());
        let low = self.emit_value(Op::ISub, word, &[a[0], b[0]]);
        let borrows = self.emit_value(Op::ULessThan, truth, &[a[0], b[0]]);
        let (one, zero) = (self.make_uint_constant(1), self.make_uint_constant(0));
        let borrow = self.emit_value(Op::Select, word, &[borrows, one, zero]);
        let high = self.emit_value(Op::ISub, word, &[a[1], b[1]]);
        [low, self.emit_value(Op::ISub, word, &[high, borrow])]
    }

    pub fn negate_wide(&mut self, a: [Id; 2]) -> [Id; 2] {
        let zero = self.make_uint_constant(0);
        self.subtract_wide([zero; 2], a)
    }

    fn multiply_wide(&mut self, a: [Id; 2], b: [Id; 2]) -> [Id; 2] {
        let word = self.make_uint_type();
        let both = self.make_type(Op::TypeStruct, &[word.word(), word.word()]);
        let whole = self.emit_value(Op::UMulExtended, both, &[a[0], b[0]]);
        let (low, high) = (
            self.extract_component(word, whole, 0),
            self.extract_component(word, whole, 1),
        );
        let x = self.emit_value(Op::IMul, word, &[a[0], b[1]]);
        let y = self.emit_value(Op::IMul, word, &[a[1], b[0]]);
        let sum = self.emit_value(Op::IAdd, word, &[x, y]);
        [low, self.emit_value(Op::IAdd, word, &[high, sum])]
    }

    fn shift_wide(&mut self, op: Op, a: [Id; 2], amount: Id) -> [Id; 2] {
        let (word, truth) = (self.make_uint_type(), self.make_bool_type());
        let (zero, most, thirty_two) = (
            self.make_uint_constant(0),
            self.make_uint_constant(31),
            self.make_uint_constant(32),
        );
        let by = self.emit_value(Op::BitwiseAnd, word, &[amount, most]);
        let whole = self.emit_value(Op::BitwiseAnd, word, &[amount, thirty_two]);
        let is_far = self.emit_value(Op::INotEqual, truth, &[whole, zero]);
        let is_none = self.emit_value(Op::IEqual, truth, &[by, zero]);
        let rest = self.emit_value(Op::ISub, word, &[thirty_two, by]);
        let rest = self.emit_value(Op::BitwiseAnd, word, &[rest, most]);
        // The word that bits are shifted out of, and the word that they are shifted into.
        let is_left = op == Op::ShiftLeftLogical;
        let (from, to) = if is_left { (a[0], a[1]) } else { (a[1], a[0]) };
        let (near, far) = if is_left {
            (Op::ShiftLeftLogical, Op::ShiftRightLogical)
        } else {
            (Op::ShiftRightLogical, Op::ShiftLeftLogical)
        };
        let over = self.emit_value(far, word, &[from, rest]);
        let over = self.emit_value(Op::Select, word, &[is_none, zero, over]);
        let own = self.emit_value(near, word, &[to, by]);
        let to_near = self.emit_value(Op::BitwiseOr, word, &[own, over]);
        let moved = self.emit_value(if is_left { near } else { op }, word, &[from, by]);
        let fill = match op {
            Op::ShiftRightArithmetic => self.emit_value(op, word, &[from, most]),
            _ => zero,
        };
        let to = self.emit_value(Op::Select, word, &[is_far, moved, to_near]);
        let from = self.emit_value(Op::Select, word, &[is_far, fill, moved]);
        if is_left { [from, to] } else { [to, from] }
    }

    /// Emulates a comparison.
    pub fn compare_wide(&mut self, op: Op, a: [Id; 2], b: [Id; 2]) -> Id {
        let truth = self.make_bool_type();
        let same = self.emit_value(Op::IEqual, truth, &[a[1], b[1]]);
        match op {
            Op::IEqual | Op::INotEqual => {
                let low = self.emit_value(Op::IEqual, truth, &[a[0], b[0]]);
                let equal = self.emit_value(Op::LogicalAnd, truth, &[same, low]);
                match op {
                    Op::IEqual => equal,
                    _ => self.emit_value(Op::LogicalNot, truth, &[equal]),
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
                let high = self.emit_value(high, truth, &[a[1], b[1]]);
                let low = self.emit_value(low, truth, &[a[0], b[0]]);
                let low = self.emit_value(Op::LogicalAnd, truth, &[same, low]);
                self.emit_value(Op::LogicalOr, truth, &[high, low])
            }
        }
    }

    /// Emulates a selection.
    pub fn select_wide(&mut self, condition: Id, a: [Id; 2], b: [Id; 2]) -> [Id; 2] {
        let word = self.make_uint_type();
        [0, 1].map(|n| self.emit_value(Op::Select, word, &[condition, a[n], b[n]]))
    }

    pub fn is_negative(&mut self, a: [Id; 2]) -> Id {
        let (truth, zero) = (self.make_bool_type(), self.make_uint_constant(0));
        self.emit_value(Op::SLessThan, truth, &[a[1], zero])
    }

    fn emulate_select(&mut self, inst: InstRef<'a>) -> Result<(), SourceDiagnostic> {
        let (a, b) = (
            self.wide_lanes(inst.id_operand(1)),
            self.wide_lanes(inst.id_operand(2)),
        );
        let each = self.find_shape(inst.id_operand(0)).map_or(1, |s| s.count) > 1;
        let truth = self.make_bool_type();
        let mut lanes = Vec::new();
        for (n, (a, b)) in a.into_iter().zip(b).enumerate() {
            let condition = if each {
                self.extract_component(truth, inst.id_operand(0), n as u32)
            } else {
                inst.id_operand(0)
            };
            lanes.push(self.select_wide(condition, a, b));
        }
        let value = self.join_words(&lanes, inst.result_type());
        self.replace_result(inst, value);
        Ok(())
    }

    /// Emulates an instruction that composes a vector from components.
    fn emulate_gather(&mut self, inst: InstRef<'a>) -> Result<(), SourceDiagnostic> {
        let is_shuffle = inst.op() == Op::VectorShuffle;
        let given: Vec<Id> = inst
            .id_operands(0)
            .take(if is_shuffle { 2 } else { usize::MAX })
            .collect();
        let mut all = Vec::new();
        for value in given {
            all.extend(self.wide_lanes(value));
        }
        let lanes = if is_shuffle {
            let numbers = inst.operands()[2..].iter().map(|n| *n as usize);
            // An undefined component may have any value.
            numbers
                .map(|n| all.get(n).copied().unwrap_or(all[0]))
                .collect()
        } else {
            all
        };
        let value = self.join_words(&lanes, inst.result_type());
        self.replace_result(inst, value);
        Ok(())
    }

    fn emulate_dynamic_extract(&mut self, inst: InstRef<'a>) -> Result<(), SourceDiagnostic> {
        let (truth, lanes) = (self.make_bool_type(), self.wide_lanes(inst.id_operand(0)));
        let index = self.convert_index(inst.id_operand(1));
        let mut found = lanes[0];
        for (n, lane) in lanes.iter().enumerate().skip(1) {
            let n = self.make_uint_constant(n as u32);
            let is_it = self.emit_value(Op::IEqual, truth, &[index, n]);
            found = self.select_wide(is_it, *lane, found);
        }
        let value = self.join_words(&[found], inst.result_type());
        self.replace_result(inst, value);
        Ok(())
    }

    fn emulate_dynamic_insert(&mut self, inst: InstRef<'a>) -> Result<(), SourceDiagnostic> {
        let (truth, mut lanes) = (self.make_bool_type(), self.wide_lanes(inst.id_operand(0)));
        let new = self.split_words(inst.id_operand(1));
        let index = self.convert_index(inst.id_operand(2));
        for (n, lane) in lanes.iter_mut().enumerate() {
            let n = self.make_uint_constant(n as u32);
            let is_it = self.emit_value(Op::IEqual, truth, &[index, n]);
            *lane = self.select_wide(is_it, new, *lane);
        }
        let value = self.join_words(&lanes, inst.result_type());
        self.replace_result(inst, value);
        Ok(())
    }
}
