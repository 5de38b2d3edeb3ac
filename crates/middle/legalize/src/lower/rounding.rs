//! Conversions that do not round to nearest. Vulkan's do, or may, so that they are given what they
//! need not round.

use super::ShaderLowering;
use crate::facts::MemoryScalar;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::FPRoundingMode as Mode;

/// Bits of a float's mantissa, the hidden one among them.
fn precision(width: u32) -> u32 {
    match width {
        16 => 11,
        32 => 24,
        _ => 53,
    }
}

/// Bits of a format in which floats of another are found exactly.
struct FloatNarrowing {
    /// Bits of the wide format, and of its mantissa without the hidden one.
    width: u32,
    mantissa: u64,
    /// Bits of the mantissa that are lost.
    lost: u64,
    /// In the wide format: the narrow one's least normal number, least number and largest, and
    /// infinity.
    normal: u64,
    least: u64,
    largest: u64,
    infinite: u64,
}

impl FloatNarrowing {
    fn of(from: u32, to: u32) -> FloatNarrowing {
        let (mantissa, bias) = match from {
            32 => (23, 127),
            _ => (52, 1023),
        };
        let (kept, least, most) = match to {
            16 => (10, 14, 15),
            _ => (23, 126, 127),
        };
        let lost = mantissa - kept;
        FloatNarrowing {
            width: from,
            mantissa,
            lost,
            normal: (bias - least) << mantissa,
            least: (bias - least - kept) << mantissa,
            largest: (bias + most) << mantissa | ((1 << kept) - 1) << lost,
            infinite: (2 * bias + 1) << mantissa,
        }
    }
}

impl ShaderLowering<'_> {
    /// The neighbour of a float with one more or less in its bits, where a condition holds.
    fn neighbour(&mut self, value: Id, width: u32, condition: Id, by: i64) -> Id {
        let (float, bits) = (MemoryScalar::Float(width), MemoryScalar::Int(width));
        let (ty, number) = (self.scalar(float), self.int(width));
        let by = self.number(width, by as u64);
        let whole = self.join_pieces(vec![value], float, bits);
        let next = self.op(Op::IAdd, number, &[whole, by]);
        let next = self.join_pieces(vec![next], bits, float);
        self.op(Op::Select, ty, &[condition, next, value])
    }

    /// A float with fewer bits, rounded by a mode.
    ///
    /// What would be lost is cut off before, as bits of an integer, so that the conversion itself is
    /// exact: a driver was seen to take a conversion there and back for nothing, by which one
    /// cannot find out afterwards how it was rounded.
    pub fn narrow(&mut self, value: Id, from: u32, to: u32, mode: Mode) -> Id {
        let narrow = self.float(to);
        if !matches!(mode, Mode::RTZ | Mode::RTP | Mode::RTN) {
            return self.op(Op::FConvert, narrow, &[value]);
        }
        let (float, bits) = (MemoryScalar::Float(from), MemoryScalar::Int(from));
        let (number, truth) = (self.int(from), self.b.bool());
        let whole = self.join_pieces(vec![value], float, bits);
        let top = self.number(from, 1 << (from - 1));
        let rest = self.number(from, (1 << (from - 1)) - 1);
        let sign = self.op(Op::BitwiseAnd, number, &[whole, top]);
        let size = self.op(Op::BitwiseAnd, number, &[whole, rest]);
        let zero = self.number(from, 0);
        let negative = self.op(Op::INotEqual, truth, &[sign, zero]);
        let away = match mode {
            Mode::RTP => self.op(Op::LogicalNot, truth, &[negative]),
            Mode::RTN => negative,
            _ => self.b.constant_bool(false),
        };
        let cut = self.cut(size, away, FloatNarrowing::of(from, to));
        let whole = self.op(Op::BitwiseOr, number, &[sign, cut]);
        let exact = self.join_pieces(vec![whole], bits, float);
        self.op(Op::FConvert, narrow, &[exact])
    }

    /// A float of 64 bits as one of 32 whose lowest bit says that something was lost, so that it can be
    /// rounded once more (S. Boldo and G. Melquiond, "When double rounding is odd", 2005).
    pub fn single_to_odd(&mut self, value: Id) -> Id {
        let (long, word, single) = (self.int(64), self.int(32), self.float(32));
        let truth = self.b.bool();
        let whole = self.cast(value, MemoryScalar::Float(64), MemoryScalar::Int(64));
        let [top, rest] = [1 << 63, u64::MAX >> 1].map(|mask| self.number(64, mask));
        let sign = self.op(Op::BitwiseAnd, long, &[whole, top]);
        let size = self.op(Op::BitwiseAnd, long, &[whole, rest]);
        let never = self.b.constant_bool(false);
        let cut = self.cut(size, never, FloatNarrowing::of(64, 32));
        let is_cut = self.op(Op::INotEqual, truth, &[cut, size]);
        let exact = self.op(Op::BitwiseOr, long, &[sign, cut]);
        let exact = self.cast(exact, MemoryScalar::Int(64), MemoryScalar::Float(64));
        let made = self.op(Op::FConvert, single, &[exact]);
        let bits = self.cast(made, MemoryScalar::Float(32), MemoryScalar::Int(32));
        let (one, zero) = (self.number(32, 1), self.number(32, 0));
        let odd = self.op(Op::Select, word, &[is_cut, one, zero]);
        let bits = self.op(Op::BitwiseOr, word, &[bits, odd]);
        self.cast(bits, MemoryScalar::Int(32), MemoryScalar::Float(32))
    }

    /// The bits of a positive float without what another format has no room for; the next larger
    /// where something is lost and it goes away from zero.
    fn cut(&mut self, size: Id, away: Id, n: FloatNarrowing) -> Id {
        let (number, truth) = (self.int(n.width), self.b.bool());
        let (zero, one) = (self.number(n.width, 0), self.number(n.width, 1));
        let [normal, least, largest, infinite] =
            [n.normal, n.least, n.largest, n.infinite].map(|bits| self.number(n.width, bits));
        // Numbers without a hidden bit lose one more for each power of two.
        let mantissa = self.number(n.width, n.mantissa);
        let exponent = self.op(Op::ShiftRightLogical, number, &[size, mantissa]);
        let first = self.number(n.width, n.normal >> n.mantissa);
        let below = self.op(Op::ISub, number, &[first, exponent]);
        let is_small = self.op(Op::ULessThan, truth, &[size, normal]);
        let is_tiny = self.op(Op::ULessThan, truth, &[size, least]);
        let more = self.op(Op::Select, number, &[is_small, below, zero]);
        let more = self.op(Op::Select, number, &[is_tiny, zero, more]);
        let lost = self.number(n.width, n.lost);
        let lost = self.op(Op::IAdd, number, &[lost, more]);
        let mask = self.op(Op::ShiftLeftLogical, number, &[one, lost]);
        let mask = self.op(Op::ISub, number, &[mask, one]);
        let kept = self.op(Op::Not, number, &[mask]);

        let fill = self.op(Op::Select, number, &[away, mask, zero]);
        let filled = self.op(Op::IAdd, number, &[size, fill]);
        let cut = self.op(Op::BitwiseAnd, number, &[filled, kept]);
        // Below the least there is only that and zero.
        let is_some = self.op(Op::INotEqual, truth, &[size, zero]);
        let steps = self.op(Op::LogicalAnd, truth, &[away, is_some]);
        let tiny = self.op(Op::Select, number, &[steps, least, zero]);
        let cut = self.op(Op::Select, number, &[is_tiny, tiny, cut]);
        // Towards zero nothing finite becomes infinite.
        let towards = self.op(Op::LogicalNot, truth, &[away]);
        let beyond = self.op(Op::UGreaterThan, truth, &[size, largest]);
        let stays = self.op(Op::LogicalAnd, truth, &[towards, beyond]);
        let cut = self.op(Op::Select, number, &[stays, largest, cut]);
        let special = self.op(Op::UGreaterThanEqual, truth, &[size, infinite]);
        self.op(Op::Select, number, &[special, size, cut])
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
