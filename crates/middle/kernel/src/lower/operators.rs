//! Scalar operators as instructions.

use super::KernelLowering;
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::{Op, ScalarLiteral, ScalarOperator, ScalarType};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op as S;

/// Numbers of GLSL.std.450.
mod glsl {
    pub const ROUND_EVEN: u32 = 2;
    pub const F_ABS: u32 = 4;
    pub const FLOOR: u32 = 8;
    pub const CEIL: u32 = 9;
    pub const SIN: u32 = 13;
    pub const COS: u32 = 14;
    pub const TAN: u32 = 15;
    pub const SINH: u32 = 19;
    pub const COSH: u32 = 20;
    pub const TANH: u32 = 21;
    pub const ASINH: u32 = 22;
    pub const ACOSH: u32 = 23;
    pub const ATANH: u32 = 24;
    pub const POW: u32 = 26;
    pub const EXP: u32 = 27;
    pub const LOG: u32 = 28;
    pub const LOG2: u32 = 30;
    pub const SQRT: u32 = 31;
    pub const INVERSE_SQRT: u32 = 32;
    pub const FMA: u32 = 50;
    pub const LDEXP: u32 = 53;
    pub const FIND_I_LSB: u32 = 73;
    pub const FIND_U_MSB: u32 = 75;
    pub const N_MIN: u32 = 79;
    pub const N_MAX: u32 = 80;
}

/// Operators that one instruction is.
const SINGLE: &[(Op, S)] = &[
    (Op::Add, S::IAdd),
    (Op::Sub, S::ISub),
    (Op::Mul, S::IMul),
    (Op::SQuot, S::SDiv),
    (Op::UDiv, S::UDiv),
    (Op::UMod, S::UMod),
    (Op::And, S::BitwiseAnd),
    (Op::Or, S::BitwiseOr),
    (Op::Xor, S::BitwiseXor),
    (Op::Complement, S::Not),
    (Op::Neg, S::SNegate),
    (Op::FAdd, S::FAdd),
    (Op::FSub, S::FSub),
    (Op::FMul, S::FMul),
    (Op::FDiv, S::FDiv),
    (Op::FMod, S::FRem),
    (Op::FNeg, S::FNegate),
    (Op::SLt, S::SLessThan),
    (Op::SLe, S::SLessThanEqual),
    (Op::ULt, S::ULessThan),
    (Op::ULe, S::ULessThanEqual),
    (Op::FLt, S::FOrdLessThan),
    (Op::FLe, S::FOrdLessThanEqual),
    (Op::LogAnd, S::LogicalAnd),
    (Op::LogOr, S::LogicalOr),
    (Op::Not, S::LogicalNot),
    (Op::Cond, S::Select),
];

/// Functions of GLSL.std.450 that exist at every width.
const EXTENDED: &[(Op, u32)] = &[
    (Op::FMin, glsl::N_MIN),
    (Op::FMax, glsl::N_MAX),
    (Op::FAbs, glsl::F_ABS),
    (Op::Round, glsl::ROUND_EVEN),
    (Op::Ceil, glsl::CEIL),
    (Op::Floor, glsl::FLOOR),
    (Op::Fma, glsl::FMA),
];

/// Functions of GLSL.std.450 that exist at 32 and 64 bits, and whose results at 16 are those at 32, rounded. At 16
/// bits NVIDIA's driver 580 does not have the root of a negative number be NaN.
const WIDE: &[(Op, u32)] = &[(Op::Sqrt, glsl::SQRT), (Op::Rsqrt, glsl::INVERSE_SQRT)];

/// Functions of GLSL.std.450 that do not exist at 64 bits. They do at 16, but drivers fail on them.
const NARROW: &[(Op, u32)] = &[
    (Op::Exp, glsl::EXP),
    (Op::Log, glsl::LOG),
    (Op::Log2, glsl::LOG2),
    (Op::Sin, glsl::SIN),
    (Op::Cos, glsl::COS),
    (Op::Tan, glsl::TAN),
    (Op::Sinh, glsl::SINH),
    (Op::Cosh, glsl::COSH),
    (Op::Tanh, glsl::TANH),
    (Op::Asinh, glsl::ASINH),
    (Op::Acosh, glsl::ACOSH),
    (Op::Atanh, glsl::ATANH),
];

fn row<T: Copy>(rows: &[(Op, T)], op: Op) -> Option<T> {
    rows.iter().find(|(o, _)| *o == op).map(|(_, t)| *t)
}

impl KernelLowering<'_> {
    /// The result of an operator.
    pub(super) fn operator(
        &mut self,
        operator: ScalarOperator,
        args: &[Id],
    ) -> Result<Id, SourceDiagnostic> {
        let op = operator.op;
        let to = self.ty(operator.to);
        if let Some(single) = row(SINGLE, op) {
            return Ok(self.value(single, to, args));
        }
        if let Some(number) = row(EXTENDED, op) {
            return Ok(self.glsl(number, to, args));
        }
        if operator.from.is_float() {
            return self.real(operator, args);
        }
        match op {
            Op::Eq | Op::BLt | Op::BLe | Op::ToBool | Op::FromBool => {
                Ok(self.truth(operator, args))
            }
            Op::SExt | Op::ZExt | Op::SToF | Op::UToF | Op::Bits => {
                Ok(self.conversion(operator, args[0]))
            }
            _ => self.integer(operator, args),
        }
    }

    fn truth(&mut self, operator: ScalarOperator, args: &[Id]) -> Id {
        let from = operator.from;
        match operator.op {
            Op::Eq if from.is_float() => self.test(S::FOrdEqual, args),
            Op::Eq if from == ScalarType::Bool => self.test(S::LogicalEqual, args),
            Op::Eq => self.test(S::IEqual, args),
            Op::BLt => {
                let not = self.not(args[0]);
                self.test(S::LogicalAnd, &[not, args[1]])
            }
            Op::BLe => {
                let not = self.not(args[0]);
                self.test(S::LogicalOr, &[not, args[1]])
            }
            Op::ToBool if from == ScalarType::Bool => args[0],
            Op::ToBool => {
                let zero = self.literal(ScalarLiteral::new(from, 0));
                let op = match from.is_float() {
                    true => S::FUnordNotEqual,
                    false => S::INotEqual,
                };
                self.test(op, &[args[0], zero])
            }
            _ if operator.to == ScalarType::Bool => args[0],
            _ => {
                let to = operator.to;
                let one = ScalarOperator::convert(Op::FromBool, ScalarType::Bool, to).eval(&[1]);
                let one = self.literal(ScalarLiteral::new(to, one));
                let zero = self.literal(ScalarLiteral::new(to, 0));
                let to = self.ty(to);
                self.select(to, args[0], one, zero)
            }
        }
    }

    fn conversion(&mut self, operator: ScalarOperator, value: Id) -> Id {
        let to = self.ty(operator.to);
        let op = match operator.op {
            Op::SExt => S::SConvert,
            Op::ZExt => S::UConvert,
            Op::SToF => S::ConvertSToF,
            Op::UToF => S::ConvertUToF,
            Op::FConv => S::FConvert,
            _ => return self.bitcast(to, value),
        };
        let is_copy = operator.from == operator.to;
        if is_copy {
            value
        } else {
            self.value(op, to, &[value])
        }
    }

    /// Operators on integers.
    fn integer(&mut self, operator: ScalarOperator, args: &[Id]) -> Result<Id, SourceDiagnostic> {
        let scalar = operator.from;
        let ty = self.ty(scalar);
        let width = scalar.width();
        let zero = self.number(width, 0);
        Ok(match operator.op {
            Op::SMin | Op::SMax | Op::UMin | Op::UMax => {
                let less = match operator.op {
                    Op::SMin | Op::SMax => self.test(S::SLessThan, args),
                    _ => self.test(S::ULessThan, args),
                };
                match operator.op {
                    Op::SMin | Op::UMin => self.select(ty, less, args[0], args[1]),
                    _ => self.select(ty, less, args[1], args[0]),
                }
            }
            Op::Shl | Op::LShr | Op::AShr => {
                let last = self.number(width, u64::from(width) - 1);
                let amount = self.value(S::BitwiseAnd, ty, &[args[1], last]);
                let op = match operator.op {
                    Op::Shl => S::ShiftLeftLogical,
                    Op::LShr => S::ShiftRightLogical,
                    _ => S::ShiftRightArithmetic,
                };
                self.value(op, ty, &[args[0], amount])
            }
            Op::Abs => {
                let negative = self.test(S::SLessThan, &[args[0], zero]);
                let turned = self.value(S::SNegate, ty, args);
                self.select(ty, negative, turned, args[0])
            }
            Op::SSignum | Op::USignum => {
                let (one, less) = (
                    self.number(width, 1),
                    self.number(width, scalar.truncate(!0)),
                );
                let nonzero = self.test(S::INotEqual, &[args[0], zero]);
                let sign = self.select(ty, nonzero, one, zero);
                if operator.op == Op::USignum {
                    return Ok(sign);
                }
                let negative = self.test(S::SLessThan, &[args[0], zero]);
                self.select(ty, negative, less, sign)
            }
            Op::Popc | Op::Clz | Op::Ctz => self.count_bits(operator.op, scalar, args[0]),
            Op::Pow => self.power(ty, width, args),
            Op::SMulHi | Op::UMulHi => self.mul_hi(operator.op == Op::SMulHi, scalar, args),
            Op::SMadHi | Op::UMadHi => {
                let high = self.mul_hi(operator.op == Op::SMadHi, scalar, &args[..2]);
                self.value(S::IAdd, ty, &[high, args[2]])
            }
            _ => self.division(operator, ty, args),
        })
    }

    /// Divisions that round otherwise than the instruction, or whose divisor may be zero.
    fn division(&mut self, operator: ScalarOperator, ty: Id, args: &[Id]) -> Id {
        let op = operator.op;
        let width = operator.from.width();
        let (zero, one) = (self.number(width, 0), self.number(width, 1));
        let (mut a, mut b) = (args[0], args[1]);
        let is_safe = matches!(
            op,
            Op::SDivSafe
                | Op::SModSafe
                | Op::SQuotSafe
                | Op::SRemSafe
                | Op::UDivSafe
                | Op::UModSafe
                | Op::SDivUpSafe
                | Op::UDivUpSafe
        );
        let is_zero = is_safe.then(|| self.test(S::IEqual, &[b, zero]));
        if let Some(is_zero) = is_zero {
            b = self.select(ty, is_zero, one, b);
        }
        if matches!(
            op,
            Op::SDivUp | Op::UDivUp | Op::SDivUpSafe | Op::UDivUpSafe
        ) {
            let sum = self.value(S::IAdd, ty, &[a, b]);
            a = self.value(S::ISub, ty, &[sum, one]);
        }
        let result = match op {
            Op::UDivSafe | Op::UDivUp | Op::UDivUpSafe => self.value(S::UDiv, ty, &[a, b]),
            Op::UModSafe => self.value(S::UMod, ty, &[a, b]),
            Op::SQuotSafe => self.value(S::SDiv, ty, &[a, b]),
            _ => {
                // The remainder instructions take no negative operands on Vulkan.
                let quotient = self.value(S::SDiv, ty, &[a, b]);
                let product = self.value(S::IMul, ty, &[quotient, b]);
                let rest = self.value(S::ISub, ty, &[a, product]);
                if matches!(op, Op::SRem | Op::SRemSafe) {
                    rest
                } else {
                    let inexact = self.test(S::INotEqual, &[rest, zero]);
                    let signs = self.value(S::BitwiseXor, ty, &[rest, b]);
                    let differ = self.test(S::SLessThan, &[signs, zero]);
                    let down = self.test(S::LogicalAnd, &[inexact, differ]);
                    let (plain, moved) = match op {
                        Op::SMod | Op::SModSafe => (rest, self.value(S::IAdd, ty, &[rest, b])),
                        _ => (quotient, self.value(S::ISub, ty, &[quotient, one])),
                    };
                    self.select(ty, down, moved, plain)
                }
            }
        };
        match is_zero {
            Some(is_zero) => self.select(ty, is_zero, zero, result),
            None => result,
        }
    }

    /// Counts of bits, an `i32`; the instructions take 32 bits only.
    fn count_bits(&mut self, op: Op, scalar: ScalarType, value: Id) -> Id {
        let u32_ty = self.uint(32);
        let width = scalar.width();
        if width == 64 {
            let (low, high) = self.halves(value);
            let (low_count, high_count) = (self.count_word(op, low), self.count_word(op, high));
            let sum = self.value(S::IAdd, u32_ty, &[low_count, high_count]);
            let zero = self.u32(0);
            let (first, first_count) = match op {
                Op::Popc => return sum,
                Op::Clz => (high, high_count),
                _ => (low, low_count),
            };
            let is_zero = self.test(S::IEqual, &[first, zero]);
            return self.select(u32_ty, is_zero, sum, first_count);
        }
        let word = match width {
            32 => value,
            _ => self.value(S::UConvert, u32_ty, &[value]),
        };
        match op {
            Op::Clz => {
                let count = self.count_word(op, word);
                let missing = self.u32(32 - width);
                self.value(S::ISub, u32_ty, &[count, missing])
            }
            Op::Ctz if width < 32 => {
                let end = self.u32(1 << width);
                let word = self.value(S::BitwiseOr, u32_ty, &[word, end]);
                self.count_word(op, word)
            }
            // NVIDIA's driver 580 counts the bits of bytes that it loads with their sign, whatever is
            // masked; not those of a field.
            Op::Popc if width < 32 => {
                let (zero, all) = (self.u32(0), self.u32(width));
                let word = self.value(S::BitFieldUExtract, u32_ty, &[word, zero, all]);
                self.count_word(op, word)
            }
            _ => self.count_word(op, word),
        }
    }

    fn count_word(&mut self, op: Op, word: Id) -> Id {
        let ty = self.uint(32);
        match op {
            Op::Popc => self.value(S::BitCount, ty, &[word]),
            Op::Clz => {
                let at = self.glsl(glsl::FIND_U_MSB, ty, &[word]);
                let last = self.u32(31);
                self.value(S::ISub, ty, &[last, at])
            }
            _ => {
                let at = self.glsl(glsl::FIND_I_LSB, ty, &[word]);
                let (zero, all) = (self.u32(0), self.u32(32));
                let is_zero = self.test(S::IEqual, &[word, zero]);
                self.select(ty, is_zero, all, at)
            }
        }
    }

    /// The words of 64 bits, the lower one first.
    pub(super) fn halves(&mut self, value: Id) -> (Id, Id) {
        let (word, long) = (self.uint(32), self.uint(64));
        let low = self.value(S::UConvert, word, &[value]);
        let by = self.number(64, 32);
        let high = self.value(S::ShiftRightLogical, long, &[value, by]);
        let high = self.value(S::UConvert, word, &[high]);
        (low, high)
    }

    pub(super) fn mul_hi(&mut self, signed: bool, scalar: ScalarType, args: &[Id]) -> Id {
        let ty = self.ty(scalar);
        let width = scalar.width();
        if width == 64 {
            let pair = self.b.structure(&[ty, ty]);
            let op = if signed {
                S::SMulExtended
            } else {
                S::UMulExtended
            };
            let both = self.value(op, pair, args);
            return self.b.value(S::CompositeExtract, ty, &[both.word(), 1]);
        }
        let wide = self.uint(width * 2);
        let widen = if signed { S::SConvert } else { S::UConvert };
        let a = self.value(widen, wide, &args[..1]);
        let b = self.value(widen, wide, &args[1..2]);
        let product = self.value(S::IMul, wide, &[a, b]);
        let by = self.number(width * 2, width.into());
        let high = self.value(S::ShiftRightLogical, wide, &[product, by]);
        self.value(S::UConvert, ty, &[high])
    }

    /// A power by squaring, one step for each bit of the exponent; 0 for negative exponents.
    fn power(&mut self, ty: Id, width: u32, args: &[Id]) -> Id {
        let (zero, one) = (self.number(width, 0), self.number(width, 1));
        let negative = self.test(S::SLessThan, &[args[1], zero]);
        let start = self.select(ty, negative, zero, one);
        let [product, base, exponent] = [start, args[0], args[1]].map(|initial| {
            let variable = self.variable(ty);
            self.store(variable, initial);
            variable
        });
        let done: Result<(), std::convert::Infallible> = self.repeat(
            |l| {
                let left = l.load(ty, exponent);
                Ok(l.test(S::SLessThan, &[zero, left]))
            },
            |l| {
                let [p, b, e] = [product, base, exponent].map(|v| l.load(ty, v));
                let times = l.value(S::IMul, ty, &[p, b]);
                let bit = l.value(S::BitwiseAnd, ty, &[e, one]);
                let odd = l.test(S::INotEqual, &[bit, zero]);
                let p = l.select(ty, odd, times, p);
                l.store(product, p);
                let b = l.value(S::IMul, ty, &[b, b]);
                l.store(base, b);
                let e = l.value(S::ShiftRightLogical, ty, &[e, one]);
                l.store(exponent, e);
                Ok(())
            },
            |_| {},
        );
        match done {
            Ok(()) => self.load(ty, product),
            Err(never) => match never {},
        }
    }

    /// Operators on floating-point numbers that no single instruction is at every width.
    fn real(&mut self, operator: ScalarOperator, args: &[Id]) -> Result<Id, SourceDiagnostic> {
        let scalar = operator.from;
        let ty = self.ty(scalar);
        if scalar == ScalarType::F32
            && let Some(number) = row(NARROW, operator.op)
        {
            return Ok(self.glsl(number, ty, args));
        }
        if scalar != ScalarType::F16
            && let Some(number) = row(WIDE, operator.op)
        {
            return Ok(self.glsl(number, ty, args));
        }
        Ok(match operator.op {
            Op::IsNan => self.is_nan(scalar, args[0]),
            Op::IsInf => self.is_infinite(scalar, args[0]),
            Op::FSignum => self.sign(scalar, args[0]),
            Op::Eq | Op::ToBool => self.truth(operator, args),
            Op::FConv | Op::Bits => self.conversion(operator, args[0]),
            Op::FToS | Op::FToU => self.real_to_int(operator, args[0]),
            Op::Ldexp => self.glsl(glsl::LDEXP, ty, args),
            Op::Lerp => {
                let span = self.value(S::FSub, ty, &[args[1], args[0]]);
                let part = self.value(S::FMul, ty, &[span, args[2]]);
                self.value(S::FAdd, ty, &[args[0], part])
            }
            Op::Mad => {
                let product = self.value(S::FMul, ty, &args[..2]);
                self.value(S::FAdd, ty, &[product, args[2]])
            }
            Op::CopySign => self.copy_sign(scalar, args[0], args[1]),
            Op::FPow if scalar == ScalarType::F32 => {
                let magnitude = self.glsl(glsl::F_ABS, ty, &args[..1]);
                let power = self.glsl(glsl::POW, ty, &[magnitude, args[1]]);
                self.whole_power(scalar, args, power)
            }
            _ => return self.function(operator, args),
        })
    }

    /// Truncates; what is no number, or infinite, gives 0.
    fn real_to_int(&mut self, operator: ScalarOperator, value: Id) -> Id {
        let to = self.ty(operator.to);
        let from = self.ty(operator.from);
        let zero = self.number(operator.to.width(), 0);
        let real_zero = self.literal(ScalarLiteral::new(operator.from, 0));
        let nan = self.is_nan(operator.from, value);
        let infinite = self.is_infinite(operator.from, value);
        let none = self.test(S::LogicalOr, &[nan, infinite]);
        let value = self.select(from, none, real_zero, value);
        if operator.op == Op::FToS {
            return self.value(S::ConvertFToS, to, &[value]);
        }
        // Negative numbers, which have no unsigned form, convert as signed ones do.
        let negative = self.test(S::FOrdLessThan, &[value, real_zero]);
        let signed = self.value(S::ConvertFToS, to, &[value]);
        let magnitude = self.select(from, negative, real_zero, value);
        let unsigned = self.value(S::ConvertFToU, to, &[magnitude]);
        let result = self.select(to, negative, signed, unsigned);
        self.select(to, none, zero, result)
    }

    pub(super) fn copy_sign(&mut self, scalar: ScalarType, value: Id, sign: Id) -> Id {
        let width = scalar.width();
        let (ty, bits) = (self.ty(scalar), self.uint(width));
        let mask = self.number(width, 1 << (width - 1));
        let rest = self.number(width, (1 << (width - 1)) - 1);
        let [value, sign] = [value, sign].map(|v| self.bitcast(bits, v));
        let value = self.value(S::BitwiseAnd, bits, &[value, rest]);
        let sign = self.value(S::BitwiseAnd, bits, &[sign, mask]);
        let both = self.value(S::BitwiseOr, bits, &[value, sign]);
        self.bitcast(ty, both)
    }
}
