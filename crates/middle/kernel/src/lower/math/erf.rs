//! The error function and its complement.
//!
//! Quotients of polynomials on four intervals, as in Sun Microsystems' fdlibm, `s_erf.c`. It gives their error as
//! below 2⁻⁵⁷. With the device's `exp` the whole has an error of a few units in the last place.
//!
//! `erf` of `f32` is a polynomial up to 0.921875, and one minus an exponential of a polynomial beyond: a quarter of the
//! work. Coefficients are minimax fits by Lawson's iteration; over all tested numbers the error is below 1.4 units.

use crate::lower::context::KernelLowering;
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::{ScalarOp, ScalarType};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op as S;

/// erf x = x + x·P(x²)/Q(x²) up to 0.84375.
const NEAR: RationalFunction = RationalFunction {
    above: &[
        -2.376_301_665_665_016_3e-5,
        -0.005_770_270_296_489_442,
        -0.028_481_749_575_598_51,
        -0.325_042_107_247_001_5,
        0.128_379_167_095_512_56,
    ],
    below: &[
        -3.960_228_278_775_368e-6,
        0.000_132_494_738_004_321_64,
        0.005_081_306_281_875_766,
        0.065_022_249_988_767_3,
        0.397_917_223_959_155_35,
        1.0,
    ],
};

/// erf x = AT_ONE + P(x − 1)/Q(x − 1) up to 1.25.
const MIDDLE: RationalFunction = RationalFunction {
    above: &[
        -0.002_166_375_594_868_791,
        0.035_478_304_325_618_236,
        -0.110_894_694_282_396_68,
        0.318_346_619_901_161_75,
        -0.372_207_876_035_701_3,
        0.414_856_118_683_748_33,
        -0.002_362_118_560_752_659_4,
    ],
    below: &[
        0.011_984_499_846_799_107,
        0.013_637_083_912_029_05,
        0.126_171_219_808_761_64,
        0.071_828_654_414_196_27,
        0.540_397_917_702_171,
        0.106_420_880_400_844_23,
        1.0,
    ],
};

const AT_ONE: f64 = 0.845_062_911_510_467_5;

/// erfc x = exp(−x² − 0.5625 + P(1/x²)/Q(1/x²)) / x up to 1/0.35.
const FAR: RationalFunction = RationalFunction {
    above: &[
        -9.814_329_344_169_145,
        -81.287_435_506_306_6,
        -184.605_092_906_711_04,
        -162.396_669_462_573_47,
        -62.375_332_450_326_006,
        -10.558_626_225_323_291,
        -0.693_858_572_707_181_8,
        -0.009_864_944_034_847_148,
    ],
    below: &[
        -0.060_424_415_214_858_1,
        6.570_249_770_319_282,
        108.635_005_541_779_44,
        429.008_140_027_567_83,
        645.387_271_733_267_9,
        434.565_877_475_229_23,
        137.657_754_143_519_04,
        19.651_271_667_439_257,
        1.0,
    ],
};

/// The same formula beyond 1/0.35.
const FARTHEST: RationalFunction = RationalFunction {
    above: &[
        -483.519_191_608_651_4,
        -1_025.095_131_611_077_2,
        -637.566_443_368_389_6,
        -160.636_384_855_821_92,
        -17.757_954_917_754_752,
        -0.799_283_237_680_523,
        -0.009_864_942_924_700_1,
    ],
    below: &[
        -22.440_952_446_585_82,
        474.528_541_206_955_37,
        2_553.050_406_433_164_4,
        3_199.858_219_508_595_5,
        1_536.729_586_084_437,
        325.792_512_996_573_9,
        30.338_060_743_482_46,
        1.0,
    ],
};

/// erf x = x + x·P(x²) in single precision, up to [`SINGLE_LIMIT`].
const SINGLE_NEAR: &[f64] = &[
    8.370_106_460_484_82e-5,
    -0.000_814_270_594_089_479_6,
    0.005_201_032_462_091_758,
    -0.026_859_398_345_066_76,
    0.112_836_954_959_101_26,
    -0.376_126_337_352_957_36,
    0.128_379_166_637_488_77,
];

/// erf x = 1 − exp(−P(x)) in single precision, beyond [`SINGLE_LIMIT`].
const SINGLE_FAR: &[f64] = &[
    2.111_850_221_000_296_8e-5,
    -0.000_434_733_778_101_822_8,
    0.004_172_376_964_521_508,
    -0.025_122_887_539_560_455,
    0.108_285_440_414_693_86,
    0.633_342_043_893_053_4,
    1.129_517_336_095_477_3,
    -0.000_175_184_687_259_125_72,
];

/// The number between the two forms.
const SINGLE_LIMIT: f64 = 0.921875;

/// The least number whose value rounds to one in single precision, and a little more.
const SINGLE_MOST: f64 = 3.93;

/// A quotient of polynomials, with coefficients from the highest power down.
struct RationalFunction {
    above: &'static [f64],
    below: &'static [f64],
}

impl KernelLowering<'_> {
    /// The function `erf` of numbers in single precision.
    fn single_erf(&mut self, a: Id) -> Result<Id, SourceDiagnostic> {
        let s = ScalarType::F32;
        let [one, most] = [1.0, SINGLE_MOST].map(|n| self.number_of(s, n));
        let size = self.apply_op(ScalarOp::FAbs, s, &[a])?;
        let x = self.apply_op(ScalarOp::FMin, s, &[size, most])?;
        let square = self.emit_float_op(S::FMul, s, &[x, x]);
        let near = self.emit_polynomial(s, square, SINGLE_NEAR);
        let near = self.emit_float_op(S::FMul, s, &[x, near]);
        let near = self.emit_float_op(S::FAdd, s, &[x, near]);
        let far = self.emit_polynomial(s, x, SINGLE_FAR);
        let far = self.emit_float_op(S::FNegate, s, &[far]);
        let far = self.apply_op(ScalarOp::Exp, s, &[far])?;
        let far = self.emit_float_op(S::FSub, s, &[one, far]);
        let is_near = self.emit_below_limit(s, x, SINGLE_LIMIT);
        let erf = self.select_scalar(s, is_near, near, far);
        Ok(self.sign_number(s, erf, a))
    }

    /// A result with the sign of the argument, and the argument itself where it is a NaN. The NaN is selected before the sign:
    /// Mesa 26.1.6 (lavapipe) computes wrong bits if the number with its sign is selected by whether the argument is a NaN.
    fn sign_number(&mut self, s: ScalarType, result: Id, a: Id) -> Id {
        let is_number = self.emit_bool_value(S::FOrdEqual, &[a, a]);
        let size = self.select_scalar(s, is_number, result, a);
        self.copy_sign(s, size, a)
    }

    /// Emits all four forms and selects one: selections are cheaper than divergent branches.
    pub(in crate::lower) fn erf(
        &mut self,
        s: ScalarType,
        op: ScalarOp,
        a: Id,
    ) -> Result<Id, SourceDiagnostic> {
        if op == ScalarOp::Erf && s == ScalarType::F32 {
            return self.single_erf(a);
        }
        let [zero, one, two] = [0.0, 1.0, 2.0].map(|n| self.number_of(s, n));
        let size = self.apply_op(ScalarOp::FAbs, s, &[a])?;
        let square = self.emit_float_op(S::FMul, s, &[size, size]);
        let near = self.emit_rational_function(s, square, &NEAR);
        let near = self.emit_float_op(S::FMul, s, &[size, near]);
        let near = self.emit_float_op(S::FAdd, s, &[size, near]);
        let beyond = self.emit_float_op(S::FSub, s, &[size, one]);
        let middle = self.emit_rational_function(s, beyond, &MIDDLE);
        let at_one = self.number_of(s, AT_ONE);
        let middle = self.emit_float_op(S::FAdd, s, &[at_one, middle]);
        let tail = self.erfc_tail(s, size)?;
        let is_near = self.emit_below_limit(s, size, 0.84375);
        let is_tail = self.emit_below_limit(s, size, 1.25);
        let small = self.select_scalar(s, is_near, near, middle);
        if op == ScalarOp::Erf {
            let large = self.emit_float_op(S::FSub, s, &[one, tail]);
            let erf = self.select_scalar(s, is_tail, small, large);
            return Ok(self.sign_number(s, erf, a));
        }
        let small = self.emit_float_op(S::FSub, s, &[one, small]);
        let erfc = self.select_scalar(s, is_tail, small, tail);
        let mirrored = self.emit_float_op(S::FSub, s, &[two, erfc]);
        let negative = self.emit_less_than(a, zero);
        let erfc = self.select_scalar(s, negative, mirrored, erfc);
        let is_number = self.emit_bool_value(S::FOrdEqual, &[a, a]);
        Ok(self.select_scalar(s, is_number, erfc, a))
    }

    fn emit_below_limit(&mut self, s: ScalarType, value: Id, limit: f64) -> Id {
        let limit = self.number_of(s, limit);
        self.emit_less_than(value, limit)
    }

    fn emit_rational_function(&mut self, s: ScalarType, x: Id, quotient: &RationalFunction) -> Id {
        let above = self.emit_polynomial(s, x, quotient.above);
        let below = self.emit_polynomial(s, x, quotient.below);
        self.emit_float_op(S::FDiv, s, &[above, below])
    }

    /// erfc from 1.25 on. x² is split in two parts so that its exponential keeps its digits.
    fn erfc_tail(&mut self, s: ScalarType, size: Id) -> Result<Id, SourceDiagnostic> {
        let (one, least, most) = (
            self.number_of(s, 1.0),
            self.number_of(s, 1.25),
            self.number_of(s, 30.0),
        );
        let x = self.apply_op(ScalarOp::FMin, s, &[size, most])?;
        let x = self.apply_op(ScalarOp::FMax, s, &[x, least])?;
        let square = self.emit_float_op(S::FMul, s, &[x, x]);
        let inverse = self.emit_float_op(S::FDiv, s, &[one, square]);
        let far = self.emit_rational_function(s, inverse, &FAR);
        let farthest = self.emit_rational_function(s, inverse, &FARTHEST);
        let is_far = self.emit_below_limit(s, x, 1.0 / 0.35);
        let fit = self.select_scalar(s, is_far, far, farthest);
        let (bits, ty) = (self.uint_type(s.width()), self.scalar_type(s));
        // Half of the digits, so that the square is exact.
        let mask = match s {
            ScalarType::F64 => 0xffff_ffff_0000_0000,
            _ => 0xffff_f000,
        };
        let mask = self.const_uint(s.width(), mask);
        let high = self.emit_bitcast(bits, x);
        let high = self.emit_value(S::BitwiseAnd, bits, &[high, mask]);
        let high = self.emit_bitcast(ty, high);
        let offset = self.number_of(s, -0.5625);
        let main = self.emit_float_op(S::FMul, s, &[high, high]);
        let main = self.emit_float_op(S::FSub, s, &[offset, main]);
        let main = self.apply_op(ScalarOp::Exp, s, &[main])?;
        let difference = self.emit_float_op(S::FSub, s, &[high, x]);
        let sum = self.emit_float_op(S::FAdd, s, &[high, x]);
        let rest = self.emit_float_op(S::FMul, s, &[difference, sum]);
        let rest = self.emit_float_op(S::FAdd, s, &[rest, fit]);
        let rest = self.apply_op(ScalarOp::Exp, s, &[rest])?;
        let product = self.emit_float_op(S::FMul, s, &[main, rest]);
        Ok(self.emit_float_op(S::FDiv, s, &[product, x]))
    }
}
