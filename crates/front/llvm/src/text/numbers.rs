//! Number parser: integer and floating-point constants.

use super::float::{
    BFLOAT, DOUBLE, FLOAT, HALF, LlvmFloatFormat, narrow_float, parse_hexadecimal_float,
};
use super::lexer::LlvmTokenKind;
use super::parser::LlvmParser;
use crate::ir::{ConstKind, LlvmConst, LlvmType};
use crate::{LlvmResult, error_at};

impl LlvmParser<'_> {
    pub(super) fn parse_integer(&mut self, ty: LlvmType) -> LlvmResult<LlvmConst> {
        let Some(width) = self.module.types.int_width(ty) else {
            return self.fail_with("an integer where a value of another type is expected");
        };
        let words = self.parse_integer_words(width)?;
        Ok(self.module.consts.wide_int(&self.module.types, ty, &words))
    }

    /// An integer as words in two's complement of a width, least significant first.
    pub fn parse_integer_words(&mut self, width: u32) -> LlvmResult<Vec<u64>> {
        let text = self.peek_text();
        let (negative, digits, radix) = match self.token.kind {
            LlvmTokenKind::Integer => (
                text.starts_with('-'),
                text.trim_start_matches(['-', '+']),
                10,
            ),
            LlvmTokenKind::Number if text.starts_with("u0x") || text.starts_with("s0x") => {
                (false, &text[3..], 16)
            }
            _ => return self.fail_expected("an integer"),
        };
        let count = width.div_ceil(64).max(1) as usize;
        let mut words = vec![0_u64];
        for digit in digits.bytes() {
            let Some(digit) = (digit as char).to_digit(radix) else {
                return self.fail_expected("an integer");
            };
            let mut carry = u128::from(digit);
            for word in &mut words {
                carry += u128::from(*word) * u128::from(radix);
                *word = carry as u64;
                carry >>= 64;
            }
            if carry != 0 {
                if words.len() >= count {
                    return self.fail_with("an integer too large for its type");
                }
                words.push(carry as u64);
            }
        }
        words.resize(count, 0);
        let signed_hex = text.starts_with("s0x");
        let top = digits.len() as u64 * 4;
        if signed_hex && top <= u64::from(width) && top > 0 {
            let at = top as usize - 1;
            if words[at / 64] >> (at % 64) & 1 != 0 {
                fill_above(&mut words, top as usize);
            }
        }
        if negative {
            let mut carry = true;
            for word in &mut words {
                let (sum, over) = (!*word).overflowing_add(u64::from(carry));
                (*word, carry) = (sum, over);
            }
        }
        self.take_token();
        let last = width % 64;
        if last != 0
            && let Some(word) = words.last_mut()
        {
            *word &= (1 << last) - 1;
        }
        Ok(words)
    }

    /// A floating-point number, or an integer written in hexadecimal.
    pub(super) fn parse_number(&mut self, ty: LlvmType) -> LlvmResult<LlvmConst> {
        if self.module.types.int_width(ty).is_some() {
            return self.parse_integer(ty);
        }
        let Some(width) = self.module.types.float_width(ty) else {
            return self.fail_with("a number where a value of another type is expected");
        };
        let text = self.peek_text();
        let kind = match text.strip_prefix("f0x") {
            Some(digits) => self.raw_bits(digits, width),
            None if text.ends_with("inf") || text.ends_with("nan") => {
                return self.parse_special_float(ty);
            }
            None if text.contains(['p', 'P']) => {
                parse_hexadecimal_float(text).and_then(|bits| self.of_double(bits, ty))
            }
            None => match text.strip_prefix("0x") {
                Some(digits) => self.decode_hexadecimal(digits, ty),
                None => text
                    .parse::<f64>()
                    .ok()
                    .and_then(|number| self.of_double(number.to_bits(), ty)),
            },
        };
        match kind {
            Some(kind) => {
                self.take_token();
                Ok(self.module.consts.intern_constant(ty, kind))
            }
            None => self.fail_with("a number that its type cannot represent"),
        }
    }

    /// Parses `+inf`, `+qnan`, `+nan(0x1)`, `+snan(0x1)`, or the same with a minus (LLVM 23).
    fn parse_special_float(&mut self, ty: LlvmType) -> LlvmResult<LlvmConst> {
        let place = self.token.place();
        let (sign, word) = match self.peek_text().split_at_checked(1) {
            Some(("-", word)) => (1, word.to_owned()),
            Some((_, word)) => (0, word.to_owned()),
            None => return self.fail_expected("a number"),
        };
        self.take_token();
        let LlvmFloatFormat { exponent, fraction } = match ty {
            LlvmType::DOUBLE => DOUBLE,
            LlvmType::FLOAT => FLOAT,
            LlvmType::HALF => HALF,
            LlvmType::BFLOAT => BFLOAT,
            _ => return Err(error_at(place, "a number that its type cannot represent")),
        };
        let quiet = 1 << (fraction - 1);
        let bits = match word.as_str() {
            "inf" => 0,
            "qnan" => quiet,
            "nan" => quiet | self.parse_nan_payload(quiet)?,
            "snan" => match self.parse_nan_payload(quiet)? {
                0 => return Err(error_at(place, "a signalling NaN without a payload")),
                payload => payload,
            },
            _ => return Err(error_at(place, "a number that its type cannot represent")),
        };
        let all_ones = (1 << exponent) - 1;
        let bits = sign << (exponent + fraction) | all_ones << fraction | bits;
        Ok(self
            .module
            .consts
            .intern_constant(ty, ConstKind::Float(bits)))
    }

    /// `(0x1)`: less than a bound.
    fn parse_nan_payload(&mut self, bound: u64) -> LlvmResult<u64> {
        self.expect_punct(b'(')?;
        let digits = self.peek_text().strip_prefix("0x");
        let payload = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let Some(payload) = payload.filter(|payload| *payload < bound) else {
            return self.fail_expected("the payload of a NaN");
        };
        self.take_token();
        self.expect_punct(b')')?;
        Ok(payload)
    }

    /// The exact bits of a number (LLVM 22).
    fn raw_bits(&self, digits: &str, width: u32) -> Option<ConstKind> {
        let bits = u128::from_str_radix(digits, 16).ok()?;
        if width < 128 && bits >> width != 0 {
            return None;
        }
        Some(match width {
            ..=64 => ConstKind::Float(bits as u64),
            _ => ConstKind::WideFloat([bits as u64, (bits >> 64) as u64]),
        })
    }

    fn decode_hexadecimal(&self, digits: &str, ty: LlvmType) -> Option<ConstKind> {
        let hex = |digits: &str| u64::from_str_radix(digits, 16).ok();
        let (form, rest) = digits.split_at_checked(1)?;
        let expected = match form {
            "H" => LlvmType::HALF,
            "R" => LlvmType::BFLOAT,
            "K" => LlvmType::X86_FP80,
            "L" => LlvmType::FP128,
            "M" => LlvmType::PPC_FP128,
            _ => return self.of_double(hex(digits)?, ty),
        };
        if ty != expected {
            return None;
        }
        match form {
            "H" | "R" => hex(rest)
                .filter(|&bits| bits <= 0xffff)
                .map(ConstKind::Float),
            "K" => {
                let (high, low) = rest.split_at_checked(rest.len().checked_sub(16)?)?;
                Some(ConstKind::WideFloat([
                    hex(low)?,
                    hex(if high.is_empty() { "0" } else { high })?,
                ]))
            }
            _ => {
                let (low, high) = rest.split_at_checked(16)?;
                Some(ConstKind::WideFloat([hex(low)?, hex(high)?]))
            }
        }
    }

    fn of_double(&self, bits: u64, ty: LlvmType) -> Option<ConstKind> {
        let format = match ty {
            LlvmType::DOUBLE => return Some(ConstKind::Float(bits)),
            LlvmType::FLOAT => FLOAT,
            LlvmType::HALF => HALF,
            LlvmType::BFLOAT => BFLOAT,
            _ => return None,
        };
        narrow_float(bits, format).map(ConstKind::Float)
    }
}

fn fill_above(words: &mut [u64], bit: usize) {
    for (index, word) in words.iter_mut().enumerate() {
        match bit.checked_sub(index * 64) {
            Some(64..) => {}
            Some(at) => *word |= u64::MAX << at,
            None => *word = u64::MAX,
        }
    }
}
