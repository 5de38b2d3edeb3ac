//! Special values that drivers treat differently: NaN, infinities, and numbers with their sign.

use crate::lower::context::KernelLowering;
use spirula_program::ScalarType;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op as S;

impl KernelLowering<'_> {
    /// Whether a value is NaN.
    pub(in crate::lower) fn is_nan(&mut self, scalar: ScalarType, value: Id) -> Id {
        self.is_special(scalar, value, S::IsNan, S::UGreaterThan)
    }

    /// Whether a value is an infinity.
    pub(in crate::lower) fn is_infinite(&mut self, scalar: ScalarType, value: Id) -> Id {
        self.is_special(scalar, value, S::IsInf, S::IEqual)
    }

    /// A test of a value. At 16 bits drivers assume that NaN does not occur, whatever the execution mode, so the
    /// bits of the magnitude are compared with those of infinity.
    fn is_special(&mut self, scalar: ScalarType, value: Id, test: S, compared: S) -> Id {
        if scalar != ScalarType::F16 {
            return self.emit_bool_value(test, &[value]);
        }
        let bits = self.uint_type(16);
        let [rest, infinity] = [0x7fff, 0x7c00].map(|word| self.const_uint(16, word));
        let value = self.emit_bitcast(bits, value);
        let magnitude = self.emit_value(S::BitwiseAnd, bits, &[value, rest]);
        self.emit_bool_value(compared, &[magnitude, infinity])
    }

    /// 1 with the sign of a number. Zeros and NaN stay, which `FSign` does not guarantee.
    pub(in crate::lower) fn sign(&mut self, scalar: ScalarType, value: Id) -> Id {
        let ty = self.scalar_type(scalar);
        let [zero, one, less] = [0.0, 1.0, -1.0].map(|number| self.number_of(scalar, number));
        let is_negative = self.emit_bool_value(S::FOrdLessThan, &[value, zero]);
        let is_positive = self.emit_bool_value(S::FOrdLessThan, &[zero, value]);
        let sign = self.select(ty, is_positive, one, value);
        self.select(ty, is_negative, less, sign)
    }
}
