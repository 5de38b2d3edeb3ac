//! Rounding modes of conversions other than to nearest.
//!
//! Vulkan's conversions round to nearest, or may. They are therefore given operands that need no rounding.

use super::ShaderLowering;
use crate::kernels::module_info::MemoryScalar;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::FPRoundingMode as Mode;

/// Bits of a float's mantissa, including the hidden bit.
fn count_mantissa_bits(width: u32) -> u32 {
    match width {
        16 => 11,
        32 => 24,
        _ => 53,
    }
}

/// Bit patterns of a wide format that delimit a narrower one.
struct FloatNarrowing {
    /// Bits of the wide format, and of its mantissa without the hidden one.
    width: u32,
    mantissa: u64,
    /// Bits of the mantissa that the narrow format drops.
    lost: u64,
    /// In the wide format: the least normal, the least and the largest number of the narrow one, and infinity.
    normal: u64,
    least: u64,
    largest: u64,
    infinite: u64,
}

impl FloatNarrowing {
    fn from_widths(from: u32, to: u32) -> FloatNarrowing {
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
    /// Adds to the bits of a float where a condition holds, which gives its neighbour.
    fn step_to_neighbour(&mut self, value: Id, width: u32, condition: Id, by: i64) -> Id {
        let (float, bits) = (MemoryScalar::Float(width), MemoryScalar::Int(width));
        let (ty, number) = (self.make_scalar_type(float), self.make_int_type(width));
        let by = self.make_uint_constant(width, by as u64);
        let whole = self.join_pieces(vec![value], float, bits);
        let next = self.emit_value(Op::IAdd, number, &[whole, by]);
        let next = self.join_pieces(vec![next], bits, float);
        self.emit_value(Op::Select, ty, &[condition, next, value])
    }

    /// Narrows a float with a rounding mode.
    ///
    /// The dropped bits are cleared before, in integer arithmetic, so that the conversion itself is exact. The rounding cannot be found
    /// out afterwards by converting back: a driver removes a conversion there and back.
    pub fn narrow_float(&mut self, value: Id, from: u32, to: u32, mode: Mode) -> Id {
        let narrow = self.make_float_type(to);
        if !matches!(mode, Mode::RTZ | Mode::RTP | Mode::RTN) {
            return self.emit_value(Op::FConvert, narrow, &[value]);
        }
        let (float, bits) = (MemoryScalar::Float(from), MemoryScalar::Int(from));
        let (number, truth) = (self.make_int_type(from), self.b.bool_type());
        let whole = self.join_pieces(vec![value], float, bits);
        let top = self.make_uint_constant(from, 1 << (from - 1));
        let rest = self.make_uint_constant(from, (1 << (from - 1)) - 1);
        let sign = self.emit_value(Op::BitwiseAnd, number, &[whole, top]);
        let size = self.emit_value(Op::BitwiseAnd, number, &[whole, rest]);
        let zero = self.make_uint_constant(from, 0);
        let negative = self.emit_value(Op::INotEqual, truth, &[sign, zero]);
        let away = match mode {
            Mode::RTP => self.emit_value(Op::LogicalNot, truth, &[negative]),
            Mode::RTN => negative,
            _ => self.b.constant_bool(false),
        };
        let cut = self.truncate_mantissa(size, away, FloatNarrowing::from_widths(from, to));
        let whole = self.emit_value(Op::BitwiseOr, number, &[sign, cut]);
        let exact = self.join_pieces(vec![whole], bits, float);
        self.emit_value(Op::FConvert, narrow, &[exact])
    }

    /// Rounds a 64-bit float to odd in 32 bits, so that it can be rounded again (S. Boldo and G. Melquiond, "When double rounding is
    /// odd", 2005).
    pub fn single_to_odd(&mut self, value: Id) -> Id {
        let (long, word, single) = (
            self.make_int_type(64),
            self.make_int_type(32),
            self.make_float_type(32),
        );
        let truth = self.b.bool_type();
        let whole = self.bitcast_scalar(value, MemoryScalar::Float(64), MemoryScalar::Int(64));
        let [top, rest] = [1 << 63, u64::MAX >> 1].map(|mask| self.make_uint_constant(64, mask));
        let sign = self.emit_value(Op::BitwiseAnd, long, &[whole, top]);
        let size = self.emit_value(Op::BitwiseAnd, long, &[whole, rest]);
        let never = self.b.constant_bool(false);
        let cut = self.truncate_mantissa(size, never, FloatNarrowing::from_widths(64, 32));
        let is_cut = self.emit_value(Op::INotEqual, truth, &[cut, size]);
        let exact = self.emit_value(Op::BitwiseOr, long, &[sign, cut]);
        let exact = self.bitcast_scalar(exact, MemoryScalar::Int(64), MemoryScalar::Float(64));
        let made = self.emit_value(Op::FConvert, single, &[exact]);
        let bits = self.bitcast_scalar(made, MemoryScalar::Float(32), MemoryScalar::Int(32));
        let (one, zero) = (
            self.make_uint_constant(32, 1),
            self.make_uint_constant(32, 0),
        );
        let odd = self.emit_value(Op::Select, word, &[is_cut, one, zero]);
        let bits = self.emit_value(Op::BitwiseOr, word, &[bits, odd]);
        self.bitcast_scalar(bits, MemoryScalar::Int(32), MemoryScalar::Float(32))
    }

    /// The bits of a positive float, truncated to the precision of a narrower format; the next larger number if bits are lost and the
    /// mode rounds away from zero.
    fn truncate_mantissa(&mut self, size: Id, away: Id, n: FloatNarrowing) -> Id {
        let (number, truth) = (self.make_int_type(n.width), self.b.bool_type());
        let (zero, one) = (
            self.make_uint_constant(n.width, 0),
            self.make_uint_constant(n.width, 1),
        );
        let [normal, least, largest, infinite] = [n.normal, n.least, n.largest, n.infinite]
            .map(|bits| self.make_uint_constant(n.width, bits));
        // Subnormal numbers lose one more bit for each power of two.
        let mantissa = self.make_uint_constant(n.width, n.mantissa);
        let exponent = self.emit_value(Op::ShiftRightLogical, number, &[size, mantissa]);
        let first = self.make_uint_constant(n.width, n.normal >> n.mantissa);
        let below = self.emit_value(Op::ISub, number, &[first, exponent]);
        let is_small = self.emit_value(Op::ULessThan, truth, &[size, normal]);
        let is_tiny = self.emit_value(Op::ULessThan, truth, &[size, least]);
        let more = self.emit_value(Op::Select, number, &[is_small, below, zero]);
        let more = self.emit_value(Op::Select, number, &[is_tiny, zero, more]);
        let lost = self.make_uint_constant(n.width, n.lost);
        let lost = self.emit_value(Op::IAdd, number, &[lost, more]);
        let mask = self.emit_value(Op::ShiftLeftLogical, number, &[one, lost]);
        let mask = self.emit_value(Op::ISub, number, &[mask, one]);
        let kept = self.emit_value(Op::Not, number, &[mask]);

        let fill = self.emit_value(Op::Select, number, &[away, mask, zero]);
        let filled = self.emit_value(Op::IAdd, number, &[size, fill]);
        let cut = self.emit_value(Op::BitwiseAnd, number, &[filled, kept]);
        // Below the least number there is only zero.
        let is_some = self.emit_value(Op::INotEqual, truth, &[size, zero]);
        let steps = self.emit_value(Op::LogicalAnd, truth, &[away, is_some]);
        let tiny = self.emit_value(Op::Select, number, &[steps, least, zero]);
        let cut = self.emit_value(Op::Select, number, &[is_tiny, tiny, cut]);
        // Rounding towards zero never gives infinity.
        let towards = self.emit_value(Op::LogicalNot, truth, &[away]);
        let beyond = self.emit_value(Op::UGreaterThan, truth, &[size, largest]);
        let stays = self.emit_value(Op::LogicalAnd, truth, &[towards, beyond]);
        let cut = self.emit_value(Op::Select, number, &[stays, largest, cut]);
        let special = self.emit_value(Op::UGreaterThanEqual, truth, &[size, infinite]);
        self.emit_value(Op::Select, number, &[special, size, cut])
    }

    /// Converts an integer to a float of 32 or 64 bits with a rounding mode.
    pub fn float_of(&mut self, value: Id, from: u32, to: u32, is_signed: bool, mode: Mode) -> Id {
        let (number, float, truth) = (
            self.make_int_type(from),
            self.make_float_type(to),
            self.b.bool_type(),
        );
        let zero = self.make_uint_constant(from, 0);
        let negative = if is_signed {
            self.emit_value(Op::SLessThan, truth, &[value, zero])
        } else {
            self.b.constant_bool(false)
        };
        let negated = self.emit_value(Op::SNegate, number, &[value]);
        let size = self.emit_value(Op::Select, number, &[negative, negated, value]);
        // The bits that the float cannot represent.
        let zeros = self.leading_zeros(size, from);
        let room = self.make_uint_constant(
            from,
            u64::from(from.saturating_sub(count_mantissa_bits(to))),
        );
        let less = self.emit_value(Op::ULessThan, truth, &[zeros, room]);
        let excess = self.emit_value(Op::ISub, number, &[room, zeros]);
        let excess = self.emit_value(Op::Select, number, &[less, excess, zero]);
        let high = self.emit_value(Op::ShiftRightLogical, number, &[size, excess]);
        let high = self.emit_value(Op::ShiftLeftLogical, number, &[high, excess]);
        let cut = self.emit_value(Op::ConvertUToF, float, &[high]);
        let is_cut = self.emit_value(Op::INotEqual, truth, &[high, size]);
        let away = match mode {
            Mode::RTP => Some(self.emit_value(Op::LogicalNot, truth, &[negative])),
            Mode::RTN => Some(negative),
            _ => None,
        };
        let rounded = match away {
            None => cut,
            Some(away) => {
                let steps = self.emit_value(Op::LogicalAnd, truth, &[is_cut, away]);
                self.step_to_neighbour(cut, to, steps, 1)
            }
        };
        let opposite = self.emit_value(Op::FNegate, float, &[rounded]);
        self.emit_value(Op::Select, float, &[negative, opposite, rounded])
    }
}
