//! Attribute parser: attributes and attribute groups.

use super::attribute_encoding::{
    ALLOC_KINDS, CAPTURES, DENORMALS, FP_CLASSES, access_from_name, find_bits,
};
use super::lexer::LlvmTokenKind;
use super::parser::LlvmParser;
use crate::auto_upgrade::{MEMORY_LOCATIONS, all_memory, function_memory, plain_attribute};
use crate::ir::{AttrForm, AttrKind, AttrSet, LlvmAlign, LlvmAttribute, LlvmSymbol};
use crate::{LlvmResult, error_at};

impl LlvmParser<'_> {
    /// Attributes of a result or parameter.
    pub fn value_attributes(&mut self) -> LlvmResult<AttrSet> {
        let mut attributes = Vec::new();
        while self.parse_attribute(&mut attributes)? {}
        if attributes.is_empty() {
            return Ok(AttrSet::EMPTY);
        }
        Ok(self.module.attributes.intern_set(attributes))
    }

    /// Attributes of a function or call, groups included.
    pub fn parse_function_attributes(&mut self) -> LlvmResult<Vec<LlvmAttribute>> {
        let mut attributes = Vec::new();
        loop {
            if self.token.kind == LlvmTokenKind::AttributeGroup {
                let token = self.take_token();
                let number = self.number_of(token)?;
                // Like LLVM, treat an undefined group as empty.
                let group = self.groups.get(&number).into_iter().flatten();
                attributes.extend(group.cloned());
            } else if !self.parse_attribute(&mut attributes)? {
                function_memory(&mut attributes);
                return Ok(attributes);
            }
        }
    }

    /// Parses `attributes #7 = { … }` after its first word.
    pub fn parse_attribute_group(&mut self) -> LlvmResult<()> {
        if self.token.kind != LlvmTokenKind::AttributeGroup {
            return self.fail_expected("an attribute group");
        }
        let token = self.take_token();
        let number = self.number_of(token)?;
        self.expect_punct(b'=')?;
        self.expect_punct(b'{')?;
        let mut attributes = Vec::new();
        while self.parse_attribute(&mut attributes)? {}
        if !self.is_at(b'}') {
            return self.fail_expected("an attribute");
        }
        self.take_token();
        self.groups.insert(number, attributes);
        Ok(())
    }

    /// Parses an attribute if one follows.
    fn parse_attribute(&mut self, attributes: &mut Vec<LlvmAttribute>) -> LlvmResult<bool> {
        if self.token.kind == LlvmTokenKind::String {
            let key = self.symbol_string()?;
            let value = if self.eat_punct(b'=') {
                self.symbol_string()?
            } else {
                LlvmSymbol::EMPTY
            };
            attributes.push(LlvmAttribute::String(key, value));
            return Ok(true);
        }
        let word = self.peek_word();
        let kind = AttrKind::from_name(word);
        let Some(kind) = kind else { return Ok(false) };
        self.take_token();
        attributes.push(self.lookup_attribute(kind)?);
        Ok(true)
    }

    fn lookup_attribute(&mut self, kind: AttrKind) -> LlvmResult<LlvmAttribute> {
        match kind.value_form() {
            AttrForm::Plain => Ok(LlvmAttribute::Plain(kind)),
            AttrForm::Type => {
                if !self.eat_punct(b'(') {
                    return Ok(LlvmAttribute::Type(kind, None));
                }
                let ty = self.parse_type()?;
                self.expect_punct(b')')?;
                Ok(LlvmAttribute::Type(kind, Some(ty)))
            }
            AttrForm::Range => self.parse_range(kind),
            AttrForm::RangeList => {
                self.expect_punct(b'(')?;
                let mut ranges = Vec::new();
                self.parse_list(b')', |parser| {
                    parser.expect_punct(b'(')?;
                    let low = parser.parse_signed()?;
                    parser.expect_punct(b',')?;
                    let high = parser.parse_signed()?;
                    parser.expect_punct(b')')?;
                    ranges.push((low, high));
                    Ok(())
                })?;
                Ok(LlvmAttribute::RangeList(kind, ranges.into()))
            }
            AttrForm::Number => self.number_attribute(kind),
        }
    }

    fn number_attribute(&mut self, kind: AttrKind) -> LlvmResult<LlvmAttribute> {
        let number = match kind {
            AttrKind::Align => self.align_number()?,
            AttrKind::AlignStack => {
                if self.eat_punct(b'=') {
                    self.parse_unsigned()?
                } else {
                    self.parse_number_in_parens()?
                }
            }
            AttrKind::Memory => self.parse_memory_effects()?,
            AttrKind::Captures => self.parse_captures()?,
            AttrKind::NoFpClass => self.parse_fp_classes()?,
            AttrKind::AllocSize => {
                self.expect_punct(b'(')?;
                let first = self.unsigned_32()?;
                let second = if self.eat_punct(b',') {
                    self.unsigned_32()?
                } else {
                    u32::MAX
                };
                self.expect_punct(b')')?;
                u64::from(first) << 32 | u64::from(second)
            }
            AttrKind::VScaleRange => {
                self.expect_punct(b'(')?;
                let low = self.unsigned_32()?;
                let high = if self.eat_punct(b',') {
                    self.unsigned_32()?
                } else {
                    low
                };
                self.expect_punct(b')')?;
                u64::from(low) << 32 | u64::from(high)
            }
            AttrKind::AllocKind => self.parse_alloc_kind()?,
            AttrKind::DenormalFpEnv => self.parse_denormals()?,
            AttrKind::UwTable => {
                if !self.eat_punct(b'(') {
                    return Ok(plain_attribute(kind));
                }
                let number = if self.eat_word("sync") {
                    1
                } else {
                    self.expect_word("async")?;
                    2
                };
                self.expect_punct(b')')?;
                number
            }
            AttrKind::DeadOnReturn if !self.is_at(b'(') => return Ok(plain_attribute(kind)),
            _ => self.parse_number_in_parens()?,
        };
        Ok(LlvmAttribute::Number(kind, number))
    }

    /// Parses `8`, `(8)` or `=8` after `align`: a power of two.
    pub fn align_number(&mut self) -> LlvmResult<u64> {
        let parens = self.eat_punct(b'(');
        if !parens {
            self.eat_punct(b'=');
        }
        let place = self.token.place();
        let number = self.parse_unsigned()?;
        if LlvmAlign::from_bytes(number).is_none() {
            return Err(error_at(place, "an alignment that is not a power of two"));
        }
        if parens {
            self.expect_punct(b')')?;
        }
        Ok(number)
    }

    fn parse_signed(&mut self) -> LlvmResult<i64> {
        match self.peek_text().parse() {
            Ok(number) if self.token.kind == LlvmTokenKind::Integer => {
                self.take_token();
                Ok(number)
            }
            _ => self.fail_expected("a number"),
        }
    }

    fn parse_range(&mut self, kind: AttrKind) -> LlvmResult<LlvmAttribute> {
        self.expect_punct(b'(')?;
        let place = self.token.place();
        let ty = self.parse_type()?;
        let Some(width) = self.module.types.int_width(ty) else {
            return Err(error_at(place, "expected an integer type"));
        };
        let low = self.parse_integer_words(width)?;
        self.expect_punct(b',')?;
        let high = self.parse_integer_words(width)?;
        self.expect_punct(b')')?;
        Ok(LlvmAttribute::Range(kind, width, low.into(), high.into()))
    }

    fn parse_memory_effects(&mut self) -> LlvmResult<u64> {
        self.expect_punct(b'(')?;
        let mut bits = 0;
        self.parse_list(b')', |parser| {
            let mut location = None;
            if parser.token.kind == LlvmTokenKind::Label {
                let name = parser.peek_text().trim_end_matches(':');
                location = MEMORY_LOCATIONS.iter().position(|&at| at == name);
                if location.is_none() {
                    return parser.fail_expected("a kind of memory");
                }
                parser.take_token();
            }
            let Some(access) = parser.eat_named(access_from_name) else {
                return parser.fail_expected("`none`, `read`, `write` or `readwrite`");
            };
            match location {
                Some(at) => bits = bits & !(3 << (2 * at)) | access << (2 * at),
                None => bits = all_memory(access),
            }
            Ok(())
        })?;
        Ok(bits)
    }

    fn parse_captures(&mut self) -> LlvmResult<u64> {
        self.expect_punct(b'(')?;
        let (mut other, mut result) = (0, None);
        let mut of_result = false;
        self.parse_list(b')', |parser| {
            if parser.token.kind == LlvmTokenKind::Label && parser.peek_text() == "ret:" {
                parser.take_token();
                of_result = true;
            }
            let Some(bits) = parser.eat_named(|name| find_bits(CAPTURES, name)) else {
                return parser.fail_expected("a captured component");
            };
            if of_result {
                result = Some(result.unwrap_or(0) | bits);
            } else {
                other |= bits;
            }
            Ok(())
        })?;
        Ok(other << 4 | result.unwrap_or(other))
    }

    fn parse_fp_classes(&mut self) -> LlvmResult<u64> {
        self.expect_punct(b'(')?;
        if self.token.kind == LlvmTokenKind::Integer {
            let bits = self.parse_unsigned()?;
            self.expect_punct(b')')?;
            return Ok(bits);
        }
        let mut bits = 0;
        while !self.eat_punct(b')') {
            match self.eat_named(|name| find_bits(FP_CLASSES, name)) {
                Some(class) => bits |= class,
                None => return self.fail_expected("a class of floating-point numbers"),
            }
        }
        Ok(bits)
    }

    /// Parses `(MODES, float: MODES)`; either part may be omitted.
    fn parse_denormals(&mut self) -> LlvmResult<u64> {
        self.expect_punct(b'(')?;
        let (mut all, mut float) = (0, None);
        if !self.at_label("float:") {
            all = self.parse_denormal_modes()?;
            self.eat_punct(b',');
        }
        if self.at_label("float:") {
            self.take_token();
            float = Some(self.parse_denormal_modes()?);
        }
        self.expect_punct(b')')?;
        Ok(all | float.unwrap_or(all) << 4)
    }

    fn at_label(&self, label: &str) -> bool {
        self.token.kind == LlvmTokenKind::Label && self.peek_text() == label
    }

    /// Parses the mode of results and, after a bar, that of operands. Without a bar both are the
    /// same.
    fn parse_denormal_modes(&mut self) -> LlvmResult<u64> {
        let output = self.parse_denormal_mode()?;
        let input = if self.eat_punct(b'|') {
            self.parse_denormal_mode()?
        } else {
            output
        };
        Ok(output | input << 2)
    }

    fn parse_denormal_mode(&mut self) -> LlvmResult<u64> {
        let named = |name: &str| DENORMALS.iter().position(|&mode| mode == name);
        match self.eat_named(named) {
            Some(mode) => Ok(mode as u64),
            None => self.fail_expected("a denormal mode"),
        }
    }

    fn parse_alloc_kind(&mut self) -> LlvmResult<u64> {
        self.expect_punct(b'(')?;
        let place = self.token.place();
        let text = self.parse_text_string()?;
        self.expect_punct(b')')?;
        text.split(',')
            .filter(|part| !part.is_empty())
            .try_fold(0, |bits, part| match find_bits(ALLOC_KINDS, part) {
                Some(bit) => Ok(bits | bit),
                None => Err(error_at(
                    place,
                    format!("`{part}` is not a kind of allocation"),
                )),
            })
    }
}
