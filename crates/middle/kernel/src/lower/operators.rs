//! Scalar operators as SPIR-V instructions.

use super::context::KernelLowering;
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::{ScalarInstruction, ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};
use spirula_spirv::Id;
use spirula_spirv::grammar::{Op as S, glsl_std_450 as glsl};

impl KernelLowering<'_> {
    /// Lowers an operator.
    pub(super) fn lower_operator(
        &mut self,
        operator: ScalarOperator,
        args: &[Id],
    ) -> Result<Id, SourceDiagnostic> {
        let op = operator.op;
        let to = self.scalar_type(operator.to);
        let instruction = op.row().instruction;
        match instruction.filter(|instruction| instruction.has_type(operator.from)) {
            Some(ScalarInstruction::Core { opcode }) => {
                return Ok(self.emit_value(S(opcode as u16), to, args));
            }
            Some(ScalarInstruction::Glsl { number, .. }) => {
                return Ok(self.emit_glsl(number, to, args));
            }
            None => {}
        }
        if operator.from.is_float() {
            return self.lower_float_operator(operator, args);
        }
        match op {
            ScalarOp::Eq
            | ScalarOp::BLt
            | ScalarOp::BLe
            | ScalarOp::ToBool
            | ScalarOp::FromBool => Ok(self.lower_comparison(operator, args)),
            ScalarOp::SExt | ScalarOp::ZExt | ScalarOp::SToF | ScalarOp::UToF | ScalarOp::Bits => {
                Ok(self.lower_conversion(operator, args[0]))
            }
            _ => self.lower_integer_operator(operator, args),
        }
    }

    fn lower_comparison(&mut self, operator: ScalarOperator, args: &[Id]) -> Id {
        let from = operator.from;
        match operator.op {
            ScalarOp::Eq if from.is_float() => self.emit_bool_value(S::FOrdEqual, args),
            ScalarOp::Eq if from == ScalarType::Bool => self.emit_bool_value(S::LogicalEqual, args),
            ScalarOp::Eq => self.emit_bool_value(S::IEqual, args),
            ScalarOp::BLt => {
                let not = self.not(args[0]);
                self.emit_bool_value(S::LogicalAnd, &[not, args[1]])
            }
            ScalarOp::BLe => {
                let not = self.not(args[0]);
                self.emit_bool_value(S::LogicalOr, &[not, args[1]])
            }
            ScalarOp::ToBool if from == ScalarType::Bool => args[0],
            ScalarOp::ToBool => {
                let zero = self.const_literal(ScalarLiteral::new(from, 0));
                let op = if from.is_float() {
                    S::FUnordNotEqual
                } else {
                    S::INotEqual
                };
                self.emit_bool_value(op, &[args[0], zero])
            }
            _ if operator.to == ScalarType::Bool => args[0],
            _ => {
                let to = operator.to;
                let one = ScalarOperator::from_conversion(ScalarOp::FromBool, ScalarType::Bool, to)
                    .eval_operands(&[1]);
                let one = self.const_literal(ScalarLiteral::new(to, one));
                let zero = self.const_literal(ScalarLiteral::new(to, 0));
                let to = self.scalar_type(to);
                self.select(to, args[0], one, zero)
            }
        }
    }

    fn lower_conversion(&mut self, operator: ScalarOperator, value: Id) -> Id {
        let to = self.scalar_type(operator.to);
        let op = match operator.op {
            ScalarOp::SExt => S::SConvert,
            ScalarOp::ZExt => S::UConvert,
            ScalarOp::SToF => S::ConvertSToF,
            ScalarOp::UToF => S::ConvertUToF,
            ScalarOp::FConv => S::FConvert,
            _ => return self.emit_bitcast(to, value),
        };
        let is_copy = operator.from == operator.to;
        if is_copy {
            value
        } else {
            self.emit_value(op, to, &[value])
        }
    }

    /// Lowers operators on integers.
    fn lower_integer_operator(
        &mut self,
        operator: ScalarOperator,
        args: &[Id],
    ) -> Result<Id, SourceDiagnostic> {
        let scalar = operator.from;
        let ty = self.scalar_type(scalar);
        let width = scalar.width();
        let zero = self.const_uint(width, 0);
        Ok(match operator.op {
            ScalarOp::SMin | ScalarOp::SMax | ScalarOp::UMin | ScalarOp::UMax => {
                let less = match operator.op {
                    ScalarOp::SMin | ScalarOp::SMax => self.emit_bool_value(S::SLessThan, args),
                    _ => self.emit_bool_value(S::ULessThan, args),
                };
                match operator.op {
                    ScalarOp::SMin | ScalarOp::UMin => self.select(ty, less, args[0], args[1]),
                    _ => self.select(ty, less, args[1], args[0]),
                }
            }
            ScalarOp::Shl | ScalarOp::LShr | ScalarOp::AShr => {
                let last = self.const_uint(width, u64::from(width) - 1);
                let amount = self.emit_value(S::BitwiseAnd, ty, &[args[1], last]);
                let op = match operator.op {
                    ScalarOp::Shl => S::ShiftLeftLogical,
                    ScalarOp::LShr => S::ShiftRightLogical,
                    _ => S::ShiftRightArithmetic,
                };
                self.emit_value(op, ty, &[args[0], amount])
            }
            ScalarOp::Abs => {
                let negative = self.emit_bool_value(S::SLessThan, &[args[0], zero]);
                let turned = self.emit_value(S::SNegate, ty, args);
                self.select(ty, negative, turned, args[0])
            }
            ScalarOp::SSignum | ScalarOp::USignum => {
                let (one, less) = (
                    self.const_uint(width, 1),
                    self.const_uint(width, scalar.truncate_bits(!0)),
                );
                let nonzero = self.emit_bool_value(S::INotEqual, &[args[0], zero]);
                let sign = self.select(ty, nonzero, one, zero);
                if operator.op == ScalarOp::USignum {
                    return Ok(sign);
                }
                let negative = self.emit_bool_value(S::SLessThan, &[args[0], zero]);
                self.select(ty, negative, less, sign)
            }
            ScalarOp::Popc | ScalarOp::Clz | ScalarOp::Ctz => {
                self.count_bits(operator.op, scalar, args[0])
            }
            ScalarOp::Pow => self.emit_integer_power(ty, width, args),
            ScalarOp::SMulHi | ScalarOp::UMulHi => {
                self.mul_hi(operator.op == ScalarOp::SMulHi, scalar, args)
            }
            ScalarOp::SMadHi | ScalarOp::UMadHi => {
                let high = self.mul_hi(operator.op == ScalarOp::SMadHi, scalar, &args[..2]);
                self.emit_value(S::IAdd, ty, &[high, args[2]])
            }
            _ => self.lower_division(operator, ty, args),
        })
    }

    /// Divisions that round differently from the instruction, or whose divisor may be zero.
    fn lower_division(&mut self, operator: ScalarOperator, ty: Id, args: &[Id]) -> Id {
        let op = operator.op;
        let width = operator.from.width();
        let (zero, one) = (self.const_uint(width, 0), self.const_uint(width, 1));
        let (mut a, mut b) = (args[0], args[1]);
        let is_safe = matches!(
            op,
            ScalarOp::SDivSafe
                | ScalarOp::SModSafe
                | ScalarOp::SQuotSafe
                | ScalarOp::SRemSafe
                | ScalarOp::UDivSafe
                | ScalarOp::UModSafe
                | ScalarOp::SDivUpSafe
                | ScalarOp::UDivUpSafe
        );
        let is_zero = is_safe.then(|| self.emit_bool_value(S::IEqual, &[b, zero]));
        if let Some(is_zero) = is_zero {
            b = self.select(ty, is_zero, one, b);
        }
        if matches!(
            op,
            ScalarOp::SDivUp | ScalarOp::UDivUp | ScalarOp::SDivUpSafe | ScalarOp::UDivUpSafe
        ) {
            let sum = self.emit_value(S::IAdd, ty, &[a, b]);
            a = self.emit_value(S::ISub, ty, &[sum, one]);
        }
        let result = match op {
            ScalarOp::UDivSafe | ScalarOp::UDivUp | ScalarOp::UDivUpSafe => {
                self.emit_value(S::UDiv, ty, &[a, b])
            }
            ScalarOp::UModSafe => self.emit_value(S::UMod, ty, &[a, b]),
            ScalarOp::SQuotSafe => self.emit_value(S::SDiv, ty, &[a, b]),
            _ => {
                // Vulkan leaves the remainder instructions undefined for negative operands.
                let quotient = self.emit_value(S::SDiv, ty, &[a, b]);
                let product = self.emit_value(S::IMul, ty, &[quotient, b]);
                let rest = self.emit_value(S::ISub, ty, &[a, product]);
                if matches!(op, ScalarOp::SRem | ScalarOp::SRemSafe) {
                    rest
                } else {
                    let inexact = self.emit_bool_value(S::INotEqual, &[rest, zero]);
                    let signs = self.emit_value(S::BitwiseXor, ty, &[rest, b]);
                    let differ = self.emit_bool_value(S::SLessThan, &[signs, zero]);
                    let down = self.emit_bool_value(S::LogicalAnd, &[inexact, differ]);
                    let (plain, moved) = match op {
                        ScalarOp::SMod | ScalarOp::SModSafe => {
                            (rest, self.emit_value(S::IAdd, ty, &[rest, b]))
                        }
                        _ => (quotient, self.emit_value(S::ISub, ty, &[quotient, one])),
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

    /// Bit counts, an `i32`. The instructions exist for 32 bits only.
    fn count_bits(&mut self, op: ScalarOp, scalar: ScalarType, value: Id) -> Id {
        let u32_ty = self.uint_type(32);
        let width = scalar.width();
        if width == 64 {
            let (low, high) = self.split_word_halves(value);
            let (low_count, high_count) = (self.count_word(op, low), self.count_word(op, high));
            let sum = self.emit_value(S::IAdd, u32_ty, &[low_count, high_count]);
            let zero = self.const_u32(0);
            let (first, first_count) = match op {
                ScalarOp::Popc => return sum,
                ScalarOp::Clz => (high, high_count),
                _ => (low, low_count),
            };
            let is_zero = self.emit_bool_value(S::IEqual, &[first, zero]);
            return self.select(u32_ty, is_zero, sum, first_count);
        }
        let word = match width {
            32 => value,
            _ => self.emit_value(S::UConvert, u32_ty, &[value]),
        };
        match op {
            ScalarOp::Clz => {
                let count = self.count_word(op, word);
                let missing = self.const_u32(32 - width);
                self.emit_value(S::ISub, u32_ty, &[count, missing])
            }
            ScalarOp::Ctz if width < 32 => {
                let end = self.const_u32(1 << width);
                let word = self.emit_value(S::BitwiseOr, u32_ty, &[word, end]);
                self.count_word(op, word)
            }
            // NVIDIA's driver 580 sign-extends bytes that it loads and counts these bits despite a mask, but not
            // despite a bit field extraction.
            ScalarOp::Popc if width < 32 => {
                let (zero, all) = (self.const_u32(0), self.const_u32(width));
                let word = self.emit_value(S::BitFieldUExtract, u32_ty, &[word, zero, all]);
                self.count_word(op, word)
            }
            _ => self.count_word(op, word),
        }
    }

    fn count_word(&mut self, op: ScalarOp, word: Id) -> Id {
        let ty = self.uint_type(32);
        match op {
            ScalarOp::Popc => self.emit_value(S::BitCount, ty, &[word]),
            ScalarOp::Clz => {
                let at = self.emit_glsl(glsl::FIND_UMSB, ty, &[word]);
                let last = self.const_u32(31);
                self.emit_value(S::ISub, ty, &[last, at])
            }
            _ => {
                let at = self.emit_glsl(glsl::FIND_ILSB, ty, &[word]);
                let (zero, all) = (self.const_u32(0), self.const_u32(32));
                let is_zero = self.emit_bool_value(S::IEqual, &[word, zero]);
                self.select(ty, is_zero, all, at)
            }
        }
    }

    /// The two words of a 64-bit value, the lower one first.
    pub(super) fn split_word_halves(&mut self, value: Id) -> (Id, Id) {
        let (word, long) = (self.uint_type(32), self.uint_type(64));
        let low = self.emit_value(S::UConvert, word, &[value]);
        let by = self.const_uint(64, 32);
        let high = self.emit_value(S::ShiftRightLogical, long, &[value, by]);
        let high = self.emit_value(S::UConvert, word, &[high]);
        (low, high)
    }

    pub(super) fn mul_hi(&mut self, signed: bool, scalar: ScalarType, args: &[Id]) -> Id {
        let ty = self.scalar_type(scalar);
        let width = scalar.width();
        if width == 64 {
            let pair = self.b.struct_type(&[ty, ty]);
            let op = if signed {
                S::SMulExtended
            } else {
                S::UMulExtended
            };
            let both = self.emit_value(op, pair, args);
            return self
                .b
                .append_value(S::CompositeExtract, ty, &[both.word(), 1]);
        }
        let wide = self.uint_type(width * 2);
        let widen = if signed { S::SConvert } else { S::UConvert };
        let a = self.emit_value(widen, wide, &args[..1]);
        let b = self.emit_value(widen, wide, &args[1..2]);
        let product = self.emit_value(S::IMul, wide, &[a, b]);
        let by = self.const_uint(width * 2, width.into());
        let high = self.emit_value(S::ShiftRightLogical, wide, &[product, by]);
        self.emit_value(S::UConvert, ty, &[high])
    }

    /// A power by repeated squaring, one iteration for each bit of the exponent; 0 for negative exponents.
    fn emit_integer_power(&mut self, ty: Id, width: u32, args: &[Id]) -> Id {
        if args[0] == self.const_uint(width, 2) {
            return self.emit_power_of_two(ty, width, args[1]);
        }
        let (zero, one) = (self.const_uint(width, 0), self.const_uint(width, 1));
        let negative = self.emit_bool_value(S::SLessThan, &[args[1], zero]);
        let start = self.select(ty, negative, zero, one);
        let [product, base, exponent] = [start, args[0], args[1]].map(|initial| {
            let variable = self.add_local_variable(ty);
            self.emit_store(variable, initial);
            variable
        });
        let done: Result<(), std::convert::Infallible> = self.emit_loop(
            |l| {
                let left = l.emit_load(ty, exponent);
                Ok(l.emit_bool_value(S::SLessThan, &[zero, left]))
            },
            |l| {
                let [p, b, e] = [product, base, exponent].map(|v| l.emit_load(ty, v));
                let times = l.emit_value(S::IMul, ty, &[p, b]);
                let bit = l.emit_value(S::BitwiseAnd, ty, &[e, one]);
                let odd = l.emit_bool_value(S::INotEqual, &[bit, zero]);
                let p = l.select(ty, odd, times, p);
                l.emit_store(product, p);
                let b = l.emit_value(S::IMul, ty, &[b, b]);
                l.emit_store(base, b);
                let e = l.emit_value(S::ShiftRightLogical, ty, &[e, one]);
                l.emit_store(exponent, e);
                Ok(())
            },
            |_| {},
        );
        match done {
            Ok(()) => self.emit_load(ty, product),
            Err(never) => match never {},
        }
    }

    /// A power of two by a shift; 0 for negative exponents, and for those that shift the bit out.
    fn emit_power_of_two(&mut self, ty: Id, width: u32, exponent: Id) -> Id {
        let [zero, one, last, bits] = [0, 1, u64::from(width) - 1, u64::from(width)]
            .map(|number| self.const_uint(width, number));
        let amount = self.emit_value(S::BitwiseAnd, ty, &[exponent, last]);
        let power = self.emit_value(S::ShiftLeftLogical, ty, &[one, amount]);
        let is_within = self.emit_bool_value(S::ULessThan, &[exponent, bits]);
        self.select(ty, is_within, power, zero)
    }

    /// Operators on floats that are not a single instruction at every width.
    fn lower_float_operator(
        &mut self,
        operator: ScalarOperator,
        args: &[Id],
    ) -> Result<Id, SourceDiagnostic> {
        let scalar = operator.from;
        let ty = self.scalar_type(scalar);
        Ok(match operator.op {
            ScalarOp::IsNan => self.is_nan(scalar, args[0]),
            ScalarOp::IsInf => self.is_infinite(scalar, args[0]),
            ScalarOp::FSignum => self.sign(scalar, args[0]),
            ScalarOp::Eq | ScalarOp::ToBool => self.lower_comparison(operator, args),
            ScalarOp::FConv | ScalarOp::Bits => self.lower_conversion(operator, args[0]),
            ScalarOp::FToS | ScalarOp::FToU => self.real_to_int(operator, args[0]),
            ScalarOp::Ldexp => self.emit_glsl(glsl::LDEXP, ty, args),
            ScalarOp::Lerp => {
                let span = self.emit_value(S::FSub, ty, &[args[1], args[0]]);
                let part = self.emit_value(S::FMul, ty, &[span, args[2]]);
                self.emit_value(S::FAdd, ty, &[args[0], part])
            }
            ScalarOp::Mad => {
                let product = self.emit_value(S::FMul, ty, &args[..2]);
                self.emit_value(S::FAdd, ty, &[product, args[2]])
            }
            ScalarOp::CopySign => self.copy_sign(scalar, args[0], args[1]),
            ScalarOp::FPow if scalar == ScalarType::F32 => {
                let magnitude = self.emit_glsl(glsl::FABS, ty, &args[..1]);
                let power = self.emit_glsl(glsl::POW, ty, &[magnitude, args[1]]);
                self.complete_power(scalar, args, power)
            }
            _ => return self.lower_math_function(operator, args),
        })
    }

    /// Truncates a float to an integer; NaN and infinities give 0.
    fn real_to_int(&mut self, operator: ScalarOperator, value: Id) -> Id {
        let to = self.scalar_type(operator.to);
        let from = self.scalar_type(operator.from);
        let zero = self.const_uint(operator.to.width(), 0);
        let real_zero = self.const_literal(ScalarLiteral::new(operator.from, 0));
        let nan = self.is_nan(operator.from, value);
        let infinite = self.is_infinite(operator.from, value);
        let none = self.emit_bool_value(S::LogicalOr, &[nan, infinite]);
        let value = self.select(from, none, real_zero, value);
        if operator.op == ScalarOp::FToS {
            return self.emit_value(S::ConvertFToS, to, &[value]);
        }
        // Negative numbers have no unsigned form; they are converted as signed numbers.
        let negative = self.emit_bool_value(S::FOrdLessThan, &[value, real_zero]);
        let signed = self.emit_value(S::ConvertFToS, to, &[value]);
        let magnitude = self.select(from, negative, real_zero, value);
        let unsigned = self.emit_value(S::ConvertFToU, to, &[magnitude]);
        let result = self.select(to, negative, signed, unsigned);
        self.select(to, none, zero, result)
    }

    pub(super) fn copy_sign(&mut self, scalar: ScalarType, value: Id, sign: Id) -> Id {
        let width = scalar.width();
        let (ty, bits) = (self.scalar_type(scalar), self.uint_type(width));
        let mask = self.const_uint(width, 1 << (width - 1));
        let rest = self.const_uint(width, (1 << (width - 1)) - 1);
        let [value, sign] = [value, sign].map(|v| self.emit_bitcast(bits, v));
        let value = self.emit_value(S::BitwiseAnd, bits, &[value, rest]);
        let sign = self.emit_value(S::BitwiseAnd, bits, &[sign, mask]);
        let both = self.emit_value(S::BitwiseOr, bits, &[value, sign]);
        self.emit_bitcast(ty, both)
    }
}
