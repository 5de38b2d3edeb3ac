//! Expected operands: the operands that an instruction still requires, for readers that go from front to back.

use super::Kind;
use super::types::{ExtInstSet, Op, OperandInfo, OperandQuantifier};

/// Most lists waiting at a time: the instruction's, a mask's bits, and parameters of parameters.
const DEPTH: usize = 6;

#[derive(Clone, Copy, Debug)]
enum OperandFrame {
    List(&'static [OperandInfo]),
    /// Bits of a mask whose parameters are still to come.
    Bits(Kind, u32),
}

/// The operands expected next, as a short stack of table slices.
#[derive(Clone, Debug)]
pub(crate) struct ExpectedOperands {
    stack: [OperandFrame; DEPTH],
    depth: usize,
    /// Second part of a composite that was begun.
    pending: Option<(Kind, &'static str)>,
}

impl ExpectedOperands {
    /// The operands that an instruction expects.
    pub fn new(operands: &'static [OperandInfo]) -> Self {
        let mut stack = [OperandFrame::List(&[]); DEPTH];
        stack[0] = OperandFrame::List(operands);
        ExpectedOperands {
            stack,
            depth: 1,
            pending: None,
        }
    }

    /// The next operand; `None` at the end. An optional operand is skipped if `ended` returns that the
    /// instruction has no more words.
    ///
    /// # Errors
    /// Kind and name of a required operand that is missing because the instruction has ended.
    pub fn next_operand(
        &mut self,
        ended: impl FnOnce() -> bool,
    ) -> Result<Option<(Kind, &'static str)>, (Kind, &'static str)> {
        if let Some(second) = self.pending.take() {
            return if ended() {
                Err(second)
            } else {
                Ok(Some(second))
            };
        }
        let next = loop {
            let Some(top) = self.depth.checked_sub(1) else {
                return Ok(None);
            };
            match &mut self.stack[top] {
                OperandFrame::List([]) | OperandFrame::Bits(_, 0) => self.depth -= 1,
                OperandFrame::List(list) => {
                    let next = list[0];
                    if next.quantifier != OperandQuantifier::Many {
                        *list = &list[1..];
                    }
                    break next;
                }
                OperandFrame::Bits(kind, bits) => {
                    let bit = *bits & bits.wrapping_neg();
                    *bits ^= bit;
                    if let Some(e) = kind.info().enumerant_by_value(bit) {
                        self.push_operands(e.parameters);
                    }
                }
            }
        };
        if !ended() {
            return Ok(Some(self.enter_composite(next.kind, next.name)));
        }
        if next.quantifier == OperandQuantifier::One {
            return Err((next.kind, next.name));
        }
        // Optional operands come last, so that only optional ones are dropped here.
        self.depth = 0;
        Ok(None)
    }

    /// The first part of a composite, anything else as it is.
    fn enter_composite(&mut self, kind: Kind, name: &'static str) -> (Kind, &'static str) {
        if let [first, second] = kind.info().bases {
            self.pending = Some((*second, name));
            return (*first, name);
        }
        (kind, name)
    }

    /// Whether the latest operand was the first of a pair.
    pub fn in_pair(&self) -> bool {
        self.pending.is_some()
    }

    /// Parameters precede the operands that were expected so far.
    pub fn push_operands(&mut self, operands: &'static [OperandInfo]) {
        self.push_frame(OperandFrame::List(operands), operands.is_empty());
    }

    /// Parameters of a mask's bits follow in the order of the bits.
    pub fn push_bits(&mut self, kind: Kind, mask: u32) {
        self.push_frame(OperandFrame::Bits(kind, mask), mask == 0);
    }

    fn push_frame(&mut self, frame: OperandFrame, empty: bool) {
        debug_assert!(self.depth < DEPTH, "the tables do not nest deeper");
        if !empty && self.depth < DEPTH {
            self.stack[self.depth] = frame;
            self.depth += 1;
        }
    }

    /// After the number of an extended instruction come the operands of that instruction. Those of non-semantic
    /// sets are ids, and later versions have more of them.
    pub fn enter_ext(&mut self, set: Option<&'static ExtInstSet>, number: u32) {
        let Some(set) = set else { return };
        if let Some(row) = set.instruction_by_number(number) {
            if !set.name.starts_with("NonSemantic.") {
                self.depth = 0;
            }
            self.push_operands(row.operands);
        }
    }

    /// After the opcode of `OpSpecConstantOp` come the operands of that instruction without its result. Returns
    /// whether the opcode is allowed there.
    pub fn enter_spec_op(&mut self, number: u32) -> bool {
        let op = u16::try_from(number).ok().map(Op);
        let Some(row) = op.and_then(Op::info) else {
            return false;
        };
        let [
            OperandInfo {
                kind: Kind::IdResultType,
                ..
            },
            OperandInfo {
                kind: Kind::IdResult,
                ..
            },
            operands @ ..,
        ] = row.operands
        else {
            return false;
        };
        if matches!(
            row.op,
            Op::SpecConstantOp | Op::ExtInst | Op::ExtInstWithForwardRefsKHR
        ) {
            return false;
        }
        self.depth = 0;
        self.push_operands(operands);
        true
    }
}
