//! Conversions that do not round to nearest. Vulkan's do, or may; what they give is put right by a
//! step to the neighbour.

use super::Lower;
use crate::facts::Scalar;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::FPRoundingMode as Mode;
use spirula_spirv::grammar::glsl_std_450 as glsl;

/// Bits of a float's mantissa, the hidden one among them.
fn precision(width: u32) -> u32 {
    match width {
        16 => 11,
        32 => 24,
        _ => 53,
    }
}

impl Lower<'_> {
    /// The neighbour of a float with one more or less in its bits, where a condition holds.
    fn neighbour(&mut self, value: Id, width: u32, condition: Id, by: i64) -> Id {
        let (float, bits) = (Scalar::Float(width), Scalar::Int(width));
        let (ty, number) = (self.scalar(float), self.int(width));
        let by = self.number(width, by as u64);
        let whole = self.join_pieces(vec![value], float, bits);
        let next = self.op(Op::IAdd, number, &[whole, by]);
        let next = self.join_pieces(vec![next], bits, float);
        self.op(Op::Select, ty, &[condition, next, value])
    }

    /// A float with fewer bits, rounded by a mode.
    pub fn narrow(&mut self, value: Id, from: u32, to: u32, mode: Mode) -> Id {
        let (wide, narrow, truth) = (self.float(from), self.float(to), self.b.bool());
        let nearest = self.op(Op::FConvert, narrow, &[value]);
        let back = self.op(Op::FConvert, wide, &[nearest]);
        match mode {
            Mode::RTZ => {
                let size = self.glsl(glsl::FABS, wide, &[value]);
                let found = self.glsl(glsl::FABS, wide, &[back]);
                let is_more = self.op(Op::FOrdGreaterThan, truth, &[found, size]);
                self.neighbour(nearest, to, is_more, -1)
            }
            Mode::RTP | Mode::RTN => {
                let (past, grows) = match mode {
                    Mode::RTP => (Op::FOrdLessThan, Op::FOrdGreaterThanEqual),
                    _ => (Op::FOrdGreaterThan, Op::FOrdLessThanEqual),
                };
                let is_wrong = self.op(past, truth, &[back, value]);
                let zero = self.real(from, 0.0);
                // Away from zero the bits grow, towards it they shrink. Zero is left away from it.
                let away = self.op(grows, truth, &[value, zero]);
                let grow = self.op(Op::LogicalAnd, truth, &[is_wrong, away]);
                let towards = self.op(Op::LogicalNot, truth, &[away]);
                let shrink = self.op(Op::LogicalAnd, truth, &[is_wrong, towards]);
                let grown = self.neighbour(nearest, to, grow, 1);
                self.neighbour(grown, to, shrink, -1)
            }
            _ => nearest,
        }
    }

    /// An integer as a float of 32 or 64 bits, rounded by a mode.
    pub fn float_of(&mut self, value: Id, from: u32, to: u32, is_signed: bool, mode: Mode) -> Id {
        let (number, float, truth) = (self.int(from), self.float(to), self.b.bool());
        let zero = self.number(from, 0);
        let negative = match is_signed {
            true => self.op(Op::SLessThan, truth, &[value, zero]),
            false => self.b.constant_bool(false),
        };
        let negated = self.op(Op::SNegate, number, &[value]);
        let size = self.op(Op::Select, number, &[negative, negated, value]);
        // The bits that a float has no room for.
        let zeros = self.leading_zeros(size, from);
        let room = self.number(from, u64::from(from.saturating_sub(precision(to))));
        let less = self.op(Op::ULessThan, truth, &[zeros, room]);
        let excess = self.op(Op::ISub, number, &[room, zeros]);
        let excess = self.op(Op::Select, number, &[less, excess, zero]);
        let high = self.op(Op::ShiftRightLogical, number, &[size, excess]);
        let high = self.op(Op::ShiftLeftLogical, number, &[high, excess]);
        let cut = self.op(Op::ConvertUToF, float, &[high]);
        let is_cut = self.op(Op::INotEqual, truth, &[high, size]);
        let away = match mode {
            Mode::RTP => Some(self.op(Op::LogicalNot, truth, &[negative])),
            Mode::RTN => Some(negative),
            _ => None,
        };
        let rounded = match away {
            None => cut,
            Some(away) => {
                let steps = self.op(Op::LogicalAnd, truth, &[is_cut, away]);
                self.neighbour(cut, to, steps, 1)
            }
        };
        let opposite = self.op(Op::FNegate, float, &[rounded]);
        self.op(Op::Select, float, &[negative, opposite, rounded])
    }
}
