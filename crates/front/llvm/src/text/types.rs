//! Type parser.

use super::lexer::LlvmTokenKind;
use super::parser::{LlvmParser, NamedType};
use crate::ir::{LlvmSymbol, LlvmType, LlvmTypeKind};
use crate::{LlvmResult, error_at};

/// Types that are a single keyword.
pub(super) const SIMPLE: &[(&str, LlvmType)] = &[
    ("void", LlvmType::VOID),
    ("half", LlvmType::HALF),
    ("bfloat", LlvmType::BFLOAT),
    ("float", LlvmType::FLOAT),
    ("double", LlvmType::DOUBLE),
    ("x86_fp80", LlvmType::X86_FP80),
    ("fp128", LlvmType::FP128),
    ("ppc_fp128", LlvmType::PPC_FP128),
    ("x86_mmx", LlvmType::X86_MMX),
    ("x86_amx", LlvmType::X86_AMX),
    ("label", LlvmType::LABEL),
    ("metadata", LlvmType::METADATA),
    ("token", LlvmType::TOKEN),
];

/// Widest integer type of LLVM.
const MAX_INT_WIDTH: u32 = 1 << 23;

impl LlvmParser<'_> {
    /// A type.
    pub fn parse_type(&mut self) -> LlvmResult<LlvmType> {
        self.parse_nested(|parser| parser.type_with_suffixes())
    }

    fn type_with_suffixes(&mut self) -> LlvmResult<LlvmType> {
        let mut ty = self.plain_type()?;
        loop {
            if self.eat_punct(b'*') {
                ty = self.pointer_to(ty, 0);
            } else if self.at_word("addrspace") {
                let space = self.parse_address_space()?.unwrap_or(0);
                self.expect_punct(b'*')?;
                ty = self.pointer_to(ty, space);
            } else if self.is_at(b'(') {
                ty = self.function_type(ty)?;
            } else {
                return Ok(ty);
            }
        }
    }

    /// A pointer to a type. The pointee is dropped unless the file has typed pointers.
    pub fn pointer_to(&mut self, pointee: LlvmType, space: u32) -> LlvmType {
        let pointee = self.typed_pointers.then_some(pointee);
        self.module
            .types
            .intern_type(LlvmTypeKind::Pointer { space, pointee })
    }

    /// Whether a type follows.
    pub fn at_type(&self) -> bool {
        match self.token.kind {
            LlvmTokenKind::Local | LlvmTokenKind::Punct(b'[' | b'<' | b'{') => true,
            LlvmTokenKind::Word => {
                let word = self.peek_word();
                matches!(word, "ptr" | "target")
                    || SIMPLE.iter().any(|row| row.0 == word)
                    || int_width(word).is_some()
            }
            _ => false,
        }
    }

    fn plain_type(&mut self) -> LlvmResult<LlvmType> {
        match self.token.kind {
            LlvmTokenKind::Word => self.word_type(),
            LlvmTokenKind::Local => {
                let token = self.take_token();
                let name = self.name_of(token)?;
                let symbol = self.symbol_of(name);
                Ok(self.named_type(symbol, token.place()))
            }
            LlvmTokenKind::Punct(b'[') => {
                self.take_token();
                let len = self.parse_unsigned()?;
                self.expect_word("x")?;
                let element = self.parse_type()?;
                self.expect_punct(b']')?;
                Ok(self.module.types.make_array(element, len))
            }
            LlvmTokenKind::Punct(b'<') => {
                self.take_token();
                if self.is_at(b'{') {
                    let fields = self.parse_struct_fields()?;
                    self.expect_punct(b'>')?;
                    return Ok(self.module.types.literal_struct(fields, true));
                }
                self.vector_type()
            }
            LlvmTokenKind::Punct(b'{') => {
                let fields = self.parse_struct_fields()?;
                Ok(self.module.types.literal_struct(fields, false))
            }
            _ => self.fail_expected("a type"),
        }
    }

    fn word_type(&mut self) -> LlvmResult<LlvmType> {
        let word = self.peek_word();
        if let Some(row) = SIMPLE.iter().find(|row| row.0 == word) {
            self.take_token();
            return Ok(row.1);
        }
        match word {
            "ptr" => {
                self.take_token();
                let space = self.parse_address_space()?.unwrap_or(0);
                Ok(self.module.types.make_pointer(space))
            }
            "target" => {
                self.take_token();
                self.target_type()
            }
            _ => match int_width(word) {
                Some(width @ 1..=MAX_INT_WIDTH) => {
                    self.has_bytes |= word.starts_with('b');
                    self.take_token();
                    Ok(self.module.types.make_int(width))
                }
                Some(_) => self.fail_with("an integer type of an impossible width"),
                None => self.fail_expected("a type"),
            },
        }
    }

    fn target_type(&mut self) -> LlvmResult<LlvmType> {
        self.expect_punct(b'(')?;
        let name = self.symbol_string()?;
        let (mut types, mut ints) = (Vec::new(), Vec::new());
        while self.eat_punct(b',') {
            if self.token.kind == LlvmTokenKind::Integer {
                ints.push(self.unsigned_32()?);
            } else if ints.is_empty() {
                types.push(self.parse_type()?);
            } else {
                return self.fail_expected("a number");
            }
        }
        self.expect_punct(b')')?;
        let kind = LlvmTypeKind::Target {
            name,
            types: types.into(),
            ints: ints.into(),
        };
        Ok(self.module.types.intern_type(kind))
    }

    fn vector_type(&mut self) -> LlvmResult<LlvmType> {
        let scalable = self.eat_word("vscale");
        if scalable {
            self.expect_word("x")?;
        }
        let place = self.token.place();
        let len = self.unsigned_32()?;
        if len == 0 {
            return Err(error_at(place, "a vector type without elements"));
        }
        self.expect_word("x")?;
        let element = self.parse_type()?;
        self.expect_punct(b'>')?;
        Ok(self.module.types.make_vector(element, len, scalable))
    }

    fn parse_struct_fields(&mut self) -> LlvmResult<Box<[LlvmType]>> {
        self.expect_punct(b'{')?;
        let mut fields = Vec::new();
        self.parse_list(b'}', |parser| {
            fields.push(parser.parse_type()?);
            Ok(())
        })?;
        Ok(fields.into())
    }

    fn function_type(&mut self, result: LlvmType) -> LlvmResult<LlvmType> {
        self.expect_punct(b'(')?;
        let (mut params, mut variadic) = (Vec::new(), false);
        self.parse_list(b')', |parser| {
            if parser.parse_ellipsis()? {
                variadic = true;
                return Ok(());
            }
            params.push(parser.parse_type()?);
            Ok(())
        })?;
        let params = params.into();
        Ok(self.module.types.intern_type(LlvmTypeKind::Function {
            result,
            params,
            variadic,
        }))
    }

    /// Parses the `...` that ends a parameter list, if it follows.
    pub(super) fn parse_ellipsis(&mut self) -> LlvmResult<bool> {
        if self.token.kind != LlvmTokenKind::Ellipsis {
            return Ok(false);
        }
        self.take_token();
        if self.is_at(b')') {
            Ok(true)
        } else {
            self.fail_expected("`)`")
        }
    }

    fn named_type(
        &mut self,
        name: LlvmSymbol,
        place: spirula_diagnostics::SourceLocation,
    ) -> LlvmType {
        if let Some(found) = self.types.get(&name) {
            return found.ty;
        }
        let ty = self.module.types.named_struct(name);
        self.types.insert(
            name,
            NamedType {
                ty,
                defined: false,
                place,
            },
        );
        ty
    }

    /// `%name = type …`, the `%name` being next.
    pub fn parse_type_definition(&mut self) -> LlvmResult<()> {
        let token = self.take_token();
        let name = self.name_of(token)?;
        let symbol = self.symbol_of(name);
        self.expect_punct(b'=')?;
        self.expect_word("type")?;
        if self.types.get(&symbol).is_some_and(|found| found.defined) {
            return Err(error_at(
                token.place(),
                "a type of this name is already defined",
            ));
        }
        let place = token.place();
        if self.eat_word("opaque") {
            let ty = self.named_type(symbol, place);
            self.types.insert(
                symbol,
                NamedType {
                    ty,
                    defined: true,
                    place,
                },
            );
            return Ok(());
        }
        let packed = self.is_at(b'<')
            && self.text[self.token.end..].trim_ascii_start().first() == Some(&b'{');
        if !packed && !self.is_at(b'{') {
            return self.define_type_alias(symbol, place);
        }
        if packed {
            self.take_token();
        }
        let ty = self.named_type(symbol, place);
        self.types.insert(
            symbol,
            NamedType {
                ty,
                defined: true,
                place,
            },
        );
        let fields = self.parse_struct_fields()?;
        if packed {
            self.expect_punct(b'>')?;
        }
        self.module.types.set_body(ty, fields, packed);
        Ok(())
    }

    /// Defines a name for a type that is not a struct. The definition must come before its uses.
    fn define_type_alias(
        &mut self,
        name: LlvmSymbol,
        place: spirula_diagnostics::SourceLocation,
    ) -> LlvmResult<()> {
        if self.types.contains_key(&name) {
            return Err(error_at(
                place,
                "a type that is not a struct is used before its definition",
            ));
        }
        let ty = self.parse_type()?;
        self.types.insert(
            name,
            NamedType {
                ty,
                defined: true,
                place,
            },
        );
        Ok(())
    }
}

/// The width of an integer type, or of a byte type (LLVM 23), which is read as an integer type.
fn int_width(word: &str) -> Option<u32> {
    let digits = word.strip_prefix(['i', 'b'])?;
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if plain {
        Some(digits.parse().unwrap_or(u32::MAX))
    } else {
        None
    }
}
